/* The cache on disk: what is found is what was stored, whatever happens to the files, the machine and the processes.
 *     store DIR FILE-OR-DIRECTORY...        all but the kills
 *     store --kills N DIR FILE...           N rounds of two processes that are killed at random moments */
#define _DEFAULT_SOURCE /* fork, kill, usleep */
#define TMETAL_IMPLEMENTATION
#define TMETAL_CACHE
#include "../../tmetal.h"

#include "../robust/text.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

static int bad;
#define CHECK(cond) ((cond) ? (void)0 : (void)(bad = 1, fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond)))

#define ROOM ((size_t)64 << 20)
static tmetal_arena room(void) { return tmetal_arena_on(take_memory(ROOM), ROOM); }

/* All that is kept of a result, as the cache writes it. */
typedef struct blob { const char *bytes; size_t n; const tmetal_result *r; } blob;
static void blob_step(tmi_job *job, tmi_call *call) {
    blob *b = (blob *)(void *)call->told; /* a pointer that this step may use as it likes */
    b->bytes = tmi_cache_bytes(job, b->r, &b->n);
}
static blob blob_of(const tmetal_result *r, tmetal_arena *arena) {
    blob          b = {NULL, 0, r};
    tmi_call      c = tmi_entry_call(NULL, 0);
    tmetal_result said;
    c.told = (const tmetal_transformation *)(void *)&b;
    CHECK(tmi_entry_run(blob_step, &c, arena, NULL, &said) == TMETAL_OK);
    return b;
}
static int same_blob(blob a, blob b) { return a.n == b.n && memcmp(a.bytes, b.bytes, a.n) == 0; }

static int same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static int same_result(const tmetal_result *a, const tmetal_result *b, tmetal_arena *arena) {
    size_t   used = arena->used;
    uint32_t i;
    int      same = same_blob(blob_of(a, arena), blob_of(b, arena)) && same_text(a->msl, b->msl) && a->n_kernels == b->n_kernels &&
        same_text(tmetal_plan_json(a, arena), tmetal_plan_json(b, arena)) && a->n_remarks == b->n_remarks && !a->graph == !b->graph;
    for (i = 0; same && i < a->n_kernels; i++)
        same = same_text(a->kernels[i].msl, b->kernels[i].msl) && a->kernels[i].n_sites == b->kernels[i].n_sites && !b->kernels[i].n_layouts &&
            !b->kernels[i].n_accesses && !b->kernels[i].n_patterns && !a->kernels[i].n_reduce_plans && !a->kernels[i].mlx == !b->kernels[i].mlx &&
            (!a->kernels[i].mlx || same_text(tmetal_mlx_json(&a->kernels[i], arena), tmetal_mlx_json(&b->kernels[i], arena)));
    for (i = 0; same && i < a->n_remarks; i++) same = same_text(a->remarks[i].text, b->remarks[i].text);
    arena->used = used;
    return same;
}

static char *entry_path(const tmetal_cache *c, const char *key, const char *end) {
    size_t n = strlen(c->dir) + 100;
    char  *path = (char *)take_memory(n);
    snprintf(path, n, "%s/%s.%s", c->dir, key, end);
    return path;
}

static void write_file(const char *path, const void *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        fprintf(stderr, "store: %s cannot be written\n", path);
        exit(2);
    }
}

/* -- Every file, by several options ------------------------------------------------------------------------- */

