/* The state of a running dispatch, shared by the scheduler, the memory checks and the counters.
 *
 * There is one machine in a process and one OS thread that runs it, so this is a plain global. Time
 * is `stamp`: a number that grows at every barrier. An access carries the stamp at which it
 * happened; it is ordered before everything after a barrier whose stamp is greater. */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "fiber.h"
#include "include/sim/runtime.h"
#include "sim.h"

#include <cstdarg>

namespace sim {

constexpr unsigned simd_width = 32;
constexpr unsigned max_group_threads = 1024;
constexpr size_t   max_group_bytes = 32768;
constexpr size_t   page_bytes = 65536;             /* of the table from address to view */
constexpr size_t   device_bytes = size_t{1} << 32; /* the region that holds all bindings */
constexpr size_t   arena_bytes = 128 * 1024;       /* threadgroup memory with the gaps around it */
constexpr size_t   arena_page = 16;

/* splitmix64: every random choice of a run comes from one of these. */
struct random_source {
    uint64_t state;
    uint64_t next() {
        uint64_t z = (state += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }
};

/* What is known of one granule (1, 2 or 4 bytes) of memory. */
struct cell {
    uint32_t written;        /* stamp of the last write, 0: never */
    uint32_t read;           /* stamp of the last read */
    uint32_t read_elsewhere; /* stamp of a read by an earlier threadgroup, once others read too */
    uint16_t writer;         /* thread, and flags */
    uint16_t reader;
};
constexpr uint16_t cell_thread = 0x3ff, cell_atomic = 0x8000;
/* Who read last: one thread; several threads of its simdgroup; several simdgroups. */
constexpr uint16_t cell_one = 0, cell_simdgroup = 0x1000, cell_many = 0x2000, cell_readers = 0x3000;

/* Memory with cells: a buffer, or a threadgroup variable. */
struct tracked {
    cell    *cells = nullptr;
    size_t   bytes = 0;
    unsigned shift = 2;    /* log2 of the granule */
    bool     blank = true; /* no cell used yet */
    bool     needs_init = false;
    bool     group = false;  /* threadgroup memory */
    bool     shared = false; /* bound more than once in this dispatch */
    uint8_t *owner =
        nullptr; /* with `shared`: per byte, binding that wrote or read, see memory.cc */
    uint64_t    bytes_read = 0, bytes_written = 0;
    std::vector<uint32_t> reads; /* while counting: bytes read of each two */
    const char *name = "";
};

/* Memory as one binding shows it. */
struct view {
    uintptr_t base = 0;
    size_t    bytes = 0;
    tracked  *track = nullptr;
    size_t    offset = 0; /* of base in `track` */
    bool      writable = true;
    bool      uniform = false; /* constant space: not counted as device traffic */
    uint8_t   number = 0;
    char      name[64] = "";
};

/* What a thread brings to a tensor operation: memory, or the elements that it holds. */
struct tensor_view {
    uint64_t address = 0;
    uint32_t type = 0, bytes = 0;
    int32_t  extent[2] = {}, stride[2] = {};
};

enum class thread_status : uint8_t { ready, at_simd, at_barrier, done };

struct simdgroup;

struct gpu_thread : fiber {
    simdgroup    *group = nullptr;
    uint16_t      index = 0;
    uint8_t       lane = 0, turn = 0; /* turn: position in the order in which lanes run */
    thread_status status = thread_status::ready;
    uint32_t      op = 0, at = 0; /* what it waits for, and where */
    uint32_t      type = 0, bits = 0, arg = 0, fill = 0, result = 0;
    sim_pair      pair[3], pair_result;
    uint64_t tile[5] = {}; /* address, row length, column, row, transposed: of a matrix access */
    tensor_view tensor[3];
    uint64_t    shape = 0; /* of the product that it waits in */
    uint32_t    held = 0;  /* which operands are cooperative: 1 left, 2 right */
    uint32_t fenced = 0;   /* stamp of its last device fence */
    std::vector<uintptr_t> touched;  /* atomics that it executed, see sync.cc */
    std::vector<uintptr_t> acquired; /* of those, the ones before its last fence */
};

struct simdgroup {
    gpu_thread *by_lane[simd_width];
    gpu_thread *by_turn[simd_width];
    uint32_t    ready = 0; /* bit per turn */
    uint32_t    everyone = 0;
    uint8_t     size = 0, waiting = 0;
    uint32_t    ordered[2]; /* stamp of the last simdgroup_barrier: device, threadgroup memory */
};

constexpr unsigned order_device = 0, order_group = 1;

struct machine {
    /* hot: read by every access */
    uintptr_t   stacks_base = 0, device_base = 0, arena_base = 0;
    size_t      stacks_bytes = 0;
    gpu_thread *current = nullptr;
    uint32_t    stamp = 1;
    uint32_t    group_start = 1; /* stamp at which this threadgroup began */
    uint32_t    dispatch_start = 1;
    uint32_t    ordered[2] = {1, 1}; /* stamp of the last threadgroup_barrier, per kind of memory */
    bool        checks = true, counting = false;
    bool        settling = false; /* a write waits to be looked at, see memory.cc */

