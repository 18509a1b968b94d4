"""Inline assembly against a model of PTX: writes lookalikes/asm_words.* and lookalikes/asm_formats.* (.ttir, .case, .bin).

    python3 tests/kernels/asm_model.py          from the top; the files are committed, so that tests need no Python

Each instruction is a text and a function of Python that says what it leaves, written from PTX's description and sharing
nothing with tmetal. Formats of 8, 6 and 4 bits are decoded and encoded by search among all codes."""
import bisect
import math
import random
import struct
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).parent / "lookalikes"
M32 = 0xFFFFFFFF


def s32(x):
    return x - (1 << 32) if x >> 31 else x


def f32(bits):
    return struct.unpack("f", struct.pack("I", bits & M32))[0]


def bits32(x):
    return struct.unpack("I", struct.pack("f", x))[0]


def lane(x, k, bits, signed):
    v = x >> (k * bits) & ((1 << bits) - 1)
    return v - (1 << bits) if signed and v >> (bits - 1) else v


# -- Words


def dot(n, sa, sb, high=0):
    width = 32 // n
    return lambda a, b, c: c + sum(lane(a, k, width, sa) * lane(b, 2 * high + k, 8, sb) for k in range(n)) & M32


def lanes(op, n, sd, sa, sb, sat=False, add=False):
    bits = 32 // n

    def one(x, y):
        r = {"add": x + y, "sub": x - y, "avrg": (x + y + (x + y >= 0)) >> 1, "absdiff": abs(x - y), "min": min(x, y),
             "max": max(x, y)}[op]
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sd else (0, (1 << bits) - 1)
        return min(max(r, low), high) if sat else r

    def all_of(a, b, c):
        parts = [one(lane(a, k, bits, sa), lane(b, k, bits, sb)) & (1 << bits) - 1 for k in range(n)]
        if add:
            return c + sum(p - (1 << bits) if sd and p >> (bits - 1) else p for p in parts) & M32
        return sum(p << (k * bits) for k, p in enumerate(parts))

    return all_of


def find(a, signed, shift, bits=32):
    if signed and a >> (bits - 1):
        a ^= (1 << bits) - 1
    n = a.bit_length() - 1
    return M32 if n < 0 else bits - 1 - n if shift else n


def brev(a, bits):
    return int(format(a, f"0{bits}b")[::-1], 2)


def sad(a, b, c, signed):
    return c + abs(s32(a) - s32(b) if signed else a - b) & M32


def lop3(table):
    return lambda a, b, c: sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32))


WORDS = [("dp4a.s32.s32 $0, $1, $2, $3;", dot(4, 1, 1)), ("dp4a.u32.u32 $0, $1, $2, $3;", dot(4, 0, 0)),
         ("dp4a.s32.u32 $0, $1, $2, $3;", dot(4, 1, 0)), ("dp4a.u32.s32 $0, $1, $2, $3;", dot(4, 0, 1)),
         ("dp2a.lo.s32.s32 $0, $1, $2, $3;", dot(2, 1, 1)), ("dp2a.hi.s32.u32 $0, $1, $2, $3;", dot(2, 1, 0, 1)),
         ("dp2a.lo.u32.s32 $0, $1, $2, $3;", dot(2, 0, 1)),
         ("brev.b32 $0, $1;", lambda a, b, c: brev(a, 32)),
         ("{ .reg .b64 p; .reg .b32 q; mov.b64 p, {$1, $2}; brev.b64 p, p; mov.b64 {q, $0}, p; }", lambda a, b, c: brev(a, 32)),
         ("bfind.u32 $0, $1;", lambda a, b, c: find(a, 0, 0)), ("bfind.s32 $0, $1;", lambda a, b, c: find(a, 1, 0)),
         ("bfind.shiftamt.u32 $0, $1;", lambda a, b, c: find(a, 0, 1)),
         ("bfind.shiftamt.s32 $0, $1;", lambda a, b, c: find(a, 1, 1)),
         ("{ .reg .b64 p; mov.b64 p, {$1, $2}; bfind.s64 $0, p; }", lambda a, b, c: find(a | b << 32, 1, 0, 64)),
         ("{ .reg .b64 p; mov.b64 p, {$1, $2}; bfind.shiftamt.u64 $0, p; }", lambda a, b, c: find(a | b << 32, 0, 1, 64)),
         ("slct.b32.s32 $0, $1, $2, $3;", lambda a, b, c: a if s32(c) >= 0 else b),
         ("slct.f32.f32 $0, $1, $2, $3;", lambda a, b, c: a if f32(c) >= 0 else b),
         ("slct.u32.s32 $0, $1, 7, $3;", lambda a, b, c: a if s32(c) >= 0 else 7),
         ("sad.u32 $0, $1, $2, $3;", lambda a, b, c: sad(a, b, c, 0)),
         ("sad.s32 $0, $1, $2, $3;", lambda a, b, c: sad(a, b, c, 1)),
         ("membar.cta; lop3.b32 $0, $1, $2, $3, 0xE8; fence.acq_rel.gpu; bar.sync 0;", lop3(0xE8)),
         ("lop3.b32 $0, $1, $2, $3, $4;", lop3(0xCA))]
