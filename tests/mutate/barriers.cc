/* barriers: takes the barriers out of emitted kernels, one at a time, and runs what is left. First threads still meet there,
 * but no memory is in order (which keeps the compiler from moving what stands around it); then nothing is there. The
 * simulator must report a race, or be wrong without the barrier: the hazard model said that it is needed. Those that show
 * nothing are listed, to be looked at: either the planner need not make them, or the race detector has a hole. Many are
 * for launches in place, one buffer as two arguments: what is silent is launched so too, and must race there where the
 * whole text does not. What the kernel itself asks for (tl.debug_barrier) stays out of this.
 *
 *     barriers [--gpu NAME] [--jobs N] [--seeds N] [--known FILE] FOLDER...
 *
 * A line of the known file is CASE (* for any) | the comment of the barrier | the reason why no launch shows a race.
 * The exit status is 1 where one is silent that is not known. */
#include "../corpus/compile.h"
#include "../corpus/launch.h"
#include "../sim/files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct settings {
    std::vector<std::string>           folders;
    std::set<std::string>             known; /* "CASE | comment" */
    corpus::compile_options            compile;
    unsigned                           jobs = 1, seeds = 3;
};

struct variant {
    std::string name, text, bare; /* of no memory, and without the barrier: NAME and NAME bare */
    std::string why; /* the comment behind it, or on the line above */
    unsigned    line;
};

size_t barrier_after(const std::string &text, size_t at) {
    return std::min(text.find("threadgroup_barrier(", at), text.find("simdgroup_barrier(", at));
}

/* Why the barrier at `at` is there: the comment behind it, or the line above where that is one. */
std::string reason(const std::string &text, size_t at) {
    const size_t line = text.rfind('\n', at), next = text.find('\n', at), behind = text.find("// ", at);
    if (behind < next) return text.substr(behind + 3, next - behind - 3);
    const size_t above = text.rfind('\n', line - 1), from = text.find_first_not_of(' ', above + 1);
    return text.compare(from, 3, "// ") == 0 ? text.substr(from + 3, line - from - 3) : "";
}

