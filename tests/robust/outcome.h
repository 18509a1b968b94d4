/* Everything that tmetal gives for a text, as one number. */
#ifndef TESTS_ROBUST_OUTCOME_H
#define TESTS_ROBUST_OUTCOME_H

#include "../../tmetal.h"

typedef struct outcome {
    uint64_t    hash; /* of Metal, plan, layouts, remarks, diagnostics and the text printed back */
    tmetal_code code;
    size_t      peak; /* of the arena, bytes */
} outcome;

/* `memory` is filled with `fill` before each call. */
outcome outcome_of(const char *text, size_t len, void *memory, size_t bytes, int fill);

#endif
