/* Atomic operations. Only one thread runs at a time, so they are plain; what matters is that they
 * are checked, that weak exchanges sometimes fail, and that a thread which polls lets others
 * run. */
#include "machine.h"
#include "numbers.h"

#include <algorithm>

namespace sim {

namespace {

uint32_t result_of(unsigned op, unsigned type, uint32_t old, uint32_t value) {
    const float   x = bits_as<float>(old), y = bits_as<float>(value);
    const int32_t i = static_cast<int32_t>(old), j = static_cast<int32_t>(value);
    switch (op) {
    case SIM_ATOMIC_STORE:
    case SIM_ATOMIC_EXCHANGE: return value;
    case SIM_ATOMIC_ADD: return type == SIM_F32 ? bits_as<uint32_t>(x + y) : old + value;
    case SIM_ATOMIC_SUB: return type == SIM_F32 ? bits_as<uint32_t>(x - y) : old - value;
    case SIM_ATOMIC_MIN:
        return type == SIM_I32 ? static_cast<uint32_t>(std::min(i, j)) : std::min(old, value);
    case SIM_ATOMIC_MAX:
        return type == SIM_I32 ? static_cast<uint32_t>(std::max(i, j)) : std::max(old, value);
    case SIM_ATOMIC_AND: return old & value;
    case SIM_ATOMIC_OR: return old | value;
    case SIM_ATOMIC_XOR: return old ^ value;
    default: return old;
    }
}

/* An operation that reads and writes must satisfy the rules of both. */
bool may_touch(uintptr_t address, size_t bytes, bool read, bool write, uint64_t pc) {
    if (read && !check_access(address, bytes, {false, true, true}, pc)) return false;
    return !write || check_access(address, bytes, {true, true, true}, pc);
}

void begin(unsigned order, uintptr_t address) {
    if (M.counting) M.tally->atomics++;
    sync_atomic(order, address);
}

} // namespace

} // namespace sim

using namespace sim;

extern "C" {

unsigned sim_atomic(unsigned long address, unsigned op, unsigned type, unsigned value,
                    unsigned order, unsigned /* place */) {
    const uint64_t pc = SIM_CALLER;
    begin(order, address);
    if (!may_touch(address, 4, op != SIM_ATOMIC_STORE, op != SIM_ATOMIC_LOAD, pc)) return 0;
    auto          *p = reinterpret_cast<uint32_t *>(address);
    const uint32_t old = *p;
    if (op != SIM_ATOMIC_LOAD) *p = result_of(op, type, old, value);
    yield_thread();
    return old;
}

unsigned sim_atomic_cas(unsigned long address, unsigned *expected, unsigned desired, unsigned order,
                        unsigned /* place */) {
    const uint64_t pc = SIM_CALLER;
    begin(order, address);
    if (!may_touch(address, 4, true, true, pc)) return 0;
    auto      *p = reinterpret_cast<uint32_t *>(address);
    const bool weak_failure = M.random.below(16) == 0;
    const bool done = *p == *expected && !weak_failure;
    if (done) *p = desired;
    else *expected = *p;
    yield_thread();
    return done;
}

void sim_atomic_wide(unsigned long address, unsigned op, unsigned long value, unsigned /* place */) {
    const uint64_t pc = SIM_CALLER;
    begin(0, address);
    if (!may_touch(address, 8, true, true, pc)) return;
    auto *p = reinterpret_cast<unsigned long *>(address);
    *p = op == SIM_ATOMIC_MIN ? std::min(*p, value) : std::max(*p, value);
}

/* Metal says "unspecified"; this is a value that a test will notice. */
long sim_divide_by_zero(unsigned remainder) {
    M.out->zero_divisions++;
    return remainder ? 0x0bad0badl : 0x5bad5badl;
}
}
