#!/usr/bin/env python3
"""Launch code in Swift against the launch plan of the same kernel: nothing runs it here, so what it binds and dispatches
is read from its text and compared, in order.

    plan.py FOLDER...        NAME.swift and NAME.json for each kernel
"""
import glob
import json
import os
import re
import sys

TYPES = {"i1": "Bool", "i8": "Int8", "i16": "Int16", "i32": "Int32", "i64": "Int64", "f32": "Float", "f64": "Double"}


def type_of(arg):
    return TYPES.get(arg["type"]) or {1: "Int8", 2: "Int16"}[arg["size"]]


def wanted(plan):
    """What a launch has to do: events in order. Parameters are numbers here, values are (kind, number)."""
    events = []
    for number, k in enumerate(plan["kernels"]):
        groups = {}
        for a in k["args"]: groups.setdefault(a["index"], []).append(a)
        for index, args in groups.items():
            a, kind = args[0], args[0]["kind"]
            if kind == "buffer": events.append(("buffer", a["param"], index))
            elif kind == "scratch": events.append(("scratch", a["id"], index))
            elif kind == "debug": events.append(("debug", number, index, a["bytes"]))
            elif len(args) == 1: events.append(("value", (kind, a["param"]), index))
            else:
                size = (max(x["offset"] + x["size"] for x in args) + 7) // 8 * 8
                events.append(("struct", tuple(((x["kind"], x["param"]), x["offset"]) for x in args), size, index))
        if number: events.append(("barrier",))
        times, grid = k.get("grid_times", {}), k["grid"]
        if grid == "program":
            grid = [str(times[x]) if times.get(x, 1) > 1 else "programs[%d]" % i for i, x in enumerate("xyz")]
            n = k.get("programs_per_threadgroup", 1)
            if n > 1: grid[0] = "(programs[0] + %d) / %d" % (n - 1, n)
        else: grid = [str(x) for x in (grid if isinstance(grid, list) else [grid["x"], grid["y"], grid["z"]])]
        events.append(("dispatch", k["entry"], tuple(grid), k["threads_per_threadgroup"]))
    return events


def given(src, plan, into):
    """The same, read from the text: of the launch, or of that into an encoder of the caller's, which begins with a barrier"""
    at = src.index("    private func encode_")
    names, types = parameters(src[at:], plan)
    body = src[at:src.index("    private func newCommands")]
    if into: body = src[src.index("        into encoder: MTLComputeCommandEncoder,"):at]
    pipelines = re.findall(r'gpu\.pipeline\(library, "(\w+)", threads: (\d+)\)', src)
    number = {name: p for p, name in names.items()}

    def value(text):
        m = re.fullmatch(r"programs\[(\d)\]", text)
        if m: return "programs", int(m.group(1))
        if text in number: return "bytes", number[text]
        for tail, kind in (("_address", "address"), ("_nan_padding", "padding")):
            if text.endswith(tail) and text[:-len(tail)] in number: return kind, number[text[:-len(tail)]]
        raise ValueError("what is %s?" % text)

    events, members, debug = [], None, dict(re.findall(r"let debug_(\d+) = try buffer\(bytes: (\d+)\)", body))
    for line in re.sub(r"\(\n\s+", "(", re.sub(r",\n\s+threads", ", threads", body)).split("\n"):
        for pattern, make in (
                (r"encoder\.setBuffer\((\w+), offset: \1_offset, index: (\d+)\)", lambda a, b: ("buffer", number[a], int(b))),
                (r"encoder\.setBuffer\(scratch_(\d+), offset: 0, index: (\d+)\)", lambda a, b: ("scratch", int(a), int(b))),
                (r"encoder\.setBuffer\(debug_(\d+), offset: 0, index: (\d+)\)", lambda a, b: ("debug", int(a), int(b), int(debug[a]))),
                (r"Self\.bind\(encoder, (.*), index: (\d+)\)", lambda a, b: ("value", value(a), int(b))),
                (r"encoder\.memoryBarrier.*", lambda: ("barrier",)),
                (r"dispatch\(encoder, (\d+), Int\((.*)\), Int\((.*)\), Int\((.*)\), threads: (\d+)\)",
                 lambda p, x, y, z, n: ("dispatch", pipelines[int(p)][0], (x, y, z), int(n))),
                (r"encoder\.setBytes\(bytes, length: (\d+), index: (\d+)\)", lambda a, b: ("struct", tuple(members), int(a), int(b)))):
            m = re.fullmatch(r"\s*" + pattern, line.split(" //")[0])
            if m: events.append(make(*m.groups()))
        if "var bytes =" in line: members = []
        m = re.search(r"Self\.put\((.*), into: &bytes, at: (\d+)\)", line)
        if m: members.append((value(m.group(1)), int(m.group(2))))
    if into: events = events[1:] if events[:1] == [("barrier",)] else ["no barrier"]
    return events, types, pipelines


