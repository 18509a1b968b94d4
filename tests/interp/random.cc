/* random: modules of Triton IR, made at random from the rows of tmetal's table, or from others by changing a few
 * places. Each is compiled to Metal and run in the simulator, and must leave in memory what the interpreter
 * leaves there. */
#include "../corpus/jobs.h"
#include "../sim/files.h"
#include "../sim/sim.h"
#include "census.h"
#include "differ.h"
#include "mutate.h"
#include "reduce.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

using namespace made;

namespace {

const char usage[] =
    "usage: random [options] SEED|FILE.ttir|FILE.ttir~SEED ...\n"
    "  --seeds FILE       the seeds in a file: one a line, # starts a comment\n"
    "  --range A B        the seeds from A to B\n"
    "  --changed N        N modules, each one of --from's with a few places changed, or one made at random\n"
    "  --from DIR         .ttir beside a .case, for --changed; may be given several times\n"
    "  --first S          the first seed of --changed; default 1\n"
    "  --ways N           ways to compile each: the first of the list, and N - 1 others; default 1\n"
    "  --way OPTIONS      a way, as options of tmetal compile; may be given several times, in place of the list\n"
    "  --seconds N        begin nothing new after N seconds\n"
    "  --results FILE     a line for each module that is not right; written as they come\n"
    "  --write DIR        write the modules there\n"
    "  --print            print the modules, do not run them\n"
    "  --coverage         what is in the modules, beside the rows of the table, types and regions: what is in none\n"
    "  --reduce FILE      make FILE.ttir as small as it goes while the same is wrong with it: FILE.small.ttir\n"
    "  --judge COMMAND    of --reduce: while COMMAND FILE.ttir exits with 0\n"
    "  --unsure           judge FILEs as if they were changed: the interpreter tells what of them is open\n"
    "  --without OP,...   operations that are not to be made\n"
    "  --gpu NAME, --threads N   passed on to the compiler\n"
    "  --schedule N       order of threadgroups and threads in the simulator; default 1\n"
    "  --jobs N           processes; default: one a core\n"
    "  --all              print every module, not only those that are not right\n"
    "A FILE has a head as the files in tests/kernels/lookalikes, or a .case beside it. Exit status: 0 if all agree, 1 if\n"
    "one does not, 2 for a bad command line.\n";

/* Chips, layouts, threads, stages: the first is for every module. */
const char *const all_ways[] = {
    "--gpu apple-m3-max", "--gpu apple-m1", "--plain", "--gpu apple-m5 --has TENSOR_OPS", "--gpu apple-m3-max --threads 32",
    "--gpu apple-m3-max --threads 64", "--gpu apple-m1 --threads 256", "--gpu apple-m3-max --threads 512", "--gpu apple-m3-max --two-stage 4",
    "--two-stage 2 --threads 64", "--gpu apple-m3-max --operands direct", "--operands staged", "--layout COALESCED", "--layout TILED", "--layout ROW_MAJOR",
    "--layout COLUMN_MAJOR --threads 128", "--programs 4", "--gpu apple-m3-max --no-fusion", "--gpu apple-m3-max --bounds", "--plain --bounds"};

struct settings {
    std::vector<std::string> modules; /* seeds and files */
    std::vector<std::string> bases;   /* of changed ones */
    differ_options           differ;
    std::string              write, results, reduce, judge;
    uint64_t                 changed = 0, first = 1;
    double                   seconds = 0; /* 0: as long as it takes */
    unsigned                 jobs = 2;
    bool                     print = false, coverage = false, all = false, unsure = false;
};

/* -- Many modules -------------------------------------------------------------------------------------- */

std::string one_line(std::string s) {
    std::replace(s.begin(), s.end(), '\n', ' ');
    std::replace(s.begin(), s.end(), '\t', ' ');
    return s.substr(0, 1500); /* an answer must fit the pipe */
}

void judge_some(const settings &s, uint64_t first, uint64_t last, FILE *out) {
    std::vector<source> batch;
    for (uint64_t i = first; i < last; i++) {
        try {
            batch.push_back(source_of(s.modules[i], s.differ.without));
            batch.back().certain &= !s.unsure;
        } catch (const std::exception &e) {
            std::fprintf(out, "%s\t%d\t%d\t0\t\t\t%s\n", s.modules[i].c_str(), static_cast<int>(s.changed ? verdict::left_open : verdict::faulty),
                         static_cast<int>(reason::module), one_line(e.what()).c_str());
        }
    }
    for (const judged &j : judge_together(batch, s.differ))
        std::fprintf(out, "%s\t%d\t%d\t%u\t%s\t%s\t%s\n", j.module.c_str(), static_cast<int>(j.what), static_cast<int>(j.open), j.texts, j.way.c_str(),
                     one_line(j.said).c_str(), one_line(j.why).c_str());
    for (const source &m : batch)
        if (s.write.empty()) remove_module(m, s.differ.directory);
}

judged parse_line(const std::string &line) {
    judged             j;
    std::istringstream in(line);
    std::string        what, open, texts;
    std::getline(in, j.module, '\t'), std::getline(in, what, '\t'), std::getline(in, open, '\t'), std::getline(in, texts, '\t');
    std::getline(in, j.way, '\t'), std::getline(in, j.said, '\t'), std::getline(in, j.why);
    j.what = static_cast<verdict>(std::atoi(what.c_str()));
    j.open = static_cast<reason>(std::atoi(open.c_str()));
    j.texts = static_cast<unsigned>(std::atoi(texts.c_str()));
    return j;
}

void show(FILE *out, const judged &j) {
    const std::string open = j.what == verdict::left_open ? std::string(" (") + name_of(j.open) + ")" : "";
    std::fprintf(out, "%-9s %s:%s%s%s %s%s%s%s\n", name_of(j.what), j.module.c_str(), open.c_str(), j.way.empty() ? "" : " ", j.way.c_str(), j.why.c_str(),
                 j.said.empty() ? "" : " [", j.said.c_str(), j.said.empty() ? "" : "]");
    std::fflush(out);
}

bool judge_all(const settings &s) {
    std::set<std::string>       answered;
    std::map<verdict, unsigned> count;
    std::map<reason, unsigned>  open;
    uint64_t                    texts = 0;
    const double                begin = corpus::now();
    FILE                       *results = s.results.empty() ? nullptr : std::fopen(s.results.c_str(), "a");
    const auto                  take = [&](const judged &j) {
        answered.insert(j.module);
        count[j.what]++;
        if (j.what == verdict::left_open) open[j.open]++;
        texts += j.texts;
        if (s.all || !is_fine(j.what)) show(stdout, j);
        if (results && !is_fine(j.what)) show(results, j);
    };
    corpus::job_options o;
    o.jobs = s.jobs, o.count = s.modules.size(), o.seconds = s.seconds;
    o.at_once = std::max(1u, 32 / s.differ.ways_each); /* more texts in one run of clang are not cheaper */
    sim::fingerprint();                                /* once here, not in every process */
    const uint64_t begun = corpus::run_jobs(
        o, [&](uint64_t first, uint64_t last, FILE *out) { judge_some(s, first, last, out); }, [&](const std::string &line) { take(parse_line(line)); });
    for (uint64_t i = 0; i < begun; i++)
        if (!answered.count(s.modules[i])) {
            judged j;
            j.module = s.modules[i], j.what = verdict::faulty, j.why = "no answer: the program died";
            take(j);
        }
    const double seconds = corpus::now() - begin;
    char         summary[300];
    std::snprintf(summary, sizeof summary, "%llu of %zu modules, %llu texts, %.0f s, %.2f s of a process a module:", static_cast<unsigned long long>(begun), s.modules.size(),
                  static_cast<unsigned long long>(texts), seconds, seconds * s.jobs / static_cast<double>(std::max<uint64_t>(begun, 1)));
    std::string all = summary;
    for (const auto &c : count) all += " " + std::to_string(c.second) + " " + name_of(c.first);
    for (const auto &c : open) all += (&c == &*open.begin() ? ": " : ", ") + std::string(name_of(c.first)) + " " + std::to_string(c.second);
    std::printf("%s\n", all.c_str());
    if (results) std::fprintf(results, "# %s\n", all.c_str()), std::fclose(results);
    return count[verdict::agrees] + count[verdict::left_open] == begun && (begun == s.modules.size() || s.seconds > 0);
}

/* -- Command line ---------------------------------------------------------------------------------------- */

[[noreturn]] void bad_usage(const std::string &what) {
    std::fprintf(stderr, "random: %s\n%s", what.c_str(), usage);
    std::exit(2);
}

void read_seeds(const std::string &path, std::vector<std::string> &all) {
    std::ifstream in(path);
    if (!in) bad_usage("cannot read " + path);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        for (std::string word; words >> word;) all.push_back(word);
    }
}

