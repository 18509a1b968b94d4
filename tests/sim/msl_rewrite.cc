/* Turns checked Metal text into C++ for OpenCL. Most of Metal needs only macros; what needs edits:
 *
 *     [[attributes]], kernel      taken out; they have been read
 *     threadgroup variables       references to memory that the simulator hands out
 *     a / b, a % b                watched division, see sim/core.h
 *     c ? a : b                   operands become values, see sim/core.h
 *     v.xz                        member functions
 *     1.0bf                       bfloat(1.0f)
 *     names that OpenCL reserves  renamed
 *
 * After each kernel, on the line of its closing brace, comes the function that the simulator calls:
 * it fetches the arguments and calls the kernel. */
#include "msl.h"

#include "include/sim/runtime.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace sim {

namespace {

class rewriter {
public:
    rewriter(parsed &p, unsigned unit) : p_(p), unit_(unit) {}

    rewritten run() {
        for (const directive &d : p_.lexed.directives) rewrite_directive(d);
        for (const token &t : p_.tokens())
            if (t.is("kernel")) blank(t.offset, t.text.size());
        for (size_t i = 0; i + 1 < p_.tokens().size(); i++)
            if (at(i).is("[[") && p_.foreign() && at(i + 1).is("function_constant") &&
                at(p_.match[i] + 1).is(";"))
                replace(at(i).offset, at(p_.match[i]).offset + 1 - at(i).offset, "= 0");
            else if (at(i).is("[[")) blank(at(i).offset, at(p_.match[i]).offset + 1 - at(i).offset);
        expressions(p_.tokens());
        for (size_t i = 0; i + 1 < p_.tokens().size(); i++) coherent(i);
        for (function &f : p_.functions)
            if (f.body && p_.foreign()) inner_group_variables(f);
            else if (f.body && f.is_kernel) rewrite_kernel(f);
            else if (f.body && !f.is_member)
                insert(at(f.specifiers).offset, "inline __attribute__((always_inline)) ");
        apply();
        return std::move(out_);
    }

private:
    parsed           &p_;
    unsigned          unit_;
    rewritten         out_;
    std::vector<edit> edits_;

    const token       &at(size_t i) const { return p_.tokens()[i]; }
    const std::string &text() const { return p_.from->text; }

    void replace(size_t offset, size_t bytes, const std::string &by) {
        edits_.push_back({offset, bytes, by});
    }
    void insert(size_t offset, const std::string &what) { edits_.push_back({offset, 0, what}); }
    void blank(size_t offset, size_t bytes) {
        std::string spaces = text().substr(offset, bytes);
        for (char &c : spaces)
            if (c != '\n') c = ' ';
        replace(offset, bytes, spaces);
    }

    /* -- Directives ---------------------------------------------------------------------------- */

    void rewrite_directive(const directive &d) {
        if (d.name == "include") blank(d.offset, d.bytes);
        if (p_.foreign() && d.name == "pragma" && d.rest.rfind("unroll", 0) == 0)
            blank(d.offset, d.bytes);
        if (d.name == "define") expressions(d.tokens);
        if (d.name == "pragma" && d.rest.rfind("METAL", 0) == 0) pragma(d);
    }

    /* Contraction is clang's to decide; math modes change nothing here, where all math is safe. */
    void pragma(const directive &d) {
        const bool contract = d.rest.find("contract") != std::string::npos;
        const bool off = d.rest.find("off") != std::string::npos;
        if (contract && d.bytes >= 8)
            replace(d.offset, d.bytes,
                    std::string("#pragma clang fp contract(") + (off ? "off)" : "on)"));
        else blank(d.offset, d.bytes);
    }

    /* -- Expressions --------------------------------------------------------------------------- */

    void expressions(const std::vector<token> &tokens) {
        std::vector<size_t> brackets; /* how many `?` wait for their `:` in each open bracket */
        brackets.push_back(0);
        for (size_t i = 0; i < tokens.size(); i++) {
            const token &t = tokens[i];
            choice(t, brackets);
            if (p_.foreign() && t.is("*")) function_pointer(tokens, i);
            if (p_.foreign() && (t.is("/") || t.is("%") || t.is("/=") || t.is("%="))) continue;
            if (t.is("/")) replace(t.offset, 1, "* ::sim::divide() *");
            else if (t.is("%")) replace(t.offset, 1, "* ::sim::remainder() *");
            else if (t.is("/=")) replace(t.offset, 2, "*= ::sim::divide() +=");
            else if (t.is("%=")) replace(t.offset, 2, "*= ::sim::remainder() +=");
            else if (t.kind == token_kind::number) literal(t);
            else if (t.identifier()) identifier(tokens, i);
        }
    }

