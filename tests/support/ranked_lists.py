"""k-best lists of the sample sentences, as a reranker takes them."""

import numpy as np

from arborescence.parsers.reranker import features as trees
from arborescence.parsers.reranker.lists import KBestLists
from arborescence.parsers.shared import features
from samples import treebank

ALL = tuple(features.COLUMNS)


def candidates(sentence, count, seed):
    """Random trees over a sentence, with relations from a few: a k-best list."""
    rng = np.random.default_rng(seed)
    n = len(sentence)
    found = []
    for _ in range(count):
        order = rng.permutation(n) + 1
        heads = np.full(n + 1, -1)
        for i, d in enumerate(order):
            heads[d] = order[rng.integers(i)] if i else 0
        deprels = ["root" if h == 0 else str(rng.choice(["a", "b", "b:c"])) for h in heads[1:]]
        found.append((sentence.replace(heads=heads, deprels=deprels), float(rng.normal())))
    return found


def ranked(count=12):
    lists = [candidates(sentence, count, seed) for seed, sentence in enumerate(treebank())]
    for trees_of, sentence in zip(lists, treebank(), strict=True):
        trees_of.append((sentence, 0.0))  # a tree that a person drew
    return lists


def prepare(lists, columns=ALL, gold=None):
    sides = []
    templates = trees.TreeTemplates.of(columns, sides)
    sentences, arrays = KBestLists.of(lists, gold)
    batch = features.Batch.of(sentences, features.Sides.of(sides), np.empty(0, np.uint64))
    return batch, arrays, templates, trees.Workspace.of(batch, arrays, templates)
