/* tmetal: the command line. A thin user of tmetal.h: whatever it prints, a C program can have as data.
 *
 *   build   cc -O2 -o tmetal examples/tmetal.c
 *   use     tmetal compile softmax.ttir --emit msl
 *
 * Exit codes: 0 everything asked for was done; 1 the input was refused; 2 the command was wrong.
 *
 * Each subcommand is a row of the table `commands` near the end, each option a row of OPTIONS: its --help,
 * and what it takes, follow from the rows. To add one: a function of a request, a row, its test in tests/cli. */
#ifndef _WIN32
#    define _XOPEN_SOURCE 700 /* isatty, popen, realpath */
#    define _DARWIN_C_SOURCE   /* mkdtemp, on macOS */
#endif
#define TMETAL_IMPLEMENTATION
#define TMETAL_CACHE
#define TMETAL_LAUNCH_CODE
#define TMETAL_METAL
#define TMETAL_TRITON
#define TMETAL_TUNE
#include "../tmetal.h"
#include "tmetal/page.h"
#include "tmetal/page_html.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#    include <io.h>
#    define isatty _isatty
#    define popen  _popen
#    define pclose _pclose
#else
#    include <sys/stat.h>
#    include <sys/wait.h>
#    include <unistd.h>
#endif

/* The tests run this by way of their own Metal. */
#ifdef EXAMPLE_SYMBOL
tmetal_function EXAMPLE_SYMBOL(void *user, const char *name);
#else
#    define EXAMPLE_SYMBOL NULL
#endif

/* -- What may be asked ----------------------------------------------------------------------------- */

/* One row an option: id, spelling, another spelling, what its value is called ("" for a switch), its help. One
 * spelling may have several rows: a command names the rows that it takes. */
#define OPTIONS(X)                                                                                               \
    X(OUT, "-o", "--output", "OUT", "write to OUT, whole or not at all (default: standard output)")              \
    X(JSON, "--json", "", "", "as JSON")                                                                         \
    X(HTML, "--html", "", "", "as one page for a browser: source, IR, Metal and drawings side by side")          \
    X(AGX, "--agx", "", "FILE", "with --html: instructions on an M1 beside each line of the Metal, from\n"       \
                                "make agx-report JSON=FILE")                                                     \
    X(DIAG_JSON, "--json", "", "", "what is wrong as JSON on standard output; Metal goes where -o says, if it does")     \
    X(RESULTS, "-o", "--output", "OUT", "write the results as JSON to OUT, whole or not at all; - is standard output")     \
    X(OP_LIST, "--json", "", "FILE", "read an op list from FILE")                                                \
    X(OPERATION, "--operation", "", "TEXT", "an operation, e.g. \"tt.sum:[1024,1024]:1\"")                       \
    X(LISTS, "--lists", "", "", "the operations of op lists, with inputs and arguments")                         \
    X(LARGE, "--large", "", "", "more operations: types, sizes, axes, a block of a network")                     \
    X(PLOT, "-o", "--output", "FILE.svg", "draw the predicted times")                                            \
    X(SIZES, "--sizes", "", "MxN,...", "rows x columns (default 128x1024,256x1024,512x1024,1024x1024)")           \
    X(LAYOUTS, "--layouts", "", "L,...", "DEFAULT,ROW_MAJOR,COLUMN_MAJOR,TILED,COALESCED (default: these)")      \
    X(DTYPE, "--dtype", "", "TYPE", "float32 (default), float16 or bfloat16")                                    \
    X(LAUNCH_US, "--launch-us", "", "US", "what a launch is assumed to cost, in microseconds (default 5)")       \
    X(RECORD, "--record", "", "", "what the machine says of itself, for --facts")                                \
    X(FACTS, "--facts", "", "FILE", "judge what --record printed elsewhere")                                     \
    X(DEVICE, "--device", "", "", "on this machine's GPU (a Mac; make device builds what it takes)")             \
    X(YES, "--yes", "", "", "without pauses")                                                                    \
    X(SEED, "--seed", "", "N", "order of threadgroups and threads (default 1)")                                  \
    X(SVG, "--svg", "", "OUT", "draw them to OUT: what a thread, a simdgroup and a threadgroup hold")          \
    X(VALUE, "--value", "", "NAME", "only the value of this name, e.g. %x")                                      \
    X(VERBOSE, "-v", "--verbose", "", "more of each: where it lies, and why")                                    \
    X(VERSION, "--version", "", "", "the version")                                                               \
    X(EMIT, "--emit", "", "WHAT", "msl (default), plan, ir, layouts, remarks or all of these; mlx: what\n"        \
                                  "mx.fast.metal_kernel takes, as JSON; or a language: a file that\n"           \
                                  "compiles and launches it: c, objc, metal-cpp, swift,\n"                      \
                                  "torch-py or mlx-py")                                                          \
    X(GPU, "--gpu", "", "NAME", "a row of the GPU table, e.g. apple-m2 (default apple-m1)")                      \
    X(THREADS, "--threads", "", "N", "threads a threadgroup, a power of two from 32 to 1024")                    \
    X(HAS, "--has", "", "FEATURE,...", "features that the GPU has beside its row's, e.g. DIRECT_DOT (docs/hardware.md)") \
    X(LACKS, "--lacks", "", "FEATURE,...", "features that it lacks in spite of its row")                        \
    X(MSL, "--msl", "", "VERSION", "newest Metal version that may be used, e.g. 3.1")                            \
    X(ALIAS, "--alias", "", "P=Q,...", "parameters that may overlap, counted from 0, or all; without effect\n" \
                                         "where the kernel writes none of them")                              \
    X(LAYOUT, "--layout", "", "SPEC", "layouts forced on reductions: COALESCED, or %sum=TILED,... by value or\n"   \
                                      "id; DEFAULT, ROW_MAJOR, COLUMN_MAJOR, TILED, COALESCED")                   \
    X(NO_FUSION, "--no-fusion", "", "", "a*b+c keeps two roundings")                                             \
    X(LOGGING, "--logging", "", "", "tt.print by MSL 3.2 logging instead of a debug buffer")                     \
    X(NO_FP64, "--no-fp64", "", "", "refuse arithmetic on fp64 instead of computing it in software")             \
    X(PLAIN, "--plain", "", "", "no optimisation, for comparing results")                                        \
    X(TWO_STAGE, "--two-stage", "", "N", "kernels that only reduce a row become two: N threadgroups a row,\n"     \
                                         "a power of two; 1: as the GPU asks for")                                \
    X(OPERANDS, "--operands", "", "WAY", "operands of tt.dot: auto (default: as the GPU likes it), direct from\n"   \
                                         "device memory, or staged in threadgroup memory")                       \
    X(PROGRAMS, "--programs", "", "N", "so many programs in a threadgroup, where each reduces a short row, a\n"     \
                                       "power of two up to 64; 1: never; else as fits")                            \
    X(PARTS, "--parts", "", "", "kernels take where their part of a grid begins, so that a long launch may be\n" \
                                "sent in several command buffers")                                               \
    X(BOUNDS, "--bounds", "", "", "every access is compared with the length of its buffer, which the launch gives:\n" \
                                  "what lies outside reads as 0 and is not written")                                    \
    X(ALSO_UNALIGNED, "--also-unaligned", "", "", "torch-py and mlx-py: also the kernel for any arguments, which is taken for\n" \
                                                  "those that it was not specialized on (:16, tt.divisibility)")    \
    X(CACHE, "--cache", "", "DIR", "keep what is compiled in DIR, and take it from there (256 MiB at most)")       \
    X(TUNED, "--tuned", "", "FILE", "a tuning cache: what is best for this kernel is taken from FILE")              \
    X(TUNE_TO, "--tuned", "", "FILE", "a tuning cache: what is found is put into FILE")                         \
    X(STRATEGY, "--strategy", "", "WHAT", "guided (default: a quarter of the candidates), exhaustive, random or\n"  \
                                          "model: nothing is timed")                                            \
    X(TRIALS, "--trials", "", "N", "candidates to time at most")                                                \
    X(ORDER, "--seed", "", "N", "of the random strategy")                                                       \
    X(GRID, "--grid", "", "X[,Y[,Z]]", "Triton programs of the launch; of a .py file also by its constants:\n" \
                                       "\"cdiv(4096, BLOCK)\"")                                               \
    X(ARGS, "--args", "", "A,...", "arguments of the launch, one a parameter: an integer, a float with a point,\n" \
                                   "or @BYTES for a buffer; of a .py file beside --signature")                  \
    X(DEBUG, "--debug", "", "", "print the IR after each pass to standard error, as TRITON_METAL_DEBUG=1 does")  \
    X(IR_OUT, "-o", "--output", "OUT", "write the changed IR to OUT, and the summary to standard output")        \
    X(SUMMARY, "--summary", "", "", "the summary without the IR")                                                \
    X(KERNEL, "--kernel", "", "NAME", "which of its kernels")                                     \
    X(SIGNATURE, "--args", "--signature", "TYPES", "types of the arguments, one a parameter, with :16 where the\n" \
                                        "argument is a multiple of 16: \"*fp32:16, i32\"")                      \
    X(CONST, "--const", "", "NAME=VALUE", "a tl.constexpr parameter; any number of them")         \
    X(GLOBAL, "--global", "", "NAME=VALUE", "a name of the module that its text does not give")     \
    X(ENV, "--env", "", "NAME=VALUE", "a variable of the environment that its text asks for; no others are set") \
    X(MODULE, "--module", "", "NAME=FILE", "the text of a module that it imports")                \
    X(CONFIG, "--config", "", "N", "the Nth configuration of @triton.autotune (tmetal kernels\n" \
        "lists them): its values, but num_warps and the like have no\neffect; without it the tuner takes all") \
    X(TRITON, "--triton", "", "VERSION", "3.6, 3.7, 3.8 or 3.9: whose rules decide where the same text means\n" \
                                         "different things (default: the newest)")           \
    X(OPTION, "--option", "", "debug=True", "keep its asserts and tests for overflow;\n"\
      "with sanitize_overflow=False its asserts alone")                                                                    \
    X(TEST_IR, "--create-test-ir", "", "", "write a kernel to try this on, and nothing else")

typedef enum option_id {
#define X(id, name, other, value, help) OPT_##id,
    OPTIONS(X)
#undef X
    OPTION_COUNT
} option_id;

typedef struct option {
    const char *name, *other, *value, *help;
} option;

static const option options[] = {
#define X(id, name, other, value, help) {name, other, value, help},
    OPTIONS(X)
#undef X
};

/* Rows that a command takes, as a set. */
#define TAKES(id) ((uint64_t)1 << OPT_##id)
typedef char options_fit_a_set[OPTION_COUNT <= 64 ? 1 : -1];

/* What decides for which GPU and how is compiled: all commands that compile take these. */
#define TAKES_TARGET (TAKES(GPU) | TAKES(HAS) | TAKES(LACKS) | TAKES(THREADS) | TAKES(MSL) | TAKES(NO_FP64))
#define TAKES_SOURCE (TAKES(KERNEL) | TAKES(SIGNATURE) | TAKES(CONST) | TAKES(GLOBAL) | TAKES(ENV) | TAKES(MODULE) | TAKES(CONFIG) | TAKES(OPTION) | TAKES(TRITON))
#define TAKES_COMPILE (TAKES_SOURCE | TAKES_TARGET | TAKES(ALIAS) | TAKES(LAYOUT) | TAKES(NO_FUSION) | TAKES(LOGGING) | TAKES(PLAIN) | TAKES(TWO_STAGE) | TAKES(OPERANDS) | TAKES(PROGRAMS) | TAKES(DEBUG) | TAKES(BOUNDS))

/* A command line that was read. */
typedef struct request {
    const char           *self; /* argv[0] */
    const struct command *command;
    const char           *value[OPTION_COUNT]; /* as given; "" for a switch; NULL: not given */
    tmetal_options        opt;                 /* from those of TAKES_COMPILE */
    tmetal_gpu_limits     limits;              /* from --has and --lacks */
    char                **files;               /* what is no option */
    int                   n_files;
    int                   colour;              /* 1: standard output is a terminal that shows colours */
    int                   error_colour;        /* 1: standard error is */
    int                   progress;            /* 1: standard error is a terminal */
    int                   quiet;               /* 1: what is only tried may be refused without a word */
} request;

typedef struct command {
    const char *name, *operands, *what;
    int         fewest, most; /* operands; -1: any number */
    uint64_t    options;
    int (*run)(request *r);   /* returns the exit code */
    const char *more;         /* further lines of --help; "" */
} command;

static int tune_command(request *r);
static int completion_command(request *r);
static int man_command(request *r);

static int misuse(const request *r, const char *what, const char *which) {
    fprintf(stderr, "tmetal: %s%s%s\nTry 'tmetal %s%s--help'.\n", what, which ? " " : "", which ? which : "",
            r && r->command ? r->command->name : "", r && r->command ? " " : "");
    return 2;
}

/* Letters to change, add or leave out to get from one word to the other; of words of up to 30 letters. */
static unsigned distance_of(const char *a, const char *b) {
    unsigned row[32], i, k, n = (unsigned)strlen(b), corner, up;
    if (n > 30 || strlen(a) > 30) return 99;
    for (k = 0; k <= n; k++) row[k] = k;
    for (i = 1; a[i - 1]; i++) {
        corner = row[0];
        row[0] = i;
        for (k = 1; k <= n; k++) {
            up = row[k];
            row[k] = corner + (a[i - 1] != b[k - 1]);
            if (up + 1 < row[k]) row[k] = up + 1;
            if (row[k - 1] + 1 < row[k]) row[k] = row[k - 1] + 1;
            corner = up;
        }
    }
    return row[n];
}

/* An unknown word, and the known one that is closest to it, if any is close. */
static int misspelt(const request *r, const char *what, const char *which, const char *closest, unsigned distance) {
    char text[160];
    if (!closest || distance > 2 || distance + 1 >= strlen(which)) return misuse(r, what, which);
    snprintf(text, sizeof text, "%.60s; did you mean %.60s?", which, closest);
    return misuse(r, what, text);
}

/* -- Reading and writing ---------------------------------------------------------------------------- */

/* A whole stream in memory, with a NUL behind it; NULL after a message. */
static char *read_stream(FILE *f, const char *path, size_t *len) {
    char  *text = NULL, *more;
    size_t cap = 0, n = 0, got;
    do {
        if (n + 1 >= cap) {
            cap = cap ? cap * 2 : 65536;
            more = (char *)realloc(text, cap);
            if (!more) {
                fprintf(stderr, "tmetal: %s: out of memory\n", path);
                free(text);
                return NULL;
            }
            text = more;
        }
        got = fread(text + n, 1, cap - n - 1, f);
        n += got;
    } while (got);
    if (ferror(f)) {
        fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
        free(text);
        return NULL;
    }
    text[n] = '\0';
    *len = n;
    return text;
}

