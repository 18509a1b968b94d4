/* Is this buffer right? The rule of the corpus: integers equal; floats close, by a bound that the
 * coarsest float type in the program sets. */
#ifndef CORPUS_COMPARE_H
#define CORPUS_COMPARE_H

#include "recorded.h"

#include <string>
#include <vector>

namespace corpus {

/* What of a program's text bears on how exactly its results are known. */
struct precision {
    std::vector<element> rounds_to; /* float types in which it computes or to which it rounds */
    bool                 tf32_dot = false;
    bool                 fp8_dot = false; /* dot_scaled, or a dot with an fp8 operand */
    bool                 float_atomics = false;
};

/* Reads Triton IR line by line: operations, and the types at the end of each. */
precision read_precision(const std::string &ttir);

/* A bound on the relative error in the norm, and whether single elements within one unit in the
 * last place of an fp8 type are right whatever the norm says. */
struct bound {
    double  norm = 0;
    bool    per_element = false;
    element grid = element::e5m2; /* whose unit, with per_element */
};
bound bound_for(element_type buffer, const precision &p);

struct comparison {
    bool   right = true;
    double error =
        0; /* relative, in the norm over finite elements; for integers the share that differ */
    double      largest = 0;   /* the largest difference of an element */
    size_t      differing = 0; /* elements that are not equal */
    size_t      elements = 0;
    long        first = -1; /* the first element that is wrong, else the first that differs */
    std::string why;        /* empty when right */
};

comparison compare(const uint8_t *got, const uint8_t *want, size_t bytes, element_type type,
                   const bound &b);

/* Is buffer `i` as the case says? A buffer without `out` is as the launch found it. Where the kernel writes to it, that
 * means that the launch computed again what an earlier one had left there, so the bound applies to it as to any result;
 * what a kernel only reads must keep its bytes. */
comparison compare_buffer(const recorded_case &c, unsigned i, const precision &p, bool written, const uint8_t *got);

double decode(const uint8_t *p, element kind);

} // namespace corpus

#endif
