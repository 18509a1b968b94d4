#!/bin/sh
# The rules of the house that a machine can check: length of lines and functions, the banners of the sections and what
# they say, no declaration across sections. What is not kept yet has a number in ratchet.txt, which may only fall.
#   tests/house/check.sh BUILD         is all kept?
#   tests/house/check.sh BUILD fill    writes what the banners say of `uses`, and lowers the numbers
set -eu
here=$(dirname "$0")
build=$1/house
fill=${2:-}
header=tmetal.h
mkdir -p "$build"
bad=0
complain() { echo "house: $*" >&2; bad=1; }

python3 "$here/order.py" $header || bad=1

# The top level holds these and dotfiles, nothing else; without git, what is committed is not known.
if command -v git > /dev/null && git rev-parse --git-dir > /dev/null 2>&1; then
    git ls-files | cut -d/ -f1 | sort -u | grep -vxE 'tmetal\.h|tests|examples|Makefile|docs|LICENSE|README\.md|\..*' > "$build/top" || true
    [ ! -s "$build/top" ] || complain "the top level also holds: $(tr '\n' ' ' < "$build/top")"
fi

awk -f "$here/names.awk" pass=1 $header pass=2 $header > "$build/names"

# `uses`: every section may use >>config, >>base and >>diag; the others are named.
awk '
    $1 == "section" { name[++n] = $3; at[$3] = $2 }
    $1 == "says" { said[$2 " " $3] = 1 }
    $1 == "uses" { used[$2 " " $3] = $5 " " $4 }
    END {
        split("config base diag", free)
        for (i in free) skip[free[i]] = 1
        for (i = 1; i <= n; i++) {
            list = ""
            for (k = 1; k <= n; k++) {
                f = name[k]
                if (skip[f] || skip[name[i]] || said[name[i] " every"]) continue
                if ((name[i] " " f) in used) {
                    if (k > i) print "wrong >>" name[i] " uses >>" f ", a section below it: " used[name[i] " " f]
                    list = list " " f
                    if (!said[name[i] " " f]) print "wrong the banner of >>" name[i] " leaves out >>" f ": " used[name[i] " " f]
                } else if (said[name[i] " " f]) print "wrong the banner of >>" name[i] " says >>" f ", which it does not use"
            }
            if (list != "") print "list", name[i] list
        }
    }' "$build/names" > "$build/uses"

if [ "$fill" ]; then
    awk -v lists="$build/uses" '
        function put(f,    line, i, n, w) {
            n = split(list[f], w, " ")
            line = " * uses   "
            for (i = 1; i <= n; i++) {
                if (length(line) + length(w[i]) + 4 > 100) {
                    print line
                    line = " *        "
                }
                line = line (line ~ /[a-z]$/ ? "  " : " ") ">>" w[i]
            }
            print line
            done = 1
        }
        BEGIN {
            while ((getline s < lists) > 0) if (s ~ /^list /) {
                split(s, w, " ")
                list[w[2]] = substr(s, length(w[2]) + 7)
            }
        }
        /^ \* >>[a-z]+  \[[0-9]+\]/ { section = substr($2, 3); done = !(section in list) }
        section != "" && / \* uses / && (section in list) { if (!done) put(section); skip = 1; next }
        skip && /^ \*          *>>/ { next }
        { skip = 0 }
        section != "" && !done && (/^ \* order / || /^ \*=+\*\// || /^ \*$/ && seen) { put(section) }
        section != "" { seen = seen || /^ \* gives / }
        /^ \*=+\*\// { section = ""; seen = 0 }
        { print }' $header > "$build/header"
    cmp -s $header "$build/header" || cp "$build/header" $header
else
    while read -r kind text; do [ "$kind" = wrong ] && complain "$text"; done < "$build/uses" || true
    grep -q '^wrong' "$build/uses" && bad=1
fi

# Stamps: the checksum of what stands between a section's banner and its stamp; of >>api between two headings. They are
# part of tmetal_key, so everything that results depend on has one; that of >>cache is the version of its files.
rm -rf "$build/stamp"
mkdir -p "$build/stamp"
awk -v to="$build/stamp/" '
    /^\/\*=+$/ { banner = 1 }
    banner { if (/^ \* >>[a-z]+  \[[0-9]+\]/) section = substr($2, 3); if (/\*\/$/) banner = 0; next }
    section == "api" { on = /^\/\* -- What comes in/ ? 1 : /^\/\* -- Compiling/ ? 0 : on; if (on) print > (to section); next }
    /^#define TMI_STAMP_/ { ended[section] = 1; next }
    section != "" && !ended[section] { print > (to section) }' $header
for section in api $(awk '$1 == "section" && $3 == "config" { on = 1 } $1 == "section" && on { print $3 } $3 == "key" { on = 0 }' "$build/names") cache; do
    name=TMI_STAMP_$(echo "$section" | tr a-z A-Z)
    sum=$(cksum < "$build/stamp/$section")
    grep -q "^#define $name ${sum%% *}u$" $header && [ "$(grep -c "$name\>" $header)" = 2 ] && continue
    if [ "$fill" ]; then sed "s/^#define $name .*/#define $name ${sum%% *}u/" $header > "$build/header" && cp "$build/header" $header
    else complain "$name is not that of >>$section: 'make house' writes it (tmetal_key must change where results may)"; fi
done

# Banners stand in order, as the map at the top lists them.
awk '$1 == "section" { print $2, $3 }' "$build/names" > "$build/banners"
sed -n '/^ \* MAP OF THE FILE/,/^ \* Version/s/^ \* *\([0-9][0-9]*\)  >>\([a-z]*\) .*/\1 \2/p' $header > "$build/map"
cmp -s "$build/banners" "$build/map" || complain "the banners are not those of the map: $(diff "$build/map" "$build/banners" | sed -n 2p)"
awk '$1 != NR { exit 1 }' "$build/banners" || complain "the banners are not numbered in order"

# What has a number.
awk '/^forward/ { n++; print "house:   line " $2 ": " $3 " of >>" $5 " is declared in >>" $4 > "/dev/stderr" } END { print "forward", n + 0 }' "$build/names" > "$build/counts"
awk '$1 == "function" && $2 > 60 { n++; print "house:   line " $3 ": " $4 " has " $2 " lines" > "/dev/stderr" } END { print "functions-over-60", n + 0 }' "$build/names" >> "$build/counts"
awk '/^word/ { n++ } END { print "names-elsewhere", n + 0 }' "$build/names" >> "$build/counts"
awk 'length > 120 { n++ } END { print "lines-over-120", n + 0 }' $header >> "$build/counts"
awk 'length > 100 { n++ } END { print "lines-over-100-per-mille", int((n * 1000 + NR - 1) / NR) }' $header >> "$build/counts"
while read -r what most; do
    now=$(awk -v what="$what" '$1 == what { print $2 }' "$build/counts")
    [ "$now" -le "$most" ] || complain "$what: $now, at most $most"
done < "$here/ratchet.txt"
if [ "$fill" ]; then # never upwards
    awk 'NR == FNR { most[$1] = $2; next } { print $1, ($1 in most) && most[$1] < $2 ? most[$1] : $2 }' \
        "$here/ratchet.txt" "$build/counts" > "$build/ratchet" && cp "$build/ratchet" "$here/ratchet.txt"
fi
[ $bad = 0 ] || exit 1
echo "house: $(tr '\n' ' ' < "$build/counts")"
