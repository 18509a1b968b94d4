#!/bin/sh
# The tools: run, analyze, sample-ops, bench, check, tutorial.
#   tests/cli/tools.sh BUILD
set -eu
build=$1
out=$build/cli/tools
rm -rf "$out"
. tests/cli/common
# holds FILE EXPRESSION: of the JSON in the file, as j
holds() {
    command -v python3 > /dev/null 2>&1 || return 0
    python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" || fail "$1: not $2"
}

command -v python3 > /dev/null 2>&1 || echo "cli: no python3 here: JSON and the plot were not read back"

# -- sample-ops: what it writes compiles ---------------------------------------------------------------------
gives 0 sample-ops --output "$out/ops.json"
silent
gives 0 sample-ops --large --output "$out/large.json"
holds "$out/ops.json" 'len(j["ops"]) >= 10 and j["ops"][1] == {"type": "tt.sum", "id": "sum_reduce_2d", "input_shapes": [[512, 512]], "args": {"axis": 1}}'
holds "$out/large.json" 'len(j["ops"]) > 50 and len({o["id"] for o in j["ops"]}) == len(j["ops"])'
gives 0 compile "$out/ops.json" -o "$out/ops.metal"
gives 0 compile "$out/large.json" -o "$out/large.metal"
gives 2 sample-ops "$out/ops.json"

# -- compile --emit LANGUAGE: that of an op list is called as its file ----------------------------------------
printf 'tt.sum:[8,8]:1\n' > "$out/my-list.ops"
gives 0 compile "$out/my-list.ops" --emit c
grep -q '^bool my_list_launch(my_list_gpu \*gpu, id ' "$out/out" || fail "launch code of a list is not called as its file"
gives 1 compile "$out/my-list.ops" --parts --emit c
grep -q 'my-list.ops: error\[TM740\]' "$out/err" || fail "a refusal of launch code does not name the file"
gives 0 compile $k/softmax.ttir --emit objc
grep -q '^BOOL softmax_launch(softmax_gpu \*gpu, ' "$out/out" || fail "launch code of a kernel is not called as the kernel"
# 513 numbers of 8 bytes share one setBytes, which takes 4096 bytes
for many in 512 513; do
    awk -v n=$many 'BEGIN {
        printf "module {\n  tt.func public @k(%%p: !tt.ptr<i64>"
        for (i = 0; i < n; i++) printf ", %%a%d: i64", i
        print ") {\n    %s1 = arith.addi %a0, %a1 : i64"
        for (i = 2; i < n; i++) printf "    %%s%d = arith.addi %%s%d, %%a%d : i64\n", i, i - 1, i
        printf "    tt.store %%p, %%s%d : !tt.ptr<i64>\n    tt.return\n  }\n}\n", n - 1 }' > "$out/numbers$many.ttir"
done
for host in c objc metal-cpp swift torch-py; do
    gives 0 compile "$out/numbers512.ttir" --emit $host
    gives 1 compile "$out/numbers513.ttir" --emit $host
    grep -q "TM740.*launch code in $host for .*4096 bytes together" "$out/err" || fail "$host: 4104 bytes of numbers are not refused"
done

# -- compile --cache: the same with and without, and from the cache ------------------------------------------
for emit in msl plan mlx c layouts; do
    gives 0 compile $k/softmax.ttir --emit $emit
    cp "$out/out" "$out/plain"
    for time in first second; do
        gives 0 compile $k/softmax.ttir --emit $emit --cache "$out/cache"
        cmp -s "$out/out" "$out/plain" || fail "--emit $emit with --cache gives something else, the $time time"
        [ ! -s "$out/err" ] || fail "--cache says something"
    done
done
[ "$(ls "$out/cache" | grep -c '^[0-9a-f]*\.tmetal$')" = 2 ] || fail "--cache holds $(ls "$out/cache" | wc -l) files" # mlx is another option
gives 0 compile "$out/ops.json" --cache "$out/cache" -o "$out/cached.metal"
gives 0 compile "$out/ops.json" --cache "$out/cache" -o "$out/cached.metal"
cmp -s "$out/cached.metal" "$out/ops.metal" || fail "a list from the cache is another"
for f in "$out"/cache/*; do echo damaged > "$f"; done
gives 0 compile "$out/ops.json" --cache "$out/cache" -o "$out/cached.metal"
cmp -s "$out/cached.metal" "$out/ops.metal" || fail "a damaged cache does harm"
gives 0 compile $k/softmax.ttir --cache "$out/ops.json"
warns '^tmetal: the cache cannot write .*/ops.json/.*: Not a directory$'

