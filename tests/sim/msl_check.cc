/* What Metal forbids and C++ does not. Messages are Apple's where they are known. */
#include "msl.h"

#include "include/sim/runtime.h"

#include <algorithm>
#include <functional>
#include <set>

namespace sim {

namespace {

using names = std::set<std::string_view>;

/* The words of a literal, which lives as long as the program. */
names words(std::string_view text) {
    names s;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.size(), text.find(' ', at));
        s.insert(text.substr(at, end - at));
        at = end + 1;
    }
    return s;
}

/* -- Words ------------------------------------------------------------------------------------- */

struct forbidden_word {
    const char *word, *message;
};

/* Anywhere in the text, as a token. */
const forbidden_word forbidden[] = {
    {"double", "'double' is not supported in Metal"},
    {"goto", "'goto' is not supported in Metal"},
    {"asm", "illegal asm statement"},
    {"__asm", "illegal asm statement"},
    {"__asm__", "illegal asm statement"},
    {"thread_local", "'thread_local' is not supported in Metal"},
    {"register", "'register' is not supported in Metal"},
    {"try", "exceptions are not supported in Metal"},
    {"catch", "exceptions are not supported in Metal"},
    {"throw", "exceptions are not supported in Metal"},
    {"virtual", "virtual functions are not supported in Metal"},
    {"new", "'new' is not supported in Metal"},
    {"delete", "'delete' is not supported in Metal"},
    {"dynamic_cast", "'dynamic_cast' is not supported in Metal"},
    {"typeid", "'typeid' is not supported in Metal"},
    {"restrict", "unknown type name 'restrict'; write __restrict"},
    {"co_await", "coroutines are not supported in Metal"},
    {"co_return", "coroutines are not supported in Metal"},
    {"co_yield", "coroutines are not supported in Metal"},
};

/* Names and the language version that brings them, where the headers, which begin with 3.0, do not
 * say so. */
const struct {
    const char *word;
    int         version;
} brought[] = {{"simdgroup_float8x8", 230},
               {"simdgroup_half8x8", 230},
               {"simdgroup_matrix", 230},
               {"simd_shuffle_and_fill_up", 240},
               {"simd_shuffle_and_fill_down", 240},
               {"atomic_bool", 240},
               {"atomic_ulong", 240},
               {"atomic_float", 300},
               {"coherent", 320}};

/* Words that may not name a function, a variable or a parameter: keywords of C++ and Metal, types,
 * modifiers of arguments, macros of the standard library. */
const names &reserved_names() {
    static const names s = words(
        "and and_eq bitand bitor class compl default explicit export extern friend mutable "
        "namespace not not_eq operator or or_eq private protected public signed sizeof static "
        "switch template this typedef typename union using volatile xor xor_eq alignas "
        "alignof constexpr decltype noexcept nullptr kernel vertex fragment compute mesh "
        "object device constant thread threadgroup threadgroup_imageblock ray_data "
        "object_data visible intersection stitchable sampler metal as_type vec packed_vec "
        "matrix array atomic size_t ptrdiff_t quad complex imaginary llong ullong bias level "
        "gradient2d gradientcube gradient3d min_lod_clamp assert INFINITY NAN HUGE_VALF "
        "HUGE_VALH MAXFLOAT MAXHALF CHAR_BIT FP_ILOGB0 FP_ILOGBNAN VARIABLE_TRACEPOINT "
        "STATIC_DATA_TRACEPOINT STATIC_DATA_TRACEPOINT_V");
    return s;
}

bool reserved_by_shape(std::string_view w) {
    const auto starts = [&](const char *p) { return w.rfind(p, 0) == 0; };
    const auto ends = [&](std::string_view e) {
        return w.size() > e.size() && w.substr(w.size() - e.size()) == e;
    };
    if (w.find("__") != std::string_view::npos ||
        (w.size() > 1 && w[0] == '_' && w[1] >= 'A' && w[1] <= 'Z'))
        return true;
    if (starts("METAL_") || starts("FLT_") || starts("HALF_") || starts("DBL_") ||
        starts("atomic_") || starts("texture1d") || starts("texture2d") || starts("texture3d") ||
        starts("texturecube"))
        return true;
    return (starts("M_") && (ends("_F") || ends("_H"))) || w == "INT_MAX" || w == "INT_MIN" ||
           w == "UINT_MAX" || w == "LONG_MAX" || w == "LONG_MIN" || w == "ULONG_MAX" ||
           w == "SHRT_MAX" || w == "SHRT_MIN" || w == "USHRT_MAX" || w == "CHAR_MAX" ||
           w == "CHAR_MIN" || w == "UCHAR_MAX" || w == "SCHAR_MAX" || w == "SCHAR_MIN";
}

