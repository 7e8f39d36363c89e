from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
import laws.trees
from arborescence.compiling.lanes import LANES
from arborescence_papers.baselines import best_of_n_runs, chu_liu_edmonds, reweighted
from brute_force import is_best, tree_weights, whole_numbers
from graphs import ABSENT, FINITE, layouts, padded_batch, random_graphs
from modes import CHECKED, UNCOMPILED

# Without the JIT, and with bounds checked, a run of all graphs takes too long.
COUNT = 40 if UNCOMPILED else 300 if CHECKED else 1000

FIGURE_2 = [
    (0, 1, 90), (0, 2, 40), (1, 3, 10), (2, 3, 30), (2, 4, 60), (3, 2, 50), (4, 3, 70), (4, 1, 20),
]  # fmt: skip


def figure_2():
    scores = np.full((5, 5), -np.inf)
    for h, d, weight in FIGURE_2:
        scores[h, d] = weight
    return scores


def test_figure_1():
    """*Someplace that is like $ 30 an entree*: the edge root → entree, and the right one."""
    right, wrong = [-1, 0, 5, 5, 5, 1, 5, 8, 5], [-1, 0, 5, 5, 5, 1, 5, 8, 0]
    assert [arb.root_count(right), arb.root_count(wrong)] == [1, 2]
    assert arb.is_tree(right)
    assert not arb.is_tree(wrong)
    scores = np.zeros((9, 9))
    scores[right[1:], range(1, 9)] = 2
    scores[0, 8] = 3  # a parser that prefers the root as the head of the last word
    assert arb.decode(scores, root="multi").tolist() == wrong
    assert arb.decode(scores).tolist() == right


def test_figure_2():
    scores = figure_2()
    heads = arb.decode(scores, root="multi")
    assert heads.tolist() == [-1, 0, 0, 4, 2]
    assert arb.tree_weight(scores, heads) == 260
    heads = arb.decode(scores)
    assert heads.tolist() == [-1, 0, 3, 1, 2]
    assert arb.tree_weight(scores, heads) == 210


@pytest.mark.parametrize(
    ("single", "weights"),
    [(False, [260, 220, 210, 200, 190, 150, 130]), (True, [210, 190, 150, 130])],
)
def test_all_trees_of_figure_2(single, weights):
    assert sorted(tree_weights(figure_2(), single)[1], reverse=True) == weights


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_against_every_tree(kind, root):
    found = [laws.trees.best(scores, root, False) for scores in random_graphs(kind, COUNT)]
    assert any(found)
    assert all(found) == (kind in FINITE)


# Larger than brute force can go: the lecture's recursion in fractions, and n runs.
LARGE = [(kind, n) for kind in FINITE for n in (9, 25, 40)]


def weight(scores, heads):
    return sum(Fraction(float(scores[heads[d], d])) for d in range(1, len(heads)))


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the JIT")
@pytest.mark.parametrize(("kind", "n"), LARGE)
def test_larger_graphs_against_the_recursion(kind, n):
    rng = np.random.default_rng([n, *kind.encode()])
    for _ in range(3):
        scores = FINITE[kind](rng, n)
        heads = arb.decode(scores, root="multi")
        assert arb.is_tree(heads, root="multi")
        expected = chu_liu_edmonds(scores, lambda x: Fraction(float(x)))
        assert weight(scores, heads) == weight(scores, expected)

        heads = arb.decode(scores)
        assert arb.is_tree(heads)
        assert weight(scores, heads) == best_weight(scores)


def best_weight(scores):
    """Return the weight of the best tree with one root edge, by one run for each."""
    runs = []
    words = range(1, len(scores))
    for word in words:
        others = [(0, d) for d in words if d != word]
        runs.append(weight(scores, arb.decode(arb.forbid(scores, others), root="multi")))
    return max(runs)


def nested_cycles(n, rng):
    """A cycle of two, in a cycle with the next word, in a cycle with the next, ..."""
    scores = rng.normal(-50, 1, (n + 1, n + 1))
    scores[2, 1] = scores[1, 2] = 10
    for d in range(3, n + 1):
        scores[d - 1, d] = 10
        scores[d, rng.integers(1, d)] = 10 - d
    scores[0] = -1000 - rng.random(n + 1)
    return scores


