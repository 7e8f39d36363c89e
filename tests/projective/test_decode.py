"""The best projective tree against every projective tree, and against Eisner in whole numbers."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
import laws.trees
from brute_force import all_trees, eisner, exact_weights, tree_weights, whole_numbers
from graphs import ABSENT, FINITE, layouts, padded_batch, random_graphs
from modes import CHECKED, FEW, UNCOMPILED

JIT = not UNCOMPILED
# Without the JIT, and with bounds checked, a run of all graphs takes too long.
COUNT = 150 if not JIT else 200 if CHECKED else 320
ROOTS = ("single", "multi")

both_roots = pytest.mark.parametrize("root", ROOTS)
exact_scalars = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
needs_jit = pytest.mark.skipif(not JIT, reason="too slow without the JIT")


def decode(scores, **options):
    return arb.decode(scores, projective=True, **options)


def best_weight(scores, root):
    """The highest weight by Eisner's recursion over whole numbers; None if there is no tree."""
    whole = whole_numbers(scores)
    lowest = -2 * len(scores) * (1 + abs(whole).max())
    whole[scores == -np.inf] = lowest
    best = eisner(whole.tolist(), root == "single", max, int.__add__)
    return best if best > lowest // 2 else None


def check(scores, root):
    """Compare with Eisner's recursion; return whether there is a tree."""
    expected = best_weight(scores, root)
    if expected is None:
        with pytest.raises(arb.NoTreeError):
            decode(scores, root=root)
        return False
    heads = decode(scores, root=root)
    assert arb.is_tree(heads, root=root)
    assert arb.is_projective(heads)
    assert arb.tree_weight(scores, heads) > -np.inf
    assert exact_weights(scores, heads[None]) == [expected]
    return True


# Against every tree.


@pytest.mark.parametrize("n", range(7 if JIT else 5))
def test_the_trees_of_brute_force_are_all_that_are_projective(n):
    for root in ROOTS:
        trees = all_trees(n, root == "single")
        projective = trees[arb.is_projective(trees)]
        assert all_trees(n, root == "single", projective=True).tolist() == projective.tolist()


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_against_every_tree(kind, root):
    found = [laws.trees.best(scores, root, True) for scores in random_graphs(kind, COUNT, seed=3)]
    assert any(found)
    assert all(found) == (kind in FINITE)


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", ["normal-32", "absent", "wide-64"])
def test_eisner_of_brute_force_against_every_tree(kind, root):
    for scores in random_graphs(kind, 40, seed=4):
        _, weights = tree_weights(scores, root == "single", projective=True)
        assert best_weight(scores, root) == max(weights, default=None)


# Larger graphs.


@needs_jit
@both_roots
@pytest.mark.parametrize("kind", FINITE)
def test_larger_graphs_against_eisner(kind, root):
    rng = np.random.default_rng([40, *kind.encode()])
    for n in (8, 13, 24, 40):
        assert check(FINITE[kind](rng, n), root)


def sparse(rng, n):
    """Few edges; half of the time they hold a projective tree."""
    scores = rng.normal(size=(n + 1, n + 1)).astype(np.float32)
    absent = rng.random(scores.shape) > 6 / n
    if rng.random() < 0.5:
        heads = decode(rng.normal(size=scores.shape))
        absent[heads[1:], np.arange(1, n + 1)] = False
    scores[absent] = -np.inf
    return scores


@needs_jit
@both_roots
def test_larger_graphs_with_few_edges(root):
    rng = np.random.default_rng(5)
    found = [check(sparse(rng, int(n)), root) for n in rng.integers(8, 40, 60)]
    assert 15 < sum(found) < 60


@needs_jit
@both_roots
def test_all_sizes_of_blocks(root):
    rng = np.random.default_rng(6)
    for n in (*range(1, 37), 63, 64, 65, 66):
        check(rng.integers(-9, 9, (n + 1, n + 1)).astype(np.float32), root)


@needs_jit
@pytest.mark.parametrize(("root", "n"), [("single", 120), ("multi", 130 if FEW else 200)])
def test_many_words(root, n):
    check(np.random.default_rng(n).normal(size=(n + 1, n + 1)), root)


@needs_jit
@both_roots
@pytest.mark.parametrize("kind", ["equal", "ulp-32", "mask-lowest-64", "two-sizes"])
def test_ties_and_masks_of_many_words(kind, root):
    check(FINITE[kind](np.random.default_rng(7), 90), root)


