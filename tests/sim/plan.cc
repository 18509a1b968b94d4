#include "plan.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <stdexcept>

namespace sim {

namespace {

using nlohmann::json;

[[noreturn]] void bad(const std::string &what) { throw std::runtime_error("launch plan: " + what); }

const json &need(const json &object, const char *key, const std::string &where) {
    const auto found = object.find(key);
    if (found == object.end()) bad(where + " has no '" + key + "'");
    return *found;
}

/* "3.1" or 3.1 becomes 310. */
int version_of(const json &j) {
    const double v =
        j.is_string() ? std::strtod(j.get<std::string>().c_str(), nullptr) : j.get<double>();
    return static_cast<int>(std::lround(v * 100));
}

std::array<uint32_t, 3> triple(const json &j) {
    if (j.is_number()) return {j.get<uint32_t>(), 1, 1};
    if (j.is_array())
        return {j.at(0).get<uint32_t>(), j.size() > 1 ? j.at(1).get<uint32_t>() : 1,
                j.size() > 2 ? j.at(2).get<uint32_t>() : 1};
    return {j.value("x", 1u), j.value("y", 1u), j.value("z", 1u)};
}

plan_argument_kind kind_of(const std::string &s) {
    if (s == "buffer") return plan_argument_kind::buffer;
    if (s == "bytes") return plan_argument_kind::bytes;
    if (s == "address") return plan_argument_kind::address;
    if (s == "scratch") return plan_argument_kind::scratch;
    if (s == "debug") return plan_argument_kind::debug;
    if (s == "programs") return plan_argument_kind::programs;
    if (s == "padding") return plan_argument_kind::padding;
    if (s == "length") return plan_argument_kind::length;
    bad("argument of unknown kind '" + s + "'");
}

plan_argument argument_of(const json &j, const std::string &where) {
    plan_argument a;
    a.kind = kind_of(need(j, "kind", where).get<std::string>());
    a.index = need(j, "index", where).get<unsigned>();
    a.name = j.value("name", "");
    a.type = j.value("type", "");
    a.align = j.value("align", 16u);
    a.offset = j.value("offset", size_t{0});
    a.size = j.value("size", size_t{0});
    a.id = j.value("id", 0u);
    a.writes = j.value("access", "readwrite") != "read";
    if (a.kind == plan_argument_kind::buffer || a.kind == plan_argument_kind::bytes ||
        a.kind == plan_argument_kind::address || a.kind == plan_argument_kind::programs ||
        a.kind == plan_argument_kind::padding || a.kind == plan_argument_kind::length)
        a.param = need(j, "param", where).get<unsigned>();
    if (a.kind == plan_argument_kind::debug) a.size = j.value("bytes", a.size);
    return a;
}

plan_kernel kernel_of(const json &j) {
    plan_kernel k;
    k.name = need(j, "name", "a kernel").get<std::string>();
    k.entry = j.value("entry", k.name);
    /* The simulator knows no other, and a host that is not told takes fast maths before macOS 15. */
    if (need(j, "math_mode", k.name) != "safe") bad(k.name + ": a math mode that is not safe");
    for (const char *system : {"macos", "ios"})
        if (std::strtod(need(j, system, k.name).get<std::string>().c_str(), nullptr) < 13)
            bad(k.name + ": no first version of " + system);
    k.threads = triple(need(j, "threads_per_threadgroup", k.name));
    const json &grid = need(j, "grid", k.name);
    k.per_program = grid.is_string();
    if (k.per_program && grid != "program")
        bad(k.name + ": grid '" + grid.get<std::string>() + "'");
    if (!k.per_program) k.grid = triple(grid);
    if (j.contains("grid_times")) k.times = triple(j["grid_times"]);
    k.programs = j.value("programs_per_threadgroup", 1u);
    unsigned position = 0;
    for (const json &d : j.value("dynamic_threadgroup_bytes", json::array())) {
        if (d.is_number()) k.dynamic.push_back({position, d.get<size_t>()});
        else
            k.dynamic.push_back(
                {need(d, "index", k.name).get<size_t>(), need(d, "bytes", k.name).get<size_t>()});
        position++;
    }
    for (const json &a : need(j, "args", k.name)) k.arguments.push_back(argument_of(a, k.name));
    for (const json &s : j.value("specialized", json::array()))
        if (s.contains("param")) /* no launch passes the others */
            k.specialized.push_back({s["param"].get<unsigned>(),
                                     need(s, "multiple", k.name).get<unsigned>(),
                                     need(s, "name", k.name).get<std::string>(),
                                     need(s, "kind", k.name) == "pointer"});
    return k;
}

} // namespace

launch_plan parse_plan(const std::string &text) {
    try {
        const json  j = json::parse(text);
        launch_plan p;
        /* named: GCC 13 doubts a reference that came through a temporary */
        const std::string whole = "the plan";
        if (need(j, "tmetal_plan", whole) != 1) bad("only version 1 is known");
        p.gpu = j.value("gpu", "");
        for (const json &s : j.value("scratch", json::array()))
            p.scratch.push_back({need(s, "id", "scratch").get<unsigned>(),
                                 need(s, "bytes", "scratch").get<size_t>(),
                                 s.value("zero", false), s.value("program_bytes", size_t{0})});
        for (const json &k : need(j, "kernels", whole)) {
            p.kernels.push_back(kernel_of(k));
            p.version = k.contains("msl")
                            ? std::max(p.kernels.size() > 1 ? p.version : 0, version_of(k["msl"]))
                            : p.version;
        }
        if (p.kernels.empty()) bad("no kernels");
        return p;
    } catch (const json::exception &e) {
        bad(e.what());
    }
}

} // namespace sim
