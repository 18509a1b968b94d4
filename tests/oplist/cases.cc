#include "cases.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace oplist {

using nlohmann::json;
using shape = std::vector<int64_t>;

namespace {

const char *const floats[] = {"f32", "f16", "bf16"};

std::string text_of(const shape &s) {
    std::string t;
    for (int64_t d : s) t += (t.empty() ? "" : "x") + std::to_string(d);
    return t.empty() ? "scalar" : t;
}

struct maker {
    std::vector<test_case> cases;
    bool                   quick = false;
    unsigned               turn = 0;

    test_case &add(const std::string &name, const json &ops) {
        test_case c;
        c.name = name;
        c.list = json{{"ops", ops}}.dump();
        cases.push_back(c);
        return cases.back();
    }
    test_case &one(const std::string &type, const std::vector<shape> &shapes, const json &args, const std::string &dtype, const json &how = json::array(),
                   const json &dtypes = json()) {
        json op = {{"type", "tt." + type}, {"id", "y"}, {"input_shapes", shapes}, {"dtype", dtype}};
        if (!args.is_null() && !args.empty()) op["args"] = args;
        if (!how.empty()) op["test_inputs"] = how;
        if (!dtypes.is_null()) op["input_dtypes"] = dtypes;
        std::string name = type + "-" + dtype;
        for (const shape &s : shapes) name += "-" + text_of(s);
        std::string more = args.is_null() || args.empty() ? "" : "-" + args.dump();
        more.erase(std::remove_if(more.begin(), more.end(), [](char ch) { return std::string("{}\"[] ").find(ch) != std::string::npos; }), more.end());
        std::replace(more.begin(), more.end(), ':', '=');
        return add(name + more, json::array({op}));
    }
    /* In a quick run each type in turn, else all three. */
    template <typename F> void each_float(const F &f) {
        if (quick) return f(floats[turn++ % 3]);
        for (const char *t : floats) f(t);
    }
};

void elementwise(maker &m) {
    static const char *const unary[] = {"exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "floor", "ceil", "round", "sigmoid",
                                        "gelu", "silu", "hardswish", "reciprocal", "neg", "abs", "relu", "relu6", "square"};
    static const char *const binary[] = {"add", "sub", "mul", "div", "mod", "floordiv", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"};
    for (const char *op : unary)
        m.each_float([&](const char *t) {
            const std::string s = op;
            const bool positive = s == "log" || s == "log2" || s == "log1p" || s == "sqrt" || s == "rsqrt";
            m.one(op, {{37, 53}}, {}, t, {positive ? "positive" : s == "reciprocal" ? "nonzero" : ""});
        });
    m.each_float([&](const char *t) { m.one("gelu", {{1000}}, {{"approximate", "tanh"}}, t); });
    for (const char *op : binary)
        m.each_float([&](const char *t) {
            const std::string s = op;
            m.one(op, {{5, 1, 33}, {7, 1}}, {}, t, {"", s == "div" || s == "mod" || s == "floordiv" ? "positive" : s.size() == 2 ? "ties" : ""});
        });
    m.each_float([&](const char *t) { m.one("pow", {{333}, {333}}, {}, t, {"positive", ""}); });
    m.each_float([&](const char *t) { m.one("mul", {{3, 7, 11}}, {{"value", 0.125}}, t); });
    m.each_float([&](const char *t) { m.one("clamp", {{100, 3}}, {{"min", -0.5}, {"max", 1}}, t); });
    m.each_float([&](const char *t) { m.one("where", {{9, 1}, {9, 40}, {40}}, {}, t); });
    m.each_float([&](const char *t) { m.one("fma", {{17, 19}, {19}, {17, 1}}, {}, t); });
    m.each_float([&](const char *t) { m.one("dropout", {{41, 77}}, {{"p", 0.25}, {"seed", 1234567890123}}, t); });
    for (const char *t : {"i32", "i8", "u8", "i64"}) {
        m.one("add", {{100}, {100}}, {}, t);
        m.one("maximum", {{6, 5}, {5}}, {}, t);
        m.one("lt", {{6, 5}, {5}}, {}, t);
        m.one("xor", {{77}, {77}}, {}, t);
    }
    for (const char *t : {"i32", "u8"}) {
        m.one("sub", {{100}, {100}}, {}, t);
        m.one("mul", {{60}, {60}}, {}, t);
        m.one("square", {{60}}, {}, t);
        m.one("fma", {{60}, {60}, {60}}, {}, t);
        m.one("lt", {{60}}, {{"value", 2.5}}, t); /* compared as floats */
    }
    m.one("min", {{40, 33}}, {{"axis", 0}}, "u64");
    m.one("sort", {{5, 77}}, {{"descending", true}}, "u64");
    m.one("sort", {{77, 5}}, {{"axis", 0}}, "i64");
    for (const auto &t : {std::pair<const char *, const char *>{"i8", "i32"}, {"u32", "i32"}, {"bool", "i32"}, {"i32", "f16"}, {"f16", "bf16"}, {"f32", "bool"}})
        m.one("add", {{60}, {60}}, {}, t.first, {}, {t.first, t.second}); /* what two types become together */
    m.one("fma", {{60}, {60}, {60}}, {}, "bool"); /* an i32 */
    for (const char *t : {"bool", "i32"}) m.one("dropout", {{300}}, {{"p", 0.25}, {"seed", 7}}, t); /* an f32 */
    m.one("floordiv", {{500}, {500}}, {}, "i32", {"", "nonzero"});
    m.one("mod", {{500}, {500}}, {}, "i32", {"", "nonzero"});
    m.one("div", {{500}, {500}}, {}, "i32", {"", "nonzero"});
    m.one("abs", {{500}}, {}, "i32");
    m.one("neg", {{500}}, {}, "i16");
    m.one("and", {{31, 3}, {31, 3}}, {}, "bool");
    m.one("or", {{31, 3}, {31, 3}}, {}, "bool");
    m.one("not", {{31, 3}}, {}, "bool");
    for (const char *from : {"f32", "f16", "bf16", "i32", "i8", "u8", "bool", "i64"})
        for (const char *to : {"f32", "f16", "bf16", "i32", "bool"})
            if (!m.quick || (m.turn++ % 4) == 0) m.one("cast", {{333}}, {{"dtype", to}}, from);
}

void reductions(maker &m) {
    static const char *const kinds[] = {"sum", "mean", "prod", "max", "min", "argmax", "argmin", "any", "all"};
    struct extent {
        shape s;
        json  axis;
    };
    const extent extents[] = {{{1}, 0},           {{31}, 0},        {{33, 77}, 1},          {{33, 77}, 0},          {{33, 77}, nullptr},   {{5, 1000}, -1},       {{1000, 5}, 0},
                              {{4, 9, 130}, 1},   {{4, 9, 130}, {0, 2}}, {{3, 4, 5, 6}, {1, 3}}, {{3, 40, 5, 6}, {0, 1}}, {{7, 5000}, 1},        {{300, 3}, 1},         {{2, 3, 4}, {0, 1, 2}},
                              {{257, 64}, 0},     {{6, 70, 33}, {1, 2}}, {{70000}, nullptr},    {{3, 40000}, 1},        {{40000, 3}, 0},       {{20, 3, 3000}, {0, 2}}, {{1, 1}, 1},
                              {{4096, 132}, 0},   {{1030, 130}, 0},     {{16, 512, 24}, {0, 1}}};
    for (const char *kind : kinds)
        for (const extent &e : extents) {
            if (m.quick && m.turn++ % 4) continue;
            const std::string k = kind;
            const std::string how = k == "prod" ? "positive" : k == "any" ? "share:0.002" : k == "all" ? "share:0.998" : k[0] == 'a' ? "ties" : "";
            if (k == "prod" && e.s[0] * (e.s.size() > 1 ? e.s[1] : 1) > 400) continue;
            m.each_float([&](const char *t) { m.one(kind, {e.s}, {{"axis", e.axis}, {"keepdims", m.turn % 2 == 0}}, t, {how}); });
        }
    for (const char *kind : {"sum", "max", "min", "argmax", "mean"})
        for (const char *t : {"i32", "i8", "u8", "i64"})
            for (const shape &s : {shape{33, 77}, shape{3, 20000}}) m.one(kind, {s}, {{"axis", 1}}, t);
    for (const char *kind : {"any", "all", "sum"}) m.one(kind, {{50, 70}}, {{"axis", 0}}, "bool", {std::string(kind) == "all" ? "share:0.99" : "share:0.01"});
    for (const char *kind : {"max", "min", "argmax", "argmin"})
        m.each_float([&](const char *t) { m.one(kind, {{40, 3}}, {{"axis", 1}}, t, {"special"}); });
    for (const char *kind : {"argmax", "max"}) m.one(kind, {{2, 50000}}, {{"axis", 1}}, "f32", {"special"});
    m.one("sum", {{36, 30000}}, {{"axis", 1}}, "f32"); /* 36 programs: a million elements pay for a second kernel */
    m.one("max", {{264, 4100}}, {{"axis", 0}}, "f32");
    m.one("reduce", {{64, 100}}, {{"axis", 1}}, "f32");
    m.one("reduce", {{64, 100}}, {{"axis", {0, 1}}, {"op", "max"}}, "f32");
    m.one("sum", {{100, 7}}, {{"axis", 0}, {"dtype", "f32"}}, "f16");
    m.one("argmax", {{9, 40}}, {{"axis", 1}, {"dtype", "i64"}}, "f32"); /* types that the arguments name */
    m.one("any", {{50, 70}}, {{"axis", 0}, {"dtype", "f32"}}, "bool", {"share:0.01"});
    m.one("softmax", {{13, 150}}, {{"dtype", "f32"}}, "f16");
    m.one("matmul", {{33, 45}, {45, 70}}, {{"dtype", "f32"}}, "f16");
    m.one("cumsum", {{9, 77}}, {{"axis", 1}, {"dtype", "f32"}}, "f16");
    m.one("where", {{9, 1}, {9, 40}, {40}}, {{"dtype", "f16"}}, "f32");
    m.one("lt", {{6, 5}, {5}}, {{"dtype", "bool"}}, "f32"); /* the type that there is anyway */
    m.one("transpose", {{20, 35}}, {{"dtype", "f16"}}, "f16");
    m.one("sort", {{5, 33}}, {{"largest", true}}, "f32");
}

void rows(maker &m) {
    const shape shapes[] = {{1, 1}, {13, 150}, {3, 1025}, {4, 5, 33}, {100, 7}, {2, 9000}};
    for (const char *op : {"softmax", "log_softmax", "layer_norm", "rms_norm"}) {
        for (const shape &s : shapes) {
            if (m.quick && m.turn++ % 2) continue;
            m.each_float([&](const char *t) { m.one(op, {s}, {{"axis", -1}}, t); });
        }
        m.each_float([&](const char *t) { m.one(op, {{3, 50, 40}}, {{"axis", 1}}, t); });
        m.each_float([&](const char *t) { m.one(op, {{500, 37}}, {{"axis", 0}}, t); });
        /* rows that no registers hold: whole rounds, the last not full, rows that begin anywhere, columns */
        m.one(op, {{1, 65536}}, {{"axis", 1}}, "f16");
        m.one(op, {{2, 40000}}, {{"axis", 1}}, "f32");
        m.one(op, {{2, 33001}}, {{"axis", 1}}, "f32");
        m.one(op, {{40000, 2}}, {{"axis", 0}}, "f32");
    }
    m.one("layer_norm", {{1, 33001}, {33001}, {33001}}, {}, "f32");
    for (const char *op : {"softmax", "log_softmax"}) m.one(op, {{2, 33001}}, {{"axis", 1}}, "f32", {"special"});
    m.each_float([&](const char *t) { m.one("layer_norm", {{30, 77}, {77}, {77}}, {{"eps", 0.001}}, t); });
    m.each_float([&](const char *t) { m.one("layer_norm", {{6, 10, 30}, {10, 30}, {10, 30}}, {{"normalized_shape", {10, 30}}}, t); });
    m.each_float([&](const char *t) { m.one("rms_norm", {{30, 77}, {77}}, {{"eps", 1e-6}}, t); });
    m.each_float([&](const char *t) { m.one("layer_norm", {{3, 9001}, {9001}, {9001}}, {}, t); });
}

void products(maker &m) {
    struct extent {
        shape a, b;
        json  args;
    };
    const extent extents[] = {{{33, 45}, {45, 70}, {}},
                              {{16, 16}, {16, 16}, {}},
                              {{100, 64}, {64, 100}, {}},
                              {{45, 33}, {70, 45}, {{"transpose_a", true}, {"transpose_b", true}}},
                              {{33, 45}, {70, 45}, {{"transpose_b", true}}},
                              {{3, 20, 31}, {3, 31, 18}, {}},
                              {{2, 3, 20, 31}, {3, 31, 18}, {}},
                              {{5, 1, 20, 31}, {3, 31, 18}, {}},
                              {{45}, {45, 30}, {}},
                              {{30, 45}, {45}, {}},
                              {{45}, {45}, {}},
                              {{1, 300}, {300, 40}, {}},
                              {{200, 3}, {3, 200}, {}},
                              /* few rows or columns: a matrix that is streamed */
                              {{300}, {300, 40}, {}},
                              {{40, 300}, {300}, {}},
                              {{300}, {300}, {}},
                              {{1, 4096}, {40, 4096}, {{"transpose_b", true}}},
                              {{2, 5000}, {5000, 40}, {}},
                              {{3, 257}, {70, 257}, {{"transpose_b", true}}},
                              {{320, 5}, {320, 72}, {{"transpose_a", true}}},
                              {{70, 260}, {260, 4}, {}},
                              {{260, 70}, {260, 9}, {{"transpose_a", true}}},
                              {{2, 16, 96}, {2, 96, 40}, {}},
                              {{16, 512}, {130, 512}, {{"transpose_b", true}}},
                              {{9, 2050}, {2050, 70}, {}},
                              {{70, 2050}, {2050, 9}, {}},
                              {{17, 512}, {512, 17}, {}}}; /* not few */
    for (const extent &e : extents) m.each_float([&](const char *t) { m.one("matmul", {e.a, e.b}, e.args, t); });
    m.each_float([&](const char *t) { m.one("matmul", {{33, 45}, {45, 70}, {70}}, {}, t); });
    m.each_float([&](const char *t) { m.one("matmul", {{2, 33, 45}, {45, 70}, {33, 1}}, {}, t); });
    m.each_float([&](const char *t) { m.one("matmul", {{7, 128}, {128, 33}, {33}}, {}, t); });
    m.one("matmul", {{4, 128}, {128, 33}}, {}, "f32", {}, {"f16", "f32"});
    for (const char *t : {"i64", "u64", "i32"}) m.one("matmul", {{20, 30}, {30, 10}}, {}, t); /* 64 bits are no double */
    m.one("matmul", {{20, 30}, {30, 10}}, {}, "i32");
    m.one("matmul", {{20, 30}, {30, 10}}, {}, "i8");
    m.one("matmul", {{20, 30}, {30, 10}}, {}, "f32", {}, {"f16", "f32"});
}

void attentions(maker &m) {
    m.each_float([&](const char *t) { m.one("attention", {{2, 3, 50, 32}, {2, 3, 50, 32}, {2, 3, 50, 32}}, {}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{2, 3, 50, 20}, {2, 3, 50, 20}, {2, 3, 50, 20}}, {{"causal", true}}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{1, 6, 33, 16}, {1, 2, 70, 16}, {1, 2, 70, 24}}, {{"scale", 0.5}}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{40, 64}, {65, 64}, {65, 64}, {40, 65}}, {}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{2, 2, 20, 64}, {2, 2, 40, 64}, {2, 2, 40, 64}, {2, 1, 20, 40}}, {}, t, {"", "", "", "share:0.6"}, {nullptr, nullptr, nullptr, "bool"}); });
    m.each_float([&](const char *t) { m.one("attention", {{3, 40, 100}, {3, 40, 100}, {3, 40, 100}}, {{"causal", true}}, t); });
    /* causal where lengths differ: decoding, a chunk behind a cache, more queries than keys (some see none), grouped heads, a mask besides */
    m.each_float([&](const char *t) { m.one("attention", {{2, 1, 32}, {2, 70, 32}, {2, 70, 32}}, {{"causal", "bottom_right"}}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{2, 1, 32}, {2, 70, 32}, {2, 70, 32}}, {{"causal", true}}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{2, 3, 20, 20}, {2, 1, 70, 20}, {2, 1, 70, 20}}, {{"causal", "bottom_right"}}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{1, 4, 40, 16}, {1, 2, 70, 16}, {1, 2, 70, 24}}, {{"causal", "lower_right"}}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{3, 70, 16}, {3, 33, 16}, {3, 33, 16}}, {{"causal", "bottom_right"}}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{3, 70, 16}, {3, 33, 16}, {3, 33, 16}}, {{"causal", "top_left"}}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{2, 40, 130}, {2, 55, 130}, {2, 55, 130}}, {{"causal", "bottom_right"}}, t); });
    m.each_float([&](const char *t) { m.one("attention", {{2, 20, 16}, {2, 45, 16}, {2, 45, 16}, {20, 45}}, {{"causal", "bottom_right"}}, t); });
    for (int offset : {0, 1, 12, 43, 44, 100, -1, -19, -20, -1000}) m.one("attention", {{2, 20, 16}, {2, 45, 16}, {2, 45, 16}}, {{"causal", true}, {"causal_offset", offset}}, m.quick ? floats[m.turn++ % 3] : "f32");
    m.one("attention", {{2, 5, 16}, {2, 7, 16}, {2, 7, 16}, {5, 7}}, {}, "f32", {"", "", "", "share:0.15"}, {nullptr, nullptr, nullptr, "bool"}); /* some rows see no key */
}

