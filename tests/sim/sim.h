/* A Metal simulator: compiles Metal text for this CPU and runs it one GPU thread a fiber, watching
 * every access to memory and every meeting of threads. README.md says what it checks and what not.
 *
 *     auto built = sim::build({{"add.metal", text, 310}});
 *     sim::memory mem;
 *     unsigned x = mem.add("x", bytes, data), y = mem.add("y", bytes, zeros);
 *     sim::launch l;
 *     l.kernel = built->find("add.metal", "add");
 *     l.grid = {40, 1, 1};  l.threads = {128, 1, 1};
 *     l.buffers = {{0, x, 0, false}, {1, y, 0, true}};
 *     sim::report r = sim::run(*built, {l}, mem, {});
 *
 * Nothing here is thread-safe; use processes. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sim {

/* -- Compiling --------------------------------------------------------------------------------- */

struct source {
    std::string name; /* shown in messages; unique in one build */
    std::string text;
    int         version = 310; /* __METAL_VERSION__: 300, 310, 320, 400 or 410 */
    bool        emitted = true; /* by tmetal: must keep the rules of msl_rules.cc, which Metal itself does not know */
    unsigned    threads = 0;    /* of a threadgroup, where the text cannot say it and its host does; else 0 */
    /* Written by others, to be checked only: by the language alone, not by the habits of our texts. */
    bool foreign = false;
};

/* `line` and `column` count from 1; 0 where there is no place. */
struct diagnostic {
    std::string file;
    unsigned    line = 0, column = 0;
    std::string text;

    std::string str() const; /* file:line:col: error: text */
};

enum class space { device, constant, threadgroup };

/* One [[buffer(n)]] or [[threadgroup(n)]] argument of a kernel, as the text declares it. */
struct argument {
    std::string name, type;
    space       where = space::device;
    unsigned    index = 0;
    bool        read_only = false;
    bool        reference = false;
};

struct kernel {
    std::string           name;
    unsigned              unit = 0;        /* index into module::units() */
    unsigned              max_threads = 0; /* max_total_threads_per_threadgroup, 0: not given */
    std::vector<argument> arguments;
    std::string           symbol; /* of the entry in the shared object */
};

struct unit {
    std::string             name;
    std::vector<diagnostic> errors; /* empty: usable */
    std::vector<kernel>     kernels;
    bool                    late = false; /* stopped after build_options::seconds: one of the errors */
};

class line_table;

/* Some sources in one shared object. A source with errors has no kernels; the others do. */
class module {
public:
    const std::vector<unit> &units() const { return units_; }
    const kernel      *find(const std::string &unit_name, const std::string &kernel_name) const;
    const std::string &path() const { return path_; }

    /* Where the instruction at this offset from the load address came from: unit and line. */
    bool locate(uint64_t pc, std::string &file, unsigned &line) const;

    ~module();

private:
    friend class builder;
    std::vector<unit>                   units_;
    std::string                         path_; /* removed with the module, unless it is kept */
    bool                                is_kept_ = false;
    mutable std::unique_ptr<line_table> lines_;
};

struct build_options {
    std::string cache_dir; /* precompiled headers; empty: beside the program, or $SIM_CACHE */
    bool contract = true;  /* fuse a*b+c within an expression, as Apple's compiler always does */
    bool check_only = false;
    unsigned seconds = 0;     /* of a core's time for clang: first all together, then each text alone; 0: any */
    std::string keep_in; /* folder in which the shared object of a single text stays, and is found again; empty: none */
    bool        tokens_only = false; /* not even clang: what the text uses is not in its headers */
};

/* Never throws for what the text contains; throws std::runtime_error when clang cannot be run. */
std::shared_ptr<module> build(const std::vector<source> &sources,
                              const build_options       &options = {});

/* The compiler that reads Metal text. */
std::string clang_program();

/* A short text that changes when the simulator's answers may change: for keys of caches. */
std::string fingerprint();

/* -- Memory ------------------------------------------------------------------------------------ */

/* The buffers of one run. They live in memory shared with the process that runs the kernels. */
class memory {
public:
    memory();
    ~memory();
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;

    /* `initial` NULL: contents are garbage, and reading them before a write is an error. The
     * address that kernels see is a multiple of 128, or when `align` is below 16, of `align` and
     * no more, so that a kernel which assumes more is found out. */
    unsigned add(const std::string &name, size_t bytes, const void *initial, unsigned align = 128);

    unsigned           count() const { return static_cast<unsigned>(buffers_.size()); }
    const std::string &name(unsigned id) const { return buffers_[id].name; }
    size_t             bytes(unsigned id) const { return buffers_[id].bytes; }
    uint8_t           *data(unsigned id);

private:
    friend class placement;
    struct buffer {
        std::string name;
        size_t      bytes;
        size_t      file_page; /* where its pages begin in the file */
        size_t      lead;      /* from there to its first byte */
        uint8_t    *pages;     /* mapped here */
        bool        defined;
    };
    std::vector<buffer> buffers_;
    int                 file_ = -1;
    size_t              file_bytes_ = 0;
};

/* -- Running ----------------------------------------------------------------------------------- */

/* A buffer of `memory` at a buffer index. */
struct buffer_binding {
    unsigned index = 0;
    unsigned buffer = 0;
    size_t   offset = 0;
    bool     writable = false;
};

