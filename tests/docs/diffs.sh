#!/bin/sh
# The pages about adding something end in a diff: it must apply to the tree as it stands, build, and do what the
# page shows. Each works on a copy of the header, the programs and the interpreter.
#   tests/docs/diffs.sh BUILD
set -eu
build=$1/docs/diffs
cc=${CC:-cc}
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
    $cc -std=c99 -O0 -Wall -Wextra "$copy/examples/tmetal.c" -o "$copy/tmetal" || fail "$page: the changed header does not build"
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
echo "docs: the diffs apply, build and do what their pages say"
