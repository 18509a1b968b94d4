// The lines of digest --modes, by the WebAssembly build: hash, code, key, file.
//   node wasm.mjs digest.wasm FILE-OR-DIRECTORY...
import { readFileSync, readdirSync, statSync } from "node:fs";

const found = [];
const walk = (path) => {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) walk(path.replace(/\/$/, "") + "/" + name);
  else if (path.endsWith(".ttir")) found.push(Buffer.from(path));
};
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const { reserve, bound, hash, code, key, own_mode, memory } = instance.exports;
process.argv.slice(3).forEach(walk);
found.sort(Buffer.compare);
const lines = [];
for (const name of found) {
  const text = readFileSync(name.toString());
  // what digest gives a text
  const bytes = Math.max(Math.min(bound(text.length) >>> 0, 64 << 20), 1024 * text.length + (2 << 20));
  const at = reserve(text.length + bytes + 1) >>> 0;
  if (!at) throw new Error("no memory for " + name);
  new Uint8Array(memory.buffer).set(text, at);
  for (const mode of [0, own_mode(at, text.length)]) {
    const h = BigInt.asUintN(64, hash(at, text.length, bytes, mode));
    const hex = Buffer.from(memory.buffer, key(at, text.length) >>> 0, 64).toString();
    lines.push(h.toString(16).padStart(16, "0") + " TM" + String(code()).padStart(3, "0") + " " + hex + " " + name);
  }
}
process.stdout.write(lines.join("\n") + "\n");
