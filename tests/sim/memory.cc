/* Every access of a kernel: bounds, alignment, access rights, initialisation, races.
 *
 * Kernels are compiled with clang's thread-sanitizer instrumentation, but these functions stand in
 * for its runtime: each load and store of memory that is not plainly private calls one first. */
#include "machine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace sim {

machine M;

namespace {

/* -- Cells ------------------------------------------------------------------------------------- */

enum class conflict {
    none,
    uninitialised,
    read_write,
    write_write,
    grid_read_write,
    grid_write_write
};

unsigned order_kind(const tracked &t) { return t.group ? order_group : order_device; }

/* Is an access by `who` at `stamp`, in this threadgroup, ordered before what runs now? */
bool ordered_here(const tracked &t, uint32_t stamp, unsigned who) {
    const unsigned me = M.current->index, k = order_kind(t);
    if (stamp < M.ordered[k] || who == me) return true;
    return who / simd_width == me / simd_width && stamp < M.current->group->ordered[k];
}

conflict read_after_write(const tracked &t, const cell &c, bool atomic) {
    const unsigned writer = c.writer & cell_thread;
    const bool     both_atomic = atomic && (c.writer & cell_atomic);
    if (c.written >= M.group_start)
        return both_atomic || ordered_here(t, c.written, writer) ? conflict::none
                                                                 : conflict::read_write;
    if (t.group) return conflict::uninitialised;
    if (c.written >= M.dispatch_start)
        return both_atomic || sync_ordered(c.written, writer) ? conflict::none
                                                              : conflict::grid_read_write;
    return t.needs_init && c.written == 0 ? conflict::uninitialised : conflict::none;
}

/* Remember that the current thread read. Readers that a barrier has ordered are forgotten; of the
 * others it is enough to know whether one thread, one simdgroup or more were among them. */
void note_read(const tracked &t, cell &c, bool atomic) {
    const unsigned me = M.current->index, k = order_kind(t), who = c.reader & cell_thread;
    const uint16_t alone = static_cast<uint16_t>(me | cell_one | (atomic ? cell_atomic : 0));
    if (c.read < M.ordered[k]) {
        if (c.read >= M.dispatch_start && c.read < M.group_start && !(c.reader & cell_atomic))
            c.read_elsewhere = c.read;
        c.reader = alone;
    } else {
        const uint16_t kind = c.reader & cell_readers,
                       still_atomic = atomic ? c.reader & cell_atomic : 0;
        if (who == me && kind == cell_one)
            c.reader = static_cast<uint16_t>(me | cell_one | still_atomic);
        else if (who / simd_width != me / simd_width || kind == cell_many)
            c.reader = static_cast<uint16_t>(me | cell_many | still_atomic);
        else if (c.read < M.current->group->ordered[k]) c.reader = alone;
        else c.reader = static_cast<uint16_t>(me | cell_simdgroup | still_atomic);
    }
    c.read = M.stamp;
}

conflict write_after_write(const tracked &t, const cell &c, bool atomic) {
    const unsigned writer = c.writer & cell_thread;
    if (atomic && (c.writer & cell_atomic)) return conflict::none;
    if (c.written >= M.group_start)
        return ordered_here(t, c.written, writer) ? conflict::none : conflict::write_write;
    if (t.group || c.written < M.dispatch_start) return conflict::none;
    return sync_ordered(c.written, writer) ? conflict::none : conflict::grid_write_write;
}

conflict write_after_read(const tracked &t, const cell &c, bool atomic) {
    if (!t.group && !atomic && c.read_elsewhere >= M.dispatch_start &&
        !sync_ordered(c.read_elsewhere, c.reader & cell_thread))
        return conflict::grid_read_write;
    if (c.read < M.dispatch_start || (atomic && (c.reader & cell_atomic))) return conflict::none;
    const unsigned who = c.reader & cell_thread, me = M.current->index, k = order_kind(t);
    if (c.read < M.group_start)
        return t.group || sync_ordered(c.read, who) ? conflict::none : conflict::grid_read_write;
    if (c.read < M.ordered[k]) return conflict::none;
    const uint16_t kind = c.reader & cell_readers;
    if (kind == cell_one && who == me) return conflict::none;
    const bool same = who / simd_width == me / simd_width;
    return kind != cell_many && same && c.read < M.current->group->ordered[k]
               ? conflict::none
               : conflict::read_write;
}

size_t cell_count(size_t bytes, unsigned shift) { return (bytes >> shift) + 2; }

cell *take_cells(size_t count) {
    void *p = mmap(nullptr, count * sizeof(cell), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    return static_cast<cell *>(p);
}

/* An access smaller than the granule came: split every cell into cells of the new size. */
void refine(tracked &t, unsigned shift) {
    const size_t before = cell_count(t.bytes, t.shift), now = cell_count(t.bytes, shift);
    cell        *finer = take_cells(now);
    if (!t.blank)
        for (size_t i = 0; i < now; i++)
            finer[i] = t.cells[std::min(before - 1, i >> (t.shift - shift))];
    munmap(t.cells, before * sizeof(cell));
    t.cells = finer;
    t.shift = shift;
}

unsigned needed_shift(size_t offset, size_t bytes) {
    const size_t bits = offset | bytes | 4;
    return bits & 1 ? 0 : bits & 2 ? 1 : 2;
}

/* -- Reports ----------------------------------------------------------------------------------- */

const char *verb(const access_flags &f) {
    return f.atomic ? "atomic access" : f.write ? "write" : "read";
}

/* A write that follows another thread's write without order is wrong only if it changes the value,
 * and that is known after it happened: it is looked at when the next access comes. */
struct pending_write {
    uintptr_t address;
    size_t    bytes;
    unsigned  met; /* which of its bytes the other thread wrote, a bit each */
    uint8_t   before[16];
    uint64_t  pc;
    bool      grid;
    char      text[256];
} pending;

void describe(char *text, size_t room, const view &v, size_t offset, size_t bytes,
              const access_flags &f) {
    snprintf(text, room, "%zu-byte %s of %s at byte %zu", bytes, verb(f), v.name, offset);
}

void report_conflict(conflict what, const view &v, size_t offset, size_t bytes, unsigned met,
                     const access_flags &f, const cell &c, uint64_t pc) {
    char text[160];
    describe(text, sizeof text, v, offset, bytes, f);
    switch (what) {
    case conflict::none: return;
    case conflict::uninitialised:
        violate_pc(violation_kind::UNINITIALISED, pc, "%s, which nothing has written", text);
        return;
    case conflict::read_write:
        violate_pc(violation_kind::RACE, pc,
                   "%s is not ordered after a %s by thread %u of the same threadgroup", text,
                   f.write ? "read" : "write", (f.write ? c.reader : c.writer) & cell_thread);
        return;
    case conflict::grid_read_write:
        violate_pc(violation_kind::GRID_RACE, pc,
                   "%s, which another threadgroup of this dispatch %s", text,
                   f.write ? "read" : "wrote");
        return;
    case conflict::write_write:
    case conflict::grid_write_write: {
        if (bytes > sizeof pending.before) return;
        if (M.settling) { /* more of the same write */
            pending.met |= met;
            return;
        }
        M.settling = true;
        pending = {v.base + offset, bytes, met, {}, pc, what == conflict::grid_write_write, ""};
        std::memcpy(pending.before, reinterpret_cast<void *>(pending.address), bytes);
        char other[32] = "another threadgroup";
        if (!pending.grid) snprintf(other, sizeof other, "thread %u", c.writer & cell_thread);
        snprintf(pending.text, sizeof pending.text,
                 "%s, where %s wrote a different value without a barrier between", text, other);
    }
    }
}

/* -- The checks of one access ------------------------------------------------------------------ */

const view *find_view(uintptr_t address) {
    const uintptr_t d = address - M.device_base;
    if (d < device_bytes) return M.device_page[d / page_bytes];
    const uintptr_t g = address - M.arena_base;
    return g < arena_bytes ? M.arena_view[g / arena_page] : nullptr;
}

bool out_of_bounds(const view *v, uintptr_t address, size_t bytes, const access_flags &f,
                   uint64_t pc) {
    char text[160];
    if (v) {
        const long long offset = static_cast<long long>(address - v->base);
        snprintf(text, sizeof text, "%zu-byte %s at byte %lld of %s, which has %zu bytes", bytes,
                 verb(f), offset, v->name, v->bytes);
    } else if (address - M.arena_base < arena_bytes) {
        snprintf(text, sizeof text, "%zu-byte %s between the variables of threadgroup memory",
                 bytes, verb(f));
    } else {
        snprintf(text, sizeof text, "%zu-byte %s far from every buffer (address %#llx)", bytes,
                 verb(f), static_cast<unsigned long long>(address));
    }
    violate_pc(violation_kind::BOUNDS, pc, "%s", text);
    if (!v && address - M.arena_base >= arena_bytes)
        stop_dispatch(); /* the access itself would fault */
    return false;
}

void note_alias(tracked &t, const view &v, size_t offset, size_t bytes, bool write) {
    for (size_t i = offset; i < offset + bytes; i++) {
        uint8_t      &o = t.owner[i];
        const uint8_t reader = o & 15, writer = o >> 4,
                      me = static_cast<uint8_t>(v.number % 15 + 1);
        if ((writer && writer != me) || (write && reader && reader != me)) M.out->aliased++;
        o = static_cast<uint8_t>(write ? (o & 15) | me << 4 : (o & 0xf0) | me);
    }
}

/* The bytes of an access at `offset` that cell `i` holds, a bit each; of the first 32. */
unsigned cell_bytes(const tracked &t, size_t i, size_t offset) {
    unsigned met = 0;
    for (size_t b = i << t.shift; b < (i + 1) << t.shift; b++)
        if (b >= offset && b < offset + 32) met |= 1u << (b - offset);
    return met;
}

void track(const view &v, uintptr_t address, size_t bytes, const access_flags &f, uint64_t pc) {
    tracked     &t = *v.track;
    const size_t offset = address - v.base + v.offset;
    if (offset & ((size_t{1} << t.shift) - 1) || bytes & ((size_t{1} << t.shift) - 1))
        refine(t, std::min(t.shift, needed_shift(offset, bytes)));
    t.blank = false;
    const size_t   first = offset >> t.shift, last = (offset + bytes - 1) >> t.shift;
    const uint16_t me = static_cast<uint16_t>(M.current->index | (f.atomic ? cell_atomic : 0));
    for (size_t i = first; i <= last; i++) {
        cell    &c = t.cells[i];
        conflict what;
        if (f.write) {
            what = write_after_read(t, c, f.atomic);
            if (what == conflict::none) what = write_after_write(t, c, f.atomic);
        } else {
            what = read_after_write(t, c, f.atomic);
        }
        if (__builtin_expect(what != conflict::none, 0))
            report_conflict(what, v, offset - v.offset, bytes, cell_bytes(t, i, offset), f, c, pc);
        if (f.write) c.written = M.stamp, c.writer = me;
        else note_read(t, c, f.atomic);
    }
    if (__builtin_expect(t.shared, 0)) note_alias(t, v, offset, bytes, f.write);
}

/* What a buffer is read and written, and how much of it how often it is read. */
void count_bytes(const view &v, uintptr_t address, size_t bytes, bool write) {
    tracked &t = *v.track;
    (write ? t.bytes_written : t.bytes_read) += bytes;
    if (write || t.group) return;
    if (t.reads.empty()) t.reads.resize(t.bytes / 2 + 1);
    for (size_t at = address - v.base + v.offset, end = at + bytes; at < end; at++) t.reads[at / 2]++;
}

inline bool check(uintptr_t address, size_t bytes, access_flags f, uint64_t pc) {
    if (__builtin_expect(M.settling, 0)) settle_pending();
    const view *v = find_view(address);
    if (f.atomic && v && v->track && !(address & 3)) {
        /* a buffer's allocation ends at whole words: only the part inside of the buffer is looked at */
        const uintptr_t low = std::max(address, v->base),
                        high = std::min(address + bytes, v->base + v->bytes);
        if (low < high && high - low < bytes) address = low, bytes = high - low, f.aligned = false;
    }
    if (__builtin_expect(
            !v || address - v->base >= v->bytes || v->bytes - (address - v->base) < bytes, 0)) {
        if (!v && address >= M.image_low && address < M.image_high)
            return true; /* tables of the kernel */
        return out_of_bounds(v, address, bytes, f, pc);
    }
    if (__builtin_expect(f.aligned && (address & (bytes - 1)), 0)) {
        char text[160];
        describe(text, sizeof text, *v, address - v->base, bytes, f);
        violate_pc(violation_kind::ALIGNMENT, pc, "%s is not aligned to its size", text);
    }
    if (__builtin_expect(f.write && !v->writable, 0)) {
        char text[160];
        describe(text, sizeof text, *v, address - v->base, bytes, f);
        violate_pc(violation_kind::READ_ONLY, pc, "%s, which is bound for reading only", text);
        return true;
    }
    if (M.checks && v->track) track(*v, address, bytes, f, pc);
    if (M.counting) {
        M.tally->accesses++;
        if (v->track) count_bytes(*v, address, bytes, f.write);
        if (pc && !v->uniform && !f.atomic) count_access(*v, address, bytes, f.write, pc);
    }
    return true;
}

/* Private memory (what escapes to a stack) is nobody else's business. */
inline bool is_private(uintptr_t address) { return address - M.stacks_base < M.stacks_bytes; }

template <size_t bytes, bool write, bool aligned> inline void on_access(void *p, uint64_t pc) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(p);
    if (!is_private(address)) check(address, bytes, {write, false, aligned}, pc);
}

/* Polling another thread's variable is legal, so whoever reads volatile memory lets others run. */
template <size_t bytes, bool write, bool aligned> inline void on_volatile(void *p, uint64_t pc) {
    on_access<bytes, write, aligned>(p, pc);
    if (!write && !is_private(reinterpret_cast<uintptr_t>(p))) yield_thread();
}

void on_range(void *p, size_t bytes, bool write, uint64_t pc) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(p);
    if (bytes && !is_private(address)) check(address, bytes, {write, false, false}, pc);
}

} // namespace

