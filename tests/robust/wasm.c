/* What tmetal gives for a text, as WebAssembly without a C library. Driven by wasm.mjs.
 *
 *   clang --target=wasm32 -ffreestanding -nostdlib -Wl,--no-entry -DTMETAL_NO_SETJMP
 *         -D'TMETAL_ABORT(code)=__builtin_trap()' wasm.c freestanding/library.c outcome.c header.c */
#include "outcome.h"

#define EXPORT(name) __attribute__((export_name(#name), visibility("default"))) name

extern unsigned char __heap_base; /* of the linker: where free memory begins */

/* The place of `bytes` free bytes, always the same one; 0: the host has no more. */
uint32_t EXPORT(reserve)(uint32_t bytes);
uint32_t EXPORT(reserve)(uint32_t bytes) {
    uint32_t base = ((uint32_t)&__heap_base + 15u) & ~15u;
    uint32_t have = (uint32_t)__builtin_wasm_memory_size(0) << 16;
    if (base + bytes > have && __builtin_wasm_memory_grow(0, (base + bytes - have + 65535u) >> 16) == (size_t)-1) return 0;
    return base;
}

uint32_t EXPORT(bound)(uint32_t len);
uint32_t EXPORT(bound)(uint32_t len) {
    return (uint32_t)tmetal_arena_bound(len);
}

/* The text stands at `at`, the arena follows it. */
static outcome last;
uint64_t EXPORT(hash)(uint32_t at, uint32_t len, uint32_t bytes, uint32_t mode);
uint64_t EXPORT(hash)(uint32_t at, uint32_t len, uint32_t bytes, uint32_t mode) {
    last = outcome_of((const char *)at, len, (int)mode, (char *)at + len, bytes, 0);
    return last.hash;
}
uint32_t EXPORT(code)(void);
uint32_t EXPORT(code)(void) {
    return (uint32_t)last.code;
}

uint32_t EXPORT(own_mode)(uint32_t at, uint32_t len);
uint32_t EXPORT(own_mode)(uint32_t at, uint32_t len) {
    return (uint32_t)outcome_own_mode((const char *)at, len);
}

/* tmetal_key of the text at `at`: where its 64 digits stand. */
static char key_text[TMETAL_KEY_BYTES];
uint32_t EXPORT(key)(uint32_t at, uint32_t len);
uint32_t EXPORT(key)(uint32_t at, uint32_t len) {
    outcome_key((const char *)at, len, key_text);
    return (uint32_t)key_text;
}
