#!/bin/sh
# How many variables of the emitted Metal bear a number that we put behind a name (x_2), over the TTIR of folders.
#   tests/golden/names.sh [BINARY [FOLDER ...]]
# At commit 860e5a7: 36,329 in 2,621 files of tests/kernels, examples/kernels and ../shared/corpus.
binary=${1:-build/tmetal}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- tests/kernels examples/kernels
find "$@" -name '*.ttir' | sort | while read -r f; do "$binary" compile "$f" 2>/dev/null; done | awk '
    { sub(/\/\/.*/, "") }
    /^ *(const |device |threadgroup |constant )*(simdgroup_)?[a-z]+[0-9x]* *(\*const |\*)?[A-Za-z][A-Za-z0-9_]*(\[[0-9]+\])*( = .*|;)/ {
        line = $0
        sub(/ = .*|;.*/, "", line)
        sub(/\[[0-9]+\]$/, "", line)
        sub(/.*[ *]/, "", line)
        all++
        if (line ~ /_[0-9]+$/) numbered++
    }
    END { printf "%d of %d variables have a number behind their name\n", numbered, all }'
