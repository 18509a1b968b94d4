#!/bin/sh
# The Metal and the plan of each example kernel against the text committed here.
#   tests/golden/run.sh BUILD         compare; the first differences are printed
#   tests/golden/run.sh BUILD bless   rewrite them and print the lines gained and lost
set -eu
build=$1
mode=${2:-test}
bad=0
n=0
texts() {    # name of the golden text, kernel, options
    name=$1
    ttir=$2
    shift 2
    for part in msl plan; do
        golden=tests/golden/$name.metal
        [ $part = plan ] && golden=tests/golden/$name.plan.json
        now=$build/golden.now
        "$build/tmetal" compile "$ttir" --emit $part "$@" > "$now"
        n=$((n + 1))
        cmp -s "$now" "$golden" 2>/dev/null && continue
        if [ "$mode" = bless ]; then
            touch "$golden"
            gained=$(diff "$golden" "$now" | grep -c '^>' || true)
            lost=$(diff "$golden" "$now" | grep -c '^<' || true)
            echo "$golden: $gained lines gained, $lost lost"
            cp "$now" "$golden"
        else
            echo "$golden differs:"
            diff "$golden" "$now" | head -10
            bad=$((bad + 1))
        fi
    done
}
for ttir in examples/kernels/*.ttir; do texts "$(basename "$ttir" .ttir)" "$ttir"; done
texts matmul.tensor examples/kernels/matmul.ttir --gpu apple-m5 --has TENSOR_OPS
texts vector_add.bounds examples/kernels/vector_add.ttir --bounds
# a golden text without a kernel is a kernel that vanished
for golden in tests/golden/*.metal; do
    name=$(basename "$golden" .metal)
    [ -f "examples/kernels/${name%.*}.ttir" ] || { echo "$golden has no kernel"; bad=$((bad + 1)); }
done
rm -f "$build/golden.now"
[ "$mode" = bless ] && exit 0
echo "golden: $((n - bad)) of $n texts as committed"
[ $bad = 0 ] || { echo "read the differences; 'make bless' accepts them"; exit 1; }
