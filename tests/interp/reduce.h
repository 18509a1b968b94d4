/* Makes a module on which something is wrong as small as it goes. */
#ifndef INTERP_REDUCE_H
#define INTERP_REDUCE_H

#include "differ.h"

#include <string>

namespace made {

/* Writes FILE.small.ttir (and .case, .bin) beside `name`, and prints what is wrong with it. `judge`: a command that exits with 0
 * while a file still shows it; "": the same verdict, in the first way of the options that shows it. False when nothing is wrong. */
bool reduce(const std::string &name, const std::string &judge, differ_options o);

} // namespace made

#endif
