#!/usr/bin/env python3
"""What static analysers say of the header, less what analysed.txt answers.

    analyse.py BUILD HEADER

cppcheck and clang-tidy, each where it is installed. A warning that no row answers is printed, and so is a row that
answers nothing any more; both fail.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ["TMETAL_IMPLEMENTATION", "TMETAL_TRITON", "TMETAL_TUNE", "TMETAL_CACHE", "TMETAL_LAUNCH_CODE"]
# bugprone's checks of style, of what -Wconversion says, and of names that the house gives are left out.
# Values that nothing wrote: the analyser does not know how many operands the verifier lets through, and takes their arrays for
# empty, 40 times; `make uninitialised` and `make fuzz` look at what is read indeed.
TIDY = "-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI*,-clang-analyzer-optin.performance.Padding,bugprone-*," + ",".join(
    "-clang-analyzer-core." + s for s in ("CallAndMessage", "uninitialized.*", "UndefinedBinaryOperatorResult")) + "," + ",".join(
    "-bugprone-" + s for s in ("easily-swappable-parameters", "reserved-identifier", "narrowing-conversions", "macro-parentheses",
                               "assignment-in-if-condition", "branch-clone", "implicit-widening-of-multiplication-result"))
TOOLS = {
    "cppcheck": ["--std=c99", "--enable=warning,performance,portability", "--max-configs=1", "-q", "--template={file}:{line}:{column}: warning: {message} [{id}]"],
    # paths of 1,500 nodes: with the default's 225,000 it runs for more than ten minutes
    "clang-tidy": ["--quiet", "--checks=" + TIDY, *("--extra-arg=" + w for w in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=1500"))],
}


def main():
    build, header = sys.argv[1:3]
    os.makedirs(os.path.join(build, "analyse"), exist_ok=True)
    whole = os.path.join(build, "analyse", "whole.c") # the analyser follows no function of an included file
    with open(whole, "w") as f:
        f.write("".join(f"#define {p}\n" for p in PARTS) + open(header).read())
    text = open(whole).read().split("\n")
    rows = [line.split(" | ") for line in open(os.path.join(HERE, "analysed.txt")).read().splitlines() if line and line[0] != "#"]
    answered, bad, n = set(), 0, 0
    for tool, flags in TOOLS.items():
        if not shutil.which(tool):
            print(f"analyse: no {tool} here")
            answered |= {i for i, r in enumerate(rows) if r[0] == tool}
            continue
        out = subprocess.run([tool, *flags, whole] + (["--", "-std=c99"] if tool == "clang-tidy" else []), stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()
        found = sorted({(int(m[1]), m[3], m[2]) for m in re.finditer(r"whole\.c:(\d+):\d+: (?:warning|error): (.*) \[([\w.,-]+)\]$", out, flags=re.M)})
        n += len(found)
        for at, check, says in found:
            fits = [i for i, r in enumerate(rows) if r[0] == tool and r[1] in check and r[2] in text[at - 1]]
            answered.update(fits)
            if not fits and check != "toomanyconfigs":
                bad += 1
                print(f"{header}:{at - len(PARTS)}: {tool}: {says} [{check}]\n    {text[at - 1].strip()}")
    for i, r in enumerate(rows):
        if i not in answered:
            bad += 1
            print("analysed.txt: nothing needs this answer: " + " | ".join(r))
    print(f"analyse: {n} warnings, {bad} without an answer")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
