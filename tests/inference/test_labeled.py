from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
from arborescence.core.accumulator import rounded_whole
from graphs import ABSENT, FINITE
from laws.labeled import every_labeled_tree, inference, plain
from modes import CHECKED, UNCOMPILED, some, thinned

# Without the JIT, and with bounds checked, a run of all graphs takes too long.
COUNT = 5 if UNCOMPILED else 20 if CHECKED else 32
ROOTS = ("single", "multi")


def labeled_graphs(kind, count):
    """Random graphs of a kind, of 1 to 4 words and 1 to 3 labels; some labels are absent."""
    rng = np.random.default_rng([*kind.encode()])
    make = {**FINITE, **ABSENT}[kind]
    for n in rng.choice([1, 2, 3, 4], count, p=[0.1, 0.3, 0.5, 0.1])[: some(count)]:
        levels = rng.integers(1, 4)
        scores = np.stack([make(rng, int(n)) for _ in range(levels)], axis=-1)
        if scores.dtype.kind == "f" and rng.random() < 0.3:
            scores[rng.random(scores.shape) < 0.3] = -np.inf
        yield scores


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("kind", thinned([*FINITE, *ABSENT], 2))
def test_all_labeled_trees_in_order(kind):
    searched = 0
    for scores in labeled_graphs(kind, COUNT):
        for root in ROOTS:
            searched += inference(scores, root, False, 4)
    assert searched


def test_a_multigraph_by_hand():
    scores = np.full((3, 3, 3), -np.inf)
    scores[0, 1] = [5, 4, -np.inf]
    scores[1, 2] = [-np.inf, 3, 1]
    scores[0, 2] = [0, -np.inf, -np.inf]
    scores[2, 1] = [-np.inf, 7.5, -np.inf]
    heads, labels, weights, _ = arb.kbest_labeled(scores, 100)
    assert weights.tolist() == [8, 7.5, 7, 6, 5]
    assert heads.tolist() == [[-1, 0, 1], [-1, 2, 0], [-1, 0, 1], [-1, 0, 1], [-1, 0, 1]]
    assert labels.tolist() == [[-1, 0, 1], [-1, 1, 0], [-1, 1, 1], [-1, 0, 2], [-1, 1, 2]]


def test_ties_come_in_one_order():
    scores = np.zeros((4, 4, 2), np.float32)
    found = plain(arb.trees_labeled(scores))
    assert len(found) == 9 * 8
    for same in (scores.astype(np.float64), scores.astype(np.int8), np.asfortranarray(scores)):
        assert plain(arb.trees_labeled(same)) == found
    # Head vectors come in the order of `trees`, each with all of its labelings.
    vectors = [tuple(heads.tolist()) for heads, _ in arb.trees(scores[..., 0])]
    assert [heads for _, heads, _ in found] == [heads for heads in vectors for _ in range(8)]


def test_no_more_than_needed_is_searched():
    scores = np.random.default_rng(0).normal(size=(61, 61, 20)).astype(np.float32)
    heads, labels, weights, _ = arb.kbest_labeled(scores, 5)
    lazily = list(islice(arb.trees_labeled(scores), 5))
    assert plain(lazily) == plain(zip(heads, labels, weights.tolist(), strict=True))


def test_what_is_drawn_is_the_callers():
    scores = np.random.default_rng(1).normal(size=(4, 4, 3))
    expected = plain(arb.trees_labeled(scores))
    drawn = []
    for heads, labels, weight in arb.trees_labeled(scores):
        drawn += plain([(heads, labels, weight)])
        heads[:] = labels[:] = 7
    assert drawn == expected


@pytest.mark.parametrize("threads", [1, 3])
def test_a_batch_equals_its_sentences(threads):
    rng = np.random.default_rng(2)
    lengths = np.array([4, 1, 3, 0, 2])
    batch = np.full((5, 5, 5, 3), np.nan, np.float32)
    for scores, n in zip(batch, lengths, strict=True):
        scores[: n + 1, : n + 1] = rng.integers(-3, 4, (n + 1, n + 1, 3))
    for root in ROOTS:
        k = 30
        heads, labels, weights, counts = arb.kbest_labeled(
            batch, k, lengths, root=root, threads=threads
        )
        assert heads.shape == labels.shape == (5, k, 5)
        assert heads.dtype == labels.dtype == counts.dtype == np.int64
        for b, n in enumerate(lengths):
            m = counts[b]
            alone = arb.kbest_labeled(batch[b, : n + 1, : n + 1], k, root=root)
            assert alone.counts == m
            for one, together in zip(alone[:3], (heads, labels, weights), strict=True):
                assert len(one) == m
                assert (
                    together[b, :m].tolist()
                    == np.pad(
                        one, ((0, 0), (0, 4 - n)) if one.ndim == 2 else 0, constant_values=-1
                    ).tolist()
                )
            assert (heads[b, m:] == -1).all()
            assert (labels[b, m:] == -1).all()
            assert (weights[b, m:] == -np.inf).all()
    assert counts.tolist() == [30, 3, 30, 1, 27]


def test_more_labeled_trees_than_head_vectors():
    scores = np.random.default_rng(3).normal(size=(2, 3, 3, 2))
    heads, labels, weights, counts = arb.kbest_labeled(scores, 10**9)
    assert heads.shape == labels.shape == (2, 8, 3)
    assert counts.tolist() == [8, 8]
    for b in range(2):
        together = zip(heads[b], labels[b], weights[b].tolist(), strict=True)
        assert plain(together) == plain(arb.trees_labeled(scores[b]))


