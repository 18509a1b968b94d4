/* The Metal simulator as a process for triton_metal/backend.py: reads requests from its standard input and answers on
 * its standard output, one after the other. Each is a line of words, and then bytes.
 *
 *   compile MSL PLAN, as many bytes of Metal and of tmetal's plan
 *                      ok ID
 *   run ID CHECKS SECONDS OVERLAPS N, then N lines "BYTES LEAD WRITTEN", a tm_call of examples/python/library.c, the
 *   bytes of N buffers; LEAD: how far past a multiple of 16 one begins
 *                      ok 1, the bytes of the debug buffers, then of the buffers that are WRITTEN
 *                      ok 0: arguments share elements, and OVERLAPS is 0: the kernel was not compiled for that
 *
 * An answer's line has 64 bytes. An argument is a tmetal_packed_arg: the number of a buffer from 1 on, or 0; its
 * offset; bits. Errors:
 *
 *   error LINE BYTES   and a text; LINE of the Metal, 0 where none is known
 *   violation LINE BYTES  likewise: what the simulator's checks found
 *
 * TRITON_METAL_MODULES names the folder where compiled texts are kept; the older half goes when there are too many.
 * CLANGXX names the compiler of the kernels; by default it is the newest that the simulator's tests know. */
#include "../corpus/launch.h"
#include "../sim/files.h"
#include "../sim/sim.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace {

struct library {
    std::shared_ptr<sim::module> module;
    sim::launch_plan             plan;
    sim::source                  text;
};
std::vector<library> libraries;
const char           unit[] = "kernel.metal";

template <typename T> T next() {
    T x;
    if (!(std::cin >> x)) throw std::runtime_error("the request is cut short");
    return x;
}

void read_bytes(void *to, size_t n) {
    if (n && !std::cin.read(static_cast<char *>(to), static_cast<std::streamsize>(n)))
        throw std::runtime_error("the request is cut short");
}

std::string text_of(size_t n) {
    std::string s(n, '\0');
    read_bytes(&s[0], n);
    return s;
}

void answer(std::string line) {
    line.resize(63, ' ');
    std::cout << line << "\n";
}

void answer(const char *what, unsigned line, const std::string &text) {
    answer(std::string(what) + " " + std::to_string(line) + " " + std::to_string(text.size()));
    std::cout << text;
}

void write_bytes(const void *from, size_t n) {
    std::cout.write(static_cast<const char *>(from), static_cast<std::streamsize>(n));
}

void find_clang() {
    if (getenv("CLANGXX")) return;
    const char *path = getenv("PATH");
    for (const char *version : {"-19", "-21", "-20", "-18", "-17", "-16", ""}) {
        std::istringstream folders(path ? path : "");
        for (std::string folder; std::getline(folders, folder, ':');) {
            const std::string name = std::string("clang++") + version;
            if (access((folder + "/" + name).c_str(), X_OK)) continue;
            setenv("CLANGXX", name.c_str(), 1);
            return;
        }
    }
    throw std::runtime_error("kernels in the simulator are compiled by clang++, which is not found: install clang "
                             "(apt-get install clang), or set CLANGXX to its path");
}

void trim(const char *folder) {
    namespace fs = std::filesystem;
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code                                      ignored; /* of files that another process removes */
    for (const fs::directory_entry &e : fs::directory_iterator(folder, ignored))
        files.emplace_back(e.last_write_time(ignored), e.path());
    if (files.size() <= 20000) return;
    std::sort(files.begin(), files.end());
    for (size_t i = 0; i < files.size() / 2; i++) fs::remove(files[i].second, ignored);
}

void build(library &l) {
    sim::build_options options;
    if (const char *folder = getenv("TRITON_METAL_MODULES")) options.keep_in = folder;
    l.module = sim::build({l.text}, options);
}

