#ifndef TMETAL_H
#define TMETAL_H

#include <stddef.h>
#include <stdint.h>

/*==============================================================================
 * >>api  [2]  Public types and functions
 *============================================================================*/

#define TMETAL_VERSION        "0.1.0"
#define TMETAL_VERSION_NUMBER 100u /* major * 10000 + minor * 100 + patch */

#ifndef TMETAL_API
#    ifdef TMETAL_STATIC
#        define TMETAL_API static
#    elif defined(__cplusplus)
#        define TMETAL_API extern "C"
#    else
#        define TMETAL_API extern
#    endif
#endif

/* -- Diagnostic codes --------------------------------------------------------
 * One row a message: number, name, text. Hundreds: 1 text, 2 verifier, 3 not supported, 4 layout,
 * 5 plan and GPU limits, 6 emission, 9 memory and our own bugs. A number is never used twice. */
#define TMETAL_DIAGS(X)                                                                         \
    X(101, EXPECTED, "expected %s, found %s")                                                   \
    X(102, BAD_CHAR, "character %s does not start a token of Triton IR")                        \
    X(103, BAD_STRING, "string is not closed on its line")                                      \
    X(104, UNKNOWN_OP, "unknown operation '%s'")                                                \
    X(105, UNKNOWN_TYPE, "unknown type '%s'")                                                   \
    X(106, UNDEFINED, "value %s is used but never defined")                                     \
    X(107, REDEFINED, "value %s is defined twice in one scope")                                 \
    X(108, TYPE_CLASH, "value %s has type %s, but is used here as %s")                          \
    X(109, NESTING, "nested deeper than %u levels")                                             \
    X(110, BAD_NUMBER, "number %s does not fit %s")                                             \
    X(111, ALIAS, "alias %s is never defined")                                                  \
    X(112, BLOCK, "block %s is never defined")                                                  \
    X(113, RESULTS, "operation gives %u results, but %u names are bound")                       \
    X(114, DENSE, "constant has %llu elements, its type %s has %llu")                           \
    X(115, BAD_WORD, "'%s' is not one of %s")                                                   \
    X(116, NO_MODULE, "no function found: is this Triton IR (kernel.asm[\"ttir\"])?")           \
    X(117, TTGIR, "'%s' belongs to a later stage (TTGIR); give the text of kernel.asm[\"ttir\"]") \
    X(118, TOO_LARGE, "text of %llu bytes is larger than the %llu bytes that positions can count") \
    X(201, OPERANDS, "%s takes %s operands, but has %u")                                        \
    X(202, RESULT_COUNT, "%s gives %s results, but has %u")                                     \
    X(203, SAME_TYPE, "%s wants operands and result of one type, but has %s and %s")            \
    X(204, REDUCE_AXIS, "%s over axis %d, but the operand has rank %d")                         \
    X(205, SHAPE, "%s: shape of %s does not fit %s")                                            \
    X(206, WANT_KIND, "%s wants %s, but %s is %s")                                              \
    X(207, RANGE, "tt.make_range from %lld to %lld cannot give %s")                             \
    X(208, POWER_OF_TWO, "tensor type %s: every dimension must be a power of two")              \
    X(209, NUMEL, "tensor type %s has more than %u elements")                                   \
    X(210, DOMINANCE, "value %s does not reach this use: it is defined in another region or later") \
    X(211, TERMINATOR, "%s must end in %s")                                                     \
    X(212, YIELD, "%s passes %u values, but %s wants %u")                                       \
    X(213, YIELD_TYPE, "%s passes %s as value %u, but %s wants %s")                             \
    X(214, REGION, "%s needs %u region(s), but has %u")                                         \
    X(215, REGION_ARGS, "region of %s needs arguments of types %s, but has %s")                 \
    X(216, ATTRIBUTE, "%s needs the attribute '%s' as %s")                                      \
    X(217, ORDER, "tt.trans: order %s is no permutation of %u axes")                            \
    X(218, DOT, "%s: %s")                                                                       \
    X(219, BITCAST, "%s from %s to %s changes the number of bits")                              \
    X(220, ROUNDING, "tt.fp_to_fp from %s to %s narrows and needs a rounding mode")             \
    X(221, CALLEE, "call of %s: %s")                                                            \
    X(222, RETURN, "%s of %s does not fit the function's results")                              \
    X(223, ENCODING, "tensor type %s carries a layout: that is TTGIR, not TTIR")                \
    X(224, CONDITION, "%s wants a scalar i1 as condition, but has %s")                          \
    X(225, NO_PUBLIC, "module has %u public functions; tmetal compiles each")                   \
    X(226, PLACEMENT, "%s may not stand here: %s")                                              \
    X(227, DESCRIPTOR, "%s: %s")                                                                \
    X(301, OP_UNSUPPORTED, "%s is not supported yet")                                           \
    X(302, TYPE_UNSUPPORTED, "%s on %s is not supported: %s")                                   \
    X(303, FP64, "%s needs fp64, which Apple GPUs lack")                                        \
    X(304, FP8, "%s on fp8 type %s is not supported")                                           \
    X(305, ATOMIC, "%s: %s")                                                                    \
    X(306, EXTERN, "external function '%s' is not known")                                       \
    X(307, INLINE_ASM, "inline assembly cannot run on Apple GPUs: %s")                          \
    X(308, RECURSION, "function %s calls itself")                                               \
    X(309, CONTROL, "this shape of control flow is not supported: %s")                          \
    X(310, RESOURCE, "%s: %s")                                                                  \
    X(401, LAYOUT, "no layout found for %s: %s")                                                \
    X(501, TG_MEMORY, "needs %u bytes of threadgroup memory; %s has %u")                        \
    X(502, GPU_NAME, "GPU '%s' is not in the table")                                            \
    X(503, THREADS, "%u threads a threadgroup asked for: %s")                                   \
    X(504, ARGUMENTS, "needs %u buffer arguments; Metal has %u")                                \
    X(505, MSL_VERSION, "needs Metal Shading Language %s, but %s was asked for")                \
    X(506, OPTION, "option %s: %s")                                                             \
    X(901, ARENA, "arena is full: needs at least %llu bytes, has %llu")                         \
    X(902, BUG, "tmetal broke a promise of its own in floor %s: %s")                            \
    X(903, MISUSE, "%s")

typedef enum tmetal_code {
    TMETAL_OK = 0,
#define X(number, name, text) TMETAL_E_##name = number,
    TMETAL_DIAGS(X)
#undef X
    TMETAL_E_LAST = 999
} tmetal_code;

/* -- Memory ------------------------------------------------------------------ */

/* Caller's memory. The library never calls malloc and never keeps `base` after a call. */
typedef struct tmetal_arena {
    void  *base; /* any alignment */
    size_t cap;  /* bytes at base */
    size_t used; /* bytes in use now: results of finished calls; set to 0 to reuse the arena */
    size_t peak; /* most bytes ever in use at once */
    size_t need; /* after TMETAL_E_ARENA: any cap below this fails again; else 0 */
} tmetal_arena;

/* An arena over `bytes` bytes at `memory`. */
TMETAL_API tmetal_arena tmetal_arena_on(void *memory, size_t bytes);

/* A cap that suffices to compile any module whose text has `len` bytes. The reasoning stands at its
 * definition; a test compiles every case in an arena of just this size. */
TMETAL_API size_t tmetal_arena_bound(size_t len);

/* -- What comes in ----------------------------------------------------------- */

typedef struct tmetal_options {
    const char *file;       /* name of the IR text in messages; NULL: "<ttir>" */
    const char *gpu;        /* a row of the GPU table, e.g. "apple-m2"; NULL: "apple-m1", the smallest */
    uint32_t    threads;    /* threads a threadgroup, a power of two from 32 to 1024; 0: the planner picks */
    uint32_t    max_errors; /* stop after this many; 0: 100 */
    uint32_t    msl;        /* newest language version that may be used: 300, 310, 320, 400 or 410; a kernel
                             * that needs a newer one is refused; 0: what the kernel needs */
    uint32_t    no_fusion;  /* 1: a*b+c keeps two roundings (#pragma METAL fp contract(off)) */
    uint32_t    no_fp64;    /* 1: refuse arithmetic on fp64 instead of computing it in software */
    uint32_t    logging;    /* 1: tt.print by MSL 3.2 logging instead of a debug buffer */
    uint32_t    plain;      /* 1: no optimisation (-O0): for comparing results */
    const char *alias;      /* parameters launched on overlapping memory, "0=3,1=4", counted from 0: Metal lets
                             * no two buffers overlap, so these are passed as addresses; NULL: none */
} tmetal_options;

/* -- What comes out ---------------------------------------------------------- */

typedef struct tmetal_place {
    const char *file; /* NULL: unknown */
    uint32_t    line; /* from 1; 0: unknown */
    uint32_t    col;  /* from 1; 0: unknown */
} tmetal_place;

typedef struct tmetal_diag {
    tmetal_code  code;
    const char  *message; /* one line */
    const char  *note;    /* the fact that decided; "" if none */
    const char  *help;    /* the edit or the call that cures it; "" if none */
    tmetal_place python;  /* in the user's source, where the op carries it */
    tmetal_place ir;      /* in the text given; line 0 for IR built in memory */
    const char  *excerpt; /* the line of IR that `ir` points at; "" if none */
} tmetal_diag;

typedef enum tmetal_remark_kind {
    TMETAL_FOUND,   /* a pattern or fact */
    TMETAL_APPLIED, /* a choice or rewrite that shaped the Metal */
    TMETAL_MISSED   /* one that did not, and why */
} tmetal_remark_kind;

typedef struct tmetal_remark {
    tmetal_remark_kind kind;
    const char        *about; /* the pass or the topic: "layout", "reduce", "memory", ... */
    const char        *text;
    tmetal_place       python;
    tmetal_place       ir;
} tmetal_remark;

/* Memory layouts by name; bits, so test (layout & TMETAL_COALESCED) == TMETAL_COALESCED. */
typedef enum tmetal_layout {
    TMETAL_DEFAULT      = 0, /* one element a thread, or no choice was needed */
    TMETAL_ROW_MAJOR    = 1, /* neighbouring lanes walk the last axis */
    TMETAL_COLUMN_MAJOR = 2, /* neighbouring lanes walk the first axis */
    TMETAL_TILED        = 4, /* 8 by 8 simdgroup tiles: dot operands and results */
    TMETAL_COALESCED    = 8  /* input of a reduction: thread, then simdgroup, then threadgroup */
} tmetal_layout;

/* The layout of one tensor value of a kernel. */
typedef struct tmetal_layout_row {
    const char   *value;  /* the value's name in the IR, e.g. "%row" */
    const char   *type;   /* its type, e.g. "tensor<1024xf32>" */
    tmetal_layout layout; /* sum of the bits that hold */
    const char   *map;    /* the linear map: "register 1 2 | lane 4 8 16 32 64 | simdgroup 128 256" */
    const char   *reason; /* why this one */
    uint32_t      width;  /* elements of one access of one lane; 0: not loaded or stored */
    uint32_t      lines;  /* 128-byte lines that one full simdgroup touches in one access; 0: unknown */
    uint32_t      fewest; /* the fewest that could hold the same bytes */
    tmetal_place  python;
    tmetal_place  ir;
} tmetal_layout_row;

typedef enum tmetal_arg_kind {
    TMETAL_ARG_BUFFER,  /* setBuffer at `index` */
    TMETAL_ARG_BYTES,   /* `size` bytes at `offset` of the data at `index` (setBytes) */
    TMETAL_ARG_SCRATCH, /* setBuffer of scratch buffer `param` at `index` */
    TMETAL_ARG_ADDRESS, /* the buffer's 8-byte gpuAddress at `offset` of the data at `index` */
    TMETAL_ARG_DEBUG    /* the debug buffer of docs/debugging.md, zeroed before each launch */
} tmetal_arg_kind;

enum { TMETAL_READS = 1, TMETAL_WRITES = 2 };

typedef struct tmetal_arg {
    uint32_t        param;  /* parameter of the TTIR function, from 0; for scratch its id */
    const char     *name;   /* as in the IR */
    uint32_t        index;  /* Metal buffer index, 0 to 30 */
    tmetal_arg_kind kind;
    const char     *type;   /* element or scalar type, e.g. "f32" */
    uint32_t        access; /* buffers: TMETAL_READS, TMETAL_WRITES or both */
    uint32_t        align;  /* buffers: bytes that the address must be a multiple of */
    uint32_t        offset; /* bytes: where in the data at `index` */
    uint32_t        size;   /* bytes: how many */
} tmetal_arg;

typedef struct tmetal_scratch {
    uint32_t id;
    uint64_t bytes;
} tmetal_scratch;

typedef struct tmetal_kernel {
    const char              *name;                /* the Triton function */
    const char              *entry;               /* the Metal function */
    const char              *msl;                 /* the whole source text, NUL-terminated */
    size_t                   msl_len;             /* without the NUL */
    uint32_t                 threads;             /* per threadgroup, one dimension */
    uint32_t                 grid[3];             /* threadgroups; all 0: one per Triton program */
    uint32_t                 threadgroup_bytes;   /* declared in the text, rounded up to 16 */
    uint32_t                 max_total_threads;   /* what the text declares; 0: nothing */
    uint32_t                 msl_version;         /* 300, 310, 320, 400, 410 */
    uint32_t                 family;              /* first MTLGPUFamilyApple that can run it */
    const tmetal_arg        *args;
    uint32_t                 n_args;
    const tmetal_layout_row *layouts;
    uint32_t                 n_layouts;
} tmetal_kernel;

typedef struct tmetal_result {
    tmetal_code          code;    /* TMETAL_OK or that of the first error */
    const char          *gpu;     /* the row of the table that was used */
    const tmetal_kernel *kernels; /* in launch order; none unless code is TMETAL_OK */
    uint32_t             n_kernels;
    const tmetal_scratch *scratch;
    uint32_t             n_scratch;
    const tmetal_diag   *diags;
    uint32_t             n_diags;
    const tmetal_remark *remarks;
    uint32_t             n_remarks;
    tmetal_diag          full;    /* for TMETAL_E_ARENA: the arena has no room for it */
    char                 full_text[160];
} tmetal_result;

typedef struct tmetal_module tmetal_module; /* IR in an arena; made by tmetal_parse or a builder */

/* -- Compiling --------------------------------------------------------------- */

/* Compile one Triton IR module to Metal Shading Language.
 *
 *   src, len   MLIR text, UTF-8, no NUL needed; not kept after return
 *   opt        NULL: every default
 *   arena      everything in `out` lives here until the caller reuses it
 *   out        always filled: kernels on success, diagnostics either way
 *
 * Returns TMETAL_OK or the first error's code. Same input, same bytes out, on every machine. Two
 * threads may compile at once on two arenas. */
TMETAL_API tmetal_code tmetal_compile(const char *src, size_t len, const tmetal_options *opt,
                                      tmetal_arena *arena, tmetal_result *out);

/* The parts of tmetal_compile on their own. Each fills `out` with its diagnostics and returns its code.
 * tmetal_parse makes a module, which lives in the arena and keeps a copy of the text, so that later
 * diagnostics find their lines. The others leave the module as it is: one may be verified, printed,
 * planned and emitted any number of times, with different options and in any order, and in any arena. */
TMETAL_API tmetal_code tmetal_parse(const char *src, size_t len, const tmetal_options *opt,
                                    tmetal_arena *arena, tmetal_module **module, tmetal_result *out);
TMETAL_API tmetal_code tmetal_verify(const tmetal_module *module, const tmetal_options *opt,
                                     tmetal_arena *arena, tmetal_result *out);
/* The module as Triton IR text of the 3.6 spelling; `text` is NUL-terminated, `text_len` without it. */
TMETAL_API tmetal_code tmetal_print(const tmetal_module *module, tmetal_arena *arena, const char **text,
                                    size_t *text_len, tmetal_result *out);
/* Choose layouts, threads and memory: `out` has launch plans, layouts and remarks, but `msl` is NULL. */
TMETAL_API tmetal_code tmetal_plan(const tmetal_module *module, const tmetal_options *opt,
                                   tmetal_arena *arena, tmetal_result *out);
/* Plan and print: what tmetal_compile does after parsing. */
TMETAL_API tmetal_code tmetal_emit(const tmetal_module *module, const tmetal_options *opt,
                                   tmetal_arena *arena, tmetal_result *out);

/* 1 when both modules say the same: same functions, ops, types, attributes, names and places; 0 when
 * they do not or when the arena has no room to compare them. */
TMETAL_API int tmetal_same(const tmetal_module *a, const tmetal_module *b, tmetal_arena *arena);

/* -- Reports as text (all NUL-terminated, in the arena; NULL when it is full) --- */

/* The launch plan as JSON: its shape is described in docs/plan.md. */
TMETAL_API const char *tmetal_plan_json(const tmetal_result *result, tmetal_arena *arena);
/* One diagnostic as lines for a terminal, the first of form "file:line:col: error[TMnnn]: text". */
TMETAL_API const char *tmetal_diag_text(const tmetal_diag *diag, tmetal_arena *arena);
/* The text of a code without its arguments, e.g. "expected %s, found %s"; "" for an unknown code. */
TMETAL_API const char *tmetal_code_text(tmetal_code code);

/* -- The tables -------------------------------------------------------------- */

typedef struct tmetal_gpu {
    const char *name;       /* "apple-m1" */
    const char *device;     /* MTLDevice.name on macOS, "Apple M1" */
    uint32_t    family;     /* 7 for MTLGPUFamilyApple7 */
    uint32_t    cores;      /* most GPU cores sold under that name; 0: unknown */
    uint32_t    gbps;       /* memory bandwidth in GB/s of that bin; 0: unknown */
    uint32_t    tg_bytes;   /* threadgroup memory a threadgroup */
    uint32_t    threads;    /* ceiling of threads a threadgroup */
    uint32_t    simd;       /* lanes of a simdgroup */
    uint32_t    registers;  /* 32-bit registers a thread may use before spilling; 0: unknown */
    uint32_t    bf16;       /* 1: bfloat arithmetic pays; 0: it is a storage type */
    const char *source;
} tmetal_gpu;

TMETAL_API size_t            tmetal_gpu_count(void);
TMETAL_API const tmetal_gpu *tmetal_gpu_at(size_t index);         /* NULL past the end */
TMETAL_API const tmetal_gpu *tmetal_gpu_named(const char *name); /* row name or MTLDevice.name; NULL: none */

typedef struct tmetal_op_info {
    const char *name;      /* "arith.addf" */
    const char *group;     /* the sheet it belongs to: "arith", "tt memory", ... */
    int         lowered;   /* 1: compiled to Metal; 0: read and printed only */
} tmetal_op_info;

TMETAL_API size_t                tmetal_op_count(void);
TMETAL_API tmetal_op_info        tmetal_op_at(size_t index);

/* -- Building IR without text ------------------------------------------------
 * A builder makes one module, call by call; tests/unit/builder.c builds a softmax and a matmul. Values,
 * types and blocks are small numbers, 0 means none. A mistake makes the builder fail for good: later
 * calls do nothing and return 0, and tmetal_build_end gives the diagnostics, so that calls need no
 * checks between. Texts and lists are copied. One builder is for one thread at a time. */
typedef uint32_t tmetal_value;
typedef uint32_t tmetal_type;
typedef uint32_t tmetal_block;

typedef struct tmetal_builder tmetal_builder; /* in the arena that it was begun in */

/* NULL when the arena is too small; arena->need then says how small. */
TMETAL_API tmetal_builder *tmetal_build_begin(tmetal_arena *arena);
/* Verifies. `module` is NULL unless all was right. The builder must not be used again. */
TMETAL_API tmetal_code tmetal_build_end(tmetal_builder *b, tmetal_module **module, tmetal_result *out);

/* Any type by its text: "f32", "!tt.ptr<f32>", "tensor<128x64xf16>", "!tt.tensordesc<tensor<64xf32>>". */
TMETAL_API tmetal_type tmetal_build_type(tmetal_builder *b, const char *text);
TMETAL_API tmetal_type tmetal_build_type_of(tmetal_builder *b, tmetal_value value);

/* Begin a kernel with arguments of these types. `arg_names` may be NULL, and so may each name in it. */
TMETAL_API void tmetal_build_kernel(tmetal_builder *b, const char *name, const tmetal_type *args,
                                    const char *const *arg_names, uint32_t n_args);
/* Begin a private function, which tt.call may call: tmetal_build_op_n(b, "tt.call", ..., "{callee = @f}", ...). */
TMETAL_API void tmetal_build_func(tmetal_builder *b, const char *name, const tmetal_type *args,
                                  const char *const *arg_names, uint32_t n_args,
                                  const tmetal_type *results, uint32_t n_results);
TMETAL_API tmetal_value tmetal_build_arg(tmetal_builder *b, uint32_t index);
/* Promise that argument `index` is a multiple of `bytes` (pointers) or of that number (integers). */
TMETAL_API void tmetal_build_divisible(tmetal_builder *b, uint32_t index, uint32_t bytes);
/* Further attributes, as text: of an argument, of the function begun last, or of the module (outside
 * of functions), e.g. "{tt.contiguity = 16 : i32}", "{noinline = true}". */
TMETAL_API void tmetal_build_arg_attrs(tmetal_builder *b, uint32_t index, const char *attrs);
TMETAL_API void tmetal_build_attrs(tmetal_builder *b, const char *attrs);
/* End the block at hand with tt.return; the function too, unless a block of it is still open. */
TMETAL_API void tmetal_build_return(tmetal_builder *b, const tmetal_value *values, uint32_t n);

/* The place that what is built next comes from: line and column from 1; line 0 ends it. */
TMETAL_API void tmetal_build_place(tmetal_builder *b, const char *file, uint32_t line, uint32_t col);
/* The value's name in the IR and, where it becomes a variable, in the Metal. */
TMETAL_API void tmetal_build_name(tmetal_builder *b, tmetal_value value, const char *name);

/* Any op without regions and with at most one result. `attrs` is text as in MLIR's generic form, or NULL:
 * "{axis = 1 : i32}"; attributes that are enums take words too: "{predicate = \"slt\"}". `type` is the
 * result's, 0 to have it follow from operands and attributes (it does for all but casts, tt.splat,
 * tt.broadcast, tt.reshape and a few more). Returns the result; 0 for an op without one. */
TMETAL_API tmetal_value tmetal_build_op(tmetal_builder *b, const char *op, const tmetal_value *operands,
                                        uint32_t n_operands, const char *attrs, tmetal_type type);
/* The same with any number of results, whose types are all given. Returns the first. */
TMETAL_API tmetal_value tmetal_build_op_n(tmetal_builder *b, const char *op, const tmetal_value *operands,
                                          uint32_t n_operands, const char *attrs, const tmetal_type *types,
                                          uint32_t n_types);
/* Another result of the op that `first` comes from. */
TMETAL_API tmetal_value tmetal_build_result(tmetal_builder *b, tmetal_value first, uint32_t index);
/* Constants; of a tensor type every element is `value`. Floats are rounded to nearest. Other constants:
 * tmetal_build_op(b, "arith.constant", NULL, 0, "{value = dense<[1, 2]> : tensor<2xi32>}", 0). */
TMETAL_API tmetal_value tmetal_build_int(tmetal_builder *b, tmetal_type type, int64_t value);
TMETAL_API tmetal_value tmetal_build_float(tmetal_builder *b, tmetal_type type, double value);

/* Ops with regions: open, build the body, close with the values that it yields.
 *
 *   op                     operands                             body's arguments           close yields
 *   scf.for                lower, upper, step, carried ...      index, carried ...         carried ...
 *   scf.while              carried ...                          carried ...; after _next   carried ...
 *                                                               what the condition passed
 *   scf.if                 condition                            none; else after _next     results ...
 *   tt.reduce, tt.scan     tensors ...                          an element of each, twice  one of each
 *   tt.map_elementwise     tensors ...                          `pack` elements of each    results ...
 *   scf.execute_region     none                                 none                       results ...
 *
 * `types` are the results' for scf.if, tt.map_elementwise and scf.execute_region; NULL for the others,
 * where they follow. */
TMETAL_API void         tmetal_build_open(tmetal_builder *b, const char *op, const tmetal_value *operands,
                                          uint32_t n_operands, const char *attrs, const tmetal_type *types,
                                          uint32_t n_types);
TMETAL_API tmetal_value tmetal_build_body_arg(tmetal_builder *b, uint32_t index);
/* The second region: of scf.if with the values that the first yields, of scf.while with the condition
 * (an i1) and the values that it passes to body and results. */
TMETAL_API void         tmetal_build_next(tmetal_builder *b, const tmetal_value *values, uint32_t n);
/* Returns the first result; tmetal_build_result gives the others. */
TMETAL_API tmetal_value tmetal_build_close(tmetal_builder *b, const tmetal_value *yields, uint32_t n);

/* Unstructured control flow: further blocks of the function (or scf.execute_region) at hand. Make them,
 * branch to them, then enter and fill each. */
TMETAL_API tmetal_block tmetal_build_block(tmetal_builder *b, const tmetal_type *args, uint32_t n_args);
TMETAL_API tmetal_value tmetal_build_block_arg(tmetal_builder *b, tmetal_block block, uint32_t index);
TMETAL_API void         tmetal_build_enter(tmetal_builder *b, tmetal_block block);
TMETAL_API void         tmetal_build_branch(tmetal_builder *b, tmetal_block to, const tmetal_value *values, uint32_t n);
TMETAL_API void         tmetal_build_branch_if(tmetal_builder *b, tmetal_value condition,
                                               tmetal_block yes, const tmetal_value *yes_values, uint32_t n_yes,
                                               tmetal_block no, const tmetal_value *no_values, uint32_t n_no);

#endif /* TMETAL_H */
#ifdef TMETAL_IMPLEMENTATION
#ifndef TMETAL_IMPLEMENTED
#define TMETAL_IMPLEMENTED

/*==============================================================================
 * >>config  [3]  Compilers, asserts, limits
 *============================================================================*/

#include <stdarg.h>
#include <string.h>
#ifndef TMETAL_NO_SETJMP
#    include <setjmp.h>
#endif

/* TMETAL_DEBUG: check our own promises, verify after every pass, fill dropped scratch with 0xDD. */
#ifdef TMETAL_DEBUG
#    define TMI_ASSERT(job, floor, cond) ((cond) ? (void)0 : tmi_bug((job), (floor), #cond))
#else
#    define TMI_ASSERT(job, floor, cond) ((void)0)
#endif

#ifndef TMI_TRAP
#    define TMI_TRAP() (*(volatile int *)0 = 0)
#endif

/* First size of growing tables; the hostile build of the tests sets 1. */
#ifndef TMI_FIRST
#    define TMI_FIRST 64u
#endif

#define TMI_ALIGN       16u      /* of every allocation: enough for any type used here */
#define TMI_MAX_DEPTH   200u     /* nesting of regions, types, attributes and locations */
#define TMI_MAX_RANK    24u      /* tl.sort makes rank 20; the sheet knows no more */
#define TMI_MAX_NUMEL   1048576u /* Triton's own limit of elements a tensor */
#define TMI_MAX_SRC     0xfffffff0u
#define TMI_NONE        0xffffffffu

/* -Wstrict types of the C99 kind do not exist in C++11: a static assert that both accept. */
#define TMI_STATIC_ASSERT(name, cond) typedef char tmi_static_##name[(cond) ? 1 : -1]
TMI_STATIC_ASSERT(size_holds_32_bits, sizeof(size_t) >= 4);
TMI_STATIC_ASSERT(float_is_ieee, sizeof(float) == 4 && sizeof(double) == 8);

#if defined(__GNUC__) || defined(__clang__)
#    define TMI_UNUSED __attribute__((unused))
#    define TMI_PRINTF __attribute__((cold))
#    define TMI_NORETURN __attribute__((noreturn))
#else
#    define TMI_UNUSED
#    define TMI_PRINTF
#    define TMI_NORETURN
#endif

/*==============================================================================
 * >>base  [4]  Arena, growing arrays, strings, text, numbers, sorting
 *
 * gives   tmi_job, tmi_take(), tmi_vec, tmi_intern(), tmi_text, tmi_float_*()
 * uses    >>config
 *============================================================================*/

/* Everything one call needs. Results grow from the bottom of the arena, scratch from the top. */
typedef struct tmi_job {
    tmetal_arena         *arena;
    size_t                top;    /* scratch starts here */
    size_t                end;    /* and ends here */
    const char           *floor;  /* who asked last, for the message of a full arena */
    const tmetal_options *opt;    /* never NULL */
    tmetal_result        *out;    /* never NULL */
    struct tmi_note      *first_note; /* diagnostics and remarks in order, see >>diag */
    struct tmi_note      *last_note;
    const char           *src;    /* text being read, for excerpts; NULL when there is none */
    size_t                src_len;
    const char           *src_name;
    uint32_t              n_errors;
    int                   no_text; /* plan only: the Metal is not kept */
    uint64_t              copied, most_copied; /* ops, see tmi_may_copy */
    uint32_t              depth;  /* of nesting, against TMI_MAX_DEPTH */
    size_t                seek_at, seek_start; /* where the last line count stopped, see tmi_place_of */
    uint32_t              seek_line;
#ifndef TMETAL_NO_SETJMP
    jmp_buf               full;
#endif
} tmi_job;

/* -- Arena -------------------------------------------------------------------- */

/* Leaving through the one non-local exit: a full arena, or a promise of ours that did not hold.
 * Where there is no setjmp (freestanding wasm32) the host supplies TMETAL_ABORT(code). */
static void tmi_leave(tmi_job *job, int code) TMI_NORETURN;
static void tmi_leave(tmi_job *job, int code) {
#ifdef TMETAL_NO_SETJMP
    (void)job;
    TMETAL_ABORT(code);
#else
    longjmp(job->full, code);
#endif
}

static uint32_t tmi_max32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t tmi_min32(uint32_t a, uint32_t b) { return a < b ? a : b; }

static size_t tmi_mul_sat(size_t a, size_t b) {
    return b != 0 && a > (size_t)-1 / b ? (size_t)-1 : a * b;
}

static size_t tmi_add_sat(size_t a, size_t b) {
    return a > (size_t)-1 - b ? (size_t)-1 : a + b;
}

static size_t tmi_align_up(size_t n) {
    return n > (size_t)-1 - TMI_ALIGN ? (size_t)-1 : (n + TMI_ALIGN - 1) & ~(size_t)(TMI_ALIGN - 1);
}

/* Bytes from the caller's arena, zeroed: results from the bottom, scratch from the top, so both may
 * be made in any order. Never NULL: a full arena notes what was missing and leaves. Both ends were
 * aligned on entry; reports give `peak` without that padding, so it does not depend on addresses. */
static void *tmi_take(tmi_job *job, size_t count, size_t size, int scratch) {
    tmetal_arena *a = job->arena;
    size_t        bytes = tmi_align_up(tmi_mul_sat(count, size));
    size_t        busy = a->used + (job->end - job->top);
    char         *at;

    if (bytes > job->top - a->used) {
        a->need = tmi_add_sat(busy, bytes);
        tmi_leave(job, 1);
    }
    if (a->peak < busy + bytes) a->peak = busy + bytes;
    if (scratch) {
        job->top -= bytes;
        at = (char *)a->base + job->top;
    } else {
        at = (char *)a->base + a->used;
        a->used += bytes;
    }
    return memset(at, 0, bytes);
}

#define TMI_NEW(job, type, count)  ((type *)tmi_take((job), (count), sizeof(type), 0))
#define TMI_TEMP(job, type, count) ((type *)tmi_take((job), (count), sizeof(type), 1))

/* Scratch lives between take and drop of a mark in one function. */
typedef struct tmi_mark {
    size_t top, used;
} tmi_mark;

static tmi_mark tmi_mark_take(const tmi_job *job) {
    tmi_mark m;
    m.top = job->top;
    m.used = job->arena->used;
    return m;
}

static void tmi_mark_drop(tmi_job *job, tmi_mark m) {
#ifdef TMETAL_DEBUG
    memset((char *)job->arena->base + job->top, 0xDD, m.top - job->top);
#endif
    job->top = m.top;
}

/* Results made since the mark too: for what was only tried. */
static void tmi_mark_undo(tmi_job *job, tmi_mark m) {
#ifdef TMETAL_DEBUG
    memset((char *)job->arena->base + m.used, 0xDD, job->arena->used - m.used);
#endif
    job->arena->used = m.used;
    tmi_mark_drop(job, m);
}

/* -- Growing arrays ------------------------------------------------------------
 * Pages of 16 items: an item never moves, so a pointer to it stays good while the array grows, and
 * nothing is copied but the short table of pages. */
#define TMI_PAGE_BITS 4u
#define TMI_PAGE      (1u << TMI_PAGE_BITS)

typedef struct tmi_vec {
    void   **page;
    uint32_t n, n_page, cap_page, size;
    int      scratch; /* which end of the arena it grows in */
} tmi_vec;

static void tmi_vec_init(tmi_vec *v, size_t size, int scratch) {
    memset(v, 0, sizeof *v);
    v->size = (uint32_t)size;
    v->scratch = scratch;
}

/* One more item at the end, zeroed. */
static void *tmi_vec_add(tmi_job *job, tmi_vec *v) {
    uint32_t i = v->n++;
    if ((i >> TMI_PAGE_BITS) == v->n_page) {
        if (v->n_page == v->cap_page) {
            uint32_t cap = v->cap_page ? v->cap_page * 2 : (TMI_FIRST + TMI_PAGE - 1) / TMI_PAGE;
            void   **page = (void **)tmi_take(job, cap, sizeof(void *), v->scratch);
            if (v->n_page) memcpy(page, v->page, v->n_page * sizeof *page);
            v->page = page;
            v->cap_page = cap;
        }
        v->page[v->n_page++] = tmi_take(job, TMI_PAGE, v->size, v->scratch);
    }
    return (char *)v->page[i >> TMI_PAGE_BITS] + (size_t)(i & (TMI_PAGE - 1)) * v->size;
}

static void *tmi_vec_at(const tmi_vec *v, uint32_t i) {
#ifdef TMETAL_DEBUG
    if (i >= v->n_page * TMI_PAGE) TMI_TRAP(); /* an id of ours that does not exist */
#endif
    return (char *)v->page[i >> TMI_PAGE_BITS] + (size_t)(i & (TMI_PAGE - 1)) * v->size;
}

#define TMI_AT(vec, type, i) ((type *)tmi_vec_at((vec), (i)))

/* -- Hashing -------------------------------------------------------------------
 * Open addressing over 32-bit ids; 0 is an empty slot. The caller compares keys, so one table type
 * serves strings, types and per-thread instructions. Never iterated: order comes from ids. */
typedef struct tmi_hash {
    uint32_t *slot;
    uint32_t  n, cap;
    int       scratch;
} tmi_hash;

static uint32_t tmi_mix(uint32_t h, uint32_t x) {
    h ^= x * 0x9E3779B1u;
    h = (h << 15) | (h >> 17);
    return h * 0x85EBCA77u + 0x165667B1u;
}

static uint32_t tmi_hash_bytes(const void *p, size_t n) {
    const unsigned char *s = (const unsigned char *)p;
    uint32_t             h = 2166136261u;
    size_t               i;
    for (i = 0; i < n; i++) h = (h ^ s[i]) * 16777619u;
    return h ^ (h >> 15);
}

/* Room for one more id; `hash_of` gives the hash of an id that is already in. */
static void tmi_hash_room(tmi_job *job, tmi_hash *t, uint32_t (*hash_of)(const void *, uint32_t),
                          const void *ctx) {
    uint32_t *old = t->slot, cap = t->cap, i, k;
    if (t->n * 4 < t->cap * 3) return;
    t->cap = cap ? cap * 2 : TMI_FIRST;
    if (t->cap < 4) t->cap = 4;
    t->slot = (uint32_t *)tmi_take(job, t->cap, sizeof(uint32_t), t->scratch);
    for (i = 0; i < cap; i++) {
        if (!old[i]) continue;
        for (k = hash_of(ctx, old[i]) & (t->cap - 1); t->slot[k]; k = (k + 1) & (t->cap - 1)) {}
        t->slot[k] = old[i];
    }
}

/* -- Strings --------------------------------------------------------------------
 * Each different string once; names, words and messages are ids. Id 0 is the empty string. */
typedef struct tmi_string {
    const char *p;
    uint32_t    len, hash;
} tmi_string;

typedef struct tmi_strings {
    tmi_vec  item; /* tmi_string */
    tmi_hash hash;
} tmi_strings;

static uint32_t tmi_string_hash(const void *ctx, uint32_t id) {
    return TMI_AT(&((const tmi_strings *)ctx)->item, tmi_string, id)->hash;
}

static uint32_t tmi_intern(tmi_job *job, tmi_strings *s, const char *p, size_t len) {
    uint32_t    h = tmi_hash_bytes(p, len), k, id;
    tmi_string *str;
    char       *copy;

    if (len == 0) return 0;
    tmi_hash_room(job, &s->hash, tmi_string_hash, s);
    for (k = h & (s->hash.cap - 1); (id = s->hash.slot[k]) != 0; k = (k + 1) & (s->hash.cap - 1)) {
        str = TMI_AT(&s->item, tmi_string, id);
        if (str->hash == h && str->len == len && memcmp(str->p, p, len) == 0) return id;
    }
    copy = TMI_NEW(job, char, len + 1);
    memcpy(copy, p, len);
    id = s->item.n;
    str = (tmi_string *)tmi_vec_add(job, &s->item);
    str->p = copy;
    str->len = (uint32_t)len;
    str->hash = h;
    s->hash.slot[k] = id;
    s->hash.n++;
    return id;
}

static void tmi_strings_init(tmi_job *job, tmi_strings *s) {
    tmi_string *empty;
    memset(s, 0, sizeof *s);
    tmi_vec_init(&s->item, sizeof(tmi_string), 0);
    empty = (tmi_string *)tmi_vec_add(job, &s->item);
    empty->p = "";
}

static const char *tmi_string_at(const tmi_strings *s, uint32_t id) {
    return TMI_AT(&s->item, tmi_string, id)->p;
}

/* -- Text ------------------------------------------------------------------------
 * Text grows in scratch, in chunks that never move, and is joined once at the end. */
typedef struct tmi_chunk {
    struct tmi_chunk *next;
    uint32_t          n, cap;
} tmi_chunk;

typedef struct tmi_text {
    tmi_job   *job;
    tmi_chunk *first, *last;
    size_t     len;
    uint32_t   col; /* bytes since the last newline */
} tmi_text;

static char *tmi_chunk_text(tmi_chunk *c) {
    return (char *)(c + 1);
}

static void tmi_text_init(tmi_job *job, tmi_text *t) {
    memset(t, 0, sizeof *t);
    t->job = job;
}

static void tmi_put_bytes(tmi_text *t, const char *p, size_t n) {
    size_t i, part;
    for (i = 0; i < n; i++) t->col = p[i] == '\n' ? 0 : t->col + 1;
    t->len += n;
    while (n) {
        tmi_chunk *c = t->last;
        if (!c || c->n == c->cap) {
            size_t cap = c ? (size_t)c->cap * 2 : 256 - sizeof(tmi_chunk);
            if (cap > 16384 - sizeof(tmi_chunk)) cap = 16384 - sizeof(tmi_chunk);
            c = (tmi_chunk *)tmi_take(t->job, 1, sizeof(tmi_chunk) + cap, 1);
            c->cap = (uint32_t)cap;
            if (t->last) t->last->next = c;
            else t->first = c;
            t->last = c;
        }
        part = c->cap - c->n < n ? c->cap - c->n : n;
        memcpy(tmi_chunk_text(c) + c->n, p, part);
        c->n += (uint32_t)part;
        p += part;
        n -= part;
    }
}

static void tmi_put_str(tmi_text *t, const char *s) {
    tmi_put_bytes(t, s, strlen(s));
}

static void tmi_put_char(tmi_text *t, char c) {
    tmi_put_bytes(t, &c, 1);
}

static void tmi_put_u64(tmi_text *t, uint64_t v) {
    char     buf[24];
    uint32_t n = sizeof buf;
    do {
        buf[--n] = (char)('0' + (int)(v % 10));
        v /= 10;
    } while (v);
    tmi_put_bytes(t, buf + n, sizeof buf - n);
}

static void tmi_put_i64(tmi_text *t, int64_t v) {
    if (v < 0) tmi_put_char(t, '-');
    tmi_put_u64(t, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void tmi_put_hex(tmi_text *t, uint64_t v, uint32_t digits) {
    static const char hex[] = "0123456789ABCDEF";
    while (digits-- > 0) tmi_put_char(t, hex[(v >> (4 * digits)) & 15]);
}

/* Our own formats, the few that messages need: %s %c %d %u %lld %llu %%. */
static void tmi_put_va(tmi_text *t, const char *fmt, va_list ap) {
    const char *p;
    for (p = fmt; *p; p++) {
        int wide;
        if (*p != '%') {
            const char *q = p;
            while (q[1] && q[1] != '%') q++;
            tmi_put_bytes(t, p, (size_t)(q - p) + 1);
            p = q;
            continue;
        }
        wide = p[1] == 'l' && p[2] == 'l';
        p += wide ? 3 : 1;
        switch (*p) {
        case 's': tmi_put_str(t, va_arg(ap, const char *)); break;
        case 'c': tmi_put_char(t, (char)va_arg(ap, int)); break;
        case 'd': tmi_put_i64(t, wide ? va_arg(ap, long long) : (long long)va_arg(ap, int)); break;
        case 'u':
            tmi_put_u64(t, wide ? va_arg(ap, unsigned long long)
                                : (unsigned long long)va_arg(ap, unsigned));
            break;
        default: tmi_put_char(t, *p); break;
        }
    }
}

static void tmi_put(tmi_text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    tmi_put_va(t, fmt, ap);
    va_end(ap);
}

/* The whole text, NUL-terminated, in results or scratch. */
static char *tmi_text_join(tmi_text *t, int scratch) {
    char      *p = (char *)tmi_take(t->job, t->len + 1, 1, scratch);
    size_t     at = 0;
    tmi_chunk *c;
    for (c = t->first; c; c = c->next) {
        memcpy(p + at, tmi_chunk_text(c), c->n);
        at += c->n;
    }
    return p;
}

static const char *tmi_format(tmi_job *job, int scratch, const char *fmt, ...) TMI_UNUSED;
static const char *tmi_format(tmi_job *job, int scratch, const char *fmt, ...) {
    tmi_text    t;
    va_list     ap;
    tmi_mark    m = tmi_mark_take(job);
    const char *s;
    tmi_text_init(job, &t);
    va_start(ap, fmt);
    tmi_put_va(&t, fmt, ap);
    va_end(ap);
    s = tmi_text_join(&t, scratch);
    if (!scratch) tmi_mark_drop(job, m);
    return s;
}

/* -- Bits --------------------------------------------------------------------- */

static uint32_t tmi_log2(uint64_t v) { /* of the highest set bit; 0 for 0 */
    uint32_t n = 0;
    while (v >>= 1) n++;
    return n;
}

static int tmi_is_pow2(uint64_t v) {
    return v != 0 && (v & (v - 1)) == 0;
}

static uint32_t tmi_popcount(uint32_t v) {
    uint32_t n = 0;
    for (; v; v &= v - 1) n++;
    return n;
}

/* Two's complement value of the low `bits` bits. */
static int64_t tmi_sext(uint64_t v, uint32_t bits) {
    uint64_t sign;
    if (bits == 0 || bits >= 64) return (int64_t)v;
    sign = (uint64_t)1 << (bits - 1);
    v &= (sign << 1) - 1;
    return (int64_t)((v ^ sign) - sign);
}

static uint64_t tmi_zext(uint64_t v, uint32_t bits) {
    return bits >= 64 ? v : v & (((uint64_t)1 << bits) - 1);
}

/* -- Floats --------------------------------------------------------------------
 * A constant keeps the bits of its own type. Text is read and printed through exact integers, so
 * neither the C library's locale nor double rounding can change a bit. */
typedef struct tmi_float_format {
    uint8_t bits, exp_bits, man_bits; /* man_bits without the hidden one */
    int8_t  special;                  /* 0 IEEE; 1 FN: no inf, NaN all ones; 2 FNUZ: NaN is -0; 3 none */
    int16_t bias;
} tmi_float_format;

typedef struct tmi_big { /* little-endian 32-bit words; enough for 10^350 * 2^64 */
    uint32_t n, w[48];
} tmi_big;

static void tmi_big_set(tmi_big *b, uint64_t v) {
    b->w[0] = (uint32_t)v;
    b->w[1] = (uint32_t)(v >> 32);
    b->n = b->w[1] ? 2 : b->w[0] ? 1 : 0;
}

static void tmi_big_mul(tmi_big *b, uint32_t m) {
    uint64_t carry = 0;
    uint32_t i;
    for (i = 0; i < b->n; i++) {
        carry += (uint64_t)b->w[i] * m;
        b->w[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && b->n < 48) b->w[b->n++] = (uint32_t)carry;
}

static void tmi_big_pow10(tmi_big *b, uint32_t e) {
    for (; e >= 9; e -= 9) tmi_big_mul(b, 1000000000u);
    for (; e > 0; e--) tmi_big_mul(b, 10u);
}

static uint32_t tmi_big_bits(const tmi_big *b) {
    return b->n ? (b->n - 1) * 32 + tmi_log2(b->w[b->n - 1]) + 1 : 0;
}

static void tmi_big_shl(tmi_big *b, uint32_t s) {
    uint32_t words = s / 32, bits = s % 32, i;
    if (!b->n || b->n + words + 1 > 48) return;
    for (i = b->n + words + 1; i-- > 0;) {
        uint64_t hi = i >= words && i - words < b->n ? b->w[i - words] : 0;
        uint64_t lo = i >= words + 1 && i - words - 1 < b->n ? b->w[i - words - 1] : 0;
        b->w[i] = bits ? (uint32_t)((hi << bits) | (lo >> (32 - bits))) : (uint32_t)hi;
    }
    b->n += words + 1;
    while (b->n && !b->w[b->n - 1]) b->n--;
}

static int tmi_big_cmp(const tmi_big *a, const tmi_big *b) {
    uint32_t i;
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (i = a->n; i-- > 0;)
        if (a->w[i] != b->w[i]) return a->w[i] < b->w[i] ? -1 : 1;
    return 0;
}

static void tmi_big_sub(tmi_big *a, const tmi_big *b) { /* a >= b */
    uint64_t borrow = 0;
    uint32_t i;
    for (i = 0; i < a->n; i++) {
        uint64_t d = (uint64_t)a->w[i] - (i < b->n ? b->w[i] : 0) - borrow;
        a->w[i] = (uint32_t)d;
        borrow = (d >> 32) & 1;
    }
    while (a->n && !a->w[a->n - 1]) a->n--;
}

/* a / b with 64 bits or fewer of quotient; what is left stays in a. */
static uint64_t tmi_big_div(tmi_big *a, const tmi_big *b) {
    uint64_t q = 0;
    uint32_t s = tmi_big_bits(a) > tmi_big_bits(b) ? tmi_big_bits(a) - tmi_big_bits(b) : 0;
    tmi_big  d;
    for (;; s--) {
        d = *b;
        tmi_big_shl(&d, s);
        q <<= 1;
        if (tmi_big_cmp(a, &d) >= 0) {
            tmi_big_sub(a, &d);
            q |= 1;
        }
        if (!s) return q;
    }
}

/* Round mant * 2^exp (plus `sticky` below) to a format: nearest, ties to even. */
static uint64_t tmi_float_round(const tmi_float_format *f, int negative, uint64_t mant, int exp,
                                int sticky) {
    uint64_t sign = (uint64_t)(negative != 0) << (f->bits - 1);
    uint64_t inf = (((uint64_t)1 << f->exp_bits) - 1) << f->man_bits;
    int      e, drop;
    uint64_t m, half, rest;

    if (!mant) return f->special == 2 ? 0 : sign;
    while (!(mant >> 63)) {
        mant <<= 1;
        exp--;
    }
    e = exp + 63 + f->bias;               /* biased exponent of the leading bit */
    drop = 63 - f->man_bits;              /* bits below the last kept one */
    if (e < 1) drop += 1 - e;             /* subnormal: fewer bits kept */
    if (drop > 63) {
        m = 0;
        rest = drop == 64 ? mant : 0;
        half = (uint64_t)1 << 63;
        if (drop > 64) rest = 0, half = 1;
    } else {
        m = mant >> drop;
        rest = mant & (((uint64_t)1 << drop) - 1);
        half = (uint64_t)1 << (drop - 1);
    }
    if (rest > half || (rest == half && (sticky || (m & 1)))) m++;
    if (e < 1) e = (m >> f->man_bits) ? 1 : 0; /* may have rounded up to the first normal */
    else if (m >> (f->man_bits + 1)) m >>= 1, e++;
    if (f->special == 0 && e >= (1 << f->exp_bits) - 1) return sign | inf;
    m = ((uint64_t)e << f->man_bits) | (m & (((uint64_t)1 << f->man_bits) - 1));
    if (f->special && m > (f->special == 1 ? (((uint64_t)1 << (f->bits - 1)) - 2)
                                           : (((uint64_t)1 << (f->bits - 1)) - 1)))
        m = f->special == 1 ? ((uint64_t)1 << (f->bits - 1)) - 2 : ((uint64_t)1 << (f->bits - 1)) - 1;
    if (f->special == 2 && m == 0) return 0;
    return sign | m;
}

/* The value digits * 10^e10 in a format. `more`: non-zero digits were left out of `digits`. */
static uint64_t tmi_float_from_decimal(const tmi_float_format *f, int negative, uint64_t digits,
                                       int e10, int more) {
    tmi_big  a, b;
    int      shift = 0;
    uint64_t q;

    if (!digits || e10 < -360) return tmi_float_round(f, negative, 0, 0, 0);
    if (e10 > 320) return tmi_float_round(f, negative, (uint64_t)1 << 63, 2000, 0);
    tmi_big_set(&a, digits);
    tmi_big_set(&b, 1);
    if (e10 >= 0) tmi_big_pow10(&a, (uint32_t)e10);
    else tmi_big_pow10(&b, (uint32_t)-e10);
    /* Scale so that the quotient has 63 or 64 bits. */
    {
        int bits = (int)tmi_big_bits(&a) - (int)tmi_big_bits(&b);
        shift = 63 - bits;
        if (shift > 0) tmi_big_shl(&a, (uint32_t)shift);
        else if (shift < 0) tmi_big_shl(&b, (uint32_t)-shift);
    }
    q = tmi_big_div(&a, &b);
    return tmi_float_round(f, negative, q, -shift, more || a.n);
}

/* Sign, integer mantissa and exponent of finite bits; 0 for infinities and NaN. */
static int tmi_float_split(const tmi_float_format *f, uint64_t bits, int *negative, uint64_t *mant,
                           int *exp) {
    uint64_t m = bits & (((uint64_t)1 << f->man_bits) - 1);
    int      e = (int)((bits >> f->man_bits) & (((uint64_t)1 << f->exp_bits) - 1));
    uint64_t low = bits & (((uint64_t)1 << (f->bits - 1)) - 1);

    *negative = (int)((bits >> (f->bits - 1)) & 1);
    if (f->special == 0 && e == (1 << f->exp_bits) - 1) return 0;
    if (f->special == 1 && low == ((uint64_t)1 << (f->bits - 1)) - 1) return 0;
    if (f->special == 2 && *negative && low == 0) return 0;
    *mant = e ? m | ((uint64_t)1 << f->man_bits) : m;
    *exp = (e ? e : 1) - f->bias - f->man_bits;
    return 1;
}

/* `count` significant decimal digits of mant * 2^exp, correctly rounded; the first stands for
 * 10^*e10. mant must not be 0; count is at most 18. */
static uint64_t tmi_float_digits(uint64_t mant, int exp, int count, int *e10) {
    int      guess = (int)(((int64_t)(exp + (int)tmi_log2(mant)) * 30103) / 100000);
    uint64_t low = 1, q;
    int      i;
    for (i = 1; i < count; i++) low *= 10;
    for (guess = guess < -340 ? -340 : guess - 1;; guess++) { /* at most three rounds */
        tmi_big a, b, twice;
        int     scale = count - 1 - guess; /* value * 10^scale is the integer wanted */
        tmi_big_set(&a, mant);
        tmi_big_set(&b, 1);
        if (scale >= 0) tmi_big_pow10(&a, (uint32_t)scale);
        else tmi_big_pow10(&b, (uint32_t)-scale);
        if (exp >= 0) tmi_big_shl(&a, (uint32_t)exp);
        else tmi_big_shl(&b, (uint32_t)-exp);
        if (tmi_big_bits(&a) > tmi_big_bits(&b) + 63) continue;
        q = tmi_big_div(&a, &b);
        twice = a;
        tmi_big_shl(&twice, 1);
        i = tmi_big_cmp(&twice, &b);
        if (i > 0 || (i == 0 && (q & 1))) q++;
        if (q >= low * 10) continue;
        *e10 = guess;
        return q;
    }
}

/* Shortest decimal text that reads back to the same bits: "1.5e-07", "0.1", "1024.0". Finite only. */
static void tmi_put_float(tmi_text *t, const tmi_float_format *f, uint64_t bits) {
    int      negative = 0, exp = 0, e10 = 0, count, n, i;
    uint64_t mant = 0, q = 0;
    char     d[24];

    (void)tmi_float_split(f, bits, &negative, &mant, &exp);
    if (negative) tmi_put_char(t, '-');
    if (!mant) {
        tmi_put_str(t, "0.0");
        return;
    }
    for (count = 1; count <= 17; count++) {
        q = tmi_float_digits(mant, exp, count, &e10);
        if (tmi_float_from_decimal(f, negative, q, e10 - count + 1, 0) == bits) break;
    }
    for (n = 0; q; q /= 10) d[n++] = (char)('0' + (int)(q % 10));
    for (i = 0; i < n - 1 && d[i] == '0'; i++) {} /* trailing zeros stand first in d */
    if (e10 >= -4 && e10 < 9) {
        int k;
        if (e10 < 0) {
            tmi_put_str(t, "0.");
            for (k = -1; k > e10; k--) tmi_put_char(t, '0');
            for (k = n - 1; k >= i; k--) tmi_put_char(t, d[k]);
            return;
        }
        for (k = 0; k <= e10; k++) tmi_put_char(t, n - 1 - k >= 0 ? d[n - 1 - k] : '0');
        tmi_put_char(t, '.');
        if (n - 1 - k < i) tmi_put_char(t, '0');
        for (; n - 1 - k >= i; k++) tmi_put_char(t, d[n - 1 - k]);
        return;
    }
    tmi_put_char(t, d[n - 1]);
    tmi_put_char(t, '.');
    if (n - 1 == i) tmi_put_char(t, '0');
    for (n -= 2; n >= i; n--) tmi_put_char(t, d[n]);
    tmi_put_char(t, 'e');
    tmi_put_char(t, e10 < 0 ? '-' : '+');
    if (e10 < 0) e10 = -e10;
    if (e10 < 10) tmi_put_char(t, '0');
    tmi_put_u64(t, (uint64_t)e10);
}

/*==============================================================================
 * >>diag  [5]  Errors, notes and remarks, with their places
 *
 * gives   tmi_error(), tmi_help(), tmi_remark(), tmi_bug(), tmi_diags_finish()
 * uses    >>base
 * order   of discovery, which is that of the source
 *============================================================================*/

/* Where something stands: in the IR text and, resolved, in the user's Python. */
typedef struct tmi_at {
    uint32_t     src; /* byte offset + 1 in the text; 0: built in memory */
    tmetal_place python;
} tmi_at;

typedef struct tmi_note {
    struct tmi_note *next;
    int              is_remark;
    tmetal_diag      diag;
    tmetal_remark    remark;
} tmi_note;

static const char *const tmi_code_texts[] = {
#define X(number, name, text) text,
    TMETAL_DIAGS(X)
#undef X
};

static const uint16_t tmi_code_numbers[] = {
#define X(number, name, text) number,
    TMETAL_DIAGS(X)
#undef X
};

static const char *tmi_code_text(int code) {
    size_t i;
    for (i = 0; i < sizeof tmi_code_numbers / sizeof *tmi_code_numbers; i++)
        if (tmi_code_numbers[i] == code) return tmi_code_texts[i];
    return "";
}

static const char *tmi_job_file(const tmi_job *job) {
    return job->opt->file ? job->opt->file : job->src_name ? job->src_name : "<ttir>";
}

/* Line and column from 1 of a byte offset; `excerpt`, when asked for, is a copy of that line. */
static tmetal_place tmi_place_of(tmi_job *job, uint32_t src_plus_1, const char **excerpt) {
    tmetal_place p;
    size_t       at = src_plus_1 ? src_plus_1 - 1 : 0, i, start = 0, stop;

    p.file = tmi_job_file(job);
    p.line = p.col = 0;
    if (excerpt) *excerpt = "";
    if (!src_plus_1 || !job->src || at > job->src_len) return p;
    if (at < job->seek_at || !job->seek_line) job->seek_at = job->seek_start = 0, job->seek_line = 1;
    for (i = job->seek_at; i < at; i++)
        if (job->src[i] == '\n') job->seek_line++, job->seek_start = i + 1;
    job->seek_at = at;
    start = job->seek_start;
    p.line = job->seek_line;
    p.col = (uint32_t)(at - start) + 1;
    if (!excerpt) return p;
    for (stop = start; stop < job->src_len && job->src[stop] != '\n'; stop++) {}
    if (stop - start > 160) stop = start + 160;
    while (stop > start && (unsigned char)job->src[stop - 1] >= 0x80) stop--; /* keep UTF-8 whole */
    {
        char *copy = TMI_NEW(job, char, stop - start + 1);
        for (i = start; i < stop; i++) copy[i - start] = job->src[i] < ' ' && job->src[i] >= 0 ? ' ' : job->src[i];
        *excerpt = copy;
    }
    return p;
}

static tmi_note *tmi_note_add(tmi_job *job) {
    tmi_note *n = TMI_NEW(job, tmi_note, 1);
    if (job->last_note) job->last_note->next = n;
    else job->first_note = n;
    job->last_note = n;
    return n;
}

/* Report one error; its text and arguments come from TMETAL_DIAGS. After max_errors only counts. */
static void tmi_error(tmi_job *job, tmi_at at, int code, ...) {
    uint32_t  most = job->opt->max_errors ? job->opt->max_errors : 100;
    tmi_mark  m;
    tmi_note *n;
    tmi_text  t;
    va_list   ap;

    if (job->out->code == TMETAL_OK) job->out->code = (tmetal_code)code;
    if (job->n_errors++ >= most) return;
    n = tmi_note_add(job);
    m = tmi_mark_take(job);
    tmi_text_init(job, &t);
    va_start(ap, code);
    tmi_put_va(&t, tmi_code_text(code), ap);
    va_end(ap);
    n->diag.code = (tmetal_code)code;
    n->diag.message = tmi_text_join(&t, 0);
    n->diag.note = n->diag.help = "";
    n->diag.python = at.python;
    n->diag.ir = tmi_place_of(job, at.src, &n->diag.excerpt);
    tmi_mark_drop(job, m);
}

/* The fact that decided, and what cures it, of the error just reported. NULL leaves one out. */
static void tmi_help(tmi_job *job, const char *note, const char *help) {
    uint32_t most = job->opt->max_errors ? job->opt->max_errors : 100;
    if (!job->last_note || job->last_note->is_remark || job->n_errors > most) return;
    if (note) job->last_note->diag.note = note;
    if (help) job->last_note->diag.help = help;
}

static int tmi_enough_errors(const tmi_job *job) {
    return job->n_errors >= (job->opt->max_errors ? job->opt->max_errors : 100);
}

static void tmi_remark(tmi_job *job, tmi_at at, tmetal_remark_kind kind, const char *about,
                       const char *fmt, ...) {
    tmi_note *n = tmi_note_add(job);
    tmi_mark  m = tmi_mark_take(job);
    tmi_text  t;
    va_list   ap;
    tmi_text_init(job, &t);
    va_start(ap, fmt);
    tmi_put_va(&t, fmt, ap);
    va_end(ap);
    n->is_remark = 1;
    n->remark.kind = kind;
    n->remark.about = about;
    n->remark.text = tmi_text_join(&t, 0);
    n->remark.python = at.python;
    n->remark.ir = tmi_place_of(job, at.src, NULL);
    tmi_mark_drop(job, m);
}

/* A promise of our own that did not hold: report TM902 and leave. No text can be emitted after it. */
static void tmi_bug(tmi_job *job, const char *floor, const char *what) TMI_NORETURN;
static void tmi_bug(tmi_job *job, const char *floor, const char *what) {
    tmi_at nowhere;
    memset(&nowhere, 0, sizeof nowhere);
    tmi_error(job, nowhere, TMETAL_E_BUG, floor, what);
    tmi_leave(job, 2);
}

/* Turn the list of notes into the two arrays of the result. */
static void tmi_diags_finish(tmi_job *job) {
    tmetal_result *out = job->out;
    tmetal_diag   *d;
    tmetal_remark *r;
    tmi_note      *n;
    uint32_t       n_diag = 0, n_remark = 0;

    for (n = job->first_note; n; n = n->next) {
        if (n->is_remark) n_remark++;
        else n_diag++;
    }
    d = TMI_NEW(job, tmetal_diag, n_diag);
    r = TMI_NEW(job, tmetal_remark, n_remark);
    out->diags = d;
    out->remarks = r;
    out->n_diags = n_diag;
    out->n_remarks = n_remark;
    for (n = job->first_note; n; n = n->next) {
        if (n->is_remark) *r++ = n->remark;
        else *d++ = n->diag;
    }
}

/*==============================================================================
 * >>ops  [6]  The op table: every operation of Triton IR, one row each
 *
 * Columns: id, spelling, group, operands in, results out (TMI_VAR: any number), `types` the
 * verifier's rule, `text` the syntax that the parser reads and the printer writes, `lower` the
 * lowering, `tf` the per-thread operation or the detail that the lowering needs, traits.
 * A floor expands the rows with its own prefix; an unknown word in a column does not compile.
 *============================================================================*/

#define TMI_VAR 255u

/* Traits. */
#define TMI_PURE   0x0001u /* result depends on operands alone; dropped when unread */
#define TMI_ELT    0x0002u /* elementwise: one element of each operand gives one of the result */
#define TMI_VIEW   0x0004u /* only renames where elements stand */
#define TMI_READS  0x0008u /* reads memory */
#define TMI_WRITES 0x0010u /* writes memory */
#define TMI_ENDS   0x0020u /* must be the last op of its block */
#define TMI_SWAPS  0x0040u /* the two operands may change places */
#define TMI_CHEAP  0x0080u /* computing it again costs less than keeping it */
#define TMI_FENCE  0x0100u /* orders all memory accesses around it */
#define TMI_SCOPE  0x0200u /* body sees no values from outside */
#define TMI_INNER  0x0400u /* made by tmetal, never read from text */

#define TMI_PE  (TMI_PURE | TMI_ELT)
#define TMI_PEC (TMI_PURE | TMI_ELT | TMI_CHEAP)
#define TMI_PES (TMI_PURE | TMI_ELT | TMI_CHEAP | TMI_SWAPS)
#define TMI_PV  (TMI_PURE | TMI_VIEW | TMI_CHEAP)

/* clang-format off */
#define TMI_OPS_TT(X) \
    X(MODULE,      "builtin.module",              "tt structure", 0, 0,       module,   module,   none,      NONE,   TMI_SCOPE) \
    X(FUNC,        "tt.func",                     "tt structure", 0, 0,       func,     func,     none,      NONE,   TMI_SCOPE) \
    X(RETURN,      "tt.return",                   "tt structure", TMI_VAR, 0, ret,      ret,      none,      NONE,   TMI_ENDS) \
    X(CALL,        "tt.call",                     "tt structure", TMI_VAR, TMI_VAR, call, call,   call,      NONE,   TMI_READS | TMI_WRITES) \
    X(PID,         "tt.get_program_id",           "tt structure", 0, 1,       pid,      pid,      pid,       PID,    TMI_PURE | TMI_CHEAP) \
    X(NPROGRAMS,   "tt.get_num_programs",         "tt structure", 0, 1,       pid,      pid,      pid,       NPROG,  TMI_PURE | TMI_CHEAP) \
    X(RANGE,       "tt.make_range",               "tt shape",  0, 1,          range,    range,    range,     NONE,   TMI_PURE | TMI_CHEAP) \
    X(SPLAT,       "tt.splat",                    "tt shape",  1, 1,          splat,    arrow,    splat,     NONE,   TMI_PV) \
    X(UNSPLAT,     "tt.unsplat",                  "tt shape",  1, 1,          unsplat,  unsplat,  unsplat,   NONE,   TMI_PURE) \
    X(EXPAND,      "tt.expand_dims",              "tt shape",  1, 1,          expand,   arrow,    view,      NONE,   TMI_PV) \
    X(BROADCAST,   "tt.broadcast",                "tt shape",  1, 1,          broadcast, arrow,   view,      NONE,   TMI_PV) \
    X(RESHAPE,     "tt.reshape",                  "tt shape",  1, 1,          reshape,  arrow,    view,      NONE,   TMI_PV) \
    X(TRANS,       "tt.trans",                    "tt shape",  1, 1,          trans,    arrow,    view,      NONE,   TMI_PV) \
    X(JOIN,        "tt.join",                     "tt shape",  2, 1,          join,     arrow,    join,      NONE,   TMI_PURE | TMI_CHEAP) \
    X(SPLIT,       "tt.split",                    "tt shape",  1, 2,          split,    arrow,    split,     NONE,   TMI_PURE | TMI_CHEAP) \
    X(CAT,         "tt.cat",                      "tt shape",  2, 1,          cat,      arrow,    cat,       NONE,   TMI_PURE | TMI_CHEAP) \
    X(GATHER,      "tt.gather",                   "tt shape",  2, 1,          gather,   gather,   gather,    NONE,   TMI_PURE) \
    X(HISTOGRAM,   "tt.histogram",                "tt shape",  TMI_VAR, 1,    hist,     arrow,    hist,      NONE,   TMI_PURE) \
    X(TTBITCAST,   "tt.bitcast",                  "tt cast",   1, 1,          bitcast,  arrow,    elt,       BITCAST, TMI_PEC) \
    X(INT_TO_PTR,  "tt.int_to_ptr",               "tt cast",   1, 1,          int2ptr,  arrow,    elt,       I2P,    TMI_PEC) \
    X(PTR_TO_INT,  "tt.ptr_to_int",               "tt cast",   1, 1,          ptr2int,  arrow,    elt,       P2I,    TMI_PEC) \
    X(FP_TO_FP,    "tt.fp_to_fp",                 "tt cast",   1, 1,          fptofp,   arrow,    elt,       FCONV,  TMI_PE) \
    X(ADDPTR,      "tt.addptr",                   "tt elementwise", 2, 1,     addptr,   addptr,   elt,       PADD,   TMI_PEC) \
    X(CLAMPF,      "tt.clampf",                   "tt elementwise", 3, 1,     samefloat, same,    elt,       CLAMP,  TMI_PE) \
    X(PRECISE_SQRT, "tt.precise_sqrt",            "tt elementwise", 1, 1,     samefloat, same,    elt,       PSQRT,  TMI_PE) \
    X(PRECISE_DIV, "tt.precise_divf",             "tt elementwise", 2, 1,     samefloat, same,    elt,       FDIV,   TMI_PE) \
    X(MULHIUI,     "tt.mulhiui",                  "tt elementwise", 2, 1,     sameint,  same,     elt,       UMULHI, TMI_PES) \
    X(EXTERN,      "tt.extern_elementwise",       "tt elementwise", TMI_VAR, 1, extern_, extern_, elt,       EXTERN, TMI_PE) \
    X(ASM,         "tt.elementwise_inline_asm",   "tt elementwise", TMI_VAR, TMI_VAR, any, asm_,  asm_,      NONE,   0) \
    X(MAP,         "tt.map_elementwise",          "tt elementwise", TMI_VAR, TMI_VAR, map, generic, map,     NONE,   TMI_READS) \
    X(MAP_RETURN,  "tt.map_elementwise.return",   "tt elementwise", TMI_VAR, 0, ret,   yield,    none,      NONE,   TMI_ENDS) \
    X(LOAD,        "tt.load",                     "tt memory", TMI_VAR, 1,    load,     load,     load,      NONE,   TMI_READS) \
    X(STORE,       "tt.store",                    "tt memory", TMI_VAR, 0,    store,    store,    store,     NONE,   TMI_WRITES) \
    X(RMW,         "tt.atomic_rmw",               "tt memory", TMI_VAR, 1,    rmw,      rmw,      rmw,       NONE,   TMI_READS | TMI_WRITES) \
    X(CAS,         "tt.atomic_cas",               "tt memory", 3, 1,          cas,      cas,      cas,       NONE,   TMI_READS | TMI_WRITES) \
    X(DOT,         "tt.dot",                      "tt matrix", 3, 1,          dot,      dot,      dot,       NONE,   TMI_PURE) \
    X(DOT_SCALED,  "tt.dot_scaled",               "tt matrix", TMI_VAR, 1,    dotscaled, dotscaled, dotscaled, NONE, TMI_PURE) \
    X(REDUCE,      "tt.reduce",                   "tt reduce", TMI_VAR, TMI_VAR, reduce, generic, reduce,    NONE,   TMI_PURE) \
    X(REDUCE_RETURN, "tt.reduce.return",          "tt reduce", TMI_VAR, 0,    ret,      yield,    none,      NONE,   TMI_ENDS) \
    X(SCAN,        "tt.scan",                     "tt reduce", TMI_VAR, TMI_VAR, scan,  generic,  scan,      NONE,   TMI_PURE) \
    X(SCAN_RETURN, "tt.scan.return",              "tt reduce", TMI_VAR, 0,    ret,      yield,    none,      NONE,   TMI_ENDS) \
    X(MAKE_PTR,    "tt.make_tensor_ptr",          "tt block pointers", TMI_VAR, 1, mkptr, mkptr,  mkptr,     NONE,   TMI_PURE) \
    X(ADVANCE,     "tt.advance",                  "tt block pointers", TMI_VAR, 1, advance, advance, advance, NONE,  TMI_PURE) \
    X(MAKE_DESC,   "tt.make_tensor_descriptor",   "tt descriptors", TMI_VAR, 1, mkdesc, mkdesc,   mkdesc,    NONE,   TMI_PURE) \
    X(DLOAD,       "tt.descriptor_load",          "tt descriptors", TMI_VAR, 1, dload,  dload,    dload,     NONE,   TMI_READS) \
    X(DSTORE,      "tt.descriptor_store",         "tt descriptors", TMI_VAR, 0, dstore, dstore,   dstore,    NONE,   TMI_WRITES) \
    X(DREDUCE,     "tt.descriptor_reduce",        "tt descriptors", TMI_VAR, 0, dstore, dreduce,  dreduce,   NONE,   TMI_READS | TMI_WRITES) \
    X(DGATHER,     "tt.descriptor_gather",        "tt descriptors", 3, 1,     dgather,  dgather,  dgather,   NONE,   TMI_READS) \
    X(DSCATTER,    "tt.descriptor_scatter",       "tt descriptors", 4, 0,     dgather,  dscatter, dscatter,  NONE,   TMI_WRITES) \
    X(XDLOAD,      "tt.experimental_descriptor_load",    "tt descriptors", TMI_VAR, 1, any, dload,  dload,  NONE,    TMI_READS) \
    X(XDSTORE,     "tt.experimental_descriptor_store",   "tt descriptors", TMI_VAR, 0, any, dstore, dstore, NONE,    TMI_WRITES) \
    X(XDGATHER,    "tt.experimental_descriptor_gather",  "tt descriptors", 3, 1, any, dgather,  dgather,  NONE,      TMI_READS) \
    X(XDSCATTER,   "tt.experimental_descriptor_scatter", "tt descriptors", 4, 0, any, dscatter, dscatter, NONE,      TMI_WRITES) \
    X(XTMAP,       "tt.experimental_tensormap_create",   "tt descriptors", TMI_VAR, 0, any, generic, tensormap, NONE, TMI_WRITES) \
    X(XTFENCE,     "tt.experimental_tensormap_fenceproxy_acquire", "tt descriptors", 1, 0, any, operand, tensormap, NONE, TMI_FENCE) \
    X(REINTERPRET, "tt.reinterpret_tensor_descriptor", "tt descriptors", 1, 1, any, cast,  tensormap, NONE,          TMI_PURE) \
    X(PRINT,       "tt.print",                    "tt debug",  TMI_VAR, 0,    any,      print,    print,     NONE,   TMI_WRITES) \
    X(ASSERT,      "tt.assert",                   "tt debug",  1, 0,          cond,     assert_,  assert_,   NONE,   TMI_WRITES)

#define TMI_OPS_ARITH(X) \
    X(CONSTANT,    "arith.constant",     "arith", 0, 1, constant,  constant, constant, NONE,   TMI_PURE | TMI_CHEAP) \
    X(ADDI,        "arith.addi",         "arith", 2, 1, sameint,   same,     elt,      IADD,   TMI_PES) \
    X(SUBI,        "arith.subi",         "arith", 2, 1, sameint,   same,     elt,      ISUB,   TMI_PEC) \
    X(MULI,        "arith.muli",         "arith", 2, 1, sameint,   same,     elt,      IMUL,   TMI_PES) \
    X(DIVSI,       "arith.divsi",        "arith", 2, 1, sameint,   same,     elt,      SDIV,   TMI_PE) \
    X(DIVUI,       "arith.divui",        "arith", 2, 1, sameint,   same,     elt,      UDIV,   TMI_PE) \
    X(REMSI,       "arith.remsi",        "arith", 2, 1, sameint,   same,     elt,      SREM,   TMI_PE) \
    X(REMUI,       "arith.remui",        "arith", 2, 1, sameint,   same,     elt,      UREM,   TMI_PE) \
    X(CEILDIVSI,   "arith.ceildivsi",    "arith", 2, 1, sameint,   same,     elt,      SDIVC,  TMI_PE) \
    X(CEILDIVUI,   "arith.ceildivui",    "arith", 2, 1, sameint,   same,     elt,      UDIVC,  TMI_PE) \
    X(FLOORDIVSI,  "arith.floordivsi",   "arith", 2, 1, sameint,   same,     elt,      SDIVF,  TMI_PE) \
    X(ANDI,        "arith.andi",         "arith", 2, 1, sameint,   same,     elt,      AND,    TMI_PES) \
    X(ORI,         "arith.ori",          "arith", 2, 1, sameint,   same,     elt,      OR,     TMI_PES) \
    X(XORI,        "arith.xori",         "arith", 2, 1, sameint,   same,     elt,      XOR,    TMI_PES) \
    X(SHLI,        "arith.shli",         "arith", 2, 1, sameint,   same,     elt,      SHL,    TMI_PEC) \
    X(SHRSI,       "arith.shrsi",        "arith", 2, 1, sameint,   same,     elt,      SSHR,   TMI_PEC) \
    X(SHRUI,       "arith.shrui",        "arith", 2, 1, sameint,   same,     elt,      USHR,   TMI_PEC) \
    X(MAXSI,       "arith.maxsi",        "arith", 2, 1, sameint,   same,     elt,      SMAX,   TMI_PES) \
    X(MINSI,       "arith.minsi",        "arith", 2, 1, sameint,   same,     elt,      SMIN,   TMI_PES) \
    X(MAXUI,       "arith.maxui",        "arith", 2, 1, sameint,   same,     elt,      UMAX,   TMI_PES) \
    X(MINUI,       "arith.minui",        "arith", 2, 1, sameint,   same,     elt,      UMIN,   TMI_PES) \
    X(ADDF,        "arith.addf",         "arith", 2, 1, samefloat, same,     elt,      FADD,   TMI_PE | TMI_SWAPS) \
    X(SUBF,        "arith.subf",         "arith", 2, 1, samefloat, same,     elt,      FSUB,   TMI_PE) \
    X(MULF,        "arith.mulf",         "arith", 2, 1, samefloat, same,     elt,      FMUL,   TMI_PE | TMI_SWAPS) \
    X(DIVF,        "arith.divf",         "arith", 2, 1, samefloat, same,     elt,      FDIV,   TMI_PE) \
    X(REMF,        "arith.remf",         "arith", 2, 1, samefloat, same,     elt,      FREM,   TMI_PE) \
    X(NEGF,        "arith.negf",         "arith", 1, 1, samefloat, same,     elt,      FNEG,   TMI_PE) \
    X(MAXNUMF,     "arith.maxnumf",      "arith", 2, 1, samefloat, same,     elt,      FMAXN,  TMI_PE | TMI_SWAPS) \
    X(MINNUMF,     "arith.minnumf",      "arith", 2, 1, samefloat, same,     elt,      FMINN,  TMI_PE | TMI_SWAPS) \
    X(MAXIMUMF,    "arith.maximumf",     "arith", 2, 1, samefloat, same,     elt,      FMAX,   TMI_PE | TMI_SWAPS) \
    X(MINIMUMF,    "arith.minimumf",     "arith", 2, 1, samefloat, same,     elt,      FMIN,   TMI_PE | TMI_SWAPS) \
    X(CMPI,        "arith.cmpi",         "arith", 2, 1, cmpi,      cmp,      elt,      ICMP,   TMI_PEC) \
    X(CMPF,        "arith.cmpf",         "arith", 2, 1, cmpf,      cmp,      elt,      FCMP,   TMI_PEC) \
    X(SELECT,      "arith.select",       "arith", 3, 1, select,    select,   elt,      SELECT, TMI_PEC) \
    X(EXTSI,       "arith.extsi",        "arith", 1, 1, intwider,  cast,     elt,      SEXT,   TMI_PEC) \
    X(EXTUI,       "arith.extui",        "arith", 1, 1, intwider,  cast,     elt,      ZEXT,   TMI_PEC) \
    X(TRUNCI,      "arith.trunci",       "arith", 1, 1, intnarrow, cast,     elt,      TRUNC,  TMI_PEC) \
    X(EXTF,        "arith.extf",         "arith", 1, 1, fltwider,  cast,     elt,      FCONV,  TMI_PE) \
    X(TRUNCF,      "arith.truncf",       "arith", 1, 1, fltnarrow, cast,     elt,      FCONV,  TMI_PE) \
    X(SITOFP,      "arith.sitofp",       "arith", 1, 1, inttoflt,  cast,     elt,      S2F,    TMI_PE) \
    X(UITOFP,      "arith.uitofp",       "arith", 1, 1, inttoflt,  cast,     elt,      U2F,    TMI_PE) \
    X(FPTOSI,      "arith.fptosi",       "arith", 1, 1, flttoint,  cast,     elt,      F2S,    TMI_PE) \
    X(FPTOUI,      "arith.fptoui",       "arith", 1, 1, flttoint,  cast,     elt,      F2U,    TMI_PE) \
    X(BITCAST,     "arith.bitcast",      "arith", 1, 1, bitcast,   cast,     elt,      BITCAST, TMI_PEC) \
    X(INDEX_CAST,  "arith.index_cast",   "arith", 1, 1, indexcast, cast,     elt,      SCAST,  TMI_PEC) \
    X(INDEX_CASTU, "arith.index_castui", "arith", 1, 1, indexcast, cast,     elt,      UCAST,  TMI_PEC) \
    X(ADDUI_EXT,   "arith.addui_extended",  "arith", 2, 2, extended, extended, elt2,   UADDX,  TMI_PE) \
    X(MULUI_EXT,   "arith.mului_extended",  "arith", 2, 2, extended, extended, elt2,   UMULX,  TMI_PE) \
    X(MULSI_EXT,   "arith.mulsi_extended",  "arith", 2, 2, extended, extended, elt2,   SMULX,  TMI_PE)

#define TMI_OPS_MATH(X) \
    X(EXP,       "math.exp",       "math", 1, 1, samefloat, same, elt, EXP,   TMI_PE) \
    X(EXP2,      "math.exp2",      "math", 1, 1, samefloat, same, elt, EXP2,  TMI_PE) \
    X(EXPM1,     "math.expm1",     "math", 1, 1, samefloat, same, elt, EXPM1, TMI_PE) \
    X(LOG,       "math.log",       "math", 1, 1, samefloat, same, elt, LOG,   TMI_PE) \
    X(LOG2,      "math.log2",      "math", 1, 1, samefloat, same, elt, LOG2,  TMI_PE) \
    X(LOG10,     "math.log10",     "math", 1, 1, samefloat, same, elt, LOG10, TMI_PE) \
    X(LOG1P,     "math.log1p",     "math", 1, 1, samefloat, same, elt, LOG1P, TMI_PE) \
    X(SIN,       "math.sin",       "math", 1, 1, samefloat, same, elt, SIN,   TMI_PE) \
    X(COS,       "math.cos",       "math", 1, 1, samefloat, same, elt, COS,   TMI_PE) \
    X(TAN,       "math.tan",       "math", 1, 1, samefloat, same, elt, TAN,   TMI_PE) \
    X(ASIN,      "math.asin",      "math", 1, 1, samefloat, same, elt, ASIN,  TMI_PE) \
    X(ACOS,      "math.acos",      "math", 1, 1, samefloat, same, elt, ACOS,  TMI_PE) \
    X(ATAN,      "math.atan",      "math", 1, 1, samefloat, same, elt, ATAN,  TMI_PE) \
    X(SINH,      "math.sinh",      "math", 1, 1, samefloat, same, elt, SINH,  TMI_PE) \
    X(COSH,      "math.cosh",      "math", 1, 1, samefloat, same, elt, COSH,  TMI_PE) \
    X(TANH,      "math.tanh",      "math", 1, 1, samefloat, same, elt, TANH,  TMI_PE) \
    X(ASINH,     "math.asinh",     "math", 1, 1, samefloat, same, elt, ASINH, TMI_PE) \
    X(ACOSH,     "math.acosh",     "math", 1, 1, samefloat, same, elt, ACOSH, TMI_PE) \
    X(ATANH,     "math.atanh",     "math", 1, 1, samefloat, same, elt, ATANH, TMI_PE) \
    X(SQRT,      "math.sqrt",      "math", 1, 1, samefloat, same, elt, SQRT,  TMI_PE) \
    X(RSQRT,     "math.rsqrt",     "math", 1, 1, samefloat, same, elt, RSQRT, TMI_PE) \
    X(CBRT,      "math.cbrt",      "math", 1, 1, samefloat, same, elt, CBRT,  TMI_PE) \
    X(ERF,       "math.erf",       "math", 1, 1, samefloat, same, elt, ERF,   TMI_PE) \
    X(ERFC,      "math.erfc",      "math", 1, 1, samefloat, same, elt, ERFC,  TMI_PE) \
    X(FLOOR,     "math.floor",     "math", 1, 1, samefloat, same, elt, FLOOR, TMI_PE) \
    X(CEIL,      "math.ceil",      "math", 1, 1, samefloat, same, elt, CEIL,  TMI_PE) \
    X(FTRUNC,    "math.trunc",     "math", 1, 1, samefloat, same, elt, FTRUNC, TMI_PE) \
    X(ROUND,     "math.round",     "math", 1, 1, samefloat, same, elt, ROUND, TMI_PE) \
    X(RINT,      "math.roundeven", "math", 1, 1, samefloat, same, elt, RINT,  TMI_PE) \
    X(ABSF,      "math.absf",      "math", 1, 1, samefloat, same, elt, FABS,  TMI_PE) \
    X(ABSI,      "math.absi",      "math", 1, 1, sameint,   same, elt, IABS,  TMI_PE) \
    X(FMA,       "math.fma",       "math", 3, 1, samefloat, same, elt, FMA,   TMI_PE) \
    X(POWF,      "math.powf",      "math", 2, 1, samefloat, same, elt, POW,   TMI_PE) \
    X(ATAN2,     "math.atan2",     "math", 2, 1, samefloat, same, elt, ATAN2, TMI_PE) \
    X(COPYSIGN,  "math.copysign",  "math", 2, 1, samefloat, same, elt, COPYSIGN, TMI_PE) \
    X(CTLZ,      "math.ctlz",      "math", 1, 1, sameint,   same, elt, CLZ,   TMI_PE) \
    X(CTTZ,      "math.cttz",      "math", 1, 1, sameint,   same, elt, CTZ,   TMI_PE) \
    X(CTPOP,     "math.ctpop",     "math", 1, 1, sameint,   same, elt, POPC,  TMI_PE) \
    X(FPOWI,     "math.fpowi",     "math", 2, 1, fpowi,     extended, elt, FPOWI, TMI_PE) \
    X(IPOWI,     "math.ipowi",     "math", 2, 1, sameint,   same, elt, IPOWI, TMI_PE) \
    X(ISNAN,     "math.isnan",     "math", 1, 1, fltclass,  same, elt, ISNAN, TMI_PE) \
    X(ISINF,     "math.isinf",     "math", 1, 1, fltclass,  same, elt, ISINF, TMI_PE)

#define TMI_OPS_CONTROL(X) \
    X(FOR,       "scf.for",        "scf", TMI_VAR, TMI_VAR, for_,  for_,     for_,     NONE, 0) \
    X(IF,        "scf.if",         "scf", 1, TMI_VAR,       if_,   if_,      if_,      NONE, 0) \
    X(WHILE,     "scf.while",      "scf", TMI_VAR, TMI_VAR, while_, while_,  while_,   NONE, 0) \
    X(YIELD,     "scf.yield",      "scf", TMI_VAR, 0,       ret,   yield,    none,     NONE, TMI_ENDS) \
    X(CONDITION, "scf.condition",  "scf", TMI_VAR, 0,       ret,   condition, none,    NONE, TMI_ENDS) \
    X(EXECUTE,   "scf.execute_region", "scf", 0, TMI_VAR,   any,   execute,  none,     NONE, 0) \
    X(BR,        "cf.br",          "cf", 0, 0,              branch, br,      none,     NONE, TMI_ENDS) \
    X(COND_BR,   "cf.cond_br",     "cf", 1, 0,              branch, cond_br, none,     NONE, TMI_ENDS) \
    X(CF_ASSERT, "cf.assert",      "cf", 1, 0,              cond,  assert_,  assert_,  NONE, TMI_WRITES) \
    X(POISON,    "ub.poison",      "other", 0, 1,           any,   typed,    constant, NONE, TMI_PURE | TMI_CHEAP) \
    X(UNDEF,     "llvm.mlir.undef", "other", 0, 1,          any,   typed,    constant, NONE, TMI_PURE | TMI_CHEAP) \
    X(ASSUME,    "llvm.intr.assume", "other", TMI_VAR, 0,   any,   assume,   none,     NONE, 0) \
    X(GPU_BARRIER, "gpu.barrier",  "other", 0, 0,           any,   operand,  barrier,  NONE, TMI_FENCE) \
    X(TTG_BARRIER, "ttg.barrier",  "other", 0, 0,           any,   barrier,  barrier,  NONE, TMI_FENCE)

/* Made by our own passes; never read from text. */
#define TMI_OPS_INNER(X) \
    X(CONVERT,   "tmi.convert",    "inner", 1, 1,           any,   arrow,    convert,  NONE, TMI_PURE | TMI_INNER) \
    X(FLIPBIT,   "tmi.exchange",   "inner", 1, 1,           any,   arrow,    flipbit,  NONE, TMI_PURE | TMI_INNER) \
    X(BUFFER,    "tmi.buffer_base", "inner", 1, 1,          any,   arrow,    none,     NONE, TMI_PURE | TMI_INNER)

#define TMI_OPS(X) TMI_OPS_TT(X) TMI_OPS_ARITH(X) TMI_OPS_MATH(X) TMI_OPS_CONTROL(X) TMI_OPS_INNER(X)

/* Spellings that other versions print for an op of the table: Triton 2.x, older MLIR. */
#define TMI_OLD_OPS(X) \
    X("module",                           MODULE) \
    X("func.func",                        FUNC) \
    X("tt.view",                          RESHAPE) \
    X("tt.pure_extern_elementwise",       EXTERN) \
    X("tt.impure_extern_elementwise",     EXTERN) \
    X("arith.maxf",                       MAXIMUMF) \
    X("arith.minf",                       MINIMUMF) \
    X("math.abs",                         ABSF) \
    X("math.round_even",                  RINT) \
    X("triton_gpu.barrier",               TTG_BARRIER)
/* clang-format on */

typedef enum tmi_op_kind {
    TMI_OP_NONE,
#define X(id, name, group, in, out, types, text, lower, tf, traits) TMI_OP_##id,
    TMI_OPS(X)
#undef X
    TMI_OP_COUNT
} tmi_op_kind;

typedef struct tmi_op_row {
    const char *name, *group;
    uint8_t     in, out;
    uint16_t    traits;
} tmi_op_row;

static const tmi_op_row tmi_ops[TMI_OP_COUNT] = {
    {"", "", 0, 0, 0},
#define X(id, name, group, in, out, types, text, lower, tf, traits) {name, group, in, out, traits},
    TMI_OPS(X)
#undef X
};

typedef struct tmi_old_op {
    const char *name;
    uint16_t    kind;
} tmi_old_op;

static const tmi_old_op tmi_old_ops[] = {
#define X(name, id) {name, TMI_OP_##id},
    TMI_OLD_OPS(X)
#undef X
};

/* Words of the enums of the `tt` dialect and their integers in generic form (sheet 2.1). */
typedef struct tmi_word {
    const char *word;
    int32_t     value;
} tmi_word;

static const tmi_word tmi_words_cache[] = {{"none", 1}, {"ca", 2}, {"cg", 3}, {"wb", 4}, {"cs", 5},
                                           {"wt", 6}, {"cv", 7}, {NULL, 0}};
static const tmi_word tmi_words_evict[] = {
    {"evict_normal", 1}, {"evict_first", 2}, {"evict_last", 3}, {NULL, 0}};
static const tmi_word tmi_words_sem[] = {
    {"relaxed", 1}, {"acquire", 2}, {"release", 3}, {"acq_rel", 4}, {NULL, 0}};
static const tmi_word tmi_words_scope[] = {{"gpu", 1}, {"cta", 2}, {"sys", 3}, {NULL, 0}};
static const tmi_word tmi_words_rmw[] = {{"and", 1}, {"or", 2},   {"xor", 3},  {"add", 4},
                                         {"fadd", 5}, {"max", 6}, {"min", 7},  {"umax", 8},
                                         {"umin", 9}, {"exch", 10}, {NULL, 0}};
static const tmi_word tmi_words_dreduce[] = {{"add", 1}, {"min", 2}, {"max", 3}, {"inc", 4}, {"dec", 5},
                                             {"and", 6}, {"or", 7},  {"xor", 8}, {NULL, 0}};
static const tmi_word tmi_words_axis[] = {{"x", 0}, {"y", 1}, {"z", 2}, {NULL, 0}};
static const tmi_word tmi_words_rounding[] = {{"rtz", 0}, {"rtne", 1}, {NULL, 0}};
static const tmi_word tmi_words_nan[] = {{"none", 0}, {"all", 65535}, {NULL, 0}};
static const tmi_word tmi_words_precision[] = {{"tf32", 0}, {"tf32x3", 1}, {"ieee", 2},
                                               {"bf16x3", 3}, {"bf16x6", 4}, {NULL, 0}};
static const tmi_word tmi_words_scaled[] = {{"e4m3", 0}, {"e5m2", 1}, {"e2m3", 2}, {"e3m2", 3},
                                            {"e2m1", 4}, {"bf16", 5}, {"fp16", 6}, {NULL, 0}};
static const tmi_word tmi_words_cmpi[] = {{"eq", 0},  {"ne", 1},  {"slt", 2}, {"sle", 3}, {"sgt", 4}, {"sge", 5},
                                          {"ult", 6}, {"ule", 7}, {"ugt", 8}, {"uge", 9}, {NULL, 0}};
static const tmi_word tmi_words_cmpf[] = {{"false", 0}, {"oeq", 1}, {"ogt", 2}, {"oge", 3}, {"olt", 4},
                                          {"ole", 5}, {"one", 6}, {"ord", 7}, {"ueq", 8}, {"ugt", 9},
                                          {"uge", 10}, {"ult", 11}, {"ule", 12}, {"une", 13}, {"uno", 14},
                                          {"true", 15}, {NULL, 0}};

/*==============================================================================
 * >>hardware  [7]  The GPU table: one row a chip
 *
 * units   cores: of the largest bin; GB/s of that bin; bytes a threadgroup; 32-bit registers a thread
 * source  A: Apple, Metal Feature Set Tables (2026-05-21), limits by family: 32 KB of threadgroup
 *         memory and 1024 threads on Apple7 to Apple10. N: Apple newsroom and tech specs for cores and
 *         bandwidth. R: 128 registers, Mesa agx_performance.c and dougallj/applegpu, read from Apple7.
 *         i: inferred. Unknown is 0.
 *============================================================================*/

/* clang-format off */
/*    name              MTLDevice.name     family cores gbps tg_bytes threads simd regs bf16 source */
#define TMI_HARDWARE(X) \
    X("apple-m1",       "Apple M1",          7,   8,   68, 32768, 1024, 32, 128, 0, "A; cores N; 68 GB/s i (LPDDR4X-4266 x 128); R") \
    X("apple-m1-pro",   "Apple M1 Pro",      7,  16,  200, 32768, 1024, 32, 128, 0, "A; N; R") \
    X("apple-m1-max",   "Apple M1 Max",      7,  32,  400, 32768, 1024, 32, 128, 0, "A; N; R") \
    X("apple-m1-ultra", "Apple M1 Ultra",    7,  64,  800, 32768, 1024, 32, 128, 0, "A; N; R") \
    X("apple-m2",       "Apple M2",          8,  10,  100, 32768, 1024, 32, 128, 0, "A; N; R") \
    X("apple-m2-pro",   "Apple M2 Pro",      8,  19,  200, 32768, 1024, 32, 128, 0, "A; N; R") \
    X("apple-m2-max",   "Apple M2 Max",      8,  38,  400, 32768, 1024, 32, 128, 0, "A; N; R") \
    X("apple-m2-ultra", "Apple M2 Ultra",    8,  76,  800, 32768, 1024, 32, 128, 0, "A; N; R") \
    X("apple-m3",       "Apple M3",          9,  10,  100, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m3-pro",   "Apple M3 Pro",      9,  18,  150, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m3-max",   "Apple M3 Max",      9,  40,  400, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m3-ultra", "Apple M3 Ultra",    9,  80,  819, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m4",       "Apple M4",          9,  10,  120, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m4-pro",   "Apple M4 Pro",      9,  20,  273, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m4-max",   "Apple M4 Max",      9,  40,  546, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m5",       "Apple M5",         10,  10,  153, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m5-pro",   "Apple M5 Pro",     10,  20,  307, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m5-max",   "Apple M5 Max",     10,  40,  614, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m5-ultra", "Apple M5 Ultra",   10,  80, 1200, 32768, 1024, 32, 128, 1, "A; N; registers i") \
    X("apple-m6",       "Apple M6",         11,  12,  153, 32768, 1024, 32, 128, 1, "limits read on one M6 (AppleSiliconFFT); N; registers i") \
    X("apple-a14",      "Apple A14",         7,   4,   34, 32768, 1024, 32, 128, 0, "A; cores N; bandwidth i; R") \
    X("apple-a15",      "Apple A15",         8,   5,   34, 32768, 1024, 32, 128, 0, "A; cores N; bandwidth i; R") \
    X("apple-a16",      "Apple A16",         8,   5,   51, 32768, 1024, 32, 128, 0, "A; cores N; bandwidth i; R") \
    X("apple-a17-pro",  "Apple A17 Pro",     9,   6,   51, 32768, 1024, 32, 128, 1, "A; cores N; bandwidth i; registers i") \
    X("apple-a18",      "Apple A18",         9,   5,    0, 32768, 1024, 32, 128, 1, "A; cores N; registers i") \
    X("apple-a18-pro",  "Apple A18 Pro",     9,   6,    0, 32768, 1024, 32, 128, 1, "A; cores N; registers i") \
    X("apple-a19",      "Apple A19",        10,   5,    0, 32768, 1024, 32, 128, 1, "A; cores N; registers i") \
    X("apple-a19-pro",  "Apple A19 Pro",    10,   6,    0, 32768, 1024, 32, 128, 1, "A; cores N; registers i")
/* clang-format on */

static const tmetal_gpu tmi_gpus[] = {
#define X(name, device, family, cores, gbps, tg, threads, simd, regs, bf16, source) \
    {name, device, family, cores, gbps, tg, threads, simd, regs, bf16, source},
    TMI_HARDWARE(X)
#undef X
};

#define TMI_GPU_COUNT (sizeof tmi_gpus / sizeof *tmi_gpus)

/* Language versions: number, as printed, first macOS that has it (Apple, Metal Shading Language
 * Specification 4, section 1.5). */
typedef struct tmi_msl_row {
    uint32_t    number;
    const char *text, *system;
} tmi_msl_row;

static const tmi_msl_row tmi_msl_versions[] = {
    {300, "3.0", "macOS 13"}, {310, "3.1", "macOS 14"}, {320, "3.2", "macOS 15"},
    {400, "4.0", "macOS 26"}, {410, "4.1", "macOS 27"},
};

#define TMI_MAX_BUFFERS 31u /* argument table entries of a kernel; Apple, Feature Set Tables */

/* Plain equality without locale; n is 28 rows. */
static const tmetal_gpu *tmi_gpu_named(const char *name) {
    size_t i;
    for (i = 0; i < TMI_GPU_COUNT; i++)
        if (strcmp(tmi_gpus[i].name, name) == 0 || strcmp(tmi_gpus[i].device, name) == 0)
            return &tmi_gpus[i];
    return NULL;
}

/*==============================================================================
 * >>library  [8]  Functions of ours that emitted kernels call: data only
 *
 * gives   tmi_fns[]: one row a function, as Metal text; tmi_externs[]: what external names stand for
 * order   a row stands below the rows that it needs; printing the wanted rows in order gives text that compiles
 *
 * Columns: id, name as called, signature, names of the rows that must stand above, text.
 * Signature: result, then operands in brackets; "" where only other rows or the printer itself call it.
 *     f float   h half   t bfloat (MSL 3.1)   d double, carried as its bits in a ulong
 *     q char   c uchar   s short   w ushort   i int   u uint   l long   m ulong   b bool
 * NaN, infinity, signed zero and denormal doubles are as IEEE 754 and C99 have them. Denormal floats are
 * zero on Apple GPUs; where bits can keep them (conversions, directed rounding) they are kept.
 *============================================================================*/

/* clang-format off */
#define TMI_HELPERS(X) \
    X(DIV_I32, "div_trunc", "i(ii)", "", \
      "inline int div_trunc(int a, int b) {    // no trap where Triton leaves the value open\n" \
      "    return b == 0 ? 0 : b == -1 ? int(0u - uint(a)) : a / b;\n" \
      "}\n") \
    X(DIV_I64, "div_trunc", "l(ll)", "", \
      "inline long div_trunc(long a, long b) {\n" \
      "    return b == 0 ? 0 : b == -1 ? long(0ul - ulong(a)) : a / b;\n" \
      "}\n") \
    X(DIV_U32, "div_floor", "u(uu)", "", \
      "inline uint div_floor(uint a, uint b) {\n" \
      "    return b == 0 ? 0 : a / b;\n" \
      "}\n") \
    X(DIV_U64, "div_floor", "m(mm)", "", \
      "inline ulong div_floor(ulong a, ulong b) {\n" \
      "    return b == 0 ? 0 : a / b;\n" \
      "}\n") \
    X(REM_I32, "rem_trunc", "i(ii)", "", \
      "inline int rem_trunc(int a, int b) {    // sign of the dividend; % leaves negatives open in Metal\n" \
      "    if (b == 0 || b == -1) return 0;\n" \
      "    return a - b * (a / b);\n" \
      "}\n") \
    X(REM_I64, "rem_trunc", "l(ll)", "", \
      "inline long rem_trunc(long a, long b) {\n" \
      "    if (b == 0 || b == -1) return 0;\n" \
      "    return a - b * (a / b);\n" \
      "}\n") \
    X(REM_U32, "rem_floor", "u(uu)", "", \
      "inline uint rem_floor(uint a, uint b) {\n" \
      "    return b == 0 ? 0 : a % b;\n" \
      "}\n") \
    X(REM_U64, "rem_floor", "m(mm)", "", \
      "inline ulong rem_floor(ulong a, ulong b) {\n" \
      "    return b == 0 ? 0 : a % b;\n" \
      "}\n") \
    X(MAX_NAN_F32, "max_nan", "f(ff)", "", \
      "inline float max_nan(float a, float b) {    // NaN wins; -0 < +0\n" \
      "    if (isunordered(a, b)) return NAN;\n" \
      "    return a == b ? as_type<float>(as_type<uint>(a) & as_type<uint>(b)) : fmax(a, b);\n" \
      "}\n") \
    X(MAX_NAN_F16, "max_nan", "h(hh)", "", \
      "inline half max_nan(half a, half b) {\n" \
      "    if (isunordered(a, b)) return half(NAN);\n" \
      "    return a == b ? as_type<half>(ushort(as_type<ushort>(a) & as_type<ushort>(b))) : fmax(a, b);\n" \
      "}\n") \
    X(MIN_NAN_F32, "min_nan", "f(ff)", "", \
      "inline float min_nan(float a, float b) {    // NaN wins; -0 < +0\n" \
      "    if (isunordered(a, b)) return NAN;\n" \
      "    return a == b ? as_type<float>(as_type<uint>(a) | as_type<uint>(b)) : fmin(a, b);\n" \
      "}\n") \
    X(MIN_NAN_F16, "min_nan", "h(hh)", "", \
      "inline half min_nan(half a, half b) {\n" \
      "    if (isunordered(a, b)) return half(NAN);\n" \
      "    return a == b ? as_type<half>(ushort(as_type<ushort>(a) | as_type<ushort>(b))) : fmin(a, b);\n" \
      "}\n") \
    X(TO_I32, "to_int", "i(f)", "", \
      "inline int to_int(float x) {    // truncates; NaN is 0, too large saturates\n" \
      "    return isnan(x) ? 0 : x >= 2147483648.0f ? 2147483647 : int(fmax(x, -2147483648.0f));\n" \
      "}\n") \
    X(TO_U32, "to_uint", "u(f)", "", \
      "inline uint to_uint(float x) {    // truncates; NaN and below are 0, too large saturates\n" \
      "    return !(x > 0.0f) ? 0 : x >= 4294967296.0f ? 0xFFFFFFFFu : uint(x);\n" \
      "}\n") \
    X(TO_I16, "to_short", "s(f)", "", \
      "inline short to_short(float x) {    // truncates; NaN is 0, too large saturates\n" \
      "    return isnan(x) ? short(0) : short(int(fmin(fmax(x, -32768.0f), 32767.0f)));\n" \
      "}\n") \
    X(TO_U16, "to_ushort", "w(f)", "", \
      "inline ushort to_ushort(float x) {    // truncates; NaN and below are 0, too large saturates\n" \
      "    return !(x > 0.0f) ? ushort(0) : ushort(uint(fmin(x, 65535.0f)));\n" \
      "}\n") \
    X(TO_I64, "to_long", "l(f)", "", \
      "inline long to_long(float x) {    // truncates; NaN is 0, too large saturates\n" \
      "    return isnan(x) ? 0 : x >= 9223372036854775808.0f ? 9223372036854775807l : x < -9223372036854775808.0f ? (-9223372036854775807l - 1) : long(x);\n" \
      "}\n") \
    X(TO_U64, "to_ulong", "m(f)", "", \
      "inline ulong to_ulong(float x) {    // truncates; NaN and below are 0, too large saturates\n" \
      "    return !(x > 0.0f) ? 0 : x >= 18446744073709551616.0f ? 0xFFFFFFFFFFFFFFFFul : ulong(x);\n" \
      "}\n") \
    X(RTZ_F16, "half_toward_zero", "h(f)", "", \
      "inline half half_toward_zero(float x) {    // too large gives the largest half, not infinity\n" \
      "    half h = half(x);\n" \
      "    if (isfinite(x) && fabs(float(h)) > fabs(x)) h = as_type<half>(ushort(as_type<ushort>(h) - 1));\n" \
      "    return h;\n" \
      "}\n") \
    X(RTZ_BF16, "bfloat_toward_zero", "t(f)", "", \
      "inline bfloat bfloat_toward_zero(float x) {\n" \
      "    return isnan(x) ? bfloat(NAN) : as_type<bfloat>(ushort(as_type<uint>(x) >> 16));\n" \
      "}\n") \
    X(ERF, "erf_f32", "f(f)", "", \
      "inline float erf_f32(float x) {    // our own fit: 1.2 ulp and the error of exp\n" \
      "    const float t = fabs(x);\n" \
      "    if (t <= 0.9277f) {\n" \
      "        const float s = x * x;\n" \
      "        float p = -0.000596425496f;\n" \
      "        p = fma(p, s, 0.00498800445f);\n" \
      "        p = fma(p, s, -0.0267631244f);\n" \
      "        p = fma(p, s, 0.112817213f);\n" \
      "        p = fma(p, s, -0.376124859f);\n" \
      "        p = fma(p, s, 0.128379151f);\n" \
      "        return fma(p, x, x);\n" \
      "    }\n" \
      "    if (t > 3.95f) return copysign(1.0f, x);    // also keeps the fit in its range\n" \
      "    if (isnan(x)) return x;\n" \
      "    float q = -2.1190157e-05f;\n" \
      "    q = fma(q, t, 0.000435563066f);\n" \
      "    q = fma(q, t, -0.00417639967f);\n" \
      "    q = fma(q, t, 0.0251334962f);\n" \
      "    q = fma(q, t, -0.108301871f);\n" \
      "    q = fma(q, t, -0.633327067f);\n" \
      "    q = fma(q, t, -1.12952471f);\n" \
      "    q = fma(q, t, 0.000176729314f);\n" \
      "    return copysign(1.0f - precise::exp(q), x);\n" \
      "}\n") \
    X(LOG1P, "log1p_f32", "f(f)", "", \
      "inline float log1p_f32(float x) {    // Goldberg: the rounding of 1 + x cancels\n" \
      "    const float u = 1.0f + x;\n" \
      "    return u == 1.0f ? x : u == INFINITY ? u : x * (precise::log(u) / (u - 1.0f));\n" \
      "}\n") \
    X(EXPM1, "expm1_f32", "f(f)", "", \
      "inline float expm1_f32(float x) {    // Kahan\n" \
      "    const float u = precise::exp(x);\n" \
      "    if (u == 1.0f) return x;\n" \
      "    if (u == INFINITY) return u;\n" \
      "    return u - 1.0f == -1.0f ? -1.0f : (u - 1.0f) * x / precise::log(u);\n" \
      "}\n") \
    X(CBRT, "cbrt_f32", "f(f)", "", \
      "inline float cbrt_f32(float x) {    // a power, then one step of Newton's method\n" \
      "    if (x == 0.0f || !isfinite(x)) return x;\n" \
      "    const float a = fabs(x);\n" \
      "    float y = precise::exp2(precise::log2(a) * (1.0f / 3.0f));\n" \
      "    y = y - (y * y * y - a) / (3.0f * y * y);\n" \
      "    return copysign(y, x);\n" \
      "}\n") \
    X(ERFC, "erfc_f32", "f(f)", "", \
      "inline float erfc_f32(float x) {    // Abramowitz and Stegun 7.1.26 form, refit: 1.2e-7 relative\n" \
      "    const float z = fabs(x), t = 1.0f / (1.0f + 0.5f * z);\n" \
      "    float p = 0.17087277f;\n" \
      "    p = fma(p, t, -0.82215223f);\n" \
      "    p = fma(p, t, 1.48851587f);\n" \
      "    p = fma(p, t, -1.13520398f);\n" \
      "    p = fma(p, t, 0.27886807f);\n" \
      "    p = fma(p, t, -0.18628806f);\n" \
      "    p = fma(p, t, 0.09678418f);\n" \
      "    p = fma(p, t, 0.37409196f);\n" \
      "    p = fma(p, t, 1.00002368f);\n" \
      "    p = fma(p, t, -1.26551223f);\n" \
      "    const float r = t * precise::exp(-z * z + p);\n" \
      "    return x >= 0.0f ? r : 2.0f - r;\n" \
      "}\n") \
    X(FPOWI, "pow_int", "f(fi)", "", \
      "inline float pow_int(float x, int n) {    // repeated squaring\n" \
      "    float r = 1.0f;\n" \
      "    for (uint k = n < 0 ? 0u - uint(n) : uint(n); k != 0; k >>= 1) {\n" \
      "        if (k & 1) r *= x;\n" \
      "        x *= x;\n" \
      "    }\n" \
      "    return n < 0 ? 1.0f / r : r;\n" \
      "}\n") \
    X(IPOWI_32, "ipow", "i(ii)", "", \
      "inline int ipow(int x, int n) {    // repeated squaring, wrapping\n" \
      "    uint r = 1, b = uint(x);\n" \
      "    if (n < 0) return x == 1 ? 1 : x == -1 ? ((n & 1) ? -1 : 1) : 0;\n" \
      "    for (; n != 0; n >>= 1) {\n" \
      "        if (n & 1) r *= b;\n" \
      "        b *= b;\n" \
      "    }\n" \
      "    return int(r);\n" \
      "}\n") \
    X(IPOWI_64, "ipow", "l(ll)", "", \
      "inline long ipow(long x, long n) {\n" \
      "    ulong r = 1, b = ulong(x);\n" \
      "    if (n < 0) return x == 1 ? 1 : x == -1 ? ((n & 1) ? -1 : 1) : 0;\n" \
      "    for (; n != 0; n >>= 1) {\n" \
      "        if (n & 1) r *= b;\n" \
      "        b *= b;\n" \
      "    }\n" \
      "    return long(r);\n" \
      "}\n") \
    X(CLZ64, "clz64", "l(m)", "", \
      "inline long clz64(ulong x) {\n" \
      "    const uint hi = uint(x >> 32);\n" \
      "    return hi != 0 ? clz(hi) : 32 + clz(uint(x));\n" \
      "}\n") \
    X(CTZ64, "ctz64", "l(m)", "", \
      "inline long ctz64(ulong x) {\n" \
      "    const uint lo = uint(x);\n" \
      "    return lo != 0 ? ctz(lo) : 32 + ctz(uint(x >> 32));\n" \
      "}\n") \
    X(POPC64, "popcount64", "l(m)", "", \
      "inline long popcount64(ulong x) {\n" \
      "    return popcount(uint(x)) + popcount(uint(x >> 32));\n" \
      "}\n") \
    X(SHUF_B, "shuffle_bits", "", "", \
      "inline bool shuffle_bits(bool x, ushort lane) {    // simd functions take neither bool nor 64 bits nor bfloat\n" \
      "    return simd_shuffle(uint(x), lane) != 0;\n" \
      "}\n") \
    X(SHUF_L, "shuffle_bits", "", "", \
      "inline long shuffle_bits(long x, ushort lane) {\n" \
      "    return as_type<long>(simd_shuffle(as_type<uint2>(x), lane));\n" \
      "}\n") \
    X(SHUF_BF, "shuffle_bits", "", "", \
      "inline bfloat shuffle_bits(bfloat x, ushort lane) {\n" \
      "    return as_type<bfloat>(simd_shuffle(as_type<ushort>(x), lane));\n" \
      "}\n") \
    X(SHUFX_B, "shuffle_xor_bits", "", "", \
      "inline bool shuffle_xor_bits(bool x, ushort mask) {    // simd functions take neither bool nor 64 bits nor bfloat\n" \
      "    return simd_shuffle_xor(uint(x), mask) != 0;\n" \
      "}\n") \
    X(SHUFX_L, "shuffle_xor_bits", "", "", \
      "inline long shuffle_xor_bits(long x, ushort mask) {\n" \
      "    return as_type<long>(simd_shuffle_xor(as_type<uint2>(x), mask));\n" \
      "}\n") \
    X(SHUFX_BF, "shuffle_xor_bits", "", "", \
      "inline bfloat shuffle_xor_bits(bfloat x, ushort mask) {\n" \
      "    return as_type<bfloat>(simd_shuffle_xor(as_type<ushort>(x), mask));\n" \
      "}\n")

/* -- Generated rows: double precision, special functions, small floats ------------------------- */
#define TMI_LIBRARY(X) \
    X(ROUNDING, "TO_EVEN", "", \
    "", \
    "// Directions of rounding\n" \
    "constant uint TO_EVEN = 0;    // to nearest, halfway cases to even\n" \
    "constant uint TO_ZERO = 1;\n" \
    "constant uint TO_DOWN = 2;\n" \
    "constant uint TO_UP   = 3;\n" \
    "constant uint TO_AWAY = 4;    // to nearest, halfway cases away from zero; for integers only\n") \
    X(F64_CONSTANTS, "F64_INF", "", \
    "", \
    "// Doubles are carried as their bits\n" \
    "constant ulong F64_SIGN      = 0x8000000000000000ul;\n" \
    "constant ulong F64_MAGNITUDE = 0x7ffffffffffffffful;\n" \
    "constant ulong F64_INF       = 0x7ff0000000000000ul;\n" \
    "constant ulong F64_NAN       = 0x7ff8000000000000ul;\n" \
    "constant ulong F64_ONE       = 0x3ff0000000000000ul;\n") \
    X(LEADING_ZEROS, "leading_zeros", "i(m)", \
    "", \
    "// 64 for 0; by halves, as not every system has a clz of ulong\n" \
    "inline int leading_zeros(ulong x) {\n" \
    "    const uint hi = uint(x >> 32);\n" \
    "    return hi != 0u ? int(clz(hi)) : 32 + int(clz(uint(x)));\n" \
    "}\n") \
    X(SHIFT_STICKY, "shift_sticky", "", \
    "", \
    "// x / 2^n; bit 0 also says whether anything was lost\n" \
    "inline ulong shift_sticky(ulong x, uint n) {\n" \
    "    if (n == 0u) return x;\n" \
    "    if (n > 63u) return ulong(x != 0ul);\n" \
    "    return (x >> n) | ulong((x << (64u - n)) != 0ul);\n" \
    "}\n") \
    X(ROUND_SHIFT, "round_shift", "", \
    "TO_EVEN", \
    "// x / 2^n, rounded; n is 1 to 63\n" \
    "inline ulong round_shift(ulong x, uint n, uint mode, bool neg) {\n" \
    "    const ulong whole = x >> n, rest = x << (64u - n);\n" \
    "    if (rest == 0ul) return whole;\n" \
    "    if (mode == TO_EVEN) return whole + ((rest - 1ul + (whole & 1ul)) >> 63);\n" \
    "    return whole + ulong(mode == (neg ? TO_DOWN : TO_UP));\n" \
    "}\n") \
    X(PACK_FLOAT, "pack_float", "", \
    "TO_EVEN shift_sticky round_shift", \
    "// Bits, without the sign, of frac / 2^63 * 2^(exp - zero_exp), rounded to a format with `mant` bits\n" \
    "// of fraction and exponents below exp_max. Bit 63 of frac is set; bit 0 may be sticky.\n" \
    "inline ulong pack_float(int exp, ulong frac, uint mant, int exp_max, uint mode, bool neg) {\n" \
    "    if (exp < 1) {    // a denormal: the exponent stays at the lowest\n" \
    "        frac = shift_sticky(frac, uint(1 - exp));\n" \
    "        exp = 1;\n" \
    "    }\n" \
    "    const ulong inf = ulong(exp_max) << mant;\n" \
    "    const ulong bits = (ulong(exp - 1) << mant) + round_shift(frac, 63u - mant, mode, neg);\n" \
    "    if (exp < exp_max && bits < inf) return bits;\n" \
    "    const bool largest = mode == TO_ZERO || mode == (neg ? TO_UP : TO_DOWN);\n" \
    "    return largest ? inf - 1ul : inf;\n" \
    "}\n") \
    X(F64_PACK, "f64_pack", "", \
    "pack_float", \
    "inline ulong f64_pack(ulong sign, int exp, ulong frac, uint mode) {    // sign in bit 63\n" \
    "    return sign | pack_float(exp, frac, 52u, 0x7ff, mode, sign != 0ul);\n" \
    "}\n") \
    X(F64_SPLIT, "f64_split", "", \
    "F64_INF leading_zeros", \
    "// A finite double other than 0 is frac / 2^63 * 2^(exp - 1023), with bit 63 of frac set\n" \
    "inline ulong f64_split(ulong a, thread int &exp) {\n" \
    "    const ulong frac = a << 11;\n" \
    "    exp = int(a >> 52) & 0x7ff;\n" \
    "    if (exp != 0) return frac | F64_SIGN;\n" \
    "    const int n = leading_zeros(frac);    // a denormal\n" \
    "    exp = 1 - n;\n" \
    "    return frac << n;\n" \
    "}\n") \
    X(RECIPROCAL64, "reciprocal64", "", \
    "", \
    "// 2^126 / d for d with bit 63 set: 2^62 to 2^63, at most 8 off. A float, then Newton twice.\n" \
    "inline ulong reciprocal64(ulong d) {\n" \
    "    ulong r = ulong(uint(0x1p54f / float(uint(d >> 40)))) << 32;\n" \
    "    long error = long((1ul << 62) - mulhi(d, r));    // 1 - d r, below 2^-21\n" \
    "    r += ulong(mulhi(long(r >> 1), error << 20) >> 17);\n" \
    "    error = long((1ul << 62) - mulhi(d, r));         // below 2^-42\n" \
    "    return r + ulong(mulhi(long(r >> 1), error << 20) >> 17);\n" \
    "}\n") \
    X(SQRT64, "sqrt64", "", \
    "", \
    "// sqrt(m) 2^62 for m = x / 2^62 in [1, 4): at most 4 off. A float, then Newton's method for the\n" \
    "// reciprocal root and once for the root.\n" \
    "inline ulong sqrt64(ulong x, thread ulong &recip) {\n" \
    "    const float near = precise::rsqrt(float(uint(x >> 32)) * 0x1p-30f);\n" \
    "    ulong r = ulong(uint(near * 0x1.fffffcp30f)) << 32;    // a little below, never above 1\n" \
    "    const long error = long((1ul << 60) - mulhi(x, mulhi(r, r)));    // 1 - m r^2, below 2^-20\n" \
    "    r += ulong(mulhi(long(r >> 1), error << 20) >> 16);\n" \
    "    const ulong root = mulhi(x, r) << 1;\n" \
    "    const ulong lo = root * root, hi = mulhi(root, root);    // root^2 to the last bit\n" \
    "    const ulong want_lo = x << 62, want_hi = x >> 2;\n" \
    "    const ulong rest_lo = want_lo - lo, rest_hi = want_hi - hi - ulong(want_lo < lo);\n" \
    "    const long rest = long((rest_hi << 32) | (rest_lo >> 32));\n" \
    "    recip = r;\n" \
    "    return root + ulong(mulhi(rest << 10, long(r >> 1)) >> 39);\n" \
    "}\n") \
    X(F64_NEG, "f64_neg", "d(d)", \
    "F64_INF", \
    "inline ulong f64_neg(ulong a) { return a ^ F64_SIGN; }\n") \
    X(F64_ABS, "f64_abs", "d(d)", \
    "F64_INF", \
    "inline ulong f64_abs(ulong a) { return a & F64_MAGNITUDE; }\n") \
    X(F64_COPYSIGN, "f64_copysign", "d(dd)", \
    "F64_INF", \
    "inline ulong f64_copysign(ulong a, ulong b) { return (a & F64_MAGNITUDE) | (b & F64_SIGN); }\n") \
    X(F64_ISNAN, "f64_isnan", "b(d)", \
    "F64_INF", \
    "inline bool f64_isnan(ulong a) { return (a & F64_MAGNITUDE) > F64_INF; }\n") \
    X(F64_UNORDERED, "f64_unordered", "b(dd)", \
    "f64_isnan", \
    "inline bool f64_unordered(ulong a, ulong b) { return f64_isnan(a) || f64_isnan(b); }\n") \
    X(F64_KEY, "f64_key", "", \
    "F64_INF", \
    "inline long f64_key(ulong a) {    // an integer in the order of the numbers; both zeros are 0\n" \
    "    const long mag = long(a & F64_MAGNITUDE);\n" \
    "    return a >= F64_SIGN ? -mag : mag;\n" \
    "}\n") \
    X(F64_EQ, "f64_eq", "b(dd)", \
    "f64_unordered f64_key", \
    "inline bool f64_eq(ulong a, ulong b) {    // false when either is NaN\n" \
    "    return !f64_unordered(a, b) && f64_key(a) == f64_key(b);\n" \
    "}\n") \
    X(F64_LT, "f64_lt", "b(dd)", \
    "f64_unordered f64_key", \
    "inline bool f64_lt(ulong a, ulong b) {    // false when either is NaN\n" \
    "    return !f64_unordered(a, b) && f64_key(a) < f64_key(b);\n" \
    "}\n") \
    X(F64_LE, "f64_le", "b(dd)", \
    "f64_unordered f64_key", \
    "inline bool f64_le(ulong a, ulong b) {    // false when either is NaN\n" \
    "    return !f64_unordered(a, b) && f64_key(a) <= f64_key(b);\n" \
    "}\n") \
    X(F64_BELOW, "f64_below", "", \
    "", \
    "inline bool f64_below(ulong a, ulong b) {    // a < b for numbers, with -0 below +0\n" \
    "    const long x = long(a), y = long(b);\n" \
    "    return (x ^ long(ulong(x >> 63) >> 1)) < (y ^ long(ulong(y >> 63) >> 1));\n" \
    "}\n") \
    X(F64_MAXNUM, "f64_maxnum", "d(dd)", \
    "f64_isnan f64_below", \
    "inline ulong f64_maxnum(ulong a, ulong b) {    // the other one when one is NaN\n" \
    "    if (f64_isnan(a)) return b;\n" \
    "    if (f64_isnan(b)) return a;\n" \
    "    return f64_below(a, b) ? b : a;\n" \
    "}\n") \
    X(F64_MINNUM, "f64_minnum", "d(dd)", \
    "f64_isnan f64_below", \
    "inline ulong f64_minnum(ulong a, ulong b) {    // the other one when one is NaN\n" \
    "    if (f64_isnan(a)) return b;\n" \
    "    if (f64_isnan(b)) return a;\n" \
    "    return f64_below(b, a) ? b : a;\n" \
    "}\n") \
    X(F64_MAXIMUM, "f64_maximum", "d(dd)", \
    "F64_INF f64_unordered f64_below", \
    "inline ulong f64_maximum(ulong a, ulong b) {    // NaN when either is NaN\n" \
    "    if (f64_unordered(a, b)) return F64_NAN;\n" \
    "    return f64_below(a, b) ? b : a;\n" \
    "}\n") \
    X(F64_MINIMUM, "f64_minimum", "d(dd)", \
    "F64_INF f64_unordered f64_below", \
    "inline ulong f64_minimum(ulong a, ulong b) {    // NaN when either is NaN\n" \
    "    if (f64_unordered(a, b)) return F64_NAN;\n" \
    "    return f64_below(b, a) ? b : a;\n" \
    "}\n") \
    X(F64_ADD_TO, "f64_add_to", "", \
    "TO_EVEN F64_INF leading_zeros shift_sticky f64_pack", \
    "// a + b, rounded once. The smaller one is aligned with 10 bits to spare, the last of them sticky.\n" \
    "inline ulong f64_add_to(ulong a, ulong b, uint mode) {\n" \
    "    const bool swap = (a & F64_MAGNITUDE) < (b & F64_MAGNITUDE);\n" \
    "    const ulong large = swap ? b : a, small = swap ? a : b;\n" \
    "    const ulong sign = large & F64_SIGN, mag = large & F64_MAGNITUDE;\n" \
    "    const bool minus = (a ^ b) >= F64_SIGN;\n" \
    "    if (mag >= F64_INF) {\n" \
    "        const bool lost = minus && (small & F64_MAGNITUDE) == F64_INF;\n" \
    "        return mag > F64_INF || lost ? F64_NAN : large;\n" \
    "    }\n" \
    "    const int exp_large = int(mag >> 52), exp_small = int(small >> 52) & 0x7ff;\n" \
    "    const ulong top = 1ul << 62;\n" \
    "    ulong x = (large << 10) & (top - 1ul), y = (small << 10) & (top - 1ul);\n" \
    "    if (exp_large != 0) x |= top;\n" \
    "    if (exp_small != 0) y |= top;\n" \
    "    const int exp = max(exp_large, 1);\n" \
    "    y = shift_sticky(y, uint(exp - max(exp_small, 1)));\n" \
    "    const ulong sum = minus ? x - y : x + y;\n" \
    "    if (sum == 0ul) return !minus ? sign : mode == TO_DOWN ? F64_SIGN : 0ul;\n" \
    "    const int n = leading_zeros(sum);\n" \
    "    return f64_pack(sign, exp + 1 - n, sum << n, mode);\n" \
    "}\n") \
    X(F64_ADD, "f64_add", "d(dd)", \
    "TO_EVEN f64_add_to", \
    "inline ulong f64_add(ulong a, ulong b) { return f64_add_to(a, b, TO_EVEN); }\n") \
    X(F64_SUB, "f64_sub", "d(dd)", \
    "TO_EVEN F64_INF f64_add_to", \
    "inline ulong f64_sub(ulong a, ulong b) { return f64_add_to(a, b ^ F64_SIGN, TO_EVEN); }\n") \
    X(F64_MUL_TO, "f64_mul_to", "", \
    "F64_INF f64_pack f64_split", \
    "// a b, rounded once from the exact 106 bits\n" \
    "inline ulong f64_mul_to(ulong a, ulong b, uint mode) {\n" \
    "    const ulong sign = (a ^ b) & F64_SIGN, x = a & F64_MAGNITUDE, y = b & F64_MAGNITUDE;\n" \
    "    const bool zero = x == 0ul || y == 0ul;\n" \
    "    if (x >= F64_INF || y >= F64_INF)\n" \
    "        return x > F64_INF || y > F64_INF || zero ? F64_NAN : sign | F64_INF;\n" \
    "    if (zero) return sign;\n" \
    "    int exp_x, exp_y;\n" \
    "    const ulong p = f64_split(x, exp_x), q = f64_split(y, exp_y);\n" \
    "    ulong hi = mulhi(p, q), lo = p * q;\n" \
    "    int exp = exp_x + exp_y - 1022;\n" \
    "    if (hi < F64_SIGN) {\n" \
    "        hi = (hi << 1) | (lo >> 63);\n" \
    "        lo <<= 1;\n" \
    "        exp--;\n" \
    "    }\n" \
    "    return f64_pack(sign, exp, hi | ulong(lo != 0ul), mode);\n" \
    "}\n") \
    X(F64_MUL, "f64_mul", "d(dd)", \
    "TO_EVEN f64_mul_to", \
    "inline ulong f64_mul(ulong a, ulong b) { return f64_mul_to(a, b, TO_EVEN); }\n") \
    X(F64_DIV_TO, "f64_div_to", "", \
    "F64_INF f64_pack f64_split reciprocal64", \
    "// a / b, rounded once: a quotient of 56 bits from the reciprocal, made exact by its remainder\n" \
    "inline ulong f64_div_to(ulong a, ulong b, uint mode) {\n" \
    "    const ulong sign = (a ^ b) & F64_SIGN, x = a & F64_MAGNITUDE, y = b & F64_MAGNITUDE;\n" \
    "    if (x >= F64_INF || y >= F64_INF) {\n" \
    "        if (x > F64_INF || y > F64_INF || x == y) return F64_NAN;\n" \
    "        return x == F64_INF ? sign | F64_INF : sign;\n" \
    "    }\n" \
    "    if (y == 0ul) return x == 0ul ? F64_NAN : sign | F64_INF;\n" \
    "    if (x == 0ul) return sign;\n" \
    "    int exp_x, exp_y;\n" \
    "    ulong p = f64_split(x, exp_x);\n" \
    "    const ulong q = f64_split(y, exp_y), d = q >> 11;\n" \
    "    int exp = exp_x - exp_y + 1023;\n" \
    "    ulong ratio = mulhi(p, reciprocal64(q));    // times 2^62\n" \
    "    uint shift = 7u;\n" \
    "    if (p < q) {    // one more bit, so that the quotient has 56\n" \
    "        shift = 6u;\n" \
    "        exp--;\n" \
    "    }\n" \
    "    ratio >>= shift;\n" \
    "    long rest = long(((p >> 11) << (62u - shift)) - ratio * d);    // small: the high words cancel\n" \
    "    if (rest < 0l) {\n" \
    "        ratio--;\n" \
    "        rest += long(d);\n" \
    "    } else if (rest >= long(d)) {\n" \
    "        ratio++;\n" \
    "        rest -= long(d);\n" \
    "    }\n" \
    "    return f64_pack(sign, exp, (ratio << 8) | ulong(rest != 0l), mode);\n" \
    "}\n") \
    X(F64_DIV, "f64_div", "d(dd)", \
    "TO_EVEN f64_div_to", \
    "inline ulong f64_div(ulong a, ulong b) { return f64_div_to(a, b, TO_EVEN); }\n") \
    X(SHIFT_PAIR, "shift_pair", "", \
    "shift_sticky", \
    "// hi:lo / 2^n; bit 0 of lo also says whether anything was lost\n" \
    "inline void shift_pair(thread ulong &hi, thread ulong &lo, uint n) {\n" \
    "    if (n > 63u) {\n" \
    "        lo = shift_sticky(hi, n - 64u) | ulong(lo != 0ul);\n" \
    "        hi = 0ul;\n" \
    "    } else if (n != 0u) {\n" \
    "        lo = (hi << (64u - n)) | shift_sticky(lo, n);\n" \
    "        hi >>= n;\n" \
    "    }\n" \
    "}\n") \
    X(F64_FMA_TO, "f64_fma_to", "", \
    "TO_EVEN F64_INF leading_zeros f64_pack f64_split f64_add_to f64_mul_to shift_pair", \
    "// a b + c, rounded once: product and sum are exact in 128 bits, but for a sticky bit\n" \
    "inline ulong f64_fma_to(ulong a, ulong b, ulong c, uint mode) {\n" \
    "    const ulong x = a & F64_MAGNITUDE, y = b & F64_MAGNITUDE, z = c & F64_MAGNITUDE;\n" \
    "    ulong sign = (a ^ b) & F64_SIGN;\n" \
    "    const bool minus = (sign ^ c) >= F64_SIGN;\n" \
    "    if (x >= F64_INF || y >= F64_INF || z > F64_INF) {\n" \
    "        const bool bad = x > F64_INF || y > F64_INF || z > F64_INF || x == 0ul || y == 0ul;\n" \
    "        return bad || (z == F64_INF && minus) ? F64_NAN : sign | F64_INF;\n" \
    "    }\n" \
    "    if (z == F64_INF) return c;\n" \
    "    if (x == 0ul || y == 0ul) return f64_add_to(sign, c, mode);\n" \
    "    if (z == 0ul) return f64_mul_to(a, b, mode);\n" \
    "    int exp_x, exp_y, exp_z;\n" \
    "    const ulong p = f64_split(x, exp_x), q = f64_split(y, exp_y);\n" \
    "    ulong hi = mulhi(p, q), lo = p * q, add_hi = f64_split(z, exp_z), add_lo = 0ul;\n" \
    "    const int exp_p = exp_x + exp_y - 1022;\n" \
    "    const int exp = max(exp_p, exp_z) + 1;    // one bit for a carry\n" \
    "    shift_pair(hi, lo, uint(exp - exp_p));\n" \
    "    shift_pair(add_hi, add_lo, uint(exp - exp_z));\n" \
    "    if (!minus) {\n" \
    "        lo += add_lo;\n" \
    "        hi += add_hi + ulong(lo < add_lo);\n" \
    "    } else if (hi > add_hi || (hi == add_hi && lo >= add_lo)) {\n" \
    "        hi -= add_hi + ulong(lo < add_lo);\n" \
    "        lo -= add_lo;\n" \
    "    } else {\n" \
    "        hi = add_hi - hi - ulong(add_lo < lo);\n" \
    "        lo = add_lo - lo;\n" \
    "        sign ^= F64_SIGN;\n" \
    "    }\n" \
    "    if ((hi | lo) == 0ul) return mode == TO_DOWN ? F64_SIGN : 0ul;\n" \
    "    const int n = hi != 0ul ? leading_zeros(hi) : 64 + leading_zeros(lo);\n" \
    "    if (n > 63) hi = lo << (n - 64);\n" \
    "    else if (n > 0) hi = (hi << n) | (lo >> (64 - n)) | ulong((lo << n) != 0ul);\n" \
    "    else hi |= ulong(lo != 0ul);\n" \
    "    return f64_pack(sign, exp - n, hi, mode);\n" \
    "}\n") \
    X(F64_FMA, "f64_fma", "d(ddd)", \
    "TO_EVEN f64_fma_to", \
    "inline ulong f64_fma(ulong a, ulong b, ulong c) { return f64_fma_to(a, b, c, TO_EVEN); }\n") \
    X(F64_SQRT_TO, "f64_sqrt_to", "", \
    "F64_INF f64_pack f64_split sqrt64", \
    "// Square root, rounded once: 55 bits from sqrt64, made exact by their remainder\n" \
    "inline ulong f64_sqrt_to(ulong a, uint mode) {\n" \
    "    if ((a & F64_MAGNITUDE) == 0ul || a == F64_INF) return a;\n" \
    "    if (a > F64_INF) return F64_NAN;    // negative too\n" \
    "    int exp;\n" \
    "    const ulong frac = f64_split(a, exp);\n" \
    "    const bool odd = (exp & 1) == 0;    // the zero_exp is odd\n" \
    "    const ulong x = odd ? frac : frac >> 1;\n" \
    "    ulong recip;\n" \
    "    ulong root = sqrt64(x, recip) >> 8;\n" \
    "    long rest = long((x << 46) - root * root);    // small: the high words cancel\n" \
    "    if (rest < 0l) {\n" \
    "        root--;\n" \
    "        rest += 2l * long(root) + 1l;\n" \
    "    } else if (rest > 2l * long(root)) {\n" \
    "        rest -= 2l * long(root) + 1l;\n" \
    "        root++;\n" \
    "    }\n" \
    "    exp = ((exp - (odd ? 1024 : 1023)) >> 1) + 1023;\n" \
    "    return f64_pack(0ul, exp, (root << 9) | ulong(rest != 0l), mode);\n" \
    "}\n") \
    X(F64_SQRT, "f64_sqrt", "d(d)", \
    "TO_EVEN f64_sqrt_to", \
    "inline ulong f64_sqrt(ulong a) { return f64_sqrt_to(a, TO_EVEN); }\n") \
    X(F64_INTEGRAL, "f64_integral", "", \
    "TO_EVEN F64_INF", \
    "// a as a whole number, in the direction of `mode`\n" \
    "inline ulong f64_integral(ulong a, uint mode) {\n" \
    "    const ulong sign = a & F64_SIGN, mag = a & F64_MAGNITUDE;\n" \
    "    const bool away = mode == (sign != 0ul ? TO_DOWN : TO_UP);\n" \
    "    const int exp = int(mag >> 52) - 1023;\n" \
    "    if (exp > 51) return mag > F64_INF ? F64_NAN : a;\n" \
    "    if (exp < 0) {    // 0 or 1\n" \
    "        const ulong half_bits = F64_ONE - (1ul << 52);\n" \
    "        const bool one = mode == TO_EVEN ? mag > half_bits\n" \
    "                       : mode == TO_AWAY ? mag >= half_bits : away && mag != 0ul;\n" \
    "        return one ? sign | F64_ONE : sign;\n" \
    "    }\n" \
    "    const ulong unit = 1ul << (52 - exp), below = unit - 1ul;\n" \
    "    const ulong odd = (mag >> (52 - exp)) & 1ul;\n" \
    "    const ulong up = mode == TO_EVEN ? (below >> 1) + odd\n" \
    "                   : mode == TO_AWAY ? unit >> 1 : away ? below : 0ul;\n" \
    "    return sign | ((mag + up) & ~below);\n" \
    "}\n") \
    X(F64_FLOOR, "f64_floor", "d(d)", \
    "TO_EVEN f64_integral", \
    "inline ulong f64_floor(ulong a) { return f64_integral(a, TO_DOWN); }\n") \
    X(F64_CEIL, "f64_ceil", "d(d)", \
    "TO_EVEN f64_integral", \
    "inline ulong f64_ceil(ulong a) { return f64_integral(a, TO_UP); }\n") \
    X(F64_TRUNC, "f64_trunc", "d(d)", \
    "TO_EVEN f64_integral", \
    "inline ulong f64_trunc(ulong a) { return f64_integral(a, TO_ZERO); }\n") \
    X(F64_ROUND, "f64_round", "d(d)", \
    "TO_EVEN f64_integral", \
    "inline ulong f64_round(ulong a) { return f64_integral(a, TO_AWAY); }\n") \
    X(F64_RINT, "f64_rint", "d(d)", \
    "TO_EVEN f64_integral", \
    "inline ulong f64_rint(ulong a) { return f64_integral(a, TO_EVEN); }\n") \
    X(F64_QUOTIENT_REST, "f64_quotient_rest", "", \
    "TO_EVEN F64_INF leading_zeros f64_pack f64_split reciprocal64", \
    "// |a| - k |b| for the largest integer k with a result that is not negative, exact; odd: is k odd?\n" \
    "// Long division, 56 bits of the quotient at a time. a is finite, b is not 0 or NaN.\n" \
    "inline ulong f64_quotient_rest(ulong a, ulong b, thread bool &odd) {\n" \
    "    a &= F64_MAGNITUDE;\n" \
    "    b &= F64_MAGNITUDE;\n" \
    "    odd = false;\n" \
    "    if (a < b) return a;\n" \
    "    int exp_a, exp_b;\n" \
    "    ulong x = f64_split(a, exp_a) >> 11;\n" \
    "    const ulong q = f64_split(b, exp_b), d = q >> 11, r = reciprocal64(q);\n" \
    "    if (x >= d) {\n" \
    "        x -= d;\n" \
    "        odd = true;\n" \
    "    }\n" \
    "    for (int left = exp_a - exp_b; left > 0; left -= 56) {\n" \
    "        const uint bits = uint(min(left, 56));\n" \
    "        ulong k = mulhi(x << 11, r) >> (62u - bits);\n" \
    "        x = (x << bits) - k * d;\n" \
    "        if (long(x) < 0l) {\n" \
    "            x += d;\n" \
    "            k--;\n" \
    "        } else if (x >= d) {\n" \
    "            x -= d;\n" \
    "            k++;\n" \
    "        }\n" \
    "        odd = (k & 1ul) != 0ul;\n" \
    "    }\n" \
    "    if (x == 0ul) return 0ul;\n" \
    "    const int n = leading_zeros(x);\n" \
    "    return f64_pack(0ul, exp_b + 11 - n, x << n, TO_ZERO);\n" \
    "}\n") \
    X(F64_FMOD, "f64_fmod", "d(dd)", \
    "F64_INF f64_quotient_rest", \
    "inline ulong f64_fmod(ulong a, ulong b) {    // exact; the sign of a\n" \
    "    const ulong x = a & F64_MAGNITUDE, y = b & F64_MAGNITUDE;\n" \
    "    if (x >= F64_INF || y > F64_INF || y == 0ul) return F64_NAN;\n" \
    "    bool odd;\n" \
    "    return (a & F64_SIGN) | f64_quotient_rest(a, b, odd);\n" \
    "}\n") \
    X(F64_REMAINDER, "f64_remainder", "d(dd)", \
    "F64_INF f64_sub f64_quotient_rest", \
    "// a - b n for n nearest to a / b, ties to even; exact\n" \
    "inline ulong f64_remainder(ulong a, ulong b) {\n" \
    "    const ulong x = a & F64_MAGNITUDE, y = b & F64_MAGNITUDE;\n" \
    "    if (x >= F64_INF || y > F64_INF || y == 0ul) return F64_NAN;\n" \
    "    bool odd;\n" \
    "    const ulong below = f64_quotient_rest(a, b, odd), above = f64_sub(y, below);\n" \
    "    const bool up = below > above || (below == above && odd);\n" \
    "    return (a & F64_SIGN) ^ (up ? above | F64_SIGN : below);\n" \
    "}\n") \
    X(F64_FDIM, "f64_fdim", "d(dd)", \
    "f64_le f64_sub", \
    "inline ulong f64_fdim(ulong a, ulong b) {    // a - b where that is positive, else 0\n" \
    "    return f64_le(a, b) ? 0ul : f64_sub(a, b);\n" \
    "}\n") \
    X(F64_NEXTAFTER, "f64_nextafter", "d(dd)", \
    "F64_INF f64_unordered f64_eq f64_lt", \
    "inline ulong f64_nextafter(ulong a, ulong b) {    // the next number from a toward b\n" \
    "    if (f64_unordered(a, b)) return F64_NAN;\n" \
    "    if (f64_eq(a, b)) return b;\n" \
    "    if ((a & F64_MAGNITUDE) == 0ul) return (b & F64_SIGN) | 1ul;\n" \
    "    return f64_lt(a, b) == (a < F64_SIGN) ? a + 1ul : a - 1ul;\n" \
    "}\n") \
    X(F64_LDEXP, "f64_ldexp", "d(di)", \
    "TO_EVEN F64_INF f64_pack f64_split", \
    "inline ulong f64_ldexp(ulong a, int n) {    // a 2^n, rounded once\n" \
    "    const ulong mag = a & F64_MAGNITUDE;\n" \
    "    if (mag == 0ul || mag >= F64_INF) return mag > F64_INF ? F64_NAN : a;\n" \
    "    int exp;\n" \
    "    const ulong frac = f64_split(mag, exp);\n" \
    "    return f64_pack(a & F64_SIGN, exp + clamp(n, -5000, 5000), frac, TO_EVEN);\n" \
    "}\n") \
    X(F64_ILOGB, "f64_ilogb", "i(d)", \
    "F64_INF f64_split", \
    "inline int f64_ilogb(ulong a) {    // exponent; of 0 and NaN INT_MIN, of infinity INT_MAX\n" \
    "    const ulong mag = a & F64_MAGNITUDE;\n" \
    "    if (mag == 0ul || mag > F64_INF) return -2147483647 - 1;\n" \
    "    if (mag == F64_INF) return 2147483647;\n" \
    "    int exp;\n" \
    "    f64_split(mag, exp);\n" \
    "    return exp - 1023;\n" \
    "}\n") \
    X(I32_TO_F64, "i32_to_f64", "d(i)", \
    "F64_INF", \
    "inline ulong i32_to_f64(int x) {    // exact\n" \
    "    if (x == 0) return 0ul;\n" \
    "    const uint mag = x < 0 ? 0u - uint(x) : uint(x);\n" \
    "    const uint n = clz(mag);\n" \
    "    return (x < 0 ? F64_SIGN : 0ul) + (ulong(1053u - n) << 52) + ((ulong(mag) << n) << 21);\n" \
    "}\n") \
    X(F64_LOGB, "f64_logb", "d(d)", \
    "F64_INF f64_abs f64_ilogb i32_to_f64", \
    "inline ulong f64_logb(ulong a) {    // exponent; of 0 minus infinity\n" \
    "    const ulong mag = a & F64_MAGNITUDE;\n" \
    "    if (mag == 0ul) return F64_SIGN | F64_INF;\n" \
    "    return mag >= F64_INF ? f64_abs(mag) : i32_to_f64(f64_ilogb(a));\n" \
    "}\n") \
    X(U32_TO_F64, "u32_to_f64", "d(u)", \
    "", \
    "inline ulong u32_to_f64(uint x) {    // exact\n" \
    "    if (x == 0u) return 0ul;\n" \
    "    const uint n = clz(x);\n" \
    "    return (ulong(1053u - n) << 52) + ((ulong(x) << n) << 21);\n" \
    "}\n") \
    X(U64_TO_F64_TO, "u64_to_f64_to", "", \
    "leading_zeros f64_pack", \
    "inline ulong u64_to_f64_to(ulong mag, ulong sign, uint mode) {\n" \
    "    if (mag == 0ul) return 0ul;\n" \
    "    const int n = leading_zeros(mag);\n" \
    "    return f64_pack(sign, 1086 - n, mag << n, mode);\n" \
    "}\n") \
    X(I64_TO_F64_TO, "i64_to_f64_to", "", \
    "F64_INF u64_to_f64_to", \
    "inline ulong i64_to_f64_to(long x, uint mode) {\n" \
    "    const ulong u = ulong(x), sign = u & F64_SIGN;\n" \
    "    return u64_to_f64_to(sign != 0ul ? 0ul - u : u, sign, mode);\n" \
    "}\n") \
    X(U64_TO_F32_TO, "u64_to_f32_to", "", \
    "leading_zeros pack_float", \
    "inline float u64_to_f32_to(ulong mag, ulong sign, uint mode) {\n" \
    "    if (mag == 0ul) return 0.0f;\n" \
    "    const int n = leading_zeros(mag);\n" \
    "    const ulong bits = pack_float(190 - n, mag << n, 23u, 0xff, mode, sign != 0ul);\n" \
    "    return as_type<float>(uint(bits) | uint(sign >> 32));\n" \
    "}\n") \
    X(I64_TO_F32_TO, "i64_to_f32_to", "", \
    "F64_INF u64_to_f32_to", \
    "inline float i64_to_f32_to(long x, uint mode) {\n" \
    "    const ulong u = ulong(x), sign = u & F64_SIGN;\n" \
    "    return u64_to_f32_to(sign != 0ul ? 0ul - u : u, sign, mode);\n" \
    "}\n") \
    X(F64_TO_FLOAT, "f64_to_float", "", \
    "F64_INF pack_float f64_split", \
    "// Bits of a in a narrower format, rounded once: `mant` bits of fraction, exponents below exp_max\n" \
    "inline uint f64_to_float(ulong a, uint mant, int exp_max, uint mode) {\n" \
    "    const uint sign = uint(a >> 63) << (mant + (exp_max == 0x1f ? 5u : 8u));\n" \
    "    const ulong mag = a & F64_MAGNITUDE;\n" \
    "    const uint inf = uint(exp_max) << mant;\n" \
    "    if (mag == 0ul) return sign;\n" \
    "    if (mag >= F64_INF) return mag > F64_INF ? inf | (1u << (mant - 1u)) : sign | inf;\n" \
    "    int exp;\n" \
    "    const ulong frac = f64_split(mag, exp);\n" \
    "    exp += (exp_max >> 1) - 1023;\n" \
    "    return sign | uint(pack_float(exp, frac, mant, exp_max, mode, sign != 0u));\n" \
    "}\n") \
    X(F64_TO_F32_TO, "f64_to_f32_to", "", \
    "f64_to_float", \
    "inline float f64_to_f32_to(ulong a, uint mode) {\n" \
    "    return as_type<float>(f64_to_float(a, 23u, 0xff, mode));\n" \
    "}\n") \
    X(F64_TO_F32, "f64_to_f32", "f(d)", \
    "TO_EVEN f64_to_f32_to", \
    "inline float f64_to_f32(ulong a) { return f64_to_f32_to(a, TO_EVEN); }\n") \
    X(F64_TO_F16, "f64_to_f16", "h(d)", \
    "TO_EVEN f64_to_float", \
    "inline half f64_to_f16(ulong a) {    // to nearest even, once\n" \
    "    return as_type<half>(ushort(f64_to_float(a, 10u, 0x1f, TO_EVEN)));\n" \
    "}\n") \
    X(F64_TO_F16_RZ, "f64_to_f16_rz", "h(d)", \
    "TO_EVEN f64_to_float", \
    "inline half f64_to_f16_rz(ulong a) {\n" \
    "    return as_type<half>(ushort(f64_to_float(a, 10u, 0x1f, TO_ZERO)));\n" \
    "}\n") \
    X(F64_TO_BF16, "f64_to_bf16", "t(d)", \
    "TO_EVEN f64_to_float", \
    "inline bfloat f64_to_bf16(ulong a) {    // to nearest even, once\n" \
    "    return as_type<bfloat>(ushort(f64_to_float(a, 7u, 0xff, TO_EVEN)));\n" \
    "}\n") \
    X(F64_TO_BF16_RZ, "f64_to_bf16_rz", "t(d)", \
    "TO_EVEN f64_to_float", \
    "inline bfloat f64_to_bf16_rz(ulong a) {\n" \
    "    return as_type<bfloat>(ushort(f64_to_float(a, 7u, 0xff, TO_ZERO)));\n" \
    "}\n") \
    X(F32_BITS_TO_F64, "f32_bits_to_f64", "", \
    "F64_INF", \
    "inline ulong f32_bits_to_f64(uint x) {    // exact, denormals too\n" \
    "    const ulong sign = ulong(x >> 31) << 63;\n" \
    "    const uint mag = x & 0x7fffffffu;\n" \
    "    if (mag > 0x7f800000u) return F64_NAN;\n" \
    "    if (mag == 0x7f800000u) return sign | F64_INF;\n" \
    "    if (mag >= 0x00800000u) return sign | ((ulong(mag) << 29) + (896ul << 52));\n" \
    "    if (mag == 0u) return sign;\n" \
    "    const uint n = clz(mag);\n" \
    "    return sign | ((ulong(904u - n) << 52) + ((ulong(mag) << n) << 21));\n" \
    "}\n") \
    X(F32_TO_F64, "f32_to_f64", "d(f)", \
    "f32_bits_to_f64", \
    "inline ulong f32_to_f64(float x) { return f32_bits_to_f64(as_type<uint>(x)); }\n") \
    X(F16_TO_F64, "f16_to_f64", "d(h)", \
    "f32_to_f64", \
    "inline ulong f16_to_f64(half x) { return f32_to_f64(float(x)); }\n") \
    X(BF16_TO_F64, "bf16_to_f64", "d(t)", \
    "f32_bits_to_f64", \
    "inline ulong bf16_to_f64(bfloat x) { return f32_bits_to_f64(uint(as_type<ushort>(x)) << 16); }\n") \
    X(F64_TO_U64_TO, "f64_to_u64_to", "", \
    "F64_INF f64_isnan f64_integral", \
    "inline ulong f64_to_u64_to(ulong a, uint mode) {    // saturates; NaN is 2^63, as CUDA has it\n" \
    "    if (f64_isnan(a)) return F64_SIGN;\n" \
    "    a = f64_integral(a, mode);\n" \
    "    const int exp = int(a >> 52) - 1023;    // of a negative number 1025 or more\n" \
    "    if ((a & F64_MAGNITUDE) == 0ul || a >= F64_SIGN) return 0ul;\n" \
    "    if (exp > 63) return 0xfffffffffffffffful;\n" \
    "    return ((a << 11) | F64_SIGN) >> (63 - exp);\n" \
    "}\n") \
    X(F64_TO_I64_TO, "f64_to_i64_to", "", \
    "TO_EVEN F64_INF f64_isnan f64_integral f64_to_u64_to", \
    "inline long f64_to_i64_to(ulong a, uint mode) {    // saturates; NaN is -2^63, as CUDA has it\n" \
    "    if (f64_isnan(a)) return long(F64_SIGN);\n" \
    "    a = f64_integral(a, mode);\n" \
    "    const bool neg = a >= F64_SIGN;\n" \
    "    const ulong mag = f64_to_u64_to(a & F64_MAGNITUDE, TO_ZERO);\n" \
    "    if (mag >= F64_SIGN) return long(neg ? F64_SIGN : F64_MAGNITUDE);\n" \
    "    return neg ? -long(mag) : long(mag);\n" \
    "}\n") \
    X(F64_TO_U32_TO, "f64_to_u32_to", "", \
    "f64_isnan f64_to_u64_to", \
    "inline uint f64_to_u32_to(ulong a, uint mode) {    // saturates; NaN is 2^31, as CUDA has it\n" \
    "    if (f64_isnan(a)) return 0x80000000u;\n" \
    "    return uint(min(f64_to_u64_to(a, mode), 0xfffffffful));\n" \
    "}\n") \
    X(F64_TO_I32_TO, "f64_to_i32_to", "", \
    "f64_to_i64_to", \
    "inline int f64_to_i32_to(ulong a, uint mode) {    // saturates; NaN is -2^31, as CUDA has it\n" \
    "    return int(clamp(f64_to_i64_to(a, mode), -2147483648l, 2147483647l));\n" \
    "}\n") \
    X(F64_ADD_RZ, "f64_add_rz", "d(dd)", \
    "TO_EVEN f64_add_to", \
    "inline ulong f64_add_rz(ulong a, ulong b) {\n" \
    "    return f64_add_to(a, b, TO_ZERO);\n" \
    "}\n") \
    X(F64_ADD_RD, "f64_add_rd", "d(dd)", \
    "TO_EVEN f64_add_to", \
    "inline ulong f64_add_rd(ulong a, ulong b) {\n" \
    "    return f64_add_to(a, b, TO_DOWN);\n" \
    "}\n") \
    X(F64_ADD_RU, "f64_add_ru", "d(dd)", \
    "TO_EVEN f64_add_to", \
    "inline ulong f64_add_ru(ulong a, ulong b) {\n" \
    "    return f64_add_to(a, b, TO_UP);\n" \
    "}\n") \
    X(F64_MUL_RZ, "f64_mul_rz", "d(dd)", \
    "TO_EVEN f64_mul_to", \
    "inline ulong f64_mul_rz(ulong a, ulong b) {\n" \
    "    return f64_mul_to(a, b, TO_ZERO);\n" \
    "}\n") \
    X(F64_MUL_RD, "f64_mul_rd", "d(dd)", \
    "TO_EVEN f64_mul_to", \
    "inline ulong f64_mul_rd(ulong a, ulong b) {\n" \
    "    return f64_mul_to(a, b, TO_DOWN);\n" \
    "}\n") \
    X(F64_MUL_RU, "f64_mul_ru", "d(dd)", \
    "TO_EVEN f64_mul_to", \
    "inline ulong f64_mul_ru(ulong a, ulong b) {\n" \
    "    return f64_mul_to(a, b, TO_UP);\n" \
    "}\n") \
    X(F64_DIV_RZ, "f64_div_rz", "d(dd)", \
    "TO_EVEN f64_div_to", \
    "inline ulong f64_div_rz(ulong a, ulong b) {\n" \
    "    return f64_div_to(a, b, TO_ZERO);\n" \
    "}\n") \
    X(F64_DIV_RD, "f64_div_rd", "d(dd)", \
    "TO_EVEN f64_div_to", \
    "inline ulong f64_div_rd(ulong a, ulong b) {\n" \
    "    return f64_div_to(a, b, TO_DOWN);\n" \
    "}\n") \
    X(F64_DIV_RU, "f64_div_ru", "d(dd)", \
    "TO_EVEN f64_div_to", \
    "inline ulong f64_div_ru(ulong a, ulong b) {\n" \
    "    return f64_div_to(a, b, TO_UP);\n" \
    "}\n") \
    X(F64_FMA_RZ, "f64_fma_rz", "d(ddd)", \
    "TO_EVEN f64_fma_to", \
    "inline ulong f64_fma_rz(ulong a, ulong b, ulong c) {\n" \
    "    return f64_fma_to(a, b, c, TO_ZERO);\n" \
    "}\n") \
    X(F64_FMA_RD, "f64_fma_rd", "d(ddd)", \
    "TO_EVEN f64_fma_to", \
    "inline ulong f64_fma_rd(ulong a, ulong b, ulong c) {\n" \
    "    return f64_fma_to(a, b, c, TO_DOWN);\n" \
    "}\n") \
    X(F64_FMA_RU, "f64_fma_ru", "d(ddd)", \
    "TO_EVEN f64_fma_to", \
    "inline ulong f64_fma_ru(ulong a, ulong b, ulong c) {\n" \
    "    return f64_fma_to(a, b, c, TO_UP);\n" \
    "}\n") \
    X(F64_SUB_RZ, "f64_sub_rz", "d(dd)", \
    "TO_EVEN F64_INF f64_add_to", \
    "inline ulong f64_sub_rz(ulong a, ulong b) {\n" \
    "    return f64_add_to(a, b ^ F64_SIGN, TO_ZERO);\n" \
    "}\n") \
    X(F64_SQRT_RZ, "f64_sqrt_rz", "d(d)", \
    "TO_EVEN f64_sqrt_to", \
    "inline ulong f64_sqrt_rz(ulong a) { return f64_sqrt_to(a, TO_ZERO); }\n") \
    X(F64_SUB_RD, "f64_sub_rd", "d(dd)", \
    "TO_EVEN F64_INF f64_add_to", \
    "inline ulong f64_sub_rd(ulong a, ulong b) {\n" \
    "    return f64_add_to(a, b ^ F64_SIGN, TO_DOWN);\n" \
    "}\n") \
    X(F64_SQRT_RD, "f64_sqrt_rd", "d(d)", \
    "TO_EVEN f64_sqrt_to", \
    "inline ulong f64_sqrt_rd(ulong a) { return f64_sqrt_to(a, TO_DOWN); }\n") \
    X(F64_SUB_RU, "f64_sub_ru", "d(dd)", \
    "TO_EVEN F64_INF f64_add_to", \
    "inline ulong f64_sub_ru(ulong a, ulong b) {\n" \
    "    return f64_add_to(a, b ^ F64_SIGN, TO_UP);\n" \
    "}\n") \
    X(F64_SQRT_RU, "f64_sqrt_ru", "d(d)", \
    "TO_EVEN f64_sqrt_to", \
    "inline ulong f64_sqrt_ru(ulong a) { return f64_sqrt_to(a, TO_UP); }\n") \
    X(F64_RCP_RN, "f64_rcp_rn", "d(d)", \
    "TO_EVEN F64_INF f64_div_to", \
    "inline ulong f64_rcp_rn(ulong a) { return f64_div_to(F64_ONE, a, TO_EVEN); }\n") \
    X(F64_RCP_RZ, "f64_rcp_rz", "d(d)", \
    "TO_EVEN F64_INF f64_div_to", \
    "inline ulong f64_rcp_rz(ulong a) { return f64_div_to(F64_ONE, a, TO_ZERO); }\n") \
    X(F64_RCP_RD, "f64_rcp_rd", "d(d)", \
    "TO_EVEN F64_INF f64_div_to", \
    "inline ulong f64_rcp_rd(ulong a) { return f64_div_to(F64_ONE, a, TO_DOWN); }\n") \
    X(F64_RCP_RU, "f64_rcp_ru", "d(d)", \
    "TO_EVEN F64_INF f64_div_to", \
    "inline ulong f64_rcp_ru(ulong a) { return f64_div_to(F64_ONE, a, TO_UP); }\n") \
    X(F32_ADD_RZ, "f32_add_rz", "f(ff)", \
    "TO_EVEN f64_add_to f64_to_f32_to f32_to_f64", \
    "inline float f32_add_rz(float a, float b) {\n" \
    "    const ulong wide = f64_add_to(f32_to_f64(a), f32_to_f64(b), TO_ZERO);\n" \
    "    return f64_to_f32_to(wide, TO_ZERO);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_ADD_RD, "f32_add_rd", "f(ff)", \
    "TO_EVEN f64_add_to f64_to_f32_to f32_to_f64", \
    "inline float f32_add_rd(float a, float b) {\n" \
    "    const ulong wide = f64_add_to(f32_to_f64(a), f32_to_f64(b), TO_DOWN);\n" \
    "    return f64_to_f32_to(wide, TO_DOWN);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_ADD_RU, "f32_add_ru", "f(ff)", \
    "TO_EVEN f64_add_to f64_to_f32_to f32_to_f64", \
    "inline float f32_add_ru(float a, float b) {\n" \
    "    const ulong wide = f64_add_to(f32_to_f64(a), f32_to_f64(b), TO_UP);\n" \
    "    return f64_to_f32_to(wide, TO_UP);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_MUL_RZ, "f32_mul_rz", "f(ff)", \
    "TO_EVEN f64_mul_to f64_to_f32_to f32_to_f64", \
    "inline float f32_mul_rz(float a, float b) {\n" \
    "    const ulong wide = f64_mul_to(f32_to_f64(a), f32_to_f64(b), TO_ZERO);\n" \
    "    return f64_to_f32_to(wide, TO_ZERO);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_MUL_RD, "f32_mul_rd", "f(ff)", \
    "TO_EVEN f64_mul_to f64_to_f32_to f32_to_f64", \
    "inline float f32_mul_rd(float a, float b) {\n" \
    "    const ulong wide = f64_mul_to(f32_to_f64(a), f32_to_f64(b), TO_DOWN);\n" \
    "    return f64_to_f32_to(wide, TO_DOWN);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_MUL_RU, "f32_mul_ru", "f(ff)", \
    "TO_EVEN f64_mul_to f64_to_f32_to f32_to_f64", \
    "inline float f32_mul_ru(float a, float b) {\n" \
    "    const ulong wide = f64_mul_to(f32_to_f64(a), f32_to_f64(b), TO_UP);\n" \
    "    return f64_to_f32_to(wide, TO_UP);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_DIV_RZ, "f32_div_rz", "f(ff)", \
    "TO_EVEN f64_div_to f64_to_f32_to f32_to_f64", \
    "inline float f32_div_rz(float a, float b) {\n" \
    "    const ulong wide = f64_div_to(f32_to_f64(a), f32_to_f64(b), TO_ZERO);\n" \
    "    return f64_to_f32_to(wide, TO_ZERO);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_DIV_RD, "f32_div_rd", "f(ff)", \
    "TO_EVEN f64_div_to f64_to_f32_to f32_to_f64", \
    "inline float f32_div_rd(float a, float b) {\n" \
    "    const ulong wide = f64_div_to(f32_to_f64(a), f32_to_f64(b), TO_DOWN);\n" \
    "    return f64_to_f32_to(wide, TO_DOWN);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_DIV_RU, "f32_div_ru", "f(ff)", \
    "TO_EVEN f64_div_to f64_to_f32_to f32_to_f64", \
    "inline float f32_div_ru(float a, float b) {\n" \
    "    const ulong wide = f64_div_to(f32_to_f64(a), f32_to_f64(b), TO_UP);\n" \
    "    return f64_to_f32_to(wide, TO_UP);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_FMA_RZ, "f32_fma_rz", "f(fff)", \
    "TO_EVEN f64_fma_to f64_to_f32_to f32_to_f64", \
    "inline float f32_fma_rz(float a, float b, float c) {\n" \
    "    const ulong wide = f64_fma_to(f32_to_f64(a), f32_to_f64(b), f32_to_f64(c), TO_ZERO);\n" \
    "    return f64_to_f32_to(wide, TO_ZERO);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_FMA_RD, "f32_fma_rd", "f(fff)", \
    "TO_EVEN f64_fma_to f64_to_f32_to f32_to_f64", \
    "inline float f32_fma_rd(float a, float b, float c) {\n" \
    "    const ulong wide = f64_fma_to(f32_to_f64(a), f32_to_f64(b), f32_to_f64(c), TO_DOWN);\n" \
    "    return f64_to_f32_to(wide, TO_DOWN);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_FMA_RU, "f32_fma_ru", "f(fff)", \
    "TO_EVEN f64_fma_to f64_to_f32_to f32_to_f64", \
    "inline float f32_fma_ru(float a, float b, float c) {\n" \
    "    const ulong wide = f64_fma_to(f32_to_f64(a), f32_to_f64(b), f32_to_f64(c), TO_UP);\n" \
    "    return f64_to_f32_to(wide, TO_UP);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_SUB_RZ, "f32_sub_rz", "f(ff)", \
    "TO_EVEN f64_neg f64_add_to f64_to_f32_to f32_to_f64", \
    "inline float f32_sub_rz(float a, float b) {\n" \
    "    const ulong wide = f64_add_to(f32_to_f64(a), f64_neg(f32_to_f64(b)), TO_ZERO);\n" \
    "    return f64_to_f32_to(wide, TO_ZERO);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_SQRT_RZ, "f32_sqrt_rz", "f(f)", \
    "TO_EVEN f64_sqrt_to f64_to_f32_to f32_to_f64", \
    "inline float f32_sqrt_rz(float a) {\n" \
    "    return f64_to_f32_to(f64_sqrt_to(f32_to_f64(a), TO_ZERO), TO_ZERO);\n" \
    "}\n") \
    X(F32_RCP_RZ, "f32_rcp_rz", "f(f)", \
    "TO_EVEN F64_INF f64_div_to f64_to_f32_to f32_to_f64", \
    "inline float f32_rcp_rz(float a) {\n" \
    "    return f64_to_f32_to(f64_div_to(F64_ONE, f32_to_f64(a), TO_ZERO), TO_ZERO);\n" \
    "}\n") \
    X(F32_SUB_RD, "f32_sub_rd", "f(ff)", \
    "TO_EVEN f64_neg f64_add_to f64_to_f32_to f32_to_f64", \
    "inline float f32_sub_rd(float a, float b) {\n" \
    "    const ulong wide = f64_add_to(f32_to_f64(a), f64_neg(f32_to_f64(b)), TO_DOWN);\n" \
    "    return f64_to_f32_to(wide, TO_DOWN);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_SQRT_RD, "f32_sqrt_rd", "f(f)", \
    "TO_EVEN f64_sqrt_to f64_to_f32_to f32_to_f64", \
    "inline float f32_sqrt_rd(float a) {\n" \
    "    return f64_to_f32_to(f64_sqrt_to(f32_to_f64(a), TO_DOWN), TO_DOWN);\n" \
    "}\n") \
    X(F32_RCP_RD, "f32_rcp_rd", "f(f)", \
    "TO_EVEN F64_INF f64_div_to f64_to_f32_to f32_to_f64", \
    "inline float f32_rcp_rd(float a) {\n" \
    "    return f64_to_f32_to(f64_div_to(F64_ONE, f32_to_f64(a), TO_DOWN), TO_DOWN);\n" \
    "}\n") \
    X(F32_SUB_RU, "f32_sub_ru", "f(ff)", \
    "TO_EVEN f64_neg f64_add_to f64_to_f32_to f32_to_f64", \
    "inline float f32_sub_ru(float a, float b) {\n" \
    "    const ulong wide = f64_add_to(f32_to_f64(a), f64_neg(f32_to_f64(b)), TO_UP);\n" \
    "    return f64_to_f32_to(wide, TO_UP);    // rounding twice one way is rounding once\n" \
    "}\n") \
    X(F32_SQRT_RU, "f32_sqrt_ru", "f(f)", \
    "TO_EVEN f64_sqrt_to f64_to_f32_to f32_to_f64", \
    "inline float f32_sqrt_ru(float a) {\n" \
    "    return f64_to_f32_to(f64_sqrt_to(f32_to_f64(a), TO_UP), TO_UP);\n" \
    "}\n") \
    X(F32_RCP_RU, "f32_rcp_ru", "f(f)", \
    "TO_EVEN F64_INF f64_div_to f64_to_f32_to f32_to_f64", \
    "inline float f32_rcp_ru(float a) {\n" \
    "    return f64_to_f32_to(f64_div_to(F64_ONE, f32_to_f64(a), TO_UP), TO_UP);\n" \
    "}\n") \
    X(F32_ADD_RN, "f32_add_rn", "f(ff)", \
    "", \
    "inline float f32_add_rn(float a, float b) {    // never part of a fused multiply-add\n" \
    "    #pragma METAL fp contract(off)\n" \
    "    return a + b;\n" \
    "}\n") \
    X(F32_SUB_RN, "f32_sub_rn", "f(ff)", \
    "", \
    "inline float f32_sub_rn(float a, float b) {    // never part of a fused multiply-add\n" \
    "    #pragma METAL fp contract(off)\n" \
    "    return a - b;\n" \
    "}\n") \
    X(F32_MUL_RN, "f32_mul_rn", "f(ff)", \
    "", \
    "inline float f32_mul_rn(float a, float b) {    // never part of a fused multiply-add\n" \
    "    #pragma METAL fp contract(off)\n" \
    "    return a * b;\n" \
    "}\n") \
    X(F32_RCP_RN, "f32_rcp_rn", "f(f)", \
    "", \
    "inline float f32_rcp_rn(float a) { return precise::divide(1.0f, a); }\n") \
    X(F64_TO_I32_RN, "f64_to_i32_rn", "i(d)", \
    "TO_EVEN f64_to_i32_to", \
    "inline int f64_to_i32_rn(ulong a) { return f64_to_i32_to(a, TO_EVEN); }\n") \
    X(F64_TO_I32_RZ, "f64_to_i32_rz", "i(d)", \
    "TO_EVEN f64_to_i32_to", \
    "inline int f64_to_i32_rz(ulong a) { return f64_to_i32_to(a, TO_ZERO); }\n") \
    X(F64_TO_I32_RD, "f64_to_i32_rd", "i(d)", \
    "TO_EVEN f64_to_i32_to", \
    "inline int f64_to_i32_rd(ulong a) { return f64_to_i32_to(a, TO_DOWN); }\n") \
    X(F64_TO_I32_RU, "f64_to_i32_ru", "i(d)", \
    "TO_EVEN f64_to_i32_to", \
    "inline int f64_to_i32_ru(ulong a) { return f64_to_i32_to(a, TO_UP); }\n") \
    X(F32_TO_I32_RZ, "f32_to_i32_rz", "i(f)", \
    "", \
    "inline int f32_to_i32_rz(float x) {    // saturates; NaN is 0\n" \
    "    return isnan(x) ? 0 : x >= 2147483648.0f ? 2147483647 : int(max(x, -2147483648.0f));\n" \
    "}\n") \
    X(F32_TO_I32_RN, "f32_to_i32_rn", "i(f)", \
    "f32_to_i32_rz", \
    "inline int f32_to_i32_rn(float x) { return f32_to_i32_rz(rint(x)); }\n") \
    X(F32_TO_I32_RD, "f32_to_i32_rd", "i(f)", \
    "f32_to_i32_rz", \
    "inline int f32_to_i32_rd(float x) { return f32_to_i32_rz(floor(x)); }\n") \
    X(F32_TO_I32_RU, "f32_to_i32_ru", "i(f)", \
    "f32_to_i32_rz", \
    "inline int f32_to_i32_ru(float x) { return f32_to_i32_rz(ceil(x)); }\n") \
    X(I32_TO_F32_RN, "i32_to_f32_rn", "f(i)", \
    "TO_EVEN i64_to_f32_to", \
    "inline float i32_to_f32_rn(int x) { return i64_to_f32_to(long(x), TO_EVEN); }\n") \
    X(I32_TO_F32_RZ, "i32_to_f32_rz", "f(i)", \
    "TO_EVEN i64_to_f32_to", \
    "inline float i32_to_f32_rz(int x) { return i64_to_f32_to(long(x), TO_ZERO); }\n") \
    X(I32_TO_F32_RD, "i32_to_f32_rd", "f(i)", \
    "TO_EVEN i64_to_f32_to", \
    "inline float i32_to_f32_rd(int x) { return i64_to_f32_to(long(x), TO_DOWN); }\n") \
    X(I32_TO_F32_RU, "i32_to_f32_ru", "f(i)", \
    "TO_EVEN i64_to_f32_to", \
    "inline float i32_to_f32_ru(int x) { return i64_to_f32_to(long(x), TO_UP); }\n") \
    X(F64_TO_U32_RN, "f64_to_u32_rn", "u(d)", \
    "TO_EVEN f64_to_u32_to", \
    "inline uint f64_to_u32_rn(ulong a) { return f64_to_u32_to(a, TO_EVEN); }\n") \
    X(F64_TO_U32_RZ, "f64_to_u32_rz", "u(d)", \
    "TO_EVEN f64_to_u32_to", \
    "inline uint f64_to_u32_rz(ulong a) { return f64_to_u32_to(a, TO_ZERO); }\n") \
    X(F64_TO_U32_RD, "f64_to_u32_rd", "u(d)", \
    "TO_EVEN f64_to_u32_to", \
    "inline uint f64_to_u32_rd(ulong a) { return f64_to_u32_to(a, TO_DOWN); }\n") \
    X(F64_TO_U32_RU, "f64_to_u32_ru", "u(d)", \
    "TO_EVEN f64_to_u32_to", \
    "inline uint f64_to_u32_ru(ulong a) { return f64_to_u32_to(a, TO_UP); }\n") \
    X(F32_TO_U32_RZ, "f32_to_u32_rz", "u(f)", \
    "", \
    "inline uint f32_to_u32_rz(float x) {    // saturates; NaN is 0\n" \
    "    return isnan(x) ? 0u : x >= 4294967296.0f ? 0xffffffffu : uint(max(x, 0.0f));\n" \
    "}\n") \
    X(F32_TO_U32_RN, "f32_to_u32_rn", "u(f)", \
    "f32_to_u32_rz", \
    "inline uint f32_to_u32_rn(float x) { return f32_to_u32_rz(rint(x)); }\n") \
    X(F32_TO_U32_RD, "f32_to_u32_rd", "u(f)", \
    "f32_to_u32_rz", \
    "inline uint f32_to_u32_rd(float x) { return f32_to_u32_rz(floor(x)); }\n") \
    X(F32_TO_U32_RU, "f32_to_u32_ru", "u(f)", \
    "f32_to_u32_rz", \
    "inline uint f32_to_u32_ru(float x) { return f32_to_u32_rz(ceil(x)); }\n") \
    X(U32_TO_F32_RN, "u32_to_f32_rn", "f(u)", \
    "TO_EVEN u64_to_f32_to", \
    "inline float u32_to_f32_rn(uint x) { return u64_to_f32_to(ulong(x), 0ul, TO_EVEN); }\n") \
    X(U32_TO_F32_RZ, "u32_to_f32_rz", "f(u)", \
    "TO_EVEN u64_to_f32_to", \
    "inline float u32_to_f32_rz(uint x) { return u64_to_f32_to(ulong(x), 0ul, TO_ZERO); }\n") \
    X(U32_TO_F32_RD, "u32_to_f32_rd", "f(u)", \
    "TO_EVEN u64_to_f32_to", \
    "inline float u32_to_f32_rd(uint x) { return u64_to_f32_to(ulong(x), 0ul, TO_DOWN); }\n") \
    X(U32_TO_F32_RU, "u32_to_f32_ru", "f(u)", \
    "TO_EVEN u64_to_f32_to", \
    "inline float u32_to_f32_ru(uint x) { return u64_to_f32_to(ulong(x), 0ul, TO_UP); }\n") \
    X(F64_TO_I64_RN, "f64_to_i64_rn", "l(d)", \
    "TO_EVEN f64_to_i64_to", \
    "inline long f64_to_i64_rn(ulong a) { return f64_to_i64_to(a, TO_EVEN); }\n") \
    X(F64_TO_I64_RZ, "f64_to_i64_rz", "l(d)", \
    "TO_EVEN f64_to_i64_to", \
    "inline long f64_to_i64_rz(ulong a) { return f64_to_i64_to(a, TO_ZERO); }\n") \
    X(F64_TO_I64_RD, "f64_to_i64_rd", "l(d)", \
    "TO_EVEN f64_to_i64_to", \
    "inline long f64_to_i64_rd(ulong a) { return f64_to_i64_to(a, TO_DOWN); }\n") \
    X(F64_TO_I64_RU, "f64_to_i64_ru", "l(d)", \
    "TO_EVEN f64_to_i64_to", \
    "inline long f64_to_i64_ru(ulong a) { return f64_to_i64_to(a, TO_UP); }\n") \
    X(F32_TO_I64_RN, "f32_to_i64_rn", "l(f)", \
    "TO_EVEN f32_to_f64 f64_to_i64_to", \
    "inline long f32_to_i64_rn(float x) { return f64_to_i64_to(f32_to_f64(x), TO_EVEN); }\n") \
    X(F32_TO_I64_RZ, "f32_to_i64_rz", "l(f)", \
    "TO_EVEN f32_to_f64 f64_to_i64_to", \
    "inline long f32_to_i64_rz(float x) { return f64_to_i64_to(f32_to_f64(x), TO_ZERO); }\n") \
    X(F32_TO_I64_RD, "f32_to_i64_rd", "l(f)", \
    "TO_EVEN f32_to_f64 f64_to_i64_to", \
    "inline long f32_to_i64_rd(float x) { return f64_to_i64_to(f32_to_f64(x), TO_DOWN); }\n") \
    X(F32_TO_I64_RU, "f32_to_i64_ru", "l(f)", \
    "TO_EVEN f32_to_f64 f64_to_i64_to", \
    "inline long f32_to_i64_ru(float x) { return f64_to_i64_to(f32_to_f64(x), TO_UP); }\n") \
    X(I64_TO_F32_RN, "i64_to_f32_rn", "f(l)", \
    "TO_EVEN i64_to_f32_to", \
    "inline float i64_to_f32_rn(long x) { return i64_to_f32_to(x, TO_EVEN); }\n") \
    X(I64_TO_F32_RZ, "i64_to_f32_rz", "f(l)", \
    "TO_EVEN i64_to_f32_to", \
    "inline float i64_to_f32_rz(long x) { return i64_to_f32_to(x, TO_ZERO); }\n") \
    X(I64_TO_F32_RD, "i64_to_f32_rd", "f(l)", \
    "TO_EVEN i64_to_f32_to", \
    "inline float i64_to_f32_rd(long x) { return i64_to_f32_to(x, TO_DOWN); }\n") \
    X(I64_TO_F32_RU, "i64_to_f32_ru", "f(l)", \
    "TO_EVEN i64_to_f32_to", \
    "inline float i64_to_f32_ru(long x) { return i64_to_f32_to(x, TO_UP); }\n") \
    X(I64_TO_F64, "i64_to_f64", "d(l)", \
    "TO_EVEN i64_to_f64_to", \
    "inline ulong i64_to_f64(long x) { return i64_to_f64_to(x, TO_EVEN); }\n") \
    X(I64_TO_F64_RZ, "i64_to_f64_rz", "d(l)", \
    "TO_EVEN i64_to_f64_to", \
    "inline ulong i64_to_f64_rz(long x) { return i64_to_f64_to(x, TO_ZERO); }\n") \
    X(I64_TO_F64_RD, "i64_to_f64_rd", "d(l)", \
    "TO_EVEN i64_to_f64_to", \
    "inline ulong i64_to_f64_rd(long x) { return i64_to_f64_to(x, TO_DOWN); }\n") \
    X(I64_TO_F64_RU, "i64_to_f64_ru", "d(l)", \
    "TO_EVEN i64_to_f64_to", \
    "inline ulong i64_to_f64_ru(long x) { return i64_to_f64_to(x, TO_UP); }\n") \
    X(F64_TO_U64_RN, "f64_to_u64_rn", "m(d)", \
    "TO_EVEN f64_to_u64_to", \
    "inline ulong f64_to_u64_rn(ulong a) { return f64_to_u64_to(a, TO_EVEN); }\n") \
    X(F64_TO_U64_RZ, "f64_to_u64_rz", "m(d)", \
    "TO_EVEN f64_to_u64_to", \
    "inline ulong f64_to_u64_rz(ulong a) { return f64_to_u64_to(a, TO_ZERO); }\n") \
    X(F64_TO_U64_RD, "f64_to_u64_rd", "m(d)", \
    "TO_EVEN f64_to_u64_to", \
    "inline ulong f64_to_u64_rd(ulong a) { return f64_to_u64_to(a, TO_DOWN); }\n") \
    X(F64_TO_U64_RU, "f64_to_u64_ru", "m(d)", \
    "TO_EVEN f64_to_u64_to", \
    "inline ulong f64_to_u64_ru(ulong a) { return f64_to_u64_to(a, TO_UP); }\n") \
    X(F32_TO_U64_RN, "f32_to_u64_rn", "m(f)", \
    "TO_EVEN f32_to_f64 f64_to_u64_to", \
    "inline ulong f32_to_u64_rn(float x) { return f64_to_u64_to(f32_to_f64(x), TO_EVEN); }\n") \
    X(F32_TO_U64_RZ, "f32_to_u64_rz", "m(f)", \
    "TO_EVEN f32_to_f64 f64_to_u64_to", \
    "inline ulong f32_to_u64_rz(float x) { return f64_to_u64_to(f32_to_f64(x), TO_ZERO); }\n") \
    X(F32_TO_U64_RD, "f32_to_u64_rd", "m(f)", \
    "TO_EVEN f32_to_f64 f64_to_u64_to", \
    "inline ulong f32_to_u64_rd(float x) { return f64_to_u64_to(f32_to_f64(x), TO_DOWN); }\n") \
    X(F32_TO_U64_RU, "f32_to_u64_ru", "m(f)", \
    "TO_EVEN f32_to_f64 f64_to_u64_to", \
    "inline ulong f32_to_u64_ru(float x) { return f64_to_u64_to(f32_to_f64(x), TO_UP); }\n") \
    X(U64_TO_F32_RN, "u64_to_f32_rn", "f(m)", \
    "TO_EVEN u64_to_f32_to", \
    "inline float u64_to_f32_rn(ulong x) { return u64_to_f32_to(x, 0ul, TO_EVEN); }\n") \
    X(U64_TO_F32_RZ, "u64_to_f32_rz", "f(m)", \
    "TO_EVEN u64_to_f32_to", \
    "inline float u64_to_f32_rz(ulong x) { return u64_to_f32_to(x, 0ul, TO_ZERO); }\n") \
    X(U64_TO_F32_RD, "u64_to_f32_rd", "f(m)", \
    "TO_EVEN u64_to_f32_to", \
    "inline float u64_to_f32_rd(ulong x) { return u64_to_f32_to(x, 0ul, TO_DOWN); }\n") \
    X(U64_TO_F32_RU, "u64_to_f32_ru", "f(m)", \
    "TO_EVEN u64_to_f32_to", \
    "inline float u64_to_f32_ru(ulong x) { return u64_to_f32_to(x, 0ul, TO_UP); }\n") \
    X(U64_TO_F64, "u64_to_f64", "d(m)", \
    "TO_EVEN u64_to_f64_to", \
    "inline ulong u64_to_f64(ulong x) { return u64_to_f64_to(x, 0ul, TO_EVEN); }\n") \
    X(U64_TO_F64_RZ, "u64_to_f64_rz", "d(m)", \
    "TO_EVEN u64_to_f64_to", \
    "inline ulong u64_to_f64_rz(ulong x) { return u64_to_f64_to(x, 0ul, TO_ZERO); }\n") \
    X(U64_TO_F64_RD, "u64_to_f64_rd", "d(m)", \
    "TO_EVEN u64_to_f64_to", \
    "inline ulong u64_to_f64_rd(ulong x) { return u64_to_f64_to(x, 0ul, TO_DOWN); }\n") \
    X(U64_TO_F64_RU, "u64_to_f64_ru", "d(m)", \
    "TO_EVEN u64_to_f64_to", \
    "inline ulong u64_to_f64_ru(ulong x) { return u64_to_f64_to(x, 0ul, TO_UP); }\n") \
    X(F64_TO_F32_RZ, "f64_to_f32_rz", "f(d)", \
    "TO_EVEN f64_to_f32_to", \
    "inline float f64_to_f32_rz(ulong a) { return f64_to_f32_to(a, TO_ZERO); }\n") \
    X(F64_TO_F32_RD, "f64_to_f32_rd", "f(d)", \
    "TO_EVEN f64_to_f32_to", \
    "inline float f64_to_f32_rd(ulong a) { return f64_to_f32_to(a, TO_DOWN); }\n") \
    X(F64_TO_F32_RU, "f64_to_f32_ru", "f(d)", \
    "TO_EVEN f64_to_f32_to", \
    "inline float f64_to_f32_ru(ulong a) { return f64_to_f32_to(a, TO_UP); }\n") \
    X(F64_LLROUND, "f64_llround", "l(d)", \
    "TO_EVEN f64_to_i64_to", \
    "inline long f64_llround(ulong a) { return f64_to_i64_to(a, TO_AWAY); }\n") \
    X(LLROUND_F32, "llround_f32", "l(f)", \
    "TO_EVEN f32_to_f64 f64_to_i64_to", \
    "inline long llround_f32(float x) { return f64_to_i64_to(f32_to_f64(x), TO_AWAY); }\n") \
    X(F8E5M2_TO_F16, "f8e5m2_to_f16", "h(c)", \
    "", \
    "inline half f8e5m2_to_f16(uchar x) { return as_type<half>(ushort(uint(x) << 8)); }    // exact\n") \
    X(F8E5M2_TO_F32, "f8e5m2_to_f32", "f(c)", \
    "f8e5m2_to_f16", \
    "inline float f8e5m2_to_f32(uchar x) { return float(f8e5m2_to_f16(x)); }    // exact\n") \
    X(F8_VALUE, "f8_value", "", \
    "", \
    "// The number of 8-bit code x with `mant` bits of fraction and its exponent biased by offset; exact\n" \
    "inline float f8_value(uint x, uint mant, int offset) {\n" \
    "    const uint mag = x & 0x7fu;\n" \
    "    const uint scaled = (mag << (23u - mant)) + (uint(127 - offset) << 23);\n" \
    "    const float tiny = float(mag) * as_type<float>(uint(128 - offset - int(mant)) << 23);\n" \
    "    const float value = mag >> mant != 0u ? as_type<float>(scaled) : tiny;\n" \
    "    return x > 0x7fu ? -value : value;\n" \
    "}\n") \
    X(F8E4M3FN_TO_F32, "f8e4m3fn_to_f32", "f(c)", \
    "f8_value", \
    "inline float f8e4m3fn_to_f32(uchar x) {    // exact; no infinity, NaN is 0x7f and 0xff\n" \
    "    return (x & 0x7f) == 0x7f ? NAN : f8_value(uint(x), 3u, 7);\n" \
    "}\n") \
    X(F8E4M3FN_TO_F16, "f8e4m3fn_to_f16", "h(c)", \
    "f8e4m3fn_to_f32", \
    "inline half f8e4m3fn_to_f16(uchar x) { return half(f8e4m3fn_to_f32(x)); }    // exact\n") \
    X(F8E4M3FNUZ_TO_F32, "f8e4m3fnuz_to_f32", "f(c)", \
    "f8_value", \
    "inline float f8e4m3fnuz_to_f32(uchar x) {    // exact; NaN is 0x80\n" \
    "    return x == 0x80 ? NAN : f8_value(uint(x), 3u, 8);\n" \
    "}\n") \
    X(F8E4M3FNUZ_TO_F16, "f8e4m3fnuz_to_f16", "h(c)", \
    "f8e4m3fnuz_to_f32", \
    "inline half f8e4m3fnuz_to_f16(uchar x) { return half(f8e4m3fnuz_to_f32(x)); }    // exact\n") \
    X(F8E5M2FNUZ_TO_F32, "f8e5m2fnuz_to_f32", "f(c)", \
    "f8_value", \
    "inline float f8e5m2fnuz_to_f32(uchar x) {    // exact; NaN is 0x80\n" \
    "    return x == 0x80 ? NAN : f8_value(uint(x), 2u, 16);\n" \
    "}\n") \
    X(F8E5M2FNUZ_TO_F16, "f8e5m2fnuz_to_f16", "h(c)", \
    "f8e5m2fnuz_to_f32", \
    "inline half f8e5m2fnuz_to_f16(uchar x) { return half(f8e5m2fnuz_to_f32(x)); }    // exact\n") \
    X(F8E4M3B15_TO_F16, "f8e4m3b15_to_f16", "h(c)", \
    "", \
    "// Triton's fp8e4b15, exact: a half with fewer bits; no infinity, no NaN\n" \
    "inline half f8e4m3b15_to_f16(uchar x) {\n" \
    "    return as_type<half>(ushort(((uint(x) & 0x80u) << 8) | ((uint(x) & 0x7fu) << 7)));\n" \
    "}\n") \
    X(F8E4M3B15_TO_F32, "f8e4m3b15_to_f32", "f(c)", \
    "f8e4m3b15_to_f16", \
    "inline float f8e4m3b15_to_f32(uchar x) { return float(f8e4m3b15_to_f16(x)); }    // exact\n") \
    X(F8_NEAREST, "f8_nearest", "", \
    "", \
    "// Code of |x|, to nearest even, at most that of `largest`; see f8_value. Not for NaN.\n" \
    "inline uint f8_nearest(float x, uint mant, int offset, float largest) {\n" \
    "    const uint shift = 23u - mant;\n" \
    "    const uint bits = min(as_type<uint>(x) & 0x7fffffffu, as_type<uint>(largest));\n" \
    "    const uint tiny = uint(rint(as_type<float>(min(bits, 0x3f800000u))\n" \
    "                                * as_type<float>(uint(126 + offset + int(mant)) << 23)));\n" \
    "    if (bits < uint(128 - offset) << 23) return tiny;\n" \
    "    const uint rounded = bits + (1u << (shift - 1u)) - 1u + ((bits >> shift) & 1u);\n" \
    "    return (rounded >> shift) - (uint(127 - offset) << mant);\n" \
    "}\n") \
    X(F32_TO_F8E4M3FN, "f32_to_f8e4m3fn", "c(f)", \
    "f8_nearest", \
    "inline uchar f32_to_f8e4m3fn(float x) {    // to nearest even, saturates at 448\n" \
    "    if (isnan(x)) return 0x7f;\n" \
    "    return uchar(((as_type<uint>(x) >> 24) & 0x80u) | f8_nearest(x, 3u, 7, 448.0f));\n" \
    "}\n") \
    X(F32_TO_F8E5M2, "f32_to_f8e5m2", "c(f)", \
    "f8_nearest", \
    "inline uchar f32_to_f8e5m2(float x) {    // to nearest even, saturates at 57344\n" \
    "    if (isnan(x)) return 0x7f;\n" \
    "    return uchar(((as_type<uint>(x) >> 24) & 0x80u) | f8_nearest(x, 2u, 15, 57344.0f));\n" \
    "}\n") \
    X(F32_TO_F8E4M3FNUZ, "f32_to_f8e4m3fnuz", "c(f)", \
    "f8_nearest", \
    "inline uchar f32_to_f8e4m3fnuz(float x) {    // to nearest even, saturates at 240; no -0\n" \
    "    if (isnan(x)) return 0x80;\n" \
    "    const uint code = f8_nearest(x, 3u, 8, 240.0f);\n" \
    "    return uchar(code == 0u ? 0u : ((as_type<uint>(x) >> 24) & 0x80u) | code);\n" \
    "}\n") \
    X(F32_TO_F8E5M2FNUZ, "f32_to_f8e5m2fnuz", "c(f)", \
    "f8_nearest", \
    "inline uchar f32_to_f8e5m2fnuz(float x) {    // to nearest even, saturates at 57344; no -0\n" \
    "    if (isnan(x)) return 0x80;\n" \
    "    const uint code = f8_nearest(x, 2u, 16, 57344.0f);\n" \
    "    return uchar(code == 0u ? 0u : ((as_type<uint>(x) >> 24) & 0x80u) | code);\n" \
    "}\n") \
    X(F32_TO_F8E5M2_RZ, "f32_to_f8e5m2_rz", "c(f)", \
    "", \
    "// Toward zero, by way of a half as Triton does it: infinity stays, finite numbers saturate\n" \
    "inline uchar f32_to_f8e5m2_rz(float x) {\n" \
    "    const uint bits = as_type<uint>(x) & 0x7fffffffu, sign = (as_type<uint>(x) >> 24) & 0x80u;\n" \
    "    if (bits >= 0x7f800000u) return uchar(bits > 0x7f800000u ? 0x7fu : sign | 0x7cu);\n" \
    "    if (bits < 0x38800000u) return uchar(sign | uint(as_type<float>(bits) * 0x1p16f));\n" \
    "    return uchar(sign | ((min(bits, 0x47600000u) >> 21) - (112u << 2)));\n" \
    "}\n") \
    X(F16_TO_F8E4M3B15, "f16_to_f8e4m3b15", "c(h)", \
    "", \
    "// As Triton does it: to nearest, halfway cases away from zero; saturates at 1.75, so does NaN\n" \
    "inline uchar f16_to_f8e4m3b15(half x) {\n" \
    "    const uint bits = uint(as_type<ushort>(x)), mag = min(bits & 0x7fffu, 0x3f00u);\n" \
    "    return uchar(((bits >> 8) & 0x80u) | ((mag + 0x40u) >> 7));\n" \
    "}\n") \
    X(F32_TO_F8E4M3B15, "f32_to_f8e4m3b15", "c(f)", \
    "f16_to_f8e4m3b15", \
    "inline uchar f32_to_f8e4m3b15(float x) { return f16_to_f8e4m3b15(half(x)); }    // by way of a half\n") \
    X(F4E2M1_TO_F32, "f4e2m1_to_f32", "f(c)", \
    "", \
    "inline float f4e2m1_to_f32(uchar x) {    // the low 4 bits: 0 0.5 1 1.5 2 3 4 6, and negative\n" \
    "    const uint mag = uint(x) & 7u;\n" \
    "    const float value = mag < 2u ? float(mag) * 0.5f : as_type<float>((mag << 22) + (126u << 23));\n" \
    "    return (x & 8) != 0 ? -value : value;\n" \
    "}\n") \
    X(F4E2M1_TO_F16, "f4e2m1_to_f16", "h(c)", \
    "f4e2m1_to_f32", \
    "inline half f4e2m1_to_f16(uchar x) { return half(f4e2m1_to_f32(x)); }    // exact\n") \
    X(F8E8M0_TO_F32, "f8e8m0_to_f32", "f(c)", \
    "", \
    "inline float f8e8m0_to_f32(uchar x) {    // a scale, 2^(x - 127); 0xff is NaN, 0 a denormal\n" \
    "    return as_type<float>(x == 0xff ? 0x7fc00000u : x == 0 ? 0x00400000u : uint(x) << 23);\n" \
    "}\n") \
    X(ABS_I32, "abs_i32", "i(i)", \
    "", \
    "inline int abs_i32(int x) { return int(x < 0 ? 0u - uint(x) : uint(x)); }    // of INT_MIN itself\n") \
    X(ABS_I64, "abs_i64", "l(l)", \
    "", \
    "inline long abs_i64(long x) { return long(x < 0l ? 0ul - ulong(x) : ulong(x)); }\n") \
    X(COUNT_ONES, "count_ones", "i(m)", \
    "", \
    "inline int count_ones(ulong x) { return int(popcount(uint(x)) + popcount(uint(x >> 32))); }\n") \
    X(REVERSE_BITS64, "reverse_bits64", "m(m)", \
    "", \
    "inline ulong reverse_bits64(ulong x) {\n" \
    "    return (ulong(reverse_bits(uint(x))) << 32) | ulong(reverse_bits(uint(x >> 32)));\n" \
    "}\n") \
    X(FIND_FIRST_ONE, "find_first_one", "i(u)", \
    "", \
    "inline int find_first_one(uint x) { return x == 0u ? 0 : int(ctz(x)) + 1; }    // lowest bit is 1\n") \
    X(FIND_FIRST_ONE64, "find_first_one64", "i(m)", \
    "", \
    "inline int find_first_one64(ulong x) {    // the lowest bit is 1; 0 when there is none\n" \
    "    const uint lo = uint(x);\n" \
    "    return lo != 0u ? int(ctz(lo)) + 1 : x == 0ul ? 0 : int(ctz(uint(x >> 32))) + 33;\n" \
    "}\n") \
    X(MUL24_I32, "mul24_i32", "i(ii)", \
    "", \
    "inline int mul24_i32(int x, int y) {    // low 24 bits with their sign; the product wraps\n" \
    "    return int(uint(int(uint(x) << 8) >> 8) * uint(int(uint(y) << 8) >> 8));\n" \
    "}\n") \
    X(MUL24_U32, "mul24_u32", "u(uu)", \
    "", \
    "inline uint mul24_u32(uint x, uint y) { return (x & 0xffffffu) * (y & 0xffffffu); }\n") \
    X(SAD_I32, "sad_i32", "u(iiu)", \
    "", \
    "inline uint sad_i32(int x, int y, uint z) {    // |x - y| + z\n" \
    "    return (x > y ? uint(x) - uint(y) : uint(y) - uint(x)) + z;\n" \
    "}\n") \
    X(SAD_U32, "sad_u32", "u(uuu)", \
    "", \
    "inline uint sad_u32(uint x, uint y, uint z) { return (x > y ? x - y : y - x) + z; }\n") \
    X(BYTE_PERM, "byte_perm", "u(uuu)", \
    "", \
    "// Four bytes of y:x, each picked by three bits of s\n" \
    "inline uint byte_perm(uint x, uint y, uint s) {\n" \
    "    const ulong both = (ulong(y) << 32) | ulong(x);\n" \
    "    uint r = 0u;\n" \
    "    for (uint i = 0u; i < 4u; i++)\n" \
    "        r |= (uint(both >> (8u * ((s >> (4u * i)) & 7u))) & 0xffu) << (8u * i);\n" \
    "    return r;\n" \
    "}\n") \
    X(TEST_ISNAN_F32, "test_isnan_f32", "i(f)", \
    "", \
    "inline int test_isnan_f32(float x) {    // on the bits, so in every math mode\n" \
    "    return (as_type<uint>(x) & 0x7fffffffu) > 0x7f800000u ? 1 : 0;\n" \
    "}\n") \
    X(TEST_ISINF_F32, "test_isinf_f32", "i(f)", \
    "", \
    "inline int test_isinf_f32(float x) {    // on the bits, so in every math mode\n" \
    "    return (as_type<uint>(x) & 0x7fffffffu) == 0x7f800000u ? 1 : 0;\n" \
    "}\n") \
    X(TEST_ISFINITE_F32, "test_isfinite_f32", "i(f)", \
    "", \
    "inline int test_isfinite_f32(float x) {    // on the bits, so in every math mode\n" \
    "    return (as_type<uint>(x) & 0x7fffffffu) < 0x7f800000u ? 1 : 0;\n" \
    "}\n") \
    X(TEST_SIGNBIT_F32, "test_signbit_f32", "i(f)", \
    "", \
    "inline int test_signbit_f32(float x) { return int(as_type<uint>(x) >> 31); }\n") \
    X(TEST_ISNAN_F16, "test_isnan_f16", "i(h)", \
    "test_isnan_f32", \
    "inline int test_isnan_f16(half x) { return test_isnan_f32(float(x)); }\n") \
    X(TEST_ISINF_F16, "test_isinf_f16", "i(h)", \
    "test_isinf_f32", \
    "inline int test_isinf_f16(half x) { return test_isinf_f32(float(x)); }\n") \
    X(TEST_ISFINITE_F16, "test_isfinite_f16", "i(h)", \
    "test_isfinite_f32", \
    "inline int test_isfinite_f16(half x) { return test_isfinite_f32(float(x)); }\n") \
    X(TEST_SIGNBIT_F16, "test_signbit_f16", "i(h)", \
    "", \
    "inline int test_signbit_f16(half x) { return int(as_type<ushort>(x) >> 15); }\n") \
    X(TEST_ISNAN_F64, "test_isnan_f64", "i(d)", \
    "f64_isnan", \
    "inline int test_isnan_f64(ulong x) { return f64_isnan(x) ? 1 : 0; }\n") \
    X(TEST_ISINF_F64, "test_isinf_f64", "i(d)", \
    "F64_INF", \
    "inline int test_isinf_f64(ulong x) { return (x & F64_MAGNITUDE) == F64_INF ? 1 : 0; }\n") \
    X(TEST_ISFINITE_F64, "test_isfinite_f64", "i(d)", \
    "F64_INF", \
    "inline int test_isfinite_f64(ulong x) { return (x & F64_MAGNITUDE) < F64_INF ? 1 : 0; }\n") \
    X(TEST_SIGNBIT_F64, "test_signbit_f64", "i(d)", \
    "", \
    "inline int test_signbit_f64(ulong x) { return int(x >> 63); }\n") \
    X(F64_FROM_HALVES, "f64_from_halves", "d(ii)", \
    "", \
    "inline ulong f64_from_halves(int hi, int lo) { return (ulong(uint(hi)) << 32) | ulong(uint(lo)); }\n") \
    X(F64_LOW_HALF, "f64_low_half", "i(d)", \
    "", \
    "inline int f64_low_half(ulong a) { return int(uint(a)); }\n") \
    X(F64_HIGH_HALF, "f64_high_half", "i(d)", \
    "", \
    "inline int f64_high_half(ulong a) { return int(uint(a >> 32)); }\n") \
    X(F64_RCP64H, "f64_rcp64h", "d(d)", \
    "F64_INF f64_div", \
    "// The high word of 1 / a; CUDA's may be off by a few units of that word\n" \
    "inline ulong f64_rcp64h(ulong a) {\n" \
    "    return f64_div(F64_ONE, a) & 0xffffffff00000000ul;\n" \
    "}\n") \
    X(HALF_BITS_TO_F32, "half_bits_to_f32", "f(s)", \
    "", \
    "inline float half_bits_to_f32(short x) { return float(as_type<half>(x)); }\n") \
    X(F32_TO_HALF_BITS, "f32_to_half_bits", "s(f)", \
    "", \
    "inline short f32_to_half_bits(float x) { return as_type<short>(half(x)); }\n") \
    X(SATURATE_F32, "saturate_f32", "f(f)", \
    "", \
    "inline float saturate_f32(float x) { return fmin(fmax(x, 0.0f), 1.0f); }    // NaN is 0\n") \
    X(ILOGB_F32, "ilogb_f32", "i(f)", \
    "", \
    "inline int ilogb_f32(float x) {    // exponent; of 0 and NaN INT_MIN, of infinity INT_MAX\n" \
    "    const uint mag = as_type<uint>(x) & 0x7fffffffu;\n" \
    "    if (mag == 0u || mag > 0x7f800000u) return -2147483647 - 1;\n" \
    "    if (mag == 0x7f800000u) return 2147483647;\n" \
    "    return mag < 0x00800000u ? -118 - int(clz(mag)) : int(mag >> 23) - 127;\n" \
    "}\n") \
    X(ILOGB_F16, "ilogb_f16", "i(h)", \
    "ilogb_f32", \
    "inline int ilogb_f16(half x) { return ilogb_f32(float(x)); }\n") \
    X(LOGB_F32, "logb_f32", "f(f)", \
    "ilogb_f32", \
    "inline float logb_f32(float x) {    // exponent; of 0 minus infinity\n" \
    "    const uint mag = as_type<uint>(x) & 0x7fffffffu;\n" \
    "    if (mag == 0u) return -INFINITY;\n" \
    "    return mag >= 0x7f800000u ? as_type<float>(mag) : float(ilogb_f32(x));\n" \
    "}\n") \
    X(LOGB_F16, "logb_f16", "h(h)", \
    "logb_f32", \
    "inline half logb_f16(half x) { return half(logb_f32(float(x))); }\n") \
    X(NEXTAFTER_F32, "nextafter_f32", "f(ff)", \
    "", \
    "inline float nextafter_f32(float x, float y) {    // the next number from x toward y, on the bits\n" \
    "    const uint bx = as_type<uint>(x), by = as_type<uint>(y);\n" \
    "    const uint mx = bx & 0x7fffffffu, my = by & 0x7fffffffu;\n" \
    "    if (mx > 0x7f800000u || my > 0x7f800000u) return NAN;\n" \
    "    const int kx = bx > mx ? -int(mx) : int(mx), ky = by > my ? -int(my) : int(my);\n" \
    "    if (kx == ky) return y;\n" \
    "    if (mx == 0u) return as_type<float>((by & 0x80000000u) | 1u);\n" \
    "    return as_type<float>((kx < ky) == (kx > 0) ? bx + 1u : bx - 1u);\n" \
    "}\n") \
    X(NEXTAFTER_F16, "nextafter_f16", "h(hh)", \
    "", \
    "inline half nextafter_f16(half x, half y) {    // the next number from x toward y\n" \
    "    const ushort bits = as_type<ushort>(x);\n" \
    "    if (isnan(x) || isnan(y)) return half(NAN);\n" \
    "    if (x == y) return y;\n" \
    "    if ((bits & 0x7fff) == 0) return as_type<half>(ushort(y > x ? 1 : 0x8001));\n" \
    "    return as_type<half>(ushort((x < y) == (bits < 0x8000) ? bits + 1 : bits - 1));\n" \
    "}\n") \
    X(REMAINDER_F32, "remainder_f32", "f(ff)", \
    "f64_remainder f64_to_f32 f32_to_f64", \
    "inline float remainder_f32(float x, float y) {    // exact\n" \
    "    return f64_to_f32(f64_remainder(f32_to_f64(x), f32_to_f64(y)));\n" \
    "}\n") \
    X(REMAINDER_F16, "remainder_f16", "h(hh)", \
    "remainder_f32", \
    "inline half remainder_f16(half x, half y) { return half(remainder_f32(float(x), float(y))); }\n") \
    X(LDEXP_F32, "ldexp_f32", "f(fi)", \
    "", \
    "// x 2^n, rounded once, on the bits: a denormal result is kept\n" \
    "inline float ldexp_f32(float x, int n) {\n" \
    "    const uint sign = as_type<uint>(x) & 0x80000000u, mag = as_type<uint>(x) & 0x7fffffffu;\n" \
    "    if (mag == 0u || mag >= 0x7f800000u) return x;\n" \
    "    const uint up = uint(clz(mag)) - 8u;    // of a denormal\n" \
    "    int exp = mag < 0x00800000u ? 1 - int(up) : int(mag >> 23);\n" \
    "    const uint frac = ((mag < 0x00800000u ? mag << up : mag) & 0x007fffffu) | 0x00800000u;\n" \
    "    exp += clamp(n, -1000, 1000);\n" \
    "    if (exp > 254) return as_type<float>(sign | 0x7f800000u);\n" \
    "    if (exp > 0) return as_type<float>(sign | ((uint(exp) << 23) + frac - 0x00800000u));\n" \
    "    const uint down = uint(min(1 - exp, 26)), half_unit = (1u << (down - 1u)) - 1u;\n" \
    "    return as_type<float>(sign | ((frac + half_unit + ((frac >> down) & 1u)) >> down));\n" \
    "}\n") \
    X(LDEXP_F16, "ldexp_f16", "h(hi)", \
    "ldexp_f32", \
    "inline half ldexp_f16(half x, int n) { return half(ldexp_f32(float(x), n)); }\n") \
    X(POWI_F32, "powi_f32", "f(fi)", \
    "", \
    "// x^n by squaring, with a second word: 1 ulp for |n| below 2^18, from there on |n| / 2^18\n" \
    "inline float powi_f32(float x, int n) {\n" \
    "    #pragma METAL fp contract(off)\n" \
    "    float base = x, base_lo = 0.0f, r = 1.0f, r_lo = 0.0f;\n" \
    "    if (n < 0) {\n" \
    "        base = 1.0f / x;\n" \
    "        base_lo = isfinite(base) ? fma(-x, base, 1.0f) * base : 0.0f;\n" \
    "    }\n" \
    "    for (uint k = n < 0 ? 0u - uint(n) : uint(n); k != 0u; k >>= 1) {\n" \
    "        if ((k & 1u) != 0u) {\n" \
    "            const float p = r * base;\n" \
    "            const float rest = fma(r, base, -p) + fma(r, base_lo, r_lo * base);\n" \
    "            r = isfinite(p + rest) ? p + rest : p;\n" \
    "            r_lo = isfinite(p + rest) ? rest - (r - p) : 0.0f;\n" \
    "        }\n" \
    "        const float p = base * base;\n" \
    "        const float rest = fma(base, base, -p) + 2.0f * base * base_lo;\n" \
    "        base = isfinite(p + rest) ? p + rest : p;\n" \
    "        base_lo = isfinite(p + rest) ? rest - (base - p) : 0.0f;\n" \
    "    }\n" \
    "    return r;\n" \
    "}\n") \
    X(POWI_F16, "powi_f16", "h(hi)", \
    "powi_f32", \
    "inline half powi_f16(half x, int n) { return half(powi_f32(float(x), n)); }\n")

#define TMI_EXTERNS(X) \
    X("__nv_acosf", "f(f)", "precise::acos") \
    X("__ocml_acos_f32", "f(f)", "precise::acos") \
    X("__ocml_acos_f16", "h(h)", "acos") \
    X("__nv_acoshf", "f(f)", "precise::acosh") \
    X("__ocml_acosh_f32", "f(f)", "precise::acosh") \
    X("__ocml_acosh_f16", "h(h)", "acosh") \
    X("__nv_asinf", "f(f)", "precise::asin") \
    X("__ocml_asin_f32", "f(f)", "precise::asin") \
    X("__ocml_asin_f16", "h(h)", "asin") \
    X("__nv_asinhf", "f(f)", "precise::asinh") \
    X("__ocml_asinh_f32", "f(f)", "precise::asinh") \
    X("__ocml_asinh_f16", "h(h)", "asinh") \
    X("__nv_atanf", "f(f)", "precise::atan") \
    X("__ocml_atan_f32", "f(f)", "precise::atan") \
    X("__ocml_atan_f16", "h(h)", "atan") \
    X("__nv_atanhf", "f(f)", "precise::atanh") \
    X("__ocml_atanh_f32", "f(f)", "precise::atanh") \
    X("__ocml_atanh_f16", "h(h)", "atanh") \
    X("__nv_ceilf", "f(f)", "ceil") \
    X("__nv_ceil", "d(d)", "f64_ceil") \
    X("__ocml_ceil_f32", "f(f)", "ceil") \
    X("__ocml_ceil_f64", "d(d)", "f64_ceil") \
    X("__ocml_ceil_f16", "h(h)", "ceil") \
    X("__nv_cosf", "f(f)", "precise::cos") \
    X("__ocml_cos_f32", "f(f)", "precise::cos") \
    X("__ocml_cos_f16", "h(h)", "cos") \
    X("__nv_coshf", "f(f)", "precise::cosh") \
    X("__ocml_cosh_f32", "f(f)", "precise::cosh") \
    X("__ocml_cosh_f16", "h(h)", "cosh") \
    X("__nv_cospif", "f(f)", "precise::cospi") \
    X("__ocml_cospi_f32", "f(f)", "precise::cospi") \
    X("__ocml_cospi_f16", "h(h)", "cospi") \
    X("__nv_expf", "f(f)", "precise::exp") \
    X("__ocml_exp_f32", "f(f)", "precise::exp") \
    X("__ocml_exp_f16", "h(h)", "exp") \
    X("__nv_exp10f", "f(f)", "precise::exp10") \
    X("__ocml_exp10_f32", "f(f)", "precise::exp10") \
    X("__ocml_exp10_f16", "h(h)", "exp10") \
    X("__nv_exp2f", "f(f)", "precise::exp2") \
    X("__ocml_exp2_f32", "f(f)", "precise::exp2") \
    X("__ocml_exp2_f16", "h(h)", "exp2") \
    X("__nv_fabsf", "f(f)", "fabs") \
    X("__nv_fabs", "d(d)", "f64_abs") \
    X("__ocml_fabs_f32", "f(f)", "fabs") \
    X("__ocml_fabs_f64", "d(d)", "f64_abs") \
    X("__ocml_fabs_f16", "h(h)", "fabs") \
    X("__nv_floorf", "f(f)", "floor") \
    X("__nv_floor", "d(d)", "f64_floor") \
    X("__ocml_floor_f32", "f(f)", "floor") \
    X("__ocml_floor_f64", "d(d)", "f64_floor") \
    X("__ocml_floor_f16", "h(h)", "floor") \
    X("__nv_logf", "f(f)", "precise::log") \
    X("__ocml_log_f32", "f(f)", "precise::log") \
    X("__ocml_log_f16", "h(h)", "log") \
    X("__nv_log10f", "f(f)", "precise::log10") \
    X("__ocml_log10_f32", "f(f)", "precise::log10") \
    X("__ocml_log10_f16", "h(h)", "log10") \
    X("__nv_log2f", "f(f)", "precise::log2") \
    X("__ocml_log2_f32", "f(f)", "precise::log2") \
    X("__ocml_log2_f16", "h(h)", "log2") \
    X("__nv_logbf", "f(f)", "logb_f32") \
    X("__nv_logb", "d(d)", "f64_logb") \
    X("__ocml_logb_f32", "f(f)", "logb_f32") \
    X("__ocml_logb_f64", "d(d)", "f64_logb") \
    X("__ocml_logb_f16", "h(h)", "logb_f16") \
    X("__nv_nearbyintf", "f(f)", "rint") \
    X("__nv_nearbyint", "d(d)", "f64_rint") \
    X("__ocml_nearbyint_f32", "f(f)", "rint") \
    X("__ocml_nearbyint_f64", "d(d)", "f64_rint") \
    X("__ocml_nearbyint_f16", "h(h)", "rint") \
    X("__nv_rintf", "f(f)", "rint") \
    X("__nv_rint", "d(d)", "f64_rint") \
    X("__ocml_rint_f32", "f(f)", "rint") \
    X("__ocml_rint_f64", "d(d)", "f64_rint") \
    X("__ocml_rint_f16", "h(h)", "rint") \
    X("__nv_roundf", "f(f)", "round") \
    X("__nv_round", "d(d)", "f64_round") \
    X("__ocml_round_f32", "f(f)", "round") \
    X("__ocml_round_f64", "d(d)", "f64_round") \
    X("__ocml_round_f16", "h(h)", "round") \
    X("__nv_rsqrtf", "f(f)", "precise::rsqrt") \
    X("__ocml_rsqrt_f32", "f(f)", "precise::rsqrt") \
    X("__ocml_rsqrt_f16", "h(h)", "rsqrt") \
    X("__nv_sinf", "f(f)", "precise::sin") \
    X("__ocml_sin_f32", "f(f)", "precise::sin") \
    X("__ocml_sin_f16", "h(h)", "sin") \
    X("__nv_sinhf", "f(f)", "precise::sinh") \
    X("__ocml_sinh_f32", "f(f)", "precise::sinh") \
    X("__ocml_sinh_f16", "h(h)", "sinh") \
    X("__nv_sinpif", "f(f)", "precise::sinpi") \
    X("__ocml_sinpi_f32", "f(f)", "precise::sinpi") \
    X("__ocml_sinpi_f16", "h(h)", "sinpi") \
    X("__nv_sqrtf", "f(f)", "precise::sqrt") \
    X("__nv_sqrt", "d(d)", "f64_sqrt") \
    X("__ocml_sqrt_f32", "f(f)", "precise::sqrt") \
    X("__ocml_sqrt_f64", "d(d)", "f64_sqrt") \
    X("__ocml_sqrt_f16", "h(h)", "sqrt") \
    X("__nv_tanf", "f(f)", "precise::tan") \
    X("__ocml_tan_f32", "f(f)", "precise::tan") \
    X("__ocml_tan_f16", "h(h)", "tan") \
    X("__nv_tanhf", "f(f)", "precise::tanh") \
    X("__ocml_tanh_f32", "f(f)", "precise::tanh") \
    X("__ocml_tanh_f16", "h(h)", "tanh") \
    X("__nv_truncf", "f(f)", "trunc") \
    X("__nv_trunc", "d(d)", "f64_trunc") \
    X("__ocml_trunc_f32", "f(f)", "trunc") \
    X("__ocml_trunc_f64", "d(d)", "f64_trunc") \
    X("__ocml_trunc_f16", "h(h)", "trunc") \
    X("__nv_atan2f", "f(ff)", "precise::atan2") \
    X("__ocml_atan2_f32", "f(ff)", "precise::atan2") \
    X("__ocml_atan2_f16", "h(hh)", "atan2") \
    X("__nv_copysignf", "f(ff)", "copysign") \
    X("__nv_copysign", "d(dd)", "f64_copysign") \
    X("__ocml_copysign_f32", "f(ff)", "copysign") \
    X("__ocml_copysign_f64", "d(dd)", "f64_copysign") \
    X("__ocml_copysign_f16", "h(hh)", "copysign") \
    X("__nv_fdimf", "f(ff)", "fdim") \
    X("__nv_fdim", "d(dd)", "f64_fdim") \
    X("__ocml_fdim_f32", "f(ff)", "fdim") \
    X("__ocml_fdim_f64", "d(dd)", "f64_fdim") \
    X("__ocml_fdim_f16", "h(hh)", "fdim") \
    X("__nv_fmodf", "f(ff)", "precise::fmod") \
    X("__nv_fmod", "d(dd)", "f64_fmod") \
    X("__ocml_fmod_f32", "f(ff)", "precise::fmod") \
    X("__ocml_fmod_f64", "d(dd)", "f64_fmod") \
    X("__ocml_fmod_f16", "h(hh)", "fmod") \
    X("__nv_nextafterf", "f(ff)", "nextafter_f32") \
    X("__nv_nextafter", "d(dd)", "f64_nextafter") \
    X("__ocml_nextafter_f32", "f(ff)", "nextafter_f32") \
    X("__ocml_nextafter_f64", "d(dd)", "f64_nextafter") \
    X("__ocml_nextafter_f16", "h(hh)", "nextafter_f16") \
    X("__nv_powf", "f(ff)", "precise::pow") \
    X("__ocml_pow_f32", "f(ff)", "precise::pow") \
    X("__ocml_pow_f16", "h(hh)", "pow") \
    X("__nv_remainderf", "f(ff)", "remainder_f32") \
    X("__nv_remainder", "d(dd)", "f64_remainder") \
    X("__ocml_remainder_f32", "f(ff)", "remainder_f32") \
    X("__ocml_remainder_f64", "d(dd)", "f64_remainder") \
    X("__ocml_remainder_f16", "h(hh)", "remainder_f16") \
    X("__nv_fmaf", "f(fff)", "fma") \
    X("__nv_fma", "d(ddd)", "f64_fma") \
    X("__ocml_fma_f32", "f(fff)", "fma") \
    X("__ocml_fma_f64", "d(ddd)", "f64_fma") \
    X("__ocml_fma_f16", "h(hhh)", "fma") \
    X("__nv_fmaxf", "f(ff)", "fmax") \
    X("__nv_fminf", "f(ff)", "fmin") \
    X("__nv_fmax", "d(dd)", "f64_maxnum") \
    X("__nv_fmin", "d(dd)", "f64_minnum") \
    X("__ocml_fmax_f32", "f(ff)", "fmax") \
    X("__ocml_fmin_f32", "f(ff)", "fmin") \
    X("__ocml_fmax_f64", "d(dd)", "f64_maxnum") \
    X("__ocml_fmin_f64", "d(dd)", "f64_minnum") \
    X("__ocml_fmax_f16", "h(hh)", "fmax") \
    X("__ocml_fmin_f16", "h(hh)", "fmin") \
    X("__nv_ldexpf", "f(fi)", "ldexp_f32") \
    X("__nv_ldexp", "d(di)", "f64_ldexp") \
    X("__ocml_ldexp_f32", "f(fi)", "ldexp_f32") \
    X("__ocml_ldexp_f64", "d(di)", "f64_ldexp") \
    X("__ocml_ldexp_f16", "h(hi)", "ldexp_f16") \
    X("__nv_scalbnf", "f(fi)", "ldexp_f32") \
    X("__nv_scalbn", "d(di)", "f64_ldexp") \
    X("__ocml_scalbn_f32", "f(fi)", "ldexp_f32") \
    X("__ocml_scalbn_f64", "d(di)", "f64_ldexp") \
    X("__ocml_scalbn_f16", "h(hi)", "ldexp_f16") \
    X("__nv_powif", "f(fi)", "powi_f32") \
    X("__ocml_pown_f32", "f(fi)", "powi_f32") \
    X("__ocml_pown_f16", "h(hi)", "powi_f16") \
    X("__nv_ilogbf", "i(f)", "ilogb_f32") \
    X("__nv_ilogb", "i(d)", "f64_ilogb") \
    X("__ocml_ilogb_f32", "i(f)", "ilogb_f32") \
    X("__ocml_ilogb_f64", "i(d)", "f64_ilogb") \
    X("__ocml_ilogb_f16", "i(h)", "ilogb_f16") \
    X("__nv_llrintf", "l(f)", "f32_to_i64_rn") \
    X("__nv_llrint", "l(d)", "f64_to_i64_rn") \
    X("__nv_llroundf", "l(f)", "llround_f32") \
    X("__nv_llround", "l(d)", "f64_llround") \
    X("__nv_isnanf", "i(f)", "test_isnan_f32") \
    X("__nv_isnand", "i(d)", "test_isnan_f64") \
    X("__ocml_isnan_f32", "i(f)", "test_isnan_f32") \
    X("__ocml_isnan_f64", "i(d)", "test_isnan_f64") \
    X("__ocml_isnan_f16", "i(h)", "test_isnan_f16") \
    X("__nv_isinff", "i(f)", "test_isinf_f32") \
    X("__nv_isinfd", "i(d)", "test_isinf_f64") \
    X("__ocml_isinf_f32", "i(f)", "test_isinf_f32") \
    X("__ocml_isinf_f64", "i(d)", "test_isinf_f64") \
    X("__ocml_isinf_f16", "i(h)", "test_isinf_f16") \
    X("__nv_finitef", "i(f)", "test_isfinite_f32") \
    X("__nv_isfinited", "i(d)", "test_isfinite_f64") \
    X("__ocml_isfinite_f32", "i(f)", "test_isfinite_f32") \
    X("__ocml_isfinite_f64", "i(d)", "test_isfinite_f64") \
    X("__ocml_isfinite_f16", "i(h)", "test_isfinite_f16") \
    X("__nv_signbitf", "i(f)", "test_signbit_f32") \
    X("__nv_signbitd", "i(d)", "test_signbit_f64") \
    X("__ocml_signbit_f32", "i(f)", "test_signbit_f32") \
    X("__ocml_signbit_f64", "i(d)", "test_signbit_f64") \
    X("__ocml_signbit_f16", "i(h)", "test_signbit_f16") \
    X("__nv_fast_sinf", "f(f)", "fast::sin") \
    X("__nv_fast_cosf", "f(f)", "fast::cos") \
    X("__nv_fast_tanf", "f(f)", "fast::tan") \
    X("__nv_fast_expf", "f(f)", "fast::exp") \
    X("__nv_fast_exp10f", "f(f)", "fast::exp10") \
    X("__nv_fast_logf", "f(f)", "fast::log") \
    X("__nv_fast_log2f", "f(f)", "fast::log2") \
    X("__nv_fast_log10f", "f(f)", "fast::log10") \
    X("__nv_fast_powf", "f(ff)", "fast::pow") \
    X("__nv_fast_fdividef", "f(ff)", "fast::divide") \
    X("__nv_saturatef", "f(f)", "saturate_f32") \
    X("__triton_hip_fast_expf", "f(f)", "fast::exp") \
    X("__triton_hip_fast_fdividef", "f(ff)", "fast::divide") \
    X("__triton_hip_fast_tanhf", "f(f)", "precise::tanh") \
    X("__nv_abs", "i(i)", "abs_i32") \
    X("__nv_llabs", "l(l)", "abs_i64") \
    X("__nv_brev", "u(u)", "reverse_bits") \
    X("__nv_brevll", "m(m)", "reverse_bits64") \
    X("__nv_clz", "u(u)", "clz") \
    X("__nv_clzll", "i(m)", "leading_zeros") \
    X("__nv_popc", "u(u)", "popcount") \
    X("__nv_popcll", "i(m)", "count_ones") \
    X("__nv_ffs", "i(u)", "find_first_one") \
    X("__nv_ffsll", "i(m)", "find_first_one64") \
    X("__nv_mulhi", "i(ii)", "mulhi") \
    X("__nv_umulhi", "u(uu)", "mulhi") \
    X("__nv_mul64hi", "l(ll)", "mulhi") \
    X("__nv_umul64hi", "m(mm)", "mulhi") \
    X("__nv_mul24", "i(ii)", "mul24_i32") \
    X("__nv_umul24", "u(uu)", "mul24_u32") \
    X("__nv_sad", "u(iiu)", "sad_i32") \
    X("__nv_usad", "u(uuu)", "sad_u32") \
    X("__nv_hadd", "i(ii)", "hadd") \
    X("__nv_rhadd", "i(ii)", "rhadd") \
    X("__nv_uhadd", "u(uu)", "hadd") \
    X("__nv_urhadd", "u(uu)", "rhadd") \
    X("__nv_byte_perm", "u(uuu)", "byte_perm") \
    X("__nv_min", "i(ii)", "min") \
    X("__nv_max", "i(ii)", "max") \
    X("__nv_umin", "u(uu)", "min") \
    X("__nv_umax", "u(uu)", "max") \
    X("__nv_llmin", "l(ll)", "min") \
    X("__nv_llmax", "l(ll)", "max") \
    X("__nv_ullmin", "m(mm)", "min") \
    X("__nv_ullmax", "m(mm)", "max") \
    X("__nv_float_as_int", "i(f)", "as_type<int>") \
    X("__nv_int_as_float", "f(i)", "as_type<float>") \
    X("__nv_float_as_uint", "u(f)", "as_type<uint>") \
    X("__nv_uint_as_float", "f(u)", "as_type<float>") \
    X("__nv_double_as_longlong", "l(d)", "long") \
    X("__nv_longlong_as_double", "d(l)", "ulong") \
    X("__nv_hiloint2double", "d(ii)", "f64_from_halves") \
    X("__nv_double2loint", "i(d)", "f64_low_half") \
    X("__nv_double2hiint", "i(d)", "f64_high_half") \
    X("__nv_fadd_rn", "f(ff)", "f32_add_rn") \
    X("__nv_dadd_rn", "d(dd)", "f64_add") \
    X("__nv_fsub_rn", "f(ff)", "f32_sub_rn") \
    X("__nv_dsub_rn", "d(dd)", "f64_sub") \
    X("__nv_fmul_rn", "f(ff)", "f32_mul_rn") \
    X("__nv_dmul_rn", "d(dd)", "f64_mul") \
    X("__nv_fdiv_rn", "f(ff)", "precise::divide") \
    X("__nv_ddiv_rn", "d(dd)", "f64_div") \
    X("__nv_frcp_rn", "f(f)", "f32_rcp_rn") \
    X("__nv_drcp_rn", "d(d)", "f64_rcp_rn") \
    X("__nv_fsqrt_rn", "f(f)", "precise::sqrt") \
    X("__nv_dsqrt_rn", "d(d)", "f64_sqrt") \
    X("__nv_fmaf_rn", "f(fff)", "fma") \
    X("__nv_fma_rn", "d(ddd)", "f64_fma") \
    X("__nv_float2int_rn", "i(f)", "f32_to_i32_rn") \
    X("__nv_double2int_rn", "i(d)", "f64_to_i32_rn") \
    X("__nv_int2float_rn", "f(i)", "i32_to_f32_rn") \
    X("__nv_int2double_rn", "d(i)", "i32_to_f64") \
    X("__nv_float2uint_rn", "u(f)", "f32_to_u32_rn") \
    X("__nv_double2uint_rn", "u(d)", "f64_to_u32_rn") \
    X("__nv_uint2float_rn", "f(u)", "u32_to_f32_rn") \
    X("__nv_uint2double_rn", "d(u)", "u32_to_f64") \
    X("__nv_float2ll_rn", "l(f)", "f32_to_i64_rn") \
    X("__nv_double2ll_rn", "l(d)", "f64_to_i64_rn") \
    X("__nv_ll2float_rn", "f(l)", "i64_to_f32_rn") \
    X("__nv_ll2double_rn", "d(l)", "i64_to_f64") \
    X("__nv_float2ull_rn", "m(f)", "f32_to_u64_rn") \
    X("__nv_double2ull_rn", "m(d)", "f64_to_u64_rn") \
    X("__nv_ull2float_rn", "f(m)", "u64_to_f32_rn") \
    X("__nv_ull2double_rn", "d(m)", "u64_to_f64") \
    X("__nv_double2float_rn", "f(d)", "f64_to_f32") \
    X("__nv_fadd_rz", "f(ff)", "f32_add_rz") \
    X("__nv_dadd_rz", "d(dd)", "f64_add_rz") \
    X("__nv_fsub_rz", "f(ff)", "f32_sub_rz") \
    X("__nv_dsub_rz", "d(dd)", "f64_sub_rz") \
    X("__nv_fmul_rz", "f(ff)", "f32_mul_rz") \
    X("__nv_dmul_rz", "d(dd)", "f64_mul_rz") \
    X("__nv_fdiv_rz", "f(ff)", "f32_div_rz") \
    X("__nv_ddiv_rz", "d(dd)", "f64_div_rz") \
    X("__nv_frcp_rz", "f(f)", "f32_rcp_rz") \
    X("__nv_drcp_rz", "d(d)", "f64_rcp_rz") \
    X("__nv_fsqrt_rz", "f(f)", "f32_sqrt_rz") \
    X("__nv_dsqrt_rz", "d(d)", "f64_sqrt_rz") \
    X("__nv_fmaf_rz", "f(fff)", "f32_fma_rz") \
    X("__nv_fma_rz", "d(ddd)", "f64_fma_rz") \
    X("__nv_float2int_rz", "i(f)", "f32_to_i32_rz") \
    X("__nv_double2int_rz", "i(d)", "f64_to_i32_rz") \
    X("__nv_int2float_rz", "f(i)", "i32_to_f32_rz") \
    X("__nv_float2uint_rz", "u(f)", "f32_to_u32_rz") \
    X("__nv_double2uint_rz", "u(d)", "f64_to_u32_rz") \
    X("__nv_uint2float_rz", "f(u)", "u32_to_f32_rz") \
    X("__nv_float2ll_rz", "l(f)", "f32_to_i64_rz") \
    X("__nv_double2ll_rz", "l(d)", "f64_to_i64_rz") \
    X("__nv_ll2float_rz", "f(l)", "i64_to_f32_rz") \
    X("__nv_ll2double_rz", "d(l)", "i64_to_f64_rz") \
    X("__nv_float2ull_rz", "m(f)", "f32_to_u64_rz") \
    X("__nv_double2ull_rz", "m(d)", "f64_to_u64_rz") \
    X("__nv_ull2float_rz", "f(m)", "u64_to_f32_rz") \
    X("__nv_ull2double_rz", "d(m)", "u64_to_f64_rz") \
    X("__nv_double2float_rz", "f(d)", "f64_to_f32_rz") \
    X("__nv_fadd_rd", "f(ff)", "f32_add_rd") \
    X("__nv_dadd_rd", "d(dd)", "f64_add_rd") \
    X("__nv_fsub_rd", "f(ff)", "f32_sub_rd") \
    X("__nv_dsub_rd", "d(dd)", "f64_sub_rd") \
    X("__nv_fmul_rd", "f(ff)", "f32_mul_rd") \
    X("__nv_dmul_rd", "d(dd)", "f64_mul_rd") \
    X("__nv_fdiv_rd", "f(ff)", "f32_div_rd") \
    X("__nv_ddiv_rd", "d(dd)", "f64_div_rd") \
    X("__nv_frcp_rd", "f(f)", "f32_rcp_rd") \
    X("__nv_drcp_rd", "d(d)", "f64_rcp_rd") \
    X("__nv_fsqrt_rd", "f(f)", "f32_sqrt_rd") \
    X("__nv_dsqrt_rd", "d(d)", "f64_sqrt_rd") \
    X("__nv_fmaf_rd", "f(fff)", "f32_fma_rd") \
    X("__nv_fma_rd", "d(ddd)", "f64_fma_rd") \
    X("__nv_float2int_rd", "i(f)", "f32_to_i32_rd") \
    X("__nv_double2int_rd", "i(d)", "f64_to_i32_rd") \
    X("__nv_int2float_rd", "f(i)", "i32_to_f32_rd") \
    X("__nv_float2uint_rd", "u(f)", "f32_to_u32_rd") \
    X("__nv_double2uint_rd", "u(d)", "f64_to_u32_rd") \
    X("__nv_uint2float_rd", "f(u)", "u32_to_f32_rd") \
    X("__nv_float2ll_rd", "l(f)", "f32_to_i64_rd") \
    X("__nv_double2ll_rd", "l(d)", "f64_to_i64_rd") \
    X("__nv_ll2float_rd", "f(l)", "i64_to_f32_rd") \
    X("__nv_ll2double_rd", "d(l)", "i64_to_f64_rd") \
    X("__nv_float2ull_rd", "m(f)", "f32_to_u64_rd") \
    X("__nv_double2ull_rd", "m(d)", "f64_to_u64_rd") \
    X("__nv_ull2float_rd", "f(m)", "u64_to_f32_rd") \
    X("__nv_ull2double_rd", "d(m)", "u64_to_f64_rd") \
    X("__nv_double2float_rd", "f(d)", "f64_to_f32_rd") \
    X("__nv_fadd_ru", "f(ff)", "f32_add_ru") \
    X("__nv_dadd_ru", "d(dd)", "f64_add_ru") \
    X("__nv_fsub_ru", "f(ff)", "f32_sub_ru") \
    X("__nv_dsub_ru", "d(dd)", "f64_sub_ru") \
    X("__nv_fmul_ru", "f(ff)", "f32_mul_ru") \
    X("__nv_dmul_ru", "d(dd)", "f64_mul_ru") \
    X("__nv_fdiv_ru", "f(ff)", "f32_div_ru") \
    X("__nv_ddiv_ru", "d(dd)", "f64_div_ru") \
    X("__nv_frcp_ru", "f(f)", "f32_rcp_ru") \
    X("__nv_drcp_ru", "d(d)", "f64_rcp_ru") \
    X("__nv_fsqrt_ru", "f(f)", "f32_sqrt_ru") \
    X("__nv_dsqrt_ru", "d(d)", "f64_sqrt_ru") \
    X("__nv_fmaf_ru", "f(fff)", "f32_fma_ru") \
    X("__nv_fma_ru", "d(ddd)", "f64_fma_ru") \
    X("__nv_float2int_ru", "i(f)", "f32_to_i32_ru") \
    X("__nv_double2int_ru", "i(d)", "f64_to_i32_ru") \
    X("__nv_int2float_ru", "f(i)", "i32_to_f32_ru") \
    X("__nv_float2uint_ru", "u(f)", "f32_to_u32_ru") \
    X("__nv_double2uint_ru", "u(d)", "f64_to_u32_ru") \
    X("__nv_uint2float_ru", "f(u)", "u32_to_f32_ru") \
    X("__nv_float2ll_ru", "l(f)", "f32_to_i64_ru") \
    X("__nv_double2ll_ru", "l(d)", "f64_to_i64_ru") \
    X("__nv_ll2float_ru", "f(l)", "i64_to_f32_ru") \
    X("__nv_ll2double_ru", "d(l)", "i64_to_f64_ru") \
    X("__nv_float2ull_ru", "m(f)", "f32_to_u64_ru") \
    X("__nv_double2ull_ru", "m(d)", "f64_to_u64_ru") \
    X("__nv_ull2float_ru", "f(m)", "u64_to_f32_ru") \
    X("__nv_ull2double_ru", "d(m)", "u64_to_f64_ru") \
    X("__nv_double2float_ru", "f(d)", "f64_to_f32_ru") \
    X("__nv_frsqrt_rn", "f(f)", "precise::rsqrt") \
    X("__nv_rcp64h", "d(d)", "f64_rcp64h") \
    X("__nv_half2float", "f(s)", "half_bits_to_f32") \
    X("__nv_float2half_rn", "s(f)", "f32_to_half_bits")
/* -- End of generated rows ------------------------------------------------------------------ */
/* clang-format on */

#define TMI_FNS(X) TMI_HELPERS(X) TMI_LIBRARY(X)

typedef struct tmi_fn {
    const char *name, *sig, *needs, *text;
} tmi_fn;

typedef enum tmi_fn_id {
#define X(id, name, sig, needs, text) TMI_FN_##id,
    TMI_FNS(X)
#undef X
    TMI_FN_COUNT
} tmi_fn_id;

static const tmi_fn tmi_fns[TMI_FN_COUNT] = {
#define X(id, name, sig, needs, text) {name, sig, needs, text},
    TMI_FNS(X)
#undef X
};

typedef struct tmi_extern {
    const char *symbol, *sig, *callee;
} tmi_extern;

static const tmi_extern tmi_externs[] = {
#define X(symbol, sig, callee) {symbol, sig, callee},
    TMI_EXTERNS(X)
#undef X
};

#define TMI_EXTERN_COUNT ((uint32_t)(sizeof tmi_externs / sizeof *tmi_externs))

/* The row of a function by its name; TMI_FN_COUNT: Metal's own. Names are unique where rows need rows. */
static uint32_t tmi_fn_named(const char *name, size_t len) {
    uint32_t i;
    for (i = 0; i < TMI_FN_COUNT; i++)
        if (strlen(tmi_fns[i].name) == len && memcmp(tmi_fns[i].name, name, len) == 0) return i;
    return TMI_FN_COUNT;
}

/*==============================================================================
 * >>ir  [8]  Types, values, ops, regions; making and changing them
 *
 * gives   tmetal_module and everything in it, by 32-bit ids; 0 is none
 * uses    >>base  >>ops
 *============================================================================*/

/* -- Types ---------------------------------------------------------------------- */

typedef enum tmi_type_kind {
    TMI_T_NONE,
    TMI_T_INT,    /* bits; sign 0 signless, 1 signed (si), 2 unsigned (ui) */
    TMI_T_INDEX,
    TMI_T_FLOAT,  /* `format` below */
    TMI_T_NULL,   /* MLIR's `none` */
    TMI_T_TENSOR, /* elem, dims, maybe an encoding */
    TMI_T_VECTOR,
    TMI_T_PTR,    /* elem is the pointee */
    TMI_T_DESC,   /* elem is the block's tensor type */
    TMI_T_FUNC,   /* dims holds ins then outs; `bits` counts ins */
    TMI_T_OPAQUE  /* of another dialect: its text */
} tmi_type_kind;

typedef struct tmi_type {
    uint8_t  kind, sign;
    uint8_t  format;   /* floats: row of TMI_FLOATS */
    uint8_t  space;    /* pointers: address space, 1 when not printed */
    uint32_t bits;     /* ints and floats: width */
    uint32_t elem;
    uint32_t n_dims;
    uint32_t dims;     /* first of n_dims entries of module->ids */
    uint32_t text;     /* opaque: string; tensors: encoding string, 0 none */
    uint32_t hash;
} tmi_type;

/* One row a float type: id, text, bits, exponent and mantissa bits, special, bias (sheet 1.5). */
/* clang-format off */
#define TMI_FLOATS(X) \
    X(F16,      "f16",          16,  5, 10, 0,   15) \
    X(BF16,     "bf16",         16,  8,  7, 0,  127) \
    X(F32,      "f32",          32,  8, 23, 0,  127) \
    X(F64,      "f64",          64, 11, 52, 0, 1023) \
    X(TF32,     "tf32",         32,  8, 23, 0,  127) \
    X(E5M2,     "f8E5M2",        8,  5,  2, 0,   15) \
    X(E4M3FN,   "f8E4M3FN",      8,  4,  3, 1,    7) \
    X(E4M3FNUZ, "f8E4M3FNUZ",    8,  4,  3, 2,    8) \
    X(E5M2FNUZ, "f8E5M2FNUZ",    8,  5,  2, 2,   16) \
    X(E4M3B11,  "f8E4M3B11FNUZ", 8,  4,  3, 2,   11) \
    X(E4M3,     "f8E4M3",        8,  4,  3, 0,    7) \
    X(E3M4,     "f8E3M4",        8,  3,  4, 0,    3) \
    X(E8M0,     "f8E8M0FNU",     8,  8,  0, 3,  127) \
    X(E2M3,     "f6E2M3FN",      6,  2,  3, 3,    1) \
    X(E3M2,     "f6E3M2FN",      6,  3,  2, 3,    3) \
    X(E2M1,     "f4E2M1FN",      4,  2,  1, 3,    1)
/* clang-format on */

typedef enum tmi_float_id {
#define X(id, text, bits, exp, man, special, bias) TMI_F_##id,
    TMI_FLOATS(X)
#undef X
    TMI_F_COUNT
} tmi_float_id;

static const tmi_float_format tmi_float_formats[TMI_F_COUNT] = {
#define X(id, text, bits, exp, man, special, bias) {bits, exp, man, special, bias},
    TMI_FLOATS(X)
#undef X
};

static const char *const tmi_float_names[TMI_F_COUNT] = {
#define X(id, text, bits, exp, man, special, bias) text,
    TMI_FLOATS(X)
#undef X
};

/* -- Attributes ----------------------------------------------------------------- */

typedef enum tmi_attr_kind {
    TMI_A_NONE,
    TMI_A_INT,    /* value; type */
    TMI_A_FLOAT,  /* value: bits; type */
    TMI_A_BOOL,   /* value */
    TMI_A_UNIT,
    TMI_A_STRING, /* value: string; type or 0 */
    TMI_A_SYMBOL, /* value: string */
    TMI_A_TYPE,   /* type */
    TMI_A_ARRAY,  /* value: first of n ids of attributes */
    TMI_A_DICT,   /* value: first named attribute (tmi_named) */
    TMI_A_DENSE,  /* type; n elements at `value` in module->words; n 1 is a splat */
    TMI_A_LIST,   /* array<T: ...>: type; n elements at `value` in module->words */
    TMI_A_OPAQUE  /* value: string, printed as it was read */
} tmi_attr_kind;

typedef struct tmi_attr {
    uint8_t  kind;
    uint32_t type, n;
    uint64_t value;
} tmi_attr;

typedef struct tmi_named { /* an entry of a dictionary */
    uint32_t name, attr, next;
} tmi_named;

/* -- Places --------------------------------------------------------------------- */

typedef enum tmi_loc_kind {
    TMI_L_NONE,
    TMI_L_UNKNOWN,
    TMI_L_FILE,  /* text, line, col; to_line, to_col of a range or 0 */
    TMI_L_NAME,  /* text, child or 0 */
    TMI_L_CALL,  /* child is the callee's place, other the call's */
    TMI_L_FUSED, /* child: first of n ids; text: metadata or 0 */
    TMI_L_ALIAS  /* not yet defined: text; child once it is */
} tmi_loc_kind;

typedef struct tmi_loc {
    uint8_t  kind;
    uint32_t text, child, other, line, col, to_line, to_col;
} tmi_loc;

/* -- Values, ops, blocks, regions ------------------------------------------------ */

typedef struct tmi_value {
    uint32_t type, name, loc;
    uint32_t def;   /* op, or block when is_arg */
    uint16_t index; /* which result or argument */
    uint8_t  is_arg;
    uint8_t  is_forward; /* used, not defined yet */
} tmi_value;

typedef struct tmi_op {
    uint16_t kind;
    uint16_t n_region;
    uint32_t n_in, in;   /* operands: module->ids[in ...] are values */
    uint32_t n_out, out; /* results, likewise */
    uint32_t attr;       /* first tmi_named */
    uint32_t region;     /* first; the others follow by `next` */
    uint32_t n_succ, succ; /* branch targets: module->succs[succ ...] */
    uint32_t block, prev, next;
    uint32_t loc, src;   /* place; byte offset + 1 in the text */
} tmi_op;

typedef struct tmi_succ {
    uint32_t block, n_in, in;
} tmi_succ;

typedef struct tmi_block {
    uint32_t region, prev, next;
    uint32_t first_op, last_op;
    uint32_t n_arg, arg; /* module->ids[arg ...] */
    uint32_t label;      /* string, while reading */
} tmi_block;

typedef struct tmi_region {
    uint32_t op, next, first_block, last_block, loc;
} tmi_region;

struct tmetal_module {
    tmi_strings strings;
    tmi_vec     type, attr, named, loc, value, op, succ, block, region;
    tmi_vec     ids;   /* uint32_t: operand, result, argument, dimension lists */
    tmi_vec     words; /* uint64_t: elements of dense constants */
    tmi_hash    type_hash;
    uint32_t    top;   /* the builtin.module op */
    uint32_t    t_i1, t_i8, t_i16, t_i32, t_i64, t_index, t_none, t_float[TMI_F_COUNT];
    const char *src, *file; /* a copy of the text and its name, for later diagnostics; NULL: built, or not kept */
    size_t      src_len;
};

typedef tmetal_module tmi_module;

#define TMI_TYPE(m, id)   TMI_AT(&(m)->type, tmi_type, (id))
#define TMI_ATTR(m, id)   TMI_AT(&(m)->attr, tmi_attr, (id))
#define TMI_NAMED(m, id)  TMI_AT(&(m)->named, tmi_named, (id))
#define TMI_LOC(m, id)    TMI_AT(&(m)->loc, tmi_loc, (id))
#define TMI_VALUE(m, id)  TMI_AT(&(m)->value, tmi_value, (id))
#define TMI_OP(m, id)     TMI_AT(&(m)->op, tmi_op, (id))
#define TMI_SUCC(m, id)   TMI_AT(&(m)->succ, tmi_succ, (id))
#define TMI_BLOCK(m, id)  TMI_AT(&(m)->block, tmi_block, (id))
#define TMI_REGION(m, id) TMI_AT(&(m)->region, tmi_region, (id))
#define TMI_ID(m, i)      (*TMI_AT(&(m)->ids, uint32_t, (i)))
#define TMI_WORD(m, i)    (*TMI_AT(&(m)->words, uint64_t, (i)))
#define TMI_STR(m, id)    tmi_string_at(&(m)->strings, (id))

/* -- Making types ------------------------------------------------------------------ */

static uint32_t tmi_type_hash_of(const tmi_module *m, const tmi_type *t, const uint32_t *dims) {
    uint32_t h = tmi_mix(t->kind, t->bits), i;
    h = tmi_mix(h, t->elem);
    h = tmi_mix(h, ((uint32_t)t->sign << 16) | ((uint32_t)t->format << 8) | t->space);
    h = tmi_mix(h, t->text);
    for (i = 0; i < t->n_dims; i++) h = tmi_mix(h, dims ? dims[i] : TMI_ID(m, t->dims + i));
    return h;
}

static uint32_t tmi_type_hash_id(const void *ctx, uint32_t id) {
    return TMI_TYPE((const tmi_module *)ctx, id)->hash;
}

/* The id of a type; `dims` has t->n_dims entries. Equal types have equal ids. */
static uint32_t tmi_type_get(tmi_job *job, tmi_module *m, const tmi_type *t, const uint32_t *dims) {
    uint32_t  h = tmi_type_hash_of(m, t, dims), k, id, i;
    tmi_type *have;

    tmi_hash_room(job, &m->type_hash, tmi_type_hash_id, m);
    for (k = h & (m->type_hash.cap - 1); (id = m->type_hash.slot[k]) != 0;
         k = (k + 1) & (m->type_hash.cap - 1)) {
        have = TMI_TYPE(m, id);
        if (have->hash != h || have->kind != t->kind || have->bits != t->bits || have->elem != t->elem ||
            have->sign != t->sign || have->format != t->format || have->space != t->space ||
            have->text != t->text || have->n_dims != t->n_dims)
            continue;
        for (i = 0; i < t->n_dims && TMI_ID(m, have->dims + i) == dims[i]; i++) {}
        if (i == t->n_dims) return id;
    }
    id = m->type.n;
    have = (tmi_type *)tmi_vec_add(job, &m->type);
    *have = *t;
    have->hash = h;
    have->dims = m->ids.n;
    for (i = 0; i < t->n_dims; i++) *(uint32_t *)tmi_vec_add(job, &m->ids) = dims[i];
    m->type_hash.slot[k] = id;
    m->type_hash.n++;
    return id;
}

static uint32_t tmi_type_int(tmi_job *job, tmi_module *m, uint32_t bits, int sign) {
    tmi_type t;
    memset(&t, 0, sizeof t);
    t.kind = TMI_T_INT;
    t.bits = bits;
    t.sign = (uint8_t)sign;
    return tmi_type_get(job, m, &t, NULL);
}

static uint32_t tmi_type_tensor(tmi_job *job, tmi_module *m, uint32_t elem, const uint32_t *dims,
                                uint32_t n_dims) {
    tmi_type t;
    memset(&t, 0, sizeof t);
    t.kind = TMI_T_TENSOR;
    t.elem = elem;
    t.n_dims = n_dims;
    return tmi_type_get(job, m, &t, dims);
}

static uint32_t tmi_type_ptr(tmi_job *job, tmi_module *m, uint32_t elem, uint32_t space) {
    tmi_type t;
    memset(&t, 0, sizeof t);
    t.kind = TMI_T_PTR;
    t.elem = elem;
    t.space = (uint8_t)space;
    return tmi_type_get(job, m, &t, NULL);
}

static void tmi_module_types(tmi_job *job, tmi_module *m) {
    tmi_type t;
    uint32_t i;
    memset(&t, 0, sizeof t);
    (void)tmi_vec_add(job, &m->type); /* id 0 */
    m->t_i1 = tmi_type_int(job, m, 1, 0);
    m->t_i8 = tmi_type_int(job, m, 8, 0);
    m->t_i16 = tmi_type_int(job, m, 16, 0);
    m->t_i32 = tmi_type_int(job, m, 32, 0);
    m->t_i64 = tmi_type_int(job, m, 64, 0);
    t.kind = TMI_T_INDEX;
    t.bits = 64;
    m->t_index = tmi_type_get(job, m, &t, NULL);
    t.kind = TMI_T_NULL;
    t.bits = 0;
    m->t_none = tmi_type_get(job, m, &t, NULL);
    for (i = 0; i < TMI_F_COUNT; i++) {
        t.kind = TMI_T_FLOAT;
        t.format = (uint8_t)i;
        t.bits = tmi_float_formats[i].bits;
        m->t_float[i] = tmi_type_get(job, m, &t, NULL);
    }
}

static tmi_module *tmi_module_new(tmi_job *job) {
    tmi_module *m = TMI_NEW(job, tmi_module, 1);
    tmi_strings_init(job, &m->strings);
    tmi_vec_init(&m->type, sizeof(tmi_type), 0);
    tmi_vec_init(&m->attr, sizeof(tmi_attr), 0);
    tmi_vec_init(&m->named, sizeof(tmi_named), 0);
    tmi_vec_init(&m->loc, sizeof(tmi_loc), 0);
    tmi_vec_init(&m->value, sizeof(tmi_value), 0);
    tmi_vec_init(&m->op, sizeof(tmi_op), 0);
    tmi_vec_init(&m->succ, sizeof(tmi_succ), 0);
    tmi_vec_init(&m->block, sizeof(tmi_block), 0);
    tmi_vec_init(&m->region, sizeof(tmi_region), 0);
    tmi_vec_init(&m->ids, sizeof(uint32_t), 0);
    tmi_vec_init(&m->words, sizeof(uint64_t), 0);
    (void)tmi_vec_add(job, &m->attr); /* id 0 of each is none */
    (void)tmi_vec_add(job, &m->named);
    (void)tmi_vec_add(job, &m->loc);
    (void)tmi_vec_add(job, &m->value);
    (void)tmi_vec_add(job, &m->op);
    (void)tmi_vec_add(job, &m->succ);
    (void)tmi_vec_add(job, &m->block);
    (void)tmi_vec_add(job, &m->region);
    (void)tmi_vec_add(job, &m->ids);
    (void)tmi_vec_add(job, &m->words);
    tmi_module_types(job, m);
    return m;
}

/* -- Copying a module: every id stays the same ----------------------------------------- */

static void tmi_vec_copy(tmi_job *job, tmi_vec *to, const tmi_vec *from) {
    uint32_t i;
    *to = *from;
    to->page = (void **)tmi_take(job, to->cap_page, sizeof(void *), to->scratch);
    for (i = 0; i < from->n_page; i++) {
        to->page[i] = tmi_take(job, TMI_PAGE, to->size, to->scratch);
        memcpy(to->page[i], from->page[i], (size_t)TMI_PAGE * to->size);
    }
}

static void tmi_hash_copy(tmi_job *job, tmi_hash *to, const tmi_hash *from) {
    *to = *from;
    to->slot = (uint32_t *)tmi_take(job, to->cap, sizeof(uint32_t), to->scratch);
    if (to->cap) memcpy(to->slot, from->slot, to->cap * sizeof(uint32_t));
}

/* Passes change what they work on, even types and names are added: the caller's module stays as it is.
 * The bytes of strings never change and are shared. */
static tmi_module *tmi_module_copy(tmi_job *job, const tmi_module *from) {
    tmi_module *m = TMI_NEW(job, tmi_module, 1);
    *m = *from;
    tmi_vec_copy(job, &m->strings.item, &from->strings.item);
    tmi_hash_copy(job, &m->strings.hash, &from->strings.hash);
    tmi_vec_copy(job, &m->type, &from->type);
    tmi_vec_copy(job, &m->attr, &from->attr);
    tmi_vec_copy(job, &m->named, &from->named);
    tmi_vec_copy(job, &m->loc, &from->loc);
    tmi_vec_copy(job, &m->value, &from->value);
    tmi_vec_copy(job, &m->op, &from->op);
    tmi_vec_copy(job, &m->succ, &from->succ);
    tmi_vec_copy(job, &m->block, &from->block);
    tmi_vec_copy(job, &m->region, &from->region);
    tmi_vec_copy(job, &m->ids, &from->ids);
    tmi_vec_copy(job, &m->words, &from->words);
    tmi_hash_copy(job, &m->type_hash, &from->type_hash);
    return m;
}

/* -- Asking types ------------------------------------------------------------------ */

static int tmi_is_tensor(const tmi_module *m, uint32_t type) {
    return TMI_TYPE(m, type)->kind == TMI_T_TENSOR;
}

/* Element type of a tensor; any other type itself. */
static uint32_t tmi_elem(const tmi_module *m, uint32_t type) {
    return tmi_is_tensor(m, type) ? TMI_TYPE(m, type)->elem : type;
}

static uint32_t tmi_rank(const tmi_module *m, uint32_t type) {
    return tmi_is_tensor(m, type) ? TMI_TYPE(m, type)->n_dims : 0;
}

static uint32_t tmi_dim(const tmi_module *m, uint32_t type, uint32_t axis) {
    return TMI_ID(m, TMI_TYPE(m, type)->dims + axis);
}

static uint64_t tmi_numel(const tmi_module *m, uint32_t type) {
    uint64_t n = 1;
    uint32_t i, rank = tmi_rank(m, type);
    for (i = 0; i < rank; i++) {
        n *= tmi_dim(m, type, i);
        if (n > (uint64_t)1 << 40) return n; /* far past the limit; the verifier refuses it */
    }
    return n;
}

static int tmi_elem_kind(const tmi_module *m, uint32_t type) {
    return TMI_TYPE(m, tmi_elem(m, type))->kind;
}

static int tmi_is_intlike(const tmi_module *m, uint32_t type) {
    int k = tmi_elem_kind(m, type);
    return k == TMI_T_INT || k == TMI_T_INDEX;
}

static int tmi_is_floatlike(const tmi_module *m, uint32_t type) {
    return tmi_elem_kind(m, type) == TMI_T_FLOAT;
}

static int tmi_is_ptrlike(const tmi_module *m, uint32_t type) {
    return tmi_elem_kind(m, type) == TMI_T_PTR;
}

/* Row of TMI_FLOATS of a value's elements; TMI_F_COUNT when they are no floats. */
static uint32_t tmi_format_of(const tmi_module *m, uint32_t type) {
    const tmi_type *e = TMI_TYPE(m, tmi_elem(m, type));
    return e->kind == TMI_T_FLOAT ? e->format : (uint32_t)TMI_F_COUNT;
}

static int tmi_format_is_soft(uint32_t f) {
    return f != TMI_F_COUNT && f != TMI_F_F32 && f != TMI_F_TF32 && f != TMI_F_F16 && f != TMI_F_BF16;
}

/* Bits of one element; a pointer has 64. */
static uint32_t tmi_bits(const tmi_module *m, uint32_t type) {
    const tmi_type *t = TMI_TYPE(m, tmi_elem(m, type));
    return t->kind == TMI_T_PTR ? 64 : t->bits;
}

/* Bytes that one element takes in memory. */
static uint32_t tmi_bytes(const tmi_module *m, uint32_t type) {
    uint32_t bits = tmi_bits(m, type);
    return bits <= 8 ? 1 : bits / 8;
}

static int tmi_same_shape(const tmi_module *m, uint32_t a, uint32_t b) {
    uint32_t i, rank = tmi_rank(m, a);
    if (tmi_is_tensor(m, a) != tmi_is_tensor(m, b) || rank != tmi_rank(m, b)) return 0;
    for (i = 0; i < rank; i++)
        if (tmi_dim(m, a, i) != tmi_dim(m, b, i)) return 0;
    return 1;
}

/* `type` with another element type: same shape, or the element itself for scalars. */
static uint32_t tmi_type_like(tmi_job *job, tmi_module *m, uint32_t type, uint32_t elem) {
    uint32_t dims[TMI_MAX_RANK], i, rank = tmi_rank(m, type);
    if (!tmi_is_tensor(m, type)) return elem;
    for (i = 0; i < rank; i++) dims[i] = tmi_dim(m, type, i);
    return tmi_type_tensor(job, m, elem, dims, rank);
}

/* -- Text of types ------------------------------------------------------------------ */

static void tmi_put_type(tmi_text *t, const tmi_module *m, uint32_t id);

static void tmi_put_dims(tmi_text *t, const tmi_module *m, const tmi_type *type) {
    uint32_t i;
    for (i = 0; i < type->n_dims; i++) tmi_put(t, "%ux", TMI_ID(m, type->dims + i));
}

static void tmi_put_func_type(tmi_text *t, const tmi_module *m, const tmi_type *type) {
    uint32_t i, outs = type->n_dims - type->bits;
    tmi_put_char(t, '(');
    for (i = 0; i < type->bits; i++) {
        if (i) tmi_put_str(t, ", ");
        tmi_put_type(t, m, TMI_ID(m, type->dims + i));
    }
    tmi_put_str(t, outs == 1 ? ") -> " : ") -> (");
    for (i = 0; i < outs; i++) {
        if (i) tmi_put_str(t, ", ");
        tmi_put_type(t, m, TMI_ID(m, type->dims + type->bits + i));
    }
    if (outs != 1) tmi_put_char(t, ')');
}

/* The type as MLIR writes it. Depth is bounded: the reader refuses deep nesting. */
static void tmi_put_type(tmi_text *t, const tmi_module *m, uint32_t id) {
    const tmi_type *type = TMI_TYPE(m, id);
    switch (type->kind) {
    case TMI_T_INT: tmi_put(t, "%s%u", type->sign == 1 ? "si" : type->sign == 2 ? "ui" : "i", type->bits); break;
    case TMI_T_INDEX: tmi_put_str(t, "index"); break;
    case TMI_T_NULL: tmi_put_str(t, "none"); break;
    case TMI_T_FLOAT: tmi_put_str(t, tmi_float_names[type->format]); break;
    case TMI_T_TENSOR:
    case TMI_T_VECTOR:
        tmi_put_str(t, type->kind == TMI_T_TENSOR ? "tensor<" : "vector<");
        tmi_put_dims(t, m, type);
        tmi_put_type(t, m, type->elem);
        if (type->text) tmi_put(t, ", %s", TMI_STR(m, type->text));
        tmi_put_char(t, '>');
        break;
    case TMI_T_PTR:
        tmi_put_str(t, "!tt.ptr<");
        tmi_put_type(t, m, type->elem);
        if (type->space != 1) tmi_put(t, ", %u", (unsigned)type->space);
        tmi_put_char(t, '>');
        break;
    case TMI_T_DESC:
        tmi_put_str(t, "!tt.tensordesc<");
        tmi_put_type(t, m, type->elem);
        tmi_put_char(t, '>');
        break;
    case TMI_T_FUNC: tmi_put_func_type(t, m, type); break;
    case TMI_T_OPAQUE: tmi_put_str(t, TMI_STR(m, type->text)); break;
    default: tmi_put_str(t, "<no type>"); break;
    }
}

static const char *tmi_type_text(tmi_job *job, const tmi_module *m, uint32_t type) {
    tmi_text t;
    tmi_text_init(job, &t);
    tmi_put_type(&t, m, type);
    return tmi_text_join(&t, 1);
}

/* -- Reading ops -------------------------------------------------------------------- */

static uint32_t tmi_in(const tmi_module *m, const tmi_op *op, uint32_t i) {
    return TMI_ID(m, op->in + i);
}

static uint32_t tmi_out(const tmi_module *m, const tmi_op *op, uint32_t i) {
    return TMI_ID(m, op->out + i);
}

static uint32_t tmi_value_type(const tmi_module *m, uint32_t value) {
    return TMI_VALUE(m, value)->type;
}

static uint32_t tmi_in_type(const tmi_module *m, const tmi_op *op, uint32_t i) {
    return tmi_value_type(m, tmi_in(m, op, i));
}

static uint32_t tmi_out_type(const tmi_module *m, const tmi_op *op, uint32_t i) {
    return tmi_value_type(m, tmi_out(m, op, i));
}

/* The op that defines a value; 0 for arguments. */
static uint32_t tmi_def(const tmi_module *m, uint32_t value) {
    const tmi_value *v = TMI_VALUE(m, value);
    return v->is_arg ? 0 : v->def;
}

static uint16_t tmi_def_kind(const tmi_module *m, uint32_t value) {
    uint32_t def = tmi_def(m, value);
    return def ? TMI_OP(m, def)->kind : (uint16_t)TMI_OP_NONE;
}

static uint32_t tmi_block_arg(const tmi_module *m, uint32_t block, uint32_t i) {
    return TMI_ID(m, TMI_BLOCK(m, block)->arg + i);
}

static uint32_t tmi_op_region(const tmi_module *m, const tmi_op *op, uint32_t i) {
    uint32_t r = op->region;
    while (i-- > 0 && r) r = TMI_REGION(m, r)->next;
    return r;
}

/* Entry block of region i; 0 when it has none. */
static uint32_t tmi_op_body(const tmi_module *m, const tmi_op *op, uint32_t i) {
    uint32_t r = tmi_op_region(m, op, i);
    return r ? TMI_REGION(m, r)->first_block : 0;
}

static uint32_t tmi_parent_op(const tmi_module *m, const tmi_op *op) {
    return op->block ? TMI_REGION(m, TMI_BLOCK(m, op->block)->region)->op : 0;
}

static uint32_t tmi_block_op(const tmi_module *m, uint32_t block) { /* that owns the block */
    return TMI_REGION(m, TMI_BLOCK(m, block)->region)->op;
}

/* The attribute with that name; NULL when absent. Ops have few, so the list is walked. */
static const tmi_attr *tmi_attr_of(const tmi_module *m, const tmi_op *op, const char *name) {
    uint32_t i;
    for (i = op->attr; i; i = TMI_NAMED(m, i)->next)
        if (strcmp(TMI_STR(m, TMI_NAMED(m, i)->name), name) == 0) return TMI_ATTR(m, TMI_NAMED(m, i)->attr);
    return NULL;
}

static int64_t tmi_attr_int(const tmi_module *m, const tmi_op *op, const char *name, int64_t missing) {
    const tmi_attr *a = tmi_attr_of(m, op, name);
    if (a && (a->kind == TMI_A_INT || a->kind == TMI_A_BOOL)) return (int64_t)a->value;
    if (a && a->kind == TMI_A_UNIT) return 1;
    return missing;
}

static const char *tmi_attr_str(const tmi_module *m, const tmi_op *op, const char *name) {
    const tmi_attr *a = tmi_attr_of(m, op, name);
    return a && (a->kind == TMI_A_STRING || a->kind == TMI_A_SYMBOL) ? TMI_STR(m, (uint32_t)a->value) : "";
}

/* -- Places of ops -------------------------------------------------------------------- */

/* The file place that a reader of the kernel looks for: outermost call, without names. */
static tmetal_place tmi_loc_place(const tmi_module *m, uint32_t loc) {
    tmetal_place p;
    uint32_t     steps;
    p.file = NULL;
    p.line = p.col = 0;
    for (steps = 0; loc && steps < 64; steps++) {
        const tmi_loc *l = TMI_LOC(m, loc);
        if (l->kind == TMI_L_FILE) {
            p.file = TMI_STR(m, l->text);
            p.line = l->line;
            p.col = l->col + 1; /* Triton counts Python's columns from 0 */
            return p;
        }
        if (l->kind == TMI_L_CALL) loc = l->other;
        else if (l->kind == TMI_L_FUSED) loc = l->line ? TMI_ID(m, l->child) : 0;
        else loc = l->child;
    }
    return p;
}

/* The Python variable that a place names: innermost name of the outermost call; 0 for none. */
static uint32_t tmi_loc_name(const tmi_module *m, uint32_t loc) {
    uint32_t steps;
    for (steps = 0; loc && steps < 64; steps++) {
        const tmi_loc *l = TMI_LOC(m, loc);
        if (l->kind == TMI_L_NAME) return l->text;
        if (l->kind == TMI_L_CALL) loc = l->other;
        else if (l->kind == TMI_L_ALIAS) loc = l->child;
        else return 0;
    }
    return 0;
}

static tmi_at tmi_at_of(const tmi_module *m, const tmi_op *op) {
    tmi_at at;
    at.src = op->src;
    at.python = tmi_loc_place(m, op->loc);
    return at;
}

/* -- Making and changing ops ------------------------------------------------------------ */

static uint32_t tmi_ids_add(tmi_job *job, tmi_module *m, const uint32_t *ids, uint32_t n) {
    uint32_t first = m->ids.n, i;
    for (i = 0; i < n; i++) *(uint32_t *)tmi_vec_add(job, &m->ids) = ids[i];
    return first;
}

static uint32_t tmi_value_new(tmi_job *job, tmi_module *m, uint32_t type) {
    uint32_t id = m->value.n;
    ((tmi_value *)tmi_vec_add(job, &m->value))->type = type;
    return id;
}

static uint32_t tmi_region_new(tmi_job *job, tmi_module *m, uint32_t op) {
    uint32_t id = m->region.n, r;
    ((tmi_region *)tmi_vec_add(job, &m->region))->op = op;
    TMI_OP(m, op)->n_region++;
    if (!TMI_OP(m, op)->region) {
        TMI_OP(m, op)->region = id;
        return id;
    }
    for (r = TMI_OP(m, op)->region; TMI_REGION(m, r)->next; r = TMI_REGION(m, r)->next) {}
    TMI_REGION(m, r)->next = id;
    return id;
}

static uint32_t tmi_block_new(tmi_job *job, tmi_module *m, uint32_t region) {
    uint32_t    id = m->block.n;
    tmi_block  *b = (tmi_block *)tmi_vec_add(job, &m->block);
    tmi_region *r = TMI_REGION(m, region);
    b->region = region;
    b->prev = r->last_block;
    if (r->last_block) TMI_BLOCK(m, r->last_block)->next = id;
    else r->first_block = id;
    r->last_block = id;
    return id;
}

/* Arguments are added together, so that their ids stand side by side. */
static void tmi_block_args(tmi_job *job, tmi_module *m, uint32_t block, const uint32_t *values, uint32_t n) {
    tmi_block *b = TMI_BLOCK(m, block);
    uint32_t   i;
    b->arg = tmi_ids_add(job, m, values, n);
    b->n_arg = n;
    for (i = 0; i < n; i++) {
        tmi_value *v = TMI_VALUE(m, values[i]);
        v->is_arg = 1;
        v->def = block;
        v->index = (uint16_t)i;
    }
}

static uint32_t tmi_op_new(tmi_job *job, tmi_module *m, uint32_t kind) {
    uint32_t id = m->op.n;
    ((tmi_op *)tmi_vec_add(job, &m->op))->kind = (uint16_t)kind;
    return id;
}

static void tmi_op_operands(tmi_job *job, tmi_module *m, uint32_t op, const uint32_t *values, uint32_t n) {
    TMI_OP(m, op)->in = tmi_ids_add(job, m, values, n);
    TMI_OP(m, op)->n_in = n;
}

/* Bind values (made before, maybe already used) as the op's results. */
static void tmi_op_results(tmi_job *job, tmi_module *m, uint32_t op, const uint32_t *values, uint32_t n) {
    uint32_t i;
    TMI_OP(m, op)->out = tmi_ids_add(job, m, values, n);
    TMI_OP(m, op)->n_out = n;
    for (i = 0; i < n; i++) {
        tmi_value *v = TMI_VALUE(m, values[i]);
        v->def = op;
        v->index = (uint16_t)i;
        v->is_arg = v->is_forward = 0;
    }
}

static void tmi_op_append(tmi_module *m, uint32_t block, uint32_t op) {
    tmi_block *b = TMI_BLOCK(m, block);
    tmi_op    *o = TMI_OP(m, op);
    o->block = block;
    o->prev = b->last_op;
    o->next = 0;
    if (b->last_op) TMI_OP(m, b->last_op)->next = op;
    else b->first_op = op;
    b->last_op = op;
}

static void tmi_op_unlink(tmi_module *m, uint32_t op) {
    tmi_op    *o = TMI_OP(m, op);
    tmi_block *b = TMI_BLOCK(m, o->block);
    if (o->prev) TMI_OP(m, o->prev)->next = o->next;
    else b->first_op = o->next;
    if (o->next) TMI_OP(m, o->next)->prev = o->prev;
    else b->last_op = o->prev;
    o->block = o->prev = o->next = 0;
}

static void tmi_op_insert_before(tmi_module *m, uint32_t before, uint32_t op) {
    tmi_op *o = TMI_OP(m, op), *b = TMI_OP(m, before);
    o->block = b->block;
    o->next = before;
    o->prev = b->prev;
    if (b->prev) TMI_OP(m, b->prev)->next = op;
    else TMI_BLOCK(m, b->block)->first_op = op;
    b->prev = op;
}

static void tmi_op_insert_after(tmi_module *m, uint32_t after, uint32_t op) {
    uint32_t next = TMI_OP(m, after)->next;
    if (next) tmi_op_insert_before(m, next, op);
    else tmi_op_append(m, TMI_OP(m, after)->block, op);
}

static uint32_t tmi_attr_new(tmi_job *job, tmi_module *m, int kind, uint32_t type, uint64_t value) {
    uint32_t  id = m->attr.n;
    tmi_attr *a = (tmi_attr *)tmi_vec_add(job, &m->attr);
    a->kind = (uint8_t)kind;
    a->type = type;
    a->value = value;
    return id;
}

/* Add or replace. Entries keep the order of their names, as MLIR prints them. */
static void tmi_op_set_attr(tmi_job *job, tmi_module *m, uint32_t op, const char *name, uint32_t attr) {
    uint32_t   id = 0, at = TMI_OP(m, op)->attr, last = 0;
    int        c = 1;
    tmi_named *n;
    while (at && (c = strcmp(TMI_STR(m, TMI_NAMED(m, at)->name), name)) < 0) {
        last = at;
        at = TMI_NAMED(m, at)->next;
    }
    if (at && c == 0) {
        TMI_NAMED(m, at)->attr = attr;
        return;
    }
    id = m->named.n;
    n = (tmi_named *)tmi_vec_add(job, &m->named);
    n->name = tmi_intern(job, &m->strings, name, strlen(name));
    n->attr = attr;
    n->next = at;
    if (last) TMI_NAMED(m, last)->next = id;
    else TMI_OP(m, op)->attr = id;
}

static void tmi_op_set_int(tmi_job *job, tmi_module *m, uint32_t op, const char *name, uint32_t type,
                           int64_t value) {
    tmi_op_set_attr(job, m, op, name, tmi_attr_new(job, m, TMI_A_INT, type, (uint64_t)value));
}

static void tmi_op_drop_attr(tmi_module *m, uint32_t op, const char *name) {
    uint32_t *link = &TMI_OP(m, op)->attr;
    while (*link) {
        tmi_named *n = TMI_NAMED(m, *link);
        if (strcmp(TMI_STR(m, n->name), name) == 0) {
            *link = n->next;
            return;
        }
        link = &n->next;
    }
}

/* A new op with one result of `type` (0: none), in no block yet. */
static uint32_t tmi_op_make(tmi_job *job, tmi_module *m, uint32_t kind, const uint32_t *in, uint32_t n_in,
                            uint32_t type, uint32_t like) {
    uint32_t op = tmi_op_new(job, m, kind), v;
    tmi_op_operands(job, m, op, in, n_in);
    if (type) {
        v = tmi_value_new(job, m, type);
        tmi_op_results(job, m, op, &v, 1);
    }
    if (like) {
        TMI_OP(m, op)->loc = TMI_OP(m, like)->loc;
        TMI_OP(m, op)->src = TMI_OP(m, like)->src;
    }
    return op;
}

/* -- Walking ---------------------------------------------------------------------------
 * All ops below `root` in order, an op before those in its regions, without recursion. */
static uint32_t tmi_walk_next(const tmi_module *m, uint32_t root, uint32_t op) {
    const tmi_op *o = TMI_OP(m, op);
    uint32_t      r, b;
    for (r = o->region; r; r = TMI_REGION(m, r)->next)
        for (b = TMI_REGION(m, r)->first_block; b; b = TMI_BLOCK(m, b)->next)
            if (TMI_BLOCK(m, b)->first_op) return TMI_BLOCK(m, b)->first_op;
    for (;;) {
        if (op == root) return 0;
        o = TMI_OP(m, op);
        if (o->next) return o->next;
        b = o->block;
        op = tmi_block_op(m, b);
        r = TMI_BLOCK(m, b)->region;
        for (b = TMI_BLOCK(m, b)->next;; b = TMI_REGION(m, r)->first_block) {
            for (; b; b = TMI_BLOCK(m, b)->next)
                if (TMI_BLOCK(m, b)->first_op) return TMI_BLOCK(m, b)->first_op;
            r = TMI_REGION(m, r)->next;
            if (!r) break;
        }
    }
}

/* Replace every use of a value below `root`. */
static void tmi_replace_uses(tmi_module *m, uint32_t root, uint32_t from, uint32_t to) {
    uint32_t op, i, k;
    for (op = tmi_walk_next(m, root, root); op; op = tmi_walk_next(m, root, op)) {
        const tmi_op *o = TMI_OP(m, op);
        for (i = 0; i < o->n_in; i++)
            if (TMI_ID(m, o->in + i) == from) TMI_ID(m, o->in + i) = to;
        for (k = 0; k < o->n_succ; k++) {
            const tmi_succ *s = TMI_SUCC(m, o->succ + k);
            for (i = 0; i < s->n_in; i++)
                if (TMI_ID(m, s->in + i) == from) TMI_ID(m, s->in + i) = to;
        }
    }
}

/*==============================================================================
 * >>parse  [9]  Text to IR: lexer, types, attributes, places, ops
 *
 * gives   tmi_parse_module()
 * uses    >>base  >>diag  >>ops  >>ir
 * order   one pass over the text; values and blocks may be used before they are defined
 *
 * Ops are stored as MLIR's generic form has them: operands, results, attributes by their generic
 * names, regions. Old spellings become the newest one here, so no later floor knows of versions.
 *============================================================================*/

/* -- Lexer ------------------------------------------------------------------------ */

typedef enum tmi_tok_kind {
    TMI_K_END,
    TMI_K_PUNCT,  /* `punct` is the character; '>' with len 2 is -> and ':' with len 2 is :: */
    TMI_K_WORD,   /* bare id: keywords, op names */
    TMI_K_VALUE,  /* %x, len without #k; `sub` is k */
    TMI_K_BLOCK,  /* ^bb0 */
    TMI_K_SYMBOL, /* @f, @"f" */
    TMI_K_HASH,   /* #alias or #dialect.attr */
    TMI_K_BANG,   /* !alias or !dialect.type */
    TMI_K_INT,
    TMI_K_HEX,
    TMI_K_FLOAT,
    TMI_K_STRING
} tmi_tok_kind;

typedef struct tmi_tok {
    uint8_t  kind;
    char     punct;
    uint8_t  first; /* first on its line */
    uint32_t at, len, sub;
} tmi_tok;

/* Names in scope: a chain per name, innermost first. */
typedef struct tmi_binding {
    uint32_t name, id;    /* value or block */
    uint32_t outer;       /* the binding that this one hides */
    uint32_t region;      /* serial number of the region that it belongs to */
} tmi_binding;

typedef struct tmi_map { /* non-zero id to id */
    uint32_t *key, *val;
    uint32_t  n, cap;
} tmi_map;

#define TMI_OP_SLOTS 512u /* twice the op table */
TMI_STATIC_ASSERT(op_slots_suffice, TMI_OP_COUNT * 2 < TMI_OP_SLOTS);

typedef struct tmi_parser {
    tmi_job    *job;
    tmi_module *m;
    const char *src;
    uint32_t    len, pos;
    tmi_tok     tok;
    int         bad;          /* the op being read is wrong: give up on it */
    uint32_t    block;        /* where ops go */
    uint32_t    region;       /* serial of the region being read */
    uint32_t    n_regions;    /* serials handed out */
    uint32_t    func_region;  /* serial of the innermost isolated region */
    tmi_map     values, blocks, aliases;
    uint16_t   *op_slot;      /* hash of op names, TMI_OP_SLOTS entries */
    tmi_vec     bindings;     /* tmi_binding */
    tmi_vec     log;          /* uint32_t: bindings in order, to be undone at a region's end */
    tmi_vec     forward;      /* uint32_t pairs: value or block used before definition, where */
    tmi_vec     stack;        /* uint32_t: operands and types being collected */
    uint32_t    n_stack;
} tmi_parser;

static uint32_t *tmi_map_at(tmi_job *job, tmi_map *t, uint32_t key) {
    uint32_t k, i;
    if (t->n * 4 >= t->cap * 3) {
        tmi_map old = *t;
        t->cap = old.cap ? old.cap * 2 : TMI_FIRST < 4 ? 4 : TMI_FIRST;
        t->key = TMI_NEW(job, uint32_t, t->cap);
        t->val = TMI_NEW(job, uint32_t, t->cap);
        for (i = 0; i < old.cap; i++) {
            if (!old.key[i]) continue;
            for (k = (old.key[i] * 0x9E3779B1u) & (t->cap - 1); t->key[k]; k = (k + 1) & (t->cap - 1)) {}
            t->key[k] = old.key[i];
            t->val[k] = old.val[i];
        }
    }
    for (k = (key * 0x9E3779B1u) & (t->cap - 1); t->key[k]; k = (k + 1) & (t->cap - 1))
        if (t->key[k] == key) return &t->val[k];
    t->key[k] = key;
    t->n++;
    return &t->val[k];
}

static uint32_t tmi_map_get(const tmi_map *t, uint32_t key) {
    uint32_t k;
    if (!t->cap) return 0;
    for (k = (key * 0x9E3779B1u) & (t->cap - 1); t->key[k]; k = (k + 1) & (t->cap - 1))
        if (t->key[k] == key) return t->val[k];
    return 0;
}

static int tmi_is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int tmi_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int tmi_is_hex(char c) {
    return tmi_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* bare-id ::= (letter | '_') (letter | digit | '_' | '$' | '.')* */
static int tmi_is_word_char(char c) {
    return tmi_is_letter(c) || tmi_is_digit(c) || c == '_' || c == '$' || c == '.';
}

static char tmi_peek_at(const tmi_parser *p, uint32_t pos) {
    return pos < p->len ? p->src[pos] : '\0';
}

static tmi_at tmi_at_src(uint32_t pos) {
    tmi_at at;
    memset(&at, 0, sizeof at);
    at.src = pos + 1;
    return at;
}

static const char *tmi_tok_text(tmi_parser *p, const tmi_tok *tok) {
    uint32_t n = tok->len > 40 ? 40 : tok->len;
    char    *s = TMI_NEW(p->job, char, n + 3);
    if (tok->kind == TMI_K_END) return "the end of the text";
    s[0] = '\'';
    memcpy(s + 1, p->src + tok->at, n);
    s[n + 1] = '\'';
    return s;
}

static void tmi_expected(tmi_parser *p, const char *what) {
    if (!p->bad) tmi_error(p->job, tmi_at_src(p->tok.at), TMETAL_E_EXPECTED, what, tmi_tok_text(p, &p->tok));
    p->bad = 1;
}

static uint32_t tmi_lex_blank(tmi_parser *p, uint32_t at, int *newline) {
    for (;; at++) {
        char c = tmi_peek_at(p, at);
        if (c == '\n') *newline = 1;
        else if (c == '/' && tmi_peek_at(p, at + 1) == '/') {
            while (at < p->len && p->src[at] != '\n') at++;
            at--;
        } else if (c != ' ' && c != '\t' && c != '\r' && !(c == '\0' && at < p->len)) return at;
    }
}

static uint32_t tmi_lex_number(tmi_parser *p, uint32_t at) {
    if (p->src[at] == '0' && tmi_peek_at(p, at + 1) == 'x' && tmi_is_hex(tmi_peek_at(p, at + 2))) {
        for (at += 2; tmi_is_hex(tmi_peek_at(p, at)); at++) {}
        p->tok.kind = TMI_K_HEX;
        return at;
    }
    while (tmi_is_digit(tmi_peek_at(p, at))) at++;
    p->tok.kind = TMI_K_INT;
    if (tmi_peek_at(p, at) != '.') return at;
    p->tok.kind = TMI_K_FLOAT;
    for (at++; tmi_is_digit(tmi_peek_at(p, at)); at++) {}
    if (tmi_peek_at(p, at) == 'e' || tmi_peek_at(p, at) == 'E') {
        uint32_t e = at + 1;
        if (tmi_peek_at(p, e) == '+' || tmi_peek_at(p, e) == '-') e++;
        if (tmi_is_digit(tmi_peek_at(p, e)))
            for (at = e; tmi_is_digit(tmi_peek_at(p, at)); at++) {}
    }
    return at;
}

/* The end of a string that starts at `at`; escapes stay as they are. */
static uint32_t tmi_lex_string(tmi_parser *p, uint32_t at) {
    uint32_t start = at++;
    for (; at < p->len && p->src[at] != '"' && p->src[at] != '\n'; at++)
        if (p->src[at] == '\\') at++;
    if (at < p->len && p->src[at] == '"') return at + 1;
    if (!p->bad) tmi_error(p->job, tmi_at_src(start), TMETAL_E_BAD_STRING);
    p->bad = 1;
    return at < p->len ? at : p->len;
}

/* suffix-id ::= digit+ | (letter | [$._-]) (letter | digit | [$._-])* */
static uint32_t tmi_lex_suffix(const tmi_parser *p, uint32_t at) {
    char c = tmi_peek_at(p, at);
    if (tmi_is_digit(c)) {
        while (tmi_is_digit(tmi_peek_at(p, at))) at++;
        return at;
    }
    while (tmi_is_word_char(c) || c == '-') c = tmi_peek_at(p, ++at);
    return at;
}

static uint32_t tmi_lex_sigil(tmi_parser *p, uint32_t at) {
    uint32_t end = p->src[at] == '@' && tmi_peek_at(p, at + 1) == '"' ? tmi_lex_string(p, at + 1)
                                                                       : tmi_lex_suffix(p, at + 1);
    switch (p->src[at]) {
    case '%': p->tok.kind = TMI_K_VALUE; break;
    case '^': p->tok.kind = TMI_K_BLOCK; break;
    case '@': p->tok.kind = TMI_K_SYMBOL; break;
    case '#': p->tok.kind = TMI_K_HASH; break;
    default: p->tok.kind = TMI_K_BANG; break;
    }
    return end;
}

static void tmi_lex_bad_char(tmi_parser *p, uint32_t at) {
    char     s[8];
    unsigned c = (unsigned char)p->src[at];
    s[0] = '\'';
    s[1] = c >= 32 && c < 127 ? (char)c : '?';
    s[2] = '\'';
    s[3] = '\0';
    if (!p->bad) tmi_error(p->job, tmi_at_src(at), TMETAL_E_BAD_CHAR, s);
    p->bad = 1;
}

/* Read the next token into p->tok. */
static void tmi_next(tmi_parser *p) {
    int      newline = p->pos == 0;
    uint32_t at = tmi_lex_blank(p, p->pos, &newline), end = at + 1;
    char     c = tmi_peek_at(p, at);

    memset(&p->tok, 0, sizeof p->tok);
    p->tok.at = at;
    p->tok.first = (uint8_t)newline;
    if (at >= p->len) {
        p->pos = p->len;
        p->tok.at = p->len;
        return;
    }
    if (tmi_is_letter(c) || c == '_') {
        p->tok.kind = TMI_K_WORD;
        while (tmi_is_word_char(tmi_peek_at(p, end))) end++;
    } else if (tmi_is_digit(c)) {
        end = tmi_lex_number(p, at);
    } else if (c == '%' || c == '^' || c == '@' || c == '#' || c == '!') {
        end = tmi_lex_sigil(p, at);
    } else if (c == '"') {
        p->tok.kind = TMI_K_STRING;
        end = tmi_lex_string(p, at);
    } else if (strchr("(){}[]<>,:=*-+?|/", c)) {
        p->tok.kind = TMI_K_PUNCT;
        p->tok.punct = c;
        if (c == '-' && tmi_peek_at(p, end) == '>') p->tok.punct = '>', end++;
        else if (c == ':' && tmi_peek_at(p, end) == ':') end++;
    } else {
        tmi_lex_bad_char(p, at);
        p->tok.kind = TMI_K_PUNCT;
    }
    p->tok.len = end - at;
    p->pos = end;
    if (p->tok.kind == TMI_K_VALUE && tmi_peek_at(p, end) == '#' && tmi_is_digit(tmi_peek_at(p, end + 1))) {
        for (end++; tmi_is_digit(tmi_peek_at(p, end)); end++)
            p->tok.sub = p->tok.sub > 99999 ? p->tok.sub : p->tok.sub * 10 + (uint32_t)(p->src[end] - '0');
        p->pos = end;
    }
}

static int tmi_at_punct(const tmi_parser *p, char c) {
    return p->tok.kind == TMI_K_PUNCT && p->tok.punct == c && p->tok.len == 1;
}

static int tmi_at_arrow(const tmi_parser *p) {
    return p->tok.kind == TMI_K_PUNCT && p->tok.punct == '>' && p->tok.len == 2;
}

static int tmi_at_word(const tmi_parser *p, const char *word) {
    size_t n = strlen(word);
    return p->tok.kind == TMI_K_WORD && p->tok.len == n && memcmp(p->src + p->tok.at, word, n) == 0;
}

static int tmi_skip_punct(tmi_parser *p, char c) {
    if (!tmi_at_punct(p, c)) return 0;
    tmi_next(p);
    return 1;
}

static int tmi_skip_word(tmi_parser *p, const char *word) {
    if (!tmi_at_word(p, word)) return 0;
    tmi_next(p);
    return 1;
}

static void tmi_want_punct(tmi_parser *p, char c) {
    char what[4];
    if (tmi_skip_punct(p, c)) return;
    what[0] = what[2] = '\'';
    what[1] = c;
    what[3] = '\0';
    tmi_expected(p, what);
}

static void tmi_want_arrow(tmi_parser *p) {
    if (tmi_at_arrow(p)) tmi_next(p);
    else tmi_expected(p, "'->'");
}

static int tmi_enter(tmi_parser *p) { /* one level deeper; pair with tmi_exit */
    if (++p->job->depth <= TMI_MAX_DEPTH) return 1;
    if (!p->bad) tmi_error(p->job, tmi_at_src(p->tok.at), TMETAL_E_NESTING, TMI_MAX_DEPTH);
    p->bad = 1;
    return 0;
}

static void tmi_exit(tmi_parser *p) {
    p->job->depth--;
}

static uint32_t tmi_intern_src(tmi_parser *p, uint32_t at, uint32_t len) {
    return tmi_intern(p->job, &p->m->strings, p->src + at, len);
}

/* A string token without quotes and escapes. */
static uint32_t tmi_parse_string(tmi_parser *p) {
    const char *s = p->src + p->tok.at;
    uint32_t    n = p->tok.len, i, k = 0, id;
    tmi_mark    mark = tmi_mark_take(p->job);
    char       *out;
    if (p->tok.kind != TMI_K_STRING) {
        tmi_expected(p, "a string");
        return 0;
    }
    out = TMI_TEMP(p->job, char, n);
    for (i = 1; i + 1 < n; i++) {
        if (s[i] != '\\' || i + 2 >= n) out[k++] = s[i];
        else if (tmi_is_hex(s[i + 1]) && tmi_is_hex(s[i + 2])) {
            int hi = s[i + 1] | 32, lo = s[i + 2] | 32;
            hi = hi >= 'a' ? hi - 'a' + 10 : hi - '0';
            lo = lo >= 'a' ? lo - 'a' + 10 : lo - '0';
            if (s[i + 1] <= '9') hi = s[i + 1] - '0';
            if (s[i + 2] <= '9') lo = s[i + 2] - '0';
            out[k++] = (char)(hi * 16 + lo);
            i += 2;
        } else {
            i++;
            out[k++] = (char)(s[i] == 'n' ? '\n' : s[i] == 't' ? '\t' : s[i]);
        }
    }
    id = tmi_intern(p->job, &p->m->strings, out, k);
    tmi_mark_drop(p->job, mark);
    tmi_next(p);
    return id;
}

/* symbol ::= '@' (bare-id | string) */
static uint32_t tmi_parse_symbol(tmi_parser *p) {
    uint32_t id;
    if (p->tok.kind != TMI_K_SYMBOL) {
        tmi_expected(p, "a symbol such as @name");
        return 0;
    }
    if (p->src[p->tok.at + 1] == '"') {
        p->tok.kind = TMI_K_STRING;
        p->tok.at++;
        p->tok.len--;
        return tmi_parse_string(p);
    }
    id = tmi_intern_src(p, p->tok.at + 1, p->tok.len - 1);
    tmi_next(p);
    return id;
}

/* An unsigned integer token; for sizes and indices. */
static uint32_t tmi_parse_u32(tmi_parser *p) {
    uint64_t v = 0;
    uint32_t i;
    if (p->tok.kind != TMI_K_INT) {
        tmi_expected(p, "a number");
        return 0;
    }
    for (i = 0; i < p->tok.len && v <= 0xffffffffu; i++) v = v * 10 + (uint64_t)(p->src[p->tok.at + i] - '0');
    if (v > 0xffffffffu) {
        if (!p->bad)
            tmi_error(p->job, tmi_at_src(p->tok.at), TMETAL_E_BAD_NUMBER, tmi_tok_text(p, &p->tok), "32 bits");
        p->bad = 1;
        v = 0;
    }
    tmi_next(p);
    return (uint32_t)v;
}

/* Text from `at` to the end of a balanced <...> that starts at the current '<', interned. */
static uint32_t tmi_parse_balanced(tmi_parser *p, uint32_t at) {
    uint32_t depth = 0, end = p->tok.at;
    do {
        if (p->tok.kind == TMI_K_PUNCT && p->tok.len == 1) {
            if (strchr("<([{", p->tok.punct)) depth++;
            if (strchr(">)]}", p->tok.punct)) depth--;
        }
        if (p->tok.kind == TMI_K_END) {
            tmi_expected(p, "'>'");
            break;
        }
        end = p->tok.at + p->tok.len;
        tmi_next(p);
    } while (depth > 0 && !p->bad);
    return tmi_intern_src(p, at, end - at);
}

/* -- Types -------------------------------------------------------------------------- */

static uint32_t tmi_parse_type(tmi_parser *p);

/* dims ::= (int 'x')*, read by hand since 0x4 would be a number and 64xf16 one word. */
static uint32_t tmi_parse_dims(tmi_parser *p, uint32_t *dims) {
    uint32_t n = 0, at = p->tok.at;
    while (tmi_is_digit(tmi_peek_at(p, at))) {
        uint64_t v = 0;
        uint32_t start = at;
        for (; tmi_is_digit(tmi_peek_at(p, at)) && v <= 0xffffffffu; at++) v = v * 10 + (uint64_t)(p->src[at] - '0');
        if (tmi_peek_at(p, at) != 'x' || v > 0xffffffffu || v == 0 || n == TMI_MAX_RANK) {
            p->pos = start;
            tmi_next(p);
            tmi_expected(p, n == TMI_MAX_RANK ? "a tensor of at most 24 dimensions" : "a dimension of 1 or more such as 64x");
            return n;
        }
        dims[n++] = (uint32_t)v;
        at++;
    }
    p->pos = at;
    tmi_next(p);
    return n;
}

/* tensor ::= 'tensor' '<' dims type [',' encoding] '>' ; vector likewise */
static uint32_t tmi_parse_shaped(tmi_parser *p, int kind) {
    uint32_t dims[TMI_MAX_RANK];
    tmi_type t;
    memset(&t, 0, sizeof t);
    t.kind = (uint8_t)kind;
    tmi_next(p);
    if (!tmi_at_punct(p, '<')) {
        tmi_expected(p, "'<'");
        return 0;
    }
    tmi_next(p);
    t.n_dims = tmi_parse_dims(p, dims);
    t.elem = tmi_parse_type(p);
    if (tmi_skip_punct(p, ',')) {
        uint32_t at = p->tok.at, end = at, depth = 0;
        while (p->tok.kind != TMI_K_END && (depth || !tmi_at_punct(p, '>'))) {
            if (p->tok.kind == TMI_K_PUNCT && p->tok.len == 1) {
                if (strchr("<([{", p->tok.punct)) depth++;
                else if (strchr(">)]}", p->tok.punct)) depth--;
            }
            end = p->tok.at + p->tok.len;
            tmi_next(p);
        }
        t.text = tmi_intern_src(p, at, end - at);
    }
    tmi_want_punct(p, '>');
    return p->bad ? 0 : tmi_type_get(p->job, p->m, &t, dims);
}

/* ptr ::= '<' type [',' int] '>' after '!tt.ptr' or where only a pointer can stand */
static uint32_t tmi_parse_ptr_body(tmi_parser *p) {
    uint32_t elem, space = 1;
    tmi_want_punct(p, '<');
    elem = tmi_parse_type(p);
    if (tmi_skip_punct(p, ',')) space = tmi_parse_u32(p);
    tmi_want_punct(p, '>');
    return p->bad ? 0 : tmi_type_ptr(p->job, p->m, elem, space & 255);
}

/* desc ::= '<' (tensor-type | dims type [',' encoding]) '>' */
static uint32_t tmi_parse_desc_body(tmi_parser *p) {
    uint32_t dims[TMI_MAX_RANK], n;
    tmi_type t;
    memset(&t, 0, sizeof t);
    t.kind = TMI_T_DESC;
    tmi_want_punct(p, '<');
    if (p->bad) return 0;
    if (tmi_is_digit(tmi_peek_at(p, p->tok.at))) {
        n = tmi_parse_dims(p, dims);
        t.elem = tmi_type_tensor(p->job, p->m, tmi_parse_type(p), dims, n);
    } else {
        t.elem = tmi_parse_type(p);
    }
    if (tmi_at_punct(p, ',')) /* an encoding says how hardware lays the block out: nothing for us */
        while (p->tok.kind != TMI_K_END && !tmi_at_punct(p, '>')) tmi_next(p);
    tmi_want_punct(p, '>');
    return p->bad ? 0 : tmi_type_get(p->job, p->m, &t, NULL);
}

static uint32_t tmi_parse_bang(tmi_parser *p) {
    uint32_t at = p->tok.at, name = tmi_intern_src(p, at, p->tok.len), alias;
    const char *s = TMI_STR(p->m, name);
    tmi_type t;
    tmi_next(p);
    if (strcmp(s, "!tt.ptr") == 0) return tmi_parse_ptr_body(p);
    if (strcmp(s, "!tt.tensordesc") == 0) return tmi_parse_desc_body(p);
    alias = tmi_map_get(&p->aliases, name);
    if (alias) return alias;
    memset(&t, 0, sizeof t);
    t.kind = TMI_T_OPAQUE;
    t.text = tmi_at_punct(p, '<') ? tmi_parse_balanced(p, at) : name;
    return p->bad ? 0 : tmi_type_get(p->job, p->m, &t, NULL);
}

static uint32_t tmi_parse_type_list(tmi_parser *p);

/* fn-type ::= '(' types ')' '->' (type | '(' types ')') */
static uint32_t tmi_parse_fn_type(tmi_parser *p) {
    uint32_t  base = p->n_stack, n_in, n, i, id;
    uint32_t *dims;
    tmi_mark  mark;
    tmi_type  t;
    n_in = tmi_parse_type_list(p);
    tmi_want_arrow(p);
    n = n_in + tmi_parse_type_list(p);
    memset(&t, 0, sizeof t);
    t.kind = TMI_T_FUNC;
    t.bits = n_in;
    t.n_dims = n;
    mark = tmi_mark_take(p->job);
    dims = TMI_TEMP(p->job, uint32_t, n);
    for (i = 0; i < n; i++) dims[i] = *TMI_AT(&p->stack, uint32_t, base + i);
    p->n_stack = base;
    id = p->bad ? 0 : tmi_type_get(p->job, p->m, &t, dims);
    tmi_mark_drop(p->job, mark);
    return id;
}

/* Word types: i32, f16, index, ... */
static uint32_t tmi_parse_word_type(tmi_parser *p) {
    const char *s = p->src + p->tok.at;
    uint32_t    n = p->tok.len, i, bits = 0;
    int         sign = s[0] == 's' ? 1 : s[0] == 'u' ? 2 : 0;
    uint32_t    skip = sign ? 2 : 1;

    for (i = 0; i < TMI_F_COUNT; i++)
        if (strlen(tmi_float_names[i]) == n && memcmp(tmi_float_names[i], s, n) == 0) {
            tmi_next(p);
            return p->m->t_float[i];
        }
    if (tmi_skip_word(p, "index")) return p->m->t_index;
    if (tmi_skip_word(p, "none")) return p->m->t_none;
    if (s[skip - 1] == 'i' && n > skip && n < skip + 4) {
        for (i = skip; i < n && tmi_is_digit(s[i]); i++) bits = bits * 10 + (uint32_t)(s[i] - '0');
        if (i == n && bits >= 1 && bits <= 64) {
            tmi_next(p);
            return tmi_type_int(p->job, p->m, bits, sign);
        }
    }
    if (!p->bad) {
        tmi_error(p->job, tmi_at_src(p->tok.at), TMETAL_E_UNKNOWN_TYPE, TMI_STR(p->m, tmi_intern_src(p, p->tok.at, n)));
        tmi_help(p->job, NULL, "types of Triton IR: i1 to i64, f16, bf16, f32, f64, f8..., index, tensor<...>, !tt.ptr<...>");
    }
    p->bad = 1;
    return 0;
}

/* type ::= word | tensor | vector | '!'... | fn-type */
static uint32_t tmi_parse_type(tmi_parser *p) {
    uint32_t id = 0;
    if (p->bad) return 0;
    if (!tmi_enter(p)) {
        tmi_exit(p);
        return 0;
    }
    if (tmi_at_word(p, "tensor")) id = tmi_parse_shaped(p, TMI_T_TENSOR);
    else if (tmi_at_word(p, "vector")) id = tmi_parse_shaped(p, TMI_T_VECTOR);
    else if (p->tok.kind == TMI_K_WORD) id = tmi_parse_word_type(p);
    else if (p->tok.kind == TMI_K_BANG) id = tmi_parse_bang(p);
    else if (tmi_at_punct(p, '(')) id = tmi_parse_fn_type(p);
    else tmi_expected(p, "a type");
    tmi_exit(p);
    return id;
}

/* A type that some ops print without its leading !tt.ptr or !tt.tensordesc. */
static uint32_t tmi_parse_short(tmi_parser *p, int desc) {
    if (!tmi_at_punct(p, '<')) return tmi_parse_type(p);
    return desc ? tmi_parse_desc_body(p) : tmi_parse_ptr_body(p);
}

static void tmi_push(tmi_parser *p, uint32_t id) {
    if (p->n_stack == p->stack.n) (void)tmi_vec_add(p->job, &p->stack);
    *TMI_AT(&p->stack, uint32_t, p->n_stack) = id;
    p->n_stack++;
}

static uint32_t tmi_stack(const tmi_parser *p, uint32_t i) {
    return *TMI_AT(&p->stack, uint32_t, i);
}

/* type | '(' [type (',' type)*] ')' , pushed on the stack; gives how many */
static uint32_t tmi_parse_type_list(tmi_parser *p) {
    uint32_t n = 0;
    if (!tmi_at_punct(p, '(')) {
        tmi_push(p, tmi_parse_type(p));
        return 1;
    }
    tmi_next(p);
    if (tmi_skip_punct(p, ')')) return 0;
    do {
        tmi_push(p, tmi_parse_type(p));
        n++;
    } while (tmi_skip_punct(p, ',') && !p->bad);
    tmi_want_punct(p, ')');
    return n;
}

/* type (',' type)* , pushed on the stack; gives how many */
static uint32_t tmi_parse_types(tmi_parser *p) {
    uint32_t n = 0;
    do {
        tmi_push(p, tmi_parse_type(p));
        n++;
    } while (!p->bad && tmi_skip_punct(p, ','));
    return n;
}

/* -- Places --------------------------------------------------------------------------- */

static uint32_t tmi_parse_loc_body(tmi_parser *p);

static uint32_t tmi_loc_new(tmi_parser *p, int kind) {
    uint32_t id = p->m->loc.n;
    ((tmi_loc *)tmi_vec_add(p->job, &p->m->loc))->kind = (uint8_t)kind;
    return id;
}

/* The node of an alias; made on first mention, filled when the alias line is met. */
static uint32_t tmi_loc_alias(tmi_parser *p, uint32_t name) {
    uint32_t *slot = tmi_map_at(p->job, &p->aliases, name);
    if (!*slot) {
        uint32_t id = tmi_loc_new(p, TMI_L_ALIAS);
        TMI_LOC(p->m, id)->text = name;
        *slot = id;
    }
    return *slot;
}

/* string [':' int ':' int ['to' [int] ':' int]] | string ['(' loc-body ')'] */
static uint32_t tmi_parse_loc_string(tmi_parser *p) {
    uint32_t id = tmi_loc_new(p, TMI_L_NAME), text = tmi_parse_string(p);
    tmi_loc *l = TMI_LOC(p->m, id);
    l->text = text;
    if (tmi_skip_punct(p, ':')) {
        l->kind = TMI_L_FILE;
        l->line = tmi_parse_u32(p);
        tmi_want_punct(p, ':');
        l->col = tmi_parse_u32(p);
        if (tmi_skip_word(p, "to")) {
            l->to_line = p->tok.kind == TMI_K_INT ? tmi_parse_u32(p) : l->line;
            tmi_want_punct(p, ':');
            l->to_col = tmi_parse_u32(p);
        }
    } else if (tmi_skip_punct(p, '(')) {
        l->child = tmi_parse_loc_body(p);
        tmi_want_punct(p, ')');
    }
    return id;
}

/* 'fused' ['<' attribute '>'] '[' [loc (',' loc)*] ']' */
static uint32_t tmi_parse_loc_fused(tmi_parser *p) {
    uint32_t id = tmi_loc_new(p, TMI_L_FUSED), base = p->n_stack, i;
    tmi_next(p);
    if (tmi_at_punct(p, '<')) {
        uint32_t text = tmi_parse_balanced(p, p->tok.at);
        TMI_LOC(p->m, id)->text = text;
    }
    tmi_want_punct(p, '[');
    if (!tmi_at_punct(p, ']')) {
        do tmi_push(p, tmi_parse_loc_body(p));
        while (!p->bad && tmi_skip_punct(p, ','));
    }
    tmi_want_punct(p, ']');
    TMI_LOC(p->m, id)->child = p->m->ids.n;
    TMI_LOC(p->m, id)->line = p->n_stack - base; /* how many */
    for (i = base; i < p->n_stack; i++) *(uint32_t *)tmi_vec_add(p->job, &p->m->ids) = tmi_stack(p, i);
    p->n_stack = base;
    return id;
}

static uint32_t tmi_parse_loc_body(tmi_parser *p) {
    uint32_t id = 0;
    if (!tmi_enter(p)) {
        tmi_exit(p);
        return 0;
    }
    if (p->tok.kind == TMI_K_HASH) {
        id = tmi_loc_alias(p, tmi_intern_src(p, p->tok.at, p->tok.len));
        tmi_next(p);
    } else if (tmi_skip_word(p, "unknown")) {
        id = tmi_loc_new(p, TMI_L_UNKNOWN);
    } else if (p->tok.kind == TMI_K_STRING) {
        id = tmi_parse_loc_string(p);
    } else if (tmi_skip_word(p, "callsite")) {
        uint32_t callee, caller;
        id = tmi_loc_new(p, TMI_L_CALL);
        tmi_want_punct(p, '(');
        callee = tmi_parse_loc_body(p);
        if (!tmi_skip_word(p, "at")) tmi_expected(p, "'at'");
        caller = p->bad ? 0 : tmi_parse_loc_body(p);
        tmi_want_punct(p, ')');
        TMI_LOC(p->m, id)->child = callee;
        TMI_LOC(p->m, id)->other = caller;
    } else if (tmi_at_word(p, "fused")) {
        id = tmi_parse_loc_fused(p);
    } else {
        tmi_expected(p, "a location");
    }
    tmi_exit(p);
    return id;
}

/* ['loc' '(' loc-body ')']: 0 when there is none */
static uint32_t tmi_parse_loc(tmi_parser *p) {
    uint32_t id;
    if (p->bad || !tmi_skip_word(p, "loc")) return 0;
    tmi_want_punct(p, '(');
    id = p->bad ? 0 : tmi_parse_loc_body(p);
    tmi_want_punct(p, ')');
    return id;
}

/* -- Attributes ------------------------------------------------------------------------- */

static uint32_t tmi_parse_attr(tmi_parser *p);
static uint32_t tmi_parse_dict(tmi_parser *p);

static uint64_t tmi_hex_value(tmi_parser *p, const tmi_tok *tok, int *over) {
    uint64_t v = 0;
    uint32_t i;
    for (i = 2; i < tok->len; i++) {
        char c = p->src[tok->at + i];
        if (v >> 60) *over = 1;
        v = v * 16 + (uint64_t)(tmi_is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    return v;
}

static uint64_t tmi_int_value(tmi_parser *p, const tmi_tok *tok, int *over) {
    uint64_t v = 0;
    uint32_t i;
    if (tok->kind == TMI_K_HEX) return tmi_hex_value(p, tok, over);
    for (i = 0; i < tok->len; i++) {
        uint64_t d = (uint64_t)(p->src[tok->at + i] - '0');
        if (v > ((uint64_t)-1 - d) / 10) *over = 1;
        v = v * 10 + d;
    }
    return v;
}

static uint64_t tmi_decimal_value(tmi_parser *p, const tmi_tok *tok, int negative, const tmi_float_format *f) {
    uint64_t digits = 0;
    int      e10 = 0, point = 0, more = 0, e = 0, esign = 0;
    uint32_t i;
    for (i = 0; i < tok->len; i++) {
        char c = p->src[tok->at + i];
        if (c == '.') point = 1;
        else if (c == 'e' || c == 'E') break;
        else if (digits < 1000000000000000000u) {
            digits = digits * 10 + (uint64_t)(c - '0');
            e10 -= point;
        } else {
            more |= c != '0';
            e10 += !point;
        }
    }
    for (i++; i < tok->len; i++) {
        char c = p->src[tok->at + i];
        if (c == '-') esign = 1;
        else if (c != '+' && e < 100000) e = e * 10 + (c - '0');
    }
    return tmi_float_from_decimal(f, negative, digits, e10 + (esign ? -e : e), more);
}

/* The bits of one number token in an element type: decimal, or hex bits of a float. */
static uint64_t tmi_number_bits(tmi_parser *p, const tmi_tok *tok, int negative, uint32_t type) {
    const tmi_type *t = TMI_TYPE(p->m, type);
    int             over = 0;
    uint64_t        v;
    if (t->kind == TMI_T_FLOAT && tok->kind == TMI_K_FLOAT)
        return tmi_decimal_value(p, tok, negative, &tmi_float_formats[t->format]);
    if (t->kind == TMI_T_FLOAT && tok->kind == TMI_K_HEX && !negative) {
        v = tmi_hex_value(p, tok, &over);
        if (!over && tmi_zext(v, t->bits) == v) return v;
    } else if ((t->kind == TMI_T_INT || t->kind == TMI_T_INDEX) && tok->kind != TMI_K_FLOAT) {
        v = tmi_int_value(p, tok, &over);
        if (negative && v > (uint64_t)1 << (t->bits - 1)) over = 1;
        if (!negative && tmi_zext(v, t->bits) != v) over = 1;
        if (negative) v = 0 - v;
        if (!over) return (uint64_t)tmi_sext(v, t->bits);
    }
    if (!p->bad)
        tmi_error(p->job, tmi_at_src(tok->at), TMETAL_E_BAD_NUMBER, tmi_tok_text(p, tok), tmi_type_text(p->job, p->m, type));
    p->bad = 1;
    return 0;
}

/* ['-'] (int | float) [':' type] */
static uint32_t tmi_parse_number(tmi_parser *p) {
    int      negative = tmi_skip_punct(p, '-');
    tmi_tok  tok = p->tok;
    uint32_t type, kind;
    if (tok.kind != TMI_K_INT && tok.kind != TMI_K_HEX && tok.kind != TMI_K_FLOAT) {
        tmi_expected(p, "a number");
        return 0;
    }
    tmi_next(p);
    if (tmi_skip_punct(p, ':')) type = tmi_parse_type(p);
    else type = tok.kind == TMI_K_FLOAT ? p->m->t_float[TMI_F_F64] : p->m->t_i64;
    if (p->bad) return 0;
    kind = TMI_TYPE(p->m, type)->kind == TMI_T_FLOAT ? TMI_A_FLOAT : TMI_A_INT;
    return tmi_attr_new(p->job, p->m, (int)kind, type, tmi_number_bits(p, &tok, negative, type));
}

/* One scalar of dense<...> or array<...> in element type; appended to module->words. */
static void tmi_parse_scalar(tmi_parser *p, uint32_t type) {
    uint64_t v;
    if (tmi_at_word(p, "true") || tmi_at_word(p, "false")) {
        v = tmi_at_word(p, "true") ? (uint64_t)-1 : 0;
        if (TMI_TYPE(p->m, type)->kind != TMI_T_INT) tmi_expected(p, "a number");
        tmi_next(p);
    } else {
        int     negative = tmi_skip_punct(p, '-');
        tmi_tok tok = p->tok;
        if (tok.kind != TMI_K_INT && tok.kind != TMI_K_HEX && tok.kind != TMI_K_FLOAT) {
            tmi_expected(p, "a number");
            return;
        }
        tmi_next(p);
        v = tmi_number_bits(p, &tok, negative, type);
    }
    if (!p->bad) *(uint64_t *)tmi_vec_add(p->job, &p->m->words) = v;
}

/* elems ::= scalar | '[' [elems (',' elems)*] ']' */
static void tmi_parse_elems(tmi_parser *p, uint32_t type) {
    if (!tmi_at_punct(p, '[')) {
        tmi_parse_scalar(p, type);
        return;
    }
    tmi_next(p);
    if (tmi_enter(p) && !tmi_at_punct(p, ']')) {
        do tmi_parse_elems(p, type);
        while (!p->bad && tmi_skip_punct(p, ','));
    }
    tmi_exit(p);
    tmi_want_punct(p, ']');
}

static int tmi_hex_digit(char c) {
    return tmi_is_digit(c) ? c - '0' : tmi_is_hex(c) ? (c | 32) - 'a' + 10 : -1;
}

/* dense<"0x..."> : little-endian bytes; i1 one bit an element, or one byte of all ones or zeros */
static void tmi_parse_blob(tmi_parser *p, const tmi_tok *tok, uint32_t elem, uint64_t n) {
    uint32_t    bits = tmi_bits(p->m, elem), bytes = bits <= 8 ? 1 : bits / 8, i, k;
    uint32_t    have = tok->len > 4 ? (tok->len - 4) / 2 : 0; /* "0x" and the quotes */
    const char *s = p->src + tok->at + 3;
    uint64_t    e, want = bits == 1 ? (n + 7) / 8 : n * bytes;

    if (bits == 1 && have == 1 && n > 8) want = 1;
    if (have != want && have != bytes) {
        if (!p->bad)
            tmi_error(p->job, tmi_at_src(tok->at), TMETAL_E_DENSE, (unsigned long long)(have / bytes), "",
                      (unsigned long long)n);
        p->bad = 1;
        return;
    }
    if (have == bytes && have != want) n = 1; /* a splat */
    for (e = 0; e < n && !p->bad; e++) {
        uint64_t v = 0;
        if (bits == 1) {
            uint32_t at = want == 1 && n > 8 ? 0 : (uint32_t)(e / 8);
            int      byte = tmi_hex_digit(s[2 * at]) * 16 + tmi_hex_digit(s[2 * at + 1]);
            v = want == 1 && n > 8 ? (byte ? (uint64_t)-1 : 0) : ((byte >> (e % 8)) & 1) ? (uint64_t)-1 : 0;
        } else {
            for (k = bytes; k-- > 0;) {
                i = (uint32_t)(e * bytes + k);
                v = v << 8 | (uint64_t)((tmi_hex_digit(s[2 * i]) * 16 + tmi_hex_digit(s[2 * i + 1])) & 255);
            }
            if (tmi_is_intlike(p->m, elem)) v = (uint64_t)tmi_sext(v, bits);
        }
        *(uint64_t *)tmi_vec_add(p->job, &p->m->words) = v;
    }
}

/* The type after a constant's text, without moving: elements cannot be read before it is known. */
static uint32_t tmi_type_after(tmi_parser *p, uint32_t depth) {
    uint32_t pos = p->pos, type;
    tmi_tok  tok = p->tok;
    while (p->tok.kind != TMI_K_END && depth > 0) {
        if (p->tok.kind == TMI_K_PUNCT && p->tok.len == 1) {
            if (p->tok.punct == '<') depth++;
            if (p->tok.punct == '>') depth--;
        }
        tmi_next(p);
    }
    tmi_want_punct(p, ':');
    type = tmi_parse_type(p);
    p->pos = pos;
    p->tok = tok;
    return type;
}

/* 'dense' '<' [elems | string] '>' ':' type */
static uint32_t tmi_parse_dense(tmi_parser *p) {
    uint32_t id, type, first, n, elem;
    uint32_t at = p->tok.at;
    uint64_t numel;
    tmi_next(p);
    tmi_want_punct(p, '<');
    if (p->bad) return 0;
    type = tmi_type_after(p, 1);
    if (p->bad || !type) return 0;
    elem = TMI_TYPE(p->m, type)->kind == TMI_T_VECTOR ? TMI_TYPE(p->m, type)->elem : tmi_elem(p->m, type);
    numel = tmi_numel(p->m, type);
    first = p->m->words.n;
    if (p->tok.kind == TMI_K_STRING) {
        tmi_parse_blob(p, &p->tok, elem, numel > TMI_MAX_NUMEL ? 0 : numel);
        tmi_next(p);
    } else if (!tmi_at_punct(p, '>')) {
        tmi_parse_elems(p, elem);
    }
    tmi_want_punct(p, '>');
    tmi_want_punct(p, ':');
    (void)tmi_parse_type(p);
    n = p->m->words.n - first;
    if (!p->bad && n != 1 && n != numel) {
        tmi_error(p->job, tmi_at_src(at), TMETAL_E_DENSE, (unsigned long long)n, tmi_type_text(p->job, p->m, type),
                  (unsigned long long)numel);
        p->bad = 1;
    }
    id = tmi_attr_new(p->job, p->m, TMI_A_DENSE, type, first);
    TMI_ATTR(p->m, id)->n = n;
    return id;
}

/* 'array' '<' type [':' scalar (',' scalar)*] '>' */
static uint32_t tmi_parse_list(tmi_parser *p) {
    uint32_t id, type, first;
    tmi_next(p);
    tmi_want_punct(p, '<');
    type = tmi_parse_type(p);
    first = p->m->words.n;
    if (!p->bad && tmi_skip_punct(p, ':')) {
        do tmi_parse_scalar(p, type);
        while (!p->bad && tmi_skip_punct(p, ','));
    }
    tmi_want_punct(p, '>');
    id = tmi_attr_new(p->job, p->m, TMI_A_LIST, type, first);
    TMI_ATTR(p->m, id)->n = p->m->words.n - first;
    return id;
}

/* '[' [attribute (',' attribute)*] ']' */
static uint32_t tmi_parse_array(tmi_parser *p) {
    uint32_t id, base = p->n_stack, i;
    tmi_next(p);
    if (!tmi_at_punct(p, ']')) {
        do tmi_push(p, tmi_parse_attr(p));
        while (!p->bad && tmi_skip_punct(p, ','));
    }
    tmi_want_punct(p, ']');
    id = tmi_attr_new(p->job, p->m, TMI_A_ARRAY, 0, p->m->ids.n);
    TMI_ATTR(p->m, id)->n = p->n_stack - base;
    for (i = base; i < p->n_stack; i++) *(uint32_t *)tmi_vec_add(p->job, &p->m->ids) = tmi_stack(p, i);
    p->n_stack = base;
    return id;
}

/* '#' bare-id ['<' balanced '>'] or an alias */
static uint32_t tmi_parse_hash_attr(tmi_parser *p) {
    uint32_t at = p->tok.at, name = tmi_intern_src(p, at, p->tok.len), alias;
    tmi_next(p);
    alias = tmi_map_get(&p->aliases, name);
    if (alias) return alias;
    return tmi_attr_new(p->job, p->m, TMI_A_OPAQUE, 0,
                        tmi_at_punct(p, '<') ? tmi_parse_balanced(p, at) : name);
}

static uint32_t tmi_parse_string_attr(tmi_parser *p) {
    uint32_t text = tmi_parse_string(p), type = 0;
    if (!p->bad && tmi_skip_punct(p, ':')) type = tmi_parse_type(p);
    return tmi_attr_new(p->job, p->m, TMI_A_STRING, type, text);
}

/* The attributes that are not numbers; sheet 1.6. */
static uint32_t tmi_parse_other_attr(tmi_parser *p) {
    if (tmi_skip_word(p, "true")) return tmi_attr_new(p->job, p->m, TMI_A_BOOL, p->m->t_i1, 1);
    if (tmi_skip_word(p, "false")) return tmi_attr_new(p->job, p->m, TMI_A_BOOL, p->m->t_i1, 0);
    if (tmi_skip_word(p, "unit")) return tmi_attr_new(p->job, p->m, TMI_A_UNIT, 0, 0);
    if (tmi_at_word(p, "dense")) return tmi_parse_dense(p);
    if (tmi_at_word(p, "array")) return tmi_parse_list(p);
    if (tmi_at_word(p, "dense_resource")) {
        uint32_t at = p->tok.at, text;
        tmi_next(p);
        text = tmi_parse_balanced(p, at);
        tmi_want_punct(p, ':');
        return tmi_attr_new(p->job, p->m, TMI_A_OPAQUE, tmi_parse_type(p), text);
    }
    if (p->tok.kind == TMI_K_STRING) return tmi_parse_string_attr(p);
    if (p->tok.kind == TMI_K_SYMBOL) return tmi_attr_new(p->job, p->m, TMI_A_SYMBOL, 0, tmi_parse_symbol(p));
    if (p->tok.kind == TMI_K_HASH) return tmi_parse_hash_attr(p);
    if (tmi_at_punct(p, '[')) return tmi_parse_array(p);
    if (tmi_at_punct(p, '{')) return tmi_attr_new(p->job, p->m, TMI_A_DICT, 0, tmi_parse_dict(p));
    if (tmi_at_word(p, "loc")) {
        uint32_t at = p->tok.at, loc = tmi_parse_loc(p);
        (void)loc;
        return tmi_attr_new(p->job, p->m, TMI_A_OPAQUE, 0, tmi_intern_src(p, at, p->tok.at - at));
    }
    return tmi_attr_new(p->job, p->m, TMI_A_TYPE, tmi_parse_type(p), 0);
}

static uint32_t tmi_parse_attr(tmi_parser *p) {
    uint32_t id = 0;
    if (p->bad) return 0;
    if (!tmi_enter(p)) {
        tmi_exit(p);
        return 0;
    }
    if (tmi_at_punct(p, '-') || p->tok.kind == TMI_K_INT || p->tok.kind == TMI_K_HEX || p->tok.kind == TMI_K_FLOAT)
        id = tmi_parse_number(p);
    else id = tmi_parse_other_attr(p);
    tmi_exit(p);
    return id;
}

static uint32_t tmi_named_insert(tmi_parser *p, uint32_t list, uint32_t name, uint32_t attr) {
    const char *s = TMI_STR(p->m, name);
    uint32_t    id = p->m->named.n, at = list, last = 0;
    int         c = 1;
    tmi_named  *n = (tmi_named *)tmi_vec_add(p->job, &p->m->named);
    while (at && (c = strcmp(TMI_STR(p->m, TMI_NAMED(p->m, at)->name), s)) < 0) {
        last = at;
        at = TMI_NAMED(p->m, at)->next;
    }
    if (at && c == 0) {
        TMI_NAMED(p->m, at)->attr = attr;
        return list;
    }
    n->name = name;
    n->attr = attr;
    n->next = at;
    if (!last) return id;
    TMI_NAMED(p->m, last)->next = id;
    return list;
}

/* dict ::= '{' [entry (',' entry)*] '}' ; entry ::= (bare-id | string) ['=' attribute]
 * Adds to a list sorted by name and gives its head. */
static uint32_t tmi_parse_entries(tmi_parser *p, uint32_t list) {
    if (!tmi_skip_punct(p, '{')) return list;
    while (!p->bad && !tmi_at_punct(p, '}')) {
        uint32_t name, attr;
        if (p->tok.kind == TMI_K_STRING) name = tmi_parse_string(p);
        else if (p->tok.kind == TMI_K_WORD) {
            name = tmi_intern_src(p, p->tok.at, p->tok.len);
            tmi_next(p);
        } else {
            tmi_expected(p, "an attribute name");
            return list;
        }
        attr = tmi_skip_punct(p, '=') ? tmi_parse_attr(p) : tmi_attr_new(p->job, p->m, TMI_A_UNIT, 0, 0);
        if (!p->bad) list = tmi_named_insert(p, list, name, attr);
        if (!tmi_skip_punct(p, ',')) break;
    }
    tmi_want_punct(p, '}');
    return list;
}

static uint32_t tmi_parse_dict(tmi_parser *p) {
    return tmi_parse_entries(p, 0);
}

/* -- Names in scope --------------------------------------------------------------------- */

static uint32_t tmi_bind(tmi_parser *p, tmi_map *map, uint32_t name, uint32_t id, uint32_t region) {
    uint32_t     b = p->bindings.n;
    uint32_t    *slot = tmi_map_at(p->job, map, name);
    tmi_binding *n = (tmi_binding *)tmi_vec_add(p->job, &p->bindings);
    n->name = name;
    n->id = id;
    n->outer = *slot;
    n->region = region;
    *slot = b;
    return b;
}

static tmi_binding *tmi_binding_of(tmi_parser *p, tmi_map *map, uint32_t name) {
    uint32_t b = tmi_map_get(map, name);
    return b ? TMI_AT(&p->bindings, tmi_binding, b) : NULL;
}

/* Undo the bindings made since `mark`, newest first; bit 31 of a log entry says "block". */
static void tmi_scope_end(tmi_parser *p, uint32_t mark) {
    while (p->log.n > mark) {
        uint32_t     e = *TMI_AT(&p->log, uint32_t, p->log.n - 1);
        tmi_binding *b = TMI_AT(&p->bindings, tmi_binding, e & 0x7fffffffu);
        *tmi_map_at(p->job, e >> 31 ? &p->blocks : &p->values, b->name) = b->outer;
        p->log.n--;
    }
}

static void tmi_log(tmi_parser *p, uint32_t entry) {
    /* The log shrinks at the end of each region; its pages stay and are used again. */
    if (p->log.n < p->log.n_page * TMI_PAGE) {
        p->log.n++;
        *TMI_AT(&p->log, uint32_t, p->log.n - 1) = entry;
    } else {
        *(uint32_t *)tmi_vec_add(p->job, &p->log) = entry;
    }
}

static uint32_t tmi_value_key(tmi_parser *p, const tmi_tok *tok, uint32_t sub) {
    char     buf[16];
    uint32_t n = 0, v = sub, key;
    tmi_mark mark;
    char    *s;
    if (!sub) return tmi_intern_src(p, tok->at + 1, tok->len - 1);
    do buf[n++] = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    mark = tmi_mark_take(p->job);
    s = TMI_TEMP(p->job, char, tok->len + n);
    memcpy(s, p->src + tok->at + 1, tok->len - 1);
    s[tok->len - 1] = '#';
    for (v = 0; v < n; v++) s[tok->len + v] = buf[n - 1 - v];
    key = tmi_intern(p->job, &p->m->strings, s, tok->len + n);
    tmi_mark_drop(p->job, mark);
    return key;
}

/* The value that a use names; one that is not defined yet is made now and bound to the function. */
static uint32_t tmi_use(tmi_parser *p) {
    uint32_t     key, v;
    tmi_binding *b;
    if (p->tok.kind != TMI_K_VALUE) {
        tmi_expected(p, "a value such as %x");
        return 0;
    }
    key = tmi_value_key(p, &p->tok, p->tok.sub);
    b = tmi_binding_of(p, &p->values, key);
    if (b) {
        v = b->id;
    } else {
        v = tmi_value_new(p->job, p->m, 0);
        TMI_VALUE(p->m, v)->name = key;
        TMI_VALUE(p->m, v)->is_forward = 1;
        tmi_log(p, tmi_bind(p, &p->values, key, v, p->func_region));
        *(uint32_t *)tmi_vec_add(p->job, &p->forward) = v;
        *(uint32_t *)tmi_vec_add(p->job, &p->forward) = p->tok.at;
    }
    tmi_next(p);
    return v;
}

/* Bind `key` to a new value of `type`, or to the value that an earlier use made. */
static uint32_t tmi_define(tmi_parser *p, uint32_t key, uint32_t type, uint32_t at) {
    tmi_binding *b = tmi_binding_of(p, &p->values, key);
    uint32_t     v;
    if (b && TMI_VALUE(p->m, b->id)->is_forward) {
        tmi_value *val = TMI_VALUE(p->m, b->id);
        v = b->id;
        if (val->type && type && val->type != type)
            tmi_error(p->job, tmi_at_src(at), TMETAL_E_TYPE_CLASH, tmi_format(p->job, 1, "%%%s", TMI_STR(p->m, key)),
                      tmi_type_text(p->job, p->m, type), tmi_type_text(p->job, p->m, val->type));
        val->type = type;
        val->is_forward = 0;
    } else {
        if (b && b->region == p->region)
            tmi_error(p->job, tmi_at_src(at), TMETAL_E_REDEFINED, tmi_format(p->job, 1, "%%%s", TMI_STR(p->m, key)));
        v = tmi_value_new(p->job, p->m, type);
        TMI_VALUE(p->m, v)->name = key;
    }
    tmi_log(p, tmi_bind(p, &p->values, key, v, p->region));
    return v;
}

/* The type that an operand is printed with must be the one it was defined with. */
static void tmi_expect_type(tmi_parser *p, uint32_t value, uint32_t type, uint32_t at) {
    tmi_value *v;
    if (p->bad || !value || !type) return;
    v = TMI_VALUE(p->m, value);
    if (!v->type) {
        if (v->is_forward) v->type = type; /* a value of a wrong op keeps type 0: no second error */
        return;
    }
    if (v->type == type) return;
    tmi_error(p->job, tmi_at_src(at), TMETAL_E_TYPE_CLASH, tmi_format(p->job, 1, "%%%s", TMI_STR(p->m, v->name)),
              tmi_type_text(p->job, p->m, v->type), tmi_type_text(p->job, p->m, type));
    p->bad = 1;
}

/* -- An op being read ---------------------------------------------------------------------- */

/* Operands and result types are collected on the parser's stack and stored when the op is whole. */
typedef struct tmi_draft {
    uint32_t op, kind, at;
    uint32_t in, n_in;    /* operands on the stack, from `in` */
    uint32_t out, n_out;  /* result types, from `out`; only after all operands */
    const tmi_tok *names; /* bound results: tokens; `sub` counts the results of a group */
    uint32_t n_names;
} tmi_draft;

static void tmi_draft_operand(tmi_parser *p, tmi_draft *d) {
    tmi_push(p, tmi_use(p));
    d->n_in++;
}

static uint32_t tmi_draft_in(const tmi_parser *p, const tmi_draft *d, uint32_t i) {
    return tmi_stack(p, d->in + i);
}

static void tmi_draft_result(tmi_parser *p, tmi_draft *d, uint32_t type) {
    if (!d->n_out) d->out = p->n_stack;
    tmi_push(p, type);
    d->n_out++;
}

/* %a (',' %b)* */
static void tmi_parse_operands(tmi_parser *p, tmi_draft *d) {
    do tmi_draft_operand(p, d);
    while (!p->bad && tmi_skip_punct(p, ','));
}

static void tmi_draft_expect(tmi_parser *p, tmi_draft *d, uint32_t i, uint32_t type) {
    if (i < d->n_in) tmi_expect_type(p, tmi_draft_in(p, d, i), type, d->at);
}

/* types for operands from..from+n-1, in order, separated by commas */
static void tmi_parse_operand_types(tmi_parser *p, tmi_draft *d, uint32_t from, uint32_t n) {
    uint32_t i;
    for (i = 0; i < n && !p->bad; i++) {
        if (i) tmi_want_punct(p, ',');
        tmi_draft_expect(p, d, from + i, tmi_parse_type(p));
    }
}

static void tmi_set(tmi_parser *p, const tmi_draft *d, const char *name, uint32_t attr) {
    tmi_op_set_attr(p->job, p->m, d->op, name, attr);
}

static void tmi_set_i32(tmi_parser *p, const tmi_draft *d, const char *name, int64_t value) {
    tmi_op_set_int(p->job, p->m, d->op, name, p->m->t_i32, value);
}

static void tmi_parse_op_attrs(tmi_parser *p, tmi_draft *d) {
    TMI_OP(p->m, d->op)->attr = tmi_parse_entries(p, TMI_OP(p->m, d->op)->attr);
}

/* A word of a table, bare or quoted, or its number; gives its value. */
static int64_t tmi_parse_enum(tmi_parser *p, const tmi_word *words) {
    uint32_t    skip = p->tok.kind == TMI_K_STRING ? 1 : 0, i, n = p->tok.len - 2 * skip;
    const char *s = p->src + p->tok.at + skip;
    tmi_text    t;
    if (p->tok.kind == TMI_K_INT) return (int64_t)tmi_parse_u32(p);
    if (p->tok.kind != TMI_K_WORD && p->tok.kind != TMI_K_STRING) {
        tmi_expected(p, "a word");
        return 0;
    }
    for (i = 0; words[i].word; i++)
        if (strlen(words[i].word) == n && memcmp(words[i].word, s, n) == 0) {
            tmi_next(p);
            return words[i].value;
        }
    tmi_text_init(p->job, &t);
    for (i = 0; words[i].word; i++) tmi_put(&t, i ? ", %s" : "%s", words[i].word);
    if (!p->bad)
        tmi_error(p->job, tmi_at_src(p->tok.at), TMETAL_E_BAD_WORD, TMI_STR(p->m, tmi_intern_src(p, p->tok.at + skip, n)),
                  tmi_text_join(&t, 1));
    p->bad = 1;
    return 0;
}

/* word '=' enum */
static int tmi_parse_keyword(tmi_parser *p, tmi_draft *d, const char *word, const char *attr, const tmi_word *words) {
    if (!tmi_skip_word(p, word)) return 0;
    tmi_want_punct(p, '=');
    if (!p->bad) tmi_set_i32(p, d, attr, tmi_parse_enum(p, words));
    return 1;
}

/* Flags between operands and attributes: overflow<..>, fastmath<..>, exact, nneg, rounding words.
 * All are permissions that right code need not use, so they are kept as text and otherwise ignored. */
static void tmi_parse_flags(tmi_parser *p, tmi_draft *d) {
    while (!p->bad && p->tok.kind == TMI_K_WORD) {
        uint32_t at = p->tok.at, name = tmi_intern_src(p, at, p->tok.len);
        tmi_next(p);
        if (tmi_at_punct(p, '<')) {
            uint32_t text = tmi_parse_balanced(p, p->tok.at);
            tmi_set(p, d, TMI_STR(p->m, name), tmi_attr_new(p->job, p->m, TMI_A_OPAQUE, 0, text));
        } else {
            tmi_set(p, d, TMI_STR(p->m, name), tmi_attr_new(p->job, p->m, TMI_A_UNIT, 0, 0));
        }
    }
}

static void tmi_parse_attrs_colon(tmi_parser *p, tmi_draft *d) {
    tmi_parse_op_attrs(p, d);
    tmi_want_punct(p, ':');
}

/* -- Forms: one function a syntax of the op table --------------------------------------------- */

/* same ::= %a (',' %b)* [',' 'propagateNan' '=' kw] flags attrs ':' T */
static void tmi_parse_same(tmi_parser *p, tmi_draft *d) {
    uint32_t type, i;
    do {
        if (p->tok.kind == TMI_K_WORD) break;
        tmi_draft_operand(p, d);
    } while (!p->bad && tmi_skip_punct(p, ','));
    (void)tmi_parse_keyword(p, d, "propagateNan", "propagateNan", tmi_words_nan);
    tmi_parse_flags(p, d);
    tmi_parse_attrs_colon(p, d);
    type = tmi_parse_type(p);
    for (i = 0; i < d->n_in; i++) tmi_draft_expect(p, d, i, type);
    if (d->kind == TMI_OP_ISNAN || d->kind == TMI_OP_ISINF)
        type = p->bad ? 0 : tmi_type_like(p->job, p->m, type, p->m->t_i1);
    tmi_draft_result(p, d, type);
}

/* cast ::= %a flags attrs ':' T 'to' U */
static void tmi_parse_cast(tmi_parser *p, tmi_draft *d) {
    tmi_draft_operand(p, d);
    tmi_parse_flags(p, d);
    tmi_parse_attrs_colon(p, d);
    tmi_parse_operand_types(p, d, 0, 1);
    if (!tmi_skip_word(p, "to")) tmi_expected(p, "'to'");
    tmi_draft_result(p, d, tmi_parse_type(p));
}

/* extended ::= %a ',' %b attrs ':' T ',' T1 : two results, or (fpowi) one of the first type */
static void tmi_parse_extended(tmi_parser *p, tmi_draft *d) {
    uint32_t a, b;
    tmi_parse_operands(p, d);
    tmi_parse_flags(p, d);
    tmi_parse_attrs_colon(p, d);
    a = tmi_parse_type(p);
    b = tmi_skip_punct(p, ',') ? tmi_parse_type(p) : a;
    tmi_draft_expect(p, d, 0, a);
    tmi_draft_expect(p, d, 1, d->kind == TMI_OP_FPOWI ? b : a);
    tmi_draft_result(p, d, a);
    if (d->kind == TMI_OP_FPOWI) return;
    tmi_draft_result(p, d, d->kind == TMI_OP_ADDUI_EXT ? b : a);
}

/* arrow ::= %a (',' %b)* words attrs [',' 'rounding' '=' kw] ':' A ['->' B] ; 2.1 puts A in parentheses */
static void tmi_parse_arrow(tmi_parser *p, tmi_draft *d) {
    uint32_t type, base;
    do {
        if (tmi_parse_keyword(p, d, "rounding", "rounding", tmi_words_rounding)) break;
        tmi_draft_operand(p, d);
    } while (!p->bad && tmi_skip_punct(p, ','));
    while (p->tok.kind == TMI_K_WORD && !p->bad) {
        tmi_set(p, d, TMI_STR(p->m, tmi_intern_src(p, p->tok.at, p->tok.len)),
                tmi_attr_new(p->job, p->m, TMI_A_UNIT, 0, 0));
        tmi_next(p);
    }
    tmi_parse_op_attrs(p, d);
    if (tmi_skip_punct(p, ',')) (void)tmi_parse_keyword(p, d, "rounding", "rounding", tmi_words_rounding);
    tmi_want_punct(p, ':');
    base = p->n_stack;
    (void)tmi_parse_type_list(p);
    type = p->n_stack > base ? tmi_stack(p, base) : 0;
    p->n_stack = base;
    tmi_draft_expect(p, d, 0, type);
    if (d->n_in == 2 && d->kind != TMI_OP_HISTOGRAM) tmi_draft_expect(p, d, 1, type);
    tmi_want_arrow(p);
    type = tmi_parse_type(p);
    tmi_draft_result(p, d, type);
    if (d->kind == TMI_OP_SPLIT) tmi_draft_result(p, d, type);
}

/* unsplat ::= %t attrs ':' T ; the result is T's element */
static void tmi_parse_unsplat(tmi_parser *p, tmi_draft *d) {
    uint32_t type;
    tmi_draft_operand(p, d);
    tmi_parse_attrs_colon(p, d);
    type = tmi_parse_type(p);
    tmi_draft_expect(p, d, 0, type);
    tmi_draft_result(p, d, p->bad ? 0 : tmi_elem(p->m, type));
}

/* cmp ::= predicate ',' %a ',' %b flags attrs ':' T */
static void tmi_parse_cmp(tmi_parser *p, tmi_draft *d) {
    uint32_t type;
    int64_t  predicate = tmi_parse_enum(p, d->kind == TMI_OP_CMPI ? tmi_words_cmpi : tmi_words_cmpf);
    tmi_want_punct(p, ',');
    tmi_op_set_int(p->job, p->m, d->op, "predicate", p->m->t_i64, predicate);
    tmi_parse_operands(p, d);
    tmi_parse_flags(p, d);
    tmi_parse_attrs_colon(p, d);
    type = tmi_parse_type(p);
    tmi_draft_expect(p, d, 0, type);
    tmi_draft_expect(p, d, 1, type);
    tmi_draft_result(p, d, p->bad ? 0 : tmi_type_like(p->job, p->m, type, p->m->t_i1));
}

/* select ::= %c ',' %x ',' %y attrs ':' [Tc ','] T */
static void tmi_parse_select(tmi_parser *p, tmi_draft *d) {
    uint32_t type, cond;
    tmi_parse_operands(p, d);
    tmi_parse_attrs_colon(p, d);
    type = tmi_parse_type(p);
    cond = p->m->t_i1;
    if (tmi_skip_punct(p, ',')) {
        cond = type;
        type = tmi_parse_type(p);
    }
    tmi_draft_expect(p, d, 0, cond);
    tmi_draft_expect(p, d, 1, type);
    tmi_draft_expect(p, d, 2, type);
    tmi_draft_result(p, d, type);
}

/* constant ::= attrs attribute */
static void tmi_parse_constant(tmi_parser *p, tmi_draft *d) {
    uint32_t attr;
    tmi_parse_op_attrs(p, d);
    attr = tmi_parse_attr(p);
    if (p->bad) return;
    if (!TMI_ATTR(p->m, attr)->type) {
        tmi_expected(p, "a constant with a type");
        return;
    }
    tmi_set(p, d, "value", attr);
    tmi_draft_result(p, d, TMI_ATTR(p->m, attr)->type);
}

/* typed ::= attrs ':' T */
static void tmi_parse_typed(tmi_parser *p, tmi_draft *d) {
    tmi_parse_attrs_colon(p, d);
    tmi_draft_result(p, d, tmi_parse_type(p));
}

static void tmi_parse_range(tmi_parser *p, tmi_draft *d) {
    tmi_parse_typed(p, d);
}

/* pid ::= [x|y|z] attrs ':' T */
static void tmi_parse_pid(tmi_parser *p, tmi_draft *d) {
    if (p->tok.kind == TMI_K_WORD) tmi_set_i32(p, d, "axis", tmi_parse_enum(p, tmi_words_axis));
    tmi_parse_typed(p, d);
}

/* addptr ::= %p ',' %o attrs ':' T ',' U */
static void tmi_parse_addptr(tmi_parser *p, tmi_draft *d) {
    uint32_t type;
    tmi_parse_operands(p, d);
    tmi_parse_attrs_colon(p, d);
    type = tmi_parse_type(p);
    tmi_draft_expect(p, d, 0, type);
    tmi_want_punct(p, ',');
    tmi_parse_operand_types(p, d, 1, 1);
    tmi_draft_result(p, d, type);
}

/* What a pointer, tensor of pointers or block pointer gives when loaded; 0 if it is none. */
static uint32_t tmi_pointee(tmi_job *job, tmi_module *m, uint32_t type) {
    const tmi_type *t;
    if (!type) return 0;
    t = TMI_TYPE(m, tmi_elem(m, type));
    if (t->kind != TMI_T_PTR) return 0;
    return tmi_type_like(job, m, type, t->elem);
}

static void tmi_parse_cache_words(tmi_parser *p, tmi_draft *d) {
    while (tmi_parse_keyword(p, d, "cacheModifier", "cache", tmi_words_cache) ||
           tmi_parse_keyword(p, d, "evictionPolicy", "evict", tmi_words_evict)) {}
}

/* load ::= %p [',' %m [',' %o]] [cacheModifier] [evictionPolicy] attrs ':' T ['->' R]
 * T is the pointer's type since 3.0, before that the result's (block pointers: both). */
static void tmi_parse_load(tmi_parser *p, tmi_draft *d) {
    uint32_t type, value;
    do {
        if (tmi_at_punct(p, ':')) break; /* an empty optional operand after its comma: tests print it */
        tmi_draft_operand(p, d);
    } while (!p->bad && tmi_skip_punct(p, ','));
    tmi_parse_cache_words(p, d);
    tmi_parse_attrs_colon(p, d);
    type = tmi_parse_type(p);
    if (p->bad) return;
    value = tmi_pointee(p->job, p->m, type);
    if (value && (value != 0) && tmi_at_arrow(p)) {
        tmi_next(p);
        value = tmi_parse_type(p);
    }
    if (value) tmi_draft_expect(p, d, 0, type);
    else value = type;
    if (d->n_in > 2) tmi_draft_expect(p, d, 2, value);
    tmi_draft_result(p, d, value);
}

/* store ::= %p ',' %v [',' %m] words attrs ':' T [',' V] */
static void tmi_parse_store(tmi_parser *p, tmi_draft *d) {
    uint32_t type, value;
    tmi_parse_operands(p, d);
    tmi_parse_cache_words(p, d);
    tmi_parse_attrs_colon(p, d);
    type = tmi_parse_type(p);
    if (p->bad) return;
    value = tmi_pointee(p->job, p->m, type);
    if (tmi_skip_punct(p, ',')) value = tmi_parse_type(p);
    if (value) tmi_draft_expect(p, d, 0, type);
    else value = type;
    tmi_draft_expect(p, d, 1, value);
}

/* fn-types ::= ':' '(' types ')' '->' types, checked against the operands */
static void tmi_parse_fn_types(tmi_parser *p, tmi_draft *d) {
    uint32_t base = p->n_stack, n, i;
    n = tmi_parse_type_list(p);
    for (i = 0; i < n && i < d->n_in && !p->bad; i++) tmi_draft_expect(p, d, i, tmi_stack(p, base + i));
    if (!p->bad && n != d->n_in) tmi_expected(p, "one type an operand");
    p->n_stack = base;
    tmi_want_arrow(p);
    d->out = p->n_stack;
    d->n_out = p->bad ? 0 : tmi_parse_type_list(p);
}

/* rmw ::= op ',' sem ',' scope ',' %p ',' %v [',' %m] attrs ':' fn-type */
static void tmi_parse_rmw(tmi_parser *p, tmi_draft *d) {
    tmi_set_i32(p, d, "atomic_rmw_op", tmi_parse_enum(p, tmi_words_rmw));
    tmi_want_punct(p, ',');
    tmi_set_i32(p, d, "sem", tmi_parse_enum(p, tmi_words_sem));
    tmi_want_punct(p, ',');
    if (p->tok.kind == TMI_K_WORD) {
        tmi_set_i32(p, d, "scope", tmi_parse_enum(p, tmi_words_scope));
        tmi_want_punct(p, ',');
    }
    tmi_parse_operands(p, d);
    tmi_parse_attrs_colon(p, d);
    tmi_parse_fn_types(p, d);
}

/* cas ::= sem ',' scope ',' %p ',' %c ',' %v attrs ':' fn-type */
static void tmi_parse_cas(tmi_parser *p, tmi_draft *d) {
    tmi_set_i32(p, d, "sem", tmi_parse_enum(p, tmi_words_sem));
    tmi_want_punct(p, ',');
    if (p->tok.kind == TMI_K_WORD) {
        tmi_set_i32(p, d, "scope", tmi_parse_enum(p, tmi_words_scope));
        tmi_want_punct(p, ',');
    }
    tmi_parse_operands(p, d);
    tmi_parse_attrs_colon(p, d);
    tmi_parse_fn_types(p, d);
}

/* dot ::= %a ',' %b ',' %c [',' 'inputPrecision' '=' kw] attrs ':' Ta '*' Tb '->' Td */
static void tmi_parse_dot(tmi_parser *p, tmi_draft *d) {
    uint32_t type;
    do {
        if (p->tok.kind == TMI_K_WORD) break;
        tmi_draft_operand(p, d);
    } while (!p->bad && tmi_skip_punct(p, ','));
    (void)tmi_parse_keyword(p, d, "inputPrecision", "inputPrecision", tmi_words_precision);
    tmi_parse_attrs_colon(p, d);
    tmi_parse_operand_types(p, d, 0, 1);
    tmi_want_punct(p, '*');
    tmi_parse_operand_types(p, d, 1, 1);
    tmi_want_arrow(p);
    type = tmi_parse_type(p);
    tmi_draft_expect(p, d, 2, type);
    tmi_draft_result(p, d, type);
}

/* 3.3 on: %a ['scale' %as] ',' %b ['scale' %bs] ',' %c ; 3.2: %a ',' %as ',' %b [',' %bs] ',' %c.
 * Stored as MLIR does: a, b, c, [as], [bs], with operandSegmentSizes saying which scales exist. */
static void tmi_parse_scaled_operands(tmi_parser *p, tmi_draft *d, uint32_t *v, int *has) {
    uint32_t n = 0, plain[5], i;
    has[0] = has[1] = 0;
    (void)d;
    for (i = 0; i < 5 && !p->bad; i++) {
        plain[n++] = tmi_use(p);
        if (n <= 2 && tmi_skip_word(p, "scale")) {
            has[n - 1] = 1;
            v[2 + n] = tmi_use(p);
        }
        if (!tmi_skip_punct(p, ',')) break;
    }
    if (n == 3) {
        v[0] = plain[0];
        v[1] = plain[1];
        v[2] = plain[2];
    } else if (n >= 4) { /* 3.2 always has the left scale */
        has[0] = 1;
        has[1] = n == 5;
        v[0] = plain[0];
        v[3] = plain[1];
        v[1] = plain[2];
        v[4] = n == 5 ? plain[3] : 0;
        v[2] = plain[n - 1];
    } else {
        tmi_expected(p, "operands a, b and c");
    }
}

/* dotscaled ::= operands 'lhs' '=' kw 'rhs' '=' kw attrs ':' Ta [',' Tas] '*' Tb [',' Tbs] '->' Td */
static void tmi_parse_dotscaled(tmi_parser *p, tmi_draft *d) {
    uint32_t v[5] = {0, 0, 0, 0, 0}, i, type, list;
    int      has[2];
    tmi_parse_scaled_operands(p, d, v, has);
    (void)tmi_parse_keyword(p, d, "lhs", "a_elem_type", tmi_words_scaled);
    (void)tmi_parse_keyword(p, d, "rhs", "b_elem_type", tmi_words_scaled);
    tmi_parse_attrs_colon(p, d);
    for (i = 0; i < 5; i++)
        if (i < 3 || has[i - 3]) tmi_push(p, v[i]), d->n_in++;
    for (i = 0; i < 2 && !p->bad; i++) {
        tmi_expect_type(p, v[i], tmi_parse_type(p), d->at);
        if (tmi_skip_punct(p, ',')) tmi_expect_type(p, v[3 + i], tmi_parse_type(p), d->at);
        if (i == 0) tmi_want_punct(p, '*');
    }
    tmi_want_arrow(p);
    type = tmi_parse_type(p);
    tmi_expect_type(p, v[2], type, d->at);
    list = tmi_attr_new(p->job, p->m, TMI_A_LIST, p->m->t_i32, p->m->words.n);
    TMI_ATTR(p->m, list)->n = 5;
    for (i = 0; i < 5; i++) *(uint64_t *)tmi_vec_add(p->job, &p->m->words) = i < 3 || has[i - 3];
    tmi_set(p, d, "operandSegmentSizes", list);
    tmi_draft_result(p, d, type);
}

/* gather ::= %src '[' %idx ']' attrs ':' fn-type */
static void tmi_parse_gather(tmi_parser *p, tmi_draft *d) {
    tmi_draft_operand(p, d);
    tmi_want_punct(p, '[');
    tmi_draft_operand(p, d);
    tmi_want_punct(p, ']');
    tmi_parse_attrs_colon(p, d);
    tmi_parse_fn_types(p, d);
}

/* extern_ ::= %a (',' %b)* attrs ':' fn-type */
static void tmi_parse_extern_(tmi_parser *p, tmi_draft *d) {
    if (p->tok.kind == TMI_K_VALUE) tmi_parse_operands(p, d);
    tmi_parse_attrs_colon(p, d);
    tmi_parse_fn_types(p, d);
}

/* asm_ ::= string attrs [%a, ... ':' types] '->' types */
static void tmi_parse_asm_(tmi_parser *p, tmi_draft *d) {
    tmi_set(p, d, "asm_string", tmi_attr_new(p->job, p->m, TMI_A_STRING, 0, tmi_parse_string(p)));
    tmi_parse_op_attrs(p, d);
    if (p->tok.kind == TMI_K_VALUE) {
        tmi_parse_operands(p, d);
        tmi_want_punct(p, ':');
        tmi_parse_operand_types(p, d, 0, d->n_in);
    }
    tmi_want_arrow(p);
    d->out = p->n_stack;
    d->n_out = p->bad ? 0 : tmi_at_punct(p, '(') ? tmi_parse_type_list(p) : tmi_parse_types(p);
}

/* call ::= symbol '(' [operands] ')' attrs ':' fn-type */
static void tmi_parse_call(tmi_parser *p, tmi_draft *d) {
    tmi_set(p, d, "callee", tmi_attr_new(p->job, p->m, TMI_A_SYMBOL, 0, tmi_parse_symbol(p)));
    tmi_want_punct(p, '(');
    if (!p->bad && !tmi_at_punct(p, ')')) tmi_parse_operands(p, d);
    tmi_want_punct(p, ')');
    tmi_parse_attrs_colon(p, d);
    tmi_parse_fn_types(p, d);
}

/* yield ::= attrs [%a, ... ':' types] */
static void tmi_parse_yield(tmi_parser *p, tmi_draft *d) {
    tmi_parse_op_attrs(p, d);
    if (p->tok.kind != TMI_K_VALUE) return;
    tmi_parse_operands(p, d);
    tmi_parse_attrs_colon(p, d);
    tmi_parse_operand_types(p, d, 0, d->n_in);
}

static void tmi_parse_ret(tmi_parser *p, tmi_draft *d) {
    tmi_parse_yield(p, d);
}

/* condition ::= '(' %c ')' attrs [%a, ... ':' types] */
static void tmi_parse_condition(tmi_parser *p, tmi_draft *d) {
    tmi_want_punct(p, '(');
    tmi_draft_operand(p, d);
    tmi_want_punct(p, ')');
    tmi_draft_expect(p, d, 0, p->m->t_i1);
    tmi_parse_op_attrs(p, d);
    if (p->bad || p->tok.kind != TMI_K_VALUE) return;
    tmi_parse_operands(p, d);
    tmi_want_punct(p, ':');
    tmi_parse_operand_types(p, d, 1, d->n_in - 1);
}

/* operand ::= [%a, ...] attrs [':' types] ; also gpu.barrier's memfence list */
static void tmi_parse_operand(tmi_parser *p, tmi_draft *d) {
    if (tmi_skip_word(p, "memfence")) {
        tmi_want_punct(p, '[');
        while (!p->bad && !tmi_at_punct(p, ']')) {
            (void)tmi_parse_attr(p);
            if (!tmi_skip_punct(p, ',')) break;
        }
        tmi_want_punct(p, ']');
    }
    if (p->tok.kind == TMI_K_VALUE && !p->tok.first) tmi_parse_operands(p, d);
    tmi_parse_op_attrs(p, d);
    if (!d->n_in) return;
    tmi_want_punct(p, ':');
    tmi_parse_operand_types(p, d, 0, d->n_in);
}

/* barrier ::= word ('|' word)* attrs */
static void tmi_parse_barrier(tmi_parser *p, tmi_draft *d) {
    uint32_t at = p->tok.at, end = at;
    while (p->tok.kind == TMI_K_WORD && !p->tok.first) {
        end = p->tok.at + p->tok.len;
        tmi_next(p);
        if (!tmi_skip_punct(p, '|')) break;
    }
    if (end > at)
        tmi_set(p, d, "addrSpace", tmi_attr_new(p->job, p->m, TMI_A_STRING, 0, tmi_intern_src(p, at, end - at)));
    tmi_parse_op_attrs(p, d);
}

/* assume ::= %c ['[' string '(' operands ':' types ')' ... ']'] attrs ':' i1 */
static void tmi_parse_assume(tmi_parser *p, tmi_draft *d) {
    tmi_draft_operand(p, d);
    if (tmi_at_punct(p, '[')) {
        uint32_t depth = 0; /* an operand bundle only repeats what the condition says */
        do {
            if (tmi_at_punct(p, '[') || tmi_at_punct(p, '(')) depth++;
            if (tmi_at_punct(p, ']') || tmi_at_punct(p, ')')) depth--;
            tmi_next(p);
        } while (depth && p->tok.kind != TMI_K_END);
    }
    tmi_parse_attrs_colon(p, d);
    tmi_parse_operand_types(p, d, 0, 1);
}

/* print ::= string attrs [':' %a, ... ':' types] */
static void tmi_parse_print(tmi_parser *p, tmi_draft *d) {
    tmi_set(p, d, "prefix", tmi_attr_new(p->job, p->m, TMI_A_STRING, 0, tmi_parse_string(p)));
    tmi_parse_op_attrs(p, d);
    if (!tmi_skip_punct(p, ':')) return;
    tmi_parse_operands(p, d);
    tmi_want_punct(p, ':');
    tmi_parse_operand_types(p, d, 0, d->n_in);
}

/* assert_ ::= %c ',' string [',' string ',' string ',' int] attrs [':' T] */
static void tmi_parse_assert_(tmi_parser *p, tmi_draft *d) {
    tmi_draft_operand(p, d);
    tmi_want_punct(p, ',');
    tmi_set(p, d, d->kind == TMI_OP_CF_ASSERT ? "msg" : "message",
            tmi_attr_new(p->job, p->m, TMI_A_STRING, 0, tmi_parse_string(p)));
    while (!p->bad && tmi_skip_punct(p, ',')) { /* 3.0, 3.1: file, function, line; the loc has them too */
        if (p->tok.kind == TMI_K_STRING) (void)tmi_parse_string(p);
        else (void)tmi_parse_u32(p);
    }
    tmi_parse_op_attrs(p, d);
    if (tmi_skip_punct(p, ':')) tmi_parse_operand_types(p, d, 0, 1);
}

/* '[' [%a, ...] ']' ; gives how many */
static uint32_t tmi_parse_index_list(tmi_parser *p, tmi_draft *d) {
    uint32_t before = d->n_in;
    tmi_want_punct(p, '[');
    if (!p->bad && !tmi_at_punct(p, ']')) tmi_parse_operands(p, d);
    tmi_want_punct(p, ']');
    return d->n_in - before;
}

static void tmi_expect_from(tmi_parser *p, tmi_draft *d, uint32_t from, uint32_t n, uint32_t type) {
    uint32_t i;
    for (i = 0; i < n; i++) tmi_draft_expect(p, d, from + i, type);
}

/* mkptr ::= %base ',' '[' shape ']' ',' '[' strides ']' ',' '[' offsets ']' attrs ':' T */
static void tmi_parse_mkptr(tmi_parser *p, tmi_draft *d) {
    uint32_t n, k, type;
    tmi_draft_operand(p, d);
    for (k = 0, n = 0; k < 3 && !p->bad; k++) {
        tmi_want_punct(p, ',');
        n = tmi_parse_index_list(p, d);
        tmi_expect_from(p, d, d->n_in - n, n, k == 2 ? p->m->t_i32 : p->m->t_i64);
    }
    tmi_parse_attrs_colon(p, d);
    type = tmi_parse_short(p, 0);
    tmi_draft_result(p, d, type);
}

/* advance ::= %p ',' '[' offsets ']' attrs ':' T */
static void tmi_parse_advance(tmi_parser *p, tmi_draft *d) {
    uint32_t n, type;
    tmi_draft_operand(p, d);
    tmi_want_punct(p, ',');
    n = tmi_parse_index_list(p, d);
    tmi_expect_from(p, d, 1, n, p->m->t_i32);
    tmi_parse_attrs_colon(p, d);
    type = tmi_parse_short(p, 0);
    tmi_draft_expect(p, d, 0, type);
    tmi_draft_result(p, d, type);
}

/* mkdesc ::= %base ',' '[' shape ']' ',' '[' strides ']' attrs ':' Tbase ',' T */
static void tmi_parse_mkdesc(tmi_parser *p, tmi_draft *d) {
    uint32_t n;
    tmi_draft_operand(p, d);
    tmi_want_punct(p, ',');
    n = tmi_parse_index_list(p, d);
    tmi_expect_from(p, d, d->n_in - n, n, p->m->t_i32);
    tmi_want_punct(p, ',');
    n = tmi_parse_index_list(p, d);
    tmi_expect_from(p, d, d->n_in - n, n, p->m->t_i64);
    tmi_parse_attrs_colon(p, d);
    tmi_draft_expect(p, d, 0, tmi_parse_short(p, 0));
    tmi_want_punct(p, ',');
    tmi_draft_result(p, d, tmi_parse_short(p, 1));
}

/* dload ::= %d '[' idx ']' words attrs ':' Td '->' T */
static void tmi_parse_dload(tmi_parser *p, tmi_draft *d) {
    tmi_draft_operand(p, d);
    (void)tmi_parse_index_list(p, d);
    tmi_parse_cache_words(p, d);
    tmi_parse_attrs_colon(p, d);
    tmi_parse_operand_types(p, d, 0, 1);
    tmi_want_arrow(p);
    tmi_draft_result(p, d, tmi_parse_type(p));
}

/* dstore ::= %d '[' idx ']' ',' %src attrs ':' Td ',' T ; stored as desc, src, indices */
static void tmi_parse_dstore(tmi_parser *p, tmi_draft *d) {
    uint32_t n, src, i;
    tmi_draft_operand(p, d);
    tmi_push(p, 0); /* kept for src */
    d->n_in++;
    n = tmi_parse_index_list(p, d);
    (void)n;
    tmi_want_punct(p, ',');
    src = tmi_use(p);
    i = d->in + 1;
    *TMI_AT(&p->stack, uint32_t, i) = src;
    tmi_parse_attrs_colon(p, d);
    tmi_parse_operand_types(p, d, 0, 2);
}

/* dreduce ::= kind ',' dstore */
static void tmi_parse_dreduce(tmi_parser *p, tmi_draft *d) {
    tmi_set_i32(p, d, "kind", tmi_parse_enum(p, tmi_words_dreduce));
    tmi_want_punct(p, ',');
    tmi_parse_dstore(p, d);
}

/* dgather ::= %d '[' %xs ',' %y ']' attrs ':' fn-type */
static void tmi_parse_dgather(tmi_parser *p, tmi_draft *d) {
    tmi_draft_operand(p, d);
    (void)tmi_parse_index_list(p, d);
    tmi_parse_attrs_colon(p, d);
    tmi_parse_fn_types(p, d);
}

/* dscatter ::= %d '[' %xs ',' %y ']' ',' %src attrs ':' Td ',' Txs ',' Ty ',' Tsrc */
static void tmi_parse_dscatter(tmi_parser *p, tmi_draft *d) {
    tmi_draft_operand(p, d);
    (void)tmi_parse_index_list(p, d);
    tmi_want_punct(p, ',');
    tmi_draft_operand(p, d);
    tmi_parse_attrs_colon(p, d);
    tmi_parse_operand_types(p, d, 0, d->n_in);
}

static void tmi_parse_generic(tmi_parser *p, tmi_draft *d) {
    (void)d;
    tmi_expected(p, "the op's name in quotes: it has no short form");
}

/* -- Regions and blocks ---------------------------------------------------------------------- */

static void tmi_parse_ops(tmi_parser *p);

static uint32_t tmi_use_block(tmi_parser *p) {
    uint32_t     key, id;
    tmi_binding *b;
    if (p->tok.kind != TMI_K_BLOCK) {
        tmi_expected(p, "a block such as ^bb1");
        return 0;
    }
    key = tmi_intern_src(p, p->tok.at, p->tok.len);
    b = tmi_binding_of(p, &p->blocks, key);
    if (b && b->region == p->region) {
        id = b->id;
    } else {
        id = p->m->block.n;
        ((tmi_block *)tmi_vec_add(p->job, &p->m->block))->label = key;
        tmi_log(p, tmi_bind(p, &p->blocks, key, id, p->region) | 0x80000000u);
    }
    tmi_next(p);
    return id;
}

/* The block of a label, attached to the region; it may have been branched to already. */
static uint32_t tmi_define_block(tmi_parser *p, uint32_t region) {
    tmi_tok     tok = p->tok;
    uint32_t    id = tmi_use_block(p);
    tmi_region *r = TMI_REGION(p->m, region);
    tmi_block  *b;
    if (!id) return 0;
    b = TMI_BLOCK(p->m, id);
    if (b->region) {
        tmi_error(p->job, tmi_at_src(tok.at), TMETAL_E_REDEFINED, tmi_tok_text(p, &tok));
        p->bad = 1;
        return 0;
    }
    b->region = region;
    b->prev = r->last_block;
    if (r->last_block) TMI_BLOCK(p->m, r->last_block)->next = id;
    else r->first_block = id;
    r->last_block = id;
    return id;
}

/* [ '(' %a ':' type [loc] (',' ...)* ')' ] : arguments of a block, defined in it */
static void tmi_parse_block_args(tmi_parser *p, uint32_t block) {
    uint32_t base = p->n_stack, n, i;
    tmi_mark mark;
    uint32_t *values;
    if (tmi_skip_punct(p, '(')) {
        while (!p->bad && !tmi_at_punct(p, ')')) {
            uint32_t key = p->tok.kind == TMI_K_VALUE ? tmi_value_key(p, &p->tok, 0) : 0, at = p->tok.at, type, v;
            if (!key) {
                tmi_expected(p, "a block argument such as %x: f32");
                break;
            }
            tmi_next(p);
            tmi_want_punct(p, ':');
            type = tmi_parse_type(p);
            if (p->bad) break;
            v = tmi_define(p, key, type, at);
            TMI_VALUE(p->m, v)->loc = tmi_parse_loc(p);
            tmi_push(p, v);
            if (!tmi_skip_punct(p, ',')) break;
        }
        tmi_want_punct(p, ')');
    }
    n = p->n_stack - base;
    mark = tmi_mark_take(p->job);
    values = TMI_TEMP(p->job, uint32_t, n);
    for (i = 0; i < n; i++) values[i] = tmi_stack(p, base + i);
    p->n_stack = base;
    tmi_block_args(p->job, p->m, block, values, n);
    tmi_mark_drop(p->job, mark);
}

/* region ::= '{' [ops] block* '}' ; block ::= label [args] ':' ops
 * `entry` is the first block when the op's own syntax named its arguments; else 0. */
static void tmi_parse_region_body(tmi_parser *p, uint32_t region, uint32_t entry) {
    uint32_t outer_block = p->block;
    if (entry || (p->tok.kind != TMI_K_BLOCK && !tmi_at_punct(p, '}'))) {
        if (!entry) {
            entry = tmi_block_new(p->job, p->m, region);
            tmi_block_args(p->job, p->m, entry, NULL, 0);
        }
        p->block = entry;
        tmi_parse_ops(p);
    }
    while (!p->bad && p->tok.kind == TMI_K_BLOCK) {
        p->block = tmi_define_block(p, region);
        if (p->bad) break;
        tmi_parse_block_args(p, p->block);
        tmi_want_punct(p, ':');
        tmi_parse_ops(p);
    }
    tmi_want_punct(p, '}');
    p->block = outer_block;
}

/* Names defined between begin and end of a region are forgotten at its end. */
typedef struct tmi_scope {
    uint32_t log, region, func_region;
} tmi_scope;

static tmi_scope tmi_scope_begin(tmi_parser *p, int isolated) {
    tmi_scope s;
    s.log = p->log.n;
    s.region = p->region;
    s.func_region = p->func_region;
    p->region = ++p->n_regions;
    if (isolated) p->func_region = p->region;
    return s;
}

/* Forward values belong to the whole function: their bindings outlive this region. */
static void tmi_scope_leave(tmi_parser *p, tmi_scope s) {
    uint32_t i, keep = s.log;
    if (p->func_region == s.func_region) {
        for (i = s.log; i < p->log.n; i++) {
            uint32_t     e = *TMI_AT(&p->log, uint32_t, i);
            tmi_binding *b = TMI_AT(&p->bindings, tmi_binding, e & 0x7fffffffu);
            if (!(e >> 31) && b->region == p->func_region && p->region != p->func_region) keep++;
        }
    }
    if (keep == s.log) {
        tmi_scope_end(p, s.log);
    } else { /* rare: undo all, then bind the forward values of the function again */
        uint32_t n = p->log.n, k = 0;
        tmi_mark mark = tmi_mark_take(p->job);
        uint32_t *again = TMI_TEMP(p->job, uint32_t, keep - s.log);
        for (i = s.log; i < n; i++) {
            uint32_t     e = *TMI_AT(&p->log, uint32_t, i);
            tmi_binding *b = TMI_AT(&p->bindings, tmi_binding, e & 0x7fffffffu);
            if (!(e >> 31) && b->region == p->func_region) again[k++] = e;
        }
        tmi_scope_end(p, s.log);
        for (i = 0; i < k; i++) {
            tmi_binding *b = TMI_AT(&p->bindings, tmi_binding, again[i]);
            uint32_t     name = b->name, id = b->id;
            tmi_log(p, tmi_bind(p, &p->values, name, id, p->func_region));
        }
        tmi_mark_drop(p->job, mark);
    }
    p->region = s.region;
    p->func_region = s.func_region;
}

/* A region in braces with its own scope. */
static uint32_t tmi_parse_region(tmi_parser *p, tmi_draft *d) {
    uint32_t  region = tmi_region_new(p->job, p->m, d->op);
    tmi_scope s;
    tmi_want_punct(p, '{');
    if (p->bad || !tmi_enter(p)) {
        if (!p->bad) tmi_exit(p);
        return region;
    }
    s = tmi_scope_begin(p, tmi_ops[d->kind].traits & TMI_SCOPE);
    tmi_parse_region_body(p, region, 0);
    tmi_scope_leave(p, s);
    tmi_exit(p);
    return region;
}

/* A region whose entry block takes arguments already bound in scope `s`. */
static void tmi_parse_region_with(tmi_parser *p, tmi_draft *d, const uint32_t *values, uint32_t n) {
    uint32_t region = tmi_region_new(p->job, p->m, d->op), entry;
    tmi_want_punct(p, '{');
    if (p->bad) return;
    entry = tmi_block_new(p->job, p->m, region);
    tmi_block_args(p->job, p->m, entry, values, n);
    if (tmi_enter(p)) tmi_parse_region_body(p, region, entry);
    tmi_exit(p);
}

/* Custom syntax leaves an argument-less scf.yield out. */
static void tmi_add_yield(tmi_parser *p, uint32_t region) {
    uint32_t   block = TMI_REGION(p->m, region)->last_block, last, op;
    if (p->bad) return;
    if (!block) {
        block = tmi_block_new(p->job, p->m, region);
        tmi_block_args(p->job, p->m, block, NULL, 0);
    }
    last = TMI_BLOCK(p->m, block)->last_op;
    if (last && (tmi_ops[TMI_OP(p->m, last)->kind].traits & TMI_ENDS)) return;
    op = tmi_op_new(p->job, p->m, TMI_OP_YIELD);
    tmi_op_append(p->m, block, op);
}

/* %a '=' %init (',' ...)* in parentheses: names to bind in the body, inits as operands.
 * Pushes name keys after the operands; gives how many. */
static uint32_t tmi_parse_inits(tmi_parser *p, tmi_draft *d, tmi_tok *names, uint32_t most) {
    uint32_t n = 0;
    tmi_want_punct(p, '(');
    while (!p->bad && !tmi_at_punct(p, ')')) {
        if (n == most) {
            tmi_expected(p, "fewer loop-carried values");
            break;
        }
        names[n] = p->tok;
        if (p->tok.kind != TMI_K_VALUE) {
            tmi_expected(p, "a loop-carried value such as %a = %init");
            break;
        }
        tmi_next(p);
        tmi_want_punct(p, '=');
        tmi_draft_operand(p, d);
        n++;
        if (!tmi_skip_punct(p, ',')) break;
    }
    tmi_want_punct(p, ')');
    return n;
}

/* How many '=' stand before the closing parenthesis: the number of inits. */
static uint32_t tmi_count_inits(const tmi_parser *p) {
    uint32_t pos = p->tok.at, n = 1;
    for (; pos < p->len && p->src[pos] != ')'; pos++) n += p->src[pos] == '=';
    return n;
}

/* for_ ::= ['unsigned'] %iv '=' %lb 'to' %ub 'step' %st ['iter_args' inits '->' types] [':' T] region attrs */
static void tmi_parse_for_(tmi_parser *p, tmi_draft *d) {
    uint32_t  n = 0, i, type, base;
    tmi_tok   iv, *names = NULL;
    tmi_mark  mark = tmi_mark_take(p->job);
    uint32_t *args;
    tmi_scope s;

    if (tmi_skip_word(p, "unsigned")) tmi_set(p, d, "unsignedCmp", tmi_attr_new(p->job, p->m, TMI_A_UNIT, 0, 0));
    iv = p->tok;
    if (iv.kind != TMI_K_VALUE) {
        tmi_expected(p, "the loop's variable such as %i");
        return;
    }
    tmi_next(p);
    tmi_want_punct(p, '=');
    tmi_draft_operand(p, d);
    if (!tmi_skip_word(p, "to")) tmi_expected(p, "'to'");
    tmi_draft_operand(p, d);
    if (!tmi_skip_word(p, "step")) tmi_expected(p, "'step'");
    tmi_draft_operand(p, d);
    if (tmi_skip_word(p, "iter_args")) {
        uint32_t most = tmi_count_inits(p);
        names = TMI_TEMP(p->job, tmi_tok, most);
        n = tmi_parse_inits(p, d, names, most);
        tmi_want_arrow(p);
        base = p->n_stack;
        if (!p->bad && tmi_parse_type_list(p) != n) tmi_expected(p, "one type a loop-carried value");
        for (i = 0; i < n && !p->bad; i++) tmi_draft_expect(p, d, 3 + i, tmi_stack(p, base + i));
        d->out = base;
        d->n_out = p->bad ? 0 : n;
    }
    type = tmi_skip_punct(p, ':') ? tmi_parse_type(p) : p->m->t_index;
    tmi_expect_from(p, d, 0, 3, type);
    if (p->bad) return;
    s = tmi_scope_begin(p, 0);
    args = TMI_TEMP(p->job, uint32_t, n + 1);
    args[0] = tmi_define(p, tmi_value_key(p, &iv, 0), type, iv.at);
    for (i = 0; i < n; i++)
        args[i + 1] = tmi_define(p, tmi_value_key(p, &names[i], 0), tmi_stack(p, d->out + i), names[i].at);
    tmi_parse_region_with(p, d, args, n + 1);
    tmi_scope_leave(p, s);
    tmi_mark_drop(p->job, mark);
    tmi_add_yield(p, TMI_OP(p->m, d->op)->region);
    tmi_parse_op_attrs(p, d);
}

/* if_ ::= %c ['->' types] region ['else' region] attrs */
static void tmi_parse_if_(tmi_parser *p, tmi_draft *d) {
    uint32_t r;
    tmi_draft_operand(p, d);
    tmi_draft_expect(p, d, 0, p->m->t_i1);
    if (tmi_at_arrow(p)) {
        tmi_next(p);
        d->out = p->n_stack;
        d->n_out = tmi_parse_type_list(p);
    }
    r = tmi_parse_region(p, d);
    tmi_add_yield(p, r);
    if (!p->bad && tmi_skip_word(p, "else")) {
        r = tmi_parse_region(p, d);
        tmi_add_yield(p, r);
    }
    tmi_parse_op_attrs(p, d);
}

/* while_ ::= [inits] ':' fn-type region 'do' region ['attributes' dict] */
static void tmi_parse_while_(tmi_parser *p, tmi_draft *d) {
    uint32_t  n = 0, i, base, n_types, r;
    tmi_tok  *names = NULL;
    tmi_mark  mark = tmi_mark_take(p->job);
    uint32_t *args;
    tmi_scope s;
    if (tmi_at_punct(p, '(')) {
        uint32_t most = tmi_count_inits(p);
        names = TMI_TEMP(p->job, tmi_tok, most);
        n = tmi_parse_inits(p, d, names, most);
    }
    tmi_want_punct(p, ':');
    base = p->n_stack;
    n_types = p->bad ? 0 : tmi_parse_type_list(p);
    if (!p->bad && n_types != n) tmi_expected(p, "one type a loop-carried value");
    if (p->bad) return;
    args = TMI_TEMP(p->job, uint32_t, n + 1);
    for (i = 0; i < n; i++) tmi_draft_expect(p, d, i, tmi_stack(p, base + i));
    tmi_want_arrow(p);
    s = tmi_scope_begin(p, 0);
    for (i = 0; i < n; i++)
        args[i] = tmi_define(p, tmi_value_key(p, &names[i], 0), tmi_stack(p, base + i), names[i].at);
    p->n_stack = base;
    d->out = base;
    d->n_out = p->bad ? 0 : tmi_parse_type_list(p);
    if (!p->bad) tmi_parse_region_with(p, d, args, n);
    tmi_scope_leave(p, s);
    tmi_mark_drop(p->job, mark);
    if (!p->bad && !tmi_skip_word(p, "do")) tmi_expected(p, "'do'");
    if (p->bad) return;
    r = tmi_parse_region(p, d);
    tmi_add_yield(p, r);
    if (tmi_skip_word(p, "attributes")) tmi_parse_op_attrs(p, d);
}

/* execute ::= ['->' types] ['no_inline'] region attrs */
static void tmi_parse_execute(tmi_parser *p, tmi_draft *d) {
    if (tmi_at_arrow(p)) {
        tmi_next(p);
        d->out = p->n_stack;
        d->n_out = tmi_parse_type_list(p);
    }
    if (tmi_skip_word(p, "no_inline")) tmi_set(p, d, "no_inline", tmi_attr_new(p->job, p->m, TMI_A_UNIT, 0, 0));
    (void)tmi_parse_region(p, d);
    tmi_parse_op_attrs(p, d);
}

/* target ::= ^bb ['(' %a, ... ':' types ')'] */
static void tmi_parse_target(tmi_parser *p, tmi_draft *d, int typed) {
    uint32_t  block = tmi_use_block(p), base = p->n_stack, n, i, first;
    tmi_succ *s;
    if (!p->bad && tmi_skip_punct(p, '(')) {
        do tmi_push(p, tmi_use(p));
        while (!p->bad && tmi_skip_punct(p, ','));
        n = p->n_stack - base;
        if (typed) {
            tmi_want_punct(p, ':');
            for (i = 0; i < n && !p->bad; i++) {
                if (i) tmi_want_punct(p, ',');
                tmi_expect_type(p, tmi_stack(p, base + i), tmi_parse_type(p), d->at);
            }
        }
        tmi_want_punct(p, ')');
    }
    n = p->n_stack - base;
    first = p->m->ids.n;
    for (i = 0; i < n; i++) *(uint32_t *)tmi_vec_add(p->job, &p->m->ids) = tmi_stack(p, base + i);
    p->n_stack = base;
    if (!TMI_OP(p->m, d->op)->n_succ) TMI_OP(p->m, d->op)->succ = p->m->succ.n;
    TMI_OP(p->m, d->op)->n_succ++;
    s = (tmi_succ *)tmi_vec_add(p->job, &p->m->succ);
    s->block = block;
    s->n_in = n;
    s->in = first;
}

/* br ::= target attrs */
static void tmi_parse_br(tmi_parser *p, tmi_draft *d) {
    tmi_parse_target(p, d, 1);
    tmi_parse_op_attrs(p, d);
}

/* cond_br ::= %c ['weights' '(' array ')'] ',' target ',' target attrs */
static void tmi_parse_cond_br(tmi_parser *p, tmi_draft *d) {
    tmi_draft_operand(p, d);
    tmi_draft_expect(p, d, 0, p->m->t_i1);
    if (tmi_skip_word(p, "weights")) {
        tmi_want_punct(p, '(');
        if (!p->bad) (void)tmi_parse_attr(p);
        tmi_want_punct(p, ')');
    }
    tmi_want_punct(p, ',');
    tmi_parse_target(p, d, 1);
    tmi_want_punct(p, ',');
    tmi_parse_target(p, d, 1);
    tmi_parse_op_attrs(p, d);
}

/* -- Functions and modules -------------------------------------------------------------------- */

/* arg ::= %a ':' type [dict] [loc] | type [dict] */
static void tmi_parse_func_arg(tmi_parser *p, int *declared) {
    uint32_t key = 0, at = p->tok.at, type, v, attrs;
    if (p->tok.kind == TMI_K_VALUE) {
        key = tmi_value_key(p, &p->tok, 0);
        tmi_next(p);
        tmi_want_punct(p, ':');
    } else {
        *declared = 1;
    }
    type = tmi_parse_type(p);
    if (p->bad) return;
    v = key ? tmi_define(p, key, type, at) : tmi_value_new(p->job, p->m, type);
    attrs = tmi_parse_dict(p);
    TMI_VALUE(p->m, v)->loc = tmi_parse_loc(p);
    tmi_push(p, v);
    tmi_push(p, tmi_attr_new(p->job, p->m, TMI_A_DICT, 0, attrs));
}

/* results ::= type | '(' [type [dict] (',' ...)*] ')' */
static uint32_t tmi_parse_func_results(tmi_parser *p) {
    uint32_t n = 0;
    if (!tmi_at_arrow(p)) return 0;
    tmi_next(p);
    if (!tmi_skip_punct(p, '(')) {
        tmi_push(p, tmi_parse_type(p));
        return 1;
    }
    while (!p->bad && !tmi_at_punct(p, ')')) {
        tmi_push(p, tmi_parse_type(p));
        (void)tmi_parse_dict(p);
        n++;
        if (!tmi_skip_punct(p, ',')) break;
    }
    tmi_want_punct(p, ')');
    return n;
}

/* Keep arguments' attributes and the function's type as MLIR does. */
static void tmi_func_attrs(tmi_parser *p, tmi_draft *d, uint32_t base, uint32_t n, uint32_t n_res) {
    uint32_t  i, attr;
    tmi_mark  mark = tmi_mark_take(p->job);
    uint32_t *dims = TMI_TEMP(p->job, uint32_t, n + n_res);
    tmi_type  t;
    memset(&t, 0, sizeof t);
    t.kind = TMI_T_FUNC;
    t.bits = n;
    t.n_dims = n + n_res;
    for (i = 0; i < n; i++) dims[i] = tmi_value_type(p->m, tmi_stack(p, base + 2 * i));
    for (i = 0; i < n_res; i++) dims[n + i] = tmi_stack(p, base + 2 * n + i);
    tmi_set(p, d, "function_type", tmi_attr_new(p->job, p->m, TMI_A_TYPE, tmi_type_get(p->job, p->m, &t, dims), 0));
    attr = tmi_attr_new(p->job, p->m, TMI_A_ARRAY, 0, p->m->ids.n);
    TMI_ATTR(p->m, attr)->n = n;
    for (i = 0; i < n; i++) *(uint32_t *)tmi_vec_add(p->job, &p->m->ids) = tmi_stack(p, base + 2 * i + 1);
    tmi_set(p, d, "arg_attrs", attr);
    tmi_mark_drop(p->job, mark);
}

/* func ::= ['public'|'private'|'nested'] symbol '(' args ')' ['->' results] ['attributes' dict] [region] */
static void tmi_parse_func(tmi_parser *p, tmi_draft *d) {
    uint32_t  base, n, n_res, i;
    int       declared = 0;
    tmi_mark  mark;
    uint32_t *args;
    tmi_scope s;

    if (tmi_at_word(p, "public") || tmi_at_word(p, "private") || tmi_at_word(p, "nested")) {
        uint32_t word = tmi_intern_src(p, p->tok.at, p->tok.len);
        tmi_set(p, d, "sym_visibility", tmi_attr_new(p->job, p->m, TMI_A_STRING, 0, word));
        tmi_next(p);
    }
    tmi_set(p, d, "sym_name", tmi_attr_new(p->job, p->m, TMI_A_STRING, 0, tmi_parse_symbol(p)));
    s = tmi_scope_begin(p, 1);
    base = p->n_stack;
    tmi_want_punct(p, '(');
    while (!p->bad && !tmi_at_punct(p, ')')) {
        tmi_parse_func_arg(p, &declared);
        if (!tmi_skip_punct(p, ',')) break;
    }
    tmi_want_punct(p, ')');
    n = (p->n_stack - base) / 2;
    n_res = tmi_parse_func_results(p);
    if (p->bad) return;
    tmi_func_attrs(p, d, base, n, n_res);
    if (tmi_skip_word(p, "attributes")) tmi_parse_op_attrs(p, d);
    mark = tmi_mark_take(p->job);
    args = TMI_TEMP(p->job, uint32_t, n);
    for (i = 0; i < n; i++) args[i] = tmi_stack(p, base + 2 * i);
    p->n_stack = base;
    if (tmi_at_punct(p, '{')) tmi_parse_region_with(p, d, args, n);
    else (void)tmi_region_new(p->job, p->m, d->op);
    tmi_scope_leave(p, s);
    tmi_mark_drop(p->job, mark);
}

/* module ::= [symbol] ['attributes' dict] region */
static void tmi_parse_module(tmi_parser *p, tmi_draft *d) {
    if (p->tok.kind == TMI_K_SYMBOL)
        tmi_set(p, d, "sym_name", tmi_attr_new(p->job, p->m, TMI_A_STRING, 0, tmi_parse_symbol(p)));
    if (tmi_skip_word(p, "attributes")) tmi_parse_op_attrs(p, d);
    (void)tmi_parse_region(p, d);
}

/* -- Ops ------------------------------------------------------------------------------------------ */

typedef void (*tmi_parse_fn)(tmi_parser *, tmi_draft *);

static const tmi_parse_fn tmi_parse_by_kind[TMI_OP_COUNT] = {
    0,
#define X(id, name, group, in, out, types, text, lower, tf, traits) tmi_parse_##text,
    TMI_OPS(X)
#undef X
};

/* generic ::= string '(' operands ')' ['[' targets ']'] ['<' dict '>'] ['(' regions ')'] dict ':' fn-type */
static void tmi_parse_generic_op(tmi_parser *p, tmi_draft *d) {
    tmi_want_punct(p, '(');
    if (!p->bad && !tmi_at_punct(p, ')')) tmi_parse_operands(p, d);
    tmi_want_punct(p, ')');
    if (tmi_skip_punct(p, '[')) {
        do tmi_parse_target(p, d, 1);
        while (!p->bad && tmi_skip_punct(p, ','));
        tmi_want_punct(p, ']');
    }
    if (tmi_skip_punct(p, '<')) {
        tmi_parse_op_attrs(p, d);
        tmi_want_punct(p, '>');
    }
    if (tmi_skip_punct(p, '(')) {
        do (void)tmi_parse_region(p, d);
        while (!p->bad && tmi_skip_punct(p, ','));
        tmi_want_punct(p, ')');
    }
    tmi_parse_attrs_colon(p, d);
    if (!p->bad) tmi_parse_fn_types(p, d);
}

/* The op table by name: 16-bit slots in scratch, filled anew for each text since nothing is kept. */
static void tmi_names_init(tmi_parser *p) {
    uint32_t i, k;
    p->op_slot = TMI_NEW(p->job, uint16_t, TMI_OP_SLOTS);
    for (i = 1; i < TMI_OP_COUNT; i++) {
        if (tmi_ops[i].traits & TMI_INNER) continue;
        k = tmi_hash_bytes(tmi_ops[i].name, strlen(tmi_ops[i].name)) & (TMI_OP_SLOTS - 1);
        while (p->op_slot[k]) k = (k + 1) & (TMI_OP_SLOTS - 1);
        p->op_slot[k] = (uint16_t)i;
    }
}

static int tmi_name_is(const char *name, const char *s, uint32_t len) {
    return strlen(name) == len && memcmp(name, s, len) == 0;
}

static uint32_t tmi_op_kind_named(const tmi_parser *p, uint32_t at, uint32_t len) {
    const char *s = p->src + at;
    uint32_t    k = tmi_hash_bytes(s, len) & (TMI_OP_SLOTS - 1), i;
    for (; p->op_slot[k]; k = (k + 1) & (TMI_OP_SLOTS - 1))
        if (tmi_name_is(tmi_ops[p->op_slot[k]].name, s, len)) return p->op_slot[k];
    for (i = 0; i < sizeof tmi_old_ops / sizeof *tmi_old_ops; i++) /* a dozen rows */
        if (tmi_name_is(tmi_old_ops[i].name, s, len)) return tmi_old_ops[i].kind;
    return 0;
}

/* Edit distance of a misspelt name, cut off at 3: enough to suggest, cheap enough to try every row. */
static uint32_t tmi_distance(const char *a, const char *b) {
    uint32_t row[64], i, k, n = (uint32_t)strlen(b);
    if (n > 60 || strlen(a) > 60) return 99;
    for (k = 0; k <= n; k++) row[k] = k;
    for (i = 1; a[i - 1]; i++) {
        uint32_t diag = row[0];
        row[0] = i;
        for (k = 1; k <= n; k++) {
            uint32_t up = row[k], best = diag + (a[i - 1] != b[k - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
            diag = up;
            row[k] = best;
        }
    }
    return row[n];
}

static void tmi_unknown_op(tmi_parser *p, uint32_t at, uint32_t len) {
    const char *name = TMI_STR(p->m, tmi_intern_src(p, at, len > 60 ? 60 : len)), *best = NULL;
    uint32_t    i, d, least = 3;
    p->bad = 1;
    if (strncmp(name, "ttg.", 4) == 0 || strncmp(name, "triton_gpu.", 11) == 0 || strncmp(name, "ttng.", 5) == 0 ||
        strncmp(name, "triton_nvidia_gpu.", 18) == 0 || strncmp(name, "amdgpu.", 7) == 0 || strncmp(name, "amdg.", 5) == 0) {
        tmi_error(p->job, tmi_at_src(at), TMETAL_E_TTGIR, name);
        return;
    }
    tmi_error(p->job, tmi_at_src(at), TMETAL_E_UNKNOWN_OP, name);
    for (i = 1; i < TMI_OP_COUNT; i++) {
        if (tmi_ops[i].traits & TMI_INNER) continue;
        d = tmi_distance(name, tmi_ops[i].name);
        if (d < least) least = d, best = tmi_ops[i].name;
    }
    if (best) tmi_help(p->job, NULL, tmi_format(p->job, 0, "did you mean '%s'?", best));
}

/* Attribute names of old versions and defaults that newer ones leave out. */
static void tmi_modernise(tmi_parser *p, const tmi_draft *d) {
    tmi_module     *m = p->m;
    const tmi_attr *a;
    static const char *const gone[] = {"operandSegmentSizes", "resultSegmentSizes", "overflowFlags", "fastmath"};
    uint32_t i;
    for (i = 0; i < 4; i++)
        if (d->kind != TMI_OP_DOT_SCALED || i) tmi_op_drop_attr(m, d->op, gone[i]);
    if (d->kind == TMI_OP_DOT) {
        a = tmi_attr_of(m, TMI_OP(m, d->op), "allowTF32");
        if (a) tmi_set_i32(p, d, "inputPrecision", a->value ? 0 : 2);
        tmi_op_drop_attr(m, d->op, "allowTF32");
        if (tmi_attr_int(m, TMI_OP(m, d->op), "inputPrecision", 2) == 2) tmi_op_drop_attr(m, d->op, "inputPrecision");
        if (tmi_attr_int(m, TMI_OP(m, d->op), "maxNumImpreciseAcc", 0) == 0) tmi_op_drop_attr(m, d->op, "maxNumImpreciseAcc");
    } else if (d->kind == TMI_OP_LOAD || d->kind == TMI_OP_STORE || d->kind == TMI_OP_DLOAD) {
        if (tmi_attr_int(m, TMI_OP(m, d->op), "cache", 1) == 1) tmi_op_drop_attr(m, d->op, "cache");
        if (tmi_attr_int(m, TMI_OP(m, d->op), "evict", 1) == 1) tmi_op_drop_attr(m, d->op, "evict");
        if (!tmi_attr_int(m, TMI_OP(m, d->op), "isVolatile", 0)) tmi_op_drop_attr(m, d->op, "isVolatile");
        a = tmi_attr_of(m, TMI_OP(m, d->op), "boundaryCheck");
        if (a && a->kind == TMI_A_LIST && !a->n) tmi_op_drop_attr(m, d->op, "boundaryCheck");
    } else if (d->kind == TMI_OP_RMW || d->kind == TMI_OP_CAS) {
        if (!tmi_attr_of(m, TMI_OP(m, d->op), "sem")) tmi_set_i32(p, d, "sem", 4);
        if (!tmi_attr_of(m, TMI_OP(m, d->op), "scope")) tmi_set_i32(p, d, "scope", 1);
    } else if (d->kind == TMI_OP_RESHAPE) {
        if (!tmi_attr_int(m, TMI_OP(m, d->op), "allow_reorder", 0)) tmi_op_drop_attr(m, d->op, "allow_reorder");
        else tmi_set(p, d, "allow_reorder", tmi_attr_new(p->job, m, TMI_A_UNIT, 0, 0));
        if (!tmi_attr_int(m, TMI_OP(m, d->op), "efficient_layout", 0)) tmi_op_drop_attr(m, d->op, "efficient_layout");
        else tmi_set(p, d, "efficient_layout", tmi_attr_new(p->job, m, TMI_A_UNIT, 0, 0));
    } else if (d->kind == TMI_OP_FOR) {
        if (!tmi_attr_int(m, TMI_OP(m, d->op), "unsignedCmp", 0)) tmi_op_drop_attr(m, d->op, "unsignedCmp");
    } else if (d->kind == TMI_OP_CLAMPF) {
        if (!tmi_attr_of(m, TMI_OP(m, d->op), "propagateNan")) tmi_set_i32(p, d, "propagateNan", 0);
    }
}

/* 2.1 has tt.trans without order (all axes reversed) and tt.view, which promises no order. */
static void tmi_modernise_name(tmi_parser *p, const tmi_draft *d, const char *name) {
    if (d->kind != TMI_OP_RESHAPE && d->kind != TMI_OP_EXTERN && d->kind != TMI_OP_TRANS) return;
    if (strcmp(name, "tt.view") == 0) tmi_set(p, d, "allow_reorder", tmi_attr_new(p->job, p->m, TMI_A_UNIT, 0, 0));
    if (strcmp(name, "tt.pure_extern_elementwise") == 0 || strcmp(name, "tt.impure_extern_elementwise") == 0)
        tmi_set(p, d, "pure", tmi_attr_new(p->job, p->m, TMI_A_BOOL, p->m->t_i1, name[3] == 'p'));
    if (d->kind == TMI_OP_TRANS && !tmi_attr_of(p->m, TMI_OP(p->m, d->op), "order") && d->n_out && !p->bad) {
        uint32_t rank = tmi_rank(p->m, tmi_stack(p, d->out)), list, i;
        list = tmi_attr_new(p->job, p->m, TMI_A_LIST, p->m->t_i32, p->m->words.n);
        TMI_ATTR(p->m, list)->n = rank;
        for (i = 0; i < rank; i++) *(uint64_t *)tmi_vec_add(p->job, &p->m->words) = rank - 1 - i;
        tmi_set(p, d, "order", list);
    }
}

/* Bind the names before '=' to the results; give the op its operands and results. */
static void tmi_draft_finish(tmi_parser *p, tmi_draft *d) {
    uint32_t  i, k, n = 0, total = 0;
    tmi_mark  mark = tmi_mark_take(p->job);
    uint32_t *v = TMI_TEMP(p->job, uint32_t, d->n_in + d->n_out + 1);

    for (i = 0; i < d->n_names; i++) total += d->names[i].sub;
    if (d->n_names && total != d->n_out) {
        tmi_error(p->job, tmi_at_src(d->at), TMETAL_E_RESULTS, d->n_out, total);
        p->bad = 1;
        tmi_mark_drop(p->job, mark);
        return;
    }
    for (i = 0; i < d->n_in; i++) v[i] = tmi_stack(p, d->in + i);
    tmi_op_operands(p->job, p->m, d->op, v, d->n_in);
    for (i = 0; i < d->n_names; i++)
        for (k = 0; k < d->names[i].sub; k++, n++)
            v[n] = tmi_define(p, tmi_value_key(p, &d->names[i], k), tmi_stack(p, d->out + n), d->names[i].at);
    for (; n < d->n_out; n++) v[n] = tmi_value_new(p->job, p->m, tmi_stack(p, d->out + n));
    tmi_op_results(p->job, p->m, d->op, v, d->n_out);
    tmi_mark_drop(p->job, mark);
}

/* Results of a wrong op are defined without a type, so that their uses are not errors as well. */
static void tmi_draft_poison(tmi_parser *p, tmi_draft *d) {
    uint32_t i, k;
    for (i = 0; i < d->n_names; i++)
        for (k = 0; k < d->names[i].sub && k < 64; k++) {
            uint32_t     key = tmi_value_key(p, &d->names[i], k);
            tmi_binding *b = tmi_binding_of(p, &p->values, key);
            if (!b || TMI_VALUE(p->m, b->id)->is_forward) (void)tmi_define(p, key, 0, d->at);
        }
}

/* result-names ::= %a [':' int] (',' ...)* '=' ; collects tokens, `sub` being the group's size */
static uint32_t tmi_parse_result_names(tmi_parser *p, tmi_tok **names) {
    uint32_t n = 0, most = 1, pos;
    *names = NULL;
    if (p->tok.kind != TMI_K_VALUE) return 0;
    for (pos = p->pos; pos < p->len && p->src[pos] != '=' && p->src[pos] != '\n'; pos++) most += p->src[pos] == ',';
    *names = TMI_TEMP(p->job, tmi_tok, most);
    do {
        if (p->tok.kind != TMI_K_VALUE || n == most) {
            tmi_expected(p, "a result name such as %x");
            return n;
        }
        (*names)[n] = p->tok;
        tmi_next(p);
        (*names)[n++].sub = tmi_skip_punct(p, ':') ? tmi_parse_u32(p) : 1;
    } while (tmi_skip_punct(p, ','));
    tmi_want_punct(p, '=');
    return n;
}

static void tmi_parse_op(tmi_parser *p) {
    tmi_draft d;
    tmi_tok  *names, tok;
    uint32_t  base = p->n_stack, quoted, skip;
    tmi_mark  mark = tmi_mark_take(p->job);

    memset(&d, 0, sizeof d);
    d.n_names = tmi_parse_result_names(p, &names);
    d.names = names;
    tok = p->tok;
    d.at = tok.at;
    d.in = d.out = base;
    quoted = tok.kind == TMI_K_STRING;
    skip = quoted;
    if (!quoted && tok.kind != TMI_K_WORD) tmi_expected(p, "an operation");
    if (!p->bad) {
        d.kind = tmi_op_kind_named(p, tok.at + skip, tok.len - 2 * skip);
        if (!d.kind) tmi_unknown_op(p, tok.at + skip, tok.len - 2 * skip);
    }
    if (!p->bad) {
        d.op = tmi_op_new(p->job, p->m, d.kind);
        TMI_OP(p->m, d.op)->src = tok.at + 1;
        tmi_op_append(p->m, p->block, d.op);
        tmi_next(p);
        if (quoted) tmi_parse_generic_op(p, &d);
        else tmi_parse_by_kind[d.kind](p, &d);
    }
    if (!p->bad) {
        tmi_modernise(p, &d);
        tmi_modernise_name(p, &d, TMI_STR(p->m, tmi_intern_src(p, tok.at + skip, tok.len - 2 * skip)));
        tmi_draft_finish(p, &d);
    }
    if (!p->bad) TMI_OP(p->m, d.op)->loc = tmi_parse_loc(p);
    if (p->bad) {
        if (d.op) tmi_op_unlink(p->m, d.op);
        tmi_draft_poison(p, &d);
    }
    p->n_stack = base;
    tmi_mark_drop(p->job, mark);
}

/* After an error: on to the next op at the same depth, which starts a line. */
static void tmi_recover(tmi_parser *p) {
    uint32_t depth = 0;
    for (;;) {
        if (p->tok.kind == TMI_K_END) return;
        if (tmi_at_punct(p, '{')) depth++;
        if (tmi_at_punct(p, '}')) {
            if (!depth) return;
            depth--;
        } else if (!depth && p->tok.first && (p->tok.kind == TMI_K_VALUE || p->tok.kind == TMI_K_STRING ||
                                              p->tok.kind == TMI_K_WORD || p->tok.kind == TMI_K_BLOCK)) {
            return;
        }
        p->bad = 1; /* the lexer stays quiet while skipping */
        tmi_next(p);
    }
}

/* ops ::= op* ; up to the end of the region, a block's label, an alias line or the end of the text */
static void tmi_parse_ops(tmi_parser *p) {
    while (p->tok.kind != TMI_K_END && p->tok.kind != TMI_K_BLOCK && p->tok.kind != TMI_K_HASH &&
           p->tok.kind != TMI_K_BANG && !tmi_at_punct(p, '}')) {
        uint32_t before = p->tok.at;
        tmi_parse_op(p);
        if (!p->bad) continue;
        if (tmi_enough_errors(p->job) || p->job->depth > TMI_MAX_DEPTH) return;
        if (p->tok.at == before) tmi_next(p);
        tmi_recover(p);
        p->bad = 0;
    }
}

/* -- Files ------------------------------------------------------------------------------------------- */

/* alias ::= ('#' | '!') name '=' (location | attribute | type) */
static void tmi_parse_alias(tmi_parser *p) {
    uint32_t name = tmi_intern_src(p, p->tok.at, p->tok.len), id;
    int      is_type = p->tok.kind == TMI_K_BANG;
    tmi_next(p);
    tmi_want_punct(p, '=');
    if (p->bad) return;
    if (is_type) {
        id = tmi_parse_type(p);
        if (!p->bad) *tmi_map_at(p->job, &p->aliases, name) = id;
    } else if (tmi_at_word(p, "loc")) {
        id = tmi_parse_loc(p);
        if (!p->bad) {
            uint32_t alias = tmi_loc_alias(p, name);
            TMI_LOC(p->m, alias)->child = id;
        }
    } else {
        id = tmi_parse_attr(p);
        if (!p->bad) *tmi_map_at(p->job, &p->aliases, name) = id;
    }
}

static void tmi_check_forward(tmi_parser *p) {
    uint32_t i;
    for (i = 0; i + 1 < p->forward.n; i += 2) {
        uint32_t v = *TMI_AT(&p->forward, uint32_t, i), at = *TMI_AT(&p->forward, uint32_t, i + 1);
        if (TMI_VALUE(p->m, v)->is_forward)
            tmi_error(p->job, tmi_at_src(at), TMETAL_E_UNDEFINED,
                      tmi_format(p->job, 1, "%%%s", TMI_STR(p->m, TMI_VALUE(p->m, v)->name)));
    }
    for (i = 1; i < p->m->block.n; i++) {
        tmi_block *b = TMI_BLOCK(p->m, i);
        if (!b->region) tmi_error(p->job, tmi_at_src(0), TMETAL_E_BLOCK, TMI_STR(p->m, b->label));
    }
    for (i = 1; i < p->m->loc.n; i++) {
        tmi_loc *l = TMI_LOC(p->m, i);
        if (l->kind == TMI_L_ALIAS && !l->child)
            tmi_error(p->job, tmi_at_src(0), TMETAL_E_ALIAS, TMI_STR(p->m, l->text));
    }
}

/* A loop among location aliases would never end a walk: cut it where it closes. */
static void tmi_cut_loc_loops(tmi_module *m) {
    uint32_t i, steps, at;
    for (i = 1; i < m->loc.n; i++)
        for (at = i, steps = 0; at; at = TMI_LOC(m, at)->child) {
            if (TMI_LOC(m, at)->kind != TMI_L_ALIAS && TMI_LOC(m, at)->kind != TMI_L_NAME) break;
            if (++steps > 100) {
                TMI_LOC(m, i)->child = 0;
                break;
            }
        }
}

static void tmi_parser_init(tmi_parser *p, tmi_job *job, tmi_module *m, const char *src, size_t len) {
    memset(p, 0, sizeof *p);
    p->job = job;
    p->m = m;
    p->src = src;
    p->len = (uint32_t)len;
    tmi_vec_init(&p->bindings, sizeof(tmi_binding), 0);
    tmi_vec_init(&p->log, sizeof(uint32_t), 0);
    tmi_vec_init(&p->forward, sizeof(uint32_t), 0);
    tmi_vec_init(&p->stack, sizeof(uint32_t), 0);
    (void)tmi_vec_add(job, &p->bindings);
    tmi_names_init(p);
}

/* The builtin.module that everything stands in; text may leave it out. */
static void tmi_open_top(tmi_parser *p) {
    uint32_t r, b;
    p->m->top = tmi_op_new(p->job, p->m, TMI_OP_MODULE);
    r = tmi_region_new(p->job, p->m, p->m->top);
    b = tmi_block_new(p->job, p->m, r);
    tmi_block_args(p->job, p->m, b, NULL, 0);
    p->block = b;
}

/* A file that had its own module: that one is the top. */
static void tmi_adopt_module(tmi_module *m) {
    uint32_t first = TMI_BLOCK(m, tmi_op_body(m, TMI_OP(m, m->top), 0))->first_op;
    if (first && TMI_OP(m, first)->kind == TMI_OP_MODULE && !TMI_OP(m, first)->next) {
        tmi_op_unlink(m, first);
        m->top = first;
    }
}

/* file ::= (alias | op)* */
static tmi_module *tmi_parse_file(tmi_job *job, const char *src, size_t len) {
    tmi_module *m = tmi_module_new(job);
    tmi_parser  p;
    if (len > TMI_MAX_SRC) {
        tmi_error(job, tmi_at_src(0), TMETAL_E_TOO_LARGE, (unsigned long long)len, (unsigned long long)TMI_MAX_SRC);
        return m;
    }
    tmi_parser_init(&p, job, m, src, len);
    tmi_open_top(&p);
    tmi_next(&p);
    while (p.tok.kind != TMI_K_END && !tmi_enough_errors(job) && job->depth <= TMI_MAX_DEPTH) {
        uint32_t before = p.tok.at;
        if (p.tok.kind == TMI_K_HASH || p.tok.kind == TMI_K_BANG) tmi_parse_alias(&p);
        else tmi_parse_ops(&p);
        if (!p.bad && p.tok.at != before) continue;
        if (!p.bad) tmi_expected(&p, "an operation or an alias");
        p.bad = 1;
        tmi_next(&p);
        p.bad = 0;
    }
    if (job->n_errors) return m;
    tmi_check_forward(&p);
    tmi_cut_loc_loops(m);
    tmi_adopt_module(m);
    return m;
}

/*==============================================================================
 * >>print  [10]  IR back to text; parse(print(x)) is x
 *
 * gives   tmi_print_module()
 * uses    >>base  >>ops  >>ir
 * order   of the IR; names are those that were read, places become #loc aliases in order of use
 *============================================================================*/

typedef struct tmi_printer {
    tmi_job          *job;
    const tmi_module *m;
    tmi_text         *t;
    uint32_t         *loc_number; /* of each place with an alias line; 0: none yet */
    uint32_t         *loc_order;  /* those places in order of number */
    uint32_t          n_locs, indent;
} tmi_printer;

static void tmi_print_op(tmi_printer *p, uint32_t id);

static void tmi_print_value(tmi_printer *p, uint32_t value) {
    uint32_t name = TMI_VALUE(p->m, value)->name;
    if (name) tmi_put(p->t, "%%%s", TMI_STR(p->m, name));
    else tmi_put(p->t, "%%tmi.%u", value); /* a dot in front of a number: no Python name has it */
}

static void tmi_print_list(tmi_printer *p, const tmi_op *op, uint32_t from, uint32_t to) {
    uint32_t i;
    for (i = from; i < to; i++) {
        if (i > from) tmi_put_str(p->t, ", ");
        tmi_print_value(p, tmi_in(p->m, op, i));
    }
}

static void tmi_print_in_types(tmi_printer *p, const tmi_op *op, uint32_t from, uint32_t to) {
    uint32_t i;
    for (i = from; i < to; i++) {
        if (i > from) tmi_put_str(p->t, ", ");
        tmi_put_type(p->t, p->m, tmi_in_type(p->m, op, i));
    }
}

static void tmi_print_type_of(tmi_printer *p, const char *before, uint32_t type) {
    tmi_put_str(p->t, before);
    tmi_put_type(p->t, p->m, type);
}

/* Results as a list: (A, B), or A alone. */
static void tmi_print_out_types(tmi_printer *p, const tmi_op *op) {
    uint32_t i;
    if (op->n_out != 1) tmi_put_char(p->t, '(');
    for (i = 0; i < op->n_out; i++) tmi_print_type_of(p, i ? ", " : "", tmi_out_type(p->m, op, i));
    if (op->n_out != 1) tmi_put_char(p->t, ')');
}

static void tmi_print_fn_type(tmi_printer *p, const tmi_op *op) {
    tmi_put_str(p->t, " : (");
    tmi_print_in_types(p, op, 0, op->n_in);
    tmi_put_str(p->t, ") -> ");
    tmi_print_out_types(p, op);
}

/* -- Attributes ------------------------------------------------------------------------- */

static void tmi_print_string(tmi_printer *p, uint32_t str) {
    const tmi_string *s = TMI_AT(&p->m->strings.item, tmi_string, str);
    uint32_t          i;
    tmi_put_char(p->t, '"');
    for (i = 0; i < s->len; i++) {
        unsigned char c = (unsigned char)s->p[i];
        if (c == '\\') tmi_put_str(p->t, "\\\\");
        else if (c >= 32 && c < 127 && c != '"') tmi_put_char(p->t, (char)c);
        else {
            tmi_put_char(p->t, '\\');
            tmi_put_hex(p->t, c, 2);
        }
    }
    tmi_put_char(p->t, '"');
}

/* A number in its element type, as MLIR reads it: decimals where they read back exactly, else bits. */
static void tmi_print_scalar(tmi_printer *p, uint32_t type, uint64_t v) {
    const tmi_type *t = TMI_TYPE(p->m, type);
    int             negative, exp;
    uint64_t        mant;
    if (t->kind != TMI_T_FLOAT) {
        if (t->bits == 1) tmi_put_str(p->t, v & 1 ? "true" : "false");
        else tmi_put_i64(p->t, tmi_sext(v, t->bits));
        return;
    }
    if (tmi_float_split(&tmi_float_formats[t->format], v, &negative, &mant, &exp) && tmi_float_formats[t->format].special != 3) {
        tmi_put_float(p->t, &tmi_float_formats[t->format], v);
        return;
    }
    tmi_put_str(p->t, "0x");
    tmi_put_hex(p->t, tmi_zext(v, t->bits), (t->bits + 3) / 4);
}

static void tmi_print_attr(tmi_printer *p, uint32_t id);

static void tmi_print_dict(tmi_printer *p, uint32_t list) {
    uint32_t i;
    tmi_put_char(p->t, '{');
    for (i = list; i; i = TMI_NAMED(p->m, i)->next) {
        const tmi_named *n = TMI_NAMED(p->m, i);
        if (i != list) tmi_put_str(p->t, ", ");
        tmi_put_str(p->t, TMI_STR(p->m, n->name));
        if (TMI_ATTR(p->m, n->attr)->kind == TMI_A_UNIT) continue;
        tmi_put_str(p->t, " = ");
        tmi_print_attr(p, n->attr);
    }
    tmi_put_char(p->t, '}');
}

/* Elements of a dense constant as nested lists, row-major, without recursion: a bracket opens or
 * closes wherever an index is a multiple of a trailing product of dimensions. */
static void tmi_print_dense(tmi_printer *p, const tmi_attr *a) {
    uint32_t elem = TMI_TYPE(p->m, a->type)->kind == TMI_T_VECTOR ? TMI_TYPE(p->m, a->type)->elem : tmi_elem(p->m, a->type);
    uint32_t i, k, rank = TMI_TYPE(p->m, a->type)->n_dims, n;
    tmi_put_str(p->t, "dense<");
    for (i = 0; i < a->n; i++) {
        if (i) tmi_put_str(p->t, ", ");
        if (a->n > 1)
            for (n = 1, k = rank; k-- > 0;) {
                n *= TMI_ID(p->m, TMI_TYPE(p->m, a->type)->dims + k);
                if (i % n == 0) tmi_put_char(p->t, '[');
            }
        tmi_print_scalar(p, elem, TMI_WORD(p->m, (uint32_t)a->value + i));
        if (a->n > 1)
            for (n = 1, k = rank; k-- > 0;) {
                n *= TMI_ID(p->m, TMI_TYPE(p->m, a->type)->dims + k);
                if ((i + 1) % n == 0) tmi_put_char(p->t, ']');
            }
    }
    tmi_print_type_of(p, "> : ", a->type);
}

static void tmi_print_attr_list(tmi_printer *p, const tmi_attr *a) {
    uint32_t i;
    tmi_print_type_of(p, "array<", a->type);
    for (i = 0; i < a->n; i++) {
        tmi_put_str(p->t, i ? ", " : ": ");
        tmi_print_scalar(p, a->type, TMI_WORD(p->m, (uint32_t)a->value + i));
    }
    tmi_put_char(p->t, '>');
}

static void tmi_print_attr(tmi_printer *p, uint32_t id) {
    const tmi_attr *a = TMI_ATTR(p->m, id);
    uint32_t        i;
    switch (a->kind) {
    case TMI_A_INT:
    case TMI_A_FLOAT:
        if (a->type == p->m->t_i1) {
            tmi_put(p->t, "%s", a->value & 1 ? "true" : "false");
            break;
        }
        tmi_print_scalar(p, a->type, a->value);
        tmi_print_type_of(p, " : ", a->type);
        break;
    case TMI_A_BOOL: tmi_put_str(p->t, a->value ? "true" : "false"); break;
    case TMI_A_UNIT: tmi_put_str(p->t, "unit"); break;
    case TMI_A_STRING:
        tmi_print_string(p, (uint32_t)a->value);
        if (a->type) tmi_print_type_of(p, " : ", a->type);
        break;
    case TMI_A_SYMBOL:
        tmi_put_char(p->t, '@');
        tmi_print_string(p, (uint32_t)a->value);
        break;
    case TMI_A_TYPE: tmi_put_type(p->t, p->m, a->type); break;
    case TMI_A_ARRAY:
        tmi_put_char(p->t, '[');
        for (i = 0; i < a->n; i++) {
            if (i) tmi_put_str(p->t, ", ");
            tmi_print_attr(p, TMI_ID(p->m, (uint32_t)a->value + i));
        }
        tmi_put_char(p->t, ']');
        break;
    case TMI_A_DICT: tmi_print_dict(p, (uint32_t)a->value); break;
    case TMI_A_DENSE: tmi_print_dense(p, a); break;
    case TMI_A_LIST: tmi_print_attr_list(p, a); break;
    case TMI_A_OPAQUE:
        tmi_put_str(p->t, TMI_STR(p->m, (uint32_t)a->value));
        if (a->type) tmi_print_type_of(p, " : ", a->type);
        break;
    default: break;
    }
}

/* Attributes that an op's syntax does not show itself. `shown` lists those that it does. */
static void tmi_print_attrs(tmi_printer *p, const tmi_op *op, const char *const *shown, const char *before) {
    uint32_t i, n = 0, k;
    for (i = op->attr; i; i = TMI_NAMED(p->m, i)->next) {
        const tmi_named *a = TMI_NAMED(p->m, i);
        const char      *name = TMI_STR(p->m, a->name);
        for (k = 0; shown && shown[k] && strcmp(shown[k], name) != 0; k++) {}
        if (shown && shown[k]) continue;
        if (n++) tmi_put(p->t, ", %s", name);
        else tmi_put(p->t, "%s{%s", before, name);
        if (TMI_ATTR(p->m, a->attr)->kind == TMI_A_UNIT) continue;
        tmi_put_str(p->t, " = ");
        tmi_print_attr(p, a->attr);
    }
    if (n) tmi_put_char(p->t, '}');
}

static const char *tmi_word_of(const tmi_word *words, int64_t value) {
    uint32_t i;
    for (i = 0; words[i].word; i++)
        if (words[i].value == value) return words[i].word;
    return words[0].word;
}

static void tmi_print_keyword(tmi_printer *p, const tmi_op *op, const char *before, const char *attr,
                              const tmi_word *words) {
    const tmi_attr *a = tmi_attr_of(p->m, op, attr);
    if (a) tmi_put(p->t, "%s%s", before, tmi_word_of(words, (int64_t)a->value));
}

/* -- Places --------------------------------------------------------------------------------- */

static void tmi_print_loc_ref(tmi_printer *p, uint32_t loc);

static uint32_t tmi_loc_real(const tmi_module *m, uint32_t loc) { /* past aliases */
    while (loc && TMI_LOC(m, loc)->kind == TMI_L_ALIAS) loc = TMI_LOC(m, loc)->child;
    return loc;
}

static void tmi_print_loc_body(tmi_printer *p, uint32_t loc) {
    const tmi_loc *l = TMI_LOC(p->m, loc);
    uint32_t       i;
    switch (l->kind) {
    case TMI_L_FILE:
        tmi_print_string(p, l->text);
        tmi_put(p->t, ":%u:%u", l->line, l->col);
        if (l->to_line) tmi_put(p->t, " to %u:%u", l->to_line, l->to_col);
        break;
    case TMI_L_NAME:
        tmi_print_string(p, l->text);
        if (!l->child) break;
        tmi_put_char(p->t, '(');
        tmi_print_loc_ref(p, l->child);
        tmi_put_char(p->t, ')');
        break;
    case TMI_L_CALL:
        tmi_put_str(p->t, "callsite(");
        tmi_print_loc_ref(p, l->child);
        tmi_put_str(p->t, " at ");
        tmi_print_loc_ref(p, l->other);
        tmi_put_char(p->t, ')');
        break;
    case TMI_L_FUSED:
        tmi_put_str(p->t, "fused");
        if (l->text) tmi_put_str(p->t, TMI_STR(p->m, l->text));
        tmi_put_char(p->t, '[');
        for (i = 0; i < l->line; i++) {
            if (i) tmi_put_str(p->t, ", ");
            tmi_print_loc_ref(p, TMI_ID(p->m, l->child + i));
        }
        tmi_put_char(p->t, ']');
        break;
    default: tmi_put_str(p->t, "unknown"); break;
    }
}

/* "#loc7"; its line comes at the end of the text. */
static void tmi_print_loc_ref(tmi_printer *p, uint32_t loc) {
    loc = tmi_loc_real(p->m, loc);
    if (!loc || TMI_LOC(p->m, loc)->kind == TMI_L_UNKNOWN) {
        tmi_put_str(p->t, "unknown");
        return;
    }
    if (!p->loc_number[loc]) {
        p->loc_order[p->n_locs] = loc;
        p->loc_number[loc] = ++p->n_locs;
    }
    tmi_put(p->t, "#loc%u", p->loc_number[loc]);
}

static void tmi_print_loc(tmi_printer *p, uint32_t loc) {
    if (!loc) return;
    tmi_put_str(p->t, " loc(");
    tmi_print_loc_ref(p, loc);
    tmi_put_char(p->t, ')');
}

/* -- Regions ------------------------------------------------------------------------------------ */

static void tmi_print_newline(tmi_printer *p) {
    uint32_t i;
    tmi_put_char(p->t, '\n');
    for (i = 0; i < p->indent; i++) tmi_put_str(p->t, "  ");
}

static uint32_t tmi_block_number(const tmi_module *m, uint32_t block) {
    uint32_t b = TMI_REGION(m, TMI_BLOCK(m, block)->region)->first_block, n = 0;
    for (; b && b != block; b = TMI_BLOCK(m, b)->next) n++;
    return n;
}

static void tmi_print_block_head(tmi_printer *p, uint32_t block) {
    const tmi_block *b = TMI_BLOCK(p->m, block);
    uint32_t         i;
    p->indent--;
    tmi_print_newline(p);
    p->indent++;
    tmi_put(p->t, "^bb%u", tmi_block_number(p->m, block));
    for (i = 0; i < b->n_arg; i++) {
        uint32_t v = TMI_ID(p->m, b->arg + i);
        tmi_put_str(p->t, i ? ", " : "(");
        tmi_print_value(p, v);
        tmi_print_type_of(p, ": ", tmi_value_type(p->m, v));
        tmi_print_loc(p, TMI_VALUE(p->m, v)->loc);
    }
    tmi_put_str(p->t, b->n_arg ? "):" : ":");
}

/* '{' ops '}'. `head` prints the entry block's label too; `quiet` leaves an empty scf.yield out. */
static void tmi_print_region(tmi_printer *p, uint32_t region, int head, int quiet) {
    uint32_t b, op;
    tmi_put_char(p->t, '{');
    p->indent++;
    for (b = TMI_REGION(p->m, region)->first_block; b; b = TMI_BLOCK(p->m, b)->next) {
        if (head || TMI_BLOCK(p->m, b)->prev) tmi_print_block_head(p, b);
        for (op = TMI_BLOCK(p->m, b)->first_op; op; op = TMI_OP(p->m, op)->next) {
            const tmi_op *o = TMI_OP(p->m, op);
            if (quiet && !o->next && o->kind == TMI_OP_YIELD && !o->n_in && !o->attr && !o->loc) break;
            tmi_print_newline(p);
            tmi_print_op(p, op);
        }
    }
    p->indent--;
    tmi_print_newline(p);
    tmi_put_char(p->t, '}');
}

static int tmi_region_has_args(const tmi_module *m, uint32_t region) {
    uint32_t b = TMI_REGION(m, region)->first_block;
    return b && TMI_BLOCK(m, b)->n_arg != 0;
}

/* -- Forms: the same as the parser's ---------------------------------------------------------------- */

static void tmi_print_flags(tmi_printer *p, const tmi_op *op) {
    static const char *const flags[] = {"overflow", "fastmath", "exact", "nneg", NULL};
    uint32_t i;
    for (i = 0; flags[i]; i++) {
        const tmi_attr *a = tmi_attr_of(p->m, op, flags[i]);
        if (!a) continue;
        tmi_put(p->t, " %s", flags[i]);
        if (a->kind == TMI_A_OPAQUE) tmi_put_str(p->t, TMI_STR(p->m, (uint32_t)a->value));
    }
    for (i = op->attr; i; i = TMI_NAMED(p->m, i)->next) { /* rounding words are unit attributes */
        const char *name = TMI_STR(p->m, TMI_NAMED(p->m, i)->name);
        if (op->kind == TMI_OP_TRUNCF && TMI_ATTR(p->m, TMI_NAMED(p->m, i)->attr)->kind == TMI_A_UNIT && !strchr(name, '.'))
            tmi_put(p->t, " %s", name);
    }
}

static const char *const tmi_shown_flags[] = {"overflow", "fastmath", "exact", "nneg", "propagateNan", "predicate",
                                              "to_nearest_even", "downward", "upward", "toward_zero",
                                              "to_nearest_away", NULL};

static void tmi_print_same(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, op->n_in);
    tmi_print_keyword(p, op, ", propagateNan = ", "propagateNan", tmi_words_nan);
    tmi_print_flags(p, op);
    tmi_print_attrs(p, op, tmi_shown_flags, " ");
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
}

static void tmi_print_cast(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, 1);
    tmi_print_flags(p, op);
    tmi_print_attrs(p, op, tmi_shown_flags, " ");
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
    tmi_print_type_of(p, " to ", tmi_out_type(p->m, op, 0));
}

static void tmi_print_extended(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, op->n_in);
    tmi_print_flags(p, op);
    tmi_print_attrs(p, op, tmi_shown_flags, " ");
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
    if (op->kind == TMI_OP_FPOWI) tmi_print_type_of(p, ", ", tmi_in_type(p->m, op, 1));
    if (op->kind == TMI_OP_ADDUI_EXT) tmi_print_type_of(p, ", ", tmi_out_type(p->m, op, 1));
}

static void tmi_print_arrow(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"allow_reorder", "efficient_layout", "rounding", NULL};
    tmi_print_list(p, op, 0, op->n_in);
    if (op->kind == TMI_OP_RESHAPE && tmi_attr_of(p->m, op, "allow_reorder")) tmi_put_str(p->t, " allow_reorder");
    if (op->kind == TMI_OP_RESHAPE && tmi_attr_of(p->m, op, "efficient_layout")) tmi_put_str(p->t, " efficient_layout");
    tmi_print_attrs(p, op, op->kind == TMI_OP_RESHAPE || op->kind == TMI_OP_FP_TO_FP ? shown : NULL, " ");
    if (op->kind == TMI_OP_FP_TO_FP) tmi_print_keyword(p, op, ", rounding = ", "rounding", tmi_words_rounding);
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
    tmi_print_type_of(p, " -> ", tmi_out_type(p->m, op, 0));
}

static void tmi_print_unsplat(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, 1);
    tmi_print_attrs(p, op, NULL, " ");
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
}

static void tmi_print_cmp(tmi_printer *p, const tmi_op *op) {
    tmi_put(p->t, "%s, ", tmi_word_of(op->kind == TMI_OP_CMPI ? tmi_words_cmpi : tmi_words_cmpf,
                                      tmi_attr_int(p->m, op, "predicate", 0)));
    tmi_print_same(p, op);
}

static void tmi_print_select(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, 3);
    tmi_print_attrs(p, op, NULL, " ");
    tmi_put_str(p->t, " : ");
    if (tmi_is_tensor(p->m, tmi_in_type(p->m, op, 0))) {
        tmi_put_type(p->t, p->m, tmi_in_type(p->m, op, 0));
        tmi_put_str(p->t, ", ");
    }
    tmi_put_type(p->t, p->m, tmi_out_type(p->m, op, 0));
}

static void tmi_print_constant(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"value", NULL};
    uint32_t i;
    tmi_print_attrs(p, op, shown, "");
    if (p->t->col && op->attr && TMI_NAMED(p->m, op->attr)->next) tmi_put_char(p->t, ' ');
    for (i = op->attr; i; i = TMI_NAMED(p->m, i)->next)
        if (strcmp(TMI_STR(p->m, TMI_NAMED(p->m, i)->name), "value") == 0) tmi_print_attr(p, TMI_NAMED(p->m, i)->attr);
}

static void tmi_print_typed(tmi_printer *p, const tmi_op *op) {
    tmi_print_attrs(p, op, NULL, "");
    tmi_print_type_of(p, op->attr ? " : " : ": ", tmi_out_type(p->m, op, 0));
}

static void tmi_print_range(tmi_printer *p, const tmi_op *op) {
    tmi_print_typed(p, op);
}

static void tmi_print_pid(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"axis", NULL};
    tmi_print_keyword(p, op, "", "axis", tmi_words_axis);
    tmi_print_attrs(p, op, shown, " ");
    tmi_print_type_of(p, " : ", tmi_out_type(p->m, op, 0));
}

static void tmi_print_addptr(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, 2);
    tmi_print_attrs(p, op, NULL, " ");
    tmi_put_str(p->t, " : ");
    tmi_print_in_types(p, op, 0, 2);
}

static const char *const tmi_shown_cache[] = {"cache", "evict", NULL};

static void tmi_print_cache_words(tmi_printer *p, const tmi_op *op) {
    tmi_print_keyword(p, op, " cacheModifier = ", "cache", tmi_words_cache);
    tmi_print_keyword(p, op, " evictionPolicy = ", "evict", tmi_words_evict);
    tmi_print_attrs(p, op, tmi_shown_cache, " ");
}

static void tmi_print_load(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, op->n_in);
    tmi_print_cache_words(p, op);
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
}

static void tmi_print_store(tmi_printer *p, const tmi_op *op) {
    tmi_print_load(p, op);
}

static void tmi_print_rmw(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"atomic_rmw_op", "sem", "scope", NULL};
    tmi_print_keyword(p, op, "", "atomic_rmw_op", tmi_words_rmw);
    tmi_print_keyword(p, op, ", ", "sem", tmi_words_sem);
    tmi_print_keyword(p, op, ", ", "scope", tmi_words_scope);
    tmi_put_str(p->t, ", ");
    tmi_print_list(p, op, 0, op->n_in);
    tmi_print_attrs(p, op, shown, " ");
    tmi_print_fn_type(p, op);
}

static void tmi_print_cas(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"sem", "scope", NULL};
    tmi_print_keyword(p, op, "", "sem", tmi_words_sem);
    tmi_print_keyword(p, op, ", ", "scope", tmi_words_scope);
    tmi_put_str(p->t, ", ");
    tmi_print_list(p, op, 0, op->n_in);
    tmi_print_attrs(p, op, shown, " ");
    tmi_print_fn_type(p, op);
}

static void tmi_print_dot(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"inputPrecision", NULL};
    tmi_print_list(p, op, 0, 3);
    tmi_print_keyword(p, op, ", inputPrecision = ", "inputPrecision", tmi_words_precision);
    tmi_print_attrs(p, op, shown, " ");
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
    tmi_print_type_of(p, " * ", tmi_in_type(p->m, op, 1));
    tmi_print_type_of(p, " -> ", tmi_out_type(p->m, op, 0));
}

/* Where the scales of a dot_scaled stand among its operands; 0: none. */
static void tmi_scale_operands(const tmi_module *m, const tmi_op *op, uint32_t *a, uint32_t *b) {
    const tmi_attr *sizes = tmi_attr_of(m, op, "operandSegmentSizes");
    uint32_t        first = op->n_in > 3 ? 3 : 0;
    *a = *b = 0;
    if (sizes && sizes->kind == TMI_A_LIST && sizes->n == 5) {
        if (TMI_WORD(m, (uint32_t)sizes->value + 3)) *a = 3;
        if (TMI_WORD(m, (uint32_t)sizes->value + 4)) *b = *a ? 4 : 3;
    } else if (first) {
        *a = 3;
        *b = op->n_in > 4 ? 4 : 0;
    }
    if (*a >= op->n_in) *a = 0;
    if (*b >= op->n_in) *b = 0;
}

static void tmi_print_dotscaled(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"a_elem_type", "b_elem_type", "operandSegmentSizes", NULL};
    uint32_t a, b;
    tmi_scale_operands(p->m, op, &a, &b);
    tmi_print_list(p, op, 0, 1);
    if (a) tmi_put_str(p->t, " scale "), tmi_print_list(p, op, a, a + 1);
    tmi_put_str(p->t, ", ");
    tmi_print_list(p, op, 1, 2);
    if (b) tmi_put_str(p->t, " scale "), tmi_print_list(p, op, b, b + 1);
    tmi_put_str(p->t, ", ");
    tmi_print_list(p, op, 2, 3);
    tmi_print_keyword(p, op, " lhs = ", "a_elem_type", tmi_words_scaled);
    tmi_print_keyword(p, op, " rhs = ", "b_elem_type", tmi_words_scaled);
    tmi_print_attrs(p, op, shown, " ");
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
    if (a) tmi_print_type_of(p, ", ", tmi_in_type(p->m, op, a));
    tmi_print_type_of(p, " * ", tmi_in_type(p->m, op, 1));
    if (b) tmi_print_type_of(p, ", ", tmi_in_type(p->m, op, b));
    tmi_print_type_of(p, " -> ", tmi_out_type(p->m, op, 0));
}

static void tmi_print_gather(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, 1);
    tmi_put_char(p->t, '[');
    tmi_print_list(p, op, 1, 2);
    tmi_put_char(p->t, ']');
    tmi_print_attrs(p, op, NULL, " ");
    tmi_print_fn_type(p, op);
}

static void tmi_print_extern_(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, op->n_in);
    tmi_print_attrs(p, op, NULL, " ");
    tmi_print_fn_type(p, op);
}

static void tmi_print_asm_(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"asm_string", NULL};
    uint32_t i;
    tmi_print_string(p, (uint32_t)(tmi_attr_of(p->m, op, "asm_string") ? tmi_attr_of(p->m, op, "asm_string")->value : 0));
    tmi_print_attrs(p, op, shown, " ");
    if (op->n_in) {
        tmi_put_char(p->t, ' ');
        tmi_print_list(p, op, 0, op->n_in);
        tmi_put_str(p->t, " : ");
        tmi_print_in_types(p, op, 0, op->n_in);
    }
    tmi_put_str(p->t, " -> ");
    for (i = 0; i < op->n_out; i++) tmi_print_type_of(p, i ? ", " : "", tmi_out_type(p->m, op, i));
}

static void tmi_print_call(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"callee", NULL};
    const tmi_attr *callee = tmi_attr_of(p->m, op, "callee");
    tmi_put_char(p->t, '@');
    tmi_print_string(p, callee ? (uint32_t)callee->value : 0);
    tmi_put_char(p->t, '(');
    tmi_print_list(p, op, 0, op->n_in);
    tmi_put_char(p->t, ')');
    tmi_print_attrs(p, op, shown, " ");
    tmi_print_fn_type(p, op);
}

static void tmi_print_yield(tmi_printer *p, const tmi_op *op) {
    tmi_print_attrs(p, op, NULL, "");
    if (!op->n_in) return;
    if (op->attr) tmi_put_char(p->t, ' ');
    tmi_print_list(p, op, 0, op->n_in);
    tmi_put_str(p->t, " : ");
    tmi_print_in_types(p, op, 0, op->n_in);
}

static void tmi_print_ret(tmi_printer *p, const tmi_op *op) {
    tmi_print_yield(p, op);
}

static void tmi_print_condition(tmi_printer *p, const tmi_op *op) {
    tmi_put_char(p->t, '(');
    tmi_print_list(p, op, 0, 1);
    tmi_put_char(p->t, ')');
    tmi_print_attrs(p, op, NULL, " ");
    if (op->n_in < 2) return;
    tmi_put_char(p->t, ' ');
    tmi_print_list(p, op, 1, op->n_in);
    tmi_put_str(p->t, " : ");
    tmi_print_in_types(p, op, 1, op->n_in);
}

static void tmi_print_operand(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, op->n_in);
    tmi_print_attrs(p, op, NULL, op->n_in ? " " : "");
    if (!op->n_in) return;
    tmi_put_str(p->t, " : ");
    tmi_print_in_types(p, op, 0, op->n_in);
}

static void tmi_print_barrier(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"addrSpace", NULL};
    tmi_put_str(p->t, *tmi_attr_str(p->m, op, "addrSpace") ? tmi_attr_str(p->m, op, "addrSpace") : " all");
    tmi_print_attrs(p, op, shown, " ");
}

static void tmi_print_assume(tmi_printer *p, const tmi_op *op) {
    tmi_print_operand(p, op);
}

static void tmi_print_print(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"prefix", NULL};
    const tmi_attr *prefix = tmi_attr_of(p->m, op, "prefix");
    tmi_print_string(p, prefix ? (uint32_t)prefix->value : 0);
    tmi_print_attrs(p, op, shown, " ");
    if (!op->n_in) return;
    tmi_put_str(p->t, " : ");
    tmi_print_list(p, op, 0, op->n_in);
    tmi_put_str(p->t, " : ");
    tmi_print_in_types(p, op, 0, op->n_in);
}

static void tmi_print_assert_(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"message", "msg", NULL};
    const tmi_attr *text = tmi_attr_of(p->m, op, op->kind == TMI_OP_CF_ASSERT ? "msg" : "message");
    tmi_print_list(p, op, 0, 1);
    tmi_put_str(p->t, ", ");
    tmi_print_string(p, text ? (uint32_t)text->value : 0);
    tmi_print_attrs(p, op, shown, " ");
    if (op->kind == TMI_OP_ASSERT) tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
}

/* make_tensor_ptr has three lists of one length after the base; make_tensor_descriptor two. */
static void tmi_print_lists(tmi_printer *p, const tmi_op *op, uint32_t from, uint32_t lists) {
    uint32_t n = (op->n_in - from) / lists, k;
    for (k = 0; k < lists; k++) {
        tmi_put_str(p->t, ", [");
        tmi_print_list(p, op, from + k * n, from + (k + 1) * n);
        tmi_put_char(p->t, ']');
    }
}

static void tmi_print_mkptr(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, 1);
    tmi_print_lists(p, op, 1, 3);
    tmi_print_attrs(p, op, NULL, " ");
    tmi_print_type_of(p, " : ", tmi_out_type(p->m, op, 0));
}

static void tmi_print_advance(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, 1);
    tmi_print_lists(p, op, 1, 1);
    tmi_print_attrs(p, op, NULL, " ");
    tmi_print_type_of(p, " : ", tmi_out_type(p->m, op, 0));
}

static void tmi_print_mkdesc(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, 1);
    tmi_print_lists(p, op, 1, 2);
    tmi_print_attrs(p, op, NULL, " ");
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
    tmi_print_type_of(p, ", ", tmi_out_type(p->m, op, 0));
}

static void tmi_print_indexed(tmi_printer *p, const tmi_op *op, uint32_t from, uint32_t to) {
    tmi_print_list(p, op, 0, 1);
    tmi_put_char(p->t, '[');
    tmi_print_list(p, op, from, to);
    tmi_put_char(p->t, ']');
}

static void tmi_print_dload(tmi_printer *p, const tmi_op *op) {
    tmi_print_indexed(p, op, 1, op->n_in);
    tmi_print_cache_words(p, op);
    tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
    tmi_print_type_of(p, " -> ", tmi_out_type(p->m, op, 0));
}

static void tmi_print_dstore(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"kind", NULL};
    tmi_print_indexed(p, op, 2, op->n_in);
    tmi_put_str(p->t, ", ");
    tmi_print_list(p, op, 1, 2);
    tmi_print_attrs(p, op, op->kind == TMI_OP_DREDUCE ? shown : NULL, " ");
    tmi_put_str(p->t, " : ");
    tmi_print_in_types(p, op, 0, 2);
}

static void tmi_print_dreduce(tmi_printer *p, const tmi_op *op) {
    tmi_print_keyword(p, op, "", "kind", tmi_words_dreduce);
    tmi_put_str(p->t, ", ");
    tmi_print_dstore(p, op);
}

static void tmi_print_dgather(tmi_printer *p, const tmi_op *op) {
    tmi_print_indexed(p, op, 1, 3);
    tmi_print_attrs(p, op, NULL, " ");
    tmi_print_fn_type(p, op);
}

static void tmi_print_dscatter(tmi_printer *p, const tmi_op *op) {
    tmi_print_indexed(p, op, 1, 3);
    tmi_put_str(p->t, ", ");
    tmi_print_list(p, op, 3, 4);
    tmi_print_attrs(p, op, NULL, " ");
    tmi_put_str(p->t, " : ");
    tmi_print_in_types(p, op, 0, op->n_in);
}

static void tmi_print_target(tmi_printer *p, const tmi_op *op, uint32_t i) {
    const tmi_succ *s = TMI_SUCC(p->m, op->succ + i);
    uint32_t        k;
    tmi_put(p->t, "^bb%u", tmi_block_number(p->m, s->block));
    if (!s->n_in) return;
    for (k = 0; k < s->n_in; k++) {
        tmi_put_str(p->t, k ? ", " : "(");
        tmi_print_value(p, TMI_ID(p->m, s->in + k));
    }
    for (k = 0; k < s->n_in; k++)
        tmi_print_type_of(p, k ? ", " : " : ", tmi_value_type(p->m, TMI_ID(p->m, s->in + k)));
    tmi_put_char(p->t, ')');
}

static void tmi_print_br(tmi_printer *p, const tmi_op *op) {
    tmi_print_target(p, op, 0);
    tmi_print_attrs(p, op, NULL, " ");
}

static void tmi_print_cond_br(tmi_printer *p, const tmi_op *op) {
    tmi_print_list(p, op, 0, 1);
    tmi_put_str(p->t, ", ");
    tmi_print_target(p, op, 0);
    tmi_put_str(p->t, ", ");
    tmi_print_target(p, op, 1);
    tmi_print_attrs(p, op, NULL, " ");
}

static void tmi_print_inits(tmi_printer *p, const tmi_op *op, uint32_t from_in, uint32_t block, uint32_t from_arg) {
    uint32_t i, n = op->n_in - from_in;
    tmi_put_char(p->t, '(');
    for (i = 0; i < n; i++) {
        if (i) tmi_put_str(p->t, ", ");
        tmi_print_value(p, tmi_block_arg(p->m, block, from_arg + i));
        tmi_put_str(p->t, " = ");
        tmi_print_value(p, tmi_in(p->m, op, from_in + i));
    }
    tmi_put_char(p->t, ')');
}

static void tmi_print_for_(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"unsignedCmp", NULL};
    uint32_t block = tmi_op_body(p->m, op, 0), i;
    if (tmi_attr_of(p->m, op, "unsignedCmp")) tmi_put_str(p->t, "unsigned ");
    tmi_print_value(p, tmi_block_arg(p->m, block, 0));
    tmi_put_str(p->t, " = ");
    tmi_print_list(p, op, 0, 1);
    tmi_put_str(p->t, " to ");
    tmi_print_list(p, op, 1, 2);
    tmi_put_str(p->t, " step ");
    tmi_print_list(p, op, 2, 3);
    if (op->n_in > 3) {
        tmi_put_str(p->t, " iter_args");
        tmi_print_inits(p, op, 3, block, 1);
        for (i = 0; i < op->n_out; i++) tmi_print_type_of(p, i ? ", " : " -> (", tmi_out_type(p->m, op, i));
        tmi_put_str(p->t, ") ");
    }
    if (tmi_in_type(p->m, op, 0) != p->m->t_index) tmi_print_type_of(p, " : ", tmi_in_type(p->m, op, 0));
    tmi_put_char(p->t, ' ');
    tmi_print_region(p, op->region, 0, 1);
    tmi_print_attrs(p, op, shown, " ");
}

static void tmi_print_if_(tmi_printer *p, const tmi_op *op) {
    uint32_t other = tmi_op_region(p->m, op, 1);
    tmi_print_list(p, op, 0, 1);
    if (op->n_out) {
        uint32_t i;
        for (i = 0; i < op->n_out; i++) tmi_print_type_of(p, i ? ", " : " -> (", tmi_out_type(p->m, op, i));
        tmi_put_char(p->t, ')');
    }
    tmi_put_char(p->t, ' ');
    tmi_print_region(p, op->region, 0, !op->n_out);
    if (other) {
        tmi_put_str(p->t, " else ");
        tmi_print_region(p, other, 0, !op->n_out);
    }
    tmi_print_attrs(p, op, NULL, " ");
}

static void tmi_print_while_(tmi_printer *p, const tmi_op *op) {
    uint32_t body = tmi_op_region(p->m, op, 1);
    if (op->n_in) {
        tmi_print_inits(p, op, 0, tmi_op_body(p->m, op, 0), 0);
        tmi_put_char(p->t, ' ');
    }
    tmi_put_str(p->t, ": (");
    tmi_print_in_types(p, op, 0, op->n_in);
    tmi_put_str(p->t, ") -> ");
    tmi_print_out_types(p, op);
    tmi_put_char(p->t, ' ');
    tmi_print_region(p, op->region, 0, 0);
    tmi_put_str(p->t, " do ");
    tmi_print_region(p, body, tmi_region_has_args(p->m, body), 1);
    tmi_print_attrs(p, op, NULL, " attributes ");
}

static void tmi_print_execute(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"no_inline", NULL};
    if (op->n_out) {
        tmi_put_str(p->t, "-> ");
        tmi_print_out_types(p, op);
        tmi_put_char(p->t, ' ');
    }
    if (tmi_attr_of(p->m, op, "no_inline")) tmi_put_str(p->t, "no_inline ");
    tmi_print_region(p, op->region, 0, 0);
    tmi_print_attrs(p, op, shown, " ");
}

static void tmi_print_func_args(tmi_printer *p, const tmi_op *op, const tmi_type *type) {
    const tmi_attr *hints = tmi_attr_of(p->m, op, "arg_attrs");
    uint32_t        block = tmi_op_body(p->m, op, 0), i;
    tmi_put_char(p->t, '(');
    for (i = 0; i < type->bits; i++) {
        uint32_t v = block ? tmi_block_arg(p->m, block, i) : 0, dict = 0;
        if (i) tmi_put_str(p->t, ", ");
        if (v) tmi_print_value(p, v), tmi_put_str(p->t, ": ");
        tmi_put_type(p->t, p->m, TMI_ID(p->m, type->dims + i));
        if (hints && hints->kind == TMI_A_ARRAY && i < hints->n)
            dict = (uint32_t)TMI_ATTR(p->m, TMI_ID(p->m, (uint32_t)hints->value + i))->value;
        if (dict) tmi_put_char(p->t, ' '), tmi_print_dict(p, dict);
        if (v) tmi_print_loc(p, TMI_VALUE(p->m, v)->loc);
    }
    tmi_put_char(p->t, ')');
}

static void tmi_print_func(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"sym_name", "sym_visibility", "function_type", "arg_attrs", NULL};
    const tmi_attr *name = tmi_attr_of(p->m, op, "sym_name"), *fn = tmi_attr_of(p->m, op, "function_type");
    const tmi_type *type = TMI_TYPE(p->m, fn ? fn->type : 0);
    uint32_t        i, outs = type->n_dims - type->bits;
    if (*tmi_attr_str(p->m, op, "sym_visibility")) tmi_put(p->t, "%s ", tmi_attr_str(p->m, op, "sym_visibility"));
    tmi_put_char(p->t, '@');
    {
        const char *s = TMI_STR(p->m, name ? (uint32_t)name->value : 0);
        for (i = 0; s[i] && tmi_is_word_char(s[i]) && !tmi_is_digit(s[0]) && s[0] != '.' && s[0] != '$'; i++) {}
        if (s[i] || !s[0]) tmi_print_string(p, name ? (uint32_t)name->value : 0);
        else tmi_put_str(p->t, s);
    }
    tmi_print_func_args(p, op, type);
    for (i = 0; i < outs; i++) {
        tmi_put_str(p->t, i ? ", " : outs > 1 ? " -> (" : " -> ");
        tmi_put_type(p->t, p->m, TMI_ID(p->m, type->dims + type->bits + i));
    }
    if (outs > 1) tmi_put_char(p->t, ')');
    tmi_print_attrs(p, op, shown, " attributes ");
    if (!tmi_op_body(p->m, op, 0)) return;
    tmi_put_char(p->t, ' ');
    tmi_print_region(p, op->region, 0, 0);
}

static void tmi_print_module(tmi_printer *p, const tmi_op *op) {
    static const char *const shown[] = {"sym_name", NULL};
    if (*tmi_attr_str(p->m, op, "sym_name")) tmi_put(p->t, "@%s ", tmi_attr_str(p->m, op, "sym_name"));
    tmi_print_attrs(p, op, shown, "attributes ");
    if (op->attr) tmi_put_char(p->t, ' ');
    tmi_print_region(p, op->region, 0, 0);
}

/* "name"(operands)[targets] <{attributes}> (regions) : fn-type */
static void tmi_print_generic(tmi_printer *p, const tmi_op *op) {
    uint32_t i, r;
    tmi_put(p->t, "\"%s\"(", tmi_ops[op->kind].name);
    tmi_print_list(p, op, 0, op->n_in);
    tmi_put_char(p->t, ')');
    for (i = 0; i < op->n_succ; i++) {
        tmi_put_str(p->t, i ? ", " : "[");
        tmi_print_target(p, op, i);
    }
    if (op->n_succ) tmi_put_char(p->t, ']');
    tmi_print_attrs(p, op, NULL, " <");
    if (op->attr) tmi_put_char(p->t, '>');
    for (r = op->region, i = 0; r; r = TMI_REGION(p->m, r)->next, i++) {
        tmi_put_str(p->t, i ? ", " : " (");
        tmi_print_region(p, r, 1, 0);
    }
    if (op->region) tmi_put_char(p->t, ')');
    tmi_print_fn_type(p, op);
}

typedef void (*tmi_print_fn)(tmi_printer *, const tmi_op *);

static const tmi_print_fn tmi_print_by_kind[TMI_OP_COUNT] = {
    0,
#define X(id, name, group, in, out, types, text, lower, tf, traits) tmi_print_##text,
    TMI_OPS(X)
#undef X
};

/* Results that belong to one bound group: names x, x#1, x#2, ... */
static uint32_t tmi_group_size(const tmi_module *m, const tmi_op *op, uint32_t first) {
    const char *base = TMI_STR(m, TMI_VALUE(m, tmi_out(m, op, first))->name);
    size_t      len = strlen(base);
    uint32_t    n;
    for (n = 1; first + n < op->n_out; n++) {
        const char *s = TMI_STR(m, TMI_VALUE(m, tmi_out(m, op, first + n))->name);
        uint32_t    k = 0;
        if (!len || strncmp(s, base, len) != 0 || s[len] != '#') break;
        for (s += len + 1; tmi_is_digit(*s); s++) k = k * 10 + (uint32_t)(*s - '0');
        if (k != n || *s) break;
    }
    return n;
}

/* %a, or %7:3 for a group, separated by commas */
static void tmi_print_results(tmi_printer *p, const tmi_op *op) {
    uint32_t i, n;
    for (i = 0; i < op->n_out; i += n) {
        n = tmi_group_size(p->m, op, i);
        if (i) tmi_put_str(p->t, ", ");
        tmi_print_value(p, tmi_out(p->m, op, i));
        if (n > 1) tmi_put(p->t, ":%u", n);
    }
    if (op->n_out) tmi_put_str(p->t, " = ");
}

static void tmi_print_op(tmi_printer *p, uint32_t id) {
    const tmi_op *op = TMI_OP(p->m, id);
    tmi_print_results(p, op);
    if (tmi_print_by_kind[op->kind] != tmi_print_generic) {
        int bare = op->kind == TMI_OP_CONDITION || (!op->n_in && !op->n_out && !op->n_region && !op->n_succ && !op->attr);
        tmi_put_str(p->t, op->kind == TMI_OP_MODULE ? "module" : tmi_ops[op->kind].name);
        if (!bare) tmi_put_char(p->t, ' ');
    }
    tmi_print_by_kind[op->kind](p, op);
    tmi_print_loc(p, op->loc);
}

static void tmi_print_text(tmi_job *job, const tmi_module *m, tmi_text *t) {
    tmi_printer p;
    uint32_t    i;
    memset(&p, 0, sizeof p);
    p.job = job;
    p.m = m;
    p.t = t;
    p.loc_number = TMI_TEMP(job, uint32_t, m->loc.n);
    p.loc_order = TMI_TEMP(job, uint32_t, m->loc.n);
    tmi_print_op(&p, m->top);
    tmi_put_char(t, '\n');
    for (i = 0; i < p.n_locs; i++) {
        tmi_put(t, "#loc%u = loc(", i + 1);
        tmi_print_loc_body(&p, p.loc_order[i]);
        tmi_put_str(t, ")\n");
    }
}

/*==============================================================================
 * >>verify  [11]  What must hold of IR; run after parsing and, in debug builds, after each pass
 *
 * gives   tmi_verify_module(): 1 when all holds; tmi_same_module()
 * uses    >>ir  >>diag
 * order   of the text; one error an op, so that no error is caused by another
 *============================================================================*/

typedef struct tmi_verifier {
    tmi_job    *job;
    tmi_module *m;
    uint32_t   *op_at; /* position of each op in walking order: dominance inside a block */
    int         lax;   /* IR changed by passes: rules about Triton's own output do not hold */
} tmi_verifier;

static const char *tmi_op_name(const tmi_op *op) {
    return tmi_ops[op->kind].name;
}

static int tmi_fail_kind(tmi_verifier *v, const tmi_op *op, uint32_t i, const char *want) {
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_WANT_KIND, tmi_op_name(op), want,
              tmi_format(v->job, 1, "operand %u", i), tmi_type_text(v->job, v->m, tmi_in_type(v->m, op, i)));
    return 0;
}

static int tmi_fail_same(tmi_verifier *v, const tmi_op *op, uint32_t a, uint32_t b) {
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_SAME_TYPE, tmi_op_name(op), tmi_type_text(v->job, v->m, a),
              tmi_type_text(v->job, v->m, b));
    return 0;
}

static int tmi_fail_shape(tmi_verifier *v, const tmi_op *op, uint32_t a, uint32_t b) {
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_SHAPE, tmi_op_name(op), tmi_type_text(v->job, v->m, a),
              tmi_type_text(v->job, v->m, b));
    return 0;
}

static int tmi_fail_attr(tmi_verifier *v, const tmi_op *op, const char *name, const char *what) {
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_ATTRIBUTE, tmi_op_name(op), name, what);
    return 0;
}

/* -- Rules: one function a word of the op table's `types` column ------------------------------ */

static int tmi_verify_any(tmi_verifier *v, const tmi_op *op) {
    (void)v;
    (void)op;
    return 1;
}

static int tmi_verify_allsame(tmi_verifier *v, const tmi_op *op) {
    uint32_t i;
    for (i = 0; i < op->n_in; i++)
        if (tmi_in_type(v->m, op, i) != tmi_out_type(v->m, op, 0))
            return tmi_fail_same(v, op, tmi_in_type(v->m, op, i), tmi_out_type(v->m, op, 0));
    return 1;
}

static int tmi_verify_sameint(tmi_verifier *v, const tmi_op *op) {
    if (!tmi_is_intlike(v->m, tmi_in_type(v->m, op, 0))) return tmi_fail_kind(v, op, 0, "integers");
    return tmi_verify_allsame(v, op);
}

static int tmi_verify_samefloat(tmi_verifier *v, const tmi_op *op) {
    if (!tmi_is_floatlike(v->m, tmi_in_type(v->m, op, 0))) return tmi_fail_kind(v, op, 0, "floats");
    return tmi_verify_allsame(v, op);
}

/* Element kinds and widths of a cast: `from` and `to` are 'i', 'f'; `wider` 1, -1 or 0 for any. */
static int tmi_verify_castlike(tmi_verifier *v, const tmi_op *op, char from, char to, int wider) {
    uint32_t a = tmi_in_type(v->m, op, 0), b = tmi_out_type(v->m, op, 0);
    int      in_ok = from == 'i' ? tmi_is_intlike(v->m, a) : tmi_is_floatlike(v->m, a);
    int      out_ok = to == 'i' ? tmi_is_intlike(v->m, b) : tmi_is_floatlike(v->m, b);
    if (!in_ok) return tmi_fail_kind(v, op, 0, from == 'i' ? "integers" : "floats");
    if (!tmi_same_shape(v->m, a, b) || !out_ok) return tmi_fail_shape(v, op, a, b);
    if ((wider > 0 && tmi_bits(v->m, a) >= tmi_bits(v->m, b)) || (wider < 0 && tmi_bits(v->m, a) <= tmi_bits(v->m, b))) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_WANT_KIND, tmi_op_name(op),
                  wider > 0 ? "a wider result" : "a narrower result", tmi_type_text(v->job, v->m, a),
                  tmi_format(v->job, 1, "turned into %s", tmi_type_text(v->job, v->m, b)));
        return 0;
    }
    return 1;
}

static int tmi_verify_intwider(tmi_verifier *v, const tmi_op *op) { return tmi_verify_castlike(v, op, 'i', 'i', 1); }
static int tmi_verify_intnarrow(tmi_verifier *v, const tmi_op *op) { return tmi_verify_castlike(v, op, 'i', 'i', -1); }
static int tmi_verify_fltwider(tmi_verifier *v, const tmi_op *op) { return tmi_verify_castlike(v, op, 'f', 'f', 1); }
static int tmi_verify_fltnarrow(tmi_verifier *v, const tmi_op *op) { return tmi_verify_castlike(v, op, 'f', 'f', -1); }
static int tmi_verify_inttoflt(tmi_verifier *v, const tmi_op *op) { return tmi_verify_castlike(v, op, 'i', 'f', 0); }
static int tmi_verify_flttoint(tmi_verifier *v, const tmi_op *op) { return tmi_verify_castlike(v, op, 'f', 'i', 0); }
static int tmi_verify_indexcast(tmi_verifier *v, const tmi_op *op) { return tmi_verify_castlike(v, op, 'i', 'i', 0); }

static int tmi_is_bools_like(tmi_verifier *v, uint32_t type, uint32_t shape) {
    return tmi_elem(v->m, type) == v->m->t_i1 && tmi_same_shape(v->m, type, shape);
}

static int tmi_verify_cmp(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), b = tmi_in_type(v->m, op, 1), r = tmi_out_type(v->m, op, 0);
    int64_t  p = tmi_attr_int(v->m, op, "predicate", -1);
    if (a != b) return tmi_fail_same(v, op, a, b);
    if (!tmi_is_bools_like(v, r, a)) return tmi_fail_shape(v, op, r, a);
    if (p < 0 || p > (op->kind == TMI_OP_CMPI ? 9 : 15)) return tmi_fail_attr(v, op, "predicate", "a comparison");
    return 1;
}

static int tmi_verify_cmpi(tmi_verifier *v, const tmi_op *op) {
    if (!tmi_is_intlike(v->m, tmi_in_type(v->m, op, 0))) return tmi_fail_kind(v, op, 0, "integers");
    return tmi_verify_cmp(v, op);
}

static int tmi_verify_cmpf(tmi_verifier *v, const tmi_op *op) {
    if (!tmi_is_floatlike(v->m, tmi_in_type(v->m, op, 0))) return tmi_fail_kind(v, op, 0, "floats");
    return tmi_verify_cmp(v, op);
}

static int tmi_verify_fltclass(tmi_verifier *v, const tmi_op *op) {
    if (!tmi_is_floatlike(v->m, tmi_in_type(v->m, op, 0))) return tmi_fail_kind(v, op, 0, "floats");
    if (!tmi_is_bools_like(v, tmi_out_type(v->m, op, 0), tmi_in_type(v->m, op, 0)))
        return tmi_fail_shape(v, op, tmi_out_type(v->m, op, 0), tmi_in_type(v->m, op, 0));
    return 1;
}

static int tmi_verify_select(tmi_verifier *v, const tmi_op *op) {
    uint32_t c = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0);
    if (tmi_in_type(v->m, op, 1) != r || tmi_in_type(v->m, op, 2) != r)
        return tmi_fail_same(v, op, tmi_in_type(v->m, op, 1), tmi_in_type(v->m, op, 2));
    if (c != v->m->t_i1 && !tmi_is_bools_like(v, c, r)) return tmi_fail_kind(v, op, 0, "i1 of the result's shape");
    return 1;
}

static int tmi_verify_fpowi(tmi_verifier *v, const tmi_op *op) {
    if (!tmi_is_floatlike(v->m, tmi_in_type(v->m, op, 0))) return tmi_fail_kind(v, op, 0, "floats");
    if (!tmi_is_intlike(v->m, tmi_in_type(v->m, op, 1))) return tmi_fail_kind(v, op, 1, "integers");
    if (tmi_in_type(v->m, op, 0) != tmi_out_type(v->m, op, 0))
        return tmi_fail_same(v, op, tmi_in_type(v->m, op, 0), tmi_out_type(v->m, op, 0));
    return 1;
}

static int tmi_verify_extended(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0);
    if (!tmi_is_intlike(v->m, a)) return tmi_fail_kind(v, op, 0, "integers");
    if (tmi_in_type(v->m, op, 1) != a || tmi_out_type(v->m, op, 0) != a)
        return tmi_fail_same(v, op, a, tmi_in_type(v->m, op, 1));
    return 1;
}

static int tmi_verify_bitcast(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), b = tmi_out_type(v->m, op, 0);
    if (!tmi_same_shape(v->m, a, b)) return tmi_fail_shape(v, op, a, b);
    if (tmi_is_ptrlike(v->m, a) != tmi_is_ptrlike(v->m, b) || tmi_bits(v->m, a) != tmi_bits(v->m, b)) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_BITCAST, tmi_op_name(op), tmi_type_text(v->job, v->m, a),
                  tmi_type_text(v->job, v->m, b));
        return 0;
    }
    return 1;
}

static int tmi_verify_int2ptr(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), b = tmi_out_type(v->m, op, 0);
    if (!tmi_is_intlike(v->m, a)) return tmi_fail_kind(v, op, 0, "integers");
    if (!tmi_is_ptrlike(v->m, b) || !tmi_same_shape(v->m, a, b)) return tmi_fail_shape(v, op, a, b);
    return 1;
}

static int tmi_verify_ptr2int(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), b = tmi_out_type(v->m, op, 0);
    if (!tmi_is_ptrlike(v->m, a)) return tmi_fail_kind(v, op, 0, "pointers");
    if (!tmi_is_intlike(v->m, b) || !tmi_same_shape(v->m, a, b)) return tmi_fail_shape(v, op, a, b);
    return 1;
}

static int tmi_verify_fptofp(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), b = tmi_out_type(v->m, op, 0);
    if (!tmi_is_floatlike(v->m, a)) return tmi_fail_kind(v, op, 0, "floats");
    if (!tmi_is_floatlike(v->m, b) || !tmi_same_shape(v->m, a, b)) return tmi_fail_shape(v, op, a, b);
    return 1;
}

static int tmi_verify_addptr(tmi_verifier *v, const tmi_op *op) {
    uint32_t p = tmi_in_type(v->m, op, 0), o = tmi_in_type(v->m, op, 1);
    if (!tmi_is_ptrlike(v->m, p)) return tmi_fail_kind(v, op, 0, "a pointer or a tensor of pointers");
    if (!tmi_is_intlike(v->m, o)) return tmi_fail_kind(v, op, 1, "integers");
    if (!tmi_same_shape(v->m, p, o)) return tmi_fail_shape(v, op, o, p);
    if (tmi_out_type(v->m, op, 0) != p) return tmi_fail_same(v, op, p, tmi_out_type(v->m, op, 0));
    return 1;
}

static int tmi_verify_constant(tmi_verifier *v, const tmi_op *op) {
    const tmi_attr *a = tmi_attr_of(v->m, op, "value");
    if (!a || !a->type) return tmi_fail_attr(v, op, "value", "a constant");
    if (a->type != tmi_out_type(v->m, op, 0)) return tmi_fail_same(v, op, a->type, tmi_out_type(v->m, op, 0));
    return 1;
}

static int tmi_verify_pid(tmi_verifier *v, const tmi_op *op) {
    int64_t axis = tmi_attr_int(v->m, op, "axis", -1);
    if (axis < 0 || axis > 2) return tmi_fail_attr(v, op, "axis", "0 to 2");
    if (tmi_out_type(v->m, op, 0) != v->m->t_i32) return tmi_fail_same(v, op, v->m->t_i32, tmi_out_type(v->m, op, 0));
    return 1;
}

static int tmi_verify_range(tmi_verifier *v, const tmi_op *op) {
    uint32_t r = tmi_out_type(v->m, op, 0);
    int64_t  start = tmi_attr_int(v->m, op, "start", 0), end = tmi_attr_int(v->m, op, "end", 0);
    if (tmi_rank(v->m, r) != 1 || tmi_elem(v->m, r) != v->m->t_i32 || end - start != (int64_t)tmi_dim(v->m, r, 0)) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_RANGE, (long long)start, (long long)end, tmi_type_text(v->job, v->m, r));
        return 0;
    }
    return 1;
}

static int tmi_verify_splat(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0);
    if (!tmi_is_tensor(v->m, r) || tmi_elem(v->m, r) != tmi_elem(v->m, a) || tmi_rank(v->m, a) != 0)
        return tmi_fail_shape(v, op, a, r);
    return 1;
}

static int tmi_verify_unsplat(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0);
    if (!tmi_is_tensor(v->m, a) || tmi_numel(v->m, a) != 1) return tmi_fail_kind(v, op, 0, "a tensor of one element");
    if (tmi_elem(v->m, a) != tmi_out_type(v->m, op, 0)) return tmi_fail_same(v, op, a, tmi_out_type(v->m, op, 0));
    return 1;
}

static int tmi_verify_expand(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0), rank = tmi_rank(v->m, a), i;
    int64_t  axis = tmi_attr_int(v->m, op, "axis", -1);
    if (axis < 0 || axis > (int64_t)rank) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_REDUCE_AXIS, tmi_op_name(op), (int)axis, (int)rank);
        return 0;
    }
    if (tmi_rank(v->m, r) != rank + 1 || tmi_elem(v->m, a) != tmi_elem(v->m, r) || tmi_dim(v->m, r, (uint32_t)axis) != 1)
        return tmi_fail_shape(v, op, a, r);
    for (i = 0; i < rank; i++)
        if (tmi_dim(v->m, a, i) != tmi_dim(v->m, r, i < (uint32_t)axis ? i : i + 1)) return tmi_fail_shape(v, op, a, r);
    return 1;
}

static int tmi_verify_broadcast(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0), i;
    if (tmi_rank(v->m, a) != tmi_rank(v->m, r) || tmi_elem(v->m, a) != tmi_elem(v->m, r)) return tmi_fail_shape(v, op, a, r);
    for (i = 0; i < tmi_rank(v->m, a); i++)
        if (tmi_dim(v->m, a, i) != 1 && tmi_dim(v->m, a, i) != tmi_dim(v->m, r, i)) return tmi_fail_shape(v, op, a, r);
    return 1;
}

static int tmi_verify_reshape(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0);
    if (tmi_numel(v->m, a) != tmi_numel(v->m, r) || tmi_elem(v->m, a) != tmi_elem(v->m, r)) return tmi_fail_shape(v, op, a, r);
    return 1;
}

static int tmi_verify_trans(tmi_verifier *v, const tmi_op *op) {
    const tmi_attr *order = tmi_attr_of(v->m, op, "order");
    uint32_t        a = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0), rank = tmi_rank(v->m, a), i, seen = 0;
    if (!order || order->kind != TMI_A_LIST || order->n != rank) return tmi_fail_attr(v, op, "order", "one number an axis");
    if (tmi_rank(v->m, r) != rank || tmi_elem(v->m, a) != tmi_elem(v->m, r)) return tmi_fail_shape(v, op, a, r);
    for (i = 0; i < rank; i++) {
        uint64_t o = TMI_WORD(v->m, (uint32_t)order->value + i);
        if (o >= rank || (seen >> o & 1)) {
            tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_ORDER, tmi_format(v->job, 1, "with axis %llu", (unsigned long long)o), rank);
            return 0;
        }
        seen |= 1u << o;
        if (tmi_dim(v->m, r, i) != tmi_dim(v->m, a, (uint32_t)o)) return tmi_fail_shape(v, op, a, r);
    }
    return 1;
}

/* `big` is `small` with a last dimension of 2 more. */
static int tmi_is_joined(const tmi_module *m, uint32_t small, uint32_t big) {
    uint32_t i, rank = tmi_rank(m, small);
    if (tmi_rank(m, big) != rank + 1 || tmi_elem(m, small) != tmi_elem(m, big) || tmi_dim(m, big, rank) != 2) return 0;
    for (i = 0; i < rank; i++)
        if (tmi_dim(m, small, i) != tmi_dim(m, big, i)) return 0;
    return 1;
}

static int tmi_verify_join(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0);
    if (a != tmi_in_type(v->m, op, 1)) return tmi_fail_same(v, op, a, tmi_in_type(v->m, op, 1));
    return tmi_is_joined(v->m, a, r) ? 1 : tmi_fail_shape(v, op, a, r);
}

static int tmi_verify_split(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0);
    if (r != tmi_out_type(v->m, op, 1)) return tmi_fail_same(v, op, r, tmi_out_type(v->m, op, 1));
    return tmi_is_joined(v->m, r, a) ? 1 : tmi_fail_shape(v, op, a, r);
}

static int tmi_verify_cat(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0);
    if (a != tmi_in_type(v->m, op, 1)) return tmi_fail_same(v, op, a, tmi_in_type(v->m, op, 1));
    if (tmi_numel(v->m, r) != 2 * tmi_numel(v->m, a) || tmi_elem(v->m, a) != tmi_elem(v->m, r)) return tmi_fail_shape(v, op, a, r);
    return 1;
}

static int tmi_axis_ok(tmi_verifier *v, const tmi_op *op, uint32_t type) {
    int64_t axis = tmi_attr_int(v->m, op, "axis", -1);
    if (axis >= 0 && axis < (int64_t)tmi_rank(v->m, type)) return 1;
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_REDUCE_AXIS, tmi_op_name(op), (int)axis, (int)tmi_rank(v->m, type));
    tmi_help(v->job, tmi_format(v->job, 0, "operand 0 is %s, whose axes count from 0", tmi_type_text(v->job, v->m, type)), NULL);
    return 0;
}

static int tmi_verify_gather(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), x = tmi_in_type(v->m, op, 1), r = tmi_out_type(v->m, op, 0), i;
    if (!tmi_axis_ok(v, op, a)) return 0;
    if (!tmi_is_intlike(v->m, x)) return tmi_fail_kind(v, op, 1, "integers");
    if (!tmi_same_shape(v->m, x, r) || tmi_elem(v->m, a) != tmi_elem(v->m, r) || tmi_rank(v->m, a) != tmi_rank(v->m, x))
        return tmi_fail_shape(v, op, x, r);
    for (i = 0; i < tmi_rank(v->m, a); i++)
        if ((int64_t)i != tmi_attr_int(v->m, op, "axis", 0) && tmi_dim(v->m, a, i) != tmi_dim(v->m, x, i))
            return tmi_fail_shape(v, op, a, x);
    return 1;
}

static int tmi_verify_hist(tmi_verifier *v, const tmi_op *op) {
    uint32_t a = tmi_in_type(v->m, op, 0), r = tmi_out_type(v->m, op, 0);
    if (tmi_rank(v->m, a) != 1 || !tmi_is_intlike(v->m, a)) return tmi_fail_kind(v, op, 0, "a 1-D tensor of integers");
    if (tmi_rank(v->m, r) != 1 || !tmi_is_intlike(v->m, r)) return tmi_fail_shape(v, op, a, r);
    if (op->n_in > 1 && !tmi_is_bools_like(v, tmi_in_type(v->m, op, 1), a)) return tmi_fail_kind(v, op, 1, "i1 of the operand's shape");
    return 1;
}

static int tmi_verify_extern_(tmi_verifier *v, const tmi_op *op) {
    uint32_t i;
    for (i = 0; i < op->n_in; i++)
        if (!tmi_same_shape(v->m, tmi_in_type(v->m, op, i), tmi_out_type(v->m, op, 0)) && tmi_is_tensor(v->m, tmi_in_type(v->m, op, i)))
            return tmi_fail_shape(v, op, tmi_in_type(v->m, op, i), tmi_out_type(v->m, op, 0));
    if (!tmi_attr_of(v->m, op, "symbol")) return tmi_fail_attr(v, op, "symbol", "a string");
    return 1;
}

/* Masks are i1 of the pointers' shape; values are of the pointee's type. */
static int tmi_memory_ok(tmi_verifier *v, const tmi_op *op, uint32_t value, uint32_t mask) {
    uint32_t p = tmi_in_type(v->m, op, 0), pointee = tmi_pointee(v->job, v->m, p);
    if (!pointee) return tmi_fail_kind(v, op, 0, "a pointer or a tensor of pointers");
    if (value != pointee) return tmi_fail_same(v, op, value, pointee);
    if (mask < op->n_in && !tmi_is_bools_like(v, tmi_in_type(v->m, op, mask), p)) return tmi_fail_kind(v, op, mask, "i1 of the pointer's shape");
    return 1;
}

static int tmi_verify_load(tmi_verifier *v, const tmi_op *op) {
    if (op->n_in < 1 || op->n_in > 3) return tmi_fail_attr(v, op, "operands", "pointer, mask and other");
    if (!tmi_memory_ok(v, op, tmi_out_type(v->m, op, 0), 1)) return 0;
    if (op->n_in == 3 && tmi_in_type(v->m, op, 2) != tmi_out_type(v->m, op, 0))
        return tmi_fail_same(v, op, tmi_in_type(v->m, op, 2), tmi_out_type(v->m, op, 0));
    return 1;
}

static int tmi_verify_store(tmi_verifier *v, const tmi_op *op) {
    if (op->n_in < 2 || op->n_in > 3) return tmi_fail_attr(v, op, "operands", "pointer, value and mask");
    return tmi_memory_ok(v, op, tmi_in_type(v->m, op, 1), 2);
}

static int tmi_verify_rmw(tmi_verifier *v, const tmi_op *op) {
    int64_t kind = tmi_attr_int(v->m, op, "atomic_rmw_op", 0);
    if (op->n_in < 2 || op->n_in > 3) return tmi_fail_attr(v, op, "operands", "pointer, value and mask");
    if (kind < 1 || kind > 10) return tmi_fail_attr(v, op, "atomic_rmw_op", "1 to 10");
    if (tmi_in_type(v->m, op, 1) != tmi_out_type(v->m, op, 0))
        return tmi_fail_same(v, op, tmi_in_type(v->m, op, 1), tmi_out_type(v->m, op, 0));
    return tmi_memory_ok(v, op, tmi_in_type(v->m, op, 1), 2);
}

static int tmi_verify_cas(tmi_verifier *v, const tmi_op *op) {
    if (tmi_in_type(v->m, op, 1) != tmi_in_type(v->m, op, 2))
        return tmi_fail_same(v, op, tmi_in_type(v->m, op, 1), tmi_in_type(v->m, op, 2));
    return tmi_memory_ok(v, op, tmi_out_type(v->m, op, 0), 3);
}

static int tmi_fail_dot(tmi_verifier *v, const tmi_op *op, const char *what) {
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_DOT, tmi_op_name(op), what);
    return 0;
}

static int tmi_verify_dot(tmi_verifier *v, const tmi_op *op) {
    const tmi_module *m = v->m;
    uint32_t a = tmi_in_type(m, op, 0), b = tmi_in_type(m, op, 1), d = tmi_out_type(m, op, 0), rank = tmi_rank(m, d);
    if (rank < 2 || rank > 3 || tmi_rank(m, a) != rank || tmi_rank(m, b) != rank) return tmi_fail_dot(v, op, "operands and result must all have rank 2 or 3");
    if (tmi_in_type(m, op, 2) != d) return tmi_fail_same(v, op, tmi_in_type(m, op, 2), d);
    if (tmi_dim(m, a, rank - 1) != tmi_dim(m, b, rank - 2)) return tmi_fail_shape(v, op, a, b);
    if (tmi_dim(m, a, rank - 2) != tmi_dim(m, d, rank - 2) || tmi_dim(m, b, rank - 1) != tmi_dim(m, d, rank - 1)) return tmi_fail_shape(v, op, a, d);
    if (rank == 3 && (tmi_dim(m, a, 0) != tmi_dim(m, d, 0) || tmi_dim(m, b, 0) != tmi_dim(m, d, 0))) return tmi_fail_shape(v, op, a, d);
    if (tmi_bits(m, a) != tmi_bits(m, b)) return tmi_fail_dot(v, op, "the elements of a and b must have one width");
    return 1;
}

static int tmi_verify_dotscaled(tmi_verifier *v, const tmi_op *op) {
    if (op->n_in < 3 || op->n_in > 5) return tmi_fail_dot(v, op, "takes a, b, c and up to two scales");
    if (tmi_in_type(v->m, op, 2) != tmi_out_type(v->m, op, 0)) return tmi_fail_same(v, op, tmi_in_type(v->m, op, 2), tmi_out_type(v->m, op, 0));
    if (!tmi_attr_of(v->m, op, "a_elem_type") || !tmi_attr_of(v->m, op, "b_elem_type")) return tmi_fail_attr(v, op, "a_elem_type", "a number format");
    return 1;
}

/* Block arguments of a combining region: element types of the operands, `times` over. */
static int tmi_region_ok(tmi_verifier *v, const tmi_op *op, uint32_t times) {
    uint32_t block = tmi_op_body(v->m, op, 0), i, n = op->n_in * times;
    if (!block || op->n_region != 1) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_REGION, tmi_op_name(op), 1u, (unsigned)op->n_region);
        return 0;
    }
    for (i = 0; TMI_BLOCK(v->m, block)->n_arg == n && i < n; i++)
        if (tmi_value_type(v->m, tmi_block_arg(v->m, block, i)) != tmi_elem(v->m, tmi_in_type(v->m, op, i % op->n_in))) break;
    if (i == n && TMI_BLOCK(v->m, block)->n_arg == n) return 1;
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_REGION_ARGS, tmi_op_name(op), "of the operands' elements, twice", "others");
    return 0;
}

static int tmi_same_shapes(tmi_verifier *v, const tmi_op *op) {
    uint32_t i;
    for (i = 0; i < op->n_in; i++) {
        if (!tmi_is_tensor(v->m, tmi_in_type(v->m, op, i))) return tmi_fail_kind(v, op, i, "a tensor");
        if (!tmi_same_shape(v->m, tmi_in_type(v->m, op, 0), tmi_in_type(v->m, op, i)))
            return tmi_fail_shape(v, op, tmi_in_type(v->m, op, 0), tmi_in_type(v->m, op, i));
    }
    return 1;
}

static int tmi_verify_reduce(tmi_verifier *v, const tmi_op *op) {
    uint32_t i, k, n, rank;
    if (!op->n_in || op->n_in != op->n_out) return tmi_fail_attr(v, op, "operands", "as many as results, at least one");
    if (!tmi_same_shapes(v, op) || !tmi_axis_ok(v, op, tmi_in_type(v->m, op, 0)) || !tmi_region_ok(v, op, 2)) return 0;
    rank = tmi_rank(v->m, tmi_in_type(v->m, op, 0));
    for (i = 0; i < op->n_in; i++) {
        uint32_t a = tmi_in_type(v->m, op, i), r = tmi_out_type(v->m, op, i), axis = (uint32_t)tmi_attr_int(v->m, op, "axis", 0);
        if (tmi_elem(v->m, a) != tmi_elem(v->m, r) || tmi_rank(v->m, r) != rank - 1 || tmi_is_tensor(v->m, r) != (rank > 1))
            return tmi_fail_shape(v, op, a, r);
        for (k = 0, n = 0; k < rank; k++)
            if (k != axis && tmi_dim(v->m, a, k) != tmi_dim(v->m, r, n++)) return tmi_fail_shape(v, op, a, r);
    }
    return 1;
}

static int tmi_verify_scan(tmi_verifier *v, const tmi_op *op) {
    uint32_t i;
    if (!op->n_in || op->n_in != op->n_out) return tmi_fail_attr(v, op, "operands", "as many as results, at least one");
    if (!tmi_same_shapes(v, op) || !tmi_axis_ok(v, op, tmi_in_type(v->m, op, 0)) || !tmi_region_ok(v, op, 2)) return 0;
    for (i = 0; i < op->n_in; i++)
        if (tmi_in_type(v->m, op, i) != tmi_out_type(v->m, op, i))
            return tmi_fail_same(v, op, tmi_in_type(v->m, op, i), tmi_out_type(v->m, op, i));
    return 1;
}

static int tmi_verify_map(tmi_verifier *v, const tmi_op *op) {
    int64_t pack = tmi_attr_int(v->m, op, "pack", 1);
    uint32_t i, block = tmi_op_body(v->m, op, 0);
    if (!op->n_in || !tmi_same_shapes(v, op)) return 0;
    if (pack < 1 || !tmi_is_pow2((uint64_t)pack) || (uint64_t)pack > tmi_numel(v->m, tmi_in_type(v->m, op, 0))) return tmi_fail_attr(v, op, "pack", "a power of two, at most the elements");
    if (!block || TMI_BLOCK(v->m, block)->n_arg != op->n_in * (uint32_t)pack) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_REGION_ARGS, tmi_op_name(op), "of the operands' elements, `pack` of each", "others");
        return 0;
    }
    for (i = 0; i < op->n_out; i++)
        if (!tmi_same_shape(v->m, tmi_in_type(v->m, op, 0), tmi_out_type(v->m, op, i)))
            return tmi_fail_shape(v, op, tmi_in_type(v->m, op, 0), tmi_out_type(v->m, op, i));
    return 1;
}

static int tmi_verify_cond(tmi_verifier *v, const tmi_op *op) {
    if (tmi_elem(v->m, tmi_in_type(v->m, op, 0)) != v->m->t_i1) return tmi_fail_kind(v, op, 0, "i1");
    return 1;
}

/* -- Block pointers and descriptors -------------------------------------------------------------- */

static int tmi_fail_desc(tmi_verifier *v, const tmi_op *op, const char *what) {
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_DESCRIPTOR, tmi_op_name(op), what);
    return 0;
}

/* The block that a pointer or descriptor stands for: its tensor type, 0 if it is none. */
static uint32_t tmi_block_of(const tmi_module *m, uint32_t type) {
    const tmi_type *t = TMI_TYPE(m, type);
    if (t->kind != TMI_T_PTR && t->kind != TMI_T_DESC) return 0;
    return tmi_is_tensor(m, t->elem) ? t->elem : 0;
}

static int tmi_verify_mkptr(tmi_verifier *v, const tmi_op *op) {
    uint32_t block = tmi_block_of(v->m, tmi_out_type(v->m, op, 0));
    if (!block) return tmi_fail_desc(v, op, "the result must be a pointer to a tensor");
    if (op->n_in != 1 + 3 * tmi_rank(v->m, block)) return tmi_fail_desc(v, op, "takes one size, stride and offset an axis of the block");
    return 1;
}

static int tmi_verify_advance(tmi_verifier *v, const tmi_op *op) {
    uint32_t block = tmi_block_of(v->m, tmi_out_type(v->m, op, 0));
    if (!block || tmi_in_type(v->m, op, 0) != tmi_out_type(v->m, op, 0)) return tmi_fail_desc(v, op, "takes and gives a pointer to a tensor");
    if (op->n_in != 1 + tmi_rank(v->m, block)) return tmi_fail_desc(v, op, "takes one offset an axis of the block");
    return 1;
}

static int tmi_verify_mkdesc(tmi_verifier *v, const tmi_op *op) {
    uint32_t block = tmi_block_of(v->m, tmi_out_type(v->m, op, 0));
    if (!block) return tmi_fail_desc(v, op, "the result must be a tensor descriptor");
    if (op->n_in != 1 + 2 * tmi_rank(v->m, block)) return tmi_fail_desc(v, op, "takes one size and stride an axis of the block");
    return 1;
}

static int tmi_desc_access(tmi_verifier *v, const tmi_op *op, uint32_t value, uint32_t first_index) {
    uint32_t block = tmi_block_of(v->m, tmi_in_type(v->m, op, 0));
    if (!block || TMI_TYPE(v->m, tmi_in_type(v->m, op, 0))->kind != TMI_T_DESC) return tmi_fail_desc(v, op, "operand 0 must be a tensor descriptor");
    if (op->n_in - first_index != tmi_rank(v->m, block)) return tmi_fail_desc(v, op, "takes one index an axis of the block");
    if (tmi_numel(v->m, block) != tmi_numel(v->m, value) || tmi_bits(v->m, block) != tmi_bits(v->m, value)) return tmi_fail_shape(v, op, value, block);
    return 1;
}

static int tmi_verify_dload(tmi_verifier *v, const tmi_op *op) {
    return tmi_desc_access(v, op, tmi_out_type(v->m, op, 0), 1);
}

static int tmi_verify_dstore(tmi_verifier *v, const tmi_op *op) {
    return tmi_desc_access(v, op, tmi_in_type(v->m, op, 1), 2);
}

static int tmi_verify_dgather(tmi_verifier *v, const tmi_op *op) {
    uint32_t block = tmi_block_of(v->m, tmi_in_type(v->m, op, 0));
    uint32_t value = op->kind == TMI_OP_DSCATTER ? tmi_in_type(v->m, op, 3) : tmi_out_type(v->m, op, 0);
    if (!block || tmi_rank(v->m, block) != 2 || tmi_dim(v->m, block, 0) != 1) return tmi_fail_desc(v, op, "wants a descriptor of one row");
    if (tmi_rank(v->m, tmi_in_type(v->m, op, 1)) != 1 || tmi_rank(v->m, value) != 2 || tmi_dim(v->m, value, 0) != tmi_dim(v->m, tmi_in_type(v->m, op, 1), 0) ||
        tmi_dim(v->m, value, 1) != tmi_dim(v->m, block, 1))
        return tmi_fail_shape(v, op, value, block);
    return 1;
}

/* -- Control flow ------------------------------------------------------------------------------------ */

/* The last op of a block; 0 when there is none of that kind. */
static uint32_t tmi_terminator(const tmi_module *m, uint32_t block) {
    uint32_t op = block ? TMI_BLOCK(m, block)->last_op : 0;
    return op && (tmi_ops[TMI_OP(m, op)->kind].traits & TMI_ENDS) ? op : 0;
}

/* Values from..: types of operands of `end` against those of values or results. */
static int tmi_passes_ok(tmi_verifier *v, const tmi_op *end, uint32_t from, const tmi_op *to, uint32_t n, const uint32_t *types,
                         const char *what) {
    uint32_t i;
    (void)to;
    if (end->n_in - from != n) {
        tmi_error(v->job, tmi_at_of(v->m, end), TMETAL_E_YIELD, tmi_op_name(end), end->n_in - from, what, n);
        return 0;
    }
    for (i = 0; i < n; i++)
        if (tmi_in_type(v->m, end, from + i) != types[i]) {
            tmi_error(v->job, tmi_at_of(v->m, end), TMETAL_E_YIELD_TYPE, tmi_op_name(end),
                      tmi_type_text(v->job, v->m, tmi_in_type(v->m, end, from + i)), i, what, tmi_type_text(v->job, v->m, types[i]));
            return 0;
        }
    return 1;
}

/* The block ends in `kind` and passes values of these types from operand `from` on. */
static int tmi_ends_ok(tmi_verifier *v, const tmi_op *op, uint32_t block, uint16_t kind, uint32_t from, uint32_t n,
                       const uint32_t *types) {
    uint32_t end = tmi_terminator(v->m, block);
    if (!end || TMI_OP(v->m, end)->kind != kind) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_TERMINATOR, tmi_format(v->job, 1, "the body of %s", tmi_op_name(op)), tmi_ops[kind].name);
        return 0;
    }
    return tmi_passes_ok(v, TMI_OP(v->m, end), from, op, n, types, tmi_op_name(op));
}

static uint32_t *tmi_types_of(tmi_verifier *v, uint32_t first, uint32_t n) {
    uint32_t *t = TMI_TEMP(v->job, uint32_t, n), i;
    for (i = 0; i < n; i++) t[i] = tmi_value_type(v->m, TMI_ID(v->m, first + i));
    return t;
}

static int tmi_args_ok(tmi_verifier *v, const tmi_op *op, uint32_t block, uint32_t from, uint32_t n, const uint32_t *types) {
    uint32_t i;
    for (i = 0; TMI_BLOCK(v->m, block)->n_arg == from + n && i < n; i++)
        if (tmi_value_type(v->m, tmi_block_arg(v->m, block, from + i)) != types[i]) break;
    if (i == n && TMI_BLOCK(v->m, block)->n_arg == from + n) return 1;
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_REGION_ARGS, tmi_op_name(op), "of the loop-carried values", "others");
    return 0;
}

static int tmi_regions_are(tmi_verifier *v, const tmi_op *op, uint32_t least, uint32_t most) {
    uint32_t i;
    for (i = 0; i < op->n_region && op->n_region >= least && op->n_region <= most; i++)
        if (!tmi_op_body(v->m, op, i)) break;
    if (i == op->n_region && op->n_region >= least && op->n_region <= most) return 1;
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_REGION, tmi_op_name(op), most, (unsigned)op->n_region);
    return 0;
}

static int tmi_verify_for_(tmi_verifier *v, const tmi_op *op) {
    uint32_t *types, block, i;
    if (!tmi_regions_are(v, op, 1, 1)) return 0;
    if (op->n_in < 3 || op->n_out != op->n_in - 3) return tmi_fail_attr(v, op, "operands", "bounds, step and one value a result");
    for (i = 0; i < 3; i++)
        if (tmi_is_tensor(v->m, tmi_in_type(v->m, op, i)) || !tmi_is_intlike(v->m, tmi_in_type(v->m, op, i))) return tmi_fail_kind(v, op, i, "a scalar integer");
    block = tmi_op_body(v->m, op, 0);
    types = tmi_types_of(v, op->in + 3, op->n_out);
    for (i = 0; i < op->n_out; i++)
        if (types[i] != tmi_out_type(v->m, op, i)) return tmi_fail_same(v, op, types[i], tmi_out_type(v->m, op, i));
    return tmi_args_ok(v, op, block, 1, op->n_out, types) && tmi_ends_ok(v, op, block, TMI_OP_YIELD, 0, op->n_out, types);
}

static int tmi_verify_if_(tmi_verifier *v, const tmi_op *op) {
    uint32_t *types, i;
    if (!tmi_regions_are(v, op, op->n_out ? 2 : 1, 2)) return 0;
    if (tmi_in_type(v->m, op, 0) != v->m->t_i1) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_CONDITION, tmi_op_name(op), tmi_type_text(v->job, v->m, tmi_in_type(v->m, op, 0)));
        return 0;
    }
    types = tmi_types_of(v, op->out, op->n_out);
    for (i = 0; i < op->n_region; i++)
        if (!tmi_ends_ok(v, op, tmi_op_body(v->m, op, i), TMI_OP_YIELD, 0, op->n_out, types)) return 0;
    return 1;
}

static int tmi_verify_while_(tmi_verifier *v, const tmi_op *op) {
    uint32_t *ins, *outs, before, after;
    if (!tmi_regions_are(v, op, 2, 2)) return 0;
    before = tmi_op_body(v->m, op, 0);
    after = tmi_op_body(v->m, op, 1);
    ins = tmi_types_of(v, op->in, op->n_in);
    outs = tmi_types_of(v, op->out, op->n_out);
    return tmi_args_ok(v, op, before, 0, op->n_in, ins) && tmi_args_ok(v, op, after, 0, op->n_out, outs) &&
           tmi_ends_ok(v, op, before, TMI_OP_CONDITION, 1, op->n_out, outs) &&
           tmi_ends_ok(v, op, after, TMI_OP_YIELD, 0, op->n_in, ins);
}

/* Branch operands against the arguments of the block that they reach. */
static int tmi_verify_branch(tmi_verifier *v, const tmi_op *op) {
    uint32_t i, k;
    for (i = 0; i < op->n_succ; i++) {
        const tmi_succ  *s = TMI_SUCC(v->m, op->succ + i);
        const tmi_block *b = TMI_BLOCK(v->m, s->block);
        if (b->n_arg != s->n_in) {
            tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_YIELD, tmi_op_name(op), s->n_in, "the block", b->n_arg);
            return 0;
        }
        for (k = 0; k < s->n_in; k++)
            if (tmi_value_type(v->m, TMI_ID(v->m, s->in + k)) != tmi_value_type(v->m, TMI_ID(v->m, b->arg + k)))
                return tmi_fail_same(v, op, tmi_value_type(v->m, TMI_ID(v->m, s->in + k)), tmi_value_type(v->m, TMI_ID(v->m, b->arg + k)));
    }
    return 1;
}

static uint32_t tmi_func_of(const tmi_module *m, const tmi_op *op) { /* the function around an op */
    uint32_t id = tmi_parent_op(m, op);
    while (id && TMI_OP(m, id)->kind != TMI_OP_FUNC) id = tmi_parent_op(m, TMI_OP(m, id));
    return id;
}

/* tt.return against the function; reduce.return and the like against their op's elements. */
static int tmi_verify_ret(tmi_verifier *v, const tmi_op *op) {
    uint32_t parent = tmi_parent_op(v->m, op), i;
    const tmi_op *o = TMI_OP(v->m, parent);
    if (op->kind == TMI_OP_YIELD || op->kind == TMI_OP_CONDITION) return 1; /* checked by their loops */
    if (op->kind == TMI_OP_RETURN) {
        const tmi_attr *fn = tmi_attr_of(v->m, o, "function_type");
        const tmi_type *t;
        if (o->kind != TMI_OP_FUNC || !fn) {
            tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_PLACEMENT, tmi_op_name(op), "it belongs at the end of a function");
            return 0;
        }
        t = TMI_TYPE(v->m, fn->type);
        for (i = 0; op->n_in == t->n_dims - t->bits && i < op->n_in; i++)
            if (tmi_in_type(v->m, op, i) != TMI_ID(v->m, t->dims + t->bits + i)) break;
        if (op->n_in == t->n_dims - t->bits && i == op->n_in) return 1;
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_RETURN, tmi_op_name(op), tmi_format(v->job, 1, "%u values", op->n_in));
        return 0;
    }
    {
        uint32_t pack = o->kind == TMI_OP_MAP ? (uint32_t)tmi_attr_int(v->m, o, "pack", 1) : 1;
        uint32_t *types = TMI_TEMP(v->job, uint32_t, o->n_out * pack);
        for (i = 0; i < o->n_out * pack; i++) types[i] = tmi_elem(v->m, tmi_out_type(v->m, o, i / pack));
        return tmi_passes_ok(v, op, 0, o, o->n_out * pack, types, tmi_op_name(o));
    }
}

static uint32_t tmi_func_named(const tmi_module *m, const char *name) {
    uint32_t op = TMI_BLOCK(m, tmi_op_body(m, TMI_OP(m, m->top), 0))->first_op;
    for (; op; op = TMI_OP(m, op)->next)
        if (TMI_OP(m, op)->kind == TMI_OP_FUNC && strcmp(tmi_attr_str(m, TMI_OP(m, op), "sym_name"), name) == 0) return op;
    return 0;
}

static int tmi_fail_call(tmi_verifier *v, const tmi_op *op, const char *what) {
    tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_CALLEE, tmi_attr_str(v->m, op, "callee"), what);
    return 0;
}

static int tmi_verify_call(tmi_verifier *v, const tmi_op *op) {
    uint32_t        f = tmi_func_named(v->m, tmi_attr_str(v->m, op, "callee")), i;
    const tmi_attr *fn = f ? tmi_attr_of(v->m, TMI_OP(v->m, f), "function_type") : NULL;
    const tmi_type *t;
    if (!fn) return tmi_fail_call(v, op, "no such function in the module");
    t = TMI_TYPE(v->m, fn->type);
    if (t->bits != op->n_in || t->n_dims - t->bits != op->n_out) return tmi_fail_call(v, op, "the number of arguments or results differs");
    for (i = 0; i < op->n_in; i++)
        if (tmi_in_type(v->m, op, i) != TMI_ID(v->m, t->dims + i)) return tmi_fail_call(v, op, "an argument's type differs");
    for (i = 0; i < op->n_out; i++)
        if (tmi_out_type(v->m, op, i) != TMI_ID(v->m, t->dims + t->bits + i)) return tmi_fail_call(v, op, "a result's type differs");
    return 1;
}

static int tmi_verify_func(tmi_verifier *v, const tmi_op *op) {
    const tmi_attr *fn = tmi_attr_of(v->m, op, "function_type");
    uint32_t        b;
    if (!*tmi_attr_str(v->m, op, "sym_name")) return tmi_fail_attr(v, op, "sym_name", "a string");
    if (!fn || TMI_TYPE(v->m, fn->type)->kind != TMI_T_FUNC) return tmi_fail_attr(v, op, "function_type", "a function type");
    b = tmi_op_body(v->m, op, 0);
    if (!b) return 1; /* a declaration */
    for (; b; b = TMI_BLOCK(v->m, b)->next)
        if (!tmi_terminator(v->m, b)) {
            tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_TERMINATOR, "each block of a function", "tt.return or a branch");
            return 0;
        }
    return 1;
}

static int tmi_verify_module(tmi_verifier *v, const tmi_op *op) {
    if (tmi_parent_op(v->m, op)) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_PLACEMENT, "module", "modules do not nest; give one file a module");
        return 0;
    }
    return 1;
}

typedef int (*tmi_verify_fn)(tmi_verifier *, const tmi_op *);

static const tmi_verify_fn tmi_verify_by_kind[TMI_OP_COUNT] = {
    0,
#define X(id, name, group, in, out, types, text, lower, tf, traits) tmi_verify_##types,
    TMI_OPS(X)
#undef X
};

/* -- Walking ------------------------------------------------------------------------------------------ */

/* Tensors: power-of-two dimensions, at most 2^20 elements, no encoding (that would be TTGIR). */
static int tmi_value_ok(tmi_verifier *v, const tmi_op *op, uint32_t value) {
    uint32_t        type = tmi_value_type(v->m, value), i;
    const tmi_type *t = TMI_TYPE(v->m, type);
    const char     *text;
    if (t->kind != TMI_T_TENSOR) return 1;
    for (i = 0; i < t->n_dims; i++)
        if (!tmi_is_pow2(TMI_ID(v->m, t->dims + i))) break;
    if (i == t->n_dims && tmi_numel(v->m, type) <= TMI_MAX_NUMEL && !t->text) return 1;
    text = tmi_type_text(v->job, v->m, type);
    if (t->text) tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_ENCODING, text);
    else if (i < t->n_dims) tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_POWER_OF_TWO, text);
    else tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_NUMEL, text, TMI_MAX_NUMEL);
    return 0;
}

/* A value reaches a use when its block is around the use and it stands before it there; between
 * blocks of one region, order of the text is not order of flow, so there only the region counts. */
static int tmi_reaches(tmi_verifier *v, uint32_t value, uint32_t user) {
    const tmi_value *val = TMI_VALUE(v->m, value);
    uint32_t         block = val->is_arg ? val->def : TMI_OP(v->m, val->def)->block;
    uint32_t         at = user, region;
    if (!block) return 0;
    region = TMI_BLOCK(v->m, block)->region;
    while (at) {
        const tmi_op *o = TMI_OP(v->m, at);
        if (!o->block) return 0;
        if (TMI_BLOCK(v->m, o->block)->region == region) {
            if (val->is_arg || o->block != block) return 1;
            return v->op_at[val->def] < v->op_at[at];
        }
        if (tmi_ops[TMI_OP(v->m, tmi_parent_op(v->m, o))->kind].traits & TMI_SCOPE) return 0;
        at = tmi_parent_op(v->m, o);
    }
    return 0;
}

static int tmi_counts_ok(tmi_verifier *v, const tmi_op *op) {
    const tmi_op_row *row = &tmi_ops[op->kind];
    if (row->in != TMI_VAR && op->n_in != row->in) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_OPERANDS, row->name, tmi_format(v->job, 1, "%u", (unsigned)row->in), op->n_in);
        return 0;
    }
    if (row->out != TMI_VAR && op->n_out != row->out) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_RESULT_COUNT, row->name, tmi_format(v->job, 1, "%u", (unsigned)row->out), op->n_out);
        return 0;
    }
    return 1;
}

static int tmi_uses_ok(tmi_verifier *v, const tmi_op *op, uint32_t id) {
    uint32_t i, k;
    for (i = 0; i < op->n_in + op->n_succ; i++) {
        uint32_t n = 1, first = op->in + i;
        if (i >= op->n_in) {
            n = TMI_SUCC(v->m, op->succ + i - op->n_in)->n_in;
            first = TMI_SUCC(v->m, op->succ + i - op->n_in)->in;
        }
        for (k = 0; k < n; k++) {
            uint32_t value = TMI_ID(v->m, first + k);
            if (value && tmi_value_type(v->m, value) && tmi_reaches(v, value, id)) continue;
            tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_DOMINANCE,
                      tmi_format(v->job, 1, "%%%s", value ? TMI_STR(v->m, TMI_VALUE(v->m, value)->name) : "?"));
            return 0;
        }
    }
    return 1;
}

static int tmi_verify_op(tmi_verifier *v, uint32_t id) {
    const tmi_op *op = TMI_OP(v->m, id);
    uint32_t      i, b;
    if (!tmi_counts_ok(v, op) || !tmi_uses_ok(v, op, id)) return 0;
    for (i = 0; i < op->n_out; i++)
        if (!tmi_value_ok(v, op, tmi_out(v->m, op, i))) return 0;
    for (b = tmi_op_body(v->m, op, 0); b; b = TMI_BLOCK(v->m, b)->next)
        for (i = 0; i < TMI_BLOCK(v->m, b)->n_arg; i++)
            if (!tmi_value_ok(v, op, tmi_block_arg(v->m, b, i))) return 0;
    if ((tmi_ops[op->kind].traits & TMI_ENDS) && op->next) {
        tmi_error(v->job, tmi_at_of(v->m, op), TMETAL_E_PLACEMENT, tmi_op_name(op), "it must be the last operation of its block");
        return 0;
    }
    return tmi_verify_by_kind[op->kind](v, op);
}

/* Checks everything; each wrong op gives one error, up to the limit. */
static int tmi_verify_all(tmi_job *job, tmi_module *m) {
    tmi_verifier v;
    tmi_mark     mark = tmi_mark_take(job);
    uint32_t     op, n = 0, before = job->n_errors, publics = 0;
    memset(&v, 0, sizeof v);
    v.job = job;
    v.m = m;
    v.op_at = TMI_TEMP(job, uint32_t, m->op.n);
    for (op = m->top; op; op = tmi_walk_next(m, m->top, op)) v.op_at[op] = ++n;
    for (op = m->top; op && !tmi_enough_errors(job); op = tmi_walk_next(m, m->top, op)) {
        tmi_mark inner = tmi_mark_take(job);
        (void)tmi_verify_op(&v, op);
        publics += TMI_OP(m, op)->kind == TMI_OP_FUNC && strcmp(tmi_attr_str(m, TMI_OP(m, op), "sym_visibility"), "private") != 0;
        tmi_mark_drop(job, inner);
    }
    if (job->n_errors == before && !publics) {
        tmi_at nowhere;
        memset(&nowhere, 0, sizeof nowhere);
        tmi_error(job, nowhere, TMETAL_E_NO_MODULE);
    }
    tmi_mark_drop(job, mark);
    return job->n_errors == before;
}

/* -- Sameness ------------------------------------------------------------------------------------------- */

typedef struct tmi_pair {
    const tmi_module *a, *b;
    uint32_t         *value; /* of each value of a the one of b */
} tmi_pair;

static int tmi_same_str(const tmi_pair *p, uint32_t a, uint32_t b) {
    return strcmp(TMI_STR(p->a, a), TMI_STR(p->b, b)) == 0;
}

static int tmi_same_type(const tmi_pair *p, uint32_t a, uint32_t b) {
    const tmi_type *x = TMI_TYPE(p->a, a), *y = TMI_TYPE(p->b, b);
    uint32_t        i;
    if (x->kind != y->kind || x->bits != y->bits || x->sign != y->sign || x->format != y->format || x->space != y->space ||
        x->n_dims != y->n_dims || !tmi_same_str(p, x->text, y->text) || !x->elem != !y->elem)
        return 0;
    for (i = 0; i < x->n_dims; i++) {
        uint32_t m = TMI_ID(p->a, x->dims + i), n = TMI_ID(p->b, y->dims + i);
        if (x->kind == TMI_T_FUNC ? !tmi_same_type(p, m, n) : m != n) return 0;
    }
    return !x->elem || tmi_same_type(p, x->elem, y->elem);
}

static int tmi_same_attr(const tmi_pair *p, uint32_t a, uint32_t b);

static int tmi_same_dict(const tmi_pair *p, uint32_t a, uint32_t b) {
    for (; a && b; a = TMI_NAMED(p->a, a)->next, b = TMI_NAMED(p->b, b)->next)
        if (!tmi_same_str(p, TMI_NAMED(p->a, a)->name, TMI_NAMED(p->b, b)->name) ||
            !tmi_same_attr(p, TMI_NAMED(p->a, a)->attr, TMI_NAMED(p->b, b)->attr))
            return 0;
    return !a && !b;
}

static int tmi_same_attr(const tmi_pair *p, uint32_t a, uint32_t b) {
    const tmi_attr *x = TMI_ATTR(p->a, a), *y = TMI_ATTR(p->b, b);
    uint32_t        i;
    if (x->kind != y->kind || x->n != y->n || !x->type != !y->type || (x->type && !tmi_same_type(p, x->type, y->type))) return 0;
    switch (x->kind) {
    case TMI_A_STRING:
    case TMI_A_SYMBOL:
    case TMI_A_OPAQUE: return tmi_same_str(p, (uint32_t)x->value, (uint32_t)y->value);
    case TMI_A_DICT: return tmi_same_dict(p, (uint32_t)x->value, (uint32_t)y->value);
    case TMI_A_ARRAY:
        for (i = 0; i < x->n; i++)
            if (!tmi_same_attr(p, TMI_ID(p->a, (uint32_t)x->value + i), TMI_ID(p->b, (uint32_t)y->value + i))) return 0;
        return 1;
    case TMI_A_DENSE:
    case TMI_A_LIST:
        for (i = 0; i < x->n; i++)
            if (TMI_WORD(p->a, (uint32_t)x->value + i) != TMI_WORD(p->b, (uint32_t)y->value + i)) return 0;
        return 1;
    default: return x->value == y->value;
    }
}

static int tmi_same_loc(const tmi_pair *p, uint32_t a, uint32_t b, uint32_t depth) {
    const tmi_loc *x, *y;
    uint32_t       i;
    a = tmi_loc_real(p->a, a);
    b = tmi_loc_real(p->b, b);
    x = TMI_LOC(p->a, a);
    y = TMI_LOC(p->b, b);
    if (depth > TMI_MAX_DEPTH || (x->kind <= TMI_L_UNKNOWN && y->kind <= TMI_L_UNKNOWN)) return 1;
    if (x->kind != y->kind || !tmi_same_str(p, x->text, y->text) || x->line != y->line || x->col != y->col ||
        x->to_line != y->to_line || x->to_col != y->to_col)
        return 0;
    if (x->kind == TMI_L_FUSED) {
        for (i = 0; i < x->line; i++)
            if (!tmi_same_loc(p, TMI_ID(p->a, x->child + i), TMI_ID(p->b, y->child + i), depth + 1)) return 0;
        return 1;
    }
    return tmi_same_loc(p, x->child, y->child, depth + 1) && tmi_same_loc(p, x->other, y->other, depth + 1);
}

static int tmi_same_values(const tmi_pair *p, uint32_t first_a, uint32_t first_b, uint32_t n, int define) {
    uint32_t i;
    for (i = 0; i < n; i++) {
        uint32_t a = TMI_ID(p->a, first_a + i), b = TMI_ID(p->b, first_b + i);
        if (!define) {
            if (p->value[a] && p->value[a] != b) return 0;
            continue;
        }
        p->value[a] = b;
        if (!tmi_same_str(p, TMI_VALUE(p->a, a)->name, TMI_VALUE(p->b, b)->name) ||
            !tmi_same_type(p, tmi_value_type(p->a, a), tmi_value_type(p->b, b)) ||
            !tmi_same_loc(p, TMI_VALUE(p->a, a)->loc, TMI_VALUE(p->b, b)->loc, 0))
            return 0;
    }
    return 1;
}

static int tmi_same_regions(const tmi_pair *p, const tmi_op *x, const tmi_op *y) {
    uint32_t r = x->region, s = y->region, b, c;
    for (; r && s; r = TMI_REGION(p->a, r)->next, s = TMI_REGION(p->b, s)->next) {
        b = TMI_REGION(p->a, r)->first_block;
        c = TMI_REGION(p->b, s)->first_block;
        for (; b && c; b = TMI_BLOCK(p->a, b)->next, c = TMI_BLOCK(p->b, c)->next) {
            if (TMI_BLOCK(p->a, b)->n_arg != TMI_BLOCK(p->b, c)->n_arg ||
                !tmi_same_values(p, TMI_BLOCK(p->a, b)->arg, TMI_BLOCK(p->b, c)->arg, TMI_BLOCK(p->a, b)->n_arg, 1))
                return 0;
        }
        if (b || c) return 0;
    }
    return !r && !s;
}

static int tmi_same_op(const tmi_pair *p, const tmi_op *x, const tmi_op *y) {
    uint32_t i;
    if (x->kind != y->kind || x->n_in != y->n_in || x->n_out != y->n_out || x->n_succ != y->n_succ || !x->next != !y->next) return 0;
    if (!tmi_same_dict(p, x->attr, y->attr) || !tmi_same_loc(p, x->loc, y->loc, 0)) return 0;
    if (!tmi_same_values(p, x->in, y->in, x->n_in, 0) || !tmi_same_values(p, x->out, y->out, x->n_out, 1)) return 0;
    for (i = 0; i < x->n_succ; i++) {
        const tmi_succ *s = TMI_SUCC(p->a, x->succ + i), *t = TMI_SUCC(p->b, y->succ + i);
        if (s->n_in != t->n_in || tmi_block_number(p->a, s->block) != tmi_block_number(p->b, t->block) ||
            !tmi_same_values(p, s->in, t->in, s->n_in, 0))
            return 0;
    }
    return tmi_same_regions(p, x, y);
}

static int tmi_same_module(tmi_job *job, const tmi_module *a, const tmi_module *b) {
    tmi_pair p;
    uint32_t x = a->top, y = b->top;
    p.a = a;
    p.b = b;
    p.value = TMI_TEMP(job, uint32_t, a->value.n);
    while (x && y) {
        if (!tmi_same_op(&p, TMI_OP(a, x), TMI_OP(b, y))) return 0;
        x = tmi_walk_next(a, a->top, x);
        y = tmi_walk_next(b, b->top, y);
    }
    return !x && !y;
}

/*==============================================================================
 * >>builder  [12]  Modules made call by call, without text
 *
 * gives   tmetal_builder; tmi_make_*(): one function a call of tmetal_build_*()
 * uses    >>parse for the text of types and attributes, >>verify for what a result's type follows from
 * order   of the calls; values get the numbers that MLIR would print
 *
 * What is wrong at once (a number that is no value, text that does not parse, a region left open) is
 * reported at once; all else is for the verifier at the end, as with text.
 *============================================================================*/

/* An op whose regions are being filled. */
typedef struct tmi_opened {
    uint32_t op, outer;  /* outer: the block that goes on after it */
    uint32_t types, n_types; /* of its results: module->ids[types ...] */
} tmi_opened;

struct tmetal_builder {
    tmetal_arena *arena;
    tmi_job      *job;    /* of the call being served */
    tmi_module   *m;
    tmi_parser    p;      /* for types and attributes; p.block is where ops go, 0 nowhere */
    tmi_vec       opened; /* tmi_opened, innermost last */
    uint32_t      n_opened;
    uint32_t      func;   /* being built; 0 none */
    uint32_t      number; /* next name of the function */
    tmi_map       names;  /* of each name the last function that has it */
    tmi_map       tries;  /* of each name the last number that was put behind it */
    uint32_t      loc;
    tmetal_place  place;
    tmetal_code   code;   /* of the first mistake */
    const tmetal_diag *diags;
    uint32_t      n_diags;
};

/* The arguments of one call. */
typedef struct tmi_make {
    const char         *name, *attrs;
    const uint32_t     *in, *in2, *types;
    uint32_t            n_in, n_in2, n_types, index, value, to, to2;
    const char *const  *names;
    int64_t             i;
    double              f;
    int                 is_public, is_cond;
} tmi_make;

typedef uint32_t (*tmi_make_fn)(tmetal_builder *, const tmi_make *);

static tmi_at tmi_make_at(const tmetal_builder *b) {
    tmi_at at;
    at.src = 0;
    at.python = b->place;
    return at;
}

static uint32_t tmi_make_misuse(tmetal_builder *b, const char *what, const char *help) {
    tmi_error(b->job, tmi_make_at(b), TMETAL_E_MISUSE, what);
    tmi_help(b->job, NULL, help);
    return 0;
}

/* Point the parser at a text of the caller. Errors in it show that text. */
static void tmi_make_read(tmetal_builder *b, const char *text) {
    b->p.job = b->job;
    b->p.src = b->job->src = text;
    b->p.len = (uint32_t)strlen(text);
    b->job->src_len = b->p.len;
    b->p.pos = b->p.n_stack = 0;
    b->p.bad = 0;
    b->job->seek_line = 0;
    tmi_next(&b->p);
}

static int tmi_make_read_end(tmetal_builder *b) {
    if (!b->p.bad && b->p.tok.kind != TMI_K_END) tmi_expected(&b->p, "nothing more");
    b->job->src = NULL;
    return !b->p.bad;
}

static uint32_t tmi_make_type(tmetal_builder *b, const tmi_make *k) {
    uint32_t type;
    if (!k->name) return tmi_make_misuse(b, "tmetal_build_type: no text", NULL);
    tmi_make_read(b, k->name);
    type = tmi_parse_type(&b->p);
    return tmi_make_read_end(b) ? type : 0;
}

/* Words of enums may be written instead of their integers: {predicate = "slt"}. */
static void tmi_make_words(tmetal_builder *b, uint32_t op) {
    static const struct {
        uint16_t        kind; /* 0: any */
        const char     *name;
        const tmi_word *words;
    } rows[] = {{TMI_OP_CMPI, "predicate", tmi_words_cmpi}, {TMI_OP_CMPF, "predicate", tmi_words_cmpf},
                {0, "cache", tmi_words_cache}, {0, "evict", tmi_words_evict}, {0, "sem", tmi_words_sem},
                {0, "scope", tmi_words_scope}, {TMI_OP_RMW, "atomic_rmw_op", tmi_words_rmw},
                {TMI_OP_DREDUCE, "kind", tmi_words_dreduce}, {TMI_OP_PID, "axis", tmi_words_axis},
                {TMI_OP_NPROGRAMS, "axis", tmi_words_axis}, {0, "rounding", tmi_words_rounding},
                {TMI_OP_CLAMPF, "propagateNan", tmi_words_nan}, {TMI_OP_DOT, "inputPrecision", tmi_words_precision},
                {TMI_OP_DOT_SCALED, "a_elem_type", tmi_words_scaled}, {TMI_OP_DOT_SCALED, "b_elem_type", tmi_words_scaled}};
    tmi_module *m = b->m;
    uint32_t    at, i, w;
    for (at = TMI_OP(m, op)->attr; at; at = TMI_NAMED(m, at)->next) {
        const char     *name = TMI_STR(m, TMI_NAMED(m, at)->name);
        const tmi_attr *a = TMI_ATTR(m, TMI_NAMED(m, at)->attr);
        if (a->kind != TMI_A_STRING) continue;
        for (i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (strcmp(rows[i].name, name) != 0 || (rows[i].kind && rows[i].kind != TMI_OP(m, op)->kind)) continue;
            for (w = 0; rows[i].words[w].word && strcmp(rows[i].words[w].word, TMI_STR(m, (uint32_t)a->value)) != 0; w++) {}
            if (!rows[i].words[w].word) {
                (void)tmi_make_misuse(b, tmi_format(b->job, 1, "%s: '%s' is no word of attribute '%s'", tmi_ops[TMI_OP(m, op)->kind].name,
                                                    TMI_STR(m, (uint32_t)a->value), name), NULL);
                return;
            }
            TMI_NAMED(m, at)->attr = tmi_attr_new(b->job, m, TMI_A_INT, name[0] == 'p' && name[1] == 'r' && name[2] == 'e' ? m->t_i64 : m->t_i32,
                                                  (uint64_t)(int64_t)rows[i].words[w].value);
            break;
        }
    }
}

/* Entries of "{...}" join the attributes of an op. */
static int tmi_make_op_attrs(tmetal_builder *b, uint32_t op, const char *text) {
    uint32_t list;
    if (!text || !*text) return 1;
    tmi_make_read(b, text);
    if (!tmi_at_punct(&b->p, '{')) tmi_expected(&b->p, "'{'");
    list = b->p.bad ? 0 : tmi_parse_entries(&b->p, TMI_OP(b->m, op)->attr);
    if (!tmi_make_read_end(b)) return 0;
    TMI_OP(b->m, op)->attr = list;
    tmi_make_words(b, op);
    return !b->job->n_errors;
}

/* -- Names and places ------------------------------------------------------------------- */

/* Take a name for a value of the function at hand; 0 when another value has it. */
static int tmi_make_take(tmetal_builder *b, uint32_t name) {
    uint32_t *slot = tmi_map_at(b->job, &b->names, name);
    if (*slot == b->func) return 0;
    *slot = b->func;
    return 1;
}

/* The name, with _2, _3, ... behind it where others of the function have it. */
static uint32_t tmi_make_free_name(tmetal_builder *b, const char *want) {
    uint32_t    base = tmi_intern(b->job, &b->m->strings, want, strlen(want)), name = base, n;
    const char *s;
    if (tmi_make_take(b, base)) {
        *tmi_map_at(b->job, &b->tries, base) = 1;
        return base;
    }
    do {
        n = ++*tmi_map_at(b->job, &b->tries, base);
        s = tmi_format(b->job, 1, "%s_%u", want, n);
        name = tmi_intern(b->job, &b->m->strings, s, strlen(s));
    } while (!tmi_make_take(b, name));
    return name;
}

static void tmi_make_number(tmetal_builder *b, uint32_t value) {
    tmi_mark mark = tmi_mark_take(b->job);
    const char *s = tmi_format(b->job, 1, "%u", b->number++); /* names given by the caller begin with a letter */
    TMI_VALUE(b->m, value)->name = tmi_intern(b->job, &b->m->strings, s, strlen(s));
    tmi_mark_drop(b->job, mark);
}

static int tmi_make_name_ok(const char *s) {
    if (!s || !(tmi_is_letter(*s) || *s == '_')) return 0;
    for (; *s; s++)
        if (!tmi_is_word_char(*s)) return 0;
    return 1;
}

static int tmi_make_value_ok(tmetal_builder *b, uint32_t value, const char *where, uint32_t i) {
    if (value && value < b->m->value.n && tmi_value_type(b->m, value)) return 1;
    (void)tmi_make_misuse(b, tmi_format(b->job, 1, "%s: operand %u is no value of this module", where, i),
                          "0 is none: an earlier call failed, or its op has no result");
    return 0;
}

static int tmi_make_values_ok(tmetal_builder *b, const uint32_t *v, uint32_t n, const char *where) {
    uint32_t i;
    for (i = 0; i < n; i++)
        if (!tmi_make_value_ok(b, v[i], where, i)) return 0;
    return 1;
}

static int tmi_make_types_ok(tmetal_builder *b, const uint32_t *t, uint32_t n, const char *where) {
    uint32_t i;
    for (i = 0; i < n; i++)
        if (!t[i] || t[i] >= b->m->type.n) {
            (void)tmi_make_misuse(b, tmi_format(b->job, 1, "%s: type %u is none of this module", where, i), "make it with tmetal_build_type");
            return 0;
        }
    return 1;
}

static uint32_t tmi_make_type_of(tmetal_builder *b, const tmi_make *k) {
    return tmi_make_value_ok(b, k->value, "tmetal_build_type_of", 0) ? tmi_value_type(b->m, k->value) : 0;
}

static uint32_t tmi_make_name(tmetal_builder *b, const tmi_make *k) {
    if (!tmi_make_value_ok(b, k->value, "tmetal_build_name", 0)) return 0;
    if (!tmi_make_name_ok(k->name)) return tmi_make_misuse(b, "tmetal_build_name: a name is letters, digits, '_', '$' and '.', a letter or '_' first", NULL);
    TMI_VALUE(b->m, k->value)->name = tmi_make_free_name(b, k->name);
    return 1;
}

static uint32_t tmi_make_place(tmetal_builder *b, const tmi_make *k) {
    tmi_loc *l;
    memset(&b->place, 0, sizeof b->place);
    b->loc = 0;
    if (!k->index || !k->name) return 1;
    b->loc = b->m->loc.n;
    l = (tmi_loc *)tmi_vec_add(b->job, &b->m->loc);
    l->kind = TMI_L_FILE;
    l->text = tmi_intern(b->job, &b->m->strings, k->name, strlen(k->name));
    l->line = k->index;
    l->col = k->value ? k->value - 1 : 0; /* Triton counts columns from 0 */
    b->place = tmi_loc_place(b->m, b->loc);
    return 1;
}

/* -- Functions ----------------------------------------------------------------------------- */

static int tmi_make_in_func(tmetal_builder *b, const char *what) {
    if (b->func && b->p.block) return 1;
    (void)tmi_make_misuse(b, tmi_format(b->job, 1, b->func ? "%s: the block at hand has ended" : "%s: no function has been begun", what),
                          b->func ? "begin another with tmetal_build_enter" : "begin one with tmetal_build_kernel");
    return 0;
}

static uint32_t *tmi_make_block_args(tmetal_builder *b, uint32_t block, const uint32_t *types, uint32_t n) {
    uint32_t *v = TMI_TEMP(b->job, uint32_t, n + 1), i;
    for (i = 0; i < n; i++) v[i] = tmi_value_new(b->job, b->m, types[i]);
    tmi_block_args(b->job, b->m, block, v, n);
    return v;
}

static void tmi_make_func_type(tmetal_builder *b, const tmi_make *k) {
    tmi_module *m = b->m;
    uint32_t    n = k->n_types + k->n_in, i, attr, *dims = TMI_TEMP(b->job, uint32_t, n + 1);
    tmi_type    t;
    memset(&t, 0, sizeof t);
    t.kind = TMI_T_FUNC;
    t.bits = k->n_types;
    t.n_dims = n;
    for (i = 0; i < n; i++) dims[i] = i < k->n_types ? k->types[i] : k->in[i - k->n_types];
    tmi_op_set_attr(b->job, m, b->func, "function_type", tmi_attr_new(b->job, m, TMI_A_TYPE, tmi_type_get(b->job, m, &t, dims), 0));
    for (i = 0; i < k->n_types; i++) dims[i] = tmi_attr_new(b->job, m, TMI_A_DICT, 0, 0);
    attr = tmi_attr_new(b->job, m, TMI_A_ARRAY, 0, tmi_ids_add(b->job, m, dims, k->n_types));
    TMI_ATTR(m, attr)->n = k->n_types;
    tmi_op_set_attr(b->job, m, b->func, "arg_attrs", attr);
}

/* `types` and `names` of the arguments; `in` holds the types of the results. */
static uint32_t tmi_make_func(tmetal_builder *b, const tmi_make *k) {
    tmi_module *m = b->m;
    uint32_t    i, region, *v;
    const char *word = k->is_public ? "public" : "private";
    if (b->func) return tmi_make_misuse(b, "the function before has not been ended", "end it with tmetal_build_return");
    if (!k->name || !*k->name) return tmi_make_misuse(b, "a function needs a name", NULL);
    if (!tmi_make_types_ok(b, k->types, k->n_types, k->name) || !tmi_make_types_ok(b, k->in, k->n_in, k->name)) return 0;
    b->func = tmi_op_new(b->job, m, TMI_OP_FUNC);
    TMI_OP(m, b->func)->loc = b->loc;
    tmi_op_append(m, tmi_op_body(m, TMI_OP(m, m->top), 0), b->func);
    b->number = 0;
    tmi_op_set_attr(b->job, m, b->func, "sym_name", tmi_attr_new(b->job, m, TMI_A_STRING, 0, tmi_intern(b->job, &m->strings, k->name, strlen(k->name))));
    tmi_op_set_attr(b->job, m, b->func, "sym_visibility", tmi_attr_new(b->job, m, TMI_A_STRING, 0, tmi_intern(b->job, &m->strings, word, strlen(word))));
    tmi_make_func_type(b, k);
    region = tmi_region_new(b->job, m, b->func);
    b->p.block = tmi_block_new(b->job, m, region);
    v = tmi_make_block_args(b, b->p.block, k->types, k->n_types);
    for (i = 0; i < k->n_types; i++) {
        const char *name = k->names && k->names[i] ? k->names[i] : tmi_format(b->job, 1, "arg%u", i);
        if (!tmi_make_name_ok(name)) return tmi_make_misuse(b, tmi_format(b->job, 1, "argument %u: '%s' is no name", i, name), NULL);
        TMI_VALUE(m, v[i])->name = tmi_make_free_name(b, name);
        TMI_VALUE(m, v[i])->loc = b->loc;
    }
    return b->func;
}

static uint32_t tmi_make_arg(tmetal_builder *b, const tmi_make *k) {
    uint32_t block;
    if (!tmi_make_in_func(b, "tmetal_build_arg")) return 0;
    block = tmi_op_body(b->m, TMI_OP(b->m, b->func), 0);
    if (k->index >= TMI_BLOCK(b->m, block)->n_arg) return tmi_make_misuse(b, tmi_format(b->job, 1, "the function has no argument %u", k->index), "they are counted from 0");
    return tmi_block_arg(b->m, block, k->index);
}

/* Attributes of an argument: given as text, or tt.divisibility of `value`. */
static uint32_t tmi_make_arg_attrs(tmetal_builder *b, const tmi_make *k) {
    tmi_module     *m = b->m;
    const tmi_attr *list;
    tmi_attr       *dict;
    uint32_t        text;
    if (!tmi_make_arg(b, k)) return 0;
    list = tmi_attr_of(m, TMI_OP(m, b->func), "arg_attrs");
    dict = TMI_ATTR(m, TMI_ID(m, (uint32_t)list->value + k->index));
    tmi_make_read(b, k->attrs ? k->attrs : tmi_format(b->job, 1, "{tt.divisibility = %u : i32}", k->value));
    if (!tmi_at_punct(&b->p, '{')) tmi_expected(&b->p, "'{'");
    text = b->p.bad ? 0 : tmi_parse_entries(&b->p, (uint32_t)dict->value);
    if (!tmi_make_read_end(b)) return 0;
    dict->value = text;
    return 1;
}

static uint32_t tmi_make_attrs(tmetal_builder *b, const tmi_make *k) {
    return (uint32_t)tmi_make_op_attrs(b, b->func ? b->func : b->m->top, k->attrs);
}

/* -- Types of results ------------------------------------------------------------------------ */

static uint32_t tmi_make_shape(tmetal_builder *b, uint32_t like, const uint32_t *dims, uint32_t rank) {
    return rank ? tmi_type_tensor(b->job, b->m, tmi_elem(b->m, like), dims, rank) : tmi_elem(b->m, like);
}

/* A type with an axis of size `n` put in before `axis` (n != 0), or with `axis` taken out. */
static uint32_t tmi_make_axis(tmetal_builder *b, uint32_t type, uint32_t axis, uint32_t n) {
    uint32_t dims[TMI_MAX_RANK + 1], i, at = 0, rank = tmi_rank(b->m, type);
    if (axis > rank || rank == TMI_MAX_RANK || (!n && axis == rank)) return 0;
    for (i = 0; i < rank; i++) {
        if (n && i == axis) dims[at++] = n;
        if (n || i != axis) dims[at++] = tmi_dim(b->m, type, i);
    }
    if (n && axis == rank) dims[at++] = n;
    return tmi_make_shape(b, type, dims, at);
}

static uint32_t tmi_make_trans_type(tmetal_builder *b, const tmi_op *op, uint32_t type) {
    const tmi_attr *order = tmi_attr_of(b->m, op, "order");
    uint32_t dims[TMI_MAX_RANK], i, rank = tmi_rank(b->m, type);
    if (!order || order->kind != TMI_A_LIST || order->n != rank) return 0;
    for (i = 0; i < rank; i++) {
        uint64_t from = TMI_WORD(b->m, (uint32_t)order->value + i);
        if (from >= rank) return 0;
        dims[i] = tmi_dim(b->m, type, (uint32_t)from);
    }
    return tmi_make_shape(b, type, dims, rank);
}

/* The type of result i where operands and attributes decide it; 0 where they do not. */
static uint32_t tmi_make_infer(tmetal_builder *b, const tmi_op *op, uint32_t i) {
    tmi_module *m = b->m;
    uint32_t    a = op->n_in ? tmi_in_type(m, op, 0) : 0, n;
    tmi_verify_fn rule = tmi_verify_by_kind[op->kind];
    switch (op->kind) {
    case TMI_OP_CONSTANT: return tmi_attr_of(m, op, "value") ? tmi_attr_of(m, op, "value")->type : 0;
    case TMI_OP_PID: case TMI_OP_NPROGRAMS: return m->t_i32;
    case TMI_OP_RANGE:
        n = (uint32_t)(tmi_attr_int(m, op, "end", 0) - tmi_attr_int(m, op, "start", 0));
        return n && n <= TMI_MAX_NUMEL ? tmi_type_tensor(b->job, m, m->t_i32, &n, 1) : 0;
    default: break;
    }
    if (!a) return 0;
    switch (op->kind) {
    case TMI_OP_LOAD: return tmi_pointee(b->job, m, a);
    case TMI_OP_DLOAD: return TMI_TYPE(m, a)->kind == TMI_T_DESC ? TMI_TYPE(m, a)->elem : 0;
    case TMI_OP_RMW: case TMI_OP_CAS: case TMI_OP_SELECT: return op->n_in > 1 ? tmi_in_type(m, op, 1) : 0;
    case TMI_OP_DOT: case TMI_OP_DOT_SCALED: return op->n_in > 2 ? tmi_in_type(m, op, 2) : 0;
    case TMI_OP_CMPI: case TMI_OP_CMPF: case TMI_OP_ISNAN: case TMI_OP_ISINF: return tmi_type_like(b->job, m, a, m->t_i1);
    case TMI_OP_EXPAND: return tmi_make_axis(b, a, (uint32_t)tmi_attr_int(m, op, "axis", 0), 1);
    case TMI_OP_TRANS: return tmi_make_trans_type(b, op, a);
    case TMI_OP_JOIN: return tmi_make_axis(b, a, tmi_rank(m, a), 2);
    case TMI_OP_SPLIT: return tmi_rank(m, a) ? tmi_make_axis(b, a, tmi_rank(m, a) - 1, 0) : 0;
    case TMI_OP_UNSPLAT: return tmi_elem(m, a);
    case TMI_OP_GATHER: return op->n_in > 1 ? tmi_type_like(b->job, m, tmi_in_type(m, op, 1), tmi_elem(m, a)) : 0;
    case TMI_OP_REDUCE: return i < op->n_in ? tmi_make_axis(b, tmi_in_type(m, op, i), (uint32_t)tmi_attr_int(m, op, "axis", -1), 0) : 0;
    case TMI_OP_SCAN: return i < op->n_in ? tmi_in_type(m, op, i) : 0;
    case TMI_OP_FOR: return 3 + i < op->n_in ? tmi_in_type(m, op, 3 + i) : 0;
    case TMI_OP_ADVANCE: return a;
    default: break;
    }
    if (rule == tmi_verify_extended) return i && op->kind == TMI_OP_ADDUI_EXT ? tmi_type_like(b->job, m, a, m->t_i1) : a;
    return rule == tmi_verify_allsame || rule == tmi_verify_sameint || rule == tmi_verify_samefloat || rule == tmi_verify_addptr || rule == tmi_verify_fpowi ? a : 0;
}

/* Results of a finished op: `types` as given, else as inferred; the first one. */
static uint32_t tmi_make_results(tmetal_builder *b, uint32_t op, const uint32_t *types, uint32_t n_types) {
    tmi_module *m = b->m;
    const tmi_op_row *row = &tmi_ops[TMI_OP(m, op)->kind];
    uint32_t    n = n_types, i, *v;
    if (!types && row->out != TMI_VAR) n = row->out;
    if (!types && row->out == TMI_VAR)
        for (n = 0; tmi_make_infer(b, TMI_OP(m, op), n); n++) {
            if (tmi_verify_by_kind[TMI_OP(m, op)->kind] == tmi_verify_allsame) break; /* one type, one result */
        }
    if (row->out != TMI_VAR && n != row->out) {
        tmi_error(b->job, tmi_make_at(b), TMETAL_E_RESULT_COUNT, row->name, tmi_format(b->job, 1, "%u", (unsigned)row->out), n);
        return 0;
    }
    v = TMI_TEMP(b->job, uint32_t, n + 1);
    for (i = 0; i < n; i++) {
        uint32_t type = types ? types[i] : tmi_make_infer(b, TMI_OP(m, op), i);
        if (!type)
            return tmi_make_misuse(b, tmi_format(b->job, 1, "%s: its operands do not say which type result %u has", row->name, i),
                                   "give the type: tmetal_build_type(b, \"tensor<...>\")");
        v[i] = tmi_value_new(b->job, m, type);
        tmi_make_number(b, v[i]);
    }
    tmi_op_results(b->job, m, op, v, n);
    i = n ? v[0] : 0;
    return i;
}

/* -- Ops ---------------------------------------------------------------------------------------- */

static uint32_t tmi_make_kind(tmetal_builder *b, const char *name) {
    uint32_t kind, len = name ? (uint32_t)strlen(name) : 0;
    if (!len) return tmi_make_misuse(b, "an operation needs a name, such as \"arith.addf\"", NULL);
    b->p.job = b->job;
    b->p.src = b->job->src = name;
    b->p.len = len;
    b->job->src_len = len;
    b->p.bad = 0;
    kind = tmi_op_kind_named(&b->p, 0, len);
    if (!kind) tmi_unknown_op(&b->p, 0, len);
    b->job->src = NULL;
    return kind;
}

/* tt.dot_scaled says which of its two scales are there; all or none need no saying. */
static int tmi_make_scales(tmetal_builder *b, uint32_t op) {
    tmi_module *m = b->m;
    uint32_t    n = TMI_OP(m, op)->n_in, attr, i;
    if (tmi_attr_of(m, TMI_OP(m, op), "operandSegmentSizes")) return 1;
    if (n != 3 && n != 5) return (int)tmi_make_misuse(b, "tt.dot_scaled with one scale", "say which: {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}");
    attr = tmi_attr_new(b->job, m, TMI_A_LIST, m->t_i32, m->words.n);
    TMI_ATTR(m, attr)->n = 5;
    for (i = 0; i < 5; i++) *(uint64_t *)tmi_vec_add(b->job, &m->words) = i < n;
    tmi_op_set_attr(b->job, m, op, "operandSegmentSizes", attr);
    return 1;
}

/* A new op with operands and attributes at the end of the block at hand; no results yet. */
static uint32_t tmi_make_draft(tmetal_builder *b, uint32_t kind, const tmi_make *k) {
    tmi_draft d;
    if (!tmi_make_values_ok(b, k->in, k->n_in, tmi_ops[kind].name)) return 0;
    memset(&d, 0, sizeof d);
    d.kind = kind;
    d.op = tmi_op_new(b->job, b->m, kind);
    TMI_OP(b->m, d.op)->loc = b->loc;
    tmi_op_operands(b->job, b->m, d.op, k->in, k->n_in);
    if (!tmi_make_op_attrs(b, d.op, k->attrs)) return 0;
    if (kind == TMI_OP_DOT_SCALED && !tmi_make_scales(b, d.op)) return 0;
    tmi_modernise(&b->p, &d);
    tmi_op_append(b->m, b->p.block, d.op);
    return d.op;
}

static int tmi_makes_region(uint32_t kind) {
    return kind == TMI_OP_FOR || kind == TMI_OP_WHILE || kind == TMI_OP_IF || kind == TMI_OP_REDUCE || kind == TMI_OP_SCAN ||
           kind == TMI_OP_MAP || kind == TMI_OP_EXECUTE;
}

static uint32_t tmi_make_op(tmetal_builder *b, const tmi_make *k) {
    uint32_t kind, op;
    if (!tmi_make_in_func(b, "tmetal_build_op") || (kind = tmi_make_kind(b, k->name)) == 0) return 0;
    if (tmi_makes_region(kind)) return tmi_make_misuse(b, tmi_format(b->job, 1, "%s has a body", k->name), "use tmetal_build_open and tmetal_build_close");
    if ((tmi_ops[kind].traits & TMI_ENDS) || kind == TMI_OP_MODULE || kind == TMI_OP_FUNC)
        return tmi_make_misuse(b, tmi_format(b->job, 1, "%s is made by a call of its own", k->name),
                               "see tmetal_build_return, tmetal_build_branch, tmetal_build_close, tmetal_build_kernel");
    if (!tmi_make_types_ok(b, k->types, k->n_types, k->name) || (op = tmi_make_draft(b, kind, k)) == 0) return 0;
    return tmi_make_results(b, op, k->types, k->n_types);
}

static uint32_t tmi_make_result(tmetal_builder *b, const tmi_make *k) {
    uint32_t op;
    if (!tmi_make_value_ok(b, k->value, "tmetal_build_result", 0)) return 0;
    op = tmi_def(b->m, k->value);
    if (!op || k->index >= TMI_OP(b->m, op)->n_out) return tmi_make_misuse(b, tmi_format(b->job, 1, "the operation has no result %u", k->index), "they are counted from 0");
    return tmi_out(b->m, TMI_OP(b->m, op), k->index);
}

static uint32_t tmi_make_splat(tmetal_builder *b, uint32_t type, uint64_t bits) {
    tmi_module *m = b->m;
    uint32_t    op = tmi_op_new(b->job, m, TMI_OP_CONSTANT), attr, word = m->words.n;
    if (tmi_is_tensor(m, type)) {
        *(uint64_t *)tmi_vec_add(b->job, &m->words) = bits;
        attr = tmi_attr_new(b->job, m, TMI_A_DENSE, type, word);
        TMI_ATTR(m, attr)->n = 1;
    } else {
        attr = tmi_attr_new(b->job, m, tmi_is_floatlike(m, type) ? TMI_A_FLOAT : type == m->t_i1 ? TMI_A_BOOL : TMI_A_INT, type, bits);
    }
    TMI_OP(m, op)->loc = b->loc;
    tmi_op_set_attr(b->job, m, op, "value", attr);
    tmi_op_append(m, b->p.block, op);
    return tmi_make_results(b, op, &type, 1);
}

static uint32_t tmi_make_int(tmetal_builder *b, const tmi_make *k) {
    uint32_t bits;
    if (!tmi_make_in_func(b, "tmetal_build_int") || !tmi_make_types_ok(b, k->types, 1, "tmetal_build_int")) return 0;
    if (!tmi_is_intlike(b->m, *k->types)) return tmi_make_misuse(b, tmi_format(b->job, 1, "tmetal_build_int: %s is no type of integers", tmi_type_text(b->job, b->m, *k->types)), "use tmetal_build_float");
    bits = tmi_bits(b->m, *k->types);
    if (bits < 64 && (k->i >= (int64_t)1 << bits || k->i < -((int64_t)1 << (bits - 1)))) {
        tmi_error(b->job, tmi_make_at(b), TMETAL_E_BAD_NUMBER, tmi_format(b->job, 1, "%lld", (long long)k->i), tmi_type_text(b->job, b->m, *k->types));
        return 0;
    }
    return tmi_make_splat(b, *k->types, bits == 1 ? (uint64_t)k->i & 1 : (uint64_t)tmi_sext((uint64_t)k->i, bits));
}

static uint32_t tmi_make_float(tmetal_builder *b, const tmi_make *k) {
    const tmi_float_format *f, *d = &tmi_float_formats[TMI_F_F64];
    uint64_t bits, mant = 0;
    int      negative, exp = 0;
    if (!tmi_make_in_func(b, "tmetal_build_float") || !tmi_make_types_ok(b, k->types, 1, "tmetal_build_float")) return 0;
    if (!tmi_is_floatlike(b->m, *k->types)) return tmi_make_misuse(b, tmi_format(b->job, 1, "tmetal_build_float: %s is no type of floats", tmi_type_text(b->job, b->m, *k->types)), "use tmetal_build_int");
    f = &tmi_float_formats[tmi_format_of(b->m, *k->types)];
    memcpy(&bits, &k->f, sizeof bits);
    if (tmi_float_split(d, bits, &negative, &mant, &exp)) {
        bits = tmi_float_round(f, negative, mant, exp, 0);
    } else { /* infinities and NaN by their patterns; types without them refuse */
        int is_nan = (bits << 12) != 0;
        if (f->special > 1 || (f->special == 1 && !is_nan)) {
            tmi_error(b->job, tmi_make_at(b), TMETAL_E_BAD_NUMBER, is_nan ? "NaN" : "infinity", tmi_type_text(b->job, b->m, *k->types));
            return 0;
        }
        bits = (((uint64_t)1 << f->exp_bits) - 1) << f->man_bits;
        if (is_nan) bits |= f->special == 1 ? ((uint64_t)1 << f->man_bits) - 1 : (uint64_t)1 << (f->man_bits - 1);
        bits |= (uint64_t)negative << (f->bits - 1);
    }
    return tmi_make_splat(b, *k->types, bits);
}

/* -- Ops with regions ------------------------------------------------------------------------------ */

static tmi_opened *tmi_make_opened(tmetal_builder *b) {
    return b->n_opened ? TMI_AT(&b->opened, tmi_opened, b->n_opened - 1) : NULL;
}

/* Types of the arguments of the next region of an op. */
static uint32_t *tmi_make_region_types(tmetal_builder *b, const tmi_op *op, uint32_t *n) {
    tmi_module *m = b->m;
    uint32_t    i, times = 2, *t;
    int64_t     pack;
    *n = 0;
    switch (op->kind) {
    case TMI_OP_FOR:
        t = TMI_TEMP(b->job, uint32_t, op->n_in + 1);
        for (i = 2; i < op->n_in; i++) t[(*n)++] = tmi_in_type(m, op, i == 2 ? 0 : i);
        return t;
    case TMI_OP_WHILE: /* the condition's other operands for the body; `before` gets the op's own */
        if (op->n_region) op = TMI_OP(m, TMI_BLOCK(m, tmi_op_body(m, op, 0))->last_op);
        t = TMI_TEMP(b->job, uint32_t, op->n_in + 1);
        for (i = op->kind == TMI_OP_CONDITION; i < op->n_in; i++) t[(*n)++] = tmi_in_type(m, op, i);
        return t;
    case TMI_OP_MAP:
        pack = tmi_attr_int(m, op, "pack", 1);
        times = pack < 1 || pack > 1024 ? 1 : (uint32_t)pack; /* the verifier says more */
        /* fall through */
    case TMI_OP_REDUCE: case TMI_OP_SCAN:
        t = TMI_TEMP(b->job, uint32_t, op->n_in * times + 1);
        for (i = 0; i < op->n_in * times; i++)
            t[(*n)++] = tmi_elem(m, tmi_in_type(m, op, op->kind == TMI_OP_MAP ? i / times : i % op->n_in));
        return t;
    default: return NULL;
    }
}

static void tmi_make_region(tmetal_builder *b, uint32_t op) {
    uint32_t  n, i, *types = tmi_make_region_types(b, TMI_OP(b->m, op), &n), *v;
    b->p.block = tmi_block_new(b->job, b->m, tmi_region_new(b->job, b->m, op));
    v = tmi_make_block_args(b, b->p.block, types, n);
    for (i = 0; i < n; i++) tmi_make_number(b, v[i]);
}

static uint32_t tmi_make_open(tmetal_builder *b, const tmi_make *k) {
    uint32_t    kind, op;
    tmi_opened *o;
    if (!tmi_make_in_func(b, "tmetal_build_open") || (kind = tmi_make_kind(b, k->name)) == 0) return 0;
    if (!tmi_makes_region(kind)) return tmi_make_misuse(b, tmi_format(b->job, 1, "%s has no body", k->name), "use tmetal_build_op");
    if (!tmi_make_types_ok(b, k->types, k->n_types, k->name)) return 0;
    if (b->n_opened >= TMI_MAX_DEPTH) {
        tmi_error(b->job, tmi_make_at(b), TMETAL_E_NESTING, TMI_MAX_DEPTH);
        return 0;
    }
    if (b->n_opened == b->opened.n) (void)tmi_vec_add(b->job, &b->opened);
    o = TMI_AT(&b->opened, tmi_opened, b->n_opened);
    o->outer = b->p.block;
    o->types = tmi_ids_add(b->job, b->m, k->types, k->n_types);
    o->n_types = k->n_types;
    if ((op = tmi_make_draft(b, kind, k)) == 0) return 0;
    if (kind == TMI_OP_FOR && k->n_in < 3) return tmi_make_misuse(b, "scf.for takes lower bound, upper bound, step and the carried values", NULL);
    o->op = op;
    b->n_opened++;
    tmi_make_region(b, op);
    return op;
}

static uint32_t tmi_make_body_arg(tmetal_builder *b, const tmi_make *k) {
    const tmi_opened *o = tmi_make_opened(b);
    uint32_t          block = o ? TMI_REGION(b->m, TMI_BLOCK(b->m, b->p.block ? b->p.block : o->outer)->region)->first_block : 0;
    if (!o) return tmi_make_misuse(b, "tmetal_build_body_arg: nothing is open", "open it with tmetal_build_open");
    if (!b->p.block) return tmi_make_misuse(b, "tmetal_build_body_arg: the block at hand has ended", NULL);
    if (k->index >= TMI_BLOCK(b->m, block)->n_arg) return tmi_make_misuse(b, tmi_format(b->job, 1, "the body has no argument %u", k->index), "they are counted from 0");
    return tmi_block_arg(b->m, block, k->index);
}

/* The op that ends the block at hand. */
static uint32_t tmi_make_end_op(tmetal_builder *b, uint32_t kind, const uint32_t *in, uint32_t n) {
    uint32_t op;
    if (!tmi_make_values_ok(b, in, n, tmi_ops[kind].name)) return 0;
    op = tmi_op_new(b->job, b->m, kind);
    TMI_OP(b->m, op)->loc = b->loc;
    tmi_op_operands(b->job, b->m, op, in, n);
    tmi_op_append(b->m, b->p.block, op);
    b->p.block = 0;
    return op;
}

static uint32_t tmi_make_yield(tmetal_builder *b, const tmi_make *k) {
    const tmi_op *op = TMI_OP(b->m, tmi_make_opened(b)->op);
    uint32_t kind = TMI_OP_YIELD;
    if (op->kind == TMI_OP_REDUCE) kind = TMI_OP_REDUCE_RETURN;
    if (op->kind == TMI_OP_SCAN) kind = TMI_OP_SCAN_RETURN;
    if (op->kind == TMI_OP_MAP) kind = TMI_OP_MAP_RETURN;
    if (op->kind == TMI_OP_WHILE && op->n_region == 1) kind = TMI_OP_CONDITION;
    return tmi_make_end_op(b, kind, k->in, k->n_in);
}

/* End one region and begin the next: the else of scf.if, the body of scf.while. */
static uint32_t tmi_make_next(tmetal_builder *b, const tmi_make *k) {
    const tmi_opened *o = tmi_make_opened(b);
    if (!o || !b->p.block) return tmi_make_misuse(b, o ? "tmetal_build_next: the block at hand has ended" : "tmetal_build_next: nothing is open", NULL);
    if ((TMI_OP(b->m, o->op)->kind != TMI_OP_IF && TMI_OP(b->m, o->op)->kind != TMI_OP_WHILE) || TMI_OP(b->m, o->op)->n_region != 1)
        return tmi_make_misuse(b, tmi_format(b->job, 1, "%s has no further region", tmi_ops[TMI_OP(b->m, o->op)->kind].name), "end it with tmetal_build_close");
    if (!tmi_make_yield(b, k)) return 0;
    tmi_make_region(b, o->op);
    return 1;
}

static uint32_t tmi_make_region_at_hand(const tmetal_builder *b) {
    uint32_t n = b->n_opened;
    const tmi_opened *o = n ? TMI_AT(&b->opened, tmi_opened, n - 1) : NULL;
    const tmi_op *op = TMI_OP(b->m, o ? o->op : b->func);
    return tmi_op_region(b->m, op, op->n_region - 1u);
}

static uint32_t tmi_make_close(tmetal_builder *b, const tmi_make *k) {
    const tmi_opened *o = tmi_make_opened(b);
    uint32_t  n, i, *types, first;
    tmi_op   *op;
    if (!o || !b->p.block) return tmi_make_misuse(b, o ? "tmetal_build_close: the block at hand has ended" : "tmetal_build_close: nothing is open", NULL);
    op = TMI_OP(b->m, o->op);
    if (op->kind == TMI_OP_WHILE && op->n_region == 1) return tmi_make_misuse(b, "scf.while has a condition and a body", "end the condition with tmetal_build_next");
    if (!tmi_make_yield(b, k)) return 0;
    for (i = TMI_REGION(b->m, tmi_make_region_at_hand(b))->first_block; i; i = TMI_BLOCK(b->m, i)->next)
        if (!tmi_terminator(b->m, i)) return tmi_make_misuse(b, tmi_format(b->job, 1, "a block of %s has no end", tmi_ops[op->kind].name), "end it with a branch or tmetal_build_close");
    b->p.block = o->outer;
    n = o->n_types;
    types = TMI_TEMP(b->job, uint32_t, n + 1);
    for (i = 0; i < n; i++) types[i] = TMI_ID(b->m, o->types + i);
    if (op->kind == TMI_OP_WHILE) { /* what the condition lets through */
        const tmi_op *end = TMI_OP(b->m, TMI_BLOCK(b->m, tmi_op_body(b->m, op, 0))->last_op);
        n = end->n_in ? end->n_in - 1 : 0;
        types = TMI_TEMP(b->job, uint32_t, n + 1);
        for (i = 0; i < n; i++) types[i] = tmi_in_type(b->m, end, 1 + i);
    }
    i = op->kind == TMI_OP_FOR || op->kind == TMI_OP_REDUCE || op->kind == TMI_OP_SCAN;
    first = tmi_make_results(b, o->op, i && !n ? NULL : types, n);
    b->n_opened--;
    return first;
}

/* -- Blocks and branches ------------------------------------------------------------------------------ */

static uint32_t tmi_make_block(tmetal_builder *b, const tmi_make *k) {
    uint32_t block, i, *v;
    if (!b->func) return tmi_make_misuse(b, "tmetal_build_block: no function has been begun", "begin one with tmetal_build_kernel");
    if (!tmi_make_types_ok(b, k->types, k->n_types, "tmetal_build_block")) return 0;
    block = tmi_block_new(b->job, b->m, tmi_make_region_at_hand(b));
    v = tmi_make_block_args(b, block, k->types, k->n_types);
    for (i = 0; i < k->n_types; i++) tmi_make_number(b, v[i]);
    return block;
}

static int tmi_make_block_ok(tmetal_builder *b, uint32_t block, const char *what) {
    if (b->func && block && block < b->m->block.n && TMI_BLOCK(b->m, block)->region == tmi_make_region_at_hand(b)) return 1;
    (void)tmi_make_misuse(b, tmi_format(b->job, 1, "%s: no block of the region at hand", what), "make it with tmetal_build_block");
    return 0;
}

static uint32_t tmi_make_block_arg(tmetal_builder *b, const tmi_make *k) {
    if (!k->to || k->to >= b->m->block.n || k->index >= TMI_BLOCK(b->m, k->to)->n_arg)
        return tmi_make_misuse(b, tmi_format(b->job, 1, "tmetal_build_block_arg: no argument %u", k->index), "they are counted from 0");
    return tmi_block_arg(b->m, k->to, k->index);
}

static uint32_t tmi_make_enter(tmetal_builder *b, const tmi_make *k) {
    if (!tmi_make_block_ok(b, k->to, "tmetal_build_enter")) return 0;
    if (b->p.block && !tmi_terminator(b->m, b->p.block)) return tmi_make_misuse(b, "tmetal_build_enter: the block before has no end", "end it with a branch or a return");
    if (TMI_BLOCK(b->m, k->to)->first_op) return tmi_make_misuse(b, "tmetal_build_enter: the block has been filled already", NULL);
    b->p.block = k->to;
    return 1;
}

/* A function ends when every block of it has an end. */
static void tmi_make_func_end(tmetal_builder *b) {
    uint32_t block = b->n_opened ? 0 : tmi_op_body(b->m, TMI_OP(b->m, b->func), 0);
    if (!block) return;
    for (; block; block = TMI_BLOCK(b->m, block)->next)
        if (!tmi_terminator(b->m, block)) return;
    b->func = 0;
}

static void tmi_make_target(tmetal_builder *b, uint32_t op, uint32_t block, const uint32_t *in, uint32_t n) {
    uint32_t  first = tmi_ids_add(b->job, b->m, in, n);
    tmi_succ *s;
    if (!TMI_OP(b->m, op)->n_succ) TMI_OP(b->m, op)->succ = b->m->succ.n;
    TMI_OP(b->m, op)->n_succ++;
    s = (tmi_succ *)tmi_vec_add(b->job, &b->m->succ);
    s->block = block;
    s->n_in = n;
    s->in = first;
}

static uint32_t tmi_make_branch(tmetal_builder *b, const tmi_make *k) {
    const char *name = k->is_cond ? "cf.cond_br" : "cf.br";
    uint32_t    op;
    if (!tmi_make_in_func(b, name) || !tmi_make_block_ok(b, k->to, name) || (k->is_cond && !tmi_make_block_ok(b, k->to2, name))) return 0;
    if (!tmi_make_values_ok(b, k->in, k->n_in, name) || !tmi_make_values_ok(b, k->in2, k->n_in2, name)) return 0;
    op = tmi_make_end_op(b, k->is_cond ? TMI_OP_COND_BR : TMI_OP_BR, &k->value, k->is_cond ? 1 : 0);
    if (!op) return 0;
    tmi_make_target(b, op, k->to, k->in, k->n_in);
    if (k->is_cond) tmi_make_target(b, op, k->to2, k->in2, k->n_in2);
    tmi_make_func_end(b);
    return 1;
}

static uint32_t tmi_make_return(tmetal_builder *b, const tmi_make *k) {
    if (!tmi_make_in_func(b, "tmetal_build_return")) return 0;
    if (b->n_opened) return tmi_make_misuse(b, tmi_format(b->job, 1, "tmetal_build_return inside %s", tmi_ops[TMI_OP(b->m, tmi_make_opened(b)->op)->kind].name), "end it with tmetal_build_close first");
    if (!tmi_make_end_op(b, TMI_OP_RETURN, k->in, k->n_in)) return 0;
    tmi_make_func_end(b);
    return 1;
}

static uint32_t tmi_make_end(tmetal_builder *b, const tmi_make *k) {
    (void)k;
    if (b->n_opened) return tmi_make_misuse(b, tmi_format(b->job, 1, "%s is still open", tmi_ops[TMI_OP(b->m, tmi_make_opened(b)->op)->kind].name), "end it with tmetal_build_close");
    if (b->func) return tmi_make_misuse(b, tmi_format(b->job, 1, "function %s has a block without end", tmi_attr_str(b->m, TMI_OP(b->m, b->func), "sym_name")), "end it with tmetal_build_return");
    return (uint32_t)tmi_verify_all(b->job, b->m);
}

static void tmi_make_begin(tmi_job *job, tmetal_builder *b) {
    b->arena = job->arena;
    b->job = job;
    b->m = tmi_module_new(job);
    tmi_parser_init(&b->p, job, b->m, "", 0);
    tmi_open_top(&b->p);
    b->p.block = 0;
    tmi_vec_init(&b->opened, sizeof(tmi_opened), 0);
}

/*==============================================================================
 * >>analyse  [12]  Facts about a function: uses, constants, divisibility and contiguity
 *
 * gives   tmi_users_make(), tmi_const_int(), tmi_axis_make(): changes nothing
 * uses    >>ir
 *============================================================================*/

/* -- Uses ---------------------------------------------------------------------------- */

typedef struct tmi_use_at {
    uint32_t op, operand; /* operand past n_in: of a successor */
} tmi_use_at;

typedef struct tmi_users {
    uint32_t   *first; /* per value: start in `at`; one more entry ends the last */
    tmi_use_at *at;
} tmi_users;

static void tmi_users_make(tmi_job *job, const tmi_module *m, uint32_t func, tmi_users *u) {
    uint32_t op, i, total = 0;
    u->first = TMI_TEMP(job, uint32_t, m->value.n + 2);
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op))
        for (i = 0; i < TMI_OP(m, op)->n_in; i++) u->first[tmi_in(m, TMI_OP(m, op), i) + 2]++, total++;
    for (i = 2; i < m->value.n + 2; i++) u->first[i] += u->first[i - 1];
    u->at = TMI_TEMP(job, tmi_use_at, total);
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op))
        for (i = 0; i < TMI_OP(m, op)->n_in; i++) {
            tmi_use_at *x = &u->at[u->first[tmi_in(m, TMI_OP(m, op), i) + 1]++];
            x->op = op;
            x->operand = i;
        }
}

static uint32_t tmi_n_uses(const tmi_users *u, uint32_t value) {
    return u->first[value + 1] - u->first[value];
}

/* -- Constants ------------------------------------------------------------------------- */

/* The one integer that every element of a value has; 0 when it is not known. */
static int tmi_const_int(const tmi_module *m, uint32_t value, int64_t *v) {
    for (;;) {
        uint32_t        def = tmi_def(m, value);
        const tmi_op   *op = TMI_OP(m, def);
        const tmi_attr *a;
        if (!def) return 0;
        switch (op->kind) {
        case TMI_OP_SPLAT: case TMI_OP_EXPAND: case TMI_OP_BROADCAST: case TMI_OP_RESHAPE: case TMI_OP_UNSPLAT:
        case TMI_OP_TRANS: value = tmi_in(m, op, 0); break;
        case TMI_OP_CONSTANT:
            a = tmi_attr_of(m, op, "value");
            if (!a) return 0;
            if ((a->kind == TMI_A_INT && tmi_is_intlike(m, a->type)) || a->kind == TMI_A_BOOL) *v = (int64_t)a->value;
            else if (a->kind == TMI_A_DENSE && a->n == 1 && tmi_is_intlike(m, a->type)) *v = (int64_t)TMI_WORD(m, (uint32_t)a->value);
            else return 0;
            if (tmi_bits(m, a->type) == 1) *v &= 1;
            return 1;
        default: return 0;
        }
    }
}

/* The scalar that every element of a tensor is a copy of, through shape ops; 0 when there is none.
 * Splat constants have no scalar of their own: tmi_const_int knows them. */
static uint32_t tmi_splat_source(const tmi_module *m, uint32_t value) {
    for (;;) {
        uint32_t def = tmi_def(m, value);
        if (!tmi_is_tensor(m, tmi_value_type(m, value))) return value;
        if (!def) return 0;
        switch (TMI_OP(m, def)->kind) {
        case TMI_OP_SPLAT: case TMI_OP_EXPAND: case TMI_OP_BROADCAST: case TMI_OP_RESHAPE: case TMI_OP_TRANS:
            value = tmi_in(m, TMI_OP(m, def), 0);
            break;
        default: return 0;
        }
    }
}

/* -- Axis facts ----------------------------------------------------------------------------
 * Per value and dimension, as powers of two (sheet 5.3): contiguity c, the length of runs that grow
 * by one; divisibility v of each run's first element (pointers: of its byte address); constancy k,
 * the length of runs of equal elements. Scalars count as one dimension of one element. */
typedef struct tmi_axis {
    uint8_t c, v, k; /* log2 */
} tmi_axis;

#define TMI_AXIS_MAX 62u /* divisor of zero */

typedef struct tmi_axes {
    tmi_job    *job;
    tmi_module *m;
    uint32_t   *at;   /* per value: first entry of `axis` + 1; 0: unknown */
    tmi_axis   *axis;
    int         changed;
} tmi_axes;

static uint32_t tmi_axis_rank(const tmi_module *m, uint32_t value) {
    uint32_t rank = tmi_rank(m, tmi_value_type(m, value));
    return rank ? rank : 1;
}

static tmi_axis tmi_axis_get(const tmi_axes *x, uint32_t value, uint32_t d) {
    tmi_axis one = {0, 0, 0};
    if (!x->at[value] || d >= tmi_axis_rank(x->m, value)) return one;
    return x->axis[x->at[value] - 1 + d];
}

static uint8_t tmi_axis_p2(int64_t v) {
    uint8_t n = 0;
    if (!v) return TMI_AXIS_MAX;
    while (!((uint64_t)v >> n & 1) && n < TMI_AXIS_MAX) n++;
    return n;
}

static uint8_t tmi_min8(uint8_t a, uint8_t b) { return a < b ? a : b; }
static uint8_t tmi_max8(uint8_t a, uint8_t b) { return a > b ? a : b; }
static uint8_t tmi_cap8(uint32_t v) { return (uint8_t)(v > TMI_AXIS_MAX ? TMI_AXIS_MAX : v); }

static uint32_t tmi_axis_size(const tmi_module *m, uint32_t value, uint32_t d) { /* log2 of the dimension */
    uint32_t type = tmi_value_type(m, value);
    return tmi_is_tensor(m, type) && tmi_rank(m, type) ? tmi_log2(tmi_dim(m, type, d)) : 0;
}

/* Hints that Triton left on an op or argument override what is computed. */
static void tmi_axis_hint(const tmi_module *m, uint32_t named, const char *name, uint32_t d, uint8_t *to) {
    for (; named; named = TMI_NAMED(m, named)->next) {
        const tmi_attr *a = TMI_ATTR(m, TMI_NAMED(m, named)->attr);
        int64_t         v = 0;
        if (strcmp(TMI_STR(m, TMI_NAMED(m, named)->name), name) != 0) continue;
        if (a->kind == TMI_A_INT) v = (int64_t)a->value;
        else if (a->kind == TMI_A_DENSE && a->n) v = (int64_t)TMI_WORD(m, (uint32_t)a->value + (a->n > d ? d : 0));
        if (v > 0) *to = tmi_max8(*to, tmi_axis_p2(v));
    }
}

static uint32_t tmi_pointee_bytes_log2(const tmi_module *m, uint32_t type) {
    const tmi_type *t = TMI_TYPE(m, tmi_elem(m, type));
    return t->kind == TMI_T_PTR && !tmi_is_tensor(m, t->elem) ? tmi_log2(tmi_bytes(m, t->elem)) : 0;
}

/* x + y, pointer + offset, x - y: contiguity and divisibility of a sum. */
static tmi_axis tmi_axis_sum(const tmi_module *m, const tmi_op *op, tmi_axis l, tmi_axis r) {
    uint32_t es = op->kind == TMI_OP_ADDPTR ? tmi_pointee_bytes_log2(m, tmi_in_type(m, op, 0)) : 0;
    uint8_t  rv = tmi_cap8((uint32_t)r.v + es);
    tmi_axis z;
    z.k = tmi_min8(l.k, r.k);
    if (op->kind == TMI_OP_SUBI) z.c = tmi_min8(l.c, r.k);
    else z.c = tmi_max8(tmi_min8(l.k, r.c), tmi_min8(l.c, r.k));
    if (l.c && r.c) z.v = l.v && rv ? 1 : 0;
    else if (l.c || r.c) z.v = tmi_min8(tmi_min8(l.v, rv), tmi_cap8((uint32_t)z.c + es));
    else z.v = tmi_min8(l.v, rv);
    if ((l.c || r.c) && !z.c) z.v = tmi_min8(z.v, (uint8_t)es); /* each element starts a run of its own */
    return z;
}

static tmi_axis tmi_axis_mul(const tmi_module *m, const tmi_op *op, tmi_axis l, tmi_axis r) {
    int64_t  one = 0;
    tmi_axis z;
    int      l_one = tmi_const_int(m, tmi_in(m, op, 0), &one) && one == 1;
    int      r_one = tmi_const_int(m, tmi_in(m, op, 1), &one) && one == 1;
    if (l_one) return r;
    if (r_one) return l;
    z.c = 0;
    z.k = tmi_min8(l.k, r.k);
    z.v = tmi_cap8((l.c ? 0u : l.v) + (r.c ? 0u : r.v));
    return z;
}

static tmi_axis tmi_axis_div(const tmi_module *m, const tmi_op *op, tmi_axis l, tmi_axis r, uint32_t size) {
    int64_t  d = 0;
    int      known = tmi_const_int(m, tmi_in(m, op, 1), &d);
    tmi_axis z = {0, 0, 0};
    if (known && d == 1) return l;
    z.k = tmi_min8(l.k, r.k);
    if (l.c && r.k >= size) z.k = tmi_max8(z.k, tmi_min8(tmi_min8(l.c, l.v), r.v));
    if (known && d > 0 && tmi_is_pow2((uint64_t)d) && !l.c) z.v = l.v > tmi_axis_p2(d) ? (uint8_t)(l.v - tmi_axis_p2(d)) : 0;
    return z;
}

static tmi_axis tmi_axis_rem(const tmi_module *m, const tmi_op *op, tmi_axis l, tmi_axis r, uint32_t size) {
    int64_t  d = 0;
    tmi_axis z = {0, 0, 0};
    (void)m;
    if (tmi_const_int(m, tmi_in(m, op, 1), &d) && d == 1) {
        z.k = (uint8_t)size;
        z.v = TMI_AXIS_MAX;
        return z;
    }
    if (r.k >= size) z.c = tmi_min8(tmi_min8(l.c, l.v), r.v);
    z.v = r.k >= size ? tmi_min8(l.v, r.v) : 0;
    z.k = tmi_min8(l.k, r.k);
    if (!l.c && !size) z.c = 0;
    return z;
}

static tmi_axis tmi_axis_shift(const tmi_module *m, const tmi_op *op, tmi_axis l, tmi_axis r) {
    int64_t  s = -1;
    int      known = tmi_const_int(m, tmi_in(m, op, 1), &s) && s >= 0 && s < 63;
    tmi_axis z = {0, 0, 0};
    z.k = tmi_min8(l.k, r.k);
    if (known && s == 0) z.c = l.c;
    if (op->kind == TMI_OP_SHLI) z.v = known ? tmi_cap8((l.c ? 0u : l.v) + (uint32_t)s) : l.c ? 0 : l.v;
    else if (known && !l.c) z.v = l.v > s ? (uint8_t)(l.v - s) : 0;
    return z;
}

/* A comparison is constant over runs when one side grows by one and the other holds still at a bound
 * that no run straddles: x < n with x in runs of c from multiples of v, n a multiple of both. */
static tmi_axis tmi_axis_cmp(const tmi_module *m, const tmi_op *op, tmi_axis l, tmi_axis r, uint32_t size) {
    int64_t  p = tmi_attr_int(m, op, "predicate", 0);
    tmi_axis z = {0, 0, 0};
    int      lt = p == 2 || p == 6, ge = p == 5 || p == 9, gt = p == 4 || p == 8, le = p == 3 || p == 7;
    z.k = tmi_min8(l.k, r.k);
    if ((lt || ge) && l.c && r.k >= size) z.k = tmi_max8(z.k, tmi_min8(tmi_min8(l.c, l.v), r.v));
    if ((gt || le) && r.c && l.k >= size) z.k = tmi_max8(z.k, tmi_min8(tmi_min8(r.c, r.v), l.v));
    return z;
}

static tmi_axis tmi_axis_binary(tmi_axes *x, const tmi_op *op, uint32_t d) {
    const tmi_module *m = x->m;
    tmi_axis l = tmi_axis_get(x, tmi_in(m, op, 0), d), r = tmi_axis_get(x, tmi_in(m, op, 1), d), z = {0, 0, 0};
    uint32_t size = tmi_axis_size(m, tmi_out(m, op, 0), d);
    z.k = tmi_min8(l.k, r.k);
    switch (op->kind) {
    case TMI_OP_ADDI: case TMI_OP_SUBI: case TMI_OP_ADDPTR: return tmi_axis_sum(m, op, l, r);
    case TMI_OP_MULI: return tmi_axis_mul(m, op, l, r);
    case TMI_OP_DIVSI: case TMI_OP_DIVUI: return tmi_axis_div(m, op, l, r, size);
    case TMI_OP_REMSI: case TMI_OP_REMUI: return tmi_axis_rem(m, op, l, r, size);
    case TMI_OP_SHLI: case TMI_OP_SHRSI: case TMI_OP_SHRUI: return tmi_axis_shift(m, op, l, r);
    case TMI_OP_CMPI: return tmi_axis_cmp(m, op, l, r, size);
    case TMI_OP_MAXSI: case TMI_OP_MINSI: case TMI_OP_MAXUI: case TMI_OP_MINUI:
        z.c = tmi_min8(l.c, r.c);
        z.v = l.c == r.c ? tmi_min8(l.v, r.v) : 0;
        return z;
    default: return z;
    }
}

static tmi_axis tmi_axis_select(tmi_axes *x, const tmi_op *op, uint32_t d) {
    const tmi_module *m = x->m;
    tmi_axis a = tmi_axis_get(x, tmi_in(m, op, 1), d), b = tmi_axis_get(x, tmi_in(m, op, 2), d), z;
    tmi_axis c = tmi_axis_get(x, tmi_in(m, op, 0), d);
    int      whole = !tmi_is_tensor(m, tmi_in_type(m, op, 0));
    z.k = tmi_min8(a.k, b.k);
    z.c = tmi_min8(a.c, b.c);
    if (!whole) {
        z.k = tmi_min8(z.k, c.k);
        z.c = tmi_min8(z.c, c.k);
    }
    z.v = tmi_min8(a.v, b.v);
    if (a.c != z.c || b.c != z.c) z.v = tmi_min8(z.v, z.c);
    return z;
}

/* Shape ops: where dimension d of the result comes from. */
static tmi_axis tmi_axis_shape(tmi_axes *x, const tmi_op *op, uint32_t d) {
    const tmi_module *m = x->m;
    uint32_t v = tmi_in(m, op, 0), out = tmi_out(m, op, 0), i;
    tmi_axis z = {0, 0, 0}, a;
    if (op->kind == TMI_OP_SPLAT) {
        a = tmi_axis_get(x, v, 0);
        z.v = a.v;
        z.k = (uint8_t)tmi_axis_size(m, out, d);
        return z;
    }
    if (op->kind == TMI_OP_EXPAND) {
        uint32_t axis = (uint32_t)tmi_attr_int(m, op, "axis", 0);
        if (d != axis) return tmi_axis_get(x, v, d < axis ? d : d - 1);
        for (z.v = TMI_AXIS_MAX, i = 0; i < tmi_axis_rank(m, v); i++) {
            a = tmi_axis_get(x, v, i);
            z.v = tmi_min8(z.v, a.c ? 0 : a.v);
        }
        return z;
    }
    if (op->kind == TMI_OP_BROADCAST) {
        z = tmi_axis_get(x, v, d);
        if (tmi_axis_size(m, v, d) != tmi_axis_size(m, out, d)) z.c = 0, z.k = (uint8_t)tmi_axis_size(m, out, d);
        return z;
    }
    if (op->kind == TMI_OP_TRANS) {
        const tmi_attr *order = tmi_attr_of(m, op, "order");
        return tmi_axis_get(x, v, (uint32_t)TMI_WORD(m, (uint32_t)order->value + d));
    }
    /* reshape: a result dimension that starts at the low end of a source dimension keeps its facts */
    {
        uint32_t low = 0, slow = 0, rank = tmi_rank(m, tmi_value_type(m, out)), srank = tmi_rank(m, tmi_value_type(m, v)), bits;
        for (i = d + 1; i < rank; i++) low += tmi_axis_size(m, out, i);
        bits = tmi_axis_size(m, out, d);
        for (i = srank; i-- > 0;) {
            uint32_t sbits = tmi_axis_size(m, v, i);
            if (slow == low && sbits) {
                a = tmi_axis_get(x, v, i);
                z.c = tmi_min8(a.c, (uint8_t)bits);
                z.k = tmi_min8(a.k, (uint8_t)bits);
                z.v = a.c <= bits ? a.v : tmi_min8(a.v, (uint8_t)bits);
                return z;
            }
            slow += sbits;
        }
        return z;
    }
}

static tmi_axis tmi_axis_of_op(tmi_axes *x, const tmi_op *op, uint32_t d) {
    const tmi_module *m = x->m;
    tmi_axis z = {0, 0, 0};
    int64_t  c;
    uint32_t size = tmi_axis_size(m, tmi_out(m, op, 0), d);
    switch (op->kind) {
    case TMI_OP_RANGE:
        z.c = (uint8_t)size;
        z.v = tmi_axis_p2(tmi_attr_int(m, op, "start", 0));
        return z;
    case TMI_OP_CONSTANT: case TMI_OP_POISON: case TMI_OP_UNDEF:
        if (op->kind != TMI_OP_CONSTANT || tmi_const_int(m, tmi_out(m, op, 0), &c)) {
            z.v = op->kind == TMI_OP_CONSTANT ? tmi_axis_p2(c) : TMI_AXIS_MAX;
            z.k = (uint8_t)size;
        }
        return z;
    case TMI_OP_SPLAT: case TMI_OP_EXPAND: case TMI_OP_BROADCAST: case TMI_OP_TRANS: case TMI_OP_RESHAPE:
        return tmi_axis_shape(x, op, d);
    case TMI_OP_EXTSI: case TMI_OP_EXTUI: case TMI_OP_TRUNCI: case TMI_OP_BITCAST: case TMI_OP_TTBITCAST:
    case TMI_OP_INDEX_CAST: case TMI_OP_INDEX_CASTU: case TMI_OP_PTR_TO_INT: case TMI_OP_INT_TO_PTR:
        return tmi_axis_get(x, tmi_in(m, op, 0), d);
    case TMI_OP_SELECT: return tmi_axis_select(x, op, d);
    case TMI_OP_LOAD:
        z.k = tmi_axis_get(x, tmi_in(m, op, 0), d).k;
        if (op->n_in > 1) z.k = tmi_min8(z.k, tmi_axis_get(x, tmi_in(m, op, 1), d).k);
        return z;
    default:
        if (op->n_in == 2 && (tmi_ops[op->kind].traits & TMI_ELT)) return tmi_axis_binary(x, op, d);
        if (op->n_in == 1 && (tmi_ops[op->kind].traits & TMI_ELT)) z.k = tmi_axis_get(x, tmi_in(m, op, 0), d).k;
        return z;
    }
}

static void tmi_axis_room(tmi_axes *x, uint32_t value, uint32_t *next) {
    if (x->at[value]) return;
    x->at[value] = *next + 1;
    *next += tmi_axis_rank(x->m, value);
}

/* Meet: a fact holds of a loop-carried value when it holds of all that flows in. */
static void tmi_axis_meet(tmi_axes *x, uint32_t to, uint32_t from, int first) {
    uint32_t d;
    for (d = 0; d < tmi_axis_rank(x->m, to); d++) {
        tmi_axis *a = &x->axis[x->at[to] - 1 + d], b = tmi_axis_get(x, from, d), z = *a;
        if (first) z = b;
        else {
            z.v = tmi_min8(a->v, b.v);
            if (a->c != b.c) z.v = tmi_min8(z.v, tmi_min8(a->c, b.c));
            z.c = tmi_min8(a->c, b.c);
            z.k = tmi_min8(a->k, b.k);
        }
        if (memcmp(&z, a, sizeof z) != 0) x->changed = 1;
        *a = z;
    }
}

static void tmi_axis_loop(tmi_axes *x, const tmi_op *op, int first) {
    const tmi_module *m = x->m;
    uint32_t block = tmi_op_body(m, op, 0), end = tmi_terminator(m, block), i;
    if (op->kind == TMI_OP_FOR) {
        tmi_axis lb = tmi_axis_get(x, tmi_in(m, op, 0), 0), st = tmi_axis_get(x, tmi_in(m, op, 2), 0);
        tmi_axis *iv = &x->axis[x->at[tmi_block_arg(m, block, 0)] - 1];
        iv->c = iv->k = 0;
        iv->v = tmi_min8(lb.v, st.v);
        for (i = 0; i < op->n_out; i++) {
            tmi_axis_meet(x, tmi_block_arg(m, block, 1 + i), tmi_in(m, op, 3 + i), first);
            if (!first) tmi_axis_meet(x, tmi_block_arg(m, block, 1 + i), tmi_in(m, TMI_OP(m, end), i), 0);
            tmi_axis_meet(x, tmi_out(m, op, i), tmi_block_arg(m, block, 1 + i), 1);
        }
    } else if (op->kind == TMI_OP_WHILE) {
        uint32_t after = tmi_op_body(m, op, 1), yield = tmi_terminator(m, after);
        for (i = 0; i < op->n_in; i++) {
            tmi_axis_meet(x, tmi_block_arg(m, block, i), tmi_in(m, op, i), first);
            if (!first) tmi_axis_meet(x, tmi_block_arg(m, block, i), tmi_in(m, TMI_OP(m, yield), i), 0);
        }
    } else if (op->kind == TMI_OP_CONDITION) {
        const tmi_op *loop = TMI_OP(m, tmi_parent_op(m, op));
        for (i = 0; i < loop->n_out; i++) {
            tmi_axis_meet(x, tmi_block_arg(m, tmi_op_body(m, loop, 1), i), tmi_in(m, op, i + 1), 1);
            tmi_axis_meet(x, tmi_out(m, loop, i), tmi_in(m, op, i + 1), 1);
        }
    } else if (op->kind == TMI_OP_YIELD && TMI_OP(m, tmi_parent_op(m, op))->kind == TMI_OP_IF) {
        const tmi_op *o = TMI_OP(m, tmi_parent_op(m, op));
        int is_then = op->block == tmi_op_body(m, o, 0);
        for (i = 0; i < op->n_in; i++) tmi_axis_meet(x, tmi_out(m, o, i), tmi_in(m, op, i), is_then);
    }
}

static void tmi_axis_walk(tmi_axes *x, uint32_t func, int first) {
    const tmi_module *m = x->m;
    uint32_t op, d;
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        tmi_axis_loop(x, o, first);
        if (!o->n_out || o->n_region) continue;
        for (d = 0; d < tmi_axis_rank(m, tmi_out(m, o, 0)); d++) {
            uint32_t size = tmi_axis_size(m, tmi_out(m, o, 0), d);
            tmi_axis z = tmi_axis_of_op(x, o, d);
            tmi_axis_hint(m, o->attr, "tt.contiguity", d, &z.c);
            tmi_axis_hint(m, o->attr, "tt.divisibility", d, &z.v);
            tmi_axis_hint(m, o->attr, "tt.constancy", d, &z.k);
            z.c = tmi_min8(z.c, (uint8_t)size);
            z.k = tmi_min8(z.k, (uint8_t)size);
            if (memcmp(&z, &x->axis[x->at[tmi_out(m, o, 0)] - 1 + d], sizeof z) != 0) x->changed = 1;
            x->axis[x->at[tmi_out(m, o, 0)] - 1 + d] = z;
        }
    }
}

static void tmi_axis_args(tmi_axes *x, const tmi_op *func) {
    const tmi_module *m = x->m;
    const tmi_attr   *hints = tmi_attr_of(m, func, "arg_attrs");
    uint32_t block = tmi_op_body(m, func, 0), i;
    for (i = 0; i < TMI_BLOCK(m, block)->n_arg; i++) {
        tmi_axis *a = &x->axis[x->at[tmi_block_arg(m, block, i)] - 1];
        uint32_t  dict = 0;
        if (hints && hints->kind == TMI_A_ARRAY && i < hints->n)
            dict = (uint32_t)TMI_ATTR(m, TMI_ID(m, (uint32_t)hints->value + i))->value;
        tmi_axis_hint(m, dict, "tt.divisibility", 0, &a->v);
        if (tmi_is_ptrlike(m, tmi_value_type(m, tmi_block_arg(m, block, i)))) /* natural alignment is the contract */
            a->v = tmi_max8(a->v, (uint8_t)tmi_pointee_bytes_log2(m, tmi_value_type(m, tmi_block_arg(m, block, i))));
    }
}

/* Facts of every value of a function. Loop-carried values start from their initial value and are met
 * with what the loop yields until nothing changes; facts only shrink, so that ends. */
static void tmi_axis_make(tmi_job *job, tmi_module *m, uint32_t func, tmi_axes *x) {
    uint32_t op, i, r, b, next = 0, rounds;
    memset(x, 0, sizeof *x);
    x->job = job;
    x->m = m;
    x->at = TMI_TEMP(job, uint32_t, m->value.n);
    for (op = func; op; op = tmi_walk_next(m, func, op)) {
        for (i = 0; i < TMI_OP(m, op)->n_out; i++) tmi_axis_room(x, tmi_out(m, TMI_OP(m, op), i), &next);
        for (r = TMI_OP(m, op)->region; r; r = TMI_REGION(m, r)->next)
            for (b = TMI_REGION(m, r)->first_block; b; b = TMI_BLOCK(m, b)->next)
                for (i = 0; i < TMI_BLOCK(m, b)->n_arg; i++) tmi_axis_room(x, tmi_block_arg(m, b, i), &next);
    }
    x->axis = TMI_TEMP(job, tmi_axis, next);
    tmi_axis_args(x, TMI_OP(m, func));
    tmi_axis_walk(x, func, 1);
    for (rounds = 0, x->changed = 1; x->changed && rounds < 200; rounds++) {
        x->changed = 0;
        tmi_axis_walk(x, func, 0);
    }
}

/*==============================================================================
 * >>transform  [13]  Passes over tile IR, before anything is planned
 *
 * gives   tmi_transform(): one function, rewritten until it is one block of ops that >>lower knows
 * uses    >>ir  >>analyse
 * order   of the pass table at the end of the floor; each pass says what it requires and what it leaves
 *============================================================================*/

/* -- Building -------------------------------------------------------------------------- */

/* Where new ops go: before `before`, or at the end of `block`; and the place that they carry. */
typedef struct tmi_build {
    tmi_job    *job;
    tmi_module *m;
    uint32_t    block, before;
    uint32_t    loc, src;
} tmi_build;

static tmi_build tmi_build_before(tmi_job *job, tmi_module *m, uint32_t op) {
    tmi_build b;
    b.job = job;
    b.m = m;
    b.before = op;
    b.block = TMI_OP(m, op)->block;
    b.loc = TMI_OP(m, op)->loc;
    b.src = TMI_OP(m, op)->src;
    return b;
}

static void tmi_b_insert(tmi_build *b, uint32_t op) {
    TMI_OP(b->m, op)->loc = b->loc;
    TMI_OP(b->m, op)->src = b->src;
    if (b->before) tmi_op_insert_before(b->m, b->before, op);
    else tmi_op_append(b->m, b->block, op);
}

/* A new op with at most one result; gives the result, or the op where there is none. */
static uint32_t tmi_b_op(tmi_build *b, uint32_t kind, uint32_t type, const uint32_t *in, uint32_t n) {
    uint32_t op = tmi_op_new(b->job, b->m, kind), v = 0;
    tmi_op_operands(b->job, b->m, op, in, n);
    if (type) {
        v = tmi_value_new(b->job, b->m, type);
        tmi_op_results(b->job, b->m, op, &v, 1);
    }
    tmi_b_insert(b, op);
    return v ? v : op;
}

static uint32_t tmi_b_1(tmi_build *b, uint32_t kind, uint32_t type, uint32_t x) {
    return tmi_b_op(b, kind, type, &x, 1);
}

static uint32_t tmi_b_2(tmi_build *b, uint32_t kind, uint32_t x, uint32_t y) { /* of the type of x */
    uint32_t in[2];
    in[0] = x;
    in[1] = y;
    return tmi_b_op(b, kind, tmi_value_type(b->m, x), in, 2);
}

static uint32_t tmi_b_select(tmi_build *b, uint32_t c, uint32_t x, uint32_t y) {
    uint32_t in[3];
    in[0] = c;
    in[1] = x;
    in[2] = y;
    return tmi_b_op(b, TMI_OP_SELECT, tmi_value_type(b->m, x), in, 3);
}

static void tmi_b_attr(tmi_build *b, uint32_t value, const char *name, int64_t v) {
    tmi_op_set_int(b->job, b->m, TMI_VALUE(b->m, value)->def, name, b->m->t_i32, v);
}

/* A constant of any number type, every element the same bits (integers: sign-extended). */
static uint32_t tmi_b_const(tmi_build *b, uint32_t type, uint64_t bits) {
    tmi_module *m = b->m;
    uint32_t    v = tmi_b_op(b, TMI_OP_CONSTANT, type, NULL, 0), word, attr;
    if (tmi_is_tensor(m, type)) {
        word = m->words.n;
        *(uint64_t *)tmi_vec_add(b->job, &m->words) = bits;
        attr = tmi_attr_new(b->job, m, TMI_A_DENSE, type, word);
        TMI_ATTR(m, attr)->n = 1;
    } else {
        attr = tmi_attr_new(b->job, m, tmi_is_floatlike(m, type) ? TMI_A_FLOAT : type == m->t_i1 ? TMI_A_BOOL : TMI_A_INT, type, bits);
    }
    tmi_op_set_attr(b->job, m, TMI_VALUE(m, v)->def, "value", attr);
    return v;
}

static uint32_t tmi_b_cmpi(tmi_build *b, int predicate, uint32_t x, uint32_t y) {
    uint32_t in[2], v, type = tmi_type_like(b->job, b->m, tmi_value_type(b->m, x), b->m->t_i1);
    in[0] = x;
    in[1] = y;
    v = tmi_b_op(b, TMI_OP_CMPI, type, in, 2);
    tmi_op_set_int(b->job, b->m, TMI_VALUE(b->m, v)->def, "predicate", b->m->t_i64, predicate);
    return v;
}

static uint32_t tmi_b_to_int(tmi_build *b, uint32_t v, uint32_t bits, int is_signed) { /* widen or cut */
    uint32_t was = tmi_bits(b->m, tmi_value_type(b->m, v));
    uint32_t type = tmi_type_like(b->job, b->m, tmi_value_type(b->m, v), tmi_type_int(b->job, b->m, bits, 0));
    if (was == bits) return v;
    return tmi_b_1(b, was > bits ? TMI_OP_TRUNCI : is_signed ? TMI_OP_EXTSI : TMI_OP_EXTUI, type, v);
}

static uint32_t tmi_b_splat(tmi_build *b, uint32_t scalar, uint32_t shape) { /* to the shape of another type */
    return tmi_b_1(b, TMI_OP_SPLAT, tmi_type_like(b->job, b->m, shape, tmi_value_type(b->m, scalar)), scalar);
}

static uint32_t tmi_b_range(tmi_build *b, uint32_t n) { /* 0 .. n-1 */
    uint32_t v = tmi_b_op(b, TMI_OP_RANGE, tmi_type_tensor(b->job, b->m, b->m->t_i32, &n, 1), NULL, 0);
    tmi_b_attr(b, v, "end", n);
    tmi_b_attr(b, v, "start", 0);
    return v;
}

static uint32_t tmi_b_reshape(tmi_build *b, uint32_t v, const uint32_t *dims, uint32_t rank) {
    uint32_t type = tmi_type_tensor(b->job, b->m, tmi_elem(b->m, tmi_value_type(b->m, v)), dims, rank);
    return type == tmi_value_type(b->m, v) ? v : tmi_b_1(b, TMI_OP_RESHAPE, type, v);
}

static uint32_t tmi_b_broadcast(tmi_build *b, uint32_t v, uint32_t shape) {
    uint32_t type = tmi_type_like(b->job, b->m, shape, tmi_elem(b->m, tmi_value_type(b->m, v)));
    return type == tmi_value_type(b->m, v) ? v : tmi_b_1(b, TMI_OP_BROADCAST, type, v);
}

/* A vector along one axis of a shape, copied along the others. */
static uint32_t tmi_b_along(tmi_build *b, uint32_t v, uint32_t shape, uint32_t axis) {
    uint32_t dims[TMI_MAX_RANK], i, rank = tmi_rank(b->m, shape);
    for (i = 0; i < rank; i++) dims[i] = i == axis ? tmi_dim(b->m, shape, i) : 1;
    return tmi_b_broadcast(b, tmi_b_reshape(b, v, dims, rank), shape);
}

static uint32_t tmi_b_swap_last(tmi_build *b, uint32_t v) { /* the last two axes change places */
    tmi_module *m = b->m;
    uint32_t    type = tmi_value_type(m, v), rank = tmi_rank(m, type), dims[TMI_MAX_RANK], i, r, word = m->words.n, attr, from;
    for (i = 0; i < rank; i++) {
        from = i + 2 < rank ? i : i + 2 == rank ? rank - 1 : rank - 2;
        dims[i] = tmi_dim(m, type, from);
        *(uint64_t *)tmi_vec_add(b->job, &m->words) = from;
    }
    r = tmi_b_1(b, TMI_OP_TRANS, tmi_type_tensor(b->job, m, tmi_elem(m, type), dims, rank), v);
    attr = tmi_attr_new(b->job, m, TMI_A_LIST, m->t_i32, word);
    TMI_ATTR(m, attr)->n = rank;
    tmi_op_set_attr(b->job, m, TMI_VALUE(m, r)->def, "order", attr);
    return r;
}

/* -- Renaming: all uses of one value become another's, applied once at the end of a pass ---- */

typedef struct tmi_rename {
    tmi_module *m;
    uint32_t   *to; /* per value; 0: itself */
    uint32_t    n;
} tmi_rename;

static void tmi_rename_init(tmi_job *job, tmi_module *m, tmi_rename *r) {
    r->m = m;
    r->n = m->value.n;
    r->to = TMI_TEMP(job, uint32_t, r->n);
}

static uint32_t tmi_renamed(const tmi_rename *r, uint32_t v) {
    while (v < r->n && r->to[v]) v = r->to[v];
    return v;
}

static void tmi_rename_apply(tmi_rename *r, uint32_t func) {
    tmi_module *m = r->m;
    uint32_t    op, i, k;
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        for (i = 0; i < o->n_in; i++) TMI_ID(m, o->in + i) = tmi_renamed(r, TMI_ID(m, o->in + i));
        for (k = 0; k < o->n_succ; k++) {
            const tmi_succ *s = TMI_SUCC(m, o->succ + k);
            for (i = 0; i < s->n_in; i++) TMI_ID(m, s->in + i) = tmi_renamed(r, TMI_ID(m, s->in + i));
        }
    }
}

/* The name and place of one value for another that stands for it. */
static void tmi_name_after(tmi_module *m, uint32_t value, uint32_t like) {
    tmi_value *v = TMI_VALUE(m, value), *l = TMI_VALUE(m, like);
    v->name = l->name;
    if (v->is_arg || !l->is_arg) return;
    v->loc = l->loc;
}

/* -- Copying ops ----------------------------------------------------------------------------- */

#define TMI_MAX_BLOCKS 256u /* of one region: branches may nest as deep when they become structured */

/* Calls are copied into their callers and blocks behind each branch that reaches them, so a text of 20
 * lines could ask for a million ops. Copies may add 1,000 ops and one for every 8 bytes of text, ten times
 * what Triton's own lines hold; past that the module is refused, and memory stays in proportion to the
 * text (see tmetal_arena_bound). A matrix product becomes as much as 16 other ops do. */
static uint64_t tmi_most_copied(const tmi_job *job, const tmi_module *m) {
    return 1000u + (job->src_len ? (uint64_t)job->src_len : (uint64_t)m->op.n * 64u) / 8u;
}

static int tmi_may_copy(tmi_job *job, const tmi_module *m, uint32_t op, uint64_t more) {
    if (job->copied + more <= job->most_copied) return 1;
    tmi_error(job, tmi_at_of(m, TMI_OP(m, op)), TMETAL_E_CONTROL, "copies of called functions and of blocks would be ten times the text");
    tmi_help(job, NULL, "let Triton inline the function, or call it less often");
    return 0;
}

/* Old value to new; values made outside stand for themselves. */
typedef struct tmi_cloning {
    tmi_job    *job;
    tmi_module *m;
    uint32_t   *to;
    uint32_t    n;     /* of values when it began */
    uint32_t    call;  /* place of the call that is being replaced; 0 none */
} tmi_cloning;

static void tmi_cloning_init(tmi_job *job, tmi_module *m, tmi_cloning *c) {
    memset(c, 0, sizeof *c);
    c->job = job;
    c->m = m;
    c->n = m->value.n;
    c->to = TMI_TEMP(job, uint32_t, c->n);
}

static uint32_t tmi_cloned(const tmi_cloning *c, uint32_t v) { return v < c->n && c->to[v] ? c->to[v] : v; }

static uint32_t tmi_clone_value(tmi_cloning *c, uint32_t v) {
    tmi_module *m = c->m;
    uint32_t    n = tmi_value_new(c->job, m, tmi_value_type(m, v));
    TMI_VALUE(m, n)->name = TMI_VALUE(m, v)->name;
    TMI_VALUE(m, n)->loc = TMI_VALUE(m, v)->loc;
    c->to[v] = n;
    return n;
}

/* An inlined op stands at its own place, called from the call's. */
static uint32_t tmi_clone_loc(tmi_cloning *c, uint32_t loc) {
    uint32_t id;
    tmi_loc *l;
    if (!c->call) return loc;
    id = c->m->loc.n;
    l = (tmi_loc *)tmi_vec_add(c->job, &c->m->loc);
    l->kind = TMI_L_CALL;
    l->child = loc;
    l->other = c->call;
    return id;
}

static uint32_t tmi_clone_op(tmi_cloning *c, uint32_t op);

static void tmi_clone_block_args(tmi_cloning *c, uint32_t from, uint32_t to) {
    uint32_t i, n = TMI_BLOCK(c->m, from)->n_arg, *list = TMI_TEMP(c->job, uint32_t, n);
    for (i = 0; i < n; i++) list[i] = tmi_clone_value(c, tmi_block_arg(c->m, from, i));
    tmi_block_args(c->job, c->m, to, list, n);
}

/* A whole op with its regions, in no block yet. */
static uint32_t tmi_clone_op(tmi_cloning *c, uint32_t op) {
    tmi_module *m = c->m;
    tmi_op      o = *TMI_OP(m, op);
    uint32_t    id = tmi_op_new(c->job, m, o.kind), i, r, b, x, region, block, *list;
    c->job->copied += o.kind == TMI_OP_DOT || o.kind == TMI_OP_DOT_SCALED ? 16 : 1;
    list = TMI_TEMP(c->job, uint32_t, tmi_max32(o.n_in, o.n_out));
    for (i = 0; i < o.n_in; i++) list[i] = tmi_cloned(c, tmi_in(m, &o, i));
    tmi_op_operands(c->job, m, id, list, o.n_in);
    for (i = 0; i < o.n_out; i++) list[i] = tmi_clone_value(c, tmi_out(m, &o, i));
    tmi_op_results(c->job, m, id, list, o.n_out);
    TMI_OP(m, id)->attr = o.attr;
    TMI_OP(m, id)->src = o.src;
    TMI_OP(m, id)->loc = tmi_clone_loc(c, o.loc);
    for (r = o.region; r; r = TMI_REGION(m, r)->next) { /* one block a region: control flow is structured by now */
        region = tmi_region_new(c->job, m, id);
        b = TMI_REGION(m, r)->first_block;
        if (!b) continue;
        block = tmi_block_new(c->job, m, region);
        tmi_clone_block_args(c, b, block);
        for (x = TMI_BLOCK(m, b)->first_op; x; x = TMI_OP(m, x)->next) tmi_op_append(m, block, tmi_clone_op(c, x));
    }
    return id;
}

/* -- Structured control flow: cf branches become scf.if, or one dispatching loop ---------------
 *
 *   cf.cond_br %c, ^a, ^b                %r = scf.if %c -> (T) { a's ops; scf.yield %x }
 *   ^a: ... cf.br ^p(%x)          to                 else      { b's ops; scf.yield %y }
 *   ^b: ... cf.br ^p(%y)                 p's ops, reading %r
 *
 * p is the block that every path from the branch meets first: its immediate post-dominator. A block that
 * both sides reach before p is copied. Where the blocks form a cycle, or copies would grow without bound,
 * a scf.while carries the number of the next block and all values that cross blocks. */

typedef struct tmi_flow {
    tmi_job    *job;
    tmi_module *m;
    tmi_cloning    c;
    uint32_t   *block;          /* in order; [0] is the entry */
    uint32_t   *at;             /* per module block: index in `block` + 1 */
    uint32_t    n;
    uint32_t   *ipdom;          /* per block: index of its immediate post-dominator; n: the exit */
    uint32_t    end;            /* kind of the op that leaves the region */
    const uint32_t *types;      /* of the values that it leaves with */
    uint32_t    n_types;
    uint32_t    copied, budget; /* ops */
} tmi_flow;

static uint32_t tmi_flow_succ(const tmi_flow *f, uint32_t i, uint32_t k) { /* k-th successor's index; n: the exit */
    const tmi_module *m = f->m;
    const tmi_op     *end = TMI_OP(m, TMI_BLOCK(m, f->block[i])->last_op);
    if (!end->n_succ) return k == 0 ? f->n : TMI_NONE;
    return k < end->n_succ ? f->at[TMI_SUCC(m, end->succ + k)->block] - 1 : TMI_NONE;
}

/* Blocks in an order in which each stands before its successors; 0 when there is a cycle. */
static int tmi_flow_order(tmi_flow *f, uint32_t *order) {
    uint32_t *state = TMI_TEMP(f->job, uint32_t, f->n), *stack = TMI_TEMP(f->job, uint32_t, f->n + 1);
    uint32_t  depth = 0, out = f->n, i, s;
    for (i = 0; i < f->n; i++) order[i] = TMI_NONE;
    stack[depth++] = 0;
    state[0] = 1; /* 1 + successors visited; f->n + 9: done */
    while (depth) {
        i = stack[depth - 1];
        s = tmi_flow_succ(f, i, state[i] - 1);
        if (s == TMI_NONE || s == f->n) {
            if (s == f->n) state[i]++;
            if (tmi_flow_succ(f, i, state[i] - 1) != TMI_NONE) continue;
            state[i] = f->n + 9;
            order[--out] = i;
            depth--;
            continue;
        }
        state[i]++;
        if (state[s] == 0) {
            state[s] = 1;
            stack[depth++] = s;
        } else if (state[s] != f->n + 9) {
            return 0; /* an edge back to a block on the stack */
        }
    }
    for (i = 0; out < f->n; i++, out++) order[i] = order[out];
    for (; i < f->n; i++) order[i] = TMI_NONE; /* unreachable */
    return 1;
}

/* Cooper, Harvey and Kennedy's way, on the reversed graph; it has no cycles, so one round suffices. */
static void tmi_flow_post_dominators(tmi_flow *f, const uint32_t *order) {
    uint32_t *rank = TMI_TEMP(f->job, uint32_t, f->n + 1), i, k, s, p;
    f->ipdom = TMI_TEMP(f->job, uint32_t, f->n + 1);
    for (i = 0; i < f->n; i++)
        if (order[i] != TMI_NONE) rank[order[i]] = i;
    rank[f->n] = f->n;
    f->ipdom[f->n] = f->n;
    for (i = f->n; i-- > 0;) {
        if (order[i] == TMI_NONE) continue;
        p = TMI_NONE;
        for (k = 0; (s = tmi_flow_succ(f, order[i], k)) != TMI_NONE; k++) {
            if (p == TMI_NONE) p = s;
            while (p != s) {
                if (rank[p] < rank[s]) p = f->ipdom[p];
                else s = f->ipdom[s];
            }
        }
        f->ipdom[order[i]] = p;
    }
}

/* Values that an edge passes, in the copy's terms. */
static void tmi_flow_passed(const tmi_flow *f, uint32_t end, uint32_t k, uint32_t *out) {
    const tmi_module *m = f->m;
    const tmi_op     *e = TMI_OP(m, end);
    uint32_t i, n = e->n_succ ? TMI_SUCC(m, e->succ + k)->n_in : e->n_in;
    for (i = 0; i < n; i++)
        out[i] = tmi_cloned(&f->c, e->n_succ ? TMI_ID(m, TMI_SUCC(m, e->succ + k)->in + i) : tmi_in(m, e, i));
}

static void tmi_flow_bind(tmi_flow *f, uint32_t i, const uint32_t *values) { /* a block's arguments */
    uint32_t k;
    for (k = 0; k < TMI_BLOCK(f->m, f->block[i])->n_arg; k++) f->c.to[tmi_block_arg(f->m, f->block[i], k)] = values[k];
}

static uint32_t tmi_flow_n_out(const tmi_flow *f, uint32_t i) { /* values that block i, or the exit, is entered with */
    return i == f->n ? f->n_types : TMI_BLOCK(f->m, f->block[i])->n_arg;
}

static void tmi_flow_copy_ops(tmi_flow *f, uint32_t i, uint32_t dest) { /* all but the last */
    uint32_t op;
    for (op = TMI_BLOCK(f->m, f->block[i])->first_op; op && TMI_OP(f->m, op)->next; op = TMI_OP(f->m, op)->next) {
        tmi_op_append(f->m, dest, tmi_clone_op(&f->c, op));
        f->copied++;
    }
}

static void tmi_flow_emit(tmi_flow *f, uint32_t i, uint32_t stop, uint32_t dest, uint32_t *out);

/* One side of a branch: a region that ends by yielding what its way's end is entered with. */
static void tmi_flow_side(tmi_flow *f, uint32_t branch, uint32_t end, uint32_t k, uint32_t stop) {
    tmi_module *m = f->m;
    uint32_t    block = tmi_block_new(f->job, m, tmi_region_new(f->job, m, branch)), n = tmi_flow_n_out(f, stop), op;
    uint32_t    to = f->at[TMI_SUCC(m, TMI_OP(m, end)->succ + k)->block] - 1;
    uint32_t   *passed = TMI_TEMP(f->job, uint32_t, tmi_flow_n_out(f, to)), *out = TMI_TEMP(f->job, uint32_t, n);
    tmi_flow_passed(f, end, k, passed);
    if (to == stop) {
        out = passed;
    } else {
        tmi_flow_bind(f, to, passed);
        tmi_flow_emit(f, to, stop, block, out);
    }
    op = tmi_op_new(f->job, m, TMI_OP_YIELD);
    tmi_op_operands(f->job, m, op, out, n);
    TMI_OP(m, op)->loc = TMI_OP(m, end)->loc;
    TMI_OP(m, op)->src = TMI_OP(m, end)->src;
    tmi_op_append(m, block, op);
}

static uint32_t tmi_flow_branch(tmi_flow *f, uint32_t end, uint32_t stop, uint32_t *out) { /* the scf.if of a cond_br */
    tmi_module *m = f->m;
    uint32_t    op = tmi_op_new(f->job, m, TMI_OP_IF), c = tmi_cloned(&f->c, tmi_in(m, TMI_OP(m, end), 0)), n = tmi_flow_n_out(f, stop), k;
    tmi_op_operands(f->job, m, op, &c, 1);
    TMI_OP(m, op)->loc = TMI_OP(m, end)->loc;
    TMI_OP(m, op)->src = TMI_OP(m, end)->src;
    tmi_flow_side(f, op, end, 0, stop);
    tmi_flow_side(f, op, end, 1, stop);
    for (k = 0; k < n; k++)
        out[k] = tmi_value_new(f->job, m, stop == f->n ? f->types[k] : tmi_value_type(m, tmi_block_arg(m, f->block[stop], k)));
    tmi_op_results(f->job, m, op, out, n);
    return op;
}

/* Copy block i and what follows, up to `stop`; `out` gets the values that stop is entered with. */
static void tmi_flow_emit(tmi_flow *f, uint32_t i, uint32_t stop, uint32_t dest, uint32_t *out) {
    tmi_module *m = f->m;
    for (;;) {
        uint32_t end = TMI_BLOCK(m, f->block[i])->last_op, next, *passed;
        if (f->copied > f->budget) return; /* the caller sees it */
        tmi_flow_copy_ops(f, i, dest);
        next = TMI_OP(m, end)->n_succ < 2 ? tmi_flow_succ(f, i, 0) : f->ipdom[i];
        passed = next == stop ? out : TMI_TEMP(f->job, uint32_t, tmi_flow_n_out(f, next));
        if (TMI_OP(m, end)->n_succ < 2) tmi_flow_passed(f, end, 0, passed);
        else tmi_op_append(m, dest, tmi_flow_branch(f, end, next, passed));
        if (next == stop || next == f->n) return;
        tmi_flow_bind(f, next, passed);
        i = next;
    }
}

/* -- Any graph at all: scf.while over the number of the next block ------------------------------ */

typedef struct tmi_dispatch {
    tmi_flow *f;
    tmi_build b;
    uint32_t *slot;    /* per value: its place among the carried + 1 */
    uint32_t *carried; /* values that cross blocks, in order; [0] stands for the block number */
    uint32_t  n;
    uint32_t *now;     /* what is carried in, where a block is copied */
} tmi_dispatch;

static void tmi_dispatch_carry(tmi_dispatch *d, uint32_t v) {
    if (d->slot[v]) return;
    d->carried[d->n] = v;
    d->slot[v] = ++d->n;
}

static uint32_t tmi_value_home(const tmi_module *m, uint32_t v) { /* the block that defines it */
    return TMI_VALUE(m, v)->is_arg ? TMI_VALUE(m, v)->def : TMI_OP(m, TMI_VALUE(m, v)->def)->block;
}

static void tmi_dispatch_read(tmi_dispatch *d, uint32_t v, uint32_t block) {
    uint32_t home = tmi_value_home(d->f->m, v);
    if (d->f->at[home] > 1 && home != block) tmi_dispatch_carry(d, v); /* what the entry makes reaches everywhere */
}

/* Everything that one block makes and another reads, and the arguments of all blocks. */
static void tmi_dispatch_collect(tmi_dispatch *d, uint32_t owner) {
    tmi_flow   *f = d->f;
    tmi_module *m = f->m;
    uint32_t    i, k, op;
    for (i = 1; i < f->n; i++)
        for (k = 0; k < TMI_BLOCK(m, f->block[i])->n_arg; k++) tmi_dispatch_carry(d, tmi_block_arg(m, f->block[i], k));
    for (op = tmi_walk_next(m, owner, owner); op; op = tmi_walk_next(m, owner, op)) {
        const tmi_op *o = TMI_OP(m, op);
        uint32_t      top = op; /* the op of the graph's own blocks that holds it */
        while (!f->at[TMI_OP(m, top)->block]) top = tmi_parent_op(m, TMI_OP(m, top));
        for (k = 0; k < o->n_in; k++) tmi_dispatch_read(d, tmi_in(m, o, k), TMI_OP(m, top)->block);
        for (i = 0; i < o->n_succ; i++)
            for (k = 0; k < TMI_SUCC(m, o->succ + i)->n_in; k++)
                tmi_dispatch_read(d, TMI_ID(m, TMI_SUCC(m, o->succ + i)->in + k), TMI_OP(m, top)->block);
    }
}

/* What is carried after an edge: the target's number, its arguments, and what the block made. */
static void tmi_dispatch_edge(tmi_dispatch *d, uint32_t end, uint32_t k, uint32_t *out) {
    tmi_flow   *f = d->f;
    tmi_module *m = f->m;
    uint32_t    i, to = f->n, *passed;
    if (TMI_OP(m, end)->n_succ) to = f->at[TMI_SUCC(m, TMI_OP(m, end)->succ + k)->block] - 1;
    passed = TMI_TEMP(f->job, uint32_t, tmi_flow_n_out(f, to));
    tmi_flow_passed(f, end, k, passed);
    for (i = 1; i < d->n - f->n_types; i++) out[i] = tmi_cloned(&f->c, d->carried[i]);
    for (; i < d->n; i++) out[i] = d->now[i];
    out[0] = tmi_b_const(&d->b, m->t_i32, to);
    for (i = 0; to < f->n && i < TMI_BLOCK(m, f->block[to])->n_arg; i++) out[d->slot[tmi_block_arg(m, f->block[to], i)] - 1] = passed[i];
    for (i = 0; to == f->n && i < f->n_types; i++) out[d->n - f->n_types + i] = passed[i];
}

/* The end of a block: both edges, chosen between by the branch's condition. */
static void tmi_dispatch_end(tmi_dispatch *d, uint32_t end, uint32_t *out) {
    uint32_t i, *other, c;
    tmi_dispatch_edge(d, end, 0, out);
    if (TMI_OP(d->f->m, end)->n_succ < 2) return;
    other = TMI_TEMP(d->f->job, uint32_t, d->n);
    tmi_dispatch_edge(d, end, 1, other);
    c = tmi_cloned(&d->f->c, tmi_in(d->f->m, TMI_OP(d->f->m, end), 0));
    for (i = 0; i < d->n; i++)
        if (out[i] != other[i]) out[i] = tmi_b_select(&d->b, c, out[i], other[i]);
}

static void tmi_dispatch_yield(tmi_dispatch *d, uint32_t kind, const uint32_t *v, uint32_t n) {
    (void)tmi_b_op(&d->b, kind, 0, v, n);
}

static uint32_t tmi_dispatch_type(const tmi_dispatch *d, uint32_t i) {
    const tmi_flow *f = d->f;
    if (i == 0) return f->m->t_i32;
    return i >= d->n - f->n_types ? f->types[i - (d->n - f->n_types)] : tmi_value_type(f->m, d->carried[i]);
}

static void tmi_dispatch_args(tmi_dispatch *d, uint32_t block, uint32_t *v) {
    uint32_t i;
    for (i = 0; i < d->n; i++) v[i] = tmi_value_new(d->f->job, d->f->m, tmi_dispatch_type(d, i));
    tmi_block_args(d->f->job, d->f->m, block, v, d->n);
    d->b.block = block;
    d->b.before = 0;
    for (i = 1; i < d->n - d->f->n_types; i++) d->f->c.to[d->carried[i]] = v[i];
}

/* if (next == i) { block i } else { the blocks after it }; `v` is carried in, `out` comes out. */
static void tmi_dispatch_chain(tmi_dispatch *d, uint32_t i, uint32_t *v, uint32_t *out) {
    tmi_flow   *f = d->f;
    tmi_module *m = f->m;
    uint32_t    k, c, op, side, *mine, keep = d->b.block;
    if (i + 1 >= f->n) { /* the last one: nothing else is left */
        tmi_flow_copy_ops(f, i, d->b.block);
        tmi_dispatch_end(d, TMI_BLOCK(m, f->block[i])->last_op, out);
        return;
    }
    c = tmi_b_cmpi(&d->b, 0, v[0], tmi_b_const(&d->b, m->t_i32, i));
    op = tmi_op_new(f->job, m, TMI_OP_IF);
    tmi_op_operands(f->job, m, op, &c, 1);
    mine = TMI_TEMP(f->job, uint32_t, d->n);
    for (side = 0; side < 2; side++) {
        d->b.block = tmi_block_new(f->job, m, tmi_region_new(f->job, m, op));
        for (k = 1; k < d->n - f->n_types; k++) f->c.to[d->carried[k]] = v[k];
        if (side) {
            tmi_dispatch_chain(d, i + 1, v, mine);
        } else {
            tmi_flow_copy_ops(f, i, d->b.block);
            tmi_dispatch_end(d, TMI_BLOCK(m, f->block[i])->last_op, mine);
        }
        tmi_dispatch_yield(d, TMI_OP_YIELD, mine, d->n);
    }
    for (k = 0; k < d->n; k++) out[k] = tmi_value_new(f->job, m, tmi_dispatch_type(d, k));
    tmi_op_results(f->job, m, op, out, d->n);
    d->b.block = keep;
    tmi_b_insert(&d->b, op);
}

static void tmi_flow_dispatch(tmi_flow *f, uint32_t owner, uint32_t dest, uint32_t *out) {
    tmi_module  *m = f->m;
    tmi_dispatch d;
    uint32_t     i, loop, *init, *v, *next, cond, before, after;
    memset(&d, 0, sizeof d);
    d.f = f;
    d.slot = TMI_TEMP(f->job, uint32_t, m->value.n);
    d.carried = TMI_TEMP(f->job, uint32_t, m->value.n + f->n_types + 1);
    d.n = 1;
    tmi_dispatch_collect(&d, owner);
    d.n += f->n_types;
    f->job->copied += 4u * (uint64_t)f->n * d.n; /* each block passes all on, through branches */
    if (!tmi_may_copy(f->job, m, owner, 0)) return;
    init = TMI_TEMP(f->job, uint32_t, d.n);
    v = TMI_TEMP(f->job, uint32_t, d.n);
    next = TMI_TEMP(f->job, uint32_t, d.n);
    d.b.job = f->job;
    d.b.m = m;
    d.b.block = dest;
    d.b.before = 0;
    d.b.loc = TMI_OP(m, owner)->loc;
    d.b.src = TMI_OP(m, owner)->src;
    tmi_flow_copy_ops(f, 0, dest);
    for (i = 1; i < d.n; i++) init[i] = tmi_b_op(&d.b, TMI_OP_POISON, tmi_dispatch_type(&d, i), NULL, 0);
    for (i = 1; i < d.n - f->n_types; i++) f->c.to[d.carried[i]] = init[i];
    d.now = init;
    tmi_dispatch_end(&d, TMI_BLOCK(m, f->block[0])->last_op, v);
    init = v;
    v = TMI_TEMP(f->job, uint32_t, d.n);
    loop = tmi_op_new(f->job, m, TMI_OP_WHILE);
    tmi_op_operands(f->job, m, loop, init, d.n);
    before = tmi_block_new(f->job, m, tmi_region_new(f->job, m, loop));
    after = tmi_block_new(f->job, m, tmi_region_new(f->job, m, loop));
    tmi_dispatch_args(&d, before, v);
    cond = tmi_b_cmpi(&d.b, 1, v[0], tmi_b_const(&d.b, m->t_i32, f->n));
    {
        uint32_t *list = TMI_TEMP(f->job, uint32_t, d.n + 1);
        list[0] = cond;
        memcpy(list + 1, v, d.n * sizeof *v);
        tmi_dispatch_yield(&d, TMI_OP_CONDITION, list, d.n + 1);
    }
    tmi_dispatch_args(&d, after, v);
    d.now = v;
    tmi_dispatch_chain(&d, 1, v, next);
    tmi_dispatch_yield(&d, TMI_OP_YIELD, next, d.n);
    for (i = 0; i < d.n; i++) v[i] = tmi_value_new(f->job, m, tmi_dispatch_type(&d, i));
    tmi_op_results(f->job, m, loop, v, d.n);
    d.b.block = dest;
    tmi_b_insert(&d.b, loop);
    for (i = 0; i < f->n_types; i++) out[i] = v[d.n - f->n_types + i];
}

/* -- One region ------------------------------------------------------------------------------------ */

static void tmi_flow_blocks(tmi_flow *f, uint32_t region) {
    uint32_t b;
    for (b = TMI_REGION(f->m, region)->first_block; b; b = TMI_BLOCK(f->m, b)->next) f->n++;
    f->block = TMI_TEMP(f->job, uint32_t, f->n);
    f->at = TMI_TEMP(f->job, uint32_t, f->m->block.n);
    f->n = 0;
    for (b = TMI_REGION(f->m, region)->first_block; b; b = TMI_BLOCK(f->m, b)->next) {
        f->block[f->n++] = b;
        f->at[b] = f->n;
    }
}

/* Requires: nothing. Leaves: one block in the region, ended by `end` with values of `types`. */
static void tmi_structure_region(tmi_job *job, tmi_module *m, uint32_t owner, uint32_t region, uint32_t end, const uint32_t *types, uint32_t n_types) {
    tmi_flow  f;
    uint32_t *order, *out, body, op, i, entry = TMI_REGION(m, region)->first_block;
    tmi_mark  mark = tmi_mark_take(job);
    memset(&f, 0, sizeof f);
    f.job = job;
    f.m = m;
    f.end = end;
    f.types = types;
    f.n_types = n_types;
    tmi_flow_blocks(&f, region);
    if (f.n > TMI_MAX_BLOCKS) {
        tmi_error(job, tmi_at_of(m, TMI_OP(m, owner)), TMETAL_E_CONTROL, "more than 256 blocks in one region");
        return;
    }
    tmi_cloning_init(job, m, &f.c);
    order = TMI_TEMP(job, uint32_t, f.n);
    out = TMI_TEMP(job, uint32_t, n_types);
    for (op = tmi_walk_next(m, owner, owner); op; op = tmi_walk_next(m, owner, op)) f.budget += 8;
    f.budget += 1000;
    body = tmi_block_new(job, m, region);
    {   /* the entry's arguments stay the same values */
        uint32_t n = TMI_BLOCK(m, entry)->n_arg, *args = TMI_TEMP(job, uint32_t, n);
        for (i = 0; i < n; i++) args[i] = tmi_block_arg(m, entry, i);
        tmi_block_args(job, m, body, args, n);
    }
    if (tmi_flow_order(&f, order)) {
        tmi_flow_post_dominators(&f, order);
        tmi_flow_emit(&f, 0, f.n, body, out);
    } else {
        f.copied = f.budget + 1;
    }
    if (f.copied > f.budget) {
        TMI_BLOCK(m, body)->first_op = TMI_BLOCK(m, body)->last_op = 0;
        f.copied = 0;
        f.budget = TMI_NONE - 1;
        memset(f.c.to, 0, f.c.n * sizeof *f.c.to);
        tmi_flow_dispatch(&f, owner, body, out);
        tmi_remark(job, tmi_at_of(m, TMI_OP(m, owner)), TMETAL_APPLIED, "control", "%u blocks with a cycle, or too many copies, became one loop that carries the number of the next block", f.n);
    } else {
        tmi_remark(job, tmi_at_of(m, TMI_OP(m, owner)), TMETAL_APPLIED, "control", "%u blocks became nested branches: early returns are flattened", f.n);
    }
    op = tmi_op_new(job, m, end);
    tmi_op_operands(job, m, op, out, n_types);
    TMI_OP(m, op)->loc = TMI_OP(m, TMI_BLOCK(m, entry)->last_op)->loc;
    TMI_OP(m, op)->src = TMI_OP(m, TMI_BLOCK(m, entry)->last_op)->src;
    tmi_op_append(m, body, op);
    TMI_REGION(m, region)->first_block = TMI_REGION(m, region)->last_block = body;
    TMI_BLOCK(m, body)->prev = 0;
    tmi_mark_drop(job, mark);
}

/* scf.execute_region of one block: its ops move before it. */
static void tmi_unwrap(tmi_module *m, uint32_t op, tmi_rename *names) {
    uint32_t block = tmi_op_body(m, TMI_OP(m, op), 0), x, next, i;
    for (x = TMI_BLOCK(m, block)->first_op; x; x = next) {
        next = TMI_OP(m, x)->next;
        if (!next) break;
        tmi_op_unlink(m, x);
        tmi_op_insert_before(m, op, x);
    }
    for (i = 0; i < TMI_OP(m, op)->n_out; i++) names->to[tmi_out(m, TMI_OP(m, op), i)] = tmi_in(m, TMI_OP(m, x), i);
    tmi_op_unlink(m, op);
}

static void tmi_structure_execute(tmi_job *job, tmi_module *m, uint32_t func) {
    uint32_t op, i, n, *types, *list, count = 0;
    tmi_rename names;
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op)) count += TMI_OP(m, op)->kind == TMI_OP_EXECUTE;
    if (!count) return;
    list = TMI_TEMP(job, uint32_t, count);
    for (count = 0, op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op))
        if (TMI_OP(m, op)->kind == TMI_OP_EXECUTE) list[count++] = op;
    while (count-- > 0) { /* inner ones first */
        tmi_mark mark = tmi_mark_take(job);
        op = list[count];
        n = TMI_OP(m, op)->n_out;
        types = TMI_TEMP(job, uint32_t, n);
        for (i = 0; i < n; i++) types[i] = tmi_out_type(m, TMI_OP(m, op), i);
        if (TMI_BLOCK(m, tmi_op_body(m, TMI_OP(m, op), 0))->next)
            tmi_structure_region(job, m, op, TMI_OP(m, op)->region, TMI_OP_YIELD, types, n);
        if (job->n_errors || !tmi_may_copy(job, m, op, 0)) return;
        tmi_rename_init(job, m, &names);
        tmi_unwrap(m, op, &names);
        tmi_rename_apply(&names, func);
        tmi_mark_drop(job, mark);
    }
}

static void tmi_structure(tmi_job *job, tmi_module *m, uint32_t func) {
    tmi_mark mark = tmi_mark_take(job);
    uint32_t body = tmi_op_body(m, TMI_OP(m, func), 0), i, n, *types, b;
    const tmi_op *end = NULL;
    tmi_structure_execute(job, m, func);
    if (!job->n_errors && TMI_BLOCK(m, body)->next) {
        for (b = body; b && (!end || end->kind != TMI_OP_RETURN); b = TMI_BLOCK(m, b)->next) end = TMI_OP(m, TMI_BLOCK(m, b)->last_op);
        n = end->kind == TMI_OP_RETURN ? end->n_in : 0;
        types = TMI_TEMP(job, uint32_t, n);
        for (i = 0; i < n; i++) types[i] = tmi_in_type(m, end, i);
        tmi_structure_region(job, m, func, TMI_OP(m, func)->region, TMI_OP_RETURN, types, n);
    }
    tmi_mark_drop(job, mark);
}

/* -- Calls: the callee's ops take the place of the call --------------------------------------------- */

static uint32_t tmi_find_func(const tmi_module *m, const char *name) {
    uint32_t op;
    for (op = TMI_BLOCK(m, tmi_op_body(m, TMI_OP(m, m->top), 0))->first_op; op; op = TMI_OP(m, op)->next)
        if (TMI_OP(m, op)->kind == TMI_OP_FUNC && strcmp(tmi_attr_str(m, TMI_OP(m, op), "sym_name"), name) == 0) return op;
    return 0;
}

static void tmi_inline_call(tmi_job *job, tmi_module *m, uint32_t call, uint32_t callee, tmi_rename *names) {
    uint32_t body = tmi_op_body(m, TMI_OP(m, callee), 0), i, op, end = TMI_BLOCK(m, body)->last_op;
    tmi_cloning c;
    tmi_mark mark = tmi_mark_take(job);
    tmi_cloning_init(job, m, &c);
    c.call = TMI_OP(m, call)->loc;
    for (i = 0; i < TMI_OP(m, call)->n_in; i++) c.to[tmi_block_arg(m, body, i)] = tmi_in(m, TMI_OP(m, call), i);
    for (op = TMI_BLOCK(m, body)->first_op; op != end; op = TMI_OP(m, op)->next) tmi_op_insert_before(m, call, tmi_clone_op(&c, op));
    for (i = 0; i < TMI_OP(m, call)->n_out; i++) names->to[tmi_out(m, TMI_OP(m, call), i)] = tmi_cloned(&c, tmi_in(m, TMI_OP(m, end), i));
    tmi_op_unlink(m, call);
    tmi_mark_drop(job, mark);
}

/* Functions are made ready callee first; `state` per op: 1 on the way, 2 ready. */
static int tmi_ready_func(tmi_job *job, tmi_module *m, uint32_t func, uint8_t *state) {
    uint32_t   op, next, callee;
    tmi_rename names;
    tmi_mark   mark;
    int        any = 0;
    state[func] = 1;
    tmi_structure(job, m, func);
    if (job->n_errors || !tmi_may_copy(job, m, func, 0)) return 0;
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op)) {
        if (TMI_OP(m, op)->kind != TMI_OP_CALL) continue;
        callee = tmi_find_func(m, tmi_attr_str(m, TMI_OP(m, op), "callee"));
        any = 1;
        if (!callee || !tmi_op_body(m, TMI_OP(m, callee), 0)) {
            tmi_error(job, tmi_at_of(m, TMI_OP(m, op)), TMETAL_E_CALLEE, tmi_attr_str(m, TMI_OP(m, op), "callee"), "its body is not in this module");
            return 0;
        }
        if (state[callee] == 1) {
            tmi_error(job, tmi_at_of(m, TMI_OP(m, op)), TMETAL_E_RECURSION, tmi_attr_str(m, TMI_OP(m, callee), "sym_name"));
            return 0;
        }
        if (!state[callee] && !tmi_ready_func(job, m, callee, state)) return 0;
    }
    if (any) {
        mark = tmi_mark_take(job);
        tmi_rename_init(job, m, &names);
        for (op = tmi_walk_next(m, func, func); op; op = next) {
            next = tmi_walk_next(m, func, op);
            if (TMI_OP(m, op)->kind != TMI_OP_CALL) continue;
            if (!tmi_may_copy(job, m, op, 0)) return 0;
            callee = tmi_find_func(m, tmi_attr_str(m, TMI_OP(m, op), "callee"));
            tmi_remark(job, tmi_at_of(m, TMI_OP(m, op)), TMETAL_APPLIED, "calls", "the body of @%s takes the place of the call", tmi_attr_str(m, TMI_OP(m, callee), "sym_name"));
            tmi_inline_call(job, m, op, callee, &names);
        }
        tmi_rename_apply(&names, func);
        tmi_mark_drop(job, mark);
    }
    state[func] = 2;
    return 1;
}

/* -- Tile references: descriptors and block pointers become pointers and masks -----------------
 *
 *   %d = tt.make_tensor_descriptor %p, [%h, %w], [%s, %c1]
 *   %t = tt.descriptor_load %d[%i, %j]
 * to
 *   %base = tt.addptr %p, %i * %s + %j                      scalars, 64 bits
 *   %q    = tt.addptr splat(%base), rows * %s + columns     a tile of pointers
 *   %in   = rows >= -%i && rows < %h - %i && ...            bounds clamped to the tile: 32 bits
 *   %t    = tt.load %q, %in, 0
 *
 * A reference is a list of scalars: base, sizes, strides, then offsets (block pointers) or whether padding
 * is NaN (descriptors). Where it is carried by a loop or comes out of a branch, the list is. */

typedef struct tmi_refs {
    tmi_job    *job;
    tmi_module *m;
    uint32_t   *at;   /* per value: first of its parts + 1; 0: not a reference, or not met yet */
    tmi_vec     part; /* uint32_t: values */
    tmi_rename  names;
    uint32_t    n;    /* values when it began */
} tmi_refs;

static int tmi_is_block_ptr(const tmi_module *m, uint32_t type) {
    return TMI_TYPE(m, type)->kind == TMI_T_PTR && tmi_is_tensor(m, TMI_TYPE(m, type)->elem);
}

static int tmi_is_ref(const tmi_module *m, uint32_t type) {
    return TMI_TYPE(m, type)->kind == TMI_T_DESC || tmi_is_block_ptr(m, type);
}

static uint32_t tmi_ref_rank(const tmi_module *m, uint32_t type) { return tmi_rank(m, TMI_TYPE(m, type)->elem); }

static uint32_t tmi_ref_count(const tmi_module *m, uint32_t type) { /* parts */
    uint32_t r = tmi_ref_rank(m, type);
    return TMI_TYPE(m, type)->kind == TMI_T_DESC ? 2 * r + 2 : 3 * r + 1;
}

/* Element type in memory: `si8` and `ui8` blocks hold plain bytes. */
static uint32_t tmi_ref_elem(tmi_job *job, tmi_module *m, uint32_t type) {
    const tmi_type *e = TMI_TYPE(m, tmi_elem(m, TMI_TYPE(m, type)->elem));
    return e->kind == TMI_T_INT ? tmi_type_int(job, m, e->bits, 0) : tmi_elem(m, TMI_TYPE(m, type)->elem);
}

static uint32_t tmi_ref_part_type(tmi_refs *x, uint32_t type, uint32_t i) {
    if (i == 0) return tmi_type_ptr(x->job, x->m, tmi_ref_elem(x->job, x->m, type), 1);
    return TMI_TYPE(x->m, type)->kind == TMI_T_DESC && i == tmi_ref_count(x->m, type) - 1 ? x->m->t_i1 : x->m->t_i64;
}

static uint32_t tmi_ref_part(const tmi_refs *x, uint32_t value, uint32_t i) {
    return *TMI_AT(&x->part, uint32_t, x->at[value] - 1 + i);
}

static void tmi_ref_set(tmi_refs *x, uint32_t value, const uint32_t *parts, uint32_t n) {
    uint32_t i;
    x->at[value] = x->part.n + 1;
    for (i = 0; i < n; i++) *(uint32_t *)tmi_vec_add(x->job, &x->part) = parts[i];
}

/* A list of values with each reference replaced by its parts. */
static uint32_t tmi_ref_spread(tmi_refs *x, const uint32_t *in, uint32_t n, uint32_t **out) {
    uint32_t i, k, count = 0;
    for (i = 0; i < n; i++) count += tmi_is_ref(x->m, tmi_value_type(x->m, in[i])) ? tmi_ref_count(x->m, tmi_value_type(x->m, in[i])) : 1;
    *out = TMI_TEMP(x->job, uint32_t, count);
    for (i = 0, count = 0; i < n; i++) {
        if (!tmi_is_ref(x->m, tmi_value_type(x->m, in[i]))) (*out)[count++] = in[i];
        else
            for (k = 0; k < tmi_ref_count(x->m, tmi_value_type(x->m, in[i])); k++) (*out)[count++] = tmi_ref_part(x, in[i], k);
    }
    return count;
}

static void tmi_ref_new_parts(tmi_refs *x, uint32_t value) { /* for an argument or a result */
    uint32_t type = tmi_value_type(x->m, value), n = tmi_ref_count(x->m, type), i, *p = TMI_TEMP(x->job, uint32_t, n);
    for (i = 0; i < n; i++) {
        p[i] = tmi_value_new(x->job, x->m, tmi_ref_part_type(x, type, i));
        TMI_VALUE(x->m, p[i])->name = TMI_VALUE(x->m, value)->name;
        TMI_VALUE(x->m, p[i])->loc = TMI_VALUE(x->m, value)->loc;
    }
    tmi_ref_set(x, value, p, n);
}

static uint32_t *tmi_ref_list(tmi_refs *x, uint32_t first, uint32_t n, int fresh, int *any) {
    uint32_t *list = TMI_TEMP(x->job, uint32_t, n), i;
    for (i = 0; i < n; i++) {
        list[i] = TMI_ID(x->m, first + i);
        if (!tmi_is_ref(x->m, tmi_value_type(x->m, list[i]))) continue;
        *any = 1;
        if (fresh) tmi_ref_new_parts(x, list[i]);
    }
    return list;
}

/* Loops, branches and their ends: lists instead of references, in operands, results and arguments. */
static void tmi_ref_control(tmi_refs *x, uint32_t op) {
    tmi_module *m = x->m;
    tmi_op      o = *TMI_OP(m, op);
    uint32_t   *list, *out, n, r;
    int         any = 0;
    list = tmi_ref_list(x, o.in, o.n_in, 0, &any);
    if (any) {
        n = tmi_ref_spread(x, list, o.n_in, &out);
        tmi_op_operands(x->job, m, op, out, n);
    }
    any = 0;
    list = tmi_ref_list(x, o.out, o.n_out, 1, &any);
    if (any) {
        n = tmi_ref_spread(x, list, o.n_out, &out);
        tmi_op_results(x->job, m, op, out, n);
    }
    for (r = o.region; r; r = TMI_REGION(m, r)->next) {
        uint32_t b = TMI_REGION(m, r)->first_block;
        any = 0;
        list = b ? tmi_ref_list(x, TMI_BLOCK(m, b)->arg, TMI_BLOCK(m, b)->n_arg, 1, &any) : NULL;
        if (!any) continue;
        n = tmi_ref_spread(x, list, TMI_BLOCK(m, b)->n_arg, &out);
        tmi_block_args(x->job, m, b, out, n);
    }
}

/* -- Making references ------------------------------------------------------------------ */

static void tmi_ref_make_desc(tmi_refs *x, tmi_build *b, const tmi_op *op) {
    uint32_t v = tmi_out(x->m, op, 0), type = tmi_value_type(x->m, v), rank = tmi_ref_rank(x->m, type), i, p[2 * TMI_MAX_RANK + 2];
    for (i = 0; i < 2 * rank + 1; i++) p[i] = i ? tmi_b_to_int(b, tmi_in(x->m, op, i), 64, 1) : tmi_in(x->m, op, 0);
    p[2 * rank + 1] = tmi_b_const(b, x->m->t_i1, tmi_attr_int(x->m, op, "padding", 1) == 2);
    tmi_ref_set(x, v, p, 2 * rank + 2);
}

static void tmi_ref_make_ptr(tmi_refs *x, tmi_build *b, const tmi_op *op) {
    uint32_t v = tmi_out(x->m, op, 0), rank = tmi_ref_rank(x->m, tmi_value_type(x->m, v)), i, p[3 * TMI_MAX_RANK + 1];
    for (i = 0; i < 3 * rank + 1; i++) p[i] = i ? tmi_b_to_int(b, tmi_in(x->m, op, i), 64, 1) : tmi_in(x->m, op, 0);
    tmi_ref_set(x, v, p, 3 * rank + 1);
}

static void tmi_ref_advance(tmi_refs *x, tmi_build *b, const tmi_op *op) {
    uint32_t v = tmi_out(x->m, op, 0), rank = tmi_ref_rank(x->m, tmi_value_type(x->m, v)), i, p[3 * TMI_MAX_RANK + 1];
    for (i = 0; i < 3 * rank + 1; i++) p[i] = tmi_ref_part(x, tmi_in(x->m, op, 0), i);
    for (i = 0; i < rank; i++) p[2 * rank + 1 + i] = tmi_b_2(b, TMI_OP_ADDI, p[2 * rank + 1 + i], tmi_b_to_int(b, tmi_in(x->m, op, 1 + i), 64, 1));
    tmi_ref_set(x, v, p, 3 * rank + 1);
}

static void tmi_ref_select(tmi_refs *x, tmi_build *b, const tmi_op *op) {
    uint32_t v = tmi_out(x->m, op, 0), n = tmi_ref_count(x->m, tmi_value_type(x->m, v)), i, p[3 * TMI_MAX_RANK + 2], a, c;
    for (i = 0; i < n; i++) {
        a = tmi_ref_part(x, tmi_in(x->m, op, 1), i);
        c = tmi_ref_part(x, tmi_in(x->m, op, 2), i);
        p[i] = a == c ? a : tmi_b_select(b, tmi_in(x->m, op, 0), a, c);
    }
    tmi_ref_set(x, v, p, n);
}

static void tmi_ref_poison(tmi_refs *x, tmi_build *b, const tmi_op *op) {
    uint32_t v = tmi_out(x->m, op, 0), type = tmi_value_type(x->m, v), n = tmi_ref_count(x->m, type), i, p[3 * TMI_MAX_RANK + 2];
    for (i = 0; i < n; i++) p[i] = tmi_b_op(b, TMI_OP_POISON, tmi_ref_part_type(x, type, i), NULL, 0);
    tmi_ref_set(x, v, p, n);
}

/* -- Using references ---------------------------------------------------------------------- */

/* A tile of memory: where it starts, how it steps, which sides are guarded. */
typedef struct tmi_tile {
    uint32_t rank, shape;                 /* shape: any tensor type of it */
    uint32_t base, elem;
    uint32_t size[TMI_MAX_RANK], stride[TMI_MAX_RANK], offset[TMI_MAX_RANK]; /* i64 */
    uint32_t rows;                        /* gather: i32 tensor of indices along axis 0; 0 none */
    uint32_t guarded;                     /* axes, as bits */
} tmi_tile;

static uint32_t tmi_clamp_to_tile(tmi_build *b, uint32_t v, uint32_t n) { /* i64 to i32 in 0..n */
    v = tmi_b_2(b, TMI_OP_MAXSI, v, tmi_b_const(b, b->m->t_i64, 0));
    return tmi_b_to_int(b, tmi_b_2(b, TMI_OP_MINSI, v, tmi_b_const(b, b->m->t_i64, n)), 32, 1);
}

static uint32_t tmi_and_masks(tmi_build *b, uint32_t a, uint32_t c) { return a && c ? tmi_b_2(b, TMI_OP_ANDI, a, c) : a ? a : c; }

/* Inside along one axis: low <= i && i < high, with both bounds cut to the tile. 0: nothing to test. */
static uint32_t tmi_tile_inside(tmi_build *b, const tmi_tile *t, uint32_t d, uint32_t index) {
    uint32_t n = tmi_dim(b->m, t->shape, d), low, high, type = tmi_value_type(b->m, index);
    int64_t  off;
    high = tmi_clamp_to_tile(b, tmi_b_2(b, TMI_OP_SUBI, t->size[d], t->offset[d]), n);
    high = tmi_b_cmpi(b, 2, index, tmi_b_splat(b, high, type));
    if (tmi_const_int(b->m, t->offset[d], &off) && off >= 0) return high;
    low = tmi_clamp_to_tile(b, tmi_b_2(b, TMI_OP_SUBI, tmi_b_const(b, b->m->t_i64, 0), t->offset[d]), n);
    return tmi_and_masks(b, tmi_b_cmpi(b, 5, index, tmi_b_splat(b, low, type)), high);
}

/* Rows that are looked up: 0 <= row && row < size, per row. */
static uint32_t tmi_tile_row_inside(tmi_build *b, const tmi_tile *t, uint32_t rows) {
    uint32_t zero = tmi_b_const(b, tmi_value_type(b->m, rows), 0), size = tmi_b_splat(b, t->size[0], tmi_value_type(b->m, rows));
    return tmi_and_masks(b, tmi_b_cmpi(b, 5, rows, zero), tmi_b_cmpi(b, 2, rows, size));
}

/* Pointers of a whole tile, and the mask of its elements that exist (0: all do). */
static uint32_t tmi_tile_pointers(tmi_build *b, const tmi_tile *t, uint32_t *mask) {
    tmi_module *m = b->m;
    uint32_t    p = t->base, d, index, rows = 0, in[2], off, inside;
    int64_t     stride;
    *mask = 0;
    if (t->rows) rows = tmi_b_to_int(b, t->rows, 64, 1);
    for (d = 0; d < t->rank; d++) {
        if (d == 0 && rows) continue;
        off = tmi_const_int(m, t->stride[d], &stride) && stride == 1 ? t->offset[d] : tmi_b_2(b, TMI_OP_MULI, t->offset[d], t->stride[d]);
        in[0] = p;
        in[1] = off;
        if (!(tmi_const_int(m, t->offset[d], &stride) && stride == 0)) p = tmi_b_op(b, TMI_OP_ADDPTR, tmi_value_type(m, p), in, 2);
    }
    p = tmi_b_splat(b, p, t->shape);
    for (d = 0; d < t->rank; d++) {
        int one = tmi_const_int(m, t->stride[d], &stride) && stride == 1;
        if (d == 0 && rows) {
            index = tmi_b_2(b, TMI_OP_MULI, rows, tmi_b_splat(b, t->stride[0], tmi_value_type(m, rows)));
            inside = t->guarded & 1 ? tmi_tile_row_inside(b, t, rows) : 0;
        } else {
            index = tmi_b_range(b, tmi_dim(m, t->shape, d));
            inside = t->guarded >> d & 1 ? tmi_tile_inside(b, t, d, index) : 0;
            if (!one) {
                index = tmi_b_to_int(b, index, 64, 1);
                index = tmi_b_2(b, TMI_OP_MULI, index, tmi_b_splat(b, t->stride[d], tmi_value_type(m, index)));
            }
        }
        if (inside) *mask = tmi_and_masks(b, *mask, tmi_b_along(b, inside, t->shape, d));
        if (tmi_dim(m, t->shape, d) == 1 && !(d == 0 && rows)) continue; /* the one index is 0 */
        in[0] = p;
        in[1] = tmi_b_along(b, index, t->shape, d);
        p = tmi_b_op(b, TMI_OP_ADDPTR, tmi_value_type(m, p), in, 2);
    }
    return p;
}

static uint64_t tmi_nan_bits(const tmi_module *m, uint32_t elem) {
    const tmi_float_format *f = &tmi_float_formats[TMI_TYPE(m, elem)->format];
    if (TMI_TYPE(m, elem)->kind != TMI_T_FLOAT) return 0;
    if (f->special == 2) return (uint64_t)1 << (f->bits - 1);
    return (((uint64_t)1 << (f->exp_bits + f->man_bits)) - 1) ^ (f->special ? 0 : ((uint64_t)1 << (f->man_bits - 1)) - 1);
}

static void tmi_tile_of(tmi_refs *x, uint32_t ref, tmi_tile *t) {
    tmi_module *m = x->m;
    uint32_t    type = tmi_value_type(m, ref), i;
    memset(t, 0, sizeof *t);
    t->rank = tmi_ref_rank(m, type);
    t->elem = tmi_ref_elem(x->job, m, type);
    t->shape = TMI_TYPE(m, type)->elem;
    t->base = tmi_ref_part(x, ref, 0);
    for (i = 0; i < t->rank; i++) {
        t->size[i] = tmi_ref_part(x, ref, 1 + i);
        t->stride[i] = tmi_ref_part(x, ref, 1 + t->rank + i);
        if (TMI_TYPE(m, type)->kind != TMI_T_DESC) t->offset[i] = tmi_ref_part(x, ref, 1 + 2 * t->rank + i);
        else t->guarded |= 1u << i;
    }
}

/* Which value stands in for elements outside: zero, NaN, or whichever the descriptor says. */
static uint32_t tmi_tile_padding(tmi_build *b, uint32_t elem, uint32_t shape, uint32_t nan_flag, int nan) {
    uint32_t type = tmi_type_like(b->job, b->m, shape, elem), zero, c;
    int64_t  known;
    if (nan_flag && tmi_const_int(b->m, nan_flag, &known)) nan = known != 0, nan_flag = 0;
    if (TMI_TYPE(b->m, elem)->kind != TMI_T_FLOAT) nan = 0, nan_flag = 0;
    zero = tmi_b_const(b, type, nan ? tmi_nan_bits(b->m, elem) : 0);
    if (!nan_flag) return zero;
    c = tmi_b_select(b, nan_flag, tmi_b_const(b, elem, tmi_nan_bits(b->m, elem)), tmi_b_const(b, elem, 0));
    return tmi_b_splat(b, c, shape);
}

static void tmi_copy_attr(tmi_module *m, tmi_job *job, uint32_t to, const tmi_op *from, const char *name) {
    uint32_t i;
    for (i = from->attr; i; i = TMI_NAMED(m, i)->next)
        if (strcmp(TMI_STR(m, TMI_NAMED(m, i)->name), name) == 0) tmi_op_set_attr(job, m, to, name, TMI_NAMED(m, i)->attr);
}

/* The load itself, its result in the shape that the op gives. */
static void tmi_tile_load(tmi_refs *x, tmi_build *b, const tmi_op *op, const tmi_tile *t, uint32_t padding) {
    tmi_module *m = x->m;
    uint32_t    in[3], mask, v, out = tmi_out(m, op, 0), n = 1, type;
    in[0] = tmi_tile_pointers(b, t, &mask);
    if (mask) {
        in[n++] = mask;
        if (padding) in[n++] = padding;
    }
    type = tmi_type_like(x->job, m, t->shape, t->elem);
    v = tmi_b_op(b, TMI_OP_LOAD, type, in, n);
    tmi_copy_attr(m, x->job, TMI_VALUE(m, v)->def, op, "cache");
    tmi_copy_attr(m, x->job, TMI_VALUE(m, v)->def, op, "evict");
    tmi_copy_attr(m, x->job, TMI_VALUE(m, v)->def, op, "isVolatile");
    if (type != tmi_value_type(m, out)) v = tmi_b_1(b, TMI_OP_RESHAPE, tmi_value_type(m, out), v);
    TMI_VALUE(m, v)->name = TMI_VALUE(m, out)->name;
    x->names.to[out] = v;
}

static uint32_t tmi_tile_value(tmi_refs *x, tmi_build *b, uint32_t v, const tmi_tile *t) { /* in the tile's own shape */
    uint32_t type = tmi_type_like(x->job, x->m, t->shape, tmi_elem(x->m, tmi_value_type(x->m, v)));
    return type == tmi_value_type(x->m, v) ? v : tmi_b_1(b, TMI_OP_RESHAPE, type, v);
}

static void tmi_tile_store(tmi_refs *x, tmi_build *b, uint32_t value, const tmi_tile *t) {
    uint32_t in[3], mask;
    in[1] = tmi_tile_value(x, b, value, t);
    in[0] = tmi_tile_pointers(b, t, &mask);
    in[2] = mask;
    (void)tmi_b_op(b, TMI_OP_STORE, 0, in, mask ? 3 : 2);
}

/* Kinds of atomic read-modify-write (sheet 2.1), and two of ours for floats. */
enum { TMI_RMW_AND = 1, TMI_RMW_OR, TMI_RMW_XOR, TMI_RMW_ADD, TMI_RMW_FADD, TMI_RMW_MAX, TMI_RMW_MIN, TMI_RMW_UMAX, TMI_RMW_UMIN, TMI_RMW_EXCH,
       TMI_RMW_FMAX, TMI_RMW_FMIN };

/* descriptor_reduce's kind for an element type: what it means there. 0: there is no such thing. */
static int tmi_reduce_kind(const tmi_module *m, int64_t kind, uint32_t elem) {
    const tmi_type *e = TMI_TYPE(m, elem);
    int is_float = e->kind == TMI_T_FLOAT, uns = e->sign == 2;
    switch (kind) {
    case 1: return is_float ? TMI_RMW_FADD : TMI_RMW_ADD;
    case 2: return is_float ? TMI_RMW_FMIN : uns ? TMI_RMW_UMIN : TMI_RMW_MIN;
    case 3: return is_float ? TMI_RMW_FMAX : uns ? TMI_RMW_UMAX : TMI_RMW_MAX;
    case 6: return TMI_RMW_AND;
    case 7: return TMI_RMW_OR;
    case 8: return TMI_RMW_XOR;
    default: return 0;
    }
}

static void tmi_tile_reduce(tmi_refs *x, tmi_build *b, const tmi_op *op, const tmi_tile *t) {
    tmi_module *m = x->m;
    uint32_t    in[3], mask, v, type;
    in[1] = tmi_tile_value(x, b, tmi_in(m, op, 1), t);
    in[0] = tmi_tile_pointers(b, t, &mask);
    in[2] = mask;
    type = tmi_type_like(x->job, m, t->shape, t->elem);
    v = tmi_b_op(b, TMI_OP_RMW, type, in, mask ? 3 : 2);
    tmi_b_attr(b, v, "atomic_rmw_op", tmi_reduce_kind(m, tmi_attr_int(m, op, "kind", 0), tmi_elem(m, TMI_TYPE(m, tmi_in_type(m, op, 0))->elem)));
    tmi_b_attr(b, v, "sem", 1);
    tmi_b_attr(b, v, "scope", 1);
}

static int tmi_ref_list_has(const tmi_module *m, const tmi_op *op, const char *name, uint32_t d) {
    const tmi_attr *a = tmi_attr_of(m, op, name);
    uint32_t i;
    for (i = 0; a && i < a->n; i++)
        if ((uint32_t)TMI_WORD(m, (uint32_t)a->value + i) == d) return 1;
    return 0;
}

static void tmi_ref_block_access(tmi_refs *x, tmi_build *b, const tmi_op *op) { /* tt.load and tt.store of a block pointer */
    tmi_tile t;
    uint32_t d;
    int64_t  pad = tmi_attr_int(x->m, op, "padding", 0);
    tmi_tile_of(x, tmi_in(x->m, op, 0), &t);
    for (d = 0; d < t.rank; d++)
        if (tmi_ref_list_has(x->m, op, "boundaryCheck", d)) t.guarded |= 1u << d;
    if (op->kind == TMI_OP_STORE) tmi_tile_store(x, b, tmi_in(x->m, op, 1), &t);
    else tmi_tile_load(x, b, op, &t, t.guarded ? tmi_tile_padding(b, t.elem, t.shape, 0, pad == 2) : 0);
}

static void tmi_ref_desc_access(tmi_refs *x, tmi_build *b, const tmi_op *op) {
    tmi_module *m = x->m;
    tmi_tile    t;
    uint32_t    desc = tmi_in(m, op, 0), d, nan = tmi_ref_part(x, desc, tmi_ref_count(m, tmi_value_type(m, desc)) - 1);
    int         lookup = op->kind == TMI_OP_DGATHER || op->kind == TMI_OP_DSCATTER || op->kind == TMI_OP_XDGATHER || op->kind == TMI_OP_XDSCATTER;
    int         src_first = op->kind == TMI_OP_DSTORE || op->kind == TMI_OP_DREDUCE || op->kind == TMI_OP_XDSTORE; /* desc, src, indices */
    tmi_tile_of(x, desc, &t);
    for (d = 0; d < t.rank; d++)
        if (!(lookup && d == 0)) t.offset[d] = tmi_b_to_int(b, tmi_in(m, op, (src_first ? 2 : 1) + d), 64, 1);
    if (lookup) { /* one row of the block for each index */
        uint32_t dims[2];
        t.rows = tmi_in(m, op, 1);
        dims[0] = tmi_dim(m, tmi_value_type(m, t.rows), 0);
        dims[1] = tmi_dim(m, t.shape, 1);
        t.shape = tmi_type_tensor(x->job, m, t.elem, dims, 2);
    }
    switch (op->kind) {
    case TMI_OP_DLOAD: case TMI_OP_XDLOAD: case TMI_OP_DGATHER: case TMI_OP_XDGATHER:
        tmi_tile_load(x, b, op, &t, tmi_tile_padding(b, t.elem, t.shape, nan, 0));
        break;
    case TMI_OP_DREDUCE: tmi_tile_reduce(x, b, op, &t); break;
    default: tmi_tile_store(x, b, tmi_in(m, op, src_first ? 1 : op->n_in - 1), &t); break;
    }
}

/* Descriptors that the host passes: the parameter itself becomes the base pointer; its sizes and strides
 * are the parameters that follow it. Padding is zero: the text does not say otherwise. */
static void tmi_ref_params(tmi_refs *x, tmi_build *b, uint32_t func) {
    tmi_module *m = x->m;
    uint32_t    block = tmi_op_body(m, TMI_OP(m, func), 0), i, k, n = TMI_BLOCK(m, block)->n_arg, p[2 * TMI_MAX_RANK + 2];
    for (i = 0; i < n; i++) {
        uint32_t v = tmi_block_arg(m, block, i), type = tmi_value_type(m, v), rank, base;
        if (TMI_TYPE(m, type)->kind != TMI_T_DESC) continue;
        rank = tmi_ref_rank(m, type);
        if (i + 2 * rank >= n) continue; /* refused: see >>drive */
        base = tmi_value_new(x->job, m, tmi_type_ptr(x->job, m, tmi_ref_elem(x->job, m, type), 1));
        TMI_VALUE(m, base)->name = TMI_VALUE(m, v)->name;
        TMI_VALUE(m, base)->loc = TMI_VALUE(m, v)->loc;
        TMI_VALUE(m, base)->is_arg = 1;
        TMI_VALUE(m, base)->def = block;
        TMI_VALUE(m, base)->index = (uint16_t)i;
        TMI_ID(m, TMI_BLOCK(m, block)->arg + i) = base;
        p[0] = base;
        for (k = 0; k < 2 * rank; k++) p[1 + k] = tmi_b_to_int(b, tmi_block_arg(m, block, i + 1 + k), 64, 1);
        p[2 * rank] = tmi_b_const(b, m->t_i64, 1); /* the last stride of a descriptor is one */
        p[2 * rank + 1] = tmi_b_const(b, m->t_i1, 0);
        tmi_ref_set(x, v, p, 2 * rank + 2);
    }
}

/* Requires: one block a region, calls inlined. Leaves: no value of a descriptor or block pointer type. */
static void tmi_lower_refs(tmi_job *job, tmi_module *m, uint32_t func) {
    tmi_mark  mark = tmi_mark_take(job);
    tmi_refs  x;
    tmi_build b;
    uint32_t  op, next, i;
    int       any = 0;
    for (op = func; op && !any; op = tmi_walk_next(m, func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        for (i = 0; i < o->n_out; i++) any |= tmi_is_ref(m, tmi_out_type(m, o, i));
        for (i = 0; i < o->n_in; i++) any |= tmi_is_ref(m, tmi_in_type(m, o, i));
    }
    if (!any && !TMI_BLOCK(m, tmi_op_body(m, TMI_OP(m, func), 0))->n_arg) return;
    memset(&x, 0, sizeof x);
    x.job = job;
    x.m = m;
    x.at = TMI_TEMP(job, uint32_t, m->value.n);
    tmi_vec_init(&x.part, sizeof(uint32_t), 1);
    tmi_rename_init(job, m, &x.names);
    b = tmi_build_before(job, m, TMI_BLOCK(m, tmi_op_body(m, TMI_OP(m, func), 0))->first_op);
    tmi_ref_params(&x, &b, func);
    for (op = any ? tmi_walk_next(m, func, func) : 0; op; op = next) {
        tmi_op o = *TMI_OP(m, op);
        int    drop = 1;
        b = tmi_build_before(job, m, op);
        switch (o.kind) {
        case TMI_OP_MAKE_DESC: tmi_ref_make_desc(&x, &b, &o); break;
        case TMI_OP_MAKE_PTR: tmi_ref_make_ptr(&x, &b, &o); break;
        case TMI_OP_ADVANCE: tmi_ref_advance(&x, &b, &o); break;
        case TMI_OP_DLOAD: case TMI_OP_DSTORE: case TMI_OP_DREDUCE: case TMI_OP_DGATHER: case TMI_OP_DSCATTER:
        case TMI_OP_XDLOAD: case TMI_OP_XDSTORE: case TMI_OP_XDGATHER: case TMI_OP_XDSCATTER: tmi_ref_desc_access(&x, &b, &o); break;
        case TMI_OP_LOAD: case TMI_OP_STORE:
            if (tmi_is_block_ptr(m, tmi_in_type(m, &o, 0))) tmi_ref_block_access(&x, &b, &o);
            else drop = 0;
            break;
        case TMI_OP_SELECT: case TMI_OP_POISON: case TMI_OP_UNDEF:
            drop = tmi_is_ref(m, tmi_out_type(m, &o, 0));
            if (drop && o.kind == TMI_OP_SELECT) tmi_ref_select(&x, &b, &o);
            else if (drop) tmi_ref_poison(&x, &b, &o);
            break;
        default:
            drop = 0;
            tmi_ref_control(&x, op);
            break;
        }
        next = tmi_walk_next(m, func, op);
        if (drop) tmi_op_unlink(m, op);
    }
    tmi_rename_apply(&x.names, func);
    tmi_mark_drop(job, mark);
}

/* -- Matrix products of packed and scaled operands: decoded, then tt.dot ---------------------------
 *
 *   %d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16
 * to
 *   %x = (4-bit floats of %a, unpacked along K, as bf16) * (2^(%s - 127) of their group of K)
 *   %d = tt.dot %x, %b, %c                              in f16 where either kind is fp16, else bf16
 *
 * Every decoding is exact; a scale byte of 255 gives NaN unless the op says fastMath. */

enum { TMI_SCALED_E4M3, TMI_SCALED_E5M2, TMI_SCALED_E2M3, TMI_SCALED_E3M2, TMI_SCALED_E2M1, TMI_SCALED_BF16, TMI_SCALED_FP16 };

static uint32_t tmi_b_shift(tmi_build *b, uint32_t kind, uint32_t v, uint32_t by) {
    return tmi_b_2(b, kind, v, tmi_b_const(b, tmi_value_type(b->m, v), by));
}

static uint32_t tmi_b_cast_float(tmi_build *b, uint32_t v, uint32_t elem) { /* to a float type that holds it exactly, or to nearest */
    uint32_t type = tmi_type_like(b->job, b->m, tmi_value_type(b->m, v), elem), r;
    if (type == tmi_value_type(b->m, v)) return v;
    r = tmi_b_1(b, TMI_OP_FP_TO_FP, type, v);
    if (tmi_bits(b->m, tmi_value_type(b->m, v)) > tmi_bits(b->m, type)) tmi_b_attr(b, r, "rounding", 1);
    return r;
}

/* Bytes with two 4-bit floats each, low nibble first, to the elements along K: the last axis. */
static uint32_t tmi_unpack_nibbles(tmi_build *b, uint32_t v) {
    tmi_module *m = b->m;
    uint32_t    type = tmi_value_type(m, v), rank = tmi_rank(m, type), dims[TMI_MAX_RANK], i, in[2], j;
    in[0] = tmi_b_shift(b, TMI_OP_ANDI, v, 15);
    in[1] = tmi_b_shift(b, TMI_OP_SHRUI, v, 4);
    for (i = 0; i < rank; i++) dims[i] = tmi_dim(m, type, i);
    dims[rank] = 2;
    j = tmi_b_op(b, TMI_OP_JOIN, tmi_type_tensor(b->job, m, m->t_i8, dims, rank + 1), in, 2);
    dims[rank - 1] *= 2;
    return tmi_b_reshape(b, j, dims, rank);
}

/* e2m1 in the low nibble to bf16 or f16: 0 and 1/2 apart, else exponent and mantissa moved into place. */
static uint32_t tmi_decode_e2m1(tmi_build *b, uint32_t v, uint32_t elem) {
    tmi_module *m = b->m;
    uint32_t    half_type = elem == m->t_float[TMI_F_F16], shift = half_type ? 9 : 6, bias = half_type ? 28 : 252;
    uint32_t    x = tmi_b_to_int(b, v, 16, 0), t = tmi_b_shift(b, TMI_OP_ANDI, x, 7), type = tmi_value_type(m, x), bits, small;
    bits = tmi_b_shift(b, TMI_OP_SHLI, tmi_b_shift(b, TMI_OP_ADDI, t, bias), shift);
    small = tmi_b_select(b, tmi_b_cmpi(b, 0, t, tmi_b_const(b, type, 0)), tmi_b_const(b, type, 0), tmi_b_const(b, type, (uint64_t)bias << shift));
    bits = tmi_b_select(b, tmi_b_cmpi(b, 6, t, tmi_b_const(b, type, 2)), small, bits);
    bits = tmi_b_2(b, TMI_OP_ORI, bits, tmi_b_shift(b, TMI_OP_SHLI, tmi_b_shift(b, TMI_OP_ANDI, x, 8), 12));
    return tmi_b_1(b, TMI_OP_BITCAST, tmi_type_like(b->job, m, type, elem), bits);
}

/* A scale as a factor of the product's type. */
static uint32_t tmi_decode_scale(tmi_build *b, uint32_t s, uint32_t elem) {
    tmi_module *m = b->m;
    uint32_t    f;
    if (!tmi_is_intlike(m, tmi_value_type(m, s))) return tmi_b_cast_float(b, s, elem);
    if (elem == m->t_float[TMI_F_BF16]) /* the exponent field itself */
        return tmi_b_1(b, TMI_OP_BITCAST, tmi_type_like(b->job, m, tmi_value_type(m, s), elem), tmi_b_shift(b, TMI_OP_SHLI, tmi_b_to_int(b, s, 16, 0), 7));
    f = tmi_b_shift(b, TMI_OP_SHLI, tmi_b_to_int(b, s, 32, 0), 23);
    f = tmi_b_1(b, TMI_OP_BITCAST, tmi_type_like(b->job, m, tmi_value_type(m, s), m->t_float[TMI_F_F32]), f);
    return tmi_b_1(b, TMI_OP_TRUNCF, tmi_type_like(b->job, m, tmi_value_type(m, s), elem), f);
}

/* One scale for each group of K: [rows, K / n] to [rows, K]. */
static uint32_t tmi_spread_scale(tmi_build *b, uint32_t s, uint32_t k) {
    tmi_module *m = b->m;
    uint32_t    type = tmi_value_type(m, s), rank = tmi_rank(m, type), dims[TMI_MAX_RANK], i, v;
    for (i = 0; i < rank; i++) dims[i] = tmi_dim(m, type, i);
    dims[rank] = 1;
    v = tmi_b_reshape(b, s, dims, rank + 1);
    dims[rank] = k / dims[rank - 1];
    v = tmi_b_broadcast(b, v, tmi_type_tensor(b->job, m, tmi_elem(m, type), dims, rank + 1));
    dims[rank - 1] = k;
    return tmi_b_reshape(b, v, dims, rank);
}

/* One operand, K last, as floats of type `elem`. */
static uint32_t tmi_scaled_values(tmi_build *b, uint32_t v, int64_t kind, uint32_t elem) {
    tmi_module *m = b->m;
    uint32_t    f;
    if (kind == TMI_SCALED_E2M1) return tmi_decode_e2m1(b, v, elem);
    if (tmi_is_intlike(m, tmi_value_type(m, v))) { /* older text: bytes */
        f = m->t_float[kind == TMI_SCALED_E4M3 ? TMI_F_E4M3FN : kind == TMI_SCALED_E5M2 ? TMI_F_E5M2 : kind == TMI_SCALED_BF16 ? TMI_F_BF16 : TMI_F_F16];
        v = tmi_b_1(b, TMI_OP_TTBITCAST, tmi_type_like(b->job, m, tmi_value_type(m, v), f), v);
    }
    return tmi_b_cast_float(b, v, elem);
}

static uint32_t tmi_scaled_operand(tmi_build *b, const tmi_op *op, uint32_t side, uint32_t scale, uint32_t elem) {
    tmi_module *m = b->m;
    int64_t     kind = tmi_attr_int(m, op, side ? "b_elem_type" : "a_elem_type", 0);
    uint32_t    v = tmi_in(m, op, side), k, s, bad;
    int         k_pack = tmi_attr_int(m, op, side ? "rhs_k_pack" : "lhs_k_pack", 1) != 0;
    if (kind == TMI_SCALED_E2M1 && !k_pack) { /* packed along rows (columns of b): bring that axis last, unpack */
        if (!side) v = tmi_b_swap_last(b, v);
        v = tmi_unpack_nibbles(b, v);
        v = tmi_b_swap_last(b, v); /* a: K last again; b: N x K */
    } else {
        if (side) v = tmi_b_swap_last(b, v);
        if (kind == TMI_SCALED_E2M1) v = tmi_unpack_nibbles(b, v);
    }
    v = tmi_scaled_values(b, v, kind, elem);
    if (scale) {
        k = tmi_dim(m, tmi_value_type(m, v), tmi_rank(m, tmi_value_type(m, v)) - 1);
        s = tmi_spread_scale(b, tmi_decode_scale(b, scale, elem), k);
        v = tmi_b_2(b, TMI_OP_MULF, v, s);
        if (tmi_is_intlike(m, tmi_value_type(m, scale)) && !tmi_attr_int(m, op, "fastMath", 0)) {
            bad = tmi_b_cmpi(b, 0, scale, tmi_b_const(b, tmi_value_type(m, scale), (uint64_t)-1));
            v = tmi_b_select(b, tmi_spread_scale(b, bad, k), tmi_b_const(b, tmi_value_type(m, v), tmi_nan_bits(m, elem)), v);
        }
    }
    return side ? tmi_b_swap_last(b, v) : v;
}

static void tmi_lower_scaled(tmi_build *b, uint32_t op) {
    tmi_module *m = b->m;
    tmi_op      o = *TMI_OP(m, op);
    const tmi_attr *seg = tmi_attr_of(m, &o, "operandSegmentSizes");
    uint32_t    has_a, has_b, in[3], elem;
    has_a = seg && seg->n > 3 ? (uint32_t)TMI_WORD(m, (uint32_t)seg->value + 3) : o.n_in > 3;
    has_b = seg && seg->n > 4 ? (uint32_t)TMI_WORD(m, (uint32_t)seg->value + 4) : o.n_in > 4;
    elem = tmi_attr_int(m, &o, "a_elem_type", 0) == TMI_SCALED_FP16 || tmi_attr_int(m, &o, "b_elem_type", 0) == TMI_SCALED_FP16 ? m->t_float[TMI_F_F16]
                                                                                                                                  : m->t_float[TMI_F_BF16];
    in[0] = tmi_scaled_operand(b, &o, 0, has_a ? tmi_in(m, &o, 3) : 0, elem);
    in[1] = tmi_scaled_operand(b, &o, 1, has_b ? tmi_in(m, &o, 3 + has_a) : 0, elem);
    in[2] = tmi_in(m, &o, 2);
    TMI_OP(m, op)->kind = TMI_OP_DOT;
    TMI_OP(m, op)->attr = 0;
    tmi_op_operands(b->job, m, op, in, 3);
}

static int tmi_is_f8(const tmi_module *m, uint32_t type) {
    return tmi_is_floatlike(m, type) && tmi_bits(m, type) <= 8;
}

/* Products of 8-bit floats: every value of theirs is a half. */
static void tmi_lower_f8_dot(tmi_build *b, uint32_t op) {
    tmi_module *m = b->m;
    uint32_t    in[3];
    in[0] = tmi_b_cast_float(b, tmi_in(m, TMI_OP(m, op), 0), m->t_float[TMI_F_F16]);
    in[1] = tmi_b_cast_float(b, tmi_in(m, TMI_OP(m, op), 1), m->t_float[TMI_F_F16]);
    in[2] = tmi_in(m, TMI_OP(m, op), 2);
    tmi_op_operands(b->job, m, op, in, 3);
}

/* Requires: nothing. Leaves: tt.dot on f16, bf16, f32, f64 and integers only. */
static void tmi_lower_products(tmi_job *job, tmi_module *m, uint32_t func) {
    uint32_t  op;
    tmi_build b;
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op)) {
        if (TMI_OP(m, op)->kind == TMI_OP_DOT_SCALED) {
            b = tmi_build_before(job, m, op);
            tmi_lower_scaled(&b, op);
        } else if (TMI_OP(m, op)->kind == TMI_OP_DOT && tmi_is_f8(m, tmi_in_type(m, TMI_OP(m, op), 0))) {
            b = tmi_build_before(job, m, op);
            tmi_lower_f8_dot(&b, op);
        }
    }
}

/* -- Loops: what they carry for nothing, and what grows by an even step ------------------------------ */

static int tmi_is_outside(const tmi_module *m, uint32_t value, uint32_t loop) { /* made before the loop */
    uint32_t block = tmi_value_home(m, value), op;
    for (;;) {
        op = tmi_block_op(m, block);
        if (op == loop) return 0;
        if (!op || !TMI_OP(m, op)->block) return 1;
        block = TMI_OP(m, op)->block;
    }
}

/* scf.for without its i-th carried value, for every bit of `drop`. */
static void tmi_for_drop(tmi_job *job, tmi_module *m, uint32_t op, const uint8_t *drop) {
    tmi_op    o = *TMI_OP(m, op);
    uint32_t  body = tmi_op_body(m, &o, 0), end = tmi_terminator(m, body), i, n, *list = TMI_TEMP(job, uint32_t, o.n_in + 1);
    for (i = n = 0; i < o.n_in; i++)
        if (i < 3 || !drop[i - 3]) list[n++] = tmi_in(m, &o, i);
    tmi_op_operands(job, m, op, list, n);
    for (i = n = 0; i < o.n_out; i++)
        if (!drop[i]) list[n++] = tmi_out(m, &o, i);
    tmi_op_results(job, m, op, list, n);
    for (i = n = 0; i < TMI_OP(m, end)->n_in; i++)
        if (!drop[i]) list[n++] = tmi_in(m, TMI_OP(m, end), i);
    tmi_op_operands(job, m, end, list, n);
    for (i = n = 0; i < TMI_BLOCK(m, body)->n_arg; i++)
        if (!i || !drop[i - 1]) list[n++] = tmi_block_arg(m, body, i);
    tmi_block_args(job, m, body, list, n);
}

/* scf.for with one more carried value; gives its block argument. The yield and the result come after. */
static uint32_t tmi_for_add(tmi_job *job, tmi_module *m, uint32_t op, uint32_t init, uint32_t *result) {
    tmi_op    o = *TMI_OP(m, op);
    uint32_t  body = tmi_op_body(m, &o, 0), i, arg = tmi_value_new(job, m, tmi_value_type(m, init)), *list = TMI_TEMP(job, uint32_t, o.n_in + 2);
    for (i = 0; i < o.n_in; i++) list[i] = tmi_in(m, &o, i);
    list[i++] = init;
    tmi_op_operands(job, m, op, list, i);
    for (i = 0; i < o.n_out; i++) list[i] = tmi_out(m, &o, i);
    list[i++] = *result = tmi_value_new(job, m, tmi_value_type(m, init));
    tmi_op_results(job, m, op, list, i);
    for (i = 0; i < TMI_BLOCK(m, body)->n_arg; i++) list[i] = tmi_block_arg(m, body, i);
    list[i++] = arg;
    tmi_block_args(job, m, body, list, i);
    return arg;
}

static void tmi_for_yield(tmi_job *job, tmi_module *m, uint32_t op, uint32_t value) {
    uint32_t end = tmi_terminator(m, tmi_op_body(m, TMI_OP(m, op), 0)), n = TMI_OP(m, end)->n_in, i, *list = TMI_TEMP(job, uint32_t, n + 1);
    for (i = 0; i < n; i++) list[i] = tmi_in(m, TMI_OP(m, end), i);
    list[n] = value;
    tmi_op_operands(job, m, end, list, n + 1);
}

/* Carried values that every round yields as they came are their initial value. 1 when something went. */
static int tmi_for_simplify(tmi_job *job, tmi_module *m, uint32_t op, tmi_rename *names) {
    const tmi_op *o = TMI_OP(m, op);
    uint32_t body = tmi_op_body(m, o, 0), end = tmi_terminator(m, body), i, n = 0, y, arg;
    uint8_t *drop = TMI_TEMP(job, uint8_t, o->n_out);
    for (i = 0; i < o->n_out; i++) {
        y = tmi_renamed(names, tmi_in(m, TMI_OP(m, end), i));
        arg = tmi_block_arg(m, body, 1 + i);
        if (y != arg && y != tmi_renamed(names, tmi_in(m, o, 3 + i))) continue;
        drop[i] = 1;
        names->to[arg] = names->to[tmi_out(m, o, i)] = tmi_in(m, o, 3 + i);
        n++;
    }
    if (n) tmi_for_drop(job, m, op, drop);
    return n != 0;
}

/* scf.if results that both sides yield alike. */
static void tmi_if_simplify(tmi_job *job, tmi_module *m, uint32_t op, tmi_rename *names) {
    tmi_op   o = *TMI_OP(m, op);
    uint32_t end[2], i, k, n = 0, *list = TMI_TEMP(job, uint32_t, o.n_out);
    uint8_t *drop = TMI_TEMP(job, uint8_t, o.n_out);
    if (!o.n_out || o.n_region != 2) return;
    for (k = 0; k < 2; k++) end[k] = tmi_terminator(m, tmi_op_body(m, &o, k));
    for (i = 0; i < o.n_out; i++) {
        uint32_t a = tmi_renamed(names, tmi_in(m, TMI_OP(m, end[0]), i)), c = tmi_renamed(names, tmi_in(m, TMI_OP(m, end[1]), i));
        if (a != c) continue;
        drop[i] = 1;
        names->to[tmi_out(m, &o, i)] = a;
        n++;
    }
    if (!n) return;
    for (i = n = 0; i < o.n_out; i++)
        if (!drop[i]) list[n++] = tmi_out(m, &o, i);
    tmi_op_results(job, m, op, list, n);
    for (k = 0; k < 2; k++) {
        for (i = n = 0; i < o.n_out; i++)
            if (!drop[i]) list[n++] = tmi_in(m, TMI_OP(m, end[k]), i);
        tmi_op_operands(job, m, end[k], list, n);
    }
}

/* Requires: one block a region. Leaves: loops and branches that hand on only what they change. */
static void tmi_simplify_control(tmi_job *job, tmi_module *m, uint32_t func) {
    tmi_mark   mark = tmi_mark_take(job);
    tmi_rename names;
    uint32_t   op, rounds;
    int        changed = 1;
    tmi_rename_init(job, m, &names);
    for (rounds = 0; changed && rounds < 8; rounds++) {
        changed = 0;
        for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op)) {
            if (TMI_OP(m, op)->kind == TMI_OP_FOR) changed |= tmi_for_simplify(job, m, op, &names);
            else if (TMI_OP(m, op)->kind == TMI_OP_IF) tmi_if_simplify(job, m, op, &names);
        }
    }
    tmi_rename_apply(&names, func);
    tmi_mark_drop(job, mark);
}

/* -- Induction: a tile that grows by one step for all its elements is a scalar and a fixed tile -------
 *
 *   %p = tt.addptr splat(%a), %offs                    %s0 = %a
 *   scf.for iter_args(%q = %p)                to       scf.for iter_args(%s = %s0)
 *     ... tt.load %q                                     %q = tt.addptr splat(%s), %offs; tt.load %q
 *     %n = tt.addptr %q, splat(%step)                    %n = tt.addptr %s, %step
 *     scf.yield %n                                       scf.yield %n
 *
 * so that a thread carries one pointer, not one for each of its elements. */

/* The scalar of a uniform tile: of a splat, or of a constant that is the same everywhere. 0: not uniform. */
static uint32_t tmi_uniform_scalar(tmi_build *b, uint32_t v, uint32_t loop) {
    tmi_module *m = b->m;
    uint32_t    s = tmi_splat_source(m, v);
    int64_t     c;
    (void)loop;
    if (s) return s;
    if (tmi_const_int(m, v, &c)) return tmi_b_const(b, tmi_elem(m, tmi_value_type(m, v)), (uint64_t)c);
    return 0;
}

/* The steps from a carried tile to what is yielded: ops of `kind` whose other operand is uniform. */
typedef struct tmi_steps {
    uint32_t n, value[8]; /* the uniform tiles, first step first */
} tmi_steps;

static int tmi_find_steps(const tmi_module *m, uint32_t arg, uint32_t v, uint32_t kind, tmi_steps *s) {
    const tmi_op *op;
    uint32_t i, t;
    int64_t  c;
    s->n = 0;
    for (i = 0; v != arg; i++) {
        if (i == 8 || tmi_def_kind(m, v) != kind) return 0;
        op = TMI_OP(m, tmi_def(m, v));
        t = tmi_in(m, op, 1);
        if (kind == TMI_OP_ADDI && t == arg && tmi_in(m, op, 0) != arg) t = tmi_in(m, op, 0), v = arg;
        else v = tmi_in(m, op, 0);
        if (!tmi_splat_source(m, t) && !tmi_const_int(m, t, &c)) return 0;
        s->value[s->n++] = t;
    }
    return s->n > 0;
}

/* The scalar pointer that a tile of pointers starts from, through additions and renamings of shape. */
static uint32_t tmi_pointer_root(const tmi_module *m, uint32_t v) {
    uint32_t depth;
    for (depth = 0; depth < 32; depth++) {
        if (!tmi_is_tensor(m, tmi_value_type(m, v))) return v;
        switch (tmi_def_kind(m, v)) {
        case TMI_OP_ADDPTR: case TMI_OP_SPLAT: case TMI_OP_EXPAND: case TMI_OP_BROADCAST: case TMI_OP_RESHAPE: case TMI_OP_TRANS:
            v = tmi_in(m, TMI_OP(m, tmi_def(m, v)), 0);
            break;
        default: return 0;
        }
    }
    return 0;
}

/* The same tile from another scalar: the chain down to the root, made again. */
static uint32_t tmi_pointer_rebuild(tmi_build *b, uint32_t v, uint32_t root) {
    tmi_module *m = b->m;
    tmi_op      o;
    uint32_t    in[2], r;
    if (!tmi_is_tensor(m, tmi_value_type(m, v))) return root;
    o = *TMI_OP(m, tmi_def(m, v));
    in[0] = tmi_pointer_rebuild(b, tmi_in(m, &o, 0), root);
    if (o.n_in > 1) in[1] = tmi_in(m, &o, 1);
    r = tmi_b_op(b, o.kind, tmi_value_type(m, v), in, o.n_in);
    TMI_OP(m, TMI_VALUE(m, r)->def)->attr = o.attr;
    TMI_VALUE(m, r)->name = TMI_VALUE(m, v)->name;
    TMI_OP(m, TMI_VALUE(m, r)->def)->loc = o.loc;
    return r;
}

/* The tile where the scalar has reached `s`: pointers start from it, integers add it to what they began with. */
static uint32_t tmi_induction_tile(tmi_build *b, uint32_t init, uint32_t s) {
    if (tmi_is_ptrlike(b->m, tmi_value_type(b->m, init))) return tmi_pointer_rebuild(b, init, s);
    return tmi_b_2(b, TMI_OP_ADDI, init, tmi_b_splat(b, s, tmi_value_type(b->m, init)));
}

static int tmi_induct(tmi_job *job, tmi_module *m, uint32_t op, uint32_t i, tmi_rename *names) {
    uint32_t  body = tmi_op_body(m, TMI_OP(m, op), 0), end = tmi_terminator(m, body), arg = tmi_block_arg(m, body, 1 + i), k;
    uint32_t  init = tmi_in(m, TMI_OP(m, op), 3 + i), type = tmi_value_type(m, arg), root = 0, s, next, result, old = tmi_out(m, TMI_OP(m, op), i), in[2], t;
    int       ptr = tmi_is_ptrlike(m, type);
    tmi_steps steps;
    tmi_build b;
    if (!tmi_is_tensor(m, type) || (!ptr && !tmi_is_intlike(m, type))) return 0;
    if (!tmi_find_steps(m, arg, tmi_in(m, TMI_OP(m, end), i), ptr ? TMI_OP_ADDPTR : TMI_OP_ADDI, &steps)) return 0;
    if (ptr && (root = tmi_pointer_root(m, init)) == 0) return 0;
    b = tmi_build_before(job, m, op);
    if (!ptr) root = tmi_b_const(&b, tmi_elem(m, type), 0);
    s = tmi_for_add(job, m, op, root, &result);
    TMI_VALUE(m, s)->name = TMI_VALUE(m, arg)->name;
    TMI_VALUE(m, s)->loc = TMI_VALUE(m, arg)->loc;
    TMI_VALUE(m, result)->name = TMI_VALUE(m, old)->name;
    b = tmi_build_before(job, m, TMI_BLOCK(m, body)->first_op);
    t = tmi_induction_tile(&b, init, s);
    tmi_name_after(m, t, arg);
    names->to[arg] = t;
    b = tmi_build_before(job, m, end);
    b.loc = TMI_OP(m, tmi_def(m, tmi_in(m, TMI_OP(m, end), i)))->loc;
    for (next = s, k = steps.n; k-- > 0;) {
        in[0] = next;
        in[1] = tmi_uniform_scalar(&b, steps.value[k], op);
        next = tmi_b_op(&b, ptr ? TMI_OP_ADDPTR : TMI_OP_ADDI, tmi_value_type(m, s), in, 2);
    }
    tmi_for_yield(job, m, op, next);
    if (TMI_OP(m, op)->next) {
        b = tmi_build_before(job, m, TMI_OP(m, op)->next);
        names->to[old] = tmi_induction_tile(&b, init, result);
    }
    return 1;
}

/* Requires: one block a region. Leaves: carried tiles that are not of this kind. */
static void tmi_inductions(tmi_job *job, tmi_module *m, uint32_t func) {
    tmi_mark   mark = tmi_mark_take(job);
    tmi_rename names;
    uint32_t   op, i, n;
    uint8_t   *drop;
    tmi_rename_init(job, m, &names);
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op)) {
        if (TMI_OP(m, op)->kind != TMI_OP_FOR) continue;
        n = TMI_OP(m, op)->n_out;
        drop = TMI_TEMP(job, uint8_t, n * 2 + 1);
        for (i = 0; i < n; i++) drop[i] = (uint8_t)tmi_induct(job, m, op, i, &names);
        tmi_for_drop(job, m, op, drop);
    }
    tmi_rename_apply(&names, func);
    tmi_mark_drop(job, mark);
}

/* -- Ops that nothing reads ------------------------------------------------------------------------ */

static int tmi_is_droppable(const tmi_op *op) {
    uint32_t traits = tmi_ops[op->kind].traits;
    return op->n_out && (traits & TMI_PURE) && !(traits & (TMI_WRITES | TMI_ENDS));
}

/* Requires: nothing. Leaves: no pure op whose results are unread. */
static void tmi_drop_unread(tmi_job *job, tmi_module *m, uint32_t func) {
    tmi_mark  mark = tmi_mark_take(job);
    uint32_t *uses = TMI_TEMP(job, uint32_t, m->value.n), *order, n = 0, op, i, left;
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op), n++)
        for (i = 0; i < TMI_OP(m, op)->n_in; i++) uses[tmi_in(m, TMI_OP(m, op), i)]++;
    order = TMI_TEMP(job, uint32_t, n);
    for (n = 0, op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op)) order[n++] = op;
    while (n-- > 0) {
        const tmi_op *o = TMI_OP(m, order[n]);
        if (!tmi_is_droppable(o)) continue;
        for (left = 0, i = 0; i < o->n_out; i++) left += uses[tmi_out(m, o, i)];
        if (left) continue;
        for (i = 0; i < o->n_in; i++) uses[tmi_in(m, o, i)]--;
        tmi_op_unlink(m, order[n]);
    }
    tmi_mark_drop(job, mark);
}

/* -- The passes, in order ------------------------------------------------------------------------- */

/*    name               function              needed: >>lower knows what it leaves only (else optimisation) */
#define TMI_PASSES(X) \
    X("tile references", tmi_lower_refs,       1) \
    X("products",        tmi_lower_products,   1) \
    X("control",         tmi_simplify_control, 0) \
    X("induction",       tmi_inductions,       0) \
    X("unread",          tmi_drop_unread,      0)

typedef struct tmi_pass {
    const char *name;
    void (*run)(tmi_job *, tmi_module *, uint32_t);
    int needed;
} tmi_pass;

static const tmi_pass tmi_passes[] = {
#define X(name, fn, needed) {name, fn, needed},
    TMI_PASSES(X)
#undef X
};

/* Make every public function ready to be planned. 0 when one was refused. */
static int tmi_transform(tmi_job *job, tmi_module *m, uint32_t func) {
    tmi_mark mark = tmi_mark_take(job);
    size_t   i;
    int      ok = tmi_ready_func(job, m, func, TMI_TEMP(job, uint8_t, m->op.n));
    tmi_mark_drop(job, mark);
    for (i = 0; ok && i < sizeof tmi_passes / sizeof *tmi_passes; i++) {
        if (job->opt->plain && !tmi_passes[i].needed) continue;
        tmi_passes[i].run(job, m, func);
#ifdef TMETAL_DEBUG
        if (!tmi_verify_all(job, m)) tmi_bug(job, "transform", tmi_passes[i].name);
#endif
    }
    return ok;
}

/*==============================================================================
 * >>thread  [14]  The per-thread form: what one GPU thread does
 *
 * gives   tmi_thr: instructions in structured blocks; tmi_t_*(): make them, folding as they are made
 * uses    >>base  >>ir
 *
 * Lowering makes this form from tiles, clean-up runs on it while it is made (constants, ranges,
 * common subexpressions, loop invariants), and the printer only formats it. Values are SSA; what
 * changes lives in arrays (of one element: a variable). Integers carry no sign, as in Triton IR;
 * the printer decides where int and where uint reads best.
 *============================================================================*/

/* -- Types ------------------------------------------------------------------------- */

typedef enum tmi_scalar {
    TMI_S_NONE, TMI_S_BOOL, TMI_S_I8, TMI_S_I16, TMI_S_I32, TMI_S_I64, TMI_S_F16, TMI_S_BF16, TMI_S_F32,
    TMI_S_PTR,  /* to `elem` in device memory */
    TMI_S_COUNT
} tmi_scalar;

typedef struct tmi_tty {
    uint8_t kind, width; /* tmi_scalar; 1 to 4 elements */
    uint8_t elem;        /* pointers: tmi_scalar pointed at */
    uint8_t spare;
} tmi_tty;

static const uint8_t tmi_scalar_bytes[TMI_S_COUNT] = {0, 1, 1, 2, 4, 8, 2, 2, 4, 8};
static const uint8_t tmi_scalar_bits[TMI_S_COUNT] = {0, 1, 8, 16, 32, 64, 16, 16, 32, 64};

static tmi_tty tmi_tty_of(int kind, int width) {
    tmi_tty t;
    t.kind = (uint8_t)kind;
    t.width = (uint8_t)width;
    t.elem = t.spare = 0;
    return t;
}

static int tmi_s_is_int(int kind) {
    return kind >= TMI_S_BOOL && kind <= TMI_S_I64;
}

static int tmi_s_is_float(int kind) {
    return kind >= TMI_S_F16 && kind <= TMI_S_F32;
}

static tmi_scalar tmi_s_int(uint32_t bits) {
    return bits <= 1 ? TMI_S_BOOL : bits <= 8 ? TMI_S_I8 : bits <= 16 ? TMI_S_I16 : bits <= 32 ? TMI_S_I32 : TMI_S_I64;
}

/* -- Instructions -------------------------------------------------------------------- */

#define TMI_TR_PURE  0x01u /* value depends on operands alone: folded, shared, moved out of loops */
#define TMI_TR_SWAPS 0x02u
#define TMI_TR_VEC   0x04u /* works on vectors, element by element */
#define TMI_TR_SLOW  0x08u /* not moved out of an `if`: costs too much to compute for nothing */
#define TMI_TR_READ  0x10u /* reads memory or an array: order against writes matters */
#define TMI_TR_STMT  0x20u /* a statement: has no value or has effects */
#define TMI_TR_LANE  0x40u /* all lanes must meet in it: stays where control flow is uniform */

#define TMI_TR_P   TMI_TR_PURE
#define TMI_TR_PV  (TMI_TR_PURE | TMI_TR_VEC)
#define TMI_TR_PVS (TMI_TR_PURE | TMI_TR_VEC | TMI_TR_SLOW)
#define TMI_TR_PVW (TMI_TR_PURE | TMI_TR_VEC | TMI_TR_SWAPS)

/* Columns: id, Metal text, how it is written, traits. A `helper` is a function of ours printed above
 * the kernel when used; its text stands in >>emit under the same id. */
/* clang-format off */
#define TMI_TFS(X) \
    X(CONST,    "",        const_,  TMI_TR_P)  X(PARAM,   "",        param,   TMI_TR_P) \
    X(TID,      "tid",     builtin, TMI_TR_P)  X(LANE,    "lane",    builtin, TMI_TR_P) \
    X(GROUP,    "group",   builtin, TMI_TR_P)  X(PID,     "program", builtin3, TMI_TR_P) \
    X(NPROG,    "programs", builtin3, TMI_TR_P) X(LOOPVAR, "",       loopvar, TMI_TR_P) \
    X(IADD,     "+",       infix,   TMI_TR_PVW) X(ISUB,   "-",       infix,   TMI_TR_PV) \
    X(IMUL,     "*",       infix,   TMI_TR_PVW) X(AND,    "&",       infix,   TMI_TR_PVW) \
    X(OR,       "|",       infix,   TMI_TR_PVW) X(XOR,    "^",       infix,   TMI_TR_PVW) \
    X(SHL,      "<<",      infix,   TMI_TR_PV) X(SSHR,    ">>",      infix,   TMI_TR_PV) \
    X(USHR,     ">>",      infix,   TMI_TR_PV) X(SDIV,    "/",       infix,   TMI_TR_PVS) \
    X(UDIV,     "/",       infix,   TMI_TR_PVS) X(SREM,   "%",       infix,   TMI_TR_PVS) \
    X(UREM,     "%",       infix,   TMI_TR_PVS) X(NOT,    "!",       prefix,  TMI_TR_PV) \
    X(GSDIV,    "div_trunc", helper, TMI_TR_P | TMI_TR_SLOW) X(GUDIV, "div_floor", helper, TMI_TR_P | TMI_TR_SLOW) \
    X(GSREM,    "rem_trunc", helper, TMI_TR_P | TMI_TR_SLOW) X(GUREM, "rem_floor", helper, TMI_TR_P | TMI_TR_SLOW) \
    X(SMAX,     "max",     call,    TMI_TR_PVW) X(SMIN,   "min",     call,    TMI_TR_PVW) \
    X(UMAX,     "max",     call,    TMI_TR_PVW) X(UMIN,   "min",     call,    TMI_TR_PVW) \
    X(IABS,     "abs",     call,    TMI_TR_PV) X(CLZ,     "clz",     call,    TMI_TR_PV) \
    X(CTZ,      "ctz",     call,    TMI_TR_PV) X(POPC,    "popcount", call,   TMI_TR_PV) \
    X(UMULHI,   "mulhi",   call,    TMI_TR_PVW) X(SMULHI,  "mulhi",   call,    TMI_TR_PVW) \
    X(FADD,     "+",       infix,   TMI_TR_PVW) X(FSUB,   "-",       infix,   TMI_TR_PV) \
    X(FMUL,     "*",       infix,   TMI_TR_PVW) X(FDIV,   "/",       infix,   TMI_TR_PVS) \
    X(FREM,     "fmod",    call,    TMI_TR_PVS) X(FNEG,   "-",       prefix,  TMI_TR_PV) \
    X(FMAXN,    "max",     call,    TMI_TR_PVW) X(FMINN,  "min",     call,    TMI_TR_PVW) \
    X(FMAX,     "max_nan", helper,  TMI_TR_P | TMI_TR_SWAPS) X(FMIN, "min_nan", helper, TMI_TR_P | TMI_TR_SWAPS) \
    X(FMA,      "fma",     call,    TMI_TR_PV) X(FABS,    "abs",     call,    TMI_TR_PV) \
    X(SQRT,     "sqrt",    call,    TMI_TR_PVS) X(PSQRT,  "precise::sqrt", call, TMI_TR_PVS) \
    X(RSQRT,    "rsqrt",   call,    TMI_TR_PVS) X(EXP,    "exp",     call,    TMI_TR_PVS) \
    X(EXP2,     "exp2",    call,    TMI_TR_PVS) X(EXP10,  "exp10",   call,    TMI_TR_PVS) \
    X(LOG,      "log",     call,    TMI_TR_PVS) X(LOG2,   "log2",    call,    TMI_TR_PVS) \
    X(LOG10,    "log10",   call,    TMI_TR_PVS) X(SIN,    "sin",     call,    TMI_TR_PVS) \
    X(COS,      "cos",     call,    TMI_TR_PVS) X(TAN,    "tan",     call,    TMI_TR_PVS) \
    X(ASIN,     "asin",    call,    TMI_TR_PVS) X(ACOS,   "acos",    call,    TMI_TR_PVS) \
    X(ATAN,     "atan",    call,    TMI_TR_PVS) X(SINH,   "sinh",    call,    TMI_TR_PVS) \
    X(COSH,     "cosh",    call,    TMI_TR_PVS) X(TANH,   "tanh",    call,    TMI_TR_PVS) \
    X(ASINH,    "asinh",   call,    TMI_TR_PVS) X(ACOSH,  "acosh",   call,    TMI_TR_PVS) \
    X(ATANH,    "atanh",   call,    TMI_TR_PVS) X(POW,    "pow",     call,    TMI_TR_PVS) \
    X(ATAN2,    "atan2",   call,    TMI_TR_PVS) X(COPYSIGN, "copysign", call, TMI_TR_PV) \
    X(FLOOR,    "floor",   call,    TMI_TR_PV) X(CEIL,    "ceil",    call,    TMI_TR_PV) \
    X(FTRUNC,   "trunc",   call,    TMI_TR_PV) X(ROUND,   "round",   call,    TMI_TR_PV) \
    X(RINT,     "rint",    call,    TMI_TR_PV) X(ISNAN,   "isnan",   call,    TMI_TR_PV) \
    X(ISINF,    "isinf",   call,    TMI_TR_PV) \
    X(ERF,      "erf_f32",   helper, TMI_TR_P | TMI_TR_SLOW) X(ERFC, "erfc_f32", helper, TMI_TR_P | TMI_TR_SLOW) \
    X(EXPM1,    "expm1_f32", helper, TMI_TR_P | TMI_TR_SLOW) X(LOG1P, "log1p_f32", helper, TMI_TR_P | TMI_TR_SLOW) \
    X(CBRT,     "cbrt_f32",  helper, TMI_TR_P | TMI_TR_SLOW) \
    X(ICMP,     "",        compare, TMI_TR_PV) X(FCMP,    "",        compare, TMI_TR_PV) \
    X(SELECT,   "?",       select,  TMI_TR_PV) X(SEXT,    "",        cast,    TMI_TR_PV) \
    X(ZEXT,     "",        cast,    TMI_TR_PV) X(TRUNC,   "",        cast,    TMI_TR_PV) \
    X(FCONV,    "",        cast,    TMI_TR_PV) X(FTOF_RTZ, "",       helper,  TMI_TR_P) \
    X(S2F,      "",        cast,    TMI_TR_PV) X(U2F,     "",        cast,    TMI_TR_PV) \
    X(F2S,      "",        helper,  TMI_TR_P)  X(F2U,     "",        helper,  TMI_TR_P) \
    X(BITCAST,  "as_type", bitcast, TMI_TR_PV) X(PADD,    "+",       padd,    TMI_TR_P) \
    X(PCAST,    "",        pcast,   TMI_TR_P)  X(P2I,     "",        p2i,     TMI_TR_P) \
    X(I2P,      "",        i2p,     TMI_TR_P)  X(HELP,    "",        userfn,  TMI_TR_P | TMI_TR_SLOW) \
    X(VMAKE,    "",        vmake,   TMI_TR_P)  X(VGET,    "",        vget,    TMI_TR_P) \
    X(LDG,      "",        ldg,     TMI_TR_READ) X(STG,   "",        stg,     TMI_TR_STMT) \
    X(LDA,      "",        lda,     TMI_TR_READ) X(STA,   "",        sta,     TMI_TR_STMT) \
    X(LDT,      "",        lda,     TMI_TR_READ) X(STT,   "",        sta,     TMI_TR_STMT) \
    X(LDC,      "",        lda,     TMI_TR_P) \
    X(SHUF,     "simd_shuffle", shuffle, TMI_TR_LANE) X(SHUFX, "simd_shuffle_xor", shuffle, TMI_TR_LANE) \
    X(SHUFUP,   "simd_shuffle_up", shuffle, TMI_TR_LANE) \
    X(SIMD,     "",        simd,    TMI_TR_LANE) X(BALLOT, "",       ballot,  TMI_TR_LANE) \
    X(FLOAD,    "simdgroup_load", fload, TMI_TR_STMT) X(FSTORE, "simdgroup_store", fstore, TMI_TR_STMT) \
    X(FMMA,     "simdgroup_multiply_accumulate", fmma, TMI_TR_STMT) X(FFILL, "", ffill, TMI_TR_STMT) \
    X(DECL,     "",        decl,    TMI_TR_STMT) X(FOR,    "",       for_,    TMI_TR_STMT) \
    X(LOOP,     "",        loop,    TMI_TR_STMT) X(WHILE,  "",       while_,  TMI_TR_STMT) \
    X(IF,       "",        if_,     TMI_TR_STMT) X(BREAK,  "",       break_,  TMI_TR_STMT) \
    X(RETURN,   "",        return_, TMI_TR_STMT) X(BARRIER, "",      barrier, TMI_TR_STMT) \
    X(RMW,      "",        rmw,     TMI_TR_STMT) X(ADDT,   "",       addt,    TMI_TR_STMT)
/* clang-format on */

typedef enum tmi_tf_op {
    TMI_TF_NONE,
#define X(id, text, form, traits) TMI_TF_##id,
    TMI_TFS(X)
#undef X
    TMI_TF_COUNT
} tmi_tf_op;

typedef struct tmi_tf_row {
    const char *text;
    uint8_t     traits;
} tmi_tf_row;

static const tmi_tf_row tmi_tfs[TMI_TF_COUNT] = {
    {"", 0},
#define X(id, text, form, traits) {text, traits},
    TMI_TFS(X)
#undef X
};

/* One instruction. What a, b, c, d mean:
 *   CONST    a, b: low and high 32 bits of the value        PARAM  a: function parameter
 *   PID      a: axis            LOOPVAR  a: the FOR or LOOP  ICMP, FCMP  c: predicate
 *   VMAKE    a: first of b ids in thr->list                  VGET   a: vector, b: element (value)
 *   LDG      a: pointer, b: mask or 0, c: other or 0, d: flags      STG  a: pointer, b: value, c: mask or 0, d: flags
 *   LDA LDT LDC  a: array, b: index, c: element (value) or 0, d: phase   STA STT  the same with the value in d2
 *   SHUF     a: value, b: lane or mask                       SIMD   a: value, c: which (tmi_simd)
 *   FLOAD    a: fragment array, b: its index, c: threadgroup array, d: offset; pitch, transpose in e, f
 *   FMMA     a: accumulator array, b: index, c: array of A, d: index, e: array of B, f: index
 *   FOR      c: count, d: body   LOOP  a: from, b: to, c: step, d: body   WHILE  d: body
 *   IF       a: condition, c: then, d: else or 0             DECL   a: array
 *   HELP     a: first of b operands in list, c: function (row of >>library, then of externs)
 *   ADDT     atomic: a: array, b: index, c: addend
 *   RMW      atomic: a: pointer, b: value, c: mask or 0, d: kind, e: order, f: what it is compared with (cas) */
typedef struct tmi_ins {
    uint16_t op;
    uint8_t  wraps; /* integers: the exact result may not fit; computed in unsigned */
    uint8_t  flags;
    tmi_tty  type;
    uint32_t a, b, c, d, e, f;
    uint32_t blk, prev, next;
    uint32_t name;  /* string: what the source calls it */
    uint32_t src;   /* op of the tile IR that it comes from */
    int64_t  lo, hi; /* integers: range, read as signed */
} tmi_ins;

enum { TMI_INS_VOLATILE = 1, TMI_INS_NAMED = 2, TMI_INS_NOWRAP = 4 };

typedef struct tmi_blk {
    uint32_t owner, parent; /* the FOR, LOOP, WHILE or IF that it is the body of; the block around */
    uint32_t first, last;
    uint16_t depth;
    uint8_t  open;          /* still being filled */
    uint8_t  is_if;
} tmi_blk;

typedef enum tmi_space { TMI_AS_PRIVATE, TMI_AS_GROUP, TMI_AS_FRAG, TMI_AS_TABLE } tmi_space;

typedef struct tmi_arr {
    uint8_t  space;
    uint8_t  shown;  /* printed under its own name (not inside a shared arena) */
    uint8_t  is_atomic; /* threadgroup: counters that threads add to at the same time */
    tmi_tty  type;   /* of one element; frags: of the matrix */
    uint32_t count;  /* elements; frags: 8 by 8 matrices */
    uint32_t name;   /* string */
    uint32_t at;     /* threadgroup: byte offset once allocated */
    uint32_t first, last; /* threadgroup: first and last access, by order */
    uint32_t words;  /* tables: first word in module->words */
    uint32_t decl;   /* DECL instruction */
} tmi_arr;

typedef struct tmi_thr {
    tmi_job    *job;
    tmi_module *m;
    tmi_vec     ins, blk, arr;
    tmi_vec     list;  /* uint32_t */
    tmi_hash    cse;
    uint32_t    cur;   /* block being filled */
    uint32_t    src;   /* op of the tile IR being lowered */
    uint32_t    threads;
    uint32_t    pins;  /* counts barriers: reads are not shared across one */
} tmi_thr;

#define TMI_INS(t, i) TMI_AT(&(t)->ins, tmi_ins, (i))
#define TMI_BLK(t, i) TMI_AT(&(t)->blk, tmi_blk, (i))
#define TMI_ARR(t, i) TMI_AT(&(t)->arr, tmi_arr, (i))
#define TMI_LST(t, i) (*TMI_AT(&(t)->list, uint32_t, (i)))

static uint32_t tmi_t_block(tmi_thr *t, uint32_t parent, uint32_t owner) {
    uint32_t id = t->blk.n;
    tmi_blk *b = (tmi_blk *)tmi_vec_add(t->job, &t->blk);
    b->parent = parent;
    b->owner = owner;
    b->depth = parent ? (uint16_t)(TMI_BLK(t, parent)->depth + 1) : 0;
    b->open = 1;
    return id;
}

static void tmi_thr_init(tmi_job *job, tmi_module *m, tmi_thr *t) {
    memset(t, 0, sizeof *t);
    t->job = job;
    t->m = m;
    tmi_vec_init(&t->ins, sizeof(tmi_ins), 1);
    tmi_vec_init(&t->blk, sizeof(tmi_blk), 1);
    tmi_vec_init(&t->arr, sizeof(tmi_arr), 1);
    tmi_vec_init(&t->list, sizeof(uint32_t), 1);
    t->cse.scratch = 1;
    (void)tmi_vec_add(job, &t->ins);
    (void)tmi_vec_add(job, &t->blk);
    (void)tmi_vec_add(job, &t->arr);
    (void)tmi_vec_add(job, &t->list);
    t->cur = tmi_t_block(t, 0, 0);
}

/* -- Ranges ----------------------------------------------------------------------------- */

static void tmi_full_range(int kind, int64_t *lo, int64_t *hi) {
    uint32_t bits = tmi_scalar_bits[kind];
    if (kind == TMI_S_BOOL) {
        *lo = 0;
        *hi = 1;
    } else if (bits >= 64) {
        *lo = INT64_MIN;
        *hi = INT64_MAX;
    } else {
        *lo = -((int64_t)1 << (bits - 1));
        *hi = ((int64_t)1 << (bits - 1)) - 1;
    }
}

/* a op b without overflow of 64 bits; 0 when it would. */
static int tmi_add64(int64_t a, int64_t b, int64_t *r) {
    if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b)) return 0;
    *r = a + b;
    return 1;
}

static int tmi_mul64(int64_t a, int64_t b, int64_t *r) {
    if (a == 0 || b == 0) {
        *r = 0;
        return 1;
    }
    if (a == INT64_MIN || b == INT64_MIN) return 0;
    if ((a < 0 ? -a : a) > INT64_MAX / (b < 0 ? -b : b)) return 0;
    *r = a * b;
    return 1;
}

static int64_t tmi_min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t tmi_max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* Exact range of a sum, difference or product; 0 when it leaves 64 bits. */
static int tmi_exact_range(int op, const tmi_ins *a, const tmi_ins *b, int64_t *lo, int64_t *hi) {
    int64_t p[4], i;
    if (op == TMI_TF_IADD) return tmi_add64(a->lo, b->lo, lo) && tmi_add64(a->hi, b->hi, hi);
    if (op == TMI_TF_ISUB)
        return b->lo != INT64_MIN && b->hi != INT64_MIN && tmi_add64(a->lo, -b->hi, lo) && tmi_add64(a->hi, -b->lo, hi);
    if (!tmi_mul64(a->lo, b->lo, &p[0]) || !tmi_mul64(a->lo, b->hi, &p[1]) || !tmi_mul64(a->hi, b->lo, &p[2]) ||
        !tmi_mul64(a->hi, b->hi, &p[3]))
        return 0;
    *lo = *hi = p[0];
    for (i = 1; i < 4; i++) {
        *lo = tmi_min64(*lo, p[i]);
        *hi = tmi_max64(*hi, p[i]);
    }
    return 1;
}

/* Range of a result that folding did not decide; also says whether it may wrap. */
static void tmi_set_range(tmi_thr *t, tmi_ins *n) {
    const tmi_ins *a = TMI_INS(t, n->a), *b = TMI_INS(t, n->b), *c = TMI_INS(t, n->c);
    int64_t        lo, hi, flo, fhi;
    tmi_full_range(n->type.kind, &flo, &fhi);
    n->lo = flo;
    n->hi = fhi;
    switch (n->op) {
    case TMI_TF_IADD:
    case TMI_TF_ISUB:
    case TMI_TF_IMUL:
        n->wraps = !tmi_exact_range(n->op, a, b, &lo, &hi) || lo < flo || hi > fhi;
        if (!n->wraps) n->lo = lo, n->hi = hi;
        break;
    case TMI_TF_SHL:
        n->wraps = 1;
        if (b->lo == b->hi && b->lo >= 0 && b->lo < 31 && a->lo >= 0 && a->hi <= (fhi >> b->lo))
            n->lo = a->lo << b->lo, n->hi = a->hi << b->lo, n->wraps = 0;
        break;
    case TMI_TF_AND:
        if (a->lo >= 0 || b->lo >= 0) n->lo = 0, n->hi = a->lo < 0 ? b->hi : b->lo < 0 ? a->hi : tmi_min64(a->hi, b->hi);
        break;
    case TMI_TF_OR:
    case TMI_TF_XOR:
        if (a->lo >= 0 && b->lo >= 0 && n->type.kind != TMI_S_BOOL)
            n->lo = 0, n->hi = (int64_t)(((uint64_t)2 << tmi_log2((uint64_t)(a->hi | b->hi))) - 1);
        break;
    case TMI_TF_USHR:
    case TMI_TF_SSHR:
        if (a->lo >= 0 && b->lo == b->hi && b->lo >= 0 && b->lo < 63) n->lo = a->lo >> b->lo, n->hi = a->hi >> b->lo;
        break;
    case TMI_TF_UDIV:
    case TMI_TF_SDIV:
        if (a->lo >= 0 && b->lo > 0) n->lo = a->lo / b->hi, n->hi = a->hi / b->lo;
        break;
    case TMI_TF_UREM:
    case TMI_TF_SREM:
        if (a->lo >= 0 && b->lo > 0) n->lo = 0, n->hi = tmi_min64(a->hi, b->hi - 1);
        break;
    case TMI_TF_SMAX: n->lo = tmi_max64(a->lo, b->lo), n->hi = tmi_max64(a->hi, b->hi); break;
    case TMI_TF_SMIN: n->lo = tmi_min64(a->lo, b->lo), n->hi = tmi_min64(a->hi, b->hi); break;
    case TMI_TF_SELECT: n->lo = tmi_min64(b->lo, c->lo), n->hi = tmi_max64(b->hi, c->hi); break;
    case TMI_TF_SEXT: n->lo = a->lo, n->hi = a->hi; break;
    case TMI_TF_ZEXT:
        if (a->lo >= 0) n->lo = a->lo, n->hi = a->hi;
        else n->lo = 0, n->hi = tmi_scalar_bits[a->type.kind] < 63 ? ((int64_t)1 << tmi_scalar_bits[a->type.kind]) - 1 : fhi;
        break;
    case TMI_TF_TRUNC:
        if (a->lo >= flo && a->hi <= fhi) n->lo = a->lo, n->hi = a->hi;
        break;
    case TMI_TF_CLZ: case TMI_TF_CTZ: case TMI_TF_POPC: n->lo = 0, n->hi = tmi_scalar_bits[n->type.kind]; break;
    default: break;
    }
}

/* -- Making instructions --------------------------------------------------------------------- */

static int tmi_ins_is_list(const tmi_ins *n) { /* operands a.. a+b-1 of thr->list */
    return n->op == TMI_TF_VMAKE || n->op == TMI_TF_HELP;
}

static uint32_t tmi_ins_hash_of(const tmi_thr *t, const tmi_ins *n) {
    uint32_t h = tmi_mix(n->op, ((uint32_t)n->type.kind << 16) | ((uint32_t)n->type.width << 8) | n->type.elem), i;
    if (tmi_ins_is_list(n))
        for (i = 0; i < n->b; i++) h = tmi_mix(h, TMI_LST(t, n->a + i));
    else h = tmi_mix(tmi_mix(h, n->a), n->b);
    h = tmi_mix(tmi_mix(h, n->c), n->d);
    return h;
}

static uint32_t tmi_ins_hash(const void *ctx, uint32_t id) {
    return tmi_ins_hash_of((const tmi_thr *)ctx, TMI_INS((const tmi_thr *)ctx, id));
}

static int tmi_ins_same(const tmi_thr *t, const tmi_ins *x, const tmi_ins *y) {
    uint32_t i;
    if (x->op != y->op || memcmp(&x->type, &y->type, sizeof x->type) != 0 || x->b != y->b || x->c != y->c || x->d != y->d || x->flags != y->flags) return 0;
    if (!tmi_ins_is_list(x)) return x->a == y->a;
    for (i = 0; i < x->b; i++)
        if (TMI_LST(t, x->a + i) != TMI_LST(t, y->a + i)) return 0;
    return 1;
}

static void tmi_blk_append(tmi_thr *t, uint32_t blk, uint32_t id) {
    tmi_blk *b = TMI_BLK(t, blk);
    tmi_ins *n = TMI_INS(t, id);
    n->blk = blk;
    n->next = 0;
    n->prev = b->last;
    if (b->last) TMI_INS(t, b->last)->next = id;
    else b->first = id;
    b->last = id;
}

static void tmi_ins_unlink(tmi_thr *t, uint32_t id) {
    tmi_ins *n = TMI_INS(t, id);
    tmi_blk *b = TMI_BLK(t, n->blk);
    if (n->prev) TMI_INS(t, n->prev)->next = n->next;
    else b->first = n->next;
    if (n->next) TMI_INS(t, n->next)->prev = n->prev;
    else b->last = n->prev;
    n->prev = n->next = n->blk = 0;
}

static void tmi_ins_before(tmi_thr *t, uint32_t before, uint32_t id) {
    tmi_ins *n = TMI_INS(t, id), *b = TMI_INS(t, before);
    n->blk = b->blk;
    n->next = before;
    n->prev = b->prev;
    if (b->prev) TMI_INS(t, b->prev)->next = id;
    else TMI_BLK(t, b->blk)->first = id;
    b->prev = id;
}

/* The block that a pure value may move out to: as far as its operands allow; a slow one stays in
 * the `if` that asked for it. */
static uint32_t tmi_t_home(tmi_thr *t, const tmi_ins *n, const uint32_t *operands, uint32_t count) {
    uint32_t deepest = 1, i, b;
    for (i = 0; i < count; i++) {
        uint32_t blk = operands[i] ? TMI_INS(t, operands[i])->blk : 0;
        if (blk && TMI_BLK(t, blk)->depth > TMI_BLK(t, deepest)->depth) deepest = blk;
    }
    if (!(tmi_tfs[n->op].traits & TMI_TR_SLOW)) return deepest;
    for (b = t->cur; b && b != deepest; b = TMI_BLK(t, b)->parent)
        if (TMI_BLK(t, b)->is_if) return b;
    return deepest;
}

/* Put an instruction at the end of `home`, which is open: before the statement that is being filled. */
static void tmi_t_place(tmi_thr *t, uint32_t home, uint32_t id) {
    uint32_t b = t->cur;
    if (home == b) {
        tmi_blk_append(t, home, id);
        return;
    }
    while (TMI_BLK(t, b)->parent != home) b = TMI_BLK(t, b)->parent;
    tmi_ins_before(t, TMI_BLK(t, b)->owner, id);
}

static uint32_t tmi_t_raw(tmi_thr *t, const tmi_ins *n) {
    uint32_t id = t->ins.n;
    tmi_ins *made = (tmi_ins *)tmi_vec_add(t->job, &t->ins);
    *made = *n;
    made->src = t->src;
    return id;
}

/* A statement or a read, at the end of the current block. */
static uint32_t tmi_t_pin(tmi_thr *t, tmi_ins *n) {
    uint32_t id;
    if (tmi_s_is_int(n->type.kind) && n->lo == 0 && n->hi == 0) tmi_full_range(n->type.kind, &n->lo, &n->hi);
    id = tmi_t_raw(t, n);
    tmi_blk_append(t, t->cur, id);
    return id;
}

/* A pure value: an equal one that reaches here, or a new one as far out as its operands allow. */
static uint32_t tmi_t_pure(tmi_thr *t, tmi_ins *n, const uint32_t *operands, uint32_t count) {
    uint32_t h = tmi_ins_hash_of(t, n), k, id;
    tmi_hash_room(t->job, &t->cse, tmi_ins_hash, t);
    for (k = h & (t->cse.cap - 1); (id = t->cse.slot[k]) != 0; k = (k + 1) & (t->cse.cap - 1)) {
        const tmi_ins *have = TMI_INS(t, id);
        if (tmi_ins_same(t, have, n) && have->blk && TMI_BLK(t, have->blk)->open) return id;
    }
    if (tmi_s_is_int(n->type.kind) && n->op != TMI_TF_CONST && n->lo == 0 && n->hi == 0) tmi_set_range(t, n);
    id = tmi_t_raw(t, n);
    t->cse.slot[k] = id;
    t->cse.n++;
    tmi_t_place(t, tmi_t_home(t, n, operands, count), id);
    return id;
}

/* What the source calls a value: the first name stays. */
static void tmi_t_name(tmi_thr *t, uint32_t id, uint32_t name) {
    tmi_ins *n = TMI_INS(t, id);
    if (name && !n->name && n->op != TMI_TF_CONST && n->op != TMI_TF_LOOPVAR) n->name = name;
}

static void tmi_ins_zero(tmi_ins *n, int op, tmi_tty type) {
    memset(n, 0, sizeof *n);
    n->op = (uint16_t)op;
    n->type = type;
}

/* -- Constants ------------------------------------------------------------------------------------ */

static uint32_t tmi_t_const(tmi_thr *t, tmi_tty type, uint64_t bits) {
    tmi_ins n;
    type.width = 1;
    tmi_ins_zero(&n, TMI_TF_CONST, type);
    if (type.kind == TMI_S_BOOL) bits &= 1;
    else if (tmi_s_is_int(type.kind)) bits = (uint64_t)tmi_sext(bits, tmi_scalar_bits[type.kind]);
    n.a = (uint32_t)bits;
    n.b = (uint32_t)(bits >> 32);
    n.lo = n.hi = (int64_t)bits;
    return tmi_t_pure(t, &n, NULL, 0);
}

static uint32_t tmi_t_int(tmi_thr *t, int kind, int64_t v) {
    return tmi_t_const(t, tmi_tty_of(kind, 1), (uint64_t)v);
}

static uint32_t tmi_t_u32(tmi_thr *t, uint32_t v) {
    return tmi_t_int(t, TMI_S_I32, (int32_t)v);
}

static uint32_t tmi_t_bool(tmi_thr *t, int v) {
    return tmi_t_int(t, TMI_S_BOOL, v != 0);
}

static int tmi_t_is_const(const tmi_thr *t, uint32_t id, int64_t *v) {
    const tmi_ins *n = TMI_INS(t, id);
    if (n->op != TMI_TF_CONST || !tmi_s_is_int(n->type.kind)) return 0;
    *v = (int64_t)((uint64_t)n->b << 32 | n->a);
    return 1;
}

static uint64_t tmi_t_bits(const tmi_thr *t, uint32_t id) {
    const tmi_ins *n = TMI_INS(t, id);
    return (uint64_t)n->b << 32 | n->a;
}

static tmi_tty tmi_t_type(const tmi_thr *t, uint32_t id) {
    return TMI_INS(t, id)->type;
}

/* A zero of any type but a pointer. */
static uint32_t tmi_t_zero(tmi_thr *t, tmi_tty type) {
    return tmi_t_const(t, type, 0);
}

/* -- Folding ----------------------------------------------------------------------------------------- */

/* Value of an integer operation on constants, as Triton defines it. */
static int tmi_fold_ints(int op, int kind, int64_t x, int64_t y, int64_t *r) {
    uint32_t bits = tmi_scalar_bits[kind];
    uint64_t a = tmi_zext((uint64_t)x, bits), b = tmi_zext((uint64_t)y, bits);
    switch (op) {
    case TMI_TF_IADD: *r = (int64_t)(a + b); break;
    case TMI_TF_ISUB: *r = (int64_t)(a - b); break;
    case TMI_TF_IMUL: *r = (int64_t)(a * b); break;
    case TMI_TF_AND: *r = (int64_t)(a & b); break;
    case TMI_TF_OR: *r = (int64_t)(a | b); break;
    case TMI_TF_XOR: *r = (int64_t)(a ^ b); break;
    case TMI_TF_SHL: *r = b >= bits ? 0 : (int64_t)(a << b); break;
    case TMI_TF_USHR: *r = b >= bits ? 0 : (int64_t)(a >> b); break;
    case TMI_TF_SSHR: *r = b >= bits ? (x < 0 ? -1 : 0) : x >= 0 ? x >> b : ~(~x >> b); break;
    case TMI_TF_UDIV: case TMI_TF_GUDIV: if (!b) return 0; *r = (int64_t)(a / b); break;
    case TMI_TF_UREM: case TMI_TF_GUREM: if (!b) return 0; *r = (int64_t)(a % b); break;
    case TMI_TF_SDIV: case TMI_TF_GSDIV: if (!y || y == -1) return 0; *r = x / y; break;
    case TMI_TF_SREM: case TMI_TF_GSREM: if (!y || y == -1) return 0; *r = x % y; break;
    case TMI_TF_SMAX: *r = tmi_max64(x, y); break;
    case TMI_TF_SMIN: *r = tmi_min64(x, y); break;
    case TMI_TF_UMAX: *r = a > b ? x : y; break;
    case TMI_TF_UMIN: *r = a < b ? x : y; break;
    default: return 0;
    }
    *r = kind == TMI_S_BOOL ? *r & 1 : tmi_sext((uint64_t)*r, bits);
    return 1;
}

/* x op c and c op x that need no instruction; 0: none of them. Elements of vectors follow the same rules. */
static uint32_t tmi_fold_identity(tmi_thr *t, int op, uint32_t a, uint32_t b) {
    int64_t  c;
    uint32_t zero;
    int      is_bool = tmi_t_type(t, a).kind == TMI_S_BOOL;
    int64_t  ones = is_bool ? 1 : -1;
    if (op == TMI_TF_UMULHI && tmi_t_is_const(t, b, &c) && c == 0) return b;
    if (a == b && (op == TMI_TF_AND || op == TMI_TF_OR || (op >= TMI_TF_SMAX && op <= TMI_TF_UMIN))) return a;
    if (!tmi_t_is_const(t, b, &c)) return 0;
    zero = b;
    switch (op) {
    case TMI_TF_IADD: case TMI_TF_ISUB: case TMI_TF_OR: case TMI_TF_XOR:
    case TMI_TF_SHL: case TMI_TF_SSHR: case TMI_TF_USHR:
        if (c == 0) return a;
        if (op == TMI_TF_OR && c == ones) return b;
        break;
    case TMI_TF_IMUL:
        if (c == 1) return a;
        if (c == 0) return zero;
        break;
    case TMI_TF_AND:
        if (c == ones) return a;
        if (c == 0) return zero;
        break;
    case TMI_TF_SDIV: case TMI_TF_UDIV: case TMI_TF_GSDIV: case TMI_TF_GUDIV:
        if (c == 1) return a;
        break;
    case TMI_TF_SREM: case TMI_TF_UREM: case TMI_TF_GSREM: case TMI_TF_GUREM:
        if (c == 1) return tmi_t_zero(t, tmi_t_type(t, b));
        break;
    default: break;
    }
    return 0;
}

static uint32_t tmi_t_depth(const tmi_thr *t, uint32_t id) {
    return TMI_BLK(t, TMI_INS(t, id)->blk)->depth;
}

static uint32_t tmi_t_bin(tmi_thr *t, int op, uint32_t a, uint32_t b);

/* (x + c1) + c2 and x + (y + z) where x and y stand further out than z: sums of 32-bit integers wrap,
 * so they may be regrouped, and what does not change then leaves the loop as one value. */
static uint32_t tmi_fold_sum(tmi_thr *t, uint32_t a, uint32_t b) {
    const tmi_ins *x = TMI_INS(t, a), *y = TMI_INS(t, b);
    int64_t        c1, c2;
    if (tmi_t_is_const(t, b, &c2) && x->op == TMI_TF_IADD && tmi_t_is_const(t, x->b, &c1))
        return tmi_t_bin(t, TMI_TF_IADD, x->a, tmi_t_const(t, x->type, (uint64_t)c1 + (uint64_t)c2));
    if (y->op == TMI_TF_IADD && y->type.width == x->type.width) {
        uint32_t p = y->a, q = y->b, dx = tmi_t_depth(t, a);
        uint32_t dp = tmi_t_depth(t, p), dq = tmi_t_depth(t, q), d = tmi_t_depth(t, b);
        if (dx < d && dp < dq) return tmi_t_bin(t, TMI_TF_IADD, tmi_t_bin(t, TMI_TF_IADD, a, p), q);
        if (dx < d && dq < dp) return tmi_t_bin(t, TMI_TF_IADD, tmi_t_bin(t, TMI_TF_IADD, a, q), p);
    }
    return 0;
}

/* Signed division and remainder of what is not negative are unsigned ones; a zero divisor, and the
 * smallest integer by -1, are guarded where they cannot be excluded: Triton leaves the value open, but
 * masked-off lanes do divide by what they happen to hold. */
static int tmi_division_kind(tmi_thr *t, int op, uint32_t a, uint32_t b) {
    const tmi_ins *x = TMI_INS(t, a), *y = TMI_INS(t, b);
    int            zero = y->lo <= 0 && y->hi >= 0, minus = y->lo <= -1 && y->hi >= -1;
    int64_t        lo, hi;
    tmi_full_range(x->type.kind, &lo, &hi);
    if (op == TMI_TF_SDIV && x->lo >= 0 && y->lo > 0) return TMI_TF_UDIV;
    if (op == TMI_TF_SREM && x->lo >= 0 && y->lo > 0) return TMI_TF_UREM;
    if (op == TMI_TF_SDIV) return zero || (minus && x->lo == lo) ? TMI_TF_GSDIV : TMI_TF_SDIV;
    if (op == TMI_TF_SREM) return zero || minus || x->lo < 0 || y->lo < 0 ? TMI_TF_GSREM : TMI_TF_SREM;
    if (op == TMI_TF_UDIV && zero) return TMI_TF_GUDIV;
    if (op == TMI_TF_UREM && zero) return TMI_TF_GUREM;
    return op;
}

static tmi_tty tmi_wider(const tmi_thr *t, uint32_t a, uint32_t b) {
    tmi_tty x = tmi_t_type(t, a), y = tmi_t_type(t, b);
    return y.width > x.width ? y : x;
}

/* A binary operation on integers or floats of one kind; a scalar meets a vector element by element. */
static uint32_t tmi_t_bin(tmi_thr *t, int op, uint32_t a, uint32_t b) {
    tmi_ins  n;
    int64_t  x, y, r;
    uint32_t k, ops[2];
    if ((tmi_tfs[op].traits & TMI_TR_SWAPS) && tmi_t_is_const(t, a, &x) && !tmi_t_is_const(t, b, &y)) k = a, a = b, b = k;
    if (tmi_t_is_const(t, a, &x) && tmi_t_is_const(t, b, &y) && tmi_fold_ints(op, tmi_t_type(t, a).kind, x, y, &r))
        return tmi_t_int(t, tmi_t_type(t, a).kind, r);
    if (tmi_s_is_int(tmi_t_type(t, a).kind)) {
        k = tmi_fold_identity(t, op, a, b);
        if (k) return k;
        if (op == TMI_TF_IADD && (k = tmi_fold_sum(t, a, b)) != 0) return k;
        if (op == TMI_TF_IADD && (k = tmi_fold_sum(t, b, a)) != 0) return k;
        if (op == TMI_TF_ISUB && tmi_t_is_const(t, b, &y) && tmi_t_type(t, a).kind != TMI_S_BOOL)
            return tmi_t_bin(t, TMI_TF_IADD, a, tmi_t_const(t, tmi_t_type(t, a), 0 - (uint64_t)y));
        if (op == TMI_TF_SDIV || op == TMI_TF_SREM || op == TMI_TF_UDIV || op == TMI_TF_UREM) {
            op = tmi_division_kind(t, op, a, b);
            if (tmi_wider(t, a, b).width > 1 && !(tmi_tfs[op].traits & TMI_TR_VEC)) op = op == TMI_TF_GSDIV ? TMI_TF_GSDIV : op;
        }
    }
    tmi_ins_zero(&n, op, tmi_wider(t, a, b));
    n.a = ops[0] = a;
    n.b = ops[1] = b;
    return tmi_t_pure(t, &n, ops, 2);
}

static uint32_t tmi_t_un(tmi_thr *t, int op, tmi_tty type, uint32_t a) {
    tmi_ins n;
    type.width = tmi_t_type(t, a).width;
    if (op == TMI_TF_NOT && TMI_INS(t, a)->op == TMI_TF_NOT) return TMI_INS(t, a)->a;
    if (op == TMI_TF_NOT && TMI_INS(t, a)->op == TMI_TF_CONST) return tmi_t_bool(t, !tmi_t_bits(t, a));
    tmi_ins_zero(&n, op, type);
    n.a = a;
    return tmi_t_pure(t, &n, &a, 1);
}

static uint32_t tmi_t_tern(tmi_thr *t, int op, tmi_tty type, uint32_t a, uint32_t b, uint32_t c) {
    tmi_ins  n;
    uint32_t ops[3];
    tmi_ins_zero(&n, op, type);
    n.a = ops[0] = a;
    n.b = ops[1] = b;
    n.c = ops[2] = c;
    return tmi_t_pure(t, &n, ops, 3);
}

static uint32_t tmi_t_add(tmi_thr *t, uint32_t a, uint32_t b) { return tmi_t_bin(t, TMI_TF_IADD, a, b); }
static uint32_t tmi_t_mul(tmi_thr *t, uint32_t a, uint32_t b) { return tmi_t_bin(t, TMI_TF_IMUL, a, b); }
static uint32_t tmi_t_and(tmi_thr *t, uint32_t a, uint32_t b) { return tmi_t_bin(t, TMI_TF_AND, a, b); }

static int tmi_icmp_unsigned(uint32_t p) { /* ult ule ugt uge */
    return p >= 6;
}

/* Decide a comparison by ranges: 1, 0, or -1 for open. */
static int tmi_icmp_known(const tmi_ins *a, const tmi_ins *b, uint32_t p) {
    if (tmi_icmp_unsigned(p)) {
        if (a->lo < 0 || b->lo < 0) return -1;
        p -= 4;
    }
    switch (p) {
    case 0: return a->lo == a->hi && b->lo == b->hi && a->lo == b->lo ? 1 : a->hi < b->lo || a->lo > b->hi ? 0 : -1;
    case 1: return a->lo == a->hi && b->lo == b->hi && a->lo == b->lo ? 0 : a->hi < b->lo || a->lo > b->hi ? 1 : -1;
    case 2: return a->hi < b->lo ? 1 : a->lo >= b->hi ? 0 : -1;
    case 3: return a->hi <= b->lo ? 1 : a->lo > b->hi ? 0 : -1;
    case 4: return a->lo > b->hi ? 1 : a->hi <= b->lo ? 0 : -1;
    default: return a->lo >= b->hi ? 1 : a->hi < b->lo ? 0 : -1;
    }
}

/* p: eq ne slt sle sgt sge ult ule ugt uge */
static uint32_t tmi_t_icmp(tmi_thr *t, uint32_t p, uint32_t a, uint32_t b) {
    tmi_ins  n;
    uint32_t ops[2];
    int      known;
    int64_t  c;
    if (tmi_t_type(t, a).kind == TMI_S_BOOL) {
        if (p == 0) return tmi_t_un(t, TMI_TF_NOT, tmi_t_type(t, a), tmi_t_bin(t, TMI_TF_XOR, a, b));
        if (p == 1) return tmi_t_bin(t, TMI_TF_XOR, a, b);
    }
    known = tmi_t_type(t, a).kind == TMI_S_BOOL ? -1 : tmi_icmp_known(TMI_INS(t, a), TMI_INS(t, b), p);
    if (known >= 0) return tmi_t_bool(t, known);
    /* x + c1 < c2 and the like, without a wrap: compare x with c2 - c1 */
    if (tmi_t_is_const(t, b, &c) && TMI_INS(t, a)->op == TMI_TF_IADD && !TMI_INS(t, a)->wraps) {
        int64_t c1, d, lo, hi;
        tmi_full_range(tmi_t_type(t, a).kind, &lo, &hi);
        if (!tmi_icmp_unsigned(p) && tmi_t_is_const(t, TMI_INS(t, a)->b, &c1) && c1 != INT64_MIN && tmi_add64(c, -c1, &d) && d >= lo && d <= hi)
            return tmi_t_icmp(t, p, TMI_INS(t, a)->a, tmi_t_int(t, tmi_t_type(t, a).kind, d));
    }
    tmi_ins_zero(&n, TMI_TF_ICMP, tmi_tty_of(TMI_S_BOOL, tmi_wider(t, a, b).width));
    n.a = ops[0] = a;
    n.b = ops[1] = b;
    n.c = p;
    return tmi_t_pure(t, &n, ops, 2);
}

static uint32_t tmi_t_fcmp(tmi_thr *t, uint32_t p, uint32_t a, uint32_t b) {
    tmi_ins  n;
    uint32_t ops[2];
    if (p == 0 || p == 15) return tmi_t_bool(t, p == 15);
    tmi_ins_zero(&n, TMI_TF_FCMP, tmi_tty_of(TMI_S_BOOL, tmi_wider(t, a, b).width));
    n.a = ops[0] = a;
    n.b = ops[1] = b;
    n.c = p;
    return tmi_t_pure(t, &n, ops, 2);
}

static uint32_t tmi_t_select(tmi_thr *t, uint32_t c, uint32_t x, uint32_t y) {
    tmi_tty type = tmi_wider(t, x, y);
    int64_t k;
    if (x == y) return x;
    if (tmi_t_is_const(t, c, &k)) return k ? x : y;
    if (TMI_INS(t, c)->op == TMI_TF_NOT) return tmi_t_select(t, TMI_INS(t, c)->a, y, x);
    if (type.kind == TMI_S_BOOL) { /* true and false sides are logic */
        if (tmi_t_is_const(t, x, &k)) return k ? tmi_t_bin(t, TMI_TF_OR, c, y) : tmi_t_and(t, tmi_t_un(t, TMI_TF_NOT, tmi_t_type(t, c), c), y);
        if (tmi_t_is_const(t, y, &k) && !k) return tmi_t_and(t, c, x);
    }
    if (tmi_t_type(t, c).width > type.width) type.width = tmi_t_type(t, c).width;
    return tmi_t_tern(t, TMI_TF_SELECT, type, c, x, y);
}

/* A cast between integers: to the wider by sign or zeros, to the narrower by cutting. */
static uint32_t tmi_t_intcast(tmi_thr *t, uint32_t a, int kind, int sign) {
    tmi_tty from = tmi_t_type(t, a), to = tmi_tty_of(kind, from.width);
    int64_t c;
    uint32_t fb = tmi_scalar_bits[from.kind], tb = tmi_scalar_bits[kind];
    if (fb == tb) return a;
    if (tmi_t_is_const(t, a, &c)) return tmi_t_int(t, kind, fb == 1 ? (sign ? -(c & 1) : (c & 1)) : fb < tb && !sign ? (int64_t)tmi_zext((uint64_t)c, fb) : c);
    if (tb == 1) return tmi_t_icmp(t, 1, tmi_t_and(t, a, tmi_t_int(t, from.kind, 1)), tmi_t_int(t, from.kind, 0));
    if (fb == 1) {
        uint32_t one = tmi_t_int(t, kind, sign ? -1 : 1), zero = tmi_t_int(t, kind, 0);
        if (!sign) return tmi_t_un(t, TMI_TF_ZEXT, to, a);
        return tmi_t_select(t, a, one, zero);
    }
    return tmi_t_un(t, fb > tb ? TMI_TF_TRUNC : sign && TMI_INS(t, a)->lo < 0 ? TMI_TF_SEXT : sign ? TMI_TF_SEXT : TMI_TF_ZEXT, to, a);
}

/* -- Vectors ---------------------------------------------------------------------------------------------- */

static uint32_t tmi_t_vmake(tmi_thr *t, const uint32_t *v, uint32_t width) {
    tmi_ins  n;
    uint32_t i, first, id;
    for (i = 1; i < width && v[i] == v[0]; i++) {}
    if (i == width) return v[0]; /* the same everywhere: a scalar stands for it */
    for (i = 0; i < width; i++) /* the elements of one vector in order: that vector */
        if (TMI_INS(t, v[i])->op != TMI_TF_VGET || TMI_INS(t, v[i])->a != TMI_INS(t, v[0])->a ||
            TMI_INS(t, TMI_INS(t, v[i])->b)->a != i)
            break;
    if (i == width && tmi_t_type(t, TMI_INS(t, v[0])->a).width == width) return TMI_INS(t, v[0])->a;
    first = t->list.n;
    for (i = 0; i < width; i++) *(uint32_t *)tmi_vec_add(t->job, &t->list) = v[i];
    tmi_ins_zero(&n, TMI_TF_VMAKE, tmi_tty_of(tmi_t_type(t, v[0]).kind, (int)width));
    n.type.elem = tmi_t_type(t, v[0]).elem;
    n.a = first;
    n.b = width;
    if (tmi_s_is_int(n.type.kind)) { /* of all elements */
        n.lo = TMI_INS(t, v[0])->lo;
        n.hi = TMI_INS(t, v[0])->hi;
        for (i = 1; i < width; i++) {
            n.lo = tmi_min64(n.lo, TMI_INS(t, v[i])->lo);
            n.hi = tmi_max64(n.hi, TMI_INS(t, v[i])->hi);
        }
    }
    id = tmi_t_pure(t, &n, v, width);
    if (TMI_INS(t, id)->a != first) t->list.n = first; /* there was one already: the list is not needed */
    return id;
}

/* Element i of a vector; of a scalar, that scalar. */
static uint32_t tmi_t_vget(tmi_thr *t, uint32_t v, uint32_t i) {
    tmi_ins        n;
    const tmi_ins *x = TMI_INS(t, v);
    uint32_t       ops[2];
    if (x->type.width == 1) return v;
    if (x->op == TMI_TF_VMAKE) return TMI_LST(t, x->a + i);
    tmi_ins_zero(&n, TMI_TF_VGET, tmi_tty_of(x->type.kind, 1));
    n.type.elem = x->type.elem;
    n.a = ops[0] = v;
    n.b = ops[1] = tmi_t_u32(t, i);
    if (tmi_s_is_int(n.type.kind)) n.lo = TMI_INS(t, v)->lo, n.hi = TMI_INS(t, v)->hi;
    return tmi_t_pure(t, &n, ops, 2);
}

/* -- Leaves --------------------------------------------------------------------------------------------------- */

static uint32_t tmi_t_leaf(tmi_thr *t, int op, int64_t hi) {
    tmi_ins n;
    uint32_t id;
    tmi_ins_zero(&n, op, tmi_tty_of(TMI_S_I32, 1));
    n.hi = hi;
    if (!hi) return tmi_t_u32(t, 0);
    id = tmi_t_pure(t, &n, NULL, 0);
    return id;
}

static uint32_t tmi_t_tid(tmi_thr *t) { return tmi_t_leaf(t, TMI_TF_TID, (int64_t)t->threads - 1); }
static uint32_t tmi_t_lane(tmi_thr *t) { return tmi_t_leaf(t, TMI_TF_LANE, 31); }
static uint32_t tmi_t_group(tmi_thr *t) { return tmi_t_leaf(t, TMI_TF_GROUP, (int64_t)t->threads / 32 - 1); }

/* Program id or number of programs of an axis: Triton counts in i32, so both are below 2^31. */
static uint32_t tmi_t_program(tmi_thr *t, int op, uint32_t axis) {
    tmi_ins n;
    uint32_t id;
    tmi_ins_zero(&n, op, tmi_tty_of(TMI_S_I32, 1));
    n.a = axis;
    n.lo = op == TMI_TF_NPROG;
    n.hi = INT32_MAX - (op == TMI_TF_PID);
    id = tmi_t_pure(t, &n, NULL, 0);
    return id;
}

/* -- Arrays, loops, statements ----------------------------------------------------------------------------------- */

static uint32_t tmi_t_array(tmi_thr *t, tmi_space space, tmi_tty type, uint32_t count, uint32_t name) {
    uint32_t id = t->arr.n;
    tmi_arr *a = (tmi_arr *)tmi_vec_add(t->job, &t->arr);
    tmi_ins  n;
    a->space = (uint8_t)space;
    a->type = type;
    a->count = count;
    a->name = name;
    a->shown = 1;
    if (space == TMI_AS_PRIVATE || space == TMI_AS_FRAG) {
        tmi_ins_zero(&n, TMI_TF_DECL, type);
        n.a = id;
        n.b = 0;
        TMI_ARR(t, id)->decl = tmi_t_pin(t, &n);
    }
    return id;
}

/* array[index], or one element of that vector. `phase` tells writes that belong together apart. */
static uint32_t tmi_t_read(tmi_thr *t, uint32_t arr, uint32_t index, uint32_t element) {
    const tmi_arr *a = TMI_ARR(t, arr);
    tmi_ins        n;
    tmi_ins_zero(&n, a->space == TMI_AS_GROUP ? TMI_TF_LDT : a->space == TMI_AS_TABLE ? TMI_TF_LDC : TMI_TF_LDA, a->type);
    if (element || a->space == TMI_AS_FRAG) n.type.width = 1;
    n.a = arr;
    n.b = index;
    n.c = element;
    if (a->space == TMI_AS_TABLE) {
        uint32_t ops[2];
        ops[0] = index;
        ops[1] = element;
        if (tmi_s_is_int(n.type.kind)) tmi_full_range(n.type.kind, &n.lo, &n.hi);
        return tmi_t_pure(t, &n, ops, 2);
    }
    return tmi_t_pin(t, &n);
}

static void tmi_t_write(tmi_thr *t, uint32_t arr, uint32_t index, uint32_t element, uint32_t value) {
    const tmi_arr *a = TMI_ARR(t, arr);
    tmi_ins        n;
    tmi_ins_zero(&n, a->space == TMI_AS_GROUP ? TMI_TF_STT : TMI_TF_STA, tmi_tty_of(TMI_S_NONE, 1));
    n.a = arr;
    n.b = index;
    n.c = element;
    n.d = value;
    (void)tmi_t_pin(t, &n);
}

/* Open the body of a statement; tmi_t_close ends it. */
static void tmi_t_open(tmi_thr *t, uint32_t owner, int is_if) {
    uint32_t b = tmi_t_block(t, t->cur, owner);
    TMI_BLK(t, b)->is_if = (uint8_t)is_if;
    t->cur = b;
}

static uint32_t tmi_t_close(tmi_thr *t) { /* gives the block just ended */
    uint32_t b = t->cur;
    TMI_BLK(t, b)->open = 0;
    t->cur = TMI_BLK(t, b)->parent;
    return b;
}

static uint32_t tmi_t_loopvar(tmi_thr *t, uint32_t loop, tmi_tty type, int64_t lo, int64_t hi) {
    tmi_ins n;
    tmi_ins_zero(&n, TMI_TF_LOOPVAR, type);
    n.a = loop;
    n.lo = lo;
    n.hi = hi;
    {
        uint32_t id = tmi_t_raw(t, &n);
        tmi_blk_append(t, t->cur, id);
        return id;
    }
}

/* for (uint i = 0; i < count; i++): open, and give i. */
static uint32_t tmi_t_for(tmi_thr *t, uint32_t count) {
    tmi_ins  n;
    uint32_t loop;
    tmi_ins_zero(&n, TMI_TF_FOR, tmi_tty_of(TMI_S_NONE, 1));
    n.c = count;
    loop = tmi_t_pin(t, &n);
    tmi_t_open(t, loop, 0);
    TMI_INS(t, loop)->d = t->cur;
    return tmi_t_loopvar(t, loop, tmi_tty_of(TMI_S_I32, 1), 0, (int64_t)count - 1);
}

/* if (cond) {: the caller closes it, after tmi_t_else or not. */
static uint32_t tmi_t_if(tmi_thr *t, uint32_t cond) {
    tmi_ins  n;
    uint32_t id;
    tmi_ins_zero(&n, TMI_TF_IF, tmi_tty_of(TMI_S_NONE, 1));
    n.a = cond;
    id = tmi_t_pin(t, &n);
    tmi_t_open(t, id, 1);
    TMI_INS(t, id)->c = t->cur;
    return id;
}

static void tmi_t_else(tmi_thr *t, uint32_t id) {
    (void)tmi_t_close(t);
    tmi_t_open(t, id, 1);
    TMI_INS(t, id)->d = t->cur;
}

static void tmi_t_stmt(tmi_thr *t, int op) {
    tmi_ins n;
    tmi_ins_zero(&n, op, tmi_tty_of(TMI_S_NONE, 1));
    (void)tmi_t_pin(t, &n);
}

enum { TMI_BAR_GROUP = 1, TMI_BAR_DEVICE = 2 };

static void tmi_t_barrier(tmi_thr *t, uint32_t flags, const char *why) {
    tmi_ins n;
    tmi_ins_zero(&n, TMI_TF_BARRIER, tmi_tty_of(TMI_S_NONE, 1));
    n.a = flags;
    n.name = why ? tmi_intern(t->job, &t->m->strings, why, strlen(why)) : 0;
    (void)tmi_t_pin(t, &n);
}

/* ptr + offset elements */
static uint32_t tmi_t_padd(tmi_thr *t, uint32_t ptr, uint32_t off) {
    tmi_ins  n;
    uint32_t ops[2];
    int64_t  c;
    if (tmi_t_is_const(t, off, &c) && c == 0) return ptr;
    tmi_ins_zero(&n, TMI_TF_PADD, tmi_t_type(t, ptr));
    n.a = ops[0] = ptr;
    n.b = ops[1] = off;
    return tmi_t_pure(t, &n, ops, 2);
}

/*==============================================================================
 * >>layout  [15]  Linear layouts: which thread holds which element
 *
 * gives   tmi_lin and its algebra: views through shape ops, slices, blocked and matrix layouts
 * uses    >>ir
 *
 * A tensor's elements are numbered row-major; every dimension is a power of two, so that number is a
 * string of bits and each dimension owns a run of them. A layout gives for each bit of (register,
 * lane, simdgroup) the bits of the number that it flips: the element at (r, l, g) is the XOR of the
 * bases of the set bits. A zero base means that the bit only makes copies. Reshaping keeps the bases,
 * transposing permutes their bits, broadcasting drops some: no data moves.
 * Source: Zhou et al., Linear Layouts (arXiv 2505.23819).
 *============================================================================*/

#define TMI_LANE_BITS 5u  /* simdgroups of 32 on every GPU of the table */
#define TMI_MAX_REG   20u /* log2 of TMI_MAX_NUMEL */
#define TMI_MAX_SG    5u  /* 1024 threads */

typedef struct tmi_lin {
    uint8_t  n_reg, n_sg;
    uint8_t  vec;               /* log2 of the low registers that are one Metal vector */
    uint32_t offset;            /* XORed to every number: views through split */
    uint32_t reg[TMI_MAX_REG];
    uint32_t lane[TMI_LANE_BITS];
    uint32_t sg[TMI_MAX_SG];
} tmi_lin;

static void tmi_lin_zero(tmi_lin *l, uint32_t n_sg) {
    memset(l, 0, sizeof *l);
    l->n_sg = (uint8_t)n_sg;
}

static int tmi_lin_same(const tmi_lin *a, const tmi_lin *b) {
    uint32_t i;
    if (a->n_reg != b->n_reg || a->n_sg != b->n_sg || a->offset != b->offset || a->vec != b->vec) return 0;
    for (i = 0; i < a->n_reg; i++)
        if (a->reg[i] != b->reg[i]) return 0;
    for (i = 0; i < TMI_LANE_BITS; i++)
        if (a->lane[i] != b->lane[i]) return 0;
    for (i = 0; i < a->n_sg; i++)
        if (a->sg[i] != b->sg[i]) return 0;
    return 1;
}

/* Apply a map to every base and the offset. */
typedef uint32_t (*tmi_bits_fn)(const uint32_t *how, uint32_t x);

static void tmi_lin_each(tmi_lin *l, tmi_bits_fn fn, const uint32_t *how) {
    uint32_t i;
    for (i = 0; i < l->n_reg; i++) l->reg[i] = fn(how, l->reg[i]);
    for (i = 0; i < TMI_LANE_BITS; i++) l->lane[i] = fn(how, l->lane[i]);
    for (i = 0; i < l->n_sg; i++) l->sg[i] = fn(how, l->sg[i]);
    l->offset = fn(how, l->offset);
}

/* -- Bits of dimensions ------------------------------------------------------------------- */

static uint32_t tmi_dim_bits(const tmi_module *m, uint32_t type, uint32_t d) {
    return tmi_log2(tmi_dim(m, type, d));
}

static uint32_t tmi_dim_low(const tmi_module *m, uint32_t type, uint32_t d) { /* lowest bit that d owns */
    uint32_t i, low = 0;
    for (i = d + 1; i < tmi_rank(m, type); i++) low += tmi_dim_bits(m, type, i);
    return low;
}

static uint32_t tmi_dim_mask(const tmi_module *m, uint32_t type, uint32_t d) {
    return ((1u << tmi_dim_bits(m, type, d)) - 1u) << tmi_dim_low(m, type, d);
}

static uint32_t tmi_type_bits(const tmi_module *m, uint32_t type) { /* of an element's number */
    return tmi_is_tensor(m, type) ? tmi_log2(tmi_numel(m, type)) : 0;
}

/* how: low bit, count, of the bits to take out */
static uint32_t tmi_bits_drop(const uint32_t *how, uint32_t x) {
    uint32_t low = x & ((1u << how[0]) - 1u);
    return ((x >> how[0] >> how[1]) << how[0]) | low;
}

/* how: low bit, count, of zero bits to put in */
static uint32_t tmi_bits_insert(const uint32_t *how, uint32_t x) {
    uint32_t low = x & ((1u << how[0]) - 1u);
    return ((x >> how[0]) << how[0] << how[1]) | low;
}

/* how: n, then of each result bit the source bit */
static uint32_t tmi_bits_permute(const uint32_t *how, uint32_t x) {
    uint32_t i, r = 0;
    for (i = 0; i < how[0]; i++) r |= ((x >> how[1 + i]) & 1u) << i;
    return r;
}

/* -- Views through shape ops ------------------------------------------------------------------ */

/* tt.trans: of each bit of the source's number, the bit of the result's that it equals. */
static void tmi_trans_bits(const tmi_module *m, const tmi_op *op, uint32_t *how) {
    const tmi_attr *order = tmi_attr_of(m, op, "order");
    uint32_t in = tmi_in_type(m, op, 0), out = tmi_out_type(m, op, 0), k, i;
    how[0] = tmi_type_bits(m, in);
    for (k = 0; k < tmi_rank(m, out); k++) {
        uint32_t src = (uint32_t)TMI_WORD(m, (uint32_t)order->value + k); /* result axis k is source axis src */
        for (i = 0; i < tmi_dim_bits(m, out, k); i++) how[1 + tmi_dim_low(m, in, src) + i] = tmi_dim_low(m, out, k) + i;
    }
}

/* Ops whose result is a renaming of one operand: which operand elements a thread that holds `l` of
 * the result needs. `piece` picks the result of split. tt.cat leaves the order open: the operands take
 * turns, as in Triton's own code while each thread holds one element of both. */
static void tmi_view(const tmi_module *m, const tmi_op *op, uint32_t piece, tmi_lin *l) {
    uint32_t how[2 + TMI_MAX_RANK * 2], i;
    uint32_t in = tmi_in_type(m, op, 0), out = tmi_out_type(m, op, 0);
    switch (op->kind) {
    case TMI_OP_TRANS: {
        uint32_t bits[1 + 32];
        tmi_trans_bits(m, op, bits);
        tmi_lin_each(l, tmi_bits_permute, bits);
        break;
    }
    case TMI_OP_BROADCAST: /* from the highest axis down, so that lower bits keep their places */
        for (i = 0; i < tmi_rank(m, out); i++)
            if (tmi_dim(m, in, i) == 1 && tmi_dim(m, out, i) > 1) {
                how[0] = tmi_dim_low(m, out, i);
                how[1] = tmi_dim_bits(m, out, i);
                tmi_lin_each(l, tmi_bits_drop, how);
            }
        break;
    case TMI_OP_JOIN: /* the low bit says which operand */
    case TMI_OP_CAT:
        how[0] = 0;
        how[1] = 1;
        tmi_lin_each(l, tmi_bits_drop, how);
        break;
    case TMI_OP_SPLIT:
        how[0] = 0;
        how[1] = 1;
        tmi_lin_each(l, tmi_bits_insert, how);
        l->offset |= piece;
        break;
    default: break; /* reshape, expand_dims: the numbers stay */
    }
}

/* The other way: a layout of the operand that makes the result's `l` free; new bits become registers. */
static void tmi_view_forward(const tmi_module *m, const tmi_op *op, tmi_lin *l) {
    uint32_t how[2 + 64], i, in = tmi_in_type(m, op, 0), out = tmi_out_type(m, op, 0);
    switch (op->kind) {
    case TMI_OP_TRANS: {
        uint32_t bits[1 + 32], inv[1 + 32];
        tmi_trans_bits(m, op, bits);
        inv[0] = bits[0];
        for (i = 0; i < bits[0]; i++) inv[1 + bits[1 + i]] = i;
        tmi_lin_each(l, tmi_bits_permute, inv);
        break;
    }
    case TMI_OP_BROADCAST:
        for (i = tmi_rank(m, out); i-- > 0;)
            if (tmi_dim(m, in, i) == 1 && tmi_dim(m, out, i) > 1) {
                uint32_t k;
                how[0] = tmi_dim_low(m, out, i);
                how[1] = tmi_dim_bits(m, out, i);
                tmi_lin_each(l, tmi_bits_insert, how);
                for (k = 0; k < how[1] && l->n_reg < TMI_MAX_REG; k++) l->reg[l->n_reg++] = 1u << (how[0] + k);
            }
        break;
    case TMI_OP_JOIN:
    case TMI_OP_CAT:
        how[0] = 0;
        how[1] = 1;
        tmi_lin_each(l, tmi_bits_insert, how);
        if (l->n_reg < TMI_MAX_REG) {
            memmove(l->reg + 1, l->reg, l->n_reg * sizeof *l->reg);
            l->reg[0] = 1;
            l->n_reg++;
            l->vec = 0;
        }
        break;
    case TMI_OP_SPLIT:
        how[0] = 0;
        how[1] = 1;
        tmi_lin_each(l, tmi_bits_drop, how);
        break;
    default: break;
    }
}

/* Drop registers that only make copies: what a thread needs of a value, no more and no less. */
static void tmi_lin_trim(tmi_lin *l) {
    uint32_t i, n = 0, seen[32], b;
    for (i = 0; i < l->vec; i++)
        if (!l->reg[i] || (i && l->reg[i] != l->reg[0] << i)) l->vec = 0;
    memset(seen, 0, sizeof seen);
    for (i = 0; i < l->n_reg; i++) {
        for (b = l->reg[i]; b && seen[tmi_log2(b)];) b ^= seen[tmi_log2(b)];
        if (!b) continue;
        seen[tmi_log2(b)] = b;
        l->reg[n++] = l->reg[i];
    }
    for (i = n; i < l->n_reg; i++) l->reg[i] = 0;
    l->n_reg = (uint8_t)n;
    for (b = l->offset, i = 32; i-- > 0;)
        if ((b >> i & 1) && seen[i]) b ^= seen[i];
    l->offset = b; /* what the registers reach needs no offset */
}

/* Layout of a reduction's result: the axis' bits are gone. */
static void tmi_lin_slice(const tmi_module *m, uint32_t type, uint32_t axis, tmi_lin *l) {
    uint32_t how[2];
    how[0] = tmi_dim_low(m, type, axis);
    how[1] = tmi_dim_bits(m, type, axis);
    tmi_lin_each(l, tmi_bits_drop, how);
    tmi_lin_trim(l);
}

/* -- Solving ------------------------------------------------------------------------------------- */

/* A register index whose number is `want`: the XOR of registers' bases. 0 when there is none. */
static int tmi_lin_register(const tmi_lin *l, uint32_t want, uint32_t *index) {
    uint32_t basis[32], from[32], i, b, f;
    memset(basis, 0, sizeof basis);
    memset(from, 0, sizeof from);
    for (i = 0; i < l->n_reg; i++) {
        b = l->reg[i];
        f = 1u << i;
        while (b && basis[tmi_log2(b)]) {
            f ^= from[tmi_log2(b)];
            b ^= basis[tmi_log2(b)];
        }
        if (b) basis[tmi_log2(b)] = b, from[tmi_log2(b)] = f;
    }
    for (*index = 0; want; want ^= basis[i]) {
        i = tmi_log2(want);
        if (!basis[i]) return 0;
        *index ^= from[i];
    }
    return 1;
}

/* Can a thread that wants `w` read a value held as `a` from its own registers alone? Then reg[i] says
 * which bits of the register index the wanted register bit i flips, and *base what the offset flips. */
static int tmi_lin_readable(const tmi_lin *a, const tmi_lin *w, uint32_t *reg, uint32_t *base) {
    uint32_t i;
    for (i = 0; i < TMI_LANE_BITS; i++)
        if (a->lane[i] != w->lane[i]) return 0;
    for (i = 0; i < a->n_sg; i++)
        if (a->sg[i] != w->sg[i]) return 0;
    for (i = 0; i < w->n_reg; i++)
        if (!tmi_lin_register(a, w->reg[i], &reg[i])) return 0;
    return tmi_lin_register(a, w->offset ^ a->offset, base);
}

/* The same reaching over to other lanes of the simdgroup: src_reg and src_lane of each wanted register
 * and lane bit. 0 when another simdgroup's data is needed. */
typedef struct tmi_shuffle {
    uint32_t reg_of_reg[TMI_MAX_REG], lane_of_reg[TMI_MAX_REG];
    uint32_t reg_of_lane[TMI_LANE_BITS], lane_of_lane[TMI_LANE_BITS];
    uint32_t reg_base, lane_base;
} tmi_shuffle;

static int tmi_lin_reach(const tmi_lin *a, uint32_t want, uint32_t *reg, uint32_t *lane) {
    uint32_t basis[32], from[32], i, b, f, n = a->n_reg;
    memset(basis, 0, sizeof basis);
    memset(from, 0, sizeof from);
    for (i = 0; i < n + TMI_LANE_BITS; i++) { /* registers first: what they reach needs no lane */
        b = i < n ? a->reg[i] : a->lane[i - n];
        f = 1u << i;
        while (b && basis[tmi_log2(b)]) {
            f ^= from[tmi_log2(b)];
            b ^= basis[tmi_log2(b)];
        }
        if (b) basis[tmi_log2(b)] = b, from[tmi_log2(b)] = f;
    }
    for (f = 0; want; want ^= basis[i]) {
        i = tmi_log2(want);
        if (!basis[i]) return 0;
        f ^= from[i];
    }
    *reg = f & ((1u << n) - 1u);
    *lane = f >> n;
    return 1;
}

static int tmi_lin_shuffle(const tmi_lin *a, const tmi_lin *w, tmi_shuffle *s) {
    uint32_t i;
    memset(s, 0, sizeof *s);
    for (i = 0; i < a->n_sg; i++)
        if (a->sg[i] != w->sg[i]) return 0;
    for (i = 0; i < w->n_reg; i++)
        if (!tmi_lin_reach(a, w->reg[i], &s->reg_of_reg[i], &s->lane_of_reg[i])) return 0;
    for (i = 0; i < TMI_LANE_BITS; i++) {
        if (a->lane[i] == w->lane[i]) { /* stay in one's own lane where that serves */
            s->lane_of_lane[i] = 1u << i;
            continue;
        }
        if (!tmi_lin_reach(a, w->lane[i], &s->reg_of_lane[i], &s->lane_of_lane[i])) return 0;
    }
    return tmi_lin_reach(a, w->offset ^ a->offset, &s->reg_base, &s->lane_base);
}

/* Bits of a thread's index that must be zero for it to be the one holder of its elements. */
static void tmi_lin_copies(const tmi_lin *l, uint32_t *lanes, uint32_t *groups) {
    uint32_t basis[32], i, b, n = TMI_LANE_BITS + l->n_sg;
    memset(basis, 0, sizeof basis);
    *lanes = *groups = 0;
    for (i = 0; i < l->n_reg; i++) {
        for (b = l->reg[i]; b && basis[tmi_log2(b)];) b ^= basis[tmi_log2(b)];
        if (b) basis[tmi_log2(b)] = b;
    }
    for (i = 0; i < n; i++) {
        for (b = i < TMI_LANE_BITS ? l->lane[i] : l->sg[i - TMI_LANE_BITS]; b && basis[tmi_log2(b)];) b ^= basis[tmi_log2(b)];
        if (b) basis[tmi_log2(b)] = b;
        else if (i < TMI_LANE_BITS) *lanes |= 1u << i;
        else *groups |= 1u << (i - TMI_LANE_BITS);
    }
}

/* -- Making layouts ---------------------------------------------------------------------------------- */

/* How a tensor is dealt out to threads. */
typedef struct tmi_deal {
    uint32_t left[TMI_MAX_RANK]; /* bits of each axis not dealt yet */
    uint32_t low[TMI_MAX_RANK];  /* next bit of each axis */
    uint32_t rank;
} tmi_deal;

static void tmi_deal_init(const tmi_module *m, uint32_t type, tmi_deal *d) {
    uint32_t i;
    d->rank = tmi_rank(m, type);
    for (i = 0; i < d->rank; i++) {
        d->left[i] = tmi_dim_bits(m, type, i);
        d->low[i] = tmi_dim_low(m, type, i);
    }
}

static uint32_t tmi_deal_bit(tmi_deal *d, uint32_t axis) { /* the next bit of an axis; 0: none left */
    if (axis >= d->rank || !d->left[axis]) return 0;
    d->left[axis]--;
    return 1u << d->low[axis]++;
}

/* Blocked: 2^vec neighbours along the fastest axis in one thread, lanes along `order` (fastest first),
 * simdgroups along `groups` (most wanted first), what is left in registers, fastest axis first. */
static void tmi_lin_blocked(const tmi_module *m, uint32_t type, const uint32_t *order, const uint32_t *groups, uint32_t vec,
                            uint32_t n_sg, tmi_lin *l) {
    tmi_deal d;
    uint32_t i, k, b;
    tmi_lin_zero(l, n_sg);
    tmi_deal_init(m, type, &d);
    for (i = 0; i < vec && d.rank; i++)
        if ((b = tmi_deal_bit(&d, order[0])) != 0) l->reg[l->n_reg++] = b, l->vec++;
    for (i = 0, k = 0; i < TMI_LANE_BITS && k < d.rank;) {
        if ((b = tmi_deal_bit(&d, order[k])) != 0) l->lane[i++] = b;
        else k++;
    }
    for (i = 0, k = 0; i < n_sg && k < d.rank;) {
        if ((b = tmi_deal_bit(&d, groups[k])) != 0) l->sg[i++] = b;
        else k++;
    }
    for (k = 0; k < d.rank; k++)
        while ((b = tmi_deal_bit(&d, order[k])) != 0) l->reg[l->n_reg++] = b;
}

/* Simdgroup matrices: 8 by 8 tiles of the last two axes, two neighbours of a row in a lane
 * (MLX steel mma.h: row = (lane/4 & 4) + lane/2 % 4, column = (lane/4 & 2) * 2 + lane % 2 * 2), then
 * more tiles in registers, columns first; the top bits of rows and columns go to simdgroups. */
static void tmi_lin_matrix(const tmi_module *m, uint32_t type, uint32_t sg_rows, uint32_t sg_cols, uint32_t n_sg, tmi_lin *l) {
    uint32_t rank = tmi_rank(m, type), cols = tmi_dim_bits(m, type, rank - 1), rows = tmi_dim_bits(m, type, rank - 2);
    uint32_t row = tmi_dim_low(m, type, rank - 2), i, b = 0, batch = rank > 2 ? tmi_dim_bits(m, type, 0) : 0;
    tmi_lin_zero(l, n_sg);
    l->reg[l->n_reg++] = 1u;
    l->vec = 1;
    l->lane[0] = 2u;
    l->lane[1] = 1u << row;
    l->lane[2] = 2u << row;
    l->lane[3] = 4u;
    l->lane[4] = 4u << row;
    for (i = 3; i < cols - sg_cols; i++) l->reg[l->n_reg++] = 1u << i;
    for (i = 3; i < rows - sg_rows; i++) l->reg[l->n_reg++] = 1u << (row + i);
    for (i = cols - sg_cols; i < cols; i++) l->sg[b++] = 1u << i;
    for (i = rows - sg_rows; i < rows; i++) l->sg[b++] = 1u << (row + i);
    for (i = 0; i < batch; i++) {
        if (b < n_sg) l->sg[b++] = 1u << (tmi_dim_low(m, type, 0) + i);
        else l->reg[l->n_reg++] = 1u << (tmi_dim_low(m, type, 0) + i);
    }
}

/* -- Describing ----------------------------------------------------------------------------------------- */

static void tmi_put_bases(tmi_text *t, const char *what, const uint32_t *b, uint32_t n) {
    uint32_t i;
    tmi_put_str(t, what);
    for (i = 0; i < n; i++) tmi_put(t, " %u", b[i]);
}

static const char *tmi_lin_text(tmi_job *job, const tmi_lin *l) {
    tmi_text t;
    tmi_text_init(job, &t);
    tmi_put_bases(&t, "register", l->reg, l->n_reg);
    tmi_put_bases(&t, " | lane", l->lane, TMI_LANE_BITS);
    if (l->n_sg) tmi_put_bases(&t, " | simdgroup", l->sg, l->n_sg);
    return tmi_text_join(&t, 1);
}

/*==============================================================================
 * >>plan  [16]  Decisions before any code: what is kept, where each value lives, how many threads
 *
 * gives   tmi_plan: class, memory root, component and layout of every value; instances
 * uses    >>ir  >>analyse  >>layout  >>hardware
 * order   of the text; ties go to the earlier op, so that reports and kernels are the same everywhere
 *
 * A tensor value is one of three things. INLINE: index arithmetic and renamings, computed again in
 * every loop that reads it, in whatever layout is asked. CLONE: pure too, but too dear for that; kept
 * in registers, once per layout asked. NODE: loaded, reduced, multiplied, ...: computed once in one
 * layout; where another is asked it is converted (or loaded again, when that is allowed and small).
 * NODEs that elementwise ops connect share one layout: a component.
 *============================================================================*/

typedef enum tmi_class { TMI_C_NONE, TMI_C_SCALAR, TMI_C_INLINE, TMI_C_CLONE, TMI_C_NODE } tmi_class;

#define TMI_INLINE_COST  16u /* of an expression computed again in each loop; an add is 1 */
#define TMI_INLINE_DEPTH 40u

typedef enum tmi_inst_kind {
    TMI_I_FIRST,   /* the value where its op computes it */
    TMI_I_CLONE,   /* computed again in another layout */
    TMI_I_CONVERT  /* moved from the first instance */
} tmi_inst_kind;

typedef enum tmi_store { TMI_ST_NONE, TMI_ST_SSA, TMI_ST_ARRAY } tmi_store;

/* A tensor value in one layout. */
typedef struct tmi_inst {
    uint32_t value, lin, next; /* next instance of the value */
    uint32_t source;           /* CONVERT: the instance it comes from */
    uint8_t  kind, store, escapes, vec; /* escapes: read outside the loop nest that computes it */
    uint32_t slot;             /* where it is computed */
    uint32_t ref;              /* SSA: instruction; ARRAY: array */
    uint32_t buffer;           /* CONVERT: threadgroup array */
} tmi_inst;

/* A component: values of one shape that share a layout. */
typedef struct tmi_comp {
    uint32_t first;      /* its earliest value or op */
    uint32_t type;       /* shape */
    uint32_t lin;        /* chosen layout + 1; 0 open */
    uint32_t dot;        /* a matrix product whose result is in it; 0 none */
    uint32_t reduced;    /* axes that are reduced or scanned, as bits */
    uint64_t weight;     /* bytes moved by its memory accesses, loops counted eightfold */
    uint64_t best;       /* of the access that chose order and vec */
    uint32_t access;     /* that access; 0 none */
    uint32_t ops;        /* first op of the component, linked by plan->op_next */
    uint8_t  vec;
    const char *reason;
} tmi_comp;

typedef struct tmi_plan {
    tmi_job          *job;
    tmi_module       *m;
    uint32_t          func;
    const tmetal_gpu *gpu;
    tmi_users         users;
    tmi_axes          axes;
    uint8_t          *klass, *cost, *depth, *pure; /* per value */
    uint32_t         *base;    /* per value: parameter + 1 that a pointer comes from; 0 unknown */
    uint32_t         *alias;   /* per parameter: the first of those launched on its memory */
    uint32_t          n_param;
    uint8_t          *weight;  /* per op: log2 of how often it runs compared with the kernel's top */
    uint32_t         *parent;  /* union-find over values, then ops */
    uint32_t         *comp_of; /* per value or op, once known: component + 1 */
    uint32_t         *op_next;
    tmi_vec           comp, lin, inst;
    uint32_t         *first_inst; /* per value: instance + 1 */
    uint32_t         *stage[2];   /* per product, gather or histogram: layout + 1 in which operand a, b is written out */
    uint32_t         *own;        /* per op: layout + 1 that it works in where that is not its component's */
    uint32_t          stage_limit; /* bytes that one product may stage at a time */
    uint32_t          threads, n_sg;
    uint32_t          written, read; /* parameters stored to, loaded from, as bits below 32; bit 31: others */
    uint8_t           unknown_write, has_dot, has_mma;
    uint32_t          sg_rows, sg_cols; /* log2: how matrix products deal simdgroups */
} tmi_plan;

#define TMI_COMP(p, i) TMI_AT(&(p)->comp, tmi_comp, (i))
#define TMI_LIN(p, i)  TMI_AT(&(p)->lin, tmi_lin, (i))
#define TMI_INST(p, i) TMI_AT(&(p)->inst, tmi_inst, (i))

static uint32_t tmi_lin_id(tmi_plan *p, const tmi_lin *l) { /* layouts are few: a linear search */
    uint32_t i;
    for (i = 0; i < p->lin.n; i++)
        if (tmi_lin_same(TMI_LIN(p, i), l)) return i;
    *(tmi_lin *)tmi_vec_add(p->job, &p->lin) = *l;
    return i;
}

/* -- Scalars and combining regions ----------------------------------------------------- */

static tmi_scalar tmi_s_of(const tmi_module *m, uint32_t type) {
    const tmi_type *t = TMI_TYPE(m, tmi_elem(m, type));
    if (t->kind == TMI_T_PTR) return TMI_S_PTR;
    if (t->kind != TMI_T_FLOAT) return tmi_s_int(t->bits);
    switch (t->format) {
    case TMI_F_F16: return TMI_S_F16;
    case TMI_F_BF16: return TMI_S_BF16;
    case TMI_F_F32: case TMI_F_TF32: return TMI_S_F32;
    default: return tmi_s_int(t->bits); /* fp8 and fp64 travel as their bits */
    }
}

/* A combining region that is one op on its two arguments: that op, else 0. */
static uint32_t tmi_simple_combiner(const tmi_module *m, const tmi_op *op) {
    uint32_t block = tmi_op_body(m, op, 0), first = TMI_BLOCK(m, block)->first_op;
    const tmi_op *o = TMI_OP(m, first), *end;
    if (op->n_in != 1 || !first || !o->next) return 0;
    end = TMI_OP(m, o->next);
    if (end->next || !(tmi_ops[end->kind].traits & TMI_ENDS) || end->n_in != 1 || o->n_in != 2 || o->n_out != 1) return 0;
    if (tmi_in(m, end, 0) != tmi_out(m, o, 0)) return 0;
    if (tmi_in(m, o, 0) == tmi_block_arg(m, block, 0) && tmi_in(m, o, 1) == tmi_block_arg(m, block, 1)) return first;
    if ((tmi_ops[o->kind].traits & TMI_SWAPS) && tmi_in(m, o, 1) == tmi_block_arg(m, block, 0) && tmi_in(m, o, 0) == tmi_block_arg(m, block, 1))
        return first;
    return 0;
}

/* The value that changes nothing, exactly: -0 for a float sum, NaN where NaN is ignored. 0: there is none. */
static int tmi_identity(int kind, uint16_t op, uint64_t *bits) {
    int64_t lo, hi;
    if (tmi_s_is_int(kind)) tmi_full_range(kind, &lo, &hi);
    else lo = hi = 0;
    if (kind == TMI_S_BOOL) { /* addition on i1 is exclusive or; true is -1 where sign counts */
        switch (op) {
        case TMI_OP_ADDI: case TMI_OP_XORI: case TMI_OP_ORI: case TMI_OP_MINSI: case TMI_OP_MAXUI: *bits = 0; return 1;
        case TMI_OP_MULI: case TMI_OP_ANDI: case TMI_OP_MAXSI: case TMI_OP_MINUI: *bits = 1; return 1;
        default: return 0;
        }
    }
    switch (op) {
    case TMI_OP_ADDF: *bits = kind == TMI_S_F32 ? 0x80000000u : 0x8000u; return 1;
    case TMI_OP_MULF: *bits = kind == TMI_S_F32 ? 0x3F800000u : kind == TMI_S_F16 ? 0x3C00u : 0x3F80u; return 1;
    case TMI_OP_MAXNUMF: case TMI_OP_MINNUMF: *bits = kind == TMI_S_F32 ? 0x7FC00000u : kind == TMI_S_F16 ? 0x7E00u : 0x7FC0u; return 1;
    case TMI_OP_MAXIMUMF: *bits = kind == TMI_S_F32 ? 0xFF800000u : kind == TMI_S_F16 ? 0xFC00u : 0xFF80u; return 1;
    case TMI_OP_MINIMUMF: *bits = kind == TMI_S_F32 ? 0x7F800000u : kind == TMI_S_F16 ? 0x7C00u : 0x7F80u; return 1;
    case TMI_OP_ADDI: case TMI_OP_ORI: case TMI_OP_XORI: case TMI_OP_MAXUI: *bits = 0; return 1;
    case TMI_OP_MULI: *bits = 1; return 1;
    case TMI_OP_ANDI: case TMI_OP_MINUI: *bits = (uint64_t)-1; return 1;
    case TMI_OP_MAXSI: *bits = (uint64_t)lo; return 1;
    case TMI_OP_MINSI: *bits = (uint64_t)hi; return 1;
    default: return 0;
    }
}

/* A reduction whose region is one op with a known identity can share a loop nest with other work. */
static int tmi_fold_is_simple(const tmi_module *m, const tmi_op *op) {
    uint32_t c = tmi_simple_combiner(m, op);
    uint64_t bits;
    if (tmi_format_is_soft(tmi_format_of(m, tmi_in_type(m, op, 0)))) return 0;
    return c && tmi_identity(tmi_s_of(m, tmi_in_type(m, op, 0)), TMI_OP(m, c)->kind, &bits);
}

/* Sums and products of half and bfloat accumulate in float: never worse than Triton's. */
static int tmi_fold_is_wide(const tmi_module *m, const tmi_op *op) {
    uint32_t c = tmi_simple_combiner(m, op);
    int      kind = tmi_s_of(m, tmi_in_type(m, op, 0));
    return c && (kind == TMI_S_F16 || kind == TMI_S_BF16) && (TMI_OP(m, c)->kind == TMI_OP_ADDF || TMI_OP(m, c)->kind == TMI_OP_MULF);
}

/* Layout of a reduction's result, from that of its operand: vectors along the axis are folded away, and
 * regions of more than one op fold element by element. */
static void tmi_reduced_lin(const tmi_module *m, const tmi_op *op, tmi_lin *l) {
    uint32_t axis = (uint32_t)tmi_attr_int(m, op, "axis", 0), mask = tmi_dim_mask(m, tmi_in_type(m, op, 0), axis), i;
    for (i = 0; i < l->vec; i++)
        if (l->reg[i] & mask) l->vec = 0;
    if (!tmi_fold_is_simple(m, op)) l->vec = 0;
    tmi_lin_slice(m, tmi_in_type(m, op, 0), axis, l);
}

/* -- Classes -------------------------------------------------------------------------- */

static int tmi_is_view(uint32_t kind);

static uint32_t tmi_op_cost(const tmi_module *m, const tmi_op *op) {
    int64_t d;
    switch (op->kind) {
    case TMI_OP_DIVSI: case TMI_OP_DIVUI: case TMI_OP_REMSI: case TMI_OP_REMUI: case TMI_OP_CEILDIVSI:
    case TMI_OP_CEILDIVUI: case TMI_OP_FLOORDIVSI: /* hundreds of cycles; by a constant a multiplication */
        if (!tmi_const_int(m, tmi_in(m, op, 1), &d)) return TMI_INLINE_COST + 1;
        return d > 0 && tmi_is_pow2((uint64_t)d) ? 1 : 4;
    case TMI_OP_DIVF: case TMI_OP_PRECISE_DIV: case TMI_OP_PRECISE_SQRT: return 8;
    case TMI_OP_EXTERN: return TMI_INLINE_COST + 1;
    default: break;
    }
    if ((op->n_in && tmi_format_is_soft(tmi_format_of(m, tmi_in_type(m, op, 0)))) || (op->n_out && tmi_format_is_soft(tmi_format_of(m, tmi_out_type(m, op, 0)))))
        return op->kind == TMI_OP_SELECT || op->kind == TMI_OP_BITCAST || op->kind == TMI_OP_TTBITCAST ? 1 : tmi_is_view(op->kind) ? 0 : 8;
    if (strncmp(tmi_ops[op->kind].group, "math", 4) == 0) return 8;
    return tmi_ops[op->kind].traits & TMI_VIEW ? 0 : 1;
}

static int tmi_is_view(uint32_t kind) {
    return (kind == TMI_OP_EXPAND || kind == TMI_OP_BROADCAST || kind == TMI_OP_RESHAPE || kind == TMI_OP_TRANS ||
            kind == TMI_OP_JOIN || kind == TMI_OP_SPLIT || kind == TMI_OP_CAT);
}

static uint8_t tmi_sat8(uint32_t v) { return (uint8_t)(v > 255 ? 255 : v); }

static void tmi_classify_op(tmi_plan *p, const tmi_op *op) {
    const tmi_module *m = p->m;
    uint32_t i, cost = tmi_op_cost(m, op), depth = 0, pure = 1, over_node = 0, k;
    uint32_t traits = tmi_ops[op->kind].traits;
    for (i = 0; i < op->n_in; i++) {
        uint32_t v = tmi_in(m, op, i);
        if (p->klass[v] == TMI_C_SCALAR || !tmi_is_tensor(m, tmi_value_type(m, v))) continue;
        pure &= p->pure[v];
        over_node |= p->klass[v] == TMI_C_NODE || !p->pure[v];
        cost += p->klass[v] == TMI_C_INLINE ? p->cost[v] : 0;
        if (p->klass[v] == TMI_C_INLINE && p->depth[v] > depth) depth = p->depth[v];
    }
    for (i = 0; i < op->n_out; i++) {
        uint32_t v = tmi_out(m, op, i);
        if (!tmi_is_tensor(m, tmi_value_type(m, v))) {
            p->klass[v] = TMI_C_SCALAR;
            continue;
        }
        k = TMI_C_NODE;
        if (op->kind == TMI_OP_RANGE || op->kind == TMI_OP_SPLAT || op->kind == TMI_OP_CONSTANT || op->kind == TMI_OP_POISON ||
            op->kind == TMI_OP_UNDEF)
            k = TMI_C_INLINE, pure = 1, over_node = 0;
        else if (tmi_is_view(op->kind)) k = depth < TMI_INLINE_DEPTH ? TMI_C_INLINE : pure ? TMI_C_CLONE : TMI_C_NODE;
        else if ((traits & TMI_ELT) && (traits & TMI_PURE) && pure && op->n_out == 1)
            k = cost <= TMI_INLINE_COST && depth < TMI_INLINE_DEPTH ? TMI_C_INLINE : TMI_C_CLONE;
        else pure = 0;
        p->klass[v] = (uint8_t)k;
        p->pure[v] = (uint8_t)(pure && !over_node);
        p->cost[v] = k == TMI_C_INLINE ? tmi_sat8(cost) : 0;
        p->depth[v] = k == TMI_C_INLINE ? tmi_sat8(depth + 1) : 0;
    }
}

static void tmi_classify_args(tmi_plan *p, uint32_t block) {
    uint32_t i;
    for (i = 0; i < TMI_BLOCK(p->m, block)->n_arg; i++) {
        uint32_t v = tmi_block_arg(p->m, block, i);
        p->klass[v] = tmi_is_tensor(p->m, tmi_value_type(p->m, v)) ? TMI_C_NODE : TMI_C_SCALAR;
    }
}

static int tmi_is_region_op(uint32_t kind) { /* whose region is a function of scalars */
    return kind == TMI_OP_REDUCE || kind == TMI_OP_SCAN || kind == TMI_OP_MAP;
}

/* The next op of the function's own flow: combining regions are skipped. */
static uint32_t tmi_flow_next(const tmi_module *m, uint32_t func, uint32_t op) {
    if (tmi_is_region_op(TMI_OP(m, op)->kind)) {
        uint32_t at = op;
        for (;;) {
            if (TMI_OP(m, at)->next) return TMI_OP(m, at)->next;
            {
                uint32_t blk = TMI_OP(m, at)->block, r = TMI_BLOCK(m, blk)->region, owner = TMI_REGION(m, r)->op;
                uint32_t b = TMI_BLOCK(m, blk)->next;
                for (;;) {
                    for (; b; b = TMI_BLOCK(m, b)->next)
                        if (TMI_BLOCK(m, b)->first_op) return TMI_BLOCK(m, b)->first_op;
                    r = TMI_REGION(m, r)->next;
                    if (!r) break;
                    b = TMI_REGION(m, r)->first_block;
                }
                if (owner == func) return 0;
                at = owner;
            }
        }
    }
    return tmi_walk_next(m, func, op);
}

static void tmi_classify(tmi_plan *p) {
    const tmi_module *m = p->m;
    uint32_t op, r, b;
    for (op = p->func; op; op = op == p->func ? tmi_walk_next(m, p->func, op) : tmi_flow_next(m, p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        if (!tmi_is_region_op(o->kind))
            for (r = o->region; r; r = TMI_REGION(m, r)->next)
                for (b = TMI_REGION(m, r)->first_block; b; b = TMI_BLOCK(m, b)->next) tmi_classify_args(p, b);
        if (op != p->func) tmi_classify_op(p, o);
    }
}

/* -- Memory roots ------------------------------------------------------------------------ */

/* The next pair of the option `alias`: 1, 0 at its end, -1 where it is wrong. */
static int tmi_alias_pair(const char **s, uint32_t *a, uint32_t *b) {
    uint32_t *to = a;
    int       digits = 0;
    *a = *b = 0;
    if (!*s || !**s) return 0;
    for (;; ++*s) {
        if (tmi_is_digit(**s) && digits < 6) *to = *to * 10 + (uint32_t)(**s - '0'), digits++;
        else if (**s == '=' && to == a && digits) to = b, digits = 0;
        else break;
    }
    if (to == a || !digits || (**s && **s != ',')) return -1;
    if (**s) ++*s;
    return 1;
}

static void tmi_plan_aliases(tmi_plan *p) {
    const char *s = p->job->opt->alias;
    uint32_t    a, b, i, low, high;
    p->n_param = TMI_BLOCK(p->m, tmi_op_body(p->m, TMI_OP(p->m, p->func), 0))->n_arg;
    p->alias = TMI_TEMP(p->job, uint32_t, p->n_param);
    for (i = 0; i < p->n_param; i++) p->alias[i] = i;
    while (tmi_alias_pair(&s, &a, &b) > 0) {
        if (a >= p->n_param || b >= p->n_param) continue; /* of another kernel of the module */
        low = tmi_min32(p->alias[a], p->alias[b]);
        high = tmi_max32(p->alias[a], p->alias[b]);
        for (i = 0; i < p->n_param; i++)
            if (p->alias[i] == high) p->alias[i] = low;
    }
}

/* Is a parameter launched on the memory of another? */
static int tmi_has_alias(const tmi_plan *p, uint32_t param) {
    uint32_t i;
    for (i = 0; i < p->n_param; i++)
        if (i != param && p->alias[i] == p->alias[param]) return 1;
    return 0;
}

static uint32_t tmi_base_of(const tmi_plan *p, const tmi_op *op) {
    const tmi_module *m = p->m;
    uint32_t a, b;
    switch (op->kind) {
    case TMI_OP_ADDPTR: case TMI_OP_TTBITCAST: case TMI_OP_SPLAT: case TMI_OP_EXPAND: case TMI_OP_BROADCAST:
    case TMI_OP_RESHAPE: case TMI_OP_TRANS: case TMI_OP_UNSPLAT: case TMI_OP_SPLIT: return p->base[tmi_in(m, op, 0)];
    case TMI_OP_SELECT: case TMI_OP_JOIN: case TMI_OP_CAT:
        a = p->base[tmi_in(m, op, op->n_in - 2)];
        b = p->base[tmi_in(m, op, op->n_in - 1)];
        return a == b ? a : 0;
    default: return 0;
    }
}

/* Which parameter each pointer comes from. Loops start from what flows in; a loop that yields another
 * base makes it unknown, and everything is walked again. */
static void tmi_find_bases(tmi_plan *p) {
    const tmi_module *m = p->m;
    uint32_t block = tmi_op_body(m, TMI_OP(m, p->func), 0), i, op;
    int      changed = 1;
    uint8_t *lost = TMI_TEMP(p->job, uint8_t, m->value.n);
    for (i = 0; i < TMI_BLOCK(m, block)->n_arg; i++)
        if (tmi_is_ptrlike(m, tmi_value_type(m, tmi_block_arg(m, block, i)))) p->base[tmi_block_arg(m, block, i)] = i + 1;
    while (changed) {
        changed = 0;
        for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_walk_next(m, p->func, op)) {
            const tmi_op *o = TMI_OP(m, op), *up;
            for (i = 0; i < o->n_out; i++)
                if (tmi_is_ptrlike(m, tmi_out_type(m, o, i)) && !o->n_region) p->base[tmi_out(m, o, i)] = tmi_base_of(p, o);
            if (o->kind == TMI_OP_FOR)
                for (i = 0; i < o->n_out; i++) {
                    uint32_t arg = tmi_block_arg(m, tmi_op_body(m, o, 0), 1 + i);
                    p->base[arg] = p->base[tmi_out(m, o, i)] = lost[arg] ? 0 : p->base[tmi_in(m, o, 3 + i)];
                }
            if (o->kind == TMI_OP_WHILE)
                for (i = 0; i < o->n_in; i++) {
                    uint32_t arg = tmi_block_arg(m, tmi_op_body(m, o, 0), i);
                    p->base[arg] = lost[arg] ? 0 : p->base[tmi_in(m, o, i)];
                }
            if (o->kind == TMI_OP_CONDITION) {
                up = TMI_OP(m, tmi_parent_op(m, o));
                for (i = 0; i < up->n_out; i++)
                    p->base[tmi_block_arg(m, tmi_op_body(m, up, 1), i)] = p->base[tmi_out(m, up, i)] = p->base[tmi_in(m, o, 1 + i)];
            }
            if (o->kind != TMI_OP_YIELD) continue;
            up = TMI_OP(m, tmi_parent_op(m, o));
            for (i = 0; i < o->n_in; i++) {
                if (!tmi_is_ptrlike(m, tmi_in_type(m, o, i))) continue;
                if (up->kind == TMI_OP_IF) {
                    uint32_t r = tmi_out(m, up, i), b = p->base[tmi_in(m, o, i)];
                    p->base[r] = o->block == tmi_op_body(m, up, 0) || p->base[r] == b ? b : 0;
                } else {
                    uint32_t arg = tmi_block_arg(m, tmi_op_body(m, up, 0), (up->kind == TMI_OP_FOR ? 1 : 0) + i);
                    if (!lost[arg] && p->base[arg] != p->base[tmi_in(m, o, i)]) lost[arg] = 1, changed = 1;
                }
            }
        }
    }
}

static int tmi_accesses_memory(const tmi_op *op) {
    return (tmi_ops[op->kind].traits & (TMI_READS | TMI_WRITES)) && op->n_in > 0 && op->kind != TMI_OP_PRINT &&
           op->kind != TMI_OP_ASSERT && op->kind != TMI_OP_CF_ASSERT && op->kind != TMI_OP_CALL && op->kind != TMI_OP_MAP;
}

static void tmi_find_accesses(tmi_plan *p) {
    const tmi_module *m = p->m;
    uint32_t op;
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_walk_next(m, p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        uint32_t base, bit, up = tmi_parent_op(m, o);
        p->weight[op] = up ? p->weight[up] : 0;
        if (o->kind == TMI_OP_FOR || o->kind == TMI_OP_WHILE) p->weight[op] = tmi_sat8(p->weight[op] + 3u);
        if (!tmi_accesses_memory(o)) continue;
        base = p->base[tmi_in(m, o, 0)];
        bit = base && base < 32 ? 1u << (base - 1) : 1u << 31;
        if (tmi_ops[o->kind].traits & TMI_WRITES) {
            p->written |= bit;
            if (!base) p->unknown_write = 1;
        }
        if (tmi_ops[o->kind].traits & TMI_READS) p->read |= bit;
    }
}

/* May the memory behind `base` change while the kernel runs? */
static int tmi_is_written(const tmi_plan *p, uint32_t base) {
    uint32_t i;
    if (!base || p->unknown_write) return 1;
    for (i = 0; i < p->n_param; i++)
        if (p->alias[i] == p->alias[base - 1] && (p->written & (i < 31 ? 1u << i : 1u << 31))) return 1;
    return 0;
}

/* -- Components ------------------------------------------------------------------------------ */

static uint32_t tmi_root(tmi_plan *p, uint32_t x) {
    while (p->parent[x] != x) x = p->parent[x] = p->parent[p->parent[x]];
    return x;
}

static void tmi_join(tmi_plan *p, uint32_t a, uint32_t b) { /* the earlier one leads */
    a = tmi_root(p, a);
    b = tmi_root(p, b);
    if (a < b) p->parent[b] = a;
    else p->parent[a] = b;
}

static int tmi_is_node(const tmi_plan *p, uint32_t value) {
    return p->klass[value] == TMI_C_NODE;
}

/* The element of the union-find that stands for an op without a tensor result of its own. */
static uint32_t tmi_op_element(const tmi_plan *p, uint32_t op) {
    return p->m->value.n + op;
}

static void tmi_join_values(tmi_plan *p, uint32_t a, uint32_t b) {
    if (tmi_is_node(p, a) && tmi_is_node(p, b)) tmi_join(p, a, b);
}

static void tmi_join_loop(tmi_plan *p, const tmi_op *op) {
    const tmi_module *m = p->m;
    uint32_t body = tmi_op_body(m, op, 0), end, i;
    if (op->kind == TMI_OP_FOR) {
        end = tmi_terminator(m, body);
        for (i = 0; i < op->n_out; i++) {
            tmi_join_values(p, tmi_out(m, op, i), tmi_block_arg(m, body, 1 + i));
            tmi_join_values(p, tmi_out(m, op, i), tmi_in(m, op, 3 + i));
            tmi_join_values(p, tmi_out(m, op, i), tmi_in(m, TMI_OP(m, end), i));
        }
    } else if (op->kind == TMI_OP_WHILE) {
        uint32_t after = tmi_op_body(m, op, 1), cond = tmi_terminator(m, body);
        end = tmi_terminator(m, after);
        for (i = 0; i < op->n_in; i++) {
            tmi_join_values(p, tmi_block_arg(m, body, i), tmi_in(m, op, i));
            tmi_join_values(p, tmi_block_arg(m, body, i), tmi_in(m, TMI_OP(m, end), i));
        }
        for (i = 0; i < op->n_out; i++) {
            tmi_join_values(p, tmi_out(m, op, i), tmi_block_arg(m, after, i));
            tmi_join_values(p, tmi_out(m, op, i), tmi_in(m, TMI_OP(m, cond), 1 + i));
        }
    } else if (op->kind == TMI_OP_IF) {
        uint32_t k;
        for (k = 0; k < op->n_region; k++) {
            end = tmi_terminator(m, tmi_op_body(m, op, k));
            if (TMI_OP(m, end)->kind != TMI_OP_YIELD) continue;
            for (i = 0; i < op->n_out; i++) tmi_join_values(p, tmi_out(m, op, i), tmi_in(m, TMI_OP(m, end), i));
        }
    }
}

/* Does operand i of an op have to be in the op's own layout? */
static int tmi_operand_joins(const tmi_op *op, uint32_t i) {
    switch (op->kind) {
    case TMI_OP_DOT: return i == 2;
    case TMI_OP_DOT_SCALED: return i == 2;
    case TMI_OP_GATHER: return i == 1;
    case TMI_OP_HISTOGRAM: return 0;
    default: return 1;
    }
}

static void tmi_join_op(tmi_plan *p, uint32_t id) {
    const tmi_module *m = p->m;
    const tmi_op *op = TMI_OP(m, id);
    uint32_t i, own = tmi_op_element(p, id);
    if (op->n_region && !tmi_is_region_op(op->kind)) {
        tmi_join_loop(p, op);
        return;
    }
    if (tmi_ops[op->kind].traits & TMI_ENDS) return;
    if (tmi_is_view(op->kind)) {
        if (op->n_out && tmi_is_node(p, tmi_out(m, op, 0))) tmi_join(p, own, tmi_out(m, op, 0));
        return;
    }
    for (i = 0; i < op->n_in; i++)
        if (tmi_is_node(p, tmi_in(m, op, i)) && tmi_operand_joins(op, i)) tmi_join(p, own, tmi_in(m, op, i));
    if (op->kind == TMI_OP_REDUCE) return;
    for (i = 0; i < op->n_out; i++)
        if (tmi_is_node(p, tmi_out(m, op, i))) tmi_join(p, own, tmi_out(m, op, i));
}

/* The tensor type whose shape an op works in; 0 when it works on scalars. */
static uint32_t tmi_op_shape(const tmi_module *m, const tmi_op *op) {
    uint32_t i;
    if (op->kind == TMI_OP_REDUCE) return tmi_in_type(m, op, 0);
    for (i = 0; i < op->n_out; i++)
        if (tmi_is_tensor(m, tmi_out_type(m, op, i))) return tmi_out_type(m, op, i);
    for (i = 0; i < op->n_in; i++)
        if (tmi_is_tensor(m, tmi_in_type(m, op, i))) return tmi_in_type(m, op, i);
    return 0;
}

/* Ops that run over a tensor's elements in a layout of their own component. */
static int tmi_is_root_op(const tmi_plan *p, const tmi_op *op) {
    if (op->n_region && !tmi_is_region_op(op->kind)) return 0;
    if ((tmi_ops[op->kind].traits & TMI_ENDS) || !tmi_op_shape(p->m, op)) return 0;
    if (op->n_out && tmi_is_tensor(p->m, tmi_out_type(p->m, op, 0)) && op->kind != TMI_OP_REDUCE)
        return p->klass[tmi_out(p->m, op, 0)] == TMI_C_NODE;
    return op->kind != TMI_OP_UNSPLAT;
}

static uint32_t tmi_comp_new(tmi_plan *p, uint32_t element, uint32_t type) {
    uint32_t root = tmi_root(p, element);
    if (!p->comp_of[root]) {
        tmi_comp *c = (tmi_comp *)tmi_vec_add(p->job, &p->comp);
        c->first = root;
        c->type = type;
        p->comp_of[root] = p->comp.n;
    }
    p->comp_of[element] = p->comp_of[root];
    return p->comp_of[root] - 1;
}

/* -- Memory accesses and layouts ---------------------------------------------------------------- */

/* log2 of the neighbours along axis d that one lane may move at once: contiguous, aligned, under one
 * mask, at most 4 elements and 16 bytes. */
static uint32_t tmi_access_vec(const tmi_plan *p, const tmi_op *op, uint32_t d) {
    const tmi_module *m = p->m;
    uint32_t ptr = tmi_in(m, op, 0), mask = 0, es = tmi_pointee_bytes_log2(m, tmi_value_type(m, ptr)), v;
    tmi_axis a = tmi_axis_get(&p->axes, ptr, d);
    if (op->kind == TMI_OP_LOAD && op->n_in > 1) mask = tmi_in(m, op, 1);
    if (op->kind == TMI_OP_STORE && op->n_in > 2) mask = tmi_in(m, op, 2);
    if ((op->kind != TMI_OP_LOAD && op->kind != TMI_OP_STORE) || p->job->opt->plain) return 0;
    v = tmi_min8(a.c, a.v > es ? (uint8_t)(a.v - es) : 0);
    if (mask) v = tmi_min8((uint8_t)v, tmi_axis_get(&p->axes, mask, d).k);
    if (v > 2) v = 2;
    if (v + es > 4) v = 4 - es;
    return v;
}

/* Axes from fastest in memory to slowest; the last axis first where nothing is known. */
static void tmi_access_order(const tmi_plan *p, const tmi_op *op, uint32_t *order) {
    const tmi_module *m = p->m;
    uint32_t type = tmi_op_shape(m, op), rank = tmi_rank(m, type), i, k, t;
    uint32_t ptr = tmi_in(m, op, 0);
    for (i = 0; i < rank; i++) order[i] = rank - 1 - i;
    if (!tmi_is_ptrlike(m, tmi_value_type(m, ptr))) return;
    for (i = 1; i < rank; i++) /* insertion sort, stable; at most 24 axes */
        for (k = i; k > 0; k--) {
            tmi_axis a = tmi_axis_get(&p->axes, ptr, order[k]), b = tmi_axis_get(&p->axes, ptr, order[k - 1]);
            if (a.c <= b.c) break;
            t = order[k];
            order[k] = order[k - 1];
            order[k - 1] = t;
        }
}

static uint64_t tmi_access_bytes(const tmi_plan *p, uint32_t op) {
    const tmi_module *m = p->m;
    uint32_t type = tmi_op_shape(m, TMI_OP(m, op)), ptr = tmi_in_type(m, TMI_OP(m, op), 0);
    const tmi_type *t = TMI_TYPE(m, tmi_elem(m, ptr));
    uint32_t w = p->weight[op] > 24 ? 24 : p->weight[op];
    return (tmi_numel(m, type) * (t->kind == TMI_T_PTR ? tmi_bytes(m, t->elem) : 4)) << w;
}

static void tmi_comp_add_op(tmi_plan *p, uint32_t id) {
    const tmi_module *m = p->m;
    const tmi_op *op = TMI_OP(m, id);
    uint32_t type = tmi_op_shape(m, op), c = tmi_comp_new(p, tmi_op_element(p, id), type);
    tmi_comp *comp = TMI_COMP(p, c);
    p->op_next[id] = comp->ops;
    comp->ops = id;
    if (op->kind == TMI_OP_REDUCE || op->kind == TMI_OP_SCAN) comp->reduced |= 1u << tmi_attr_int(m, op, "axis", 0);
    if (op->kind == TMI_OP_DOT && !comp->dot) comp->dot = id;
    if (tmi_accesses_memory(op) && tmi_is_tensor(m, tmi_in_type(m, op, 0))) {
        uint64_t bytes = tmi_access_bytes(p, id);
        comp->weight += bytes;
        if (bytes > comp->best) comp->best = bytes, comp->access = id;
    }
}

static void tmi_components(tmi_plan *p) {
    const tmi_module *m = p->m;
    uint32_t op, i, r, b;
    for (i = 0; i < m->value.n + m->op.n; i++) p->parent[i] = i;
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_flow_next(m, p->func, op)) tmi_join_op(p, op);
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_flow_next(m, p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        if (tmi_is_root_op(p, o)) tmi_comp_add_op(p, op);
        for (i = 0; i < o->n_out; i++)
            if (tmi_is_node(p, tmi_out(m, o, i))) (void)tmi_comp_new(p, tmi_out(m, o, i), tmi_out_type(m, o, i));
        for (r = tmi_is_region_op(o->kind) ? 0 : o->region; r; r = TMI_REGION(m, r)->next)
            for (b = TMI_REGION(m, r)->first_block; b; b = TMI_BLOCK(m, b)->next)
                for (i = 0; i < TMI_BLOCK(m, b)->n_arg; i++)
                    if (tmi_is_node(p, tmi_block_arg(m, b, i)))
                        (void)tmi_comp_new(p, tmi_block_arg(m, b, i), tmi_value_type(m, tmi_block_arg(m, b, i)));
    }
}

static uint32_t tmi_comp_of(const tmi_plan *p, uint32_t element) {
    uint32_t x = element;
    while (p->parent[x] != x) x = p->parent[x];
    return p->comp_of[x] - 1;
}

static const tmi_lin *tmi_comp_lin(const tmi_plan *p, uint32_t comp) {
    return TMI_LIN(p, TMI_COMP(p, comp)->lin - 1);
}

/* -- Matrix products ------------------------------------------------------------------------------ */

static int tmi_is_mma_elem(const tmi_module *m, uint32_t type) {
    const tmi_type *t = TMI_TYPE(m, tmi_elem(m, type));
    return t->kind == TMI_T_FLOAT && (t->format == TMI_F_F16 || t->format == TMI_F_BF16 || t->format == TMI_F_F32);
}

/* simdgroup_matrix serves 8 by 8 tiles of float, half and bfloat. */
static int tmi_dot_is_mma(const tmi_module *m, const tmi_op *op) {
    uint32_t d, a, rank;
    if (op->kind != TMI_OP_DOT) return 0;
    d = tmi_out_type(m, op, 0);
    a = tmi_in_type(m, op, 0);
    rank = tmi_rank(m, d);
    if (!tmi_is_mma_elem(m, a) || !tmi_is_mma_elem(m, tmi_in_type(m, op, 1)) || !tmi_is_mma_elem(m, d)) return 0;
    return tmi_dim(m, d, rank - 2) >= 8 && tmi_dim(m, d, rank - 1) >= 8 && tmi_dim(m, a, rank - 1) >= 8;
}

/* Does the result of a product reach an operand of another one through elementwise ops? Then rows must
 * stay in one simdgroup, so that the second product reads the first's registers. */
static int tmi_has_chained_dots(tmi_plan *p) {
    const tmi_module *m = p->m;
    uint32_t op;
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_flow_next(m, p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        uint32_t a;
        if (!tmi_dot_is_mma(m, o)) continue;
        a = tmi_in(m, o, 0);
        if (tmi_is_node(p, a) && TMI_COMP(p, tmi_comp_of(p, a))->dot) return 1;
    }
    return 0;
}

/* Simdgroups for the products: about 8 accumulator tiles each (metal-kernels facts 15.8), at most 16. */
static uint32_t tmi_dot_groups(tmi_plan *p, int chained) {
    const tmi_module *m = p->m;
    uint32_t op, groups = 0;
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_flow_next(m, p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        uint32_t d, rank, rows, cols, batch, g;
        if (!tmi_dot_is_mma(m, o)) continue;
        d = tmi_out_type(m, o, 0);
        rank = tmi_rank(m, d);
        rows = tmi_dim(m, d, rank - 2) / 8;
        cols = tmi_dim(m, d, rank - 1) / 8;
        batch = rank > 2 ? tmi_dim(m, d, 0) : 1;
        g = chained ? tmi_min32(tmi_max32(rows / 2, 1), 8) : tmi_min32(tmi_max32(rows * cols * batch / 8, 1), 16);
        groups = tmi_max32(groups, g);
    }
    return groups;
}

/* -- Threads ---------------------------------------------------------------------------------------- */

/* Threads a threadgroup: about four elements of the largest tile each, at most 256 while that leaves
 * 32 or fewer registers of it a thread, then more. */
static uint32_t tmi_pick_threads(tmi_plan *p) {
    uint64_t most = 1;
    uint32_t i, want, groups, chained = (uint32_t)tmi_has_chained_dots(p);
    groups = tmi_dot_groups(p, (int)chained);
    p->has_mma = groups != 0;
    for (i = 0; i < p->comp.n; i++) {
        uint64_t n = tmi_numel(p->m, TMI_COMP(p, i)->type);
        if (n > most) most = n;
    }
    if (groups) want = groups * 32;
    else {
        want = most / 4 > 256 ? 256 : tmi_max32((uint32_t)(most / 4), 32);
        while (want < 1024 && most / want > 32) want *= 2;
    }
    if (p->job->opt->threads) want = p->job->opt->threads;
    want = tmi_max32(want, 32);
    want = tmi_min32(want, p->gpu->threads);
    return 1u << tmi_log2(want);
}

/* How simdgroups split rows and columns of a product's result: rows only when products are chained,
 * else as square as the tile. */
static void tmi_split_groups(tmi_plan *p, uint32_t type, int chained, uint32_t *rows, uint32_t *cols) {
    uint32_t rank = tmi_rank(p->m, type), left = p->n_sg;
    uint32_t r = tmi_dim_bits(p->m, type, rank - 2) - 3, c = tmi_dim_bits(p->m, type, rank - 1) - 3;
    uint32_t batch = rank > 2 ? tmi_dim_bits(p->m, type, 0) : 0;
    *rows = *cols = 0;
    left -= tmi_min32(left, batch);
    while (left && (r > *rows || c > *cols)) {
        uint32_t dr = r - *rows, dc = c - *cols;
        if (dr && (chained || dr >= dc || !dc)) ++*rows;
        else if (dc && !(chained && !dr)) ++*cols;
        else break;
        left--;
    }
}

/* -- Choosing layouts ----------------------------------------------------------------------------------- */

/* Distinct 128-byte lines that one simdgroup touches in one access, when axis `fast` is contiguous in
 * runs of 2^run elements and every other axis lies far apart; `fewest` is what the bytes need. */
static uint32_t tmi_lines_of(const tmi_module *m, uint32_t type, const tmi_lin *l, uint32_t fast, uint32_t run, uint32_t bytes,
                             uint32_t vec, uint32_t *fewest) {
    uint32_t mask = tmi_dim_mask(m, type, fast), low = tmi_dim_low(m, type, fast), i, k, n = 0, distinct = 0;
    uint32_t line[32], addr[32];
    uint32_t far_mask = ~mask | (run < 31 ? (~0u << run) << low : 0u);
    for (i = 0; i < 32; i++) {
        uint32_t x = 0, at;
        for (k = 0; k < TMI_LANE_BITS; k++)
            if (i >> k & 1) x ^= l->lane[k];
        at = (((x & mask) >> low) & ((run < 31 ? 1u << run : 0u) - 1u)) * bytes;
        for (k = 0; k < distinct && addr[k] != x; k++) {}
        if (k == distinct) addr[distinct++] = x;
        x = ((x & far_mask) << 8) ^ ((x & far_mask) >> 24) ^ (at >> 7);
        for (k = 0; k < n && line[k] != x; k++) {}
        if (k == n) line[n++] = x;
    }
    *fewest = (distinct * bytes * vec + 127) / 128;
    if (!*fewest) *fewest = 1;
    return n < *fewest ? *fewest : n;
}

/* Lines that one access of a simdgroup touches, the fewest, and log2 of the elements that a lane moves at
 * once; 0 where there is no tile of pointers. */
static uint32_t tmi_access_lines(const tmi_plan *p, uint32_t id, const tmi_lin *l, uint32_t *vec, uint32_t *fewest) {
    const tmi_module *m = p->m;
    const tmi_op *op = TMI_OP(m, id);
    uint32_t order[TMI_MAX_RANK], type = tmi_op_shape(m, op), i, es;
    *vec = 0;
    if (!tmi_rank(m, type) || !tmi_is_ptrlike(m, tmi_in_type(m, op, 0))) return 0;
    tmi_access_order(p, op, order);
    es = tmi_pointee_bytes_log2(m, tmi_in_type(m, op, 0));
    for (i = 0; i < tmi_access_vec(p, op, order[0]); i++) {
        if (i >= l->n_reg || l->reg[i] != 1u << (tmi_dim_low(m, type, order[0]) + i)) break;
        ++*vec;
    }
    return tmi_lines_of(m, type, l, order[0], tmi_axis_get(&p->axes, tmi_in(m, op, 0), order[0]).c, 1u << es, 1u << *vec, fewest);
}

static uint64_t tmi_access_cost(const tmi_plan *p, uint32_t id, const tmi_lin *l) {
    uint32_t vec, fewest, lines = tmi_access_lines(p, id, l, &vec, &fewest);
    uint64_t n;
    if (!lines) return 0;
    n = ((uint64_t)1 << (l->n_reg - vec)) << p->n_sg;
    return (n * lines) << tmi_min32(p->weight[id], 24);
}

/* What it costs to read a value held as `have` by threads that want `want`; in lines like the above. */
static uint64_t tmi_convert_cost(const tmi_plan *p, uint32_t type, const tmi_lin *have, const tmi_lin *want) {
    uint32_t    reg[TMI_MAX_REG], base;
    tmi_shuffle s;
    if (tmi_lin_readable(have, want, reg, &base)) return 0;
    if (tmi_lin_shuffle(have, want, &s)) return ((uint64_t)1 << want->n_reg) * 2;
    return 64 + tmi_numel(p->m, type) * tmi_bytes(p->m, type) / 32;
}

/* Leaves that an expression reads: nodes and clones with the view of them, scalars with none. */
typedef void (*tmi_need_fn)(tmi_plan *, void *ctx, uint32_t value, const tmi_lin *view);

static void tmi_needs(tmi_plan *p, uint32_t value, const tmi_lin *view, tmi_need_fn fn, void *ctx) {
    const tmi_module *m = p->m;
    const tmi_op *op;
    tmi_lin  v;
    uint32_t i;
    if (p->klass[value] != TMI_C_INLINE) {
        fn(p, ctx, value, p->klass[value] == TMI_C_SCALAR ? NULL : view);
        return;
    }
    op = TMI_OP(m, tmi_def(m, value));
    for (i = 0; i < op->n_in; i++) {
        v = *view;
        if (tmi_is_view(op->kind)) tmi_view(m, op, op->kind == TMI_OP_SPLIT ? TMI_VALUE(m, value)->index : i, &v);
        tmi_needs(p, tmi_in(m, op, i), &v, fn, ctx);
    }
}

typedef struct tmi_edge_sum {
    uint64_t cost;
    uint32_t own; /* component being decided; its own values cost nothing */
} tmi_edge_sum;

static void tmi_add_edge(tmi_plan *p, void *ctx, uint32_t value, const tmi_lin *view) {
    tmi_edge_sum *s = (tmi_edge_sum *)ctx;
    uint32_t c;
    if (!view || p->klass[value] != TMI_C_NODE) return;
    c = tmi_comp_of(p, value);
    if (c == s->own || !TMI_COMP(p, c)->lin) return;
    s->cost += tmi_convert_cost(p, tmi_value_type(p->m, value), tmi_comp_lin(p, c), view);
}

/* Operands whose layout an op does not fix: matrix operands go through threadgroup memory. */
static int tmi_operand_is_free(const tmi_op *op, uint32_t i) {
    return !tmi_operand_joins(op, i);
}

/* What reading decided components would cost if this one had layout `l`. */
static uint64_t tmi_reads_cost(tmi_plan *p, uint32_t c, const tmi_lin *l) {
    const tmi_module *m = p->m;
    tmi_edge_sum s;
    uint32_t op, i;
    s.cost = 0;
    s.own = c;
    for (op = TMI_COMP(p, c)->ops; op; op = p->op_next[op])
        for (i = 0; i < TMI_OP(m, op)->n_in; i++)
            if (tmi_is_tensor(m, tmi_in_type(m, TMI_OP(m, op), i)) && !tmi_operand_is_free(TMI_OP(m, op), i))
                tmi_needs(p, tmi_in(m, TMI_OP(m, op), i), l, tmi_add_edge, &s);
    return s.cost;
}

/* A candidate layout found through neighbours. */
typedef struct tmi_pick {
    tmi_lin  lin[8];
    const char *why[8];
    uint32_t n, own;
} tmi_pick;

static void tmi_pick_add(tmi_pick *k, const tmi_lin *l, const char *why) {
    uint32_t i;
    for (i = 0; i < k->n; i++)
        if (tmi_lin_same(&k->lin[i], l)) return;
    if (k->n == 8) return;
    k->lin[k->n] = *l;
    k->why[k->n++] = why;
}

static void tmi_pick_view(tmi_plan *p, void *ctx, uint32_t value, const tmi_lin *view) {
    tmi_pick *k = (tmi_pick *)ctx;
    tmi_lin   l;
    if (!view || p->klass[value] != TMI_C_NODE || tmi_comp_of(p, value) != k->own) return;
    l = *view;
    tmi_lin_trim(&l);
    tmi_pick_add(k, &l, "as the ops that read it need it");
}

/* Layout that makes a chain of renamings from a decided component's value to `value` free. */
static int tmi_forward_lin(tmi_plan *p, uint32_t value, uint32_t own, tmi_lin *l) {
    const tmi_module *m = p->m;
    const tmi_op *op;
    uint32_t i;
    if (p->klass[value] == TMI_C_NODE) {
        uint32_t c = tmi_comp_of(p, value);
        if (c == own || !TMI_COMP(p, c)->lin) return 0;
        *l = *tmi_comp_lin(p, c);
        return 1;
    }
    if (p->klass[value] != TMI_C_INLINE || !tmi_def(m, value)) return 0;
    op = TMI_OP(m, tmi_def(m, value));
    if (!tmi_is_view(op->kind)) return 0;
    for (i = 0; i < op->n_in; i++)
        if (tmi_forward_lin(p, tmi_in(m, op, i), own, l)) {
            tmi_view_forward(m, op, l);
            return 1;
        }
    return 0;
}

/* Candidates: from reductions that give this component's values, from ops that read them, and from
 * renamed values that its ops read. */
static void tmi_pick_neighbours(tmi_plan *p, uint32_t c, tmi_pick *k) {
    const tmi_module *m = p->m;
    uint32_t op, i, other;
    tmi_lin  l;
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_flow_next(m, p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        if (!tmi_is_root_op(p, o)) continue;
        other = tmi_comp_of(p, tmi_op_element(p, op));
        if (other == c || !TMI_COMP(p, other)->lin) continue;
        if (o->kind == TMI_OP_REDUCE && tmi_is_node(p, tmi_out(m, o, 0)) && tmi_comp_of(p, tmi_out(m, o, 0)) == c) {
            l = *tmi_comp_lin(p, other);
            tmi_reduced_lin(m, o, &l);
            tmi_pick_add(k, &l, "where the reduction leaves it");
        }
        for (i = 0; i < o->n_in; i++)
            if (tmi_is_tensor(m, tmi_in_type(m, o, i)) && !tmi_operand_is_free(o, i))
                tmi_needs(p, tmi_in(m, o, i), tmi_comp_lin(p, other), tmi_pick_view, k);
    }
    for (op = TMI_COMP(p, c)->ops; op; op = p->op_next[op])
        for (i = 0; i < TMI_OP(m, op)->n_in; i++)
            if (tmi_forward_lin(p, tmi_in(m, TMI_OP(m, op), i), c, &l)) tmi_pick_add(k, &l, "as the value that it renames");
}

/* Blocked along the access that moves most bytes; row-major where there is none. */
static void tmi_blocked_for(tmi_plan *p, const tmi_comp *c, tmi_lin *l) {
    const tmi_module *m = p->m;
    uint32_t order[TMI_MAX_RANK], groups[TMI_MAX_RANK], rank = tmi_rank(m, c->type), i, n = 0, vec = 0, bits = tmi_type_bits(m, c->type);
    for (i = 0; i < rank; i++) order[i] = rank - 1 - i;
    if (c->access) {
        tmi_access_order(p, TMI_OP(m, c->access), order);
        vec = rank ? tmi_access_vec(p, TMI_OP(m, c->access), order[0]) : 0;
    } else {
        vec = 2;
    }
    if (rank && vec > tmi_dim_bits(m, c->type, order[0])) vec = tmi_dim_bits(m, c->type, order[0]);
    if (bits < TMI_LANE_BITS + p->n_sg + vec) vec = bits > TMI_LANE_BITS + p->n_sg ? bits - TMI_LANE_BITS - p->n_sg : 0;
    for (i = 0; i < rank; i++) /* simdgroups on axes that are kept, so that a reduction needs no barrier */
        if (!(c->reduced >> order[i] & 1)) groups[n++] = order[i];
    for (i = 0; i < rank; i++)
        if (c->reduced >> order[i] & 1) groups[n++] = order[i];
    tmi_lin_blocked(m, c->type, order, groups, vec, p->n_sg, l);
}

/* A vector lies along the axis of a reduction or across it, never partly: shorter vectors where it would. */
static void tmi_keep_vectors_whole(const tmi_module *m, const tmi_op *op, tmi_lin *l) {
    uint32_t mask, i;
    if (op->kind != TMI_OP_REDUCE) return;
    mask = tmi_dim_mask(m, tmi_in_type(m, op, 0), (uint32_t)tmi_attr_int(m, op, "axis", 0));
    for (i = 1; i < l->vec; i++)
        if (!(l->reg[i] & mask) != !(l->reg[0] & mask)) l->vec = (uint8_t)i;
}

static void tmi_choose_layout(tmi_plan *p, uint32_t c, int chained) {
    tmi_comp *comp = TMI_COMP(p, c);
    tmi_pick  k;
    uint64_t  best = (uint64_t)-1, cost;
    uint32_t  i, op, chosen = 0;
    tmi_lin   l;
    memset(&k, 0, sizeof k);
    k.own = c;
    if (comp->dot && tmi_dot_is_mma(p->m, TMI_OP(p->m, comp->dot))) {
        uint32_t rows, cols;
        tmi_split_groups(p, comp->type, chained, &rows, &cols);
        tmi_lin_matrix(p->m, comp->type, rows, cols, p->n_sg, &l);
        comp->lin = tmi_lin_id(p, &l) + 1;
        comp->reason = "result of a matrix product: 8 by 8 simdgroup tiles";
        return;
    }
    if (!p->job->opt->plain) tmi_pick_neighbours(p, c, &k);
    tmi_blocked_for(p, comp, &l);
    tmi_pick_add(&k, &l, !comp->access ? "row-major" : comp->reduced ? "neighbouring lanes on neighbouring addresses, simdgroups on the axis kept"
                                                                      : "neighbouring lanes on neighbouring addresses");
    for (i = 0; i < k.n; i++) {
        cost = tmi_reads_cost(p, c, &k.lin[i]) + ((uint64_t)1 << k.lin[i].n_reg); /* copies in registers are work */
        for (op = comp->ops; op; op = p->op_next[op])
            if (tmi_accesses_memory(TMI_OP(p->m, op))) cost += tmi_access_cost(p, op, &k.lin[i]);
        if (cost < best) best = cost, chosen = i;
    }
    l = k.lin[chosen];
    for (op = comp->ops; op; op = p->op_next[op]) tmi_keep_vectors_whole(p->m, TMI_OP(p->m, op), &l);
    comp->lin = tmi_lin_id(p, &l) + 1;
    comp->reason = k.why[chosen];
}

/* Components in order of decision: matrix products, then the heaviest in memory, then the largest. */
static uint32_t tmi_next_comp(const tmi_plan *p) {
    uint32_t i, best = TMI_NONE;
    for (i = 0; i < p->comp.n; i++) {
        const tmi_comp *c = TMI_COMP(p, i), *b = best == TMI_NONE ? NULL : TMI_COMP(p, best);
        int dot = c->dot && tmi_dot_is_mma(p->m, TMI_OP(p->m, c->dot));
        int bdot = b && b->dot && tmi_dot_is_mma(p->m, TMI_OP(p->m, b->dot));
        if (c->lin) continue;
        if (!b || (dot && !bdot) ||
            (dot == bdot && (c->weight > b->weight || (c->weight == b->weight && tmi_numel(p->m, c->type) > tmi_numel(p->m, b->type)))))
            best = i;
    }
    return best;
}

static void tmi_choose_layouts(tmi_plan *p) {
    int      chained = tmi_has_chained_dots(p);
    uint32_t c;
    while ((c = tmi_next_comp(p)) != TMI_NONE) tmi_choose_layout(p, c, chained);
}

/* -- Layouts of single ops ------------------------------------------------------------------------------ */

/* Along its axis a scan wants the lowest bits in registers, then lanes, then simdgroups, then registers
 * again, each a bit of its own: then what stands before an element is held by earlier ones. */
static int tmi_scan_fits(const tmi_lin *l, uint32_t mask) {
    uint32_t i, lane_low = 0, lane_high = 0, sg_high = 0, last = 0;
    if (l->offset) return 0;
    for (i = 0; i < TMI_LANE_BITS + l->n_sg; i++) {
        uint32_t b = i < TMI_LANE_BITS ? l->lane[i] : l->sg[i - TMI_LANE_BITS];
        if (!(b & mask)) continue;
        if ((b & (b - 1)) || b < last) return 0;
        last = b;
        if (!lane_low) lane_low = b;
        if (i < TMI_LANE_BITS) lane_high = b;
        else sg_high = b;
    }
    if (!sg_high) sg_high = lane_high;
    for (i = 0; i < l->n_reg; i++) {
        uint32_t b = l->reg[i];
        if (!(b & mask)) continue;
        if ((b & (b - 1)) || (lane_low && b > lane_low && b < sg_high)) return 0;
    }
    for (i = 1, last = 0; i <= l->n_reg; i++) { /* ascending among registers too */
        uint32_t b = l->reg[i - 1];
        if (!(b & mask)) continue;
        if (b < last) return 0;
        last = b;
    }
    return 1;
}

static void tmi_choose_own(tmi_plan *p) {
    const tmi_module *m = p->m;
    uint32_t op;
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_flow_next(m, p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        uint32_t axis, order[TMI_MAX_RANK], groups[TMI_MAX_RANK], i, k, type;
        tmi_lin  l;
        if (o->kind != TMI_OP_SCAN) continue;
        type = tmi_in_type(m, o, 0);
        axis = (uint32_t)tmi_attr_int(m, o, "axis", 0);
        l = *tmi_comp_lin(p, tmi_comp_of(p, tmi_op_element(p, op)));
        if (!tmi_scan_fits(&l, tmi_dim_mask(m, type, axis))) { /* the axis along lanes, other axes on simdgroups */
            for (i = tmi_rank(m, type), k = 0, order[0] = axis; i-- > 0;)
                if (i != axis) groups[k] = i, order[++k] = i;
            groups[k] = axis;
            tmi_lin_blocked(m, type, order, groups, 0, p->n_sg, &l);
        }
        l.vec = 0;
        p->own[op] = tmi_lin_id(p, &l) + 1;
    }
}

/* The layout that an op works in. */
static const tmi_lin *tmi_op_lin(const tmi_plan *p, uint32_t op) {
    return p->own[op] ? TMI_LIN(p, p->own[op] - 1) : tmi_comp_lin(p, tmi_comp_of(p, tmi_op_element(p, op)));
}

/* -- Instances -------------------------------------------------------------------------------------------- */

static uint32_t tmi_inst_new(tmi_plan *p, uint32_t value, uint32_t lin, int kind) {
    uint32_t  id = p->inst.n, *link = &p->first_inst[value];
    tmi_inst *n = (tmi_inst *)tmi_vec_add(p->job, &p->inst);
    n->value = value;
    n->lin = lin;
    n->kind = (uint8_t)kind;
    while (*link) link = &TMI_INST(p, *link - 1)->next;
    *link = id + 1;
    return id;
}

/* An instance that a thread can read as `view` from its own registers; TMI_NONE: none yet. */
static uint32_t tmi_inst_for(const tmi_plan *p, uint32_t value, const tmi_lin *view) {
    uint32_t i, reg[TMI_MAX_REG], base;
    for (i = p->first_inst[value]; i; i = TMI_INST(p, i - 1)->next)
        if (tmi_lin_readable(TMI_LIN(p, TMI_INST(p, i - 1)->lin), view, reg, &base)) return i - 1;
    return TMI_NONE;
}

static void tmi_require_operand(tmi_plan *p, uint32_t value, const tmi_lin *view);

/* A small load from memory that nothing writes may be done again in another layout. */
static int tmi_may_reload(const tmi_plan *p, uint32_t value) {
    const tmi_module *m = p->m;
    const tmi_op *op = TMI_OP(m, tmi_def(m, value));
    uint32_t i;
    if (op->kind != TMI_OP_LOAD || tmi_attr_of(m, op, "isVolatile")) return 0;
    if (tmi_numel(m, tmi_value_type(m, value)) * tmi_bytes(m, tmi_value_type(m, value)) > 4096) return 0;
    for (i = 0; i < op->n_in; i++)
        if (!p->pure[tmi_in(m, op, i)]) return 0;
    return !tmi_is_written(p, p->base[tmi_in(m, op, 0)]);
}

static void tmi_require(tmi_plan *p, void *ctx, uint32_t value, const tmi_lin *view) {
    const tmi_module *m = p->m;
    tmi_lin  l;
    uint32_t id, i;
    (void)ctx;
    if (!view || tmi_inst_for(p, value, view) != TMI_NONE) return;
    l = *view;
    tmi_lin_trim(&l);
    if (p->klass[value] == TMI_C_CLONE || tmi_may_reload(p, value)) {
        const tmi_op *op = TMI_OP(m, tmi_def(m, value));
        id = tmi_inst_new(p, value, tmi_lin_id(p, &l), TMI_I_CLONE);
        (void)id;
        for (i = 0; i < op->n_in; i++) {
            tmi_lin v = l;
            if (tmi_is_view(op->kind)) tmi_view(m, op, op->kind == TMI_OP_SPLIT ? TMI_VALUE(m, value)->index : i, &v);
            if (tmi_is_tensor(m, tmi_in_type(m, op, i))) tmi_require_operand(p, tmi_in(m, op, i), &v);
        }
        return;
    }
    id = tmi_inst_new(p, value, tmi_lin_id(p, &l), TMI_I_CONVERT);
    TMI_INST(p, id)->source = p->first_inst[value] - 1;
}

static void tmi_require_operand(tmi_plan *p, uint32_t value, const tmi_lin *view) {
    tmi_needs(p, value, view, tmi_require, NULL);
}

/* Where its op leaves a value: reductions decide that themselves. */
static void tmi_natural_lin(const tmi_plan *p, uint32_t value, tmi_lin *l) {
    const tmi_module *m = p->m;
    const tmi_op *op = TMI_OP(m, tmi_def(m, value));
    *l = *tmi_comp_lin(p, tmi_comp_of(p, value));
    if (tmi_def(m, value) && p->own[tmi_def(m, value)]) *l = *TMI_LIN(p, p->own[tmi_def(m, value)] - 1);
    if (op->kind != TMI_OP_REDUCE) return;
    *l = *tmi_comp_lin(p, tmi_comp_of(p, tmi_op_element(p, tmi_def(m, value))));
    tmi_reduced_lin(m, op, l);
}

static void tmi_first_instances(tmi_plan *p) {
    uint32_t v;
    tmi_lin  l;
    for (v = 1; v < p->m->value.n; v++) {
        if (p->klass[v] != TMI_C_NODE || !p->comp_of[v]) continue;
        tmi_natural_lin(p, v, &l);
        (void)tmi_inst_new(p, v, tmi_lin_id(p, &l), TMI_I_FIRST);
    }
}

/* Layout of the values that a loop or branch carries. */
static const tmi_lin *tmi_value_lin(const tmi_plan *p, uint32_t value) {
    return tmi_comp_lin(p, tmi_comp_of(p, value));
}

/* Copies into loop-carried values and branch results read in the carried value's layout. */
static void tmi_require_copies(tmi_plan *p, const tmi_op *op) {
    const tmi_module *m = p->m;
    uint32_t i, k, body = tmi_op_body(m, op, 0), end;
    if (op->kind == TMI_OP_FOR) {
        end = tmi_terminator(m, body);
        for (i = 0; i < op->n_out; i++) {
            if (!tmi_is_node(p, tmi_out(m, op, i))) continue;
            tmi_require_operand(p, tmi_in(m, op, 3 + i), tmi_value_lin(p, tmi_out(m, op, i)));
            tmi_require_operand(p, tmi_in(m, TMI_OP(m, end), i), tmi_value_lin(p, tmi_out(m, op, i)));
        }
    } else if (op->kind == TMI_OP_WHILE) {
        uint32_t after = tmi_op_body(m, op, 1), cond = tmi_terminator(m, body);
        end = tmi_terminator(m, after);
        for (i = 0; i < op->n_in; i++) {
            uint32_t arg = tmi_block_arg(m, body, i);
            if (!tmi_is_node(p, arg)) continue;
            tmi_require_operand(p, tmi_in(m, op, i), tmi_value_lin(p, arg));
            tmi_require_operand(p, tmi_in(m, TMI_OP(m, end), i), tmi_value_lin(p, arg));
        }
        for (i = 0; i < op->n_out; i++)
            if (tmi_is_node(p, tmi_out(m, op, i)))
                tmi_require_operand(p, tmi_in(m, TMI_OP(m, cond), 1 + i), tmi_value_lin(p, tmi_out(m, op, i)));
    } else if (op->kind == TMI_OP_IF) {
        for (k = 0; k < op->n_region; k++) {
            end = tmi_terminator(m, tmi_op_body(m, op, k));
            for (i = 0; i < op->n_out && TMI_OP(m, end)->kind == TMI_OP_YIELD; i++)
                if (tmi_is_node(p, tmi_out(m, op, i)))
                    tmi_require_operand(p, tmi_in(m, TMI_OP(m, end), i), tmi_value_lin(p, tmi_out(m, op, i)));
        }
    }
}

/* The layout in which a matrix operand can feed simdgroup tiles from registers: 8 by 8 tiles with all of
 * K in one simdgroup. 1 when the value is held so. */
static int tmi_operand_in_registers(const tmi_plan *p, const tmi_op *dot, uint32_t operand, const tmi_lin *d) {
    const tmi_module *m = p->m;
    uint32_t v = tmi_in(m, dot, operand), type = tmi_value_type(m, v), rank = tmi_rank(m, type), i, row, drow;
    const tmi_lin *l;
    if (operand != 0 || !tmi_is_node(p, v) || !TMI_COMP(p, tmi_comp_of(p, v))->dot) return 0;
    if (!tmi_dot_is_mma(m, TMI_OP(m, TMI_COMP(p, tmi_comp_of(p, v))->dot))) return 0;
    l = tmi_value_lin(p, v);
    row = tmi_dim_low(m, type, rank - 2);
    drow = tmi_dim_low(m, tmi_out_type(m, dot, 0), rank - 2);
    for (i = 0; i < p->n_sg; i++) /* each simdgroup owns the same rows of both, and no part of K */
        if ((l->sg[i] & ((1u << row) - 1)) || (l->sg[i] >> row) != (d->sg[i] >> drow) || (d->sg[i] & ((1u << drow) - 1))) return 0;
    return 1;
}

/* The layout in which a matrix operand is written to threadgroup memory: its own, or one that makes its
 * renamings free, or blocked. */
static void tmi_stage_operand(tmi_plan *p, uint32_t id, uint32_t k) {
    const tmi_op *op = TMI_OP(p->m, id);
    uint32_t v = tmi_in(p->m, op, k);
    tmi_lin  l;
    tmi_comp c;
    if (!tmi_forward_lin(p, v, TMI_NONE, &l)) {
        memset(&c, 0, sizeof c);
        c.type = tmi_value_type(p->m, v);
        tmi_blocked_for(p, &c, &l);
    }
    l.offset = 0;
    tmi_lin_trim(&l);
    l.vec = 0;
    p->stage[k][id] = tmi_lin_id(p, &l) + 1;
    tmi_require_operand(p, v, &l);
}

static void tmi_require_all(tmi_plan *p) {
    const tmi_module *m = p->m;
    uint32_t op, i;
    tmi_lin  all;
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_flow_next(m, p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        const tmi_lin *l;
        if (o->n_region && !tmi_is_region_op(o->kind)) {
            tmi_require_copies(p, o);
            continue;
        }
        if (o->kind == TMI_OP_UNSPLAT) { /* every thread wants the one element */
            tmi_lin_zero(&all, p->n_sg);
            tmi_require_operand(p, tmi_in(m, o, 0), &all);
        }
        if (!tmi_is_root_op(p, o)) continue;
        l = tmi_op_lin(p, op);
        if (o->kind == TMI_OP_GATHER || o->kind == TMI_OP_HISTOGRAM) tmi_stage_operand(p, op, 0);
        if (o->kind == TMI_OP_HISTOGRAM && o->n_in > 1) tmi_require_operand(p, tmi_in(m, o, 1), TMI_LIN(p, p->stage[0][op] - 1));
        if (o->kind == TMI_OP_DOT) {
            if (!tmi_dot_is_mma(m, o) || !tmi_operand_in_registers(p, o, 0, l)) tmi_stage_operand(p, op, 0);
            tmi_stage_operand(p, op, 1);
        }
        for (i = 0; i < o->n_in; i++) {
            if (!tmi_is_tensor(m, tmi_in_type(m, o, i))) continue;
            if (!tmi_operand_is_free(o, i)) tmi_require_operand(p, tmi_in(m, o, i), l);
        }
    }
}

/* -- All of it --------------------------------------------------------------------------------------------- */

static void tmi_plan_make(tmi_job *job, tmi_module *m, uint32_t func, const tmetal_gpu *gpu, tmi_plan *p) {
    memset(p, 0, sizeof *p);
    p->job = job;
    p->m = m;
    p->func = func;
    p->gpu = gpu;
    tmi_vec_init(&p->comp, sizeof(tmi_comp), 1);
    tmi_vec_init(&p->lin, sizeof(tmi_lin), 1);
    tmi_vec_init(&p->inst, sizeof(tmi_inst), 1);
    p->klass = TMI_TEMP(job, uint8_t, m->value.n);
    p->cost = TMI_TEMP(job, uint8_t, m->value.n);
    p->depth = TMI_TEMP(job, uint8_t, m->value.n);
    p->pure = TMI_TEMP(job, uint8_t, m->value.n);
    p->base = TMI_TEMP(job, uint32_t, m->value.n);
    p->weight = TMI_TEMP(job, uint8_t, m->op.n);
    p->parent = TMI_TEMP(job, uint32_t, m->value.n + m->op.n);
    p->comp_of = TMI_TEMP(job, uint32_t, m->value.n + m->op.n);
    p->op_next = TMI_TEMP(job, uint32_t, m->op.n);
    p->first_inst = TMI_TEMP(job, uint32_t, m->value.n);
    p->stage[0] = TMI_TEMP(job, uint32_t, m->op.n);
    p->stage[1] = TMI_TEMP(job, uint32_t, m->op.n);
    p->own = TMI_TEMP(job, uint32_t, m->op.n);
    tmi_users_make(job, m, func, &p->users);
    tmi_axis_make(job, m, func, &p->axes);
    tmi_classify(p);
    tmi_find_bases(p);
    tmi_plan_aliases(p);
    tmi_find_accesses(p);
    tmi_components(p);
    p->threads = tmi_pick_threads(p);
    p->n_sg = tmi_log2(p->threads / 32);
    tmi_choose_layouts(p);
    tmi_choose_own(p);
    tmi_first_instances(p);
    tmi_require_all(p);
}

/*==============================================================================
 * >>lower  [17]  From tiles to threads
 *
 * gives   tmi_lower_func(): fills a tmi_thr
 * uses    >>plan  >>layout  >>thread
 * order   program order; work on tiles of one layout is gathered into one loop nest where no
 *         dependence and no memory access forbids it
 *
 * A block becomes a row of slots. A slot is a loop nest over the registers of one layout, or one op
 * that needs whole tiles (a matrix product, a loop, a barrier). Scalars are computed in the gaps.
 *============================================================================*/

enum { /* table words of `tf` that no single per-thread operation stands for */
    TMI_TF_CLAMP = TMI_TF_COUNT + 1, TMI_TF_EXTERN, TMI_TF_SDIVC, TMI_TF_UDIVC, TMI_TF_SDIVF, TMI_TF_UADDX, TMI_TF_UMULX,
    TMI_TF_SMULX, TMI_TF_FPOWI, TMI_TF_IPOWI, TMI_TF_SCAST, TMI_TF_UCAST
};

static const uint16_t tmi_tf_of_op[TMI_OP_COUNT] = {
    0,
#define X(id, name, group, in, out, types, text, lower, tf, traits) TMI_TF_##tf,
    TMI_OPS(X)
#undef X
};

/* Memory seen so far in a block, for one class of addresses (a parameter; 31: all others). */
typedef struct tmi_seen {
    uint32_t wslot, rslot; /* last slot + 1 that writes, reads */
    uint32_t wptr, rptr;   /* the one address used, TMI_NONE when several */
    uint32_t wlin, rlin;
    uint8_t  wcopies, rcopies;
} tmi_seen;

typedef enum tmi_task_kind { TMI_TASK_COMPUTE, TMI_TASK_ROOT, TMI_TASK_WRITE } tmi_task_kind;

typedef struct tmi_task {
    uint8_t  kind;
    uint32_t op, inst, next;
} tmi_task;

typedef struct tmi_slot {
    uint8_t  is_nest, is_barrier;
    uint32_t lin, op;
    uint32_t first, last;   /* tasks + 1 */
    uint32_t scalars, scalars_last; /* ops computed before it, linked by low->scalar_next */
} tmi_slot;

/* A loop nest over a layout's registers, while it is being filled. */
typedef struct tmi_nest {
    const tmi_lin *lin;
    uint32_t lin_id, vec;               /* log2 of elements handled as one Metal vector */
    uint32_t var[TMI_MAX_REG];          /* loop variable that holds each register bit; 0: a vector bit */
    uint32_t bit[TMI_MAX_REG];          /* which bit of it */
    uint32_t n_open, first_memo;
} tmi_nest;

#define TMI_VEC 4u /* mode of an element: the whole vector; below that, one of its elements */

typedef struct tmi_memo {
    uint32_t value, lin, mode, ref, next;
} tmi_memo;

typedef struct tmi_low {
    tmi_plan   *p;
    tmi_thr    *t;
    tmi_job    *job;
    tmi_module *m;
    uint32_t   *scalar;      /* per value: instruction */
    uint32_t   *avail;       /* per value or instance owner: slot it is ready before, in its own block */
    uint32_t   *scalar_next; /* per op */
    uint32_t   *slot_of;     /* per instance: see tmi_inst.slot; block in which */
    uint32_t   *reads, *writes; /* per op: classes of memory touched inside */
    tmi_nest   *nest;
    tmi_vec     memo;
    tmi_hash    memo_hash;
    tmi_vec     slot, task;
    uint32_t    first_slot;  /* of the block being scheduled */
    uint32_t    block, fence;
    tmi_seen    seen[32];
    uint32_t   *memo_slot;   /* hash of memo entries of the open nest */
    uint32_t    memo_cap;
    uint32_t   *map;         /* per value inside combining regions: instruction */
    uint32_t    phase;
} tmi_low;

#define TMI_SLOT(w, i) TMI_AT(&(w)->slot, tmi_slot, (i))
#define TMI_TASK(w, i) TMI_AT(&(w)->task, tmi_task, (i))
#define TMI_MEMO(w, i) TMI_AT(&(w)->memo, tmi_memo, (i))

/* -- Types --------------------------------------------------------------------------------- */

static tmi_tty tmi_tty_from(const tmi_module *m, uint32_t type) {
    tmi_tty t = tmi_tty_of(tmi_s_of(m, type), 1);
    if (t.kind == TMI_S_PTR) {
        const tmi_type *p = TMI_TYPE(m, tmi_elem(m, type));
        t.elem = (uint8_t)(TMI_TYPE(m, p->elem)->kind == TMI_T_PTR ? TMI_S_I64 : tmi_s_of(m, p->elem));
        if (t.elem == TMI_S_BOOL) t.elem = TMI_S_I8; /* one byte a boolean in memory */
    }
    return t;
}

/* Name of a value in the user's program: its place's, else its own without the number MLIR added. */
static uint32_t tmi_source_name(tmi_low *w, uint32_t value) {
    const tmi_module *m = w->m;
    const tmi_value  *v = TMI_VALUE(m, value);
    uint32_t name = tmi_loc_name(m, v->is_arg ? v->loc : TMI_OP(m, v->def)->loc);
    if (name) return name;
    name = v->name;
    if (!name || tmi_is_digit(TMI_STR(m, name)[0]) || TMI_STR(m, name)[0] == 'c') return 0;
    return name;
}

/* -- Elementwise ------------------------------------------------------------------------------- */

static uint32_t tmi_conv(tmi_thr *t, uint32_t a, int kind) { /* float to float, nearest even */
    if (tmi_t_type(t, a).kind == kind) return a;
    if ((tmi_t_type(t, a).kind == TMI_S_F16 && kind == TMI_S_BF16) || (tmi_t_type(t, a).kind == TMI_S_BF16 && kind == TMI_S_F16))
        a = tmi_conv(t, a, TMI_S_F32);
    if (TMI_INS(t, a)->op == TMI_TF_CONST) {
        static const uint8_t formats[TMI_S_COUNT] = {0, 0, 0, 0, 0, 0, TMI_F_F16, TMI_F_BF16, TMI_F_F32, 0};
        const tmi_float_format *from = &tmi_float_formats[formats[tmi_t_type(t, a).kind]], *to = &tmi_float_formats[formats[kind]];
        int      negative, exp;
        uint64_t mant;
        if (tmi_float_split(from, tmi_t_bits(t, a), &negative, &mant, &exp))
            return tmi_t_const(t, tmi_tty_of(kind, 1), tmi_float_round(to, negative, mant, exp, 0));
    }
    return tmi_t_un(t, TMI_TF_FCONV, tmi_tty_of(kind, 1), a);
}

static uint32_t tmi_float_bits_const(tmi_thr *t, int kind, uint32_t f16, uint32_t bf16, uint32_t f32) {
    return tmi_t_const(t, tmi_tty_of(kind, 1), kind == TMI_S_F16 ? f16 : kind == TMI_S_BF16 ? bf16 : f32);
}

/* Triton leaves counts of the width and more open; CUDA gives 0, or the sign: so do we. */
static uint32_t tmi_shift(tmi_thr *t, int op, uint32_t a, uint32_t b) {
    uint32_t bits = tmi_scalar_bits[tmi_t_type(t, a).kind];
    int      kind = tmi_t_type(t, b).kind;
    const tmi_ins *n = TMI_INS(t, b);
    if (n->lo >= 0 && n->hi < (int64_t)bits) return tmi_t_bin(t, op, a, b);
    if (op == TMI_TF_SSHR) return tmi_t_bin(t, op, a, tmi_t_bin(t, TMI_TF_UMIN, b, tmi_t_int(t, kind, bits - 1)));
    return tmi_t_select(t, tmi_t_icmp(t, 6, b, tmi_t_int(t, kind, bits)), tmi_t_bin(t, op, a, b), tmi_t_zero(t, tmi_t_type(t, a)));
}

/* Arithmetic on i1: addition is exclusive or, and true reads as -1 where sign counts. */
static uint32_t tmi_bool_op(tmi_thr *t, int op, uint32_t a, uint32_t b) {
    switch (op) {
    case TMI_TF_IADD: case TMI_TF_ISUB: return tmi_t_bin(t, TMI_TF_XOR, a, b);
    case TMI_TF_IMUL: case TMI_TF_SMAX: case TMI_TF_UMIN: return tmi_t_and(t, a, b);
    case TMI_TF_SMIN: case TMI_TF_UMAX: return tmi_t_bin(t, TMI_TF_OR, a, b);
    case TMI_TF_SDIV: case TMI_TF_UDIV: return a;
    case TMI_TF_SREM: case TMI_TF_UREM: return tmi_t_bool(t, 0);
    case TMI_TF_SHL: case TMI_TF_USHR: return tmi_t_and(t, a, tmi_t_un(t, TMI_TF_NOT, tmi_t_type(t, b), b));
    case TMI_TF_SSHR: return a;
    default: return tmi_t_bin(t, op, a, b);
    }
}

static uint32_t tmi_int_op(tmi_thr *t, int op, uint32_t a, uint32_t b) {
    uint32_t zero, one, q;
    if (tmi_t_type(t, a).kind == TMI_S_BOOL) return tmi_bool_op(t, op, a, b);
    switch (op) {
    case TMI_TF_SHL: case TMI_TF_SSHR: case TMI_TF_USHR: return tmi_shift(t, op, a, b);
    case TMI_TF_UDIVC: /* a / b, and one more when something is left */
    case TMI_TF_SDIVC:
    case TMI_TF_SDIVF:
        zero = tmi_t_zero(t, tmi_t_type(t, a));
        one = tmi_t_int(t, tmi_t_type(t, a).kind, 1);
        q = tmi_t_bin(t, op == TMI_TF_UDIVC ? TMI_TF_UDIV : TMI_TF_SDIV, a, b);
        {
            uint32_t rest = tmi_t_bin(t, TMI_TF_ISUB, a, tmi_t_mul(t, q, b));
            uint32_t left = tmi_t_icmp(t, 1, rest, zero), same;
            if (op == TMI_TF_UDIVC) return tmi_t_select(t, left, tmi_t_add(t, q, one), q);
            same = tmi_t_icmp(t, 5, tmi_t_bin(t, TMI_TF_XOR, a, b), zero); /* signs agree: quotient is not negative */
            if (op == TMI_TF_SDIVC) return tmi_t_select(t, tmi_t_and(t, left, same), tmi_t_add(t, q, one), q);
            return tmi_t_select(t, tmi_t_and(t, left, tmi_t_un(t, TMI_TF_NOT, tmi_t_type(t, same), same)), tmi_t_bin(t, TMI_TF_ISUB, q, one), q);
        }
    default: return tmi_t_bin(t, op, a, b);
    }
}

static uint32_t tmi_elt_clamp(tmi_thr *t, const tmi_module *m, const tmi_op *op, const uint32_t *v) {
    uint32_t r = tmi_t_bin(t, TMI_TF_FMINN, tmi_t_bin(t, TMI_TF_FMAXN, v[0], v[1]), v[2]);
    if (tmi_attr_int(m, op, "propagateNan", 0)) r = tmi_t_select(t, tmi_t_fcmp(t, 14, v[0], v[0]), v[0], r);
    return r;
}

/* -- Calls of functions: rows of >>library, and Metal's own by their external names ------------------- */

static const char *tmi_fn_sig(uint32_t fn) { return fn < TMI_FN_COUNT ? tmi_fns[fn].sig : tmi_externs[fn - TMI_FN_COUNT].sig; }

static tmi_tty tmi_sig_type(char c) {
    switch (c) {
    case 'f': return tmi_tty_of(TMI_S_F32, 1);
    case 'h': return tmi_tty_of(TMI_S_F16, 1);
    case 't': return tmi_tty_of(TMI_S_BF16, 1);
    case 'q': case 'c': return tmi_tty_of(TMI_S_I8, 1);
    case 's': case 'w': return tmi_tty_of(TMI_S_I16, 1);
    case 'i': case 'u': return tmi_tty_of(TMI_S_I32, 1);
    case 'b': return tmi_tty_of(TMI_S_BOOL, 1);
    default: return tmi_tty_of(TMI_S_I64, 1);
    }
}

/* A pure call; the operands have the types of the signature. */
static uint32_t tmi_t_call(tmi_thr *t, uint32_t fn, const uint32_t *v, uint32_t n) {
    tmi_ins  x;
    uint32_t i, first = t->list.n, id;
    for (i = 0; i < n; i++) *(uint32_t *)tmi_vec_add(t->job, &t->list) = v[i];
    tmi_ins_zero(&x, TMI_TF_HELP, tmi_sig_type(tmi_fn_sig(fn)[0]));
    x.a = first;
    x.b = n;
    x.c = fn;
    if (tmi_s_is_int(x.type.kind)) tmi_full_range(x.type.kind, &x.lo, &x.hi);
    id = tmi_t_pure(t, &x, v, n);
    if (TMI_INS(t, id)->a != first) t->list.n = first;
    return id;
}

static uint32_t tmi_elt_count_bits(tmi_thr *t, int op, uint32_t a) {
    tmi_tty type = tmi_t_type(t, a);
    if (type.kind == TMI_S_BOOL) return op == TMI_TF_POPC ? a : tmi_t_un(t, TMI_TF_NOT, type, a);
    if (type.kind == TMI_S_I64)
        return tmi_t_call(t, op == TMI_TF_CLZ ? TMI_FN_CLZ64 : op == TMI_TF_CTZ ? TMI_FN_CTZ64 : TMI_FN_POPC64, &a, 1);
    return tmi_t_un(t, op, type, a);
}

static uint32_t tmi_elt_compare(tmi_thr *t, uint32_t p, uint32_t a, uint32_t b) {
    if (tmi_t_type(t, a).kind == TMI_S_BOOL && p > 1) { /* true is -1 for signed comparisons, 1 for the others */
        a = tmi_t_intcast(t, a, TMI_S_I32, p < 6);
        b = tmi_t_intcast(t, b, TMI_S_I32, p < 6);
        if (p >= 6) p -= 4;
    }
    return tmi_t_icmp(t, p, a, b);
}

/* Casts that change what the bits mean. */
static uint32_t tmi_elt_cast(tmi_thr *t, int op, uint32_t a, tmi_tty to) {
    int from = tmi_t_type(t, a).kind;
    switch (op) {
    case TMI_TF_SEXT: case TMI_TF_SCAST: return tmi_t_intcast(t, a, to.kind, 1);
    case TMI_TF_ZEXT: case TMI_TF_UCAST: case TMI_TF_TRUNC: return tmi_t_intcast(t, a, to.kind, 0);
    case TMI_TF_S2F: case TMI_TF_U2F:
        if (from == TMI_S_BOOL) a = tmi_t_intcast(t, a, TMI_S_I32, op == TMI_TF_S2F);
        if (to.kind == TMI_S_BF16) return tmi_conv(t, tmi_t_un(t, op, tmi_tty_of(TMI_S_F32, 1), a), TMI_S_BF16);
        return tmi_t_un(t, op, to, a);
    case TMI_TF_F2S: case TMI_TF_F2U:
        if (from != TMI_S_F32) a = tmi_conv(t, a, TMI_S_F32);
        if (to.kind == TMI_S_BOOL) return tmi_t_intcast(t, tmi_t_un(t, op, tmi_tty_of(TMI_S_I32, 1), a), TMI_S_BOOL, 0);
        if (to.kind == TMI_S_I8) return tmi_t_intcast(t, tmi_t_un(t, op, tmi_tty_of(TMI_S_I16, 1), a), TMI_S_I8, 0); /* as PTX: through 16 bits */
        return tmi_t_un(t, op, to, a);
    case TMI_TF_BITCAST:
        if (to.kind == TMI_S_PTR) return tmi_t_tern(t, TMI_TF_PCAST, to, a, 0, 0);
        if (from == to.kind) return a;
        return tmi_t_un(t, TMI_TF_BITCAST, to, a);
    case TMI_TF_P2I: return tmi_t_intcast(t, tmi_t_un(t, TMI_TF_P2I, tmi_tty_of(TMI_S_I64, 1), a), to.kind, 0);
    case TMI_TF_I2P: return tmi_t_tern(t, TMI_TF_I2P, to, tmi_t_intcast(t, a, TMI_S_I64, 1), 0, 0);
    default: return a;
    }
}

static uint32_t tmi_elt_abs(tmi_thr *t, uint32_t a) { /* the smallest integer stays itself, so not Metal's abs */
    uint32_t zero = tmi_t_zero(t, tmi_t_type(t, a));
    if (tmi_t_type(t, a).kind == TMI_S_BOOL) return a;
    return tmi_t_select(t, tmi_t_icmp(t, 2, a, zero), tmi_t_bin(t, TMI_TF_ISUB, zero, a), a);
}

static uint32_t tmi_elt_fpowi(tmi_thr *t, const uint32_t *v) {
    uint32_t x[2];
    x[0] = v[0];
    x[1] = tmi_t_intcast(t, v[1], TMI_S_I32, 1);
    return tmi_t_call(t, TMI_FN_FPOWI, x, 2);
}

static uint32_t tmi_elt_ipowi(tmi_thr *t, const uint32_t *v, int kind) { /* narrow ones wrap when cut */
    int      wide = kind == TMI_S_I64;
    uint32_t x[2];
    x[0] = tmi_t_intcast(t, v[0], wide ? kind : TMI_S_I32, 1);
    x[1] = tmi_t_intcast(t, v[1], wide ? kind : TMI_S_I32, 1);
    return tmi_t_intcast(t, tmi_t_call(t, wide ? TMI_FN_IPOWI_64 : TMI_FN_IPOWI_32, x, 2), kind, 0);
}

/* -- Floats that the hardware lacks: doubles and bytes, as calls of >>library -------------------------------- */

/* Names of the functions that decode and encode a format: to float, to half, from float; NULL: none. */
typedef struct tmi_soft_row {
    uint8_t     format;
    const char *to_f32, *to_f16, *from_f32;
} tmi_soft_row;

static const tmi_soft_row tmi_soft_rows[] = {
    {TMI_F_F64, "f64_to_f32", "f64_to_f16", "f32_to_f64"},
    {TMI_F_E5M2, "f8e5m2_to_f32", "f8e5m2_to_f16", "f32_to_f8e5m2"},
    {TMI_F_E4M3FN, "f8e4m3fn_to_f32", "f8e4m3fn_to_f16", "f32_to_f8e4m3fn"},
    {TMI_F_E4M3FNUZ, "f8e4m3fnuz_to_f32", "f8e4m3fnuz_to_f16", "f32_to_f8e4m3fnuz"},
    {TMI_F_E5M2FNUZ, "f8e5m2fnuz_to_f32", "f8e5m2fnuz_to_f16", "f32_to_f8e5m2fnuz"},
    {TMI_F_E4M3B11, "f8e4m3b15_to_f32", "f8e4m3b15_to_f16", "f32_to_f8e4m3b15"}, /* Triton's fp8e4b15 */
};

static const tmi_soft_row *tmi_soft_of(uint32_t format) {
    size_t i;
    for (i = 0; i < sizeof tmi_soft_rows / sizeof *tmi_soft_rows; i++)
        if (tmi_soft_rows[i].format == format) return &tmi_soft_rows[i];
    return NULL;
}

/* Operations on doubles that are one call. */
typedef struct tmi_f64_row {
    uint16_t    tf;
    const char *name;
} tmi_f64_row;

static const tmi_f64_row tmi_f64_rows[] = {
    {TMI_TF_FADD, "f64_add"}, {TMI_TF_FSUB, "f64_sub"}, {TMI_TF_FMUL, "f64_mul"}, {TMI_TF_FDIV, "f64_div"}, {TMI_TF_FREM, "f64_fmod"},
    {TMI_TF_FNEG, "f64_neg"}, {TMI_TF_FABS, "f64_abs"}, {TMI_TF_FMAXN, "f64_maxnum"}, {TMI_TF_FMINN, "f64_minnum"}, {TMI_TF_FMAX, "f64_maximum"},
    {TMI_TF_FMIN, "f64_minimum"}, {TMI_TF_FMA, "f64_fma"}, {TMI_TF_SQRT, "f64_sqrt"}, {TMI_TF_PSQRT, "f64_sqrt"}, {TMI_TF_RSQRT, "f64_rsqrt"},
    {TMI_TF_FLOOR, "f64_floor"}, {TMI_TF_CEIL, "f64_ceil"}, {TMI_TF_FTRUNC, "f64_trunc"}, {TMI_TF_ROUND, "f64_round"}, {TMI_TF_RINT, "f64_rint"},
    {TMI_TF_COPYSIGN, "f64_copysign"}, {TMI_TF_ISNAN, "f64_isnan"}, {TMI_TF_EXP, "f64_exp"}, {TMI_TF_EXP2, "f64_exp2"}, {TMI_TF_EXP10, "f64_exp10"},
    {TMI_TF_EXPM1, "f64_expm1"}, {TMI_TF_LOG, "f64_log"}, {TMI_TF_LOG2, "f64_log2"}, {TMI_TF_LOG10, "f64_log10"}, {TMI_TF_LOG1P, "f64_log1p"},
    {TMI_TF_SIN, "f64_sin"}, {TMI_TF_COS, "f64_cos"}, {TMI_TF_TAN, "f64_tan"}, {TMI_TF_ASIN, "f64_asin"}, {TMI_TF_ACOS, "f64_acos"},
    {TMI_TF_ATAN, "f64_atan"}, {TMI_TF_SINH, "f64_sinh"}, {TMI_TF_COSH, "f64_cosh"}, {TMI_TF_TANH, "f64_tanh"}, {TMI_TF_ASINH, "f64_asinh"},
    {TMI_TF_ACOSH, "f64_acosh"}, {TMI_TF_ATANH, "f64_atanh"}, {TMI_TF_POW, "f64_pow"}, {TMI_TF_ATAN2, "f64_atan2"}, {TMI_TF_CBRT, "f64_cbrt"},
    {TMI_TF_ERF, "f64_erf"}, {TMI_TF_ERFC, "f64_erfc"}, {TMI_TF_FPOWI, "f64_powi"},
};

static const char *tmi_f64_name(int tf) {
    size_t i;
    for (i = 0; i < sizeof tmi_f64_rows / sizeof *tmi_f64_rows; i++)
        if (tmi_f64_rows[i].tf == tf) return tmi_f64_rows[i].name;
    return NULL;
}

static uint32_t tmi_soft_call(tmi_thr *t, const char *name, const uint32_t *v, uint32_t n) {
    uint32_t fn = name ? tmi_fn_named(name, strlen(name)) : (uint32_t)TMI_FN_COUNT;
    if (fn == TMI_FN_COUNT) tmi_bug(t->job, "lower", name ? name : "a function of doubles is missing");
    return tmi_t_call(t, fn, v, n);
}

static uint32_t tmi_soft_1(tmi_thr *t, const char *name, uint32_t a) { return tmi_soft_call(t, name, &a, 1); }

static uint32_t tmi_soft_2(tmi_thr *t, const char *name, uint32_t a, uint32_t b) {
    uint32_t v[2];
    v[0] = a;
    v[1] = b;
    return tmi_soft_call(t, name, v, 2);
}

static uint32_t tmi_soft_decode(tmi_thr *t, uint32_t v, uint32_t format) { /* to float: exact but for doubles */
    if (tmi_format_is_soft(format)) return tmi_soft_1(t, tmi_soft_of(format)->to_f32, v);
    return tmi_conv(t, v, TMI_S_F32);
}

static uint32_t tmi_soft_encode(tmi_thr *t, uint32_t v, uint32_t format, int toward_zero) { /* from float */
    if (format == TMI_F_E5M2 && toward_zero) return tmi_soft_1(t, "f32_to_f8e5m2_rz", v);
    return tmi_soft_1(t, tmi_soft_of(format)->from_f32, v);
}

/* From one float format to another, at least one of them soft. */
static uint32_t tmi_soft_convert(tmi_thr *t, uint32_t v, uint32_t from, uint32_t to, int toward_zero) {
    static const char *const f64_to[2][2] = {{"f64_to_f16", "f64_to_bf16"}, {"f64_to_f16_rz", "f64_to_bf16_rz"}};
    if (from == to) return v;
    if (from == TMI_F_F64 && (to == TMI_F_F16 || to == TMI_F_BF16)) return tmi_soft_1(t, f64_to[toward_zero][to == TMI_F_BF16], v);
    if (from == TMI_F_F64 && to == TMI_F_F32 && toward_zero) return tmi_soft_1(t, "f64_to_f32_rz", v);
    if (to == TMI_F_F16 && tmi_format_is_soft(from)) return tmi_soft_1(t, tmi_soft_of(from)->to_f16, v);
    v = tmi_soft_decode(t, v, from);
    if (tmi_format_is_soft(to)) return tmi_soft_encode(t, v, to, toward_zero);
    return tmi_conv(t, v, to == TMI_F_F16 ? TMI_S_F16 : to == TMI_F_BF16 ? TMI_S_BF16 : TMI_S_F32);
}

static uint32_t tmi_soft_from_int(tmi_thr *t, uint32_t v, uint32_t format, int is_signed) {
    int wide = tmi_t_type(t, v).kind == TMI_S_I64;
    if (!wide) v = tmi_t_intcast(t, v, TMI_S_I32, is_signed);
    if (format != TMI_F_F64) return tmi_soft_encode(t, tmi_t_un(t, is_signed ? TMI_TF_S2F : TMI_TF_U2F, tmi_tty_of(TMI_S_F32, 1), v), format, 0);
    return tmi_soft_1(t, wide ? (is_signed ? "i64_to_f64" : "u64_to_f64") : is_signed ? "i32_to_f64" : "u32_to_f64", v);
}

/* Truncates; saturates as CUDA does, narrow types at 16 bits. */
static uint32_t tmi_soft_to_int(tmi_thr *t, uint32_t v, uint32_t format, int kind, int is_signed) {
    uint32_t bits = kind == TMI_S_I8 ? 16 : tmi_scalar_bits[kind];
    if (format != TMI_F_F64) {
        v = tmi_soft_decode(t, v, format);
        v = tmi_t_un(t, is_signed ? TMI_TF_F2S : TMI_TF_F2U, tmi_tty_of(kind == TMI_S_I8 ? TMI_S_I16 : kind == TMI_S_BOOL ? TMI_S_I32 : kind, 1), v);
        return tmi_t_intcast(t, v, kind, 0);
    }
    if (kind == TMI_S_I64) return tmi_soft_1(t, is_signed ? "f64_to_i64_rz" : "f64_to_u64_rz", v);
    v = tmi_soft_1(t, is_signed ? "f64_to_i32_rz" : "f64_to_u32_rz", v);
    if (kind == TMI_S_BOOL || kind == TMI_S_I32) return tmi_t_intcast(t, v, kind, 0);
    if (is_signed) v = tmi_t_bin(t, TMI_TF_SMIN, tmi_t_bin(t, TMI_TF_SMAX, v, tmi_t_int(t, TMI_S_I32, -((int64_t)1 << (bits - 1)))), tmi_t_int(t, TMI_S_I32, ((int64_t)1 << (bits - 1)) - 1));
    else v = tmi_t_bin(t, TMI_TF_UMIN, v, tmi_t_int(t, TMI_S_I32, ((int64_t)1 << bits) - 1));
    return tmi_t_intcast(t, v, kind, 0);
}

static uint32_t tmi_f64_compare(tmi_thr *t, uint32_t p, uint32_t a, uint32_t b) {
    /* ordered predicates by eq, lt, le; unordered ones are the opposite of an ordered one */
    uint32_t r;
    switch (p) {
    case 1: return tmi_soft_2(t, "f64_eq", a, b);
    case 2: return tmi_soft_2(t, "f64_lt", b, a);
    case 3: return tmi_soft_2(t, "f64_le", b, a);
    case 4: return tmi_soft_2(t, "f64_lt", a, b);
    case 5: return tmi_soft_2(t, "f64_le", a, b);
    case 6: return tmi_t_bin(t, TMI_TF_OR, tmi_soft_2(t, "f64_lt", a, b), tmi_soft_2(t, "f64_lt", b, a));
    case 14: return tmi_soft_2(t, "f64_unordered", a, b);
    case 0: return tmi_t_bool(t, 0);
    case 15: return tmi_t_bool(t, 1);
    default: { /* 7 ord, 8 ueq, 9 ugt, 10 uge, 11 ult, 12 ule, 13 une */
        static const uint8_t opposite[] = {14, 6, 5, 4, 3, 2, 1};
        r = tmi_f64_compare(t, opposite[p - 7], a, b);
        return tmi_t_un(t, TMI_TF_NOT, tmi_t_type(t, r), r);
    }
    }
}

static uint32_t tmi_f64_clamp(tmi_thr *t, const tmi_module *m, const tmi_op *op, const uint32_t *v) {
    uint32_t r = tmi_soft_2(t, "f64_minnum", tmi_soft_2(t, "f64_maxnum", v[0], v[1]), v[2]);
    return tmi_attr_int(m, op, "propagateNan", 0) ? tmi_t_select(t, tmi_soft_1(t, "f64_isnan", v[0]), v[0], r) : r;
}

static uint32_t tmi_f64_elt(tmi_low *w, const tmi_op *op, const uint32_t *v) {
    tmi_thr *t = w->t;
    int      tf = tmi_tf_of_op[op->kind];
    uint32_t x[3], i;
    switch (tf) {
    case TMI_TF_FCMP: return tmi_f64_compare(t, (uint32_t)tmi_attr_int(w->m, op, "predicate", 0), v[0], v[1]);
    case TMI_TF_CLAMP: return tmi_f64_clamp(t, w->m, op, v);
    case TMI_TF_ISINF: return tmi_t_icmp(t, 0, tmi_soft_1(t, "f64_abs", v[0]), tmi_t_int(t, TMI_S_I64, 0x7FF0000000000000));
    default: break;
    }
    for (i = 0; i < op->n_in && i < 3; i++) x[i] = v[i];
    if (tf == TMI_TF_FPOWI) x[1] = tmi_t_intcast(t, x[1], TMI_S_I32, 1);
    return tmi_soft_call(t, tmi_f64_name(tf), x, op->n_in);
}

static uint32_t tmi_elt_plain(tmi_low *w, const tmi_op *op, const uint32_t *v, tmi_tty type);

/* One op that has a soft format among its operands or results, on single elements. */
static uint32_t tmi_elt_soft(tmi_low *w, const tmi_op *op, const uint32_t *v, uint32_t result) {
    tmi_thr *t = w->t;
    int      tf = tmi_tf_of_op[op->kind], rtz = op->kind == TMI_OP_FP_TO_FP && tmi_attr_int(w->m, op, "rounding", 1) == 0;
    uint32_t from = tmi_format_of(w->m, tmi_in_type(w->m, op, 0)), to = tmi_format_of(w->m, tmi_out_type(w->m, op, result)), x[3], i;
    tmi_tty  type = tmi_tty_from(w->m, tmi_out_type(w->m, op, result));
    switch (tf) {
    case TMI_TF_SELECT: case TMI_TF_BITCAST: return tmi_elt_plain(w, op, v, type);
    case TMI_TF_FCONV: return tmi_soft_convert(t, v[0], from, to, rtz);
    case TMI_TF_S2F: case TMI_TF_U2F: return tmi_soft_from_int(t, v[0], to, tf == TMI_TF_S2F);
    case TMI_TF_F2S: case TMI_TF_F2U: return tmi_soft_to_int(t, v[0], from, type.kind, tf == TMI_TF_F2S);
    default: break;
    }
    if (from == TMI_F_F64) return tmi_f64_elt(w, op, v);
    for (i = 0; i < op->n_in && i < 3; i++) /* bytes compute as floats */
        x[i] = tmi_format_is_soft(tmi_format_of(w->m, tmi_in_type(w->m, op, i))) ? tmi_soft_decode(t, v[i], tmi_format_of(w->m, tmi_in_type(w->m, op, i))) : v[i];
    if (!tmi_format_is_soft(to)) return tmi_elt_plain(w, op, x, type);
    return tmi_soft_encode(t, tmi_elt_plain(w, op, x, tmi_tty_of(TMI_S_F32, 1)), to, 0);
}

static int tmi_elt_is_soft(const tmi_module *m, const tmi_op *op) {
    uint32_t i;
    for (i = 0; i < op->n_in; i++)
        if (tmi_format_is_soft(tmi_format_of(m, tmi_in_type(m, op, i)))) return 1;
    return op->n_out && tmi_format_is_soft(tmi_format_of(m, tmi_out_type(m, op, 0)));
}

/* Which function an external name stands for; TMI_NONE: not known. */
static uint32_t tmi_extern_named(const char *symbol) {
    uint32_t i;
    for (i = 0; i < TMI_EXTERN_COUNT; i++)
        if (strcmp(tmi_externs[i].symbol, symbol) == 0) return TMI_FN_COUNT + i;
    return TMI_NONE;
}

static uint32_t tmi_elt_extern(tmi_low *w, const tmi_op *op, const uint32_t *v) {
    uint32_t    fn = tmi_extern_named(tmi_attr_str(w->m, op, "symbol")), x[8], i, r;
    const char *sig = tmi_fn_sig(fn);
    tmi_tty     type = tmi_tty_from(w->m, tmi_out_type(w->m, op, 0));
    for (i = 0; i < op->n_in && i < 8; i++) {
        tmi_tty want = tmi_sig_type(sig[2 + i]);
        x[i] = tmi_s_is_float(want.kind) ? tmi_conv(w->t, v[i], want.kind) : tmi_t_intcast(w->t, v[i], want.kind, strchr("qsil", sig[2 + i]) != NULL);
    }
    r = tmi_t_call(w->t, fn, x, op->n_in);
    if (tmi_s_is_float(type.kind)) return tmi_conv(w->t, r, type.kind);
    return tmi_t_intcast(w->t, r, type.kind, strchr("qsil", *sig) != NULL);
}

/* One elementwise op on values of one width; floats are half or float here. */
static uint32_t tmi_elt_plain(tmi_low *w, const tmi_op *op, const uint32_t *v, tmi_tty type) {
    tmi_thr *t = w->t;
    int      tf = tmi_tf_of_op[op->kind];
    switch (tf) {
    case TMI_TF_CLAMP: return tmi_elt_clamp(t, w->m, op, v);
    case TMI_TF_ICMP: return tmi_elt_compare(t, (uint32_t)tmi_attr_int(w->m, op, "predicate", 0), v[0], v[1]);
    case TMI_TF_FCMP: return tmi_t_fcmp(t, (uint32_t)tmi_attr_int(w->m, op, "predicate", 0), v[0], v[1]);
    case TMI_TF_SELECT: return tmi_t_select(t, v[0], v[1], v[2]);
    case TMI_TF_SEXT: case TMI_TF_ZEXT: case TMI_TF_TRUNC: case TMI_TF_SCAST: case TMI_TF_UCAST: case TMI_TF_S2F: case TMI_TF_U2F:
    case TMI_TF_F2S: case TMI_TF_F2U: case TMI_TF_BITCAST: case TMI_TF_P2I: case TMI_TF_I2P: return tmi_elt_cast(t, tf, v[0], type);
    case TMI_TF_FCONV:
        if (op->kind == TMI_OP_FP_TO_FP && tmi_attr_int(w->m, op, "rounding", 1) == 0 && tmi_scalar_bits[type.kind] < tmi_scalar_bits[tmi_t_type(t, v[0]).kind])
            return tmi_t_un(t, TMI_TF_FTOF_RTZ, type, v[0]);
        return tmi_conv(t, v[0], type.kind);
    case TMI_TF_PADD: return tmi_t_padd(t, v[0], v[1]);
    case TMI_TF_IABS: return tmi_elt_abs(t, v[0]);
    case TMI_TF_CLZ: case TMI_TF_CTZ: case TMI_TF_POPC: return tmi_elt_count_bits(t, tf, v[0]);
    case TMI_TF_FMA:
        type.width = (uint8_t)tmi_max32(tmi_t_type(t, v[0]).width, tmi_max32(tmi_t_type(t, v[1]).width, tmi_t_type(t, v[2]).width));
        return tmi_t_tern(t, TMI_TF_FMA, type, v[0], v[1], v[2]);
    case TMI_TF_FPOWI: return tmi_elt_fpowi(t, v);
    case TMI_TF_IPOWI: return tmi_elt_ipowi(t, v, type.kind);
    case TMI_TF_ISNAN: return tmi_t_fcmp(t, 14, v[0], v[0]);
    case TMI_TF_ISINF: return tmi_t_un(t, TMI_TF_ISINF, type, v[0]);
    default:
        if (op->n_in == 2) return tmi_s_is_int(type.kind) ? tmi_int_op(t, tf, v[0], v[1]) : tmi_t_bin(t, tf, v[0], v[1]);
        return tmi_t_un(t, tf, type, v[0]);
    }
}

/* bfloat is a storage type: compute in float and round each result, as Triton's bf16 does. */
static int tmi_elt_in_float(const tmi_op *op) {
    int tf = tmi_tf_of_op[op->kind];
    return tf != TMI_TF_SELECT && tf != TMI_TF_FCONV && tf != TMI_TF_BITCAST && tf != TMI_TF_PADD;
}

/* Ops that exist in half precision only by way of float: no half version in Metal, or a helper of ours. */
static int tmi_elt_half_in_float(int tf) {
    return tf == TMI_TF_ERF || tf == TMI_TF_ERFC || tf == TMI_TF_EXPM1 || tf == TMI_TF_LOG1P || tf == TMI_TF_CBRT || tf == TMI_TF_FPOWI ||
           tf == TMI_TF_SINH || tf == TMI_TF_COSH || tf == TMI_TF_TANH || tf == TMI_TF_ATAN2 || tf == TMI_TF_POW || tf == TMI_TF_PSQRT ||
           tf == TMI_TF_FREM;
}

/* The op on each element of vectors by itself. */
static uint32_t tmi_elt_apart(tmi_low *w, const tmi_op *op, const uint32_t *v, uint32_t result) {
    uint32_t i, k, width = 1, one[8], parts[4];
    for (i = 0; i < op->n_in && i < 8; i++)
        if (tmi_t_type(w->t, v[i]).width > width) width = tmi_t_type(w->t, v[i]).width;
    for (k = 0; k < width; k++) {
        for (i = 0; i < op->n_in && i < 8; i++) one[i] = tmi_t_vget(w->t, v[i], k);
        parts[k] = op->kind == TMI_OP_EXTERN ? tmi_elt_extern(w, op, one) : tmi_elt_soft(w, op, one, result);
    }
    return tmi_t_vmake(w->t, parts, width);
}

static uint32_t tmi_elt(tmi_low *w, const tmi_op *op, const uint32_t *v, uint32_t result) {
    tmi_thr *t = w->t;
    tmi_tty  type = tmi_tty_from(w->m, tmi_out_type(w->m, op, result));
    uint32_t x[8], i, r, width = 1, parts[4];
    int      tf = tmi_tf_of_op[op->kind], was = type.kind;
    if (op->kind == TMI_OP_EXTERN || (tmi_elt_is_soft(w->m, op) && tf != TMI_TF_SELECT && tf != TMI_TF_BITCAST)) return tmi_elt_apart(w, op, v, result);
    for (i = 0; i < op->n_in; i++) {
        x[i] = v[i];
        if (tmi_t_type(t, v[i]).width > width) width = tmi_t_type(t, v[i]).width;
    }
    for (i = 0; i < op->n_in; i++) {
        int kind = tmi_t_type(t, x[i]).kind;
        if ((kind == TMI_S_BF16 && tmi_elt_in_float(op)) || (kind == TMI_S_F16 && tmi_elt_half_in_float(tf))) x[i] = tmi_conv(t, x[i], TMI_S_F32);
    }
    if ((was == TMI_S_BF16 && tmi_elt_in_float(op) && tf != TMI_TF_S2F && tf != TMI_TF_U2F) || (was == TMI_S_F16 && tmi_elt_half_in_float(tf)))
        type.kind = TMI_S_F32;
    if (width > 1 && (tf >= TMI_TF_COUNT || !(tmi_tfs[tf].traits & TMI_TR_VEC) || (tf >= TMI_TF_SHL && tf <= TMI_TF_UREM) ||
                      (tf == TMI_TF_SELECT && was == TMI_S_BF16) || type.kind == TMI_S_PTR || tf == TMI_TF_CLZ || tf == TMI_TF_CTZ || tf == TMI_TF_POPC)) {
        uint32_t k, one[8];
        for (k = 0; k < width; k++) {
            for (i = 0; i < op->n_in; i++) one[i] = tmi_t_vget(t, x[i], k);
            parts[k] = tmi_elt_plain(w, op, one, type);
        }
        r = tmi_t_vmake(t, parts, width);
    } else {
        r = tmi_elt_plain(w, op, x, type);
    }
    return type.kind != was ? tmi_conv(t, r, was) : r;
}

/* addui_extended, mului_extended, mulsi_extended: low half first, then the carry or the high half. */
static uint32_t tmi_elt_two(tmi_low *w, const tmi_op *op, const uint32_t *v, uint32_t result) {
    tmi_thr *t = w->t;
    uint32_t sum;
    if (op->kind == TMI_OP_ADDUI_EXT) {
        sum = tmi_int_op(t, TMI_TF_IADD, v[0], v[1]);
        return result ? tmi_t_icmp(t, 6, sum, v[0]) : sum;
    }
    if (!result) return tmi_int_op(t, TMI_TF_IMUL, v[0], v[1]);
    return tmi_t_bin(t, op->kind == TMI_OP_MULUI_EXT ? TMI_TF_UMULHI : TMI_TF_SMULHI, v[0], v[1]);
}

/* -- Scalars ---------------------------------------------------------------------------------------- */

static uint32_t tmi_constant_bits(tmi_low *w, const tmi_op *op, uint32_t index) {
    const tmi_attr *a = tmi_attr_of(w->m, op, "value");
    tmi_tty         type = tmi_tty_from(w->m, tmi_out_type(w->m, op, 0));
    if (!a) return tmi_t_const(w->t, type, 0); /* poison */
    if (a->kind == TMI_A_DENSE) return tmi_t_const(w->t, type, TMI_WORD(w->m, (uint32_t)a->value + (a->n > 1 ? index : 0)));
    return tmi_t_const(w->t, type, a->value);
}

static uint32_t tmi_scalar_value(tmi_low *w, uint32_t value);

static uint32_t tmi_scalar_op(tmi_low *w, const tmi_op *op, uint32_t result) {
    uint32_t v[8], i;
    tmi_ins  n;
    switch (op->kind) {
    case TMI_OP_PID: return tmi_t_program(w->t, TMI_TF_PID, (uint32_t)tmi_attr_int(w->m, op, "axis", 0));
    case TMI_OP_NPROGRAMS: return tmi_t_program(w->t, TMI_TF_NPROG, (uint32_t)tmi_attr_int(w->m, op, "axis", 0));
    case TMI_OP_CONSTANT: case TMI_OP_POISON: case TMI_OP_UNDEF:
        if (tmi_is_ptrlike(w->m, tmi_out_type(w->m, op, 0))) { /* poison of pointer type: null */
            tmi_ins_zero(&n, TMI_TF_I2P, tmi_tty_from(w->m, tmi_out_type(w->m, op, 0)));
            n.a = tmi_t_int(w->t, TMI_S_I64, 0);
            return tmi_t_pure(w->t, &n, &n.a, 1);
        }
        return tmi_constant_bits(w, op, 0);
    default: break;
    }
    for (i = 0; i < op->n_in && i < 8; i++) v[i] = tmi_scalar_value(w, tmi_in(w->m, op, i));
    return op->n_out == 2 ? tmi_elt_two(w, op, v, result) : tmi_elt(w, op, v, result);
}

static uint32_t tmi_scalar_value(tmi_low *w, uint32_t value) {
    uint32_t r = w->scalar[value];
    if (!r) tmi_bug(w->job, "lower", "a scalar is used before it is computed");
    return r;
}

/* -- Index arithmetic: bits of a number from the thread's index and the loops ------------------------- */

/* Bits from..from+n-1 of the thread's index, moved to stand at `to`. */
static uint32_t tmi_thread_bits(tmi_low *w, uint32_t from, uint32_t n, uint32_t to) {
    tmi_thr *t = w->t;
    uint32_t all = TMI_LANE_BITS + w->p->n_sg, v, whole;
    if (from + n <= TMI_LANE_BITS && !(from == 0 && n == all)) {
        v = tmi_t_lane(t);
        whole = TMI_LANE_BITS;
    } else if (from >= TMI_LANE_BITS) {
        v = tmi_t_group(t);
        from -= TMI_LANE_BITS;
        whole = w->p->n_sg;
    } else {
        v = tmi_t_tid(t);
        whole = all;
    }
    if (from) v = tmi_t_bin(t, TMI_TF_UDIV, v, tmi_t_u32(t, 1u << from));
    if (from + n < whole) v = tmi_t_bin(t, TMI_TF_UREM, v, tmi_t_u32(t, 1u << n));
    return tmi_t_mul(t, v, tmi_t_u32(t, 1u << to));
}

static uint32_t tmi_var_bits(tmi_low *w, uint32_t var, uint32_t from, uint32_t n, uint32_t to) {
    tmi_thr *t = w->t;
    uint32_t whole = tmi_log2((uint64_t)TMI_INS(t, var)->hi + 1), v = var;
    if (from) v = tmi_t_bin(t, TMI_TF_UDIV, v, tmi_t_u32(t, 1u << from));
    if (from + n < whole) v = tmi_t_bin(t, TMI_TF_UREM, v, tmi_t_u32(t, 1u << n));
    return tmi_t_mul(t, v, tmi_t_u32(t, 1u << to));
}

/* What each input bit contributes to the wanted bits of a number. */
typedef struct tmi_parts {
    uint32_t reg[TMI_MAX_REG], thread[TMI_LANE_BITS + TMI_MAX_SG], fixed;
} tmi_parts;

static int tmi_is_single_bits(const tmi_parts *x, uint32_t n_reg, uint32_t n_thread) {
    uint32_t seen = x->fixed, i;
    for (i = 0; i < n_reg + n_thread; i++) {
        uint32_t b = i < n_reg ? x->reg[i] : x->thread[i - n_reg];
        if ((b & (b - 1)) || (seen & b)) return 0;
        seen |= b;
    }
    return 1;
}

/* Sum or XOR of all contributions: a sum where no two bits meet, which reads better. */
static uint32_t tmi_parts_expr(tmi_low *w, const tmi_nest *nest, const tmi_parts *x, uint32_t mode) {
    tmi_thr *t = w->t;
    uint32_t n_reg = nest ? nest->lin->n_reg : 0, n_thread = TMI_LANE_BITS + w->p->n_sg, i, k, r, term, vec = nest ? nest->vec : 0;
    int      plain = tmi_is_single_bits(x, n_reg, n_thread), join = plain ? TMI_TF_IADD : TMI_TF_XOR;
    r = 0;
    for (i = 0; i < n_thread; i = k) {
        k = i + 1;
        if (!x->thread[i]) continue;
        if (!plain) {
            term = tmi_t_mul(t, tmi_thread_bits(w, i, 1, 0), tmi_t_u32(t, x->thread[i]));
        } else {
            while (k < n_thread && x->thread[k] == x->thread[k - 1] << 1) k++;
            term = tmi_thread_bits(w, i, k - i, tmi_log2(x->thread[i]));
        }
        r = r ? tmi_t_bin(t, join, r, term) : term;
    }
    for (i = vec; i < n_reg; i = k) {
        k = i + 1;
        if (!x->reg[i]) continue;
        if (!plain) {
            term = tmi_t_mul(t, tmi_var_bits(w, nest->var[i], nest->bit[i], 1, 0), tmi_t_u32(t, x->reg[i]));
        } else {
            while (k < n_reg && nest->var[k] == nest->var[i] && nest->bit[k] == nest->bit[k - 1] + 1 && x->reg[k] == x->reg[k - 1] << 1) k++;
            term = tmi_var_bits(w, nest->var[i], nest->bit[i], k - i, tmi_log2(x->reg[i]));
        }
        r = r ? tmi_t_bin(t, join, r, term) : term;
    }
    if (x->fixed) r = r ? tmi_t_bin(t, join, r, tmi_t_u32(t, x->fixed)) : tmi_t_u32(t, x->fixed);
    if (vec && mode == TMI_VEC) {
        uint32_t part[4], any = 0;
        for (k = 0; k < 1u << vec; k++) {
            uint32_t c = 0;
            for (i = 0; i < vec; i++)
                if (k >> i & 1) c ^= x->reg[i];
            any |= c;
            part[k] = r ? tmi_t_bin(t, join, r, tmi_t_u32(t, c)) : tmi_t_u32(t, c);
        }
        if (any) return tmi_t_vmake(t, part, 1u << vec);
    } else if (vec && mode) {
        uint32_t c = 0;
        for (i = 0; i < vec; i++)
            if (mode >> i & 1) c ^= x->reg[i];
        if (c) r = r ? tmi_t_bin(t, join, r, tmi_t_u32(t, c)) : tmi_t_u32(t, c);
    }
    return r ? r : tmi_t_u32(t, 0);
}

static void tmi_parts_of(const tmi_lin *v, uint32_t low, uint32_t n, tmi_parts *x) {
    uint32_t i, mask = n >= 32 ? ~0u : (1u << n) - 1u;
    memset(x, 0, sizeof *x);
    for (i = 0; i < v->n_reg; i++) x->reg[i] = (v->reg[i] >> low) & mask;
    for (i = 0; i < TMI_LANE_BITS; i++) x->thread[i] = (v->lane[i] >> low) & mask;
    for (i = 0; i < v->n_sg; i++) x->thread[TMI_LANE_BITS + i] = (v->sg[i] >> low) & mask;
    x->fixed = (v->offset >> low) & mask;
}

/* Bits low..low+n-1 of an element's number, where the thread stands in the open nest. */
static uint32_t tmi_coord(tmi_low *w, const tmi_lin *view, uint32_t low, uint32_t n, uint32_t mode) {
    tmi_parts x;
    tmi_parts_of(view, low, n, &x);
    return tmi_parts_expr(w, w->nest, &x, mode);
}

/* -- Nests ---------------------------------------------------------------------------------------------- */

static uint32_t tmi_memo_hash_of(uint32_t value, uint32_t lin, uint32_t mode) {
    return tmi_mix(tmi_mix(value, lin), mode);
}

static uint32_t tmi_memo_get(tmi_low *w, uint32_t value, uint32_t lin, uint32_t mode) {
    uint32_t k = tmi_memo_hash_of(value, lin, mode) & (w->memo_cap - 1), e;
    for (; (e = w->memo_slot[k]) != 0; k = (k + 1) & (w->memo_cap - 1)) {
        const tmi_memo *x = TMI_MEMO(w, e - 1);
        if (x->value == value && x->lin == lin && x->mode == mode) return x->ref;
    }
    return 0;
}

static void tmi_memo_put(tmi_low *w, uint32_t value, uint32_t lin, uint32_t mode, uint32_t ref) {
    tmi_memo *x;
    uint32_t  k, i;
    if ((w->memo.n - w->nest->first_memo) * 4 >= w->memo_cap * 3) {
        w->memo_cap *= 2;
        w->memo_slot = TMI_TEMP(w->job, uint32_t, w->memo_cap);
        for (i = w->nest->first_memo; i < w->memo.n; i++) {
            x = TMI_MEMO(w, i);
            for (k = tmi_memo_hash_of(x->value, x->lin, x->mode) & (w->memo_cap - 1); w->memo_slot[k]; k = (k + 1) & (w->memo_cap - 1)) {}
            w->memo_slot[k] = i + 1;
        }
    }
    for (k = tmi_memo_hash_of(value, lin, mode) & (w->memo_cap - 1); w->memo_slot[k]; k = (k + 1) & (w->memo_cap - 1)) {}
    x = (tmi_memo *)tmi_vec_add(w->job, &w->memo);
    x->value = value;
    x->lin = lin;
    x->mode = mode;
    x->ref = ref;
    w->memo_slot[k] = w->memo.n;
}

static void tmi_nest_begin(tmi_low *w, tmi_nest *n, uint32_t lin_id) {
    uint32_t i;
    memset(n, 0, sizeof *n);
    n->lin_id = lin_id;
    n->lin = TMI_LIN(w->p, lin_id);
    n->vec = n->lin->vec;
    w->nest = n;
    /* Values remembered in another nest stand in blocks that are closed: forget them. */
    for (i = 0; i < w->memo_cap; i++) w->memo_slot[i] = 0;
    n->first_memo = w->memo.n;
}

/* Open loops for register bits from..to-1: one loop, its variable counting them. */
static void tmi_nest_loop(tmi_low *w, tmi_nest *n, uint32_t from, uint32_t to) {
    uint32_t i, v = tmi_t_for(w->t, 1u << (to - from));
    for (i = from; i < to; i++) {
        n->var[i] = v;
        n->bit[i] = i - from;
    }
    n->n_open++;
}

/* Loops over all registers, slowest outermost: one loop for each run of bits that walk evenly. */
static void tmi_nest_loops(tmi_low *w, tmi_nest *n) {
    uint32_t end = n->lin->n_reg, start;
    while (end > n->vec) {
        for (start = end - 1; start > n->vec && n->lin->reg[start] == n->lin->reg[start - 1] << 1; start--) {}
        tmi_nest_loop(w, n, start, end);
        end = start;
    }
}

static void tmi_nest_end(tmi_low *w, tmi_nest *n) {
    while (n->n_open) {
        (void)tmi_t_close(w->t);
        n->n_open--;
    }
    w->nest = NULL;
}

/* -- Elements of tensors ----------------------------------------------------------------------------------- */

static uint32_t tmi_elem_at(tmi_low *w, uint32_t value, const tmi_lin *view, uint32_t mode);

/* Does the view differ between the elements of a vector? */
static int tmi_view_varies(const tmi_nest *n, const tmi_lin *view) {
    uint32_t i;
    for (i = 0; i < n->vec; i++)
        if (view->reg[i]) return 1;
    return 0;
}

/* Which register of an instance the view reads: index into its array, and element of the vector. */
static uint32_t tmi_inst_element(tmi_low *w, uint32_t inst, const tmi_lin *view, uint32_t mode) {
    tmi_thr        *t = w->t;
    const tmi_inst *in = TMI_INST(w->p, inst);
    const tmi_lin  *l = TMI_LIN(w->p, in->lin);
    tmi_nest       *n = w->nest;
    tmi_parts       x, hi, lo;
    uint32_t        i, base, index, element, vec = in->vec, mask = (1u << vec) - 1u;

    memset(&x, 0, sizeof x);
    if (!tmi_lin_readable(l, view, x.reg, &base)) tmi_bug(w->job, "lower", "a tensor is read in a layout that it is not held in");
    hi = lo = x;
    for (i = 0; i < view->n_reg; i++) {
        hi.reg[i] = x.reg[i] >> vec;
        lo.reg[i] = x.reg[i] & mask;
    }
    hi.fixed = base >> vec;
    lo.fixed = base & mask;
    if (mode == TMI_VEC) { /* the very vector that is stored, or one put together */
        uint32_t part[4];
        for (i = 0; i < n->vec && x.reg[i] == 1u << i; i++) {}
        if (i == n->vec && n->vec == vec && !lo.fixed) {
            for (i = n->vec; i < view->n_reg && !lo.reg[i]; i++) {}
            if (i == view->n_reg && TMI_INST(w->p, inst)->store == TMI_ST_SSA) return in->ref;
            if (i == view->n_reg && TMI_ARR(t, in->ref)->space != TMI_AS_FRAG) return tmi_t_read(t, in->ref, tmi_parts_expr(w, n, &hi, 0), 0);
        }
        for (i = 0; i < 1u << n->vec; i++) part[i] = tmi_inst_element(w, inst, view, i);
        return tmi_t_vmake(t, part, 1u << n->vec);
    }
    index = tmi_parts_expr(w, n, &hi, mode);
    element = tmi_parts_expr(w, n, &lo, mode);
    if (in->store == TMI_ST_SSA) {
        int64_t c;
        tmi_ins v;
        uint32_t ops[2];
        if (tmi_t_type(t, in->ref).width == 1) return in->ref;
        if (tmi_t_is_const(t, element, &c)) return tmi_t_vget(t, in->ref, (uint32_t)c);
        tmi_ins_zero(&v, TMI_TF_VGET, tmi_tty_of(tmi_t_type(t, in->ref).kind, 1));
        v.a = ops[0] = in->ref;
        v.b = ops[1] = element;
        return tmi_t_pure(t, &v, ops, 2);
    }
    return tmi_t_read(t, in->ref, index, vec ? element : 0);
}

/* An element of a constant that is not the same everywhere: from a table. */
static uint32_t tmi_table_element(tmi_low *w, const tmi_op *op, const tmi_lin *view, uint32_t mode) {
    const tmi_attr *a = tmi_attr_of(w->m, op, "value");
    tmi_thr *t = w->t;
    uint32_t i, arr = 0, index, part[4];
    int64_t  c;
    if (mode == TMI_VEC) {
        for (i = 0; i < 1u << w->nest->vec; i++) part[i] = tmi_table_element(w, op, view, i);
        return tmi_t_vmake(t, part, 1u << w->nest->vec);
    }
    index = tmi_coord(w, view, 0, 32, mode);
    if (tmi_t_is_const(t, index, &c)) return tmi_constant_bits(w, op, (uint32_t)c);
    for (i = 1; i < t->arr.n && !arr; i++)
        if (TMI_ARR(t, i)->space == TMI_AS_TABLE && TMI_ARR(t, i)->words == (uint32_t)a->value) arr = i;
    if (!arr) {
        arr = tmi_t_array(t, TMI_AS_TABLE, tmi_tty_from(w->m, tmi_out_type(w->m, op, 0)), a->n, tmi_source_name(w, tmi_out(w->m, op, 0)));
        TMI_ARR(t, arr)->words = (uint32_t)a->value;
    }
    return tmi_t_read(t, arr, index, 0);
}

static uint32_t tmi_piece_element(tmi_low *w, const tmi_op *op, const tmi_lin *view, uint32_t mode) {
    uint32_t which, a, b;
    tmi_lin  v = *view;
    int64_t  c;
    which = tmi_coord(w, view, 0, 1, mode);
    tmi_view(w->m, op, 0, &v);
    if (tmi_t_type(w->t, which).width == 1 && tmi_t_is_const(w->t, which, &c)) return tmi_elem_at(w, tmi_in(w->m, op, (uint32_t)c), &v, mode);
    if (mode == TMI_VEC && tmi_t_type(w->t, which).width > 1) { /* each element knows its own side */
        uint32_t part[4], i;
        for (i = 0; i < 1u << w->nest->vec; i++) part[i] = tmi_piece_element(w, op, view, i);
        return tmi_t_vmake(w->t, part, 1u << w->nest->vec);
    }
    a = tmi_elem_at(w, tmi_in(w->m, op, 0), &v, mode);
    b = tmi_elem_at(w, tmi_in(w->m, op, 1), &v, mode);
    return tmi_t_select(w->t, tmi_t_icmp(w->t, 1, which, tmi_t_u32(w->t, 0)), b, a);
}

/* Index arithmetic and renamings, computed where they are read. */
static uint32_t tmi_inline_element(tmi_low *w, uint32_t value, const tmi_op *op, const tmi_lin *view, uint32_t mode) {
    const tmi_attr *a;
    uint32_t v[8], i;
    tmi_lin  next = *view;
    switch (op->kind) {
    case TMI_OP_RANGE:
        return tmi_t_add(w->t, tmi_coord(w, view, 0, 32, mode), tmi_t_int(w->t, TMI_S_I32, tmi_attr_int(w->m, op, "start", 0)));
    case TMI_OP_SPLAT:
        memset(&next, 0, sizeof next);
        next.n_reg = view->n_reg;
        next.n_sg = view->n_sg;
        return tmi_elem_at(w, tmi_in(w->m, op, 0), &next, mode);
    case TMI_OP_CONSTANT: case TMI_OP_POISON: case TMI_OP_UNDEF:
        a = tmi_attr_of(w->m, op, "value");
        if (a && a->kind == TMI_A_DENSE && a->n > 1) return tmi_table_element(w, op, view, mode);
        return tmi_scalar_op(w, op, 0);
    case TMI_OP_JOIN: case TMI_OP_CAT: return tmi_piece_element(w, op, view, mode);
    default: break;
    }
    if (tmi_is_view(op->kind)) {
        tmi_view(w->m, op, op->kind == TMI_OP_SPLIT ? TMI_VALUE(w->m, value)->index : 0, &next);
        return tmi_elem_at(w, tmi_in(w->m, op, 0), &next, mode);
    }
    for (i = 0; i < op->n_in && i < 8; i++) v[i] = tmi_elem_at(w, tmi_in(w->m, op, i), view, mode);
    return tmi_elt(w, op, v, TMI_VALUE(w->m, value)->index);
}

/* The element (or vector of elements) of a tensor where the open nest stands. */
static uint32_t tmi_elem_at(tmi_low *w, uint32_t value, const tmi_lin *view, uint32_t mode) {
    uint32_t lin, r, inst, keep_src = w->t->src;
    if (w->p->klass[value] == TMI_C_SCALAR) return tmi_scalar_value(w, value);
    if (mode == TMI_VEC && (!w->nest->vec || !tmi_view_varies(w->nest, view))) mode = 0;
    if (mode < TMI_VEC && !tmi_view_varies(w->nest, view)) mode = 0;
    lin = tmi_lin_id(w->p, view);
    r = tmi_memo_get(w, value, lin, mode);
    if (r) return r;
    if (mode < TMI_VEC && (r = tmi_memo_get(w, value, lin, TMI_VEC)) != 0) return tmi_t_vget(w->t, r, mode);
    if (tmi_def(w->m, value)) w->t->src = tmi_def(w->m, value);
    if (w->p->klass[value] == TMI_C_INLINE) {
        r = tmi_inline_element(w, value, TMI_OP(w->m, tmi_def(w->m, value)), view, mode);
    } else {
        inst = tmi_inst_for(w->p, value, view);
        if (inst == TMI_NONE || TMI_INST(w->p, inst)->store == TMI_ST_NONE) tmi_bug(w->job, "lower", "a tensor is read before it is computed");
        r = tmi_inst_element(w, inst, view, mode);
    }
    w->t->src = keep_src;
    if (!mode || mode == TMI_VEC) tmi_t_name(w->t, r, tmi_source_name(w, value));
    tmi_memo_put(w, value, lin, mode, r);
    return r;
}

/* -- Memory ---------------------------------------------------------------------------------- */

/* Are the elements of the nest's vectors neighbours in memory, aligned and under one mask? */
static int tmi_access_is_vector(tmi_low *w, const tmi_op *op) {
    const tmi_module *m = w->m;
    uint32_t type = tmi_op_shape(m, op), d, vec = w->nest->vec;
    if (!vec || tmi_attr_of(m, op, "isVolatile") || tmi_attr_int(m, op, "cache", 1) == 7) return 0;
    for (d = 0; d < tmi_rank(m, type); d++)
        if (w->nest->lin->reg[0] == 1u << tmi_dim_low(m, type, d) && tmi_dim_bits(m, type, d) >= vec)
            return tmi_access_vec(w->p, op, d) >= vec;
    return 0;
}

static uint32_t tmi_ldg(tmi_thr *t, uint32_t ptr, uint32_t mask, uint32_t other, tmi_tty type, uint32_t flags) {
    tmi_ins n;
    int64_t c;
    if (mask && tmi_t_is_const(t, mask, &c)) {
        if (!c) return other;
        mask = 0;
    }
    tmi_ins_zero(&n, TMI_TF_LDG, type);
    n.a = ptr;
    n.b = mask;
    n.c = mask ? other : 0;
    n.d = flags;
    return tmi_t_pin(t, &n);
}

/* One element, or one whole vector: booleans are bytes in memory, pointers are their addresses. */
static uint32_t tmi_load_one(tmi_low *w, const tmi_op *op, uint32_t ptr, uint32_t mask, uint32_t other, tmi_tty type, uint32_t width) {
    tmi_thr *t = w->t;
    uint32_t flags = tmi_attr_of(w->m, op, "isVolatile") || tmi_attr_int(w->m, op, "cache", 1) == 7 ? TMI_INS_VOLATILE : 0, r;
    tmi_tty  mem = type;
    if (type.kind == TMI_S_BOOL) mem.kind = TMI_S_I8;
    if (type.kind == TMI_S_PTR) mem = tmi_tty_of(TMI_S_I64, 1);
    mem.width = (uint8_t)width;
    if (other && type.kind == TMI_S_BOOL) other = tmi_t_intcast(t, other, TMI_S_I8, 0);
    if (other && type.kind == TMI_S_PTR) other = tmi_t_un(t, TMI_TF_P2I, mem, other);
    if (mask && !other) other = tmi_t_zero(t, mem); /* Triton leaves it open; zero is the friendliest */
    r = tmi_ldg(t, ptr, mask, other, mem, flags);
    if (type.kind == TMI_S_BOOL) r = tmi_t_icmp(t, 1, r, tmi_t_zero(t, mem));
    if (type.kind == TMI_S_PTR) r = tmi_t_tern(t, TMI_TF_I2P, type, r, 0, 0);
    return r;
}

static uint32_t tmi_load_elements(tmi_low *w, const tmi_op *op, const tmi_lin *view) {
    uint32_t ptr = tmi_in(w->m, op, 0), mask = op->n_in > 1 ? tmi_in(w->m, op, 1) : 0, other = op->n_in > 2 ? tmi_in(w->m, op, 2) : 0;
    uint32_t k, n = 1u << w->nest->vec, part[4], p[4], mk[4];
    tmi_tty  type = tmi_tty_from(w->m, tmi_out_type(w->m, op, 0));
    if (tmi_access_is_vector(w, op)) {
        p[0] = tmi_elem_at(w, ptr, view, 0);
        mk[0] = mask ? tmi_elem_at(w, mask, view, 0) : 0;
        part[0] = other ? tmi_elem_at(w, other, view, TMI_VEC) : 0;
        return tmi_load_one(w, op, p[0], mk[0], part[0], type, n);
    }
    for (k = 0; k < n; k++) {
        p[k] = tmi_elem_at(w, ptr, view, k);
        mk[k] = mask ? tmi_elem_at(w, mask, view, k) : 0;
    }
    for (k = 1; k < n && p[k] == p[0] && mk[k] == mk[0]; k++) {}
    if (n > 1 && k == n && !other) n = 1; /* one address for all */
    for (k = 0; k < n; k++) part[k] = tmi_load_one(w, op, p[k], mk[k], other ? tmi_elem_at(w, other, view, k) : 0, type, 1);
    return tmi_t_vmake(w->t, part, n);
}

/* True in the one thread that holds an element when copies of it stand in several. 0: always true. */
static uint32_t tmi_is_holder(tmi_low *w, const tmi_lin *l) {
    tmi_thr *t = w->t;
    uint32_t lanes, groups, all, r = 0, zero = tmi_t_u32(t, 0), free_bits, low;
    tmi_lin_copies(l, &lanes, &groups);
    free_bits = lanes | groups << TMI_LANE_BITS;
    all = TMI_LANE_BITS + w->p->n_sg;
    if (!free_bits) return 0;
    for (low = 0; !(free_bits >> low & 1); low++) {}
    if (free_bits == ((1u << all) - 1u) - ((1u << low) - 1u)) /* the upper bits: the first 2^low threads */
        return low ? tmi_t_icmp(t, 6, tmi_t_tid(t), tmi_t_u32(t, 1u << low)) : tmi_t_icmp(t, 0, tmi_t_tid(t), zero);
    if (lanes) {
        for (low = 0; !(lanes >> low & 1); low++) {}
        if (lanes == 31u - ((1u << low) - 1u)) r = low ? tmi_t_icmp(t, 6, tmi_t_lane(t), tmi_t_u32(t, 1u << low)) : tmi_t_icmp(t, 0, tmi_t_lane(t), zero);
        else r = tmi_t_icmp(t, 0, tmi_t_and(t, tmi_t_lane(t), tmi_t_u32(t, lanes)), zero);
    }
    if (groups) {
        uint32_t g = groups == (1u << w->p->n_sg) - 1u ? tmi_t_icmp(t, 0, tmi_t_group(t), zero)
                                                         : tmi_t_icmp(t, 0, tmi_t_and(t, tmi_t_group(t), tmi_t_u32(t, groups)), zero);
        r = r ? tmi_t_and(t, r, g) : g;
    }
    return r;
}

static void tmi_stg(tmi_thr *t, uint32_t ptr, uint32_t value, uint32_t mask, uint32_t width) {
    tmi_ins n;
    int64_t c;
    if (mask && tmi_t_is_const(t, mask, &c)) {
        if (!c) return;
        mask = 0;
    }
    tmi_ins_zero(&n, TMI_TF_STG, tmi_tty_of(TMI_S_NONE, (int)width));
    n.a = ptr;
    n.b = value;
    n.c = mask;
    (void)tmi_t_pin(t, &n);
}

static uint32_t tmi_to_memory(tmi_low *w, uint32_t v) {
    tmi_tty type = tmi_t_type(w->t, v);
    if (type.kind == TMI_S_BOOL) return tmi_t_intcast(w->t, v, TMI_S_I8, 0);
    if (type.kind == TMI_S_PTR) return tmi_t_un(w->t, TMI_TF_P2I, tmi_tty_of(TMI_S_I64, 1), v);
    return v;
}

static uint32_t tmi_both(tmi_thr *t, uint32_t a, uint32_t b) { /* of two conditions, 0 being true */
    return a && b ? tmi_t_and(t, a, b) : a ? a : b;
}

static void tmi_store_elements(tmi_low *w, const tmi_op *op, const tmi_lin *view) {
    uint32_t ptr = tmi_in(w->m, op, 0), value = tmi_in(w->m, op, 1), mask = op->n_in > 2 ? tmi_in(w->m, op, 2) : 0, k;
    uint32_t holder = tmi_is_holder(w, view), n = 1u << w->nest->vec;
    if (tmi_access_is_vector(w, op)) {
        uint32_t p = tmi_elem_at(w, ptr, view, 0), m = mask ? tmi_elem_at(w, mask, view, 0) : 0;
        tmi_stg(w->t, p, tmi_to_memory(w, tmi_elem_at(w, value, view, TMI_VEC)), tmi_both(w->t, holder, m), n);
        return;
    }
    for (k = 0; k < n; k++) {
        uint32_t p = tmi_elem_at(w, ptr, view, k), m = mask ? tmi_elem_at(w, mask, view, k) : 0;
        tmi_stg(w->t, p, tmi_to_memory(w, tmi_elem_at(w, value, view, k)), tmi_both(w->t, holder, m), 1);
    }
}

static void tmi_scalar_store(tmi_low *w, const tmi_op *op) {
    uint32_t mask = op->n_in > 2 ? tmi_scalar_value(w, tmi_in(w->m, op, 2)) : 0;
    uint32_t first = tmi_t_icmp(w->t, 0, tmi_t_tid(w->t), tmi_t_u32(w->t, 0));
    tmi_stg(w->t, tmi_scalar_value(w, tmi_in(w->m, op, 0)), tmi_to_memory(w, tmi_scalar_value(w, tmi_in(w->m, op, 1))),
            tmi_both(w->t, first, mask), 1);
}

static uint32_t tmi_scalar_load(tmi_low *w, const tmi_op *op) {
    uint32_t mask = op->n_in > 1 ? tmi_scalar_value(w, tmi_in(w->m, op, 1)) : 0;
    uint32_t other = op->n_in > 2 ? tmi_scalar_value(w, tmi_in(w->m, op, 2)) : 0;
    return tmi_load_one(w, op, tmi_scalar_value(w, tmi_in(w->m, op, 0)), mask, other, tmi_tty_from(w->m, tmi_out_type(w->m, op, 0)), 1);
}

/* -- Where instances live ----------------------------------------------------------------------- */

static uint32_t tmi_inst_count(tmi_low *w, const tmi_inst *in) { /* registers of it a thread holds */
    return 1u << TMI_LIN(w->p, in->lin)->n_reg;
}

/* Give an instance an array (or, with one entry, a variable) before the nest that fills it. */
static void tmi_inst_array(tmi_low *w, uint32_t inst, int space) {
    tmi_inst *in = TMI_INST(w->p, inst);
    uint32_t  vec = TMI_LIN(w->p, in->lin)->vec;
    tmi_tty   type = tmi_tty_from(w->m, tmi_value_type(w->m, in->value));
    if (in->store) return;
    if (type.kind == TMI_S_PTR) vec = 0; /* Metal has no vectors of pointers */
    in->vec = (uint8_t)vec;
    type.width = (uint8_t)(1u << vec);
    if (space == TMI_AS_FRAG) {
        type.width = 1;
        in->vec = 1;
    }
    in->ref = tmi_t_array(w->t, (tmi_space)space, type, tmi_inst_count(w, in) >> in->vec, tmi_source_name(w, in->value));
    in->store = TMI_ST_ARRAY;
}

/* Keep what a nest computed for an instance: a value where there is no loop, an array entry else. */
static void tmi_inst_put(tmi_low *w, uint32_t inst, uint32_t v) {
    tmi_inst *in = TMI_INST(w->p, inst);
    tmi_nest *n = w->nest;
    tmi_parts x;
    uint32_t  i, index;
    if (in->store != TMI_ST_ARRAY) {
        in->store = TMI_ST_SSA;
        in->ref = v;
        in->vec = (uint8_t)n->vec;
        return;
    }
    memset(&x, 0, sizeof x);
    if (in->vec < n->vec) { /* elements one by one */
        for (i = 0; i < n->lin->n_reg; i++) x.reg[i] = 1u << i;
        for (i = 0; i < 1u << n->vec; i++) tmi_t_write(w->t, in->ref, tmi_parts_expr(w, n, &x, i), 0, tmi_t_vget(w->t, v, i));
        return;
    }
    for (i = n->vec; i < n->lin->n_reg; i++) x.reg[i] = 1u << (i - in->vec);
    index = tmi_parts_expr(w, n, &x, 0);
    if (TMI_ARR(w->t, in->ref)->space == TMI_AS_FRAG) {
        for (i = 0; i < 2; i++) tmi_t_write(w->t, in->ref, index, tmi_t_u32(w->t, i), tmi_t_vget(w->t, v, i));
        return;
    }
    tmi_t_write(w->t, in->ref, index, 0, v);
}

/* -- Conversions between layouts ------------------------------------------------------------------- */

/* Offset in threadgroup memory of an element's number: rows of 32 and more words are padded by 16
 * bytes, so that walking down a column does not meet one bank again and again. */
static uint32_t tmi_pad_shift(uint32_t bits, uint32_t bytes) {
    uint32_t row = 7 - tmi_log2(bytes); /* elements of a 128-byte row */
    return bits > row ? row : 0;
}

static uint32_t tmi_padded_count(uint32_t bits, uint32_t bytes) {
    uint32_t s = tmi_pad_shift(bits, bytes), n = 1u << bits;
    return s ? n + (n >> s) * (16 / bytes ? 16 / bytes : 1) : n;
}

static uint32_t tmi_padded_index(tmi_low *w, const tmi_lin *view, uint32_t bits, uint32_t bytes, uint32_t mode) {
    tmi_thr *t = w->t;
    uint32_t s = tmi_pad_shift(bits, bytes), pad = 16 / bytes ? 16 / bytes : 1, index = tmi_coord(w, view, 0, 32, mode);
    if (!s) return index;
    return tmi_t_add(t, index, tmi_t_mul(t, tmi_coord(w, view, s, 32 - s, mode), tmi_t_u32(t, pad)));
}

static tmi_tty tmi_as_shared(tmi_tty t) { /* in threadgroup memory: no bool, no pointers */
    t.elem = 0;
    if (t.kind == TMI_S_BOOL) t.kind = TMI_S_I8;
    if (t.kind == TMI_S_PTR) t.kind = TMI_S_I64;
    return t;
}

static tmi_tty tmi_shared_type(const tmi_module *m, uint32_t type) {
    return tmi_as_shared(tmi_tty_from(m, type));
}

static uint32_t tmi_from_shared(tmi_low *w, uint32_t v, tmi_tty type) {
    if (type.kind == TMI_S_BOOL) return tmi_t_icmp(w->t, 1, v, tmi_t_zero(w->t, tmi_t_type(w->t, v)));
    if (type.kind == TMI_S_PTR) {
        type.width = tmi_t_type(w->t, v).width;
        return tmi_t_tern(w->t, TMI_TF_I2P, type, v, 0, 0);
    }
    return v;
}

/* Is the instance moved by shuffles? Else through threadgroup memory. */
static int tmi_convert_by_shuffle(const tmi_plan *p, const tmi_inst *in, tmi_shuffle *s) {
    uint32_t i, mixed = 0;
    if (!tmi_lin_shuffle(TMI_LIN(p, TMI_INST(p, in->source)->lin), TMI_LIN(p, in->lin), s)) return 0;
    for (i = 0; i < TMI_LANE_BITS; i++) mixed += s->reg_of_lane[i] != 0;
    return mixed <= 1; /* each such bit doubles the shuffles; beyond one, memory is no dearer */
}

/* The lane whose value a thread wants: a map of its own lane and of the register it fills. */
static uint32_t tmi_source_lane(tmi_low *w, const tmi_shuffle *s, uint32_t mode, int *is_xor, uint32_t *mask) {
    tmi_parts x;
    uint32_t i, same = 1;
    memset(&x, 0, sizeof x);
    for (i = 0; i < w->nest->lin->n_reg; i++) x.reg[i] = s->lane_of_reg[i], same &= !s->lane_of_reg[i];
    for (i = 0; i < TMI_LANE_BITS; i++) x.thread[i] = s->lane_of_lane[i], same &= s->lane_of_lane[i] == 1u << i;
    x.fixed = s->lane_base;
    *is_xor = (int)same;
    *mask = s->lane_base;
    return tmi_parts_expr(w, w->nest, &x, mode);
}

static uint32_t tmi_shuffled(tmi_low *w, int op, uint32_t v, uint32_t lane) {
    tmi_ins n;
    tmi_tty type = tmi_t_type(w->t, v);
    if (type.kind == TMI_S_PTR) {
        v = tmi_shuffled(w, op, tmi_t_un(w->t, TMI_TF_P2I, tmi_tty_of(TMI_S_I64, 1), v), lane);
        return tmi_t_tern(w->t, TMI_TF_I2P, type, v, 0, 0);
    }
    tmi_ins_zero(&n, op, tmi_t_type(w->t, v));
    n.a = v;
    n.b = lane;
    return tmi_t_pin(w->t, &n);
}

static uint32_t tmi_convert_shuffle(tmi_low *w, const tmi_inst *in, const tmi_shuffle *s, uint32_t mode) {
    const tmi_lin *src = TMI_LIN(w->p, TMI_INST(w->p, in->source)->lin);
    tmi_thr *t = w->t;
    tmi_lin  view;
    uint32_t i, lane, mask, mixed = TMI_NONE, v[2], k;
    int      is_xor;
    /* the register to send, as a view of the source in the nest of the result */
    tmi_lin_zero(&view, src->n_sg);
    view.n_reg = w->nest->lin->n_reg;
    for (i = 0; i < TMI_LANE_BITS; i++) {
        view.lane[i] = src->lane[i];
        if (s->reg_of_lane[i]) mixed = i;
    }
    for (i = 0; i < src->n_sg; i++) view.sg[i] = src->sg[i];
    for (i = 0; i < view.n_reg; i++)
        for (k = 0; k < src->n_reg; k++)
            if (s->reg_of_reg[i] >> k & 1) view.reg[i] ^= src->reg[k];
    view.offset = src->offset;
    for (k = 0; k < src->n_reg; k++)
        if (s->reg_base >> k & 1) view.offset ^= src->reg[k];
    lane = tmi_source_lane(w, s, mode, &is_xor, &mask);
    v[0] = tmi_inst_element(w, in->source, &view, mode);
    v[0] = is_xor ? (mask ? tmi_shuffled(w, TMI_TF_SHUFX, v[0], tmi_t_u32(t, mask)) : v[0]) : tmi_shuffled(w, TMI_TF_SHUF, v[0], lane);
    if (mixed == TMI_NONE) return v[0];
    for (k = 0; k < src->n_reg; k++)
        if (s->reg_of_lane[mixed] >> k & 1) view.offset ^= src->reg[k];
    v[1] = tmi_inst_element(w, in->source, &view, mode);
    v[1] = is_xor && !mask ? v[1] : tmi_shuffled(w, TMI_TF_SHUF, v[1], lane);
    return tmi_t_select(t, tmi_t_icmp(t, 1, tmi_thread_bits(w, mixed, 1, 0), tmi_t_u32(t, 0)), v[1], v[0]);
}

static uint32_t tmi_buffer_of(tmi_low *w, uint32_t inst) { /* threadgroup array of a conversion */
    tmi_inst *in = TMI_INST(w->p, inst);
    uint32_t  type = tmi_value_type(w->m, in->value), bits = tmi_type_bits(w->m, type);
    tmi_tty   s = tmi_shared_type(w->m, type);
    if (!in->buffer)
        in->buffer = tmi_t_array(w->t, TMI_AS_GROUP, s, tmi_padded_count(bits, tmi_scalar_bytes[s.kind]), tmi_source_name(w, in->value));
    return in->buffer;
}

/* The half of a conversion that writes: in the source's nest. */
static void tmi_convert_write(tmi_low *w, uint32_t inst) {
    const tmi_inst *in = TMI_INST(w->p, inst);
    const tmi_lin  *src = w->nest->lin;
    uint32_t buf = tmi_buffer_of(w, inst), bits = tmi_type_bits(w->m, tmi_value_type(w->m, in->value)), k, n = 1u << w->nest->vec;
    uint32_t bytes = tmi_scalar_bytes[TMI_ARR(w->t, buf)->type.kind], holder = tmi_is_holder(w, src), branch = 0;
    uint32_t v[4], at[4];
    for (k = 0; k < n; k++) {
        v[k] = tmi_to_memory(w, tmi_elem_at(w, in->value, src, k));
        at[k] = tmi_padded_index(w, src, bits, bytes, k);
    }
    if (holder) branch = tmi_t_if(w->t, holder);
    for (k = 0; k < n; k++) tmi_t_write(w->t, buf, at[k], 0, v[k]);
    if (branch) (void)tmi_t_close(w->t);
}

/* The half that reads: an element where the result's nest stands. */
static uint32_t tmi_convert_read(tmi_low *w, uint32_t inst) {
    const tmi_inst *in = TMI_INST(w->p, inst);
    tmi_shuffle s;
    uint32_t k, n = 1u << w->nest->vec, part[4], bits = tmi_type_bits(w->m, tmi_value_type(w->m, in->value)), bytes;
    tmi_tty  type = tmi_tty_from(w->m, tmi_value_type(w->m, in->value));
    if (tmi_convert_by_shuffle(w->p, in, &s)) {
        for (k = 0; k < n; k++) part[k] = tmi_convert_shuffle(w, in, &s, k);
        return tmi_t_vmake(w->t, part, n);
    }
    bytes = tmi_scalar_bytes[TMI_ARR(w->t, tmi_buffer_of(w, inst))->type.kind];
    for (k = 0; k < n; k++)
        part[k] = tmi_from_shared(w, tmi_t_read(w->t, in->buffer, tmi_padded_index(w, w->nest->lin, bits, bytes, k), 0), type);
    return tmi_t_vmake(w->t, part, n);
}

/* -- Tasks ---------------------------------------------------------------------------------------------- */

/* Compute an instance where its nest stands, and keep it if others read it. */
static void tmi_compute(tmi_low *w, uint32_t inst) {
    const tmi_inst *in = TMI_INST(w->p, inst);
    const tmi_op   *op = TMI_OP(w->m, tmi_def(w->m, in->value));
    uint32_t v[8], i, r;
    if (tmi_def(w->m, in->value)) w->t->src = tmi_def(w->m, in->value);
    if (in->kind == TMI_I_CONVERT) r = tmi_convert_read(w, inst);
    else if (op->kind == TMI_OP_LOAD) r = tmi_load_elements(w, op, w->nest->lin);
    else if (tmi_is_view(op->kind)) r = tmi_inline_element(w, in->value, op, w->nest->lin, w->nest->vec ? TMI_VEC : 0);
    else {
        for (i = 0; i < op->n_in && i < 8; i++) v[i] = tmi_elem_at(w, tmi_in(w->m, op, i), w->nest->lin, w->nest->vec ? TMI_VEC : 0);
        r = op->n_out == 2 ? tmi_elt_two(w, op, v, TMI_VALUE(w->m, in->value)->index) : tmi_elt(w, op, v, TMI_VALUE(w->m, in->value)->index);
    }
    tmi_t_name(w->t, r, tmi_source_name(w, in->value));
    if (in->kind != TMI_I_CONVERT || tmi_lin_id(w->p, w->nest->lin) == in->lin) tmi_memo_put(w, in->value, in->lin, w->nest->vec ? TMI_VEC : 0, r);
    if (in->escapes) tmi_inst_put(w, inst, r);
}

/* -- Reductions -------------------------------------------------------------------------------------------- */

/* How a reduction is laid out over registers, lanes and simdgroups. */
typedef struct tmi_folding {
    uint32_t op, combiner;        /* combiner: simple one, or 0 */
    uint32_t axis_mask;           /* bits of the element's number that the axis owns */
    uint32_t reg_axis, lane_axis, sg_axis; /* which register, lane and simdgroup bits lie along it */
    uint32_t vec_axis;            /* elements of one vector that lie along the axis; 1: none do */
    uint32_t n_out_reg;           /* log2 of results a thread holds */
    uint32_t out_bit[TMI_MAX_REG]; /* of each register bit off the axis: its bit in the result's index */
    int      kind;                /* scalar of the accumulator: sums of 16-bit floats run in float */
    int      wide;                /* the accumulator is wider than the operand */
    uint32_t acc[8];              /* per operand: array of partial results (or 0), */
    uint32_t part[8];             /* or the partial itself where there is no loop */
} tmi_folding;

static void tmi_folding_init(tmi_low *w, uint32_t id, const tmi_lin *l, tmi_folding *f) {
    const tmi_op *op = TMI_OP(w->m, id);
    uint32_t i;
    memset(f, 0, sizeof *f);
    f->op = id;
    f->combiner = tmi_simple_combiner(w->m, op);
    f->axis_mask = tmi_dim_mask(w->m, tmi_in_type(w->m, op, 0), (uint32_t)tmi_attr_int(w->m, op, "axis", 0));
    for (i = 0; i < l->n_reg; i++) {
        if (l->reg[i] & f->axis_mask) f->reg_axis |= 1u << i;
        else f->out_bit[i] = f->n_out_reg++;
    }
    f->vec_axis = l->vec && (f->reg_axis & 1) ? 1u << l->vec : 1;
    for (i = 0; i < TMI_LANE_BITS; i++)
        if (l->lane[i] & f->axis_mask) f->lane_axis |= 1u << i;
    for (i = 0; i < l->n_sg; i++)
        if (l->sg[i] & f->axis_mask) f->sg_axis |= 1u << i;
    f->kind = tmi_s_of(w->m, tmi_in_type(w->m, op, 0));
    f->wide = tmi_fold_is_wide(w->m, op);
    if (f->wide) f->kind = TMI_S_F32;
}

/* Type of the accumulator of operand i. */
static tmi_tty tmi_fold_type(tmi_low *w, const tmi_folding *f, uint32_t i) {
    tmi_tty t = tmi_tty_from(w->m, tmi_in_type(w->m, TMI_OP(w->m, f->op), i));
    if (f->wide) t.kind = (uint8_t)f->kind;
    return t;
}

/* The combining region applied to n left and n right values, which it replaces. */
static void tmi_combine(tmi_low *w, const tmi_op *op, uint32_t *left, const uint32_t *right) {
    const tmi_module *m = w->m;
    uint32_t block = tmi_op_body(m, op, 0), i, k, o, v[8], n = op->n_in;
    uint32_t combiner = tmi_simple_combiner(m, op);
    if (combiner) {
        v[0] = left[0];
        v[1] = right[0];
        left[0] = tmi_elt(w, TMI_OP(m, combiner), v, 0);
        return;
    }
    for (i = 0; i < n; i++) {
        w->scalar[tmi_block_arg(m, block, i)] = left[i];
        w->scalar[tmi_block_arg(m, block, n + i)] = right[i];
    }
    for (o = TMI_BLOCK(m, block)->first_op; o; o = TMI_OP(m, o)->next) {
        const tmi_op *x = TMI_OP(m, o);
        if (tmi_ops[x->kind].traits & TMI_ENDS) {
            for (i = 0; i < n; i++) left[i] = tmi_scalar_value(w, tmi_in(m, x, i));
            return;
        }
        for (k = 0; k < x->n_out; k++) w->scalar[tmi_out(m, x, k)] = tmi_scalar_op(w, x, k);
    }
}

static void tmi_fold_combine(tmi_low *w, const tmi_folding *f, uint32_t *left, const uint32_t *right) {
    if (f->wide) left[0] = tmi_t_bin(w->t, tmi_tf_of_op[TMI_OP(w->m, f->combiner)->kind], left[0], right[0]);
    else tmi_combine(w, TMI_OP(w->m, f->op), left, right);
}

/* Simdgroup reductions that Metal has for an op and type; the rest goes by shuffles. */
typedef enum tmi_simd {
    TMI_SIMD_NONE, TMI_SIMD_SUM, TMI_SIMD_PRODUCT, TMI_SIMD_MAX, TMI_SIMD_MIN, TMI_SIMD_AND, TMI_SIMD_OR, TMI_SIMD_XOR, TMI_SIMD_ALL, TMI_SIMD_ANY,
    TMI_SIMD_SCAN_SUM, TMI_SIMD_SCAN_PRODUCT
} tmi_simd;

static tmi_simd tmi_simd_of(uint16_t op, int kind) {
    if (kind == TMI_S_I64 || kind == TMI_S_BF16 || kind == TMI_S_I8 || kind == TMI_S_I16 || kind == TMI_S_PTR) return TMI_SIMD_NONE;
    if (kind == TMI_S_BOOL) {
        switch (op) {
        case TMI_OP_ANDI: case TMI_OP_MULI: case TMI_OP_MAXSI: case TMI_OP_MINUI: return TMI_SIMD_ALL;
        case TMI_OP_ORI: case TMI_OP_MINSI: case TMI_OP_MAXUI: return TMI_SIMD_ANY;
        default: return TMI_SIMD_NONE;
        }
    }
    switch (op) {
    case TMI_OP_ADDF: case TMI_OP_ADDI: return TMI_SIMD_SUM;
    case TMI_OP_MULF: case TMI_OP_MULI: return TMI_SIMD_PRODUCT;
    case TMI_OP_MAXNUMF: case TMI_OP_MAXSI: case TMI_OP_MAXUI: return TMI_SIMD_MAX;
    case TMI_OP_MINNUMF: case TMI_OP_MINSI: case TMI_OP_MINUI: return TMI_SIMD_MIN;
    case TMI_OP_ANDI: return TMI_SIMD_AND;
    case TMI_OP_ORI: return TMI_SIMD_OR;
    case TMI_OP_XORI: return TMI_SIMD_XOR;
    default: return TMI_SIMD_NONE;
    }
}

static int tmi_is_unsigned_op(uint16_t op) { return op == TMI_OP_MAXUI || op == TMI_OP_MINUI; }

static uint32_t tmi_simd_reduce(tmi_low *w, uint16_t op, uint32_t v) {
    tmi_ins n;
    tmi_ins_zero(&n, TMI_TF_SIMD, tmi_t_type(w->t, v));
    n.a = v;
    n.c = (uint32_t)tmi_simd_of(op, n.type.kind);
    n.d = (uint32_t)tmi_is_unsigned_op(op);
    return tmi_t_pin(w->t, &n);
}

/* Combine over the lanes that share a result; every lane ends with it. */
static void tmi_fold_lanes(tmi_low *w, const tmi_folding *f, uint32_t *v) {
    const tmi_op *op = TMI_OP(w->m, f->op);
    uint32_t b, i, other[8];
    if (f->lane_axis == 31 && f->combiner && tmi_simd_of(TMI_OP(w->m, f->combiner)->kind, tmi_t_type(w->t, v[0]).kind)) {
        v[0] = tmi_simd_reduce(w, TMI_OP(w->m, f->combiner)->kind, v[0]);
        return;
    }
    for (b = TMI_LANE_BITS; b-- > 0;) {
        if (!(f->lane_axis >> b & 1)) continue;
        for (i = 0; i < op->n_in; i++) other[i] = tmi_shuffled(w, TMI_TF_SHUFX, v[i], tmi_t_u32(w->t, 1u << b));
        tmi_fold_combine(w, f, v, other);
    }
}

/* Elements of one vector that lie along the axis: the vector's own elements, or none. */
static void tmi_fold_vector(tmi_low *w, const tmi_folding *f, uint32_t *v) {
    const tmi_op *op = TMI_OP(w->m, f->op);
    uint32_t i, k, n = f->vec_axis, e[8], acc[8]; /* a scalar stands for a vector of equal elements */
    if (n == 1) return;
    for (i = 0; i < op->n_in; i++) acc[i] = tmi_t_vget(w->t, v[i], 0);
    for (k = 1; k < n; k++) {
        for (i = 0; i < op->n_in; i++) e[i] = tmi_t_vget(w->t, v[i], k);
        tmi_fold_combine(w, f, acc, e);
    }
    for (i = 0; i < op->n_in; i++) v[i] = acc[i];
}

/* Accumulators of a reduction that runs inside a nest with loops. */
static void tmi_fold_begin(tmi_low *w, tmi_folding *f, const tmi_lin *l) {
    const tmi_op *op = TMI_OP(w->m, f->op);
    uint32_t vec_axis = 0, i, count, zero, width = 1u << l->vec, n_loops = l->n_reg - l->vec;
    uint64_t bits = 0;
    tmi_tty  type = tmi_fold_type(w, f, 0);
    for (i = 0; i < l->vec; i++) vec_axis |= f->reg_axis >> i & 1;
    if (!n_loops) return;
    count = 1u << (vec_axis ? f->n_out_reg : f->n_out_reg - l->vec);
    type.width = (uint8_t)width;
    (void)tmi_identity(f->kind, TMI_OP(w->m, f->combiner)->kind, &bits);
    w->t->src = f->op;
    f->acc[0] = tmi_t_array(w->t, TMI_AS_PRIVATE, type, count, tmi_source_name(w, tmi_out(w->m, op, 0)));
    if (!(f->reg_axis >> l->vec)) return; /* no loop runs along the axis: each entry is written once */
    zero = tmi_t_const(w->t, type, bits);
    if (count == 1) {
        TMI_INS(w->t, TMI_ARR(w->t, f->acc[0])->decl)->b = zero;
    } else {
        uint32_t v = tmi_t_for(w->t, count);
        tmi_t_write(w->t, f->acc[0], v, 0, zero);
        (void)tmi_t_close(w->t);
    }
}

/* Index of a nest's position among a reduction's results; vector bits off the axis count as elements. */
static uint32_t tmi_fold_index(tmi_low *w, const tmi_folding *f, uint32_t skip) {
    tmi_parts x;
    uint32_t  i;
    memset(&x, 0, sizeof x);
    for (i = w->nest->vec; i < w->nest->lin->n_reg; i++)
        if (!(f->reg_axis >> i & 1)) x.reg[i] = 1u << (f->out_bit[i] - skip);
    return tmi_parts_expr(w, w->nest, &x, 0);
}

static void tmi_fold_step(tmi_low *w, tmi_folding *f) {
    const tmi_op  *op = TMI_OP(w->m, f->op);
    const tmi_lin *l = w->nest->lin;
    uint32_t v[2], i, skip = 0, index;
    w->t->src = f->op;
    v[1] = tmi_elem_at(w, tmi_in(w->m, op, 0), l, w->nest->vec ? TMI_VEC : 0);
    if (f->wide) v[1] = tmi_conv(w->t, v[1], f->kind);
    for (i = 0; i < l->vec; i++) skip += !(f->reg_axis >> i & 1);
    if (!f->acc[0]) {
        f->part[0] = v[1];
        return;
    }
    index = tmi_fold_index(w, f, skip);
    if (f->reg_axis >> l->vec) {
        v[0] = tmi_t_read(w->t, f->acc[0], index, 0);
        tmi_fold_combine(w, f, &v[0], &v[1]);
        v[1] = v[0];
    }
    tmi_t_write(w->t, f->acc[0], index, 0, v[1]);
}

/* -- The end of a reduction: lanes, then simdgroups ------------------------------------------------------ */

/* Threadgroup slots for the partial results of simdgroups that share one. */
static uint32_t tmi_fold_slots(tmi_low *w, const tmi_folding *f) {
    const tmi_op *op = TMI_OP(w->m, f->op);
    uint32_t bits = tmi_type_bits(w->m, tmi_in_type(w->m, op, 0)) - tmi_popcount(f->axis_mask);
    return 1u << (bits + tmi_popcount(f->sg_axis));
}

/* Number of this simdgroup among those that share a result. */
static uint32_t tmi_fold_rank(tmi_low *w, const tmi_folding *f) {
    tmi_parts x;
    uint32_t  i, n = 0;
    memset(&x, 0, sizeof x);
    for (i = 0; i < w->p->n_sg; i++)
        if (f->sg_axis >> i & 1) x.thread[TMI_LANE_BITS + i] = 1u << n++;
    return tmi_parts_expr(w, NULL, &x, 0);
}

/* One result of a thread: its partials over lanes; written out when simdgroups share it. */
typedef struct tmi_finish {
    tmi_folding *f;
    tmi_lin      out;      /* layout of the result */
    uint32_t     buf[8];   /* threadgroup arrays */
    uint32_t     store[8]; /* array of results when a thread holds several */
    uint32_t     value[8]; /* or the one result */
} tmi_finish;

/* Read the partials of result entry `index` (an element of a vector: `element`). */
static void tmi_fold_fetch(tmi_low *w, const tmi_folding *f, uint32_t index, uint32_t element, int off_axis_vec, uint32_t *v) {
    const tmi_op *op = TMI_OP(w->m, f->op);
    uint32_t i;
    for (i = 0; i < op->n_in; i++) {
        if (!f->acc[i]) v[i] = off_axis_vec ? tmi_t_vget(w->t, f->part[i], element) : f->part[i];
        else v[i] = tmi_t_read(w->t, f->acc[i], index, off_axis_vec ? tmi_t_u32(w->t, element) : 0);
    }
    if (!off_axis_vec) tmi_fold_vector(w, f, v);
}

/* A view of the result in a nest of its own: for numbering its elements. */
static uint32_t tmi_result_number(tmi_low *w, const tmi_lin *out, uint32_t mode) {
    return tmi_coord(w, out, 0, 32, mode);
}

static uint32_t tmi_partial_slot(tmi_low *w, const tmi_folding *f, const tmi_lin *out, uint32_t mode, uint32_t rank) {
    tmi_thr *t = w->t;
    return tmi_t_add(t, tmi_t_mul(t, tmi_result_number(w, out, mode), tmi_t_u32(t, 1u << tmi_popcount(f->sg_axis))), rank);
}

/* Lanes first; where simdgroups share results, one lane of each writes its partial. */
static void tmi_finish_lanes(tmi_low *w, tmi_finish *x, uint32_t out_id) {
    tmi_folding  *f = x->f;
    const tmi_op *op = TMI_OP(w->m, f->op);
    tmi_nest      n;
    uint32_t      i, k, off_axis = x->out.vec, v[8], branch;
    tmi_lin       writer = *TMI_LIN(w->p, out_id);
    w->t->src = f->op;
    if (!f->sg_axis && x->out.n_reg > x->out.vec)
        for (i = 0; i < op->n_in; i++) {
            tmi_tty type = tmi_fold_type(w, f, i);
            type.width = (uint8_t)(1u << x->out.vec);
            x->store[i] = f->acc[i] && TMI_ARR(w->t, f->acc[i])->type.width == type.width ? f->acc[i]
                              : tmi_t_array(w->t, TMI_AS_PRIVATE, type, 1u << (x->out.n_reg - x->out.vec), tmi_source_name(w, tmi_out(w->m, op, i)));
        }
    if (f->sg_axis)
        for (i = 0; i < op->n_in; i++)
            x->buf[i] = tmi_t_array(w->t, TMI_AS_GROUP, tmi_as_shared(tmi_fold_type(w, f, i)), tmi_fold_slots(w, f),
                                    tmi_source_name(w, tmi_out(w->m, op, i)));
    if (!f->sg_axis && !f->lane_axis && x->store[0] && x->store[0] == f->acc[0]) return; /* already there */
    tmi_nest_begin(w, &n, out_id);
    tmi_nest_loops(w, &n);
    {
        tmi_parts p;
        uint32_t  index, part[8][4];
        memset(&p, 0, sizeof p);
        for (i = n.vec; i < n.lin->n_reg; i++) p.reg[i] = 1u << (i - n.vec);
        index = tmi_parts_expr(w, &n, &p, 0);
        for (k = 0; k < 1u << off_axis; k++) {
            tmi_fold_fetch(w, f, index, k, off_axis != 0, v);
            tmi_fold_lanes(w, f, v);
            tmi_t_name(w->t, v[0], tmi_source_name(w, tmi_out(w->m, op, 0)));
            for (i = 0; i < op->n_in; i++) part[i][k] = v[i];
            if (!f->sg_axis) continue;
            /* the lanes along the axis all hold the partial now; lane zero of them writes it */
            for (i = 0; i < TMI_LANE_BITS; i++)
                if (f->lane_axis >> i & 1) writer.lane[i] = 0;
            for (i = 0; i < writer.n_sg; i++)
                if (f->sg_axis >> i & 1) writer.sg[i] = 1u << (25 + i); /* each writes a slot of its own */
            {
                uint32_t slot = tmi_partial_slot(w, f, n.lin, k, tmi_fold_rank(w, f)), holder = tmi_is_holder(w, &writer), keep[8];
                for (i = 0; i < op->n_in; i++) keep[i] = tmi_to_memory(w, v[i]);
                branch = holder ? tmi_t_if(w->t, holder) : 0;
                for (i = 0; i < op->n_in; i++) tmi_t_write(w->t, x->buf[i], slot, 0, keep[i]);
                if (branch) (void)tmi_t_close(w->t);
            }
        }
        if (!f->sg_axis)
            for (i = 0; i < op->n_in; i++) {
                uint32_t r = tmi_t_vmake(w->t, part[i], 1u << off_axis);
                if (x->store[i]) tmi_t_write(w->t, x->store[i], index, 0, r);
                else x->value[i] = r;
            }
    }
    tmi_nest_end(w, &n);
}

/* All simdgroups have written: combine their partials, in every thread that wants the result. */
static void tmi_finish_groups(tmi_low *w, tmi_finish *x, uint32_t out_id) {
    tmi_folding  *f = x->f;
    const tmi_op *op = TMI_OP(w->m, f->op);
    tmi_nest      n;
    tmi_parts     p;
    uint32_t      i, k, s, parts = 1u << tmi_popcount(f->sg_axis), index, part[8][4], v[8], e[8];
    int           lanes_free;
    w->t->src = f->op;
    if (x->out.n_reg > x->out.vec)
        for (i = 0; i < op->n_in; i++) {
            tmi_tty type = tmi_fold_type(w, f, i);
            type.width = (uint8_t)(1u << x->out.vec);
            x->store[i] = tmi_t_array(w->t, TMI_AS_PRIVATE, type, 1u << (x->out.n_reg - x->out.vec), tmi_source_name(w, tmi_out(w->m, op, i)));
        }
    for (lanes_free = 1, i = 0; i < TMI_LANE_BITS; i++) lanes_free &= !x->out.lane[i];
    tmi_nest_begin(w, &n, out_id);
    tmi_nest_loops(w, &n);
    memset(&p, 0, sizeof p);
    for (i = n.vec; i < n.lin->n_reg; i++) p.reg[i] = 1u << (i - n.vec);
    index = tmi_parts_expr(w, &n, &p, 0);
    for (k = 0; k < 1u << n.vec; k++) {
        uint64_t bits;
        uint16_t ck = f->combiner ? TMI_OP(w->m, f->combiner)->kind : (uint16_t)0;
        tmi_tty  type = tmi_fold_type(w, f, 0);
        if (f->combiner && lanes_free && parts > 2 && tmi_simd_of(ck, type.kind) && type.kind != TMI_S_BOOL && tmi_identity(type.kind, ck, &bits)) {
            /* every simdgroup reads the partials, a lane each, and reduces them once more */
            uint32_t lane = tmi_t_lane(w->t), in_range = parts < 32 ? tmi_t_icmp(w->t, 6, lane, tmi_t_u32(w->t, parts)) : 0, r;
            tmi_ins  ld;
            tmi_ins_zero(&ld, TMI_TF_LDT, type);
            ld.a = x->buf[0];
            ld.b = tmi_partial_slot(w, f, n.lin, k, lane);
            ld.e = in_range; /* guarded read: the identity where there is no partial */
            ld.f = in_range ? tmi_t_const(w->t, type, bits) : 0;
            r = tmi_t_pin(w->t, &ld);
            v[0] = tmi_simd_reduce(w, ck, r);
            tmi_t_name(w->t, v[0], tmi_source_name(w, tmi_out(w->m, op, 0)));
        } else {
            for (s = 0; s < parts; s++) {
                for (i = 0; i < op->n_in; i++) {
                    uint32_t at = tmi_partial_slot(w, f, n.lin, k, tmi_t_u32(w->t, s));
                    e[i] = tmi_from_shared(w, tmi_t_read(w->t, x->buf[i], at, 0), tmi_fold_type(w, f, i));
                    if (!s) v[i] = e[i];
                }
                if (s) tmi_fold_combine(w, f, v, e);
            }
        }
        for (i = 0; i < op->n_in; i++) part[i][k] = v[i];
    }
    for (i = 0; i < op->n_in; i++) {
        uint32_t r = tmi_t_vmake(w->t, part[i], 1u << n.vec);
        if (x->store[i]) tmi_t_write(w->t, x->store[i], index, 0, r);
        else x->value[i] = r;
    }
    tmi_nest_end(w, &n);
}

/* A wide accumulator is rounded to the operand's type once, at the very end. */
static void tmi_finish_narrow(tmi_low *w, tmi_finish *x) {
    const tmi_op *op = TMI_OP(w->m, x->f->op);
    tmi_tty  type = tmi_tty_from(w->m, tmi_in_type(w->m, op, 0));
    uint32_t count, narrow, v;
    if (!x->store[0]) {
        x->value[0] = tmi_conv(w->t, x->value[0], type.kind);
        return;
    }
    count = TMI_ARR(w->t, x->store[0])->count;
    type.width = TMI_ARR(w->t, x->store[0])->type.width;
    narrow = tmi_t_array(w->t, TMI_AS_PRIVATE, type, count, tmi_source_name(w, tmi_out(w->m, op, 0)));
    v = tmi_t_for(w->t, count);
    tmi_t_write(w->t, narrow, v, 0, tmi_conv(w->t, tmi_t_read(w->t, x->store[0], v, 0), type.kind));
    (void)tmi_t_close(w->t);
    x->store[0] = narrow;
}

/* Hand the results to the values of the op: scalars, or the first instance of tensors. */
static void tmi_finish_results(tmi_low *w, tmi_finish *x) {
    const tmi_op *op = TMI_OP(w->m, x->f->op);
    uint32_t i;
    if (x->f->wide) tmi_finish_narrow(w, x);
    for (i = 0; i < op->n_out; i++) {
        uint32_t  value = tmi_out(w->m, op, i);
        tmi_inst *in;
        if (!tmi_is_tensor(w->m, tmi_value_type(w->m, value))) {
            w->scalar[value] = x->value[i];
            continue;
        }
        in = TMI_INST(w->p, w->p->first_inst[value] - 1);
        in->vec = x->out.vec;
        in->store = x->store[i] ? TMI_ST_ARRAY : TMI_ST_SSA;
        in->ref = x->store[i] ? x->store[i] : x->value[i];
    }
}

/* -- Reductions of any region: whole tiles, element by element --------------------------------------------- */

/* Fold registers along the axis with the region, starting from the first element: no identity is known. */
static void tmi_fold_general(tmi_low *w, tmi_folding *f, uint32_t lin_id) {
    const tmi_op *op = TMI_OP(w->m, f->op);
    tmi_nest  n;
    tmi_lin   flat = *TMI_LIN(w->p, lin_id);
    uint32_t  i, k, v[8], e[8], bits = tmi_popcount(f->reg_axis), index, loop = 0;
    tmi_parts p;
    flat.vec = 0;
    tmi_nest_begin(w, &n, tmi_lin_id(w->p, &flat));
    w->t->src = f->op;
    for (i = 0; i < op->n_in && f->n_out_reg; i++)
        f->acc[i] = tmi_t_array(w->t, TMI_AS_PRIVATE, tmi_tty_from(w->m, tmi_in_type(w->m, op, i)), 1u << f->n_out_reg,
                                tmi_source_name(w, tmi_out(w->m, op, i)));
    for (i = 0; i < op->n_in && !f->n_out_reg && bits; i++)
        f->acc[i] = tmi_t_array(w->t, TMI_AS_PRIVATE, tmi_tty_from(w->m, tmi_in_type(w->m, op, i)), 1, tmi_source_name(w, tmi_out(w->m, op, i)));
    if (f->n_out_reg) {
        loop = tmi_t_for(w->t, 1u << f->n_out_reg);
        for (i = 0, k = 0; i < flat.n_reg; i++)
            if (!(f->reg_axis >> i & 1)) n.var[i] = loop, n.bit[i] = k++;
        n.n_open++;
    }
    memset(&p, 0, sizeof p);
    for (i = 0; i < flat.n_reg; i++)
        if (!(f->reg_axis >> i & 1)) p.reg[i] = 1u << f->out_bit[i];
    {   /* first element: the axis' registers all zero */
        uint32_t zero = tmi_t_u32(w->t, 0);
        for (i = 0, k = 0; i < flat.n_reg; i++)
            if (f->reg_axis >> i & 1) n.var[i] = zero, n.bit[i] = k++;
        index = f->n_out_reg ? tmi_parts_expr(w, &n, &p, 0) : tmi_t_u32(w->t, 0);
        for (i = 0; i < op->n_in; i++) v[i] = tmi_elem_at(w, tmi_in(w->m, op, i), &flat, 0);
        for (i = 0; i < op->n_in; i++) {
            if (f->acc[i]) tmi_t_write(w->t, f->acc[i], index, 0, v[i]);
            else f->part[i] = v[i];
        }
    }
    if (bits) { /* and the others in turn */
        uint32_t var = tmi_t_for(w->t, 1u << bits);
        TMI_INS(w->t, TMI_INS(w->t, var)->a)->b = 1;
        TMI_INS(w->t, var)->lo = 1;
        for (i = 0; i < w->memo_cap; i++) w->memo_slot[i] = 0; /* elements of the first register are not these */
        n.first_memo = w->memo.n;
        for (i = 0, k = 0; i < flat.n_reg; i++)
            if (f->reg_axis >> i & 1) n.var[i] = var, n.bit[i] = k++;
        for (i = 0; i < op->n_in; i++) e[i] = tmi_elem_at(w, tmi_in(w->m, op, i), &flat, 0);
        for (i = 0; i < op->n_in; i++) v[i] = tmi_t_read(w->t, f->acc[i], index, 0);
        tmi_combine(w, op, v, e);
        for (i = 0; i < op->n_in; i++) tmi_t_write(w->t, f->acc[i], index, 0, v[i]);
        (void)tmi_t_close(w->t);
    }
    tmi_nest_end(w, &n);
}

static void tmi_reduce_general(tmi_low *w, uint32_t id) {
    tmi_folding f;
    tmi_finish  x;
    uint32_t    lin_id = tmi_lin_id(w->p, tmi_comp_lin(w->p, tmi_comp_of(w->p, tmi_op_element(w->p, id)))), out_id;
    tmi_lin     flat = *TMI_LIN(w->p, lin_id);
    flat.vec = 0;
    memset(&x, 0, sizeof x);
    tmi_folding_init(w, id, &flat, &f);
    tmi_fold_general(w, &f, lin_id);
    x.f = &f;
    x.out = flat;
    tmi_reduced_lin(w->m, TMI_OP(w->m, id), &x.out);
    out_id = tmi_lin_id(w->p, &x.out);
    tmi_finish_lanes(w, &x, out_id);
    if (f.sg_axis) tmi_finish_groups(w, &x, out_id);
    tmi_finish_results(w, &x);
}

/* The bits of v that `keep` names, packed together. */
static uint32_t tmi_pack_bits(uint32_t v, uint32_t keep) {
    uint32_t r = 0, k = 0;
    for (; keep; keep >>= 1, v >>= 1)
        if (keep & 1) r |= (v & 1u) << k++;
    return r;
}

/* -- Scans: registers, lanes, simdgroups, registers again ----------------------------------------------- */

/* How a scan lies over its layout. Along the axis an element's position is made of low register bits,
 * then lane bits, then simdgroup bits, then high register bits (see tmi_scan_fits). */
typedef struct tmi_scanning {
    uint32_t op, n;             /* the op and its number of operands */
    uint32_t low, high, other;  /* register bits along the axis, below and above the lanes; off the axis */
    uint32_t lanes, groups;     /* lane and simdgroup bits along the axis */
    int      reverse;
    uint32_t var[3];            /* where the open loops stand: low, high, other; in scan order */
    uint32_t acc[8];            /* per operand: array over the registers */
    uint32_t carry[8];          /* what stands before this row of high registers */
    uint32_t before[8];         /* what the lanes below hold, per row: kept across the barrier */
    uint32_t part[8];           /* totals of simdgroups in threadgroup memory */
} tmi_scanning;

static void tmi_scan_init(tmi_low *w, uint32_t id, const tmi_lin *l, tmi_scanning *s) {
    const tmi_op *op = TMI_OP(w->m, id);
    uint32_t i, mask = tmi_dim_mask(w->m, tmi_in_type(w->m, op, 0), (uint32_t)tmi_attr_int(w->m, op, "axis", 0)), first = 0;
    memset(s, 0, sizeof *s);
    s->op = id;
    s->n = op->n_in;
    s->reverse = tmi_attr_int(w->m, op, "reverse", 0) != 0;
    for (i = 0; i < TMI_LANE_BITS + l->n_sg; i++) {
        uint32_t b = i < TMI_LANE_BITS ? l->lane[i] : l->sg[i - TMI_LANE_BITS];
        if (!(b & mask)) continue;
        if (!first) first = b;
        if (i < TMI_LANE_BITS) s->lanes |= 1u << i;
        else s->groups |= 1u << (i - TMI_LANE_BITS);
    }
    for (i = 0; i < l->n_reg; i++) {
        if (!(l->reg[i] & mask)) s->other |= 1u << i;
        else if (!first || l->reg[i] < first) s->low |= 1u << i;
        else s->high |= 1u << i;
    }
}

/* Registers `bits` of the nest are counted by `var`. What was remembered of other registers is forgotten. */
static void tmi_scan_point(tmi_low *w, tmi_nest *n, uint32_t bits, uint32_t var) {
    uint32_t i, k;
    for (i = 0, k = 0; i < n->lin->n_reg; i++)
        if (bits >> i & 1) n->var[i] = var, n->bit[i] = k++;
    for (i = 0; i < w->memo_cap; i++) w->memo_slot[i] = 0;
    n->first_memo = w->memo.n;
}

/* The register's own count for step `var` of a walk in scan order. */
static uint32_t tmi_scan_step(tmi_low *w, const tmi_scanning *s, uint32_t bits, uint32_t var) {
    if (!s->reverse) return var;
    return tmi_t_bin(w->t, TMI_TF_ISUB, tmi_t_u32(w->t, (1u << tmi_popcount(bits)) - 1u), var);
}

/* Index over the registers `bits` of the nest, packed. */
static uint32_t tmi_scan_index(tmi_low *w, const tmi_nest *n, uint32_t bits) {
    tmi_parts p;
    uint32_t  i, k = 0;
    memset(&p, 0, sizeof p);
    for (i = 0; i < n->lin->n_reg; i++)
        if (bits >> i & 1) p.reg[i] = 1u << k++;
    return tmi_parts_expr(w, n, &p, 0);
}

/* right = left combined with right, where there is a left; all of it by selects, so that lanes may differ. */
static void tmi_scan_join(tmi_low *w, const tmi_scanning *s, const uint32_t *left, uint32_t has_left, uint32_t *right, uint32_t has_right) {
    uint32_t i, both[8];
    for (i = 0; i < s->n; i++) both[i] = left[i];
    tmi_combine(w, TMI_OP(w->m, s->op), both, right);
    for (i = 0; i < s->n; i++)
        right[i] = tmi_t_select(w->t, has_left, tmi_t_select(w->t, has_right, both[i], left[i]), right[i]);
}

static uint32_t tmi_lane_bits_of(tmi_low *w, uint32_t mask) { return tmi_t_and(w->t, tmi_t_lane(w->t), tmi_t_u32(w->t, mask)); }

/* The first lane along the axis, in scan order: nothing stands before it in its simdgroup. The last one
 * holds the total. */
static uint32_t tmi_scan_is_end(tmi_low *w, const tmi_scanning *s, int last) {
    return tmi_t_icmp(w->t, 0, tmi_lane_bits_of(w, s->lanes), tmi_t_u32(w->t, last != s->reverse ? s->lanes : 0));
}

/* Each lane's total becomes the total of all lanes up to it. One step a lane bit: the upper half of each
 * block takes in the last lane of the lower half. */
static void tmi_scan_lanes(tmi_low *w, const tmi_scanning *s, uint32_t *v) {
    tmi_thr *t = w->t;
    uint32_t b, i, below = 0, lane = tmi_t_lane(t), left[8];
    const tmi_op *op = TMI_OP(w->m, s->op);
    uint32_t simple = tmi_simple_combiner(w->m, op);
    int      kind = tmi_t_type(t, v[0]).kind;
    if (s->lanes == 31 && !s->reverse && simple && s->n == 1 && (kind == TMI_S_I32 || kind == TMI_S_F32)) {
        uint16_t c = TMI_OP(w->m, simple)->kind;
        tmi_ins  n;
        if (c == TMI_OP_ADDF || c == TMI_OP_ADDI || c == TMI_OP_MULF || c == TMI_OP_MULI) {
            tmi_ins_zero(&n, TMI_TF_SIMD, tmi_t_type(t, v[0]));
            n.a = v[0];
            n.c = c == TMI_OP_ADDF || c == TMI_OP_ADDI ? TMI_SIMD_SCAN_SUM : TMI_SIMD_SCAN_PRODUCT;
            if (tmi_s_is_int(n.type.kind)) tmi_full_range(n.type.kind, &n.lo, &n.hi);
            v[0] = tmi_t_pin(t, &n);
            return;
        }
    }
    for (b = 0; b < TMI_LANE_BITS; b++) {
        uint32_t from, upper;
        if (!(s->lanes >> b & 1)) continue;
        upper = tmi_t_icmp(t, s->reverse ? 0 : 1, tmi_lane_bits_of(w, 1u << b), tmi_t_u32(t, 0));
        if (s->reverse) from = tmi_t_bin(t, TMI_TF_OR, below ? tmi_lane_bits_of(w, 31u & ~below) : lane, tmi_t_u32(t, 1u << b));
        else from = tmi_t_bin(t, TMI_TF_OR, tmi_lane_bits_of(w, 31u & ~(1u << b)), tmi_t_u32(t, below));
        for (i = 0; i < s->n; i++) left[i] = tmi_shuffled(w, TMI_TF_SHUF, v[i], from);
        tmi_scan_join(w, s, left, upper, v, tmi_t_bool(t, 1));
        below |= 1u << b;
    }
}

/* What the lane before holds; in the first lane, anything. */
static void tmi_scan_before(tmi_low *w, const tmi_scanning *s, const uint32_t *v, uint32_t *out) {
    tmi_thr *t = w->t;
    uint32_t lane = tmi_t_lane(t), off = 31u & ~s->lanes, from, i, one = tmi_t_u32(t, 1);
    if (s->reverse) from = tmi_t_add(t, off ? tmi_t_bin(t, TMI_TF_OR, lane, tmi_t_u32(t, off)) : lane, one);
    else from = tmi_t_bin(t, TMI_TF_ISUB, off ? tmi_lane_bits_of(w, s->lanes) : lane, one);
    from = tmi_t_and(t, from, tmi_t_u32(t, s->lanes));
    if (off) from = tmi_t_bin(t, TMI_TF_OR, from, tmi_lane_bits_of(w, off));
    for (i = 0; i < s->n; i++) out[i] = tmi_shuffled(w, TMI_TF_SHUF, v[i], from);
}

/* The totals of simdgroups: one entry for each row of the axis that several of them share, and each of them. */
static uint32_t tmi_scan_slot(tmi_low *w, const tmi_scanning *s, const tmi_nest *n, uint32_t rank) {
    tmi_parts p;
    const tmi_lin *l = n->lin;
    uint32_t  i, k, keep = 0, groups = tmi_popcount(s->groups);
    for (i = 0; i < l->n_reg; i++)
        if (!(s->low >> i & 1)) keep |= l->reg[i];
    for (i = 0; i < TMI_LANE_BITS; i++)
        if (!(s->lanes >> i & 1)) keep |= l->lane[i];
    for (i = 0; i < l->n_sg; i++)
        if (!(s->groups >> i & 1)) keep |= l->sg[i];
    tmi_parts_of(l, 0, 32, &p);
    for (i = 0; i < l->n_reg; i++)
        if (s->low >> i & 1) p.reg[i] = 0;
    for (i = 0; i < TMI_LANE_BITS; i++)
        if (s->lanes >> i & 1) p.thread[i] = 0;
    for (i = 0; i < l->n_sg; i++)
        if (s->groups >> i & 1) p.thread[TMI_LANE_BITS + i] = 0;
    p.fixed = 0;
    for (i = 0; i < TMI_MAX_REG; i++) p.reg[i] = tmi_pack_bits(p.reg[i], keep) << groups;
    for (k = 0; k < TMI_LANE_BITS + TMI_MAX_SG; k++) p.thread[k] = tmi_pack_bits(p.thread[k], keep) << groups;
    return tmi_t_add(w->t, tmi_parts_expr(w, n, &p, 0), rank);
}

static uint32_t tmi_scan_slots(const tmi_low *w, const tmi_scanning *s) {
    const tmi_op *op = TMI_OP(w->m, s->op);
    return 1u << (tmi_type_bits(w->m, tmi_in_type(w->m, op, 0)) - tmi_popcount(s->low) - tmi_popcount(s->lanes));
}

/* This simdgroup's place in scan order among those that share the axis. */
static uint32_t tmi_scan_rank(tmi_low *w, const tmi_scanning *s) {
    tmi_parts x;
    uint32_t  i, n = 0, r;
    memset(&x, 0, sizeof x);
    for (i = 0; i < w->p->n_sg; i++)
        if (s->groups >> i & 1) x.thread[TMI_LANE_BITS + i] = 1u << n++;
    r = tmi_parts_expr(w, NULL, &x, 0);
    return s->reverse ? tmi_t_bin(w->t, TMI_TF_ISUB, tmi_t_u32(w->t, (1u << n) - 1u), r) : r;
}

/* Low registers of one row in turn, then its lanes: v ends with the total up to and with this lane. */
static void tmi_scan_row(tmi_low *w, tmi_scanning *s, tmi_nest *n, uint32_t *v) {
    const tmi_op *op = TMI_OP(w->m, s->op);
    tmi_thr *t = w->t;
    uint32_t i, count = 1u << tmi_popcount(s->low), e[8], all = s->low | s->high | s->other;
    tmi_scan_point(w, n, s->low, tmi_scan_step(w, s, s->low, tmi_t_u32(t, 0)));
    for (i = 0; i < s->n; i++) v[i] = tmi_elem_at(w, tmi_in(w->m, op, i), n->lin, 0);
    for (i = 0; i < s->n; i++) tmi_t_write(t, s->acc[i], tmi_scan_index(w, n, all), 0, v[i]);
    if (count > 1) {
        uint32_t total[8], var;
        for (i = 0; i < s->n; i++) {
            total[i] = tmi_t_array(t, TMI_AS_PRIVATE, tmi_t_type(t, v[i]), 1, tmi_source_name(w, tmi_out(w->m, op, i)));
            tmi_t_write(t, total[i], tmi_t_u32(t, 0), 0, v[i]);
        }
        var = tmi_t_for(t, count);
        TMI_INS(t, TMI_INS(t, var)->a)->b = 1;
        TMI_INS(t, var)->lo = 1;
        tmi_scan_point(w, n, s->low, tmi_scan_step(w, s, s->low, var));
        for (i = 0; i < s->n; i++) e[i] = tmi_elem_at(w, tmi_in(w->m, op, i), n->lin, 0);
        for (i = 0; i < s->n; i++) v[i] = tmi_t_read(t, total[i], tmi_t_u32(t, 0), 0);
        tmi_combine(w, op, v, e);
        for (i = 0; i < s->n; i++) {
            tmi_t_write(t, total[i], tmi_t_u32(t, 0), 0, v[i]);
            tmi_t_write(t, s->acc[i], tmi_scan_index(w, n, all), 0, v[i]);
        }
        (void)tmi_t_close(t);
        for (i = 0; i < s->n; i++) v[i] = tmi_t_read(t, total[i], tmi_t_u32(t, 0), 0);
    }
    if (s->lanes) tmi_scan_lanes(w, s, v);
}

/* Everything that stands before this thread's row is taken into each of its elements. */
static void tmi_scan_apply(tmi_low *w, tmi_scanning *s, tmi_nest *n, const uint32_t *before, uint32_t has) {
    const tmi_op *op = TMI_OP(w->m, s->op);
    tmi_thr *t = w->t;
    uint32_t i, var, v[8], old[8], index;
    int64_t  c;
    if (tmi_t_is_const(t, has, &c) && !c) return;
    var = tmi_popcount(s->low) ? tmi_t_for(t, 1u << tmi_popcount(s->low)) : tmi_t_u32(t, 0);
    tmi_scan_point(w, n, s->low, var);
    index = tmi_scan_index(w, n, s->low | s->high | s->other);
    for (i = 0; i < s->n; i++) {
        v[i] = before[i];
        old[i] = tmi_t_read(t, s->acc[i], index, 0);
    }
    tmi_combine(w, op, v, old);
    for (i = 0; i < s->n; i++) tmi_t_write(t, s->acc[i], index, 0, tmi_t_select(t, has, v[i], old[i]));
    if (tmi_popcount(s->low)) (void)tmi_t_close(t);
}

/* The totals of the simdgroups of one row: `before` those that come before this one, `all` of them. */
static void tmi_scan_groups(tmi_low *w, tmi_scanning *s, const tmi_nest *n, uint32_t rank, uint32_t *before, uint32_t *all) {
    const tmi_op *op = TMI_OP(w->m, s->op);
    tmi_thr *t = w->t;
    uint32_t i, k, parts = 1u << tmi_popcount(s->groups), e[8];
    for (k = 0; k < parts; k++) {
        uint32_t at = tmi_scan_slot(w, s, n, tmi_t_u32(t, k)), here = tmi_t_icmp(t, 0, rank, tmi_t_u32(t, k));
        for (i = 0; i < s->n; i++) e[i] = tmi_from_shared(w, tmi_t_read(t, s->part[i], at, 0), tmi_tty_from(w->m, tmi_in_type(w->m, op, i)));
        for (i = 0; i < s->n; i++) {
            if (k == 1) before[i] = all[i]; /* right for the second; the first has nothing before it */
            if (k > 1) before[i] = tmi_t_select(t, here, all[i], before[i]);
        }
        if (k && (k + 1 < parts || s->high)) tmi_combine(w, op, all, e);
        else if (!k)
            for (i = 0; i < s->n; i++) all[i] = e[i];
    }
}

static uint32_t tmi_scan_loop(tmi_low *w, uint32_t bits) {
    return bits ? tmi_t_for(w->t, 1u << tmi_popcount(bits)) : tmi_t_u32(w->t, 0);
}

static void tmi_scan_carry(tmi_low *w, const tmi_scanning *s, uint32_t first, uint32_t *total) {
    uint32_t i, old[8];
    for (i = 0; i < s->n; i++) old[i] = tmi_t_read(w->t, s->carry[i], tmi_t_u32(w->t, 0), 0);
    tmi_scan_join(w, s, old, tmi_t_un(w->t, TMI_TF_NOT, tmi_tty_of(TMI_S_BOOL, 1), first), total, tmi_t_bool(w->t, 1));
    for (i = 0; i < s->n; i++) tmi_t_write(w->t, s->carry[i], tmi_t_u32(w->t, 0), 0, total[i]);
}

/* One simdgroup has the whole axis: each row ends with the lanes' shuffles. */
static void tmi_scan_in_simdgroup(tmi_low *w, tmi_scanning *s, tmi_nest *n) {
    tmi_thr *t = w->t;
    uint32_t v[8], before[8], old[8], other, high, first, has, i, last;
    other = tmi_scan_loop(w, s->other);
    tmi_scan_point(w, n, s->other, other);
    high = tmi_scan_loop(w, s->high);
    first = tmi_t_icmp(t, 0, high, tmi_t_u32(t, 0));
    tmi_scan_point(w, n, s->high, tmi_scan_step(w, s, s->high, high));
    tmi_scan_row(w, s, n, v);
    if (s->lanes) {
        tmi_scan_before(w, s, v, before);
        has = tmi_t_un(t, TMI_TF_NOT, tmi_tty_of(TMI_S_BOOL, 1), tmi_scan_is_end(w, s, 0));
        if (s->high) {
            for (i = 0; i < s->n; i++) old[i] = tmi_t_read(t, s->carry[i], tmi_t_u32(t, 0), 0);
            tmi_scan_join(w, s, old, tmi_t_un(t, TMI_TF_NOT, tmi_tty_of(TMI_S_BOOL, 1), first), before, has);
            has = tmi_t_bin(t, TMI_TF_OR, has, tmi_t_un(t, TMI_TF_NOT, tmi_tty_of(TMI_S_BOOL, 1), first));
            last = s->reverse ? tmi_lane_bits_of(w, 31u & ~s->lanes) : tmi_t_bin(t, TMI_TF_OR, tmi_t_lane(t), tmi_t_u32(t, s->lanes));
            for (i = 0; i < s->n; i++) v[i] = tmi_shuffled(w, TMI_TF_SHUF, v[i], last);
        }
        tmi_scan_apply(w, s, n, before, has);
        if (s->high) tmi_scan_carry(w, s, first, v);
    }
    if (s->high) (void)tmi_t_close(t);
    if (s->other) (void)tmi_t_close(t);
}

/* First half: rows within simdgroups; the last lane of each writes its total. */
static void tmi_scan_write_totals(tmi_low *w, tmi_scanning *s, tmi_nest *n) {
    tmi_thr *t = w->t;
    uint32_t v[8], before[8], other, high, slot, holder, branch, i;
    other = tmi_scan_loop(w, s->other);
    tmi_scan_point(w, n, s->other, other);
    high = tmi_scan_loop(w, s->high);
    tmi_scan_point(w, n, s->high, high);
    tmi_scan_row(w, s, n, v);
    if (s->lanes) {
        tmi_scan_before(w, s, v, before);
        for (i = 0; i < s->n; i++) tmi_t_write(t, s->before[i], tmi_scan_index(w, n, s->high | s->other), 0, before[i]);
    }
    slot = tmi_scan_slot(w, s, n, tmi_scan_rank(w, s));
    holder = tmi_is_holder(w, n->lin);
    if (s->lanes) holder = holder ? tmi_t_and(t, holder, tmi_scan_is_end(w, s, 1)) : tmi_scan_is_end(w, s, 1);
    for (i = 0; i < s->n; i++) v[i] = tmi_to_memory(w, v[i]);
    branch = holder ? tmi_t_if(t, holder) : 0;
    for (i = 0; i < s->n; i++) tmi_t_write(t, s->part[i], slot, 0, v[i]);
    if (branch) (void)tmi_t_close(t);
    if (s->high) (void)tmi_t_close(t);
    if (s->other) (void)tmi_t_close(t);
}

/* Second half: simdgroups before this one, and rows before this one. */
static void tmi_scan_read_totals(tmi_low *w, tmi_scanning *s, tmi_nest *n) {
    tmi_thr *t = w->t;
    tmi_tty  truth = tmi_tty_of(TMI_S_BOOL, 1);
    uint32_t before[8], all[8], lane[8], old[8], other, high, first, has, rank, has_group, i;
    other = tmi_scan_loop(w, s->other);
    tmi_scan_point(w, n, s->other, other);
    high = tmi_scan_loop(w, s->high);
    first = tmi_t_icmp(t, 0, high, tmi_t_u32(t, 0));
    tmi_scan_point(w, n, s->high, tmi_scan_step(w, s, s->high, high));
    rank = tmi_scan_rank(w, s);
    tmi_scan_groups(w, s, n, rank, before, all);
    has = has_group = tmi_t_icmp(t, 1, rank, tmi_t_u32(t, 0));
    if (s->lanes) {
        has = tmi_t_un(t, TMI_TF_NOT, truth, tmi_scan_is_end(w, s, 0));
        for (i = 0; i < s->n; i++) lane[i] = tmi_t_read(t, s->before[i], tmi_scan_index(w, n, s->high | s->other), 0);
        tmi_scan_join(w, s, before, has_group, lane, has);
        for (i = 0; i < s->n; i++) before[i] = lane[i];
        has = tmi_t_bin(t, TMI_TF_OR, has, has_group);
    }
    if (s->high) {
        for (i = 0; i < s->n; i++) old[i] = tmi_t_read(t, s->carry[i], tmi_t_u32(t, 0), 0);
        tmi_scan_join(w, s, old, tmi_t_un(t, TMI_TF_NOT, truth, first), before, has);
        has = tmi_t_bin(t, TMI_TF_OR, has, tmi_t_un(t, TMI_TF_NOT, truth, first));
    }
    tmi_scan_apply(w, s, n, before, has);
    if (s->high) tmi_scan_carry(w, s, first, all);
    if (s->high) (void)tmi_t_close(t);
    if (s->other) (void)tmi_t_close(t);
}

static void tmi_lower_scan(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    tmi_thr      *t = w->t;
    tmi_scanning  s;
    tmi_nest      n;
    uint32_t      i, lin_id = w->p->own[id] - 1;
    tmi_scan_init(w, id, TMI_LIN(w->p, lin_id), &s);
    for (i = 0; i < s.n; i++) {
        tmi_tty  type = tmi_tty_from(w->m, tmi_in_type(w->m, op, i));
        uint32_t name = tmi_source_name(w, tmi_out(w->m, op, i)), n_reg = TMI_LIN(w->p, lin_id)->n_reg;
        s.acc[i] = tmi_t_array(t, TMI_AS_PRIVATE, type, 1u << n_reg, name);
        if (s.high) {
            s.carry[i] = tmi_t_array(t, TMI_AS_PRIVATE, type, 1, tmi_intern(w->job, &w->m->strings, "carry", 5));
            TMI_INS(t, TMI_ARR(t, s.carry[i])->decl)->b = tmi_t_zero(t, type); /* read, but not used, before the first row */
        }
        if (s.groups && s.lanes) s.before[i] = tmi_t_array(t, TMI_AS_PRIVATE, type, 1u << tmi_popcount(s.high | s.other), tmi_intern(w->job, &w->m->strings, "before", 6));
        if (s.groups) s.part[i] = tmi_t_array(t, TMI_AS_GROUP, tmi_as_shared(type), tmi_scan_slots(w, &s), name);
    }
    tmi_nest_begin(w, &n, lin_id);
    if (s.groups) {
        tmi_scan_write_totals(w, &s, &n);
        tmi_scan_read_totals(w, &s, &n);
    } else {
        tmi_scan_in_simdgroup(w, &s, &n);
    }
    tmi_nest_end(w, &n);
    for (i = 0; i < s.n; i++) {
        tmi_inst *in = TMI_INST(w->p, w->p->first_inst[tmi_out(w->m, op, i)] - 1);
        in->vec = 0;
        in->store = TMI_ST_ARRAY;
        in->ref = s.acc[i];
    }
}

/* -- Gather and histogram: through threadgroup memory, by computed places -------------------------------- */

/* Write the elements that this thread holds of a tensor to their own numbers in `buf`. Of the whole tensor,
 * only the numbers of chunk `chunk` of 2^bits. */
static void tmi_stage_chunk(tmi_low *w, uint32_t value, uint32_t lin_id, uint32_t buf, uint32_t bits, uint32_t chunk) {
    tmi_nest n;
    uint32_t at, v, cond;
    tmi_nest_begin(w, &n, lin_id);
    tmi_nest_loops(w, &n);
    v = tmi_to_memory(w, tmi_elem_at(w, value, n.lin, 0));
    at = tmi_coord(w, n.lin, 0, 32, 0);
    cond = tmi_is_holder(w, n.lin);
    if (chunk) {
        uint32_t mine = tmi_t_icmp(w->t, 0, tmi_t_bin(w->t, TMI_TF_UDIV, at, tmi_t_u32(w->t, 1u << bits)), chunk);
        cond = cond ? tmi_t_and(w->t, cond, mine) : mine;
        at = tmi_t_bin(w->t, TMI_TF_UREM, at, tmi_t_u32(w->t, 1u << bits));
    }
    if (cond) (void)tmi_t_if(w->t, cond);
    tmi_t_write(w->t, buf, at, 0, v);
    if (cond) (void)tmi_t_close(w->t);
    tmi_nest_end(w, &n);
}

/* Number of the source's element that a gather wants where the nest stands: its own number, with the
 * axis' part replaced by the index, which is kept inside of the axis. */
static uint32_t tmi_gather_number(tmi_low *w, const tmi_op *op, const tmi_lin *l) {
    const tmi_module *m = w->m;
    uint32_t src = tmi_in_type(m, op, 0), res = tmi_out_type(m, op, 0), axis = (uint32_t)tmi_attr_int(m, op, "axis", 0), d, r;
    uint32_t index = tmi_t_intcast(w->t, tmi_elem_at(w, tmi_in(m, op, 1), l, 0), TMI_S_I32, 0);
    r = tmi_t_mul(w->t, tmi_t_bin(w->t, TMI_TF_UREM, index, tmi_t_u32(w->t, tmi_dim(m, src, axis))), tmi_t_u32(w->t, 1u << tmi_dim_low(m, src, axis)));
    for (d = 0; d < tmi_rank(m, res); d++)
        if (d != axis) r = tmi_t_add(w->t, r, tmi_t_mul(w->t, tmi_coord(w, l, tmi_dim_low(m, res, d), tmi_dim_bits(m, res, d), 0), tmi_t_u32(w->t, 1u << tmi_dim_low(m, src, d))));
    return r;
}

static void tmi_result_in_array(tmi_low *w, uint32_t value, uint32_t arr) {
    tmi_inst *in = TMI_INST(w->p, w->p->first_inst[value] - 1);
    in->vec = 0;
    in->store = TMI_ST_ARRAY;
    in->ref = arr;
}

/* The layout that a value's first instance is held in, element by element. */
static uint32_t tmi_flat_lin(tmi_low *w, uint32_t value) {
    tmi_lin flat = *TMI_LIN(w->p, TMI_INST(w->p, w->p->first_inst[value] - 1)->lin);
    flat.vec = 0;
    return tmi_lin_id(w->p, &flat);
}

static uint32_t tmi_register_index(tmi_low *w, const tmi_nest *n) { return tmi_scan_index(w, n, ~0u); }

static void tmi_lower_gather(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    tmi_thr *t = w->t;
    uint32_t src = tmi_in(w->m, op, 0), out = tmi_out(w->m, op, 0), type = tmi_value_type(w->m, src), bits = tmi_type_bits(w->m, type);
    uint32_t stage = w->p->stage[0][id] - 1, flat = tmi_flat_lin(w, out), chunk = 0, buf, res, v, at, whole = bits, index;
    tmi_tty  mem = tmi_shared_type(w->m, type), held = tmi_tty_from(w->m, type);
    tmi_nest n;
    while (bits && ((uint64_t)tmi_scalar_bytes[mem.kind] << bits) > w->p->stage_limit) bits--;
    buf = tmi_t_array(t, TMI_AS_GROUP, mem, 1u << bits, tmi_source_name(w, src));
    res = tmi_t_array(t, TMI_AS_PRIVATE, held, 1u << TMI_LIN(w->p, flat)->n_reg, tmi_source_name(w, out));
    if (bits < whole) chunk = tmi_t_for(t, 1u << (whole - bits)); /* a part of the source at a time */
    tmi_stage_chunk(w, src, stage, buf, bits, chunk);
    tmi_nest_begin(w, &n, flat);
    tmi_nest_loops(w, &n);
    at = tmi_gather_number(w, op, n.lin);
    index = tmi_register_index(w, &n);
    if (chunk) {
        (void)tmi_t_if(t, tmi_t_icmp(t, 0, tmi_t_bin(t, TMI_TF_UDIV, at, tmi_t_u32(t, 1u << bits)), chunk));
        at = tmi_t_bin(t, TMI_TF_UREM, at, tmi_t_u32(t, 1u << bits));
    }
    v = tmi_from_shared(w, tmi_t_read(t, buf, at, 0), held);
    tmi_t_write(t, res, index, 0, v);
    if (chunk) (void)tmi_t_close(t);
    tmi_nest_end(w, &n);
    if (chunk) (void)tmi_t_close(t);
    tmi_result_in_array(w, out, res);
}

/* One counter a bin in threadgroup memory; what lies outside of the bins, or is masked, is not counted. */
static void tmi_lower_histogram(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    tmi_thr *t = w->t;
    uint32_t src = tmi_in(w->m, op, 0), out = tmi_out(w->m, op, 0), type = tmi_value_type(w->m, out), bins = (uint32_t)tmi_numel(w->m, type);
    uint32_t buf = tmi_t_array(t, TMI_AS_GROUP, tmi_tty_of(TMI_S_I32, 1), bins, tmi_source_name(w, out)), flat = tmi_flat_lin(w, out), i, cond, v, res, part;
    tmi_tty  held = tmi_tty_from(w->m, type);
    tmi_nest n;
    tmi_ins  add;
    int      kind;
    TMI_ARR(t, buf)->is_atomic = 1;
    i = bins > w->p->threads ? tmi_t_for(t, bins / w->p->threads) : 0; /* both are powers of two */
    if (bins < w->p->threads) (void)tmi_t_if(t, tmi_t_icmp(t, 6, tmi_t_tid(t), tmi_t_u32(t, bins)));
    v = i ? tmi_t_add(t, tmi_t_mul(t, i, tmi_t_u32(t, w->p->threads)), tmi_t_tid(t)) : tmi_t_tid(t);
    tmi_t_write(t, buf, v, 0, tmi_t_u32(t, 0));
    if (bins != w->p->threads) (void)tmi_t_close(t);
    tmi_nest_begin(w, &n, w->p->stage[0][id] - 1);
    tmi_nest_loops(w, &n);
    v = tmi_elem_at(w, src, n.lin, 0);
    kind = tmi_t_type(t, v).kind;
    cond = kind == TMI_S_BOOL || (kind == TMI_S_I8 && bins >= 256) ? 0 : tmi_t_icmp(t, 6, v, tmi_t_int(t, kind, bins));
    if (kind == TMI_S_BOOL && bins < 2) cond = tmi_t_un(t, TMI_TF_NOT, tmi_tty_of(kind, 1), v);
    part = op->n_in > 1 ? tmi_elem_at(w, tmi_in(w->m, op, 1), n.lin, 0) : 0;
    if (part) cond = cond ? tmi_t_and(t, part, cond) : part;
    part = tmi_is_holder(w, n.lin);
    if (part) cond = cond ? tmi_t_and(t, part, cond) : part;
    if (cond) (void)tmi_t_if(t, cond);
    tmi_ins_zero(&add, TMI_TF_ADDT, tmi_tty_of(TMI_S_NONE, 1));
    add.a = buf;
    add.b = tmi_t_intcast(t, v, TMI_S_I32, 0);
    add.c = tmi_t_u32(t, 1);
    (void)tmi_t_pin(t, &add);
    if (cond) (void)tmi_t_close(t);
    tmi_nest_end(w, &n);
    res = tmi_t_array(t, TMI_AS_PRIVATE, held, 1u << TMI_LIN(w->p, flat)->n_reg, tmi_source_name(w, out));
    tmi_nest_begin(w, &n, flat);
    tmi_nest_loops(w, &n);
    v = tmi_t_read(t, buf, tmi_coord(w, n.lin, 0, 32, 0), 0);
    tmi_t_write(t, res, tmi_register_index(w, &n), 0, tmi_t_intcast(t, v, held.kind, 0));
    tmi_nest_end(w, &n);
    tmi_result_in_array(w, out, res);
}

/* -- Scheduling: which slot each piece of work goes to ------------------------------------------- */

typedef struct tmi_sched { /* needs of one task being placed */
    tmi_low *w;
    uint32_t lo;      /* earliest slot */
    uint32_t lin_id;  /* of its nest */
    uint32_t slot;    /* second pass: where it went */
    int      mark;    /* second pass: note what has to be kept */
} tmi_sched;

static uint32_t tmi_n_slots(const tmi_low *w) { return w->slot.n - w->first_slot; }

static uint32_t tmi_slot_add(tmi_low *w, int is_nest, uint32_t lin, uint32_t op) {
    tmi_slot *s = (tmi_slot *)tmi_vec_add(w->job, &w->slot);
    s->is_nest = (uint8_t)is_nest;
    s->lin = lin;
    s->op = op;
    return tmi_n_slots(w) - 1;
}

static uint32_t tmi_value_block(const tmi_low *w, uint32_t value) { /* the block that defines it */
    const tmi_value *v = TMI_VALUE(w->m, value);
    return v->is_arg ? v->def : TMI_OP(w->m, v->def)->block;
}

/* Reductions and whole-tile ops have their result only after their slot. */
static int tmi_is_late(const tmi_low *w, const tmi_inst *in) {
    uint32_t def = tmi_def(w->m, in->value);
    uint16_t kind = TMI_OP(w->m, def)->kind;
    if (in->kind != TMI_I_FIRST) return 0;
    return !def || !(kind == TMI_OP_LOAD || tmi_is_view(kind) || (tmi_ops[kind].traits & TMI_ELT));
}

static void tmi_sched_need(tmi_plan *p, void *ctx, uint32_t value, const tmi_lin *view) {
    tmi_sched *s = (tmi_sched *)ctx;
    tmi_low   *w = s->w;
    uint32_t   inst, same;
    tmi_inst  *in;
    if (!view) {
        if (tmi_value_block(w, value) == w->block && !TMI_VALUE(w->m, value)->is_arg) s->lo = tmi_max32(s->lo, w->avail[value]);
        return;
    }
    inst = tmi_inst_for(p, value, view);
    if (inst == TMI_NONE) tmi_bug(w->job, "lower", "no instance in the layout that is asked");
    in = TMI_INST(p, inst);
    if (tmi_value_block(w, value) != w->block || TMI_VALUE(w->m, value)->is_arg) {
        if (in->kind == TMI_I_FIRST || tmi_value_block(w, value) != w->block) {
            in->escapes = 1;
            return;
        }
    }
    same = in->lin == s->lin_id && tmi_lin_same(view, TMI_LIN(p, s->lin_id)) && !tmi_is_late(w, in);
    if (s->mark) {
        if (!same || in->slot != s->slot) in->escapes = 1;
        return;
    }
    s->lo = tmi_max32(s->lo, in->slot + !same);
}

static void tmi_sched_operands(tmi_low *w, tmi_sched *s, const tmi_op *op, const tmi_lin *view) {
    uint32_t i;
    for (i = 0; i < op->n_in; i++) {
        tmi_lin v = *view;
        if (tmi_is_view(op->kind)) tmi_view(w->m, op, i, &v);
        if (s->lin_id != TMI_NONE || !tmi_is_tensor(w->m, tmi_in_type(w->m, op, i))) tmi_needs(w->p, tmi_in(w->m, op, i), &v, tmi_sched_need, s);
    }
}

/* -- Memory order --------------------------------------------------------------------------------- */

static uint32_t tmi_class_of(const tmi_low *w, uint32_t ptr) {
    uint32_t base = w->p->base[ptr];
    if (base) base = w->p->alias[base - 1] + 1;
    return base && base < 32 ? base - 1 : 31;
}

static void tmi_add_fence(tmi_low *w) {
    uint32_t s = tmi_slot_add(w, 0, 0, 0);
    TMI_SLOT(w, w->first_slot + s)->is_barrier = 1;
    w->fence = s + 1;
}

/* Two accesses keep to their own thread's elements when they have one address and one layout without
 * copies: then the order within each thread is order enough. */
static int tmi_own_elements(uint32_t ptr, uint32_t lin, int copies, uint32_t seen_ptr, uint32_t seen_lin, int seen_copies) {
    return ptr == seen_ptr && lin == seen_lin && !copies && !seen_copies;
}

/* Earliest slot for an access so that it stays behind the accesses it must not overtake. A barrier is
 * put where threads would meet each other's elements: Triton leaves that to luck, we do not. */
static void tmi_order_access(tmi_low *w, uint32_t ptr, uint32_t lin, int copies, int writes, uint32_t *lo) {
    uint32_t c = tmi_class_of(w, ptr), k, from = c == 31 ? 0 : c, to = c == 31 ? 31 : c;
    *lo = tmi_max32(*lo, w->fence);
    for (k = from;; k = k == to ? 31 : k + 1) {
        tmi_seen *s = &w->seen[k];
        if (s->wslot > w->fence) {
            if (tmi_own_elements(ptr, lin, copies, s->wptr, s->wlin, s->wcopies)) *lo = tmi_max32(*lo, s->wslot - 1);
            else if (writes) *lo = tmi_max32(*lo, s->wslot);
            else { tmi_add_fence(w); *lo = w->fence; }
        }
        if (writes && s->rslot > w->fence) {
            if (tmi_own_elements(ptr, lin, copies, s->rptr, s->rlin, s->rcopies)) *lo = tmi_max32(*lo, s->rslot - 1);
            else { tmi_add_fence(w); *lo = w->fence; }
        }
        if (k == 31) break;
    }
}

static void tmi_note_access(tmi_low *w, uint32_t c, uint32_t ptr, uint32_t lin, int copies, int writes, uint32_t slot) {
    tmi_seen *s = &w->seen[c];
    uint32_t *at = writes ? &s->wslot : &s->rslot, *p = writes ? &s->wptr : &s->rptr, *l = writes ? &s->wlin : &s->rlin;
    uint8_t  *k = writes ? &s->wcopies : &s->rcopies;
    if (*at <= w->fence) *p = ptr, *l = lin, *k = (uint8_t)copies;
    else {
        if (*p != ptr || *l != lin) *p = TMI_NONE;
        *k |= (uint8_t)copies;
    }
    *at = tmi_max32(*at, slot + 1);
}

static int tmi_lin_has_copies(const tmi_lin *l) {
    uint32_t lanes, groups;
    tmi_lin_copies(l, &lanes, &groups);
    return lanes || groups;
}

/* -- Placing tasks ----------------------------------------------------------------------------------- */

static void tmi_task_into(tmi_low *w, uint32_t slot, int kind, uint32_t op, uint32_t inst) {
    uint32_t  id = w->task.n;
    tmi_task *t = (tmi_task *)tmi_vec_add(w->job, &w->task);
    tmi_slot *s = TMI_SLOT(w, w->first_slot + slot);
    t->kind = (uint8_t)kind;
    t->op = op;
    t->inst = inst;
    if (s->last) TMI_TASK(w, s->last - 1)->next = id + 1;
    else s->first = id + 1;
    s->last = id + 1;
}

/* The last nest of that layout at or after `lo`, among the last few slots; else a new one. */
static uint32_t tmi_pick_slot(tmi_low *w, uint32_t lo, uint32_t lin) {
    uint32_t n = tmi_n_slots(w), k, tries = 0;
    for (k = n; k-- > lo && tries < 16; tries++) {
        const tmi_slot *s = TMI_SLOT(w, w->first_slot + k);
        if (s->is_nest && s->lin == lin) return k;
    }
    return tmi_slot_add(w, 1, lin, 0);
}

static void tmi_sched_init(tmi_low *w, tmi_sched *s, uint32_t lin_id) {
    memset(s, 0, sizeof *s);
    s->w = w;
    s->lin_id = lin_id;
}

/* Put the computation of an instance into a nest of its layout. */
static void tmi_place_inst(tmi_low *w, uint32_t inst) {
    tmi_inst     *in = TMI_INST(w->p, inst);
    const tmi_op *op = TMI_OP(w->m, tmi_def(w->m, in->value));
    const tmi_lin *l = TMI_LIN(w->p, in->lin);
    tmi_sched     s;
    int           load = op->kind == TMI_OP_LOAD && in->kind != TMI_I_CONVERT, copies = 0;
    tmi_sched_init(w, &s, in->lin);
    if (in->kind == TMI_I_CONVERT) {
        tmi_inst    *src = TMI_INST(w->p, in->source);
        tmi_shuffle  sh;
        uint32_t     at = src->slot;
        int          outer = TMI_VALUE(w->m, in->value)->is_arg;
        if (tmi_convert_by_shuffle(w->p, in, &sh)) {
            src->escapes = 1;
            s.lo = outer ? 0 : src->slot + 1;
        } else {
            s.slot = outer || tmi_is_late(w, src) ? tmi_pick_slot(w, outer ? 0 : src->slot + 1, src->lin) : at;
            if (s.slot != at || outer) src->escapes = 1;
            tmi_task_into(w, s.slot, TMI_TASK_WRITE, 0, inst);
            s.lo = s.slot + 1;
        }
        in->slot = tmi_pick_slot(w, s.lo, in->lin);
        tmi_task_into(w, in->slot, TMI_TASK_COMPUTE, 0, inst);
        return;
    }
    tmi_sched_operands(w, &s, op, l);
    if (load) {
        copies = tmi_lin_has_copies(l);
        tmi_order_access(w, tmi_in(w->m, op, 0), in->lin, copies, 0, &s.lo);
    }
    in->slot = tmi_pick_slot(w, s.lo, in->lin);
    tmi_task_into(w, in->slot, TMI_TASK_COMPUTE, 0, inst);
    if (load) tmi_note_access(w, tmi_class_of(w, tmi_in(w->m, op, 0)), tmi_in(w->m, op, 0), in->lin, copies, 0, in->slot);
    s.mark = 1;
    s.slot = in->slot;
    tmi_sched_operands(w, &s, op, l);
}

/* Stores and simple reductions run inside nests of their component's layout. */
static void tmi_place_root(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    uint32_t      lin = tmi_lin_id(w->p, tmi_comp_lin(w->p, tmi_comp_of(w->p, tmi_op_element(w->p, id)))), i, slot, ptr;
    const tmi_lin *l = TMI_LIN(w->p, lin);
    tmi_sched     s;
    tmi_sched_init(w, &s, lin);
    tmi_sched_operands(w, &s, op, l);
    ptr = tmi_in(w->m, op, 0);
    if (op->kind == TMI_OP_STORE) tmi_order_access(w, ptr, lin, tmi_lin_has_copies(l), 1, &s.lo);
    slot = tmi_pick_slot(w, s.lo, lin);
    tmi_task_into(w, slot, TMI_TASK_ROOT, id, 0);
    if (op->kind == TMI_OP_STORE) tmi_note_access(w, tmi_class_of(w, ptr), ptr, lin, tmi_lin_has_copies(l), 1, slot);
    for (i = 0; i < op->n_out; i++) {
        uint32_t v = tmi_out(w->m, op, i);
        if (tmi_is_tensor(w->m, tmi_value_type(w->m, v))) TMI_INST(w->p, w->p->first_inst[v] - 1)->slot = slot;
        else w->avail[v] = slot + 1;
    }
    s.mark = 1;
    s.slot = slot;
    tmi_sched_operands(w, &s, op, l);
}

/* A scalar is computed in the gap before the first slot that everything it needs has been done by. */
static void tmi_place_scalar(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    tmi_sched s;
    tmi_lin   none;
    tmi_slot *slot;
    uint32_t  i;
    tmi_lin_zero(&none, w->p->n_sg);
    tmi_sched_init(w, &s, TMI_NONE);
    for (i = 0; i < op->n_in; i++) tmi_needs(w->p, tmi_in(w->m, op, i), &none, tmi_sched_need, &s);
    if (op->kind == TMI_OP_LOAD) {
        tmi_order_access(w, tmi_in(w->m, op, 0), TMI_NONE, 1, 0, &s.lo);
        tmi_note_access(w, tmi_class_of(w, tmi_in(w->m, op, 0)), tmi_in(w->m, op, 0), TMI_NONE, 1, 0, s.lo);
    }
    if (s.lo == tmi_n_slots(w)) (void)tmi_slot_add(w, 0, 0, 0); /* an empty slot to stand before */
    for (i = 0; i < op->n_out; i++) w->avail[tmi_out(w->m, op, i)] = s.lo;
    slot = TMI_SLOT(w, w->first_slot + s.lo);
    if (slot->scalars_last) w->scalar_next[slot->scalars_last] = id;
    else slot->scalars = id;
    slot->scalars_last = id;
}

/* Whole-tile ops and control flow: a slot of their own at the end; everything before them is done. */
static void tmi_place_whole(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    uint32_t k, slot, i, lo = 0;
    if (op->n_region || (tmi_ops[op->kind].traits & (TMI_READS | TMI_WRITES)))
        for (k = 0; k < 32; k++) { /* memory touched inside against memory touched before */
            tmi_seen *s = &w->seen[k];
            int hit_w = s->wslot > w->fence && (((w->reads[id] | w->writes[id]) >> k & 1) || ((w->reads[id] | w->writes[id]) >> 31) || (k == 31 && (w->reads[id] | w->writes[id])));
            int hit_r = s->rslot > w->fence && ((w->writes[id] >> k & 1) || (w->writes[id] >> 31) || (k == 31 && w->writes[id]));
            if (hit_w || hit_r) {
                tmi_add_fence(w);
                break;
            }
        }
    (void)lo;
    slot = tmi_slot_add(w, 0, 0, id);
    if (tmi_ops[op->kind].traits & TMI_FENCE) w->fence = slot + 1;
    for (k = 0; k < 32; k++) {
        if (w->reads[id] >> k & 1) tmi_note_access(w, k, TMI_NONE, TMI_NONE, 1, 0, slot);
        if (w->writes[id] >> k & 1) tmi_note_access(w, k, TMI_NONE, TMI_NONE, 1, 1, slot);
    }
    for (i = 0; i < op->n_out; i++) {
        uint32_t v = tmi_out(w->m, op, i);
        if (!tmi_is_tensor(w->m, tmi_value_type(w->m, v))) w->avail[v] = slot + 1;
        else if (w->p->first_inst[v]) TMI_INST(w->p, w->p->first_inst[v] - 1)->slot = slot;
    }
}

/* Copies and conversions of a value, right after it is there. */
static void tmi_place_copies(tmi_low *w, uint32_t value) {
    uint32_t x;
    for (x = w->p->first_inst[value]; x; x = TMI_INST(w->p, x - 1)->next)
        if (TMI_INST(w->p, x - 1)->kind != TMI_I_FIRST) tmi_place_inst(w, x - 1);
}

static int tmi_is_whole_op(const tmi_low *w, const tmi_op *op) {
    if (op->n_region && op->kind != TMI_OP_REDUCE) return 1;
    if (op->kind == TMI_OP_REDUCE) return !tmi_fold_is_simple(w->m, op);
    if (op->kind == TMI_OP_STORE) return !tmi_is_tensor(w->m, tmi_in_type(w->m, op, 0));
    if (op->kind == TMI_OP_LOAD || (tmi_ops[op->kind].traits & TMI_ELT) || tmi_is_view(op->kind)) return 0;
    return op->kind != TMI_OP_PID && op->kind != TMI_OP_NPROGRAMS && op->kind != TMI_OP_CONSTANT && op->kind != TMI_OP_POISON &&
           op->kind != TMI_OP_UNDEF && op->kind != TMI_OP_RANGE && op->kind != TMI_OP_SPLAT && op->kind != TMI_OP_UNSPLAT;
}

static void tmi_place_op(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    uint32_t i;
    if ((tmi_ops[op->kind].traits & TMI_ENDS) || op->kind == TMI_OP_ASSUME) return;
    if (tmi_is_whole_op(w, op)) tmi_place_whole(w, id);
    else if (op->kind == TMI_OP_STORE || op->kind == TMI_OP_REDUCE) tmi_place_root(w, id);
    else if (op->n_out && w->p->klass[tmi_out(w->m, op, 0)] == TMI_C_SCALAR) tmi_place_scalar(w, id);
    for (i = 0; i < op->n_out; i++) {
        uint32_t v = tmi_out(w->m, op, i);
        if (w->p->klass[v] == TMI_C_NODE && !tmi_is_whole_op(w, op) && op->kind != TMI_OP_REDUCE) tmi_place_inst(w, w->p->first_inst[v] - 1);
        if (w->p->klass[v] == TMI_C_NODE || w->p->klass[v] == TMI_C_CLONE) tmi_place_copies(w, v);
    }
}

/* The layout in which an op reads its operand i; 0 when it reads no tensor there. */
static const tmi_lin *tmi_read_lin(tmi_low *w, uint32_t id, uint32_t i, tmi_lin *scratch) {
    const tmi_op *op = TMI_OP(w->m, id), *up;
    if (!tmi_is_tensor(w->m, tmi_in_type(w->m, op, i))) return NULL;
    switch (op->kind) {
    case TMI_OP_UNSPLAT: tmi_lin_zero(scratch, w->p->n_sg); return scratch;
    case TMI_OP_FOR: return tmi_value_lin(w->p, tmi_out(w->m, op, i - 3));
    case TMI_OP_WHILE: return tmi_value_lin(w->p, tmi_block_arg(w->m, tmi_op_body(w->m, op, 0), i));
    case TMI_OP_CONDITION: return tmi_value_lin(w->p, tmi_out(w->m, TMI_OP(w->m, tmi_parent_op(w->m, op)), i - 1));
    case TMI_OP_YIELD:
        up = TMI_OP(w->m, tmi_parent_op(w->m, op));
        if (up->kind == TMI_OP_WHILE) return tmi_value_lin(w->p, tmi_block_arg(w->m, tmi_op_body(w->m, up, 0), i));
        return tmi_value_lin(w->p, tmi_out(w->m, up, i));
    case TMI_OP_DOT:
        if (i < 2 && w->p->stage[i][id]) return TMI_LIN(w->p, w->p->stage[i][id] - 1);
        if (i < 2) return tmi_value_lin(w->p, tmi_in(w->m, op, i));
        return tmi_comp_lin(w->p, tmi_comp_of(w->p, tmi_op_element(w->p, id)));
    case TMI_OP_GATHER: return i == 0 ? TMI_LIN(w->p, w->p->stage[0][id] - 1) : tmi_op_lin(w->p, id);
    case TMI_OP_HISTOGRAM: return TMI_LIN(w->p, w->p->stage[0][id] - 1);
    default: return tmi_op_lin(w->p, id);
    }
}

/* A value that another block or a whole-tile op reads has to be kept. */
static void tmi_mark_kept(tmi_plan *p, void *ctx, uint32_t value, const tmi_lin *view) {
    uint32_t inst;
    (void)ctx;
    if (!view) return;
    inst = tmi_inst_for(p, value, view);
    if (inst != TMI_NONE) TMI_INST(p, inst)->escapes = 1;
}

static void tmi_mark_outer(tmi_plan *p, void *ctx, uint32_t value, const tmi_lin *view) {
    tmi_low *w = (tmi_low *)ctx;
    if (view && tmi_value_block(w, value) != w->block) tmi_mark_kept(p, NULL, value, view);
}

static void tmi_mark_clone(tmi_low *w, const tmi_op *op, const tmi_lin *l) {
    uint32_t i;
    for (i = 0; i < op->n_in; i++) {
        tmi_lin v = *l;
        if (!tmi_is_tensor(w->m, tmi_in_type(w->m, op, i))) continue;
        if (tmi_is_view(op->kind)) tmi_view(w->m, op, i, &v);
        tmi_needs(w->p, tmi_in(w->m, op, i), &v, tmi_mark_outer, w);
    }
}

/* Every value read across blocks, carried by a loop, yielded, or read by a whole-tile op: kept. */
static void tmi_mark_escapes(tmi_low *w) {
    const tmi_module *m = w->m;
    uint32_t op, i, x;
    tmi_lin  scratch;
    for (op = tmi_walk_next(m, w->p->func, w->p->func); op; op = tmi_flow_next(m, w->p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        int whole = tmi_is_whole_op(w, o) || (tmi_ops[o->kind].traits & TMI_ENDS) || o->kind == TMI_OP_UNSPLAT;
        w->block = o->block;
        if (whole || tmi_is_root_op(w->p, o))
            for (i = 0; i < o->n_in; i++) {
                const tmi_lin *l = tmi_read_lin(w, op, i, &scratch);
                if (l) tmi_needs(w->p, tmi_in(m, o, i), l, whole ? tmi_mark_kept : tmi_mark_outer, w);
            }
        for (i = 0; i < o->n_out; i++)
            for (x = w->p->first_inst[tmi_out(m, o, i)]; x; x = TMI_INST(w->p, x - 1)->next)
                if (TMI_INST(w->p, x - 1)->kind == TMI_I_CLONE) tmi_mark_clone(w, o, TMI_LIN(w->p, TMI_INST(w->p, x - 1)->lin));
    }
}

/* -- Emitting slots --------------------------------------------------------------------------------------- */

static void tmi_lower_block(tmi_low *w, uint32_t block);
static void tmi_lower_dot(tmi_low *w, uint32_t id);

static void tmi_emit_scalar(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    uint32_t i;
    w->t->src = id;
    if (op->kind == TMI_OP_LOAD) {
        w->scalar[tmi_out(w->m, op, 0)] = tmi_scalar_load(w, op);
    } else if (op->kind == TMI_OP_UNSPLAT) {
        tmi_nest n;
        tmi_lin  one;
        tmi_lin_zero(&one, w->p->n_sg);
        tmi_nest_begin(w, &n, tmi_lin_id(w->p, &one));
        w->scalar[tmi_out(w->m, op, 0)] = tmi_elem_at(w, tmi_in(w->m, op, 0), n.lin, 0);
        tmi_nest_end(w, &n);
    } else {
        for (i = 0; i < op->n_out; i++) w->scalar[tmi_out(w->m, op, i)] = tmi_scalar_op(w, op, i);
    }
    for (i = 0; i < op->n_out; i++) tmi_t_name(w->t, w->scalar[tmi_out(w->m, op, i)], tmi_source_name(w, tmi_out(w->m, op, i)));
}

/* Accumulators of matrix products are kept as matrices, so that the products add right into them. */
static int tmi_wants_tiles(const tmi_low *w, uint32_t value) {
    const tmi_users *u = &w->p->users;
    const tmi_module *m = w->m;
    const tmi_value *v = TMI_VALUE(m, value);
    uint32_t i, def = tmi_def(m, value);
    if (w->p->klass[value] != TMI_C_NODE || tmi_s_of(m, v->type) != TMI_S_F32) return 0;
    if (!TMI_COMP(w->p, tmi_comp_of(w->p, value))->dot) return 0;
    if (def && tmi_dot_is_mma(m, TMI_OP(m, def))) return 1;
    for (i = u->first[value]; i < u->first[value + 1]; i++)
        if (u->at[i].operand == 2 && tmi_dot_is_mma(m, TMI_OP(m, u->at[i].op))) return 1;
    if (v->is_arg && TMI_OP(m, tmi_block_op(m, v->def))->kind == TMI_OP_FOR && v->index) {
        uint32_t y = tmi_in(m, TMI_OP(m, tmi_terminator(m, v->def)), v->index - 1u);
        return tmi_def(m, y) && tmi_dot_is_mma(m, TMI_OP(m, tmi_def(m, y)));
    }
    return 0;
}

static int tmi_inst_space(const tmi_low *w, const tmi_inst *in) {
    return in->kind == TMI_I_FIRST && tmi_wants_tiles(w, in->value) ? TMI_AS_FRAG : TMI_AS_PRIVATE;
}

/* A nest: accumulators first, then the loops with all its tasks, then the ends of its reductions. */
static void tmi_emit_nest(tmi_low *w, const tmi_slot *slot) {
    tmi_nest      n;
    uint32_t      t, n_fold = 0, i, n_reg;
    tmi_folding  *f;
    tmi_finish   *x;
    const tmi_lin *l = TMI_LIN(w->p, slot->lin);
    n_reg = l->n_reg;
    for (t = slot->first; t; t = TMI_TASK(w, t - 1)->next)
        n_fold += TMI_TASK(w, t - 1)->kind == TMI_TASK_ROOT && TMI_OP(w->m, TMI_TASK(w, t - 1)->op)->kind == TMI_OP_REDUCE;
    f = TMI_TEMP(w->job, tmi_folding, n_fold);
    x = TMI_TEMP(w->job, tmi_finish, n_fold);
    for (t = slot->first, i = 0; t; t = TMI_TASK(w, t - 1)->next) {
        const tmi_task *k = TMI_TASK(w, t - 1);
        if (k->kind == TMI_TASK_COMPUTE && TMI_INST(w->p, k->inst)->escapes) {
            int space = tmi_inst_space(w, TMI_INST(w->p, k->inst));
            w->t->src = tmi_def(w->m, TMI_INST(w->p, k->inst)->value);
            if (n_reg > l->vec || space == TMI_AS_FRAG) tmi_inst_array(w, k->inst, space);
        }
        if (k->kind == TMI_TASK_ROOT && TMI_OP(w->m, k->op)->kind == TMI_OP_REDUCE) {
            tmi_folding_init(w, k->op, l, &f[i]);
            tmi_fold_begin(w, &f[i++], l);
        }
    }
    tmi_nest_begin(w, &n, slot->lin);
    tmi_nest_loops(w, &n);
    for (t = slot->first, i = 0; t; t = TMI_TASK(w, t - 1)->next) {
        const tmi_task *k = TMI_TASK(w, t - 1);
        if (k->op) w->t->src = k->op;
        if (k->kind == TMI_TASK_COMPUTE) tmi_compute(w, k->inst);
        else if (k->kind == TMI_TASK_WRITE) tmi_convert_write(w, k->inst);
        else if (TMI_OP(w->m, k->op)->kind == TMI_OP_STORE) tmi_store_elements(w, TMI_OP(w->m, k->op), n.lin);
        else tmi_fold_step(w, &f[i++]);
    }
    tmi_nest_end(w, &n);
    for (i = 0; i < n_fold; i++) {
        x[i].f = &f[i];
        x[i].out = *TMI_LIN(w->p, slot->lin);
        tmi_reduced_lin(w->m, TMI_OP(w->m, f[i].op), &x[i].out);
        tmi_finish_lanes(w, &x[i], tmi_lin_id(w->p, &x[i].out));
    }
    for (i = 0; i < n_fold; i++) { /* all partials are written before the first is read: one barrier serves all */
        if (f[i].sg_axis) tmi_finish_groups(w, &x[i], tmi_lin_id(w->p, &x[i].out));
        tmi_finish_results(w, &x[i]);
    }
}

/* -- Loops and branches ------------------------------------------------------------------------------------- */

/* A variable or array for a value that a loop or branch carries. */
static void tmi_carry_storage(tmi_low *w, uint32_t value, uint32_t *var) {
    tmi_tty type = tmi_tty_from(w->m, tmi_value_type(w->m, value));
    if (w->p->klass[value] == TMI_C_SCALAR) {
        *var = tmi_t_array(w->t, TMI_AS_PRIVATE, type, 1, tmi_source_name(w, value));
        return;
    }
    *var = 0;
    tmi_inst_array(w, w->p->first_inst[value] - 1, tmi_inst_space(w, TMI_INST(w->p, w->p->first_inst[value] - 1)));
}

/* Another value lives in the same array: a loop's result in the array of what it carries. */
static void tmi_share_storage(tmi_low *w, uint32_t value, uint32_t with) {
    tmi_inst *a, *b;
    if (w->p->klass[value] != TMI_C_NODE) return;
    a = TMI_INST(w->p, w->p->first_inst[value] - 1);
    b = TMI_INST(w->p, w->p->first_inst[with] - 1);
    a->store = b->store;
    a->ref = b->ref;
    a->vec = b->vec;
}

/* Copy values into carried ones, all reads before the writes that they could see: per layout one nest. */
typedef struct tmi_copy {
    uint32_t from, to, var; /* values; var: a scalar's variable */
    uint8_t  done;
} tmi_copy;

static int tmi_is_same_array(tmi_low *w, uint32_t a, uint32_t b) {
    const tmi_inst *x, *y;
    if (w->p->klass[a] != TMI_C_NODE || w->p->klass[b] != TMI_C_NODE) return 0;
    x = TMI_INST(w->p, w->p->first_inst[a] - 1);
    y = TMI_INST(w->p, w->p->first_inst[b] - 1);
    return x->store == TMI_ST_ARRAY && y->store == TMI_ST_ARRAY && x->ref == y->ref;
}

static void tmi_copy_scalars(tmi_low *w, tmi_copy *c, uint32_t n) {
    uint32_t i;
    for (i = 0; i < n; i++) /* values are named before anything is overwritten: the printer sees to that */
        if (c[i].var) tmi_t_write(w->t, c[i].var, tmi_t_u32(w->t, 0), 0, tmi_scalar_value(w, c[i].from)), c[i].done = 1;
}

static int tmi_copy_joins(tmi_low *w, const tmi_copy *c, uint32_t lin) { /* a copy still to do in that layout */
    return !c->done && !c->var && TMI_INST(w->p, w->p->first_inst[c->to] - 1)->lin == lin && !tmi_is_same_array(w, c->from, c->to);
}

static void tmi_copy_tensors(tmi_low *w, tmi_copy *c, uint32_t n) {
    uint32_t i, k, lin, *v = TMI_TEMP(w->job, uint32_t, n);
    for (i = 0; i < n; i++) {
        tmi_nest nest;
        if (c[i].done || c[i].var || tmi_is_same_array(w, c[i].from, c[i].to)) continue;
        lin = TMI_INST(w->p, w->p->first_inst[c[i].to] - 1)->lin;
        tmi_nest_begin(w, &nest, lin);
        tmi_nest_loops(w, &nest);
        for (k = i; k < n; k++)
            if (tmi_copy_joins(w, &c[k], lin))
                v[k] = tmi_elem_at(w, c[k].from, nest.lin, nest.vec ? TMI_VEC : 0);
        for (k = i; k < n; k++)
            if (tmi_copy_joins(w, &c[k], lin)) {
                tmi_inst_put(w, w->p->first_inst[c[k].to] - 1, v[k]);
                c[k].done = 1;
            }
        tmi_nest_end(w, &nest);
    }
}

static void tmi_copy_all(tmi_low *w, tmi_copy *c, uint32_t n) {
    tmi_copy_tensors(w, c, n);
    tmi_copy_scalars(w, c, n);
}

/* May what the body yields be computed right in the carried value's array? Yes where a chain of
 * elementwise ops and matrix products leads from one to the other, each link read by the next alone: then
 * every element is read before it is overwritten. Marks the whole chain. */
static int tmi_chain_in_place(tmi_low *w, uint32_t block, uint32_t arg, uint32_t value, uint32_t depth) {
    uint32_t def = tmi_def(w->m, value), i, first, last;
    const tmi_op *op = TMI_OP(w->m, def);
    const tmi_inst *in, *to = TMI_INST(w->p, w->p->first_inst[arg] - 1);
    if (value == arg) return tmi_n_uses(&w->p->users, arg) == 1;
    if (!def || op->block != block || depth > 16 || w->p->klass[value] != TMI_C_NODE || (depth && tmi_n_uses(&w->p->users, value) != 1)) return 0;
    in = TMI_INST(w->p, w->p->first_inst[value] - 1);
    if (in->lin != to->lin || in->store || in->next) return 0;
    if (tmi_value_type(w->m, value) != tmi_value_type(w->m, arg)) return 0;
    first = op->kind == TMI_OP_DOT ? 2 : 0;
    last = op->kind == TMI_OP_DOT ? 3 : (tmi_ops[op->kind].traits & TMI_ELT) ? op->n_in : 0;
    for (i = first; i < last; i++)
        if (tmi_chain_in_place(w, block, arg, tmi_in(w->m, op, i), depth + 1)) {
            TMI_INST(w->p, w->p->first_inst[value] - 1)->escapes = 1;
            tmi_share_storage(w, value, arg);
            return 1;
        }
    return 0;
}

/* The bound of a loop as Triton counts it: signed, evaluated once. */
static void tmi_loop_begin(tmi_low *w, const tmi_op *op, uint32_t *iv) {
    tmi_thr *t = w->t;
    uint32_t lb = tmi_scalar_value(w, tmi_in(w->m, op, 0)), ub = tmi_scalar_value(w, tmi_in(w->m, op, 1)), st = tmi_scalar_value(w, tmi_in(w->m, op, 2));
    int      uns = tmi_attr_of(w->m, op, "unsignedCmp") != NULL, kind = tmi_t_type(t, lb).kind;
    int64_t  step = 0, full_lo, full_hi, c;
    tmi_ins  n;
    uint32_t loop;
    tmi_full_range(kind, &full_lo, &full_hi);
    tmi_ins_zero(&n, TMI_TF_LOOP, tmi_tty_of(TMI_S_NONE, 1));
    n.a = lb;
    n.b = ub;
    n.c = st;
    /* e 0: plain `i < ub` cannot overflow. 1: from lb >= 0 and counted in unsigned, where lb + k * step has
     * room. 2: anything else, by a count of trips. */
    n.e = 2;
    if (tmi_t_is_const(t, st, &step) && step == 1 && !uns) n.e = 0;
    else if (TMI_INS(t, ub)->hi <= full_hi - TMI_INS(t, st)->hi && !uns) n.e = 0;
    else if (TMI_INS(t, lb)->lo >= 0 && TMI_INS(t, st)->lo >= 0 && !uns) n.e = 1;
    n.f = (uint32_t)uns;
    if (n.e == 1 && TMI_INS(t, ub)->lo < 0) n.b = tmi_t_bin(t, TMI_TF_SMAX, ub, tmi_t_int(t, kind, 0));
    if (n.e == 2) {
        uint32_t span = tmi_t_bin(t, TMI_TF_ISUB, ub, lb), one = tmi_t_int(t, kind, 1), trips;
        trips = tmi_t_add(t, tmi_t_bin(t, TMI_TF_UDIV, tmi_t_bin(t, TMI_TF_ISUB, span, one), st), one);
        n.b = tmi_t_select(t, tmi_t_icmp(t, uns ? 6 : 2, lb, ub), trips, tmi_t_int(t, kind, 0));
    }
    if (tmi_t_is_const(t, n.b, &c)) n.flags = 0;
    loop = tmi_t_pin(t, &n);
    tmi_t_open(t, loop, 0);
    TMI_INS(t, loop)->d = t->cur;
    *iv = tmi_t_loopvar(t, loop, tmi_tty_of(kind, 1), n.e == 2 ? full_lo : TMI_INS(t, lb)->lo,
                        n.e == 2 || uns ? full_hi : tmi_max64(TMI_INS(t, ub)->hi - 1, TMI_INS(t, lb)->lo));
    TMI_INS(t, *iv)->name = tmi_source_name(w, tmi_block_arg(w->m, tmi_op_body(w->m, op, 0), 0));
}

static void tmi_read_carried(tmi_low *w, uint32_t value, uint32_t var) { /* a scalar, where its block starts */
    if (!var) return;
    w->scalar[value] = tmi_t_read(w->t, var, tmi_t_u32(w->t, 0), 0);
    tmi_t_name(w->t, w->scalar[value], tmi_source_name(w, value));
}

static void tmi_lower_for(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    uint32_t body = tmi_op_body(w->m, op, 0), end = tmi_terminator(w->m, body), n = op->n_out, i, iv;
    uint32_t *var = TMI_TEMP(w->job, uint32_t, n);
    tmi_copy *c = TMI_TEMP(w->job, tmi_copy, n);
    w->t->src = id;
    for (i = 0; i < n; i++) {
        uint32_t arg = tmi_block_arg(w->m, body, 1 + i);
        tmi_carry_storage(w, arg, &var[i]);
        tmi_share_storage(w, tmi_out(w->m, op, i), arg);
        c[i].from = tmi_in(w->m, op, 3 + i);
        c[i].to = arg;
        c[i].var = var[i];
    }
    tmi_copy_all(w, c, n);
    w->t->src = id;
    tmi_loop_begin(w, op, &iv);
    w->scalar[tmi_block_arg(w->m, body, 0)] = iv;
    for (i = 0; i < n; i++) {
        uint32_t arg = tmi_block_arg(w->m, body, 1 + i), yield = tmi_in(w->m, TMI_OP(w->m, end), i);
        tmi_read_carried(w, arg, var[i]);
        if (!var[i] && tmi_n_uses(&w->p->users, arg) == 1) (void)tmi_chain_in_place(w, body, arg, yield, 0);
    }
    tmi_lower_block(w, body);
    w->t->src = end;
    for (i = 0; i < n; i++) {
        c[i].from = tmi_in(w->m, TMI_OP(w->m, end), i);
        c[i].done = 0;
    }
    tmi_copy_all(w, c, n);
    (void)tmi_t_close(w->t);
    w->t->src = id;
    for (i = 0; i < n; i++) tmi_read_carried(w, tmi_out(w->m, op, i), var[i]);
}

static void tmi_branch_yields(tmi_low *w, const tmi_op *op, uint32_t block, const uint32_t *var) {
    uint32_t end = tmi_terminator(w->m, block), i;
    tmi_copy *c = TMI_TEMP(w->job, tmi_copy, op->n_out);
    if (TMI_OP(w->m, end)->kind != TMI_OP_YIELD) return;
    for (i = 0; i < op->n_out; i++) {
        c[i].from = tmi_in(w->m, TMI_OP(w->m, end), i);
        c[i].to = tmi_out(w->m, op, i);
        c[i].var = var[i];
    }
    w->t->src = end;
    tmi_copy_all(w, c, op->n_out);
}

static void tmi_lower_if(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    uint32_t *var = TMI_TEMP(w->job, uint32_t, op->n_out), i, branch, other = tmi_op_body(w->m, op, 1);
    w->t->src = id;
    for (i = 0; i < op->n_out; i++) tmi_carry_storage(w, tmi_out(w->m, op, i), &var[i]);
    branch = tmi_t_if(w->t, tmi_scalar_value(w, tmi_in(w->m, op, 0)));
    tmi_lower_block(w, tmi_op_body(w->m, op, 0));
    tmi_branch_yields(w, op, tmi_op_body(w->m, op, 0), var);
    if (other && (op->n_out || TMI_BLOCK(w->m, other)->first_op != TMI_BLOCK(w->m, other)->last_op ||
                  TMI_OP(w->m, TMI_BLOCK(w->m, other)->last_op)->kind == TMI_OP_RETURN)) {
        tmi_t_else(w->t, branch);
        tmi_lower_block(w, other);
        tmi_branch_yields(w, op, other, var);
    }
    (void)tmi_t_close(w->t);
    w->t->src = id;
    for (i = 0; i < op->n_out; i++) tmi_read_carried(w, tmi_out(w->m, op, i), var[i]);
}

/* while (true) { before; results = condition's values; if (!c) break; after; carried = yields } */
static void tmi_lower_while(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id), *cond;
    uint32_t before = tmi_op_body(w->m, op, 0), after = tmi_op_body(w->m, op, 1), i, branch;
    uint32_t *var = TMI_TEMP(w->job, uint32_t, op->n_in), *res = TMI_TEMP(w->job, uint32_t, op->n_out);
    tmi_copy *c = TMI_TEMP(w->job, tmi_copy, op->n_in + op->n_out);
    tmi_ins   n;
    uint32_t  loop;
    w->t->src = id;
    for (i = 0; i < op->n_in; i++) {
        tmi_carry_storage(w, tmi_block_arg(w->m, before, i), &var[i]);
        c[i].from = tmi_in(w->m, op, i);
        c[i].to = tmi_block_arg(w->m, before, i);
        c[i].var = var[i];
    }
    for (i = 0; i < op->n_out; i++) {
        tmi_carry_storage(w, tmi_out(w->m, op, i), &res[i]);
        tmi_share_storage(w, tmi_block_arg(w->m, after, i), tmi_out(w->m, op, i));
    }
    tmi_copy_all(w, c, op->n_in);
    tmi_ins_zero(&n, TMI_TF_WHILE, tmi_tty_of(TMI_S_NONE, 1));
    loop = tmi_t_pin(w->t, &n);
    tmi_t_open(w->t, loop, 0);
    TMI_INS(w->t, loop)->d = w->t->cur;
    for (i = 0; i < op->n_in; i++) tmi_read_carried(w, tmi_block_arg(w->m, before, i), var[i]);
    tmi_lower_block(w, before);
    cond = TMI_OP(w->m, tmi_terminator(w->m, before));
    w->t->src = tmi_terminator(w->m, before);
    for (i = 0; i < op->n_out; i++) {
        c[i].from = tmi_in(w->m, cond, 1 + i);
        c[i].to = tmi_out(w->m, op, i);
        c[i].var = res[i];
        c[i].done = 0;
    }
    tmi_copy_all(w, c, op->n_out);
    branch = tmi_t_if(w->t, tmi_t_un(w->t, TMI_TF_NOT, tmi_tty_of(TMI_S_BOOL, 1), tmi_scalar_value(w, tmi_in(w->m, cond, 0))));
    (void)branch;
    tmi_t_stmt(w->t, TMI_TF_BREAK);
    (void)tmi_t_close(w->t);
    for (i = 0; i < op->n_out; i++) tmi_read_carried(w, tmi_block_arg(w->m, after, i), res[i]);
    tmi_lower_block(w, after);
    for (i = 0; i < op->n_in; i++) {
        c[i].from = tmi_in(w->m, TMI_OP(w->m, tmi_terminator(w->m, after)), i);
        c[i].to = tmi_block_arg(w->m, before, i);
        c[i].var = var[i];
        c[i].done = 0;
    }
    w->t->src = tmi_terminator(w->m, after);
    tmi_copy_all(w, c, op->n_in);
    (void)tmi_t_close(w->t);
    w->t->src = id;
    for (i = 0; i < op->n_out; i++) tmi_read_carried(w, tmi_out(w->m, op, i), res[i]);
}

static void tmi_emit_whole(tmi_low *w, uint32_t id) {
    const tmi_op *op = TMI_OP(w->m, id);
    w->t->src = id;
    switch (op->kind) {
    case TMI_OP_FOR: tmi_lower_for(w, id); break;
    case TMI_OP_IF: tmi_lower_if(w, id); break;
    case TMI_OP_WHILE: tmi_lower_while(w, id); break;
    case TMI_OP_REDUCE: tmi_reduce_general(w, id); break;
    case TMI_OP_STORE: tmi_scalar_store(w, op); break;
    case TMI_OP_DOT: tmi_lower_dot(w, id); break;
    case TMI_OP_SCAN: tmi_lower_scan(w, id); break;
    case TMI_OP_GATHER: tmi_lower_gather(w, id); break;
    case TMI_OP_HISTOGRAM: tmi_lower_histogram(w, id); break;
    case TMI_OP_GPU_BARRIER: case TMI_OP_TTG_BARRIER: tmi_t_barrier(w->t, TMI_BAR_GROUP | TMI_BAR_DEVICE, "tl.debug_barrier"); break;
    default: tmi_bug(w->job, "lower", "an op without lowering was let through");
    }
}

/* A loop whose iterations meet each other's memory in other threads needs a barrier between them. */
static int tmi_needs_wrap_fence(const tmi_low *w, uint32_t block) {
    uint32_t k, owner = tmi_block_op(w->m, block);
    uint16_t kind = TMI_OP(w->m, owner)->kind;
    if (kind != TMI_OP_FOR && kind != TMI_OP_WHILE) return 0;
    for (k = 0; k < 32; k++) {
        const tmi_seen *s = &w->seen[k];
        if (!s->wslot) continue;
        if (s->rslot && !tmi_own_elements(s->wptr, s->wlin, s->wcopies, s->rptr, s->rlin, s->rcopies)) return 1;
        if (k == 31 || w->seen[31].rslot) return 1;
    }
    return 0;
}

static void tmi_lower_block(tmi_low *w, uint32_t block) {
    uint32_t op, s, first = w->slot.n, n, outer_block = w->block, outer_first = w->first_slot, outer_fence = w->fence, i;
    tmi_seen *outer = TMI_TEMP(w->job, tmi_seen, 32);
    int wrap;
    memcpy(outer, w->seen, sizeof w->seen);
    memset(w->seen, 0, sizeof w->seen);
    w->block = block;
    w->first_slot = first;
    w->fence = 0;
    for (i = 0; i < TMI_BLOCK(w->m, block)->n_arg; i++)
        if (w->p->klass[tmi_block_arg(w->m, block, i)] == TMI_C_NODE) tmi_place_copies(w, tmi_block_arg(w->m, block, i));
    for (op = TMI_BLOCK(w->m, block)->first_op; op; op = TMI_OP(w->m, op)->next) tmi_place_op(w, op);
    wrap = tmi_needs_wrap_fence(w, block);
    n = tmi_n_slots(w);
    for (s = 0; s < n; s++) {
        tmi_slot *slot;
        uint32_t  x;
        w->block = block;
        slot = TMI_SLOT(w, first + s);
        for (x = slot->scalars; x; x = w->scalar_next[x]) tmi_emit_scalar(w, x);
        if (slot->is_barrier) tmi_t_barrier(w->t, TMI_BAR_DEVICE, "other threads read or write these addresses");
        else if (slot->is_nest) tmi_emit_nest(w, slot);
        else if (slot->op) tmi_emit_whole(w, slot->op);
    }
    if (wrap) tmi_t_barrier(w->t, TMI_BAR_DEVICE, "the next iteration meets these addresses in other threads");
    op = TMI_BLOCK(w->m, block)->last_op;
    if (op && TMI_OP(w->m, op)->kind == TMI_OP_RETURN && TMI_OP(w->m, tmi_block_op(w->m, block))->kind != TMI_OP_FUNC) {
        w->t->src = op;
        tmi_t_stmt(w->t, TMI_TF_RETURN);
    }
    memcpy(w->seen, outer, sizeof w->seen);
    w->block = outer_block;
    w->first_slot = outer_first;
    w->fence = outer_fence;
}

/* -- Matrix products ---------------------------------------------------------------------------------- */

/* An operand in threadgroup memory: [batch][rows][pitch], or with rows and columns exchanged. */
typedef struct tmi_staged {
    uint32_t buf, pitch, plane; /* array; elements between rows, between batches */
    int      flipped;           /* columns are stored as rows */
    uint32_t k_bits;            /* log2 of the part of K that is there at a time */
} tmi_staged;

typedef struct tmi_product {
    uint32_t id;
    const tmi_op *op;
    uint32_t rank, m_bits, n_bits, k_bits, b_bits; /* log2 of rows, columns, K, batch */
    uint32_t chunk_bits;                            /* log2 of the rounds that K is cut into */
    uint32_t chunk;                                 /* which round: instruction */
    tmi_staged s[2];
    uint32_t acc, acc_count;
} tmi_product;

static void tmi_product_init(tmi_low *w, uint32_t id, tmi_product *p) {
    const tmi_op *op = TMI_OP(w->m, id);
    uint32_t a = tmi_in_type(w->m, op, 0), d = tmi_out_type(w->m, op, 0), bytes, k;
    memset(p, 0, sizeof *p);
    p->id = id;
    p->op = op;
    p->rank = tmi_rank(w->m, d);
    p->m_bits = tmi_dim_bits(w->m, d, p->rank - 2);
    p->n_bits = tmi_dim_bits(w->m, d, p->rank - 1);
    p->k_bits = tmi_dim_bits(w->m, a, p->rank - 1);
    p->b_bits = p->rank > 2 ? tmi_dim_bits(w->m, d, 0) : 0;
    for (p->chunk_bits = 0;; p->chunk_bits++) { /* as much of K at a time as memory holds */
        k = p->k_bits - p->chunk_bits;
        bytes = 0;
        if (w->p->stage[0][id]) bytes += ((1u << (p->m_bits + p->b_bits)) * ((1u << k) + 8)) * tmi_scalar_bytes[tmi_shared_type(w->m, a).kind];
        if (w->p->stage[1][id]) bytes += ((1u << (k + p->b_bits)) * ((1u << p->n_bits) + 8)) * tmi_scalar_bytes[tmi_shared_type(w->m, tmi_in_type(w->m, op, 1)).kind];
        if (bytes <= w->p->stage_limit || k <= 3) break;
    }
}

/* Write operand k to threadgroup memory, in the layout that the plan found for it. */
static void tmi_stage(tmi_low *w, tmi_product *p, uint32_t k) {
    tmi_thr *t = w->t;
    uint32_t value = tmi_in(w->m, p->op, k), type = tmi_value_type(w->m, value), row_axis = p->rank - 2, col_axis = p->rank - 1;
    const tmi_lin *l = TMI_LIN(w->p, w->p->stage[k][p->id] - 1);
    tmi_staged *s = &p->s[k];
    tmi_tty  elem = tmi_shared_type(w->m, type);
    uint32_t rows = tmi_dim_bits(w->m, type, row_axis), cols = tmi_dim_bits(w->m, type, col_axis), pad, v, at, holder, branch = 0, row, col, cond = 0;
    uint32_t k_low = tmi_dim_low(w->m, type, k ? row_axis : col_axis);
    tmi_nest n;
    s->k_bits = p->k_bits - p->chunk_bits;
    if (k) rows = s->k_bits;
    else cols = s->k_bits;
    s->flipped = l->lane[0] != 0 && !(l->lane[0] & ((1u << tmi_dim_bits(w->m, type, col_axis)) - 1));
    pad = 16 / tmi_scalar_bytes[elem.kind];
    s->pitch = (1u << (s->flipped ? rows : cols)) + pad;
    s->plane = (1u << (s->flipped ? cols : rows)) * s->pitch;
    if (!s->buf) s->buf = tmi_t_array(t, TMI_AS_GROUP, elem, s->plane << p->b_bits, tmi_source_name(w, value));
    tmi_nest_begin(w, &n, w->p->stage[k][p->id] - 1);
    tmi_nest_loops(w, &n);
    v = tmi_to_memory(w, tmi_elem_at(w, value, l, 0));
    row = tmi_coord(w, l, tmi_dim_low(w->m, type, row_axis), rows, 0);
    col = tmi_coord(w, l, tmi_dim_low(w->m, type, col_axis), cols, 0);
    at = s->flipped ? tmi_t_add(t, tmi_t_mul(t, col, tmi_t_u32(t, s->pitch)), row) : tmi_t_add(t, tmi_t_mul(t, row, tmi_t_u32(t, s->pitch)), col);
    if (p->b_bits) at = tmi_t_add(t, at, tmi_t_mul(t, tmi_coord(w, l, tmi_dim_low(w->m, type, 0), p->b_bits, 0), tmi_t_u32(t, s->plane)));
    if (p->chunk_bits) cond = tmi_t_icmp(t, 0, tmi_coord(w, l, k_low + s->k_bits, p->chunk_bits, 0), p->chunk);
    holder = tmi_both(t, tmi_is_holder(w, l), cond);
    if (holder) branch = tmi_t_if(t, holder);
    tmi_t_write(t, s->buf, at, 0, v);
    if (branch) (void)tmi_t_close(t);
    tmi_nest_end(w, &n);
}

/* Is every element of the addend zero? */
static int tmi_is_zero_value(const tmi_low *w, uint32_t value) {
    uint32_t def = tmi_def(w->m, value);
    const tmi_attr *a;
    while (def && (TMI_OP(w->m, def)->kind == TMI_OP_SPLAT || tmi_is_view(TMI_OP(w->m, def)->kind)) && TMI_OP(w->m, def)->n_in == 1)
        def = tmi_def(w->m, tmi_in(w->m, TMI_OP(w->m, def), 0));
    if (!def || TMI_OP(w->m, def)->kind != TMI_OP_CONSTANT) return 0;
    a = tmi_attr_of(w->m, TMI_OP(w->m, def), "value");
    if (!a) return 0;
    if (a->kind == TMI_A_DENSE) return a->n == 1 && TMI_WORD(w->m, (uint32_t)a->value) == 0;
    return a->value == 0;
}

/* Accumulator tiles, holding the addend. Where the result lives in the addend's own array, it does already. */
static void tmi_product_begin(tmi_low *w, tmi_product *p, uint32_t lin_id) {
    tmi_thr  *t = w->t;
    uint32_t  r = w->p->first_inst[tmi_out(w->m, p->op, 0)] - 1, c = tmi_in(w->m, p->op, 2), v;
    tmi_inst *in = TMI_INST(w->p, r);
    int       same = tmi_s_of(w->m, tmi_out_type(w->m, p->op, 0)) == TMI_S_F32;
    tmi_nest  n;
    p->acc_count = 1u << (TMI_LIN(w->p, lin_id)->n_reg - 1);
    if (same && in->store == TMI_ST_ARRAY) {
        p->acc = in->ref;
        return;
    }
    p->acc = tmi_t_array(t, TMI_AS_FRAG, tmi_tty_of(TMI_S_F32, 1), p->acc_count, tmi_source_name(w, in->value));
    if (same) {
        in->store = TMI_ST_ARRAY;
        in->ref = p->acc;
        in->vec = 1;
    }
    if (tmi_is_zero_value(w, c)) {
        tmi_ins x;
        v = tmi_t_for(t, p->acc_count);
        tmi_ins_zero(&x, TMI_TF_FFILL, tmi_tty_of(TMI_S_NONE, 1));
        x.a = p->acc;
        x.b = v;
        (void)tmi_t_pin(t, &x);
        (void)tmi_t_close(t);
        return;
    }
    tmi_nest_begin(w, &n, lin_id);
    tmi_nest_loops(w, &n);
    {
        tmi_parts x;
        uint32_t  i, index, e;
        memset(&x, 0, sizeof x);
        for (i = 1; i < n.lin->n_reg; i++) x.reg[i] = 1u << (i - 1);
        index = tmi_parts_expr(w, &n, &x, 0);
        e = tmi_conv(t, tmi_elem_at(w, c, n.lin, TMI_VEC), TMI_S_F32);
        for (i = 0; i < 2; i++) tmi_t_write(t, p->acc, index, tmi_t_u32(t, i), tmi_t_vget(t, e, i));
    }
    tmi_nest_end(w, &n);
}

static void tmi_fload(tmi_low *w, uint32_t frag, uint32_t index, const tmi_staged *s, uint32_t row, uint32_t col, uint32_t batch) {
    tmi_thr *t = w->t;
    tmi_ins  n;
    uint32_t at = s->flipped ? tmi_t_add(t, tmi_t_mul(t, col, tmi_t_u32(t, s->pitch)), row) : tmi_t_add(t, tmi_t_mul(t, row, tmi_t_u32(t, s->pitch)), col);
    if (batch) at = tmi_t_add(t, at, tmi_t_mul(t, batch, tmi_t_u32(t, s->plane)));
    tmi_ins_zero(&n, TMI_TF_FLOAD, tmi_tty_of(TMI_S_NONE, 1));
    n.a = frag;
    n.b = index;
    n.c = s->buf;
    n.d = at;
    n.e = s->pitch;
    n.f = (uint32_t)s->flipped;
    (void)tmi_t_pin(t, &n);
}

/* Row, column or batch at which a simdgroup's tiles start. */
static uint32_t tmi_tile_base(tmi_low *w, const tmi_lin *l, uint32_t low, uint32_t bits) {
    tmi_parts x;
    uint32_t  i, mask = bits ? (1u << bits) - 1u : 0;
    memset(&x, 0, sizeof x);
    for (i = 0; i < l->n_sg; i++) x.thread[TMI_LANE_BITS + i] = (l->sg[i] >> low) & mask;
    return tmi_parts_expr(w, NULL, &x, 0);
}

/* The a tiles of one step of K, from the registers that another product left them in. */
static void tmi_tiles_from_registers(tmi_low *w, tmi_product *p, uint32_t frag, uint32_t i, uint32_t k) {
    uint32_t a = tmi_in(w->m, p->op, 0), b, e;
    const tmi_lin *l = tmi_value_lin(w->p, a);
    tmi_nest n;
    tmi_nest_begin(w, &n, tmi_lin_id(w->p, l));
    for (b = 1; b < l->n_reg; b++) {
        n.var[b] = b < p->k_bits - 2 ? k : i;
        n.bit[b] = b < p->k_bits - 2 ? b - 1 : b - (p->k_bits - 2);
    }
    for (e = 0; e < 2; e++) tmi_t_write(w->t, frag, i, tmi_t_u32(w->t, e), tmi_elem_at(w, a, l, e));
    w->nest = NULL;
}

/* acc += a * b over the part of K that is there. */
static void tmi_product_steps(tmi_low *w, tmi_product *p, const tmi_lin *l) {
    tmi_thr *t = w->t;
    uint32_t sg_cols = 0, sg_rows = 0, sg_batch = 0, i, rows, cols, batches, fa, fb, kv, iv, jv, bv = 0, batch = 0, row0, col0, steps;
    uint32_t in_regs = !w->p->stage[0][p->id];
    tmi_ins  n;
    for (i = 0; i < l->n_sg; i++) {
        if (l->sg[i] && l->sg[i] < 1u << p->n_bits) sg_cols++;
        else if (l->sg[i] && l->sg[i] < 1u << (p->n_bits + p->m_bits)) sg_rows++;
        else if (l->sg[i]) sg_batch++;
    }
    rows = p->m_bits - 3 - sg_rows;
    cols = p->n_bits - 3 - sg_cols;
    batches = p->b_bits - sg_batch;
    steps = p->k_bits - p->chunk_bits - 3;
    fa = tmi_t_array(t, TMI_AS_FRAG, tmi_tty_from(w->m, tmi_in_type(w->m, p->op, 0)), 1u << rows, tmi_intern(w->job, &w->m->strings, "a_tile", 6));
    fb = tmi_t_array(t, TMI_AS_FRAG, tmi_tty_from(w->m, tmi_in_type(w->m, p->op, 1)), 1u << cols, tmi_intern(w->job, &w->m->strings, "b_tile", 6));
    row0 = tmi_tile_base(w, l, p->n_bits, p->m_bits);
    col0 = tmi_tile_base(w, l, 0, p->n_bits);
    if (p->b_bits) batch = tmi_tile_base(w, l, p->n_bits + p->m_bits, p->b_bits);
    if (batches) {
        bv = tmi_t_for(t, 1u << batches);
        batch = tmi_t_add(t, batch, tmi_t_mul(t, bv, tmi_t_u32(t, 1u << sg_batch)));
    }
    kv = tmi_t_for(t, 1u << steps);
    iv = tmi_t_for(t, 1u << rows);
    if (in_regs) tmi_tiles_from_registers(w, p, fa, iv, kv);
    else tmi_fload(w, fa, iv, &p->s[0], tmi_t_add(t, row0, tmi_t_mul(t, iv, tmi_t_u32(t, 8))), tmi_t_mul(t, kv, tmi_t_u32(t, 8)), batch);
    (void)tmi_t_close(t);
    jv = tmi_t_for(t, 1u << cols);
    tmi_fload(w, fb, jv, &p->s[1], tmi_t_mul(t, kv, tmi_t_u32(t, 8)), tmi_t_add(t, col0, tmi_t_mul(t, jv, tmi_t_u32(t, 8))), batch);
    (void)tmi_t_close(t);
    iv = tmi_t_for(t, 1u << rows);
    jv = tmi_t_for(t, 1u << cols);
    tmi_ins_zero(&n, TMI_TF_FMMA, tmi_tty_of(TMI_S_NONE, 1));
    n.a = p->acc;
    n.b = tmi_t_add(t, tmi_t_mul(t, iv, tmi_t_u32(t, 1u << cols)), jv);
    if (batches) n.b = tmi_t_add(t, n.b, tmi_t_mul(t, bv, tmi_t_u32(t, 1u << (rows + cols))));
    n.c = fa;
    n.d = iv;
    n.e = fb;
    n.f = jv;
    (void)tmi_t_pin(t, &n);
    (void)tmi_t_close(t);
    (void)tmi_t_close(t);
    (void)tmi_t_close(t);
    if (batches) (void)tmi_t_close(t);
}

/* Results of another type than float: rounded from the accumulator tiles. */
static void tmi_product_end(tmi_low *w, tmi_product *p, uint32_t lin_id) {
    uint32_t  r = w->p->first_inst[tmi_out(w->m, p->op, 0)] - 1, i, index, e[2];
    tmi_tty   type = tmi_tty_from(w->m, tmi_out_type(w->m, p->op, 0));
    tmi_nest  n;
    tmi_parts x;
    if (type.kind == TMI_S_F32) return;
    tmi_inst_array(w, r, TMI_AS_PRIVATE);
    tmi_nest_begin(w, &n, lin_id);
    tmi_nest_loops(w, &n);
    memset(&x, 0, sizeof x);
    for (i = 1; i < n.lin->n_reg; i++) x.reg[i] = 1u << (i - 1);
    index = tmi_parts_expr(w, &n, &x, 0);
    for (i = 0; i < 2; i++) e[i] = tmi_conv(w->t, tmi_t_read(w->t, p->acc, index, tmi_t_u32(w->t, i)), type.kind);
    tmi_inst_put(w, r, tmi_t_vmake(w->t, e, 2));
    tmi_nest_end(w, &n);
}

/* -- Products without matrix units: integers, and tiles smaller than 8 by 8 ------------------------------- */

static uint32_t tmi_widen(tmi_low *w, uint32_t v, int kind) { /* doubles travel as 64-bit integers and stay */
    if (tmi_s_is_float(kind)) return tmi_conv(w->t, v, kind);
    return tmi_t_intcast(w->t, v, kind, 1);
}

static void tmi_plain_steps(tmi_low *w, tmi_product *p, uint32_t lin_id, int kind) {
    tmi_thr *t = w->t;
    const tmi_lin *l;
    uint32_t kv, i, d = tmi_out_type(w->m, p->op, 0), row, col, batch = 0, a, b, index, at[2], acc, k;
    tmi_nest  n;
    tmi_parts x;
    tmi_ins   ld;
    kv = tmi_t_for(t, 1u << (p->k_bits - p->chunk_bits));
    TMI_INS(t, TMI_INS(t, kv)->a)->e = 1; /* a long loop: not unrolled */
    tmi_nest_begin(w, &n, lin_id);
    l = n.lin;
    tmi_nest_loops(w, &n);
    row = tmi_coord(w, l, tmi_dim_low(w->m, d, p->rank - 2), p->m_bits, 0);
    col = tmi_coord(w, l, 0, p->n_bits, 0);
    if (p->b_bits) batch = tmi_coord(w, l, tmi_dim_low(w->m, d, 0), p->b_bits, 0);
    for (i = 0; i < 2; i++) {
        const tmi_staged *s = &p->s[i];
        uint32_t r = i ? kv : row, c = i ? col : kv;
        at[i] = s->flipped ? tmi_t_add(t, tmi_t_mul(t, c, tmi_t_u32(t, s->pitch)), r) : tmi_t_add(t, tmi_t_mul(t, r, tmi_t_u32(t, s->pitch)), c);
        if (batch) at[i] = tmi_t_add(t, at[i], tmi_t_mul(t, batch, tmi_t_u32(t, s->plane)));
    }
    a = tmi_widen(w, tmi_t_read(t, p->s[0].buf, at[0], 0), kind);
    b = tmi_widen(w, tmi_t_read(t, p->s[1].buf, at[1], 0), kind);
    memset(&x, 0, sizeof x);
    for (k = 0; k < l->n_reg; k++) x.reg[k] = 1u << k;
    index = tmi_parts_expr(w, &n, &x, 0);
    acc = tmi_t_read(t, p->acc, index, 0);
    (void)ld;
    if (kind == TMI_S_I64) {
        uint32_t v[3];
        v[0] = a;
        v[1] = b;
        v[2] = acc;
        acc = tmi_soft_call(t, "f64_fma", v, 3);
    } else {
        acc = tmi_s_is_float(kind) ? tmi_t_tern(t, TMI_TF_FMA, tmi_tty_of(kind, 1), a, b, acc) : tmi_t_add(t, acc, tmi_t_mul(t, a, b));
    }
    tmi_t_write(t, p->acc, index, 0, acc);
    tmi_nest_end(w, &n);
    (void)tmi_t_close(t);
}

/* Fill the accumulators with the addend, or hand them to the result, element by element. */
static void tmi_plain_copy(tmi_low *w, tmi_product *p, uint32_t lin_id, int kind, int back) {
    uint32_t  i, index, r = w->p->first_inst[tmi_out(w->m, p->op, 0)] - 1;
    tmi_nest  n;
    tmi_parts x;
    tmi_tty   type = tmi_tty_from(w->m, tmi_out_type(w->m, p->op, 0));
    if (back) tmi_inst_array(w, r, TMI_AS_PRIVATE);
    tmi_nest_begin(w, &n, back ? TMI_INST(w->p, r)->lin : lin_id);
    tmi_nest_loops(w, &n);
    memset(&x, 0, sizeof x);
    for (i = 0; i < n.lin->n_reg; i++) x.reg[i] = 1u << i;
    if (!back) {
        index = tmi_parts_expr(w, &n, &x, 0);
        tmi_t_write(w->t, p->acc, index, 0, tmi_widen(w, tmi_elem_at(w, tmi_in(w->m, p->op, 2), n.lin, 0), kind));
    } else {
        uint32_t e[4];
        for (i = 0; i < 1u << n.vec; i++) {
            uint32_t v = tmi_t_read(w->t, p->acc, tmi_parts_expr(w, &n, &x, i), 0);
            e[i] = tmi_s_is_float(kind) ? tmi_conv(w->t, v, type.kind) : tmi_t_intcast(w->t, v, type.kind, 1);
        }
        tmi_inst_put(w, r, tmi_t_vmake(w->t, e, 1u << n.vec));
    }
    tmi_nest_end(w, &n);
}

static void tmi_lower_plain_dot(tmi_low *w, tmi_product *p, const tmi_lin *l) {
    tmi_lin  flat = *l;
    uint32_t lin_id, loop = 0;
    int      kind = tmi_s_of(w->m, tmi_out_type(w->m, p->op, 0));
    kind = tmi_s_is_float(kind) ? TMI_S_F32 : kind == TMI_S_I64 ? TMI_S_I64 : TMI_S_I32;
    flat.vec = 0;
    lin_id = tmi_lin_id(w->p, &flat);
    p->acc = tmi_t_array(w->t, TMI_AS_PRIVATE, tmi_tty_of(kind, 1), 1u << flat.n_reg, tmi_source_name(w, tmi_out(w->m, p->op, 0)));
    tmi_plain_copy(w, p, lin_id, kind, 0);
    if (p->chunk_bits) p->chunk = tmi_t_for(w->t, 1u << p->chunk_bits), loop = 1;
    tmi_stage(w, p, 0);
    tmi_stage(w, p, 1);
    tmi_plain_steps(w, p, lin_id, kind);
    if (loop) (void)tmi_t_close(w->t);
    tmi_plain_copy(w, p, lin_id, kind, 1);
}

static void tmi_lower_dot(tmi_low *w, uint32_t id) {
    const tmi_lin *l = tmi_comp_lin(w->p, tmi_comp_of(w->p, tmi_op_element(w->p, id)));
    uint32_t    lin_id = tmi_lin_id(w->p, l), loop = 0;
    tmi_product p;
    tmi_product_init(w, id, &p);
    if (!tmi_dot_is_mma(w->m, p.op)) {
        tmi_lower_plain_dot(w, &p, l);
        return;
    }
    tmi_product_begin(w, &p, lin_id);
    if (p.chunk_bits && w->p->stage[0][id]) p.chunk = tmi_t_for(w->t, 1u << p.chunk_bits), loop = 1;
    else p.chunk_bits = 0;
    if (w->p->stage[0][id]) tmi_stage(w, &p, 0);
    tmi_stage(w, &p, 1);
    tmi_product_steps(w, &p, l);
    if (loop) (void)tmi_t_close(w->t);
    tmi_product_end(w, &p, lin_id);
}

/* -- A whole function ------------------------------------------------------------------------------------ */

static void tmi_lower_params(tmi_low *w) {
    uint32_t block = tmi_op_body(w->m, TMI_OP(w->m, w->p->func), 0), i;
    tmi_ins  n;
    for (i = 0; i < TMI_BLOCK(w->m, block)->n_arg; i++) {
        uint32_t v = tmi_block_arg(w->m, block, i);
        tmi_ins_zero(&n, TMI_TF_PARAM, tmi_tty_from(w->m, tmi_value_type(w->m, v)));
        n.a = i;
        if (tmi_s_is_int(n.type.kind)) tmi_full_range(n.type.kind, &n.lo, &n.hi);
        if (n.type.kind == TMI_S_NONE) continue;
        if (n.type.kind == TMI_S_BOOL) { /* a byte from the host; as i1 only its lowest bit counts */
            n.type.kind = TMI_S_I8;
            tmi_full_range(TMI_S_I8, &n.lo, &n.hi);
            w->scalar[v] = tmi_t_intcast(w->t, tmi_t_pure(w->t, &n, NULL, 0), TMI_S_BOOL, 0);
            continue;
        }
        w->scalar[v] = tmi_t_pure(w->t, &n, NULL, 0);
    }
}

/* Classes of memory that an op and everything inside it touches. */
static void tmi_lower_touches(tmi_low *w) {
    const tmi_module *m = w->m;
    uint32_t op, up;
    for (op = tmi_walk_next(m, w->p->func, w->p->func); op; op = tmi_walk_next(m, w->p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        uint32_t bit, traits = tmi_ops[o->kind].traits;
        if (!(traits & (TMI_READS | TMI_WRITES)) || o->n_region) continue;
        bit = tmi_accesses_memory(o) ? 1u << tmi_class_of(w, tmi_in(m, o, 0)) : 0;
        for (up = op; up && up != w->p->func; up = tmi_parent_op(m, TMI_OP(m, up))) {
            if (traits & TMI_READS) w->reads[up] |= bit;
            if (traits & TMI_WRITES) w->writes[up] |= bit;
        }
    }
}

static void tmi_lower_func(tmi_plan *p, tmi_thr *t) {
    tmi_low  w;
    tmi_job *job = p->job;
    memset(&w, 0, sizeof w);
    w.p = p;
    w.t = t;
    w.job = job;
    w.m = p->m;
    t->threads = p->threads;
    w.scalar = TMI_TEMP(job, uint32_t, p->m->value.n);
    w.avail = TMI_TEMP(job, uint32_t, p->m->value.n);
    w.scalar_next = TMI_TEMP(job, uint32_t, p->m->op.n);
    w.reads = TMI_TEMP(job, uint32_t, p->m->op.n);
    w.writes = TMI_TEMP(job, uint32_t, p->m->op.n);
    tmi_vec_init(&w.memo, sizeof(tmi_memo), 1);
    tmi_vec_init(&w.slot, sizeof(tmi_slot), 1);
    tmi_vec_init(&w.task, sizeof(tmi_task), 1);
    w.memo_cap = 64;
    w.memo_slot = TMI_TEMP(job, uint32_t, w.memo_cap);
    tmi_lower_touches(&w);
    tmi_mark_escapes(&w);
    tmi_lower_params(&w);
    tmi_lower_block(&w, tmi_op_body(p->m, TMI_OP(p->m, p->func), 0));
}

/*==============================================================================
 * >>clean  [18]  The per-thread form made ready to print
 *
 * gives   tmi_clean(): dead code out, masks merged into branches, values next to their first use,
 *         threadgroup memory laid out, barriers where the hazards are
 * uses    >>thread
 *============================================================================*/

#define TMI_MAX_OPERANDS 8u

/* Values that an instruction reads; long lists (vectors, helpers) have at most 8. */
static uint32_t tmi_operands(const tmi_thr *t, const tmi_ins *n, uint32_t *v) {
    uint32_t k = 0, i;
    switch (n->op) {
    case TMI_TF_CONST: case TMI_TF_PARAM: case TMI_TF_TID: case TMI_TF_LANE: case TMI_TF_GROUP: case TMI_TF_PID: case TMI_TF_NPROG:
    case TMI_TF_LOOPVAR: case TMI_TF_FOR: case TMI_TF_WHILE: case TMI_TF_BREAK: case TMI_TF_RETURN: case TMI_TF_BARRIER: return 0;
    case TMI_TF_VMAKE: case TMI_TF_HELP:
        for (i = 0; i < n->b && i < TMI_MAX_OPERANDS; i++) v[k++] = TMI_LST(t, n->a + i);
        return k;
    case TMI_TF_ICMP: case TMI_TF_FCMP: case TMI_TF_VGET: case TMI_TF_SHUF: case TMI_TF_SHUFX: case TMI_TF_SHUFUP:
        v[k++] = n->a;
        v[k++] = n->b;
        return k;
    case TMI_TF_LDA: case TMI_TF_LDT: case TMI_TF_LDC:
        v[k++] = n->b;
        if (n->c) v[k++] = n->c;
        if (n->e) v[k++] = n->e;
        if (n->f) v[k++] = n->f;
        return k;
    case TMI_TF_STA: case TMI_TF_STT:
        v[k++] = n->b;
        if (n->c) v[k++] = n->c;
        v[k++] = n->d;
        return k;
    case TMI_TF_ADDT:
        v[k++] = n->b;
        v[k++] = n->c;
        return k;
    case TMI_TF_SIMD: case TMI_TF_BALLOT: case TMI_TF_IF: v[k++] = n->a; return k;
    case TMI_TF_FLOAD: case TMI_TF_FSTORE:
        v[k++] = n->b;
        v[k++] = n->d;
        return k;
    case TMI_TF_FMMA:
        v[k++] = n->b;
        v[k++] = n->d;
        v[k++] = n->f;
        return k;
    case TMI_TF_FFILL: v[k++] = n->b; return k;
    case TMI_TF_DECL:
        if (n->b) v[k++] = n->b;
        return k;
    default:
        if (n->a) v[k++] = n->a;
        if (n->b) v[k++] = n->b;
        if (n->c) v[k++] = n->c;
        return k;
    }
}

/* Array that an instruction touches; 0 none. A product touches three. */
static uint32_t tmi_arrays(const tmi_ins *n, uint32_t *a) {
    switch (n->op) {
    case TMI_TF_LDA: case TMI_TF_LDT: case TMI_TF_LDC: case TMI_TF_STA: case TMI_TF_STT: case TMI_TF_DECL: case TMI_TF_FFILL: case TMI_TF_ADDT: a[0] = n->a; return 1;
    case TMI_TF_FLOAD: case TMI_TF_FSTORE: a[0] = n->a, a[1] = n->c; return 2;
    case TMI_TF_FMMA: a[0] = n->a, a[1] = n->c, a[2] = n->e; return 3;
    default: return 0;
    }
}

/* Bodies of a statement: at most two blocks. */
static uint32_t tmi_bodies(const tmi_ins *n, uint32_t *b) {
    uint32_t k = 0;
    if (n->op == TMI_TF_FOR || n->op == TMI_TF_LOOP || n->op == TMI_TF_WHILE) b[k++] = n->d;
    if (n->op == TMI_TF_IF) {
        b[k++] = n->c;
        if (n->d) b[k++] = n->d;
    }
    return k;
}

/* The next instruction in the order of execution: into bodies, then on. 0 at the end. */
static uint32_t tmi_thr_next(const tmi_thr *t, uint32_t id) {
    uint32_t b[2], n = tmi_bodies(TMI_INS(t, id), b), i;
    for (i = 0; i < n; i++)
        if (TMI_BLK(t, b[i])->first) return TMI_BLK(t, b[i])->first;
    for (;;) {
        uint32_t blk = TMI_INS(t, id)->blk, owner;
        if (TMI_INS(t, id)->next) return TMI_INS(t, id)->next;
        owner = TMI_BLK(t, blk)->owner;
        if (!owner) return 0;
        n = tmi_bodies(TMI_INS(t, owner), b);
        if (n == 2 && b[0] == blk && TMI_BLK(t, b[1])->first) return TMI_BLK(t, b[1])->first;
        id = owner;
    }
}

/* -- Dead code ---------------------------------------------------------------------------------- */

static int tmi_has_effect(const tmi_thr *t, const tmi_ins *n, const uint32_t *reads) {
    uint32_t b[2], k, i;
    if (n->op == TMI_TF_DECL) return reads[n->a] != 0;
    if (n->op == TMI_TF_STA || n->op == TMI_TF_FFILL || n->op == TMI_TF_STT || n->op == TMI_TF_ADDT) return reads[n->a] != 0;
    if (n->op == TMI_TF_FLOAD || n->op == TMI_TF_FMMA) return reads[n->a] != 0;
    if (n->op == TMI_TF_LDG) return (n->d & TMI_INS_VOLATILE) != 0;
    if (n->op == TMI_TF_FOR || n->op == TMI_TF_IF) { /* empty bodies do nothing */
        k = tmi_bodies(n, b);
        for (i = 0; i < k; i++) {
            uint32_t x = TMI_BLK(t, b[i])->first;
            for (; x && TMI_INS(t, x)->op == TMI_TF_LOOPVAR; x = TMI_INS(t, x)->next) {}
            if (x) return 1;
        }
        return 0;
    }
    return (tmi_tfs[n->op].traits & TMI_TR_STMT) != 0;
}

/* Drop what nothing reads: backward, so that one walk frees whole chains; again while arrays die. */
static void tmi_dead_code(tmi_thr *t) {
    tmi_mark  mark = tmi_mark_take(t->job);
    uint32_t *uses = TMI_TEMP(t->job, uint32_t, t->ins.n), *reads = TMI_TEMP(t->job, uint32_t, t->arr.n), i, k, n, changed = 1, id;
    uint32_t *order = TMI_TEMP(t->job, uint32_t, t->ins.n), v[TMI_MAX_OPERANDS], a[3];
    while (changed) {
        changed = 0;
        memset(uses, 0, t->ins.n * sizeof *uses);
        memset(reads, 0, t->arr.n * sizeof *reads);
        for (n = 0, id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
            const tmi_ins *x = TMI_INS(t, id);
            order[n++] = id;
            for (i = tmi_operands(t, x, v); i-- > 0;) uses[v[i]]++;
            k = tmi_arrays(x, a);
            if (x->op == TMI_TF_LDA || x->op == TMI_TF_LDT || x->op == TMI_TF_LDC) reads[a[0]]++;
            for (i = 1; i < k; i++) reads[a[i]]++;
        }
        while (n-- > 0) {
            tmi_ins *x = TMI_INS(t, order[n]);
            if (x->op == TMI_TF_LOOPVAR || uses[order[n]] || tmi_has_effect(t, x, reads)) continue;
            if (x->op == TMI_TF_LDA || x->op == TMI_TF_LDT) reads[x->a]--;
            for (i = tmi_operands(t, x, v); i-- > 0;) uses[v[i]]--;
            tmi_ins_unlink(t, order[n]);
            changed = 1;
        }
    }
    tmi_mark_drop(t->job, mark);
}

/* -- Masks ------------------------------------------------------------------------------------------- */

static uint32_t tmi_mask_of(const tmi_ins *n) {
    return n->op == TMI_TF_LDG ? n->b : n->op == TMI_TF_STG ? n->c : 0;
}

typedef struct tmi_order {
    uint32_t *pos;  /* per instruction: position in the walk */
    uint32_t *last; /* per instruction: position of its last reader */
} tmi_order;

static void tmi_order_make(tmi_thr *t, tmi_order *o) {
    uint32_t id, n = 0, i, v[TMI_MAX_OPERANDS];
    o->pos = TMI_TEMP(t->job, uint32_t, t->ins.n);
    o->last = TMI_TEMP(t->job, uint32_t, t->ins.n);
    for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
        o->pos[id] = ++n;
        for (i = tmi_operands(t, TMI_INS(t, id), v); i-- > 0;) o->last[v[i]] = n;
    }
}

/* The longest run from `first` on in which every access of memory stands under its mask, and every value
 * is used up: ends with a store. 0 when there is none worth a branch. */
static uint32_t tmi_mask_run(const tmi_thr *t, const tmi_order *o, uint32_t first) {
    uint32_t mask = tmi_mask_of(TMI_INS(t, first)), id, end = 0, stores = 0, latest = 0;
    for (id = first; id; id = TMI_INS(t, id)->next) {
        const tmi_ins *n = TMI_INS(t, id);
        if (n->op == TMI_TF_LDG || n->op == TMI_TF_STG) {
            if (tmi_mask_of(n) != mask) break;
        } else if (!(tmi_tfs[n->op].traits & TMI_TR_PURE)) {
            break;
        }
        if (n->op != TMI_TF_STG && o->last[id] > latest) latest = o->last[id];
        if (n->op != TMI_TF_STG) continue;
        stores++;
        if (latest <= o->pos[id] || latest == 0) end = id; /* everything made since is used up by now */
    }
    return stores ? end : 0;
}

/* if (mask) { load, compute, store } instead of a test at each access. */
static void tmi_merge_masks(tmi_thr *t) {
    tmi_mark  mark = tmi_mark_take(t->job);
    tmi_order o;
    uint32_t  id, next, blocks = t->blk.n, b, made;
    tmi_order_make(t, &o);
    (void)mark;
    for (b = 1; b < blocks; b++)
        for (id = TMI_BLK(t, b)->first; id; id = next) {
            const tmi_ins *n = TMI_INS(t, id);
            tmi_ins  branch;
            uint32_t end, x, body;
            next = n->next;
            if (!tmi_mask_of(n) || (end = tmi_mask_run(t, &o, id)) == 0) continue;
            tmi_ins_zero(&branch, TMI_TF_IF, tmi_tty_of(TMI_S_NONE, 1));
            branch.a = tmi_mask_of(n);
            t->src = n->src;
            made = tmi_t_raw(t, &branch);
            tmi_ins_before(t, id, made);
            body = tmi_t_block(t, b, made);
            TMI_BLK(t, body)->is_if = 1;
            TMI_BLK(t, body)->open = 0;
            TMI_INS(t, made)->c = body;
            for (x = id;; x = next) {
                tmi_ins *m = TMI_INS(t, x);
                next = m->next;
                tmi_ins_unlink(t, x);
                tmi_blk_append(t, body, x);
                if (m->op == TMI_TF_LDG) m->b = m->c = 0;
                if (m->op == TMI_TF_STG) m->c = 0;
                if (x == end) break;
            }
        }
}

/* -- Values next to their first use -------------------------------------------------------------------- */

/* The statement of block `blk` that holds instruction `id`. */
static uint32_t tmi_holder_in(const tmi_thr *t, uint32_t id, uint32_t blk) {
    while (id && TMI_INS(t, id)->blk != blk) id = TMI_BLK(t, TMI_INS(t, id)->blk)->owner;
    return id;
}

static int tmi_moves_down(const tmi_ins *n) {
    return n->op != TMI_TF_LOOPVAR && ((tmi_tfs[n->op].traits & TMI_TR_PURE) || n->op == TMI_TF_DECL);
}

/* Note that statement or value `user` needs `id`: what holds it up is the earliest statement that stays
 * where it is. */
static void tmi_note_anchor(const tmi_thr *t, const tmi_order *o, uint32_t *anchor, uint32_t id, uint32_t user) {
    uint32_t s = tmi_holder_in(t, user, TMI_INS(t, id)->blk);
    if (s == user && tmi_moves_down(TMI_INS(t, s))) s = anchor[s];
    if (s && (!anchor[id] || o->pos[s] < o->pos[anchor[id]])) anchor[id] = s;
}

/* Pure values and declarations move down, within their block, to the first statement that needs them. */
static void tmi_sink(tmi_thr *t) {
    uint32_t *anchor = TMI_TEMP(t->job, uint32_t, t->ins.n), *head = TMI_TEMP(t->job, uint32_t, t->ins.n);
    uint32_t *decl = TMI_TEMP(t->job, uint32_t, t->arr.n), *order, n = 0, id, i, v[TMI_MAX_OPERANDS], a[3];
    tmi_order o;
    tmi_order_make(t, &o);
    order = TMI_TEMP(t->job, uint32_t, t->ins.n);
    for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
        order[n++] = id;
        if (TMI_INS(t, id)->op == TMI_TF_DECL) decl[TMI_INS(t, id)->a] = id;
    }
    for (i = n; i-- > 0;) { /* backward: readers know their place before what they read */
        const tmi_ins *x = TMI_INS(t, order[i]);
        uint32_t k;
        for (k = tmi_operands(t, x, v); k-- > 0;) tmi_note_anchor(t, &o, anchor, v[k], order[i]);
        if (x->op == TMI_TF_DECL) continue;
        for (k = tmi_arrays(x, a); k-- > 0;)
            if (decl[a[k]]) tmi_note_anchor(t, &o, anchor, decl[a[k]], order[i]);
    }
    while (n-- > 0) {
        uint32_t at = anchor[order[n]];
        if (!at || !tmi_moves_down(TMI_INS(t, order[n]))) continue;
        tmi_ins_unlink(t, order[n]);
        tmi_ins_before(t, head[at] ? head[at] : at, order[n]);
        head[at] = order[n]; /* what was made earlier stands earlier */
    }
}

/* -- Threadgroup memory ----------------------------------------------------------------------------------- */

static uint32_t tmi_arr_bytes(const tmi_arr *a) {
    return (a->count * a->type.width * tmi_scalar_bytes[a->type.kind] + 15u) & ~15u;
}

/* First and last access of each threadgroup array. One that is touched inside a loop and outside of it
 * lives through the whole loop. */
static void tmi_live_ranges(tmi_thr *t) {
    uint32_t id, n = 0, a[3], k, *loop_start = TMI_TEMP(t->job, uint32_t, t->ins.n), *loop_end = TMI_TEMP(t->job, uint32_t, t->ins.n);
    uint32_t *pos = TMI_TEMP(t->job, uint32_t, t->ins.n), i;
    for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
        uint32_t up;
        pos[id] = ++n;
        loop_start[id] = n;
        for (up = TMI_BLK(t, TMI_INS(t, id)->blk)->owner; up; up = TMI_BLK(t, TMI_INS(t, up)->blk)->owner) loop_end[up] = n;
    }
    for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
        const tmi_ins *x = TMI_INS(t, id);
        for (k = tmi_arrays(x, a); k-- > 0;) {
            tmi_arr *r = TMI_ARR(t, a[k]);
            if (r->space != TMI_AS_GROUP) continue;
            if (!r->first || pos[id] < r->first) r->first = pos[id];
            if (pos[id] > r->last) r->last = pos[id];
        }
    }
    for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
        const tmi_ins *x = TMI_INS(t, id);
        if (x->op != TMI_TF_LOOP && x->op != TMI_TF_WHILE && x->op != TMI_TF_FOR) continue;
        for (i = 1; i < t->arr.n; i++) {
            tmi_arr *r = TMI_ARR(t, i);
            if (r->space != TMI_AS_GROUP || !r->first || r->first > loop_end[id] || r->last < pos[id]) continue;
            if (r->first < pos[id] && r->last < loop_end[id]) r->last = loop_end[id];
        }
    }
}

/* Give each threadgroup array its place. Apart from each other while that is cheap; else arrays that are
 * never alive together share. Gives the bytes used. */
static uint32_t tmi_place_arrays(tmi_thr *t, uint32_t roomy) {
    uint32_t i, k, total = 0, most = 0;
    tmi_live_ranges(t);
    for (i = 1; i < t->arr.n; i++) {
        tmi_arr *a = TMI_ARR(t, i);
        if (a->space != TMI_AS_GROUP || !a->first) continue;
        a->at = total;
        total += tmi_arr_bytes(a);
    }
    if (total <= roomy) return total;
    for (i = 1; i < t->arr.n; i++) { /* first fit in order of creation: arrays are few */
        tmi_arr *a = TMI_ARR(t, i);
        int moved = 1;
        if (a->space != TMI_AS_GROUP || !a->first) continue;
        a->shown = 0;
        a->at = 0;
        while (moved)
            for (moved = 0, k = 1; k < i; k++) {
                const tmi_arr *b = TMI_ARR(t, k);
                if (b->space != TMI_AS_GROUP || !b->first || b->last < a->first || a->last < b->first) continue;
                if (a->at < b->at + tmi_arr_bytes(b) && b->at < a->at + tmi_arr_bytes(a)) a->at = b->at + tmi_arr_bytes(b), moved = 1;
            }
        if (a->at + tmi_arr_bytes(a) > most) most = a->at + tmi_arr_bytes(a);
    }
    return most;
}

/* -- Barriers --------------------------------------------------------------------------------------------- */

/* What has been done since the last barrier, one byte an array: 1 read, 2 written, 4 added to by atomic
 * operations, which may meet each other. */
typedef struct tmi_hazard {
    tmi_thr *t;
    uint8_t *now;
    uint32_t inserted;
} tmi_hazard;

static int tmi_arrays_meet(const tmi_arr *a, const tmi_arr *b) {
    return a->at < b->at + tmi_arr_bytes(b) && b->at < a->at + tmi_arr_bytes(a);
}

static void tmi_access_of(const tmi_thr *t, const tmi_ins *n, uint8_t *set) {
    uint32_t a[3], k = tmi_arrays(n, a), i;
    for (i = 0; i < k; i++) {
        if (TMI_ARR(t, a[i])->space != TMI_AS_GROUP) continue;
        set[a[i]] |= n->op == TMI_TF_ADDT ? 4 : n->op == TMI_TF_STT || (n->op == TMI_TF_FSTORE && i) ? 2 : 1;
    }
}

/* Everything that a statement and its bodies touch; *inner when barriers may be needed inside of it. */
static void tmi_access_all(const tmi_thr *t, uint32_t id, uint8_t *set, int *inner) {
    uint32_t x, end, b[2], n = tmi_bodies(TMI_INS(t, id), b), i, k;
    tmi_access_of(t, TMI_INS(t, id), set);
    if (TMI_INS(t, id)->op == TMI_TF_BARRIER) *inner = 1;
    for (i = 0; i < n; i++)
        for (x = TMI_BLK(t, b[i])->first; x; x = TMI_INS(t, x)->next) tmi_access_all(t, x, set, inner);
    (void)end;
    for (i = 1; i < t->arr.n && n; i++)
        for (k = 1; k < t->arr.n; k++)
            if (((set[i] & 2) && (set[k] & (i == k ? 5 : 7)) && tmi_arrays_meet(TMI_ARR(t, i), TMI_ARR(t, k))) ||
                ((set[i] & 4) && (set[k] & (i == k ? 3 : 7)) && tmi_arrays_meet(TMI_ARR(t, i), TMI_ARR(t, k))))
                *inner = 1;
}

/* The array whose earlier use stands against this access, and which way round; 0: none. */
static uint32_t tmi_conflict(const tmi_thr *t, const uint8_t *before, const uint8_t *set, int *after_read) {
    uint32_t i, k;
    for (i = 1; i < t->arr.n; i++) {
        if (!set[i]) continue;
        for (k = 1; k < t->arr.n; k++) {
            if (!before[k] || !tmi_arrays_meet(TMI_ARR(t, i), TMI_ARR(t, k))) continue;
            if ((set[i] & 1) && (before[k] & 6)) {
                *after_read = 0;
                return k;
            }
            if (((set[i] & 2) && ((before[k] & 5) || (i != k && (before[k] & 2)))) || ((set[i] & 4) && ((before[k] & 3) || (i != k && (before[k] & 4))))) {
                *after_read = 1;
                return k;
            }
        }
    }
    return 0;
}

static void tmi_insert_barrier(tmi_hazard *h, uint32_t before, uint32_t arr, int after_read) {
    tmi_thr *t = h->t;
    tmi_ins  n;
    tmi_ins_zero(&n, TMI_TF_BARRIER, tmi_tty_of(TMI_S_NONE, 1));
    n.a = TMI_BAR_GROUP;
    n.b = arr;
    n.c = (uint32_t)after_read;
    t->src = TMI_INS(t, before)->src;
    tmi_ins_before(t, before, tmi_t_raw(t, &n));
    h->inserted++;
}

static void tmi_barriers_in(tmi_hazard *h, uint32_t blk);

/* Bodies: both sides of a branch start from one state and end in the union; a loop runs twice, so that
 * what one iteration leaves meets the next. */
static void tmi_barriers_body(tmi_hazard *h, const tmi_ins *n) {
    tmi_thr *t = h->t;
    uint32_t b[2], k = tmi_bodies(n, b), i, r;
    uint8_t *start = TMI_TEMP(t->job, uint8_t, t->arr.n), *sum = TMI_TEMP(t->job, uint8_t, t->arr.n);
    memcpy(start, h->now, t->arr.n);
    if (n->op == TMI_TF_IF) {
        for (i = 0; i < k; i++) {
            memcpy(h->now, start, t->arr.n);
            tmi_barriers_in(h, b[i]);
            for (r = 0; r < t->arr.n; r++) sum[r] |= h->now[r];
        }
        if (k == 1)
            for (r = 0; r < t->arr.n; r++) sum[r] |= start[r];
        memcpy(h->now, sum, t->arr.n);
        return;
    }
    for (i = 0; i < 2; i++) {
        tmi_barriers_in(h, b[0]);
        for (r = 0; r < t->arr.n; r++) h->now[r] |= start[r]; /* it may not have run at all */
    }
}

static void tmi_barriers_in(tmi_hazard *h, uint32_t blk) {
    tmi_thr *t = h->t;
    uint32_t id, k;
    uint8_t *set = TMI_TEMP(t->job, uint8_t, t->arr.n);
    for (id = TMI_BLK(t, blk)->first; id; id = TMI_INS(t, id)->next) {
        tmi_ins *n = TMI_INS(t, id);
        int inner = 0, after_read = 0;
        if (n->op == TMI_TF_BARRIER) {
            for (k = 0; k < t->arr.n; k++)
                if (h->now[k]) n->a |= TMI_BAR_GROUP;
            memset(h->now, 0, t->arr.n);
            continue;
        }
        memset(set, 0, t->arr.n);
        tmi_access_all(t, id, set, &inner);
        if (inner) {
            tmi_barriers_body(h, n);
            continue;
        }
        k = tmi_conflict(t, h->now, set, &after_read);
        if (k) {
            tmi_insert_barrier(h, id, k, after_read);
            memset(h->now, 0, t->arr.n);
        }
        for (k = 0; k < t->arr.n; k++) h->now[k] |= set[k];
    }
}

static void tmi_barriers(tmi_thr *t) {
    tmi_hazard h;
    h.t = t;
    h.now = TMI_TEMP(t->job, uint8_t, t->arr.n);
    h.inserted = 0;
    tmi_barriers_in(&h, 1);
}

/* Two barriers with nothing between them that needs both are one. */
static void tmi_merge_barriers(tmi_thr *t) {
    uint32_t id, next;
    for (id = TMI_BLK(t, 1)->first; id; id = next) {
        tmi_ins *n = TMI_INS(t, id);
        next = tmi_thr_next(t, id);
        if (n->op != TMI_TF_BARRIER || !n->next) continue;
        if (TMI_INS(t, n->next)->op == TMI_TF_BARRIER) {
            TMI_INS(t, n->next)->a |= n->a;
            if (!TMI_INS(t, n->next)->name) TMI_INS(t, n->next)->name = n->name;
            tmi_ins_unlink(t, id);
        }
    }
}

/* Gives the threadgroup bytes that the kernel declares. */
static uint32_t tmi_clean(tmi_thr *t, uint32_t roomy) {
    uint32_t bytes;
    tmi_dead_code(t);
    if (!t->job->opt->plain) tmi_merge_masks(t);
    bytes = tmi_place_arrays(t, roomy);
    tmi_barriers(t);
    tmi_merge_barriers(t);
    if (!t->job->opt->plain) tmi_sink(t);
    return bytes;
}

/*==============================================================================
 * >>report  [20]  What was found, chosen and given up
 *
 * gives   tmi_report_layouts(): a row per tensor value in each layout it is held in; tmi_report_kernel():
 *         remarks on threads, products, reductions, memory accesses and exchanges
 * uses    >>plan  >>thread; nothing here changes anything
 * order   of the text
 *============================================================================*/

/* -- Layouts by name -------------------------------------------------------------------- */

static int tmi_lin_is_tiled(const tmi_module *m, uint32_t type, const tmi_lin *l) { /* see tmi_lin_matrix */
    uint32_t rank = tmi_rank(m, type), row;
    if (rank < 2 || !l->n_reg) return 0;
    row = tmi_dim_low(m, type, rank - 2);
    return l->reg[0] == 1u && l->lane[0] == 2u && l->lane[1] == 1u << row && l->lane[2] == 2u << row && l->lane[3] == 4u && l->lane[4] == 4u << row;
}

static uint32_t tmi_layout_bits(const tmi_plan *p, uint32_t type, const tmi_lin *l, uint32_t reduced) {
    const tmi_module *m = p->m;
    uint32_t i, d, rank = tmi_rank(m, type), bits = 0;
    for (i = 0; i < TMI_LANE_BITS && !l->lane[i]; i++) {}
    if (i == TMI_LANE_BITS) return TMETAL_DEFAULT; /* every lane holds the same */
    for (d = 0; d < rank && !(l->lane[i] & tmi_dim_mask(m, type, d)); d++) {}
    if (d == rank) return TMETAL_DEFAULT;
    bits |= d == rank - 1 ? (uint32_t)TMETAL_ROW_MAJOR : d == 0 ? (uint32_t)TMETAL_COLUMN_MAJOR : 0u;
    if (tmi_lin_is_tiled(m, type, l)) bits |= (uint32_t)TMETAL_TILED;
    if (reduced >> d & 1) bits |= (uint32_t)TMETAL_COALESCED;
    return bits;
}

/* -- Rows --------------------------------------------------------------------------------- */

typedef struct tmi_rows {
    const tmi_plan    *p;
    tmetal_layout_row *row; /* NULL while they are counted */
    uint32_t           n;
    const char       **map; /* texts by layout id and type id, made once each */
    const char       **type;
} tmi_rows;

/* What an access of this layout touches: for the row and for the remark. */
static void tmi_row_access(const tmi_plan *p, uint32_t op, const tmi_lin *l, tmetal_layout_row *r) {
    uint32_t vec = 0, fewest = 0, lines = tmi_access_lines(p, op, l, &vec, &fewest);
    if (!lines) return;
    r->width = 1u << vec;
    r->lines = lines;
    r->fewest = fewest;
}

static tmetal_layout_row *tmi_row_add(tmi_rows *x, uint32_t value, uint32_t type, const tmi_at *at) {
    tmi_job           *job = x->p->job;
    const char        *name = TMI_STR(x->p->m, TMI_VALUE(x->p->m, value)->name);
    tmetal_layout_row *r;
    if (!x->row) {
        x->n++;
        return NULL;
    }
    r = &x->row[x->n++];
    if (!x->type[type]) x->type[type] = tmi_format(job, 0, "%s", tmi_type_text(job, x->p->m, type));
    r->value = *name ? tmi_format(job, 0, "%%%s", name) : "(made on the way)";
    r->type = x->type[type];
    r->map = "";
    r->python = at->python;
    r->ir = tmi_place_of(job, at->src, NULL);
    return r;
}

static const char *tmi_row_map(tmi_rows *x, uint32_t lin) {
    if (!x->map[lin]) x->map[lin] = tmi_format(x->p->job, 0, "%s", tmi_lin_text(x->p->job, TMI_LIN(x->p, lin)));
    return x->map[lin];
}

static const char *tmi_row_reason(const tmi_plan *p, uint32_t value, const tmi_inst *in) {
    tmi_shuffle s;
    if (in->kind == TMI_I_CONVERT)
        return tmi_convert_by_shuffle(p, in, &s) ? "an op that reads it needs it so: moved by simd shuffles"
                                                 : "an op that reads it needs it so: moved through threadgroup memory";
    if (p->klass[value] == TMI_C_CLONE) return "cheap to compute: made anew in each layout that is asked for";
    if (in->kind == TMI_I_CLONE) return "an op that reads it needs it so: loaded again";
    if (tmi_def_kind(p->m, value) == TMI_OP_REDUCE) return "where the reduction leaves it";
    return TMI_COMP(p, tmi_comp_of(p, value))->reason;
}

static void tmi_rows_of_value(tmi_rows *x, uint32_t value, const tmi_at *at) {
    const tmi_plan *p = x->p;
    uint32_t type = tmi_value_type(p->m, value), i, def = tmi_def(p->m, value), reduced = 0;
    tmetal_layout_row *r;
    if (!tmi_is_tensor(p->m, type)) return;
    if (p->klass[value] == TMI_C_INLINE) {
        r = tmi_row_add(x, value, type, at);
        if (r) r->reason = tmi_is_view(tmi_def_kind(p->m, value)) ? "a renaming: each reader sees its operand" : "computed again where it is read, in the reader's layout";
        return;
    }
    if (p->klass[value] == TMI_C_NODE && p->comp_of[value]) reduced = TMI_COMP(p, tmi_comp_of(p, value))->reduced;
    for (i = p->first_inst[value]; i; i = TMI_INST(p, i - 1)->next) {
        const tmi_inst *in = TMI_INST(p, i - 1);
        r = tmi_row_add(x, value, type, at);
        if (!r) continue;
        r->layout = tmi_layout_bits(p, type, TMI_LIN(p, in->lin), in->kind == TMI_I_FIRST ? reduced : 0);
        r->map = tmi_row_map(x, in->lin);
        r->reason = tmi_row_reason(p, value, in);
        if (def && TMI_OP(p->m, def)->kind == TMI_OP_LOAD && in->kind != TMI_I_CONVERT) tmi_row_access(p, def, TMI_LIN(p, in->lin), r);
    }
}

/* A store has no value of its own: its row is named by the pointer. */
static void tmi_rows_of_store(tmi_rows *x, uint32_t id, const tmi_at *at) {
    const tmi_plan *p = x->p;
    const tmi_op   *op = TMI_OP(p->m, id);
    uint32_t        comp;
    tmetal_layout_row *r;
    if (op->kind != TMI_OP_STORE || !tmi_is_tensor(p->m, tmi_in_type(p->m, op, 0))) return;
    comp = tmi_comp_of(p, tmi_op_element(p, id));
    r = tmi_row_add(x, tmi_in(p->m, op, 0), tmi_in_type(p->m, op, 0), at);
    if (!r) return;
    r->layout = tmi_layout_bits(p, tmi_in_type(p->m, op, 0), tmi_comp_lin(p, comp), 0);
    r->map = tmi_row_map(x, TMI_COMP(p, comp)->lin - 1);
    r->reason = tmi_format(p->job, 0, "stored here: %s", TMI_COMP(p, comp)->reason);
    tmi_row_access(p, id, tmi_comp_lin(p, comp), r);
}

static void tmi_rows_walk(tmi_rows *x) {
    const tmi_plan   *p = x->p;
    const tmi_module *m = p->m;
    uint32_t op, i, r, b;
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_flow_next(m, p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        tmi_at        at = tmi_at_of(m, o);
        for (i = 0; i < o->n_out; i++) tmi_rows_of_value(x, tmi_out(m, o, i), &at);
        tmi_rows_of_store(x, op, &at);
        if (tmi_is_region_op(o->kind)) continue;
        for (r = o->region; r; r = TMI_REGION(m, r)->next)
            for (b = TMI_REGION(m, r)->first_block, i = 0; b && i < TMI_BLOCK(m, b)->n_arg; i++) tmi_rows_of_value(x, tmi_block_arg(m, b, i), &at);
    }
}

static void tmi_report_layouts(tmi_plan *p, tmetal_kernel *k) {
    tmi_rows x;
    memset(&x, 0, sizeof x);
    x.p = p;
    x.map = TMI_TEMP(p->job, const char *, p->lin.n);
    x.type = TMI_TEMP(p->job, const char *, p->m->type.n);
    tmi_rows_walk(&x);
    k->n_layouts = x.n;
    x.row = TMI_NEW(p->job, tmetal_layout_row, x.n);
    x.n = 0;
    tmi_rows_walk(&x);
    k->layouts = x.row;
}

/* -- Remarks -------------------------------------------------------------------------------- */

static const char *tmi_s(uint32_t n) { return n == 1 ? "" : "s"; }

static void tmi_report_threads(tmi_plan *p, uint32_t bytes) {
    tmi_at   at = tmi_at_of(p->m, TMI_OP(p->m, p->func));
    uint64_t most = 1;
    uint32_t i, groups = p->threads / 32;
    for (i = 0; i < p->comp.n; i++) {
        uint64_t n = tmi_numel(p->m, TMI_COMP(p, i)->type);
        if (n > most) most = n;
    }
    if (p->job->opt->threads) tmi_remark(p->job, at, TMETAL_APPLIED, "threads", "%u threads a threadgroup, as asked for", p->threads);
    else if (p->has_mma)
        tmi_remark(p->job, at, TMETAL_APPLIED, "threads", "%u threads a threadgroup: %u simdgroup%s share the tiles of the matrix products", p->threads, groups, tmi_s(groups));
    else if (most > (uint64_t)p->threads * 4)
        tmi_remark(p->job, at, TMETAL_APPLIED, "threads", "%u threads a threadgroup: the largest tile of %llu elements leaves %llu a thread", p->threads,
                   (unsigned long long)most, (unsigned long long)(most / p->threads));
    else tmi_remark(p->job, at, TMETAL_APPLIED, "threads", "%u threads a threadgroup: about four elements each of the largest tile, %llu elements", p->threads, (unsigned long long)most);
    if (bytes) tmi_remark(p->job, at, TMETAL_APPLIED, "memory", "%u bytes of threadgroup memory of the %u that %s has", bytes, p->gpu->tg_bytes, p->gpu->name);
}

static void tmi_report_dot(tmi_plan *p, uint32_t id) {
    const tmi_module *m = p->m;
    const tmi_op     *op = TMI_OP(m, id);
    uint32_t d = tmi_out_type(m, op, 0), a = tmi_in_type(m, op, 0), rank = tmi_rank(m, d);
    uint32_t rows = tmi_dim(m, d, rank - 2), cols = tmi_dim(m, d, rank - 1), k = tmi_dim(m, a, rank - 1);
    tmi_at   at = tmi_at_of(m, op);
    if (tmi_dot_is_mma(m, op)) {
        tmi_remark(p->job, at, TMETAL_APPLIED, "dot", "%u x %u x %u on simdgroup_matrix, 8 by 8 tiles; %s", rows, cols, k,
                   p->stage[0][id] ? "both operands pass through threadgroup memory" : "the first operand stays in registers, the second passes through threadgroup memory");
        return;
    }
    if (!tmi_is_mma_elem(m, a) || !tmi_is_mma_elem(m, tmi_in_type(m, op, 1)) || !tmi_is_mma_elem(m, d))
        tmi_remark(p->job, at, TMETAL_MISSED, "dot", "%u x %u x %u by scalar multiply-adds: simdgroup_matrix takes f16, bf16 and f32, not %s by %s into %s", rows, cols, k,
                   tmi_type_text(p->job, m, tmi_elem(m, a)), tmi_type_text(p->job, m, tmi_elem(m, tmi_in_type(m, op, 1))), tmi_type_text(p->job, m, tmi_elem(m, d)));
    else tmi_remark(p->job, at, TMETAL_MISSED, "dot", "%u x %u x %u by scalar multiply-adds: simdgroup_matrix needs 8 or more of each dimension", rows, cols, k);
}

static void tmi_report_reduce(tmi_plan *p, uint32_t id) {
    const tmi_module *m = p->m;
    const tmi_op     *op = TMI_OP(m, id);
    uint32_t type = tmi_in_type(m, op, 0), axis = (uint32_t)tmi_attr_int(m, op, "axis", 0), mask, i, reg = 0, lanes = 0, groups = 0;
    const tmi_lin *l;
    if (!tmi_is_root_op(p, op)) return;
    l = tmi_comp_lin(p, tmi_comp_of(p, tmi_op_element(p, id)));
    mask = tmi_dim_mask(m, type, axis);
    for (i = 0; i < l->n_reg; i++) reg += (l->reg[i] & mask) != 0;
    for (i = 0; i < TMI_LANE_BITS; i++) lanes += (l->lane[i] & mask) != 0;
    for (i = 0; i < l->n_sg; i++) groups += (l->sg[i] & mask) != 0;
    tmi_remark(p->job, tmi_at_of(m, op), TMETAL_FOUND, "reduce", "axis %u of %s%s: %u element%s in each thread, then %u lane%s, then %u simdgroup%s%s", axis, tmi_type_text(p->job, m, type),
               tmi_simple_combiner(m, op) ? "" : " by a region of its own", 1u << reg, tmi_s(1u << reg), 1u << lanes, tmi_s(1u << lanes), 1u << groups, tmi_s(1u << groups), groups ? " through threadgroup memory" : ", without a barrier");
}

/* Why a lane moves no more neighbours at once than it does. */
static const char *tmi_access_limit(const tmi_plan *p, const tmi_op *op, uint32_t d) {
    const tmi_module *m = p->m;
    uint32_t ptr = tmi_in(m, op, 0), mask = 0, es = tmi_pointee_bytes_log2(m, tmi_value_type(m, ptr)), want = es > 2 ? 4 - es : 2, have;
    tmi_axis a = tmi_axis_get(&p->axes, ptr, d);
    if (op->kind == TMI_OP_LOAD && op->n_in > 1) mask = tmi_in(m, op, 1);
    if (op->kind == TMI_OP_STORE && op->n_in > 2) mask = tmi_in(m, op, 2);
    if (p->job->opt->plain) return "the caller asked for no optimisation";
    if (tmi_dim(m, tmi_op_shape(m, op), d) < 1u << want) return "its rows are that short";
    if (a.c < want) return "its elements are not known to be neighbours in memory";
    have = a.v > es ? a.v - es : 0u;
    if (have < want) return tmi_format(p->job, 1, "its address is only known to be a multiple of %u bytes", 1u << (a.v < 12 ? a.v : 12));
    if (mask && tmi_axis_get(&p->axes, mask, d).k < want) return "its mask may change between neighbours";
    return "the layout gives a thread no more neighbours";
}

static void tmi_report_access(tmi_plan *p, uint32_t id) {
    const tmi_module *m = p->m;
    const tmi_op     *op = TMI_OP(m, id);
    const char       *what = op->kind == TMI_OP_LOAD ? "load" : "store";
    uint32_t order[TMI_MAX_RANK], vec = 0, fewest = 0, lines, es;
    tmi_at   at = tmi_at_of(m, op);
    if ((op->kind != TMI_OP_LOAD && op->kind != TMI_OP_STORE) || !tmi_is_tensor(m, tmi_in_type(m, op, 0)) || !tmi_rank(m, tmi_op_shape(m, op))) return;
    lines = tmi_access_lines(p, id, tmi_comp_lin(p, tmi_comp_of(p, tmi_op_element(p, id))), &vec, &fewest);
    if (!lines) return;
    if (!p->base[tmi_in(m, op, 0)]) tmi_remark(p->job, at, TMETAL_MISSED, "pointers", "the pointers of this %s come from no single parameter: 64-bit addresses", what);
    es = tmi_pointee_bytes_log2(m, tmi_in_type(m, op, 0));
    tmi_access_order(p, op, order);
    if (vec + es >= 4 || vec == 2)
        tmi_remark(p->job, at, TMETAL_APPLIED, "access", "%s of %u neighbours at once, %u bytes a lane; a simdgroup touches %u line%s of 128 bytes, %u the fewest", what, 1u << vec, 1u << (vec + es), lines, tmi_s(lines), fewest);
    else
        tmi_remark(p->job, at, lines > fewest ? TMETAL_MISSED : TMETAL_FOUND, "access", "%s of %u element%s at once: %s; a simdgroup touches %u line%s of 128 bytes, %u the fewest", what, 1u << vec,
                   tmi_s(1u << vec), tmi_access_limit(p, op, order[0]), lines, tmi_s(lines), fewest);
}

static void tmi_report_exchanges(tmi_plan *p) {
    tmi_shuffle s;
    uint32_t    i;
    for (i = 0; i < p->inst.n; i++) {
        const tmi_inst *in = TMI_INST(p, i);
        uint32_t type = tmi_value_type(p->m, in->value), def = tmi_def(p->m, in->value);
        tmi_at   at = tmi_at_of(p->m, TMI_OP(p->m, def ? def : p->func));
        if (in->kind != TMI_I_CONVERT) continue;
        if (tmi_convert_by_shuffle(p, in, &s))
            tmi_remark(p->job, at, TMETAL_APPLIED, "exchange", "%s changes its layout by simd shuffles, without a barrier", tmi_type_text(p->job, p->m, type));
        else if (in->buffer)
            tmi_remark(p->job, at, TMETAL_APPLIED, "exchange", "%s changes its layout through threadgroup memory", tmi_type_text(p->job, p->m, type));
    }
}

/* Everything that a reader of the kernel may ask: why so many threads, why these accesses, why a barrier. */
static void tmi_report_kernel(tmi_plan *p, uint32_t bytes) {
    const tmi_module *m = p->m;
    uint32_t op;
    tmi_report_threads(p, bytes);
    for (op = tmi_walk_next(m, p->func, p->func); op; op = tmi_flow_next(m, p->func, op)) {
        if (TMI_OP(m, op)->kind == TMI_OP_DOT) tmi_report_dot(p, op);
        if (TMI_OP(m, op)->kind == TMI_OP_REDUCE) tmi_report_reduce(p, op);
        tmi_report_access(p, op);
    }
    tmi_report_exchanges(p);
}

/*==============================================================================
 * >>emit  [19]  Metal text
 *
 * gives   tmi_emit_kernel(): the source text of one kernel and its launch plan
 * uses    >>thread  >>clean  >>plan
 *
 * Nothing is decided here but words: which name, which of int and uint, what fits on a line.
 *============================================================================*/

typedef enum tmi_sign { TMI_ANY, TMI_SIGNED, TMI_UNSIGNED } tmi_sign;

typedef struct tmi_emit {
    tmi_job    *job;
    tmi_module *m;
    tmi_plan   *p;
    tmi_thr    *t;
    tmi_text   *out;
    uint32_t   *uses;    /* per instruction */
    uint32_t   *named;   /* string id + 1 of its variable; 0: written where it is used */
    uint16_t   *len;     /* columns of its expression */
    uint8_t    *sign;    /* tmi_sign of its expression or variable */
    int8_t     *votes;   /* which sign its readers want: above 0 signed, below unsigned */
    uint32_t   *epoch;   /* writes before it, in its block */
    uint32_t   *user;    /* its reader, when it is the only one */
    uint8_t    *is_const; /* pointers: to const */
    uint32_t   *arr_name; /* per array */
    uint8_t    *arr_sign, *arr_const;
    uint8_t    *param_sign, *param_used, *param_written;
    uint32_t   *param_name;
    uint32_t    n_param;
    uint32_t    indent, line_src;   /* source line of the last comment */
    const char *line_file;
    uint32_t    loop_depth;
    tmi_strings taken;    /* names in use */
    tmi_vec     taken_at; /* uint32_t per taken name: next number to try */
    uint8_t    *fns;      /* per row of >>library: it is called */
    uint8_t     uses_lane, uses_group, uses_tid, uses_pid, uses_nprog, uses_matrix, uses_bf16;
    const char *loop_names[24];
} tmi_emit;

static void tmi_expr(tmi_emit *e, uint32_t id, tmi_sign want, int level);

/* Precedence levels of C, highest binding first. */
enum { TMI_L_PRIMARY = 16, TMI_L_POSTFIX = 15, TMI_L_UNARY = 14, TMI_L_MUL = 13, TMI_L_ADD = 12, TMI_L_SHIFT = 11, TMI_L_REL = 10, TMI_L_EQ = 9,
       TMI_L_AND = 8, TMI_L_XOR = 7, TMI_L_OR = 6, TMI_L_LAND = 5, TMI_L_LOR = 4, TMI_L_COND = 3, TMI_L_ARG = 1, TMI_L_ANY = 0 };
/* TMI_L_ARG: an argument of an overloaded function; literals must carry their whole type */

/* -- Types ------------------------------------------------------------------------------- */

static const char *tmi_msl_scalar(int kind, tmi_sign sign) {
    static const char *const plain[TMI_S_COUNT] = {"void", "bool", "char", "short", "int", "long", "half", "bfloat", "float", "void"};
    static const char *const uns[TMI_S_COUNT] = {"void", "bool", "uchar", "ushort", "uint", "ulong", "half", "bfloat", "float", "void"};
    return sign == TMI_UNSIGNED ? uns[kind] : plain[kind];
}

static void tmi_put_msl_type(tmi_emit *e, tmi_tty type, tmi_sign sign, int is_const) {
    if (type.kind == TMI_S_PTR) {
        tmi_put(e->out, "device %s%s *", is_const ? "const " : "", tmi_msl_scalar(type.elem, TMI_ANY));
        return;
    }
    tmi_put_str(e->out, tmi_msl_scalar(type.kind, sign));
    if (type.width > 1) tmi_put_u64(e->out, type.width);
}

/* -- Names --------------------------------------------------------------------------------- */

/* Words that a variable may not be called: C++ and Metal keywords, types, functions that we call, and
 * what Metal's headers define as macros. Sorted, for a binary search. */
static const char *const tmi_reserved[] = {
    "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "FP_ILOGB0", "FP_ILOGBNAN", "HUGE_VALF", "HUGE_VALH", "INFINITY", "INT_MAX", "INT_MIN", "LONG_MAX",
    "LONG_MIN", "MAXFLOAT", "MAXHALF", "M_PI_F", "NAN", "SCHAR_MAX", "SCHAR_MIN", "SHRT_MAX", "SHRT_MIN", "STATIC_DATA_TRACEPOINT",
    "STATIC_DATA_TRACEPOINT_V", "UCHAR_MAX", "UINT_MAX", "ULONG_MAX", "USHRT_MAX", "VARIABLE_TRACEPOINT", "abs", "absdiff", "acos", "acosh",
    "addsat", "alignas", "alignof", "all", "and", "and_eq", "any", "array", "as_type", "asin", "asinh", "asm", "assert", "atan", "atan2",
    "atanh", "atomic", "auto", "bfloat", "bias", "bitand", "bitor", "bool", "break", "case", "catch", "ceil", "char", "clamp", "class",
    "clz", "coherent", "compl", "complex", "compute", "const", "constant", "constexpr", "continue", "copysign", "cos", "cosh", "cospi",
    "cross", "ctz", "decltype", "default", "delete", "determinant", "device", "distance", "distance_squared", "divide", "do", "dot",
    "double", "dynamic_cast", "else", "enum", "exp", "exp10", "exp2", "explicit", "export", "extern", "extract_bits", "fabs", "faceforward",
    "false", "fast", "fdim", "float", "float16", "float8", "floor", "fma", "fmax", "fmax3", "fmedian3", "fmin", "fmin3", "fmod", "for",
    "fract", "fragment", "frexp", "friend", "goto", "gradient2d", "gradient3d", "gradientcube", "group", "hadd", "half", "if", "ilogb",
    "imaginary", "inline", "insert_bits", "int", "int16", "int8", "intersection", "isfinite", "isinf", "isnan", "isnormal", "isordered",
    "isunordered", "kernel", "lane", "ldexp", "length", "length_squared", "level", "llong", "log", "log10", "log2", "long", "mad24",
    "madhi", "madsat", "main", "make_filled_simdgroup_matrix", "matrix", "max", "max3", "median3", "mem_flags", "mesh", "metal", "min",
    "min3", "min_lod_clamp", "mix", "modf", "mul24", "mulhi", "mutable", "namespace", "new", "nextafter", "noexcept", "normalize", "not",
    "not_eq", "nullptr", "object", "object_data", "operator", "or", "or_eq", "packed_vec", "popcount", "pow", "powr", "precise", "private",
    "program", "programs", "protected", "ptrdiff_t", "public", "quad", "ray_data", "reflect", "refract", "register", "reinterpret_cast",
    "restrict", "return", "reverse_bits", "rhadd", "rint", "rotate", "round", "rsqrt", "sampler", "saturate", "select", "short", "sign",
    "signbit", "signed", "simd_active_threads_mask", "simd_all", "simd_and", "simd_any", "simd_ballot", "simd_broadcast",
    "simd_broadcast_first", "simd_is_first", "simd_max", "simd_min", "simd_or", "simd_prefix_exclusive_product",
    "simd_prefix_exclusive_sum", "simd_prefix_inclusive_product", "simd_prefix_inclusive_sum", "simd_product", "simd_shuffle",
    "simd_shuffle_and_fill_down", "simd_shuffle_and_fill_up", "simd_shuffle_down", "simd_shuffle_rotate_down", "simd_shuffle_rotate_up",
    "simd_shuffle_up", "simd_shuffle_xor", "simd_sum", "simd_xor", "simdgroup_barrier", "sin", "sincos", "sinh", "sinpi", "size_t",
    "sizeof", "smoothstep", "sqrt", "static", "static_cast", "step", "stitchable", "struct", "subsat", "switch", "tan", "tanh", "tanpi",
    "template", "this", "thread", "thread_local", "threadgroup", "threadgroup_barrier", "threadgroup_imageblock", "throw", "tid",
    "transpose", "true", "trunc", "try", "typedef", "typeid", "typename", "uchar", "uint", "uint16", "uint8", "ullong", "ulong", "union",
    "unsigned", "ushort", "using", "vec", "vertex", "virtual", "visible", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
};

static int tmi_is_reserved(const char *s) {
    uint32_t i, n = (uint32_t)strlen(s), digits = n;
    for (i = 0; i < sizeof tmi_reserved / sizeof *tmi_reserved; i++)
        if (strcmp(tmi_reserved[i], s) == 0) return 1;
    if (tmi_fn_named(s, n) != TMI_FN_COUNT) return 1;
    while (digits && tmi_is_digit(s[digits - 1])) digits--; /* float4, uint16, half8x8 and the like */
    if (digits < n || (n > 3 && s[n - 2] == '_' && s[n - 1] == 't')) {
        static const char *const stems[] = {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "bfloat", "float", "double", "size_t"};
        for (i = 0; i < sizeof stems / sizeof *stems; i++)
            if (strncmp(s, stems[i], digits) == 0 && strlen(stems[i]) <= n) return 1;
    }
    return strncmp(s, "METAL_", 6) == 0 || strncmp(s, "metal_", 6) == 0 || strncmp(s, "packed_", 7) == 0 || strncmp(s, "atomic_", 7) == 0 ||
           strncmp(s, "texture", 7) == 0 || strncmp(s, "FLT_", 4) == 0 || strncmp(s, "simdgroup_", 10) == 0;
}

/* A name of our own choosing as near to the wanted one as can be: identifiers only, no double
 * underscores, not reserved, not taken; "x_2", "x_3" in order where it is. */
static uint32_t tmi_unique_name(tmi_emit *e, const char *want) {
    char     buf[56];
    uint32_t n = 0, i, id, base_len, k;
    for (i = 0; want[i] && n < 40; i++) {
        char c = want[i];
        if (!tmi_is_letter(c) && !tmi_is_digit(c)) c = '_';
        if (c == '_' && n && buf[n - 1] == '_') continue;
        if (!n && tmi_is_digit(c)) buf[n++] = 'v';
        if (!n && c == '_') continue;
        buf[n++] = c;
    }
    while (n && buf[n - 1] == '_') n--;
    if (!n) buf[n++] = 't';
    buf[n] = '\0';
    if (tmi_is_reserved(buf)) buf[n++] = '_', buf[n] = '\0';
    base_len = n;
    id = tmi_intern(e->job, &e->taken, buf, n);
    while (e->taken_at.n <= id) (void)tmi_vec_add(e->job, &e->taken_at);
    k = *TMI_AT(&e->taken_at, uint32_t, id);
    if (!k) {
        *TMI_AT(&e->taken_at, uint32_t, id) = 2;
        return id;
    }
    for (;; k++) { /* the next free number of that name; the counter makes this one step as a rule */
        uint32_t v = k, d = 0, other;
        char     digits[12];
        do digits[d++] = (char)('0' + v % 10);
        while ((v /= 10) != 0);
        n = base_len;
        if (n && buf[n - 1] != '_') buf[n++] = '_';
        while (d) buf[n++] = digits[--d];
        buf[n] = '\0';
        other = tmi_intern(e->job, &e->taken, buf, n);
        while (e->taken_at.n <= other) (void)tmi_vec_add(e->job, &e->taken_at);
        if (*TMI_AT(&e->taken_at, uint32_t, other)) continue;
        *TMI_AT(&e->taken_at, uint32_t, other) = 2;
        *TMI_AT(&e->taken_at, uint32_t, id) = k + 1;
        return other;
    }
}

static const char *tmi_taken(const tmi_emit *e, uint32_t id) {
    return tmi_string_at(&e->taken, id);
}

static const char *tmi_hint(const tmi_emit *e, const tmi_ins *n) {
    if (n->name) return TMI_STR(e->m, n->name);
    switch (n->op) {
    case TMI_TF_ICMP: case TMI_TF_FCMP: return "is_set";
    case TMI_TF_PADD: case TMI_TF_PCAST: return "ptr";
    case TMI_TF_LDG: return "loaded";
    case TMI_TF_SHUF: case TMI_TF_SHUFX: return "other";
    default: return tmi_s_is_int(n->type.kind) && n->type.kind != TMI_S_BOOL ? "idx" : "t";
    }
}

/* -- Signs ------------------------------------------------------------------------------------ */

static int tmi_nonneg(const tmi_emit *e, uint32_t id) {
    return TMI_INS(e->t, id)->lo >= 0;
}

static tmi_sign tmi_sign_of(const tmi_emit *e, uint32_t id) {
    return (tmi_sign)e->sign[id];
}

static tmi_sign tmi_sign_both(const tmi_emit *e, uint32_t a, uint32_t b) {
    tmi_sign x = tmi_sign_of(e, a), y = tmi_sign_of(e, b);
    if (x == TMI_UNSIGNED || y == TMI_UNSIGNED) return TMI_UNSIGNED;
    return x == TMI_SIGNED || y == TMI_SIGNED ? TMI_SIGNED : TMI_ANY;
}

static int tmi_is_small(int kind) { return kind == TMI_S_I8 || kind == TMI_S_I16; }

static tmi_sign tmi_sig_sign(char c) {
    return strchr("cwumd", c) ? TMI_UNSIGNED : strchr("qsil", c) ? TMI_SIGNED : TMI_ANY;
}

/* The sign that an expression has by itself. */
static tmi_sign tmi_natural_sign(const tmi_emit *e, uint32_t id) {
    const tmi_ins *n = TMI_INS(e->t, id);
    if (!tmi_s_is_int(n->type.kind) || n->type.kind == TMI_S_BOOL) return TMI_ANY;
    switch (n->op) {
    case TMI_TF_CONST: return TMI_ANY;
    case TMI_TF_HELP: return tmi_sig_sign(*tmi_fn_sig(n->c));
    case TMI_TF_PARAM: return (tmi_sign)e->param_sign[n->a];
    case TMI_TF_TID: case TMI_TF_LANE: case TMI_TF_GROUP: case TMI_TF_PID: case TMI_TF_NPROG: return TMI_UNSIGNED;
    case TMI_TF_LOOPVAR: return TMI_INS(e->t, n->a)->op == TMI_TF_LOOP && TMI_INS(e->t, n->a)->e != 1 ? TMI_SIGNED : TMI_UNSIGNED;
    case TMI_TF_IADD: case TMI_TF_ISUB: case TMI_TF_IMUL:
        if (tmi_is_small(n->type.kind)) return TMI_SIGNED;
        return n->wraps ? TMI_UNSIGNED : tmi_sign_both(e, n->a, n->b);
    case TMI_TF_SHL: return n->wraps ? (tmi_is_small(n->type.kind) ? TMI_SIGNED : TMI_UNSIGNED) : tmi_sign_of(e, n->a);
    case TMI_TF_AND: case TMI_TF_OR: case TMI_TF_XOR: return tmi_is_small(n->type.kind) ? TMI_SIGNED : tmi_sign_both(e, n->a, n->b);
    case TMI_TF_UDIV: case TMI_TF_UREM: case TMI_TF_USHR: case TMI_TF_UMAX: case TMI_TF_UMIN: case TMI_TF_UMULHI: case TMI_TF_GUDIV: case TMI_TF_GUREM:
    case TMI_TF_ZEXT: case TMI_TF_F2U: case TMI_TF_P2I: case TMI_TF_BALLOT: return TMI_UNSIGNED;
    case TMI_TF_SELECT: return tmi_sign_both(e, n->b, n->c);
    case TMI_TF_LDA: case TMI_TF_LDT: return (tmi_sign)e->arr_sign[n->a];
    case TMI_TF_SHUF: case TMI_TF_SHUFX: case TMI_TF_SHUFUP: case TMI_TF_VGET: return tmi_sign_of(e, n->a);
    case TMI_TF_SIMD: return n->d ? TMI_UNSIGNED : n->c == TMI_SIMD_MAX || n->c == TMI_SIMD_MIN ? TMI_SIGNED : tmi_sign_of(e, n->a);
    case TMI_TF_CLZ: case TMI_TF_CTZ: case TMI_TF_POPC: return tmi_sign_of(e, n->a);
    case TMI_TF_VMAKE: {
        uint32_t i;
        for (i = 0; i < n->b; i++)
            if (tmi_sign_of(e, TMI_LST(e->t, n->a + i)) == TMI_UNSIGNED) return TMI_UNSIGNED;
        return TMI_SIGNED;
    }
    default: return TMI_SIGNED;
    }
}

/* Which sign an instruction asks of its operands; votes for how variables are declared. */
static void tmi_vote(tmi_emit *e, uint32_t id, int v) {
    int8_t *at = &e->votes[id];
    if (tmi_nonneg(e, id) && TMI_INS(e->t, id)->op != TMI_TF_PARAM) return;
    if (*at < 100 && *at > -100) *at = (int8_t)(*at + v);
}

static void tmi_vote_operands(tmi_emit *e, const tmi_ins *n) {
    switch (n->op) {
    case TMI_TF_SDIV: case TMI_TF_SREM: case TMI_TF_SMAX: case TMI_TF_SMIN: case TMI_TF_GSDIV: case TMI_TF_GSREM: case TMI_TF_SMULHI:
        tmi_vote(e, n->a, 1);
        tmi_vote(e, n->b, 1);
        break;
    case TMI_TF_SSHR: case TMI_TF_SEXT: case TMI_TF_S2F: tmi_vote(e, n->a, 1); break;
    case TMI_TF_PADD: tmi_vote(e, n->b, 1); break;
    case TMI_TF_ICMP: {
        int v = n->c >= 6 ? -1 : n->c >= 2 ? 1 : 0;
        tmi_vote(e, n->a, v);
        tmi_vote(e, n->b, v);
        break;
    }
    case TMI_TF_UDIV: case TMI_TF_UREM: case TMI_TF_UMAX: case TMI_TF_UMIN: case TMI_TF_UMULHI: case TMI_TF_GUDIV: case TMI_TF_GUREM:
        tmi_vote(e, n->a, -1);
        tmi_vote(e, n->b, -1);
        break;
    case TMI_TF_USHR: case TMI_TF_ZEXT: case TMI_TF_U2F: tmi_vote(e, n->a, -1); break;
    case TMI_TF_IADD: case TMI_TF_ISUB: case TMI_TF_IMUL:
        if (n->wraps && !tmi_is_small(n->type.kind)) tmi_vote(e, n->a, -1), tmi_vote(e, n->b, -1);
        break;
    case TMI_TF_LOOP: tmi_vote(e, n->a, 1), tmi_vote(e, n->b, 1); break;
    default: break;
    }
}

/* -- Literals ------------------------------------------------------------------------------------ */

static void tmi_put_float_literal(tmi_emit *e, int kind, uint64_t bits) {
    const tmi_float_format *f = &tmi_float_formats[kind == TMI_S_F16 ? TMI_F_F16 : kind == TMI_S_BF16 ? TMI_F_BF16 : TMI_F_F32];
    int      negative, exp;
    uint64_t mant;
    if (tmi_float_split(f, bits, &negative, &mant, &exp)) {
        if (kind == TMI_S_BF16) tmi_put_str(e->out, "bfloat(");
        tmi_put_float(e->out, f, bits);
        tmi_put_str(e->out, kind == TMI_S_F16 ? "h" : "f");
        if (kind == TMI_S_BF16) tmi_put_char(e->out, ')');
        return;
    }
    if ((bits & (((uint64_t)1 << f->man_bits) - 1)) == 0) {
        tmi_put(e->out, kind == TMI_S_F32 ? "%sINFINITY" : kind == TMI_S_F16 ? "%shalf(INFINITY)" : "%sbfloat(INFINITY)", negative ? "-" : "");
    } else if (kind == TMI_S_F32) {
        if (bits == 0x7FC00000u) tmi_put_str(e->out, "NAN");
        else tmi_put_str(e->out, "as_type<float>(0x"), tmi_put_hex(e->out, bits, 8), tmi_put_str(e->out, "u)");
    } else {
        tmi_put(e->out, "as_type<%s>(ushort(0x", kind == TMI_S_F16 ? "half" : "bfloat");
        tmi_put_hex(e->out, bits, 4);
        tmi_put_str(e->out, "))");
    }
}

static void tmi_put_int_literal(tmi_emit *e, int kind, int64_t v, tmi_sign want, int typed) {
    uint32_t bits = tmi_scalar_bits[kind];
    if (kind == TMI_S_BOOL) {
        tmi_put_str(e->out, v ? "true" : "false");
        return;
    }
    if (want == TMI_UNSIGNED && v < 0) {
        if (tmi_is_small(kind)) tmi_put(e->out, "%s(", tmi_msl_scalar(kind, want));
        tmi_put_str(e->out, "0x");
        tmi_put_hex(e->out, tmi_zext((uint64_t)v, bits), bits / 4);
        tmi_put_str(e->out, kind == TMI_S_I64 ? "ul" : "u");
        if (tmi_is_small(kind)) tmi_put_char(e->out, ')');
        return;
    }
    if (tmi_is_small(kind)) tmi_put(e->out, "%s(", tmi_msl_scalar(kind, want));
    if (bits == 32 && v == INT32_MIN) tmi_put_str(e->out, "(-2147483647 - 1)");
    else if (v == INT64_MIN) tmi_put_str(e->out, "(-9223372036854775807l - 1)");
    else {
        tmi_put_i64(e->out, v);
        if (kind == TMI_S_I64) tmi_put_str(e->out, want == TMI_UNSIGNED ? "ul" : "l");
        else if (want == TMI_UNSIGNED && (typed || v > INT32_MAX) && bits == 32) tmi_put_char(e->out, 'u');
    }
    if (tmi_is_small(kind)) tmi_put_char(e->out, ')');
}

static void tmi_put_const(tmi_emit *e, uint32_t id, tmi_sign want, int level) {
    const tmi_ins *n = TMI_INS(e->t, id);
    uint64_t bits = tmi_t_bits(e->t, id);
    if (tmi_s_is_float(n->type.kind)) {
        int minus = (int)(bits >> (tmi_scalar_bits[n->type.kind] - 1) & 1) && n->type.kind != TMI_S_BF16;
        if (minus && level > TMI_L_ADD) tmi_put_char(e->out, '(');
        tmi_put_float_literal(e, n->type.kind, bits);
        if (minus && level > TMI_L_ADD) tmi_put_char(e->out, ')');
        return;
    }
    if ((int64_t)bits < 0 && level > TMI_L_ADD && want != TMI_UNSIGNED && !tmi_is_small(n->type.kind)) {
        tmi_put_char(e->out, '(');
        tmi_put_int_literal(e, n->type.kind, (int64_t)bits, want, 0);
        tmi_put_char(e->out, ')');
        return;
    }
    tmi_put_int_literal(e, n->type.kind, (int64_t)bits, want, level == TMI_L_ARG);
}

/* -- Expressions -------------------------------------------------------------------------------------- */

static void tmi_open_level(tmi_emit *e, int level, int mine) {
    if (level > mine) tmi_put_char(e->out, '(');
}

static void tmi_close_level(tmi_emit *e, int level, int mine) {
    if (level > mine) tmi_put_char(e->out, ')');
}

/* type(x): also the cast that changes only the sign. */
static void tmi_put_cast(tmi_emit *e, tmi_tty type, tmi_sign sign, uint32_t x, tmi_sign want) {
    tmi_put_msl_type(e, type, sign, 0);
    tmi_put_char(e->out, '(');
    tmi_expr(e, x, want, TMI_L_ANY);
    tmi_put_char(e->out, ')');
}

/* A scalar operand of a call that wants vectors. */
static void tmi_expr_wide(tmi_emit *e, uint32_t id, tmi_sign want, uint32_t width, int level) {
    tmi_tty type = tmi_t_type(e->t, id);
    if (type.width == width || width == 1) {
        tmi_expr(e, id, want, level);
        return;
    }
    type.width = (uint8_t)width;
    tmi_put_cast(e, type, want == TMI_ANY ? tmi_sign_of(e, id) : want, id, want);
}

static int tmi_infix_level(int op, int is_bool) {
    switch (op) {
    case TMI_TF_IMUL: case TMI_TF_FMUL: case TMI_TF_SDIV: case TMI_TF_UDIV: case TMI_TF_SREM: case TMI_TF_UREM: case TMI_TF_FDIV: return TMI_L_MUL;
    case TMI_TF_IADD: case TMI_TF_ISUB: case TMI_TF_FADD: case TMI_TF_FSUB: return TMI_L_ADD;
    case TMI_TF_SHL: case TMI_TF_SSHR: case TMI_TF_USHR: return TMI_L_SHIFT;
    case TMI_TF_AND: return is_bool ? TMI_L_LAND : TMI_L_AND;
    case TMI_TF_XOR: return is_bool ? TMI_L_EQ : TMI_L_XOR;
    default: return is_bool ? TMI_L_LOR : TMI_L_OR;
    }
}

/* Compilers warn of & beside + and the like; people misread it: such operands get parentheses. */
static int tmi_operand_level(int mine, int right) {
    if (mine <= TMI_L_SHIFT && mine >= TMI_L_OR && mine != TMI_L_REL && mine != TMI_L_EQ) return TMI_L_MUL + 1 > 13 ? TMI_L_UNARY : mine;
    if (mine == TMI_L_LOR) return TMI_L_REL;
    if (mine == TMI_L_LAND) return TMI_L_EQ;
    return right ? mine + 1 : mine;
}

/* Sign in which an operation on two integers is carried out. */
static tmi_sign tmi_work_sign(const tmi_emit *e, const tmi_ins *n) {
    switch (n->op) {
    case TMI_TF_SDIV: case TMI_TF_SREM: case TMI_TF_SSHR: return TMI_SIGNED;
    case TMI_TF_UDIV: case TMI_TF_UREM: case TMI_TF_USHR: return TMI_UNSIGNED;
    default: break;
    }
    if (tmi_is_small(n->type.kind)) return TMI_SIGNED;
    if ((n->op == TMI_TF_IADD || n->op == TMI_TF_ISUB || n->op == TMI_TF_IMUL || n->op == TMI_TF_SHL) && n->wraps) return TMI_UNSIGNED;
    return n->op == TMI_TF_SHL ? tmi_sign_of(e, n->a) : tmi_sign_both(e, n->a, n->b);
}

static void tmi_expr_infix(tmi_emit *e, const tmi_ins *n, int level) {
    int      is_bool = n->type.kind == TMI_S_BOOL, mine = tmi_infix_level(n->op, is_bool && n->type.width == 1), small = tmi_is_small(n->type.kind);
    int      is_int = tmi_s_is_int(n->type.kind) && !is_bool, shift = mine == TMI_L_SHIFT;
    tmi_sign work = is_int ? tmi_work_sign(e, n) : TMI_ANY, left = work, right = work;
    const char *text = tmi_tfs[n->op].text;
    int64_t  c;
    if (is_bool && n->type.width == 1) text = n->op == TMI_TF_AND ? "&&" : n->op == TMI_TF_OR ? "||" : "!=";
    if (small) {
        tmi_put_msl_type(e, n->type, work == TMI_UNSIGNED ? TMI_UNSIGNED : TMI_SIGNED, 0);
        tmi_put_char(e->out, '(');
        level = TMI_L_ANY;
    }
    tmi_open_level(e, level, mine);
    if (is_int && work == TMI_UNSIGNED && !shift && n->type.width == 1 && !small) {
        /* one unsigned operand makes the whole unsigned; what is not negative need not be cast at all */
        tmi_sign sa = tmi_sign_of(e, n->a), sb = tmi_sign_of(e, n->b);
        int free_a = sa == TMI_UNSIGNED || sa == TMI_ANY || tmi_nonneg(e, n->a), free_b = sb == TMI_UNSIGNED || sb == TMI_ANY || tmi_nonneg(e, n->b);
        int wrapping = n->op == TMI_TF_IADD || n->op == TMI_TF_ISUB || n->op == TMI_TF_IMUL || mine <= TMI_L_AND;
        if (sa == TMI_UNSIGNED && (free_b || wrapping)) right = TMI_ANY;
        else if (sb == TMI_UNSIGNED && (free_a || wrapping)) left = TMI_ANY;
    }
    if (shift) right = TMI_ANY;
    if (n->op == TMI_TF_SHL && small) { /* bits shifted out of a promoted int must not overflow it */
        tmi_tty wide = tmi_tty_of(TMI_S_I32, n->type.width);
        tmi_put_cast(e, wide, TMI_UNSIGNED, n->a, TMI_SIGNED);
    } else if (n->op == TMI_TF_USHR && small) {
        tmi_put_cast(e, n->type, TMI_UNSIGNED, n->a, TMI_ANY);
    } else {
        tmi_expr_wide(e, n->a, left, is_bool || (is_int && n->type.width > 1) ? n->type.width : 1, tmi_operand_level(mine, 0));
    }
    /* x + -3 reads x - 3 */
    if (n->op == TMI_TF_IADD && tmi_t_is_const(e->t, n->b, &c) && c < 0 && c > -1000000 && n->type.width == 1 && right != TMI_UNSIGNED) {
        tmi_put(e->out, " - %lld", (long long)-c);
        if (n->type.kind == TMI_S_I64) tmi_put_char(e->out, 'l');
    } else {
        tmi_put(e->out, " %s ", text);
        tmi_expr_wide(e, n->b, right, is_bool || (is_int && n->type.width > 1) ? n->type.width : 1, tmi_operand_level(mine, 1));
    }
    tmi_close_level(e, level, mine);
    if (small) tmi_put_char(e->out, ')');
}

static const char *const tmi_icmp_text[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};

static void tmi_expr_icmp(tmi_emit *e, const tmi_ins *n, int level) {
    int      mine = n->c < 2 ? TMI_L_EQ : TMI_L_REL;
    tmi_sign want = n->c >= 6 ? TMI_UNSIGNED : TMI_SIGNED, sa = tmi_sign_of(e, n->a), sb = tmi_sign_of(e, n->b), wa = want, wb = want;
    uint32_t width = n->type.width;
    if (tmi_nonneg(e, n->a) && tmi_nonneg(e, n->b)) wa = wb = TMI_ANY; /* both readings agree */
    if (n->c < 2) wa = wb = TMI_ANY;
    if (wa == TMI_ANY && sa != sb && sa != TMI_ANY && sb != TMI_ANY) { /* mixed: one of them is turned */
        if (tmi_nonneg(e, n->a) && tmi_nonneg(e, n->b)) wa = wb = TMI_UNSIGNED;
        else wa = wb = TMI_SIGNED;
    }
    if (width > 1 && wa == TMI_ANY) wa = wb = sa == TMI_UNSIGNED || sb == TMI_UNSIGNED ? TMI_UNSIGNED : TMI_SIGNED; /* vectors do not mix */
    tmi_open_level(e, level, mine);
    tmi_expr_wide(e, n->a, wa, width, mine + 1);
    tmi_put(e->out, " %s ", tmi_icmp_text[n->c]);
    tmi_expr_wide(e, n->b, wb, width, mine + 1);
    tmi_close_level(e, level, mine);
}

/* Ordered comparisons are C's; unordered ones are their negations. */
static void tmi_expr_fcmp(tmi_emit *e, const tmi_ins *n, int level) {
    static const char *const text[16] = {"", "==", ">", ">=", "<", "<=", "", "", "", "<=", "<", ">=", ">", "!=", "", ""};
    uint32_t width = n->type.width, p = n->c;
    if (p == 14 && n->a == n->b) { /* not ordered with itself: not a number */
        tmi_put_str(e->out, "isnan(");
        tmi_expr(e, n->a, TMI_ANY, TMI_L_ANY);
        tmi_put_char(e->out, ')');
        return;
    }
    if (p == 7 || p == 14) {
        tmi_put_str(e->out, p == 7 ? "isordered(" : "isunordered(");
        tmi_expr_wide(e, n->a, TMI_ANY, width, TMI_L_ANY);
        tmi_put_str(e->out, ", ");
        tmi_expr_wide(e, n->b, TMI_ANY, width, TMI_L_ANY);
        tmi_put_char(e->out, ')');
        return;
    }
    if (p == 6 || p == 8) { /* one: less or greater; ueq: not that */
        tmi_put_str(e->out, p == 8 ? "!(" : "(");
        tmi_expr_wide(e, n->a, TMI_ANY, width, TMI_L_REL + 1);
        tmi_put_str(e->out, " < ");
        tmi_expr_wide(e, n->b, TMI_ANY, width, TMI_L_REL + 1);
        tmi_put_str(e->out, width > 1 ? " | " : " || ");
        tmi_expr_wide(e, n->a, TMI_ANY, width, TMI_L_REL + 1);
        tmi_put_str(e->out, " > ");
        tmi_expr_wide(e, n->b, TMI_ANY, width, TMI_L_REL + 1);
        tmi_put_char(e->out, ')');
        return;
    }
    {
        int negate = p >= 9 && p != 13, mine = p == 1 || p == 13 ? TMI_L_EQ : TMI_L_REL;
        if (negate) tmi_put_str(e->out, "!(");
        else tmi_open_level(e, level, mine);
        tmi_expr_wide(e, n->a, TMI_ANY, width, mine + 1);
        tmi_put(e->out, " %s ", text[p]);
        tmi_expr_wide(e, n->b, TMI_ANY, width, mine + 1);
        if (negate) tmi_put_char(e->out, ')');
        else tmi_close_level(e, level, mine);
    }
}

static void tmi_expr_select(tmi_emit *e, const tmi_ins *n, tmi_sign work, int level) {
    uint32_t width = n->type.width;
    if (tmi_t_type(e->t, n->a).width > 1) {
        tmi_put_str(e->out, "select(");
        tmi_expr_wide(e, n->c, work, width, TMI_L_ANY);
        tmi_put_str(e->out, ", ");
        tmi_expr_wide(e, n->b, work, width, TMI_L_ANY);
        tmi_put_str(e->out, ", ");
        tmi_expr(e, n->a, TMI_ANY, TMI_L_ANY);
        tmi_put_char(e->out, ')');
        return;
    }
    tmi_open_level(e, level, TMI_L_COND);
    tmi_expr(e, n->a, TMI_ANY, TMI_L_LOR);
    tmi_put_str(e->out, " ? ");
    tmi_expr_wide(e, n->b, work, width, TMI_L_LOR);
    tmi_put_str(e->out, " : ");
    tmi_expr_wide(e, n->c, work, width, TMI_L_COND);
    tmi_close_level(e, level, TMI_L_COND);
}

/* Functions that are better named with their precision: the host's default is not ours to know. */
static const char *tmi_call_prefix(const tmi_ins *n) {
    if (n->type.kind != TMI_S_F32) return "";
    switch (n->op) {
    case TMI_TF_EXP: case TMI_TF_EXP2: return "fast::"; /* 2^x in hardware, as Triton's own */
    case TMI_TF_SQRT: case TMI_TF_RSQRT: case TMI_TF_EXP10: case TMI_TF_LOG: case TMI_TF_LOG2: case TMI_TF_LOG10: case TMI_TF_SIN: case TMI_TF_COS:
    case TMI_TF_TAN: case TMI_TF_ASIN: case TMI_TF_ACOS: case TMI_TF_ATAN: case TMI_TF_SINH: case TMI_TF_COSH: case TMI_TF_TANH:
    case TMI_TF_ASINH: case TMI_TF_ACOSH: case TMI_TF_ATANH: case TMI_TF_POW: case TMI_TF_ATAN2: case TMI_TF_FREM: return "precise::";
    default: return "";
    }
}

static void tmi_expr_call(tmi_emit *e, const tmi_ins *n) {
    uint32_t v[TMI_MAX_OPERANDS], k = tmi_operands(e->t, n, v), i;
    tmi_sign work = TMI_ANY;
    const char *name = tmi_tfs[n->op].text;
    if (tmi_s_is_int(n->type.kind) && n->type.kind != TMI_S_BOOL) {
        work = n->op == TMI_TF_SMAX || n->op == TMI_TF_SMIN || n->op == TMI_TF_SMULHI ? TMI_SIGNED
               : n->op == TMI_TF_UMAX || n->op == TMI_TF_UMIN || n->op == TMI_TF_UMULHI || n->op == TMI_TF_CLZ || n->op == TMI_TF_CTZ || n->op == TMI_TF_POPC
                   ? TMI_UNSIGNED
                   : TMI_SIGNED;
    }
    if (n->op == TMI_TF_FMAXN) name = "fmax";
    if (n->op == TMI_TF_FMINN) name = "fmin";
    if (n->op == TMI_TF_FABS) name = "fabs";
    if (n->op == TMI_TF_CLZ || n->op == TMI_TF_CTZ || n->op == TMI_TF_POPC) { /* give back what they are given */
        tmi_put(e->out, "%s(", tmi_msl_scalar(n->type.kind, tmi_natural_sign(e, (uint32_t)0) == TMI_ANY ? TMI_SIGNED : TMI_SIGNED));
        tmi_put(e->out, "%s(", name);
        tmi_expr(e, v[0], TMI_UNSIGNED, TMI_L_ANY);
        tmi_put_str(e->out, "))");
        return;
    }
    tmi_put(e->out, "%s%s(", tmi_call_prefix(n), name);
    for (i = 0; i < k; i++) {
        if (i) tmi_put_str(e->out, ", ");
        tmi_expr_wide(e, v[i], work, n->type.width, TMI_L_ARG);
    }
    tmi_put_char(e->out, ')');
}

/* -- Helpers: functions printed above the kernel ------------------------------------------------------------ */

/* Operations that are calls of ours; TMI_TF_HELP names its function itself. */
static uint32_t tmi_callee(const tmi_ins *n) {
    int kind = n->type.kind, wide = kind == TMI_S_I64;
    switch (n->op) {
    case TMI_TF_GSDIV: return wide ? TMI_FN_DIV_I64 : TMI_FN_DIV_I32;
    case TMI_TF_GUDIV: return wide ? TMI_FN_DIV_U64 : TMI_FN_DIV_U32;
    case TMI_TF_GSREM: return wide ? TMI_FN_REM_I64 : TMI_FN_REM_I32;
    case TMI_TF_GUREM: return wide ? TMI_FN_REM_U64 : TMI_FN_REM_U32;
    case TMI_TF_FMAX: return kind == TMI_S_F16 ? TMI_FN_MAX_NAN_F16 : TMI_FN_MAX_NAN_F32;
    case TMI_TF_FMIN: return kind == TMI_S_F16 ? TMI_FN_MIN_NAN_F16 : TMI_FN_MIN_NAN_F32;
    case TMI_TF_F2S: return wide ? TMI_FN_TO_I64 : kind == TMI_S_I16 ? TMI_FN_TO_I16 : TMI_FN_TO_I32;
    case TMI_TF_F2U: return wide ? TMI_FN_TO_U64 : kind == TMI_S_I16 ? TMI_FN_TO_U16 : TMI_FN_TO_U32;
    case TMI_TF_FTOF_RTZ: return kind == TMI_S_F16 ? TMI_FN_RTZ_F16 : TMI_FN_RTZ_BF16;
    case TMI_TF_ERF: return TMI_FN_ERF;
    case TMI_TF_ERFC: return TMI_FN_ERFC;
    case TMI_TF_EXPM1: return TMI_FN_EXPM1;
    case TMI_TF_LOG1P: return TMI_FN_LOG1P;
    case TMI_TF_CBRT: return TMI_FN_CBRT;
    case TMI_TF_HELP: return n->c;
    default: return TMI_NONE;
    }
}

/* Note that a function is called, and all that it needs. */
static const char *tmi_use_fn(tmi_emit *e, uint32_t fn) {
    const char *s, *end;
    if (fn >= TMI_FN_COUNT) { /* an external name: one of Metal's functions, or a row */
        s = tmi_externs[fn - TMI_FN_COUNT].callee;
        fn = tmi_fn_named(s, strlen(s));
        if (fn == TMI_FN_COUNT) return s;
    }
    if (e->fns[fn]) return tmi_fns[fn].name;
    e->fns[fn] = 1;
    for (s = tmi_fns[fn].needs; *s; s = *end ? end + 1 : end) {
        for (end = s; *end && *end != ' '; end++) {}
        (void)tmi_use_fn(e, tmi_fn_named(s, (size_t)(end - s)));
    }
    return tmi_fns[fn].name;
}

static void tmi_expr_helper(tmi_emit *e, const tmi_ins *n) {
    uint32_t    v[TMI_MAX_OPERANDS], k = tmi_operands(e->t, n, v), i, fn = tmi_callee(n);
    const char *sig = tmi_fn_sig(fn);
    int         small = tmi_is_small(n->type.kind) && n->op >= TMI_TF_GSDIV && n->op <= TMI_TF_GUREM;
    if (small) tmi_put(e->out, "%s(", tmi_msl_scalar(n->type.kind, tmi_sig_sign(*sig)));
    tmi_put(e->out, "%s(", tmi_use_fn(e, fn));
    for (i = 0; i < k; i++) {
        if (i) tmi_put_str(e->out, ", ");
        if (small) tmi_put(e->out, "%s(", tmi_msl_scalar(TMI_S_I32, tmi_sig_sign(*sig))); /* or the overload is open */
        tmi_expr(e, v[i], tmi_sig_sign(sig[2 + i]), TMI_L_ARG);
        if (small) tmi_put_char(e->out, ')');
    }
    tmi_put_char(e->out, ')');
    if (small) tmi_put_char(e->out, ')');
}

/* -- Memory and lanes ------------------------------------------------------------------------ */

static int tmi_ptr_is_const(const tmi_emit *e, uint32_t id) {
    return e->is_const[id];
}

/* base[index], or *(vector type *)(base + index) */
static void tmi_put_access(tmi_emit *e, uint32_t ptr, uint32_t width, int is_volatile) {
    const tmi_ins *p = TMI_INS(e->t, ptr);
    if (width > 1) {
        tmi_put(e->out, "*(%sdevice %s%s%u *)(", is_volatile ? "volatile " : "", tmi_ptr_is_const(e, ptr) ? "const " : "",
                tmi_msl_scalar(p->type.elem, TMI_ANY), width);
        tmi_expr(e, ptr, TMI_ANY, TMI_L_ANY);
        tmi_put_char(e->out, ')');
        return;
    }
    if (is_volatile) {
        tmi_put(e->out, "*(volatile device %s%s *)(", tmi_ptr_is_const(e, ptr) ? "const " : "", tmi_msl_scalar(p->type.elem, TMI_ANY));
        tmi_expr(e, ptr, TMI_ANY, TMI_L_ANY);
        tmi_put_char(e->out, ')');
        return;
    }
    if (!e->named[ptr] && p->op == TMI_TF_PADD) {
        tmi_expr(e, p->a, TMI_ANY, TMI_L_POSTFIX);
        tmi_put_char(e->out, '[');
        tmi_expr(e, p->b, tmi_nonneg(e, p->b) ? TMI_ANY : TMI_SIGNED, TMI_L_ANY);
        tmi_put_char(e->out, ']');
        return;
    }
    tmi_put_char(e->out, '*');
    tmi_expr(e, ptr, TMI_ANY, TMI_L_UNARY);
}

static void tmi_expr_ldg(tmi_emit *e, const tmi_ins *n, int level) {
    int vol = (n->d & TMI_INS_VOLATILE) != 0;
    if (!n->b) {
        if (level > TMI_L_UNARY) tmi_put_char(e->out, '(');
        tmi_put_access(e, n->a, n->type.width, vol);
        if (level > TMI_L_UNARY) tmi_put_char(e->out, ')');
        return;
    }
    tmi_open_level(e, level, TMI_L_COND);
    tmi_expr(e, n->b, TMI_ANY, TMI_L_LOR);
    tmi_put_str(e->out, " ? ");
    tmi_put_access(e, n->a, n->type.width, vol);
    tmi_put_str(e->out, " : ");
    tmi_expr_wide(e, n->c, TMI_SIGNED, n->type.width, TMI_L_COND);
    tmi_close_level(e, level, TMI_L_COND);
}

/* An array entry: x, x[i], x[i][c], or a matrix's own element of a lane. */
static void tmi_put_entry(tmi_emit *e, uint32_t arr, uint32_t index, uint32_t element) {
    const tmi_arr *a = TMI_ARR(e->t, arr);
    tmi_put_str(e->out, tmi_taken(e, e->arr_name[arr]));
    if (a->count > 1 || a->space == TMI_AS_GROUP || a->space == TMI_AS_TABLE) {
        tmi_put_char(e->out, '[');
        tmi_expr(e, index, TMI_ANY, TMI_L_ANY);
        tmi_put_char(e->out, ']');
    }
    if (a->space == TMI_AS_FRAG) tmi_put_str(e->out, ".thread_elements()");
    if (element) {
        tmi_put_char(e->out, '[');
        tmi_expr(e, element, TMI_ANY, TMI_L_ANY);
        tmi_put_char(e->out, ']');
    }
}

static void tmi_expr_lda(tmi_emit *e, const tmi_ins *n, int level) {
    if (TMI_ARR(e->t, n->a)->is_atomic) {
        tmi_put_str(e->out, "atomic_load_explicit(&");
        tmi_put_entry(e, n->a, n->b, n->c);
        tmi_put_str(e->out, ", memory_order_relaxed)");
        return;
    }
    if (!n->e) {
        tmi_put_entry(e, n->a, n->b, n->c);
        return;
    }
    tmi_open_level(e, level, TMI_L_COND);
    tmi_expr(e, n->e, TMI_ANY, TMI_L_LOR);
    tmi_put_str(e->out, " ? ");
    tmi_put_entry(e, n->a, n->b, n->c);
    tmi_put_str(e->out, " : ");
    tmi_expr(e, n->f, (tmi_sign)e->arr_sign[n->a], TMI_L_COND);
    tmi_close_level(e, level, TMI_L_COND);
}

static void tmi_expr_shuffle(tmi_emit *e, const tmi_ins *n) {
    int kind = n->type.kind, is_xor = n->op == TMI_TF_SHUFX;
    const char *name = tmi_tfs[n->op].text;
    if (kind == TMI_S_BOOL) name = tmi_use_fn(e, is_xor ? TMI_FN_SHUFX_B : TMI_FN_SHUF_B);
    if (kind == TMI_S_I64) name = tmi_use_fn(e, is_xor ? TMI_FN_SHUFX_L : TMI_FN_SHUF_L);
    if (kind == TMI_S_BF16) name = tmi_use_fn(e, is_xor ? TMI_FN_SHUFX_BF : TMI_FN_SHUF_BF);
    tmi_put(e->out, "%s(", name);
    tmi_expr(e, n->a, kind == TMI_S_I64 ? TMI_SIGNED : TMI_ANY, TMI_L_ANY);
    tmi_put_str(e->out, ", ");
    tmi_expr(e, n->b, TMI_ANY, TMI_L_ANY);
    tmi_put_char(e->out, ')');
}

static void tmi_expr_simd(tmi_emit *e, const tmi_ins *n) {
    static const char *const text[] = {"", "simd_sum", "simd_product", "simd_max", "simd_min", "simd_and", "simd_or", "simd_xor", "simd_all", "simd_any",
                                       "simd_prefix_inclusive_sum", "simd_prefix_inclusive_product"};
    tmi_put(e->out, "%s(", text[n->c]);
    tmi_expr(e, n->a, n->d ? TMI_UNSIGNED : n->c == TMI_SIMD_MAX || n->c == TMI_SIMD_MIN ? TMI_SIGNED : TMI_ANY, TMI_L_ANY);
    tmi_put_char(e->out, ')');
}

/* -- Casts and vectors ---------------------------------------------------------------------------- */

static void tmi_expr_cast(tmi_emit *e, uint32_t id, const tmi_ins *n) {
    tmi_sign want = TMI_ANY, mine = tmi_natural_sign(e, id);
    if (n->op == TMI_TF_SEXT || n->op == TMI_TF_S2F) want = tmi_nonneg(e, n->a) ? TMI_ANY : TMI_SIGNED;
    if (n->op == TMI_TF_ZEXT || n->op == TMI_TF_U2F) want = tmi_nonneg(e, n->a) ? TMI_ANY : TMI_UNSIGNED;
    if (tmi_t_type(e->t, n->a).kind == TMI_S_BOOL) want = TMI_ANY;
    tmi_put_cast(e, n->type, mine, n->a, want);
}

static void tmi_expr_bitcast(tmi_emit *e, const tmi_ins *n) {
    tmi_tty from = tmi_t_type(e->t, n->a);
    tmi_put_str(e->out, "as_type<");
    tmi_put_msl_type(e, n->type, TMI_SIGNED, 0);
    tmi_put_str(e->out, ">(");
    if (tmi_s_is_int(from.kind)) tmi_expr(e, n->a, TMI_SIGNED, TMI_L_ANY);
    else tmi_expr(e, n->a, TMI_ANY, TMI_L_ANY);
    tmi_put_char(e->out, ')');
}

static void tmi_expr_vmake(tmi_emit *e, uint32_t id, const tmi_ins *n) {
    uint32_t i;
    tmi_sign sign = tmi_natural_sign(e, id);
    int64_t  c, base;
    /* x + (0, 1, 2, 3) reads better than four sums */
    if (tmi_s_is_int(n->type.kind) && n->type.kind != TMI_S_BOOL) {
        uint32_t first = TMI_LST(e->t, n->a), same = 1, consts = 1, is_sum;
        for (i = 0; i < n->b; i++) consts &= (uint32_t)tmi_t_is_const(e->t, TMI_LST(e->t, n->a + i), &c);
        for (i = 1; i < n->b && !consts; i++) {
            const tmi_ins *x = TMI_INS(e->t, TMI_LST(e->t, n->a + i));
            is_sum = x->op == TMI_TF_IADD && x->a == first && tmi_t_is_const(e->t, x->b, &base) && !e->named[TMI_LST(e->t, n->a + i)];
            same &= is_sum;
        }
        if (same && !consts && n->b > 1) {
            tmi_put_cast(e, n->type, sign, first, sign == TMI_ANY ? TMI_SIGNED : sign);
            tmi_put_str(e->out, " + ");
            tmi_put_msl_type(e, n->type, sign, 0);
            tmi_put_str(e->out, "(0");
            for (i = 1; i < n->b; i++) {
                (void)tmi_t_is_const(e->t, TMI_INS(e->t, TMI_LST(e->t, n->a + i))->b, &base);
                tmi_put(e->out, ", %lld", (long long)base);
            }
            tmi_put_char(e->out, ')');
            return;
        }
    }
    tmi_put_msl_type(e, n->type, sign, 0);
    tmi_put_char(e->out, '(');
    for (i = 0; i < n->b; i++) {
        if (i) tmi_put_str(e->out, ", ");
        tmi_expr(e, TMI_LST(e->t, n->a + i), sign, TMI_L_COND);
    }
    tmi_put_char(e->out, ')');
}

static void tmi_expr_vget(tmi_emit *e, const tmi_ins *n) {
    int64_t c;
    tmi_expr(e, n->a, TMI_ANY, TMI_L_POSTFIX);
    if (tmi_t_is_const(e->t, n->b, &c)) {
        tmi_put(e->out, ".%c", "xyzw"[c & 3]);
        return;
    }
    tmi_put_char(e->out, '[');
    tmi_expr(e, n->b, TMI_ANY, TMI_L_ANY);
    tmi_put_char(e->out, ']');
}

static void tmi_expr_ptr(tmi_emit *e, uint32_t id, const tmi_ins *n, int level) {
    if (n->op == TMI_TF_PADD) {
        tmi_open_level(e, level, TMI_L_ADD);
        tmi_expr(e, n->a, TMI_ANY, TMI_L_ADD);
        tmi_put_str(e->out, " + ");
        tmi_expr(e, n->b, tmi_nonneg(e, n->b) ? TMI_ANY : TMI_SIGNED, TMI_L_ADD + 1);
        tmi_close_level(e, level, TMI_L_ADD);
    } else if (n->op == TMI_TF_PCAST) {
        tmi_open_level(e, level, TMI_L_UNARY);
        tmi_put_char(e->out, '(');
        tmi_put_msl_type(e, n->type, TMI_ANY, tmi_ptr_is_const(e, id));
        tmi_put_char(e->out, ')');
        tmi_expr(e, n->a, TMI_ANY, TMI_L_UNARY);
        tmi_close_level(e, level, TMI_L_UNARY);
    } else if (n->op == TMI_TF_P2I) {
        tmi_put_str(e->out, "reinterpret_cast<ulong>(");
        tmi_expr(e, n->a, TMI_ANY, TMI_L_ANY);
        tmi_put_char(e->out, ')');
    } else {
        tmi_put_str(e->out, "reinterpret_cast<");
        tmi_put_msl_type(e, n->type, TMI_ANY, 0);
        tmi_put_str(e->out, ">(");
        tmi_expr(e, n->a, TMI_UNSIGNED, TMI_L_ANY);
        tmi_put_char(e->out, ')');
    }
}

static void tmi_expr_leaf(tmi_emit *e, const tmi_ins *n) {
    switch (n->op) {
    case TMI_TF_PARAM:
        tmi_put_str(e->out, tmi_taken(e, e->param_name[n->a]));
        break;
    case TMI_TF_PID: case TMI_TF_NPROG: tmi_put(e->out, "%s.%c", n->op == TMI_TF_PID ? "program" : "programs", "xyz"[n->a]); break;
    default: tmi_put_str(e->out, tmi_tfs[n->op].text); break;
    }
}

static void tmi_expr_body(tmi_emit *e, uint32_t id, tmi_sign want, int level) {
    const tmi_ins *n = TMI_INS(e->t, id);
    switch (n->op) {
    case TMI_TF_CONST: tmi_put_const(e, id, want, level); break;
    case TMI_TF_PARAM: case TMI_TF_TID: case TMI_TF_LANE: case TMI_TF_GROUP: case TMI_TF_PID: case TMI_TF_NPROG: tmi_expr_leaf(e, n); break;
    case TMI_TF_ICMP: tmi_expr_icmp(e, n, level); break;
    case TMI_TF_FCMP: tmi_expr_fcmp(e, n, level); break;
    case TMI_TF_SELECT: tmi_expr_select(e, n, want == TMI_ANY ? tmi_sign_of(e, id) == TMI_ANY ? TMI_SIGNED : tmi_sign_of(e, id) : want, level); break;
    case TMI_TF_SEXT: case TMI_TF_ZEXT: case TMI_TF_TRUNC: case TMI_TF_FCONV: case TMI_TF_S2F: case TMI_TF_U2F: tmi_expr_cast(e, id, n); break;
    case TMI_TF_BITCAST: tmi_expr_bitcast(e, n); break;
    case TMI_TF_PADD: case TMI_TF_PCAST: case TMI_TF_P2I: case TMI_TF_I2P: tmi_expr_ptr(e, id, n, level); break;
    case TMI_TF_VMAKE: tmi_expr_vmake(e, id, n); break;
    case TMI_TF_VGET: tmi_expr_vget(e, n); break;
    case TMI_TF_LDG: tmi_expr_ldg(e, n, level); break;
    case TMI_TF_LDA: case TMI_TF_LDT: case TMI_TF_LDC: tmi_expr_lda(e, n, level); break;
    case TMI_TF_SHUF: case TMI_TF_SHUFX: case TMI_TF_SHUFUP: tmi_expr_shuffle(e, n); break;
    case TMI_TF_SIMD: tmi_expr_simd(e, n); break;
    case TMI_TF_NOT: case TMI_TF_FNEG:
        tmi_open_level(e, level, TMI_L_UNARY);
        tmi_put_str(e->out, tmi_tfs[n->op].text);
        tmi_expr(e, n->a, TMI_ANY, TMI_L_UNARY + 1);
        tmi_close_level(e, level, TMI_L_UNARY);
        break;
    default:
        if (tmi_callee(n) != TMI_NONE) tmi_expr_helper(e, n);
        else if (tmi_infix_level(n->op, 0) != TMI_L_OR || n->op == TMI_TF_OR) tmi_expr_infix(e, n, level);
        else tmi_expr_call(e, n);
        break;
    }
}

/* Does the VMAKE print as a sum? Then it binds like one. */
static int tmi_vmake_is_sum(const tmi_emit *e, const tmi_ins *n) {
    const tmi_ins *x;
    if (n->op != TMI_TF_VMAKE || !tmi_s_is_int(n->type.kind) || n->b < 2) return 0;
    x = TMI_INS(e->t, TMI_LST(e->t, n->a + 1));
    return x->op == TMI_TF_IADD && x->a == TMI_LST(e->t, n->a);
}

/* The value where it is used: its variable, or its expression; cast when the reader wants another sign. */
static void tmi_expr(tmi_emit *e, uint32_t id, tmi_sign want, int level) {
    const tmi_ins *n = TMI_INS(e->t, id);
    tmi_sign have = tmi_sign_of(e, id);
    int      is_int = tmi_s_is_int(n->type.kind) && n->type.kind != TMI_S_BOOL, turn = is_int && want != TMI_ANY && have != TMI_ANY && want != have;
    if (turn) {
        tmi_put_msl_type(e, n->type, want, 0);
        tmi_put_char(e->out, '(');
        level = TMI_L_ANY;
    }
    if (e->named[id]) tmi_put_str(e->out, tmi_taken(e, e->named[id] - 1));
    else if (tmi_vmake_is_sum(e, n)) {
        tmi_open_level(e, level, TMI_L_ADD);
        tmi_expr_body(e, id, want, TMI_L_ANY);
        tmi_close_level(e, level, TMI_L_ADD);
    } else tmi_expr_body(e, id, turn ? have : want, level);
    if (turn) tmi_put_char(e->out, ')');
}

/* -- Lines ------------------------------------------------------------------------------------------- */

static void tmi_line(tmi_emit *e) { /* start one */
    uint32_t i;
    for (i = 0; i < e->indent; i++) tmi_put_str(e->out, "    ");
}

static const char *tmi_basename(const char *path) {
    const char *p = path;
    for (; *path; path++)
        if (*path == '/' || *path == '\\') p = path + 1;
    return p;
}

/* ASCII only: one other byte and some hosts refuse the whole text. */
static void tmi_put_ascii(tmi_emit *e, const char *s, uint32_t most) {
    for (; *s && most; s++, most--) tmi_put_char(e->out, *s >= 32 && *s < 127 ? *s : '?');
}

/* What the source line does, in Triton's words where there are any. */
static const char *tmi_op_words(const tmi_emit *e, const tmi_op *op) {
    uint32_t c;
    switch (op->kind) {
    case TMI_OP_LOAD: return "tl.load";
    case TMI_OP_STORE: return "tl.store";
    case TMI_OP_DOT: return "tl.dot";
    case TMI_OP_EXP: return "tl.exp";
    case TMI_OP_EXP2: return "tl.exp2";
    case TMI_OP_LOG: return "tl.log";
    case TMI_OP_SQRT: return "tl.sqrt";
    case TMI_OP_RSQRT: return "tl.rsqrt";
    case TMI_OP_SELECT: return "tl.where";
    case TMI_OP_FOR: return "for";
    case TMI_OP_WHILE: return "while";
    case TMI_OP_IF: return "if";
    case TMI_OP_PID: return "tl.program_id";
    case TMI_OP_MAXNUMF: case TMI_OP_MAXIMUMF: case TMI_OP_MAXSI: case TMI_OP_MAXUI: return "tl.maximum";
    case TMI_OP_MINNUMF: case TMI_OP_MINIMUMF: case TMI_OP_MINSI: case TMI_OP_MINUI: return "tl.minimum";
    case TMI_OP_REDUCE:
        c = tmi_simple_combiner(e->m, op);
        if (!c) return "tl.reduce";
        switch (TMI_OP(e->m, c)->kind) {
        case TMI_OP_ADDF: case TMI_OP_ADDI: return "tl.sum";
        case TMI_OP_MAXNUMF: case TMI_OP_MAXIMUMF: case TMI_OP_MAXSI: case TMI_OP_MAXUI: return "tl.max";
        case TMI_OP_MINNUMF: case TMI_OP_MINIMUMF: case TMI_OP_MINSI: case TMI_OP_MINUI: return "tl.min";
        case TMI_OP_XORI: return "tl.xor_sum";
        default: return "tl.reduce";
        }
    default: return NULL;
    }
}

/* // softmax.py:17  row = tl.load  -- once for each line of the source */
static void tmi_comment(tmi_emit *e, const tmi_ins *n) {
    const tmi_op *op = TMI_OP(e->m, n->src);
    tmetal_place  p;
    uint32_t      name;
    const char   *words;
    if (!n->src) return;
    p = tmi_loc_place(e->m, op->loc);
    if (!p.file || !p.line || (p.line == e->line_src && e->line_file && strcmp(e->line_file, p.file) == 0)) return;
    e->line_src = p.line;
    e->line_file = p.file;
    tmi_line(e);
    tmi_put_str(e->out, "// ");
    tmi_put_ascii(e, tmi_basename(p.file), 40);
    tmi_put(e->out, ":%u", p.line);
    name = tmi_loc_name(e->m, op->loc);
    words = tmi_op_words(e, op);
    if (name || words) tmi_put_str(e->out, "  ");
    if (name) tmi_put_ascii(e, TMI_STR(e->m, name), 40);
    if (words) tmi_put(e->out, name ? " = %s" : "%s", words);
    tmi_put_char(e->out, '\n');
}

/* -- Statements ------------------------------------------------------------------------------------------ */

static void tmi_stmt_block(tmi_emit *e, uint32_t blk);

static void tmi_stmt_value(tmi_emit *e, uint32_t id) { /* const type name = expression; */
    tmi_ins *n = TMI_INS(e->t, id);
    tmi_sign natural = tmi_natural_sign(e, id), sign = natural;
    int      is_int = tmi_s_is_int(n->type.kind) && n->type.kind != TMI_S_BOOL;
    if (is_int && n->op != TMI_TF_LDA) sign = e->votes[id] > 0 ? TMI_SIGNED : e->votes[id] < 0 ? TMI_UNSIGNED : natural;
    if (is_int && sign == TMI_ANY) sign = TMI_SIGNED;
    tmi_comment(e, n);
    tmi_line(e);
    if (n->type.kind == TMI_S_PTR) {
        tmi_put_msl_type(e, n->type, sign, tmi_ptr_is_const(e, id));
        tmi_put_str(e->out, "const ");
    } else {
        tmi_put_str(e->out, "const ");
        tmi_put_msl_type(e, n->type, sign, 0);
        tmi_put_char(e->out, ' ');
    }
    {
        uint32_t name = tmi_unique_name(e, tmi_hint(e, n));
        tmi_put(e->out, "%s = ", tmi_taken(e, name));
        tmi_expr(e, id, sign, TMI_L_ANY);
        e->named[id] = name + 1;
        e->sign[id] = (uint8_t)(is_int ? sign : TMI_ANY);
    }
    tmi_put_str(e->out, ";\n");
}

static void tmi_stmt_decl(tmi_emit *e, const tmi_ins *n) {
    const tmi_arr *a = TMI_ARR(e->t, n->a);
    tmi_comment(e, n);
    tmi_line(e);
    if (a->space == TMI_AS_FRAG) {
        tmi_put(e->out, "simdgroup_%s8x8 ", tmi_msl_scalar(a->type.kind, TMI_ANY));
        e->uses_matrix = 1;
    } else {
        tmi_put_msl_type(e, a->type, (tmi_sign)e->arr_sign[n->a], e->arr_const[n->a]);
        if (a->type.kind != TMI_S_PTR) tmi_put_char(e->out, ' ');
    }
    tmi_put_str(e->out, tmi_taken(e, e->arr_name[n->a]));
    if (a->count > 1) tmi_put(e->out, "[%u]", a->count);
    if (n->b) {
        tmi_put_str(e->out, " = ");
        tmi_expr_wide(e, n->b, (tmi_sign)e->arr_sign[n->a], a->type.width, TMI_L_ANY);
    }
    tmi_put_str(e->out, ";\n");
}

/* x = x + y reads x += y where the operator and the entry allow it. */
static int tmi_is_update(const tmi_emit *e, const tmi_ins *n, uint32_t *rhs, const char **text) {
    const tmi_ins *v = TMI_INS(e->t, n->d), *old;
    if (e->named[n->d] || v->type.kind == TMI_S_BOOL || tmi_is_small(v->type.kind)) return 0;
    if (v->op != TMI_TF_FADD && v->op != TMI_TF_IADD && v->op != TMI_TF_FMUL && v->op != TMI_TF_FSUB && v->op != TMI_TF_PADD) return 0;
    old = TMI_INS(e->t, v->a);
    *rhs = v->b;
    if ((v->op == TMI_TF_FADD || v->op == TMI_TF_IADD || v->op == TMI_TF_FMUL) && (e->named[v->a] || (old->op != TMI_TF_LDA && old->op != TMI_TF_LDT))) {
        old = TMI_INS(e->t, v->b);
        *rhs = v->a;
        if (e->named[v->b]) return 0;
    } else if (e->named[v->a]) return 0;
    if ((old->op != TMI_TF_LDA && old->op != TMI_TF_LDT) || old->a != n->a || old->b != n->b || old->c != n->c) return 0;
    if (v->op == TMI_TF_IADD && e->arr_sign[n->a] != TMI_UNSIGNED && v->wraps) return 0;
    *text = v->op == TMI_TF_FSUB ? "-=" : v->op == TMI_TF_FMUL ? "*=" : "+=";
    return 1;
}

/* Counters in threadgroup memory: a start value, or an addition. */
static void tmi_stmt_atomic(tmi_emit *e, const tmi_ins *n) {
    tmi_comment(e, n);
    tmi_line(e);
    tmi_put_str(e->out, n->op == TMI_TF_ADDT ? "atomic_fetch_add_explicit(&" : "atomic_store_explicit(&");
    tmi_put_entry(e, n->a, n->b, 0);
    tmi_put_str(e->out, ", ");
    tmi_expr(e, n->op == TMI_TF_ADDT ? n->c : n->d, TMI_UNSIGNED, TMI_L_ANY);
    tmi_put_str(e->out, ", memory_order_relaxed);\n");
}

static void tmi_stmt_sta(tmi_emit *e, const tmi_ins *n) {
    const tmi_arr *a = TMI_ARR(e->t, n->a);
    uint32_t rhs;
    const char *text;
    tmi_comment(e, n);
    tmi_line(e);
    tmi_put_entry(e, n->a, n->b, n->c);
    if (tmi_is_update(e, n, &rhs, &text)) {
        tmi_put(e->out, " %s ", text);
        tmi_expr(e, rhs, a->type.kind == TMI_S_PTR ? (tmi_nonneg(e, rhs) ? TMI_ANY : TMI_SIGNED) : (tmi_sign)e->arr_sign[n->a], TMI_L_ANY);
    } else {
        tmi_put_str(e->out, " = ");
        if (n->c || a->type.width == 1) tmi_expr(e, n->d, (tmi_sign)e->arr_sign[n->a], TMI_L_ANY);
        else tmi_expr_wide(e, n->d, (tmi_sign)e->arr_sign[n->a], a->type.width, TMI_L_ANY);
    }
    tmi_put_str(e->out, ";\n");
}

static void tmi_stmt_stg(tmi_emit *e, const tmi_ins *n) {
    tmi_comment(e, n);
    tmi_line(e);
    if (n->c) {
        tmi_put_str(e->out, "if (");
        tmi_expr(e, n->c, TMI_ANY, TMI_L_ANY);
        tmi_put_str(e->out, ") ");
    }
    tmi_put_access(e, n->a, n->type.width, (n->d & TMI_INS_VOLATILE) != 0);
    tmi_put_str(e->out, " = ");
    tmi_expr_wide(e, n->b, TMI_SIGNED, n->type.width, TMI_L_ANY);
    tmi_put_str(e->out, ";\n");
}

static void tmi_body(tmi_emit *e, uint32_t blk) {
    e->indent++;
    tmi_stmt_block(e, blk);
    e->indent--;
}

static void tmi_stmt_for(tmi_emit *e, uint32_t id) {
    const tmi_ins *n = TMI_INS(e->t, id);
    uint32_t v = TMI_BLK(e->t, n->d)->first, name;
    tmi_comment(e, n);
    if (n->c - n->b <= 64 && !n->e) { /* registers are named by constants only: unrolled, or they go to memory */
        tmi_line(e);
        tmi_put_str(e->out, "#pragma clang loop unroll(full)\n");
    }
    name = tmi_unique_name(e, e->loop_names[e->loop_depth < 23 ? e->loop_depth : 23]);
    *TMI_AT(&e->taken_at, uint32_t, name) = 0; /* free again outside of the loop */
    while (v && TMI_INS(e->t, v)->op != TMI_TF_LOOPVAR) v = TMI_INS(e->t, v)->next;
    e->named[v] = name + 1;
    tmi_line(e);
    tmi_put(e->out, "for (uint %s = %u; %s < %u; %s++) {\n", tmi_taken(e, name), n->b, tmi_taken(e, name), n->c, tmi_taken(e, name));
    e->loop_depth++;
    *TMI_AT(&e->taken_at, uint32_t, name) = 2;
    tmi_body(e, n->d);
    *TMI_AT(&e->taken_at, uint32_t, name) = 0;
    e->loop_depth--;
    tmi_line(e);
    tmi_put_str(e->out, "}\n");
}

static void tmi_stmt_loop(tmi_emit *e, uint32_t id) {
    const tmi_ins *n = TMI_INS(e->t, id);
    uint32_t v = TMI_BLK(e->t, n->d)->first, name, count;
    int      kind;
    int64_t  step;
    const char *s;
    while (v && TMI_INS(e->t, v)->op != TMI_TF_LOOPVAR) v = TMI_INS(e->t, v)->next;
    kind = TMI_INS(e->t, v)->type.kind;
    tmi_comment(e, n);
    name = tmi_unique_name(e, TMI_INS(e->t, v)->name ? TMI_STR(e->m, TMI_INS(e->t, v)->name) : "it");
    s = tmi_taken(e, name);
    e->named[v] = name + 1;
    tmi_line(e);
    if (n->e == 2) { /* counted, so that the variable may run to the end of its type */
        count = tmi_unique_name(e, "trip");
        tmi_put(e->out, "for (%s %s = 0, %s = ", tmi_msl_scalar(kind, TMI_UNSIGNED), tmi_taken(e, count), s);
        tmi_expr(e, n->a, TMI_UNSIGNED, TMI_L_COND);
        tmi_put(e->out, "; %s < ", tmi_taken(e, count));
        tmi_expr(e, n->b, TMI_UNSIGNED, TMI_L_REL + 1);
        tmi_put(e->out, "; %s++, %s += ", tmi_taken(e, count), s);
        tmi_expr(e, n->c, TMI_UNSIGNED, TMI_L_COND);
        e->sign[v] = TMI_UNSIGNED;
    } else {
        tmi_sign sign = n->e == 1 ? TMI_UNSIGNED : TMI_SIGNED;
        e->sign[v] = (uint8_t)sign;
        tmi_put(e->out, "for (%s %s = ", tmi_msl_scalar(kind, sign), s);
        tmi_expr(e, n->a, sign, TMI_L_COND);
        tmi_put(e->out, "; %s < ", s);
        tmi_expr(e, n->b, sign, TMI_L_REL + 1);
        if (tmi_t_is_const(e->t, n->c, &step) && step == 1) tmi_put(e->out, "; %s++", s);
        else {
            tmi_put(e->out, "; %s += ", s);
            tmi_expr(e, n->c, sign, TMI_L_COND);
        }
    }
    tmi_put_str(e->out, ") {\n");
    tmi_body(e, n->d);
    tmi_line(e);
    tmi_put_str(e->out, "}\n");
}

static void tmi_stmt_if(tmi_emit *e, const tmi_ins *n) {
    tmi_comment(e, n);
    tmi_line(e);
    tmi_put_str(e->out, "if (");
    tmi_expr(e, n->a, TMI_ANY, TMI_L_ANY);
    tmi_put_str(e->out, ") {\n");
    tmi_body(e, n->c);
    tmi_line(e);
    if (n->d && TMI_BLK(e->t, n->d)->first) {
        tmi_put_str(e->out, "} else {\n");
        tmi_body(e, n->d);
        tmi_line(e);
    }
    tmi_put_str(e->out, "}\n");
}

static void tmi_stmt_barrier(tmi_emit *e, const tmi_ins *n) {
    tmi_line(e);
    /* one simdgroup: a threadgroup-only barrier was seen to lose its order there (metal-kernels facts, 13) */
    uint32_t flags = e->p->n_sg ? n->a : TMI_BAR_GROUP | TMI_BAR_DEVICE;
    tmi_put(e->out, "threadgroup_barrier(%s%s%s);", flags & TMI_BAR_DEVICE ? "mem_flags::mem_device" : "", flags == 3 ? " | " : "",
            flags & TMI_BAR_GROUP ? "mem_flags::mem_threadgroup" : "");
    if (n->name) tmi_put(e->out, "    // %s", TMI_STR(e->m, n->name));
    else if (n->b && e->arr_name[n->b]) tmi_put(e->out, n->c ? "    // %s has been read" : "    // %s is complete", tmi_taken(e, e->arr_name[n->b]));
    tmi_put_char(e->out, '\n');
}

/* A whole matrix: its array entry without the lane's elements. */
static void tmi_put_tile(tmi_emit *e, uint32_t arr, uint32_t index) {
    tmi_put_str(e->out, tmi_taken(e, e->arr_name[arr]));
    if (TMI_ARR(e->t, arr)->count > 1) {
        tmi_put_char(e->out, '[');
        tmi_expr(e, index, TMI_ANY, TMI_L_ANY);
        tmi_put_char(e->out, ']');
    }
}

static void tmi_stmt_tiles(tmi_emit *e, const tmi_ins *n) {
    tmi_comment(e, n);
    tmi_line(e);
    if (n->op == TMI_TF_FFILL) {
        tmi_put_tile(e, n->a, n->b);
        tmi_put_str(e->out, " = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);\n");
    } else if (n->op == TMI_TF_FLOAD) {
        tmi_put_str(e->out, "simdgroup_load(");
        tmi_put_tile(e, n->a, n->b);
        tmi_put(e->out, ", %s + ", tmi_taken(e, e->arr_name[n->c]));
        tmi_expr(e, n->d, TMI_ANY, TMI_L_ADD + 1);
        tmi_put(e->out, ", %u", n->e);
        if (n->f) tmi_put_str(e->out, ", ulong2(0, 0), true");
        tmi_put_str(e->out, ");\n");
    } else {
        tmi_put_str(e->out, "simdgroup_multiply_accumulate(");
        tmi_put_tile(e, n->a, n->b);
        tmi_put_str(e->out, ", ");
        tmi_put_tile(e, n->c, n->d);
        tmi_put_str(e->out, ", ");
        tmi_put_tile(e, n->e, n->f);
        tmi_put_str(e->out, ", ");
        tmi_put_tile(e, n->a, n->b);
        tmi_put_str(e->out, ");\n");
    }
}

/* -- Which values get a variable --------------------------------------------------------------------- */

#define TMI_LINE_WIDTH 84u /* columns that an expression may fill before it is broken up */

static uint32_t tmi_expr_len(const tmi_emit *e, uint32_t id) {
    const tmi_ins *n = TMI_INS(e->t, id);
    uint32_t v[TMI_MAX_OPERANDS], k, sum = 4;
    if (e->named[id]) return (uint32_t)strlen(tmi_taken(e, e->named[id] - 1));
    if (n->op == TMI_TF_CONST) return 6;
    if (n->op == TMI_TF_PARAM) return (uint32_t)strlen(tmi_taken(e, e->param_name[n->a]));
    if (n->op == TMI_TF_LDA || n->op == TMI_TF_LDT || n->op == TMI_TF_LDC) sum += (uint32_t)strlen(tmi_taken(e, e->arr_name[n->a]));
    else if (tmi_tfs[n->op].text[0]) sum += (uint32_t)strlen(tmi_tfs[n->op].text);
    if (n->op == TMI_TF_LDG && n->type.width > 1) sum += 26;
    k = tmi_operands(e->t, n, v);
    while (k-- > 0) sum += e->len[v[k]] + 2u;
    return sum > 60000 ? 60000 : sum;
}

/* Is there a write between a read and its only reader, or a place where not every lane comes? */
static int tmi_may_move_read(const tmi_emit *e, uint32_t id) {
    const tmi_ins *n = TMI_INS(e->t, id), *u;
    uint32_t user = e->user[id], at = user;
    if (!user) return 0;
    u = TMI_INS(e->t, user);
    if (tmi_tfs[n->op].traits & TMI_TR_LANE) return u->blk == n->blk && (u->op == TMI_TF_STA || u->op == TMI_TF_STT) && e->epoch[id] == e->epoch[user];
    /* follow readers that are written inside others, up to the statement that holds them */
    while (TMI_INS(e->t, at)->blk == n->blk && !(tmi_tfs[TMI_INS(e->t, at)->op].traits & TMI_TR_STMT) && e->uses[at] == 1 && !e->named[at] && e->user[at]) at = e->user[at];
    return TMI_INS(e->t, at)->blk == n->blk && e->epoch[id] == e->epoch[at] && TMI_INS(e->t, at)->op != TMI_TF_LOOP && TMI_INS(e->t, at)->op != TMI_TF_WHILE;
}

/* Blocks between a value and its reader: through branches is fine, into a loop is not. */
static int tmi_crosses_loop(const tmi_emit *e, uint32_t id, uint32_t user) {
    uint32_t b = TMI_INS(e->t, user)->blk, home = TMI_INS(e->t, id)->blk;
    for (; b && b != home; b = TMI_BLK(e->t, b)->parent)
        if (!TMI_BLK(e->t, b)->is_if) return 1;
    return TMI_INS(e->t, user)->op == TMI_TF_LOOP && 0;
}

/* Leaves and what is as short as a name are written where they are used. */
static int tmi_is_trivial(const tmi_emit *e, const tmi_ins *n) {
    int64_t c;
    switch (n->op) {
    case TMI_TF_CONST: case TMI_TF_PARAM: case TMI_TF_TID: case TMI_TF_LANE: case TMI_TF_GROUP: case TMI_TF_PID: case TMI_TF_NPROG: case TMI_TF_LOOPVAR: return 1;
    case TMI_TF_VGET: return tmi_t_is_const(e->t, n->b, &c) && e->named[n->a];
    case TMI_TF_LDA: return 0;
    default: return 0;
    }
}

/* A variable read at the head of a loop's body and not written before its last reader: no copy of it. */
static int tmi_is_plain_variable(const tmi_emit *e, uint32_t id) {
    const tmi_ins *n = TMI_INS(e->t, id);
    return n->op == TMI_TF_LDA && TMI_ARR(e->t, n->a)->count == 1 && TMI_ARR(e->t, n->a)->space == TMI_AS_PRIVATE && !n->c && (n->flags & TMI_INS_NOWRAP);
}

static int tmi_needs_variable(tmi_emit *e, uint32_t id) {
    const tmi_ins *n = TMI_INS(e->t, id);
    uint32_t traits = tmi_tfs[n->op].traits;
    if (tmi_is_trivial(e, n) || tmi_is_plain_variable(e, id)) return 0;
    if (e->uses[id] != 1) return 1;
    if (e->user[id] && TMI_INS(e->t, e->user[id])->op == TMI_TF_VGET && n->op != TMI_TF_LDA) return 1;
    if ((traits & (TMI_TR_READ | TMI_TR_LANE)) && !tmi_may_move_read(e, id)) return 1;
    if (n->op == TMI_TF_LDG && n->b && TMI_INS(e->t, e->user[id])->op != TMI_TF_STA && TMI_INS(e->t, e->user[id])->op != TMI_TF_STT) return 1; /* a masked load is a line of its own */
    if (!(traits & (TMI_TR_READ | TMI_TR_LANE)) && tmi_crosses_loop(e, id, e->user[id])) return 1;
    return e->len[id] > TMI_LINE_WIDTH;
}

static void tmi_stmt(tmi_emit *e, uint32_t id) {
    const tmi_ins *n = TMI_INS(e->t, id);
    switch (n->op) {
    case TMI_TF_DECL: tmi_stmt_decl(e, n); break;
    case TMI_TF_ADDT: tmi_stmt_atomic(e, n); break;
    case TMI_TF_STA: case TMI_TF_STT:
        if (TMI_ARR(e->t, n->a)->is_atomic) tmi_stmt_atomic(e, n);
        else tmi_stmt_sta(e, n);
        break;
    case TMI_TF_STG: tmi_stmt_stg(e, n); break;
    case TMI_TF_FOR: tmi_stmt_for(e, id); break;
    case TMI_TF_LOOP: tmi_stmt_loop(e, id); break;
    case TMI_TF_WHILE:
        tmi_comment(e, n);
        tmi_line(e);
        tmi_put_str(e->out, "while (true) {\n");
        tmi_body(e, n->d);
        tmi_line(e);
        tmi_put_str(e->out, "}\n");
        break;
    case TMI_TF_IF: tmi_stmt_if(e, n); break;
    case TMI_TF_BARRIER: tmi_stmt_barrier(e, n); break;
    case TMI_TF_BREAK: case TMI_TF_RETURN:
        tmi_line(e);
        tmi_put_str(e->out, n->op == TMI_TF_BREAK ? "break;\n" : "return;\n");
        break;
    case TMI_TF_FFILL: case TMI_TF_FLOAD: case TMI_TF_FMMA: tmi_stmt_tiles(e, n); break;
    default: tmi_bug(e->job, "emit", "a statement that the printer does not know");
    }
}

static void tmi_stmt_block(tmi_emit *e, uint32_t blk) {
    uint32_t id;
    for (id = TMI_BLK(e->t, blk)->first; id; id = TMI_INS(e->t, id)->next) {
        const tmi_ins *n = TMI_INS(e->t, id);
        if (n->op == TMI_TF_LOOPVAR) continue;
        if (tmi_tfs[n->op].traits & TMI_TR_STMT) {
            tmi_stmt(e, id);
            continue;
        }
        e->sign[id] = (uint8_t)tmi_natural_sign(e, id);
        e->len[id] = (uint16_t)tmi_expr_len(e, id);
        if (tmi_needs_variable(e, id)) {
            tmi_stmt_value(e, id);
            e->len[id] = (uint16_t)tmi_expr_len(e, id);
        }
    }
}

/* -- Facts about the whole kernel, before a word is printed -------------------------------------- */

static int tmi_is_write(const tmi_ins *n) {
    return (tmi_tfs[n->op].traits & TMI_TR_STMT) && n->op != TMI_TF_DECL;
}

/* Uses, single readers, and how many writes of its block stand before each instruction. */
static void tmi_emit_uses(tmi_emit *e) {
    tmi_thr *t = e->t;
    uint32_t id, k, v[TMI_MAX_OPERANDS], *count = TMI_TEMP(e->job, uint32_t, t->blk.n);
    for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
        const tmi_ins *n = TMI_INS(t, id);
        e->epoch[id] = count[n->blk];
        if (tmi_is_write(n)) count[n->blk]++;
        for (k = tmi_operands(t, n, v); k-- > 0;) {
            e->uses[v[k]]++;
            e->user[v[k]] = e->uses[v[k]] == 1 ? id : 0;
        }
        tmi_vote_operands(e, n);
        switch (n->op) {
        case TMI_TF_LANE: e->uses_lane = 1; break;
        case TMI_TF_GROUP: e->uses_group = 1; break;
        case TMI_TF_TID: e->uses_tid = 1; break;
        case TMI_TF_PID: e->uses_pid = 1; break;
        case TMI_TF_NPROG: e->uses_nprog = 1; break;
        case TMI_TF_PARAM: e->param_used[n->a] = 1; break;
        default: break;
        }
        if (n->type.kind == TMI_S_BF16) e->uses_bf16 = 1;
    }
    for (id = 1; id < t->arr.n; id++) e->uses_bf16 |= TMI_ARR(t, id)->type.kind == TMI_S_BF16;
}

/* Reads of variables that stay as they are up to the last reader: written by the variable's own name. */
static void tmi_emit_variables(tmi_emit *e) {
    tmi_thr  *t = e->t;
    uint32_t *pos = TMI_TEMP(e->job, uint32_t, t->ins.n), *end = TMI_TEMP(e->job, uint32_t, t->ins.n), *reach = TMI_TEMP(e->job, uint32_t, t->ins.n);
    uint32_t *order = TMI_TEMP(e->job, uint32_t, t->ins.n), *next_write = TMI_TEMP(e->job, uint32_t, t->arr.n), n = 0, id, k, v[TMI_MAX_OPERANDS], i;
    for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
        uint32_t up;
        pos[id] = n;
        order[n++] = id;
        end[id] = n;
        for (up = TMI_BLK(t, TMI_INS(t, id)->blk)->owner; up; up = TMI_BLK(t, TMI_INS(t, up)->blk)->owner) end[up] = n;
    }
    for (i = n; i-- > 0;) { /* backward: readers come first */
        const tmi_ins *x = TMI_INS(t, order[i]);
        uint32_t mine = tmi_max32(reach[order[i]], i);
        for (k = tmi_operands(t, x, v); k-- > 0;) {
            uint32_t b = x->blk, home = TMI_INS(t, v[k])->blk, to = mine;
            for (; b && b != home; b = TMI_BLK(t, b)->parent) /* a reader in a loop reads in every round */
                if (!TMI_BLK(t, b)->is_if) to = tmi_max32(to, end[TMI_BLK(t, b)->owner]);
            if (to > reach[v[k]]) reach[v[k]] = to;
        }
    }
    for (i = n; i-- > 0;) {
        tmi_ins *x = TMI_INS(t, order[i]);
        if (x->op == TMI_TF_STA) next_write[x->a] = i + 1;
        if (x->op == TMI_TF_LDA && (!next_write[x->a] || next_write[x->a] - 1 >= reach[order[i]])) x->flags |= TMI_INS_NOWRAP;
    }
}

/* Which pointers may point to const: those of parameters that are only read. A variable that takes both
 * kinds makes all of them plain. */
static void tmi_emit_constness(tmi_emit *e) {
    tmi_thr *t = e->t;
    uint32_t id, i, v[TMI_MAX_OPERANDS], changed = 1;
    for (i = 0; i < t->arr.n; i++) e->arr_const[i] = 1;
    while (changed) {
        changed = 0;
        for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
            const tmi_ins *n = TMI_INS(t, id);
            uint8_t c = 0;
            if (n->op == TMI_TF_STA && TMI_ARR(t, n->a)->type.kind == TMI_S_PTR && !e->is_const[n->d] && e->arr_const[n->a]) e->arr_const[n->a] = 0, changed = 1;
            if (n->op == TMI_TF_STA && TMI_ARR(t, n->a)->type.kind == TMI_S_PTR && e->is_const[n->d] && !e->arr_const[n->a]) {
                for (i = 0; i < e->n_param; i++)
                    if (!e->param_written[i]) e->param_written[i] = 1, changed = 1; /* mixed: nothing is const any more */
            }
            if (n->type.kind != TMI_S_PTR) continue;
            if (n->op == TMI_TF_PARAM) c = !e->param_written[n->a];
            else if (n->op == TMI_TF_PADD || n->op == TMI_TF_PCAST || n->op == TMI_TF_VGET) c = e->is_const[n->a];
            else if (n->op == TMI_TF_SELECT) c = e->is_const[n->b] && e->is_const[n->c];
            else if (n->op == TMI_TF_LDA) c = e->arr_const[n->a];
            else if (n->op == TMI_TF_VMAKE) {
                for (c = 1, i = tmi_operands(t, n, v); i-- > 0;) c &= e->is_const[v[i]];
            }
            if (c != e->is_const[id]) e->is_const[id] = c, changed = 1;
        }
    }
}

/* Sign of the integers in arrays: what most of their readers want. */
static void tmi_emit_array_signs(tmi_emit *e) {
    tmi_thr *t = e->t;
    int     *votes = TMI_TEMP(e->job, int, t->arr.n);
    uint32_t id, i;
    for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
        const tmi_ins *n = TMI_INS(t, id);
        if (n->op == TMI_TF_LDA || n->op == TMI_TF_LDT) votes[n->a] += e->votes[id];
    }
    for (i = 1; i < t->arr.n; i++) {
        int kind = TMI_ARR(t, i)->type.kind;
        e->arr_sign[i] = (uint8_t)(TMI_ARR(t, i)->is_atomic ? TMI_UNSIGNED : !tmi_s_is_int(kind) || kind == TMI_S_BOOL ? TMI_ANY : votes[i] < 0 && !tmi_is_small(kind) ? TMI_UNSIGNED : TMI_SIGNED);
    }
    for (i = 0; i < e->n_param; i++) e->param_sign[i] = TMI_SIGNED;
    for (id = TMI_BLK(t, 1)->first; id; id = tmi_thr_next(t, id)) {
        const tmi_ins *n = TMI_INS(t, id);
        if (n->op == TMI_TF_PARAM && e->votes[id] < 0 && !tmi_is_small(n->type.kind)) e->param_sign[n->a] = TMI_UNSIGNED;
    }
}

/* Loop counters: i, j, k, ... without the names that the program itself uses. */
static void tmi_emit_loop_names(tmi_emit *e) {
    static const char *const names[] = {"i", "j", "k", "l", "n", "m", "p", "q", "r", "s", "u", "v", "w", "h", "g", "f", "d", "c", "b", "a", "i2", "j2", "k2", "l2"};
    uint32_t at = 0, i, id;
    for (i = 0; i < 24 && at < 24; i++) {
        int used = 0;
        for (id = 1; id < e->t->ins.n && !used; id++) used = TMI_INS(e->t, id)->name && strcmp(TMI_STR(e->m, TMI_INS(e->t, id)->name), names[i]) == 0;
        if (!used) e->loop_names[at++] = names[i];
    }
    for (i = 0; at < 24; i++, at++) {
        static const char *const more[] = {"ii", "jj", "kk", "ll", "nn", "mm", "pp", "qq", "rr", "ss", "uu", "vv", "ww", "hh", "gg", "ff", "dd", "cc", "bb", "aa", "iii", "jjj", "kkk", "lll"};
        e->loop_names[at] = more[i];
    }
}

/* Parameters that are stored to: by tile ops, since a pointer's path is known there. */
static void tmi_emit_written(tmi_emit *e) {
    uint32_t op, i, base;
    for (op = tmi_walk_next(e->m, e->p->func, e->p->func); op; op = tmi_walk_next(e->m, e->p->func, op)) {
        const tmi_op *o = TMI_OP(e->m, op);
        if (!tmi_accesses_memory(o) || !(tmi_ops[o->kind].traits & TMI_WRITES)) continue;
        base = e->p->base[tmi_in(e->m, o, 0)];
        if (base) e->param_written[base - 1] = 1;
        else
            for (i = 0; i < e->n_param; i++) e->param_written[i] = 1;
    }
}

static void tmi_emit_begin(tmi_emit *e, tmi_plan *p, tmi_thr *t, tmi_text *out) {
    tmi_job *job = p->job;
    uint32_t n = t->ins.n;
    memset(e, 0, sizeof *e);
    e->job = job;
    e->m = p->m;
    e->p = p;
    e->t = t;
    e->out = out;
    e->uses = TMI_TEMP(job, uint32_t, n);
    e->named = TMI_TEMP(job, uint32_t, n);
    e->len = TMI_TEMP(job, uint16_t, n);
    e->sign = TMI_TEMP(job, uint8_t, n);
    e->votes = TMI_TEMP(job, int8_t, n);
    e->epoch = TMI_TEMP(job, uint32_t, n);
    e->user = TMI_TEMP(job, uint32_t, n);
    e->is_const = TMI_TEMP(job, uint8_t, n);
    e->arr_name = TMI_TEMP(job, uint32_t, t->arr.n);
    e->arr_sign = TMI_TEMP(job, uint8_t, t->arr.n);
    e->arr_const = TMI_TEMP(job, uint8_t, t->arr.n);
    e->n_param = TMI_BLOCK(p->m, tmi_op_body(p->m, TMI_OP(p->m, p->func), 0))->n_arg;
    e->param_sign = TMI_TEMP(job, uint8_t, e->n_param);
    e->param_used = TMI_TEMP(job, uint8_t, e->n_param);
    e->param_written = TMI_TEMP(job, uint8_t, e->n_param);
    e->param_name = TMI_TEMP(job, uint32_t, e->n_param);
    e->fns = TMI_TEMP(job, uint8_t, TMI_FN_COUNT);
    tmi_strings_init(job, &e->taken);
    tmi_vec_init(&e->taken_at, sizeof(uint32_t), 1);
    tmi_emit_uses(e);
    tmi_emit_variables(e);
    tmi_emit_written(e);
    tmi_emit_constness(e);
    tmi_emit_array_signs(e);
    tmi_emit_loop_names(e);
}

/* -- The signature and the launch plan ---------------------------------------------------------------- */

static const char *tmi_elem_text(tmi_emit *e, uint32_t type) { /* "f32" of !tt.ptr<f32> */
    const tmi_type *t = TMI_TYPE(e->m, type);
    return tmi_format(e->job, 0, "%s", tmi_type_text(e->job, e->m, t->kind == TMI_T_PTR ? t->elem : type));
}

static uint32_t tmi_param_align(const tmi_emit *e, uint32_t value) {
    tmi_axis a = tmi_axis_get(&e->p->axes, value, 0);
    return 1u << (a.v > 12 ? 12 : a.v);
}

/* One argument a used parameter; where Metal's 31 do not suffice, scalars share one struct. */
static void tmi_make_args(tmi_emit *e, tmetal_kernel *k, int *packed) {
    uint32_t block = tmi_op_body(e->m, TMI_OP(e->m, e->p->func), 0), i, n = 0, bufs = 0, at = 0, next = 0, is_ptr, struct_index, aliased = 0;
    tmetal_arg *args;
    for (i = 0; i < e->n_param; i++) {
        n += e->param_used[i];
        is_ptr = e->param_used[i] && tmi_is_ptrlike(e->m, tmi_value_type(e->m, tmi_block_arg(e->m, block, i)));
        bufs += is_ptr && !tmi_has_alias(e->p, i);
        aliased |= is_ptr && tmi_has_alias(e->p, i);
    }
    *packed = aliased || (e->n_param > TMI_MAX_BUFFERS && n > TMI_MAX_BUFFERS);
    struct_index = bufs < TMI_MAX_BUFFERS ? bufs : TMI_MAX_BUFFERS - 1;
    args = TMI_NEW(e->job, tmetal_arg, n);
    k->args = args;
    k->n_args = n;
    for (i = 0; i < e->n_param; i++) {
        uint32_t v = tmi_block_arg(e->m, block, i), type = tmi_value_type(e->m, v), bit = i < 31 ? 1u << i : 1u << 31;
        tmetal_arg *a = args;
        if (!e->param_used[i]) continue;
        args++;
        is_ptr = (uint32_t)tmi_is_ptrlike(e->m, type);
        a->param = i;
        a->name = tmi_format(e->job, 0, "%s", TMI_STR(e->m, TMI_VALUE(e->m, v)->name));
        a->type = tmi_elem_text(e, type);
        a->index = n <= TMI_MAX_BUFFERS && e->n_param > TMI_MAX_BUFFERS ? next++ : i;
        if (is_ptr) {
            a->kind = TMETAL_ARG_BUFFER;
            a->access = (e->p->read & bit ? (uint32_t)TMETAL_READS : 0u) | (e->param_written[i] ? (uint32_t)TMETAL_WRITES : 0u);
            if (!a->access || (i >= 31 && !e->param_written[i])) a->access |= TMETAL_READS;
            a->align = tmi_param_align(e, v);
            a->size = 8;
        } else {
            a->kind = TMETAL_ARG_BYTES;
            a->size = tmi_bytes(e->m, type);
        }
        if (!*packed) continue;
        if (is_ptr && next < struct_index && !tmi_has_alias(e->p, i)) {
            a->index = next++;
            continue;
        }
        if (is_ptr) a->kind = TMETAL_ARG_ADDRESS;
        at = (at + a->size - 1) & ~(a->size - 1);
        a->index = struct_index;
        a->offset = at;
        at += a->size;
    }
}

static void tmi_put_aligned(tmi_emit *e, const char *s, uint32_t width) {
    uint32_t n = (uint32_t)strlen(s);
    tmi_put_str(e->out, s);
    for (; n < width; n++) tmi_put_char(e->out, ' ');
}

static const char *tmi_param_decl(tmi_emit *e, const tmetal_arg *a) {
    uint32_t block = tmi_op_body(e->m, TMI_OP(e->m, e->p->func), 0);
    tmi_tty  type = tmi_tty_from(e->m, tmi_value_type(e->m, tmi_block_arg(e->m, block, a->param)));
    const char *name = tmi_taken(e, e->param_name[a->param]);
    if (type.kind == TMI_S_PTR)
        return tmi_format(e->job, 1, "device %s%s *%s", e->param_written[a->param] ? "" : "const ", tmi_msl_scalar(type.elem, TMI_ANY), name);
    if (type.kind == TMI_S_BOOL) type.kind = TMI_S_I8;
    return tmi_format(e->job, 1, "constant %s &%s", tmi_msl_scalar(type.kind, (tmi_sign)e->param_sign[a->param]), name);
}

static void tmi_put_builtins(tmi_emit *e) {
    static const char *const text[5] = {"uint3 program  [[threadgroup_position_in_grid]]", "uint3 programs [[threadgroups_per_grid]]",
                                        "uint  tid      [[thread_index_in_threadgroup]]", "uint  lane     [[thread_index_in_simdgroup]]",
                                        "uint  group    [[simdgroup_index_in_threadgroup]]"};
    uint8_t used[5];
    uint32_t i;
    used[0] = e->uses_pid;
    used[1] = e->uses_nprog;
    used[2] = e->uses_tid;
    used[3] = e->uses_lane;
    used[4] = e->uses_group;
    for (i = 0; i < 5; i++) {
        if (!used[i]) continue;
        if (e->out->col) tmi_put_str(e->out, ",\n");
        tmi_put(e->out, "    %s", text[i]);
    }
}

/* Scalars (and, past 31, addresses) that share one struct. */
static void tmi_put_struct(tmi_emit *e, const tmetal_kernel *k, const char *name) {
    uint32_t i, block = tmi_op_body(e->m, TMI_OP(e->m, e->p->func), 0);
    tmi_put(e->out, "struct %s {\n", name);
    for (i = 0; i < k->n_args; i++) {
        const tmetal_arg *a = &k->args[i];
        tmi_tty type = tmi_tty_from(e->m, tmi_value_type(e->m, tmi_block_arg(e->m, block, a->param)));
        if (a->kind == TMETAL_ARG_BUFFER) continue;
        tmi_put_str(e->out, "    ");
        tmi_put_msl_type(e, type, (tmi_sign)e->param_sign[a->param], !e->param_written[a->param]);
        if (type.kind != TMI_S_PTR) tmi_put_char(e->out, ' ');
        tmi_put(e->out, "%s;    // at byte %u\n", tmi_taken(e, e->param_name[a->param]), a->offset);
    }
    tmi_put_str(e->out, "};\n\n");
}

static void tmi_put_signature(tmi_emit *e, const tmetal_kernel *k, int packed, const char *struct_name) {
    uint32_t i, width = 0, shared = 0;
    const char **decl = TMI_TEMP(e->job, const char *, k->n_args);
    for (i = 0; i < k->n_args; i++) {
        if (packed && k->args[i].kind != TMETAL_ARG_BUFFER) continue;
        decl[i] = tmi_param_decl(e, &k->args[i]);
        width = tmi_max32(width, (uint32_t)strlen(decl[i]));
    }
    if (k->max_total_threads) tmi_put(e->out, "[[max_total_threads_per_threadgroup(%u)]]\n", k->max_total_threads);
    tmi_put(e->out, "kernel void %s(\n", k->entry);
    for (i = 0; i < k->n_args; i++) {
        if (packed && k->args[i].kind != TMETAL_ARG_BUFFER) {
            if (shared++) continue;
            if (e->out->col) tmi_put_str(e->out, ",\n");
            tmi_put(e->out, "    constant %s &scalars [[buffer(%u)]]", struct_name, k->args[i].index);
            continue;
        }
        if (e->out->col) tmi_put_str(e->out, ",\n");
        tmi_put_str(e->out, "    ");
        tmi_put_aligned(e, decl[i], width);
        tmi_put(e->out, " [[buffer(%u)]]", k->args[i].index);
    }
    tmi_put_builtins(e);
    tmi_put_str(e->out, ")\n{\n");
    for (i = 0; packed && i < k->n_args; i++) {
        const tmetal_arg *a = &k->args[i];
        uint32_t block = tmi_op_body(e->m, TMI_OP(e->m, e->p->func), 0);
        tmi_tty  type = tmi_tty_from(e->m, tmi_value_type(e->m, tmi_block_arg(e->m, block, a->param)));
        if (a->kind == TMETAL_ARG_BUFFER) continue;
        tmi_put_str(e->out, "    ");
        if (type.kind != TMI_S_PTR) tmi_put_str(e->out, "const ");
        tmi_put_msl_type(e, type, (tmi_sign)e->param_sign[a->param], !e->param_written[a->param]);
        tmi_put(e->out, type.kind == TMI_S_PTR ? "const %s = scalars.%s;\n" : " %s = scalars.%s;\n", tmi_taken(e, e->param_name[a->param]),
                tmi_taken(e, e->param_name[a->param]));
    }
}

/* -- Threadgroup arrays and tables ---------------------------------------------------------------------- */

static void tmi_put_entry_type(tmi_emit *e, uint32_t arr) {
    if (TMI_ARR(e->t, arr)->is_atomic) tmi_put_str(e->out, "atomic_uint");
    else tmi_put_msl_type(e, TMI_ARR(e->t, arr)->type, (tmi_sign)e->arr_sign[arr], 0);
}

static void tmi_put_arrays(tmi_emit *e, uint32_t bytes) {
    uint32_t i, any = 0, arena = 0;
    for (i = 1; i < e->t->arr.n; i++)
        if (TMI_ARR(e->t, i)->space == TMI_AS_GROUP && TMI_ARR(e->t, i)->first && !TMI_ARR(e->t, i)->shown) arena = 1;
    const char *name = arena ? tmi_taken(e, tmi_unique_name(e, "shared")) : "";
    if (arena) tmi_put(e->out, "    threadgroup ulong %s[%u];    // used by several arrays in turn\n", name, (bytes + 7) / 8);
    for (i = 1; i < e->t->arr.n; i++) {
        const tmi_arr *a = TMI_ARR(e->t, i);
        if (a->space != TMI_AS_GROUP || !a->first) continue;
        tmi_put_str(e->out, "    ");
        any = 1;
        tmi_put_str(e->out, "threadgroup ");
        tmi_put_entry_type(e, i);
        if (a->shown) {
            tmi_put(e->out, " %s[%u];\n", tmi_taken(e, e->arr_name[i]), a->count);
        } else {
            tmi_put(e->out, " *const %s = (threadgroup ", tmi_taken(e, e->arr_name[i]));
            tmi_put_entry_type(e, i);
            tmi_put(e->out, " *)(%s + %u);    // %u bytes\n", name, a->at / 8, tmi_arr_bytes(a));
        }
    }
    if (any) tmi_put_char(e->out, '\n');
}

static void tmi_put_tables(tmi_emit *e) {
    uint32_t i, k;
    for (i = 1; i < e->t->arr.n; i++) {
        const tmi_arr *a = TMI_ARR(e->t, i);
        if (a->space != TMI_AS_TABLE) continue;
        tmi_put_str(e->out, "constant ");
        tmi_put_msl_type(e, a->type, TMI_SIGNED, 0);
        tmi_put(e->out, " %s[%u] = {", tmi_taken(e, e->arr_name[i]), a->count);
        for (k = 0; k < a->count; k++) {
            uint64_t w = TMI_WORD(e->m, a->words + k);
            tmi_put_str(e->out, k == 0 ? "" : k % 12 ? ", " : ",\n    ");
            if (tmi_s_is_float(a->type.kind)) tmi_put_float_literal(e, a->type.kind, w);
            else tmi_put_int_literal(e, a->type.kind, a->type.kind == TMI_S_BOOL ? (int64_t)(w & 1) : (int64_t)w, TMI_SIGNED, 0);
        }
        tmi_put_str(e->out, "};\n");
    }
}

static void tmi_name_arrays(tmi_emit *e) {
    uint32_t i;
    for (i = 1; i < e->t->arr.n; i++) {
        const tmi_arr *a = TMI_ARR(e->t, i);
        const char *hint = a->name ? TMI_STR(e->m, a->name) : a->space == TMI_AS_GROUP ? "shared" : a->space == TMI_AS_TABLE ? "table" : "tile";
        if (a->space == TMI_AS_GROUP && a->name) hint = tmi_format(e->job, 1, "%s_shared", hint);
        if (a->space == TMI_AS_GROUP && !a->first) continue;
        e->arr_name[i] = tmi_unique_name(e, hint);
    }
}

/* -- The head of the text ------------------------------------------------------------------------------ */

static void tmi_put_head(tmi_emit *e, const tmetal_kernel *k) {
    tmetal_place p = tmi_loc_place(e->m, TMI_OP(e->m, e->p->func)->loc);
    uint32_t     i, largest = 0;
    tmi_put(e->out, "// %s: from @", k->entry);
    tmi_put_ascii(e, k->name, 80);
    if (p.file) {
        tmi_put_str(e->out, " (");
        tmi_put_ascii(e, tmi_basename(p.file), 60);
        tmi_put(e->out, ":%u)", p.line);
    }
    tmi_put(e->out, "\n//\n//   grid     one threadgroup of %u threads (%u simdgroup%s of 32) a program\n", k->threads, k->threads / 32, k->threads > 32 ? "s" : "");
    for (i = 0; i < e->p->comp.n; i++) {
        uint64_t n = tmi_numel(e->m, TMI_COMP(e->p, i)->type);
        if (n > tmi_numel(e->m, TMI_COMP(e->p, largest)->type)) largest = i;
    }
    if (e->p->comp.n) {
        const tmi_comp *c = TMI_COMP(e->p, largest);
        const tmi_lin  *l = TMI_LIN(e->p, c->lin - 1);
        tmi_put(e->out, "//   work     tiles of up to ");
        for (i = 0; i < tmi_rank(e->m, c->type); i++) tmi_put(e->out, i ? " x %u" : "%u", tmi_dim(e->m, c->type, i));
        tmi_put(e->out, " elements, %u a thread", 1u << l->n_reg);
        if (l->vec) tmi_put(e->out, ", %u of them neighbours", 1u << l->vec);
        tmi_put_char(e->out, '\n');
    }
    tmi_put(e->out, "//   memory   %u bytes of threadgroup memory\n", k->threadgroup_bytes);
    tmi_put_str(e->out, "//   compile  safe math: masked elements, infinities and NaN are meant\n");
    tmi_put_str(e->out, "#include <metal_stdlib>\n");
    if (e->uses_matrix) tmi_put_str(e->out, "#include <metal_simdgroup_matrix>\n");
    tmi_put_str(e->out, "using namespace metal;\n");
    tmi_put_str(e->out, "#pragma METAL fp math_mode(safe)\n");
    if (e->job->opt->no_fusion) tmi_put_str(e->out, "#pragma METAL fp contract(off)\n");
    tmi_put_char(e->out, '\n');
}

static void tmi_put_helpers(tmi_emit *e) {
    uint32_t i;
    for (i = 0; i < TMI_FN_COUNT; i++)
        if (e->fns[i]) tmi_put(e->out, "%s\n", tmi_fns[i].text);
}

/* A text joined to another: the body is printed first, since only then is known what it calls. */
static void tmi_put_text(tmi_text *to, const tmi_text *from) {
    const tmi_chunk *c;
    for (c = from->first; c; c = c->next) tmi_put_bytes(to, (const char *)(c + 1), c->n);
}

/* Ops that only move bytes may carry any type. */
static int tmi_moves_only(const tmi_op *op) {
    return tmi_is_view(op->kind) || op->kind == TMI_OP_LOAD || op->kind == TMI_OP_STORE || op->kind == TMI_OP_SPLAT || op->kind == TMI_OP_TTBITCAST ||
           op->kind == TMI_OP_BITCAST || op->kind == TMI_OP_SELECT || op->kind == TMI_OP_CONSTANT || op->kind == TMI_OP_ADDPTR || op->kind == TMI_OP_UNSPLAT ||
           op->kind == TMI_OP_POISON || op->kind == TMI_OP_UNDEF || (op->n_region && !tmi_is_region_op(op->kind)) || (tmi_ops[op->kind].traits & TMI_ENDS);
}

/* Doubles are computed in software: how many ops, by which functions, and how much text that is. */
static void tmi_remark_fp64(tmi_emit *e) {
    const tmi_module *m = e->m;
    uint32_t    op, i, n = 0, lines = 0, shown = 0;
    const char *c;
    tmi_text    t;
    tmi_at      first;
    memset(&first, 0, sizeof first);
    for (op = tmi_walk_next(m, e->p->func, e->p->func); op; op = tmi_walk_next(m, e->p->func, op)) {
        const tmi_op *o = TMI_OP(m, op);
        int is_f64 = (o->n_in && tmi_format_of(m, tmi_in_type(m, o, 0)) == TMI_F_F64) || (o->n_out && tmi_format_of(m, tmi_out_type(m, o, 0)) == TMI_F_F64);
        if (!is_f64 || !(tmi_ops[o->kind].traits & TMI_ELT) || tmi_moves_only(o)) continue;
        if (!n++) first = tmi_at_of(m, o);
    }
    if (!n) return;
    tmi_text_init(e->job, &t);
    for (i = 0; i < TMI_FN_COUNT; i++) {
        if (!e->fns[i] || strncmp(tmi_fns[i].name, "f64_", 4) != 0) continue;
        for (c = tmi_fns[i].text; *c; c++) lines += *c == '\n';
        if (++shown <= 8) tmi_put(&t, shown > 1 ? ", %s" : "%s", tmi_fns[i].name);
    }
    if (shown > 8) tmi_put(&t, " and %u more", shown - 8);
    tmi_remark(e->job, first, TMETAL_APPLIED, "fp64", "%u operation%s on f64 in software, since Apple GPUs have no double: %s; %u lines of 64-bit integer arithmetic", n,
               n > 1 ? "s" : "", tmi_text_join(&t, 1), lines);
}

/* Print one kernel: `k` gets its text and everything a launcher needs. */
static void tmi_emit_kernel(tmi_plan *p, tmi_thr *t, uint32_t tg_bytes, tmetal_kernel *k) {
    tmi_emit e;
    tmi_text body, all;
    uint32_t i, block = tmi_op_body(p->m, TMI_OP(p->m, p->func), 0), entry;
    int      packed = 0;
    const char *struct_name = "";
    tmi_text_init(p->job, &body);
    tmi_text_init(p->job, &all);
    tmi_emit_begin(&e, p, t, &body);
    k->name = tmi_format(p->job, 0, "%s", tmi_attr_str(p->m, TMI_OP(p->m, p->func), "sym_name"));
    entry = tmi_unique_name(&e, k->name);
    k->entry = tmi_format(p->job, 0, "%s", tmi_taken(&e, entry));
    for (i = 0; i < e.n_param; i++) e.param_name[i] = tmi_unique_name(&e, TMI_STR(p->m, TMI_VALUE(p->m, tmi_block_arg(p->m, block, i))->name));
    tmi_make_args(&e, k, &packed);
    if (packed) struct_name = tmi_taken(&e, tmi_unique_name(&e, "Scalars")), (void)tmi_unique_name(&e, "scalars");
    tmi_name_arrays(&e);
    k->threads = p->threads;
    k->threadgroup_bytes = tg_bytes;
    k->max_total_threads = p->threads >= 64 ? p->threads : 0; /* a declared 32 loses barriers (facts, 13) */
    k->family = 7;
    e.indent = 0;
    tmi_body(&e, 1);
    k->msl_version = e.uses_bf16 ? 310 : 300;
    e.out = &all;
    tmi_put_head(&e, k);
    tmi_put_tables(&e);
    tmi_put_helpers(&e);
    if (packed) tmi_put_struct(&e, k, struct_name);
    tmi_put_signature(&e, k, packed, struct_name);
    tmi_put_arrays(&e, tg_bytes);
    tmi_put_text(&all, &body);
    tmi_put_str(&all, "}\n");
    tmi_remark_fp64(&e);
    if (p->job->no_text) return;
    k->msl = tmi_text_join(&all, 0);
    k->msl_len = all.len;
}

/* -- What cannot be compiled yet is refused, all of it at once -------------------------------------------- */

/* A name that >>library has no function for. */
static int tmi_f64_lacks(const tmi_op *op) {
    int         tf = tmi_tf_of_op[op->kind];
    const char *name;
    if (!(tmi_ops[op->kind].traits & TMI_ELT)) return 0;
    if (tf == TMI_TF_FCONV || tf == TMI_TF_S2F || tf == TMI_TF_U2F || tf == TMI_TF_F2S || tf == TMI_TF_F2U || tf == TMI_TF_FCMP || tf == TMI_TF_CLAMP ||
        tf == TMI_TF_ISINF || tf == TMI_TF_EXTERN)
        return 0;
    name = tmi_f64_name(tf);
    return !name || tmi_fn_named(name, strlen(name)) == TMI_FN_COUNT;
}

static void tmi_refuse_types(tmi_job *job, tmi_module *m, const tmi_op *op) {
    uint32_t i, f;
    if (tmi_moves_only(op)) return;
    for (i = 0; i < op->n_in + op->n_out; i++) {
        f = tmi_format_of(m, i < op->n_in ? tmi_in_type(m, op, i) : tmi_out_type(m, op, i - op->n_in));
        if (!tmi_format_is_soft(f)) continue;
        if (f == TMI_F_F64 && (job->opt->no_fp64 || tmi_f64_lacks(op))) {
            tmi_error(job, tmi_at_of(m, op), TMETAL_E_FP64, tmi_ops[op->kind].name);
            return;
        }
        if (!tmi_soft_of(f)) {
            tmi_error(job, tmi_at_of(m, op), TMETAL_E_FP8, tmi_ops[op->kind].name, tmi_float_names[f]);
            return;
        }
    }
}

/* Do the operands and result of an external function have the kinds that its signature names? */
static int tmi_extern_fits(const tmi_module *m, const tmi_op *op, const char *sig) {
    uint32_t i, n = (uint32_t)strlen(sig), type, f;
    if (n < 3 || op->n_in != n - 3) return 0;
    for (i = 0; i <= op->n_in; i++) {
        char c = i ? sig[1 + i] : sig[0];
        type = i ? tmi_in_type(m, op, i - 1) : tmi_out_type(m, op, 0);
        f = tmi_format_of(m, type);
        if ((c == 'd') != (f == TMI_F_F64)) return 0;
        if (c == 'd') continue;
        if (strchr("fht", c) ? f == TMI_F_COUNT || tmi_format_is_soft(f) : !tmi_is_intlike(m, type)) return 0;
    }
    return 1;
}

static void tmi_refuse_extern(tmi_job *job, tmi_module *m, const tmi_op *op) {
    uint32_t fn = tmi_extern_named(tmi_attr_str(m, op, "symbol"));
    if (fn == TMI_NONE || !tmi_extern_fits(m, op, tmi_fn_sig(fn))) tmi_error(job, tmi_at_of(m, op), TMETAL_E_EXTERN, tmi_attr_str(m, op, "symbol"));
    else if (job->opt->no_fp64) tmi_refuse_types(job, m, op);
}

static int tmi_is_lowered(const tmi_op *op) {
    switch (op->kind) {
    case TMI_OP_ASM: case TMI_OP_MAP: case TMI_OP_RMW: case TMI_OP_CAS: case TMI_OP_DREDUCE:
    case TMI_OP_XTMAP: case TMI_OP_XTFENCE: case TMI_OP_REINTERPRET: case TMI_OP_PRINT: case TMI_OP_ASSERT: case TMI_OP_CF_ASSERT: return 0;
    default: return 1;
    }
}

static void tmi_refuse_op(tmi_job *job, tmi_module *m, const tmi_op *op) {
    if (!tmi_is_lowered(op)) {
        tmi_error(job, tmi_at_of(m, op), TMETAL_E_OP_UNSUPPORTED, tmi_ops[op->kind].name);
        return;
    }
    if (op->kind == TMI_OP_EXTERN) tmi_refuse_extern(job, m, op);
    else tmi_refuse_types(job, m, op);
}

static int tmi_refuse_all(tmi_job *job, tmi_module *m, uint32_t func) {
    uint32_t op, before = job->n_errors, i, block = tmi_op_body(m, TMI_OP(m, func), 0);
    for (op = tmi_walk_next(m, func, func); op; op = tmi_walk_next(m, func, op)) tmi_refuse_op(job, m, TMI_OP(m, op));
    for (i = 0; i < TMI_BLOCK(m, block)->n_arg; i++) {
        const tmi_type *t = TMI_TYPE(m, tmi_value_type(m, tmi_block_arg(m, block, i)));
        if (t->kind == TMI_T_OPAQUE || t->kind == TMI_T_TENSOR || t->kind == TMI_T_VECTOR || t->kind == TMI_T_FUNC || t->kind == TMI_T_NULL)
            tmi_error(job, tmi_at_of(m, TMI_OP(m, func)), TMETAL_E_TYPE_UNSUPPORTED, "parameter", tmi_type_text(job, m, tmi_value_type(m, tmi_block_arg(m, block, i))), "not a number or pointer");
    }
    return job->n_errors == before;
}

/* -- From function to kernel --------------------------------------------------------------------------------- */

static const char *tmi_msl_text(uint32_t version) {
    size_t i;
    for (i = 0; i < sizeof tmi_msl_versions / sizeof *tmi_msl_versions; i++)
        if (tmi_msl_versions[i].number == version) return tmi_msl_versions[i].text;
    return "3.0";
}

static void tmi_check_version(tmi_job *job, const tmi_module *m, uint32_t func, const tmetal_kernel *k) {
    if (!job->opt->msl || k->msl_version <= job->opt->msl) return;
    tmi_error(job, tmi_at_of(m, TMI_OP(m, func)), TMETAL_E_MSL_VERSION, tmi_msl_text(k->msl_version), tmi_msl_text(job->opt->msl));
    tmi_help(job, NULL, "ask for that version, or leave the option out");
}

static void tmi_compile_func(tmi_job *job, tmi_module *m, uint32_t func, const tmetal_gpu *gpu, tmetal_kernel *k) {
    tmi_plan p;
    tmi_thr  t;
    uint32_t bytes, limit;
    for (limit = gpu->tg_bytes;; limit /= 2) { /* products stage less at a time until all fits */
        tmi_plan_make(job, m, func, gpu, &p);
        p.stage_limit = limit - limit / 4;
        tmi_thr_init(job, m, &t);
        tmi_lower_func(&p, &t);
        bytes = tmi_clean(&t, gpu->tg_bytes / 2);
        if (bytes <= gpu->tg_bytes) break;
        if (limit < 2048) {
            tmi_error(job, tmi_at_of(m, TMI_OP(m, func)), TMETAL_E_TG_MEMORY, bytes, gpu->name, gpu->tg_bytes);
            return;
        }
    }
    tmi_emit_kernel(&p, &t, bytes, k);
    tmi_check_version(job, m, func, k);
    tmi_report_layouts(&p, k);
    tmi_report_kernel(&p, bytes);
}

static int tmi_options_ok(tmi_job *job) {
    tmi_at      nowhere;
    const char *s = job->opt->alias;
    uint32_t    a, b;
    size_t      i, n = sizeof tmi_msl_versions / sizeof *tmi_msl_versions;
    int         more;
    memset(&nowhere, 0, sizeof nowhere);
    for (i = 0; i < n && tmi_msl_versions[i].number != job->opt->msl; i++) {}
    if (job->opt->msl && i == n) tmi_error(job, nowhere, TMETAL_E_OPTION, "msl", "versions are 300, 310, 320, 400 and 410");
    while ((more = tmi_alias_pair(&s, &a, &b)) > 0) {}
    if (more < 0) tmi_error(job, nowhere, TMETAL_E_OPTION, "alias", "wanted pairs of parameters such as \"0=3,1=4\"");
    return job->out->code == TMETAL_OK;
}

static const tmetal_gpu *tmi_pick_gpu(tmi_job *job) {
    tmi_at nowhere;
    const tmetal_gpu *gpu = tmi_gpu_named(job->opt->gpu ? job->opt->gpu : "apple-m1");
    memset(&nowhere, 0, sizeof nowhere);
    if (!gpu) tmi_error(job, nowhere, TMETAL_E_GPU_NAME, job->opt->gpu);
    if (gpu && job->opt->threads && (!tmi_is_pow2(job->opt->threads) || job->opt->threads < 32 || job->opt->threads > gpu->threads)) {
        tmi_error(job, nowhere, TMETAL_E_THREADS, job->opt->threads, "wanted a power of two from 32 to the GPU's limit");
        return NULL;
    }
    return tmi_options_ok(job) ? gpu : NULL;
}

static int tmi_is_kernel(const tmi_module *m, uint32_t op) {
    return TMI_OP(m, op)->kind == TMI_OP_FUNC && strcmp(tmi_attr_str(m, TMI_OP(m, op), "sym_visibility"), "private") != 0 &&
           tmi_op_body(m, TMI_OP(m, op), 0);
}

/* Every public function of a module becomes a kernel, in order. */
static void tmi_compile_module(tmi_job *job, tmi_module *m) {
    const tmetal_gpu *gpu = tmi_pick_gpu(job);
    uint32_t op, n = 0, first = TMI_BLOCK(m, tmi_op_body(m, TMI_OP(m, m->top), 0))->first_op;
    tmetal_kernel *kernels;
    if (!gpu) return;
    job->most_copied = tmi_most_copied(job, m);
    for (op = first; op; op = TMI_OP(m, op)->next)
        if (tmi_is_kernel(m, op)) {
            (void)tmi_refuse_all(job, m, op);
            n++;
        }
    if (job->n_errors) return;
    for (op = first; op; op = TMI_OP(m, op)->next)
        if (tmi_is_kernel(m, op) && !tmi_transform(job, m, op)) return;
    kernels = TMI_NEW(job, tmetal_kernel, n);
    n = 0;
    for (op = first; op; op = TMI_OP(m, op)->next)
        if (tmi_is_kernel(m, op)) {
            tmi_mark mark = tmi_mark_take(job);
            tmi_compile_func(job, m, op, gpu, &kernels[n++]);
            tmi_mark_drop(job, mark);
        }
    if (job->n_errors) return;
    job->out->gpu = gpu->name;
    job->out->kernels = kernels;
    job->out->n_kernels = n;
}

/* -- The plan as JSON ----------------------------------------------------------------------------------------- */

static void tmi_put_json_string(tmi_text *t, const char *s) {
    tmi_put_char(t, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') tmi_put_char(t, '\\');
        if (c >= 32) tmi_put_char(t, (char)c);
        else {
            tmi_put_str(t, "\\u00");
            tmi_put_hex(t, c, 2);
        }
    }
    tmi_put_char(t, '"');
}

static void tmi_put_json_arg(tmi_text *t, const tmetal_arg *a) {
    static const char *const kinds[] = {"buffer", "bytes", "scratch", "address", "debug"};
    static const char *const access[] = {"none", "read", "write", "read_write"};
    tmi_put(t, "{\"param\":%u,\"name\":", a->param);
    tmi_put_json_string(t, a->name);
    tmi_put(t, ",\"index\":%u,\"kind\":\"%s\",\"type\":", a->index, kinds[a->kind]);
    tmi_put_json_string(t, a->type);
    if (a->kind == TMETAL_ARG_SCRATCH) tmi_put(t, ",\"id\":%u", a->param);
    if (a->kind == TMETAL_ARG_BYTES || a->kind == TMETAL_ARG_ADDRESS) tmi_put(t, ",\"offset\":%u,\"size\":%u", a->offset, a->size);
    if (a->kind == TMETAL_ARG_DEBUG) tmi_put(t, ",\"bytes\":%u", a->size);
    if (a->kind != TMETAL_ARG_BYTES) tmi_put(t, ",\"access\":\"%s\",\"align\":%u", access[a->access & 3], a->align);
    tmi_put_char(t, '}');
}

static void tmi_put_json_plan(tmi_text *t, const tmetal_result *r) {
    uint32_t i, k;
    tmi_put_str(t, "{\"tmetal_plan\":1,\"gpu\":");
    tmi_put_json_string(t, r->gpu ? r->gpu : "");
    tmi_put_str(t, ",\"scratch\":[");
    for (i = 0; i < r->n_scratch; i++) tmi_put(t, "%s{\"id\":%u,\"bytes\":%llu}", i ? "," : "", r->scratch[i].id, (unsigned long long)r->scratch[i].bytes);
    tmi_put_str(t, "],\"kernels\":[");
    for (i = 0; i < r->n_kernels; i++) {
        const tmetal_kernel *n = &r->kernels[i];
        tmi_put_str(t, i ? ",\n {\"name\":" : "\n {\"name\":");
        tmi_put_json_string(t, n->name);
        tmi_put_str(t, ",\"entry\":");
        tmi_put_json_string(t, n->entry);
        tmi_put(t, ",\"threads_per_threadgroup\":%u", n->threads);
        if (n->grid[0] || n->grid[1] || n->grid[2]) tmi_put(t, ",\"grid\":{\"x\":%u,\"y\":%u,\"z\":%u}", n->grid[0], n->grid[1], n->grid[2]);
        else tmi_put_str(t, ",\"grid\":\"program\"");
        tmi_put(t, ",\"threadgroup_bytes\":%u,\"dynamic_threadgroup_bytes\":[],\"msl\":\"%s\",\"family\":%u", n->threadgroup_bytes, tmi_msl_text(n->msl_version), n->family);
        tmi_put(t, ",\"max_total_threads\":%u,\"args\":[", n->max_total_threads);
        for (k = 0; k < n->n_args; k++) {
            tmi_put_str(t, k ? ",\n  " : "\n  ");
            tmi_put_json_arg(t, &n->args[k]);
        }
        tmi_put_str(t, "]}");
    }
    tmi_put_str(t, "]}\n");
}

/*==============================================================================
 * >>entry  [20]  Public functions and the one setjmp
 *
 * gives   everything of >>api
 * uses    every floor; nothing here but calls
 *============================================================================*/

static const tmetal_options tmi_default_options = {NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL};

/* What a call works on; passed through tmi_run. */
typedef struct tmi_call {
    const char     *src;
    size_t          len;
    tmetal_module  *module;
    const tmetal_module *given, *other;
    const tmetal_result *result;
    const tmetal_diag   *diag;
    const char     *text;
    size_t          text_len;
    int             truth;
    int             no_text; /* tmetal_plan leaves the Metal out */
    tmetal_builder *builder;
    tmi_make_fn     make;
    const tmi_make *args;
    uint32_t        made;
} tmi_call;

typedef void (*tmi_step)(tmi_job *, tmi_call *);

/* The arena's room between both ends, aligned. */
static int tmi_job_begin(tmi_job *job, tmetal_arena *arena, const tmetal_options *opt, tmetal_result *out) {
    uintptr_t base = (uintptr_t)arena->base, at;
    memset(job, 0, sizeof *job);
    memset(out, 0, sizeof *out);
    job->arena = arena;
    job->opt = opt ? opt : &tmi_default_options;
    job->out = out;
    job->floor = "base";
    arena->need = 0;
    at = (base + arena->used + TMI_ALIGN - 1) & ~(uintptr_t)(TMI_ALIGN - 1);
    if (!arena->base || at - base > arena->cap) return 0;
    arena->used = (size_t)(at - base);
    job->end = (size_t)(((base + arena->cap) & ~(uintptr_t)(TMI_ALIGN - 1)) - base);
    if (job->end < arena->used || job->end > arena->cap) return 0;
    job->top = job->end;
    return 1;
}

/* The diagnostic of a full arena lives in the result: there is no arena left to hold it. */
static void tmi_report_full(tmetal_arena *arena, tmetal_result *out) {
    uint64_t n[2];
    const char *parts[3] = {"arena is full: needs at least ", " bytes, has ", ""};
    size_t   at = 0, i, k, len;
    if (!arena->need) arena->need = arena->cap + TMI_ALIGN;
    n[0] = arena->need;
    n[1] = arena->cap;
    for (i = 0; i < 3; i++) {
        char     digits[24];
        uint64_t v = i < 2 ? n[i] : 0;
        len = strlen(parts[i]);
        memcpy(out->full_text + at, parts[i], len);
        at += len;
        if (i == 2) break;
        k = sizeof digits;
        do digits[--k] = (char)('0' + (int)(v % 10));
        while ((v /= 10) != 0);
        memcpy(out->full_text + at, digits + k, sizeof digits - k);
        at += sizeof digits - k;
    }
    out->full_text[at] = '\0';
    out->code = TMETAL_E_ARENA;
    memset(&out->full, 0, sizeof out->full);
    out->full.code = TMETAL_E_ARENA;
    out->full.message = out->full_text;
    out->full.note = out->full.excerpt = "";
    out->full.help = "give a larger arena; tmetal_arena_bound(len) says how much always suffices";
    out->kernels = NULL;
    out->n_kernels = out->n_scratch = 0;
    out->diags = &out->full;
    out->n_diags = 1;
    out->remarks = NULL;
    out->n_remarks = 0;
}

/* Run one step with the arena's exits caught. */
static tmetal_code tmi_run(tmi_step step, tmi_call *call, tmetal_arena *arena, const tmetal_options *opt, tmetal_result *out) {
    tmi_job      job;
    tmetal_arena before = *arena;
    int          left = 0;
    if (!tmi_job_begin(&job, arena, opt, out)) {
        tmi_report_full(arena, out);
        return out->code;
    }
#ifndef TMETAL_NO_SETJMP
    left = setjmp(job.full);
#endif
    if (left == 0) {
        step(&job, call);
        tmi_diags_finish(&job);
    } else if (left == 1) {
        size_t peak = arena->peak, need = arena->need;
        *arena = before;
        arena->peak = peak;
        arena->need = need;
        tmi_report_full(arena, out);
        return out->code;
    } else {
        job.top = job.end; /* the job is not used any more: its scratch is free for the diagnostics */
        tmi_diags_finish(&job);
        out->n_kernels = 0;
    }
    return out->code;
}

TMETAL_API tmetal_arena tmetal_arena_on(void *memory, size_t bytes) {
    tmetal_arena a;
    memset(&a, 0, sizeof a);
    a.base = memory;
    a.cap = bytes;
    return a;
}

/* Why this suffices. Every phase takes memory in proportion to what it is given, and what it is given is in
 * proportion to the text:
 *   reading    a token is at least one byte of text and makes a bounded number of table entries; the
 *              dearest text for its length is one of tiny ops: under 100 bytes a byte
 *   passes     add a bounded number of ops for each; copies are limited to 1,000 + len / 8 (tmi_may_copy),
 *              nesting to TMI_MAX_DEPTH, blocks of a region to TMI_MAX_BLOCKS, so nothing grows faster
 *   planning   some words for each value and op, all in scratch, freed kernel by kernel
 *   printing   a bounded number of lines for each per-thread instruction; a function of the library stands
 *              at most once in a kernel, whose own text is some 50 bytes at least
 * tests/unit/bound.c measures it: recorded kernels, the same squeezed to what is needed, and modules made to
 * be dear take at most a third of the bytes per byte below; the fixed part holds the copies that any text
 * may ask for. */
#define TMI_BOUND_PER_BYTE 512u
#define TMI_BOUND_FIXED    (2u << 20)

TMETAL_API size_t tmetal_arena_bound(size_t len) {
    return tmi_add_sat(tmi_mul_sat(len, TMI_BOUND_PER_BYTE), TMI_BOUND_FIXED);
}

/* What C cannot refuse: a pointer that is not there. */
static int tmi_is_given(tmi_job *job, const void *p, const char *what, const char *help) {
    tmi_at nowhere;
    memset(&nowhere, 0, sizeof nowhere);
    if (p) return 1;
    tmi_error(job, nowhere, TMETAL_E_MISUSE, what);
    tmi_help(job, NULL, help);
    return 0;
}

static void tmi_step_read(tmi_job *job, tmi_call *c) {
    if (c->len && !tmi_is_given(job, c->src, "no text: src is NULL", NULL)) return;
    job->src = c->len ? c->src : "";
    job->src_len = c->len;
    c->module = tmi_parse_file(job, job->src, c->len);
    if (!job->n_errors) (void)tmi_verify_all(job, c->module);
}

static void tmi_step_parse(tmi_job *job, tmi_call *c) {
    tmi_step_read(job, c);
    if (job->n_errors) return;
    c->module->src = (const char *)memcpy(TMI_NEW(job, char, c->len), c->src, c->len);
    c->module->src_len = c->len;
    c->module->file = tmi_format(job, 0, "%s", tmi_job_file(job));
}

/* What is done with a module that the caller keeps is done with a copy. */
static int tmi_step_take(tmi_job *job, tmi_call *c) {
    if (!tmi_is_given(job, c->given, "no module: it is NULL", "the call that should have made it has failed: see its diagnostics")) return 0;
    c->module = tmi_module_copy(job, c->given);
    job->src = c->given->src;
    job->src_len = c->given->src_len;
    job->src_name = c->given->file ? c->given->file : "<built>";
    return 1;
}

TMETAL_API tmetal_code tmetal_parse(const char *src, size_t len, const tmetal_options *opt, tmetal_arena *arena,
                                    tmetal_module **module, tmetal_result *out) {
    tmi_call c;
    memset(&c, 0, sizeof c);
    c.src = src;
    c.len = len;
    *module = NULL;
    if (tmi_run(tmi_step_parse, &c, arena, opt, out) == TMETAL_OK) *module = c.module;
    return out->code;
}

static void tmi_step_compile(tmi_job *job, tmi_call *c) {
    tmi_step_read(job, c);
    if (!job->n_errors) tmi_compile_module(job, c->module);
}

TMETAL_API tmetal_code tmetal_compile(const char *src, size_t len, const tmetal_options *opt, tmetal_arena *arena, tmetal_result *out) {
    tmi_call c;
    memset(&c, 0, sizeof c);
    c.src = src;
    c.len = len;
    return tmi_run(tmi_step_compile, &c, arena, opt, out);
}

static void tmi_step_emit(tmi_job *job, tmi_call *c) {
    job->no_text = c->no_text;
    if (tmi_step_take(job, c) && tmi_verify_all(job, c->module)) tmi_compile_module(job, c->module);
}

TMETAL_API tmetal_code tmetal_emit(const tmetal_module *module, const tmetal_options *opt, tmetal_arena *arena, tmetal_result *out) {
    tmi_call c;
    memset(&c, 0, sizeof c);
    c.given = module;
    return tmi_run(tmi_step_emit, &c, arena, opt, out);
}

TMETAL_API tmetal_code tmetal_plan(const tmetal_module *module, const tmetal_options *opt, tmetal_arena *arena, tmetal_result *out) {
    tmi_call c;
    memset(&c, 0, sizeof c);
    c.given = module;
    c.no_text = 1;
    return tmi_run(tmi_step_emit, &c, arena, opt, out);
}

static void tmi_step_plan_json(tmi_job *job, tmi_call *c) {
    tmi_mark mark = tmi_mark_take(job);
    tmi_text t;
    tmi_text_init(job, &t);
    tmi_put_json_plan(&t, c->result);
    c->text = tmi_text_join(&t, 0);
    tmi_mark_drop(job, mark);
}

TMETAL_API const char *tmetal_plan_json(const tmetal_result *result, tmetal_arena *arena) {
    tmi_call      c;
    tmetal_result out;
    memset(&c, 0, sizeof c);
    c.result = result;
    return tmi_run(tmi_step_plan_json, &c, arena, NULL, &out) == TMETAL_OK ? c.text : NULL;
}

static void tmi_step_verify(tmi_job *job, tmi_call *c) {
    tmi_mark mark = tmi_mark_take(job);
    if (tmi_step_take(job, c) && tmi_verify_all(job, c->module)) tmi_mark_undo(job, mark); /* the copy has done its work */
}

TMETAL_API tmetal_code tmetal_verify(const tmetal_module *module, const tmetal_options *opt, tmetal_arena *arena, tmetal_result *out) {
    tmi_call c;
    memset(&c, 0, sizeof c);
    c.given = module;
    return tmi_run(tmi_step_verify, &c, arena, opt, out);
}

static void tmi_step_print(tmi_job *job, tmi_call *c) {
    tmi_mark mark = tmi_mark_take(job);
    tmi_text t;
    if (!tmi_is_given(job, c->given, "no module: it is NULL", "the call that should have made it has failed: see its diagnostics")) return;
    tmi_text_init(job, &t);
    tmi_print_text(job, c->given, &t);
    c->text = tmi_text_join(&t, 0);
    c->text_len = t.len;
    tmi_mark_drop(job, mark);
}

TMETAL_API tmetal_code tmetal_print(const tmetal_module *module, tmetal_arena *arena, const char **text, size_t *text_len,
                                    tmetal_result *out) {
    tmi_call c;
    memset(&c, 0, sizeof c);
    c.given = module;
    (void)tmi_run(tmi_step_print, &c, arena, NULL, out);
    *text = c.text;
    *text_len = c.text_len;
    return out->code;
}

static void tmi_step_same(tmi_job *job, tmi_call *c) {
    c->truth = c->given && c->other && tmi_same_module(job, c->given, c->other);
}

TMETAL_API int tmetal_same(const tmetal_module *a, const tmetal_module *b, tmetal_arena *arena) {
    tmi_call      c;
    tmetal_result out;
    tmetal_arena  before = *arena;
    memset(&c, 0, sizeof c);
    c.given = a;
    c.other = b;
    if (tmi_run(tmi_step_same, &c, arena, NULL, &out) != TMETAL_OK) c.truth = 0;
    arena->used = before.used;
    return c.truth;
}

static void tmi_step_diag_text(tmi_job *job, tmi_call *c) {
    const tmetal_diag *d = c->diag;
    const tmetal_place *first = d->python.file ? &d->python : &d->ir;
    tmi_mark mark = tmi_mark_take(job);
    tmi_text t;
    uint32_t i, n;
    tmi_text_init(job, &t);
    if (first->file) tmi_put_str(&t, first->file);
    if (first->line) tmi_put(&t, ":%u:%u", first->line, first->col);
    tmi_put(&t, "%serror[TM%u]: %s\n", first->file ? ": " : "", (unsigned)d->code, d->message);
    if (d->ir.line) {
        if (d->python.file) tmi_put(&t, "   --> %s:%u:%u\n", d->ir.file, d->ir.line, d->ir.col);
        if (*d->excerpt) {
            for (n = 1, i = d->ir.line; i >= 10; i /= 10) n++;
            tmi_put(&t, " %u | %s\n ", d->ir.line, d->excerpt);
            for (i = 0; i < n; i++) tmi_put_char(&t, ' ');
            tmi_put_str(&t, " | ");
            for (i = 1; i < d->ir.col && i <= 160; i++) tmi_put_char(&t, ' ');
            tmi_put_str(&t, "^\n");
        }
    }
    if (*d->note) tmi_put(&t, "note: %s\n", d->note);
    if (*d->help) tmi_put(&t, "help: %s\n", d->help);
    c->text = tmi_text_join(&t, 0);
    tmi_mark_drop(job, mark);
}

TMETAL_API const char *tmetal_diag_text(const tmetal_diag *diag, tmetal_arena *arena) {
    tmi_call      c;
    tmetal_result out;
    memset(&c, 0, sizeof c);
    c.diag = diag;
    return tmi_run(tmi_step_diag_text, &c, arena, NULL, &out) == TMETAL_OK ? c.text : NULL;
}

TMETAL_API const char *tmetal_code_text(tmetal_code code) {
    return tmi_code_text((int)code);
}

TMETAL_API size_t tmetal_gpu_count(void) {
    return TMI_GPU_COUNT;
}

TMETAL_API const tmetal_gpu *tmetal_gpu_at(size_t index) {
    return index < TMI_GPU_COUNT ? &tmi_gpus[index] : NULL;
}

TMETAL_API const tmetal_gpu *tmetal_gpu_named(const char *name) {
    return name ? tmi_gpu_named(name) : NULL;
}

TMETAL_API size_t tmetal_op_count(void) {
    size_t i, n = 0;
    for (i = 1; i < TMI_OP_COUNT; i++) n += !(tmi_ops[i].traits & TMI_INNER);
    return n;
}

TMETAL_API tmetal_op_info tmetal_op_at(size_t index) {
    tmetal_op_info info;
    tmi_op         op;
    size_t         i;
    memset(&info, 0, sizeof info);
    for (i = 1; i < TMI_OP_COUNT; i++) {
        if ((tmi_ops[i].traits & TMI_INNER) || index--) continue;
        info.name = tmi_ops[i].name;
        info.group = tmi_ops[i].group;
        memset(&op, 0, sizeof op);
        op.kind = (uint16_t)i;
        info.lowered = tmi_is_lowered(&op);
        break;
    }
    return info;
}

/* -- Building ------------------------------------------------------------------------------------------ */

static const tmetal_options tmi_build_options = {"<built>", NULL, 0, 0, 0, 0, 0, 0, 0, NULL};

static void tmi_step_make(tmi_job *job, tmi_call *c) {
    c->builder->job = c->builder->p.job = job;
    c->made = c->make(c->builder, c->args);
}

/* A mistake, and a full arena too, are the builder's last deed. */
static uint32_t tmi_build_run(tmetal_builder *b, tmi_make_fn fn, const tmi_make *args) {
    tmi_call      c;
    tmetal_result out;
    if (!b || b->code) return 0;
    memset(&c, 0, sizeof c);
    c.builder = b;
    c.make = fn;
    c.args = args;
    if (tmi_run(tmi_step_make, &c, b->arena, &tmi_build_options, &out) == TMETAL_OK) return c.made;
    b->code = out.code;
    b->diags = out.diags;
    b->n_diags = out.n_diags;
    return 0;
}

static void tmi_step_begin(tmi_job *job, tmi_call *c) {
    c->builder = TMI_NEW(job, tmetal_builder, 1);
    tmi_make_begin(job, c->builder);
}

TMETAL_API tmetal_builder *tmetal_build_begin(tmetal_arena *arena) {
    tmi_call      c;
    tmetal_result out;
    memset(&c, 0, sizeof c);
    return tmi_run(tmi_step_begin, &c, arena, &tmi_build_options, &out) == TMETAL_OK ? c.builder : NULL;
}

TMETAL_API tmetal_code tmetal_build_end(tmetal_builder *b, tmetal_module **module, tmetal_result *out) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    memset(out, 0, sizeof *out);
    *module = NULL;
    if (!b) { /* tmetal_build_begin had no room */
        tmetal_arena none = tmetal_arena_on(NULL, 0);
        tmi_report_full(&none, out);
        return out->code;
    }
    if (tmi_build_run(b, tmi_make_end, &k)) *module = b->m;
    if (b->code == TMETAL_E_ARENA) {
        tmi_report_full(b->arena, out);
        return out->code;
    }
    out->code = b->code;
    out->diags = b->diags;
    out->n_diags = b->n_diags;
    if (!b->code) b->code = TMETAL_E_MISUSE; /* the builder's work is done */
    return out->code;
}

TMETAL_API tmetal_type tmetal_build_type(tmetal_builder *b, const char *text) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.name = text;
    return tmi_build_run(b, tmi_make_type, &k);
}

TMETAL_API tmetal_type tmetal_build_type_of(tmetal_builder *b, tmetal_value value) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.value = value;
    return tmi_build_run(b, tmi_make_type_of, &k);
}

TMETAL_API void tmetal_build_kernel(tmetal_builder *b, const char *name, const tmetal_type *args, const char *const *arg_names, uint32_t n_args) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.name = name;
    k.types = args;
    k.n_types = n_args;
    k.names = arg_names;
    k.is_public = 1;
    (void)tmi_build_run(b, tmi_make_func, &k);
}

TMETAL_API void tmetal_build_func(tmetal_builder *b, const char *name, const tmetal_type *args, const char *const *arg_names, uint32_t n_args,
                                  const tmetal_type *results, uint32_t n_results) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.name = name;
    k.types = args;
    k.n_types = n_args;
    k.names = arg_names;
    k.in = results;
    k.n_in = n_results;
    (void)tmi_build_run(b, tmi_make_func, &k);
}

TMETAL_API tmetal_value tmetal_build_arg(tmetal_builder *b, uint32_t index) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.index = index;
    return tmi_build_run(b, tmi_make_arg, &k);
}

TMETAL_API void tmetal_build_divisible(tmetal_builder *b, uint32_t index, uint32_t bytes) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.index = index;
    k.value = bytes;
    (void)tmi_build_run(b, tmi_make_arg_attrs, &k);
}

TMETAL_API void tmetal_build_arg_attrs(tmetal_builder *b, uint32_t index, const char *attrs) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.index = index;
    k.attrs = attrs ? attrs : "";
    (void)tmi_build_run(b, tmi_make_arg_attrs, &k);
}

TMETAL_API void tmetal_build_attrs(tmetal_builder *b, const char *attrs) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.attrs = attrs;
    (void)tmi_build_run(b, tmi_make_attrs, &k);
}

TMETAL_API void tmetal_build_return(tmetal_builder *b, const tmetal_value *values, uint32_t n) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.in = values;
    k.n_in = n;
    (void)tmi_build_run(b, tmi_make_return, &k);
}

TMETAL_API void tmetal_build_place(tmetal_builder *b, const char *file, uint32_t line, uint32_t col) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.name = file;
    k.index = line;
    k.value = col;
    (void)tmi_build_run(b, tmi_make_place, &k);
}

TMETAL_API void tmetal_build_name(tmetal_builder *b, tmetal_value value, const char *name) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.value = value;
    k.name = name;
    (void)tmi_build_run(b, tmi_make_name, &k);
}

TMETAL_API tmetal_value tmetal_build_op(tmetal_builder *b, const char *op, const tmetal_value *operands, uint32_t n_operands,
                                        const char *attrs, tmetal_type type) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.name = op;
    k.in = operands;
    k.n_in = n_operands;
    k.attrs = attrs;
    k.types = type ? &type : NULL;
    k.n_types = type ? 1 : 0;
    return tmi_build_run(b, tmi_make_op, &k);
}

TMETAL_API tmetal_value tmetal_build_op_n(tmetal_builder *b, const char *op, const tmetal_value *operands, uint32_t n_operands,
                                          const char *attrs, const tmetal_type *types, uint32_t n_types) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.name = op;
    k.in = operands;
    k.n_in = n_operands;
    k.attrs = attrs;
    k.types = types;
    k.n_types = n_types;
    return tmi_build_run(b, tmi_make_op, &k);
}

TMETAL_API tmetal_value tmetal_build_result(tmetal_builder *b, tmetal_value first, uint32_t index) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.value = first;
    k.index = index;
    return tmi_build_run(b, tmi_make_result, &k);
}

TMETAL_API tmetal_value tmetal_build_int(tmetal_builder *b, tmetal_type type, int64_t value) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.types = &type;
    k.n_types = 1;
    k.i = value;
    return tmi_build_run(b, tmi_make_int, &k);
}

TMETAL_API tmetal_value tmetal_build_float(tmetal_builder *b, tmetal_type type, double value) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.types = &type;
    k.n_types = 1;
    k.f = value;
    return tmi_build_run(b, tmi_make_float, &k);
}

TMETAL_API void tmetal_build_open(tmetal_builder *b, const char *op, const tmetal_value *operands, uint32_t n_operands, const char *attrs,
                                  const tmetal_type *types, uint32_t n_types) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.name = op;
    k.in = operands;
    k.n_in = n_operands;
    k.attrs = attrs;
    k.types = types;
    k.n_types = types ? n_types : 0;
    (void)tmi_build_run(b, tmi_make_open, &k);
}

TMETAL_API tmetal_value tmetal_build_body_arg(tmetal_builder *b, uint32_t index) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.index = index;
    return tmi_build_run(b, tmi_make_body_arg, &k);
}

TMETAL_API void tmetal_build_next(tmetal_builder *b, const tmetal_value *values, uint32_t n) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.in = values;
    k.n_in = n;
    (void)tmi_build_run(b, tmi_make_next, &k);
}

TMETAL_API tmetal_value tmetal_build_close(tmetal_builder *b, const tmetal_value *yields, uint32_t n) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.in = yields;
    k.n_in = n;
    return tmi_build_run(b, tmi_make_close, &k);
}

TMETAL_API tmetal_block tmetal_build_block(tmetal_builder *b, const tmetal_type *args, uint32_t n_args) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.types = args;
    k.n_types = n_args;
    return tmi_build_run(b, tmi_make_block, &k);
}

TMETAL_API tmetal_value tmetal_build_block_arg(tmetal_builder *b, tmetal_block block, uint32_t index) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.to = block;
    k.index = index;
    return tmi_build_run(b, tmi_make_block_arg, &k);
}

TMETAL_API void tmetal_build_enter(tmetal_builder *b, tmetal_block block) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.to = block;
    (void)tmi_build_run(b, tmi_make_enter, &k);
}

TMETAL_API void tmetal_build_branch(tmetal_builder *b, tmetal_block to, const tmetal_value *values, uint32_t n) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.to = to;
    k.in = values;
    k.n_in = n;
    (void)tmi_build_run(b, tmi_make_branch, &k);
}

TMETAL_API void tmetal_build_branch_if(tmetal_builder *b, tmetal_value condition, tmetal_block yes, const tmetal_value *yes_values, uint32_t n_yes,
                                       tmetal_block no, const tmetal_value *no_values, uint32_t n_no) {
    tmi_make k;
    memset(&k, 0, sizeof k);
    k.value = condition;
    k.to = yes;
    k.in = yes_values;
    k.n_in = n_yes;
    k.to2 = no;
    k.in2 = no_values;
    k.n_in2 = n_no;
    k.is_cond = 1;
    (void)tmi_build_run(b, tmi_make_branch, &k);
}

#endif /* TMETAL_IMPLEMENTED */
#endif /* TMETAL_IMPLEMENTATION */
