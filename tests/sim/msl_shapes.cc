/* More of what Apple's compilers are known to get wrong: rules for emitted text that concern
 * loops, functions and declarations as a whole. Their sources stand in README.md. */
#include "msl.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

namespace sim {

namespace {

bool starts(const token &t, std::string_view with) { return t.text.rfind(with, 0) == 0; }

bool assigns(const token &t) {
    static const std::set<std::string_view> all = {"=",  "+=", "-=", "*=",  "/=", "%=",
                                                   "&=", "|=", "^=", "<<=", ">>="};
    return t.kind == token_kind::punctuation && all.count(t.text);
}

struct loop {
    size_t head = 0, open = 0, begin = 0, end = 0; /* `for`, its `(`, its body's tokens */
    bool   unrolled = false;
};

class shapes {
public:
    explicit shapes(parsed &p) : p_(p) {}

    void run() {
        for (const function &f : p_.functions) {
            if (!f.body) continue;
            if (!f.is_kernel) helper(f);
            else kernel(f);
        }
        for (size_t i = 0; i + 4 < p_.tokens().size(); i++) {
            tests_of_floats(i);
            if (at(i).is("switch")) simd_in_switch(i);
            if (at(i).is("{")) copied_literal(i);
        }
    }

private:
    parsed                           &p_;
    std::map<std::string_view, size_t> weight_; /* of functions: 64-bit products, when inlined */

    const token &at(size_t i) const { return p_.tokens()[std::min(i, p_.tokens().size() - 1)]; }
    void         error(size_t i, const std::string &text) { p_.error(at(i), text); }
    std::string  text_of(size_t from, size_t to) const {
         std::string s;
         for (size_t i = from; i < to; i++) s += std::string(at(i).text) + " ";
         return s;
    }
    bool has(size_t from, size_t to, std::string_view word) const {
        for (size_t i = from; i < to; i++)
            if (at(i).is(word)) return true;
        return false;
    }
    /* Just behind the statement at `i`. */
    size_t behind(size_t i) const {
        if (at(i).is("{")) return p_.match[i] + 1;
        if (at(i).is("if") || at(i).is("for") || at(i).is("while")) {
            size_t k = behind(p_.match[i + 1] + 1);
            return at(i).is("if") && at(k).is("else") ? behind(k + 1) : k;
        }
        while (!at(i).is(";") && at(i).kind != token_kind::end)
            i = p_.match[i] > i ? p_.match[i] + 1 : i + 1;
        return i + 1;
    }

    /* -- Functions that kernels call ----------------------------------------------------------- */

    void helper(const function &f) {
        const size_t from = f.specifiers;
        const bool   forced = has(from, f.open, "always_inline");
        for (size_t i = f.open + 1; i < f.close;) {
            size_t end = i;
            while (end < f.close && !at(end).is(","))
                end = p_.match[end] > end ? p_.match[end] + 1 : end + 1;
            parameter_of(f, i, end, forced);
            i = end + 1;
        }
        products(f, has(from, f.open, "noinline"));
        if (p_.type_names.count(at(f.open - 2).text)) returned(f);
    }

    void parameter_of(const function &f, size_t from, size_t to, bool forced) {
        const bool array = has(from, to, "["), by_value = !has(from, to, "*") && !has(from, to, "&");
        size_t     name = to - 1;
        while (name > from && (at(name).is("]") || at(name).is(")")))
            name = p_.match[name] && at(name).is("]") ? p_.match[name] - 1 : name - 1;
        if (array && !forced)
            error(name, "arrays as parameters lose their indices in functions that are not "
                        "inlined: declare always_inline");
        if (has(from, to, "device") && !has(from, to, "const") && !by_value) output(f, from, to, name);
        for (size_t i = from; by_value && i < name; i++)
            if (at(i).is("half") || at(i).is("half2") || at(i).is("half3") || at(i).is("half4"))
                half_parameter(f, name);
    }

