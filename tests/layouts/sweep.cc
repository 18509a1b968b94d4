#include "sweep.h"

#include "tmetal.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace reduce {

using nlohmann::json;
using shape = std::vector<int64_t>;

const layout layouts[6] = {{"", 0},
                           {"DEFAULT", TMETAL_DEFAULT},
                           {"ROW_MAJOR", TMETAL_ROW_MAJOR},
                           {"COLUMN_MAJOR", TMETAL_COLUMN_MAJOR},
                           {"TILED", TMETAL_TILED},
                           {"COALESCED", TMETAL_COALESCED}};
line_bar     lines;

namespace {

enum which { inner, middle, several };

struct extent {
    shape s;
    json  axis;
    which where;
};

/* 40 shapes of 1 to 2^22 elements; most are ragged. */
const extent extents[] = {
    {{1}, 0, inner},
    {{2}, 0, inner},
    {{7}, 0, inner},
    {{31}, 0, inner},
    {{32}, 0, inner},
    {{33}, 0, inner},
    {{1000}, 0, inner},
    {{70000}, 0, inner},
    {{1 << 20}, 0, inner},
    {{1 << 22}, 0, inner},
    {{1, 1}, 1, inner},
    {{3, 5}, 1, inner},
    {{33, 77}, 1, inner},
    {{128, 1024}, 1, inner},
    {{5, 1000}, -1, inner},
    {{300, 3}, 1, inner},
    {{7, 5000}, 1, inner},
    {{3, 40000}, 1, inner},
    {{4096, 17}, 1, inner},
    {{2, 2, 2, 2, 2}, 4, inner},
    {{64, 4096}, 1, inner},
    {{700, 513}, 1, inner},
    {{33, 77}, 0, middle},
    {{1000, 5}, 0, middle},
    {{257, 64}, 0, middle},
    {{40000, 3}, 0, middle},
    {{1024, 128}, 0, middle},
    {{4, 9, 130}, 1, middle},
    {{6, 70, 33}, 1, middle},
    {{3, 2000, 7}, 1, middle},
    {{16, 1024, 64}, 1, middle},
    {{5, 1, 6}, 1, middle},
    {{33, 77}, nullptr, several},
    {{4, 9, 130}, {0, 2}, several},
    {{3, 4, 5, 6}, {1, 3}, several},
    {{3, 40, 5, 6}, {0, 1}, several},
    {{2, 3, 4}, {0, 1, 2}, several},
    {{6, 70, 33}, {1, 2}, several},
    {{20, 3, 3000}, {0, 2}, several},
    {{64, 8, 8, 1024}, {0, 2, 3}, several},
};
static_assert(sizeof extents / sizeof *extents == 40, "the bar speaks of 40 shapes");

const char *const kinds[] = {"reduce", "sum", "mean", "max", "min", "argmax", "argmin", "any", "all"};
const char *const types[] = {"f32", "f16", "bf16", "i32", "bool"};

int64_t product(const shape &s) {
    int64_t n = 1;
    for (int64_t d : s) n *= d;
    return n;
}

int64_t reduced(const extent &e) { /* elements behind one result */
    if (e.axis.is_null()) return product(e.s);
    int64_t n = 1;
    for (const json &a : e.axis.is_array() ? e.axis : json::array({e.axis})) {
        const int64_t d = a.get<int64_t>();
        n *= e.s[static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(e.s.size()) : d)];
    }
    return n;
}

/* Inputs on which a wrong result shows: true elements so rare that some rows have one and others none. */
std::string inputs_of(const std::string &kind, const std::string &type, int64_t n) {
    char text[40];
    if (kind == "prod") return "positive";
    if (kind == "any" || kind == "all") {
        const double p = std::min(0.5, 0.7 / static_cast<double>(n));
        std::snprintf(text, sizeof text, "share:%.9f", kind == "any" ? p : 1 - p);
        return text;
    }
    return kind[0] == 'a' && type != "bool" ? "ties" : "";
}

