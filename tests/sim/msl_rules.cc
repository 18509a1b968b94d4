/* What Apple's compilers are known to get wrong, though the language allows it: rules for emitted
 * text. Each names what goes wrong and what to write instead; sources stand in README.md. */
#include "msl.h"

#include <algorithm>
#include <map>
#include <set>

namespace sim {

namespace {

/* What is known of an expression. */
struct typed {
    std::string base;               /* of the element: "uint", "float", "char"; "": not known */
    unsigned    width = 1;          /* of a vector */
    bool        pointer = false;    /* or array */
    bool        is_private = false; /* an array or vector of one thread */
    bool        fixed = false;      /* known when all marked loops are unrolled */
    bool        literal = false;
    uint64_t    value = 0;                     /* of a literal */
    bool        magic = false;                 /* 64 bits times a large literal */
    bool in_memory = false, component = false; /* an element of memory; a part of such a vector */
    /* Where it comes from, with nothing done to it since: an integer divided by a constant; a
     * simd_shuffle; a simd_prefix function; a conversion to half or bfloat, of a constant; `||`. */
    unsigned conditions = 0; /* around its declaration */
    bool quotient = false, shuffled = false, scanned = false, narrowed = false, folded = false,
         either = false;
    unsigned adds = 0; /* pointers to one-byte elements: additions since the root */

    bool     is_float() const { return base == "float" || base == "half" || base == "bfloat"; }
    bool     byte() const { return base == "char" || base == "uchar" || base == "bool"; }
    unsigned bits() const {
        if (base == "ulong" || base == "long" || base == "size_t") return 64;
        if (base == "uint" || base == "int") return 32;
        return base == "ushort" || base == "short" ? 16 : byte() ? 8 : 0;
    }
    bool is_unsigned() const { return base == "uint" || base == "ulong" || base == "size_t"; }
};

typed number_type(const token &t) {
    typed             r;
    const std::string s(t.text);
    const bool        hex = s.size() > 1 && (s[1] | 32) == 'x';
    r.fixed = r.literal = true;
    if (s.find('.') != std::string::npos ||
        (!hex && s.find_first_of("eEfFhH") != std::string::npos) ||
        (hex && s.find_first_of("pP") != std::string::npos)) {
        r.base = (s.back() | 32) == 'h' ? "half" : "float";
        return r;
    }
    r.value = std::strtoull(s.c_str(), nullptr, 0);
    const bool u = s.find_first_of("uU") != std::string::npos,
               l = s.find_first_of("lL") != std::string::npos;
    r.base = l || r.value > 0xffffffffu            ? u ? "ulong" : "long"
             : u || (hex && r.value > 0x7fffffffu) ? "uint"
                                                   : "int";
    return r;
}

/* `uint4` is uint and 4; `metal::uint` as well. */
typed named_type(std::string_view word) {
    typed r;
    if (word.rfind("packed_", 0) == 0) word.remove_prefix(7);
    static const std::map<std::string_view, const char *> other = {
        {"atomic_uint", "uint"},   {"atomic_int", "int"}, {"atomic_float", "float"},
        {"atomic_ulong", "ulong"}, {"uint32_t", "uint"},  {"int32_t", "int"},
        {"uint64_t", "ulong"},     {"int64_t", "long"},   {"uint16_t", "ushort"},
        {"int16_t", "short"},      {"uint8_t", "uchar"},  {"int8_t", "char"}};
    const auto found = other.find(word);
    if (found != other.end()) word = found->second;
    if (word.size() > 1 && word.back() >= '2' && word.back() <= '4' &&
        (word[word.size() - 2] < '0' || word[word.size() - 2] > '9')) {
        r.width = static_cast<unsigned>(word.back() - '0');
        word.remove_suffix(1);
    }
    r.base = std::string(word);
    return r;
}

class rules {
public:
    explicit rules(parsed &p) : p_(p) {}

    void run() {
        whole_text();
        outside_functions();
        for (const function &f : p_.functions) {
            if (!f.body) continue;
            results_[std::string(f.name.text)] = result_type(f);
            if (!f.is_kernel) find_remainders(f);
        }
        for (const directive &d : p_.lexed.directives)
            safe_ |= d.name == "pragma" && d.rest == "METAL fp math_mode(safe)";
        for (function &f : p_.functions)
            if (f.body) body(f);
    }

private:
    parsed                                        &p_;
    std::vector<std::map<std::string_view, typed>> scopes_;
    std::map<std::string, typed>                   results_; /* of functions of the text */
    std::set<std::string>                          seen_;
    size_t                                         i_ = 0; /* the next token */
    std::map<std::string, uint64_t> sizes_; /* of functions: statements once loops are unrolled */
    uint64_t                        copies_ = 1, statements_ = 0, bytes_ = 0;

