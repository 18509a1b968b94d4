#!/bin/sh
# docs/migrating.md: each command line in its table runs; each name of ours that it gives exists.
#   tests/cli/migrating.sh BUILD
set -eu
build=$(cd "$1" && pwd)
out=$build/cli/migrating
page=docs/migrating.md
rm -rf "$out"
mkdir -p "$out/examples"
cp -r examples/kernels "$out/examples/"
fail() { echo "cli: $page: $*" >&2; exit 1; }

sed -n '/BEGIN commands/,/END commands/p' $page | sed -n 's/^| .* | `\(.*\)` |$/\1/p' | sed 's/\\|/|/g' > "$out/lines"
[ "$(wc -l < "$out/lines")" -ge 15 ] || fail "its table of command lines cannot be read"
n=0
while IFS= read -r line; do
    case $line in
    *"tmetal bench"*|*"tmetal run"*) [ -x "$build/sim" ] || continue ;;
    esac
    n=$((n + 1))
    (cd "$out" && PATH=$build:$PATH && eval "$line") > "$out/now" 2> "$out/err" < /dev/null && code=0 || code=$?
    case $line in
    *"tmetal check") [ $code -le 1 ] ;; # 1: no GPU here
    *) [ $code = 0 ] ;;
    esac || { cat "$out/err" >&2; fail "'$line' ends with $code"; }
    case $line in
    *--output*) [ -s "$out/${line##* }" ] || [ -s "$out/$(echo "$line" | sed 's/.*--output \([^ ]*\).*/\1/')" ] || fail "'$line' writes no file" ;;
    *) [ -s "$out/now" ] || fail "'$line' prints nothing" ;;
    esac
done < "$out/lines"

# what a user of the prototype's tools would type is all there
for tool in create_sample_ops.py simple_analyzer.py analyze_memory_layouts.py benchmark_reduction_layouts.py sample_reduction_kernel.py check_system.py tutorial_metal_compatibility.py; do
    grep -q "^| \`.*$tool" $page || fail "$tool has no counterpart"
done
for name in $(grep -o 'tmetal_[a-z_]*[a-z]\|TMETAL_[A-Z_]*[A-Z]' $page | sort -u); do
    grep -q "\b$name\b" tmetal.h || fail "$name is not in tmetal.h"
done
for target in $(grep -o '`make [a-z-]*`' $page | tr -d '`' | sed 's/make //' | sort -u); do
    grep -hq "^$target:" Makefile tests/*/rules.mk || fail "make $target does not exist"
done
for link in $(grep -o '](\([a-z]*\.md\))' $page | tr -d ']()' | sort -u); do
    [ -f "docs/$link" ] || fail "docs/$link does not exist"
done
echo "cli: $n command lines of $page run"
