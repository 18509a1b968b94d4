/* device: runs recorded cases on this machine's GPU by way of the launcher, compares what they leave in memory with what
 * Triton's kernels left, times some kernels against a copy, and writes a report. Workers touch Metal; this process
 * watches them, so that nothing that goes wrong there takes the results with it. */
#include "device.h"

#include "../sim/files.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace device {

std::string join(const std::vector<std::string> &words) {
    std::string line;
    for (size_t i = 0; i < words.size(); i++) {
        if (i) line += '\t';
        for (char c : words[i]) {
            if (c == '\t') line += "\\t";
            else if (c == '\n') line += "\\n";
            else if (c == '\\') line += "\\\\";
            else line += c;
        }
    }
    return line;
}

std::vector<std::string> split(const std::string &line) {
    std::vector<std::string> words(1);
    for (size_t i = 0; i < line.size(); i++) {
        if (line[i] == '\t') words.emplace_back();
        else if (line[i] == '\\' && i + 1 < line.size()) words.back() += line[++i] == 't' ? '\t' : line[i] == 'n' ? '\n' : line[i];
        else words.back() += line[i];
    }
    return words;
}

std::string to_line(const outcome &o) { return join({verdicts[o.what].word, o.why, o.warning, std::to_string(o.seconds), "."}); }

bool from_line(const std::string &line, outcome &o) {
    const auto words = split(line);
    if (words.size() != 5 || words[4] != ".") return false; /* cut short, or something else */
    for (int v = 0; v < VERDICTS; v++)
        if (words[0] == verdicts[v].word) {
            o.what = static_cast<verdict>(v);
            o.why = words[1], o.warning = words[2], o.seconds = std::strtod(words[3].c_str(), nullptr);
            return true;
        }
    return false;
}

volatile std::sig_atomic_t asked_to_stop;

namespace {

using clock = std::chrono::steady_clock;

const char usage[] =
    "usage: device [options] FILE.case|FOLDER...\n"
    "  --state DIR      keep what became of each case there, and go on from it\n"
    "  --again          try again what hung, or was under way when an earlier run ended\n"
    "  --fresh          forget what earlier runs found\n"
    "  --report PREFIX  write PREFIX.md and PREFIX.json\n"
    "  --json           the report as JSON on standard output, and nothing else\n"
    "  --facts FILE     what `tmetal check --record` says of the machine, for the report\n"
    "  --commit TEXT    of the sources, for the report\n"
    "  --seconds N      longest time of one launch; default 20\n"
    "  --jobs N         workers; default 1, as one GPU serves all\n"
    "  --filter TEXT    only cases whose path holds TEXT\n"
    "  --shares         time kernels too, as shares of a copy of the same bytes\n"
    "  --bench          that alone: the sum over rows in each of --layouts\n"
    "  --sizes RxC,..., --dtype f32|f16|bf16, --layouts A,B, --runs N    of --shares\n"
    "  --parts N        grids in parts of N programs; 0: by time\n"
    "  --layout SPEC, --alias P=Q, --threads N, --two-stage N, --plain, --bounds, --no-fusion, --no-fp64    for the compiler\n"
    "  --pretend WHAT:TEXT  with a stand-in only: hang, die, stop, refuse, fault or flip where a name holds TEXT\n"
    "Exit status: 0 nothing is wrong, 1 something is, 2 bad command line, 3 no device.\n";

[[noreturn]] void bad_usage(const std::string &what) {
    std::fprintf(stderr, "device: %s\n%s", what.c_str(), usage);
    std::exit(2);
}

void on_signal(int) { asked_to_stop = asked_to_stop + 1; }

/* -- The command line ------------------------------------------------------------------------- */

void add_paths(settings &s, const std::string &path) {
    std::vector<std::string> found;
    if (path.size() > 5 && path.compare(path.size() - 5, 5, ".case") == 0) found.push_back(path);
    else if (!sim::exists(path)) bad_usage("no file or folder " + path);
    else
        for (const auto &e : std::filesystem::recursive_directory_iterator(path))
            if (e.path().extension() == ".case") found.push_back(e.path().string());
    std::sort(found.begin(), found.end());
    s.paths.insert(s.paths.end(), found.begin(), found.end());
}

void read_list(const std::string &list, std::vector<std::string> &to) {
    std::istringstream in(list);
    for (std::string word; std::getline(in, word, ',');) to.push_back(word);
}

uint32_t read_number(const std::string &name, const std::string &text) {
    char               *end = nullptr;
    const unsigned long n = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || *end || n > 1000000000) bad_usage(name + " needs a number, not " + text);
    return static_cast<uint32_t>(n);
}

