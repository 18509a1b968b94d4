/* The library of the Python package triton_metal: tmetal.h behind functions that ctypes can call.
 *
 *     cc -std=c99 -O2 -fPIC -shared examples/python/library.c -o libtriton_metal.so -lm
 *
 * Beside the functions below it exports all public functions of tmetal.h. No function has state of
 * its own: any number of threads may call. Strings are UTF-8. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_TRITON
#define TMETAL_METAL
#define TMETAL_CACHE
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>

/* What to compile: the fields of tmetal_triton_call and tmetal_options that Python sets. */
typedef struct tm_request {
    const char               *source;
    size_t                    length;
    const char               *path, *kernel, *args, *consts, *gpu, *alias, *triton;
    const tmetal_triton_file *files;
    uint32_t                  n_files;
    uint32_t                  line; /* of the file, in which the source begins; 0: 1 */
    uint32_t                  debug, no_fusion, reports, trace, unspecialized;
    const char               *cache;    /* the folder of the cache on disk; NULL: none */
    const char               *identity; /* all of the above but `cache` as one text */
    size_t                    identity_length;
} tm_request;

typedef struct tm_compiled {
    uint32_t             code, found; /* TMETAL_OK or the first error's; 1: it was in the cache */
    uint32_t             line, column; /* of the first error, in `file` */
    const char          *file, *message; /* likewise, one line */
    const char          *text;    /* Metal; Triton IR; after an error all diagnostics */
    const char          *plan;    /* the launch plan as JSON */
    const char          *params;  /* names of the parameters, each with its end of line */
    const tmetal_result *result;  /* a copy that is part of this object; NULL after an error */
    const char          *prints;  /* lines of tl.static_print */
    const char          *warnings; /* rows of "0,LINE,FILE", each followed by a line of text */
    const char          *places;  /* with `reports`, rows of "METAL LINE,LINE,FILE" */
} tm_compiled;

/* Whether Python's idea of these structs is that of this library. */
TMETAL_API size_t tm_struct_bytes(void) { return sizeof(tm_request) * 1000 + sizeof(tm_compiled); }

static char *tm_copy(const char *text) {
    const size_t bytes = text ? strlen(text) + 1 : 1;
    char        *copy = (char *)malloc(bytes);
    if (copy) memcpy(copy, text ? text : "", bytes);
    return copy;
}

/* Free what tm_compile returned. */
TMETAL_API void tm_free(tm_compiled *c) {
    const void *all[] = {c->file,   c->message,  c->text,   c->plan,   c->params,
                         c->prints, c->warnings, c->places, c->result, (void *)c};
    size_t      i;
    for (i = 0; i < sizeof all / sizeof *all; i++) free((void *)(uintptr_t)all[i]);
}

/* Free a text that tm_debug_text returned. */
TMETAL_API void tm_free_text(char *text) { free(text); }

/* A text that grows; NULL once memory has run out. */
typedef struct tm_text { char *at; size_t length; } tm_text;

static void tm_add(tm_text *t, const char *more) {
    const size_t bytes = strlen(more) + 1;
    char        *longer = t->at ? (char *)realloc(t->at, t->length + bytes) : NULL;
    if (!longer) free(t->at);
    else memcpy(longer + t->length, more, bytes);
    t->at = longer;
    t->length += bytes - 1;
}

static int tm_keep_diagnostics(tm_compiled *c, const tmetal_result *r, tmetal_arena *arena) {
    const tmetal_diag  *first = r->n_diags ? &r->diags[0] : &r->full;
    const tmetal_place *place;
    tm_text             all = {tm_copy(""), 0};
    uint32_t            i;
    for (i = 0; i < r->n_diags; i++) {
        if (r->diags[i].code == r->code && first->code != r->code) first = &r->diags[i];
        tm_add(&all, tmetal_diag_text(&r->diags[i], arena));
    }
    if (!r->n_diags) tm_add(&all, tmetal_diag_text(first, arena));
    place = first->python.line ? &first->python : &first->ir;
    c->text = all.at;
    c->message = tm_copy(first->message);
    c->file = tm_copy(place->file);
    c->line = place->line;
    c->column = place->col;
    return c->text && c->message && c->file;
}

static char *tm_names(const tmetal_result *r) {
    const uint32_t n = r->n_params ? r->n_params : r->kernels[0].n_params; /* of an op list; else */
    tm_text        names = {tm_copy(""), 0};
    uint32_t       i;
    for (i = 0; i < n; i++)
        tm_add(&names, r->n_params ? r->params[i].name : r->kernels[0].params[i]),
            tm_add(&names, "\n");
    return names.at;
}

