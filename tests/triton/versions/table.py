#!/usr/bin/env python3
"""The table in docs/triton.md of what differs between versions of Triton is TMI_TRI_CHANGES of tmetal.h.

    python3 tests/triton/versions/table.py [bless]
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/triton.md"
BEGIN, END = "<!-- BEGIN versions -->\n", "<!-- END versions -->\n"


def rows():
    text = (ROOT / "tmetal.h").read_text()
    body = re.search(r"#define TMI_TRI_CHANGES\(X\) \\\n(.*?)\n/\* clang-format on", text, re.S).group(1).replace("\\\n", "")
    for name, first, words in re.findall(r'X\((\w+), (\d), ((?:\s*"[^"]*"\s*,?)+)\)', body):
        parts = re.findall(r'"([^"]*)"(\s*,)?', words)
        columns = [""]
        for part, comma in parts:
            columns[-1] += part
            if comma:
                columns.append("")
        yield name, first, columns


def table():
    lines = ["| text | before | since | first in |\n", "|---|---|---|---|\n"]
    for _, first, (text, before, since) in rows():
        lines.append(f"| {text} | {before} | {since} | 3.{first} |\n".replace("x_f16 > 0.1", "`x_f16 > 0.1`"))
    return "".join(lines)


def main():
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    old, tail = rest.split(END)
    if sys.argv[1:] == ["bless"]:
        PAGE.write_text(head + BEGIN + table() + END + tail)
        return 0
    if old != table():
        print("docs/triton.md: the table of versions is not that of tmetal.h: python3 tests/triton/versions/table.py bless")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
