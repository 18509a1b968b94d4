/* Finds functions, types and brackets in Metal text. Not a C++ parser: it knows the shapes that
 * compute kernels have and leaves the rest to clang. */
#include "msl.h"

#include <algorithm>
#include <set>

namespace sim {

namespace {

const std::set<std::string_view> &builtin_types() {
    static const std::set<std::string_view> names = [] {
        std::set<std::string_view>      s = {"void",
                                             "auto",
                                             "signed",
                                             "unsigned",
                                             "size_t",
                                             "ptrdiff_t",
                                             "simdgroup_matrix",
                                             "vec",
                                             "packed_vec",
                                             "array",
                                             "atomic",
                                             "atomic_int",
                                             "atomic_uint",
                                             "atomic_bool",
                                             "atomic_float",
                                             "atomic_ulong",
                                             "simd_vote",
                                             "mem_flags",
                                             "simdgroup_float8x8",
                                             "simdgroup_half8x8",
                                             "simdgroup_bfloat8x8",
                                             "double",
                                             "int8_t",
                                             "uint8_t",
                                             "int16_t",
                                             "uint16_t",
                                             "int32_t",
                                             "uint32_t",
                                             "int64_t",
                                             "uint64_t"};
        static std::vector<std::string> made;
        made.reserve(128);
        for (const char *base : {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long",
                                 "ulong", "half", "float", "bfloat"}) {
            made.push_back(base);
            for (const char *n : {"2", "3", "4"}) {
                made.push_back(std::string(base) + n);
                made.push_back("packed_" + std::string(base) + n);
            }
        }
        static const char *const more[] = {"float2x2",
                                           "float2x3",
                                           "float2x4",
                                           "float3x2",
                                           "float3x3",
                                           "float3x4",
                                           "float4x2",
                                           "float4x3",
                                           "float4x4",
                                           "half2x2",
                                           "half2x3",
                                           "half2x4",
                                           "half3x2",
                                           "half3x3",
                                           "half3x4",
                                           "half4x2",
                                           "half4x3",
                                           "half4x4",
                                           "matrix",
                                           "sampler",
                                           "texture1d",
                                           "texture1d_array",
                                           "texture2d",
                                           "texture2d_array",
                                           "texture2d_ms",
                                           "texture2d_ms_array",
                                           "texture3d",
                                           "texturecube",
                                           "texturecube_array",
                                           "texture_buffer",
                                           "depth2d",
                                           "depth2d_array",
                                           "depth2d_ms",
                                           "depth2d_ms_array",
                                           "depthcube",
                                           "depthcube_array"};
        for (const char *m : more) s.insert(m);
        for (const std::string &m : made) s.insert(m);
        return s;
    }();
    return names;
}

class parser {
public:
    explicit parser(const source &s) {
        p_.from = &s;
        p_.lexed = tokenize(s.name, s.text, s.version, s.foreign);
        p_.errors = p_.lexed.errors;
    }

    parsed run() {
        if (!match_brackets()) return std::move(p_);
        scope(0, p_.tokens().size() - 1, false);
        return std::move(p_);
    }

private:
    parsed                     p_;
    std::set<std::string_view> record_names_;

    const token &at(size_t i) const { return p_.tokens()[i]; }

    bool match_brackets() {
        p_.match.assign(p_.tokens().size(), 0);
        std::vector<size_t> open;
        for (size_t i = 0; i + 1 < p_.tokens().size(); i++) {
            const token &t = at(i);
            if (t.kind != token_kind::punctuation) continue;
            if (t.is("(") || t.is("[") || t.is("{") || t.is("[[")) open.push_back(i);
            else if ((t.is(")") || t.is("]") || t.is("}")) && !close(open, i)) return false;
        }
        if (open.empty()) return true;
        p_.error(at(open.back()),
                 "'" + std::string(at(open.back()).text) + "' without its partner");
        return false;
    }

