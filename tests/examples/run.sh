#!/bin/sh
# The examples: built without a warning, by gcc and by clang where both are at hand, run, their output compared.
#   tests/examples/run.sh BUILD         compare; the first differences are printed
#   tests/examples/run.sh BUILD bless   rewrite the expected output and print the lines gained and lost
# BUILD/examples-launch, where it is there, runs kernels in the simulator for examples/debug_buffer.c.
set -eu
build=$1/examples
header=$1/robust/header.o
mode=${2:-test}
cc=${CC:-cc}
mkdir -p "$build"
warn="-Wall -Wextra -pedantic -Werror -I."
bad=0
n=0

# the first of those named that is at hand and is not of the make of compiler $1
another() {
    make=clang
    mine=$1
    shift
    "$mine" --version 2>/dev/null | grep -q clang || make=g
    for c in "$@"; do
        case $make$c in clangclang*|ggcc*|gg++*) continue ;; esac
        command -v "$c" >/dev/null 2>&1 && { echo "$c"; return; }
    done
}

fail() { echo "examples: $*" >&2; bad=$((bad + 1)); }

# agrees NAME: $build/NAME.now against examples/NAME.out, which stands beside the example
agrees() {
    n=$((n + 1))
    expected=examples/$1.out
    cmp -s "$build/$1.now" "$expected" 2>/dev/null && return
    if [ "$mode" = bless ]; then
        touch "$expected"
        echo "$expected: $(diff "$expected" "$build/$1.now" | grep -c '^>' || true) lines gained, $(diff "$expected" "$build/$1.now" | grep -c '^<' || true) lost"
        cp "$build/$1.now" "$expected"
    else
        fail "$1 does not print $expected"
        diff "$expected" "$build/$1.now" | head -10 >&2 || true
    fi
}

runs() {
    "$build/$1" > "$build/$1.now" || fail "$1 ends with status $?"
    agrees "$1"
}

# builds NAME STANDARD COMPILER OTHER SOURCES...: one compiler builds, the other, if there is one, only looks. hello and
# two_libraries hold the implementation as their users would; the others, to save minutes, are linked with the one that
# all tests share, and compiled with TMETAL_IMPLEMENTED, which leaves it out.
builds() {
    name=$1 std=$2 compiler=$3 other=$4 once="-DTMETAL_IMPLEMENTED $header" look=-DTMETAL_IMPLEMENTED
    shift 4
    # with the implementation in it gcc takes 7 s over this one warning, which tests/robust/warnings.sh asks for
    quick=
    case $name in hello) once= quick=-Wno-misleading-indentation ;; two_libraries) once= look= quick=-Wno-misleading-indentation ;; esac
    # shellcheck disable=SC2086
    $compiler -std="$std" -O0 $warn $quick -pthread "$@" $once -o "$build/$name" || { fail "$name: $compiler refuses it"; return 1; }
    [ -z "$other" ] && return
    # shellcheck disable=SC2086
    $other -std="$std" $warn $look -fsyntax-only "$@" || fail "$name: $other warns"
}

# -- Short, and users of the public API alone -----------------------------------------------------------
for source in examples/*.c examples/*.cc examples/*.m examples/*/*.swift examples/*/*.c examples/*/*.h; do
    case $source in examples/tmetal.c|examples/tmetal/*) continue ;; esac # the command line
    case $source in examples/python/*) ;; *) [ "$(wc -l < "$source")" -lt 120 ] ;; esac || fail "$source has 120 lines or more"
    grep -n 'tmi_\|TMI_' "$source" && fail "$source uses what is private"
    case $source in examples/*/*) shown=$(basename "$(dirname "$source")")/ ;; *) shown=$(basename "$source") ;; esac
    grep -q "^| \`$shown\`" examples/README.md || fail "examples/README.md does not name $shown"
    head -n 1 "$source" | grep -q '^/\* [A-Z]' || fail "$source does not open by saying what it shows"
done