/* Functions of the standard library: defining one of the same name clashes. */
const names &metal_functions() {
    static const names s =
        words("main acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh cospi divide exp "
              "exp2 exp10 fabs abs fdim floor fma fmax max fmin min fmax3 max3 fmin3 min3 fmedian3 "
              "median3 fmod fract frexp ilogb ldexp log log2 log10 modf nextafter pow powr rint "
              "round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi trunc clamp mix saturate sign "
              "smoothstep step isfinite isinf isnan isnormal isordered isunordered signbit select "
              "all any absdiff addsat clz ctz extract_bits hadd insert_bits mad24 madhi madsat "
              "mul24 mulhi popcount reverse_bits rhadd rotate subsat dot cross length "
              "length_squared distance distance_squared normalize reflect refract faceforward "
              "determinant transpose threadgroup_barrier simdgroup_barrier simd_sum simd_product "
              "simd_min simd_max simd_and simd_or simd_xor simd_broadcast simd_broadcast_first "
              "simd_shuffle simd_shuffle_xor simd_shuffle_up simd_shuffle_down "
              "simd_shuffle_rotate_up simd_shuffle_rotate_down simd_shuffle_and_fill_up "
              "simd_shuffle_and_fill_down simd_prefix_inclusive_sum simd_prefix_exclusive_sum "
              "simd_prefix_inclusive_product simd_prefix_exclusive_product simd_ballot "
              "simd_active_threads_mask simd_all simd_any simd_is_first simdgroup_load "
              "simdgroup_store simdgroup_multiply simdgroup_multiply_accumulate "
              "make_filled_simdgroup_matrix as_type int8 int16 uint8 uint16 float8 float16");
    return s;
}

/* -- Attributes and built-in inputs ------------------------------------------------------------ */

/* Inputs of one family must have one type together, msl.md 1.3. */
enum family { alone, grid_position, local_position, lanes };

const builtin_input builtin_inputs[] = {
    {"threadgroup_position_in_grid", SIM_THREADGROUP_POSITION, true, alone},
    {"threadgroups_per_grid", SIM_THREADGROUPS, true, alone},
    {"thread_position_in_threadgroup", SIM_THREAD_POSITION, true, local_position},
    {"threads_per_threadgroup", SIM_THREADS, true, local_position},
    {"dispatch_threads_per_threadgroup", SIM_THREADS, true, local_position},
    {"thread_position_in_grid", SIM_GRID_POSITION, true, grid_position},
    {"threads_per_grid", SIM_GRID_THREADS, true, grid_position},
    {"grid_origin", SIM_GRID_ORIGIN, true, alone},
    {"grid_size", SIM_GRID_THREADS, true, alone},
    {"thread_index_in_threadgroup", SIM_THREAD_INDEX, false, alone},
    {"thread_index_in_simdgroup", SIM_LANE, false, lanes},
    {"simdgroup_index_in_threadgroup", SIM_SIMDGROUP, false, lanes},
    {"threads_per_simdgroup", SIM_SIMD_WIDTH, false, lanes},
    {"thread_execution_width", SIM_SIMD_WIDTH, false, lanes},
    {"simdgroups_per_threadgroup", SIM_SIMDGROUPS, false, lanes},
    {"dispatch_simdgroups_per_threadgroup", SIM_SIMDGROUPS, false, lanes},
    {"thread_index_in_quadgroup", SIM_QUAD_LANE, false, lanes},
    {"quadgroup_index_in_threadgroup", SIM_QUAD, false, lanes},
    {"quadgroups_per_threadgroup", SIM_QUADS, false, lanes},
};

/* Further attributes of a kernel's parameters. */
const names &input_attributes() {
    static const names s =
        words("texture sampler function_constant user id stage_in raster_order_group maybe_unused "
              "visible_function_table imageblock");
    return s;
}

/* Attributes that bind an argument, and the largest index: Metal Feature Set Tables. */
struct resource_kind {
    const char *name;
    long        most;
};
const resource_kind resources[] = {
    {"buffer", 30}, {"threadgroup", 30}, {"texture", 127}, {"sampler", 15}};
