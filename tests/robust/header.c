/* The implementation alone in one unit, as a user would build it who reads Python and tunes. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_TRITON
#define TMETAL_TUNE
#include "../../tmetal.h"