    /* `i` moves on to the second bracket when an attribute ends. */
    bool close(std::vector<size_t> &open, size_t &i) {
        const std::string_view c = at(i).text;
        if (open.empty()) {
            p_.error(at(i), "extraneous closing '" + std::string(c) + "'");
            return false;
        }
        const std::string_view o = at(open.back()).text;
        const bool             attribute_end = o == "[[" && c == "]" && at(i + 1).is("]");
        if (!attribute_end && !(o == "(" && c == ")") && !(o == "[" && c == "]") &&
            !(o == "{" && c == "}")) {
            p_.error(at(i), "'" + std::string(c) + "' closes '" + std::string(o) + "' of line " +
                                std::to_string(at(open.back()).line));
            return false;
        }
        if (attribute_end) i++;
        p_.match[open.back()] = i;
        p_.match[i] = open.back();
        open.pop_back();
        return true;
    }

    /* -- Declarations -------------------------------------------------------------------------- */

    void scope(size_t i, size_t end, bool members) {
        while (i < end) i = declaration(i, end, members);
    }

    size_t skip_statement(size_t i, size_t end) const {
        while (i < end && !at(i).is(";")) i = p_.match[i] > i ? p_.match[i] + 1 : i + 1;
        return i + 1;
    }

    size_t declaration(size_t i, size_t end, bool members) {
        if (at(i).is(";")) return i + 1;
        if (at(i).is("namespace")) return name_space(i, end);
        if (at(i).is("using") || at(i).is("typedef")) return alias(i, end);
        if (at(i).is("extern") && at(i + 1).kind == token_kind::string && at(i + 2).is("{")) {
            scope(i + 3, p_.match[i + 2], members);
            return p_.match[i + 2] + 1;
        }
        if (members && (at(i).is("public") || at(i).is("private") || at(i).is("protected")))
            return i + 2;
        size_t     begin = i;
        const bool is_template = at(i).is("template");
        if (is_template && !at(i + 1).is("<")) return skip_statement(i, end); /* an instantiation */
        if (is_template) begin = template_parameters(i + 1, end);
        if (at(begin).is("using")) return alias(begin, end);
        if (is_record(begin)) return record(begin, end);
        return function_or_variable(begin, end, is_template, members);
    }

    size_t name_space(size_t i, size_t end) {
        while (i < end && !at(i).is("{") && !at(i).is(";")) i++;
        if (i >= end || at(i).is(";")) return i + 1;
        scope(i + 1, p_.match[i], false);
        return p_.match[i] + 1;
    }

    size_t alias(size_t i, size_t end) {
        const size_t stop = skip_statement(i, end);
        if (at(i).is("using") && at(i + 1).identifier() && at(i + 2).is("=")) add_type(at(i + 1));
        if (at(i).is("typedef"))
            for (size_t k = stop - 1; k > i; k--)
                if (at(k).identifier()) {
                    add_type(at(k));
                    break;
                }
        return stop;
    }

    /* From `<`; gives the token after the matching `>`. */
    size_t template_parameters(size_t i, size_t end) {
        int depth = 0;
        for (; i < end; i++) {
            if (at(i).is("<")) depth++;
            if (at(i).is(">") && --depth == 0) return i + 1;
            if ((at(i).is("typename") || at(i).is("class")) && at(i + 1).identifier())
                add_type(at(i + 1));
        }
        return end;
    }

    void add_type(const token &t) { p_.type_names.insert(t.text); }

    /* `struct S {`, `enum class E : int {`, `struct S;` but not `struct S f()`. */
    bool is_record(size_t i) const {
        if (!at(i).is("struct") && !at(i).is("class") && !at(i).is("union") && !at(i).is("enum"))
            return false;
        while (at(i).identifier() || at(i).is("::") || at(i).is(":") || at(i).is("<") ||
               at(i).is(">") || at(i).is(",") || at(i).is("[[")) {
            if (at(i).is("[[")) i = p_.match[i];
            i++;
        }
        return at(i).is("{") || at(i).is(";");
    }

    size_t record(size_t i, size_t end) {
        const bool enumeration = at(i).is("enum");
        std::string_view name;
        while (!at(i).is("{") && !at(i).is(";")) {
            if (at(i).is("[[")) i = p_.match[i];
            if (at(i).identifier() && !at(i).is("struct") && !at(i).is("class") &&
                !at(i).is("union") && !at(i).is("enum") && !at(i - 1).is(":"))
                add_type(at(i)), name = at(i).text, record_names_.insert(at(i).text);
            i++;
        }
        if (at(i).is(";")) return i + 1;
        const size_t close = p_.match[i];
        if (!enumeration) {
            members_of(i + 1, close, name);
            scope(i + 1, close, true);
        }
        return skip_statement(close + 1, end);
    }