    void half_parameter(const function &f, size_t name) {
        for (size_t i = f.body; i < f.body_end; i++)
            if (at(i).is(at(name).text) && !at(i - 1).is(".") &&
                !(at(i - 1).is("(") && at(i + 1).is(")") &&
                  (starts(at(i - 2), "float") || at(i - 2).is(">"))))
                error(i, "a half parameter of a function loses its fraction: convert it to float "
                         "first");
    }

    /* A pointer that is written through; atomics have no result that could be kept in a local. */
    void output(const function &f, size_t from, size_t to, size_t name) {
        for (size_t i = from; i < to; i++)
            if (starts(at(i), "atomic_")) return;
        for (size_t i = f.body; i < f.body_end; i++) {
            if (!at(i).is(at(name).text)) continue;
            const size_t k = at(i - 1).is("(") ? i - 1 : i;
            const bool   atomic = at(k - 1).is(")") && at(k - 2).is("*") && starts(at(k - 3), "atomic_");
            const bool   address = k < i && at(k - 1).is(">") && at(k - 2).is("ulong");
            if (!atomic && !address)
                return error(name, "an output buffer as a parameter crashes the compiler: return "
                                   "the value and store it in the kernel");
        }
    }

    /* Callees stand above their callers. */
    void products(const function &f, bool apart) {
        size_t n = 0;
        bool   wide = false;
        for (size_t i = f.specifiers; i < f.body_end; i++) {
            wide |= at(i).is("ulong") || at(i).is("long");
            if (i < f.body) continue;
            const auto callee = weight_.find(at(i).text);
            if (at(i + 1).is("(") && callee != weight_.end()) n += callee->second;
            n += at(i).is("mulhi") || (at(i).is("*") && value_ends(i - 1));
        }
        if (!wide) n = 0;
        if (n > most_products && !apart)
            error(f.open - 1, "64-bit products lose operands under register pressure (" +
                                  std::to_string(n) + " in this function): declare it noinline");
        weight_[f.name.text] += apart ? 0 : n;
    }
    static const size_t most_products = 4;

    bool value_ends(size_t i) const {
        return (at(i).identifier() && !p_.is_type(i)) || at(i).kind == token_kind::number ||
               at(i).is("]") || (at(i).is(")") && !at(i - 1).is("*"));
    }

    void returned(const function &f) {
        const std::string_view type = at(f.open - 2).text;
        for (size_t i = 0; i + 3 < f.specifiers; i++) {
            if (!at(i).is("struct") || !at(i + 1).is(type) || !at(i + 2).is("{")) continue;
            size_t words = 0;
            for (size_t k = i + 3; k < p_.match[i + 2]; k++)
                if (at(k).is(";") || at(k).is(",")) words++;
                else if (at(k).is("[") && at(k + 1).kind == token_kind::number)
                    words += std::strtoul(std::string(at(k + 1).text).c_str(), nullptr, 0);
            if (words > 16)
                error(f.open - 1, "large structs that a function returns are spilled, and spilled "
                                  "objects get wrong addresses: return less");
        }
    }

    /* -- Kernels ------------------------------------------------------------------------------- */

    std::vector<loop>                  loops_;
    std::map<std::string_view, std::vector<size_t>> arrays_; /* private: where they are declared */
    std::set<std::string_view>         shared_;           /* threadgroup arrays and pointers */

    void kernel(const function &f) {
        loops_.clear(), arrays_.clear(), shared_.clear();
        size_t matrices = 0, shared = 0;
        for (size_t i = f.body + 1; i < f.body_end; i++) {
            if (at(i).is("for") || at(i).is("while")) add_loop(i);
            matrices += starts(at(i), "simdgroup_") && !at(i).is("simdgroup_barrier");
            if (at(i).is("threadgroup") && !at(i - 1).is("(")) shared += threadgroup_name(i);
            else if (p_.is_type(i) && at(i + 1).identifier() && at(i + 2).is("[") &&
                     !at(i - 1).is("threadgroup"))
                private_array(i);
        }
        if (matrices && shared > most_shared)
            error(f.open - 1, std::to_string(shared) + " threadgroup arrays beside products crash "
                                                       "the compiler: declare one");
        for (const loop &l : loops_) {
            rotation(l);
            stale_loads(l);
        }
        reads_under_masks(f);
        stores_by_address();
    }
    static const size_t most_shared = 2;

