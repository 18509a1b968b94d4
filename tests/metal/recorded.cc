/* Every recorded launch by way of the launcher and the stand-in: compiled, loaded, bound, launched, waited for and
 * compared as the corpus runner does.
 *
 *     recorded [--gpu NAME] [--jobs N] [--filter TEXT] DIRECTORY... */
#define TMETAL_METAL
#include "../../tmetal.h"

#include "../corpus/compare.h"
#include "../corpus/recorded.h"
#include "../corpus/table.h"
#include "../sim/files.h"
#include "standin.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

namespace {

struct compiled {
    corpus::recorded_case c;
    std::string           text; /* of Triton IR */
    std::vector<char>     memory;
    tmetal_arena          arena;
    tmetal_result         result;
};

std::string read(const std::string &path) {
    std::ifstream     f(path, std::ios::binary);
    std::stringstream s;
    s << f.rdbuf();
    return s.str();
}

/* Parameters that the recorded launch gave one buffer go by address: Metal lets no two arguments overlap. */
std::string shared_parameters(const corpus::recorded_case &c) {
    std::string all;
    for (size_t i = 0; i < c.parameters.size(); i++)
        for (size_t j = 0; j < i; j++)
            if (c.parameters[i].is_buffer && c.parameters[j].is_buffer && c.parameters[i].buffer == c.parameters[j].buffer)
                all += (all.empty() ? "" : ",") + std::to_string(j) + "=" + std::to_string(i);
    return all;
}

std::unique_ptr<compiled> compile(const std::string &path) {
    auto p = std::make_unique<compiled>();
    p->c = corpus::read_case(path);
    p->text = read(p->c.path + ".ttir");
    p->memory.resize(tmetal_arena_bound(p->text.size()) + 65536);
    p->arena = tmetal_arena_on(p->memory.data(), p->memory.size());
    tmetal_options    o{};
    const std::string alias = shared_parameters(p->c);
    if (!alias.empty()) o.alias = alias.c_str();
    tmetal_compile(p->text.data(), p->text.size(), &o, &p->arena, &p->result);
    return p;
}

/* A number as the case writes it, for a parameter that the plan gives a type. */
tmetal_launch_arg number(const corpus::recorded_parameter &p, const std::string &type) {
    const auto t = corpus::parse_element(type);
    if (t.is_float()) return tmetal_arg_float(std::strtod(p.text.c_str(), nullptr));
    return tmetal_arg_int(p.text[0] == '-' ? std::strtoll(p.text.c_str(), nullptr, 0)
                                           : static_cast<int64_t>(std::strtoull(p.text.c_str(), nullptr, 0)));
}

std::vector<tmetal_launch_arg> arguments(const compiled &p, const std::vector<tmetal_buffer> &buffers) {
    std::vector<tmetal_launch_arg> args(p.c.parameters.size());
    for (auto &a : args) a = tmetal_launch_arg{};
    for (uint32_t k = 0; k < p.result.n_kernels; k++)
        for (uint32_t i = 0; i < p.result.kernels[k].n_args; i++) {
            const tmetal_arg &a = p.result.kernels[k].args[i];
            if (a.kind != TMETAL_ARG_BUFFER && a.kind != TMETAL_ARG_BYTES && a.kind != TMETAL_ARG_ADDRESS &&
                a.kind != TMETAL_ARG_PADDING)
                continue;
            if (a.param >= args.size()) continue;
            const corpus::recorded_parameter &of = p.c.parameters[a.param];
            if (of.is_buffer) args[a.param] = tmetal_arg_buffer(&buffers[of.buffer], of.offset);
            else args[a.param] = number(of, a.type);
            args[a.param].nan_padding = of.pads_nan;
        }
    return args;
}

bool is_written(const compiled &p, unsigned buffer) {
    for (uint32_t k = 0; k < p.result.n_kernels; k++)
        for (uint32_t i = 0; i < p.result.kernels[k].n_args; i++) {
            const tmetal_arg &a = p.result.kernels[k].args[i];
            if ((a.kind == TMETAL_ARG_BUFFER || a.kind == TMETAL_ARG_ADDRESS) && (a.access & TMETAL_WRITES) &&
                a.param < p.c.parameters.size() && p.c.parameters[a.param].is_buffer && p.c.parameters[a.param].buffer == buffer)
                return true;
        }
    return false;
}

/* "" when every buffer is as recorded */
std::string compare(const compiled &p, const std::vector<tmetal_buffer> &buffers) {
    const corpus::precision exact = corpus::read_precision(p.text);
    for (unsigned i = 0; i < p.c.buffers.size(); i++) {
        const auto r = corpus::compare_buffer(p.c, i, exact, is_written(p, i), static_cast<const uint8_t *>(buffers[i].contents));
        if (!r.right) return "buffer " + std::to_string(i) + ": " + r.why;
    }
    return "";
}

std::string launch(compiled &p) {
    tmetal_problem              problem{};
    tmetal_metal_options        o{};
    tmetal_metal               *metal;
    tmetal_loaded              *loaded;
    tmetal_launch              *launch;
    std::vector<tmetal_buffer>  buffers(p.c.buffers.size());
    tmetal_code                 code;
    o.symbol = standin::symbol;
    if (tmetal_metal_open(&o, &p.arena, &metal, &problem) != TMETAL_OK) return problem.text;
    if (tmetal_load(metal, &p.result, &p.arena, &loaded, nullptr, &problem) != TMETAL_OK) return problem.text;
    for (size_t i = 0; i < buffers.size(); i++) {
        if (tmetal_buffer_make(metal, p.c.buffers[i].size, &buffers[i], &problem) != TMETAL_OK) return problem.text;
        if (p.c.buffers[i].has_in) std::memcpy(buffers[i].contents, p.c.bytes.data() + p.c.buffers[i].in, p.c.buffers[i].size);
    }
    if (tmetal_launch_make(loaded, &p.arena, &launch, &problem) != TMETAL_OK) return problem.text;
    const auto args = arguments(p, buffers);
    code = tmetal_launch_run(launch, args.data(), static_cast<uint32_t>(args.size()), p.c.grid.data(), &problem);
    std::string why = code == TMETAL_OK || code == TMETAL_E_ASSERTION ? compare(p, buffers) : problem.text;
    tmetal_launch_free(launch);
    for (tmetal_buffer &b : buffers) tmetal_buffer_free(metal, &b);
    tmetal_unload(loaded);
    tmetal_metal_close(metal);
    for (const sim::violation &v : standin::violations())
        if (why.empty()) why = v.str();
    return why;
}

/* 0 when all are right. Cases that the compiler refuses are not the launcher's. */
int judge(const std::vector<std::string> &paths) {
    const corpus::exceptions known(sim::tests_directory() + "/corpus/cannot-agree.txt");
    int                      bad = 0;
    for (size_t from = 0; from < paths.size(); from += 24) {
        std::vector<std::unique_ptr<compiled>> batch;
        std::vector<sim::source>               texts;
        for (size_t i = from; i < std::min(paths.size(), from + 24); i++) {
            auto p = compile(paths[i]);
            if (p->result.code != TMETAL_OK || p->c.compile_only) continue;
            uint32_t version = 300;
            for (uint32_t k = 0; k < p->result.n_kernels; k++) version = std::max(version, p->result.kernels[k].msl_version);
            texts.push_back({"case" + std::to_string(i), p->result.msl, static_cast<int>(version)});
            batch.push_back(std::move(p));
        }
        standin::prepare(texts);
        for (auto &p : batch) {
            std::string why = launch(*p);
            for (const std::string &s : standin::complaints())
                if (why.empty()) why = s;
            corpus::outcome o;
            o.name = p->c.name;
            o.source = p->c.source;
            if (why.empty()) std::printf("right %s\n", p->c.name.c_str());
            else if (const std::string *reason = known.reason(o)) {
                std::printf("by nature %s: %s\n", p->c.name.c_str(), reason->c_str());
                why.clear();
            }
            else std::printf("wrong %s: %s\n", p->c.name.c_str(), why.c_str());
            std::fflush(stdout);
            bad |= !why.empty();
        }
    }
    return bad;
}

} // namespace

int main(int argc, char **argv) {
    std::vector<std::string> paths;
    std::string              filter;
    size_t                   jobs = 2;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--jobs") == 0 && i + 1 < argc) jobs = std::max(1, std::atoi(argv[++i]));
        else if (std::strcmp(argv[i], "--filter") == 0 && i + 1 < argc) filter = argv[++i];
        else
            for (const auto &e : std::filesystem::recursive_directory_iterator(argv[i]))
                if (e.path().extension() == ".case" && e.path().string().find(filter) != std::string::npos)
                    paths.push_back(e.path().string());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<pid_t> workers;
    for (size_t j = 0; j < jobs; j++) {
        std::vector<std::string> mine;
        for (size_t i = j; i < paths.size(); i += jobs) mine.push_back(paths[i]);
        const pid_t pid = fork();
        if (pid == 0) {
            const int bad = judge(mine);
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
