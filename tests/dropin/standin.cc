/* What the library has beside examples/python/library.c when it is linked with the stand-in for Metal: where the launcher
 * finds the system's functions, and what the tests ask the stand-in. */
#include "../metal/standin.h"

#include <cstring>

namespace {

std::string said;

} // namespace

extern "C" {

void (*tm_standin_symbol(void *user, const char *name))(void) { return standin::symbol(user, name); }

/* What the launcher did wrong and what the simulator saw since the last call, a line each. */
const char *tm_standin_complaints(void) {
    said.clear();
    for (const std::string &s : standin::complaints(false)) said += s + "\n";
    for (const sim::violation &v : standin::violations()) said += v.str() + "\n";
    return said.c_str();
}

unsigned long tm_standin_alive(void) { return standin::alive(); }     /* objects */
unsigned long tm_standin_committed(void) { return standin::committed(); } /* command buffers since the last call */
}
