"""What distributions know of a parser's errors: minimum Bayes risk, and entropy, on English-EWT.

The built-in model's scores with gold tags, by its temperature. ``python benchmarks/risk.py``
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import arborescence as arb
from arborescence.treebank import read
from inputs import TREEBANKS
from recording import table

BOUNDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, np.inf)


def tempered():
    """Return the scores of all sentences (B, N, N), their lengths, and their gold trees (B, N)."""
    [file] = (TREEBANKS / "English-EWT").glob("*test*")
    parser = arb.load("english")
    sentences = list(read(file))
    lengths = np.array([len(sentence) for sentence in sentences])
    size = lengths.max() + 1
    scores = np.zeros((len(sentences), size, size))
    gold = np.full((len(sentences), size), -1)
    for b, sentence in enumerate(sentences):
        scores[b, : lengths[b] + 1, : lengths[b] + 1] = parser.scores(sentence)
        gold[b, : lengths[b] + 1] = sentence.tree
    return scores / parser.temperature, lengths, gold


def main():
    scores, lengths, gold = tempered()
    words = np.arange(1, gold.shape[1]) <= lengths[:, None]
    gold = gold[:, 1:]
    total = np.count_nonzero(words)

    def probabilities(dist, heads):
        edges = np.take_along_axis(
            dist.marginals()[:, :, 1:], np.maximum(heads, 0)[:, None], axis=1
        )
        return np.where(words, edges[:, 0], 0.0)

    rows = []
    for projective in (False, True):
        dist = arb.TreeDistribution(scores, lengths, projective=projective)
        best, safe = dist.argmax()[:, 1:], dist.mbr()[:, 1:]
        row = ["projective" if projective else "all"]
        for heads in (best, safe):
            row.append(f"{np.sum(words & (heads == gold)) / total:.2%}")
            row.append(f"{probabilities(dist, heads).sum() / total:.2%}")
        differ = words & (best != safe)
        better, worse = np.sum(differ & (safe == gold)), np.sum(differ & (best == gold))
        rows.append([*row, f"{np.sum(differ)} of {total}", f"{better}, {worse}"])
    print("### The most probable tree, and the one with the most right heads to be expected\n")
    header = ["trees", "UAS of argmax", "expected", "UAS of mbr()", "expected"]
    table([*header, "heads that differ", "better, worse"], rows)

    dist = arb.TreeDistribution(scores, lengths)
    wrong = words & (dist.argmax()[:, 1:] != gold)
    expected = 1.0 - probabilities(dist, dist.argmax()[:, 1:])
    entropy = dist.entropy() / lengths
    rows = []
    for low, high in pairwise(BOUNDS):
        some = (low <= entropy) & (entropy < high)
        count = np.count_nonzero(words[some])
        rows.append([
            f"{low:g} to {high:g}", f"{np.sum(some):,}", f"{count:,}",
            f"{wrong[some].sum() / count:.1%}", f"{expected[some][words[some]].sum() / count:.1%}",
            f"{np.mean(~wrong[some].any(axis=1)):.0%}",
        ])  # fmt: skip
    print("### Errors by entropy, all trees\n")
    table(["nats a word", "sentences", "words", "wrong heads", "expected", "trees right"], rows)


if __name__ == "__main__":
    main()