    void members_of(size_t i, size_t end, std::string_view record_name) {
        for (; i < end; i++) {
            p_.has_methods |= at(i).is("operator") || (at(i).is(")") && at(i + 1).is("{"));
            if (at(i).identifier() &&
                (at(i + 1).is(";") || at(i + 1).is(",") || at(i + 1).is("[") || at(i + 1).is("[[")))
                p_.member_names.insert(at(i).text);
            if (at(i).is("size_t") || at(i).is("ptrdiff_t")) p_.index_structs.insert(record_name);
        }
    }

    /* Ends at the `;` or after the body. A function has `name (` before any `=`. */
    size_t function_or_variable(size_t begin, size_t end, bool is_template, bool members) {
        function f;
        f.specifiers = begin;
        f.is_template = is_template;
        f.is_member = members;
        bool named = false, initialisers = false; /* behind the `:` of a constructor */
        for (size_t i = begin; i < end;) {
            const token &t = at(i);
            if (t.is(";")) {
                if (named) add_function(f);
                else if (!members) program_variable(begin, i);
                return i + 1;
            }
            if (t.is("=") && !named) {
                const size_t stop = skip_statement(i, end);
                if (!members) program_variable(begin, stop - 1);
                return stop;
            }
            if (t.is("[[")) {
                read_attributes(i, f.attributes);
            } else if (t.is("(") && !named && i > begin &&
                       (is_name_before(i) || specialised(i) > begin)) {
                named = true;
                f.name = at(is_name_before(i) ? i - 1 : specialised(i));
                f.open = i;
                f.close = p_.match[i];
            } else if (t.is(":") && named) {
                initialisers = true;
            } else if (t.is("{") &&
                       !(initialisers && (at(i - 1).identifier() || at(i - 1).is(">")))) {
                if (!named) return skip_statement(i, end);
                f.body = i;
                f.body_end = p_.match[i];
                add_function(f);
                return f.body_end + 1;
            } else if (t.is("kernel")) {
                f.is_kernel = true;
            }
            i = p_.match[i] > i ? p_.match[i] + 1 : i + 1;
        }
        return end;
    }

    /* `name<...>(`: the token of the name, else 0. */
    size_t specialised(size_t paren) const {
        int    depth = 0;
        size_t i = paren - 1;
        if (!at(i).is(">")) return 0;
        for (; i; i--) {
            if (at(i).is(";") || at(i).is("{") || at(i).is("}")) return 0;
            depth += at(i).is(">") - at(i).is("<");
            if (!depth) break;
        }
        return i && at(i - 1).identifier() && !at(i - 1).is("template") ? i - 1 : 0;
    }

    bool is_name_before(size_t paren) const {
        const token &t = at(paren - 1);
        if (t.identifier())
            return !t.is("alignas") && !t.is("__attribute__") && !t.is("decltype") &&
                   !t.is("static_assert") && !t.is("coherent");
        return paren >= 2 && at(paren - 2).is("operator");
    }

    void read_attributes(size_t open, std::vector<attribute> &out) const {
        for (size_t i = open + 1; i + 1 < p_.match[open]; i++) {
            attribute a;
            a.at = at(i);
            a.name = std::string(at(i).text);
            if (at(i + 1).is("(")) {
                for (size_t k = i + 2; k < p_.match[i + 1]; k++)
                    a.argument += std::string(at(k).text);
                i = p_.match[i + 1];
            }
            out.push_back(a);
            if (at(i + 1).is(",")) i++;
        }
    }

    void add_function(function f) {
        for (const attribute &a : f.attributes) f.is_kernel |= a.name == "kernel";
        if (f.is_kernel) read_parameters(f);
        for (size_t i = f.body; i < f.body_end; i++)
            if (at(i).identifier() && at(i + 1).is("(") && !at(i - 1).is(".") &&
                !at(i - 1).is("->"))
                f.calls.emplace_back(at(i).text);
        p_.functions.push_back(f);
    }

