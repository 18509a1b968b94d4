#include "mutate.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* -- Text ------------------------------------------------------------------------------------------- */

static text text_of(const char *p, size_t n) {
    text t;
    t.p = (char *)take_memory(n + 1);
    memcpy(t.p, p, n);
    t.p[n] = '\0';
    t.n = n;
    return t;
}

/* Bytes [from, to) become those of `with`. */
static void splice(text *t, size_t from, size_t to, const char *with, size_t n) {
    char *p = (char *)take_memory(t->n - (to - from) + n + 1);
    memcpy(p, t->p, from);
    if (n) memcpy(p + from, with, n);
    memcpy(p + from + n, t->p + to, t->n - to);
    t->n = t->n - (to - from) + n;
    p[t->n] = '\0';
    free(t->p);
    t->p = p;
}

typedef struct span {
    size_t at, n;
} span;

static int is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

/* The token at or after `at`: a word with its sigil, a string, or one other character. */
static span token_at(const text *t, size_t at) {
    span s;
    while (at < t->n && (t->p[at] == ' ' || t->p[at] == '\n')) at++;
    s.at = at;
    s.n = 0;
    if (at >= t->n) return s;
    if (t->p[at] == '"') {
        for (s.n = 1; at + s.n < t->n && t->p[at + s.n] != '"' && t->p[at + s.n] != '\n'; s.n++) {}
        s.n += at + s.n < t->n;
        return s;
    }
    if (strchr("%^#@!-", t->p[at])) s.n = 1;
    while (at + s.n < t->n && is_word(t->p[at + s.n])) s.n++;
    if (!s.n) s.n = 1;
    return s;
}

static span any_token(const text *t, dice *d) {
    size_t at = dice_below(d, (uint32_t)t->n);
    while (at && is_word(t->p[at]) && is_word(t->p[at - 1])) at--; /* to its beginning */
    if (at && strchr("%^#@!-", t->p[at - 1])) at--;
    return token_at(t, at);
}

static span any_line(const text *t, dice *d) {
    span   s;
    size_t at = dice_below(d, (uint32_t)t->n);
    while (at && t->p[at - 1] != '\n') at--;
    s.at = at;
    for (s.n = 0; at + s.n < t->n && t->p[at + s.n] != '\n'; s.n++) {}
    s.n += at + s.n < t->n;
    return s;
}

/* A token that starts like `like`: the same sigil, a digit for a number, a letter for a word. */
static span similar_token(const text *t, const char *like, dice *d) {
    span s;
    int  tries;
    for (tries = 0; tries < 40; tries++) {
        char a, b;
        s = any_token(t, d);
        if (!s.n) continue;
        a = t->p[s.at];
        b = *like;
        if (a == b) break;
        if (a >= '0' && a <= '9' && b >= '0' && b <= '9') break;
        if (((a | 32) >= 'a' && (a | 32) <= 'z') && ((b | 32) >= 'a' && (b | 32) <= 'z')) break;
    }
    return s;
}

/* -- Words -------------------------------------------------------------------------------------------- */

#define PICK(d, list) ((list)[dice_below((d), (uint32_t)(sizeof(list) / sizeof *(list)))])

static const char *const numbers[] = {"0", "1", "2", "3", "4", "7", "8", "16", "31", "32", "33", "63", "64", "65", "127", "128", "256", "512",
                                      "1024", "4096", "65536", "1048576", "2097152", "-1", "-2", "2147483647", "2147483648", "-2147483648",
                                      "4294967295", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551616",
                                      "1.0", "-0.0", "1.0e400", "1e-400", "0x7F800000", "0xFFFFFFFFFFFFFFFFFF", "0x", "99999999999999999999999"};
static const char *any_word(const pool *p, dice *d) { return p->n_word ? p->word[dice_below(d, (uint32_t)p->n_word)] : "0"; }

void pool_fill(pool *p, const names *files) {
    enum { LONGEST = 24000 };
    size_t i;
    memset(p, 0, sizeof *p);
    while (fuzz_word(p->n_word)) p->n_word++;
    p->word = (const char **)take_memory((p->n_word + 1) * sizeof *p->word);
    for (i = 0; i < p->n_word; i++) p->word[i] = fuzz_word(i);
    p->seed = (text *)take_memory((files->n + 1) * sizeof *p->seed);
    p->longest = LONGEST;
    for (i = 0; i < files->n; i++) {
        text t;
        t.p = read_file(files->name[i], &t.n);
        if (t.n && t.n <= p->longest) p->seed[p->n_seed++] = t;
        else free(t.p);
    }
}

void pool_free(pool *p) {
    size_t i;
    for (i = 0; i < p->n_seed; i++) free(p->seed[i].p);
    free(p->seed);
    free(p->word);
}

/* -- Mutations ------------------------------------------------------------------------------------------ */

static void change_bytes(const pool *p, text *t, dice *d) {
    size_t at = dice_below(d, (uint32_t)t->n), n = 1 + dice_below(d, 8);
    char   c = (char)dice_next(d);
    (void)p;
    if (at + n > t->n) n = t->n - at;
    switch (dice_below(d, 5)) {
    case 0: t->p[at] = (char)(t->p[at] ^ (1 << dice_below(d, 8))); break;
    case 1: splice(t, at, at, &c, 1); break;
    case 2: splice(t, at, at + n, "", 0); break;
    case 3: t->p[at] = (char)(32 + dice_below(d, 95)); break;
    default: t->n = at, t->p[at] = '\0'; break; /* cut off */
    }
}