for op in ("add", "sub", "avrg", "absdiff", "min", "max"):
    for n in (4, 2):
        for d, a, b in (("s", "s", "s"), ("u", "u", "u"), ("s", "u", "s"), ("u", "s", "u")):
            for end in ("", ".sat", ".add"):
                if (d, a, b) in (("s", "u", "s"), ("u", "s", "u")) and (n == 2 or end == ".add"):
                    continue
                WORDS.append((f"v{op}{n}.{d}32.{a}32.{b}32{end} $0, $1, $2, $3;",
                              lanes(op, n, d == "s", a == "s", b == "s", end == ".sat", end == ".add")))

# -- Formats: bits, bits of fraction, bias, sign bit, largest value, has infinity, NaN


class Format:
    def __init__(self, bits, mant, bias, most, infinite, nan):
        self.bits, self.mant, self.bias, self.most, self.infinite, self.nan = bits, mant, bias, Fraction(most), infinite, nan
        self.sign = 1 << bits - 1
        self.codes = [c for c in range(self.sign) if self.value(c) is not None and self.value(c) != math.inf]
        self.values = [self.value(c) for c in self.codes]  # rising, as codes do

    def value(self, code):  # of one without a sign; None: not a number
        e, m = code >> self.mant, code & (1 << self.mant) - 1
        if self.infinite and e == (1 << self.bits - 1 - self.mant) - 1:
            return math.inf if m == 0 else None
        if self.nan is not None and not self.infinite and code == self.nan:
            return None
        unit = Fraction(2) ** (max(e, 1) - self.bias - self.mant)
        return unit * (m + (1 << self.mant if e else 0))

    def encode(self, x):  # to nearest even, saturating
        if math.isnan(x):
            return self.nan if self.nan is not None else self.codes[-1]
        sign = self.sign if math.copysign(1, x) < 0 else 0
        a = self.most if math.isinf(x) else min(abs(Fraction(x)), self.most)
        k = bisect.bisect_left(self.values, a)
        return sign | min(self.codes[max(k - 1, 0):k + 1], key=lambda c: (abs(self.value(c) - a), c & 1))

    def to_half(self, code):
        sign = 0x8000 if code & self.sign else 0
        v = self.value(code & self.sign - 1)
        if v is None:
            return None
        return sign | (0x7C00 if v == math.inf else struct.unpack("H", struct.pack("e", float(v)))[0])


FORMATS = {"e4m3x2": Format(8, 3, 7, 448, False, 0x7F), "e5m2x2": Format(8, 2, 15, 57344, True, 0x7F),
           "e2m3x2": Format(6, 3, 1, 7.5, False, None), "e3m2x2": Format(6, 2, 3, 28, False, None),
           "e2m1x2": Format(4, 1, 1, 6, False, None)}


def e8m0(bits, up, sat):
    a = bits & 0x7FFFFFFF
    if a > 0x7F800000:
        return 255
    if a == 0x7F800000:
        return 254 if sat else 255
    m, e = math.frexp(f32(a))  # m * 2^e, m from 1/2 on
    e = 0 if a == 0 else max(e - 1 + (up and m > 0.5) + 127, 0)
    return min(e, 254) if sat else e


def tf32(bits, way, sat=False, relu=False):
    a, sign = bits & 0x7FFFFFFF, bits & 0x80000000
    if a > 0x7F800000:
        return 0x7FFFFFFF
    if relu and sign:
        return 0
    if a == 0x7F800000:
        return sign | (0x7F7FE000 if sat else a)
    low, r = a & 0x1FFF, a >> 13
    r += {"rz": 0, "rna": low >= 0x1000, "rn": low > 0x1000 or (low == 0x1000 and r & 1)}[way]
    return sign | (min(r << 13, 0x7F7FE000) if sat else r << 13)


