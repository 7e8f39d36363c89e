import numpy as np
import pytest

import arborescence as arb


def matrices(*sizes, labels=()):
    rng = np.random.default_rng(sum(sizes))
    return [rng.normal(size=(size, size, *labels)) for size in sizes]


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_of_matrices_of_different_sizes_is_padded(kind):
    parts = matrices(4, 2, 5, 1)
    heads = arb.decode(kind(parts))
    assert heads.shape == (4, 5)
    for row, part in zip(heads, parts, strict=True):
        assert row[: len(part)].tolist() == arb.decode(part).tolist()
        assert (row[len(part) :] == -1).all()
    weights = arb.tree_weight(parts, heads)
    assert weights.tolist() == [arb.tree_weight(p, arb.decode(p)) for p in parts]
    trees, best, counts = arb.kbest(parts, 2)
    assert trees[:, 0].tolist() == heads.tolist()
    assert best[:, 0].tolist() == weights.tolist()
    assert counts.tolist() == [2, 1, 2, 1]


def test_labeled_scores_may_be_such_a_list():
    parts = matrices(3, 4, labels=(2,))
    heads, labels = arb.decode_labeled(parts)
    for b, part in enumerate(parts):
        for row, alone in zip((heads[b], labels[b]), arb.decode_labeled(part), strict=True):
            assert row[: len(part)].tolist() == alone.tolist()
    assert arb.kbest_labeled(parts, 1)[0][:, 0].tolist() == heads.tolist()


def test_nested_lists_and_mixed_types():
    parts = [[[0, 5, 4], [0, 0, 3], [0, 2, 0]], [[0, 1], [0, 0]]]
    assert arb.decode(parts).tolist() == [[-1, 0, 1], [-1, 0, -1]]
    mixed = [np.array(parts[0], np.int64), np.array(parts[1], np.float32)]
    assert arb.decode(mixed).tolist() == [[-1, 0, 1], [-1, 0, -1]]
    with pytest.raises(arb.ScoresError, match=r"beyond 2\^53"):
        arb.decode([np.full((2, 2), 2**53 + 1), np.zeros((3, 3), np.float32)])


def test_lengths_of_padded_lists():
    parts = matrices(4, 3)
    assert arb.decode(parts, [3, 1])[1].tolist() == [-1, 0, -1, -1]
    with pytest.raises(arb.ScoresError, match=r"lengths\[1\] is 3, but scores\[1\] hold 2 words"):
        arb.decode(parts, [3, 3])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (
            [np.zeros((3, 3)), np.zeros((2, 3))],
            r"scores\[1\] has shape \(2, 3\), where a list has one \(N, N\)",
        ),
        ([np.zeros((3, 3)), np.zeros(3)], r"scores\[1\] has shape \(3,\)"),
        ([[1, 2], [3]], r"scores\[0\] has shape \(2,\)"),
        ([np.zeros((2, 2)), np.zeros((3, 3, 2))], r"scores\[1\] \(3, 3, 2\)"),
        ([np.zeros((2, 2)), np.zeros((0, 0))], r"scores\[1\] has shape \(0, 0\)"),
        ([np.zeros((2, 2)), "x"], r"scores"),
        ([], r"shape \(\.\.\., N, N\)"),
    ],
)
def test_lists_that_are_no_batch(scores, message):
    with pytest.raises(arb.ScoresError, match=message):
        arb.decode(scores)


# Masks.


def test_a_mask_tells_the_lengths():
    scores = np.random.default_rng(1).normal(size=(3, 5, 5))
    lengths = np.array([4, 0, 2])
    expected = arb.decode(scores, lengths).tolist()
    words = np.arange(1, 5) <= lengths[:, None]
    assert arb.decode(scores, words).tolist() == expected
    for root in (False, True):  # whatever it holds for the root
        mask = np.insert(words, 0, root, axis=1)
        assert arb.decode(scores, mask).tolist() == expected
        assert arb.decode(scores[0], mask[0]).tolist() == expected[0]
    assert arb.decode(scores[None], words[None]).tolist() == [expected]


