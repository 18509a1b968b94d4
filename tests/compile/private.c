/* The second unit has an implementation of its own, all of it static: nothing of it may be seen outside. */
#define TMETAL_STATIC
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

const char *private_text(void);
const char *private_text(void) {
    return tmetal_code_text(TMETAL_E_EXPECTED);
}
