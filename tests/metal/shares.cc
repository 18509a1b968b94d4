#include "shares.h"

#include <algorithm>
#include <cstring>

namespace device {

namespace {

/* One f32 after another, 1024 by each program. */
const char copy_ttir[] =
    "module {\n"
    "  tt.func public @copy(%in: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {\n"
    "    %block = arith.constant 1024 : i32\n"
    "    %program = tt.get_program_id x : i32\n"
    "    %first = arith.muli %program, %block : i32\n"
    "    %lane = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>\n"
    "    %all = tt.splat %first : i32 -> tensor<1024xi32>\n"
    "    %at = arith.addi %all, %lane : tensor<1024xi32>\n"
    "    %from = tt.splat %in : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>\n"
    "    %to = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>\n"
    "    %source = tt.addptr %from, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>\n"
    "    %target = tt.addptr %to, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>\n"
    "    %x = tt.load %source : tensor<1024x!tt.ptr<f32>>\n"
    "    tt.store %target, %x : tensor<1024x!tt.ptr<f32>>\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

/* What is timed: a name, and an op with R, C, T for rows, columns and type. */
const struct {
    const char *name, *op;
} kernels[] = {
    {"row sum", R"({"type":"tt.sum","id":"k","dtype":"T","input_shapes":[[R,C]],"args":{"axis":1}})"},
    {"elementwise", R"({"type":"tt.add","id":"k","dtype":"T","input_shapes":[[R,C],[R,C]]})"},
    {"softmax", R"({"type":"tt.softmax","id":"k","dtype":"T","input_shapes":[[R,C]],"args":{"axis":-1}})"},
    {"layer norm", R"({"type":"tt.layer_norm","id":"k","dtype":"T","input_shapes":[[R,C],[C],[C]],"args":{"axis":-1}})"},
    {"matmul", R"({"type":"tt.matmul","id":"k","dtype":"T","input_shapes":[[R,C],[C,C]]})"},
    {"attention", R"({"type":"tt.attention","id":"k","dtype":"T","input_shapes":[[1,8,R,64],[1,8,R,64],[1,8,R,64]]})"},
};

std::string with(std::string text, char letter, const std::string &word) {
    const std::string marks = "[,]\"";
    for (size_t i = 1; i + 1 < text.size(); i++)
        if (text[i] == letter && marks.find(text[i - 1]) != std::string::npos && marks.find(text[i + 1]) != std::string::npos)
            text.replace(i, 1, word);
    return text;
}

/* Something compiled, with its buffers, that can be launched again and again. */
struct timed {
    std::vector<char>              memory;
    tmetal_arena                   arena{};
    tmetal_result                  result{};
    tmetal_loaded                 *loaded = nullptr;
    tmetal_launch                 *launch = nullptr;
    std::vector<tmetal_buffer>     buffers;
    std::vector<tmetal_launch_arg> args;
    uint32_t                       programs[3] = {1, 1, 1};
    uint64_t                       bytes = 0; /* of all buffers */
    tmetal_metal                  *metal;
    tmetal_problem                 problem{};
    std::string                    why;
    bool                           is_stuck = false;

