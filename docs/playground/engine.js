// tmetal.h as WebAssembly, for the page's worker and for tests. `module` is a WebAssembly.Module of playground.c.
//
//   const tmetal = tmetalEngine(module);
//   tmetal.tables                                   GPUs, languages, options: put_tables() of playground.c
//   tmetal.answer({want: "metal", source: "..."})   what playground.c answers; other fields: tables.texts
// Memory begins with an arena of `arena` bytes and grows as it is needed.
"use strict";

function tmetalEngine(module, arena = 32 * 2 ** 20) {
  const MOST = 2 ** 31; // bytes of an arena
  let wasm;
  const renew = () => { wasm = new WebAssembly.Instance(module, {}).exports; };

  const textAt = (at) => {
    if (!at) throw new Error("There is no memory for this here.");
    const bytes = new Uint8Array(wasm.memory.buffer, at);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  };
  const call = (request) => {
    const at = wasm.reserve(request.length, arena) >>> 0;
    if (!at) throw new Error("There is no memory for this here.");
    new Uint8Array(wasm.memory.buffer).set(request, at);
    return JSON.parse(textAt(wasm.answer(at, request.length, arena) >>> 0));
  };

  renew();
  const tables = call(new Uint8Array(0));
  const answer = (fields) => {
    const texts = tables.texts.map((name) => String(fields[name] ?? ""));
    const source = texts.pop();
    const request = new TextEncoder().encode(texts.map((text) => text.replaceAll("\0", "") + "\0").join("") + source);
    for (;;) {
      try {
        return call(request);
      } catch (error) {
        if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
        const full = wasm.why() === 1;
        renew(); // a trap leaves the stack as it was: nothing of that instance is used again
        if (!full) throw new Error("tmetal stopped: " + error.message + ". Please report this input.");
        if (arena >= MOST) throw new Error("This takes more than the 2 GB of memory that a page has.");
        arena *= 2;
      }
    }
  };
  return { tables, answer };
}