void convolutions(maker &m) {
    m.each_float([&](const char *t) { m.one("conv2d", {{2, 3, 11, 13}, {5, 3, 3, 3}}, {}, t); });
    m.each_float([&](const char *t) { m.one("conv2d", {{1, 4, 9, 9}, {6, 4, 3, 3}, {6}}, {{"padding", 1}, {"stride", 2}}, t); });
    m.each_float([&](const char *t) { m.one("conv2d", {{2, 6, 10, 8}, {4, 3, 3, 1}, {4}}, {{"groups", 2}, {"padding", {2, 0}}, {"dilation", {2, 1}}}, t); });
    m.each_float([&](const char *t) { m.one("conv2d", {{1, 8, 7, 7}, {8, 1, 3, 3}}, {{"groups", 8}, {"padding", 1}}, t); });
    m.each_float([&](const char *t) { m.one("conv2d", {{1, 40, 5, 5}, {33, 40, 1, 1}}, {}, t); });
}

void parts(maker &m) {
    m.each_float([&](const char *t) { m.one("slice", {{9, 70}}, {{"axis", 1}, {"start", 3}, {"end", -2}}, t); });
    m.each_float([&](const char *t) { m.one("slice", {{9, 7, 33}}, {{"start", {1, -3}}, {"end", {100, 2000000000}}}, t); });
    m.each_float([&](const char *t) { m.one("slice", {{9, 70}}, {{"axis", {-1, 0}}, {"start", {-1, 8}}, {"end", {-1000, -100}}, {"step", {-1, -3}}}, t); });
    m.one("slice", {{40, 9}}, {{"step", -1}}, "f32");
    m.one("slice", {{40, 9}}, {{"axis", {0, 1}}, {"start", 1}, {"end", {1000, 8}}, {"step", 2}}, "i8");
    m.one("slice", {{1000}}, {{"start", 999}}, "bool");
    m.one("slice", {{3, 5, 7}}, {{"axis", 1}, {"start", 2}, {"end", 3}}, "i64");
    m.each_float([&](const char *t) { m.one("pad", {{9, 33}}, {{"pad_width", {{1, 0}, {3, 5}}}}, t); });
    m.each_float([&](const char *t) { m.one("pad", {{2, 3, 5, 7}}, {{"pads", {0, 1, 2, 0, 0, 0, 1, 9}}, {"value", -1.5}}, t); });
    m.each_float([&](const char *t) { m.one("pad", {{2, 3, 5, 7}}, {{"pad", {1, 2, 0, 4}}, {"value", -60000}}, t); });
    m.one("pad", {{1, 1}}, {{"pad_width", 2}, {"value", 7}}, "u8");
    m.one("pad", {{5}}, {{"pad_width", {{0, 0}}}}, "f32");
    m.one("pad", {{4, 6}}, {{"pad_width", 1}, {"value", 1}}, "bool");
    m.each_float([&](const char *t) { m.one("take", {{30, 40}, {7, 3}}, {{"axis", 1}}, t, {"", "index:42"}); });
    m.one("take", {{30, 4, 5}, {}}, {{"axis", -2}}, "f32", {"", "index:4"});
    m.one("take", {{30}, {2, 2}}, {}, "i32", {"", "index:30"}, {"i32", "i64"});
    m.one("take_along_axis", {{30, 40}, {7, 1}}, {}, "f32", {"", "index:30"});
    m.one("take_along_axis", {{1, 40}, {7, 9}}, {{"axis", 1}}, "f16", {"", "index:40"});
    m.one("gather", {{3, 30, 40}, {1, 7, 40}}, {{"axis", 1}, {"broadcast", true}}, "f32", {"", "index:33"});
    m.one("gather", {{30, 40}, {7, 1}}, {{"broadcast", false}}, "f32", {"", "index:30"});
}