static void check_files(const tmetal_cache *cache, const names *files) {
    tmetal_arena   arena = room();
    tmetal_options opt[3];
    uint32_t       n = 0, lists = 0, mlx = 0, way;
    size_t         k;
    memset(opt, 0, sizeof opt);
    opt[1].mlx = 1;
    opt[2].plain = 1;
    for (k = 0; k < files->n; k++)
        for (way = 0; way < 3; way++) {
            size_t         len, used;
            char          *text = read_file(files->name[k], &len);
            tmetal_result  first, second, again;
            tmetal_problem p;
            int            found = 9;
            tmetal_code    code;
            arena.used = 0;
            opt[way].file = files->name[k]; /* some stand there twice */
            code = tmetal_cache_compile(cache, text, len, &opt[way], &arena, &first, &found, &p);
            CHECK(found == 0 && p.code == TMETAL_OK && !*p.text && arena.need == 0);
            used = arena.used;
            CHECK(tmetal_cache_compile(cache, text, len, &opt[way], &arena, &second, &found, NULL) == code);
            CHECK(found == (code == TMETAL_OK));
            if (code == TMETAL_OK) {
                if (!same_result(&first, &second, &arena)) fprintf(stderr, "store: %s\n", files->name[k]), bad = 1;
                n++, lists += first.graph != NULL, mlx += way == 1;
                /* with reports it compiles, and is not taken for this one */
                arena.used = used;
                opt[way].reports = 1;
                CHECK(tmetal_cache_compile(cache, text, len, &opt[way], &arena, &again, &found, &p) == TMETAL_OK && !found && p.code == TMETAL_OK);
                CHECK(again.reports && tmetal_explain_json(&again, &arena));
                opt[way].reports = 0;
            }
            free(text);
        }
    printf("store: %u results found again, %u of them of lists, %u for MLX\n", n, lists, mlx);
    CHECK(n > 100 && lists > 0 && mlx > 20);
    free(arena.base);
}

/* -- Damage ----------------------------------------------------------------------------------------------------- */

static const char list[] = "tt.sum:[64,64]:1\n";
static char       key[TMETAL_KEY_BYTES];

static void compile_list(const char *text, tmetal_arena *arena, tmetal_result *r) {
    CHECK(tmetal_compile_ops(text, strlen(text), NULL, arena, r) == TMETAL_OK);
}

static void misses(const tmetal_cache *cache, tmetal_arena *arena) {
    tmetal_result r;
    size_t        used = arena->used;
    CHECK(!tmetal_cache_find(cache, key, arena, &r) && arena->used == used && !r.n_kernels);
}

static void seal(unsigned char *file, size_t n) { /* the right sum for what it holds */
    tmi_sha sha;
    tmi_base_sha_begin(&sha);
    tmi_base_sha_add(&sha, file, TMI_CACHE_SUM);
    tmi_base_sha_add(&sha, file + TMI_CACHE_HEAD, n - TMI_CACHE_HEAD);
    tmi_base_sha_end(&sha, file + TMI_CACHE_SUM);
}

