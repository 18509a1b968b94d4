/* random: modules of Triton IR that are made at random, from the rows of tmetal's table. Each is compiled to
 * Metal and run in the simulator, and must leave in memory what the interpreter leaves there. */
#include "../corpus/compile.h"
#include "../corpus/launch.h"
#include "../sim/files.h"
#include "maker.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace {

const char usage[] =
    "usage: random [options] SEED|FILE.ttir ...\n"
    "  --seeds FILE       the seeds in a file: one a line, # starts a comment\n"
    "  --range A B        the seeds from A to B\n"
    "  --write DIR        write the modules there\n"
    "  --print            print the modules, do not run them\n"
    "  --coverage         count operations over the modules, list rows of the table that none has\n"
    "  --without OP,...   operations that are not to be made\n"
    "  --gpu NAME, --threads N   passed on to the compiler\n"
    "  --schedule N       order of threadgroups and threads in the simulator; default 1\n"
    "  --jobs N           processes; default: one a core\n"
    "  --all              print every module, not only those that are not right\n"
    "A FILE has a head as the files in tests/kernels/lookalikes. Exit status: 0 if all agree, 1 if one does not,\n"
    "2 for a bad command line.\n";

struct settings {
    std::vector<std::string>  modules; /* seeds and files */
    std::string               directory;
    std::set<std::string>     without;
    corpus::compile_options   compile;
    uint64_t                  schedule = 1;
    unsigned                  jobs = 2;
    bool                      print = false, coverage = false, all = false;
};

enum class verdict { agrees, disagrees, refused, violation, faulty };
const char *const verdict_names[] = {"agrees", "DISAGREES", "refused", "VIOLATION", "FAULTY"};

/* A module on its way. */
struct work {
    std::string                       name, ttir;
    made::launch                      launch;
    std::vector<std::vector<uint8_t>> want;
    corpus::compiled                  metal;
    sim::launch_plan                  plan;
    verdict                           what = verdict::agrees;
    std::string                       why;

    bool end(verdict v, const std::string &reason) {
        what = v;
        why = reason;
        return false;
    }
};

bool is_file(const std::string &s) { return s.size() > 5 && s.compare(s.size() - 5, 5, ".ttir") == 0; }

std::string text_of(const std::string &module, const settings &s) {
    if (is_file(module)) return sim::read_file(module);
    return made::maker(std::strtoull(module.c_str(), nullptr, 10), s.without).run();
}

/* -- One module ---------------------------------------------------------------------------------- */

bool interpret(work &w) {
    char why[400];
    if (!ti_round_trip(w.ttir.data(), w.ttir.size(), why, sizeof why)) return w.end(verdict::faulty, why);
    try {
        w.launch = made::read_head(w.ttir);
        w.want = made::run(w.ttir, w.launch);
    } catch (const std::exception &e) {
        return w.end(verdict::faulty, e.what());
    }
    return true;
}

bool compile(work &w, const std::string &directory, const settings &s) {
    const std::string path = is_file(w.name) ? w.name : directory + "/" + w.name + ".ttir";
    if (!is_file(w.name)) sim::write_file(path, w.ttir);
    w.metal = corpus::compile_ttir(path, s.compile);
    if (!w.metal.ok) {
        const corpus::diag d = w.metal.diags.empty() ? corpus::diag() : w.metal.diags.front();
        return w.end(verdict::refused, d.code + " " + d.place + " " + d.text);
    }
    try {
        w.plan = sim::parse_plan(w.metal.plan);
    } catch (const std::exception &e) {
        return w.end(verdict::violation, e.what());
    }
    return true;
}

corpus::recorded_case case_of(const work &w) {
    corpus::recorded_case c;
    c.name = w.name;
    c.kernel = w.launch.kernel;
    c.grid = w.launch.grid;
    for (const auto &bytes : w.launch.buffers) {
        corpus::recorded_buffer b;
        b.size = bytes.size();
        b.has_in = true;
        b.in = c.bytes.size();
        c.bytes.append(bytes.begin(), bytes.end());
        c.buffers.push_back(b);
    }
    for (const made::parameter &p : w.launch.parameters) {
        corpus::recorded_parameter r;
        r.is_buffer = p.is_pointer;
        r.buffer = p.buffer;
        r.offset = p.offset;
        if (p.is_pointer) r.type = corpus::parse_element(p.type);
        r.text = p.text;
        c.parameters.push_back(r);
    }
    return c;
}

void simulate(const sim::module &m, work &w, const settings &s) {
    for (const sim::unit &u : m.units())
        if (u.name == w.name && !u.errors.empty()) {
            w.end(verdict::violation, "Metal text: " + u.errors.front().str());
            return;
        }
    sim::run_options o;
    o.seed = s.schedule;
    o.seconds = 60;
    const corpus::case_result r = corpus::run_case(m, w.name, w.plan, case_of(w), corpus::precision(), o);
    if (!r.plan_error.empty()) w.end(verdict::violation, r.plan_error);
    else if (!r.report.ok()) w.end(verdict::violation, r.report.violations.front().str());
    else if (!(w.why = made::difference(w.launch, w.want, r.after)).empty()) w.what = verdict::disagrees;
}

/* -- Many ------------------------------------------------------------------------------------------- */

void judge_batch(std::vector<work> &batch, const std::string &directory, const settings &s) {
    std::vector<sim::source> sources;
    for (work &w : batch)
        if (interpret(w) && compile(w, directory, s)) sources.push_back({w.name, w.metal.msl, w.plan.version});
    if (sources.empty()) return;
    const std::shared_ptr<sim::module> m = sim::build(sources);
    for (work &w : batch)
        if (w.what == verdict::agrees) simulate(*m, w, s);
}

