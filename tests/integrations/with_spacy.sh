#!/usr/bin/env bash
# The tests that need spaCy, in an environment of their own.
#
# spaCy decides about the versions of what it shares with this library, such as Typer.
set -euo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check --editable '.[cli,jit,spacy]' \
  --editable models/en \
  pytest pytest-xdist hypothesis
export PATH="$scratch/venv/bin:$PATH"
pytest --quiet -p no:cacheprovider tests/integrations/spacy
pytest --quiet -p no:cacheprovider --doctest-modules src/arborescence/integrations/spacy
pytest --quiet -p no:cacheprovider tests/test_docs.py -k corpora.md
