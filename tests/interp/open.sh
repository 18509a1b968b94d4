#!/bin/sh
# open.sh BUILD: what has no one answer is told apart, by its reason, and what has one is still judged: each kernel in
# tests/interp/open is judged as its line EXPECT says; with a fault planted in its Metal (PLANT, and the recorded
# kernels of planted.txt) it must differ or break a rule of the simulator.
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=tests/interp/open
status=0
judge() { "$build/random" --jobs 1 --unsure --all --way '--gpu apple-m3-max' "$@"; }
fail() { echo "open.sh: $*"; status=1; }

judge $here/*.ttir > "$work/said"
for f in $here/*.ttir; do
    want=$(sed -n 's/^\/\/ EXPECT //p' "$f")
    got=$(sed -n "s|^\(.*[a-zA-Z]\)  *$f:\( ([^)]*)\)\{0,1\}.*|\1\2|p" "$work/said")
    [ -n "$want" ] && [ "$got" = "$want" ] || fail "$f: $got, expected $want"
done

cat > "$work/tmetal" <<EOF
#!/bin/sh
"$build/tmetal" "\$@" > "$work/out.\$\$" || exit \$?
sed -f "$work/sed" "$work/out.\$\$"
rm -f "$work/out.\$\$"
EOF
chmod +x "$work/tmetal"
for f in $here/*.ttir; do sed -n "s|^// PLANT |$f |p" "$f"; done > "$work/plants"
sed -n 's|^recorded/\([^ ]*\)  *|tests/kernels/recorded/\1.ttir |p' $here/planted.txt >> "$work/plants"
while read -r f fault; do
    echo "$fault" > "$work/sed"
    TMETAL="$work/tmetal" judge "$f" > "$work/said" < /dev/null
    grep -v 'Metal text:' "$work/said" | grep -q -e '^DISAGREES' -e '^VIOLATION' || fail "$f with $fault is not seen: $(head -1 "$work/said")"
done < "$work/plants"
[ $status = 0 ] && echo "open.sh: $(ls $here/*.ttir | wc -l) kernels judged as expected, $(wc -l < "$work/plants") faults seen"
exit $status
