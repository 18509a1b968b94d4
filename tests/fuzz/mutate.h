/* Triton IR made a little wrong, or made into other Triton IR, by dice alone. */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include "../robust/text.h"

typedef struct text {
    char  *p; /* by malloc, NUL-terminated */
    size_t n;
} text;

/* Seeds of the mutations: texts, and all words that ops and types are spelled with. */
typedef struct pool {
    text  *seed;
    size_t n_seed;
    const char **word; /* the target's dictionary */
    size_t n_word;
    size_t longest; /* texts longer than this are not grown further */
} pool;

void pool_fill(pool *p, const names *files);
void pool_free(pool *p);

/* A new text from one of the pool; free its `p`. The same dice give the same text. */
text mutate(const pool *p, dice *d);

#endif
