/* A target without libFuzzer: files as they are, or changed by dice.
 *
 *     fuzz-TARGET FILE-OR-DIRECTORY...                              each file once
 *     fuzz-TARGET --attempts N [--from N] FILE-OR-DIRECTORY...      N changed ones; the same number and files give the same input
 *     fuzz-TARGET --seconds N [--from N] FILE-OR-DIRECTORY...       as many as N seconds allow
 *     fuzz-TARGET --damage FILE-OR-DIRECTORY...                     cut short at every byte, every bit flipped, odd bytes put
 *                                                                   in everywhere, every number out of range
 *     fuzz-TARGET --expect FILE...                                  a first line "// TMnnn" says what a file must give
 *     fuzz-TARGET --words                                           the dictionary, for libFuzzer and AFL++
 *
 * A finding ends the program; its input is then in TARGET.last of the directory $FUZZ_OUT (else of this one). */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "fuzz.h"
#include "mutate.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static char last[600];

static const char *input; /* at hand */
static size_t      input_n;

/* Sanitizers end by a signal too. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void) { return "abort_on_error=1:detect_leaks=0:allocator_may_return_null=1"; }
const char *__ubsan_default_options(void) { return "abort_on_error=1:print_stacktrace=1"; }

static void died(int signal_number) {
    int fd = open(last, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, input, input_n) != (ssize_t)input_n) _exit(3);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void hung(int signal_number) {
    static const char what[] = "fuzz: takes longer than an input of its size may\n";
    (void)signal_number;
    if (write(2, what, sizeof what - 1) < 0) _exit(3);
    abort();
}

/* Processor time, so that a busy machine changes nothing: 30 seconds, and one more for each 20 KB. */
static void limit(size_t size) {
    struct itimerval t;
    memset(&t, 0, sizeof t);
    t.it_value.tv_sec = (time_t)(30 + size / 20000);
    setitimer(ITIMER_PROF, &t, NULL);
}