const resource_kind *find_resource(std::string_view name, bool graphics) {
    for (const resource_kind &k : resources)
        if (name == k.name) return graphics || k.most == 30 ? &k : nullptr;
    return nullptr;
}

/* Those that may stand inside of bodies. */
const names &inner_attributes() {
    static const names s = words(
        "maybe_unused unroll dont_unroll flatten dont_flatten fallthrough clang likely unlikely");
    return s;
}

/* -- The checks -------------------------------------------------------------------------------- */

class checker {
public:
    explicit checker(parsed &p) : p_(p), version_(p.from->version), inside_(p.tokens().size()) {
        for (const function &f : p_.functions)
            for (size_t i = f.body + 1; i < f.body_end; i++) inside_[i] = true;
        for (size_t i = 1; i < p.tokens().size(); i++)
            if (p.is_builtin_type(i - 1) && at(i).identifier()) values_.insert(at(i).text);
    }

    void run() {
        if (p_.foreign()) included_tensors();
        else includes();
        for (size_t i = 0; i + 1 < p_.tokens().size(); i++) word(i);
        if (!p_.foreign())
            for (const function &f : p_.functions) name_of_function(f);
        names seen;
        for (const function &f : p_.functions) {
            if (!f.is_kernel || !f.body) continue;
            kernel_signature(f);
            if (!seen.insert(f.name.text).second && !(p_.foreign() && f.is_template))
                p_.error(f.name, "kernel functions cannot be overloaded: " + quoted(f.name.text));
        }
        calls();
    }

private:
    parsed           &p_;
    int               version_;
    std::vector<bool> inside_; /* tokens of bodies */
    names             values_; /* names that stand behind a built-in type somewhere */

    const token       &at(size_t i) const { return p_.tokens()[i]; }
    void               error(size_t i, const std::string &text) { p_.error(at(i), text); }
    static std::string quoted(std::string_view s) { return "'" + std::string(s) + "'"; }

    void includes() {
        static const names known =
            words("metal_stdlib metal_types metal_limits metal_integer metal_math metal_common "
                  "metal_relational metal_geometric metal_compute metal_simdgroup "
                  "metal_simdgroup_matrix metal_atomic metal_logging metal_array metal_numeric "
                  "metal_pack metal_quadgroup metal_tensor "
                  "MetalPerformancePrimitives/MetalPerformancePrimitives.h");
        for (const directive &d : p_.lexed.directives)
            if (d.name == "include" &&
                (d.rest.size() < 2 ||
                 !known.count(std::string_view(d.rest).substr(1, d.rest.size() - 2)) ||
                 d.rest[0] != '<'))
                p_.errors.push_back({p_.from->name, d.line, 1, "the simulator has no " + d.rest});
        included_tensors();
    }

    void included_tensors() {
        for (const directive &d : p_.lexed.directives)
            if (d.name == "include" && d.rest.rfind("<metal_tensor>", 0) == 0 && version_ < 400)
                p_.errors.push_back(
                    {p_.from->name, d.line, 1, "'metal_tensor' comes with language version 4.0"});
        included("metal_tensor", {"tensor_inline", "dextents"});
        included("MetalPerformancePrimitives/MetalPerformancePrimitives.h", {"mpp"});
    }

    /* Headers that <metal_stdlib> does not include, though here they come with it. */
    void included(const std::string &header, const names &words) {
        for (const directive &d : p_.lexed.directives)
            if (d.name == "include" && d.rest.rfind("<" + header + ">", 0) == 0) return;
        for (size_t i = 0; i < p_.tokens().size(); i++)
            if (words.count(at(i).text))
                return error(i, "use of undeclared identifier " + quoted(at(i).text) +
                                    ": include <" + header + ">");
    }

    /* -- One token at a time ------------------------------------------------------------------- */

