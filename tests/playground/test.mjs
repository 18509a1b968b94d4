// The playground's compiler gives what the command line gives, within its sizes and times.
//   node test.mjs BUILD
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";

const build = process.argv[2];
const gpu = "apple-m3-max";
const MOST_BYTES = 1500000, MOST_MS = 5;
const module = new WebAssembly.Module(readFileSync(`${build}/playground/tmetal.wasm`));
const engine = new Function(readFileSync("docs/playground/engine.js", "utf8") + "; return tmetalEngine;")();
const tmetal = engine(module);
const begun = performance.now();
tmetal.answer({ want: "metal", source: readFileSync("examples/kernels/softmax.ttir", "utf8") });
const first = performance.now() - begun;
let bad = 0, done = 0;
const fail = (what) => { console.error("test-playground: " + what); bad++; };
const same = (what, found, wanted) => {
  done++;
  if (found !== wanted) fail(`${what}: ${typeof found === "string" && found.length > 200 ? "another text than the command line's" : `${found}, not ${wanted}`}`);
};
const native = (...args) => execFileSync(`${build}/tmetal`, ["compile", "--gpu", gpu, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
const answer = (fields) => tmetal.answer({ want: "metal", gpu, ...fields });

// -- The same bytes ------------------------------------------------------------------------------------------------
const kernels = "examples/kernels/", ops = "docs/playground/ops/";
const read = (path) => readFileSync(path, "utf8");
const inputs = [];
for (const name of readdirSync(kernels).sort()) {
  if (name.endsWith(".ttir")) inputs.push({ kind: "ttir", file: kernels + name, source: read(kernels + name), args: [] });
  if (!name.endsWith(".call")) continue;
  const said = read(kernels + name).trim().split("\n").map((line) => line.split(/ (.*)/s));
  const of = (key) => said.filter(([k]) => k === key).map(([, value]) => value).join(", ");
  const file = kernels + of("file");
  inputs.push({ kind: "triton", file, source: read(file), fields: { kernel: of("kernel"), args: of("args"), consts: of("const") },
    args: ["--kernel", of("kernel"), "--args", of("args"), ...(of("const") ? ["--const", of("const")] : [])] });
}
for (const name of readdirSync(ops).sort()) inputs.push({ kind: "ops", file: ops + name, source: read(ops + name), args: [] });
for (const { kind, file, source, fields, args } of inputs) {
  const told = answer({ file, source, ...fields });
  same(`${file}: read as ${told.kind}`, told.kind === kind, true);
  same(file, told.text, native(file, ...args));
}
const softmax = { file: kernels + "softmax.ttir", source: read(kernels + "softmax.ttir") };
for (const want of ["plan", ...tmetal.tables.hosts.map(([name]) => name)]) same(want, tmetal.answer({ want, gpu, ...softmax }).text, native("--emit", want, softmax.file));

// What explain --html shows, but for Python that stands beside a .ttir.
const command = (...args) => execFileSync(`${build}/tmetal`, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 26 });
for (const { kind, file, source, fields, args } of inputs.filter(({ file }) => /\/(attention|row_sum|softmax|layer)\./.test(file))) {
  const wanted = JSON.parse(/id="page-data">(.*?)<\/script>/s.exec(command("explain", "--html", "--gpu", gpu, ...args, file))[1]);
  if (kind !== "triton") wanted.python = [];
  same(`the page of ${file}`, JSON.stringify(tmetal.answer({ want: "page", gpu, file, source, ...fields }).page), JSON.stringify(wanted));
}

// -- Guesses: each launch of the examples compiles with them, and what they rest on is in the text --------------------------
const guessLaunch = new Function(read("docs/playground/guess.js") + "; return guessLaunch;")();
const kernelsOf = (source) => tmetal.answer({ want: "kernels", kind: "triton", source }).sources;
const guessed = (source, name) => {
  const all = kernelsOf(source), kernel = all.find((k) => k.name === name) ?? all.at(-1);
  return { kernel, guesses: guessLaunch(source, kernel, all) };
};
for (const { file, source, fields } of inputs.filter(({ kind }) => kind === "triton")) {
  const { kernel, guesses } = guessed(source, fields.kernel);
  const said = (is_const) => kernel.params.filter((p) => p.is_const === is_const && !p.value && !p.heuristic).map((p) => `${p.name}=${guesses[p.name]}`).join(", ");
  const told = answer({ kind: "triton", source, kernel: kernel.name, args: said(0), consts: said(1) });
  same(`${file}: ${kernel.name} with guesses: ${told.diags[0]?.message ?? ""}`, told.code, 0);
}
const HEAD = "import triton\nimport triton.language as tl\n";
for (const [head, body, ...wanted] of [
  ["X, Y, N, B: tl.constexpr", "i = tl.arange(0, B)\ntl.store(Y + i, tl.load(X + i, mask=i < N), mask=i < N)", "*fp32:16", "*fp32:16", "i32", "1024"],
  ["x, idx, o, B: tl.constexpr", "i = tl.arange(0, B)\nj = tl.load(idx + i)\np = x + j\ntl.store(o + i, tl.load(p))", "*fp32:16", "*i32:16", "*fp32:16", "1024"],
  ["where_from, o, B: tl.constexpr", "i = tl.arange(0, B)\nj = tl.load(where_from + i)\ntl.store(o + j, i)", "*i32:16", "*fp32:16", "1024"], // no name says it
  ["o, scale, factor, B: tl.constexpr", "i = tl.arange(0, B)\ntl.store(o + i * factor, i * scale)", "*fp32:16", "fp32", "fp32", "1024"], // names before uses
  ["o, a, b, B: tl.constexpr", "i = tl.arange(0, B)\ntl.store(o + i * a, i * b)", "*fp32:16", "i32", "fp32", "1024"],
  ["o, a, ACT: tl.constexpr, B: tl.constexpr", "i = tl.arange(0, B)\nif ACT == 'relu':\n    i = i + 1\ntl.store(o + i, i * a)  # a / 2, range(a)", "*fp32:16", "fp32", '"relu"', "1024"],
  ["o, n, FAST: tl.constexpr, B: tl.constexpr", "i = tl.arange(0, B)\nif FAST:\n    i = i + n\ntl.store(o + i, i)", "*fp32:16", "i32", "False", "1024"],
  ["d, o, B: tl.constexpr", "i = tl.arange(0, B)\ntl.store(o + i, d.load([0]))", undefined, "*fp32:16", "1024"], // a descriptor: its block is unknown
  ["a, b, o, M: tl.constexpr, K: tl.constexpr", "i = tl.arange(0, M)\nk = tl.arange(0, K)\nx = tl.load(a + i[:, None] * K + k[None, :])\ntl.store(o + i[:, None] * M + i[None, :], tl.dot(x, tl.load(b + k[:, None] * M + i[None, :])))",
    "*fp16:16", "*fp16:16", "*fp16:16", "64", "32"],
  ["o, s: 'fp64', AXIS: tl.constexpr, B: tl.constexpr", "i = tl.arange(0, B)\\ntl.store(o + tl.sum(i, AXIS), s)", "*fp32:16", "fp64", "0", "1024"],
  ["lock, o", "while tl.atomic_cas(lock, 0, 1) == 1:\n    pass\ntl.store(o, 1.0)", "*i32:16", "*fp32:16"],
]) {
  const { kernel, guesses } = guessed(`${HEAD}@triton.jit\ndef k(${head}):\n${body.replace(/^/gm, "    ")}\n`);
  same(`guesses for k(${head})`, kernel.params.map((p) => String(guesses[p.name])).join(" | "), wanted.map(String).join(" | "));
}
const called = `${HEAD}@triton.jit\ndef put(at, i, value):\n    tl.store(at + i, value)\n@triton.jit\ndef k(first, second, B: tl.constexpr):\n    put(first, tl.arange(0, B), second)\n`;
same("a pointer that only a helper uses", JSON.stringify(guessed(called, "k").guesses), '{"first":"*fp32:16","second":"fp32","B":"1024"}');
const tuned = `${HEAD}@triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128})], key=["n"])\n@triton.heuristics({"EVEN": lambda a: a["n"] % a["B"] == 0})\n@triton.jit
def k(x, n, B: tl.constexpr, EVEN: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(x + i, 1.0, mask=i < n)\n`;
same("without a configuration", answer({ source: tuned, args: "*fp32:16, i32", consts: "EVEN=False" }).code, 811);
same("with one", answer({ source: tuned, args: "*fp32:16, i32", consts: "EVEN=False", config: "2" }).code, 0);
same("names in TM811 are those of parameters", /\bEVEN\b/.test(answer({ source: tuned, args: "*fp32:16, i32", config: "1" }).diags[0].message), true); // the page guesses those
const asks = `${HEAD}import os\nW: tl.constexpr = tl.constexpr(int(os.environ.get("WIDTH", "0")))\nU: tl.constexpr = tl.constexpr(1 if triton.__version__ < "3.7" else 2)\n@triton.jit
def k(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), W * 1000.0 + U)\n`;
for (const [fields, value] of [[{}, "(2.0f)"], [{ triton: "3.6" }, "(1.0f)"], [{ env: "WIDTH=7" }, "(7002.0f)"]])
  same(`a version and the environment: ${JSON.stringify(fields)}`, answer({ source: asks, args: "*fp32:16", consts: "B=64", ...fields }).text.includes(value), true);

// -- Every option and each of its values, as the command line's of that name ----------------------------------------------
const matmul = { file: kernels + "matmul.ttir", source: read(kernels + "matmul.ttir") };
const rowSum = { file: kernels + "row_sum.ttir", source: read(kernels + "row_sum.ttir") };
const spelt = { msl: (v) => `${v[0]}.${v[1]}`, operands: (v) => ["auto", "direct", "staged"][v] };
for (const [name, , values] of tmetal.tables.options.slice(0, -1)) {
  const list = values.split("|").map((v) => v.split("=")[0]).filter((v) => v !== "0");
  const flag = "--" + name.replaceAll("_", "-");
  for (const value of list)
    for (const input of [matmul, rowSum]) {
      const isSwitch = values === "0=no|1=yes";
      let wanted;
      try { wanted = native(flag, ...(isSwitch ? [] : [spelt[name]?.(value) ?? value]), input.file); } catch { wanted = undefined; }
      same(`${input.file} ${name}=${value}`, answer({ ...input, numbers: `${name}=${value}` }).text, wanted);
    }
}
same("layouts", answer({ ...rowSum, layouts: "ROW_MAJOR" }).text, native("--layout", "ROW_MAJOR", rowSum.file));

// -- Memory that grows, and diagnostics ------------------------------------------------------------------------------------
same("from an arena of 64 KB", engine(module, 1 << 16).answer({ want: "metal", gpu, ...matmul }).text, answer(matmul).text);
const wrong = answer({ source: softmax.source.replace("axis = 0", "axis = 2") });
same("a wrong axis", `${wrong.code} ${wrong.diags[0]?.ir.line} ${wrong.text}`, `204 ${softmax.source.split("\n").findIndex((line) => line.includes("axis = 0")) + 1} undefined`);
const unsaid = answer({ source: read(kernels + "softmax.py"), kernel: "softmax" });
same("a launch of which nothing is said", `${unsaid.code} ${unsaid.text}`, "811 undefined");
const listed = tmetal.answer({ want: "kernels", kind: "triton", source: read(kernels + "reductions.py") }).sources;
same("kernels of a file", listed.map((k) => k.name).join().startsWith("either,both,sum_rows,"), true);

// -- Sizes and times ----------------------------------------------------------------------------------------------------------
const bytes = gzipSync(readFileSync(`${build}/playground/index.html`), { level: 9 }).length;
if (bytes > MOST_BYTES) fail(`the page has ${bytes} bytes, compressed; at most ${MOST_BYTES}`);
// A machine may be slow or busy: a softmax is measured against work of the same kind, each as the best of 41.
const least = (work) => Math.min(...Array.from({ length: 41 }, () => {
  const start = performance.now();
  work();
  return performance.now() - start;
}));
const yardstick = () => { // a millisecond or so
  let x = 1;
  for (let i = 0; i < 1000000; i++) x = (Math.imul(x, 1103515245) + 12345) | 0;
  return x;
};
const best = least(() => tmetal.answer({ want: "metal", gpu, ...softmax })), unit = least(yardstick);
if (best > MOST_MS && best > MOST_MS * unit) fail(`a softmax takes ${best.toFixed(1)} ms; at most ${MOST_MS}`);
console.log(`test-playground: ${done} comparisons, ${bad} wrong; ${bytes} bytes compressed; softmax ${best.toFixed(2)} ms (the best of 41; the first ${first.toFixed(0)} ms), the yardstick ${unit.toFixed(2)} ms`);
process.exit(bad ? 1 : 0);
