#!/usr/bin/env bash
# make models: a package for each language, from the treebanks of ../shared/ud, trained anew.
# The cards of the English models have their recipes.
# That of pt has gone on from the one of before, by the treebank with copies in other spellings: train neural --from pt.npz
# --epochs 10 --rate 0.001. The words that only the copies made frequent (today, copies make none) and the 900 of two
# occurrences whose rows were nearest to that of unknown words were taken out again: 5.0 MB instead of 5.2.
# XPOS of Portuguese-Bosque has 4,522 values: with it, after fifteen epochs, the model had 8.4 MB instead of 5.3.
set -euo pipefail
cd "$(dirname "$0")"
export OMP_NUM_THREADS=1

for language in "af Afrikaans-AfriBooms" "fr French-Sequoia" "pt Portuguese-Bosque --columns form,upos,feats --word 64 --mixed"; do
  read -r name treebank options <<<"$language"
  read -ra options <<<"$options"
  echo "=== $name, from $treebank"
  time arborescence train neural "../../shared/ud/$treebank" -o "$name.npz" "${options[@]}"
  rm -rf "$name"
  arborescence package "$name.npz" --name "$name" --treebank "../../shared/ud/$treebank" -o "$name" --no-wheel
  rm "$name.npz"
done
