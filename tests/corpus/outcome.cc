#include "outcome.h"

#include "../sim/files.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace corpus {

namespace {

using nlohmann::json;

json counters_to_json(const sim::kernel_counters &k) {
    json j = {{"kernel", k.kernel},     {"threadgroups", k.threadgroups},
              {"threads", k.threads},   {"barriers", k.barriers},
              {"simd_ops", k.simd_ops}, {"atomics", k.atomics},
              {"accesses", k.accesses}, {"threadgroup_bytes", k.threadgroup_bytes},
              {"sites", json::array()}, {"buffers", json::array()}};
    for (const sim::access_site &s : k.sites)
        j["sites"].push_back(
            {{"line", s.line},
             {"where", s.where == sim::space::threadgroup ? "threadgroup" : "device"},
             {"write", s.write},
             {"simd_accesses", s.simd_accesses},
             {"bytes", s.bytes},
             {"touched", s.touched},
             {"fewest", s.fewest}});
    for (const sim::buffer_traffic &b : k.buffers)
        j["buffers"].push_back({{"name", b.name},
                                {"read", b.bytes_read},
                                {"written", b.bytes_written},
                                {"distinct_read", b.distinct_read},
                                {"distinct_written", b.distinct_written}});
    return j;
}

sim::kernel_counters counters_from_json(const json &j) {
    sim::kernel_counters k;
    k.kernel = j.at("kernel"), k.threadgroups = j.at("threadgroups"), k.threads = j.at("threads"),
    k.barriers = j.at("barriers"), k.simd_ops = j.at("simd_ops");
    k.atomics = j.at("atomics"), k.accesses = j.at("accesses"),
    k.threadgroup_bytes = j.at("threadgroup_bytes");
    for (const json &s : j.at("sites"))
        k.sites.push_back(
            {s.at("line"),
             s.at("where") == "threadgroup" ? sim::space::threadgroup : sim::space::device,
             s.at("write"), s.at("simd_accesses"), s.at("bytes"), s.at("touched"), s.at("fewest")});
    for (const json &b : j.at("buffers"))
        k.buffers.push_back({b.at("name"), b.at("read"), b.at("written"), b.at("distinct_read"),
                             b.at("distinct_written")});
    return k;
}

const char *const verdict_names[] = {"right", "wrong", "refused", "violation", "by nature"};

} // namespace

/* JSON has no infinity; an error that large is written as the largest number. */
std::string to_json(const outcome &o) {
    json j = {{"name", o.name},
              {"suite", o.suite},
              {"source", o.source},
              {"verdict", verdict_names[static_cast<int>(o.what)]},
              {"why", o.why},
              {"error", std::isfinite(o.error) ? o.error : std::numeric_limits<double>::max()},
              {"seconds", o.seconds},
              {"compile_only", o.compile_only},
              {"benign_races", o.benign_races},
              {"aliased", o.aliased},
              {"zero_divisions", o.zero_divisions},
              {"refusals", json::array()},
              {"counters", json::array()}};
    for (const diag &d : o.refusals)
        j["refusals"].push_back({{"code", d.code}, {"place", d.place}, {"text", d.text}});
    for (const sim::kernel_counters &k : o.counters) j["counters"].push_back(counters_to_json(k));
    return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool from_json(const std::string &text, outcome &o) {
    try {
        const json j = json::parse(text);
        o.name = j.at("name"), o.suite = j.at("suite"), o.source = j.at("source"),
        o.why = j.at("why");
        for (int i = 0; i < 5; i++)
            if (j.at("verdict") == verdict_names[i]) o.what = static_cast<verdict>(i);
        o.error = j.at("error"), o.seconds = j.at("seconds"), o.compile_only = j.at("compile_only");
        o.benign_races = j.at("benign_races"), o.aliased = j.at("aliased"),
        o.zero_divisions = j.at("zero_divisions");
        o.refusals.clear();
        o.counters.clear();
        for (const json &d : j.at("refusals"))
            o.refusals.push_back({d.at("code"), d.at("place"), d.at("text")});
        for (const json &k : j.at("counters")) o.counters.push_back(counters_from_json(k));
        return true;
    } catch (const json::exception &) {
        return false;
    }
}

outcome_cache::outcome_cache(const std::string &directory) : directory_(directory) {
    sim::make_directories(directory);
}

bool outcome_cache::find(const std::string &key, outcome &o) const {
    const std::string path = directory_ + "/" + key + ".json";
    if (!sim::exists(path) || !from_json(sim::read_file(path), o)) return false;
    o.cached = true;
    return true;
}

void outcome_cache::put(const std::string &key, const outcome &o) const {
    sim::write_file(directory_ + "/" + key + ".json", to_json(o));
}

} // namespace corpus
