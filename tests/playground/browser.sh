#!/bin/sh
# The playground in headless Chromium: browser.sh BUILD WHAT-IS-MISSING. puppeteer-core and axe-core are those of
# make pages-tools.
set -eu
build=$1
skip() { echo "check-playground: SKIP: wants $*"; exit 0; }
[ -z "$2" ] || skip "$2"
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$browser" ] || skip chromium
make --no-print-directory BUILD="$build" pages-tools > "$build/pages-tools.log" 2>&1 || skip "npm, which gets puppeteer-core and axe-core"
exec node tests/playground/browser.mjs "$build" "$browser"
