#!/usr/bin/env python3
"""Switches the checks of the simulator off, one at a time: tests/sim must miss each.

    detectors.py BUILD [--jobs N] [--files A,B] [--all]

A check is a call that reports: of a violation, an overflow, a race, or an error in the text. Each is left out in turn, the
simulator is built without it, and build/test-sim must fail: a kernel in tests/sim/wrong expects that message. With --all
conditions, comparisons and early exits of the checks' own files are turned too. Those that no test misses are printed;
detectors.txt holds those that none can, by fingerprint, with the reason.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

import mutate
import places

FOLDER = os.path.join(mutate.TOP, "tests/sim")
REPORTS = re.compile(r"(violate_at|violate_pc|report_conflict|overflow|error|add_error)\b|.*\b(violate_at|violate_pc)\(")
CHECKS = ("memory", "sync", "schedule", "simd", "undefined", "tensor", "atomics")


def candidates(files, every):
    for name in files:
        path = os.path.join(FOLDER, name + ".cc")
        text = open(path).read()
        for p in places.places(text, [(0, name)]):
            reports = p.kind == "call" and REPORTS.match(text[p.at:p.end])
            if reports or (every and name in CHECKS and p.kind in ("condition", "exit", "comparison", "logic")):
                yield text, p


def try_one(work):
    build, number, text, p = work
    folder = os.path.join(build, "mutate", "detectors", str(number))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    source, obj = os.path.join(folder, p.floor + ".cc"), os.path.join(folder, p.floor + ".o")
    with open(source, "w") as f:
        f.write(places.changed(text, p))
    flags = ["-std=c++17", "-O1", "-w", "-I", FOLDER, f'-DSIM_CLANGXX="{os.environ.get("SIM_CLANGXX", "clang++-19")}"',
             f'-DSIM_TESTS="{os.path.join(mutate.TOP, "tests")}"']
    others = [os.path.join(build, "obj", d, n) for d, n in objects(build) if n != p.floor + ".o" or d != "sim"]
    program = os.path.join(folder, "test-sim")
    status, out = mutate.run(["g++"] + flags + ["-c", source, "-o", obj], FOLDER, 200)
    if status == 0:
        status, out = mutate.run(["g++", obj] + others + ["-rdynamic", "-ldl", "-o", program], FOLDER, 100)
    if status:
        return p, "invalid", out[-300:]
    status, out = mutate.run([program, os.path.join(mutate.TOP, "tests/sim")], folder, 120, env={"SIM_CACHE": os.path.join(build, "sim-cache")})
    m = re.search(r"FAIL \S*/(\S+)\n", out)
    shutil.rmtree(folder, ignore_errors=True)
    return p, "missed" if status else "silent", m[1] if m else out.strip()[-100:]


def objects(build):
    """What test-sim is linked of, but main programs."""
    rules = open(os.path.join(FOLDER, "rules.mk")).read()
    names = re.search(r"SIM_OBJECTS +=.*?,\$\(BUILD\)/obj/sim/%\.o,(.*?)\)", rules.replace("\\\n", " "))[1].split()
    cases = re.search(r"SIM_CASES +=.*?,\$\(BUILD\)/obj/corpus/%\.o,(.*?)\)", rules)[1].split()
    return [("sim", n + ".o") for n in names + ["test"]] + [("corpus", n + ".o") for n in cases]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("build")
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--files", default="")
    a.add_argument("--all", action="store_true")
    o = a.parse_args()
    build = os.path.abspath(o.build)
    known = mutate.known_equal(os.path.join(mutate.HERE, "detectors.txt"))
    files = o.files.split(",") if o.files else sorted(n[:-3] for n in os.listdir(FOLDER) if n.endswith(".cc") and n not in ("main.cc", "test.cc"))
    todo = [(build, i, text, p) for i, (text, p) in enumerate(candidates(files, o.all)) if p.fingerprint not in known]
    count = {"missed": 0, "silent": 0, "invalid": 0}
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for (_, _, text, _), (p, what, more) in zip(todo, pool.map(try_one, todo)):
            count[what] += 1
            if what != "missed":
                print(f"{what} {p.fingerprint} {p.floor}.cc:{mutate.line_of(text, p)} {p.function} [{p.kind}] {mutate.in_words(p, text)}\n    {more}", flush=True)
    print(f"checks of the simulator switched off: {count['missed']} missed by tests/sim, {count['silent']} by none, {len(known)} known, {count['invalid']} that do not compile")
    return 1 if count["silent"] or not count["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
