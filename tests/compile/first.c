/* One of three units of a program that each include tmetal.h: this one holds the implementation. The header
 * is included four times over, before and after it. */
#include "tmetal.h"
#include "tmetal.h"
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"
#include "tmetal.h"

const char *first_text(void);
const char *first_text(void) {
    return tmetal_code_text(TMETAL_E_EXPECTED);
}