void read_sizes(settings &s, const std::string &list) {
    std::vector<std::string> sizes;
    read_list(list, sizes);
    for (const std::string &text : sizes) {
        const size_t x = text.find('x');
        if (x == std::string::npos) bad_usage("--sizes wants ROWSxCOLUMNS, not " + text);
        s.shares.sizes.emplace_back(read_number("--sizes", text.substr(0, x)), read_number("--sizes", text.substr(x + 1)));
    }
}

/* Options with a value; false: it is none of them. */
bool read_value(settings &s, const std::string &name, const std::string &v) {
    const std::pair<const char *, std::string *> texts[] = {
        {"--state", &s.state}, {"--report", &s.report}, {"--facts", &s.facts}, {"--commit", &s.commit}, {"--filter", &s.filter},
        {"--pretend", &s.pretend}, {"--dtype", &s.shares.dtype}, {"--layout", &s.layouts}, {"--alias", &s.alias}};
    for (const auto &t : texts)
        if (name == t.first) return *t.second = v, true;
    if (name == "--sizes") read_sizes(s, v);
    else if (name == "--layouts") read_list(v, s.shares.layouts);
    else if (name == "--runs") s.shares.runs = std::max(1u, read_number(name, v));
    else if (name == "--seconds") s.milliseconds = s.shares.milliseconds = uint64_t{1000} * std::max(1u, read_number(name, v));
    else if (name == "--jobs") s.jobs = std::max(1u, read_number(name, v));
    else if (name == "--worker") s.worker = static_cast<int>(read_number(name, v));
    else if (name == "--from") s.from = read_number(name, v);
    else if (name == "--parts") s.compile.parts = 1, s.programs_per_part = read_number(name, v);
    else if (name == "--threads") s.compile.threads = read_number(name, v);
    else if (name == "--two-stage") s.compile.two_stage = read_number(name, v);
    else if (name == "--operands") s.compile.operands = v == "direct" ? 1 : v == "staged" ? 2 : 0;
    else return false;
    return true;
}

bool read_switch(settings &s, const std::string &name) {
    if (name == "--again") s.again = true;
    else if (name == "--fresh") s.fresh = true;
    else if (name == "--json") s.json = true;
    else if (name == "--shares") s.timed = true;
    else if (name == "--bench") s.timed = s.is_bench = s.shares.only_sums = true;
    else if (name == "--plain") s.compile.plain = 1;
    else if (name == "--bounds") s.compile.bounds = 1;
    else if (name == "--no-fusion") s.compile.no_fusion = 1;
    else if (name == "--no-fp64") s.compile.no_fp64 = 1;
    else return false;
    return true;
}

settings read_arguments(int argc, char **argv) {
    settings                 s;
    std::vector<std::string> paths;
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        if (a == "--help" || a == "-h") std::fputs(usage, stdout), std::exit(0);
        if (a[0] != '-') paths.push_back(a);
        else if (read_switch(s, a)) continue;
        else if (i + 1 == argc) bad_usage(a + " is unknown, or needs a value");
        else if (!read_value(s, a, argv[++i])) bad_usage("unknown option " + a);
    }
    for (const std::string &p : paths) add_paths(s, p);
    s.paths.erase(std::remove_if(s.paths.begin(), s.paths.end(), [&](const std::string &p) { return p.find(s.filter) == std::string::npos; }),
                  s.paths.end());
    if (s.paths.empty() && !s.is_bench) bad_usage("no cases");
    if (!s.pretend.empty() && !host::pretend(s.pretend)) bad_usage("--pretend " + s.pretend + " is not understood here");
    return s;
}

