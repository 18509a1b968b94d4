#!/bin/sh
# Compile one recorded kernel, show what comes out, run it in the simulator and compare with Triton.
#   tests/show.sh BUILD CASE
set -eu
build=$1
case_file=$2
name=$(basename "$case_file" .case)
ttir=${case_file%.case}.ttir
mkdir -p "$build/run"
"$build/tmetal" compile "$ttir" -o "$build/run/$name.metal"
"$build/tmetal" compile "$ttir" --emit plan -o "$build/run/$name.json"
echo "== $ttir in Metal ($build/run/$name.metal)"
cat "$build/run/$name.metal"
echo "== its launch plan ($build/run/$name.json)"
cat "$build/run/$name.json"
echo "== run in the simulator, against what Triton computed on an NVIDIA GPU"
"$build/sim" "$build/run/$name.metal" --plan "$build/run/$name.json" --case "$case_file"
