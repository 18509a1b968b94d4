#include "preprocess.h"

#include "../sim/files.h"

#include <algorithm>
#include <stdexcept>

namespace lint {

namespace {

/* Metal's own headers. While macros are expanded they are empty: the checker has them built in. */
const char *const standard_headers[] = {"metal_stdlib",
                                        "metal_array",
                                        "metal_atomic",
                                        "metal_command_buffer",
                                        "metal_common",
                                        "metal_compute",
                                        "metal_config",
                                        "metal_cooperative_tensor",
                                        "metal_extended_vector",
                                        "metal_geometric",
                                        "metal_graphics",
                                        "metal_imageblocks",
                                        "metal_integer",
                                        "metal_interpolate",
                                        "metal_limits",
                                        "metal_logging",
                                        "metal_math",
                                        "metal_matrix",
                                        "metal_mesh",
                                        "metal_numeric",
                                        "metal_pack",
                                        "metal_packed_vector",
                                        "metal_pixel",
                                        "metal_quadgroup",
                                        "metal_raytracing",
                                        "metal_relational",
                                        "metal_simdgroup",
                                        "metal_simdgroup_matrix",
                                        "metal_static",
                                        "metal_stdlib",
                                        "metal_tensor",
                                        "metal_tessellation",
                                        "metal_texture",
                                        "metal_type_traits",
                                        "metal_types",
                                        "metal_uniform",
                                        "metal_utility",
                                        "metal_vector",
                                        "metal_visible_function_table",
                                        "simd/simd.h",
                                        "MetalPerformancePrimitives/MetalPerformancePrimitives.h"};

std::string empty_headers() { return sim::program_directory() + "/lint-cache/headers"; }

/* What the front end does not have, and so cannot judge but by tokens. */
const struct {
    const char *word, *what;
} unknown[] = {
    {"metal_raytracing", "ray tracing"},
    {"raytracing", "ray tracing"},
    {"[[mesh]]", "mesh stages"},
    {"[[object", "mesh stages"},
    {"object_data", "mesh stages"},
    {"imageblock", "imageblocks"},
    {"visible_function_table", "function tables"},
    {"command_buffer", "command buffers"},
    {"MetalPerformancePrimitives",
     "tensor operations of other ranks and types than the simulator's"},
};

int version_of(const std::string &file, const options &how) {
    if (how.version) return how.version;
    const size_t at = file.find(".msl");
    if (at == std::string::npos || at + 4 >= file.size() ||
        !std::isdigit(static_cast<unsigned char>(file[at + 4])))
        return 310;
    const int n = std::atoi(file.c_str() + at + 4);
    return n < 10 ? n * 100 : n * 10;
}

struct place {
    std::string file;
    unsigned    line;
};

/* Takes out the line markers of the preprocessor and remembers where every line came from. */
std::string without_markers(const std::string &text, std::vector<place> &lines) {
    std::string out;
    place       now{"", 1};
    lines.push_back(now); /* lines count from 1 */
    for (size_t at = 0; at < text.size();) {
        const size_t      end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        lines.push_back(now);
        const size_t quote = line.find('"');
        if (line.size() > 2 && line[0] == '#' && line[1] == ' ' &&
            std::isdigit(static_cast<unsigned char>(line[2])) && quote != std::string::npos) {
            now.line = static_cast<unsigned>(std::atoi(line.c_str() + 2));
            now.file = line.substr(quote + 1, line.find('"', quote + 1) - quote - 1);
        } else {
            out += line;
            now.line++;
        }
        out += '\n';
        at = end + 1;
    }
    return out;
}

std::string expand(const std::string &file, int version, const options &how,
                   std::vector<place> &lines, std::vector<sim::diagnostic> &errors) {
    std::vector<std::string> command = {sim::clang_program(),
                                        "-E",
                                        "-x",
                                        "c++",
                                        "-std=c++17",
                                        "-undef",
                                        "-nostdinc",
                                        "-C",
                                        "-dI",
                                        "-w",
                                        "-fno-caret-diagnostics",
                                        "-D__METAL__=1",
                                        "-D__METAL_MACOS__=1",
                                        "-D__METAL_VERSION__=" + std::to_string(version),
                                        "-D__METAL_CPP__=1",
                                        "-I",
                                        empty_headers()};
    if (version >= 310) command.push_back("-D__HAVE_BFLOAT__=1");
    if (version >= 400) command.push_back("-D__HAVE_TENSOR__=1");
    for (const std::string &d : how.include) command.insert(command.end(), {"-I", d});
    for (const std::string &d : how.define) command.push_back("-D" + d);
    command.push_back(file);
    const sim::process_result r = sim::run_process(command);
    if (r.status) {
        std::string all = r.err.substr(0, r.err.find("\n"));
        errors.push_back({file, 0, 0, "preprocessor: " + all});
    }
    return without_markers(r.out, lines);
}

std::string what_is_unknown(const std::string &text) {
    for (const auto &u : unknown)
        if (text.find(u.word) != std::string::npos) return u.what;
    return "";
}

judgement run(const sim::source &s, const std::vector<place> &lines) {
    sim::build_options o;
    o.check_only = true;
    judgement j;
    j.unread = s.foreign ? what_is_unknown(s.text) : "";
    o.tokens_only = !j.unread.empty();
    const auto built = sim::build({s}, o);
    for (sim::diagnostic d : built->units()[0].errors) {
        if (d.line < lines.size() && !lines[d.line].file.empty()) {
            d.file = lines[d.line].file;
            d.line = lines[d.line].line;
        }
        j.errors.push_back(d);
    }
    return j;
}

} // namespace

void prepare() {
    sim::make_directories(empty_headers() + "/simd");
    sim::make_directories(empty_headers() + "/MetalPerformancePrimitives");
    for (const char *h : standard_headers)
        if (!sim::exists(empty_headers() + "/" + h))
            sim::write_file(empty_headers() + "/" + h, "\n");
}

judgement judge(const std::string &file, const options &how) {
    judgement          j;
    sim::source        s;
    std::vector<place> lines;
    s.name = file;
    s.version = version_of(file, how);
    s.emitted = false;
    s.foreign = true;
    s.text = expand(file, s.version, how, lines, j.errors);
    return j.errors.empty() ? run(s, lines) : j;
}

judgement judge_emitted(const std::string &file, const options &how) {
    sim::source s;
    s.name = file;
    s.text = sim::read_file(file);
    s.version = version_of(file, how);
    return run(s, {});
}

} // namespace lint