/* -- Workers ----------------------------------------------------------------------------------- */

struct worker {
    unsigned          number = 0;
    pid_t             pid = -1;
    int               fd = -1;
    std::string       unread;
    clock::time_point heard;       /* when it last said something */
    long              under_way = -1; /* the case that it began and did not end */
    bool              is_compiling = false; /* which is no work of Metal's, and may take long */
    bool              is_late = false;      /* it was killed for its silence */
};

class runner {
public:
    runner(const settings &s, char **argv) : s_(s), argv_(argv), is_terminal_(isatty(2)) {
        for (const std::string &p : s.paths) {
            const size_t file = p.rfind('/'), dir = file == std::string::npos || !file ? std::string::npos : p.rfind('/', file - 1);
            row          r;
            r.path = p;
            r.name = p.substr(dir == std::string::npos ? 0 : dir + 1);
            r.name.resize(r.name.size() - 5);
            all_.rows.push_back(r);
        }
        read_facts();
    }
    int run();

private:
    void read_facts();
    void start(worker &w, size_t from);
    void hear(worker &w);
    void take(worker &w, const std::vector<std::string> &words);
    void end(worker &w);
    void give_up(worker &w, const std::string &why);
    void stop(std::vector<worker> &workers);
    void watch(std::vector<worker> &workers);
    void forget();
    void settle(size_t index, const outcome &o);
    void show(const row &r);
    bool write_report();
    int  summary();

    const settings &s_;
    char          **argv_;
    bool            is_terminal_, has_device_ = true;
    int             is_stopping_ = 0, told_ = 0; /* the latter: how urgent what the workers were told was */
    size_t          done_ = 0;
    std::string     problem_;
    results         all_;
};

void runner::read_facts() {
    std::istringstream in(sim::read_file(s_.facts));
    for (std::string line; std::getline(in, line);) {
        const size_t colon = line.find(':');
        if (colon != std::string::npos) all_.facts.emplace_back(line.substr(0, colon), line.substr(std::min(line.size(), colon + 2)));
    }
    all_.commit = s_.commit;
}

/* This program again, by exec: Apple's frameworks do not work behind a mere fork. */
void runner::start(worker &w, size_t from) {
    int                      ends[2];
    std::vector<std::string> words = {"--worker", std::to_string(w.number), "--from", std::to_string(from)};
    std::vector<char *>      argv;
    const std::string        self = sim::program_directory().empty() ? argv_[0] : sim::program_directory() + "/" + (std::strrchr(argv_[0], '/') ? std::strrchr(argv_[0], '/') + 1 : argv_[0]);
    for (char **a = argv_; *a; a++) argv.push_back(*a);
    for (std::string &word : words) argv.push_back(&word[0]);
    argv.push_back(nullptr);
    if (pipe(ends) != 0) bad_usage("no pipe");
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    w.pid = fork();
    if (w.pid == 0) {
        dup2(ends[1], 1);
        close(ends[1]);
        execv(self.c_str(), argv.data());
        _exit(127);
    }
    close(ends[1]);
    w.fd = ends[0];
    w.heard = clock::now();
    w.under_way = -1;
    w.is_compiling = w.is_late = false;
    w.unread.clear();
}