# -- analyze ---------------------------------------------------------------------------------------------------
gives 0 analyze --operation "tt.sum:[1024,1024]:1"
says 'sum over axis 1 of tensor<.*COALESCED$'
says '^1 of 1 reduction in the COALESCED layout$'
gives 0 analyze --operation "tt.sum:[1024,1024]:1" --layout COLUMN_MAJOR
says '^0 of 1 reduction '
gives 0 analyze --operation "tt.exp:[1024]"
says '^0 of 0 reductions '
gives 0 analyze --json "$out/ops.json"
says 'any_reduce'
grep -q 'elementwise_exp' "$out/out" && fail "an op without a reduction is listed"
gives 0 analyze --json "$out/ops.json" --verbose
says '^  elementwise_exp.*: no reduction$'
says 'register .* | lane .* | simdgroup'
gives 0 analyze --json "$out/ops.json" --output "$out/results.json"
silent
holds "$out/results.json" 'j["tmetal_analysis"] == 1 and j["reductions"] == sum(len(k["reductions"]) for k in j["files"][0]["kernels"])'
holds "$out/results.json" 'all(r["is_coalesced"] == (r["layout"] & 8 == 8) for k in j["files"][0]["kernels"] for r in k["reductions"]) and j["coalesced"] >= 10'
holds "$out/results.json" '{r["kind"] for k in j["files"][0]["kernels"] for r in k["reductions"]} >= {"sum", "mean", "max", "min", "argmax", "argmin", "any", "all"}'
gives 0 analyze $k/softmax.ttir
says 'softmax.py:[0-9]*:[0-9]*: softmax: max over axis 0'
says 'to %denominator: '
ls $k/*.ttir > "$out/names"
gives 0 analyze $k/*.ttir
cp "$out/out" "$out/whole"
"$tmetal" analyze - < "$out/names" > "$out/out" 2> "$out/err" || fail "names on standard input are refused"
cmp -s "$out/out" "$out/whole" || fail "names on standard input give something else"
gives 1 analyze tests/cases/diagnostics/301_operation.ttir $k/softmax.ttir --output -
cp "$out/out" "$out/mixed.json"
holds "$out/mixed.json" '[f["code"] for f in j["files"]] == [301, 0] and len(j["files"][1]["kernels"][0]["reductions"]) == 2'
warns 'TM301'
gives 1 analyze --operation "tt.sum:[n,m]:1"
warns 'TM119'
gives 1 analyze $k/softmax.py
warns 'TM811'
gives 1 analyze no-such-file
gives 2 analyze
gives 0 analyze --version
says '^tmetal [0-9.]*$'

# -- check: judges what machines were recorded to say --------------------------------------------------------------
machine() { printf '%s\n' "$@" > "$out/facts"; }
machine 'os: Darwin' 'arch: arm64' 'arm64: 1' 'macos: 14.5' 'chip: Apple M3 Max' 'gpu-cores: 30' 'metal: Metal 3' 'metal-compiler: Apple metal version 32023.155' 'c-compiler: Apple clang version 15.0.0'
gives 0 check --facts "$out/facts"
grep -q MISSING "$out/out" && fail "a Mac with all lacks something"
says 'Metal language up to 3.1$'
says 'Apple M3 Max, 30 GPU cores, Apple9: compile with --gpu apple-m3-max-30$'
says '300 GB/s$'
gives 0 check --facts "$out/facts" --json
cp "$out/out" "$out/check.json"
holds "$out/check.json" 'j["runs_on_gpu"] is True and j["gpu"] == "apple-m3-max-30" and {c["what"]: c["state"] for c in j["checks"]}["system"] == "ok"'
machine 'os: Darwin' 'arch: arm64' 'macos: 13.0' 'chip: Apple M1' 'gpu-cores: 8' 'metal: Metal 3'
gives 0 check --facts "$out/facts"
says 'M1 and M2 run everything; M3 and newer do better'
says 'xcodebuild -downloadComponent MetalToolchain'
says 'xcode-select --install'
says 'fastMathEnabled = NO'
machine 'os: Darwin' 'arch: arm64' 'macos: 26.1' 'chip: Apple M5' 'gpu-cores: 10' 'metal: Metal 4'
gives 0 check --facts "$out/facts"
says 'hardware of their own'
says 'up to 4.0$'
says 'set mathMode to safe'
machine 'os: Darwin' 'arch: arm64' 'macos: 12.7.1' 'chip: Apple M2' 'metal: Metal 3'
gives 1 check --facts "$out/facts"
says 'macOS 13.0 or newer is needed'
machine 'os: Darwin' 'arch: x86_64' 'arm64: 1' 'macos: 15.0' 'chip: VirtualApple @ 2.50GHz' 'metal: Metal 3'
gives 1 check --facts "$out/facts"
says 'translated by Rosetta'
machine 'os: Darwin' 'arch: x86_64' 'macos: 14.0' 'chip: Intel(R) Core(TM) i7-8557U CPU @ 1.70GHz' 'metal: Supported, feature set macOS GPUFamily2 v1'
gives 1 check --facts "$out/facts"
says 'Intel'
machine 'os: Darwin' 'arch: arm64' 'macos: 15.1' 'chip: Apple M99' 'metal: Metal 3'
gives 0 check --facts "$out/facts"
says 'not in the table of GPUs'
machine 'os: Darwin' 'arch: arm64' 'macos: 15.1' 'chip: Apple M2 (Virtual)'
gives 1 check --facts "$out/facts"
says '^MISSING  Metal device'
machine 'os: Linux' 'arch: aarch64' 'c-compiler: gcc'
gives 1 check --facts "$out/facts"
says 'Metal exists on Apple'
says 'kernels  *read from .py files, from TTIR and from lists of ops$'
says '^here: kernels compile to Metal.*; they cannot run on a GPU.$'
gives 0 check --record
cp "$out/out" "$out/facts"
says "^os: $(uname -s)$"
"$tmetal" check > "$out/now" 2> "$out/err" && code=0 || code=$?
gives $code check --facts "$out/facts"
cmp -s "$out/out" "$out/now" || fail "a recorded machine is judged otherwise than the machine"
gives 1 check --facts no-such-file
gives 2 check softly

# -- tutorial ------------------------------------------------------------------------------------------------------------
gives 0 tutorial --yes
for step in 1 2 3 4 5 6; do says "^$step of 6  "; done
says 'def twice(x_ptr, y_ptr, n, BLOCK: tl.constexpr):'
says 'kernel void twice'
says 'kernel void softmax'
grep -q 'return: go on' "$out/out" && fail "--yes pauses"
gives 0 tutorial
says '^1 of 6'
grep -q '^2 of 6' "$out/out" && fail "the tutorial goes on at the end of input"
printf '\nq\n' | "$tmetal" tutorial > "$out/out" 2> "$out/err" || fail "q is no success"
says '^2 of 6'
grep -q '^3 of 6' "$out/out" && fail "q does not quit"
printf '\n\n\n\n\n' | "$tmetal" tutorial > "$out/out" 2> "$out/err" || fail "the tutorial fails"
says '^6 of 6'

# -- run and bench without the simulator ---------------------------------------------------------------------------------------
mkdir "$out/alone"
cp "$tmetal" "$out/alone/tmetal"
n=$((n + 2))
"$out/alone/tmetal" run $k/row_sum.case > "$out/out" 2> "$out/err" && fail "run works without a simulator"
warns 'make sim'
"$out/alone/tmetal" bench --sizes 8x8 > "$out/out" 2> "$out/err" && fail "bench works without a simulator"
warns 'make sim'
gives 2 run $k/row_sum.ttir
gives 2 run $k/row_sum.case --seed soon
gives 1 run no-such.case
gives 2 bench --sizes 128
gives 2 bench --sizes 4096x8192
gives 2 bench --layouts DIAGONAL
gives 2 bench --dtype int8
gives 2 bench --output "$out/plot.png"
warns 'ends in .svg'
gives 1 bench --gpu no-such-gpu
gives 1 bench --gpu apple-a18 --output "$out/plot.svg"
[ ! -e "$out/plot.svg" ] || fail "a refused plot is written"

if [ ! -x "$build/sim" ]; then
    echo "cli: $n command lines of the tools are right; no $build/sim: run and bench were only refused"
    exit 0
fi

# -- run -----------------------------------------------------------------------------------------------------------------------
gives 0 run $k/row_sum.case
says '^out_ptr: right'
says 'barriers per threadgroup'
says '^right in '
gives 0 run $k/row_sum.case --seed 7 --threads 128 --json --output "$out/run.json"
holds "$out/run.json" 'j["right"] is True and j["errors"] == [] and j["kernels"][0]["barriers"] > 0 and j["kernels"][0]["distinct_read"] > 0'
cp $k/row_sum.ttir $k/row_sum.case "$out"
{ head -c 28000 $k/row_sum.bin; tail -c +28001 $k/row_sum.bin | tr '\000-\377' '\001-\377\000'; } > "$out/row_sum.bin"
gives 1 run "$out/row_sum.case"
says '^out_ptr: WRONG'
gives 1 run "$out/row_sum.case" --json
cp "$out/out" "$out/run.json"
holds "$out/run.json" 'j["right"] is False'
# a launch that the kernel was not compiled for
for ext in ttir bin; do cp tests/metal/specialized.$ext "$out"; done
sed 's/^arg i32 48/arg i32 41/' tests/metal/specialized.case > "$out/specialized.case"
gives 1 run "$out/specialized.case"
says '`n` is 41, but this kernel was compiled for a multiple of 16'
gives 0 run tests/metal/specialized.case
pair="tests/metal/specialized.py --signature *fp32:16,*fp32:16,*fp32:16,i32:16,i32:16,i32:16 --const BLOCK=64 --grid 1"
set -f
for command in why tune; do
    gives 0 $command $pair --args @256,@256,@256,48,32,7
    gives "$([ $command = why ] && echo 1 || echo 2)" $command $pair --args @256,@256,@256,48,31,7
    warns 'error\[TM718\]: `m` is 31, but this kernel was compiled for a multiple of 16'
done
gives 0 compile tests/metal/specialized.py --args "*fp32:16,*fp32,*fp32:16,i32:16,i32,1" --const BLOCK=64 --emit plan
set +f
cp "$out/out" "$out/special.json"
holds "$out/special.json" '[(s["name"], s.get("multiple"), s.get("equal")) for s in j["kernels"][0]["specialized"]] == [("x", 16, None), ("out", 16, None), ("n", 16, None), ("unread", None, 1)]'
gives 0 run tests/examples/checked.case
says '^pid (1, 0, 0) idx ( 7) v: -2.000000$'
grep -q '^debug:' "$out/out" && fail "run prints the words of the debug buffer"
# what a kernel prints by way of the debug buffer, and by logging; elements past four axes are counted there
gives 0 run tests/kernels/lookalikes/print_of_every_type.case
says '^pid (0, 0, 0) idx (0) f16, fp8: (operand 0) 0.500000$'
says '^pid (0, 0, 0) idx (0) hex8: 0xff$'
says '^pid (0, 0, 0) idx (0, 1, 0, 1, 0, 0) deep: 5$'
alike='s/at: .*[1-9a-fA-F].*/at/; s/0x0*\([0-9A-Fa-f]\)/\1/; s/\(\.[0-9]*[1-9]\)0*$/\1/; s/\.0*$//'
sed -n '/^pid/p' "$out/out" | grep -v ' deep: ' | sed "$alike" | tr A-F a-f | LC_ALL=C sort > "$out/buffered"
gives 0 run tests/kernels/lookalikes/print_of_every_type.case --logging
says '^log: pid (0, 0, 0) idx (3) deep: 5$'
sed -n 's/^log: //p' "$out/out" | grep -v ' deep: ' | sed "$alike" | tr A-F a-f | LC_ALL=C sort > "$out/logged"
[ "$(wc -l < "$out/logged")" = 45 ] || fail "the log has $(wc -l < "$out/logged") lines"
cmp -s "$out/buffered" "$out/logged" || fail "logging and the debug buffer differ: $(diff "$out/buffered" "$out/logged")"
mkdir "$out/moved"
cp "$build/sim" "$tmetal" "$out/moved"
n=$((n + 1))
mkdir "$out/temporary" # of its own: other tests make theirs at the same time
TMPDIR=$out/temporary "$out/moved/tmetal" run $k/row_sum.case > "$out/out" 2> "$out/err" || fail "the simulator runs only where it was built"
[ -z "$(ls -A "$out/temporary")" ] || fail "run leaves a folder behind"

