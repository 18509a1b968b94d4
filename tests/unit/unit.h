/* What the suites share. A suite that looks at tmi_ names defines TMETAL_IMPLEMENTATION before this; any other
 * is linked with the header built once. */
#ifndef TMETAL_TESTS_UNIT_H
#define TMETAL_TESTS_UNIT_H

#include "tmetal.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)64 << 20)

static char *unit_memory; /* three arenas' worth */

static tmetal_arena arena_at(int i) { return tmetal_arena_on(unit_memory + (size_t)i * ROOM, ROOM); }

static void unit_begin(void) { ck_assert_ptr_nonnull(unit_memory = (char *)malloc(3 * ROOM)); }
static void unit_end(void) { free(unit_memory); }

static char *slurp(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    char *s = (char *)malloc((size_t)1 << 20);
    ck_assert_msg(f && s, "%s cannot be read", path);
    *len = fread(s, 1, (size_t)1 << 20, f);
    fclose(f);
    return s;
}

static void same_text(const char *what, const char *a, const char *b) {
    size_t i = 0, line = 1, start = 0;
    while (a[i] && a[i] == b[i]) {
        if (a[i] == '\n') line++, start = i + 1;
        i++;
    }
    ck_assert_msg(a[i] == b[i], "%s differ at line %lu:\n  %.*s\n  %.*s", what, (unsigned long)line, (int)strcspn(a + start, "\n"), a + start, (int)strcspn(b + start, "\n"), b + start);
}

static void says_ok(tmetal_code code, const tmetal_result *r) {
    ck_assert_msg(code == TMETAL_OK, "TM%d: %s", (int)code, r->n_diags ? r->diags[0].message : "no diagnostic");
}

/* Options that ask for all that explains. */
static const tmetal_options *asking(void) {
    static tmetal_options opt;
    opt.reports = 1;
    return &opt;
}

static int run_suite(Suite *s) {
    SRunner *runner = srunner_create(s);
    int      failed;
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
