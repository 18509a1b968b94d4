#!/bin/sh
# The pages about adding something end in a diff: it must apply to the tree as it stands, build, and do what the
# page shows. Each works on a copy of the header, the programs and the interpreter.
#   tests/docs/diffs.sh BUILD          does all of that hold?
#   tests/docs/diffs.sh BUILD fill     writes each diff anew, with the line numbers of today's tree
set -eu
build=$1/docs/diffs
fill=${2:-}
cc=${CC:-cc}
quick=${QUICK_CC:-$cc}
fail() { echo "docs: $*" >&2; exit 1; }
for page in docs/adding-*.md; do
    name=$(basename "$page" .md)
    copy=$build/$name
    rm -rf "$copy"
    mkdir -p "$copy/tests"
    cp -r tmetal.h examples "$copy"
    cp -r tests/interp "$copy/tests"
    awk '/^```diff$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" > "$copy/page.diff"
    [ -s "$copy/page.diff" ] || fail "$page has no diff"
    (cd "$copy" && GIT_CEILING_DIRECTORIES=$(cd .. && pwd) git apply page.diff) || fail "the diff of $page does not apply any more"
    if [ "$fill" ]; then
        sed -n 's/^+++ b\///p' "$copy/page.diff" | while read -r file; do
            diff -U3 --label "a/$file" --label "b/$file" "$file" "$copy/$file" || true
        done > "$copy/new.diff"
        awk -v new="$copy/new.diff" '
            /^```diff$/ { print; while ((getline line < new) > 0) print line; skip = 1; next }
            /^```$/ { skip = 0 }
            !skip' "$page" > "$copy/page.md"
        cmp -s "$page" "$copy/page.md" || cp "$copy/page.md" "$page"
        continue
    fi
    $quick -std=c99 -O0 -Wall -Wextra -Wno-misleading-indentation "$copy/examples/tmetal.c" -o "$copy/tmetal" || fail "$page: the changed header does not build"
    if grep -q '^+++ b/tests/interp' "$copy/page.diff"; then
        for unit in $(sed -n 's/^+++ b\/\(tests\/interp\/.*\.c\)$/\1/p' "$copy/page.diff"); do
            (cd "$copy" && $cc -std=c11 -D_GNU_SOURCE -fsyntax-only "$unit") || fail "$page: $unit does not build"
        done
    fi
    awk -v at="$copy" '
        /^<!-- file .* -->$/ { file = at "/" $3; next }
        file && /^```[a-z]+$/ { on = 1; next }
        /^```$/ { if (on) { close(file); file = "" } on = 0 }
        on { print > file }' "$page"
    awk '/^```console$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" > "$copy/wanted"
    sed -n 's/^\$ //p' "$copy/wanted" > "$copy/commands"
    [ -s "$copy/commands" ] || fail "$page shows no command"
    (cd "$copy" && PATH=$PWD:$PATH && while IFS= read -r line; do printf '$ %s\n' "$line"; sh -c "$line" < /dev/null || true; done < commands > got)
    cmp -s "$copy/wanted" "$copy/got" || { diff "$copy/wanted" "$copy/got" >&2 || true; fail "$page shows something else than the changed tree prints"; }
done
[ "$fill" ] || echo "docs: the diffs apply, build and do what their pages say"