bool check_access(uintptr_t address, size_t bytes, access_flags flags, uint64_t pc) {
    if (is_private(address)) return true;
    return check(address, bytes, flags, pc);
}

void settle_pending() {
    if (!M.settling) return;
    M.settling = false;
    const auto *now = reinterpret_cast<const uint8_t *>(pending.address);
    size_t      i = 0;
    while (i < pending.bytes && (!(pending.met >> i & 1) || now[i] == pending.before[i])) i++;
    if (i == pending.bytes) {
        M.out->benign_races++;
        return;
    }
    violate_pc(pending.grid ? violation_kind::GRID_RACE : violation_kind::RACE, pending.pc, "%s",
               pending.text);
}

void track_init(tracked &t, size_t bytes, unsigned shift) {
    t.bytes = bytes;
    t.shift = shift;
    t.cells = take_cells(cell_count(bytes, shift));
}

void track_free(tracked &t) {
    if (t.cells) munmap(t.cells, cell_count(t.bytes, t.shift) * sizeof(cell));
    t.cells = nullptr;
}

/* -- Threadgroup memory ------------------------------------------------------------------------ */

namespace {

struct group_variable {
    view    v;
    tracked t;
};

/* Dynamic arguments first, then the kernel's variables in the order of their declarations. They
 * keep their places over all threadgroups of a dispatch. */
struct {
    group_variable *variable[256];
    unsigned        count = 0, dynamic = 0;
    size_t          next = 64; /* in the arena */
    size_t          bytes = 0; /* what the program asked for */
} arena;

/* A gap before and after, and no more alignment than was declared: a kernel that reads 16 bytes
 * from an array of floats, or past its end, is found out. */
size_t place_variable(size_t bytes, size_t align) {
    size_t at = (arena.next + 2 * align - 1) / (2 * align) * (2 * align);
    if (align < 16) at += align;
    arena.next = at + bytes + 64;
    return at;
}

void check_group_bytes(size_t bytes) {
    const size_t rounded = (bytes + 15) / 16 * 16;
    if (rounded <= max_group_bytes && arena.count < 256) return;
    violate_at(violation_kind::LIMIT, 0,
               "Threadgroup memory size (%zu) exceeds the maximum threadgroup memory allowed (%zu)",
               rounded, max_group_bytes);
    stop_dispatch();
}

uintptr_t add_variable(const char *name, size_t bytes, size_t align) {
    arena.bytes = (arena.bytes + align - 1) / align * align + bytes;
    check_group_bytes(arena.bytes);
    auto        *g = new group_variable();
    const size_t at = place_variable(bytes, align);
    g->v.base = M.arena_base + at;
    g->v.bytes = bytes;
    g->v.track = &g->t;
    snprintf(g->v.name, sizeof g->v.name, "threadgroup memory '%s'", name);
    g->t.group = true;
    track_init(g->t, bytes, 2);
    for (size_t p = (at - 32) / arena_page; p <= (at + bytes + 15) / arena_page; p++)
        M.arena_view[p] = &g->v;
    std::memset(reinterpret_cast<void *>(g->v.base), 0xcb, bytes);
    arena.variable[arena.count++] = g;
    M.tally->threadgroup_bytes = (arena.bytes + 15) / 16 * 16;
    return g->v.base;
}

} // namespace

