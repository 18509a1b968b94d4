#!/usr/bin/env python3
"""Links of the pages lead somewhere, headings included; every page of docs/ is two clicks from README.md at most, so every
public function too; no page has more than 400 lines that people wrote."""
import os
import re
import sys

import pages

CLICKS, LINES = 2, 400
bad = []


def links(path):
    for m in re.finditer(r"\]\(([^)\s]+)\)|<a href=\"([^\"]+)\"|<img src=\"([^\"]+)\"", pages.without_code(open(path, encoding="utf-8").read())):
        target = m.group(1) or m.group(2) or m.group(3)
        if not re.match(r"(https?|mailto):", target): yield target


def written(path):
    """Lines that no program wrote."""
    text = open(path, encoding="utf-8").read()
    if text.startswith("<!-- Written by"): return 0
    return len(re.sub(r"<!-- (BEGIN|timed)\b.*?<!-- (END|end)\b", "", text, flags=re.S).split("\n"))


def main():
    leads = {}
    for page in pages.all_pages():
        leads[page] = set()
        for link in links(page):
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(target): bad.append("%s leads to %s, which is not there" % (page, link)); continue
            leads[page].add(target)
            if anchor and target.endswith(".md") and anchor not in pages.anchors(target): bad.append("%s leads to %s, which has no such heading" % (page, link))
    near = {"README.md"}
    for _ in range(CLICKS): near |= {t for p in near if p in leads for t in leads[p]}
    docs = [p for p in leads if p.startswith("docs/")]
    bad.extend("%s is more than %d clicks away from README.md" % (p, CLICKS) for p in docs if p not in near)
    bad.extend("%s has %d lines, %d are the most" % (p, written(p), LINES) for p in docs + ["README.md"] if written(p) > LINES)
    if bad: sys.exit("docs: " + "\ndocs: ".join(bad[:20]))
    print("docs: %d links of %d pages lead somewhere" % (sum(map(len, leads.values())), len(leads)))


main()