void rotated(maker &m) {
    m.each_float([&](const char *t) { m.one("rope", {{2, 3, 20, 32}}, {}, t); });
    m.each_float([&](const char *t) { m.one("rope", {{2, 3, 20, 32}}, {{"traditional", true}, {"offset", 17}}, t); });
    m.each_float([&](const char *t) { m.one("rope", {{2, 1, 5, 33}}, {{"dims", 20}, {"base", 500000}, {"scale", 0.5}}, t); });
    m.each_float([&](const char *t) { m.one("rope", {{2, 7, 31}}, {{"dims", 30}, {"interleaved", true}, {"offset", 3}}, t); });
    m.one("rope", {{2, 9, 4, 16}}, {{"seq_axis", 1}}, "f32"); /* [N, T, heads, D] */
    m.one("rope", {{40, 64}}, {{"offset", -5}}, "f32");
    m.one("rope", {{2, 3, 1, 32}, {}}, {}, "f32", {"", "index:100"});
    m.one("rope", {{2, 3, 9, 32}, {9}}, {{"traditional", true}}, "f16", {"", "index:50"});
    m.one("rope", {{2, 3, 9, 32}, {2, 1, 9}}, {{"offset", 2}}, "f32", {"", "index:50"}, {"f32", "i64"});
    m.one("rope", {{1, 2}}, {}, "f32");
}