    void word(size_t i) {
        const token &t = at(i);
        if (t.kind == token_kind::number) return number(i);
        if (t.is("[[")) return local_attribute(i);
        if (t.is("[")) return lambda(i);
        if (t.is("*") || t.is("&") || t.is("&&")) return pointer(i);
        if (!t.identifier()) return;
        for (const forbidden_word &w : forbidden)
            if (t.is(w.word) && !(i && at(i - 1).is("operator")) &&
                !(t.is("delete") && at(i - 1).is("=")))
                error(i, w.message);
        for (const auto &b : brought)
            if (t.is(b.word) && version_ < b.version)
                error(i, "use of undeclared identifier " + quoted(t.text) +
                             ": it comes with language version " + std::to_string(b.version / 100) +
                             "." + std::to_string(b.version / 10 % 10));
        if (t.is("static") && inside_function(i))
            error(i, "static local variables are not supported in Metal");
        if (t.is("long") && at(i + 1).is("long")) error(i, "'long long' is not supported in Metal");
        if (at(i + 1).is(":") && !at(i + 2).is(":")) label(i);
        if (!p_.foreign() && is_declared(i)) declared_name(i);
        if (p_.foreign()) {
        } else if (t.is("simdgroup_load") || t.is("simdgroup_store")) transpose_argument(i);
        statement(i);
    }

    void number(size_t i) {
        const std::string_view s = at(i).text;
        const bool             hex = s.size() > 1 && (s[1] == 'x' || s[1] == 'X');
        const auto             lower_end = [&](std::string_view e) {
            if (s.size() < e.size()) return false;
            for (size_t k = 0; k < e.size(); k++)
                if ((s[s.size() - e.size() + k] | 32) != e[k]) return false;
            return true;
        };
        const bool real = s.find('.') != std::string_view::npos ||
                          (!hex && s.find_first_of("eE") != std::string_view::npos) ||
                          (hex && s.find_first_of("pP") != std::string_view::npos);
        if (real && !lower_end("f") && !lower_end("h") && !p_.foreign())
            error(i, "floating point literal " + quoted(s) + " has no suffix; write f, h or bf");
        const char last = static_cast<char>(s.back() | 32);
        if (real && !std::isdigit(static_cast<unsigned char>(s.back())) && last != '.' &&
            last != 'f' && last != 'h')
            error(i, "invalid suffix on floating constant " + quoted(s));
        if (real && lower_end("bf") && version_ < 310)
            error(i, "invalid suffix 'bf' on floating constant");
        if (!real && (lower_end("ll") || lower_end("llu") || lower_end("ull")))
            error(i, "'long long' is not supported in Metal");
    }

    bool inside_function(size_t i) const { return inside_[i]; }

    /* Attributes inside bodies: none that we know may stand there. */
    void local_attribute(size_t i) {
        if (p_.foreign() && inner_attributes().count(at(i + 1).text)) return;
        if (inside_function(i)) error(i + 1, "unknown attribute " + quoted(at(i + 1).text));
    }

    void lambda(size_t i) {
        if (!i || version_ >= 320) return;
        const token &before = at(i - 1);
        const bool   subscript = before.identifier() || before.is(")") || before.is("]") ||
                               before.kind == token_kind::string || before.is(">");
        const token &behind = at(p_.match[i] + 1);
        if (!behind.is("(") && !behind.is("{")) return; /* a designator */
        if (!subscript || before.is("return"))
            error(i, "lambda expressions are not supported in Metal");
    }

    void label(size_t i) {
        if (!inside_function(i) || at(i).is("default") || at(i).is("public") || at(i).is("private"))
            return;
        const token &before = at(i - 1);
        if (before.is(";") || before.is("{") || before.is("}"))
            error(i, "labeled statements are not supported in Metal");
    }

    /* -- Pointers ------------------------------------------------------------------------------ */

    static bool is_space(const token &t) {
        return t.is("device") || t.is("constant") || t.is("threadgroup") || t.is("thread") ||
               t.is("object_data") || t.is("ray_data") || t.is("threadgroup_imageblock");
    }

    /* `T *`, `T const &`, `vec<T, 4> *`: a declarator when a type stands before it. */
    bool type_ends_at(size_t i) const {
        if (i && (at(i - 1).is(".") || at(i - 1).is("->"))) return false; /* a member */
        if (at(i).is("const") || at(i).is("volatile") || is_space(at(i))) return true;
        if (at(i).is(">")) {
            int depth = 0;
            for (size_t k = i;; k--) {
                if (at(k).is(">")) depth++;
                if (at(k).is("<") && --depth == 0) return k > 0 && p_.is_type(k - 1);
                if (k == 0 || at(k).is(";") || at(k).is("{") || at(k).is("}")) return false;
            }
        }
        return p_.is_type(i);
    }

