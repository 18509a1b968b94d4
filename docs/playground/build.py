"""The playground as one file: build.py WASM INDEX

What playground.html names (style, script) goes into it, and so do the worker, the compiler and the examples."""
import base64
import gzip
import json
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
kernels = os.path.join(here, "../../examples/kernels")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f: return f.read()


def call_of(name):
    """What a .call file says: the lists as the page has them."""
    said = {"const": []}
    for line in read(kernels, name).splitlines():
        key, value = line.split(" ", 1)
        if key == "const": said["const"].append(value)
        else: said[key] = value
    return said


def examples():
    found = []
    names = sorted(os.listdir(kernels))
    for name in names:
        stem, kind = os.path.splitext(name)
        if kind != ".call": continue
        said = call_of(name)
        found.append({"group": "Triton source", "title": stem, "file": said["file"], "source": read(kernels, said["file"]),
                      "kernel": said["kernel"], "args": said.get("args", ""), "consts": ", ".join(said["const"])})
        if stem == "softmax": found[-1]["first"] = True
    for folder, group, suffixes in [(kernels, "Triton IR", (".ttir",)), (os.path.join(here, "ops"), "Op list", (".json", ".txt"))]:
        for name in sorted(os.listdir(folder)):
            if name.endswith(suffixes): found.append({"group": group, "title": os.path.splitext(name)[0], "file": name, "source": read(folder, name)})
    return found


def main(wasm, index):
    with open(wasm, "rb") as f: packed = gzip.compress(f.read(), 9, mtime=0)
    data = {"wasm": base64.b64encode(packed).decode(), "worker": read(here, "engine.js") + read(here, "worker.js"),
            "page": read(here, "../../examples/tmetal/page.html"), "examples": examples()}
    page = read(here, "playground.html")
    parts = {
        '<link rel="stylesheet" href="playground.css">': "<style>\n" + read(here, "playground.css") + "</style>",
        '<script src="guess.js"></script>': "<script>\n" + read(here, "guess.js") + "</script>",
        '<script src="playground.js"></script>': "<script>\n" + read(here, "playground.js") + "</script>",
        '<script type="application/json" id="data">{}</script>':
            '<script type="application/json" id="data">' + json.dumps(data, ensure_ascii=False).replace("<", "\\u003c") + "</script>",
    }
    for part, text in parts.items():
        if page.count(part) != 1: sys.exit("build.py: playground.html must have once: " + part)
        page = page.replace(part, text)
    for script in ("guess.js", "playground.js"):
        if re.search(r"</script", read(here, script)): sys.exit("build.py: %s ends its own script" % script)
    with open(index, "w", encoding="utf-8") as f: f.write(page)


if __name__ == "__main__": main(*sys.argv[1:])
