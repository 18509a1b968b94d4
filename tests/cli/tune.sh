#!/bin/sh
# tmetal tune, where there is no GPU: the model's choice; the tuning cache that it writes and compile --tuned reads.
#   tests/cli/tune.sh BUILD
set -eu
build=$1
out=$build/cli/tune
rm -rf "$out"
. tests/cli/common
launch="--grid 4096 --args @16384,@4096,1000,1000"

gives 0 tune $k/row_sum.ttir
says '^planned  *1.00 of planned, by the model$'
says '^not timed: a launch is wanted, --grid and --args$'
says "^model's choice, nothing timed: "
gives 0 tune --strategy model $k/row_sum.ttir
grep -q '^not timed' "$out/out" && fail "a model is no failure to time"
echo 'tt.sum:[64,256]:1' > "$out/list.txt"
gives 0 tune "$out/list.txt"
says "^model's choice, nothing timed: "

# What was found is kept, once: the second time it is merged.
# shellcheck disable=SC2086
for again in 1 2; do
    gives 0 tune --gpu apple-m3-max $launch --tuned "$out/cache" $k/attention.ttir
    gives 0 tune --gpu apple-m3-max $launch --tuned "$out/cache" $k/row_sum.ttir
    [ "$(wc -l < "$out/cache")" = 3 ] || fail "the cache has $(wc -l < "$out/cache") lines"
done
choice=$(sed -n "s/^model's choice, nothing timed: //p" "$out/out")
gives 0 compile --gpu apple-m3-max --grid 5000 --args @1,@1,999,1001 --tuned "$out/cache" $k/row_sum.ttir -o "$out/far.metal"
warns 'other shapes or GPUs, not for p12,2:9/1,3:9/1 on apple-m3-max'
# shellcheck disable=SC2086
gives 0 compile --gpu apple-m3-max $launch --tuned "$out/cache" $k/row_sum.ttir
warns "cache: $choice: the model's choice, nothing was timed"
gives 0 compile --gpu apple-m3-max --tuned "$out/cache" $k/softmax.ttir
warns 'does not have this program'
sed 's/planned\|threads/plannet/' "$out/cache" > "$out/damaged"
# shellcheck disable=SC2086
gives 0 compile --gpu apple-m3-max $launch --tuned "$out/damaged" $k/row_sum.ttir
warns 'damaged: of 2 entries it has 2 lines, of which'
gives 1 compile --tuned "$out/none" $k/softmax.ttir
warns 'No such file'

# The configurations of a .py: each is compiled with its own grid, and the winner is found again. The third does too much.
cat > "$out/rows.py" << 'END'
import triton
import triton.language as tl


def configs():
    found = []
    for block in (64, 128):
        for turns in range(1, 4, 2):
            if block == 128 and turns == 3:
                continue
            found.append(triton.Config({"BLOCK": block, "TURNS": 2 if block == 64 and turns == 1 else turns}, num_warps=4))
    return found


@triton.autotune(configs=configs(), key=["n"])
@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    for turn in tl.static_range(TURNS * TURNS * TURNS * TURNS):
        v = tl.exp(v)
    tl.store(y + tl.program_id(0), tl.sum(v))
END
py="$out/rows.py --gpu apple-m3-max"
types="*fp32:16, *fp32:16, i32:16"
values=@16777216,@16384,1024
# shellcheck disable=SC2086
gives 0 tune $py --signature "$types" --grid "cdiv(8192, BLOCK // 64) * TURNS" --args $values --tuned "$out/rows"
says '^config=2 '
says '^config=3 '
says '^config=3,threads=64 '
says "^model's choice, nothing timed: .*config=3"
# shellcheck disable=SC2086
gives 0 compile $py --signature "$types" --grid "cdiv(8192, BLOCK // 64) * TURNS" --args $values --tuned "$out/rows"
warns 'rows: config=3.*: the model.s choice, nothing was timed'
says 'tiles of up to 128 elements'
# shellcheck disable=SC2086
gives 0 compile $py --signature "$types" --grid 4 --args $values --tuned "$out/rows"
warns 'configuration 1 is taken'
# shellcheck disable=SC2086
gives 0 compile $py --signature "$types" --config 1 --tuned "$out/rows"
warns 'does not have this program'
for grid in "ROW" "4,cdiv(1,0)" "4,(2" "1,2,3,4" "4 - 4"; do
    # shellcheck disable=SC2086
    gives 2 tune $py --signature "$types" --grid "$grid" --args $values
    warns 'programs: '
done

gives 2 tune --strategy best $k/softmax.ttir
warns 'guided, exhaustive, random and model, not best'
gives 2 tune --grid 4,x $k/softmax.ttir
warns 'not X'
gives 2 tune --args 1,y $k/softmax.ttir
warns 'not an argument: y'
for arg in @-5 @ @1.5 @9223372036854775808 9223372036854775808 -9223372036854775809 0x10 +1 1, ,; do
    gives 2 tune --args "1,$arg" $k/softmax.ttir
    warns 'not an argument: '
done
for grid in '' 0 -1 1, 2147483648 1-4294967295-4294967295 9223372036854775807; do
    gives 2 tune --grid "$grid" $k/softmax.ttir
    warns 'programs'
done
for count in nan -1 4294967296 ''; do
    gives 2 tune --trials "$count" $k/softmax.ttir
    gives 2 tune --seed "$count" $k/softmax.ttir
    gives 2 tune --config "$count" $py --signature "$types"
    warns 'not the number of a configuration: '
done
gives 2 compile --threads -18446744073709551584 $k/softmax.ttir
cp $k/softmax.ttir "$out/bad.ttir"
for line in 'grid x 1 1' 'grid 13' 'grid -1 1 1' 'arg i32 x' 'kernel softmax'; do
    echo "$line" > "$out/bad.case"
    gives 1 why "$out/bad.case"
    warns 'bad.case: \(not a launch: \|it says no grid\)'
done
gives 2 tune
gives 1 tune tests/cases/diagnostics/106_undefined.ttir
silent
echo "cli: tune: $n calls"
