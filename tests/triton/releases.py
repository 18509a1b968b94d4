#!/usr/bin/env python3
"""Do the project's own kernels compile, and compute what was recorded, when another release of Triton made their TTIR?

    python3 tests/triton/releases.py [--tmetal PROGRAM] [--jobs N] [--calls TEXT] RELEASE...

RELEASE is a version such as 3.9.0, installed from the package index into build/triton-VERSION unless it is there, or the
path of a Python that has Triton. No GPU and no PyTorch are needed; `make sim` has to have been run. For each release:

1. Every kernel that has a .call is compiled to TTIR (release_texts.py), into build/releases/VERSION/texts.
2. That text and the recorded one are read and printed by tmetal, their values are numbered, and both are compiled. Where
   they give the same Metal, the recorded launch holds for both.
3. Where they do not, the text is run in the simulator on the recorded bytes.

Prints a line a release, and one for each text that is refused or wrong. What Triton itself refuses is counted by what
it says. Exit code 1 if tmetal refuses a text or it computes something else.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ROOT / "tests/kernels/recorded", ROOT / "examples/kernels"
VALUE = re.compile(r"%[\w$.-]+")


def environment(release, build):
    """The Python that has this release, and the folder for what it makes."""
    if os.sep in release:
        python = release
        version = subprocess.run([python, "-c", "import triton; print(triton.__version__)"], check=True, capture_output=True, text=True).stdout.strip()
    else:
        version, home = release, build / f"triton-{release}"
        python = str(home / "bin/python")
        if not (home / "ready").exists():
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", f"triton=={release}"], check=True)
            (home / "ready").touch()
    return python, version, build / "releases" / version


def make_texts(python, out, calls, jobs):
    parts = [calls[i::jobs] for i in range(jobs) if calls[i::jobs]]
    script = str(Path(__file__).with_name("release_texts.py"))
    running = [subprocess.Popen([python, script, str(out), *map(str, part)], stderr=subprocess.DEVNULL) for part in parts]
    if any(process.wait() for process in running):
        sys.exit(f"releases.py: {script} failed under {python}")


def numbered(text):
    """The same module with values numbered in the order of the text, without locations."""
    numbers = {}
    text = re.sub(r" loc\(#loc\d*\)", "", "\n".join(line for line in text.splitlines() if not line.startswith("#loc")))
    return VALUE.sub(lambda m: f"%{numbers.setdefault(m[0], len(numbers))}", text)


class Compiler:
    def __init__(self, program):
        self.program = program

    def run(self, text, *options):
        result = subprocess.run([self.program, "compile", "-", *options], input=text, capture_output=True, text=True)
        return (result.stdout, None) if result.returncode == 0 else (None, (result.stderr.splitlines() or [f"exit code {result.returncode}"])[0])

    def metal(self, text):
        """Metal that does not depend on names; what is wrong."""
        ir, wrong = self.run(text, "--emit", "ir")
        return (None, wrong) if wrong else self.run(numbered(ir))


def compare(compiler, call, texts):
    """'refused by Triton', 'refused', 'same' or 'differs', and why."""
    new = texts / f"{call.stem}.ttir"
    if not new.exists():
        return "refused by Triton", (texts / f"{call.stem}.refused").read_text().strip()
    metal, wrong = compiler.metal(new.read_text())
    if wrong:
        return "refused", wrong
    recorded, wrong = compiler.metal(call.with_suffix(".ttir").read_text())
    return ("same" if metal == recorded else "differs"), wrong


def simulate(tmetal, cases, calls, texts, jobs):
    """What the simulator says of each case."""
    shutil.rmtree(cases, ignore_errors=True)
    cases.mkdir(parents=True)
    for call in calls:
        shutil.copy(texts / f"{call.stem}.ttir", cases)
        shutil.copy(call.with_suffix(".case"), cases)
        shutil.copy(call.with_suffix(".bin"), cases)
    corpus = Path(tmetal).parent / "corpus"
    report = cases.parent / "simulated.json"
    result = subprocess.run([str(corpus), "--dir", str(cases), "--all", "--jobs", str(jobs), "--json", str(report)],
                            env={**os.environ, "TMETAL": tmetal}, capture_output=True, text=True)
    if result.returncode not in (0, 1):
        sys.exit(f"releases.py: {corpus}: {result.stderr.strip()}")
    return json.loads(report.read_text())


def one_release(release, options, calls):
    python, version, folder = environment(release, Path(options.build))
    texts = folder / "texts"
    make_texts(python, texts, calls, options.jobs)
    compiler = Compiler(options.tmetal)
    with ThreadPoolExecutor(options.jobs) as pool:
        outcome = dict(zip(calls, pool.map(lambda call: compare(compiler, call, texts), calls)))
    count = Counter(kind for kind, _ in outcome.values())
    for call, (kind, why) in outcome.items():
        if kind == "refused":
            print(f"{version}: {call.stem}: {why}")
    differs = [call for call, (kind, _) in outcome.items() if kind == "differs"]
    wrong = []
    if differs:
        report = simulate(options.tmetal, folder / "cases", differs, texts, options.jobs)
        wrong = [case for case in report if case["verdict"] != "right"]
        for case in wrong:
            print(f"{version}: {case['name']}: {case['verdict']}: {case['why'] or case['refusals']}")
    said = Counter(why for kind, why in outcome.values() if kind == "refused by Triton")
    for why, times in said.most_common():
        print(f"{version}: {times} that Triton refuses: {why[:120]}")
    print(f"{version}: {len(calls)} kernels: {count['same']} give the Metal of the recorded text, {len(differs)} differ and ran in the simulator: "
          f"{len(differs) - len(wrong)} right, {len(wrong)} wrong; {count['refused']} refused, {count['refused by Triton']} not made by Triton")
    return len(wrong) + count["refused"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="+", metavar="RELEASE")
    parser.add_argument("--tmetal", default=str(ROOT / "build/tmetal"))
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--calls", default="", help="only kernels whose name holds this")
    options = parser.parse_args()
    options.tmetal = str(Path(options.tmetal).resolve())
    calls = [call for folder in FOLDERS for call in sorted(folder.glob("*.call")) if options.calls in call.stem]
    sys.exit(1 if sum([one_release(release, options, calls) for release in options.releases]) else 0)


if __name__ == "__main__":
    main()
