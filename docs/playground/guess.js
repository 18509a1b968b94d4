// What a kernel is probably launched with, from the names of its parameters and their uses in its text.
//
//   guessLaunch(source, kernel, kernels)   {parameter: what its field shows}; `kernels` as playground.c lists them
// The page shows guesses as such, and the user changes them: the compiler itself guesses nothing. A parameter
// of which nothing can be said (a descriptor) is left out.
"use strict";

function guessLaunch(source, kernel, kernels) {
  const known = new Map();
  const pairs = { "(": ")", "[": "]", "{": "}" };

  // Parts of `text` between characters of `by` that stand in no bracket or string.
  function split(text, by) {
    const parts = [""];
    let deep = 0, quote = "";
    for (const c of text) {
      if (quote) quote = c === quote ? "" : quote;
      else if (c === '"' || c === "'") quote = c;
      else if (pairs[c]) deep++;
      else if (")]}".includes(c)) deep--;
      if (!deep && !quote && by.includes(c)) parts.push("");
      else parts[parts.length - 1] += c;
    }
    return parts.map((part) => part.trim());
  }

  // From the bracket at `at` to the one that closes it.
  function inside(text, at) {
    let deep = 0;
    for (let i = at; i < text.length; i++) {
      if ("([{".includes(text[i])) deep++;
      else if (")]}".includes(text[i]) && !--deep) return text.slice(at + 1, i);
    }
    return text.slice(at + 1);
  }

  // Calls of a text: [name, arguments]. An argument by keyword is "key=value".
  const calls = (text) => [...text.matchAll(/([\w.]+)\s*\(/g)].map((m) => [m[1], split(inside(text, m.index + m[0].length - 1), ",")]);
  const clean = (text) => text.replace(/"""[^]*?"""|'''[^]*?'''/g, '""').replace(/("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|#.*/g, "$1");

  // The body of a function, one statement a line, and what its names are assigned.
  function read(name) {
    if (known.has(name)) return known.get(name);
    const of = { body: "", assigned: new Map(), pointers: new Map(), params: kernels.find((k) => k.name === name)?.params.map((p) => p.name) ?? [] };
    known.set(name, of);
    const text = clean(source), head = new RegExp(`^([ \\t]*)def ${name.replace(/.*\./, "")}\\s*\\(`, "m").exec(text);
    if (!head) return of;
    const from = head.index + head[0].length - 1, lines = [];
    let statement = "";
    for (const line of text.slice(from + inside(text, from).length + 2).replace(/^[^:\n]*:/, "").split("\n")) {
      if (!statement && line.trim() && /^[ \t]*/.exec(line)[0].length <= head[1].length) break;
      statement += " " + line.trim().replace(/\\$/, "");
      if (statement.split(/[([{]/).length > statement.split(/[)\]}]/).length) continue;
      lines.push(statement.trim());
      statement = "";
    }
    of.body = lines.join("\n");
    for (const line of lines) {
      const m = /^(\w+)\s*=(?!=)\s*(.*)$/.exec(line);
      if (m) of.assigned.set(m[1], [...(of.assigned.get(m[1]) ?? []), m[2]]);
    }
    for (const [called, args] of calls(of.body)) findPointers(of, called, args);
    return of;
  }

  // Parameters that a call reads or writes memory by.
  function findPointers(of, called, args) {
    const access = /^(?:.*\.)?(load|store|atomic_\w+|make_block_ptr|make_tensor_descriptor|prefetch)$/.exec(called);
    const mark = (expression, how) => {
      const base = bases(of, expression, new Set());
      const best = base.find((p) => /ptrs?$/i.test(p)) ?? base.find((p) => /^[A-Z]/.test(p)) ?? base[0];
      if (best && (how !== "float" || !of.pointers.has(best))) of.pointers.set(best, how);
    };
    const owner = called.split(".").slice(0, -1).join(".");
    if (access && !of.params.includes(owner) && !of.assigned.has(owner)) {
      const address = (args.find((a) => /^(base|pointer)\s*=/.test(a)) ?? args[0] ?? "").replace(/^(base|pointer)\s*=/, "");
      mark(address, /atomic_(cas|xchg|and|or|xor)/.test(access[1]) ? "int" : "float");
      for (const loaded of indices(of, address)) mark(loaded, "int");
    }
    const other = kernels.find((k) => k.name === called && k.name !== kernel.name);
    if (!other) return;
    const callee = read(called);
    args.forEach((arg, i) => {
      const [, key, value] = /^(\w+)\s*=(?!=)(.*)$/.exec(arg) ?? [0, callee.params[i], arg];
      if (callee.pointers.has(key)) mark(value, callee.pointers.get(key));
    });
  }

  // Parameters that an address may begin with: terms of its sum that stand alone, through assignments.
  function bases(of, expression, seen) {
    const found = [];
    for (let term of split(expression, "+-")) {
      const wrapped = /^(?:tl\.)?(?:multiple_of|max_contiguous|advance|cast|make_block_ptr)\s*\(/.exec(term);
      if (wrapped) term = split(inside(term, wrapped[0].length - 1), ",")[0].replace(/^base\s*=/, "").trim();
      term = term.replace(/\.to\(.*\)$/, "");
      if (term[0] === "(") found.push(...bases(of, inside(term, 0), seen));
      const name = /^(\w+)\s*(\[.*\])?$/.exec(term)?.[1];
      if (wrapped && !name) found.push(...bases(of, term, seen));
      if (!name || seen.has(name)) continue;
      seen.add(name);
      for (const value of of.assigned.get(name) ?? []) found.push(...bases(of, value, seen));
      if (of.params.includes(name)) found.push(name);
    }
    return found;
  }

  // Addresses whose loaded values an address is computed with.
  function indices(of, expression, seen = new Set()) {
    const found = [];
    for (const [name] of expression.matchAll(/[A-Za-z_]\w*/g)) {
      if (seen.has(name)) continue;
      seen.add(name);
      for (const value of of.assigned.get(name) ?? []) {
        const loads = calls(value).filter(([called]) => /(^|\.)load$/.test(called) && /^tl\.|language/.test(called));
        found.push(...(loads.length ? loads.map(([, args]) => args[0]) : indices(of, value, seen)));
      }
    }
    return found;
  }

  const { body, pointers, assigned } = read(kernel.name);
  const uses = (name, pattern) => new RegExp(pattern.replaceAll("NAME", `\\b${name}\\b`)).test(body);
  const half = /\bbfloat16\b/.test(body) ? "bf16" : /\bfloat16\b|\bdot\(/.test(body) ? "fp16" : "fp32";
  const isRange = (name) => uses(name, "\\barange\\([^()]*NAME");
  const ranges = kernel.params.filter((p) => isRange(p.name)).length;
  const INTEGER = /^(n|m|k|seed)$|^(n|num|stride)_|stride|_?(size|len|length|seqlen|dim|rows|cols|numel|elements|count|num|heads|batch|start|end|offset|idx|index)s?$/i;
  const REAL = /(^|_)(eps|epsilon|scale|alpha|beta\d?|gamma|theta|p|prob|dropout|lr|momentum|decay|slope|temperature|factor|softcap|rate|tau)$/i;
  const INDEX = /(^|_)(idx|index|indices|ids?|lens?|lengths|offsets?|table|tables|labels?|targets?|tokens?|slots?|cu_seqlens|seqlens?|locks?|counts?|flags?|positions?)(_?ptrs?)?$/i;

  // Only whole numbers are ranges, quotients by // and parts of addresses.
  function isWhole(name) {
    if (calls(body).some(([called, args]) => /(^|\.|_)(range|arange|cdiv)$/.test(called) && new RegExp(`\\b${name}\\b`).test(args.join()))) return true;
    if (uses(name, "NAME\\s*(//|%)|(//|%)\\s*NAME|<=?\\s*NAME|NAME\\s*>")) return true;
    const seen = new Set();
    const reaches = (text) => [...text.matchAll(/[A-Za-z_]\w*/g)].some(([word]) => word === name || (!seen.has(word) && seen.add(word) && (assigned.get(word) ?? []).some((v) => !/\bload\(/.test(v) && reaches(v))));
    return calls(body).some(([called, args]) => /\.(load|store|atomic_\w+)$/.test(called) && reaches(args[0] ?? ""));
  }

  function argument({ name, annotation }) {
    if (calls(body).some(([called]) => called === name + ".load" || called === name + ".store")) return undefined; // a descriptor: its block is unknown
    if (pointers.has(name) || /_?ptrs?$/i.test(name) || /pointer/.test(annotation)) {
      if (/mask(_?ptrs?)?$/i.test(name)) return "*i1";
      return (pointers.get(name) === "int" || INDEX.test(name) ? "*i32" : "*" + half) + ":16";
    }
    if (isRange(name)) return constant({ name });
    if (/float64|fp64/.test(annotation)) return "fp64";
    if (/float|fp32/.test(annotation) || (REAL.test(name) && !/int/.test(annotation))) return "fp32";
    if (/bool/.test(annotation)) return "i1";
    return /int64/.test(annotation) ? "i64" : /int/.test(annotation) || INTEGER.test(name) || /^[A-Z]$/.test(name) || isWhole(name) ? "i32" : "fp32";
  }

  function constant({ name }) {
    if (/^num_warps$/.test(name)) return "4";
    if (/^num_stages$/.test(name)) return "2";
    const text = new RegExp(`\\b${name}\\s*[!=]=\\s*(["'][^"']*["'])`).exec(body)?.[1];
    if (text) return text.replaceAll("'", '"');
    if (uses(name, "\\.to\\(NAME\\)|dtype\\s*=\\s*NAME") || /dtype$|_type$/i.test(name)) return /acc/i.test(name) || half === "fp32" ? "tl.float32" : half === "bf16" ? "tl.bfloat16" : "tl.float16";
    if (isRange(name) || /^BLOCK|_BLOCK$|TILE/i.test(name)) return /\bdot\(/.test(body) ? (/K$/.test(name) ? "32" : "64") : ranges > 2 ? "16" : ranges > 1 ? "64" : "1024";
    if (/GROUP/i.test(name)) return "8";
    if (/^(axis|dim)$/i.test(name)) return "0";
    const number = new RegExp(`\\b${name}\\s*==\\s*(\\d+)`).exec(body)?.[1];
    if (number) return number;
    if (/^(HAS|IS|USE|ENABLE|DO|WITH|EVEN|NEED|APPLY|ADD|STORE|ALLOW|RETURN)_|causal|^EVEN/i.test(name) || uses(name, "\\b(if|elif|not|and|or)\\s+NAME\\s*($|[:)]|and\\b|or\\b)")) return "False";
    if (REAL.test(name)) return "1e-5";
    return /^(n|m|k)$|^(n|num)_|stride|size|len|dim|numel/i.test(name) ? "1024" : "64";
  }

  return Object.fromEntries(kernel.params.map((p) => [p.name, p.is_const ? constant(p) : argument(p)]).filter(([, value]) => value !== undefined));
}
