/* sim: checks Metal text, or runs one recorded case by its launch plan. */
#include "../corpus/launch.h"
#include "files.h"
#include "plan.h"
#include "sim.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

const char usage[] =
    "usage: sim KERNEL.metal --plan PLAN.json --case CASE.case [options]\n"
    "       sim --check FILE.metal...\n"
    "  --msl VERSION   language version for --check, e.g. 3.1\n"
    "  --rules         --check as text of tmetal's: what Apple's compilers get wrong is refused too\n"
    "  --seed N        order of threadgroups and threads; default 1\n"
    "  --counters      print memory traffic, line by line\n"
    "  --debug FILE    what the debug buffers hold, to FILE; default: printed as words\n"
    "  --json          print one JSON object instead: errors, buffers, counters\n"
    "  --no-checks     bounds only: no races, no initialisation\n"
    "  --no-contract   do not fuse a*b+c\n"
    "  --keep-denormals\n"
    "  --seconds N     longest time; default 60\n"
    "Exit status: 0 right, 1 wrong or violation, 2 for a bad command line or unreadable files.\n";

struct settings {
    std::vector<std::string> files;
    std::string              plan, recorded, debug;
    bool                     check = false, as_json = false, rules = false;
    int                      version = 310;
    sim::run_options         run;
    sim::build_options       build;
};

[[noreturn]] void bad_usage(const std::string &what) {
    fprintf(stderr, "sim: %s\n%s", what.c_str(), usage);
    std::exit(2);
}

settings read_arguments(int argc, char **argv) {
    settings s;
    s.run.seconds = 60;
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        const auto        value = [&]() -> std::string {
            if (i + 1 >= argc) bad_usage(a + " needs a value");
            return argv[++i];
        };
        if (a == "--plan") s.plan = value();
        else if (a == "--case") s.recorded = value();
        else if (a == "--debug") s.debug = value();
        else if (a == "--check") s.check = true;
        else if (a == "--rules") s.rules = true;
        else if (a == "--msl")
            s.version = static_cast<int>(std::strtod(value().c_str(), nullptr) * 100 + 0.5);
        else if (a == "--seed") s.run.seed = std::strtoull(value().c_str(), nullptr, 10);
        else if (a == "--seconds") s.run.seconds = std::strtod(value().c_str(), nullptr);
        else if (a == "--counters") s.run.counters = true;
        else if (a == "--json") s.as_json = s.run.counters = true;
        else if (a == "--no-checks") s.run.checks = false;
        else if (a == "--no-contract") s.build.contract = false;
        else if (a == "--keep-denormals") s.run.flush = false;
        else if (a == "--help" || a == "-h") {
            fputs(usage, stdout);
            std::exit(0);
        } else if (a.rfind("--", 0) == 0) bad_usage("unknown option " + a);
        else s.files.push_back(a);
    }
    if (s.files.empty()) bad_usage("no Metal file");
    if (!s.check && (s.plan.empty() || s.recorded.empty()))
        bad_usage("--plan and --case are needed, or --check");
    return s;
}

std::string read_or_throw(const std::string &path) {
    if (!sim::exists(path)) throw std::runtime_error("no file " + path);
    return sim::read_file(path);
}

int print_errors(const sim::module &m) {
    int status = 0;
    for (const sim::unit &u : m.units())
        for (const sim::diagnostic &d : u.errors) {
            fprintf(stderr, "%s\n", d.str().c_str());
            status = 1;
        }
    return status;
}

void print_kernel_counters(const sim::kernel_counters &k) {
    const auto n = [](uint64_t v) { return static_cast<unsigned long long>(v); };
    printf("kernel %s: %llu threadgroups, %llu threads\n", k.kernel.c_str(), n(k.threadgroups),
           n(k.threads));
    printf("  barriers per threadgroup  %.1f\n",
           k.threadgroups ? static_cast<double>(k.barriers) / static_cast<double>(k.threadgroups)
                          : 0.0);
    printf("  simd operations a thread  %.1f\n",
           k.threads ? static_cast<double>(k.simd_ops) / static_cast<double>(k.threads) : 0.0);
    printf("  threadgroup memory        %llu bytes\n", n(k.threadgroup_bytes));
    if (k.atomics) printf("  atomics                   %llu\n", n(k.atomics));
    for (const sim::buffer_traffic &b : k.buffers)
        printf("  buffer %-16s read %llu bytes (%llu distinct), written %llu (%llu distinct)\n",
               b.name.c_str(), n(b.bytes_read), n(b.distinct_read), n(b.bytes_written),
               n(b.distinct_written));
    printf("  %6s %-18s %12s %12s %12s %12s %7s\n", "line", "access", "simdgroups", "bytes",
           "touched", "fewest", "ratio");
    for (const sim::access_site &s : k.sites) {
        const std::string what =
            std::string(s.where == sim::space::device ? "device " : "threadgroup ") +
            (s.write ? "store" : "load");
        printf("  %6u %-18s %12llu %12llu %12llu %12llu %7.2f\n", s.line, what.c_str(),
               n(s.simd_accesses), n(s.bytes), n(s.touched), n(s.fewest),
               s.fewest ? static_cast<double>(s.touched) / static_cast<double>(s.fewest) : 1.0);
    }
}