static char *read_all(const char *path, size_t *len) {
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *text;
    if (!f) {
        fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    text = read_stream(f, path, len);
    if (f != stdin) fclose(f);
    return text;
}

/* Devices and pipes are written as they are; only a plain file can be replaced. */
static int is_special(const char *path) {
#ifdef _WIN32
    (void)path;
    return 0;
#else
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
#endif
}

/* The file that a link leads to, so that the link stays; the caller frees it. NULL: path itself. */
static char *end_of_links(const char *path) {
#ifdef _WIN32
    (void)path;
    return NULL;
#else
    return realpath(path, NULL);
#endif
}

static int write_to(FILE *f, const char *text, size_t len) {
    return fwrite(text, 1, len, f) == len && fflush(f) == 0;
}

/* A file beside the target, then renamed: a reader never sees half of it, and what was there stays when
 * something fails. */
static int replace_file(const char *path, const char *text, size_t len) {
    char *beside = (char *)malloc(strlen(path) + 8);
    FILE *f;
    int   ok, closed;
    if (!beside) return 0;
    sprintf(beside, "%s.part", path);
    f = fopen(beside, "wb");
    ok = f && write_to(f, text, len);
    closed = f && fclose(f) == 0;
#ifdef _WIN32
    if (ok && closed) remove(path); /* rename replaces nothing there */
#endif
    ok = ok && closed && rename(beside, path) == 0;
    if (f && !ok) {
        int why = errno;
        remove(beside);
        errno = why;
    }
    free(beside);
    return ok;
}

static int write_all(const char *path, const char *text, size_t len) {
    char *end;
    FILE *f;
    int   ok;
    if (!path || strcmp(path, "-") == 0) {
        ok = write_to(stdout, text, len);
        path = "standard output";
    } else if (is_special(path)) {
        f = fopen(path, "wb");
        ok = f && write_to(f, text, len);
        if (f && fclose(f) != 0) ok = 0;
    } else {
        end = end_of_links(path);
        ok = replace_file(end ? end : path, text, len);
        free(end);
    }
    if (!ok) fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
    return ok ? 0 : 1;
}

/* Text that grows: the output is complete before any of it is written. */
typedef struct buffer {
    char  *text;
    size_t n, cap;
    int    failed;
} buffer;

static void put_n(buffer *b, const char *s, size_t len) {
    if (b->failed) return;
    if (b->n + len + 1 > b->cap) {
        size_t cap = (b->n + len + 1) * 2;
        char  *more = (char *)realloc(b->text, cap);
        if (!more) {
            b->failed = 1;
            return;
        }
        b->text = more;
        b->cap = cap;
    }
    memcpy(b->text + b->n, s, len);
    b->n += len;
    b->text[b->n] = '\0';
}

static void put(buffer *b, const char *s) { put_n(b, s, strlen(s)); }

/* For numbers and short texts: what is longer than 1023 bytes goes through put(). */
static void putf(buffer *b, const char *format, ...) {
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(b, text);
}

/* Bytes of the UTF-8 character at s; 0 when there is none. */
static size_t utf8_length(const unsigned char *s) {
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0, i;
    for (i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return n;
}

/* A JSON string. Bytes that are no UTF-8, as file names may hold, become U+FFFD. */
static void put_json_text(buffer *b, const char *s) {
    const unsigned char *c = (const unsigned char *)s;
    put(b, "\"");
    while (*c) {
        size_t n = utf8_length(c);
        if (n == 0) put(b, "\\ufffd");
        else if (*c < 32 || *c == 127) putf(b, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\') putf(b, "\\%c", *c);
        else put_n(b, (const char *)c, n);
        c += n ? n : 1;
    }
    put(b, "\"");
}

/* Text in a colour where standard output is a terminal: "1" bold, "31" red, "32" green, "33" yellow, "36" cyan. */
static void paint(const request *r, buffer *b, const char *colour, const char *text) {
    if (r->colour) put(b, "\033["), put(b, colour), put(b, "m");
    put(b, text);
    if (r->colour) put(b, "\033[0m");
}

/* Write what was gathered; gives the exit code. Frees it. */
static int write_buffer_to(const char *path, buffer *b) {
    int bad = 1;
    if (b->failed) fprintf(stderr, "tmetal: out of memory\n");
    else bad = write_all(path, b->text ? b->text : "", b->n);
    free(b->text);
    memset(b, 0, sizeof *b);
    return bad;
}

static int write_buffer(const request *r, buffer *b) {
    return write_buffer_to(r->value[OPT_OUT] ? r->value[OPT_OUT] : r->value[OPT_RESULTS], b);
}

/* A line on standard error that the next one replaces; NULL wipes it. Nothing unless that is a terminal. */
static void show_progress(const request *r, const char *what, size_t done, size_t all) {
    if (!r->progress) return;
    if (!what) fprintf(stderr, "\r\033[K");
    else if (all) fprintf(stderr, "\r\033[K%lu/%lu %.60s", (unsigned long)done, (unsigned long)all, what);
    else fprintf(stderr, "\r\033[K%lu %.60s", (unsigned long)done, what);
    fflush(stderr);
}

#include "tmetal/diags.h"

/* An arena of malloc'ed bytes; base is NULL after a message. */
static tmetal_arena arena_of(size_t bytes) {
    tmetal_arena arena = tmetal_arena_on(malloc(bytes), bytes);
    if (!arena.base) fprintf(stderr, "tmetal: no memory for an arena of %lu bytes\n", (unsigned long)bytes);
    return arena;
}

/* -- One input, compiled ---------------------------------------------------------------------------- */

#define MOST_MODULES 64 /* that a .py file imports from */

/* An input and what came of it; close_job frees both. */
#define MOST_CONFIGS 63 /* beside the first: what the tuner takes */
typedef struct job {
    const char   *path;
    char         *src;
    size_t        len;
    const char   *cache;  /* a folder; NULL: none */
    int           is_ops; /* an op list, not Triton IR */
    char         *more[MOST_CONFIGS]; /* for the tuner: further configurations of a .py; NULL: refused */
    char         *config[MOST_CONFIGS + 1]; /* all, as "BLOCK=64, num_warps=4" */
    unsigned      n_more, first; /* the configuration that src is of */
    tmetal_folded *folded; /* of a .py: tmetal_result.folded, with its names in one block */
    uint32_t       n_folded;
    tmetal_arena  arena;
    tmetal_result result;
} job;

/* Keep what the IR no longer says; nothing where there is no memory. */
static void keep_folded(job *j, const tmetal_result *from) {
    size_t   bytes = from->n_folded * sizeof *from->folded;
    uint32_t i;
    char    *at;
    for (i = 0; i < from->n_folded; i++) bytes += strlen(from->folded[i].name) + 1;
    free(j->folded);
    j->n_folded = 0;
    j->folded = bytes ? (tmetal_folded *)malloc(bytes) : NULL;
    if (!j->folded) return;
    j->n_folded = from->n_folded;
    at = (char *)(j->folded + j->n_folded);
    for (i = 0; i < j->n_folded; i++) {
        j->folded[i].name = strcpy(at, from->folded[i].name);
        j->folded[i].value = from->folded[i].value;
        at += strlen(at) + 1;
    }
}

static tmetal_code compile_once(job *j, const tmetal_options *opt) {
    tmetal_cache   cache;
    tmetal_problem problem;
    cache.dir = j->cache, cache.max_bytes = 0;
    if (!j->cache) return (j->is_ops ? tmetal_compile_ops : tmetal_compile)(j->src, j->len, opt, &j->arena, &j->result);
    tmetal_cache_compile(&cache, j->src, j->len, opt, &j->arena, &j->result, NULL, &problem);
    if (problem.code != TMETAL_OK) fprintf(stderr, "tmetal: %s\n", problem.text);
    return j->result.code;
}

/* The bound for op lists is for the worst of them: begin with less, and double it where it is not enough. */
static tmetal_code compile_list(job *j, const tmetal_options *opt) {
    size_t      most = tmetal_arena_bound_list(j->src, j->len);
    tmetal_code code = compile_once(j, opt);
    while (code == TMETAL_E_ARENA && j->arena.cap < most) {
        size_t bytes = j->arena.cap < most / 2 ? j->arena.cap * 2 : most;
        void  *more = realloc(j->arena.base, bytes);
        if (!more) break;
        j->arena = tmetal_arena_on(more, bytes);
        code = compile_once(j, opt);
    }
    return code;
}

/* Compile text that is at hand; j->src is the caller's. Prints nothing. 0 when there is no memory. */
static int compile_text(job *j, const tmetal_options *opt) {
    j->is_ops = tmetal_is_ops(j->src, j->len);
    j->arena = arena_of(j->is_ops ? (size_t)16 << 20 : tmetal_arena_bound(j->len));
    if (!j->arena.base) return 0;
    if (j->is_ops) compile_list(j, opt);
    else compile_once(j, opt);
    j->result.folded = j->folded;
    j->result.n_folded = j->n_folded;
    return 1;
}

static int is_python(const char *path) {
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".py") == 0;
}

/* A launch as it was asked for: what of it the tuner knows. */
#define MOST_ARGS 64
typedef struct launch_spec {
    tmetal_tune_options how;
    int64_t             ints[MOST_ARGS];
    const char         *arg[MOST_ARGS]; /* as given, up to a comma */
    unsigned            n;
    uint32_t            grid[MOST_CONFIGS][3]; /* of further configurations */
} launch_spec;

/* `len` digits, and nothing else, of a number up to `most`. */
static int read_digits(const char *s, size_t len, uint64_t most, uint64_t *n) {
    size_t i;
    for (*n = 0, i = 0; i < len; i++) {
        unsigned digit = (unsigned)(s[i] - '0');
        if (digit > 9 || digit > most || *n > (most - digit) / 10) return 0;
        *n = *n * 10 + digit;
    }
    return len != 0;
}

/* The number of an option, which is left as it is where the option is not there. 0 after a message. */
static int read_count(const request *r, int which, uint32_t most, const char *what, uint32_t *n) {
    const char *s = r->value[which];
    uint64_t    v;
    if (!s) return 1;
    if (!read_digits(s, strlen(s), most, &v)) return misuse(r, what, s), 0;
    *n = (uint32_t)v;
    return 1;
}

/* A grid may hang on the constants of a kernel: "cdiv(4096, BLOCK), 8". Of a configuration "BLOCK=64, num_warps=4" or of
 * --const. */
typedef struct grid_text {
    const char *s, *of[2];
    int         bad;
} grid_text;

static int64_t grid_sum(grid_text *g, int deep);

static int grid_takes(grid_text *g, const char *word) {
    g->s += strspn(g->s, " ");
    if (strncmp(g->s, word, strlen(word)) != 0) return 0;
    g->s += strlen(word);
    return 1;
}

static int64_t grid_named(grid_text *g) {
    const char *name = g->s, *s;
    size_t      n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    uint64_t    v;
    int         i;
    g->s += n;
    for (i = 0; n && i < 2; i++)
        for (s = g->of[i]; s && *s; s += strcspn(s, ","), s += *s == ',', s += strspn(s, " "))
            if (strncmp(s, name, n) == 0 && s[n] == '=' && read_digits(s + n + 1, strcspn(s + n + 1, ", "), 0xffffffff, &v)) return (int64_t)v;
    g->bad = 1;
    return 1;
}

static int64_t grid_term(grid_text *g, int deep) {
    int64_t  a, b;
    uint64_t v;
    size_t   digits;
    if (deep > 20) return g->bad = 1;
    if (grid_takes(g, "cdiv(")) {
        a = grid_sum(g, deep + 1);
        g->bad |= !grid_takes(g, ",");
        b = grid_sum(g, deep + 1);
        g->bad |= !grid_takes(g, ")") || a <= 0 || b <= 0;
        return g->bad ? 1 : (a - 1) / b + 1;
    }
    if (grid_takes(g, "(")) {
        a = grid_sum(g, deep + 1);
        g->bad |= !grid_takes(g, ")");
        return a;
    }
    digits = strspn(g->s, "0123456789");
    if (!digits) return grid_named(g);
    if (!read_digits(g->s, digits, 0xffffffff, &v)) return g->bad = 1;
    g->s += digits;
    return (int64_t)v;
}

static int64_t grid_product(grid_text *g, int deep) {
    int64_t a = grid_term(g, deep), b;
    while (!g->bad) {
        int times = grid_takes(g, "*");
        if (!times && !grid_takes(g, "//")) break;
        b = grid_term(g, deep);
        if (a < 0 || b <= 0 || a > 0xffffffff || b > 0xffffffff) g->bad = 1;
        else a = times ? a * b : a / b;
    }
    return a;
}

static int64_t grid_sum(grid_text *g, int deep) {
    int64_t a = grid_product(g, deep);
    while (!g->bad && a <= 0xffffffff && a >= -(int64_t)0xffffffff) {
        if (grid_takes(g, "+")) a += grid_product(g, deep);
        else if (grid_takes(g, "-")) a -= grid_product(g, deep);
        else break;
    }
    return a;
}

static int read_grid(const request *r, const char *config, uint32_t programs[3]) {
    grid_text g;
    unsigned  i;
    memset(&g, 0, sizeof g);
    g.s = r->value[OPT_GRID];
    g.of[0] = r->value[OPT_CONST];
    g.of[1] = config;
    for (i = 0; g.s && i < 3; i++) {
        int64_t n = grid_sum(&g, 0);
        if (!g.bad && n > INT32_MAX) return misuse(r, "not programs along an axis, below 2147483648:", r->value[OPT_GRID]), 0;
        if (g.bad || n <= 0) break;
        programs[i] = (uint32_t)n;
        g.s += strspn(g.s, " ");
        if (!*g.s) return 1;
        if (*g.s++ != ',') break;
    }
    return !g.s ? 1 : (misuse(r, i == 3 ? "more than X,Y,Z programs:" : "not X[,Y[,Z]] programs:", r->value[OPT_GRID]), 0);
}

/* One argument of a launch, up to `len`: an integer, @ and bytes, or else a float. */
static int read_arg(const char *s, size_t len, int64_t *n) {
    const int minus = *s == '-';
    uint64_t  v;
    char     *end;
    *n = 0;
    if (*s == '@') return read_digits(s + 1, len - 1, INT64_MAX, &v);
    if (read_digits(s + minus, len - (size_t)minus, (uint64_t)INT64_MAX + (unsigned)minus, &v)) {
        *n = minus ? (int64_t)(0 - v) : (int64_t)v;
        return 1;
    }
    /* too large; what C alone reads so */
    if (strspn(s + minus, "0123456789") >= len - (size_t)minus || *s == '+' || strcspn(s, "xX(") < len) return 0;
    (void)strtod(s, &end);
    return end == s + len && len;
}

static int is_float_arg(const char *s) {
    return *s != '@' && s[(*s == '-') + strspn(s + (*s == '-'), "0123456789")] != ',' && s[(*s == '-') + strspn(s + (*s == '-'), "0123456789")];
}

/* 0 after a message. The configurations of `j`, with their grids, are tuned beside the first. */
static int read_launch(const request *r, const job *j, launch_spec *l) {
    const char *s, *args = r->value[OPT_ARGS];
    unsigned    i;
    memset(l, 0, sizeof *l);
    if (is_python(j->path) && !r->value[OPT_SIGNATURE]) args = NULL; /* they are types */
    if (!read_grid(r, j->config[0], l->how.programs)) return 0;
    for (i = 0; i < j->n_more; i++)
        if (!read_grid(r, j->config[i + 1], l->grid[i])) return 0;
    l->how.more = (const char *const *)j->more;
    l->how.grids = (const uint32_t (*)[3])l->grid;
    l->how.n_more = j->n_more;
    for (s = args && *args ? args : NULL; s; s = s[strcspn(s, ",")] ? s + strcspn(s, ",") + 1 : NULL) {
        s += strspn(s, " ");
        if (l->n == MOST_ARGS) return misuse(r, "more than 64 arguments:", args), 0;
        if (!read_arg(s, strcspn(s, ","), &l->ints[l->n])) return misuse(r, "not an argument:", s), 0;
        l->arg[l->n++] = s;
    }
    if (l->n) l->how.ints = l->ints, l->how.n_ints = l->n;
    return 1;
}

/* Integers of the launch that the kernel was not compiled for: 0 after a message. */
static int fits_kernel(const job *j, const launch_spec *l) {
    unsigned k, i;
    for (k = 0; k < j->result.n_kernels; k++)
        for (i = 0; i < j->result.kernels[k].n_specialized; i++) {
            const tmetal_specialization *s = &j->result.kernels[k].specialized[i];
            const int64_t n = s->param < l->n ? l->ints[s->param] : 0; /* not of a buffer: 0 */
            if (s->is_pointer || n % s->multiple == 0) continue;
            fprintf(stderr, "%s: error[TM718]: `%s` is %lld, but this kernel was compiled for a multiple of %u\n", j->path, s->name, (long long)n, s->multiple);
            fprintf(stderr, "help: compile it without the specialization: i32 instead of i32:16 in its types, no tt.divisibility in TTIR\n");
            return 0;
        }
    return 1;
}

/* Of the longest text. */
static size_t tune_bound(const job *j) {
    size_t   most = tmetal_tune_bound(j->src, j->len), n;
    unsigned i;
    for (i = 0; i < j->n_more; i++)
        if (j->more[i] && (n = tmetal_tune_bound(j->more[i], strlen(j->more[i]))) > most) most = n;
    return most;
}

static void free_texts(job *j) {
    unsigned i;
    for (i = 0; i < j->n_more; i++) free(j->more[i]);
    for (i = 0; i <= MOST_CONFIGS; i++) free(j->config[i]);
    free(j->src);
    free(j->folded);
}

/* With --tuned: what is best for this kernel into the options, which `arena` holds a part of. */
static int take_tuned(const request *r, job *j, tmetal_options *opt, tmetal_arena *arena) {
    launch_spec   l;
    tmetal_result out;
    size_t        len;
    char         *cache;
    int           found;
    unsigned      i;
    if (!r->value[OPT_TUNED]) return 1;
    if (!read_launch(r, j, &l)) return 0;
    cache = read_all(r->value[OPT_TUNED], &len);
    if (!cache) return 0;
    *arena = arena_of(tune_bound(j) + 64 * len);
    if (!arena->base) return free(cache), 0;
    found = tmetal_tune_find(cache, len, j->src, j->len, opt, &l.how, arena, opt, &out);
    for (i = 0; i < out.n_remarks; i++) fprintf(stderr, "tmetal: %s: %s\n", r->value[OPT_TUNED], out.remarks[i].text);
    free(cache);
    if (j->n_more && !found) fprintf(stderr, "tmetal: %s: configuration %u is taken\n", j->path, j->first);
    if (opt->text && j->more[opt->text - 1]) {
        char *first = j->src;
        j->src = j->more[opt->text - 1];
        j->more[opt->text - 1] = first;
        j->len = strlen(j->src);
    }
    return 1;
}

/* --module NAME=FILE, ...: their texts, which the caller frees. 0 after a message. */
static int read_modules(const request *r, tmetal_triton_file *files, uint32_t *n) {
    const char *s = r->value[OPT_MODULE];
    *n = 0;
    while (s && *s) {
        size_t len = strcspn(s, ","), name = strcspn(s, "=");
        char  *copy;
        if (name >= len || *n == MOST_MODULES) return misuse(r, name >= len ? "not NAME=FILE:" : "too many modules:", s), 0;
        copy = (char *)malloc(len + 1);
        if (!copy) return 0;
        memcpy(copy, s, len);
        copy[len] = copy[name] = '\0';
        memset(&files[*n], 0, sizeof *files);
        files[*n].name = copy;
        files[*n].path = copy + name + 1;
        files[*n].text = read_all(copy + name + 1, &files[*n].len);
        if (!files[(*n)++].text) return 0;
        s += len + (s[len] == ',');
        s += *s == ' ';
    }
    return 1;
}

/* Options of Triton's that change the IR. */
static int read_options(const request *r, tmetal_triton_call *call) {
    const char *s = r->value[OPT_OPTION];
    while (s && *s) {
        size_t n = strcspn(s, ",");
        int    on = n > 4 && memcmp(s + n - 4, "True", 4) == 0;
        if (n == strlen("debug=") + (on ? 4 : 5) && memcmp(s, "debug=", 6) == 0) call->debug = (uint32_t)on;
        else if (n == strlen("sanitize_overflow=") + (on ? 4 : 5) && memcmp(s, "sanitize_overflow=", 18) == 0) call->overflows = (uint32_t)!on;
        else return misuse(r, "neither debug=True nor sanitize_overflow=False:", s), 0;
        s += n + (s[n] == ',');
        s += *s == ' ';
    }
    return 1;
}

/* Modules that a .py imports from, found beside it or in the folders above. */
#define MOST_FOLDERS 8 /* above a file */

/* The dotted name of a file's package into `name`: folders with __init__.py. "" where it is none. */
static void package_of(const char *folder, char name[512]) {
    char   path[1100], parts[512];
    size_t n = strlen(folder), from;
    FILE  *f;
    name[0] = '\0';
    while (n && n < 1000) {
        sprintf(path, "%.*s/__init__.py", (int)n, folder);
        f = fopen(path, "rb");
        if (!f) return;
        fclose(f);
        for (from = n; from && folder[from - 1] != '/'; from--) {}
        if (from == n || folder[from] == '.') return;
        snprintf(parts, sizeof parts, "%.*s%s%.400s", (int)(n - from), folder + from, *name ? "." : "", name);
        strcpy(name, parts);
        n = from ? from - 1 : 0;
    }
}

/* Folder/a/b.py or folder/a/b/__init__.py for a.b: 1 when it is there and was taken, or is known. */
static int take_module(const char *folder, const char *dotted, const char *name, tmetal_triton_file *files, uint32_t *n) {
    static const char *const ends[] = {".py", "/__init__.py"};
    char     path[2100], *c;
    uint32_t i, k;
    FILE    *f;
    for (i = 0; i < *n; i++)
        if (strcmp(files[i].name, name) == 0) return 1;
    if (*n == MOST_MODULES || strlen(folder) + strlen(dotted) > 2000) return 0;
    for (k = 0; k < 2; k++) {
        sprintf(path, "%s%s%s", folder, *folder ? "/" : "", dotted);
        for (c = path + strlen(folder); *c; c++)
            if (*c == '.') *c = '/';
        strcat(path, ends[k]);
        f = fopen(path, "rb");
        if (!f) continue;
        fclose(f);
        memset(&files[*n], 0, sizeof *files);
        c = (char *)malloc(strlen(name) + strlen(path) + 2); /* the name, then the path */
        if (!c) return 0;
        files[*n].name = strcpy(c, name);
        files[*n].path = strcpy(c + strlen(name) + 1, path);
        files[*n].text = read_all(path, &files[*n].len);
        if (files[*n].text) return ++*n, 1;
        free(c);
        return 0;
    }
    return 0;
}

/* One module that a file names: `dots` in front, as of its folder, or else from its folders up. */
static int find_module(const char *path, size_t dots, const char *dotted, tmetal_triton_file *files, uint32_t *n) {
    char   folder[1024], package[512], name[1024];
    size_t k = strlen(path), up;
    while (k && path[k - 1] != '/') k--;
    if (k > 1000 || !*dotted || (strncmp(dotted, "triton", 6) == 0 && (!dotted[6] || dotted[6] == '.'))) return 0;
    memcpy(folder, path, k);
    folder[k ? k - 1 : 0] = '\0';
    for (up = 0; up <= MOST_FOLDERS; up++) {
        if (!dots || up + 1 == dots) {
            package_of(folder, package);
            snprintf(name, sizeof name, "%s%s%s", dots ? package : "", dots && *package ? "." : "", dotted);
            if (take_module(folder, dotted, name, files, n)) return 1;
        }
        if (!*folder) return 0;
        *(strrchr(folder, '/') ? strrchr(folder, '/') : folder) = '\0';
    }
    return 0;
}

/* What the import lines of a text name. */
static void find_imports(const char *path, const char *text, tmetal_triton_file *files, uint32_t *n) {
    static const char words[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
    char              name[256], sub[600];
    for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
        const char *s = text + strspn(text, " \t");
        int         from = strncmp(s, "from ", 5) == 0;
        size_t      dots, len;
        if (!from && strncmp(s, "import ", 7) != 0) continue;
        s += from ? 5 : 7;
        s += strspn(s, " ");
        dots = from ? strspn(s, ".") : 0;
        s += dots;
        len = strspn(s, words);
        if (len >= sizeof name) continue;
        sprintf(name, "%.*s", (int)len, s);
        find_module(path, dots, name, files, n);
        s += len + strspn(s + len, " ");
        if (!from || strncmp(s, "import", 6) != 0) continue;
        for (s += 6; *s && *s != '\n' && *s != '#';) { /* from package import module */
            s += strspn(s, " (,");
            len = strspn(s, words);
            if (!len || len > 256) break;
            sprintf(sub, "%s%s%.*s", name, *name ? "." : "", (int)len, s);
            find_module(path, dots, sub, files, n);
            s += len;
            if (strncmp(s, " as ", 4) == 0) s += 4 + strspn(s + 4, words);
        }
    }
}

/* And what these import in turn. */
static void find_modules(const job *j, tmetal_triton_file *files, uint32_t *n) {
    uint32_t i, given = *n;
    find_imports(j->path, j->src, files, n);
    for (i = given; i < *n; i++) find_imports(files[i].path, files[i].text, files, n);
}

/* A kernel from its source, which j->src is: the IR that Triton would make. NULL after a message. */
static char *triton_ir(const request *r, job *j, uint32_t config, size_t *len) {
    tmetal_triton_file files[MOST_MODULES];
    tmetal_triton_call call;
    tmetal_options     opt = r->opt;
    tmetal_module     *module = NULL;
    tmetal_arena       arena = {0};
    tmetal_result      out, printed;
    const char        *text = NULL;
    size_t             bytes = (size_t)8 << 20;
    char              *copy = NULL;
    uint32_t           i;
    memset(&call, 0, sizeof call);
    *len = 0;
    opt.file = j->path;
    call.kernel = r->value[OPT_KERNEL];
    call.args = r->value[OPT_SIGNATURE] ? r->value[OPT_SIGNATURE] : r->value[OPT_ARGS];
    call.consts = r->value[OPT_CONST];
    call.globals = r->value[OPT_GLOBAL];
    call.env = r->value[OPT_ENV];
    call.config = config;
    call.triton = r->value[OPT_TRITON];
    call.files = files;
    if (read_options(r, &call) && read_modules(r, files, &call.n_files)) {
        find_modules(j, files, &call.n_files);
        do {
            free(arena.base);
            arena = arena_of(bytes);
            if (!arena.base) break;
            if (tmetal_triton(j->src, j->len, &call, &opt, &arena, &module, &out) == TMETAL_OK)
                out.code = tmetal_print(module, &arena, &text, len, &printed);
        } while (out.code == TMETAL_E_ARENA && (bytes *= 4) <= (size_t)2 << 30);
        if (arena.base && out.code != TMETAL_OK && !r->quiet) print_diags(r, &out, &arena);
        for (i = 0; arena.base && i < out.n_remarks && !r->quiet; i++) /* tl.static_print */
            fprintf(stderr, "%s:%u: %s\n", out.remarks[i].python.file, out.remarks[i].python.line, out.remarks[i].text);
        if (arena.base && text) copy = (char *)malloc(*len + 1);
        if (copy) memcpy(copy, text, *len + 1);
        if (copy && !j->folded) keep_folded(j, &out);
    }
    for (i = 0; i < call.n_files; i++) {
        free((void *)files[i].name);
        free((void *)files[i].text);
    }
    free(arena.base);
    return copy;
}

/* How many configurations of @triton.autotune the kernel has that the call is of. */
static uint32_t count_configs(const request *r, job *j) {
    const tmetal_triton_kernel *k = NULL;
    tmetal_arena                arena = {0};
    tmetal_result               out;
    uint32_t                    n, i, found = 0;
    size_t                      bytes = (size_t)8 << 20;
    do {
        free(arena.base);
        arena = arena_of(bytes);
        if (!arena.base) return 0;
        if (tmetal_triton_kernels(j->src, j->len, NULL, &arena, &k, &n, &out) != TMETAL_OK) n = 0;
    } while (out.code == TMETAL_E_ARENA && (bytes *= 4) <= (size_t)2 << 30);
    for (i = 0; i < n; i++) {
        if (r->value[OPT_KERNEL] ? strcmp(r->value[OPT_KERNEL], k[i].name) != 0 : !k[i].n_configs) continue;
        found = k[i].n_configs;
        for (n = 0; n < found && n <= MOST_CONFIGS; n++)
            if ((j->config[n] = (char *)malloc(strlen(k[i].configs[n]) + 1)) != NULL) strcpy(j->config[n], k[i].configs[n]);
        if (k[i].configs_open) fprintf(stderr, "tmetal: %s: further configurations of %s cannot be read from the text\n", j->path, k[i].name);
        break;
    }
    free(arena.base);
    if (found > MOST_CONFIGS + 1) fprintf(stderr, "tmetal: %s: the first %d of %u configurations are tuned\n", j->path, MOST_CONFIGS + 1, found), found = MOST_CONFIGS + 1;
    return found;
}

/* A text in place of another, which is freed. */
static char *other_text(const char *s, char *old) {
    char *copy = s ? (char *)malloc(strlen(s) + 1) : NULL;
    if (copy) strcpy(copy, s);
    free(old);
    return copy;
}

/* j->src becomes the Triton IR of its kernel; for the tuner that of all configurations, which j->more takes. 0 after a
 * message. */
static int read_triton(const request *r, job *j) {
    uint32_t config = 0, first = 1, i, n;
    size_t   len, other;
    char    *text;
    request  quiet = *r;
    (void)read_count(r, OPT_CONFIG, UINT32_MAX, "", &config); /* which read_target has looked at */
    n = config || !(r->value[OPT_TUNED] || (r->command && r->command->run == tune_command)) ? 0 : count_configs(r, j);
    quiet.quiet = 1;
    text = n < 2 ? NULL : triton_ir(&quiet, j, first, &len);
    while (n > 1 && !text && first < n) /* those that early_config_prune leaves out */
        fprintf(stderr, "tmetal: %s: configuration %u is not tuned: --config %u says why\n", j->path, first, first), text = triton_ir(&quiet, j, ++first, &len);
    if (!text) text = triton_ir(r, j, n ? 1 : config, &len); /* which says what is wrong */
    for (i = 1; text && i < n; i++) {
        char *one = i + 1 > first ? triton_ir(&quiet, j, i + 1, &other) : NULL;
        if (!one && i + 1 > first) fprintf(stderr, "tmetal: %s: configuration %u is not tuned: --config %u says why\n", j->path, i + 1, i + 1);
        if (!one) j->config[i] = other_text(j->config[first - 1], j->config[i]), one = other_text(text, NULL); /* that of another, once: numbers stay */
        j->more[j->n_more++] = one;
    }
    if (first > 1) j->config[0] = other_text(j->config[first - 1], j->config[0]);
    j->first = first;
    free(j->src);
    j->src = text;
    j->len = len;
    return text != NULL;
}

/* Read and compile. 1: j->result holds what came of it, kernels or diagnostics, not yet printed. 0 after a message. */
static int open_job(const request *r, const char *path, job *j) {
    tmetal_options opt = r->opt;
    tmetal_arena   tuned;
    memset(j, 0, sizeof *j);
    memset(&tuned, 0, sizeof tuned);
    j->path = path;
    j->cache = r->value[OPT_CACHE];
    j->src = read_all(path, &j->len);
    if (!j->src) return 0;
    if (is_python(path) && !read_triton(r, j)) return 0;
    opt.file = is_python(path) ? NULL : strcmp(path, "-") == 0 ? "<stdin>" : path; /* of a .py: places in its IR */
    if (take_tuned(r, j, &opt, &tuned) && compile_text(j, &opt)) {
        free(tuned.base);
        return 1;
    }
    free(tuned.base);
    free_texts(j);
    return 0;
}

static void close_job(job *j) {
    free_texts(j);
    free(j->arena.base);
}

/* -- compile ---------------------------------------------------------------------------------------------- */

static void put_place(buffer *b, const tmetal_place *python, const tmetal_place *ir) {
    const tmetal_place *p = python->file ? python : ir;
    char text[64];
    if (!p->file || !p->line) return;
    put(b, p->file);
    sprintf(text, ":%u:%u: ", p->line, p->col);
    put(b, text);
}

static void put_lines(buffer *b, uint32_t lines, uint32_t most, uint32_t fewest) {
    if (lines == most) putf(b, "%u line%s", lines, lines == 1 ? "" : "s");
    else if (lines) putf(b, "%u to %u lines", lines, most);
    else putf(b, "at most %u lines", most);
    putf(b, " of 128 bytes touched, %u the fewest", fewest);
}

static void put_layouts(buffer *b, const tmetal_result *r) {
    unsigned k, i;
    for (k = 0; k < r->n_kernels; k++)
        for (i = 0; i < r->kernels[k].n_layouts; i++) {
            const tmetal_layout_row *l = &r->kernels[k].layouts[i];
            put_place(b, &l->python, &l->ir);
            put(b, l->value);
            put(b, " ");
            put(b, l->type);
            put(b, ": ");
            put(b, tmetal_layout_name(l->layout));
            put(b, ", ");
            put(b, l->reason);
            if (*l->map) put(b, "\n    "), put(b, l->map);
            if (l->width) putf(b, "\n    %u element%s an access, ", l->width, l->width == 1 ? "" : "s"), put_lines(b, l->lines, l->most_lines, l->fewest);
            put(b, "\n");
        }
}

static void put_remarks(buffer *b, const tmetal_result *r) {
    static const char *const kinds[] = {"found", "applied", "missed"};
    unsigned i;
    for (i = 0; i < r->n_remarks; i++) {
        const tmetal_remark *m = &r->remarks[i];
        put_place(b, &m->python, &m->ir);
        put(b, kinds[m->kind]);
        put(b, " [");
        put(b, m->about);
        put(b, "] ");
        put(b, m->text);
        put(b, "\n");
    }
}

static int wants(const request *r, const char *what) {
    const char *emit = r->value[OPT_EMIT];
    return strcmp(emit, what) == 0 || strcmp(emit, "all") == 0;
}

static void put_part(const request *r, buffer *b, const char *what) {
    if (strcmp(r->value[OPT_EMIT], "all") != 0) return;
    put(b, b->n ? "\n// ---- " : "// ---- ");
    put(b, what);
    put(b, " ----\n");
}

/* The module as text, in an arena whose results are no longer wanted. */
static int put_ir(const request *r, job *j, buffer *b) {
    tmetal_module *m;
    const char    *text;
    size_t         n;
    tmetal_code    code;
    tmetal_options opt = r->opt;
    opt.file = strcmp(j->path, "-") == 0 ? "<stdin>" : j->path;
    j->arena.used = 0;
    code = j->is_ops ? tmetal_module_ops(j->src, j->len, &opt, &j->arena, &m, &j->result)
                     : tmetal_parse(j->src, j->len, &opt, &j->arena, &m, &j->result);
    if (code != TMETAL_OK || tmetal_print(m, &j->arena, &text, &n, &j->result) != TMETAL_OK) {
        print_diags(r, &j->result, &j->arena);
        return 1;
    }
    put_part(r, b, "ir");
    put(b, text);
    return 0;
}

/* What --emit names; 1 after a message. */
static int put_parts(const request *r, job *j, buffer *b) {
    const tmetal_result *result = &j->result;
    const char          *text = "";
    if (wants(r, "msl")) put_part(r, b, "msl"), put(b, result->msl);
    if (wants(r, "plan")) text = tmetal_plan_json(result, &j->arena), put_part(r, b, "plan"), put(b, text ? text : "");
    if (r->opt.mlx) text = result->n_kernels ? tmetal_mlx_json(&result->kernels[0], &j->arena) : NULL, put(b, text ? text : "");
    if (!text) return fprintf(stderr, "tmetal: %s: out of memory\n", j->path), 1;
    if (wants(r, "layouts")) put_part(r, b, "layouts"), put_layouts(b, result);
    if (wants(r, "remarks")) put_part(r, b, "remarks"), put_remarks(b, result);
    return 0;
}

/* A file in the language that --emit names. That of an op list is called as its file is, "my-list" of a/my-list.json. */
static int put_host(const request *r, job *j, buffer *b, tmetal_host host) {
    tmetal_options      opt = r->opt;
    tmetal_host_options o;
    tmetal_result       out;
    tmetal_code         code;
    job                 any; /* with its text, which stays the other's */
    const char         *text;
    size_t              n;
    char                name[64];
    const char         *last = strrchr(j->path, '/');
    memset(&o, 0, sizeof o);
    o.file = strcmp(j->path, "-") == 0 ? "<stdin>" : j->path;
    snprintf(name, sizeof name, "%s", strcmp(j->path, "-") == 0 ? "ops" : last ? last + 1 : j->path);
    name[strcspn(name, ".")] = '\0';
    if (j->is_ops && *name) o.name = name;
    memset(&any, 0, sizeof any);
    any.src = j->src, any.len = j->len, any.path = j->path;
    opt.file = o.file, opt.unspecialized = 1;
    if (r->value[OPT_ALSO_UNALIGNED] && !j->is_ops) {
        if (!compile_text(&any, &opt)) return 1;
        if (any.result.code != TMETAL_OK) return print_diags(r, &any.result, &any.arena), free(any.arena.base), 1;
        o.any = &any.result;
    }
    code = tmetal_launch_code(&j->result, host, &o, &j->arena, &text, &n, &out);
    if (code == TMETAL_OK) put(b, text);
    else print_diags(r, &out, &j->arena);
    free(any.arena.base);
    return code != TMETAL_OK;
}

static tmetal_host host_named(const char *name) {
    int host = 0;
    while (host < TMETAL_HOST_COUNT && strcmp(tmetal_host_name((tmetal_host)host), name) != 0) host++;
    return (tmetal_host)host;
}

/* What a list may not have meant is said without being asked for. */
static void print_list_remarks(const request *r, const tmetal_result *result) {
    uint32_t i;
    for (i = 0; i < result->n_remarks && !r->quiet && !wants(r, "remarks"); i++)
        if (strcmp(result->remarks[i].about, "oplist") == 0)
            fprintf(stderr, "%s:%u:%u: remark: %s\n", result->remarks[i].ir.file, result->remarks[i].ir.line, result->remarks[i].ir.col, result->remarks[i].text);
}

static int compile_command(request *r) {
    static const char *const known[] = {"msl", "plan", "ir", "layouts", "remarks", "all", "mlx"};
    unsigned k;
    int      bad = 0;
    job      j;
    buffer   b;
    tmetal_host host;
    memset(&b, 0, sizeof b);
    if (!r->value[OPT_EMIT]) r->value[OPT_EMIT] = "msl";
    for (k = 0; k < 7 && strcmp(known[k], r->value[OPT_EMIT]) != 0; k++) {}
    host = host_named(r->value[OPT_EMIT]);
    if (k == 7 && host == TMETAL_HOST_COUNT)
        return misuse(r, "--emit knows msl, plan, ir, layouts, remarks, all, mlx, c, objc, metal-cpp, swift, torch-py and mlx-py, not", r->value[OPT_EMIT]);
    if (r->value[OPT_DIAG_JSON] && r->value[OPT_OUT] && strcmp(r->value[OPT_OUT], "-") == 0) return misuse(r, "--json is on standard output already, not", "-o -");
    if (r->value[OPT_ALSO_UNALIGNED] && host != TMETAL_HOST_TORCH_PY && host != TMETAL_HOST_MLX_PY) return misuse(r, "--also-unaligned goes with --emit torch-py or mlx-py, not", r->value[OPT_EMIT]);
    r->opt.mlx = host == TMETAL_HOST_MLX_PY ? 2 : strcmp(r->value[OPT_EMIT], "mlx") == 0;
    if (r->value[OPT_CACHE] && !wants(r, "layouts") && !wants(r, "remarks")) r->opt.reports = 0; /* which no cache keeps */
    if (!open_job(r, r->files[0], &j)) return 1;
    if (strcmp(r->value[OPT_EMIT], "ir") != 0) {
        if (j.result.code != TMETAL_OK) print_diags(r, &j.result, &j.arena), bad = 1;
        else bad = host < TMETAL_HOST_COUNT ? put_host(r, &j, &b, host) : put_parts(r, &j, &b);
        if (!bad) print_list_remarks(r, &j.result);
    }
    if (!bad && wants(r, "ir")) bad = put_ir(r, &j, &b);
    if (!bad && (!r->value[OPT_DIAG_JSON] || r->value[OPT_OUT])) bad = write_buffer(r, &b);
    if (!bad && r->value[OPT_DIAG_JSON]) bad = print_json_diags(&j.result);
    free(b.text);
    close_job(&j);
    return bad;
}

/* -- census: what of a tree of files does not compile -------------------------------------------------- */

/* One kind of refusal: a code and its message, which names the op. */
typedef struct finding {
    tmetal_code code;
    char       *message, *help;
    char      **places; /* "file:line:col", and the place in Python where there is one */
    size_t      n, cap, files, last_file;
} finding;

typedef struct census {
    finding *found;
    size_t   n, cap, files, refused, refusals;
    int      failed; /* out of memory */
} census;

static char *copy_text(census *c, const char *s) {
    char *copy = (char *)malloc(strlen(s) + 1);
    if (copy) strcpy(copy, s);
    else c->failed = 1;
    return copy;
}

static finding *finding_of(census *c, const tmetal_diag *d) {
    size_t i;
    for (i = 0; i < c->n; i++) /* kinds are few: some dozens */
        if (c->found[i].code == d->code && strcmp(c->found[i].message, d->message) == 0) return &c->found[i];
    if (c->n == c->cap) {
        finding *more = (finding *)realloc(c->found, (c->cap * 2 + 16) * sizeof *more);
        if (!more) {
            c->failed = 1;
            return NULL;
        }
        c->found = more;
        c->cap = c->cap * 2 + 16;
    }
    memset(&c->found[c->n], 0, sizeof *c->found);
    c->found[c->n].code = d->code;
    c->found[c->n].message = copy_text(c, d->message);
    c->found[c->n].help = copy_text(c, d->help);
    return c->failed ? NULL : &c->found[c->n++];
}

static void census_add(census *c, const char *file, const tmetal_diag *d) {
    finding *f = finding_of(c, d);
    char     place[4200], *text;
    if (!f) return;
    if (d->ir.line) snprintf(place, sizeof place, "%.3900s:%u:%u", file, d->ir.line, d->ir.col);
    else snprintf(place, sizeof place, "%.3900s", file);
    if (d->python.file) snprintf(place + strlen(place), sizeof place - strlen(place), " (%.200s:%u)", d->python.file, d->python.line);
    text = copy_text(c, place);
    if (f->n == f->cap && text) {
        char **more = (char **)realloc(f->places, (f->cap * 2 + 16) * sizeof *more);
        if (!more) {
            free(text);
            c->failed = 1;
            return;
        }
        f->places = more;
        f->cap = f->cap * 2 + 16;
    }
    if (!text) return;
    f->places[f->n++] = text;
    if (f->last_file != c->files) f->files++, f->last_file = c->files;
    c->refusals++;
}

static int census_file(void *what, const request *asked, const char *path) {
    census        *c = (census *)what;
    tmetal_options opt = asked->opt;
    job            j;
    unsigned       i;
    memset(&j, 0, sizeof j);
    j.src = read_all(path, &j.len);
    if (!j.src) return 0;
    show_progress(asked, path, c->files + 1, 0);
    opt.file = path;
    opt.max_errors = 1000000; /* all of them */
    c->files++;
    if (!compile_text(&j, &opt)) c->failed = 1;
    else if (j.result.code != TMETAL_OK) {
        c->refused++;
        for (i = 0; i < j.result.n_diags; i++) census_add(c, path, &j.result.diags[i]);
    }
    free(j.arena.base);
    free(j.src);
    return !c->failed;
}

static int by_count(const void *a, const void *b) { /* codes in order; the most frequent first */
    const finding *x = (const finding *)a, *y = (const finding *)b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    return strcmp(x->message, y->message);
}

static void census_json(const census *c, buffer *b) {
    char   text[160];
    size_t i, k;
    sprintf(text, "{\"tmetal_census\":1,\"files\":%lu,\"refused\":%lu,\"findings\":[", (unsigned long)c->files, (unsigned long)c->refused);
    put(b, text);
    for (i = 0; i < c->n; i++) {
        const finding *f = &c->found[i];
        sprintf(text, "%s\n {\"code\":%d,\"count\":%lu,\"files\":%lu,\"message\":", i ? "," : "", (int)f->code, (unsigned long)f->n, (unsigned long)f->files);
        put(b, text);
        put_json_text(b, f->message);
        put(b, ",\"way_out\":");
        put_json_text(b, f->help);
        put(b, ",\"places\":[");
        for (k = 0; k < f->n; k++) {
            if (k) put(b, ",");
            put_json_text(b, f->places[k]);
        }
        put(b, "]}");
    }
    put(b, c->n ? "\n]}\n" : "]}\n");
}

static void census_text(const request *r, const census *c, buffer *b) {
    char   text[160];
    size_t i, k;
    sprintf(text, "%lu %s: %lu compile, %lu do not\n", (unsigned long)c->files, c->files == 1 ? "file" : "files", (unsigned long)(c->files - c->refused), (unsigned long)c->refused);
    put(b, text);
    for (i = 0; i < c->n; i++) {
        const finding *f = &c->found[i];
        sprintf(text, "TM%d", (int)f->code);
        put(b, "\n");
        paint(r, b, "31", text);
        sprintf(text, "  %lu time%s in %lu file%s: ", (unsigned long)f->n, f->n > 1 ? "s" : "", (unsigned long)f->files, f->files > 1 ? "s" : "");
        put(b, text);
        put(b, f->message);
        for (k = 0; k < f->n && k < 3; k++) {
            put(b, "\n    at   ");
            put(b, f->places[k]);
        }
        if (k < f->n) {
            sprintf(text, "\n         and %lu more (--json names all)", (unsigned long)(f->n - k));
            put(b, text);
        }
        if (*f->help) {
            put(b, "\n    help ");
            put(b, f->help);
        }
        put(b, "\n");
    }
}

static void census_free(census *c) {
    size_t i, k;
    for (i = 0; i < c->n; i++) {
        for (k = 0; k < c->found[i].n; k++) free(c->found[i].places[k]);
        free(c->found[i].places);
        free(c->found[i].message);
        free(c->found[i].help);
    }
    free(c->found);
}

/* Calls `each` with every name: operands, and for "-" the lines of standard input. 0 when one call gave 0. */
static int for_each_name(const request *r, int (*each)(void *what, const request *r, const char *name), void *what) {
    char line[4096];
    int  i, ok = 1;
    for (i = 0; i < r->n_files; i++) {
        if (strcmp(r->files[i], "-") != 0) {
            ok &= each(what, r, r->files[i]);
            continue;
        }
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\r\n")] = '\0';
            if (*line) ok &= each(what, r, line);
        }
    }
    return ok;
}

/* Exit code 0 when every file compiles, 1 when some do not or cannot be read. */
static int census_command(request *r) {
    census c;
    buffer b;
    int    ok;
    memset(&c, 0, sizeof c);
    memset(&b, 0, sizeof b);
    ok = for_each_name(r, census_file, &c);
    show_progress(r, NULL, 0, 0);
    if (c.n) qsort(c.found, c.n, sizeof *c.found, by_count);
    if (r->value[OPT_JSON]) census_json(&c, &b);
    else census_text(r, &c, &b);
    b.failed |= c.failed;
    ok &= write_buffer(r, &b) == 0;
    ok &= c.refused == 0;
    census_free(&c);
    return ok ? 0 : 1;
}

/* -- The simulator ---------------------------------------------------------------------------------------- */

/* Other programs get files in a folder of their own, which is removed behind them. */
typedef struct workshop {
    char   folder[1024];
    buffer names; /* of the files in it, a NUL behind each */
} workshop;

/* 0 after a message. */
static int open_workshop(workshop *w) {
    const char *tmp = getenv("TMPDIR");
    memset(w, 0, sizeof *w);
#ifdef _WIN32
    (void)tmp;
    fprintf(stderr, "tmetal: the simulator runs on Linux and macOS\n");
    return 0;
#else
    snprintf(w->folder, sizeof w->folder, "%.900s/tmetal-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(w->folder)) return 1;
    fprintf(stderr, "tmetal: %s: %s\n", w->folder, strerror(errno));
    return 0;
#endif
}

/* The path of a file in it; the text stays until close_workshop. */
static const char *workshop_path(workshop *w, char path[1280], const char *name) {
    snprintf(path, 1280, "%s/%.200s", w->folder, name);
    put_n(&w->names, path, strlen(path) + 1);
    return path;
}

static int workshop_file(workshop *w, const char *name, const char *bytes, size_t n) {
    char  path[1280];
    FILE *f = fopen(workshop_path(w, path, name), "wb");
    int   ok = f && write_to(f, bytes, n);
    if (f && fclose(f) != 0) ok = 0;
    if (!ok) fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
    return ok;
}

static void close_workshop(workshop *w) {
    size_t i;
    for (i = 0; i < w->names.n; i += strlen(w->names.text + i) + 1) remove(w->names.text + i);
    free(w->names.text);
#ifndef _WIN32
    rmdir(w->folder);
#endif
}

/* A word of a shell's command line. */
static void put_word(buffer *b, const char *s) {
    put(b, " '");
    for (; *s; s++) {
        if (*s == '\'') put(b, "'\\''");
        else put_n(b, s, 1);
    }
    put(b, "'");
}

/* What a command prints; *status its exit code, -1 when it was ended by a signal. NULL: it cannot be run. */
static char *output_of(const char *line, int *status) {
    char  *text;
    size_t n;
    FILE  *f;
    fflush(stdout);
    f = popen(line, "r");
    *status = -1;
    if (!f) return NULL;
    text = read_stream(f, line, &n);
    *status = pclose(f);
#ifndef _WIN32
    *status = WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
#endif
    return text;
}

static int is_program(const char *path) {
#ifdef _WIN32
    return _access(path, 0) == 0;
#else
    return access(path, X_OK) == 0;
#endif
}

/* Other programs stand beside this one, as make builds them: beside `self`, argv[0], or where PATH has it. */
static int find_program(const char *self, const char *name, char path[1280]) {
    const char *slash = strrchr(self, '/'), *from = getenv("PATH");
    size_t      n;
    if (slash) {
        snprintf(path, 1280, "%.*s/%.40s", (int)(slash - self), self, name);
        return slash - self < 1200 && is_program(path);
    }
    for (; from && *from; from += n + (from[n] == ':')) {
        n = strcspn(from, ":");
        snprintf(path, 1280, "%.*s/%.200s", n > 1000 ? 1000 : (int)n, from, self);
        if (!is_program(path)) continue;
        snprintf(path, 1280, "%.*s/%.40s", n > 1000 ? 1000 : (int)n, from, name);
        return is_program(path);
    }
    return 0;
}

static int no_simulator(const request *r) {
    fprintf(stderr, "tmetal: %s: the simulator is not built: no 'sim' beside %s\n"
                    "help: 'make sim' builds it; it needs g++, clang 16 or newer and nlohmann-json ('make deps' installs them)\n",
            r->command->name, r->self);
    return 1;
}

/* Runs what was compiled, with the buffers of a case, and gives what the simulator prints. `flags`: of build/sim.
 * NULL after a message. */
static char *simulate(const request *r, workshop *w, job *j, const char *recorded, const char *flags, int *status) {
    char        sim[1280], path[1280], *text;
    const char *plan = tmetal_plan_json(&j->result, &j->arena);
    buffer      line;
    memset(&line, 0, sizeof line);
    if (!find_program(r->self, "sim", sim)) return no_simulator(r), (char *)NULL;
    if (!plan || !workshop_file(w, "kernel.metal", j->result.msl, j->result.msl_len) || !workshop_file(w, "plan.json", plan, strlen(plan))) return NULL;
    put_word(&line, sim);
    put_word(&line, workshop_path(w, path, "kernel.metal"));
    put(&line, " --plan");
    put_word(&line, workshop_path(w, path, "plan.json"));
    put(&line, " --case");
    put_word(&line, recorded);
    put(&line, flags);
    if (r->value[OPT_NO_FUSION]) put(&line, " --no-contract");
    text = line.failed ? NULL : output_of(line.text, status);
    if (!text || *status < 0) fprintf(stderr, "tmetal: %s: it cannot be run, or was stopped\n", sim), free(text), text = NULL;
    free(line.text);
    return text;
}

/* What the launch printed and asserted: debug buffers, kernel after kernel. */
static void put_debug(buffer *b, job *j, const char *path) {
    FILE    *f = fopen(path, "rb");
    size_t   n = 0, at = 0;
    unsigned i, k;
    char    *bytes = f ? read_stream(f, path, &n) : NULL;
    if (f) fclose(f);
    for (i = 0; bytes && i < j->result.n_kernels; i++) {
        const tmetal_kernel *kernel = &j->result.kernels[i];
        for (k = 0; k < kernel->n_args; k++) {
            size_t      size = kernel->args[k].kind == TMETAL_ARG_DEBUG ? kernel->args[k].size : 0;
            const char *text = size && at + size <= n ? tmetal_debug_text(kernel, bytes + at, size, &j->arena) : NULL;
            if (text) put(b, text);
            at += size;
        }
    }
    free(bytes);
}

/* -- --device: this machine's GPU ----------------------------------------------------------------------------- */

static tmetal_code open_metal(tmetal_arena *arena, tmetal_metal **metal, tmetal_problem *problem) {
    tmetal_metal_options o;
    memset(&o, 0, sizeof o);
    o.symbol = EXAMPLE_SYMBOL;
    return tmetal_metal_open(&o, arena, metal, problem);
}

/* The command line of the program that runs on a GPU. 0; the exit code after a message. */
static int begin_device(const request *r, buffer *line) {
    static const char    other[] = "run it on a Mac with macOS 13.0 or newer; without --device the simulator runs it";
    static const uint64_t elsewhere = TAKES(SEED) | TAKES(GPU) | TAKES(HAS) | TAKES(LACKS) | TAKES(MSL) | TAKES(LOGGING) | TAKES(DEBUG) | TAKES(PLOT) | TAKES(LAUNCH_US);
    char                 path[1280];
    tmetal_metal        *metal;
    tmetal_problem       problem;
    tmetal_arena         arena;
    unsigned             i;
    memset(line, 0, sizeof *line);
    for (i = 0; i < OPTION_COUNT; i++)
        if (r->value[i] && (elsewhere >> i & 1)) return misuse(r, "not with --device, which takes the GPU that is here:", options[i].name);
    arena = arena_of(65536);
    if (!arena.base) return 1;
    if (open_metal(&arena, &metal, &problem) != TMETAL_OK) fprintf(stderr, "tmetal: %s: TM%d: %s\nhelp: %s\n", r->command->name, (int)problem.code, problem.text, other);
    else if (tmetal_metal_close(metal), !find_program(r->self, "metal-device", path))
        fprintf(stderr, "tmetal: %s: no 'metal-device' beside %s\nhelp: 'make device' builds it and tries the GPU\n", r->command->name, r->self);
    else put_word(line, path);
    free(arena.base);
    return line->n == 0;
}

/* Runs it and writes what it prints; the exit code. */
static int end_device(const request *r, buffer *line) {
    int    status = -1, bad = 1;
    char  *text = line->failed ? NULL : output_of(line->text, &status);
    buffer b;
    memset(&b, 0, sizeof b);
    if (text) put(&b, text);
    if (text && status >= 0 && status < 2) bad = write_buffer_to(r->value[OPT_OUT], &b) || status;
    free(text);
    free(line->text);
    return bad;
}

static int run_on_device(const request *r, const char *name) {
    static const unsigned passed[] = {OPT_THREADS, OPT_ALIAS, OPT_LAYOUT, OPT_NO_FUSION, OPT_NO_FP64, OPT_PLAIN, OPT_TWO_STAGE, OPT_OPERANDS, OPT_PROGRAMS, OPT_JSON};
    buffer                line;
    unsigned              i;
    int                   bad = begin_device(r, &line);
    if (bad) return bad;
    for (i = 0; i < sizeof passed / sizeof *passed; i++) {
        if (!r->value[passed[i]]) continue;
        put_word(&line, options[passed[i]].name);
        if (*options[passed[i]].value) put_word(&line, r->value[passed[i]]);
    }
    put_word(&line, name);
    return end_device(r, &line);
}

/* -- run: one recorded launch ------------------------------------------------------------------------------- */

static int run_command(request *r) {
    const char *name = r->files[0];
    size_t      n = strlen(name);
    char       *ttir = (char *)malloc(n + 6), *text = NULL, debug[1280];
    buffer      flags;
    const char *seed = r->value[OPT_SEED] ? r->value[OPT_SEED] : "1";
    FILE       *f;
    workshop    w;
    buffer      b;
    job         j;
    int         status = 1;
    memset(&b, 0, sizeof b);
    memset(&flags, 0, sizeof flags);
    if (!ttir || n < 6 || strcmp(name + n - 5, ".case") != 0 || strspn(seed, "0123456789") != strlen(seed) || !*seed || strlen(seed) > 18) {
        free(ttir);
        return n < 6 || strcmp(name + n - 5, ".case") != 0 ? misuse(r, "not a .case file (tests/kernels/README.md says how to write one):", name) : misuse(r, "not a number:", seed);
    }
    sprintf(ttir, "%.*s.ttir", (int)(n - 5), name);
    f = fopen(name, "rb");
    if (!f) {
        fprintf(stderr, "tmetal: %s: %s\n", name, strerror(errno));
        return free(ttir), 1;
    }
    fclose(f);
    show_progress(r, "compiling", 1, 2);
    if (!open_job(r, ttir, &j)) return free(ttir), 1;
    show_progress(r, r->value[OPT_DEVICE] ? "on the GPU" : "in the simulator", 2, 2);
    if (j.result.code != TMETAL_OK) print_diags(r, &j.result, &j.arena);
    else if (r->value[OPT_DEVICE]) status = run_on_device(r, name);
    else if (open_workshop(&w)) {
        putf(&flags, " --seed %s %s --debug", seed, r->value[OPT_JSON] ? "--json" : "--counters");
        put_word(&flags, workshop_path(&w, debug, "debug.bin"));
        text = flags.failed ? NULL : simulate(r, &w, &j, name, flags.text, &status);
        if (text && !r->value[OPT_JSON]) put_debug(&b, &j, debug);
        close_workshop(&w);
    }
    free(flags.text);
    show_progress(r, NULL, 0, 0);
    if (text && status < 2) {
        put(&b, text);
        if (write_buffer(r, &b) != 0) status = 1;
    }
    free(text);
    free(ttir);
    close_job(&j);
    return r->value[OPT_DEVICE] ? status : status ? 1 : 0;
}

/* -- analyze: which reductions get COALESCED -------------------------------------------------------------------- */

/* What the reduction of the text at its place computes: argmax is emitted as two of them. "" where none stands there, or several kinds. */
static const char *kind_of_plan(const tmetal_kernel *k, unsigned i) {
    const tmetal_reduce_plan *p = &k->reduce_plans[i];
    const char               *kind = "";
    unsigned                  n;
    for (n = 0; n < k->n_reductions; n++) {
        const tmetal_reduction *r = &k->reductions[n];
        if (r->axis != p->axis || r->ir.line != p->ir.line || r->ir.col != p->ir.col) continue;
        if (*kind && strcmp(kind, tmetal_reduce_name(r->kind)) != 0) return "";
        kind = tmetal_reduce_name(r->kind);
    }
    return kind;
}

typedef struct analysis {
    buffer text, json;
    size_t files, reductions, coalesced;
    int    refused;
} analysis;

static void analysis_json_row(analysis *a, const tmetal_kernel *k, unsigned i) {
    const tmetal_reduce_plan *p = &k->reduce_plans[i];
    buffer                   *b = &a->json;
    putf(b, "%s\n   {\"value\":", i ? "," : "");
    put_json_text(b, *p->value == '%' ? p->value : ""); /* not "(made on the way)" */
    put(b, ",\"kind\":");
    put_json_text(b, kind_of_plan(k, i));
    put(b, ",\"type\":");
    put_json_text(b, p->type);
    putf(b, ",\"axis\":%u,\"layout\":%u,\"layout_name\":\"", p->axis, (unsigned)p->layout);
    put(b, tmetal_layout_name(p->layout));
    putf(b, "\",\"is_coalesced\":%s,\"elements\":%u,\"lanes\":%u,\"simdgroups\":%u,\"map\":", p->layout & TMETAL_COALESCED ? "true" : "false", p->elements, p->lanes, p->simdgroups);
    put_json_text(b, p->map);
    put(b, ",\"reason\":");
    put_json_text(b, p->reason);
    put(b, ",\"file\":");
    put_json_text(b, p->python.file ? p->python.file : p->ir.file ? p->ir.file : "");
    putf(b, ",\"line\":%u}", p->python.file ? p->python.line : p->ir.line);
}

static void analysis_text_row(const request *r, analysis *a, const tmetal_kernel *k, unsigned i) {
    const tmetal_reduce_plan *p = &k->reduce_plans[i];
    const char               *kind = kind_of_plan(k, i);
    buffer                   *b = &a->text;
    put(b, "  ");
    put_place(b, &p->python, &p->ir);
    putf(b, "%.200s: %s over axis %u of %.200s%s%.100s: ", k->name, *kind ? kind : "reduction", p->axis, p->type, *p->value == '%' ? " to " : "", *p->value == '%' ? p->value : "");
    paint(r, b, p->layout & TMETAL_COALESCED ? "32" : "33", tmetal_layout_name(p->layout));
    put(b, "\n");
    if (!r->value[OPT_VERBOSE]) return;
    putf(b, "      %u element%s in each thread, %u lane%s, %u simdgroup%s%s\n      %.400s\n      %.400s\n", p->elements, p->elements > 1 ? "s" : "", p->lanes, p->lanes > 1 ? "s" : "",
         p->simdgroups, p->simdgroups > 1 ? "s" : "", p->simdgroups > 1 ? " through threadgroup memory" : "", p->map, p->reason);
}

static void analysis_add(const request *r, analysis *a, job *j) {
    unsigned i, n;
    putf(&a->json, "%s\n {\"file\":", a->files++ ? "," : "");
    put_json_text(&a->json, j->path);
    paint(r, &a->text, "1", j->path);
    put(&a->text, "\n");
    if (j->result.code != TMETAL_OK) {
        a->refused = 1;
        print_diags(r, &j->result, &j->arena);
        putf(&a->json, ",\"code\":%d,\"message\":", (int)j->result.code);
        put_json_text(&a->json, j->result.n_diags ? j->result.diags[0].message : j->result.full.message ? j->result.full.message : "");
        put(&a->json, ",\"kernels\":[]}");
        put(&a->text, "  refused\n");
        return;
    }
    put(&a->json, ",\"code\":0,\"kernels\":[");
    for (i = 0; i < j->result.n_kernels; i++) {
        const tmetal_kernel *k = &j->result.kernels[i];
        putf(&a->json, "%s\n  {\"kernel\":", i ? "," : "");
        put_json_text(&a->json, k->name);
        putf(&a->json, ",\"threads\":%u,\"reductions\":[", k->threads);
        if (!k->n_reduce_plans && r->value[OPT_VERBOSE]) putf(&a->text, "  %.200s: no reduction\n", k->name);
        for (n = 0; n < k->n_reduce_plans; n++) {
            analysis_json_row(a, k, n);
            analysis_text_row(r, a, k, n);
            a->reductions++;
            a->coalesced += (k->reduce_plans[n].layout & TMETAL_COALESCED) == TMETAL_COALESCED;
        }
        put(&a->json, "]}");
    }
    put(&a->json, "]}");
}

static int analyze_file(void *what, const request *r, const char *path) {
    analysis *a = (analysis *)what;
    job       j;
    show_progress(r, path, a->files + 1, 0);
    if (!open_job(r, path, &j)) return 0;
    analysis_add(r, a, &j);
    close_job(&j);
    return 1;
}

/* An op list that was given on the command line. */
static int analyze_text(analysis *a, const request *r, const char *text) {
    tmetal_options opt = r->opt;
    job            j;
    int            ok;
    memset(&j, 0, sizeof j);
    opt.file = j.path = "--operation";
    j.len = strlen(text);
    j.src = (char *)malloc(j.len + 1);
    if (!j.src) return 0;
    memcpy(j.src, text, j.len + 1);
    ok = compile_text(&j, &opt);
    if (ok) analysis_add(r, a, &j);
    close_job(&j);
    return ok;
}

static int analyze_command(request *r) {
    const char *operation = r->value[OPT_OPERATION], *list = r->value[OPT_OP_LIST];
    analysis    a;
    int         ok = 1, json = r->value[OPT_RESULTS] != NULL;
    if (r->value[OPT_VERSION]) return (void)puts("tmetal " TMETAL_VERSION), 0;
    if (!operation && !list && !r->n_files) return misuse(r, "nothing to analyse: give --json FILE, --operation TEXT or files", NULL);
    memset(&a, 0, sizeof a);
    put(&a.json, "{\"tmetal_analysis\":1,\"files\":[");
    if (list) ok &= analyze_file(&a, r, list);
    if (operation) ok &= analyze_text(&a, r, operation);
    ok &= for_each_name(r, analyze_file, &a);
    show_progress(r, NULL, 0, 0);
    putf(&a.json, "\n],\"reductions\":%lu,\"coalesced\":%lu}\n", (unsigned long)a.reductions, (unsigned long)a.coalesced);
    putf(&a.text, "%lu of %lu reduction%s in the COALESCED layout\n", (unsigned long)a.coalesced, (unsigned long)a.reductions, a.reductions == 1 ? "" : "s");
    ok &= write_buffer(r, json ? &a.json : &a.text) == 0;
    free(a.json.text);
    free(a.text.text);
    return ok && !a.refused ? 0 : 1;
}

/* -- explain: what each kernel does and why, beside its lines --------------------------------------------------- */

/* A report of the header in an arena that grows until it has room; the caller frees arena->base. NULL after a message. */
static const char *report_of(const tmetal_result *result, const char *(*make)(const tmetal_result *, tmetal_arena *), tmetal_arena *arena) {
    size_t      bytes = (size_t)1 << 20;
    const char *text = NULL;
    for (arena->base = NULL; !text && bytes <= (size_t)1 << 30; bytes *= 4) {
        free(arena->base);
        *arena = arena_of(bytes);
        if (!arena->base) return NULL;
        text = make(result, arena);
    }
    return text;
}

/* Print what a function of the header says of the kernels; the exit code. */
static int print_report(const request *r, job *j, const char *(*make)(const tmetal_result *, tmetal_arena *)) {
    tmetal_arena arena;
    const char  *text = report_of(&j->result, make, &arena);
    buffer       b;
    int          bad = 1;
    memset(&b, 0, sizeof b);
    if (text) put(&b, text), bad = write_buffer(r, &b);
    free(arena.base);
    return bad;
}

/* The line of a text without the spaces in front. */
static void put_metal_line(buffer *b, const char *msl, uint32_t line) {
    if (!msl || !line) return;
    for (; line > 1 && *msl; line--) msl += strcspn(msl, "\n") + (strchr(msl, '\n') != NULL);
    msl += strspn(msl, " ");
    put(b, "        ");
    put_n(b, msl, strcspn(msl, "\n"));
    put(b, "\n");
}

/* "  line 36  softmax.py:17:4: " */
static void put_where(const request *r, buffer *b, uint32_t line, const tmetal_place *python, const tmetal_place *ir) {
    char text[32];
    sprintf(text, line ? "  line %-4u " : "  ", line);
    paint(r, b, "36", text);
    put_place(b, python, ir);
}

/* Do both come from the same load or store? */
static int is_same_access(const tmetal_access *a, const tmetal_access *c) {
    return a->kind == c->kind && !strcmp(a->buffer, c->buffer) && a->ir.line == c->ir.line && a->ir.col == c->ir.col && a->python.line == c->python.line && a->python.col == c->python.col;
}

/* The accesses for edges of the same load or store as `i`, in one line: where it is the last of those for whole tiles. */
static void explain_edges(buffer *b, const tmetal_kernel *k, unsigned i) {
    const tmetal_access *a = k->accesses;
    unsigned             j, n = 0, first = ~0u, last = 0;
    for (j = i + 1; j < k->n_accesses; j++) {
        if (!is_same_access(&a[i], &a[j])) continue;
        if (!a[j].is_edge) return;
        first = a[j].line < first ? a[j].line : first, last = a[j].line > last ? a[j].line : last, n++;
    }
    if (!n) return;
    putf(b, "        and %u access%s for elements at the edges, under the mask", n, n == 1 ? "" : "es");
    if (first) putf(b, first == last ? ": line %u" : ": lines %u to %u", first, last);
    put(b, "\n");
}

/* Does another access, that for whole tiles, stand for this one? */
static int is_edge_of_another(const tmetal_kernel *k, unsigned i) {
    unsigned j;
    for (j = 0; k->accesses[i].is_edge && j < i; j++)
        if (!k->accesses[j].is_edge && is_same_access(&k->accesses[i], &k->accesses[j])) return 1;
    return 0;
}

static void explain_access(const request *r, buffer *b, const tmetal_kernel *k, const tmetal_access *a) {
    put_where(r, b, a->line, &a->python, &a->ir);
    putf(b, "%s%s%.200s%s%.200s: ", tmetal_access_kind_name(a->kind), *a->value ? " of " : "", a->value, *a->buffer ? a->kind == TMETAL_ACCESS_LOAD ? " from " : " to " : "", a->buffer);
    paint(r, b, a->lines && a->most_lines == a->fewest ? "32" : "33", tmetal_access_name(a->access));
    if (a->stride && a->access != TMETAL_CONTIGUOUS) putf(b, ", stride %u", a->stride);
    putf(b, ", %u x %s a lane, ", a->width, a->type);
    put_lines(b, a->lines, a->most_lines, a->fewest);
    if (a->lanes != 32) putf(b, ", %u lane%s", a->lanes, a->lanes == 1 ? "" : "s");
    if (a->is_masked) put(b, ", masked");
    if (a->repeats != 1) putf(b, a->repeats ? ", %u times" : ", in a loop", a->repeats);
    put(b, "\n");
    put_metal_line(b, k->msl, a->line);
    put(b, "        "), put(b, a->reason), put(b, "\n");
}

static void explain_reduction(const request *r, buffer *b, const tmetal_kernel *k, uint32_t i) {
    const tmetal_reduce_plan *p = &k->reduce_plans[i];
    const char               *kind = kind_of_plan(k, i);
    put_where(r, b, 0, &p->python, &p->ir);
    putf(b, "%s over axis %u of %.200s%s%.100s: ", *kind ? kind : "reduction", p->axis, p->type, *p->value == '%' ? " to " : "", *p->value == '%' ? p->value : "");
    paint(r, b, p->layout & TMETAL_COALESCED ? "32" : "33", tmetal_layout_name(p->layout));
    putf(b, "\n        %u element%s in each thread, then %u lane%s, then %u simdgroup%s%s\n", p->elements, p->elements == 1 ? "" : "s", p->lanes, p->lanes == 1 ? "" : "s", p->simdgroups,
         p->simdgroups == 1 ? "" : "s", p->simdgroups > 1 ? " through threadgroup memory" : ", without a barrier");
    put(b, "        "), put(b, p->reason), put(b, "\n");
}

static void explain_barrier(const request *r, buffer *b, const tmetal_kernel *k, const tmetal_barrier *a) {
    put_where(r, b, a->line, &a->python, &a->ir);
    put(b, a->reason);
    put(b, "\n");
    put_metal_line(b, k->msl, a->line);
}

static void explain_remarks(const request *r, buffer *b, const tmetal_result *result, const char *kernel) {
    static const char *const colours[] = {"36", "32", "33"};
    unsigned i, n = 0;
    for (i = 0; i < result->n_remarks; i++) {
        const tmetal_remark *m = &result->remarks[i];
        if (strcmp(m->kernel, kernel) != 0 || strcmp(m->about, "access") == 0 || strcmp(m->about, "reduce") == 0) continue; /* shown above */
        if (!n++) paint(r, b, "1", "applied, missed and found\n");
        put_where(r, b, 0, &m->python, &m->ir);
        paint(r, b, colours[m->kind], tmetal_remark_kind_name(m->kind));
        put(b, " ["), put(b, m->about), put(b, "] "), put(b, m->text), put(b, "\n");
    }
}

static void explain_patterns(const request *r, buffer *b, const tmetal_kernel *k) {
    unsigned i;
    if (k->n_patterns) paint(r, b, "1", "patterns\n");
    for (i = 0; i < k->n_patterns; i++) {
        const tmetal_pattern *p = &k->patterns[i];
        put_where(r, b, 0, &p->python, &p->ir);
        put(b, p->near_miss ? "no " : "");
        put(b, tmetal_pattern_name(p->kind));
        if (*p->value) put(b, ": "), put(b, p->value);
        if (*p->reason) put(b, "; "), put(b, p->reason);
        put(b, "\n");
    }
}

static void put_layout(const request *r, buffer *b, const tmetal_layout_row *l) {
    put_where(r, b, 0, &l->python, &l->ir);
    put(b, l->value), put(b, " "), put(b, l->type), put(b, ": ");
    if (l->bases.n_lanes) paint(r, b, "1", tmetal_layout_name(l->layout)), put(b, "; ");
    put(b, l->reason), put(b, "\n");
    if (*l->map) put(b, "        "), put(b, l->map), put(b, "\n");
    if (!l->width) return;
    putf(b, "        %u element%s an access, ", l->width, l->width == 1 ? "" : "s");
    put_lines(b, l->lines, l->most_lines, l->fewest);
    put(b, "\n");
}

static void explain_layouts(const request *r, buffer *b, const tmetal_kernel *k) {
    unsigned i;
    if (k->n_layouts) paint(r, b, "1", "layouts\n");
    for (i = 0; i < k->n_layouts; i++) put_layout(r, b, &k->layouts[i]);
}

static void put_kernel_head(const request *r, buffer *b, const tmetal_result *result, const tmetal_kernel *k) {
    paint(r, b, "1", k->name);
    putf(b, ": %u threads a threadgroup (%u simdgroup%s), %u bytes of threadgroup memory, about %u of %u registers per thread, for %s\n", k->threads, k->threads / 32, k->threads == 32 ? "" : "s", k->threadgroup_bytes, k->registers, k->register_room, result->gpu);
}

static void explain_kernel(const request *r, buffer *b, const tmetal_result *result, const tmetal_kernel *k) {
    unsigned i;
    put_kernel_head(r, b, result, k);
    if (k->n_accesses) paint(r, b, "1", "accesses\n");
    for (i = 0; i < k->n_accesses; i++) {
        if (is_edge_of_another(k, i)) continue;
        explain_access(r, b, k, &k->accesses[i]);
        explain_edges(b, k, i);
    }
    if (k->n_reduce_plans) paint(r, b, "1", "reductions\n");
    for (i = 0; i < k->n_reduce_plans; i++) explain_reduction(r, b, k, i);
    paint(r, b, "1", k->n_barriers ? "barriers\n" : "no barriers\n");
    for (i = 0; i < k->n_barriers; i++) explain_barrier(r, b, k, &k->barriers[i]);
    explain_patterns(r, b, k);
    explain_remarks(r, b, result, k->name);
    if (r->value[OPT_VERBOSE]) explain_layouts(r, b, k);
}

/* The page: the Python that places name is looked for beside the file. */
#define MOST_SOURCES 8

static void find_sources(const job *j, page_text *python, unsigned *n) {
    const char *last = strrchr(j->path, '/');
    int         folder = last ? (int)(last + 1 - j->path) : 0;
    unsigned    k, i, s;
    for (k = 0; k < j->result.n_kernels; k++)
        for (i = 0; i < j->result.kernels[k].n_lines && *n < MOST_SOURCES; i++) {
            const char *file = j->result.kernels[k].lines[i].python.file, *name = file ? strrchr(file, '/') : NULL;
            char        path[1024];
            FILE       *f;
            if (!file || !is_python(file)) continue;
            for (s = 0; s < *n && strcmp(python[s].file, file) != 0; s++) {}
            if (s < *n) continue;
            python[s].file = file, python[s].text = NULL, ++*n;
            if (is_python(j->path)) snprintf(path, sizeof path, "%s", file); /* as it was read for the kernel */
            else snprintf(path, sizeof path, "%.*s%s", folder, j->path, name ? name + 1 : file);
            f = fopen(path, "rb");
            if (f) python[s].text = read_stream(f, path, &python[s].len), fclose(f);
        }
    for (i = s = 0; i < *n; i++)
        if (python[i].text) python[s++] = python[i];
    *n = s;
}

static int print_page(const request *r, job *j) {
    page_text    python[MOST_SOURCES];
    page_input   in;
    tmetal_arena explain, plan;
    buffer       b;
    char        *data = NULL;
    size_t       n, i;
    int          bad = 1;
    memset(&in, 0, sizeof in);
    memset(&b, 0, sizeof b);
    in.title = strcmp(j->path, "-") == 0 ? "<stdin>" : j->path, in.result = &j->result, in.is_ops = j->is_ops;
    in.ir.file = in.title, in.ir.text = j->src, in.ir.len = j->len;
    find_sources(j, python, &in.n_python);
    in.python = python;
    if (r->value[OPT_AGX]) {
        FILE *f = fopen(in.agx.file = r->value[OPT_AGX], "rb");
        in.agx.text = f ? read_stream(f, in.agx.file, &in.agx.len) : NULL;
        if (f) fclose(f);
        else fprintf(stderr, "tmetal: cannot read %s\n", in.agx.file);
        if (!in.agx.text) return 1;
    }
    in.explain = report_of(&j->result, tmetal_explain_json, &explain);
    in.plan = report_of(&j->result, tmetal_plan_json, &plan);
    if (in.explain && in.plan) n = page_data(&in, NULL, 0), data = (char *)malloc(n), bad = !data || page_data(&in, data, n) != n;
    for (i = 0; !bad && i < sizeof page_html / sizeof *page_html; i++) {
        const char *at = strstr(page_html[i], PAGE_DATA_FROM);
        size_t      head = at ? (size_t)(at - page_html[i]) + strlen(PAGE_DATA_FROM) : 0;
        put_n(&b, page_html[i], head);
        if (at) put_n(&b, data, n);
        put(&b, at ? strstr(at, PAGE_DATA_TO) : page_html[i]);
    }
    if (!bad) bad = write_buffer(r, &b);
    for (i = 0; i < in.n_python; i++) free((void *)python[i].text);
    free((void *)in.agx.text);
    free(data);
    free(explain.base);
    free(plan.base);
    free(b.text);
    return bad;
}

#include "tmetal/codes.h"

static int why_put_recorded(const request *r, buffer *b, const char *path);

static int explain_command(request *r) {
    job         j;
    buffer      b;
    unsigned    i;
    int         bad = 1, is_case;
    char        ttir[1100];
    const char *path = r->files[0];
    size_t      n = strlen(path);
    if (code_named(path)) return explain_code(r, code_named(path));
    is_case = n > 5 && n < 1000 && strcmp(path + n - 5, ".case") == 0;
    if (is_case) snprintf(ttir, sizeof ttir, "%.*s.ttir", (int)(n - 5), path);
    if (!open_job(r, is_case ? ttir : path, &j)) return 1;
    memset(&b, 0, sizeof b);
    if (j.result.code != TMETAL_OK) print_diags(r, &j.result, &j.arena);
    else if (r->value[OPT_JSON]) bad = print_report(r, &j, tmetal_explain_json);
    else if (r->value[OPT_HTML]) bad = print_page(r, &j);
    else {
        for (i = 0; i < j.result.n_kernels; i++) {
            put(&b, i ? "\n" : "");
            explain_kernel(r, &b, &j.result, &j.result.kernels[i]);
        }
        explain_remarks(r, &b, &j.result, "");
        bad = is_case && why_put_recorded(r, &b, path);
        bad = write_buffer(r, &b) || bad;
    }
    close_job(&j);
    return bad;
}

/* -- layouts: which lane of which simdgroup holds which element ---------------------------------------------------- */

/* Does --value name it? With and without the % in front. */
static int is_wanted(const request *r, const tmetal_layout_row *l) {
    const char *v = r->value[OPT_VALUE];
    return !v || strcmp(l->value, v) == 0 || (*l->value == '%' && strcmp(l->value + 1, v) == 0);
}

/* One layout being drawn. */
typedef struct picture {
    buffer            *b;
    const tmetal_map  *m;
    uint32_t           rows, cols; /* the last axis, and all others as one */
    uint32_t           run;        /* neighbours that one thread holds side by side */
    unsigned           x, y;       /* where the next part begins */
} picture;

enum { PIC_WIDTH = 400, PIC_EDGE = 10, PIC_LINE = 58 }; /* units; columns of text */

static int holder_of(const picture *p, uint32_t element, uint32_t *reg, uint32_t *lane, uint32_t *group) {
    uint32_t index[32], i, x = element;
    for (i = p->m->n_dims; i-- > 0; x /= p->m->dims[i]) index[i] = x % p->m->dims[i];
    return tmetal_map_holder(p->m, index, reg, lane, group);
}

static uint32_t element_at(const picture *p, uint32_t reg, uint32_t lane, uint32_t group) { /* its number */
    uint32_t index[32], i, x = 0;
    if (!tmetal_map_element(p->m, reg, lane, group, index)) return 0;
    for (i = 0; i < p->m->n_dims; i++) x = x * p->m->dims[i] + index[i];
    return x;
}

static void put_index(char text[48], const picture *p, uint32_t element) { /* "3,64"; "#4096" where that has no room */
    text[0] = '\0';
    if (p->m->n_dims == 2) sprintf(text, "%u,%u", element / p->cols, element % p->cols);
    if (!text[0] || strlen(text) > 9) sprintf(text, p->m->n_dims > 1 ? "#%u" : "%u", element);
}

static void put_xml(buffer *b, const char *s, size_t n) {
    for (; n && *s; s++, n--) {
        if (*s == '<') put(b, "&lt;");
        else if (*s == '>') put(b, "&gt;");
        else if (*s == '&') put(b, "&amp;");
        else if (*s == '"') put(b, "&quot;");
        else put_n(b, s, 1);
    }
}

/* Text in lines of at most PIC_LINE columns, broken at spaces. */
static void pic_text(picture *p, const char *class_, const char *s, unsigned step) {
    size_t most = strcmp(class_, "head") == 0 ? 46 : PIC_LINE;
    while (*s) {
        size_t n = strlen(s), k;
        if (n > most) {
            for (k = most; k > most / 2 && s[k] != ' '; k--) {}
            n = s[k] == ' ' ? k : most;
            while (n && ((unsigned char)s[n] & 0xC0) == 0x80) n--; /* keep UTF-8 whole */
        }
        p->y += step;
        putf(p->b, "<text class=\"%s\" x=\"%d\" y=\"%u\">", class_, PIC_EDGE, p->y);
        put_xml(p->b, s, n);
        put(p->b, "</text>\n");
        s += n;
        while (*s == ' ') s++;
    }
}

/* A box with one or two texts in it; `hue` 0 to 359, or 360 for none. */
static void pic_box(picture *p, unsigned x, unsigned y, unsigned w, unsigned h, unsigned hue, int strong, const char *big, const char *small) {
    if (hue < 360) putf(p->b, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"2\" class=\"box\" fill=\"hsl(%u 65%% 50%%)\" fill-opacity=\"%s\"/>", x, y, w, h, hue, strong ? "0.42" : "0.16");
    else putf(p->b, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"2\" class=\"box none\"/>", x, y, w, h);
    if (*big) putf(p->b, "<text class=\"%s\" x=\"%u\" y=\"%u\">%s</text>", *small ? "mid" : strong ? "mid strong" : "mid", x + w / 2, *small ? y + h / 2 - 3 : y + h / 2 + 4, big);
    if (*small) putf(p->b, "<text class=\"mid strong%s\" x=\"%u\" y=\"%u\">%s</text>", strlen(small) > 7 ? " tiny" : "", x + w / 2, y + h / 2 + 11, small);
    put(p->b, "\n");
}

static unsigned hue_of(uint32_t lane) { return (lane * 137u) % 360u; } /* neighbours far apart in colour */

/* Part 1: the registers of one thread. */
static void pic_registers(picture *p) {
    uint32_t n = 1u << p->m->n_registers, shown = n > 32 ? 32 : n, i;
    char     text[64], number[48];
    sprintf(text, "1  One thread: the %u element%s of lane 0, simdgroup 0", n, n == 1 ? "" : "s");
    pic_text(p, "part", text, 26);
    p->y += 8;
    for (i = 0; i < shown; i++) {
        sprintf(text, "r%u", i);
        put_index(number, p, element_at(p, i, 0, 0));
        pic_box(p, PIC_EDGE + i % 8 * 48, p->y + i / 8 * 34, 46, 32, hue_of(i / p->run), i < p->run, text, number);
    }
    p->y += (shown + 7) / 8 * 34;
    if (shown < n) {
        sprintf(text, "and %u registers more", n - shown);
        pic_text(p, "note", text, 12);
    }
}

/* Part 2: what the lanes hold of one access. */
static void pic_lanes(picture *p) {
    uint32_t i, e;
    char     text[96], number[48];
    sprintf(text, "2  One simdgroup: %s of each lane", p->run > 1 ? "the first run" : "the first element");
    pic_text(p, "part", text, 28);
    if (p->run > 1) {
        sprintf(text, "below each lane the first of its %u neighbouring elements", p->run);
        pic_text(p, "note", text, 14);
    }
    p->y += 8;
    for (i = 0; i < 32; i++) {
        sprintf(text, "lane %u", i);
        e = element_at(p, 0, i, 0);
        put_index(number, p, e);
        pic_box(p, PIC_EDGE + i % 8 * 48, p->y + i / 8 * 34, 46, 32, hue_of(i), 1, text, number);
    }
    p->y += 4 * 34;
}

/* Part 3: the rows of the tile that these lanes lie in; a cell is a run. */
static void pic_simdgroup(picture *p) {
    uint32_t chunk = 16 * p->run, first[32], n = 0, i, k, c, reg, lane, group, cells = p->cols < chunk ? p->cols / p->run : 16;
    char     text[64];
    if (!cells) cells = 1;
    for (i = 0; i < 32; i++) { /* stretches of 16 cells, in order, each once */
        uint32_t e = element_at(p, 0, i, 0), at = e - e % p->cols % chunk;
        for (k = 0; k < n && first[k] != at; k++) {}
        if (k == n) first[n++] = at;
    }
    for (i = 1; i < n; i++)
        for (k = i; k && first[k - 1] > first[k]; k--) c = first[k], first[k] = first[k - 1], first[k - 1] = c;
    pic_text(p, "part", "3  The tile around it: which lane holds what", 28);
    sprintf(text, "a cell is %u element%s; strong: the run above; a dot:", p->run, p->run == 1 ? "" : "s");
    pic_text(p, "note", text, 14);
    pic_text(p, "note", "another simdgroup", 13);
    p->y += 8;
    for (i = 0; i < n; i++, p->y += 20) {
        put_index(text, p, first[i]);
        putf(p->b, "<text class=\"end\" x=\"64\" y=\"%u\">%s</text>", p->y + 14, text);
        for (c = 0; c < cells; c++) {
            if (!holder_of(p, first[i] + c * p->run, &reg, &lane, &group)) continue;
            sprintf(text, "%u", lane);
            if (group) pic_box(p, 70 + c * 20, p->y, 19, 19, 360, 0, "·", "");
            else pic_box(p, 70 + c * 20, p->y, 19, 19, hue_of(lane), reg < p->run, text, "");
        }
    }
}

/* Which simdgroup holds an element is linear in the bits of its number: the lowest bit of the last axis, or of
 * the others, that matters. */
static uint32_t same_group_bits(const picture *p, uint32_t low, uint32_t high) {
    uint32_t reg, lane, group, zero, i;
    if (!holder_of(p, 0, &reg, &lane, &zero)) return high - low;
    for (i = low; i < high; i++)
        if (holder_of(p, 1u << i, &reg, &lane, &group) && group != zero) break;
    return i - low;
}

static uint32_t bits_of(uint32_t n) {
    uint32_t b = 0;
    while (n >> (b + 1)) b++;
    return b;
}

/* Part 4: the tile by simdgroups. */
static void pic_threadgroup(picture *p) {
    uint32_t col_bits = bits_of(p->cols), row_bits = bits_of(p->rows), cb = same_group_bits(p, 0, col_bits), rb = same_group_bits(p, col_bits, col_bits + row_bits);
    uint32_t nc = p->cols >> cb, nr = p->rows >> rb, sc = nc > 8 ? 8 : nc, sr = nr > 16 ? 16 : nr, i, k, reg, lane, group, w = 320 / sc;
    char     text[96];
    sprintf(text, "4  The threadgroup: which of %u simdgroup%s holds what", 1u << p->m->n_simdgroups, p->m->n_simdgroups ? "s" : "");
    pic_text(p, "part", text, 28);
    if (p->rows > 1) sprintf(text, "a cell is %u row%s of %u element%s", 1u << rb, rb ? "s" : "", 1u << cb, cb ? "s" : "");
    else sprintf(text, "a cell is %u element%s", 1u << cb, cb ? "s" : "");
    pic_text(p, "note", text, 14);
    if (sc < nc || sr < nr) {
        sprintf(text, "the first %u by %u of %u by %u cells", sr, sc, nr, nc);
        pic_text(p, "note", text, 13);
    }
    p->y += 8;
    for (i = 0; i < sr; i++, p->y += 24) {
        put_index(text, p, (i << rb) * p->cols);
        putf(p->b, "<text class=\"end\" x=\"64\" y=\"%u\">%s</text>", p->y + 16, text);
        for (k = 0; k < sc; k++) {
            if (!holder_of(p, (i << rb) * p->cols + (k << cb), &reg, &lane, &group)) continue;
            sprintf(text, "%u", group);
            pic_box(p, 70 + k * w, p->y, w - 1, 23, hue_of(group), 1, text, "");
        }
    }
}

static uint32_t copies_of(const tmetal_map *m, const uint32_t *bases, uint32_t n) { /* threads that hold the same */
    uint32_t i, copies = 1;
    (void)m;
    for (i = 0; i < n; i++) copies *= bases[i] ? 1 : 2;
    return copies;
}

static void pic_row(picture *p, const tmetal_layout_row *l) {
    char     text[160];
    uint32_t i, copies;
    p->m = &l->bases;
    p->cols = p->m->n_dims ? p->m->dims[p->m->n_dims - 1] : 1;
    for (p->rows = 1, i = 0; i + 1 < p->m->n_dims; i++) p->rows *= p->m->dims[i];
    for (p->run = 1, i = 0; i < p->m->n_registers && p->m->registers[i] == 1u << i && (1u << (i + 1)) <= p->cols; i++) p->run *= 2;
    snprintf(text, sizeof text, "%.60s  %.90s", l->value, l->type);
    pic_text(p, "head", text, 30);
    pic_text(p, "strong", tmetal_layout_name(l->layout), 18);
    pic_text(p, "note", l->map, 15);
    pic_text(p, "note", l->reason, 15);
    copies = copies_of(p->m, p->m->lanes, p->m->n_lanes) * copies_of(p->m, p->m->simdgroups, p->m->n_simdgroups);
    if (copies > 1) {
        sprintf(text, "each element is held by %u threads; the first is shown", copies);
        pic_text(p, "note", text, 15);
    }
    if (l->width) {
        if (l->lines == l->most_lines) sprintf(text, "an access touches %u lines of 128 bytes; %u the fewest", l->lines, l->fewest);
        else if (l->lines) sprintf(text, "an access touches %u to %u lines of 128 bytes; %u the fewest", l->lines, l->most_lines, l->fewest);
        else sprintf(text, "an access touches at most %u lines of 128 bytes; %u the fewest", l->most_lines, l->fewest);
        pic_text(p, "note", text, 15);
    }
    pic_registers(p);
    pic_lanes(p);
    pic_simdgroup(p);
    pic_threadgroup(p);
    p->y += 16;
}

/* Values in registers; others when they are asked for by name. */
static int is_pictured(const request *r, const tmetal_layout_row *l) {
    return l->bases.n_lanes && is_wanted(r, l) && (r->value[OPT_VALUE] || l->is_held);
}

/* Does an earlier row show the same? */
static int is_shown(const request *r, const tmetal_kernel *k, unsigned i) {
    unsigned e;
    for (e = 0; e < i; e++)
        if (is_pictured(r, &k->layouts[e]) && strcmp(k->layouts[e].map, k->layouts[i].map) == 0 && strcmp(k->layouts[e].type, k->layouts[i].type) == 0) return 1;
    return 0;
}

static void put_svg(const request *r, buffer *out, const tmetal_result *result) {
    buffer   b;
    picture  p;
    unsigned k, i, n = 0;
    memset(&b, 0, sizeof b);
    memset(&p, 0, sizeof p);
    p.b = &b;
    for (k = 0; k < result->n_kernels; k++)
        for (i = 0; i < result->kernels[k].n_layouts; i++) {
            if (!is_pictured(r, &result->kernels[k].layouts[i]) || is_shown(r, &result->kernels[k], i)) continue;
            if (n++) putf(&b, "<line x1=\"%d\" x2=\"%d\" y1=\"%u\" y2=\"%u\" class=\"rule\"/>\n", PIC_EDGE, PIC_WIDTH - PIC_EDGE, p.y, p.y);
            pic_row(&p, &result->kernels[k].layouts[i]);
        }
    if (!n) pic_text(&p, "note", "no value of this name has a layout", 24), p.y += 16;
    putf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"100%%\" style=\"max-width:760px;height:auto;display:block;margin:auto\">\n", PIC_WIDTH, p.y);
    put(out, "<title>Layouts of ");
    put_xml(out, result->n_kernels ? result->kernels[0].name : "", 200);
    put(out, "</title>\n<style>\n"
             "svg { background: #fff; color: #1b1f24 }\n"
             "text { font: 10.5px ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #1b1f24 }\n"
             ".head { font-size: 13px; font-weight: bold } .part { font-size: 11px; font-weight: bold } .note { fill: #57606a }\n"
             ".mid { text-anchor: middle; font-size: 9.5px } .end { text-anchor: end; font-size: 9.5px; fill: #57606a } .strong { font-weight: bold } .tiny { font-size: 8px }\n"
             ".box { stroke: #8c959f; stroke-width: 0.5 } .none { fill: none } .rule { stroke: #8c959f }\n"
             "@media (prefers-color-scheme: dark) {\n"
             "  svg { background: #0d1117 } text { fill: #e6edf3 } .note, .end { fill: #9da7b3 } .box, .rule { stroke: #6e7681 }\n"
             "}\n</style>\n");
    putf(out, "<rect class=\"none\" width=\"%d\" height=\"%u\"/>\n", PIC_WIDTH, p.y);
    if (b.text) put(out, b.text);
    put(out, "</svg>\n");
    out->failed |= b.failed;
    free(b.text);
}

static void list_layouts(const request *r, buffer *b, const tmetal_result *result) {
    unsigned k, i;
    for (k = 0; k < result->n_kernels; k++) {
        put(b, k ? "\n" : "");
        put_kernel_head(r, b, result, &result->kernels[k]);
        for (i = 0; i < result->kernels[k].n_layouts; i++)
            if (is_wanted(r, &result->kernels[k].layouts[i])) put_layout(r, b, &result->kernels[k].layouts[i]);
    }
}

static int has_value(const request *r, const tmetal_result *result) {
    unsigned k, i;
    for (k = 0; k < result->n_kernels; k++)
        for (i = 0; i < result->kernels[k].n_layouts; i++)
            if (is_wanted(r, &result->kernels[k].layouts[i])) return 1;
    return !r->value[OPT_VALUE];
}

/* Says what is not there, and which name is close to it. */
static void no_value(const request *r, const tmetal_result *result) {
    const char *asked = r->value[OPT_VALUE], *closest = NULL, *name;
    unsigned    k, i, least = 3, d;
    for (k = 0; k < result->n_kernels; k++)
        for (i = 0; i < result->kernels[k].n_layouts; i++) {
            name = result->kernels[k].layouts[i].value;
            d = name ? distance_of(asked + (*asked == '%'), name + (*name == '%')) : 99;
            if (d < least) least = d, closest = name;
        }
    fprintf(stderr, "tmetal: %s: no value '%s' has a layout\n", r->files[0], asked);
    if (closest) fprintf(stderr, "help: did you mean '%s'?\n", closest);
}

static int layouts_command(request *r) {
    const char *svg = r->value[OPT_SVG];
    job         j;
    buffer      b;
    int         bad = 1;
    if (!open_job(r, r->files[0], &j)) return 1;
    memset(&b, 0, sizeof b);
    if (j.result.code != TMETAL_OK) print_diags(r, &j.result, &j.arena);
    else if (!has_value(r, &j.result)) no_value(r, &j.result);
    else {
        bad = 0;
        if (svg) {
            put_svg(r, &b, &j.result);
            if (b.failed) fprintf(stderr, "tmetal: out of memory\n");
            bad = b.failed || write_all(svg, b.text, b.n);
            free(b.text);
            memset(&b, 0, sizeof b);
        }
        if (!bad && r->value[OPT_JSON]) bad = print_report(r, &j, tmetal_layouts_json);
        else if (!bad && (!svg || r->value[OPT_OUT])) {
            list_layouts(r, &b, &j.result);
            bad = write_buffer(r, &b);
        }
    }
    close_job(&j);
    return bad;
}

/* -- transform: the changed IR and what was done ----------------------------------------------------------- */

/* A softmax of rows with a scale: patterns, reductions and elementwise ops before and behind them. */
static const char test_ir[] =
    "// y = softmax(scale * x) of each row of up to 256 numbers, one program a row.\n"
    "module {\n"
    "  tt.func public @scaled_softmax(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32},\n"
    "                                 %scale: f32, %n: i32) {\n"
    "    %lowest = arith.constant dense<0xFF800000> : tensor<256xf32>\n"
    "    %row = tt.get_program_id x : i32\n"
    "    %start = arith.muli %row, %n : i32\n"
    "    %cols = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>\n"
    "    %end = tt.splat %n : i32 -> tensor<256xi32>\n"
    "    %inside = arith.cmpi slt, %cols, %end : tensor<256xi32>\n"
    "    %x_row = tt.addptr %x_ptr, %start : !tt.ptr<f32>, i32\n"
    "    %x_base = tt.splat %x_row : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>\n"
    "    %x_at = tt.addptr %x_base, %cols : tensor<256x!tt.ptr<f32>>, tensor<256xi32>\n"
    "    %loaded = tt.load %x_at, %inside, %lowest : tensor<256x!tt.ptr<f32>>\n"
    "    %factor = tt.splat %scale : f32 -> tensor<256xf32>\n"
    "    %x = arith.mulf %loaded, %factor : tensor<256xf32>\n"
    "    %max = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({\n"
    "    ^bb0(%a: f32, %b: f32):\n"
    "      %m = arith.maxnumf %a, %b : f32\n"
    "      tt.reduce.return %m : f32\n"
    "    }) : (tensor<256xf32>) -> f32\n"
    "    %max_row = tt.splat %max : f32 -> tensor<256xf32>\n"
    "    %centred = arith.subf %x, %max_row : tensor<256xf32>\n"
    "    %e = math.exp %centred : tensor<256xf32>\n"
    "    %sum = \"tt.reduce\"(%e) <{axis = 0 : i32}> ({\n"
    "    ^bb0(%a: f32, %b: f32):\n"
    "      %s = arith.addf %a, %b : f32\n"
    "      tt.reduce.return %s : f32\n"
    "    }) : (tensor<256xf32>) -> f32\n"
    "    %sum_row = tt.splat %sum : f32 -> tensor<256xf32>\n"
    "    %y = arith.divf %e, %sum_row : tensor<256xf32>\n"
    "    %y_row = tt.addptr %y_ptr, %start : !tt.ptr<f32>, i32\n"
    "    %y_base = tt.splat %y_row : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>\n"
    "    %y_at = tt.addptr %y_base, %cols : tensor<256x!tt.ptr<f32>>, tensor<256xi32>\n"
    "    tt.store %y_at, %y, %inside : tensor<256x!tt.ptr<f32>>\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

static void put_costs(buffer *b, const char *line, const char *of, const tmetal_cost *before, const tmetal_cost *after, int whole) {
    unsigned notes = before->notes | after->notes;
    putf(b, "%s%s: %u ops, %u before; %u barriers, %u before; %llu bytes read, %llu before; %llu written, %llu before%s%s%s%s\n", line, of, after->ops, before->ops, after->barriers,
         before->barriers, (unsigned long long)after->bytes_read, (unsigned long long)before->bytes_read, (unsigned long long)after->bytes_written,
         (unsigned long long)before->bytes_written, whole ? "" : ", by a program", notes & TMETAL_COST_AT_MOST ? ", at most" : "",
         notes & TMETAL_COST_PER_ROUND ? ", a round of each loop" : "", notes & TMETAL_COST_ATOMICS ? ", without atomics" : "");
}

/* Each line begins with `line`: as a comment the summary may stand above the IR. */
static void put_summary(buffer *b, const tmetal_transformation *x, const char *line, int verbose) {
    static const char *const kinds[] = {"found  ", "applied", "missed "};
    unsigned i;
    if (x->graph)
        putf(b, "%s%u ops in %u kernels; %llu bytes, %llu were each op a kernel; %llu of scratch, %llu\n", line, x->graph->ops, x->graph->kernels, (unsigned long long)x->graph->bytes,
             (unsigned long long)x->graph->bytes_before, (unsigned long long)x->graph->scratch, (unsigned long long)x->graph->scratch_before);
    for (i = 0; i < x->n_kernels; i++) put_costs(b, line, x->kernels[i].kernel, &x->kernels[i].before, &x->kernels[i].after, 0);
    if (x->n_kernels > 1) put_costs(b, line, "in all", &x->before, &x->after, 1);
    for (i = 0; i < x->n_changes; i++) {
        const tmetal_change *c = &x->changes[i];
        if (!verbose && c->kind == TMETAL_FOUND && strncmp(c->what, "pass ", 5) == 0) continue; /* a pass that had nothing to do */
        putf(b, "%s%s ", line, kinds[c->kind]);
        put_place(b, &c->python, &c->ir);
        putf(b, "%s%s%s: %s\n", c->what, *c->value ? " " : "", c->value, c->reason);
        if (verbose && c->mapping) putf(b, "%s        MPS: %s%s%s%s; MLX: %s\n", line, c->mapping->mps, *c->mapping->fields ? " (" : "", c->mapping->fields, *c->mapping->fields ? ")" : "", c->mapping->mlx);
    }
}

/* An arena that doubles up to what always suffices. */
static tmetal_code transform_text(const job *j, const tmetal_options *opt, tmetal_arena *arena, tmetal_transformation *x, tmetal_result *result) {
    size_t      most = tmetal_transform_bound(j->src, j->len), bytes = most < (size_t)32 << 20 ? most : (size_t)32 << 20;
    tmetal_code code;
    for (;;) {
        *arena = arena_of(bytes);
        if (!arena->base) return TMETAL_E_ARENA;
        code = tmetal_transform(j->src, j->len, opt, arena, x, result);
        if (code != TMETAL_E_ARENA || bytes == most) return code;
        free(arena->base);
        bytes = bytes < most / 2 ? bytes * 2 : most;
    }
}

/* The IR to OUT and the summary to standard output, or both to there, the summary as comments; 1 after a message. */
static int put_transformation(const request *r, const job *j, tmetal_arena *arena, const tmetal_transformation *x) {
    const char *out = r->value[OPT_IR_OUT], *json = r->value[OPT_JSON] ? tmetal_transform_json(x, arena) : NULL;
    buffer      b;
    int         bad = 0;
    memset(&b, 0, sizeof b);
    if (r->value[OPT_JSON] && !json) return fprintf(stderr, "tmetal: %s: out of memory\n", j->path), 1;
    if (json) put(&b, json);
    else put_summary(&b, x, out || r->value[OPT_SUMMARY] ? "" : "// ", r->value[OPT_VERBOSE] != NULL);
    if (out) bad = write_all(out, x->text, x->text_len);
    else if (!json && !r->value[OPT_SUMMARY]) put(&b, x->text);
    if (!bad) bad = write_buffer(r, &b);
    free(b.text);
    return bad;
}

static int transform_command(request *r) {
    tmetal_options        opt = r->opt;
    tmetal_transformation x;
    tmetal_result         result;
    tmetal_arena          arena;
    job                   j;
    int                   bad = 1;
    if (r->value[OPT_TEST_IR]) return write_all(r->value[OPT_IR_OUT], test_ir, sizeof test_ir - 1);
    if (!r->n_files) return misuse(r, "an operand is missing: FILE|-", NULL);
    memset(&j, 0, sizeof j);
    j.path = r->files[0];
    j.src = read_all(j.path, &j.len);
    if (!j.src || (is_python(j.path) && !read_triton(r, &j))) return 1;
    opt.file = strcmp(j.path, "-") == 0 ? "<stdin>" : j.path;
    if (transform_text(&j, &opt, &arena, &x, &result) == TMETAL_OK) bad = put_transformation(r, &j, &arena, &x);
    else if (arena.base) print_diags(r, &result, &arena);
    free(arena.base);
    free(j.src);
    return bad;
}

/* -- sample-ops: op lists to try things on ----------------------------------------------------------------------- */

/* type, id, input shapes, args, further keys */
#define SAMPLE_OPS(X)                                                                            \
    X("tt.reduce", "sum_reduce_1d", "[1024]", "\"axis\": 0", "")                                   \
    X("tt.sum", "sum_reduce_2d", "[512, 512]", "\"axis\": 1", "")                                  \
    X("tt.mean", "mean_reduce", "[256, 1024]", "\"axis\": 1", "")                                  \
    X("tt.max", "max_reduce", "[128, 256, 64]", "\"axis\": 2", "")                                 \
    X("tt.min", "min_reduce_columns", "[1024, 256]", "\"axis\": 0", "")                            \
    X("tt.argmax", "argmax_reduce", "[64, 2048]", "\"axis\": 1", "")                               \
    X("tt.argmin", "argmin_reduce", "[2048]", "\"axis\": 0", "")                                   \
    X("tt.any", "any_reduce", "[256, 256]", "\"axis\": 1", ", \"dtype\": \"bool\"")                \
    X("tt.all", "all_reduce", "[256, 256]", "\"axis\": 0", ", \"dtype\": \"bool\"")                \
    X("tt.sum", "sum_multi_axis", "[32, 64, 128]", "\"axis\": [1, 2]", "")                         \
    X("tt.matmul", "matmul", "[128, 256], [256, 64]", "", "")                                      \
    X("tt.add", "elementwise_add", "[1024, 1024], [1024, 1024]", "", "")                           \
    X("tt.exp", "elementwise_exp", "[4096]", "", "")

static void put_sample(buffer *b, const char *type, const char *id, const char *shapes, const char *args, const char *more) {
    putf(b, "%s\n    {\"type\": \"%s\", \"id\": \"%s\"%s, \"input_shapes\": [%s]", b->text[b->n - 1] == '[' ? "" : ",", type, id, more, shapes);
    putf(b, *args ? ", \"args\": {%s}}" : "}", args);
}

/* Every reduction at growing sizes along both axes in three types; then a block of a network, whose ops read one another. */
static void put_large_samples(buffer *b) {
    static const char *const kinds[] = {"sum", "mean", "max", "min", "argmax", "argmin"}, *const types[] = {"f32", "f16", "bf16"};
    static const unsigned    sizes[][2] = {{64, 64}, {128, 1024}, {512, 1024}, {16, 65536}};
    char     type[32], id[64], shape[64], axis[32], dtype[32];
    unsigned k, s, a, n = 0;
    for (k = 0; k < 6; k++)
        for (s = 0; s < 4; s++)
            for (a = 0; a < 2; a++, n++) {
                sprintf(type, "tt.%s", kinds[k]);
                sprintf(id, "%s_%ux%u_axis%u", kinds[k], sizes[s][0], sizes[s][1], a);
                sprintf(shape, "[%u, %u]", sizes[s][0], sizes[s][1]);
                sprintf(axis, "\"axis\": %u", a);
                sprintf(dtype, ", \"dtype\": \"%s\"", types[n % 3]);
                put_sample(b, type, id, shape, axis, dtype);
            }
    put_sample(b, "tt.layer_norm", "norm", "[128, 512], [512], [512]", "\"axis\": -1", ", \"inputs\": [\"x\", \"gamma\", \"beta\"]");
    put_sample(b, "tt.matmul", "hidden", "null, [512, 1024]", "", ", \"inputs\": [\"norm\", \"w1\"]");
    put_sample(b, "tt.gelu", "active", "null", "", ", \"inputs\": [\"hidden\"]");
    put_sample(b, "tt.matmul", "back", "null, [1024, 512]", "", ", \"inputs\": [\"active\", \"w2\"]");
    put_sample(b, "tt.add", "residual", "null, null", "", ", \"inputs\": [\"back\", \"x\"]");
    put_sample(b, "tt.softmax", "weights", "null", "\"axis\": -1", ", \"inputs\": [\"residual\"]");
}

static int sample_ops_command(request *r) {
    buffer b;
    memset(&b, 0, sizeof b);
    put(&b, "{\n  \"ops\": [");
#define X(type, id, shapes, args, more) put_sample(&b, type, id, shapes, args, more);
    SAMPLE_OPS(X)
#undef X
    if (r->value[OPT_LARGE]) put_large_samples(&b);
    put(&b, "\n  ]\n}\n");
    return write_buffer(r, &b);
}

/* -- bench: one reduction in each layout ---------------------------------------------------------------------------- */

#define BENCH_MOST_ELEMENTS ((uint64_t)1 << 24) /* the simulator takes seconds for each million */

/* One row of the table. */
typedef struct bench_row {
    unsigned    rows, cols;
    const char *asked;            /* layout */
    unsigned    layout, kernels;  /* what the first reduction got; launches */
    int         state;            /* 0: right; 1: wrong; 2: refused */
    uint64_t    lines, fewest;    /* of 128 bytes, by all simdgroups of all launches */
    uint64_t    bytes, distinct;  /* that threads read and write; that lie in memory */
    uint64_t    barriers, simd_ops;
    double      best_us, worst_us; /* predicted; 0: the chip's bandwidth is unknown */
} bench_row;

typedef struct bench {
    const request *r;
    tmetal_gpu     gpu;
    const char    *dtype;     /* as asked for */
    const char    *element;   /* "f16" */
    double         launch_us;
    bench_row      row[80];   /* 16 sizes, 5 layouts */
    unsigned       n;
} bench;

static const char *const bench_layouts[] = {"DEFAULT", "ROW_MAJOR", "COLUMN_MAJOR", "TILED", "COALESCED"};

/* `eighths` / 8 as an element, rounded to nearest even: the data are multiples of 1/8, so that only the result rounds. */
static void put_element(buffer *b, const char *element, int64_t eighths) {
    unsigned mantissa = strcmp(element, "f16") == 0 ? 10 : 7, bias = mantissa == 10 ? 15 : 127, top = 0, bits = 0;
    uint64_t n = (uint64_t)(eighths < 0 ? -eighths : eighths), part;
    char     bytes[4];
    if (strcmp(element, "f32") == 0) {
        float f = (float)eighths / 8.0f;
        memcpy(bytes, &f, 4);
        put_n(b, bytes, 4);
        return;
    }
    while (n >> top > 1) top++;
    if (n && top <= mantissa) bits = ((top + bias - 3) << mantissa) + (unsigned)((n << (mantissa - top)) & (((uint64_t)1 << mantissa) - 1));
    else if (n) {
        part = n & (((uint64_t)1 << (top - mantissa)) - 1);
        n >>= top - mantissa;
        bits = ((top + bias - 3) << mantissa) + (unsigned)(n & (((uint64_t)1 << mantissa) - 1));
        if (part * 2 > (uint64_t)1 << (top - mantissa) || (part * 2 == (uint64_t)1 << (top - mantissa) && (bits & 1))) bits++; /* may carry into the exponent */
    }
    if (bits >> mantissa >= bias * 2 + 1) bits = (bias * 2 + 1) << mantissa;
    if (eighths < 0) bits |= 0x8000u;
    bytes[0] = (char)(bits & 255);
    bytes[1] = (char)(bits >> 8);
    put_n(b, bytes, 2);
}

/* A case as the simulator reads it: a matrix of numbers, and what its rows sum to. */
static int bench_case(workshop *w, const bench_row *row, const char *in, const char *out, char path[1280]) {
    uint32_t seed = 12345;
    uint64_t i, k, in_bytes, out_bytes;
    buffer   data, sums, text;
    int      ok;
    memset(&data, 0, sizeof data);
    memset(&sums, 0, sizeof sums);
    memset(&text, 0, sizeof text);
    for (i = 0; i < row->rows; i++) {
        int64_t sum = 0;
        for (k = 0; k < row->cols; k++) {
            seed = seed * 1664525u + 1013904223u;
            sum += (int64_t)(seed >> 27) - 15;
            put_element(&data, in, (int64_t)(seed >> 27) - 15);
        }
        put_element(&sums, out, sum);
    }
    in_bytes = data.n;
    out_bytes = sums.n;
    putf(&text, "suite bench\nsource bench\nkernel bench\ngrid 1 1 1\nbuffer 0 size %lu in 0\nbuffer 1 size %lu out %lu\narg ptr %s buffer 0 offset 0\narg ptr %s buffer 1 offset 0\n",
         (unsigned long)in_bytes, (unsigned long)out_bytes, (unsigned long)in_bytes, in, out);
    if (sums.text) put_n(&data, sums.text, sums.n);
    ok = !data.failed && !sums.failed && !text.failed && workshop_file(w, "bench.bin", data.text, data.n) && workshop_file(w, "bench.case", text.text, text.n);
    workshop_path(w, path, "bench.case");
    free(data.text);
    free(sums.text);
    free(text.text);
    return ok;
}

/* The sum of all numbers that stand behind a key in the simulator's JSON. */
static uint64_t sum_of_key(const char *json, const char *key) {
    uint64_t sum = 0;
    for (json = strstr(json, key); json; json = strstr(json, key)) {
        json += strlen(key);
        sum += strtoull(json + strspn(json, ": "), NULL, 10);
    }
    return sum;
}

/* A roofline: launches, then memory at full bandwidth; each byte once, or each line as often as a simdgroup touches it. */
static void bench_predict(const bench *b, bench_row *row) {
    double bytes_a_us = (double)b->gpu.gbps * 1000.0;
    if (!b->gpu.gbps) return;
    row->best_us = row->kernels * b->launch_us + (double)row->distinct / bytes_a_us;
    row->worst_us = row->kernels * b->launch_us + (double)row->lines * 128.0 / bytes_a_us;
}

static const char *element_of_param(const tmetal_result *result, int is_result) {
    unsigned i;
    for (i = 0; i < result->n_params; i++)
        if ((int)result->params[i].is_result == is_result) return result->params[i].type;
    return "f32";
}

/* Builds, runs and counts one. 0 after a message that ends everything. */
static int bench_one(bench *b, bench_row *row) {
    char           list[256], path[1280], *json = NULL;
    tmetal_options opt = b->r->opt;
    workshop       w;
    job            j;
    int            status = 0;
    memset(&j, 0, sizeof j);
    snprintf(list, sizeof list, "{\"ops\":[{\"type\":\"tt.sum\",\"id\":\"sum\",\"input_shapes\":[[%u,%u]],\"dtype\":\"%s\",\"args\":{\"axis\":1}}]}", row->rows, row->cols, b->element);
    opt.file = j.path = "bench";
    j.src = list;
    j.len = strlen(list);
    opt.layouts = row->asked; /* on every reduction */
    if (!compile_text(&j, &opt)) return 0;
    row->state = 2;
    if (j.result.code != TMETAL_OK) print_diags(b->r, &j.result, &j.arena);
    else if (open_workshop(&w)) {
        if (bench_case(&w, row, b->element, element_of_param(&j.result, 1), path)) json = simulate(b->r, &w, &j, path, " --json", &status);
        close_workshop(&w);
        if (!json || status > 1) return free(json), free(j.arena.base), 0;
        row->state = status;
        row->kernels = j.result.n_kernels;
        row->layout = j.result.kernels[0].n_reduce_plans ? (unsigned)j.result.kernels[0].reduce_plans[0].layout : 0;
        row->lines = sum_of_key(json, "\"lines\"");
        row->fewest = sum_of_key(json, "\"fewest_lines\"");
        row->bytes = sum_of_key(json, "\"bytes_read\"") + sum_of_key(json, "\"bytes_written\"");
        row->distinct = sum_of_key(json, "\"distinct_read\"") + sum_of_key(json, "\"distinct_written\"");
        row->barriers = sum_of_key(json, "\"barriers\"");
        row->simd_ops = sum_of_key(json, "\"simd_ops\"");
        bench_predict(b, row);
        free(json);
    }
    free(j.arena.base);
    return 1;
}

static const char bench_formula[] = "launches x %.3g us (assumed) + bytes / %u GB/s; bytes: each once .. each line of 128 as often as it is touched";
static const char *const bench_states[] = {"right", "WRONG", "refused"};

/* Some wishes cannot be had: tiles of fewer than 8 rows are no TILED. */
static int has_layout(const bench_row *row) {
    unsigned k;
    for (k = 0; k < 4 && strcmp(bench_layouts[k], row->asked) != 0; k++) {}
    return k == 0 ? row->layout == 0 : (row->layout >> (k - 1) & 1) != 0;
}

static void bench_text(const bench *b, buffer *out) {
    unsigned i;
    putf(out, "sum over rows, %s; counted in the simulator, nothing here was timed on a GPU\n", b->dtype);
    putf(out, "predicted for %s: ", b->gpu.name);
    if (b->gpu.gbps) putf(out, bench_formula, b->launch_us, b->gpu.gbps);
    else put(out, "nothing, its bandwidth is unknown");
    putf(out, "\n\n%-12s %-14s %10s %10s %12s %10s %10s %-8s %s\n", "size", "layout", "lines", "fewest", "bytes", "barriers", "simd ops", "result", "predicted us");
    for (i = 0; i < b->n; i++) {
        const bench_row *row = &b->row[i];
        char             size[32];
        sprintf(size, "%ux%u", row->rows, row->cols);
        putf(out, "%-12s %-14s ", size, row->asked);
        if (row->state < 2)
            putf(out, "%10lu %10lu %12lu %10lu %10lu ", (unsigned long)row->lines, (unsigned long)row->fewest, (unsigned long)row->bytes, (unsigned long)row->barriers, (unsigned long)row->simd_ops);
        else putf(out, "%10s %10s %12s %10s %10s ", "-", "-", "-", "-", "-");
        putf(out, row->state < 2 && row->worst_us > 0 ? "%-8s %.1f .. %.1f" : "%s", bench_states[row->state], row->best_us, row->worst_us);
        if (row->state < 2 && !has_layout(row)) put(out, ", but in "), put(out, tmetal_layout_name((tmetal_layout)row->layout));
        put(out, "\n");
    }
}

static void bench_json(const bench *b, buffer *out) {
    unsigned i;
    putf(out, "{\"tmetal_bench\":1,\"gpu\":\"%s\",\"dtype\":\"%s\",\"gbps\":%u,\"launch_us\":\"%.3f\",\"rows\":[", b->gpu.name, b->element, b->gpu.gbps, b->launch_us);
    for (i = 0; i < b->n; i++) {
        const bench_row *row = &b->row[i];
        putf(out, "%s\n {\"size\":[%u,%u],\"asked\":\"%s\",\"layout\":%u,\"kernels\":%u,\"result\":\"%s\"", i ? "," : "", row->rows, row->cols, row->asked, row->layout, row->kernels, bench_states[row->state]);
        putf(out, ",\"lines\":%lu,\"fewest_lines\":%lu,\"bytes\":%lu,\"distinct_bytes\":%lu,\"barriers\":%lu,\"simd_ops\":%lu", (unsigned long)row->lines, (unsigned long)row->fewest,
             (unsigned long)row->bytes, (unsigned long)row->distinct, (unsigned long)row->barriers, (unsigned long)row->simd_ops);
        putf(out, ",\"predicted_ns\":[%lu,%lu]}", (unsigned long)(row->best_us * 1000 + 0.5), (unsigned long)(row->worst_us * 1000 + 0.5));
    }
    put(out, "\n]}\n");
}

/* -- bench: the plot. 400 units wide, so that a phone shows letters of 13 units as such; one scale a size. */

static const char svg_style[] =
    "<style>\n"
    ":root{background:#ffffff}@media (prefers-color-scheme:dark){:root{background:#14171a}}\n"
    ".paper{fill:#ffffff}.ink{fill:#1a1d21}.soft{fill:#5b6470}.rule{stroke:#d4d9df}\n"
    ".best{fill:#2563a8}.worst{fill:#a9c6e6}.bad{fill:#b3261e}\n"
    "@media (prefers-color-scheme:dark){.paper{fill:#14171a}.ink{fill:#eceff2}.soft{fill:#a3adb8}.rule{stroke:#3a4149}\n"
    ".best{fill:#5aa2ec}.worst{fill:#2b4a6b}.bad{fill:#ff8a80}}\n"
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:12.5px}\n"
    ".title{font-size:15px;font-weight:600}.head{font-size:13.5px;font-weight:600}.note{font-size:11.5px}\n"
    "</style>\n";

