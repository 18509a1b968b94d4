/* MLX bodies: each listed kernel is compiled with options.mlx, wrapped as MLX wraps a body, and run in the
 * simulator on a recorded launch, compared as build/corpus does. Outputs begin uninitialised, as MLX makes them.
 *
 *   test-mlx LIST        a line a kernel (lines of # are comments):
 *     right NAME [TTIR]           NAME.case, NAME.bin and NAME.ttir, or TTIR instead
 *     keeps NAME                  right when outputs begin as recorded: some elements are not written
 *     refused NAME: TEXT          the messages of the refusal, ';' between them
 *   test-mlx --all NAME.case...   what becomes of each, for choosing
 *   test-mlx --show NAME          the wrapped text */
#define TMETAL_STATIC
#define TMETAL_IMPLEMENTATION
#if defined(__GNUC__)
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include "../../tmetal.h"
#if defined(__GNUC__)
#    pragma GCC diagnostic pop
#endif

#include "../corpus/launch.h"
#include "../sim/files.h"
#include "wrap.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace {

/* A module in memory of its own. */
struct compiled {
    std::vector<char>    memory;
    tmetal_arena         arena;
    tmetal_result        result;
    const tmetal_kernel &kernel() const { return result.kernels[0]; }

    compiled(const std::string &text, tmetal_options opt) : memory(tmetal_arena_bound(text.size())) {
        arena = tmetal_arena_on(memory.data(), memory.size());
        tmetal_compile(text.data(), text.size(), &opt, &arena, &result);
    }
    compiled(const compiled &) = delete;

    std::string messages() const {
        std::string all;
        for (uint32_t i = 0; i < result.n_diags; i++) {
            if (result.diags[i].code != TMETAL_E_MLX) return "another error: " + std::string(result.diags[i].message);
            all += (i ? "; " : "") + std::string(result.diags[i].message);
        }
        return all;
    }
};

tmetal_options options_of_mlx() {
    tmetal_options opt;
    std::memset(&opt, 0, sizeof opt);
    opt.mlx = 1;
    return opt;
}

size_t bytes_of(const std::string &dtype) {
    for (const char *end : {"64", "32", "16"})
        if (dtype.size() > 2 && dtype.compare(dtype.size() - 2, 2, end) == 0) return static_cast<size_t>(std::atoi(end)) / 8;
    return 1;
}

mlx::array array_of(const tmetal_kernel &k, const tmetal_mlx_array &x, const corpus::recorded_case &c,
                    size_t padded) {
    const tmetal_arg &a = k.args[x.arg];
    mlx::array        r;
    r.name = x.name;
    r.dtype = x.dtype;
    r.ndim = x.is_scalar ? 0 : 1;
    r.size = 1;
    if (!x.is_scalar) {
        const corpus::recorded_parameter &p = c.parameters.at(a.param);
        r.size = std::max((c.buffers.at(p.buffer).size - p.offset) / bytes_of(x.dtype), padded);
    }
    return r;
}

/* Arrays are padded to 8 elements, as docs/mlx.md tells a host to do. */
mlx::kernel wrapped(const tmetal_kernel &k, const corpus::recorded_case &c, size_t padded = 8) {
    std::vector<mlx::array> in, out;
    for (uint32_t i = 0; i < k.mlx->n_inputs; i++) in.push_back(array_of(k, k.mlx->inputs[i], c, padded));
    for (uint32_t i = 0; i < k.mlx->n_outputs; i++) out.push_back(array_of(k, k.mlx->outputs[i], c, padded));
    return mlx::wrap(k.mlx->name, k.mlx->header, k.mlx->source, in, out);
}

sim::plan_argument argument_of(const tmetal_kernel &k, const tmetal_mlx_array &x, unsigned index, bool writes) {
    const tmetal_arg  &a = k.args[x.arg];
    sim::plan_argument r;
    r.kind = a.kind == TMETAL_ARG_BUFFER     ? sim::plan_argument_kind::buffer
             : a.kind == TMETAL_ARG_PROGRAMS ? sim::plan_argument_kind::programs
             : a.kind == TMETAL_ARG_PADDING  ? sim::plan_argument_kind::padding
                                             : sim::plan_argument_kind::bytes;
    r.param = a.param;
    r.index = index;
    r.align = a.align;
    r.name = x.name;
    r.type = a.type;
    r.writes = writes;
    r.size = bytes_of(x.dtype);
    return r;
}

