"""What a type checker knows at a caller's: mypy reads this file, nobody runs it."""

from collections.abc import Iterator
from typing import Any, Self, assert_type

import numpy as np
from numpy.typing import NDArray

import arborescence as arb
from arborescence import undirected
from arborescence.inference.decode import Labeled
from arborescence.inference.kbest import KBest, SecondBest, Tree
from arborescence.inference.labeled import KBestLabeled, LabeledTree

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Tensor:
    """Stands for torch's, so that torch need not be there."""

    def detach(self) -> Self:
        return self


def with_numpy(scores: NDArray[np.float32], labeled: Floats, heads: Ints) -> None:
    assert_type(arb.decode(scores), Ints)
    assert_type(arb.decode([[0, 1], [0, 0]], root="multi", projective=True, threads=2), Ints)
    assert_type(arb.decode([scores, scores], [3, 2]), Ints)
    assert_type(arb.decode_labeled(labeled), Labeled[Ints])
    assert_type(arb.decode_sparse(2, [0, 1], [1, 2], [1.0, 2.0]), Ints)
    assert_type(undirected.decode(scores, rounds=None, encoding="max"), Ints)
    assert_type(undirected.encode(scores), Floats)
    assert_type(undirected.orient(2, [0], [1]), Ints)
    assert_type(undirected.enhance(scores, heads, rounds=3), Ints)
    assert_type(arb.kbest(scores, 3), KBest[NDArray[Any]])
    assert_type(arb.kbest_labeled(labeled, 3), KBestLabeled[NDArray[Any]])
    assert_type(arb.trees(scores), Iterator[Tree[Ints]])
    assert_type(arb.trees_labeled(labeled), Iterator[LabeledTree[Ints]])
    assert_type(arb.second_best(scores), SecondBest[Ints])
    assert_type(arb.decode_where(scores, lambda heads: heads.max() < 3, limit=9), Ints)
    assert_type(
        arb.decode_where_labeled(labeled, lambda heads, labels: (heads < labels).all()),
        Labeled[Ints],
    )
    assert_type(arb.is_tree([-1, 0]), bool)
    assert_type(arb.is_projective([[-1, 0], [-1, 0]]), NDArray[np.bool_])
    assert_type(arb.root_count([-1, 0]), int)
    assert_type(arb.tree_weight(scores, [-1, 0]), float)


def distributions_with_numpy(scores: Floats) -> None:
    dist = arb.TreeDistribution(scores, projective=True)
    assert_type(dist, arb.TreeDistribution)  # that of NumPy's arrays, if nothing else is said
    assert_type(dist.marginals(), Floats)
    assert_type(dist.argmax(), Ints)
    assert_type(dist.mbr(), Ints)
    assert_type(dist.sample(3, rng=0), Ints)
    dist.kl(arb.TreeDistribution(scores))


def with_tensors(scores: Tensor, labeled: Tensor) -> None:
    assert_type(arb.decode(scores, threads=2), Tensor)
    assert_type(arb.decode([scores, scores]), Tensor)
    assert_type(arb.decode_labeled(labeled), Labeled[Tensor])
    assert_type(arb.decode_sparse(2, [0, 1], [1, 2], scores), Tensor)
    assert_type(undirected.decode(scores), Tensor)
    assert_type(undirected.enhance(scores, undirected.decode(scores)), Tensor)
    assert_type(arb.kbest(scores, 3), KBest[Tensor])
    assert_type(arb.kbest_labeled(labeled, 3), KBestLabeled[Tensor])
    assert_type(arb.trees(scores), Iterator[Tree[Tensor]])
    assert_type(arb.trees_labeled(labeled), Iterator[LabeledTree[Tensor]])
    assert_type(arb.second_best(scores), SecondBest[Tensor])
    assert_type(arb.decode_where(scores, lambda heads: heads is not None), Tensor)
    dist = arb.TreeDistribution(scores)
    assert_type(dist.marginals(), Tensor)
    assert_type(dist.argmax(), Tensor)


def wrong(scores: Floats) -> None:
    arb.decode(scores, root="sinlge")  # type: ignore[call-overload]
    arb.decode(scores, method="undirected")  # type: ignore[call-overload]
    arb.decode(scores).cuda()  # type: ignore[attr-defined]
