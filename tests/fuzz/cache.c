/* Files of the cache on disk: as they come, and with a head that is right. A first byte that is odd asks for that. What is
 * read is written and read again. A head that is right is trusted: docs/security.md. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const more[] = {"tmetal\r\n", "apple-m1", "kernel void", "f32", NULL};
const fuzz_about fuzz_target = {"cache", NULL, more};

static char dir[] = "/tmp/tmetal-fuzz-XXXXXX";

static void leave(void) {
    if (chdir(dir) == 0 && system("rm -f ./*.tmetal ./*.tmp") == 0 && chdir("/") == 0) (void)rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", other[] = "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    static int     is_open;
    unsigned char  head[FUZZ_CACHE_HEAD];
    char           path[200];
    tmetal_cache   cache;
    tmetal_arena   arena;
    tmetal_result  r, again;
    tmetal_problem problem;
    FILE          *f;
    fuzz_begin();
    if (!is_open && (is_open = mkdtemp(dir) != NULL)) atexit(leave);
    memset(&cache, 0, sizeof cache);
    cache.dir = dir;
    snprintf(path, sizeof path, "%s/%s.tmetal", dir, key);
    if (!size || (f = fopen(path, "wb")) == NULL) return 0;
    fuzz_cache_head(head, key, data + 1, size - 1);
    if (data[0] & 1) fwrite(head, 1, sizeof head, f);
    fwrite(data + 1, 1, size - 1, f);
    fclose(f);
    arena = fuzz_arena((size_t)1 << 20);
    if (!tmetal_cache_find(&cache, key, &arena, &r)) {
        if (arena.used > 2 * fuzz_gap() && !arena.need) fuzz_fail("nothing is found, and memory stays taken", NULL);
        return 0;
    }
    if (tmetal_cache_store(&cache, other, &r, &arena, &problem) == TMETAL_OK && !tmetal_cache_find(&cache, other, &arena, &again) && !arena.need)
        fuzz_fail("what was stored is not found", NULL);
    return 0;
}
