"""Bans, and the best labels that they leave, beside their definition, edge by edge."""

import numpy as np
import pytest

from arborescence.inference.conflicts import Edges, against, every_label, label, restrict, way_of

N = 6


def random_edges(rng, L):
    """Some heads, dependents and labels: one, several, none, or all."""
    axes = []
    for first, size in ((0, N), (1, N), (0, L)):
        some = np.flatnonzero(rng.random(size) < 0.4)
        axes.append([int(rng.integers(first, size)), some[some >= first], None][rng.integers(3)])
    return Edges(*axes)


def has(banned, h, d, k):
    """Whether a ban is against an edge."""
    inside = h in banned.heads and k in banned.labels
    return d in banned.words and inside != banned.required


@pytest.mark.parametrize("L", [4, 64, 70])
@pytest.mark.parametrize("seed", range(40))
def test_bans(seed, L):
    rng = np.random.default_rng(seed)
    forbid, require = ([random_edges(rng, L) for _ in range(rng.integers(3))] for _ in range(2))
    way = way_of(forbid, require, (N, N, L))
    scores = rng.integers(-3, 4, (N, N, L)).astype(float)
    scores[rng.random(scores.shape) < 0.2] = -np.inf
    edges, best = scores.max(axis=-1), scores.max(axis=-1)
    weighed = rng.random((N, N)) < 0.7
    scores[~weighed] = edges[~weighed, np.newaxis]
    left = np.tile(every_label(L), (N, N, 1))
    unseen = np.where(weighed[..., np.newaxis], scores, np.nan)  # not to be looked at
    for banned in way:
        restrict(banned, unseen, weighed, edges, left, best)
    bits = np.unpackbits(left.view(np.uint8), axis=-1, count=L, bitorder="little").astype(bool)
    assert bits.tolist() == [
        [[not any(has(ban, h, d, k) for ban in way) for k in range(L)] for d in range(N)]
        for h in range(N)
    ]
    masked = np.where(bits, scores, -np.inf)
    assert best[:, 1:].tolist() == masked[:, 1:].max(axis=-1).tolist()
    heads, words = rng.integers(0, N, N), np.arange(1, N)
    labels = np.full(N, -1)
    assert label(scores, left, heads, best, labels)
    assert labels.tolist() == [-1, *masked[heads[1:], words].argmax(axis=-1)]
    for banned in way:
        found = [has(banned, heads[d], d, labels[d]) for d in words]
        assert against(banned, heads, labels).tolist() == found
    wrong, of_edges = best.copy(), (heads[1:], words)
    wrong[of_edges] += 1
    assert label(scores, left, heads, wrong, labels) == (best[of_edges] == -np.inf).all()
    assert wrong[:, 1:].tolist() == best[:, 1:].tolist()
