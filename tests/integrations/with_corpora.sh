#!/usr/bin/env bash
# The tests of Arrow, Ray, datasets and JAX, in an environment of their own.
set -euo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check --upgrade "pip>=25.1"
"$scratch/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check -e '.[cli,arrow,ray]' -e models/en --group test \
  datasets==5.2.0 ray==2.60.0 pyarrow==26.0.1 jax==0.10.2
export ARBORESCENCE_QUIET=1 HF_HUB_OFFLINE=1 RAY_USAGE_STATS_ENABLED=0
"$scratch/venv/bin/pytest" --quiet -p no:cacheprovider \
  tests/integrations/test_arrow.py tests/integrations/test_datasets.py tests/integrations/test_ray.py \
  tests/integrations/test_jax.py
"$scratch/venv/bin/pytest" --quiet -p no:cacheprovider tests/test_docs.py -k "corpora.md or torch.md"
