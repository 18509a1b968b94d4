// Pages in headless Chromium: no error of their own, no text that overlaps another or is cut, nothing serious by
// axe-core; at desktop and phone width, light and dark; and the lines that the page draws for accesses are as many as
// the compiler predicts.
//
//   NODE_PATH=build/pages/node_modules node tests/pages/look.js [--shots DIR] [--all] FILE.html...
//
// --all: five ways to look instead of two. Needs puppeteer-core and axe-core (`make pages-tools`) and a Chromium
// (CHROMIUM=path).
'use strict';
const fs = require('fs'), path = require('path');
const puppeteer = require('puppeteer-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const args = process.argv.slice(2), files = [];
let shots = '', all = false;
while (args.length) {
  const a = args.shift();
  if (a === '--shots') shots = args.shift();
  else if (a === '--all') all = true;
  else files.push(a);
}
const WAYS = [['desktop', 1280, 900, 'light'], ['phone', 390, 844, 'dark'], ['desktop', 1280, 900, 'dark'], ['phone', 390, 844, 'light'], ['wide', 1720, 1000, 'light']];

/* In the page: boxes of text that leave what they stand in, or lie on one another. */
function geometry() {
  scrollTo(0, 0);
  const bad = [], name = n => n.tagName.toLowerCase() + (n.id ? '#' + n.id : n.className && n.className.baseVal === undefined ? '.' + n.className : '') +
    ' "' + n.textContent.trim().slice(0, 40) + '"';
  if (document.documentElement.scrollWidth > innerWidth + 1) bad.push('the page is wider than the window: ' + document.documentElement.scrollWidth);
  const scrolls = n => { const s = getComputedStyle(n); return /auto|scroll/.test(s.overflowX + s.overflowY); };
  /* what of a box is seen, and whether something that does not scroll cuts it */
  const boxes = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let t = walker.nextNode(); t; t = walker.nextNode()) {
    const of = t.parentElement;
    if (!t.data.trim() || /^(SCRIPT|STYLE|OPTION|TITLE)$/i.test(of.tagName) || of.closest('title') || !of.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(t);
    for (const r of range.getClientRects()) {
      let seen = { left: r.left, top: r.top, right: r.right, bottom: r.bottom }, cut = null;
      for (let up = of; up && up !== document.body; up = up.parentElement) {
        const s = getComputedStyle(up), b = up.getBoundingClientRect(), clips = s.overflowX !== 'visible' || up.tagName === 'svg';
        if (!clips) continue;
        if (!scrolls(up) && (seen.left < b.left - 1 || seen.right > b.right + 1 || seen.top < b.top - 1 || seen.bottom > b.bottom + 1) && r.width > 0) cut = up;
        seen = { left: Math.max(seen.left, b.left), top: Math.max(seen.top, b.top), right: Math.min(seen.right, b.right), bottom: Math.min(seen.bottom, b.bottom) };
        if (scrolls(up)) break;
      }
      if (cut) bad.push(name(of) + ' is cut by ' + cut.tagName.toLowerCase() + (cut.id ? '#' + cut.id : ''));
      if (seen.right - seen.left > 2 && seen.bottom - seen.top > 2) boxes.push({ of, ...seen });
    }
  }
  /* by rows of 40 pixels, so that not every pair is looked at */
  const rows = new Map();
  boxes.forEach((b, i) => { for (let y = Math.floor(b.top / 40); y <= Math.floor(b.bottom / 40); y++) { if (!rows.has(y)) rows.set(y, []); rows.get(y).push(i); } });
  const told = new Set();
  for (const list of rows.values())
    for (let i = 0; i < list.length; i++)
      for (let k = 0; k < i; k++) {
        const a = boxes[list[i]], b = boxes[list[k]];
        if (a.of === b.of || a.of.contains(b.of) || b.of.contains(a.of)) continue;
        const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (w < 1.5 || h < 4) continue;   /* line boxes may touch; letters do not */
        const text = name(a.of) + ' lies on ' + name(b.of);
        if (!told.has(text)) told.add(text), bad.push(text);
      }
  /* numbers on coloured boxes, which axe does not judge */
  const light = c => { const v = c.match(/[\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  let least = 21;
  for (const box of document.querySelectorAll('rect.el:not(.off)')) {
    const text = box.nextElementSibling;
    if (!text || !text.matches('text[aria-hidden]')) continue;
    const [a, b] = [light(getComputedStyle(box).fill), light(getComputedStyle(text).fill)];
    least = Math.min(least, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  if (least < 4.5) bad.push('a number on its box has a contrast of ' + least.toFixed(2));
  return { bad, texts: boxes.length };
}

/* In the page: lines that its steps touch, beside those that the compiler counted. */
function figures(kernel) {
  const bad = [], data = JSON.parse(document.getElementById('page-data').textContent), accesses = data.explain.kernels[kernel].accesses;
  const slide = (id, v) => { const n = document.getElementById(id); if (!n.disabled) n.value = v, n.dispatchEvent(new Event('input')); };
  let counted = 0;
  for (let i = 0; i < accesses.length; i += 1 + Math.floor(accesses.length / 12))
    for (const [program, group] of [[0, 0], [3, 1]]) {
      const a = accesses[i];
      slide('program', program);
      slide('group', group);
      document.querySelector('[data-access="' + i + '"]').click();
      for (const r of document.querySelectorAll('#access input[type=range]')) r.value = 1, r.dispatchEvent(new Event('input'));
      const got = document.getElementById('lines').dataset;
      if (got.sure !== '1') continue;
      counted++;
      if (+got.touched < a.lines || +got.touched > a.most_lines) bad.push('access ' + i + ' touches ' + got.touched + ' lines, and ' + a.lines + ' to ' + a.most_lines + ' were predicted');
    }
  document.getElementById('release').click();
  return { bad, counted };
}

/* By keyboard alone: through the Metal, the elements of a tile and the lanes of an access, and let go. What is lost? */
async function walk(page) {
  const bad = [], press = async (...keys) => { for (const k of keys) await page.keyboard.press(k); };
  const expect = async (what, test) => { if (!await page.evaluate(test)) bad.push('by keyboard: ' + what); };
  const focus = what => page.evaluate(s => { const n = document.querySelector(s); if (n) n.focus(); return Boolean(n); }, what);
  await focus('#metal-code');
  await press('End', 'Home', ...Array(30).fill('ArrowDown'), 'Enter');
  await expect('no line is the current one', () => document.querySelector('#metal-code .now') && document.getElementById('metal-code').getAttribute('aria-activedescendant'));
  await expect('nothing can be let go', () => !document.getElementById('release').hidden);
  if (await focus('#layout .tile')) {
    await press('ArrowRight', 'ArrowDown', 'ArrowLeft');
    await expect('no element is marked', () => document.querySelector('#layout .mine'));
    await expect('the tile lost the focus', () => document.activeElement.classList.contains('tile'));
  }
  if (await focus('#lines svg')) {
    await press('ArrowRight', 'ArrowRight');
    await expect('the lines lost the focus', () => document.activeElement.closest('#lines'));
  }
  await new Promise(r => setTimeout(r, 120));
  await expect('nothing is said', () => document.getElementById('said').textContent);
  await press('Escape');
  await expect('something stays lit', () => document.getElementById('release').hidden && !document.querySelector('.ln.now, .ln.lit, .on'));
  return bad;
}

/* Texts open on the kernel's body; a line that is pointed at scrolls the others; one that is kept and out of sight is announced. */
async function follow(page) {
  const bad = [], expect = async (what, test) => { if (!await page.evaluate(test)) bad.push('following: ' + what); };
  await page.evaluate(() => {
    window.isSeen = n => { const c = n.closest('.code').getBoundingClientRect(), r = n.getBoundingClientRect(); return r.top >= c.top - 1 && r.bottom <= c.bottom + 1; };
    window.topOf = id => [...document.querySelectorAll('#' + id + ' .ln')].find(isSeen).textContent;
    window.scrollsOn = id => { const c = document.getElementById(id); return c.scrollTop + c.clientHeight < c.scrollHeight - 2; };
  });
  await expect('the Metal opens above its body', () => !scrollsOn('metal-code') || topOf('metal-code').startsWith('{'));
  await expect('the IR opens above its body', () => !scrollsOn('ir-code') || !/^(module|#loc|\/\/)/.test(topOf('ir-code')));
  const last = await page.evaluateHandle(() => {
    const n = [...document.querySelectorAll('#ir-code .ln')].filter(n => /tt\.(store|atomic)/.test(n.textContent)).pop();
    if (n) n.scrollIntoView({ block: 'center' });
    document.getElementById('metal-code').scrollTop = 0;
    return n;
  });
  const line = last.asElement();
  if (!line || !await page.evaluate(() => document.getElementById('metal-code').scrollHeight > 1.5 * document.getElementById('metal-code').clientHeight)) return bad;
  await page.mouse.move(2, 2);
  await line.hover();
  if (await page.evaluate(() => !document.querySelector('#metal-code .lit'))) return bad;   /* it has no Metal of its own */
  await page.waitForFunction(() => [...document.querySelectorAll('#metal-code .lit')].some(isSeen), { timeout: 10000 }).catch(() => bad.push('following: the Metal stays where it is'));
  await line.click();
  await page.evaluate(() => new Promise(done => { document.getElementById('metal-code').scrollTop = 0; requestAnimationFrame(() => requestAnimationFrame(done)); }));
  await expect('nothing says where the line is', () => [...document.querySelectorAll('#metal-code .lit')].some(isSeen)
    || /^\u25bc lines? \d/.test((document.querySelector('#metal-code ~ .where.below') || {}).textContent));
  await page.evaluate(() => { const n = document.querySelector('#metal-code ~ .where.below'); if (n) n.click(); });
  await expect('a click there does not go to the line', () => [...document.querySelectorAll('#metal-code .lit')].some(isSeen));
  await page.evaluate(() => { document.getElementById('release').click(); scrollTo(0, 0); });
  return bad;
}

/* One page: at desktop width in light, then at phone width in dark; with --all in the other two ways as well. */
async function look(browser, file, judged) {
  const page = await browser.newPage(), bad = [], done = { texts: 0, counted: 0, looks: 0 }, name = path.basename(file);
  page.on('pageerror', e => bad.push('error: ' + e.message));
  page.on('console', m => { if (m.type() === 'error') bad.push('console: ' + m.text()); });
  page.on('dialog', d => { bad.push('a text became a script: ' + d.message()); d.dismiss(); });
  page.on('request', r => { if (!/^(file|data):/.test(r.url())) bad.push('asks for ' + r.url()); });
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto('file://' + path.resolve(file));
  const kernels = Math.max(1, await page.$$eval('#kernel option', o => o.length));
  bad.push(...await follow(page));
  if (judged) await page.evaluate(axe);
  for (const [what, width, height, scheme] of WAYS.slice(0, all ? WAYS.length : 2)) {
    await page.setViewport({ width, height, deviceScaleFactor: shots ? 2 : 1 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.evaluate(() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))));   /* it has drawn anew */
    for (let k = 0; k < kernels; k++) {
      if (kernels > 1) await page.select('#kernel', String(k));
      if (!done.looks) {
        const f = await page.evaluate(figures, k);
        done.counted += f.counted;
        bad.push(...f.bad.slice(0, 3));
      }
      const g = await page.evaluate(geometry);
      done.texts += g.texts;
      bad.push(...g.bad.slice(0, 6).map(b => what + ': ' + b));
    }
    const found = !judged ? [] : await page.evaluate(async () => (await axe.run(document, { resultTypes: ['violations'] })).violations
      .filter(v => v.impact === 'serious' || v.impact === 'critical').map(v => v.id + ': ' + v.nodes.length + ' x ' + v.nodes[0].html.slice(0, 120)));
    bad.push(...found.map(b => what + ', ' + scheme + ': ' + b));
    if (shots) await page.screenshot({ path: path.join(shots, path.basename(file, '.html') + '-' + what + '-' + scheme + '.png'), fullPage: true });
    done.looks++;
  }
  if (judged) bad.push(...await walk(page));
  if (!done.texts) bad.push('shows nothing');
  await page.close();
  for (const b of bad) console.log(name + ': ' + b);
  return { ...done, bad: bad.length };
}

(async () => {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  const sum = { texts: 0, counted: 0, looks: 0, bad: 0 };
  for (const [i, f] of files.entries())   /* axe takes most of the time, and pages differ little in what it looks at */
    for (const [k, v] of Object.entries(await look(browser, f, i % 8 === 0))) sum[k] += v;
  await browser.close();
  console.log('pages: ' + files.length + ' pages, ' + sum.looks + ' looks, ' + sum.texts + ' texts in their places, ' + sum.counted + ' accesses as predicted, ' + sum.bad + ' complaints');
  process.exit(sum.bad || !sum.looks ? 1 : 0);
})();
