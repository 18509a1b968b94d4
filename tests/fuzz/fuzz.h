/* What all targets share. A target is one file: LLVMFuzzerTestOneInput and fuzz_target; libFuzzer and AFL++ call the first,
 * and so does main.c where neither is there. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#define TMETAL_CACHE
#define TMETAL_LAUNCH_CODE
#define TMETAL_METAL
#define TMETAL_TRITON
#define TMETAL_TUNE
#include "../../tmetal.h"

#include <string.h>

/* Of each target. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
typedef struct fuzz_about {
    const char *name;
    const char *(*word)(size_t i);    /* what its inputs are spelled with: the dictionary; NULL past the end */
    const char *const *more;          /* further words, NULL behind the last */
} fuzz_about;
extern const fuzz_about fuzz_target;

/* A word of the target's dictionary; NULL past the end. */
const char *fuzz_word(size_t i);

/* A promise was broken: said, and then the program ends as by a crash. */
void fuzz_fail(const char *what, const char *more);

/* Memory of one input, which the next fuzz_begin takes back; exactly as long, so that what is read behind it is found. */
void         fuzz_begin(void);
void        *fuzz_take(size_t bytes);
tmetal_arena fuzz_arena(size_t bytes); /* and room for the gaps */

/* -- An input read byte by byte: past its end all is zero ------------------------------------------- */
typedef struct fuzz_in {
    const uint8_t *p;
    size_t         n;
} fuzz_in;
static inline uint32_t fuzz_byte(fuzz_in *in) {
    if (!in->n) return 0;
    in->n--;
    return *in->p++;
}

static inline uint32_t fuzz_number(fuzz_in *in) { /* 4 bytes */
    uint32_t v = 0, i;
    for (i = 0; i < 4; i++) v = v << 8 | fuzz_byte(in);
    return v;
}

static inline uint32_t fuzz_below(fuzz_in *in, uint32_t n) { /* one byte, 0 for n = 0 */
    uint32_t b = fuzz_byte(in);
    return n ? b % n : 0;
}

const char *fuzz_text(fuzz_in *in);                    /* a length and so many bytes; NULL for a first byte of 0 */

/* A text, and what stands behind its last NUL: an input without one is all text. */
typedef struct fuzz_parts {
    const char *text;
    size_t      len;
    fuzz_in     rest;
} fuzz_parts;
fuzz_parts fuzz_split(const uint8_t *data, size_t size);

/* Every field of the options, from the input; at its end all are defaults. */
void fuzz_options(fuzz_in *in, tmetal_options *opt);

/* -- What must hold, whatever came in ------------------------------------------------------------------ */
enum { FUZZ_PLACED = 1, FUZZ_MAY_BE_FULL = 2 };
void fuzz_result(const tmetal_result *r, int how);       /* diagnostics and kernels; FUZZ_PLACED: refusals have a line */
void fuzz_reports(const tmetal_result *r, tmetal_arena *arena); /* every report of it, and each well-formed */
void fuzz_json(const char *what, const char *text);
void fuzz_plain(const char *what, const char *text);     /* text for a terminal: no control characters but \n and \t */

/* -- Opened by header.c --------------------------------------------------------------------------------- */
enum { FUZZ_CACHE_HEAD = 120 };
size_t      fuzz_gap(void);               /* bytes between allocations; 0: no sanitizer */
void        fuzz_close(void *p, size_t n); /* nothing may touch them, until an arena gives them */
const char *fuzz_list_word(size_t i);
const char *fuzz_python_word(size_t i);
void        fuzz_tune_sum(const char *line, size_t n, char sum[17]);
void        fuzz_tune_build(char build[17]);
void        fuzz_confuse(tmetal_module *m, const fuzz_in *dice, tmetal_arena *arena); /* other types, operands, attributes */
void        fuzz_cache_head(unsigned char head[FUZZ_CACHE_HEAD], const char *key, const void *bytes, size_t n);

#endif
