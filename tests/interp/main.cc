/* interp: runs recorded launches of Triton kernels in the interpreter, and compares what they leave in
 * memory with what Triton's kernels left. */
#include "../corpus/compare.h"
#include "../corpus/recorded.h"
#include "../corpus/table.h"
#include "../sim/files.h"
#include "interp.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace corpus;

namespace {

const char usage[] =
    "usage: interp [options] CASE.case|DIR ...\n"
    "  --jobs N      processes; default: one a core\n"
    "  --steps N     operations that a launch may take; default 20000000, 0: no bound\n"
    "  --all         print every case, not only those that are not right\n"
    "  --print       print what tt.print printed\n"
    "  --facts       hold each value to what tmetal says is known of it; what is left in memory is not compared\n"
    "  --seconds     print the time that each case took\n"
    "  --supported   list the operations of tmetal's table that are not carried out\n"
    "Cases that cannot agree stand in tests/corpus/cannot-agree.txt and tests/interp/left-open.txt.\n"
    "Exit status: 0 if nothing is wrong, 1 if something is, 2 for a bad command line.\n";

struct settings {
    unsigned                 jobs = 2;
    uint64_t                 steps = 20000000;
    bool                     all = false, print = false, seconds = false, facts = false;
    std::vector<std::string> paths;
};

enum class verdict_kind { right, compiled, by_nature, unsupported, wrong };

struct judgement {
    verdict_kind what = verdict_kind::right;
    std::string  why, printed;
    double       seconds = 0;
};

/* -- One case ---------------------------------------------------------------------------------- */

/* The reader of cases leaves padding out. */
bool pads_with_nan(const std::string &case_text) { return case_text.find("padding nan") != std::string::npos; }

struct module_owner {
    ti_module *m;
    explicit module_owner(ti_module *module) : m(module) {}
    ~module_owner() { ti_free(m); }
    module_owner(const module_owner &) = delete;
    module_owner &operator=(const module_owner &) = delete;
};

std::vector<ti_argument> arguments_of(const ti_module *m, const recorded_case &c, bool nan_padding) {
    std::vector<ti_argument> all;
    for (const recorded_parameter &p : c.parameters) {
        ti_argument a = {};
        a.is_pointer = p.is_buffer;
        a.buffer = p.buffer;
        a.offset = static_cast<int64_t>(p.offset);
        a.nan_padding = nan_padding;
        if (!p.is_buffer) {
            const std::string type = ti_scalar_type(m, c.kernel.c_str(), static_cast<unsigned>(all.size()));
            const std::vector<uint8_t> bytes = encode_scalar(p, type, 0);
            std::memcpy(&a.bits, bytes.data(), bytes.size());
        }
        all.push_back(a);
    }
    return all;
}

/* What is wrong with a buffer; empty when it is right. A buffer without `out` is as the launch found it. */
std::string judge_buffer(const recorded_case &c, unsigned i, const precision &p, const ti_buffer &got) {
    const comparison r = compare_buffer(c, i, p, got.written, got.bytes);
    if (r.right) return "";
    return "buffer " + std::to_string(i) + (c.buffers[i].has_out ? ": " : ", which the launch must not change: ") + r.why;
}

/* A buffer without recorded contents holds bytes that nothing should read. */
std::vector<std::vector<uint8_t>> contents_of(const recorded_case &c) {
    std::vector<std::vector<uint8_t>> all;
    for (const recorded_buffer &b : c.buffers) {
        all.emplace_back(b.size, 0xcd);
        if (b.has_in) std::memcpy(all.back().data(), c.bytes.data() + b.in, b.size);
    }
    return all;
}

judgement judge_launch(ti_module *m, const recorded_case &c, const std::string &ttir, bool nan_padding, const settings &s) {
    judgement                          j;
    std::vector<std::vector<uint8_t>>  memory = contents_of(c);
    std::vector<ti_buffer>             buffers;
    const std::vector<ti_argument>     arguments = arguments_of(m, c, nan_padding);
    for (auto &bytes : memory) buffers.push_back({bytes.data(), bytes.size(), 0, nullptr});
    ti_launch l = {};
    l.kernel = c.kernel.c_str();
    std::copy(c.grid.begin(), c.grid.end(), l.grid);
    l.buffers = buffers.data();
    l.n_buffers = buffers.size();
    l.arguments = arguments.data();
    l.n_arguments = arguments.size();
    l.max_steps = s.steps;
    l.facts = s.facts;
    ti_result r;
    ti_run(m, &l, &r);
    if (r.printed) j.printed = r.printed;
    std::free(r.printed);
    if (r.status != TI_DONE) {
        j.what = r.status == TI_UNSUPPORTED           ? verdict_kind::unsupported
                 : r.status == TI_PROMISE && s.facts ? verdict_kind::by_nature
                                                     : verdict_kind::wrong;
        j.why = r.text;
        return j;
    }
    const precision p = read_precision(ttir);
    for (unsigned i = 0; i < buffers.size() && j.why.empty() && !s.facts; i++) j.why = judge_buffer(c, i, p, buffers[i]);
    if (!j.why.empty()) j.what = verdict_kind::wrong;
    return j;
}

judgement judge_case(const std::string &path, const settings &s) {
    judgement j;
    try {
        const recorded_case c = read_case(path);
        const std::string   ttir = sim::read_file(c.path + ".ttir");
        char                why[400];
        const module_owner  owner(ti_read(ttir.data(), ttir.size(), why, sizeof why));
        if (!owner.m) {
            j.what = verdict_kind::wrong;
            j.why = std::string("cannot be read: ") + why;
            return j;
        }
        if (c.compile_only) j.what = verdict_kind::compiled;
        else j = judge_launch(owner.m, c, ttir, pads_with_nan(sim::read_file(path)), s);
    } catch (const std::exception &e) {
        j.what = verdict_kind::wrong;
        j.why = e.what();
    }
    return j;
}

/* -- Many cases ---------------------------------------------------------------------------------- */

void add_cases(const std::string &path, std::vector<std::string> &cases) {
    if (path.size() > 5 && path.compare(path.size() - 5, 5, ".case") == 0) {
        cases.push_back(path);
        return;
    }
    for (const std::string &name : sim::list_directory(path))
        if (name.find(".case") != std::string::npos || name.find('.') == std::string::npos) add_cases(path + "/" + name, cases);
}

double now() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/* A line for every case: number, verdict, seconds, reason; then what was printed. */
void work(const std::vector<std::string> &cases, unsigned first, const settings &s, FILE *out) {
    for (size_t i = first; i < cases.size(); i += s.jobs) {
        const double begin = now();
        judgement    j = judge_case(cases[i], s);
        std::replace(j.why.begin(), j.why.end(), '\n', ' ');
        std::fprintf(out, "%zu %d %.3f %zu %s\n", i, static_cast<int>(j.what), now() - begin, j.printed.size(), j.why.c_str());
        std::fwrite(j.printed.data(), 1, j.printed.size(), out);
        std::fflush(out);
    }
}

void collect(FILE *in, std::vector<judgement> &all) {
    char   line[4096];
    size_t i, printed;
    int    what, used;
    double seconds;
    std::rewind(in);
    while (std::fgets(line, sizeof line, in)) {
        if (std::sscanf(line, "%zu %d %lf %zu %n", &i, &what, &seconds, &printed, &used) < 4 || i >= all.size()) continue;
        all[i].what = static_cast<verdict_kind>(what);
        all[i].seconds = seconds;
        all[i].why = line + used;
        while (!all[i].why.empty() && all[i].why.back() == '\n') all[i].why.pop_back();
        all[i].printed.resize(printed);
        if (printed && std::fread(&all[i].printed[0], 1, printed, in) != printed) return;
    }
}

std::vector<judgement> judge_all(const std::vector<std::string> &cases, const settings &s) {
    std::vector<judgement> all(cases.size());
    std::vector<FILE *>    files;
    std::vector<pid_t>     children;
    for (judgement &j : all) j.what = verdict_kind::wrong, j.why = "the interpreter died";
    for (unsigned k = 0; k < s.jobs; k++) {
        files.push_back(std::tmpfile());
        if (!files.back()) throw std::runtime_error("no temporary file");
        std::fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) {
            work(cases, k, s, files.back());
            _exit(0);
        }
        children.push_back(pid);
    }
    for (pid_t pid : children) waitpid(pid, nullptr, 0);
    for (FILE *f : files) {
        collect(f, all);
        std::fclose(f);
    }
    return all;
}

