/* The header as the targets see it: every part of it, assertions on, the arena closed to all but what was taken from it
 * (under the address sanitizer, with a gap behind each allocation), and a few private functions opened. */
#if defined(__SANITIZE_ADDRESS__)
#    define FUZZ_ASAN
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define FUZZ_ASAN
#    endif
#endif
#ifdef FUZZ_ASAN
#    include <sanitizer/asan_interface.h>
#    define TMI_GAP 16u
#    define TMI_CLOSE(p, n) __asan_poison_memory_region((p), (n))
#    define TMI_OPEN(p, n)  __asan_unpoison_memory_region((p), (n))
#endif
#define TMETAL_IMPLEMENTATION
#include "fuzz.h"

size_t fuzz_gap(void) { return TMI_GAP; }

void fuzz_close(void *p, size_t n) {
    (void)p, (void)n;
    TMI_CLOSE(p, n);
}

const char *fuzz_list_word(size_t i) {
    static const char *const words[] = {
#define X(id, name, ...) name,
        TMI_LIST_OPS(X)
#undef X
    };
    return i < sizeof words / sizeof *words ? words[i] : NULL;
}

const char *fuzz_python_word(size_t i) { return i < TMI_TL_ROWS ? tmi_tl_rows[i].name : NULL; }

void fuzz_tune_sum(const char *line, size_t n, char sum[17]) { tmi_tune_sum_text(line, n, sum); }

void fuzz_tune_build(char build[17]) { tmi_tune_own_build(build); }

TMI_STATIC_ASSERT(head_fits, FUZZ_CACHE_HEAD == TMI_CACHE_HEAD);

/* Bytes as a file of the cache has them, with a right head. */
void fuzz_cache_head(unsigned char head[FUZZ_CACHE_HEAD], const char *key, const void *bytes, size_t n) {
    tmi_cache_head(head, key, TMI_CACHE_RESULT, bytes, n);
}

/* The program of tests/triton that wants the same header: build/syntax-san. */
int syntax_main(int argc, char **argv);
#define main syntax_main
#include "../triton/syntax.c"
#undef main
