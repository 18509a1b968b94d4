"""What generated modules refuse, and what they must take: misuse.py BUILD. Prints what is not so; exits 1 then."""
import builtins
import fractions
import inspect
import math
import os
import platform
import random
import struct
import sys

import run
from run import mx, simulator, torch

BUILD = sys.argv[1]
failed = []


def module(path, library, *options):
    name = os.path.join(BUILD, "python", "misuse_" + os.path.basename(path).split(".")[0].replace("-", "_") + "_" + library)
    said = run.tmetal(BUILD, path, library + "-py", name + ".py", *options)
    return run.load(name + ".py") if not said else said


def expect(what, ok):
    if not ok:
        failed.append(what)


def raises(what, kind, text, function, *args, **more):
    try:
        function(*args, **more)
    except kind as e:
        expect(f"{what}: says '{e}', not '{text}'", text in str(e))
    except Exception as e:
        expect(f"{what}: raises {type(e).__name__}: {e}", False)
    else:
        expect(f"{what}: is taken", False)


def tensors(n=1000):
    x, y = (torch.tensor([float(i % 97) for i in range(n)], device="mps") for _ in "xy")
    return x, y, torch.empty(n, device="mps")


# -- PyTorch ------------------------------------------------------------------------------------
add = module("examples/kernels/vector_add.ttir", "torch").vector_add
x, y, out = tensors()
want = [a + b for a, b in zip(x.tolist(), y.tolist())]
for grid in (4, (4,), [4, 1], (4, 1, 1)):
    out._memory = simulator.Memory(4000)
    add(x, y, out, 1000, grid=grid)
    expect(f"grid {grid}", out.tolist() == want)
before = out.tolist()
add(x, y, out, 1000, grid=(4, 0))
expect("a grid of nothing runs nothing", out.tolist() == before)
raises("no grid", TypeError, "grid", add, x, y, out, 1000)
raises("a callable grid", TypeError, "constexpr", add, x, y, out, 1000, grid=lambda meta: (4,))
raises("a grid of four", TypeError, "one to three", add, x, y, out, 1000, grid=(1, 1, 1, 1))
raises("a grid of floats", TypeError, "float", add, x, y, out, 1000, grid=4.0)
raises("a negative grid", ValueError, "negative", add, x, y, out, 1000, grid=-1)
raises("a grid that Metal cannot count", ValueError, "more than", add, x, y, out, 1000, grid=1 << 31)
raises("a grid that Triton cannot count", ValueError, "can be counted", add, x, y, out, 1000, grid=(1, 1, 1 << 31))
raises("too few arguments", TypeError, "'n'", add, x, y, out, grid=4)
raises("a list for a tensor", TypeError, "x_ptr must be a tensor", add, [1.0], y, out, 1000, grid=4)
raises("a tensor of the CPU", TypeError, "on the device mps", add, torch.empty(8), y, out, 8, grid=1)
raises("another type", TypeError, "float32, not torch.float16", add, torch.empty(8, dtype=torch.float16, device="mps"), y, out, 8, grid=1)
raises("a tensor that begins elsewhere", ValueError, "multiple of 16 bytes", add, x[1:], y, out, 8, grid=1)
raises("one tensor twice", ValueError, "x_ptr and out_ptr are one tensor", add, x, y, x, 1000, grid=4)
raises("a number that does not fit", OverflowError, "n does not fit i32", add, x, y, out, 1 << 32, grid=4)
raises("a float for an integer", TypeError, "n must be a number of type i32: 'float'", add, x, y, out, 1.5, grid=4)
add(x, x, out, 1000, grid=4)
expect("one tensor read twice", out.tolist() == [2 * a for a in x.tolist()])
some = torch.zeros(64, device="mps")
add(x[4:12], y[8:16], some[16:24], 8, grid=1)
expect("offsets that the alignment allows", some.tolist()[16:24] == [a + b for a, b in zip(x.tolist()[4:12], y.tolist()[8:16])]
       and not any(some.tolist()[:16] + some.tolist()[24:]))

special = module("tests/metal/specialized.ttir", "torch").specialized
some, x64, y64 = torch.zeros(64, device="mps"), torch.tensor([1.0] * 64, device="mps"), torch.tensor([2.0] * 64, device="mps")
raises("an integer that the kernel was not compiled for", ValueError, "`n` is 1000, but this kernel was compiled for a multiple of 16",
       special, x64, y64, some, 1000, 32, 0, grid=1)
