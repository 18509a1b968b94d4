#!/bin/sh
# Fuzz every target for some minutes, and say what came of it:
#   run.sh BUILD MINUTES JOBS ENGINE TARGET...
# ENGINE is libfuzzer or afl. What is found lies in BUILD/fuzzing/found, what covers something new in BUILD/fuzzing/corpus: the next
# run begins with it. The table is BUILD/fuzzing/table.txt; the exit status says whether anything was found.
set -u
build=$1 minutes=$2 jobs=$3 engine=$4
shift 4
out=$build/fuzzing
mkdir -p "$out/found" "$out/log"
each=$(($jobs / $#))
[ $each -gt 0 ] || each=1

export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:abort_on_error=1:symbolize=${SYMBOLIZE:-1}
one() { # TARGET
    dict=
    [ ! -s "$out/$1.dict" ] || dict=-dict=$out/$1.dict
    mkdir -p "$out/corpus/$1" "$out/found/$1" "$out/seeds/$1"
    if [ "$engine" = afl ]; then
        rm -rf "$out/afl/$1.out"
        ASAN_OPTIONS=$ASAN_OPTIONS:symbolize=0 AFL_SKIP_CPUFREQ=1 AFL_NO_UI=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1 AFL_IGNORE_SEED_PROBLEMS=1 \
            afl-fuzz -V $(($minutes * 60)) -m none -t 5000 -G 8192 ${dict:+-x "$out/$1.dict"} -i "$out/seeds/$1" -o "$out/afl/$1.out" -- "$out/afl/$1" > "$out/log/$1" 2>&1
        find "$out/afl/$1.out" -path '*/crashes/id*' -o -path '*/hangs/id*' | while read -r f; do cp "$f" "$out/found/$1/"; done
    else
        "$out/lf/$1" -fork=$each -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -max_total_time=$(($minutes * 60)) -timeout=10 -rss_limit_mb=3000 \
            -max_len=8192 $dict -artifact_prefix="$out/found/$1/" "$out/corpus/$1" "$out/seeds/$1" > "$out/log/$1" 2>&1
    fi
}

# Targets one after another where there are fewer jobs than targets.
running=0
for t in "$@"; do
    one "$t" &
    running=$((running + 1))
    if [ $running -ge "$jobs" ]; then
        wait
        running=0
    fi
done
wait

row() { # TARGET: executions edges findings
    if [ "$engine" = afl ]; then
        awk -F' *: *' '/^execs_done/ {n = $2} /^edges_found/ {c = $2} END {print n + 0, c + 0}' "$out/afl/$1.out/default/fuzzer_stats"
    else
        awk '/^#[0-9]+:? / {n = $1; gsub(/[#:]/, "", n); for (i = 1; i < NF; i++) if ($i == "cov:" && $(i + 1) > c) c = $(i + 1)} END {print n + 0, c + 0}' "$out/log/$1"
    fi
}
bad=0
{
    printf '%-10s %12s %8s %9s   %s\n' target executions edges findings "$minutes minutes each, $engine, $(date -u +%Y-%m-%d)"
    for t in "$@"; do
        set -- $(row "$t")
        printf '%-10s %12s %8s %9s\n' "$t" "$1" "$2" "$(find "$out/found/$t" -type f | wc -l)"
    done
} > "$out/table.txt"
cat "$out/table.txt"
if [ -n "$(find "$out/found" -type f)" ]; then
    echo "fuzz: look at each by $out/TARGET FILE; keep its input in tests/fuzz/found/TARGET"
    exit 1
fi
