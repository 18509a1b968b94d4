/* The tuner with timers that are made up: what it finds, that it goes on where it was interrupted, and that no damage to
 * what it saved or to a tuning cache does harm.
 *     test ROW.ttir PRODUCTS.ttir
 * ROW has a reduction and can be split, PRODUCTS has matrix products and many candidates. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_TUNE
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>

static int bad;
#define CHECK(cond) ((cond) ? (void)0 : (void)(bad = 1, fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond)))

static char         row[1 << 18], products[1 << 18];
static size_t       row_len, products_len;
static tmetal_arena arena;

static void *room_of(size_t n) {
    void *p = malloc(n);
    if (!p) exit(2);
    return p;
}

static size_t read_file(const char *path, char *text, size_t cap) {
    FILE  *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, cap, f) : 0;
    if (!n || n == cap) fprintf(stderr, "test: cannot read %s\n", path), exit(2);
    fclose(f);
    return n;
}

static tmetal_tune *begin(const char *src, size_t len, const tmetal_options *opt, const tmetal_tune_options *how) {
    tmetal_result out;
    tmetal_tune  *t;
    CHECK(tmetal_tune_begin(src, len, opt, how, &arena, &t, &out) == TMETAL_OK);
    if (!t) fprintf(stderr, "%s\n", out.n_diags ? out.diags[0].message : ""), exit(1);
    return t;
}

static uint32_t count_of(const tmetal_tune *t) {
    uint32_t n = 0;
    while (tmetal_tune_at(t, n)) n++;
    return n;
}

/* -- Timers: seconds of a candidate; 0: it fails ------------------------------------------------------------ */

typedef double (*timer)(const tmetal_candidate *c);

static double steps_from(uint32_t threads, uint32_t best) {
    double n = 0;
    for (; threads < best; threads *= 2) n++;
    for (; threads > best; threads /= 2) n++;
    return n;
}

/* One valley, elsewhere than where the model sees it. */
static double convex_around(const tmetal_candidate *c, uint32_t threads) {
    double t = 1e-4 * (1 + 0.2 * steps_from(c->threads, threads));
    if (c->options.operands == TMETAL_OPERANDS_DIRECT) t *= 0.7;
    if (c->options.layouts && strcmp(c->options.layouts, "TILED") != 0) t *= 1.1;
    if (c->options.two_stage) t *= 1 + 0.01 * c->options.two_stage;
    return t;
}

static double convex(const tmetal_candidate *c) { return convex_around(c, 256); }
static double likely(const tmetal_candidate *c) { return convex_around(c, 128); }

/* The same, 2 % up or down by the name. */
static double noisy(const tmetal_candidate *c) {
    const char *s;
    uint32_t    h = 7;
    for (s = c->name; *s; s++) h = h * 31 + (unsigned char)*s;
    return likely(c) * (0.98 + 0.04 * ((h >> 8) % 1000) / 1000.0);
}

/* The same, and whatever has many threads cannot be launched. */
static double failing(const tmetal_candidate *c) { return c->threads > 128 ? 0 : convex(c); }

static double never(const tmetal_candidate *c) { return (void)c, 0; }

/* What a search finds; how many trials it took. */
static double search(tmetal_tune *t, timer time_of, uint32_t *trials) {
    const tmetal_candidate *c;
    for (*trials = 0; (c = tmetal_tune_next(t)) != NULL && *trials < 10000; ++*trials) {
        CHECK(tmetal_tune_next(t) == c); /* until it is recorded */
        CHECK(c->seconds == 0 && !c->failed);
        tmetal_tune_record(t, c->index, time_of(c));
    }
    return tmetal_tune_best(t)->seconds;
}

static double best_of(const tmetal_tune *t, timer time_of) {
    const tmetal_candidate *c;
    double                  best = 0, s;
    uint32_t                i;
    for (i = 0; (c = tmetal_tune_at(t, i)) != NULL; i++)
        if ((s = time_of(c)) > 0 && (best == 0 || s < best)) best = s;
    return best;
}

/* -- Candidates --------------------------------------------------------------------------------------------- */

static uint32_t sum_of(const char *s) {
    uint32_t h = 7;
    for (; *s; s++) {
        if (s[0] == '/' && s[1] == '/') s += strcspn(s, "\n");
        h = h * 31 + (unsigned char)*s;
        if (!*s) break;
    }
    return h;
}

static void check_candidates(const char *src, size_t len, uint32_t fewest) {
    tmetal_tune            *t = begin(src, len, NULL, NULL);
    const tmetal_candidate *c;
    uint32_t                sum[TMI_TUNE_MOST], i, k;
    tmetal_result           out;
    size_t                  used = arena.used;
    CHECK(count_of(t) >= fewest);
    CHECK(strcmp(tmetal_tune_at(t, 0)->name, "planned") == 0);
    for (i = 0; (c = tmetal_tune_at(t, i)) != NULL; i++) {
        CHECK(c->index == i && c->predicted >= 2e-6 && c->predicted < 1); /* a launch alone takes two microseconds */
        CHECK((tmetal_is_ops(src, len) ? tmetal_compile_ops : tmetal_compile)(src, len, &c->options, &arena, &out) == TMETAL_OK);
        CHECK(out.kernels[0].threads == c->threads);
        sum[i] = sum_of(out.msl);
        for (k = 0; k < i; k++) CHECK(sum[k] != sum[i] || tmetal_tune_at(t, k)->options.two_stage != c->options.two_stage);
        arena.used = used;
    }
    arena.used = 0;
}

/* What the caller asks for stays; others vary. */
static void check_own_options(void) {
    tmetal_options          opt;
    tmetal_tune            *t;
    const tmetal_candidate *c;
    uint32_t                i;
    memset(&opt, 0, sizeof opt);
    opt.threads = 128;
    opt.no_fusion = 1;
    t = begin(products, products_len, &opt, NULL);
    CHECK(count_of(t) > 1);
    for (i = 0; (c = tmetal_tune_at(t, i)) != NULL; i++) CHECK(c->options.threads == 128 && c->options.no_fusion == 1 && !strstr(c->name, "threads"));
    arena.used = 0;
}

/* A launch that fills the GPU is not split, and one of few programs may be; the planner's choice is timed first even so. */
static void check_split(void) {
    tmetal_tune_options how;
    tmetal_tune        *t;
    uint32_t            i, few = 0, many = 0, faster = 0;
    memset(&how, 0, sizeof how);
    how.programs[0] = 4;
    t = begin(row, row_len, NULL, &how);
    for (i = 0; tmetal_tune_at(t, i); i++) {
        few += tmetal_tune_at(t, i)->options.two_stage != 0;
        faster += tmetal_tune_at(t, i)->predicted < tmetal_tune_at(t, 0)->predicted; /* says the model */
    }
    CHECK(faster > 0 && tmetal_tune_next(t) == tmetal_tune_at(t, 0));
    how.programs[0] = 100000;
    t = begin(row, row_len, NULL, &how);
    for (i = 0; tmetal_tune_at(t, i); i++) many += tmetal_tune_at(t, i)->options.two_stage != 0;
    CHECK(few > 0 && many == 0);
    arena.used = 0;
}

