/* tmetal why: where the time of a kernel goes, and what would be gained. A part of
 * examples/tmetal.c, which includes it.
 *
 * The tuner's model counts the kernel for a launch. Then everything that may help is tried: the IR
 * with a promise more or a mask less, other options, other constants of a .py file, each compiled
 * again and counted again. What helped stands under the cause that it removes. Where the simulator
 * is built and the launch is recorded, it runs the kernel before and after, and its counts are
 * given beside the model's. Nothing here is timed. */

/* -- One version of a kernel, counted ----------------------------------------------------- */

/* Sums over the kernels of a compilation; of the whole launch. */
typedef struct why_counts {
    double   seconds, floor, cost[TMETAL_WASTE_COUNT]; /* by the model; what each waste costs */
    uint64_t moved, groups, lines, fewest, read, written, barriers, conflicts, serial, touched, issue,
        idle, masked;
    unsigned kernels, threads, resident; /* of the first */
    unsigned registers, room;            /* of the one that holds the most */
    unsigned unsure, assumed;
} why_counts;

/* What the simulator counts of a launch. */
typedef struct why_measured {
    uint64_t lines, fewest, bytes, distinct, barriers, cycles, fewest_cycles, atomics;
} why_measured;

/* What was tried. */
typedef struct why_trial {
    unsigned       cause;
    char           edit[240]; /* what to write, in Triton's words */
    char           note[200]; /* when it may be done; "" */
    why_counts     after;
    why_measured   measured;
    int            is_measured;
    char          *ir; /* NULL: that of the kernel as it is */
    tmetal_options opt;
    char           layout[16]; /* that opt points to */
} why_trial;

#define WHY_MOST_TRIALS 64
/* Parts of the time. What takes something away (an option undone, a promise, a mask less) is named
 * however little the model sees in it; other numbers of threads, tiles and the like from a
 * hundredth on, below which it cannot tell. */
#define WHY_LEAST 0.001
#define WHY_TELLS 0.01

typedef struct why {
    const request *r;
    job            j;  /* as it is asked for */
    char          *ir; /* its IR as tmetal_print writes it; NULL: an op list */
    launch_spec    launch;
    char           recorded[1024]; /* the .case; "" */
    why_counts     base;
    why_measured   measured;
    int            is_measured;
    why_trial      trial[WHY_MOST_TRIALS];
    unsigned       n, own;    /* the first `own` have their cause by what they change */
    double         share[16]; /* by cause: what is lost to it, as a part of the time */
    int            best[16];  /* by cause: the trial that gains most; -1 */
} why;

/* Columns: id, name, which waste shows it (COUNT: none, only trials do), what is wrong. */
#define WHY_CAUSES(X)                                                                            \
    X(STRIDE, "stride", LINES, "neighbouring lanes lie apart, or nothing says where rows begin") \
    X(MASK, "mask", COUNT, "masks keep loads and stores from going several elements at once")    \
    X(THREADS, "threads", COUNT, "the number of threads does not fit the work")                  \
    X(TILE, "tile", COUNT, "the tile does not fit the data")                                     \
    X(LANES, "lanes", LANES, "lanes are left out while others go on")                            \
    X(LAYOUT, "layout", COUNT, "another layout of the reductions is better")                     \
    X(ATOMICS, "atomics", ATOMICS, "atomic operations at one address wait for each other")       \
    X(BANKS, "banks", BANKS, "lanes wait for banks of threadgroup memory")                       \
    X(REGISTERS, "registers", REGISTERS, "a thread holds more than there are registers for")     \
    X(GRID, "grid", COUNT, "too few threadgroups for the cores")                                 \
    X(BARRIERS, "barriers", COUNT, "simdgroups wait for each other")                             \
    X(FP64, "fp64", FP64, "double precision is computed in software")                            \
    X(OPERANDS, "operands", COUNT, "operands of matrix products come by the slower way")

enum {
#define X(id, name, waste, what) WHY_##id,
    WHY_CAUSES(X)
#undef X
        WHY_CAUSE_COUNT
};

static const struct {
    const char *name, *what;
    unsigned    waste;
} why_causes[] = {
#define X(id, name, waste, what) {name, what, TMETAL_WASTE_##waste},
    WHY_CAUSES(X)
#undef X
};

/* Compile and count; 0: it is refused. `j`, if any, gets the result, and its arena. */
static int why_count(const char *src, size_t len, const tmetal_options *opt,
                     const tmetal_tune_options *how, why_counts *c, job *j) {
    tmetal_arena       arena = arena_of(tmetal_tune_bound(src, len));
    tmetal_result      out;
    const tmetal_work *work;
    uint32_t           i, k;
    memset(c, 0, sizeof *c);
    if (!arena.base) return 0;
    if (tmetal_tune_count(src, len, opt, how, &arena, &work, &out) != TMETAL_OK) out.n_kernels = 0;
    for (i = 0; i < out.n_kernels; i++) {
        const tmetal_work *w = &work[i];
        uint64_t           groups = w->groups * ((w->threads + 31) / 32);
        c->seconds += w->seconds, c->floor += w->floor, c->moved += w->moved;
        for (k = 0; k < TMETAL_WASTE_COUNT; k++)
            c->cost[k] += w->seconds > w->without[k] ? w->seconds - w->without[k] : 0;
        c->groups += w->groups, c->serial += w->serial, c->touched += w->touched;
        c->lines += groups * w->lines, c->fewest += groups * w->fewest;
        c->read += groups * w->read, c->written += groups * w->written,
            c->masked += groups * w->masked;
        c->barriers += w->groups * w->barriers, c->conflicts += groups * w->conflicts;
        c->issue += groups * w->issue, c->idle += groups * w->idle;
        c->unsure |= w->unsure, c->assumed |= w->assumed;
        if (w->registers > c->registers) c->registers = w->registers, c->room = w->register_room;
        if (!i) c->threads = w->threads, c->resident = w->resident;
    }
    c->kernels = out.n_kernels;
    if (j) j->arena = arena, j->result = out;
    else free(arena.base);
    return c->kernels != 0;
}

/* -- Edits of the IR, as text that tmetal_print wrote: an operation a line ---------------- */

static const char *why_line_end(const char *s) { return s + strcspn(s, "\n"); }