/* What a launch did in all: one object per kernel, and per line of its text that reads or writes. */
nlohmann::json counters_json(const sim::kernel_counters &k) {
    using sim::access_site;
    const sim::space device = sim::space::device;
    nlohmann::json   j = {{"kernel", k.kernel},
                          {"threadgroups", k.threadgroups},
                          {"threads", k.threads},
                          {"barriers", k.barriers},
                          {"simd_ops", k.simd_ops},
                          {"atomics", k.atomics},
                          {"threadgroup_bytes", k.threadgroup_bytes},
                          {"bytes_read", k.sum(device, false, &access_site::bytes)},
                          {"bytes_written", k.sum(device, true, &access_site::bytes)},
                          {"lines", k.sum(device, false, &access_site::touched) + k.sum(device, true, &access_site::touched)},
                          {"fewest_lines", k.sum(device, false, &access_site::fewest) + k.sum(device, true, &access_site::fewest)},
                          {"distinct_read", 0},
                          {"distinct_written", 0},
                          {"sites", nlohmann::json::array()}};
    uint64_t         read = 0, written = 0;
    for (const sim::buffer_traffic &b : k.buffers) read += b.distinct_read, written += b.distinct_written;
    j["distinct_read"] = read;
    j["distinct_written"] = written;
    for (const access_site &s : k.sites)
        j["sites"].push_back({{"line", s.line},
                              {"where", s.where == device ? "device" : "threadgroup"},
                              {"write", s.write},
                              {"simd_accesses", s.simd_accesses},
                              {"bytes", s.bytes},
                              {"touched", s.touched},
                              {"fewest", s.fewest}});
    return j;
}

void print_json(const corpus::case_result &r) {
    nlohmann::json j = {{"tmetal_run", 1},
                        {"right", r.right()},
                        {"errors", nlohmann::json::array()},
                        {"buffers", nlohmann::json::array()},
                        {"kernels", nlohmann::json::array()}};
    if (!r.plan_error.empty()) j["errors"].push_back(r.plan_error);
    for (const sim::violation &v : r.report.violations) j["errors"].push_back(v.str());
    for (const corpus::buffer_result &b : r.buffers)
        if (b.recorded || !b.result.right)
            j["buffers"].push_back({{"name", b.name},
                                    {"right", b.result.right},
                                    {"error", b.result.error},
                                    {"largest_difference", b.result.largest},
                                    {"differing", b.result.differing},
                                    {"elements", b.result.elements},
                                    {"why", b.result.why}});
    for (const sim::kernel_counters &k : r.report.counters) j["kernels"].push_back(counters_json(k));
    printf("%s\n", j.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_report(const settings &s, const corpus::case_result &r) {
    if (!r.plan_error.empty()) printf("plan: %s\n", r.plan_error.c_str());
    for (const sim::violation &v : r.report.violations) printf("%s\n", v.str().c_str());
    for (const corpus::buffer_result &b : r.buffers)
        if (b.recorded || !b.result.right)
            printf("%s: %s, error %.3g, largest difference %.3g, %zu of %zu elements differ%s%s\n",
                   b.name.c_str(), b.result.right ? "right" : "WRONG", b.result.error,
                   b.result.largest, b.result.differing, b.result.elements,
                   b.result.why.empty() ? "" : "; ", b.result.why.c_str());
    for (const std::string &l : r.report.log) printf("log: %s\n", l.c_str());
    if (!r.debug.empty() && !s.debug.empty()) {
        if (!sim::write_file(s.debug, std::string(r.debug.begin(), r.debug.end()))) throw std::runtime_error("cannot write " + s.debug);
    } else if (!r.debug.empty()) {
        printf("debug:");
        for (size_t i = 0; i + 4 <= r.debug.size() && i < 64; i += 4) {
            uint32_t word;
            std::memcpy(&word, r.debug.data() + i, 4);
            printf(" %08x", word);
        }
        printf("\n");
    }
    if (r.report.benign_races)
        printf("%llu writes of a value that another thread had written\n",
               static_cast<unsigned long long>(r.report.benign_races));
    if (r.report.aliased)
        printf("%llu accesses to elements that another argument reaches too\n",
               static_cast<unsigned long long>(r.report.aliased));
    if (r.report.zero_divisions)
        printf("%llu integer divisions without a defined result\n",
               static_cast<unsigned long long>(r.report.zero_divisions));
    if (s.run.counters)
        for (const sim::kernel_counters &k : r.report.counters) print_kernel_counters(k);
}

int check(const settings &s) {
    std::vector<sim::source> sources;
    for (const std::string &f : s.files) sources.push_back({f, read_or_throw(f), s.version, s.rules});
    sim::build_options o = s.build;
    o.check_only = true;
    return print_errors(*sim::build(sources, o));
}

int run(const settings &s) {
    const sim::launch_plan      plan = sim::parse_plan(read_or_throw(s.plan));
    const corpus::recorded_case c = corpus::read_case(s.recorded);
    const auto m = sim::build({{s.files[0], read_or_throw(s.files[0]), plan.version}}, s.build);
    if (print_errors(*m)) return 1;
    if (c.compile_only) {
        printf("%s has no bytes to compare; the text is accepted\n", c.name.c_str());
        return 0;
    }
    const corpus::precision   p = corpus::read_precision(sim::read_file(c.path + ".ttir"));
    const corpus::case_result r = corpus::run_case(*m, s.files[0], plan, c, p, s.run);
    if (s.as_json) {
        print_json(r);
        return r.right() ? 0 : 1;
    }
    print_report(s, r);
    printf("%s in %.3f s\n", r.right() ? "right" : "wrong", r.report.seconds);
    return r.right() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
    const settings s = read_arguments(argc, argv);
    try {
        return s.check ? check(s) : run(s);
    } catch (const std::exception &e) {
        fprintf(stderr, "sim: %s\n", e.what());
        return 2;
    }
}
