/* Launch code of recorded cases: written, compiled by the C compiler with every warning an error, loaded, and run by way
 * of the stand-in for Metal; what it leaves in the buffers is judged as the corpus runner does.
 *
 *     run [--host NAME] [--most N] [--jobs N] [--filter TEXT] [--list] BUILD DIRECTORY... [--made DIRECTORY]
 *     run [--host NAME] BUILD --errors CASE
 *
 * With --most, so many cases: the first of each kind of plan (which kinds of arguments, how many kernels, and so on),
 * then every n-th of the rest. --list only prints which. Behind --made are cases
 * that were not recorded. --errors launches one case on machines and by calls that something is wrong with. */
#define TMETAL_LAUNCH_CODE
#include "../metal/case.h"

#include "../corpus/compare.h"
#include "../corpus/exceptions.h"
#include "../metal/standin.h"
#include "../sim/files.h"
#define HOSTS_STRUCT_ONLY
#include "call.h"
#include "made.h"
#include "shapes.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

namespace {

using device::compiled;

/* How a language's file is compiled here; FILE and OUT are put in. `self` stands before the arguments of a launch. */
struct language {
    tmetal_host host;
    bool        runs; /* else it is only compiled */
    const char *self, *encode;
    std::vector<std::string> commands;
};
const std::string warnings = " -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror FILE -o OUT";
const std::string apple = "clang-19 -nostdinc -isystem $(clang-19 -print-resource-dir)/include -isystem TESTS/metal/apple -isystem TESTS/robust/freestanding "
                          "-O0 -c -Wno-c99-extensions";
const language languages[] = {
    {TMETAL_HOST_C, true, "the_case_launch(&gpu", "the_case_encode(&gpu, hosts_encoder", {"gcc -std=c99 -O0 -shared -fPIC" + warnings, apple + " -isystem TESTS/hosts/apple -std=c99 -ffreestanding --target=arm64-apple-macos13.0" + warnings + ".o"}},
    {TMETAL_HOST_METAL_CPP, true, "gpu.the_case_launch(", "gpu.the_case_encode(hosts_encoder", {"clang++-19 -std=c++17 -O0 -shared -fPIC -isystem TESTS/metal/apple" + warnings}},
    {TMETAL_HOST_OBJC, false, "", "", {apple + " -isystem TESTS/hosts/apple -fobjc-arc --target=arm64-apple-macos13.0" + warnings, apple + " -isystem TESTS/hosts/apple -fobjc-arc --target=arm64-apple-ios16.0" + warnings}},
};

bool is_recorded(const std::string &path) { return std::filesystem::exists(path + ".case"); }

tmetal_options how; /* to compile */

std::unique_ptr<compiled> take(const std::string &path) {
    return path.substr(path.rfind('.')) == ".case" ? device::compile(path, how) : made::make(path);
}

bool is_given(const tmetal_arg &a) {
    return a.kind == TMETAL_ARG_BUFFER || a.kind == TMETAL_ARG_BYTES || a.kind == TMETAL_ARG_ADDRESS || a.kind == TMETAL_ARG_PADDING;
}

/* What the plan asks of a host, as a word: two cases of one word are launched alike. */
std::string kind_of_plan(const tmetal_result &r) {
    std::set<std::string> all;
    if (r.n_kernels > 1) all.insert("kernels");
    for (uint32_t i = 0; i < r.n_scratch; i++) all.insert(r.scratch[i].program_bytes ? "growing" : "scratch");
    for (uint32_t k = 0; k < r.n_kernels; k++) {
        std::set<unsigned> seen;
        if (r.kernels[k].grid[0]) all.insert("fixed");
        if (r.kernels[k].programs > 1) all.insert("batched");
        for (uint32_t t : r.kernels[k].grid_times)
            if (t > 1) all.insert("staged");
        for (uint32_t i = 0; i < r.kernels[k].n_args; i++) {
            const tmetal_arg &a = r.kernels[k].args[i];
            all.insert("kind" + std::to_string(a.kind) + (a.kind == TMETAL_ARG_BYTES ? a.type : ""));
            if (!seen.insert(a.index).second) all.insert("struct");
        }
    }
    std::string word;
    for (const std::string &s : all) word += s + " ";
    return word;
}

/* Arguments of the launch function, as the caller in call.h has them; numbers go into `numbers`. */
std::string arguments(const compiled &p, std::vector<std::array<uint8_t, 8>> &numbers) {
    static const std::map<std::string, const char *> types = {{"i1", "bool"}, {"i8", "int8_t"}, {"i16", "int16_t"}, {"i32", "int32_t"},
                                                              {"i64", "int64_t"}, {"index", "int64_t"}, {"f32", "float"}, {"f64", "double"}};
    std::map<uint32_t, std::string> all;
    std::set<uint32_t>              padded;
    bool                            by_programs = false;
    for (uint32_t k = 0; k < p.result.n_kernels; k++) {
        by_programs |= !p.result.kernels[k].grid[0];
        for (uint32_t i = 0; i < p.result.kernels[k].n_args; i++) {
            const tmetal_arg &a = p.result.kernels[k].args[i];
            by_programs |= a.kind == TMETAL_ARG_PROGRAMS;
            if (!is_given(a) || a.param >= p.c.parameters.size()) continue;
            const corpus::recorded_parameter &of = p.c.parameters[a.param];
            const std::string                 at = std::to_string(a.param);
            if (a.kind == TMETAL_ARG_PADDING) padded.insert(a.param);
            else if (of.is_buffer) all[a.param] = "b[" + std::to_string(of.buffer) + "], " + std::to_string(of.offset);
            else {
                const auto bytes = corpus::encode_scalar(of, a.type, a.size);
                std::memcpy(numbers[a.param].data(), bytes.data(), std::min<size_t>(8, bytes.size()));
                auto t = types.find(a.type);
                all[a.param] = std::string("HOSTS_NUMBER(") + (t != types.end() ? t->second : a.size == 1 ? "int8_t" : "int16_t") + ", " + at + ")";
            }
        }
    }
    for (uint32_t i = 0; i < p.result.n_scratch; i++) by_programs |= p.result.scratch[i].program_bytes != 0;
    std::string s = by_programs || all.empty() ? ", HOSTS_PROGRAMS" : "";
    for (const auto &a : all) s += ", " + a.second + (padded.count(a.first) ? p.c.parameters[a.first].pads_nan ? ", 1" : ", 0" : "");
    return s;
}

bool is_written(const compiled &p, unsigned buffer) {
    for (uint32_t k = 0; k < p.result.n_kernels; k++)
        for (uint32_t i = 0; i < p.result.kernels[k].n_args; i++) {
            const tmetal_arg &a = p.result.kernels[k].args[i];
            if ((a.kind == TMETAL_ARG_BUFFER || a.kind == TMETAL_ARG_ADDRESS) && (a.access & TMETAL_WRITES) && p.c.parameters[a.param].buffer == buffer)
                return true;
        }
    return false;
}

std::string replaced(std::string s, const std::string &what, const std::string &by) {
    for (size_t at; (at = s.find(what)) != std::string::npos;) s.replace(at, what.size(), by);
    return s;
}

/* "" when it compiles */
std::string build(const language &l, compiled &p, const std::string &caller, const std::string &base) {
    tmetal_host_options o{};
    tmetal_result       out;
    const char         *text;
    size_t              len;
    o.name = "the_case";
    if (tmetal_launch_code(&p.result, l.host, &o, &p.arena, &text, &len, &out) != TMETAL_OK) return std::string("refused: ") + out.diags[0].message;
    const std::string shape = l.host == TMETAL_HOST_C ? shapes::wrong(text) : "";
    if (!shape.empty()) return shape;
    const std::string file = base + tmetal_host_suffix(l.host);
    std::ofstream(file) << std::string(text, len) << caller;
    for (const std::string &command : l.commands) {
        const std::string whole = replaced(replaced(replaced(command, "FILE", file), "OUT", base + ".so"), "TESTS", sim::tests_directory());
        if (std::system((whole + " 2> " + base + ".txt").c_str())) return file + " does not compile:\n" + sim::read_file(base + ".txt");
    }
    return "";
}

/* `by`: arguments other than those of the case; "": those; "encode": those, into an encoder of the caller */
std::string run(const language &l, compiled &p, const std::string &base, const std::string &by) {
    std::vector<std::array<uint8_t, 8>> numbers(p.c.parameters.size() + 1);
    char                                error[4000] = "";
    std::string args = arguments(p, numbers), caller;
    const bool  encodes = by == "encode";
    if (!by.empty() && !encodes) args = ", " + by;
    if (l.runs && encodes)
        caller = "\n#define HOSTS_ENCODE\n#include \"" + sim::tests_directory() + "/hosts/call.h\"\nHOSTS_CALL(the_case, HOSTS_BEGIN && HOSTS_END(" + l.encode + args +
                 ") && " + l.encode + args + ")))\n";
    if (std::string(l.self).back() == '(') args = args.substr(2);
    if (l.runs && !encodes) caller = "\n#include \"" + sim::tests_directory() + "/hosts/call.h\"\nHOSTS_CALL(the_case, " + l.self + args + "))\n";
    const std::string why = build(l, p, caller, base);
    if (!why.empty() || !l.runs) return why;
    void *so = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!so) return dlerror();
    auto *call = reinterpret_cast<int (*)(const hosts_call *)>(dlsym(so, "hosts_run"));
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<uint8_t *>            at;
    std::vector<size_t>               sizes;
    for (const auto &b : p.c.buffers) {
        bytes.emplace_back(b.size);
        if (b.has_in) std::memcpy(bytes.back().data(), p.c.bytes.data() + b.in, b.size);
        at.push_back(bytes.back().data());
        sizes.push_back(b.size);
    }
    const hosts_call c = {sizes.size(), sizes.data(), at.data(), reinterpret_cast<const uint8_t(*)[8]>(numbers.data()), p.c.grid.data(), error};
    const int        good = call(&c);
    dlclose(so);
    if (!good) return error;
    for (unsigned i = 0; i < p.c.buffers.size(); i++) {
        const auto r = corpus::compare_buffer(p.c, i, corpus::read_precision(p.text), is_written(p, i), at[i]);
        if (!r.right) return "buffer " + std::to_string(i) + ": " + r.why;
    }
    for (const sim::violation &v : standin::violations()) return v.str();
    return "";
}

