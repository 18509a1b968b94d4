/* Cases that are made here rather than recorded: a kernel, its launch, inputs from a seed, and what
 * the interpreter says that it leaves in memory. Written in the format of the recorded cases. */
#ifndef INTERP_MADE_H
#define INTERP_MADE_H

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace made {

/* Deterministic numbers (splitmix64). */
class numbers {
public:
    explicit numbers(uint64_t seed) : state_(seed) {}
    uint64_t next();
    uint64_t below(uint64_t n) { return n ? next() % n : 0; }
    int64_t  between(int64_t low, int64_t high) { return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1)); }
    bool     one_in(uint64_t n) { return below(n) == 0; }
    double   uniform(); /* 0 to 1 */
    double   normal();

private:
    uint64_t state_;
};

/* Bytes of an element; throws std::runtime_error for an unknown type ("f32", "i8", "f8E5M2", ...). */
unsigned bytes_of(const std::string &type);
bool     is_float(const std::string &type);
/* A number in a type's encoding, rounded once. */
uint64_t encode(const std::string &type, double x);
double   decode(const std::string &type, uint64_t bits); /* of a float */

struct parameter {
    bool        is_pointer = false;
    std::string type;    /* of the scalar or the pointee */
    unsigned    buffer = 0;
    size_t      offset = 0;
    std::string text;    /* of a scalar, as it stands in a case */
};

struct launch {
    std::string                       kernel;
    std::array<uint32_t, 3>           grid{{1, 1, 1}};
    std::vector<std::vector<uint8_t>> buffers;
    std::vector<std::string>          types;  /* of the buffers' elements */
    std::vector<double>               within; /* the error that is allowed in a buffer; 0: equal */
    std::vector<parameter>            parameters;

    /* Adds a buffer of `count` elements; `data` is "normal 0 1", "ints -5 5", ... as in fill(). */
    unsigned add_buffer(const std::string &type, size_t count, const std::string &data, numbers &rng);
    void     add_pointer(const std::string &type, unsigned buffer, size_t offset = 0);
    void     add_scalar(const std::string &type, const std::string &text);
};

/* Contents of a buffer:
 *   normal MEAN STD | uniform LOW HIGH | ints LOW HIGH | bits | count FIRST STEP | list X, Y, ... (repeated)
 *   edges     floats with infinities, NaN, signed zeros, denormals, large and small numbers among normal ones
 *   blank     NaN, or 0x55 in every byte: what must not be read */
std::vector<uint8_t> fill(const std::string &type, size_t count, const std::string &data, numbers &rng);

/* Runs the launch in the interpreter; gives the buffers afterwards. Throws `stopped` otherwise. */
std::vector<std::vector<uint8_t>> run(const std::string &ttir, const launch &l, uint64_t max_steps = 20000000);

/* Why a program has no one answer. */
enum class reason {
    none,
    module,    /* what was changed makes no module, or none that tmetal compiles */
    unknown,   /* the interpreter does not carry it out */
    outside,   /* it touches what lies outside its buffers */
    unaligned, /* ... an element at an address that is no multiple of its size */
    promise,   /* a promise of the module does not hold: tt.divisibility, llvm.intr.assume */
    stops,     /* tt.assert, or another rule of the language */
    endless,   /* it does not end, or not in the steps that are allowed */
    race,      /* who comes first shows */
    order,     /* a region combines what it should not: how its operands are grouped shows */
    value,     /* nothing defines a value */
    slow,      /* compiling or running it takes over a minute */
    rounding   /* the last bit of a float decides, or where buffers lie */
};
const char *name_of(reason r);

struct stopped : std::runtime_error {
    reason why;
    stopped(reason r, const std::string &text) : std::runtime_error(text), why(r) {}
};

struct ran {
    std::vector<std::vector<uint8_t>> memory;
    unsigned                          open = 0; /* TI_RACE, ... of interp.h */
};
/* The same with what interp.h says of `vary`; `races`: looks for them. */
ran run_once(const std::string &ttir, const launch &l, uint64_t max_steps, uint64_t vary, bool races);

/* How far each element may lie from what the interpreter says: NaN where it is open, 0 where it must be equal.
 * `spread` is empty where the launch itself says it (`within`). */
struct allowed {
    std::vector<std::vector<double>> spread; /* of each buffer's elements */
    bool                             all_open() const; /* no element that is written is certain */
    size_t                           written = 0, open = 0;
    unsigned                         why = 0; /* bits of interp.h: TI_RACE, ... */
    reason                           first() const; /* the reason of what is open */
};

/* From `runs` more runs of the interpreter, each of which settles what is open in another way: an element that stays the
 * same must be met; where rounding shows, 8 times as much as it shows and 4 units in the last place are allowed. */
allowed tolerances(const std::string &ttir, const launch &l, const std::vector<std::vector<uint8_t>> &want, unsigned runs);

/* Where memory that another machine left differs from this; empty where it does not. NaN is like NaN, and 0
 * like -0, but in buffers of integers. */
std::string difference(const launch &l, const std::vector<std::vector<uint8_t>> &want, const std::vector<std::vector<uint8_t>> &got, const allowed &within);

/* Writes PATH.case and PATH.bin; PATH.ttir is the caller's. */
void write_case(const std::string &path, const launch &l, const std::vector<std::vector<uint8_t>> &after,
                const std::string &suite, const std::string &source);

/* The launch that the head of a hand-written file describes; see tests/kernels/lookalikes/README.md. */
launch read_head(const std::string &ttir);

} // namespace made

#endif
