#!/usr/bin/env bash
# A telling part of the tests with the lowest releases of Numba, NumPy and PyTorch that
# pyproject.toml allows, and with the highest: each time in a virtual environment of its own.
# PyTorch takes gigabytes. "lowest" or "highest" alone is an argument.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mapfile -t claims < <("${PYTHON:-python3}" -c '
import tomllib
with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)
extras = project["project"]["optional-dependencies"]
hook = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]
print(*extras["jit"], *extras["torch"], *hook["dependencies"], sep="\n")
')

for which in ${1:-lowest highest}; do
  venv="$scratch/$which"
  "${PYTHON:-python3}" -m venv "$venv"
  wanted=("${claims[@]}")
  [[ $which == highest ]] || wanted=("${claims[@]/%,*/}") # no upper bound: numba>=0.61
  [[ $which == highest ]] || wanted=("${wanted[@]/>=/==}")
  echo "$which: ${wanted[*]}"
  "$venv/bin/pip" install --quiet --upgrade "pip>=25.1"
  "$venv/bin/pip" install --quiet --editable ".[cli,torch]" --editable papers --editable models/en --group test "${wanted[@]}"
  "$venv/bin/pip" list 2> /dev/null | grep -E "^(numba|numpy|torch|llvmlite) "
  NUMBA_CACHE_DIR="$venv/kernels" ARBORESCENCE_QUIET=1 "$venv/bin/python" -m pytest --quiet \
    -p no:cacheprovider -n auto --dist worksteal -m "not long" \
    tests/core tests/compiling tests/inference tests/test_exports.py tests/test_torch.py \
    tests/distribution/test_tensors.py tests/parsers/neural
done