/* Bytes at a buffer index, as setBytes gives. */
struct bytes_binding {
    unsigned             index = 0;
    std::vector<uint8_t> bytes;
};

/* An 8-byte address inside bytes: the buffer is bound without an index of its own. */
struct address_binding {
    unsigned index = 0; /* of the bytes_binding */
    size_t   at = 0;    /* offset in its bytes */
    unsigned buffer = 0;
    size_t   offset = 0;
    bool     writable = false;
};

struct threadgroup_binding {
    unsigned index = 0;
    size_t   bytes = 0;
};

/* One dispatch of threadgroups. Launches of one run happen in order, each after the one before. */
struct launch {
    const sim::kernel               *kernel = nullptr;
    std::array<uint32_t, 3>          grid{{1, 1, 1}}; /* threadgroups */
    std::array<uint32_t, 3>          threads{{32, 1, 1}};
    std::vector<buffer_binding>      buffers;
    std::vector<bytes_binding>       bytes;
    std::vector<address_binding>     addresses;
    std::vector<threadgroup_binding> threadgroup;
};

struct run_options {
    uint64_t seed = 1; /* order of threadgroups, simdgroups and lanes; weak exchanges */
    bool     counters = false;
    bool     checks = true; /* off: bounds only, no races and no initialisation */
    bool     flush = true;  /* f32 denormals become zero, as on the device */
    double   seconds = 20;  /* a run that takes longer is a violation */
};

#define SIM_VIOLATIONS(X)                                                                          \
    X(BOUNDS, "out of bounds")                                                                     \
    X(ALIGNMENT, "misaligned")                                                                     \
    X(READ_ONLY, "write to read-only memory")                                                      \
    X(UNINITIALISED, "uninitialised")                                                              \
    X(RACE, "race in a threadgroup")                                                               \
    X(GRID_RACE, "race between threadgroups")                                                      \
    X(BARRIER, "barrier not reached by all")                                                       \
    X(SIMD, "simd function not reached by all")                                                    \
    X(LANE, "lane out of range")                                                                   \
    X(UNIFORM, "argument differs between lanes")                                                   \
    X(LIMIT, "limit")                                                                              \
    X(BINDING, "binding")                                                                          \
    X(UNDEFINED, "undefined arithmetic")                                                           \
    X(TIME, "time limit")                                                                          \
    X(CRASH, "crash")

enum class violation_kind {
#define X(id, text) id,
    SIM_VIOLATIONS(X)
#undef X
};

struct violation {
    violation_kind          kind;
    std::string             kernel, file, text;
    unsigned                line = 0;           /* in the Metal text; 0: unknown */
    unsigned                thread = 0;         /* in the threadgroup */
    std::array<uint32_t, 3> program{{0, 0, 0}}; /* threadgroup */
    uint64_t                times = 1;          /* the same at the same place */

    std::string str() const;
};

/* One load or store of the text. Device sites count 128-byte lines, threadgroup sites cycles. */
struct access_site {
    unsigned line = 0;
    space    where = space::device;
    bool     write = false;
    uint64_t simd_accesses = 0; /* times a simdgroup executed it */
    uint64_t bytes = 0;
    /* Device: distinct 128-byte lines touched. Threadgroup: cycles, i.e. the most distinct 4-byte
     * words that one of 32 banks had to give. */
    uint64_t touched = 0;
    /* Device: the lines that as many distinct bytes would need if they were contiguous and began at
     * the lowest touched byte's place in its line. Threadgroup: cycles without conflicts. */
    uint64_t fewest = 0;
};

struct buffer_traffic {
    std::string name;
    uint64_t    bytes_read = 0, bytes_written = 0;
    uint64_t    distinct_read = 0, distinct_written = 0;
    /* As bytes_read, without what a few places (one in eight at most) are read more often than all
     * others. Where loads are clamped instead of masked, lanes behind the end of a row ask for its last
     * element again; a second read of the row doubles this, they do not. */
    uint64_t read_evenly = 0;
};

struct kernel_counters {
    std::string                 kernel;
    uint64_t                    threadgroups = 0, threads = 0;
    uint64_t                    barriers = 0; /* threadgroup barriers, summed over threadgroups */
    uint64_t                    simd_ops = 0; /* simd and matrix functions, summed over threads */
    uint64_t                    atomics = 0;
    uint64_t                    accesses = 0; /* memory accesses of threads */
    uint64_t                    threadgroup_bytes = 0;
    std::vector<access_site>    sites;
    std::vector<buffer_traffic> buffers;

    uint64_t sum(space where, bool write, uint64_t access_site::*field) const;
};

struct report {
    std::vector<violation>       violations;
    std::vector<kernel_counters> counters;         /* one a launch */
    std::vector<std::string>     log;              /* os_log */
    uint64_t                     benign_races = 0; /* same value written twice without order */
    uint64_t aliased = 0;        /* elements reached through two arguments, one writing */
    uint64_t zero_divisions = 0; /* integer, by zero or overflowing */
    double   seconds = 0;

    bool ok() const { return violations.empty(); }
};

/* Runs the launches in a child process; a crash or a hang there is a violation in the report. */
report run(const module &m, const std::vector<launch> &launches, memory &mem,
           const run_options &options);

} // namespace sim

#endif
