#!/usr/bin/env bash
# make models: a package for each language, from the treebanks of ../shared/ud, trained anew.
set -euo pipefail
cd "$(dirname "$0")"
export OMP_NUM_THREADS=1

for language in "af Afrikaans-AfriBooms" "fr French-Sequoia" "pt Portuguese-Bosque"; do
  read -r name treebank <<<"$language"
  echo "=== $name, from $treebank"
  time arborescence train neural "../../shared/ud/$treebank" -o "$name.npz"
  rm -rf "$name"
  arborescence package "$name.npz" --name "$name" --treebank "../../shared/ud/$treebank" -o "$name" --no-wheel
  rm "$name.npz"
done
