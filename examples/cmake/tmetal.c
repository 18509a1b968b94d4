/* The one file of this project that holds tmetal's functions. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"
