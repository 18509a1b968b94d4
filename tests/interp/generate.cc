/* generate: makes cases instead of recording them. */
#include "../sim/files.h"
#include "made.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const char usage[] =
    "usage: generate --case FILE.ttir ...\n"
    "  --case FILE.ttir   write FILE.case and FILE.bin beside a hand-written file, by its head\n";

[[noreturn]] void bad_usage(const std::string &what) {
    std::fprintf(stderr, "generate: %s\n%s", what.c_str(), usage);
    std::exit(2);
}

std::string without_extension(const std::string &path) { return path.substr(0, path.rfind('.')); }

std::string base_name(const std::string &path) {
    const size_t slash = path.rfind('/');
    return path.substr(slash == std::string::npos ? 0 : slash + 1);
}

/* 0 when it was written. */
int write_hand_made(const std::string &path) {
    const std::string ttir = sim::read_file(path);
    try {
        if (ttir.empty()) throw std::runtime_error("cannot be read");
        const made::launch l = made::read_head(ttir);
        made::write_case(without_extension(path), l, made::run(ttir, l), "lookalikes", base_name(path));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s: %s\n", path.c_str(), e.what());
        return 1;
    }
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    int failed = 0;
    if (argc < 3 || std::strcmp(argv[1], "--case") != 0) bad_usage("nothing to do");
    for (int i = 2; i < argc; i++) failed |= write_hand_made(argv[i]);
    return failed;
}
