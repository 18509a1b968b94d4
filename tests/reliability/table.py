#!/usr/bin/env python3
"""What says how far the header can be trusted, run and printed as one table: see `make reliability`.

A row is a make target, and the figure that its last lines give. A target that fails is a row too, and the exit code.
With --only the others' rows stay as they were, where they are of the same commit: a table may be made in parts.
"""
import argparse
import datetime
import re
import subprocess
import sys
import time

# What is asked, the target, what of its output is the figure.
ROWS = [
    ("inputs made to do harm: coverage-guided fuzzing of everything that is read", "fuzz", r"^\w+ +\d+ +\d+ +\d+$"),
    ("inputs cut off at every byte, every bit flipped, far too large", "traps", r"^traps: .*"),
    ("random modules and op lists: interpreter against simulator", "differential", r"^\d+ (?:of \d+ modules|graphs), .*"),
    ("mistakes made on purpose in the compiler, seen by a test", "mutate", r"^all\b.*"),
    ("barriers taken out of emitted kernels, reported as races", "test-barriers", r"^barriers: .*"),
    ("checks of the simulator switched off, missed by a test", "test-detectors", r"^checks of the simulator .*"),
    ("Metal texts: accepted and rejected as Apple's compiler does", "test-lint", r"^test-lint: .*"),
    ("arenas just too small and just large enough", "arenas-near", r"^arenas: .*"),
    ("16 threads at once under the thread sanitizer", "threads", r"^threads: .*"),
    ("nothing depends on what memory held before", "uninitialised", None),
    ("the same bytes from every compiler and processor", "same-bytes", r"^same: .*"),
    ("graphs with more ways than ops, chains longer than a stack", "depth", r"^depth: .*"),
    ("lines and branches that the tests reach", "coverage", r"^coverage: .*"),
]


def figure_of(pattern, out):
    """The last lines that say it, or their sum where each is one of many."""
    if pattern is None: return ""
    found = [s.strip() for s in out.splitlines() if re.match(pattern, s)]
    if pattern.endswith("$"):
        n = [list(map(int, s.split()[1:])) for s in found]
        return "%u targets, %u executions, %u findings" % (len(n), sum(x[0] for x in n), sum(x[2] for x in n)) if n else ""
    if pattern.startswith("^same"): return "%u builds, %u differ" % (len([s for s in found if "left out" not in s]), len([s for s in found if "differs" in s]))
    if pattern.startswith("^arenas"):
        n = [list(map(int, re.findall(r"\d+", s))) for s in found]
        return "%u files, %u wrong" % (sum(x[0] for x in n), sum(x[-1] for x in n)) if n else ""
    return "; ".join(re.sub(r"^[\w-]+: ", "", s) for s in found[-3:])


def kept(path, commit):
    """{target: row} of a table that was made of this commit."""
    try:
        lines = open(path).read().splitlines()
    except FileNotFoundError:
        return {}
    if not lines or ", commit %s," % commit not in lines[0]: return {}
    return {m[1]: s for s in lines for m in [re.search(r"`make ([\w-]+)`", s)] if m}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default="build")
    p.add_argument("--make", default="make")
    p.add_argument("--out", required=True)
    p.add_argument("--commit", default="")
    p.add_argument("--only", default="", help="targets, between blanks")
    p.add_argument("settings", nargs="*")
    a = p.parse_args()
    commit = a.commit or "unknown"
    lines = ["| what | target | figure | passed | seconds |", "|---|---|---|---|---|"]
    failed, before = [], kept(a.out, commit) if a.only else {}
    for what, target, pattern in ROWS:
        if a.only and target not in a.only.split():
            if target in before: lines.append(before[target])
            if "| no |" in before.get(target, ""): failed.append(target)
            continue
        began = time.time()
        run = subprocess.run([*a.make.split(), "BUILD=" + a.build, target, *[s for s in a.settings if not s.endswith("=")]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        out = run.stdout.decode(errors="replace").replace("\r", "\n")
        figure = figure_of(pattern, out)
        if pattern and not figure: run.returncode, figure = 1, "no figure"
        if run.returncode: failed.append(target)
        lines.append("| %s | `make %s` | %s | %s | %.0f |" % (what, target, figure, "no" if run.returncode else "yes", time.time() - began))
        print(lines[-1], flush=True)
        if run.returncode: print("\n".join(out.splitlines()[-5:]), flush=True)
    with open(a.out, "w") as f:
        f.write("%s, commit %s, %s\n\n%s\n" % (datetime.date.today(), commit, " ".join(a.settings), "\n".join(lines)))
    print("reliability: %u of %u passed%s; the table is in %s" % (len(lines) - 2 - len(failed), len(lines) - 2, ": not " + ", ".join(failed) if failed else "", a.out))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