/* The launch as MLX makes it: a grid of threads, cut into threadgroups. */
sim::launch_plan plan_of(const tmetal_kernel &k, const mlx::kernel &w, const corpus::recorded_case &c) {
    sim::launch_plan p;
    sim::plan_kernel one;
    int32_t          grid[3];
    if (!tmetal_mlx_grid(&k, c.grid.data(), grid)) throw std::runtime_error("no grid");
    one.name = one.entry = w.name;
    one.per_program = false;
    for (unsigned i = 0; i < 3; i++) {
        const auto n = static_cast<uint32_t>(grid[i]);
        one.threads[i] = std::min(k.mlx->threadgroup[i], n);
        if (n % one.threads[i]) throw std::runtime_error("a ragged threadgroup");
        one.grid[i] = n / one.threads[i];
    }
    for (uint32_t i = 0; i < k.mlx->n_inputs; i++) one.arguments.push_back(argument_of(k, k.mlx->inputs[i], w.inputs[i], false));
    for (uint32_t i = 0; i < k.mlx->n_outputs; i++) one.arguments.push_back(argument_of(k, k.mlx->outputs[i], w.outputs[i], true));
    p.version = std::max(310, static_cast<int>(k.msl_version));
    p.kernels.push_back(one);
    return p;
}

std::string read_text(const std::string &path) {
    if (!sim::exists(path)) throw std::runtime_error("no file " + path);
    return sim::read_file(path);
}

/* Nothing that MLX found may come from a name or a comment: only from the lines that name the built-in inputs. */
std::string check_found(const tmetal_kernel &k, const mlx::kernel &w) {
    const std::string source = k.mlx->source;
    if (!w.shapes.empty()) return "MLX passes " + w.shapes[0];
    for (const std::string &a : w.attributes) {
        const size_t at = source.find(" = " + a + ";\n");
        if (at == std::string::npos || source.find(a) != at + 3) return "MLX finds " + a + " in a name or a comment";
    }
    return "";
}

struct outcome {
    std::string refused, why; /* both empty: right */
};

outcome run_one(const std::string &name, const std::string &ttir, const std::string &preamble, bool fresh) {
    outcome               o;
    const std::string     text = read_text(ttir.empty() ? name + ".ttir" : ttir);
    corpus::recorded_case c = corpus::read_case(name + ".case");
    const compiled        m(text, options_of_mlx());
    if (m.result.code != TMETAL_OK) {
        o.refused = m.messages();
        return o;
    }
    const tmetal_kernel &k = m.kernel();
    const mlx::kernel    w = wrapped(k, c);
    o.why = check_found(k, w);
    if (!o.why.empty()) return o;
    const sim::launch_plan plan = plan_of(k, w, c);
    const auto             built = sim::build({{name, preamble + w.text, plan.version, true, k.threads}}, sim::build_options());
    for (const sim::unit &u : built->units())
        if (!u.errors.empty()) {
            o.why = u.errors[0].str();
            return o;
        }
    for (const sim::plan_argument &a : plan.kernels[0].arguments)
        if (fresh && a.writes) c.buffers[c.parameters[a.param].buffer].has_in = false;
    sim::run_options run;
    run.seconds = 60;
    o.why = corpus::run_case(*built, name, plan, c, corpus::read_precision(text), run).why();
    return o;
}

/* An array of fewer than 8 elements lies in constant memory: the body must not compile rather than be wrong. */
bool small_arrays_are_errors(const std::string &preamble) {
    const std::string name = "examples/kernels/vector_add";
    const compiled    m(read_text(name + ".ttir"), options_of_mlx());
    const auto       &k = m.kernel();
    corpus::recorded_case   c = corpus::read_case(name + ".case");
    for (size_t size : {7, 8}) {
        for (auto &b : c.buffers) b.size = size * 4;
        const mlx::kernel w = wrapped(k, c, 0);
        const auto        built = sim::build({{name, preamble + w.text, 310, false}}, sim::build_options());
        if (built->units()[0].errors.empty() != (size == 8)) return false;
    }
    return true;
}

