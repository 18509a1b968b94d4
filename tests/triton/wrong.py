#!/usr/bin/env python3
"""Kernels written the way people get them wrong, and what tmetal says of each: wrong.txt. Kernels that are right, and the
IR that is made of them: made.txt.

    python3 tests/triton/wrong.py TMETAL          compare
    python3 tests/triton/wrong.py TMETAL bless    write messages and IR anew

A case is `=== what it is | --args | --const | more options`, the text of the file (behind the two imports that every file
has, unless it has its own), behind a line `+++ NAME` the text of a module of that name, and after a line `---` what tmetal prints, of `places: ...` with line
and column of each operation, from 0. A wrong one must be refused, with the line, the reason and, but for a few, a
way out.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HEAD = "import triton\nimport triton.language as tl\n\n"


def said(tmetal, folder, places, text, args, consts="", more=""):
    folder.mkdir()
    text, *others = re.split(r"^\+\+\+ (\w+)\n", text, flags=re.M)
    (folder / "kernel.py").write_text(("" if "import triton\n" in text else HEAD) + text)
    command = [tmetal, "compile", "kernel.py", "--kernel", "k", "--args", args, *more.split(), "--emit", "ir"]
    for module, body in zip(others[::2], others[1::2]):
        (folder / (module + ".py")).write_text(body)
        command += ["--module", f"{module}={module}.py"]
    if consts:
        command += ["--const", consts]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    at = dict(re.findall(r'^(#loc\d*) = loc\("kernel.py":(.*)\)$', run.stdout, re.M)) if places else {}
    made = re.sub(r" loc\((.*?)\)|^#loc.*\n|^\n", lambda m: " at " + at[m[1]] if m[1] in at else "", run.stdout, flags=re.M)
    return run.returncode, run.stderr + made


def compared(tmetal, name, wanted_code, bless):
    """The texts that came, and how many of them should not have."""
    path = Path(__file__).with_name(name)
    out, bad = [], 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = []
        for number, case in enumerate(path.read_text().split("=== ")[1:]):
            head, _, rest = case.partition("\n")
            text, _, want = rest.partition("---\n")
            title, *words = (part.strip() for part in head.split("|"))
            cases.append((head, text, want, title, pool.submit(said, tmetal, Path(folder, str(number)), title.startswith("places: "), text, *words)))
        for head, text, want, title, answer in cases:
            code, got = answer.result()
            if code != wanted_code or (code and "error[TM" not in got):
                bad += 1
                print(f"{title}: exit code {code} instead of {wanted_code}\n{got}")
            elif got != want and not bless:
                bad += 1
                print(f"{title}: gives\n{got}instead of\n{want}")
            out.append(f"=== {head}\n{text}---\n{got}")
    if bless:
        path.write_text("".join(out))
    return out, bad


def main():
    tmetal = str(Path(sys.argv[1]).resolve())
    bless = sys.argv[2:] == ["bless"]
    out, bad = compared(tmetal, "wrong.txt", 1, bless)
    header = (Path(__file__).parents[2] / "tmetal.h").read_text()
    rows = re.findall(r"X\((\d+), ", re.search(r"#define TMETAL_TRITON_DIAGS\(X\)(?:.*\\\n)+.*", header).group(0))
    for code in rows:
        if f"error[TM{code}]" not in "".join(out):
            bad += 1
            print(f"no case for TM{code}")
    made, not_made = compared(tmetal, "made.txt", 0, bless)
    print(f"wrong kernels: {len(out)}, {bad} not refused as they should be; right ones: {len(made)}, {not_made} not as they should be")
    return 1 if bad or not_made else 0


if __name__ == "__main__":
    sys.exit(main())
