/* The header with its launcher, cache and launch code, once for all programs of this folder and of tests/hosts. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_CACHE
#define TMETAL_METAL
#define TMETAL_LAUNCH_CODE
#include "../../tmetal.h"

/* What the launcher sends: selectors, and the shapes of their methods. */
const char *const *metal_selectors(size_t *n);
const char *metal_shape(size_t i);

const char *const *metal_selectors(size_t *n) {
    *n = TMI_SEL_COUNT_OF;
    return tmi_metal_selectors;
}

const char *metal_shape(size_t i) {
    static const char *const shapes[] = {
#define X(name, selector, shape) shape,
        TMI_METAL_SELECTORS(X)
#undef X
    };
    return shapes[i];
}
