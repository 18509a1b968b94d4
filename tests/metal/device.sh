#!/bin/sh
# The device program by way of the stand-in: reports, going on after a kill, and everything that may go wrong on a GPU.
#   tests/metal/device.sh BUILD
set -u
device=$1/metal-device
out=$1/device-test
rm -rf "$out"
mkdir -p "$out"
bad=0

fail() {
    echo "device: $*"
    bad=1
}
# gives CODE NAME OPTIONS...: a run over four kernels, sum_both, sum_columns, sum_parts and sum_rows
gives() {
    want=$1 name=$2
    shift 2
    "$device" --filter kernels/su --report "$out/$name" "$@" examples/kernels > "$out/$name.txt" 2> "$out/$name.err"
    got=$?
    [ $got = "$want" ] || { fail "$name: exit code $got, not $want"; cat "$out/$name.txt" "$out/$name.err"; }
}
says() { # NAME.md or .json or .txt, what it holds
    grep -qF -- "$2" "$out/$1" || { fail "$1 does not say: $2"; cat "$out/$1"; }
}
# until the worker of $group has stopped itself, in a case that pretends to
await_stop() {
    command -v ps > /dev/null || { sleep 5; return; }
    tries=0
    until ps -A -o pgid= -o stat= | grep -q "^ *$group  *T" || [ $tries -ge 600 ]; do sleep 0.1; tries=$((tries + 1)); done
}

# All right, and what the report says of where.
gives 0 right --shares --sizes 64x64 --layouts TILED --commit abc123
head -n 1 "$out/right.md" | grep -q 'stand-in, not a device' || fail "the first line does not say what it ran on"
says right.md '| right | 4 |'
says right.md 'Times: not measured'
says right.md 'commit abc123'
says right.txt 'row sum      TILED          64x64        launched, not measured'
grep -q '"share": [0-9]' "$out/right.json" && fail "a stand-in gives times"

# With times that a test makes up, each launch the same: as fast as a copy.
gives 0 clock --shares --sizes 64x64 --layouts TILED --pretend clock:
says clock.md '| row sum | TILED | 64x64 | 1.00 (1.00 to 1.00) |'
says clock.md '| attention | own choice | 64x64 | 1.00 (1.00 to 1.00) |'
says clock.json '{"kernel": "matmul", "layout": "", "size": "64x64", "share": 1.00, "quartiles": [1.00, 1.00]}'

# What the system says of itself may be more than ASCII, and longer than its line.
{ printf 'owner: x'; for n in 1 2 3 4 5 6 7 8 9 10; do printf 'éééééé€'; done; printf '\nbroken: a\377b\n'; } > "$out/facts.txt"
gives 0 letters --facts "$out/facts.txt"

# What may go wrong.
gives 1 flip --pretend flip:sum_columns
says flip.md '| wrong | 1 |'
says flip.md '`kernels/sum_columns`: buffer'
says flip.md 'element'
gives 1 refuse --pretend refuse:sum_columns
says refuse.md '1 refused by Metal'
says refuse.md 'program_source:7:5: error: made up by a test'
gives 1 fault --pretend fault:sum_columns
says fault.md '`kernels/sum_columns`: TM713'
gives 3 none --pretend none:
says none.err TM701
gives 2 unknown --pretend other:sum

# The compiler's options reach it.
gives 0 options --layout NONSENSE
says options.md '| refused | 4 |'
gives 0 options --layout TILED --threads 64
says options.md '| right | 4 |'

# What is linked on a Mac, where there is no Metal.
if [ "$(uname -s)" != Darwin ]; then
    "$1/metal-device-system" examples/kernels > "$out/system.txt" 2>&1
    [ $? = 3 ] || fail "without Metal the exit code is not 3"
    says system.txt 'TM701: there is no Metal here'
fi

# A hang ends the run; the next one goes on behind it.
gives 1 hang --pretend hang:sum_columns --state "$out/state-hang"
says hang.md '`kernels/sum_columns`: TM714'
says hang.md '**Not complete:**'
says hang.md '| not tried | 2 |'
gives 1 behind --state "$out/state-hang"
says behind.md '`kernels/sum_columns`: TM714'
says behind.md '| right | 3 |'
gives 0 again --state "$out/state-hang" --again

