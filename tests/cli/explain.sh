#!/bin/sh
# explain and layouts: text, JSON and pictures.
#   tests/cli/explain.sh BUILD
set -eu
build=$1
out=$build/cli
. tests/cli/common

# -- explain: the line that it names is the line of the Metal ---------------------------------------------
gives 0 explain $k/softmax.ttir --threads 64
for part in accesses reductions barriers patterns applied; do says "^$part"; done
says 'max over axis 0 of tensor<256xf32> to %x_6: ROW_MAJOR | COALESCED'
says 'softmax: %5'
cp "$out/out" "$out/explained"
"$tmetal" compile $k/softmax.ttir --threads 64 > "$out/metal"
grep -e '^  line' "$out/explained" | while read -r _ line _; do
    text=$(sed -n "${line}p" "$out/metal" | sed 's/^ *//')
    [ -n "$text" ] && grep -q -F -e "        $text" "$out/explained" || fail "line $line of the Metal does not stand in explain"
done
[ "$(grep -c threadgroup_barrier "$out/metal")" = "$(grep -c '^        threadgroup_barrier' "$out/explained")" ] || fail "explain does not tell of every barrier"
grep -q '^layouts' "$out/explained" && fail "layouts without -v"
gives 0 explain -v $k/softmax.ttir --gpu apple-m2
says '^layouts'
says 'for apple-m2$'
gives 1 explain tests/cases/diagnostics/301_operation.ttir
warns TM301
[ ! -s "$out/out" ] || fail "a refused kernel is explained"
gives 0 explain --html $k/softmax.ttir
says '^<!DOCTYPE html>'
says '"tmetal_page":1,"title":"examples/kernels/softmax.ttir","ops":false'
says '"python":\[{"file":"softmax.py","text":".*def softmax'
gives 0 explain --html $k/softmax.py --kernel softmax --args '*fp32:16, *fp32:16, i32, i32, i32' --const BLOCK=256
says '"file":"examples/kernels/softmax.py","text":".*def softmax'
gives 1 explain --html tests/cases/diagnostics/301_operation.ttir
[ ! -s "$out/out" ] || fail "a refused kernel has a page"
echo 'tt.sum:[64,512]:1' > "$out/sum.ops"
gives 0 explain --html "$out/sum.ops"
says '"ops":true'
gives 0 explain "$out/sum.ops"
says 'contiguous'
gives 2 explain

# -- layouts ------------------------------------------------------------------------------------------------
gives 0 layouts $k/matmul.ttir
says 'ROW_MAJOR | TILED; result of a matrix product'
gives 0 layouts $k/matmul.ttir --value %a_39
[ "$(grep -c '%a_39 tensor' "$out/out")" = 2 ] || fail "--value shows another number of them: whole steps, the others"
[ "$(grep -c '%' "$out/out")" = 2 ] || fail "--value shows others too"
gives 0 layouts $k/matmul.ttir --value a_39
says '%a_39 tensor<32x32xf16>: ROW_MAJOR'
gives 1 layouts $k/matmul.ttir --value nothing
warns "no value 'nothing' has a layout"
gives 0 layouts "$out/sum.ops" --svg "$out/sum.svg"
[ ! -s "$out/out" ] || fail "--svg prints text too"
gives 0 layouts $k/attention.ttir --svg -
cp "$out/out" "$out/attention.svg"
gives 1 layouts tests/cases/diagnostics/301_operation.ttir --svg "$out/none.svg"
[ ! -e "$out/none.svg" ] || fail "a refused kernel is drawn"

# -- What a machine reads -------------------------------------------------------------------------------------
if command -v python3 > /dev/null 2>&1; then
    gives 0 explain $k/attention.ttir --json -o "$out/explain.json"
    gives 0 layouts $k/attention.ttir --json -o "$out/layouts.json"
    "$tmetal" compile $k/attention.ttir > "$out/metal"
    python3 - "$out" <<'PY' || fail "JSON or SVG is not as it should be"
import json, re, sys, xml.dom.minidom
out = sys.argv[1]
metal = open(out + "/metal").read().split("\n")
explain = json.load(open(out + "/explain.json"))
assert explain["tmetal_explain"] == 1
kernel = explain["kernels"][0]
assert len(kernel["accesses"]) >= 4 and len(kernel["barriers"]) >= 3 and kernel["patterns"] and kernel["remarks"]
for a in kernel["accesses"] + kernel["barriers"]:
    assert metal[a["line"] - 1].strip() == a["metal"].strip(), a
    assert a["reason"] and a["python"]["file"].endswith(".py") and a["ir"]["line"]
for a in kernel["accesses"]:
    assert a["lines"] <= a["most_lines"] and a["bytes"] == a["lanes"] * a["width"] * {"f16": 2, "f32": 4}[a["type"]], a
layouts = json.load(open(out + "/layouts.json"))
assert layouts["kernels"][0]["layouts"] == kernel["layouts"]
for l in kernel["layouts"]:
    if "lanes" not in l: continue
    numbers = lambda key: " ".join([key] + [str(x) for x in l[key + "s"]])
    parts = [numbers("register"), numbers("lane")] + ([numbers("simdgroup")] if l["simdgroups"] else [])
    assert l["map"] == " | ".join(parts), l
# a picture: well-formed, as wide as its place, nothing beyond its edges, no two boxes over each other
for name in "sum", "attention":
    svg = xml.dom.minidom.parse(f"{out}/{name}.svg").documentElement
    _, _, width, height = (int(x) for x in svg.getAttribute("viewBox").split())
    assert svg.getAttribute("width") == "100%" and width == 400
    boxes = [[int(r.getAttribute(k)) for k in ("x", "y", "width", "height")] for r in svg.getElementsByTagName("rect") if r.getAttribute("x")]
    assert len(boxes) > 60
    seen = {}
    for x, y, w, h in boxes:
        assert 0 <= x and x + w <= width and 0 <= y and y + h <= height, (x, y, w, h)
        for row in range(y, y + h):
            for a, b in seen.get(row, []): assert x >= b or x + w <= a, "boxes overlap"
            seen.setdefault(row, []).append((x, x + w))
    for t in svg.getElementsByTagName("text"):
        text = t.firstChild.data
        size = {"head": 13, "part": 11}.get(t.getAttribute("class"), 8 if "tiny" in t.getAttribute("class") else 9.5 if t.getAttribute("class").split()[0] in ("mid", "end") else 10.5)
        long = len(text) * size * 0.61
        x = float(t.getAttribute("x"))
        left = x - long / 2 if "mid" in t.getAttribute("class") else x - long if "end" in t.getAttribute("class") else x
        assert left >= 0 and left + long <= width and float(t.getAttribute("y")) <= height, (text, left, long)
    style = svg.getElementsByTagName("style")[0].firstChild.data
    assert "prefers-color-scheme: dark" in style
PY
fi
echo "cli: $n command lines of explain and layouts are right"