void pooling(maker &m) {
    for (const char *op : {"max_pool2d", "avg_pool2d"}) {
        m.each_float([&](const char *t) { m.one(op, {{2, 3, 12, 14}}, {{"kernel_size", 2}}, t); });
        m.each_float([&](const char *t) { m.one(op, {{2, 3, 11, 13}}, {{"kernel_size", 3}, {"stride", 2}, {"padding", 1}}, t); });
        m.each_float([&](const char *t) { m.one(op, {{1, 4, 9, 40}}, {{"kernel_size", {3, 2}}, {"stride", {1, 3}}, {"padding", {1, 0}}, {"ceil_mode", true}}, t); });
        m.one(op, {{2, 5, 7, 7}}, {{"kernel_size", 7}}, "f16"); /* of the whole image */
        m.one(op, {{1, 2, 64, 64}}, {{"kernel_size", 64}}, "f32");
        m.one(op, {{1, 1, 5, 5}}, {{"kernel_size", 2}, {"stride", 2}, {"padding", 1}, {"ceil_mode", true}}, "f32");
        m.one(op, {{1, 1, 6, 6}}, {{"kernel_size", 1}, {"stride", 4}, {"ceil_mode", true}}, "f32");
        m.one(op, {{1, 2, 1, 50}}, {{"kernel_size", {1, 5}}, {"stride", 1}, {"padding", {0, 2}}}, "f32");
        m.one(op, {{2, 3, 9, 9}}, {{"kernel_size", 3}, {"padding", 1}}, "i8");
    }
    m.each_float([&](const char *t) { m.one("max_pool2d", {{2, 3, 15, 17}}, {{"kernel_size", 3}, {"stride", 1}, {"padding", 2}, {"dilation", 2}}, t); });
    m.one("max_pool2d", {{2, 3, 15, 17}}, {{"kernel_size", 3}, {"stride", 2}, {"padding", 1}}, "f32", {"special"});
    m.one("max_pool2d", {{1, 3, 9, 9}}, {{"kernel_size", 3}, {"padding", 1}}, "u8");
    for (bool ceil : {false, true})
        m.each_float([&](const char *t) { m.one("avg_pool2d", {{2, 3, 11, 14}}, {{"kernel_size", {3, 4}}, {"stride", 2}, {"padding", {1, 2}}, {"count_include_pad", false}, {"ceil_mode", ceil}}, t); });
    m.each_float([&](const char *t) { m.one("upsample_nearest", {{2, 3, 7, 9}}, {{"scale_factor", 2}}, t); });
    m.one("upsample_nearest", {{2, 3, 9}}, {{"scale_factor", 3}}, "f32");
    m.one("upsample_nearest", {{1, 2, 3, 4, 5}}, {{"scale_factor", {1, 3, 2}}}, "i16");
}

