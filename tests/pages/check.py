#!/usr/bin/env python3
"""Pages of `tmetal explain --html` without a browser: check.py BUILD FILE.ttir...

The page is the template with data in one place, nothing in it comes from elsewhere, the data is what explain --json and
the Metal say, rows of lines lie in the Metal and hold no more registers than the kernel, and hostile texts stay data.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats"))
from schemas import Checker

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "examples", "tmetal", "page.html")
SCHEMAS = os.path.join(HERE, "..", "..", "docs", "schemas")
MOST = 1 << 20  # bytes of a page
ELSEWHERE = re.compile(r"""\b(src|href|action)\s*=\s*(?!["']?data:)|@import|url\(|\bimport\s*\(|\bfetch\s*\(|XMLHttpRequest|<iframe""")

# Everything that could end a script, a string or a line: in names of values, of functions, of files and in the Python.
HOSTILE = b"""// </script><script>alert(1)</script> \xff\xfe \xe2\x80\xa8 <!-- "quoted" \\ &lt;
module {
  tt.func public @"k</script>\\22&<b>"(%p: !tt.ptr<f32>) {
    %x = tt.get_program_id x : i32 loc("we</script>ird \\22.py":1:2)
    %q = tt.addptr %p, %x : !tt.ptr<f32>, i32 loc("plain.py":2:3)
    %v = arith.constant 1.0 : f32
    tt.store %q, %v : !tt.ptr<f32> loc("plain.py":3:3)
    tt.return
  }
}
"""
PLAIN = b"# </script> \xc3\x28 \xed\xa0\x80 \xf4\x90\x80\x80 \x00 '\\''\n</SCRIPT ><!--\n\tx\r\n"


def split(page):
    head, rest = page.split('id="page-data">', 1)
    data, tail = rest.split("</script>", 1)
    return data, head + 'id="page-data">null</script>' + tail


def rows_of(kernel):
    for name in ("lines", "accesses", "barriers"):
        for row in kernel[name]: yield name, row


def judge(name, page, template, explain):
    data, around = split(page)
    if around != template: yield "around the data it is not page.html"
    if len(page.encode()) > MOST: yield "%u bytes" % len(page.encode())
    if "<" in data or re.search(r"[\x00-\x09\x0b-\x1f\x7f]", data): yield "the data holds what may end it"
    d = json.loads(data)
    for what, x in (("page", d), ("explain", d["explain"]), ("plan", d["plan"])):
        c = Checker(json.load(open(os.path.join(SCHEMAS, what + ".schema.json"))))
        c.check(x, c.schema)
        yield from (what + " " + e for e in c.errors[:3])
    if explain is not None and d["explain"] != explain: yield "its explain is not that of --json"
    if len(d["metal"]) != len(d["explain"]["kernels"]): yield "kernels without Metal"
    for k, metal in zip(d["explain"]["kernels"], d["metal"]):
        text = metal.split("\n")
        if k["lines"] and max(r["registers"] for r in k["lines"]) > k["registers"]: yield k["name"] + ": more registers on a line than in all"
        for list_, row in rows_of(k):
            if not 0 < row["line"] <= len(text) or not text[row["line"] - 1].strip() or text[row["line"] - 1].lstrip().startswith(("//", "#")):
                yield "%s: a row of %s at line %u, where nothing stands" % (k["name"], list_, row["line"])
            if "ir" in row and row["ir"]["line"] > d["ir"]["text"].count("\n") + 1: yield "a place behind the IR"


def main():
    build, files = sys.argv[1], sys.argv[2:]
    tmetal, template = os.path.join(build, "tmetal"), open(PAGE).read()
    bad = pages = largest = 0

    def run(*args):
        r = subprocess.run([tmetal, "explain", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return r.stdout.decode("utf-8") if r.returncode == 0 else None

    for m in ELSEWHERE.finditer(template):
        print("page.html asks for something: " + template[m.start():m.start() + 60]); bad += 1
    with tempfile.TemporaryDirectory() as work:
        hostile = os.path.join(work, "it's <script>.ttir")
        open(hostile, "wb").write(HOSTILE)
        open(os.path.join(work, "plain.py"), "wb").write(PLAIN)
        files.append(hostile)
        for f in files:
            page = run("--html", f)
            if page is None:
                if f == hostile: print("hostile: refused"); bad += 1
                continue
            said = run("--json", f) if pages % 8 == 0 or f == hostile else None
            for why in judge(f, page, template, said and json.loads(said)):
                print("%s: %s" % (os.path.basename(f), why))
                bad += 1
            pages += 1
            largest = max(largest, len(page))
        if page and [t["file"] for t in json.loads(split(page)[0])["python"]] != ["plain.py"]:
            print("hostile: the Python beside it is not there"); bad += 1
    print("pages: %u, the largest of %u bytes, %u wrong" % (pages, largest, bad))
    return bad != 0 or pages < 2


if __name__ == "__main__":
    sys.exit(main())