static void change_token(const pool *p, text *t, dice *d) {
    span        s = any_token(t, d), o;
    const char *w;
    if (!s.n) return;
    switch (dice_below(d, 8)) {
    case 0: splice(t, s.at, s.at + s.n, "", 0); return;
    case 1: {
        text copy = text_of(t->p + s.at, s.n);
        splice(t, s.at, s.at, copy.p, copy.n);
        free(copy.p);
        return;
    }
    case 2: w = PICK(d, numbers); break;
    case 3: case 4: case 5: w = any_word(p, d); break;
    default: { /* like another of this text, or of any */
        const text *from = dice_below(d, 4) ? t : &p->seed[dice_below(d, (uint32_t)p->n_seed)];
        text        copy;
        o = similar_token(from, t->p + s.at, d);
        copy = text_of(from->p + o.at, o.n);
        splice(t, s.at, s.at + s.n, copy.p, copy.n);
        free(copy.p);
        return;
    }
    }
    splice(t, s.at, s.at + s.n, w, strlen(w));
}

static void change_line(const pool *p, text *t, dice *d) {
    span s = any_line(t, d), o = any_line(t, d);
    text copy, other;
    if (!s.n) return;
    copy = text_of(t->p + s.at, s.n);
    switch (dice_below(d, 4)) {
    case 0: splice(t, s.at, s.at + s.n, "", 0); break;
    case 1: splice(t, o.at, o.at, copy.p, copy.n); break;
    case 2:
        if (s.at < o.at) splice(t, o.at, o.at, copy.p, copy.n), splice(t, s.at, s.at + s.n, "", 0);
        else splice(t, s.at, s.at + s.n, "", 0), splice(t, o.at, o.at, copy.p, copy.n);
        break;
    default: {
        const text *from = &p->seed[dice_below(d, (uint32_t)p->n_seed)];
        s = any_line(from, d);
        other = text_of(from->p + s.at, s.n);
        splice(t, o.at, o.at, other.p, other.n);
        free(other.p);
    }
    }
    free(copy.p);
}

/* Every whole word `from` becomes `to`: types and sizes that change everywhere often give right IR. */
static void replace_all(text *t, const char *from, size_t n, const char *to, size_t limit) {
    size_t at;
    for (at = 0; at + n <= t->n && limit; at++) {
        if (memcmp(t->p + at, from, n) != 0) continue;
        if (at && is_word(from[0]) && is_word(t->p[at - 1]) && !(t->p[at - 1] == 'x' && t->n > at + n)) continue;
        if (at + n < t->n && is_word(from[n - 1]) && is_word(t->p[at + n]) && t->p[at + n] != 'x') continue;
        splice(t, at, at + n, to, strlen(to));
        at += strlen(to);
        limit--;
    }
}

static void change_everywhere(const pool *p, text *t, dice *d) {
    static const char *const elem[] = {"f32", "f16", "bf16", "f64", "i1", "i8", "i16", "i32", "i64", "f8E5M2", "f8E4M3FN"};
    static const char *const size[] = {"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048", "4096", "8192", "0", "3"};
    span s;
    text word;
    (void)p;
    switch (dice_below(d, 4)) {
    case 0: { /* an element type */
        const char *from = PICK(d, elem);
        replace_all(t, from, strlen(from), PICK(d, elem), 1000);
        return;
    }
    case 1: { /* a size, and the end of ranges with it */
        const char *from = PICK(d, size);
        replace_all(t, from, strlen(from), PICK(d, size), 1000);
        return;
    }
    case 2: /* one operation for another of its dialect */
        s = any_token(t, d);
        if (!s.n || !memchr(t->p + s.at, '.', s.n)) return;
        word = text_of(t->p + s.at, s.n);
        {
            const char *op = any_word(p, d), *dot = strchr(word.p, '.');
            int         tries;
            for (tries = 0; tries < 60 && strncmp(op, word.p, (size_t)(dot - word.p)) != 0; tries++) op = any_word(p, d);
            replace_all(t, word.p, word.n, op, dice_below(d, 2) ? 1 : 1000);
        }
        free(word.p);
        return;
    default: /* a value for another */
        s = any_token(t, d);
        if (!s.n || t->p[s.at] != '%') return;
        word = text_of(t->p + s.at, s.n);
        s = similar_token(t, "%", d);
        if (s.n) {
            text to = text_of(t->p + s.at, s.n);
            replace_all(t, word.p, word.n, to.p, 1 + dice_below(d, 3));
            free(to.p);
        }
        free(word.p);
    }
}

/* Many of one thing: depth, length, arguments. */
static void change_amount(const pool *p, text *t, dice *d) {
    span   s = any_token(t, d);
    size_t n = 1u << dice_below(d, 10), i;
    text   run;
    if (!s.n || t->n > p->longest || s.n * n > 20000) return;
    run.n = s.n * n;
    run.p = (char *)take_memory(run.n + 1);
    for (i = 0; i < n; i++) memcpy(run.p + i * s.n, t->p + s.at, s.n);
    run.p[run.n] = '\0';
    splice(t, s.at, s.at + s.n, run.p, run.n);
    free(run.p);
}

text mutate(const pool *p, dice *d) {
    const text *from = &p->seed[dice_below(d, (uint32_t)p->n_seed)];
    text        t = text_of(from->p, from->n);
    uint32_t    n = 1 + dice_below(d, 1 + dice_below(d, 8)), gentle = dice_below(d, 2);
    while (n-- && t.n) {
        uint32_t k = dice_below(d, 16);
        if (gentle || k < 6) change_everywhere(p, &t, d);
        else if (k < 11) change_token(p, &t, d);
        else if (k < 14) change_line(p, &t, d);
        else if (k < 15) change_bytes(p, &t, d);
        else change_amount(p, &t, d);
    }
    return t;
}