static void check_refused(void) {
    tmetal_result out;
    tmetal_tune  *t;
    CHECK(tmetal_tune_begin("nonsense", 8, NULL, NULL, &arena, &t, &out) != TMETAL_OK && !t && out.n_diags > 0);
    CHECK(tmetal_tune_begin(row, row_len, NULL, NULL, NULL, &t, &out) == TMETAL_E_MISUSE && !t);
    CHECK(!tmetal_tune_next(NULL) && !tmetal_tune_at(NULL, 0) && !tmetal_tune_best(NULL));
    CHECK(tmetal_tune_resume(NULL, "", 0, &arena, &out) == TMETAL_E_MISUSE);
    arena.used = 0;
}

/* Any arena that is too small says so and stays as it was. */
static void check_small_arenas(void) {
    size_t        cap, need = 0;
    tmetal_result out;
    tmetal_tune  *t;
    uint32_t      n = 0;
    for (cap = 4096; cap <= tmetal_tune_bound(row, row_len); cap += cap / 3) {
        tmetal_arena small = tmetal_arena_on(arena.base, cap);
        if (tmetal_tune_begin(row, row_len, NULL, NULL, &small, &t, &out) == TMETAL_OK) break;
        CHECK(out.code == TMETAL_E_ARENA && small.used == 0 && small.need > cap && !t);
        need = small.need;
        n++;
    }
    CHECK(n > 3 && need > 0 && cap <= tmetal_tune_bound(row, row_len));
}

/* -- Searches ------------------------------------------------------------------------------------------------- */

static void check_searches(void) {
    static const struct { timer time_of; double within; } timers[] = {{likely, 1.03}, {noisy, 1.08}, {failing, 1.03},
        {convex, 1.25}}; /* the best is where the model expects four times what is planned */
    tmetal_tune_options how;
    uint32_t            i, trials, n;
    double              found;
    for (i = 0; i < 4; i++) {
        tmetal_tune *t;
        memset(&how, 0, sizeof how);
        t = begin(products, products_len, NULL, &how);
        n = count_of(t);
        found = search(t, timers[i].time_of, &trials);
        CHECK(n >= 24 && trials <= (n + 3) / 4);
        CHECK(found <= timers[i].within * best_of(t, timers[i].time_of));
        how.strategy = TMETAL_TUNE_EXHAUSTIVE;
        t = begin(products, products_len, NULL, &how);
        found = search(t, timers[i].time_of, &trials);
        CHECK(trials == n && found == best_of(t, timers[i].time_of));
        how.strategy = TMETAL_TUNE_MODEL;
        t = begin(products, products_len, NULL, &how);
        (void)search(t, timers[i].time_of, &trials);
        CHECK(trials == 0 && tmetal_tune_best(t)->seconds == 0);
        arena.used = 0;
    }
}

static void check_random(void) {
    tmetal_tune_options     how;
    const tmetal_candidate *c;
    tmetal_tune            *t;
    char                    order[3][64];
    uint32_t                k, n, trials;
    memset(&how, 0, sizeof how);
    how.strategy = TMETAL_TUNE_RANDOM;
    for (k = 0; k < 3; k++) {
        how.seed = k / 2; /* 0 0 1 */
        t = begin(products, products_len, NULL, &how);
        memset(order[k], 0, sizeof order[k]);
        for (n = 0; n < 8 && (c = tmetal_tune_next(t)) != NULL; n++) order[k][n] = (char)(1 + c->index), tmetal_tune_record(t, c->index, convex(c));
    }
    CHECK(strcmp(order[0], order[1]) == 0 && strcmp(order[0], order[2]) != 0 && order[0][0] == 1);
    how.trials = 10000;
    t = begin(products, products_len, NULL, &how);
    CHECK(search(t, convex, &trials) == best_of(t, convex) && trials == count_of(t));
    arena.used = 0;
}

/* Of several times of one candidate the least counts; what is no time is a failure. */
static void check_record(void) {
    tmetal_tune  *t = begin(row, row_len, NULL, NULL);
    volatile double zero = 0;
    tmetal_tune_record(t, 1, 3e-3);
    tmetal_tune_record(t, 1, 1e-3);
    tmetal_tune_record(t, 1, 2e-3);
    tmetal_tune_record(t, 0, zero / zero);
    tmetal_tune_record(t, 2, -1);
    tmetal_tune_record(t, 2, 1 / zero);
    tmetal_tune_record(t, 2, 1e6); /* more digits than are read again */
    tmetal_tune_record(t, 100000, 1e-9);
    CHECK(tmetal_tune_at(t, 1)->seconds > 0.999e-3 && tmetal_tune_at(t, 1)->seconds < 1.001e-3);
    CHECK(tmetal_tune_at(t, 0)->failed && tmetal_tune_at(t, 2)->failed && !tmetal_tune_at(t, 1)->failed);
    CHECK(tmetal_tune_best(t)->index == 1);
    tmetal_tune_record(t, 2, 1e-6);
    CHECK(tmetal_tune_best(t)->index == 2 && !tmetal_tune_at(t, 2)->failed);
    arena.used = 0;
}

/* -- Interruption -------------------------------------------------------------------------------------------- */

static const char *saved_after(uint32_t trials, timer time_of, tmetal_tune **t, size_t *len) {
    const tmetal_candidate *c;
    const char             *text;
    uint32_t                i;
    *t = begin(row, row_len, NULL, NULL);
    for (i = 0; i < trials && (c = tmetal_tune_next(*t)) != NULL; i++) tmetal_tune_record(*t, c->index, time_of(c));
    text = tmetal_tune_save(*t, &arena, len);
    CHECK(text && strlen(text) == *len);
    return text;
}

static void check_interruptions(timer time_of) {
    uint32_t step;
    int      ended = 0;
    for (step = 0; !ended && step < 1000; step++, arena.used = 0) {
        tmetal_tune  *whole, *again;
        tmetal_result out;
        size_t        len, end;
        const char   *text = saved_after(step, time_of, &whole, &len), *one, *two;
        again = begin(row, row_len, NULL, NULL);
        CHECK(tmetal_tune_resume(again, text, len, &arena, &out) == TMETAL_OK && out.n_remarks == 0);
        for (;;) { /* both the same to the end */
            const tmetal_candidate *a = tmetal_tune_next(whole), *b = tmetal_tune_next(again);
            CHECK(!a == !b && (!a || a->index == b->index));
            if (!a || !b) break;
            tmetal_tune_record(whole, a->index, time_of(a));
            tmetal_tune_record(again, b->index, time_of(b));
        }
        one = tmetal_tune_save(whole, &arena, &len);
        two = tmetal_tune_save(again, &arena, &end);
        CHECK(one && two && strcmp(one, two) == 0);
        ended = step > 0 && strcmp(one, text) == 0;
    }
    CHECK(step > 3 && ended);
}

