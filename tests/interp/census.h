/* What modules hold of what the language has. */
#ifndef INTERP_CENSUS_H
#define INTERP_CENSUS_H

#include <set>
#include <string>
#include <vector>

namespace made {

/* Counts modules by operation, by operation and type of its elements, by rank, extent, attribute and nesting; names what
 * stands in none. */
void print_census(const std::vector<std::string> &modules, const std::set<std::string> &without);

} // namespace made

#endif