void channel_norms(maker &m) {
    m.each_float([&](const char *t) { m.one("batch_norm", {{2, 5, 6, 7}, {5}, {5}, {5}, {5}}, {}, t, {"", "", "", "", "positive"}); });
    m.each_float([&](const char *t) { m.one("batch_norm", {{2, 6, 5}, {5}, {5}}, {{"axis", -1}, {"eps", 0.1}}, t, {"", "", "positive"}); });
    m.one("batch_norm", {{9, 5}, {5}, {5}, {5}, {5}}, {{"dtype", "f16"}}, "f32", {"", "", "", "", "positive"});
    m.one("batch_norm", {{2, 5, 30}, {5}, {5}}, {}, "f32", {"", "", "positive"}, {"i8", "f32", "f32"});
    m.each_float([&](const char *t) { m.one("group_norm", {{2, 6, 5, 7}, {6}, {6}}, {{"groups", 3}}, t); });
    m.each_float([&](const char *t) { m.one("group_norm", {{3, 8, 40}, {8}}, {{"num_groups", 2}, {"eps", 0.001}}, t); });
    m.each_float([&](const char *t) { m.one("group_norm", {{2, 4, 9}}, {{"groups", 4}}, t); });
    m.one("group_norm", {{3, 12}, {12}, {12}}, {{"groups", 1}}, "f32");
    m.one("group_norm", {{1, 4, 130, 130}, {4}, {4}}, {{"groups", 2}}, "f32");
}

/* The examples: small networks. Indices lie inside of their tables. */
void networks(maker &m) {
    for (const char *name : {"transformer", "convnet"}) {
        std::ifstream file(std::string("examples/lists/") + name + ".json");
        json          list = json::parse(file);
        for (json &op : list["ops"]) {
            if (op["type"] == "embedding") op["test_inputs"] = {"index:" + std::to_string(op["input_shapes"][1][0].get<int64_t>())};
            if (op["type"] == "batch_norm") op["test_inputs"] = {"", "", "", "", "positive"};
        }
        m.add(std::string("network-") + name, list["ops"]);
    }
}

