"""Kinds of scores: those of the tests, and more."""

from __future__ import annotations

import numpy as np

from graphs import ABSENT, FINITE

HUGE = np.finfo(np.float64).max
TINY = np.finfo(np.float64).smallest_subnormal


def _few(*values):
    """Scores that are some of these values."""

    def make(rng, n):
        chosen = rng.choice(np.array(values), size=int(rng.integers(2, 6)))
        return rng.choice(chosen, (n + 1, n + 1))

    return make


def _log_probabilities(rng, n):
    """The logarithms of probabilities, as a softmax gives them."""
    scores = rng.normal(size=(n + 1, n + 1)) * rng.choice([0.1, 1.0, 5.0, 30.0])
    return (scores - np.log(np.exp(scores).sum(axis=0))).astype(rng.choice([np.float32, float]))


def _quantized(rng, n):
    return np.round(rng.normal(size=(n + 1, n + 1)) * 4) / 4


def _of_type(*types):
    def make(rng, n):
        dtype = types[int(rng.integers(len(types)))]
        scores = rng.normal(size=(n + 1, n + 1)) * 3
        return (np.abs(scores) if np.dtype(dtype).kind in "bu" else scores).astype(dtype)

    return make


def _one_tree(rng, n):
    """Little but a random tree is there."""
    scores = np.where(rng.random((n + 1, n + 1)) < 0.2, rng.normal(size=(n + 1, n + 1)), -np.inf)
    order = np.append(0, rng.permutation(n) + 1)
    for i in range(1, n + 1):
        scores[order[0 if i == 1 else rng.integers(0, i)], order[i]] = rng.normal()
    return scores


def _large_whole(rng, n):
    return rng.integers(-(2**53), 2**53, (n + 1, n + 1))


def _masked_roots(rng, n):
    """Masks on edges from the root, which single-root trees cannot do without."""
    scores = rng.normal(size=(n + 1, n + 1))
    scores[0] = rng.choice([-1e9, -1e30, -np.inf, -100.0], n + 1)
    scores[0, rng.integers(1, n + 1)] = rng.choice([-1e9, 0.0])
    return scores


def _scaled(rng, n):
    return rng.normal(size=(n + 1, n + 1)) * 10.0 ** rng.integers(-20, 20)


def _masked_all(rng, n):
    """Masks everywhere, and a few edges that are none."""
    mask = rng.choice([-1e30, -1e9, -1e4, np.finfo(np.float32).min])
    scores = np.full((n + 1, n + 1), mask)
    some = rng.random(scores.shape) < 0.3
    scores[some] = rng.integers(-2, 6, np.count_nonzero(some))
    return scores


#: Scores of which every sum is an ordinary number.
ORDINARY = {
    **{kind: FINITE[kind] for kind in ("normal-32", "normal-64", "equal", "small-integers")},
    **ABSENT,
    "log-probabilities": _log_probabilities,
    "quantized": _quantized,
    "narrow": _of_type(np.float16, np.int8, np.uint8, np.bool_, np.int16, np.uint32),
    "one-tree": _one_tree,
    "zero-one": _few(0.0, 1.0, -1.0),
    "zero-absent": _few(0.0, -np.inf),
}

#: All that decoders take.
KINDS = {
    **FINITE,
    **ORDINARY,
    "large-whole": _large_whole,
    "masked-roots": _masked_roots,
    "masked-all": _masked_all,
    "scaled": _scaled,
    "extreme": _few(HUGE, -HUGE, HUGE / 2, -HUGE / 2, 1.0, 0.0, -np.inf, np.nextafter(HUGE, 0)),
    "subnormal": _few(TINY, -TINY, 0.0, 3 * TINY, -np.inf, 1.0),
    "mixed": _few(1e30, -1e30, 1e300, -1e300, 1e17, -1e17, 1.0, 0.0, TINY, -np.inf),
    "steps": _few(2.0**53, 2.0**53 + 2, 1.0, -1.0, 2.0**-52, 0.0),
}


def random_kind(rng, kinds=KINDS):
    """Choose one by its name, which is the same in every run."""
    return kinds[str(rng.choice(sorted(kinds)))]


def small_graph(rng, kinds=KINDS, most=5):
    """Make scores of 1 to `most` words, oftener of more."""
    n = int(rng.choice(np.arange(1, most + 1), p=(sizes := np.arange(1, most + 1)) / sizes.sum()))
    return random_kind(rng, kinds)(rng, n)


def options(rng):
    """Choose which trees are asked for."""
    return {
        "root": str(rng.choice(["single", "multi"])),
        "projective": bool(rng.random() < 0.4),
    }
