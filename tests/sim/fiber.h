/* Fibers: a stack and a saved place in it, switched by hand. One GPU thread is one fiber. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#define SIM_FIBER_UCONTEXT 1
#include <ucontext.h>
#endif

namespace sim {

struct fiber {
#ifdef SIM_FIBER_UCONTEXT
    ucontext_t context;
#else
    void *sp = nullptr;
#endif
};

/* Stacks for many fibers in one mapping, each above a page that faults. */
class fiber_stacks {
public:
    static constexpr size_t bytes_each = 256 * 1024;

    explicit fiber_stacks(unsigned count);
    ~fiber_stacks();
    fiber_stacks(const fiber_stacks &) = delete;
    fiber_stacks &operator=(const fiber_stacks &) = delete;

    uintptr_t base() const { return base_; }
    size_t    bytes() const { return bytes_; }
    void     *top(unsigned i) const;
    void      guard(unsigned count); /* so many are about to be used: a call for each takes time */

private:
    uintptr_t base_;
    size_t    bytes_;
    unsigned  guarded_ = 0;
};

/* Make `f` start at `entry` on the stack that ends at `top`. `entry` must not return. */
void fiber_prepare(fiber &f, void *top, void (*entry)());

/* Save the caller in `from` and go on where `to` was saved. */
void fiber_switch(fiber &from, fiber &to);

} // namespace sim

#endif
