/* The front end: what can be said about Metal text before clang sees it, and the text for clang.
 *
 * Clang checks types. What it cannot know is checked here: what Metal leaves out of C++, kernel
 * signatures, attributes, reserved names, where threadgroup memory may be declared. Then the text
 * is edited in place, line by line, so that clang's messages can be mapped back to its columns. */
#ifndef SIM_MSL_H
#define SIM_MSL_H

#include "lex.h"

#include <set>

namespace sim {

/* A replacement in the text. Edits never change the number of lines. */
struct edit {
    size_t      offset, bytes;
    std::string text;
};

struct attribute {
    std::string name, argument;
    token       at;
};

/* A parameter of a kernel: tokens [first, last) without its attributes. */
struct parameter {
    std::vector<token>     type; /* without the name */
    token                  name, place;
    std::vector<attribute> attributes;
};

struct function {
    token                    name;
    size_t                   specifiers = 0;         /* first token */
    size_t                   open = 0, close = 0;    /* tokens of ( and ) */
    size_t                   body = 0, body_end = 0; /* tokens of { and }, 0 for a prototype */
    bool                     is_kernel = false, is_template = false, is_member = false;
    std::vector<attribute>   attributes;
    std::vector<parameter>   parameters; /* kernels only */
    std::vector<std::string> calls;
    /* Filled by check_emitted(): statements with loops and functions expanded, bytes of arrays a
     * thread. */
    uint64_t statements = 0, array_bytes = 0;
};

/* The structure of a text, filled by parse(). */
struct parsed {
    const source            *from = nullptr;
    token_list               lexed;
    std::vector<function>    functions;
    std::set<std::string_view> type_names;          /* declared in the text */
    std::set<std::string_view> member_names;        /* of its structs */
    std::set<std::string_view> index_structs;       /* structs that hold size_t or ptrdiff_t */
    bool                       has_methods = false; /* some struct has a member function */
    std::vector<diagnostic>  errors;
    std::vector<size_t>      match; /* for brackets: the token of the partner, else 0 */

    const std::vector<token> &tokens() const { return lexed.tokens; }
    void                      error(const token &at, const std::string &text) {
        errors.push_back({from->name, at.line, at.column, text});
    }
    bool      is_type(size_t i) const;         /* token i names a type */
    bool      is_builtin_type(size_t i) const; /* one that the text did not declare */
    function *find(std::string_view name);
    bool      foreign() const { return from->foreign; }
};

parsed parse(const source &s);

/* msl_check.cc: everything that is an error in Metal but not in C++. */
void check(parsed &p);

/* msl_rules.cc: what Metal allows and Apple's compilers or GPUs are known to get wrong. */
void check_emitted(parsed &p);
/* msl_shapes.cc, called from there: the same for loops, functions and declarations as a whole. */
void check_structure(parsed &p);

/* Built-in inputs of kernels; NULL when there is none of that name. */
struct builtin_input {
    const char *name;
    unsigned    id;       /* sim_builtin_id */
    bool        position; /* may be a vector; otherwise an index */
    unsigned    family;   /* inputs that must have one type together; 0: alone */
};
const builtin_input *find_builtin(std::string_view name);

/* Text for clang, and the way back from its lines and columns. */
struct rewritten {
    std::string         text;
    std::vector<kernel> kernels;

    /* 1-based column of `text` to that of the source, same line. */
    unsigned original_column(unsigned line, unsigned column) const;

    struct shift {
        unsigned line, begin, end; /* columns in `text` */
        unsigned original, original_end;
    };
    std::vector<shift> shifts; /* in order */
};

rewritten rewrite(parsed &p, unsigned unit);

} // namespace sim

#endif
