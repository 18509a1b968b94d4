/* Prepares Metal text for nvcc: what tests/cuda/metal.h, a header, cannot do.
 *
 *     cuda-text [options] NAME=FILE...  > out.cu
 *
 *     address spaces           taken out; threadgroup variables become __shared__
 *     [[attributes]]           taken out; max_total_threads_per_threadgroup becomes
 * __launch_bounds__ kernels                  extern "C" __global__ NAME_ENTRY; built-in inputs
 * become variables, references to constants are passed by value functions                __device__
 *     v.xz                     member functions
 *     1.0h, 1.0bf              half(1.0f), bfloat(1.0f)
 *     #pragma                  unroll is kept, METAL's are not: contraction is nvcc's option
 *
 * A line of JSON for each kernel goes to standard error. Lexer and parser are the simulator's. */
#include "../sim/msl.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

namespace {

using namespace sim;

struct options {
    bool restrict_pointers = false;
    std::map<unsigned, std::string> literals; /* buffer index: words of its bytes, "0x1,0x2" */
};

class mapper {
  public:
    mapper(parsed &p, const std::string &unit, const options &o) : p_(p), unit_(unit), o_(o) {}

    std::string run() {
        for (const directive &d : p_.lexed.directives) rewrite_directive(d);
        words(p_.tokens(), true);
        for (size_t i = 0; i + 1 < p_.tokens().size(); i++)
            if (at(i).is("[[")) blank(at(i).offset, at(p_.match[i]).offset + 1 - at(i).offset);
        for (function &f : p_.functions)
            if (f.is_kernel && f.body) kernel_text(f);
            else insert(at(f.specifiers).offset, "__device__ ");
        program_constants();
        return apply();
    }
    std::string kernels; /* JSON, a line each */

  private:
    parsed &p_;
    std::string unit_;
    const options &o_;
    std::vector<edit> edits_;

    const token &at(size_t i) const { return p_.tokens()[i]; }
    const std::string &text() const { return p_.from->text; }
    void replace(size_t offset, size_t bytes, const std::string &by) {
        edits_.push_back({offset, bytes, by});
    }
    void insert(size_t offset, const std::string &what) { edits_.push_back({offset, 0, what}); }
    void blank(size_t offset, size_t bytes) {
        std::string kept;
        for (char c : text().substr(offset, bytes))
            if (c == '\n') kept += c;
        replace(offset, bytes, kept.empty() ? " " : kept);
    }
    void blank(const token &t) { blank(t.offset, t.text.size()); }

    void rewrite_directive(const directive &d) {
        const bool unroll = d.name == "pragma" && d.rest.find("loop unroll(") != std::string::npos;
        const bool full = d.rest.find("unroll(full)") != std::string::npos;
        if (unroll) replace(d.offset, d.bytes, full ? "#pragma unroll" : "#pragma unroll 1");
        else if (d.name == "include" || d.name == "pragma") blank(d.offset, d.bytes);
        else if (d.name == "define") words(d.tokens, false);
    }

    /* -- Words -------------------------------- */

    void words(const std::vector<token> &tokens, bool in_text) {
        bool attribute = false;
        for (size_t i = 0; i < tokens.size(); i++) {
            const token &t = tokens[i];
            if (t.is("[[")) attribute = true;
            if (t.is("]") && attribute && i && tokens[i - 1].is("]")) attribute = false;
            if (attribute) continue;
            if (t.kind == token_kind::number) literal(t);
            if (!t.identifier()) continue;
            if (t.is("device") || t.is("thread") || t.is("kernel")) blank(t);
            else if (t.is("constant")) constant(tokens, i);
            else if (t.is("threadgroup")) group(tokens, i);
            else if (t.is("coherent")) coherent(tokens, i);
            else if (t.is("volatile") && of_brain_float(tokens, i)) blank(t);
            else if (shadows(t.text) && !(i + 1 < tokens.size() && tokens[i + 1].is("(")))
                insert(t.offset + t.text.size(), "_");
            else if (in_text && i && (tokens[i - 1].is(".") || tokens[i - 1].is("->")))
                swizzle(tokens, i);
        }
    }