void runner::show(const row &r) {
    if (is_terminal_) std::fprintf(stderr, "\r\033[K");
    if (!s_.json && (!is_terminal_ || verdicts[r.o.what].is_bad))
        std::printf("%s %s%s%s\n", verdicts[r.o.what].word, r.name.c_str(), r.o.why.empty() ? "" : ": ", r.o.why.c_str());
    std::fflush(stdout);
    if (!is_terminal_) return;
    const size_t width = 30, filled = done_ * width / all_.rows.size();
    std::fprintf(stderr, "[%s%s] %zu/%zu %.40s", std::string(filled, '#').c_str(), std::string(width - filled, '.').c_str(), done_,
                 all_.rows.size(), done_ == all_.rows.size() ? "" : r.name.c_str());
}

void runner::settle(size_t index, const outcome &o) {
    row &r = all_.rows[index];
    done_ += !r.is_done;
    r.o = o;
    r.is_done = true;
    show(r);
}

void runner::take(worker &w, const std::vector<std::string> &words) {
    const size_t index = words.size() > 1 ? std::strtoul(words[1].c_str(), nullptr, 10) : 0;
    w.heard = clock::now();
    w.is_compiling = words[0] == "compile";
    if (words[0] == "device" && words.size() == 3) all_.device[words[1]] = words[2];
    else if (words[0] == "problem" && words.size() == 2) problem_ = words[1], has_device_ = false;
    else if (words[0] == "begin" && index < all_.rows.size()) w.under_way = static_cast<long>(index);
    else if (words[0] == "end" && index < all_.rows.size() && words.size() == 3) {
        outcome o;
        if (!from_line(words[2], o)) return;
        w.under_way = -1;
        settle(index, o);
    } else if (words[0] == "share" && words.size() == 9) {
        share x;
        x.kernel = words[1], x.layout = words[2], x.size = words[3], x.is_measured = words[4] == "1", x.why = words[8];
        x.middle = std::strtod(words[5].c_str(), nullptr), x.low = std::strtod(words[6].c_str(), nullptr);
        x.high = std::strtod(words[7].c_str(), nullptr);
        all_.shares.push_back(x);
    }
}

void runner::hear(worker &w) {
    char    text[65536];
    ssize_t n;
    while ((n = read(w.fd, text, sizeof text)) > 0) w.unread.append(text, static_cast<size_t>(n));
    for (size_t end; (end = w.unread.find('\n')) != std::string::npos; w.unread.erase(0, end + 1)) take(w, split(w.unread.substr(0, end)));
    if (n == 0) this->end(w);
}

/* What was under way in a worker that is gone. */
void runner::give_up(worker &w, const std::string &why) {
    outcome o;
    o.why = why;
    if (w.under_way >= 0) settle(static_cast<size_t>(w.under_way), o);
    else problem_ = "a worker ended between two cases: " + why;
}

/* A worker has closed its pipe. One that died is started again behind the case that it died in. */
void runner::end(worker &w) {
    int status = 0;
    close(w.fd);
    waitpid(w.pid, &status, 0);
    w.pid = -1;
    if (WIFEXITED(status) && (WEXITSTATUS(status) == DONE || WEXITSTATUS(status) == NO_DEVICE)) return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == STUCK) {
        is_stopping_ = 1;
        if (w.number == s_.jobs) problem_ = "a timed kernel hung";
        return;
    }
    const long died_in = w.under_way;
    give_up(w, w.is_late ? "Metal did not come back" : WIFSIGNALED(status) ? "the process died of signal " + std::to_string(WTERMSIG(status)) : "the process ended with status " + std::to_string(WEXITSTATUS(status)));
    if (died_in >= 0 && !is_stopping_ && !asked_to_stop) start(w, static_cast<size_t>(died_in) + 1);
}

/* Asks the workers to stop behind the case that they are at; the second time they are not asked. */
void runner::stop(std::vector<worker> &workers) {
    if (told_ >= asked_to_stop + is_stopping_) return;
    told_ = asked_to_stop + is_stopping_;
    for (const worker &w : workers)
        if (w.pid > 0) kill(w.pid, asked_to_stop > 1 ? SIGKILL : SIGTERM);
}

