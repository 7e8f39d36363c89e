#!/usr/bin/env bash
# Install the wheels in dist/ in a clean environment of each CPython that is here, without Numba and
# without a compiler on the path, and use it. Then run the tests of exactness for each level of
# processor. With the argument `all`, before a release: run all tests of kernels for the best level,
# and compare all levels with the JIT.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(echo dist/arborescence-*_"$(uname -m)".whl | wc -w)" = 1 ] || { echo "one wheel for here is wanted in dist/"; exit 1; }
wheel=$(echo dist/arborescence-*_"$(uname -m)".whl)
size=$(stat -c %s "$wheel")
echo "$wheel: $((size / 1024)) KB"
[ "$size" -le 4500000 ] || { echo "larger than 4.5 MB"; exit 1; }
english=$(echo dist/arborescence_en-*.whl)
papers=$(echo dist/arborescence_papers-*.whl)

# The licences of all that is in it.
python3 - "$wheel" << 'END'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[info] = [name.partition("/")[0] for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
metadata = wheel.read(f"{info}/METADATA").decode()
assert "\nLicense-Expression: MIT AND BSD-2-Clause\n" in metadata, metadata[:2000]
for path in ("LICENSE", "licenses/NOTICE.md", "licenses/Numba.txt"):
    assert f"\nLicense-File: {path}\n" in metadata, path
    assert wheel.read(f"{info}/licenses/{path}").strip(), path
assert not [name for name in wheel.namelist() if name.endswith(".npz") or "papers" in name]
END

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Only this environment's programs and the shell's: no compiler.
clean() { env -i HOME="$scratch" PATH="$1/bin" FEW_GRAPHS="$few" "${@:2}"; }

# Whether to take a part of the random graphs, as `make test` does.
few=1
[ "${1:-}" != all ] || few=0

for version in 3.11 3.12 3.13 3.14; do
  python=$(command -v "python$version" || true)
  if ! "${python:-false}" --version > "$scratch/version" 2>&1; then
    python=$(ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python 2> "$scratch/version" | tail -1 || true)
  fi
  [ -n "$python" ] || { echo "Python $version is not here"; continue; }
  venv="$scratch/$version"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet "$wheel" "$english"
  echo "--- Python $version: $("$venv/bin/pip" list --format=freeze | tr '\n' ' ')"
  clean "$venv" python native/smoke.py
done

venv="$scratch/3.11"
# Some tests compare with the baselines of the papers, which need nothing else.
"$venv/bin/pip" install --quiet --no-deps "$papers"
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

echo "--- inference alone: nothing of parsing, treebanks, drawing, explaining or teaching"
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -r "$site/arborescence" "$scratch/whole"
(cd "$site/arborescence" && rm -r parsers treebank drawing explaining cli integrations rules transitions)
clean "$venv" python -m pytest --quiet -p no:cacheprovider -n auto --dist worksteal -m "not long" \
  -k "not real" $decoding tests/nonprojective/test_kbest.py tests/inference/test_search.py tests/undirected/test_decoding.py
rm -r "$site/arborescence"
cp -r "$scratch/whole" "$site/arborescence"

echo "--- the experiments beside it"
"$scratch/3.11/bin/python" -m venv "$scratch/papers"
"$scratch/papers/bin/pip" install --quiet "$wheel" "$papers"
clean "$scratch/papers" arborescence experiment --help > "$scratch/help"
grep -q undirected "$scratch/help"
clean "$scratch/papers" arborescence experiment runtime --help > "$scratch/help"

[ "${1:-}" = all ] || exit 0
echo "--- compared with the JIT"
"$venv/bin/pip" install --quiet "$wheel[cli,jit]"
"$venv/bin/python" native/compare.py
