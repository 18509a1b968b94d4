#!/bin/sh
# Diagnostics on standard error, with the user's Python where its file is at hand, and as JSON.
#   tests/cli/diags.sh BUILD
set -eu
build=$1
out=$build/cli
. tests/cli/common

# -- The line of Python: beside the IR, as named; never of what is no .py, nor past its end --------------------------
d=$out/python
rm -rf "$d"
mkdir -p "$d"
wrong() { sed "/%x_5) </s/axis = 0/axis = 1/; s|softmax.py|$1|" $k/softmax.ttir > "$d/wrong.ttir"; }
cp $k/softmax.py "$d/softmax.py"
wrong softmax.py
gives 1 compile "$d/wrong.ttir"
[ "$(sed -n 2,3p "$out/err" | cut -c1-60)" = ' 14 |     x = x - tl.max(x, axis=0)
    |                    ^' ] || fail "the line of Python is not shown"
[ "$(sed -n 4p "$out/err")" = "   --> $d/wrong.ttir:26:32" ] || fail "the line of the IR does not follow"
sed -n 1,13p $k/softmax.py > "$d/softmax.py"
gives 1 compile "$d/wrong.ttir"
grep -q 'tl.max' "$out/err" && fail "a line is shown that the file does not have"
printf '%s\n' 1 2 3 4 5 6 7 8 9 10 11 12 13 '       a = "123" + t_.max(é)'"$(printf '\033')[31m" > "$d/softmax.py"
gives 1 compile "$d/wrong.ttir"
grep -q "$(printf '\033')" "$out/err" && fail "a control character of the file reaches the terminal"
warns '^    |                    ^~~~~~$'
rm "$d/softmax.py"
gives 1 compile "$d/wrong.ttir"
[ "$(sed -n 2p "$out/err")" = "   --> $d/wrong.ttir:26:32" ] || fail "without the file something else is shown"
cp $k/softmax.py "$d/softmax.txt"
wrong softmax.txt
gives 1 compile "$d/wrong.ttir"
grep -q 'tl.max' "$out/err" && fail "a file is read that is no .py"
cp $k/softmax.py "$d/there.py"
wrong "$d/there.py"
"$tmetal" compile - < "$d/wrong.ttir" > "$out/out" 2> "$out/err" && fail "a wrong axis compiles"
warns '^ 14 |     x = x - tl.max(x, axis=0)$'

# -- JSON: one document, nothing else; Metal where -o says ------------------------------------------------------------
wrong softmax.py
for c in compile explain layouts transform; do
    gives 1 "$c" --json "$d/wrong.ttir"
    says '^{"tmetal_diagnostics":1,"diagnostics":\[$'
    says '"text": {"file":".*wrong.ttir","line":26,"column":32,"end_column":36}}$'
    [ ! -s "$out/err" ] || fail "$c --json writes to standard error too"
done
gives 0 compile --json $k/softmax.ttir
[ "$(cat "$out/out")" = '{"tmetal_diagnostics":1,"diagnostics":[]}' ] || fail "what is right is no empty list"
gives 0 compile --json $k/softmax.ttir -o "$d/softmax.metal"
[ "$(cat "$out/out")" = '{"tmetal_diagnostics":1,"diagnostics":[]}' ] || fail "with -o there is no empty list"
grep -q '^kernel void softmax' "$d/softmax.metal" || fail "--json -o writes no Metal"
gives 2 compile --json $k/softmax.ttir -o -
warns 'on standard output already'
gives 1 compile --json --gpu m77 $k/softmax.ttir
says '{"code":502,"severity":"error",$'
gives 1 compile --json $k/softmax.py --kernel nothing
says '"code":812'
gives 1 compile --json "$d/none.ttir"
silent
gives 1 compile --json --cache "$d/cache" "$d/wrong.ttir"
says '"code":204'
echo "cli: $n command lines of diagnostics are right"
