/* What an op list means, in doubles, written without tmetal: the referee of tests/oplist. */
#ifndef OPLIST_REFERENCE_H
#define OPLIST_REFERENCE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace oplist {

/* A tensor with, for each element, how far a right answer may lie from `v`: rounding of every op on the
 * way, in its element type, carried through what comes after. */
struct tensor {
    std::vector<int64_t> shape;
    std::string          type = "f32";
    std::vector<double>  v, e;

    size_t count() const;
};

size_t bytes_of(const std::string &type);
bool   is_float(const std::string &type);
double round_to(double v, const std::string &type);

std::vector<uint8_t> pack(const tensor &t);
double               unpack(const uint8_t *p, size_t i, const std::string &type);

/* Values of the list's results, in order. `inputs`: what each parameter that is an input holds, in order
 * of first use; made from `seed` by what the list says of them (key "test_inputs"), and kept there. */
struct answer {
    std::vector<tensor> inputs, results;
};

answer evaluate(const std::string &json, uint64_t seed);

} // namespace oplist

#endif
