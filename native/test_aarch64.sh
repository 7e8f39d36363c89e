#!/usr/bin/env bash
# Test the wheel for Linux on ARM in dist/ by emulation: QEMU runs Debian's Python for arm64 with
# the NumPy for it. Then compare its results with those of this machine's JIT. For Debian 12, as
# root; all but QEMU goes into build/aarch64.
set -euo pipefail
cd "$(dirname "$0")/.."

host=${1:-.venv/bin/python} # has Numba and the package
arm=$PWD/build/aarch64
root=$arm/root site=$arm/site

if ! [ -x "$root/usr/bin/python3.11" ]; then
  command -v qemu-aarch64-static || { apt-get update -qq; apt-get install -qq qemu-user-static; }
  mkdir -p "$arm/lists/partial" "$arm/debs" "$root"
  # Of its own: the system's lists and architectures stay as they are.
  debian() { apt-get -qq -o APT::Architectures::=arm64 -o Dir::State::lists="$arm/lists" "$@"; }
  debian update
  (cd "$arm/debs" && debian download libbz2-1.0:arm64 libc6:arm64 libcrypt1:arm64 libexpat1:arm64 \
    libffi8:arm64 libgcc-s1:arm64 liblzma5:arm64 libpython3.11-minimal:arm64 libpython3.11-stdlib:arm64 \
    libsqlite3-0:arm64 libssl3:arm64 libstdc++6:arm64 libuuid1:arm64 python3.11-minimal:arm64 zlib1g:arm64)
  for package in "$arm"/debs/*.deb; do dpkg-deb --extract "$package" "$root"; done
fi

rm -rf "$site"
pip() {
  "$host" -m pip install --quiet --disable-pip-version-check --target "$site" --upgrade \
    --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 --python-version 3.11 \
    --only-binary=:all: "$@"
}
pip dist/arborescence-*aarch64.whl dist/arborescence_en-*.whl pytest pytest-xdist hypothesis scipy mpmath udtools joblib networkx
pip --no-deps dist/arborescence_papers-*.whl
python="qemu-aarch64-static -L $root $root/usr/bin/python3.11"
emulated() {
  env PYTHONPATH="$site" PYTHONDONTWRITEBYTECODE=1 FEW_GRAPHS=4 OPENBLAS_NUM_THREADS=1 $python "$@"
}

echo "--- $(emulated -c 'import platform; from arborescence.compiling.native import config
print(platform.machine(), config()["kernels"])')"
emulated -c 'from arborescence.compiling import native; assert native.KERNELS is not None'

# Without tests that start processes: the kernel of this machine does not run arm64's Python.
emulated -m pytest --quiet --dist worksteal --tx "$(nproc)*popen//python=$python" -p no:cacheprovider -m "not long and not races" -k "not process" \
  tests/core/test_tree.py tests/core/test_graph.py \
  tests/nonprojective tests/projective tests/distribution/test_arrays.py tests/inference \
  tests/second_order tests/parsers/test_english_sentences.py tests/parsers/test_stored_results.py

echo "--- compared with this machine"
emulated native/compare.py --write "$arm/results"
"$host" native/compare.py "$arm/results"