    void add_loop(size_t i) {
        loop l;
        l.head = i, l.open = i + 1, l.begin = p_.match[i + 1] + 1, l.end = behind(l.begin);
        for (const directive &d : p_.lexed.directives)
            l.unrolled |= d.line + 1 == at(i).line && d.rest.find("unroll(full)") != std::string::npos;
        if (!at(l.begin).is(";")) loops_.push_back(l);
    }

    size_t threadgroup_name(size_t i) {
        size_t k = i;
        while (!at(k).is("[") && !at(k).is("=") && !at(k).is(";")) k++;
        if (at(k - 1).identifier()) shared_.insert(at(k - 1).text);
        return at(k).is("[");
    }

    /* `float a[4] = {}, c[4];`: all of them. */
    void private_array(size_t i) {
        for (size_t k = i + 1; !at(k).is(";") && at(k).kind != token_kind::end;
             k = p_.match[k] > k ? p_.match[k] + 1 : k + 1)
            if (at(k).identifier() && at(k + 1).is("[") && (k == i + 1 || at(k - 1).is(",")))
                arrays_[at(k).text].push_back(i);
        if (at(i).is("bfloat") || at(i).is("bfloat2") || at(i).is("bfloat3") || at(i).is("bfloat4"))
            error(i, "arrays of bfloat in registers are miscompiled: hold float, or the bits as "
                     "ushort");
    }

    /* Loops in it that are unrolled leave scalars: they are none over elements. */
    bool element_loop(const loop &l) const {
        for (size_t i = l.begin; i < l.end; i++) {
            for (const loop &in : loops_)
                if (in.unrolled && in.head == i) i = in.end;
            if (i < l.end && arrays_.count(at(i).text) && at(i + 1).is("[")) return true;
        }
        return false;
    }

    /* In a loop of several rounds: elements copied from one carried array to another, maybe
     * through a scalar, though the former is written there too; and more than one loop over
     * elements. */
    void rotation(const loop &outer) {
        if (outer.unrolled) return;
        size_t inner = 0;
        for (const loop &l : loops_)
            inner += l.head > outer.begin && l.end <= outer.end && !l.unrolled && element_loop(l);
        if (inner < 2) return;
        std::set<std::string_view>                   written;
        std::map<std::string_view, std::string_view> holds; /* scalars: an element of which array */
        for (size_t i = outer.begin; i < outer.end; i++)
            if (element(i) && assigns(at(p_.match[i + 1] + 1))) written.insert(at(i).text);
        for (size_t i = outer.begin; i < outer.end; i++) {
            if (at(i).identifier() && at(i + 1).is("=") && copied(i + 2))
                holds[at(i).text] = at(i + 2).text;
            const size_t eq = element(i) ? p_.match[i + 1] + 1 : 0;
            if (!eq || !at(eq).is("=") || declared(i) > outer.head) continue;
            const auto held = holds.find(at(eq + 1).text);
            std::string_view from;
            if (copied(eq + 1)) from = at(eq + 1).text;
            else if (held != holds.end() && at(eq + 2).is(";")) from = held->second;
            if (from.empty() || from == at(i).text || !written.count(from)) continue;
            if (declared(from, i) < outer.head)
                return error(i, "carried arrays that change places in a loop with several loops "
                                "over elements are wrong from round 2 on: unroll those loops "
                                "fully, or use one loop and scalars");
        }
    }
    /* Is the rest of the statement from `i` on an element of a private array? */
    bool copied(size_t i) const { return element(i) && at(p_.match[i + 1] + 1).is(";"); }
    /* Where the array that is named at `i` is declared: in the nearest block around it. */
    size_t declared(std::string_view name, size_t i) const {
        size_t found = 0;
        for (const size_t where : arrays_.at(name)) {
            size_t end = where;
            while (end < i && !at(end).is("}")) end = at(end).is("{") ? p_.match[end] + 1 : end + 1;
            if (where < i && end >= i) found = where;
        }
        return found;
    }
    size_t declared(size_t i) const { return declared(at(i).text, i); }
    bool element(size_t i) const { return arrays_.count(at(i).text) && at(i + 1).is("["); }

