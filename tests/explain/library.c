/* tmetal.h, compiled as C, for the programs of this folder. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"