/* 0 when all are right. Cases that the compiler refuses are not launched. */
int judge(const language &l, const std::string &build, const std::vector<std::string> &paths) {
    const corpus::exceptions known(sim::tests_directory() + "/corpus/cannot-agree.txt");
    int                      bad = 0;
    for (size_t from = 0; from < paths.size(); from += 24) {
        std::vector<std::unique_ptr<compiled>> batch;
        std::vector<sim::source>               texts;
        for (size_t i = from; i < std::min(paths.size(), from + 24); i++) {
            batch.push_back(take(paths[i]));
            texts.push_back({"case" + std::to_string(i), batch.back()->result.msl, static_cast<int>(batch.back()->version())});
        }
        if (l.runs) standin::prepare(texts);
        for (auto &p : batch) {
            if (l.runs && !is_recorded(p->c.path)) made::record(*p);
            std::string why = run(l, *p, build + "/" + std::to_string(getpid()), "");
            for (const std::string &s : standin::complaints())
                if (why.empty()) why = s;
            if (!why.empty() && known.reason(p->c.name, p->c.source)) std::printf("by nature %s\n", p->c.name.c_str()), why.clear();
            else std::printf("%s %s%s%s\n", why.empty() ? "right" : "wrong", p->c.name.c_str(), why.empty() ? "" : ": ", why.c_str());
            std::fflush(stdout);
            bad |= !why.empty();
        }
    }
    return bad;
}

