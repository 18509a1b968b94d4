#include "mutate.h"
#include "interp.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

namespace made {

/* -- Text ------------------------------------------------------------------------------------------ */

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> all;
    std::istringstream       in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

std::string text_of(const std::vector<std::string> &lines) {
    std::string s;
    for (const std::string &line : lines) s += line + "\n";
    return s;
}

static bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_.%@#$-+!", c); }

std::vector<word> words_of(const std::string &line) {
    std::vector<word> all;
    for (size_t i = 0; i < line.size();) {
        size_t end = i;
        int    angles = 0; /* of a type */
        if (line.compare(i, 2, "//") == 0) break;
        while (end < line.size() && (in_word(line[end]) || angles || (line[end] == '<' && end > i && std::isalpha(static_cast<unsigned char>(line[i])) && line[i] == 't') ||
                                     (line[end] == '<' && line[i] == '!'))) {
            angles += (line[end] == '<') - (line[end] == '>');
            end++;
            if (angles == 0 && line[end - 1] == '>') break;
        }
        if (end == i) {
            i++;
            continue;
        }
        if (line.compare(i, end - i, "->") && line.compare(i, end - i, "-")) all.push_back({i, line.substr(i, end - i)});
        i = end;
    }
    return all;
}

std::string replaced(const std::string &line, const word &w, const std::string &by) {
    return line.substr(0, w.at) + by + line.substr(w.at + w.text.size());
}

namespace {

bool starts(const std::string &s, const char *with) { return s.compare(0, std::strlen(with), with) == 0; }
bool is_type(const std::string &s) {
    if (starts(s, "tensor<") || starts(s, "!tt.") || s == "bf16") return true;
    return s.size() > 1 && s.size() < 4 && (s[0] == 'i' || s[0] == 'f') && std::isdigit(static_cast<unsigned char>(s[1]));
}
bool is_number(const std::string &s) {
    char *end = nullptr;
    if (s.empty() || !(std::isdigit(static_cast<unsigned char>(s[0])) || s[0] == '-')) return false;
    std::strtod(s.c_str(), &end);
    return !*end;
}

/* Operations that take the place of each other: of one row, chosen any. Predicates stand among them. */
const std::vector<std::vector<std::string>> &siblings() {
    static const std::vector<std::vector<std::string>> all = {
        {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"},
        {"arith.addf", "arith.subf"}, {"arith.maxnumf", "arith.maximumf"}, {"arith.minnumf", "arith.maxnumf"},
        {"arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"},
        {"arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi", "arith.ceildivsi"},
        {"arith.shli", "arith.shrsi", "arith.shrui"},
        {"arith.extsi", "arith.extui"}, {"arith.sitofp", "arith.uitofp"}, {"arith.fptosi", "arith.fptoui"},
        {"math.exp", "math.exp2", "math.log", "math.log2", "math.sqrt", "math.rsqrt", "math.absf", "math.floor", "math.ceil", "math.sin", "math.cos", "math.erf", "arith.negf"},
        {"math.exp", "math.exp2"}, {"math.log", "math.log2"},
        {"slt", "sle", "sgt", "sge", "eq", "ne", "ult", "ule", "ugt", "uge"},
        {"olt", "ole", "ogt", "oge", "oeq", "one", "ult", "ule", "ugt", "uge", "ueq", "une", "ord", "uno"},
        {"fadd", "max", "min", "add", "and", "or", "xor", "umax", "umin", "exch"},
        {"true", "false"}, {"tf32", "ieee"}, {"rtne", "rtz"},
    };
    return all;
}

/* -- Types of values, as far as one line tells them --------------------------------------------------- */

/* tensor<4x8x!tt.ptr<f32>> -> tensor<4x8xf32> */
std::string pointee(std::string t) {
    const size_t at = t.find("!tt.ptr<");
    if (at == std::string::npos) return "";
    const size_t end = t.find_first_of(",>", at + 8);
    return t.substr(0, at) + t.substr(at + 8, end - at - 8) + (at ? ">" : "");
}

std::string truth_of(const std::string &t) {
    const size_t x = t.rfind('x');
    return starts(t, "tensor<") ? t.substr(0, x + 1) + "i1>" : "i1";
}

struct module_text {
    std::vector<std::string>           lines;
    std::map<std::string, std::string> type;
    std::map<std::string, size_t>      made_in; /* line */

    explicit module_text(const std::string &text) : lines(lines_of(text)) {
        for (size_t i = 0; i < lines.size(); i++) read(i);
    }
    void read(size_t i) {
        const std::vector<word> w = words_of(lines[i]);
        for (size_t k = 0; k + 1 < w.size(); k++) /* arguments: "%a: T" */
            if (w[k].text[0] == '%' && lines[i][w[k].at + w[k].text.size()] == ':' && is_type(w[k + 1].text)) define(w[k].text, w[k + 1].text, i);
        const size_t equals = lines[i].find(" = ");
        if (w.size() < 3 || w[0].text[0] != '%' || equals == std::string::npos || w[1].at < equals) return;
        const std::string &op = w[1].text, &last = w.back().text;
        if (op == "arith.constant" && !is_type(last)) define(w[0].text, "i1", i);
        else if (!is_type(last)) return;
        else if (starts(op, "arith.cmp")) define(w[0].text, truth_of(last), i);
        else if (op == "tt.load") define(w[0].text, pointee(last), i);
        else if (op == "tt.addptr") define(w[0].text, w[w.size() - 2].text, i);
        else define(w[0].text, last, i);
    }
    void define(const std::string &name, const std::string &t, size_t i) {
        if (t.empty()) return;
        type[name] = t;
        made_in[name] = i;
    }
};

class mutator {
public:
    mutator(const std::string &text, launch &l, numbers &rng) : m_(text), l_(l), rng_(rng) {}

    bool one(std::string &said) {
        static const struct {
            unsigned weight;
            bool (mutator::*change)();
            const char *name;
        } all[] = {{20, &mutator::sibling, "another operation"}, {14, &mutator::other_value, "another operand"}, {6, &mutator::swap_operands, "operands swapped"},
                   {10, &mutator::number, "another constant"}, {6, &mutator::drop_operand, "an operand dropped"}, {6, &mutator::move_line, "a line moved"},
                   {4, &mutator::drop_line, "a line dropped"}, {6, &mutator::insert, "an operation inserted"}, {4, &mutator::again, "a line twice"},
                   {7, &mutator::scalar, "another argument"}, {3, &mutator::alias, "two parameters on one buffer"}, {2, &mutator::fewer_programs, "another grid"},
                   {4, &mutator::resize, "another size"}, {3, &mutator::retype, "another type"}};
        unsigned total = 0;
        for (const auto &c : all) total += c.weight;
        uint64_t dice = rng_.below(total);
        size_t   i = 0;
        for (; dice >= all[i].weight; i++) dice -= all[i].weight;
        where_.clear();
        if (!(this->*all[i].change)()) return false;
        said += (said.empty() ? "" : "; ") + std::string(all[i].name) + (where_.empty() ? "" : " in " + where_);
        return true;
    }
    std::string text() const { return text_of(m_.lines); }

private:
    module_text m_;
    launch     &l_;
    numbers    &rng_;
    std::string where_;

    template <typename T> const T &any(const std::vector<T> &all) { return all[rng_.below(all.size())]; }

    void set(size_t line, const std::string &text) {
        m_.lines[line] = text;
        where_ = "line " + std::to_string(line + 1);
    }
    /* Lines for which `fits` holds; one of them, or SIZE_MAX. */
    template <typename F> size_t pick_line(const F &fits) {
        std::vector<size_t> all;
        for (size_t i = 0; i < m_.lines.size(); i++)
            if (fits(m_.lines[i])) all.push_back(i);
        return all.empty() ? SIZE_MAX : any(all);
    }
    static bool is_operation(const std::string &s) { return s.find('%') != std::string::npos && s.find("tt.func") == std::string::npos && s.find("^bb") == std::string::npos; }
    static bool is_plain(const std::string &s) { return is_operation(s) && s.find('{') == s.rfind('{') && (s.find('{') == std::string::npos || s.find('}') != std::string::npos) && s.find('}') != 0; }

    bool sibling() {
        struct place {
            size_t line, group;
            word   w;
        };
        std::vector<place> all;
        for (size_t i = 0; i < m_.lines.size(); i++)
            if (is_operation(m_.lines[i]))
                for (const word &w : words_of(m_.lines[i]))
                    for (size_t g = 0; g < siblings().size(); g++)
                        if (std::count(siblings()[g].begin(), siblings()[g].end(), w.text)) all.push_back({i, g, w});
        if (all.empty()) return false;
        const place       &p = any(all);
        const std::string &by = any(siblings()[p.group]);
        if (by == p.w.text) return false;
        set(p.line, replaced(m_.lines[p.line], p.w, by));
        return true;
    }

    /* A use of a value of known type. */
    bool pick_use(size_t &line, word &use) {
        line = pick_line(is_operation);
        if (line == SIZE_MAX) return false;
        std::vector<word> uses;
        const size_t      equals = m_.lines[line].find(" = ");
        for (const word &w : words_of(m_.lines[line]))
            if (m_.type.count(w.text) && (equals == std::string::npos || w.at > equals)) uses.push_back(w);
        if (uses.empty()) return false;
        use = any(uses);
        return true;
    }

    bool other_value() {
        size_t line;
        word   use;
        if (!pick_use(line, use)) return false;
        std::vector<std::string> others;
        for (const auto &v : m_.type)
            if (v.second == m_.type[use.text] && v.first != use.text && m_.made_in[v.first] < line) others.push_back(v.first);
        if (others.empty()) return false;
        set(line, replaced(m_.lines[line], use, any(others)));
        return true;
    }

    bool swap_operands() {
        size_t line;
        word   a;
        if (!pick_use(line, a)) return false;
        for (const word &b : words_of(m_.lines[line]))
            if (b.at > a.at && b.text != a.text && m_.type.count(b.text) && m_.type[b.text] == m_.type[a.text]) {
                std::string s = replaced(m_.lines[line], b, a.text);
                set(line, replaced(s, a, b.text));
                return true;
            }
        return false;
    }

    bool number() {
        struct place {
            size_t line;
            word   w;
        };
        std::vector<place> all;
        for (size_t i = 0; i < m_.lines.size(); i++)
            if (is_operation(m_.lines[i]) && (m_.lines[i].find("arith.constant") != std::string::npos || rng_.one_in(4)))
                for (const word &w : words_of(m_.lines[i]))
                    if (is_number(w.text)) all.push_back({i, w});
        if (all.empty()) return false;
        const place       &p = any(all);
        const std::string &t = p.w.text;
        const bool         real = t.find_first_of(".e") != std::string::npos && !starts(t, "0x");
        static const char *const reals[] = {"0.000000e+00", "1.000000e+00", "-1.000000e+00", "2.000000e+00", "5.000000e-01", "1.442695e+00", "1.000000e-05"};
        std::string        by;
        if (real) by = reals[rng_.below(7)];
        else if (starts(t, "0x")) by = rng_.one_in(2) ? "0.000000e+00" : "1.000000e+00";
        else {
            const int64_t x = std::strtoll(t.c_str(), nullptr, 0), to[] = {x + 1, x - 1, 0, 1, -1, 2 * x, x / 2, -x, 2, x + 32};
            by = std::to_string(to[rng_.below(10)]);
        }
        if (by == t) return false;
        set(p.line, replaced(m_.lines[p.line], p.w, by));
        return true;
    }

    /* The mask or what stands for masked elements of a load; the mask of a store. */
    bool drop_operand() {
        const size_t line = pick_line([](const std::string &s) { return s.find("tt.load") != std::string::npos || s.find("tt.store") != std::string::npos; });
        if (line == SIZE_MAX) return false;
        std::vector<word> uses;
        const size_t      from = std::max(m_.lines[line].find("tt.load"), m_.lines[line].find(" tt.store") == std::string::npos ? 0 : m_.lines[line].find("tt.store"));
        for (const word &w : words_of(m_.lines[line]))
            if (w.text[0] == '%' && w.at > (from == std::string::npos ? 0 : from)) uses.push_back(w);
        if (uses.size() < 2) return false;
        const word &last = uses.back();
        set(line, m_.lines[line].substr(0, last.at - 2) + m_.lines[line].substr(last.at + last.text.size()));
        return true;
    }

    bool move_line() {
        const size_t line = pick_line(is_plain);
        if (line == SIZE_MAX) return false;
        const size_t to = std::min(m_.lines.size() - 2, line + 1 + rng_.below(6)), other = rng_.one_in(2) && line > 6 ? line - 1 - rng_.below(6) : to;
        std::string  s = m_.lines[line];
        m_.lines.erase(m_.lines.begin() + static_cast<long>(line));
        m_.lines.insert(m_.lines.begin() + static_cast<long>(other), s);
        where_ = "line " + std::to_string(line + 1);
        return true;
    }

    bool drop_line() {
        const size_t line = pick_line([](const std::string &s) { return is_plain(s) && s.find("tt.return") == std::string::npos; });
        if (line == SIZE_MAX) return false;
        const std::string       s = m_.lines[line];
        const std::vector<word> w = words_of(s);
        if (s.find(" = ") != std::string::npos) { /* what is read instead */
            std::string instead;
            for (size_t k = 1; k < w.size(); k++)
                if (m_.type.count(w[k].text) && m_.type.count(w[0].text) && m_.type[w[k].text] == m_.type[w[0].text]) instead = w[k].text;
            if (instead.empty()) return false;
            for (size_t i = line + 1; i < m_.lines.size(); i++) {
                const std::vector<word> uses = words_of(m_.lines[i]);
                for (size_t k = uses.size(); k-- > 0;)
                    if (uses[k].text == w[0].text) m_.lines[i] = replaced(m_.lines[i], uses[k], instead);
            }
        }
        m_.lines.erase(m_.lines.begin() + static_cast<long>(line));
        where_ = "line " + std::to_string(line + 1) + ": " + s.substr(s.find_first_not_of(' '), 60);
        return true;
    }

    /* An operation of one or two operands of the type, between a value and one use of it. */
    bool insert() {
        static const char *const wholes[] = {"arith.addi", "arith.xori", "arith.maxsi", "arith.subi", "arith.muli"};
        static const char *const reals[] = {"arith.addf", "arith.mulf", "arith.maxnumf", "arith.subf", "arith.negf", "math.absf", "math.exp"};
        size_t                   line;
        word                     use;
        if (!pick_use(line, use)) return false;
        const std::string t = m_.type[use.text];
        if (t.find("tt.ptr") != std::string::npos || t.find("f8") != std::string::npos) return false;
        const bool real = t.find("f16") != std::string::npos || t.find("f32") != std::string::npos || t.find("f64") != std::string::npos;
        const std::string op = real ? reals[rng_.below(7)] : wholes[rng_.below(5)], name = "%inserted_" + std::to_string(rng_.below(100000));
        std::string       other = use.text;
        for (const auto &v : m_.type)
            if (v.second == t && m_.made_in[v.first] < line && rng_.one_in(3)) other = v.first;
        const std::string pad(m_.lines[line].find_first_not_of(' '), ' ');
        const bool        one = op == "arith.negf" || starts(op, "math.");
        set(line, replaced(m_.lines[line], use, name));
        m_.lines.insert(m_.lines.begin() + static_cast<long>(line), pad + name + " = " + op + " " + use.text + (one ? "" : ", " + other) + " : " + t);
        return true;
    }

    /* A store or an atomic once more, somewhere behind. */
    bool again() {
        const size_t line = pick_line([](const std::string &s) { return is_plain(s) && s.find("tt.store") != std::string::npos; });
        if (line == SIZE_MAX) return false;
        const size_t      to = std::min(m_.lines.size() - 2, line + 1 + rng_.below(4));
        const std::string s = m_.lines[line];
        m_.lines.insert(m_.lines.begin() + static_cast<long>(to), s);
        where_ = "line " + std::to_string(line + 1);
        return true;
    }

    bool scalar() {
        std::vector<size_t> all;
        for (size_t i = 0; i < l_.parameters.size(); i++)
            if (!l_.parameters[i].is_pointer && !is_float(l_.parameters[i].type)) all.push_back(i);
        if (all.empty()) return false;
        parameter    &p = l_.parameters[any(all)];
        const int64_t x = std::strtoll(p.text.c_str(), nullptr, 0), to[] = {x - 1, x / 2, 1, 0, static_cast<int64_t>(rng_.below(static_cast<uint64_t>(std::max<int64_t>(x, 1)))), x + 1, -1};
        const int64_t by = to[rng_.below(7)];
        if (by == x || p.type == "i1") return false;
        p.text = std::to_string(by);
        for (std::string &s : m_.lines) /* what is claimed of arguments may not hold of this one */
            for (const char *claim : {": i32 {tt.divisibility = 16 : i32}", ": i64 {tt.divisibility = 16 : i32}"})
                for (size_t k = s.find(claim); k != std::string::npos; k = s.find(claim, k)) s.erase(k + 5, std::strlen(claim) - 5);
        where_ = "argument " + p.text;
        return true;
    }

    bool alias() {
        std::vector<size_t> all;
        for (size_t i = 0; i < l_.parameters.size(); i++)
            if (l_.parameters[i].is_pointer) all.push_back(i);
        if (all.size() < 2) return false;
        parameter &a = l_.parameters[any(all)], &b = l_.parameters[any(all)];
        if (a.type != b.type || a.buffer == b.buffer || a.offset != b.offset || l_.buffers[b.buffer].size() < l_.buffers[a.buffer].size()) return false;
        a.buffer = b.buffer;
        return true;
    }

    bool fewer_programs() {
        uint32_t &n = l_.grid[rng_.below(3)];
        if (n < 2) return false;
        n = 1 + static_cast<uint32_t>(rng_.below(n - 1));
        return true;
    }

    /* A power of two halved or doubled wherever it stands, as extent, end of a range or constant. */
    bool resize() {
        std::map<std::string, unsigned> seen;
        for (const std::string &s : m_.lines)
            for (size_t at = s.find("tensor<"); at != std::string::npos; at = s.find("tensor<", at + 1))
                for (const char *p = s.c_str() + at + 7; std::isdigit(static_cast<unsigned char>(*p));) {
                    char      *end = nullptr;
                    const long n = std::strtol(p, &end, 10);
                    if (n > 1) seen[std::to_string(n)]++;
                    p = end + 1;
                }
        if (seen.empty()) return false;
        auto which = seen.begin();
        std::advance(which, static_cast<long>(rng_.below(seen.size())));
        const long        n = std::strtol(which->first.c_str(), nullptr, 10);
        const std::string from = which->first, to = std::to_string(rng_.below(3) ? n / 2 : 2 * n);
        for (std::string &s : m_.lines) {
            if (s.find("tt.func") != std::string::npos) continue;
            for (size_t at = s.find(from); at != std::string::npos; at = s.find(from, at + 1)) {
                const char before = at ? s[at - 1] : ' ', after = at + from.size() < s.size() ? s[at + from.size()] : ' ';
                if (std::strchr("<x -", before) == nullptr || !std::strchr("x ,>", after)) continue;
                if (before == 'x' && s.find('<') > at) continue;
                s = s.substr(0, at) + to + s.substr(at + from.size());
            }
        }
        where_ = from + " to " + to;
        return true;
    }

    /* All floats of one type become another; buffers keep their numbers. */
    bool retype() {
        static const char *const types[] = {"f32", "f16", "bf16"};
        const std::string        from = types[rng_.below(3)], to = types[rng_.below(3)];
        bool                     any_there = false;
        if (from == to) return false;
        for (std::string &s : m_.lines)
            for (size_t at = s.find(from); at != std::string::npos; at = s.find(from, at + 1)) {
                const char before = at ? s[at - 1] : ' ', after = at + from.size() < s.size() ? s[at + from.size()] : ' ';
                if (!std::strchr("<x ", before) || !std::strchr(">,) ", after ? after : ' ')) continue;
                s = s.substr(0, at) + to + s.substr(at + from.size());
                any_there = true;
            }
        for (parameter &p : l_.parameters) {
            if (p.type != from) continue;
            if (p.is_pointer && l_.types[p.buffer] != from) return false;
            if (p.is_pointer) p.offset = p.offset / bytes_of(from) * bytes_of(to);
            p.type = to;
        }
        for (size_t b = 0; b < l_.buffers.size(); b++)
            if (l_.types[b] == from) convert(l_.buffers[b], from, to), l_.types[b] = to;
        where_ = from + " to " + to;
        return any_there;
    }

    static void convert(std::vector<uint8_t> &bytes, const std::string &from, const std::string &to) {
        const unsigned       a = bytes_of(from), b = bytes_of(to);
        std::vector<uint8_t> out(bytes.size() / a * b);
        for (size_t i = 0; i < bytes.size() / a; i++) {
            uint64_t bits = 0;
            std::memcpy(&bits, &bytes[i * a], a);
            bits = encode(to, decode(from, bits));
            std::memcpy(&out[i * b], &bits, b);
        }
        bytes.swap(out);
    }
};

} // namespace

static std::string without_places(const std::string &text) {
    std::string s;
    for (std::string line : lines_of(text)) {
        if (line[0] == '#') continue;
        for (size_t at = line.find(" loc("); at != std::string::npos; at = line.find(" loc(", at)) {
            size_t end = at + 5;
            for (int level = 1; end < line.size() && level; end++) level += (line[end] == '(') - (line[end] == ')');
            line.erase(at, end - at);
        }
        s += line + "\n";
    }
    return s;
}

std::string plain_text(const std::string &ttir) {
    char  why[400];
    char *printed = ti_reprint(ttir.data(), ttir.size(), why, sizeof why);
    if (!printed) return ttir;
    const std::string text = without_places(printed);
    std::free(printed);
    return text;
}

/* No denormals of the kinds that a GPU takes for zero. */
static void flush(launch &l) {
    for (size_t b = 0; b < l.buffers.size(); b++) {
        const unsigned n = l.types[b] == "f32" ? 4 : l.types[b] == "bf16" ? 2 : 0;
        for (size_t i = 0; n && i + n <= l.buffers[b].size(); i += n) {
            uint8_t *p = &l.buffers[b][i];
            if (!(p[n - 1] & 0x7f) && !(p[n - 2] & 0x80)) std::memset(p, 0, n);
        }
    }
    for (parameter &p : l.parameters)
        if (p.type == "f32" && !p.is_pointer && std::abs(std::strtod(p.text.c_str(), nullptr)) < 0x1p-126) p.text = "0x0p+0";
}

/* Room on both sides, so that what leaves a buffer by a little can still be compared. */
static void pad(launch &l) {
    const size_t room = 1024;
    for (auto &b : l.buffers) {
        std::vector<uint8_t> all(b.size() + 2 * room);
        for (size_t i = 0; i < all.size() && !b.empty(); i++) all[i] = b[(i + b.size() * room - room) % b.size()];
        b.swap(all);
    }
    for (parameter &p : l.parameters)
        if (p.is_pointer) p.offset += room;
}

void mutate(std::string &ttir, launch &l, numbers &rng, std::string &said) {
    char why[400];
    ttir = plain_text(ttir);
    flush(l);
    pad(l);
    for (uint64_t left = 1 + rng.below(3), tries = 0; left && tries < 200; tries++) {
        launch      changed = l;
        std::string tells = said;
        mutator     m(ttir, changed, rng);
        if (!m.one(tells)) continue;
        const std::string text = m.text();
        ti_module        *read = ti_read(text.data(), text.size(), why, sizeof why);
        if (!read) continue;
        ti_free(read);
        ttir = text;
        l = changed;
        said = tells;
        left--;
    }
}

} // namespace made
