#!/bin/sh
# The header as its users build it: alone, in several units of one program, static, as C and as C++, and
# what its object file needs of the system.
#   tests/compile/run.sh BUILD
set -eu
build=$1/compile
cc=${CC:-cc}
mkdir -p "$build"
# gcc takes 7 s over -Wmisleading-indentation in a file so long, for all other warnings one: tests/robust/warnings.sh asks once
strict="-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror -Wno-misleading-indentation -I."

fail() { echo "compile: $*" >&2; exit 1; }

# -- Three units, as C ------------------------------------------------------------------------------
$cc -std=c99 $strict -c tests/compile/first.c -o "$build/first.o"
$cc -std=c99 $strict -c tests/compile/private.c -o "$build/private.o"
$cc -std=c99 $strict -c tests/compile/main.c -o "$build/main.o"
$cc "$build/first.o" "$build/private.o" "$build/main.o" -o "$build/program"
"$build/program" || fail "the program of three units does not run"

# -- The same as C++ --------------------------------------------------------------------------------
cxx=${CXX:-}
for c in c++ g++ clang++ clang++-19; do [ -n "$cxx" ] || cxx=$(command -v $c || true); done
if [ -n "$cxx" ]; then
    for std in c++11 c++20; do
        $cxx -x c++ -std=$std $strict -fsyntax-only tests/compile/first.c 2>"$build/errors" || { cat "$build/errors" >&2; fail "not C++: $std"; }
    done
    # a C implementation under C++ callers: the names of both must agree
    $cxx -x c++ -std=c++11 $strict -c tests/compile/main.c -o "$build/main.cc.o"
    $cxx "$build/first.o" "$build/private.o" "$build/main.cc.o" -o "$build/program.cc"
    "$build/program.cc" || fail "the C++ program does not run"
else
    echo "compile: no C++ compiler found: C++ is not tested"
fi

# -- Hidden visibility: nothing of ours leaves a library unless it is asked to -----------------------------
# (private.c has all of it static, which has no visibility: its object is the same.)
hidden="-std=c99 $strict -O0 -fPIC -fvisibility=hidden"
$cc $hidden -c tests/compile/first.c -o "$build/hidden.o"
$cc $hidden -c tests/compile/main.c -o "$build/hidden-main.o"
$cc "$build/hidden.o" "$build/private.o" "$build/hidden-main.o" -o "$build/program.hidden"
"$build/program.hidden" || fail "the program with hidden visibility does not run"
if $cc -shared "$build/hidden.o" -o "$build/hidden.so" 2> /dev/null; then
    if nm -D --defined-only "$build/hidden.so" 2> /dev/null | grep -q ' T _*tmetal_'; then fail "a library with hidden visibility exports tmetal_"; fi
fi

# -- What the implementation needs --------------------------------------------------------------------
# Of the optimised header that the other tests link too, and of one for the writable data: tables of pointers are
# relocated, so without -fno-pic they would stand in d.
printf '#define TMETAL_IMPLEMENTATION\n#include "tmetal.h"\n' | $cc -std=c99 -O0 -fno-stack-protector -fno-pic -I. -x c -c - -o "$build/alone.o"
for object in "$1/robust/header.o" "$build/alone.o"; do
    nm "$object" > "$build/names"
    # functions of the C library: of memory, of strings, of leaving; no malloc, no stdio, no locale; bcmp is what
    # clang makes of a memcmp whose sign nobody reads; _chk and stack_chk_fail are what some compilers add by themselves
    needs=$(awk '$1 == "U" { print $2 }' "$build/names" | sed 's/^_*//; s/_chk$//' | sort -u)
    for name in $needs; do
        case $name in
        memcpy|memmove|memset|memcmp|bcmp|strlen|strcmp|strncmp|strchr|memchr|strrchr|strstr|strcspn|strspn|setjmp|sigsetjmp|longjmp) ;;
        chk_fail|stack_chk_fail|GLOBAL_OFFSET_TABLE_) ;;
        *) fail "the implementation calls $name ($object)" ;;
        esac
    done
done
# writable data: B and b uninitialised, D and d initialised, C common
awk '$2 ~ /^[BbDdCSs]$/ { print $3 }' "$build/names" > "$build/writable"
[ ! -s "$build/writable" ] || fail "the implementation has writable data: $(head -3 "$build/writable" | tr '\n' ' ')"
# what is public begins with tmetal_
others=$(awk '$2 == "T" { print $3 }' "$build/names" | sed 's/^_*//' | grep -v '^tmetal_' || true)
[ -z "$others" ] || fail "public names without tmetal_: $others"
echo "compile: one unit, three units, static, hidden, C and C++; no malloc, no stdio, no writable data"