static void check_damage(const tmetal_cache *cache) {
    tmetal_arena   arena = room(), part;
    tmetal_result  r, found;
    tmetal_problem p;
    char          *path, *file, *other, other_key[TMETAL_KEY_BYTES];
    size_t         n, i;
    uint32_t       hits = 0;
    dice           d;
    tmetal_key(list, strlen(list), NULL, key);
    path = entry_path(cache, key, "tmetal");
    compile_list(list, &arena, &r);
    CHECK(tmetal_cache_store(cache, key, &r, &arena, &p) == TMETAL_OK);
    file = read_file(path, &n);
    for (i = 0; i < n; i++) { /* one byte */
        file[i] = (char)(file[i] ^ (1 << i % 8));
        write_file(path, file, n);
        misses(cache, &arena);
        file[i] = (char)(file[i] ^ (1 << i % 8));
    }
    for (i = 0; i < n; i++) { /* cut short */
        write_file(path, file, i);
        misses(cache, &arena);
    }
    printf("store: %lu flips and %lu lengths of an entry, each a miss\n", (unsigned long)n, (unsigned long)n);
    other = (char *)take_memory(n + 1);
    memcpy(other, file, n);
    other[n] = 0;
    write_file(path, other, n + 1); /* one byte more */
    misses(cache, &arena);
    write_file(path, file, n);
    CHECK(tmetal_cache_find(cache, key, &arena, &found) && same_result(&r, &found, &arena));
    /* older and newer versions, another kind: all else is right, the sum too */
    for (i = 8; i < 16; i++) {
        memcpy(other, file, n);
        other[i]++;
        seal((unsigned char *)other, n);
        write_file(path, other, n);
        misses(cache, &arena);
    }
    /* another key's entry under this name */
    tmetal_key(list, strlen(list) - 1, NULL, other_key);
    free(path);
    path = entry_path(cache, other_key, "tmetal");
    CHECK(tmetal_cache_store(cache, other_key, &r, &arena, &p) == TMETAL_OK);
    free(other);
    other = read_file(path, &i);
    free(path);
    path = entry_path(cache, key, "tmetal");
    write_file(path, other, i);
    misses(cache, &arena);
    /* a sum that is right over bytes that are not: whatever is made of them, nothing outside of them is read */
    free(other);
    other = (char *)take_memory(n);
    dice_seed(&d, 7);
    for (i = 0; i < 4000; i++) {
        size_t used = arena.used, k = n - (dice_below(&d, 3) ? 0 : dice_below(&d, (uint32_t)(n - TMI_CACHE_HEAD)));
        uint32_t times = 1 + dice_below(&d, 4);
        memcpy(other, file, n);
        while (times--) other[TMI_CACHE_HEAD + dice_below(&d, (uint32_t)(n - TMI_CACHE_HEAD))] = (char)dice_next(&d);
        for (times = 0; times < 8; times++) other[16 + times] = (char)((k - TMI_CACHE_HEAD) >> (8 * times));
        seal((unsigned char *)other, k);
        write_file(path, other, k);
        hits += (uint32_t)tmetal_cache_find(cache, key, &arena, &found);
        arena.used = used;
    }
    printf("store: 4000 forged entries read without a fault, %u taken\n", hits);
    /* a larger file of other things is no entry either, and does not ask for room */
    free(other);
    other = (char *)take_memory(1 << 20);
    memset(other, 'x', 1 << 20);
    write_file(path, other, 1 << 20);
    part = tmetal_arena_on((char *)arena.base + arena.used, 4096);
    CHECK(!tmetal_cache_find(cache, key, &part, &found) && !part.need && !part.used);
    /* and it heals */
    CHECK(tmetal_cache_store(cache, key, &r, &arena, &p) == TMETAL_OK);
    CHECK(tmetal_cache_find(cache, key, &arena, &found) && same_result(&r, &found, &arena));
    free(path), free(file), free(other), free(arena.base);
}

/* -- What cannot be done, and arenas of every size ------------------------------------------------------------ */

static void refused(const tmetal_cache *cache, const char *k, const tmetal_result *r, tmetal_arena *arena, tmetal_code code, const char *says) {
    tmetal_problem p;
    size_t         used = arena ? arena->used : 0;
    CHECK(tmetal_cache_store(cache, k, r, arena, &p) == code && p.code == code);
    if (!strstr(p.text, says)) fprintf(stderr, "store: '%s' does not say '%s'\n", p.text, says), bad = 1;
    CHECK(tmetal_cache_store(cache, k, r, arena, NULL) == code);
    CHECK(!arena || arena->used == used);
}

static int count_ending(const char *dir, const char *end) {
    DIR           *d = opendir(dir);
    struct dirent *e;
    int            n = 0;
    while (d && (e = readdir(d)) != NULL) n += strlen(e->d_name) > strlen(end) && strcmp(e->d_name + strlen(e->d_name) - strlen(end), end) == 0;
    if (d) closedir(d);
    return n;
}

static int  looks;
static void look_on(void *user, const char *pass, const char *text) { (void)user, (void)pass, (void)text, looks++; }