    view    **device_page = nullptr; /* of device_bytes / page_bytes */
    view     *arena_view[arena_bytes / arena_page];
    uint64_t  text_base = 0; /* load address of the module */
    uintptr_t image_low = 0, image_high = 0;

    gpu_thread threads[max_group_threads];
    simdgroup  simdgroups[max_group_threads / simd_width];
    uint8_t    simd_order[max_group_threads / simd_width];
    unsigned   thread_count = 0, simd_count = 0, arrived = 0, finished = 0;
    fiber      scheduler;
    bool       stopped = false; /* a violation after which going on has no meaning */

    uint32_t      grid[3], program[3], local_size[3];
    unsigned long arg_address[31], group_address[31];

    random_source    random{1};
    uint64_t         seed = 1; /* of the run */
    report          *out = nullptr;
    kernel_counters *tally = nullptr;
};

extern machine M;

/* The address at which the module's own code was left: the caller of a hook. */
#define SIM_CALLER reinterpret_cast<uint64_t>(__builtin_return_address(0))

/* -- report.cc: violations, with a place given by program counter or by line and column -------- */
void violate_pc(violation_kind kind, uint64_t pc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void violate_at(violation_kind kind, unsigned at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* -- schedule.cc ------------------------------------------------------------------------------- */
void              make_stacks(unsigned threads); /* of so many fibers, before run_threadgroup */
void              run_threadgroup(void (*entry)());
[[noreturn]] void stop_dispatch();
void              yield_thread();

/* -- memory.cc --------------------------------------------------------------------------------- */
struct access_flags {
    bool write, atomic, aligned;
};
/* The full check of one access; true if the bytes may be touched. */
bool check_access(uintptr_t address, size_t bytes, access_flags flags, uint64_t pc);
void start_group_memory();
void forget_group_memory();
uintptr_t add_group_argument(unsigned index, size_t bytes);
void      settle_pending();
void      track_init(tracked &t, size_t bytes, unsigned shift);
void      track_free(tracked &t);

/* -- sync.cc: what fences and atomics make visible across threadgroups ------------------------- */
void sync_start_dispatch();
void sync_start_group();
void sync_barrier(unsigned mem);
void sync_atomic(unsigned order, uintptr_t address);
bool sync_ordered(uint32_t stamp, unsigned writer);

/* -- counters.cc ------------------------------------------------------------------------------- */
void count_start(kernel_counters &k, size_t text_bytes);
void count_access(const view &v, uintptr_t address, size_t bytes, bool write, uint64_t pc);
void count_meeting(simdgroup *g);
void count_finish();

} // namespace sim

#endif