void moving(maker &m) {
    m.each_float([&](const char *t) { m.one("transpose", {{70, 33}}, {}, t); });
    m.each_float([&](const char *t) { m.one("transpose", {{3, 20, 5, 7}}, {{"perm", {0, 2, 1, 3}}}, t); });
    m.each_float([&](const char *t) { m.one("transpose", {{3, 20, 35}}, {{"perm", {2, 0, 1}}}, t); });
    m.one("transpose", {{3, 20, 35}}, {{"dim0", -1}, {"dim1", 0}}, "f32");
    m.one("transpose", {{3, 20, 35}}, {{"perm", {-1, 0, -2}}}, "f32");
    m.one("broadcast", {{7, 1}}, {{"shape", {3, -1, 50}}}, "f32");
    m.one("gelu", {{100}}, {{"approximate", "none"}}, "f32");
    m.each_float([&](const char *t) { m.one("reshape", {{6, 35}}, {{"shape", {14, -1}}}, t); });
    m.each_float([&](const char *t) { m.one("broadcast", {{7, 1}}, {{"shape", {3, 7, 50}}}, t); });
    m.each_float([&](const char *t) { m.one("concat", {{3, 7, 5}, {3, 2, 5}, {3, 11, 5}}, {{"axis", 1}}, t); });
    m.each_float([&](const char *t) { m.one("concat", {{40, 17}, {40, 1}}, {{"axis", -1}}, t); });
    m.each_float([&](const char *t) { m.one("gather", {{30, 20}, {50, 17}}, {{"axis", 0}}, t, {"", "index:30"}); });
    m.each_float([&](const char *t) { m.one("gather", {{30, 20}, {30, 9}}, {{"axis", 1}}, t, {"", "index:22"}); }); /* some outside */
    m.each_float([&](const char *t) { m.one("embedding", {{4, 9}, {100, 33}}, {}, t, {"index:100"}); });
    m.one("embedding", {{50}, {20, 64}}, {}, "f32", {"index:20"}, {"i64"});
    for (const char *t : {"i8", "i64", "bool"}) m.one("transpose", {{70, 33}}, {}, t);
}

void ordered(maker &m) {
    m.each_float([&](const char *t) { m.one("cumsum", {{9, 77}}, {{"axis", 1}}, t); });
    m.each_float([&](const char *t) { m.one("cumsum", {{70, 9}}, {{"axis", 0}}, t); });
    m.each_float([&](const char *t) { m.one("cumsum", {{3, 20, 5}}, {{"axis", 1}, {"reverse", true}}, t); });
    m.each_float([&](const char *t) { m.one("cumsum", {{2, 5000}}, {{"axis", -1}, {"exclusive", true}}, t); });
    m.each_float([&](const char *t) { m.one("cumsum", {{5001}}, {{"axis", 0}, {"reverse", true}}, t); });
    m.each_float([&](const char *t) { m.one("cumsum", {{6, 33}}, {{"axis", 1}, {"reverse", true}, {"exclusive", true}}, t); });
    m.each_float([&](const char *t) { m.one("cumsum", {{3000, 3}}, {{"axis", 0}}, t); });
    m.one("cumsum", {{1, 1}}, {{"axis", 1}}, "f32");
    m.one("clamp", {{300}}, {{"min", -1}, {"max", 60}}, "u8");
    m.one("clamp", {{300}}, {{"min", -5}, {"max", 1e30}}, "i32");
    m.one("cumsum", {{1, 3}}, {{"axis", 0}}, "f32"); /* a row of one element, others beside it */
    m.one("cumsum", {{5, 1, 40}}, {{"axis", 1}, {"reverse", true}}, "f32");
    m.one("cumsum", {{1, 7}}, {{"axis", 0}, {"exclusive", true}}, "i32");
    m.one("cumsum", {{1}}, {{"axis", 0}}, "f32");
    for (const char *t : {"i32", "i8", "i64", "bool"}) m.one("cumsum", {{7, 300}}, {{"axis", 1}}, t);
    for (const shape &s : {shape{5, 100}, shape{1}, shape{3, 1000}, shape{64, 8}, shape{2, 1}}) {
        m.each_float([&](const char *t) { m.one("sort", {s}, {{"axis", -1}}, t, {"ties"}); });
        m.each_float([&](const char *t) { m.one("sort", {s}, {{"axis", -1}, {"descending", true}, {"indices", true}}, t, {"ties"}); });
    }
    m.each_float([&](const char *t) { m.one("sort", {{2, 50, 7}}, {{"axis", 1}}, t); });
    m.each_float([&](const char *t) { m.one("sort", {{200}}, {{"axis", 0}}, t, {"special"}); });
    m.each_float([&](const char *t) { m.one("sort", {{300}}, {{"axis", 0}, {"indices", true}}, t, {"special"}); });
    m.each_float([&](const char *t) { m.one("topk", {{9, 130}}, {{"k", 5}}, t); });
    m.each_float([&](const char *t) { m.one("topk", {{9, 130}}, {{"k", 7}, {"largest", false}, {"indices", true}}, t, {"ties"}); });
    m.each_float([&](const char *t) { m.one("topk", {{40, 6}}, {{"k", 3}, {"axis", 0}}, t); });
    m.one("sort", {{4000}}, {}, "f32");
    for (const char *t : {"i32", "i8", "u8", "i64", "u32"}) m.one("sort", {{5, 77}}, {}, t);
    for (const char *t : {"i32", "u8"}) m.one("sort", {{5, 77}}, {{"indices", true}, {"descending", true}}, t);
    m.each_float([&](const char *t) { m.one("scatter_add", {{30, 20}, {50, 17}, {50, 17}}, {{"axis", 0}}, t, {"", "index:30"}); });
    m.each_float([&](const char *t) { m.one("scatter_add", {{30, 20}, {30, 90}, {30, 90}}, {{"axis", 1}}, t, {"", "index:22"}); });
    m.each_float([&](const char *t) { m.one("scatter_add", {{7}, {3000}, {3000}}, {}, t, {"", "index:7"}); });
    m.one("scatter_add", {{7}, {300}, {300}}, {}, "i32", {"", "index:7"});
    m.one("scatter_add", {{7}, {300}, {300}}, {}, "i8", {"", "index:7"});
    for (const char *t : {"bool", "i32", "i8"}) /* the source is cast to the type of x */
        m.one("scatter_add", {{40}, {17}, {17}}, {}, t, {"share:0.5", "index:40"}, {t, "i32", "f32"});
}

