/* What Swift sees of tmetal, by way of module.modulemap; in an app's bridging header the same two lines do. */
#define TMETAL_METAL
#include "tmetal.h"
