#include "case.h"

#include "../corpus/compare.h"
#include "../corpus/exceptions.h"
#include "../sim/files.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace device {

const verdict_row verdicts[VERDICTS] = {
#define X(name, word, is_bad, meaning) {word, is_bad, meaning},
    DEVICE_VERDICTS(X)
#undef X
};

uint32_t compiled::version() const {
    uint32_t newest = 300;
    for (uint32_t k = 0; k < result.n_kernels; k++) newest = std::max(newest, result.kernels[k].msl_version);
    return newest;
}

namespace {

/* Parameters that the recorded launch gave one buffer go by address: Metal lets no two arguments overlap. */
std::string shared_parameters(const corpus::recorded_case &c) {
    std::string all;
    for (size_t i = 0; i < c.parameters.size(); i++)
        for (size_t j = 0; j < i; j++)
            if (c.parameters[i].is_buffer && c.parameters[j].is_buffer && c.parameters[i].buffer == c.parameters[j].buffer)
                all += (all.empty() ? "" : ",") + std::to_string(j) + "=" + std::to_string(i);
    return all;
}

} // namespace

std::unique_ptr<compiled> compile(const std::string &path, const tmetal_options &options) {
    auto           p = std::make_unique<compiled>();
    tmetal_options o = options;
    p->c = corpus::read_case(path);
    p->text = sim::read_file(p->c.path + ".ttir");
    p->memory.resize(tmetal_arena_bound(p->text.size()) + (size_t{1} << 20)); /* the second for the launcher */
    p->arena = tmetal_arena_on(p->memory.data(), p->memory.size());
    p->alias = shared_parameters(p->c);
    if (!o.alias && !p->alias.empty()) o.alias = p->alias.c_str();
    tmetal_compile(p->text.data(), p->text.size(), &o, &p->arena, &p->result);
    return p;
}

namespace {

/* A number as the case writes it, for a parameter that the plan gives a type. */
tmetal_launch_arg number(const corpus::recorded_parameter &p, const std::string &type) {
    const auto t = corpus::parse_element(type);
    if (t.is_float()) return tmetal_arg_float(std::strtod(p.text.c_str(), nullptr));
    if (t.kind == corpus::element::boolean) return tmetal_arg_int(std::strtoull(p.text.c_str(), nullptr, 0) != 0);
    return tmetal_arg_int(p.text[0] == '-' ? std::strtoll(p.text.c_str(), nullptr, 0)
                                           : static_cast<int64_t>(std::strtoull(p.text.c_str(), nullptr, 0)));
}

std::vector<tmetal_launch_arg> arguments(const compiled &p, const std::vector<tmetal_buffer> &buffers) {
    std::vector<tmetal_launch_arg> args(p.c.parameters.size());
    for (auto &a : args) a = tmetal_launch_arg{};
    for (uint32_t k = 0; k < p.result.n_kernels; k++)
        for (uint32_t i = 0; i < p.result.kernels[k].n_args; i++) {
            const tmetal_arg &a = p.result.kernels[k].args[i];
            if (a.kind != TMETAL_ARG_BUFFER && a.kind != TMETAL_ARG_BYTES && a.kind != TMETAL_ARG_ADDRESS &&
                a.kind != TMETAL_ARG_PADDING)
                continue;
            if (a.param >= args.size()) continue;
            const corpus::recorded_parameter &of = p.c.parameters[a.param];
            if (of.is_buffer) args[a.param] = tmetal_arg_buffer(&buffers[of.buffer], of.offset);
            else args[a.param] = number(of, a.type);
            args[a.param].nan_padding = of.pads_nan;
        }
    return args;
}

bool is_written(const compiled &p, unsigned buffer) {
    for (uint32_t k = 0; k < p.result.n_kernels; k++)
        for (uint32_t i = 0; i < p.result.kernels[k].n_args; i++) {
            const tmetal_arg &a = p.result.kernels[k].args[i];
            if ((a.kind == TMETAL_ARG_BUFFER || a.kind == TMETAL_ARG_ADDRESS) && (a.access & TMETAL_WRITES) &&
                a.param < p.c.parameters.size() && p.c.parameters[a.param].is_buffer && p.c.parameters[a.param].buffer == buffer)
                return true;
        }
    return false;
}

/* "" when every buffer is as recorded */
std::string compare(const compiled &p, const std::vector<tmetal_buffer> &buffers) {
    const corpus::precision exact = corpus::read_precision(p.text);
    for (unsigned i = 0; i < p.c.buffers.size(); i++) {
        const auto r = corpus::compare_buffer(p.c, i, exact, is_written(p, i), static_cast<const uint8_t *>(buffers[i].contents));
        if (!r.right) return "buffer " + std::to_string(i) + ": " + r.why;
    }
    return "";
}

/* Which verdict an error of the launcher is. */
verdict verdict_of(tmetal_code code) {
    static const struct {
        tmetal_code code;
        verdict     what;
    } rows[] = {{TMETAL_E_COMPILER, COMPILER}, {TMETAL_E_NO_FUNCTION, COMPILER}, {TMETAL_E_PIPELINE, COMPILER},
                {TMETAL_E_PIPELINE_LIMIT, LIMIT}, {TMETAL_E_GPU, FAULT}, {TMETAL_E_TIMEOUT, HUNG}};
    for (const auto &r : rows)
        if (r.code == code) return r.what;
    return FAILED;
}

/* What one launch holds, given back at its end. */
struct holder {
    tmetal_metal              *metal;
    tmetal_loaded             *loaded = nullptr;
    tmetal_launch             *launch = nullptr;
    std::vector<tmetal_buffer> buffers;
    bool                       is_stuck = false;

