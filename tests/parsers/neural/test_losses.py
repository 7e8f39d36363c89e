"""The losses of neural parsers: against sums over all trees, and against finite differences."""

import numpy as np
import pytest

from brute_force import all_trees

torch = pytest.importorskip("torch", reason="training needs the extra 'torch'")

from arborescence.parsers.neural.settings import Settings  # noqa: E402
from arborescence.parsers.neural.training import edge_loss  # noqa: E402

GOLD = [[-1, 2, 0, 2], [-1, 0, 1, -1]]  # of three words and of two


LENGTHS = torch.tensor([3, 2])
KINDS = [
    {"loss": loss, "root": root, "projective": projective}
    for loss in ("head", "tree", "margin")
    for root in ("single", "multi")
    for projective in (False, True)
]


def loss_of(edges, **settings):
    return edge_loss(edges, torch.tensor(GOLD), LENGTHS, Settings(**settings))


def some_edges(seed=1):
    edges = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    edges[1, 3] = edges[1, :, 3] = -1e9  # as the network scores padding
    edges[:, range(4), range(4)] = -1e9
    return edges


def weight(edges, heads):
    return sum(edges[head, word] for word, head in enumerate(heads) if head >= 0)


def expected(edges, *, loss, root, projective):
    total = 0.0
    for scores, gold, words in zip(edges.numpy(), GOLD, (3, 2), strict=True):
        gold = gold[: words + 1]
        if loss == "head":
            for word in range(1, words + 1):
                total += np.logaddexp.reduce(scores[:, word]) - scores[gold[word], word]
            continue
        trees = [
            tree.tolist() for tree in np.array(list(all_trees(words, root == "single", projective)))
        ]
        weights = np.array([weight(scores, tree) for tree in trees])
        if loss == "tree":
            total += np.logaddexp.reduce(weights) - weight(scores, gold)
        else:
            costs = [sum(a != b for a, b in zip(tree, gold, strict=True)) for tree in trees]
            total += max(weights + costs) - weight(scores, gold)
    return total / 5


@pytest.mark.parametrize("kind", KINDS)
def test_the_definition(kind):
    for seed in range(3):
        edges = some_edges(seed)
        assert loss_of(edges, **kind).item() == pytest.approx(expected(edges, **kind), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient(kind):
    edges = some_edges().requires_grad_()
    loss_of(edges, **kind).backward()
    step = 1e-3
    for place in np.ndindex(2, 4, 4):
        if edges[place] < -1e8:
            continue
        found = []
        for sign in (1, -1):
            moved = edges.detach().clone()
            moved[place] += sign * step
            found.append(expected(moved, **kind))
        slope = (found[0] - found[1]) / (2 * step)
        assert edges.grad[place].item() == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize(("lead", "is_zero"), [(1.0, True), (0.9, False)])
def test_the_margin_loss_is_zero_if_gold_beats_each_tree_by_its_wrong_heads(lead, is_zero):
    edges = torch.zeros(2, 4, 4)
    for scores, gold in zip(edges, GOLD, strict=True):
        for word, head in enumerate(gold):
            if head >= 0:
                scores[head, word] = lead
    edges.requires_grad_()
    loss = loss_of(edges, loss="margin")
    assert (loss.item() == 0) == is_zero
    loss.backward()
    assert (edges.grad == 0).all() == is_zero
