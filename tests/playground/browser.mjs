// The playground as somebody uses it, in headless Chromium: typed and clicked; judged by axe-core; looked at by geometry,
// and by you: BUILD/playground/pictures.
//   node browser.mjs BUILD CHROMIUM
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [, , build, executablePath] = process.argv;
const require = createRequire(resolve(build, "pages/index.js"));
const puppeteer = require("puppeteer-core");
const axe = require("axe-core").source;
const address = "file://" + resolve(build, "playground/index.html");
const pictures = `${build}/playground/pictures`;
mkdirSync(pictures, { recursive: true });

let bad = 0, done = 0;
const check = (ok, what, found = "") => {
  done++;
  if (!ok) console.error(`check-playground: ${what}${found ? ": " + found : ""}`), bad++;
};
const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await puppeteer.launch({ executablePath, headless: true, args: asRoot });

const SIZES = { desktop: [1400, 900], tablet: [820, 1100], phone: [390, 844], small: [320, 640] };
async function open(where, size = "desktop", scheme = "light") {
  const page = await browser.newPage();
  const [width, height] = SIZES[size];
  await page.setViewport({ width, height, isMobile: width < 500, hasTouch: width < 500 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  page.on("pageerror", (error) => check(false, "an error in the page", error.message));
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && check(false, "a message in the console", message.text()));
  page.on("request", (request) => check(/^(file|blob|data|about):/.test(request.url()), "the page asks the network", request.url()));
  await page.goto(where);
  await settled(page);
  return page;
}

// What was asked for last is shown.
const settled = (page) => page.waitForFunction(() => typeof tables !== "undefined" && tables && !waiting && !timer && !document.querySelector(".stale") && /\d ms/.test(document.getElementById("status").textContent), { timeout: 20000 });
const after = async (page, act) => {
  await page.evaluate(() => document.getElementById("panel").classList.add("stale"));
  await act();
  await settled(page);
};
const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
const output = (page) => text(page, "#output");
const clickTab = (page, id) => after(page, () => page.click("#tab-" + id));
const example = (page, group, title) => after(page, () => page.evaluate((g, t) => {
  const select = document.getElementById("example");
  const found = [...select.querySelectorAll("optgroup")].find((o) => o.label === g).querySelectorAll("option");
  select.value = [...found].find((o) => o.textContent === t).value;
  select.dispatchEvent(new Event("change"));
}, group, title));

async function openShared(page) {
  await page.click("#share");
  await page.waitForFunction(() => /link/.test(document.getElementById("status").textContent));
  return open(page.url());
}

// Nothing serious by axe; no control over another or cut off; nothing to scroll sideways.
async function judge(page, what) {
  const found = [];
  for (const frame of page.frames().filter((f) => f.url() !== "about:blank")) {
    await frame.evaluate(axe);
    found.push(...await frame.evaluate(async () => (await axe.run({ iframes: false })).violations.filter((v) => ["serious", "critical"].includes(v.impact))
      .map((v) => `${v.id} at ${v.nodes.map((n) => n.target).join(", ")}`)));
  }
  check(found.length === 0, `axe, ${what}`, found.join("; "));
  const crossed = await page.evaluate(() => {
    const said = [];
    if (document.documentElement.scrollWidth > innerWidth) said.push(`${document.documentElement.scrollWidth - innerWidth} pixels too wide`);
    const shown = [...document.querySelectorAll("header *, .bar > *, .tabs button, .tabs select, .fields input, .fields select, footer p, legend")]
      .filter((e) => e.checkVisibility() && !e.closest("details .fields"));
    const boxes = shown.map((e) => [e, e.getBoundingClientRect()]);
    for (const [e, r] of boxes) {
      if (r.left < -0.5 || r.right > innerWidth + 0.5) said.push(`${e.id || e.tagName} is cut off`);
      for (const [other, s] of boxes)
        if (e !== other && !e.contains(other) && !other.contains(e) && r.left < s.right - 1 && s.left < r.right - 1 && r.top < s.bottom - 1 && s.top < r.bottom - 1)
          said.push(`${e.id || e.tagName} lies over ${other.id || other.tagName}`);
    }
    return said;
  });
  check(crossed.length === 0, `geometry, ${what}`, crossed.join("; "));
  await page.screenshot({ path: `${pictures}/${what.replaceAll(" ", "-")}.png`, fullPage: true });
}

// -- Used -----------------------------------------------------------------------------------------------------------------
let page = await open(address);
check((await output(page)).includes("kernel void softmax("), "the first example is a softmax");
await example(page, "Triton IR", "row_sum");
check((await output(page)).includes("kernel void row_sum("), "an example is compiled");
check(await page.$eval("#launch", (e) => e.hidden), "Triton IR asks for no launch");

// A mistake is typed, told, marked, and mended.
await page.focus("#source");
const axis = await page.evaluate(() => {
  const source = document.getElementById("source");
  const at = source.value.indexOf("axis = 0");
  source.setSelectionRange(at + 7, at + 8);
  return source.value.slice(0, at).split("\n").length;
});
await after(page, () => page.keyboard.type("3"));
check(/^TM204 line \d+: /.test(await text(page, "#problems button")), "a mistake is told", await text(page, "#problems"));
check((await text(page, "#gutter .bad")).includes(String(axis)), "its line is marked", await text(page, "#gutter .bad"));
check((await page.$$("#marks i")).length === 1, "its place is underlined");
await judge(page, "desktop light problem");
await page.evaluate(() => document.getElementById("source").blur());
await page.click("#problems button");
check(await page.evaluate((line) => {
  const source = document.getElementById("source");
  return document.activeElement === source && source.value.slice(0, source.selectionStart).split("\n").length === line;
}, axis), "a click on it goes there");
await page.evaluate(() => {
  const source = document.getElementById("source");
  const at = source.value.indexOf("axis = 3");
  source.setSelectionRange(at + 7, at + 8);
});
await after(page, () => page.keyboard.type("0"));
check((await output(page)).includes("kernel void row_sum(") && !(await page.$("#problems button:not(.note)")), "mended, it compiles", await text(page, "#problems"));

// A Triton source asks for its launch.
await example(page, "Triton source", "sum_rows");
check((await page.$eval("#kernel", (e) => e.value)) === "sum_rows", "the kernel of the file is chosen");
const block = (await page.$$("#params input")).at(-1);
await block.click({ count: 3 });
await after(page, () => page.keyboard.press("Backspace"));
check(/^TM811/.test(await text(page, "#problems")), "a constant that is missing is asked for", await text(page, "#problems"));
check((await page.$$("#params [aria-invalid=true]")).length === 1, "and its field marked");
await judge(page, "desktop light launch missing");
await block.focus();
await page.keyboard.type("12");
await after(page, () => page.keyboard.type("8"));
check((await output(page)).includes("kernel void sum_rows("), "and taken");
const ofTriton = await openShared(page);
check((await output(ofTriton)).includes("kernel void sum_rows(") && (await ofTriton.$$eval("#params input", (all) => all.at(-1).value)) === "128", "a link keeps the launch");
await ofTriton.close();
await after(page, () => page.select("#kernel", "sum_both"));
check((await output(page)).includes("kernel void sum_both(") && (await page.$$("#params .guess")).length > 0, "another kernel has fields of its own, with guesses");

// A file is opened; another text pasted over it is read as what it is; colours follow the scrolling.
const [chooser] = await Promise.all([page.waitForFileChooser(), page.click("#open")]);
await after(page, () => chooser.accept([resolve("examples/kernels/attention.ttir")]));
check((await output(page)).includes("from @attention (attention.py"), "a file is opened");
await page.$eval("#source", (e) => (e.scrollTop = e.scrollHeight));
await page.waitForFunction(() => document.getElementById("paint").textContent.trimEnd().endsWith(document.getElementById("source").value.trimEnd().slice(-40)), { timeout: 3000 })
  .catch(() => check(false, "the last line is painted"));
await page.$eval("#source", (e) => e.select());
await after(page, () => page.keyboard.type("tt.sum:[1024,512]:1"));
check((await output(page)).includes("ops      sum"), "an op list over it");

await after(page, () => page.evaluate(() => { takeExample(0); state.kernel = ""; setSource(DATA.examples.find((e) => e.title === "sum_both").source); ask(); }));
check((await page.$eval("#kernel", (e) => e.value)) === "sum_rows", "of several kernels that are pasted one that is launched", await page.$eval("#kernel", (e) => e.value));

// Another text is pasted: its kernel, with guesses; a mistake keeps what compiled last; no text says what to do.
const write = (content, pasted) => after(page, () => page.evaluate((t, pasted) => {
  const source = document.getElementById("source");
  source.focus();
  source.select();
  if (pasted) source.dispatchEvent(new Event("paste"));
  source.value = t;
  source.dispatchEvent(new Event("input"));
}, content, pasted));
const ADD = "import triton\nimport triton.language as tl\n@triton.jit\ndef add(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):\n    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n" +
  "    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n_elements), mask=i < n_elements)\n";
for (const pasted of [true, false]) {
  await example(page, "Triton source", "softmax");
  await write(ADD, pasted);
  check((await output(page)).includes("kernel void add("), "another kernel over an example compiles", await text(page, "#problems"));
  check((await page.$$eval("#params .guess", (all) => all.map((e) => e.value).join(" "))) === "*fp32:16 *fp32:16 i32 1024", "with guesses that are shown as such");
}
await judge(page, "desktop light guesses");
await write(ADD.replace("tl.arange", "tl.arrange").replace("y_ptr + i", "z_ptr + i"), false);
check((await page.$$("#problems button")).length === 2, "both mistakes are listed", await text(page, "#problems"));
check((await output(page)).includes("kernel void add(") && await page.$eval("#old", (e) => !e.hidden), "the last good output stays, and is said to be old");
await clickTab(page, "ir");
check((await output(page)).includes("tt.func public @add"), "in the other tabs as well");
await judge(page, "desktop light old");
await clickTab(page, "metal");
await write(ADD.replace("tl.arange(0", "tl.arange((0"), false);
check((await page.$$("#params .guess")).length === 4, "a syntax error leaves the fields");
await write(ADD, false);
check(await page.$eval("#old", (e) => e.hidden), "mended, nothing is old");
await write(ADD.replace("@triton.jit", '@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=[])\n@triton.jit'), true);
check((await page.$eval("#config", (e) => e.value)) === "1" && (await output(page)).includes("kernel void add("), "an autotuned kernel takes its first configuration");
await page.evaluate(() => { setSource(""); ask(); });
check((await output(page)).startsWith("Paste a file") && await page.$eval("#launch", (e) => e.hidden), "without a text the page says what to do");

// Chip, options, tabs.
await example(page, "Triton IR", "matmul");
const ofMax = await output(page);
await after(page, () => page.select("#gpu", "apple-m1"));
check((await output(page)) !== ofMax, "another GPU, another text");
await clickTab(page, "plan");
check(JSON.parse(await output(page)).gpu === "apple-m1", "the plan is of that GPU");
await page.focus("#tab-plan");
await after(page, () => page.keyboard.press("ArrowRight"));
check((await output(page)).includes("#include"), "the next tab by its key: launch code");
await after(page, () => page.select("#which", "swift"));
check((await output(page)).includes("import Metal"), "launch code in Swift");
await clickTab(page, "ir");
check((await output(page)).includes("tt.func"), "Triton IR");
await clickTab(page, "page");
const frame = page.frames()[1];
await frame.waitForFunction(() => document.getElementById("title")?.textContent === "matmul");
await after(page, () => page.select("#gpu", "apple-m3"));
check((await frame.$eval("#facts", (e) => e.textContent)).includes("apple-m3"), "the page of the kernel follows");
await after(page, () => page.select("#gpu", "apple-m1"));
await clickTab(page, "metal");
await page.click("#options summary");
await after(page, () => page.select("#options [name=threads]", "64"));
check((await output(page)).includes("threadgroup of 64 threads"), "an option is taken");
check((await text(page, "#options-set")) === " (1 set)", "and counted");
await judge(page, "desktop light options");
await page.keyboard.press("Escape");
check(!(await page.$eval("#options", (e) => e.open)), "Escape closes the options");

// The link brings all of it back.
const kept = await output(page);
const other = await openShared(page);
check(page.url().includes("#z="), "the link is compressed");
check((await output(other)) === kept, "a link shows the same text");
check((await other.$eval("#gpu", (e) => e.value)) === "apple-m1" && (await text(other, "#options-set")) === " (1 set)", "and has the same choices");
await other.close();
// Links that were cut, or made by somebody else.
const linkOf = (kept) => "#j=" + Buffer.from(JSON.stringify(kept)).toString("base64url");
for (const hash of ["#z=abcd", "#j=e30x", linkOf({ source: "x".repeat((1 << 20) + 1) }), linkOf(null)]) {
  const broken = await open(address + hash.slice(0, 2000000));
  check((await output(broken)).includes("kernel void softmax("), "a link that cannot be read leaves the first example", hash.slice(0, 20));
  check((await text(broken, "#status")).startsWith("The link cannot be read"), "and the page says so", hash.slice(0, 20));
  await broken.close();
}
const odd = await open(address + linkOf({ source: "tt.sum:[64,64]:1", gpu: 7, tab: "none", params: { a: 1, b: null }, numbers: "text", host: {}, kind: "what" }));
check((await text(odd, "#status")).includes("tmetal"), "a link of odd values is taken as far as it goes", await text(odd, "#status"));
await odd.close();

// What does not end is ended, and what is too long is refused.
await page.evaluate(() => { worker.onmessage = () => {}; ask(); });
await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("Stopped"), { timeout: 15000 });
await after(page, () => page.select("#gpu", "apple-m2"));
check((await output(page)).includes("kernel void matmul("), "after that it goes on");
await page.evaluate(() => { setSource("/".repeat((1 << 20) + 1)); ask(); });
check((await text(page, "#status")).includes("takes 1048576"), "a text that is too long is refused");
await page.close();

// -- Looked at ------------------------------------------------------------------------------------------------------------
for (const size of Object.keys(SIZES))
  for (const scheme of ["light", "dark"]) {
    page = await open(address, size, scheme);
    await judge(page, `${size} ${scheme}`);
    if (size === "desktop" || size === "phone") {
      for (const id of ["launch", "page", "plan"]) {
        await clickTab(page, id);
        await judge(page, `${size} ${scheme} ${id}`);
      }
      await example(page, "Op list", "layer");
      await page.focus("#source");
      await after(page, () => page.keyboard.type("x"));
      await judge(page, `${size} ${scheme} mistake`);
    }
    await page.close();
  }

await browser.close();
console.log(`check-playground: ${done} checks, ${bad} wrong; pictures in ${pictures}`);
process.exit(bad ? 1 : 0);
