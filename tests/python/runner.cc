/* The simulator for the Python stand-ins: compiles Metal text and runs kernels on what its standard input says, one
 * request after the other, each a line of words and then bytes. An answer is a line ("ok ..." or "error LENGTH") and
 * bytes likewise.
 *
 *   compile VERSION THREADS LENGTH, text  (0: the text says how many)
 *                                       ok ID LENGTH, then a line a kernel: its name and its max_total_threads
 *   run ID KERNEL GX GY GZ TX TY TZ N   groups and threads, then N bindings:
 *     memory INDEX OFFSET SIZE DEFINED WRITABLE OF, bytes unless OF names an earlier binding with the same memory
 *     bytes INDEX SIZE, bytes
 *                                       ok, then the bytes of every memory that was given
 *   read LENGTH, path of a .case        ok LENGTH, then its lines as `lines` prints them, descriptors taken apart
 *   judge LENGTH N, path of a .case     then N buffers: SIZE WRITTEN, bytes; ok: all are as recorded */
#include "../corpus/compare.h"
#include "../corpus/exceptions.h"
#include "../corpus/recorded.h"
#include "../sim/files.h"
#include "../sim/sim.h"

#include <iostream>
#include <map>
#include <stdexcept>

namespace {

struct library {
    std::shared_ptr<sim::module> module;
    std::string                  unit;
};
std::vector<library> libraries;

template <typename T> T next() {
    T x;
    if (!(std::cin >> x)) throw std::runtime_error("a word is missing");
    return x;
}

std::string bytes(size_t n) {
    std::string s(n, '\0');
    std::cin.get(); /* the end of the line */
    if (n && !std::cin.read(&s[0], static_cast<std::streamsize>(n))) throw std::runtime_error("bytes are missing");
    return s;
}

void compile() {
    const int         version = next<int>();
    const unsigned    threads = next<unsigned>();
    const std::string text = bytes(next<size_t>()), unit = "text" + std::to_string(libraries.size());
    const auto        m = sim::build({{unit, text, version, true, threads}});
    std::string       names;
    for (const sim::unit &u : m->units()) {
        if (!u.errors.empty()) throw std::runtime_error(u.errors[0].str());
        for (const sim::kernel &k : u.kernels) names += k.name + " " + std::to_string(k.max_threads) + "\n";
    }
    libraries.push_back({m, unit});
    std::cout << "ok " << libraries.size() - 1 << " " << names.size() << "\n" << names;
}

void run() {
    const library         &l = libraries.at(next<size_t>());
    sim::memory            mem;
    sim::launch            d;
    std::vector<unsigned>  placed; /* memory of each binding */
    std::vector<unsigned>  given;
    d.kernel = l.module->find(l.unit, next<std::string>());
    if (!d.kernel) throw std::runtime_error("no such kernel");
    for (uint32_t &x : d.grid) x = next<uint32_t>();
    for (uint32_t &x : d.threads) x = next<uint32_t>();
    for (size_t n = next<size_t>(); n; n--) {
        const auto what = next<std::string>();
        const auto index = next<unsigned>();
        if (what == "bytes") {
            const std::string b = bytes(next<size_t>());
            placed.push_back(0);
            /* what PyTorch binds where a kernel has no argument is passed over, as Metal does */
            for (const sim::argument &a : d.kernel->arguments)
                if (a.index == index) d.bytes.push_back({index, {b.begin(), b.end()}});
            continue;
        }
        const auto offset = next<size_t>(), size = next<size_t>();
        const bool defined = next<int>() != 0, writable = next<int>() != 0;
        const auto of = next<std::string>();
        if (of == "-") {
            const std::string b = bytes(defined ? size : 0);
            given.push_back(mem.add("argument " + std::to_string(index), size, defined ? b.data() : nullptr));
            placed.push_back(given.back());
        } else placed.push_back(placed.at(std::stoul(of)));
        d.buffers.push_back({index, placed.back(), offset, writable});
    }
    sim::run_options o;
    o.seconds = 60;
    const sim::report r = sim::run(*l.module, {d}, mem, o);
    if (!r.ok()) throw std::runtime_error(r.violations.front().str());
    std::cout << "ok\n";
    for (unsigned id : given) std::cout.write(reinterpret_cast<const char *>(mem.data(id)), static_cast<std::streamsize>(mem.bytes(id)));
}

/* Does the corpus say why this one cannot agree? */
bool by_nature(const corpus::recorded_case &c) {
    static const corpus::exceptions known(sim::tests_directory() + "/corpus/cannot-agree.txt");
    return known.reason(c.name, c.source) != nullptr;
}

/* compile-only / by-nature / grid X Y Z / buffer SIZE IN OUT (-1: none) / pointer BUFFER OFFSET PADS_NAN TYPE / float TEXT / int TEXT */
std::string type_of(const corpus::element_type &t) {
    const char *const names[] = {"int", "bool", "int64", "float32", "float16", "bfloat16"}; /* by their bits: doubles, fp8 */
    if (t.is_fp8()) return "uint8";
    return names[static_cast<int>(t.kind)] + (t.kind == corpus::element::integer ? std::to_string(t.bytes * 8) : "");
}

std::string lines(const corpus::recorded_case &c) {
    std::string s = "grid";
    const auto  where = [](bool has, size_t at) { return has ? " " + std::to_string(at) : " -1"; };
    for (uint32_t x : c.grid) s += " " + std::to_string(x);
    for (const corpus::recorded_buffer &b : c.buffers)
        s += "\nbuffer " + std::to_string(b.size) + where(b.has_in, b.in) + where(b.has_out, b.out);
    for (const corpus::recorded_parameter &p : c.parameters)
        s += p.is_buffer ? "\npointer " + std::to_string(p.buffer) + " " + std::to_string(p.offset) + (p.pads_nan ? " 1 " : " 0 ") + type_of(p.type)
                         : std::string(p.type.is_float() ? "\nfloat " : "\nint ") + p.text;
    return s + (c.compile_only ? "\ncompile-only" : "") + (by_nature(c) ? "\nby-nature" : "");
}

void read() {
    const std::string s = lines(corpus::read_case(bytes(next<size_t>())));
    std::cout << "ok " << s.size() << "\n" << s;
}

void judge() {
    const auto        length = next<size_t>(), n = next<size_t>();
    const std::string path = bytes(length);
    const auto        c = corpus::read_case(path);
    const auto        exact = corpus::read_precision(sim::read_file(c.path + ".ttir"));
    std::string       why;
    for (unsigned i = 0; i < n; i++) {
        const auto        size = next<size_t>();
        const bool        written = next<int>() != 0;
        const std::string got = bytes(size);
        if (size != c.buffers.at(i).size) throw std::runtime_error("buffer " + std::to_string(i) + " has another size");
        const auto r = corpus::compare_buffer(c, i, exact, written, reinterpret_cast<const uint8_t *>(got.data()));
        if (!r.right && why.empty()) why = "buffer " + std::to_string(i) + ": " + r.why;
    }
    if (!why.empty()) throw std::runtime_error(why);
    std::cout << "ok\n";
}

} // namespace

int main() {
    std::string word;
    std::ios::sync_with_stdio(false);
    while (std::cin >> word) {
        try {
            if (word == "compile") compile();
            else if (word == "run") run();
            else if (word == "read") read();
            else if (word == "judge") judge();
            else return 2;
        } catch (const std::exception &e) {
            const std::string text = e.what();
            std::cout << "error " << text.size() << "\n" << text;
        }
        std::cout.flush();
    }
    return 0;
}
