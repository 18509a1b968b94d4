#!/bin/sh
# Old spellings of Triton IR and new ones give the same Metal, plain Metal and launch plan, byte for byte:
#
#     sh tests/cases/versions/same.sh build/tmetal build/generate tests/cases/versions
#
# NAME.old.ttir and NAME.new.ttir are a pair. A second line `//= A B` in the old file: but for its name A instead
# of B; `//= results`: its meaning differs a little, so what both leave in memory is compared instead.
set -u
tmetal=$1 generate=$2 dir=$3
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0 pairs=0

for new in "$dir"/*.new.ttir; do
    name=$(basename "$new" .new.ttir)
    old=$dir/$name.old.ttir
    pairs=$((pairs + 1))
    rule=$(sed -n '2s,^//= ,,p' "$old")
    [ "$rule" = results ] || rename=$(echo "$rule" | sed 's,^\(..*\) \(..*\)$,s/\1/\2/g,')
    for side in old new; do
        eval "file=\$$side"
        for what in msl plan plain; do
            if ! "$tmetal" compile - $(case $what in plain) echo --plain;; *) echo --emit $what;; esac) < "$file" > "$work/$side.$what" 2> "$work/err"; then
                echo "$name: the $side spelling is refused:"; sed -n 1,4p "$work/err"
                failed=1
            fi
        done
    done
    if [ "$rule" = results ]; then
        cp "$old" "$work/old.ttir"; cp "$new" "$work/new.ttir"
        "$generate" --case "$work/old.ttir" "$work/new.ttir" || failed=1
        cmp "$work/old.bin" "$work/new.bin" || { echo "$name: the results differ"; failed=1; }
        continue
    fi
    for what in msl plan plain; do
        sed "$rename" "$work/old.$what" > "$work/renamed"
        diff "$work/renamed" "$work/new.$what" > "$work/diff" || { echo "$name: $what differs, old and new:"; sed -n 1,6p "$work/diff"; failed=1; }
    done
done
echo "$pairs pairs of spellings$([ $failed = 0 ] && echo ': the same Metal')"
exit $failed