    const token &at(size_t i) const { return p_.tokens()[std::min(i, p_.tokens().size() - 1)]; }
    bool         next(std::string_view s) const { return at(i_).is(s); }
    void         error(size_t i, const std::string &text) {
                if (seen_.insert(std::to_string(at(i).line) + text).second) p_.error(at(i), text);
    }

    /* -- The text as a whole ------------------------------------------------------------------- */

    void whole_text() {
        bool quiet = false;
        for (const directive &d : p_.lexed.directives) {
            quiet |= d.name == "pragma" && d.rest == "clang diagnostic ignored \"-Wall\"";
            if (d.name == "pragma" && d.rest.rfind("metal ", 0) == 0)
                p_.errors.push_back(
                    {p_.from->name, d.line, 1, "'#pragma metal' is not known: write METAL"});
        }
        if (!quiet)
            p_.errors.push_back(
                {p_.from->name, 1, 1, "warnings are on: some drivers take them for errors"});
        unsigned depth = 0;
        for (size_t i = 0; i + 1 < p_.tokens().size(); i++) {
            const token &t = at(i);
            if (t.is("(") || t.is("[") || t.is("{") || t.is("[[")) {
                if (++depth > 256) return p_.error(t, "brackets nest deeper than 256");
            } else if (p_.match[i] && p_.match[i] < i) depth--;
            if (t.is("-") && at(i + 1).text.rfind("2147483648", 0) == 0 &&
                at(i + 1).text.size() <= 10)
                error(i, "-2147483648 is a long: write (-2147483647 - 1)");
            const bool called = at(i + 1).is("(") && i > 0; /* users may have such names */
            if (t.is("lowest") && called && (at(i - 1).is("::") || at(i - 1).is(".")))
                error(i, "lowest() is not -INFINITY: a row of -INFINITY differs");
            if (t.text.rfind("unpack_", 0) == 0 && called && !p_.find(t.text))
                error(i, "the unpack functions are wrong on M3 for words not aligned to 4");
            if (t.is("(") && at(i + 1).is("threadgroup") && at(i + 2).text.rfind("atomic_", 0) == 0)
                error(i, "atomics on cast threadgroup memory crash M3's compiler: declare the "
                         "array as atomic");
        }
    }

    /* Members of structs, and tables. */
    void outside_functions() {
        for (size_t i = 0; i + 3 < p_.tokens().size(); i++) {
            for (const function &f : p_.functions)
                if (i == f.open && f.body) i = f.body_end;
            size_t     k = i;
            typed      t;
            bool       memory;
            const bool table = at(i).is("constant");
            if (!(table || at(i - (i > 0)).is("{") || at(i - (i > 0)).is(";"))) continue;
            if (!read_type(k, t, memory) || !at(k).identifier()) continue;
            t.pointer |= at(k + 1).is("[");
            (table ? globals_ : members_)[at(k).text] = t;
        }
    }

    typed result_type(const function &f) const {
        for (size_t i = f.specifiers; i < p_.tokens().size() && at(i).offset < f.name.offset; i++)
            if (p_.is_type(i)) return named_type(at(i).text);
        return {};
    }

    /* -- Names --------------------------------------------------------------------------------- */

    const typed *find(std::string_view name) const {
        for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s) {
            const auto v = s->find(name);
            if (v != s->end()) return &v->second;
        }
        const auto v = globals_.find(name);
        return v == globals_.end() ? nullptr : &v->second;
    }

    static bool qualifier(const token &t) {
        return t.is("const") || t.is("volatile") || t.is("device") || t.is("constant") ||
               t.is("threadgroup") || t.is("thread") || t.is("coherent") || t.is("constexpr");
    }

    /* A type at `i`: true, and `i` behind it. */
    bool read_type(size_t &i, typed &t, bool &memory) const {
        size_t k = i;
        memory = false;
        for (; qualifier(at(k)); k++)
            memory |= at(k).is("device") || at(k).is("constant") || at(k).is("threadgroup");
        if (!p_.is_type(k)) return false;
        t = named_type(at(k).text);
        k++;
        if (at(k).is("<")) {
            while (!at(k).is(">") && !at(k).is(";")) k++;
            k++;
        }
        for (; at(k).is("*") || at(k).is("&") || qualifier(at(k)); k++) {
            t.pointer |= at(k).is("*");
            memory |= at(k).is("&");
        }
        i = k;
        return true;
    }

