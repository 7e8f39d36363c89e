"""How well, and how fast, models find sentences, words and lemmas in the raw text of treebanks.

``python benchmarks/raw_text.py English-EWT Turkish-IMST`` learns from the training part of each
treebank, or from its development part where there is no other, and prints a row for each. With
``--trees``, a linear parser is trained, too, by its default options, and its trees are measured.
"""

from __future__ import annotations

import argparse
import time

from arborescence.parsers import Tagger, train
from arborescence.parsers.text import Text
from arborescence.parsers.text.tokenizer import text_of
from arborescence.treebank import evaluate, read
from inputs import TREEBANKS
from recording import table

NAMES = (
    "English-EWT", "Turkish-IMST", "French-GSD", "German-GSD", "Japanese-GSD", "Chinese-GSDSimp",
    "Hebrew-HTB",
)  # fmt: skip
HEADER = (
    "treebank", "learned from", "tokens", "sentences", "words", "lemmas", "lemmas, gold words",
    "words/s",
)  # fmt: skip
TREES = ("treebank", "learned from", "words", "sentences", "lemmas", "UAS", "LAS")


def part_of(treebank, name):
    """Return the sentences of a part of a treebank, or none."""
    files = sorted((TREEBANKS / treebank).glob(f"*-ud-{name}.conllu.gz"))
    return [sentence for path in files for sentence in read(path)]


def row(treebank):
    """Learn from a treebank, and measure on its test part."""
    training = part_of(treebank, "train") or part_of(treebank, "dev")
    gold = part_of(treebank, "test")
    text, tagger = Text.train(training), Tagger.train(training)
    raw = text_of(gold)
    times = []
    for _ in range(3):
        start = time.process_time()
        cut = list(text.tokenizer.split(raw))
        times.append(time.process_time() - start)
    found = evaluate(gold, text.lemmatizer.lemmatize(tagger.tag(cut)))
    given = tagger.tag(gold, overwrite=True)
    given = evaluate(gold, text.lemmatizer.lemmatize(given, overwrite=True))
    figures = (found.tokens, found.sentence_spans, found.words, found.lemmas, given.lemmas)
    return (
        treebank,
        f"{len(training):,}",
        *(f"{100 * figure.f1:.2f}" for figure in figures),
        f"{sum(map(len, cut)) / min(times):,.0f}",
    )


def tree_row(treebank):
    """Train a linear parser, and measure what it makes of the raw text of the test part."""
    training, gold = part_of(treebank, "train"), part_of(treebank, "test")
    parser = train(training, part_of(treebank, "dev") or None, kind="linear")
    found = evaluate(gold, parser(text_of(gold)))
    figures = (found.words, found.sentence_spans, found.lemmas, found.uas, found.las)
    return treebank, f"{len(training):,}", *(f"{100 * figure.f1:.1f}" for figure in figures)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("treebanks", nargs="*", default=NAMES, metavar="TREEBANK")
    arguments.add_argument("--trees", action="store_true")
    chosen = arguments.parse_args()
    if chosen.trees:
        table(TREES, map(tree_row, chosen.treebanks))
    else:
        table(HEADER, map(row, chosen.treebanks))


if __name__ == "__main__":
    main()
