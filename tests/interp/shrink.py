#!/usr/bin/env python3
"""Makes a module on which simulator and interpreter differ as small as it goes.

    build/random --write DIR SEED; python3 tests/interp/shrink.py DIR/SEED.ttir

Lines are left out, and results replaced by constants, while build/random says the same of what is left. Writes
FILE.small.ttir beside the file.
"""
import os
import re
import subprocess
import sys
import tempfile

RANDOM = os.environ.get("RANDOM_PROGRAM", "build/random")


def verdicts(texts, directory):
    """What build/random says of each text: the verdict, and the message without its numbers."""
    names = []
    for i, lines in enumerate(texts):
        names.append(os.path.join(directory, f"{i}.ttir"))
        with open(names[-1], "w") as f:
            f.write("\n".join(lines) + "\n")
    out = subprocess.run([RANDOM, "--all"] + names, capture_output=True, text=True).stdout
    found = dict.fromkeys(names, "")
    for line in out.splitlines():
        m = re.match(r"(\S+)\s+(\S+\.ttir): ?(.*)", line)
        if m and m.group(2) in found:
            why = "" if m.group(1) == "DISAGREES" else re.sub(r"\S+/", "", re.sub(r"\d+", "", m.group(3)))[:60]
            found[m.group(2)] = m.group(1) + " " + re.sub(r"\(kernel.*", "", why)
    return [found[n] for n in names]


def depth(line):
    return line.count("{") - line.count("}")


def chunks(lines, size):
    """Runs of lines that open and close as many braces."""
    for first in range(len(lines) - size, -1, -1):
        run = lines[first:first + size]
        if any(s.startswith(("//!", "module", "  tt.func public")) or s in ("}", "  }") or "tt.return" in s for s in run):
            continue
        level = 0
        for s in run:
            level += depth(s)
            if level < 0:
                break
        if level == 0:
            yield lines[:first] + lines[first + size:]


def region_sizes(lines):
    """How long the regions are."""
    open_at, sizes = [], set()
    for i, s in enumerate(lines):
        if depth(s) > 0:
            open_at.append(i)
        elif depth(s) < 0 and open_at:
            sizes.add(i - open_at.pop() + 1)
    return {n for n in sizes if n < len(lines) - 4}


def behind_addresses(lines):
    """Names that an address is computed from: with other values, two stores might meet."""
    names = set()
    for s in reversed(lines):
        used = re.findall(r"%\w+", s)
        if "tt.addptr" in s or "=" in s and used and used[0] in names:
            names.update(used)
    return names


def constants(lines):
    """Each result once as a constant instead; combiners stay as they are."""
    keep = behind_addresses(lines)
    for i in range(len(lines) - 1, -1, -1):
        m = re.match(r"( *)(%v\d+) = (?!arith.constant)\S+ .*?(?:(?:->|to|:) )((?:tensor<[\dx]*)?(i\d+|f16|bf16|f32|f64)>?)$", lines[i])
        if not m or m.group(2) in keep:
            continue
        value = "1" if m.group(4)[0] == "i" else "1.0"
        value = "true" if m.group(4) == "i1" else value
        typed = f"dense<{value}> : {m.group(3)}" if m.group(3).startswith("tensor") else value if value == "true" else f"{value} : {m.group(3)}"
        yield lines[:i] + [f"{m.group(1)}{m.group(2)} = arith.constant {typed}"] + lines[i + 1:]


def first_that(want, candidates, directory, at_once=16):
    batch = []
    for c in candidates:
        batch.append(c)
        if len(batch) == at_once:
            for lines, got in zip(batch, verdicts(batch, directory)):
                if got == want:
                    return lines
            batch = []
    for lines, got in zip(batch, verdicts(batch, directory) if batch else []):
        if got == want:
            return lines
    return None


def shrink(lines, directory):
    want = verdicts([lines], directory)[0]
    if not want or want.startswith("agrees"):
        sys.exit(f"nothing is wrong with it: {want}")
    print(want)
    again = True
    while again:
        again = False
        for size in sorted({32, 16, 8, 4, 3, 2, 1} | region_sizes(lines), reverse=True):
            while True:
                smaller = first_that(want, chunks(lines, size), directory)
                if smaller is None:
                    break
                lines, again = smaller, True
        smaller = first_that(want, constants(lines), directory)
        if smaller is not None:
            lines, again = smaller, True
        print(len(lines), "lines", flush=True)
    return lines


def main():
    path = sys.argv[1]
    with open(path) as f, tempfile.TemporaryDirectory() as directory:
        lines = shrink(f.read().splitlines(), directory)
    with open(path[:-5] + ".small.ttir", "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
