"""How often a model finds the language of a text, and which pairs of languages it confuses.

``python benchmarks/languages_found.py TREEBANKS [MODEL]``: TREEBANKS is what `models/multi_data.py`
wrote; MODEL is a model of several languages, `multi` by default. The dev and test parts of all
treebanks are cut into texts of 20 and of 50 words.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import arborescence as arb
from arborescence.treebank import raw_text, read

#: The words of a text.
WORDS: Final = (20, 50)
#: The most texts of a language.
MOST: Final = 200


def texts(folder: Path, words: int) -> list[str]:
    """Cut the dev and the test part of a treebank into texts of this number of words."""
    whole = " ".join(raw_text(read(folder / f"{part}.conllu")) for part in ("dev", "test"))
    tokens = whole.split()
    if sum(map(len, tokens)) > 10 * len(tokens):  # without spaces: some two letters are a word
        letters = "".join(tokens)
        return [letters[i : i + 2 * words] for i in range(0, len(letters) - 2 * words, 2 * words)]
    return [" ".join(tokens[i : i + words]) for i in range(0, len(tokens) - words, words)]


def main(treebanks: str, model: str = "multi") -> None:
    """Print the share of right languages, and the confused pairs, for each length."""
    parser = arb.load(model, language="auto")
    listed = json.loads(Path(treebanks, "treebanks.json").read_text(encoding="utf-8"))["treebanks"]
    for words in WORDS:
        found: Counter[tuple[str, str]] = Counter()
        for name, each in listed.items():
            for text in texts(Path(treebanks, name), words)[:MOST]:
                found[each["language"], parser.identifier.identify(text)] += 1
        right = sum(count for (code, other), count in found.items() if code == other)
        confused = ", ".join(
            f"{code} as {other} {count}"
            for (code, other), count in found.most_common()
            if code != other and count > 1
        )
        total = found.total()
        print(f"{words} words: {right / total:.2%} of {total:,} texts; {confused}")


if __name__ == "__main__":
    main(*sys.argv[1:])
