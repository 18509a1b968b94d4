/* Fused layer norm and attention: from the kernels that people write, and from op lists.
 *
 * Shows what tmetal finds in a kernel, by structure and not by name, what Apple's libraries call the same
 * computation, and how ops around a norm or an attention end up in its kernel, so that what lies between
 * never goes to memory. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char           text[1 << 20];
static tmetal_options asking; /* for what was found */

/* A residual is added before the norm, the norm is scaled and shifted, and GELU stands behind: five ops. */
static const char norm_list[] =
    "{\"ops\":[\n"
    " {\"type\":\"add\",\"id\":\"r\",\"inputs\":[\"x\",\"residual\"],\"input_shapes\":[[64,512],[64,512]],\"dtype\":\"f16\"},\n"
    " {\"type\":\"layer_norm\",\"id\":\"n\",\"inputs\":[\"r\",\"w\",\"b\"],\"input_shapes\":[null,[512],[512]],\"dtype\":\"f16\"},\n"
    " {\"type\":\"gelu\",\"id\":\"y\",\"inputs\":[\"n\"]}]}\n";

/* The scores, 4 x 128 x 128 numbers, exist only on the chip. */
static const char attention_list[] =
    "{\"ops\":[\n"
    " {\"type\":\"attention\",\"id\":\"a\",\"inputs\":[\"q\",\"k\",\"v\"],\n"
    "  \"input_shapes\":[[4,128,64],[4,128,64],[4,128,64]],\"dtype\":\"f16\",\"args\":{\"causal\":true}},\n"
    " {\"type\":\"mul\",\"id\":\"y\",\"inputs\":[\"a\",\"gate\"],\"input_shapes\":[null,[4,128,64]],\"dtype\":\"f16\"}]}\n";

static void print_forms(uint32_t form) {
    uint32_t bit;
    for (bit = 1; bit && bit <= form; bit <<= 1)
        if (form & bit) printf(", %s", tmetal_form_name((tmetal_form)bit));
}

static void print_found(const tmetal_kernel *k) {
    uint32_t i;
    for (i = 0; i < k->n_patterns; i++) {
        const tmetal_pattern *p = &k->patterns[i];
        const tmetal_mapping *m = tmetal_pattern_mapping(p);
        if (p->kind == TMETAL_PATTERN_MULTIPLY_ADD) continue; /* many, and of little interest here */
        printf("  %s%s, %u ops", tmetal_pattern_name(p->kind), p->near_miss ? " almost" : "", p->n_ops);
        print_forms(p->form);
        if (p->reason[0]) printf("\n    %s", p->reason);
        printf("%s%s\n", m ? "\n    in MLX: " : "", m ? m->mlx : "");
    }
}

static int from_kernel(const char *name, tmetal_arena *arena) {
    FILE         *file = fopen(name, "rb");
    tmetal_result r;
    size_t        len;
    if (!file) {
        perror(name);
        return 0;
    }
    len = fread(text, 1, sizeof text, file);
    fclose(file);
    printf("== %s\n", name);
    if (tmetal_compile(text, len, &asking, arena, &r) == TMETAL_OK) print_found(&r.kernels[0]);
    else printf("%s", tmetal_diag_text(&r.diags[0], arena));
    arena->used = 0;
    return r.code == TMETAL_OK;
}

static int from_ops(const char *title, const char *list, tmetal_arena *arena) {
    tmetal_result r;
    uint32_t      i;
    printf("== %s, as an op list\n", title);
    if (tmetal_compile_ops(list, strlen(list), &asking, arena, &r) == TMETAL_OK) {
        printf("  %u inputs and results, %u buffers between kernels, %u kernel%s\n", r.n_params, r.n_scratch, r.n_kernels,
               r.n_kernels > 1 ? "s" : "");
        for (i = 0; i < r.n_kernels; i++) print_found(&r.kernels[i]);
    } else {
        printf("%s", tmetal_diag_text(&r.diags[0], arena));
    }
    arena->used = 0;
    return r.code == TMETAL_OK;
}

int main(void) {
    size_t       bytes = (size_t)64 << 20;
    tmetal_arena arena = tmetal_arena_on(malloc(bytes), bytes);
    int          fine;
    if (!arena.base) return 1;
    asking.reports = 1;
    fine = from_kernel("examples/kernels/layer_norm.ttir", &arena) && from_kernel("examples/kernels/attention.ttir", &arena) &&
           from_ops("add, layer norm, gelu", norm_list, &arena) && from_ops("causal attention and a gate", attention_list, &arena);
    free(arena.base);
    return fine ? 0 : 1;
}