raises("a negative one", ValueError, "`m` is -40, but this kernel", special, x64, y64, some, 48, -40, 0, grid=1)
expect("nothing ran", not any(some.tolist()))
special(x64, y64, some, 48, -32, 7, grid=1)
expect("multiples, and one that nothing reads", some.tolist() == [6.0] * 48 + [0.0] * 16)

both = module("tests/metal/specialized.ttir", "torch", "--also-unaligned")
some = torch.zeros(64, device="mps")
both.specialized(x64, y64, some, 48, 32, 7, grid=1)
expect("both variants: multiples", some.tolist() == [6.0] * 48 + [0.0] * 16 and both._libraries[0] and not both._libraries[1])
both.specialized(x64, y64, some, 49, 31, 7, grid=1)
expect("both variants: others", some.tolist() == [3.0] * 49 + [0.0] * 15)
expect("both variants: the second is compiled", both._libraries[1])
long, short = torch.tensor([float(i) for i in range(80)], device="mps"), torch.zeros(64, device="mps")
both.specialized(long[1:65], y64, short, 16, 16, 0, grid=1)
expect("both variants: a tensor that begins elsewhere", short.tolist()[:16] == [2.0 * (i + 3) for i in range(16)])
raises("both variants: a float", TypeError, "", both.specialized, x64, y64, some, 48.5, 32, 0, grid=1)
raises("both variants: a list for a tensor", TypeError, "x must be a tensor", both.specialized, [1.0], y64, some, 48, 32, 0, grid=1)
expect("nothing to choose between: one variant", "_SOURCES" not in inspect.getsource(module("tests/kernels/lookalikes/accumulate_bits.ttir", "torch", "--also-unaligned")))

every = module("tests/kernels/recorded/arguments-every_scalar.ttir", "torch").every_scalar
out = torch.empty(7, dtype=torch.int64, device="mps")
every(out, True, False, 7, 2**31, -1, 2**63 + 5, 2.5, grid=1)
expect(f"scalars: {out.tolist()}", out.tolist()[3:6] == [-2**31, -1, 5 - 2**63] and out.tolist()[:3] == [1, 0, 7])
raises("a truth of 2", OverflowError, "flag does not fit i1", every, out, 2, False, 7, 0, 0, 0, 2.5, grid=1)
raises("a tensor for a float", TypeError, "must be a number of type f32", every, out, 1, False, 7, 0, 0, 0, out, grid=1)
raises("a float that f32 cannot hold", OverflowError, "does not fit f32", every, out, 1, False, 7, 0, 0, 0, 1e300, grid=1)

# Numbers are rounded once, to nearest even: against exact arithmetic.
bits = sys.modules[every.__module__]._bits if every.__module__ in sys.modules else every.__globals__["_bits"]
random.seed(10)
for _ in range(20000):
    v = struct.unpack("<f", struct.pack("<I", random.getrandbits(32) & 0xffff8000))[0]
    if v != v or math.isinf(v):
        continue
    v += random.choice((0, 0, 1, -1)) * math.ulp(v)
    if abs(v) > 3e38:
        continue
    got = bits("x", v, "bf16")
    near = [struct.unpack("<f", struct.pack("<I", (b & 0xffff) << 16))[0] for b in (got - 1, got, got + 1)]
    off = [abs(fractions.Fraction(n) - fractions.Fraction(v)) if math.isfinite(n) else None for n in near]
    worse = [o for o in (off[0], off[2]) if o is not None]
    if any(o < off[1] or o == off[1] and got & 1 for o in worse):
        expect(f"bf16 of {v.hex()} is {got:#x}", False)
        break
expect("bf16 of infinities and NaN", [bits("x", v, "bf16") for v in (math.inf, -math.inf)] == [0x7f80, 0xff80]
       and bits("x", math.nan, "bf16") & 0x7fff > 0x7f80)
expect("f16", bits("x", 1.0, "f16") == 0x3c00 and bits("x", math.inf, "f16") == 0x7c00)

# Fast maths before macOS 15, which PyTorch turns on when asked.
os.environ["PYTORCH_MPS_FAST_MATH"] = "1"
version, x8 = platform.mac_ver, tensors(8)
fresh = module("examples/kernels/vector_add.ttir", "torch").vector_add
platform.mac_ver = lambda: ("14.5", ("", "", ""), "arm64")
raises("fast maths on macOS 14", RuntimeError, "PYTORCH_MPS_FAST_MATH", fresh, *x8, 8, grid=1)
platform.mac_ver = lambda: ("15.1", ("", "", ""), "arm64")
fresh(*x8, 8, grid=1)
platform.mac_ver = version
del os.environ["PYTORCH_MPS_FAST_MATH"]