/* A folder where an entry should stand: it is not read, nor replaced, and nothing else is left. */
static void in_the_way(const tmetal_cache *base, const tmetal_result *r, tmetal_arena *arena) {
    tmetal_cache cache = *base;
    tmetal_arena part;
    size_t       cap, full = 0;
    char        *dir = entry_path(base, "way", "d"), *path;
    cache.dir = dir;
    CHECK(mkdir(dir, 0777) == 0);
    path = entry_path(&cache, key, "tmetal");
    CHECK(mkdir(path, 0777) == 0);
    misses(&cache, arena);
    CHECK(!arena->need); /* though some systems give such a file more bytes than there are */
    refused(&cache, key, r, arena, TMETAL_E_CACHE, "the cache cannot write");
    for (cap = 0; cap < (1 << 16); cap += 16) { /* where there is no room for the error either */
        part = tmetal_arena_on((char *)arena->base + arena->used, cap);
        full += tmetal_cache_store(&cache, key, r, &part, NULL) == TMETAL_E_ARENA;
    }
    CHECK(full > 10 && full < 4096);
    CHECK(count_ending(dir, ".tmp") == 0 && rmdir(path) == 0 && rmdir(dir) == 0);
    free(path), free(dir);
}

/* A folder whose name is not printed as it is: what is stored there is found there. */
static void odd_folder(const tmetal_cache *base, const tmetal_result *r, tmetal_arena *arena) {
    static const char *const names[] = {"right\xe2\x80\x8f", "no\xff", "a\tb"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        tmetal_cache   cache = *base;
        tmetal_result  found;
        tmetal_problem p;
        char          *dir = entry_path(base, names[i], "d"), *path;
        cache.dir = dir;
        CHECK(mkdir(dir, 0777) == 0);
        CHECK(tmetal_cache_store(&cache, key, r, arena, &p) == TMETAL_OK);
        CHECK(tmetal_cache_find(&cache, key, arena, &found) && same_result(r, &found, arena));
        path = entry_path(&cache, key, "tmetal");
        CHECK(remove(path) == 0 && rmdir(dir) == 0);
        free(path), free(dir);
    }
}

