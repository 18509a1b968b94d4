#!/bin/sh
# What must not be forgotten: a field that is added to a struct and not to its table in tmetal.h is an error of a
# strict build, and a section that is changed wants another stamp.
#   tests/cache/fields.sh BUILD STRUCT...
set -eu
build=$1/cache
shift
cc=${CC:-cc}
mkdir -p "$build/house"
strict() { # the header, without its opt-in parts
    printf '#define TMETAL_IMPLEMENTATION\n#include "%s"\n' "$1" |
        $cc -std=c99 -fsyntax-only -Wextra -Werror -x c - 2> "$build/said"
}
fail() { echo "fields: $*" >&2; exit 1; }
for s in "$@"; do
    sed "s/^} $s;/    uint32_t forgotten;\n&/" tmetal.h > "$build/forgotten.h"
    cmp -s tmetal.h "$build/forgotten.h" && fail "$s is no struct of tmetal.h"
    strict "$PWD/$build/forgotten.h" && fail "a new field of $s goes without its row"
    grep -q "forgotten" "$build/said" || fail "a new field of $s is refused for another reason: $(head -2 "$build/said")"
done
echo "fields: a forgotten field of $* does not build"

# a copy of the house with one character of >>emit changed
mkdir -p "$build/house/tests"
cp -R tests/house "$build/house/tests/"
(
    cd "$build/house"
    for section in emit api; do
        case $section in emit) change='/^ \* >>emit  /,$s/threadgroup_barrier/threadgroup_barriers/' ;; *) change='s/TMETAL_ARG_GRID,/TMETAL_ARG_GRID = 9,/' ;; esac
        sed "$change" "$OLDPWD/tmetal.h" > tmetal.h
        cmp -s "$OLDPWD/tmetal.h" tmetal.h && fail "nothing was changed in $section"
        sh tests/house/check.sh build > said 2>&1 && fail "a change of $section needs no stamp"
        grep -qi "TMI_STAMP_$section is not" said || fail "a change of $section is found for another reason"
    done
)
echo "fields: a changed section wants another stamp"
