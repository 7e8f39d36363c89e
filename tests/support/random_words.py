"""Words of a sentence with random tags and features, as rules read them; and all their trees."""

from itertools import product

import numpy as np

from arborescence.rules.trees import Trees
from brute_force import all_trees

FEATS = ("_", "ExtPos=ADV", "Polarity=Neg", "Poss=Yes")
MISC = ("_", "_", "SpaceAfter=No", "Subject=Outer")
TAGS = ("NOUN", "VERB", "DET", "PUNCT", "ADV", "PROPN")


def random_words(rng, n, labels):
    """The words of a sentence, without a tree."""
    tags = np.concatenate([[-1], rng.integers(len(TAGS), size=n)])
    misc = rng.choice(MISC, n + 1)
    misc[0] = "_"
    nobody = np.zeros(n + 1, np.int64)
    return Trees(
        heads=nobody,
        roots=nobody,
        labels=nobody,
        tags=tags,
        upos=tags,
        feats=np.concatenate([[-1], rng.integers(len(FEATS), size=n)]),
        label_names=labels,
        tag_names=TAGS,
        feat_names=FEATS,
        misc=lambda value: misc == value,
    )


def every_tree(words, single, projective):
    """All labeled trees of a sentence, one after the other, and how many there are."""
    n, labels = len(words.heads) - 1, len(words.label_names)
    trees = all_trees(n, single, projective)
    labelings = np.array(list(product(range(labels), repeat=n))).reshape(-1, n)
    heads = np.repeat(trees, len(labelings), axis=0)
    labeled = np.full(heads.shape, -1)
    labeled[:, 1:] = np.tile(labelings, (len(trees), 1))
    many, size = heads.shape
    roots = np.repeat(np.arange(many) * size, size)
    heads[:, 0] = 0

    def for_all(values):
        return np.tile(values, many)

    return words._replace(
        heads=heads.ravel() + roots,
        roots=roots,
        labels=labeled.ravel(),
        tags=for_all(words.tags),
        upos=for_all(words.upos),
        feats=for_all(words.feats),
        misc=lambda value: for_all(words.misc(value)),
    ), many
