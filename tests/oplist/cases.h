#ifndef OPLIST_CASES_H
#define OPLIST_CASES_H

#include "run.h"

namespace oplist {

/* Every op, at ragged shapes, in f32, f16 and bf16 where it has floats. `quick`: a slice of them. */
std::vector<test_case> all_cases(bool quick);

} // namespace oplist

#endif