    /* `c ? (void)0 : f()`, or the other way round. */
    static bool chooses_nothing(const token *t) {
        const auto nothing = [](const token *k) {
            return k[1].is("(") && (k[2].is("void") || (k[2].is("(") && k[3].is("void")));
        };
        if (nothing(t)) return true;
        int depth = 0;
        for (t++; t->kind != token_kind::end && !t->is(";"); t++) {
            depth += t->is("(") - t->is(")");
            if (depth < 0) return false;
            if (!depth && t->is(":")) return nothing(t);
        }
        return false;
    }

    /* `?` and the `:` that belongs to one; other colons (labels, cases) have no `?` before them. */
    void choice(const token &t, std::vector<size_t> &brackets) {
        if (t.is("(") || t.is("[") || t.is("{") || t.is("[[")) brackets.push_back(0);
        if ((t.is(")") || t.is("]") || t.is("}")) && brackets.size() > 1) brackets.pop_back();
        if (t.is(";")) brackets.back() = 0;
        if (p_.foreign() && t.is("?") && chooses_nothing(&t)) return; /* its colon neither */
        const bool colon = t.is(":") && brackets.back();
        if (t.is("?")) brackets.back()++;
        if (colon) brackets.back()--;
        if (t.is("?") || colon) insert(t.offset + 1, " ::sim::value() ->*");
    }

    /* `void (*f)(...)` as a parameter of a template: clang puts what it points to into a space of
     * its own. */
    void function_pointer(const std::vector<token> &tokens, size_t i) {
        if (i < 2 || i + 3 >= tokens.size() || !tokens[i - 1].is("(") ||
            !tokens[i - 2].identifier())
            return;
        const size_t close = tokens[i + 1].identifier() ? i + 2 : i + 1;
        if (tokens[close].is(")") && tokens[close + 1].is("(") && p_.is_builtin_type(i - 2))
            replace(tokens[i].offset, 1, "&");
    }

    void literal(const token &t) {
        const std::string s(t.text);
        const bool        hex = s.size() > 1 && (s[1] | 32) == 'x';
        const bool        real = s.find_first_of(hex ? "pP" : ".eE") != s.npos &&
                          (std::isdigit(static_cast<unsigned char>(s.back())) || s.back() == '.');
        if (real && p_.foreign())
            return insert(t.offset + s.size(), "f"); /* no double, in templates neither */
        if (s.size() > 2 && s.compare(s.size() - 2, 2, "bf") == 0 &&
            (s[1] != 'x' || s.find('p') != std::string::npos))
            replace(t.offset, s.size(), "::metal::bfloat(" + s.substr(0, s.size() - 2) + "f)");
    }

    void identifier(const std::vector<token> &tokens, size_t i) {
        static const std::set<std::string_view> opencl = {
            "global",       "local",     "generic",        "pipe",      "read_only", "write_only",
            "read_write",   "vec_step",  "addrspace_cast", "event_t",   "queue_t",   "clk_event_t",
            "reserve_id_t", "sampler_t", "image1d_t",      "image2d_t", "image3d_t"};
        const token &t = tokens[i];
        if (opencl.count(t.text))
            replace(t.offset, t.text.size(), "sim_name_" + std::string(t.text));
        if (i && (tokens[i - 1].is(".") || tokens[i - 1].is("->"))) swizzle(tokens, i);
        if (p_.foreign()) foreign_word(tokens, i);
    }

    void foreign_word(const std::vector<token> &tokens, size_t i) {
        const token &t = tokens[i];
        if (t.is("thread") && p_.has_methods && deduced(tokens, i))
            return replace(t.offset, t.text.size(), "__generic");
        if (t.text.rfind("__metal_", 0) == 0)
            return replace(t.offset, t.text.size(), "::sim::internal");
        if (i + 3 < tokens.size() && p_.is_builtin_type(i) && t.text.find('x') == t.text.npos &&
            t.text.back() >= '2' && t.text.back() <= '4' && tokens[i + 1].identifier() &&
            tokens[i + 2].is("=") && tokens[i + 3].is("{"))
            insert(tokens[i + 3].offset, "::sim::listed<" + std::string(t.text) + ">");
        if (t.is("uint") && i && (tokens[i - 1].is("<") || tokens[i - 1].is(",")) &&
            sizes_vectors(tokens, i + 1))
            return replace(t.offset, 4, "int");
        method_space(tokens, i);
    }

