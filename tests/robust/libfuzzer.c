/* The entry that libFuzzer wants (clang -fsanitize=fuzzer): a broken promise is a crash. */
#include "attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    outcomes    sum;
    const char *bad;
    memset(&sum, 0, sizeof sum);
    bad = attempt((const char *)data, size, size, &sum);
    if (bad) {
        fprintf(stderr, "%s\n", bad);
        abort();
    }
    return 0;
}
