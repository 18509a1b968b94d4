#!/bin/sh
# All that tmetal emits for its own kernels, judged as any Metal text is: tests/lint/own.sh BUILD [DIR of .ttir ...]
# (That it keeps the rules for emitted text is what the corpus runner sees to.)
set -eu
build=$1
shift
[ $# -gt 0 ] || set -- tests/kernels examples/kernels
out=$build/lint-own
rm -rf "$out"
mkdir -p "$out"
bad=0
find "$@" -name '*.ttir' | sort > "$out/all"
while read -r ttir; do
    name=$out/$(echo "$ttir" | tr / +).metal
    "$build/tmetal" compile "$ttir" -o "$name" 2>/dev/null || continue    # what is refused has no text
    version=$("$build/tmetal" compile "$ttir" --emit plan | sed -n 's/.*"msl":"\([0-9.]*\)".*/\1/p' | head -1)
    echo "$name" >> "$out/list.$version"
done < "$out/all"
for list in "$out"/list.*; do
    "$build/lint" --msl "${list##*list.}" --list "$list" --jobs "${JOBS:-2}" --summary || bad=1
done
exit $bad