/* -- Reporting ------------------------------------------------------------------------------------- */

std::string directory_of(const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string short_name(const std::string &path) {
    const std::string directory = directory_of(path);
    const size_t      slash = directory.rfind('/');
    return path.substr(slash == std::string::npos ? 0 : slash + 1, path.size() - 5 - (slash == std::string::npos ? 0 : slash + 1));
}

/* A case on the list counts apart when it does not agree. */
void set_apart(const std::vector<std::string> &cases, std::vector<judgement> &all) {
    const std::string tests = sim::tests_directory() + "/";
    const exceptions  known(tests + "corpus/cannot-agree.txt"), open(tests + "interp/left-open.txt");
    for (size_t i = 0; i < cases.size(); i++) {
        if (all[i].what != verdict_kind::wrong) continue;
        outcome o;
        o.name = short_name(cases[i]);
        const std::string *reason = known.reason(o.name, o.source);
        if (!reason) reason = open.reason(o.name, o.source);
        if (!reason) continue;
        all[i].what = verdict_kind::by_nature;
        all[i].why = *reason;
    }
}

const char *const verdict_names[] = {"right", "read only", "cannot agree", "not supported", "WRONG"};

void print_table(const std::vector<std::string> &cases, const std::vector<judgement> &all) {
    std::map<std::string, std::map<verdict_kind, unsigned>> count;
    for (size_t i = 0; i < cases.size(); i++) {
        count[directory_of(cases[i])][all[i].what]++;
        count["in all"][all[i].what]++;
    }
    std::printf("%-40s", "");
    for (const char *name : verdict_names) std::printf(" %13s", name);
    std::printf("\n");
    for (auto &row : count) {
        std::printf("%-40s", row.first.c_str());
        for (int v = 0; v < 5; v++) std::printf(" %13u", row.second[static_cast<verdict_kind>(v)]);
        std::printf("\n");
    }
}

int run(const settings &s) {
    std::vector<std::string> cases;
    for (const std::string &path : s.paths) add_cases(path, cases);
    if (cases.empty()) throw std::runtime_error("no cases");
    std::vector<judgement> all = judge_all(cases, s);
    set_apart(cases, all);
    for (size_t i = 0; i < cases.size(); i++) {
        const bool silent = all[i].what == verdict_kind::right || all[i].what == verdict_kind::compiled;
        if (!silent || s.all || s.seconds) {
            std::printf("%-13s %s", verdict_names[static_cast<int>(all[i].what)], cases[i].c_str());
            if (s.seconds) std::printf(" %.3f s", all[i].seconds);
            std::printf("%s%s\n", all[i].why.empty() ? "" : ": ", all[i].why.c_str());
        }
        if (s.print) std::fputs(all[i].printed.c_str(), stdout);
    }
    print_table(cases, all);
    return std::any_of(all.begin(), all.end(), [](const judgement &j) { return j.what == verdict_kind::wrong; });
}

int list_unsupported() {
    ti_table_row row;
    for (unsigned i = 0; ti_table_at(i, &row); i++)
        if (!row.inner && !ti_supports(row.name)) std::printf("%s\n", row.name);
    return 0;
}

[[noreturn]] void bad_usage(const std::string &what) {
    std::fprintf(stderr, "interp: %s\n%s", what.c_str(), usage);
    std::exit(2);
}

settings read_arguments(int argc, char **argv) {
    settings s;
    s.jobs = static_cast<unsigned>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        const auto        number = [&]() -> unsigned long {
            char *end = nullptr;
            if (i + 1 >= argc) bad_usage(a + " needs a number");
            const unsigned long n = std::strtoul(argv[++i], &end, 10);
            if (*end) bad_usage(a + " needs a number");
            return n;
        };
        if (a == "--jobs") s.jobs = std::max(1u, static_cast<unsigned>(number()));
        else if (a == "--steps") s.steps = number();
        else if (a == "--all") s.all = true;
        else if (a == "--facts") s.facts = true;
        else if (a == "--print") s.print = true;
        else if (a == "--seconds") s.seconds = true;
        else if (a == "--supported") std::exit(list_unsupported());
        else if (a == "--help" || a == "-h") {
            std::fputs(usage, stdout);
            std::exit(0);
        } else if (a[0] == '-') bad_usage("unknown option " + a);
        else s.paths.push_back(a);
    }
    if (s.paths.empty()) bad_usage("no case given");
    return s;
}

} // namespace

int main(int argc, char **argv) {
    const settings s = read_arguments(argc, argv);
    try {
        return run(s);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "interp: %s\n", e.what());
        return 2;
    }
}