    /* `thread T *` of a function template: the space is no part of T. (Of `thread T &` it is, see
     * build.cc.) */
    bool deduced(const std::vector<token> &tokens, size_t i) const {
        if (i + 2 >= tokens.size() || !p_.type_names.count(tokens[i + 1].text) ||
            p_.is_builtin_type(i + 1) || !tokens[i + 2].is("*"))
            return false;
        return std::any_of(p_.functions.begin(), p_.functions.end(), [&](const function &f) {
            return f.is_template && !f.is_member && i > f.open && i < f.close;
        });
    }

    /* A parameter of a template, `uint N`, that is a `vec<T, N>` soon: its type here is int. */
    bool sizes_vectors(const std::vector<token> &tokens, size_t name) const {
        for (size_t i = name + 1; i + 4 < tokens.size() && i < name + 60; i++)
            if (tokens[i].is("vec") && tokens[i + 3].is(",") && tokens[i + 4].is(tokens[name].text))
                return true;
        return false;
    }

    /* Behind a method's parameters: `thread` is where any object may be for clang; `constant`
     * without the const that the macro has, which a constructor may not. */
    void method_space(const std::vector<token> &tokens, size_t i) {
        size_t k = i;
        while (k && (tokens[k - 1].is("const") || tokens[k - 1].is("volatile"))) k--;
        const bool space = tokens[i].is("thread") || tokens[i].is("constant");
        if (!space || !k || !tokens[k - 1].is(")") || i + 1 >= tokens.size()) return;
        const token &next = tokens[i + 1];
        if (!next.is("{") && !next.is(":") && !next.is(";") && !next.is("=") && !next.is("->"))
            return;
        replace(tokens[i].offset, tokens[i].text.size(),
                tokens[i].is("thread") ? "" : "__constant");
    }

    /* Not when a struct of the text has a member of that name. */
    void swizzle(const std::vector<token> &tokens, size_t i) {
        const std::string_view s = tokens[i].text;
        if (p_.foreign() && s.size() == 1 && !p_.member_names.count(s) &&
            std::string_view("rgba").find(s) != s.npos)
            return replace(tokens[i].offset, 1,
                           std::string(1, "xyzw"[std::string("rgba").find(s)]));
        if (s.size() < 2 || s.size() > 4 || (i + 1 < tokens.size() && tokens[i + 1].is("(")))
            return;
        if (s.find_first_not_of("xyzw") != std::string_view::npos &&
            s.find_first_not_of("rgba") != std::string_view::npos)
            return;
        if (p_.member_names.count(s)) return;
        static const std::set<std::string_view> assigns = {"=", "+=", "-=", "*=", "/="};
        std::string                             call =
            i + 1 < tokens.size() && assigns.count(tokens[i + 1].text) ? "sim_set<1" : "sim_get<1";
        for (char c : s) call += std::to_string(std::string("xyzwrgba").find(c) % 4);
        replace(tokens[i].offset, s.size(), call + ">()");
    }

    /* `coherent(device) T *` and `coherent device T *`: every access happens and is seen. */
    void coherent(size_t i) {
        if (!at(i).is("coherent")) return;
        if (p_.foreign() && at(i + 1).is("(") && !at(i + 2).is("device"))
            replace(at(i).offset, at(i + 3).offset + 1 - at(i).offset, "volatile");
        else if (at(i + 1).is("(") && at(i + 2).is("device") && at(i + 3).is(")"))
            replace(at(i).offset, at(i + 3).offset + 1 - at(i).offset, "volatile device");
        else replace(at(i).offset, at(i).text.size(), "volatile");
    }

    /* -- Kernels ------------------------------------------------------------------------------- */

    void rewrite_kernel(function &f) {
        group_variables(f);
        kernel k;
        k.name = std::string(f.name.text);
        k.unit = unit_;
        k.symbol = "sim_entry_" + std::to_string(unit_) + "_" + std::to_string(out_.kernels.size());
        for (const attribute &a : f.attributes) {
            if (a.name == "max_total_threads_per_threadgroup")
                k.max_threads = static_cast<unsigned>(std::strtoul(a.argument.c_str(), nullptr, 0));
            if (a.name == "host_name")
                k.name =
                    a.argument.size() > 2 ? a.argument.substr(1, a.argument.size() - 2) : k.name;
        }
        for (const parameter &r : f.parameters) add_argument(k, r);
        insert(at(f.body_end).offset + 1, entry(f, k));
        out_.kernels.push_back(k);
    }

