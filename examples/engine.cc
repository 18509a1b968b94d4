/* Embedding in a C++11 engine: its own allocator, its own threads, its own copies of what it keeps.
 *
 *     c++ -std=c++11 -pthread -I. examples/engine.cc -o engine && ./engine
 *
 * Shows that tmetal takes memory from nowhere but the block it is handed, that two threads compile at once
 * without a lock, each on a block of its own, and that both get the same bytes. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace engine {

/* One pool for the whole engine; blocks are handed out in order and taken back all at once. */
class pool {
public:
    explicit pool(std::size_t bytes) : memory_(bytes), used_(0) {}
    void *take(std::size_t bytes) {
        std::lock_guard<std::mutex> lock(guard_);
        if (bytes > memory_.size() - used_) throw std::runtime_error("the engine's pool is empty");
        void *p = &memory_[used_];
        used_ += bytes;
        return p;
    }

private:
    std::vector<unsigned char> memory_;
    std::size_t                used_;
    std::mutex                 guard_;
};

struct shader { /* what the engine keeps: its own copy, so that the arena can be reused at once */
    std::string entry, msl, error;
    unsigned    threads = 0, buffers = 0;
};

/* One a thread. The block grows only when a kernel needs more than any before. */
class compiler {
public:
    compiler(pool &memory, const char *gpu) : pool_(memory), options_(), arena_() { options_.gpu = gpu; }

    shader compile(const std::string &file, const std::string &ttir) {
        const std::size_t need = tmetal_arena_bound(ttir.size());
        if (arena_.cap < need) arena_ = tmetal_arena_on(pool_.take(need), need);
        arena_.used = 0;
        options_.file = file.c_str();
        tmetal_result r;
        shader        s;
        if (tmetal_compile(ttir.data(), ttir.size(), &options_, &arena_, &r) != TMETAL_OK) {
            s.error = tmetal_diag_text(&r.diags[0], &arena_);
            return s;
        }
        const tmetal_kernel &k = r.kernels[0];
        s.entry = k.entry;
        s.msl.assign(k.msl, k.msl_len);
        s.threads = k.threads;
        for (uint32_t i = 0; i < k.n_args; i++) s.buffers += k.args[i].kind == TMETAL_ARG_BUFFER;
        return s;
    }

private:
    pool          &pool_;
    tmetal_options options_;
    tmetal_arena   arena_;
};

std::string read(const std::string &name) {
    std::ifstream in(name.c_str(), std::ios::binary);
    if (!in) throw std::runtime_error("no file " + name);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

} // namespace engine

int main() {
    static const char *const names[] = {"vector_add", "softmax", "row_sum", "rms_norm"};
    const std::size_t        n = sizeof names / sizeof names[0];
    engine::pool             pool(std::size_t(128) << 20);
    std::vector<std::string> texts;
    try {
        for (const char *name : names) texts.push_back(engine::read(std::string("examples/kernels/") + name + ".ttir"));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    texts.push_back("tt.func public @broken() {\n");

    std::vector<engine::shader> forward(n + 1), backward(n + 1);
    std::string                 failures[2];
    const auto work = [&](std::vector<engine::shader> &out, bool reverse) {
        try {
            engine::compiler c(pool, "apple-m2");
            for (std::size_t i = 0; i <= n; i++) {
                const std::size_t at = reverse ? n - i : i;
                out[at] = c.compile("kernel.ttir", texts[at]);
            }
        } catch (const std::exception &e) {
            failures[reverse] = e.what(); /* the pool's: tmetal itself throws nothing */
        }
    };
    std::thread one(work, std::ref(forward), false), other(work, std::ref(backward), true);
    one.join();
    other.join();

    bool same = failures[0].empty() && failures[1].empty();
    for (std::size_t i = 0; i < n; i++) {
        same = same && forward[i].msl == backward[i].msl;
        std::printf("%s: %u threads, %u buffers%s\n", forward[i].entry.c_str(), forward[i].threads, forward[i].buffers, forward[i].error.c_str());
    }
    std::printf("%sboth threads gave the same bytes: %s\n", forward[n].error.c_str(), same ? "yes" : "no");
    return same ? 0 : 1;
}
