#include "table.h"

#include "sweep.h"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace reduce {

namespace {

const char begin[] = "<!-- BEGIN layouts -->\n", end[] = "<!-- END layouts -->\n";

uint64_t both(const sim::kernel_counters &k, uint64_t sim::access_site::*field) {
    return k.sum(sim::space::device, false, field) + k.sum(sim::space::device, true, field);
}

/* What the layout rows promise of each load, where they do, must be what the simulator counts: here every line is
 * whole. */
std::string as_promised(const oplist::compiled &c, const sim::report &r) {
    for (const sim::kernel_counters &k : r.counters) {
        uint64_t promised = 0, n = 0;
        for (const oplist::layout_row &row : c.rows)
            if (row.kernel == k.kernel && row.reason.rfind("stored", 0) != 0) promised = row.lines, n++;
        uint64_t touched = 0, accesses = 0;
        for (const sim::access_site &s : k.sites)
            if (s.where == sim::space::device && !s.write) touched += s.touched, accesses += s.simd_accesses;
        if (n != 1 || touched != promised * accesses)
            return k.kernel + ": loads touch " + std::to_string(touched) + " lines in " + std::to_string(accesses) + " accesses, promised were " + std::to_string(promised) + " each";
    }
    return "";
}

std::string line_of(int64_t rows, const layout &l, const sim::report &r) {
    uint64_t touched = 0, fewest = 0, bytes = 0, accesses = 0, barriers = 0, simd = 0;
    for (const sim::kernel_counters &k : r.counters) {
        touched += both(k, &sim::access_site::touched);
        fewest += both(k, &sim::access_site::fewest);
        accesses += both(k, &sim::access_site::simd_accesses);
        barriers += k.barriers;
        simd += k.simd_ops;
        for (const sim::buffer_traffic &b : k.buffers) bytes += b.bytes_read + b.bytes_written;
    }
    std::ostringstream t;
    t << "| [" << rows << ", 1024] | " << (*l.name ? l.name : "automatic") << " | " << r.counters.size() << " | " << accesses << " | " << touched << " | " << fewest << " | " << bytes << " | " << barriers << " | " << simd
      << " |\n";
    return t.str();
}

} // namespace

int write_table(const std::string &path, bool check) {
    std::string table = "| tensor | layout | kernels | accesses | lines | fewest | bytes | barriers | simd operations |\n|---|---|---|---|---|---|---|---|---|\n";
    std::vector<oplist::test_case> cases;
    std::vector<std::string>       rows;
    for (int64_t n : {128, 256, 512, 1024})
        for (const layout &l : layouts) {
            oplist::test_case c;
            c.name = std::to_string(n) + l.name;
            c.list = "{\"ops\":[{\"type\":\"tt.sum\",\"id\":\"y\",\"input_shapes\":[[" + std::to_string(n) + ",1024]],\"args\":{\"axis\":1}}]}";
            c.options.layouts = l.name;
            c.counters = true;
            c.seed = 1;
            c.more = [n, l, &rows](const oplist::compiled &m, const sim::report &r) {
                rows.push_back(line_of(n, l, r));
                return as_promised(m, r);
            };
            cases.push_back(c);
        }
    for (const oplist::verdict &v : oplist::run_all(cases, ""))
        if (!v.why.empty()) return std::fprintf(stderr, "table: %s: %s\n", v.name.c_str(), v.why.c_str()), 1;
    for (const std::string &row : rows) table += row;
    std::ifstream     in(path);
    std::stringstream all;
    all << in.rdbuf();
    std::string  text = all.str();
    const size_t at = text.find(begin), to = text.find(end);
    if (at == std::string::npos || to == std::string::npos) return std::fprintf(stderr, "table: %s has no marks for it\n", path.c_str()), 1;
    const std::string fresh = text.substr(0, at + sizeof begin - 1) + table + text.substr(to);
    if (check && fresh != text) return std::fprintf(stderr, "table: %s is not what the simulator counts: run 'make layouts-table'\n", path.c_str()), 1;
    if (!check && fresh != text) std::ofstream(path) << fresh;
    return 0;
}

} // namespace reduce