@both_roots
def test_a_best_tree_without_crossing_edges_is_the_best_projective_tree(root):
    rng = np.random.default_rng(8)
    agreed = 0
    for _ in range(300 if JIT else 30):
        n = int(rng.integers(2, 9))
        scores = rng.normal(size=(n + 1, n + 1))
        best = arb.decode(scores, root=root)
        weight = arb.tree_weight(scores, best)
        if arb.is_projective(best):
            agreed += 1
            assert decode(scores, root=root).tolist() == best.tolist()
        else:
            assert arb.tree_weight(scores, decode(scores, root=root)) < weight
    assert 0 < agreed < (300 if JIT else 30)


@needs_jit
def test_real_trees_are_found(treebanks):
    from arborescence.treebank import read

    [path] = sorted((treebanks / "English-EWT").glob("*dev*"))
    rng = np.random.default_rng(9)
    seen = 0
    for sentence in islice(read(path), 0, None, 5):
        heads = np.asarray(sentence.tree)
        if len(heads) < 2 or arb.root_count(heads) != 1:
            continue
        n = len(heads) - 1
        scores = rng.random((n + 1, n + 1)) / n  # all of it together weighs less than one edge
        scores[heads[1:], np.arange(1, n + 1)] += 1
        if arb.is_projective(heads):
            seen += 1
            for root in ROOTS:
                assert decode(scores, root=root).tolist() == heads.tolist()
        else:
            assert check(scores, "single")
    assert seen > 300


# Shapes, types, strides.


@both_roots
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_equals_its_sentences(root, threads):
    rng = np.random.default_rng(1)
    sizes = [*rng.integers(1, 12, 50), 0, 1]
    batch = padded_batch(rng, sizes)
    for scores in (batch, np.ascontiguousarray(batch.mT).mT, batch.astype(np.float64)):
        heads = decode(scores, lengths=sizes, root=root, threads=threads)
        for row, matrix, n in zip(heads, batch, sizes, strict=True):
            assert (row[n + 1 :] == -1).all()
            assert row[: n + 1].tolist() == decode(matrix[: n + 1, : n + 1], root=root).tolist()


@both_roots
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_strides(dtype, root):
    rng = np.random.default_rng(2)
    scores = rng.integers(-3, 4, (40, 8, 8)).astype(dtype)
    scores[:, range(8), range(8)] = np.nan
    scores[:, :, 0] = np.inf
    expected = decode(scores, root=root)
    for layout in layouts(scores):
        before = layout.copy()
        assert (decode(layout, root=root) == expected).all()
        np.testing.assert_array_equal(layout, before)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.bool_, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]
)
def test_any_type(dtype):
    scores = np.random.default_rng(3).integers(0, 2, (30, 6, 6)).astype(dtype)
    assert (decode(scores) == decode(scores.astype(np.float64))).all()


def test_leading_dimensions():
    scores = np.random.default_rng(4).normal(size=(2, 3, 5, 5))
    heads = decode(scores, lengths=[[4, 3, 2], [1, 0, 4]])
    assert heads.shape == (2, 3, 5)
    assert heads.dtype == np.int64
    assert (heads[1, 1] == -1).all()
    assert heads[0, 1, :4].tolist() == decode(scores[0, 1, :4, :4]).tolist()


def test_small_sentences():
    assert decode([[0.0]]).tolist() == [-1]
    assert decode([[0, 1], [0, 0]]).tolist() == [-1, 0]
    assert decode(np.empty((0, 3, 3))).shape == (0, 3)


@both_roots
def test_ties_are_the_same_everywhere(root):
    scores = np.zeros((60, 7, 7), np.float32)
    expected = decode(scores[0], root=root)
    assert arb.is_tree(expected, root=root)
    assert arb.is_projective(expected)
    for one in (scores, scores.mT, scores.astype(np.float64), scores.astype(np.int8)):
        for threads in (1, 3):
            assert (decode(one, root=root, threads=threads) == expected).all()


# What cannot be decoded.


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_bad_scores_are_named(value, dtype):
    assert laws.bad_scores_are_named(value, dtype, decode).shape == (3, 5)


