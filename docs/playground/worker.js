// Beside engine.js in a Web Worker, so that typing never waits. First comes {wasm}, gzip of playground.wasm; then requests.
"use strict";

let tmetal;

async function begin(wasm) {
  const stream = new Blob([wasm]).stream().pipeThrough(new DecompressionStream("gzip"));
  tmetal = tmetalEngine(await WebAssembly.compile(await new Response(stream).arrayBuffer()));
  return { tables: tmetal.tables };
}

// `good` is the request for the last text that compiled: where this one does not, its output is answered as `old`.
function answer({ id, fields, good }) {
  const start = performance.now();
  const told = tmetal.answer(fields);
  const ms = performance.now() - start;
  if (told.kind === "triton") told.sources = tmetal.answer({ ...fields, want: "kernels" }).sources;
  if (good && told.diags.length && told.text === undefined && !told.page) told.old = tmetal.answer({ ...good, want: fields.want });
  return { id, ms, answer: told };
}

onmessage = async ({ data }) => {
  try {
    postMessage(data.wasm ? await begin(data.wasm) : answer(data));
  } catch (error) {
    postMessage({ id: data.id, error: error.message });
  }
};
