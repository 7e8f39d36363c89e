"""Second-order decoding against every tree, and what it claims to have proven."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
from arborescence import second_order
from modes import UNCOMPILED
from second_order_parts import NUMBERS, all_weights, random_parts, weight_of

COUNT = 3 if UNCOMPILED else 25
ROOTS = ("single", "multi")

both_roots = pytest.mark.parametrize("root", ROOTS)
both_families = pytest.mark.parametrize("projective", [False, True])


def check(parts, root, projective, **options):
    """Compare with every tree; return what was found, or None if there is no tree."""
    found = None
    weighed = all_weights(parts, root == "single", projective)
    try:
        found = second_order.decode(*parts, root=root, projective=projective, **options)
    except arb.NoTreeError:
        assert not weighed
        return None
    assert arb.is_tree(found.heads, root=root)
    assert arb.is_projective(found.heads) or not projective
    weight = weight_of(parts, found.heads)
    if weight is None:
        assert (found.weight, found.exact) == (-np.inf, False)
    else:
        assert found.weight == second_order.tree_weight(parts[0], found.heads, *parts[1:])
    best = max(weight for _, weight in weighed) if weighed else None
    assert not found.exact or weight == best
    if best is not None and np.isfinite(found.bound):
        # Rounded once, if the bound is that of the tree itself.
        assert Fraction(found.bound) >= best or found.bound == float(best)
    return found


# Against every tree.


@both_families
@both_roots
@pytest.mark.parametrize("numbers", NUMBERS)
def test_against_every_tree(numbers, root, projective):
    rng = np.random.default_rng([1, *numbers.encode()])
    for _ in range(COUNT):
        found = check(
            random_parts(rng, int(rng.integers(1, 6)), numbers), root, projective, branches=200
        )
        # Beside a mask that no tree can avoid, the other parts are less than what is rounded.
        assert found.exact or found.weight < -1e8
        assert not found.exact or found.bound == found.weight


@both_families
@both_roots
@pytest.mark.parametrize("numbers", ["whole", "float64"])
def test_absent_parts_against_every_tree(numbers, root, projective):
    rng = np.random.default_rng([2, *numbers.encode()])
    results = []
    for _ in range(COUNT):
        parts = random_parts(rng, int(rng.integers(1, 6)), numbers, absent=0.2)
        found = check(parts, root, projective, branches=200)
        results.append(found is not None)
        assert found is None or found.exact
    assert UNCOMPILED or 0 < sum(results) < COUNT


@both_roots
def test_a_few_rounds_prove_little_and_claim_nothing_more(root):
    rng = np.random.default_rng(3)
    gaps = 0
    for _ in range(COUNT):
        parts = random_parts(rng, 4, "float64", absent=0.1)
        found = check(parts, root, projective=False, rounds=2)
        if found is not None:
            assert found.exact == (found.bound == found.weight)
            gaps += not found.exact
    assert gaps or UNCOMPILED


@both_families
def test_sums_that_need_more_bits_than_there_are(projective):
    rng = np.random.default_rng(4)
    for _ in range(COUNT // 2):
        parts = [
            rng.integers(-1, 2, shape) * 2.0**70 + rng.integers(-1, 2, shape) * 2.0**-70
            for shape in ((4, 4), (4, 4, 4), (4, 4, 4))
        ]
        check(parts, "single", projective)


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the JIT")
@both_roots
def test_larger_graphs_where_the_best_tree_of_all_is_projective(root):
    rng = np.random.default_rng(5)
    same = 0
    for _ in range(30):
        n = int(rng.integers(6, 13))
        scores = 0.5 * rng.normal(size=(n + 1, n + 1)) - abs(np.subtract.outer(*[range(n + 1)] * 2))
        thirds = 0.3 * rng.normal(size=(2, n + 1, n + 1, n + 1))
        of_any = second_order.decode(scores, *thirds, root=root)
        flat = second_order.decode(scores, *thirds, root=root, projective=True)
        assert flat.exact
        assert flat.weight <= of_any.bound
        if of_any.exact and arb.is_projective(of_any.heads):
            assert of_any.heads.tolist() == flat.heads.tolist()
            assert of_any.weight == flat.weight
            same += 1
    assert same > 10


@both_families
@both_roots
def test_without_siblings_and_grandparents_it_is_decode(root, projective):
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(8, 7, 7))
    found = second_order.decode(scores, root=root, projective=projective)
    assert found.exact.all()
    heads = arb.decode(scores, root=root, projective=projective)
    assert found.heads.tolist() == heads.tolist()
    assert found.weight.tolist() == arb.tree_weight(scores, heads).tolist()


def test_masks_do_not_cost_the_proof():
    """A mask of -1e9 takes 30 bits from the rest, but no best tree has such a part."""
    rng = np.random.default_rng(7)
    scores, siblings = rng.normal(size=(9, 9)), rng.normal(size=(9, 9, 9))
    expected = second_order.decode(scores, siblings, projective=True)
    other = rng.random((9, 9)) < 0.3
    other[expected.heads[1:], np.arange(1, 9)] = False
    scores[other] = np.finfo(np.float64).min
    found = second_order.decode(scores, siblings, projective=True)
    assert found.exact
    assert found.heads.tolist() == expected.heads.tolist()


@settings(max_examples=5 if UNCOMPILED else 100)
@given(st.data())
def test_whatever_the_parts_the_claims_are_true(data):
    n = data.draw(st.integers(1, 3))
    numbers = st.sampled_from([-np.inf, -1e9, -1.0, -0.0, 0.1, 0.3, 1.0, 1.0 + 2**-52, 1e300])
    shapes = [(n + 1,) * 2, (n + 1,) * 3, (n + 1,) * 3]
    parts = [
        np.array(data.draw(st.lists(numbers, min_size=size, max_size=size))).reshape(shape)
        for shape in shapes
        for size in [int(np.prod(shape))]
    ]
    root = data.draw(st.sampled_from(ROOTS))
    check(parts, root, data.draw(st.booleans()), rounds=50, branches=10)


# Batches and conventions.


@both_families
def test_batches_are_the_same_as_single_sentences(projective):
    rng = np.random.default_rng(8)
    lengths = np.array([4, 0, 6, 1, 5])
    scores, siblings, grandparents = (rng.normal(size=(5, *[7] * k)) for k in (2, 3, 3))
    batch = second_order.decode(
        scores, siblings, grandparents, lengths, projective=projective, threads=2
    )
    for b, n in enumerate(lengths.tolist()):
        size = n + 1
        alone = second_order.decode(
            scores[b, :size, :size],
            siblings[b, :size, :size, :size],
            grandparents[b, :size, :size, :size],
            projective=projective,
        )
        assert batch.heads[b].tolist() == alone.heads.tolist() + [-1] * (6 - n)
        assert [field[b] for field in batch[1:]] == list(alone[1:])


def test_leading_dimensions_and_strides():
    rng = np.random.default_rng(9)
    scores, siblings = rng.normal(size=(2, 3, 5, 5)), rng.normal(size=(2, 3, 5, 5, 5))
    found = second_order.decode(scores, siblings)
    turned = second_order.decode(
        np.ascontiguousarray(scores.swapaxes(2, 3)).swapaxes(2, 3), np.asfortranarray(siblings)
    )
    assert found.heads.shape == (2, 3, 5)
    assert found.weight.shape == found.exact.shape == found.rounds.shape == (2, 3)
    assert found.heads.tolist() == turned.heads.tolist()


def test_what_no_tree_has_is_ignored():
    rng = np.random.default_rng(10)
    scores, siblings, grandparents = (rng.normal(size=(5,) * k) for k in (2, 3, 3))
    scores[1, 3] = -np.inf
    expected = second_order.decode(scores, siblings, grandparents)
    scores[:, 0] = np.diag(scores)[:, None].T * np.nan
    np.fill_diagonal(scores, np.nan)
    siblings[:, 0] = siblings[1, 3] = siblings[0, 1, 2:] = np.nan
    grandparents[:, 0] = grandparents[:, 1, 3] = grandparents[:, :, 0] = np.nan
    found = second_order.decode(scores, siblings, grandparents)
    assert found.heads.tolist() == expected.heads.tolist()
    assert found.weight == expected.weight


def test_torch_tensors():
    torch = pytest.importorskip("torch", reason="tensors need torch")
    rng = np.random.default_rng(11)
    scores, siblings = rng.normal(size=(2, 5, 5)), rng.normal(size=(2, 5, 5, 5))
    found = second_order.decode(torch.tensor(scores), torch.tensor(siblings))
    assert isinstance(found.heads, torch.Tensor)
    assert found.heads.tolist() == second_order.decode(scores, siblings).heads.tolist()


def test_whole_numbers_of_any_type():
    scores = np.array([[0, 5, 4], [0, 0, 3], [0, 2, 0]])
    siblings = np.zeros((3, 3, 3), np.int8)
    siblings[2, 1, 2] = 100
    found = second_order.decode(scores, siblings)
    assert (found.heads.tolist(), found.weight, found.exact) == ([-1, 2, 0], 106.0, True)


# Errors.

CUBE = np.zeros((3, 3, 3))


def with_part(place, value):
    cube = CUBE.copy()
    cube[place] = value
    return cube


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"siblings": np.zeros((3, 3))}, r"siblings must have shape \(3, 3, 3\)"),
        ({"grandparents": np.zeros((2, 3, 3, 3))}, r"grandparents must have shape \(3, 3, 3\)"),
        ({"siblings": CUBE.astype(str)}, "siblings must be floats"),
        ({"siblings": with_part((0, 2, 0), np.nan)}, r"siblings\[0, 2, 0\] is nan"),
        ({"grandparents": with_part((0, 2, 1), np.inf)}, r"grandparents\[0, 2, 1\] is inf"),
        ({"lengths": 3}, "lengths is 3"),
    ],
)
@both_families
def test_invalid_parts(options, message, projective):
    with pytest.raises(arb.ScoresError, match=message):
        second_order.decode(np.zeros((3, 3)), projective=projective, **options)


def test_invalid_parts_of_a_batch():
    scores = np.zeros((2, 3, 3))
    scores[1, 2, 1] = np.nan
    with pytest.raises(arb.ScoresError, match=r"sentence 1: scores\[1, 2, 1\] is nan"):
        second_order.decode(scores)


@pytest.mark.parametrize(
    "options", [{"root": "both"}, {"projective": 1}, {"rounds": 0}, {"branches": -1}]
)
def test_invalid_options(options):
    with pytest.raises(arb.OptionError):
        second_order.decode(np.zeros((3, 3)), **options)


@both_families
def test_no_tree(projective):
    scores = np.full((2, 4, 4), 1.0)
    scores[1, :, 2] = -np.inf
    with pytest.raises(arb.NoTreeError, match="sentence 1: no tree exists: no edge enters word 2"):
        second_order.decode(scores, projective=projective)
    siblings = np.full((4, 4, 4), -np.inf)
    with pytest.raises(arb.NoTreeError, match="a sibling or a grandparent that is not allowed"):
        second_order.decode(scores[0], siblings, projective=projective)


# The weights of trees.


@pytest.mark.parametrize("numbers", sorted(set(NUMBERS) - {"masked"}))
def test_weights_of_trees(numbers):
    rng = np.random.default_rng(12)
    for _ in range(COUNT):
        parts = random_parts(rng, 4, numbers, absent=0.05)
        heads = arb.decode(rng.normal(size=(5, 5)), root="multi")
        weight = weight_of(parts, heads)
        expected = -np.inf if weight is None else float(weight)
        assert second_order.tree_weight(parts[0], heads, *parts[1:]) == expected


def test_weights_of_a_padded_batch():
    scores, siblings = np.ones((2, 4, 4)), np.ones((2, 4, 4, 4))
    weights = second_order.tree_weight(scores, [[-1, 0, 1, -1], [-1, 2, 0, 2]], siblings)
    assert weights.tolist() == [4.0, 6.0]
    with pytest.raises(arb.TreeError, match="do not fit"):
        second_order.tree_weight(scores, [-1, 0, 1, 1])
    with pytest.raises(arb.TreeError, match="sentence 0: heads"):
        second_order.tree_weight(scores, [[-1, 3, 1, -1], [-1, 2, 0, 2]])
    with pytest.raises(arb.ScoresError, match=r"siblings\[0, 2, 1\] is nan"):
        second_order.tree_weight(np.ones((3, 3)), [-1, 0, 0], with_part((0, 2, 1), np.nan))
