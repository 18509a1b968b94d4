/* Fills the generated parts of the documents: what stands between <!-- BEGIN name --> and <!-- END name -->
 * is printed anew from the tables of tmetal.h.
 *
 *   fill FILE...           rewrite the files
 *   fill --check FILE...   change nothing; fail where a file is not what would be written
 *
 * An unknown name, an open mark, or a part that no file has is an error: a table cannot vanish from the documents
 * unseen. */
#define TMETAL_IMPLEMENTATION
#include "../../tmetal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* -- A growing text ------------------------------------------------------------------------------- */

typedef struct text {
    char  *at;
    size_t n, cap;
} text;

static void put_n(text *t, const char *s, size_t n) {
    if (t->n + n + 1 > t->cap) {
        t->cap = (t->n + n + 1) * 2;
        t->at = (char *)realloc(t->at, t->cap);
        if (!t->at) {
            fputs("fill: out of memory\n", stderr);
            exit(2);
        }
    }
    memcpy(t->at + t->n, s, n);
    t->n += n;
    t->at[t->n] = '\0';
}

static void put(text *t, const char *s) { put_n(t, s, strlen(s)); }

static void putf(text *t, const char *fmt, ...) {
    char    line[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    put(t, line);
}

static void put_u(text *t, uint32_t v) {
    char digits[16];
    sprintf(digits, "%u", (unsigned)v);
    put(t, digits);
}

/* -- Chips ------------------------------------------------------------------------------------------ */

static const char *confidence(tmetal_confidence c) {
    static const char *const letters[] = {"-", "D", "M", "I", "given"};
    return letters[c];
}

/* "128 M": a figure with its confidence; "unknown" alone. */
static void put_fact(text *t, const tmetal_gpu_fact *f) {
    if (f->confidence == TMETAL_UNKNOWN) {
        put(t, "unknown");
        return;
    }
    if (*f->text) put(t, f->text);
    else put_u(t, f->value);
    put(t, " ");
    put(t, confidence(f->confidence));
}

/* Figures of a chip stand before those of its family: arch, cores, gbps, mhz. */
#define CHIP_FIGURES 4

static void part_gpus(text *t) {
    size_t i, k;
    put(t, "| row | `MTLDevice.name` | family | architecture | cores | GB/s | MHz |\n|---|---|---|---|---|---|---|\n");
    for (i = 0; i < tmetal_gpu_count(); i++) {
        const tmetal_gpu *g = tmetal_gpu_at(i);
        put(t, "| ");
        put(t, g->name);
        put(t, " | ");
        put(t, g->device);
        put(t, " | Apple");
        put_u(t, g->family);
        for (k = 0; k < CHIP_FIGURES; k++) {
            tmetal_gpu_fact f = tmetal_gpu_fact_at(g, k);
            put(t, " | ");
            put_fact(t, &f);
        }
        put(t, " |\n");
    }
}

/* The sources of the chips' figures, each once, with the rows that it stands behind. */
static void part_gpu_sources(text *t) {
    const char *seen[64];
    size_t      n_seen = 0, i, k, s, j, b;
    put(t, "| source | confidence | figures |\n|---|---|---|\n");
    for (i = 0; i < tmetal_gpu_count(); i++)
        for (k = 0; k < CHIP_FIGURES; k++) {
            tmetal_gpu_fact f = tmetal_gpu_fact_at(tmetal_gpu_at(i), k);
            for (s = 0; s < n_seen && strcmp(seen[s], f.source) != 0; s++) {}
            if (s < n_seen || f.confidence == TMETAL_UNKNOWN) continue;
            seen[n_seen++] = f.source;
            put(t, "| ");
            put(t, f.source);
            put(t, " | ");
            put(t, confidence(f.confidence));
            put(t, " |");
            for (b = 0; b < CHIP_FIGURES; b++) {
                const char *before = NULL;
                for (j = 0; j < tmetal_gpu_count(); j++) {
                    tmetal_gpu_fact g = tmetal_gpu_fact_at(tmetal_gpu_at(j), b);
                    if (strcmp(g.source, f.source) != 0) continue;
                    put(t, before ? ", " : " ");
                    if (!before) {
                        put(t, g.figure);
                        put(t, " of ");
                    }
                    put(t, before = tmetal_gpu_at(j)->name);
                }
                if (before) put(t, ";");
            }
            t->n -= t->at[t->n - 1] == ';';
            put(t, " |\n");
        }
}

static void part_families(text *t) {
    size_t   k;
    uint32_t family;
    char     name[16];
    put(t, "| limit | unit | Apple7 | Apple8 | Apple9 | Apple10 | Apple11 |\n|---|---|---|---|---|---|---|\n");
    for (k = CHIP_FIGURES; k < tmetal_gpu_fact_count(); k++) {
        for (family = 7; family <= 11; family++) {
            tmetal_gpu_fact f;
            sprintf(name, "apple%u", (unsigned)family);
            f = tmetal_gpu_fact_at(tmetal_gpu_find(name, 0), k);
            if (family == 7) {
                put(t, "| `");
                put(t, f.figure);
                put(t, "` | ");
                put(t, f.unit);
            }
            put(t, " | ");
            put_fact(t, &f);
        }
        put(t, " |\n");
    }
}

/* Which family has which limit from where, one line a source. */
static void part_family_sources(text *t) {
    size_t   k;
    uint32_t family;
    char     name[16];
    put(t, "| limit | family | confidence | source |\n|---|---|---|---|\n");
    for (k = CHIP_FIGURES; k < tmetal_gpu_fact_count(); k++)
        for (family = 7; family <= 11; family++) {
            tmetal_gpu_fact f, last;
            uint32_t        to = family;
            sprintf(name, "apple%u", (unsigned)family);
            f = tmetal_gpu_fact_at(tmetal_gpu_find(name, 0), k);
            for (; to < 11; to++) {
                sprintf(name, "apple%u", (unsigned)to + 1);
                last = tmetal_gpu_fact_at(tmetal_gpu_find(name, 0), k);
                if (strcmp(last.source, f.source) != 0) break;
            }
            put(t, "| `");
            put(t, f.figure);
            put(t, "` | Apple");
            put_u(t, family);
            if (to > family) {
                put(t, " to Apple");
                put_u(t, to);
            }
            put(t, " | ");
            put(t, confidence(f.confidence));
            put(t, " | ");
            put(t, f.source);
            put(t, " |\n");
            family = to;
        }
}

static void put_family(text *t, uint32_t family) {
    put(t, family ? " | Apple" : " | none yet");
    if (family) put_u(t, family);
}

static void part_features(text *t) {
    size_t i;
    char   msl[24];
    put(t, "| feature | what | first family | on a Mac | MSL | confidence | source |\n|---|---|---|---|---|---|---|\n");
    for (i = 0; i < tmetal_gpu_feature_count(); i++) {
        tmetal_gpu_feature_info f = tmetal_gpu_feature_at(i);
        put(t, "| `");
        put(t, f.name);
        put(t, "` | ");
        put(t, f.text);
        put_family(t, f.family);
        put_family(t, f.mac_family);
        sprintf(msl, " | %u.%u | ", (unsigned)f.msl / 100, (unsigned)f.msl / 10 % 10);
        put(t, msl);
        put(t, confidence(f.confidence));
        put(t, " | ");
        put(t, f.source);
        put(t, " |\n");
    }
}

/* -- What libraries call it ------------------------------------------------------------------------------ */

static void put_code(text *t, const char *s) {
    if (!*s) return;
    put(t, "`");
    put(t, s);
    put(t, "`");
}

static void put_forms(text *t, uint32_t forms, const char *before) {
    uint32_t bit;
    for (bit = 1; bit <= TMETAL_FORM_MINUS; bit *= 2)
        if (forms & bit) {
            put(t, before);
            put(t, tmetal_form_name((tmetal_form)bit));
        }
}

static void put_mapping(text *t, const tmetal_mapping *m, const char *name) {
    put(t, "| ");
    put(t, name);
    put_forms(t, m->form, ", ");
    put_forms(t, m->without, ", not ");
    if (m->nan != TMETAL_NAN_NONE) {
        put(t, ", NaN ");
        put(t, tmetal_nan_name(m->nan));
    }
    put(t, " | ");
    put(t, m->mps);
    put(t, " | ");
    put(t, *m->since ? m->since : "not known");
    put(t, " | ");
    put(t, m->fields);
    put(t, " | ");
    put_code(t, m->mlx);
    put(t, " | ");
    put(t, m->differs);
    put(t, " | ");
    put(t, *m->pays ? m->pays : "not known");
    put(t, " | ");
    put(t, m->source);
    put(t, " |\n");
}

static void put_mappings(text *t, tmetal_maps which) {
    size_t i;
    put(t, "| found | MPSGraph or MPS | since | fields | MLX | differs | measured faster | source |\n|---|---|---|---|---|---|---|---|\n");
    for (i = 0; i < tmetal_mapping_count(); i++) {
        const tmetal_mapping *m = tmetal_mapping_at(i);
        if (m->which != which) continue;
        put_mapping(t, m, which == TMETAL_MAPS_REDUCE ? tmetal_reduce_name((tmetal_reduce_kind)m->kind) : tmetal_pattern_name((tmetal_pattern_kind)m->kind));
    }
}

static void part_reduction_mappings(text *t) { put_mappings(t, TMETAL_MAPS_REDUCE); }
static void part_pattern_mappings(text *t) { put_mappings(t, TMETAL_MAPS_PATTERN); }

/* -- The parts ---------------------------------------------------------------------------------------- */

/* -- Operations, external functions, diagnostics --------------------------------------------------- */

static void part_ops(text *t) {
    size_t      i, k, n = 0, lowered = 0;
    const char *group = "";
    for (i = 0; i < tmetal_op_count(); i++) n++, lowered += (size_t)tmetal_op_at(i).lowered;
    putf(t, "%lu operations; %lu are compiled to Metal, the others are read, verified and printed, and refused by name.\n", (unsigned long)n, (unsigned long)lowered);
    for (i = 0; i < tmetal_op_count(); i++) {
        tmetal_op_info op = tmetal_op_at(i);
        if (strcmp(op.group, group) != 0) {
            group = op.group;
            putf(t, "\n### %s\n\n", group);
        }
        putf(t, "- `%s`", op.name);
        for (k = 0; k < sizeof tmi_old_ops / sizeof *tmi_old_ops; k++)
            if (strcmp(tmi_ops[tmi_old_ops[k].kind].name, op.name) == 0) putf(t, ", once `%s`", tmi_old_ops[k].name);
        put(t, op.lowered ? "\n" : " - not compiled\n");
    }
}

static void part_externals(text *t) {
    uint32_t i;
    putf(t, "%u names. Signatures: `f` f32, `h` f16, `t` bf16, `d` f64, the others integers; the result stands first.\n\n| name | signature |\n|---|---|\n", (unsigned)TMI_EXTERN_COUNT);
    for (i = 0; i < TMI_EXTERN_COUNT; i++) putf(t, "| `%s` | `%s` |\n", tmi_externs[i].symbol, tmi_externs[i].sig);
}

static void put_escaped(text *t, const char *s) { /* for a cell of a table */
    for (; *s; s++) {
        if (*s == '|' || *s == '<' || *s == '\\') put_n(t, "\\", 1);
        put_n(t, s, 1);
    }
}

static void part_diagnostics(text *t) {
    static const struct {
        int         from;
        const char *what;
    } parts_of[] = {{100, "the text"}, {200, "the verifier"}, {300, "what is not supported"}, {500, "plan, options and the limits of GPUs"}, {900, "memory, wrong calls and our own mistakes"}, {700, "launching"}, {800, "Triton's source"}};
    size_t i, next = 0;
    for (i = 0; i < sizeof tmi_code_numbers / sizeof *tmi_code_numbers; i++) {
        int number = tmi_code_numbers[i];
        if (next < sizeof parts_of / sizeof *parts_of && number / 100 == parts_of[next].from / 100)
            putf(t, "\n### TM%d: %s\n\n| code | message | means | way out |\n|---|---|---|---|\n", parts_of[next].from, parts_of[next].what), next++;
        putf(t, "| TM%d | ", number);
        put_escaped(t, tmi_code_texts[i]);
        put(t, " | ");
        put_escaped(t, tmi_diag_about_of(number, 0));
        put(t, " | ");
        put_escaped(t, tmi_diag_about_of(number, 1));
        put(t, " |\n");
    }
}

/* What the README says of how much there is. */
static void part_works(text *t) {
    size_t i, lowered = 0, chips = tmetal_gpu_count();
    for (i = 0; i < tmetal_op_count(); i++) lowered += (size_t)tmetal_op_at(i).lowered;
    put(t, "| what | how much | all of it |\n|---|---|---|\n");
    putf(t, "| operations of Triton IR | %lu read, verified and printed; %lu of them compiled | [operations](docs/ops.md) |\n", (unsigned long)tmetal_op_count(), (unsigned long)lowered);
    putf(t, "| functions that kernels call by name, as libdevice's | %u | [operations](docs/ops.md#external-functions) |\n", (unsigned)TMI_EXTERN_COUNT);
    putf(t, "| GPUs | %lu chips and bins, %s to %s, each figure with its source | [GPUs](docs/hardware.md) |\n", (unsigned long)chips, tmetal_gpu_at(0)->device, tmetal_gpu_at(chips - 1)->device);
    putf(t, "| messages, each with a code and what cures it | %lu | [diagnostics](docs/diagnostics.md) |\n", (unsigned long)(sizeof tmi_code_numbers / sizeof *tmi_code_numbers));
}

typedef struct part {
    const char *name;
    void (*print)(text *);
    int seen;
} part;

static part parts[] = {
    {"operations", part_ops, 0}, {"external functions", part_externals, 0}, {"diagnostics", part_diagnostics, 0},
    {"gpus", part_gpus, 0}, {"what works", part_works, 0}, {"gpu sources", part_gpu_sources, 0}, {"families", part_families, 0},
    {"family sources", part_family_sources, 0}, {"features", part_features, 0},
    {"reduction mappings", part_reduction_mappings, 0}, {"pattern mappings", part_pattern_mappings, 0},
};
#define N_PARTS (sizeof parts / sizeof *parts)

static part *part_named(const char *name, size_t n) {
    size_t i;
    for (i = 0; i < N_PARTS; i++)
        if (strlen(parts[i].name) == n && memcmp(parts[i].name, name, n) == 0) return &parts[i];
    return NULL;
}

/* -- Files ---------------------------------------------------------------------------------------------- */

static int read_all(const char *path, text *t) {
    char   buf[4096];
    size_t got;
    FILE  *f = fopen(path, "rb");
    if (!f) return 0;
    while ((got = fread(buf, 1, sizeof buf, f)) > 0) put_n(t, buf, got);
    fclose(f);
    return 1;
}

static int write_all(const char *path, const text *t) {
    FILE *f = fopen(path, "wb");
    int   ok = f && fwrite(t->at, 1, t->n, f) == t->n;
    return f && fclose(f) == 0 && ok;
}

static int fill(const char *path, const text *in, text *out) {
    static const char begin[] = "<!-- BEGIN ", end[] = "<!-- END ", close[] = " -->";
    const char *at = in->at, *mark, *name, *tail;
    part       *p;
    while ((mark = strstr(at, begin)) != NULL) {
        name = mark + sizeof begin - 1;
        if (strncmp(name, "tests/", 6) == 0) { /* a file's text: blocks.sh fills it */
            put_n(out, at, (size_t)(name - at));
            at = name;
            continue;
        }
        tail = strstr(name, close);
        p = tail ? part_named(name, (size_t)(tail - name)) : NULL;
        if (!p) {
            fprintf(stderr, "%s: no part '%.30s'\n", path, name);
            return 0;
        }
        p->seen = 1;
        tail += sizeof close - 1;
        put_n(out, at, (size_t)(tail - at));
        put(out, "\n");
        p->print(out);
        at = strstr(tail, end);
        if (!at || strncmp(at + sizeof end - 1, p->name, strlen(p->name)) != 0) {
            fprintf(stderr, "%s: part '%s' is not closed\n", path, p->name);
            return 0;
        }
    }
    put(out, at);
    return 1;
}

int main(int argc, char **argv) {
    int    check = argc > 1 && strcmp(argv[1], "--check") == 0, i, stale = 0;
    size_t k;
    for (i = 1 + check; i < argc; i++) {
        text in = {NULL, 0, 0}, out = {NULL, 0, 0};
        put(&in, "");
        put(&out, "");
        if (!read_all(argv[i], &in)) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 2;
        }
        if (!fill(argv[i], &in, &out)) return 2;
        if (in.n != out.n || memcmp(in.at, out.at, in.n) != 0) {
            if (check) {
                fprintf(stderr, "%s is not what tmetal.h says: run 'make docs'\n", argv[i]);
                stale = 1;
            } else if (!write_all(argv[i], &out)) {
                fprintf(stderr, "%s: cannot be written\n", argv[i]);
                return 2;
            }
        }
        free(in.at);
        free(out.at);
    }
    for (k = 0; k < N_PARTS; k++)
        if (!parts[k].seen) {
            fprintf(stderr, "fill: no file has the part '%s'\n", parts[k].name);
            stale = 1;
        }
    return stale;
}
