#include "run.h"

#include "../sim/plan.h"
#include "tmetal.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

namespace oplist {

namespace {

void take_rows(const tmetal_result &r, compiled &c) {
    for (uint32_t k = 0; k < r.n_kernels; k++)
        for (uint32_t i = 0; i < r.kernels[k].n_layouts; i++) {
            const tmetal_layout_row &l = r.kernels[k].layouts[i];
            if (l.width) c.rows.push_back({r.kernels[k].entry, l.value, l.reason, static_cast<unsigned>(l.layout), l.width, l.lines, l.fewest});
        }
    for (uint32_t i = 0; i < r.n_remarks; i++)
        if (r.remarks[i].kind == TMETAL_MISSED && !std::strcmp(r.remarks[i].about, "layout")) c.missed_layouts.push_back(r.remarks[i].text);
}

} // namespace

compiled compile(const std::string &list, const how &options) {
    compiled          c;
    const size_t      bytes = tmetal_arena_bound_ops(list.size());
    const std::unique_ptr<char[]> memory(new char[bytes]); /* not zeroed: most of it is never touched */
    tmetal_arena      arena = tmetal_arena_on(memory.get(), bytes);
    tmetal_result     r;
    tmetal_options    opt;
    std::memset(&opt, 0, sizeof opt);
    opt.file = "ops.json";
    opt.gpu = options.gpu.empty() ? nullptr : options.gpu.c_str();
    opt.layouts = options.layouts.empty() ? nullptr : options.layouts.c_str();
    opt.plain = options.plain;
    tmetal_gpu_limits has;
    std::memset(&has, 0, sizeof has);
    has.features = TMETAL_GPU_TENSOR_OPS;
    if (options.tensors) opt.limits = &has;
    opt.reports = 1;
    const size_t bound = tmetal_arena_bound_graph(list.data(), list.size(), &opt, &arena);
    c.code = tmetal_compile_ops(list.data(), list.size(), &opt, &arena, &r);
    c.peak = arena.peak;
    if (r.n_diags) c.message = r.diags[0].message, c.line = r.diags[0].ir.line, c.column = r.diags[0].ir.col;
    if (c.code == TMETAL_OK && (c.peak > bound || (!opt.layouts && !opt.plain && c.peak > tmetal_arena_bound_list(list.data(), list.size())))) {
        c.code = TMETAL_E_ARENA;
        c.message = c.peak > bound ? "tmetal_arena_bound_graph() is too small" : "tmetal_arena_bound_list() is too small";
    }
    if (c.code != TMETAL_OK) return c;
    c.msl = std::string(r.msl, r.msl_len);
    take_rows(r, c);
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
    uint64_t         seed;
    size_t           at, same; /* place among the verdicts; of the case that this one repeats, or its own */
    std::string      unit;
};

/* The last answer: cases that share it stand side by side. */
struct referee {
    std::string list;
    uint64_t    seed = 0;
    answer      want;

    const answer &of(const std::string &l, uint64_t s) {
        if (l != list || s != seed) want = evaluate(l, s), list = l, seed = s;
        return want;
    }
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
        if (!std::isfinite(want.e[i])) continue; /* nothing is known of it */
        if (std::isnan(w) ? std::isnan(g) : !std::isnan(g) && (g == w || std::fabs(g - w) <= 2 * want.e[i])) continue;
        if (std::isinf(g) && std::fabs(w) + 2 * want.e[i] > top && std::signbit(g) == std::signbit(w)) continue; /* overflows */
        char text[200];
        std::snprintf(text, sizeof text, "element %zu of %zu is %.9g, wanted %.9g within %.3g (%s)", i, want.v.size(), g, w, 2 * want.e[i], want.type.c_str());
        return text;
    }
    return "";
}

/* The plan tells types and shapes of results: those of the reference. */
std::string compare_types(const std::string &plan, const std::vector<tensor> &results) {
    const nlohmann::json read = nlohmann::json::parse(plan);
    size_t               at = 0;
    for (const nlohmann::json &p : read["params"]) {
        if (p["kind"] != "result") continue;
        const tensor &t = results.at(at++);
        if (p["type"] != t.type || p["shape"] != nlohmann::json(t.shape)) return "result " + p["name"].dump() + " is " + p["type"].dump() + p["shape"].dump() + ", wanted " + t.type + nlohmann::json(t.shape).dump();
    }
    return at == results.size() ? "" : "other results";
}