/* Every byte flipped, every length: never more than what was saved, and a remark that says so. */
static void check_damaged_trials(void) {
    tmetal_tune  *t, *again;
    size_t        len, i, used;
    const char   *text = saved_after(4, convex, &t, &len);
    char         *copy = (char *)room_of(len + 1);
    tmetal_result out;
    again = begin(row, row_len, NULL, NULL);
    used = arena.used;
    for (i = 0; i < 2 * len; i++, arena.used = used) {
        size_t   n = i < len ? len : i - len;
        uint32_t k;
        memcpy(copy, text, len + 1);
        if (i < len) copy[i] = (char)(copy[i] ^ (1 << i % 7));
        for (k = 0; k < again->n; k++) again->row[k].ps = 0, again->row[k].is_tried = 0;
        again->n_trial = 0;
        CHECK(tmetal_tune_resume(again, copy, n, &arena, &out) == TMETAL_OK && out.n_remarks == 1 && out.remarks[0].kind == TMETAL_MISSED);
        CHECK(again->n_trial <= 4);
        for (k = 0; k < again->n_trial; k++) CHECK(again->trial[k] == t->trial[k] && again->row[again->trial[k]].ps == t->row[t->trial[k]].ps);
    }
    free(copy);
    arena.used = 0;
}

/* -- The tuning cache ----------------------------------------------------------------------------------------- */

/* A cache with an entry of the row kernel for a GPU and a number of programs. */
static const char *entry_of(const char *gpu, uint32_t programs, timer time_of, uint32_t trials, size_t *len) {
    tmetal_options      opt;
    tmetal_tune_options how;
    tmetal_tune        *t;
    tmetal_result       out;
    const char         *text;
    uint32_t            n;
    memset(&opt, 0, sizeof opt);
    memset(&how, 0, sizeof how);
    opt.gpu = gpu;
    how.programs[0] = programs;
    how.trials = trials;
    how.strategy = !trials ? TMETAL_TUNE_MODEL : trials >= 100 ? TMETAL_TUNE_EXHAUSTIVE : TMETAL_TUNE_GUIDED;
    t = begin(row, row_len, &opt, &how);
    (void)search(t, time_of, &n);
    CHECK(tmetal_tune_end(t, &arena, &text, len, &out) == TMETAL_OK && text && strlen(text) == *len);
    return text;
}

static const char *merged(const char *a, size_t a_len, const char *b, size_t b_len, size_t *len) {
    tmetal_result out;
    const char   *text;
    CHECK(tmetal_tune_merge(a, a_len, b, b_len, &arena, &text, len, &out) == TMETAL_OK && text && out.n_remarks == 0);
    return text ? text : "";
}

static int found(const char *cache, size_t len, const char *gpu, uint32_t programs, tmetal_options *tuned, tmetal_result *out) {
    tmetal_options      opt;
    tmetal_tune_options how;
    memset(&opt, 0, sizeof opt);
    memset(&how, 0, sizeof how);
    opt.gpu = gpu;
    how.programs[0] = programs;
    return tmetal_tune_find(cache, len, row, row_len, &opt, &how, &arena, tuned, out);
}

static int says(const tmetal_result *out, const char *text) {
    uint32_t i;
    for (i = 0; i < out->n_remarks; i++)
        if (strstr(out->remarks[i].text, text)) return 1;
    return 0;
}

static void check_finding(void) {
    tmetal_options opt, tuned;
    tmetal_result  out, compiled;
    tmetal_tune   *t;
    size_t         len, moved_len;
    const char    *cache = entry_of("apple-m1", 512, failing, 100, &len);
    char          *moved = (char *)room_of(row_len + 64);
    tmetal_tune_options how;
    memset(&opt, 0, sizeof opt);
    memset(&how, 0, sizeof how);
    opt.gpu = "apple-m1";
    how.programs[0] = 512;
    t = begin(row, row_len, &opt, &how);
    CHECK(found(cache, len, "apple-m1", 512, &tuned, &out) && out.n_remarks == 1 && out.remarks[0].kind == TMETAL_APPLIED);
    CHECK(tuned.threads == 128 && !tuned.layouts && !tuned.two_stage);
    CHECK(tmetal_compile(row, row_len, &tuned, &arena, &compiled) == TMETAL_OK && compiled.kernels[0].threads == 128);
    tuned = opt; /* in place */
    CHECK(tmetal_tune_find(cache, len, row, row_len, &tuned, &how, &arena, &tuned, &out) && tuned.threads == 128 && tuned.gpu == opt.gpu);
    /* the class: 512 to 1023 programs */
    CHECK(found(cache, len, "apple-m1", 1023, &tuned, &out));
    CHECK(!found(cache, len, "apple-m1", 1024, &tuned, &out) && says(&out, "other shapes or GPUs") && !tuned.threads);
    CHECK(!found(cache, len, "apple-m1", 0, &tuned, &out));
    CHECK(!found(cache, len, "apple-m3-max", 512, &tuned, &out) && says(&out, "other shapes or GPUs"));
    CHECK(!found("", 0, "apple-m1", 512, &tuned, &out) && says(&out, "does not have this program"));
    CHECK(!tmetal_tune_find(cache, len, products, products_len, &opt, &how, &arena, &tuned, &out) && says(&out, "does not have this program"));
    opt.no_fusion = 1; /* other options: another program */
    CHECK(!tmetal_tune_find(cache, len, row, row_len, &opt, &how, &arena, &tuned, &out) && tuned.no_fusion == 1);
    opt.no_fusion = 0;
    opt.file = "elsewhere.ttir"; /* and lines further down: the same */
    moved_len = (size_t)sprintf(moved, "// moved\n\n\n");
    memcpy(moved + moved_len, row, row_len);
    CHECK(tmetal_tune_find(cache, len, moved, moved_len + row_len, &opt, &how, &arena, &tuned, &out) && tuned.threads == 128);
    CHECK(!tmetal_tune_find(cache, len, "nonsense", 8, &opt, &how, &arena, &tuned, &out) && out.code != TMETAL_OK);
    CHECK(count_of(t) > 1);
    free(moved);
    arena.used = 0;
}

/* What the stack held before. */
static void soil(void) {
    volatile unsigned char bytes[1 << 14];
    size_t                 i;
    for (i = 0; i < sizeof bytes; i++) bytes[i] = 0x5A;
}

