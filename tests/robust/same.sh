#!/bin/sh
# The same bytes and keys from every build, by default and in one further mode that each text chooses: gcc and clang, -O0 to -O3, C and C++; 32 bits,
# arm64, s390x (big endian) and WebAssembly where they can run.
#
#     same.sh BUILD-DIRECTORY FILE-OR-DIRECTORY...
set -u
cd "$(dirname "$0")/../.."
build=$1
shift
mkdir -p "$build/robust"
"$build/digest" --key --modes "$@" > "$build/robust/out" || exit 1
sed 's/@[^@]*$//' "$build/robust/out" > "$build/robust/first.txt" # the mode's name
bad=0
try() { # name, then compiler and flags
    name=$1
    shift
    if ! "$@" tests/robust/digest.c tests/robust/outcome.c tests/robust/text.c tests/robust/header.c -o "$build/robust/digest-$name" 2> "$build/robust/out"; then
        echo "same: $name does not build here: left out ($(head -n 1 "$build/robust/out"))"
        return
    fi
    if ! $runner "$build/robust/digest-$name" --key --modes $files > "$build/robust/$name.txt" 2> "$build/robust/out"; then
        if [ -n "$runner" ] && ! $runner "$build/robust/digest-$name" > /dev/null 2>&1 && [ $? != 2 ]; then
            echo "same: $name does not run here: left out"
            return
        fi
    fi
    compare
}
compare() { # what $name printed, with the first
    sed -i 's/@[^@]*$//' "$build/robust/$name.txt"
    if cmp -s "$build/robust/first.txt" "$build/robust/$name.txt"; then echo "same: $name"
    else
        echo "same: $name differs:"
        diff "$build/robust/first.txt" "$build/robust/$name.txt" | head -n 6
        bad=1
    fi
}
files=$* runner=
try gcc-O0 gcc -std=c99 -O0
try gcc-O3 gcc -std=c99 -O3
try gxx g++ -x c++ -std=c++11 -O1 -fpermissive -w
try clang-O0 clang -std=c99 -O0
try clang-O2 clang -std=c99 -O2
try tcc tcc -std=c99
try 32-bit gcc -m32 -std=c99 -O2
try unsigned-char gcc -std=c99 -O1 -funsigned-char
clang=$(command -v clang-19 || command -v clang || true)
# Other processors, where a cross compiler's libraries and an emulator are here.
if [ -n "$clang" ] && command -v qemu-aarch64-static > /dev/null; then
    runner="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
    try arm64 $clang --target=aarch64-linux-gnu -fuse-ld=lld -std=c99 -O2
    runner=
else
    echo "same: arm64 wants clang and qemu-aarch64-static: left out"
fi
# The other order of bytes, without a C library.
if [ -n "$clang" ] && command -v qemu-s390x-static > /dev/null &&
    $clang --target=s390x-linux-gnu -march=z13 -fuse-ld=lld -static -ffreestanding -fno-builtin -nostdlib -std=c99 -O1 -Itests/robust/freestanding \
        -DTMETAL_NO_SETJMP '-DTMETAL_ABORT(code)=__builtin_trap()' \
        tests/robust/bare.c tests/robust/freestanding/library.c tests/robust/outcome.c tests/robust/header.c -o "$build/robust/digest-s390x" 2> "$build/robust/out"; then
    name=s390x
    python3 tests/robust/bare.py qemu-s390x-static "$build/robust/digest-s390x" $files > "$build/robust/s390x.txt" || bad=1
    compare
else
    echo "same: s390x, whose bytes stand the other way round, wants clang 18, its lld and qemu-s390x-static: left out"
fi
# WebAssembly without a C library, run by Node.js.
linker=$(command -v wasm-ld-19 || command -v wasm-ld || true) # clang asks for the one of its own number alone
if [ -n "$clang" ] && [ -n "$linker" ] && command -v node > /dev/null; then
    name=wasm32
    $clang --target=wasm32 -fuse-ld="$linker" -ffreestanding -fno-builtin -nostdlib -std=c99 -O2 -Wl,--no-entry -Itests/robust/freestanding \
        -DTMETAL_NO_SETJMP '-DTMETAL_ABORT(code)=__builtin_trap()' \
        tests/robust/wasm.c tests/robust/freestanding/library.c tests/robust/outcome.c tests/robust/header.c -o "$build/robust/digest.wasm" || exit 1
    node tests/robust/wasm.mjs "$build/robust/digest.wasm" $files > "$build/robust/wasm32.txt" || bad=1
    compare
else
    echo "same: wasm32 wants clang, wasm-ld and node: left out"
fi
exit $bad