/* So is an array of another type. */
bool other_types_are_errors(const std::string &preamble) {
    const std::string name = "examples/kernels/vector_add";
    const compiled    m(read_text(name + ".ttir"), options_of_mlx());
    const auto       &k = m.kernel();
    const auto        c = corpus::read_case(name + ".case");
    for (uint32_t i = 0; i < k.mlx->n_inputs; i++) {
        std::vector<mlx::array> in, out;
        for (uint32_t j = 0; j < k.mlx->n_inputs; j++) in.push_back(array_of(k, k.mlx->inputs[j], c, 8));
        for (uint32_t j = 0; j < k.mlx->n_outputs; j++) out.push_back(array_of(k, k.mlx->outputs[j], c, 8));
        if (in[i].ndim) in[i].dtype = "uint32";
        else in[i].ndim = 1; /* a number as an array of one element */
        const mlx::kernel w = mlx::wrap(k.mlx->name, k.mlx->header, k.mlx->source, in, out);
        if (sim::build({{name, preamble + w.text, 310, false}}, sim::build_options())->units()[0].errors.empty()) return false;
    }
    return true;
}

/* Functions of ours stand beside MLX's: no name twice. */
bool library_names_are_free() {
    bool ok = true;
    for (uint32_t i = 0; i < TMI_FN_COUNT; i++)
        if (tmi_is_mlx_name(tmi_fns[i].name) || tmi_mlx_word(tmi_fns[i].name)) printf("library: %s\n", tmi_fns[i].name), ok = false;
    return ok;
}

/* What is refused for reasons that no recorded case has. */
bool others_are_refused() {
    const struct {
        const char *text, *alias, *want;
        bool        logging;
    } tests[] = {
        {"tt.func public @a(%p: !tt.ptr<f32>, %x: f32) {\n  tt.store %p, %x : !tt.ptr<f32>\n  tt.return\n}\n"
         "tt.func public @b(%p: !tt.ptr<f32>, %x: f32) {\n  tt.store %p, %x : !tt.ptr<f32>\n  tt.return\n}\n",
         nullptr, "b cannot be an MLX kernel: it is not the only kernel", false},
        {"tt.func public @a(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {\n  %x = tt.load %p : !tt.ptr<f32>\n  tt.store %q, %x : !tt.ptr<f32>\n  tt.return\n}\n",
         "0=1", "a cannot be an MLX kernel: its parameters overlap, and MLX makes every result anew", false},
        {"tt.func public @a(%p: !tt.ptr<f32>, %x: f32) {\n  tt.print \"grid_size\" {hex = false, isSigned = array<i32: 0>} : %x : f32\n"
         "  tt.store %p, %x : !tt.ptr<f32>\n  tt.return\n}\n",
         nullptr, "a cannot be an MLX kernel: it prints the word 'grid_size', which MLX reads as a wish for an argument", true},
        {"tt.func public @a(%p: !tt.ptr<f64>, %q: !tt.ptr<f64>) {\n  %x = tt.load %p : !tt.ptr<f64>\n  tt.store %q, %x : !tt.ptr<f64>\n  tt.return\n}\n",
         nullptr,
         "a cannot be an MLX kernel: 'p' is f64, which MLX has no array of on a GPU; a cannot be an MLX kernel: 'q' is f64, which MLX has no "
         "array of on a GPU",
         false},
    };
    bool ok = true;
    for (const auto &t : tests) {
        tmetal_options opt = options_of_mlx();
        opt.alias = t.alias;
        opt.logging = t.logging;
        const compiled m(t.text, opt);
        if (m.messages() == t.want) continue;
        printf("refusal: wanted '%s'\n         found  '%s'\n", t.want, m.messages().c_str());
        ok = false;
    }
    return ok;
}

/* Threads along x, programs along y and z; nothing, or more than an int holds, is no grid. */
bool grids_are_counted_in_threads() {
    const compiled m(read_text("examples/kernels/vector_add.ttir"), options_of_mlx());
    const uint32_t some[3] = {5, 3, 2}, none[3] = {5, 0, 2}, many[3] = {0x80000000u / m.kernel().threads, 1, 1};
    int32_t        grid[3];
    return tmetal_mlx_grid(&m.kernel(), some, grid) && grid[0] == static_cast<int32_t>(5 * m.kernel().threads) && grid[1] == 3 && grid[2] == 2 &&
           !tmetal_mlx_grid(&m.kernel(), none, grid) && !tmetal_mlx_grid(&m.kernel(), many, grid);
}

