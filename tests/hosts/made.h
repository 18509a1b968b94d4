/* Cases that were not recorded: op lists (.json) and kernels of Triton IR without a launch (.ttir). They must leave what
 * the launcher of tmetal.h leaves. */
#ifndef HOSTS_MADE_H
#define HOSTS_MADE_H

#include "../metal/case.h"

namespace made {

/* Compiled, with buffers of numbers that no arithmetic takes far. Options stand in the first line: "// two_stage 4". */
std::unique_ptr<device::compiled> make(const std::string &path);

/* Launches it by the launcher, and takes what it leaves for recorded. */
void record(device::compiled &p);

} // namespace made

#endif
