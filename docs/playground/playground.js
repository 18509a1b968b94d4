// The page. The compiler runs in a worker (worker.js); here are the fields, the editor and what is shown.
"use strict";

const DATA = JSON.parse(document.getElementById("data").textContent); // build.py: wasm, worker, examples, page
const $ = (id) => document.getElementById(id);
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) key in made ? (made[key] = value) : made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const choice = (value, text) => element("option", { value, textContent: text ?? value });

const MOST_SOURCE = 1 << 20; // characters
const MOST_PAINTED = 150000; // characters that are coloured
const MOST_LINK = 64000; // characters of an address that all browsers take
const PATIENCE = 10000; // ms that an answer may take
const MISSING = 811; // the code of a launch that leaves parameters open
const PAUSE = 60; // ms without a key before it is asked for

const TABS = [
  { id: "metal", name: "Metal", language: "c", file: "kernel.metal" },
  { id: "plan", name: "Plan", language: "json", file: "plan.json" },
  { id: "launch", name: "Launch code" },
  { id: "page", name: "Explain", file: "kernel.html" },
  { id: "ir", name: "IR", language: "ttir", file: "kernel.ttir" },
];
const HOSTS = { c: "C", objc: "Objective-C", "metal-cpp": "C++ (metal-cpp)", swift: "Swift", "torch-py": "Python (PyTorch)", "mlx-py": "Python (MLX)" };
const READ_AS = { ttir: "Triton IR", triton: "Triton source", ops: "op list" };
const IRS = { ir: "as it was read", changed: "after the passes" };

// What a link holds; fields that are empty are left out.
const state = { source: "", kind: "", file: "", gpu: "apple-m3-max", kernel: "", config: "", globals: "", triton: "", env: "", params: {}, args: "", consts: "", numbers: {}, layouts: "", tab: "metal", host: "c", ir: "ir" };

let told = null; // the last answer
let sources = []; // kernels of a Triton source
let good = null; // the request for the last text that compiled
let guesses = {}; // of the launch, by parameter: guess.js
let needed = new Set(); // parameters that the compiler asked for though they have a default or a rule

// -- Colours: one expression a language; the name of the group that matched is the class -----------------------

const number = "(?<n>\\b(?:0x[0-9A-Fa-f.]+(?:p[+-]?\\d+)?|\\d+\\.?\\d*(?:[eE][+-]?\\d+)?)[a-zA-Z]*)";
const text = '"(?:\\\\.|[^"\\\\\\n])*"';
const GRAMMAR = {
  c: [`(?<c>//.*|/\\*[^]*?\\*/)|(?<s>@?${text})|(?<a>^\\s*#.*|\\[\\[.*?\\]\\])`,
    "(?<k>\\b(?:kernel|device|constant|thread|threadgroup|const|constexpr|static|struct|enum|class|namespace|using|template|typename|typedef|if|else|for|while|do|return|switch|case|break|continue|default|import|func|let|var|guard|throws?|try|self|init|in|nil|private|public|final|extern|inline|void|@[a-z]+)\\b)",
    "(?<t>\\b(?:float|half|bfloat|int|uint|short|ushort|char|uchar|long|ulong|bool|size_t|u?int(?:8|16|32|64)_t|atomic_\\w+|simdgroup_\\w+|(?:U?Int(?:8|16|32|64)?)|Float|Double|Bool|String|MTL\\w+|NS\\w+|id|double)[234]?\\b)", number],
  ttir: [`(?<c>//.*|^#loc.*|loc\\(.*?\\)$)|(?<s>${text})`, "(?<v>%[\\w$.:#]+)|(?<a>@[\\w.$]+|\\^\\w+)", "(?<k>\\b[a-z_]\\w*\\.[a-z_][\\w.]*|\\bmodule\\b)",
    "(?<t>![\\w.]+|\\btensor\\b|\\b(?:bf16|f\\d+\\w*|i\\d+|index)\\b|(?<=x)(?:bf16|f\\d+\\w*|i\\d+)\\b)", "(?<n>\\b(?:0x[0-9A-Fa-f]+|\\d+(?:\\.\\d*)?(?:[eE][+-]?\\d+)?))"],
  triton: [`(?<c>#.*)|(?<s>"""[^]*?"""|'''[^]*?'''|${text}|'(?:\\\\.|[^'\\\\\\n])*')|(?<a>^\\s*@.*)`,
    "(?<k>\\b(?:def|class|return|if|elif|else|for|while|in|not|and|or|is|import|from|as|with|pass|lambda|yield|raise|try|except|assert|None|True|False|self)\\b)",
    "(?<v>\\btl\\.[\\w.]+|\\btriton[\\w.]*)", number],
  json: [`(?<v>${text}(?=\\s*:))|(?<s>${text})|(?<k>\\b(?:true|false|null)\\b)`, "(?<n>-?\\d[\\d.eE+-]*)"],
};
GRAMMAR.ops = GRAMMAR.json;
const EXPRESSION = Object.fromEntries(Object.entries(GRAMMAR).map(([name, parts]) => [name, new RegExp(parts.join("|"), "gm")]));

