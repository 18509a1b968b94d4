#!/usr/bin/env python3
"""Spelling of the pages, by aspell: words of ours stand in words.txt, a line each. spelling.py --fill rewrites that list."""
import os
import re
import shutil
import subprocess
import sys

import pages

WORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.txt")


def prose(path):
    """A page without code, links, marks and names: what is left is English."""
    text = pages.without_code(open(path, encoding="utf-8").read())
    if path.startswith("docs/api/"): text = re.sub(r'"[^"]*"', " ", text)  # values, as the header quotes them
    text = re.sub(r"<!--.*?-->|<[^>]*>", " ", text, flags=re.S)
    text = re.sub(r"\]\([^)]*\)|https?://\S+|\\(?=_)", " ", text)
    return re.sub(r"\S*[\w)][_/=@#.:]\w\S*|\S*\d\S*|\b\w*[a-z][A-Z]\w*", " ", text)


def unknown(path, known):
    said = subprocess.run(["aspell", "list", "--lang=en", "--encoding=utf-8", "--ignore=2"], input=prose(path), stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    return sorted(w for w in set(said.split()) if w not in known and w.lower() not in known)


def main():
    if not shutil.which("aspell"): print("spelling: no aspell here (Debian: aspell, aspell-en): skipped"); return
    fill = "--fill" in sys.argv
    known = set() if fill else set(open(WORDS).read().split())
    found = {p: unknown(p, known) for p in pages.all_pages()}
    if fill:
        open(WORDS, "w").write("\n".join(sorted({w for words in found.values() for w in words})) + "\n")
        return
    bad = ["%s: %s" % (p, " ".join(words)) for p, words in found.items() if words]
    if bad: sys.exit("spelling: " + "\nspelling: ".join(bad) + "\nmend them, or put them into tests/docs/words.txt")
    print("spelling: %d pages, nothing misspelt" % len(found))


main()
