/* Modules of Triton IR made to any length: each shape leans on another part of the compiler. */
#ifndef TESTS_BENCH_SHAPES_H
#define TESTS_BENCH_SHAPES_H

#include <stddef.h>

size_t      shape_count(void);
const char *shape_name(size_t which);

/* A module of about `ops` operations, NUL-terminated; free() it. `*made` is how many it has. */
char *shape_text(size_t which, size_t ops, size_t *len, size_t *made);

#endif
