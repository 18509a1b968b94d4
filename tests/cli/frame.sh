#!/bin/sh
# What all subcommands share: --help, misuse, refusal, pipes, -o, colours.
#   tests/cli/frame.sh BUILD
set -eu
build=$1
out=$build/cli
. tests/cli/common

# -- Help, for every subcommand of the list ------------------------------------------------------------
gives 0 --help
cp "$out/out" "$out/help"
gives 2
cmp -s "$out/help" "$out/err" || fail "without a command there is no help"
subcommands=$(sed -n 's/^  tmetal \([a-z][a-z-]*\).*/\1/p' "$out/help")
[ "$(echo "$subcommands" | wc -l)" -ge 4 ] || fail "--help lists no subcommands"
for s in $subcommands; do
    gives 0 "$s" --help
    says "^tmetal $s"
    [ ! -s "$out/err" ] || fail "$s --help writes to standard error"
    gives 2 "$s" --no-such-option
    warns "^tmetal: unknown option --no-such-option$"
    warns "^Try 'tmetal $s --help'.$"
    [ ! -s "$out/out" ] || fail "a wrong option of $s writes to standard output"
done
gives 0 --version
says '^tmetal [0-9]*\.[0-9]*\.[0-9]*$'

# -- What was meant ------------------------------------------------------------------------------------
gives 2 compil
warns "^tmetal: unknown command compil; did you mean compile?$"
gives 2 compile --emitt msl x
warns "^tmetal: unknown option --emitt; did you mean --emit?$"
gives 2 frobnicate
warns "^tmetal: unknown command frobnicate$"
gives 1 compile examples/kernels/softmax.ttir --gpu "M3 Max"
warns "^help: did you mean 'apple-m3-max'?$"
gives 1 compile examples/kernels/softmax.ttir --gpu m99
warns "^help: 'tmetal gpus' prints the table"
gives 1 compile examples/kernels/softmax.ttir --alias 0=9
warns "no kernel has a parameter 9"

# -- Other files than Triton IR ----------------------------------------------------------------------------
mkdir -p "$out/o"
"$tmetal" compile examples/kernels/softmax.ttir > "$out/o/softmax.metal"
for f in "$out/o/softmax.metal=C++ or Metal" "$tmetal=a binary file"; do
    gives 1 compile "${f%%=*}"
    warns "error\[TM126\]: this is ${f#*=}, not Triton IR$"
done
"$tmetal" compile - < examples/kernels/softmax.py > "$out/out" 2> "$out/err" && fail "Python compiles"
warns "error\[TM126\]: this is Python, not Triton IR$"
gives 1 compile LICENSE
warns 'help: operations are called tt.load'
{ printf '\357\273\277'; cat examples/kernels/softmax.ttir; } > "$out/o/mark.ttir"
"$tmetal" compile "$out/o/mark.ttir" | cmp -s - "$out/o/softmax.metal" || fail "a byte order mark changes the Metal"
{ printf '\357\273\277'; echo '{"ops":[{"type":"exp","input_shapes":[[64]]}]}'; } > "$out/o/mark.json"
gives 0 compile "$out/o/mark.json"
{ printf '\377\376m\000o\000'; } > "$out/o/wide.ttir"
gives 1 compile "$out/o/wide.ttir"
warns "this is text in UTF-16, not Triton IR$"
head -c 900 examples/kernels/softmax.ttir > "$out/o/cut.ttir"
gives 1 compile "$out/o/cut.ttir"
warns "^help: the text ends here: was it cut off?$"
gives 0 census "$out/o/mark.json" examples/kernels/softmax.ttir
says "^2 files: 2 compile, 0 do not$"
: > "$out/o/empty.ttir"
gives 1 census "$out/o/empty.ttir"
says "^1 file: 0 compile, 1 do not$"
says "at   .*empty.ttir$"
gives 2 run examples/kernels/softmax.ttir
warns "tests/kernels/README.md says how to write one"
gives 1 run "$out/o/none.case"
warns "^tmetal: .*none.case: "
gives 1 analyze --operation tt.sum
warns "^help: a line is type:shape,shape:axis"

