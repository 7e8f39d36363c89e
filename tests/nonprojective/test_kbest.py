"""The k best trees against every tree, weighed in exact arithmetic."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
import laws.trees
from arborescence.core.best_first import TreeLists
from arborescence.core.graph import as_graph
from arborescence.nonprojective.kbest import KBestState
from arborescence_papers.baselines import trees_by_decoding
from brute_force import all_trees, exact_weights, tree_weights
from graphs import ABSENT, FINITE, LARGE, layouts, padded_batch, random_graphs
from laws import every_tree
from modes import CHECKED, UNCOMPILED
from tree_lists import check_batch, check_leading_dimensions, listed, rounded_weights, same

JIT = not UNCOMPILED
# How many graphs of each kind, and the most trees asked of each: without the JIT, and with
# bounds checked, more take too long.
COUNT, MOST = (3, 20) if not JIT else (40, 300) if CHECKED else (80, 1300)
ROOTS = ("single", "multi")

both_roots = pytest.mark.parametrize("root", ROOTS)
exact_scalars = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
needs_jit = pytest.mark.skipif(not JIT, reason="too slow without the JIT")


# Against every tree.


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", FINITE)
def test_finite_scores_against_every_tree(kind, root):
    for scores in random_graphs(kind, COUNT, seed=1):
        assert laws.trees.k_best(scores, root, False, MOST) > 0


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", ABSENT)
def test_absent_edges_against_every_tree(kind, root):
    graphs = random_graphs(kind, max(2 * COUNT, 40), seed=1)
    many = [laws.trees.k_best(scores, root, False, MOST) for scores in graphs]
    assert 0 in many
    assert max(many) > 1


@needs_jit
@both_roots
@pytest.mark.parametrize("kind", ["normal-32", "mask-1e30-64", "ulp-32", "two-sizes", "absent"])
def test_all_trees_of_six_words(kind, root):
    rng = np.random.default_rng([6, *kind.encode()])
    scores = {**FINITE, **ABSENT}[kind](rng, 6)
    many = laws.trees.k_best(scores, root, False, 20_000)
    assert many == (6**5 if root == "single" else 7**5) or kind == "absent"


@both_roots
@pytest.mark.parametrize("n", range(1, 7 if JIT else 4))
def test_the_stream_of_a_complete_graph_ends_after_all_trees(n, root):
    scores = np.random.default_rng(n).normal(size=(n + 1, n + 1))
    found, weights = listed(arb.trees(scores, root=root))
    assert len(found) == (n ** (n - 1) if root == "single" else (n + 1) ** (n - 1))
    assert sorted(found.tolist()) == all_trees(n, root == "single").tolist()
    assert (np.diff(weights) <= 0).all()


def determinant(matrix):
    """The determinant of whole numbers, by Bareiss's elimination without fractions."""
    rows, sign, last = [list(map(int, row)) for row in matrix], 1, 1
    for k in range(len(rows) - 1):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // last
        last = rows[k][k]
    return sign * rows[-1][-1]


def number_of_trees(present, root):
    """The Matrix-Tree theorem; for a single root as Koo et al. (2007) have it."""
    edges = present.astype(np.int64)
    np.fill_diagonal(edges, 0)
    words, roots = edges[1:, 1:], edges[0, 1:]
    laplacian = np.diag(words.sum(axis=0)) - words
    if root == "single":
        laplacian[0] = roots
    else:
        laplacian += np.diag(roots)
    return determinant(laplacian)


@both_roots
def test_the_number_of_trees_is_the_determinant(root):
    def check(scores, root, found, weights):
        assert len(np.unique(found, axis=0)) == len(found)
        assert arb.is_tree(found, root=root).all()
        assert weights.tolist() == sorted(exact_weights(scores, found), reverse=True)

    graphs, words = (100, (1, 10)) if JIT else (10, (1, 6))
    laws.streams_are_as_long_as_counted(number_of_trees, check, root, 2.2, words, graphs)


# Larger graphs, against one constrained decode an edge.


