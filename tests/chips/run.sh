#!/bin/sh
# What the GPU table changes, run in the simulator: run.sh BUILD [all]. Both ways of each choice must be right, and
# operands read straight from device memory must save barriers and threadgroup memory.
set -u
build=$1
recorded=tests/kernels/recorded
bad=0
runs() {    # name, options of corpus
    name=$1
    shift
    if "$build/corpus" "$@" > "$build/chips.txt" 2>&1; then
        printf '%-44s %s right\n' "$name" "$(sed -n 2p "$build/chips.txt" | awk '{ print $3 }')"
    else
        cat "$build/chips.txt"
        bad=1
    fi
    sed -n 2p "$build/chips.txt" | awk '{ exit $2 < 1 }' || { echo "$name: no case"; bad=1; }
}

runs "64-bit maximum at once, Apple8 on a Mac" --dir tests/chips/kernels --gpu apple-m2
runs "64-bit maximum by one thread, A16" --dir tests/chips/kernels --gpu apple-a16
runs "float atomics by compare and exchange" --dir $recorded --filter atomics-add_f32 --lacks FLOAT_ATOMICS
runs "reductions by shuffles" --dir $recorded --filter reductions-s --lacks SIMD_REDUCE
runs "products without simdgroup_matrix" --dir $recorded --filter dots-f32 --lacks SIMD_MATRIX
runs "scans with filled shuffles, Apple8" --dir $recorded --filter scans-sum_i --gpu apple-m2
runs "bfloat computed as bfloat, Apple9" --dir $recorded --filter bf16 --gpu apple-m3
runs "operands as Apple9 likes them" --dir $recorded --filter dots- --gpu apple-m3
for kernel in dots- attentions-; do
    runs "operands read directly, $kernel" --dir $recorded --filter $kernel --gpu apple-m3 --operands direct
done
for kernel in dots- attentions-; do
    runs "products by matmul2d, $kernel" --dir $recorded --filter $kernel --gpu apple-m5 --has TENSOR_OPS
done
runs "sums handed over in rounds, other places" --dir tests/chips/kernels --filter dot_ --gpu apple-m5 --has TENSOR_OPS --seed 3
# Text is refused where a loop that is not unrolled indexes a thread's registers.
runs "loops of 128 rounds over registers" --dir examples/kernels --filter sum_both --threads 32
runs "the same, with masks and without" --dir tests/chips/kernels --filter whole_tiles --threads 32
if [ "${2-}" = all ]; then
    for gpu in apple-a15 apple-m2-max apple-m3-max apple-m5; do runs "everything for $gpu" --dir $recorded --gpu $gpu; done
    runs "everything without simdgroup operations" --dir $recorded --lacks SIMD_REDUCE,SIMD_MATRIX,FLOAT_ATOMICS
fi

# Barriers a threadgroup and bytes of threadgroup memory, the last and the last but two columns of --counters: the
# rows of the table of docs/hardware.md.
counts() {
    "$build/corpus" --dir $recorded --filter "$1" --counters --operands "$2" | awk -v name="recorded/$1" '$1 == name { print $5 + 0, $7 }'
}
for kernel in dots-raw_matmul dots-scaled_accumulator attentions-attention_plain; do
    saved="$(counts $kernel staged) $(counts $kernel direct)"
    echo "$saved" | awk '{ exit !(NF == 4 && $3 < $1 && $4 < $2) }' || { echo "$kernel: nothing saved"; bad=1; }
    row=$(echo "$saved" | awk -v name=$kernel '
        function cell(barriers, bytes) { return barriers " barrier" (barriers == 1 ? "" : "s") ", " bytes " bytes" }
        { print "| " name " | " cell($1, $2) " | " cell($3, $4) " |" }')
    echo "$row"
    grep -qxF "$row" docs/hardware.md || { echo "docs/hardware.md says otherwise"; bad=1; }
done
[ $bad = 0 ]
