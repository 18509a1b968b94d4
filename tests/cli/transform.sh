#!/bin/sh
# tmetal transform, and the IR after each pass.
#   tests/cli/transform.sh BUILD
set -eu
build=$1
out=$build/cli/transform
tmetal=$build/tmetal
mkdir -p "$out"
fail() { echo "cli: transform: $*" >&2; exit 1; }

"$tmetal" transform --create-test-ir -o "$out/test.ttir" || fail "--create-test-ir"
"$tmetal" transform "$out/test.ttir" > "$out/both" || fail "the test IR is refused"
grep -q '^// applied .*softmax %y: one kernel' "$out/both" || fail "the softmax of the test IR is not told of"
# what stands on standard output is IR, comments and all: it gives the same Metal again
"$tmetal" compile "$out/test.ttir" > "$out/first.metal"
"$tmetal" compile "$out/both" > "$out/second.metal" || fail "the changed IR is refused"
cmp -s "$out/first.metal" "$out/second.metal" || fail "nothing of the test IR changes, but its Metal does"
# -o: the IR there, the summary here
"$tmetal" transform examples/kernels/matmul.ttir -o "$out/matmul.ttir" > "$out/summary" || fail "-o"
grep -q '^applied pass induction: ' "$out/summary" || fail "the summary lacks a pass"
grep -q 'scf.for' "$out/matmul.ttir" || fail "-o writes no IR"
grep -q 'applied' "$out/matmul.ttir" && fail "-o writes the summary too"
"$tmetal" transform --summary examples/kernels/matmul.ttir | cmp -s - "$out/summary" || fail "--summary is not what -o prints"
"$tmetal" transform -v --summary examples/kernels/softmax.ttir | grep -q 'MPS: softMaxWithTensor.*MLX: mx.softmax' || fail "-v lacks what MPS and MLX call it"
# JSON, op lists, standard input
"$tmetal" transform --json examples/kernels/softmax.ttir | grep -q '"what":"softmax","kernel":"softmax"' || fail "--json"
printf 'tt.sum:[512,512]:1\n' | "$tmetal" transform --json - | grep -q '"graph":{"ops":1,"kernels":1,"bytes_before":1050624,"bytes":1050624' || fail "an op list"
# wrong lines and wrong texts
"$tmetal" transform > /dev/null 2>&1 && fail "no operand is no mistake"
[ $? = 2 ] || fail "no operand gives another exit code than 2"
"$tmetal" transform tests/cases/diagnostics/301_operation.ttir > "$out/nothing" 2> "$out/err" && fail "a wrong kernel is taken"
[ ! -s "$out/nothing" ] || fail "a refused kernel gives IR"
# after each pass
"$tmetal" compile --debug examples/kernels/matmul.ttir > "$out/metal" 2> "$out/trace" || fail "--debug"
for pass in read calls combiners 'tile references' products control induction 'byte pointers' exchanges unread; do
    grep -q "^// ---- after $pass ----" "$out/trace" || fail "--debug does not tell of '$pass'"
done
TRITON_METAL_DEBUG=1 "$tmetal" compile examples/kernels/matmul.ttir 2>&1 > "$out/metal2" | cmp -s - "$out/trace" || fail "TRITON_METAL_DEBUG=1 is not --debug"
cmp -s "$out/metal" "$out/metal2" || fail "--debug changes the Metal"
TRITON_METAL_DEBUG=0 "$tmetal" compile examples/kernels/matmul.ttir 2>&1 > /dev/null | grep -q . && fail "TRITON_METAL_DEBUG=0 prints"
echo "cli: transform and --debug"
