#!/bin/sh
# The documents are true: the programs of README and manual run, the kernel shown in the README is the golden one,
# and the floors of tmetal.h are numbered as the manual lists them.
#   tests/docs/blocks.sh BUILD         check
#   tests/docs/blocks.sh BUILD fill    print the kernel of the README anew, number the floors and their list
set -eu
build=$1/docs
mode=${2:-check}
cc=${CC:-cc}
mkdir -p "$build"
fail() { echo "docs: $*" >&2; exit 1; }

# -- The kernel in the README: the golden text from its first line of code on ---------------------------
golden=tests/golden/vector_add.metal
awk -v golden="$golden" '
    /^<!-- BEGIN tests\/golden/ { print; print "```metal"; while ((getline line < golden) > 0) { if (line ~ /^#/) on = 1; if (on) print line } print "```"; skip = 1; next }
    /^<!-- END -->/ { skip = 0 }
    !skip { print }' README.md > "$build/README.md"

# -- Floors: 1 to n in order, in the banners and in the list of the manual -------------------------------
awk '
    FNR == NR { if ($0 ~ /^ \* >>[a-z]+  \[[0-9]+\]  /) { tag = $2; sub(/^>>/, "", tag); number[tag] = ++n; what[n] = $0; sub(/^ \* >>[a-z]+  \[[0-9]+\]  /, "", what[n]); name[n] = tag } next }
    /^ \* >>[a-z]+  \[[0-9]+\]  / { tag = $2; sub(/^>>/, "", tag); sub(/\[[0-9]+\]/, "[" number[tag] "]") }
    /^ \* +[0-9]+  >>/ { if (!listed) { for (i = 1; i <= n; i++) { w = what[i]; if (w !~ /^(Metal|IR|GPU)/) w = tolower(substr(w, 1, 1)) substr(w, 2); printf " *     %2d  >>%-10s %s\n", i, name[i], w } listed = 1 } next }
    { print }' tmetal.h tmetal.h > "$build/tmetal.h"

if [ "$mode" = fill ]; then
    cmp -s "$build/README.md" README.md || cp "$build/README.md" README.md
    cmp -s "$build/tmetal.h" tmetal.h || cp "$build/tmetal.h" tmetal.h
    exit 0
fi
cmp -s "$build/README.md" README.md || fail "the kernel in README.md is not $golden: run 'make docs'"
cmp -s "$build/tmetal.h" tmetal.h || { diff tmetal.h "$build/tmetal.h" | head -6 >&2; fail "the floors of tmetal.h are not numbered as they stand: run 'make docs'"; }

# -- Sections that the documents name are there --------------------------------------------------------------
for tag in $(grep -oh '`>>[a-z]*`' README.md docs/*.md | tr -d '`' | sort -u); do
    grep -q "^ \* $tag  \[" tmetal.h || fail "a page names $tag, which is no section of tmetal.h"
done

# -- The program in the README compiles a kernel -----------------------------------------------------------
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on { print }' README.md > "$build/readme.c"
[ -s "$build/readme.c" ] || fail "README.md has no C block"
$cc -std=c99 -O0 -w -I. "$build/readme.c" -o "$build/readme"
"$build/readme" < examples/kernels/vector_add.ttir > "$build/readme.metal"
cmp -s "$build/readme.metal" "$golden" || fail "the program in README.md does not give $golden"

# -- The program in the manual too, linked with the header that the tests share -----------------------------------------------------------------------------
awk '/^ \* DO THIS/ { on = 1; next } /^ \* MACROS/ { on = 0 } on { sub(/^ \* ?/, ""); sub(/^ *in one .c or .cc.*/, ""); print }' tmetal.h |
    sed 's/  *in one \.c or .*//' > "$build/manual.txt"
{
    sed -n '/#define\|#include/p' "$build/manual.txt"
    echo '#include <stdio.h>'
    echo '#include <stdlib.h>'
    echo 'static char text[1 << 20];'
    echo 'int main(void) { size_t len = fread(text, 1, sizeof text, stdin);'
    sed '/#define\|#include/d' "$build/manual.txt"
    echo 'return 0; }'
} > "$build/manual.c"
awk '/^#define TMETAL_IMPLEMENTATION/ { on = 1 } /^#include "tmetal.h"/ { exit !on }' "$build/manual.c" || fail "the program in the manual does not ask for the implementation"
$cc -std=c99 -O0 -Werror=implicit-function-declaration -include string.h -I. -DTMETAL_IMPLEMENTED "$build/manual.c" "$1/robust/header.o" -o "$build/manual"
"$build/manual" < examples/kernels/vector_add.ttir > "$build/manual.metal"
cmp -s "$build/manual.metal" "$golden" || fail "the program in the manual does not give $golden"

lines=$(awk '/^#ifndef TMETAL_H/ { print NR; exit }' tmetal.h)
[ "$lines" -le 350 ] || fail "the manual has $lines lines, 350 are the most"
echo "docs: programs compile and run, kernel and floors are as they stand"
