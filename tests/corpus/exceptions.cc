#include "exceptions.h"

#include "../sim/files.h"

#include <fnmatch.h>
#include <sstream>

namespace corpus {

exceptions::exceptions(const std::string &path) {
    std::istringstream in(sim::read_file(path));
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        const size_t end = line.find_first_of(" \t"),
                     reason = end == std::string::npos ? end : line.find_first_not_of(" \t", end);
        if (reason != std::string::npos)
            entries_.push_back({line.substr(0, end), line.substr(reason)});
    }
}

const std::string *exceptions::reason(const std::string &name, const std::string &source) const {
    for (const entry &e : entries_)
        if (fnmatch(e.pattern.c_str(), name.c_str(), 0) == 0 ||
            fnmatch(e.pattern.c_str(), source.c_str(), 0) == 0)
            return &e.reason;
    return nullptr;
}

} // namespace corpus
