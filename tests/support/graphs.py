"""Random graphs of the kinds that break decoders: each makes (n + 1, n + 1) scores."""

import numpy as np

from modes import some


def figure_2():
    """The graph of Fig. 2 of *root*, which is Fig. 2 of *kbest*, too."""
    scores = np.full((5, 5), -np.inf)
    edges = [(0, 1, 90), (0, 2, 40), (1, 3, 10), (2, 3, 30), (2, 4, 60), (3, 2, 50), (4, 3, 70)]
    for h, d, weight in [*edges, (4, 1, 20)]:
        scores[h, d] = weight
    return scores


def _normal(rng, n, dtype=np.float32):
    return rng.normal(size=(n + 1, n + 1)).astype(dtype)


def _masked(value, dtype):
    def make(rng, n):
        scores = _normal(rng, n, dtype)
        scores[rng.random(scores.shape) < 0.3] = value
        return scores

    return make


def _ulp(dtype):
    def make(rng, n):
        base = dtype(rng.choice([1.0, -1.0, 3.7, 1e-3]))
        step = np.spacing(base)
        return (base + step * rng.integers(-1, 2, (n + 1, n + 1))).astype(dtype)

    return make


def _equal(rng, n):
    return np.full((n + 1, n + 1), rng.normal(), np.float32)


def _far_noise(rng, n):
    return 1e6 + 1e-7 * rng.normal(size=(n + 1, n + 1))


def _root_dominates(rng, n):
    scores = _normal(rng, n)
    scores[0] += rng.choice([5.0, 1e4, 1e9])
    return scores


def _positive(rng, n):
    return rng.random((n + 1, n + 1)).astype(np.float32) * np.float32(rng.choice([1, 1e30]))


def _small_integers(rng, n):
    return rng.integers(-2, 3, (n + 1, n + 1))


def _wide(dtype, low, high):
    def make(rng, n):
        mantissa = rng.integers(-3, 4, (n + 1, n + 1))
        return np.ldexp(
            mantissa.astype(np.float64), rng.integers(low, high, mantissa.shape)
        ).astype(dtype)

    return make


def _two_sizes(rng, n):
    """Whole multiples of a giant, plus dust: sums that round away what decides."""
    giants = rng.integers(-1, 2, (n + 1, n + 1)) * 2.0**70
    dust = rng.integers(-1, 2, (n + 1, n + 1)) * 2.0**-70
    return np.where(rng.random(giants.shape) < 0.5, giants, dust)


def _nested(rng, n):
    """Cycles within cycles: each word best continues the one before it, and goes back."""
    scores = rng.normal(size=(n + 1, n + 1)) * 0.01
    for d in range(1, n + 1):
        for h in range(1, n + 1):
            scores[h, d] -= abs(h - d) * rng.choice([1.0, 1.0, 2.0])
    scores[0] -= 100
    return scores


FINITE = {
    "normal-32": _normal,
    "normal-64": lambda rng, n: _normal(rng, n, np.float64),
    "mask-1e9-32": _masked(-1e9, np.float32),
    "mask-1e9-64": _masked(-1e9, np.float64),
    "mask-1e30-32": _masked(-1e30, np.float32),
    "mask-1e30-64": _masked(-1e30, np.float64),
    "mask-lowest-32": _masked(np.finfo(np.float32).min, np.float32),
    "mask-lowest-64": _masked(np.finfo(np.float64).min, np.float64),
    "ulp-32": _ulp(np.float32),
    "ulp-64": _ulp(np.float64),
    "equal": _equal,
    "far-noise": _far_noise,
    "root-dominates": _root_dominates,
    "positive": _positive,
    "small-integers": _small_integers,
    "wide-32": _wide(np.float32, -149, 126),
    "wide-64": _wide(np.float64, -1074, 1022),
    "two-sizes": _two_sizes,
    "nested": _nested,
}

