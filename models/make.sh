#!/usr/bin/env bash
# make models: a package for each language, from the treebanks of ../shared/ud, trained anew.
# The networks of english, english-large and pt are those of before; their text parts are new (python models/with_text.py).
# Trained anew with copies in other spellings, pt has 5.2 MB, and more than 5 MB are too many.
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