/* Does the name stand in the text, whole? */
static const char *why_find_name(const char *s, const char *end, const char *name, size_t n) {
    static const char part[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.-";
    for (; s + n <= end; s++)
        if (*s == *name && strncmp(s, name, n) == 0 &&
            (s + n == end || !strchr(part, s[n]) || !s[n]))
            return s;
    return NULL;
}

/* One parameter of the public function. */
typedef struct why_param {
    const char *name, *end; /* "%n" of "%n: i32 {...}" */
    size_t      n;
    int         is_pointer, is_int, is_promised;
} why_param;

/* The parameters in their order; how many. */
static unsigned why_params(const char *ir, why_param p[MOST_ARGS]) {
    const char *s = strstr(ir, "tt.func public @");
    unsigned    n = 0;
    int         deep = 0;
    if (!s || !(s = strchr(s, '('))) return 0;
    for (s++; *s && n < MOST_ARGS && *s == '%'; n++) {
        const char *from = s, *type;
        p[n].name = s;
        p[n].n = strcspn(s, ":");
        type = s + p[n].n + 2;
        for (; *s && (deep || (*s != ',' && *s != ')')); s++) {
            if (*s == '"') s += 1 + strcspn(s + 1, "\"");
            deep += strchr("(<{[", *s) != NULL;
            deep -= strchr(")>}]", *s) != NULL;
        }
        p[n].end = s;
        p[n].is_pointer = strncmp(type, "!tt.ptr<", 8) == 0;
        p[n].is_int = strncmp(type, "i32", 3) == 0 || strncmp(type, "i64", 3) == 0;
        p[n].is_promised = why_find_name(from, s, "tt.divisibility", 15) != NULL;
        if (*s == ',') s += 1 + strspn(s + 1, " ");
        else n++, s = "";
        if (!*s) break;
    }
    return n;
}

/* The IR with the promise made of the parameters in the set. NULL: no memory. */
static char *why_promise(const char *ir, const why_param *p, unsigned n, uint64_t set) {
    buffer      b;
    const char *from = ir, *type, *brace;
    unsigned    i;
    memset(&b, 0, sizeof b);
    for (i = 0; i < n; i++) {
        if (!(set >> i & 1)) continue;
        type = p[i].name + p[i].n;
        brace = (const char *)memchr(type, '{', (size_t)(p[i].end - type));
        for (type += 2; !brace && type < p[i].end && strncmp(type, " loc(", 5) != 0; type++) {
        }
        put_n(&b, from, (size_t)((brace ? brace + 1 : type) - from));
        put(&b, brace ? "tt.divisibility = 16 : i32, " : " {tt.divisibility = 16 : i32}");
        from = brace ? brace + 1 : type;
    }
    put(&b, from);
    return b.failed ? free(b.text), (char *)NULL : b.text;
}

/* Does what a parameter gives reach addresses (1), masks (2)? By names, line after line: what a
 * line computes hangs on it where an operand does, and a comparison makes a mask. */
static int why_reaches(const why_param *p) {
    const char *s, *end, *name;
    buffer      tainted; /* names, a NUL behind each */
    size_t      i;
    int         reaches = 0, hit;
    memset(&tainted, 0, sizeof tainted);
    put_n(&tainted, p->name, p->n), put_n(&tainted, "", 1);
    for (s = why_line_end(p->end); *s; s = end) {
        s += *s == '\n';
        end = why_line_end(s);
        for (i = 0, hit = 0; i < tainted.n && !hit; i += strlen(tainted.text + i) + 1) {
            const char *at =
                (const char *)why_find_name(s, end, tainted.text + i, strlen(tainted.text + i));
            hit = at && at > s + strspn(s, " ");
        }
        if (!hit || tainted.n > 65536) continue;
        if (why_find_name(s, end, "arith.cmpi", 10)) {
            reaches |= 2;
            continue;
        }
        if (why_find_name(s, end, "tt.addptr", 9) ||
            why_find_name(s, end, "tt.make_tensor_ptr", 18) ||
            why_find_name(s, end, "tt.make_tensor_descriptor", 25))
            reaches |= 1;
        name = s + strspn(s, " ");
        if (*name == '%' && name < end)
            put_n(&tainted, name, strcspn(name, " :,")), put_n(&tainted, "", 1);
    }
    free(tainted.text);
    return reaches;
}

/* The operands of a load or store whose line begins at `s`: where each begins and how long it is.
 * The number; 0: another. */
static unsigned why_operands(const char *s, const char *end, const char **at, size_t *len,
                             int *is_store) {
    const char *op = why_find_name(s, end, "tt.load", 7);
    unsigned    n = 0;
    *is_store = !op;
    if (!op) op = why_find_name(s, end, "tt.store", 8);
    if (!op) return 0;
    for (op += *is_store ? 9 : 8; *op == '%' && n < 3; op += 2) {
        at[n] = op;
        len[n] = strcspn(op, " ,:\n");
        op += len[n++];
        if (op[0] != ',' || op[1] != ' ') break;
    }
    return n;
}

/* "%x = arith.select %mask, %x_whole, %other : tensor<8xi1>, tensor<8xf16>", from the type of the
 * pointers. */
static void why_put_select(buffer *b, const char *line, const char *end, const char **at,
                           const size_t *len) {
    const char *type = why_find_name(line, end, "tensor", 6), *ptr = strstr(type, "!tt.ptr<"),
               *name = line + strspn(line, " ");
    int n = (int)strcspn(name, " "), shape = (int)(ptr - type);
    putf(b, "    %.*s = arith.select %.*s, %.*s_whole, %.*s : %.*si1>, %.*s%.*s>\n", n, name,
         (int)len[1], at[1], n, name, (int)len[2], at[2], shape, type, shape, type,
         (int)strcspn(ptr + 8, ",>"), ptr + 8);
}

/* The IR with the mask (NULL: all) gone from loads and stores; `selects`: only from loads, whose
 * values it picks then. NULL: nothing was changed. */
static char *why_unmask(const char *ir, const char *mask, int selects) {
    const char *s, *end, *from, *at[3];
    size_t      len[3];
    buffer      b;
    int         is_store, changed = 0;
    unsigned    n, m;
    memset(&b, 0, sizeof b);
    for (s = ir; *s; s = end) {
        end = why_line_end(s);
        end += *end == '\n';
        n = why_operands(s, end, at, len, &is_store);
        m = is_store ? 2 : 1;
        from = s;
        if (n > m && (!mask || (strlen(mask) == len[m] && strncmp(at[m], mask, len[m]) == 0)) &&
            (!selects || (!is_store && n == 3 && why_find_name(s, end, "tensor", 6)))) {
            if (selects) {
                from = s + strspn(s, " ");
                from += strcspn(from, " ");
                put_n(&b, s, (size_t)(from - s)), put(&b, "_whole");
            }
            put_n(&b, from, (size_t)(at[m - 1] + len[m - 1] - from));
            from = at[n - 1] + len[n - 1];
            changed = 1;
        }
        put_n(&b, from, (size_t)(end - from));
        if (from != s && selects) why_put_select(&b, s, end, at, len);
    }
    if (!changed || b.failed) free(b.text), b.text = NULL;
    return b.text;
}

/* The next mask that the IR's loads and stores name, behind `s`: its text into `mask`. NULL: no
 * more. */
static const char *why_next_mask(const char *s, char mask[64]) {
    const char *end, *at[3];
    size_t      len[3];
    int         is_store;
    for (; *s; s = end) {
        unsigned n;
        end = why_line_end(s);
        end += *end == '\n';
        n = why_operands(s, end, at, len, &is_store);
        if (n <= (is_store ? 2u : 1u) || len[is_store ? 2 : 1] > 63) continue;
        sprintf(mask, "%.*s", (int)len[is_store ? 2 : 1], at[is_store ? 2 : 1]);
        return end;
    }
    return NULL;
}

/* -- What is tried ------------------------------------------------------------------------ */

/* Counts a trial that is filled but for `after`: it stays where the model sees it better. 1: it
 * does. */
static int why_try(why *w, why_trial *t, const char *src, size_t len,
                   const tmetal_tune_options *how) {
    if (w->n == WHY_MOST_TRIALS || !why_count(src, len, &t->opt, how, &t->after, NULL)) return 0;
    if (!(t->after.seconds < w->base.seconds * (1 - WHY_LEAST))) return 0;
    w->trial[w->n] = *t;
    if (*t->layout) w->trial[w->n].opt.layouts = w->trial[w->n].layout;
    w->n++;
    return 1;
}

static why_trial why_new(const why *w, unsigned cause) {
    why_trial t;
    memset(&t, 0, sizeof t);
    t.cause = cause;
    t.opt = w->r->opt;
    return t;
}

/* An edit of the IR, which the trial takes or frees. */
static int why_try_ir(why *w, why_trial *t, char *ir) {
    int better = ir && (t->ir = ir, why_try(w, t, ir, strlen(ir), &w->launch.how));
    if (!better) free(ir);
    return better;
}

/* The set of parameters as words: "%stride, %pitch". */
static void why_put_params(char *to, size_t room, const why_param *p, unsigned n, uint64_t set) {
    unsigned i;
    for (*to = '\0', i = 0; i < n; i++)
        if (set >> i & 1)
            snprintf(to + strlen(to), room - strlen(to), "%s%.*s", *to ? ", " : "",
                     (int)(p[i].n < 40 ? p[i].n - 1 : 39), p[i].name + 1);
}

/* Promise that the parameters of the set are multiples of 16, without those of which it changes
 * nothing. */
static void why_try_promise(why *w, const why_param *p, unsigned n, uint64_t set, unsigned cause) {
    why_counts all, less;
    why_trial  t = why_new(w, cause);
    unsigned   i;
    char       names[160], *ir = set ? why_promise(w->ir, p, n, set) : NULL;
    int        ok = ir && why_count(ir, strlen(ir), &t.opt, &w->launch.how, &all, NULL);
    free(ir);
    for (i = 0; ok && i < n; i++) {
        if (!(set >> i & 1) || !(set & (set - 1))) continue;
        ir = why_promise(w->ir, p, n, set & ~((uint64_t)1 << i));
        if (ir && why_count(ir, strlen(ir), &t.opt, &w->launch.how, &less, NULL) &&
            less.seconds <= all.seconds * 1.001)
            set &= ~((uint64_t)1 << i);
        free(ir);
    }
    if (!ok) return;
    why_put_params(names, sizeof names, p, n, set);
    snprintf(t.edit, sizeof t.edit, "%s promised divisible by 16", names);
    snprintf(
        t.note, sizeof t.note,
        "Triton promises it where the launch passes a multiple of 16 that is not in "
        "do_not_specialize; --signature says i32:16; in TTIR it is {tt.divisibility = 16 : i32}");
    why_try_ir(w, &t, why_promise(w->ir, p, n, set));
}

/* Multiples of 16 that nobody told the compiler of: those that addresses hang on, and those that
 * only masks do. */
static void why_try_promises(why *w) {
    why_param p[MOST_ARGS];
    unsigned  i, n = why_params(w->ir, p);
    uint64_t  address = 0, mask = 0;
    for (i = 0; i < n; i++) {
        int is_multiple = p[i].is_int && i < w->launch.how.n_ints && w->launch.ints[i] &&
                          w->launch.ints[i] % 16 == 0,
            reaches;
        if (p[i].is_promised || (!is_multiple && !(p[i].is_pointer && i < w->launch.n &&
                                                   w->launch.arg[i] && *w->launch.arg[i] == '@')))
            continue;
        reaches = p[i].is_pointer ? 1 : why_reaches(&p[i]);
        if (reaches & 1) address |= (uint64_t)1 << i;
        else if (reaches) mask |= (uint64_t)1 << i;
    }
    why_try_promise(w, p, n, address, WHY_STRIDE);
    why_try_promise(w, p, n, mask, WHY_MASK);
}

/* Without a mask: where it leaves no lane out of the programs that were looked at, or by choosing
 * behind the load. */
static void why_try_masks(why *w) {
    char        mask[64];
    const char *s = w->ir;
    unsigned    n;
    why_trial   t = why_new(w, WHY_MASK), all = t;
    if (!(s = why_next_mask(s, mask))) return;
    snprintf(t.note, sizeof t.note,
             "in the first, middle and last programs of this launch no lane is masked off: leave "
             "the mask out where that always holds");
    snprintf(t.edit, sizeof t.edit, "loads and stores without mask=");
    t.ir = why_unmask(w->ir, NULL, 0);
    if (t.ir && why_count(t.ir, strlen(t.ir), &t.opt, &w->launch.how, &all.after, NULL) &&
        !w->base.unsure && all.after.touched == w->base.touched)
        (void)why_try_ir(w, &t, t.ir);
    else free(t.ir);
    for (n = 0; s && n < 8; n++) {
        t = why_new(w, WHY_MASK);
        snprintf(t.edit, sizeof t.edit,
                 "tl.where(mask, tl.load(...), other) instead of mask=%.60s in the load", mask);
        snprintf(t.note, sizeof t.note,
                 "where what the mask leaves out may be read: it must lie inside of the buffer");
        if (w->base.unsure) (void)why_try_ir(w, &t, why_unmask(w->ir, mask, 1));
        s = why_next_mask(s, mask);
    }
}

/* -- Atomics of a tile at one address, made one of the tile's sum, max or min ---------------- */

/* Combinations that may be done in the tile first: the word of the atomic operation, what its
 * region does, the neutral element of i32 or f32. */
static const struct {
    const char *atomic, *op, *type, *neutral, *call;
} why_combines[] = {{"fadd", "arith.addf", "f32", "-0.0", "tl.atomic_add(ptr, tl.sum(x))"},
                    {"add", "arith.addi", "i32", "0", "tl.atomic_add(ptr, tl.sum(x))"},
                    {"max", "arith.maxsi", "i32", "-2147483648", "tl.atomic_max(ptr, tl.max(x))"},
                    {"min", "arith.minsi", "i32", "2147483647", "tl.atomic_min(ptr, tl.min(x))"}};
#define WHY_COMBINES (sizeof why_combines / sizeof *why_combines)

/* Where the name is made: the text behind "%name = ", or NULL. */
static const char *why_made(const char *ir, const char *name, size_t n) {
    const char *s, *end;
    for (s = ir; *s; s = end + (*end == '\n')) {
        end = why_line_end(s);
        s += strspn(s, " ");
        if (strncmp(s, name, n) == 0 && strncmp(s + n, " = ", 3) == 0) return s + n + 3;
    }
    return NULL;
}

/* The one pointer that all elements of a tensor of pointers are: of a splat, also if zeros are
 * added to it. Its length; 0: there is none. */
static size_t why_one_pointer(const char *ir, const char *name, size_t n, const char **one) {
    const char *s = why_made(ir, name, n), *zeros;
    if (s && strncmp(s, "tt.addptr %", 11) == 0) {
        name = s + 10;
        n = strcspn(name, ",");
        zeros = name[n] == ',' ? name + n + 2 : "";
        zeros = why_made(ir, zeros, strcspn(zeros, " "));
        if (!zeros || strncmp(zeros, "arith.constant dense<0> : ", 26) != 0) return 0;
        s = why_made(ir, name, n);
    }
    if (!s || strncmp(s, "tt.splat %", 10) != 0) return 0;
    *one = s + 9;
    return strcspn(*one, " ");
}

/* Operand k of an operation whose operands begin at `s`. */
static const char *why_operand(const char *s, unsigned k, size_t *n) {
    while (k-- > 0 && *s == '%') s += strcspn(s, " ,"), s += s[0] == ',' && s[1] == ' ' ? 2 : 0;
    *n = *s == '%' ? strcspn(s, " ,") : 0;
    return s;
}

/* An atomic operation on a tensor of pointers that are all one. */
typedef struct why_atomic {
    const char *result, *sem, *value, *mask, *one, *dims; /* `sem`: ", acq_rel, gpu, " */
    size_t      n_result, n_sem, n_value, n_mask, n_one, n_dims;
    unsigned    kind;
} why_atomic;

/* "%r = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x, %m : (tensor<8x!tt.ptr<f32>>, ...) -> ...". The
 * old values must not be wanted, and the tile has one axis. 0: it is another line. */
static int why_read_atomic(const char *ir, const char *line, const char *end, why_atomic *a) {
    const char *s = why_find_name(line, end, "tt.atomic_rmw", 13), *ptr, *type;
    size_t      n;
    a->result = line + strspn(line, " ");
    a->n_result = strcspn(a->result, " ");
    if (!s || *a->result != '%') return 0;
    s += 14;
    n = strcspn(s, ",");
    for (a->kind = 0; a->kind < WHY_COMBINES; a->kind++)
        if (strlen(why_combines[a->kind].atomic) == n &&
            strncmp(s, why_combines[a->kind].atomic, n) == 0)
            break;
    a->sem = s + n;
    a->n_sem = strcspn(a->sem, "%\n");
    s = a->sem + a->n_sem;
    ptr = why_operand(s, 0, &n);
    a->value = why_operand(s, 1, &a->n_value);
    a->mask = why_operand(s, 2, &a->n_mask);
    type = why_find_name(s, end, "tensor", 6);
    if (a->kind == WHY_COMBINES || !a->n_mask || !type) return 0;
    a->dims = type + 7;
    a->n_dims = strspn(a->dims, "0123456789");
    s = a->dims + a->n_dims;
    a->n_one = why_one_pointer(ir, ptr, n, &a->one);
    return a->n_dims && a->n_one && strncmp(s, "x!tt.ptr<", 9) == 0 &&
           strncmp(s + 9, why_combines[a->kind].type, 3) == 0 &&
           !why_find_name(end, end + strlen(end), a->result, a->n_result);
}

/* The same as a reduction and one atomic operation. */
static void why_put_combined(buffer *b, const why_atomic *a) {
    const char *type = why_combines[a->kind].type, *dims = a->dims;
    int         n = (int)a->n_dims;
    putf(b, "    %%why_n = arith.constant dense<%s> : tensor<%.*sx%s>\n",
         why_combines[a->kind].neutral, n, dims, type);
    putf(b, "    %%why_v = arith.select %.*s, %.*s, %%why_n : tensor<%.*sxi1>, tensor<%.*sx%s>\n",
         (int)a->n_mask, a->mask, (int)a->n_value, a->value, n, dims, n, dims, type);
    putf(b, "    %%why_s = \"tt.reduce\"(%%why_v) <{axis = 0 : i32}> ({\n    ^bb0(%%why_a: %s, ",
         type);
    putf(b, "%%why_b: %s):\n      %%why_c = %s %%why_a, %%why_b : %s\n", type,
         why_combines[a->kind].op, type);
    putf(b, "      tt.reduce.return %%why_c : %s\n    }) : (tensor<%.*sx%s>) -> %s\n", type, n,
         dims, type, type);
    putf(b, "    %%why_t = arith.constant true\n    %.*s = tt.atomic_rmw %s%.*s%.*s, %%why_s, ",
         (int)a->n_result, a->result, why_combines[a->kind].atomic, (int)a->n_sem, a->sem,
         (int)a->n_one, a->one);
    putf(b, "%%why_t : (!tt.ptr<%s>, %s, i1) -> %s\n", type, type, type);
}

/* The first such operation combined in the tile before. */
static void why_try_atomics(why *w) {
    const char *s, *end;
    why_trial   t = why_new(w, WHY_ATOMICS);
    buffer      b;
    why_atomic  a;
    int         found = 0;
    memset(&b, 0, sizeof b);
    for (s = w->ir; *s; s = end) {
        end = why_line_end(s);
        end += *end == '\n';
        if (!found && why_read_atomic(w->ir, s, end, &a)) found = 1, why_put_combined(&b, &a);
        else put_n(&b, s, (size_t)(end - s));
    }
    if (!found || b.failed) {
        free(b.text);
        return;
    }
    snprintf(t.edit, sizeof t.edit, "%s: one of a program, not one of each element",
             why_combines[a.kind].call);
    snprintf(t.note, sizeof t.note,
             "what a mask leaves out must not count: tl.where(mask, x, %s)%s",
             a.kind < 2 ? "0" : a.kind == 2 ? "the least" : "the greatest",
             a.kind ? "" : "; floats are added in another order");
    (void)why_try_ir(w, &t, b.text);
}

/* Without what was asked for on the command line, one option at a time. */
static void why_try_unforced(why *w) {
    static const struct {
        unsigned option, cause;
    } forced[] = {{OPT_THREADS, WHY_THREADS},
                  {OPT_LAYOUT, WHY_LAYOUT},
                  {OPT_OPERANDS, WHY_OPERANDS},
                  {OPT_PROGRAMS, WHY_BARRIERS},
                  {OPT_TWO_STAGE, WHY_GRID}};
    const char *src = w->ir ? w->ir : w->j.src;
    unsigned    i;
    for (i = 0; i < sizeof forced / sizeof *forced; i++) {
        why_trial t = why_new(w, forced[i].cause);
        if (!w->r->value[forced[i].option]) continue;
        if (forced[i].option == OPT_THREADS) t.opt.threads = 0;
        if (forced[i].option == OPT_LAYOUT) t.opt.layouts = NULL;
        if (forced[i].option == OPT_OPERANDS) t.opt.operands = TMETAL_OPERANDS_AUTO;
        if (forced[i].option == OPT_PROGRAMS) t.opt.programs = 0;
        if (forced[i].option == OPT_TWO_STAGE) t.opt.two_stage = 0;
        snprintf(t.edit, sizeof t.edit, "without %s %.40s: as it is planned",
                 options[forced[i].option].name, w->r->value[forced[i].option]);
        (void)why_try(w, &t, src, strlen(src), &w->launch.how);
    }
}

/* Moves of the tuner, one at a time. */
static void why_try_moves(why *w) {
    static const struct {
        const char *move;
        unsigned    cause;
    } moves[] = {{"threads", WHY_THREADS},
                 {"layout", WHY_LAYOUT},
                 {"operands", WHY_OPERANDS},
                 {"programs", WHY_BARRIERS},
                 {"split", WHY_GRID}};
    const char             *src = w->ir ? w->ir : w->j.src;
    tmetal_arena            arena = arena_of(tmetal_tune_bound(src, strlen(src)));
    tmetal_tune_options     how = w->launch.how;
    const tmetal_candidate *c;
    tmetal_tune            *tune;
    tmetal_result           out;
    uint32_t                i, k;
    how.most = 24;
    how.n_more = 0;
    if (!arena.base ||
        tmetal_tune_begin(src, strlen(src), &w->r->opt, &how, &arena, &tune, &out) != TMETAL_OK) {
        free(arena.base);
        return;
    }
    for (i = 1; (c = tmetal_tune_at(tune, i)) != NULL; i++) {
        size_t    n = strcspn(c->name, "=");
        why_trial t;
        if (strchr(c->name, ',')) continue;
        for (k = 0;
             k < 5 && (strlen(moves[k].move) != n || strncmp(c->name, moves[k].move, n) != 0);
             k++) {
        }
        if (k == 5 || c->predicted > 1.5 * tmetal_tune_at(tune, 0)->predicted)
            continue; /* which counts one lane for all */
        t = why_new(w, moves[k].cause);
        t.opt = c->options;
        if (c->options.layouts && k == 1)
            snprintf(t.layout, sizeof t.layout, "%.15s", c->options.layouts),
                t.opt.layouts = t.layout;
        if (k == 0)
            snprintf(t.edit, sizeof t.edit, "--threads %u, num_warps=%u in Triton", c->threads,
                     c->threads / 32);
        else
            snprintf(t.edit, sizeof t.edit, "--%s %.60s",
                     strcmp(moves[k].move, "split") == 0 ? "two-stage" : moves[k].move,
                     c->name + n + 1);
        (void)why_try(w, &t, src, strlen(src), &w->launch.how);
    }
    free(arena.base);
}

/* -- Other constants of a .py file -------------------------------------------------------- */

/* The counts with NAME=value; 0: refused, or it computes something else. A constant that the grid
 * does not name must leave what is read as it is: a shorter tile would just compute less. */
static int why_count_const(const why *w, const char *name, size_t n, uint64_t value, why_trial *t) {
    request             r = *w->r;
    job                 j;
    tmetal_tune_options how = w->launch.how;
    buffer              b;
    const char         *s = name, *from = r.value[OPT_CONST];
    size_t              len;
    int                 ok = 0;
    memset(&b, 0, sizeof b);
    memset(&j, 0, sizeof j);
    put_n(&b, from, (size_t)(s - from) + n + 1);
    putf(&b, "%llu", (unsigned long long)value);
    s += n + 1;
    put(&b, s + strspn(s, "0123456789"));
    if (b.failed) return 0;
    r.value[OPT_CONST] = b.text;
    r.quiet = 1;
    j.path = w->j.path;
    j.src = read_all(j.path, &j.len);
    t->ir = j.src && read_grid(&r, NULL, how.programs) ? triton_ir(&r, &j, 0, &len) : NULL;
    if (t->ir) ok = why_count(t->ir, len, &t->opt, &how, &t->after, NULL);
    if (ok) {
        int in_grid = r.value[OPT_GRID] &&
                      why_find_name(r.value[OPT_GRID],
                                    r.value[OPT_GRID] + strlen(r.value[OPT_GRID]), name, n) != NULL;
        ok = t->after.written >= w->base.written / 100 * 98 &&
             t->after.written <= w->base.written / 98 * 100 + 4096;
        if (!in_grid) ok = ok && t->after.read >= w->base.read / 100 * 98;
    }
    if (!ok) free(t->ir), t->ir = NULL;
    free(j.src);
    free(b.text);
    return ok;
}

/* Halved and doubled as long as it helps, and two steps more. */
static void why_try_const(why *w, const char *name, size_t n, uint64_t value) {
    why_trial best = why_new(w, WHY_TILE), t;
    int       up, worse;
    uint64_t  v;
    for (up = 0; up < 2; up++) {
        for (v = value, worse = 0; worse < 2;) {
            v = up ? v * 2 : v / 2;
            if (v < 8 || v > 65536) break;
            t = why_new(w, WHY_TILE);
            if (!why_count_const(w, name, n, v, &t)) {
                if (up) break;
                worse++;
                continue;
            }
            if (t.after.seconds <
                (best.ir ? best.after.seconds : w->base.seconds) * (1 - WHY_LEAST)) {
                free(best.ir);
                best = t;
                worse = 0;
                snprintf(best.edit, sizeof best.edit, "%.*s=%llu", (int)(n < 60 ? n : 60), name,
                         (unsigned long long)v);
            } else free(t.ir), worse++;
        }
    }
    if (!best.ir) return;
    if (w->n < WHY_MOST_TRIALS) w->trial[w->n++] = best;
    else free(best.ir);
}

static void why_try_consts(why *w) {
    const char *s = w->r->value[OPT_CONST], *equals;
    char       *end;
    uint64_t    v;
    for (; s && *s && is_python(w->j.path); s += strcspn(s, ","), s += *s == ',') {
        s += strspn(s, " ");
        equals = s + strcspn(s, "=,");
        if (*equals != '=') continue;
        v = strtoull(equals + 1, &end, 10);
        if (end > equals + 1 && v >= 8 && !(v & (v - 1)) && (!*end || *end == ',' || *end == ' '))
            why_try_const(w, s, (size_t)(equals - s), v);
    }
}

/* -- Which cause is first ----------------------------------------------------------------- */

static double why_gain(const why *w, const why_trial *t) {
    return w->base.seconds - t->after.seconds;
}

/* What was tried helps for a reason: where it mostly ends one kind of waste, that is it. */
static void why_attribute(const why *w, why_trial *t) {
    static const unsigned reasons[] = {WHY_REGISTERS, WHY_BANKS, WHY_ATOMICS, WHY_STRIDE};
    unsigned              i;
    for (i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        unsigned waste = why_causes[reasons[i]].waste;
        double   before = w->base.cost[waste], less = before - t->after.cost[waste];
        if (less > before / 2 && less > why_gain(w, t) / 2) t->cause = reasons[i];
    }
}

/* What is lost to each cause: what its waste costs, unless that goes with another cause, or what a
 * trial gains. */
static void why_rank(why *w) {
    unsigned c, i;
    for (c = 0; c < WHY_CAUSE_COUNT; c++) w->best[c] = -1, w->share[c] = 0;
    for (i = 0; i < w->n; i++) {
        c = w->trial[i].cause;
        if (w->trial[i].after.seconds >= w->base.seconds) continue; /* not right */
        if (w->best[c] < 0 || w->trial[i].after.seconds < w->trial[w->best[c]].after.seconds)
            w->best[c] = (int)i;
    }
    for (c = 0; c < WHY_CAUSE_COUNT; c++) {
        unsigned waste = why_causes[c].waste;
        double   cost = waste < TMETAL_WASTE_COUNT ? w->base.cost[waste] : 0;
        for (i = 0; i < w->n; i++)
            if (waste < TMETAL_WASTE_COUNT && w->trial[i].cause != c &&
                w->trial[i].after.cost[waste] < w->base.cost[waste] / 2)
                cost = 0;
        if (w->best[c] >= 0 && why_gain(w, &w->trial[w->best[c]]) > cost)
            cost = why_gain(w, &w->trial[w->best[c]]);
        w->share[c] = cost / w->base.seconds;
    }
}

/* Of those that the model cannot tell apart, the one that changes least goes first: an option
 * undone, a promise, a mask. */
static double why_weight(const why *w, unsigned c) {
    if (w->best[c] >= 0 && w->best[c] < (int)w->own)
        return w->share[c] < WHY_LEAST ? 0 : w->share[c] * 1.1 + WHY_TELLS;
    return w->share[c] < WHY_TELLS ? 0 : w->share[c];
}

/* The cause of rank `at`, from 0; WHY_CAUSE_COUNT: what is left is not worth a word. */
static unsigned why_cause_at(const why *w, unsigned at) {
    unsigned c, k, before;
    for (c = 0; c < WHY_CAUSE_COUNT; c++) {
        for (k = before = 0; k < WHY_CAUSE_COUNT; k++)
            before += why_weight(w, k) > why_weight(w, c) ||
                      (why_weight(w, k) == why_weight(w, c) && k < c);
        if (before == at && why_weight(w, c) > 0) return c;
    }
    return WHY_CAUSE_COUNT;
}

/* -- The simulator ------------------------------------------------------------------------ */

/* The cycles of threadgroup memory in the simulator's JSON: its sites' fewest, touched, where. */
static void why_sum_banks(const char *json, why_measured *m) {
    for (json = strstr(json, "\"fewest\":"); json; json = strstr(json + 1, "\"fewest\":")) {
        const char *touched = strstr(json, "\"touched\":"),
                   *where = touched ? strstr(touched, "\"where\":") : NULL;
        if (!where || strncmp(where + 8 + strspn(where + 8, " "), "\"threadgroup\"", 13) != 0)
            continue;
        m->cycles += strtoull(touched + 10 + strspn(touched + 10, " "), NULL, 10);
        m->fewest_cycles += strtoull(json + 9 + strspn(json + 9, " "), NULL, 10);
    }
}

/* What it counts of a version; 0: it cannot be run, or is not right. */
static int why_measure(const why *w, const char *src, const tmetal_options *opt, why_measured *m) {
    why_counts c;
    workshop   shop;
    job        j;
    char      *json = NULL;
    int        status = 1;
    memset(&j, 0, sizeof j);
    if (!why_count(src, strlen(src), opt, &w->launch.how, &c, &j)) return free(j.arena.base), 0;
    if (open_workshop(&shop)) {
        json = simulate(w->r, &shop, &j, w->recorded, " --json", &status);
        close_workshop(&shop);
    }
    if (json && !status) {
        m->lines = sum_of_key(json, "\"lines\"");
        m->fewest = sum_of_key(json, "\"fewest_lines\"");
        m->bytes = sum_of_key(json, "\"bytes_read\"") + sum_of_key(json, "\"bytes_written\"");
        m->distinct =
            sum_of_key(json, "\"distinct_read\"") + sum_of_key(json, "\"distinct_written\"");
        m->barriers = sum_of_key(json, "\"barriers\"");
        why_sum_banks(json, m);
        m->atomics = sum_of_key(json, "\"atomics\"");
    }
    free(json);
    free(j.arena.base);
    return json && !status;
}

/* The kernel, and each remedy that would be named: one that gives other results is left out. */
static void why_measure_all(why *w) {
    char     sim[1280];
    unsigned c;
    if (!*w->recorded || !find_program(w->r->self, "sim", sim)) return;
    show_progress(w->r, "in the simulator", 1, 1);
    w->is_measured = why_measure(w, w->ir, &w->r->opt, &w->measured);
    for (c = 0; w->is_measured && c < WHY_CAUSE_COUNT; c++)
        while (w->best[c] >= 0 && why_weight(w, c) > 0) {
            why_trial *t = &w->trial[w->best[c]];
            if (t->is_measured) break;
            t->is_measured = why_measure(w, t->ir ? t->ir : w->ir, &t->opt, &t->measured);
            if (!t->is_measured) t->after.seconds = w->base.seconds, why_rank(w);
        }
    show_progress(w->r, NULL, 0, 0);
}

/* -- A launch, recorded or by options ----------------------------------------------------- */

/* "grid 4 1 1" */
static int why_read_grid(const char *s, uint32_t programs[3]) {
    uint64_t v;
    size_t   n;
    unsigned i;
    for (i = 0, s += 4; i < 3; i++, s += n) {
        s += strspn(s, " ");
        n = strcspn(s, " \r\n");
        if (!read_digits(s, n, INT32_MAX, &v)) return 0;
        programs[i] = (uint32_t)v;
    }
    return 1;
}

/* "arg i32 -5", whose value stands at `s` */
static int why_read_int(const char *s, int64_t *v) {
    const int minus = *s == '-';
    uint64_t  n;
    if (!read_digits(s + minus, strcspn(s + minus, " \r\n"), UINT64_MAX, &n)) return 0;
    *v = (int64_t)(minus ? 0 - n : n);
    return 1;
}

/* Arguments and grid of a .case: tests/kernels/README.md. 0 after a message. */
static int why_read_case(why *w, const char *text) {
    static char  buffer_arg[] = "@", other[] = "";
    launch_spec *l = &w->launch;
    const char  *s, *from, *bad = NULL;
    unsigned     offset, has_grid = 0;
    int          at = 0;
    int64_t      v;
    memset(l, 0, sizeof *l);
    for (s = text; *s && !bad; s += strcspn(s, "\n"), s += *s == '\n') {
        if (strncmp(s, "grid ", 5) == 0) {
            has_grid = 1;
            if (!why_read_grid(s, l->how.programs)) bad = s;
            continue;
        }
        if (strncmp(s, "arg ", 4) != 0 || l->n == MOST_ARGS) continue;
        l->arg[l->n] = other;
        if (sscanf(s, "arg ptr %*s buffer %*u offset %u", &offset) == 1)
            l->arg[l->n] = offset % 16 ? other : buffer_arg;
        else if (s[4] == 'i' && sscanf(s, "arg %*15s %n", &at) == 0 && at && !why_read_int(s + at, &l->ints[l->n]))
            bad = s;
        l->n++;
        if (strncmp(s, "arg desc ", 9) != 0) continue;
        for (from = strstr(s, " shape "); from && from < why_line_end(s);
             from += strspn(from, " ")) { /* shape and strides */
            char *end;
            v = strtoll(from + strcspn(from, "0123456789\n"), &end, 10);
            if (strncmp(from, "block", 5) == 0 || l->n == MOST_ARGS || end > why_line_end(s)) break;
            l->arg[l->n] = other, l->ints[l->n++] = v;
            from = end;
            if (strncmp(from, " block", 6) == 0) break;
        }
    }
    l->how.ints = l->ints, l->how.n_ints = l->n;
    if (bad || !has_grid)
        fprintf(stderr, "tmetal: %s: %s%.*s\n", w->recorded, bad ? "not a launch: " : "it says no grid",
                bad ? (int)strcspn(bad, "\r\n") : 0, bad ? bad : "");
    return !bad && has_grid;
}

/* The IR of the job as tmetal_print writes it. */
static char *why_print(const request *r, const job *j) {
    tmetal_arena   arena = arena_of(2 * tmetal_arena_bound(j->len));
    tmetal_options opt = r->opt;
    tmetal_module *m;
    tmetal_result  out;
    const char    *text;
    char          *copy = NULL;
    size_t         n;
    opt.file = j->path;
    if (arena.base && tmetal_parse(j->src, j->len, &opt, &arena, &m, &out) == TMETAL_OK &&
        tmetal_print(m, &arena, &text, &n, &out) == TMETAL_OK &&
        (copy = (char *)malloc(n + 1)) != NULL)
        memcpy(copy, text, n + 1);
    free(arena.base);
    return copy;
}

/* Reads a kernel and its launch, and counts it. 0; the exit code after a message. */
static int why_open(why *w, const request *r, const char *path) {
    char   ttir[1100], *text;
    size_t n = strlen(path), len;
    int    is_case = n > 5 && strcmp(path + n - 5, ".case") == 0, has_launch;
    memset(w, 0, sizeof *w);
    w->r = r;
    if (is_case && n >= 1000) return fprintf(stderr, "tmetal: a name of 1000 bytes or more: %s\n", path), 1;
    if (is_case) {
        snprintf(w->recorded, sizeof w->recorded, "%s", path);
        snprintf(ttir, sizeof ttir, "%.*s.ttir", (int)(n - 5), path);
    }
    if (!open_job(r, *w->recorded ? ttir : path, &w->j)) return 1;
    w->j.path = path;
    if (w->j.result.code != TMETAL_OK) return print_diags(r, &w->j.result, &w->j.arena), 1;
    if (is_case) {
        text = read_all(path, &len);
        if (!text) return 1;
        has_launch = why_read_case(w, text);
        free(text);
        if (!has_launch) return 1;
    } else if (!read_launch(r, &w->j, &w->launch)) return 2;
    if (!fits_kernel(&w->j, &w->launch)) return 1;
    w->launch.how.n_more = 0;
    if (!w->j.is_ops) w->ir = why_print(r, &w->j);
    text = w->ir ? w->ir : w->j.src;
    return why_count(text, strlen(text), &r->opt, &w->launch.how, &w->base, NULL) ? 0 : 1;
}

static void why_close(why *w) {
    unsigned i;
    for (i = 0; i < w->n; i++) free(w->trial[i].ir);
    free(w->ir);
    close_job(&w->j);
}

/* Tries everything, and ranks. */
static void why_find(why *w) {
    unsigned i;
    why_try_unforced(w);
    i = w->n; /* what is undone was the cause */
    if (w->ir) why_try_promises(w), why_try_masks(w), why_try_atomics(w);
    w->own = w->n;
    why_try_moves(w);
    why_try_consts(w);
    for (; i < w->n; i++) why_attribute(w, &w->trial[i]);
    why_rank(w);
    why_measure_all(w);
}

/* -- What is said ------------------------------------------------------------------------- */

static void why_put_number(buffer *b, uint64_t n) {
    if (n < 10000000) putf(b, "%lu", (unsigned long)n);
    else if (n < 1000000000) putf(b, "%.1f M", (double)n / 1e6);
    else putf(b, "%.2f G", (double)n / 1e9);
}

/* "lines 524288 to 262144, " where they differ. */
static void why_put_change(buffer *b, const char *what, uint64_t before, uint64_t after) {
    if (before == after) return;
    putf(b, ", %s ", what);
    why_put_number(b, before);
    put(b, " to ");
    why_put_number(b, after);
}

static void why_put_changes(buffer *b, const why_counts *x, const why_counts *y) {
    why_put_change(b, "lines", x->lines, y->lines);
    why_put_change(b, "cycles of schedulers", x->issue, y->issue);
    why_put_change(b, "bank conflicts", x->conflicts, y->conflicts);
    why_put_change(b, "barriers", x->barriers, y->barriers);
    why_put_change(b, "atomics in a row", x->serial, y->serial);
    why_put_change(b, "threads", x->threads, y->threads);
    why_put_change(b, "registers", x->registers, y->registers);
    why_put_change(b, "threadgroups a core", x->resident, y->resident);
    why_put_change(b, "threadgroups", x->groups, y->groups);
}

static void why_put_measured(buffer *b, const why_measured *x, const why_measured *y) {
    buffer c;
    memset(&c, 0, sizeof c);
    why_put_change(&c, "lines", x->lines, y->lines);
    why_put_change(&c, "bytes moved", x->bytes, y->bytes);
    why_put_change(&c, "cycles of threadgroup memory", x->cycles, y->cycles);
    why_put_change(&c, "barriers", x->barriers, y->barriers);
    why_put_change(&c, "atomics", x->atomics, y->atomics);
    putf(b, "      measured by the simulator: the results are right%s%s\n",
         c.n ? ", " : "; the same counts", c.n ? c.text + 2 : "");
    free(c.text);
}

static void why_put_trial(const request *r, buffer *b, const why *w, const why_trial *t) {
    paint(r, b, "32", "   tried: ");
    putf(b, "%s\n      %.1f to %.1f us by the model", t->edit, w->base.seconds * 1e6,
         t->after.seconds * 1e6);
    why_put_changes(b, &w->base, &t->after);
    put(b, "\n");
    if (t->is_measured) why_put_measured(b, &w->measured, &t->measured);
    if (*t->note) putf(b, "      %s\n", t->note);
}

/* Where it is: the accesses that have to do with strides or masks. */
static void why_put_places(const request *r, buffer *b, const why *w, unsigned cause) {
    unsigned k, i, n = 0;
    for (k = 0; k < w->j.result.n_kernels; k++)
        for (i = 0; i < w->j.result.kernels[k].n_accesses && n < 3; i++) {
            const tmetal_access *a = &w->j.result.kernels[k].accesses[i];
            int is_here = cause == WHY_STRIDE && a->most_lines > a->fewest;
            is_here |= cause == WHY_MASK && a->is_masked && a->width == 1;
            is_here |= cause == WHY_ATOMICS && a->kind == TMETAL_ACCESS_ATOMIC;
            if (!is_here || a->is_edge) continue;
            n++;
            put_where(r, b, 0, &a->python, &a->ir);
            putf(b, "%s%s%.200s%s%.200s: %s, %u x %s a lane, ", tmetal_access_kind_name(a->kind),
                 *a->value ? " of " : "", a->value, *a->buffer ? " at " : "", a->buffer,
                 tmetal_access_name(a->access), a->width, a->type);
            put_lines(b, a->lines, a->most_lines, a->fewest);
            put(b, "\n");
        }
}

/* What the waste is, in figures. */
static void why_put_evidence(buffer *b, const why *w, unsigned cause) {
    const why_counts *c = &w->base;
    if (cause == WHY_TILE && c->masked)
        putf(b, "   masks leave out at least %.0f %% of what the tiles hold\n",
             100.0 * (double)c->masked / (double)(c->masked + c->read + c->written));
    switch (why_causes[cause].waste) {
    case TMETAL_WASTE_LINES:
        put(b, "   "), why_put_number(b, c->lines), put(b, " lines of 128 bytes touched, "),
            why_put_number(b, c->fewest), put(b, " the fewest for the same bytes\n");
        break;
    case TMETAL_WASTE_BANKS:
        put(b, "   "), why_put_number(b, c->conflicts), put(b, " cycles of conflicts\n");
        break;
    case TMETAL_WASTE_ATOMICS:
        put(b, "   "), why_put_number(b, c->serial),
            put(b, " in a row, at 2 cycles each: assumed, no figure is published\n");
        break;
    case TMETAL_WASTE_REGISTERS:
        putf(b, "   about %u of %u per thread; a core holds %u threadgroup%s of %u threads\n",
             c->registers, c->room, c->resident, c->resident == 1 ? "" : "s", c->threads);
        break;
    case TMETAL_WASTE_LANES:
        putf(b, "   lanes are left out of %.0f %% of the cycles\n",
             100.0 * (double)c->idle / (double)(c->issue ? c->issue : 1));
        break;
    default: break;
    }
}

/* The launch as the model sees it. */
static void why_put_time(buffer *b, const why *w) {
    const why_counts *c = &w->base;
    tmetal_gpu        gpu;
    putf(b, "%.1f us by the model (an estimate, nothing is timed); ", c->seconds * 1e6);
    why_put_number(b, c->groups), put(b, c->groups == 1 ? " threadgroup" : " threadgroups");
    put(b, c->assumed ? " (assumed, the grid is not given: pass --grid), " : ", ");
    why_put_number(b, c->read), put(b, " bytes read, "), why_put_number(b, c->written),
        put(b, " written, ");
    why_put_number(b, c->lines), put(b, " lines ("), why_put_number(b, c->fewest),
        put(b, " the fewest), ");
    why_put_number(b, c->barriers), put(b, " barriers\n");
    if (!tmetal_gpu_resolve(w->j.result.gpu, NULL, NULL, &gpu)) memset(&gpu, 0, sizeof gpu);
    if (gpu.gbps)
        putf(b, "the bytes alone take %.1f us at %u GB/s (", c->floor * 1e6, gpu.gbps),
            why_put_number(b, c->moved), put(b, "; what all programs read counts once); ");
    if (gpu.cores) putf(b, "%u cores, ", gpu.cores);
    putf(b, "a core holds %u threadgroup%s of %u threads%s\n", c->resident,
         c->resident == 1 ? "" : "s", c->threads,
         c->groups < gpu.cores ? "; there are fewer threadgroups than cores" : "");
}

static void why_text(const request *r, buffer *b, const why *w) {
    unsigned at, cause;
    put_kernel_head(r, b, &w->j.result, &w->j.result.kernels[0]);
    why_put_time(b, w);
    if (w->is_measured) {
        put(b, "measured by the simulator: "), why_put_number(b, w->measured.lines),
            put(b, " lines ("), why_put_number(b, w->measured.fewest), put(b, " the fewest), ");
        why_put_number(b, w->measured.bytes), put(b, " bytes moved of "),
            why_put_number(b, w->measured.distinct), put(b, " different ones, ");
        why_put_number(b, w->measured.barriers), put(b, " barriers, "),
            why_put_number(b, w->measured.cycles - w->measured.fewest_cycles),
            put(b, " cycles of bank conflicts\n");
    }
    for (at = 0; (cause = why_cause_at(w, at)) < WHY_CAUSE_COUNT; at++) {
        char title[160];
        snprintf(title, sizeof title, "\n%u. %s, %.1f %%: %s\n", at + 1, why_causes[cause].name,
                 w->share[cause] * 100, why_causes[cause].what);
        paint(r, b, "1", title);
        why_put_evidence(b, w, cause);
        why_put_places(r, b, w, cause);
        if (w->best[cause] >= 0) why_put_trial(r, b, w, &w->trial[w->best[cause]]);
        else put(b, "   nothing that was tried helps: the kernel itself has to change\n");
    }
    if (!at)
        put(b,
            "\nnothing that was tried, and nothing that the model sees, would save a hundredth\n");
}

static void why_json_counts(buffer *b, const why_counts *c) {
    putf(b,
         "{\"predicted_us\":\"%.3f\",\"floor_us\":\"%.3f\",\"grid_assumed\":%s,"
         "\"threadgroups\":%llu,\"threads\":%u,\"registers\":%u,"
         "\"resident\":%u,\"lines\":%llu,\"fewest_lines\":%llu,\"bytes_moved\":%llu,",
         c->seconds * 1e6, c->floor * 1e6, c->assumed ? "true" : "false",
         (unsigned long long)c->groups, c->threads, c->registers, c->resident,
         (unsigned long long)c->lines, (unsigned long long)c->fewest,
         (unsigned long long)c->moved);
    putf(b,
         "\"bytes_read\":%llu,\"bytes_written\":%llu,\"barriers\":%llu,\"bank_conflicts\":%llu,"
         "\"serial_atomics\":%llu,\"cycles\":%llu,\"idle_cycles\":%llu}",
         (unsigned long long)c->read, (unsigned long long)c->written,
         (unsigned long long)c->barriers, (unsigned long long)c->conflicts,
         (unsigned long long)c->serial, (unsigned long long)c->issue, (unsigned long long)c->idle);
}

static void why_json_measured(buffer *b, const why_measured *m) {
    putf(b,
         ",\"simulator\":{\"lines\":%llu,\"fewest_lines\":%llu,\"bytes\":%llu,\"distinct_bytes\":%"
         "llu,\"barriers\":%llu,\"threadgroup_cycles\":%llu,\"fewest_threadgroup_cycles\":%llu,"
         "\"atomics\":%llu}",
         (unsigned long long)m->lines, (unsigned long long)m->fewest, (unsigned long long)m->bytes,
         (unsigned long long)m->distinct, (unsigned long long)m->barriers,
         (unsigned long long)m->cycles, (unsigned long long)m->fewest_cycles,
         (unsigned long long)m->atomics);
}

static void why_json(buffer *b, const why *w) {
    unsigned at, cause;
    put(b, "{\"tmetal_why\":1,\"file\":"), put_json_text(b, w->j.path);
    put(b, ",\"kernel\":"), put_json_text(b, w->j.result.kernels[0].name);
    put(b, ",\"gpu\":"), put_json_text(b, w->j.result.gpu);
    put(b, ",\"model\":"), why_json_counts(b, &w->base);
    if (w->is_measured) why_json_measured(b, &w->measured);
    put(b, ",\"causes\":[");
    for (at = 0; (cause = why_cause_at(w, at)) < WHY_CAUSE_COUNT; at++) {
        const why_trial *t = w->best[cause] >= 0 ? &w->trial[w->best[cause]] : NULL;
        putf(b, "%s{\"cause\":\"%s\",\"share\":\"%.4f\",\"what\":\"%s\"", at ? ",\n " : "\n ",
             why_causes[cause].name, w->share[cause], why_causes[cause].what);
        if (t) {
            put(b, ",\"remedy\":{\"edit\":"), put_json_text(b, t->edit);
            put(b, ",\"when\":"), put_json_text(b, t->note);
            put(b, ",\"model\":"), why_json_counts(b, &t->after);
            if (t->is_measured) why_json_measured(b, &t->measured);
            put(b, "}");
        }
        put(b, "}");
    }
    put(b, "\n]}\n");
}

/* -- why A B: what changed ---------------------------------------------------------------- */

#define WHY_ROWS(X)                                         \
    X("threadgroups", groups)                               \
    X("lines of 128 bytes", lines)                          \
    X("fewest lines", fewest)                               \
    X("bytes read", read)                                   \
    X("bytes written", written)                             \
    X("barriers", barriers)                                 \
    X("bank conflicts, cycles", conflicts)                  \
    X("atomics in a row", serial)                           \
    X("cycles of schedulers", issue)                        \
    X("of them idle", idle)                                 \
    X("threads", threads)                                   \
    X("registers", registers)                               \
    X("threadgroups a core", resident)

static int why_compare(request *r) {
    why   *w = (why *)calloc(2, sizeof *w);
    buffer b;
    int    bad = 1, i;
    memset(&b, 0, sizeof b);
    if (!w) return 1;
    for (i = 0, bad = 0; i < 2 && !bad; i++) bad = why_open(&w[i], r, r->files[i]);
    if (!bad && r->value[OPT_JSON]) {
        put(&b, "{\"tmetal_why\":1,\"versions\":[");
        for (i = 0; i < 2; i++)
            putf(&b, "%s{\"file\":", i ? "," : ""), put_json_text(&b, w[i].j.path),
                put(&b, ",\"model\":"), why_json_counts(&b, &w[i].base), put(&b, "}");
        put(&b, "]}\n");
    } else if (!bad) {
        const why_counts *x = &w[0].base, *y = &w[1].base;
        putf(&b, "%-24s %14s %14s\n%-24s %14.1f %14.1f  %.2f times\n", "for the launch", "A", "B",
             "microseconds by model", x->seconds * 1e6, y->seconds * 1e6, y->seconds / x->seconds);
#define X(name, field)                                                                           \
    if (x->field != y->field)                                                                    \
        putf(&b, "%-24s %14llu %14llu\n", name, (unsigned long long)x->field,                    \
             (unsigned long long)y->field);
        WHY_ROWS(X)
#undef X
        put(&b, "what is not named is the same; nothing was timed\n");
    }
    if (!bad) bad = write_buffer(r, &b);
    free(b.text);
    for (i = 0; i < 2; i++) why_close(&w[i]);
    return free(w), bad;
}

static int why_command(request *r) {
    why   *w;
    buffer b;
    int    bad;
    if (r->n_files == 2) return why_compare(r);
    w = (why *)calloc(1, sizeof *w);
    if (!w) return 1;
    memset(&b, 0, sizeof b);
    bad = why_open(w, r, r->files[0]);
    if (!bad) {
        why_find(w);
        if (r->value[OPT_JSON]) why_json(&b, w);
        else why_text(r, &b, w);
        bad = write_buffer(r, &b);
    }
    free(b.text);
    why_close(w);
    return free(w), bad;
}

/* explain FILE.case: the time of the recorded launch, in the words of `why`. */
static int why_put_recorded(const request *r, buffer *b, const char *path) {
    why *w = (why *)calloc(1, sizeof *w);
    int  bad = !w || why_open(w, r, path);
    if (!bad) put(b, "\n"), why_put_time(b, w);
    if (w) why_close(w);
    return free(w), bad;
}

/* -- bench FILE: one's own kernel by threads and layouts ----------------------------------- */

typedef struct why_bench {
    buffer     out;
    const why *w;
    int        json, has_simulator;
    unsigned   n;
} why_bench;

static void why_bench_row(why_bench *b, const char *asked, const tmetal_options *opt) {
    const char  *src = b->w->ir ? b->w->ir : b->w->j.src;
    why_counts   c;
    why_measured m;
    int          ok = why_count(src, strlen(src), opt, &b->w->launch.how, &c, NULL), is_measured;
    is_measured = ok && b->has_simulator && why_measure(b->w, src, opt, &m);
    if (b->json && ok) {
        putf(&b->out, "%s{\"file\":", b->n++ ? ",\n " : "\n "),
            put_json_text(&b->out, b->w->j.path);
        putf(&b->out, ",\"asked\":\"%s\",\"model\":", asked), why_json_counts(&b->out, &c);
        if (is_measured) why_json_measured(&b->out, &m);
        put(&b->out, "}");
    }
    if (b->json) return;
    putf(&b->out, "%-22s ", asked);
    if (!ok) {
        put(&b->out, "refused\n");
        return;
    }
    putf(&b->out, "%8u %9u %10llu %10llu %10llu %10llu %10.1f %10.1f", c.threads, c.registers,
         (unsigned long long)c.lines, (unsigned long long)c.fewest, (unsigned long long)c.barriers,
         (unsigned long long)c.conflicts, c.floor * 1e6, c.seconds * 1e6);
    if (is_measured)
        putf(&b->out, "   right; %llu lines, %llu barriers", (unsigned long long)m.lines,
             (unsigned long long)m.barriers);
    else if (b->has_simulator) put(&b->out, "   NOT right");
    put(&b->out, "\n");
}

/* As it is planned, then each number of threads, then each layout of its reductions. */
static void why_bench_rows(why_bench *b) {
    const request *r = b->w->r;
    tmetal_options opt = r->opt;
    char           asked[40];
    unsigned       i, reductions = 0;
    why_bench_row(b, "as it is asked for", &opt);
    for (i = 32; i <= 1024; i *= 2) {
        opt.threads = i;
        sprintf(asked, "--threads %u", i);
        why_bench_row(b, asked, &opt);
    }
    opt = r->opt;
    if (b->w->j.result.n_kernels && b->w->j.result.kernels[0].programs > 1) {
        opt.programs = 1;
        why_bench_row(b, "--programs 1", &opt);
        opt = r->opt;
    }
    for (i = 0; i < b->w->j.result.n_kernels; i++)
        reductions += b->w->j.result.kernels[i].n_reduce_plans;
    for (i = 0; reductions && i < 5; i++) {
        opt.layouts = bench_layouts[i];
        sprintf(asked, "--layout %s", bench_layouts[i]);
        why_bench_row(b, asked, &opt);
    }
}

static int why_bench_command(request *r) {
    static const uint64_t sums = TAKES(PLOT) | TAKES(SIZES) | TAKES(LAYOUTS) | TAKES(DTYPE) |
                                 TAKES(LAUNCH_US) | TAKES(DEVICE);
    static const uint64_t own = (TAKES_COMPILE & ~TAKES_TARGET) | TAKES(GRID) | TAKES(ARGS);
    why      *w;
    why_bench b;
    unsigned  i;
    int       bad;
    char      sim[1280];
    for (i = 0; i < OPTION_COUNT; i++)
        if (r->value[i] && (r->n_files ? sums : own) >> i & 1)
            return misuse(r,
                          r->n_files ? "not with a FILE:" : "only with a FILE:", options[i].name);
    if (!r->n_files) return bench_command(r);
    w = (why *)calloc(1, sizeof *w);
    if (!w) return 1;
    memset(&b, 0, sizeof b);
    bad = why_open(w, r, r->files[0]);
    b.w = w;
    b.json = r->value[OPT_JSON] != NULL;
    b.has_simulator = *w->recorded && find_program(r->self, "sim", sim);
    if (!bad) {
        if (b.json) put(&b.out, "{\"tmetal_why\":1,\"versions\":[");
        else
            putf(&b.out,
                 "%s for %s: counted by the tuner's model for one launch, nothing was "
                 "timed%s%s\n%-22s %8s %9s %10s %10s %10s %10s %10s %10s\n",
                 w->j.result.kernels[0].name, w->j.result.gpu,
                 b.has_simulator ? "; after that, what the simulator measured" : "",
                 w->base.assumed ? "; the grid is not given (--grid), so it is assumed" : "", "",
                 "threads", "registers", "lines", "fewest", "barriers", "conflicts", "bytes us",
                 "model us");
        why_bench_rows(&b);
        if (b.json) put(&b.out, "\n]}\n");
        bad = write_buffer_to(NULL, &b.out);
    }
    free(b.out.text);
    why_close(w);
    return free(w), bad;
}
