/* A build with parts left out: what it makes of each file, one line each, to be compared with other builds.
 *
 *     parts FILE...
 *     parts --names     of the functions that emitted text may call
 *
 * A line is the file's name, the first code, and a hash of Metal and plan or the first message. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long hash(unsigned long h, const char *s) {
    for (; s && *s; s++) h = (h * 31 + (unsigned char)*s) & 0xffffffffu;
    return h;
}

static int one(const char *name) {
    static char     text[1 << 20];
    const size_t    room = (size_t)256 << 20;
    FILE           *f = fopen(name, "rb");
    size_t          len = f ? fread(text, 1, sizeof text, f) : 0;
    void           *memory = malloc(room);
    tmetal_arena    arena = tmetal_arena_on(memory, room);
    tmetal_options  opt;
    tmetal_result   r;
    if (!f || !memory) return 0;
    fclose(f);
    memset(&opt, 0, sizeof opt);
    opt.reports = getenv("REPORTS") != NULL;
    (void)tmetal_compile(text, len, &opt, &arena, &r);
    if (r.code == TMETAL_OK) printf("%s 0 %08lx\n", name, hash(hash(7, r.msl), tmetal_plan_json(&r, &arena)));
    else printf("%s %d %s\n", name, (int)r.code, r.diags[0].message);
    free(memory);
    return 1;
}

/* Names that no value may have, lest a function of ours cannot be called: the same in every build. */
static int print_names(void) {
    uint32_t i;
    for (i = 0; i < TMI_FN_COUNT; i++) printf("%s ", tmi_fns[i].name);
    return 0;
}

int main(int argc, char **argv) {
    int i;
    if (argc == 2 && strcmp(argv[1], "--names") == 0) return print_names();
    for (i = 1; i < argc; i++)
        if (!one(argv[i])) return 1;
    return 0;
}
