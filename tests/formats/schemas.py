#!/usr/bin/env python3
"""What the command line writes as JSON, against docs/schemas: schemas.py BUILD [FILE.ttir, FILE.py or list ...]
Or the reports of make device: schemas.py --reports FILE.json ...

Reads the part of JSON Schema that those files use; a word that it does not know is an error. Every key of a schema
must be written by some input, unless RARE names it, so that the schemas say no more than there is.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)}
SAID = {"$schema", "$defs", "title", "description"}

LISTS = [
    "tt.sum:[64,1024]:1\ntt.softmax:[8,256]:1\n",
    json.dumps({"ops": [
        {"type": "tt.matmul", "id": "h", "inputs": ["x", "w"], "input_shapes": [[64, 256], [256, 512]], "dtype": "f16"},
        {"type": "tt.add", "id": "b", "inputs": ["h", "bias"], "input_shapes": [None, [512]], "dtype": "f16"},
        {"type": "tt.max", "id": "m", "inputs": ["b"], "args": {"axis": 1}},
        {"type": "tt.gelu", "id": "y", "inputs": ["b"], "args": {"approximate": "tanh"}}]}),
]

# Keys that no input of this test brings: remarks on no kernel; warnings of Apple's compiler; what only the simulator counts;
# options.mlx = 2, which the command line does not ask for (tests/mlx does).
RARE = {"explain": "$.remarks[]", "mlx": "$.grid_times", "device_report": "$.warnings[]", "why": ("$.simulator", "$.causes[].remedy.simulator", "$.versions[].simulator")}


class Checker:
    def __init__(self, schema):
        self.schema, self.errors, self.seen = schema, [], set()

    def fail(self, at, why):
        self.errors.append("%s: %s" % (at, why))

    def is_type(self, v, names):
        for name in names if isinstance(names, list) else [names]:
            if (name == "boolean" if isinstance(v, bool) else isinstance(v, TYPES[name])): return True
        return False

    def check(self, v, s, at="$", key="$"):
        if "$ref" in s: return self.check(v, self.schema["$defs"][s["$ref"].rsplit("/", 1)[1]], at, key)
        for word, x in s.items():
            if word in SAID: continue
            rule = getattr(self, "is_" + word, None) if word not in ("properties", "items", "additionalProperties", "required") else self
            if rule is None: self.fail(at, "the schema says %s, which this test does not know" % word)
            elif rule is not self and not rule(v, x): self.fail(at, "%s is not %s %s" % (json.dumps(v)[:60], word, json.dumps(x)[:60]))
        if isinstance(v, dict):
            for k in s.get("required", []):
                if k not in v: self.fail(at, "has no " + k)
            for k, x in v.items():
                known = s.get("properties", {}).get(k, s.get("additionalProperties", {}))
                if known is False: self.fail(at, "has the key %s, of which the schema says nothing" % k)
                elif known is not True:
                    self.seen.add(key + "." + k)
                    self.check(x, known, at + "." + k, key + "." + k)
        if isinstance(v, list):
            for i, x in enumerate(v): self.check(x, s.get("items", {}), "%s[%u]" % (at, i), key + "[]")

    def is_const(self, v, x): return v == x and isinstance(v, bool) == isinstance(x, bool)
    def is_enum(self, v, x): return v in x
    def is_minimum(self, v, x): return not isinstance(v, int) or v >= x
    def is_maximum(self, v, x): return not isinstance(v, int) or v <= x
    def is_minItems(self, v, x): return not isinstance(v, list) or len(v) >= x
    def is_maxItems(self, v, x): return not isinstance(v, list) or len(v) <= x

    def is_oneOf(self, v, x):
        right = []
        for s in x:
            inner = Checker(self.schema)
            inner.check(v, s)
            if not inner.errors: right.append(s)
        return len(right) == 1

    def keys(self, s=None, at="$"):
        s = self.schema if s is None else s
        if "$ref" in s: s = self.schema["$defs"][s["$ref"].rsplit("/", 1)[1]]
        for k, x in s.get("properties", {}).items():
            yield at + "." + k
            yield from self.keys(x, at + "." + k)
        if "items" in s: yield from self.keys(s["items"], at + "[]")


def outputs(build, files, work):
    """(schema, name, text) of everything that is written."""
    tmetal = os.path.join(build, "tmetal")

    def run(*args, ok=(0,)):
        r = subprocess.run([tmetal, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return r.stdout.decode() if r.returncode in ok else None

    report = os.path.join(work, "agx.json")  # of another text: the page carries it and says so
    with open(report, "w") as file: file.write('{"kernels": []}')
    for f in files:
        for what, args in (("plan", ("compile", "--emit", "plan", "--parts")), ("plan", ("compile", "--emit", "plan", "--alias", "0=1")),
                           ("plan", ("compile", "--emit", "plan", "--two-stage", "4")),
                           ("explain", ("explain", "--json")), ("layouts", ("layouts", "--json")),
                           ("transform", ("transform", "--json")), ("mlx", ("compile", "--emit", "mlx")),
                           ("page", ("explain", "--html", "--agx", report))):
            if f.endswith(".py"): continue
            text = run(*args, f)
            yield what, f, text and what == "page" and text.split('id="page-data">')[1].split("</script>")[0] or text
        if f.endswith(".py"): yield "kernels", f, run("kernels", "--json", f)
        else:
            out = os.path.join(work, "analysis.json")
            if run("analyze", f, "-o", out, ok=(0, 1)) is not None and os.path.exists(out):
                yield "analysis", f, open(out).read()
    yield "census", "files", run("census", "--json", *[f for f in files if f.endswith(".ttir")], ok=(0, 1))
    wrong = os.path.join(work, "wrong.ttir")
    open(wrong, "w").write("tt.func @f() {\n  tt.nothing\n}\n")
    yield "census", "a wrong file", run("census", "--json", wrong, ok=(0, 1))
    yield "diagnostics", "a wrong file", run("explain", "--json", wrong, ok=(1,))
    axis = os.path.join(work, "axis.ttir")
    open(axis, "w").write(open("tests/cases/diagnostics/204_axis.ttir").read())
    yield "diagnostics", "a wrong axis", run("compile", "--json", axis, ok=(1,))
    yield "diagnostics", "no such GPU", run("compile", "--json", "--gpu", "m77", files[0], ok=(1,))
    yield "diagnostics", "a right file", run("compile", "--json", next(f for f in files if f.endswith(".ttir")))
    out = os.path.join(work, "refused.json")
    run("analyze", wrong, "-o", out, ok=(0, 1))
    yield "analysis", "a wrong file", open(out).read()
    for what in ("gpus", "ops", "check"): yield what, what, run(what, "--json", ok=(0, 1))
    if os.path.exists(os.path.join(build, "sim")): yield "bench", "bench", run("bench", "--json")
    kernels, sound = os.path.join("examples", "kernels"), ("--gpu", "apple-m3-max", "--json")
    yield "why", "a recorded launch", run("why", *sound, os.path.join(kernels, "softmax.case"))
    yield "why", "two files", run("why", *sound, os.path.join(kernels, "row_sum.case"), os.path.join(kernels, "mean_rows.case"))
    yield "why", "one's own kernel", run("bench", *sound, os.path.join(kernels, "row_sum.case"))
    for f in files:
        if f.endswith(".json"): yield "oplist", f, open(f).read()


def main():
    build, files = sys.argv[1], sys.argv[2:]
    reports = build == "--reports"
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "schemas")
    checkers = {n[:-len(".schema.json")]: Checker(json.load(open(os.path.join(folder, n)))) for n in os.listdir(folder)}
    counts, bad = {}, 0
    with tempfile.TemporaryDirectory() as work:
        for i, text in enumerate([] if reports else LISTS):
            name = os.path.join(work, "list%u.%s" % (i, "json" if text[0] == "{" else "txt"))
            open(name, "w").write(text)
            files.append(name)
        for what, name, text in ((("device_report", f, open(f).read()) for f in files) if reports else outputs(build, files, work)):
            if text is None: continue
            if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text): print("%s of %s: holds control bytes" % (what, name)); bad += 1
            c = checkers[what]
            c.errors = []
            c.check(json.loads(text), c.schema)
            for e in c.errors[:5]: print("%s of %s: %s" % (what, name, e))
            bad += len(c.errors)
            counts[what] = counts.get(what, 0) + 1
    for what, c in sorted(checkers.items()):
        if (what == "device_report") != reports or what == "bench" and what not in counts: continue
        if what not in counts:
            print("%s: nothing was written" % what)
            bad += 1
            continue
        if what == "oplist": continue  # read, not written
        for key in sorted(set(c.keys()) - c.seen):
            if key.startswith(RARE.get(what, " ")): continue
            print("%s: no input has the key %s" % (what, key))
            bad += 1
    print("schemas: %s, %u wrong" % (", ".join("%u %s" % (n, w) for w, n in sorted(counts.items())), bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
