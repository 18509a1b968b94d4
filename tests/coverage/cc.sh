#!/bin/sh
# gcc that counts what is run, and the same branches in every program: nothing inlined or folded, no sanitizer and no
# assertions, which have branches of their own that nothing takes.
for a; do
    shift
    case $a in
    -O* | -fsanitize=* | -fno-sanitize-recover=* | -DTMETAL_DEBUG) ;;
    *) set -- "$@" "$a" ;;
    esac
done
exec gcc --coverage -O0 "$@"
