#!/bin/sh
# tmetal census: counts, codes, places, exit codes, names on standard input, JSON.
#   tests/unit/census.sh BUILD
set -eu
build=$1
fail() { echo "census: $*" >&2; exit 1; }
bad=tests/cases/diagnostics
run() { "$build/tmetal" census "$@" > "$build/census.out" 2>"$build/census.err" && code=0 || code=$?; }

run examples/kernels/*.ttir
[ $code = 0 ] || fail "files that compile give exit code $code"
grep -q ' compile, 0 do not$' "$build/census.out" || fail "says other than that all compile"

run $bad/301_operation.ttir $bad/306_external.ttir examples/kernels/softmax.ttir
[ $code = 1 ] || fail "files that do not compile give exit code $code"
grep -q '^3 files: 1 compile, 2 do not$' "$build/census.out" || fail "counts are wrong: $(head -1 "$build/census.out")"
grep -q '^TM301  2 times in 1 file: ' "$build/census.out" || fail "TM301 is not counted"
grep -q "$bad/301_operation.ttir:4:3 (many.py:3)" "$build/census.out" || fail "a place is missing"
grep -q '^    help ' "$build/census.out" || fail "no way out is named"

run --json --no-fp64 $bad/303_fp64.ttir
grep -q '"code":303,"count":1,"files":1,"message":"arith.extf needs fp64' "$build/census.out" || fail "JSON lacks a finding"
[ "$(grep -c '"code":303' "$build/census.out")" = 2 ] || fail "JSON has other findings"

ls $bad/30*.ttir > "$build/census.names"
"$build/tmetal" census - < "$build/census.names" > "$build/census.a" || true
run $bad/30*.ttir
cmp -s "$build/census.a" "$build/census.out" || fail "names on standard input give another answer"

run
[ $code = 2 ] || fail "no file gives exit code $code"
run no-such-file.ttir
[ $code = 1 ] || fail "a file that is not there gives exit code $code"
echo "census: counts, codes, places and exit codes are right"
