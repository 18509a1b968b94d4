#include "fiber.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace sim {

fiber_stacks::fiber_stacks(unsigned count) : bytes_(count * bytes_each) {
    void *p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    base_ = reinterpret_cast<uintptr_t>(p);
}

void fiber_stacks::guard(unsigned count) {
    static const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    for (; guarded_ < count; guarded_++)
        mprotect(reinterpret_cast<void *>(base_ + guarded_ * bytes_each), page, PROT_NONE);
}

fiber_stacks::~fiber_stacks() { munmap(reinterpret_cast<void *>(base_), bytes_); }

/* The offset spreads the hot ends of neighbouring stacks over the sets of the first-level cache;
 * without it all lanes of a simdgroup would fight for the same few lines. */
void *fiber_stacks::top(unsigned i) const {
    const uintptr_t end = base_ + (i + 1) * bytes_each;
    return reinterpret_cast<void *>(end - 64 - (i % 61) * 320);
}

#ifdef SIM_FIBER_UCONTEXT

void fiber_prepare(fiber &f, void *top, void (*entry)()) {
    getcontext(&f.context);
    char *low = static_cast<char *>(top) - fiber_stacks::bytes_each / 2;
    f.context.uc_stack.ss_sp = low;
    f.context.uc_stack.ss_size = static_cast<size_t>(static_cast<char *>(top) - low);
    f.context.uc_link = nullptr;
    makecontext(&f.context, entry, 0);
}

void fiber_switch(fiber &from, fiber &to) { swapcontext(&from.context, &to.context); }

#else

extern "C" void sim_fiber_swap(void **save, void *load);

#if defined(__x86_64__)

/* Callee-saved registers only; the control words of the FPU are the same in every fiber. */
asm(R"(
    .text
    .globl sim_fiber_swap
    .type sim_fiber_swap, @function
sim_fiber_swap:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size sim_fiber_swap, .-sim_fiber_swap
)");

void fiber_prepare(fiber &f, void *top, void (*entry)()) {
    uintptr_t sp = reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15};
    void    **frame =
        reinterpret_cast<void **>(sp) - 8; /* six registers, the entry, and a null return address */
    std::memset(frame, 0, 8 * sizeof(void *));
    frame[6] = reinterpret_cast<void *>(entry);
    f.sp = frame;
}

#else /* aarch64 */

asm(R"(
    .text
    .globl sim_fiber_swap
    .type sim_fiber_swap, %function
sim_fiber_swap:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size sim_fiber_swap, .-sim_fiber_swap
)");

void fiber_prepare(fiber &f, void *top, void (*entry)()) {
    uintptr_t sp = reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15};
    void    **frame = reinterpret_cast<void **>(sp - 160);
    std::memset(frame, 0, 160);
    frame[11] = reinterpret_cast<void *>(entry); /* x30 */
    f.sp = frame;
}

#endif

void fiber_switch(fiber &from, fiber &to) { sim_fiber_swap(&from.sp, to.sp); }

#endif

} // namespace sim
