/* Everything that tmetal gives for a text, as one number. */
#ifndef TESTS_ROBUST_OUTCOME_H
#define TESTS_ROBUST_OUTCOME_H

#include "../../tmetal.h"

/* What of it a change touched: the columns of build/digest --parts. */
enum { OUTCOME_METAL, OUTCOME_PLAN, OUTCOME_REPORTS, OUTCOME_REMARKS, OUTCOME_DIAGS, OUTCOME_PRINTED, OUTCOME_PARTS };

typedef struct outcome {
    uint64_t    hash;                /* of all parts */
    uint64_t    part[OUTCOME_PARTS]; /* Metal; plan; layouts, accesses and barriers; remarks; diagnostics; printed back */
    tmetal_code code;
    size_t      peak; /* of the arena, bytes */
} outcome;

/* What is compiled other than by default: modes from 1 on, by name; NULL past the last. */
const char *outcome_mode(int mode);
int         outcome_is_summary(int mode); /* tmetal_transform, which compiles twice? */
/* The one that a text's bytes choose. */
int outcome_own_mode(const char *text, size_t len);

/* `memory` is filled with `fill` before each call. The text is Triton IR or an op list (tmetal_is_ops). */
outcome outcome_of(const char *text, size_t len, int mode, void *memory, size_t bytes, int fill);

/* tmetal_key of a text by options of which each is given. */
void outcome_key(const char *text, size_t len, char key[TMETAL_KEY_BYTES]);

#endif
