/* What the two libraries show of themselves: no type of tmetal.h is among it. */
#ifndef LIBRARIES_H
#define LIBRARIES_H

#include <stddef.h>

/* Library "kernels": how many kernels a text of Triton IR holds; 0 when it does not compile. */
unsigned kernels_count(const char *ttir);

/* Library "graphs": what an op list becomes, as text; 0 when it does not compile, with the reason as text. */
int graphs_describe(const char *ops, char *text, size_t bytes);

#endif