    void pointer(size_t i) {
        if (!i || at(i - 1).is("operator")) return;
        size_t before = i - 1;
        if (at(before).is("(") && before && array_reference(i)) before--;
        if (p_.foreign() && !declares(i)) return;
        if (p_.foreign() && at(i).is("&") && at(before).is("*"))
            return; /* MLX has const device T *&x */
        const bool chained = at(before).is("*") && is_declarator_star(before);
        if (!chained && !type_ends_at(before)) return;
        for (size_t k = before;; k--) {
            if (is_space(at(k))) return;
            if (p_.foreign() && at(k).is(">")) {
                for (int depth = 0; k; k--) {
                    if (at(k).is(">")) depth++;
                    if (at(k).is("<") && --depth == 0) break;
                }
                continue;
            }
            if (at(k).is("coherent") ||
                (at(k).is(")") && p_.match[k] && at(p_.match[k] - 1).is("coherent")))
                return;
            const bool part = p_.is_type(k) || at(k).is("const") || at(k).is("volatile") ||
                              at(k).is("::") || at(k).is("<") || at(k).is(">") ||
                              at(k).is("metal") || at(k).is("struct") || at(k).is("typename") ||
                              at(k).is("__restrict") || (at(k).is(",") && inside_angle(k)) ||
                              at(k).kind == token_kind::number;
            if (!part || k == 0) break;
        }
        error(i, at(i).is("*") ? "pointer type must have explicit address space qualifier"
                               : "reference type must have explicit address space qualifier");
    }

    /* Names of types are not scoped here, so that a `*` may still be a product. */
    bool declares(size_t i) const {
        const token &n = at(i + 1);
        if (values_.count(at(i - 1).text) && !p_.is_builtin_type(i - 1)) return false;
        return n.identifier() || n.is(";") || n.is(")") || n.is(",") || n.is(">") || n.is("*") ||
               n.is("&");
    }

    bool is_declarator_star(size_t i) const {
        return i && (type_ends_at(i - 1) || (at(i - 1).is("*") && is_declarator_star(i - 1)));
    }

    /* `float (&rows)[4]` */
    bool array_reference(size_t i) const {
        return at(i + 1).identifier() && at(i + 2).is(")") && at(i + 3).is("[");
    }

    bool inside_angle(size_t i) const {
        for (size_t k = i; k > 0 && !at(k).is(";") && !at(k).is("{"); k--)
            if (at(k).is("<") && p_.is_type(k - 1)) return true;
        return false;
    }

    /* -- Names --------------------------------------------------------------------------------- */

    /* An identifier that a declaration introduces: a type, perhaps stars, the name, and what may
     * follow a name. */
    bool is_declared(size_t i) const {
        if (!i || p_.is_type(i)) return type_name_declared(i);
        if (at(i).is("const") || at(i).is("volatile") || is_space(at(i)) || at(i).is("operator"))
            return false;
        return after_type(i) && before_declarator_end(i);
    }
    bool before_declarator_end(size_t i) const {
        const token &n = at(i + 1);
        return n.is("=") || n.is(";") || n.is(",") || n.is(")") || n.is("[") || n.is("[[") ||
               n.is("{") || n.is(":");
    }
    bool after_type(size_t i) const {
        size_t k = i - 1;
        while (k && (at(k).is("*") || at(k).is("&"))) k--;
        if (k != i - 1 && !type_ends_at(k)) return false;
        return type_ends_at(k) && !at(k).is(">");
    }
    /* `float float2 = 1;` */
    bool type_name_declared(size_t i) const {
        if (i && reserved_names().count(at(i).text) && p_.is_type(i - 1))
            return true; /* `float sampler)` */
        return i && p_.is_builtin_type(i) && (at(i + 1).is("=") || at(i + 1).is(";")) &&
               p_.is_type(i - 1) && !at(i - 1).is("unsigned") && !at(i - 1).is("signed");
    }

    void declared_name(size_t i) {
        const std::string_view w = at(i).text;
        if (reserved_names().count(w) || reserved_by_shape(w) || p_.is_builtin_type(i))
            error(i, quoted(w) + " is a reserved name");
    }

    void name_of_function(const function &f) {
        if (f.is_member || !f.name.identifier()) return;
        const std::string_view w = f.name.text;
        if (reserved_names().count(w) || reserved_by_shape(w))
            p_.error(f.name, quoted(w) + " is a reserved name");
        else if (metal_functions().count(w))
            p_.error(f.name, quoted(w) + " is a function of the standard library");
    }

