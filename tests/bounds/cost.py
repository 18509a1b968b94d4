#!/usr/bin/env python3
"""What options.bounds costs in the texts of all own kernels: lines of Metal, registers of the plan, vector accesses.

    python3 tests/bounds/cost.py [build]"""
import glob
import json
import os
import re
import subprocess
import sys

VECTOR = re.compile(r"\*\((?:volatile )?device (?:const )?\w+[234] \*\)")
build = sys.argv[1] if len(sys.argv) > 1 else "build"


def compile(path, emit, more):
    r = subprocess.run([os.environ.get("TMETAL", os.path.join(build, "tmetal")), "compile", "--gpu", "apple-m3-max", "--emit", emit, path] + more,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
    return r.stdout if r.returncode == 0 else None


def figures(path, more):
    text, plan = compile(path, "msl", more), compile(path, "plan", more)
    if not text or not plan: return None
    return text.count("\n"), sum(k["registers"] for k in json.loads(plan)["kernels"]), len(VECTOR.findall(text))


rows = []
for path in sorted(glob.glob("tests/kernels/recorded/*.ttir") + glob.glob("examples/kernels/*.ttir")):
    rows.append((path, figures(path, []), figures(path, ["--bounds"])))
    if path.startswith("examples") and rows[-1][2]: print("%-44s lines, registers, vectors %-15s with bounds %s" % rows[-1])
kept = [r for r in rows if r[1] and r[2]]
for i, what in enumerate(("lines", "registers", "vectors")):
    print("%-10s %6d  with bounds %6d" % (what, sum(r[1][i] for r in kept), sum(r[2][i] for r in kept)))
print("%d kernels; fewer vectors in %d: %s" % (len(kept), sum(r[2][2] < r[1][2] for r in kept),
                                             " ".join(os.path.basename(r[0]) for r in kept if r[2][2] < r[1][2])))
