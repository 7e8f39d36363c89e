"""How well models do on text as people write it: in print, with marks apart, in one case.

``python benchmarks/spelling.py english fr=French-Sequoia`` parses the raw text of the test part of
a treebank (of English-EWT, if none is named) in each spelling of ``arborescence convert
--spelling``, and prints a row for each. A model is a name or a file.
"""

from __future__ import annotations

import argparse

import arborescence as arb
from arborescence.parsers.text.tokenizer import tokens_of
from arborescence.treebank import evaluate, read, respelled
from inputs import TREEBANKS
from recording import table

SPELLINGS = ("as it is", "typographic", "guillemets", "nfd", "lower", "upper")
HEADER = ("model", "spelling", "sentences", "words", "UPOS", "lemmas", "UAS", "LAS")
MEASURED = ("sentence_spans", "words", "upos", "lemmas", "uas", "las")


def raw_text(sentences):
    """Return the text of sentences by their comments, with a blank line between paragraphs."""
    text = ""
    for sentence in sentences:
        if text and any(each.startswith(("# newpar", "# newdoc")) for each in sentence.comments):
            text = f"{text.rstrip(' ')}\n\n"
        [[tokens]] = tokens_of([sentence])
        text += sentence.text + " " * tokens[-1].spaced
    return text


def rows(model, treebank, part):
    """Yield a row for each spelling."""
    parser = arb.load(model)
    files = sorted((TREEBANKS / treebank).glob(f"*-ud-{part}.conllu*"))
    sentences = [sentence for path in files for sentence in read(path)]
    for spelling in SPELLINGS:
        gold = sentences if spelling == "as it is" else list(respelled(sentences, spelling))
        found = evaluate(gold, parser(raw_text(gold)))
        figures = (f"{100 * getattr(found, name).f1:.2f}" for name in MEASURED)
        yield (model, spelling, *figures)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("models", nargs="+", metavar="MODEL[=TREEBANK]")
    arguments.add_argument("--part", default="test")
    chosen = arguments.parse_args()
    named = [model.partition("=") for model in chosen.models]
    table(
        HEADER,
        (
            row
            for model, _, treebank in named
            for row in rows(model, treebank or "English-EWT", chosen.part)
        ),
    )


if __name__ == "__main__":
    main()
