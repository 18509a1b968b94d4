/* tmetal_key: SHA-256 is that of the standard, every option counts, and whatever changes the output changes the key.
 *     key FILE.ttir-OR-DIRECTORY... */
#define TMETAL_IMPLEMENTATION
#include "../../tmetal.h"

#include "../robust/text.h"

#include <stdio.h>
#include <stdlib.h>

static int bad;
#define CHECK(cond) ((cond) ? (void)0 : (void)(bad = 1, fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond)))

/* -- SHA-256: the examples of FIPS 180-4, in parts of every length ------------------------------------------ */

static void sum_of(const char *text, size_t len, uint32_t times, size_t part, char key[65]) {
    tmi_sha       s;
    unsigned char sum[32];
    size_t        at, n;
    tmi_base_sha_begin(&s);
    for (; times; times--)
        for (at = 0; at < len; at += n) {
            n = len - at < part ? len - at : part;
            tmi_base_sha_add(&s, text + at, n);
        }
    tmi_base_sha_end(&s, sum);
    tmi_key_hex(sum, key);
}

static void check_sha(void) {
    static const struct { const char *text; uint32_t times; const char *sum; } row[] = {
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", 1,
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
        {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
    char   key[65], again[65], text[200];
    size_t i, len, part;
    for (i = 0; i < sizeof row / sizeof *row; i++) {
        sum_of(row[i].text, strlen(row[i].text), row[i].times, 1000, key);
        CHECK(strcmp(key, row[i].sum) == 0);
    }
    for (i = 0; i < sizeof text; i++) text[i] = (char)(i * 7);
    for (len = 0; len <= sizeof text; len++) {
        sum_of(text, len, 1, 1000, key);
        for (part = 1; part < 130; part++) {
            sum_of(text, len, 1, part, again);
            CHECK(strcmp(key, again) == 0);
        }
    }
}

/* -- Keys that must all differ ------------------------------------------------------------------------------- */

typedef struct key { char hex[65]; } key;
static key     *keys;
static uint32_t n_keys, cap_keys;

static void note(const char *src, size_t len, const tmetal_options *opt) {
    key again;
    if (n_keys == cap_keys) {
        cap_keys = cap_keys ? 2 * cap_keys : 256;
        keys = (key *)realloc(keys, cap_keys * sizeof *keys);
        if (!keys) exit(2);
    }
    tmetal_key(src, len, opt, keys[n_keys].hex);
    tmetal_key(src, len, opt, again.hex);
    CHECK(strcmp(keys[n_keys].hex, again.hex) == 0 && strlen(again.hex) == 64);
    n_keys++;
}

static int order(const void *a, const void *b) { return strcmp(((const key *)a)->hex, ((const key *)b)->hex); }

static void all_differ(const char *what) {
    uint32_t i, same = 0;
    qsort(keys, n_keys, sizeof *keys, order);
    for (i = 1; i < n_keys; i++) same += strcmp(keys[i - 1].hex, keys[i].hex) == 0;
    printf("key: %u keys of %s, %u twice\n", n_keys, what, same);
    CHECK(same == 0);
    n_keys = 0;
}

/* Every bit of every word and several texts of each field that the table lists: and it lists all (fields.sh). */
static void each_field(const tmi_struct *table, void *base, const char *src, const tmetal_options *opt) {
    static const char *const texts[] = {"", "x", "y", "xy", "0=1"};
    static tmetal_gpu_limits limits;
    uint32_t i, k, word;
    for (i = 0; i < table->n; i++) {
        const tmi_row *f = &table->field[i];
        char          *at = (char *)base + f->at;
        const void    *p;
        switch (f->kind) {
        case TMI_FIELD_WORD:
            for (k = 0; k < 32; k++) {
                word = (uint32_t)1 << k;
                memcpy(at, &word, 4);
                note(src, strlen(src), opt);
            }
            memset(at, 0, 4);
            break;
        case TMI_FIELD_TEXT:
            for (k = 0; k < sizeof texts / sizeof *texts; k++) {
                memcpy(at, &texts[k], sizeof texts[k]);
                note(src, strlen(src), opt);
            }
            memset(at, 0, sizeof texts[0]);
            break;
        case TMI_FIELD_REF:
            p = &limits;
            memcpy(at, &p, sizeof p);
            note(src, strlen(src), opt); /* given, but empty */
            each_field(f->of, &limits, src, opt);
            memset(at, 0, sizeof p);
            break;
        default:
            CHECK(f->kind == TMI_FIELD_OTHER && (f->at == offsetof(tmetal_options, trace) || f->at == offsetof(tmetal_options, trace_user) ||
                                                 f->at == offsetof(tmetal_options, text)));
        }
    }
}

static void look_on(void *user, const char *pass, const char *text) { (void)user, (void)pass, (void)text; }

static void check_options(void) {
    static const char src[] = "tt.sum:[8,8]:1";
    tmetal_options    opt;
    key               a, b;
    memset(&opt, 0, sizeof opt);
    note(src, strlen(src), NULL);
    each_field(&tmi_table_tmetal_options, &opt, src, &opt);
    /* one text's end is not the next one's beginning */
    opt.file = "a", opt.gpu = "bc";
    note(src, strlen(src), &opt);
    opt.file = "ab", opt.gpu = "c";
    note(src, strlen(src), &opt);
    note(src, strlen(src) - 1, NULL);
    note("", 0, NULL);
    note("\0", 1, NULL);
    all_differ("one list and its options");
    memset(&opt, 0, sizeof opt);
    tmetal_key(src, strlen(src), NULL, a.hex);
    tmetal_key(src, strlen(src), &opt, b.hex);
    CHECK(strcmp(a.hex, b.hex) == 0);
    opt.trace = look_on, opt.trace_user = &opt;
    tmetal_key(src, strlen(src), &opt, b.hex);
    CHECK(strcmp(a.hex, b.hex) == 0);
}

/* -- What changes the output ------------------------------------------------------------------------------------ */

static uint64_t output_of(const char *text, size_t len, const tmetal_options *opt, void *memory, size_t bytes, int *right) {
    tmetal_arena  arena = tmetal_arena_on(memory, bytes);
    tmetal_result r;
    uint64_t      h = HASH_START;
    const char   *s;
    uint32_t      i;
    if (tmetal_is_ops(text, len)) tmetal_compile_ops(text, len, opt, &arena, &r);
    else tmetal_compile(text, len, opt, &arena, &r);
    *right = r.code == TMETAL_OK;
    if (r.code == TMETAL_OK) {
        s = tmetal_plan_json(&r, &arena);
        h = hash_more(hash_more(h, r.msl, r.msl_len), s, strlen(s));
        if (r.reports) s = tmetal_explain_json(&r, &arena), h = hash_more(h, s, strlen(s));
    }
    for (i = 0; i < r.n_diags; i++) s = tmetal_diag_text(&r.diags[i], &arena), h = hash_more(h, s, strlen(s));
    for (i = 0; i < r.n_remarks; i++) h = hash_more(h, r.remarks[i].text, strlen(r.remarks[i].text));
    return h;
}

/* Another value of one option; of those that change something for some kernel. */
static void other_option(tmetal_options *o, tmetal_gpu_limits *limits, dice *d) {
    static const char *const gpus[] = {"apple-m2", "apple-m3-max", "apple-m4", "apple7", "apple-a17-pro", "no such"};
    static const char *const layouts[] = {"COALESCED", "ROW_MAJOR", "TILED", "DEFAULT", "%0=TILED"};
    static const uint32_t msl[] = {300, 310, 320, 400};
    switch (dice_below(d, 23)) {
    case 0: o->file = "another.ttir"; break;
    case 1: o->gpu = gpus[dice_below(d, 6)]; break;
    case 2: o->threads = 32u << dice_below(d, 6); break;
    case 3: o->max_errors = 1 + dice_below(d, 3); break;
    case 4: o->msl = msl[dice_below(d, 4)]; break;
    case 5: o->no_fusion = 1; break;
    case 6: o->no_fp64 = 1; break;
    case 7: o->debug_bytes = 1024u << dice_below(d, 4); break;
    case 8: o->logging = 1; break;
    case 9: o->plain = 1; break;
    case 10: o->alias = dice_below(d, 2) ? "0=1" : "1=2"; break;
    case 11: o->live = limits, limits->family = 7 + dice_below(d, 4); break;
    case 12: o->limits = limits, limits->threads = 32u << dice_below(d, 5); break;
    case 13: o->mlx = 1; break;
    case 14: o->layouts = layouts[dice_below(d, 5)]; break;
    case 15: o->two_stage = 2u << dice_below(d, 5); break;
    case 20: o->bounds = 1; break;
    case 21: o->unspecialized = 1; break;
    case 16: o->operands = 1 + dice_below(d, 2); break;
    case 18: o->max_source = 1u << dice_below(d, 12); break;
    case 19: o->max_ops = 1u << dice_below(d, 8); break;
    case 17: o->programs = 1u << dice_below(d, 7); break;
    default: o->reports = 1; break;
    }
}

#define CHANGES 1000u
static void check_changes(int argc, char **argv) {
    static const size_t bytes = (size_t)64 << 20;
    void    *memory = take_memory(bytes);
    names    files;
    dice     d;
    uint32_t changed = 0, metal = 0, tried = 0;
    int      i;
    memset(&files, 0, sizeof files);
    for (i = 1; i < argc; i++) names_find(&files, argv[i], ".ttir"), names_find(&files, argv[i], ".json");
    names_sort(&files);
    CHECK(files.n > 20);
    dice_seed(&d, 20240607);
    while (files.n && changed < CHANGES && tried < 20 * CHANGES) {
        size_t   len;
        char    *text = read_file(files.name[dice_below(&d, (uint32_t)files.n)], &len);
        int      right, was, k;
        uint64_t first = output_of(text, len, NULL, memory, bytes, &was);
        char     before[65], after[65];
        tmetal_key(text, len, NULL, before);
        for (k = 0; k < 4 && changed < CHANGES && len; k++, tried++) {
            tmetal_options    o;
            tmetal_gpu_limits limits;
            size_t            at = dice_below(&d, (uint32_t)len);
            char              old = text[at];
            memset(&o, 0, sizeof o);
            memset(&limits, 0, sizeof limits);
            if (k < 2) other_option(&o, &limits, &d);
            else if (old >= '0' && old <= '9') text[at] = (char)('0' + dice_below(&d, 10));
            else text[at] = (char)(32 + dice_below(&d, 95));
            if (output_of(text, len, &o, memory, bytes, &right) != first) {
                changed++;
                metal += (uint32_t)(right && was);
                tmetal_key(text, len, &o, after);
                if (strcmp(before, after) == 0) {
                    fprintf(stderr, "key: another output by the same key: change %u\n", tried);
                    bad = 1;
                }
            }
            text[at] = old;
        }
        free(text);
    }
    printf("key: %u changes of the output, %u of them from one Metal to another, changed the key\n", changed, metal);
    CHECK(changed == CHANGES && metal >= CHANGES / 4);
    names_free(&files);
    free(memory);
}

int main(int argc, char **argv) {
    check_sha();
    check_options();
    check_changes(argc, argv);
    free(keys);
    return bad;
}
