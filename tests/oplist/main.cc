/* Op lists against a reference: build/oplist [--quick] [--filter TEXT] [--keep DIR] [--write DIR] [--only N,N] [--tensors]
 * [--gpu NAME] [--verbose]. --tensors: products by matmul2d, where the GPU is said to have it. --write: only writes each list to DIR, as NUMBER.json;
 * --only: only the lists with these numbers.
 * build/oplist --graphs N [--first SEED] [--ways N] [--jobs N] [--seconds N] [--results FILE] [--census] [--print]: lists made at random. */
#include "cases.h"
#include "fusion.h"
#include "graphs.h"
#include "texts.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

int main(int argc, char **argv) {
    bool        quick = false, verbose = false, tensors = false;
    std::string filter, keep, write, only, gpu;
    oplist::graph_options graphs;
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "--quick")) quick = true;
        else if (!std::strcmp(argv[i], "--only") && i + 1 < argc) only = std::string(",") + argv[++i] + ",";
        else if (!std::strcmp(argv[i], "--verbose")) verbose = true;
        else if (!std::strcmp(argv[i], "--tensors")) tensors = true;
        else if (!std::strcmp(argv[i], "--census")) graphs.census = true;
        else if (!std::strcmp(argv[i], "--print")) graphs.print = true;
        else if (!std::strcmp(argv[i], "--graphs") && i + 1 < argc) graphs.graphs = std::strtoull(argv[++i], nullptr, 10);
        else if (!std::strcmp(argv[i], "--first") && i + 1 < argc) graphs.first = std::strtoull(argv[++i], nullptr, 10);
        else if (!std::strcmp(argv[i], "--ways") && i + 1 < argc) graphs.ways = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
        else if (!std::strcmp(argv[i], "--jobs") && i + 1 < argc) graphs.jobs = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
        else if (!std::strcmp(argv[i], "--seconds") && i + 1 < argc) graphs.seconds = std::strtod(argv[++i], nullptr);
        else if (!std::strcmp(argv[i], "--results") && i + 1 < argc) graphs.results = argv[++i];
        else if (!std::strcmp(argv[i], "--filter") && i + 1 < argc) filter = argv[++i];
        else if (!std::strcmp(argv[i], "--gpu") && i + 1 < argc) gpu = argv[++i];
        else if (!std::strcmp(argv[i], "--keep") && i + 1 < argc) keep = argv[++i];
        else if (!std::strcmp(argv[i], "--write") && i + 1 < argc) write = argv[++i];
        else return std::fprintf(stderr, "usage: %s [--quick] [--filter TEXT] [--keep DIR] [--write DIR] [--only N,N] [--tensors] [--gpu NAME] [--verbose]\n"
                                    "   or: %s --graphs N [--first SEED] [--ways N] [--jobs N] [--seconds N] [--results FILE] [--census] [--print]\n", argv[0], argv[0]), 2;
    }
    if (graphs.graphs) return oplist::run_graphs(graphs);
    std::vector<oplist::test_case> cases;
    for (auto &c : oplist::all_cases(quick))
        if (c.name.find(filter) != std::string::npos) cases.push_back(std::move(c));
    for (const char *file : {"tests/oplist/fusion.rows", "tests/oplist/corners.rows"})
        for (auto &c : oplist::fusion_cases(file, quick, std::strstr(file, "corners")))
            if (c.name.find(filter) != std::string::npos) cases.push_back(std::move(c));
    for (oplist::test_case &c : cases) {
        c.options.tensors |= tensors;
        if (!gpu.empty()) c.options.gpu = gpu;
    }
    std::map<std::string, size_t>  lists; // many cases share one
    std::vector<oplist::test_case> wanted;
    for (const oplist::test_case &c : cases) {
        const bool first = lists.emplace(c.list, lists.size()).second;
        if (first && !write.empty()) {
            char name[32];
            std::snprintf(name, sizeof name, "/%05zu.json", lists.at(c.list));
            std::ofstream(write + name) << c.list;
        }
        if (only.find("," + std::to_string(lists.at(c.list)) + ",") != std::string::npos) wanted.push_back(c);
    }
    if (!write.empty()) return std::printf("%zu lists written\n", lists.size()), 0;
    if (!only.empty()) cases = std::move(wanted);
    size_t wrong = filter.empty() && only.empty() ? oplist::check_texts() : 0;
    for (const oplist::verdict &v : oplist::run_all(cases, keep)) {
        if (verbose && v.why.empty()) std::printf("right  %s\n", v.name.c_str());
        if (!v.why.empty()) std::printf("WRONG  %s: %s\n", v.name.c_str(), v.why.c_str()), wrong++;
    }
    std::printf("op lists: %zu compared, %zu wrong\n", cases.size(), wrong);
    return wrong ? 1 : 0;
}
