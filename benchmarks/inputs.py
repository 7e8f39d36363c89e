"""Scores that look like a real parser's, and scores that hurt."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from arborescence import decode, load
from arborescence.treebank import read
from arborescence_papers.runtime.graphs import (
    log_softmax,
    many_roots,
    masked,
    model_like,
    nested,
    uniform,
)

TREEBANKS = Path(__file__).parents[2] / "shared" / "ud"
MODELS = Path(__file__).parents[1] / "models"


def file_of(model):
    """Return the file of a model in ``models``, installed or not; another name is a path."""
    return next(MODELS.glob(f"*/src/*/{model}.npz"), Path(model))


def projective_like(rng, count, n, dtype=np.float32):
    """Model-like scores whose random tree has no crossing edges, as most sentences have none."""
    scores = rng.normal(0.0, 2.0, (count, n + 1, n + 1))
    heads = decode(rng.random(scores.shape), projective=True)[:, 1:]
    scores[np.arange(count)[:, None], heads, np.arange(1, n + 1)] += 6
    return log_softmax(scores).astype(dtype)


def equal(rng, count, n, dtype=np.float32):  # noqa: ARG001
    """All scores alike: every decision is a tie."""
    return np.zeros((count, n + 1, n + 1), dtype)


def wanting(rng, count, n, dtype=np.float32):
    """Model-like scores, with 30 more on all root edges: every word wants the root."""
    scores = model_like(rng, count, n, np.float64)
    scores[:, 0] += 30
    return scores.astype(dtype)


def whole(rng, count, n, dtype=np.float32):
    """Small whole numbers: many ties."""
    return rng.integers(-9, 10, (count, n + 1, n + 1)).astype(dtype)


KINDS = {
    "model-like": model_like,
    "uniform": uniform,
    "masked": masked,
    "every word wants the root": wanting,
    "all equal": equal,
    "whole numbers": whole,
}


def tied(n, dtype=np.float64):
    """One graph in which all edges between words tie, and root edges cost the same."""
    scores = np.zeros((n + 1, n + 1), dtype)
    scores[0] = -1
    return scores


def alone(kind):
    """Return what makes one graph of a kind: always the same for the same n."""
    return lambda n, dtype=np.float64: kind(np.random.default_rng(n), 1, n, dtype)[0]


ADVERSARIAL = {
    "nested cycles": alone(nested),
    "many root edges": alone(many_roots),
    "all tied": tied,
    "uniform": alone(uniform),
}


def english_scores():
    """Return the built-in linear parser's scores of English-EWT test; none if it is not here."""
    files = sorted((TREEBANKS / "English-EWT").glob("*test*"))
    if not files:
        print("(no ../shared/ud/English-EWT: real parser scores are left out)\n")
        return []
    parser = load("english-fast")
    return [parser.scores(sentence) for sentence in read(files[0])]


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