# -- MLX ------------------------------------------------------------------------------------------
add = module("examples/kernels/vector_add.ttir", "mlx").vector_add
a, b = mx.array([float(i % 97) for i in range(1000)]), mx.array([float(i % 89) for i in range(1000)])
want = [p + q for p, q in zip(a.tolist(), b.tolist())]
for like in ((1000,), 1000, [1000], a, (10, 100)):
    got = add(a, b, like, 1000, grid=4)
    expect(f"MLX: a result of {like if like is not a else 'a'}", got.reshape(1000).tolist() == want)
expect("MLX: the result's shape", add(a, b, (10, 100), 1000, grid=4).shape == (10, 100))
expect("MLX: fewer than 8 elements", add(mx.array([1.0, 2.0]), mx.array(4.0), 2, 1, grid=1, init=9).tolist() == [5.0, 9.0])
expect("MLX: a grid of nothing", add(a, b, 3, 3, grid=0, init=2).tolist() == [2.0] * 3)
raises("MLX: another type", TypeError, "x_ptr must be an array of mlx.core.float32", add, mx.array([1]), b, 8, 8, grid=1)
raises("MLX: no array", TypeError, "x_ptr must be an array", add, [1.0], b, 8, 8, grid=1)
raises("MLX: a result like another type", TypeError, "out_ptr is of mlx.core.float32", add, a, b, mx.array([1]), 1, grid=1)
raises("MLX: a grid that it cannot count", ValueError, "more than", add, a, b, 8, 8, grid=1 << 26)
raises("MLX: an array for a number", TypeError, "n must be a number of type i32", add, a, b, 8, a, grid=1)
raises("MLX: a number that does not fit", OverflowError, "does not fit", add, a, b, 8, -2**31 - 1, grid=1)

special = module("tests/metal/specialized.ttir", "mlx").specialized
x64, y64 = mx.array([1.0] * 64), mx.array([2.0] * 64)
raises("MLX: an integer that the kernel was not compiled for", ValueError, "`n` is 1000, but this kernel was compiled for a multiple of 16",
       special, x64, y64, 64, 1000, 32, 0, grid=1)
expect("MLX: multiples", special(x64, y64, 64, 48, 32, 7, grid=1, init=0).tolist() == [6.0] * 48 + [0.0] * 16)
both = module("tests/metal/specialized.ttir", "mlx", "--also-unaligned").specialized
for n, m, want in ((48, 32, 6.0), (49, 32, 6.0), (48, 31, 3.0)):
    expect(f"MLX: both variants: {n}, {m}", both(x64, y64, 64, n, m, 7, grid=1, init=0).tolist() == [want] * n + [0.0] * (64 - n))

turns = module("tests/kernels/lookalikes/wait_for_program_before.ttir", "torch").wait_for_program_before
numbers = [torch.zeros(9, dtype=torch.int32, device="mps") for _ in "xsr"]
raises("programs in turn that cannot be counted", ValueError, "can be counted", turns, *numbers, grid=(1 << 16, 1 << 15))

asserts = module("tests/metal/asserts.ttir", "torch").asserts
raises("an assertion that fails", AssertionError, "61 assertions failed, one in program (0, 0, 0): below three", asserts, None, None, grid=1)
asserts(None, None, grid=1, check=False)

# -- Op lists, two stages, names, texts ---------------------------------------------------------------
LIST = os.path.join(BUILD, "python", "misuse_list.json")
with open(LIST, "w", encoding="utf-8") as f:
    f.write('{"ops":[{"type":"tt.matmul","id":"h","inputs":["x","w"],"input_shapes":[[6,16],[16,12]],"dtype":"f32"},'
            '{"type":"tt.sum","id":"in","inputs":["h"],"args":{"axis":0}},{"type":"tt.sum","id":"m","inputs":["h"],"args":{"axis":1}}]}')
