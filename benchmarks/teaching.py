"""A parser goes on from its treebank and from text that better ones have parsed.

``python benchmarks/teaching.py MODEL TRAIN DEV TEXT... --teacher MODEL -o new.npz``: TRAIN is what
MODEL was made from, and counts twice; TEXT has sentences without trees. The teachers parse TEXT,
which takes long, so their trees and probabilities are kept beside each file, and read again. Unlike
in ``train --from``, the tagger's guesses for TRAIN are those of taggers that have not seen it, and
few words become new ones. The card of `english` has the whole recipe.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import arborescence as arb
from arborescence.parsers.neural.inputs import hints_of, jackknifed_hints
from arborescence.parsers.neural.parser import BiaffineParser
from arborescence.parsers.neural.teaching import Likely, SoftTargets, TaughtSentence, soft_targets
from arborescence.parsers.neural.training import Trainer
from arborescence.parsers.neural.vocabulary import Vocabulary
from arborescence.parsers.shared.run import Task
from arborescence.treebank import read, write


def taught(start, treebank, dev, text, *, hard=False, least=5, times=2, say=None, **settings):
    """Return `start` after training on a treebank and on taught text; tags of both count as gold.

    With `hard`, the probabilities of the teachers are not used.
    """
    chosen = replace(start.settings, **settings)
    parsed = [each.sentence for each in text]
    # its words in the text at least so many times; a model has a hundred bytes for each
    vocabulary = start.vocabulary.grown(Vocabulary.of(parsed, chosen.columns, least))
    hints = jackknifed_hints(treebank, start.tagger, vocabulary, rng=chosen.rng) * times
    hints += hints_of(parsed, start.tagger, vocabulary)
    task = Task([*treebank * times, *parsed], dev, chosen, BiaffineParser, start)
    said = None if hard else [None] * len(treebank) * times + [each.targets for each in text]
    run = Trainer(task, hints, vocabulary, tagger=start.tagger, targets=said)
    run.run(chosen.epochs, progress=say)
    parser = BiaffineParser(**run.parts(), text=start.text)
    parser.rules, parser.reading = start.rules, start.reading
    return parser


def kept_targets(path, start, teachers):
    """Return what teachers say about the sentences of a file, kept beside it."""
    trees, shares = path.with_suffix(".taught.conllu"), path.with_suffix(".taught.npz")
    if not shares.exists():
        text = list(soft_targets(teachers, read(path), start.labels))
        # the tagger of the new parser finds the tags that the teachers do not
        write(start.tag(each.sentence for each in text), trees)
        columns = {
            f"{name}_{field}": np.concatenate(
                [
                    np.pad(array, ((0, 4 - len(array)), (0, 0))).astype(
                        np.float16 if field == "chances" else np.int16
                    )
                    for each in text
                    for array in [getattr(getattr(each.targets, name), field)]
                ],
                axis=1,
            )
            for name in SoftTargets._fields
            for field in Likely._fields
        }
        np.savez(shares, **columns)
    sentences = list(read(trees))
    ends = np.cumsum([len(each) + 1 for each in sentences])[:-1]
    with np.load(shares) as kept:
        parts = {name: np.split(kept[name], ends, axis=1) for name in kept.files}
    return [
        TaughtSentence(
            sentence,
            SoftTargets(
                *(
                    Likely(
                        parts[f"{name}_values"][b].astype(np.int64),
                        parts[f"{name}_chances"][b].astype(np.float32),
                    )
                    for name in SoftTargets._fields
                )
            ),
        )
        for b, sentence in enumerate(sentences)
    ]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for name in ("start", "treebank", "dev"):
        arguments.add_argument(name)
    arguments.add_argument("text", nargs="+", type=Path)
    arguments.add_argument("-o", "--output", help="without it, TEXT is only parsed")
    arguments.add_argument("--teacher", action="append", default=[], help="may be given again")
    arguments.add_argument("--hard", action="store_true", help="learn the best trees only")
    arguments.add_argument("--epochs", type=int, default=4)
    arguments.add_argument("--rate", type=float, default=1.2e-3)
    arguments.add_argument("--least", type=int, default=5)
    given = arguments.parse_args()
    start, teachers = arb.load(given.start), [arb.load(name) for name in given.teacher]
    text = [each for path in given.text for each in kept_targets(path, start, teachers)]
    if not given.output:
        return
    parser = taught(
        start,
        list(read(given.treebank)),
        list(read(given.dev)),
        text,
        hard=given.hard,
        least=given.least,
        say=lambda phase, done, total: print(phase, done, total, flush=True),
        epochs=given.epochs,
        rate=given.rate,
        mixed=True,
    )
    parser.save(given.output)


if __name__ == "__main__":
    main()
