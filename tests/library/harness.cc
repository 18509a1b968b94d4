/* Calls, inputs and numbers for the tests of library functions. */
#include "harness.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define CALL(name, signature) extern "C" void call_##name(const unsigned long *, unsigned long, unsigned long);
#include "calls.inc"
#undef CALL

namespace library {

settings options;

/* -- Calls ------------------------------------------------------------------------------------------- */

const std::vector<call> &all_calls() {
    static const std::vector<call> all = {
#define CALL(name, signature) {#name, signature, call_##name},
#include "calls.inc"
#undef CALL
    };
    return all;
}

const call *find(const std::string &name) {
    for (const call &c : all_calls())
        if (name == c.name) return &c;
    return nullptr;
}

namespace {

size_t size_of(char letter) {
    switch (letter) {
    case 'q': case 'c': case 'b': return 1;
    case 'h': case 't': case 's': return 2;
    case 'f': case 'i': case 'u': return 4;
    default: return 8;
    }
}

/* Float denormals are zero while one of these lives. */
class flushed {
public:
#if defined(__SSE__)
    flushed() : old_(_mm_getcsr()) { _mm_setcsr(old_ | 0x8040); }
    ~flushed() { _mm_setcsr(old_); }

private:
    unsigned old_;
#elif defined(__aarch64__)
    flushed() {
        __asm__ volatile("mrs %0, fpcr" : "=r"(old_));
        __asm__ volatile("msr fpcr, %0" : : "r"(old_ | 1ul << 24));
    }
    ~flushed() { __asm__ volatile("msr fpcr, %0" : : "r"(old_)); }

private:
    unsigned long old_;
#endif
};

} // namespace

values apply(const call &c, const std::vector<values> &in) {
    const size_t                      n = in[0].size(), size = size_of(c.result());
    std::vector<std::vector<uint8_t>> packed;
    std::vector<unsigned long>        at;
    for (size_t k = 0; k < c.operands(); k++) {
        const size_t         bytes = size_of(c.operand(k));
        std::vector<uint8_t> column(n * bytes);
        for (size_t i = 0; i < n; i++) std::memcpy(&column[i * bytes], &in[k][i], bytes);
        packed.push_back(std::move(column));
        at.push_back(reinterpret_cast<unsigned long>(packed.back().data()));
    }
    std::vector<uint8_t> out(n * size);
    {
        flushed mode;
        c.run(at.data(), reinterpret_cast<unsigned long>(out.data()), n);
    }
    values r(n);
    for (size_t i = 0; i < n; i++) std::memcpy(&r[i], &out[i * size], size);
    return r;
}

/* -- Numbers ----------------------------------------------------------------------------------------- */

double widen(char letter, uint64_t b) {
    switch (letter) {
    case 'd': return f64(b);
    case 'f': return static_cast<double>(f32(b));
    case 't': return static_cast<double>(f32(b << 16));
    case 'h': {
        const int    e = static_cast<int>(b >> 10) & 31;
        const double m = static_cast<double>(b & 1023), s = (b & 0x8000) != 0 ? -1.0 : 1.0;
        if (e == 31) return m != 0.0 ? std::numeric_limits<double>::quiet_NaN() : s * HUGE_VAL;
        return s * (e != 0 ? std::ldexp(1024.0 + m, e - 25) : std::ldexp(m, -24));
    }
    case 'q': return static_cast<double>(static_cast<int8_t>(b));
    case 's': return static_cast<double>(static_cast<int16_t>(b));
    case 'i': return static_cast<double>(static_cast<int32_t>(b));
    case 'l': return static_cast<double>(static_cast<int64_t>(b));
    default: return static_cast<double>(b);
    }
}

bool is_nan(char letter, uint64_t b) {
    return std::strchr("dfth", letter) && std::isnan(widen(letter, b));
}

std::string show(char letter, uint64_t b) {
    char text[80];
    if (std::strchr("dfth", letter)) {
        snprintf(text, sizeof text, "%.17g (0x%llx)", widen(letter, b), static_cast<unsigned long long>(b));
    } else if (std::strchr("qsil", letter)) {
        snprintf(text, sizeof text, "%lld", static_cast<long long>(
            letter == 'l' ? static_cast<int64_t>(b) : static_cast<int64_t>(widen(letter, b))));
    } else snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(b));
    return text;
}

/* -- Inputs ------------------------------------------------------------------------------------------ */

