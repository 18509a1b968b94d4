#!/bin/sh
# The same bytes from every build: gcc and clang, -O0 to -O3, C and C++, 32 bits where that links.
#
#     same.sh BUILD-DIRECTORY FILE-OR-DIRECTORY...
set -u
cd "$(dirname "$0")/../.."
build=$1
shift
mkdir -p "$build/robust"
"$build/digest" "$@" > "$build/robust/first.txt" || exit 1
bad=0
try() { # name, then compiler and flags
    name=$1
    shift
    if ! "$@" tests/robust/digest.c tests/robust/text.c tests/robust/header.c -o "$build/robust/digest-$name" 2> "$build/robust/out"; then
        echo "same: $name does not build here: left out ($(head -n 1 "$build/robust/out"))"
        return
    fi
    "$build/robust/digest-$name" $files > "$build/robust/$name.txt"
    if cmp -s "$build/robust/first.txt" "$build/robust/$name.txt"; then echo "same: $name"
    else
        echo "same: $name differs:"
        diff "$build/robust/first.txt" "$build/robust/$name.txt" | head -n 6
        bad=1
    fi
}
files=$*
try gcc-O0 gcc -std=c99 -O0
try gcc-O3 gcc -std=c99 -O3
try gxx g++ -x c++ -std=c++11 -O1 -fpermissive -w
try clang-O0 clang -std=c99 -O0
try clang-O2 clang -std=c99 -O2
try tcc tcc -std=c99
try 32-bit gcc -m32 -std=c99 -O2
try unsigned-char gcc -std=c99 -O1 -funsigned-char
exit $bad
