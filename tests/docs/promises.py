#!/usr/bin/env python3
"""Every promise of the prototype's documents has its answer: promises.py [FOLDER OF THE DOCUMENTS]

Each row of promises.txt leads to a heading that is there, and what stands below it has the row's word. Where the documents
are at hand, each of their lines that says something (no heading, no code) belongs to a row."""
import os
import re
import sys

import pages

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = ("met", "otherwise", "no")


def rows():
    for number, line in enumerate(open(os.path.join(HERE, "promises.txt")), 1):
        if not line.strip() or line.startswith("#"): continue
        cells = [c.strip() for c in line.split("|")]
        if len(cells) != 5: sys.exit("promises.txt:%d: five cells are wanted" % number)
        yield number, cells


def says_something(path):
    """The lines of a document that may hold a promise: all but headings, code, empty ones, rules of tables."""
    code = False
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.lstrip().startswith("```"): code = not code
        elif not code and re.search(r"\w", line) and not line.startswith("#"): yield number


def main():
    bad, covered, kinds = [], {}, {}
    for number, (lines, answer, where, word, _) in rows():
        say = lambda text: bad.append("promises.txt:%d: %s" % (number, text))
        page, _, anchor = where.partition("#")
        if answer not in ANSWERS: say("'%s' is not one of %s" % (answer, ", ".join(ANSWERS)))
        if page not in ("migrating.md", "performance.md"): say("answers stand in migrating.md and performance.md, not in %s" % page)
        body = pages.section("docs/" + page, anchor)
        if body is None: say("docs/%s has no heading #%s" % (page, anchor))
        elif not body.strip(): say("nothing stands under docs/%s" % where)
        elif word.lower() not in " ".join(body.lower().split()): say("docs/%s does not speak of '%s'" % (where, word))
        m = re.fullmatch(r"(\d{3}):(\d+)(?:-(\d+))?", lines)
        if not m: say("'%s' names no lines of a document" % lines); continue
        covered.setdefault(m.group(1), set()).update(range(int(m.group(2)), int(m.group(3) or m.group(2)) + 1))
        kinds[answer] = kinds.get(answer, 0) + 1
    if sorted(covered) != ["000", "001", "002", "003", "004"]: bad.append("promises.txt: a document has no row")
    folder = sys.argv[1] if len(sys.argv) > 1 else ""
    seen = 0
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name[:3] not in covered: continue
        seen += 1
        for line in says_something(os.path.join(folder, name)):
            if line not in covered[name[:3]]: bad.append("%s:%d has no row in promises.txt" % (name, line))
    if bad: sys.exit("docs: " + "\ndocs: ".join(bad[:20]))
    print("docs: %d promises have their answers (%s)%s" % (sum(kinds.values()), ", ".join("%s %d" % (k, kinds[k]) for k in ANSWERS), ", no line of the documents is left out" if seen else ""))


main()
