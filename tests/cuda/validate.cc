/* Runs recorded launches on an NVIDIA GPU and compares every buffer by the corpus' own rule.
 *
 *     cuda-validate < JOBS
 *
 * A job a line, tab between: the .case, the .ttir, the plan, the cubin, the kernels as cuda-text
 * describes them. Answers a line each: `right NAME` or `wrong NAME: why`. After an error that
 * leaves the driver unusable it ends with status 3, and whoever called it goes on behind that job
 * (validate.py). The driver is opened at run time: this builds without it. */
#include "../corpus/compare.h"
#include "../corpus/recorded.h"
#include "../sim/files.h"
#include "../sim/plan.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <iostream>
#include <map>
#include <stdexcept>

namespace {

using corpus::recorded_case;
using corpus::recorded_parameter;
using sim::plan_argument_kind;

/* Status 3: nothing more can run in this process. */
struct gone : std::runtime_error {
    using std::runtime_error::runtime_error;
};

typedef unsigned long long address;

class driver {
  public:
    driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
        if (!library_) throw gone("there is no libcuda.so.1");
        int device = 0;
        void *context = nullptr;
        call("cuInit", 0u);
        call("cuDeviceGet", &device, 0);
        call("cuDevicePrimaryCtxRetain", &context, device);
        call("cuCtxSetCurrent", context);
    }
    template <class... A> void call(const char *name, A... a) {
        auto *f = reinterpret_cast<int (*)(A...)>(dlsym(library_, name));
        if (!f) throw gone(std::string("the driver has no ") + name);
        const int code = f(a...);
        if (code == 2) throw std::runtime_error("out of memory");
        if (code) throw gone(std::string(name) + ": error " + std::to_string(code));
    }

  private:
    void *library_;
};

/* Memory of the GPU; freed when the case is done. Some bytes more than asked for, so that an access
 * past the end of one buffer is not one of another. */
class memory {
  public:
    explicit memory(driver &d) : d_(d) {}
    ~memory() {
        for (address a : all_) try {
                d_.call("cuMemFree_v2", a);
            } catch (const gone &) {}
    }
    address add(size_t bytes, const void *from) {
        address a = 0;
        d_.call("cuMemAlloc_v2", &a, bytes + 256);
        all_.push_back(a);
        d_.call("cuMemsetD8_v2", a, (unsigned char)(from ? 0xa5 : 0), bytes + 256);
        if (from && bytes) d_.call("cuMemcpyHtoD_v2", a, from, bytes);
        return a;
    }

  private:
    driver &d_;
    std::vector<address> all_;
};

struct job {
    std::string path, ttir, plan, cubin, kernels;
};

class launcher {
  public:
    launcher(driver &d, const job &j, const recorded_case &c)
        : d_(d), memory_(d), case_(c), plan_(sim::parse_plan(sim::read_file(j.plan))) {
        d_.call("cuModuleLoad", &module_, j.cubin.c_str());
        std::string all = sim::read_file(j.kernels);
        for (size_t at = 0, end; at < all.size(); at = end + 1) {
            end = std::min(all.find('\n', at), all.size());
            if (end > at) about_.push_back(nlohmann::json::parse(all.substr(at, end - at)));
        }
    }
    ~launcher() {
        try {
            d_.call("cuModuleUnload", module_);
        } catch (const gone &) {}
    }

    /* Empty, or what is wrong. */
    std::string run(const corpus::precision &p) {
        const std::vector<uint8_t> unknown(largest(), 0xa5);
        for (const corpus::recorded_buffer &b : case_.buffers)
            buffers_.push_back(
                memory_.add(b.size,
                            b.has_in ? (const void *)(case_.bytes.data() + b.in) : unknown.data()));
        const size_t programs = size_t{case_.grid[0]} * case_.grid[1] * case_.grid[2];
        for (const auto &s : plan_.scratch)
            scratch_[s.id] = memory_.add(s.bytes + programs * s.program_bytes, nullptr);
        for (const sim::plan_kernel &k : plan_.kernels) launch(k);
        d_.call("cuCtxSynchronize");
        for (unsigned i = 0; i < case_.buffers.size(); i++) {
            std::vector<uint8_t> got(case_.buffers[i].size + 1);
            if (case_.buffers[i].size)
                d_.call("cuMemcpyDtoH_v2", (void *)got.data(), buffers_[i], case_.buffers[i].size);
            const corpus::comparison r = compare_buffer(case_, i, p, written(i), got.data());
            if (!r.right) return "buffer " + std::to_string(i) + ": " + r.why;
        }
        return "";
    }

  private:
    driver &d_;
    memory memory_;
    const recorded_case &case_;
    sim::launch_plan plan_;
    void *module_ = nullptr;
    std::vector<nlohmann::json> about_;
    std::vector<address> buffers_;
    std::map<unsigned, address> scratch_;

    size_t largest() const {
        size_t n = 1;
        for (const corpus::recorded_buffer &b : case_.buffers) n = std::max(n, b.size);
        return n;
    }

