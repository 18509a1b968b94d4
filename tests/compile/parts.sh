#!/bin/sh
# Each part left out, and all of them: no warnings as C and as C++, none of its functions declared, the same
# Metal and plan as the whole build for kernels that do not need it, and a refusal by name for those that do.
#   tests/compile/parts.sh BUILD [all]     all: each as C++ too, not only the whole and the least
set -eu
build=$1/parts
each=${2:-}
cc=${CC:-cc}
mkdir -p "$build"
# -Wmisleading-indentation is slow in gcc, and what it sees no switch changes: tests/robust/warnings.sh asks for it
strict="-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror -Wno-misleading-indentation -I."
cxx=${CXX:-}
for c in c++ g++ clang++ clang++-19; do [ -n "$cxx" ] || cxx=$(command -v $c || true); done

fail() { echo "parts: $*" >&2; exit 1; }

files="tests/kernels/recorded/*.ttir tests/kernels/lookalikes/*.ttir examples/kernels/*.ttir tests/compile/*.ttir tests/compile/list.json"

# switch, what TM311 calls it, public functions that are its own
rows='TMETAL_NO_FP64|fp64 in software|
TMETAL_NO_PTX|inline PTX|
TMETAL_NO_OPS|op lists|_ops$|_list$|_graph$|_list_op_at$
TMETAL_NO_BUILDER||tmetal_build_
TMETAL_NO_REPORTS||explain|layouts_json|transform|detect|map_|mapping|layout_name|access_|reduce_name|pattern_name|tie_name|nan_name|form_name
TMETAL_CORE|fp64 in software, inline PTX or op lists|'

whole() { # the programs, one a switch
    $cc -std=c99 -O0 $strict $1 -c tests/compile/parts.c -o "$build/$2.o" || fail "$2: not C, or warnings"
    $cc "$build/$2.o" -o "$build/$2"
    case $each$2 in all*|TMETAL_CORE) [ -z "$cxx" ] || $cxx -x c++ -std=c++11 -fsyntax-only $strict $1 tests/compile/parts.c || fail "$2: not C++, or warnings" ;; esac
    nm "$build/$2.o" | awk '$2 == "T" { sub(/^_/, "", $3); if ($3 != "main") print $3 }' | sort > "$build/$2.names"
}

whole "" all
"$build/all" $files > "$build/all.lines"
"$build/all" --names | tr ' ' '\n' | sort -u > "$build/all.rows"
echo "$rows" | while IFS='|' read -r switch said own; do
    whole "-D$switch" $switch
    "$build/$switch" $files > "$build/$switch.lines"
    "$build/$switch" --names | tr ' ' '\n' | sort -u > "$build/$switch.rows"
    [ -z "$(comm -23 "$build/all.rows" "$build/$switch.rows" | grep -v '^f64_')" ] || fail "$switch: values may be called $(comm -23 "$build/all.rows" "$build/$switch.rows" | grep -v '^f64_' | head -1)"
    # the same, or refused by the part's name
    diff "$build/all.lines" "$build/$switch.lines" | sed -n 's/^> //p' > "$build/$switch.other"
    if grep -v ' 311 ' "$build/$switch.other" > "$build/wrong"; then fail "$switch changes more than it leaves out: $(head -1 "$build/wrong")"; fi
    if grep ' 311 ' "$build/$switch.other" | grep -v "which this build leaves out: TMETAL_NO_" > "$build/wrong"; then fail "$switch: $(head -1 "$build/wrong")"; fi
    # what needs it is refused, by name and with the switch
    for need in tests/compile/*.ttir tests/compile/list.json; do
        wants=$(sed -n 's,^// WITHOUT ,,p' "$need") # switch: message
        [ "$need" = tests/compile/list.json ] && wants='TMETAL_NO_OPS: JSON needs op lists'
        [ "$switch" = TMETAL_CORE ] || [ "${wants%%:*}" = "$switch" ] || continue
        grep -F "$need 311 ${wants#*: }, which this build leaves out: ${wants%%:*}" "$build/$switch.lines" > /dev/null || fail "$switch: $need is not refused as '${wants#*: }': $(grep -F "$need " "$build/$switch.lines")"
    done
    # its functions are not there, and all others are
    [ -z "$own" ] || { if grep -E "$own" "$build/$switch.names" > "$build/wrong"; then fail "$switch leaves $(head -1 "$build/wrong")"; fi; }
    [ -z "$own" ] || [ "$switch" = TMETAL_CORE ] || grep -v -E "$own" "$build/all.names" | diff - "$build/$switch.names" > /dev/null || fail "$switch takes other functions with it"
    if REPORTS=1 "$build/$switch" examples/kernels/softmax.ttir | grep ' 311 ' > /dev/null; then
        case $switch in TMETAL_NO_REPORTS|TMETAL_CORE) ;; *) fail "$switch refuses reports" ;; esac
    else
        case $switch in TMETAL_NO_REPORTS|TMETAL_CORE) fail "$switch takes options.reports in silence" ;; esac
    fi
    echo "parts: $switch: $(wc -l < "$build/$switch.lines") texts, $(grep -c ' 311 ' "$build/$switch.lines" || true) refused by name, all others as in the whole build"
done
