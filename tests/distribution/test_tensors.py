"""The differentiable distribution, against every tree and against the one of NumPy."""

import gzip
import itertools
import math

import numpy as np
import pytest

import arborescence as arb
from brute_force import EveryTree, tree_weights
from graphs import ABSENT, padded_batch, random_graphs
from laws import said_of, without_padding

torch = pytest.importorskip("torch", reason="needs the extra 'torch'")

from arborescence.torch import TreeDistribution  # noqa: E402

ROOTS = ("single", "multi")
FAMILIES = pytest.mark.parametrize(
    ("root", "projective"),
    [("single", False), ("multi", False), ("single", True), ("multi", True)],
    ids=["single", "multi", "projective-single", "projective-multi"],
)


def cycles(margin):
    """The greedy graph is cycles of two, and each way out of them costs the margin."""

    def make(rng, n):
        scores = rng.normal(size=(n + 1, n + 1)) - margin
        for d in range(1, n, 2):
            scores[d, d + 1] = scores[d + 1, d] = 0
        return scores

    return make


HARD = {
    "huge": lambda rng, n: 1e3 * rng.normal(size=(n + 1, n + 1)),
    "tiny": lambda rng, n: 1e-6 * rng.normal(size=(n + 1, n + 1)),
    "far-columns": lambda rng, n: rng.normal(size=(n + 1, n + 1)) + rng.uniform(-1e8, 1e8, n + 1),
    **{f"cycles-{margin}": cycles(margin) for margin in (5, 15, 50, 1000)},
}
KINDS = ["normal-32", "normal-64", "mask-1e9-32", "mask-1e9-64", "mask-lowest-32",
         "mask-lowest-64", "root-dominates", "nested", *ABSENT, *HARD]  # fmt: skip


def graphs(kind, count, root, projective, most=5):
    """Random graphs of at most 5 words that have a tree."""
    if kind in HARD:
        rng = np.random.default_rng([21, *kind.encode()])
        made = (HARD[kind](rng, int(n)) for n in rng.integers(1, most + 1, count))
    else:
        made = random_graphs(kind, 2 * count, seed=21)
    for scores in made:
        small = len(scores) <= most + 1
        if small and len(tree_weights(scores, root == "single", projective)[0]):
            yield scores.astype(np.float64) if scores.dtype.kind != "f" else scores


def values_of_edges(rng, size, *more):
    """Values of edges; those of no edge are NaN."""
    values = torch.tensor(rng.normal(size=(size, size, *more)))
    values[:, 0] = values[range(size), range(size)] = torch.nan
    return values


def refused(dist):
    """Whether trees need edges that are too far below others."""
    try:
        return not dist.log_partition().isfinite()
    except arb.ScoresError as error:
        return "too far apart" in str(error)


# Against every tree.


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@FAMILIES
@pytest.mark.parametrize("kind", KINDS)
def test_against_every_tree(kind, root, projective):
    rng = np.random.default_rng(1)
    compared = 0
    for scores in graphs(kind, 15, root, projective):
        compared += 1
        every = EveryTree(scores, root, projective)
        # Sums of scores cannot be more precise than the scores that they are made of.
        best = every.trees[every.log_probs.argmax()]
        weight = np.abs(scores[best[1:], every.words]).sum(dtype=float)
        coarse = 1e-9 + 1e-14 * float(weight)
        tensor = torch.tensor(scores.astype(np.float64))
        dist = TreeDistribution(tensor, root=root, projective=projective)

        total = every.log_partition
        edges = scores.astype(np.float64)
        np.fill_diagonal(edges, -np.inf)
        short = (edges.max(axis=0)[1:] - edges[best[1:], every.words]).sum()
        if projective and short > 1e5 and refused(dist):
            continue
        assert dist.log_partition().item() == pytest.approx(total, rel=1e-9, abs=1e-9)
        assert dist.log_count().exp().item() == pytest.approx(len(every.trees), rel=1e-9)
        if coarse > 1e3:
            continue  # masked edges that a tree needs leave nothing of the other scores
        np.testing.assert_allclose(dist.marginals(), every.marginals, rtol=0, atol=coarse)
        assert dist.entropy().item() == pytest.approx(every.entropy, abs=10 * coarse)
        found = dist.log_prob(every.trees)
        low = every.log_probs < -1e299  # float64 ends there
        np.testing.assert_allclose(found[~low], every.log_probs[~low], rtol=1e-9, atol=coarse)
        assert (found[low] < -1e299).all()

        f, g = values_of_edges(rng, len(scores), 2), values_of_edges(rng, len(scores), 3)
        of_f, of_g = every.values(f.numpy()), every.values(g.numpy())
        mean_f, mean_g = every.probs @ of_f, every.probs @ of_g
        coarse *= 10
        np.testing.assert_allclose(dist.expectation(f), mean_f, rtol=0, atol=coarse)
        moment = (every.probs[:, None] * of_f).T @ of_g
        np.testing.assert_allclose(dist.second_moment(f, g), moment, rtol=0, atol=coarse)
        centred = (every.probs[:, None] * (of_f - mean_f)).T @ (of_g - mean_g)
        np.testing.assert_allclose(dist.covariance(f, g), centred, rtol=0, atol=coarse)
        np.testing.assert_allclose(dist.covariance(g, f), centred.T, rtol=0, atol=coarse)
    assert compared > 3