// The characters from..to of a text in colours; what stands before decides what they are.
function paint(into, content, language, from = 0, to = content.length) {
  const pieces = document.createDocumentFragment();
  let at = from;
  if (content.length <= MOST_PAINTED)
    for (const match of content.matchAll(EXPRESSION[language] ?? EXPRESSION.json)) {
      const end = match.index + match[0].length;
      if (end <= from) continue;
      if (match.index >= to) break;
      const kind = Object.keys(match.groups).find((key) => match.groups[key] !== undefined);
      pieces.append(content.slice(at, match.index), element("span", { className: kind, textContent: content.slice(Math.max(match.index, from), end) }));
      at = end;
    }
  pieces.append(content.slice(at, Math.max(at, to)) + "\n");
  into.replaceChildren(pieces);
}

// -- The worker ---------------------------------------------------------------------------------------------

let worker, ready = false, asked = 0, waiting = null, sent = null, timer = 0;
const wasm = Uint8Array.from(atob(DATA.wasm), (c) => c.charCodeAt(0));
const workerAddress = URL.createObjectURL(new Blob([DATA.worker], { type: "text/javascript" }));

function startWorker() {
  ready = false;
  worker = new Worker(workerAddress);
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = (event) => say("The compiler cannot start here: " + event.message, true);
  worker.postMessage({ wasm });
}

function stopWorker() {
  worker.terminate();
  timer = 0;
  startWorker();
  say(`Stopped: no answer after ${PATIENCE / 1000} seconds.`, true);
}

function receive(data) {
  if (!ready) {
    if (data.error) return say("The compiler cannot start here: " + data.error, true);
    ready = true;
    if (!$("gpu").length) begin(data.tables);
    else if (waiting) send();
    return;
  }
  clearTimeout(timer);
  timer = 0;
  if (waiting) send();
  if (data.id === asked) data.error ? say(data.error, true) : show(data);
}

function send() {
  timer = setTimeout(stopWorker, PATIENCE);
  worker.postMessage({ id: ++asked, fields: waiting, good });
  sent = waiting;
  waiting = null;
}

function ask() {
  $("panel").classList.add("stale");
  if (!state.source.trim()) return showEmpty();
  if (state.source.length > MOST_SOURCE) return say(`The text has ${state.source.length} characters; this page takes ${MOST_SOURCE}. The command line takes any.`, true);
  waiting = fields();
  if (ready && !timer) send();
}

let pause = 0;
function askSoon() {
  clearTimeout(pause);
  pause = setTimeout(ask, PAUSE);
}

// -- What is asked ------------------------------------------------------------------------------------------

// The kernel that is chosen; else the first that the file launches; else the first with constants that no other calls.
function kernelNow() {
  const find = (pattern) => sources.filter((k) => new RegExp(pattern.replace("NAME", k.name.replace(/.*\./, "")), "m").test(state.source));
  const called = new Set(find("(?<!def |\\w)NAME\\s*\\("));
  const alone = sources.filter((k) => !called.has(k));
  return sources.find((k) => k.name === state.kernel) ?? find("\\bNAME\\[")[0] ?? alone.find((k) => k.params.some((p) => p.is_const)) ?? alone[0] ?? sources[0];
}

