#!/bin/sh
# The launcher as files for macOS and iOS: built without an SDK, linked against a list of what may be imported, every
# name of which is used. The Objective-C app of examples/ is built for them too, against declarations of our own, and
# the module that examples/swift shows to Swift.
#   tests/metal/macho.sh BUILD
set -eu
build=$1/macho
here=tests/metal/apple
mkdir -p "$build"
clang=$(command -v clang-19 || command -v clang || true)
lld=$(command -v ld64.lld-19 || command -v ld64.lld || true)
[ -n "$clang" ] && [ -n "$lld" ] || { echo "macho: clang or ld64.lld is not installed (make deps brings them): left out"; exit 0; }
cat > "$build/main.c" <<'C'
#define TMETAL_IMPLEMENTATION
#define TMETAL_METAL
#include "tmetal.h"
int main(int argc, char **argv) {
    static char    memory[1 << 20];
    tmetal_arena   arena = tmetal_arena_on(memory, sizeof memory);
    tmetal_metal  *metal;
    tmetal_problem problem;
    tmetal_result  result;
    (void)tmetal_compile(argv[0], (size_t)argc, NULL, &arena, &result);
    return tmetal_metal_open(NULL, &arena, &metal, &problem) != TMETAL_OK;
}
C
echo '@import CTmetal; tmetal_code opened(tmetal_metal **m); tmetal_code opened(tmetal_metal **m) { return tmetal_metal_open(NULL, NULL, m, NULL); }' > "$build/module.m"
headers="-nostdinc -isystem $($clang -print-resource-dir)/include -isystem $here -isystem tests/robust/freestanding -I."
for target in arm64-apple-macos13.0 x86_64-apple-macos13.0 arm64-apple-ios16.0; do
    arch=${target%%-*} system=$(echo "$target" | sed 's/.*-apple-\([a-z]*\).*/\1/') version=$(echo "$target" | sed 's/.*[a-z]//')
    $clang --target=$target -ffreestanding -fno-stack-protector $headers -std=c99 -O0 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror \
        -c "$build/main.c" -o "$build/$target.o"
    $clang --target=$target -ffreestanding $headers -x c++ -std=c++11 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror \
        -fsyntax-only "$build/main.c"
    [ $arch = x86_64 ] || $clang --target=$target $headers -fobjc-arc -O0 -Wall -Wextra -pedantic -Wno-c99-extensions -Werror \
        -c examples/app.m -o "$build/$target-app.o"
    $clang --target=$target $headers -Iexamples/swift -fmodules -fmodules-cache-path="$build/modules" -Wall -Werror \
        -fsyntax-only "$build/module.m"
    $lld -arch $arch -platform_version $system $version $version -o "$build/$target" "$build/$target.o" $here/libSystem.tbd
    for name in $(sed -n 's/.*symbols: *\[\(.*_dlopen.*\)\]/\1/p' $here/libSystem.tbd | tr -d ','); do
        strings -a "$build/$target" | grep -qx -- "$name" || { echo "macho: $target does not import $name"; exit 1; }
    done
    echo "macho: $target: built and linked; app and module built"
done