random_bits::random_bits(const std::string &name) : state_(0x9e3779b97f4a7c15u) {
    for (char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
}

uint64_t random_bits::next() { /* Marsaglia's xorshift, with a multiplication to stir the low bits */
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
}

namespace {

values float_edges(unsigned mant, unsigned exp_bits) {
    const uint64_t one = 1, sign = one << (mant + exp_bits), inf = ((one << exp_bits) - 1) << mant;
    const uint64_t bias = (one << (exp_bits - 1)) - 1;
    values         v = {0, 1, 2, 3, (one << mant) - 1, one << mant, (one << mant) + 1, one << (mant - 1),
                        inf - 1, inf - 2, inf, inf | one << (mant - 1), inf | 1};
    for (uint64_t e = bias - 3; e <= bias + 70 && e < (inf >> mant); e += e < bias + 4 ? 1 : 3)
        for (uint64_t m : {one * 0, one, (one << (mant - 1)) - 1, one << (mant - 1), (one << (mant - 1)) + 1, (one << mant) - 1})
            v.push_back((e << mant) | m);
    for (uint64_t e : {one, one * 2, bias / 2, bias - mant, bias - mant - 1, bias - mant - 2, bias + mant, bias + mant + 1,
                       bias + 31, bias + 32, bias + 62, bias + 63, bias + 64, bias + bias / 2, (inf >> mant) - 1})
        if (e < (inf >> mant))
            for (uint64_t m : {one * 0, one, (one << mant) - 1}) v.push_back((e << mant) | m);
    for (uint64_t i : {3, 5, 6, 7, 10}) { /* small integers, then with a half */
        const unsigned n = i > 7 ? 3 : i > 3 ? 2 : 1;
        v.push_back(((bias + n) << mant) | ((i << (mant - n)) & ((one << mant) - 1)));
        v.push_back(((bias + n) << mant) | (((2 * i + 1) << (mant - n - 1)) & ((one << mant) - 1)));
    }
    const size_t n = v.size();
    for (size_t i = 0; i < n; i++) v.push_back(v[i] | sign);
    return v;
}

values integer_edges(unsigned width) {
    const uint64_t one = 1, mask = width == 64 ? ~(one * 0) : (one << width) - 1;
    values         v = {0, 1, 2, 3, 5, 7, 10, 100};
    for (unsigned k = 2; k < width; k++)
        for (uint64_t d : {one * 0, one, ~(one * 0)}) v.push_back(((one << k) + d) & mask);
    for (unsigned k : {24u, 53u, 54u, 55u, 62u}) /* halfway between floats or doubles */
        if (k + 1 < width)
            for (uint64_t d : {one, one * 3, one * 5, one * 256, one * 384, one * 1024, one * 1536})
                v.push_back(((one << k) + d) & mask);
    const size_t n = v.size();
    for (size_t i = 0; i < n; i++) v.push_back((0 - v[i]) & mask);
    return v;
}

} // namespace

const values &edges(char letter) {
    static const values d = float_edges(52, 11), f = float_edges(23, 8), h = float_edges(10, 5), t = float_edges(7, 8),
                        i = integer_edges(32), l = integer_edges(64), s = integer_edges(16), c = integer_edges(8);
    switch (letter) {
    case 'd': return d;
    case 'f': return f;
    case 'h': return h;
    case 't': return t;
    case 'i': case 'u': return i;
    case 's': return s;
    case 'c': case 'q': return c;
    default: return l;
    }
}

uint64_t any_value(char letter, random_bits &r) {
    const unsigned width = static_cast<unsigned>(8 * size_of(letter));
    const uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1, x = r.next();
    if (x % 16 == 0) return edges(letter)[r.below(edges(letter).size())];
    if (!std::strchr("dfth", letter)) return (x % 2 ? r.next() : r.next() >> r.below(width)) & mask;
    const unsigned mant = letter == 'd' ? 52 : letter == 'f' ? 23 : letter == 'h' ? 10 : 7, exp_bits = width - mant - 1;
    const uint64_t bias = (uint64_t(1) << (exp_bits - 1)) - 1, sign = (r.next() >> 63) << (width - 1);
    const uint64_t fraction = r.next() & ((uint64_t(1) << mant) - 1);
    switch (x / 16 % 8) {
    case 0: case 1: return r.next() & mask;
    case 2: case 3: case 4: { /* moderate */
        const uint64_t spread = std::min<uint64_t>(bias / 2, 32);
        return sign | ((bias - spread / 2 + r.below(spread)) << mant) | fraction;
    }
    case 5: { /* few bits, or almost all of them */
        const uint64_t few = (uint64_t(1) << r.below(mant)) | (uint64_t(1) << r.below(mant));
        return sign | ((bias - 4 + r.below(8)) << mant) | (x / 128 % 2 ? few : few ^ ((uint64_t(1) << mant) - 1));
    }
    case 6: return sign | (r.below(3) << mant) | fraction >> r.below(mant); /* denormals and little more */
    default: { /* small integers and halves */
        const double v = static_cast<double>(r.below(2048)) * 0.5;
        if (letter == 'd') return sign | bits(v);
        if (letter == 'f') return sign | bits(static_cast<float>(v));
        return sign | ((bias + r.below(6)) << mant) | (fraction & ~(((uint64_t(1) << mant) - 1) >> 5));
    }
    }
}

} // namespace library