    /* A load that does not change in a loop that also stores to that buffer. */
    void stale_loads(const loop &l) {
        std::set<std::string_view> changing, stored;
        for (size_t i = l.open; i < l.end; i++) {
            if (at(i).identifier() && (assigns(at(i + 1)) || at(i + 1).is("++") || at(i - 1).is("++")))
                changing.insert(at(i).text);
            const size_t close = at(i + 1).is("[") ? p_.match[i + 1] : 0;
            if (at(i).identifier() && close && assigns(at(close + 1))) {
                changing.insert(at(i).text);
                if (buffer(i)) stored.insert(at(i).text);
            }
        }
        for (size_t i = l.begin; i < l.end; i++) {
            if (!stored.count(at(i).text) || !at(i + 1).is("[") || at(i - 1).is("&")) continue;
            const size_t close = p_.match[i + 1];
            bool         fixed = !assigns(at(close + 1));
            for (size_t k = i + 2; k < close; k++) fixed &= !changing.count(at(k).text) && !at(k).is("(");
            if (fixed && !has(l.begin, l.end, "threadgroup_barrier"))
                error(i, "a load from a buffer that the loop also stores to may be hoisted out of "
                         "it: read through a volatile pointer");
        }
    }
    /* A pointer to device memory that is not volatile. */
    bool buffer(size_t i) const {
        for (size_t k = 1; k < i; k++)
            if (at(k).is(at(i).text) && (at(k - 1).is("*") || at(k - 2).is("*")) &&
                !at(k + 1).is("[")) {
                size_t from = k;
                while (from > 0 && !at(from).is(";") && !at(from).is("{") && !at(from).is(",") &&
                       !at(from).is("("))
                    from--;
                return has(from, k, "device") && !has(from, k, "volatile");
            }
        return false;
    }

    /* -- Reads of threadgroup memory ----------------------------------------------------------- */

    struct frame {
        size_t end;
        bool   condition, barrier, loop;
    };

    void reads_under_masks(const function &f) {
        std::vector<frame> open = {{f.body_end, false, false, false}};
        for (size_t i = f.body + 1; i < f.body_end; i++) {
            while (open.size() > 1 && i >= open.back().end) {
                const bool barrier = open.back().barrier;
                open.pop_back();
                open.back().barrier |= barrier;
            }
            if (at(i).is("threadgroup_barrier")) open.back().barrier = true;
            if (at(i).is("if")) {
                const size_t from = p_.match[i + 1] + 1;
                open.push_back({behind(from), true, false, false});
                i = from - 1;
            } else if (at(i).is("else")) open.push_back({behind(i + 1), true, false, false});
            else if (at(i).is("for") || at(i).is("while"))
                open.push_back({behind(p_.match[i + 1] + 1), false, false, true});
            else if (shared_.count(at(i).text) && at(i + 1).is("[") && !at(i - 1).is("&") &&
                     !assigns(at(p_.match[i + 1] + 1)) && masked(open))
                error(i, "a read of threadgroup memory under a condition behind a barrier: bind it "
                         "to a local before the condition");
        }
    }