@needs_jit
@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", LARGE)
def test_larger_graphs_against_constrained_decodes(kind, root):
    rng = np.random.default_rng([40, *kind.encode()])
    for n, k in ((9, 50), (17, 40), (32, 20), (40, 20)):
        scores = LARGE[kind](rng, n)
        found, reported, _ = arb.kbest(scores, k, root=root)
        assert arb.is_tree(found, root=root).all()
        assert len(np.unique(found, axis=0)) == len(found)
        expected, _ = listed(islice(trees_by_decoding(scores, root), k))
        assert exact_weights(scores, found) == exact_weights(scores, expected)
        np.testing.assert_array_equal(reported, rounded_weights(scores, found))
        assert found[0].tolist() == arb.decode(scores, root=root).tolist()


@needs_jit
@both_roots
@pytest.mark.parametrize("n", [1, 2, 30, 31, 32, 33, 63, 64, 65, 100])
def test_all_sizes_of_blocks(n, root):
    rng = np.random.default_rng(n)
    for scores in (
        rng.integers(-9, 9, (n + 1, n + 1)).astype(np.float32),
        rng.normal(size=(n + 1, n + 1)),
    ):
        found, _, _ = arb.kbest(scores, 6, root=root)
        expected, _ = listed(islice(trees_by_decoding(scores, root), 6))
        assert exact_weights(scores, found) == exact_weights(scores, expected)


@needs_jit
@both_roots
def test_real_scores_of_a_parser(treebanks, root):
    from arborescence.treebank import read

    [path] = sorted((treebanks / "English-EWT").glob("*test*"))
    parser = arb.load("english-fast")
    short = (sentence for sentence in read(path) if 3 <= len(sentence) <= 14)
    for sentence in islice(short, 0, 600, 15):
        scores = parser.scores(sentence)
        found, _, _ = arb.kbest(scores, 20, root=root)
        expected, _ = listed(islice(trees_by_decoding(scores, root), 20))
        assert len(np.unique(found, axis=0)) == len(found)
        assert exact_weights(scores, found) == exact_weights(scores, expected)


# The baseline.


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", ["normal-32", "mask-lowest-64", "small-integers", "absent"])
def test_the_baseline_finds_all_trees(kind, root):
    for scores in random_graphs(kind, 25 if JIT else 2, seed=2):
        expected, weights = tree_weights(scores, root == "single")
        if not len(expected) or len(expected) > 700:
            continue
        found, reported = listed(trees_by_decoding(scores, root))
        assert sorted(found.tolist()) == expected.tolist()
        assert exact_weights(scores, found) == sorted(weights.tolist(), reverse=True)
        np.testing.assert_array_equal(reported, rounded_weights(scores, found))


def test_the_baseline_finds_no_tree():
    scores = np.full((3, 3), -np.inf)
    scores[1, 2] = scores[2, 1] = 1
    with pytest.raises(arb.NoTreeError):
        next(trees_by_decoding(scores, "single"))


# The second best.


@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
@exact_scalars
def test_the_second_best_and_the_edge_that_it_lacks(kind):
    for scores in random_graphs(kind, COUNT, seed=3):
        for root in ROOTS:
            laws.trees.second_best(scores, root, False)


@needs_jit
@both_roots
@pytest.mark.parametrize("kind", LARGE)
def test_the_second_best_of_larger_graphs(kind, root):
    rng = np.random.default_rng([20, *kind.encode()])
    for n in (9, 33):
        scores = LARGE[kind](rng, n)
        heads, weight, edge = arb.second_best(scores, root=root)
        (_, _), (_, second) = islice(trees_by_decoding(scores, root), 2)
        assert weight == second == arb.tree_weight(scores, heads)
        without = arb.decode(arb.forbid(scores, [edge]), root=root)
        assert arb.tree_weight(scores, without) == second


