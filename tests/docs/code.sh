#!/bin/sh
# Every C block of docs/ builds and runs: a block with main() as it stands, with softmax.ttir on its standard input;
# any other as the inside of a function that has compiled that kernel. All in one program each way round, as
# strict C99 that is warned about nothing but what a fragment cannot help.
# They are linked with BUILD/robust/header.o instead of the implementation that each whole program asks for: README.md's
# holds its own, tests/docs/blocks.sh.
#   tests/docs/code.sh BUILD
set -eu
build=$1/docs/code
header=$1/robust/header.o
cc=${CC:-cc}
fail() { echo "docs: $*" >&2; exit 1; }
rm -rf "$build"
mkdir -p "$build"
awk -v at="$build" '
    /^ *```c$/ { n[FILENAME]++; page = FILENAME; gsub(/[^a-z0-9]/, "_", page); out = at "/" page "_" n[FILENAME] ".block"; on = 1; next }
    /^ *```$/ { if (on) close(out); on = 0 }
    on { print > out }' docs/*.md
{
    cat <<'C'
#include "tmetal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 20];
C
    for block in "$build"/*.block; do
        [ -e "$block" ] || continue
        grep -q 'int main(' "$block" && continue
        name=$(basename "$block" .block)
        cat <<C
static void $name(size_t len) {
    void          *memory = malloc(64u << 20);
    tmetal_arena   arena = tmetal_arena_on(memory, 64u << 20);
    tmetal_options opt;
    tmetal_result  result;
    tmetal_module *module = NULL;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    if (tmetal_parse(text, len, &opt, &arena, &module, &result) != TMETAL_OK || tmetal_emit(module, &opt, &arena, &result) != TMETAL_OK) exit(1);
    {
#line 1 "$name"
C
        cat "$block"
        printf '    }\n    free(memory);\n}\n'
    done
    printf 'int main(void) {\n    size_t len = fread(text, 1, sizeof text, stdin);\n'
    for block in "$build"/*.block; do
        [ -e "$block" ] || continue
        grep -q 'int main(' "$block" || echo "    $(basename "$block" .block)(len);"
    done
    printf '    return 0;\n}\n'
} > "$build/fragments.c"
strict="-std=c99 -O0 -Wall -Wextra -Werror -Wno-unused-variable -Wno-unused-but-set-variable -I."
$cc $strict "$build/fragments.c" "$header" -o "$build/fragments" || fail "a block of C in docs/ does not build"
"$build/fragments" < examples/kernels/softmax.ttir > "$build/fragments.out" || fail "a block of C in docs/ does not run"
programs=0
for block in "$build"/*.block; do
    [ -e "$block" ] || continue
    grep -q 'int main(' "$block" || continue
    name=$(basename "$block" .block)
    awk '/^#define TMETAL_IMPLEMENTATION/ { on = 1 } /^#include "tmetal.h"/ { exit !on }' "$block" || fail "the program $name does not ask for the implementation"
    $cc -std=c99 -O0 -Werror=implicit-function-declaration -include string.h -I. -DTMETAL_IMPLEMENTED -x c "$block" -x none "$header" -o "$build/$name" || fail "the program $name does not build"
    "$build/$name" < examples/kernels/softmax.ttir > "$build/$name.out" || fail "the program $name does not run"
    programs=$((programs + 1))
done
echo "docs: $(ls "$build" | grep -c '\.block$') blocks of C build and run, $programs of them whole programs"
