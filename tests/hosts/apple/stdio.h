/* As much as launch code in C uses. */
#ifndef TESTS_STDIO_H
#define TESTS_STDIO_H
#include <stddef.h>
int snprintf(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
#endif
