#!/usr/bin/env python3
"""How much of tmetal.h the tests reach, by gcov: coverage.py BUILD [--list FILE] [--floor NAME]

Adds up every program below BUILD that was compiled with gcc --coverage and run. A line counts as reached when any of them
ran it; a branch when any took it. Prints a row for each section; --list writes each line that none reached, and
--branches each that has branches none took.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def data_files(build):
    for where, _, names in os.walk(build):
        for n in names:
            if n.endswith(".gcda"): yield os.path.join(where, n)


def counts_of(path):
    """[(line, count, function, [branch counts])] of tmetal.h in one program."""
    r = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out = []
    for text in r.stdout.decode(errors="replace").splitlines():
        if not text.startswith("{"): continue
        for f in json.loads(text)["files"]:
            if os.path.basename(f["file"]) != "tmetal.h": continue
            out += [(x["line_number"], x["count"], x.get("function_name", ""), [b["count"] for b in x["branches"] if not b["throw"]]) for x in f["lines"]]
    return out


def sections(header):
    found = [(n, m.group(1)) for n, text in enumerate(header, 1) for m in [re.match(r" \* >>(\w+)  \[", text)] if m]
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("--header", default="tmetal.h")
    p.add_argument("--list")
    p.add_argument("--branches")
    p.add_argument("--floor", help="list this section alone")
    p.add_argument("--least", type=float, nargs=2, help="lines and branches, in percent: less is a failure")
    a = p.parse_args()
    header = open(a.header).read().splitlines()
    files = sorted(data_files(a.build))
    if not files: sys.exit("coverage: no program was run that gcc --coverage made")
    lines, branches = {}, {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for rows in pool.map(counts_of, files):
            for line, count, function, taken in rows:
                lines[line] = lines.get(line, 0) + count
                ways = branches.setdefault(line, {})
                n, old = ways.get(len(taken), (0, None))
                ways[len(taken)] = (n + 1, [x + y for x, y in zip(old, taken)] if old else taken)
    # other switches, or C++, give a line other branches: those that it has in most programs count
    branches = {line: max(ways.values(), key=lambda w: (w[0], sum(x > 0 for x in w[1])))[1] for line, ways in branches.items()}
    starts = sections(header)

    def section(line):
        name = ""
        for n, s in starts:
            if n <= line: name = s
        return name

    table = {}
    for line, count in lines.items():
        row = table.setdefault(section(line), [0, 0, 0, 0])
        row[0] += 1
        row[1] += count > 0
        row[2] += len(branches.get(line, []))
        row[3] += sum(x > 0 for x in branches.get(line, []))
    print("| section | lines | reached | branches | taken |\n|---|---|---|---|---|")
    for _, name in starts:
        if name in table:
            n, hit, b, taken = table[name]
            print("| `>>%s` | %u | %.1f %% | %u | %.1f %% |" % (name, n, 100 * hit / n, b, 100 * taken / max(b, 1)))
    n, hit, b, taken = (sum(r[i] for r in table.values()) for i in range(4))
    print("| all | %u | %.1f %% | %u | %.1f %% |" % (n, 100 * hit / n, b, 100 * taken / max(b, 1)))
    print("coverage: %u of %u lines (%.2f %%), %u of %u branches (%.2f %%), %u programs" % (hit, n, 100 * hit / n, taken, b, 100 * taken / max(b, 1), len(files)), file=sys.stderr)
    if a.list:
        with open(a.list, "w") as out:
            for line in sorted(lines):
                if not lines[line] and (not a.floor or section(line) == a.floor): out.write("%u:%s\n" % (line, header[line - 1]))
    if a.branches:
        with open(a.branches, "w") as out:
            for line in sorted(branches):
                if lines[line] and not all(branches[line]) and (not a.floor or section(line) == a.floor):
                    out.write("%u: %s of %u: %s\n" % (line, ",".join(str(i) for i, x in enumerate(branches[line]) if not x), len(branches[line]), header[line - 1].strip()))
    if a.least and (100 * hit / n < a.least[0] or 100 * taken / max(b, 1) < a.least[1]): return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
