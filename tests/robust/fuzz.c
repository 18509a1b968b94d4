/* Feed tmetal with mutated Triton IR: no crash, no hang, no broken promise; every refusal with code,
 * place and reason. Attempts are numbered: the same number and the same files give the same text.
 *
 *     fuzz [--from N] [--count N] [--seconds N] [--limit SECONDS] [--longest BYTES] FILE-OR-DIRECTORY...
 *     fuzz --show N FILE-OR-DIRECTORY...      print the text of an attempt
 *     fuzz --try FILE                         one text as it is; its first line may say "// TMnnn": what it must give
 *
 * Built for a sanitizer, findings of that count too. Attempts run in a child: the number of one that
 * crashes or takes too long is named, and the run goes on behind it. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "../../tmetal.h"
#include "attempt.h"
#include "mutate.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the child tells the parent, in shared memory. */
typedef struct shared {
    volatile uint64_t now;    /* the attempt that runs */
    volatile int      finding; /* it broke a promise */
    outcomes          sum;
    volatile unsigned long done;
} shared;

typedef struct options {
    uint64_t from, count;
    double   seconds;
    unsigned limit; /* seconds of processor time an attempt may take */
    size_t   longest;
} options;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void pool_fill(pool *p, names *files, size_t longest) {
    size_t i;
    p->seed = (text *)take_memory(files->n * sizeof *p->seed);
    p->n_seed = 0;
    p->longest = longest;
    for (i = 0; i < files->n; i++) {
        text t;
        t.p = read_file(files->name[i], &t.n);
        if (t.n && t.n <= longest) p->seed[p->n_seed++] = t;
        else free(t.p);
    }
    if (!p->n_seed) {
        fputs("fuzz: no files to start from\n", stderr);
        exit(2);
    }
}

static void pool_free(pool *p) {
    size_t i;
    for (i = 0; i < p->n_seed; i++) free(p->seed[i].p);
    free(p->seed);
}

static text text_number(const pool *p, uint64_t number, dice *d) {
    dice_seed(d, number);
    return mutate(p, d);
}

static void limit_time(unsigned seconds) {
    struct itimerval t;
    memset(&t, 0, sizeof t);
    t.it_value.tv_sec = (time_t)seconds;
    setitimer(ITIMER_VIRTUAL, &t, NULL); /* SIGVTALRM ends the child */
}

static void child(const pool *p, shared *s, const options *o, uint64_t from, double end) {
    uint64_t k;
    for (k = from; k < o->from + o->count && now() < end; k++) {
        dice        d;
        text        t = text_number(p, k, &d);
        const char *bad;
        s->now = k;
        limit_time(o->limit);
        bad = attempt(t.p, t.n, dice_next(&d), &s->sum);
        if (bad) {
            printf("attempt %llu: %s\n", (unsigned long long)k, bad);
            fflush(stdout);
            s->finding++;
        }
        s->done++;
        free(t.p);
    }
    s->now = k;
    limit_time(0);
}

/* Run until all is done; gives the number of findings. */
static unsigned run(const pool *p, const options *o) {
    shared  *s = (shared *)mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned crashes = 0;
    uint64_t next = o->from;
    double   start = now(), end = o->seconds > 0 ? start + o->seconds : start + 1e9;
    if (s == MAP_FAILED) exit(2);
    while (next < o->from + o->count && now() < end && crashes < 200) {
        int   status;
        pid_t pid;
        fflush(stdout);
        pid = fork();
        if (pid < 0) exit(2);
        if (pid == 0) {
            child(p, s, o, next, end);
            _exit(0);
        }
        waitpid(pid, &status, 0);
        next = s->now;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM) printf("attempt %llu: takes longer than %u s\n", (unsigned long long)next, o->limit);
        else if (WIFSIGNALED(status)) printf("attempt %llu: signal %d\n", (unsigned long long)next, WTERMSIG(status));
        else printf("attempt %llu: a sanitizer ended it\n", (unsigned long long)next);
        crashes++;
        next++;
    }
    printf("fuzz: attempts %llu to %llu in %.0f s: %lu read, %lu compiled, %lu refused; %u findings\n", (unsigned long long)o->from,
           (unsigned long long)next - 1, now() - start, s->sum.parsed, s->sum.compiled, s->sum.refused, crashes + (unsigned)s->finding);
    return crashes + (unsigned)s->finding;
}

static int code_of(const char *text, size_t len) {
    size_t        bytes = tmetal_arena_bound(len);
    void         *memory = take_memory(bytes);
    tmetal_arena  arena = tmetal_arena_on(memory, bytes);
    tmetal_result r;
    int           code = (int)tmetal_compile(text, len, NULL, &arena, &r);
    free(memory);
    return code;
}

static int try_file(const char *path) {
    int         got;
    size_t      len;
    char       *t = read_file(path, &len);
    outcomes    sum;
    const char *bad;
    uint64_t    choice;
    memset(&sum, 0, sizeof sum);
    for (choice = 0; choice < 4; choice++) { /* with and without a few of the options */
        bad = attempt(t, len, choice == 0 ? 0x20000 : choice * 0x10101u, &sum);
        if (bad) printf("%s: %s\n", path, bad);
        if (bad) break;
    }
    if (!bad && strncmp(t, "// TM", 5) == 0 && (got = code_of(t, len)) != atoi(t + 5)) {
        printf("%s: gives TM%03d\n", path, got);
        bad = "";
    }
    free(t);
    return bad != NULL;
}

int main(int argc, char **argv) {
    options  o = {1, 1000000000u, 0, 10, 24000};
    names    files;
    pool     p;
    int      i;
    uint64_t show = 0;
    memset(&files, 0, sizeof files);
    for (i = 1; i < argc; i++) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
        if (a[0] != '-') {
            names_find(&files, a, ".ttir");
            continue;
        }
        if (!v) break;
        i++;
        if (strcmp(a, "--from") == 0) o.from = strtoull(v, NULL, 10);
        else if (strcmp(a, "--count") == 0) o.count = strtoull(v, NULL, 10);
        else if (strcmp(a, "--seconds") == 0) o.seconds = atof(v);
        else if (strcmp(a, "--limit") == 0) o.limit = (unsigned)atoi(v);
        else if (strcmp(a, "--longest") == 0) o.longest = (size_t)atol(v);
        else if (strcmp(a, "--show") == 0) show = strtoull(v, NULL, 10);
        else if (strcmp(a, "--try") == 0) return try_file(v);
        else break;
    }
    if (i < argc || !files.n) {
        fputs("usage: fuzz [--from N] [--count N] [--seconds N] [--limit SECONDS] [--longest BYTES] [--show N] FILE-OR-DIRECTORY...\n"
              "       fuzz --try FILE\n",
              stderr);
        return 2;
    }
    names_sort(&files);
    pool_fill(&p, &files, o.longest);
    if (show) {
        dice d;
        text t = text_number(&p, show, &d);
        fwrite(t.p, 1, t.n, stdout);
        free(t.p);
        pool_free(&p);
        names_free(&files);
        return 0;
    }
    i = run(&p, &o) ? 1 : 0;
    pool_free(&p);
    names_free(&files);
    return i;
}
