#include "made.h"

#include "../sim/files.h"
#include "interp.h"
extern "C" {
#include "numbers.h"
}

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace made {

/* -- Numbers --------------------------------------------------------------------------------------- */

uint64_t numbers::next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

double numbers::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double numbers::normal() {
    const double u = 1 - uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(6.28318530717958647692 * v);
}

/* -- Types ------------------------------------------------------------------------------------------- */

static const ti_format *format_of(const std::string &type) { return ti_format_named(type.c_str()); }

bool is_float(const std::string &type) { return format_of(type) != nullptr; }

static unsigned bits_of(const std::string &type) {
    if (const ti_format *f = format_of(type)) return static_cast<unsigned>(f->bits);
    for (const unsigned bits : {1u, 8u, 16u, 32u, 64u})
        if (type == "i" + std::to_string(bits)) return bits;
    throw std::runtime_error("unknown element type '" + type + "'");
}

unsigned bytes_of(const std::string &type) { return (bits_of(type) + 7) / 8; }

uint64_t encode(const std::string &type, double x) {
    if (const ti_format *f = format_of(type)) return ti_encode(f, x);
    return static_cast<uint64_t>(static_cast<int64_t>(x)) & ti_mask(bits_of(type));
}

double decode(const std::string &type, uint64_t bits) { return ti_decode(format_of(type), bits); }

/* -- Contents ------------------------------------------------------------------------------------------ */

namespace {

double edge(const std::string &type, numbers &rng) {
    const bool wide = type == "f32" || type == "bf16" || type == "f64";
    switch (rng.below(16)) {
    case 0: return INFINITY;
    case 1: return -INFINITY;
    case 2: return NAN;
    case 3: return 0.0;
    case 4: return -0.0;
    case 5: return wide ? 1e-39 : 1e-6;
    case 6: return wide ? -3e-40 : -2e-7;
    case 7: return wide ? 3e38 : 60000;
    case 8: return rng.one_in(2) ? 1 : -1;
    case 9: return static_cast<double>(rng.between(-9, 9)) + 0.5;
    default: return 3 * rng.normal();
    }
}

/* One number: "-5", "0x1p-3", "inf", or an integer of any width. */
uint64_t literal(const std::string &type, const std::string &word) {
    char *end = nullptr;
    if (is_float(type)) return encode(type, std::strtod(word.c_str(), nullptr));
    const uint64_t x = word[0] == '-' ? static_cast<uint64_t>(std::strtoll(word.c_str(), &end, 0)) : std::strtoull(word.c_str(), &end, 0);
    if (*end) throw std::runtime_error("'" + word + "' is no integer");
    return x & ti_mask(bits_of(type));
}

uint64_t element(const std::string &type, size_t i, const std::string &kind, const std::vector<std::string> &words, numbers &rng) {
    const auto number = [&](size_t k) { return k < words.size() ? std::strtod(words[k].c_str(), nullptr) : 0; };
    if (kind == "normal") return encode(type, number(0) + number(1) * rng.normal());
    if (kind == "uniform") return encode(type, number(0) + (number(1) - number(0)) * rng.uniform());
    if (kind == "ints") return encode(type, static_cast<double>(rng.between(static_cast<int64_t>(number(0)), static_cast<int64_t>(number(1)))));
    if (kind == "bits") return rng.next() & ti_mask(bits_of(type));
    if (kind == "count") return encode(type, number(0) + static_cast<double>(i) * number(1));
    if (kind == "list") return literal(type, words.at(i % words.size()));
    if (kind == "edges") return encode(type, edge(type, rng));
    if (kind == "blank") return is_float(type) ? encode(type, NAN) : 0x5555555555555555ull & ti_mask(bits_of(type));
    throw std::runtime_error("unknown contents '" + kind + "'");
}

} // namespace

std::vector<uint8_t> fill(const std::string &type, size_t count, const std::string &data, numbers &rng) {
    std::string              text = data;
    for (char &c : text)
        if (c == ',') c = ' ';
    std::istringstream       in(text);
    std::string              kind, word;
    std::vector<std::string> words;
    in >> kind;
    while (in >> word) words.push_back(word);
    if (kind == "list" && words.empty()) throw std::runtime_error("an empty list");
    const unsigned       bytes = bytes_of(type);
    std::vector<uint8_t> all(count * bytes);
    for (size_t i = 0; i < count; i++) {
        const uint64_t x = element(type, i, kind, words, rng);
        for (unsigned k = 0; k < bytes; k++) all[i * bytes + k] = static_cast<uint8_t>(x >> (8 * k));
    }
    return all;
}

unsigned launch::add_buffer(const std::string &type, size_t count, const std::string &data, numbers &rng) {
    buffers.push_back(fill(type, count, data, rng));
    types.push_back(type);
    within.push_back(0);
    return static_cast<unsigned>(buffers.size()) - 1;
}

void launch::add_pointer(const std::string &type, unsigned buffer, size_t offset) {
    parameter p;
    p.is_pointer = true;
    p.type = type;
    p.buffer = buffer;
    p.offset = offset;
    parameters.push_back(p);
}

void launch::add_scalar(const std::string &type, const std::string &text) {
    parameter p;
    p.type = type;
    p.text = text;
    parameters.push_back(p);
}

/* -- Reasons --------------------------------------------------------------------------------------- */

const char *name_of(reason r) {
    static const char *const names[] = {"none",  "no module", "not carried out", "outside buffers", "not aligned", "broken promise",
                                        "stops", "endless",   "race",            "order",           "no value",    "over a minute",   "rounding or addresses"};
    return names[static_cast<int>(r)];
}

static reason reason_of(ti_status s) {
    switch (s) {
    case TI_DONE: return reason::none;
    case TI_UNSUPPORTED: return reason::unknown;
    case TI_OUTSIDE: return reason::outside;
    case TI_UNALIGNED: return reason::unaligned;
    case TI_PROMISE: return reason::promise;
    case TI_TOO_LONG: return reason::endless;
    case TI_FAULT:
    case TI_ASSERTED: return reason::stops;
    case TI_MISFIT: return reason::module;
    case TI_FALSE_FACT: return reason::none; /* asked for by `interp --facts` alone */
    }
    return reason::none;
}

reason allowed::first() const {
    return why & TI_RACE ? reason::race : why & TI_ORDER ? reason::order : why & TI_VALUE ? reason::value : reason::rounding;
}

/* -- Running ------------------------------------------------------------------------------------------- */

ran run_once(const std::string &ttir, const launch &l, uint64_t max_steps, uint64_t vary, bool races) {
    char                              why[400];
    ran                               out;
    std::vector<std::vector<ti_mark>> marks;
    std::vector<ti_buffer>            buffers;
    std::vector<ti_argument>          arguments;
    ti_launch                         t = {};
    ti_result                         r;
    out.memory = l.buffers;
    for (auto &b : out.memory) {
        marks.emplace_back(races ? b.size() : 0);
        buffers.push_back({b.data(), b.size(), 0, races ? marks.back().data() : nullptr});
    }
    for (const parameter &p : l.parameters) {
        ti_argument a = {};
        a.is_pointer = p.is_pointer;
        a.buffer = p.buffer;
        a.offset = static_cast<int64_t>(p.offset);
        if (!p.is_pointer) a.bits = literal(p.type, p.text);
        arguments.push_back(a);
    }
    ti_module *m = ti_read(ttir.data(), ttir.size(), why, sizeof why);
    if (!m) throw stopped(reason::module, why);
    t.kernel = l.kernel.c_str();
    std::copy(l.grid.begin(), l.grid.end(), t.grid);
    t.buffers = buffers.data();
    t.n_buffers = buffers.size();
    t.arguments = arguments.data();
    t.n_arguments = arguments.size();
    t.max_steps = max_steps;
    t.vary = vary;
    ti_run(m, &t, &r);
    ti_free(m);
    std::free(r.printed);
    if (r.status != TI_DONE) throw stopped(reason_of(r.status), r.text);
    out.open = r.open;
    return out;
}

std::vector<std::vector<uint8_t>> run(const std::string &ttir, const launch &l, uint64_t max_steps) {
    return run_once(ttir, l, max_steps, 0, false).memory;
}

namespace {

uint64_t word_at(const std::vector<uint8_t> &bytes, size_t at, unsigned n) {
    uint64_t x = 0;
    for (unsigned i = n; i-- > 0;) x = x << 8 | bytes[at + i];
    return x;
}

/* f32 denormals are zero on a GPU. */
double flushed(const ti_format *f) { return f->exponent == 8 && f->bits >= 16 ? 0x1p-125 : 0; }

bool is_near(const ti_format *f, uint64_t want, uint64_t got, double within) {
    if (want == got || std::isnan(within)) return true;
    if (!f) return false;
    const double x = ti_decode(f, want), y = ti_decode(f, got);
    return (std::isnan(x) && std::isnan(y)) || x == y || std::fabs(x - y) <= within;
}

std::string shown(const ti_format *f, uint64_t bits) {
    char text[80];
    if (f) std::snprintf(text, sizeof text, "0x%llx = %.9g", static_cast<unsigned long long>(bits), ti_decode(f, bits));
    else std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
    return text;
}

} // namespace

bool allowed::all_open() const { return written > 0 && open == written; }

/* Of one buffer: the largest distance that a run shows, NaN where it shows that the element is open. */
static std::vector<double> spread_of(const ti_format *f, unsigned n, const std::vector<uint8_t> &want, const std::vector<std::vector<uint8_t>> &others) {
    std::vector<double> spread(want.size() / n, 0);
    bool                rounds = false;
    for (const std::vector<uint8_t> &other : others)
        for (size_t i = 0; i < spread.size(); i++) {
            const uint64_t x = word_at(want, i * n, n), y = word_at(other, i * n, n);
            if (x == y) continue;
            const double a = f ? ti_decode(f, x) : 0, b = f ? ti_decode(f, y) : 0, off = std::fabs(a - b);
            if (!f || !std::isfinite(off)) spread[i] = f && std::isnan(a) && std::isnan(b) ? spread[i] : NAN;
            else spread[i] = std::isnan(spread[i]) ? NAN : std::max(spread[i], off), rounds = true;
        }
    for (size_t i = 0; f && i < spread.size(); i++) {
        const double x = ti_decode(f, word_at(want, i * n, n));
        spread[i] = 8 * spread[i] + flushed(f);
        if (rounds && std::isfinite(x)) spread[i] += 4 * std::ldexp(std::fabs(x), -f->fraction);
    }
    return spread;
}

allowed tolerances(const std::string &ttir, const launch &l, const std::vector<std::vector<uint8_t>> &want, unsigned runs) {
    allowed                                        a;
    std::vector<std::vector<std::vector<uint8_t>>> of_buffer(want.size());
    for (unsigned k = 1; k <= runs; k++) {
        ran other = run_once(ttir, l, 8000000, k, true);
        a.why |= other.open;
        for (size_t b = 0; b < want.size(); b++) of_buffer[b].push_back(std::move(other.memory[b]));
    }
    for (size_t b = 0; b < want.size(); b++) {
        const unsigned n = bytes_of(l.types[b]);
        a.spread.push_back(spread_of(format_of(l.types[b]), n, want[b], of_buffer[b]));
        for (size_t i = 0; i < a.spread[b].size(); i++) {
            const bool changed = word_at(want[b], i * n, n) != word_at(l.buffers[b], i * n, n), is_open = std::isnan(a.spread[b][i]);
            a.written += changed || is_open;
            a.open += is_open;
        }
    }
    return a;
}

std::string difference(const launch &l, const std::vector<std::vector<uint8_t>> &want, const std::vector<std::vector<uint8_t>> &got, const allowed &a) {
    for (size_t b = 0; b < want.size(); b++) {
        const unsigned   n = bytes_of(l.types[b]);
        const ti_format *f = format_of(l.types[b]);
        if (got.size() <= b || got[b].size() != want[b].size()) return "buffer " + std::to_string(b) + " is missing";
        for (size_t i = 0; i < want[b].size() / n; i++) {
            const uint64_t x = word_at(want[b], i * n, n), y = word_at(got[b], i * n, n);
            const double   off = a.spread.empty() ? l.within[b] : a.spread[b][i];
            if (is_near(f, x, y, off)) continue;
            char within[64] = "";
            if (off > 0) std::snprintf(within, sizeof within, ", within %g", off);
            return "buffer " + std::to_string(b) + " (" + l.types[b] + "): element " + std::to_string(i) + " of " + std::to_string(want[b].size() / n) + " is " +
                   shown(f, y) + ", should be " + shown(f, x) + within;
        }
    }
    return "";
}

void write_case(const std::string &path, const launch &l, const std::vector<std::vector<uint8_t>> &after,
                const std::string &suite, const std::string &source) {
    std::string        bin;
    std::ostringstream out;
    out << "# made by build/generate: what the interpreter in tests/interp leaves in memory\n";
    out << "suite " << suite << "\nsource " << source << "\nkernel " << l.kernel << "\ngrid " << l.grid[0] << " " << l.grid[1] << " "
        << l.grid[2] << "\nwarps 4\n";
    for (size_t i = 0; i < l.buffers.size(); i++) {
        const auto put = [&](const std::vector<uint8_t> &bytes) {
            const size_t at = bin.size();
            bin.append(bytes.begin(), bytes.end());
            return at;
        };
        out << "buffer " << i << " size " << l.buffers[i].size() << " in " << put(l.buffers[i]);
        if (after[i] != l.buffers[i]) out << " out " << put(after[i]);
        out << "\n";
    }
    for (const parameter &p : l.parameters) {
        if (p.is_pointer) out << "arg ptr " << p.type << " buffer " << p.buffer << " offset " << p.offset << "\n";
        else out << "arg " << p.type << " " << p.text << "\n";
    }
    if (!sim::write_file(path + ".case", out.str()) || !sim::write_file(path + ".bin", bin))
        throw std::runtime_error("cannot write " + path);
}

/* -- Heads of hand-written files -------------------------------------------------------------------------- */

namespace {

std::string hex_float(const std::string &type, const std::string &word) {
    char         text[64];
    const double x = ti_decode(format_of(type), encode(type, std::strtod(word.c_str(), nullptr)));
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
    std::snprintf(text, sizeof text, "%a", x);
    return text;
}

void read_head_line(const std::string &line, launch &l, numbers &rng) {
    std::istringstream in(line);
    std::string        word, type, rest;
    in >> word;
    if (word == "grid") {
        in >> l.grid[0];
        if (!(in >> l.grid[1])) l.grid[1] = 1;
        if (!(in >> l.grid[2])) l.grid[2] = 1;
    } else if (word == "buffer") {
        size_t count = 0;
        in >> type >> count;
        std::getline(in, rest);
        l.add_pointer(type, l.add_buffer(type, count, rest, rng));
    } else if (word == "again") { /* the same buffer once more */
        unsigned buffer = 0;
        size_t   offset = 0;
        in >> type >> buffer >> offset;
        l.add_pointer(type, buffer, offset);
    } else if (word == "within") { /* of the buffer before */
        in >> l.within.back();
    } else if (word == "scalar") {
        in >> type >> rest;
        l.add_scalar(type, is_float(type) ? hex_float(type, rest) : rest);
    } else {
        throw std::runtime_error("'" + word + "' is no statement of a head");
    }
}

/* @name of the public function. */
std::string kernel_of(const std::string &ttir) {
    size_t at = ttir.find("tt.func public @");
    if (at == std::string::npos) throw std::runtime_error("no 'tt.func public'");
    at += std::strlen("tt.func public @");
    return ttir.substr(at, ttir.find('(', at) - at);
}

} // namespace

launch read_head(const std::string &ttir) {
    launch             l;
    numbers            rng(1);
    std::istringstream in(ttir);
    for (std::string line; std::getline(in, line);)
        if (line.compare(0, 4, "//! ") == 0) read_head_line(line.substr(4), l, rng);
    l.kernel = kernel_of(ttir);
    return l;
}

} // namespace made