static void check_integers(void) {
    static const int64_t near[5] = {0, 0, 1040, 0, 0}, class_of[5] = {0, 0, 2032, 0, 0}, odd[5] = {0, 0, 1041, 0, 0}, more[5] = {0, 0, 2048, 0, 0};
    static const struct { const int64_t *ints; int is_found; } rows[] = {{near, 1}, {class_of, 1}, {odd, 0}, {more, 0}, {NULL, 0}};
    tmetal_tune_options how;
    tmetal_options      tuned;
    tmetal_result       out;
    tmetal_tune        *t;
    const char         *cache;
    size_t              len, i;
    uint32_t            n;
    memset(&how, 0, sizeof how);
    how.ints = near;
    how.n_ints = 5;
    t = begin(row, row_len, NULL, &how);
    (void)search(t, failing, &n);
    CHECK(tmetal_tune_end(t, &arena, &cache, &len, &out) == TMETAL_OK);
    for (i = 0; i < 5; i++) {
        how.ints = rows[i].ints;
        CHECK(tmetal_tune_find(cache, len, row, row_len, NULL, &how, &arena, &tuned, &out) == rows[i].is_found);
    }
    soil(); /* nothing given is as zeros given */
    CHECK(!tmetal_tune_find(cache, len, row, row_len, NULL, NULL, &arena, &tuned, &out) && says(&out, "other shapes or GPUs"));
    CHECK(!tuned.gpu && !tuned.file && !tuned.threads && !tuned.layouts && !tuned.alias && !tuned.plain && !tuned.text);
    arena.used = 0;
}

static void check_merging(void) {
    size_t         n[4], one, two, len;
    const char    *a = entry_of("apple-m1", 512, convex, 3, &n[0]), *b = entry_of("apple-m3-max", 512, convex, 3, &n[1]),
                  *model = entry_of("apple-m1", 512, convex, 0, &n[2]), *more = entry_of("apple-m1", 512, noisy, 100, &n[3]), *ab, *ba, *all;
    char          *both;
    tmetal_options tuned;
    tmetal_result  out;
    ab = merged(a, n[0], b, n[1], &one);
    ba = merged(b, n[1], a, n[0], &two);
    CHECK(one == two && strcmp(ab, ba) == 0);
    CHECK(strcmp(merged(ab, one, ba, two, &len), ab) == 0);
    CHECK(strcmp(merged(ab, one, NULL, 0, &len), ab) == 0 && strcmp(merged("", 0, ab, one, &len), ab) == 0);
    CHECK(found(ab, one, "apple-m1", 512, &tuned, &out) && found(ab, one, "apple-m3-max", 512, &tuned, &out));
    CHECK(strcmp(merged(ab, one, model, n[2], &len), ab) == 0);
    all = merged(model, n[2], ab, one, &len);
    CHECK(strcmp(all, ab) == 0); /* what was timed stays before the model's choice */
    all = merged(more, n[3], ab, one, &len);
    CHECK(strcmp(all, ab) != 0 && strcmp(all, merged(ab, one, more, n[3], &two)) == 0);
    CHECK(found(all, len, "apple-m1", 512, &tuned, &out) && tuned.threads == 128); /* more trials stay */
    CHECK(found(model, n[2], "apple-m1", 512, &tuned, &out) && says(&out, "nothing was timed"));
    both = (char *)room_of(n[0] + n[3]); /* one behind the other, as no merge leaves them */
    memcpy(both, a, n[0]);
    memcpy(both + n[0], more, n[3]);
    CHECK(found(both, n[0] + n[3], "apple-m1", 512, &tuned, &out) && tuned.threads == 128);
    free(both);
    arena.used = 0;
}

/* A line that is none of ours spoils no other one. */
static void check_foreign_lines(void) {
    static const char *const foreign[] = {"x\n", "\n", "one two\n", "\x01 of another program\n"};
    size_t         len, i;
    const char    *cache = entry_of("apple-m1", 512, convex, 6, &len), *line = strchr(cache, '\n') + 1;
    char          *text = (char *)room_of(len + 64);
    tmetal_options tuned;
    tmetal_result  out;
    for (i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        int n = sprintf(text, "%.*s%s%s", (int)(line - cache), cache, foreign[i], line);
        CHECK(found(text, (size_t)n, "apple-m1", 512, &tuned, &out) && says(&out, "of 1 entries it has 2 lines, of which 1 "));
    }
    free(text);
    arena.used = 0;
}

/* Programs along one axis alone are as many as with 1 along the others; none given is 64 a core, of 8 cores where a family is all that is known. */
static void check_programs(void) {
    static const uint32_t given[][3] = {{512, 0, 0}, {512, 1, 1}, {0, 512, 0}, {0, 0, 512}, {0, 0, 0}, {0, 0, 1 << 20}};
    double      predicted[6], of_cores[2];
    const size_t used = arena.used;
    size_t      i;
    for (i = 0; i < 2; i++, arena.used = used) {
        tmetal_options    opt;
        tmetal_gpu_limits live;
        memset(&opt, 0, sizeof opt);
        memset(&live, 0, sizeof live);
        opt.gpu = "apple8";
        opt.live = &live;
        live.cores = i ? 8 : 0;
        of_cores[i] = tmetal_tune_at(begin(row, row_len, &opt, NULL), 0)->predicted;
    }
    CHECK(of_cores[0] == of_cores[1]);
    for (i = 0; i < 6; i++, arena.used = used) {
        tmetal_tune_options how;
        memset(&how, 0, sizeof how);
        memcpy(how.programs, given[i], sizeof how.programs);
        predicted[i] = tmetal_tune_at(begin(row, row_len, NULL, &how), 0)->predicted;
    }
    CHECK(predicted[0] == predicted[1] && predicted[0] == predicted[2] && predicted[0] == predicted[3]);
    CHECK(predicted[4] > 2e-6 && predicted[5] > 4 * predicted[0]);
}

/* Saved trials of a candidate that this version does not make: what is before it holds. */
static void check_unknown_candidate(void) {
    tmetal_tune  *t, *again;
    size_t        len;
    const char   *text = saved_after(3, convex, &t, &len), *line = text, *name, *last;
    char         *copy = (char *)room_of(len + 64), sum[17];
    tmetal_result out;
    int           n, i;
    for (i = 0; i < 3; i++) line = strchr(line, '\n') + 1; /* the last of them: number, name, time, sum */
    name = strchr(line, ' ') + 1;
    last = strchr(name, ' ');
    n = sprintf(copy, "%.*sturbo=7%.*s", (int)(name - text), text, (int)(strchr(last + 1, ' ') - last), last);
    tmi_tune_sum_text(copy + (line - text), (size_t)n - (size_t)(line - text), sum);
    n += sprintf(copy + n, " %s\n", sum);
    again = begin(row, row_len, NULL, NULL);
    CHECK(tmetal_tune_resume(again, copy, (size_t)n, &arena, &out) == TMETAL_OK && says(&out, "of 3 saved trials 2 are taken over"));
    CHECK(again->n_trial == 2 && again->trial[0] == t->trial[0] && again->trial[1] == t->trial[1]);
    free(copy);
    arena.used = 0;
}