/* Machines, and what launch code must say of them; "" where it must go well. */
const struct {
    const char *name;
    void (*make)(standin::machine &m);
    const char *says;
} wrong_machines[] = {
    {"a good one", [](standin::machine &) {}, ""},
    {"no device", [](standin::machine &m) { m.has_default_device = false; }, "Metal: no "},
    {"too old a GPU", [](standin::machine &m) { m.family = 5; }, "family 7"},
    {"no queue", [](standin::machine &m) { m.no_queue = true; }, "queue"},
    {"a compiler that refuses", [](standin::machine &m) { m.compiler_says = "expected ';'"; }, "expected ';'"},
    {"a compiler that warns", [](standin::machine &m) { m.compiler_says = "unused", m.warns = true; }, ""},
    {"a library without the function", [](standin::machine &m) { m.lacks_function = true; }, "vector_add"},
    {"no pipeline", [](standin::machine &m) { m.pipeline_says = "too complex"; }, "too complex"},
    {"a pipeline of few threads", [](standin::machine &m) { m.pipeline_threads = 32; }, "threads"},
    {"wide simdgroups", [](standin::machine &m) { m.simd_width = 64; }, "simdgroups"},
    {"no memory", [](standin::machine &m) { m.no_memory = true; }, "no buffer"},
    {"no command buffer", [](standin::machine &m) { m.no_command_buffer = true; }, "no command buffer"},
    {"no encoder", [](standin::machine &m) { m.no_encoder = true; }, "encoder"},
    {"a fault", [](standin::machine &m) { m.fault = 3; }, "aborted (code 3)"},
};
/* What a caller may get wrong, instead of the arguments of the case. */
const struct {
    const char *name, *args, *says;
} wrong_calls[] = {
    {"one buffer twice", "HOSTS_PROGRAMS, b[0], 0, b[1], 0, b[0], 0, 100", "another argument"},
    {"an offset", "HOSTS_PROGRAMS, b[0], 4, b[1], 0, b[2], 0, 100", "alignment"},
    {"an offset behind the end", "HOSTS_PROGRAMS, b[0], 1 << 30, b[1], 0, b[2], 0, 100", "too short"},
    {"no buffer", "HOSTS_PROGRAMS, b[0], 0, NULL, 0, b[2], 0, 100", "no buffer"},
    {"too many programs", "hosts_many, b[0], 0, b[1], 0, b[2], 0, 100", "too many"},
    {"no programs", "hosts_none, b[0], 0, b[1], 0, b[2], 0, 100", "buffer "}, /* which nothing was written to */
};

