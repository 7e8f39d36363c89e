"""Scores that look like a real parser's, and scores that hurt."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from arborescence import decode
from arborescence.treebank import read

TREEBANKS = Path(__file__).parents[2] / "shared" / "ud"


def model_like(rng, count, n, dtype=np.float32):
    """Log-probabilities of heads: N(0, 2), 6 more on the edges of a random tree, log-softmax."""
    scores = rng.normal(0.0, 2.0, (count, n + 1, n + 1))
    for matrix in scores:
        order = rng.permutation(n) + 1
        matrix[0, order[0]] += 6
        for k in range(1, n):
            matrix[order[rng.integers(k)], order[k]] += 6
    return log_softmax(scores).astype(dtype)


def projective_like(rng, count, n, dtype=np.float32):
    """Model-like scores whose random tree has no crossing edges, as most sentences have none."""
    scores = rng.normal(0.0, 2.0, (count, n + 1, n + 1))
    heads = decode(rng.random(scores.shape), projective=True)[:, 1:]
    scores[np.arange(count)[:, None], heads, np.arange(1, n + 1)] += 6
    return log_softmax(scores).astype(dtype)


def log_softmax(scores):
    """Make probabilities of heads of scores (count, N, N), in logarithms."""
    diagonal = np.arange(scores.shape[-1])
    scores[:, diagonal, diagonal] = -np.inf
    highest = scores.max(axis=1, keepdims=True)
    return scores - (highest + np.log(np.exp(scores - highest).sum(axis=1, keepdims=True)))


def uniform(rng, count, n, dtype=np.float32):
    """Independent scores in [0, 1): no sentence is easy."""
    return rng.random((count, n + 1, n + 1)).astype(dtype)


def masked(rng, count, n, dtype=np.float32):
    """Model-like scores with 30 % of the edges masked by the lowest float, as PyTorch users do."""
    scores = model_like(rng, count, n, dtype)
    scores[rng.random(scores.shape) < 0.3] = np.finfo(dtype).min
    return scores


def equal(rng, count, n, dtype=np.float32):  # noqa: ARG001
    """All scores alike: every decision is a tie."""
    return np.zeros((count, n + 1, n + 1), dtype)


KINDS = {"model-like": model_like, "uniform": uniform, "masked": masked, "all equal": equal}


def nested(n, dtype=np.float64):
    """One graph in which each contraction makes a cycle with one more word: n - 1 of them."""
    rng = np.random.default_rng(n)
    scores = rng.normal(-50, 1, (n + 1, n + 1))
    scores[2, 1] = scores[1, 2] = 10
    words = np.arange(3, n + 1)
    scores[words - 1, words] = 10
    scores[words, rng.integers(1, words)] = 9 - words / n
    scores[0] = -1000 - rng.random(n + 1)
    return scores.astype(dtype)


def many_roots(n, dtype=np.float64):
    """One graph whose best arborescence has all n words as children of the root."""
    rng = np.random.default_rng(n)
    scores = rng.random((n + 1, n + 1))
    scores[0] += 100
    return scores.astype(dtype)


def tied(n, dtype=np.float64):
    """One graph in which all edges between words tie, and root edges cost the same."""
    scores = np.zeros((n + 1, n + 1), dtype)
    scores[0] = -1
    return scores


ADVERSARIAL = {
    "nested cycles": nested,
    "many root edges": many_roots,
    "all tied": tied,
    "uniform": lambda n, dtype=np.float64: uniform(np.random.default_rng(n), 1, n, dtype)[0],
}


def english_lengths(count):
    """Return the words of sentences of English-EWT, or numbers like theirs, in random order."""
    files = sorted((TREEBANKS / "English-EWT").glob("*dev*"))
    if files:
        lengths = np.array([len(sentence) for sentence in read(files[0])])
    else:
        print("(no ../shared/ud/English-EWT: lengths are drawn from a list)")
        lengths = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 20, 23, 27, 32, 41, 60])
    return np.random.default_rng(0).choice(lengths, count)


def padded(rng, lengths, size):
    """Yield batches of model-like scores of so many sentences, padded to their longest one."""
    for start in range(0, len(lengths), size):
        words = lengths[start : start + size]
        batch = np.zeros((len(words), words.max() + 1, words.max() + 1), np.float32)
        for scores, n in zip(batch, words, strict=True):
            scores[: n + 1, : n + 1] = projective_like(rng, 1, n)[0]
        yield batch, words
