#!/bin/sh
# What the command line does on this machine's GPU, by way of the stand-in: check, run --device, bench --device.
#   tests/metal/cli.sh BUILD
set -eu
build=$1
out=$build/device-test
tmetal=$build/metal-tmetal
k=examples/kernels
mkdir -p "$out"
fail() { echo "cli: $*" >&2; cat "$out/out" "$out/err" >&2; exit 1; }
gives() {
    want=$1
    shift
    "$tmetal" "$@" > "$out/out" 2> "$out/err" < /dev/null && code=0 || code=$?
    [ "$code" = "$want" ] || fail "tmetal $* ends with $code instead of $want"
}
says() { grep -q -e "$1" "$out/out" || fail "standard output lacks '$1'"; }
warns() { grep -q -e "$1" "$out/err" || fail "standard error lacks '$1'"; }
command -v python3 > /dev/null 2>&1 || echo "cli: no python3 here: JSON was not read back"
holds() {
    command -v python3 > /dev/null 2>&1 || return 0
    python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); sys.exit(0 if eval(sys.argv[2]) else 1)' "$out/out" "$1" || fail "not $1"
}

# check: the system is still none of Apple's, but there is a device, and a kernel runs.
gives 1 check
says '^ok       Metal device    Apple M1 (Apple7, Metal 3)$'
says '^ok       launch          256 of 256 sums right$'
gives 1 check --json
holds 'j["was_tried"] is True and {c["what"]: c["state"] for c in j["checks"]}["launch"] == "ok"'
gives 0 check --record
says '^launch: 256 of 256 sums right$'
says '^matmul2d: tensors in memory: 0 of 512 wrong; by the lanes of M5: 512 of 512 wrong$'

# What a Mac may say of itself.
# In a virtual machine system_profiler may know of no Metal where the launcher finds it.
mac='os: Darwin\narch: arm64\nmacos: 15.1\nchip: Apple M3\nmetal: Metal 3'
printf "$mac\nlaunch: 256 of 256 sums right\n" > "$out/facts"
gives 0 check --facts "$out/facts"
says 'run on the GPU: a small one was right.$'
printf "os: Darwin\narch: arm64\nmacos: 15.1\nchip: Apple M3 (Virtual)\ndevices: Apple Paravirtual device (Apple5)\nlaunch: 256 of 256 sums right\n" > "$out/facts"
gives 0 check --facts "$out/facts"
says '^ok       Metal device    Apple Paravirtual device (Apple5)$'
for what in '255 of 256 sums right' 'TM703: the compiler refuses the text'; do
    printf "$mac\nlaunch: $what\n" > "$out/facts"
    gives 1 check --facts "$out/facts"
    says "^MISSING  launch          $what\$"
    says 'please report it'
done
printf "$mac\nlaunch: 256 of 256 sums right\nmatmul2d: tensors in memory: 8 of 512 wrong; by lanes: refused\n" > "$out/facts"
gives 0 check --facts "$out/facts"
says '^note     matmul2d        tensors in memory: 8 of 512 wrong; by lanes: refused$'

# run --device
gives 0 run --device $k/softmax.case
says '^right kernels/softmax$'
says '1 right; on a stand-in, not a device$'
gives 0 run --device --plain --threads 64 --layout TILED $k/sum_rows.case -o "$out/named"
grep -q '^right kernels/sum_rows$' "$out/named" || fail "-o is not heeded"
gives 0 run --device --json $k/softmax.case
holds 'j["stand_in"] is True and j["counts"]["right"] == 1 and j["cases"][0]["name"] == "kernels/softmax"'
gives 1 run --device tests/examples/no-such.case
gives 1 run --device --layout NONSENSE $k/softmax.case
warns '^error\|: error'
gives 2 run --device --gpu apple-m2 $k/softmax.case
warns 'not with --device.*: --gpu'

# bench --device
gives 0 bench --device --sizes 64x64,32x128 --layouts TILED --dtype float16
says '^row sum      own choice     64x64        launched, not measured$'
says '^row sum      TILED          32x128       launched, not measured$'
gives 0 bench --device --sizes 64x64 --json
holds 'len(j["shares"]) == 5 and all(s["share"] is None for s in j["shares"])'
gives 2 bench --device --launch-us 3
gives 2 bench --device --sizes 64

# tune: candidates are launched, but the stand-in's clock always says a quarter of a second.
rm -f "$out/tuned"
gives 0 tune --grid 4 --args @16384,@64,1000 --trials 4 --tuned "$out/tuned" $k/row_sum.ttir
says '^planned  *250000.0 us$'
says '^best of 4 trials: planned, 1.00 times as fast as planned$'
says '^all took the same time'
gives 0 compile --gpu 'Apple M1' --tuned "$out/tuned" --grid 4 --args @1,@1,1000 $k/row_sum.ttir
echo 'tt.softmax:[16,64]:1' > "$out/list.txt"
gives 0 tune --strategy exhaustive "$out/list.txt"
says '^best of [0-9]* trials: planned'
gives 1 tune --args @16 --grid 1 $k/row_sum.ttir
says 'cannot be launched: '
warns 'all trials failed'

# Where there is no Metal.
if [ "$(uname -s)" != Darwin ] && [ -x "$build/tmetal" ]; then
    tmetal=$build/tmetal
    for what in "run $k/softmax.case" bench; do
        gives 1 ${what%% *} --device $(printf '%s' "${what#"${what%% *}"}")
        warns 'TM701: there is no Metal here'
        warns '^help: run it on a Mac'
    done
    gives 1 check
    says 'TM701: there is no Metal here'
fi
echo "cli: check, run --device, bench --device and tune do what they should"
