/* Judges tests/lint/cases.txt: what is wrong in one thing only must be refused with the words that
 * the case names, and its twin, which is right in that thing, must pass without a word. The file
 * says how a case is written. */
#include "../sim/files.h"
#include "../sim/sim.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <stdexcept>

namespace {

struct text_of_case {
    std::string lines;
    int         version = 310;
};

struct one_case {
    unsigned     line = 0;
    std::string  name, source, words, frame;
    bool         rules = false;
    text_of_case wrong, right;
};

std::string trimmed(const std::string &s) {
    const size_t from = s.find_first_not_of(' '), to = s.find_last_not_of(' ');
    return from == std::string::npos ? "" : s.substr(from, to - from + 1);
}

std::vector<std::string> fields(const std::string &line) {
    std::vector<std::string> all;
    std::istringstream       in(line);
    for (std::string f; std::getline(in, f, '|');) all.push_back(trimmed(f));
    return all;
}

int version_of(const std::string &word) {
    return static_cast<int>(std::strtod(word.c_str(), nullptr) * 100 + 0.5);
}

/* `= name | source | words of the message [| options]`; options: `rules`, `msl V`, `msl V for V2`
 * */
one_case header(const std::string &line, unsigned at, const std::string &frame) {
    const std::vector<std::string> f = fields(line.substr(1));
    if (f.size() < 3 || f[1].empty() || f[2].empty())
        throw std::runtime_error("line " + std::to_string(at) + ": = name | source | words");
    one_case c;
    c.line = at;
    c.name = f[0], c.source = f[1], c.words = f[2], c.frame = frame;
    std::istringstream in(f.size() > 3 ? f[3] : "");
    for (std::string w; in >> w;) {
        if (w == "rules") c.rules = true;
        if (w == "msl" && in >> w) c.wrong.version = c.right.version = version_of(w);
        if (w == "for" && in >> w) c.right.version = version_of(w);
    }
    return c;
}

struct case_file {
    std::map<std::string, std::string> frames;
    std::vector<one_case>              cases;
};

case_file read_cases(const std::string &path) {
    case_file          r;
    std::istringstream in(sim::read_file(path));
    std::string        frame, defining;
    unsigned           at = 0;
    for (std::string line; std::getline(in, line);) {
        at++;
        if (line.rfind("frame ", 0) == 0) defining = frame = line.substr(6);
        else if (line.rfind("in ", 0) == 0) frame = line.substr(3), defining.clear();
        else if (line[0] == '=') r.cases.push_back(header(line, at, frame)), defining.clear();
        else if (!defining.empty() && line.rfind("  ", 0) == 0)
            r.frames[defining] += line.substr(2) + "\n";
        else if (line.rfind("- ", 0) == 0) r.cases.back().wrong.lines += line.substr(2) + "\n";
        else if (line.rfind("+ ", 0) == 0) r.cases.back().right.lines += line.substr(2) + "\n";
        else if (!line.empty() && line[0] != '#')
            throw std::runtime_error("line " + std::to_string(at) + ": not of a case: " + line);
    }
    return r;
}

sim::source source_of(const case_file &f, const one_case &c, const text_of_case &t) {
    const auto frame = f.frames.find(c.frame);
    if (frame == f.frames.end()) throw std::runtime_error("no frame " + c.frame);
    sim::source s;
    s.name = "cases.txt:" + std::to_string(c.line);
    s.text = frame->second;
    s.text.replace(s.text.find("@@@"), 3, t.lines);
    s.version = t.version;
    s.emitted = c.rules;
    s.foreign = !c.rules;
    return s;
}

std::shared_ptr<sim::module> judged(const case_file &f, bool wrong) {
    std::vector<sim::source> all;
    for (const one_case &c : f.cases) all.push_back(source_of(f, c, wrong ? c.wrong : c.right));
    sim::build_options o;
    o.check_only = true;
    return sim::build(all, o);
}

bool fail(const one_case &c, const std::string &what) {
    printf("cases.txt:%u: %s: %s\n", c.line, c.name.c_str(), what.c_str());
    return false;
}

bool check(const one_case &c, const sim::unit &wrong, const sim::unit &right) {
    if (c.wrong.lines.empty() || c.right.lines.empty())
        return fail(c, "needs a wrong text and a right one");
    if (c.wrong.lines == c.right.lines && c.wrong.version == c.right.version)
        return fail(c, "both texts are the same");
    if (!right.errors.empty())
        return fail(c, "the right text is refused: " + right.errors[0].str());
    if (wrong.errors.empty()) return fail(c, "not refused");
    for (const sim::diagnostic &d : wrong.errors)
        if (d.text.find(c.words) == std::string::npos)
            return fail(c, "refused for another reason: " + d.str());
    return true;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: test-lint cases.txt\n"), 2;
    try {
        const case_file f = read_cases(argv[1]);
        const auto      wrong = judged(f, true), right = judged(f, false);
        unsigned        failed = 0;
        for (size_t i = 0; i < f.cases.size(); i++)
            failed += !check(f.cases[i], wrong->units()[i], right->units()[i]);
        printf("test-lint: %zu texts refused and their twins accepted, %u failed\n",
               f.cases.size() - failed, failed);
        return failed != 0 || f.cases.empty();
    } catch (const std::exception &e) {
        fprintf(stderr, "test-lint: %s\n", e.what());
        return 2;
    }
}
