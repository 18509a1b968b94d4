#include "census.h"
#include "differ.h"
#include "interp.h"
#include "mutate.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <map>

namespace made {

namespace {

const char *const elements[] = {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E5M2", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ"};

struct census {
    std::map<std::string, unsigned>                        ops, other;
    std::map<std::string, std::map<std::string, unsigned>> types; /* of an operation */
};

/* The element of the last type on a line: "f32" of tensor<4x!tt.ptr<f32>>. */
std::string element_of(const std::string &line) {
    size_t end = line.size();
    while (end > 0 && !std::isalnum(static_cast<unsigned char>(line[end - 1]))) end--;
    size_t at = end;
    while (at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1])) && line[at - 1] != 'x') at--;
    return line.substr(at, end - at);
}

void count_shape(const std::string &line, std::set<std::string> &seen) {
    for (size_t at = line.find("tensor<"); at != std::string::npos; at = line.find("tensor<", at + 1)) {
        unsigned rank = 0;
        for (const char *p = line.c_str() + at + 7; std::isdigit(static_cast<unsigned char>(*p)); rank++) {
            char      *end = nullptr;
            const long n = std::strtol(p, &end, 10);
            seen.insert(n == 1 ? "an extent of 1" : n <= 16 ? "extents of 2 to 16" : n <= 256 ? "extents of 32 to 256" : "extents above 256");
            p = end + 1;
        }
        seen.insert("tensors of rank " + std::to_string(rank));
    }
}

void count_module(const std::string &ttir, const std::set<std::string> &names, census &c) {
    std::set<std::string>                        seen, other;
    std::map<std::string, std::set<std::string>> types;
    unsigned                                     loops = 0;
    std::vector<bool>                            is_loop;
    for (const std::string &line : lines_of(ttir)) {
        for (const word &w : words_of(line)) {
            const std::string op = w.text;
            if (!names.count(op)) continue;
            seen.insert(op);
            types[op].insert(element_of(line));
        }
        count_shape(line, other);
        for (const char *attribute : {"reverse = true", "axis = 0", "axis = 1", "axis = 2", "axis = 3", "inputPrecision", "boundaryCheck", "rounding = rtz", "noinline", "tt.divisibility",
                                      "evictionPolicy", "cacheModifier", "cacheModifier", "isVolatile", "scale", "fadd", "exch", "unsignedCmp", "pack = ", "efficient_layout", "allow_reorder", "tt.contiguity", "fastMath = true", "hex = true"})
            if (line.find(attribute) != std::string::npos) other.insert(attribute);
        const bool opens = line.find("scf.for") != std::string::npos || line.find("scf.while") != std::string::npos;
        for (char ch : line) {
            if (ch == '{') is_loop.push_back(opens), loops += opens;
            if (ch == '}' && !is_loop.empty()) loops -= is_loop.back(), is_loop.pop_back();
        }
        if (loops) other.insert("loops nested " + std::to_string(loops));
        if (loops && line.find("tt.reduce") != std::string::npos) other.insert("a reduction in a loop");
        if (loops && line.find("tt.dot") != std::string::npos) other.insert("a dot in a loop");
    }
    for (const std::string &op : seen) c.ops[op]++;
    for (const std::string &o : other) c.other[o]++;
    for (const auto &t : types)
        for (const std::string &e : t.second) c.types[t.first][e]++;
}

} // namespace

void print_census(const std::vector<std::string> &modules, const std::set<std::string> &without) {
    census                c;
    std::set<std::string> names;
    ti_table_row          row;
    std::string           none;
    size_t                pairs = 0;
    for (unsigned i = 0; ti_table_at(i, &row); i++)
        if (!row.inner) names.insert(row.name);
    for (const std::string &m : modules) {
        try {
            count_module(source_of(m, without).ttir, names, c);
        } catch (const std::exception &) { /* a launch that cannot be made again */
            c.other["(left out)"]++;
        }
    }
    for (const std::string &op : names) {
        if (!c.ops[op]) none += " " + op;
        if (!c.ops[op]) continue;
        std::printf("%6u %-30s", c.ops[op], op.c_str());
        for (const char *e : elements)
            if (c.types[op][e]) std::printf(" %s %u", e, c.types[op][e]), pairs++;
        std::printf("\n");
    }
    for (const auto &o : c.other) std::printf("%6u %s\n", o.second, o.first.c_str());
    std::printf("%zu modules, %zu pairs of an operation and a type\nin none:%s\n", modules.size(), pairs, none.c_str());
}

} // namespace made