void compile() {
    const auto msl = next<size_t>(), plan = next<size_t>();
    std::cin.get(); /* the end of the line */
    sim::source s{unit, text_of(msl)};
    library     l{nullptr, sim::parse_plan(text_of(plan)), s};
    l.text.version = l.plan.version;
    l.text.threads = l.plan.kernels.front().threads[0];
    find_clang();
    build(l);
    const auto &errors = l.module->units().front().errors;
    if (!errors.empty()) return answer("error", errors[0].line, errors[0].str());
    /* numbers come as their bits */
    for (sim::plan_kernel &k : l.plan.kernels)
        for (sim::plan_argument &a : k.arguments)
            if (a.kind == sim::plan_argument_kind::bytes) a.type = "i" + std::to_string(8 * a.size);
    libraries.push_back(l);
    answer("ok " + std::to_string(libraries.size() - 1));
}

/* A buffer of the launch: its memory begins at a multiple of 16, `lead` bytes before its own. */
struct given {
    size_t bytes, lead;
    bool   is_written;
};

/* The launch as a recorded one without results. */
void read_launch(corpus::recorded_case &c, std::vector<given> &buffers) {
    buffers.resize(next<size_t>());
    size_t     total = 0;
    for (given &g : buffers) {
        corpus::recorded_buffer b;
        g.bytes = next<size_t>();
        g.lead = next<size_t>();
        g.is_written = next<int>() != 0;
        b.size = g.lead + g.bytes;
        b.has_in = true;
        b.in = total;
        total += b.size;
        c.buffers.push_back(b);
    }
    std::cin.get();
    uint32_t programs_and_parameters[4];
    read_bytes(programs_and_parameters, sizeof programs_and_parameters);
    std::copy_n(programs_and_parameters, 3, c.grid.begin());
    for (uint32_t i = 0; i < programs_and_parameters[3]; i++) {
        uint64_t word[3];
        read_bytes(word, sizeof word);
        corpus::recorded_parameter p;
        p.is_buffer = word[0] != 0;
        if (word[0] > buffers.size()) throw std::runtime_error("an argument names no buffer");
        if (p.is_buffer) p.buffer = static_cast<unsigned>(word[0] - 1);
        p.offset = word[1];
        p.pads_nan = p.is_buffer && word[2];
        p.text = std::to_string(word[2]);
        c.parameters.push_back(p);
    }
    c.bytes.resize(total);
    for (size_t i = 0; i < buffers.size(); i++)
        read_bytes(&c.bytes[c.buffers[i].in + buffers[i].lead], buffers[i].bytes);
}

void run() {
    const auto            id = next<size_t>();
    corpus::recorded_case c;
    sim::run_options      options;
    std::vector<given>    buffers;
    options.checks = next<int>() != 0;
    options.seconds = next<double>();
    const bool may_overlap = next<int>() != 0;
    read_launch(c, buffers);
    library &l = libraries.at(id);
    if (!sim::exists(l.module->path())) build(l); /* the folder was removed */
    const corpus::case_result r = corpus::run_case(*l.module, unit, l.plan, c, corpus::precision(), options);
    if (!r.plan_error.empty()) return answer("error", 0, r.plan_error);
    if (r.report.aliased && !may_overlap) return answer("ok 0");
    if (!r.report.ok()) return answer("violation", r.report.violations[0].line, r.report.violations[0].str());
    answer("ok 1");
    write_bytes(r.debug.data(), r.debug.size());
    for (size_t i = 0; i < buffers.size(); i++)
        if (buffers[i].is_written) write_bytes(r.after[i].data() + buffers[i].lead, buffers[i].bytes);
}

/* Ends this process and its kernels when nobody can ask any more: a kernel may run for long. */
void watch() {
    pollfd in{0, 0, 0};
    while (poll(&in, 1, -1) <= 0 || !(in.revents & (POLLHUP | POLLERR | POLLNVAL))) {}
    if (getpgrp() == getpid()) kill(0, SIGKILL);
    _exit(0);
}

} // namespace

int main() {
    std::thread(watch).detach();
    std::string word;
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    if (const char *folder = getenv("TRITON_METAL_MODULES")) trim(folder);
    while (std::cin >> word) {
        try {
            if (word == "compile") compile();
            else if (word == "run") run();
            else return 2;
        } catch (const std::exception &e) {
            if (!std::cin) return 1;
            answer("error", 0, e.what());
        }
        std::cout.flush();
    }
    return 0;
}
