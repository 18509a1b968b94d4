#!/bin/sh
# The playground in headless Chromium: browser.sh BUILD WHAT-IS-MISSING. puppeteer-core and axe-core come from npm, into BUILD.
set -eu
build=$1
skip() { echo "check-playground: SKIP: wants $*"; exit 0; }
[ -z "$2" ] || skip "$2"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || skip chromium
command -v npm > /dev/null || skip npm
npm=$build/playground/npm
[ -d "$npm/node_modules/puppeteer-core" ] && [ -d "$npm/node_modules/axe-core" ] ||
    npm install --silent --no-audit --no-fund --prefix "$npm" puppeteer-core@24 axe-core@4 > /dev/null 2>&1 || skip "puppeteer-core and axe-core, which npm cannot get"
exec node tests/playground/browser.mjs "$build" "$browser"