/* Until all have ended. A worker that says nothing for long hangs where no wait of its own can see it: in Metal. */
void runner::watch(std::vector<worker> &workers) {
    const auto patience = std::chrono::milliseconds(s_.milliseconds * 6);
    for (;;) {
        std::vector<pollfd> fds;
        for (const worker &w : workers)
            if (w.pid > 0) fds.push_back({w.fd, POLLIN, 0});
        if (fds.empty()) return;
        if (poll(fds.data(), static_cast<nfds_t>(fds.size()), 1000) < 0 && errno != EINTR) return;
        for (worker &w : workers) {
            if (w.pid > 0) hear(w);
            if (w.pid <= 0 || w.is_compiling || clock::now() - w.heard < patience) continue;
            is_stopping_ = 1;
            w.is_late = true;
            kill(w.pid, SIGKILL); /* its end says the rest */
        }
        stop(workers);
    }
}

/* What earlier runs found, as far as it is to be forgotten. */
void runner::forget() {
    if (s_.state.empty()) return;
    sim::make_directories(s_.state);
    for (const std::string &name : sim::list_directory(s_.state)) {
        const std::string file = s_.state + "/" + name;
        outcome           o;
        const bool        is_state = from_line(sim::read_file(file), o);
        if (is_state && (s_.fresh || (s_.again && o.what == HUNG))) unlink(file.c_str());
    }
}

bool runner::write_report() {
    if (s_.json) std::fputs(report_json(all_).c_str(), stdout);
    if (s_.report.empty()) return true;
    if (sim::write_file(s_.report + ".md", report_text(all_)) && sim::write_file(s_.report + ".json", report_json(all_))) return true;
    std::fprintf(stderr, "device: %s.md cannot be written\n", s_.report.c_str());
    return false;
}

int runner::summary() {
    bool        bad = all_.is_stopped || !problem_.empty();
    std::string text;
    for (int v = 0; v < VERDICTS; v++) {
        const size_t n = all_.count(static_cast<verdict>(v));
        bad |= n && verdicts[v].is_bad;
        if (n) text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + verdicts[v].word;
    }
    if (all_.left()) text += (text.empty() ? "" : ", ") + std::to_string(all_.left()) + " not tried";
    if (is_terminal_) std::fprintf(stderr, "\r\033[K");
    if (!problem_.empty()) std::fprintf(stderr, "device: %s\n", problem_.c_str());
    if (s_.json) return bad;
    if (s_.timed) std::fputs(shares_table(all_).c_str(), stdout);
    if (!text.empty()) std::printf("device: %s; on %s\n", text.c_str(), host::is_device ? all_.device["name"].c_str() : "a stand-in, not a device");
    if (!s_.report.empty()) std::printf("device: the report is in %s.md and %s.json\n", s_.report.c_str(), s_.report.c_str());
    return bad;
}

int runner::run() {
    std::vector<worker> workers(s_.paths.empty() ? 0 : std::min<size_t>(s_.jobs, s_.paths.size())), last(1);
    forget();
    for (size_t i = 0; i < workers.size(); i++) {
        workers[i].number = static_cast<unsigned>(i);
        start(workers[i], 0);
    }
    watch(workers);
    last[0].number = s_.jobs;
    if (s_.timed && has_device_ && !is_stopping_ && !asked_to_stop) {
        start(last[0], 0);
        watch(last);
    }
    if (!has_device_) {
        std::fprintf(stderr, "%s\n", problem_.c_str());
        return NO_DEVICE;
    }
    all_.is_stopped = all_.left() || is_stopping_ || asked_to_stop;
    const bool written = write_report();
    return summary() || !written;
}

} // namespace
} // namespace device

int main(int argc, char **argv) {
    const device::settings s = device::read_arguments(argc, argv);
    std::signal(SIGINT, s.worker < 0 ? device::on_signal : SIG_IGN);
    std::signal(SIGTERM, device::on_signal);
    try {
        return s.worker < 0 ? device::runner(s, argv).run() : device::work(s);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "device: %s\n", e.what());
        return 2;
    }
}