/* Whole lines that another version wrote: their build is other, or a word that this one does not know. */
static void check_stale(void) {
    static const char *const words[] = {"threads=63", "turbo=1", "threads=", "threads=64,", ",", "=", "threads=64,threads=32"};
    size_t         len, i;
    const char    *cache = entry_of("apple-m1", 512, convex, 6, &len), *line = strchr(cache, '\n') + 1, *end = line, *last;
    char           text[1024], sum[17];
    tmetal_options tuned;
    tmetal_result  out;
    for (i = 0; i < 6; i++) end = strchr(end, ' ') + 1; /* the choice */
    last = strchr(end, ' ');
    for (i = 0; i < sizeof words / sizeof *words + 1; i++) {
        int n = i ? sprintf(text, "%.*s%s", (int)(end - cache), cache, words[i - 1]) : sprintf(text, "%.*s", (int)(last - cache), cache);
        if (!i) text[line - cache + 66 + 3 + 10] ^= 1; /* somewhere before: in shapes, GPU or build */
        tmi_tune_sum_text(text + (line - cache), (size_t)n - (size_t)(line - cache), sum);
        n += sprintf(text + n, " %s\n", sum);
        CHECK(!found(text, (size_t)n, "apple-m1", 512, &tuned, &out));
        if (i) CHECK(says(&out, "stale"));
    }
    /* a version to come */
    i = (size_t)sprintf(text, "tmetal-tune 2 0");
    tmi_tune_sum_text(text, i, sum);
    i += (size_t)sprintf(text + i, " %s\n", sum);
    CHECK(!found(text, i, "apple-m1", 512, &tuned, &out) && says(&out, "first line"));
    arena.used = 0;
}

/* Every byte flipped, every length, both as what is looked into and as what is merged. */
static void check_damaged_cache(void) {
    size_t         n[2], len, i, used, out_len;
    const char    *a = entry_of("apple-m1", 512, failing, 100, &n[0]), *b = entry_of("apple-m3-max", 512, convex, 6, &n[1]), *good = merged(a, n[0], b, n[1], &len),
                  *text;
    char          *copy = (char *)room_of(len + 1);
    tmetal_options tuned;
    tmetal_result  out;
    used = arena.used;
    for (i = 0; i < 2 * len; i++, arena.used = used) {
        size_t cut = i < len ? len : i - len;
        memcpy(copy, good, len + 1);
        if (i < len) copy[i] = (char)(copy[i] ^ (1 << i % 7));
        CHECK(tmetal_tune_merge(copy, cut, "", 0, &arena, &text, &out_len, &out) == TMETAL_OK);
        CHECK(cut == 0 || (out.n_remarks == 1 && out.remarks[0].kind == TMETAL_MISSED));
        CHECK(out_len <= len);
        if (found(copy, cut, "apple-m1", 512, &tuned, &out)) CHECK(tuned.threads == 128 && !tuned.layouts && !tuned.two_stage);
        CHECK(out.n_remarks > (uint32_t)(cut > 0));
    }
    free(copy);
    arena.used = 0;
}

static void check_all_failed(void) {
    tmetal_tune  *t = begin(row, row_len, NULL, NULL);
    tmetal_result out;
    const char   *text;
    size_t        len;
    uint32_t      n;
    (void)search(t, never, &n);
    CHECK(n > 2 && tmetal_tune_end(t, &arena, &text, &len, &out) == TMETAL_E_MISUSE && !text && out.n_diags == 1);
    arena.used = 0;
}

/* Of several texts the best is found again by all of them, whichever the first is good for. */
static double third(const tmetal_candidate *c) { return convex(c) * (c->options.text == 2 ? 0.5 : 1); }

static void check_texts(void) {
    static const char   refused[] = "module { tt.func public @f(%x: !tt.ptr<i32>) { %0 = tt.elementwise_inline_asm \"bar\" {constraints = \"=r\", "
                                    "packed_element = 1 : i32, pure = true} -> i32 tt.store %x, %0 : !tt.ptr<i32> tt.return } }";
    char               *wide = (char *)room_of(row_len + 1), *s;
    const char         *more[2], *text;
    uint32_t            grids[2][3] = {{1, 1, 1}, {64, 1, 1}}, n, i, two = 0;
    tmetal_tune_options how;
    tmetal_options      tuned, opt;
    tmetal_tune        *t;
    tmetal_result       out;
    size_t              len;
    memset(&how, 0, sizeof how);
    memset(&opt, 0, sizeof opt);
    memcpy(wide, row, row_len);
    wide[row_len] = '\0';
    for (s = wide; (s = strstr(s, "256")) != NULL;) memcpy(s, "512", 3);
    more[0] = NULL;
    more[1] = wide;
    how.more = more;
    how.n_more = 2;
    how.grids = (const uint32_t(*)[3])grids;
    how.programs[0] = 512;
    how.strategy = TMETAL_TUNE_EXHAUSTIVE;
    opt.gpu = "apple-m1";
    t = begin(row, row_len, &opt, &how);
    for (i = 0; tmetal_tune_at(t, i); i++) {
        const tmetal_candidate *c = tmetal_tune_at(t, i);
        CHECK(c->options.text == 0 || c->options.text == 2);
        CHECK((strstr(c->name, "config=3") != NULL) == (c->options.text == 2));
        two += c->options.text == 2;
    }
    CHECK(two > 3 && i > two + 3);
    (void)search(t, third, &n);
    CHECK(tmetal_tune_best(t)->options.text == 2);
    CHECK(tmetal_tune_end(t, &arena, &text, &len, &out) == TMETAL_OK);
    CHECK(tmetal_tune_find(text, len, row, row_len, &opt, &how, &arena, &tuned, &out) && tuned.text == 2);
    opt = tuned; /* what was found before is forgotten: the text too, of which there may be none */
    how.n_more = 0;
    how.strategy = TMETAL_TUNE_MODEL;
    CHECK(tmetal_tune_best(begin(row, row_len, &opt, &how))->options.text == 0);
    memset(&opt, 0, sizeof opt);
    opt.gpu = "apple-m1", opt.text = 64;
    CHECK(tmetal_tune_begin(row, row_len, &opt, &how, &arena, &t, &out) == TMETAL_OK && tmetal_tune_best(t)->options.text == 0);
    opt.text = 0;
    how.strategy = TMETAL_TUNE_EXHAUSTIVE;
    how.n_more = 1; /* another program now */
    CHECK(!tmetal_tune_find(text, len, row, row_len, &opt, &how, &arena, &tuned, &out) && tuned.text == 0);
    arena.used = 0;
    how.n_more = 2; /* the first cannot be compiled: of the others the first is as planned */
    t = begin(refused, sizeof refused - 1, &opt, &how);
    for (i = 0; tmetal_tune_at(t, i); i++) CHECK(tmetal_tune_at(t, i)->options.text == 2);
    CHECK(i > 3);
    free(wide);
    arena.used = 0;
}