static void svg_text(buffer *b, double x, unsigned y, const char *classes, const char *anchor, const char *text) {
    putf(b, "<text x=\"%.0f\" y=\"%u\" class=\"%s\" text-anchor=\"%s\">%s</text>\n", x, y, classes, anchor, text);
}

static void svg_bar(buffer *b, unsigned y, double width, const char *classes) {
    putf(b, "<rect x=\"118\" y=\"%u\" width=\"%.1f\" height=\"14\" rx=\"2\" class=\"%s\"/>\n", y, width < 1 ? 1 : width, classes);
}

static double bench_longest(const bench *b, unsigned first) { /* of the rows of one size */
    double   most = 0;
    unsigned i;
    for (i = first; i < b->n && b->row[i].rows == b->row[first].rows && b->row[i].cols == b->row[first].cols; i++)
        if (b->row[i].state == 0 && b->row[i].worst_us > most) most = b->row[i].worst_us;
    return most;
}

static void bench_svg_row(const bench_row *row, double most, buffer *out, unsigned y) {
    char text[64];
    svg_text(out, 8, y + 11, "ink", "start", row->asked);
    if (row->state != 0) {
        svg_text(out, 118, y + 11, "bad", "start", row->state == 1 ? "wrong result" : "refused");
        return;
    }
    svg_bar(out, y, row->worst_us / most * 166, "worst");
    svg_bar(out, y, row->best_us / most * 166, "best");
    snprintf(text, sizeof text, row->worst_us < 1000 ? "%.1f \xE2\x80\x93 %.1f" : "%.0f \xE2\x80\x93 %.0f", row->best_us, row->worst_us);
    svg_text(out, 392, y + 11, "soft", "end", text);
}

