/* What the tests of library functions share: calling them, inputs, running tasks, the table of results. */
#ifndef LIBRARY_HARNESS_H
#define LIBRARY_HARNESS_H

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace library {

/* Values are bit patterns in the low bits of 64, whatever their type. */
typedef std::vector<uint64_t> values;

struct call {
    const char *name, *signature; /* as in tmi_fns */
    void (*run)(const unsigned long *in, unsigned long out, unsigned long n);

    char   result() const { return signature[0]; }
    size_t operands() const { return std::strlen(signature) - 3; }
    char   operand(size_t i) const { return signature[2 + i]; }
};
const call              *find(const std::string &name); /* NULL: no such function */
const std::vector<call> &all_calls();

/* Calls for all operands, with float denormals flushed as on the device. */
values apply(const call &c, const std::vector<values> &in);

/* -- Bits and numbers ------------------------------------------------------------------------------ */

template <typename To, typename From> To as(From x) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To r;
    std::memcpy(&r, &x, sizeof r);
    return r;
}
inline double   f64(uint64_t b) { return as<double>(b); }
inline uint64_t bits(double x) { return as<uint64_t>(x); }
inline float    f32(uint64_t b) { return as<float>(static_cast<uint32_t>(b)); }
inline uint64_t bits(float x) { return as<uint32_t>(x); }
double          widen(char letter, uint64_t b); /* the number, for the letters of floats and integers */
bool            is_nan(char letter, uint64_t b);
std::string     show(char letter, uint64_t b);

/* -- Inputs ---------------------------------------------------------------------------------------- */

class random_bits {
public:
    explicit random_bits(const std::string &name);
    uint64_t next();
    uint64_t below(uint64_t n) { return next() % n; }
    double   unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    uint64_t state_;
};

/* Zeros, ones, halves, denormals, limits, neighbours of powers of two, infinities, NaN. */
const values &edges(char letter);

/* One operand of any kind: edges, all exponents, moderate ones, few bits, small integers. */
uint64_t any_value(char letter, random_bits &r);

/* -- Tasks ----------------------------------------------------------------------------------------- */

struct result {
    std::string name, promised, measured, worst;
    uint64_t    inputs = 0;
    bool        wrong = false;
};

struct task {
    std::string             name;
    std::function<result()> run;
};

struct settings {
    bool        thorough = false;
    std::string only; /* a part of the names to run */
};
extern settings options;
inline uint64_t amount(uint64_t quick, uint64_t thorough) { return options.thorough ? thorough : quick; }

std::vector<task> exact_tasks();
std::vector<task> accuracy_tasks();
extern const bool has_references; /* for the latter: was MPFR there? */

} // namespace library

#endif
