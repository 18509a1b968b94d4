/* SIMD-group functions: what the lanes get once all have arrived. */
#ifndef SIM_SIMD_H
#define SIM_SIMD_H

#include "machine.h"

namespace sim {

/* Wait for the whole simdgroup; the caller has put its operands into M.current. */
uint32_t meet_simdgroup(uint32_t op, uint32_t at);

/* Called once per meeting, by the last lane: fills in every lane's result. */
void simd_complete(simdgroup &g);

const char *simd_op_name(uint32_t op);

/* tensor.cc: all lanes are there. */
void tensor_complete(simdgroup &g);

} // namespace sim

#endif