    holder(tmetal_metal *m, size_t n) : metal(m), buffers(n) {}
    holder(const holder &) = delete;
    ~holder() {
        if (is_stuck) return; /* all of it would wait */
        if (launch) tmetal_launch_free(launch);
        for (tmetal_buffer &b : buffers)
            if (b.object) tmetal_buffer_free(metal, &b);
        if (loaded) tmetal_unload(loaded);
    }
};

tmetal_code prepare(holder &h, compiled &p, std::string &warning, tmetal_problem &problem) {
    const char *warnings = "";
    tmetal_code code = tmetal_load(h.metal, &p.result, &p.arena, &h.loaded, &warnings, &problem);
    if (code != TMETAL_OK || p.c.compile_only) return code;
    warning = warnings;
    for (size_t i = 0; i < h.buffers.size() && code == TMETAL_OK; i++) {
        code = tmetal_buffer_make(h.metal, p.c.buffers[i].size, &h.buffers[i], &problem);
        if (code == TMETAL_OK && p.c.buffers[i].has_in)
            std::memcpy(h.buffers[i].contents, p.c.bytes.data() + p.c.buffers[i].in, p.c.buffers[i].size);
    }
    return code == TMETAL_OK ? tmetal_launch_make(h.loaded, &p.arena, &h.launch, &problem) : code;
}

const corpus::exceptions &cannot_agree() {
    static const corpus::exceptions known(sim::tests_directory() + "/corpus/cannot-agree.txt");
    return known;
}

/* What is wrong in one of the cases that cannot agree is told apart. */
void set_apart(const compiled &p, outcome &o) {
    const std::string *reason = cannot_agree().reason(p.c.name, p.c.source);
    if (!reason || (o.what != WRONG && o.what != FAULT)) return;
    o.what = NATURE;
    o.why = *reason + " [" + o.why + "]";
}

/* What touches memory that is not its own could end more on a GPU than itself. */
bool is_left_out(const compiled &p, outcome &o) {
    const std::string *reason = host::is_device ? cannot_agree().reason(p.c.name, p.c.source) : nullptr;
    if (!reason || reason->find("(leave out on a device)") == std::string::npos) return false;
    o.what = NATURE;
    o.why = *reason;
    return true;
}

outcome launch_held(tmetal_metal *metal, compiled &p, uint64_t milliseconds) {
    outcome        o;
    tmetal_problem problem{};
    if (is_left_out(p, o)) return o;
    holder         h(metal, p.c.buffers.size());
    tmetal_code    code = prepare(h, p, o.warning, problem);
    if (code == TMETAL_OK && p.c.compile_only) {
        o.what = LOADED;
        return o;
    }
    if (code == TMETAL_OK) {
        const auto args = arguments(p, h.buffers);
        tmetal_launch_options how{};
        how.programs_per_part = p.programs_per_part;
        code = tmetal_launch_start(h.launch, args.data(), static_cast<uint32_t>(args.size()), p.c.grid.data(), &how, &problem);
        if (code == TMETAL_OK) code = tmetal_launch_wait(h.launch, milliseconds, &problem);
    }
    h.is_stuck = code == TMETAL_E_TIMEOUT;
    if (code == TMETAL_OK || code == TMETAL_E_ASSERTION) {
        o.why = compare(p, h.buffers);
        o.what = o.why.empty() ? RIGHT : WRONG;
        o.seconds = tmetal_launch_seconds(h.launch);
    } else {
        o.what = verdict_of(code);
        o.why = "TM" + std::to_string(code) + ": " + problem.text;
    }
    return o;
}

} // namespace

outcome launch(tmetal_metal *metal, compiled &p, uint64_t milliseconds) {
    host::begin(p.c.name);
    outcome           o = launch_held(metal, p, milliseconds);
    const std::string seen = host::complaint();
    if (o.what == RIGHT && !seen.empty()) {
        o.what = WRONG;
        o.why = seen;
    }
    set_apart(p, o);
    return o;
}

} // namespace device
