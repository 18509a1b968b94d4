#!/bin/sh
# moves.sh TMETAL FILE.ttir...: is the way taken that a file's head names? Lines there, each a fixed text:
#     // METAL text      the Metal for apple-m3-max has it
#     // NO METAL text   and not this
# A look-alike, which must not take that way, says so with the second kind.
bad=0 n=0
tmetal=$1
shift
for f in $(grep -l '^// \(NO \)\?METAL ' "$@"); do
    "$tmetal" compile --gpu apple-m3-max "$f" > "${TMPDIR:-/tmp}/moves.$$" || bad=1
    grep '^// \(NO \)\?METAL ' "$f" > "${TMPDIR:-/tmp}/moves.$$.said"
    while IFS= read -r line; do
        n=$((n + 1))
        case $line in
        "// NO METAL "*) want=1 text=${line#"// NO METAL "} ;;
        *) want=0 text=${line#"// METAL "} ;;
        esac
        grep -qF -e "$text" "${TMPDIR:-/tmp}/moves.$$"
        if [ $? -ne $want ]; then echo "$f: $line"; bad=1; fi
    done < "${TMPDIR:-/tmp}/moves.$$.said"
done
rm -f "${TMPDIR:-/tmp}/moves.$$" "${TMPDIR:-/tmp}/moves.$$.said"
echo "moves: $n texts looked for"
exit $((bad || !n))