/* In every arena it is the same text, or TM901 and what the arena would need: never less than what then suffices. */
std::string small_arenas(const language &l, const compiled &p) {
    std::vector<char> memory(1 << 20);
    std::string       whole;
    size_t            enough = 0;
    for (size_t cap = memory.size(); cap > 64; cap -= cap > 65536 ? cap / 2 : 61) {
        tmetal_arena  a = tmetal_arena_on(memory.data(), cap);
        tmetal_result out;
        const char   *text;
        size_t        len;
        const tmetal_code code = tmetal_launch_code(&p.result, l.host, nullptr, &a, &text, &len, &out);
        if (code == TMETAL_OK && whole.empty()) whole.assign(text, len);
        if (code == TMETAL_OK) {
            if (enough == cap) return "it fits where it did not";
            if (whole != std::string(text, len)) return "another text in an arena of " + std::to_string(cap);
        } else {
            if (code != TMETAL_E_ARENA || text || a.used || a.need <= cap) return "an arena of " + std::to_string(cap) + ": TM" + std::to_string(code);
            enough = std::max(enough, cap);
        }
    }
    return enough ? "" : "every arena is large enough";
}

std::string refusal(const tmetal_result &r, tmetal_host host) {
    std::vector<char> memory(1 << 20);
    tmetal_arena      a = tmetal_arena_on(memory.data(), memory.size());
    tmetal_result     out;
    const char       *text;
    size_t            len;
    const tmetal_code code = tmetal_launch_code(&r, host, nullptr, &a, &text, &len, &out);
    return code == TMETAL_OK ? "" : "TM" + std::to_string(code) + (text ? ": with a text" : "");
}

/* What a kernel prints, or asserts. */
const struct {
    const char *path, *says;
} messages[] = {
    {"kernels/recorded/functions-print_all", "pid (1, 0, 0) idx (1) x and i: -1.3986\n"},
    {"kernels/recorded/functions-print_all", "pid (1, 0, 0) idx (3) unsigned: 3\n"},
    {"kernels/recorded/functions-print_all", "pid (0, 0, 0) idx (2) in hex: 0x2\n"},
    {"kernels/recorded/functions-print_all", "pid (1, 0, 0) idx (0) here\n"},
    {"examples/checked", "checked.py:12: v must not be negative"},
};