    void parameters(const function &f) {
        for (size_t i = f.open + 1; i < f.close;) {
            typed t;
            bool  memory;
            if (read_type(i, t, memory) && at(i).identifier()) scopes_.back()[at(i).text] = t;
            while (i < f.close && !at(i).is(",")) i = p_.match[i] > i ? p_.match[i] + 1 : i + 1;
            i++;
        }
    }

    /* -- Statements ---------------------------------------------------------------------------- */

    void body(function &f) {
        scopes_.assign(1, {});
        divided_.clear();
        copies_ = 1;
        statements_ = bytes_ = 0;
        parameters(f);
        if (f.is_kernel) barriers(f);
        i_ = f.body;
        statement();
        sizes_[std::string(f.name.text)] += statements_;
        f.statements = statements_;
        f.array_bytes = bytes_;
        if (f.is_kernel &&
            (statements_ > 8192 || bytes_ > 8192 ||
             at(f.body_end).offset - at(f.body).offset > 65536) &&
            p_.from->text.find("//   size ") == std::string::npos)
            p_.error(f.name, "large (" + std::to_string(statements_) +
                                 " statements once loops are unrolled, " + std::to_string(bytes_) +
                                 " bytes of arrays a thread): say so in the head");
    }

    void barriers(const function &f) {
        if (p_.from->threads > 32) return;
        for (const attribute &a : f.attributes) {
            if (a.name != "max_total_threads_per_threadgroup") continue;
            if (std::strtol(a.argument.c_str(), nullptr, 0) > 32) return;
            p_.error(a.at, "a bound of one simdgroup loses rows of matrix products: leave it out, "
                           "or declare 64");
        }
        for (size_t i = f.body; i < f.body_end; i++) {
            if (!at(i).is("threadgroup_barrier") && !at(i).is("simdgroup_barrier")) continue;
            bool device = false, group = false;
            for (size_t k = i + 1; k < p_.match[i + 1]; k++) {
                device |= at(k).is("mem_device");
                group |= at(k).is("mem_threadgroup");
            }
            if (!device || !group)
                error(i, "with one simdgroup a barrier must name mem_device and mem_threadgroup: "
                         "fewer lose order");
        }
    }

    bool marked_unrolled(size_t loop) const {
        for (const directive &d : p_.lexed.directives)
            if (d.line + 1 == at(loop).line && d.rest.find("unroll(full)") != std::string::npos)
                return true;
        return false;
    }

    void statement() {
        if (next("{")) {
            const size_t end = p_.match[i_++];
            scopes_.emplace_back();
            while (i_ < end) statement();
            scopes_.pop_back();
            i_ = end + 1;
        } else if (next("if")) {
            i_ += 2;
            expression();
            i_++;
            conditions_++;
            statement();
            if (next("else")) i_++, statement();
            conditions_--;
        } else if (next("for")) {
            loop();
        } else if (next("while")) {
            if (at(i_ + 2).is("true")) exit_of(i_, p_.match[i_ + 1] + 1);
            i_ += 2;
            expression();
            i_++;
            statement();
        } else if (next("switch")) {
            i_ += 2;
            expression();
            i_++;
            statement();
        } else if (next("case") || next("default")) {
            while (!next(":") && at(i_).kind != token_kind::end) i_++;
            i_++;
        } else if (next("do")) {
            i_++;
            statement();
            i_ += 2;
            expression();
            i_ += 2;
        } else if (next("return") || next("break") || next("continue")) {
            const bool value = at(i_++).is("return") && !next(";");
            if (value) expression();
            i_++;
        } else if (next(";")) {
            i_++;
        } else {
            simple();
            const size_t from = i_;
            while (!next(";") && !next("}") && at(i_).kind != token_kind::end) i_++;
            if (i_ != from) error(from, "the rules cannot read this");
            i_++;
        }
    }

    void loop() {
        const bool     unrolled = marked_unrolled(i_);
        const size_t   head = i_;
        const uint64_t around = copies_;
        scopes_.emplace_back();
        i_ += 2;
        in_head_ = unrolled;
        if (!next(";")) simple();
        in_head_ = false;
        i_++;
        if (unrolled) copies_ *= rounds(i_);
        if (!next(";")) expression();
        else if (at(i_ + 1).is(")")) exit_of(head, i_ + 2);
        i_++;
        if (!next(")")) expression();
        i_++;
        statement();
        copies_ = around;
        scopes_.pop_back();
    }

