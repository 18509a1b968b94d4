/* The tuning cache and saved trials: texts that are merged, searched and resumed. In front of each line of the input stands
 * whether its sum is made right, since few lines would pass otherwise. */
#include "fuzz.h"

static const char *const more[] = {"tmetal-tune 1 1", "tmetal-trials 1 ", "planned", "threads=64", "threads=64,split=4", "operands=staged", "programs=8", "layout=TILED", "split=", ",", "=",
                                   "18446744073709551615", "999999999999999999", "0", "1", "BUILD", "PROGRAM", "SHAPES", "CHIP", NULL};
const fuzz_about fuzz_target = {"tune", NULL, more};

static const char program[] = "tt.sum:[64,64]:1";

/* Words that no dice would find stand as names in the input. */
static size_t put_word(char *to, const char *word, size_t n, const char *const names[5]) {
    static const char *const said[5] = {"BUILD", "PROGRAM", "SHAPES", "CHIP", "HEAD"};
    size_t i;
    for (i = 0; i < 5; i++)
        if (strlen(said[i]) == n && memcmp(said[i], word, n) == 0) word = names[i], n = strlen(names[i]);
    memcpy(to, word, n);
    return n;
}

/* The lines with their words replaced and, where the first byte is odd, their sums. */
static const char *sealed(const char *text, size_t len, const char *const names[5], size_t *n) {
    char  *out = (char *)fuzz_take(len * 70 + 64), sum[17];
    size_t i = 0, to, word, begin;
    for (*n = 0; i < len; i = to + 1) {
        int is_right = text[i] & 1;
        begin = *n;
        for (to = word = i + 1; to <= len; to++) {
            if (to < len && text[to] != ' ' && text[to] != '\n') continue;
            if (word < to) *n += put_word(out + *n, text + word, to - word, names);
            if (to >= len || text[to] == '\n') break;
            out[(*n)++] = ' ';
            word = to + 1;
        }
        if (is_right) {
            fuzz_tune_sum(out + begin, *n - begin, sum);
            out[(*n)++] = ' ';
            memcpy(out + *n, sum, 16);
            *n += 16;
        }
        if (to < len) out[(*n)++] = '\n';
    }
    return out;
}

/* The words of the one line that a finished tuning leaves: the names of this program here. */
static void name_all(const char *const names[5]) {
    static char          kept[5][80];
    static int           is_done;
    const char          *s;
    tmetal_arena         arena;
    tmetal_tune         *tune;
    tmetal_tune_options  how;
    tmetal_result        r;
    size_t               len, i, n;
    if (!is_done) {
        is_done = 1;
        memset(&how, 0, sizeof how);
        how.most = 4;
        arena = fuzz_arena((size_t)32 << 20);
        if (tmetal_tune_begin(program, sizeof program - 1, NULL, &how, &arena, &tune, &r) != TMETAL_OK || (s = tmetal_tune_save(tune, &arena, &len)) == NULL)
            fuzz_fail("no tuning", NULL);
        for (i = 0; i < 6; i++, s += n + 1) { /* tmetal-trials 1 PROGRAM SHAPES CHIP BUILD */
            static const int at[6] = {-1, -1, 1, 2, 3, 0};
            n = strcspn(s, " \n");
            if (at[i] >= 0 && n < sizeof kept[0]) memcpy(kept[at[i]], s, n);
        }
        strcpy(kept[4], "tmetal-tune 1");
    }
    for (i = 0; i < 5; i++) ((const char **)(uintptr_t)names)[i] = kept[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char         *names[5], *a, *b, *cache;
    fuzz_parts          x;
    size_t              a_len, b_len, len;
    tmetal_arena        arena;
    tmetal_result       r;
    tmetal_tune_options how;
    tmetal_options      tuned, opt;
    tmetal_tune        *tune;
    int64_t             ints[3];
    fuzz_begin();
    name_all(names);
    x = fuzz_split(data, size); /* two texts, and a launch: behind the last NUL the second */
    a = sealed(x.text, x.len, names, &a_len);
    b = sealed((const char *)x.rest.p, x.rest.n, names, &b_len);
    arena = fuzz_arena((size_t)4 << 20);
    if (tmetal_tune_merge(a, a_len, b, b_len, &arena, &cache, &len, &r) == TMETAL_OK) {
        if (strlen(cache) != len) fuzz_fail("the length of a cache is wrong", cache);
        fuzz_plain("a cache", cache);
    }
    fuzz_result(&r, FUZZ_MAY_BE_FULL);
    memset(&how, 0, sizeof how), memset(&opt, 0, sizeof opt);
    fuzz_options(&x.rest, &opt);
    opt.trace = NULL;
    ints[0] = ints[2] = 7, ints[1] = (int64_t)1 << 62;
    how.ints = ints, how.n_ints = size % 4, how.most = 4;
    how.programs[0] = size & 8 ? (uint32_t)size << 24 : 0, how.programs[1] = how.programs[2] = how.programs[0] != 0;
    arena.used = 0;
    (void)tmetal_tune_find(a, a_len, program, sizeof program - 1, size & 16 ? &opt : NULL, size & 32 ? &how : NULL, &arena, &tuned, &r);
    fuzz_result(&r, FUZZ_MAY_BE_FULL);
    (void)tmetal_compile_ops(program, sizeof program - 1, &tuned, &arena, &r);
    fuzz_result(&r, FUZZ_MAY_BE_FULL);
    if (size % 16 == 0) { /* dearer: every candidate is compiled */
        arena.used = 0;
        how.most = 4;
        if (tmetal_tune_begin(program, sizeof program - 1, NULL, size & 32 ? &how : NULL, &arena, &tune, &r) == TMETAL_OK) {
            (void)tmetal_tune_resume(tune, a, a_len, &arena, &r);
            fuzz_result(&r, FUZZ_MAY_BE_FULL);
            if (tmetal_tune_next(tune)) tmetal_tune_record(tune, tmetal_tune_next(tune)->index, 1e-300);
            if (!tmetal_tune_best(tune)) fuzz_fail("a tuning without a best", NULL);
            (void)tmetal_tune_end(tune, &arena, &cache, &len, &r);
        }
        fuzz_result(&r, FUZZ_MAY_BE_FULL);
    }
    return 0;
}