# -- bench -----------------------------------------------------------------------------------------------------------------------
gives 0 bench --sizes 16x512 --dtype float16 --output "$out/plot.svg" --json
cp "$out/out" "$out/bench.json"
holds "$out/bench.json" '[r["asked"] for r in j["rows"]] == ["DEFAULT", "ROW_MAJOR", "COLUMN_MAJOR", "TILED", "COALESCED"] and all(r["result"] == "right" for r in j["rows"])'
holds "$out/bench.json" 'min(r["lines"] for r in j["rows"]) == j["rows"][4]["lines"] and j["rows"][2]["lines"] > 8 * j["rows"][4]["lines"] and j["rows"][4]["layout"] & 8'
# 16 x 512 halves and 16 results: bytes over 68 GB/s behind one launch of 5 us
holds "$out/bench.json" 'j["rows"][4]["distinct_bytes"] == 16 * 512 * 2 + 16 * 2 and j["rows"][4]["predicted_ns"][0] == round(5000 + (16 * 512 * 2 + 16 * 2) / 68)'
if command -v python3 > /dev/null 2>&1; then
    python3 -c 'import sys, xml.dom.minidom as x; d = x.parse(sys.argv[1]); t = [e.firstChild.data for e in d.getElementsByTagName("text")]
sys.exit(0 if "16 \u00d7 512" in t and "COALESCED" in t and "prefers-color-scheme" in open(sys.argv[1]).read() else 1)' "$out/plot.svg" || fail "the plot is no SVG, or lacks its texts"
fi
gives 0 bench --sizes 3x100,100x3 --layouts COALESCED --dtype bfloat16 --gpu apple-m4 --launch-us 2.5
says '^3x100  *COALESCED .* right '
says '2.5 us (assumed) + bytes / 120 GB/s'
echo "cli: $n command lines of the tools are right"
