/* What tells of a program, Triton IR or an op list: explain, layouts, the plan, MLX, transform as JSON, launch code, the
 * picture of its layouts as SVG. Each is well-formed and holds no control characters, whatever names the program has. */
#include "fuzz.h"

#define TMETAL_IMPLEMENTED /* header.c has it */
#define main tmetal_main
#include "../../examples/tmetal.c"
#undef main

static const char *op(size_t i) { return i < tmetal_op_count() ? tmetal_op_at(i).name : NULL; }
static const char *const more[] = {"loc(\"a.py\":1:2)", "\\22", "\\0A", "\\00", "]]>", "<b>", "&", "\xe2\x80\xae", "\xff", "*/", "?\?/", "\\", "%x", "\"id\":\"", "tt.print", NULL};
const fuzz_about fuzz_target = {"reports", op, more};

/* Elements that close in order, text without < and &, attributes in quotes. */
static void check_svg(const char *s) {
    enum { DEEP = 50, LONGEST = 30 };
    char   open[DEEP][LONGEST];
    size_t depth = 0, n;
    for (; *s; s++) {
        if ((unsigned char)*s < 32 && *s != '\n') fuzz_fail("the picture", "a control character");
        if (*s == '&' && strncmp(s, "&amp;", 5) != 0 && strncmp(s, "&lt;", 4) != 0 && strncmp(s, "&gt;", 4) != 0 && strncmp(s, "&quot;", 6) != 0) fuzz_fail("the picture", "an &");
        if (*s != '<') continue;
        if (s[1] == '/') {
            n = depth ? strlen(open[--depth]) : 0;
            if (!n || strncmp(s + 2, open[depth], n) != 0 || s[2 + n] != '>') fuzz_fail("the picture", "an end that ends nothing");
            continue;
        }
        n = strcspn(++s, " />");
        if (!n || n >= LONGEST || depth == DEEP) fuzz_fail("the picture", "a < in text");
        memcpy(open[depth], s, n);
        open[depth++][n] = '\0';
        for (s += n; *s && *s != '>'; s++)
            if (*s == '"') {
                s += 1 + strcspn(s + 1, "\"<");
                if (*s != '"') fuzz_fail("the picture", "an attribute without end");
            }
        if (!*s) fuzz_fail("the picture", "an element without end");
        if (s[-1] == '/') depth--;
    }
    if (depth) fuzz_fail("the picture", "an element that is not closed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 64 << 20 };
    fuzz_parts            x;
    tmetal_options        opt;
    tmetal_arena          arena;
    tmetal_result         r, said;
    tmetal_transformation changed;
    const char           *text;
    size_t                bound, n;
    uint32_t              h;
    request               req;
    buffer                svg;
    fuzz_begin();
    x = fuzz_split(data, size);
    fuzz_options(&x.rest, &opt);
    opt.reports = 1;
    bound = tmetal_transform_bound(x.text, x.len);
    arena = fuzz_arena(bound < MOST ? bound : MOST);
    if (tmetal_transform(x.text, x.len, &opt, &arena, &changed, &r) == TMETAL_OK) {
        if ((text = tmetal_transform_json(&changed, &arena)) != NULL) fuzz_json("transform", text);
        fuzz_plain("the changed text", changed.text);
    }
    fuzz_result(&r, bound < MOST ? 0 : FUZZ_MAY_BE_FULL);
    fuzz_reports(&r, &arena);
    if (r.code != TMETAL_OK) return 0;
    memset(&req, 0, sizeof req), memset(&svg, 0, sizeof svg);
    put_svg(&req, &svg, &r);
    if (svg.text) check_svg(svg.text);
    free(svg.text);
    for (h = 0; h < TMETAL_HOST_COUNT; h++) {
        tmetal_arena rest = arena;
        if (tmetal_launch_code(&r, (tmetal_host)h, NULL, &rest, &text, &n, &said) == TMETAL_OK) fuzz_plain("launch code", text);
    }
    return 0;
}
