#!/bin/sh
# Build the instruction counter into DEST from Debian packages. The system stays as it is.
#   tests/agx/build.sh DEST
# Everything comes from the archive that this system's apt already uses: packages are downloaded and unpacked under
# DEST, none is installed. Needs Debian on amd64, about 1 GB and five minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
dest=$(pwd)
mesa=25.0.7
fail() { echo "agx: $*" >&2; exit 1; }

# What must be installed, and the package that has it.
missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need apt-get apt; need dpkg dpkg; need gcc gcc; need g++ g++; need ninja ninja-build; need pkg-config pkg-config
need python3 python3; need xz xz-utils; need clang-19 clang-19
python3 -c 'import yaml' 2>/dev/null || missing="$missing python3-yaml"
pkg-config --exists zlib 2>/dev/null || missing="$missing zlib1g-dev"
[ -z "$missing" ] || fail "missing:$missing. Install them (apt-get install$missing), then run 'make agx' again."
[ "$(dpkg --print-architecture)" = amd64 ] || fail "this script unpacks amd64 packages only"

# An apt with its own lists, on the archive of this one. bookworm's Python is the system's, so mako and the parser
# generators come from there; meson from its backports; Mesa, llvm-spirv and their C library from trixie.
archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
[ "$archive" ] || fail "apt's sources name no Debian archive"
key=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p apt/etc apt/state/lists/partial apt/cache/archives/partial packages/tools packages/trixie source
for suite in bookworm bookworm-backports trixie; do echo "deb [arch=amd64 $key] $archive $suite main"; done > apt/etc/sources.list
echo "deb-src [$key] $archive trixie main" >> apt/etc/sources.list
: > apt/state/status
cat > apt/apt.conf <<CONF
Dir::Etc "$dest/apt/etc"; Dir::Etc::sourcelist "sources.list"; Dir::Etc::sourceparts "-";
Dir::Etc::parts "-"; Dir::Etc::preferencesparts "-";
Dir::State "$dest/apt/state"; Dir::State::status "$dest/apt/state/status"; Dir::Cache "$dest/apt/cache";
APT::Architecture "amd64"; APT::Architectures "amd64"; APT::Sandbox::User "root"; Acquire::Languages "none";
CONF
APT_CONFIG=$dest/apt/apt.conf
export APT_CONFIG
apt-get -q update
fetch() { # FOLDER SUITE PACKAGE...
    folder=$1 suite=$2
    shift 2
    for package in "$@"; do set -- "$@" "$package/$suite"; shift; done
    (cd "packages/$folder" && apt-get -q download "$@")
}
fetch tools bookworm python3-mako python3-markupsafe flex bison m4 libsigsegv2 libfl2
fetch tools bookworm-backports meson
fetch trixie trixie llvm-spirv-19 libllvmspirvlib19.1 libllvm19 libc6 libstdc++6 libgcc-s1 zlib1g libzstd1 libxml2 \
    libffi8 libedit2 libtinfo6 libbsd0 libmd0 liblzma5 libz3-4 libicu76
for folder in tools trixie; do
    for package in packages/$folder/*.deb; do dpkg -x "$package" "$folder"; done
done

(cd source && apt-get -q source --download-only mesa/trixie)
[ -f "source/mesa_$mesa.orig.tar.xz" ] ||
    fail "the archive has another Mesa than $mesa: $(ls source). Check tests/agx/mesa/patch.py against it."
rm -rf "mesa-$mesa"
tar xf "source/mesa_$mesa.orig.tar.xz"
python3 "$here/mesa/patch.py" "mesa-$mesa" "$mesa"

unset CFLAGS CXXFLAGS LDFLAGS
CC=gcc CXX=g++
export CC CXX
PATH=$dest/tools/usr/bin:$PATH
PYTHONPATH=$dest/tools/usr/lib/python3/dist-packages
LD_LIBRARY_PATH=$dest/tools/usr/lib/x86_64-linux-gnu
BISON_PKGDATADIR=$dest/tools/usr/share/bison
M4=$dest/tools/usr/bin/m4
export PATH PYTHONPATH LD_LIBRARY_PATH BISON_PKGDATADIR M4
printf "[binaries]\npython = '/usr/bin/python3'\n" > native.ini
off=
for part in glx egl gbm gles1 gles2 llvm valgrind libunwind shader-cache zstd gallium-va gallium-vdpau gallium-xa xmlconfig; do
    off="$off -D$part=disabled"
done
rm -rf objects
# shellcheck disable=SC2086
/usr/bin/python3 tools/usr/bin/meson setup objects "mesa-$mesa" --native-file native.ini $off -Dgallium-drivers= \
    -Dvulkan-drivers= -Dplatforms= -Dopengl=false -Dbuild-tests=false -Dbuildtype=plain -Db_ndebug=false -Dc_args=-O1 \
    -Dcpp_args=-O1 -Ddraw-use-llvm=false
ninja -C objects ${JOBS:+-j"$JOBS"} src/asahi/count/agx-count
cp objects/src/asahi/count/agx-count agx-count
(cd "$here" && cat build.sh mesa/patch.py mesa/count.c mesa/meson.build) | cksum > agx-count.of
