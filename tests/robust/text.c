#define _XOPEN_SOURCE 700
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void *take_memory(size_t bytes) {
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        fprintf(stderr, "out of memory: %lu bytes\n", (unsigned long)bytes);
        exit(2);
    }
    return p;
}

static void names_add(names *to, const char *name) {
    if (to->n == to->cap) {
        char **more;
        to->cap = to->cap ? to->cap * 2 : 64;
        more = (char **)take_memory(to->cap * sizeof *more);
        if (to->n) memcpy(more, to->name, to->n * sizeof *more);
        free(to->name);
        to->name = more;
    }
    to->name[to->n] = (char *)take_memory(strlen(name) + 1);
    strcpy(to->name[to->n++], name);
}

void names_find(names *to, const char *path, const char *suffix) {
    struct stat    s;
    DIR           *d;
    struct dirent *e;
    size_t         len = strlen(path), end = strlen(suffix);
    if (stat(path, &s) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    if (!S_ISDIR(s.st_mode)) {
        if (len >= end && strcmp(path + len - end, suffix) == 0) names_add(to, path);
        return;
    }
    d = opendir(path);
    if (!d) return;
    while ((e = readdir(d)) != NULL) {
        char *below;
        if (e->d_name[0] == '.') continue;
        below = (char *)take_memory(len + strlen(e->d_name) + 2);
        sprintf(below, "%s/%s", path, e->d_name);
        names_find(to, below, suffix);
        free(below);
    }
    closedir(d);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(names *to) {
    if (to->n) qsort(to->name, to->n, sizeof *to->name, by_name);
}

void names_free(names *to) {
    size_t i;
    for (i = 0; i < to->n; i++) free(to->name[i]);
    free(to->name);
    memset(to, 0, sizeof *to);
}

char *read_file(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    long  n;
    char *text;
    if (!f || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    rewind(f);
    text = (char *)take_memory((size_t)n + 1);
    *len = fread(text, 1, (size_t)n, f);
    text[*len] = '\0';
    fclose(f);
    return text;
}

void dice_seed(dice *d, uint64_t seed) {
    d->state = seed * 0x9E3779B97F4A7C15u + 0x2545F4914F6CDD1Du;
    if (!d->state) d->state = 1;
}

uint64_t dice_next(dice *d) {
    d->state ^= d->state >> 12;
    d->state ^= d->state << 25;
    d->state ^= d->state >> 27;
    return d->state * 0x2545F4914F6CDD1Du;
}

uint32_t dice_below(dice *d, uint32_t n) {
    return n ? (uint32_t)((dice_next(d) >> 32) % n) : 0;
}