static void bench_svg(const bench *b, buffer *out) {
    unsigned i, y = 128, sizes = 0, height;
    double   most = 1;
    char     text[160];
    for (i = 0; i < b->n; i++) sizes += i == 0 || b->row[i].rows != b->row[i - 1].rows || b->row[i].cols != b->row[i - 1].cols;
    height = y + sizes * 38 + b->n * 22 + 62;
    putf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 400 %u\" width=\"100%%\" style=\"max-width:640px;height:auto\" role=\"img\">\n", height);
    putf(out, "<title>Predicted time of a row sum, %s, on %s</title>\n%s", b->element, b->gpu.name, svg_style);
    putf(out, "<rect width=\"400\" height=\"%u\" class=\"paper\"/>\n", height);
    snprintf(text, sizeof text, "Row sum, %s, predicted for %s", b->element, b->gpu.device && *b->gpu.device ? b->gpu.device : b->gpu.name);
    svg_text(out, 8, 24, "ink title", "start", text);
    svg_text(out, 8, 46, "soft", "start", "Microseconds; a prediction, not a measurement");
    put(out, "<rect x=\"8\" y=\"62\" width=\"14\" height=\"14\" rx=\"2\" class=\"best\"/>\n<rect x=\"8\" y=\"84\" width=\"14\" height=\"14\" rx=\"2\" class=\"worst\"/>\n");
    svg_text(out, 28, 73, "ink", "start", "if each byte is moved once");
    svg_text(out, 28, 95, "ink", "start", "up to: if each line is moved whenever it is touched");
    svg_text(out, 8, 120, "soft note", "start", "Each size has a scale of its own.");
    for (i = 0; i < b->n; i++) {
        if (i == 0 || b->row[i].rows != b->row[i - 1].rows || b->row[i].cols != b->row[i - 1].cols) {
            y += 10;
            most = bench_longest(b, i);
            putf(out, "<path d=\"M8 %u H392\" class=\"rule\"/>\n", y);
            snprintf(text, sizeof text, "%u \xC3\x97 %u", b->row[i].rows, b->row[i].cols);
            svg_text(out, 8, y + 19, "ink head", "start", text);
            y += 28;
        }
        bench_svg_row(&b->row[i], most, out, y);
        y += 22;
    }
    putf(out, "<path d=\"M8 %u H392\" class=\"rule\"/>\n", y + 8);
    snprintf(text, sizeof text, "launches \xC3\x97 %.3g \xC2\xB5s (assumed) + bytes \xC3\xB7 %u GB/s (table of GPUs);", b->launch_us, b->gpu.gbps);
    svg_text(out, 8, y + 27, "soft note", "start", text);
    svg_text(out, 8, y + 45, "soft note", "start", "bytes and lines of 128 bytes counted in the simulator.");
    put(out, "</svg>\n");
}