    static std::string type_text(const parameter &r, bool pointee) {
        std::string s;
        const bool  coherent = has(r, "coherent");
        for (const token &t : r.type) {
            if (t.is("__restrict") || (t.is("coherent") && pointee)) continue;
            if (coherent && (t.is("(") || t.is(")"))) continue;
            if (pointee && (t.is("*") || t.is("&"))) break;
            if (pointee && (t.is("device") || t.is("constant") || t.is("threadgroup") ||
                            t.is("const") || t.is("volatile")))
                continue;
            s += t.is("&") ? "*" : t.is("coherent") ? "volatile" : std::string(t.text);
            s += ' ';
        }
        return s;
    }

    static bool has(const parameter &r, const char *word) {
        return std::any_of(r.type.begin(), r.type.end(),
                           [&](const token &t) { return t.is(word); });
    }

    static const attribute *find_attribute(const parameter &r, const char *name) {
        for (const attribute &a : r.attributes)
            if (a.name == name) return &a;
        return nullptr;
    }

    static void add_argument(kernel &k, const parameter &r) {
        const attribute *buffer = find_attribute(r, "buffer"),
                        *group = find_attribute(r, "threadgroup");
        if (!buffer && !group) return;
        argument a;
        a.name = std::string(r.name.text);
        a.type = type_text(r, false);
        a.index = static_cast<unsigned>(
            std::strtoul((buffer ? buffer : group)->argument.c_str(), nullptr, 0));
        a.where = group ? space::threadgroup : has(r, "constant") ? space::constant : space::device;
        a.read_only = has(r, "constant") || const_pointee(r);
        a.reference = has(r, "&");
        k.arguments.push_back(a);
    }

    /* A const before the star belongs to what is pointed to. */
    static bool const_pointee(const parameter &r) {
        for (const token &t : r.type) {
            if (t.is("*") || t.is("&")) return false;
            if (t.is("const")) return true;
        }
        return false;
    }

    static std::string argument_text(const parameter &r) {
        if (const attribute *b = find_attribute(r, "buffer")) return fetch(r, b->argument);
        if (const attribute *g = find_attribute(r, "threadgroup"))
            return fetch(r, std::to_string(31 + std::strtoul(g->argument.c_str(), nullptr, 0)));
        for (const attribute &a : r.attributes)
            if (const builtin_input *b = find_builtin(a.name)) return builtin_text(r, b->id);
        return "0";
    }
    static std::string fetch(const parameter &r, const std::string &index) {
        return std::string(has(r, "&") ? "*" : "") + "(" + type_text(r, false) + ")sim_arg(" +
               index + ")";
    }
    static std::string builtin_text(const parameter &r, unsigned id) {
        const char     last = r.type.back().text.back();
        const unsigned n = last == '2'   ? (r.type.back().text.rfind("uint32", 0) == 0 ? 1 : 2)
                           : last == '3' ? 3
                                         : 1;
        std::string    s = type_text(r, false) + "(";
        for (unsigned i = 0; i < n; i++)
            s += (i ? ", sim_builtin(" : "sim_builtin(") + std::to_string(id + i) + ")";
        return s + ")";
    }

    static std::string entry(const function &f, const kernel &k) {
        std::string call = std::string(f.name.text) + "(";
        for (size_t i = 0; i < f.parameters.size(); i++)
            call += (i ? ", " : "") + argument_text(f.parameters[i]);
        std::string s = " extern \"C\" void " + k.symbol + "() { " + call + "); }";
        s += " extern \"C\" unsigned long " + k.symbol + "_info(unsigned i) { switch (i) {";
        unsigned n = 0;
        for (const parameter &r : f.parameters) {
            if (!find_attribute(r, "buffer") && !find_attribute(r, "threadgroup")) continue;
            std::string type = type_text(r, true);
            if (type == "void ") type = "char ";
            s += " case " + std::to_string(n++) + ": return sizeof(" + type + ") | alignof(" +
                 type + ") << 32;";
        }
        return s + " } return 0; }";
    }

