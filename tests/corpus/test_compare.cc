/* Tests of the comparison rule, of the number formats, and of the reader of cases. With a corpus
 * (an argument, or $CORPUS) also: every recorded result equals itself, and none that was spoiled
 * passes. */
#include "../sim/files.h"
#include "../sim/numbers.h"
#include "compare.h"
#include "recorded.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>

using namespace corpus;

namespace {

size_t failures, checks;

void check(bool ok, const std::string &what) {
    checks++;
    if (ok) return;
    failures++;
    printf("FAIL %s\n", what.c_str());
}

const double infinity = std::numeric_limits<double>::infinity(),
             nan_value = std::numeric_limits<double>::quiet_NaN();

void encode(uint8_t *p, element kind, double x) {
    if (kind == element::f64) std::memcpy(p, &x, 8);
    const float f = static_cast<float>(x);
    if (kind == element::f32) std::memcpy(p, &f, 4);
    const uint16_t h = kind == element::f16 ? sim::float_to_half(f) : sim::float_to_bfloat(f);
    if (kind == element::f16 || kind == element::bf16) std::memcpy(p, &h, 2);
}

std::vector<uint8_t> encoded(element_type t, const std::vector<double> &values) {
    std::vector<uint8_t> bytes(values.size() * t.bytes);
    for (size_t i = 0; i < values.size(); i++) encode(&bytes[i * t.bytes], t.kind, values[i]);
    return bytes;
}

bool right(element_type t, const std::vector<uint8_t> &got, const std::vector<uint8_t> &want,
           const precision &p = {}) {
    return compare(got.data(), want.data(), want.size(), t, bound_for(t, p)).right;
}
bool right(const char *type, const std::vector<double> &got, const std::vector<double> &want,
           const precision &p = {}) {
    const element_type t = parse_element(type);
    return right(t, encoded(t, got), encoded(t, want), p);
}

std::vector<double> scaled(std::vector<double> v, double by) {
    for (double &x : v) x *= by;
    return v;
}

/* -- The rule ---------------------------------------------------------------------------------- */

void floats_within_the_bound_are_right_and_beyond_it_wrong() {
    const std::vector<double>             v = {1, -2, 3.5, 100, -0.25, 7, 64, 1000};
    const std::pair<const char *, double> bounds[] = {
        {"f64", 1e-10}, {"f32", 2e-5}, {"f16", 2e-3}, {"bf16", 1.6e-2}};
    for (const auto &b : bounds) {
        check(right(b.first, v, v), std::string(b.first) + " equals itself");
        check(right(b.first, scaled(v, 1 + 0.5 * b.second), v),
              std::string(b.first) + " within half the bound is right");
        check(!right(b.first, scaled(v, 1 + 2 * b.second), v),
              std::string(b.first) + " beyond twice the bound is wrong");
    }
}

void the_coarsest_type_of_the_program_sets_the_bound() {
    const std::vector<double> v = {1, 2, 3, 4};
    precision                 half_sum;
    half_sum.rounds_to = {element::f32, element::f16};
    check(!right("f32", scaled(v, 1.001), v), "f32 results of an f32 program are known to 2e-5");
    check(right("f32", scaled(v, 1.001), v, half_sum),
          "f32 results of a sum in f16 are known to 2e-3");
    check(!right("f32", scaled(v, 1.003), v, half_sum), "and no better");
    check(right("bf16", scaled(v, 1.01), v, half_sum), "a buffer's own type may be the coarsest");
}

void dots_and_atomics_widen_the_bound() {
    const std::vector<double> v = {1, 2, 3, 4};
    precision                 tf32, fp8, atomics;
    tf32.tf32_dot = fp8.fp8_dot = atomics.float_atomics = true;
    check(right("f32", scaled(v, 1.0015), v, tf32) && !right("f32", scaled(v, 1.0025), v, tf32),
          "tf32 dots are known to 2e-3");
    check(right("f32", scaled(v, 1.015), v, fp8) && !right("f32", scaled(v, 1.025), v, fp8),
          "fp8 dots are known to 2e-2");
    check(right("f32", scaled(v, 1.00015), v, atomics) &&
              !right("f32", scaled(v, 1.00025), v, atomics),
          "float atomics get ten times the bound");
}

void special_values_must_agree() {
    check(right("f32", {nan_value, 1}, {nan_value, 1}), "NaN where NaN is wanted");
    check(!right("f32", {nan_value, 1}, {0, 1}), "NaN where a number is wanted is wrong");
    check(!right("f32", {0, 1}, {nan_value, 1}), "a number where NaN is wanted is wrong");
    check(right("f32", {infinity, -infinity}, {infinity, -infinity}), "infinities equal");
    check(!right("f32", {infinity, 1}, {-infinity, 1}), "infinities of the other sign are wrong");
    check(!right("f16", {65504, 1}, {infinity, 1}), "the largest number is not infinity");
    check(right("f32", {-0.0, 1}, {0.0, 1}), "zeros of either sign are equal");
    check(!right("f32", {1e-30, 0}, {0, 0}), "something where all should be zero is wrong");
    check(right("f32", {infinity, 1}, {infinity, 1 + 1e-6}),
          "finite elements are compared beside infinite ones");
}

void integers_and_booleans_are_equal_or_wrong() {
    const std::vector<uint8_t> v = {1, 0, 0, 0, 255, 255, 255, 127};
    for (const char *type : {"i8", "u16", "i32", "i64", "u1", "ptr"}) {
        check(right(parse_element(type), v, v), std::string(type) + " equals itself");
        for (size_t i = 0; i < v.size(); i++) {
            std::vector<uint8_t> other = v;
            other[i] ^= 1;
            check(!right(parse_element(type), other, v), std::string(type) + " differs in one bit");
        }
    }
}

/* Codes of one sign in order of size are neighbours. */
void fp8_may_be_one_unit_off() {
    for (const char *type : {"f8E5M2", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ"}) {
        const element_type t = parse_element(type);
        for (unsigned code = 0; code < 125; code++) {
            const auto at = [&](unsigned c) {
                return std::vector<uint8_t>{static_cast<uint8_t>(c)};
            };
            const uint8_t two = static_cast<uint8_t>(code + 2),
                          one = static_cast<uint8_t>(code + 1);
            if (!std::isfinite(decode(&two, t.kind)) || !std::isfinite(decode(&one, t.kind)))
                continue;
            check(right(t, at(code), at(code)) && right(t, at(code + 1), at(code)) &&
                      right(t, at(code), at(code + 1)),
                  std::string(type) + " one unit off is right");
            check(!right(t, at(code + 2), at(code)), std::string(type) + " two units off is wrong");
            if (code > 1)
                check(!right(t, at(code | 0x80), at(code)),
                      std::string(type) + " of the other sign is wrong");
        }
    }
}

/* -- Formats ----------------------------------------------------------------------------------- */

void fp8_codes_have_their_values() {
    const struct {
        const char *type;
        uint8_t     code;
        double      value;
    } known[] = {
        {"f8E4M3FN", 0x7e, 448},         {"f8E4M3FN", 0x7f, nan_value}, {"f8E4M3FN", 0x38, 1},
        {"f8E4M3FN", 0x01, 0x1p-9},      {"f8E5M2", 0x7b, 57344},       {"f8E5M2", 0x7c, infinity},
        {"f8E5M2", 0x7d, nan_value},     {"f8E5M2", 0xbc, -1},          {"f8E4M3FNUZ", 0x7f, 240},
        {"f8E4M3FNUZ", 0x80, nan_value}, {"f8E4M3FNUZ", 0x40, 1},       {"f8E5M2FNUZ", 0x7f, 57344},
        {"f8E5M2FNUZ", 0x80, nan_value}, {"f8E4M3B11FNUZ", 0x7f, 30},   {"f8E4M3B11FNUZ", 0x58, 1}};
    for (const auto &k : known) {
        const double got = decode(&k.code, parse_element(k.type).kind);
        check(std::isnan(k.value) ? std::isnan(got) : got == k.value,
              std::string(k.type) + " code " + std::to_string(k.code) + " is " +
                  std::to_string(got));
    }
}

void every_half_survives_the_way_to_float_and_back() {
    for (unsigned h = 0; h < 65536; h++) {
        const float f = sim::half_to_float(static_cast<uint16_t>(h));
        if (!std::isnan(f)) check(sim::float_to_half(f) == h, "half " + std::to_string(h));
        else check((sim::float_to_half(f) & 0x7fffu) > 0x7c00u, "NaN stays NaN");
    }
}

/* Between two neighbours the nearer one, at the middle the even one. */
void floats_round_to_the_nearest_half() {
    for (uint16_t h = 0; h < 0x7bff; h++) {
        const double lo = static_cast<double>(sim::half_to_float(h)),
                     hi = static_cast<double>(sim::half_to_float(static_cast<uint16_t>(h + 1)));
        const float middle = static_cast<float>((lo + hi) / 2);
        check(sim::float_to_half(middle) == (h % 2 ? h + 1 : h), "the middle goes to even");
        check(sim::float_to_half(std::nextafterf(middle, 0)) == h, "below the middle goes down");
        check(sim::float_to_half(std::nextafterf(middle, 1e30f)) == h + 1,
              "above the middle goes up");
    }
    check(sim::float_to_half(65519.0f) == 0x7bff && sim::float_to_half(65520.0f) == 0x7c00,
          "what is too large becomes infinite");
}

void floats_round_to_the_nearest_bfloat() {
    check(sim::float_to_bfloat(1.00390625f) == 0x3f80 &&
              sim::float_to_bfloat(1.01171875f) == 0x3f82,
          "the middle goes to even");
    check(sim::float_to_bfloat(0x1.ffp127f) == 0x7f80, "what is too large becomes infinite");
    check(sim::bfloat_to_float(0x4049) == 3.140625f, "bfloat widens by zeros");
}

/* -- Reading ----------------------------------------------------------------------------------- */

bool rounds_to(const char *line, std::vector<element> want) {
    return read_precision(line).rounds_to == want;
}

std::string dot(const std::string &more, const std::string &in) {
    const std::string t = "tensor<16x16x" + in + ">";
    return "%a = tt.dot %x, %y, %z" + more + " : " + t + " * " + t + " -> tensor<16x16xf32>";
}

std::string atomic(const std::string &op, const std::string &type) {
    return "%0 = tt.atomic_rmw " + op + ", acq_rel, gpu, %p, %v, %m : (tensor<8x!tt.ptr<" + type +
           ">>, tensor<8x" + type + ">, tensor<8xi1>) -> tensor<8x" + type + ">";
}

void the_program_text_tells_what_it_rounds_to() {
    check(rounds_to("%x = arith.addf %a, %b : tensor<64xf16> loc(#loc3)", {element::f16}), "sums");
    check(rounds_to("  %3 = arith.truncf %2 : tensor<8xf32> to tensor<8xbf16> loc(#loc)",
                    {element::bf16}),
          "narrowing");
    check(rounds_to("%3 = arith.extf %2 : tensor<8xf16> to tensor<8xf32>", {}), "widening");
    check(rounds_to("%3 = tt.fp_to_fp %2, rounding = rtne : tensor<8xf32> -> tensor<8xf8E4M3FN>",
                    {element::e4m3fn}),
          "to fp8");
    check(rounds_to("%3 = tt.fp_to_fp %2 : tensor<8xf8E5M2> -> tensor<8xf16>", {}), "from fp8");
    check(rounds_to("%3 = math.exp2 %2 : tensor<8xf32>", {element::f32}), "math");
    check(rounds_to("%3 = tt.load %2 : tensor<8x!tt.ptr<f16>>", {}), "loads do not round");
    check(rounds_to("%3 = arith.addi %2, %2 : tensor<8xi32>", {}), "integers do not round");
    check(rounds_to("%3 = arith.cmpf olt, %2, %2 : tensor<8xf16>", {}), "nor do comparisons");
    check(rounds_to(dot("", "f16").c_str(), {element::f32}), "dots round to their sum");
    check(!read_precision(dot(", inputPrecision = tf32", "f16")).tf32_dot, "tf32 of f16 is f16");
    check(read_precision(dot(", inputPrecision = tf32", "f32")).tf32_dot, "tf32 dots of f32");
    check(!read_precision(dot(", inputPrecision = tf32x3", "f32")).tf32_dot, "tf32x3 is not tf32");
    check(read_precision(dot("", "f8E5M2")).fp8_dot, "dots of fp8");
    check(read_precision(atomic("fadd", "f32")).float_atomics, "float atomics");
    check(!read_precision(atomic("add", "i32")).float_atomics, "integer atomics");
}

void scalars_become_bytes() {
    recorded_parameter p;
    p.text = "-2";
    check(encode_scalar(p, "i32", 4) == std::vector<uint8_t>{254, 255, 255, 255}, "a negative i32");
    check(encode_scalar(p, "i64", 8)[7] == 255, "and i64");
    p.text = "0x1.8p+1";
    check(encode_scalar(p, "f32", 4) == std::vector<uint8_t>{0, 0, 0x40, 0x40},
          "a hexadecimal f32");
    p.text = "-inf";
    check(encode_scalar(p, "f16", 2) == std::vector<uint8_t>{0, 0xfc}, "an infinite f16");
    p.text = "3";
    check(encode_scalar(p, "u1", 1) == std::vector<uint8_t>{1}, "a bool is 0 or 1");
}

void a_case_file_is_read() {
    const std::string dir = sim::make_temporary_directory(), path = dir + "/x.case";
    sim::write_file(path, "# comment\nsuite s\nsource a::b[c d]\nkernel k\ngrid 3 2 1\nwarps 8\n"
                          "buffer 0 size 4 in 0\nbuffer 1 size 4 in 4 out 8\n"
                          "arg ptr f16 buffer 0 offset 2\narg i32 -7\n"
                          "arg desc tensordesc<f16[32, 64]> buffer 1 offset 0 shape 128 64 "
                          "strides 64 1 block 32 64 padding zero\narg f32 0x1p-1\n");
    sim::write_file(dir + "/x.bin", "abcdefghijkl");
    const recorded_case c = read_case(path);
    check(c.grid == std::array<uint32_t, 3>{3, 2, 1} && c.kernel == "k" &&
              c.source == "a::b[c d]" && c.warps == 8,
          "head");
    check(c.buffers.size() == 2 && c.buffers[1].has_out && c.buffers[1].out == 8 &&
              !c.buffers[0].has_out,
          "buffers");
    check(c.parameters.size() == 8,
          "a descriptor stands for its buffer, two sizes and two strides");
    check(c.parameters[0].offset == 2 && c.parameters[2].is_buffer &&
              c.parameters[3].text == "128" && c.parameters[6].text == "1" &&
              c.parameters[7].text == "0x1p-1",
          "parameters");
    sim::write_file(dir + "/x.bin", "abc");
    bool short_file = false;
    try {
        read_case(path);
    } catch (const std::exception &) {
        short_file = true;
    }
    check(short_file, "a .bin that is too short is an error");
    sim::remove_directory(dir);
}

/* -- The corpus -------------------------------------------------------------------------------- */

element_type type_of(const recorded_case &c, unsigned buffer) {
    for (const recorded_parameter &p : c.parameters)
        if (p.is_buffer && p.buffer == buffer) return p.type;
    return {};
}

/* A change well above the bound in every finite element. */
std::vector<uint8_t> spoiled(const uint8_t *want, size_t bytes, element_type t, double by) {
    std::vector<uint8_t> v(want, want + bytes);
    for (size_t i = 0; i + t.bytes <= bytes; i += t.bytes)
        if (std::isfinite(decode(want + i, t.kind)))
            encode(&v[i], t.kind, decode(want + i, t.kind) * by);
    return v;
}

void check_recorded(const recorded_case &c, unsigned i, const precision &p, size_t &count) {
    const recorded_buffer &b = c.buffers[i];
    const element_type     t = type_of(c, i);
    const bound            limit = bound_for(t, p);
    const uint8_t         *want = reinterpret_cast<const uint8_t *>(c.bytes.data()) + b.out;
    check(compare(want, want, b.size, t, limit).right, c.name + ": a result equals itself");
    count++;
    if (b.size < t.bytes) return;
    std::vector<uint8_t> one(want, want + b.size);
    for (size_t at : {size_t{0}, b.size / t.bytes / 2, b.size / t.bytes - 1}) {
        if (t.is_float()) continue;
        one[at * t.bytes] ^= 1;
        check(!compare(one.data(), want, b.size, t, limit).right,
              c.name + ": an integer off by one bit");
        one[at * t.bytes] ^= 1;
    }
    if (!t.is_float() || limit.per_element) return;
    bool large = false; /* enough that a change by 1 + 4 * bound does not round away */
    for (size_t k = 0; k < b.size / t.bytes; k++)
        large |= std::isfinite(decode(want + k * t.bytes, t.kind)) &&
                 std::fabs(decode(want + k * t.bytes, t.kind)) > 1e-3;
    const double grow = 1 + 4 * limit.norm;
    if (large && !(t.kind == element::f16 && p.float_atomics)) {
        const std::vector<uint8_t> bad = spoiled(want, b.size, t, grow);
        check(!compare(bad.data(), want, b.size, t, limit).right,
              c.name + ": every element off by four times the bound");
    }
}

void every_recorded_result_equals_itself_and_no_spoiled_one(const std::string &directory) {
    size_t count = 0;
    for (const std::string &suite : sim::list_directory(directory))
        for (const std::string &name : sim::list_directory(directory + "/" + suite)) {
            if (name.size() < 5 || name.compare(name.size() - 5, 5, ".case") != 0) continue;
            const recorded_case c = read_case(directory + "/" + suite + "/" + name);
            if (c.compile_only) continue;
            const precision p = read_precision(sim::read_file(c.path + ".ttir"));
            for (unsigned i = 0; i < c.buffers.size(); i++)
                if (c.buffers[i].has_out) check_recorded(c, i, p, count);
        }
    printf("%zu recorded buffers\n", count);
}

} // namespace

int main(int argc, char **argv) {
    floats_within_the_bound_are_right_and_beyond_it_wrong();
    the_coarsest_type_of_the_program_sets_the_bound();
    dots_and_atomics_widen_the_bound();
    special_values_must_agree();
    integers_and_booleans_are_equal_or_wrong();
    fp8_may_be_one_unit_off();
    fp8_codes_have_their_values();
    every_half_survives_the_way_to_float_and_back();
    floats_round_to_the_nearest_half();
    floats_round_to_the_nearest_bfloat();
    the_program_text_tells_what_it_rounds_to();
    scalars_become_bytes();
    a_case_file_is_read();
    const char *corpus_directory = argc > 1 ? argv[1] : std::getenv("CORPUS");
    if (corpus_directory && *corpus_directory)
        every_recorded_result_equals_itself_and_no_spoiled_one(corpus_directory);
    printf("%zu checks, %zu failed\n", checks, failures);
    return failures != 0;
}