/* An entry of this program, whole and with its sum, for a text that there is not: whoever reads the options would take it
 * for one. */
static void check_text_that_is_not_there(void) {
    char                cache[1024], line[512], sum[17];
    const char         *text;
    tmetal_tune_options how;
    tmetal_options      tuned;
    tmetal_tune        *t;
    tmetal_result       out;
    size_t              len;
    memset(&how, 0, sizeof how);
    how.strategy = TMETAL_TUNE_MODEL;
    t = begin(row, row_len, NULL, &how);
    CHECK(tmetal_tune_end(t, &arena, &text, &len, &out) == TMETAL_OK);
    text = strchr(text, '\n') + 1;
    snprintf(line, sizeof line, "%.*s config=64", (int)(strstr(text, " 0 0 ") + 4 - text), text);
    tmi_tune_sum_text("tmetal-tune 1 1", 15, sum);
    snprintf(cache, sizeof cache, "tmetal-tune 1 1 %s\n%s ", sum, line);
    tmi_tune_sum_text(line, strlen(line), sum);
    strcat(strcat(cache, sum), "\n");
    CHECK(!tmetal_tune_find(cache, strlen(cache), row, row_len, NULL, &how, &arena, &tuned, &out) && tuned.text == 0);
    CHECK(says(&out, "not for - on apple-m1"));
    arena.used = 0;
}

/* The bound is enough for 64 texts of many small ops. */
static void check_bound_of_many_texts(void) {
    char               *text = (char *)room_of(64 << 10);
    const char         *more[63];
    size_t              n = (size_t)sprintf(text, "tt.func public @k(%%0: i1) {\n"), i, bytes;
    tmetal_tune_options how;
    tmetal_tune        *t;
    tmetal_result       out;
    tmetal_arena        whole;
    for (i = 1; i < 2000; i++) n += (size_t)sprintf(text + n, "%%%lu=ub.poison:i1\n", (unsigned long)i);
    n += (size_t)sprintf(text + n, "tt.return\n}\n");
    memset(&how, 0, sizeof how);
    for (i = 0; i < 63; i++) more[i] = text;
    how.more = more, how.n_more = 63, how.most = 2;
    bytes = tmetal_tune_bound(text, n);
    whole = tmetal_arena_on(room_of(bytes), bytes);
    CHECK(tmetal_tune_begin(text, n, NULL, &how, &whole, &t, &out) == TMETAL_OK);
    free(whole.base), free(text);
}

/* Texts of which none compiles: the first says why. Without grids all have the launch's programs. */
static void check_texts_that_do_not_compile(void) {
    static const char    refused[] = "tt.func public @f(%x: !tt.ptr<i32>) {\n  %0 = tt.elementwise_inline_asm \"bar\" {constraints = \"=r\", packed_element = 1 : i32, pure = true} -> i32\n"
                                     "  tt.store %x, %0 : !tt.ptr<i32>\n  tt.return\n}\n";
    const char          *more[2];
    tmetal_tune_options  how;
    tmetal_tune         *t;
    tmetal_result        out, alone;
    uint32_t             i, of[3] = {0, 0, 0};
    memset(&how, 0, sizeof how);
    more[0] = more[1] = refused;
    how.more = more;
    how.n_more = 2;
    (void)tmetal_compile(refused, sizeof refused - 1, NULL, &arena, &alone);
    CHECK(tmetal_tune_begin(refused, sizeof refused - 1, NULL, &how, &arena, &t, &out) == alone.code && alone.code != TMETAL_OK && !t);
    CHECK(out.n_diags && strcmp(out.diags[0].message, alone.diags[0].message) == 0);
    arena.used = 0;
    more[0] = "nonsense"; /* it cannot even be named */
    CHECK(tmetal_tune_begin(row, row_len, NULL, &how, &arena, &t, &out) != TMETAL_OK && !t && out.n_diags);
    arena.used = 0;
    more[0] = "tt.sum:[64,256]:1";
    more[1] = "tt.sum:[64,512]:1";
    t = begin("tt.sum:[64,128]:1", 17, NULL, &how);
    for (i = 0; tmetal_tune_at(t, i); i++) of[tmetal_tune_at(t, i)->options.text]++;
    CHECK(of[0] > 1 && of[1] > 1 && of[2] > 1);
    arena.used = 0;
}

/* Few candidates: no more are looked for than may be kept. */
static void check_most(void) {
    tmetal_tune_options how;
    uint32_t            most;
    memset(&how, 0, sizeof how);
    for (most = 1; most < 9; most++) {
        how.most = most;
        CHECK(count_of(begin("tt.exp:[4]", 10, NULL, &how)) == (most < 6 ? most : 6)); /* by threads alone */
        arena.used = 0;
    }
}

/* A small arena at any point of the search for candidates, of trials that are saved, of merging and counting. */
static void check_arenas_further_on(void) {
    static const char   list[] = "tt.softmax:[64,256]:1";
    size_t              cap, full = 0, n, len;
    tmetal_result       out;
    const char         *cache = entry_of("apple-m1", 512, convex, 3, &n), *text;
    tmetal_tune        *t, *saved = begin(row, row_len, NULL, NULL);
    const tmetal_work  *work;
    char               *base = (char *)arena.base + arena.used;
    tmetal_arena        small;
    base += 16 - (size_t)((uintptr_t)base & 15);
    for (cap = 64 << 10;; cap += 8 << 10) {
        small = tmetal_arena_on(base, cap);
        if (tmetal_tune_begin(list, sizeof list - 1, NULL, NULL, &small, &t, &out) == TMETAL_OK) break;
        CHECK(out.code == TMETAL_E_ARENA && !t && small.used == 0 && small.need > cap);
        full++;
    }
    CHECK(full > 10);
    for (cap = 0, full = 0;; cap += 64, full++) {
        small = tmetal_arena_on(base, cap);
        len = 7;
        if (tmetal_tune_save(saved, &small, &len)) break;
        CHECK(len == 0 && small.need > cap);
    }
    CHECK(full > 2);
    for (cap = 0, full = 0;; cap += 256, full++) {
        small = tmetal_arena_on(base, cap);
        if (tmetal_tune_merge(cache, n, "", 0, &small, &text, &len, &out) == TMETAL_OK) break;
        CHECK(out.code == TMETAL_E_ARENA && !text && !len && small.need > cap);
    }
    CHECK(full > 2 && len == n);
    for (cap = 8 << 10, full = 0;; cap += 2 << 10, full++) {
        small = tmetal_arena_on(base, cap);
        if (tmetal_tune_count(list, sizeof list - 1, NULL, NULL, &small, &work, &out) == TMETAL_OK) break;
        CHECK(out.code == TMETAL_E_ARENA && small.need > cap);
    }
    CHECK(full > 10 && work[0].threads);
    arena.used = 0;
}

