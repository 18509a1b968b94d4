#include "shapes.h"

#include "../metal/standin.h"

#include <map>
#include <regex>
#include <vector>

namespace shapes {

namespace {

/* The letter of >>metal for a type of launch code; '?' for others. */
char letter_of(std::string type) {
    static const std::map<std::string, char> letters = {
        {"void", 'v'}, {"id", 'p'}, {"SEL", 'p'}, {"void *", 'p'}, {"const void *", 'p'}, {"const uint32_t *", 'p'}, {"const char *", 's'},
        {"NSUInteger", 'u'}, {"uint64_t", 'u'}, {"long", 'i'}, {"double", 'd'}, {"BOOL", 'b'}, {"id *", 'e'}, {"MTLSize", 'z'}};
    type = std::regex_replace(type, std::regex("^ +| +$"), "");
    auto at = letters.find(type);
    return at == letters.end() ? '?' : at->second;
}

/* What stands between commas, from behind an opening parenthesis up to its closing one. */
std::vector<std::string> arguments(const std::string &text, size_t at) {
    std::vector<std::string> all(1);
    for (int deep = 0; at < text.size() && (deep || text[at] != ')'); at++) {
        if (text[at] == '"') {
            do all.back() += text[at];
            while (++at < text.size() && text[at] != '"');
        }
        deep += (text[at] == '(') - (text[at] == ')');
        if (text[at] == ',' && !deep) all.emplace_back();
        else all.back() += text[at];
    }
    for (std::string &a : all) a = std::regex_replace(a, std::regex("^ +| +$"), "");
    return all;
}

/* One call of a macro, whose arguments are the result's type, types where it `has_types`, the object and the selector. */
std::string judge(const std::vector<std::string> &call, bool has_types) {
    std::string shape(1, letter_of(call[0]));
    if (call.size() < (has_types ? 4u : 3u)) return call[0] + ": not understood";
    const std::string selector = call[has_types ? 3 : 2].substr(1, call[has_types ? 3 : 2].size() - 2);
    if (has_types) {
        const auto types = arguments(call[1], 1);
        for (size_t i = 2; i < types.size(); i++) shape += letter_of(types[i]);
        if (types.size() < 2 || types[0] != "id" || types[1] != "SEL") return selector + " is sent without an object and a selector";
    }
    const std::string want = standin::shape_of(selector);
    if (want.empty()) return selector + " is no selector that the stand-in knows";
    return want == shape ? "" : selector + " is sent as " + shape + ", its method is " + want;
}

} // namespace

std::string wrong(const std::string &text) {
    const std::string flat = std::regex_replace(text, std::regex("\\s+"), " ");
    for (const bool has_types : {true, false}) {
        const std::string macro = has_types ? "SEND(" : "GET(";
        size_t            n = 0;
        for (size_t at = 0; (at = flat.find(macro, at)) != std::string::npos; at += macro.size()) {
            if (at >= 8 && flat.compare(at - 8, 8, "#define ") == 0) continue;
            const std::string why = judge(arguments(flat, at + macro.size()), has_types);
            if (!why.empty()) return why;
            n++;
        }
        if (n < 8) return "only " + std::to_string(n) + " messages by " + macro + "): there should be more";
    }
    return "";
}

} // namespace shapes