/* What a launch writes to standard error, and its error. */
std::string heard(const language &l, const std::string &base, const std::string &path) {
    auto      p = device::compile(sim::tests_directory() + "/" + path + ".case", {});
    const int was = dup(2);
    std::fflush(stderr);
    if (!std::freopen((base + ".err").c_str(), "w", stderr)) return "no file for standard error";
    const std::string error = run(l, *p, base, "");
    std::fflush(stderr);
    dup2(was, 2);
    close(was);
    return sim::read_file(base + ".err") + error;
}

int judge_errors(const language &l, const std::string &base, const std::string &path) {
    int  bad = 0;
    auto p = take(path);
    auto check = [&](const char *name, const std::string &got, const std::string &says) {
        std::string why = says.empty() || got.find(says) == std::string::npos ? got : "";
        if (!says.empty() && got.empty()) why = "it goes well";
        for (const std::string &s : standin::complaints())
            if (why.empty()) why = s;
        std::printf("%s %s%s%s\n", why.empty() ? "right" : "wrong", name, why.empty() ? "" : ": ", why.c_str());
        bad |= !why.empty();
    };
    for (const auto &m : wrong_machines) {
        m.make(standin::now);
        check(m.name, run(l, *p, base, ""), m.says);
        standin::now = standin::machine();
    }
    for (const auto &c : wrong_calls) check(c.name, run(l, *p, base, c.args), c.says);
    tmetal_options aliased{};
    aliased.alias = "0=2"; /* these two may be one, but neither may be the third */
    auto by_address = device::compile(path, aliased);
    check("one buffer twice, once by its address", run(l, *by_address, base, "HOSTS_PROGRAMS, b[0], 0, b[2], 0, b[2], 0, 100"), "another argument");
    auto special = device::compile(sim::tests_directory() + "/metal/specialized.case", {});
    check("a multiple, as it was compiled for", run(l, *special, base, ""), "");
    for (const char *numbers : {"1000, 32", "48, -40"}) {
        const bool is_n = *numbers == '1';
        check("an integer that is no multiple", run(l, *special, base, std::string("HOSTS_PROGRAMS, b[0], 0, b[1], 0, b[2], 0, ") + numbers),
              is_n ? "`n` is 1000, but this kernel was compiled for a multiple of 16" : "`m` is -40, but this kernel was compiled for a multiple of 16");
    }
    auto stages = take(sim::tests_directory() + "/hosts/cases/two_stage.ttir"); /* its scratch grows with the programs */
    made::record(*stages);
    std::vector<std::array<uint8_t, 8>> numbers(stages->c.parameters.size() + 1);
    const std::string                   args = arguments(*stages, numbers).substr(2);
    check("scratch of no programs", run(l, *stages, base, replaced(args, "HOSTS_PROGRAMS", "hosts_none")), "buffer ");
    check("scratch of too many programs", run(l, *stages, base, replaced(args, "HOSTS_PROGRAMS", "hosts_many")), "too many");
    check("into the caller's encoder, twice", run(l, *p, base, "encode"), "");
    check("the same in two stages", run(l, *stages, base, "encode"), "");
    for (const auto &m : messages) check(m.path, heard(l, base, m.path), m.says);
    check("a full arena", small_arenas(l, *p), "");
    check("no such language", refusal(p->result, static_cast<tmetal_host>(TMETAL_HOST_COUNT)), "TM903");
    check("its name", tmetal_host_name(static_cast<tmetal_host>(TMETAL_HOST_COUNT)), "");
    check("its suffix", tmetal_host_suffix(static_cast<tmetal_host>(TMETAL_HOST_COUNT)), "");
    tmetal_result empty = p->result;
    empty.msl = nullptr;
    check("a result without Metal", refusal(empty, l.host), "TM903");
    tmetal_options o{};
    o.parts = 1;
    auto cut = device::compile(path, o);
    check("a grid in parts", refusal(cut->result, l.host), "TM740");
    return bad;
}

/* `most` of the cases, in the order of their names. */
std::vector<std::string> choose(const std::vector<std::string> &paths, size_t most) {
    std::vector<std::string> first, rest;
    std::set<std::string>    seen;
    for (const std::string &path : paths) {
        const auto p = take(path);
        if (p->result.code != TMETAL_OK || p->c.compile_only || p->c.buffers.size() > HOSTS_MOST) continue;
        (seen.insert(kind_of_plan(p->result)).second ? first : rest).push_back(path);
    }
    if (!most || first.size() + rest.size() <= most) most = first.size() + rest.size();
    const size_t wanted = most > first.size() ? most - first.size() : 0;
    for (size_t i = 0; i < wanted; i++) first.push_back(rest[i * rest.size() / wanted]);
    return first;
}

} // namespace