# So does a worker that says nothing any more, as in a call that does not return.
gives 1 silent --pretend stop:sum_columns --seconds 2
says silent.md '`kernels/sum_columns`: Metal did not come back'
says silent.md '| not tried | 2 |'

# A worker that dies takes its case with it, and no other.
gives 1 die --pretend die:sum_columns --state "$out/state-die"
says die.md '`kernels/sum_columns`: the process died of signal 9'
says die.md '| right | 3 |'

# kill -9 of all processes in the middle: what is done is not done again (or it would be refused), and the report that
# comes out in the end is that of a run that nobody killed.
gives 0 whole
setsid "$device" --filter kernels/su --state "$out/state-kill" --pretend stop:sum_parts examples/kernels > "$out/kill.txt" 2>&1 &
group=$!
await_stop
kill -9 -$group
wait $group 2> /dev/null
gives 1 killed --state "$out/state-kill" --pretend refuse:sum_columns
says killed.md '`kernels/sum_parts`: the process ended while it was under way'
says killed.md '| right | 3 |'
gives 0 resumed --state "$out/state-kill" --again --pretend refuse:sum_columns
cmp "$out/whole.md" "$out/resumed.md" || fail "the report after a kill is another"
cmp "$out/whole.json" "$out/resumed.json" || fail "the JSON after a kill is another"
for f in "$out"/state-kill/*; do printf 'right' > "$f"; done # cut short: not believed
gives 1 damaged --state "$out/state-kill" --pretend refuse:sum_columns

# A wish to stop is heeded behind the case that is under way, and the report is written.
setsid "$device" --filter kernels/su --report "$out/asked" --pretend stop:sum_parts examples/kernels > "$out/asked.txt" 2>&1 &
group=$!
await_stop
kill -TERM $group
sleep 0.5
kill -CONT -$group
wait $group
[ $? = 1 ] || fail "asked to stop, the exit code is not 1"
says asked.md '| right | 3 |'
says asked.md '| not tried | 1 |'

# On a terminal: a bar, and of the cases only those that are wrong.
script -qec "$device --filter kernels/su --pretend flip:sum_parts examples/kernels" "$out/tty.txt" > /dev/null < /dev/null
says tty.txt '[##############################] 4/4'
says tty.txt 'wrong kernels/sum_parts'
grep -q 'right kernels' "$out/tty.txt" && fail "on a terminal every case is printed"

# JSON and Markdown agree.
command -v python3 > /dev/null 2>&1 || { echo "device: no python3 here: JSON was not read back"; exit $bad; }
python3 - "$out" << 'PYTHON' || fail "the JSON"
import glob, json, re, sys
letters = dict(line.rstrip("\n").split(": ") for line in open(sys.argv[1] + "/facts.txt", encoding="utf-8", errors="replace"))
for path in sorted(glob.glob(sys.argv[1] + "/*.json")):
    report, text = json.load(open(path, encoding="utf-8")), open(path[:-4] + "md", encoding="utf-8").read()
    if path.endswith("/letters.json"):
        assert report["facts"] == dict(letters, broken="a?b") and "x" + letters["owner"][1:50] in text, report["facts"]
    counts = dict((row[0], int(row[1])) for row in re.findall(r"^\| ([a-zA-Z ]+) \| (\d+) \|", text, re.M))
    assert report["tmetal_device_report"] == 1 and report["stand_in"] is True, path
    assert counts == {k: n for k, n in report["counts"].items() if n or k in ("right", "wrong")}, (path, counts)
    assert sum(report["counts"].values()) == 4 and report["complete"] == (report["counts"]["not tried"] == 0), path
    for case in report["cases"]:
        assert case["verdict"] in ("right", "compiled") or "`%s`" % case["name"] in text, (path, case)
    for verdict, n in report["counts"].items():
        assert verdict == "not tried" or n == sum(c["verdict"] == verdict for c in report["cases"]), (path, verdict)
PYTHON
python3 tests/formats/schemas.py --reports "$out"/*.json || bad=1
[ $bad = 0 ] && echo "device: reports, resumption and everything that goes wrong are as they should be"
exit $bad
