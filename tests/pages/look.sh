#!/bin/sh
# Pages of these files, looked at in Chromium: look.sh BUILD FILE.ttir...
build=$1
shift
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
if [ -z "$chromium" ] || ! command -v node > /dev/null || ! make --no-print-directory BUILD="$build" pages-tools > "$build/pages-tools.log" 2>&1; then
    echo "check-pages: skipped: it wants Chromium, node and npm"
    exit 0
fi
mkdir -p "$build/pages/html"
rm -f "$build"/pages/html/*.html
python3 tests/pages/check.py --hostile "$build/pages"
for f in "$build/pages/it's <script>.ttir" "$@"; do
    "$build/tmetal" explain --html "$f" -o "$build/pages/html/$(basename "$f" .ttir).html" 2> /dev/null
done
CHROMIUM=$chromium NODE_PATH=$build/pages/node_modules exec node tests/pages/look.js "$build"/pages/html/*.html