def half(bits):
    return struct.unpack("e", struct.pack("H", bits & 0xFFFF))[0]


def relu(x):
    return 0.0 if x <= 0 else x


def packed(f, first, second):
    each = 4 if f.bits == 4 else 8
    return f.encode(first) << each | f.encode(second)


def unpacked(f, each, clip=False):
    def run(a, b, c):
        parts = []
        for k in range(2):
            h = f.to_half((a >> each * k) & (1 << f.bits) - 1)
            parts.append(None if h is None else 0 if clip and h & 0x8000 else h)
        return parts

    return run


def power(code):
    return None if code == 255 else 0x40 if code == 0 else code << 7


NARROW = []
for name, f in FORMATS.items():
    reg = "b8" if f.bits == 4 else "b16"
    put = f"{{ .reg .{reg} h; cvt.rn.satfinite%s.{name}.%s h, %s; cvt.u32.{'u8' if f.bits == 4 else 'u16'} $0, h; }}"
    NARROW.append((put % ("", "f32", "$1, $2"), lambda a, b, c, f=f: packed(f, f32(a), f32(b))))
    NARROW.append((put % (".relu", "f32", "$2, $1"), lambda a, b, c, f=f: packed(f, relu(f32(b)), relu(f32(a)))))
    NARROW.append((put % ("", "f16x2", "$3"), lambda a, b, c, f=f: packed(f, half(c >> 16), half(c))))
    take = f"{{ .reg .{reg} h; cvt.u{8 if f.bits == 4 else 16}.u32 h, $3; cvt.rn%s.f16x2.{name} $0, h; }}"
    each = 4 if f.bits == 4 else 8
    NARROW.append((take % "", lambda a, b, c, f=f, each=each: unpacked(f, each)(c, 0, 0)))
    NARROW.append((take % ".relu", lambda a, b, c, f=f, each=each: unpacked(f, each, True)(c, 0, 0)))
for way in ("rz", "rp"):
    for sat in ("", ".satfinite"):
        NARROW.append((f"cvt.{way}{sat}.ue8m0x2.f32 $0, $1, $2;",
                       lambda a, b, c, way=way, sat=sat: e8m0(a, way == "rp", sat) << 8 | e8m0(b, way == "rp", sat)))
    NARROW.append((f"cvt.{way}.satfinite.ue8m0x2.f32 $0, 0.0, $1;", lambda a, b, c, way=way: e8m0(a, way == "rp", True)))
    NARROW.append((f"cvt.{way}.satfinite.ue8m0x2.bf16x2 $0, $3;", lambda a, b, c, way=way: e8m0(
        c & 0xFFFF0000, way == "rp", True) << 8 | e8m0(c << 16 & M32, way == "rp", True)))
NARROW.append(("cvt.rn.bf16x2.ue8m0x2 $0, $3;", lambda a, b, c: [power(c & 255), power(c >> 8 & 255)]))
for way in ("rna", "rn", "rz"):
    NARROW.append((f"cvt.{way}.tf32.f32 $0, $1;", lambda a, b, c, way=way: tf32(a, way)))
    NARROW.append((f"cvt.{way}.satfinite.tf32.f32 $0, $1;", lambda a, b, c, way=way: tf32(a, way, True)))
NARROW.append(("cvt.rn.relu.tf32.f32 $0, $1;", lambda a, b, c: tf32(a, "rn", relu=True)))


def inputs_of_words(n):
    edges = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, M32,
             0x80808080, 0x7F7F7F7F, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x3F800000, 0xBF800000, 0x00800000]
    rng = random.Random(1)
    rows = [(a, b, c) for a in edges[:10] + edges[13:16] for b in edges[::5] for c in edges[11:23:4]]
    while len(rows) < n:
        rows.append(tuple(rng.choice(edges) if rng.random() < 0.2 else rng.getrandbits(32) for _ in range(3)))
    rng.shuffle(rows)
    return rows[:n]


