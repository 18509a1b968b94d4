/* Modules made from others by changing a few places: what a rewrite looks for, but spoiled. */
#ifndef INTERP_MUTATE_H
#define INTERP_MUTATE_H

#include "made.h"

#include <string>
#include <vector>

namespace made {

std::vector<std::string> lines_of(const std::string &text);
std::string              text_of(const std::vector<std::string> &lines);
/* Words: "%name", "tensor<4xf32>", "0.5e-3", ...; where they lie. */
struct word {
    size_t      at;
    std::string text;
};
std::vector<word> words_of(const std::string &line);
/* `line` with a word replaced. */
std::string replaced(const std::string &line, const word &w, const std::string &by);

/* As tmetal prints it, without ` loc(...)`, the table of places and comments; the text itself where it cannot be read. */
std::string plain_text(const std::string &ttir);

/* One to three changes; `said` tells them. What comes out can be read, but perhaps not run: an index out of bounds, ... */
void mutate(std::string &ttir, launch &l, numbers &rng, std::string &said);

} // namespace made

#endif
