/* Reductions against a reference: build/forced [--quick] [--filter TEXT] [--jobs N] [--keep DIR]
 *                                 [--verbose] [--progress]
 * or the table of a document:     build/forced --table FILE [--check] */
#include "sweep.h"
#include "table.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct command {
    bool        quick = false, verbose = false, progress = false, check = false;
    std::string filter, keep, table;
    unsigned    jobs = 2;
};

/* Runs its share, prints what is wrong, and ends with a line of figures. Cases of one list stay together. */
void work(const command &c, const std::vector<oplist::test_case> &all, unsigned job, FILE *to) {
    const size_t chunk = 60; /* for one run of clang; whole groups of six layouts */
    size_t       done = 0, wrong = 0;
    for (size_t first = job * chunk; first < all.size(); first += c.jobs * chunk) {
        const std::vector<oplist::test_case> mine(all.begin() + static_cast<long>(first), all.begin() + static_cast<long>(std::min(all.size(), first + chunk)));
        for (const oplist::verdict &v : oplist::run_all(mine, c.keep)) {
            if (c.verbose && v.why.empty()) std::fprintf(to, "right  %s\n", v.name.c_str());
            if (!v.why.empty()) std::fprintf(to, "WRONG  %s: %s\n", v.name.c_str(), v.why.c_str()), wrong++;
        }
        done += mine.size();
        if (c.progress) std::fprintf(stderr, "%zu of %zu, %zu wrong so far (%u)\n", done, all.size() / c.jobs, wrong, job);
    }
    std::fprintf(to, "= %zu %zu %zu %.6f %s\n", done, wrong, reduce::lines.held, reduce::lines.worst, reduce::lines.held ? reduce::lines.where.c_str() : "-");
    std::fclose(to);
}

/* Passes on what a worker prints and adds its figures; false when it died. */
bool collect(FILE *from, size_t &done, size_t &wrong, reduce::line_bar &bar) {
    char line[4096];
    bool complete = false;
    while (std::fgets(line, sizeof line, from)) {
        size_t n, w, held;
        double worst;
        char   where[1024];
        if (line[0] != '=') {
            std::fputs(line, stdout);
            continue;
        }
        if (std::sscanf(line, "= %zu %zu %zu %lf %1023s", &n, &w, &held, &worst, where) != 5) continue;
        done += n, wrong += w, bar.held += held, complete = true;
        if (held && worst > bar.worst) bar.worst = worst, bar.where = where;
    }
    return complete;
}

int run(const command &c) {
    std::vector<oplist::test_case> cases;
    for (auto &t : reduce::all_cases(c.quick))
        if (t.name.find(c.filter) != std::string::npos) cases.push_back(std::move(t));
    std::vector<FILE *> from;
    for (unsigned job = 0; job < c.jobs; job++) {
        int ends[2];
        if (pipe(ends)) return std::perror("pipe"), 2;
        const pid_t pid = fork();
        if (pid < 0) return std::perror("fork"), 2;
        if (!pid) {
            close(ends[0]);
            work(c, cases, job, fdopen(ends[1], "w"));
            _exit(0);
        }
        close(ends[1]);
        from.push_back(fdopen(ends[0], "r"));
    }
    size_t           done = 0, wrong = 0;
    reduce::line_bar bar;
    bool             complete = true;
    for (FILE *f : from) complete = collect(f, done, wrong, bar) && complete;
    while (wait(nullptr) > 0) {}
    if (!complete || done != cases.size()) std::printf("WRONG  a worker died\n"), wrong++;
    std::printf("reductions: %zu compared, %zu wrong; loads of %zu touch at most %.3f times the fewest lines (%s)\n", done, wrong, bar.held, bar.worst, bar.where.c_str());
    return wrong ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
    command c;
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "--quick")) c.quick = true;
        else if (!std::strcmp(argv[i], "--verbose")) c.verbose = true;
        else if (!std::strcmp(argv[i], "--progress")) c.progress = true;
        else if (!std::strcmp(argv[i], "--check")) c.check = true;
        else if (!std::strcmp(argv[i], "--filter") && i + 1 < argc) c.filter = argv[++i];
        else if (!std::strcmp(argv[i], "--keep") && i + 1 < argc) c.keep = argv[++i];
        else if (!std::strcmp(argv[i], "--table") && i + 1 < argc) c.table = argv[++i];
        else if (!std::strcmp(argv[i], "--jobs") && i + 1 < argc) c.jobs = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
        else return std::fprintf(stderr, "usage: %s [--quick] [--filter TEXT] [--jobs N] [--keep DIR] [--verbose] [--progress] | --table FILE [--check]\n", argv[0]), 2;
    }
    return c.table.empty() ? run(c) : reduce::write_table(c.table, c.check);
}