    explicit timed(tmetal_metal *m) : metal(m) {}
    timed(const timed &) = delete;
    ~timed() {
        if (is_stuck) return;
        if (launch) tmetal_launch_free(launch);
        for (tmetal_buffer &b : buffers)
            if (b.object) tmetal_buffer_free(metal, &b);
        if (loaded) tmetal_unload(loaded);
    }
    bool good(tmetal_code code) {
        if (code == TMETAL_OK) return true;
        is_stuck = code == TMETAL_E_TIMEOUT;
        why = "TM" + std::to_string(code) + ": " + problem.text;
        return false;
    }
    bool compile(tmetal_options o, const std::string &text, bool is_list, const std::string &layout) {
        if (!layout.empty()) o.layouts = layout.c_str();
        memory.resize(is_list ? size_t{16} << 20 : tmetal_arena_bound(text.size()) + (size_t{1} << 20));
        arena = tmetal_arena_on(memory.data(), memory.size());
        const tmetal_code code = is_list ? tmetal_compile_ops(text.data(), text.size(), &o, &arena, &result)
                                         : tmetal_compile(text.data(), text.size(), &o, &arena, &result);
        if (code != TMETAL_OK) why = "TM" + std::to_string(code) + ": " + (result.n_diags ? result.diags[0].message : "");
        return code == TMETAL_OK && good(tmetal_load(metal, &result, &arena, &loaded, nullptr, &problem)) &&
               good(tmetal_launch_make(loaded, &arena, &launch, &problem));
    }
    /* A buffer of small numbers, as good in 16 bits as in 32: no NaN, nothing denormal. */
    bool add(uint64_t n) {
        buffers.push_back({});
        if (!good(tmetal_buffer_make(metal, n, &buffers.back(), &problem))) return false;
        auto    *p = static_cast<uint8_t *>(buffers.back().contents);
        uint32_t seed = 12345;
        for (uint64_t i = 0; i + 1 < n; i += 2) {
            seed = seed * 1664525u + 1013904223u;
            p[i] = static_cast<uint8_t>(seed >> 24);
            p[i + 1] = static_cast<uint8_t>(0x38 | (seed >> 15 & 0x81)); /* about 0.00003 to 1, of either sign */
        }
        bytes += n;
        return true;
    }
    bool bind() {
        for (const tmetal_buffer &b : buffers) args.push_back(tmetal_arg_buffer(&b, 0));
        return true;
    }
    /* Seconds on the GPU; negative: `why`. */
    double run(uint64_t milliseconds) {
        const bool ok = good(tmetal_launch_start(launch, args.data(), static_cast<uint32_t>(args.size()), programs, nullptr, &problem)) &&
                        good(tmetal_launch_wait(launch, milliseconds, &problem));
        return ok ? tmetal_launch_seconds(launch) : -1;
    }
};

uint64_t bytes_of(const tmetal_param &p) {
    const std::string type = p.type;
    uint64_t          n = type == "bool" ? 1 : static_cast<uint64_t>(std::stoul(type.substr(type.find_first_of("0123456789")))) / 8;
    for (uint32_t i = 0; i < p.n_dims; i++) n *= p.dims[i];
    return n;
}

bool make_kernel(timed &k, const tmetal_options &o, const std::string &op, const std::string &layout) {
    if (!k.compile(o, "{\"ops\":[" + op + "]}", true, layout)) return false;
    for (uint32_t i = 0; i < k.result.n_params; i++)
        if (!k.add(bytes_of(k.result.params[i]))) return false;
    return k.bind();
}

/* Half of the bytes are read, half are written. */
bool make_copy(timed &c, const tmetal_options &o, uint64_t bytes) {
    const uint64_t programs = std::max<uint64_t>(1, bytes / 8192);
    c.programs[0] = static_cast<uint32_t>(programs);
    return c.compile(o, copy_ttir, false, "") && c.add(programs * 4096) && c.add(programs * 4096) && c.bind();
}

/* Copy and kernel by turns, so that a chip that grows warm slows both; the first two are not counted. */
bool measure_one(timed &k, timed &c, const share_options &o, share &s) {
    std::vector<double> all;
    for (unsigned i = 0; i < (host::has_clock() ? o.runs + 2 : 1); i++) {
        const double copy = c.run(o.milliseconds), kernel = copy < 0 ? -1 : k.run(o.milliseconds);
        if (kernel < 0) return s.why = copy < 0 ? c.why : k.why, false;
        if (i > 1 && copy > 0 && kernel > 0) all.push_back(copy / kernel);
    }
    std::sort(all.begin(), all.end());
    if (!host::has_clock()) return s.why = "launched, not measured", true;
    s.is_measured = all.size() == o.runs;
    if (!s.is_measured) return s.why = "the GPU's clock gave no time", true;
    s.middle = all[all.size() / 2], s.low = all[all.size() / 4], s.high = all[all.size() - 1 - all.size() / 4];
    return true;
}

} // namespace

namespace {

/* One of them, in one layout; false: it hangs. */
bool measure_kernel(tmetal_metal *metal, const share_options &o, size_t i, std::pair<unsigned, unsigned> size, const std::string &layout, share &s) {
    const std::string rows = std::to_string(size.first), cols = std::to_string(size.second);
    timed             k(metal), c(metal);
    s.kernel = kernels[i].name, s.layout = layout, s.size = rows + "x" + cols;
    host::begin(s.kernel);
    if (!make_kernel(k, o.compile, with(with(with(kernels[i].op, 'R', rows), 'C', cols), 'T', o.dtype), layout)) s.why = k.why;
    else if (!make_copy(c, o.compile, k.bytes)) s.why = c.why;
    else measure_one(k, c, o, s);
    return !k.is_stuck && !c.is_stuck;
}

} // namespace

bool measure(tmetal_metal *metal, const share_options &o, const std::function<void(const share &)> &each) {
    std::vector<std::pair<unsigned, unsigned>> sizes = o.sizes;
    if (sizes.empty()) sizes.emplace_back(4096u, 4096u);
    for (const auto &size : sizes)
        for (size_t i = 0; i < (o.only_sums ? 1 : sizeof kernels / sizeof *kernels); i++) {
            std::vector<std::string> layouts = {""};
            if (i == 0) layouts.insert(layouts.end(), o.layouts.begin(), o.layouts.end());
            for (const std::string &layout : layouts) {
                share      s;
                const bool went_on = measure_kernel(metal, o, i, size, layout, s);
                each(s);
                if (!went_on) return false;
            }
        }
    return true;
}

} // namespace device
