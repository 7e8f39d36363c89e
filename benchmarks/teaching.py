"""A parser goes on from its treebank and from text that a better one has parsed.

``python benchmarks/teaching.py MODEL TRAIN DEV PARSED... -o new.npz``: TRAIN is what MODEL was made
from, and counts twice; PARSED comes from ``arborescence parse`` with a teacher. Unlike in
``train --from``, the tagger's guesses for TRAIN are those of taggers that have not seen it, and few
words become new ones. The card of `english` has the whole recipe.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import arborescence as arb
from arborescence.parsers.neural.inputs import hints_of, jackknifed_hints
from arborescence.parsers.neural.parser import BiaffineParser
from arborescence.parsers.neural.training import Trainer
from arborescence.parsers.neural.vocabulary import Vocabulary
from arborescence.parsers.shared.run import Task
from arborescence.treebank import read


def taught(start, treebank, dev, parsed, *, least=5, times=2, say=None, **settings):
    """Return `start` after training on a treebank and parsed text, whose tags it takes for gold."""
    chosen = replace(start.settings, **settings)
    # its words in the text at least so many times; a model has a hundred bytes for each
    vocabulary = start.vocabulary.grown(Vocabulary.of(parsed, chosen.columns, least))
    hints = jackknifed_hints(treebank, start.tagger, vocabulary, rng=chosen.rng) * times
    hints += hints_of(parsed, start.tagger, vocabulary)
    task = Task([*treebank * times, *parsed], dev, chosen, BiaffineParser, start)
    run = Trainer(task, hints, vocabulary, tagger=start.tagger)
    run.run(chosen.epochs, progress=say)
    parser = BiaffineParser(**run.parts(), text=start.text)
    parser.rules = start.rules
    return parser


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for name in ("start", "treebank", "dev"):
        arguments.add_argument(name)
    arguments.add_argument("parsed", nargs="+")
    arguments.add_argument("-o", "--output", required=True)
    arguments.add_argument("--epochs", type=int, default=4)
    arguments.add_argument("--rate", type=float, default=1.2e-3)
    given = arguments.parse_args()
    parser = taught(
        arb.load(given.start),
        list(read(given.treebank)),
        list(read(given.dev)),
        [sentence for path in given.parsed for sentence in read(path)],
        say=lambda phase, done, total: print(phase, done, total) if ":" in phase else None,
        epochs=given.epochs,
        rate=given.rate,
        mixed=True,
    )
    parser.save(given.output)


if __name__ == "__main__":
    main()