    /* `i < 8` */
    uint64_t rounds(size_t i) const {
        return at(i + 1).is("<") && at(i + 2).kind == token_kind::number
                   ? std::max<uint64_t>(1, number_type(at(i + 2)).value)
                   : 1;
    }

    /* A loop that nothing leaves is undefined: the compiler removes it and the checks that guard
     * it. */
    void exit_of(size_t loop, size_t body) {
        const size_t end = at(body).is("{") ? p_.match[body] : body;
        for (size_t i = body; i < end; i++)
            if (at(i).is("break") || at(i).is("return")) return;
        error(loop, "nothing leaves this loop: the compiler may remove it, and what guards it");
    }
    bool     in_head_ = false;
    unsigned conditions_ = 0; /* `if`s around the statement */

    /* `<...>` behind a name that is a template of the tensor headers. */
    void template_arguments() {
        unsigned depth = 0;
        do {
            depth += next("<");
            depth -= next(">");
            i_++;
        } while (depth && at(i_).kind != token_kind::end);
    }

    /* A declaration, or an expression. */
    void simple() {
        statements_ += copies_;
        if (next("mpp") && at(i_ + 4).is("matmul2d")) { /* of an operation */
            i_ += 5;
            template_arguments();
            scopes_.back()[at(i_++).text] = typed();
            return;
        }
        typed  t;
        size_t i = i_;
        bool   memory;
        if (read_type(i, t, memory) && at(i).identifier()) {
            i_ = i;
            while (true) {
                declarator(t, memory);
                if (!next(",")) return;
                i_++;
            }
        }
        expression();
    }

    void declarator(typed t, bool memory) {
        const size_t name = i_++;
        bool         array = false, head = in_head_;
        uint64_t     count = 1;
        while (next("[")) {
            count *= std::max<uint64_t>(1, number_type(at(i_ + 1)).value);
            i_ = p_.match[i_] + 1;
            if (array && memory)
                error(name,
                      "an array of threadgroup memory has one dimension: more hang M1's compiler");
            array = true;
        }
        t.is_private = !memory && !t.pointer && (array || t.width > 1);
        if (array) t.pointer = true;
        if (array && t.is_private) bytes_ += count * std::max(1u, t.width) * bytes_of(t.base);
        const bool constant = at(name - 1).is("const") || qualified(name, "const");
        if (next("=")) {
            i_++;
            if (next("{")) i_ = p_.match[i_] + 1;
            else {
                const typed v = conditional();
                t.fixed = !t.pointer && t.width == 1 && (head || constant) && v.fixed;
                copy_origin(t, v);
                t.conditions = conditions_;
                if (t.pointer && !array) t.adds = v.adds;
            }
        } else if (next("(") || next("{")) {
            i_ = p_.match[i_] + 1;
        }
        scopes_.back()[at(name).text] = t;
    }

    /* In registers of one thread: a lane holds 2 of the 64 elements of a matrix. */
    static uint64_t bytes_of(const std::string &base) {
        const bool half =
            base.find("half") != std::string::npos || base.find("bfloat") != std::string::npos;
        if (base.rfind("simdgroup_", 0) == 0) return half ? 4 : 8;
        const unsigned bits = named_type(base).bits();
        return bits ? bits / 8 : half ? 2 : 4;
    }

    bool qualified(size_t name, std::string_view word) const {
        for (size_t k = name;
             k > 0 && !at(k).is(";") && !at(k).is("{") && !at(k).is("}") && !at(k).is("("); k--)
            if (at(k).is(word)) return true;
        return false;
    }

    /* -- Expressions --------------------------------------------------------------------------- */

    void expression() {
        conditional();
        while (next(",")) i_++, conditional();
    }

