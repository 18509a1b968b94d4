/* What run.cc puts behind launch code: one function that makes buffers, launches, and gives back what they hold. */
#ifndef HOSTS_CALL_H
#define HOSTS_CALL_H

#include <stddef.h>
#include <stdint.h>

typedef struct hosts_call {
    size_t          n;           /* buffers */
    const size_t   *sizes;
    uint8_t *const *bytes;       /* what they hold, before and after */
    const uint8_t (*numbers)[8]; /* by parameter */
    const uint32_t *programs;
    char           *error;       /* room for 4000 */
} hosts_call;

#define HOSTS_MOST 64
static const uint32_t hosts_none[3] = {0, 1, 1}, hosts_many[3] = {0xffffffff, 0xffffffff, 1};
#define HOSTS_NUMBER(type, i) (*(const type *)(const void *)c->numbers[i])

#ifdef __cplusplus
#    define HOSTS_PROGRAMS *reinterpret_cast<const uint32_t(*)[3]>(c->programs)
#    define HOSTS_CALL(NAME, LAUNCH)                                                              \
        extern "C" int hosts_run(const hosts_call *c);                                            \
        extern "C" int hosts_run(const hosts_call *c) {                                           \
            NAME##_gpu                 gpu;                                                       \
            NS::SharedPtr<MTL::Buffer> held[HOSTS_MOST];                                          \
            MTL::Buffer               *b[HOSTS_MOST];                                             \
            bool                       good = gpu.open();                                         \
            for (size_t i = 0; good && i < c->n; i++) {                                           \
                held[i] = NS::TransferPtr(gpu.device->newBuffer(c->sizes[i] ? c->sizes[i] : 4, 0)); \
                b[i] = held[i].get();                                                             \
                if (b[i]) std::memcpy(b[i]->contents(), c->bytes[i], c->sizes[i]);                \
            }                                                                                     \
            good = good && (LAUNCH);                                                              \
            for (size_t i = 0; i < c->n; i++)                                                     \
                if (held[i]) std::memcpy(c->bytes[i], b[i]->contents(), c->sizes[i]);             \
            (void)hosts_none, (void)hosts_many;                                                   \
            std::strcpy(c->error, good ? "" : gpu.error.c_str());                                 \
            return good;                                                                          \
        }
#else
#    define HOSTS_PROGRAMS c->programs
#    define HOSTS_CALL(NAME, LAUNCH)                                                              \
        int hosts_run(const hosts_call *c);                                                       \
        int hosts_run(const hosts_call *c) {                                                      \
            NAME##_gpu gpu;                                                                       \
            id         b[HOSTS_MOST] = {0};                                                       \
            void      *at[HOSTS_MOST];                                                            \
            size_t     i;                                                                         \
            bool       good = NAME##_open(&gpu, NULL);                                            \
            for (i = 0; good && i < c->n; i++) {                                                  \
                b[i] = NAME##_buffer(&gpu, c->sizes[i], &at[i]);                                  \
                if (b[i]) memcpy(at[i], c->bytes[i], c->sizes[i]);                                \
            }                                                                                     \
            good = good && (LAUNCH);                                                              \
            for (i = 0; i < c->n; i++)                                                            \
                if (b[i]) {                                                                       \
                    memcpy(c->bytes[i], at[i], c->sizes[i]);                                      \
                    NAME##_release(b[i]);                                                         \
                }                                                                                 \
            NAME##_close(&gpu);                                                                   \
            (void)hosts_none, (void)hosts_many;                                                   \
            if (good) *c->error = 0;                                                              \
            else memcpy(c->error, gpu.error, sizeof gpu.error);                                   \
            return good;                                                                          \
        }
#endif

#endif
