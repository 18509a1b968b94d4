#!/bin/sh
# The header must compile without a warning, with its implementation and without, in every language and
# by every compiler that it promises. What is not installed is named and left out.
#
#     warnings.sh short|all
set -u
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
strict="-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
asked="-DTMETAL_CACHE -DTMETAL_METAL -DTMETAL_LAUNCH_CODE -DTMETAL_TRITON -DTMETAL_TUNE"
bad=0 done=0
printf '#include "%s/tmetal.h"\nint answer(void);\nint answer(void) { return (int)sizeof(tmetal_result); }\n' "$PWD" > "$tmp/user.c"
printf '#define TMETAL_IMPLEMENTATION\n#include "%s/tmetal.h"\n' "$PWD" > "$tmp/whole.c"
# As part of somebody's file: everything static, the public functions too, and one of them called.
printf '#define TMETAL_STATIC\n#define TMETAL_IMPLEMENTATION\n#include "%s/tmetal.h"\nint answer(void);\nint answer(void) { return (int)tmetal_gpu_count(); }\n' "$PWD" > "$tmp/static.c"
for f in user whole static; do cp "$tmp/$f.c" "$tmp/$f.cc"; done

try() { # what is tried, then the command
    what=$1
    shift
    done=$((done + 1))
    if ! "$@" > "$tmp/out" 2>&1; then
        echo "warnings: $what:"
        grep -E "error|warning" "$tmp/out" | head -n 6
        bad=$((bad + 1))
    fi
}
here() {
    command -v "$1" > /dev/null 2>&1 && return 0
    echo "warnings: $1 is not installed: left out"
    return 1
}
c_and_cxx() { # compiler, its C++ name, optimisation
    for std in $4; do try "$1 $std, header alone" $1 -std=$std $strict $3 -c "$tmp/user.c" -o "$tmp/o"
        try "$1 $std" $1 -std=$std $strict $3 -c "$tmp/whole.c" -o "$tmp/o"; done
    for std in $5; do try "$2 $std, header alone" $2 -std=$std $strict $3 -c "$tmp/user.cc" -o "$tmp/o"
        try "$2 $std" $2 -std=$std $strict $3 -c "$tmp/whole.cc" -o "$tmp/o"; done
    # the optional parts, together and each alone, optimized as users do: some warnings come from inlining alone
    for part in "$asked" $asked; do
        try "$1, $part" $1 -std=c99 $strict $3 $part -c "$tmp/whole.c" -o "$tmp/o"
        try "$2, $part" $2 -std=c++11 $strict $3 $part -c "$tmp/whole.cc" -o "$tmp/o"
    done
}

# C99 promises 4,095 characters a literal: -pedantic of gcc counts them (-Woverlength-strings).
case $1 in
short) # every part; tests/compile has builds without them, as strict but for -Wmisleading-indentation, which is slow
    c=cc cxx=c++
    if command -v gcc > /dev/null && command -v g++ > /dev/null; then c=gcc cxx=g++; fi
    try "$c c99, header alone" $c -std=c99 $strict -c "$tmp/user.c" -o "$tmp/o"
    try "$cxx c++11, header alone" $cxx -std=c++11 $strict -c "$tmp/user.cc" -o "$tmp/o"
    try "$c, $asked" $c -std=c99 $strict $asked -O1 -c "$tmp/whole.c" -o "$tmp/o"
    indent=-Wno-misleading-indentation # 7 s of gcc's, and the same in C
    try "$cxx, $asked" $cxx -std=c++11 $strict $indent $asked -fsyntax-only "$tmp/whole.cc" ;;
all)
    here gcc && here g++ && c_and_cxx gcc g++ -O2 "c99 c11 c17" "c++11 c++14 c++17 c++20"
    here gcc && try "gcc, debug" gcc -std=c99 $strict -DTMETAL_DEBUG -O2 -c "$tmp/whole.c" -o "$tmp/o"
    here gcc && try "gcc, static" gcc -std=c99 $strict -Wno-unused-function -O2 -c "$tmp/static.c" -o "$tmp/o"
    for clang in clang clang-19; do
        here $clang || continue
        cxx=clang++${clang#clang}
        c_and_cxx $clang $cxx -O1 "c99 c11" "c++11 c++20"
        # Without a C library: what the standard headers declare is enough but for memory and strings.
        try "$clang, wasm32" $clang --target=wasm32 -ffreestanding -std=c99 $strict -Itests/robust/freestanding -DTMETAL_NO_SETJMP '-DTMETAL_ABORT(code)=__builtin_trap()' -O1 -c "$tmp/whole.c" -o "$tmp/o"
        try "$clang, 32 bits" $clang --target=i686-linux-gnu -ffreestanding -std=c99 $strict -Itests/robust/freestanding -DTMETAL_NO_SETJMP '-DTMETAL_ABORT(code)=__builtin_trap()' -O1 -c "$tmp/whole.c" -o "$tmp/o"
        try "$clang, big-endian" $clang --target=powerpc64-linux-gnu -ffreestanding -std=c99 $strict -Itests/robust/freestanding -DTMETAL_NO_SETJMP '-DTMETAL_ABORT(code)=__builtin_trap()' -O1 -c "$tmp/whole.c" -o "$tmp/o"
    done
    here x86_64-w64-mingw32-gcc && try "mingw" x86_64-w64-mingw32-gcc -std=c99 $strict $asked -O2 -c "$tmp/whole.c" -o "$tmp/o"
    # As MSVC reads it, without Microsoft's headers: -W4, which warns about less than $strict does.
    for cl in clang-cl clang-cl-19 clang-cl-14; do
        here $cl || continue
        try "$cl" $cl --target=x86_64-pc-windows-msvc -W4 -WX -Itests/robust/freestanding -DTMETAL_NO_SETJMP '-DTMETAL_ABORT(code)=__builtin_trap()' -c "$tmp/whole.c" "-Fo$tmp/o"
        break
    done
    here tcc && try "tcc" tcc -std=c99 -Wall -Werror -c "$tmp/whole.c" -o "$tmp/o" ;;
*)
    echo "usage: warnings.sh short|all" >&2
    exit 2 ;;
esac
echo "warnings: $done compilations, $bad with warnings or errors"
[ $bad = 0 ]
