/* Runs the kernels of tests/sim/wrong, each of which must be refused or caught with the message
 * that it names, and those of tests/sim/right, which must pass without a word and give what they
 * say. A kernel file begins with comment lines:
 *
 *     // A sentence that says what is tested.
 *     // msl 3.2                    language version, default 3.1
 *     // expect TEXT                a message must hold this; in wrong/ only, may repeat
 *     // allow TEXT                 further messages may hold this
 *     // launch GRID [Y Z] threads N      run it; without this line the text is only compiled
 *     // buffer INDEX TYPE COUNT FILL [read] [align N]
 *                                   FILL: zero, iota, none (scratch), or numbers, the last repeats
 *     // bytes INDEX TYPE NUMBERS
 *     // threadgroup INDEX BYTES
 *     // same INDEX OTHER           bind OTHER's memory again at INDEX
 *     // address INDEX AT OTHER     OTHER's address, 8 bytes at AT of the bytes at INDEX; a buffer
 *                                   with an index above 30 is bound in no other way
 *     // want INDEX TYPE NUMBERS    the buffer afterwards; the last number repeats
 *     // zero-divisions N, benign N, aliased N      counters that must come out so
 *     // count LINE load|store TOUCHED FEWEST       lines of device memory, or cycles of banks
 *     // seconds X                  time limit */
#include "../corpus/compare.h"
#include "../corpus/recorded.h"
#include "files.h"
#include "sim.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <stdexcept>

