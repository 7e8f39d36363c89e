"""Stanza's repair of head constraints beside ours, on the scores of our models: needs Stanza.

``PYTHONPATH=src python benchmarks/head_constraints.py`` prints a row for each model: the sentences
of English-EWT's test part (gold tags) whose best tree has two subjects or objects of one word.
"""

import time
from pathlib import Path

import numpy as np
from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
from stanza.models.depparse import head_constraints

import arborescence as arb
from arborescence.integrations.stanza import resolve_head_constraint_violations
from arborescence.integrations.tools import one_root
from arborescence.treebank import read

TEST = Path(__file__).resolve().parents[2] / "shared/ud/English-EWT/en_ewt-ud-test.conllu.gz"
ABSENT = -1e4
COLUMNS = "model, repair, sentences, left, not the best, lost on average, ms a sentence, LAS"


class Vocabulary:
    """In place of Stanza's: the names of relations."""

    def __init__(self, labels):
        self.labels = labels

    def unmap(self, numbers):
        return [self.labels[number - VOCAB_PREFIX_SIZE] for number in numbers]


def logarithms(table):
    """Return log-probabilities [d, h] of heads, and [d, h, l] of labels, of weights [h, d, l]."""
    table = table.astype(np.float64)
    edges = table.max(axis=-1)
    edges[:, 0] = 0
    np.fill_diagonal(edges[1:, 1:], -np.inf)
    with np.errstate(invalid="ignore"):
        heads = edges - np.logaddexp.reduce(edges, axis=0)
        labels = table - np.logaddexp.reduce(table, axis=-1, keepdims=True)
    found = (np.where(np.isfinite(x), x, ABSENT).astype(np.float32) for x in (heads, labels))
    return [np.ascontiguousarray(x.swapaxes(0, 1)) for x in found]


def cases(parser, vocabulary, sentences):
    """Yield the arguments of each sentence that breaks a constraint, and its gold tree."""
    for sentence, table in zip(sentences, parser.labeled_scores_of(sentences), strict=True):
        scores, labels = logarithms(table)
        tree = one_root(scores)
        best = labels[np.arange(1, len(tree)), tree[1:]].argmax(axis=-1)
        if violations(tree, best, vocabulary):
            yield (scores, labels, tree, vocabulary), sentence


def violations(heads, labels, vocabulary):
    """Return what Stanza finds wrong with a tree."""
    names = [vocabulary.labels[label] for label in labels]
    return head_constraints.find_head_constraint_violations(heads, names)


def weight(scores, labels, heads, chosen):
    """Return the weight of a labeled tree."""
    words = np.arange(1, len(heads))
    return float(scores[words, heads[1:]].sum() + labels[words, heads[1:], chosen].sum())


def row(found, best, repair):
    """Return what is said about one way of repair."""
    start = time.process_time()
    trees = [repair(*arguments) for arguments, _ in found]
    seconds = time.process_time() - start
    names = found[0][0][3].labels
    right = words = left = 0
    lost = []
    for (heads, chosen), exact, ((scores, labels, _, vocabulary), gold) in zip(
        trees, best, found, strict=True
    ):
        same = np.array([names[label] for label in chosen]) == np.array(gold.deprels)
        right += int((same & (heads[1:] == gold.heads)).sum())
        words += len(gold)
        left += bool(violations(heads, chosen, vocabulary))
        lost.append(weight(scores, labels, *exact) - weight(scores, labels, heads, chosen))
    worse = [loss for loss in lost if loss > 1e-3]
    mean = sum(worse) / max(1, len(worse))
    return [len(found), left, len(worse), mean, 1e3 * seconds / len(found), 100 * right / words]


def main():
    theirs, decoder = (
        head_constraints.resolve_head_constraint_violations,
        head_constraints.chuliu_edmonds_one_root,
    )

    def with_our_decoder(*arguments):
        head_constraints.chuliu_edmonds_one_root = one_root
        try:
            return theirs(*arguments)
        finally:
            head_constraints.chuliu_edmonds_one_root = decoder

    def none(_, labels, tree, __):
        return tree, labels[np.arange(1, len(tree)), tree[1:]].argmax(axis=-1)

    sentences = list(read(TEST))
    print(COLUMNS)
    for model in ("english", "english-fast"):
        parser = arb.load(model)
        found = list(cases(parser, Vocabulary(list(parser.labels)), sentences))
        best = [resolve_head_constraint_violations(*arguments) for arguments, _ in found]
        for name, repair in {
            "none": none,
            "Stanza's": theirs,
            "Stanza's, with our decoder": with_our_decoder,
            "ours": resolve_head_constraint_violations,
        }.items():
            print(model, name, *(f"{x:.2f}" for x in row(found, best, repair)), sep=", ")


if __name__ == "__main__":
    main()
