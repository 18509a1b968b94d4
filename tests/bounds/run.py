#!/usr/bin/env python3
"""Launches the kernels of hostile.py in the simulator, with options.bounds and without.

    python3 tests/bounds/run.py [build]

With it nothing outside of a buffer is touched, and each leaves what its row says: 0 (or `other`) read outside, nothing
written there. Without it the simulator must report each of those that go outside, or the row proves nothing. Rows that
are refused say by which words."""
import json
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
INT_MIN, INT_MAX = -2**31, 2**31 - 1


class Buf:
    """Elements as they are before the launch, and as they must be after it."""
    def __init__(self, kind, before, after=None, offset=0):
        self.kind, self.before, self.after, self.offset = kind, before, before if after is None else after, offset

    def bytes(self, values):
        return struct.pack("<%d%s" % (len(values), {"i32": "i", "i64": "q", "i8": "b", "fp32": "f", "fp16": "e"}[self.kind]), *values)


def at(x, i, other=0):
    return x[i] if 0 <= i < len(x) else other


class Case:
    def __init__(self, name, kernel, args, constants, grid=1, outside=True, refused=None, silent=False, endless=False, note=""):
        self.name, self.kernel, self.args, self.constants, self.grid = name, kernel, args, constants, grid
        self.outside = outside and not refused  # is reported without the option
        self.refused, self.silent, self.endless, self.note = refused, silent, endless, note


