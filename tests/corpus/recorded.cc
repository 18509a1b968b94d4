#include "recorded.h"

#include "../sim/files.h"
#include "../sim/numbers.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <stdexcept>

namespace corpus {

namespace {

const std::map<std::string, element_type> &element_names() {
    static const std::map<std::string, element_type> names = {
        {"i1", {element::boolean, 1}},        {"u1", {element::boolean, 1}},
        {"i8", {element::integer, 1}},        {"u8", {element::integer, 1}},
        {"i16", {element::integer, 2}},       {"u16", {element::integer, 2}},
        {"i32", {element::integer, 4}},       {"u32", {element::integer, 4}},
        {"i64", {element::integer, 8}},       {"u64", {element::integer, 8}},
        {"f64", {element::f64, 8}},           {"fp64", {element::f64, 8}},
        {"f32", {element::f32, 4}},           {"fp32", {element::f32, 4}},
        {"f16", {element::f16, 2}},           {"fp16", {element::f16, 2}},
        {"bf16", {element::bf16, 2}},         {"f8E5M2", {element::e5m2, 1}},
        {"fp8e5", {element::e5m2, 1}},        {"f8E4M3FN", {element::e4m3fn, 1}},
        {"fp8e4nv", {element::e4m3fn, 1}},    {"f8E4M3FNUZ", {element::e4m3fnuz, 1}},
        {"fp8e4b8", {element::e4m3fnuz, 1}},  {"f8E5M2FNUZ", {element::e5m2fnuz, 1}},
        {"fp8e5b16", {element::e5m2fnuz, 1}}, {"f8E4M3B11FNUZ", {element::e4m3b11, 1}},
        {"fp8e4b15", {element::e4m3b11, 1}},  {"ptr", {element::integer, 8}},
        {"index", {element::integer, 8}},
    };
    return names;
}

/* One statement, split at blanks, with a cursor. */
class statement {
public:
    statement(const std::string &line, const std::string &place) : place_(place) {
        std::istringstream in(line.substr(0, line.find('#')));
        for (std::string w; in >> w;) words_.push_back(w);
    }
    bool        empty() const { return words_.empty(); }
    bool        more() const { return at_ < words_.size(); }
    std::string next() {
        if (!more()) fail("ends too early");
        return words_[at_++];
    }
    bool accept(const char *word) {
        if (!more() || words_[at_] != word) return false;
        at_++;
        return true;
    }
    void expect(const char *word) {
        if (!accept(word)) fail(std::string("expected '") + word + "'");
    }
    uint64_t number() {
        const std::string w = next();
        char             *end = nullptr;
        const uint64_t    n = std::strtoull(w.c_str(), &end, 0);
        if (*end) fail("'" + w + "' is not a number");
        return n;
    }
    bool next_is_number() const {
        return more() &&
               (std::isdigit(static_cast<unsigned char>(words_[at_][0])) || words_[at_][0] == '-');
    }
    [[noreturn]] void fail(const std::string &what) const {
        throw std::runtime_error(place_ + ": " + what);
    }

private:
    std::string              place_;
    std::vector<std::string> words_;
    size_t                   at_ = 0;
};

void read_buffer(statement &s, recorded_case &c) {
    if (s.number() != c.buffers.size()) s.fail("buffers out of order");
    recorded_buffer b;
    s.expect("size");
    b.size = s.number();
    b.has_in = s.accept("in");
    if (b.has_in) b.in = s.number();
    b.has_out = s.accept("out");
    if (b.has_out) b.out = s.number();
    c.buffers.push_back(b);
}

recorded_parameter read_place(statement &s, const recorded_case &c, element_type type) {
    recorded_parameter p;
    p.is_buffer = true;
    p.type = type;
    s.expect("buffer");
    p.buffer = static_cast<unsigned>(s.number());
    s.expect("offset");
    p.offset = s.number();
    if (p.buffer >= c.buffers.size()) s.fail("no such buffer");
    return p;
}

/* tensordesc<f16[32, 64]>: blanks inside, so it is several words. */
element_type read_descriptor_type(statement &s) {
    std::string text = s.next();
    while (text.find('>') == std::string::npos) text += s.next();
    const size_t open = text.find('<'), bracket = text.find('[');
    if (open == std::string::npos || bracket == std::string::npos)
        s.fail("'" + text + "' is not a descriptor type");
    return parse_element(text.substr(open + 1, bracket - open - 1));
}

void read_descriptor(statement &s, recorded_case &c) {
    const element_type type = read_descriptor_type(s);
    const size_t first = c.parameters.size();
    c.parameters.push_back(read_place(s, c, type));
    for (const char *list : {"shape", "strides"}) {
        s.expect(list);
        while (s.next_is_number()) {
            recorded_parameter p;
            p.text = s.next();
            c.parameters.push_back(p);
        }
    }
    while (s.more()) /* block sizes, padding */
        if (s.next() == "padding") c.parameters[first].pads_nan = s.next() == "nan";
}

void read_argument(statement &s, recorded_case &c) {
    const std::string kind = s.next();
    if (kind == "ptr") {
        const element_type type = parse_element(s.next());
        c.parameters.push_back(read_place(s, c, type));
    } else if (kind == "desc") {
        read_descriptor(s, c);
    } else {
        recorded_parameter p;
        p.type = parse_element(kind);
        p.text = s.next();
        c.parameters.push_back(p);
    }
}

void read_statement(statement &s, recorded_case &c) {
    const std::string word = s.next();
    if (word == "suite") c.suite = s.next();
    else if (word == "source") {
        while (s.more()) c.source += (c.source.empty() ? "" : " ") + s.next();
    } else if (word == "kernel") c.kernel = s.next();
    else if (word == "grid")
        for (uint32_t &n : c.grid) n = static_cast<uint32_t>(s.number());
    else if (word == "warps") c.warps = static_cast<unsigned>(s.number());
    else if (word == "buffer") read_buffer(s, c);
    else if (word == "arg") read_argument(s, c);
    else if (word == "compile-only") c.compile_only = true;
    else s.fail("unknown statement '" + word + "'");
}

void check_bytes(const recorded_case &c) {
    for (const recorded_buffer &b : c.buffers)
        if ((b.has_in && b.in + b.size > c.bytes.size()) ||
            (b.has_out && b.out + b.size > c.bytes.size()))
            throw std::runtime_error(c.path + ".bin is too short");
}

} // namespace

element_type parse_element(const std::string &name) {
    const auto found = element_names().find(name);
    if (found == element_names().end())
        throw std::runtime_error("unknown element type '" + name + "'");
    return found->second;
}

recorded_case read_case(const std::string &path) {
    if (!sim::exists(path)) throw std::runtime_error("no file " + path);
    recorded_case c;
    c.path = path.substr(0, path.rfind('.'));
    const size_t file = c.path.rfind('/'), dir = file == std::string::npos || file == 0
                                                     ? std::string::npos
                                                     : c.path.rfind('/', file - 1);
    c.name = c.path.substr(dir == std::string::npos ? 0 : dir + 1);
    std::istringstream in(sim::read_file(path));
    unsigned           number = 0;
    for (std::string line; std::getline(in, line);) {
        statement s(line, path + ":" + std::to_string(++number));
        if (!s.empty()) read_statement(s, c);
    }
    if (!c.compile_only) {
        c.bytes = sim::read_file(c.path + ".bin");
        check_bytes(c);
    }
    return c;
}

std::vector<uint8_t> encode_scalar(const recorded_parameter &p, const std::string &type,
                                   size_t size) {
    uint64_t           bits = 0;
    const char        *text = p.text.c_str();
    const element_type t = parse_element(type.empty() ? "i32" : type);
    if (!t.is_float()) {
        bits = text[0] == '-' ? static_cast<uint64_t>(std::strtoll(text, nullptr, 0))
                              : std::strtoull(text, nullptr, 0);
        if (t.kind == element::boolean) bits = bits != 0;
    } else {
        const double x = std::strtod(text, nullptr);
        switch (t.kind) {
        case element::f64: bits = sim::bits_as<uint64_t>(x); break;
        case element::f32: bits = sim::bits_as<uint32_t>(static_cast<float>(x)); break;
        case element::f16: bits = sim::float_to_half(static_cast<float>(x)); break;
        case element::bf16: bits = sim::float_to_bfloat(static_cast<float>(x)); break;
        default: throw std::runtime_error("a scalar of type " + type + " cannot be passed");
        }
    }
    std::vector<uint8_t> out(size ? size : t.bytes);
    if (out.size() > 8) throw std::runtime_error("a scalar of " + std::to_string(size) + " bytes");
    std::memcpy(out.data(), &bits, out.size());
    return out;
}

} // namespace corpus