# -- Misuse is 2, refusal 1 ------------------------------------------------------------------------------
k=examples/kernels/softmax.ttir
gives 2 no-such-command
gives 2 compile
gives 2 compile $k $k
gives 2 compile $k --gpu
gives 2 compile $k --plain=1
gives 2 compile $k --threads many
gives 2 compile $k --msl 2.4
gives 2 compile $k --emit nothing
gives 2 gpus $k
gives 1 compile no-such-file.ttir
gives 1 compile $k --gpu no-such-gpu
warns 'TM502'
gives 1 compile tests/cases/diagnostics/301_operation.ttir
[ ! -s "$out/out" ] || fail "a refused kernel gives Metal"

# -- Pipes, spellings, order -----------------------------------------------------------------------------
gives 0 compile $k --gpu apple-m2 --emit all
cp "$out/out" "$out/whole"
"$tmetal" compile --emit=all --gpu=apple-m2 -- $k > "$out/out" 2> "$out/err" || fail "--emit=all is refused"
cmp -s "$out/out" "$out/whole" || fail "spellings of options differ in what they give"
gives 0 compile $k
cp "$out/out" "$out/whole"
"$tmetal" compile - < $k > "$out/out" 2> "$out/err" || fail "standard input is refused"
cmp -s "$out/out" "$out/whole" || fail "a pipe gives other Metal than a file"
gives 0 compile $k -o -
cmp -s "$out/out" "$out/whole" || fail "-o - is not standard output"

# -- -o: whole or not at all -------------------------------------------------------------------------------
rm -rf "$out/o"
mkdir "$out/o"
gives 0 compile $k -o "$out/o/x.metal"
cmp -s "$out/o/x.metal" "$out/whole" || fail "-o writes something else"
[ ! -s "$out/out" ] || fail "with -o something goes to standard output too"
gives 1 compile tests/cases/diagnostics/301_operation.ttir -o "$out/o/x.metal"
cmp -s "$out/o/x.metal" "$out/whole" || fail "a refusal changes the file of -o"
[ "$(ls "$out/o")" = x.metal ] || fail "-o leaves files behind: $(ls "$out/o")"
ln -s x.metal "$out/o/link"
gives 0 compile $k --plain -o "$out/o/link"
[ -L "$out/o/link" ] || fail "-o replaces a link"
cmp -s "$out/o/x.metal" "$out/whole" && fail "-o does not follow a link"
gives 0 compile $k -o /dev/null
[ -c /dev/null ] || fail "-o replaces a device"
gives 1 compile $k -o "$out/o/no/such/folder"
if [ -w /dev/full ]; then
    for what in --help --version "help why" "why --help" "tutorial --yes"; do
        # shellcheck disable=SC2086
        "$tmetal" $what > /dev/full 2> "$out/err" && fail "$what: a full disk is not noticed"
        grep -q '^tmetal: standard output: ' "$out/err" || fail "$what: a full disk is not told"
    done
    "$tmetal" compile $k > /dev/full 2> "$out/err" && fail "a full disk is not noticed"
    warns 'standard output'
fi

# -- No terminal, no colours -------------------------------------------------------------------------------
esc=$(printf '\033')
gives 1 census tests/cases/diagnostics/301_operation.ttir
grep -q "$esc" "$out/out" "$out/err" && fail "colours without a terminal"
if script -qec true /dev/null > /dev/null 2>&1; then
    bad=tests/cases/diagnostics/301_operation.ttir
    TERM=xterm NO_COLOR='' script -qec "$tmetal census $bad" /dev/null > "$out/out" 2>&1 < /dev/null || true
    says "$esc\[31mTM301$esc\[0m"
    TERM=xterm NO_COLOR=1 script -qec "$tmetal census $bad 2>/dev/null" /dev/null > "$out/out" 2>&1 < /dev/null || true
    grep -q "$esc\[3" "$out/out" && fail "NO_COLOR is ignored"
fi

# -- JSON ----------------------------------------------------------------------------------------------------
if command -v python3 > /dev/null 2>&1; then
    printf 'x' > "$out/$(printf 'odd\377\n"\\name.ttir')"
    for line in gpus ops "census $k $out/odd*"; do
        # shellcheck disable=SC2086
        "$tmetal" $line --json > "$out/out" 2> "$out/err" || true
        python3 -c 'import json, sys; json.loads(sys.stdin.buffer.read().decode("utf-8"))' < "$out/out" || fail "$line --json is no JSON"
        n=$((n + 1))
    done
else
    echo "cli: no python3 here: JSON was not read back"
fi
echo "cli: $n command lines of the frame are right"
