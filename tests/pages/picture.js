// The picture of a page for the README: NODE_PATH=... node tests/pages/picture.js PAGE.html OUT.png VALUE
// One value is chosen and an element of it; tests/pages/smaller.py makes the file small.
'use strict';
const path = require('path'), puppeteer = require('puppeteer-core');
const [page_, out, value] = process.argv.slice(2);
(async () => {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  const page = await browser.newPage();
  await page.setViewport({ width: 1260, height: 1330 });
  await page.goto('file://' + path.resolve(page_));
  await page.evaluate(v => {
    [...document.querySelectorAll('#ir-code [data-v]')].find(s => s.textContent === v).click();
    document.querySelector('#layout [data-e="65"]').dispatchEvent(new MouseEvent('click', { bubbles: true }));
    scrollTo(0, 0);
  }, value);
  await new Promise(r => setTimeout(r, 200));
  await page.screenshot({ path: out });
  await browser.close();
})();