    /* nvcc has no `c ? x : y` of a volatile class and a plain one. */
    static bool of_brain_float(const std::vector<token> &tokens, size_t i) {
        while (++i < tokens.size() && (tokens[i].is("device") || tokens[i].is("const"))) {}
        return i < tokens.size() && tokens[i].is("bfloat");
    }

    /* A member of a struct with the name of a function template: `a.exp < b` would begin a
     * template's arguments. */
    bool shadows(std::string_view name) const {
        static const std::set<std::string_view> templates = {"exp",    "log",  "sin",   "cos",
                                                             "abs",    "min",  "max",   "dot",
                                                             "sign",   "step", "fract", "select",
                                                             "rotate", "clamp"};
        return templates.count(name) &&
            std::find(p_.member_names.begin(), p_.member_names.end(), name) !=
            p_.member_names.end();
    }

    void literal(const token &t) {
        const std::string s(t.text);
        const size_t n = s.size();
        if (n < 2 || (s[1] == 'x' && s.find('p') == std::string::npos)) return;
        const bool brain = n > 2 && s.compare(n - 2, 2, "bf") == 0;
        if (brain || s[n - 1] == 'h')
            replace(t.offset, n,
                    (brain ? "bfloat(" : "half(") + s.substr(0, n - (brain ? 2 : 1)) + "f)");
    }

    /* A constant is const, said once. */
    void constant(const std::vector<token> &tokens, size_t i) {
        const bool twice = (i && tokens[i - 1].is("const")) ||
            (i + 1 < tokens.size() && tokens[i + 1].is("const"));
        replace(tokens[i].offset, tokens[i].text.size(), twice ? " " : "const");
    }

    /* A declaration of memory, not of a pointer to it: no star before its name ends. */
    void group(const std::vector<token> &tokens, size_t i) {
        bool memory = false;
        for (size_t k = i + 1; k < tokens.size(); k++) {
            const token &t = tokens[k];
            if (t.is("[") || t.is(";")) memory = true;
            if (t.is("[") || t.is(";") || t.is("*") || t.is("&") || t.is("(") || t.is(")") ||
                t.is("="))
                break;
        }
        replace(tokens[i].offset, tokens[i].text.size(), memory ? "__shared__" : " ");
    }

    void coherent(const std::vector<token> &tokens, size_t i) {
        const bool wrapped = i + 3 < tokens.size() && tokens[i + 1].is("(");
        const size_t end = wrapped ? tokens[i + 3].offset + 1
                                   : tokens[i].offset + tokens[i].text.size();
        replace(tokens[i].offset, end - tokens[i].offset, "volatile");
    }

    void swizzle(const std::vector<token> &tokens, size_t i) {
        const std::string_view s = tokens[i].text;
        if (s.size() < 2 || s.size() > 4 || (i + 1 < tokens.size() && tokens[i + 1].is("(")))
            return;
        if (s.find_first_not_of("xyzw") != std::string_view::npos &&
            s.find_first_not_of("rgba") != std::string_view::npos)
            return;
        if (std::find(p_.member_names.begin(), p_.member_names.end(), s) != p_.member_names.end())
            return;
        static const std::set<std::string_view> assigns = {"=", "+=", "-=", "*=", "/="};
        const bool set = i + 1 < tokens.size() && assigns.count(tokens[i + 1].text);
        std::string list;
        for (char c : s)
            list += (list.empty() ? "" : ",") + std::to_string(std::string("xyzwrgba").find(c) % 4);
        replace(tokens[i].offset, s.size(), std::string(set ? "set<" : "get<") + list + ">()");
    }

    /* -- Kernels -------------------------------- */