@pytest.mark.parametrize("n", [5, 31, 32, 33, 64, 150])
def test_deeply_nested_cycles(n):
    if UNCOMPILED and n > 32:
        pytest.skip("too slow without the JIT")
    rng = np.random.default_rng(n)
    scores = nested_cycles(n, rng)
    for graph in (scores, scores.astype(np.float32), np.rint(scores)):
        heads = arb.decode(graph)
        assert arb.is_tree(heads)
        assert weight(graph, heads) == weight(graph, best_of_n_runs(graph))


@pytest.mark.parametrize("n", range(1, 70, 3))
def test_all_sizes_of_blocks(n):
    if UNCOMPILED and n > 34:
        pytest.skip("too slow without the JIT")
    rng = np.random.default_rng(n)
    scores = rng.integers(-9, 9, (n + 1, n + 1)).astype(np.float32)
    for root in ("single", "multi"):
        heads = arb.decode(scores, root=root)
        assert arb.is_tree(heads, root=root)
    assert weight(scores, arb.decode(scores)) == weight(scores, best_of_n_runs(scores))


# What saves exact comparisons.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [-1e30, -50, 0.1, 1e9])
def test_a_number_on_all_root_edges_changes_no_tree_with_one(dtype, offset):
    rng = np.random.default_rng(8)
    for n in (1, 2, 5, 12):
        scores = rng.integers(-9, 10, (n + 1, n + 1)).astype(dtype) / 8
        scores[0] += offset
        assert weight(scores, arb.decode(scores)) == best_weight(scores)


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
def test_words_that_want_the_root_equally_but_for_rounding():
    rng = np.random.default_rng(9)
    for _ in range(COUNT // 4):
        scores = rng.integers(-2, 3, (5, 5)) * 2.0 ** rng.integers(-80, -50, (5, 5))
        scores[0] = rng.choice([1, 1 + 2.0**-52, 3, 2.0**60], 5)
        assert is_best(scores, arb.decode(scores), True), scores.tolist()


@pytest.mark.parametrize("mask", [-1e9, np.finfo(np.float32).min])
def test_masked_edges_that_are_needed(mask):
    scores = np.random.default_rng(10).normal(size=(30, 9, 9)).astype(np.float32)
    # No other edge enters these words, or leaves the root.
    scores[:10, :3, 3:5] = scores[:10, 5:, 3:5] = mask
    scores[10:20, 0] = mask
    scores[20:, :, 6] = mask
    for graph in scores:
        assert weight(graph, arb.decode(graph)) == best_weight(graph)


def test_baselines_on_benign_scores():
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 8, 20):
        scores = rng.normal(size=(n + 1, n + 1))
        best = arb.decode(scores)
        assert best_of_n_runs(scores).tolist() == best.tolist()
        assert reweighted(scores).tolist() == best.tolist()
        assert chu_liu_edmonds(scores).tolist() == arb.decode(scores, root="multi").tolist()


def test_baselines_find_no_tree():
    scores = np.full((3, 3), -np.inf)
    scores[1, 2] = scores[2, 1] = 1
    for baseline in (best_of_n_runs, chu_liu_edmonds):
        with pytest.raises(arb.NoTreeError):
            baseline(scores)


# Shapes, types, strides.


@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_equals_its_sentences(root, threads):
    rng = np.random.default_rng(1)
    sizes = [*rng.integers(1, 12, 50), 0, 1]
    batch = padded_batch(rng, sizes)
    heads = arb.decode(batch, lengths=sizes, root=root, threads=threads)
    for row, matrix, n in zip(heads, batch, sizes, strict=True):
        assert (row[n + 1 :] == -1).all()
        assert row[: n + 1].tolist() == arb.decode(matrix[: n + 1, : n + 1], root=root).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_strides(dtype):
    rng = np.random.default_rng(2)
    scores = rng.integers(-3, 4, (40, 8, 8)).astype(dtype)
    scores[:, range(8), range(8)] = np.nan
    scores[:, :, 0] = np.inf
    for root in ("single", "multi"):
        expected = arb.decode(scores, root=root)
        for layout in layouts(scores):
            before = layout.copy()
            assert (arb.decode(layout, root=root) == expected).all()
            np.testing.assert_array_equal(layout, before)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.bool_, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]
)
def test_any_type(dtype):
    scores = np.random.default_rng(3).integers(0, 2, (30, 6, 6)).astype(dtype)
    assert (arb.decode(scores) == arb.decode(scores.astype(np.float64))).all()


