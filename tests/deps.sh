#!/bin/sh
# Install the packages that are missing, and say so. Run by `make deps`, and by nothing else.
#   tests/deps.sh PACKAGE...
set -eu

if command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; then
    missing=
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
    done
    if [ -z "$missing" ]; then
        echo "deps: nothing is missing"
        exit 0
    fi
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || { echo "deps: missing:$missing; install them as root" >&2; exit 1; }
        as_root=sudo
    fi
    echo "deps: installing with apt-get:$missing"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
elif command -v brew >/dev/null 2>&1; then
    echo "deps: installing with brew: llvm lld nlohmann-json check pkg-config mpfr node (never tried; make device needs none of it)"
    brew install llvm lld nlohmann-json check pkg-config mpfr node
    echo "deps: where brew's files are not found, say:"
    echo '  export CPATH="$(brew --prefix)/include" LIBRARY_PATH="$(brew --prefix)/lib" PATH="$(brew --prefix llvm)/bin:$PATH"'
else
    echo "deps: no apt-get and no brew here; what is needed (Debian's names): $*" >&2
    [ "$(uname -s)" != Darwin ] || echo "deps: make, make device and examples/launch.c need none of it" >&2
    exit 1
fi
