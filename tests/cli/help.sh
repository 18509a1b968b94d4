#!/bin/sh
# What is made of the tables of commands and options: --help by groups, the manual page, completion; colours, progress.
#   tests/cli/help.sh BUILD
set -eu
build=$1
out=$build/cli
. tests/cli/common

# -- Groups: no command and no shared option stands outside them -------------------------------------------------
gives 0 --help
grep -q '^Commands$' "$out/out" && fail "a command has no group: command_groups of examples/tmetal/help.h"
for title in 'To begin with' 'Kernels' 'Why a kernel is as it is' 'Many files' 'For the shell'; do says "^$title\$"; done
gives 0 compile --help
for title in 'What is printed' 'The GPU' 'How the kernel is made' 'Kernels of a .py file' 'The launch'; do says "^$title\$"; done
grep -q '^Options$' "$out/out" && fail "an option of compile has no group: option_groups of examples/tmetal/help.h"
commands=$("$tmetal" --help | sed -n 's/^  tmetal \([a-z][a-z-]*\).*/\1/p' | sort -u)

# -- The manual page: all commands and options, nothing that roff stumbles over ------------------------------------
gives 0 man
cp "$out/out" "$out/tmetal.1"
for c in $commands; do
    grep -q "^.SS tmetal $(echo "$c" | sed 's/-/\\\\-/g')" "$out/tmetal.1" || fail "the manual page lacks $c"
    "$tmetal" "$c" --help | sed -n 's/^  \(-[a-z-]*\).*/\1/p' | while read -r o; do
        [ "$o" = --help ] || grep -q -e "^.B $(echo "$o" | sed 's/-/\\\\-/g')" "$out/tmetal.1" || fail "the manual page lacks $o"
    done || exit 1
done
if command -v groff > /dev/null; then
    groff -man -Tascii -ww "$out/tmetal.1" > "$out/man.txt" 2> "$out/err" || fail "groff refuses the manual page"
    [ ! -s "$out/err" ] || fail "groff warns about the manual page"
    grep -q 'Triton kernels to Metal' "$out/man.txt" || fail "the manual page is empty"
fi

# -- Completion ----------------------------------------------------------------------------------------------------
gives 2 completion fish
warns "completion is for bash and zsh, not fish"
gives 2 completion
gives 0 completion zsh
cp "$out/out" "$out/_tmetal"
for c in $commands; do grep -q "^        $c) _arguments" "$out/_tmetal" || fail "the completion of zsh lacks $c"; done
if command -v zsh > /dev/null; then zsh -n "$out/_tmetal" 2> "$out/err" || fail "zsh refuses its completion"; fi
gives 0 completion bash
cp "$out/out" "$out/tmetal.bash"
if command -v bash > /dev/null; then
    # completes WORDS... CUR gives what bash would offer for the last word
    completes() { bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tmetal; echo "${COMPREPLY[*]}"' "$out/tmetal.bash" tmetal "$@" 2> "$out/err"; }
    offers() { want=$1; shift; got=$(completes "$@"); [ "$got" = "$want" ] || fail "after 'tmetal $*' bash offers '$got' instead of '$want'"; n=$((n + 1)); }
    offers 'compile completion' comp
    offers 'completion' comple
    offers '--threads' compile --th
    offers '' gpus --th
    offers 'apple-m3-ultra apple-m3-ultra-60' compile --gpu apple-m3-u
    offers 'torch-py' compile x.ttir --emit t
    offers 'zsh' completion z
    offers 'transform' help tra
    offers 'examples/kernels/softmax.ttir' explain examples/kernels/softmax.t
fi

# -- Values that are words --------------------------------------------------------------------------------------------
gives 2 compile $k/softmax.ttir --emit plam
warns "^tmetal: unknown --emit plam; did you mean plan?$"
gives 2 compile $k/softmax.ttir --operands=stage
warns "did you mean staged?$"
gives 1 compile $k/softmax.ttir --layout x=TILED # a name, not a misspelt layout
warns "option layouts: no reduction gives 'x'"
gives 2 compile $k/softmax.ttir --has MATH,DIRECT_DOTT
warns "MATH"
gives 2 compile $k/softmax.ttir --has DIRECT_DOT,SIMD_MATRX
warns "^tmetal: not a feature of the GPU table: SIMD_MATRX; did you mean SIMD_MATRIX?$"
gives 1 layouts $k/softmax.ttir --value %numeratr
warns "^help: did you mean '%numerator'?$"
gives 2 compile $k/softmax.ttir --emit nothing
warns "^tmetal: --emit knows msl"

# -- Codes: each row of the tables of tmetal.h ------------------------------------------------------------------------
for number in $(sed -n '/^#define TMETAL_[A-Z_]*DIAGS(X)/,/^$/s/^    X(\([1-9][0-9][0-9]\), [A-Z].*/\1/p' tmetal.h); do
    gives 0 explain "TM$number"
    says "^TM$number"
    says '^  means    .'
    says '^  way out  .'
done
gives 0 explain tm204
says '^TM204: ... over axis ..., but the operand has rank ...$'
gives 1 explain TM220
warns 'no message has the code TM220'
gives 1 explain TM20
warns 'TM20: No such file'

# -- Colours and progress: on a terminal; not in a pipe, not by TERM=dumb ---------------------------------------------
bad=$out/wrong.ttir
echo 'tt.func @k() { tt.nothing }' > "$bad"
gives 1 census $k/softmax.ttir "$bad"
[ ! -s "$out/err" ] || fail "census writes to a standard error that is no terminal"
esc=$(printf '\033')
if script -qec true /dev/null > /dev/null 2>&1; then
    # on_terminal ENVIRONMENT COMMAND: what a terminal would show on standard error
    on_terminal() { env "$1" script -qec "$2 > /dev/null" /dev/null < /dev/null > "$out/tty" 2>&1 || true; n=$((n + 1)); }
    on_terminal TERM=xterm "$tmetal compile $bad"
    grep -q "${esc}\[31merror\[TM104\]${esc}\[0m" "$out/tty" || fail "an error is not red on a terminal"
    grep -q "^more: tmetal explain TM104" "$out/tty" || fail "a terminal is not told of explain"
    on_terminal NO_COLOR=1 "TERM=xterm $tmetal compile $bad"
    grep -q "${esc}\[[0-9]" "$out/tty" && fail "NO_COLOR is ignored"
    on_terminal TERM=dumb "$tmetal compile $bad"
    grep -q "$esc" "$out/tty" && fail "TERM=dumb is ignored"
    on_terminal TERM=xterm "$tmetal census $k/softmax.ttir $k/matmul.ttir"
    grep -q "2 $k/matmul.ttir" "$out/tty" || fail "census shows no progress on a terminal"
    on_terminal TERM=xterm "$tmetal run $k/softmax.case"
    grep -q '2/2 in the simulator' "$out/tty" || fail "run shows no progress on a terminal"
    on_terminal TERM=xterm "$tmetal tune $k/softmax.ttir"
    grep -q 'candidates are made' "$out/tty" || fail "tune shows no progress on a terminal"
    on_terminal TERM=dumb "$tmetal census $k/softmax.ttir $k/matmul.ttir"
    grep -q matmul "$out/tty" && fail "TERM=dumb has a line of progress"
fi
echo "cli: $n command lines of help, manual page and completion are right"