def test_what_is_no_mask():
    scores = np.zeros((2, 4, 4))
    gap = np.array([[True, True, True], [True, False, True]])
    with pytest.raises(arb.ScoresError, match="sentence 1: the mask is false for word 2 and true"):
        arb.decode(scores, gap)
    with pytest.raises(arb.ScoresError, match="the mask is false for word 2 and true for word 3"):
        arb.decode(scores[0], gap[1])
    with pytest.raises(arb.ScoresError, match=r"shape \(2, 4\), or \(2, 3\) without the root"):
        arb.decode(scores, gap[:, :2])
    with pytest.raises(arb.ScoresError, match="whole numbers, not bool"):
        arb.decode(scores, [True, False])


def test_masked_edges_are_absent():
    scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, np.nan, 0.0]])
    masked = np.ma.masked_invalid(scores)
    masked[0, 1] = np.ma.masked
    masked.mask[2, 1] = False
    masked.data[2, 1] = 2.0
    assert arb.decode(masked).tolist() == [-1, 2, 0]
    assert arb.tree_weight(masked, [-1, 0, 1]) == -np.inf
    assert len(arb.kbest(masked, 5)[0]) == 1
    assert arb.decode([masked, scores[:2, :2]]).tolist() == [[-1, 2, 0], [-1, 0, -1]]
    assert arb.forbid(masked, [])[0, 1] == -np.inf
    whole = np.ma.masked_equal(np.array([[0, 2**60], [0, 0]]), 2**60)
    with pytest.raises(arb.NoTreeError):
        arb.decode(whole)
    assert arb.decode(np.ma.masked_array(scores[:2, :2])).tolist() == [-1, 0]


def test_other_masks_have_no_meaning():
    with pytest.raises(arb.ScoresError, match=r"lengths\[1\] is masked"):
        arb.decode(np.zeros((2, 3, 3)), np.ma.masked_equal([2, 1], 1))
    with pytest.raises(arb.TreeError, match=r"heads\[1\] is masked"):
        arb.is_tree(np.ma.masked_equal([-1, 0], 0))


def test_masked_weights_are_absent_edges():
    weights = np.ma.masked_equal([3.0, 9.0, 1.0], 9.0)
    assert arb.decode_sparse(2, [0, 0, 1], [1, 2, 2], weights).tolist() == [-1, 0, 1]
    for minimum in (False, True):
        chosen = arb.undirected.spanning_tree(3, [0, 0, 1], [1, 2, 2], weights, minimum=minimum)
        assert chosen.tolist() == [0, 2]


@pytest.mark.parametrize(
    "call",
    [
        arb.decode,
        lambda scores: arb.decode(scores, projective=True),
        lambda scores: arb.kbest(scores, 2, projective=True),
        lambda scores: arb.TreeDistribution(scores).marginals(),
    ],
)
def test_a_signaling_nan_is_an_error_without_a_warning(call):
    scores = np.zeros((4, 4), np.float32)
    scores.view(np.uint32)[0, 1] = 0xFF808001
    with pytest.raises(arb.ScoresError, match=r"scores\[0, 1\], the edge 0 -> 1, is nan"):
        call(scores)


def test_a_mask_has_the_name_of_lengths():
    """Functions that take lengths say so to users of libraries with `mask`."""
    mask = np.ones((1, 3), dtype=bool)
    scores = np.zeros((1, 4, 4))
    calls = [
        lambda: arb.decode(scores, mask=mask),
        lambda: arb.kbest(scores, 2, mask=mask),
        lambda: arb.decode_labeled(scores[..., None], mask=mask),
        lambda: arb.kbest_labeled(scores[..., None], 2, mask=mask),
        lambda: arb.TreeDistribution(scores, mask=mask),
        lambda: arb.undirected.decode(scores, mask=mask),
        lambda: arb.second_order.decode(scores, mask=mask),
    ]
    for call in calls:
        with pytest.raises(arb.OptionError, match="no mask=: give the same mask as lengths=mask"):
            call()
    assert (arb.decode(scores, lengths=mask) == arb.decode(scores)).all()
