/* corpus: compiles recorded launches of Triton kernels to Metal, runs them in the simulator, and
 * compares what they leave in memory with what Triton's kernels left. */
#include "../sim/files.h"
#include "../sim/sim.h"
#include "pool.h"
#include "table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

using namespace corpus;

namespace {

const char usage[] =
    "usage: corpus [options]\n"
    "  --dir DIR        folder of suites, or of cases; default $CORPUS, else tests/kernels\n"
    "  --suite NAME     only this suite; may be given several times\n"
    "  --filter TEXT    only cases whose name or source holds TEXT\n"
    "  --jobs N         worker processes; default: one a core\n"
    "  --gpu NAME       passed on to the compiler\n"
    "  --has FEATURES   passed on to the compiler; so is --lacks\n"
    "  --threads N      threads per threadgroup, passed on to the compiler\n"
    "  --two-stage N    parts of a row, passed on: kernels that only reduce rows become two\n"
    "  --operands WAY   passed on: operands of products, direct or staged\n"
    "  --plain          passed on: without optimisation\n"
    "  --bounds         passed on: every access is checked against its buffer's length\n"
    "  --sources        from the kernels' .py, by the .call beside each case\n"
    "  --seed N         order of threadgroups and threads; default 1\n"
    "  --counters       count memory traffic, barriers and simd operations\n"
    "  --all            all must be taken: a refusal counts as wrong\n"
    "  --fresh          do not use results of earlier runs\n"
    "  --seconds N      longest time for one case in the simulator; default 60\n"
    "  --json FILE      write all results there\n"
    "  --census         only compile; print what is refused and why\n"
    "The compiler is $TMETAL, else the tmetal beside this program.\n"
    "Exit status: 0 if nothing is wrong, 1 if something is, 2 for a bad command line.\n";

struct settings {
    std::string              directory, filter, json;
    std::vector<std::string> suites;
    bool                     census = false, all = false;
    pool_options             pool;
};

[[noreturn]] void bad_usage(const std::string &what) {
    fprintf(stderr, "corpus: %s\n%s", what.c_str(), usage);
    std::exit(2);
}

settings read_arguments(int argc, char **argv) {
    settings    s;
    const char *from = std::getenv("CORPUS");
    s.directory = from && *from ? from : "tests/kernels";
    s.pool.jobs = static_cast<unsigned>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        const auto        value = [&]() -> std::string {
            if (i + 1 >= argc) bad_usage(a + " needs a value");
            return argv[++i];
        };
        const auto number = [&]() -> unsigned long {
            const std::string v = value();
            char             *end = nullptr;
            const auto        n = std::strtoul(v.c_str(), &end, 10);
            if (v.empty() || *end) bad_usage(a + " needs a number");
            return n;
        };
        if (a == "--dir") s.directory = value();
        else if (a == "--suite") s.suites.push_back(value());
        else if (a == "--filter") s.filter = value();
        else if (a == "--jobs") s.pool.jobs = std::max(1u, static_cast<unsigned>(number()));
        else if (a == "--gpu") s.pool.judge.compile.gpu = value();
        else if (a == "--has") s.pool.judge.compile.has = value();
        else if (a == "--lacks") s.pool.judge.compile.lacks = value();
        else if (a == "--threads") s.pool.judge.compile.threads = static_cast<unsigned>(number());
        else if (a == "--two-stage") s.pool.judge.compile.two_stage = static_cast<unsigned>(number());
        else if (a == "--operands") s.pool.judge.compile.operands = value();
        else if (a == "--plain") s.pool.judge.compile.plain = true;
        else if (a == "--bounds") s.pool.judge.compile.bounds = true;
        else if (a == "--sources") s.pool.judge.compile.sources = true;
        else if (a == "--seed") s.pool.judge.seed = number();
        else if (a == "--seconds") s.pool.judge.seconds = static_cast<double>(number());
        else if (a == "--counters") s.pool.judge.counters = true;
        else if (a == "--all") s.all = true;
        else if (a == "--fresh") s.pool.judge.fresh = true;
        else if (a == "--json") s.json = value();
        else if (a == "--census") s.census = true;
        else if (a == "--help" || a == "-h") {
            fputs(usage, stdout);
            std::exit(0);
        } else bad_usage("unknown option " + a);
    }
    return s;
}

