#!/bin/sh
# Kernels from their source: a .py file wherever Triton IR is taken, and what is said when the call is wrong.
#   tests/cli/triton.sh BUILD
set -eu
build=$1
out=$build/cli
. tests/cli/common
d=$out/py
mkdir -p "$d/pack/deep"

cat > "$d/softmax.py" << 'END'
import triton
import triton.language as tl
from pack.deep.more import twice
from pack import SCALE, PLAIN


@triton.jit
def softmax(x, y, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + cols, mask=cols < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@triton.autotune([triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 128) for w in [2, 4]], key=["n"])
@triton.heuristics({"HAS": lambda args: args["w"] is not None, "EVEN": lambda args: args["N"] % args["BLOCK"] == 0})
@triton.jit(do_not_specialize=["n"])
def tuned(x, w, y, n, at: tl.int64, N: tl.constexpr, BLOCK: tl.constexpr, HAS: tl.constexpr, EVEN: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + o, mask=o < n)
    if HAS:
        v += tl.load(w + o, mask=o < n)
    tl.store(y + o + at, twice(v) * SCALE if EVEN else v, mask=o < n)


def make(dtype):
    HALF = tl.constexpr(0.5)

    @triton.jit
    def inner(x, y):
        tl.store(y, (tl.load(x) * HALF).to(dtype))

    return inner


@triton.jit
def reads_plain(y):
    tl.store(y, PLAIN)
END
echo 'from .deep.more import *' > "$d/pack/__init__.py"
: > "$d/pack/deep/__init__.py"
cat > "$d/pack/deep/more.py" << 'END'
import os
import triton
import triton.language as tl

PLAIN = 3
if os.environ.get("FAST", "0") == "1":
    SCALE = tl.constexpr(7.0)
elif triton.__version__ >= "3.0.0" and not is_hip():
    SCALE = tl.constexpr(2.0)
else:
    SCALE = tl.constexpr(9.0)


@triton.jit
def twice(x):
    return x + x
END
py=$d/softmax.py

# -- The same as from Triton IR, in every tool --------------------------------------------------------------
types="*fp32:16, *fp32:16, i32:16, i32"
gives 0 compile "$py" --kernel softmax --args "$types" --const BLOCK=1024
says '^kernel void softmax'
cp "$out/out" "$d/from_py"
gives 0 compile "$py" --kernel softmax --args "$types" --const BLOCK=1024 --emit ir
for s in explain layouts analyze "transform --summary"; do
    # shellcheck disable=SC2086
    gives 0 $s "$py" --kernel softmax --args "$types" --const BLOCK=1024
    says softmax
done
for e in mlx c objc swift torch-py; do gives 0 compile "$py" --kernel softmax --args "$types" --const BLOCK=1024 --emit $e; done
gives 0 tune "$py" --kernel softmax --signature "$types" --const BLOCK=1024 --strategy model

# -- Configurations, heuristics, types that the kernel's head says -------------------------------------------
ir() { gives 0 compile "$py" --kernel tuned --emit ir "$@"; }
ir --args "*fp32, None, *fp32, i32:16" --const N=256 --config 3
says '%y: !tt.ptr<f32>, %n: i32, %at: i64) {'
says 'end = 128 : i32'
says "2.000000e+00\|2.0 : f32"
ir --args "*fp32, *fp32, *fp32, 1, 16" --const N=100 --config 1
says '%w: !tt.ptr<f32>'
says '%n: i32, %at: i64 {tt.divisibility = 16 : i32}) {'
says 'end = 64 : i32'
gives 1 compile "$py" --kernel tuned --args "*fp32, None, *fp32, i32" --const N=256 --config 5
warns 'tuned has 4 configurations, but number 5 is asked for'
gives 1 compile "$py" --kernel tuned --args "*fp32, None, *fp32, i32" --const N=256
warns "parameters BLOCK, EVEN have no value"
warns 'or --config 1 to 4'
gives 1 compile "$py" --kernel tuned --args "*fp32, None, *fp32, i32, i32" --const "N=256, BLOCK=64"
warns "parameter 'at' is annotated int64, but its argument is int32"

# -- Configurations as programs write them ---------------------------------------------------------------------
cat > "$d/lists.py" << 'END'
import itertools
import json
import torch
import triton
import triton.language as tl
from sizes import small, given

WARPS = [2, 4]
IS_HIP = torch.version.hip is not None


