#include "lex.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>

namespace sim {

namespace {

bool word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool word_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/* Longest first. Not `>>` and not `]]`: two brackets may close at once. */
const char *const punctuators[] = {"<<=", ">>=", "...", "->*", "[[", "::", "->", "++", "--",
                                   "<<",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                   "*=",  "/=",  "%=",  "&=",  "|=", "^=", "##"};

/* -- Conditions of #if ------------------------------------------------------------------------- */

/* Just enough: numbers, __METAL_VERSION__, defined(X), comparisons, && || ! and parentheses. A name
 * that is not known makes the whole condition unknown. */
class condition {
public:
    condition(std::string_view text, int version, const std::set<std::string> &defined)
        : text_(text), version_(version), defined_(defined) {}

    bool true_or_unknown() {
        const long v = either();
        return unknown_ || v != 0;
    }

private:
    std::string_view             text_;
    int                          version_;
    const std::set<std::string> &defined_;
    size_t                       at_ = 0;
    bool                         unknown_ = false;

    bool take(const char *s) {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) at_++;
        if (text_.substr(at_, std::strlen(s)) != s) return false;
        at_ += std::strlen(s);
        return true;
    }
    std::string word() {
        take("");
        const size_t begin = at_;
        while (at_ < text_.size() && word_part(text_[at_])) at_++;
        return std::string(text_.substr(begin, at_ - begin));
    }
    long either() {
        long v = both();
        while (take("||")) v |= both() != 0;
        return v;
    }
    long both() {
        long v = compare();
        while (take("&&")) v = (compare() != 0) && v;
        return v;
    }
    long compare() {
        const long a = unary();
        if (take(">=")) return a >= unary();
        if (take("<=")) return a <= unary();
        if (take("==")) return a == unary();
        if (take("!=")) return a != unary();
        if (take(">")) return a > unary();
        if (take("<")) return a < unary();
        return a;
    }
    long unary() {
        if (take("!")) return !unary();
        if (take("(")) {
            const long v = either();
            take(")");
            return v;
        }
        const std::string w = word();
        if (w == "defined") return is_defined();
        if (w == "__METAL_VERSION__") return version_;
        if (!w.empty() && std::isdigit(static_cast<unsigned char>(w[0])))
            return std::strtol(w.c_str(), nullptr, 0);
        unknown_ = true;
        at_ = text_.size();
        return 0;
    }
    bool is_defined() {
        const bool        parenthesis = take("(");
        const std::string name = word();
        if (parenthesis) take(")");
        return name == "__METAL_VERSION__" || name == "__METAL__" || defined_.count(name);
    }
};

/* -- The scanner ------------------------------------------------------------------------------- */

class scanner {
public:
    scanner(const std::string &file, const std::string &text, int version, bool foreign)
        : file_(file), text_(text), version_(version), foreign_(foreign) {
        if (version >= 400) defined_.insert("__HAVE_TENSOR__");
    }

    token_list run() {
        if (!foreign_) check_ascii();
        while (at_ < text_.size()) step();
        if (hide_from_ != npos) out_.hidden.push_back({hide_from_, text_.size()});
        token end;
        end.offset = at_;
        end.line = line_;
        end.column = column();
        out_.tokens.push_back(end);
        return std::move(out_);
    }

private:
    static constexpr size_t npos = std::string::npos;
    struct conditional {
        bool was_on; /* around it */
        bool taken;  /* some branch was */
    };

    const std::string       &file_, &text_;
    int                      version_;
    bool                     foreign_;
    token_list               out_;
    size_t                   at_ = 0, line_start_ = 0, hide_from_ = npos;
    unsigned                 line_ = 1;
    bool                     fresh_line_ = true;
    std::vector<conditional> nest_;
    std::set<std::string>    defined_;

    unsigned column() const { return static_cast<unsigned>(at_ - line_start_ + 1); }
    bool     hidden() const { return hide_from_ != npos; }
    char     peek(size_t n = 0) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }
    void error(const std::string &what) { out_.errors.push_back({file_, line_, column(), what}); }

    void check_ascii() {
        unsigned line = 1, column = 1;
        for (unsigned char c : text_) {
            if (c >= 0x80 || (c < 0x20 && c != '\n' && c != '\t' && c != '\r')) {
                out_.errors.push_back({file_, line, column,
                                       "byte " + std::to_string(c) +
                                           " is not ASCII; hosts hand Metal text over as ASCII"});
                return;
            }
            column = c == '\n' ? 1 : column + 1;
            line += c == '\n';
        }
    }

    void newline() {
        at_++;
        line_++;
        line_start_ = at_;
        fresh_line_ = true;
    }