/* The next part of a list "a,b,c": its length; *list moves behind it. */
static size_t next_part(const char **list, const char **part) {
    size_t n = strcspn(*list, ",");
    *part = *list;
    *list += n + ((*list)[n] == ',');
    return n;
}

/* "128x1024" */
static int read_size(const char *s, size_t n, unsigned *rows, unsigned *cols) {
    char          text[32], *end;
    unsigned long a, c;
    if (n == 0 || n >= sizeof text) return 0;
    memcpy(text, s, n);
    text[n] = '\0';
    if (strspn(text, "0123456789x") != n || text[0] == 'x') return 0;
    a = strtoul(text, &end, 10);
    if (*end != 'x' || !end[1] || strchr(end + 1, 'x')) return 0;
    c = strtoul(end + 1, NULL, 10);
    if (!a || !c || a > BENCH_MOST_ELEMENTS || c > BENCH_MOST_ELEMENTS || (uint64_t)a * c > BENCH_MOST_ELEMENTS) return 0;
    *rows = (unsigned)a;
    *cols = (unsigned)c;
    return 1;
}

/* 0, or 2 after a message. */
static int bench_layouts_of(bench *b, unsigned rows, unsigned cols) {
    const char *list = b->r->value[OPT_LAYOUTS] ? b->r->value[OPT_LAYOUTS] : "DEFAULT,ROW_MAJOR,COLUMN_MAJOR,TILED,COALESCED", *part;
    unsigned    k;
    while (*list) {
        size_t n = next_part(&list, &part);
        for (k = 0; k < 5 && (strlen(bench_layouts[k]) != n || strncmp(part, bench_layouts[k], n) != 0); k++) {}
        if (k == 5) return misuse(b->r, "--layouts knows DEFAULT, ROW_MAJOR, COLUMN_MAJOR, TILED and COALESCED, not", part);
        if (b->n == sizeof b->row / sizeof *b->row) return misuse(b->r, "more than 80 of sizes times layouts", NULL);
        b->row[b->n].rows = rows;
        b->row[b->n].cols = cols;
        b->row[b->n++].asked = bench_layouts[k];
    }
    return 0;
}

