/* Where examples/launch.c and examples/metal_cpp.cc find Metal when the tests run them. */
#include "standin.h"

#include <cstdio>
#include <cstdlib>

/* What the stand-in has to complain of makes the example fail, and so does what the kernels did wrong. */
namespace {
struct last_word {
    ~last_word() {
        for (const std::string &c : standin::complaints()) say(c);
        for (const sim::violation &v : standin::violations()) say(v.str());
    }
    static void say(const std::string &text) {
        std::fflush(stdout); /* _Exit does not */
        std::fprintf(stderr, "metal: %s\n", text.c_str());
        std::_Exit(1);
    }
};

void (*found(void *user, const char *name))(void) {
    static last_word at_the_end; /* made after all that the stand-in keeps, so that it is there still */
    return standin::symbol(user, name);
}
} // namespace

extern "C" void (*example_symbol(void *user, const char *name))(void);
extern "C" void (*example_symbol(void *user, const char *name))(void) { return found(user, name); }
extern "C" void (*metal_symbol(const char *name))(void); /* for apple/Foundation/Foundation.hpp */
extern "C" void (*metal_symbol(const char *name))(void) { return found(nullptr, name); }
