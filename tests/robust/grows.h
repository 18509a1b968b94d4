/* Does work take more time than its length explains? Processor time, and no bar in seconds alone: a machine may be slow, and busy. */
#ifndef GROWS_H
#define GROWS_H

#include <stddef.h>

/* Seconds of the processor that work of this size takes. */
typedef double (*grows_timed)(void *of, size_t size);

/* 1: work of `size`, which took `seconds`, takes over `fine`, and each of three times over eight times as long as a
 * quarter of it: what is linear takes four times as long, what is quadratic sixteen times. */
static int grows(grows_timed timed, void *of, size_t size, double seconds, double fine) {
    int i;
    for (i = 0; i < 3; i++) {
        if (i) seconds = timed(of, size);
        if (seconds <= fine || seconds <= 8 * timed(of, size / 4)) return 0;
    }
    return 1;
}

#endif