def test_a_graph_without_a_second_tree():
    scores = np.full((3, 3), -np.inf)
    scores[0, 1] = scores[1, 2] = 1
    with pytest.raises(arb.NoTreeError):
        arb.second_best(scores)
    scores[0, 2] = 1
    with pytest.raises(arb.NoTreeError):
        arb.second_best(scores)
    heads, weight, edge = arb.second_best(scores, root="multi")
    assert sorted([heads.tolist(), arb.decode(scores, root="multi").tolist()]) == [
        [-1, 0, 0],
        [-1, 0, 1],
    ]
    assert weight == 2
    assert edge[1] == 2
    for empty in ([[0.0]], [[0.0, 1.0], [0.0, 0.0]]):
        with pytest.raises(arb.NoTreeError):
            arb.second_best(empty)


# The same everywhere.

TIES = ("normal-32", "equal", "small-integers", "ulp-32", "absent-integers", "mask-1e9-32")


def graphs_with_trees(kind, count, root):
    for scores in random_graphs(kind, count, seed=4):
        if len(tree_weights(scores, root == "single")[0]):
            yield scores


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", TIES)
def test_fewer_trees_are_the_first_of_more(kind, root):
    for scores in graphs_with_trees(kind, 20 if JIT else 3, root):
        heads, weights, _ = arb.kbest(scores, 30, root=root)
        assert same((heads, weights), listed(islice(arb.trees(scores, root=root), 30)))
        for k in {1, 2, 3, 29}:
            assert same((heads[:k], weights[:k]), arb.kbest(scores, k, root=root))


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", TIES)
def test_the_order_depends_on_nothing_but_the_values(kind, root):
    for scores in graphs_with_trees(kind, 10 if JIT else 2, root):
        expected = arb.kbest(scores, 20, root=root)
        for layout in layouts(scores):
            assert same(arb.kbest(layout, 20, root=root), expected)
            assert same(listed(islice(arb.trees(layout, root=root), 20)), expected)


@needs_jit
@both_roots
@pytest.mark.parametrize("kind", ["tied", "chains", "many-roots", "one-more-word", "sparse"])
def test_the_order_of_larger_graphs_depends_on_nothing_but_the_values(kind, root):
    scores = LARGE[kind](np.random.default_rng(5), 35).astype(np.float32)
    expected = arb.kbest(scores, 40, root=root)
    for layout in layouts(scores):
        assert same(arb.kbest(layout, 40, root=root), expected)
    assert same(listed(islice(arb.trees(scores, root=root), 40)), expected)


@both_roots
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_equals_its_sentences(root, threads):
    rng = np.random.default_rng(1)
    sizes = [*rng.integers(1, 12 if JIT else 5, 40 if JIT else 5), 0, 1]
    batch = padded_batch(rng, sizes)
    k = 12
    for scores in (batch, np.ascontiguousarray(batch.mT).mT):
        check_batch(arb.kbest, scores, sizes, k, root, threads)


@both_roots
def test_leading_dimensions(root):
    check_leading_dimensions(arb.kbest, root)


def test_a_state_for_shorter_sentences_is_refused():
    short, long = (as_graph(np.zeros((n, n))) for n in (3, 4))
    with pytest.raises(ValueError, match="for sentences of 2 words"):
        KBestState.of(short).find(long, True, TreeLists.of(1, 1, 4), 0, 1)


def test_streams_do_not_disturb_each_other():
    rng = np.random.default_rng(8)
    one, other = rng.normal(size=(5, 5)), rng.normal(size=(6, 6))
    expected = listed(islice(arb.trees(one), 30)), listed(islice(arb.trees(other), 30))
    both = list(islice(zip(arb.trees(one), arb.trees(other), strict=False), 30))
    assert same(listed(first for first, _ in both), expected[0])
    assert same(listed(second for _, second in both), expected[1])
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda s: listed(islice(arb.trees(s), 30)), [one, other] * 5))
    for k, result in enumerate(results):
        assert same(result, expected[k % 2])


def test_a_tree_belongs_to_the_caller():
    scores = np.random.default_rng(9).normal(size=(5, 5))
    expected = listed(arb.trees(scores))
    seen = []
    for heads, weight in arb.trees(scores):
        seen.append((heads.copy(), weight))
        heads[:] = 0
    assert same(listed(seen), expected)