    void step() {
        const char c = peek();
        if (c == '\n') return newline();
        if (std::isspace(static_cast<unsigned char>(c))) {
            at_++;
            return;
        }
        if (c == '/' && peek(1) == '/') return skip_line_comment();
        if (c == '/' && peek(1) == '*') return skip_comment();
        if (c == '#' && fresh_line_) return preprocess();
        fresh_line_ = false;
        if (word_start(c)) return word();
        if (std::isdigit(static_cast<unsigned char>(c)) ||
            (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1)))))
            return number();
        if (c == '"' || c == '\'') return quoted(c);
        punctuation();
    }

    void skip_line_comment() {
        while (at_ < text_.size() && text_[at_] != '\n') at_++;
    }
    void skip_comment() {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == npos) error("unterminated /* comment");
        const size_t stop = end == npos ? text_.size() : end + 2;
        while (at_ < stop) {
            if (text_[at_] == '\n') newline();
            else at_++;
        }
    }

    void add(token_kind kind, size_t begin) {
        if (hidden()) return;
        token t;
        t.kind = kind;
        t.text = std::string_view(text_).substr(begin, at_ - begin);
        t.offset = begin;
        t.line = line_;
        t.column = static_cast<unsigned>(begin - line_start_ + 1);
        out_.tokens.push_back(t);
    }

    void word() {
        const size_t begin = at_;
        while (word_part(peek())) at_++;
        add(token_kind::identifier, begin);
    }
    /* A preprocessing number: digits, letters, dots, and signs after an exponent. */
    void number() {
        const size_t begin = at_;
        const bool   hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
        while (true) {
            const char c = peek();
            const bool exponent = hex ? c == 'p' || c == 'P' : c == 'e' || c == 'E';
            if (exponent && (peek(1) == '+' || peek(1) == '-')) at_ += 2;
            else if (word_part(c) || c == '.') at_++;
            else break;
        }
        add(token_kind::number, begin);
    }
    void quoted(char quote) {
        const size_t begin = at_++;
        while (peek() != quote && peek() != '\n' && at_ < text_.size())
            at_ += peek() == '\\' && at_ + 1 < text_.size() && peek(1) != '\n' ? 2 : 1;
        if (peek() == quote) at_++;
        else error(std::string("missing terminating ") + quote + " character");
        add(token_kind::string, begin);
    }
    void punctuation() {
        const size_t begin = at_;
        for (const char *p : punctuators)
            if (text_.compare(at_, std::strlen(p), p) == 0) {
                at_ += std::strlen(p);
                return add(token_kind::punctuation, begin);
            }
        at_++;
        add(token_kind::punctuation, begin);
    }

    /* -- Directives ---------------------------------------------------------------------------- */

    std::string directive_text() {
        std::string s;
        while (at_ < text_.size() && text_[at_] != '\n') {
            if (text_[at_] == '\\' && peek(1) == '\n') {
                at_++;
                newline();
                s += ' ';
            } else if (text_[at_] == '/' && peek(1) == '/') {
                skip_line_comment();
            } else if (text_[at_] == '/' && peek(1) == '*') {
                skip_comment();
                s += ' ';
            } else {
                s += text_[at_++];
            }
        }
        return s;
    }

    static std::string first_word(const std::string &s) {
        return s.substr(0, static_cast<size_t>(std::find_if(s.begin(), s.end(),
                                                            [](char c) { return !word_part(c); }) -
                                               s.begin()));
    }

    /* What a macro stands for is code too; scan it again as such, in place. */
    void replacement_tokens(directive &d) {
        const size_t   resume = at_, resume_start = line_start_;
        const unsigned resume_line = line_;
        const size_t   first = out_.tokens.size();
        at_ = text_.find("define", d.offset) + 6;
        line_ = d.line;
        line_start_ = d.offset;
        while (at_ < resume) {
            if (text_[at_] == '\\') at_++;
            else step();
            fresh_line_ = false;
        }
        d.tokens.assign(out_.tokens.begin() + static_cast<long>(first), out_.tokens.end());
        out_.tokens.resize(first);
        at_ = resume, line_start_ = resume_start, line_ = resume_line;
    }

    void preprocess() {
        const size_t   begin = at_;
        const unsigned line = line_;
        at_++;
        std::string s = directive_text();
        s.erase(0, s.find_first_not_of(" \t"));
        const std::string name = first_word(s);
        std::string       rest = s.substr(name.size());
        rest.erase(0, std::min(rest.size(), rest.find_first_not_of(" \t")));
        while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.back())))
            rest.pop_back();
        if (!hidden()) {
            if (name == "define") defined_.insert(first_word(rest));
            if (name == "undef") defined_.erase(rest);
            out_.directives.push_back({begin, at_ - begin, line, name, rest, {}});
            if (name == "define") replacement_tokens(out_.directives.back());
        }
        conditional_directive(name, rest);
    }

    void conditional_directive(const std::string &name, const std::string &rest) {
        if (name == "if" || name == "ifdef" || name == "ifndef") {
            const bool known =
                rest == "__METAL_VERSION__" || rest == "__METAL__" || defined_.count(rest);
            const bool on = name == "if" ? condition(rest, version_, defined_).true_or_unknown()
                                         : known == (name == "ifdef");
            nest_.push_back({!hidden(), on});
            show(nest_.back().was_on && on);
        } else if (nest_.empty()) {
            return;
        } else if (name == "else" || name == "elif") {
            conditional &c = nest_.back();
            const bool   on = !c.taken && (name == "else" ||
                                         condition(rest, version_, defined_).true_or_unknown());
            c.taken |= on;
            show(c.was_on && on);
        } else if (name == "endif") {
            const bool on = nest_.back().was_on;
            nest_.pop_back();
            show(on);
        }
    }
    void show(bool on) {
        if (on && hidden()) {
            out_.hidden.push_back({hide_from_, at_});
            hide_from_ = npos;
        } else if (!on && !hidden()) {
            hide_from_ = at_;
        }
    }
};

} // namespace

token_list tokenize(const std::string &file, const std::string &text, int version, bool foreign) {
    return scanner(file, text, version, foreign).run();
}

} // namespace sim