ABSENT = {
    "absent": _masked(-np.inf, np.float32),
    "absent-integers": lambda rng, n: np.where(
        rng.random((n + 1, n + 1)) < 0.4, -np.inf, rng.integers(-2, 3, (n + 1, n + 1))
    ),
}


def _one_more_word(rng, n):
    """Each contraction makes a cycle with one more word."""
    scores = rng.normal(-50, 1, (n + 1, n + 1))
    scores[2, 1] = scores[1, 2] = 10
    words = np.arange(3, n + 1)
    scores[words - 1, words] = 10
    scores[words, rng.integers(1, words)] = 9 - words / n
    scores[0] = -1000 - rng.random(n + 1)
    return scores


def _many_roots(rng, n):
    """In the best arborescence all words are children of the root."""
    scores = rng.random((n + 1, n + 1))
    scores[0] += 100
    return scores


def _tied(rng, n):
    """All edges between words tie, and all root edges."""
    scores = np.zeros((n + 1, n + 1))
    scores[0] = -1
    return scores


def _chains(rng, n):
    """Short cycles everywhere, all of nearly the same weight."""
    scores = rng.integers(-2, 1, (n + 1, n + 1)).astype(np.float32)
    words = np.arange(1, n)
    scores[words, words + 1] = scores[words + 1, words] = 3
    return scores


def _sparse(rng, n):
    """Few edges: most deletions leave no tree."""
    scores = rng.normal(size=(n + 1, n + 1)).astype(np.float32)
    absent = rng.random(scores.shape) > 3 / n
    order = rng.permutation(n) + 1
    absent[0, order[0]] = absent[order[:-1], order[1:]] = False
    scores[absent] = -np.inf
    return scores


LARGE = {
    **{name: FINITE[name] for name in ("normal-32", "mask-lowest-32", "mask-1e30-64", "ulp-64")},
    **{name: FINITE[name] for name in ("far-noise", "two-sizes", "small-integers", "nested")},
    "one-more-word": _one_more_word,
    "many-roots": _many_roots,
    "tied": _tied,
    "chains": _chains,
    "sparse": _sparse,
}


def random_graphs(kind, count, seed=0):
    """``count`` graphs of 1 to 6 words, in `make test` only the first of them.

    The largest have too many trees to be as frequent.
    """
    rng = np.random.default_rng([seed, *kind.encode()])
    make = {**FINITE, **ABSENT}[kind]
    sizes = rng.choice(np.arange(1, 7), count, p=[0.05, 0.15, 0.25, 0.25, 0.2, 0.1])
    for n in sizes[: some(count)]:
        yield make(rng, int(n))


def layouts(scores):
    """The same scores (..., N, N), elsewhere in memory and otherwise laid out."""
    *leading, size, _ = scores.shape
    padded = np.zeros((*leading, size + 3, size + 5), scores.dtype)
    padded[..., 2:-1, 5:] = scores
    wide = np.zeros((*scores.shape, 2), scores.dtype)
    wide[..., 1] = scores
    yield scores.mT.copy().mT
    yield padded[..., 2:-1, 5:]
    yield padded.mT.copy().mT[..., 2:-1, 5:]
    yield wide[..., 1]
    yield scores[..., ::-1, ::-1].copy()[..., ::-1, ::-1]
    yield np.asfortranarray(scores)
    unaligned = np.zeros(scores.nbytes + 1, np.uint8)[1:].view(scores.dtype).reshape(scores.shape)
    unaligned[:] = scores
    yield unaligned
    yield scores.astype(scores.dtype.newbyteorder())
    still = scores.copy()
    still.flags.writeable = False
    yield still
    if scores.dtype == np.float32:
        yield scores.astype(np.float64)


def padded_batch(rng, sizes, dtype=np.float32):
    """A batch of sentences of these many words, with many ties; NaN is the padding."""
    size = max(sizes) + 1
    batch = np.full((len(sizes), size, size), np.nan, dtype)
    for matrix, n in zip(batch, sizes, strict=True):
        matrix[: n + 1, : n + 1] = rng.integers(-3, 4, (n + 1, n + 1))
    return batch
