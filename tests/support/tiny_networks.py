"""Tiny neural parsers, for tests."""

from __future__ import annotations

import numpy as np

from arborescence.parsers import BiaffineParser
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.settings import Settings
from arborescence.parsers.neural.stored import shapes_of
from arborescence.parsers.neural.vocabulary import NOTHING, Vocabulary
from arborescence.parsers.shared.training_trees import TrainingTrees

SIZES = {"word": 12, "letter": 4, "filters": 6, "tag": 4, "hidden": 8, "arc": 12, "label": 8}
#: Settings of training with a tiny network that has nothing random but its first weights.
TINY = {**SIZES, "upper": 1, "dropout": 0.0, "word_dropout": 0.0, "rate": 0.03}


def random_parser(treebank, *, seed=1, tagger=None, text=None, device=None, **settings):
    """Make a parser whose weights are random numbers."""
    chosen = Settings(**{**SIZES, "rng": seed, **settings})
    vocabulary = Vocabulary.of(treebank, chosen.columns, least=1)
    if chosen.vector:
        rows = {word: row for row, word in enumerate(vocabulary.words, 1)}
        vocabulary = vocabulary._replace(vectors=rows)
    trees = TrainingTrees.of(treebank, projective=False)
    sizes = shapes_of(chosen, vocabulary, hinted=tagger is not None, relations=len(trees.labels))
    generator = np.random.default_rng(seed)
    weights = {
        name: generator.normal(size=size, scale=0.5).astype(np.float32)
        for name, size in sizes.items()
    }
    weights["letters.weight"][NOTHING] = 0  # as in training
    return BiaffineParser(
        settings=chosen,
        vocabulary=vocabulary,
        labels=trees.labels,
        allowed=trees.allowed,
        weights=stored.to_arrays(weights, chosen.precision),
        tagger=tagger,
        text=text,
        device=device,
    )
