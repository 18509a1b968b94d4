#!/bin/sh
# The checker over public texts that Apple's compiler is known to accept: every refusal is a false alarm.
#
#   tests/lint/public.sh BUILD [DIR]
#
# DIR (BUILD/lint-public) holds a checkout of each source; one that is missing is cloned there, without history. Nothing of
# them is committed. EVERY=n takes each n-th text of tint, which has ten thousand files; JOBS=n runs n at a time.
set -eu
build=$1
dir=${2:-$build/lint-public}
every=${EVERY:-40}
jobs=${JOBS:-2}
lists=$build/lint-lists
mkdir -p "$dir" "$lists"

source_of() {    # name, address, paths
    [ -d "$dir/$1" ] && return
    name=$1
    address=$2
    shift 2
    git clone -q --depth 1 --filter=blob:none --sparse "$address" "$dir/$name"
    git -C "$dir/$name" sparse-checkout set --no-cone "$@"
}

bad=0
judge() {    # name, options of lint; the list is in $lists/NAME
    name=$1
    shift
    "$build/lint" --list "$lists/$name" --jobs "$jobs" --summary "$@" > "$lists/$name.out" 2>&1 || bad=1
    printf '%-14s %s\n' "$name" "$(tail -1 "$lists/$name.out")"
}

source_of mlx https://github.com/ml-explore/mlx /mlx/backend/metal/kernels
find "$dir/mlx" -name '*.metal' | sort > "$lists/mlx"
judge mlx --msl 4.0 -I "$dir/mlx"

source_of ggml https://github.com/ggml-org/ggml /src/ggml-metal /src/ggml-common.h
find "$dir/ggml" -name '*.metal' | sort > "$lists/ggml"
judge ggml -I "$dir/ggml/src"

source_of pytorch https://github.com/pytorch/pytorch /aten/src/ATen/native/mps/kernels /c10/metal
find "$dir/pytorch/aten" -name '*.metal' | sort > "$lists/pytorch"
judge pytorch -I "$dir/pytorch" -I "$dir/pytorch/aten/src"

# Names with nocompat or invalid are not compiled by SPIRV-Cross's own tests.
source_of spirv-cross https://github.com/KhronosGroup/SPIRV-Cross '/reference/*msl*' '/reference/opt/*msl*'
find "$dir/spirv-cross/reference" -path '*msl*' -type f | grep -v 'nocompat\|\.invalid\.' | sort > "$lists/spirv-cross"
judge spirv-cross

source_of naga https://github.com/gfx-rs/wgpu /naga/tests/out/msl
find "$dir/naga/naga/tests/out/msl" -type f | sort > "$lists/naga"
judge naga

# A snapshot of tint's holds one program for each entry point; some hold none.
source_of tint https://github.com/google/dawn '/test/tint/**/*.expected.msl'
rm -rf "$lists/programs"
mkdir -p "$lists/programs"
find "$dir/tint/test/tint" -name '*.expected.msl' -exec grep -LE '^SKIP|^error' {} + | sort |
    awk -v n="$every" 'NR % n == 1 || n == 1' |
    while read -r file; do
        awk -v out="$lists/programs/$(echo "${file#*test/tint/}" | tr / +)" \
            '/^#include <metal_stdlib>/ { n++ } n { print > (out "." n ".metal") }' "$file"
    done
find "$lists/programs" -name '*.metal' | sort > "$lists/tint"
judge tint --msl 3.2
exit $bad
