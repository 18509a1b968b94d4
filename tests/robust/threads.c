/* Threads that compile at once: threads N FILE...
 *
 * N threads take the files in orders of their own, each into its own arena, in every mode of outcome.h in turn; what one gives
 * must be what the first thread gave alone. Built with -fsanitize=thread, which also sees a write that does no harm today. */
#include "outcome.h"
#include "text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    char   **text;
    size_t  *len;
    uint64_t *alone;
    int      files, modes;
} all;

static uint64_t hash_of(int file, int mode) {
    size_t  bytes = 1024 * all.len[file] + ((size_t)4 << 20);
    char   *space;
    outcome o;
    for (space = (char *)take_memory(bytes); (o = outcome_of(all.text[file], all.len[file], mode, space, bytes, 0)).code == TMETAL_E_ARENA && bytes >> 28 == 0;) {
        free(space);
        space = (char *)take_memory(bytes *= 4);
    }
    free(space);
    return o.hash;
}

static void *work(void *p) {
    const int own = (int)(size_t)p;
    int       i, k, bad = 0;
    for (i = 0; i < all.files; i++) {
        k = (i * 7 + own * 13) % all.files; /* no multiple of 7 files: main sees to it */
        if (hash_of(k, k % all.modes) != all.alone[k]) bad++;
    }
    return (void *)(size_t)bad;
}

int main(int argc, char **argv) {
    int        n = argc > 2 ? atoi(argv[1]) : 0, i;
    size_t     bad = 0;
    pthread_t *thread;
    if (n < 2) return fputs("usage: threads N FILE...\n", stderr), 2;
    while (outcome_mode(all.modes)) all.modes++;
    all.files = argc - 2;
    while (all.files % 7 == 0) all.files--; /* so that steps of 7 reach all */
    all.text = (char **)take_memory(sizeof *all.text * (size_t)all.files);
    all.len = (size_t *)take_memory(sizeof *all.len * (size_t)all.files);
    all.alone = (uint64_t *)take_memory(sizeof *all.alone * (size_t)all.files);
    thread = (pthread_t *)take_memory(sizeof *thread * (size_t)n);
    for (i = 0; i < all.files; i++) all.text[i] = read_file(argv[i + 2], &all.len[i]);
    for (i = 0; i < all.files; i++) all.alone[i] = hash_of(i, i % all.modes);
    for (i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)(size_t)i) != 0) return fputs("threads: cannot start one\n", stderr), 2;
    for (i = 0; i < n; i++) {
        void *came;
        pthread_join(thread[i], &came);
        bad += (size_t)came;
    }
    printf("threads: %d threads, %d files each, %lu results differ\n", n, all.files, (unsigned long)bad);
    return bad != 0;
}