static int bench_read(bench *b) {
    const request *r = b->r;
    const char    *sizes = r->value[OPT_SIZES] ? r->value[OPT_SIZES] : "128x1024,256x1024,512x1024,1024x1024", *part, *plot = r->value[OPT_PLOT];
    const char    *dtype = b->dtype, *launch = r->value[OPT_LAUNCH_US] ? r->value[OPT_LAUNCH_US] : "5";
    unsigned       rows, cols;
    char          *end;
    size_t         n = plot ? strlen(plot) : 0;
    b->element = strcmp(dtype, "float32") == 0 || strcmp(dtype, "f32") == 0 ? "f32" : strcmp(dtype, "float16") == 0 || strcmp(dtype, "f16") == 0 ? "f16"
               : strcmp(dtype, "bfloat16") == 0 || strcmp(dtype, "bf16") == 0 ? "bf16" : NULL;
    if (!b->element) return misuse(r, "--dtype knows float32, float16 and bfloat16, not", dtype);
    if (plot && strcmp(plot, "-") != 0 && (n < 5 || strcmp(plot + n - 4, ".svg") != 0)) return misuse(r, "the plot is SVG: give --output a name that ends in .svg, not", plot);
    b->launch_us = strtod(launch, &end);
    if (*end || !*launch || !(b->launch_us >= 0) || b->launch_us > 1e6) return misuse(r, "not a number of microseconds:", launch);
    if (!*sizes || (r->value[OPT_LAYOUTS] && !*r->value[OPT_LAYOUTS])) return misuse(r, "an empty list", NULL);
    while (*sizes) {
        n = next_part(&sizes, &part);
        if (!read_size(part, n, &rows, &cols)) return misuse(r, "not a size such as 128x1024 of at most 16777216 elements:", part);
        if (bench_layouts_of(b, rows, cols) != 0) return 2;
    }
    return 0;
}

/* Shares of a copy of the same bytes, where the GPU is: nothing is predicted. */
static int bench_on_device(const bench *b) {
    const request *r = b->r;
    buffer         line;
    int            bad = begin_device(r, &line);
    if (bad) return bad;
    put(&line, " --bench --dtype "), put(&line, b->element);
    if (r->value[OPT_SIZES]) put(&line, " --sizes"), put_word(&line, r->value[OPT_SIZES]);
    put(&line, " --layouts"), put_word(&line, r->value[OPT_LAYOUTS] ? r->value[OPT_LAYOUTS] : "ROW_MAJOR,COLUMN_MAJOR,TILED,COALESCED");
    if (r->value[OPT_JSON]) put(&line, " --json");
    return end_device(r, &line);
}

static int bench_command(request *r) {
    bench    b;
    buffer   text, svg;
    unsigned i;
    int      bad;
    char     sim[1280];
    memset(&b, 0, sizeof b);
    memset(&text, 0, sizeof text);
    memset(&svg, 0, sizeof svg);
    b.r = r;
    b.dtype = r->value[OPT_DTYPE] ? r->value[OPT_DTYPE] : "float32";
    bad = bench_read(&b);
    if (bad) return bad;
    if (r->value[OPT_DEVICE]) return bench_on_device(&b);
    if (!tmetal_gpu_resolve(r->opt.gpu ? r->opt.gpu : "apple-m1", NULL, NULL, &b.gpu)) return fprintf(stderr, "tmetal: GPU '%s' is not in the table; 'tmetal gpus' prints it\n", r->opt.gpu), 1;
    if (r->value[OPT_PLOT] && !b.gpu.gbps) return fprintf(stderr, "tmetal: the bandwidth of %s is unknown: no prediction, no plot\n", b.gpu.name), 1;
    if (!find_program(r->self, "sim", sim)) return no_simulator(r);
    for (i = 0; i < b.n; i++) {
        show_progress(r, b.row[i].asked, i + 1, b.n);
        if (!bench_one(&b, &b.row[i])) return 1;
        bad |= b.row[i].state;
    }
    show_progress(r, NULL, 0, 0);
    if (r->value[OPT_PLOT]) {
        bench_svg(&b, &svg);
        if (write_buffer_to(r->value[OPT_PLOT], &svg) != 0) return 1;
    }
    if (r->value[OPT_JSON]) bench_json(&b, &text);
    else bench_text(&b, &text);
    if (!r->value[OPT_PLOT] || strcmp(r->value[OPT_PLOT], "-") != 0) bad |= write_buffer_to(NULL, &text);
    free(text.text);
    return bad ? 1 : 0;
}

/* -- check: what this machine can do ------------------------------------------------------------------------------------ */

/* What is asked of a machine: a word, and the command that tells ("": the launcher does). `check --record` prints what they say, `--facts FILE`
 * reads it again, so that a report from another machine, and a test, take the same path. */
#define FACTS(X)                                                                                       \
    X(OS, "os", "uname -s")                                                                            \
    X(ARCH, "arch", "uname -m")                                                                        \
    X(ARM, "arm64", "sysctl -n hw.optional.arm64")                                                     \
    X(MACOS, "macos", "sw_vers -productVersion")                                                       \
    X(BUILD, "build", "sw_vers -buildVersion")                                                         \
    X(CHIP, "chip", "sysctl -n machdep.cpu.brand_string")                                              \
    X(CORES, "gpu-cores", "ioreg -rc AGXAccelerator -d 1 | sed -n 's/.*\"gpu-core-count\" = //p'")     \
    X(METAL, "metal", "system_profiler SPDisplaysDataType | sed -n 's/.*Metal[^:]*: //p'")             \
    X(TOOL, "metal-compiler", "xcrun -sdk macosx metal --version")                                     \
    X(CC, "c-compiler", "cc --version")                                                                \
    X(CLANG, "clang", "for c in clang++-19 clang++-21 clang++-20 clang++-18 clang++-17 clang++-16 clang++; do " \
                      "$c --version && break; done")                                                   \
    X(MLX, "mlx", "python3 -c 'import mlx.core as m; m.fast.metal_kernel; print(m.__version__)'")                                                                             \
    X(DEVICES, "devices", "")                                                                          \
    X(LAUNCH, "launch", "")                                                                            \
    X(TENSORS, "matmul2d", "")

typedef enum fact_id {
#define X(id, name, line) FACT_##id,
    FACTS(X)
#undef X
    FACT_COUNT
} fact_id;

static const struct {
    const char *name, *line;
} fact_rows[] = {
#define X(id, name, line) {name, line},
    FACTS(X)
#undef X
};

typedef struct facts {
    char text[FACT_COUNT][160]; /* first line of what the command prints; "": nothing */
} facts;

static void fact_set(char to[160], const char *from) {
    size_t n = strcspn(from, "\r\n");
    if (n > 159) n = 159;
    memcpy(to, from, n);
    to[n] = '\0';
}

/* "Apple M3 Max (Apple9), ..." */
static void facts_of_devices(facts *f, tmetal_arena *arena) {
    const tmetal_device *d;
    size_t               n, i, at = 0;
    tmetal_metal_options o;
    memset(&o, 0, sizeof o);
    o.symbol = EXAMPLE_SYMBOL;
    if (tmetal_metal_devices(&o, arena, &d, &n, NULL) != TMETAL_OK) return;
    for (i = 0; i < n && at < 100; i++)
        at += (size_t)snprintf(f->text[FACT_DEVICES] + at, 160 - at, "%s%.30s (Apple%u%s)", i ? ", " : "", d[i].name, d[i].family, d[i].metal4 ? ", Metal 4" : d[i].metal3 ? ", Metal 3" : "");
}

/* 256 sums on the GPU: how many are right; -1 and `problem` when it comes to none. What hangs is left to the system. */
static int try_sums(tmetal_metal *metal, const tmetal_result *result, tmetal_arena *arena, tmetal_problem *problem) {
    tmetal_loaded    *loaded;
    tmetal_launch    *launch;
    tmetal_buffer     memory[3];
    tmetal_launch_arg args[3];
    int               i, right = 0;
    if (tmetal_load(metal, result, arena, &loaded, NULL, problem) != TMETAL_OK || tmetal_launch_make(loaded, arena, &launch, problem) != TMETAL_OK) return -1;
    for (i = 0; i < 3; i++) {
        if (tmetal_buffer_make(metal, 256 * sizeof(float), &memory[i], problem) != TMETAL_OK) return -1;
        args[i] = tmetal_arg_buffer(&memory[i], 0);
    }
    for (i = 0; i < 512; i++) ((float *)memory[i / 256].contents)[i % 256] = (float)i;
    if (tmetal_launch_start(launch, args, 3, NULL, NULL, problem) != TMETAL_OK || tmetal_launch_wait(launch, 20000, problem) != TMETAL_OK) return -1;
    for (i = 0; i < 256; i++) right += ((float *)memory[2].contents)[i] == (float)(2 * i + 256);
    tmetal_launch_free(launch);
    for (i = 0; i < 3; i++) tmetal_buffer_free(metal, &memory[i]);
    tmetal_unload(loaded);
    return right;
}

/* Sums of a product by matmul2d that are wrong, by tensors in memory and by the places of M5; the older systems refuse. */
static void facts_of_tensors(facts *f, tmetal_metal *metal, tmetal_arena *arena) {
    char     text[160];
    uint32_t wrong[2], sums[2];
    int      way, took[2];
    for (way = 0; way < 2; way++) took[way] = tmetal_tensor_try(metal, (tmetal_tensor_way)way, arena, &wrong[way], &sums[way], NULL) == TMETAL_OK;
    if (!took[0]) return;
    sprintf(text, "tensors in memory: %u of %u wrong; ", (unsigned)wrong[0], (unsigned)sums[0]);
    if (took[1]) sprintf(text + strlen(text), "by the lanes of M5: %u of %u wrong", (unsigned)wrong[1], (unsigned)sums[1]);
    else strcat(text, "by lanes: refused");
    fact_set(f->text[FACT_TENSORS], text);
}

/* What the launcher finds here, and whether a small kernel runs: "256 of 256 sums right", or the launcher's error. */
static void facts_of_metal(facts *f) {
    static const char list[] = "{\"ops\":[{\"type\":\"tt.add\",\"id\":\"sums\",\"input_shapes\":[[256],[256]]}]}";
    tmetal_arena      arena = arena_of((size_t)16 << 20);
    tmetal_metal     *metal;
    tmetal_problem    problem;
    tmetal_result     result;
    char              text[sizeof problem.text + 16];
    int               right = -1;
    if (!arena.base) return;
    if (open_metal(&arena, &metal, &problem) == TMETAL_OK) {
        facts_of_devices(f, &arena);
        if (tmetal_compile_ops(list, sizeof list - 1, NULL, &arena, &result) == TMETAL_OK) right = try_sums(metal, &result, &arena, &problem);
        if (right >= 0) facts_of_tensors(f, metal, &arena);
        if (right >= 0) tmetal_metal_close(metal); /* it would wait for what hangs */
    }
    if (right >= 0) sprintf(text, "%d of 256 sums right", right);
    else sprintf(text, "TM%d: %s", (int)problem.code, problem.text);
    fact_set(f->text[FACT_LAUNCH], text);
    free(arena.base);
}

static void facts_of_machine(facts *f) {
    char     line[512], *text;
    unsigned i;
    int      status;
    memset(f, 0, sizeof *f);
    for (i = 0; i < FACT_COUNT; i++) {
        int tool = i == FACT_CC || i == FACT_CLANG || i == FACT_MLX, on_mac = strcmp(f->text[FACT_OS], "Darwin") == 0;
        if (!*fact_rows[i].line || (!on_mac && !tool && i != FACT_OS && i != FACT_ARCH)) continue;
        /* without its developer tools macOS answers a call of cc, xcrun or python3 with a dialogue */
        snprintf(line, sizeof line, "{ %s%s; } 2>/dev/null", on_mac && (tool || i == FACT_TOOL) ? "xcode-select -p >/dev/null && " : "", fact_rows[i].line);
        text = output_of(line, &status);
        if (text) fact_set(f->text[i], text);
        free(text);
    }
    facts_of_metal(f);
}