@both_roots
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_no_bad_score_goes_unseen(value, root, n):
    edges = [(h, d) for h in range(n + 1) for d in range(1, n + 1) if h != d]
    for h, d in edges[:: 1 + len(edges) // 60]:
        # Also where no tree could use the edge, as all others into the word's span are absent.
        for others in (0.0, -np.inf):
            scores = np.full((n + 1, n + 1), others)
            scores[h, d] = value
            with pytest.raises(arb.ScoresError, match=rf"scores\[{h}, {d}\]"):
                decode(scores, root=root)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_column_0_and_the_diagonal_are_ignored(value):
    scores = np.random.default_rng(6).normal(size=(9, 9))
    for root in ROOTS:
        other = scores.copy()
        expected = decode(scores, root=root).tolist()
        other[:, 0] = value
        np.fill_diagonal(other, value)
        assert decode(other, root=root).tolist() == expected
        assert decode(other.T.copy().T, root=root).tolist() == expected


@pytest.mark.parametrize("scores", [np.zeros((3, 4)), np.zeros(3), np.zeros((2, 2), complex)])
def test_unusable_scores(scores):
    with pytest.raises(arb.ScoresError):
        decode(scores)


def test_unusable_options():
    with pytest.raises(ValueError, match="'single' or 'multi'"):
        decode(np.zeros((2, 2)), root="one")
    with pytest.raises(ValueError, match="threads"):
        decode(np.zeros((2, 2, 2)), threads=0)
    with pytest.raises(arb.ScoresError, match=r"lengths\[1\] is 3"):
        decode(np.zeros((2, 3, 3)), lengths=[1, 3])


def test_no_tree_says_why():
    scores = np.zeros((3, 5, 5))
    scores[1, :, 3] = -np.inf
    with pytest.raises(arb.NoTreeError, match="sentence 1: no tree exists: no edge enters word 3"):
        decode(scores)
    unreachable = np.full((5, 5), -np.inf)
    unreachable[0, 1] = unreachable[1, 2] = unreachable[3, 4] = unreachable[4, 3] = 0
    with pytest.raises(arb.NoTreeError, match="the root does not reach words 3, 4"):
        decode(unreachable)
    two_roots = np.full((3, 3), -np.inf)
    two_roots[0, 1:] = 0
    with pytest.raises(arb.NoTreeError, match=r"single root.*words 1, 2"):
        decode(two_roots)
    assert decode(two_roots, root="multi").tolist() == [-1, 0, 0]


@both_roots
def test_no_projective_tree_says_so(root):
    scores = np.full((2, 5, 5), -np.inf)
    scores[0] = 0
    for d, h in enumerate([3, 0, 2, 1], start=1):
        scores[1, h, d] = 0
    assert arb.decode(scores[1], root=root).tolist() == [-1, 3, 0, 2, 1]
    with pytest.raises(arb.NoTreeError, match="projective"):
        decode(scores[1], root=root)
    with pytest.raises(arb.NoTreeError, match=r"sentence 1: .*projective"):
        decode(scores, root=root)


# Properties.

small_graphs = laws.squares(laws.TIED, 7, 4)
examples = settings(deadline=None, max_examples=100 if JIT else 20)


@examples
@given(small_graphs, st.sampled_from(ROOTS), st.integers(-100, 100), st.integers(1, 7))
def test_a_constant_on_all_edges_into_a_word_is_added_to_the_weight(rows, root, constant, word):
    scores = np.array(rows, np.float64)
    shifted = scores.copy()
    shifted[:, min(word, len(scores) - 1)] += constant
    one, other = decode(scores, root=root), decode(shifted, root=root)
    assert arb.tree_weight(scores, one) == arb.tree_weight(scores, other)


@examples
@given(small_graphs, st.sampled_from(ROOTS))
def test_a_power_of_two_changes_nothing(rows, root):
    scores = np.array(rows, np.float64)
    expected = decode(scores, root=root).tolist()
    for factor in (2.0**-1060, 2.0**-500, 2.0**900):
        assert decode(scores * factor, root=root).tolist() == expected


@examples
@given(small_graphs)
def test_the_mirror_image_weighs_the_same(rows):
    scores = np.array(rows, np.float64)
    order = [0, *range(len(scores) - 1, 0, -1)]
    mirrored = scores[np.ix_(order, order)]
    for root in ROOTS:  # left of all words or right of them: to cross an edge is the same
        one = arb.tree_weight(scores, decode(scores, root=root))
        assert arb.tree_weight(mirrored, decode(mirrored, root=root)) == one


@examples
@given(small_graphs)
def test_constraints_cost(rows):
    scores = np.array(rows, np.float64)
    single, multi = decode(scores), decode(scores, root="multi")
    assert arb.root_count(single) == 1
    assert arb.tree_weight(scores, single) <= arb.tree_weight(scores, multi)
    for root, heads in (("single", single), ("multi", multi)):
        free = arb.tree_weight(scores, arb.decode(scores, root=root))
        assert arb.tree_weight(scores, heads) <= free
        for d in range(1, len(scores)):
            edge = (int(heads[d]), d)
            assert decode(arb.require(scores, [edge]), root=root)[d] == heads[d]
            try:
                without = decode(arb.forbid(scores, [edge]), root=root)
            except arb.NoTreeError:
                continue
            assert without[d] != heads[d]
            assert arb.tree_weight(scores, without) <= arb.tree_weight(scores, heads)


# Labels.


@examples
@given(small_graphs, st.sampled_from(ROOTS), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_labels(rows, root, many, seed):
    laws.labels_are_the_best(rows, many, seed, root=root, projective=True)


def test_labels_in_batches():
    laws.labels_in_batches_are_those_of_sentences(projective=True)
