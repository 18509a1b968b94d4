#!/bin/sh
# The candidates of a kernel as files, and the search replayed over a table of times: by the threads of each, so that
# 128 are best, and with some that failed or are not in the table.
#   tests/tune/list.sh BUILD
set -eu
list=$1/tune-list
dir=$1/tune
fail() { echo "tune-list: $*" >&2; exit 1; }

rm -rf "$dir"
mkdir -p "$dir"
"$list" --gpu apple-m3-max --programs 4096 --ints 3=4096 examples/kernels/attention.ttir "$dir" > "$dir/said"
grep -q '^attention: [0-9]* candidates; the model' "$dir/said" || fail "says $(cat "$dir/said")"
n=$(wc -l < "$dir/attention.candidates")
[ "$n" -gt 16 ] || fail "only $n candidates"
[ "$(ls "$dir"/attention.*.metal | wc -l)" = "$n" ] || fail "not a file a candidate"
while read -r label name seconds threads rest; do # each is launched with the threads that the index says
    grep -q "max_total_threads_per_threadgroup($threads)" "$dir/$label.metal" || fail "$label has not $threads threads"
    case $name in
    planned|threads=*|operands=*|layout=*) ;;
    *) fail "name $name" ;;
    esac
done < "$dir/attention.candidates"

awk '{ t = $4; s = 1e-4; while (t > 128) { t /= 2; s *= 1.3 } while (t < 128) { t *= 2; s *= 1.3 }
       if ($2 ~ /direct/) s *= 2; if ($2 ~ /layout/) s *= 1.05; print $1, (NR % 7 == 0 ? "failed" : s) }' "$dir/attention.candidates" | grep -v TILED > "$dir/times"
"$list" --gpu apple-m3-max --programs 4096 --ints 3=4096 --replay "$dir/times" examples/kernels/attention.ttir > "$dir/replayed"
in=$(wc -l < "$dir/times")
grep -q "^attention  *$in candidates," "$dir/replayed" || fail "replay counts otherwise: $(cat "$dir/replayed")"
if grep -q MISSED "$dir/replayed"; then fail "$(cat "$dir/replayed")"; fi
if "$list" --replay "$dir/times" examples/kernels/softmax.ttir > "$dir/other" 2>&1; then fail "replays a kernel that is not in the table"; fi
echo "tune-list: $n candidates; $(sed 's/^attention *//' "$dir/replayed")"
