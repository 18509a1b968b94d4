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

gives 2 tune --strategy best $k/softmax.ttir
warns 'guided, exhaustive, random and model, not best'
gives 2 tune --grid 4,x $k/softmax.ttir
warns 'not X'
gives 2 tune --args 1,y $k/softmax.ttir
warns 'not an argument: y'
gives 2 tune
gives 1 tune tests/cases/diagnostics/106_undefined.ttir
silent
echo "cli: tune: $n calls"
