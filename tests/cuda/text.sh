#!/bin/sh
# Does build/cuda-text leave a word of Metal in what it prepares? text.sh BUILD. Needs no nvcc: the golden texts are mapped,
# and no address space, attribute, literal or pragma may be left outside of comments.
set -u
build=$1
bad=0
n=0
words='\<(device|constant|thread|threadgroup|kernel|coherent)\>|\[\[|[0-9.](h|bf)\>|#pragma (METAL|clang)|\.[xyzw]{2,4}\>'
for f in tests/golden/*.metal; do
    if ! "$build/cuda-text" k="$f" > "$build/text.cu" 2> "$build/text.json"; then
        cat "$build/text.json"
        bad=1
    fi
    kernels=$(grep -c 'extern "C" __global__' "$build/text.cu")
    [ "$kernels" = "$(grep -c '^kernel' "$f")" ] && [ "$kernels" = "$(grep -c '^{' "$build/text.json")" ] ||
        { echo "$f: $kernels kernels"; bad=1; }
    sed 's,//.*,,; /^#line/d; /^#include/d' "$build/text.cu" | grep -E "$words" > "$build/text.left" &&
        { echo "$f: not mapped:"; head -3 "$build/text.left"; bad=1; }
    n=$((n + 1))
done
echo "cuda-text: $n texts"
[ $bad = 0 ] && [ $n -gt 10 ]