rows, cols = [[float(r + c % 3) for c in range(16)] for r in range(6)], [[float(r % 5 - c) for c in range(12)] for r in range(16)]
h = [[sum(p * cols[k][c] for k, p in enumerate(row)) for c in range(12)] for row in rows]
sums = [[sum(r[c] for r in h) for c in range(12)], [sum(r) for r in h]]
run_list = module(LIST, "torch").run
x, w = torch.tensor(rows, device="mps"), torch.tensor(cols, device="mps")
expect("an op list by PyTorch", [t.tolist() for t in run_list(x, w)] == sums)
raises("an op list's shape", ValueError, "x must be contiguous and of shape (6, 16,)".replace("16,)", "16)"), run_list, x.view(16, 6), w)
expect("an op list by MLX", [t.tolist() for t in module(LIST, "mlx").run(mx.array(rows), mx.array(cols))] == sums)
raises("MLX: an op list's shape", ValueError, "of shape", module(LIST, "mlx").run, mx.array(cols), mx.array(rows))

# Types with a sign and truths; scratch that stands for one tensor after the other.
TYPED = [("a", "uint8", [1, 2, 250, 4, 5]), ("b", "uint8", [1, 2, 5, 4, 5]), ("d", "int64", [[2**40 + i + j for i in range(4)] for j in range(3)]),
         ("e", "uint32", [[4000000000 + i * j for i in range(4)] for j in range(3)])]
with open(LIST, "w", encoding="utf-8") as f:
    f.write('{"ops":[{"type":"tt.add","id":"c","inputs":["a","b"],"input_shapes":[[5],[5]],"dtype":"u8"},'
            '{"type":"tt.sum","id":"s","inputs":["d"],"input_shapes":[[3,4]],"dtype":"i64","args":{"axis":0}},'
            '{"type":"tt.max","id":"u","inputs":["e"],"input_shapes":[[3,4]],"dtype":"u32","args":{"axis":1}}]}')
want = [("uint8", [2, 4, 255, 8, 10]), ("int64", [3 * 2**40 + 3 + 3 * i for i in range(4)]), ("uint32", [4000000000, 4000000003, 4000000006])]
got = module(LIST, "torch").run(*[torch.tensor(v, dtype=getattr(torch, t), device="mps") for _, t, v in TYPED])
expect("types by PyTorch", [(t.dtype.name, t.tolist()) for t in got] == want)
got = module(LIST, "mlx").run(*[mx.array(v, getattr(mx, t)) for _, t, v in TYPED])
expect("types by MLX", [(t.dtype.name, t.tolist()) for t in got] == want)
with open(LIST, "w", encoding="utf-8") as f:
    f.write('{"ops":[' + "".join(
        f'{{"type":"tt.matmul","id":"h{i}","inputs":["{f"s{i - 1}" if i else "x"}","w{i}"],"input_shapes":[[16,16],[16,16]],"dtype":"f32"}},'
        f'{{"type":"tt.softmax","id":"s{i}","inputs":["h{i}"],"args":{{"axis":1}}}},' for i in range(3)) +
        '{"type":"tt.greater","id":"g","inputs":["s2","t"],"input_shapes":[null,[16,16]]}]}')
given = [[[float((i * 7 + j * 3 + k) % 5) for j in range(16)] for i in range(16)] for k in range(4)]
bound = [[1 / 16] * 16] * 16


def layers():
    x, *weights = given
    for w in weights:
        x = [[sum(p * w[k][c] for k, p in enumerate(row)) for c in range(16)] for row in x]
        x = [[math.exp(v - max(row)) for v in row] for row in x]
        x = [[v / sum(row) for v in row] for row in x]
    return [[v > 1 / 16 for v in row] for row in x]


expect("layers by PyTorch", module(LIST, "torch").run(*[torch.tensor(v, device="mps") for v in (*given, bound)]).tolist() == layers())
expect("layers by MLX", module(LIST, "mlx").run(*[mx.array(v) for v in (*given, bound)]).tolist() == layers())

x = [[float(r * c % 11) for c in range(200)] for r in range(5)]
for library in ("torch", "mlx"):
    two = module("examples/kernels/row_sum.ttir", library, "--two-stage", "4").row_sum
    if library == "torch":
        out = torch.empty(5, device="mps")
        given = (torch.tensor(x, device="mps"), out, 200)
        two(*given, grid=5)
        got = out.tolist()
    else:
        given = (mx.array(x), 5, 200)
        got = two(*given, grid=5).tolist()
    expect("two stages by " + library, got == [sum(r) for r in x])
    raises("two stages with programs along z: " + library, ValueError, "two stages", two, *given, grid=(5, 1, 2))

