/* Is what tmetal_transform says true of what is emitted?
 *
 *   sim [--part] FILE.ttir...   each is transformed; the kernel, the same without optimisation and the changed IR compiled
 *                      again run in the simulator. All three must be right against FILE.case where there is one,
 *                      and else leave the same bytes; and the simulator's counters must be what the summary says.
 *
 * What cannot agree with a recorded case by nature (corpus/cannot-agree.txt) runs all the same, uncompared.
 * --part: these files are a part of more, so that none of their figures need be exact.
 *
 * Without a .case, buffers hold 16384 numbers between -2 and 2, integers are 128, and floats are 1e-5. */
#include "../corpus/exceptions.h"
#include "../corpus/launch.h"
#include "../sim/files.h"
#include "../sim/plan.h"
#include "tmetal.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

namespace {

enum way { optimised, plain, changed, ways };
const char *const way_names[] = {"optimised", "plain", "changed IR"};

struct cost {
    tmetal_cost before, after;
};

struct subject {
    std::string           path, error;
    std::string           msl[ways];
    sim::launch_plan      plan[ways];
    std::vector<cost>     costs;
    corpus::recorded_case c;
    corpus::precision     precision;
    bool                  recorded = false, pads = false, apart = false;
};

unsigned long n_exact, n_most, n_reached, n_open, n_files, n_bad;

void wrong(const subject &s, const std::string &what) {
    printf("%s: %s\n", s.path.c_str(), what.c_str());
    n_bad++;
}

std::string compile(subject &s, way w, const std::string &ttir, bool no_optimisation) {
    const size_t      bytes = tmetal_arena_bound(ttir.size());
    std::vector<char> memory(bytes);
    tmetal_arena      arena = tmetal_arena_on(memory.data(), bytes);
    tmetal_result     r;
    tmetal_options    opt;
    std::memset(&opt, 0, sizeof opt);
    opt.plain = no_optimisation;
    if (tmetal_compile(ttir.data(), ttir.size(), &opt, &arena, &r) != TMETAL_OK)
        return std::string(way_names[w]) + ": " + tmetal_diag_text(&r.diags[0], &arena);
    s.msl[w] = std::string(r.msl, r.msl_len);
    s.plan[w] = sim::parse_plan(tmetal_plan_json(&r, &arena));
    return "";
}

std::string transform(subject &s, const std::string &ttir) {
    const size_t          bytes = tmetal_transform_bound(ttir.data(), ttir.size());
    std::vector<char>     memory(bytes);
    tmetal_arena          arena = tmetal_arena_on(memory.data(), bytes);
    tmetal_transformation x;
    tmetal_result         r;
    if (tmetal_transform(ttir.data(), ttir.size(), nullptr, &arena, &x, &r) != TMETAL_OK) return tmetal_diag_text(&r.diags[0], &arena);
    for (unsigned i = 0; i < x.n_kernels; i++) s.costs.push_back({x.kernels[i].before, x.kernels[i].after});
    std::string why = compile(s, optimised, ttir, false);
    if (why.empty() && s.msl[optimised] != std::string(r.msl, r.msl_len)) why = "tmetal_transform emits another kernel than tmetal_compile";
    if (why.empty()) why = compile(s, plain, ttir, true);
    if (why.empty()) why = compile(s, changed, std::string(x.text, x.text_len), false);
    return why;
}

bool is_buffer(sim::plan_argument_kind k) { return k == sim::plan_argument_kind::buffer || k == sim::plan_argument_kind::address; }
bool is_parameter(sim::plan_argument_kind k) { return is_buffer(k) || k == sim::plan_argument_kind::bytes; }

/* A launch of one program, from the arguments of the plan. */
corpus::recorded_case made_case(const sim::launch_plan &plan) {
    corpus::recorded_case                c;
    std::map<unsigned, sim::plan_argument> by_param;
    unsigned                             last = 0, seed = 1;
    for (const sim::plan_kernel &k : plan.kernels)
        for (const sim::plan_argument &a : k.arguments) /* of "programs", param is an axis; scratch and debug have none */
            if (is_parameter(a.kind)) by_param[a.param] = a, last = std::max(last, a.param);
    c.grid = {{1, 1, 1}};
    for (unsigned i = 0; i <= last; i++) {
        corpus::recorded_parameter p;
        const bool                 known = by_param.count(i) != 0;
        const sim::plan_argument   a = known ? by_param[i] : sim::plan_argument();
        p.type = corpus::parse_element(known ? a.type : "i32");
        p.is_buffer = !known || is_buffer(a.kind);
        p.text = p.type.is_float() ? "1e-5" : "128";
        if (p.is_buffer) {
            corpus::recorded_buffer b;
            p.buffer = static_cast<unsigned>(c.buffers.size());
            b.size = size_t{16384} * p.type.bytes;
            b.has_in = true;
            b.in = c.bytes.size();
            for (unsigned k = 0; k < 16384; k++) {
                seed = seed * 1664525u + 1013904223u;
                const float    v = static_cast<float>(seed >> 8) / 4194304.0f - 2.0f;
                const uint32_t small = seed >> 25;
                uint32_t       bits;
                std::memcpy(&bits, &v, 4);
                if (p.type.kind == corpus::element::f32) c.bytes.append(reinterpret_cast<const char *>(&v), 4);
                else if (p.type.kind == corpus::element::f16) { /* exponent from -1 to 1, truncated: any such number will do */
                    const uint16_t h = static_cast<uint16_t>((seed >> 31) << 15 | (14 + (seed >> 30 & 1)) << 10 | (bits >> 13 & 0x3ff));
                    c.bytes.append(reinterpret_cast<const char *>(&h), 2);
                } else if (p.type.kind == corpus::element::bf16) {
                    const uint16_t h = static_cast<uint16_t>(bits >> 16);
                    c.bytes.append(reinterpret_cast<const char *>(&h), 2);
                } else {
                    const uint64_t wide = small;
                    c.bytes.append(reinterpret_cast<const char *>(&wide), p.type.bytes);
                }
            }
            c.buffers.push_back(b);
        }
        c.parameters.push_back(p);
    }
    return c;
}

/* Can the case folder/name not agree by nature? */
bool apart(const std::string &stem) {
    static const corpus::exceptions list(sim::tests_directory() + "/corpus/cannot-agree.txt");
    const size_t name = stem.rfind('/'), folder = name == std::string::npos || !name ? name : stem.rfind('/', name - 1);
    return list.reason(folder == std::string::npos ? stem : stem.substr(folder + 1), "") != nullptr;
}

void prepare(subject &s) {
    const std::string ttir = sim::read_file(s.path), stem = s.path.substr(0, s.path.size() - 5);
    s.error = transform(s, ttir);
    if (!s.error.empty()) return;
    s.recorded = sim::exists(stem + ".case");
    s.apart = apart(stem);
    s.c = s.recorded ? corpus::read_case(stem + ".case") : made_case(s.plan[optimised]);
    s.precision = corpus::read_precision(ttir);
    for (const sim::plan_kernel &k : s.plan[optimised].kernels)
        for (const sim::plan_argument &a : k.arguments) s.pads |= a.kind == sim::plan_argument_kind::padding;
}

/* What was counted against what was said, of one kernel. */
void count(const subject &s, way w, const sim::kernel_counters &k, const tmetal_cost &c) {
    uint64_t read = 0, written = 0;
    char     text[300];
    if (k.atomics || (c.notes & TMETAL_COST_ATOMICS)) {
        n_open++;
        return;
    }
    for (const sim::buffer_traffic &b : k.buffers) read += b.bytes_read, written += b.bytes_written;
    std::snprintf(text, sizeof text, "%s: %llu bytes read and %llu written by %llu programs, %llu and %llu said of each%s", way_names[w], static_cast<unsigned long long>(read),
                  static_cast<unsigned long long>(written), static_cast<unsigned long long>(k.threadgroups), static_cast<unsigned long long>(c.bytes_read),
                  static_cast<unsigned long long>(c.bytes_written), c.notes & TMETAL_COST_AT_MOST ? " at most" : "");
    if (c.notes & TMETAL_COST_PER_ROUND) n_open++;
    else if (c.notes & TMETAL_COST_AT_MOST) {
        n_most++;
        n_reached += read == c.bytes_read * k.threadgroups && written == c.bytes_written * k.threadgroups;
        if (read > c.bytes_read * k.threadgroups || written > c.bytes_written * k.threadgroups) wrong(s, text);
    } else {
        n_exact++;
        if (read != c.bytes_read * k.threadgroups || written != c.bytes_written * k.threadgroups) wrong(s, text);
    }
    if (!c.barriers && k.barriers) wrong(s, std::string(way_names[w]) + ": barriers ran where none was said to stand");
}

unsigned long barriers_of(const std::string &msl) {
    unsigned long n = 0;
    for (size_t at = msl.find("threadgroup_barrier("); at != std::string::npos; at = msl.find("threadgroup_barrier(", at + 1)) n++;
    return n;
}

void check(const sim::module &m, const subject &s) {
    std::vector<std::vector<uint8_t>> first;
    sim::run_options                  options;
    options.counters = true;
    options.seconds = 60;
    for (int w = 0; w < ways; w++) {
        const std::string unit = s.path + " " + way_names[w];
        unsigned long     said = 0;
        for (const sim::unit &u : m.units())
            if (u.name == unit && !u.errors.empty()) return wrong(s, u.errors[0].str());
        if (w == changed && s.pads) continue; /* its padding is a parameter that the case does not have */
        for (const cost &c : s.costs) said += w == plain ? c.before.barriers : c.after.barriers;
        if (w != changed && said != barriers_of(s.msl[w])) wrong(s, std::string(way_names[w]) + ": barriers of the text are not those of the summary");
        if (s.c.compile_only) continue;
        const corpus::case_result r = corpus::run_case(m, unit, s.plan[w], s.c, s.precision, options);
        if (!r.plan_error.empty()) return wrong(s, std::string(way_names[w]) + ": " + r.plan_error);
        if (!r.report.ok()) return wrong(s, std::string(way_names[w]) + ": " + r.report.violations.front().str());
        if (s.recorded && !s.apart && !r.right()) wrong(s, std::string(way_names[w]) + ": " + r.why());
        if (w == optimised) first = r.after;
        else if (!s.recorded && w == changed && r.after != first) wrong(s, std::string(way_names[w]) + " leaves other bytes");
        for (size_t i = 0; w != changed && i < r.report.counters.size() && i < s.costs.size(); i++)
            count(s, static_cast<way>(w), r.report.counters[i], w == plain ? s.costs[i].before : s.costs[i].after);
    }
}

} // namespace

int main(int argc, char **argv) {
    std::vector<subject>     all;
    std::vector<sim::source> sources;
    const bool               part = argc > 1 && std::strcmp(argv[1], "--part") == 0;
    try {
        for (int i = part ? 2 : 1; i < argc; i++) {
            all.emplace_back();
            all.back().path = argv[i];
            prepare(all.back());
            for (int w = 0; w < ways && all.back().error.empty(); w++) sources.push_back({all.back().path + " " + way_names[w], all.back().msl[w], all.back().plan[w].version});
        }
        const auto m = sim::build(sources);
        for (const subject &s : all) {
            n_files++;
            if (!s.error.empty()) wrong(s, s.error);
            else check(*m, s);
        }
    } catch (const std::exception &e) {
        fprintf(stderr, "transform: %s\n", e.what());
        return 2;
    }
    printf("transform: %lu files, %lu wrong; bytes of %lu kernels exact, of %lu at most (%lu reach it), of %lu per round or with atomics\n", n_files, n_bad, n_exact, n_most,
           n_reached, n_open);
    return n_bad != 0 || (!part && (!n_exact || !n_reached));
}