# -- C --------------------------------------------------------------------------------------------------
other=$(another "$cc" gcc clang-19 clang)
for source in examples/*.c; do
    name=$(basename "$source" .c)
    # the command line and the launcher have tests of their own
    case $name in
    tmetal | launch) continue ;;
    reduction_example) # its clock counts what the planner makes, and any change of that changes trials and best: they are
        # not compared, and examples/reduction_example.out has them as they were when it was written
        builds $name c99 "$cc" "$other" "$source" && "$build/$name" > "$build/$name.all" || fail "$name ends with status $?"
        grep -q '^from the cache: [a-z]*[=a-zA-Z0-9_,]*: the best of [0-9]* trials$' "$build/$name.all" && grep -q '^compiled so: ' "$build/$name.all" || fail "$name finds nothing in its cache"
        blur='s/ *[0-9.]* counts.*//; /^  trial/d; /candidates$/d; s/^\(best of\|from the cache\|compiled so\).*/\1/'
        [ "$mode" != bless ] || cp "$build/$name.all" "examples/$name.out"
        sed "$blur" "$build/$name.all" > "$build/$name.now"
        sed "$blur" "examples/$name.out" > "$build/$name.as"
        cmp -s "$build/$name.now" "$build/$name.as" || fail "$name does not print what examples/$name.out has"
        n=$((n + 1))
        continue ;;
    esac
    builds "$name" c99 "$cc" "$other" "$source" && runs "$name"
done
two=examples/two_libraries
builds two_libraries c99 "$cc" "$other" $two/main.c $two/kernels.c $two/graphs.c && runs two_libraries

# -- C++ ------------------------------------------------------------------------------------------------
cxx=${CXX:-}
for c in c++ g++ clang++ clang++-19; do [ -n "$cxx" ] || cxx=$(command -v $c || true); done
if [ -n "$cxx" ]; then
    builds engine c++11 "$cxx" "$(another "$cxx" g++ clang++-19 clang++)" examples/engine.cc && runs engine
else
    echo "examples: no C++ compiler found: engine.cc is not tested"
fi

# -- Python ---------------------------------------------------------------------------------------------
if command -v python3 >/dev/null 2>&1; then
    PYTHONDONTWRITEBYTECODE=1 python3 tests/examples/ttir.py > "$build/ttir.now" 2>&1 || fail "ttir.py ends with status $?"
    agrees ttir
else
    echo "examples: no python3 found: ttir.py is not tested"
    cp examples/ttir.out "$build/ttir.now"
fi

# -- A CMake project --------------------------------------------------------------------------------------
if command -v cmake >/dev/null 2>&1; then
    cmake -S examples/cmake -B "$build/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="-Wall -Wextra -pedantic -Werror -Wno-misleading-indentation" > "$build/cmake.log" 2>&1 &&
        cmake --build "$build/cmake" >> "$build/cmake.log" 2>&1 || { fail "the CMake project does not build"; tail -5 "$build/cmake.log" >&2; }
    "$build/cmake/app" examples/kernels/softmax.ttir > "$build/cmake.now" || fail "the CMake project's program does not run"
    agrees cmake
else
    echo "examples: no cmake found: the project of examples/cmake is not tested"
    cp examples/cmake.out "$build/cmake.now"
fi

# -- Debug buffers that launches left, in the simulator -------------------------------------------------
# launched NAME STEM: kernel and case STEM.ttir, STEM.case. Threads write in no fixed order, so lines are sorted.
launched() {
    "$1/tmetal" compile "$3.ttir" -o "$build/$2.metal"
    "$1/tmetal" compile "$3.ttir" --emit plan -o "$build/$2.json"
    "$1/examples-launch" "$build/$2.metal" "$build/$2.json" "$3.case" "$build/$2.buffer" || { fail "$2 cannot be launched"; return; }
    "$build/debug_buffer" "$3.ttir" "$build/$2.buffer" > "$build/$2.text" || fail "$2: no text"
    LC_ALL=C sort "$build/$2.text" > "$build/$2.now"
    agrees "$2"
}
if [ -x "$1/examples-launch" ]; then
    launched "$1" debug_print tests/kernels/recorded/functions-print_all
    launched "$1" debug_assert tests/examples/checked
else
    echo "examples: no $1/examples-launch: only a buffer made by hand is read"
fi

# an expected output without an example is an example that vanished
for expected in examples/*.out; do
    [ -f "$build/$(basename "$expected" .out).now" ] || fail "$expected belongs to no example"
done
[ "$mode" = bless ] && exit $((bad > 0))
echo "examples: $n outputs compared, $bad failures"
[ $bad = 0 ] || { echo "read the differences; 'make bless-examples' accepts them"; exit 1; }
