#!/usr/bin/env bash
# Install the wheel in dist/ for every platform in a clean environment, where Numba compiles it: the
# first tree, and the same tree from the kept kernels in another process.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check dist/arborescence-*-none-any.whl
cd "$scratch" # so that the package is the wheel's
cat > first.py << 'END'
import sys, time
start = time.perf_counter()
import arborescence as arb
heads = arb.decode([[0, 3, 1], [0, 0, 4], [0, 2, 0]])
assert heads.tolist() == [-1, 0, 1], heads
from arborescence.compiling.native import config
assert config()["kernels"].startswith("compiled by Numba"), config()
print(f"{sys.argv[1]}: {time.perf_counter() - start:.1f} s, {config()['kernels']}")
END
kept() { find venv -name '*.nbc' -newer "$1" | wc -l; }
python=venv/bin/python
touch before
ARBORESCENCE_QUIET=1 $python first.py "the first tree, compiled"
[ "$(kept before)" -gt 0 ] || { echo "no kernel was kept"; exit 1; }
touch between
$python first.py "the first tree of another process"
[ "$(kept between)" = 0 ] || { echo "what was kept was compiled again"; exit 1; }
