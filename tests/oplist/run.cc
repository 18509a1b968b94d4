#include "run.h"

#include "../sim/plan.h"
#include "tmetal.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

namespace oplist {

compiled compile(const std::string &list, const std::string &gpu) {
    compiled          c;
    const size_t      bytes = tmetal_arena_bound_ops(list.size());
    std::vector<char> memory(bytes);
    tmetal_arena      arena = tmetal_arena_on(memory.data(), bytes);
    tmetal_result     r;
    tmetal_options    opt;
    std::memset(&opt, 0, sizeof opt);
    opt.file = "ops.json";
    opt.gpu = gpu.empty() ? nullptr : gpu.c_str();
    c.code = tmetal_compile_ops(list.data(), list.size(), &opt, &arena, &r);
    c.peak = arena.peak;
    if (r.n_diags) c.message = r.diags[0].message, c.line = r.diags[0].ir.line, c.column = r.diags[0].ir.col;
    if (c.code != TMETAL_OK) return c;
    c.msl = std::string(r.msl, r.msl_len);
    const char *plan = tmetal_plan_json(&r, &arena);
    c.plan = plan ? plan : "";
    for (uint32_t i = 0; i < r.graph->n_fusions; i++) c.fusions.push_back({r.graph->fusions[i].kind != TMETAL_MISSED, r.graph->fusions[i].what, r.graph->fusions[i].reason});
    for (uint32_t i = 0; i < r.n_remarks; i++) c.remarks.push_back(std::string(r.remarks[i].about) + ": " + r.remarks[i].text);
    c.kernels = r.graph->kernels;
    c.bytes_before = r.graph->bytes_before;
    c.bytes = r.graph->bytes;
    return c;
}

std::string print(const std::string &list) {
    std::vector<char> memory(tmetal_arena_bound_ops(list.size()));
    tmetal_arena      arena = tmetal_arena_on(memory.data(), memory.size());
    tmetal_result     r;
    const char       *text = nullptr;
    size_t            len = 0;
    return tmetal_print_ops(list.data(), list.size(), nullptr, &arena, &text, &len, &r) == TMETAL_OK ? std::string(text, len) : "";
}

namespace {

struct work {
    const test_case *of;
    compiled         metal;
    sim::launch_plan plan;
    answer           want;
};

sim::launch launch_of(const sim::module &m, const std::string &unit, const sim::plan_kernel &k, const std::vector<unsigned> &params,
                      const std::map<unsigned, unsigned> &scratch, std::string &why) {
    sim::launch l;
    l.kernel = m.find(unit, k.entry);
    if (!l.kernel) why = "the text has no kernel '" + k.entry + "'";
    if (k.per_program) why = "kernel '" + k.entry + "' leaves its grid open";
    l.grid = k.grid;
    l.threads = k.threads;
    for (const sim::plan_argument &a : k.arguments) {
        if (a.kind == sim::plan_argument_kind::scratch && scratch.count(a.id)) l.buffers.push_back({a.index, scratch.at(a.id), 0, a.writes});
        else if (a.kind == sim::plan_argument_kind::buffer && a.param < params.size()) l.buffers.push_back({a.index, params[a.param], 0, a.writes});
        else why = "argument '" + a.name + "' of '" + k.entry + "' names no memory of the list";
    }
    return l;
}

std::string compare(const tensor &want, const uint8_t *got) {
    for (size_t i = 0; i < want.v.size(); i++) {
        const double g = unpack(got, i, want.type), w = want.v[i];
        const double top = want.type == "f16" ? 65504 : 3.0e38;
        if (std::isnan(w) ? std::isnan(g) : std::isnan(g) ? !std::isfinite(want.e[i]) : g == w || std::fabs(g - w) <= 2 * want.e[i]) continue;
        if (std::isinf(g) && std::fabs(w) + 2 * want.e[i] > top && std::signbit(g) == std::signbit(w)) continue; /* overflows */
        char text[200];
        std::snprintf(text, sizeof text, "element %zu of %zu is %.9g, wanted %.9g within %.3g (%s)", i, want.v.size(), g, w, 2 * want.e[i], want.type.c_str());
        return text;
    }
    return "";
}

std::string run_one(const sim::module &m, work &w, const std::string &unit) {
    sim::memory                  mem;
    std::vector<unsigned>        params;
    std::map<unsigned, unsigned> scratch;
    std::vector<sim::launch>     launches;
    std::string                  why;
    for (const sim::unit &u : m.units())
        if (u.name == unit && !u.errors.empty()) return u.errors[0].str();
    for (const tensor &t : w.want.inputs) {
        const std::vector<uint8_t> bytes = pack(t);
        params.push_back(mem.add("input " + std::to_string(params.size()), bytes.size(), bytes.data(), 16));
    }
    for (const tensor &t : w.want.results) params.push_back(mem.add("result " + std::to_string(params.size()), t.v.size() * bytes_of(t.type), nullptr, 16));
    for (const auto &s : w.plan.scratch) {
        const std::vector<uint8_t> zeros(s.zero ? s.bytes : 0);
        scratch[s.id] = mem.add("scratch " + std::to_string(s.id), s.bytes, s.zero ? zeros.data() : nullptr, 16);
    }
    for (const sim::plan_kernel &k : w.plan.kernels) launches.push_back(launch_of(m, unit, k, params, scratch, why));
    if (!why.empty()) return why;
    sim::run_options options;
    options.counters = w.of->counters;
    options.seconds = 120;
    const sim::report r = sim::run(m, launches, mem, options);
    if (!r.ok()) return r.violations.front().str();
    for (size_t i = 0; i < w.want.results.size(); i++) {
        why = compare(w.want.results[i], mem.data(params[w.want.inputs.size() + i]));
        if (!why.empty()) return "result " + std::to_string(i) + ": " + why;
    }
    return w.of->more ? w.of->more(w.metal, r) : "";
}

} // namespace

std::vector<verdict> run_all(const std::vector<test_case> &cases, const std::string &keep) {
    std::vector<verdict> out;
    for (size_t first = 0; first < cases.size(); first += 64) {
        const size_t             last = std::min(cases.size(), first + 64);
        std::vector<work>        batch;
        std::vector<sim::source> sources;
        for (size_t i = first; i < last; i++) {
            work w;
            w.of = &cases[i];
            w.metal = compile(cases[i].list);
            out.push_back({cases[i].name, ""});
            if (w.metal.code) {
                out.back().why = "refused, TM" + std::to_string(w.metal.code) + ": " + w.metal.message;
                continue;
            }
            try {
                w.plan = sim::parse_plan(w.metal.plan);
                w.want = evaluate(cases[i].list, i + 1);
            } catch (const std::exception &e) {
                out.back().why = e.what();
                continue;
            }
            if (!keep.empty()) {
                std::ofstream(keep + "/" + cases[i].name + ".metal") << w.metal.msl;
                std::ofstream(keep + "/" + cases[i].name + ".json") << cases[i].list;
            }
            sources.push_back({std::to_string(out.size() - 1), w.metal.msl, w.plan.version});
            batch.push_back(std::move(w));
        }
        if (sources.empty()) continue;
        const std::shared_ptr<sim::module> m = sim::build(sources);
        for (size_t k = 0; k < batch.size(); k++) {
            const size_t at = static_cast<size_t>(std::stoul(sources[k].name));
            out[at].why = run_one(*m, batch[k], sources[k].name);
        }
    }
    return out;
}

} // namespace oplist