/* The first of two stages has four threadgroups a program, along an axis of its own. */
bool parts_of_rows_are_counted() {
    tmetal_options opt = options_of_mlx();
    opt.mlx = 2, opt.two_stage = 4;
    const compiled m(read_text("examples/kernels/row_sum.ttir"), opt);
    const uint32_t rows[3] = {7, 1, 1}, layers[3] = {7, 1, 2};
    int32_t        grid[3];
    tmetal_arena   arena = m.arena;
    const char    *said = tmetal_mlx_json(&m.kernel(), &arena);
    return m.result.n_kernels == 2 && tmetal_mlx_grid(&m.kernel(), rows, grid) && grid[0] == static_cast<int32_t>(7 * m.kernel().threads) && grid[1] == 1 && grid[2] == 4 &&
           !tmetal_mlx_grid(&m.kernel(), layers, grid) && said && std::strstr(said, "\"grid_times\":[1,1,4]") && std::strstr(said, "\"kind\":\"scratch\"");
}

bool run_line(const std::string &line, const std::string &preamble) {
    std::istringstream words(line);
    std::string        want, name, rest;
    words >> want >> name >> std::ws;
    std::getline(words, rest);
    if (want == "refused" && !name.empty() && name.back() == ':') name.pop_back();
    if (want != "right" && want != "keeps" && want != "refused") throw std::runtime_error("cannot read '" + line + "'");
    const outcome o = run_one(name, want == "right" ? rest : "", preamble, want != "keeps");
    if (want == "refused" ? o.refused == rest && !rest.empty() : o.refused.empty() && o.why.empty()) return true;
    printf("%s\n  found %s%s\n", line.c_str(), o.refused.c_str(), o.why.c_str());
    return false;
}

int run_list(const std::string &path, const std::string &preamble) {
    std::istringstream lines(read_text(path));
    std::string        line;
    int                right = 0, wrong = 0;
    while (std::getline(lines, line))
        if (!line.empty() && line[0] != '#') (run_line(line, preamble) ? right : wrong)++;
    const struct {
        const char *what;
        bool        ok;
    } others[] = {{"small arrays are errors", small_arrays_are_errors(preamble)},
                  {"other types are errors", other_types_are_errors(preamble)},
                  {"library names are free", library_names_are_free()},
                  {"others are refused", others_are_refused()},
                  {"grids are counted in threads", grids_are_counted_in_threads()},
                  {"parts of rows are counted", parts_of_rows_are_counted()}};
    for (const auto &t : others) {
        if (!t.ok) printf("not so: %s\n", t.what);
        (t.ok ? right : wrong)++;
    }
    printf("mlx: %d right, %d wrong\n", right, wrong);
    return wrong || !right ? 1 : 0;
}

int run_all(int n, char **files, const std::string &preamble) {
    for (int i = 0; i < n; i++) {
        std::string name = files[i];
        name.resize(name.size() - std::strlen(".case"));
        outcome o = run_one(name, "", preamble, true);
        const bool right = o.refused.empty() && o.why.empty();
        const std::string why = o.why;
        const bool keeps = o.refused.empty() && !right && (o = run_one(name, "", preamble, false)).why.empty();
        printf("%s %s%s%s%s\n", !o.refused.empty() ? "refused" : right ? "right" : keeps ? "keeps" : "WRONG", name.c_str(), right ? "" : ": ", o.refused.c_str(),
               keeps ? why.c_str() : o.why.c_str());
        fflush(stdout);
    }
    return 0;
}

int show(const std::string &name) {
    const compiled m(read_text(name + ".ttir"), options_of_mlx());
    if (m.result.code != TMETAL_OK) return puts(m.messages().c_str()), 1;
    fputs(wrapped(m.kernel(), corpus::read_case(name + ".case")).text.c_str(), stdout);
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    try {
        const std::string preamble = read_text("tests/mlx/preamble.metal");
        if (argc > 2 && std::strcmp(argv[1], "--all") == 0) return run_all(argc - 2, argv + 2, preamble);
        if (argc == 3 && std::strcmp(argv[1], "--show") == 0) return show(argv[2]);
        if (argc == 2) return run_list(argv[1], preamble);
        fprintf(stderr, "usage: test-mlx LIST | --all NAME.case... | --show NAME\n");
    } catch (const std::exception &e) {
        fprintf(stderr, "test-mlx: %s\n", e.what());
    }
    return 2;
}