    /* -- Threadgroup variables ----------------------------------------------------------------- */

    void group_variables(const function &f) {
        std::string sizes;
        unsigned    id = 0;
        size_t      last_end = 0;
        for (size_t i = f.body + 1; i < f.body_end; i = skip_statement(i, f.body_end)) {
            const size_t end = statement_end(i, f.body_end);
            if (!group_declaration(i, end)) continue;
            declare(i, end, id, sizes);
            last_end = at(end).offset + 1;
        }
        if (last_end) insert(last_end, size_limit(sizes));
    }

    /* Of any function, in any block; the sizes are those of a kernel's outermost block. */
    void inner_group_variables(const function &f) {
        std::string sizes;
        unsigned    id = 0;
        size_t      last_end = 0;
        for (size_t i = f.body + 1; i < f.body_end; i++) {
            if (at(i).is("}") || (!at(i - 1).is(";") && !at(i - 1).is("{") && !at(i - 1).is("}")))
                continue;
            const size_t end = statement_end(i, f.body_end);
            if (!group_declaration(i, end)) continue;
            std::string inner;
            const bool  outermost =
                std::none_of(p_.tokens().begin() + static_cast<long>(f.body) + 1,
                             p_.tokens().begin() + static_cast<long>(i), [&](const token &t) {
                                 return t.is("{") && p_.match[static_cast<size_t>(&t - &at(0))] > i;
                             });
            declare(i, end, id, outermost ? sizes : inner);
            if (outermost) last_end = at(end).offset + 1;
        }
        if (last_end && !f.is_template)
            insert(last_end, size_limit(sizes)); /* not all instances are used */
    }

    static std::string size_limit(const std::string &sizes) {
        return " static_assert(::sim::group_bytes(" + sizes +
               ") <= 32768, \"threadgroup memory\");";
    }

    size_t statement_end(size_t i, size_t stop) const {
        while (i < stop && !at(i).is(";")) i = p_.match[i] > i ? p_.match[i] + 1 : i + 1;
        return i;
    }
    /* A block is a statement of its own; what stands in it is not at the outermost level. */
    size_t skip_statement(size_t i, size_t stop) const {
        for (; i<stop; i = p_.match[i]> i ? p_.match[i] + 1 : i + 1) {
            if (at(i).is(";")) return i + 1;
            if (at(i).is("{")) return p_.match[i] + 1;
        }
        return stop;
    }

    /* A declaration of memory, not of a pointer to it. */
    bool group_declaration(size_t i, size_t end) const {
        bool group = false;
        for (; i<end; i = p_.match[i]> i ? p_.match[i] + 1 : i + 1) {
            if (at(i).is("threadgroup")) group = true;
            if (p_.foreign() && group && (at(i).is("=") || at(i).is("{"))) return true;
            if (at(i).is("*") || at(i).is("&") || at(i).is("=") || at(i).is("typedef") ||
                at(i).is("using") || at(i).is("return") || at(i).is("{"))
                return false;
            if (at(i).is("(") && (at(i + 1).is("&") || at(i + 1).is("*"))) return false;
        }
        return group;
    }

    std::string slice(size_t first, size_t last) const { /* tokens [first, last), on one line */
        std::string s;
        for (size_t i = first; i < last; i++) s += std::string(at(i).text) + " ";
        return s;
    }

