#include "table.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace corpus {

namespace {

/* Suites in the order in which they came. */
std::vector<std::string> suites_of(const std::vector<outcome> &all) {
    std::vector<std::string> names;
    for (const outcome &o : all)
        if (std::find(names.begin(), names.end(), o.suite) == names.end()) names.push_back(o.suite);
    return names;
}

struct tally {
    size_t cases = 0, by_verdict[5] = {};
};

void print_row(FILE *out, const std::string &name, const tally &t) {
    const auto n = [&](verdict v) { return t.by_verdict[static_cast<int>(v)]; };
    fprintf(out, "%-12s %7zu %7zu %7zu %8zu %11zu %10zu %7.1f%%\n", name.c_str(), t.cases,
            n(verdict::right), n(verdict::wrong), n(verdict::refused), n(verdict::violation),
            n(verdict::by_nature),
            t.cases ? 100.0 * static_cast<double>(n(verdict::right)) / static_cast<double>(t.cases)
                    : 0.0);
}

/* The first code of each refused case. */
std::map<std::string, size_t> codes_of(const std::vector<outcome> &all) {
    std::map<std::string, size_t> codes;
    for (const outcome &o : all)
        if (o.what == verdict::refused)
            codes[o.refusals.empty() || o.refusals[0].code.empty() ? "(no code)"
                                                                   : o.refusals[0].code]++;
    return codes;
}

/* The operation that a refusal is about, else its text. */
std::string subject(const diag &d) {
    static const std::regex operation("\\b(tt|arith|math|scf|cf|ttg|ub|tensor)\\.[a-z_0-9.]+");
    std::smatch             m;
    return std::regex_search(d.text, m, operation) ? m.str() : d.text.substr(0, 60);
}

} // namespace

void print_table(FILE *out, const std::vector<outcome> &all) {
    std::map<std::string, tally> by_suite;
    tally                        sum;
    for (const outcome &o : all)
        for (tally *t : {&by_suite[o.suite], &sum}) {
            t->cases++;
            t->by_verdict[static_cast<int>(o.what)]++;
        }
    fprintf(out, "%-12s %7s %7s %7s %8s %11s %10s %8s\n", "suite", "cases", "right", "wrong",
            "refused", "violations", "by nature", "right");
    for (const std::string &s : suites_of(all)) print_row(out, s, by_suite[s]);
    if (by_suite.size() > 1) print_row(out, "all", sum);
    const auto codes = codes_of(all);
    if (codes.empty()) return;
    fprintf(out, "\nrefused, by first code:");
    for (const auto &c : codes) fprintf(out, "  %s %zu", c.first.c_str(), c.second);
    fprintf(out, "\n");
}

void print_failures(FILE *out, const std::vector<outcome> &all, bool refused) {
    const std::pair<verdict, const char *> parts[] = {
        {verdict::wrong, "wrong"},
        {verdict::violation, "violations"},
        {verdict::refused, "refused"},
        {verdict::by_nature, "cannot agree by nature"}};
    for (const auto &part : parts) {
        if (part.first == verdict::refused && !refused) continue;
        if (std::none_of(all.begin(), all.end(),
                         [&](const outcome &o) { return o.what == part.first; }))
            continue;
        fprintf(out, "\n%s:\n", part.second);
        for (const outcome &o : all)
            if (o.what == part.first)
                fprintf(out, "  %s (%s)\n      %s\n", o.name.c_str(), o.source.c_str(),
                        o.why.c_str());
    }
}

void print_counters(FILE *out, const std::vector<outcome> &all) {
    fprintf(out, "\n%-48s %8s %8s %8s %8s %9s %8s\n", "counters", "loads", "stores", "banks",
            "barriers", "simd ops", "tg bytes");
    fprintf(out, "%-48s %8s %8s %8s %8s %9s\n", "", "lines/min", "lines/min", "extra", "a group",
            "a thread");
    for (const outcome &o : all)
        for (const sim::kernel_counters &k : o.counters) {
            const auto ratio = [&](bool write) {
                const uint64_t fewest = k.sum(sim::space::device, write, &sim::access_site::fewest);
                return fewest ? static_cast<double>(
                                    k.sum(sim::space::device, write, &sim::access_site::touched)) /
                                    static_cast<double>(fewest)
                              : 1.0;
            };
            uint64_t extra = 0;
            for (bool write : {false, true})
                extra += k.sum(sim::space::threadgroup, write, &sim::access_site::touched) -
                         k.sum(sim::space::threadgroup, write, &sim::access_site::fewest);
            const double groups = static_cast<double>(std::max<uint64_t>(1, k.threadgroups)),
                         threads = static_cast<double>(std::max<uint64_t>(1, k.threads));
            fprintf(out, "%-48s %8.2f %8.2f %8llu %8.1f %9.1f %8llu\n", o.name.c_str(),
                    ratio(false), ratio(true), static_cast<unsigned long long>(extra),
                    static_cast<double>(k.barriers) / groups,
                    static_cast<double>(k.simd_ops) / threads,
                    static_cast<unsigned long long>(k.threadgroup_bytes));
        }
}

void print_census(FILE *out, const std::vector<outcome> &all) {
    struct row {
        std::map<std::string, size_t> by_suite;
        size_t                        cases = 0, alone = 0;
    };
    std::map<std::pair<std::string, std::string>, row> rows;
    for (const outcome &o : all) {
        if (o.what != verdict::refused) continue;
        std::set<std::pair<std::string, std::string>> seen;
        for (const diag &d : o.refusals) seen.insert({d.code.empty() ? "-" : d.code, subject(d)});
        for (const auto &s : seen) {
            row &r = rows[s];
            r.cases++;
            r.alone += seen.size() == 1;
            r.by_suite[o.suite]++;
        }
    }
    std::vector<std::pair<std::pair<std::string, std::string>, row>> sorted(rows.begin(),
                                                                            rows.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto &a, const auto &b) { return a.second.cases > b.second.cases; });
    const std::vector<std::string> suites = suites_of(all);
    fprintf(out, "%7s %7s", "cases", "alone");
    for (const std::string &s : suites) fprintf(out, " %9s", s.c_str());
    fprintf(out, "  code   refused for\n");
    for (const auto &r : sorted) {
        fprintf(out, "%7zu %7zu", r.second.cases, r.second.alone);
        for (const std::string &s : suites)
            fprintf(out, " %9zu", r.second.by_suite.count(s) ? r.second.by_suite.at(s) : 0);
        fprintf(out, "  %-6s %s\n", r.first.first.c_str(), r.first.second.c_str());
    }
}

} // namespace corpus
