#!/bin/sh
# A compiler that is killed is no result to remember: the case is right when it is tried again.
#     killed.sh BUILD-DIRECTORY CLANG
set -eu
dir=$1/killed
rm -rf "$dir"
mkdir -p "$dir"
cp "$1/corpus" "$dir/corpus" # its caches lie beside it
cat > "$dir/clang" << EOF
#!/bin/sh
case "\$*" in */kernels-*) [ ! -e "$dir/die" ] || kill -KILL \$\$ ;; esac
exec $2 "\$@"
EOF
chmod +x "$dir/clang"
try() { TMETAL=$1/tmetal CLANGXX=$dir/clang "$dir/corpus" --dir examples/kernels --filter vector_add > "$dir/out.txt" 2>&1; }
touch "$dir/die"
if try "$1"; then
    echo "corpus: a killed compiler was not noticed"
    exit 1
fi
grep -q 'clang failed' "$dir/out.txt" || { cat "$dir/out.txt"; exit 1; }
rm "$dir/die"
try "$1" || { echo "corpus: what a killed compiler left was remembered"; exit 1; }
