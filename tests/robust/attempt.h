/* One text through everything that tmetal does with it. */
#ifndef TESTS_ROBUST_ATTEMPT_H
#define TESTS_ROBUST_ATTEMPT_H

#include <stddef.h>
#include <stdint.h>

typedef struct outcomes {
    unsigned long parsed, compiled, refused;
} outcomes;

/* NULL when all promises held, else what did not; `choice` picks options. Crashes are for the caller. */
const char *attempt(const char *text, size_t len, uint64_t choice, outcomes *sum);

#endif