void add_bases(const std::string &directory, std::vector<std::string> &all) {
    for (const std::string &name : sim::list_directory(directory)) {
        const std::string path = directory + "/" + name;
        if (name.size() > 5 && name.compare(name.size() - 5, 5, ".case") == 0) all.push_back(path.substr(0, path.size() - 5) + ".ttir");
    }
}

/* One in four from a module made at random, the rest from files in turn. */
void add_changed(settings &s) {
    for (uint64_t i = 0; i < s.changed; i++) {
        const uint64_t seed = s.first + i;
        const bool     made_one = s.bases.empty() || seed % 4 == 0;
        s.modules.push_back((made_one ? std::to_string(seed) : s.bases[seed % s.bases.size()]) + "~" + std::to_string(seed));
    }
}

settings read_arguments(int argc, char **argv) {
    settings s;
    s.jobs = static_cast<unsigned>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        const auto        next = [&]() -> std::string {
            if (i + 1 >= argc) bad_usage(a + " needs a value");
            return argv[++i];
        };
        const auto number = [&]() {
            const std::string  text = next();
            char              *end = nullptr;
            const auto         n = std::strtoull(text.c_str(), &end, 10);
            if (text.empty() || *end) bad_usage(a + " needs a number");
            return n;
        };
        if (a == "--seeds") read_seeds(next(), s.modules);
        else if (a == "--range") {
            const uint64_t from = number(), to = number();
            for (uint64_t seed = from; seed <= to; seed++) s.modules.push_back(std::to_string(seed));
        } else if (a == "--changed") s.changed = number();
        else if (a == "--from") add_bases(next(), s.bases);
        else if (a == "--first") s.first = number();
        else if (a == "--ways") s.differ.ways_each = std::max(1u, static_cast<unsigned>(number()));
        else if (a == "--way") s.differ.ways.push_back(next());
        else if (a == "--seconds") s.seconds = static_cast<double>(number());
        else if (a == "--results") s.results = next();
        else if (a == "--write") s.write = next();
        else if (a == "--print") s.print = true;
        else if (a == "--coverage") s.coverage = true;
        else if (a == "--reduce") s.reduce = next();
        else if (a == "--judge") s.judge = next();
        else if (a == "--all") s.all = true;
        else if (a == "--unsure") s.unsure = true;
        else if (a == "--gpu") s.differ.compile.gpu = next();
        else if (a == "--threads") s.differ.compile.threads = static_cast<unsigned>(number());
        else if (a == "--schedule") s.differ.schedule = number();
        else if (a == "--jobs") s.jobs = std::max(1u, static_cast<unsigned>(number()));
        else if (a == "--without") {
            std::istringstream in(next());
            for (std::string op; std::getline(in, op, ',');) s.differ.without.insert(op);
        } else if (a == "--help" || a == "-h") {
            std::fputs(usage, stdout);
            std::exit(0);
        } else if (a[0] == '-') bad_usage("unknown option " + a);
        else s.modules.push_back(a);
    }
    add_changed(s);
    if (s.modules.empty() && s.reduce.empty()) bad_usage("no seed given");
    if (s.differ.ways.empty() && s.differ.ways_each > 1) s.differ.ways.assign(std::begin(all_ways), std::end(all_ways));
    if (s.differ.ways.empty()) s.differ.ways.push_back("");
    return s;
}

int print_all(const settings &s) {
    for (const std::string &m : s.modules) {
        const source x = source_of(m, s.differ.without);
        if (!s.write.empty()) std::printf("%s\n", write_module(x, s.write).c_str());
        else std::printf("%s%s%s%s", x.said.empty() ? "" : "// ", x.said.c_str(), x.said.empty() ? "" : "\n", x.ttir.c_str());
    }
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    settings s = read_arguments(argc, argv);
    try {
        if (s.coverage) return print_census(s.modules, s.differ.without), 0;
        if (s.print) return print_all(s);
        s.differ.directory = s.write.empty() ? sim::make_temporary_directory() : s.write;
        const bool right = s.reduce.empty() ? judge_all(s) : reduce(s.reduce, s.judge, s.differ);
        if (s.write.empty()) sim::remove_directory(s.differ.directory);
        return right ? 0 : 1;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "random: %s\n", e.what());
        return 2;
    }
}