/* Counting: kernels that are alike are emitted once, and each is counted; what is refused says why. */
static void check_counting(void) {
    static const char  list[] = "tt.max:[64,128]:0\ntt.sum:[64,256]:1\ntt.sum:[64,256]:1\ntt.exp:[256]\ntt.sum:[64,256]:1\n";
    tmetal_options     opt;
    tmetal_result      out;
    const tmetal_work *work;
    uint32_t           i;
    memset(&opt, 0, sizeof opt);
    CHECK(tmetal_tune_count(list, sizeof list - 1, NULL, NULL, &arena, &work, &out) == TMETAL_OK && out.n_kernels == 6);
    CHECK(work[0].read * work[0].groups * (work[0].threads / 32) == 64 * 128 * 4); /* parts of columns, and these together */
    for (i = 2; i < 6; i++) {
        CHECK((strcmp(out.kernels[i].entry, out.kernels[2].entry) == 0) == (i != 4));
        CHECK(work[i].read * work[i].groups * (work[i].threads / 32) == (i == 4 ? 256 : 64 * 256) * 4 && (work[i].seconds == work[2].seconds || i == 4));
    }
    opt.gpu = "apple-a18"; /* the bytes a second of its memory are not known */
    CHECK(tmetal_tune_count(list, sizeof list - 1, &opt, NULL, &arena, &work, &out) == TMETAL_OK && work[0].seconds > 2e-6 && work[0].seconds < 1);
    opt.gpu = "apple-z9";
    CHECK(tmetal_tune_count(list, sizeof list - 1, &opt, NULL, &arena, &work, &out) == TMETAL_E_GPU_NAME && !work);
    arena.used = 0;
}

/* Loops in loops in loops: not each of their rounds is walked. */
static void check_nested(void) {
    char               text[4000];
    size_t             n = 0;
    uint32_t           i;
    tmetal_result      out;
    const tmetal_work *work;
    n += (size_t)sprintf(text, "module {\ntt.func public @k(%%x: !tt.ptr<f32>) {\n%%a = arith.constant 0 : i32\n%%b = arith.constant 1 : i32\n%%c = arith.constant 7 : i32\n");
    for (i = 0; i < 14; i++) n += (size_t)sprintf(text + n, "scf.for %%i%u = %%a to %%c step %%b : i32 {\n", i);
    n += (size_t)sprintf(text + n, "%%p = tt.addptr %%x, %%i13 : !tt.ptr<f32>, i32\n%%v = tt.load %%p {isVolatile = true} : !tt.ptr<f32>\ntt.store %%p, %%v : !tt.ptr<f32>\n");
    for (i = 0; i < 14; i++) n += (size_t)sprintf(text + n, "}\n");
    n += (size_t)sprintf(text + n, "tt.return\n}\n}\n");
    CHECK(tmetal_tune_count(text, n, NULL, NULL, &arena, &work, &out) == TMETAL_OK && work[0].read);
    arena.used = 0;
}

/* Negative integers are a class of their own. */
static void check_negative_integers(void) {
    static const int64_t minus[3] = {0, 0, -48}, other[3] = {0, 0, -16}, odd[3] = {0, 0, -3}, plus[3] = {0, 0, 48};
    static const struct { const int64_t *ints; int is_found; } rows[] = {{minus, 1}, {other, 1}, {odd, 1}, {plus, 0}};
    tmetal_tune_options how;
    tmetal_options      tuned;
    tmetal_result       out;
    const char         *cache;
    size_t              len, i;
    uint32_t            n;
    tmetal_tune        *t;
    memset(&how, 0, sizeof how);
    how.ints = minus;
    how.n_ints = 3;
    t = begin(row, row_len, NULL, &how);
    (void)search(t, convex, &n);
    CHECK(tmetal_tune_end(t, &arena, &cache, &len, &out) == TMETAL_OK && strstr(cache, " 2:- "));
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        how.ints = rows[i].ints;
        CHECK(tmetal_tune_find(cache, len, row, row_len, NULL, &how, &arena, &tuned, &out) == rows[i].is_found);
    }
    arena.used = 0;
}

/* The text is read, and what was read is gone: functions that nothing calls leave no byte behind. */
static void check_memory(void) {
    static char text[sizeof row + 8192];
    const char *at = strstr(row, "  tt.func");
    size_t      n, used, i;
    if (!at) exit(2);
    (void)begin(row, row_len, NULL, NULL);
    used = arena.used;
    arena.used = 0;
    memcpy(text, row, n = (size_t)(at - row));
    for (i = 0; i < 100; i++) n += (size_t)sprintf(text + n, "tt.func private @f%lu(%%x: i32) -> i32 {\n  tt.return %%x : i32\n}\n", (unsigned long)i);
    memcpy(text + n, at, row_len - (size_t)(at - row));
    (void)begin(text, n + row_len - (size_t)(at - row), NULL, NULL);
    CHECK(arena.used == used);
    arena.used = 0;
}

/* Options that are none. */
static void check_options_that_are_none(void) {
    static const char  *more[64];
    tmetal_tune_options how;
    tmetal_result       out;
    tmetal_tune        *t;
    memset(&how, 0, sizeof how);
    how.strategy = (tmetal_tune_strategy)4;
    CHECK(tmetal_tune_begin(row, row_len, NULL, &how, &arena, &t, &out) == TMETAL_E_MISUSE && !t && strstr(out.diags[0].message, "strategy"));
    memset(&how, 0, sizeof how);
    how.more = more, how.n_more = 64; /* no candidate would stand for the last */
    CHECK(tmetal_tune_begin(row, row_len, NULL, &how, &arena, &t, &out) == TMETAL_E_MISUSE && !t && strstr(out.diags[0].message, "at most 63"));
    arena.used = 0;
}

/* Calls without what they are about. */
static void check_nothing_given(void) {
    tmetal_result  out;
    tmetal_options tuned;
    tmetal_tune   *t = begin(row, row_len, NULL, NULL);
    const char    *text = "x", *with, *without;
    size_t         len = 7;
    tmetal_tune_record(NULL, 0, 1.0);
    CHECK(!tmetal_tune_save(NULL, &arena, &len) && len == 0 && !tmetal_tune_save(NULL, &arena, NULL) && !tmetal_tune_save(t, NULL, NULL));
    with = tmetal_tune_save(t, &arena, &len), without = tmetal_tune_save(t, &arena, NULL);
    CHECK(with && without && strcmp(with, without) == 0);
    CHECK(tmetal_tune_end(NULL, &arena, &text, &len, &out) == TMETAL_E_MISUSE && !text && !len && strcmp(out.diags[0].message, "no tuning: it is NULL") == 0);
    CHECK(tmetal_tune_resume(t, NULL, 5, &arena, &out) == TMETAL_OK && says(&out, "the saved trials are ignored"));
    CHECK(!tmetal_tune_find(NULL, 5, row, row_len, NULL, NULL, &arena, &tuned, &out) && out.code == TMETAL_OK && says(&out, "does not have this program"));
    arena.used = 0;
}

