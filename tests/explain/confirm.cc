/* Do the lines that tmetal_access tells agree with what the simulator counts?
 *
 *     confirm AT_LEAST FILE.case ...
 *
 * Compiles each case, runs it, and compares every line of the Metal that reaches device memory. Where all lanes took
 * part each time (the bytes counted say so) a figure must be the one counted and a range must hold it; the upper
 * bound must hold anywhere. Fails on the first figure that is wrong for a case, or when fewer than AT_LEAST figures were
 * confirmed: a test that compares nothing proves nothing. */
#include "../corpus/launch.h"
#include "../sim/files.h"
#include "../sim/plan.h"
#include "tmetal.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

namespace {

struct tally {
    unsigned exact = 0, ranges = 0, unknown = 0, partial = 0, wrong = 0, cases = 0;
};

/* What the analysis says of the loads, or the stores, of one line of the text. */
struct foretold {
    unsigned line = 0, accesses = 0, least = ~0u, most = 0, bytes = 0;
    bool     write = false, alike = true, known = true;
    std::string what;
};

struct work {
    corpus::recorded_case c;
    std::string           msl, ir;
    sim::launch_plan      plan;
    std::vector<foretold> says;
};

void add(std::vector<foretold> &all, const tmetal_access &a) {
    const bool write = a.kind == TMETAL_ACCESS_STORE;
    auto       f = std::find_if(all.begin(), all.end(), [&](const foretold &x) { return x.line == a.line && x.write == write; });
    if (f == all.end()) {
        all.emplace_back();
        f = all.end() - 1;
        f->line = a.line, f->write = write, f->bytes = a.bytes;
        f->what = std::string(tmetal_access_kind_name(a.kind)) + " of " + a.value + ", " + tmetal_access_name(a.access);
    }
    f->accesses++;
    f->alike = f->alike && f->bytes == a.bytes && a.kind != TMETAL_ACCESS_ATOMIC;
    f->known = f->known && a.lines;
    f->least = std::min(f->least, a.lines);
    f->most = std::max(f->most, a.most_lines);
}

/* Slices that begin inside a line are not what the figures are about. */
bool begins_on_lines(const corpus::recorded_case &c) {
    for (const corpus::recorded_parameter &p : c.parameters)
        if (p.is_buffer && p.offset % 128) return false;
    return true;
}

bool compile(work &w) {
    std::vector<char> memory(2 * tmetal_arena_bound(w.ir.size()) + (1 << 20));
    tmetal_arena      arena = tmetal_arena_on(memory.data(), memory.size());
    tmetal_result     r;
    tmetal_options    opt;
    std::memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    if (tmetal_compile(w.ir.data(), w.ir.size(), &opt, &arena, &r) != TMETAL_OK || r.n_kernels != 1) return false;
    w.msl = r.msl;
    w.plan = sim::parse_plan(tmetal_plan_json(&r, &arena));
    for (uint32_t i = 0; i < r.kernels[0].n_accesses; i++) add(w.says, r.kernels[0].accesses[i]);
    return true;
}

void compare(const work &w, const sim::kernel_counters &k, tally &t) {
    for (const sim::access_site &s : k.sites) {
        if (s.where != sim::space::device || !s.simd_accesses) continue;
        const auto f = std::find_if(w.says.begin(), w.says.end(), [&](const foretold &x) { return x.line == s.line && x.write == s.write; });
        if (f == w.says.end()) { /* the compiler made one of the stores of several branches */
            const bool fits = std::any_of(w.says.begin(), w.says.end(), [&](const foretold &x) {
                return (x.write == s.write || !x.alike) && s.touched <= s.simd_accesses * x.most;
            });
            if (!fits) {
                printf("%s:%u: the simulator counts a %s here, the analysis knows none\n", w.c.name.c_str(), s.line, s.write ? "store" : "load");
                t.wrong++;
            }
            continue;
        }
        if (!f->alike) continue;
        if (s.bytes > s.simd_accesses * f->bytes || s.touched > s.simd_accesses * f->most) {
            printf("%s:%u: %s: at most %u bytes and %u lines foretold, the simulator counts %llu and %llu in %llu accesses\n", w.c.name.c_str(), s.line, f->what.c_str(), f->bytes,
                   f->most, static_cast<unsigned long long>(s.bytes), static_cast<unsigned long long>(s.touched), static_cast<unsigned long long>(s.simd_accesses));
            t.wrong++;
        }
        if (s.bytes != s.simd_accesses * f->bytes) { /* masks; or loads that the compiler moved to where few lanes need them */
            t.partial++;
            continue;
        }
        const bool exact = f->known && f->least == f->most;
        if (f->known && s.touched < s.simd_accesses * f->least) {
            printf("%s:%u: %s: at least %u lines foretold, the simulator counts %llu in %llu accesses\n", w.c.name.c_str(), s.line, f->what.c_str(), f->least,
                   static_cast<unsigned long long>(s.touched), static_cast<unsigned long long>(s.simd_accesses));
            t.wrong++;
        }
        (exact ? t.exact : f->known ? t.ranges : t.unknown)++;
    }
}

} // namespace

int main(int argc, char **argv) {
    std::vector<work>        all;
    std::vector<sim::source> sources;
    tally                    t;
    const unsigned           wanted = argc > 1 ? static_cast<unsigned>(std::stoul(argv[1])) : 0;
    for (int i = 2; i < argc; i++) {
        work w;
        w.c = corpus::read_case(argv[i]);
        w.ir = sim::read_file(w.c.path + ".ttir");
        if (w.c.compile_only || !begins_on_lines(w.c) || !compile(w)) continue;
        sources.push_back({w.c.path, w.msl, w.plan.version});
        all.push_back(std::move(w));
    }
    for (size_t first = 0; first < all.size(); first += 64) {
        const size_t                       last = std::min(all.size(), first + 64);
        const std::shared_ptr<sim::module> m = sim::build(std::vector<sim::source>(sources.begin() + static_cast<long>(first), sources.begin() + static_cast<long>(last)));
        for (size_t i = first; i < last; i++) {
            sim::run_options o;
            o.counters = true;
            o.seconds = 60;
            const corpus::case_result r = corpus::run_case(*m, sources[i].name, all[i].plan, all[i].c, corpus::read_precision(all[i].ir), o);
            t.cases++;
            for (const sim::kernel_counters &k : r.report.counters) compare(all[i], k, t);
        }
    }
    printf("accesses: %u cases; %u figures confirmed, %u ranges, %u bounds of what is unknown; %u places where lanes were left out; %u wrong\n", t.cases, t.exact, t.ranges, t.unknown,
           t.partial, t.wrong);
    if (t.exact < wanted) printf("at least %u figures were to be confirmed\n", wanted);
    return t.wrong || t.exact < wanted;
}
