/* parse(print(x)) is x: every file given is read, printed and read again; both modules must say the same,
 * and printing the second must give the same text.
 *
 *   roundtrip FILE.ttir...      or FILE names on standard input, one a line */
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *memory;
static const size_t room = (size_t)1 << 30;

static int fails(const char *path, const char *what, const tmetal_result *r) {
    printf("%s: %s%s%s\n", path, what, r && r->n_diags ? ": " : "", r && r->n_diags ? r->diags[0].message : "");
    return 0;
}

static int comes_back(const char *path) {
    static char    text[16 << 20];
    FILE          *f = fopen(path, "rb");
    size_t         len = f ? fread(text, 1, sizeof text, f) : 0, n, n2;
    tmetal_arena   arena = tmetal_arena_on(memory, room);
    tmetal_module *a, *b;
    tmetal_result  r;
    const char    *first, *second;
    if (!f) return fails(path, "cannot be read", NULL);
    fclose(f);
    if (tmetal_parse(text, len, NULL, &arena, &a, &r) != TMETAL_OK) return fails(path, "does not parse", &r);
    if (tmetal_print(a, &arena, &first, &n, &r) != TMETAL_OK) return fails(path, "does not print", &r);
    if (tmetal_parse(first, n, NULL, &arena, &b, &r) != TMETAL_OK) return fails(path, "what was printed does not parse", &r);
    if (!tmetal_same(a, b, &arena)) return fails(path, "reads back as another module", NULL);
    if (tmetal_print(b, &arena, &second, &n2, &r) != TMETAL_OK || n != n2 || memcmp(first, second, n) != 0) return fails(path, "prints otherwise the second time", &r);
    return 1;
}

int main(int argc, char **argv) {
    char line[4096];
    int  i, files = 0, good = 0;
    memory = (char *)malloc(room);
    if (!memory) return 2;
    for (i = 1; i < argc; i++, files++) good += comes_back(argv[i]);
    while (argc < 2 && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        good += comes_back(line);
        files++;
    }
    printf("roundtrip: %d of %d files come back as they were\n", good, files);
    free(memory);
    return good == files && files ? 0 : 1;
}