def test_small_sentences():
    heads, weights, _ = arb.kbest([[0.0]], 3)
    assert (heads.tolist(), weights.tolist()) == ([[-1]], [0.0])
    heads, weights, _ = arb.kbest([[0, 7], [0, 0]], 3)
    assert (heads.tolist(), weights.tolist()) == ([[-1, 0]], [7.0])
    assert [(h.tolist(), w) for h, w in arb.trees([[0.0]])] == [([-1], 0.0)]
    assert [(h.tolist(), w) for h, w in arb.trees([[0, 7], [0, 0]])] == [([-1, 0], 7.0)]


def test_far_more_than_there_are():
    scores = np.random.default_rng(0).normal(size=(4, 4))
    heads, weights, _ = arb.kbest(scores, 10**9)
    assert heads.shape == (9, 4)
    assert weights.shape == (9,)


@pytest.mark.parametrize("dtype", [np.float16, np.bool_, np.int8, np.uint8, np.int64, np.uint64])
def test_any_type(dtype):
    scores = np.random.default_rng(3).integers(0, 2, (5, 5)).astype(dtype)
    assert same(arb.kbest(scores, 20), arb.kbest(scores.astype(np.float64), 20))


# What has no k best trees.


def first_of_each(scores, **options):
    """The functions that look for more than one tree, each called for its first result."""
    yield lambda: arb.kbest(scores, 3, **options)
    yield lambda: next(iter(arb.trees(scores, **options)))
    yield lambda: arb.second_best(scores, **options)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_bad_scores_are_named(value, dtype):
    found = laws.bad_scores_are_named(
        value,
        dtype,
        lambda scores, **options: arb.kbest(scores, 4, **options),
        (lambda scores: next(iter(arb.trees(scores))), arb.second_best),
    )
    assert found[2].tolist() == [4, 1, 4]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_column_0_and_the_diagonal_are_ignored(value):
    scores = np.random.default_rng(6).normal(size=(9, 9))
    expected = arb.kbest(scores, 15)
    scores[:, 0] = value
    np.fill_diagonal(scores, value)
    assert same(arb.kbest(scores, 15), expected)
    assert same(arb.kbest(scores.T.copy().T, 15), expected)


@pytest.mark.parametrize(("scores", "message"), laws.UNUSABLE)
def test_unusable_scores(scores, message):
    for call in first_of_each(scores):
        with pytest.raises(arb.ScoresError, match=message):
            call()


def test_streams_are_of_one_sentence():
    for call in list(first_of_each(np.zeros((2, 3, 3))))[1:]:
        with pytest.raises(arb.ScoresError, match=r"one sentence, .* not a batch"):
            call()


def test_unusable_lengths():
    with pytest.raises(arb.ScoresError, match=r"lengths\[1\] is 3"):
        arb.kbest(np.zeros((2, 3, 3)), 2, lengths=[1, 3])
    with pytest.raises(arb.ScoresError, match=r"shape \(2,\), not \(1,\)"):
        arb.kbest(np.zeros((2, 3, 3)), 2, lengths=[1])


@pytest.mark.parametrize("k", [0, -1, 2.5, 2.0, "2", None])
def test_unusable_k(k):
    for scores in (np.zeros((3, 3)), np.zeros((2, 3, 3))):
        with pytest.raises((ValueError, TypeError), match=r"\bk\b"):
            arb.kbest(scores, k)


def test_k_may_be_a_whole_number_of_numpy():
    assert arb.kbest(np.zeros((3, 3)), np.int32(2))[0].shape == (2, 3)


def test_unusable_options():
    for call in first_of_each(np.zeros((2, 2)), root="one"):
        with pytest.raises(ValueError, match="'single' or 'multi'"):
            call()
    with pytest.raises(ValueError, match="threads"):
        arb.kbest(np.zeros((2, 2, 2)), 3, threads=0)


