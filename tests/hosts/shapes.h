/* Messages of launch code in C: the type by which each is sent is that of its method. No run on this machine would show
 * an int for a long, or a long for a double. */
#ifndef HOSTS_SHAPES_H
#define HOSTS_SHAPES_H

#include <string>

namespace shapes {

/* "" when all are right */
std::string wrong(const std::string &text);

} // namespace shapes

#endif
