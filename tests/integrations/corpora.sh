#!/usr/bin/env bash
# The tests of Arrow, Ray, datasets and JAX, in an environment of their own: ./corpora.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 -m venv "$1"
"$1/bin/pip" install --quiet --disable-pip-version-check -e '.[cli,arrow,ray]' --group test \
  datasets==5.2.0 ray==2.60.0 pyarrow==26.0.1 jax==0.10.2
export ARBORESCENCE_QUIET=1 HF_HUB_OFFLINE=1 RAY_USAGE_STATS_ENABLED=0
"$1/bin/pytest" --quiet -p no:cacheprovider \
  tests/integrations/test_arrow.py tests/integrations/test_datasets.py tests/integrations/test_ray.py
"$1/bin/pytest" --quiet -p no:cacheprovider tests/test_docs.py -k "arrow.md or jax.md"
