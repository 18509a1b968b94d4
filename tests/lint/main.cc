/* lint: does Apple's compiler take this Metal text? README.md says what is judged and what is not.
 * */
#include "preprocess.h"

#include "../sim/files.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace {

const char usage[] =
    "usage: lint [options] FILE.metal...\n"
    "  --msl VERSION   language version, 2.3 to 4.1; default 3.1, or what the name says (.msl32.)\n"
    "  -I DIR          where #include \"...\" is looked for besides the file's own directory\n"
    "  -D NAME[=TEXT]  a macro\n"
    "  --rules         as text of tmetal's: its habits and what Apple's compilers get wrong, too\n"
    "  --list FILE     further files, one a line\n"
    "  --jobs N        files at a time; default 1\n"
    "  --summary       counts at the end: accepted, refused, read in part\n"
    "Exit status: 0 nothing found, 1 errors, 2 for a bad command line or unreadable files.\n";

struct settings {
    std::vector<std::string> files;
    lint::options            how;
    unsigned                 jobs = 1;
    bool                     rules = false, summary = false;
};

[[noreturn]] void bad_usage(const std::string &what) {
    fprintf(stderr, "lint: %s\n%s", what.c_str(), usage);
    std::exit(2);
}

void add_list(settings &s, const std::string &path) {
    if (!sim::exists(path)) bad_usage("no file " + path);
    const std::string text = sim::read_file(path);
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        if (end > at) s.files.push_back(text.substr(at, end - at));
        at = end + 1;
    }
}

settings read_arguments(int argc, char **argv) {
    settings s;
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        const auto        value = [&]() -> std::string {
            if (i + 1 >= argc) bad_usage(a + " needs a value");
            return argv[++i];
        };
        if (a == "--msl")
            s.how.version = static_cast<int>(std::strtod(value().c_str(), nullptr) * 100 + 0.5);
        else if (a == "-I") s.how.include.push_back(value());
        else if (a == "-D") s.how.define.push_back(value());
        else if (a == "--rules") s.rules = true;
        else if (a == "--summary") s.summary = true;
        else if (a == "--list") add_list(s, value());
        else if (a == "--jobs")
            s.jobs = static_cast<unsigned>(std::strtoul(value().c_str(), nullptr, 10));
        else if (a == "--help" || a == "-h") {
            fputs(usage, stdout);
            std::exit(0);
        } else if (a[0] == '-') bad_usage("unknown option " + a);
        else s.files.push_back(a);
    }
    if (s.files.empty()) bad_usage("no Metal file");
    if (s.jobs < 1 || s.jobs > 256) bad_usage("--jobs is 1 to 256");
    return s;
}

enum verdict { accepted, refused, in_part, unreadable, verdicts };
const char *const verdict_names[] = {"accepted", "refused", "read in part", "not readable"};

verdict judge(const settings &s, const std::string &file) {
    if (!sim::exists(file)) {
        fprintf(stderr, "lint: no file %s\n", file.c_str());
        return unreadable;
    }
    const lint::judgement j = s.rules ? lint::judge_emitted(file, s.how) : lint::judge(file, s.how);
    std::string           out;
    for (const sim::diagnostic &d : j.errors) out += d.str() + "\n";
    if (!j.unread.empty()) out += file + ": note: read in part: " + j.unread + "\n";
    fwrite(out.data(), 1, out.size(), stdout);
    fflush(stdout);
    return !j.errors.empty() ? refused : j.unread.empty() ? accepted : in_part;
}

/* A process takes each n-th file; its verdicts come back through a pipe, one byte a file. */
std::vector<size_t> judge_all(const settings &s) {
    std::vector<size_t> count(verdicts);
    std::vector<int>    pipes;
    for (unsigned job = 0; job < s.jobs; job++) {
        int ends[2];
        if (pipe(ends)) throw std::runtime_error("no pipe");
        const pid_t child = fork();
        if (child < 0) throw std::runtime_error("no process");
        if (child == 0) {
            for (size_t i = job; i < s.files.size(); i += s.jobs) {
                char v = unreadable;
                try {
                    v = static_cast<char>(judge(s, s.files[i]));
                } catch (const std::exception &e) {
                    fprintf(stderr, "lint: %s\n", e.what());
                }
                if (write(ends[1], &v, 1) != 1) _exit(2);
            }
            _exit(0);
        }
        close(ends[1]);
        pipes.push_back(ends[0]);
    }
    size_t seen = 0;
    for (int p : pipes) {
        for (char v; read(p, &v, 1) == 1; seen++) count[static_cast<size_t>(v)]++;
        close(p);
    }
    while (wait(nullptr) > 0) {}
    count[unreadable] += s.files.size() - seen; /* of a process that died */
    return count;
}

} // namespace

int main(int argc, char **argv) {
    const settings s = read_arguments(argc, argv);
    try {
        lint::prepare();
        const std::vector<size_t> count = judge_all(s);
        if (s.summary)
            for (size_t i = 0; i < verdicts; i++)
                printf("%s%s %zu", i ? ", " : "", verdict_names[i], count[i]);
        if (s.summary) printf(" of %zu\n", s.files.size());
        return count[unreadable] ? 2 : count[refused] ? 1 : 0;
    } catch (const std::exception &e) {
        fprintf(stderr, "lint: %s\n", e.what());
        return 2;
    }
}