@FAMILIES
@pytest.mark.parametrize("kind", ["normal-64", "absent", "cycles-50"])
def test_two_distributions(kind, root, projective):
    rng = np.random.default_rng(2)
    apart = 0
    for scores in graphs(kind, 15, root, projective):
        others = rng.normal(size=scores.shape)
        if rng.random() < 0.5:
            others[rng.random(scores.shape) < 0.2] = -np.inf
        if not len(tree_weights(others, root == "single", projective)[0]):
            continue
        options = {"root": root, "projective": projective}
        one = TreeDistribution(torch.tensor(scores, dtype=torch.float64), **options)
        other = TreeDistribution(torch.tensor(others), **options)
        every = EveryTree(scores, root, projective)
        expected = every.cross_entropy(EveryTree(others, root, projective))
        apart += expected == math.inf
        assert one.cross_entropy(other).item() == pytest.approx(expected, rel=1e-9)
        assert one.kl(other).item() == pytest.approx(expected - every.entropy, rel=1e-9)
        assert one.kl(one).item() == pytest.approx(0, abs=1e-12)
    assert apart


def test_distributions_over_other_trees():
    scores = torch.randn(6, 5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    chain = torch.full((5, 5), -torch.inf, dtype=torch.float64).masked_fill(
        torch.ones(5, 5).triu(1).tril(1).bool(), 0.0
    )
    scores[0] = chain  # one tree, which is of every kind
    narrow = TreeDistribution(scores, projective=True)
    wide = TreeDistribution(scores, root="multi")
    assert (narrow.cross_entropy(wide) > narrow.entropy())[1:].all()
    assert narrow.cross_entropy(wide).isfinite().all()
    assert wide.cross_entropy(narrow).isinf().tolist() == [False] + [True] * 5


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("own", list(itertools.product(ROOTS, [False, True])))
@pytest.mark.parametrize("others", list(itertools.product(ROOTS, [False, True])))
def test_any_two_kinds_of_trees(own, others):
    rng = np.random.default_rng(15)
    batch, expected = [], []
    for _ in range(12):
        one, two = rng.normal(size=(2, 4, 4))
        one[rng.random(one.shape) < rng.choice([0, 0.3, 0.5])] = -np.inf
        two[rng.random(two.shape) < rng.choice([0, 0.1])] = -np.inf
        if all(
            len(tree_weights(scores, root == "single", projective)[0])
            for scores, (root, projective) in ((one, own), (two, others))
        ):
            batch.append((one, two))
            expected.append(EveryTree(one, *own).cross_entropy(EveryTree(two, *others)))
    made = (torch.tensor(np.stack(scores)) for scores in zip(*batch, strict=True))
    one, two = (
        TreeDistribution(scores, root=root, projective=projective)
        for scores, (root, projective) in zip(made, (own, others), strict=True)
    )
    np.testing.assert_allclose(one.cross_entropy(two), expected, rtol=1e-9)
    assert one.kl(two).isinf().tolist() == np.isinf(expected).tolist()


@FAMILIES
def test_what_is_no_tree_has_no_probability(root, projective):
    scores = torch.zeros(5, 5, dtype=torch.float64)
    scores[0, 4] = -torch.inf
    dist = TreeDistribution(scores, root=root, projective=projective)
    candidates = np.stack(np.meshgrid([-1], *[np.arange(-1, 6)] * 4), -1).reshape(-1, 5)
    trees = arb.is_tree(candidates, root=root) & (candidates[:, 4] != 0)
    trees &= (candidates[:, 1:] >= 0).all(axis=1)
    if projective:
        trees[trees] = arb.is_projective(candidates[trees])
    found = dist.log_prob(candidates, errors="-inf")
    assert found.isfinite().tolist() == trees.tolist()
    assert trees.any()
    assert found[torch.tensor(trees)].numpy() == pytest.approx(-dist.log_count().item())
    plain = arb.TreeDistribution(scores.numpy(), root=root, projective=projective)
    np.testing.assert_allclose(plain.log_prob(candidates, errors="-inf"), found, rtol=1e-12)


@FAMILIES
def test_gold_trees_as_people_have_them(root, projective):
    scores = torch.randn(3, 5, 5, generator=torch.Generator().manual_seed(16), requires_grad=True)
    lengths = [4, 2, 0]
    dist = TreeDistribution(scores, lengths, root=root, projective=projective)
    plain = arb.TreeDistribution(scores.detach(), lengths, root=root, projective=projective)
    expected = dist.log_prob([[-1, 2, 0, 2, 3], [-1, 0, 1, -1, -1], [-1] * 5])
    assert expected.isfinite().all()
    for at_root, padding in itertools.product([-1, 0, 3, -100, 9], [-1, 0, -100, 2, 7]):
        gold = torch.full((3, 5), padding)
        gold[:, 0] = at_root
        gold[0, 1:], gold[1, 1:3] = torch.tensor([2, 0, 2, 3]), torch.tensor([0, 1])
        before = gold.clone()
        torch.testing.assert_close(dist.log_prob(gold), expected)
        torch.testing.assert_close(plain.log_prob(gold).float(), expected.detach())
        torch.testing.assert_close(dist.log_prob(gold[:, None])[:, 0], expected)
        assert (gold == before).all()


def test_gold_trees_that_cannot_be_are_named():
    scores = torch.zeros(2, 5, 5, requires_grad=True)
    cases = [
        (
            [0, 0, 2, 2],
            {},
            "sentence 1: .*single root: the root is the head of words 1, 2",
        ),
        ([2, 1, 0, 3], {}, "sentence 1: .*the root does not reach words 1, 2"),
        ([3, 0, 2, 1], {"projective": True}, "sentence 1: .*edges 3 -> 1 and 0 -> 2 cross"),
        ([2, 0, 2, 5], {}, "sentence 1: .*the head of word 4 is 5, not 0 to 4"),
        ([2, 0, 2, -100], {}, "sentence 1: .*head of word 4 is -100, not 0 to 4; if .* lengths"),
        ([2, 0, 2, 1], {"absent": True}, "sentence 1: .*the edge 1 -> 4 is absent"),
    ]
    good = [-1, 2, 0, 2, 3]
    for heads, options, message in cases:
        gold = torch.tensor([good, [-1, *heads]])
        options = dict(options)
        weights = scores
        if options.pop("absent", False):
            weights = scores.masked_fill(torch.arange(50).reshape(2, 5, 5) == 34, -torch.inf)
        dist = TreeDistribution(weights, **options)
        plain = arb.TreeDistribution(weights.detach().numpy(), **options)
        for each in (dist, plain):
            with pytest.raises(arb.TreeError, match=message):
                each.log_prob(gold)
            with pytest.raises(arb.TreeError, match=message):
                each.log_prob(torch.stack([gold, gold], 1))
            found = each.log_prob(gold, errors="-inf")
            assert np.isfinite(found.tolist()).tolist() == [True, False]
            with pytest.raises(arb.OptionError, match="'raise' or '-inf', not 'no'"):
                each.log_prob(gold, errors="no")
        assert plain.log_prob(gold[0].expand(2, 5)).shape == (2,)
    dist.log_prob(gold, errors="-inf")[0].backward()
    assert scores.grad[0].any()
    assert scores.grad.isfinite().all()


# Scores too far apart for floats.


def far_scores():
    """Each tree needs one or two masked edges; those of 1e308 have sums that are no floats."""
    rng = np.random.default_rng(17)
    mask, lowest = rng.normal(size=(2, 5, 5))
    mask[0] = -1e30 * rng.integers(1, 3, 5)
    lowest[:, [1, 3]] = np.finfo(np.float64).min
    above = rng.normal(size=(5, 5))
    above[0] += 1e9
    huge = np.array([[0, -1e308, -1e308], [0, 0, 1e308], [0, 1e308, 0]])
    sizes = rng.normal(size=(4, 4)) - 10.0 ** rng.choice([0, 9, 30, 100], (4, 4))
    return [mask, lowest, above, huge, -huge, sizes]


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("place", range(6))
def test_scores_far_apart(place, root):
    scores = far_scores()[place]
    every = EveryTree(scores, root, False)
    tensor = torch.tensor(scores, requires_grad=True)
    dist = TreeDistribution(tensor, root=root)
    assert dist.log_partition().item() == pytest.approx(every.log_partition, rel=1e-12)
    np.testing.assert_allclose(dist.marginals().detach(), every.marginals, atol=1e-9)
    assert dist.entropy().item() == pytest.approx(every.entropy, abs=1e-8)
    found, low = dist.log_prob(every.trees).detach().numpy(), every.log_probs < -1e300
    np.testing.assert_allclose(found[~low], every.log_probs[~low], rtol=1e-12, atol=1e-8)
    assert (found[low] < -1e299).all()
    f = np.nan_to_num(values_of_edges(np.random.default_rng(18), len(scores)).numpy())
    of_f = every.values(f)
    mean = every.probs @ of_f
    variance = every.probs @ (of_f - mean) ** 2
    assert dist.covariance(torch.tensor(f)).item() == pytest.approx(variance, abs=1e-7)
    # The gradient of the loss: probabilities, less 1 where an edge is gold.
    best = every.trees[every.log_probs.argmax()]
    (gradient,) = torch.autograd.grad(-dist.log_prob(best), tensor, retain_graph=True)
    expected = every.marginals.copy()
    expected[best[1:], every.words] -= 1
    np.testing.assert_allclose(gradient, expected, atol=1e-9)
    (gradient,) = torch.autograd.grad(dist.expectation(torch.tensor(f)), tensor)
    plain = arb.TreeDistribution(scores, root=root)
    np.testing.assert_allclose((gradient.numpy() * f).sum(), plain.covariance(f), atol=1e-8)
    # In a batch, beside others, and padded.
    batch = torch.full((3, 7, 7), torch.nan, dtype=torch.float64)
    batch[[0, 2], :3, :3] = 0.0
    batch[1, : len(scores), : len(scores)] = torch.tensor(scores)
    together = TreeDistribution(batch, [2, len(scores) - 1, 2], root=root)
    with torch.no_grad():
        torch.testing.assert_close(together.entropy()[1], dist.entropy())
        inside = together.marginals()[1, : len(scores), : len(scores)]
        torch.testing.assert_close(inside, dist.marginals())
        assert together.log_partition()[1] == dist.log_partition()


def test_projective_scores_far_apart():
    """All but the entropy has a gradient."""
    scores = torch.zeros(2, 4, 4, dtype=torch.float64)
    scores[1, :, 2] = -1e30
    assert TreeDistribution(scores, projective=True).log_partition()[1] < -1e29
    scores[1] = torch.tensor([[0, -1e30, -1e30, -1e30], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]])
    scores[1, 0, 1] = -2e30
    options = {"root": "multi", "projective": True}
    plain = arb.TreeDistribution(scores.numpy(), **options)
    for leaf in (scores, scores.clone().requires_grad_()):
        dist = TreeDistribution(leaf, **options)
        np.testing.assert_array_equal(dist.marginals().detach(), plain.marginals())
        np.testing.assert_array_equal(dist.log_partition().detach(), plain.log_partition())
    (gradient,) = torch.autograd.grad(dist.log_partition().sum(), leaf, retain_graph=True)
    np.testing.assert_array_equal(gradient, plain.marginals())
    values = np.random.default_rng(22).normal(size=(2, 4, 4))
    (gradient,) = torch.autograd.grad(dist.expectation(torch.tensor(values)).sum(), leaf)
    np.testing.assert_array_equal(gradient, plain.edge_covariance(values))
    np.testing.assert_array_equal(TreeDistribution(scores, **options).entropy(), plain.entropy())
    with pytest.raises(arb.ScoresError, match=r"sentence 1: .*too far apart.*no gradient"):
        _ = TreeDistribution(leaf, **options).entropy()


