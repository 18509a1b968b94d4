/* What callers and machines do wrong, and what the launcher says of each: code and words. Then that launches cost
 * little and leave nothing behind, from several threads too. */
#define TMETAL_METAL
#include "../../tmetal.h"

#include "standin.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

extern "C" const char *const *metal_selectors(size_t *n);
extern "C" const char *metal_shape(size_t i);

namespace {

std::atomic<int> failures;

void fail(const std::string &what) {
    std::printf("metal: %s\n", what.c_str());
    failures++;
}

/* Bytes of memory that this process has now; 0 where the system does not tell. */
size_t resident() {
    size_t        all = 0, here = 0;
    std::ifstream f("/proc/self/statm");
    return f >> all >> here ? here * static_cast<size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

std::string text_of(const char *path) {
    std::ifstream     f(path, std::ios::binary);
    std::stringstream s;
    s << f.rdbuf();
    return s.str();
}

/* A kernel on a device, with three buffers: as vector_add wants them unless a row changes something. */
struct scene {
    std::vector<char>    memory = std::vector<char>(8u << 20);
    tmetal_arena         arena = tmetal_arena_on(memory.data(), memory.size());
    tmetal_result        result{};
    tmetal_problem       problem{};
    tmetal_metal_options open{};
    tmetal_options       options{};
    tmetal_metal        *metal = nullptr;
    tmetal_loaded       *loaded = nullptr;
    tmetal_launch       *launch = nullptr;
    tmetal_buffer        buffer[3]{};
    tmetal_launch_arg    args[8]{};
    uint32_t             n_args = 0, programs[3] = {1, 1, 1};
    std::string          file = "examples/kernels/vector_add.ttir";
    const char          *warnings = "";
    uint64_t             milliseconds = 0;
    tmetal_launch_options start{};

    std::string          list, text; /* an op list, or Triton IR, instead of the file's */

    tmetal_code compile() {
        if (!list.empty()) return tmetal_compile_ops(list.data(), list.size(), &options, &arena, &result);
        if (text.empty()) text = text_of(file.c_str());
        return tmetal_compile(text.data(), text.size(), &options, &arena, &result);
    }
    /* What lies behind all that was taken of the arena: the launcher has no business there. */
    size_t guarded = 0;
    static constexpr size_t zone = 4096;
    void guard() {
        if (arena.base != memory.data() || arena.used + 2 * zone > memory.size()) return;
        arena.peak = arena.used;
        std::memset(memory.data() + arena.used, 0xa5, memory.size() - arena.used < (1u << 18) ? memory.size() - arena.used : 1u << 18);
        guarded = arena.used;
    }
    void look_behind() const {
        const size_t end = guarded + (1u << 18);
        if (!guarded || arena.base != memory.data() || arena.peak + zone > end || end > memory.size()) return;
        for (size_t i = arena.peak; i < arena.peak + zone; i++)
            if (memory[i] != '\xa5') return fail("a byte behind what was taken of the arena is written");
    }
    tmetal_code up_to_load() {
        tmetal_code c = compile();
        if (c != TMETAL_OK) return c;
        guard();
        if (!open.symbol) open.symbol = standin::symbol;
        c = tmetal_metal_open(&open, &arena, &metal, &problem);
        if (c == TMETAL_OK) c = tmetal_load(metal, &result, &arena, &loaded, &warnings, &problem);
        return c;
    }
    tmetal_code ready() { /* up to the launch, with right arguments */
        tmetal_code c = up_to_load();
        for (tmetal_buffer &b : buffer)
            if (c == TMETAL_OK) c = tmetal_buffer_make(metal, 4096, &b, &problem);
        if (c == TMETAL_OK) c = tmetal_launch_make(loaded, &arena, &launch, &problem);
        for (int i = 0; i < 3; i++) args[i] = tmetal_arg_buffer(&buffer[i], 0);
        args[3] = tmetal_arg_int(1000);
        n_args = 4;
        return c;
    }
    tmetal_code go() {
        tmetal_code c = tmetal_launch_start(launch, args, n_args, programs, &start, &problem);
        return c == TMETAL_OK ? tmetal_launch_wait(launch, milliseconds, &problem) : c;
    }
    ~scene() {
        look_behind();
        standin::now.hangs = false;
        if (launch) tmetal_launch_free(launch);
        if (metal)
            for (tmetal_buffer &b : buffer) tmetal_buffer_free(metal, &b);
        tmetal_unload(loaded);
        tmetal_metal_close(metal);
    }
};

struct row {
    const char                        *name;
    tmetal_code                        code;
    const char                        *words;
    std::function<tmetal_code(scene &)> act;
};

tmetal_code run(scene &s) {
    const tmetal_code c = s.ready();
    return c == TMETAL_OK ? s.go() : c;
}

/* A launch in which one thing is changed before it starts. */
std::function<tmetal_code(scene &)> with(std::function<void(scene &)> change) {
    return [change](scene &s) {
        const tmetal_code c = s.ready();
        if (c != TMETAL_OK) return c;
        change(s);
        return s.go();
    };
}

/* A machine on which one thing is different from the start. */
std::function<tmetal_code(scene &)> on(std::function<void()> change) {
    return [change](scene &s) {
        change();
        return run(s);
    };
}

/* A kernel that was compiled for multiples of 16, but for its last integer. */
tmetal_code specialized(scene &s, int64_t n, int64_t m, int64_t unread) {
    s.file = "tests/metal/specialized.ttir";
    const tmetal_code c = s.ready();
    s.args[3] = tmetal_arg_int(n);
    s.args[4] = tmetal_arg_int(m);
    s.args[5] = tmetal_arg_int(unread);
    s.n_args = 6;
    return c == TMETAL_OK ? s.go() : c;
}

/* The same by tmetal_launch_packed, and what it leaves looked at. */
tmetal_code packed(scene &s, int32_t n, int32_t m, uint64_t offset, uint32_t count = 6) {
    s.file = "tests/metal/specialized.ttir";
    tmetal_code       c = s.ready();
    tmetal_packed_arg args[6] = {};
    float            *at[3];
    if (c != TMETAL_OK) return c;
    for (int i = 0; i < 3; i++) {
        args[i].object = s.buffer[i].object;
        at[i] = static_cast<float *>(s.buffer[i].contents);
        for (int k = 0; k < 64; k++) at[i][k] = i == 2 ? -1.0f : float(k + i);
    }
    args[1].offset = offset;
    args[3].bits = static_cast<uint32_t>(n);
    args[4].bits = static_cast<uint32_t>(m);
    c = tmetal_launch_packed(s.launch, args, count, s.programs, nullptr, &s.problem);
    if (c == TMETAL_OK) c = tmetal_launch_wait(s.launch, 0, &s.problem);
    for (int k = 0; k < 64 && c == TMETAL_OK; k++)
        if (at[2][k] != (k < n ? 2.0f * float(2 * k + 1) : -1.0f)) fail("packed: another result");
    return c;
}

/* Rows of sums in two stages, as many times as `deep` says along the axis that the stages need. */
tmetal_code two_stages(scene &s, uint32_t deep, uint32_t wide = 1) {
    s.file = "examples/kernels/row_sum.ttir";
    s.options.two_stage = 4;
    const tmetal_code c = s.ready();
    s.programs[0] = s.programs[1] = wide, s.programs[2] = deep;
    s.args[2] = tmetal_arg_int(256);
    s.n_args = 3;
    return c == TMETAL_OK ? s.go() : c;
}

/* On a device that the caller has, into a command buffer that the caller commits; both stay the caller's. */
tmetal_code own_device(scene &s, uint32_t family) {
    using id = void *;
    const auto send = standin::symbol(nullptr, "objc_msgSend");
    const auto name = reinterpret_cast<id (*)(const char *)>(standin::symbol(nullptr, "sel_registerName"));
    const auto pool = reinterpret_cast<id (*)()>(standin::symbol(nullptr, "objc_autoreleasePoolPush"))();
    const auto get = reinterpret_cast<id (*)(id, id)>(send);
    const id   device = reinterpret_cast<id (*)()>(standin::symbol(nullptr, "MTLCreateSystemDefaultDevice"))();
    const id   queue = standin::new_queue_of(device);
    s.open.object = device;
    s.open.family = family;
    tmetal_code c = s.ready();
    if (c == TMETAL_OK) {
        const id buffer = s.start.command_buffer = get(queue, name("commandBuffer"));
        static_cast<float *>(s.buffer[0].contents)[3] = 2.5f;
        static_cast<float *>(s.buffer[2].contents)[3] = 0;
        c = s.go();
        if (static_cast<float *>(s.buffer[2].contents)[3] != 0) fail("a launch ran before its owner committed it");
        get(buffer, name("commit"));
        get(buffer, name("waitUntilCompleted"));
        if (static_cast<float *>(s.buffer[2].contents)[3] != 2.5f) fail("a launch into the caller's command buffer did not run");
    }
    get(queue, name("release"));
    get(device, name("release"));
    reinterpret_cast<void (*)(id)>(standin::symbol(nullptr, "objc_autoreleasePoolPop"))(pool);
    return c;
}

/* A message that takes nothing and gives an object or nothing. */
void *tell(void *object, const char *selector) {
    const auto name = reinterpret_cast<void *(*)(const char *)>(standin::symbol(nullptr, "sel_registerName"));
    return reinterpret_cast<void *(*)(void *, void *)>(standin::symbol(nullptr, "objc_msgSend"))(object, name(selector));
}

/* Into an encoder of the caller's, behind another launch in it; then what an assertion said is read. */
tmetal_code own_encoder(scene &s) {
    s.file = "tests/metal/asserts.ttir";
    tmetal_code c = s.ready();
    s.args[1] = tmetal_arg_int(5);
    s.n_args = 2;
    const auto pool = reinterpret_cast<void *(*)()>(standin::symbol(nullptr, "objc_autoreleasePoolPush"))();
    void *const queue = standin::new_queue_of(nullptr), *const buffer = tell(queue, "commandBuffer");
    s.start.encoder = tell(buffer, "computeCommandEncoder");
    if (c == TMETAL_OK) c = s.go();
    tell(s.start.encoder, "endEncoding");
    tell(buffer, "commit");
    if (c == TMETAL_OK && !*tmetal_launch_text(s.launch, 0, &s.arena)) fail("the caller's encoder: no assertion is told");
    tell(queue, "release");
    reinterpret_cast<void (*)(void *)>(standin::symbol(nullptr, "objc_autoreleasePoolPop"))(pool);
    return c;
}

/* Into a command buffer of the caller's, two functions: the second's grid is refused, and so the first does not run. */
tmetal_code first_of_two(scene &s) {
    s.file = "tests/metal/two_functions.ttir";
    s.options.two_stage = 4;
    tmetal_code c = s.ready();
    s.args[2] = tmetal_arg_int(256);
    s.n_args = 3, s.programs[2] = 2;
    const auto pool = reinterpret_cast<void *(*)()>(standin::symbol(nullptr, "objc_autoreleasePoolPush"))();
    void *const queue = standin::new_queue_of(nullptr), *const buffer = s.start.command_buffer = tell(queue, "commandBuffer");
    if (c == TMETAL_OK) c = s.go();
    tell(buffer, "commit");
    tell(buffer, "waitUntilCompleted");
    if (s.buffer[1].contents && *static_cast<float *>(s.buffer[1].contents) != 0) fail("a launch that is refused has begun");
    tell(queue, "release");
    reinterpret_cast<void (*)(void *)>(standin::symbol(nullptr, "objc_autoreleasePoolPop"))(pool);
    return c;
}

/* One launch behind the other by an event; each in parts of one program or whole. */
tmetal_code by_event(scene &s, uint32_t parts, uint64_t first, uint64_t second) {
    s.options.parts = parts;
    tmetal_code c = s.ready();
    s.programs[0] = 3;
    s.start.programs_per_part = parts;
    s.start.wait_event = s.start.signal_event = standin::new_event();
    s.start.wait_value = 0, s.start.signal_value = first;
    if (c == TMETAL_OK) c = s.go();
    s.start.wait_value = second, s.start.signal_value = first + 1;
    if (c == TMETAL_OK) c = s.go();
    tell(s.start.wait_event, "release");
    return c;
}

/* The second and the third buffer over the same pages, from `first` and from `second` on. */
tmetal_code on_one_memory(scene &s, bool adopted, uint64_t first, uint64_t second) {
    static unsigned char pages[3 * 4096 + 4096];
    unsigned char       *memory = pages + (4096 - reinterpret_cast<uintptr_t>(pages) % 4096) % 4096;
    tmetal_code          c = s.ready();
    tmetal_buffer        one{};
    for (int i = 1; i < 3; i++) tmetal_buffer_free(s.metal, &s.buffer[i]);
    if (c == TMETAL_OK) c = tmetal_buffer_wrap(s.metal, memory, 3 * 4096, &one, &s.problem);
    for (int i = 1; i < 3 && c == TMETAL_OK; i++)
        c = adopted ? tmetal_buffer_adopt(s.metal, one.object, &s.buffer[i], &s.problem)
                    : tmetal_buffer_wrap(s.metal, memory, 3 * 4096, &s.buffer[i], &s.problem);
    s.args[1].offset = first, s.args[2].offset = second;
    s.args[3] = tmetal_arg_int(256);
    if (c == TMETAL_OK) c = s.go();
    if (one.object) tmetal_buffer_free(s.metal, &one);
    return c;
}

/* An op list of 1,024 elements a tensor, with its parameters in one buffer at these multiples of 1,024 bytes. */
tmetal_code list_at(scene &s, const char *list, std::vector<int> at) {
    s.list = list;
    tmetal_code c = s.up_to_load();
    if (c == TMETAL_OK) c = tmetal_buffer_make(s.metal, 16384, &s.buffer[0], &s.problem);
    if (c == TMETAL_OK) c = tmetal_launch_make(s.loaded, &s.arena, &s.launch, &s.problem);
    for (int k : at) s.args[s.n_args++] = tmetal_arg_buffer(&s.buffer[0], 1024 * static_cast<uint64_t>(k));
    return c == TMETAL_OK ? s.go() : c;
}

/* One kernel; two, of which the second reads w alone. */
const char one_op[] = "{\"ops\":[{\"type\":\"tt.exp\",\"id\":\"y\",\"inputs\":[\"x\"],\"input_shapes\":[[1024]]}]}";
const char two_ops[] = "{\"ops\":[{\"type\":\"tt.sum\",\"id\":\"s\",\"inputs\":[\"x\"],\"input_shapes\":[[32,32]],\"args\":{\"axis\":1}},"
                       "{\"type\":\"tt.softmax\",\"id\":\"y\",\"inputs\":[\"w\"],\"input_shapes\":[[32,32]],\"args\":{\"axis\":1}}]}";

standin::machine &m = standin::now;

/* A launch in parts of so many programs; the kernel was compiled for it or was not. */
tmetal_code in_parts(scene &s, uint32_t compiled_for, uint64_t most, std::function<void(scene &)> change = nullptr) {
    s.options.parts = compiled_for;
    const tmetal_code c = s.ready();
    s.programs[0] = 4;
    s.start.programs_per_part = most;
    if (c == TMETAL_OK && change) change(s);
    return c == TMETAL_OK ? s.go() : c;
}

/* Up to the first launch of an op list; its parameters lie in one buffer, 1,024 bytes apart. */
tmetal_code list_ready(scene &s, const char *list, uint32_t n) {
    s.list = list;
    tmetal_code c = s.up_to_load();
    if (c == TMETAL_OK) c = tmetal_buffer_make(s.metal, 65536, &s.buffer[0], &s.problem);
    if (c == TMETAL_OK) c = tmetal_launch_make(s.loaded, &s.arena, &s.launch, &s.problem);
    for (s.n_args = 0; s.n_args < n; s.n_args++) s.args[s.n_args] = tmetal_arg_buffer(&s.buffer[0], 4096 * uint64_t{s.n_args});
    return c;
}

/* Sums of columns and their softmax, twice: each pair has a buffer between its kernels. */
const char two_pairs[] = "{\"ops\":[{\"type\":\"tt.sum\",\"id\":\"s\",\"inputs\":[\"x\"],\"input_shapes\":[[32,32]],\"args\":{\"axis\":0}},"
                         "{\"type\":\"tt.sum\",\"id\":\"u\",\"inputs\":[\"w\"],\"input_shapes\":[[32,32]],\"args\":{\"axis\":0}},"
                         "{\"type\":\"tt.softmax\",\"id\":\"v\",\"inputs\":[\"s\"],\"input_shapes\":[[32]],\"args\":{\"axis\":0}},"
                         "{\"type\":\"tt.softmax\",\"id\":\"y\",\"inputs\":[\"u\"],\"input_shapes\":[[32]],\"args\":{\"axis\":0}}]}";

/* Two functions, of which the second has no index left for its part of the grid. */
std::string one_without_parts() {
    std::string s = "module {\n tt.func public @mark(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {\n  %seven = arith.constant 7.0 : f32\n"
                    "  tt.store %out, %seven : !tt.ptr<f32>\n  tt.return\n }\n tt.func public @wide(%p0: !tt.ptr<f32>";
    for (int i = 1; i < 31; i++) s += ", %p" + std::to_string(i) + ": !tt.ptr<f32>";
    s += ") {\n  %c = arith.constant 8.0 : f32\n";
    for (int i = 0; i < 31; i++) s += "  tt.store %p" + std::to_string(i) + ", %c : !tt.ptr<f32>\n";
    return s + "  tt.return\n }\n}\n";
}

/* A sum of so many numbers. */
std::string numbers(int n) {
    std::string s = "module {\n tt.func public @many(%p: !tt.ptr<i64>, %n0: i64", add;
    for (int i = 1; i < n; i++) {
        s += ", %n" + std::to_string(i) + ": i64";
        add += "  %s" + std::to_string(i) + " = arith.addi %" + (i > 1 ? "s" : "n") + std::to_string(i - 1) + ", %n" + std::to_string(i) + " : i64\n";
    }
    return s + ") {\n" + add + "  tt.store %p, %s" + std::to_string(n - 1) + " : !tt.ptr<i64>\n  tt.return\n }\n}\n";
}

/* A launch of the sum of 512, or of more bytes than Metal takes at one place, into a command buffer of the caller's or not. */
tmetal_code many_numbers(scene &s, int n, uint64_t parts = 0) {
    s.text = numbers(n);
    s.options.parts = parts != 0;
    s.start.programs_per_part = parts;
    tmetal_code                    c = s.ready();
    std::vector<tmetal_launch_arg> args(static_cast<size_t>(n) + 1, tmetal_arg_int(3));
    args[0] = s.args[0];
    if (c == TMETAL_OK) c = tmetal_launch_start(s.launch, args.data(), static_cast<uint32_t>(args.size()), s.programs, &s.start, &s.problem);
    if (c == TMETAL_OK) c = tmetal_launch_wait(s.launch, 0, &s.problem);
    if (c == TMETAL_OK && *static_cast<int64_t *>(s.buffer[0].contents) != 3 * n) fail("a sum of many numbers is wrong");
    return c;
}

/* A kernel of every kind of number; the last is a float. */
tmetal_code scalars(scene &s, tmetal_launch_arg last) {
    s.file = "tests/kernels/recorded/arguments-every_scalar.ttir";
    tmetal_code c = s.ready();
    for (int i = 1; i < 7; i++) s.args[i] = tmetal_arg_int(i == 1 ? -1 : 0);
    s.args[7] = last, s.n_args = 8;
    if (c == TMETAL_OK) c = s.go();
    if (c == TMETAL_OK && (static_cast<int64_t *>(s.buffer[0].contents)[0] != 1 || static_cast<int64_t *>(s.buffer[0].contents)[6] != 3000))
        fail("every scalar: other numbers arrive");
    return c;
}

/* A row that lies inside of its tensor and rows that do not, which are NaN or 0. */
tmetal_code padded(scene &s, int nan) {
    s.file = "tests/kernels/recorded/descriptors-padded_host.ttir";
    tmetal_code   c = s.ready();
    const int64_t others[] = {2, 2, 2, 1, 0, 1, 0}; /* shape, strides, y, row, column */
    for (int i = 1; i < 8; i++) s.args[i] = i == 5 ? tmetal_arg_buffer(&s.buffer[1], 0) : tmetal_arg_int(others[i - 1]);
    s.args[0].nan_padding = nan, s.n_args = 8;
    if (c != TMETAL_OK) return c;
    static_cast<float *>(s.buffer[0].contents)[2] = 5, static_cast<float *>(s.buffer[0].contents)[3] = 6;
    const auto *y = static_cast<const float *>(s.buffer[1].contents);
    c = s.go();
    if (y[0] != 5 || y[1] != 6 || (nan ? y[2] == y[2] || y[16] == y[16] : y[2] != 0 || y[16] != 0)) fail("a padded tensor: other numbers");
    return c;
}

/* What an assertion said is told of the launch that was last, however many there were. */
tmetal_code assert_twice(scene &s) {
    s.file = "tests/metal/asserts.ttir";
    const tmetal_code c = s.ready();
    s.args[1] = tmetal_arg_int(5), s.n_args = 2;
    if (c != TMETAL_OK) return c;
    if (*tmetal_launch_text(s.launch, 0, &s.arena) || *tmetal_launch_text(s.launch, 1, &s.arena)) fail("an assertion is told before the launch");
    for (int i = 0; i < 2; i++)
        if (s.go() != TMETAL_E_ASSERTION || !std::strstr(s.problem.text, "61 assertions")) fail(std::string("assertions: ") + s.problem.text);
    return TMETAL_E_ASSERTION;
}

/* Scratch that is long enough for the next launch stays, and grows where it must. */
tmetal_code scratch_again(scene &s) {
    static const uint32_t rows_of[] = {1, 1, 3, 2};
    s.file = "examples/kernels/row_sum.ttir";
    s.options.two_stage = 4;
    tmetal_code c = s.ready();
    s.args[2] = tmetal_arg_int(256);
    s.n_args = 3;
    for (int i = 0; i < 1024 && c == TMETAL_OK; i++) static_cast<float *>(s.buffer[0].contents)[i] = static_cast<float>(1 + i / 256);
    size_t made = 0;
    for (const uint32_t n : rows_of) {
        const size_t before = standin::alive();
        s.programs[0] = n;
        if (c == TMETAL_OK) c = s.go();
        made += standin::alive() - before;
        for (uint32_t i = 0; i < n && c == TMETAL_OK; i++)
            if (static_cast<float *>(s.buffer[1].contents)[i] != 256.0f * static_cast<float>(1 + i)) fail("scratch again: a sum is wrong");
    }
    if (c == TMETAL_OK && made != 1) fail("scratch again: " + std::to_string(made) + " buffers more");
    return c;
}

/* The first buffer and the third, of which the CPU sees one or none: that they are the same is told by the object. */
tmetal_code unseen(scene &s, bool both, int first) {
    tmetal_code   c = s.ready();
    tmetal_buffer in{}, out{};
    if (both) m.gives_nothing["contents"] = 0;
    if (c == TMETAL_OK) c = tmetal_buffer_adopt(s.metal, s.buffer[2].object, &out, &s.problem);
    m.gives_nothing["contents"] = 0;
    if (c == TMETAL_OK) c = tmetal_buffer_adopt(s.metal, s.buffer[first].object, &in, &s.problem);
    s.args[0] = tmetal_arg_buffer(&in, 0), s.args[2] = tmetal_arg_buffer(&out, 0);
    if (c == TMETAL_OK) c = s.go();
    if (in.object) tmetal_buffer_free(s.metal, &in);
    if (out.object) tmetal_buffer_free(s.metal, &out);
    return c;
}

/* By the simple call, which has no options. */
tmetal_code run_simply(scene &s, uint32_t programs) {
    s.options.parts = 1;
    const tmetal_code c = s.ready();
    s.programs[0] = programs;
    return c == TMETAL_OK ? tmetal_launch_run(s.launch, s.args, s.n_args, s.programs, &s.problem) : c;
}

/* Waits on a system that lacks something, or for a very long time. */
tmetal_code waits(scene &s, const char *lacks, uint64_t milliseconds) {
    if (*lacks) m.lacks.insert(lacks);
    const tmetal_code c = s.ready();
    s.milliseconds = milliseconds;
    if (c == TMETAL_OK) static_cast<float *>(s.buffer[0].contents)[7] = 1.5f;
    const tmetal_code is = c == TMETAL_OK ? s.go() : c;
    if (is == TMETAL_OK && static_cast<float *>(s.buffer[2].contents)[7] != 1.5f) fail("a launch that was waited for has not run");
    return is;
}

/* Sleeps get longer while nothing comes, from 20 microseconds to 2 milliseconds. */
tmetal_code sleeps(scene &s, uint64_t tick, uint64_t milliseconds, unsigned shortest, unsigned longest) {
    const tmetal_code c = s.ready();
    m.hangs = true, m.tick = tick, s.milliseconds = milliseconds;
    standin::shortest_sleep = standin::longest_sleep = 0;
    const tmetal_code is = c == TMETAL_OK ? s.go() : c;
    if (standin::shortest_sleep != shortest || standin::longest_sleep != longest)
        fail("sleeps of " + std::to_string(standin::shortest_sleep) + " to " + std::to_string(standin::longest_sleep) + " microseconds");
    return is;
}

tmetal_code tries_tensors(scene &s, std::function<void()> change) {
    uint32_t          wrong = 7, sums = 7;
    const tmetal_code c = s.up_to_load();
    if (c != TMETAL_OK) return c;
    change();
    const tmetal_code is = tmetal_tensor_try(s.metal, TMETAL_TENSORS_IN_MEMORY, &s.arena, &wrong, &sums, &s.problem);
    if (wrong || sums) fail("tensors that could not be tried are counted");
    return is;
}

/* A product of operands of this type, by matmul2d or not. */
void product_of(scene &s, const std::string &type, bool tensors = true) {
    static const tmetal_gpu_limits has = [] { tmetal_gpu_limits l{}; return l.features = TMETAL_GPU_TENSOR_OPS, l; }();
    s.text = text_of(type == "int8_t" ? "tests/kernels/recorded/dots-dot_accumulator_i32.ttir" : "tests/chips/kernels/dot_bf16.ttir");
    const std::string other = type == "half" ? "f16" : type == "float" ? "f32" : "bf16";
    for (size_t at = 0; type != "int8_t" && (at = s.text.find("bf16", at)) != std::string::npos; at += other.size())
        if (at && s.text[at - 1] != '_') s.text.replace(at, 4, other);
    s.options.gpu = "apple-m5";
    s.options.limits = tensors ? &has : nullptr;
}

tmetal_code loads_product(scene &s, const char *type, std::function<void()> change) {
    product_of(s, type);
    change();
    return s.up_to_load();
}

const std::vector<row> rows = {
    {"right", TMETAL_OK, "", run},
    {"no Metal", TMETAL_E_NO_METAL, "objc_msgSend is not found", on([] { m.has_metal = false; })},
    {"no device at all", TMETAL_E_NO_DEVICE, "that this process may use", on([] { m.has_default_device = false, m.devices = 0; })},
    {"no default device, one in the list", TMETAL_OK, "", on([] { m.has_default_device = false; })},
    {"a device by a name that none has", TMETAL_E_NO_DEVICE, "no Metal device Radeon",
     [](scene &s) { return s.open.device = "Radeon", run(s); }},
    {"a device by a part of its name", TMETAL_OK, "", [](scene &s) { return s.open.device = "M1", run(s); }},
    {"the second device by its number", TMETAL_OK, "",
     [](scene &s) { return m.devices = 2, s.open.device = "4294968002", run(s); }},
    {"a family that none has", TMETAL_E_NO_DEVICE, "of Apple family 9", [](scene &s) { return s.open.family = 9, run(s); }},
    {"a family that the second has", TMETAL_OK, "", [](scene &s) { return m.devices = 2, s.open.family = 8, run(s); }},
    {"the caller's own device, family and command buffer", TMETAL_OK, "", [](scene &s) { return m.devices = 0, own_device(s, 7); }},
    {"the caller's own device, and a family that it has not", TMETAL_E_NO_DEVICE, "of Apple family 8",
     [](scene &s) { return m.devices = 2, own_device(s, 8); }},
    {"no queue", TMETAL_E_NO_DEVICE, "with a command queue", on([] { m.no_queue = true; })},
    {"no arena", TMETAL_E_MISUSE, "no arena",
     [](scene &s) {
         s.open.symbol = standin::symbol;
         return tmetal_metal_open(&s.open, nullptr, &s.metal, &s.problem);
     }},
    {"no arena to load into", TMETAL_E_MISUSE, "no arena",
     [](scene &s) {
         const tmetal_code c = s.up_to_load();
         tmetal_loaded    *none;
         return c == TMETAL_OK ? tmetal_load(s.metal, &s.result, nullptr, &none, nullptr, &s.problem) : c;
     }},
    {"a small arena", TMETAL_E_ARENA, "arena is full",
     [](scene &s) {
         char         few[64];
         tmetal_arena a = tmetal_arena_on(few, sizeof few);
         s.open.symbol = standin::symbol;
         return tmetal_metal_open(&s.open, &a, &s.metal, &s.problem);
     }},
    {"an old system", TMETAL_OK, "", on([] { m.old_system = true; })},
    {"a result that is none", TMETAL_E_MISUSE, "nothing to load",
     [](scene &s) {
         s.file = "tests/metal/README.md"; /* no Triton IR */
         s.compile();
         s.open.symbol = standin::symbol;
         tmetal_metal_open(&s.open, &s.arena, &s.metal, &s.problem);
         return tmetal_load(s.metal, &s.result, &s.arena, &s.loaded, nullptr, &s.problem);
     }},
    {"a plan without Metal", TMETAL_E_MISUSE, "holds no Metal",
     [](scene &s) {
         const std::string text = text_of(s.file.c_str());
         tmetal_module    *module;
         s.open.symbol = standin::symbol;
         tmetal_metal_open(&s.open, &s.arena, &s.metal, &s.problem);
         tmetal_parse(text.data(), text.size(), nullptr, &s.arena, &module, &s.result);
         tmetal_plan(module, nullptr, &s.arena, &s.result);
         return tmetal_load(s.metal, &s.result, &s.arena, &s.loaded, nullptr, &s.problem);
     }},
    {"the compiler refuses", TMETAL_E_COMPILER, "from line",
     on([] { m.compiler_says = "program_source:28:9: error: use of undeclared identifier 'y'"; })},
    {"the compiler refuses and names no line", TMETAL_E_COMPILER, "XPC connection interrupted",
     on([] { m.compiler_says = "Compiler encountered XPC connection interrupted"; })},
    {"the compiler names a line that is not there", TMETAL_E_COMPILER, "program_source:99999:1",
     on([] { m.compiler_says = "program_source:99999:1: error: expected '}'"; })},
    {"the compiler warns", TMETAL_OK, "", on([] { m.compiler_says = "program_source:3:1: warning: unused", m.warns = true; })},
    {"the library lacks the function", TMETAL_E_NO_FUNCTION, "there are vector_add", on([] { m.lacks_function = true; })},
    {"no pipeline", TMETAL_E_PIPELINE, "Target OS is incompatible", on([] { m.pipeline_says = "Target OS is incompatible"; })},
    {"the compiler refuses in many words of two bytes a letter", TMETAL_E_COMPILER, "xéé",
     [](scene &s) {
         m.compiler_says = "x";
         for (int i = 0; i < 2000; i++) m.compiler_says += "é";
         const tmetal_code c = run(s);
         if (std::string(s.problem.text).substr(std::strlen(s.problem.text) - 2) != "é") fail("a text is cut inside of a letter");
         return c;
     }},
    {"a list of devices, and a small arena", TMETAL_E_ARENA, "arena is full",
     [](scene &s) {
         char                 few[64];
         tmetal_arena         a = tmetal_arena_on(few, sizeof few);
         const tmetal_device *list;
         size_t               n;
         s.open.symbol = standin::symbol;
         const tmetal_code c = tmetal_metal_devices(&s.open, &a, &list, &n, &s.problem);
         if (list || n) fail("devices are counted that are not there");
         return c;
     }},
    {"a pipeline of fewer threads", TMETAL_E_PIPELINE_LIMIT, "threads a threadgroup", on([] { m.pipeline_threads = 16; })},
    {"simdgroups of another width", TMETAL_E_PIPELINE_LIMIT, "32 wanted, 64 allowed", on([] { m.simd_width = 64; })},
    {"too little threadgroup memory", TMETAL_E_PIPELINE_LIMIT, "bytes of threadgroup memory", on([] { m.threadgroup_bytes = 512; })},
    {"no memory for a buffer", TMETAL_E_BUFFER, "no buffer of 4096 bytes", on([] { m.no_memory = true; })},
    {"a buffer beyond the device's", TMETAL_E_BUFFER, "the device allows 1024", on([] { m.max_buffer = 1024; })},
    {"wrapped memory off a page", TMETAL_E_MISUSE, "begin and end on a page",
     [](scene &s) {
         const tmetal_code c = s.ready();
         tmetal_buffer     b;
         return c == TMETAL_OK ? tmetal_buffer_wrap(s.metal, s.memory.data() + 1, 4096, &b, &s.problem) : c;
     }},
    {"wrapped memory off a large page", TMETAL_E_MISUSE, "begin and end on a page",
     [](scene &s) {
         const tmetal_code c = s.ready();
         tmetal_buffer     b;
         m.page = 16384;
         return c == TMETAL_OK ? tmetal_buffer_wrap(s.metal, reinterpret_cast<void *>(uintptr_t{16384}), 4096, &b, &s.problem) : c;
     }},
    {"nil adopted", TMETAL_E_MISUSE, "nil",
     [](scene &s) {
         const tmetal_code c = s.ready();
         tmetal_buffer     b;
         return c == TMETAL_OK ? tmetal_buffer_adopt(s.metal, nullptr, &b, &s.problem) : c;
     }},
    {"too few arguments", TMETAL_E_LAUNCH_COUNT, "read 4 parameters, but 3", with([](scene &s) { s.n_args = 3; })},
    {"a number for a buffer", TMETAL_E_LAUNCH_ARG, "wants a buffer", with([](scene &s) { s.args[0] = tmetal_arg_int(3); })},
    {"a buffer for a number", TMETAL_E_LAUNCH_ARG, "wants an integer", with([](scene &s) { s.args[3] = s.args[0]; })},
    {"a float for an integer", TMETAL_E_LAUNCH_ARG, "wants an integer", with([](scene &s) { s.args[3] = tmetal_arg_float(2.5); })},
    {"nothing for an integer", TMETAL_E_LAUNCH_ARG, "wants an integer", with([](scene &s) { s.args[3] = tmetal_launch_arg{}; })},
    {"an integer that is too large", TMETAL_E_LAUNCH_ARG, "cannot hold", with([](scene &s) { s.args[3] = tmetal_arg_int(1ll << 32); })},
    {"an integer that is too small", TMETAL_E_LAUNCH_ARG, "cannot hold", with([](scene &s) { s.args[3] = tmetal_arg_int(-(1ll << 31) - 1); })},
    {"an unsigned integer as large as can be", TMETAL_OK, "", with([](scene &s) { s.args[3] = tmetal_arg_int(0xffffffffll), s.programs[0] = 1; })},
    {"a buffer that was freed", TMETAL_E_LAUNCH_ARG, "wants a buffer", with([](scene &s) { tmetal_buffer_free(s.metal, &s.buffer[1]); })},
    {"no buffer behind the argument", TMETAL_E_LAUNCH_ARG, "wants a buffer", with([](scene &s) { s.args[1].buffer = nullptr; })},
    {"another element type", TMETAL_E_LAUNCH_ARG, "another element type", with([](scene &s) { s.args[0].type = "f16"; })},
    {"the right element type", TMETAL_OK, "", with([](scene &s) { s.args[0].type = "f32"; })},
    {"an integer that the kernel was not compiled for", TMETAL_E_LAUNCH_SPECIALIZED, "`n` is 1000, but this kernel was compiled for a multiple of 16",
     [](scene &s) { return specialized(s, 1000, 32, 0); }},
    {"a negative one", TMETAL_E_LAUNCH_SPECIALIZED, "`m` is -40, but", [](scene &s) { return specialized(s, 48, -40, 0); }},
    {"a multiple, and one that nothing reads", TMETAL_OK, "", [](scene &s) { return specialized(s, 48, -32, 7); }},
    {"packed: arguments as they should be", TMETAL_OK, "", [](scene &s) { return packed(s, 48, 32, 0); }},
    {"packed: a negative integer that the kernel was not compiled for", TMETAL_E_LAUNCH_SPECIALIZED, "`n` is -40, but", [](scene &s) { return packed(s, -40, 32, 0); }},
    {"packed: an offset behind the end", TMETAL_E_LAUNCH_ARG, "behind its buffer's end", [](scene &s) { return packed(s, 48, 32, 4112); }},
    {"packed: too few", TMETAL_E_LAUNCH_COUNT, "read 5 parameters, but 3", [](scene &s) { return packed(s, 48, 32, 0, 3); }},
    {"any integer for a kernel that was compiled for any", TMETAL_OK, "", with([](scene &s) { s.args[3] = tmetal_arg_int(999); })},
    {"an offset behind the end", TMETAL_E_LAUNCH_ARG, "behind its buffer's end", with([](scene &s) { s.args[0].offset = 4112; })},
    {"an offset that is not aligned", TMETAL_E_LAUNCH_ARG, "no multiple of 16 bytes, the alignment of the plan", with([](scene &s) { s.args[0].offset = 4; })},
    {"one buffer read and written", TMETAL_E_LAUNCH_OVERLAP, "options.alias", with([](scene &s) { s.args[2] = s.args[0]; })},
    {"one object adopted twice", TMETAL_E_LAUNCH_OVERLAP, "overlap", [](scene &s) { return on_one_memory(s, true, 0, 0); }},
    {"the same pages wrapped twice", TMETAL_E_LAUNCH_OVERLAP, "y_ptr", [](scene &s) { return on_one_memory(s, false, 4096, 4096); }},
    {"different pages of one memory", TMETAL_OK, "", [](scene &s) { return on_one_memory(s, false, 0, 4096); }},
    {"a result over its input", TMETAL_E_LAUNCH_OVERLAP, "arguments y and x overlap", [](scene &s) { return list_at(s, one_op, {0, 0}); }},
    {"a result over the end of its input", TMETAL_E_LAUNCH_OVERLAP, "memory that nothing else", [](scene &s) { return list_at(s, one_op, {0, 3}); }},
    {"an input over the end of its result", TMETAL_E_LAUNCH_OVERLAP, "memory that nothing else", [](scene &s) { return list_at(s, one_op, {3, 0}); }},
    {"a result over an input that is read later", TMETAL_E_LAUNCH_OVERLAP, "arguments s and w",
     [](scene &s) { return list_at(s, two_ops, {0, 4, 5, 8}); }},
    {"a result over an input that is read no more", TMETAL_OK, "", [](scene &s) { return list_at(s, two_ops, {0, 4, 8, 0}); }},
    {"two results in one place", TMETAL_E_LAUNCH_OVERLAP, "arguments s and y", [](scene &s) { return list_at(s, two_ops, {0, 4, 8, 8}); }},
    {"a result behind its input", TMETAL_OK, "", [](scene &s) { return list_at(s, one_op, {0, 4}); }},
    {"one buffer read twice", TMETAL_OK, "", with([](scene &s) { s.args[1] = s.args[0]; })},
    {"more programs than an int counts", TMETAL_E_LAUNCH_GRID, "2147483648 programs", with([](scene &s) { s.programs[1] = 1u << 31; })},
    {"more programs in turn than an int counts", TMETAL_E_LAUNCH_GRID, "4294967296 programs",
     [](scene &s) {
         s.file = "tests/kernels/recorded/atomics-raw_lock.ttir";
         return with([](scene &at) { at.programs[0] = at.programs[1] = 1u << 16; })(s);
     }},
    {"no programs", TMETAL_OK, "", with([](scene &s) { s.programs[0] = 0; })},
    {"programs along the axis of two stages", TMETAL_E_LAUNCH_STAGES, "wants 1 program along axis 2, but 3",
     [](scene &s) { return two_stages(s, 3); }},
    {"programs along it of the second function alone", TMETAL_E_LAUNCH_STAGES, "along axis 2", first_of_two},
    {"scratch of more bytes than can be counted", TMETAL_E_BUFFER, "no buffer of 18446744073709551615 bytes",
     [](scene &s) { return two_stages(s, 1, INT32_MAX); }},
    {"an index of more than 32 bits", TMETAL_OK, "",
     [](scene &s) {
         s.file = "tests/hosts/cases/index.ttir";
         const tmetal_code c = s.ready();
         s.args[1] = tmetal_arg_int(int64_t{1} << 40), s.n_args = 2;
         if (c == TMETAL_OK && s.go() == TMETAL_OK && *static_cast<int64_t *>(s.buffer[0].contents) == s.args[1].i) return TMETAL_OK;
         return TMETAL_E_LAUNCH_ARG;
     }},
    {"two stages", TMETAL_OK, "", [](scene &s) { return two_stages(s, 1); }},
    {"an encoder of the caller's", TMETAL_OK, "", own_encoder},
    {"an event beside an encoder", TMETAL_E_MISUSE, "events belong to a command buffer",
     with([](scene &s) { s.start.encoder = s.start.wait_event = &s; })},
    {"one launch behind another", TMETAL_OK, "", [](scene &s) { return by_event(s, 0, 7, 7); }},
    {"one launch behind another, in parts", TMETAL_OK, "", [](scene &s) { return by_event(s, 1, 7, 7); }},
    {"an event that nobody sets", TMETAL_OK, "",
     [](scene &s) {
         const tmetal_code c = by_event(s, 0, 7, 8);
         if (standin::complaints(false) != std::vector<std::string>{"a command buffer waits for an event that nobody sets"})
             fail("an event that nobody sets: the stand-in does not see it");
         return c;
     }},
    {"parts", TMETAL_OK, "", [](scene &s) { return in_parts(s, 1, 1); }},
    {"parts of a kernel that is whole", TMETAL_E_LAUNCH_PARTS, "options.parts", [](scene &s) { return in_parts(s, 0, 3); }},
    {"one part of a kernel that is whole", TMETAL_OK, "", [](scene &s) { return in_parts(s, 0, 4); }},
    {"parts in another's command buffer", TMETAL_E_LAUNCH_PARTS, "command buffers of our own",
     [](scene &s) { return in_parts(s, 1, 3, [](scene &at) { at.start.command_buffer = &at; }); }},
    {"parts, and no command buffer", TMETAL_E_ENCODE, "a command buffer",
     [](scene &s) { return in_parts(s, 1, 1, [](scene &) { m.no_command_buffer = true; }); }},
    {"parts, and no encoder", TMETAL_E_ENCODE, "a compute encoder",
     [](scene &s) { return in_parts(s, 1, 1, [](scene &) { m.no_encoder = true; }); }},
    {"parts, and the third stops", TMETAL_E_GPU, "launch fewer programs",
     [](scene &s) { return in_parts(s, 1, 1, [](scene &) { standin::committed(), m.fault = 2, m.fault_at = 3; }); }},
    {"parts of no programs", TMETAL_OK, "", [](scene &s) { return in_parts(s, 1, 1, [](scene &at) { at.programs[0] = 0; }); }},
    {"no command buffer", TMETAL_E_ENCODE, "a command buffer", with([](scene &) { m.no_command_buffer = true; })},
    {"no encoder", TMETAL_E_ENCODE, "a compute encoder", with([](scene &) { m.no_encoder = true; })},
    {"the watchdog", TMETAL_E_GPU, "launch fewer programs", with([](scene &) { m.fault = 2; })},
    {"a page fault", TMETAL_E_GPU, "outside of its buffers", with([](scene &) { m.fault = 3; })},
    {"the GPU is gone", TMETAL_E_GPU, "only a new process", with([](scene &) { m.fault = 4; })},
    {"out of memory while it runs", TMETAL_E_GPU, "fewer or smaller buffers", with([](scene &) { m.fault = 8; })},
    {"an error inside of Metal", TMETAL_E_GPU, "report it with this text", with([](scene &) { m.fault = 1; })},
    {"not allowed now", TMETAL_E_GPU, "in the background on iOS", with([](scene &) { m.fault = 7; })},
    {"a buffer that was freed while it runs", TMETAL_E_GPU, "freed before the launch was complete", with([](scene &) { m.fault = 9; })},
    {"the GPU is unplugged", TMETAL_E_GPU, "open another", with([](scene &) { m.fault = 11; })},
    {"calls too deep", TMETAL_E_GPU, "with the TTIR", with([](scene &) { m.fault = 12; })},
    {"a display that waits", TMETAL_E_GPU, "a display waited for it: compile with options.parts",
     with([](scene &) { m.fault = 1, m.fault_says = "Impacting Interactivity (0000000e:kIOGPUCommandBufferCallbackErrorImpactingInteractivity)"; })},
    {"a process that the GPU is done with", TMETAL_E_GPU, "start a new process",
     with([](scene &) { m.fault = 4, m.fault_says = "Ignored (00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)"; })},
    {"another's fault", TMETAL_E_GPU, "launch it again",
     with([](scene &) { m.fault = 5, m.fault_says = "Discarded (00000005:kIOGPUCommandBufferCallbackErrorInnocentVictim)"; })},
    {"a launch behind one that the GPU stopped", TMETAL_OK, "",
     with([](scene &s) {
         m.fault = 3;
         if (s.go() != TMETAL_E_GPU) fail("a page fault is not told");
         m.fault = 0;
     })},
    {"waiting for a device that is gone", TMETAL_E_GPU, "only a new process",
     [](scene &s) {
         const tmetal_code c = s.ready();
         m.fault = 4;
         return c == TMETAL_OK ? tmetal_metal_wait(s.metal, &s.problem) : c;
     }},
    {"a code that nobody knows", TMETAL_E_GPU, "no more is known", with([](scene &) { m.fault = 77; })},
    {"a launch that does not end", TMETAL_E_TIMEOUT, "after 20 milliseconds", with([](scene &s) { m.hangs = true, s.milliseconds = 20; })},
    {"a launch started twice", TMETAL_E_MISUSE, "under way",
     with([](scene &s) { tmetal_launch_start(s.launch, s.args, s.n_args, s.programs, nullptr, &s.problem); })},
    {"a failed assertion", TMETAL_E_ASSERTION, "assertions failed",
     [](scene &s) {
         s.file = "tests/metal/asserts.ttir";
         tmetal_code c = s.ready();
         s.args[1] = tmetal_arg_int(5);
         s.n_args = 2;
         return c == TMETAL_OK ? s.go() : c;
     }},
    {"an assertion that fails twice", TMETAL_E_ASSERTION, "assertions failed", assert_twice},
    {"an assertion that fails once", TMETAL_OK, "",
     [](scene &s) {
         s.text = "module {\n tt.func public @asserts(%n: i32) {\n  %c3 = arith.constant 3 : i32\n  %ok = arith.cmpi slt, %n, %c3 : i32\n"
                  "  tt.assert %ok, \"below three\" : i1\n  tt.return\n }\n}\n";
         const tmetal_code c = s.ready();
         s.args[0] = tmetal_arg_int(5), s.n_args = 1;
         if (c == TMETAL_OK && s.go() != TMETAL_E_ASSERTION) fail("an assertion that fails is not told");
         s.args[0] = tmetal_arg_int(2);
         return c == TMETAL_OK ? s.go() : c;
     }},
    {"an assertion of a launch that did not start", TMETAL_E_ENCODE, "a compute encoder",
     [](scene &s) {
         s.file = "tests/metal/asserts.ttir";
         tmetal_code c = s.ready();
         s.args[1] = tmetal_arg_int(5), s.n_args = 2, m.no_encoder = true;
         if (c == TMETAL_OK) c = s.go();
         if (*tmetal_launch_text(s.launch, 0, &s.arena)) fail("an assertion is told of what never ran");
         return c;
     }},
    {"no memory for what assertions say", TMETAL_E_BUFFER, "no buffer of",
     [](scene &s) {
         s.file = "tests/metal/asserts.ttir";
         const tmetal_code c = s.ready();
         s.args[1] = tmetal_arg_int(5), s.n_args = 2, m.no_memory = true;
         return c == TMETAL_OK ? s.go() : c;
     }},
#ifndef __APPLE__
    {"no options, on a system without Metal", TMETAL_E_NO_METAL, "objc_msgSend is not found",
     [](scene &s) { return tmetal_metal_open(nullptr, &s.arena, &s.metal, &s.problem); }},
#endif
    {"an arena without memory", TMETAL_E_MISUSE, "no arena",
     [](scene &s) {
         tmetal_arena a = tmetal_arena_on(nullptr, 0);
         s.open.symbol = standin::symbol;
         return tmetal_metal_open(&s.open, &a, &s.metal, &s.problem);
     }},
    {"an arena with a few bytes left", TMETAL_E_ARENA, "arena is full",
     [](scene &s) {
         alignas(16) char few[64];
         tmetal_arena     a = tmetal_arena_on(few, 60);
         a.used = 59;
         s.open.symbol = standin::symbol;
         const tmetal_code c = tmetal_metal_open(&s.open, &a, &s.metal, &s.problem);
         if (a.used != 59 || a.need <= 64) fail("a full arena: it is used, or asks for too little");
         return c;
     }},
    {"loading and making a launch in arenas of every size", TMETAL_OK, "",
     [](scene &s) {
         tmetal_code       c = s.up_to_load();
         std::vector<char> few(1 << 16);
         tmetal_loaded    *again = nullptr;
         tmetal_launch    *launch = nullptr;
         size_t            cap = 0;
         m.compiler_says = "program_source:3:1: warning: unused", m.warns = true; /* which is kept in the arena, too */
         for (int full = 1; c == TMETAL_OK && full && cap < few.size(); cap++) {
             tmetal_arena a = tmetal_arena_on(few.data(), cap);
             const char  *said;
             tmetal_code  is = tmetal_load(s.metal, &s.result, &a, &again, &said, &s.problem);
             const size_t used = a.used;
             if (is == TMETAL_OK) is = tmetal_launch_make(again, &a, &launch, &s.problem);
             full = is == TMETAL_E_ARENA;
             if (full && (a.used != used || (!again && used) || a.need <= cap)) fail("a full arena: something stays taken, or it asks for too little");
             if (!full) c = is;
             tmetal_launch_free(launch), tmetal_unload(again);
         }
         return c;
     }},
    {"a device in a list of two", TMETAL_OK, "",
     [](scene &s) {
         m.has_default_device = false, m.devices = 2;
         const tmetal_code c = run(s);
         if (c == TMETAL_OK && std::strcmp(tmetal_metal_device(s.metal)->name, "Apple M1") != 0) fail("the first of two that fit is not chosen");
         return c;
     }},
    {"a system that lists no devices", TMETAL_E_NO_DEVICE, "that this process may use",
     on([] { m.has_default_device = false, m.lacks = {"MTLCopyAllDevices"}; })},
    {"three command buffers in the queue", TMETAL_OK, "", [](scene &s) { return s.open.queue_buffers = 3, run(s); }},
    {"the compiler refuses without a reason", TMETAL_E_COMPILER, "Metal gives no reason", on([] { m.compiler_says = "x", m.gives_nothing["localizedDescription"] = 0; })},
    {"the compiler refuses in words that are no text", TMETAL_E_COMPILER, "Metal gives no reason", on([] { m.compiler_says = "x", m.gives_nothing["UTF8String"] = 0; })},
    {"the compiler refuses, and nobody asks why", TMETAL_E_COMPILER, "",
     [](scene &s) {
         tmetal_code c = s.up_to_load();
         tmetal_loaded *none;
         m.compiler_says = "program_source:28:9: error: use of undeclared identifier 'y'";
         return c == TMETAL_OK ? tmetal_load(s.metal, &s.result, &s.arena, &none, nullptr, nullptr) : c;
     }},
    {"the compiler warns, and nobody asks", TMETAL_OK, "",
     [](scene &s) {
         tmetal_code c = s.up_to_load();
         tmetal_loaded *again = nullptr;
         m.compiler_says = "program_source:3:1: warning: unused", m.warns = true;
         if (c == TMETAL_OK) c = tmetal_load(s.metal, &s.result, &s.arena, &again, nullptr, &s.problem);
         tmetal_unload(again);
         return c;
     }},
    {"a text that is no UTF-8", TMETAL_E_COMPILER, "it is no UTF-8",
     [](scene &s) {
         tmetal_code    c = s.up_to_load();
         tmetal_loaded *none;
         tmetal_result  changed = s.result;
         changed.msl = "// \xff\n";
         return c == TMETAL_OK ? tmetal_load(s.metal, &changed, &s.arena, &none, nullptr, &s.problem) : c;
     }},
    {"the library lacks one of two functions", TMETAL_E_NO_FUNCTION, "there are mark, row_sum",
     [](scene &s) { return s.file = "tests/metal/two_functions.ttir", m.lacks_function = true, run(s); }},
    {"the library tells no functions", TMETAL_E_NO_FUNCTION, "there are none",
     on([] { m.lacks_function = true, m.gives_nothing["functionNames"] = 0; })},
    {"a library of no functions", TMETAL_E_NO_FUNCTION, "there are none", on([] { m.lacks_function = true, m.gives_nothing["count"] = 0; })},
    {"no pipeline for the first of two", TMETAL_E_PIPELINE, "no pipeline today",
     [](scene &s) { return s.file = "tests/metal/two_functions.ttir", m.pipeline_says = "no pipeline today", run(s); }},
    {"no device to load on", TMETAL_E_MISUSE, "no device is open",
     [](scene &s) {
         const tmetal_code c = s.compile();
         return c == TMETAL_OK ? tmetal_load(nullptr, &s.result, &s.arena, &s.loaded, nullptr, &s.problem) : c;
     }},
    {"a result of no text", TMETAL_E_MISUSE, "holds no Metal",
     [](scene &s) {
         const tmetal_code c = s.up_to_load();
         tmetal_result     empty{};
         tmetal_loaded    *none;
         return c == TMETAL_OK ? tmetal_load(s.metal, &empty, &s.arena, &none, nullptr, &s.problem) : c;
     }},
    {"a buffer of no bytes", TMETAL_OK, "",
     [](scene &s) {
         tmetal_code c = s.up_to_load();
         if (c == TMETAL_OK) c = tmetal_buffer_make(s.metal, 0, &s.buffer[0], &s.problem);
         if (c == TMETAL_OK && (s.buffer[0].bytes != 4 || *static_cast<uint32_t *>(s.buffer[0].contents))) fail("a buffer of no bytes is not 4 zeros");
         return c;
     }},
    {"a buffer that the CPU does not see", TMETAL_OK, "",
     [](scene &s) {
         tmetal_code c = s.up_to_load();
         m.gives_nothing["contents"] = 0;
         if (c == TMETAL_OK) c = tmetal_buffer_make(s.metal, 64, &s.buffer[0], &s.problem);
         if (s.buffer[0].contents || s.buffer[0].bytes != 64) fail("a buffer that the CPU does not see: other things are told");
         return c;
     }},
    {"nothing wrapped", TMETAL_E_MISUSE, "begin and end on a page",
     [](scene &s) {
         const tmetal_code c = s.up_to_load();
         return c == TMETAL_OK ? tmetal_buffer_wrap(s.metal, nullptr, 4096, &s.buffer[0], &s.problem) : c;
     }},
    {"no bytes wrapped", TMETAL_E_MISUSE, "begin and end on a page",
     [](scene &s) {
         const tmetal_code c = s.up_to_load();
         return c == TMETAL_OK ? tmetal_buffer_wrap(s.metal, reinterpret_cast<void *>(uintptr_t{4096}), 0, &s.buffer[0], &s.problem) : c;
     }},
    {"buffers without addresses, which nobody asks for", TMETAL_OK, "", on([] { m.lacks = {"gpuAddress"}; })},
    {"arguments that go by address, on a system without", TMETAL_E_LAUNCH_ARG, "goes by its address, which this system does not tell",
     [](scene &s) { return m.lacks = {"gpuAddress"}, s.options.alias = "0=2", run(s); }},
    {"buffers unseen, one read and written", TMETAL_E_LAUNCH_OVERLAP, "options.alias", [](scene &s) { return unseen(s, true, 2); }},
    {"buffers unseen", TMETAL_OK, "", [](scene &s) { return unseen(s, true, 0); }},
    {"one buffer unseen, and seen once more", TMETAL_E_LAUNCH_OVERLAP, "options.alias", [](scene &s) { return unseen(s, false, 2); }},
    {"an integer for a float", TMETAL_OK, "", [](scene &s) { return scalars(s, tmetal_arg_int(3)); }},
    {"a float", TMETAL_OK, "", [](scene &s) { return scalars(s, tmetal_arg_float(3)); }},
    {"a buffer for a float", TMETAL_E_LAUNCH_ARG, "wants a number", [](scene &s) { return scalars(s, tmetal_arg_buffer(&s.buffer[1], 0)); }},
    {"nothing for a float", TMETAL_E_LAUNCH_ARG, "wants a number", [](scene &s) { return scalars(s, tmetal_launch_arg{}); }},
    {"a tensor padded with NaN", TMETAL_OK, "", [](scene &s) { return padded(s, 1); }},
    {"a tensor padded with zeros", TMETAL_OK, "", [](scene &s) { return padded(s, 0); }},
    {"512 numbers", TMETAL_OK, "", [](scene &s) { return many_numbers(s, 512); }},
    {"513 numbers", TMETAL_E_ENCODE, "bytes of arguments: over 4096", [](scene &s) { return many_numbers(s, 513); }},
    {"513 numbers in parts", TMETAL_E_ENCODE, "bytes of arguments: over 4096", [](scene &s) { return many_numbers(s, 513, 1); }},
    {"nothing left of a buffer behind its offset", TMETAL_OK, "",
     [](scene &s) {
         s.options.bounds = 1;
         tmetal_code c = s.ready();
         for (int i = 0; i < 256 && c == TMETAL_OK; i++) static_cast<float *>(s.buffer[0].contents)[i] = 1, static_cast<float *>(s.buffer[1].contents)[i] = 2;
         s.args[1].offset = 4096;
         s.args[3] = tmetal_arg_int(256);
         if (c == TMETAL_OK) c = s.go();
         if (c == TMETAL_OK && static_cast<float *>(s.buffer[2].contents)[255] != 1) fail("with bounds: what lies behind a buffer is not 0");
         return c;
     }},
    {"a buffer shorter than its tensor", TMETAL_E_LAUNCH_ARG, "is given a buffer shorter than its tensor, which has 4096 bytes",
     [](scene &s) { return list_at(s, one_op, {0, 13}); }},
    {"a buffer shorter than its integers", TMETAL_E_LAUNCH_ARG, "which has 2048 bytes",
     [](scene &s) {
         return list_at(s, "{\"ops\":[{\"type\":\"tt.abs\",\"id\":\"y\",\"inputs\":[\"x\"],\"input_shapes\":[[1024]],\"dtype\":\"i16\"}]}", {0, 15});
     }},
    {"a buffer shorter than its truths", TMETAL_E_LAUNCH_ARG, "which has 1024 bytes",
     [](scene &s) {
         return list_at(s, "{\"ops\":[{\"type\":\"tt.any\",\"id\":\"y\",\"inputs\":[\"x\"],\"input_shapes\":[[32,32]],\"dtype\":\"bool\",\"args\":{\"axis\":1}}]}", {16, 0});
     }},
    {"an input of two kernels", TMETAL_E_LAUNCH_OVERLAP, "arguments s and x",
     [](scene &s) {
         return list_at(s, "{\"ops\":[{\"type\":\"tt.sum\",\"id\":\"s\",\"inputs\":[\"x\"],\"input_shapes\":[[32,32]],\"args\":{\"axis\":1}},"
                           "{\"type\":\"tt.sum\",\"id\":\"t\",\"inputs\":[\"x\"],\"input_shapes\":[[32,32]],\"args\":{\"axis\":0}}]}", {0, 0, 8});
     }},
    {"two buffers between kernels", TMETAL_OK, "",
     [](scene &s) {
         tmetal_code c = list_ready(s, two_pairs, 4);
         for (int i = 0; i < 4096 && c == TMETAL_OK; i++) static_cast<float *>(s.buffer[0].contents)[i] = i < 1024 ? 1.0f : i % 32 ? -200.0f : 1.0f;
         if (c == TMETAL_OK) c = s.go();
         if (c != TMETAL_OK) return c;
         const auto *v = static_cast<const float *>(s.buffer[0].contents) + 2048, *y = v + 1024;
         if (v[0] != 1.0f / 32 || v[31] != 1.0f / 32 || y[0] != 1 || y[1] != 0) fail("two pairs: other numbers");
         return c;
     }},
    {"an event before the caller's command buffer", TMETAL_OK, "",
     [](scene &s) {
         tmetal_code c = s.ready();
         const auto  pool = reinterpret_cast<void *(*)()>(standin::symbol(nullptr, "objc_autoreleasePoolPush"))();
         void *const queue = standin::new_queue_of(nullptr), *const buffer = s.start.command_buffer = tell(queue, "commandBuffer");
         s.start.wait_event = standin::new_event(), s.start.wait_value = 5;
         if (c == TMETAL_OK) c = s.go();
         tell(buffer, "commit");
         if (standin::complaints(false) != std::vector<std::string>{"a command buffer waits for an event that nobody sets"}) fail("the caller's command buffer does not wait");
         tell(s.start.wait_event, "release");
         tell(queue, "release");
         reinterpret_cast<void (*)(void *)>(standin::symbol(nullptr, "objc_autoreleasePoolPop"))(pool);
         return c;
     }},
    {"scratch of several launches", TMETAL_OK, "", scratch_again},
    {"programs in turn", TMETAL_OK, "",
     [](scene &s) {
         s.file = "tests/kernels/recorded/atomics-raw_lock.ttir";
         tmetal_code c = s.ready();
         s.n_args = 3, s.programs[0] = 3;
         for (int i = 0; i < 96 && c == TMETAL_OK; i++) static_cast<float *>(s.buffer[0].contents)[i] = static_cast<float>(1 + i % 32);
         if (c == TMETAL_OK) c = s.go();
         if (c == TMETAL_OK && (static_cast<float *>(s.buffer[2].contents)[0] != 3 || static_cast<float *>(s.buffer[2].contents)[31] != 96)) fail("programs in turn: other sums");
         return c;
     }},
    {"more programs in turn than 64 bits count", TMETAL_E_LAUNCH_GRID, "18446744073709551615 programs",
     [](scene &s) {
         s.file = "tests/kernels/recorded/atomics-raw_lock.ttir";
         return with([](scene &at) { at.programs[0] = at.programs[1] = at.programs[2] = 0xffffffffu; })(s);
     }},
    {"no programs along the second axis", TMETAL_OK, "", with([](scene &s) { s.programs[1] = 0; })},
    {"no programs along the third axis", TMETAL_OK, "", with([](scene &s) { s.programs[2] = 0; })},
    {"a label", TMETAL_OK, "", with([](scene &s) { s.start.label = "all of it"; })},
    {"an event to signal beside an encoder", TMETAL_E_MISUSE, "events belong to a command buffer",
     with([](scene &s) { s.start.encoder = s.start.signal_event = &s; })},
    {"parts, by a call without options", TMETAL_OK, "", [](scene &s) { return run_simply(s, 3); }},
    {"parts of no programs, by a call without options", TMETAL_OK, "", [](scene &s) { return run_simply(s, 0); }},
    {"parts of no programs, and no command buffer", TMETAL_E_ENCODE, "a command buffer",
     [](scene &s) { return in_parts(s, 1, 1, [](scene &at) { at.programs[0] = 0, m.no_command_buffer = true; }); }},
    {"parts, and the third has no command buffer", TMETAL_E_ENCODE, "a command buffer",
     [](scene &s) {
         const tmetal_code c = in_parts(s, 1, 1, [](scene &) { standin::committed(), m.gives_nothing["commandBuffer"] = 2; });
         if (standin::committed() != 2 || !tmetal_launch_is_done(s.launch)) fail("parts: two were not sent, or not waited for");
         m.gives_nothing.clear();
         const tmetal_problem said = s.problem;
         if (s.go() != TMETAL_OK) fail("parts: a launch that was given up cannot be launched again");
         s.problem = said;
         return c;
     }},
    {"parts, and the first of two kernels has no encoder", TMETAL_E_ENCODE, "a compute encoder",
     [](scene &s) {
         s.options.parts = 1;
         const tmetal_code c = list_ready(s, two_pairs, 4);
         s.start.programs_per_part = 1, m.no_encoder = true;
         return c == TMETAL_OK ? s.go() : c;
     }},
    {"parts of a launch whose second kernel has none", TMETAL_OK, "",
     [](scene &s) {
         s.options.parts = 1, s.text = one_without_parts();
         tmetal_code c = s.ready();
         standin::committed();
         for (s.n_args = 0; s.n_args < 2; s.n_args++) s.args[s.n_args] = tmetal_arg_buffer(&s.buffer[s.n_args], 0);
         std::vector<tmetal_buffer>     b(31);
         std::vector<tmetal_launch_arg> args(31);
         for (int i = 0; i < 31 && c == TMETAL_OK; i++) {
             c = tmetal_buffer_make(s.metal, 16, &b[i], &s.problem);
             args[i] = tmetal_arg_buffer(&b[i], 0);
         }
         s.programs[0] = 5000;
         if (c == TMETAL_OK) m.runs = false, c = tmetal_launch_start(s.launch, args.data(), 31, s.programs, nullptr, &s.problem);
         if (c == TMETAL_OK) c = tmetal_launch_wait(s.launch, 0, &s.problem);
         m.runs = true;
         if (standin::committed() != 6) fail("a kernel without parts is cut, or the other is not"); /* 5 of at most 1,024 programs and a whole one */
         for (tmetal_buffer &x : b) tmetal_buffer_free(s.metal, &x);
         return c;
     }},
    {"a system that cannot sleep", TMETAL_OK, "", [](scene &s) { return waits(s, "usleep", 20); }},
    {"a system without that clock", TMETAL_OK, "", [](scene &s) { return waits(s, "clock_gettime_nsec_np", 20); }},
    {"as long as can be", TMETAL_OK, "", [](scene &s) { return waits(s, "", UINT64_MAX); }},
    {"sleeps between questions", TMETAL_E_TIMEOUT, "after 100 milliseconds", [](scene &s) { return sleeps(s, 1000000, 100, 63, 2001); }},
    {"sleeps at first", TMETAL_E_TIMEOUT, "after 1 milliseconds", [](scene &s) { return sleeps(s, 10000, 1, 11, 59); }},
    {"tensors on a device that does not compile them", TMETAL_E_COMPILER, "no tensors", [](scene &s) { return tries_tensors(s, [] { m.compiler_says = "no tensors"; }); }},
    {"tensors without memory", TMETAL_E_BUFFER, "no buffer of 256 bytes", [](scene &s) { return tries_tensors(s, [] { m.no_memory = true; }); }},
    {"a device that gets products of half wrong", TMETAL_E_TENSOR_WRONG, "of 512 sums of half wrong on this device: compile with --lacks TENSOR_OPS",
     [](scene &s) { return loads_product(s, "half", [] { m.wrong_product = "half"; }); }},
    {"of bfloat", TMETAL_E_TENSOR_WRONG, "of bfloat wrong", [](scene &s) { return loads_product(s, "bfloat", [] { m.wrong_product = "bfloat"; }); }},
    {"of float", TMETAL_E_TENSOR_WRONG, "of float wrong", [](scene &s) { return loads_product(s, "float", [] { m.wrong_product = "float"; }); }},
    {"of int8_t", TMETAL_E_TENSOR_WRONG, "of int8_t wrong", [](scene &s) { return loads_product(s, "int8_t", [] { m.wrong_product = "int8_t"; }); }},
    {"of half, and the kernel's are bfloat", TMETAL_OK, "", [](scene &s) { return loads_product(s, "bfloat", [] { m.wrong_product = "half"; }); }},
    {"of bfloat, and the kernel's are half", TMETAL_OK, "", [](scene &s) { return loads_product(s, "half", [] { m.wrong_product = "bfloat"; }); }},
    {"right products of float", TMETAL_OK, "", [](scene &s) { return loads_product(s, "float", [] {}); }},
    {"right products of int8_t", TMETAL_OK, "", [](scene &s) { return loads_product(s, "int8_t", [] {}); }},
    {"a system without locks", TMETAL_OK, "", [](scene &s) { return loads_product(s, "bfloat", [] { m.lacks = {"objc_sync_enter", "objc_sync_exit"}; }); }},
    {"a product that cannot be tried", TMETAL_E_GPU, "out of memory", [](scene &s) { return loads_product(s, "bfloat", [] { m.fault = 8; }); }},
    {"tensors that nobody counts", TMETAL_E_MISUSE, "nothing to tell",
     [](scene &s) {
         uint32_t          n = 0;
         const tmetal_code c = s.up_to_load();
         if (c != TMETAL_OK) return c;
         if (tmetal_tensor_try(s.metal, TMETAL_TENSORS_IN_MEMORY, &s.arena, nullptr, &n, &s.problem) != TMETAL_E_MISUSE) fail("no place for what is wrong");
         return tmetal_tensor_try(s.metal, TMETAL_TENSORS_IN_MEMORY, &s.arena, &n, nullptr, &s.problem);
     }},
};

void misuses() {
    for (const row &r : rows) {
        standin::now = standin::machine();
        std::string said;
        tmetal_code code;
        {
            scene s;
            code = r.act(s);
            said = s.problem.text;
            if (code != TMETAL_OK && code < 700 && code != TMETAL_E_MISUSE && code != TMETAL_E_ARENA)
                said = "compiling failed";
        }
        if (code != r.code) fail(std::string(r.name) + ": TM" + std::to_string(code) + " (" + said + ") instead of TM" + std::to_string(r.code));
        else if (said.find(r.words) == std::string::npos) fail(std::string(r.name) + ": says " + said);
        for (const std::string &c : standin::complaints())
            /* who lets a launch hang gives up what it holds */
            if (r.code != TMETAL_E_TIMEOUT && std::strcmp(r.name, "a launch started twice") != 0) fail(std::string(r.name) + ": " + c);
    }
    standin::now = standin::machine();
    static const tmetal_code codes[] = {
#define X(number, name, text) TMETAL_E_##name,
        TMETAL_LAUNCH_DIAGS(X)
#undef X
    };
    for (const tmetal_code c : codes) /* launch code's and the cache's: tests/hosts, tests/cache */
        if (c != TMETAL_E_HOST && c != TMETAL_E_CACHE && std::none_of(std::begin(rows), std::end(rows), [c](const row &r) { return r.code == c; }))
            fail("no row for TM" + std::to_string(c));
    std::printf("metal: %zu uses and misuses\n", rows.size());
}

/* Command buffers that a launch takes. */
size_t buffers_of(scene &s) {
    standin::committed();
    if (s.go() != TMETAL_OK) fail(std::string("parts: ") + s.problem.text);
    return standin::committed();
}

void expect(size_t is, size_t wanted, const char *what) {
    if (is != wanted) fail(std::string(what) + ": " + std::to_string(is) + " command buffers, not " + std::to_string(wanted));
}

/* What is told of a device, and what of it the compiler is given. */
void describes() {
    static const struct {
        const char           *what;
        std::function<void()> change;
        uint32_t              cores;
    } rows_of[] = {{"a Mac", [] {}, 10},
                   {"a virtual machine", [] { m.cores = 0; }, 0},
                   {"an iPhone", [] { m.has_registry = false; }, 0},
                   {"cores as a text", [] { m.cores_are_text = true; }, 0},
                   {"no cores that can be", [] { m.cores = -3; }, 0},
                   {"more cores than an int holds", [] { m.gives_nothing["CFNumberGetValue"] = 0; }, 0},
                   {"no memory for the name of the cores", [] { m.gives_nothing["CFStringCreateWithCString"] = 0; }, 0},
                   {"a system without CFStringCreateWithCString", [] { m.lacks = {"CFStringCreateWithCString"}; }, 0},
                   {"a system without CFGetTypeID", [] { m.lacks = {"CFGetTypeID"}; }, 0},
                   {"a system without CFNumberGetTypeID", [] { m.lacks = {"CFNumberGetTypeID"}; }, 0},
                   {"a system without CFNumberGetValue", [] { m.lacks = {"CFNumberGetValue"}; }, 0},
                   {"a system without CFRelease", [] { m.lacks = {"CFRelease"}; }, 0},
                   {"a GPU that is not Apple's", [] { m.family = 0; }, 0}};
    for (const auto &r : rows_of) {
        standin::now = standin::machine();
        r.change();
        {
            scene s;
            if (s.up_to_load() != TMETAL_OK) fail(std::string(r.what) + ": " + s.problem.text);
            else {
                const tmetal_device &d = *tmetal_metal_device(s.metal);
                if (d.live.cores != r.cores) fail(std::string(r.what) + ": " + std::to_string(d.live.cores) + " cores");
                if (d.headless || d.low_power || !d.unified) fail(std::string(r.what) + ": told of another device");
                if (d.live.tg_bytes != 32768 || d.live.family != static_cast<uint32_t>(m.family)) fail(std::string(r.what) + ": other limits");
            }
        }
        for (const std::string &c : standin::complaints()) fail(std::string(r.what) + ": " + c);
    }
}

/* What a device does not tell is empty or 0: iPhones do not know of displays, older ones not of the working set. */
void untold() {
    standin::now = standin::machine();
    m.lacks = {"isHeadless", "isLowPower", "recommendedMaxWorkingSetSize"};
    m.gives_nothing = {{"architecture", 0}, {"name", 0}};
    {
        scene s;
        if (s.up_to_load() != TMETAL_OK) return fail(std::string("untold: ") + s.problem.text);
        const tmetal_device &d = *tmetal_metal_device(s.metal);
        if (*d.name || *d.arch || d.headless || d.low_power || d.working_set) fail("untold: something is told");
        if (d.family != 7 || d.max_buffer != m.max_buffer) fail("untold: the rest is told otherwise");
    }
    for (const std::string &c : standin::complaints()) fail("untold: " + c);
}

/* All devices of a system: those that it lists; the default one where it lists none; none. */
void lists() {
    static const struct {
        const char           *what;
        std::function<void()> change;
        tmetal_code           code;
        size_t                n;
    } rows_of[] = {{"two", [] { m.devices = 2; }, TMETAL_OK, 2},
                   {"the default device alone", [] { m.devices = 0; }, TMETAL_OK, 1},
                   {"a system that cannot list", [] { m.lacks = {"MTLCopyAllDevices"}; }, TMETAL_OK, 1},
                   {"none", [] { m.devices = 0, m.has_default_device = false; }, TMETAL_OK, 0},
                   {"no Metal", [] { m.has_metal = false; }, TMETAL_E_NO_METAL, 0}};
    for (const auto &r : rows_of) {
        standin::now = standin::machine();
        r.change();
        scene                s;
        const tmetal_device *list = nullptr;
        size_t               n = 7;
        s.open.symbol = standin::symbol;
        const tmetal_code c = tmetal_metal_devices(&s.open, &s.arena, &list, &n, &s.problem);
        if (c != r.code || n != r.n) fail(std::string("devices: ") + r.what + ": TM" + std::to_string(c) + ", " + std::to_string(n));
        for (size_t i = 0; i < n; i++)
            if (list[i].name != "Apple M" + std::to_string(i + 1)) fail(std::string("devices: ") + r.what + ": " + list[i].name);
        for (const std::string &w : standin::complaints()) fail(std::string("devices: ") + r.what + ": " + w);
    }
}

/* What the compiler says, and what is told of it: below a line with an error that line of the text, and where it is from. */
void explained() {
    static const std::string text = "// two: from @two (k.py:1)\n// line 2: of the head\nkernel void a()\n{\n    x;\n    // line 7: y = tl.load\n    y;\n}\n"
                                    "// line 8: z\nkernel void b()\n{\n    z;\n}\n";
    static const struct {
        const char *says, *told;
    } rows_of[] = {
        {"program_source:7:5: error: y", "program_source:7:5: error: y\n    |     y;\n    from line 7: y = tl.load\n"},
        {"program_source:5:5: error: x", "program_source:5:5: error: x\n    |     x;\n"}, /* not of what stands before the kernel */
        {"program_source:12:5: error: z", "program_source:12:5: error: z\n    |     z;\n"},
        {"program_source:1:1: error: one", "program_source:1:1: error: one\n    | // two: from @two (k.py:1)\n"},
        {"program_source:7:5: warning: y", "program_source:7:5: warning: y\n"},
        {"In a file:\nprogram_source:7:5: error: y", "In a file:\nprogram_source:7:5: error: y\n    |     y;\n    from line 7: y = tl.load\n"},
        {"program_source:0:1: error: none", "program_source:0:1: error: none\n"},
        {"program_source: error: nowhere", "program_source: error: nowhere\n"},
        {"program_source:4294967303:5: error: far", "program_source:4294967303:5: error: far\n"}, /* 7, if it were cut */
        {"program_source:99:5: error: behind", "program_source:99:5: error: behind\n"},
    };
    standin::now = standin::machine();
    scene s;
    if (s.up_to_load() != TMETAL_OK) return fail(std::string("explained: ") + s.problem.text);
    for (const auto &r : rows_of) {
        tmetal_loaded *none;
        tmetal_result  changed = s.result;
        changed.msl = text.c_str();
        m.compiler_says = r.says;
        if (tmetal_load(s.metal, &changed, &s.arena, &none, nullptr, &s.problem) != TMETAL_E_COMPILER) fail("explained: no error");
        if (s.problem.text != std::string("Metal's compiler refuses the text:\n") + r.told) fail(std::string("explained: ") + r.says + " as " + s.problem.text);
    }
    m.compiler_says.clear();
}

/* Arenas of every size up to the one that suffices, for what is loaded and what is launched: TM901 and nothing left, or as ever. */
void small_arenas() {
    standin::now = standin::machine();
    m.compiler_says = "program_source:3:1: warning: unused", m.warns = true;
    scene s;
    s.list = two_pairs;
    if (s.up_to_load() != TMETAL_OK) return fail(std::string("small arenas: ") + s.problem.text);
    alignas(16) char memory[2048];
    size_t           full = 0, loaded = 0, made = 0;
    for (size_t room = 16; room <= sizeof memory; room += 8) {
        tmetal_arena   a = tmetal_arena_on(memory, room);
        tmetal_loaded *l = nullptr;
        tmetal_launch *h = nullptr;
        const char    *warnings = nullptr;
        tmetal_code    c = tmetal_load(s.metal, &s.result, &a, &l, &warnings, &s.problem);
        loaded += c == TMETAL_OK;
        if (c == TMETAL_OK && std::strcmp(warnings, "program_source:3:1: warning: unused") != 0) fail("small arenas: the warning is lost");
        if (c == TMETAL_OK) c = tmetal_launch_make(l, &a, &h, &s.problem);
        made += c == TMETAL_OK;
        full += c == TMETAL_E_ARENA;
        if (c != TMETAL_OK && (c != TMETAL_E_ARENA || h || a.need <= room || !std::strstr(s.problem.text, "arena is full")))
            fail("an arena of " + std::to_string(room) + ": TM" + std::to_string(c) + " " + s.problem.text);
        if (c == TMETAL_OK) tmetal_launch_free(h);
        tmetal_unload(l);
    }
    if (!full || loaded <= made || !made) fail("small arenas: none is too small to load, to launch, or large enough");
    m = standin::machine();
}

/* How grids are cut, by number and by time. Each command buffer takes a quarter of a second here. */
void parts() {
    static const struct {
        uint64_t    most;
        size_t      buffers;
        const char *what;
    } cuts[] = {{1, 60, "one program each"},  {4, 18, "rows of 10 in three pieces"},  {10, 6, "a row each"},
                {25, 4, "two rows and one"},  {30, 2, "a layer each"},                {59, 2, "nearly all"},
                {60, 1, "all"},               {uint64_t{1} << 40, 1, "more than all"}};
    standin::now = standin::machine();
    standin::now.runs = false; /* what the parts compute is compared by recorded.cc */
    scene t;
    t.options.parts = 1;
    if (t.ready() != TMETAL_OK) return fail(std::string("parts: ") + t.problem.text);
    t.programs[0] = 10, t.programs[1] = 3, t.programs[2] = 2;
    for (const auto &c : cuts) {
        t.start.programs_per_part = c.most;
        expect(buffers_of(t), c.buffers, c.what);
    }
    t.start.programs_per_part = 0;
    t.programs[0] = 500, t.programs[1] = t.programs[2] = 1;
    tmetal_launch_free(t.launch);
    tmetal_launch_make(t.loaded, &t.arena, &t.launch, &t.problem);
    expect(buffers_of(t), 1, "few programs, of which nothing is known");
    tmetal_launch_free(t.launch);
    tmetal_launch_make(t.loaded, &t.arena, &t.launch, &t.problem);
    t.programs[0] = 320000;
    expect(buffers_of(t), 32, "many programs, of which nothing is known"); /* 8 seconds: 25 us each */
    if (tmetal_launch_seconds(t.launch) != 8.0) fail("parts: their times are not added up");
    expect(buffers_of(t), 80, "a tenth of a second each"); /* now 62.5 us each */
    t.start.part_seconds = 2;
    expect(buffers_of(t), 10, "two seconds each");
    t.start.part_seconds = 1e9;
    expect(buffers_of(t), 1, "all the time there is"); /* from 7.8 us each to 0.78 us */
    t.start.part_seconds = 20;
    expect(buffers_of(t), 1, "twenty seconds");
    t.programs[0] = 5, t.start.part_seconds = 1e-9;
    expect(buffers_of(t), 5, "no time at all: a program each"); /* now 0.25 s each */
    t.programs[0] = 320000, t.start.part_seconds = 32000;
    void *const event = t.start.signal_event = standin::new_event();
    t.start.signal_value = 7;
    expect(buffers_of(t), 4, "an event behind them"); /* 128,000 programs a part */
    tell(event, "release");
    t.start = tmetal_launch_options{};
}

/* An op list in parts: rows of ones, summed by a kernel whose grid the list gives. */
void list_in_parts() {
    standin::now = standin::machine();
    scene s;
    s.options.parts = 1;
    s.list = two_ops;
    if (s.up_to_load() != TMETAL_OK || tmetal_buffer_make(s.metal, 16384, &s.buffer[0], &s.problem) != TMETAL_OK ||
        tmetal_launch_make(s.loaded, &s.arena, &s.launch, &s.problem) != TMETAL_OK)
        return fail(std::string("a list in parts: ") + s.problem.text);
    float *const at = static_cast<float *>(s.buffer[0].contents);
    std::fill(at, at + 1024, 1.0f);
    for (uint64_t k : {0, 4, 8, 12}) s.args[s.n_args++] = tmetal_arg_buffer(&s.buffer[0], 1024 * k);
    s.start.programs_per_part = 5;
    size_t wanted = 0;
    for (uint32_t k = 0; k < s.result.n_kernels; k++) wanted += (s.result.kernels[k].grid[0] + 4) / 5;
    expect(buffers_of(s), wanted, "a list in parts");
    if (wanted <= s.result.n_kernels) fail("a list in parts: nothing is cut");
    for (int i = 0; i < 32; i++)
        if (at[2048 + i] != 32.0f) return fail("a list in parts: row " + std::to_string(i) + " sums up to " + std::to_string(at[2048 + i]));
}

thread_local int pools_made;
void *make_pool() {
    pools_made++;
    return reinterpret_cast<void *(*)()>(standin::symbol(nullptr, "objc_autoreleasePoolPush"))();
}
tmetal_function counting(void *, const char *name) {
    return std::strcmp(name, "objc_autoreleasePoolPush") == 0 ? reinterpret_cast<tmetal_function>(make_pool) : standin::symbol(nullptr, name);
}

/* Each call has a pool of its own: what Metal autoreleases in it, even as something is freed, goes with it. */
void pools_around() {
    standin::now = standin::machine();
    scene s;
    s.open.symbol = counting;
    if (s.ready() != TMETAL_OK || tmetal_launch_start(s.launch, s.args, s.n_args, s.programs, nullptr, &s.problem) != TMETAL_OK)
        return fail(std::string("pools: ") + s.problem.text);
    const auto one = [](const char *what, std::function<void()> call) {
        const int before = pools_made;
        call();
        if (pools_made == before) fail(std::string("no pool around ") + what);
    };
    one("tmetal_launch_is_done", [&] { tmetal_launch_is_done(s.launch); });
    one("tmetal_launch_wait", [&] { tmetal_launch_wait(s.launch, 0, &s.problem); });
    one("tmetal_buffer_free", [&] { tmetal_buffer_free(s.metal, &s.buffer[0]); });
}

/* A list of which only the first kernel's grid is small enough: nothing is begun. */
void nothing_is_begun() {
    standin::now = standin::machine();
    scene s;
    s.list = "{\"ops\":[{\"type\":\"tt.exp\",\"id\":\"e\",\"inputs\":[\"x\"],\"input_shapes\":[[1024]]},"
             "{\"type\":\"tt.sum\",\"id\":\"s\",\"inputs\":[\"w\"],\"input_shapes\":[[32,32]],\"args\":{\"axis\":1}}]}";
    if (s.up_to_load() != TMETAL_OK || tmetal_buffer_make(s.metal, 16384, &s.buffer[0], &s.problem) != TMETAL_OK ||
        tmetal_launch_make(s.loaded, &s.arena, &s.launch, &s.problem) != TMETAL_OK)
        return fail(std::string("nothing is begun: ") + s.problem.text);
    for (uint64_t k : {0, 4, 8, 12}) s.args[s.n_args++] = tmetal_arg_buffer(&s.buffer[0], 1024 * k);
    s.start.programs_per_part = 2;
    standin::committed();
    if (s.go() != TMETAL_E_LAUNCH_PARTS) fail("nothing is begun: TM717 is not said");
    expect(standin::committed(), 0, "nothing is begun");
}

/* Programs that wait for each other stay together, whatever is asked; those that only look like it do not. */
void what_has_parts() {
    static const struct {
        const char *name;
        bool        has;
    } all[] = {{"recorded/atomics-lock", false},         {"recorded/atomics-raw_lock", false},
               {"lookalikes/wait_for_program_before", false}, {"recorded/atomics-last_program_sums", false},
               {"recorded/atomics-tickets", true},       {"recorded/atomics-add_32", true},
               {"lookalikes/control_region_of_blocks", true}};
    for (const auto &a : all) {
        scene s;
        s.file = std::string("tests/kernels/") + a.name + ".ttir";
        s.options.parts = 1;
        if (s.compile() != TMETAL_OK) return fail(std::string(a.name) + " is not compiled");
        bool has = false;
        for (uint32_t i = 0; i < s.result.kernels[0].n_args; i++) has |= s.result.kernels[0].args[i].kind == TMETAL_ARG_GRID;
        if (has != a.has) fail(std::string(a.name) + (has ? " has parts" : " has no parts"));
    }
}

/* The letters beside each selector are those of Apple's declaration, which the stand-in has by itself. */
void shapes() {
    size_t             n;
    const char *const *s = metal_selectors(&n);
    for (size_t i = 0; i < n; i++)
        if (standin::shape_of(s[i]) != metal_shape(i) &&
            !(std::strcmp(s[i], "init") == 0 && standin::shape_of(s[i]) == "p"))
            fail(std::string(s[i]) + ": sent as " + metal_shape(i) + ", is " + standin::shape_of(s[i]));
    std::printf("metal: %zu selectors\n", n);
}

/* of the processor, the best of nine tries: what the work itself takes */
double microseconds(std::function<void()> f, int times) {
    double best = 1e9;
    for (int k = 0; k < 9; k++) {
        const std::clock_t from = std::clock();
        for (int i = 0; i < times; i++) f();
        best = std::min(best, 1e6 * static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC / times);
    }
    return best;
}

/* The messages of one such launch by themselves, as a program that checks nothing would send them. */
double raw_launches(scene &s) {
    using id = void *;
    const auto send = standin::symbol(nullptr, "objc_msgSend");
    const auto name = reinterpret_cast<id (*)(const char *)>(standin::symbol(nullptr, "sel_registerName"));
    const auto classes = reinterpret_cast<id (*)(const char *)>(standin::symbol(nullptr, "objc_getClass"));
    const auto push = reinterpret_cast<id (*)()>(standin::symbol(nullptr, "objc_autoreleasePoolPush"));
    const auto pop = reinterpret_cast<void (*)(id)>(standin::symbol(nullptr, "objc_autoreleasePoolPop"));
    const id command_buffer = name("commandBuffer"), encoder = name("computeCommandEncoder"), label = name("setLabel:"),
             string = name("stringWithUTF8String:"), set_buffer = name("setBuffer:offset:atIndex:"),
             set_bytes = name("setBytes:length:atIndex:"), end = name("endEncoding"), retain = name("retain"),
             commit = name("commit"), wait = name("waitUntilCompleted"), status = name("status"), start = name("GPUStartTime"),
             stop = name("GPUEndTime"), release = name("release"), texts = classes("NSString");
    const auto get = reinterpret_cast<id (*)(id, id)>(send);
    const auto tell = reinterpret_cast<void (*)(id, id)>(send);
    const id   queue = standin::new_queue_of(nullptr), pipeline = standin::last_pipeline(),
             set_pipeline = name("setComputePipelineState:"), dispatch = name("dispatchThreadgroups:threadsPerThreadgroup:");
    struct size {
        unsigned long width, height, depth;
    };
    const double each = microseconds(
        [&] {
            const id pool = push(), c = get(queue, command_buffer);
            reinterpret_cast<void (*)(id, id, id)>(send)(
                c, label, reinterpret_cast<id (*)(id, id, const char *)>(send)(texts, string, "vector_add"));
            const id  e = get(c, encoder);
            const int n = 1000;
            reinterpret_cast<void (*)(id, id, id)>(send)(e, set_pipeline, pipeline);
            for (unsigned long i = 0; i < 3; i++)
                reinterpret_cast<void (*)(id, id, id, unsigned long, unsigned long)>(send)(e, set_buffer, s.buffer[i].object, 0, i);
            reinterpret_cast<void (*)(id, id, const void *, unsigned long, unsigned long)>(send)(e, set_bytes, &n, 4, 3);
            reinterpret_cast<void (*)(id, id, size, size)>(send)(e, dispatch, size{4, 1, 1}, size{64, 1, 1});
            tell(e, end);
            get(c, retain);
            tell(c, commit);
            tell(c, wait);
            get(c, status);
            reinterpret_cast<double (*)(id, id)>(send)(c, start);
            reinterpret_cast<double (*)(id, id)>(send)(c, stop);
            tell(c, release);
            pop(pool);
        },
        5000);
    tell(queue, release);
    return each;
}

/* A grid in parts, along each axis: every program finds its own place. */
void cut_along() {
    static const uint32_t grids[][3] = {{7, 1, 1}, {3, 4, 1}, {2, 3, 5}};
    standin::now = standin::machine();
    for (const auto &grid : grids)
        for (uint64_t most : {1, 3, 5}) {
            scene s;
            s.file = "tests/metal/places.ttir";
            s.options.parts = 1;
            if (s.ready() != TMETAL_OK) return fail(std::string("cut along: ") + s.problem.text);
            s.n_args = 3;
            std::copy(grid, grid + 3, s.programs);
            s.start.programs_per_part = most;
            std::memset(s.buffer[2].contents, 0, 4096);
            if (s.go() != TMETAL_OK) return fail(std::string("cut along: ") + s.problem.text);
            const auto *out = static_cast<const int32_t *>(s.buffer[2].contents);
            for (uint32_t i = 0; i < grid[0] * grid[1] * grid[2]; i++)
                if (out[i] != static_cast<int32_t>(grid[2] * 1000 + i)) return fail("cut along: program " + std::to_string(i) + " is elsewhere");
        }
}

/* A host that asks instead of waiting. */
void asked() {
    standin::now = standin::machine();
    scene s;
    if (s.ready() != TMETAL_OK) return fail(std::string("asked: ") + s.problem.text);
    if (!tmetal_launch_is_done(s.launch)) fail("asked: not done, before anything was started");
    int more = 0;
    if (tmetal_launch_start(s.launch, s.args, s.n_args, s.programs, &s.start, &s.problem) != TMETAL_OK) return fail("asked: does not start");
    while (more < 10 && !tmetal_launch_is_done(s.launch)) more++;
    if (more != 2) fail("asked: done at question " + std::to_string(more));
    if (tmetal_launch_wait(s.launch, 0, &s.problem) != TMETAL_OK || !tmetal_launch_is_done(s.launch)) fail("asked: does not end");
    standin::now.hangs = true;
    tmetal_launch_start(s.launch, s.args, s.n_args, s.programs, &s.start, &s.problem);
    for (int i = 0; i < 10; i++)
        if (tmetal_launch_is_done(s.launch)) return fail("asked: done, though it hangs");
}

void many_launches() {
    standin::now = standin::machine();
    scene s;
    if (s.ready() != TMETAL_OK || s.go() != TMETAL_OK) return fail("many launches: the first fails");
    const size_t before = standin::alive(), used = s.arena.used;
    for (int i = 0; i < 100; i++)
        if (s.go() != TMETAL_OK) fail("many launches: one fails");
    if (standin::alive() != before || s.arena.used != used) fail("many launches: something is left behind");
    standin::now.runs = false;
    for (int i = 0; i < 12000; i++) /* what is kept of each selector, and what a sanitizer keeps of what was freed */
        if (s.go() != TMETAL_OK) return fail("many launches: one fails");
    const size_t objects = standin::in_memory(), bytes = resident();
    for (int i = 0; i < 10000; i++)
        if (s.go() != TMETAL_OK) return fail("many launches: one fails");
    if (s.arena.used != used) fail("10,000 launches: the arena grows");
    if (standin::in_memory() != objects) fail("10,000 launches: objects are left behind");
    const size_t now = resident(), more = now > bytes ? now - bytes : 0;
    if (more > 1u << 20) fail("10,000 launches: " + std::to_string(more) + " bytes are left behind");
    std::printf("metal: 10,000 launches: %zu bytes more than before\n", more);
    double ours = 0, raw = 0;
    for (int k = 0; k == 0 || (k < 5 && ours - raw > 2.0 + raw); k++) /* the machine may be busy */
        ours = microseconds([&] { s.go(); }, 5000), raw = raw_launches(s);
    std::printf("metal: a launch of 3 buffers and a number: %.2f us, the raw messages %.2f us, ours %.2f us\n", ours, raw,
                ours - raw);
    /* UNTIMED: the build is slow on purpose (tests/mutate). 2 us on an idle machine; on a busy one the raw messages take longer too */
    if (!std::getenv("UNTIMED") && ours - raw > 2.0 + raw) fail("a launch costs more than 2 us of our own");
    standin::now.runs = true;
}

/* What a device says of matmul2d. The simulator is right by tensors in memory, and has the places of M5 only when told. */
void tensors() {
    static const struct {
        tmetal_tensor_way way;
        bool              m5, good;
        const char       *what;
    } tries[] = {{TMETAL_TENSORS_IN_MEMORY, false, true, "tensors in memory"},
                 {TMETAL_TENSORS_BY_LANE, false, false, "other places than those of M5"},
                 {TMETAL_TENSORS_BY_LANE, true, true, "the places of M5"}};
    standin::now = standin::machine();
    scene s;
    if (s.up_to_load() != TMETAL_OK) return fail(std::string("tensors: ") + s.problem.text);
    for (const auto &t : tries) {
        uint32_t wrong = 0, sums = 0;
        if (t.m5) setenv("SIM_TENSOR_MAP", "m5", 1);
        if (tmetal_tensor_try(s.metal, t.way, &s.arena, &wrong, &sums, &s.problem) != TMETAL_OK) fail(std::string(t.what) + ": " + s.problem.text);
        unsetenv("SIM_TENSOR_MAP");
        std::printf("metal: matmul2d by %s: %u of %u sums wrong\n", t.what, wrong, sums);
        if (t.good != (wrong == 0 && sums == 512)) fail(std::string(t.what) + ": told the other way");
    }
    if (tmetal_tensor_try(nullptr, TMETAL_TENSORS_IN_MEMORY, &s.arena, nullptr, nullptr, &s.problem) != TMETAL_E_MISUSE) fail("tensors: no device, no misuse");
}

/* Loads again, and says how many libraries that made. */
tmetal_code load_again(scene &s, unsigned &libraries, size_t room = 1u << 16) {
    std::vector<char> memory(room);
    tmetal_arena      arena = tmetal_arena_on(memory.data(), memory.size());
    tmetal_loaded    *loaded = nullptr;
    standin::counted.libraries = standin::counted.pipelines = 0;
    const tmetal_code c = tmetal_load(s.metal, &s.result, &arena, &loaded, nullptr, &s.problem);
    libraries = standin::counted.libraries;
    if (libraries != standin::counted.pipelines) fail("products: pipelines of other libraries");
    if (c == TMETAL_E_ARENA && (arena.used || arena.need <= room)) fail("products: a full arena keeps something, or says no more");
    tmetal_unload(loaded);
    return c;
}

/* A small product is tried once on each device, before a text that uses matmul2d comes out, and for no other. */
void products_are_tried() {
    unsigned n = 0;
    for (const bool wrong : {false, true}) {
        standin::now = standin::machine();
        const tmetal_code want = wrong ? TMETAL_E_TENSOR_WRONG : TMETAL_OK;
        scene plain, s;
        product_of(plain, "bfloat", false);
        plain.text.replace(plain.text.find("@dot_bf16"), 9, "@matmul2d"); /* a name is no product */
        m.wrong_product = wrong ? "bfloat" : "";
        if (plain.up_to_load() != TMETAL_OK || load_again(plain, n) != TMETAL_OK || n != 1) fail("products: one is tried for a text without matmul2d");
        product_of(s, "bfloat");
        if (s.compile() != TMETAL_OK) return fail("products: no text");
        s.metal = plain.metal;
        if (load_again(s, n) != want || n != 2) fail("products: none is tried, or more than one");
        if (load_again(s, n) != want || n != 1) fail("products: what is known is tried again");
        m.wrong_product = wrong ? "" : "bfloat";
        if (load_again(s, n) != want || n != 1) fail("products: the answer is not kept");
        s.metal = nullptr;
    }
    for (size_t room = 512, ok = 0; !ok; room += 256) { /* what is tried wants memory too */
        standin::now = standin::machine();
        scene s;
        product_of(s, "bfloat");
        s.open.symbol = standin::symbol;
        if (s.compile() != TMETAL_OK || tmetal_metal_open(&s.open, &s.arena, &s.metal, &s.problem) != TMETAL_OK) return fail("products: nothing is open");
        const tmetal_code c = load_again(s, n, room);
        ok = c == TMETAL_OK;
        if ((!ok && c != TMETAL_E_ARENA) || room > 1u << 14) return fail("products in a small arena: " + std::string(s.problem.text));
        if (!ok && load_again(s, n) != TMETAL_OK) return fail("products: a full arena is kept as an answer");
    }
    standin::now = standin::machine();
    m.fault = 8;
    scene s;
    product_of(s, "bfloat");
    if (s.up_to_load() != TMETAL_E_GPU) fail("products: a fault is lost");
    m.fault = 0;
    std::vector<std::thread> all;
    std::atomic<unsigned>    good{0};
    standin::counted.libraries = 0;
    for (int t = 0; t < 4; t++)
        all.emplace_back([&] {
            std::vector<char> memory(1u << 16);
            tmetal_arena      arena = tmetal_arena_on(memory.data(), memory.size());
            tmetal_loaded    *loaded = nullptr;
            good += tmetal_load(s.metal, &s.result, &arena, &loaded, nullptr, nullptr) == TMETAL_OK;
            tmetal_unload(loaded);
        });
    for (std::thread &t : all) t.join();
    if (good != 4 || standin::counted.libraries != 5) fail("products: four threads do not try one together");
}

/* Several threads use one device. `runs`: the kernels run too. */
void threads(bool runs) {
    standin::now = standin::machine();
    standin::now.runs = runs;
    std::vector<std::thread> all;
    scene first;
    if (first.up_to_load() != TMETAL_OK) return fail("threads: the kernel is not loaded");
    for (int t = 0; t < 4; t++)
        all.emplace_back([&] {
            std::vector<char> memory(1u << 16);
            tmetal_arena      arena = tmetal_arena_on(memory.data(), memory.size());
            tmetal_launch    *launch;
            tmetal_loaded    *loaded;
            tmetal_problem    problem;
            tmetal_buffer     b[3];
            uint32_t          programs[3] = {1, 1, 1};
            if (tmetal_load(first.metal, &first.result, &arena, &loaded, nullptr, &problem) != TMETAL_OK ||
                tmetal_launch_make(loaded, &arena, &launch, &problem) != TMETAL_OK)
                return fail(std::string("threads: ") + problem.text);
            tmetal_launch_arg args[4];
            for (int i = 0; i < 3; i++) {
                tmetal_buffer_make(first.metal, 4096, &b[i], &problem);
                args[i] = tmetal_arg_buffer(&b[i], 0);
            }
            args[3] = tmetal_arg_int(1000);
            for (int i = 0; i < 5; i++)
                if (tmetal_launch_run(launch, args, 4, programs, &problem) != TMETAL_OK) fail(std::string("threads: ") + problem.text);
            tmetal_launch_free(launch);
            for (tmetal_buffer &x : b) tmetal_buffer_free(first.metal, &x);
            tmetal_unload(loaded);
        });
    for (std::thread &t : all) t.join();
    for (const std::string &c : standin::complaints(false)) fail("threads: " + c);
}

/* Eight kernels on one device, each compiled, loaded, made ready and given up on a thread of its own. */
void loads_at_once(bool runs) {
    static const char *const names[] = {"softmax", "layer_norm", "matmul", "attention", "rope", "cumsum", "argmax", "transpose"};
    scene                    first;
    std::vector<std::string> texts;
    std::vector<std::thread> all;
    std::vector<sim::source> sources;
    standin::now = standin::machine();
    standin::now.runs = runs;
    if (first.up_to_load() != TMETAL_OK) return fail("loads at once: nothing is loaded");
    for (const char *name : names) {
        scene s;
        s.file = std::string("examples/kernels/") + name + ".ttir";
        if (s.compile() != TMETAL_OK) return fail(std::string("loads at once: ") + name);
        texts.push_back(text_of(s.file.c_str()));
        sources.push_back({name, s.result.msl, 310});
    }
    standin::prepare(sources);
    for (const std::string &text : texts)
        all.emplace_back([&] {
            std::vector<char> memory(8u << 20);
            for (int i = 0; i < 5; i++) {
                tmetal_arena   arena = tmetal_arena_on(memory.data(), memory.size());
                tmetal_result  result;
                tmetal_loaded *loaded;
                tmetal_launch *launch;
                tmetal_problem problem;
                const char    *warnings;
                if (tmetal_compile(text.data(), text.size(), nullptr, &arena, &result) != TMETAL_OK ||
                    tmetal_load(first.metal, &result, &arena, &loaded, &warnings, &problem) != TMETAL_OK ||
                    tmetal_launch_make(loaded, &arena, &launch, &problem) != TMETAL_OK)
                    return fail(std::string("loads at once: ") + problem.text);
                tmetal_launch_free(launch);
                tmetal_unload(loaded);
            }
        });
    for (std::thread &t : all) t.join();
    for (const std::string &c : standin::complaints(false)) fail("loads at once: " + c);
}

} // namespace

/* misuse [threads]: all, or what several threads do, without running kernels (the simulator has names of ThreadSanitizer's
 * for its own) */
int main(int argc, char **argv) {
    const bool all = argc < 2 || std::strcmp(argv[1], "threads") != 0;
    if (all) {
        shapes();
        misuses();
        describes();
        untold();
        lists();
        explained();
        small_arenas();
        parts();
        list_in_parts();
        pools_around();
        nothing_is_begun();
        what_has_parts();
        tensors();
        products_are_tried();
        asked();
        cut_along();
        many_launches();
    }
    threads(all);
    loads_at_once(all);
    for (const std::string &c : standin::complaints()) fail("at the end: " + c);
    std::printf("metal: %d failures\n", failures.load());
    return failures != 0;
}