static void check_refusals(const tmetal_cache *cache) {
    tmetal_arena   arena = room(), tiny = tmetal_arena_on(take_memory(64), 64), part, wide;
    tmetal_result  r, found;
    tmetal_options reports;
    tmetal_problem p;
    tmetal_cache   none = *cache;
    struct rlimit  limit, small;
    char          *dir = entry_path(cache, key, "tmetal");
    char           longer[TMETAL_KEY_BYTES + 1], longer_list[1024];
    int            is_found, i;
    size_t         cap;
    memset(&reports, 0, sizeof reports);
    compile_list(list, &arena, &r);
    CHECK(tmetal_cache_store(cache, key, &r, &arena, NULL) == TMETAL_OK);
    none.dir = dir; /* a file */
    refused(&none, key, &r, &arena, TMETAL_E_CACHE, "the cache cannot write");
    refused(&none, key, &r, &arena, TMETAL_E_CACHE, "Not a directory");
    misses(&none, &arena);
    none.dir = "/nowhere/at/all";
    refused(&none, key, &r, &arena, TMETAL_E_CACHE, "No such file or directory");
    CHECK(tmetal_cache_compile(&none, list, strlen(list), NULL, &arena, &found, &is_found, &p) == TMETAL_OK && !is_found);
    CHECK(found.n_kernels && p.code == TMETAL_E_CACHE && *p.text);
    none.dir = "/proc"; /* where nobody may write */
    refused(&none, key, &r, &arena, TMETAL_E_CACHE, "the cache cannot write");
    none.dir = "";
    refused(&none, key, &r, &arena, TMETAL_E_MISUSE, "wants a folder");
    CHECK(tmetal_cache_trim(&none, &arena, &p) == TMETAL_E_MISUSE);
    misses(&none, &arena);
    refused(NULL, key, &r, &arena, TMETAL_E_MISUSE, "wants a folder");
    refused(cache, "../key", &r, &arena, TMETAL_E_MISUSE, "a key of tmetal_key");
    refused(cache, NULL, &r, &arena, TMETAL_E_MISUSE, "a key of tmetal_key");
    refused(cache, key, &r, NULL, TMETAL_E_MISUSE, "no arena");
    refused(cache, key, &r, &tiny, TMETAL_E_ARENA, "arena is full");
    CHECK(!tmetal_cache_find(cache, "../key", &arena, &found) && !tmetal_cache_find(cache, key, NULL, &found));
    snprintf(longer, sizeof longer, "%s/", key);
    refused(cache, longer, &r, &arena, TMETAL_E_MISUSE, "a key of tmetal_key");
    CHECK(!tmetal_cache_find(cache, longer, &arena, &found));
    none.dir = "/nowhere/at/all";
    CHECK(tmetal_cache_trim(&none, &arena, &p) == TMETAL_OK); /* nothing is there to go */
    CHECK(tmetal_cache_compile(cache, NULL, 5, NULL, &arena, &found, &is_found, &p) == TMETAL_E_MISUSE && !is_found);
    reports.trace = look_on; /* who looks on wants it compiled */
    for (i = 0; i < 2; i++) {
        looks = 0;
        CHECK(tmetal_cache_compile(cache, list, strlen(list), &reports, &arena, &found, &is_found, &p) == TMETAL_OK && !is_found && looks);
    }
    reports.trace = NULL;
    reports.reports = 1;
    CHECK(tmetal_compile_ops(list, strlen(list), &reports, &arena, &found) == TMETAL_OK);
    refused(cache, key, &found, &arena, TMETAL_E_MISUSE, "without reports");
    (void)tmetal_compile("no", 2, NULL, &arena, &found);
    refused(cache, key, &found, &arena, TMETAL_E_MISUSE, "with their Metal");
    /* a disk that is full: the system takes 100 bytes of each file and no more */
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &small);
    tmetal_cache_store(cache, key, &r, &arena, &p);
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(p.code == TMETAL_E_CACHE && strstr(p.text, "the cache cannot write"));
    CHECK(count_ending(cache->dir, ".tmp") == 0);
    CHECK(tmetal_cache_find(cache, key, &arena, &found) && same_result(&r, &found, &arena)); /* the old one is untouched */
    for (i = 8, longer_list[0] = '\0'; i < 40; i++) snprintf(longer_list + strlen(longer_list), 32, "tt.sum:[64,%d]:1\n", 8 * i);
    compile_list(longer_list, &arena, &found); /* more than waits in a buffer */
    setrlimit(RLIMIT_FSIZE, &small);
    tmetal_cache_store(cache, key, &found, &arena, &p);
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(p.code == TMETAL_E_CACHE && strstr(p.text, "the cache cannot write") && count_ending(cache->dir, ".tmp") == 0);
    CHECK(tmetal_cache_find(cache, key, &arena, &found) && same_result(&r, &found, &arena));
    in_the_way(cache, &r, &arena);
    odd_folder(cache, &r, &arena);
    /* arenas of every size: a miss that says what it lacks, then the same */
    for (cap = 0;; cap++) {
        part = tmetal_arena_on((char *)arena.base + arena.used + 4096 + cap % 7, cap);
        if (tmetal_cache_find(cache, key, &part, &found)) break;
        CHECK(part.need > cap && part.used == 0);
    }
    wide = room();
    CHECK(same_result(&r, &found, &wide));
    printf("store: what cannot be stored says why; found in %lu bytes of arena\n", (unsigned long)cap);
    free(dir), free(tiny.base), free(wide.base), free(arena.base);
}

/* -- The limit ------------------------------------------------------------------------------------------------------ */

static void number_key(char *to, uint64_t a, uint64_t b) {
    char text[64];
    snprintf(text, sizeof text, "%llu %llu", (unsigned long long)a, (unsigned long long)b);
    tmetal_key(text, strlen(text), NULL, to);
}

static long size_of(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 ? (long)s.st_size : -1;
}

