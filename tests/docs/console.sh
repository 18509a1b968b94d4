#!/bin/sh
# The console blocks of docs/messages.md: what stands behind each `$ command` is what it prints, with tmetal of BUILD.
#   tests/docs/console.sh BUILD [fill]    fill writes it anew
set -eu
build=$(cd "$1" && pwd)
page=docs/messages.md
PATH=$build:$PATH
unset TRITON_METAL_DEBUG || true
out=$build/docs/messages.md
mkdir -p "$build/docs"
: > "$out"
inside=
while IFS= read -r line; do
    case $line in
    '```console') inside=1 ;;
    '```') inside= ;;
    '$ '*) [ -z "$inside" ] || {
            printf '%s\n' "$line"
            (eval "${line#??}") 2>&1 || true
            continue
        } ;;
    *) [ -z "$inside" ] || continue ;;
    esac
    printf '%s\n' "$line"
done < $page > "$out"
[ "$(grep -c '^\$ ' "$out")" -ge 10 ] || { echo "docs: $page shows fewer than ten commands" >&2; exit 1; }
if [ "${2:-}" = fill ]; then cmp -s "$out" $page || cp "$out" $page
else diff $page "$out" >&2 || { echo "docs: $page is not what tmetal prints: run 'make docs'" >&2; exit 1; }
fi