namespace {

struct test_buffer {
    unsigned             index;
    std::vector<uint8_t> bytes;
    bool                 read_only, undefined;
    unsigned             align;
};

struct wanted {
    unsigned            index;
    std::string         type;
    std::vector<double> values;
};

struct wanted_site {
    unsigned line;
    bool     write;
    uint64_t touched, fewest;
};

struct test_kernel {
    std::string                           path, text, what;
    int                                   version = 310;
    bool                                  wrong = false, launched = false, emitted = false;
    std::array<uint32_t, 3>               grid{{1, 1, 1}};
    uint32_t                              threads = 32;
    double                                seconds = 10;
    std::vector<std::string>              expect, allow;
    std::vector<test_buffer>              buffers;
    std::vector<sim::bytes_binding>       bytes;
    std::vector<sim::threadgroup_binding> threadgroup;
    std::vector<wanted>                   want;
    std::vector<wanted_site>              sites;
    std::vector<std::array<unsigned, 2>>  same;
    std::vector<std::array<unsigned, 3>>  addresses;
    long                                  zero_divisions = -1, benign = -1, aliased = -1;
};

/* -- Reading the head of a file ---------------------------------------------------------------- */

void append(std::vector<uint8_t> &bytes, const std::string &type, double value) {
    corpus::recorded_parameter p;
    char                       text[64];
    snprintf(text, sizeof text, corpus::parse_element(type).is_float() ? "%.17g" : "%.0f", value);
    p.text = text;
    const std::vector<uint8_t> one = corpus::encode_scalar(p, type, 0);
    bytes.insert(bytes.end(), one.begin(), one.end());
}

std::vector<double> numbers(std::istringstream &in) {
    std::vector<double> all;
    for (std::string w; in >> w;) all.push_back(std::strtod(w.c_str(), nullptr));
    return all;
}

test_buffer read_buffer(std::istringstream &in) {
    test_buffer b{0, {}, false, false, 128};
    std::string type, fill;
    size_t      count = 0;
    in >> b.index >> type >> count >> fill;
    std::vector<double> values;
    for (; !fill.empty(); fill.clear(), in >> fill) {
        if (fill == "read") b.read_only = true;
        else if (fill == "none") b.undefined = true;
        else if (fill == "align") in >> b.align;
        else if (fill == "iota") {
            for (size_t i = 0; i < count; i++) values.push_back(static_cast<double>(i));
        } else values.push_back(fill == "zero" ? 0 : std::strtod(fill.c_str(), nullptr));
    }
    if (values.empty()) values.push_back(0);
    for (size_t i = 0; i < count; i++)
        append(b.bytes, type, values[std::min(i, values.size() - 1)]);
    return b;
}

void read_line(test_kernel &t, const std::string &line) {
    std::istringstream in(line);
    std::string        word, type;
    in >> word;
    if (word == "msl") {
        double v;
        in >> v;
        t.version = static_cast<int>(std::lround(v * 100));
    } else if (word == "expect") {
        t.expect.push_back(line.substr(line.find("expect") + 7));
    } else if (word == "allow") {
        t.allow.push_back(line.substr(line.find("allow") + 6));
    } else if (word == "launch") {
        t.launched = true;
        size_t n = 0;
        for (std::string w; in >> w && w != "threads";)
            t.grid[n++] = static_cast<uint32_t>(std::stoul(w));
        in >> t.threads;
    } else if (word == "buffer") {
        t.buffers.push_back(read_buffer(in));
    } else if (word == "bytes") {
        sim::bytes_binding b;
        in >> b.index >> type;
        for (double v : numbers(in)) append(b.bytes, type, v);
        t.bytes.push_back(b);
    } else if (word == "threadgroup") {
        sim::threadgroup_binding b;
        in >> b.index >> b.bytes;
        t.threadgroup.push_back(b);
    } else if (word == "want") {
        wanted w;
        in >> w.index >> w.type;
        w.values = numbers(in);
        t.want.push_back(w);
    } else if (word == "zero-divisions") {
        in >> t.zero_divisions;
    } else if (word == "benign") {
        in >> t.benign;
    } else if (word == "aliased") {
        in >> t.aliased;
    } else if (word == "same") {
        t.same.emplace_back();
        in >> t.same.back()[0] >> t.same.back()[1];
    } else if (word == "address") {
        t.addresses.emplace_back();
        in >> t.addresses.back()[0] >> t.addresses.back()[1] >> t.addresses.back()[2];
    } else if (word == "count") {
        wanted_site s{};
        in >> s.line >> type >> s.touched >> s.fewest;
        s.write = type == "store";
        t.sites.push_back(s);
    } else if (word == "seconds") {
        in >> t.seconds;
    } else if (word == "emitted") {
        t.emitted = true;
    } else {
        throw std::runtime_error(t.path + ": cannot read '// " + line + "'");
    }
}

test_kernel read_kernel(const std::string &path, bool wrong) {
    test_kernel t;
    t.path = path;
    t.wrong = wrong;
    t.text = sim::read_file(path);
    std::istringstream in(t.text);
    std::string        line;
    std::getline(in, line);
    t.what = line.substr(std::min(line.size(), size_t{3}));
    while (std::getline(in, line) && line.rfind("//", 0) == 0)
        if (line.size() > 3 && std::isupper(static_cast<unsigned char>(line[3])) == 0)
            read_line(t, line.substr(3));
    if (wrong == t.expect.empty())
        throw std::runtime_error(
            path + (wrong ? ": expects no message" : ": expects a message but should be right"));
    return t;
}

/* -- Running ----------------------------------------------------------------------------------- */

struct messages {
    std::vector<std::string> all;
    const char              *stage = "";
};

sim::report launch(const sim::module &m, const test_kernel &t, uint64_t seed,
                   std::map<unsigned, std::vector<uint8_t>> &after) {
    sim::memory                  mem;
    sim::launch                  l;
    std::map<unsigned, unsigned> ids;
    for (const sim::unit &u : m.units())
        if (u.name == t.path && !u.kernels.empty()) l.kernel = &u.kernels[0];
    if (!l.kernel) throw std::runtime_error(t.path + ": no kernel");
    l.grid = t.grid;
    l.threads = {t.threads, 1, 1};
    l.bytes = t.bytes;
    l.threadgroup = t.threadgroup;
    for (const test_buffer &b : t.buffers) {
        ids[b.index] = mem.add("buffer " + std::to_string(b.index), b.bytes.size(),
                               b.undefined ? nullptr : b.bytes.data(), b.align);
        if (b.index <= 30) l.buffers.push_back({b.index, ids[b.index], 0, !b.read_only});
    }
    for (const auto &s : t.same) l.buffers.push_back({s[0], ids.at(s[1]), 0, true});
    for (const auto &a : t.addresses) l.addresses.push_back({a[0], a[1], ids.at(a[2]), 0, true});
    sim::run_options o;
    o.seed = seed;
    o.seconds = t.seconds;
    o.counters = seed % 2 == 0; /* must make no difference to what is found */
    const sim::report r = sim::run(m, {l}, mem, o);
    for (const auto &id : ids)
        after[id.first].assign(mem.data(id.second), mem.data(id.second) + mem.bytes(id.second));
    return r;
}

void check_wanted(const test_kernel &t, const std::map<unsigned, std::vector<uint8_t>> &after,
                  std::vector<std::string> &problems) {
    for (const wanted &w : t.want) {
        const std::vector<uint8_t> &got = after.at(w.index);
        const corpus::element_type  type = corpus::parse_element(w.type);
        std::vector<uint8_t>        want;
        for (size_t i = 0; i < got.size() / type.bytes; i++)
            append(want, w.type, w.values[std::min(i, w.values.size() - 1)]);
        const corpus::comparison c = corpus::compare(got.data(), want.data(), want.size(), type,
                                                     corpus::bound_for(type, {}));
        if (!c.right) problems.push_back("buffer " + std::to_string(w.index) + ": " + c.why);
    }
}

void check_site(const wanted_site &w, const sim::kernel_counters &k,
                std::vector<std::string> &problems) {
    for (const sim::access_site &s : k.sites) {
        if (s.line != w.line || s.write != w.write) continue;
        if (s.touched == w.touched && s.fewest == w.fewest) return;
        problems.push_back("line " + std::to_string(w.line) + " touched " +
                           std::to_string(s.touched) + ", fewest " + std::to_string(s.fewest));
        return;
    }
    problems.push_back("line " + std::to_string(w.line) + " was not counted");
}

/* All problems of one run, as texts. */
std::vector<std::string> run_once(const sim::module &m, const test_kernel &t, uint64_t seed) {
    std::map<unsigned, std::vector<uint8_t>> after;
    const sim::report                        r = launch(m, t, seed, after);
    std::vector<std::string>                 problems;
    for (const sim::violation &v : r.violations) problems.push_back(v.str());
    if (!t.wrong) check_wanted(t, after, problems);
    const auto count = [&](const char *name, long want, uint64_t got) {
        if (want >= 0 && static_cast<uint64_t>(want) != got)
            problems.push_back(std::string(name) + " " + std::to_string(got) + ", should be " +
                               std::to_string(want));
    };
    count("zero-divisions", t.zero_divisions, r.zero_divisions);
    count("benign", t.benign, r.benign_races);
    count("aliased", t.aliased, r.aliased);
    for (const wanted_site &w : t.sites)
        if (seed % 2 == 0) check_site(w, r.counters[0], problems);
    return problems;
}

std::vector<std::string> compile_errors(const sim::module &m, const test_kernel &t) {
    std::vector<std::string> errors;
    for (const sim::unit &u : m.units())
        if (u.name == t.path)
            for (const sim::diagnostic &d : u.errors) errors.push_back(d.str());
    return errors;
}

/* Every expected text must come, and nothing else. */
std::string judge(const test_kernel &t, const std::vector<std::string> &problems) {
    for (const std::string &e : t.expect) {
        bool found = false;
        for (const std::string &p : problems) found |= p.find(e) != std::string::npos;
        if (!found)
            return "no message holds '" + e + "'" +
                   (problems.empty() ? "" : "; first: " + problems[0]);
    }
    for (const std::string &p : problems) {
        bool expected = false;
        for (const std::string &e : t.expect) expected |= p.find(e) != std::string::npos;
        for (const std::string &e : t.allow) expected |= p.find(e) != std::string::npos;
        if (!expected) return "unexpected: " + p;
    }
    return "";
}

bool test(const sim::module &m, const test_kernel &t) {
    const std::vector<std::string> errors = compile_errors(m, t);
    std::string                    failure;
    if (!errors.empty() || !t.launched) failure = judge(t, errors);
    for (uint64_t seed = 1; errors.empty() && t.launched && seed <= 4 && failure.empty(); seed++) {
        failure = judge(t, run_once(m, t, seed));
        if (!failure.empty()) failure += " (seed " + std::to_string(seed) + ")";
    }
    if (failure.empty()) return true;
    printf("FAIL %s\n     %s\n     %s\n", t.path.c_str(), t.what.c_str(), failure.c_str());
    return false;
}

std::vector<test_kernel> read_kernels(const std::string &directory) {
    std::vector<test_kernel> all;
    for (const char *folder : {"wrong", "right"})
        for (const std::string &name : sim::list_directory(directory + "/" + folder))
            if (name.size() > 6 && name.compare(name.size() - 6, 6, ".metal") == 0)
                all.push_back(read_kernel(directory + "/" + folder + "/" + name,
                                          std::strcmp(folder, "wrong") == 0));
    return all;
}

} // namespace

int main(int argc, char **argv) {
    try {
        const std::vector<test_kernel> all = read_kernels(argc > 1 ? argv[1] : "tests/sim");
        std::vector<sim::source>       sources;
        for (const test_kernel &t : all) sources.push_back({t.path, t.text, t.version, t.emitted});
        const auto m = sim::build(sources);
        size_t     failed = 0, wrong = 0;
        for (const test_kernel &t : all) {
            failed += !test(*m, t);
            wrong += t.wrong;
        }
        printf("%zu wrong and %zu right kernels: %zu failed\n", wrong, all.size() - wrong, failed);
        return failed != 0 || all.empty();
    } catch (const std::exception &e) {
        fprintf(stderr, "test-sim: %s\n", e.what());
        return 1;
    }
}
