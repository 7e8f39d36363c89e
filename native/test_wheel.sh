#!/usr/bin/env bash
# Install the wheel in dist/ in a clean environment of each CPython that is here, without Numba and
# without a compiler on the path, and use it. Then run the tests of exactness for each level of
# processor. With the argument `all`, before a release: run all tests of kernels for the best level,
# and compare all levels with the JIT.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(echo dist/arborescence-*.whl | wc -w)" = 1 ] || { echo "one wheel is wanted in dist/"; exit 1; }
wheel=$(echo dist/arborescence-*.whl)
size=$(stat -c %s "$wheel")
echo "$wheel: $((size / 1024)) KB"
[ "$size" -le $((30 * 1024 * 1024)) ] || { echo "larger than 30 MB"; exit 1; }

# The licences of all that is in it.
python3 - "$wheel" << 'END'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[info] = [name.partition("/")[0] for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
metadata = wheel.read(f"{info}/METADATA").decode()
assert "\nLicense-Expression: MIT AND CC-BY-SA-4.0 AND BSD-2-Clause\n" in metadata, metadata[:2000]
for path in ("LICENSE", "licenses/NOTICE.md", "licenses/Numba.txt"):
    assert f"\nLicense-File: {path}\n" in metadata, path
    assert wheel.read(f"{info}/licenses/{path}").strip(), path
END

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Only this environment's programs and the shell's: no compiler.
clean() { env -i HOME="$scratch" PATH="$1/bin" PYTHONDONTWRITEBYTECODE=1 "${@:2}"; }

for version in 3.11 3.12 3.13 3.14; do
  python=$(command -v "python$version" || true)
  if ! "${python:-false}" --version > "$scratch/version" 2>&1; then
    python=$(ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python 2> "$scratch/version" | tail -1 || true)
  fi
  [ -n "$python" ] || { echo "Python $version is not here"; continue; }
  venv="$scratch/$version"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet "$wheel"
  echo "--- Python $version: $("$venv/bin/pip" list --format=freeze | tr '\n' ' ')"
  clean "$venv" python native/smoke.py
done

venv="$scratch/3.11"
"$venv/bin/pip" install --quiet "$wheel[cli]" pytest hypothesis pytest-xdist scipy mpmath udtools joblib
decoding="tests/nonprojective/test_decode.py tests/projective/test_decode.py"
suites="$decoding tests/nonprojective/test_kbest.py tests/inference/test_array_kinds.py
  tests/parsers/test_transport.py"
[ "${1:-}" != all ] || suites="tests/core tests/compiling tests/nonprojective tests/projective tests/undirected tests/inference
  tests/transitions tests/treebank tests/parsers/test_transport.py"
for level in x86-64-v4 x86-64-v3 x86-64-v2; do
  if clean "$venv" ARBORESCENCE_LEVEL=$level python -c "
import sys; from arborescence.compiling import native; sys.exit(native.KERNELS is None)"; then
    echo "--- tests on $level"
    # shellcheck disable=SC2086
    clean "$venv" ARBORESCENCE_LEVEL=$level python -m pytest --quiet -p no:cacheprovider -n auto \
      --dist worksteal -m "not long" $suites
    suites=$decoding # of the same source, the compiler only makes other instructions
  else
    echo "--- this processor does not run $level"
  fi
done

[ "${1:-}" = all ] || exit 0
echo "--- compared with the JIT"
"$venv/bin/pip" install --quiet "$wheel[cli,jit]"
"$venv/bin/python" native/compare.py