    typed conditional() {
        const size_t head = i_;
        typed        r = binary(0);
        const size_t op = i_;
        if (next("?")) {
            i_++;
            const typed a = conditional();
            i_++;
            const typed b = conditional();
            typed       c = common(a, b);
            chosen(op, r, a, b);
            c.adds = std::max(a.adds, b.adds);
            c.pointer = a.pointer || b.pointer;
            return c;
        }
        const token &t = at(i_);
        if (t.is("=") || t.is("+=") || t.is("-=") || t.is("*=") || t.is("/=") || t.is("%=") ||
            t.is("&=") || t.is("|=") || t.is("^=") || t.is("<<=") || t.is(">>=")) {
            const size_t where = i_++;
            const typed  v = conditional();
            if (t.is("/=") || t.is("%=")) division(where, r, v);
            if (t.is("%=")) remainder(where, r, v);
            if (t.is("*=")) product(where, r, v);
            if (t.is("/=") && v.literal) divided(head, op, v);
            if (typed *to = r.in_memory ? nullptr : named(op)) {
                if (t.is("=") && conditions_ == to->conditions) copy_origin(*to, v);
                else *to = unmoved(*to);
                to->quotient |= t.is("/=") && v.literal && v.value > 1;
            }
            forget(op);
            if (r.component)
                error(where,
                      "a component of a vector in memory is written with the others: use scalars");
            if (r.pointer && r.byte() && (t.is("+=") || t.is("-=") || v.adds))
                error(where, "a pointer to one-byte elements grows by another sum: add integers, "
                             "index once");
        }
        return r;
    }

    /* What a select does with its arms and its condition. */
    void chosen(size_t op, const typed &c, const typed &a, const typed &b) {
        if ((a.shuffled && a.is_float()) || (b.shuffled && b.is_float()))
            error(op, "a select of what a shuffle returned may take the other arm: write if (c) v "
                      "= shuffled");
        if (c.either)
            error(op, "|| as the condition of a select may take the other arm: write | or nest "
                      "two selects");
    }

    /* The variable that the tokens from `i` name, or whose element they are; NULL. */
    typed *named(size_t i) {
        size_t k = i;
        for (; k > 0 && (at(k - 1).identifier() || at(k - 1).is("]") || at(k - 1).is("."));)
            k = at(k - 1).is("]") ? p_.match[k - 1] : k - 1;
        for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s) {
            const auto v = s->find(at(k).text);
            if (v != s->end()) return &v->second;
        }
        return nullptr;
    }

    static typed unmoved(typed t) {
        t.quotient = t.shuffled = t.scanned = t.narrowed = t.either = false;
        return t;
    }
    static void copy_origin(typed &to, const typed &v) {
        to.quotient = v.quotient;
        to.shuffled = v.shuffled;
        to.scanned = v.scanned;
        to.narrowed = v.narrowed;
        to.either = v.either && !to.pointer;
    }
    /* Divisions by constants: the dividend's names and numbers, and by what. */
    std::vector<std::pair<std::string, uint64_t>> divided_;

    std::string names_of(size_t from, size_t to) const {
        std::string s;
        for (size_t i = from; i < to; i++)
            if (!at(i).is("(") && !at(i).is(")") && !p_.is_type(i)) s += std::string(at(i).text) + " ";
        return s;
    }

    /* A value divided by the products of several extents: 6 * 256 after 256. Not the lane, below 32: where it stands in a
     * fragment and where in a row are two questions, and none of its quotients is an axis of a grid. */
    void divided(size_t from, size_t op, const typed &b) {
        const uint64_t    by = at(op).is(">") ? b.value < 63 ? uint64_t(1) << b.value : 0 : b.value;
        const std::string what = names_of(from, op);
        if (what == "lane ") return;
        for (const auto &d : divided_) {
            const uint64_t low = std::min(by, d.second), high = std::max(by, d.second);
            if (d.first == what && what.find('[') == std::string::npos && low > 1 && low != high && high % low == 0 && !power_of_two(high))
                error(op, "division by products of extents writes to wild addresses: divide the "
                          "quotient by the next extent");
        }
        divided_.emplace_back(what, by);
    }

    /* The variable before the token `op` has another value from here on. */
    void forget(size_t op) {
        const std::string name = std::string(at(op - 1).text) + " ";
        for (auto &d : divided_)
            if (d.first == name) d.first.clear();
    }