# Derivatives.


def of_present(scores, function):
    """The function of the scores of edges that are present, and those scores."""
    present = scores > -torch.inf
    function_of = lambda values: function(scores.masked_scatter(present, values))  # noqa: E731
    return function_of, scores[present].clone().requires_grad_()


@FAMILIES
@pytest.mark.parametrize("kind", ["normal", "absent", "cycles-5", "cycles-50"])
def test_gradients(kind, root, projective):
    rng = np.random.default_rng(4)
    scores = torch.tensor(rng.normal(size=(3, 5, 5)))
    lengths = [4, 2, 3]
    if kind == "absent":
        scores[:, 1, 2] = scores[:, 3, 1] = scores[:, 2, 3] = -torch.inf
    elif kind != "normal":
        scores[:] = torch.tensor(HARD[kind](rng, 4))
    other = TreeDistribution(torch.tensor(rng.normal(size=(3, 5, 5))), lengths, root=root,
                             projective=projective)  # fmt: skip
    f = torch.tensor(rng.normal(size=(3, 5, 5, 2)))

    def check(of, twice=False):
        function, values = of_present(
            scores, lambda x: of(TreeDistribution(x, lengths, root=root, projective=projective))
        )
        assert torch.autograd.gradcheck(function, values, fast_mode=True)
        if twice:
            assert torch.autograd.gradgradcheck(function, values, fast_mode=True)

    gold = other.argmax()
    check(lambda dist: dist.log_partition(), twice=True)
    check(lambda dist: dist.log_prob(gold, errors="-inf").clamp(min=-1e9), twice=True)
    check(lambda dist: dist.entropy())
    check(lambda dist: dist.marginals())
    check(lambda dist: dist.kl(other) if kind != "absent" else other.entropy() + dist.entropy())
    check(lambda dist: dist.expectation(f))


