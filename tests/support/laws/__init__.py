"""What holds of the trees of each family: the tests of each family check these."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

import arborescence as arb
from modes import UNCOMPILED
from tree_lists import listed

#: Scores with many ties.
TIED = st.integers(-4, 4)
#: The same, and absent edges.
ABSENT_TOO = st.one_of(TIED, st.just(-math.inf))


#: What is no scores, and what the error says.
UNUSABLE = [
    (np.zeros((3, 4)), r"\(\.\.\., N, N\).*\(3, 4\)"),
    (np.zeros(3), r"\(3,\)"),
    (np.zeros((0, 0)), r"\(0, 0\)"),
    (np.zeros((2, 2), complex), "complex"),
    ([[1, 2], [3]], "array"),
    (np.array([[0, 2**60], [0, 0]]), r"scores\[0, 1\] is 1152921504606846976.*2\^53"),
]


def squares(entries, most, most_uncompiled):
    """Rows of up to so many words, and the root."""
    return st.integers(1, most_uncompiled if UNCOMPILED else most).flatmap(
        lambda n: st.lists(
            st.lists(entries, min_size=n + 1, max_size=n + 1), min_size=n + 1, max_size=n + 1
        )
    )


def every_tree(scores, root, **options):
    """All (weight, heads) in the order of `trees`; none where there is no tree."""
    try:
        found = arb.trees(scores, root=root, **options)
        return [(weight, tuple(heads.tolist())) for heads, weight in found]
    except arb.NoTreeError:
        return []


def a_power_of_two_scales_all(rows, root, power, **options):
    scores = np.array(rows, np.float64)
    expected = [(math.ldexp(w, power), heads) for w, heads in every_tree(scores, root, **options)]
    assert every_tree(np.ldexp(scores, power), root, **options) == expected


def trees_with_an_edge_and_trees_without_it_are_all(rows, root, h, d, **options):
    """Return all trees with the edge h -> d, and all without."""
    scores = np.array(rows, np.float64)
    n = len(scores) - 1
    h, d = min(h, n), min(d, n)
    if h == d:
        h = 0
    having = every_tree(arb.require(scores, [(h, d)]), root, **options)
    lacking = every_tree(arb.forbid(scores, [(h, d)]), root, **options)
    assert all(heads[d] == h for _, heads in having)
    assert all(heads[d] != h for _, heads in lacking)
    expected = every_tree(scores, root, **options)
    assert sorted(having + lacking) == sorted(expected)
    assert sorted(weight for weight, _ in having + lacking)[::-1] == [w for w, _ in expected]


def labels_are_the_best(rows, many, seed, **options):
    base = np.array(rows, np.float64)
    labeled = base[..., None] + np.random.default_rng(seed).integers(-3, 3, (*base.shape, many))
    heads, labels = arb.decode_labeled(labeled, **options)
    assert heads.tolist() == arb.decode(labeled.max(axis=-1), **options).tolist()
    assert labels[0] == -1
    for d in range(1, len(base)):
        assert labels[d] == labeled[heads[d], d].argmax()


def labels_in_batches_are_those_of_sentences(**options):
    rng = np.random.default_rng(7)
    scores = rng.integers(-3, 4, (4, 3, 6, 6, 5)).astype(np.float16)
    lengths = rng.integers(1, 6, (4, 3))
    heads, labels = arb.decode_labeled(scores, lengths=lengths, threads=2, **options)
    assert heads.shape == labels.shape == (4, 3, 6)
    assert ((labels == -1) == (heads == -1)).all()
    n = lengths[2, 1]
    one = arb.decode_labeled(scores[2, 1, : n + 1, : n + 1], **options)
    assert one[0].tolist() == heads[2, 1, : n + 1].tolist()
    assert one[1].tolist() == labels[2, 1, : n + 1].tolist()


def bad_scores_are_named(value, dtype, of_batch, of_one=()):
    """Check a function of scores, lengths and threads, and others of the scores of a sentence."""
    scores = np.zeros((3, 5, 5), dtype)
    scores[1, 3, 2] = value
    with pytest.raises(arb.ScoresError, match=rf"sentence 1: scores\[1, 3, 2\].*3 -> 2.*{value}"):
        of_batch(scores)
    with pytest.raises(arb.ScoresError, match=r"scores\[1, 2, 3\]"):
        of_batch(scores.mT, threads=2)
    with pytest.raises(arb.ScoresError, match=r"sentence 0, 1: scores\[0, 1, 3, 2\]"):
        of_batch(scores[None])
    for function in (of_batch, *of_one):
        with pytest.raises(arb.ScoresError, match=r"^scores\[3, 2\]"):
            function(scores[1])
    return of_batch(scores, lengths=[4, 1, 4])


def said_of(dist, heads, values):
    """What a distribution has to say, as (..., something)."""
    return {
        "log_partition": dist.log_partition(),
        "marginals": dist.marginals(),
        "entropy": dist.entropy(),
        "log_count": dist.log_count(),
        "log_prob": dist.log_prob(heads),
        "expectation": dist.expectation(values),
        "second_moment": dist.second_moment(values),
        "covariance": dist.covariance(values),
        "cross_entropy": dist.cross_entropy(dist),
        "kl": dist.kl(dist),
    }


def without_padding(name, found, n):
    """What `said_of` says of a sentence of n words in a batch, without the padding, which is 0."""
    if name != "marginals":
        return found
    assert (found[n + 1 :] == 0).all()
    assert (found[:, n + 1 :] == 0).all()
    return found[: n + 1, : n + 1]


def are_scores(scores, sentence):
    assert scores.shape == (len(sentence) + 1,) * 2
    assert scores.dtype == np.float32
    assert not scores[:, 0].any()
    assert not scores.diagonal().any()


def streams_are_as_long_as_counted(count, check, root, present, words, graphs, **options):
    """Look for all trees of random graphs where each word has about `present` heads.

    `count` says how many trees there are, from which edges there are; `check` looks at all of
    them. The graphs have `words` words, from the one to the other.
    """
    rng = np.random.default_rng(7)
    counts = []
    for _ in range(graphs):
        n = int(rng.integers(*words))
        scores = rng.integers(-3, 4, (n + 1, n + 1)).astype(np.float64)
        scores[rng.random(scores.shape) > present / n] = -np.inf
        counts.append(count(scores > -np.inf, root))
        if not counts[-1]:
            with pytest.raises(arb.NoTreeError):
                next(arb.trees(scores, root=root, **options))
        elif counts[-1] < 5000:
            found, weights = listed(arb.trees(scores, root=root, **options))
            assert len(found) == counts[-1]
            check(scores, root, found, weights)
    assert len(set(counts)) > len(counts) / 6