std::string text_of(const json &j) {
    std::string t = j.dump();
    t.erase(std::remove_if(t.begin(), t.end(), [](char c) { return c == '[' || c == ']'; }), t.end());
    std::replace(t.begin(), t.end(), ',', 'x');
    return t;
}

/* A wish is granted, or a remark says why it is not. */
std::string is_granted(const oplist::compiled &c, const layout &wanted) {
    size_t forced = 0;
    for (const oplist::layout_row &r : c.rows) {
        if (r.reason != "forced by the caller") continue;
        forced++;
        if (c.missed_layouts.empty() && ((r.layout & wanted.bits) != wanted.bits || (!wanted.bits && (r.layout || r.width != 1))))
            return r.value + " of " + r.kernel + " is not as the caller wants it, and no remark says so";
    }
    return forced || !c.missed_layouts.empty() ? "" : "no load is as the caller wants it, and no remark says so";
}

/* Lines of device memory that loads touch, over the fewest. */
std::string few_lines(const sim::report &r, const std::string &name) {
    uint64_t touched = 0, fewest = 0;
    for (const sim::kernel_counters &k : r.counters) {
        touched += k.sum(sim::space::device, false, &sim::access_site::touched);
        fewest += k.sum(sim::space::device, false, &sim::access_site::fewest);
    }
    const double ratio = fewest ? static_cast<double>(touched) / static_cast<double>(fewest) : 1;
    lines.held++;
    if (ratio > lines.worst) lines.worst = ratio, lines.where = name;
    return ratio <= 1.05 ? "" : "loads touch " + std::to_string(touched) + " lines, " + std::to_string(fewest) + " would do";
}

void add(std::vector<oplist::test_case> &cases, const std::string &kind, const std::string &type, const extent &e, const layout &l, bool plain) {
    json op = {{"type", "tt." + kind}, {"id", "y"}, {"input_shapes", json::array({e.s})}, {"dtype", type}, {"args", {{"axis", e.axis}}}};
    const std::string how = inputs_of(kind, type, reduced(e));
    if (!how.empty()) op["test_inputs"] = json::array({how});
    oplist::test_case c;
    c.list = json{{"ops", json::array({op})}}.dump();
    c.name = kind + "-" + type + "-" + text_of(e.s) + "-" + text_of(e.axis) + (*l.name ? std::string("-") + l.name : "") + (plain ? "-plain" : "");
    c.options.layouts = l.name;
    c.options.plain = plain;
    c.seed = 1 + std::hash<std::string>()(c.list) % 1000000;
    c.counters = !plain && e.where != middle && (!*l.name || l.bits == TMETAL_COALESCED);
    const bool        held = c.counters;
    const layout      wanted = l;
    const std::string name = c.name;
    c.more = [held, wanted, name](const oplist::compiled &m, const sim::report &r) {
        std::string why = *wanted.name ? is_granted(m, wanted) : "";
        return why.empty() && held ? few_lines(r, name) : why;
    };
    cases.push_back(c);
}

} // namespace

std::vector<oplist::test_case> all_cases(bool quick) {
    std::vector<oplist::test_case> cases;
    size_t                         turn = 0;
    for (const char *kind : kinds)
        for (const char *type : types)
            for (const extent &e : extents) {
                turn++;
                if (quick && (turn % 19 || product(e.s) > 100000)) continue;
                for (size_t l = 0; l < 6; l++)
                    if (!quick || l == turn % 6) add(cases, kind, type, e, layouts[l], false);
            }
    for (const char *type : {"f32", "f16", "bf16"}) /* products: where they stay in range */
        for (const extent &e : extents)
            for (size_t l = 0; l < 6 && !quick; l++)
                if (reduced(e) <= 100) add(cases, "prod", type, e, layouts[l], false);
    for (const char *kind : {"sum", "argmax"}) /* without optimisation */
        for (const extent &e : extents)
            for (size_t l = 0; l < 6; l++)
                if (product(e.s) <= 100000 && (!quick || turn++ % 37 == 0)) add(cases, kind, "f32", e, layouts[l], true);
    return cases;
}

} // namespace reduce