for library in ("torch", "mlx"):
    names = module("tests/python/names.ttir", library)
    public = [n for n, f in vars(names).items() if callable(f) and "grid" in f.__code__.co_varnames[:14] and (n[0] != "_" or n[-1] == "_")]
    numbers = (1, 2, 0.5, 3, 4, 5, 6, 7, 8)
    called = list(inspect.signature(getattr(names, public[0])).parameters)[:11]
    expect(f"names that give way get a _, others stay: {called}", [n for n in called if n[-1] == "_" and n[0] != "_"] ==
           ["None_", "grid_", "init_", "torch_", "mx_"] and called[0] == "self" and called[5] == "arg3" and public[0] == "lambda_")
    if library == "torch":
        a, b = torch.tensor([1.0, 2.0], device="mps"), torch.zeros(2, device="mps")
        getattr(names, public[0])(a, b, *numbers, grid=2)
        expect(f"names by PyTorch: {b.tolist()}", b.tolist() == [37.5, 38.5])
        getattr(names, public[1])(a, b, grid=1)
        expect("the second function by PyTorch", b.tolist() == [2.0, 38.5])
    else:
        a = mx.array([1.0, 2.0])
        expect("names by MLX", getattr(names, public[0])(a, 2, *numbers, grid=2).tolist() == [37.5, 38.5])
        expect("the second function by MLX", getattr(names, public[1])(a, 1, grid=1).tolist() == [2.0])

def names_of(code):
    """All that a module's code looks up by name, attributes too."""
    return set(code.co_names).union(*(names_of(c) for c in code.co_consts if hasattr(c, "co_names")))


HOSTILE = os.path.join(BUILD, "python", "misuse_hostile.ttir")
for library in ("torch", "mlx"):
    path = os.path.join(BUILD, "python", f"misuse_names_{library}.py")
    globals_of = {**vars(builtins), **vars(run.load(path))}
    with open(path, encoding="utf-8") as f: # builtins, imports and its own helpers
        used = sorted(n for n in names_of(compile(f.read(), "names", "exec")) & set(globals_of) if n[:2] != "__" and n not in public)
    with open(HOSTILE, "w", encoding="utf-8") as f:
        for n in used:
            f.write(f"tt.func public @{n}(%{n}: !tt.ptr<f32>, %v: f32) {{\n  tt.store %{n}, %v : !tt.ptr<f32>\n  tt.return\n}}\n")
    functions = [f for f in vars(module(HOSTILE, library)).values() if "grid" in getattr(getattr(f, "__code__", None), "co_varnames", ())[:4]]
    expect(f"{library}: a function for each of {len(used)} hostile names, {len(functions)} found", len(functions) == len(used))
    for f in functions:
        if library == "torch":
            out = torch.zeros(4, device="mps")
            f(out, 2.5, grid=1)
            expect(f"{f.__name__} by PyTorch", out.tolist() == [2.5, 0, 0, 0])
        else:
            expect(f"{f.__name__} by MLX", f(1, 2.5, grid=1).tolist() == [2.5])

# A text that ends Python's own quotes arrives as it is.
with open(HOSTILE, "w", encoding="utf-8") as f:
    f.write('tt.func public @quotes(%p: !tt.ptr<f32>, %x: f32) {\n  tt.print "\\22\\22\\22 + \\5C\\22" {hex = false, isSigned = array<i32: 0>} : %x : f32\n'
            "  tt.store %p, %x : !tt.ptr<f32>\n  tt.return\n}\n")
run.tmetal(BUILD, HOSTILE, "msl", HOSTILE + ".metal", "--logging")
with open(HOSTILE + ".metal", encoding="ascii") as f:
    text = f.read()
expect("quotes in the text", '""' in text.replace("\\", "") and module(HOSTILE, "torch", "--logging")._SOURCE == text)

for library, path, text, options in (
        ("torch", "tests/kernels/recorded/functions-print_all.ttir", "it cannot do prints", ()),
        ("mlx", "tests/kernels/recorded/functions-print_all.ttir", "debug buffer", ()),
        ("torch", "tests/kernels/recorded/memory-pointer_table.ttir", "pointers", ()),
        ("mlx", "tests/kernels/recorded/memory-in_place.ttir", "read and written", ()),
        ("torch", "examples/kernels/vector_add.ttir", "address", ("--alias", "0=2")),
        ("mlx", "examples/kernels/vector_add.ttir", "overlap", ("--alias", "0=2"))):
    said = module(path, library, *options)
    expect(f"{library} {path}: {said}", isinstance(said, str) and text in said)

print("\n".join("not so: " + what for what in failed) or "python: all misuses are refused, and what is right is taken")
sys.exit(bool(failed))