def by_loops(most, stages=3):
    """Not of the list."""
    out = [triton.Config({"A": 1}, num_stages=stages)]
    for a in range(2, most):
        for w in WARPS:
            if a == 3 and w == 4:
                continue
            out.append(triton.Config({"A": a}, num_warps=w))
    out += [triton.Config(dict(A=64))]
    return out


def chosen():
    if IS_HIP:
        return [triton.Config({"A": 7})]
    else:
        return [triton.Config({"A": 8}), triton.Config({"A": 9}, pre_hook=lambda args: None)]


def kept(configs):
    return [c for c in configs if c.num_warps > 2]


filled = []
for one in WARPS:
    filled.append(triton.Config({"A": one}))


@triton.autotune(configs=[triton.Config({"A": a}, num_warps=w) for a, w in itertools.product([1, 2], WARPS) if a * w != 8], key=[])
@triton.jit
def product(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(configs=by_loops(4, stages=2) + small(), key=[])
@triton.jit
def loops(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(configs=chosen() if not IS_HIP else [], key=[])
@triton.jit
def ways(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(configs=kept(by_loops(3)), key=[])
@triton.jit
def pruned(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(configs=filled, key=[])
@triton.jit
def statements(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(configs=[triton.Config(c) for c in json.load(open("configs.json"))], key=[])
@triton.jit
def loaded(x, A: tl.constexpr = 3):
    tl.store(x, A)


@triton.jit
def plain(x, A: tl.constexpr):
    tl.store(x, A)


def later(x, A: tl.constexpr, B: tl.constexpr):
    tl.store(x, A + B)


later = triton.jit(later)
later = triton.heuristics({"B": lambda args: args["A"] * 2})(later)
named = triton.autotune(configs=[triton.Config({"A": 5})], key=[])(plain)
END
cat > "$d/sizes.py" << 'END'
import triton

given = triton.Config({"A": 11})


def small():
    return [given, triton.Config({"A": 12})]
END
gives 0 kernels "$d/lists.py"
lists() { tr '\n' ' ' < "$out/out" | grep -q -- "$1" || fail "kernels does not say $1"; }
lists 'product .* 1: A=1, num_warps=2 .* 2: A=1, num_warps=4 .* 3: A=2, num_warps=2 '
lists 'ways .* 1: A=8 .* 2: A=9 '
lists 'pruned .* 1: A=1, num_stages=3 .* 2: A=2, num_warps=4 .* 3: A=64 '
lists 'statements .* 1: A=2 .* 2: A=4 '
lists 'loaded .*further configurations cannot be read'
lists 'named .* 1: A=5'
config() { gives 0 compile "$d/lists.py" --kernel "$1" --args "*i32" --config "$2" --emit ir && says "arith.constant $3 : i32"; }
config product 3 2
config loops 1 1
config loops 4 3
config loops 5 64
config loops 6 11
config loops 7 12
config ways 2 9
config named 1 5
config pruned 3 64
config statements 2 4
gives 1 compile "$d/lists.py" --kernel loaded --args "*i32" --config 1
warns 'configuration 1 of loaded cannot be read from the text'
gives 1 compile "$d/lists.py" --kernel loaded --args "*i32"
warns "loaded's parameters A has no value"
gives 0 compile "$d/lists.py" --kernel later --args "*i32" --const A=3 --emit ir
says 'arith.constant 9 : i32'

# -- What decorators give is never a default, in no tool ---------------------------------------------------------
cat > "$d/decorated.py" << 'END'
import triton
import triton.language as tl


def prune(configs, args, **_):
    return [c for c in configs if c.kwargs["B"] <= 32]


CONFIGS = [triton.Config({"B": b}, num_warps=2) for b in (64, 16, 128, 32)]


@triton.autotune(configs=CONFIGS, key=["n"], prune_configs_by={"early_config_prune": prune})
@triton.jit
def tuned(x, o, n, B: tl.constexpr = 32):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.autotune(configs=CONFIGS[:1], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})
@triton.jit
def ruled(x, o, n, B: tl.constexpr = 32, EVEN: tl.constexpr = False):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if EVEN:
        tl.store(o + i, tl.load(x + i))
    else:
        tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def several(x, o, n):
    v = tl.load(x + first)
    w = tl.load(x + second)
    tl.store(o, v + w)
END
launch="*fp32:16, *fp32:16, i32"
for s in compile explain layouts analyze transform why bench "compile --emit plan" "compile --emit mlx" "compile --emit torch-py" "compile --emit c"; do
    # shellcheck disable=SC2086
    gives 1 $s "$d/decorated.py" --kernel tuned --args "$launch"
    warns "of tuned's parameters B has no value"
    warns "help: --const B=..., or --config 1 to 4"
    # shellcheck disable=SC2086
    gives 1 $s "$d/decorated.py" --kernel ruled --args "$launch"
    warns "of ruled's parameters EVEN has no value"
    warns "its heuristic needs the value of n"
done
gives 1 compile "$d/decorated.py" --kernel tuned --args "$launch" --config 9
warns 'tuned has 4 configurations, but number 9 is asked for'
warns 'help: --config takes 1 to 4'
gives 1 compile "$d/decorated.py" --kernel tuned --args "$launch" --config 3
warns 'configuration 3 of tuned is left out by early_config_prune'
gives 0 compile "$d/decorated.py" --kernel tuned --args "$launch" --config 4 --emit ir
says 'end = 32 : i32'
gives 0 compile "$d/decorated.py" --kernel tuned --args "$launch" --const B=8 --emit ir
says 'end = 8 : i32'
gives 0 compile "$d/decorated.py" --kernel ruled --args "*fp32:16, *fp32:16, 128" --emit ir
says 'end = 64 : i32'
grep -q 'tt.load.*, %' "$out/out" && fail 'a rule that holds for 128 leaves a mask'
gives 0 tune "$d/decorated.py" --kernel tuned --signature "$launch" --strategy model
warns 'configuration 1 is not tuned'
warns 'configuration 3 is not tuned'
says '^config=4 '
grep -q 'config=[123]' "$out/out" && fail 'a configuration that is pruned is tuned'
gives 0 kernels "$d/decorated.py"
says 'num_warps, num_stages and num_ctas have no effect'
gives 1 compile "$d/decorated.py" --kernel several --args "$launch"
warns 'first is not defined'
warns 'second is not defined'
gives 1 compile "$d/decorated.py" --args "$launch"
warns 'help: choose one with --kernel: tuned, ruled, several'

# -- Functions inside others, names of the module -------------------------------------------------------------
gives 0 compile "$py" --kernel make.inner --args "*fp32, *fp16" --const dtype=tl.float16
says '^kernel void inner'
gives 0 compile "$py" --kernel inner --args "*fp32, *fp16" --const dtype=torch.float16
gives 1 compile "$py" --kernel inner --args "*fp32, *fp16"
gives 1 compile "$py" --kernel reads_plain --args "*i32"
warns "kernels cannot read the module's PLAIN: it is no tl.constexpr"
gives 0 compile "$py" --kernel reads_plain --args "*i32" --global PLAIN=4
gives 1 compile "$py" --kernel reads_plain --args "*i32" --global PLAIN
gives 0 compile "$py" --kernel reads_plain --args "*i32" --global pack.deep.more.PLAIN=4

# -- What is wrong with the call ------------------------------------------------------------------------------
gives 1 compile "$py"
warns 'the file has several kernels'
warns '^help: .*softmax, tuned, make.inner, reads_plain'
gives 1 compile "$py" --kernel softmacks
warns "the file has no kernel 'softmacks'"
gives 1 compile "$py" --kernel softmax
warns "parameters x, y, stride, n have no type, BLOCK has no value"
gives 1 compile "$py" --kernel softmax --args "$types, i32" --const BLOCK=64
warns "more arguments than parameters: 'i32'"
gives 1 compile "$py" --kernel softmax --args "$types" --const BLOCKS=64
warns "no parameter 'BLOCKS'"
gives 1 compile "$d/nothing.py" --kernel x

# -- Which kernels there are ------------------------------------------------------------------------------------
gives 0 kernels "$py"
says '^softmax  '
says '    --config 4: BLOCK=128, num_warps=4'
says '    HAS: tl.constexpr  heuristic: lambda args: args\["w"\] is not None'
gives 0 kernels "$py" --json
says '{"name":"make.inner","line":'
says '"all_configs":true}'
# -- The commands of the page -----------------------------------------------------------------------------------
grep '^    build/tmetal' docs/triton.md > "$d/commands"
[ "$(wc -l < "$d/commands")" -ge 3 ] || fail "docs/triton.md has no commands"
while read -r line; do
    n=$((n + 1))
    sh -c "$tmetal ${line#build/tmetal}" > "$out/out" 2> "$out/err" || fail "docs/triton.md: $line"
done < "$d/commands"

echo "cli: a .py file: $n calls of tmetal as they should"
