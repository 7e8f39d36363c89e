#!/usr/bin/env bash
# make calibrated: fits the probabilities of all models anew, without training, from the dev parts of ../shared/ud, and writes their cards.
# Each model is there before and after; a run that is interrupted can be begun again.
set -euo pipefail
cd "$(dirname "$0")"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
treebanks=../../shared/ud
beside=$(mktemp -d ./.calibrated.XXXXXX)
trap 'rm -rf "$beside"' EXIT

for file in en/src/arborescence_en/english-fast en/src/arborescence_en/english en-large/src/arborescence_en_large/english-large en-xl/src/arborescence_en_xl/english-xl; do
  echo "=== $file"
  arborescence calibrate "$file.npz" "$treebanks/English-EWT" -o "$beside/${file##*/}.npz"
  mv "$beside/${file##*/}.npz" "$file.npz"
done

for language in "af Afrikaans-AfriBooms" "fr French-Sequoia" "pt Portuguese-Bosque"; do
  read -r name treebank <<<"$language"
  echo "=== $name"
  arborescence calibrate "$name/src/arborescence_$name/$name.npz" "$treebanks/$treebank" -o "$beside/$name.npz"
  arborescence package "$beside/$name.npz" --name "$name" --treebank "$treebanks/$treebank" -o "$beside/$name" --no-wheel
  rm -rf "$name"
  mv "$beside/$name" "$name"
done

# The table of docs/confidence.md, and what the cards of the English models say.
cd ..
python benchmarks shipped
python benchmarks/figures.py