/* With --sources only those whose .call says what to compile. */
void add_cases(const settings &s, const std::string &directory, std::vector<std::string> &paths) {
    const std::string wanted = s.pool.judge.compile.sources ? ".call" : ".case";
    for (const std::string &name : sim::list_directory(directory)) {
        const std::string path = directory + "/" + name.substr(0, name.rfind('.'));
        if (name.size() > 5 && name.compare(name.size() - 5, 5, wanted) == 0)
            paths.push_back(path + ".case");
    }
}

/* The suites that the corpus is known to have come first, in the order of its README. */
std::vector<std::string> suite_directories(const settings &s) {
    std::vector<std::string> names = sim::list_directory(s.directory),
                             order = {"seed", "tutorial", "core", "lang", "inductor"};
    std::stable_sort(names.begin(), names.end(), [&](const std::string &a, const std::string &b) {
        return std::find(order.begin(), order.end(), a) < std::find(order.begin(), order.end(), b);
    });
    return names;
}

std::vector<std::string> find_cases(const settings &s) {
    std::vector<std::string> paths;
    add_cases(s, s.directory, paths);
    for (const std::string &suite : suite_directories(s))
        if (s.suites.empty() ||
            std::find(s.suites.begin(), s.suites.end(), suite) != s.suites.end())
            add_cases(s, s.directory + "/" + suite, paths);
    if (s.filter.empty()) return paths;
    const auto fits = [&](const std::string &path) {
        if (path.find(s.filter) != std::string::npos) return true;
        const std::string text = sim::read_file(path);
        const size_t      at = text.find("\nsource ");
        return at != std::string::npos &&
               text.substr(at, text.find('\n', at + 1) - at).find(s.filter) != std::string::npos;
    };
    paths.erase(
        std::remove_if(paths.begin(), paths.end(), [&](const std::string &p) { return !fits(p); }),
        paths.end());
    return paths;
}

/* A case that cannot agree counts apart when it does not agree. */
void set_apart(std::vector<outcome> &all, const exceptions &known, bool bounds) {
    for (outcome &o : all) {
        const std::string *reason = known.reason(o.name, o.source);
        if (reason && !bounds && reason->find("(with --bounds)") != std::string::npos) continue;
        if (!reason || (o.what != verdict::wrong && o.what != verdict::violation)) continue;
        o.what = verdict::by_nature;
        o.why = *reason + " [" + o.why + "]";
    }
}

void write_json(const std::string &path, const std::vector<outcome> &all) {
    std::ofstream out(path);
    out << "[\n";
    for (size_t i = 0; i < all.size(); i++)
        out << to_json(all[i]) << (i + 1 < all.size() ? ",\n" : "\n");
    out << "]\n";
    if (!out) throw std::runtime_error("cannot write " + path);
}

int run(settings &s) {
    const std::vector<std::string> paths = find_cases(s);
    if (paths.empty()) bad_usage("no cases in " + s.directory);
    if (!compiler_problem().empty()) throw std::runtime_error(compiler_problem());
    s.pool.judge.cache_directory = sim::program_directory() + "/corpus-cache";
    s.pool.judge.run = !s.census;
    s.pool.progress = isatty(2);
    sim::fingerprint(); /* once here instead of once in every worker */
    std::vector<outcome> all = judge_all(paths, s.pool);
    set_apart(all, exceptions(sim::tests_directory() + "/corpus/cannot-agree.txt"),
              s.pool.judge.compile.bounds);
    if (!s.json.empty()) write_json(s.json, all);
    if (s.census) {
        print_census(stdout, all);
        return 0;
    }
    print_table(stdout, all);
    if (s.pool.judge.counters) print_counters(stdout, all);
    print_failures(stdout, all, s.all);
    return std::any_of(all.begin(), all.end(), [&](const outcome &o) {
        return o.what == verdict::wrong || o.what == verdict::violation || (s.all && o.what == verdict::refused);
    });
}

} // namespace

int main(int argc, char **argv) {
    settings s = read_arguments(argc, argv);
    try {
        return run(s);
    } catch (const std::exception &e) {
        fprintf(stderr, "corpus: %s\n", e.what());
        return 2;
    }
}