    /* -- Statements ---------------------------------------------------------------------------- */

    /* The tensor unit takes it as a constant; a run-time value fails later, in the pipeline. */
    void transpose_argument(size_t i) {
        if (!at(i + 1).is("(")) return;
        const size_t        close = p_.match[i + 1];
        std::vector<size_t> starts = {i + 2};
        for (size_t k = i + 2; k<close; k = p_.match[k]> k ? p_.match[k] + 1 : k + 1)
            if (at(k).is(",")) starts.push_back(k + 1);
        if (starts.size() < 5) return;
        const size_t k = starts[4];
        if (k + 1 != close || (!at(k).is("true") && !at(k).is("false")))
            error(k,
                  "argument to " + quoted(at(i).text) + " must be a constant: write true or false");
    }

    void statement(size_t i) {
        if (!at(i).is("threadgroup") || !inside_function(i)) return;
        size_t start = i;
        while (start && !at(start - 1).is(";") && !at(start - 1).is("{") &&
               !at(start - 1).is("}")) {
            if (at(start - 1).is("(") || at(start - 1).is(",") || at(start - 1).is("<") ||
                at(start - 1).is("="))
                return; /* a cast or a parameter */
            start = at(start - 1).is(")") ? p_.match[start - 1] : start - 1;
        }
        size_t end = i;
        bool   initialised = false, points = false, is_bool = false;
        for (; !at(end).is(";") && end + 1 < p_.tokens().size();
             end = p_.match[end] > end ? p_.match[end] + 1 : end + 1) {
            if (at(end).is("=") || at(end).is("{")) initialised = true;
            if (initialised) continue;
            if (at(end).is("*") || at(end).is("&") ||
                (at(end).is("(") && (at(end + 1).is("&") || at(end + 1).is("*"))))
                points = true;
            if (at(end).is("bool") || at(end).is("bool2") || at(end).is("bool3") ||
                at(end).is("bool4"))
                is_bool = true;
        }
        if (points || at(start).is("return") || at(start).is("typedef") || at(start).is("using"))
            return;
        threadgroup_variable(i, initialised, is_bool);
    }

    void threadgroup_variable(size_t i, bool initialised, bool is_bool) {
        const function *owner = nullptr;
        for (const function &f : p_.functions)
            if (f.body && i > f.body && i < f.body_end) owner = &f;
        if (p_.foreign()) return foreign_threadgroup_variable(*owner, i);
        if (!owner->is_kernel)
            error(i,
                  "non-kernel function variable cannot be declared in threadgroup address space");
        else if (!outermost(*owner, i))
            error(i, "variables in the threadgroup address space can only be declared in the "
                     "outermost scope of a kernel function");
        if (initialised) error(i, "'threadgroup' variable cannot have an initializer");
        if (is_bool)
            error(i,
                  "'threadgroup' variable of type 'bool': the compiler crashes on it; use uchar");
    }

    /* MLX, compiled by Apple in every build, declares them in nested blocks and initialises one. */
    void foreign_threadgroup_variable(const function &owner, size_t i) {
        for (const attribute &a : owner.attributes)
            if (a.name == "mesh" || a.name == "object") return;
        if (!owner.is_kernel)
            error(i,
                  "non-kernel function variable cannot be declared in threadgroup address space");
    }

    bool outermost(const function &f, size_t i) const {
        for (size_t k = f.body + 1; k < i; k++)
            if (at(k).is("{") && p_.match[k] > i) return false;
        return true;
    }

    /* -- Kernel signatures --------------------------------------------------------------------- */

    void kernel_signature(const function &f) {
        if (f.is_template && !p_.foreign())
            p_.error(f.name, "the simulator has no templates of kernels");
        if (f.is_member) p_.error(f.name, "a kernel function cannot be a member");
        if (f.name.is("main") && p_.foreign())
            p_.error(f.name, "a kernel function cannot be named main");
        return_type(f);
        for (const attribute &a : f.attributes) kernel_attribute(f, a);
        std::set<unsigned> used[4];
        for (const parameter &r : f.parameters) kernel_parameter(r, used);
        same_types(f);
    }