@FAMILIES
def test_both_distributions_of_a_cross_entropy_have_gradients(root, projective):
    rng = np.random.default_rng(19)
    one, two = (torch.tensor(rng.normal(size=(2, 4, 4)), requires_grad=True) for _ in range(2))

    def kl(*scores):
        p, q = (TreeDistribution(s, [3, 2], root=root, projective=projective) for s in scores)
        return p.kl(q)

    assert torch.autograd.gradcheck(kl, (one, two))
    # of the second distribution also twice, and of both in turn
    assert torch.autograd.gradgradcheck(lambda x: kl(one.detach(), x), two)
    (gradient,) = torch.autograd.grad(kl(one, two).sum(), two, create_graph=True)
    (mixed,) = torch.autograd.grad((gradient * one.detach()).sum(), one)
    plain = arb.TreeDistribution(one.detach().numpy(), [3, 2], root=root, projective=projective)
    np.testing.assert_allclose(mixed, -plain.edge_covariance(one.detach().numpy()), atol=1e-12)


@FAMILIES
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["normal", "tied", "absent", "cycles-50"])
def test_second_derivatives_are_covariances(kind, dtype, root, projective):
    rng = np.random.default_rng(20)
    scores = rng.normal(size=(2, 3, 6, 6))
    lengths = [[5, 3, 1], [4, 0, 2]]
    if kind == "tied":
        scores = rng.integers(-1, 2, scores.shape)
    elif kind == "absent":
        scores[..., 1:, :][rng.random((2, 3, 5, 6)) < 0.3] = -np.inf
    elif kind != "normal":
        scores[:] = HARD[kind](rng, 5)
    values = torch.tensor(rng.normal(size=scores.shape))
    tensor = torch.tensor(scores).to(dtype).requires_grad_()
    options = {"root": root, "projective": projective}
    dist = TreeDistribution(tensor, lengths, **options)
    plain = arb.TreeDistribution(tensor.detach().numpy(), lengths, **options)
    (gradient,) = torch.autograd.grad(dist.log_partition().sum(), tensor, create_graph=True)
    close = {"rtol": 1e-5, "atol": 1e-6} if dtype == torch.float32 else {"atol": 1e-13}
    np.testing.assert_allclose(gradient.detach(), plain.marginals(), **close)
    (product,) = torch.autograd.grad((gradient * values).sum(), tensor)
    np.testing.assert_allclose(product, plain.edge_covariance(values.numpy()), **close)
    found = dist.edge_covariance(values)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.detach(), product, **close)
    np.testing.assert_allclose(
        (found.detach().double() * values).sum((-1, -2)),
        plain.covariance(values.numpy()),
        rtol=1e-4,
        atol=1e-5,
    )


