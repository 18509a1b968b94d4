"""One cost model: why, bench, tune and explain report the same time, floor and registers, and no time is below its floor.

python3 tests/why/model.py BUILD [FOLDER]: of 40 recorded launches in tests/kernels/recorded and examples/kernels. With FOLDER, of every
recorded launch below it, the floor alone: `python3 tests/why/model.py build ../shared/corpus`."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def launch_of(case):
    """--grid and --args of a recorded launch; None: a descriptor is passed."""
    sizes, args, grid = [], [], ""
    for line in open(case):
        word = line.split()
        if word[:1] == ["grid"]:
            grid = ",".join(word[1:])
        elif word[:1] == ["buffer"]:
            sizes.append(int(word[3]))
        elif word[:2] == ["arg", "ptr"]:
            args.append("@%d" % sizes[int(word[4])])
        elif word[:2] == ["arg", "desc"]:
            return None
        elif word[:1] == ["arg"]:
            args.append(word[2] if word[1][0] == "i" else repr(float.fromhex(word[2])))
    return ["--grid", grid, "--args", ",".join(args)]


def counts(tool, case):
    """By the model, without trials: two versions that are the same."""
    text = run([tool, "why", case, case, "--json"])
    return json.loads(text)["versions"][0]["model"] if text else None


def compare(tool, case):
    """What the four tools disagree in."""
    model = counts(tool, case)
    if not model:
        return ["why does not read it"]
    bench = json.loads(run([tool, "bench", case, "--json"]) or "{}")["versions"][0]
    wrong = [] if bench["asked"] == "as it is asked for" and bench["model"] == model else ["bench: %s" % bench["model"]]
    time = "%.1f us by the model" % float(model["predicted_us"])
    told, explained = run([tool, "why", case, "--threads", str(model["threads"])]) or "", run([tool, "explain", case]) or ""
    lines = explained.splitlines()[-2:]
    if not lines[0].startswith(time) or "take %.1f us" % float(model["floor_us"]) not in lines[1]:
        wrong.append("explain: %s" % lines)
    held = [int(n) for n in re.findall(r"about (\d+) of \d+ registers per thread", explained)]
    if not held or max(held) != model["registers"]:
        wrong.append("explain: %s registers" % held)
    if "registers per thread" not in told:
        wrong.append("why: " + told[:200])
    tuned = run([tool, "tune", case[:-4] + "ttir", "--strategy", "model"] + launch_of(case)) or ""
    wanted = "planned: %s, the bytes alone take %.1f us; about %d registers per thread\n" % (time, float(model["floor_us"]), model["registers"])
    if wanted not in tuned:
        wrong.append("tune: " + tuned.split("\n")[0])
    return wrong + ([] if float(model["predicted_us"]) >= float(model["floor_us"]) else ["below its floor"])


def floors(tool, folder):
    cases = sorted(glob.glob(os.path.join(folder, "**", "*.case"), recursive=True))
    read = [(case, counts(tool, case)) for case in cases]
    below = [case for case, model in read if model and float(model["predicted_us"]) < float(model["floor_us"])]
    for case in below:
        print("below its floor: " + case)
    print("why: %d of %d launches counted, %d predicted below the floor" % (sum(m is not None for _, m in read), len(cases), len(below)))
    return len(below)


def main():
    tool = os.path.join(sys.argv[1], "tmetal")
    if len(sys.argv) > 2:
        return floors(tool, sys.argv[2])
    cases = [c for d in ("tests/kernels/recorded", "examples/kernels") for c in sorted(glob.glob(os.path.join(here, "..", "..", d, "*.case")))]
    cases = [c for c in cases if launch_of(c)]
    cases = cases[::len(cases) // 40][:40]
    bad = 0
    with tempfile.TemporaryDirectory() as alone:  # without the simulator beside it, which bench would run
        tool = shutil.copy(tool, alone)
        for case in cases:
            wrong = compare(tool, os.path.normpath(case))
            bad += bool(wrong)
            for line in wrong:
                print("%s: %s" % (os.path.basename(case), line))
    print("why: one model in %d of %d launches" % (len(cases) - bad, len(cases)))
    return bad


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
