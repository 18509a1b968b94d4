#include "made.h"

#include "../metal/standin.h"
#include "../sim/files.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace made {

using device::compiled;

namespace {

struct random_numbers {
    uint32_t state = 1;
    uint32_t next() { return (state = state * 1664525 + 1013904223) >> 8; }
};

/* Floats below 1, integers below 8. */
void fill(std::string &bytes, const std::string &type, random_numbers &r) {
    const auto t = corpus::parse_element(type);
    for (size_t i = 0; i + t.bytes <= bytes.size(); i += t.bytes) {
        const double d = static_cast<double>(r.next() & 0xffff) / 65536.0 - 0.5;
        const float  f = static_cast<float>(d);
        uint64_t     bits = r.next() & (t.kind == corpus::element::boolean ? 1 : 7);
        switch (t.kind) {
        case corpus::element::f64: std::memcpy(&bits, &d, 8); break;
        case corpus::element::f32: std::memcpy(&bits, &f, 4); break;
        case corpus::element::f16: bits = r.next() & 0xb7ff; break; /* an exponent without its highest bit but one */
        case corpus::element::bf16: bits = (r.next() & 0x807f) | 0x3e80; break;
        default: break;
        }
        std::memcpy(&bytes[i], &bits, t.bytes);
    }
}

/* Bytes of what a parameter points to. */
size_t size_of(const compiled &p, const tmetal_arg &a) {
    size_t n = corpus::parse_element(a.type).bytes;
    if (a.param >= p.result.n_params) return n * 16384;
    for (uint32_t d = 0; d < p.result.params[a.param].n_dims; d++) n *= p.result.params[a.param].dims[d];
    return n;
}

void add_parameter(compiled &p, const tmetal_arg &a, random_numbers &r) {
    if (a.param >= p.c.parameters.size()) p.c.parameters.resize(a.param + 1);
    corpus::recorded_parameter &of = p.c.parameters[a.param];
    if (a.kind == TMETAL_ARG_BYTES) {
        of.text = std::strcmp(a.type, "i1") == 0 ? "1" : "3";
        of.type = corpus::parse_element(a.type);
        return;
    }
    if (of.is_buffer) return;
    corpus::recorded_buffer b;
    b.size = size_of(p, a);
    b.has_in = b.has_out = true;
    b.in = p.c.bytes.size();
    std::string bytes(b.size, 0);
    fill(bytes, a.type, r);
    p.c.bytes += bytes;
    of.is_buffer = true;
    of.buffer = static_cast<unsigned>(p.c.buffers.size());
    p.c.buffers.push_back(b);
}

void must(tmetal_code code, const tmetal_problem &problem) {
    if (code != TMETAL_OK) throw std::runtime_error(problem.text);
}

} // namespace

std::unique_ptr<compiled> make(const std::string &path) {
    auto           p = std::make_unique<compiled>();
    tmetal_options o{};
    random_numbers r;
    p->c.path = path.substr(0, path.rfind('.'));
    p->c.name = p->c.path.substr(p->c.path.rfind('/') + 1);
    p->c.grid = {{3, 1, 1}};
    p->text = sim::read_file(path);
    const bool is_list = tmetal_is_ops(p->text.data(), p->text.size());
    std::sscanf(p->text.c_str(), "// two_stage %u", &o.two_stage);
    p->memory.resize((is_list ? tmetal_arena_bound_ops(p->text.size()) : tmetal_arena_bound(p->text.size())) + (size_t{1} << 20));
    p->arena = tmetal_arena_on(p->memory.data(), p->memory.size());
    if (is_list) tmetal_compile_ops(p->text.data(), p->text.size(), &o, &p->arena, &p->result);
    else tmetal_compile(p->text.data(), p->text.size(), &o, &p->arena, &p->result);
    if (p->result.code != TMETAL_OK) throw std::runtime_error(path + ": " + p->result.diags[0].message);
    for (uint32_t k = 0; k < p->result.n_kernels; k++)
        for (uint32_t i = 0; i < p->result.kernels[k].n_args; i++) {
            const tmetal_arg &a = p->result.kernels[k].args[i];
            if (a.kind == TMETAL_ARG_BUFFER || a.kind == TMETAL_ARG_ADDRESS || a.kind == TMETAL_ARG_BYTES) add_parameter(*p, a, r);
        }
    return p;
}

void record(compiled &p) {
    tmetal_problem                 problem{};
    tmetal_metal_options           o{};
    tmetal_metal                  *metal;
    tmetal_loaded                 *loaded;
    tmetal_launch                 *launch;
    std::vector<tmetal_buffer>     buffers(p.c.buffers.size());
    std::vector<tmetal_launch_arg> args(p.c.parameters.size());
    o.symbol = standin::symbol;
    must(tmetal_metal_open(&o, &p.arena, &metal, &problem), problem);
    must(tmetal_load(metal, &p.result, &p.arena, &loaded, nullptr, &problem), problem);
    must(tmetal_launch_make(loaded, &p.arena, &launch, &problem), problem);
    for (size_t i = 0; i < buffers.size(); i++) {
        must(tmetal_buffer_make(metal, p.c.buffers[i].size, &buffers[i], &problem), problem);
        std::memcpy(buffers[i].contents, &p.c.bytes[p.c.buffers[i].in], p.c.buffers[i].size);
    }
    for (size_t i = 0; i < args.size(); i++) {
        const corpus::recorded_parameter &of = p.c.parameters[i];
        args[i] = of.is_buffer ? tmetal_arg_buffer(&buffers[of.buffer], 0)
            : of.type.is_float() ? tmetal_arg_float(std::strtod(of.text.c_str(), nullptr)) : tmetal_arg_int(std::atoi(of.text.c_str()));
    }
    must(tmetal_launch_run(launch, args.data(), static_cast<uint32_t>(args.size()), p.c.grid.data(), &problem), problem);
    for (size_t i = 0; i < buffers.size(); i++) {
        p.c.buffers[i].out = p.c.bytes.size();
        p.c.bytes.append(static_cast<const char *>(buffers[i].contents), p.c.buffers[i].size);
        tmetal_buffer_free(metal, &buffers[i]);
    }
    tmetal_launch_free(launch);
    tmetal_unload(loaded);
    tmetal_metal_close(metal);
}

} // namespace made