def test_third_derivatives_are_an_error():
    scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(21), requires_grad=True)
    dist = TreeDistribution(scores)
    for result in (dist.covariance(scores.detach()), dist.edge_covariance(scores.detach()).sum()):
        with pytest.raises(arb.OptionError, match="third derivatives"):
            result.backward()
    for result in (dist.entropy(), dist.marginals()[0, 1]):
        (gradient,) = torch.autograd.grad(result, scores, create_graph=True)
        with pytest.raises(arb.OptionError, match="third derivatives"):
            gradient.sum().backward()


@FAMILIES
def test_the_gradient_of_the_loss(root, projective):
    scores = torch.randn(4, 6, 6, generator=torch.Generator().manual_seed(5), requires_grad=True)
    options = {"root": root, "projective": projective}
    dist = TreeDistribution(scores, [5, 4, 0, 1], **options)
    gold = torch.tensor([[-1, 2, 0, 2, 3, 2], [-1, 2, 3, 0, 3, -1], [-1] * 6, [-1, 0] + [-1] * 4])
    (-dist.log_prob(gold)).sum().backward()
    of_gold = torch.zeros(4, 6, 6)
    for b, n in enumerate([5, 4, 0, 1]):
        of_gold[b, gold[b, 1 : n + 1], range(1, n + 1)] = 1
    # The graph is spent, and everything can still be asked for.
    torch.testing.assert_close(scores.grad, dist.marginals().detach() - of_gold)
    assert dist.entropy().shape == (4,)
    assert dist.covariance(of_gold).isfinite().all()