    void return_type(const function &f) {
        for (size_t i = f.specifiers; at(i).offset < f.name.offset; i++) {
            if (at(i).is("[[")) i = p_.match[i];
            else if (p_.is_type(i) && !at(i).is("void"))
                return p_.error(f.name, "invalid return type " + quoted(at(i).text) +
                                            " for kernel function");
        }
    }

    void kernel_attribute(const function &f, const attribute &a) {
        if (a.name == "kernel" || a.name == "host_name") return;
        if (a.name == "max_total_threads_per_threadgroup") return thread_limit(f, a);
        if (a.name == "required_threads_per_threadgroup" && version_ >= 400) return;
        p_.error(a.at, "unknown attribute " + quoted(a.name));
    }

    void thread_limit(const function &f, const attribute &a) {
        char      *end = nullptr;
        const long n = std::strtol(a.argument.c_str(), &end, 0);
        if (*end && p_.foreign()) return; /* an expression */
        if (n < 1 || n > 1024)
            p_.error(a.at, "'max_total_threads_per_threadgroup' must be between 1 and 1024");
        else if (n <= 32 && !p_.foreign() && reaches_barrier(f, 0))
            p_.error(a.at, "a limit of 32 threads or less breaks threadgroup_barrier on Apple's "
                           "compiler; declare more, or none");
    }

    bool reaches_barrier(const function &f, unsigned depth) const {
        for (const std::string &c : f.calls) {
            if (c == "threadgroup_barrier") return true;
            const function *g = depth < 32 ? p_.find(c) : nullptr;
            if (g && g != &f && reaches_barrier(*g, depth + 1)) return true;
        }
        return false;
    }

    static std::string text_of(const std::vector<token> &tokens) {
        std::string s;
        for (const token &t : tokens) {
            if (!s.empty() && t.identifier()) s += ' ';
            s += t.text;
        }
        return s;
    }

    static bool has(const parameter &r, const char *word) {
        return std::any_of(r.type.begin(), r.type.end(),
                           [&](const token &t) { return t.is(word); });
    }

    void kernel_parameter(const parameter &r, std::set<unsigned> *used) {
        if (text_of(r.type) == "...")
            return p_.error(r.place, "variadic functions are not supported in Metal");
        const bool points = has(r, "*") || has(r, "&") || (p_.foreign() && has(r, "["));
        if (r.attributes.empty()) {
            if (points && p_.foreign()) return; /* the compiler gives it the next index */
            if (points)
                p_.error(r.place,
                         "kernel argument " + quoted(r.name.text) + " has no [[buffer(n)]]");
            else
                p_.error(r.place, "invalid type " + quoted(text_of(r.type)) +
                                      " for input declaration in a kernel function");
            return;
        }
        for (const attribute &a : r.attributes) {
            if (const resource_kind *k = find_resource(a.name, p_.foreign()))
                resource(r, a, *k, used[k - resources]);
            else if (const builtin_input *b = find_builtin(a.name)) builtin_type(r, a, *b);
            else if (!p_.foreign() || !input_attributes().count(a.name))
                p_.error(a.at, "unknown attribute " + quoted(a.name));
        }
    }

    static bool fits_resource(const parameter &r, const resource_kind &k) {
        const bool points = has(r, "*") || has(r, "&"), texture = k.name == std::string("texture");
        if (texture || k.name == std::string("sampler")) return !points || has(r, "constant");
        if (k.name == std::string("threadgroup")) return has(r, "threadgroup") && points;
        return (has(r, "device") || has(r, "constant")) && (points || has(r, "["));
    }

    void resource(const parameter &r, const attribute &a, const resource_kind &k,
                  std::set<unsigned> &used) {
        const bool fits = fits_resource(r, k);
        if (!fits)
            p_.error(a.at, "type " + quoted(text_of(r.type)) + " is not valid for attribute " +
                               quoted(a.name));
        char      *end = nullptr;
        const long n = std::strtol(a.argument.c_str(), &end, 0);
        if (a.argument.empty() || *end)
            p_.error(a.at, quoted(a.name) + " attribute needs a literal index");
        else if (n < 0 || n > k.most)
            p_.error(a.at, quoted(a.name) +
                               " attribute parameter is out of bounds: must be between 0 and " +
                               std::to_string(k.most));
        else if (!used.insert(static_cast<unsigned>(n)).second)
            p_.error(a.at, "cannot reserve " + quoted(a.name) + " resource location at index " +
                               std::to_string(n));
        if (!p_.foreign()) element_type(r);
    }