def inputs_of_formats(n):
    values = set()
    for f in FORMATS.values():
        found = sorted({f.value(c) for c in range(f.sign) if f.value(c) is not None and f.value(c) != math.inf})
        points = set(found) | {(x + y) / 2 for x, y in zip(found, found[1:])} | {f.most * Fraction(k, 16) for k in range(15, 20)}
        for p in points:
            b = bits32(float(p))
            values |= {b, b + 1, max(b - 1, 0)}
    values |= {e << 23 | m for e in range(0, 256, 3) for m in (0, 1, 0x400000, 0x400001, 0x7FFFFF, 0x1000, 0x1001, 0x3000, 0xFFF)}
    values |= {0x7F800000, 0x7F800001, 0x7FC00000, 0x400000, 0x3FFFFF, 0x400001, 0x7F7FFFFF, 0x7F000000, 0x7F000001}
    values = sorted(values)
    rng = random.Random(2)
    a = values + [v | 0x80000000 for v in values]
    assert len(a) <= 2 * n, len(a)
    while len(a) < 2 * n:
        a.append(rng.getrandbits(32))
    rng.shuffle(a)
    c = [k & 0xFF | (k * 37 & 0xFF) << 8 | (k * 0x9E37 & 0xFFFF) << 16 for k in range(n)]
    return list(zip(a[:n], a[n:], c))


def write(name, rows, table, note):
    n = len(rows)
    text = [f"// {note}", "// What it leaves is what a model of PTX says of each instruction: tests/kernels/asm_model.py.",
            "module {", f"  tt.func public @{name}(%a_ptr: !tt.ptr<i32>, %b_ptr: !tt.ptr<i32>, %c_ptr: !tt.ptr<i32>, "
            "%out_ptr: !tt.ptr<i32>) {", f"    %i = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>",
            f"    %next = arith.constant dense<{n}> : tensor<{n}xi32>",
            f"    %table = arith.constant dense<202> : tensor<{n}xi32>"]
    for v in "abc":
        text += [f"    %{v}_base = tt.splat %{v}_ptr : !tt.ptr<i32> -> tensor<{n}x!tt.ptr<i32>>",
                 f"    %{v}_at = tt.addptr %{v}_base, %i : tensor<{n}x!tt.ptr<i32>>, tensor<{n}xi32>",
                 f"    %{v} = tt.load %{v}_at : tensor<{n}x!tt.ptr<i32>>"]
    text += [f"    %out_0 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<{n}x!tt.ptr<i32>>",
             f"    %at_0 = tt.addptr %out_0, %i : tensor<{n}x!tt.ptr<i32>>, tensor<{n}xi32>"]
    out = []
    for k, (asm, model) in enumerate(table):
        pure = "false" if "bar.sync" in asm else "true"
        many, kinds = ("%a, %b, %c, %table", "=r,r,r,r,n") if "$4" in asm else ("%a, %b, %c", "=r,r,r,r")
        types = ", ".join([f"tensor<{n}xi32>"] * (4 if "$4" in asm else 3))
        text += [f"    %r_{k} = tt.elementwise_inline_asm \"{asm}\" {{constraints = \"{kinds}\", packed_element = 1 : i32, "
                 f"pure = {pure}}} {many} : {types} -> tensor<{n}xi32>",
                 f"    tt.store %at_{k}, %r_{k} : tensor<{n}x!tt.ptr<i32>>",
                 f"    %at_{k + 1} = tt.addptr %at_{k}, %next : tensor<{n}x!tt.ptr<i32>>, tensor<{n}xi32>"]
        for row in rows:
            r = model(*row)
            if isinstance(r, list):  # halves; a NaN has more than one encoding, and PTX names one
                r = sum((0x7FFF if h is None else h) << (16 * j) for j, h in enumerate(r))
            out.append(r)
    text += ["    tt.return", "  }", "}", ""]
    (HERE / f"{name}.ttir").write_text("\n".join(text))
    data = b"".join(struct.pack(f"{n}I", *[row[k] for row in rows]) for k in range(3)) + bytes([0x55]) * (4 * len(out)) + struct.pack(f"{len(out)}I", *out)
    (HERE / f"{name}.bin").write_bytes(data)
    case = ["# what a model of PTX says of each instruction: tests/kernels/asm_model.py", "suite lookalikes",
            f"source {name}.ttir", f"kernel {name}", "grid 1 1 1", "warps 4"]
    case += [f"buffer {k} size {4 * n} in {4 * n * k}" for k in range(3)]
    case += [f"buffer 3 size {4 * len(out)} in {12 * n} out {12 * n + 4 * len(out)}"]
    case += [f"arg ptr i32 buffer {k} offset 0" for k in range(4)]
    (HERE / f"{name}.case").write_text("\n".join(case) + "\n")
    print(f"{name}: {len(table)} instructions, {n} rows")


write("asm_words", inputs_of_words(256), WORDS, "Inline assembly: instructions on bytes, halves and bits of words, fences.")
write("asm_formats", inputs_of_formats(2048), NARROW, "Inline assembly: formats of 8, 6 and 4 bits, powers of two, tf32.")