def test_values_of_edges_have_gradients_too():
    rng = np.random.default_rng(6)
    dist = TreeDistribution(torch.tensor(rng.normal(size=(4, 4))))
    f = torch.tensor(rng.normal(size=(4, 4, 2)), requires_grad=True)
    g = torch.tensor(rng.normal(size=(4, 4)), requires_grad=True)
    assert torch.autograd.gradcheck(dist.expectation, f)
    assert torch.autograd.gradcheck(dist.covariance, (f, g))
    assert torch.autograd.gradcheck(dist.second_moment, (g, f))


@pytest.mark.parametrize("projective", [False, True])
def test_gradients_are_there_where_the_scores_have_them(projective):
    scores = torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(7))
    plain = TreeDistribution(scores, projective=projective)
    assert not plain.log_partition().requires_grad
    assert not plain.marginals().requires_grad
    assert not plain.entropy().requires_grad
    assert not plain.covariance(scores).requires_grad
    with torch.inference_mode():
        seen = TreeDistribution(scores.clone(), projective=projective)
        torch.testing.assert_close(seen.marginals(), plain.marginals())
        torch.testing.assert_close(seen.covariance(scores), plain.covariance(scores))
    dist = TreeDistribution(scores.clone().requires_grad_(), projective=projective)
    with torch.no_grad():
        assert not dist.entropy().requires_grad
        assert not dist.log_partition().requires_grad
    (dist.entropy() + dist.log_partition()).sum().backward()


# Batches, shapes, types.


def all_of(dist, heads, values):
    both = torch.stack([heads, heads.flip(0)], -2)
    return said_of(dist, heads, values) | {"log_probs": dist.log_prob(both[..., :1, :])[..., 0]}


@FAMILIES
def test_a_batch_equals_its_sentences(root, projective):
    rng = np.random.default_rng(8)
    sizes = [7, 3, 1, 0, 9, 4, 7]
    scores = torch.tensor(padded_batch(rng, sizes, np.float64))  # the padding is NaN
    values = torch.tensor(rng.normal(size=(*scores.shape, 2)))
    options = {"root": root, "projective": projective}
    for lengths in (sizes, np.array(sizes), torch.tensor(sizes)):
        for laid_out in (scores, scores.mT.contiguous().mT):
            dist = TreeDistribution(laid_out, lengths, **options)
            heads = dist.argmax()
            together = all_of(dist, heads, values)
            for b, n in enumerate(sizes):
                alone = all_of(
                    TreeDistribution(scores[b, : n + 1, : n + 1], **options),
                    heads[b, : n + 1],
                    values[b, : n + 1, : n + 1],
                )
                for name, result in alone.items():
                    found = without_padding(name, together[name][b], n)
                    torch.testing.assert_close(found, result, rtol=1e-9, atol=1e-9, msg=name)


