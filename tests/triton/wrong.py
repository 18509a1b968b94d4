#!/usr/bin/env python3
"""Kernels written the way people get them wrong, and what tmetal says of each: wrong.txt.

    python3 tests/triton/wrong.py TMETAL          compare
    python3 tests/triton/wrong.py TMETAL bless    write the messages anew

A case is `=== what is wrong | --args | --const`, the text of the file (behind the two imports that every file has), and
after a line `---` what tmetal prints. Each must be refused, with the line, the reason and, but for a few, a way out.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = Path(__file__).with_name("wrong.txt")
HEAD = "import triton\nimport triton.language as tl\n\n"


def said(tmetal, folder, args, consts, text):
    (folder / "kernel.py").write_text(HEAD + text)
    command = [tmetal, "compile", "kernel.py", "--kernel", "k", "--args", args]
    if consts:
        command += ["--const", consts]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=20)
    return run.returncode, run.stderr


def main():
    tmetal = str(Path(sys.argv[1]).resolve())
    bless = sys.argv[2:] == ["bless"]
    out, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES.read_text().split("=== ")[1:]:
            head, _, rest = case.partition("\n")
            text, _, want = rest.partition("---\n")
            title, args, consts = (part.strip() for part in head.split("|"))
            code, got = said(tmetal, Path(folder), args, consts, text)
            if code != 1 or "error[TM" not in got:
                bad += 1
                print(f"{title}: exit code {code} instead of 1\n{got}")
            elif got != want and not bless:
                bad += 1
                print(f"{title}: says\n{got}instead of\n{want}")
            out.append(f"=== {head}\n{text}---\n{got}")
    if bless:
        CASES.write_text("".join(out))
    header = (Path(__file__).parents[2] / "tmetal.h").read_text()
    rows = re.findall(r"X\((\d+), ", re.search(r"#define TMETAL_TRITON_DIAGS\(X\)(?:.*\\\n)+.*", header).group(0))
    for code in rows:
        if f"error[TM{code}]" not in "".join(out):
            bad += 1
            print(f"no case for TM{code}")
    print(f"wrong kernels: {len(out)}, {bad} not refused as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