static void attempt(const char *p, size_t n) {
    uint8_t *exact = (uint8_t *)take_memory(n + !n);
    input = p;
    input_n = n;
    memcpy(exact, p, n);
    limit(n);
    (void)LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

static int expect(const char *path) {
    size_t        len;
    char         *t = read_file(path, &len);
    tmetal_arena  arena = tmetal_arena_on(take_memory(2 * tmetal_arena_bound(len)), 2 * tmetal_arena_bound(len));
    tmetal_result r;
    int           want = strncmp(t, "// TM", 5) == 0 ? atoi(t + 5) : 0, got = (int)tmetal_compile(t, len, NULL, &arena, &r);
    if (got != want) printf("%s: gives TM%03d\n", path, got);
    free(arena.base);
    free(t);
    return got != want;
}

static int words(void) {
    const char *w;
    size_t      i;
    for (i = 0; (w = fuzz_word(i)) != NULL; i++) {
        putchar('"');
        for (; *w; w++)
            if (*w == '"' || *w == '\\' || (unsigned char)*w < 32 || (unsigned char)*w > 126) printf("\\x%02X", (unsigned char)*w);
            else putchar(*w);
        puts("\"");
    }
    return 0;
}

/* -- Damage, all of it -------------------------------------------------------------------------------- */

/* Bytes [at, at + gone) become `with`. */
static void attempt_with(const char *p, size_t n, size_t at, size_t gone, const char *with, size_t k) {
    char *t = (char *)take_memory(n - gone + k + 1);
    memcpy(t, p, at);
    memcpy(t + at, with, k);
    memcpy(t + at + k, p + at + gone, n - at - gone);
    attempt(t, n - gone + k);
    free(t);
}

static int is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static size_t damage(const char *p, size_t n) {
    /* a NUL; the byte order marks; ends of lines; no UTF-8, too long, a surrogate, past the last character; what changes a
     * terminal, and the direction of writing; trigraphs */
    static const char *const odd[] = {"", "\xef\xbb\xbf", "\xff\xfe", "\r", "\r\n", "\v", "\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x80", "\x1b[31m", "\x7f", "\xc2\x85",
                                      "\xe2\x80\xae", "?\?/", "?\?=", "\\", "\\\n", "\"", "'", "*/", "//", "\xc3\xa9", "\xef\xbc\x91"};
    static const char *const extremes[] = {"0", "-1", "1", "3", "31", "33", "65536", "1048577", "2097152", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
                                           "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551616", "340282366920938463463374607431768211456",
                                           "0x80000000", "1e308", "1e400", "-0.0", "1e-400", "00", "1_000"};
    size_t i, k, to, tried = 0;
    char  *t = (char *)take_memory(2 * n + 1);
    for (i = 0; i < n; i++, tried++) attempt(p, i);
    memcpy(t, p, n);
    for (i = 0; i < 8 * n; i++, tried++) {
        t[i / 8] = (char)(t[i / 8] ^ 1 << i % 8);
        attempt(t, n);
        t[i / 8] = p[i / 8];
    }
    for (i = 0; i <= n; i++) /* where words begin and end */
        for (k = 0; k < sizeof odd / sizeof *odd && (i == 0 || i == n || is_word(p[i]) != is_word(p[i - 1]) || p[i] == '\n'); k++, tried++)
            attempt_with(p, n, i, 0, odd[k], *odd[k] ? strlen(odd[k]) : 1);
    for (i = 0; i < n; i = to) {
        for (to = i; to < n && p[to] >= '0' && p[to] <= '9'; to++) {}
        for (k = 0; k < sizeof extremes / sizeof *extremes && to > i; k++, tried++) attempt_with(p, n, i, to - i, extremes[k], strlen(extremes[k]));
        if (to == i) to++;
    }
    for (i = k = 0; i < n; i++) { /* every end of a line as Windows writes it */
        if (p[i] == '\n') t[k++] = '\r';
        t[k++] = p[i];
    }
    attempt(t, k);
    free(t);
    return tried + 1;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void changed(names *files, uint64_t from, double seconds, uint64_t attempts) {
    pool     p;
    uint64_t k;
    double   end = now() + seconds;
    pool_fill(&p, files);
    for (k = from; p.n_seed && (attempts ? k - from < attempts : now() < end); k++) {
        dice d;
        text t;
        dice_seed(&d, k);
        t = mutate(&p, &d);
        attempt(t.p, t.n);
        free(t.p);
    }
    printf("fuzz: %s: attempts %llu to %llu from %lu files\n", fuzz_target.name, (unsigned long long)from, (unsigned long long)k - 1, (unsigned long)p.n_seed);
    pool_free(&p);
}

int main(int argc, char **argv) {
    names       files;
    double      seconds = 0;
    uint64_t    from = 1, attempts = 0;
    size_t      k, len, tried = 0;
    int         i, expects = 0, damages = 0, bad = 0;
    const char *out = getenv("FUZZ_OUT");
    memset(&files, 0, sizeof files);
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--words") == 0) return words();
        if (strcmp(argv[i], "--expect") == 0) expects = 1;
        else if (strcmp(argv[i], "--damage") == 0) damages = 1;
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) seconds = atof(argv[++i]);
        else if (strcmp(argv[i], "--attempts") == 0 && i + 1 < argc) attempts = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--from") == 0 && i + 1 < argc) from = strtoull(argv[++i], NULL, 10);
        else names_find(&files, argv[i], "");
    }
    names_sort(&files);
    snprintf(last, sizeof last, "%s/%s.last", out ? out : ".", fuzz_target.name);
    signal(SIGPROF, hung);
    signal(SIGABRT, died);
    if (!fuzz_gap()) signal(SIGSEGV, died); /* else a sanitizer says more */
    for (k = 0; k < files.n && seconds == 0 && !attempts; k++) {
        char *t = read_file(files.name[k], &len);
        attempt(t, len);
        if (damages) tried += damage(t, len);
        if (expects) bad |= expect(files.name[k]);
        free(t);
    }
    if (seconds > 0 || attempts) changed(&files, from, seconds, attempts);
    else if (damages) printf("fuzz: %s: %lu ways to damage %lu files\n", fuzz_target.name, (unsigned long)tried, (unsigned long)files.n);
    else if (!expects) printf("fuzz: %s: %lu files\n", fuzz_target.name, (unsigned long)files.n);
    names_free(&files);
    return bad;
}
