/* In an Objective-C app: Triton IR compiled at run time, launched into the app's own command buffer.
 *
 *     clang -fobjc-arc -I. -framework Foundation -framework Metal examples/app.m -o app
 *     ./app examples/kernels/vector_add.ttir
 *
 * The app keeps what it has: device, queue, buffers, command buffer. tmetal compiles, checks the arguments and
 * encodes. The tests build this for macOS and iOS against declarations of our own; it has not run on a device. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_METAL
#include "tmetal.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

enum { N = 1000 };

static int failed(const tmetal_problem *problem) {
    NSLog(@"TM%d: %s", (int)problem->code, problem->text);
    return 1;
}

/* x + y into out, behind what the app has encoded into `commands` already. */
static tmetal_code encode(tmetal_metal *metal, tmetal_launch *launch, id<MTLCommandBuffer> commands,
                          const id<MTLBuffer> __strong buffers[3], tmetal_problem *problem) {
    static const uint32_t programs[3] = {(N + 255) / 256, 1, 1};
    tmetal_launch_options options;
    tmetal_buffer         adopted[3];
    tmetal_launch_arg     args[4];
    tmetal_code           code = TMETAL_OK;
    memset(&options, 0, sizeof options);
    memset(adopted, 0, sizeof adopted);
    options.command_buffer = (__bridge void *)commands;
    for (int i = 0; i < 3 && code == TMETAL_OK; i++) {
        code = tmetal_buffer_adopt(metal, (__bridge void *)buffers[i], &adopted[i], problem);
        args[i] = tmetal_arg_buffer(&adopted[i], 0);
    }
    args[3] = tmetal_arg_int(N);
    if (code == TMETAL_OK) code = tmetal_launch_start(launch, args, 4, programs, &options, problem);
    for (int i = 0; i < 3; i++) tmetal_buffer_free(metal, &adopted[i]); /* the command buffer holds them itself */
    return code;
}

int main(int argc, char **argv) {
    @autoreleasepool {
        NSString *path = [NSString stringWithUTF8String:argc > 1 ? argv[1] : "examples/kernels/vector_add.ttir"];
        NSData   *text = [NSData dataWithContentsOfFile:path];
        if (!text) return NSLog(@"%@ cannot be read", path), 1;

        /* memory for the compiler and what it makes; it must stay for as long as the kernel is used */
        NSMutableData *memory = [NSMutableData dataWithLength:tmetal_arena_bound(text.length) + 65536];
        tmetal_arena   arena = tmetal_arena_on(memory.mutableBytes, memory.length);
        tmetal_result  result;
        if (tmetal_compile((const char *)text.bytes, text.length, NULL, &arena, &result) != TMETAL_OK)
            return NSLog(@"%s", tmetal_diag_text(&result.diags[0], &arena)), 1;

        /* what an app has */
        id<MTLDevice>       device = MTLCreateSystemDefaultDevice();
        id<MTLCommandQueue> queue = [device newCommandQueue];
        id<MTLBuffer>       buffers[3];
        if (!queue) return NSLog(@"there is no Metal device"), 1;
        for (int i = 0; i < 3; i++) {
            buffers[i] = [device newBufferWithLength:N * sizeof(float) options:MTLResourceStorageModeShared];
            if (!buffers[i]) return NSLog(@"there is no memory for a buffer"), 1;
        }
        for (int i = 0; i < N; i++) {
            ((float *)buffers[0].contents)[i] = (float)i;
            ((float *)buffers[1].contents)[i] = 0.5f;
        }

        /* the kernel on that device, once */
        tmetal_metal_options options;
        tmetal_metal        *metal;
        tmetal_loaded       *loaded;
        tmetal_launch       *launch;
        tmetal_problem       problem;
        memset(&options, 0, sizeof options);
        options.object = (__bridge void *)device;
        if (tmetal_metal_open(&options, &arena, &metal, &problem) != TMETAL_OK ||
            tmetal_load(metal, &result, &arena, &loaded, NULL, &problem) != TMETAL_OK ||
            tmetal_launch_make(loaded, &arena, &launch, &problem) != TMETAL_OK)
            return failed(&problem);

        /* and each frame */
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        if (encode(metal, launch, commands, buffers, &problem) != TMETAL_OK) return failed(&problem);
        [commands commit];
        [commands waitUntilCompleted];
        if (commands.status != MTLCommandBufferStatusCompleted) return NSLog(@"%@", commands.error), 1;

        int right = 0;
        for (int i = 0; i < N; i++) right += ((float *)buffers[2].contents)[i] == (float)i + 0.5f;
        NSLog(@"%d of %d sums are right", right, N);
        tmetal_launch_free(launch);
        tmetal_unload(loaded);
        tmetal_metal_close(metal);
        return right != N;
    }
}
