/* As much of Metal, in Objective-C, as launch code uses, by its public documentation: for building without an SDK.
 * What a system below macOS 15 and iOS 18 does not have is marked, so that its use unguarded is a warning. */
#ifndef TESTS_METAL_H
#define TESTS_METAL_H
#import <Foundation/Foundation.h>

typedef struct MTLSize {
    NSUInteger width, height, depth;
} MTLSize;
static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
    MTLSize size = {width, height, depth};
    return size;
}
typedef enum MTLResourceOptions : NSUInteger { MTLResourceStorageModeShared = 0, MTLResourceStorageModePrivate = 32 } MTLResourceOptions;
typedef enum MTLResourceUsage : NSUInteger { MTLResourceUsageRead = 1, MTLResourceUsageWrite = 2 } MTLResourceUsage;
typedef enum MTLBarrierScope : NSUInteger { MTLBarrierScopeBuffers = 1 } MTLBarrierScope;
typedef enum MTLCommandBufferStatus : NSUInteger { MTLCommandBufferStatusCompleted = 4, MTLCommandBufferStatusError = 5 } MTLCommandBufferStatus;
typedef enum MTLLanguageVersion : NSUInteger {
    MTLLanguageVersion3_0 = 0x30000,
    MTLLanguageVersion3_1 __attribute__((availability(macos, introduced = 14.0), availability(ios, introduced = 17.0))) = 0x30001,
    MTLLanguageVersion3_2 __attribute__((availability(macos, introduced = 15.0), availability(ios, introduced = 18.0))) = 0x30002,
    MTLLanguageVersion4_0 __attribute__((availability(macos, introduced = 26.0), availability(ios, introduced = 26.0))) = 0x40000
} MTLLanguageVersion;
typedef enum MTLMathMode : NSInteger { MTLMathModeSafe = 0, MTLMathModeRelaxed = 1, MTLMathModeFast = 2 } MTLMathMode
    __attribute__((availability(macos, introduced = 15.0), availability(ios, introduced = 18.0)));

typedef enum MTLMathFloatingPointFunctions : NSInteger {
    MTLMathFloatingPointFunctionsFast = 0,
    MTLMathFloatingPointFunctionsPrecise = 1
} MTLMathFloatingPointFunctions __attribute__((availability(macos, introduced = 15.0), availability(ios, introduced = 18.0)));
typedef enum MTLGPUFamily : NSInteger { MTLGPUFamilyApple7 = 1007 } MTLGPUFamily;

@interface MTLCompileOptions : NSObject
@property MTLLanguageVersion languageVersion;
@property MTLMathMode        mathMode __attribute__((availability(macos, introduced = 15.0), availability(ios, introduced = 18.0)));
@property MTLMathFloatingPointFunctions mathFloatingPointFunctions
    __attribute__((availability(macos, introduced = 15.0), availability(ios, introduced = 18.0)));
@property BOOL               fastMathEnabled
    __attribute__((availability(macos, introduced = 10.11, deprecated = 15.0), availability(ios, introduced = 8.0, deprecated = 18.0)));
@end

@protocol MTLDevice;
@protocol MTLResource <NSObject>
@property(copy) NSString *label;
@end
@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
@property(readonly) uint64_t   gpuAddress;
- (void *)contents NS_RETURNS_INNER_POINTER;
@end
@protocol MTLFunction <NSObject>
@property(readonly) NSString *name;
@end
@protocol MTLLibrary <NSObject>
@property(readonly) NSArray<NSString *> *functionNames;
- (id<MTLFunction>)newFunctionWithName:(NSString *)name;
@end
@protocol MTLComputePipelineState <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSUInteger    maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger    threadExecutionWidth;
@property(readonly) NSUInteger    staticThreadgroupMemoryLength;
@end

@protocol MTLComputeCommandEncoder <NSObject>
@property(copy) NSString *label;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
- (void)dispatchThreadgroups:(MTLSize)threadgroups threadsPerThreadgroup:(MTLSize)threads;
- (void)endEncoding;
@end
@protocol MTLCommandBuffer;
typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer> buffer);
@protocol MTLCommandBuffer <NSObject>
@property(readonly) MTLCommandBufferStatus status;
@property(readonly) NSError               *error;
@property(readonly) double                 GPUStartTime, GPUEndTime;
@property(copy) NSString                  *label;
- (id<MTLComputeCommandEncoder>)computeCommandEncoder;
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler;
- (void)commit;
- (void)waitUntilCompleted;
@end
@protocol MTLCommandQueue <NSObject>
@property(readonly) id<MTLDevice> device;
- (id<MTLCommandBuffer>)commandBuffer;
@end

@protocol MTLDevice <NSObject>
@property(readonly) NSString  *name;
@property(readonly) NSUInteger maxBufferLength, maxThreadgroupMemoryLength;
- (BOOL)supportsFamily:(MTLGPUFamily)family;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytes:(const void *)bytes length:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error;
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError **)error;
@end
id<MTLDevice> MTLCreateSystemDefaultDevice(void) __attribute__((ns_returns_retained));
#endif
