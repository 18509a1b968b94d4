/* tmetal.h for the playground: one function, `answer`, from a request to JSON. WebAssembly without a C library; what it is
 * compiled with stands in tests/playground/rules.mk, and worker.js calls it.
 *
 * Memory, from the linker's end of data on: the request, the arena, the answer, which grows. A full arena and a broken
 * promise of the header trap, since there is no setjmp: the host makes the instance anew and, after the first, gives the
 * next one twice the arena. */
#define TMETAL_STATIC
#define TMETAL_IMPLEMENTATION
#define TMETAL_TRITON
#define TMETAL_LAUNCH_CODE
#define TMETAL_NO_SETJMP
#define TMETAL_ABORT(why) (stop_why = (uint32_t)(why), __builtin_trap())
#include <stdint.h>
static uint32_t stop_why; /* 1: the arena was full; else a bug of the header */
#include "../../tmetal.h"
#include <stdarg.h>
#include <string.h>
#include "../../examples/tmetal/page.h"

#define EXPORT(type, name, args) \
    __attribute__((export_name(#name), visibility("default"))) type name args; \
    type name args

extern unsigned char __heap_base; /* of the linker: where free memory begins */

/* -- Memory ------------------------------------------------------------------------------------ */

static uint32_t free_base(void) { return ((uint32_t)&__heap_base + 15u) & ~15u; }

static int has_memory(uint32_t to) { /* 1: there is memory up to the address `to` */
    const uint64_t have = (uint64_t)__builtin_wasm_memory_size(0) << 16;
    if (to <= have) return 1;
    return __builtin_wasm_memory_grow(0, (size_t)((to - have + 65535u) >> 16)) != (size_t)-1;
}

/* Where a request of `bytes` bytes is to stand, with room for an arena behind it; 0: the host has no more memory. */
EXPORT(uint32_t, reserve, (uint32_t bytes, uint32_t arena)) {
    const uint64_t end = (uint64_t)free_base() + bytes + arena + 32u;
    return end >> 32 == 0 && has_memory((uint32_t)end) ? free_base() : 0;
}

EXPORT(uint32_t, why, (void)) { return stop_why; }

/* -- Text that grows: as the command line's, so that what writes there writes here ------------------- */

typedef struct buffer {
    char  *text;
    size_t n, cap;
    int    failed;
} buffer;

static int has_room(buffer *b, size_t len) { /* it stands last in memory */
    const uint64_t end = (uint64_t)(uintptr_t)b->text + b->n + len + 1;
    if (end >> 32 || !has_memory((uint32_t)end)) b->failed = 1;
    return !b->failed;
}

static void put_n(buffer *b, const char *s, size_t len) {
    if (!has_room(b, len)) return;
    memcpy(b->text + b->n, s, len);
    b->n += len;
    b->text[b->n] = '\0';
}

static void put(buffer *b, const char *s) { put_n(b, s, strlen(s)); }

static void put_number(buffer *b, uint64_t n) {
    char     text[20];
    unsigned at = sizeof text;
    do text[--at] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    put_n(b, text + at, sizeof text - at);
}

/* %s and %u. */
static void putf(buffer *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    for (; *format; format++) {
        if (*format != '%') put_n(b, format, 1);
        else if (*++format == 's') put(b, va_arg(args, const char *));
        else put_number(b, va_arg(args, uint32_t));
    }
    va_end(args);
}

/* A JSON string. What is no UTF-8 cannot come: the request was text in JavaScript. */
static void put_json_text(buffer *b, const char *s) {
    static const char hex[] = "0123456789abcdef";
    put(b, "\"");
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        char                code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        if (c == '"' || c == '\\') put(b, "\\");
        if (c < 32 || c == 127) put_n(b, code, 6);
        else put_n(b, s, 1);
    }
    put(b, "\"");
}

static void put_key(buffer *b, const char *key, const char *text) {
    putf(b, ",\"%s\":", key);
    put_json_text(b, text ? text : "");
}

/* -- The request ----------------------------------------------------------------------------------- */

/* Options that are numbers: field, label, values as "value=what it says", the default first. One value beside the default
 * is a switch. */
#define OPTIONS(X)                                                                                           \
    X(threads, "Threads a threadgroup", "0=as planned|32=32|64=64|128=128|256=256|512=512|1024=1024")        \
    X(msl, "Newest Metal", "0=as needed|300=3.0|310=3.1|320=3.2|400=4.0")                                    \
    X(two_stage, "Long rows", "0=one threadgroup|1=several, as the GPU asks|2=2|4=4|8=8|16=16|32=32|64=64")   \
    X(programs, "Short rows a threadgroup", "0=as fits|1=1|2=2|4=4|8=8|16=16|32=32|64=64")                   \
    X(operands, "Operands of tt.dot", "0=as the GPU likes it|1=direct|2=staged")                             \
    X(bounds, "Keep every access in bounds", "0=no|1=yes")                                                   \
    X(no_fusion, "a*b+c keeps two roundings", "0=no|1=yes")                                                  \
    X(no_fp64, "Refuse fp64", "0=no|1=yes")                                                                  \
    X(parts, "Grid may be sent in parts", "0=no|1=yes")                                                      \
    X(logging, "Print by Metal's logging", "0=no|1=yes")                                                     \
    X(plain, "No optimisation", "0=no|1=yes")

/* Texts, each with a NUL behind it, in this order; then the source. */
#define TEXTS(X)                                                                    \
    X(want)    /* a row of answers[], the name of a language, "page", "kernels" */    \
    X(kind)    /* of the source: "ttir", "ops", "triton"; "": by its looks */        \
    X(file)    /* its name in messages */                                           \
    X(gpu)                                                                          \
    X(layouts) /* options.layouts; "": the planner's */                              \
    X(numbers) /* "threads=256 plain=1" */                                           \
    X(kernel)  /* of a Triton source, as the next three: tmetal_triton_call */       \
    X(args) X(consts) X(globals)                                                    \
    X(config)  /* its number; "" or 0: none */                                      \
    X(triton)  /* the version that decides; "": the newest */                       \
    X(env)

typedef struct request {
#define X(name) const char *name;
    TEXTS(X)
#undef X
    const char        *src;
    size_t             len;
    tmetal_options     opt;
    tmetal_triton_call call;
    tmetal_arena      *arena;
    tmetal_result      result;
    tmetal_module     *module; /* of Triton source and, where it is wanted, of others */
} request;

static uint32_t number_at(const char *s) {
    uint32_t n = 0;
    for (; *s >= '0' && *s <= '9'; s++) n = n * 10 + (uint32_t)(*s - '0');
    return n;
}

static void read_numbers(request *r) {
    static const struct {
        const char *name;
        size_t      at;
    } field[] = {
#define X(name, label, values) {#name "=", offsetof(tmetal_options, name)},
        OPTIONS(X)
#undef X
    };
    const char *s;
    size_t      i;
    for (s = r->numbers; *s; s += strcspn(s, " "), s += *s == ' ')
        for (i = 0; i < sizeof field / sizeof *field; i++) {
            const size_t n = strlen(field[i].name);
            if (strncmp(s, field[i].name, n) == 0) *(uint32_t *)(void *)((char *)&r->opt + field[i].at) = number_at(s + n);
        }
}

static const char *or_null(const char *s) { return *s ? s : NULL; }

static int begins(const char *s, size_t n, const char *word) {
    const size_t w = strlen(word);
    return n >= w && strncmp(s, word, w) == 0;
}

/* A line that begins as Python does, before any that begins as IR does. */
static int looks_python(const char *s, size_t len) {
    static const char *const python[] = {"import ", "from ", "@", "def ", "class ", "\"\"\"", "'''"};
    static const char *const ir[] = {"module", "tt.func", "\"builtin.module\"", "#loc"};
    size_t                   at = 0, i;
    for (; at < len; at++) {
        while (at < len && (s[at] == ' ' || s[at] == '\t')) at++;
        for (i = 0; i < sizeof python / sizeof *python; i++)
            if (begins(s + at, len - at, python[i])) return 1;
        for (i = 0; i < sizeof ir / sizeof *ir; i++)
            if (begins(s + at, len - at, ir[i])) return 0;
        while (at < len && s[at] != '\n') at++;
    }
    return 0;
}

static void read_request(request *r, const char *at, uint32_t len, tmetal_arena *arena) {
    const char *const end = at + len;
    memset(r, 0, sizeof *r);
#define X(name)   \
    r->name = at; \
    at += strlen(at) + 1;
    TEXTS(X)
#undef X
    r->src = at;
    r->len = (size_t)(end - at);
    r->arena = arena;
    if (!*r->kind) r->kind = tmetal_is_ops(r->src, r->len) ? "ops" : looks_python(r->src, r->len) ? "triton" : "ttir";
    r->opt.file = or_null(r->file);
    r->opt.gpu = or_null(r->gpu);
    r->opt.layouts = or_null(r->layouts);
    read_numbers(r);
    r->call.kernel = or_null(r->kernel);
    r->call.args = or_null(r->args);
    r->call.consts = or_null(r->consts);
    r->call.globals = or_null(r->globals);
    r->call.config = number_at(r->config);
    r->call.triton = or_null(r->triton);
    r->call.env = or_null(r->env);
}

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* The source as a module. */
static int read_module(request *r) {
    if (r->module) return 1;
    if (is(r->kind, "triton")) tmetal_triton(r->src, r->len, &r->call, &r->opt, r->arena, &r->module, &r->result);
    else if (is(r->kind, "ops")) tmetal_module_ops(r->src, r->len, &r->opt, r->arena, &r->module, &r->result);
    else tmetal_parse(r->src, r->len, &r->opt, r->arena, &r->module, &r->result);
    return r->result.code == TMETAL_OK;
}

static int compile(request *r) {
    if (is(r->kind, "triton")) tmetal_compile_triton(r->src, r->len, &r->call, &r->opt, r->arena, &r->result);
    else if (is(r->kind, "ops")) tmetal_compile_ops(r->src, r->len, &r->opt, r->arena, &r->result);
    else tmetal_compile(r->src, r->len, &r->opt, r->arena, &r->result);
    return r->result.code == TMETAL_OK;
}

/* -- What is answered -------------------------------------------------------------------------------- */

static const char *answer_metal(request *r) { return compile(r) ? r->result.msl : NULL; }
static const char *answer_plan(request *r) { return compile(r) ? tmetal_plan_json(&r->result, r->arena) : NULL; }

static const char *answer_ir(request *r) {
    const char *text = NULL;
    size_t      len;
    if (read_module(r)) tmetal_print(r->module, r->arena, &text, &len, &r->result);
    return text;
}

static const char *answer_changed(request *r) {
    tmetal_transformation changed;
    const char           *src = r->src;
    size_t                len = r->len;
    if (is(r->kind, "triton")) {
        if (!(src = answer_ir(r))) return NULL;
        len = strlen(src);
        r->opt.file = NULL;
    }
    return tmetal_transform(src, len, &r->opt, r->arena, &changed, &r->result) == TMETAL_OK ? changed.text : NULL;
}

static const struct {
    const char *name;
    const char *(*make)(request *r);
} answers[] = {{"metal", answer_metal}, {"plan", answer_plan}, {"ir", answer_ir}, {"changed", answer_changed}};

static const char *answer_host(request *r) {
    const char         *text = NULL;
    size_t              len;
    tmetal_host_options named;
    tmetal_result       out;
    uint32_t            i;
    memset(&named, 0, sizeof named);
    named.file = r->opt.file;
    for (i = 0; i < TMETAL_HOST_COUNT && !is(r->want, tmetal_host_name((tmetal_host)i)); i++) {}
    if (i == TMETAL_HOST_MLX_PY) r->opt.mlx = 2;
    if (i == TMETAL_HOST_COUNT || !compile(r)) return NULL;
    if (tmetal_launch_code(&r->result, (tmetal_host)i, &named, r->arena, &text, &len, &out) != TMETAL_OK) {
        r->result.code = out.code;
        r->result.diags = out.diags;
        r->result.n_diags = out.n_diags;
    }
    return text;
}

static void put_place(buffer *b, const char *key, const tmetal_place *p) {
    putf(b, ",\"%s\":{\"line\":%u,\"col\":%u", key, p->line, p->col);
    put_key(b, "file", p->file);
    put(b, "}");
}

static void put_diags(buffer *b, const request *r) {
    uint32_t i;
    put(b, ",\"diags\":[");
    for (i = 0; i < r->result.n_diags; i++) {
        const tmetal_diag *d = &r->result.diags[i];
        putf(b, "%s{\"code\":%u,\"cols\":%u", i ? "," : "", (uint32_t)d->code, d->cols);
        put_key(b, "message", d->message);
        put_key(b, "note", d->note);
        put_key(b, "help", d->help);
        put_key(b, "means", tmetal_code_about(d->code));
        put_place(b, "python", &d->python);
        put_place(b, "ir", &d->ir);
        put(b, "}");
    }
    put(b, "]");
}

/* What tl.static_print says, and remarks where reports were asked for. */
static void put_remarks(buffer *b, const request *r) {
    uint32_t i;
    put(b, ",\"remarks\":[");
    for (i = 0; i < r->result.n_remarks; i++) {
        const tmetal_remark *m = &r->result.remarks[i];
        putf(b, "%s{\"is\":\"%s\"", i ? "," : "", tmetal_remark_kind_name(m->kind));
        put_key(b, "about", m->about);
        put_key(b, "text", m->text);
        put_key(b, "kernel", m->kernel);
        put_place(b, "python", &m->python);
        put_place(b, "ir", &m->ir);
        put(b, "}");
    }
    put(b, "]");
}

static void put_kernels(buffer *b, const request *r) {
    uint32_t i;
    put(b, ",\"kernels\":[");
    for (i = 0; i < r->result.n_kernels; i++) {
        const tmetal_kernel *k = &r->result.kernels[i];
        putf(b, "%s{\"threads\":%u,\"threadgroup_bytes\":%u,\"registers\":%u,\"msl\":%u", i ? "," : "", k->threads, k->threadgroup_bytes,
             k->registers, k->msl_version);
        put_key(b, "name", k->name);
        put_key(b, "entry", k->entry);
        put(b, "}");
    }
    put(b, "]");
}

/* The kernels of a Triton source, for the fields that ask for its signature. */
static void put_sources(buffer *b, request *r) {
    const tmetal_triton_kernel *k = NULL;
    uint32_t                    n = 0, i, j;
    (void)tmetal_triton_kernels(r->src, r->len, &r->opt, r->arena, &k, &n, &r->result);
    put(b, ",\"sources\":[");
    for (i = 0; i < n; i++) {
        putf(b, "%s{\"line\":%u", i ? "," : "", k[i].line);
        put_key(b, "name", k[i].name);
        put(b, ",\"params\":[");
        for (j = 0; j < k[i].n_params; j++) {
            const tmetal_triton_param *p = &k[i].params[j];
            putf(b, "%s{\"is_const\":%u", j ? "," : "", (uint32_t)p->is_const);
            put_key(b, "name", p->name);
            put_key(b, "annotation", p->annotation);
            put_key(b, "value", p->value);
            put_key(b, "heuristic", p->heuristic);
            put(b, "}");
        }
        put(b, "],\"configs\":[");
        for (j = 0; j < k[i].n_configs; j++) {
            put(b, j ? "," : "");
            put_json_text(b, k[i].configs[j]);
        }
        put(b, "]}");
    }
    put(b, "]");
}

/* What `tmetal explain --html` shows of it. A Triton source is compiled by way of its IR, which the page has beside it. */
static void put_page(buffer *b, request *r) {
    page_input in;
    page_text  python;
    size_t     n;
    memset(&in, 0, sizeof in);
    in.title = python.file = in.ir.file = r->file;
    in.python = &python;
    in.is_ops = is(r->kind, "ops");
    python.text = in.ir.text = r->src;
    python.len = in.ir.len = r->len;
    if (is(r->kind, "triton")) {
        if (!(in.ir.text = answer_ir(r))) return;
        in.ir.len = strlen(in.ir.text);
        in.n_python = 1;
        r->kind = "ttir", r->src = in.ir.text, r->len = in.ir.len, r->opt.file = NULL;
    }
    r->opt.reports = 1;
    if (!compile(r)) return;
    in.result = &r->result;
    in.explain = tmetal_explain_json(&r->result, r->arena);
    in.plan = tmetal_plan_json(&r->result, r->arena);
    put(b, ",\"page\":");
    n = page_data(&in, NULL, 0);
    if (!has_room(b, n)) return;
    b->n += page_data(&in, b->text + b->n, n);
}

/* The GPU table, languages and options: what the page makes its fields of. */
static void put_tables(buffer *b) {
    size_t i;
    put(b, "{\"version\":\"" TMETAL_VERSION "\",\"gpus\":[");
    for (i = 0; i < tmetal_gpu_count(); i++) {
        const tmetal_gpu *g = tmetal_gpu_at(i);
        putf(b, "%s{\"cores\":%u,\"family\":%u,\"mac\":%u", i ? "," : "", g->cores, g->family, g->mac);
        put_key(b, "name", g->name);
        put_key(b, "device", g->device);
        put(b, "}");
    }
    put(b, "],\"hosts\":[");
    for (i = 0; i < TMETAL_HOST_COUNT; i++)
        putf(b, "%s[\"%s\",\"%s\"]", i ? "," : "", tmetal_host_name((tmetal_host)i), tmetal_host_suffix((tmetal_host)i));
    put(b, "],\"texts\":[");
#define X(name) "\"" #name "\","
    put(b, TEXTS(X) "\"source\"],\"options\":[");
#undef X
#define X(name, label, values) "[\"" #name "\",\"" label "\",\"" values "\"],"
    put(b, OPTIONS(X) "null]}");
#undef X
}

/* `len` bytes of request stand at `at`, then an arena of `bytes`: where the JSON stands that answers it, with a NUL behind
 * it; 0: there is no memory for it. Without a request: the tables. */
EXPORT(uint32_t, answer, (uint32_t at, uint32_t len, uint32_t bytes)) {
    const uint32_t base = (at + len + 16u) & ~15u;
    tmetal_arena   arena = tmetal_arena_on((void *)base, bytes);
    request        r;
    buffer         b = {(char *)base + bytes, 0, 0, 0};
    const char    *text = NULL;
    size_t         i;
    if (!len) {
        put_tables(&b);
        return b.failed ? 0 : (uint32_t)b.text;
    }
    read_request(&r, (const char *)at, len, &arena);
    put(&b, "{\"tmetal\":\"" TMETAL_VERSION "\"");
    put_key(&b, "kind", r.kind);
    if (is(r.want, "kernels")) put_sources(&b, &r);
    else if (is(r.want, "page")) {
        put_page(&b, &r);
        put_kernels(&b, &r);
    } else {
        for (i = 0; i < sizeof answers / sizeof *answers && !is(r.want, answers[i].name); i++) {}
        text = i < sizeof answers / sizeof *answers ? answers[i].make(&r) : answer_host(&r);
        put_kernels(&b, &r);
    }
    putf(&b, ",\"code\":%u", (uint32_t)r.result.code);
    put_key(&b, "gpu", r.result.gpu);
    put_diags(&b, &r);
    put_remarks(&b, &r);
    if (text) put_key(&b, "text", text);
    put(&b, "}");
    return b.failed ? 0 : (uint32_t)b.text;
}