/* Saved trials of other things, each line whole: of another program, of a GPU of a longer name, out of order, of no numbers. */
static void check_trials_of_others(void) {
    tmetal_tune  *t, *other = begin(products, products_len, NULL, NULL), *again;
    tmetal_result out;
    size_t        len;
    const char   *text = tmetal_tune_save(other, &arena, &len), *line[4], *end;
    char          copy[1024], sum[17];
    int           n, i;
    again = begin(row, row_len, NULL, NULL);
    CHECK(tmetal_tune_resume(again, text, len, &arena, &out) == TMETAL_OK && says(&out, "of another program") && again->n_trial == 0);
    text = saved_after(3, convex, &t, &len);
    end = strchr(text, '\n');
    while (*end != ' ') end--; /* the sum */
    for (end--; *end != ' ';) end--; /* the number of trials */
    for (i = 0; i < 2; i++) { /* as of a header of a longer name; how many is no number */
        n = sprintf(copy, "%.*s%s", (int)(end - text), text, i ? " some" : "x 3");
        tmi_tune_sum_text(copy, (size_t)n, sum);
        n += sprintf(copy + n, " %s\n", sum);
        CHECK(tmetal_tune_resume(again, copy, (size_t)n, &arena, &out) == TMETAL_OK && says(&out, "of another program") && again->n_trial == 0);
    }
    for (line[0] = strchr(text, '\n') + 1, i = 1; i < 4; i++) line[i] = strchr(line[i - 1], '\n') + 1;
    n = sprintf(copy, "%.*s%.*s%.*s%.*s", (int)(line[0] - text), text, (int)(line[1] - line[0]), line[0], (int)(line[3] - line[2]), line[2],
                (int)(line[2] - line[1]), line[1]);
    CHECK((size_t)n == len && tmetal_tune_resume(again, copy, len, &arena, &out) == TMETAL_OK && says(&out, "of 3 saved trials 1 are taken over") && again->n_trial == 1);
    again = begin(row, row_len, NULL, NULL);
    for (i = 0; i < 5; i++) { /* no number of a trial; no time of one; none at all; an empty one; one that no 64 bits hold */
        static const char *const words[] = {"x planned 7", "0 planned soon", "0 planned", "0 planned ", "0 planned 98765432109876543210"};
        n = sprintf(copy, "%.*s", (int)(line[0] - text), text);
        strcpy(copy + n, words[i]);
        tmi_tune_sum_text(copy + n, strlen(copy + n), sum);
        sprintf(copy + strlen(copy), " %s\n", sum);
        CHECK(tmetal_tune_resume(again, copy, strlen(copy), &arena, &out) == TMETAL_OK && says(&out, "of 3 saved trials 0 are taken over") && again->n_trial == 0);
    }
    arena.used = 0;
}

/* Words between blanks, from 1, and the numbers that they begin with. */
static void check_words(void) {
    const char *word;
    CHECK(tmi_tune_word("a bc d", 2, &word) == 2 && *word == 'b');
    CHECK(tmi_tune_word("a bc d", 4, &word) == 0 && tmi_tune_word("a bc d", 9, &word) == 0 && tmi_tune_word("a", 0, &word) == 0);
    CHECK(tmi_tune_number("12", 2) == 12 && tmi_tune_number("123", 2) == 12 && tmi_tune_number("12-3", 4) == 12 && tmi_tune_number("12:", 3) == 12 && tmi_tune_number("x", 1) == 0);
}

/* Registers that a core has cost nothing; those that it has not are spilled and loaded again. */
static void check_model(void) {
    static const uint32_t registers[] = {32, 120, 121, 256}; /* and 8 that the estimate leaves out */
    tmi_work w;
    uint64_t cycles[4];
    uint32_t i;
    memset(&w, 0, sizeof w);
    w.issue = 1000;
    w.threads = 256;
    for (i = 0; i < 4; i++) {
        w.registers = registers[i];
        cycles[i] = tmi_tune_cycles(&w, tmetal_gpu_find("apple-m1", 0), 1);
    }
    CHECK(cycles[0] == cycles[1] && cycles[2] > cycles[1] && cycles[3] > cycles[2]);
}

/* What the model's numbers and trials are compared by; wanted[] is floor(log2(v) * 65536). */
static void check_logarithms(void) {
    static const uint64_t v[] = {0, 1, 2, 3, 1000, 65537, (uint64_t)3 << 40, UINT64_MAX};
    static const int64_t  wanted[] = {0, 0, 65536, 103872, 653117, 1048577, 2725312, 4194303};
    size_t                i;
    for (i = 0; i < sizeof v / sizeof *v; i++) CHECK(tmi_tune_log2(v[i]) <= wanted[i] && tmi_tune_log2(v[i]) >= wanted[i] - 1);
    CHECK(tmi_tune_div_up(0, 3) == 0 && tmi_tune_div_up(1, 3) == 1 && tmi_tune_div_up(6, 3) == 2 && tmi_tune_div_up(7, 3) == 3);
}

int main(int argc, char **argv) {
    size_t room = (size_t)96 << 20;
    if (argc != 3) return fprintf(stderr, "usage: test ROW.ttir PRODUCTS.ttir\n"), 2;
    row_len = read_file(argv[1], row, sizeof row);
    products_len = read_file(argv[2], products, sizeof products);
    arena = tmetal_arena_on(room_of(room), room);
    check_candidates(row, row_len, 6);
    check_candidates(products, products_len, 24);
    check_candidates("tt.softmax:[64,256]:1", 21, 4);
    check_own_options();
    check_split();
    check_refused();
    check_small_arenas();
    check_searches();
    check_random();
    check_record();
    check_interruptions(convex);
    check_interruptions(failing);
    check_damaged_trials();
    check_finding();
    check_integers();
    check_merging();
    check_stale();
    check_foreign_lines();
    check_unknown_candidate();
    check_programs();
    check_damaged_cache();
    check_all_failed();
    check_texts();
    check_texts_that_do_not_compile();
    check_text_that_is_not_there();
    check_bound_of_many_texts();
    check_most();
    check_arenas_further_on();
    check_counting();
    check_nested();
    check_negative_integers();
    check_memory();
    check_options_that_are_none();
    check_nothing_given();
    check_trials_of_others();
    check_words();
    check_logarithms();
    check_model();
    free(arena.base);
    puts(bad ? "tune: FAILED" : "tune: candidates, searches, interruptions, damage and merging are as they should be");
    return bad;
}