void report(FILE *out, const std::vector<work> &batch) {
    for (const work &w : batch) {
        std::string why = w.why;
        std::replace(why.begin(), why.end(), '\n', ' ');
        std::fprintf(out, "%s %d %s\n", w.name.c_str(), static_cast<int>(w.what), why.c_str());
    }
    std::fflush(out);
}

void work_through(const settings &s, unsigned first, const std::string &directory, FILE *out) {
    const size_t      at_once = 24; /* texts in one run of clang */
    std::vector<work> batch;
    for (size_t i = first; i < s.modules.size(); i += s.jobs) {
        batch.emplace_back();
        batch.back().name = s.modules[i];
        batch.back().ttir = text_of(s.modules[i], s);
        if (batch.size() < at_once && i + s.jobs < s.modules.size()) continue;
        judge_batch(batch, directory, s);
        report(out, batch);
        batch.clear();
    }
}

void run_in_processes(const settings &s, const std::string &directory, std::vector<FILE *> &files) {
    std::vector<pid_t> children;
    sim::fingerprint(); /* once here, not in every child */
    for (unsigned k = 0; k < s.jobs; k++) {
        files.push_back(std::tmpfile());
        if (!files.back()) throw std::runtime_error("no temporary file");
        std::fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) {
            work_through(s, k, directory, files.back());
            _exit(0);
        }
        children.push_back(pid);
    }
    for (pid_t pid : children) waitpid(pid, nullptr, 0);
}

/* True when all agree. */
bool judge_all(const settings &s) {
    std::vector<FILE *>               files;
    std::map<std::string, work>       done;
    std::map<verdict, unsigned>       count;
    const std::string                 directory = s.directory.empty() ? sim::make_temporary_directory() : s.directory;
    char                              name[1024], line[4096];
    int                               what, used;
    run_in_processes(s, directory, files);
    for (FILE *f : files) {
        for (std::rewind(f); std::fgets(line, sizeof line, f);)
            if (std::sscanf(line, "%1000s %d %n", name, &what, &used) >= 2) done[name].end(static_cast<verdict>(what), line + used);
        std::fclose(f);
    }
    for (const std::string &m : s.modules) {
        if (!done.count(m)) done[m].end(verdict::faulty, "no answer: the program died\n");
        const work &w = done[m];
        count[w.what]++;
        if (w.what != verdict::agrees || s.all)
            std::printf("%-9s %s: %s%s", verdict_names[static_cast<int>(w.what)], m.c_str(), w.why.c_str(), w.why.empty() || w.why.back() != '\n' ? "\n" : "");
    }
    std::printf("%zu modules:", s.modules.size());
    for (const auto &c : count) std::printf(" %u %s", c.second, verdict_names[static_cast<int>(c.first)]);
    std::printf("\n");
    if (s.directory.empty()) sim::remove_directory(directory);
    return count[verdict::agrees] == s.modules.size();
}

/* -- What is made ------------------------------------------------------------------------------------ */

bool holds_operation(const std::string &ttir, const std::string &op) {
    for (size_t at = ttir.find(op); at != std::string::npos; at = ttir.find(op, at + 1)) {
        const char next = ttir[at + op.size()];
        if ((next == ' ' || next == '"' || next == '\n' || next == '(') && (ttir[at - 1] == ' ' || ttir[at - 1] == '"')) return true;
    }
    return false;
}

void print_coverage(const settings &s) {
    std::map<std::string, unsigned> count;
    ti_table_row                    row;
    for (const std::string &m : s.modules) {
        const std::string ttir = text_of(m, s);
        for (unsigned i = 0; ti_table_at(i, &row); i++)
            if (!row.inner) count[row.name] += holds_operation(ttir, row.name);
    }
    for (const auto &c : count)
        if (c.second) std::printf("%5u %s\n", c.second, c.first.c_str());
    std::printf("in none:");
    for (const auto &c : count)
        if (!c.second) std::printf(" %s", c.first.c_str());
    std::printf("\n");
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
        } else if (a == "--write") s.directory = next();
        else if (a == "--print") s.print = true;
        else if (a == "--coverage") s.coverage = true;
        else if (a == "--all") s.all = true;
        else if (a == "--gpu") s.compile.gpu = next();
        else if (a == "--threads") s.compile.threads = static_cast<unsigned>(number());
        else if (a == "--schedule") s.schedule = number();
        else if (a == "--jobs") s.jobs = std::max(1u, static_cast<unsigned>(number()));
        else if (a == "--without") {
            std::istringstream in(next());
            for (std::string op; std::getline(in, op, ',');) s.without.insert(op);
        } else if (a == "--help" || a == "-h") {
            std::fputs(usage, stdout);
            std::exit(0);
        } else if (a[0] == '-') bad_usage("unknown option " + a);
        else s.modules.push_back(a);
    }
    if (s.modules.empty()) bad_usage("no seed given");
    return s;
}

} // namespace

int main(int argc, char **argv) {
    const settings s = read_arguments(argc, argv);
    try {
        if (s.coverage) return print_coverage(s), 0;
        if (!s.print) return judge_all(s) ? 0 : 1;
        for (const std::string &m : s.modules) std::fputs(text_of(m, s).c_str(), stdout);
        return 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "random: %s\n", e.what());
        return 2;
    }
}