    /* Not in a loop under the condition, where each round reads something else. */
    static bool masked(const std::vector<frame> &open) {
        bool condition = false, loop = false;
        for (auto f = open.rbegin(); f != open.rend(); ++f) {
            if (f->barrier) return condition;
            if (f->condition && loop) return false;
            condition |= f->condition;
            loop |= f->loop;
        }
        return false;
    }

    /* -- Stores by addresses that were integers ------------------------------------------------ */

    void stores_by_address() {
        std::set<size_t> seen;
        for (const loop &l : loops_)
            for (size_t i = l.begin; i + 3 < l.end; i++) {
                if (!at(i).is("reinterpret_cast") || !at(i - 1).is("*") || !at(i + 2).is("device"))
                    continue;
                size_t open = i + 2;
                while (!at(open).is("(")) open++;
                if (assigns(at(p_.match[open] + 1)) && stride(open, p_.match[open]) &&
                    seen.insert(i).second)
                    error(i, "a store by an address computed from a stride at run time may be "
                             "dropped: index a typed pointer");
            }
    }
    bool stride(size_t from, size_t to) const {
        for (size_t i = from + 1; i < to; i++)
            if (at(i).is("*") && value_ends(i - 1) && at(i - 1).kind != token_kind::number &&
                at(i + 1).kind != token_kind::number)
                return true;
        return false;
    }

    /* -- Expressions anywhere ------------------------------------------------------------------ */

    void tests_of_floats(size_t i) {
        if (at(i).is("!") && at(i + 1).is("(")) {
            const size_t end = p_.match[i + 1];
            if ((at(end - 1).is("INFINITY") || at(end - 1).is("MAXFLOAT") || at(end - 1).is("FLT_MAX")) &&
                (at(end - 2).is("<") || at(end - 2).is("<=")))
                error(i, "NaN or infinity by one comparison is miscompiled: test the bits");
        }
        const bool nan = at(i).is("isnan"), inf = at(i).is("isinf");
        if ((!nan && !inf) || !at(i + 1).is("(")) return;
        const size_t end = p_.match[i + 1];
        if ((at(end + 1).is("||") || at(end + 1).is("|")) && at(end + 2).is(nan ? "isinf" : "isnan") &&
            text_of(i + 2, end) == text_of(end + 4, p_.match[end + 3]))
            error(i, "NaN or infinity by one comparison is miscompiled: test the bits");
    }

    void simd_in_switch(size_t i) {
        const size_t open = p_.match[i + 1] + 1;
        for (size_t k = open; k < p_.match[open]; k++)
            if ((starts(at(k), "simd_") || starts(at(k), "quad_")) && at(k + 1).is("("))
                error(k, "simd functions in a switch ignore which lanes are active: write if and "
                         "else");
    }

    /* `{a.x, a.y, 1.0f, a.w}`: a copy of `a` with one member changed. */
    void copied_literal(size_t open) {
        if (!at(open - 1).is("=") && !at(open - 1).identifier() && !at(open - 1).is(",") &&
            !at(open - 1).is("{") && !at(open - 1).is("return"))
            return;
        size_t                             parts = 1;
        std::map<std::string_view, size_t> of;
        for (size_t i = open + 1; i < p_.match[open]; i++) {
            if (at(i).is(";")) return;
            parts += at(i).is(",");
            if (at(i).identifier() && at(i + 1).is(".") && at(i + 2).identifier() &&
                (at(i + 3).is(",") || at(i + 3).is("}")) && (at(i - 1).is(",") || at(i - 1).is("{")))
                of[at(i).text]++;
            if ((at(i).is("{") || at(i).is("(")) && at(open - 1).is("=")) i = p_.match[i];
        }
        for (const auto &v : of)
            if (parts >= 3 && v.second + 1 == parts)
                error(open, "a literal that repeats all members of '" + std::string(v.first) +
                                "' but one takes the compiler long: copy it, then assign the one");
    }
};

} // namespace

void check_structure(parsed &p) { shapes(p).run(); }

} // namespace sim
