"""Lists of trees with their weights, as `kbest` returns and `trees` yields them."""

import numpy as np

import arborescence as arb


def listed(stream):
    """What `kbest` would return, from what `trees` yields; without the count."""
    heads, weights = zip(*stream, strict=True)
    return np.array(heads), np.array(weights)


def same(one, other):
    """Whether two lists of trees, with weights, are the same in the same order."""
    return all(np.array_equal(a, b) for a, b in zip(one[:2], other[:2], strict=True))


def rounded_weights(scores, heads):
    """The weights of (m, N) heads, as floats."""
    return arb.tree_weight(np.broadcast_to(scores, (len(heads), *scores.shape)), heads)


def check_batch(kbest, batch, sizes, k, root, threads):
    """Check that a batch has what its sentences have, and nothing beyond; return the counts."""
    heads, weights, counts = kbest(batch, k, lengths=sizes, root=root, threads=threads)
    assert heads.shape == (len(sizes), k, max(sizes) + 1)
    assert weights.shape == (len(sizes), k)
    assert counts.shape == (len(sizes),)
    assert (heads.dtype, weights.dtype, counts.dtype) == (np.int64, np.float64, np.int64)
    for b, (n, m) in enumerate(zip(sizes, counts, strict=True)):
        one = kbest(batch[b, : n + 1, : n + 1], k, root=root)
        assert same((heads[b, :m, : n + 1], weights[b, :m]), one)
        assert one.counts == m
        assert (heads[b, m:] == -1).all()
        assert (heads[b, :, n + 1 :] == -1).all()
        assert (weights[b, m:] == -np.inf).all()
    assert (counts < k).any()
    return counts


def check_leading_dimensions(kbest, root):
    """Check the shapes for two dimensions of sentences, and for none."""
    scores = np.random.default_rng(4).normal(size=(2, 3, 5, 5))
    lengths = np.array([[4, 3, 2], [1, 0, 4]])
    heads, weights, counts = kbest(scores, 7, lengths=lengths, root=root)
    assert heads.shape == (2, 3, 7, 5)
    assert weights.shape == (2, 3, 7)
    two = 2 if root == "single" else 3
    assert counts.tolist() == [[7, 7, two], [1, 1, 7]]
    one = kbest(scores[0, 1, :4, :4], 7, root=root)
    assert same((heads[0, 1, :, :4], weights[0, 1]), one)
    heads, weights, counts = kbest(np.empty((0, 3, 3)), 4, root=root)
    assert (heads.shape, weights.shape, counts.shape) == ((0, 4, 3), (0, 4), (0,))
    heads, weights, counts = kbest(np.zeros((2, 3, 3)), 7, root=root)  # where there are fewer
    assert heads.shape == (2, 7, 3)
    assert weights.shape == (2, 7)
    assert counts.tolist() == [two, two]
