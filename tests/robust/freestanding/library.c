/* What a compiler and tmetal.h want of libraries, for compilations without any. */
#include <stdint.h>
#include <string.h>

/* -- What a compiler's own library promises ------------------------------------------------------------------ */

/* The product of 128 bits, which clang asks for where it sees a multiplication tested for overflow. */
__int128 __multi3(__int128 a, __int128 b);
__int128 __multi3(__int128 a, __int128 b) {
    const uint64_t x = (uint64_t)a, y = (uint64_t)b, x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    const uint64_t cross = x0 * y1, other = x1 * y0, mid = (x0 * y0 >> 32) + (uint32_t)cross + (uint32_t)other;
    const uint64_t high = x1 * y1 + (cross >> 32) + (other >> 32) + (mid >> 32) + (uint64_t)(a >> 64) * y + x * (uint64_t)(b >> 64);
    return (__int128)((unsigned __int128)high << 64 | (mid << 32 | (uint32_t)(x0 * y0)));
}

/* -- What <string.h> promises ------------------------------------------------------------------------------ */

void *memcpy(void *to, const void *from, size_t n) {
    return __builtin_memmove(to, from, n);
}
void *memmove(void *to, const void *from, size_t n) {
    unsigned char       *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    if (t < f)
        while (n--) *t++ = *f++;
    else
        while (n--) t[n] = f[n];
    return to;
}
void *memset(void *to, int byte, size_t n) {
    unsigned char *t = (unsigned char *)to;
    while (n--) *t++ = (unsigned char)byte;
    return to;
}
int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    for (; n; n--, x++, y++)
        if (*x != *y) return *x < *y ? -1 : 1;
    return 0;
}
void *memchr(const void *p, int byte, size_t n) {
    const unsigned char *s = (const unsigned char *)p;
    for (; n; n--, s++)
        if (*s == (unsigned char)byte) return (void *)(size_t)s;
    return NULL;
}
size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n]) n++;
    return n;
}
int strcmp(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}
int strncmp(const char *a, const char *b, size_t n) {
    for (; n && *a && *a == *b; n--) a++, b++;
    return n ? (unsigned char)*a - (unsigned char)*b : 0;
}
char *strchr(const char *s, int c) {
    for (; *s != (char)c; s++)
        if (!*s) return NULL;
    return (char *)(size_t)s;
}
char *strrchr(const char *s, int c) {
    const char *found = NULL;
    do
        if (*s == (char)c) found = s;
    while (*s++);
    return (char *)(size_t)found;
}
char *strstr(const char *s, const char *part) {
    size_t n = strlen(part);
    for (; strncmp(s, part, n) != 0; s++)
        if (!*s) return NULL;
    return (char *)(size_t)s;
}
size_t strspn(const char *s, const char *set) {
    size_t n = 0;
    while (s[n] && strchr(set, s[n])) n++;
    return n;
}
size_t strcspn(const char *s, const char *set) {
    size_t n = 0;
    while (s[n] && !strchr(set, s[n])) n++;
    return n;
}