    void element_type(const parameter &r) {
        for (const token &t : r.type) {
            if (t.is("size_t") || t.is("ptrdiff_t"))
                p_.error(t, "type " + quoted(t.text) + " may not stand in a buffer");
            if (p_.index_structs.count(t.text))
                p_.error(t, "type " + quoted(t.text) +
                                " holds size_t or ptrdiff_t and may not stand in a buffer");
        }
    }

    static std::string_view base_type(const parameter &r) {
        return r.type.empty() ? std::string_view() : r.type.back().text;
    }

    void builtin_type(const parameter &r, const attribute &a, const builtin_input &b) {
        static const names scalars = {"uint", "ushort", "uint32_t", "uint16_t"};
        static const names vectors = {"uint2", "uint3", "ushort2", "ushort3"};
        const bool         plain = !has(r, "*") && !has(r, "&");
        const bool         ok =
            plain && (scalars.count(base_type(r)) || (b.position && vectors.count(base_type(r))));
        if (!ok)
            p_.error(a.at, "type " + quoted(text_of(r.type)) + " is not valid for attribute " +
                               quoted(a.name));
        if (!a.argument.empty()) p_.error(a.at, quoted(a.name) + " attribute takes no arguments");
    }

    /* Rules between inputs: one type in a family, one number of components among all positions, and
     * no 16-bit thread index beside 32-bit thread positions. */
    void same_types(const function &f) {
        std::string_view family_type[4], thread_position;
        char             components = 0;
        for (const parameter &r : f.parameters)
            for (const attribute &a : r.attributes) {
                const builtin_input *b = find_builtin(a.name);
                if (!b || base_type(r).empty()) continue;
                const std::string_view type = base_type(r);
                if (b->family && !family_type[b->family].empty() && family_type[b->family] != type)
                    p_.error(a.at, quoted(a.name) + " must have the type of its companions, " +
                                       quoted(family_type[b->family]));
                if (b->family) family_type[b->family] = type;
                if (b->id == SIM_THREAD_POSITION) thread_position = type;
                const char n = type.back() == '2' || type.back() == '3' ? type.back() : '1';
                if (!b->position || type == "uint32_t" || n == '1') continue;
                if (components && components != n)
                    p_.error(a.at, "positions must have one number of components; " +
                                       quoted(a.name) + " differs");
                components = n;
            }
        for (const parameter &r : f.parameters)
            for (const attribute &a : r.attributes)
                if (a.name == "thread_index_in_threadgroup" &&
                    thread_position.rfind("uint", 0) == 0 && base_type(r) != "uint")
                    p_.error(a.at, "'thread_index_in_threadgroup' must be uint beside a uint "
                                   "'thread_position_in_threadgroup'");
    }

    /* -- Calls --------------------------------------------------------------------------------- */

    /* NULL for names with overloads: which one is called cannot be told from names. */
    const function *callee(const std::string &name) const {
        const auto is = [&](const function &f) { return f.name.text == name && f.body; };
        return std::count_if(p_.functions.begin(), p_.functions.end(), is) == 1 ? p_.find(name)
                                                                                : nullptr;
    }

    void calls() {
        for (const function &f : p_.functions)
            for (const std::string &c : f.calls) {
                const function *g = callee(c);
                if (g && g->is_kernel)
                    p_.error(f.name, "kernel function " + quoted(c) + " cannot be called from " +
                                         quoted(f.name.text));
            }
        for (const function &f : p_.functions) {
            std::set<const function *> seen;
            if (f.body && (!p_.foreign() || version_ < 240) && reaches(f, f, seen))
                p_.error(f.name, "recursion: " + quoted(f.name.text) +
                                     " calls itself, directly or through others");
        }
    }

    bool reaches(const function &from, const function &target,
                 std::set<const function *> &seen) const {
        for (const std::string &c : from.calls) {
            const function *g = callee(c);
            if (!g || g->is_member != target.is_member) continue;
            if (g == &target) return true;
            if (seen.insert(g).second && reaches(*g, target, seen)) return true;
        }
        return false;
    }
};

} // namespace

const builtin_input *find_builtin(std::string_view name) {
    for (const builtin_input &b : builtin_inputs)
        if (name == b.name) return &b;
    return nullptr;
}

void check(parsed &p) { checker(p).run(); }

} // namespace sim
