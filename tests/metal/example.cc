/* Where examples/launch.c and examples/metal_cpp.cc find Metal when the tests run them. */
#include "standin.h"

#include <cstdio>
#include <cstdlib>

extern "C" void (*example_symbol(void *user, const char *name))(void);
extern "C" void (*example_symbol(void *user, const char *name))(void) { return standin::symbol(user, name); }
extern "C" void (*metal_symbol(const char *name))(void); /* for apple/Foundation/Foundation.hpp */
extern "C" void (*metal_symbol(const char *name))(void) { return standin::symbol(nullptr, name); }

/* What the stand-in has to complain of makes the example fail. */
namespace {
struct last_word {
    ~last_word() {
        for (const std::string &c : standin::complaints()) {
            std::fprintf(stderr, "metal: %s\n", c.c_str());
            std::_Exit(1);
        }
    }
} at_the_end;
} // namespace