    static bool has(const parameter &r, const char *word) {
        return std::any_of(r.type.begin(), r.type.end(),
                           [&](const token &t) { return t.is(word); });
    }
    static const attribute *find(const parameter &r, const char *name) {
        for (const attribute &a : r.attributes)
            if (a.name == name) return &a;
        return nullptr;
    }
    /* Without address spaces; of a reference, what it refers to. */
    static std::string type_of(const parameter &r, bool pointee) {
        std::string s;
        for (const token &t : r.type) {
            if (t.is("device") || t.is("constant") || t.is("threadgroup") || t.is("thread") ||
                t.is("__restrict") || t.is("&"))
                continue;
            if (pointee && (t.is("const") || t.is("*"))) continue;
            s += std::string(t.is("coherent") ? "volatile" : t.text) + " ";
        }
        const size_t wrapped = s.find("volatile ( ) ");
        if (wrapped != std::string::npos) s.replace(wrapped, 13, "volatile ");
        return has(r, "constant") && !pointee && s.find("const ") == std::string::npos
            ? "const " + s
            : s;
    }

    void kernel_text(function &f) {
        std::string head = "extern \"C\" __global__ ", list, body, arguments;
        std::string threads = "0";
        for (const attribute &a : f.attributes)
            if (a.name == "max_total_threads_per_threadgroup") threads = a.argument;
        if (threads != "0")
            head += "__launch_bounds__(" + threads + ", 1) "; /* 1: or ptxas spills to fit more */
        insert(at(f.specifiers).offset, head);
        const std::string entry = unit_ + "_" + std::string(f.name.text);
        replace(f.name.offset, f.name.text.size(), entry);
        for (const parameter &r : f.parameters) add_parameter(r, list, body, arguments);
        cut(at(f.open).offset, at(f.close).offset + 1);
        replace(at(f.open).offset, at(f.close).offset + 1 - at(f.open).offset,
                "(" + list + ")" +
                    std::string(lines_in(at(f.open).offset, at(f.close).offset), '\n'));
        insert(at(f.body).offset + 1, body);
        kernels += "{\"unit\": \"" + unit_ + "\", \"kernel\": \"" + std::string(f.name.text) +
            "\", \"entry\": \"" + entry + "\", \"threads\": " +
            (threads.find_first_not_of("0123456789") == std::string::npos ? threads : "0") +
            ", \"statements\": " + std::to_string(f.statements) +
            ", \"array_bytes\": " + std::to_string(f.array_bytes) + ", \"arguments\": [" +
            arguments + "]}\n";
    }

    void add_parameter(const parameter &r, std::string &list, std::string &body,
                       std::string &arguments) const {
        const std::string name(r.name.text);
        const attribute *buffer = find(r, "buffer"), *group = find(r, "threadgroup");
        if (!buffer && !group) {
            for (const attribute &a : r.attributes)
                if (find_builtin(a.name))
                    body += " const " + type_of(r, true) + name + " = built_in<" +
                        type_of(r, true) + ">::of(" + a.name + "());";
            return;
        }
        const unsigned index = unsigned(
            std::strtoul((buffer ? buffer : group)->argument.c_str(), nullptr, 0));
        const bool value = buffer && has(r, "&") && !has(r, "*");
        const auto known = o_.literals.find(index);
        if (group) {
            body += " extern __shared__ float4 dynamic_memory[]; " + type_of(r, false) + name +
                " = (" + type_of(r, false) + ")dynamic_memory;";
        } else if (value && known != o_.literals.end()) {
            body += " const " + type_of(r, true) + name + " = literal<" + type_of(r, true) + ">({" +
                known->second + "});";
        } else {
            list += (list.empty() ? "" : ", ") +
                (value ? "const " + type_of(r, true)
                       : type_of(r, false) + (o_.restrict_pointers ? "__restrict__ " : "")) +
                name;
        }
        arguments += std::string(arguments.empty() ? "" : ", ") + "{\"name\": \"" + name +
            "\", \"index\": " + std::to_string(index) + ", \"kind\": \"" +
            (group                            ? "threadgroup"
                 : !value                     ? "buffer"
                 : known != o_.literals.end() ? "literal"
                                              : "value") +
            "\"}";
    }

    /* -- Variables of the program -------------------------------- */

