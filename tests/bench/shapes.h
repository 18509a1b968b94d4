/* Modules of Triton IR and op lists made to any length: each shape leans on another part of the compiler. */
#ifndef TESTS_BENCH_SHAPES_H
#define TESTS_BENCH_SHAPES_H

#include <stddef.h>

size_t      shape_count(void);
const char *shape_name(size_t which);
int         shape_is_list(size_t which); /* for tmetal_compile_ops */

/* A module or list of about `ops` operations, NUL-terminated; free() it. `*made` is how many it has. */
char *shape_text(size_t which, size_t ops, size_t *len, size_t *made);

#endif
