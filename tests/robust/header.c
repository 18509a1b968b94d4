/* The implementation alone in one unit, as a user would build it. */
#define TMETAL_IMPLEMENTATION
#include "../../tmetal.h"
