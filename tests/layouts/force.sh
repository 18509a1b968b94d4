#!/bin/sh
# tmetal with a layout forced on every reduction: what the corpus runner takes for a compiler.
[ "$1" = compile ] || exec "$BUILD/tmetal" "$@"
exec "$BUILD/tmetal" "$@" --layout "$LAYOUT"