def test_no_tree_says_why():
    scores = np.zeros((3, 5, 5))
    scores[1, :, 3] = -np.inf
    with pytest.raises(arb.NoTreeError, match="sentence 1: no tree exists: no edge enters word 3"):
        arb.kbest(scores, 3)
    unreachable = np.full((5, 5), -np.inf)
    unreachable[0, 1] = unreachable[1, 2] = unreachable[3, 4] = unreachable[4, 3] = 0
    for call in first_of_each(unreachable):
        with pytest.raises(arb.NoTreeError, match="the root does not reach words 3, 4"):
            call()
    two_roots = np.full((3, 3), -np.inf)
    two_roots[0, 1:] = 0
    for call in first_of_each(two_roots):
        with pytest.raises(arb.NoTreeError, match=r"single root.*words 1, 2"):
            call()
    assert arb.kbest(two_roots, 3, root="multi")[0].tolist() == [[-1, 0, 0]]


# Properties.

small_graphs = laws.squares(laws.ABSENT_TOO, 5, 3)
examples = settings(deadline=None, max_examples=100 if JIT else 10)


@examples
@given(small_graphs, st.sampled_from(ROOTS), st.randoms())
def test_the_order_of_words_does_not_change_the_weights(rows, root, random):
    scores = np.array(rows, np.float64)
    order = list(range(1, len(scores)))
    random.shuffle(order)
    order = [0, *order]
    place = np.argsort(order)
    shuffled = every_tree(scores[np.ix_(order, order)], root)
    renamed = [
        (weight, (-1, *(order[heads[place[d]]] for d in range(1, len(order)))))
        for weight, heads in shuffled
    ]
    expected = every_tree(scores, root)
    assert [weight for weight, _ in renamed] == [weight for weight, _ in expected]
    assert sorted(renamed) == sorted(expected)


@examples
@given(small_graphs, st.sampled_from(ROOTS), st.integers(-64, 64), st.integers(1, 5))
def test_a_constant_on_all_edges_into_a_word_is_added_to_all(rows, root, eighths, word):
    scores = np.array(rows, np.float64)
    shifted = scores.copy()
    shifted[:, min(word, len(scores) - 1)] += eighths / 8
    expected = [(weight + eighths / 8, heads) for weight, heads in every_tree(scores, root)]
    assert every_tree(shifted, root) == expected


@examples
@given(small_graphs, st.sampled_from(ROOTS), st.sampled_from([-1060, -500, 3, 900]))
def test_a_power_of_two_scales_all(rows, root, power):
    laws.a_power_of_two_scales_all(rows, root, power)


@examples
@given(small_graphs, st.sampled_from(ROOTS), st.integers(0, 5), st.integers(1, 5))
def test_trees_with_an_edge_and_trees_without_it_are_all(rows, root, h, d):
    laws.trees_with_an_edge_and_trees_without_it_are_all(rows, root, h, d)


@examples
@given(small_graphs, st.integers(1, 12))
def test_the_constraint_costs(rows, k):
    scores = np.array(rows, np.float64)
    multi, single = every_tree(scores, "multi"), every_tree(scores, "single")
    assert sorted(single) == sorted(tree for tree in multi if tree[1].count(0) == 1)
    for one, other in zip(single[:k], multi, strict=False):
        assert one[0] <= other[0]


# Memory.

MEMORY = """
import sys
from itertools import islice
from pathlib import Path
import numpy as np
import arborescence as arb

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

rng = np.random.default_rng(60)
scores = rng.normal(size=(61, 61)).astype(np.float32)
for _ in islice(arb.trees(scores, root=sys.argv[1]), 2):
    pass
before = resident()
kept, most = [], 0
for tree in islice(arb.trees(scores, root=sys.argv[1]), 10_000):
    kept.append(tree)
    most = max(most, resident())
print(most - before, len(kept))
"""


@needs_jit
@both_roots
@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's /proc")
def test_memory_of_ten_thousand_trees(root):
    script = [sys.executable, "-c", MEMORY, root]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    growth, many = map(int, done.stdout.split())
    assert many == 10_000
    assert 10_000 * 61 * 8 < growth < 200e6