static void age(const char *path, long seconds) { /* last used so long ago */
    struct utimbuf t;
    t.actime = t.modtime = time(NULL) - seconds;
    if (utime(path, &t) != 0) bad = 1;
}

#define ENTRIES 64
static void check_limit(const tmetal_cache *base) {
    tmetal_arena   arena = room();
    tmetal_cache   cache = *base;
    tmetal_result  r, found;
    tmetal_problem p;
    char           keys[ENTRIES][TMETAL_KEY_BYTES], *path, *strange, *fresh, *stale, *dir = entry_path(base, "limit", "d");
    long           one = 0, sum = 0, gone = 0;
    int            i, last = -1;
    cache.dir = dir;
    compile_list(list, &arena, &r);
    for (i = 0; i < ENTRIES; i++) {
        number_key(keys[i], 1, (uint64_t)i);
        CHECK(tmetal_cache_store(&cache, keys[i], &r, &arena, NULL) == TMETAL_OK);
        path = entry_path(&cache, keys[i], "tmetal");
        one = size_of(path);
        age(path, 100000 - 1000 * i);
        free(path);
    }
    strange = entry_path(&cache, "notes", "txt"), stale = entry_path(&cache, keys[0], "tmp"), fresh = entry_path(&cache, keys[1], "tmp");
    write_file(strange, list, 9), write_file(stale, list, 9), write_file(fresh, list, 9);
    age(strange, 1000000), age(stale, 4000);
    CHECK(tmetal_cache_find(&cache, keys[0], &arena, &found)); /* the oldest is used, and stays */
    cache.max_bytes = (uint64_t)one * ENTRIES;
    CHECK(tmetal_cache_trim(&cache, &arena, &p) == TMETAL_OK && p.code == TMETAL_OK); /* at the limit: all stay */
    for (i = 0; i < ENTRIES; i++) CHECK(tmetal_cache_find(&cache, keys[i], &arena, &found));
    for (i = 1; i < ENTRIES; i++) path = entry_path(&cache, keys[i], "tmetal"), age(path, 100000 - 1000 * i), free(path);
    cache.max_bytes = (uint64_t)one * 32;
    CHECK(tmetal_cache_trim(&cache, &arena, &p) == TMETAL_OK);
    for (i = 0; i < ENTRIES; i++) {
        path = entry_path(&cache, keys[i], "tmetal");
        if (size_of(path) >= 0) sum += one;
        else gone++, last = i;
        free(path);
    }
    CHECK(sum <= 24 * one && sum >= 23 * one);
    CHECK(size_of(strange) == 9 && size_of(stale) < 0 && size_of(fresh) == 9);
    CHECK(tmetal_cache_find(&cache, keys[0], &arena, &found));
    CHECK(last == (int)gone && gone >= ENTRIES - 24); /* entries 1 to `gone`, the oldest */
    /* storing alone keeps to the limit, to a sixteenth or so */
    for (i = 0; i < 400; i++) {
        char k[TMETAL_KEY_BYTES];
        number_key(k, 2, (uint64_t)i);
        CHECK(tmetal_cache_store(&cache, k, &r, &arena, NULL) == TMETAL_OK);
    }
    for (i = 0, sum = 0; i < 400; i++) {
        char k[TMETAL_KEY_BYTES];
        number_key(k, 2, (uint64_t)i);
        path = entry_path(&cache, k, "tmetal");
        sum += size_of(path) >= 0 ? one : 0;
        free(path);
    }
    CHECK(sum <= 32 * one + 100 * one && sum >= one);
    /* where all that is too much is the oldest, it alone goes, and no file whose name ends otherwise */
    cache.max_bytes = 3500;
    for (i = 0; i < 400; i++) {
        char k[TMETAL_KEY_BYTES];
        number_key(k, 2, (uint64_t)i);
        path = entry_path(&cache, k, "tmetal"), remove(path), free(path);
    }
    for (i = 0; i < ENTRIES; i++) path = entry_path(&cache, keys[i], "tmetal"), remove(path), free(path);
    for (i = 0; i < 12; i++) {
        static const char zeros[3000];
        number_key(keys[i], 3, (uint64_t)i);
        path = entry_path(&cache, keys[i], i == 11 ? "other" : "tmetal");
        write_file(path, zeros, i ? 100 : 3000), age(path, i ? 10 : 100000), free(path);
    }
    CHECK(tmetal_cache_trim(&cache, &arena, &p) == TMETAL_OK);
    CHECK(count_ending(dir, ".tmetal") == 10 && count_ending(dir, ".other") == 1);
    /* what is a sixteenth of the limit is looked after at once */
    cache.max_bytes = 2 * (uint64_t)one;
    for (i = 0; i < 20; i++) {
        number_key(keys[i], 4, (uint64_t)i);
        CHECK(tmetal_cache_store(&cache, keys[i], &r, &arena, NULL) == TMETAL_OK);
        CHECK(count_ending(dir, ".tmetal") < 12);
    }
    CHECK(count_ending(dir, ".tmetal") <= 2);
    printf("store: over the limit the %ld oldest of %d went, used and foreign files stayed\n", gone, ENTRIES);
    free(strange), free(stale), free(fresh), free(dir), free(arena.base);
}

