#!/bin/sh
# What each part costs: the table of docs/embedding.md.
#   tests/bench/parts.sh BUILD              print it
#   tests/bench/parts.sh BUILD fill         print it into docs/embedding.md
#   tests/bench/parts.sh BUILD SWITCH       the row of one switch alone; "" for the whole
# Lines that are left of the header, CPU seconds of two compilers, bytes of text at -Os.
set -eu
build=$1/bench-parts
mkdir -p "$build"
clang=$(command -v clang || command -v clang-19 || true)

# Lines behind the switches given as $2 and after; only conditions about our own switches are looked at.
lines_left() {
    awk -v switches=" $1 " '
        function on(w) { return index(switches, " " w " ") > 0 }
        /^#ifn?def TMETAL_(NO_OPS|NO_FP64|NO_BUILDER|NO_PTX|NO_REPORTS|CACHE|METAL|LAUNCH_CODE|TRITON|TUNE)$/ { deep++; ours[deep] = 1; was[deep] = off; hides = ($1 == "#ifndef") == on($2); if (hides) off = 1; flip[deep] = !was[deep]; next }
        /^# *if/ { deep++; ours[deep] = 0 }
        /^#else/ && ours[deep] { if (flip[deep]) off = !off; next }
        /^# *endif/ { if (ours[deep]) { off = was[deep]; deep--; next } deep-- }
        !off { n++ }
        END { print n }' tmetal.h
}

# CPU seconds of a compiler with options
cpu() {
    { time -p sh -c "printf '#define TMETAL_IMPLEMENTATION\n#include \"tmetal.h\"\n' | $* -std=c99 -I. -x c -c - -o $build/out.o"; } 2>&1 |
        awk '$1 == "user" || $1 == "sys" { s += $2 } END { printf "%.1f", s }'
}

row() { # name, switches to compile with, switches that are then off
    flags=
    for s in $2; do flags="$flags -D$s"; done
    left=$(lines_left "$3")
    g2=$(cpu gcc -O2 $flags)
    if [ -n "$clang" ]; then c2=$(cpu "$clang" -O2 $flags); else c2=-; fi
    cpu gcc -Os $flags > /dev/null
    text=$(size "$build/out.o" | awk 'NR == 2 { print $1 }')
    echo "| $1 | $left | $g2 | $c2 | $text |"
}

parts="TMETAL_NO_OPS TMETAL_NO_FP64 TMETAL_NO_BUILDER TMETAL_NO_PTX TMETAL_NO_REPORTS"
table() {
    echo "| build | lines left | gcc -O2, s | clang -O2, s | text at -Os, bytes |"
    echo "|---|---:|---:|---:|---:|"
    row "all parts" "" ""
    for s in $parts; do row "\`$s\`" "$s" "$s"; done
    row '`TMETAL_CORE`' TMETAL_CORE "$parts"
    row '`TMETAL_CACHE`' TMETAL_CACHE TMETAL_CACHE
    row '`TMETAL_METAL`' TMETAL_METAL TMETAL_METAL
    row '`TMETAL_LAUNCH_CODE`' TMETAL_LAUNCH_CODE TMETAL_LAUNCH_CODE
    row '`TMETAL_TRITON`' TMETAL_TRITON TMETAL_TRITON
    row '`TMETAL_TUNE`' TMETAL_TUNE TMETAL_TUNE
}

if [ $# = 2 ] && [ "$2" != fill ]; then
    case $2 in "") row "all parts" "" "" ;; TMETAL_CORE) row '`TMETAL_CORE`' "$2" "$parts" ;; *) row "\`$2\`" "$2" "$2" ;; esac
    exit 0
fi
table > "$build/table"
if [ "${2:-}" = fill ]; then
    awk -v table="$build/table" '
        /^<!-- BEGIN tests\/bench\/parts.sh -->/ { print; while ((getline line < table) > 0) print line; skip = 1; next }
        /^<!-- END -->/ { skip = 0 }
        !skip { print }' docs/embedding.md > "$build/embedding.md"
    cp "$build/embedding.md" docs/embedding.md
else
    cat "$build/table"
fi
