#!/usr/bin/env python3
"""Pages of `tmetal explain --html` without a browser: check.py BUILD FILE.ttir..., or check.py --hostile DIR, which
writes the hostile texts for others.

The page is the template with data in one place, nothing in it comes from elsewhere, the data is what explain --json and
the Metal say, rows of lines lie in the Metal and hold no more registers than the kernel, steps of accesses touch as many lines as are
predicted, and hostile texts stay data.
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


def lines_touched(kernel, access, program, group, turn):
    """Lanes that take part, and lines of 128 bytes that they touch, by the steps; None where something is unknown."""
    steps = kernel["steps"]

    def wrap(v, bits): return v & 1 if bits == 1 else (v + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)

    def evaluate(lane):
        known = {}

        def find(s, turns):
            of, value, op, bits = s.get("of", []), s.get("value", 0), s["op"], s["bits"]
            simple = {"const": value, "thread": group * 32 + lane, "lane": lane, "simdgroup": group, "program": program, "programs": 8,
                      "param": 0 if bits == 64 else 1024}
            if op in simple: return simple[op]
            if op == "unknown": return None
            if op == "carried":
                n = turn_of(of[2], turns)
                return get(of[1], {**turns, of[2]: n - 1}) if n else get(of[0], turns)
            if op == "round":
                if steps[of[0] - 1]["op"] == "unknown": return None
                start, _, step = bounds(of[0], turns)
                return None if start is None or step is None else wrap(start + step * turn_of(of[0], turns), bits)
            v = [get(i, turns) for i in of]
            if op == "select": return None if v[0] is None else v[1 if v[0] else 2]
            if op in ("and", "or") and bits == 1 and (op == "or") in (v[0], v[1]): return int(op == "or")
            if None in v: return None
            a, b = v[0], v[1] if len(v) > 1 else 0
            narrow = steps[of[0] - 1]["bits"]
            ua, ub = a % (1 << narrow), b % (1 << narrow)
            if op[-3:] in ("div", "rem") and not b: return None
            if op == "offset": return a + b * value
            if op in ("sdiv", "srem"):
                q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
                return wrap(q if op == "sdiv" else a - q * b, bits)
            return wrap({"add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "and": lambda: a & b, "or": lambda: a | b,
                         "xor": lambda: a ^ b, "shl": lambda: a << (b & bits - 1), "sshr": lambda: a >> (b & bits - 1),
                         "ushr": lambda: ua >> (b & bits - 1), "udiv": lambda: ua // ub, "urem": lambda: ua % ub, "not": lambda: not a,
                         "sext": lambda: a, "zext": lambda: ua, "trunc": lambda: a, "same": lambda: a, "smax": lambda: max(a, b),
                         "smin": lambda: min(a, b), "umax": lambda: max(ua, ub), "umin": lambda: min(ua, ub), "eq": lambda: a == b,
                         "ne": lambda: a != b, "slt": lambda: a < b, "sle": lambda: a <= b, "sgt": lambda: a > b, "sge": lambda: a >= b,
                         "ult": lambda: ua < ub, "ule": lambda: ua <= ub, "ugt": lambda: ua > ub, "uge": lambda: ua >= ub}[op](), bits)

        def bounds(loop, turns): return [get(i, turns) for i in steps[loop - 1]["of"]]

        def turn_of(loop, turns):   # `turn`, where the loop has so many rounds
            if loop in turns: return turns[loop]
            start, end, step = bounds(loop, turns)
            trips = steps[loop - 1]["op"] == "trips"
            return turn if trips and end and end > turn or not trips and None not in (start, end, step) and start + turn * step < end else 0

        def get(i, turns):
            key = i, tuple(sorted(turns.items()))
            if key not in known: known[key] = find(steps[i - 1], turns)
            return known[key]

        return [get(i, {}) if i else 1 for i in (access["when"], access["address"])]

    at = [evaluate(lane) for lane in range(32)]
    if any(None in x for x in at): return None
    size, at = access["bytes"] // access["lanes"], [x[1] for x in at if x[0]]
    return len(at), len({line for a in at for line in range(a // 128, (a + size - 1) // 128 + 1)})


def judge_steps(kernel):
    """(accesses followed, complaints): where all lanes take part, the steps touch as many lines as were predicted."""
    followed, wrong, groups = 0, [], max(1, kernel["threads_per_threadgroup"] // 32)
    for a in kernel["accesses"][:24]:
        for program, group, turn in ((0, 0, 0), (3, groups - 1, 1)):
            got = a["address"] and lines_touched(kernel, a, program, group, turn)
            if not got or got[0] != a["lanes"]: continue
            followed += 1
            if not a["lines"] <= got[1] <= a["most_lines"]:
                wrong.append("%s: %s of %s at line %u touches %u lines by its steps, %u to %u were predicted" %
                             (kernel["name"], a["kind"], a["value"], a["line"], got[1], a["lines"], a["most_lines"]))
    return followed, wrong


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


def write_hostile(folder):
    hostile = os.path.join(folder, "it's <script>.ttir")
    open(hostile, "wb").write(HOSTILE)
    open(os.path.join(folder, "plain.py"), "wb").write(PLAIN)
    return hostile


def main():
    if sys.argv[1] == "--hostile": return write_hostile(sys.argv[2]) == ""
    build, files = sys.argv[1], sys.argv[2:]
    tmetal, template = os.path.join(build, "tmetal"), open(PAGE).read()
    bad = pages = largest = followed = 0

    def run(*args):
        r = subprocess.run([tmetal, "explain", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return r.stdout.decode("utf-8") if r.returncode == 0 else None

    for m in ELSEWHERE.finditer(template):
        print("page.html asks for something: " + template[m.start():m.start() + 60]); bad += 1
    with tempfile.TemporaryDirectory() as work:
        hostile = write_hostile(work)
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
            for k in json.loads(split(page)[0])["explain"]["kernels"] if pages % 4 == 0 else []:
                n, wrong = judge_steps(k)
                followed += n
                bad += len(wrong)
                for why in wrong: print("%s: %s" % (os.path.basename(f), why))
            pages += 1
            largest = max(largest, len(page))
        if page and [t["file"] for t in json.loads(split(page)[0])["python"]] != ["plain.py"]:
            print("hostile: the Python beside it is not there"); bad += 1
    print("pages: %u, the largest of %u bytes, %u accesses followed by their steps, %u wrong" % (pages, largest, followed, bad))
    return bad != 0 or pages < 2 or not followed


if __name__ == "__main__":
    sys.exit(main())
