#!/bin/sh
# gcc that counts what is run, and the same branches in every program: nothing inlined or folded, no sanitizer, which
# has branches of its own that nothing takes.
for a; do
    shift
    case $a in
    -O* | -fsanitize=* | -fno-sanitize-recover=*) ;;
    *) set -- "$@" "$a" ;;
    esac
done
exec gcc --coverage -O0 "$@"