/* What the last threadgroup left there must not help this one. */
void start_group_memory() {
    for (unsigned i = 0; i < arena.count; i++) {
        const view &v = arena.variable[i]->v;
        std::memset(reinterpret_cast<void *>(v.base), 0xcb, v.bytes);
    }
}

void forget_group_memory() {
    for (unsigned i = 0; i < arena.count; i++) {
        track_free(arena.variable[i]->t);
        delete arena.variable[i];
    }
    std::fill(std::begin(M.arena_view), std::end(M.arena_view), nullptr);
    arena.count = arena.dynamic = 0;
    arena.next = 64;
    arena.bytes = 0;
}

uintptr_t add_group_argument(unsigned index, size_t bytes) {
    char name[32];
    snprintf(name, sizeof name, "[[threadgroup(%u)]]", index);
    arena.dynamic++;
    return add_variable(name, bytes, 16);
}

} // namespace sim

using namespace sim;

extern "C" {

/* -- Called by kernels ------------------------------------------------------------------------- */

unsigned long sim_threadgroup(unsigned id, unsigned long name, unsigned long bytes,
                              unsigned long align) {
    const unsigned at = arena.dynamic + id;
    if (at < arena.count) return arena.variable[at]->v.base;
    return add_variable(reinterpret_cast<const char *>(name), bytes, align);
}

/* -- The instrumentation's interface ----------------------------------------------------------- */

void __tsan_init() {}

#define SIM_ON(bytes)                                                                              \
    void __tsan_read##bytes(void *p) { on_access<bytes, false, true>(p, SIM_CALLER); }             \
    void __tsan_write##bytes(void *p) { on_access<bytes, true, true>(p, SIM_CALLER); }             \
    void __tsan_unaligned_read##bytes(void *p) { on_access<bytes, false, false>(p, SIM_CALLER); }  \
    void __tsan_unaligned_write##bytes(void *p) { on_access<bytes, true, false>(p, SIM_CALLER); }  \
    void __tsan_volatile_read##bytes(void *p) { on_volatile<bytes, false, true>(p, SIM_CALLER); }  \
    void __tsan_volatile_write##bytes(void *p) { on_volatile<bytes, true, true>(p, SIM_CALLER); }  \
    void __tsan_unaligned_volatile_read##bytes(void *p) {                                          \
        on_volatile<bytes, false, false>(p, SIM_CALLER);                                           \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##bytes(void *p) {                                         \
        on_volatile<bytes, true, false>(p, SIM_CALLER);                                            \
    }
SIM_ON(1)
SIM_ON(2) SIM_ON(4) SIM_ON(8) SIM_ON(16)
#undef SIM_ON

    void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
    on_range(const_cast<void *>(from), bytes, false, SIM_CALLER);
    on_range(to, bytes, true, SIM_CALLER);
    std::memcpy(to, from, bytes);
    return to;
}
void *__tsan_memmove(void *to, const void *from, size_t bytes) {
    on_range(const_cast<void *>(from), bytes, false, SIM_CALLER);
    on_range(to, bytes, true, SIM_CALLER);
    std::memmove(to, from, bytes);
    return to;
}
void *__tsan_memset(void *to, int value, size_t bytes) {
    on_range(to, bytes, true, SIM_CALLER);
    std::memset(to, value, bytes);
    return to;
}
}
