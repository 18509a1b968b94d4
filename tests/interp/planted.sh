#!/bin/sh
# planted.sh BUILD: a fault is planted in the compiler (sums of lanes become maxima), and build/random --reduce must make a kernel
# small on which it shows: by itself, and with a command as the judge.
set -e
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/tmetal" <<EOF
#!/bin/sh
"$build/tmetal" "\$@" > "$work/out.\$\$" || exit \$?
sed 's/simd_sum(/simd_max(/' "$work/out.\$\$"
rm -f "$work/out.\$\$"
EOF
cat > "$work/judge" <<EOF
#!/bin/sh
"$build/tmetal" compile --gpu apple-m3-max "\$1" 2> "$work/diags" | grep -q 'simd_sum('
EOF
chmod +x "$work/tmetal" "$work/judge"
name=$(ls tests/kernels/recorded/norms-rms*.ttir | head -1)
base=$(basename "$name" .ttir)
cp "${name%.ttir}".ttir "${name%.ttir}".case "${name%.ttir}".bin "$work"
small() { # WHAT LINES
    n=$(grep -c . "$work/$base.small.ttir")
    [ "$n" -le "$2" ] || { echo "planted.sh: $1 leaves $n lines, wanted at most $2"; cat "$work/$base.small.ttir"; exit 1; }
    echo "planted.sh: $1: $(grep -c . "$work/$base.ttir") lines become $n"
}
"$build/random" --reduce "$work/$base.ttir" --judge "$work/judge" > "$work/said"
small 'with a command' 16
rm -f "$work/$base.small."*
TMETAL="$work/tmetal" "$build/random" --way '--gpu apple-m3-max' --reduce "$work/$base.ttir" > "$work/said"
small 'by itself' 20
