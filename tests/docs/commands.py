#!/usr/bin/env python3
"""What the pages tell a reader to type works: commands.py [--fill] BUILD

Runs, in a folder with the examples and the header, every indented line with `build/tmetal` or what echo gives it, and every
`$ ` line of a ```console block. What such a block quotes is what comes out; where `...` stands for what is left out, the other
lines come out in this order. Pictures that are drawn this way are those of docs/img. --fill writes both anew. Targets of make
that pages name exist. docs/adding-*.md have commands for a changed header: diffs.sh runs those."""
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys

import pages


def commands(path):
    """(index of its line, command, indentation, quoted lines) of a page."""
    lines, console, found = open(path, encoding="utf-8").read().split("\n"), None, []
    for k, line in enumerate(lines):
        if re.match(r" *```", line): console = line.index("`") if line.strip() == "```console" else None; continue
        if console is not None and line.strip().startswith("$ "): found.append((k, line.strip()[2:], console, []))
        elif console is not None and found: found[-1][3].append(line[console:])
        elif re.match(r" {4,}(?:echo .* \| )?build/tmetal ", line):
            command, at = line.strip(), k
            while command.endswith("\\"): command, k = command[:-1] + lines[k + 1].strip(), k + 1
            found.append((at, re.sub(r" {2,}[a-z(].*", "", command), 0, []))
    return found


def differs(lines, output):
    """The first quoted line that does not come out, or None."""
    if not lines or not any(l.strip() for l in lines): return None
    if not any(l.strip() == "..." for l in lines):
        return None if lines == output else next((a for a, b in zip(lines, output) if a != b), "the same number of lines")
    rest = [l.strip() for l in output]
    for line in (l.strip() for l in lines):
        if line in ("...", ""): continue
        if line not in rest: return line
        rest = rest[rest.index(line) + 1:]
    return None


def room(build):
    """A folder as a reader has it: a clone in which `make` has run."""
    root = os.path.join(build, "docs", "commands")
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(os.path.join(root, "build"))
    os.makedirs(os.path.join(root, "docs", "img"))
    for name in ("examples", "tests", "tmetal.h"): os.symlink(os.path.abspath(name), os.path.join(root, name))
    for name in ("tmetal", "sim"):
        if os.path.exists(os.path.join(build, name)): os.symlink(os.path.abspath(os.path.join(build, name)), os.path.join(root, "build", name))
    return root


def main():
    fill, build, bad, n = "--fill" in sys.argv, sys.argv[-1], [], 0
    if not os.path.isdir(build): sys.exit("commands: no build folder %s; usage: commands.py [--fill] BUILD" % build)
    root = room(build)
    targets = set(re.findall(r"^([a-z][\w-]*):", "\n".join(open(f).read() for f in ["Makefile"] + glob.glob("tests/*/rules.mk")), flags=re.M))
    environment = dict(os.environ, PATH=os.path.abspath(build) + ":" + os.environ["PATH"])
    environment.pop("TRITON_METAL_DEBUG", None)
    for page in ["README.md"] + sorted(glob.glob("docs/*.md") + glob.glob("examples/**/README.md", recursive=True)):
        text, moved = open(page, encoding="utf-8").read().split("\n"), 0
        for at, command, indent, lines in [] if page.startswith("docs/adding-") else commands(page):
            if command.startswith("make ") or command == "make": continue
            if re.search(r"build/tmetal (run|bench)\b", command) and not os.path.exists(os.path.join(build, "sim")): continue
            n += 1
            done = subprocess.run(["sh", "-c", command], cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
            output = done.stdout.decode(errors="replace").rstrip("\n").split("\n")
            refused = any(re.search(r"error\[TM|^tmetal: |\"severity\":\"error\"", l) for l in lines)
            missing = differs(lines, output)
            if done.returncode and not refused: bad.append("%s:%d: '%s' ends with %d: %s" % (page, at + 1, command, done.returncode, output[:2]))
            elif missing is not None and fill and not any(l.strip() == "..." for l in lines):
                text[at + 1 + moved:at + 1 + moved + len(lines)] = [" " * indent + l if l else l for l in output]
                moved += len(output) - len(lines)
            elif missing is not None: bad.append("%s:%d: '%s' does not print '%s'" % (page, at + 1, command, missing))
        if moved or fill and text != open(page, encoding="utf-8").read().split("\n"): open(page, "w", encoding="utf-8").write("\n".join(text))
        for target in re.findall(r"(?:^ {4,}|`|\$ )make ([a-z][a-z-]+)\b(?![=/])", open(page, encoding="utf-8").read(), flags=re.M):
            if target not in targets: bad.append("%s: make %s does not exist" % (page, target))
    for drawn in sorted(glob.glob(os.path.join(root, "docs", "img", "*"))):
        kept = os.path.join("docs", "img", os.path.basename(drawn))
        if fill: os.makedirs("docs/img", exist_ok=True); shutil.copy(drawn, kept)
        elif not os.path.exists(kept) or not filecmp.cmp(drawn, kept, False): bad.append("%s is not what its command draws: run 'make docs'" % kept)
    if bad: sys.exit("docs: " + "\ndocs: ".join(bad[:20]))
    print("docs: %d commands of the pages run" % n)


main()