/* The texts for each of its barriers. */
std::vector<variant> without_each(const std::string &path, const std::string &text) {
    std::vector<variant> all;
    for (size_t at = barrier_after(text, 0); at != std::string::npos; at = barrier_after(text, at + 1)) {
        const size_t end = text.find(";", at), comment = text.rfind("//", at);
        if (end == std::string::npos || (comment != std::string::npos && comment > text.rfind('\n', at))) continue;
        const std::string why = reason(text, at);
        if (why.find("tl.debug_barrier") != std::string::npos) continue;
        variant v{path + "#" + std::to_string(all.size() + 1), text, text, why,
                  1 + static_cast<unsigned>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'))};
        v.bare.replace(at, end - at, end - at, ' ');
        const size_t open = text.find('(', at) + 1;
        v.text.replace(open, text.find(')', open) - open, "mem_flags::mem_none");
        all.push_back(v);
    }
    return all;
}

bool is_race(const sim::violation &v) {
    return v.kind == sim::violation_kind::RACE || v.kind == sim::violation_kind::GRID_RACE;
}

struct launched {
    const sim::module      &m;
    const sim::launch_plan &plan;
    corpus::precision       precision;
};

/* "race", else what was seen instead. */
std::string seen(const launched &l, const std::string &unit, const corpus::recorded_case &c, unsigned seed) {
    sim::run_options o;
    o.seed = seed;
    o.seconds = 20;
    const corpus::case_result r = corpus::run_case(l.m, unit, l.plan, c, l.precision, o);
    if (std::any_of(r.report.violations.begin(), r.report.violations.end(), is_race)) return "race";
    if (!r.report.ok()) return "no race, but " + r.report.violations.front().str();
    if (!r.why().empty()) return "no race, but wrong: " + r.why();
    return r.report.benign_races ? "silent but for writes of the same value" : "silent";
}

/* The launch with one buffer as two arguments, in each way. */
std::vector<corpus::recorded_case> in_place(const corpus::recorded_case &c) {
    std::vector<corpus::recorded_case> all;
    const size_t                       n = c.parameters.size();
    for (size_t i = 0; i < 2 * n * n && all.size() < 100; i++) { /* those with a result first */
        const size_t                      a = i / n % n, b = i % n;
        const corpus::recorded_parameter &p = c.parameters[a], &q = c.parameters[b];
        if (!p.is_buffer || !q.is_buffer || p.buffer == q.buffer) continue;
        if ((c.buffers[p.buffer].has_out || c.buffers[q.buffer].has_out) != (i < n * n)) continue;
        if (c.buffers[p.buffer].size < c.buffers[q.buffer].size) continue;
        all.push_back(c);
        all.back().parameters[b].buffer = p.buffer;
        all.back().parameters[b].offset = p.offset;
    }
    return all;
}

std::string judge_one(const launched &l, const std::string &whole, const variant &v, const corpus::recorded_case &c, unsigned seeds) {
    std::string what;
    for (const sim::unit &u : l.m.units())
        if (u.name.rfind(v.name, 0) == 0 && !u.errors.empty()) return "does not compile: " + u.errors.front().str();
    if (seen(l, v.name, c, 1) == "race") return "race";
    for (unsigned seed = 1; seed <= seeds; seed++)
        if ((what = seen(l, v.name + " bare", c, seed)).rfind("silent", 0) != 0) return what;
    for (const corpus::recorded_case &again : in_place(c))
        if (seen(l, v.name, again, 1) == "race" && seen(l, whole, again, 1) != "race") return "race in place";
    return what;
}

void judge(const std::string &path, const settings &s, FILE *out) {
    const corpus::recorded_case c = corpus::read_case(path + ".case");
    const corpus::compiled      metal = corpus::compile_case(path, s.compile);
    if (!metal.ok || c.compile_only) return;
    const std::vector<variant> all = without_each(path, metal.msl);
    const sim::launch_plan     plan = sim::parse_plan(metal.plan);
    std::vector<sim::source>   sources;
    for (const variant &v : all) {
        sources.push_back({v.name, v.text, plan.version, false});
        sources.push_back({v.name + " bare", v.bare, plan.version, false});
    }
    if (sources.empty()) return;
    sources.push_back({path, metal.msl, plan.version, false});
    const std::shared_ptr<sim::module> m = sim::build(sources);
    const launched                     l{*m, plan, corpus::read_precision(sim::read_file(path + ".ttir"))};
    for (const variant &v : all) {
        std::string what = judge_one(l, path, v, c, s.seeds);
        std::replace(what.begin(), what.end(), '\n', ' ');
        std::fprintf(out, "%s | %s | %u | %s\n", path.c_str(), v.why.c_str(), v.line, what.c_str());
        std::fflush(out);
    }
}

std::vector<std::string> cases(const settings &s) {
    std::vector<std::string> all;
    for (const std::string &folder : s.folders)
        for (const std::string &name : sim::list_directory(folder))
            if (name.size() > 5 && name.compare(name.size() - 5, 5, ".case") == 0)
                all.push_back(folder + "/" + name.substr(0, name.size() - 5));
    return all;
}

/* Each process takes every jobs-th case and writes what it saw to a file of its own. */
std::vector<std::string> lines_of_all(const settings &s) {
    const std::vector<std::string> all = cases(s);
    std::vector<FILE *>            files;
    std::vector<std::string>       lines;
    sim::fingerprint(); /* once here, not in every child */
    for (unsigned k = 0; k < s.jobs; k++) {
        files.push_back(std::tmpfile());
        if (!files.back()) throw std::runtime_error("no temporary file");
        std::fflush(nullptr);
        if (fork() != 0) continue;
        for (size_t i = k; i < all.size(); i += s.jobs) judge(all[i], s, files.back());
        _exit(0);
    }
    int status, bad = 0;
    for (unsigned k = 0; k < s.jobs; k++) wait(&status), bad |= status;
    if (bad) throw std::runtime_error("a process died");
    char line[4096];
    for (FILE *f : files)
        for (std::rewind(f); std::fgets(line, sizeof line, f);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
}

int summarise(const settings &s) {
    unsigned races = 0, others = 0, known = 0, silent = 0;
    for (const std::string &line : lines_of_all(s)) {
        const size_t what = line.rfind(" | ") + 3, at = line.rfind(" | ", what - 4), why = line.find(" | ") + 3;
        const auto   begins = [&](const char *s) { return line.compare(what, std::strlen(s), s) == 0; };
        if (begins("race")) races++;
        else if (begins("no race, but")) others++;
        else if (s.known.count(line.substr(0, at)) || s.known.count("* | " + line.substr(why, at - why))) known++;
        else silent++, std::printf("%s", line.c_str());
    }
    std::printf("barriers: %u taken out one at a time: %u races reported, %u wrong otherwise, %u known not to be seen, %u silent\n",
                races + others + known + silent, races, others, known, silent);
    return silent != 0 || races == 0;
}

settings read_arguments(int argc, char **argv) {
    settings s;
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        if (a[0] != '-') s.folders.push_back(a);
        else if (i + 1 == argc) throw std::runtime_error(a + " needs a value");
        else if (a == "--gpu") s.compile.gpu = argv[++i];
        else if (a == "--jobs") s.jobs = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
        else if (a == "--seeds") s.seeds = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
        else if (a == "--known") {
            std::ifstream in(argv[++i]);
            for (std::string line; std::getline(in, line);)
                if (line[0] != '#') s.known.insert(line.substr(0, line.rfind(" | ")));
        } else throw std::runtime_error("unknown option " + a);
    }
    return s;
}

} // namespace

int main(int argc, char **argv) {
    try {
        return summarise(read_arguments(argc, argv));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "barriers: %s\n", e.what());
        return 2;
    }
}
