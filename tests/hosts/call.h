/* What run.cc puts behind launch code: one function that makes buffers, launches, and gives back what they hold. The names
 * are those of C and C++ launch code, whose file is called NAME. */
#ifndef HOSTS_CALL_H
#define HOSTS_CALL_H

#include <stddef.h>
#include <stdint.h>

typedef struct hosts_call {
    size_t               n;       /* buffers */
    const size_t        *sizes;
    uint8_t *const      *bytes;   /* what they hold, before and after */
    const uint8_t (*numbers)[8];  /* by parameter */
    const uint32_t      *programs;
    char                *error;   /* room for 2000 */
} hosts_call;

#define HOSTS_MOST 64
#define HOSTS_CALL(NAME, BUFFER, LAUNCH)                                                          \
    int hosts_run(const hosts_call *c);                                                           \
    int hosts_run(const hosts_call *c) {                                                          \
        NAME##_gpu gpu;                                                                           \
        BUFFER     b[HOSTS_MOST];                                                                 \
        void      *at[HOSTS_MOST];                                                                \
        size_t     i;                                                                             \
        int        good = NAME##_open(&gpu);                                                      \
        for (i = 0; good && i < c->n; i++) {                                                      \
            b[i] = NAME##_buffer(&gpu, c->sizes[i], &at[i]);                                      \
            memcpy(at[i], c->bytes[i], c->sizes[i]);                                              \
        }                                                                                         \
        if (good) {                                                                               \
            good = LAUNCH;                                                                        \
            for (i = 0; i < c->n; i++) {                                                          \
                memcpy(c->bytes[i], at[i], c->sizes[i]);                                          \
                NAME##_release(b[i]);                                                             \
            }                                                                                     \
        }                                                                                         \
        NAME##_close(&gpu);                                                                       \
        strcpy(c->error, good ? "" : gpu.error);                                                  \
        return good;                                                                              \
    }
#define HOSTS_NUMBER(type, i) (*(const type *)(const void *)c->numbers[i])

#endif
