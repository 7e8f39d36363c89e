"""Words of a sentence with random tags and features, as rules read them."""

import numpy as np

from arborescence.rules.trees import Trees

FEATS = ("_", "ExtPos=ADV", "Polarity=Neg", "Poss=Yes")
MISC = ("_", "_", "SpaceAfter=No", "Subject=Outer")
TAGS = ("NOUN", "VERB", "DET", "PUNCT", "ADV", "PROPN")


def random_words(rng, n, labels):
    """The words of a sentence, without a tree."""
    tags = np.concatenate([[-1], rng.integers(len(TAGS), size=n)])
    misc = rng.choice(MISC, n + 1)
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
        misc=lambda word: misc[word],
    )