@FAMILIES
def test_leading_dimensions_and_no_words(root, projective):
    options = {"root": root, "projective": projective}
    scores = torch.randn(2, 3, 5, 5, generator=torch.Generator().manual_seed(9))
    lengths = torch.tensor([[4, 3, 2], [1, 0, 4]])
    dist = TreeDistribution(scores, lengths, **options)
    assert dist.log_partition().shape == dist.entropy().shape == dist.log_count().shape == (2, 3)
    assert dist.marginals().shape == (2, 3, 5, 5)
    assert dist.argmax().shape == dist.mbr().shape == (2, 3, 5)
    assert dist.log_prob(dist.argmax()).shape == (2, 3)
    assert dist.log_prob(torch.stack([dist.argmax()] * 6, dim=2)).shape == (2, 3, 6)
    assert dist.expectation(scores).shape == dist.covariance(scores).shape == (2, 3)
    assert dist.covariance(scores[..., None], scores).shape == (2, 3, 1)
    assert dist.covariance(scores, scores[..., None]).shape == (2, 3, 1)
    for value in (dist.log_partition(), dist.entropy(), dist.log_count()):
        assert value[1, 1] == 0

    none = TreeDistribution(torch.empty(0, 3, 3), **options)
    assert none.log_partition().shape == none.entropy().shape == (0,)
    assert none.marginals().shape == (0, 3, 3)
    assert none.log_prob(torch.empty(0, 3, dtype=torch.int64)).shape == (0,)
    assert none.log_prob(torch.empty(0, 6, 3, dtype=torch.int64)).shape == (0, 6)
    assert none.expectation(torch.empty(0, 3, 3)).shape == (0,)
    assert none.covariance(torch.empty(0, 3, 3, 2)).shape == (0, 2, 2)
    assert none.second_moment(torch.empty(0, 3, 3)).shape == (0,)
    assert none.kl(none).shape == (0,)
    empty = TreeDistribution(torch.zeros(1, 1, requires_grad=True), **options)
    assert empty.log_partition() == empty.entropy() == empty.log_count() == 0
    assert empty.marginals().tolist() == [[0]]
    assert empty.log_prob(torch.tensor([-1])) == 0


@FAMILIES
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_types_come_back(dtype, root, projective):
    scores = torch.tensor(np.random.default_rng(10).integers(-3, 4, (2, 5, 5))).to(dtype)
    dist = TreeDistribution(scores, root=root, projective=projective)
    precise = TreeDistribution(scores.double(), root=root, projective=projective)
    for name in ("log_partition", "marginals", "entropy", "log_count"):
        result = getattr(dist, name)()
        assert result.dtype == dtype
        assert result.device == scores.device
        torch.testing.assert_close(result, getattr(precise, name)().to(dtype))


def test_bad_scores_and_graphs_without_trees_are_named():
    scores = torch.zeros(3, 5, 5)
    scores[1, 3, 2] = torch.inf
    with pytest.raises(arb.ScoresError, match=r"sentence 1: scores\[1, 3, 2\].*3 -> 2.*inf"):
        TreeDistribution(scores)
    assert TreeDistribution(scores, [4, 1, 4]).log_partition()[1] == 0
    scores[1] = 0
    scores[2, :, 3] = -torch.inf
    for projective in (False, True):
        dist = TreeDistribution(scores, projective=projective)
        for ask in (lambda d: d.log_partition(), lambda d: d.marginals(), lambda d: d.mbr()):
            with pytest.raises(arb.NoTreeError, match=r"sentence 2: .*no edge enters word 3"):
                ask(dist)
    two_roots = torch.full((3, 3), -torch.inf)
    two_roots[0] = 0
    assert TreeDistribution(two_roots, root="multi").log_count() == 0
    with pytest.raises(arb.NoTreeError, match="single root"):
        _ = TreeDistribution(two_roots).entropy()
    crossing = torch.full((5, 5), -torch.inf)
    crossing[[3, 0, 2, 1], [1, 2, 3, 4]] = 0
    assert TreeDistribution(crossing).log_count() == 0
    with pytest.raises(arb.NoTreeError, match="projective"):
        _ = TreeDistribution(crossing, projective=True).entropy()


def test_unusable_input():
    with pytest.raises(arb.ScoresError, match=r"tensor of floats, not torch\.int64"):
        TreeDistribution(torch.zeros(3, 3, dtype=torch.int64))
    with pytest.raises(arb.ScoresError, match="tensor of floats, not ndarray"):
        TreeDistribution(np.zeros((3, 3)))
    with pytest.raises(arb.ScoresError, match=r"\(3, 4\)"):
        TreeDistribution(torch.zeros(3, 4))
    with pytest.raises(arb.ScoresError, match=r"lengths\[1\] is 3"):
        TreeDistribution(torch.zeros(2, 3, 3), [1, 3])
    with pytest.raises(ValueError, match="'single' or 'multi'"):
        TreeDistribution(torch.zeros(2, 2), root="one")
    dist = TreeDistribution(torch.zeros(2, 3, 3))
    for heads in (torch.zeros(2, 4, dtype=torch.int64), torch.zeros(2, 3)):
        with pytest.raises(arb.TreeError, match=r"shape \(2, 3\)"):
            dist.log_prob(heads)
    with pytest.raises(arb.ScoresError, match=r"\(2, 3, 3\)"):
        dist.expectation(torch.zeros(3, 3))
    with pytest.raises(arb.ScoresError, match="the same lengths"):
        dist.kl(TreeDistribution(torch.zeros(2, 3, 3), [1, 2]))


