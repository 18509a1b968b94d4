/* As much as launch code in C uses. */
#ifndef TESTS_STDIO_H
#define TESTS_STDIO_H
#include <stddef.h>
typedef struct FILE FILE;
extern FILE *stderr;
int fprintf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int fputs(const char *text, FILE *file);
int snprintf(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
#endif