std::string run_one(const sim::module &m, const work &w, const answer &expected, sim::report &r) {
    const std::string           &unit = w.unit;
    sim::memory                  mem;
    std::vector<unsigned>        params;
    std::map<unsigned, unsigned> scratch;
    std::vector<sim::launch>     launches;
    std::string                  why;
    why = compare_types(w.metal.plan, expected.results);
    if (!why.empty()) return why;
    for (const sim::unit &u : m.units())
        if (u.name == unit && !u.errors.empty()) return u.errors[0].str();
    for (const tensor &t : expected.inputs) {
        const std::vector<uint8_t> bytes = pack(t);
        params.push_back(mem.add("input " + std::to_string(params.size()), bytes.size(), bytes.data(), 16));
    }
    for (const tensor &t : expected.results) params.push_back(mem.add("result " + std::to_string(params.size()), t.v.size() * bytes_of(t.type), nullptr, 16));
    for (const auto &s : w.plan.scratch) {
        const std::vector<uint8_t> zeros(s.zero ? s.bytes : 0);
        scratch[s.id] = mem.add("scratch " + std::to_string(s.id), s.bytes, s.zero ? zeros.data() : nullptr, 16);
    }
    for (const sim::plan_kernel &k : w.plan.kernels) launches.push_back(launch_of(m, unit, k, params, scratch, why));
    if (!why.empty()) return why;
    sim::run_options options;
    options.counters = w.of->counters;
    options.seconds = 120;
    r = sim::run(m, launches, mem, options);
    if (!r.ok()) return r.violations.front().str();
    for (size_t i = 0; i < expected.results.size(); i++) {
        why = compare(expected.results[i], mem.data(params[expected.inputs.size() + i]));
        if (!why.empty()) return "result " + std::to_string(i) + ": " + why;
    }
    return "";
}

} // namespace

std::vector<verdict> run_all(const std::vector<test_case> &cases, const std::string &keep) {
    std::vector<verdict> out;
    referee              known;
    for (size_t first = 0; first < cases.size(); first += 64) {
        const size_t                  last = std::min(cases.size(), first + 64);
        std::vector<work>             batch;
        std::vector<sim::source>      sources;
        std::map<std::string, size_t> seen; /* text, list and seed: place in `batch` */
        std::map<std::string, std::string> unit_of;
        for (size_t i = first; i < last; i++) {
            work w;
            w.of = &cases[i];
            w.metal = compile(cases[i].list, cases[i].options);
            w.seed = cases[i].seed ? cases[i].seed : i + 1;
            w.at = out.size();
            out.push_back({cases[i].name, ""});
            if (w.metal.code) {
                out.back().why = "refused, TM" + std::to_string(w.metal.code) + ": " + w.metal.message;
                continue;
            }
            if (w.of->told) {
                out.back().why = w.of->more(w.metal, sim::report());
                continue;
            }
            try {
                w.plan = sim::parse_plan(w.metal.plan);
            } catch (const std::exception &e) {
                out.back().why = e.what();
                continue;
            }
            if (!keep.empty()) {
                std::ofstream(keep + "/" + cases[i].name + ".metal") << w.metal.msl;
                std::ofstream(keep + "/" + cases[i].name + ".json") << cases[i].list;
            }
            const std::string text = std::to_string(w.plan.version) + w.metal.msl;
            if (!unit_of.count(text)) {
                unit_of[text] = std::to_string(w.at);
                sources.push_back({unit_of[text], w.metal.msl, w.plan.version});
            }
            w.unit = unit_of[text];
            w.same = seen.emplace(text + w.metal.plan + cases[i].list + std::to_string(w.seed) + (cases[i].counters ? "+" : "-"), batch.size()).first->second;
            batch.push_back(std::move(w));
        }
        if (sources.empty()) continue;
        const std::shared_ptr<sim::module> m = sim::build(sources);
        std::vector<sim::report>           reports(batch.size());
        for (size_t k = 0; k < batch.size(); k++) {
            work        &w = batch[k];
            std::string &why = out[w.at].why;
            if (w.same != k) why = out[batch[w.same].at].why;
            try {
                if (w.same == k) why = run_one(*m, w, known.of(w.of->list, w.seed), reports[k]);
                if (why.empty() && w.of->more) why = w.of->more(w.metal, reports[w.same]);
            } catch (const std::exception &e) {
                why = e.what();
            }
        }
    }
    return out;
}

} // namespace oplist