    static int precedence(const token &t) {
        static const std::map<std::string_view, int> table = {
            {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
            {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
            {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
        if (t.kind != token_kind::punctuation) return 0;
        const auto f = table.find(t.text);
        return f == table.end() ? 0 : f->second;
    }

    /* What usual conversions make of two operands. */
    static typed common(const typed &a, const typed &b) {
        typed r;
        r.width = std::max(a.width, b.width);
        r.fixed = a.fixed && b.fixed;
        if (a.base.empty() || b.base.empty()) return r;
        const bool vector = r.width > 1;
        if (a.is_float() || b.is_float())
            r.base = a.base == "float" || b.base == "float" ? "float"
                     : a.is_float()                         ? a.base
                                                            : b.base;
        else if (vector) r.base = a.width > 1 ? a.base : b.base;
        else if (a.bits() == 64 || b.bits() == 64)
            r.base = (a.bits() == 64 && a.is_unsigned()) || (b.bits() == 64 && b.is_unsigned())
                         ? "ulong"
                         : "long";
        else if (a.bits() && b.bits())
            r.base = a.base == "uint" || b.base == "uint" ? "uint" : "int";
        return r;
    }

    typed binary(int above) {
        const size_t from = i_;
        typed        a = unary();
        while (true) {
            size_t op = i_, width = 1;
            int    p = precedence(at(i_));
            if (next(">") && at(i_ + 1).is(">") && at(i_ + 1).offset == at(i_).offset + 1)
                p = 8, width = 2;
            if (!p || p <= above) return a;
            i_ += width;
            const typed b = binary(p);
            a = combine(op, p, a, b);
            if (a.quotient) divided(from, op, b);
        }
    }

    typed combine(size_t op, int p, const typed &a, const typed &b) {
        if (p == 6 || p == 7 || p == 1 || p == 2) {
            typed r = named_type("bool");
            r.either = p == 1;
            r.width = std::max(a.width, b.width);
            r.fixed = a.fixed && b.fixed;
            return r;
        }
        if (a.pointer || b.pointer) {
            typed r = a.pointer ? a : b;
            if (a.pointer && b.pointer) return named_type("long");
            if (r.byte()) r.adds++;
            r.is_private = false;
            return r;
        }
        if (at(op).is("/") || at(op).is("%")) division(op, a, b);
        if (at(op).is("%")) remainder(op, a, b);
        if (at(op).is("*")) product(op, a, b);
        if (p == 8 && !at(op).is("<<") && a.magic && b.literal)
            error(op, "a division by a constant made by hand: leave it to the compiler");
        typed r = p == 8 ? common(a, named_type("int")) : common(a, b);
        r.fixed = a.fixed && b.fixed;
        r.quotient = b.literal && !r.is_float() && !a.literal &&
                     ((at(op).is("/") && b.value > 1) ||
                      (at(op).is(">") && b.value > 0 && a.is_unsigned()));
        r.magic = at(op).is("*") && r.bits() == 64 &&
                  (a.literal   ? a.value
                   : b.literal ? b.value
                               : 0) > 0xffff;
        return r;
    }

    static bool power_of_two(uint64_t v) { return v && !(v & (v - 1)); }

    void remainder(size_t op, const typed &a, const typed &b) {
        if (a.quotient && b.literal && b.value && !power_of_two(b.value))
            error(op, "(x / C) % D is wrong unless D is a power of two: write x % (C * D) / C");
    }

    void product(size_t op, const typed &a, const typed &b) {
        if (a.base == "bfloat" && b.base == "bfloat")
            error(op, "products of bfloat are wrong for masked blocks: multiply as float");
    }

    void division(size_t op, const typed &a, const typed &b) {
        const typed c = common(a, b);
        if (c.is_float()) return;
        if (b.literal && b.value && !(b.value & (b.value - 1))) return;
        if (c.base.empty()) return error(op, "the rules cannot tell the types of this division");
        if (c.base == "uint" && !(a.literal && b.literal))
            error(op,
                  "unsigned / and % may be wrong but for powers of two: divide as int below 2^31");
    }

    typed unary() {
        if (next("-") || next("+") || next("~") || next("!")) {
            const bool no = next("!");
            i_++;
            typed r = unary();
            r.literal = false;
            r = unmoved(r);
            if (no) r.base = "bool";
            else if (r.bits() && r.bits() < 32 && r.width == 1) r.base = "int";
            return r;
        }
        if (next("++") || next("--")) {
            i_++;
            return unary();
        }
        if (next("*")) {
            const size_t where = i_++;
            return element(where, unary());
        }
        if (next("&")) {
            i_++;
            typed r = unary();
            r.pointer = true;
            return r;
        }
        if (next("(")) {
            size_t     i = i_ + 1;
            typed      t;
            bool       memory;
            const bool cast = read_type(i, t, memory) && at(i).is(")");
            if (cast) {
                i_ = i + 1;
                const typed v = unary();
                if (t.pointer && v.byte() && v.pointer) t.adds = v.adds;
                t.fixed = v.fixed;
                converted(i - 1, t, v);
                return t;
            }
        }
        return postfix();
    }

    /* What lies at a pointer. */
    typed element(size_t where, typed r) {
        if (r.pointer && r.adds > 1)
            error(where,
                  "an address of one-byte elements by more than one sum: add integers, index once");
        r.in_memory = !r.is_private;
        r.pointer = r.fixed = false;
        r.is_private = false;
        r.adds = 0;
        return r;
    }

    typed postfix() {
        typed r = primary();
        while (true) {
            if (next("[")) {
                const size_t where = i_++;
                const typed  index = conditional();
                i_++;
                if (r.is_private && !index.fixed)
                    error(where, "a private array under a run-time index reads 0 in big kernels: "
                                 "unroll, or select");
                if (!r.pointer) {
                    r.width = 1;
                    r.is_private = r.fixed = false;
                    continue;
                }
                if (r.byte() && !r.is_private) r.adds++;
                const bool vector = r.is_private && r.width > 1;
                r = element(where, r);
                r.is_private = vector;
            } else if (next(".") || next("->")) {
                i_ += 2;
                r = member(at(i_ - 1), r);
                if (next("<") && at(i_ - 1).text.rfind("get_", 0) == 0) template_arguments();
                if (next("(")) arguments();
            } else if (next("++") || next("--")) {
                i_++;
            } else {
                return r;
            }
        }
    }

    typed member(const token &name, typed r) {
        if (r.width > 1) {
            r.component = r.in_memory;
            r.width = static_cast<unsigned>(name.text.size());
            r.is_private = r.fixed = false;
            return r;
        }
        if (name.is("thread_elements")) { /* of simdgroup_float8x8: a float2 of this thread */
            const size_t from = std::min(r.base.size(), sizeof "simdgroup_" - 1);
            r = named_type(r.base.substr(from, r.base.size() - from -
                                                   std::min<size_t>(3, r.base.size() - from)));
            r.width = 2;
            r.is_private = true;
            return r;
        }
        const auto f = members_.find(name.text);
        return f == members_.end() ? typed() : f->second;
    }
    std::map<std::string_view, typed> members_, globals_;

    std::vector<typed> arguments() {
        std::vector<typed> all;
        const size_t       end = p_.match[i_];
        i_++;
        while (i_ < end) {
            all.push_back(conditional());
            if (all.back().pointer && all.back().adds > 1)
                error(i_ - 1, "an address of one-byte elements by more than one sum: add integers, "
                              "index once");
            if (next(",")) i_++;
            else break;
        }
        if (i_ != end) error(i_, "the rules cannot read this");
        i_ = end + 1;
        return all;
    }

    typed primary() {
        const token &t = at(i_);
        if (t.kind == token_kind::number) {
            i_++;
            return number_type(t);
        }
        if (t.kind == token_kind::string) {
            i_++;
            return {};
        }
        if (next("(")) {
            i_++;
            typed r = conditional();
            while (next(",")) i_++, r = conditional();
            i_++;
            return r;
        }
        if (t.is("true") || t.is("false")) {
            i_++;
            typed r = named_type("bool");
            r.fixed = true;
            return r;
        }
        if (next("{")) {
            i_ = p_.match[i_] + 1;
            return {};
        }
        if (!t.identifier()) {
            error(i_, "the rules cannot read this");
            i_++;
            return {};
        }
        if (t.is("INFINITY") || t.is("NAN") || t.is("MAXFLOAT")) {
            i_++;
            typed r = named_type("float");
            r.literal = true;
            return r;
        }
        return name();
    }

    /* t(v) */
    void converted(size_t where, typed &t, const typed &v) {
        if (t.pointer) return;
        t.quotient = v.quotient && !t.is_float();
        t.narrowed = t.is_float() && t.base != "float" && v.base == "float";
        t.folded = t.is_float() && t.base != "float" && (v.literal || v.folded);
        if (t.base == "float" && v.narrowed && !safe_)
            error(where, "fast math folds the rounding of float(half(x)): ask for safe math");
    }
    bool safe_ = false;

    typed name() {
        const size_t where = i_;
        if (p_.is_type(i_) && !at(i_ + 1).is("::")) {
            typed t;
            bool  memory;
            read_type(i_, t, memory);
            if (next("(")) {
                const auto a = arguments();
                t.fixed = !a.empty() &&
                          std::all_of(a.begin(), a.end(), [](const typed &x) { return x.fixed; });
                t.literal = a.size() == 1 && a[0].literal && t.width == 1 && !t.is_float();
                if (t.literal) t.value = a[0].value;
                if (a.size() == 1) converted(where, t, a[0]);
            } else if (next("{")) {
                i_ = p_.match[i_] + 1;
            }
            return t;
        }
        std::string full(at(i_++).text);
        if (full == "numeric_limits")
            while (!next("::") && !next(";")) i_++;
        while (next("::")) {
            full = std::string(at(i_ + 1).text);
            i_ += 2;
        }
        if ((full == "as_type" || full == "reinterpret_cast" || full == "static_cast") &&
            next("<")) {
            i_++;
            typed t;
            bool  memory;
            read_type(i_, t, memory);
            i_++;
            const std::vector<typed> of = arguments();
            if (full == "as_type" && !of.empty() && of[0].folded)
                error(where, "as_type of a constant cast to half or bfloat folds to a wrong value: "
                             "write its bits");
            if (!of.empty() && t.pointer && t.byte() && of[0].byte()) t.adds = of[0].adds;
            return t;
        }
        if ((full == "dextents" || full == "array") && next("<")) template_arguments();
        if (!next("(")) {
            const typed *v = find(full);
            return v ? *v : typed();
        }
        const std::vector<typed> a = arguments();
        return call(where, full, a);
    }

    typed call(size_t where, const std::string &name, const std::vector<typed> &a) {
        if ((name == "precise" || name == "fast")) return {};
        if (at(where).is("precise") || at(where).is("fast"))
            for (const typed &x : a)
                if (x.base == "half" || x.base == "bfloat")
                    error(where, "functions of precise and fast take float only");
        if (name.rfind("simd_", 0) == 0 && !a.empty() &&
            (a[0].base == "bfloat" || a[0].base == "bool" || a[0].bits() == 64) &&
            name != "simd_all" && name != "simd_any" && name != "simd_ballot")
            error(where, "simd functions have no bfloat, bool or 64 bits");
        if (name.rfind("atomic_compare_exchange", 0) == 0 && !a.empty() && a[0].is_float())
            error(where,
                  "an exchange of floats compares them, and NaN never equals: compare the bits");
        if (name == "select" && a.size() == 3) chosen(where, a[2], a[0], a[1]);
        if (name.rfind("simd_shuffle", 0) == 0 && !a.empty() && a[0].scanned && only_reader(where))
            error(where, "a scan that only a shuffle reads: shift its input first, then scan");
        if (remainders_.count(name) && a.size() >= 2) remainder(where, a[0], a[1]);
        if (name == "sim_in_range") return a.empty() ? typed() : a[0];
        const auto size = sizes_.find(name);
        if (size != sizes_.end()) statements_ += copies_ * size->second;
        const auto own = results_.find(name);
        if (own != results_.end()) return own->second;
        static const std::set<std::string> booleans = {"isnan", "isinf",   "isfinite", "any",
                                                       "all",   "signbit", "simd_all", "simd_any"};
        if (booleans.count(name)) {
            typed r = named_type("bool");
            if (!a.empty() && name[0] == 'i') r.width = a[0].width;
            return r;
        }
        typed r;
        for (const typed &x : a) r = r.base.empty() ? x : x.pointer ? r : common(r, x);
        if (name.rfind("simd_", 0) == 0 || name.rfind("atomic_", 0) == 0 || name == "select")
            r = a.empty() ? typed() : a[0];
        r = unmoved(r);
        r.pointer = r.is_private = r.literal = r.folded = false;
        r.fixed = false;
        r.adds = 0;
        r.shuffled = name.rfind("simd_shuffle", 0) == 0;
        r.scanned = name.rfind("simd_prefix_", 0) == 0;
        return r;
    }

    /* Is the first argument of the call at `where` the only mention of its variable? */
    bool only_reader(size_t where) const {
        const size_t k = where + 2;
        if (!at(k + 1).is(",")) return true; /* the scan itself */
        unsigned n = 0;
        for (const function &f : p_.functions)
            if (f.body && k > f.body && k < f.body_end)
                for (size_t i = f.body; i < f.body_end; i++) n += at(i).is(at(k).text);
        return n == 2;
    }

    /* Functions that the compiler sees through and that return a - b * (a / b) or a % b. */
    std::set<std::string> remainders_;
    void find_remainders(const function &f) {
        for (size_t i = f.specifiers; i < f.open; i++)
            if (at(i).is("noinline")) return;
        for (size_t i = f.body; i < f.body_end; i++)
            if ((at(i).is("%") && at(i + 1).identifier()) ||
                (at(i).is("-") && at(i + 2).is("*") && at(i + 3).is("(") && at(i + 5).is("/")))
                remainders_.insert(std::string(f.name.text));
    }
};

} // namespace

void check_emitted(parsed &p) {
    rules(p).run();
    check_structure(p);
}

} // namespace sim
