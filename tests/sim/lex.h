/* Tokens of Metal text. */
#ifndef SIM_LEX_H
#define SIM_LEX_H

#include "sim.h"

#include <string>
#include <string_view>
#include <vector>

namespace sim {

enum class token_kind { identifier, number, string, punctuation, end };

struct token {
    token_kind       kind = token_kind::end;
    std::string_view text;
    size_t           offset = 0;
    unsigned         line = 0, column = 0;

    bool is(std::string_view s) const { return text == s && kind != token_kind::string; }
    bool identifier() const { return kind == token_kind::identifier; }
};

/* A line that begins with '#', and what it means for the check. */
struct directive {
    size_t             offset, bytes;
    unsigned           line;
    std::string        name;   /* include, define, pragma, ... */
    std::string        rest;   /* without comments, trimmed */
    std::vector<token> tokens; /* of the replacement, for define */
};

struct token_list {
    std::vector<token>      tokens; /* ends with an `end` */
    std::vector<directive>  directives;
    std::vector<diagnostic> errors; /* bytes outside ASCII, comments without an end, ... */
    /* Text that a false #if hides: offsets [first, second). */
    std::vector<std::pair<size_t, size_t>> hidden;
};

/* Comments are skipped; `[[` is one token, `]]` and `>>` are two. Conditional text is decided
 * for conditions on __METAL_VERSION__ and names that the text defines; others count as true. */
token_list tokenize(const std::string &file, const std::string &text, int version,
                    bool foreign = false);

} // namespace sim

#endif
