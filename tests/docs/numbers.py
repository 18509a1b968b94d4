"""Numbers that pages state about this repository: numbers.py prints them into the pages, numbers.py --check compares.

A row: a page, a pattern whose one group is the number, and the number. Sizes are rounded, so that not every change moves them."""
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


HEADER = read("tmetal.h")


def rounded(n, to):
    return "{:,}".format(max(to, (n + to // 2) // to * to))


def section(*names):
    """Lines of these sections of the header."""
    parts = re.split(r"^ \* >>(\w+)  \[", HEADER, flags=re.M)
    return sum(text.count("\n") for name, text in zip(parts[1::2], parts[2::2]) if name in names)


def kernels_counted():
    return sum(1 for line in read("tests/sim/counters.txt").split("\n") if line and line[0] != "#")


def recorded():
    return sum(name.endswith(".case") for d in ("tests", "examples") for _, _, names in os.walk(os.path.join(TOP, d)) for name in names)


ROWS = [
    ("README.md", r"over ([\d,]+) of our\sown", "{:,}".format(recorded() // 100 * 100)),
    ("docs/faq.md", r"header of ([\d,]+) lines", rounded(HEADER.count("\n"), 10000)),
    ("docs/embedding.md", r"launcher of \[launch.md\]\(launch.md\), ([\d,]+) lines", rounded(section("metal"), 100)),
    ("docs/embedding.md", r"cache on disk\]\(launch.md#caching\),\s([\d,]+) lines", rounded(section("cache"), 50)),
    ("docs/embedding.md", r"hosts.md\]\(hosts.md\): ([\d,]+) lines", rounded(section("host"), 100)),
    ("docs/embedding.md", r"tuner\]\(tuning.md\), ([\d,]+) lines", rounded(section("tune"), 100)),
    ("docs/embedding.md", r"from their Python\]\(triton.md\), ([\d,]+) lines", rounded(section("python", "tri", "tl", "triton"), 1000)),
    ("docs/contributing.md", r"counts of ([\d,]+) kernels", str(kernels_counted())),
]


def main():
    bad = 0
    for page, pattern, number in ROWS:
        text = read(page)
        found = re.search(pattern, text)
        if not found:
            print("%s: no sentence is like %s" % (page, pattern))
            bad += 1
        elif found.group(1) != number and "--check" in sys.argv:
            print("%s: it says %s where it is %s: make docs" % (page, found.group(0).replace("\n", " "), number))
            bad += 1
        elif found.group(1) != number:
            with open(os.path.join(TOP, page), "w", encoding="utf-8") as f:
                f.write(text[: found.start(1)] + number + text[found.end(1):])
    print("docs: %d numbers of the pages are those of this repository" % (len(ROWS) - bad))
    return bad


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
