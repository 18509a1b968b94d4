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
  if (found !== wanted) fail(`${what}: ${typeof found === "string" ? "another text than the command line's" : `${found}, not ${wanted}`}`);
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
const times = [];
for (let i = 0; i < 41; i++) {
  const start = performance.now();
  tmetal.answer({ want: "metal", gpu, ...softmax });
  times.push(performance.now() - start);
}
const median = times.sort((a, b) => a - b)[20];
if (median > MOST_MS) fail(`a softmax takes ${median.toFixed(1)} ms; at most ${MOST_MS}`);
console.log(`test-playground: ${done} comparisons, ${bad} wrong; ${bytes} bytes compressed; softmax ${median.toFixed(2)} ms (median of 41; the first ${first.toFixed(0)} ms)`);
process.exit(bad ? 1 : 0);
