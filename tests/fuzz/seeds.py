"""Where fuzzing starts: files of the tests, cut and joined as the targets read them.

    seeds.py TO TMETAL        writes TO/TARGET/NAME for every target; TMETAL is build/tmetal
"""
import ast
import glob
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile

LONGEST = 12000  # bytes: longer ones are slow to try, and what they reach shorter ones do


def put(to, target, name, text):
    if len(text) > LONGEST:
        return
    os.makedirs(f"{to}/{target}", exist_ok=True)
    with open(f"{to}/{target}/{name}", "wb") as f:
        f.write(text)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def part_of(source, kernel):
    """The imports of a file, and of its other statements those that the kernel needs."""
    lines = source.decode().splitlines(keepends=True)
    body = ast.parse(source).body
    gives = {}
    for n in body:
        for name in [getattr(n, "name", None)] + [x.id for t in getattr(n, "targets", []) for x in ast.walk(t) if isinstance(x, ast.Name)]:
            gives.setdefault(name, n)
    wanted, waiting = set(), [kernel.split(".")[0]]
    while waiting:
        n = gives.get(waiting.pop())
        if n and n not in wanted:
            wanted.add(n)
            waiting += [x.id for x in ast.walk(n) if isinstance(x, ast.Name)]
    out = ""
    for n in body:
        if n in wanted or isinstance(n, (ast.Import, ast.ImportFrom)):
            first = min([n.lineno] + [d.lineno for d in getattr(n, "decorator_list", [])])
            out += "".join(lines[first - 1:n.end_lineno])
    return out.encode()


def python(to):
    for path in sorted(glob.glob("tests/kernels/recorded/*.call") + glob.glob("examples/kernels/*.call")):
        call = read(path)
        fields = dict(re.findall(rb"^(\w+) (.*)$", call, re.M))
        source = read(os.path.join(os.path.dirname(path), fields[b"file"].decode()))
        rest = b"".join(line + b"\n" for line in call.splitlines() if not line.startswith(b"file "))
        put(to, "python", os.path.basename(path), part_of(source, fields[b"kernel"].decode()) + b"\0" + rest)
    put(to, "python", "small", SMALL_PYTHON)
    for path in glob.glob("tests/triton/*.py"):
        put(to, "python", os.path.basename(path), read(path))


def ttir(to):
    """Of the recorded kernels each that is the first of its name: the others differ in sizes."""
    seen = set()
    for path in sorted(glob.glob("examples/kernels/*.ttir") + glob.glob("tests/robust/odd/*.ttir") + glob.glob("tests/detect/*.ttir")
                       + glob.glob("tests/kernels/*/*.ttir")):
        name = re.sub(r"[-_.\d]+", "", os.path.basename(path))
        if name not in seen:
            seen.add(name)
            put(to, "ttir", os.path.basename(path), read(path))
            if not path.startswith("tests/kernels"): # dearer to try
                put(to, "reports", os.path.basename(path), read(path))
                put(to, "arenas", os.path.basename(path), read(path))
    put(to, "ttir", "small", SMALL)


def types(to):
    """Small kernels, each with dice that no byte of is a NUL."""
    dice = random.Random(2)
    paths = sorted(glob.glob("examples/kernels/*.ttir") + glob.glob("tests/detect/*.ttir") + glob.glob("tests/kernels/lookalikes/*.ttir"))
    for path in paths[::4]:
        put(to, "types", os.path.basename(path), read(path) + b"\0" + bytes(dice.randrange(1, 256) for k in range(9)))


def caches(to):
    """Files of the cache on disk without their heads, as build/tmetal writes them; lines of the tuner's cache."""
    for path in sorted(glob.glob("examples/kernels/*.ttir"))[:8]:
        with tempfile.TemporaryDirectory() as dir:
            subprocess.run([TMETAL, "compile", path, "--cache", dir], stdout=subprocess.DEVNULL, check=True)
            for entry in glob.glob(f"{dir}/*.tmetal"):
                put(to, "cache", os.path.basename(path), b"\1" + read(entry)[120:])
                put(to, "cache", os.path.basename(path) + ".whole", b"\0" + read(entry))
    line = b"1PROGRAM SHAPES CHIP BUILD %s\n"
    put(to, "tune", "one", b"1HEAD 1\n" + line % b"1000 3 threads=64")
    put(to, "tune", "two", b"1HEAD 2\n" + line % b"1000 3 planned" + line % b"10 4 threads=64,split=4\n" + b"\0" + b"1HEAD 1\n" + line % b"10 4 layout=TILED")
    put(to, "tune", "trials", b"1tmetal-trials 1 PROGRAM SHAPES CHIP BUILD 2\n10 planned 1000\n11 threads=64 500\n1")


