#include "texts.h"

#include "run.h"
#include "tmetal.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <set>

namespace oplist {

namespace {

struct refused {
    const char *list;
    int         code;
    unsigned    line, column;
};

const refused wrong_lists[] = {
    {"", TMETAL_E_OPS_NONE, 1, 1},
    {"{", TMETAL_E_JSON, 1, 2},
    {"{\"ops\":[1,]}", TMETAL_E_JSON, 1, 11},
    {"{\"ops\":[01]}", TMETAL_E_JSON, 1, 10},
    {"{\"ops\":[\"\\x\"]}", TMETAL_E_JSON, 1, 11},
    {"{\"ops\":[]\n} x", TMETAL_E_JSON, 2, 3},
    {"{\"a\":1,\n\"a\":2}", TMETAL_E_JSON_KEY, 2, 2},
    {"{\"ops\":[]}", TMETAL_E_OPS_NONE, 1, 8},
    {"{\"ops\":[3]}", TMETAL_E_OPS_KEY, 1, 9},
    {"{\"ops\":[\n {\"type\":\"tt.frob\"}]}", TMETAL_E_OPS_UNKNOWN, 2, 11},
    {"{\"ops\":[{\"id\":\"a\"}]}", TMETAL_E_OPS_KEY, 1, 9},
    {"{\"ops\":[{\"type\":\"exp\",\"id\":\"a\",\"input_shapes\":[[1]]},{\"type\":\"exp\",\"id\":\"a\",\"input_shapes\":[[1]]}]}", TMETAL_E_OPS_KEY, 1, 74},
    {"{\"ops\":[{\"type\":\"exp\"}]}", TMETAL_E_OPS_COUNT, 1, 9},
    {"{\"ops\":[{\"type\":\"exp\",\"inputs\":[\"q\"]}]}", TMETAL_E_OPS_INPUT, 1, 34},
    {"{\"ops\":[{\"type\":\"exp\",\"input_shapes\":[[0]]}]}", TMETAL_E_OPS_KEY, 1, 40},
    {"{\"ops\":[{\"type\":\"add\",\"input_shapes\":[[3],[4]]}]}", TMETAL_E_OPS_SHAPE, 1, 9},
    {"{\"ops\":[{\"type\":\"tt.sum\",\"input_shapes\":[[3]],\"args\":{\"axis\":1}}]}", TMETAL_E_OPS_AXIS, 1, 62},
    {"{\"ops\":[{\"type\":\"tt.sum\",\"input_shapes\":[[3]],\"args\":{\"axis\":-2}}]}", TMETAL_E_OPS_AXIS, 1, 62},
    {"{\"ops\":[{\"type\":\"tt.sum\",\"input_shapes\":[[3]],\"args\":{\"axis\":[0,0]}}]}", TMETAL_E_OPS_KEY, 1, 65},
    {"{\"ops\":[{\"type\":\"tt.sum\",\"input_shapes\":[[3]],\"args\":{\"axis\":0.5}}]}", TMETAL_E_OPS_KEY, 1, 62},
    {"{\"ops\":[{\"type\":\"exp\",\"dtype\":\"f7\",\"input_shapes\":[[3]]}]}", TMETAL_E_OPS_TYPE, 1, 32},
    {"{\"ops\":[{\"type\":\"exp\",\"id\":\"a\",\"inputs\":[\"b\"]},{\"type\":\"exp\",\"id\":\"b\",\"inputs\":[\"a\"]}]}", TMETAL_E_OPS_CYCLE, 1, 9},
    {"{\"ops\":[{\"type\":\"matmul\",\"input_shapes\":[[3,4],[5,6]]}]}", TMETAL_E_OPS_SHAPE, 1, 9},
    {"{\"ops\":[{\"type\":\"reshape\",\"input_shapes\":[[3,4]],\"args\":{\"shape\":[5,-1]}}]}", TMETAL_E_OPS_ARGUMENT, 1, 9},
    {"{\"ops\":[{\"type\":\"reshape\",\"input_shapes\":[[3,4]],\"args\":{\"shape\":[2147483647,2147483647,2147483647]}}]}", TMETAL_E_OPS_ARGUMENT, 1, 9},
    {"{\"ops\":[{\"type\":\"add\",\"inputs\":[\"x\"],\"input_shapes\":[[3]]}]}", TMETAL_E_OPS_ARGUMENT, 1, 9},
    {"{\"ops\":[{\"type\":\"exp\",\"inputs\":[\"x\"],\"input_shapes\":[[3]]},{\"type\":\"exp\",\"inputs\":[\"x\"],\"input_shapes\":[[4]]}]}", TMETAL_E_OPS_SHAPE, 1, 60},
    {"{\"ops\":[{\"type\":\"exp\",\"input_shapes\":[[3]]},]}", TMETAL_E_JSON, 1, 45},
    {"{\"ops\":[{\"type\":\"exp\",\"input_shapes\":[3,4]}]}", TMETAL_E_OPS_KEY, 1, 39},
    {"{\"ops\":[{\"type\":\"exp\",\"input_shape\":[[3]]}]}", TMETAL_E_OPS_ARGUMENT, 1, 37},
    {"{\"ops\":[{\"type\":\"sum\",\"input_shapes\":[[3,4]],\"axis\":1}]}", TMETAL_E_OPS_ARGUMENT, 1, 53},
    {"{\"ops\":[{\"type\":\"sum\",\"input_shapes\":[[3,4]],\"args\":{\"axs\":1}}]}", TMETAL_E_OPS_ARGUMENT, 1, 60},
    {"{\"ops\":[{\"type\":\"sum\",\"input_shapes\":[[3,4]],\"args\":{\"axis\":1,\"keepdmis\":true}}]}", TMETAL_E_OPS_ARGUMENT, 1, 74},
    {"{\"ops\":[{\"type\":\"exp\",\"id\":\"a\",\"input_shapes\":[[3]]},{\"type\":\"exp\",\"inputs\":[\"a\"],\"input_shapes\":[[4]]}]}", TMETAL_E_OPS_SHAPE, 1, 54},
    {"{\"ops\":[{\"type\":\"exp\",\"id\":\"z\",\"inputs\":[\"a\"]},{\"type\":\"exp\",\"id\":\"a\",\"inputs\":[\"a\"]}]}", TMETAL_E_OPS_CYCLE, 1, 48},
    {"{\"ops\":[{\"type\":\"matmul\",\"input_shapes\":[[3,4],[4,5],[5]],\"input_dtypes\":[\"i8\",\"i8\",\"f32\"]}]}", TMETAL_E_OPS_ARGUMENT, 1, 9},
    {"{\"ops\":[{\"type\":\"exp\",\"inputs\":[\"x\"],\"input_shapes\":[[3]],\"input_dtypes\":[\"f16\"]},{\"type\":\"exp\",\"inputs\":[\"x\"],\"input_dtypes\":[\"f32\"]}]}", TMETAL_E_OPS_KEY, 1, 129},
    {"tt.reduce", TMETAL_E_JSON, 1, 10},
    {"tt.reduce:[8,8]:1\ntt.sum:[8,x]:0", TMETAL_E_JSON, 2, 11},
    {"tt.sum:[8,8]:2", TMETAL_E_OPS_AXIS, 1, 14},
    {"tt.frob:[8]", TMETAL_E_OPS_UNKNOWN, 1, 1},
};

size_t fail(const std::string &list, const std::string &why) {
    std::printf("WRONG  %s: %s\n", list.c_str(), why.c_str());
    return 1;
}

size_t check_refused(const refused &r) {
    const compiled c = compile(r.list);
    if (c.code == r.code && c.line == r.line && c.column == r.column) return 0;
    return fail(r.list, "gives TM" + std::to_string(c.code) + " at " + std::to_string(c.line) + ":" + std::to_string(c.column) + " (" + c.message + "), wanted TM" + std::to_string(r.code) + " at " +
                            std::to_string(r.line) + ":" + std::to_string(r.column));
}

/* Written and read again it says the same, unknown keys too; written twice, the same bytes. */
size_t check_kept(const std::string &list) {
    const std::string once = print(list), twice = print(once);
    if (once.empty()) return fail(list, "is refused");
    if (once != twice) return fail(list, "is written differently the second time");
    return nlohmann::json::parse(once) == nlohmann::json::parse(list) ? 0 : fail(list, "says something else when written: " + once);
}

size_t check_short(const std::string &text, const std::string &long_form) {
    const std::string written = print(text);
    return !written.empty() && nlohmann::json::parse(written) == nlohmann::json::parse(long_form) ? 0 : fail(text, "becomes " + written);
}

/* One op named `y`, of one input. */
std::string one(const std::string &type, const std::string &args, const std::string &shape = "[[9,7]]", const std::string &more = "") {
    return "{\"ops\":[{\"type\":\"" + type + "\",\"id\":\"y\",\"input_shapes\":" + shape + more + ",\"args\":{" + args + "}}]}";
}

/* Two ways to say one thing. */
size_t check_same(const std::string &list, const std::string &plain) {
    const compiled a = compile(list), b = compile(plain);
    if (a.code || b.code) return fail(list, "is refused: " + a.message + b.message);
    return a.msl == b.msl && a.plan == b.plan ? 0 : fail(list, "becomes other Metal than " + plain);
}

/* Is it remarked that a list may mean something else? */
size_t check_doubt(const std::string &list, const std::string &part) {
    const compiled c = compile(list);
    bool           said = false;
    if (c.code) return fail(list, "is refused: " + c.message);
    for (const std::string &r : c.remarks) said |= r.rfind("oplist: ", 0) == 0 && (part.empty() || r.find(part) != std::string::npos);
    return said != part.empty() ? 0 : fail(list, said ? "is doubted" : "has no remark with " + part);
}

size_t check_causal() {
    const std::string longer = "[[2,1,16],[2,40,16],[2,40,16]]", square = "[[2,40,16],[2,40,16],[2,40,16]]";
    size_t            wrong = 0;
    wrong += check_doubt(one("attention", "\"causal\":true", longer), "bottom_right") + check_doubt(one("attention", "\"is_causal\":true", longer), "bottom_right");
    wrong += check_doubt(one("attention", "\"causal\":true", square), "") + check_doubt(one("attention", "\"causal\":false", longer), "");
    for (const char *how : {"\"causal\":\"top_left\"", "\"causal\":\"bottom_right\"", "\"causal\":true,\"causal_offset\":0"}) wrong += check_doubt(one("attention", how, longer), "");
    wrong += check_same(one("attention", "\"causal\":true", square), one("attention", "\"causal\":\"bottom_right\"", square));
    wrong += check_same(one("attention", "\"causal\":\"lower_right\"", longer), one("attention", "\"causal\":true,\"causal_offset\":39", longer));
    wrong += check_same(one("attention", "\"causal\":\"upper_left\"", longer), one("attention", "\"causal\":true,\"causal_offset\":0", longer));
    wrong += check_same(one("attention", "\"causal\":\"bottom_right\"", longer), one("attention", "", longer)); /* one query sees all */
    return wrong;
}

/* What an element of the result is worked out by. */
size_t check_metal(const std::string &list, const std::string &text) {
    const compiled c = compile(list);
    if (c.code) return fail(list, "is refused: " + c.message);
    return c.msl.find(text) != std::string::npos ? 0 : fail(list, "becomes Metal without " + text);
}

/* An arena of any size below what is needed fails cleanly and says so. */
size_t check_arena(const std::string &list) {
    for (size_t cap = 0;; cap = cap * 5 / 4 + 1000) {
        std::vector<char> memory(cap + 1);
        tmetal_arena      arena = tmetal_arena_on(memory.data(), cap);
        tmetal_result     r;
        const tmetal_code code = tmetal_compile_ops(list.data(), list.size(), nullptr, &arena, &r);
        if (code == TMETAL_OK) return 0;
        if (code != TMETAL_E_ARENA || arena.need <= cap) return fail(list, "in an arena of " + std::to_string(cap) + " bytes gives TM" + std::to_string(code));
        if (cap > tmetal_arena_bound_ops(list.size())) return fail(list, "does not fit the arena that its bound names");
    }
}

size_t check_spellings() {
    static const char *const reductions[][2] = {{"add", "sum"}, {"mul", "prod"}, {"maximum", "max"}, {"minimum", "min"}, {"and", "all"}, {"or", "any"}};
    size_t wrong = 0;
    for (const auto &r : reductions) wrong += check_same(one("reduce", std::string("\"axis\":1,\"op\":\"") + r[0] + "\""), one("reduce", std::string("\"axis\":1,\"op\":\"") + r[1] + "\""));
    wrong += check_same(one("sum", "\"axis\":1,\"keepdims\":1"), one("sum", "\"axis\":1,\"keepdims\":true"));
    wrong += check_same(one("sum", "\"axis\":1,\"keepdims\":0"), one("sum", "\"axis\":1"));
    wrong += check_same(one("cumsum", "\"axis\":[0]"), one("cumsum", "\"axis\":0"));
    wrong += check_same(one("gelu", "\"approximate\":true"), one("gelu", "\"approximate\":\"tanh\""));
    wrong += check_same(one("gelu", "\"approximate\":false"), one("gelu", "\"approximate\":\"none\""));
    wrong += check_same(one("gelu", "\"approximate\":\"erf\""), one("gelu", ""));
    wrong += check_same(one("exp", "", "[[1e1,0.2e1,5.0]]"), one("exp", "", "[[10,2,5]]"));
    wrong += check_same(one("exp", "", "[[9]]", ",\"dtype\":\"torch.float16\""), one("exp", "", "[[9]]", ",\"dtype\":\"f16\""));
    wrong += check_same(one("exp", "", "[[9]]", ",\"dtype\":\"f16\",\"dtypes\":\"f32\""), one("exp", "", "[[9]]", ",\"dtype\":\"f16\""));
    wrong += check_same(one("broadcast", "\"shape\":[3,-1,7]", "[[9,1]]"), one("broadcast", "\"shape\":[3,9,7]", "[[9,1]]"));
    wrong += check_same(one("linear", "", "[[20,30],[10,30]]"), one("matmul", "\"transpose_b\":true", "[[20,30],[10,30]]"));
    wrong += check_same(one("matmul", "\"transpose_a\":true", "[[30],[30,10]]"), one("matmul", "", "[[30],[30,10]]"));
    wrong += check_same(one("matmul", "\"transpose_b\":true", "[[10,30],[30]]"), one("matmul", "", "[[10,30],[30]]"));
    wrong += check_same(one("transpose", "\"dim0\":0,\"dim1\":-1", "[[2,3,4]]"), one("transpose", "\"perm\":[2,1,0]", "[[2,3,4]]"));
    wrong += check_same(one("conv2d", "\"stride\":[2],\"padding\":[1]", "[[1,2,9,9],[3,2,3,3]]"), one("conv2d", "\"stride\":2,\"padding\":1", "[[1,2,9,9],[3,2,3,3]]"));
    wrong += check_same("\t\r " + one("exp", ""), one("exp", ""));
    wrong += check_same(" sum\t:[9,7] : 1\r\n\r\n", "sum:[9,7]:1");
    return wrong;
}

/* Numbers at the ends of their types. */
size_t check_numbers() {
    size_t wrong = 0;
    wrong += check_metal(one("add", "\"value\":1e400"), "+ INFINITY");
    wrong += check_metal(one("maximum", "\"value\":-1e400"), "-INFINITY");
    wrong += check_metal(one("add", "\"value\":18446744073709551615", "[[9]]", ",\"dtype\":\"u64\""), "0xFFFFFFFFFFFFFFFFul");
    wrong += check_metal(one("lt", "\"value\":18446744073709551615", "[[9]]", ",\"dtype\":\"u64\""), "0xFFFFFFFFFFFFFFFFul");
    wrong += check_metal(one("maximum", "\"value\":-9223372036854775807", "[[9]]", ",\"dtype\":\"i64\""), "-9223372036854775807l");
    wrong += check_metal(one("lt", "\"value\":9e18", "[[9]]", ",\"dtype\":\"i64\""), "< 9000000000000000000l");
    wrong += check_metal(one("clamp", "\"max\":10000000000000000000", "[[9]]", ",\"dtype\":\"u64\""), "0x8AC7230489E80000ul");
    wrong += check_metal(one("clamp", "\"min\":9007199254740993", "[[9]]", ",\"dtype\":\"i64\""), "9007199254740993l");
    wrong += check_metal(one("clamp", "\"max\":9223372036854775800", "[[9]]", ",\"dtype\":\"i64\""), "9223372036854775800l");
    wrong += check_metal(one("clamp", "\"max\":1e400"), "INFINITY");
    return wrong;
}

/* An op without an id gets a name that no other has. */
size_t check_names() {
    const std::string list = "{\"ops\":[{\"type\":\"exp\",\"id\":\"exp_1\",\"input_shapes\":[[4]]},{\"type\":\"exp\",\"input_shapes\":[[4]]}]}";
    const compiled    c = compile(list);
    std::set<std::string> names;
    if (c.code) return fail(list, "is refused: " + c.message);
    for (const nlohmann::json &p : nlohmann::json::parse(c.plan)["params"])
        if (!names.insert(p["name"].get<std::string>()).second) return fail(list, "has two parameters named " + p["name"].dump());
    return 0;
}

/* A layout is of a reduction: those inside of a product are its own, and an elementwise op has none. */
size_t check_layout_refused(const std::string &type, const std::string &shapes) {
    how options;
    options.layouts = "%y=TILED";
    const std::string list = one(type, "", shapes);
    const compiled    c = compile(list, options);
    return c.code == TMETAL_E_OPTION ? 0 : fail(list, "with a layout gives TM" + std::to_string(c.code));
}

} // namespace

size_t check_texts() {
    size_t wrong = check_causal() + check_spellings() + check_numbers() + check_names() + check_layout_refused("matmul", "[[20,16],[16,16]]") + check_layout_refused("exp", "[[20,16]]");
    for (const refused &r : wrong_lists) wrong += check_refused(r);
    wrong += check_kept("{\"ops\":[{\"type\":\"tt.sum\",\"id\":\"s\",\"input_shapes\":[[512,512]],\"args\":{\"axis\":1}}]}");
    wrong += check_kept("{\"version\":1.50,\"ops\":[\n{\"colour\":{\"deep\":[1e3,-0.0,null,true]},\"type\":\"tt.sum\",\"input_shapes\":[[5]],\"note\":\"a\\u00e9\\n\\ud83d\\ude00\"}],\"z\":[]}");
    wrong += check_short("tt.reduce:[1024,512]:1", "{\"ops\":[{\"type\":\"tt.reduce\",\"input_shapes\":[[1024,512]],\"args\":{\"axis\":1}}]}");
    wrong += check_short(" tt.matmul:[3,4],[4,5] \n\ntt.sum:[3]:null\n", "{\"ops\":[{\"type\":\"tt.matmul\",\"input_shapes\":[[3,4],[4,5]]},{\"type\":\"tt.sum\",\"input_shapes\":[[3]],\"args\":{\"axis\":null}}]}");
    wrong += check_short("tt.sum:[3,4]:[0,-1]", "{\"ops\":[{\"type\":\"tt.sum\",\"input_shapes\":[[3,4]],\"args\":{\"axis\":[0,-1]}}]}");
    wrong += check_arena("{\"ops\":[{\"type\":\"attention\",\"id\":\"a\",\"input_shapes\":[[2,50,64],[2,50,64],[2,50,64]]},{\"type\":\"exp\",\"inputs\":[\"a\"]}]}");
    wrong += check_arena("exp:[1]");
    return wrong;
}

} // namespace oplist