def test_leading_dimensions():
    scores = np.random.default_rng(4).normal(size=(2, 3, 5, 5))
    heads = arb.decode(scores, lengths=[[4, 3, 2], [1, 0, 4]])
    assert heads.shape == (2, 3, 5)
    assert heads.dtype == np.int64
    assert (heads[1, 1] == -1).all()
    assert heads[0, 1, :4].tolist() == arb.decode(scores[0, 1, :4, :4]).tolist()


def test_small_sentences():
    assert arb.decode([[0.0]]).tolist() == [-1]
    assert arb.decode([[0, 1], [0, 0]]).tolist() == [-1, 0]
    assert arb.decode(np.empty((0, 3, 3))).shape == (0, 3)


def test_ties_prefer_the_lowest_head_and_are_the_same_everywhere():
    assert arb.decode(np.zeros((4, 4)), root="multi").tolist() == [-1, 0, 0, 0]
    scores = np.zeros((60, 7, 7), np.float32)
    expected = arb.decode(scores[0])
    assert arb.is_tree(expected)
    for heads in (arb.decode(scores), arb.decode(scores, threads=3), arb.decode(scores.mT)):
        assert (heads == expected).all()
    assert (arb.decode(scores.astype(np.float64)) == expected).all()


# What cannot be decoded.


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_bad_scores_are_named(value, dtype):
    assert laws.bad_scores_are_named(value, dtype, arb.decode).shape == (3, 5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_column_0_and_the_diagonal_are_ignored(value):
    scores = np.random.default_rng(6).normal(size=(9, 9))
    expected = arb.decode(scores).tolist()
    scores[:, 0] = value
    np.fill_diagonal(scores, value)
    assert arb.decode(scores).tolist() == expected
    assert arb.decode(scores.T.copy().T).tolist() == expected


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        *laws.UNUSABLE,
        (np.zeros((2, 2), "U1"), "floats"),
        (np.array([[0, np.iinfo(np.int64).min], [0, 0]]), r"scores\[0, 1\]"),
    ],
)
def test_unusable_scores(scores, message):
    with pytest.raises(arb.ScoresError, match=message):
        arb.decode(scores)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([1, 3], r"lengths\[1\] is 3"),
        ([-1, 2], r"lengths\[0\] is -1"),
        ([1], r"shape \(2,\), not \(1,\)"),
        ([1.0, 2.0], "whole numbers"),
    ],
)
def test_unusable_lengths(lengths, message):
    with pytest.raises(arb.ScoresError, match=message):
        arb.decode(np.zeros((2, 3, 3)), lengths=lengths)


def test_unusable_options():
    with pytest.raises(ValueError, match="'single' or 'multi'"):
        arb.decode(np.zeros((2, 2)), root="one")
    with pytest.raises(ValueError, match="threads"):
        arb.decode(np.zeros((2, 2, 2)), threads=0)


def test_no_tree_says_why():
    scores = np.zeros((3, 5, 5))
    scores[1, :, 3] = -np.inf
    with pytest.raises(arb.NoTreeError, match="sentence 1: no tree exists: no edge enters word 3"):
        arb.decode(scores)
    unreachable = np.full((5, 5), -np.inf)
    unreachable[0, 1] = unreachable[1, 2] = unreachable[3, 4] = unreachable[4, 3] = 0
    with pytest.raises(arb.NoTreeError, match="the root does not reach words 3, 4"):
        arb.decode(unreachable)
    two_roots = np.full((3, 3), -np.inf)
    two_roots[0, 1:] = 0
    with pytest.raises(arb.NoTreeError, match=r"single root.*words 1, 2"):
        arb.decode(two_roots)
    assert arb.decode(two_roots, root="multi").tolist() == [-1, 0, 0]


# Properties.

small_graphs = laws.squares(laws.TIED, 7, 7)


@given(small_graphs, st.integers(-100, 100))
def test_a_constant_on_all_edges_into_a_word_changes_nothing(rows, constant):
    scores = np.array(rows, np.float64)
    shifted = scores.copy()
    shifted[:, -1] += constant
    assert arb.decode(scores).tolist() == arb.decode(shifted).tolist()


@given(small_graphs)
def test_a_power_of_two_changes_nothing(rows):
    scores = np.array(rows, np.float64)
    expected = arb.decode(scores).tolist()
    for factor in (2.0**-1060, 2.0**-500, 2.0**900):
        assert arb.decode(scores * factor).tolist() == expected