def calls(to):
    """Programs of the builder's machine, and settings of options: any bytes are one, so dice make a few long ones."""
    dice = random.Random(1)
    for i in range(40):
        put(to, "builder", f"dice-{i}", bytes(dice.choice(range(16)) if k % 3 else dice.randrange(256) for k in range(40 + 8 * i)))
        put(to, "options", f"dice-{i}", bytes(dice.randrange(256) for k in range(8 + i)))
    word = lambda *n: b"".join(x.to_bytes(4, "little") for x in n)
    for i, site in enumerate([0, 1, 2, 3, 0x01000002, 4]):
        put(to, "debug", f"site-{i}", word(16, 1, 5, 0, 1, 2, 3, 0) + word(8, site, 0, 1, 2, 3, 0x3f800000, 7) + word(8, site, 0, 1, 2, 3, 0x7fc00000, 7))


SMALL = b"""tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c = arith.constant dense<1.5> : tensor<64xf32> loc("a.py":3:4)
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  tt.store %p, %c : tensor<64x!tt.ptr<f32>>
  tt.return
}
"""
SMALL_PYTHON = b"""import triton
import triton.language as tl
@triton.jit
def k(x, N: tl.constexpr):
  r = tl.arange(0, N)
  for i in range(2, 8):
    tl.store(x + r * i, 1.5)
\0kernel k
args *fp32:16
const N=64
"""

LISTS = """tt.sum:[1024,512]:1
relu:[64,64];softmax:[64,64]
add:[8],[8]
matmul:[64,32],[32,64]:f16
{"ops":[{"id":"a","type":"add","inputs":["x","y"],"shape":[64,128]},{"id":"b","type":"softmax","inputs":["a"]}],"inputs":{"x":[64,128],"y":[64,128]}}
{"ops":[{"id":"m","type":"matmul","inputs":["x","y"],"args":{"shapes":[[64,32],[32,64]],"dtype":"f16"}},{"id":"r","type":"relu","inputs":["m"]}]}
{"ops":[{"type":"attention","args":{"shapes":[[2,64,32],[2,64,32],[2,64,32]]}}]}"""


def lists(to):
    for i, text in enumerate(LISTS.split("\n")):
        put(to, "oplist", f"list-{i}", text.replace(";", "\n").encode())
    for path in ["docs/oplists.md", "docs/fusion.md", "README.md"]:
        for i, block in enumerate(re.findall(rb"```\w*\n(.*?)```", read(path), re.S)):
            if b"ops" in block or re.match(rb"\w[\w.]*:\[", block):
                put(to, "oplist", f"{os.path.basename(path)}-{i}", block)
    for path in glob.glob("tests/**/*.json", recursive=True):
        if b'"ops"' in read(path):
            put(to, "oplist", os.path.basename(path), read(path))
    for path in sorted(glob.glob(f"{to}/oplist/*")):
        put(to, "reports", os.path.basename(path), read(path))
        put(to, "arenas", os.path.basename(path), read(path))


def found(to):
    for path in glob.glob("tests/fuzz/found/*/*"):
        put(to, path.split("/")[-2], "found-" + os.path.basename(path), read(path))


def small_shapes(to):
    """Every op on tensors of few elements and of none, along every axis: what is 1 or missing is left out somewhere."""
    words = re.findall(r'^    X\(\w+, +"(\w+)", +\w+, +\w+, \d, \d\)', read("tmetal.h").decode(), re.M)
    dims = ["[]", "[0]", "[1]", "[3]", "[1,3]", "[3,1]", "[2,0]", "[1,1,1]", "[2,3,2]", "[5,1,3,1]", "[1,1,2,1,3]", "[1024]", "[7,1000]"]
    dice = random.Random(7)
    for op in words:
        for shape in dims:
            lines = [f"{op}:{shape}"] + [f"{op}:{shape}:{axis}" for axis in (0, -1, "[0,1]")]
            lines += [f"{op}:{shape},{dice.choice(dims)}", f"{op}:{shape},{dice.choice(dims)},{dice.choice(dims)}:0"]
            lines += ['{"ops":[{"id":"a","type":"%s","inputs":["x"]},{"id":"b","type":"%s","inputs":["a","y"],"args":{"axis":0}}],"inputs":{"x":%s,"y":%s}}'
                      % (op, dice.choice(words), shape, dice.choice(dims))]
            put(to, "oplist", f"small-{op}-{dims.index(shape)}", dice.choice(lines).encode())


def kept(to):
    """What earlier runs reached beyond all of these: keep.py."""
    for path in sorted(glob.glob("tests/fuzz/corpus/*.tar.gz")):
        with tarfile.open(path) as tar:
            for member in tar.getmembers():
                put(to, os.path.basename(path)[:-7], "kept-" + member.name, tar.extractfile(member).read())


to, TMETAL = sys.argv[1:]
for make in (python, ttir, types, lists, small_shapes, caches, calls, found, kept):
    make(to)
for target in sorted(os.listdir(to)):
    names = os.listdir(f"{to}/{target}")
    print(f"seeds: {target}: {len(names)} files, {sum(os.path.getsize(f'{to}/{target}/{n}') for n in names)} bytes")