    bool written(unsigned buffer) const {
        for (const sim::plan_kernel &k : plan_.kernels)
            for (const sim::plan_argument &a : k.arguments)
                if (a.writes && a.kind != plan_argument_kind::bytes &&
                    a.param < case_.parameters.size() && case_.parameters[a.param].is_buffer &&
                    case_.parameters[a.param].buffer == buffer)
                    return true;
        return false;
    }

    const recorded_parameter &parameter(const sim::plan_argument &a) const {
        if (a.param >= case_.parameters.size())
            throw std::runtime_error("the plan has a parameter that the case has not");
        return case_.parameters[a.param];
    }
    address pointer(const sim::plan_argument &a) const {
        const recorded_parameter &p = parameter(a);
        if (!p.is_buffer) throw std::runtime_error("a buffer in the plan, a number in the case");
        return buffers_[p.buffer] + p.offset;
    }

    template <class T> static std::vector<uint8_t> bytes_of(T v) {
        const auto *p = reinterpret_cast<const uint8_t *>(&v);
        return std::vector<uint8_t>(p, p + sizeof v);
    }

    /* What one argument contributes to its index. */
    std::vector<uint8_t> bytes_for(const sim::plan_argument &a) {
        switch (a.kind) {
        case plan_argument_kind::buffer:
        case plan_argument_kind::address: return bytes_of(pointer(a));
        case plan_argument_kind::scratch: return bytes_of(scratch_.at(a.id));
        case plan_argument_kind::debug: return bytes_of(memory_.add(a.size, nullptr));
        case plan_argument_kind::bytes: return corpus::encode_scalar(parameter(a), a.type, a.size);
        case plan_argument_kind::programs: return bytes_of(case_.grid.at(a.param));
        case plan_argument_kind::padding: return bytes_of(uint32_t(parameter(a).pads_nan));
        case plan_argument_kind::length:
            return bytes_of(uint64_t(case_.buffers[parameter(a).buffer].size - parameter(a).offset));
        }
        return {};
    }

    void launch(const sim::plan_kernel &k) {
        std::map<unsigned, std::vector<uint8_t>> packed;
        for (const sim::plan_argument &a : k.arguments) {
            const std::vector<uint8_t> b = bytes_for(a);
            std::vector<uint8_t> &p = packed[a.index];
            const size_t end = a.offset ? (a.offset + b.size() + 7) / 8 * 8 : b.size();
            if (p.size() < end) p.resize(end);
            std::copy(b.begin(), b.end(), p.begin() + long(a.offset));
        }
        const nlohmann::json *about = nullptr;
        for (const nlohmann::json &j : about_)
            if (j["kernel"] == k.entry) about = &j;
        if (!about) throw std::runtime_error("the text has no kernel " + k.entry);
        std::vector<void *> values;
        for (const nlohmann::json &a : (*about)["arguments"])
            if (a["kind"] != "threadgroup") {
                std::vector<uint8_t> &p = packed[a["index"].get<unsigned>()];
                p.resize(p.size() + 256); /* a struct may be longer than what is packed into it */
                values.push_back(p.data());
            }
        unsigned dynamic = 0;
        for (const auto &d : k.dynamic) dynamic += unsigned(d[1]);
        std::array<uint32_t, 3> g = k.per_program ? case_.grid : k.grid;
        g[0] = (g[0] + k.programs - 1) / k.programs;
        for (unsigned i = 0; i < 3; i++) g[i] *= k.times[i];
        if (!g[0] || !g[1] || !g[2]) return;
        if (g[1] > 65535 || g[2] > 65535)
            throw std::runtime_error("more threadgroups than a CUDA grid has");
        void *f = nullptr;
        d_.call("cuModuleGetFunction", &f, module_, (*about)["entry"].get<std::string>().c_str());
        d_.call("cuLaunchKernel", f, g[0], g[1], g[2], k.threads[0], k.threads[1], k.threads[2],
                dynamic, (void *)nullptr, values.data(), (void **)nullptr);
    }
};

bool split(const std::string &line, job &j) {
    std::string *parts[] = {&j.path, &j.ttir, &j.plan, &j.cubin, &j.kernels};
    size_t at = 0;
    for (std::string *p : parts) {
        const size_t end = std::min(line.find('\t', at), line.size());
        *p = line.substr(at, end - at);
        at = std::min(end + 1, line.size());
    }
    return !j.kernels.empty();
}

} // namespace

int main() {
    try {
        driver d;
        std::string line;
        while (std::getline(std::cin, line)) {
            job j;
            if (!split(line, j)) continue;
            std::string why;
            bool over = false;
            try {
                const recorded_case c = corpus::read_case(j.path);
                why = launcher(d, j, c).run(corpus::read_precision(sim::read_file(j.ttir)));
            } catch (const gone &e) {
                why = e.what();
                over = true;
            } catch (const std::exception &e) { why = e.what(); }
            for (char &c : why)
                if (c == '\n') c = ' ';
            std::printf("%s %s%s%s\n", why.empty() ? "right" : "wrong", j.path.c_str(),
                        why.empty() ? "" : ": ", why.c_str());
            std::fflush(stdout);
            if (over) return 3;
        }
        return 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "cuda-validate: %s\n", e.what());
        return 2;
    }
}