json op(const char *type, const char *id, const json &inputs, const json &args = json(), const json &shapes = json()) {
    json j = {{"type", type}, {"id", id}, {"inputs", inputs}};
    if (!args.is_null()) j["args"] = args;
    if (!shapes.is_null()) j["input_shapes"] = shapes;
    return j;
}

json typed(json ops, const char *t) {
    for (json &o : ops) o["dtype"] = t;
    return ops;
}

std::string want_kernels(const compiled &c, size_t n) {
    const size_t have = json::parse(c.plan)["kernels"].size();
    return have == n ? "" : "takes " + std::to_string(have) + " kernels, wanted " + std::to_string(n);
}

void graphs(maker &m) {
    auto graph = [&](const std::string &name, const json &ops, size_t kernels) {
        m.each_float([&](const char *t) {
            m.add("graph-" + name + "-" + t, typed(ops, t)).more = [kernels](const compiled &c, const sim::report &) { return want_kernels(c, kernels); };
        });
    };
    graph("chain", {op("mul", "a", {"x", "y"}, {}, {{40, 50}, {50}}), op("add", "b", {"a", "x"}), op("gelu", "c", {"b"})}, 1);
    graph("linear", {op("matmul", "h", {"x", "w"}, {}, {{40, 50}, {50, 70}}), op("add", "b", {"h", "bias"}, {}, {nullptr, {70}}), op("relu", "r", {"b"})}, 1);
    graph("few-rows", {op("relu", "a", {"x"}, {}, {{3, 200}}), op("abs", "e", {"w"}, {}, {{200, 70}}), op("matmul", "h", {"a", "e"}), op("add", "b", {"h", "bias"}, {}, {nullptr, {70}}), op("relu", "r", {"b"})}, 1);
    graph("silu-by-hand", {op("matmul", "h", {"x", "w"}, {}, {{40, 50}, {50, 70}}), op("sigmoid", "s", {"h"}), op("mul", "g", {"h", "s"})}, 1);
    graph("mean-square", {op("square", "q", {"x"}, {}, {{40, 500}}), op("mean", "m", {"q"}, {{"axis", 1}}), op("sqrt", "r", {"m"})}, 1);
    graph("residual-norm", {op("add", "a", {"x", "y"}, {}, {{40, 50}, {40, 50}}), op("layer_norm", "n", {"a"}), op("mul", "s", {"n", "w"}, {}, {nullptr, {50}})}, 1);
    graph("two-results", {op("add", "a", {"x", "y"}, {}, {{40, 50}, {40, 50}}), op("exp", "e", {"a"}), op("sum", "s", {"a"}, {{"axis", 0}})}, 3);
    graph("softmax-by-hand",
          {op("max", "m", {"x"}, {{"axis", 1}, {"keepdims", true}}, {{30, 200}}), op("sub", "d", {"x", "m"}), op("exp", "e", {"d"}),
           op("sum", "s", {"e"}, {{"axis", 1}, {"keepdims", true}}), op("div", "p", {"e", "s"})},
          1);
    graph("two-products", {op("matmul", "a", {"x", "w"}, {}, {{20, 30}, {30, 40}}), op("matmul", "b", {"x", "v"}, {}, {nullptr, {30, 40}}), op("silu", "s", {"a"}), op("mul", "g", {"s", "b"})}, 2);
    graph("heads",
          {op("matmul", "p", {"x", "w"}, {}, {{2, 33, 48}, {48, 48}}), op("reshape", "r", {"p"}, {{"shape", {2, 33, 3, 16}}}),
           op("transpose", "t", {"r"}, {{"perm", {0, 2, 1, 3}}}), op("attention", "a", {"t", "t", "t"}), op("transpose", "b", {"a"}, {{"perm", {0, 2, 1, 3}}}),
           op("reshape", "o", {"b"}, {{"shape", {2, 33, 48}}}), op("matmul", "y", {"o", "w"})},
          3);
    graph("reshape-between", {op("exp", "e", {"x"}, {}, {{6, 35}}), op("reshape", "r", {"e"}, {{"shape", {14, 15}}}), op("add", "y", {"r", "b"}, {}, {nullptr, {15}})}, 1);
    graph("gathered", {op("mul", "a", {"x", "x"}, {}, {{30, 20}}), op("gather", "g", {"a", "i"}, {{"axis", 0}}, {nullptr, {30, 20}}), op("neg", "n", {"g"})}, 1);
    graph("concat-of-computed", {op("exp", "a", {"x"}, {}, {{9, 20}}), op("neg", "b", {"y"}, {}, {{9, 13}}), op("concat", "c", {"a", "b"}, {{"axis", 1}}), op("add", "d", {"c", "z"}, {}, {nullptr, {33}})}, 1);
    for (const int n : {31, 100, 1000}) { /* more inputs than a kernel has buffers: in levels */
        json names, shapes;
        for (int i = 0; i < n; i++) names.push_back("x" + std::to_string(i)), shapes.push_back({3, 1 + i % 4});
        json ops = {op("concat", "c", names, {{"axis", 1}}, shapes), op("exp", "y", {"c"})};
        graph(("concat-of-" + std::to_string(n)).c_str(), ops, n == 31 ? 3 : n == 100 ? 5 : 37);
    }
    { /* kernels that are alike are one function on other buffers */
        json ops = {op("abs", "v0", {"x"}, {}, {{20, 24}})};
        for (int i = 1; i < 4; i++) {
            const std::string k = std::to_string(i), v = "v" + std::to_string(i - 1);
            ops.push_back(op("rms_norm", ("n" + k).c_str(), {v}));
            ops.push_back(op("matmul", ("m" + k).c_str(), {"n" + k, "w" + k}, {}, {nullptr, {24, 24}}));
            ops.push_back(op("silu", ("s" + k).c_str(), {"m" + k}));
            ops.push_back(op("add", ("v" + k).c_str(), {v, "s" + k}));
        }
        graph("layers-alike", ops, 7);
    }
    graph("transposed-add", {op("transpose", "t", {"x"}, {}, {{70, 40}}), op("add", "y", {"t", "z"}, {}, {nullptr, {40, 70}}), op("relu", "r", {"y"})}, 1);
    graph("sum-then-scale", {op("sum", "s", {"x"}, {}, {{100000}}), op("mul", "y", {"s"}, {{"value", 0.5}})}, 2);
    m.each_float([&](const char *t) { /* four softmaxes in a row take turns with two buffers */
        json ops = {op("softmax", "s0", {"x"}, {{"axis", 1}}, {{30, 40}})};
        for (int i = 1; i < 5; i++) ops.push_back(op("softmax", ("s" + std::to_string(i)).c_str(), {"s" + std::to_string(i - 1)}, {{"axis", i % 2}}));
        m.add(std::string("graph-in-turn-") + t, typed(ops, t)).more = [](const compiled &c, const sim::report &) {
            const size_t n = json::parse(c.plan)["scratch"].size();
            return n == 2 ? std::string() : "takes " + std::to_string(n) + " scratch buffers, wanted 2";
        };
    });
    graph("out-of-order", {op("relu", "r", {"h"}), op("matmul", "h", {"x", "w"}, {}, {{20, 30}, {30, 20}})}, 1);
    graph("scatter-of-computed", {op("exp", "e", {"x"}, {}, {{30, 20}}), op("scatter_add", "s", {"b", "i", "e"}, {{"axis", 0}}, {{40, 20}, {30, 20}, nullptr}), op("relu", "r", {"s"})}, 4);
    graph("sorted-sum", {op("sort", "o", {"x"}, {{"axis", 1}}, {{9, 60}}), op("cumsum", "c", {"o"}, {{"axis", 1}}), op("mul", "y", {"c"}, {{"value", 0.5}})}, 2);
    graph("mask-by-compare", {op("gt", "m", {"x", "y"}, {}, {{30, 40}, {40}}), op("where", "w", {"m", "x", "y"}), op("sum", "s", {"w"}, {{"axis", 1}})}, 1);
}