@given(small_graphs, st.randoms())
def test_the_order_of_words_does_not_change_the_weight(rows, random):
    scores = np.array(rows, np.float64)
    order = list(range(1, len(scores)))
    random.shuffle(order)
    order = [0, *order]
    shuffled = scores[np.ix_(order, order)]
    one = arb.tree_weight(scores, arb.decode(scores))
    assert arb.tree_weight(shuffled, arb.decode(shuffled)) == one


@given(small_graphs)
def test_constraints_cost(rows):
    scores = np.array(rows, np.float64)
    single, multi = arb.decode(scores), arb.decode(scores, root="multi")
    assert arb.root_count(single) == 1
    assert arb.tree_weight(scores, single) <= arb.tree_weight(scores, multi)
    for d in range(1, len(scores)):
        edge = (int(single[d]), d)
        assert arb.decode(arb.require(scores, [edge]))[d] == single[d]
        try:
            without = arb.decode(arb.forbid(scores, [edge]))
        except arb.NoTreeError:
            continue
        assert without[d] != single[d]
        assert arb.tree_weight(scores, without) <= arb.tree_weight(scores, single)


# Labels.


@given(small_graphs, st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_labels(rows, many, seed):
    laws.labels_are_the_best(rows, many, seed)


def test_labels_in_batches():
    laws.labels_in_batches_are_those_of_sentences()


@pytest.mark.parametrize("many", [1, 7, 8, 9, 24])
def test_any_number_of_labels_and_any_strides(many):
    scores = np.random.default_rng(many).integers(-9, 9, (3, 5, 5, many)).astype(np.float32)
    heads, labels = arb.decode_labeled(scores)
    assert heads.tolist() == arb.decode(scores.max(axis=-1)).tolist()
    turned = np.asfortranarray(scores)
    assert [each.tolist() for each in arb.decode_labeled(turned)] == [
        heads.tolist(),
        labels.tolist(),
    ]
    scores[1, 2, 3, many // 2] = np.nan
    with pytest.raises(arb.ScoresError, match=r"scores\[1, 2, 3\]"):
        arb.decode_labeled(scores)


def test_unusable_labels():
    with pytest.raises(arb.ScoresError, match="L > 0"):
        arb.decode_labeled(np.zeros((3, 3)))
    scores = np.zeros((3, 3, 2))
    scores[0, 2, 1] = np.nan
    with pytest.raises(arb.ScoresError, match=r"scores\[0, 2\]"):
        arb.decode_labeled(scores)


def test_whole_numbers_of_brute_force():
    scores = np.array([[0.5, -0.75], [np.inf, 3.0]])
    assert whole_numbers(scores).tolist() == [[2, -3], [0, 12]]


# Rows of n + 1 scores that end before, at and after whole lanes.
@pytest.mark.parametrize("n", [1, 2, 6, 7, 13, 14, 15, 16, 17, 30, 31, 32, 33, 47, 48, 49])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_of_any_length_in_any_memory(n, kind):
    if UNCOMPILED and n not in (1, LANES - 1, LANES, LANES + 1):
        pytest.skip("too slow without the JIT")
    rng = np.random.default_rng(n)
    for scores in (rng.normal(size=(3, n + 1, n + 1)), rng.integers(0, 3, (3, n + 1, n + 1))):
        batch = scores.astype(kind)
        for root in ("single", "multi"):
            heads = arb.decode(batch, root=root)
            for matrix, row in zip(batch, heads, strict=True):
                for same in layouts(matrix):
                    assert (arb.decode(same, root=root) == row).all()
            # What lies beside the scores of a sentence is not read as a score of it.
            for fill in (np.nan, np.inf):
                wide = np.full((3, n + 4, n + 4), fill, kind)
                wide[:, : n + 1, : n + 1] = batch
                assert (arb.decode(wide[:, : n + 1, : n + 1], root=root) == heads).all()
                turned = np.ascontiguousarray(wide.mT).mT
                for padded in (wide, turned):
                    found = arb.decode(padded, [n, n, n], root=root)
                    assert (found[:, : n + 1] == heads).all()
                    assert (found[:, n + 1 :] == -1).all()
            # A score that is not one, in every word's row or column.
            for h, d in ((0, n), (n, 1), (max(n - 1, 0), n), (1, n)):
                if h == d:
                    continue
                broken = batch.copy()
                broken[1, h, d] = np.nan
                for same in (broken, np.ascontiguousarray(broken.mT).mT):
                    with pytest.raises(arb.ScoresError, match=rf"scores\[1, {h}, {d}\]"):
                        arb.decode(same, root=root)
