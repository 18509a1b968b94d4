/* As much of metal-cpp's Metal as launch code uses, by its published interface: see Foundation.hpp here. */
#ifndef TESTS_METAL_HPP
#define TESTS_METAL_HPP
#include <Foundation/Foundation.hpp>

namespace MTL {
struct Size {
    Size() = default;
    Size(NS::UInteger w, NS::UInteger h, NS::UInteger d) : width(w), height(h), depth(d) {}
    NS::UInteger width = 0, height = 0, depth = 0;
};
using ResourceOptions = NS::UInteger;
constexpr ResourceOptions ResourceStorageModeShared = 0;
using ResourceUsage = NS::UInteger;
constexpr ResourceUsage ResourceUsageRead = 1, ResourceUsageWrite = 2;
using BarrierScope = NS::UInteger;
constexpr BarrierScope BarrierScopeBuffers = 1;
enum CommandBufferStatus : NS::UInteger { CommandBufferStatusCompleted = 4, CommandBufferStatusError = 5 };
enum LanguageVersion : NS::UInteger { LanguageVersion3_0 = 0x30000, LanguageVersion3_1 = 0x30001, LanguageVersion3_2 = 0x30002, LanguageVersion4_0 = 0x40000 };
enum MathMode : NS::Integer { MathModeSafe = 0, MathModeRelaxed = 1, MathModeFast = 2 };
enum MathFloatingPointFunctions : NS::Integer { MathFloatingPointFunctionsFast = 0, MathFloatingPointFunctionsPrecise = 1 };
enum GPUFamily : NS::Integer { GPUFamilyApple7 = 1007 };

class CompileOptions : public NS::Referencing<CompileOptions> {
public:
    static CompileOptions *alloc() { return NS::send<CompileOptions *>(NS::class_named("MTLCompileOptions"), "alloc"); }
    CompileOptions        *init() { return NS::send<CompileOptions *>(this, "init"); }
    void setLanguageVersion(LanguageVersion v) { NS::send<void, NS::UInteger>(this, "setLanguageVersion:", v); }
    void setMathMode(MathMode m) { NS::send<void, NS::Integer>(this, "setMathMode:", m); }
    void setMathFloatingPointFunctions(MathFloatingPointFunctions f) {
        NS::send<void, NS::Integer>(this, "setMathFloatingPointFunctions:", f);
    }
    void setFastMathEnabled(bool on) { NS::send<void, signed char>(this, "setFastMathEnabled:", on); }
};
class Resource : public NS::Referencing<Resource> {};
class Buffer : public Resource {
public:
    void        *contents() { return NS::send<void *>(this, "contents"); }
    NS::UInteger length() const { return NS::send<NS::UInteger>(this, "length"); }
    uint64_t     gpuAddress() const { return NS::send<uint64_t>(this, "gpuAddress"); }
};
class Function : public NS::Referencing<Function> {};
class Library : public NS::Referencing<Library> {
public:
    Function *newFunction(const NS::String *name) { return NS::send<Function *>(this, "newFunctionWithName:", name); }
};
class ComputePipelineState : public NS::Referencing<ComputePipelineState> {
public:
    NS::UInteger maxTotalThreadsPerThreadgroup() const { return NS::send<NS::UInteger>(this, "maxTotalThreadsPerThreadgroup"); }
    NS::UInteger threadExecutionWidth() const { return NS::send<NS::UInteger>(this, "threadExecutionWidth"); }
    NS::UInteger staticThreadgroupMemoryLength() const { return NS::send<NS::UInteger>(this, "staticThreadgroupMemoryLength"); }
};
class ComputeCommandEncoder : public NS::Referencing<ComputeCommandEncoder> {
public:
    void setComputePipelineState(const ComputePipelineState *p) { NS::send<void>(this, "setComputePipelineState:", p); }
    void setBuffer(const Buffer *b, NS::UInteger offset, NS::UInteger index) {
        NS::send<void>(this, "setBuffer:offset:atIndex:", b, offset, index);
    }
    void setBytes(const void *bytes, NS::UInteger length, NS::UInteger index) {
        NS::send<void>(this, "setBytes:length:atIndex:", bytes, length, index);
    }
    void useResource(const Resource *r, ResourceUsage usage) { NS::send<void>(this, "useResource:usage:", r, usage); }
    void memoryBarrier(BarrierScope scope) { NS::send<void>(this, "memoryBarrierWithScope:", scope); }
    void dispatchThreadgroups(Size groups, Size threads) {
        NS::send<void>(this, "dispatchThreadgroups:threadsPerThreadgroup:", groups, threads);
    }
    void endEncoding() { NS::send<void>(this, "endEncoding"); }
};
class CommandBuffer : public NS::Referencing<CommandBuffer> {
public:
    ComputeCommandEncoder *computeCommandEncoder() { return NS::send<ComputeCommandEncoder *>(this, "computeCommandEncoder"); }
    void                   setLabel(const NS::String *label) { NS::send<void>(this, "setLabel:", label); }
    void                   commit() { NS::send<void>(this, "commit"); }
    void                   waitUntilCompleted() { NS::send<void>(this, "waitUntilCompleted"); }
    CommandBufferStatus    status() const { return CommandBufferStatus(NS::send<NS::UInteger>(this, "status")); }
    NS::Error             *error() const { return NS::send<NS::Error *>(this, "error"); }
    double                 GPUStartTime() const { return NS::send<double>(this, "GPUStartTime"); }
    double                 GPUEndTime() const { return NS::send<double>(this, "GPUEndTime"); }
};
class CommandQueue : public NS::Referencing<CommandQueue> {
public:
    CommandBuffer *commandBuffer() { return NS::send<CommandBuffer *>(this, "commandBuffer"); }
};
class Device : public NS::Referencing<Device> {
public:
    NS::String   *name() const { return NS::send<NS::String *>(this, "name"); }
    NS::UInteger  maxBufferLength() const { return NS::send<NS::UInteger>(this, "maxBufferLength"); }
    bool supportsFamily(GPUFamily family) const { return NS::send<signed char, NS::Integer>(this, "supportsFamily:", family) != 0; }
    CommandQueue *newCommandQueue() { return NS::send<CommandQueue *>(this, "newCommandQueue"); }
    Buffer       *newBuffer(NS::UInteger length, ResourceOptions options) {
        return NS::send<Buffer *>(this, "newBufferWithLength:options:", length, options);
    }
    Library *newLibrary(const NS::String *source, const CompileOptions *options, NS::Error **error) {
        return NS::send<Library *>(this, "newLibraryWithSource:options:error:", source, options, error);
    }
    ComputePipelineState *newComputePipelineState(const Function *f, NS::Error **error) {
        return NS::send<ComputePipelineState *>(this, "newComputePipelineStateWithFunction:error:", f, error);
    }
};
inline Device *CreateSystemDefaultDevice() {
    return reinterpret_cast<Device *(*)()>(metal_symbol("MTLCreateSystemDefaultDevice"))();
}
} // namespace MTL
#endif