static int facts_of_file(facts *f, const char *path) {
    size_t   len;
    char    *text = read_all(path, &len), *line;
    unsigned i;
    memset(f, 0, sizeof *f);
    if (!text) return 0;
    for (line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        for (i = 0; i < FACT_COUNT; i++) {
            size_t n = strlen(fact_rows[i].name);
            if (strncmp(line, fact_rows[i].name, n) == 0 && line[n] == ':') fact_set(f->text[i], line + n + 1 + (line[n + 1] == ' '));
        }
    free(text);
    return 1;
}

typedef enum check_state { CHECK_OK, CHECK_MISSING, CHECK_NOTE } check_state;

typedef struct check_row {
    const char *what;
    check_state state;
    int         needed; /* without it no kernel runs on a GPU here */
    char        found[200];
    const char *how;    /* the way out, or what follows from it; "" */
} check_row;

typedef struct checks {
    check_row  row[16];
    unsigned   n;
    tmetal_gpu gpu; /* name is "" when the chip is not known */
    int        on_mac, simulates, was_tried;
} checks;

static void check_add(checks *c, const char *what, int ok, int needed, const char *found, const char *how) {
    check_row *row = &c->row[c->n++];
    row->what = what;
    row->state = ok ? CHECK_OK : needed ? CHECK_MISSING : CHECK_NOTE;
    row->needed = needed;
    snprintf(row->found, sizeof row->found, "%.199s", found);
    row->how = how;
}

/* "13.0.1" as 1300; 0: no version */
static unsigned version_number(const char *s) {
    char    *end;
    unsigned major = (unsigned)strtoul(s, &end, 10), minor = *end == '.' ? (unsigned)strtoul(end + 1, NULL, 10) : 0;
    return end == s ? 0 : major * 100 + (minor > 99 ? 99 : minor);
}

static const char *metal_of_macos(unsigned version) {
    return version >= 2700 ? "4.1" : version >= 2600 ? "4.0" : version >= 1500 ? "3.2" : version >= 1400 ? "3.1" : "3.0";
}

static void check_mac(checks *c, const facts *f) {
    unsigned macos = version_number(f->text[FACT_MACOS]);
    int      arm = strcmp(f->text[FACT_ARCH], "arm64") == 0, translated = !arm && strcmp(f->text[FACT_ARM], "1") == 0;
    char     text[200];
    snprintf(text, sizeof text, "macOS %.60s%s%s", *f->text[FACT_MACOS] ? f->text[FACT_MACOS] : "of unknown version", macos >= 1300 ? ": Metal language up to " : "", macos >= 1300 ? metal_of_macos(macos) : "");
    check_add(c, "system", macos >= 1300, 1, text, 
              macos < 1300   ? "macOS 13.0 or newer is needed: System Settings, General, Software Update"
              : macos < 1500 ? "a host must set fastMathEnabled = NO: this compiler does not know the text's pragma"
                             : "a host should set mathMode to safe, as the plan and the text's pragma say");
    check_add(c, "processor", arm, 1, arm ? "Apple silicon" : translated ? "Apple silicon, but this shell runs translated by Rosetta" : "Intel",
              arm ? "" : translated ? "start it anew without Rosetta: arch -arm64 zsh" : "Metal on Intel Macs lacks what the kernels use; a Mac with M1 or newer is needed");
    if (!*f->text[FACT_DEVICES]) { /* the launcher finds none, or did not exist yet: what the system says */
        snprintf(text, sizeof text, "%.120s", *f->text[FACT_METAL] ? f->text[FACT_METAL] : "none was reported");
        check_add(c, "Metal device", *f->text[FACT_METAL] && !strstr(f->text[FACT_METAL], "Not Supported"), 1, text, *f->text[FACT_METAL] ? "" : "in a virtual machine the GPU must be passed through");
    }
    check_add(c, "Metal compiler", *f->text[FACT_TOOL] != 0, 0, *f->text[FACT_TOOL] ? f->text[FACT_TOOL] : "none",
              *f->text[FACT_TOOL] ? "" : "only for compiling ahead of time, newLibraryWithSource needs none: install Xcode, then xcodebuild -downloadComponent MetalToolchain");
}

/* What a generation lacks or has, from the table's features. */
static void check_generation(checks *c, const facts *f) {
    char                 text[200];
    tmetal_gpu_limits    live;
    const char          *note;
    const tmetal_gpu    *row;
    memset(&live, 0, sizeof live);
    live.cores = (uint32_t)strtoul(f->text[FACT_CORES], NULL, 10);
    row = *f->text[FACT_CHIP] ? tmetal_gpu_find(f->text[FACT_CHIP], live.cores) : NULL;
    if (!row || !tmetal_gpu_resolve(row->name, &live, NULL, &c->gpu)) {
        memset(&c->gpu, 0, sizeof c->gpu);
        check_add(c, "chip", 0, 0, *f->text[FACT_CHIP] ? f->text[FACT_CHIP] : "unknown", "not in the table of GPUs: kernels are compiled for the smallest, apple-m1, which every newer one runs; or give --gpu apple9 or the like");
        return;
    }
    note = c->gpu.features & TMETAL_GPU_MATRIX_UNIT ? "matrix products have hardware of their own, by Metal 4 tensors"
         : c->gpu.family >= 9 ? "bfloat arithmetic pays, matrix operands come straight from memory"
         : "M1 and M2 run everything; M3 and newer do better: here bfloat is only a storage type, and operands of matrix products pass through threadgroup memory";
    snprintf(text, sizeof text, "%.60s, %u GPU cores, Apple%u: compile with --gpu %.40s", c->gpu.device, c->gpu.cores, c->gpu.family, c->gpu.name);
    check_add(c, "chip", 1, 0, text, note);
    snprintf(text, sizeof text, "%u threads and %u bytes of threadgroup memory a threadgroup, %u lanes a simdgroup, %u GB/s", c->gpu.threads, c->gpu.tg_bytes, c->gpu.simd, c->gpu.gbps);
    check_add(c, "limits", 1, 0, text, "a pipeline may allow fewer threads: read maxTotalThreadsPerThreadgroup");
}

/* What the launcher found; older recordings do not say. */
static void check_launch(checks *c, const facts *f) {
    c->was_tried = strcmp(f->text[FACT_LAUNCH], "256 of 256 sums right") == 0;
    if (*f->text[FACT_DEVICES]) check_add(c, "Metal device", 1, 1, f->text[FACT_DEVICES], "");
    if (*f->text[FACT_LAUNCH])
        check_add(c, "launch", c->was_tried, 1, f->text[FACT_LAUNCH],
                  c->was_tried ? "" : c->on_mac ? "docs/launch.md says what each code means; please report it, with 'tmetal check --record'" : "run it on a Mac; here the simulator runs kernels");
    if (*f->text[FACT_TENSORS]) {
        const int ok = strstr(f->text[FACT_TENSORS], "memory: 0 of 512 wrong") != NULL;
        check_add(c, "matmul2d", ok, 0, f->text[FACT_TENSORS], ok ? "matrix products by Metal 4: --has TENSOR_OPS; please report whether they are right and faster" : "leave TENSOR_OPS off, and please report it");
    }
}

static void check_all(const request *r, const facts *f, checks *c) {
    char sim[1280];
    memset(c, 0, sizeof *c);
    c->on_mac = strcmp(f->text[FACT_OS], "Darwin") == 0;
    c->simulates = find_program(r->self, "sim", sim) && *f->text[FACT_CLANG];
    if (c->on_mac) check_mac(c, f), check_generation(c, f);
    else {
        char text[200];
        snprintf(text, sizeof text, "%.60s on %.60s", *f->text[FACT_OS] ? f->text[FACT_OS] : "an unknown system", *f->text[FACT_ARCH] ? f->text[FACT_ARCH] : "an unknown processor");
        check_add(c, "system", 0, 1, text, "kernels run on Macs with macOS 13.0 or newer and an M1 or newer");
        if (!*f->text[FACT_DEVICES]) check_add(c, "Metal device", 0, 1, "none: Metal exists on Apple's systems only", "take the text and the plan that are made here to a Mac");
    }
    check_launch(c, f);
    check_add(c, "kernels", 1, 0, "read from .py files, from TTIR and from lists of ops", "needs neither Python nor Triton (docs/triton.md)");
    check_add(c, "C compiler", *f->text[FACT_CC] != 0, 0, *f->text[FACT_CC] ? f->text[FACT_CC] : "none", *f->text[FACT_CC] ? "" : c->on_mac ? "xcode-select --install" : "install gcc or clang");
    check_add(c, "simulator", c->simulates, 0, find_program(r->self, "sim", sim) ? *f->text[FACT_CLANG] ? f->text[FACT_CLANG] : "built, but it finds no clang" : "not built",
              c->simulates ? "" : "make deps, then make sim: it runs kernels on the CPU, and checks them");
    check_add(c, "MLX", *f->text[FACT_MLX] != 0, 0, *f->text[FACT_MLX] ? f->text[FACT_MLX] : "not found", *f->text[FACT_MLX] ? "" : "only for kernels that MLX launches (docs/mlx.md): pip install mlx");
}

static int check_passes(const checks *c) {
    unsigned i;
    for (i = 0; i < c->n; i++)
        if (c->row[i].state == CHECK_MISSING) return 0;
    return 1;
}

static void check_text(const request *r, const checks *c, buffer *b) {
    static const char *const states[] = {"ok", "MISSING", "note"}, *const colours[] = {"32", "31", "33"};
    unsigned i;
    for (i = 0; i < c->n; i++) {
        const check_row *row = &c->row[i];
        paint(r, b, colours[row->state], states[row->state]);
        putf(b, "%*s %-15s %s\n", (int)(8 - strlen(states[row->state])), "", row->what, row->found);
        if (*row->how) putf(b, "%25s%s\n", "", row->how);
    }
    put(b, "\nhere: kernels compile to Metal, from .py or from TTIR");
    if (c->simulates) put(b, ", run in the simulator");
    put(b, check_passes(c) ? c->was_tried ? ", and run on the GPU: a small one was right.\n" : ", and can run on the GPU. The GPU itself was not tried.\n" : "; they cannot run on a GPU.\n");
}

static void check_json(const checks *c, buffer *b) {
    static const char *const states[] = {"ok", "missing", "note"};
    unsigned i;
    put(b, "{\"tmetal_check\":1,\"checks\":[");
    for (i = 0; i < c->n; i++) {
        putf(b, "%s\n {\"what\":\"%s\",\"state\":\"%s\",\"found\":", i ? "," : "", c->row[i].what, states[c->row[i].state]);
        put_json_text(b, c->row[i].found);
        put(b, ",\"how\":");
        put_json_text(b, c->row[i].how);
        put(b, "}");
    }
    put(b, "\n],\"gpu\":");
    put_json_text(b, c->gpu.name ? c->gpu.name : "");
    putf(b, ",\"compiles\":true,\"simulates\":%s,\"was_tried\":%s,\"runs_on_gpu\":%s}\n", c->simulates ? "true" : "false", c->was_tried ? "true" : "false", check_passes(c) ? "true" : "false");
}

static int check_command(request *r) {
    facts    f;
    checks   c;
    buffer   b;
    unsigned i;
    int      bad;
    memset(&b, 0, sizeof b);
    if (!r->value[OPT_FACTS]) facts_of_machine(&f);
    else if (!facts_of_file(&f, r->value[OPT_FACTS])) return 1;
    if (r->value[OPT_RECORD]) {
        for (i = 0; i < FACT_COUNT; i++) putf(&b, "%s: %s\n", fact_rows[i].name, f.text[i]);
        return write_buffer(r, &b);
    }
    check_all(r, &f, &c);
    if (r->value[OPT_JSON]) check_json(&c, &b);
    else check_text(r, &c, &b);
    bad = write_buffer(r, &b);
    return bad || !check_passes(&c) ? 1 : 0;
}

/* -- tutorial ------------------------------------------------------------------------------------------------------------- */

/* Waits for the return key; 0 when the reader wants no more. */
static int go_on(const request *r) {
    char line[64];
    if (r->value[OPT_YES]) return putchar('\n') != EOF;
    printf("\n-- return: go on; q: quit -- ");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return putchar('\n'), 0;
    putchar('\n');
    return line[0] != 'q' && line[0] != 'Q';
}

static void tutorial_title(const request *r, unsigned step, unsigned of, const char *title) {
    buffer b;
    char   text[120];
    memset(&b, 0, sizeof b);
    snprintf(text, sizeof text, "%u of %u  %s", step, of, title);
    paint(r, &b, "1", text);
    printf("%s\n\n", b.text ? b.text : text);
    free(b.text);
}

/* Compiles a list of operations that the tutorial shows; 0 after a message. */
static int tutorial_compile(const request *r, char *list, job *j) {
    tmetal_options opt = r->opt;
    memset(j, 0, sizeof *j);
    j->src = list;
    j->len = strlen(list);
    opt.file = j->path = "tutorial";
    if (!compile_text(j, &opt)) return 0;
    if (j->result.code == TMETAL_OK) return 1;
    print_diags(r, &j->result, &j->arena);
    free(j->arena.base);
    return 0;
}

static int tutorial_check(const request *r) {
    facts  f;
    checks c;
    buffer b;
    memset(&b, 0, sizeof b);
    printf("tmetal reads a Triton kernel, from its .py file or as the Triton IR that Triton printed, and makes Metal text\n"
           "and a launch plan of it. That works anywhere. Running the text needs a Mac. 'tmetal check' says what this\n"
           "machine can do:\n\n");
    fflush(stdout);
    facts_of_machine(&f);
    check_all(r, &f, &c);
    check_text(r, &c, &b);
    fputs(b.text ? b.text : "", stdout);
    free(b.text);
    return 1;
}

/* Text with its lines counted. */
static void tutorial_text(const char *text) {
    unsigned n = 0;
    while (*text) {
        size_t len = strcspn(text, "\n");
        printf("    %3u  %.*s\n", ++n, (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static int tutorial_source(const request *r) {
    static const char py[] = "import triton\n"
                             "import triton.language as tl\n"
                             "\n"
                             "@triton.jit\n"
                             "def twice(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n"
                             "    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                             "    x = tl.load(x_ptr + cols, mask=cols < n)\n"
                             "    tl.store(y_ptr + cols, x * 2, mask=cols < n)\n";
    request    from = *r;
    job        j;
    const char *msl;
    memset(&j, 0, sizeof j);
    j.path = "twice.py";
    j.len = sizeof py - 1;
    j.src = (char *)malloc(sizeof py);
    if (!j.src) return 0;
    memcpy(j.src, py, sizeof py);
    from.value[OPT_ARGS] = "*fp32:16, *fp32:16, i32:16";
    from.value[OPT_CONST] = "BLOCK=256";
    printf("A kernel as its author writes it, twice.py:\n\n");
    tutorial_text(py);
    printf("\nNeither Python nor Triton is needed to read it. --args says what the launch will pass, in order: two fp32\n"
           "tensors at addresses that 16 divides, and a number that 16 divides. --const gives the tl.constexpr:\n\n"
           "    tmetal compile twice.py --args \"%s\" --const %s\n\n", from.value[OPT_ARGS], from.value[OPT_CONST]);
    if (!read_triton(&from, &j)) return 0;
    if (!compile_text(&j, &r->opt)) return free(j.src), 0;
    if (j.result.code != TMETAL_OK) print_diags(r, &j.result, &j.arena);
    else if ((msl = strstr(j.result.kernels[0].msl, "[[max_total_threads")) != NULL ||
             (msl = strstr(j.result.kernels[0].msl, "kernel void")) != NULL)
        tutorial_text(msl); /* one simdgroup has no such attribute */
    printf("\nThe head of the text is left out here. 'tmetal kernels FILE.py' says which kernels a file has, and\n"
           "docs/triton.md the rest.\n");
    free(j.src);
    return free(j.arena.base), j.result.code == TMETAL_OK;
}

static int tutorial_layouts(const request *r) {
    static char list[] = "tt.sum:[512,1024]:1", other[] = "tt.sum:[512,1024]:0";
    char       *lists[2];
    unsigned    i;
    job         j;
    lists[0] = list;
    lists[1] = other;
    printf("A layout says which thread holds which element of a tile. Elements are numbered row by row. Each bit of\n"
           "a register's, a lane's and a simdgroup's number adds its figure: 'lane 4 8 ..' means that lane 1 begins at\n"
           "element 4, lane 2 at 8. Neighbouring lanes on neighbouring addresses touch few lines of memory.\n"
           "COALESCED (bit 8) is the layout of what a reduction reads: whole lines, as wide as a lane can load.\n");
    for (i = 0; i < 2; i++) {
        const tmetal_reduce_plan *p;
        if (!tutorial_compile(r, lists[i], &j)) return 0;
        if (!j.result.kernels[0].n_reduce_plans) return free(j.arena.base), 0;
        p = &j.result.kernels[0].reduce_plans[0];
        printf("\n    tmetal analyze --operation \"%s\" --verbose\n\n    %s over axis %u: %s\n    %s\n    %s\n", lists[i], p->type, p->axis, tmetal_layout_name(p->layout), p->map, p->reason);
        printf("    to one result: %u element%s of each thread, %u lane%s, %u simdgroup%s\n", p->elements, p->elements == 1 ? "" : "s", p->lanes, p->lanes == 1 ? "" : "s", p->simdgroups, p->simdgroups == 1 ? "" : "s");
        free(j.arena.base);
    }
    return 1;
}

static int tutorial_reduction(const request *r) {
    static char list[] = "tt.max:[64,4096]:1";
    unsigned    i;
    job         j;
    const tmetal_kernel *k;
    if (!tutorial_compile(r, list, &j)) return 0;
    k = &j.result.kernels[0];
    printf("A reduction goes up a hierarchy: the elements of a thread, then the 32 lanes of its simdgroup by simd\n"
           "functions, then simdgroups through threadgroup memory, with a barrier between. The largest of each row:\n\n"
           "    echo '%s' | tmetal compile - --emit remarks\n\n", list);
    for (i = 0; i < j.result.n_remarks; i++) printf("    [%s] %s\n", j.result.remarks[i].about, j.result.remarks[i].text);
    if (k->n_reduce_plans)
        printf("\nSo %u elements in each thread, %u lanes, %u simdgroup%s: %s.\n", k->reduce_plans[0].elements, k->reduce_plans[0].lanes, k->reduce_plans[0].simdgroups,
               k->reduce_plans[0].simdgroups == 1 ? "" : "s", k->reduce_plans[0].simdgroups == 1 ? "no barrier is needed" : "the last step needs threadgroup memory and barriers");
    free(j.arena.base);
    return 1;
}

static int tutorial_softmax(const request *r) {
    static char list[] = "tt.softmax:[128,1024]";
    job         j;
    unsigned    i;
    if (!tutorial_compile(r, list, &j)) return 0;
    printf("A softmax is two reductions with elementwise steps between. As kernels of their own, each would fetch its\n"
           "input from memory and put its result back there. tmetal compiles all to %u kernel%s:\n\n    echo '%s' | tmetal compile - --emit plan\n\n", j.result.n_kernels, j.result.n_kernels == 1 ? "" : "s", list);
    for (i = 0; i < j.result.n_kernels; i++) {
        const tmetal_kernel *k = &j.result.kernels[i];
        printf("    %s: %u x %u x %u threadgroups of %u threads, %u bytes of threadgroup memory, %u reduction%s\n", k->name, k->grid[0], k->grid[1], k->grid[2], k->threads,
               k->threadgroup_bytes, k->n_reduce_plans, k->n_reduce_plans == 1 ? "" : "s");
    }
    printf("\nIn a .ttir file the same is found by structure: 'tmetal compile FILE --emit remarks' names what was fused.\n");
    free(j.arena.base);
    return 1;
}

static int tutorial_reading(const request *r) {
    static char list[] = "tt.softmax:[128,1024]";
    job         j;
    if (!tutorial_compile(r, list, &j)) return 0;
    printf("The Metal is made to be read. On top stands what it is: grid, work, memory. Then the parameters with their\n"
           "buffer numbers, one comment for each source line, and a reason beside each barrier:\n\n");
    tutorial_text(j.result.kernels[0].msl);
    printf("\nNext: README.md, docs/architecture.md, and 'tmetal --help'. With a kernel of yours:\n\n"
           "    tmetal kernels mine.py                        # its parameters\n"
           "    tmetal compile mine.py --kernel NAME --args \"*fp32:16, i32\" --const BLOCK=1024\n\n"
           "Where Triton runs, its own IR does as well:\n\n"
           "    kernel = fn.warmup(..., grid=(1,))            # in Python, or what fn[grid](...) returns\n"
           "    open(\"mine.ttir\", \"w\").write(kernel.asm[\"ttir\"])\n"
           "    tmetal compile mine.ttir\n");
    free(j.arena.base);
    return 1;
}

static int tutorial_command(request *r) {
    static const struct {
        const char *title;
        int (*show)(const request *r);
    } steps[] = {{"What this machine can do", tutorial_check}, {"From Python to Metal", tutorial_source}, {"Layouts", tutorial_layouts},
                 {"A reduction", tutorial_reduction}, {"A fused softmax", tutorial_softmax}, {"Reading the Metal", tutorial_reading}};
    const unsigned n = sizeof steps / sizeof *steps;
    unsigned       i;
    for (i = 0; i < n; i++) {
        tutorial_title(r, i + 1, n, steps[i].title);
        if (!steps[i].show(r)) return 1;
        if (i + 1 < n && !go_on(r)) break;
    }
    return 0;
}

/* -- tune: which way to compile a kernel is fastest ---------------------------------------------------------------- */

typedef struct tuning {
    const request    *r;
    job               j;       /* compiled as planned */
    tmetal_options    opt;
    launch_spec       launch;
    tmetal_metal     *metal;   /* NULL: nothing is timed */
    tmetal_buffer     buffer[MOST_ARGS];
    tmetal_launch_arg arg[MOST_ARGS];
    unsigned          n_arg;
    tmetal_arena      arena, work, device;
    tmetal_problem    problem;
    double            first;   /* seconds of the first trial */
    unsigned          trials, differ; /* how many; how many took another time than the first */
    buffer            out;
} tuning;

static uint64_t bytes_of_type(const char *type) {
    type += strcspn(type, "0123456789");
    return strtoul(type, NULL, 10) > 8 ? strtoul(type, NULL, 10) / 8 : 1;
}

/* A buffer for parameter i. Floats are about 1, which is no special case of any arithmetic; integers 0, since they may be
 * places in another buffer. */
static int tune_buffer(tuning *t, unsigned i, uint64_t bytes, const char *type) {
    if (tmetal_buffer_make(t->metal, bytes ? bytes : 4, &t->buffer[i], &t->problem) != TMETAL_OK) return 0;
    if ((*type == 'f' || *type == 'b') && t->buffer[i].contents) memset(t->buffer[i].contents, 0x3c, (size_t)bytes);
    t->arg[i] = tmetal_arg_buffer(&t->buffer[i], 0);
    return 1;
}

static const char *type_of_param(const tmetal_result *r, unsigned param) {
    unsigned k, i;
    for (k = 0; k < r->n_kernels; k++)
        for (i = 0; i < r->kernels[k].n_args; i++)
            if (r->kernels[k].args[i].param == param && r->kernels[k].args[i].kind != TMETAL_ARG_SCRATCH) return r->kernels[k].args[i].type;
    return "";
}

static int tune_args(tuning *t) {
    const tmetal_result *r = &t->j.result;
    unsigned             i, k;
    t->n_arg = t->j.is_ops ? r->n_params : t->launch.n;
    if (t->n_arg > MOST_ARGS) return 0;
    for (i = 0; i < t->n_arg; i++) {
        const char *s = t->launch.arg[i];
        uint64_t    bytes = 0;
        if (t->j.is_ops) {
            for (bytes = bytes_of_type(r->params[i].type), k = 0; k < r->params[i].n_dims; k++) bytes *= r->params[i].dims[k];
            if (!tune_buffer(t, i, bytes, r->params[i].type)) return 0;
        } else if (*s == '@') {
            if (!tune_buffer(t, i, strtoull(s + 1, NULL, 10), type_of_param(r, i))) return 0;
        } else if (is_float_arg(s)) t->arg[i] = tmetal_arg_float(strtod(s, NULL));
        else t->arg[i] = tmetal_arg_int(t->launch.ints[i]);
    }
    return 1;
}

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median of seven launches behind one that does not count; 0: it cannot be launched. */
static double tune_time(tuning *t, const tmetal_candidate *c) {
    tmetal_loaded *loaded = NULL;
    tmetal_launch *launch = NULL;
    tmetal_result  result;
    double         seconds[8];
    unsigned       i = 0;
    const char    *src = c->options.text ? t->j.more[c->options.text - 1] : t->j.src;
    t->work.used = 0;
    if ((t->j.is_ops ? tmetal_compile_ops : tmetal_compile)(src, c->options.text ? strlen(src) : t->j.len, &c->options, &t->work, &result) == TMETAL_OK &&
        tmetal_load(t->metal, &result, &t->work, &loaded, NULL, &t->problem) == TMETAL_OK &&
        tmetal_launch_make(loaded, &t->work, &launch, &t->problem) == TMETAL_OK)
        for (; i < 8; i++) {
            if (tmetal_launch_run(launch, t->arg, t->n_arg, t->j.is_ops ? NULL : c->options.text ? t->launch.grid[c->options.text - 1] : t->launch.how.programs, &t->problem) != TMETAL_OK) break;
            seconds[i] = tmetal_launch_seconds(launch);
        }
    if (launch) tmetal_launch_free(launch);
    if (loaded) tmetal_unload(loaded);
    if (i < 8) return 0;
    qsort(seconds + 1, 7, sizeof *seconds, by_time);
    return seconds[4];
}

/* Time what the tuner asks for. */
static void tune_trials(tuning *t, tmetal_tune *tune) {
    const tmetal_candidate *c;
    while ((c = tmetal_tune_next(tune)) != NULL) {
        double s;
        show_progress(t->r, c->name, t->trials, 0);
        s = tune_time(t, c);
        if (!t->trials++) t->first = s;
        t->differ += s != t->first;
        tmetal_tune_record(tune, c->index, s);
        if (s > 0) putf(&t->out, "%-48s %10.1f us\n", c->name, s * 1e6);
        else putf(&t->out, "%-48s cannot be launched: %.200s\n", c->name, t->problem.text);
    }
    show_progress(t->r, NULL, 0, 0);
}

/* What is found, in words. */
static void tune_tell(tuning *t, const tmetal_tune *tune, const char *why_not) {
    const tmetal_candidate *best = tmetal_tune_best(tune), *c, *planned = tmetal_tune_at(tune, 0);
    uint32_t                i;
    if (best->seconds > 0) {
        putf(&t->out, "best of %u trials: %s", t->trials, best->name);
        if (planned->seconds > 0) putf(&t->out, ", %.2f times as fast as planned", planned->seconds / best->seconds);
        put(&t->out, "\n");
        if (t->trials > 1 && !t->differ) put(&t->out, "all took the same time: this device has no clock that tells, and nothing was learned\n");
        return;
    }
    putf(&t->out, "planned: %.1f us by the model, the bytes alone take %.1f us; about %u registers per thread%s\n",
         planned->predicted * 1e6, planned->floor * 1e6, planned->registers,
         !t->j.is_ops && !t->launch.n ? "; the grid is not given (--grid), so it is assumed" : "");
    for (i = 0; (c = tmetal_tune_at(tune, i)) != NULL; i++)
        putf(&t->out, "%-48s %6.2f of planned, by the model\n", c->name, c->predicted / planned->predicted);
    if (why_not) putf(&t->out, "%s\n", why_not);
    putf(&t->out, "model's choice, nothing timed: %s\n", best->name);
}

/* Puts what was found into the tuning cache. */
static int tune_keep(tuning *t, const tmetal_tune *tune) {
    const char   *path = t->r->value[OPT_TUNE_TO], *entry, *merged;
    size_t        len, old_len = 0;
    tmetal_result out;
    FILE         *f;
    char         *old = NULL;
    unsigned      i;
    int           bad = 1;
    if (tmetal_tune_end(tune, &t->arena, &entry, &len, &out) != TMETAL_OK) return print_diags(t->r, &out, &t->arena), 1;
    if (!path) return 0;
    f = fopen(path, "rb");
    if (f) old = read_stream(f, path, &old_len), fclose(f);
    if (!f || old) {
        tmetal_arena room = arena_of(65536 + 64 * (old_len + len));
        if (room.base && tmetal_tune_merge(old, old_len, entry, len, &room, &merged, &len, &out) == TMETAL_OK) {
            for (i = 0; i < out.n_remarks; i++) fprintf(stderr, "tmetal: %s: %s\n", path, out.remarks[i].text);
            bad = write_all(path, merged, len);
        }
        free(room.base);
    }
    free(old);
    return bad;
}

/* A device to time on; else why there is none. */
static const char *tune_device(tuning *t) {
    static char text[300];
    if (t->launch.how.strategy == TMETAL_TUNE_MODEL) return NULL;
    if (!t->j.is_ops && !t->launch.n) return "not timed: a launch is wanted, --grid and --args";
    if (open_metal(&t->device, &t->metal, &t->problem) != TMETAL_OK) {
        t->metal = NULL;
        snprintf(text, sizeof text, "not timed: %.200s", t->problem.text);
        return text;
    }
    if (!t->opt.gpu) t->opt.gpu = tmetal_metal_device(t->metal)->name, t->opt.live = &tmetal_metal_device(t->metal)->live;
    if (!tune_args(t)) return "not timed: no buffers for the arguments";
    return NULL;
}

static int tune_options(tuning *t) {
    static const char *const names[] = {"guided", "exhaustive", "random", "model"};
    const request *r = t->r;
    const char    *s = r->value[OPT_STRATEGY];
    unsigned       k;
    if (!read_launch(r, &t->j, &t->launch) || !fits_kernel(&t->j, &t->launch)) return 0;
    for (k = 0; s && k < 4 && strcmp(names[k], s) != 0; k++) {}
    if (s && k == 4) return misuse(r, "--strategy knows guided, exhaustive, random and model, not", s), 0;
    t->launch.how.strategy = s ? (tmetal_tune_strategy)k : TMETAL_TUNE_GUIDED;
    if (!read_count(r, OPT_TRIALS, UINT32_MAX, "not a number of trials:", &t->launch.how.trials) ||
        !read_count(r, OPT_ORDER, UINT32_MAX, "not a seed from 0 to 4294967295:", &t->launch.how.seed)) return 0;
    t->opt = r->opt;
    return 1;
}

static int tune_command(request *r) {
    tuning       *t = (tuning *)calloc(1, sizeof *t);
    tmetal_tune  *tune;
    tmetal_result out;
    const char   *why_not;
    unsigned      i;
    int           bad = 1;
    if (!t) return 1;
    t->r = r;
    if (!open_job(r, r->files[0], &t->j)) return free(t), 1;
    if (!tune_options(t)) return close_job(&t->j), free(t), 2;
    t->arena = arena_of(tune_bound(&t->j));
    t->work = arena_of(tune_bound(&t->j) + ((size_t)4 << 20));
    t->device = arena_of(65536);
    if (t->j.result.code != TMETAL_OK) print_diags(r, &t->j.result, &t->j.arena);
    if ((t->j.result.code == TMETAL_OK || t->j.n_more) && t->arena.base && t->work.base && t->device.base) {
        why_not = tune_device(t);
        t->opt.file = t->j.path;
        show_progress(r, "candidates are made", 1, 2);
        if (tmetal_tune_begin(t->j.src, t->j.len, &t->opt, &t->launch.how, &t->arena, &tune, &out) != TMETAL_OK) print_diags(r, &out, &t->arena);
        else {
            if (t->metal && !why_not) tune_trials(t, tune);
            show_progress(r, NULL, 0, 0);
            tune_tell(t, tune, why_not);
            bad = tune_keep(t, tune);
            if (write_buffer(r, &t->out) != 0) bad = 1;
        }
    }
    for (i = 0; i < t->n_arg; i++)
        if (t->buffer[i].object) tmetal_buffer_free(t->metal, &t->buffer[i]);
    if (t->metal) tmetal_metal_close(t->metal);
    close_job(&t->j);
    free(t->out.text);
    free(t->arena.base);
    free(t->work.base);
    free(t->device.base);
    return free(t), bad;
}

/* -- gpus, ops: the tables ---------------------------------------------------------------------------------- */

static void gpus_json(buffer *b) {
    size_t i, k;
    put(b, "{\"tmetal_gpus\":1,\"gpus\":[");
    for (i = 0; i < tmetal_gpu_count(); i++) {
        const tmetal_gpu *g = tmetal_gpu_at(i);
        putf(b, "%s\n {\"name\":", i ? "," : "");
        put_json_text(b, g->name);
        put(b, ",\"device\":");
        put_json_text(b, g->device);
        for (k = 0; k < tmetal_gpu_fact_count(); k++) {
            tmetal_gpu_fact f = tmetal_gpu_fact_at(g, k);
            putf(b, ",\"%s\":", f.figure);
            if (*f.text) put_json_text(b, f.text);
            else putf(b, "%u", f.value);
        }
        put(b, "}");
    }
    put(b, "\n]}\n");
}

static int gpus_command(request *r) {
    size_t i;
    buffer b;
    memset(&b, 0, sizeof b);
    if (r->value[OPT_JSON]) {
        gpus_json(&b);
        return write_buffer(r, &b);
    }
    putf(&b, "%-18s %-16s %6s %5s %5s %9s %8s\n", "name", "MTLDevice.name", "family", "cores", "GB/s", "tg bytes", "threads");
    for (i = 0; i < tmetal_gpu_count(); i++) {
        const tmetal_gpu *g = tmetal_gpu_at(i);
        putf(&b, "%-18s %-16s %6u %5u %5u %9u %8u\n", g->name, g->device, g->family, g->cores, g->gbps, g->tg_bytes, g->threads);
    }
    return write_buffer(r, &b);
}

/* One a line: "softmax x; axis=-1", and its other names below it. */
static int list_ops(request *r) {
    size_t i, k;
    buffer b;
    memset(&b, 0, sizeof b);
    put(&b, "Operations of op lists: inputs, optional ones in brackets; then arguments, with what holds when they are absent.\n"
            "Every one also takes dtype, the type of its result. docs/oplists.md says what they do.\n\n");
    for (i = 0; tmetal_list_op_at(i).name && !tmetal_list_op_at(i).means; i++) {
        const tmetal_list_op_info op = tmetal_list_op_at(i);
        int                       any = 0;
        putf(&b, "%-18s %s\n", op.name, op.takes);
        for (k = i; tmetal_list_op_at(k).name; k++)
            if (tmetal_list_op_at(k).means && strcmp(tmetal_list_op_at(k).means, op.name) == 0)
                putf(&b, "%s%s", any++ ? ", " : "    also called ", tmetal_list_op_at(k).name);
        if (any) put(&b, "\n");
    }
    return write_buffer(r, &b);
}

static int ops_command(request *r) {
    size_t i;
    int    json = r->value[OPT_JSON] != NULL;
    buffer b;
    memset(&b, 0, sizeof b);
    if (r->value[OPT_LISTS] && json) return misuse(r, "--lists is printed as text, without", "--json");
    if (r->value[OPT_LISTS]) return list_ops(r);
    if (json) put(&b, "{\"tmetal_ops\":1,\"ops\":[");
    for (i = 0; i < tmetal_op_count(); i++) {
        tmetal_op_info op = tmetal_op_at(i);
        if (json) putf(&b, "%s\n {\"name\":\"%s\",\"group\":\"%s\",\"compiled\":%s}", i ? "," : "", op.name, op.group, op.lowered ? "true" : "false");
        else putf(&b, "%-44s %-18s %s\n", op.name, op.group, op.lowered ? "compiled" : "read and printed");
    }
    if (json) put(&b, "\n]}\n");
    return write_buffer(r, &b);
}

/* -- kernels -------------------------------------------------------------------------------------------------- */

static void kernel_json(buffer *b, const tmetal_triton_kernel *k) {
    uint32_t i;
    put(b, "{\"name\":"), put_json_text(b, k->name);
    putf(b, ",\"line\":%u,\"params\":[", k->line);
    for (i = 0; i < k->n_params; i++) {
        const tmetal_triton_param *p = &k->params[i];
        put(b, i ? ",\n   {\"name\":" : "\n   {\"name\":"), put_json_text(b, p->name);
        put(b, ",\"annotation\":"), put_json_text(b, p->annotation);
        putf(b, ",\"constexpr\":%s,\"default\":", p->is_const ? "true" : "false"), put_json_text(b, p->value);
        put(b, ",\"heuristic\":"), put_json_text(b, p->heuristic);
        put(b, "}");
    }
    put(b, "],\"configs\":[");
    for (i = 0; i < k->n_configs; i++) put(b, i ? ",\n   " : "\n   "), put_json_text(b, k->configs[i]);
    putf(b, "],\"all_configs\":%s}", k->configs_open ? "false" : "true");
}

static void kernel_text(const request *r, buffer *b, const char *path, const tmetal_triton_kernel *k) {
    uint32_t i;
    int      says_num = 0;
    paint(r, b, "1", k->name);
    putf(b, "  %s:%u\n", path, k->line);
    for (i = 0; i < k->n_params; i++) {
        const tmetal_triton_param *p = &k->params[i];
        put(b, "    "), put(b, p->name);
        if (*p->annotation) put(b, ": "), put(b, p->annotation);
        if (*p->value) put(b, " = "), put(b, p->value);
        if (*p->heuristic) put(b, "  heuristic: "), put(b, p->heuristic);
        put(b, "\n");
    }
    for (i = 0; i < k->n_configs; i++) {
        putf(b, "    --config %u: ", i + 1), put(b, k->configs[i]), put(b, "\n");
        says_num |= strstr(k->configs[i], "num_") != NULL;
    }
    if (says_num) put(b, "    (num_warps, num_stages and num_ctas have no effect on the Metal: the planner chooses the threads)\n");
    if (k->configs_open) put(b, "    further configurations cannot be read from the text\n");
}

static int kernels_command(request *r) {
    job                         j;
    buffer                      b;
    tmetal_options              opt = r->opt;
    const tmetal_triton_kernel *k = NULL;
    size_t                      bytes = (size_t)8 << 20;
    uint32_t                    n = 0, i;
    int                         bad = 1;
    memset(&j, 0, sizeof j);
    memset(&b, 0, sizeof b);
    opt.file = r->files[0];
    j.src = read_all(r->files[0], &j.len);
    if (!j.src) return 1;
    do {
        free(j.arena.base);
        j.arena = arena_of(bytes);
        if (!j.arena.base) break;
        (void)tmetal_triton_kernels(j.src, j.len, &opt, &j.arena, &k, &n, &j.result);
    } while (j.result.code == TMETAL_E_ARENA && (bytes *= 4) <= (size_t)2 << 30);
    if (j.arena.base && j.result.code != TMETAL_OK) print_diags(r, &j.result, &j.arena);
    if (j.arena.base && (n || j.result.code == TMETAL_OK)) {
        int json = r->value[OPT_JSON] != NULL;
        if (json) put(&b, "{\"tmetal_kernels\":1,\"kernels\":[");
        for (i = 0; i < n; i++)
            if (json) put(&b, i ? ",\n " : "\n "), kernel_json(&b, &k[i]);
            else kernel_text(r, &b, r->files[0], &k[i]);
        if (json) put(&b, "\n]}\n");
        bad = write_buffer(r, &b) || j.result.code != TMETAL_OK;
    }
    close_job(&j);
    return bad;
}

#include "tmetal/why.h"

/* -- The subcommands ------------------------------------------------------------------------------------------ */

static const command commands[] = {
    {"compile", "FILE|-", "a Triton kernel (.py or .ttir) or an op list to Metal", 1, 1,
     TAKES(OUT) | TAKES(EMIT) | TAKES(DIAG_JSON) | TAKES(PARTS) | TAKES(ALSO_UNALIGNED) | TAKES(CACHE) | TAKES(TUNED) | TAKES(GRID) | TAKES(ARGS) | TAKES_COMPILE, compile_command,
     "FILE is Triton IR, a .py file with Triton kernels (docs/triton.md), or an op list (.json, or \"tt.sum:[1024,512]:1\" a line);\n"
     "- reads standard input.\n"},
    {"census", "FILES...|-", "what of these .ttir files does not compile", 1, -1,
     TAKES(OUT) | TAKES(JSON) | TAKES_TARGET, census_command,
     "By code, count, place and way out. - reads names from standard input, one a line:\n"
     "    find . -name '*.ttir' | tmetal census -\n"
     "--json gives every place.\n"},
    {"kernels", "FILE.py", "the Triton kernels of a Python file: parameters, configurations", 1, 1, TAKES(OUT) | TAKES(JSON), kernels_command,
     "'tmetal compile FILE.py --kernel NAME --args ... --const ...' compiles one. docs/triton.md\n"},
    {"run", "FILE.case", "compile a recorded launch, run it, compare", 1, 1,
     TAKES(OUT) | TAKES(JSON) | TAKES(SEED) | TAKES(DEVICE) | TAKES_COMPILE, run_command,
     "The kernel is FILE.ttir beside it, the bytes are FILE.bin; tests/kernels/README.md says how to write one by hand.\n"
     "The simulator shows errors, each buffer, and what each line of the Metal reads and writes; a GPU (--device) only whether\n"
     "every buffer is right.\n"},
    {"analyze", "[FILES...|-]", "which reductions get the COALESCED layout", 0, -1,
     TAKES(RESULTS) | TAKES(OP_LIST) | TAKES(OPERATION) | TAKES(VERBOSE) | TAKES(VERSION) | TAKES_COMPILE, analyze_command,
     "FILES are Triton IR or op lists; - reads their names from standard input, one a line.\n"},
    {"explain", "FILE|-|CODE", "why a kernel is as it is: accesses, reductions, barriers, fusions", 1, 1,
     TAKES(OUT) | TAKES(JSON) | TAKES(HTML) | TAKES(AGX) | TAKES(VERBOSE) | TAKES_COMPILE, explain_command,
     "FILE is Triton IR, a .py file, an op list, or a recorded launch (.case), whose time by the model is printed too.\n"
     "Line numbers are those of the Metal that 'compile' prints.\n"
     "A code such as TM204 is explained: what it means, its usual cause, a way out.\n"
     "-v shows the layout of every value too.\n"},
    {"layouts", "FILE|-", "which lane of which simdgroup holds which element", 1, 1,
     TAKES(OUT) | TAKES(JSON) | TAKES(SVG) | TAKES(VALUE) | TAKES_COMPILE, layouts_command,
     "FILE is Triton IR or an op list (.json). --svg draws the values that are held in registers, or the one that\n"
     "--value names; without -o or --json nothing else is printed then.\n"},
    {"transform", "FILE|-", "the changed IR, and what was done on the way", 0, 1,
     TAKES(IR_OUT) | TAKES(JSON) | TAKES(SUMMARY) | TAKES(VERBOSE) | TAKES(TEST_IR) | TAKES_COMPILE, transform_command,
     "FILE is Triton IR or an op list; - reads standard input. The IR compiles to the same results. Without -o the summary\n"
     "stands above it, as comments; -v tells also of passes that had nothing to do, and what MPS and MLX call each pattern.\n"},
    {"sample-ops", "", "op lists to try the others on", 0, 0, TAKES(OUT) | TAKES(LARGE), sample_ops_command, ""},
    {"bench", "[FILE]", "a kernel in each layout and number of threads: lines, barriers, predicted time", 0, 1,
     TAKES(PLOT) | TAKES(SIZES) | TAKES(LAYOUTS) | TAKES(DTYPE) | TAKES(LAUNCH_US) | TAKES(JSON) | TAKES(DEVICE) | TAKES(GRID) | TAKES(ARGS) | TAKES_COMPILE, why_bench_command,
     "Builds the sum over rows in each layout, runs it in the simulator, compares, counts. Times are predictions for --gpu:\n"
     "launches times --launch-us, plus bytes over the bandwidth in the table of GPUs. Nothing is timed on a GPU but with --device,\n"
     "which gives the time of a copy of the same bytes over the time of the kernel. With a FILE, your own kernel: a recorded\n"
     "launch, or what 'why' takes, counted by the tuner's model.\n"},
    {"tune", "FILE|-", "which way to compile a kernel is fastest", 1, 1,
     TAKES(OUT) | TAKES(TUNE_TO) | TAKES(STRATEGY) | TAKES(TRIALS) | TAKES(ORDER) | TAKES(GRID) | TAKES(ARGS) | TAKES_COMPILE, tune_command,
     "Times candidates on this machine's GPU: an op list as it is, Triton IR with --grid and --args, a .py file with\n"
     "--signature beside them. Without a GPU, or\n"
     "without these, the choice is that of a model, and nothing is timed. docs/tuning.md\n"},
    {"why", "FILE [FILE]", "where the time of a kernel goes, and what was tried that helps", 1, 2,
     TAKES(OUT) | TAKES(JSON) | TAKES(GRID) | TAKES(ARGS) | TAKES_COMPILE, why_command,
     "FILE is a recorded launch (.case), or Triton IR or a .py file with --grid and --args (types go to --signature), or an op\n"
     "list. Each remedy that is named was compiled and counted by the tuner's model; where the simulator is built and the launch\n"
     "is recorded, it runs both. Nothing is timed. Two files: what changed from one to the other. docs/why.md\n"},
    {"check", "", "what this machine can do, what it lacks, how to get it", 0, 0,
     TAKES(OUT) | TAKES(JSON) | TAKES(RECORD) | TAKES(FACTS), check_command,
     "Exit code 0: kernels can run on a GPU here; 1: they cannot.\n"},
    {"tutorial", "", "a walk through check, a kernel from Python to Metal, layouts, a reduction, a softmax", 0, 0, TAKES(YES) | TAKES_TARGET, tutorial_command, ""},
    {"gpus", "", "the GPU table", 0, 0, TAKES(OUT) | TAKES(JSON), gpus_command, ""},
    {"ops", "", "the operations of Triton IR, or of op lists", 0, 0, TAKES(OUT) | TAKES(JSON) | TAKES(LISTS), ops_command, ""},
    {"completion", "bash|zsh", "what a shell needs to complete commands and options", 1, 1, TAKES(OUT), completion_command,
     "bash: . <(tmetal completion bash), in ~/.bashrc\nzsh:  tmetal completion zsh > _tmetal, in a folder of $fpath\n"},
    {"man", "", "the manual page, for man -l", 0, 0, TAKES(OUT), man_command, ""},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

#include "tmetal/help.h"

/* -- The command line ------------------------------------------------------------------------------------------ */

static uint32_t msl_number(const char *s) { /* "3.1" to 310; 0 when it is none */
    if (s[0] < '3' || s[0] > '4' || s[1] != '.' || s[2] < '0' || s[2] > '9' || s[3]) return 0;
    return (uint32_t)(s[0] - '0') * 100u + (uint32_t)(s[2] - '0') * 10u;
}

/* The row of the command's options that `arg` names; `n` is the length of the name. OPTION_COUNT: none. */
static unsigned find_option(const command *c, const char *arg, size_t n) {
    unsigned i;
    for (i = 0; i < OPTION_COUNT; i++) {
        if (!(c->options & ((uint64_t)1 << i))) continue;
        if (strlen(options[i].name) == n && strncmp(options[i].name, arg, n) == 0) return i;
        if (n && strlen(options[i].other) == n && strncmp(options[i].other, arg, n) == 0) return i;
    }
    return OPTION_COUNT;
}

static int unknown_option(const request *r, const char *arg) {
    const char *closest = NULL;
    unsigned    i, least = 99, d;
    for (i = 0; i < OPTION_COUNT; i++) {
        if (!(r->command->options & ((uint64_t)1 << i))) continue;
        d = distance_of(arg, options[i].name);
        if (d < least) least = d, closest = options[i].name;
    }
    return misspelt(r, "unknown option", arg, closest, least);
}

static int unknown_command(const request *r, const char *arg) {
    const char *closest = NULL;
    unsigned    i, least = 99, d;
    for (i = 0; i < COMMAND_COUNT; i++) {
        d = distance_of(arg, commands[i].name);
        if (d < least) least = d, closest = commands[i].name;
    }
    return misspelt(r, "unknown command", arg, closest, least);
}

/* One option at argv[i]: how many arguments it took; -1 after a message. */
static int read_option(request *r, int argc, char **argv, int i) {
    const char *arg = argv[i], *equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    unsigned    which = find_option(r->command, arg, equals ? (size_t)(equals - arg) : strlen(arg));
    if (which == OPTION_COUNT) return unknown_option(r, arg), -1;
    if (!*options[which].value) {
        if (equals) return misuse(r, "takes no value:", arg), -1;
        r->value[which] = "";
        return 1;
    }
    if (!equals && i + 1 == argc) return misuse(r, "a value must follow", arg), -1;
    equals = equals ? equals + 1 : argv[i + 1];
    if (misspelt_value(r, which, equals)) return -1;
    if (r->value[which] && (which == OPT_CONST || which == OPT_GLOBAL || which == OPT_ENV || which == OPT_MODULE || which == OPT_OPTION)) { /* several add up */
        buffer b = {0};
        putf(&b, "%s, %s", r->value[which], equals);
        r->value[which] = b.text; /* until the program ends */
        if (!b.text) return misuse(r, "no memory for", arg), -1;
    } else r->value[which] = equals;
    return arg[strcspn(arg, "=")] && strncmp(arg, "--", 2) == 0 ? 1 : 2;
}

/* "DIRECT_DOT,BF16_MATH" as a sum of tmetal_gpu_feature; 0, or 2 after a message. */
static int read_features(const request *r, const char *list, uint32_t *bits) {
    while (list && *list) {
        size_t      n = strcspn(list, ","), i;
        char        word[40];
        const char *closest = NULL;
        unsigned    least = 99, d;
        snprintf(word, sizeof word, "%.*s", (int)(n < 39 ? n : 39), list);
        for (i = 0; i < tmetal_gpu_feature_count(); i++) {
            tmetal_gpu_feature_info f = tmetal_gpu_feature_at(i);
            if (strlen(f.name) == n && strncmp(f.name, list, n) == 0) break;
            d = distance_of(word, f.name);
            if (d < least) least = d, closest = f.name;
        }
        if (i == tmetal_gpu_feature_count()) return misspelt(r, "not a feature of the GPU table:", word, closest, least);
        *bits |= tmetal_gpu_feature_at(i).bit;
        list += n + (list[n] == ',');
    }
    return 0;
}

static void print_pass(void *user, const char *pass, const char *text) {
    (void)user;
    fprintf(stderr, "// ---- after %s ----\n%s", pass, text);
}

/* 0, or 2 after a message. */
static int read_target(request *r) {
    static const char *const ways[] = {"auto", "direct", "staged"}; /* as tmetal_operands counts them */
    const char *msl = r->value[OPT_MSL], *debug, *way = r->value[OPT_OPERANDS];
    uint32_t    config = 0;
    if (read_features(r, r->value[OPT_HAS], &r->limits.features) || read_features(r, r->value[OPT_LACKS], &r->limits.lacks)) return 2;
    if (r->limits.features || r->limits.lacks) r->opt.limits = &r->limits;
    if (!read_count(r, OPT_THREADS, 4096, "not a number of threads:", &r->opt.threads) ||
        !read_count(r, OPT_TWO_STAGE, 512, "not a number of parts up to 512:", &r->opt.two_stage) ||
        !read_count(r, OPT_PROGRAMS, 64, "not a number of programs up to 64:", &r->opt.programs) ||
        !read_count(r, OPT_CONFIG, 1000000, "not the number of a configuration:", &config)) return 2;
    if (msl) {
        r->opt.msl = msl_number(msl);
        if (!r->opt.msl) return misuse(r, "not a Metal version such as 3.1:", msl);
    }
    if (way) {
        while (r->opt.operands < 3 && strcmp(ways[r->opt.operands], way) != 0) r->opt.operands++;
        if (r->opt.operands == 3) return misuse(r, "operands go auto, direct or staged, not", way);
    }
    r->opt.gpu = r->value[OPT_GPU];
    r->opt.alias = r->value[OPT_ALIAS];
    r->opt.layouts = r->value[OPT_LAYOUT];
    r->opt.no_fusion = r->value[OPT_NO_FUSION] != NULL;
    r->opt.parts = r->value[OPT_PARTS] != NULL;
    r->opt.bounds = r->value[OPT_BOUNDS] != NULL;
    r->opt.logging = r->value[OPT_LOGGING] != NULL;
    r->opt.no_fp64 = r->value[OPT_NO_FP64] != NULL;
    debug = getenv("TRITON_METAL_DEBUG");
    if (r->value[OPT_DEBUG] || (debug && strcmp(debug, "1") == 0)) r->opt.trace = print_pass;
    r->opt.plain = r->value[OPT_PLAIN] != NULL;
    r->opt.reports = 1;
    return 0;
}

/* Options and operands in any order; operands are moved to the front of argv + 2. 0; 2 after a message. */
static int read_line(request *r, int argc, char **argv) {
    int i, took, only_names = 0;
    r->files = argv + 2;
    for (i = 2; i < argc; i += took) {
        took = 1;
        if (only_names || argv[i][0] != '-' || !argv[i][1]) r->files[r->n_files++] = argv[i];
        else if (strcmp(argv[i], "--") == 0) only_names = 1;
        else took = read_option(r, argc, argv, i);
        if (took < 0) return 2;
    }
    if (r->n_files < r->command->fewest) return misuse(r, strchr(r->command->operands, 'F') ? "no file given" : "an operand is missing:", strchr(r->command->operands, 'F') ? NULL : r->command->operands);
    if (r->command->most == 0 && r->n_files) return misuse(r, "takes no file:", r->files[0]);
    if (r->command->most > 0 && r->n_files > r->command->most) return misuse(r, "more than one file:", r->files[r->command->most]);
    return read_target(r);
}

static int wants_help(int argc, char **argv) {
    int i;
    for (i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return 1;
    return 0;
}

static int is_terminal(int fd) {
    const char *term = getenv("TERM");
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

/* Colours unless they are unwanted: https://no-color.org. */
static int shows_colours(int fd) {
    const char *no = getenv("NO_COLOR");
    return is_terminal(fd) && !(no && *no);
}

static int command_line(int argc, char **argv) {
    request  r;
    unsigned i;
    int      bad, help;
    memset(&r, 0, sizeof r);
    r.self = argv[0];
    if (argc < 2) return print_usage(stderr), 2;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (strcmp(argv[1], "help") == 0 && argc == 2)) return print_usage(stdout);
    if (strcmp(argv[1], "--version") == 0) return (void)puts("tmetal " TMETAL_VERSION), 0;
    help = strcmp(argv[1], "help") == 0;
    for (i = 0; i < COMMAND_COUNT && strcmp(commands[i].name, argv[1 + help]) != 0; i++) {}
    if (i == COMMAND_COUNT) return unknown_command(&r, argv[1 + help]);
    r.command = &commands[i];
    if (help || wants_help(argc, argv)) return print_help(r.command);
    bad = read_line(&r, argc, argv);
    if (bad) return bad;
    r.error_colour = shows_colours(2);
    r.progress = is_terminal(2);
    r.colour = shows_colours(1) && (!r.value[OPT_OUT] || strcmp(r.value[OPT_OUT], "-") == 0);
    return r.command->run(&r);
}

int main(int argc, char **argv) {
    int bad = command_line(argc, argv);
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return bad;
    if (!bad) fprintf(stderr, "tmetal: standard output: %s\n", errno ? strerror(errno) : "it cannot be written"); /* else it was said */
    return bad ? bad : 1;
}