/* What the launch code links with. */
extern "C" {
void (*metal_symbol(const char *name))(void) { return standin::symbol(nullptr, name); } /* metal/apple/Foundation/Foundation.hpp */
void *objc_getClass(const char *name) { return reinterpret_cast<void *(*)(const char *)>(standin::symbol(nullptr, "objc_getClass"))(name); }
void *sel_registerName(const char *name) { return reinterpret_cast<void *(*)(const char *)>(standin::symbol(nullptr, "sel_registerName"))(name); }
void *objc_autoreleasePoolPush() { return reinterpret_cast<void *(*)()>(standin::symbol(nullptr, "objc_autoreleasePoolPush"))(); }
void  objc_autoreleasePoolPop(void *pool) { reinterpret_cast<void (*)(void *)>(standin::symbol(nullptr, "objc_autoreleasePoolPop"))(pool); }
void *dispatch_get_global_queue(intptr_t, uintptr_t) { return nullptr; }
void  dispatch_async_f(void *, void *context, void (*work)(void *)) { work(context); }
void *MTLCreateSystemDefaultDevice() { return reinterpret_cast<void *(*)()>(standin::symbol(nullptr, "MTLCreateSystemDefaultDevice"))(); }
}
#if defined(__x86_64__)
asm(".text\n.globl objc_msgSend\n.type objc_msgSend, @function\nobjc_msgSend:\n  jmp standin_send\n");
#else
asm(".text\n.globl objc_msgSend\n.type objc_msgSend, %function\nobjc_msgSend:\n  b standin_send\n");
#endif

int main(int argc, char **argv) {
    std::vector<std::string> paths;
    std::string              filter, build, errors;
    bool                     is_made = false;
    const language          *l = languages;
    size_t                   jobs = 2, most = 0;
    bool                     list = false;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--jobs") == 0) jobs = std::max(1, std::atoi(argv[++i]));
        else if (std::strcmp(argv[i], "--most") == 0) most = std::strtoul(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--filter") == 0) filter = argv[++i];
        else if (std::strcmp(argv[i], "--errors") == 0) errors = argv[++i];
        else if (std::strcmp(argv[i], "--made") == 0) is_made = true;
        else if (std::strcmp(argv[i], "--list") == 0) list = true;
        else if (std::strcmp(argv[i], "--bounds") == 0) how.bounds = 1;
        else if (std::strcmp(argv[i], "--host") == 0) {
            for (i++, l = languages; l < std::end(languages) && std::strcmp(tmetal_host_name(l->host), argv[i]) != 0; l++) {}
            if (l == std::end(languages)) return std::fprintf(stderr, "no language %s\n", argv[i]), 2;
        } else if (build.empty()) build = argv[i];
        else
            for (const auto &e : std::filesystem::recursive_directory_iterator(argv[i]))
                if ((is_made ? e.is_regular_file() : e.path().extension() == ".case") && e.path().string().find(filter) != std::string::npos) paths.push_back(e.path().string());
    }
    std::filesystem::create_directories(build);
    if (!errors.empty()) return judge_errors(*l, build + "/errors", errors);
    std::sort(paths.begin(), paths.end());
    paths = choose(paths, most);
    if (list) {
        for (const std::string &path : paths) std::puts(path.c_str());
        return paths.empty();
    }
    std::filesystem::create_directories(build);
    std::vector<pid_t> workers;
    for (size_t j = 0; j < jobs; j++) {
        std::vector<std::string> mine;
        for (size_t i = j; i < paths.size(); i += jobs) mine.push_back(paths[i]);
        const pid_t pid = fork();
        if (pid == 0) {
            const int bad = judge(*l, build, mine);
            std::fflush(stdout);
            _exit(bad);
        }
        workers.push_back(pid);
    }
    int bad = paths.empty();
    for (pid_t w : workers) {
        int status = 1;
        waitpid(w, &status, 0);
        bad |= status;
    }
    return bad != 0;
}
