#!/bin/sh
# How `make test` runs its suites: quiet unless one fails. Logs go to the folder in TMETAL_SUITES.
#
#     suite.sh TARGET -c COMMAND   as make's shell: a line of the recipe of TARGET
#     suite.sh passed SUITE        every line of the suite has passed: print one line
#     suite.sh sum SUITE...        print "N passed, N failed"; exit code 1 if any has not passed
logs=$TMETAL_SUITES
case $1 in
-c) exec /bin/sh "$@" ;; # $(shell ...), which has no target
passed)
    echo passed > "$logs/$2.passed"
    echo "ok  $2: $(tail -n 1 "$logs/$2.log" 2> /dev/null)"
    exit ;;
sum)
    shift
    passed=0 failed=
    for suite; do
        if [ -f "$logs/$suite.passed" ]; then passed=$((passed + 1)); else failed="$failed $suite"; fi
    done
    [ -z "$failed" ] || echo "failed:$failed (logs in $logs)"
    echo "$passed passed, $(echo "$failed" | wc -w | tr -d ' ') failed"
    [ -z "$failed" ]
    exit ;;
esac
for command; do :; done # the last argument
case " $TMETAL_QUIET " in
*" $1 "*) ;;
*) exec /bin/sh -c "$command" ;; # a target that only builds
esac
/bin/sh -c "$command" > "$logs/$1.line" 2>&1
code=$?
cat "$logs/$1.line" >> "$logs/$1.log"
if [ $code != 0 ]; then
    echo "FAILED  $1: $command"
    tail -n 60 "$logs/$1.line"
fi
exit $code