/* Bytes that each buffer is read and written, against what it holds. */
void traffic(maker &m) {
    auto once = [](const compiled &, const sim::report &r) -> std::string {
        for (const sim::kernel_counters &k : r.counters)
            for (const sim::buffer_traffic &b : k.buffers) {
                if (b.read_evenly > b.distinct_read) return b.name + " is read " + std::to_string(b.read_evenly) + " bytes, holds " + std::to_string(b.distinct_read);
                if (b.bytes_written > b.distinct_written) return b.name + " is written " + std::to_string(b.bytes_written) + " bytes, holds " + std::to_string(b.distinct_written);
            }
        return "";
    };
    for (const char *type : {"softmax", "layer_norm", "rms_norm", "log_softmax", "sum", "exp"}) {
        test_case &c = m.one(type, {{64, 1000}}, type[0] == 'e' ? json() : json{{"axis", 1}}, "f32");
        c.name += "-traffic";
        c.counters = true;
        c.more = once;
    }
    for (const char *type : {"max", "argmin", "mean"}) { /* the second stage reads its partial results in order */
        test_case &few = m.one(type, {{2, 262144}}, {{"axis", 1}}, "f32");
        few.name += "-two-stages";
        few.counters = true;
        few.more = [](const compiled &, const sim::report &r) -> std::string {
            if (r.counters.size() != 2) return "is not two kernels";
            const uint64_t lines = r.counters[1].sum(sim::space::device, false, &sim::access_site::touched),
                           fewest = r.counters[1].sum(sim::space::device, false, &sim::access_site::fewest);
            return lines * 100 <= fewest * 105 ? "" : "the second stage touches " + std::to_string(lines) + " lines, " + std::to_string(fewest) + " hold it";
        };
    }
    test_case &two = m.one("sum", {{1 << 24}}, {}, "f32");
    two.name += "-two-stages";
    two.counters = true;
    two.more = [](const compiled &c, const sim::report &r) -> std::string {
        const json plan = json::parse(c.plan);
        const json &k = plan["kernels"][0];
        if (plan["kernels"].size() != 2 || plan["scratch"].size() != 1) return "is not two kernels and a scratch buffer";
        const int groups = k["grid"]["x"].get<int>() * k["grid"]["y"].get<int>() * k["grid"]["z"].get<int>();
        if (groups < 32 || k["threads_per_threadgroup"].get<int>() < 256) return "plans too few threadgroups";
        const sim::kernel_counters &ran = r.counters[0];
        return ran.threadgroups >= 32 && ran.threads >= 256 * ran.threadgroups ? "" : "fills too few threadgroups in the simulator";
    };
}

} // namespace

std::vector<test_case> all_cases(bool quick) {
    maker m;
    m.quick = quick;
    elementwise(m);
    reductions(m);
    rows(m);
    products(m);
    attentions(m);
    convolutions(m);
    moving(m);
    parts(m);
    rotated(m);
    pooling(m);
    channel_norms(m);
    networks(m);
    ordered(m);
    graphs(m);
    if (!quick) traffic(m);
    return m.cases;
}

} // namespace oplist