/* -- Threads and kills ------------------------------------------------------------------------------------------ */

#define MANY 12
static struct { tmetal_arena arena; tmetal_result r; blob b; } many[MANY];

static void prepare(const names *files) {
    uint32_t n = 0;
    size_t   k, len;
    for (k = 0; k < files->n && n < MANY; k++) {
        char *text = read_file(files->name[k], &len);
        if (!many[n].arena.base) many[n].arena = room();
        many[n].arena.used = 0;
        if ((tmetal_is_ops(text, len) ? tmetal_compile_ops(text, len, NULL, &many[n].arena, &many[n].r)
                                      : tmetal_compile(text, len, NULL, &many[n].arena, &many[n].r)) == TMETAL_OK) {
            many[n].b = blob_of(&many[n].r, &many[n].arena);
            n++;
        }
        free(text);
    }
    CHECK(n == MANY);
}

/* One find: 1 found, 0 not; a wrong one ends all. */
static int find_right(const tmetal_cache *cache, const char *k, uint32_t i, tmetal_arena *arena) {
    tmetal_result found;
    arena->used = 0;
    if (!tmetal_cache_find(cache, k, arena, &found)) return 0;
    if (!same_blob(many[i].b, blob_of(&found, arena))) {
        fprintf(stderr, "store: a wrong entry\n");
        _exit(3);
    }
    return 1;
}

static const tmetal_cache *shared;
static void *thread(void *number) {
    tmetal_arena arena = room();
    dice         d;
    int          i;
    dice_seed(&d, 100 + *(int *)number);
    for (i = 0; i < 400; i++) {
        uint32_t which = dice_below(&d, MANY);
        char     k[TMETAL_KEY_BYTES];
        number_key(k, 3, which);
        arena.used = 0;
        if (tmetal_cache_store(shared, k, &many[which].r, &arena, NULL) != TMETAL_OK || !find_right(shared, k, which, &arena)) bad = 1;
    }
    free(arena.base);
    return NULL;
}

static void check_threads(const tmetal_cache *cache) {
    pthread_t t[4];
    int       i, number[4];
    shared = cache;
    for (i = 0; i < 4; i++) number[i] = i, pthread_create(&t[i], NULL, thread, &number[i]);
    for (i = 0; i < 4; i++) pthread_join(t[i], NULL);
    printf("store: 1600 stores of %d entries by 4 threads at once\n", MANY);
}

