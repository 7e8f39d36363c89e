"""Lists of trees with their weights, as `kbest` returns and `trees` yields them."""

import numpy as np

import arborescence as arb


def listed(stream):
    """What `kbest` would return, from what `trees` yields."""
    heads, weights = zip(*stream, strict=True)
    return np.array(heads), np.array(weights)


def same(one, other):
    """Whether two lists of trees, with weights, are the same in the same order."""
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def rounded_weights(scores, heads):
    """The weights of (m, N) heads, as floats."""
    return arb.tree_weight(np.broadcast_to(scores, (len(heads), *scores.shape)), heads)
