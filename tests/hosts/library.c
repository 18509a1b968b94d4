/* The header with launch code, once for the programs of this folder. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_LAUNCH_CODE
#include "../../tmetal.h"
