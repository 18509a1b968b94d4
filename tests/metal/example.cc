/* Where examples/launch.c finds Metal when the tests run it. */
#include "standin.h"

extern "C" void (*example_symbol(void *user, const char *name))(void);
extern "C" void (*example_symbol(void *user, const char *name))(void) { return standin::symbol(user, name); }
