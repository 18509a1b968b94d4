#!/bin/sh
# Launch code in Swift, read by check.py: for the cases that build/hosts-run printed as right for another language, and compared
# with their plans by plan.py.
#   tests/hosts/swift/run.sh BUILD LIST DIRECTORY...
# Without LIST: what check.py must take and refuse, the example, and the Swift of docs/.
set -eu
build=$1/swift
tmetal=$1/tmetal
here=tests/hosts/swift
command -v python3 >/dev/null 2>&1 || { echo "swift: no python3: launch code in Swift is not read"; exit 0; }
export PYTHONDONTWRITEBYTECODE=1
if [ $# = 1 ]; then
    python3 $here/test.py "$tmetal" "$1"
    python3 $here/check.py --c tmetal.h examples/swift/main.swift
    # the Swift of docs/, behind the launch code that it calls
    {
        "$tmetal" compile examples/kernels/vector_add.ttir --emit swift
        echo 'struct Missing: Error { }'
        for page in docs/*.md; do awk '/^```swift$/ { on = 1; next } /^```$/ { on = 0 } on { print }' "$page"; done
    } > "$1/docs.swift"
    python3 $here/check.py "$1/docs.swift"
    exit
fi
list=$2
shift 2
rm -rf "$build"
mkdir -p "$build"
find "$@" -name '*.ttir' > "$build/all"
sed -n 's/^right \([^:]*\).*/\1/p' "$list" | while read -r name; do
    file=$(grep "/$name\.ttir\$" "$build/all" | head -n 1)
    [ -n "$file" ] || { echo "swift: $name is no case of these folders: left out"; continue; } # made by the test itself
    "$tmetal" compile "$file" --emit swift -o "$build/$(basename "$name").swift"
    "$tmetal" compile "$file" --emit plan -o "$build/$(basename "$name").json"
done
python3 $here/check.py "$build"/*.swift
python3 $here/plan.py "$build"