const setBy = (config) => new Set([...(config ?? "").matchAll(/(?:^|, )(\w+)=/g)].map((m) => m[1]));

// The configuration that is chosen; else the first, unless the fields have all that it sets.
function configNow(kernel) {
  if (!kernel?.configs.length) return "";
  if (state.config) return state.config;
  return [...setBy(kernel.configs[0])].every((name) => state.params[name]?.trim() || !kernel.params.some((p) => p.name === name)) ? "0" : "1";
}

// What a field holds: what was typed, nothing where it was emptied, else the guess where a value is needed.
function valueOf(p, kernel) {
  if (p.name in state.params) return { value: state.params[p.name].trim() };
  const isOpen = (!p.value && !p.heuristic && !setBy(kernel.configs[configNow(kernel) - 1]).has(p.name)) || needed.has(p.name);
  return isOpen && guesses[p.name] !== undefined ? { value: guesses[p.name], isGuess: true } : { value: "", isOpen };
}

// Parts between commas that stand in no bracket or string.
function entries(list) {
  const parts = [""];
  let deep = 0, quote = "";
  for (const c of list) {
    if (quote) quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if ("([{<".includes(c)) deep++;
    else if (")]}>".includes(c)) deep--;
    if (c === "," && !deep && !quote) parts.push("");
    else parts[parts.length - 1] += c;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

function fields() {
  const kernel = kernelNow(), params = kernel?.params ?? [];
  const said = (is_const) => params.filter((p) => p.is_const === is_const).map((p) => [p.name, valueOf(p, kernel).value]).filter(([, value]) => value).map((pair) => pair.join("=")).join(", ");
  return {
    want: { launch: state.host, ir: state.ir }[state.tab] ?? state.tab,
    kind: state.kind, gpu: state.gpu, layouts: state.layouts, source: state.source,
    file: state.file || "kernel",
    numbers: Object.entries(state.numbers).map(([key, value]) => `${key}=${value}`).join(" "),
    kernel: kernel?.name ?? "", config: configNow(kernel), globals: state.globals, triton: state.triton, env: state.env,
    args: state.args || said(0), consts: state.consts || said(1),
  };
}

// Another text: what was said of the launch of the one before is dropped.
function forgetLaunch() {
  Object.assign(state, { kind: "", file: "", kernel: "", config: "", globals: "", env: "", params: {}, args: "", consts: "" });
  sources = [];
  guesses = {};
  needed = new Set();
  good = null;
}

// -- What is shown ------------------------------------------------------------------------------------------

let notice = ""; // stands before what is said next of an answer
function say(message, bad = false, live = "polite") {
  $("status").setAttribute("aria-live", live);
  $("status").textContent = message;
  $("status").className = bad ? "bad" : "";
}

function show({ ms, answer }) {
  told = answer;
  if (showSources(answer) || showNeeded(answer)) return ask();
  if (!answer.diags.length && (answer.page || answer.text !== undefined)) good = sent;
  $("panel").classList.remove("stale");
  showProblems(answer);
  showMissing(answer);
  showText(answer);
  paintSource();
  const kernels = answer.kernels.map((k) => `${k.name}: ${k.threads} threads a threadgroup` + (k.threadgroup_bytes ? `, ${k.threadgroup_bytes} bytes of its memory` : "") + `, about ${k.registers} registers`);
  const n = answer.diags.length;
  $("kind").options[0].textContent = state.kind ? "what it looks like" : `what it looks like: ${READ_AS[answer.kind]}`;
  const what = n ? `${n} ${n === 1 ? "problem" : "problems"} found in` : "Compiled in";
  const before = notice;
  notice = "";
  say(`${before}${what} ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms. ${n ? "" : kernels.slice(0, 2).join("; ") + (kernels.length > 2 ? `; and ${kernels.length - 2} more kernels` : "") + ". "}tmetal ${answer.tmetal}`, !!before, before ? "polite" : "off"); // not after each key
  shareSoon();
}

let outputNow = "";
function showText(answer) {
  const output = $("output");
  const tab = TABS.find((t) => t.id === state.tab);
  const from = answer.text === undefined && !answer.page ? answer.old ?? {} : answer;
  $("old").hidden = from !== answer.old;
  $("frame").hidden = !from.page;
  output.hidden = !!from.page;
  if (from.page) return showPage();
  if (from.text === undefined) {
    outputNow = "";
    return output.replaceChildren(answer.diags.length ? "There is nothing to show: see the problems." : "");
  }
  const now = tab.id + state.host + from.text;
  if (now === outputNow) return;
  outputNow = now;
  paint(output, from.text, tab.language ?? (state.host.endsWith("-py") ? "triton" : "c"));
}

// Without a text: what can be done here.
function showEmpty() {
  waiting = told = null;
  asked++; // an answer that is still to come is of another text
  forgetLaunch();
  $("launch").hidden = $("frame").hidden = true;
  $("old").hidden = true;
  $("output").hidden = false;
  $("output").replaceChildren("Paste a file with Triton kernels (Python), Triton IR or an op list on the left,\nopen one, drop one, or choose an example.");
  outputNow = problemsNow = "";
  $("problems").replaceChildren();
  paintSource();
  $("panel").classList.remove("stale");
  say("There is no text yet.");
}

const pageNow = () => told?.page ?? (told?.text === undefined ? told?.old?.page : undefined);

// What `tmetal explain --html` writes, in a frame; it is loaded once, and takes new data after that.
function showPage() {
  const frame = $("frame");
  if (frame.contentWindow.showPage) frame.contentWindow.showPage(pageNow());
  else if (!frame.srcdoc) {
    frame.onload = () => { if (pageNow()) showPage(); };
    frame.srcdoc = DATA.page;
  }
}

// What Copy and Save take: of the page a file that stands alone.
const shownText = () => (pageNow() ? DATA.page.replace(">null<", () => ">" + JSON.stringify(pageNow()).replaceAll("<", "\\u003c") + "<") : told?.text ?? told?.old?.text ?? "");

function lineOf(diag, kind) {
  const place = kind === "triton" && diag.python.line ? diag.python : diag.ir.line ? diag.ir : diag.python;
  return { line: place.line, col: place.col, cols: place === diag.ir || kind === "triton" ? Math.max(diag.cols, 1) : 1 };
}

let problemsNow = "";
function showProblems(answer) {
  const now = JSON.stringify([answer.diags, answer.remarks, answer.kind, !answer.page]);
  if (now === problemsNow) return; // it would be read out again
  problemsNow = now;
  const rows = answer.diags.map((d) => {
    const at = lineOf(d, answer.kind);
    const row = element("button", { type: "button" }, element("b", { textContent: `TM${d.code}` }), at.line ? ` line ${at.line}: ` : " ", d.message);
    for (const more of ["note", "help", "means"]) if (d[more]) row.append(element("small", { textContent: `${more}: ${d[more]}` }));
    row.onclick = () => goTo(at);
    return row;
  });
  for (const r of answer.page ? [] : answer.remarks) { // the page has them itself
    const at = lineOf({ ...r, cols: 1 }, answer.kind);
    rows.push(element("button", { type: "button", className: "note", onclick: () => goTo(at) }, at.line ? `line ${at.line}: ` : "", r.text));
  }
  $("problems").replaceChildren(...rows);
}

// 1: what the source says of its kernels makes another question of the fields. A text with a syntax error says nothing
// of them: then the fields stay.
function showSources(answer) {
  const now = answer.sources ?? [];
  const keeps = answer.kind === "triton" && !now.length && answer.diags.length;
  $("launch").hidden = answer.kind !== "triton" || !(keeps ? sources : now).length;
  if (keeps) return false;
  const asked = JSON.stringify(fields()), before = kernelNow();
  const changed = JSON.stringify(now) !== JSON.stringify(sources);
  sources = now;
  const k = kernelNow();
  if (before && k && before.name !== k.name && !sources.some((s) => s.name === before.name)) { // another text, or a new name
    const names = (kernel) => kernel.params.map((p) => p.name).join();
    if (names(before) !== names(k)) Object.assign(state, { file: "", config: "", params: {} });
    state.kernel = "";
  }
  if (k && before?.name !== k.name) needed = new Set();
  if (k && state.config > k.configs.length) state.config = "";
  const guessed = JSON.stringify(guesses);
  guesses = k ? guessLaunch(state.source, k, sources) : {};
  if (answer.kind === "triton" && (changed || JSON.stringify(guesses) !== guessed)) fillLaunch();
  return JSON.stringify(fields()) !== asked;
}

// 1: the compiler asks for a parameter whose default or rule does not do, and there is a guess for it.
function showNeeded(answer) {
  const kernel = kernelNow(), before = needed.size;
  if (answer.code !== MISSING || !kernel) return false;
  const words = new Set(answer.diags[0].message.match(/\w+/g));
  for (const p of kernel.params) if (words.has(p.name) && !(p.name in state.params) && guesses[p.name] !== undefined && !valueOf(p, kernel).value) needed.add(p.name);
  if (needed.size === before) return false;
  fillLaunch();
  return true;
}

// Which fields are guesses, and which are still empty: a list of both, each a way to its field.
function showMissing(answer) {
  const kernel = kernelNow(), words = new Set(answer.code === MISSING ? answer.diags[0]?.message.match(/\w+/g) : []);
  const guessed = [], missing = [[], []];
  for (const input of $("params").querySelectorAll("input")) {
    const p = kernel?.params.find(({ name }) => name === input.name);
    const isMissing = !!p && words.has(p.name) && !input.value.trim();
    input.setAttribute("aria-invalid", isMissing);
    if (isMissing) missing[p.is_const].push(input);
    if (input.className === "guess") guessed.push(input);
  }
  const list = (what, inputs) => (inputs.length ? [element("span", {}, what + " ", ...inputs.map((input) => element("button", { type: "button", textContent: input.name, onclick: () => input.focus() })))] : []);
  $("missing").replaceChildren(...list("Missing types:", missing[0]), ...list("Missing values:", missing[1]), ...list("Guessed from names and uses; check and change them:", guessed));
}

function fillLaunch() {
  const k = kernelNow(), focused = $("params").contains(document.activeElement) ? document.activeElement.name : "";
  $("kernel").replaceChildren(...sources.map((s) => choice(s.name)));
  $("kernel-count").textContent = sources.length > 1 ? ` (${sources.length} in this file)` : "";
  if (!k) return $("params").replaceChildren();
  $("kernel").value = k.name;
  takeLists(k);
  $("config-label").hidden = !k.configs.length;
  $("config").replaceChildren(choice("0", "none: by the fields"), ...k.configs.map((c, i) => choice(String(i + 1), `${i + 1}: ${c}`)));
  $("config").value = configNow(k);
  $("triton").value = state.triton;
  $("env").value = state.env;
  const set = setBy(k.configs[configNow(k) - 1]);
  $("params").replaceChildren(...k.params.map((p) => {
    const { value, isGuess } = valueOf(p, k);
    const input = element("input", { name: p.name, value: isGuess ? value : state.params[p.name] ?? "", autocomplete: "off", autocapitalize: "off", spellcheck: false, className: isGuess ? "guess" : "" });
    const note = element("small", { textContent: isGuess ? "guess" : "" });
    input.placeholder = set.has(p.name) ? "by the configuration" : p.value || p.heuristic || (!p.is_const && p.annotation) || (p.is_const ? "a value" : "*fp32:16, i32 ...");
    input.oninput = () => { state.params[p.name] = input.value; input.className = note.textContent = ""; askSoon(); };
    return element("label", {}, element("code", {}, p.name + (p.is_const ? " (constant)" : "") + " ", note), input);
  }));
  if (focused) $("params").querySelector(`[name="${focused}"]`)?.focus();
}

// An example says what it is launched with as lists, in order; from now on each parameter has its own field.
function takeLists(kernel) {
  if (!state.args && !state.consts) return;
  const consts = entries(state.consts).map((entry) => entry.split(/=(.*)/s));
  state.params = Object.fromEntries(consts.map(([name, value]) => [name.trim(), value.trim()]));
  const open = kernel.params.filter((p) => !p.is_const && !(p.name in state.params));
  entries(state.args).forEach((entry, i) => { if (open[i]) state.params[open[i].name] = entry; });
  state.args = state.consts = "";
}

// -- The editor -----------------------------------------------------------------------------------------------

// Columns come in bytes of UTF-8; in the editor a tab ends at a multiple of 4.
function placeIn(line, col) {
  let bytes = 1, seen = 0, at = 0;
  for (const c of line) {
    if (bytes >= col) break;
    bytes += new TextEncoder().encode(c).length;
    seen = c === "\t" ? seen + 4 - (seen % 4) : seen + 1;
    at += c.length;
  }
  return { seen, at };
}

let starts = [0]; // where each line of the source begins, and where the last ends
let painted = [0, 0]; // lines that are in colours: those in sight and some around
const AROUND = 40;

function paintSource() {
  const lines = state.source.split("\n");
  starts = [0];
  for (const line of lines) starts.push(starts.at(-1) + line.length + 1);
  const marked = told ? told.diags.map((d) => lineOf(d, told.kind)).filter((at) => at.line && at.line <= lines.length) : [];
  paintNumbers(lines.length, new Set(marked.map((at) => at.line)));
  $("marks").replaceChildren(...marked.map((at) => {
    const line = lines[at.line - 1];
    const from = placeIn(line, at.col).seen, to = placeIn(line, at.col + at.cols).seen;
    return element("i", { style: `top:calc(${at.line - 1} * var(--row));left:${from}ch;width:${Math.max(to - from, 1)}ch` });
  }));
  painted = [0, 0];
  $("source").classList.toggle("plain", state.source.length > MOST_PAINTED);
  follow();
}

let numbered = "";
function paintNumbers(n, bad) {
  const now = [n, ...bad].join();
  if (now === numbered) return;
  numbered = now;
  const numbers = document.createDocumentFragment();
  let run = "";
  for (let line = 1; line <= n; line++) {
    if (bad.has(line)) {
      numbers.append(run, element("span", { className: "bad", textContent: `\u25cf ${line}\n` }));
      run = "";
    } else run += `${line}\n`;
  }
  numbers.append(run + "\n\n");
  $("gutter").firstElementChild.replaceChildren(numbers);
}

// What lies under the text follows it.
function follow() {
  const { scrollLeft, scrollTop, clientHeight } = $("source");
  $("under").style.transform = `translate(${-scrollLeft}px,${-scrollTop}px)`;
  $("gutter").firstElementChild.style.transform = `translateY(${-scrollTop}px)`;
  const row = parseFloat(getComputedStyle($("source")).lineHeight), last = starts.length - 1;
  const first = Math.floor(scrollTop / row), end = Math.min(Math.ceil((scrollTop + clientHeight) / row), last);
  if (first >= painted[0] && end <= painted[1]) return;
  painted = [Math.max(first - AROUND, 0), Math.min(end + AROUND, last)];
  $("paint").style.top = painted[0] * row + "px";
  if (state.source.length <= MOST_PAINTED) paint($("paint"), state.source, told?.kind ?? "ttir", starts[painted[0]], starts[painted[1]] - 1);
  else $("paint").replaceChildren();
}

function goTo({ line, col, cols }) {
  if (!line) return;
  const source = $("source");
  const lines = state.source.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0);
  const on = lines[line - 1] ?? "";
  source.focus();
  source.setSelectionRange(start + placeIn(on, col).at, start + placeIn(on, col + cols).at);
  const row = parseFloat(getComputedStyle(source).lineHeight);
  source.scrollTop = (line - 1) * row - source.clientHeight / 2;
  source.scrollLeft = 0;
  follow();
}

function setSource(content) {
  state.source = content;
  $("source").value = content;
  told = null;
  paintSource();
}

// -- Links -----------------------------------------------------------------------------------------------------

const toText = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const toBytes = (coded) => Uint8Array.from(atob(coded.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

// #z= and JSON by deflate, or #j= and JSON as it is where the browser cannot.
async function link() {
  const kept = Object.fromEntries(Object.entries(state).filter(([, value]) => value !== "" && !(typeof value === "object" && !Object.keys(value).length)));
  const json = new TextEncoder().encode(JSON.stringify(kept));
  if (typeof CompressionStream === "undefined") return "#j=" + toText(json);
  return "#z=" + toText(await through(json, new CompressionStream("deflate-raw")));
}

let shown = "", linkTimer = 0; // the part of the address that this page has written
async function share() {
  clearTimeout(linkTimer);
  const hash = await link();
  if (hash.length > MOST_LINK) return false;
  const was = shown;
  shown = hash;
  try {
    history.replaceState(null, "", hash);
  } catch { // Safari takes a hundred in half a minute
    shown = was;
    return false;
  }
  return true;
}
function shareSoon() {
  clearTimeout(linkTimer);
  linkTimer = setTimeout(share, 400);
}

async function takeLink() {
  const [, how, coded] = /^#([zj])=([\w-]+)$/.exec(location.hash) ?? [];
  if (!coded || location.hash === shown) return false;
  try {
    let bytes = toBytes(coded);
    if (how === "z") bytes = await through(bytes, new DecompressionStream("deflate-raw"));
    const kept = JSON.parse(new TextDecoder().decode(bytes));
    if (String(kept.source ?? "").length > MOST_SOURCE) throw new Error();
    for (const key of Object.keys(state)) // a link may hold anything
      state[key] = typeof state[key] === "object" ? Object.fromEntries(Object.entries(kept[key] ?? {}).map(([name, value]) => [name, String(value)])) : String(kept[key] ?? "");
  } catch {
    notice = "The link cannot be read: a part of it may be missing, or its text is too long. ";
    return false;
  }
  for (const [list, key, first] of [[TABS.map((t) => t.id), "tab", "metal"], [Object.keys(HOSTS), "host", "c"], [Object.keys(IRS), "ir", "ir"]])
    if (!list.includes(state[key])) state[key] = first;
  return true;
}

$("share").onclick = async () => {
  if (!(await share())) return say("No link can be made of this: the text may be too long.", true);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied. Whoever opens it sees this text and these choices.");
  } catch {
    say("The address of this page is the link: copy it from the address bar.");
  }
};

// -- The fields --------------------------------------------------------------------------------------------------

function showState() {
  for (const id of ["kind", "gpu", "globals"]) $(id).value = state[id];
  for (const input of $("option-fields").querySelectorAll("[name]")) {
    const value = input.name === "layouts" ? state.layouts : state.numbers[input.name] ?? "0";
    if (input.type === "checkbox") input.checked = value !== "0";
    else input.value = value;
  }
  const set = Object.values(state.numbers).filter((v) => v !== "0").length + (state.layouts ? 1 : 0);
  $("options-set").textContent = set ? ` (${set} set)` : "";
  for (const tab of $("tabs").children) {
    const on = tab.id === "tab-" + state.tab;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    if (on) $("panel").setAttribute("aria-labelledby", tab.id);
  }
  const which = { launch: ["host", HOSTS, "In"], ir: ["ir", IRS, "Shown"] }[state.tab];
  $("which-label").hidden = !which;
  $("copy").hidden = state.tab === "page";
  document.querySelector("main").classList.toggle("explained", state.tab === "page");
  if (which) {
    $("which-label").firstChild.data = which[2] + " ";
    $("which").replaceChildren(...Object.entries(which[1]).map(([value, name]) => choice(value, name)));
    $("which").value = state[which[0]];
  }
  if (!sources.length) return;
  guesses = guessLaunch(state.source, kernelNow(), sources);
  fillLaunch();
}

function change(part) {
  Object.assign(state, part);
  showState();
  ask();
}

function takeExample(index) {
  const { title, group, first, ...example } = DATA.examples[index];
  $("example").value = String(index);
  forgetLaunch();
  Object.assign(state, example);
  setSource(state.source);
  $("source").scrollTop = $("source").scrollLeft = 0;
  change({});
}

function makeOptions(options) {
  for (const [name, label, values] of options.filter(Boolean)) {
    const pairs = values.split("|").map((v) => v.split(/=(.*)/s));
    const isSwitch = pairs.map((p) => p[0]).join() === "0,1" && pairs[1][1] === "yes";
    const input = isSwitch ? element("input", { type: "checkbox", name }) : element("select", { name }, ...pairs.map(([value, says]) => choice(value, says)));
    input.onchange = () => change({ numbers: { ...state.numbers, [name]: isSwitch ? String(+input.checked) : input.value } });
    $("option-fields").append(element("label", { className: isSwitch ? "switch" : "" }, label, input));
  }
  const layouts = element("input", { name: "layouts", placeholder: "COALESCED or %sum=TILED", autocomplete: "off", spellcheck: false });
  layouts.oninput = () => { state.layouts = layouts.value; askSoon(); };
  $("option-fields").append(element("label", {}, "Layouts of reductions", layouts));
}

function makeTabs() {
  TABS.forEach((t, i) => {
    const tab = element("button", { type: "button", id: "tab-" + t.id, textContent: t.name, role: "tab" });
    tab.setAttribute("aria-controls", "panel");
    tab.onclick = () => { $("panel").scrollTop = $("panel").scrollLeft = 0; change({ tab: t.id }); };
    tab.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = $("tabs").children[(i + step + TABS.length) % TABS.length];
      next.focus();
      next.click();
    };
    $("tabs").append(tab);
  });
}

const savedName = () => (state.tab === "launch" ? "launch" + tables.hosts.find(([name]) => name === state.host)[1] : TABS.find((t) => t.id === state.tab).file ?? "kernel.json");

let tables;
async function begin(made) {
  tables = made;
  const cores = (g) => (g.device && g.cores ? `${g.device}, ${g.cores} cores` : g.name);
  $("gpu").append(...tables.gpus.map((g) => choice(g.name, cores(g))));
  makeOptions(tables.options);
  makeTabs();
  const groups = {};
  DATA.examples.forEach((e, i) => (groups[e.group] ??= []).push(choice(String(i), e.title)));
  $("example").append(choice("", "your own text"), ...Object.entries(groups).map(([label, list]) => element("optgroup", { label }, ...list)));
  if (await takeLink()) {
    setSource(state.source);
    change({});
  } else takeExample(DATA.examples.findIndex((e) => e.first));
}

$("source").oninput = () => { $("example").value = ""; state.source = $("source").value; paintSource(); askSoon(); };
$("source").onscroll = follow;
$("source").onpaste = () => { // over all of it: another text
  const { selectionStart, selectionEnd, value } = $("source");
  if (selectionStart === 0 && selectionEnd === value.length) forgetLaunch();
};
const openFile = async (file) => {
  $("example").value = "";
  forgetLaunch();
  state.file = file.name;
  setSource(await file.text());
  change({});
};
$("open").onclick = () => $("file").click();
$("file").onchange = () => { if ($("file").files[0]) openFile($("file").files[0]); $("file").value = ""; };
$("editor").ondragover = (event) => event.preventDefault();
$("editor").ondrop = (event) => {
  if (!event.dataTransfer.files[0]) return;
  event.preventDefault();
  openFile(event.dataTransfer.files[0]);
};
$("example").onchange = () => { if ($("example").value) takeExample(+$("example").value); };
$("kind").onchange = () => change({ kind: $("kind").value });
$("gpu").onchange = () => change({ gpu: $("gpu").value });
$("kernel").onchange = () => {
  needed = new Set();
  good = null;
  change({ kernel: $("kernel").value, config: "", params: {} });
};
$("config").onchange = () => change({ config: $("config").value });
$("triton").onchange = () => change({ triton: $("triton").value });
$("env").oninput = () => { state.env = $("env").value; askSoon(); };
$("globals").oninput = () => { state.globals = $("globals").value; askSoon(); };
$("which").onchange = () => change({ [state.tab === "launch" ? "host" : "ir"]: $("which").value });
$("copy").onclick = async () => {
  try {
    await navigator.clipboard.writeText(shownText());
    say("Copied.");
  } catch {
    say("This browser does not let a page copy: select the text and copy it.", true);
  }
};
$("save").onclick = () => {
  const address = URL.createObjectURL(new Blob([shownText()], { type: "text/plain" }));
  element("a", { href: address, download: savedName() }).click();
  URL.revokeObjectURL(address);
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && $("options").open) {
    $("options").open = false;
    $("options").firstElementChild.focus();
  }
});
document.addEventListener("click", (event) => { if (!$("options").contains(event.target)) $("options").open = false; });
window.addEventListener("hashchange", async () => { if (await takeLink()) { $("example").value = ""; sources = []; good = null; setSource(state.source); change({}); } });

startWorker();