def cases():
    all = []
    add = lambda *a, **k: all.append(Case(*a, **k))
    N = 64
    x = [100 + i for i in range(50)]
    wild = [0, 1, -1, 49, 50, 51, INT_MIN, INT_MAX, 2**30, -2**30, 7, 3, 2**31 - 4, -4, 48, 47] * 4
    none = [-7] * N
    i32 = lambda before, after=None, **k: Buf("i32", before, after, **k)
    add("load_by_data", "load_by_data", [i32(x), i32(wild), i32(none, [at(x, i) for i in wild])], {"N": N})
    add("load_by_data_other", "load_by_data_other",
        [i32(x), i32(wild), i32(none, [7 if k == 3 else at(x, i, 7) for k, i in enumerate(wild)])], {"N": N})
    left = list(range(200, 250))
    apart = [wild[k] if k < 16 else 10**6 + k for k in range(N)]
    for k, i in enumerate(apart):
        if 0 <= i < 50: left[i] = 300 + k
    add("store_by_data", "store_by_data", [i32([300 + k for k in range(N)]), i32(apart), i32(list(range(200, 250)), left)], {"N": N})
    add("before_the_start", "before_the_start", [i32(x), i32(none, [at(x, i - 32) for i in range(N)])], {"N": N})
    add("behind_an_offset", "before_the_start",
        [i32(list(range(16)) + x, offset=64), i32(none, [at(x, i - 32) for i in range(N)])], {"N": N}, silent=True,
        note="what is before the offset is the buffer's all the same")
    long = [i * 3 for i in range(1000)]
    for n, name in ((1000, "honest_mask"), (1200, "lying_mask"), (INT_MAX, "mask_of_all")):
        add(name, "lying_mask", [i32(long), i32([-1] * 1000, [v + 1 for v in long]), n], {"N": 512}, grid=3, outside=n > 1000)
    add("mask_over_two_lengths", "lying_mask", [i32(long), i32([-1] * 600, [v + 1 for v in long[:600]]), 1000], {"N": 512}, grid=3)
    add("no_mask", "no_mask", [i32(long), i32([-1] * 1000, [v + 1 for v in long])], {"N": 512}, grid=3)
    add("no_mask_halves", "no_mask", [Buf("fp16", [1.0] * 1000), Buf("fp16", [-1.0] * 1000, [2.0] * 1000)], {"N": 512}, grid=3)
    add("no_mask_bytes", "no_mask", [Buf("i8", [1] * 1000), Buf("i8", [-1] * 1000, [2] * 1000)], {"N": 512}, grid=3)
    add("vector_over_the_end", "no_mask", [i32(long[:1000] + [0, 0]), i32([-1] * 1000, [v + 1 for v in long])], {"N": 512}, grid=3,
        note="4 elements of which 2 are there: all of them are outside")
    for stride, name in ((10, "small_stride"), (2**26, "stride_of_2_26"), (2**28, "stride_of_2_28"), (-1, "stride_back"), (INT_MAX, "stride_of_all")):
        wrap = lambda v: (v + 2**31) % 2**32 - 2**31
        want = [at(x, wrap(i * stride) + j) for i in range(16) for j in range(8)]
        add(name, "big_strides", [i32(x), i32([-7] * 128, want), stride], {"M": 16, "N": 8})
    for far, name in ((2**31, "at_2_31"), (2**32, "at_2_32"), (2**32 - 16, "before_2_32"), (-2**32, "at_minus_2_32"), (2**33 + 1, "past_2_33")):
        add(name, "far_away", [i32(x), i32(none, [at(x, far + i) for i in range(N)]), far], {"N": N})
    for far, name in ((2**62, "at_2_62"), (-2**63, "at_minus_2_63"), (2**63 - 32, "before_2_63")):
        add(name, "far_away", [i32(x), i32(none, [0] * N), far], {"N": N}, silent=True, note="in bytes it is modulo 2^64")
    for far in (2**31, 2**63 - 1, -2**63):
        add("there_and_back_%d" % (far % 1000), "there_and_back", [i32(x), i32(none, [at(x, i) for i in range(N)]), far], {"N": N})
    add("loop_past_the_end", "loop_past_the_end",
        [i32(long), i32(none, [sum(at(long, i + k * N) for k in range(40)) for i in range(N)]), 40], {"N": N})
    add("uneven_steps", "uneven_steps",
        [i32(long), i32(none, [sum(at(long, i + k * (i * 3 + 1)) for k in range(40)) for i in range(N)]), 40], {"N": N})
    add("until_zero", "until_zero", [i32([1] * 37), i32([-7], [37])], {})
    for far in (5, 101, 2**30, INT_MAX):
        add("from_a_branch_%d" % far, "from_a_branch",
            [i32(x), i32(none, [at(x, i + (far if far > 100 else 0)) for i in range(N)]), far], {"N": N})
    for far in (1, -40, 2**31 - 70):
        add("one_of_two_places_%d" % (far % 1000), "one_of_two_places",
            [i32(x), i32(none, [at(x, i + (far if i % 2 else 0)) for i in range(N)]), far], {"N": N})
    add("long_chain", "long_chain", [i32(x), i32(none, [at(x, i + 40 * i) for i in range(N)]), 1], {"N": N})
    add("long_chain_far", "long_chain",
        [i32(x), i32(none, [at(x, i + 40 * ((2**26 * i + 2**31) % 2**32 - 2**31)) for i in range(N)]), 2**26], {"N": N})
    for far in (3, -1, 50, INT_MAX, INT_MIN):
        y = [-7] * 10
        y[0] = at(x, far)
        if 0 <= far < 10: y[far] = 5
        add("scalar_far_%d" % (far % 1000), "scalar_far", [i32(x), i32([-7] * 10, y), far], {}, outside=far != 3)
    raw = list(range(1, 31))
    word = lambda i: struct.unpack("<i", bytes(raw[4 + 4 * i:8 + 4 * i]))[0] if 8 + 4 * i <= 30 else 0
    add("wider", "wider", [Buf("i8", raw), i32([-7] * 16, [word(i) for i in range(16)])], {"N": 16})
    once = [wild[k] if k < 16 else INT_MAX - k for k in range(N)]
    for kind, kernel in (("i32", "add_by_data"), ("i64", "add_long_by_data")):
        after = list(x)
        for k, i in enumerate(once):
            if 0 <= i < 50: after[i] += 1 if kind == "i32" else k + 1
        add(kernel, kernel, [Buf(kind, x, after), i32(once), Buf(kind, none, [at(x, i) for i in once])], {"N": N})
    add("scalar_atomics", "scalar_atomics", [i32([0, 0, 0, 0], [0, 9, 0, 0]), i32([-7] * 3, [0, 0, 0]), 4], {})
    add("scalar_atomics_back", "scalar_atomics", [i32([0, 0, 0, 0], [0, 9, 0, 0]), i32([-7] * 3, [0, 0, 0]), -1], {})
    few = [k if k < 16 else 16 + k * 3 for k in range(N)]
    before = [i if i % 2 else -1 for i in range(30)]
    after = [i + 100 if i < 16 and i % 2 else v for i, v in enumerate(before)]
    add("swap_by_data", "swap_by_data", [i32(before, after), i32(few), i32(none, [at(before, i) for i in few])], {"N": N})
    for rows in (24, 40, 1000, INT_MAX):
        have = 24 * 8
        add("block_pointer_%d" % rows, "block_pointer", [i32(long[:have]), i32([-1] * have, [v + 1 for v in long[:have]]), rows, 8],
            {"M": 16, "N": 8}, outside=rows > 24)
    add("unchecked_block", "unchecked_block",
        [i32(long[:160]), i32([-1] * 160, [-1] * 128 + [v + 1 for v in long[128:160]]), 20, 8], {"M": 16, "N": 8})
    want = [2] * 128 + [v + 1 for v in long[128:160]]
    add("descriptor", "descriptor", [i32(long[:160]), i32([-1] * 160, want), 1000, 8], {"M": 16, "N": 8})
    rows = [0, 19, 20, 25, 30, -1, 3, 999]
    after = [-1.0] * 160 * 2
    for r in rows:
        if 0 <= r < 20: after[r * 16:r * 16 + 16] = [float(r)] * 16
    xs = [float(i // 16) for i in range(320)]
    add("descriptor_rows", "descriptor_rows",
        [Buf("fp32", xs), i32(rows), Buf("fp32", [-1.0] * 320, after), 1000, 16], {"M": 8, "N": 16})
    add("descriptor_add", "descriptor_add",
        [i32(long[:128]), i32([1] * 160, [1] * 64 + [1 + v for v in long[:96]]), 1000, 8], {"M": 16, "N": 8})
    ones = lambda n: [1.0] * n
    add("product", "product",
        [Buf("fp32", ones(16 * 64)), Buf("fp32", ones(32 * 16)), Buf("fp32", [-1.0] * 256, [32.0] * 256), 64], {"M": 16, "K": 16})
    for step in (0, -1, INT_MIN):
        total = lambda i: sum(at(x, k + i) for k in range(N))
        add("still_step_%d" % (step % 1000), "still_step", [i32(x), i32(none, [total(i) for i in range(N)]), step], {"N": N}, silent=True,
            note="no end without bounds, where a step is taken to be above 0")
    add("endless", "endless", [i32(x), i32([-7]), 1], {}, endless=True)
    add("gather_wild", "gather_wild", [i32(list(range(N))), i32(wild), i32(none, [0] * N)], {"N": N}, outside=False)
    bins = [wild.count(b) for b in range(16)]
    add("histogram_wild", "histogram_wild", [i32(wild), i32([-7] * 16, bins)], {"N": N, "B": 16}, outside=False)
    add("of_a_table", "of_a_table", [Buf("i64", [0]), i32(none)], {"N": N}, refused="not known")
    add("half_of_a_word", "half_of_a_word", [Buf("fp16", [1.0] * 3), Buf("fp16", [0.0])], {}, refused="whole word")
    add("of_two", "of_two", [i32(x), i32(x), i32(none), 3], {"N": N}, refused="two parameters")
    add("by_assembly", "by_assembly", [i32(x), i32(none)], {"N": N}, refused="any memory")
    return all


def write(case, folder):
    data, lines = b"", ["# launch of a kernel that leaves its buffers", "suite bounds", "source hostile.py",
                        "kernel " + case.kernel, "grid %d 1 1" % case.grid, "warps 4"]
    types, places, n = [], [], 0
    for a in case.args:
        if isinstance(a, Buf):
            before, after = a.bytes(a.before), a.bytes(a.after)
            lines.append("buffer %d size %d in %d out %d" % (n, len(before), len(data), len(data) + len(before)))
            data += before + after
            places.append("arg ptr %s buffer %d offset %d" % (a.kind, n, a.offset))
            types.append("*" + a.kind + (":16" if a.offset % 16 == 0 else ""))
            n += 1
        else:
            kind = "i64" if case.kernel in ("far_away", "there_and_back") else "i32"
            places.append("arg %s %d" % (kind, a))
            types.append(kind)
    path = os.path.join(folder, case.name)
    open(path + ".case", "w").write("\n".join(lines + places) + "\n")
    open(path + ".bin", "wb").write(data)
    call = ["file " + os.path.relpath(os.path.join(HERE, "hostile.py"), folder), "kernel " + case.kernel, "args " + ", ".join(types)]
    open(path + ".call", "w").write("\n".join(call + ["const %s=%s" % c for c in case.constants.items()]) + "\n")


def judge(build, folder, more):
    out = os.path.join(folder, "results.json")
    command = [os.path.join(build, "corpus"), "--sources", "--dir", folder, "--gpu", "apple-m3-max", "--seconds", "5", "--json", out] + more
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if ended.returncode not in (0, 1): sys.exit(ended.stdout)
    return {o["name"].split("/")[-1]: o for o in json.load(open(out))}


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    folder = os.path.join(build, "bounds")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder): os.remove(os.path.join(folder, name))
    all = cases()
    if len({c.name for c in all}) != len(all): sys.exit("two rows of one name")
    for c in all: write(c, folder)
    kept, plain = judge(build, folder, ["--bounds"]), judge(build, folder, ["--bounds", "--plain"])
    free = judge(build, folder, [])
    bad = []
    for c in all:
        for how, got in (("", kept[c.name]), (" with --plain", plain[c.name])):
            if c.refused:
                if got["verdict"] != "refused" or c.refused not in json.dumps(got["refusals"]):
                    bad.append("%s%s: wanted a refusal with '%s', got %s: %s" % (c.name, how, c.refused, got["verdict"], got["why"]))
            elif c.endless:
                if "time limit" not in got["why"]:
                    bad.append("%s%s: a loop without an end has one: %s %s" % (c.name, how, got["verdict"], got["why"]))
            elif got["verdict"] != "right":
                bad.append("%s%s: %s: %s" % (c.name, how, got["verdict"], got["why"]))
        got = free[c.name]
        if c.endless and "time limit" not in got["why"]:
            bad.append("%s without bounds: a loop without an end has one" % c.name)
        if c.refused or c.silent: continue
        if c.outside != (got["verdict"] == "violation"):
            bad.append("%s without bounds: wanted %s, got %s: %s" %
                       (c.name, "a violation" if c.outside else "none", got["verdict"], got["why"]))
    outside = sum(c.outside and not c.silent for c in all)
    print("\n".join(bad + ["bounds: %d launches, %d of them reported without the option; %d wrong" % (len(all), outside, len(bad))]))
    sys.exit(bool(bad))


main()
