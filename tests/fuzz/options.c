/* Options out of range: every field from the input, over kernels and lists that have something for each of them; the same
 * through launch plans, keys and launch code. */
#include "fuzz.h"

static const char *const more[] = {"apple-m1", "apple-m3-max", "apple-a15", "apple7", "Apple M4", "COALESCED", "TILED", "ROW_MAJOR", "COLUMN_MAJOR", "DEFAULT", "%s=TILED", "%s=", ",",
                                   "0=1", "0=1,1=2", "0=0", "99=0", "4294967296=1", "=", "-1=0", NULL};
const fuzz_about fuzz_target = {"options", NULL, more};

static const char *const programs[] = {
    "module { tt.func public @row(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) { %p = tt.get_program_id x : i32 %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32> "
    "%b = arith.muli %p, %n : i32 %xp = tt.addptr %x, %b : !tt.ptr<f32>, i32 %xs = tt.splat %xp : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>> "
    "%a = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32> %v = tt.load %a : tensor<256x!tt.ptr<f32>> %s = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({ ^bb0(%i: f32, %j: f32): "
    "%k = arith.addf %i, %j : f32 tt.reduce.return %k : f32 }) : (tensor<256xf32>) -> f32 %yp = tt.addptr %y, %p : !tt.ptr<f32>, i32 tt.store %yp, %s : !tt.ptr<f32> tt.return } }",
    "module { tt.func public @say(%x: !tt.ptr<f64>, %n: i32) { %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> %xs = tt.splat %x : !tt.ptr<f64> -> tensor<64x!tt.ptr<f64>> "
    "%a = tt.addptr %xs, %r : tensor<64x!tt.ptr<f64>>, tensor<64xi32> %v = tt.load %a : tensor<64x!tt.ptr<f64>> %w = arith.addf %v, %v : tensor<64xf64> tt.store %a, %w : tensor<64x!tt.ptr<f64>> "
    "tt.print \"v: \" {hex = false, isSigned = array<i32: 1>} : %r : tensor<64xi32> tt.return } }",
    "{\"ops\":[{\"id\":\"m\",\"type\":\"matmul\",\"inputs\":[\"x\",\"y\"],\"args\":{\"shapes\":[[64,32],[32,64]],\"dtype\":\"f16\"}},{\"id\":\"s\",\"type\":\"softmax\",\"inputs\":[\"m\"]}]}",
    "tt.sum:[1024,512]:1"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_in               in = {data, size};
    tmetal_options        opt;
    tmetal_arena          arena;
    tmetal_result         r, said;
    const char           *text, *code;
    size_t                n;
    char                  key[TMETAL_KEY_BYTES];
    int32_t               grid[3];
    uint32_t              i, h, count[3];
    int                   is_list;
    tmetal_host_options   host = {NULL, NULL};
    fuzz_begin();
    text = programs[fuzz_below(&in, 4)];
    h = fuzz_below(&in, TMETAL_HOST_COUNT + 1);
    for (i = 0; i < 3; i++) count[i] = fuzz_byte(&in) & 1 ? fuzz_number(&in) : fuzz_byte(&in);
    if (fuzz_byte(&in) & 1) host.name = fuzz_text(&in);
    fuzz_options(&in, &opt);
    tmetal_key(text, strlen(text), &opt, key);
    if (strspn(key, "0123456789abcdef") != 64) fuzz_fail("a key that is none", key);
    is_list = tmetal_is_ops(text, strlen(text));
    arena = fuzz_arena(is_list ? tmetal_arena_bound_list(text, strlen(text)) + (1 << 20) : tmetal_arena_bound(strlen(text)) + (1 << 20));
    (void)(is_list ? tmetal_compile_ops : tmetal_compile)(text, strlen(text), &opt, &arena, &r);
    fuzz_result(&r, 0);
    fuzz_reports(&r, &arena);
    for (i = 0; i < r.n_kernels; i++) (void)tmetal_mlx_grid(&r.kernels[i], count, grid);
    if (tmetal_launch_code(&r, (tmetal_host)h, &host, &arena, &code, &n, &said) == TMETAL_OK) fuzz_plain("launch code", code);
    return 0;
}
