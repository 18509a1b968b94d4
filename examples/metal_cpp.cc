/* In a C++ engine with metal-cpp: Triton IR compiled at run time, launched into the engine's own command buffer.
 *
 *     c++ -std=c++17 -I. -I metal-cpp -framework Foundation -framework Metal examples/metal_cpp.cc -o engine
 *     ./engine examples/kernels/vector_add.ttir
 *
 * The tests run this by way of a stand-in for Metal and a metal-cpp of our own; it has not run on a device. */
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#define TMETAL_IMPLEMENTATION
#define TMETAL_METAL
#include "tmetal.h"
#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef EXAMPLE_SYMBOL /* the tests have a Metal of their own */
extern "C" tmetal_function EXAMPLE_SYMBOL(void *user, const char *name);
#else
#    define EXAMPLE_SYMBOL nullptr
#endif

/* A kernel from its Triton IR, on the engine's device; its memory is one vector. */
class kernel {
public:
    kernel(MTL::Device *device, const std::string &ttir) : memory_(tmetal_arena_bound(ttir.size()) + 65536) {
        tmetal_metal_options options{};
        options.symbol = EXAMPLE_SYMBOL;
        options.object = device;
        arena_ = tmetal_arena_on(memory_.data(), memory_.size());
        if (tmetal_compile(ttir.data(), ttir.size(), nullptr, &arena_, &result_) != TMETAL_OK)
            throw std::runtime_error(tmetal_diag_text(&result_.diags[0], &arena_));
        must(tmetal_metal_open(&options, &arena_, &metal_, &problem_));
        must(tmetal_load(metal_, &result_, &arena_, &loaded_, nullptr, &problem_));
        must(tmetal_launch_make(loaded_, &arena_, &launch_, &problem_));
    }
    kernel(const kernel &) = delete;
    ~kernel() { close(); }

    /* an argument, which holds the engine's buffer as long as the kernel is there */
    tmetal_launch_arg adopt(MTL::Buffer *buffer) {
        tmetal_buffer b;
        must(tmetal_buffer_adopt(metal_, buffer, &b, &problem_));
        adopted_.push_back(b);
        return tmetal_arg_buffer(&adopted_.back(), 0);
    }
    /* behind what is in `commands` already; the engine commits */
    void encode(MTL::CommandBuffer *commands, const std::vector<tmetal_launch_arg> &args, uint32_t programs) {
        const uint32_t        grid[3] = {programs, 1, 1};
        tmetal_launch_options options{};
        options.command_buffer = commands;
        must(tmetal_launch_start(launch_, args.data(), uint32_t(args.size()), grid, &options, &problem_));
    }

private:
    void must(tmetal_code code) {
        if (code == TMETAL_OK) return;
        const std::string text = "TM" + std::to_string(int(code)) + ": " + problem_.text;
        close();
        throw std::runtime_error(text);
    }
    void close() {
        if (launch_) tmetal_launch_free(launch_);
        for (tmetal_buffer &b : adopted_) tmetal_buffer_free(metal_, &b);
        adopted_.clear();
        if (loaded_) tmetal_unload(loaded_);
        if (metal_) tmetal_metal_close(metal_);
        launch_ = nullptr, loaded_ = nullptr, metal_ = nullptr;
    }
    std::vector<unsigned char> memory_;
    tmetal_arena               arena_;
    tmetal_result              result_;
    tmetal_problem             problem_;
    tmetal_metal              *metal_ = nullptr;
    tmetal_loaded             *loaded_ = nullptr;
    tmetal_launch             *launch_ = nullptr;
    std::deque<tmetal_buffer>  adopted_; /* arguments point to them */
};

static bool run(MTL::Device *device, const std::string &ttir) {
    constexpr int              n = 1000;
    auto                       queue = NS::TransferPtr(device->newCommandQueue());
    NS::SharedPtr<MTL::Buffer> buffers[3];
    kernel                     add(device, ttir);
    tmetal_launch_arg          args[3];
    for (int i = 0; i < 3; i++) {
        buffers[i] = NS::TransferPtr(device->newBuffer(n * sizeof(float), MTL::ResourceStorageModeShared));
        args[i] = add.adopt(buffers[i].get());
    }
    float *x = static_cast<float *>(buffers[0]->contents()), *y = static_cast<float *>(buffers[1]->contents());
    for (int i = 0; i < n; i++) x[i] = float(i), y[i] = 0.5f;
    MTL::CommandBuffer *commands = queue->commandBuffer();
    add.encode(commands, {args[0], args[1], args[2], tmetal_arg_int(n)}, (n + 255) / 256);
    commands->commit();
    commands->waitUntilCompleted();
    const bool done = commands->status() == MTL::CommandBufferStatusCompleted;
    int        right = 0;
    for (int i = 0; i < n; i++) right += done && static_cast<float *>(buffers[2]->contents())[i] == float(i) + 0.5f;
    std::printf("%d of %d sums are right\n", right, n);
    return right == n;
}

int main(int argc, char **argv) {
    std::ifstream     file(argc > 1 ? argv[1] : "examples/kernels/vector_add.ttir", std::ios::binary);
    const std::string ttir((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    auto              pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    auto              device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
    try {
        if (device) return run(device.get(), ttir) ? 0 : 1;
        std::fprintf(stderr, "there is no Metal device\n");
    } catch (const std::exception &e) { std::fprintf(stderr, "%s\n", e.what()); }
    return 1;
}
