/* Python source, and behind the first NUL a call of it, line by line as a .call has it: kernel, args, const, global, config,
 * debug; a line "option" brings options. A second source behind "module NAME" is what the file imports. */
#include "fuzz.h"

static const char *const more[] = {
    "import triton\nimport triton.language as tl\n", "@triton.jit\n", "def f(x, y):\n", "tl.constexpr", "tl.", "import ", "from a import b\n", "return ", "pass\n", "for i in range(0, 8):\n",
    "for i in tl.static_range(4):\n", "while ", "if ", "elif ", "else:\n", "lambda x: ", "and ", "or ", "not ", "is None", "in ", "**", "//", "<<", ">>",
    ":=", "->", "...", "f'{x}'", "\"\"\"", "'''", "[:, None]", "[None, :]", "[::2]", ".to(", ".shape", ".dtype", ".T", "tl.float32", "tl.int64", "tl.float8e5",
    "None", "True", "False", "2**100", "1 << 62", "1e400", "float('nan')", "-1", "0", "()", "(1, 2)", "\\\n", "\t", "#", "@triton.autotune(configs=[triton.Config({'B': 64})], key=[])\n",
    "*fp32:16", "*fp16", "i32:16", "tensordesc<fp16[64, 32]>", "\nkernel ", "\nargs ", "\nconst ", "\nglobal ", "\nconfig ", "\ndebug 1", "\nmodule ", NULL};
const fuzz_about fuzz_target = {"python", fuzz_python_word, more};

static const char *copy(const char *s, size_t n) {
    char *c = (char *)fuzz_take(n + 1);
    if (n) memcpy(c, s, n);
    c[n] = '\0';
    return c;
}

/* The call of lines; the same word again makes a longer list. */
static void call_of(const char *s, const char *end, tmetal_triton_call *call, tmetal_triton_file *file, tmetal_options *opt) {
    while (s < end) {
        const char *line = s, *word, *to;
        size_t      n;
        while (s < end && *s != '\n') s++;
        to = s;
        s += s < end;
        for (word = line; word < to && *word != ' '; word++) {}
        n = (size_t)(word - line);
        if (word < to) word++;
#define IS(what) (n == sizeof what - 1 && memcmp(line, what, n) == 0)
        if (IS("kernel")) call->kernel = copy(word, (size_t)(to - word));
        else if (IS("args")) call->args = copy(word, (size_t)(to - word));
        else if (IS("global")) call->globals = copy(word, (size_t)(to - word));
        else if (IS("config")) call->config = word < to ? (uint32_t)(unsigned char)*word - '0' : 0;
        else if (IS("debug")) call->debug = 1;
        else if (IS("overflows")) call->overflows = 1;
        else if (IS("triton")) call->triton = copy(word, (size_t)(to - word));
        else if (IS("const")) {
            char *both = (char *)fuzz_take((call->consts ? strlen(call->consts) : 0) + 3 + (size_t)(to - word));
            *both = '\0';
            if (call->consts) strcat(strcat(both, call->consts), ", ");
            n = strlen(both);
            memcpy(both + n, word, (size_t)(to - word));
            both[n + (size_t)(to - word)] = '\0';
            call->consts = both;
        } else if (IS("option")) {
            fuzz_in in = {(const uint8_t *)word, (size_t)(to - word)};
            fuzz_options(&in, opt);
        } else if (IS("module")) { /* all that is left */
            file->name = copy(word, (size_t)(to - word));
            file->text = copy(s, (size_t)(end - s));
            file->len = (size_t)(end - s);
            call->files = file;
            call->n_files = 1;
            s = end;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { ROOM = 8 << 20 }; /* what a call makes of a text has no bound in proportion to it: docs/security.md */
    tmetal_triton_call          call;
    tmetal_triton_file          file;
    tmetal_options              opt;
    tmetal_arena                arena;
    tmetal_result               r;
    tmetal_module              *m;
    const tmetal_triton_kernel *kernels;
    uint32_t                    n;
    size_t                      len = 0;
    const char                 *text;
    fuzz_begin();
    memset(&call, 0, sizeof call), memset(&opt, 0, sizeof opt), memset(&file, 0, sizeof file);
    opt.file = "fuzz.py";
    while (len < size && data[len]) len++;
    text = (const char *)fuzz_take(len);
    if (len) memcpy((void *)(uintptr_t)text, data, len);
    if (len < size) call_of((const char *)data + len + 1, (const char *)data + size, &call, &file, &opt);
    arena = fuzz_arena(ROOM);
    (void)tmetal_triton_kernels(text, len, &opt, &arena, &kernels, &n, &r);
    fuzz_result(&r, FUZZ_MAY_BE_FULL);
    arena.used = 0;
    if (tmetal_triton(text, len, &call, &opt, &arena, &m, &r) == TMETAL_OK) {
        const char *printed;
        if (tmetal_verify(m, &opt, &arena, &r) != TMETAL_OK && r.code != TMETAL_E_ARENA) fuzz_fail("a module of Python is not right", r.diags[0].message);
        if (tmetal_print(m, &arena, &printed, &len, &r) == TMETAL_OK) {
            tmetal_arena   other = fuzz_arena(ROOM);
            tmetal_module *again;
            if (tmetal_parse(printed, len, &opt, &other, &again, &r) != TMETAL_OK && r.code != TMETAL_E_ARENA)
                fuzz_fail("a module of Python is not read when printed", r.diags[0].message);
        }
        (void)tmetal_emit(m, &opt, &arena, &r);
    }
    fuzz_result(&r, FUZZ_MAY_BE_FULL);
    fuzz_reports(&r, &arena);
    return 0;
}
