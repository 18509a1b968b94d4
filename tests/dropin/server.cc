/* The Metal simulator as a process for triton_metal/backend.py: reads requests from its standard input and answers on
 * its standard output, one after the other. Each is a line of words, and then bytes.
 *
 *   compile MSL PLAN, as many bytes of Metal and of tmetal's plan
 *                      ok ID
 *   run ID X Y Z CHECKS SECONDS N P, then N lines "BYTES WRITTEN", P arguments of 24 bytes, the bytes of N buffers
 *                      ok DEBUG, that many bytes of the debug buffers, then the bytes of the buffers that are WRITTEN
 *
 * An argument is a tmetal_packed_arg: the number of a buffer from 1 on, or 0; its offset; bits. Errors:
 *
 *   error LINE BYTES   and a text; LINE of the Metal, 0 where none is known
 *   violation LINE BYTES  likewise: what the simulator's checks found
 *
 * TRITON_METAL_MODULES names the folder where compiled texts are kept. */
#include "../corpus/launch.h"
#include "../sim/files.h"
#include "../sim/sim.h"

#include <cstring>
#include <iostream>
#include <stdexcept>

namespace {

struct library {
    std::shared_ptr<sim::module> module;
    sim::launch_plan             plan;
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

void answer(const char *what, unsigned line, const std::string &text) {
    std::cout << what << " " << line << " " << text.size() << "\n" << text;
}

void compile() {
    const auto msl = next<size_t>(), plan = next<size_t>();
    std::cin.get(); /* the end of the line */
    sim::source s{unit, text_of(msl)};
    library     l{nullptr, sim::parse_plan(text_of(plan))};
    s.version = l.plan.version;
    s.threads = l.plan.kernels.front().threads[0];
    sim::build_options options;
    if (const char *folder = getenv("TRITON_METAL_MODULES")) options.keep_in = folder;
    l.module = sim::build({s}, options);
    const auto &errors = l.module->units().front().errors;
    if (!errors.empty()) return answer("error", errors[0].line, errors[0].str());
    /* numbers come as their bits */
    for (sim::plan_kernel &k : l.plan.kernels)
        for (sim::plan_argument &a : k.arguments)
            if (a.kind == sim::plan_argument_kind::bytes) a.type = "i" + std::to_string(8 * a.size);
    libraries.push_back(l);
    std::cout << "ok " << libraries.size() - 1 << "\n";
}

/* What the arguments say, as a recorded launch without results. */
void read_launch(corpus::recorded_case &c, std::vector<bool> &written) {
    const auto buffers = next<size_t>(), parameters = next<size_t>();
    size_t     total = 0;
    for (size_t i = 0; i < buffers; i++) {
        corpus::recorded_buffer b;
        b.size = next<size_t>();
        written.push_back(next<int>() != 0);
        b.has_in = true;
        b.in = total;
        total += b.size;
        c.buffers.push_back(b);
    }
    std::cin.get();
    for (size_t i = 0; i < parameters; i++) {
        uint64_t word[3];
        read_bytes(word, sizeof word);
        corpus::recorded_parameter p;
        p.is_buffer = word[0] != 0;
        if (word[0] > buffers) throw std::runtime_error("an argument names no buffer");
        if (p.is_buffer) p.buffer = static_cast<unsigned>(word[0] - 1);
        p.offset = word[1];
        p.pads_nan = p.is_buffer && word[2];
        p.text = std::to_string(word[2]);
        c.parameters.push_back(p);
    }
    c.bytes.resize(total);
    read_bytes(&c.bytes[0], total);
}

void run() {
    const auto                     id = next<size_t>();
    corpus::recorded_case          c;
    sim::run_options               options;
    std::vector<bool>              written;
    for (uint32_t &x : c.grid) x = next<uint32_t>();
    options.checks = next<int>() != 0;
    options.seconds = next<double>();
    read_launch(c, written);
    const library            &l = libraries.at(id);
    const corpus::case_result r = corpus::run_case(*l.module, unit, l.plan, c, corpus::precision(), options);
    if (!r.plan_error.empty()) return answer("error", 0, r.plan_error);
    if (!r.report.ok()) return answer("violation", r.report.violations[0].line, r.report.violations[0].str());
    std::cout << "ok " << r.debug.size() << "\n";
    std::cout.write(reinterpret_cast<const char *>(r.debug.data()), static_cast<std::streamsize>(r.debug.size()));
    for (size_t i = 0; i < r.after.size(); i++)
        if (written[i])
            std::cout.write(reinterpret_cast<const char *>(r.after[i].data()), static_cast<std::streamsize>(r.after[i].size()));
}

} // namespace

int main() {
    std::string word;
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
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
