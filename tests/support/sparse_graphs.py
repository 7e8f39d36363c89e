"""Random sparse graphs, as lists of edges, of the shapes that break decoders."""

import numpy as np


def listed(rng, scores):
    """The edges of scores (N, N) as (heads, deps, weights), in any order.

    Absent edges are left out or -inf. Parallel edges that are no better are thrown in, and what
    has to be ignored: loops, and edges into the root.
    """
    size = len(scores)
    present = scores > -np.inf
    edge = (present | (rng.random(scores.shape) < 0.3)) & ~np.eye(size, dtype=bool)
    edge[:, 0] = False
    heads, deps = np.nonzero(edge)
    weights = scores[heads, deps]
    again = np.flatnonzero(rng.random(heads.size) < 0.2)
    worse = weights[again]
    if worse.dtype.kind == "f" and rng.random() < 0.7:
        with np.errstate(over="ignore"):  # the lowest float becomes -inf
            worse = np.nextafter(worse, weights.dtype.type(-np.inf))
    nodes = rng.integers(0, size, 4)
    ignored = np.full(4, rng.choice(scores.ravel()))
    heads = np.concatenate([heads, heads[again], nodes])
    deps = np.concatenate([deps, deps[again], nodes[:2], [0, 0]])
    weights = np.concatenate([weights, worse, ignored])
    order = rng.permutation(heads.size)
    return heads[order], deps[order], weights[order]


def matrix(n, heads, deps, weights):
    """The best of parallel edges, (n + 1, n + 1) float64; -inf where there is none."""
    scores = np.full((n + 1, n + 1), -np.inf)
    np.maximum.at(scores, (heads, deps), weights)
    scores[:, 0] = np.nan
    np.fill_diagonal(scores, np.nan)
    return scores


def _scattered(rng, n):
    """Edges anywhere, four a word."""
    return rng.integers(1, n + 1, (2, 4 * n))


def _local(rng, n):
    """Edges between words near each other, as pruning leaves them."""
    heads = rng.integers(1, n + 1, 6 * n)
    return heads, np.clip(heads + rng.integers(-5, 6, heads.size), 1, n)


def _line(rng, n):
    """Each word is linked to the next one, both ways: cycles of two all along."""
    words = np.arange(1, n)
    return np.r_[words, words + 1], np.r_[words + 1, words]


def _ring(rng, n):
    """One cycle of all words, and a few chords."""
    words = np.arange(1, n + 1)
    chords = rng.integers(1, n + 1, (2, 3))
    return np.r_[words, chords[0]], np.r_[words % n + 1, chords[1]]


def _chain_of_cycles(rng, n):
    """Cycles of three words; each is entered from the one before, some from the one after."""
    words = np.arange(1, n + 1)
    first = (words - 1) // 3 * 3 + 1
    within = np.minimum(first + words % 3, n)
    onward = words[:-3]
    back = rng.choice(words[3:], max(1, n // 6)) if n > 3 else words[:0]
    return np.r_[words, onward, back], np.r_[within, onward + 3, np.maximum(1, back - 3)]


def _nested(rng, n):
    """A cycle of two, in a cycle with the next word, in a cycle with the next, ..."""
    words = np.arange(2, n + 1)
    return np.r_[words - 1, words, words], np.r_[words, words - 1, rng.integers(1, words)]


def _doubling(rng, n):
    """Cycles of two are linked to cycles of cycles, and these to larger ones, twice each time."""
    words = np.arange(n)
    pairs = [(words, words ^ 2**k) for k in range(max(1, int(n).bit_length()))]
    heads, deps = np.hstack(pairs)
    inside = (deps < n) & (rng.random(heads.size) < 0.8)
    return heads[inside] + 1, deps[inside] + 1


def _star(rng, n):
    """One word is linked to all others, both ways."""
    words = np.arange(2, n + 1)
    hub = np.ones_like(words)
    return np.r_[hub, words], np.r_[words, hub]


def _grid(rng, n):
    """Words on a square grid, linked to their neighbours."""
    side = max(1, int(n**0.5))
    words = np.arange(1, n + 1)
    right, down = words[words % side != 0], words[:-side]
    right = right[right < n]
    return np.r_[right, right + 1, down, down + side], np.r_[right + 1, right, down + side, down]


SHAPES = {
    "scattered": _scattered,
    "local": _local,
    "line": _line,
    "ring": _ring,
    "chain-of-cycles": _chain_of_cycles,
    "nested": _nested,
    "doubling": _doubling,
    "star": _star,
    "grid": _grid,
}

WEIGHTS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "normal-32": lambda rng, m: rng.normal(size=m).astype(np.float32),
    "tied": lambda rng, m: np.zeros(m, np.int64),
    "whole": lambda rng, m: rng.integers(-2, 3, m),
    "ulp": lambda rng, m: 1.0 + np.spacing(1.0) * rng.integers(-1, 2, m),
    "wide": lambda rng, m: np.ldexp(rng.integers(-3, 4, m) * 1.0, rng.integers(-1074, 1022, m)),
    "two-sizes": lambda rng, m: rng.integers(-1, 2, m) * 2.0 ** rng.choice([-70, 70], m),
    "masked-32": lambda rng, m: np.where(
        rng.random(m) < 0.3, np.finfo(np.float32).min, rng.normal(size=m)
    ).astype(np.float32),
    "masked-64": lambda rng, m: np.where(
        rng.random(m) < 0.3, np.finfo(np.float64).min, rng.normal(size=m)
    ),
    "descending": lambda rng, m: -np.arange(m, dtype=np.float64),
}


def random_edges(rng, shape, weights, n):
    """(heads, deps, weights) of such a graph; one, several or all words have a root edge."""
    heads, deps = SHAPES[shape](rng, n)
    words = rng.permutation(n)[: rng.choice([1, 2, max(2, n // 8), n])] + 1
    heads, deps = np.r_[heads, 0 * words], np.r_[deps, words]
    order = rng.permutation(heads.size)
    heads, deps = heads[order], deps[order]
    return heads, deps, WEIGHTS[weights](rng, heads.size)
