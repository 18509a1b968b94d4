/* A stand-in for libobjc, Foundation and Metal: answers the messages that the launcher sends, runs kernels in the
 * simulator, and is strict where Metal is silent: what the launcher does wrong is noted. README.md lists what. */
#ifndef METAL_STANDIN_H
#define METAL_STANDIN_H

#include "../sim/sim.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace standin {

/* What kind of machine it is, and what goes wrong on it. */
struct machine {
    bool        has_metal = true;
    bool        has_default_device = true;
    unsigned    devices = 1;            /* that MTLCopyAllDevices lists */
    bool        old_system = false;     /* macOS 13: no math mode, no architecture */
    int         family = 7;             /* highest MTLGPUFamilyApple of the first device; each further has one more */
    bool        has_registry = true;    /* IOKit, as on macOS */
    int         cores = 10;             /* gpu-core-count; 0: it has none */
    bool        cores_are_text = false;
    std::string compiler_says;          /* an error of the compiler; with `warns` a warning, with a library */
    bool        warns = false;
    bool        lacks_function = false; /* the library does not have the function asked for */
    std::string pipeline_says;          /* an error of the pipeline */
    unsigned    pipeline_threads = 1024, simd_width = 32, threadgroup_bytes = 32768;
    uint64_t    max_buffer = uint64_t{8} << 30;
    bool        no_memory = false;      /* newBuffer gives nil */
    unsigned    page = 4096;            /* bytes of one: what is wrapped begins and ends on them */
    bool        no_command_buffer = false, no_encoder = false, no_queue = false;
    long        fault = 0;              /* MTLCommandBufferError of every command buffer */
    std::string fault_says;             /* its text; "" for one of no words */
    size_t      fault_at = 0;           /* of the one that is committed as this one alone, from 1; 0: of all */
    bool        hangs = false;          /* command buffers never complete */
    std::string system = "Version 15.0 (Build 24A335)";
    bool        no_archives = false;    /* the device does not know them */
    std::string archive_fails;          /* at "open", "add", "miss" or "write"; it may "vanish" too */
    std::string wrong_product;          /* operands of this type, "half", that matmul2d gets wrong: one sum of each lane */
    bool        flips = false;          /* the last byte that each kernel may write comes out wrong */
    std::set<std::string> lacks;        /* functions, classes and selectors that the system does not have */
    std::map<std::string, unsigned> gives_nothing; /* what answers nil or 0, after so many right answers */
    uint64_t    tick = 1000000;         /* nanoseconds that go by each time that the clock is asked */
    bool        runs = true;            /* false: kernels are not run, for measuring what is around them */
};
extern machine now;

/* What was compiled since these were set to 0. */
struct counts {
    std::atomic<unsigned> libraries{0}, pipelines{0}; /* from text; from a library */
    std::atomic<unsigned> archived{0};                /* pipelines that an archive had */
};
extern counts counted;

/* Microseconds of the shortest and of the longest sleep since these were set to 0. */
extern std::atomic<unsigned> shortest_sleep, longest_sleep;

/* Where the launcher finds the functions: tmetal_metal_options.symbol. */
void (*symbol(void *user, const char *name))(void);

/* What the launcher did wrong since the last call, a line each; objects that nobody released too. */
std::vector<std::string> complaints(bool leaks = true);
size_t alive();     /* objects */
size_t in_memory(); /* likewise, where `runs` is false; otherwise released ones too */

/* Metal texts that will be asked for, compiled together: one run of clang for many. */
void prepare(const std::vector<sim::source> &texts);

/* What a selector's method takes and gives, by the letters of >>metal; "" for none. */
std::string shape_of(const std::string &selector);

/* Command buffers committed since the last call. */
size_t committed();

/* Violations that the simulator saw. */
std::vector<sim::violation> violations();

/* Objects that a host would have: an event, a command buffer of its own, its encoder. */
void *new_event();
void *new_queue_of(void *device);
void *last_pipeline();

} // namespace standin

#endif