static void tm_place(tm_text *rows, uint32_t line, const tmetal_place *python) {
    char numbers[32];
    if (!python->line || !python->file) return;
    sprintf(numbers, "%u,%u,", (unsigned)line, (unsigned)python->line);
    tm_add(rows, numbers), tm_add(rows, python->file), tm_add(rows, "\n");
}

/* Remarks about something, each with an end of line. */
static char *tm_remarks(const tmetal_result *r, const char *about, int with_places) {
    tm_text  lines = {tm_copy(""), 0};
    uint32_t i;
    for (i = 0; i < r->n_remarks; i++) {
        if (strcmp(r->remarks[i].about, about)) continue;
        if (with_places) tm_place(&lines, 0, &r->remarks[i].python);
        tm_add(&lines, r->remarks[i].text), tm_add(&lines, "\n");
    }
    return lines.at;
}

/* Accesses first, since a line has places of what it computes with, too. Lines of Metal are those
 * of a kernel's own text, which is the result's where there is one. */
static char *tm_places(const tmetal_result *r) {
    const tmetal_kernel *k = &r->kernels[0];
    const uint32_t       is_one = r->n_kernels == 1;
    tm_text              rows = {tm_copy(""), 0};
    uint32_t             i;
    for (i = 0; i < k->n_accesses * is_one; i++)
        tm_place(&rows, k->accesses[i].line, &k->accesses[i].python);
    for (i = 0; i < k->n_lines * is_one; i++)
        tm_place(&rows, k->lines[i].line, &k->lines[i].python);
    return rows.at;
}

static int tm_keep_result(tm_compiled *c, const tmetal_result *r, tmetal_arena *arena) {
    const size_t bytes = tmetal_result_copy(r, NULL, 0);
    void        *copy = malloc(bytes);
    if (copy) tmetal_result_copy(r, copy, bytes);
    c->result = (const tmetal_result *)copy;
    c->text = tm_copy(r->msl);
    c->plan = tm_copy(tmetal_plan_json(r, arena));
    c->params = tm_names(r);
    c->places = tm_places(r);
    return c->result && c->text && c->plan && c->params && c->places;
}

/* What tm_compile compiles from and what it keeps. */
typedef enum tm_task {
    TM_KERNEL,   /* a kernel's Python: the result */
    TM_TTIR,     /* a kernel's Python: Triton IR as `text` */
    TM_PROGRAM,  /* Triton IR or an op list: the result */
    TM_EXPLAIN,  /* the same: the JSON of tmetal_explain_json as `text` */
    TM_TRANSFORM /* the same: changed Triton IR as `text`, tmetal_transform_json as `plan` */
} tm_task;

/* One try in an arena for what does not start from Python. */
static tmetal_code tm_try_program(const tm_request *q, tm_task task, tmetal_options *opt,
                                  tmetal_arena *arena, tmetal_result *r, tm_compiled *c) {
    tmetal_transformation changed;
    const char           *text;
    tmetal_code           code;
    if (task == TM_TRANSFORM) {
        code = tmetal_transform(q->source, q->length, opt, arena, &changed, r);
        if (code != TMETAL_OK) return code;
        text = tmetal_transform_json(&changed, arena);
        if (!text) return TMETAL_E_ARENA;
        c->plan = tm_copy(text);
        c->text = tm_copy(changed.text);
        return code;
    }
    opt->reports = task == TM_EXPLAIN;
    code = tmetal_is_ops(q->source, q->length)
               ? tmetal_compile_ops(q->source, q->length, opt, arena, r)
               : tmetal_compile(q->source, q->length, opt, arena, r);
    if (code != TMETAL_OK || task != TM_EXPLAIN) return code;
    text = tmetal_explain_json(r, arena);
    if (!text) return TMETAL_E_ARENA;
    c->text = tm_copy(text);
    return code;
}

static void tm_print_pass(void *user, const char *pass, const char *text) {
    (void)user;
    fprintf(stderr, "// ---- after %s ----\n%s", pass, text);
}