/* A process that stores and reads for as long as it is let. What is stored it says in the log, one byte each. */
static void child(const tmetal_cache *cache, const char *log, uint64_t round, uint64_t seed) {
    tmetal_arena arena = room();
    FILE        *f = fopen(log, "ab");
    dice         d;
    dice_seed(&d, seed);
    setvbuf(f, NULL, _IONBF, 0);
    for (;;) {
        uint32_t i = dice_below(&d, MANY), at = dice_below(&d, 20);
        char     k[TMETAL_KEY_BYTES];
        number_key(k, 1000 + round * 20 + at, i);
        arena.used = 0;
        if (tmetal_cache_store(cache, k, &many[i].r, &arena, NULL) != TMETAL_OK) _exit(4);
        fputc((int)(at * MANY + i), f); /* after a kill before this line it is stored and not said: no matter */
        i = dice_below(&d, MANY), at = dice_below(&d, 20);
        number_key(k, 1000 + round * 20 + at, i);
        (void)find_right(cache, k, i, &arena);
    }
}

static void check_kills(const tmetal_cache *base, int rounds) {
    tmetal_arena arena = room();
    tmetal_cache cache = *base;
    char        *log = entry_path(base, "kills", "log"), *dir = entry_path(base, "kills", "d"), *said;
    dice         d;
    int          round, c, status;
    uint32_t     stored = 0, unsaid = 0;
    size_t       n, i;
    cache.dir = dir;
    dice_seed(&d, (uint64_t)time(NULL));
    for (round = 0; round < rounds; round++) {
        pid_t pid[2];
        int   tight = round % 4 == 3; /* with removals going on: entries may be gone, but none is wrong */
        cache.max_bytes = tight ? 400000 : (uint64_t)1 << 40;
        (void)remove(log);
        fflush(NULL);
        for (c = 0; c < 2; c++)
            if ((pid[c] = fork()) == 0) child(&cache, log, (uint64_t)round, dice_next(&d) + (uint64_t)c);
        for (i = 0; i < 10000 && size_of(log) < 1; i++) usleep(1000); /* on a busy machine neither may have begun */
        usleep(dice_below(&d, 40000));
        for (c = 0; c < 2; c++) {
            usleep(dice_below(&d, 3000));
            kill(pid[c], SIGKILL);
            waitpid(pid[c], &status, 0);
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
        said = size_of(log) >= 0 ? read_file(log, &n) : (char *)calloc(n = 0, 1);
        for (i = 0; i < 20 * MANY; i++) {
            char k[TMETAL_KEY_BYTES];
            int  is_said = n && memchr(said, (int)i, n) != NULL, is_found;
            number_key(k, 1000 + (uint64_t)round * 20 + i / MANY, i % MANY);
            is_found = find_right(&cache, k, (uint32_t)(i % MANY), &arena);
            stored += (uint32_t)is_said, unsaid += (uint32_t)(is_found && !is_said);
            if (is_said && !is_found && !tight) fprintf(stderr, "store: round %d lost an entry\n", round), bad = 1;
        }
        free(said);
    }
    printf("store: %d kills of two processes: %u entries said to be stored were there and right, %u more were whole\n", rounds, stored, unsaid);
    CHECK(stored >= (uint32_t)rounds);
    free(log), free(dir), free(arena.base);
}

int main(int argc, char **argv) {
    names        files;
    tmetal_cache cache;
    int          i = 1, kills = 0;
    memset(&files, 0, sizeof files);
    memset(&cache, 0, sizeof cache);
    if (argc > 3 && strcmp(argv[1], "--kills") == 0) kills = atoi(argv[2]), i = 3;
    cache.dir = argv[i++];
    for (; i < argc; i++) names_find(&files, argv[i], ".ttir"), names_find(&files, argv[i], ".json");
    names_sort(&files);
    prepare(&files);
    if (kills) check_kills(&cache, kills);
    else {
        check_files(&cache, &files);
        check_damage(&cache);
        check_refusals(&cache);
        check_limit(&cache);
        check_threads(&cache);
    }
    names_free(&files);
    for (i = 0; i < MANY; i++) free(many[i].arena.base);
    return bad;
}