    /* Outside of functions: numbers are constexpr, tables lie in constant memory. */
    void program_constants() {
        std::map<size_t, size_t> skip; /* functions: first token to last */
        for (const function &f : p_.functions) skip[f.specifiers] = std::max(f.close, f.body_end);
        for (size_t i = 0; i + 1 < p_.tokens().size(); i++) {
            const auto f = skip.find(i);
            if (f != skip.end()) i = f->second;
            if (!at(i).is("constant")) continue;
            bool table = false;
            for (size_t k = i; k + 1 < p_.tokens().size() && !at(k).is(";") && !at(k).is("="); k++)
                table |= at(k).is("[");
            const bool twice = i &&
                (at(i - 1).is("const") || at(i - 1).is("constexpr") || at(i - 1).is("static"));
            cut(at(i).offset, at(i).offset + 8);
            replace(at(i).offset, 8,
                    table ? (twice ? "__constant__" : "static __constant__ const")
                          : (twice ? "const" : "static constexpr"));
            if (!table && at(i + 1).is("const")) blank(at(i + 1));
        }
    }

    /* -- Putting it together -------------------------------- */

    size_t lines_in(size_t from, size_t to) const {
        return size_t(std::count(text().begin() + long(from), text().begin() + long(to), '\n'));
    }
    /* Forgets edits in [from, to). */
    void cut(size_t from, size_t to) {
        const auto inside = [&](const edit &e) { return e.offset >= from && e.offset < to; };
        edits_.erase(std::remove_if(edits_.begin(), edits_.end(), inside), edits_.end());
    }
    std::string apply() {
        std::stable_sort(edits_.begin(), edits_.end(), [](const edit &a, const edit &b) {
            return a.offset != b.offset ? a.offset < b.offset : a.bytes == 0 && b.bytes != 0;
        });
        std::string out;
        size_t from = 0;
        for (const edit &e : edits_) {
            if (e.offset < from) continue;
            out += text().substr(from, e.offset - from) + e.text;
            from = e.offset + e.bytes;
        }
        return out + text().substr(from);
    }
};

int fail(const std::string &why) {
    std::fprintf(stderr, "cuda-text: %s\n", why.c_str());
    return 2;
}

/* "3=0x1,0x2" */
bool read_literal(const std::string &s, options &o) {
    const size_t eq = s.find('=');
    if (eq == std::string::npos) return false;
    o.literals[unsigned(std::strtoul(s.c_str(), nullptr, 0))] = s.substr(eq + 1);
    return true;
}

} // namespace

int main(int n, char **words) {
    options o;
    std::string out = "#include \"metal.h\"\n";
    bool some = false;
    for (int i = 1; i < n; i++) {
        const std::string w = words[i];
        if (w == "--restrict") {
            o.restrict_pointers = true;
        } else if (w == "--plain") {
            o = options();
        } else if (w == "--literal" && i + 1 < n) {
            if (!read_literal(words[++i], o))
                return fail(std::string("--literal wants INDEX=WORDS, not ") + words[i]);
        } else {
            const size_t eq = w.find('=');
            if (eq == std::string::npos) return fail("wants NAME=FILE, not " + w);
            std::ifstream in(w.substr(eq + 1), std::ios::binary);
            std::stringstream all;
            all << in.rdbuf();
            if (!in) return fail("cannot read " + w.substr(eq + 1));
            source s;
            s.name = w.substr(eq + 1);
            s.text = all.str();
            s.version = 320;
            parsed p = parse(s);
            check_emitted(p); /* for what it counts */
            if (p.match.size() != p.tokens().size())
                return fail("brackets do not match in " + s.name);
            const std::string unit = w.substr(0, eq);
            mapper m(p, unit, o);
            const std::string mapped = m.run();
            out += "namespace metal { namespace unit_" + unit + " {\n#line 1 \"" + s.name + "\"\n" +
                mapped + "\n}}\n";
            std::fputs(m.kernels.c_str(), stderr);
            some = true;
        }
    }
    if (!some) return fail("no text");
    std::cout << out;
    return 0;
}