/* One try in an arena. */
static tmetal_code tm_try(const tm_request *q, tm_task task, tmetal_arena *arena,
                          tmetal_result *r, tm_compiled *c) {
    char               key[TMETAL_KEY_BYTES];
    tmetal_options     opt = {0};
    tmetal_triton_call call = {0};
    tmetal_module     *module = NULL;
    tmetal_cache       cache = {0};
    const char        *text = NULL;
    size_t             length = 0;
    tmetal_code        code;
    opt.file = q->path;
    opt.gpu = q->gpu;
    opt.alias = q->alias && *q->alias ? q->alias : NULL;
    opt.no_fusion = q->no_fusion;
    opt.reports = q->reports;
    opt.unspecialized = q->unspecialized;
    opt.debug_bytes = 1u << 20; /* as CUDA has for prints */
    opt.trace = q->trace ? tm_print_pass : NULL;
    if (task >= TM_PROGRAM) return tm_try_program(q, task, &opt, arena, r, c);
    call.kernel = q->kernel;
    call.args = q->args;
    call.consts = q->consts;
    call.files = q->files;
    call.n_files = q->n_files;
    call.debug = q->debug;
    call.triton = q->triton && *q->triton ? q->triton : NULL;
    call.line = q->line;
    if (task == TM_TTIR) {
        code = tmetal_triton(q->source, q->length, &call, &opt, arena, &module, r);
        if (code == TMETAL_OK) code = tmetal_print(module, arena, &text, &length, r);
        if (code == TMETAL_OK) c->text = tm_copy(text);
        return code;
    }
    cache.dir = q->reports || q->trace ? NULL : q->cache;
    if (cache.dir) {
        tmetal_key(q->identity, q->identity_length, &opt, key);
        c->found = (uint32_t)tmetal_cache_find(&cache, key, arena, r);
        if (c->found) return TMETAL_OK;
        if (arena->need) return TMETAL_E_ARENA;
    }
    code = tmetal_compile_triton(q->source, q->length, &call, &opt, arena, r);
    /* What cannot be stored is compiled again by the next process, no more. */
    if (code == TMETAL_OK && cache.dir) (void)tmetal_cache_store(&cache, key, r, arena, NULL);
    return code;
}

/* Compile: `task` is a tm_task. NULL: memory has run out. Free it with tm_free. */
TMETAL_API tm_compiled *tm_compile(const tm_request *q, uint32_t task) {
    const int          keeps = task == TM_KERNEL || task == TM_PROGRAM;
    tmetal_triton_call sizes = {0};
    tm_compiled       *c = (tm_compiled *)calloc(1, sizeof *c);
    size_t             bytes;
    int                is_whole;
    sizes.files = q->files;
    sizes.n_files = q->n_files;
    bytes = tmetal_arena_estimate_triton(q->length, &sizes);
    while (c) {
        void         *memory = malloc(bytes);
        tmetal_arena  arena = tmetal_arena_on(memory, bytes);
        tmetal_result r;
        if (!memory) break;
        c->code = (uint32_t)tm_try(q, (tm_task)task, &arena, &r, c);
        if (c->code == TMETAL_E_ARENA && bytes <= SIZE_MAX / 4) {
            bytes = arena.need > bytes * 4 ? arena.need : bytes * 4;
            free(memory);
            continue;
        }
        c->prints = tm_remarks(&r, "static_print", 0);
        c->warnings = tm_remarks(&r, "where", 1);
        is_whole = c->code != TMETAL_OK ? tm_keep_diagnostics(c, &r, &arena)
                   : keeps              ? tm_keep_result(c, &r, &arena)
                                        : c->text != NULL;
        free(memory);
        if (is_whole && c->prints && c->warnings) return c;
        break;
    }
    if (c) tm_free(c);
    return NULL;
}

/* What kernel number `kernel` left in its debug buffer, as text; `*failed` is set to the number of
 * failed assertions. NULL: memory has run out. Free it with tm_free_text. */
TMETAL_API char *tm_debug_text(const tm_compiled *c, uint32_t kernel, const void *buffer,
                               size_t bytes, uint32_t *failed) {
    size_t room = 65536 + bytes * 8;
    *failed = bytes >= 32 ? ((const uint32_t *)buffer)[1] : 0;
    for (;; room *= 4) {
        void         *memory = malloc(room);
        tmetal_arena  arena = tmetal_arena_on(memory, room);
        const char   *text = !memory || bytes < 32 ? "" : tmetal_debug_text(
            &c->result->kernels[kernel], buffer, bytes, &arena);
        char         *copy = memory && text ? tm_copy(text) : NULL;
        free(memory);
        if (copy || !memory) return copy;
    }
}

/* What a launch by Metal gets: args[n]. */
typedef struct tm_call {
    uint32_t          programs[3], n;
    tmetal_packed_arg args[1];
} tm_call;

/* Launch and wait. */
TMETAL_API int tm_launch_run(tmetal_launch *launch, const tm_call *call, tmetal_problem *problem) {
    const tmetal_code code = tmetal_launch_packed(launch, call->args, call->n, call->programs, NULL,
                                                  problem);
    return (int)(code == TMETAL_OK ? tmetal_launch_wait(launch, 0, problem) : code);
}