    void read_parameters(function &f) const {
        size_t first = f.open + 1;
        int    angle = 0;
        for (size_t i = first; i <= f.close;) {
            if (at(i).is("<")) angle++;
            if (at(i).is(">")) angle--;
            if (i == f.close || (at(i).is(",") && angle <= 0)) {
                if (i > first) f.parameters.push_back(read_parameter(first, i));
                first = i + 1;
            }
            i = p_.match[i] > i && i != f.close ? p_.match[i] + 1 : i + 1;
        }
    }

    parameter read_parameter(size_t first, size_t last) const {
        parameter r;
        r.place = at(first);
        for (size_t i = first; i < last; i++) {
            if (at(i).is("[[")) {
                read_attributes(i, r.attributes);
                i = p_.match[i];
            } else {
                r.type.push_back(at(i));
            }
        }
        const bool named = r.type.size() > 1 && r.type.back().identifier() &&
                           (p_.foreign() ? !builtin_types().count(r.type.back().text)
                                         : !is_type_word(r.type.back()));
        if (named) {
            r.name = r.type.back();
            r.type.pop_back();
        }
        return r;
    }

    bool is_type_word(const token &t) const {
        return builtin_types().count(t.text) || p_.type_names.count(t.text);
    }

    /* Scalars and vectors without a value, numbered by 16 bits. */
    void function_constant(size_t begin, size_t open, size_t end) {
        const std::string index(at(open + 3).text);
        if (at(open + 3).kind == token_kind::number &&
            std::strtol(index.c_str(), nullptr, 0) > 65535)
            p_.error(at(open + 3),
                     "function constant index is out of bounds: must be between 0 and 65535");
        for (size_t i = begin; i < open; i++)
            if (p_.type_names.count(at(i).text) && !builtin_types().count(at(i).text) &&
                record_names_.count(at(i).text))
                p_.error(at(i), "a function constant is a scalar or a vector");
        for (size_t i = p_.match[open]; i < end; i++)
            if (at(i).is("=")) p_.error(at(i), "a function constant cannot have an initializer");
    }

    void program_variable(size_t begin, size_t end) {
        bool constant_space = false, initialised = false;
        for (size_t i = begin; i <= end; i = p_.match[i] > i ? p_.match[i] + 1 : i + 1) {
            if (p_.foreign() && at(i).is("::") && at(i + 2).is("["))
                return; /* a member's definition */
            if (at(i).is("static_assert") || at(i).is("friend") || at(i).is("template")) return;
            if (at(i).is("constant") || (at(i).is("sampler") && p_.foreign()))
                constant_space = true;
            if (at(i).is("=") || at(i).is("{") || at(i).is("sampler")) initialised = true;
            if (at(i).is("[[") && at(i + 1).is("function_constant") && p_.foreign())
                function_constant(begin, i, end);
            if (at(i).is("[[") && p_.foreign()) {
                constant_space |=
                    !at(i + 1).is("function_constant") && !at(i + 1).is("maybe_unused");
                initialised |= !at(i + 1).is("maybe_unused");
            } else if (at(i).is("[[")) {
                p_.error(at(i + 1), "the simulator does not have '" + std::string(at(i + 1).text) +
                                        "' on program-scope variables");
                return;
            }
        }
        if (end <= begin) return;
        if (!constant_space)
            p_.error(at(begin), "program scope variable must reside in constant address space");
        else if (!initialised)
            p_.error(at(begin), "variable in constant address space must be initialized");
    }
};

} // namespace

bool parsed::is_builtin_type(size_t i) const {
    return tokens()[i].identifier() && builtin_types().count(tokens()[i].text);
}

bool parsed::is_type(size_t i) const {
    const token &t = tokens()[i];
    if (!t.identifier()) return false;
    return is_builtin_type(i) || type_names.count(t.text);
}

function *parsed::find(std::string_view name) {
    for (function &f : functions)
        if (f.name.text == name && f.body) return &f;
    return nullptr;
}

parsed parse(const source &s) { return parser(s).run(); }

} // namespace sim
