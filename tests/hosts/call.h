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

#ifndef HOSTS_STRUCT_ONLY
/* HOSTS_ENCODE: loaded in the background, and encoded twice into one encoder that the caller has. */
#ifdef __cplusplus
static MTL::CommandBuffer         *hosts_commands;
static MTL::ComputeCommandEncoder *hosts_encoder;
static NS::SharedPtr<NS::AutoreleasePool> hosts_pool;
static bool                               hosts_good;
#    define HOSTS_BEGIN                                                                           \
        (hosts_pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init()),                      \
         hosts_commands = gpu.queue->commandBuffer(),                                             \
         hosts_encoder = hosts_commands->computeCommandEncoder(), hosts_encoder != nullptr)
#    define HOSTS_END(ok)                                                                         \
        (hosts_good = (ok), hosts_encoder->endEncoding(), hosts_commands->commit(),               \
         hosts_commands->waitUntilCompleted(),                                                    \
         hosts_good = hosts_good && hosts_commands->status() == MTL::CommandBufferStatusCompleted, \
         hosts_pool = NS::SharedPtr<NS::AutoreleasePool>(), hosts_good)
#    ifdef HOSTS_ENCODE
#        define HOSTS_OPEN(NAME) gpu.open_async().get()
#    else
#        define HOSTS_OPEN(NAME) gpu.open()
#    endif
#else
#    define HOSTS_BEGIN                                                                           \
        (hosts_pool = objc_autoreleasePoolPush(), hosts_commands = GET(id, gpu.queue, "commandBuffer"), \
         hosts_encoder = GET(id, hosts_commands, "computeCommandEncoder"), hosts_encoder != NULL)
#    define HOSTS_END(ok)                                                                         \
        (hosts_good = (ok), GET(void, hosts_encoder, "endEncoding"),                              \
         GET(void, hosts_commands, "commit"), GET(void, hosts_commands, "waitUntilCompleted"),    \
         hosts_good = hosts_good && GET(NSUInteger, hosts_commands, "status") == 4,               \
         objc_autoreleasePoolPop(hosts_pool), hosts_good)
#    ifdef HOSTS_ENCODE
static id   hosts_commands, hosts_encoder, hosts_pool;
static bool hosts_good;
#        define HOSTS_OPEN(NAME) (NAME##_open_async(&gpu, NULL, hosts_done, &hosts_good), hosts_good)
#        define HOSTS_DONE(NAME)                                                                  \
            static void hosts_done(NAME##_gpu *gpu, bool good, void *user) {                      \
                *(bool *)user = good && gpu->queue;                                               \
            }
#    else
#        define HOSTS_OPEN(NAME) NAME##_open(&gpu, NULL)
#        define HOSTS_DONE(NAME)
#    endif
#endif
#endif
#ifdef __cplusplus
#    define HOSTS_PROGRAMS *reinterpret_cast<const uint32_t(*)[3]>(c->programs)
#    define HOSTS_CALL(NAME, LAUNCH)                                                              \
        extern "C" int hosts_run(const hosts_call *c);                                            \
        extern "C" int hosts_run(const hosts_call *c) {                                           \
            NAME##_gpu                 gpu;                                                       \
            NS::SharedPtr<MTL::Buffer> held[HOSTS_MOST];                                          \
            MTL::Buffer               *b[HOSTS_MOST];                                             \
            bool                       good = HOSTS_OPEN(NAME);                                   \
            for (size_t i = 0; good && i < c->n; i++) {                                           \
                held[i] = NS::TransferPtr(gpu.device->newBuffer(c->sizes[i] ? c->sizes[i] : 4, 0)); \
                b[i] = held[i].get();                                                             \
                if (b[i]) std::memcpy(b[i]->contents(), c->bytes[i], c->sizes[i]);                \
            }                                                                                     \
            good = good && (LAUNCH);                                                              \
            for (size_t i = 0; i < c->n; i++)                                                     \
                if (held[i]) std::memcpy(c->bytes[i], b[i]->contents(), c->sizes[i]);             \
            (void)hosts_none, (void)hosts_many, (void)hosts_commands, (void)hosts_encoder;        \
            (void)hosts_good;                                                                     \
            std::strcpy(c->error, good ? "" : gpu.error.c_str());                                 \
            return good;                                                                          \
        }
#else
#    define HOSTS_PROGRAMS c->programs
#    define HOSTS_CALL(NAME, LAUNCH)                                                              \
        HOSTS_DONE(NAME)                                                                          \
        int hosts_run(const hosts_call *c);                                                       \
        int hosts_run(const hosts_call *c) {                                                      \
            NAME##_gpu gpu;                                                                       \
            id         b[HOSTS_MOST] = {0};                                                       \
            void      *at[HOSTS_MOST];                                                            \
            size_t     i;                                                                         \
            bool       good = HOSTS_OPEN(NAME);                                                   \
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
