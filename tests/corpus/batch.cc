#include "batch.h"

#include "../sim/files.h"
#include "launch.h"

#include <algorithm>
#include <map>
#include <memory>

namespace corpus {

namespace {

/* A case on its way through the batch. */
struct work {
    outcome          o;
    recorded_case    c;
    std::string      ttir, key, unit;
    compiled         metal;
    sim::launch_plan plan;
};

class batch {
public:
    batch(const judge_options &options, const std::function<void(const outcome &)> &done)
        : options_(options), done_(done), cache_(options.cache_directory) {}

    void add(const std::string &path) {
        std::unique_ptr<work> w(new work);
        try {
            w->c = read_case(path);
        } catch (const std::exception &e) {
            w->o.name = path;
            return finish(*w, verdict::wrong, e.what());
        }
        w->o.name = w->c.name, w->o.suite = w->c.suite, w->o.source = w->c.source,
        w->o.compile_only = w->c.compile_only;
        if (prepare(*w)) waiting_.push_back(std::move(w));
    }

    void run() {
        if (waiting_.empty()) return;
        std::vector<sim::source>           sources;
        std::map<std::string, std::string> unit_of; /* the same text is built once */
        for (auto &w : waiting_) {
            const std::string same = std::to_string(w->plan.version) + w->metal.msl;
            const auto        known = unit_of.find(same);
            w->unit = known != unit_of.end() ? known->second : w->o.name;
            if (known == unit_of.end()) {
                unit_of[same] = w->unit;
                sources.push_back({w->unit, w->metal.msl, w->plan.version});
            }
        }
        const std::shared_ptr<sim::module> m = sim::build(sources);
        for (auto &w : waiting_) run_one(*m, *w);
    }

private:
    const judge_options                        &options_;
    const std::function<void(const outcome &)> &done_;
    outcome_cache                               cache_;
    std::vector<std::unique_ptr<work>>          waiting_;

    void finish(work &w, verdict v, const std::string &why) {
        w.o.what = v;
        w.o.why = why;
        if (!w.key.empty()) cache_.put(w.key, w.o);
        done_(w.o);
    }

    /* True when the case must be built and run. */
    bool prepare(work &w) {
        w.metal = compile_case(w.c.path, options_.compile);
        w.o.refusals = w.metal.diags;
        if (!w.metal.ok) {
            finish(w, verdict::refused,
                   w.metal.diags.empty() ? "refused without a diagnostic"
                                         : w.metal.diags.front().text);
            return false;
        }
        if (!options_.run) {
            finish(w, verdict::right, "");
            return false;
        }
        try {
            w.plan = sim::parse_plan(w.metal.plan);
        } catch (const std::exception &e) {
            finish(w, verdict::violation, e.what());
            return false;
        }
        w.ttir = sim::read_file(w.c.path + ".ttir");
        const std::string key = key_of(w);
        outcome           before;
        if (!options_.fresh && cache_.find(key, before) && before.name == w.o.name) {
            done_(before);
            return false;
        }
        w.key = key;
        return true;
    }

    std::string key_of(const work &w) const {
        sim::hasher h;
        h.add(w.metal.msl)
            .add(w.metal.plan)
            .add(w.ttir)
            .add(sim::read_file(w.c.path + ".case"))
            .add(w.c.bytes)
            .add(sim::fingerprint())
            .add(w.o.name);
        return h
            .add(std::to_string(options_.seed) + (options_.counters ? " counters" : "") + " " +
                 std::to_string(options_.seconds))
            .hex();
    }

    void run_one(const sim::module &m, work &w) {
        for (const sim::unit &u : m.units())
            if (u.name == w.unit && !u.errors.empty()) {
                if (!u.errors.front().line) w.key.clear(); /* clang itself failed: it may not the next time */
                return finish(w, verdict::violation, "Metal text: " + u.errors.front().str());
            }
        if (w.c.compile_only) return finish(w, verdict::right, "");
        sim::run_options o;
        o.seed = options_.seed;
        o.counters = options_.counters;
        o.seconds = options_.seconds;
        case_result r = run_case(m, w.unit, w.plan, w.c, read_precision(w.ttir), o);
        for (sim::violation &v : r.report.violations)
            if (v.file == w.unit) v.file = w.o.name; /* the text may have come from another case */
        for (const buffer_result &b : r.buffers) w.o.error = std::max(w.o.error, b.result.error);
        w.o.seconds = r.report.seconds;
        w.o.benign_races = r.report.benign_races, w.o.aliased = r.report.aliased,
        w.o.zero_divisions = r.report.zero_divisions;
        if (options_.counters) w.o.counters = r.report.counters;
        const bool violated = !r.plan_error.empty() || !r.report.ok();
        finish(w,
               violated    ? verdict::violation
               : r.right() ? verdict::right
                           : verdict::wrong,
               r.why());
    }
};

} // namespace

void judge(const std::vector<std::string> &case_paths, const judge_options &options,
           const std::function<void(const outcome &)> &done) {
    batch b(options, done);
    for (const std::string &path : case_paths) b.add(path);
    b.run();
}

} // namespace corpus
