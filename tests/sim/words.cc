#include "words.h"
#include "sim.h"

#include <regex>
#include <utility>
#include <vector>

namespace sim {

std::string metal_words(std::string s) {
    static const std::vector<std::pair<std::regex, std::string>> rules = {
        {std::regex("\\*__private\\b"), "*"},
        {std::regex("&__private\\b"), "&"},
        {std::regex("'((const|volatile) )*__private ([^'*&]*)'"), "'$1$3'"},
        {std::regex("const __constant\\b"), "constant"},
        {std::regex("\\b__constant\\b"), "constant"},
        {std::regex("\\b__global\\b"), "device"},
        {std::regex("\\b__local\\b"), "threadgroup"},
        {std::regex("\\b__private\\b"), "thread"},
        {std::regex("\\b__generic "), ""},
        {std::regex("'[^']*sim_type_[^']*' \\(aka ('[^']*')\\)"), "$1"},
        {std::regex("sim_metal_atomic_"), "atomic_"},
        {std::regex("sim_name_"), ""},
        {std::regex("sim_unit_[0-9]+::"), ""},
        {std::regex("\\b(metal::)?vec<([a-z]+), ([234])>"), "$2$3"},
        {std::regex("'([a-z]+[234])' \\(aka '[^']*'\\)"), "'$1'"},
        {std::regex("call to deleted function"), "no matching function for call to"},
        {std::regex("no viable conversion from '([^']*)' to '(bfloat|metal::bfloat)'"),
         "cannot initialize a variable of type 'bfloat' with an rvalue of type '$1'"},
        {std::regex("no member named 'sim_[gs]et'"), "illegal vector component name"},
        {std::regex("metal::bfloat"), "bfloat"},
    };
    for (const auto &rule : rules) s = std::regex_replace(s, rule.first, rule.second);
    return s;
}

std::string diagnostic::str() const {
    std::string s = file;
    if (line) s += ":" + std::to_string(line) + ":" + std::to_string(column);
    return s + ": error: " + text;
}

} // namespace sim