def parameters(body, plan):
    """Parameter numbers with their names in Swift, and with their types."""
    head = body[:body.index("throws")]
    listed = re.findall(r"_ (\w+): (\w+|\[Int32\])", head)
    listed = [(n, t) for n, t in listed if n not in ("commands", "encoder", "programs") and not re.search(r"_(offset|nan_padding)$", n)]
    numbers = sorted({a["param"] for k in plan["kernels"] for a in k["args"] if a["kind"] in ("buffer", "bytes", "address")})
    return dict(zip(numbers, [n for n, _ in listed])), dict(zip(numbers, [t for _, t in listed]))


def differences(src, plan):
    should = wanted(plan)
    for into in (False, True) if "        into encoder:" in src else (False,):
        events, types, pipelines = given(src, plan, into)
        for a, b in zip(should, events):
            if a != b: return "the plan says %s, the file %s" % (a, b)
        if len(should) != len(events): return "%d steps instead of %d" % (len(events), len(should))
    for k in plan["kernels"]:
        for a in k["args"]:
            want = "MTLBuffer" if a["kind"] in ("buffer", "address") else type_of(a) if a["kind"] == "bytes" else None
            if want and types.get(a["param"]) != want: return "%s is %s, not %s" % (a["name"], types.get(a["param"]), want)
    threads = {}
    for k in plan["kernels"]: threads[k["entry"]] = max(threads.get(k["entry"], 0), k["threads_per_threadgroup"])
    if dict((n, int(t)) for n, t in pipelines) != threads: return "pipelines are %s" % pipelines
    msl = max(k["msl"] for k in plan["kernels"])
    if "%s << 16 + %s" % tuple(msl.split(".")) not in src: return "it is not for Metal " + msl
    if "1000 + %d)" % max(k["family"] for k in plan["kernels"]) not in src: return "it asks for another GPU family"
    for s in plan["scratch"]:
        size = str(s["bytes"] or 4) + (" + %d * Self.count(programs)" % s["program_bytes"] if s.get("program_bytes") else "")
        made = r"let scratch_%d = try buffer\(\s*bytes: " % s["id"]
        if len(re.findall(made + re.escape(size) + r"\)", src)) != len(re.findall(made, src)) or not re.search(made, src):
            return "scratch %d is not of %s bytes" % (s["id"], size)
    return None


def main(folders):
    n = bad = skipped = 0
    for path in sorted(p for f in folders for p in glob.glob(os.path.join(f, "*.swift"))):
        with open(path, encoding="utf-8") as f: src = f.read()
        with open(path[:-6] + ".json", encoding="utf-8") as f: plan = json.load(f)
        if src.count("    private func encode_") != 1:  # several functions: each would want its own part of the plan
            skipped += 1
            continue
        n += 1
        said = differences(src, plan)
        if said:
            bad += 1
            print("%s: %s" % (path, said))
    print("swift: %d files bind and dispatch what their plans say, %d do not; %d of several functions left out" % (n - bad, bad, skipped))
    return bad != 0 or n == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
