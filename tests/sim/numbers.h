/* Narrow floating point as bits, for code that must not depend on what the host compiler offers. */
#ifndef SIM_NUMBERS_H
#define SIM_NUMBERS_H

#include <cstdint>
#include <cstring>

namespace sim {

template <typename To, typename From> inline To bits_as(From x) {
    static_assert(sizeof(To) == sizeof(From), "bits_as: sizes differ");
    To r;
    std::memcpy(&r, &x, sizeof r);
    return r;
}

inline float half_to_float(uint16_t h) {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16, exponent = h >> 10 & 31u,
                   fraction = h & 0x3ffu;
    if (exponent == 31) return bits_as<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent) return bits_as<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float tiny = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -tiny : tiny;
}

/* Nearest even; what is too large becomes infinite; denormals are kept. */
inline uint16_t float_to_half(float x) {
    const uint32_t u = bits_as<uint32_t>(x), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (a >> 13 & 0x3ffu));
    if (a >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (a >= 0x38800000u)
        return static_cast<uint16_t>(sign | ((a + 0xfffu + (a >> 13 & 1u) - 0x38000000u) >> 13));
    if (a < 0x33000000u)
        return static_cast<uint16_t>(sign); /* at most half of the smallest denormal */
    const uint32_t shift = 126u - (a >> 23), m = (a & 0x7fffffu) | 0x800000u; /* 14..24 */
    const uint32_t down = m >> shift, rest = m & ((1u << shift) - 1), middle = 1u << (shift - 1);
    return static_cast<uint16_t>(sign |
                                 (down + (rest > middle || (rest == middle && (down & 1u)))));
}

inline float bfloat_to_float(uint16_t b) { return bits_as<float>(static_cast<uint32_t>(b) << 16); }
inline uint16_t float_to_bfloat(float x) {
    const uint32_t u = bits_as<uint32_t>(x);
    if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(u >> 16 | 0x40u);
    return static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

} // namespace sim

#endif