def test_leading_dimensions():
    scores = np.random.default_rng(4).normal(size=(2, 3, 4, 4, 2))
    results = arb.kbest_labeled(scores, 5)
    assert [result.shape for result in results] == [(2, 3, 5, 4), (2, 3, 5, 4), (2, 3, 5), (2, 3)]
    for result, of_one in zip(results, arb.kbest_labeled(scores[1, 2], 5), strict=False):
        assert result[1, 2].tolist() == of_one.tolist()


def test_the_scores_may_change_later():
    scores = np.random.default_rng(5).normal(size=(4, 4, 3))
    expected = plain(arb.trees_labeled(scores))
    stream = arb.trees_labeled(scores)
    first = next(stream)
    scores[:] = 0
    assert plain([first, *stream]) == expected


def test_an_empty_batch():
    heads, labels, weights, counts = arb.kbest_labeled(np.empty((0, 3, 3, 2)), 4)
    assert heads.shape == labels.shape == (0, 4, 3)
    assert weights.shape == (0, 4)
    assert counts.shape == (0,)


@pytest.mark.parametrize(
    "draw", [lambda s: arb.kbest_labeled(s, 2), lambda s: next(arb.trees_labeled(s))]
)
def test_unusable_scores(draw):
    with pytest.raises(arb.ScoresError, match="L > 0"):
        draw(np.zeros((3, 3)))
    with pytest.raises(arb.ScoresError, match="L > 0"):
        draw(np.zeros((3, 3, 0)))
    with pytest.raises(arb.ScoresError, match="complex"):
        draw(np.zeros((3, 3, 2), np.complex64))
    for value in (np.nan, np.inf):
        scores = np.zeros((3, 3, 2))
        scores[1, 1] = scores[2, 0] = value  # a loop, and an edge into the root
        draw(scores)
        scores[0, 2, 1] = value
        with pytest.raises(arb.ScoresError, match=r"scores\[0, 2\]"):
            draw(scores)


def test_one_sentence_at_a_time_where_it_is_lazy():
    with pytest.raises(arb.ScoresError, match=r"one sentence, \(N, N, L\), not a batch \(2, 3\)"):
        arb.trees_labeled(np.zeros((2, 3, 4, 4, 2)))
    with pytest.raises(arb.NoTreeError, match="sentence 1: no tree"):
        arb.kbest_labeled(np.stack([np.zeros((3, 3, 2)), np.full((3, 3, 2), -np.inf)]), 2)
    for k in (0, 1.5, "3"):
        with pytest.raises(arb.OptionError, match="k must be"):
            arb.kbest_labeled(np.zeros((3, 3, 2)), k)


def test_weights_are_rounded_once():
    assert rounded_whole(3, 1) == 1.5
    assert rounded_whole(2**53 + 1, 0) == 2**53
    assert rounded_whole(-(2**53) - 3, 0) == -(2**53) - 4
    assert rounded_whole(1, 1074) == 5e-324
    assert rounded_whole(1 << 3000, 1074) == np.inf
    assert rounded_whole(-1 << 3000, 1074) == -np.inf
    # The heaviest tree weighs more than the largest float, and is told from the next.
    largest = np.finfo(np.float64).max
    scores = np.full((3, 3, 2), largest)
    scores[..., 1] = np.nextafter(largest, 0)
    _, labels, weights, _ = arb.kbest_labeled(scores, 8)
    assert (weights == np.inf).all()
    assert labels[:2].tolist() == [[-1, 0, 0]] * 2


small_graphs = st.integers(1, 3).flatmap(
    lambda n: st.integers(1, 3).flatmap(
        lambda levels: st.lists(
            st.floats(-100, 100) | st.sampled_from([0.0, 1.0, -np.inf]),
            min_size=(n + 1) ** 2 * levels,
            max_size=(n + 1) ** 2 * levels,
        ).map(lambda numbers: np.array(numbers).reshape(n + 1, n + 1, levels))
    )
)


@given(small_graphs, st.sampled_from(ROOTS))
def test_each_tree_once_and_never_a_better_one_later(scores, root):
    try:
        found = plain(arb.trees_labeled(scores, root=root))
    except arb.NoTreeError:
        assert not every_labeled_tree(scores, root, False)
        return
    assert len({tree[1:] for tree in found}) == len(found)
    weights = [weight for weight, *_ in found]
    assert weights == sorted(weights, reverse=True)
    labels_of_edge = np.count_nonzero(scores > -np.inf, axis=-1)
    number = sum(
        np.prod(labels_of_edge[heads[1:], np.arange(1, len(heads))])
        for heads, _ in arb.trees(scores.max(axis=-1), root=root)
    )
    assert number == len(found)


@given(small_graphs, st.integers(-1000, 800))
def test_a_power_of_two_does_not_change_the_order(scores, exponent):
    scaled = np.ldexp(np.rint(scores), exponent)
    expected = None
    for same in (np.rint(scores), scaled):
        try:
            trees = [tree for _, *tree in plain(arb.trees_labeled(same))]
        except arb.NoTreeError:
            trees = []
        assert expected is None or trees == expected
        expected = trees