    /* `alignas(16) threadgroup float a[4], b;` becomes
     * `typedef float sim_type_a[4], sim_type_b; threadgroup sim_type_a &a =
     *  *(threadgroup sim_type_a *)sim_threadgroup(0, ...); ...` */
    void declare(size_t begin, size_t end, unsigned &id, std::string &sizes) {
        std::string         align, type;
        std::vector<size_t> names; /* tokens */
        int                 angle = 0;
        size_t              i = begin;
        for (; i < end; i++) {
            if (at(i).is("threadgroup")) continue;
            if (at(i).is("alignas") || at(i).is("__attribute__")) {
                align = alignment(i);
                i = p_.match[i + 1];
                continue;
            }
            if (at(i).identifier() && !angle &&
                (at(i + 1).is(";") || at(i + 1).is("=") || at(i + 1).is("{") || at(i + 1).is(",") ||
                 at(i + 1).is("[") || at(i + 1).is("__attribute__")) &&
                !type.empty())
                break;
            angle += at(i).is("<") - at(i).is(">");
            type += std::string(at(i).text) + " ";
        }
        std::string types = "typedef " + type, variables;
        while (i < end) {
            const std::string name(at(i).text);
            size_t            stop = i + 1;
            while (stop < end && !at(stop).is("=") && !at(stop).is("{") && !at(stop).is(",") &&
                   !at(stop).is("__attribute__"))
                stop = p_.match[stop] > stop ? p_.match[stop] + 1 : stop + 1;
            types += (names.empty() ? "" : ", ") + ("sim_type_" + name) + " " + slice(i + 1, stop);
            if (at(stop).is("__attribute__")) {
                align = alignment(stop);
                stop = p_.match[stop + 1] + 1;
            }
            names.push_back(i);
            const std::string own = "alignof(sim_type_" + name + ")",
                              a = align.empty() ? own
                                                : "::sim::larger_of(" + own + ", " + align + ")";
            variables += "; threadgroup sim_type_" + name + " &" + name +
                         " = *(threadgroup sim_type_" + name + " *)sim_threadgroup(" +
                         std::to_string(id++) + ", (unsigned long)\"" + name +
                         "\", sizeof(sim_type_" + name + "), " + a + ")";
            sizes += (sizes.empty() ? "" : ", ") + ("sizeof(sim_type_" + name + "), " + a);
            i = at(stop).is("=") || at(stop).is("{") ? end : stop + 1;
        }
        replace_all(at(begin).offset, at(end).offset - at(begin).offset, types + variables);
    }

    /* alignas(N) or __attribute__((aligned(N))): the text of N. */
    std::string alignment(size_t i) const {
        size_t open = i + 1;
        while (at(open + 1).is("(") || (at(open).is("(") && at(open + 1).is("aligned"))) open++;
        if (at(open).is("aligned")) open++;
        return slice(open, p_.match[open] + 1);
    }

    /* As replace; it stands for edits that were made inside of it before, of dimensions, say. */
    void replace_all(size_t offset, size_t bytes, const std::string &by) {
        const auto inside = [&](const edit &e) {
            return e.offset >= offset && e.offset < offset + bytes;
        };
        edits_.erase(std::remove_if(edits_.begin(), edits_.end(), inside), edits_.end());
        replace(offset, bytes, by);
    }

    /* -- Putting it together ------------------------------------------------------------------- */

    void apply() {
        /* Insertions before replacements at the same place. */
        std::stable_sort(edits_.begin(), edits_.end(), [](const edit &a, const edit &b) {
            return a.offset != b.offset ? a.offset < b.offset : a.bytes == 0 && b.bytes != 0;
        });
        size_t from = 0;
        for (const edit &e : edits_) {
            if (e.offset < from) continue; /* inside a blanked attribute */
            keep(text().substr(from, e.offset - from));
            change(e);
            from = e.offset + e.bytes;
        }
        out_.text += text().substr(from);
    }

    static long lines_in(const std::string &s) { return std::count(s.begin(), s.end(), '\n'); }

    /* Where the next character goes, and where it came from. */
    unsigned line_ = 1, column_ = 1, original_ = 1;

    void keep(const std::string &s) {
        out_.text += s;
        for (char c : s) {
            column_++, original_++;
            if (c == '\n') line_++, column_ = original_ = 1;
        }
    }

    void change(const edit &e) {
        const std::string gone = text().substr(e.offset, e.bytes);
        std::string       now = e.text;
        while (lines_in(now) < lines_in(gone)) now += '\n';
        if (lines_in(gone) == 0) {
            const unsigned begin = column_, from = original_;
            column_ += static_cast<unsigned>(now.size());
            original_ += static_cast<unsigned>(gone.size());
            out_.shifts.push_back({line_, begin, column_, from, original_});
        } else {
            line_ += static_cast<unsigned>(lines_in(gone));
            column_ = static_cast<unsigned>(now.size() - now.rfind('\n'));
            original_ = static_cast<unsigned>(gone.size() - gone.rfind('\n'));
        }
        out_.text += now;
    }
};

} // namespace

unsigned rewritten::original_column(unsigned line, unsigned column) const {
    const shift *last = nullptr;
    for (const shift &s : shifts) {
        if (s.line < line) continue;
        if (s.line > line || s.begin > column) break;
        if (column < s.end) return s.original;
        last = &s;
    }
    return last ? column - last->end + last->original_end : column;
}

rewritten rewrite(parsed &p, unsigned unit) { return rewriter(p, unit).run(); }

} // namespace sim
