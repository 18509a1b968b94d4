/* The one file of C in a Swift program: tmetal's functions. */
#define TMETAL_IMPLEMENTATION
#include "CTmetal.h"
