#include "reduce.h"
#include "../sim/files.h"
#include "interp.h"
#include "mutate.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <sys/wait.h>

namespace made {

namespace {

typedef std::vector<std::string> text_lines;

int depth(const std::string &line) { return static_cast<int>(std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}')); }
bool holds(const std::string &s, const char *part) { return s.find(part) != std::string::npos; }

bool stays(const std::string &s) {
    return s.compare(0, 3, "//!") == 0 || s.compare(0, 6, "module") == 0 || holds(s, "tt.func public") || s == "}" || s == "  }" || holds(s, "tt.return");
}

/* The message without its numbers, and without where. */
std::string kind_of(const judged &j) {
    std::string s = name_of(j.what);
    if (j.what == verdict::disagrees) return s;
    for (char c : j.why.substr(0, j.why.find(" (kernel")))
        if (!std::isdigit(static_cast<unsigned char>(c))) s += c;
    const size_t text = s.find(": error");
    return text == std::string::npos ? s : name_of(j.what) + s.substr(text);
}

class reducer {
public:
    reducer(const source &s, const std::string &judge, const differ_options &o) : s_(s), judge_(judge), o_(o) {}

    bool run() {
        s_.ttir = plain_text(s_.ttir);
        s_.certain = false;
        if (!find_fault()) { /* only exact bounds show it */
            s_.certain = true;
            if (!find_fault()) return false;
        }
        std::printf("%s\n", fault_.c_str());
        for (bool again = true; again;) {
            again = false;
            again |= drop_lines();
            again |= all_of(&reducer::forwarded);
            again |= all_of(&reducer::constants);
            again |= all_of(&reducer::unwrapped);
            again |= all_of(&reducer::fewer_operands);
            again |= all_of(&reducer::smaller);
            again |= all_of(&reducer::plainer);
            again |= all_of(&reducer::without_parameter);
            std::printf("%zu lines\n", lines_of(s_.ttir).size());
            std::fflush(stdout);
        }
        return true;
    }
    const source &result() const { return s_; }

private:
    source         s_;
    std::string    judge_, fault_;
    differ_options o_;

    /* -- Judging ------------------------------------------------------------------------------------ */

    std::string answer_of(const source &c) {
        const sim::process_result r = sim::run_process({"sh", "-c", judge_ + " \"$0\"", write_module(c, o_.directory)});
        return r.status == 0 ? "judged wrong" : "";
    }

    bool find_fault() {
        if (!judge_.empty()) return fault_ = answer_of(s_), !fault_.empty();
        o_.ways_each = static_cast<unsigned>(o_.ways.size());
        const judged j = judge_together({s_}, o_).front();
        if (is_fine(j.what)) return false;
        if (!j.way.empty()) o_.ways = {j.way};
        o_.ways_each = 1;
        fault_ = kind_of(j);
        return true;
    }

    /* The first that shows the same; false when none does. */
    bool take_first(const std::vector<source> &all) {
        for (size_t from = 0; from < all.size(); from += 16) {
            std::vector<source> some(all.begin() + static_cast<long>(from), all.begin() + static_cast<long>(std::min(all.size(), from + 16)));
            for (size_t i = 0; i < some.size(); i++) some[i].name = "reduced_" + std::to_string(i);
            if (!judge_.empty()) {
                for (const source &c : some)
                    if (!answer_of(c).empty()) return s_ = c, true;
                continue;
            }
            const std::vector<judged> answers = judge_together(some, o_);
            for (size_t i = 0; i < some.size(); i++)
                if (!is_fine(answers[i].what) && kind_of(answers[i]) == fault_) return s_ = some[i], true;
        }
        return false;
    }

    static bool can_be_read(const std::string &text) {
        char       why[400];
        ti_module *m = ti_read(text.data(), text.size(), why, sizeof why);
        if (m) ti_free(m);
        return m != nullptr;
    }

    void offer(std::vector<source> &all, const text_lines &lines) const {
        source c = s_;
        c.ttir = text_of(lines);
        if (c.ttir != s_.ttir && can_be_read(c.ttir)) all.push_back(c);
    }

    /* Makes and tries candidates until none is taken. */
    bool all_of(std::vector<source> (reducer::*make)() const) {
        bool any = false;
        while (take_first((this->*make)())) any = true;
        return any;
    }

    /* -- Smaller modules -------------------------------------------------------------------------------- */

    /* Runs of lines that open and close as many braces, long ones first. */
    bool drop_lines() {
        bool any = false;
        for (size_t size = std::min<size_t>(128, lines_of(s_.ttir).size()); size > 0; size = size > 8 ? size * 2 / 3 : size - 1)
            while (true) {
                const text_lines    lines = lines_of(s_.ttir);
                std::vector<source> all;
                for (size_t first = lines.size(); first-- > 0;) {
                    if (first + size > lines.size()) continue;
                    int        level = 0;
                    const bool function = holds(lines[first], "tt.func private");
                    bool       whole = true;
                    for (size_t i = first; i < first + size; i++) level += depth(lines[i]), whole = whole && level >= 0 && (function || !stays(lines[i]));
                    if (!whole || level) continue;
                    text_lines rest = lines;
                    rest.erase(rest.begin() + static_cast<long>(first), rest.begin() + static_cast<long>(first + size));
                    offer(all, rest);
                }
                if (!take_first(all)) break;
                any = true;
            }
        return any;
    }

    /* What reads a result reads one of its operands instead. */
    std::vector<source> forwarded() const {
        const text_lines    lines = lines_of(s_.ttir);
        std::vector<source> all;
        for (size_t i = lines.size(); i-- > 0;) {
            const std::vector<word> w = words_of(lines[i]);
            if (w.size() < 3 || w[0].text[0] != '%' || !holds(lines[i], " = ") || depth(lines[i])) continue;
            for (size_t k = 1; k < w.size(); k++) {
                if (w[k].text[0] != '%') continue;
                text_lines c = lines;
                c.erase(c.begin() + static_cast<long>(i));
                for (std::string &s : c) {
                    const std::vector<word> uses = words_of(s);
                    for (size_t u = uses.size(); u-- > 0;)
                        if (uses[u].text == w[0].text) s = replaced(s, uses[u], w[k].text);
                }
                offer(all, c);
            }
        }
        return all;
    }

    std::vector<source> constants() const {
        const text_lines    lines = lines_of(s_.ttir);
        std::vector<source> all;
        for (size_t i = lines.size(); i-- > 0;) {
            const std::vector<word> w = words_of(lines[i]);
            if (w.size() < 3 || w[0].text[0] != '%' || !holds(lines[i], " = ") || w[1].text == "arith.constant" || depth(lines[i])) continue;
            const std::string type = w.back().text, element = type.substr(type.find_last_of("x<") + 1, type.find('>') - type.find_last_of("x<") - 1);
            const bool        tensor = type.compare(0, 7, "tensor<") == 0, real = (tensor ? element : type)[0] != 'i';
            const std::string one = (tensor ? element : type) == "i1" ? "true" : real ? "1.000000e+00" : "1";
            text_lines        c = lines;
            c[i] = lines[i].substr(0, w[0].at) + w[0].text + " = arith.constant " + (tensor ? "dense<" + one + ">" : one) + (one == "true" && !tensor ? "" : " : " + type);
            offer(all, c);
        }
        return all;
    }

    /* A region's lines without its op, where nothing reads its results. */
    std::vector<source> unwrapped() const {
        const text_lines    lines = lines_of(s_.ttir);
        std::vector<source> all;
        for (size_t i = 0; i < lines.size(); i++) {
            if (depth(lines[i]) <= 0 || stays(lines[i])) continue;
            size_t end = i + 1;
            for (int level = depth(lines[i]); end < lines.size() && (level += depth(lines[end])) > 0;) end++;
            if (end >= lines.size()) continue;
            text_lines c;
            for (size_t k = 0; k < lines.size(); k++)
                if (k != i && k != end && !(k > i && k < end && holds(lines[k], "scf.yield"))) c.push_back(lines[k]);
            offer(all, c);
        }
        return all;
    }

    /* Loads and stores without their last operand. */
    std::vector<source> fewer_operands() const {
        const text_lines    lines = lines_of(s_.ttir);
        std::vector<source> all;
        for (size_t i = 0; i < lines.size(); i++) {
            std::vector<word> uses;
            for (const word &w : words_of(lines[i]))
                if (w.text[0] == '%') uses.push_back(w);
            if ((!holds(lines[i], "tt.load") && !holds(lines[i], "tt.store")) || uses.size() < 2 || uses.back().at < 2) continue;
            text_lines c = lines;
            c[i] = lines[i].substr(0, uses.back().at - 2) + lines[i].substr(uses.back().at + uses.back().text.size());
            offer(all, c);
        }
        return all;
    }

    /* An extent halved wherever it stands; fewer programs. */
    std::vector<source> smaller() const {
        const text_lines            lines = lines_of(s_.ttir);
        std::vector<source>         all;
        std::map<long, bool>        extents;
        for (const std::string &s : lines)
            for (size_t at = s.find("tensor<"); at != std::string::npos; at = s.find("tensor<", at + 1))
                for (const char *p = s.c_str() + at + 7; std::isdigit(static_cast<unsigned char>(*p));) {
                    char *end = nullptr;
                    extents[std::strtol(p, &end, 10)] = true;
                    p = end + 1;
                }
        for (auto e = extents.rbegin(); e != extents.rend(); ++e) {
            if (e->first < 2) continue;
            const std::string from = std::to_string(e->first), to = std::to_string(e->first / 2);
            text_lines        c = lines;
            for (std::string &s : c)
                for (size_t at = holds(s, "tt.func") || s.compare(0, 3, "//!") == 0 ? std::string::npos : s.find(from); at != std::string::npos; at = s.find(from, at + 1)) {
                    const char before = at ? s[at - 1] : ' ', after = at + from.size() < s.size() ? s[at + from.size()] : ' ';
                    if (!std::strchr("<x -", before) || !std::strchr("x ,>", after) || (before == 'x' && s.find('<') > at)) continue;
                    s = s.substr(0, at) + to + s.substr(at + from.size());
                }
            offer(all, c);
        }
        for (uint32_t &n : source(s_).l.grid)
            if (n > 1 && !s_.certain) {
                source c = s_;
                c.l.grid = {1, 1, 1};
                all.push_back(c);
            }
        return all;
    }

    /* Numbers as 0 or 1, attributes left out. */
    std::vector<source> plainer() const {
        const text_lines    lines = lines_of(s_.ttir);
        std::vector<source> all;
        for (size_t i = 0; i < lines.size(); i++) {
            text_lines c = lines;
            if (holds(lines[i], "arith.constant"))
                for (const word &w : words_of(lines[i])) {
                    const bool real = holds(w.text, "e+") || holds(w.text, "e-");
                    if (!std::isdigit(static_cast<unsigned char>(w.text[0])) && w.text[0] != '-') continue;
                    for (const char *by : {real ? "0.000000e+00" : "0", real ? "1.000000e+00" : "1"})
                        if (w.text != by && w.text != "0" && w.text != "0.000000e+00") c[i] = replaced(lines[i], w, by), offer(all, c);
                }
            const size_t open = lines[i].find(" {tt.");
            if (open != std::string::npos) {
                c[i] = lines[i].substr(0, open) + lines[i].substr(lines[i].find('}', open) + 1);
                offer(all, c);
            }
        }
        return all;
    }

    /* A parameter that nothing reads. */
    std::vector<source> without_parameter() const {
        const text_lines    lines = lines_of(s_.ttir);
        std::vector<source> all;
        for (size_t i = 0; i < lines.size(); i++) {
            const size_t open = lines[i].find('(');
            if (!holds(lines[i], "tt.func public") || open == std::string::npos || holds(s_.ttir, "//! ")) continue;
            std::vector<std::pair<size_t, size_t>> places;
            int                                    level = 0;
            size_t                                 from = open + 1;
            for (size_t at = open + 1; at < lines[i].size() && level >= 0; at++) {
                const char ch = lines[i][at];
                level += (ch == '(' || ch == '{' || ch == '<') - (ch == ')' || ch == '}' || ch == '>');
                if (level < 0 || (level == 0 && ch == ',')) places.push_back({from, at}), from = at + 2;
            }
            for (size_t p = 0; p < places.size() && places.size() == s_.l.parameters.size(); p++) {
                source     c = s_;
                text_lines rest = lines;
                const bool last = p + 1 == places.size();
                rest[i] = lines[i].substr(0, last && p ? places[p - 1].second : places[p].first) + lines[i].substr(last ? places[p].second : places[p + 1].first);
                c.ttir = text_of(rest);
                c.l.parameters.erase(c.l.parameters.begin() + static_cast<long>(p));
                if (can_be_read(c.ttir)) all.push_back(c);
            }
        }
        return all;
    }
};

} // namespace

bool reduce(const std::string &name, const std::string &judge, differ_options o) {
    const source s = source_of(name, o.without);
    reducer      r(s, judge, o);
    if (!r.run()) {
        std::printf("nothing is wrong with %s\n", name.c_str());
        return false;
    }
    source      small = r.result();
    std::string base = name;
    for (char &c : base)
        if (c == '~') c = '_';
    if (base.size() > 5 && base.compare(base.size() - 5, 5, ".ttir") == 0) base.resize(base.size() - 5);
    const size_t slash = base.rfind('/');
    small.name = base.substr(slash == std::string::npos ? 0 : slash + 1) + ".small";
    const std::string directory = slash == std::string::npos || base.find(".ttir") != std::string::npos ? "." : base.substr(0, slash);
    std::printf("%s%s\n", small.ttir.c_str(), write_module(small, directory).c_str());
    return true;
}

} // namespace made
