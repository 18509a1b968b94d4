#!/bin/sh
# Random modules on an NVIDIA GPU against the interpreter: random.sh BUILD FIRST MODULES SECONDS. Three hundred at a time, each
# time compiled in another way; nothing new is begun after SECONDS.
set -u
build=$1 at=$2 last=$(($2 + $3 - 1)) seconds=$4
began=$(date +%s)
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ways='--gpu apple-m3-max
--gpu apple-m1
--plain
--gpu apple-m3-max --two-stage 4
--gpu apple-m3-max --threads 64
--gpu apple-m3-max --programs 4
--gpu apple-m1 --threads 256
--layout TILED
--gpu apple-m3-max --threads 512
--layout COALESCED
--two-stage 2 --threads 64
--gpu apple-m3-max --operands direct
--layout COLUMN_MAJOR --threads 128
--gpu apple-m3-max --no-fusion
--gpu apple-m3-max --bounds'
n=0
while [ "$at" -le "$last" ] && [ $(($(date +%s) - began)) -lt "$seconds" ]; do
    end=$((at + 299))
    [ "$end" -le "$last" ] || end=$last
    way=$(echo "$ways" | sed -n "$((n % 15 + 1))p")
    mkdir "$work/$n"
    "$build/random" --print --write "$work/$n" --range "$at" "$end" | xargs -n 20 -P "$(nproc)" "$build/generate" --case || bad=1
    python3 tests/cuda/validate.py --build "$build" --tmetal "$build/tmetal $way" "$work/$n" > "$work/said" || bad=1
    echo "$at to $end, $way: $(grep -v '^wrong ' "$work/said" | tr '\n' ' ')"
    grep -e '^wrong ' -e '^not ' "$work/said"
    rm -rf "${work:?}/$n"
    at=$((end + 1))
    n=$((n + 1))
done
exit $bad
