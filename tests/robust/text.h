/* Files and numbers that the programs here share; C99 and nothing but libc and POSIX directories. */
#ifndef TESTS_ROBUST_TEXT_H
#define TESTS_ROBUST_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Names of files, sorted; free with names_free. */
typedef struct names {
    char **name;
    size_t n, cap;
} names;

/* All files below the directory, or the file itself, whose name ends in `suffix`. */
void names_find(names *to, const char *path, const char *suffix);
void names_sort(names *to);
void names_free(names *to);

/* The whole file with a NUL behind it, by malloc; a message and exit(2) where that fails. */
char *read_file(const char *path, size_t *len);
void *take_memory(size_t bytes);

/* FNV-1a over 64 bits. */
#define HASH_START 14695981039346656037u
static inline uint64_t hash_more(uint64_t hash, const void *p, size_t n) {
    const unsigned char *b = (const unsigned char *)p;
    size_t               i;
    for (i = 0; i < n; i++) hash = (hash ^ b[i]) * 1099511628211u;
    return hash;
}

/* A generator of numbers that gives the same row for the same seed everywhere (xorshift64*). */
typedef struct dice {
    uint64_t state;
} dice;
void     dice_seed(dice *d, uint64_t seed);
uint64_t dice_next(dice *d);
uint32_t dice_below(dice *d, uint32_t n); /* 0 for n = 0 */

#endif