# Beside NumPy's.


@FAMILIES
def test_the_other_names(root, projective):
    options = {"root": root, "projective": projective}
    scores = torch.randn(3, 6, 6, generator=torch.Generator().manual_seed(11))
    scores[scores < -1] = -torch.inf
    lengths = [5, 4, 2]
    scores[:, 0] = 0
    for d in range(1, 5):
        scores[:, d, d + 1] = 1
    dist = TreeDistribution(scores, lengths, **options)
    plain = arb.TreeDistribution(scores.numpy(), lengths, **options)
    np.testing.assert_array_equal(dist.argmax(), plain.argmax())
    np.testing.assert_array_equal(dist.mbr(), plain.mbr())
    for found, expected in zip(dist.kbest(4), plain.kbest(4), strict=True):
        assert isinstance(found, torch.Tensor)
        np.testing.assert_array_equal(found, expected)
    for replace in (True, False):
        drawn = dist.sample(5, 12, replace=replace)
        assert isinstance(drawn, torch.Tensor)
        np.testing.assert_array_equal(drawn, plain.sample(5, 12, replace=replace))
    for name in ("log_partition", "marginals", "entropy", "log_count"):
        found, expected = getattr(dist, name)(), getattr(plain, name)()
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6, err_msg=name)
    drawn = dist.sample(5, 12)
    np.testing.assert_allclose(dist.log_prob(drawn), plain.log_prob(drawn.numpy()), rtol=1e-5)


@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize("name", ["en_ewt", "got_proiel"])
def test_float32_on_real_scores(treebanks, name, scale):
    from arborescence.treebank import read

    files = sorted(treebanks.rglob(f"*{name}*dev*.conllu*"))
    if not files:
        pytest.skip(f"{name} is not here")
    parser = arb.load("english-fast")
    opener = gzip.open if files[0].suffix == ".gz" else open
    with opener(files[0], "rb") as file:
        sentences = [s for s, _ in zip(read(file), range(40), strict=False)]
    matrices = [torch.tensor(parser.scores(sentence)) for sentence in sentences]
    size = max(map(len, matrices))
    scores = torch.zeros(len(matrices), size, size)
    for row, matrix in zip(scores, matrices, strict=True):
        row[: len(matrix), : len(matrix)] = scale * matrix
    lengths = [len(matrix) - 1 for matrix in matrices]
    for root in ROOTS:
        for projective in (False, True):
            options = {"root": root, "projective": projective}
            single = TreeDistribution(scores, lengths, **options)
            double = TreeDistribution(scores.double(), lengths, **options)
            plain = arb.TreeDistribution(scores.numpy(), lengths, **options)
            for name_ in ("log_partition", "marginals", "entropy"):
                found = getattr(single, name_)().double()
                torch.testing.assert_close(found, getattr(double, name_)(), rtol=1e-6, atol=1e-6)
                np.testing.assert_allclose(
                    getattr(double, name_)(), getattr(plain, name_)(), rtol=1e-9, atol=1e-9
                )


# On another device.


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@FAMILIES
def test_another_device(root, projective):
    options = {"root": root, "projective": projective}
    rng = np.random.default_rng(14)
    scores = torch.tensor(rng.normal(size=(4, 7, 7)))
    scores[1] = torch.tensor(cycles(50)(rng, 6))
    lengths = torch.tensor([6, 6, 3, 0])
    here = TreeDistribution(scores.clone().requires_grad_(), lengths, **options)
    there = TreeDistribution(scores.cuda().requires_grad_(), lengths.cuda(), **options)
    values = scores[..., None].expand(4, 7, 7, 2)
    heads = here.argmax()
    assert (there.argmax().cpu() == heads).all()
    assert there.sample(3, 1).is_cuda
    assert (there.mbr().cpu() == here.mbr()).all()
    expected = all_of(here, heads, values)
    for name, found in all_of(there, heads.cuda(), values.cuda()).items():
        assert found.is_cuda
        torch.testing.assert_close(found.cpu(), expected[name], rtol=1e-9, atol=1e-9, msg=name)
    (there.entropy().sum() - there.log_prob(heads.cuda()).sum()).backward()
