"""Kernels that are spoiled in one way, and what `tmetal why` names first: python3 tests/why/run.py BUILD [FIRST [LAST]].

Each row of cases.txt has a kernel spoiled and the same as it should be: the cause must come first for the one and must
not for the other. nine of ten must be right, each cause once at least, and every remedy that is named must be better by the model."""
import json
import os
import shlex
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))


def why(build, kernel, options):
    command = [os.path.join(build, "tmetal"), "why", os.path.join(here, "kernels.py"), "--json", "--gpu", "apple-m3-max", "--kernel", kernel] + shlex.split(options)
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode or run.stderr:
        print(run.stderr, end="")
        return None
    return json.loads(run.stdout)


def told(answer):
    return ", ".join("%s %s%s" % (c["cause"], c["share"], " (%s)" % c["remedy"]["edit"] if "remedy" in c else "") for c in answer["causes"]) or "nothing"


UNPROMISED = (  # rows that may begin anywhere: packed vectors read them as well as others
    ("softmax", '--signature "*fp32:16,*fp32:16,i32,i32,i32:16" --const BLOCK=1024 --grid 8192 --args @33554432,@33554432,1024,1024,1024'),
    ("layer_norm", '--signature "*fp16:16,*fp16:16,*fp16:16,*fp16:16,i32,i32:16,fp32" --const BLOCK=2048 --grid 8192 '
                   '--args @33554432,@4096,@4096,@33554432,2048,2048,0.00001'),
    ("scale_tile", '--signature "*fp16:16,*fp16:16,i32" --const M=32,N=64 --grid 64,64 --args @16777216,@16777216,4096'))


def others(build):
    """What else it takes: a recorded launch, IR with its launch, two versions, and what is wrong. How many fail."""
    folder = os.path.join(here, "..", "..", "examples", "kernels")
    launch = ["--grid", "4096", "--args", "@16777216,@16384,1024,1024"]
    row, mean, case = (os.path.join(folder, name) for name in ("row_sum.ttir", "mean_rows.ttir", "row_sum.case"))
    bad = 0
    for words, status, has in (
            (["why", case], 0, "row_sum: "), (["why", row] + launch, 0, "4096 threadgroups"), (["why", row, row] + launch, 0, "1.00 times"),
            (["why", row, mean] + launch, 0, "lines of 128 bytes"), (["why", row], 0, "by the model"),
            (["why", os.path.join(folder, "attention.case"), "--json"], 0, '"resident":8'),  # of 7,680 bytes each in 60 KB
            (["why", row] + launch[:3] + ["x"], 2, ""), (["why", os.path.join(folder, "missing.case")], 1, ""),
            (["why", os.path.join(here, "cases.txt")], 1, ""), (["bench", row] + launch, 0, "--layout TILED"),
            (["bench", case], 0, "--threads 1024"), (["bench", row, "--sizes", "2x2"], 2, ""), (["bench"] + launch, 2, "")):
        run = subprocess.run([os.path.join(build, "tmetal")] + words + ["--gpu", "apple-m3-max"], capture_output=True, text=True)
        if run.returncode != status or has not in run.stdout or (status and not run.stderr):
            print("%s: exit code %d, and it prints\n%s%s" % (" ".join(words), run.returncode, run.stdout, run.stderr))
            bad += 1
    for kernel, options in UNPROMISED:
        answer = why(build, kernel, options)
        if answer is None or "stride" in [c["cause"] for c in answer["causes"]]:
            print("%s: no promise helps it, but it says %s" % (kernel, answer and told(answer)))
            bad += 1
    for name in ("atomics-old_values_summed.case", "atomics-add_f32.case"):  # old values are wanted; other addresses
        if "tl.atomic_" in subprocess.run([os.path.join(build, "tmetal"), "why", os.path.join(here, "..", "kernels", "recorded", name)], capture_output=True, text=True).stdout:
            print("%s: its atomics cannot be combined" % name)
            bad += 1
    return bad


def main():
    build, first, last = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1, int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    rows = [line.split("|") for line in open(os.path.join(here, "cases.txt")) if line.strip() and line[0] != "#"]
    right = bad = n = 0
    named = set()
    for number, (cause, spoiled, options, sound, as_it_should) in enumerate(rows, 1):
        if not first <= number <= last:
            continue
        n += 1
        answers = [why(build, kernel.strip(), text) for kernel, text in ((spoiled, options), (sound, as_it_should))]
        if None in answers:
            bad += 1
            continue
        names = [[c["cause"] for c in a["causes"]][:1] for a in answers]
        ok = names[0] == [cause.strip()] and names[1] != [cause.strip()]
        right += ok
        named |= {cause.strip()} if ok else set()
        bad += cause.strip() == "atomics" and "tl.atomic_" not in told(answers[0])
        for a in answers:
            for c in a["causes"]:
                if "remedy" in c and not float(c["remedy"]["model"]["predicted_us"]) < float(a["model"]["predicted_us"]):
                    print("row %d: a remedy that is not better: %s" % (number, c["remedy"]["edit"]))
                    bad += 1
        print("%2d %-9s %-18s %s" % (number, cause.strip(), spoiled.strip(), "right" if ok else "NOT"))
        if not ok or len(sys.argv) > 2:
            print("   spoiled: %s\n   sound:   %s" % tuple(told(a) for a in answers))
    if n == len(rows):
        for cause in sorted({row[0].strip() for row in rows} - named):
            print("never named: " + cause)
            bad += 1
        bad += others(build)
    print("why: %d of %d name the planted cause first, and no other way round" % (right, n))
    return bad or right < (18 * n + 19) // 20


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
