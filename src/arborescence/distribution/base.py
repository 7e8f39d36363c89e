"""`Distribution`: the common interface of both distributions over trees.

It checks arguments, reduces each result to sums over trees, and returns it in the caller's shape.
The sums are in `arrays` (kernels) and in `tensors` (PyTorch, differentiable).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar

import numpy as np

from arborescence.core.checks import check_count, check_flag, check_root, raises
from arborescence.core.conversion import as_array
from arborescence.core.faults import name_of, no_such_tree
from arborescence.core.random import as_generator
from arborescence.distribution.counting import Kind
from arborescence.errors import ScoresError, TreeError
from arborescence.inference.decode import decode
from arborescence.inference.kbest import kbest
from arborescence.system.lazy import remembered

Numbers = TypeVar("Numbers")
if TYPE_CHECKING:
    import typing_extensions  # from Python 3.13 on, typing has type variables with defaults
    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.core.graph import Graph
    from arborescence.core.random import Rng
    from arborescence.distribution.moderate_scores import ModerateScores
    from arborescence.inference.kbest import KBest

    Floats = typing_extensions.TypeVar("Floats", default=NDArray[np.float64])
    Heads = typing_extensions.TypeVar("Heads", default=NDArray[np.int64])
else:
    Floats, Heads = TypeVar("Floats"), TypeVar("Heads")


class Distribution(Generic[Numbers, Floats, Heads]):
    """The distribution over trees in which p(tree) is proportional to exp(tree's weight).

    The private methods use flat batches: (B, ...) for B sentences of N nodes each.
    """

    if TYPE_CHECKING:  # the members that the subclasses define
        # The caller's scores and lengths; and the graph, for error messages.
        _scores: Any
        _lengths: Any

        def _graph(self) -> Graph: ...
        # A number for each sentence, (B,); the marginals: a number for each edge, (B, N, N).
        @property
        def _log_partition(self) -> Any: ...
        @property
        def _entropy(self) -> Any: ...
        @property
        def _marginals(self) -> Any: ...
        # Of values (B, N, N, R): expectations, (B, R). Of two such arrays: covariances, (B, R, S).
        # Of a direction (B, N, N): the derivatives of the marginals in this direction, (B, N, N).
        # Of another distribution: cross-entropies, (B,).
        def _expectation(self, values: Any) -> Any: ...
        def _covariance(self, first: Any, second: Any) -> Any: ...
        def _derivatives(self, direction: Any) -> Any: ...
        def _cross_entropy(self, other: Self) -> Any: ...
        # Log-probabilities (B, K) of head vectors (B, K, N), -inf for invalid trees; and a mask of
        # the invalid trees.
        def _log_prob(self, rows: Any) -> tuple[Any, Any]: ...
        # The marginals as scores, (..., N, N), with -inf for absent edges.
        def _gains(self) -> Any: ...
        # The uniform distribution over the same trees.
        def _uniform(self) -> Distribution[Numbers, Floats, Heads]: ...
        # Draws, in the caller's shape and type.
        def _sample(self, k: int, generator: np.random.Generator, replace: bool) -> Any: ...
        # Whether the sentences of both distributions have the same lengths.
        def _as_long(self, other: Self) -> bool: ...
        # Head vectors as an array or tensor, and whether its type is an integer type.
        def _as_heads(self, heads: Any) -> tuple[Any, bool]: ...
        # Edge values as an array or tensor; and as (B, N, N, R) float64, 0 for absent edges.
        def _as_values(self, edge_values: Any) -> Any: ...
        def _of_present_edges(self, values: Any) -> Any: ...
        # Results (B, ...) in the caller's shape and type.
        def _given_back(self, result: Any) -> Any: ...

    def __init__(self, graph: Graph, root: Root, projective: bool) -> None:
        self._shape = graph.shape
        self._batch, self._size, _ = graph.scores.shape
        self._kind = Kind(check_root(root), check_flag(projective))
        self._options: dict[str, Any] = {"root": root, "projective": projective}
        # Sentences with scores too far apart for float64; known after the log-partition.
        self._moderate: dict[int, ModerateScores] = {}

    # Results over all trees.

    def log_partition(self) -> Numbers:
        """Return the logarithm of the sum of exp(weight) over all trees, (...)."""
        return self._given_back(self._log_partition)

    def marginals(self) -> Floats:
        """Return the probability of each edge, ``[..., h, d]``: (..., N, N).

        The edges into a word sum to 1; column 0, the diagonal and padding are 0. In float64, the
        absolute error is about 1e-13; with `projective`, the relative error is.
        """
        return self._given_back(self._marginals)

    def entropy(self) -> Numbers:
        """Return the entropy of the distribution, in nats, (...)."""
        return self._given_back(self._entropy)

    @remembered
    def log_count(self) -> Numbers:
        """Return the logarithm of the number of trees without absent edges, (...)."""
        return self._uniform().log_partition()

    # Single trees.

    @remembered
    def argmax(self) -> Heads:
        """Return the most probable tree, exactly, as from `arborescence.decode`: (..., N) int64."""
        return decode(self._scores, self._lengths, **self._options)

    def kbest(self, k: int) -> KBest[Any]:
        """Return the k most probable trees, exactly, as `arborescence.kbest` returns them."""
        return kbest(self._scores, k, self._lengths, **self._options)  # type: ignore[return-value]

    def log_prob(self, heads: Any, *, errors: Literal["raise", "-inf"] = "raise") -> Numbers:
        """Return the logarithm of the probability of trees.

        Parameters
        ----------
        heads : (..., N) or (..., k, N) whole numbers
            One head vector for each sentence, or k of them. Values for the root and for padding are
            ignored.
        errors : {"raise", "-inf"}
            Whether to raise an error (the default), or to return -inf without a gradient, for a
            head vector that is not one of the sentence's trees (wrong number of root edges, a
            cycle, crossing edges, or absent edges).

        Returns
        -------
        log_prob : (...) or (..., k)
            O(n) a tree, after `log_partition`.

        Raises
        ------
        TreeError
            If the shape does not fit the scores, or a head vector is not one of the sentence's
            trees; the message names the sentence and the fault.

        Examples
        --------
        >>> import math
        >>> import numpy as np
        >>> import arborescence as arb
        >>> dist = arb.TreeDistribution(np.zeros((3, 3)))  # two trees, all alike
        >>> round(math.exp(dist.log_prob([0, 0, 1])), 9)
        0.5
        >>> dist.log_prob([0, 0, 0])
        Traceback (most recent call last):
          ...
        arborescence.TreeError: heads is no tree with a single root: the root is the head of \
words 1, 2; root='multi' allows several children; errors='-inf' returns -inf for a head vector \
that is not a tree of the graph
        >>> dist.log_prob([0, 0, 0], errors="-inf")
        -inf
        """
        strict = raises(errors)
        vectors, whole = self._as_heads(heads)
        actual, shape = tuple(vectors.shape), (*self._shape, self._size)
        several = len(actual) == len(shape) + 1
        if not whole or (actual[:-2] + actual[-1:] if several else actual) != shape:
            raise TreeError(
                f"heads must be whole numbers of shape {shape}, or "
                f"{(*self._shape, 'k', self._size)} for k trees a sentence, "
                f"not {vectors.dtype} of shape {actual}"
            )
        rows = vectors.reshape(self._batch, actual[-2] if several else 1, self._size)
        log_prob, wrong = self._log_prob(rows)
        wrong, _ = as_array(wrong)
        if strict and wrong.any():
            b, place = np.argwhere(wrong)[0].tolist()
            tree, _ = as_array(rows[b, place])
            single, projective = self._kind
            raise no_such_tree(self._graph(), b, tree, single=single, projective=projective)
        return self._given_back(log_prob if several else log_prob[:, 0])

    def mbr(self) -> Heads:
        """Return the tree with the highest expected number of correct heads, (..., N) int64.

        The minimum Bayes risk tree (Goodman 1996; Smith and Smith 2007): it decodes the marginals,
        without the absent edges.
        """
        return decode(self._gains(), self._lengths, **self._options)

    # Sums over trees.

    def expectation(self, edge_values: Any) -> Numbers:
        """Return the expected value of a tree. The value of a tree is the sum over its edges.

        Parameters
        ----------
        edge_values : (..., N, N) or (..., N, N, R)
            One number for each edge h -> d, or R of them. Those of absent edges are ignored.

        Returns
        -------
        expected : (...) or (..., R)
            O(n²) a number, after `marginals`.
        """
        values, several = self._values(edge_values)
        expected = self._expectation(values)
        return self._given_back(expected if several else expected[:, 0])

    def covariance(self, f: Any, g: Any = None) -> Numbers:
        """Return the covariance of two values of a tree, each a sum over its edges.

        Parameters
        ----------
        f : (..., N, N) or (..., N, N, R)
            As in `expectation`.
        g : (..., N, N) or (..., N, N, S), optional
            As `f`. By default `f` itself: then the result is the variance, or the covariance matrix
            of R values.

        Returns
        -------
        covariance : (...); (..., R, S)
            Without the axis R or S if `f` or `g` has none. O(n³) for each of the R, and O(n²) for
            each pair.
        """
        first, several_first = self._values(f)
        second, several_second = self._values(f if g is None else g)
        return self._pairs(self._covariance(first, second), several_first, several_second)

    def edge_covariance(self, edge_values: Any) -> Floats:
        """Return the covariance of each edge with a value of a tree, a sum over its edges.

        These are also the derivatives of the marginals if the scores change in the direction of the
        values: products of the Hessian of `log_partition` with a vector.

        Parameters
        ----------
        edge_values : (..., N, N)
            One number for each edge h -> d. Those of absent edges are ignored.

        Returns
        -------
        covariance : (..., N, N)
            O(n³), after `marginals`.

        Raises
        ------
        ScoresError
            If the shape differs from the shape of the scores.

        Examples
        --------
        >>> import numpy as np
        >>> import arborescence as arb
        >>> dist = arb.TreeDistribution(np.zeros((3, 3)))  # two trees, all alike
        >>> dist.edge_covariance(np.eye(3, k=1)).round(3)  # with the number of edges h -> h + 1
        array([[ 0. ,  0.5, -0.5],
               [ 0. ,  0. ,  0.5],
               [ 0. , -0.5,  0. ]])
        """
        values, several = self._values(edge_values)
        if several:
            raise ScoresError(
                f"values of edges must have the shape {(*self._shape, self._size, self._size)} of "
                "the scores: one value for each edge"
            )
        return self._given_back(self._derivatives(values[..., 0]))

    def second_moment(self, f: Any, g: Any = None) -> Numbers:
        """Return the expected product of two values of a tree: E[f(T) g(T)].

        The `covariance` plus the product of the expectations, with the same parameters and shape.
        """
        first, several_first = self._values(f)
        second, several_second = self._values(f if g is None else g)
        product = self._expectation(first)[:, :, None] * self._expectation(second)[:, None]
        moment = self._covariance(first, second) + product
        return self._pairs(moment, several_first, several_second)

    def cross_entropy(self, other: Self) -> Numbers:
        """Return the expected -log_prob under `other` of a tree from this distribution, in nats.

        Parameters
        ----------
        other
            A distribution of the same class, over sentences of the same lengths.

        Returns
        -------
        cross_entropy : (...)
            inf if a tree that is possible here is impossible in `other`, because of an absent edge
            or because of `root` or `projective`. Counts of trees decide this, not rounded sums.
            Edges that occur only in trees with a probability below e^-745 (0 as a float64) are
            ignored: a mask of -1e9 here is compatible with -inf in `other`. O(n²) after `marginals`
            and the `log_partition` of `other`; O(n³) if `other` lacks edges, or its `root` or
            `projective` allows fewer trees.

        Raises
        ------
        ScoresError
            If the numbers or lengths of the sentences differ; or if each tree of a sentence of
            `other` needs an edge whose score is some 1e6 or more below other edges.
        """
        return self._given_back(self._compared(other))

    def kl(self, other: Self) -> Numbers:
        """Return the Kullback-Leibler divergence from `other`, in nats, (...).

        The `cross_entropy` minus the `entropy`; never below 0. Errors as in `cross_entropy`.
        """
        return self._given_back((self._compared(other) - self._entropy).clip(min=0.0))

    # Draws.

    def sample(self, k: int, rng: Rng = None, *, replace: bool = True) -> Heads:
        """Draw trees.

        Parameters
        ----------
        k : int
            The number of trees for each sentence, at least 1.
        rng : numpy.random.Generator or int, optional
            The random generator, or a seed.
        replace : bool
            If False, no tree is drawn twice: each draw is from the trees not yet drawn, in
            proportion to their probabilities.

        Returns
        -------
        heads : (k, N) int64, or (..., k, N) for a batch
            The trees in the order in which they were drawn. With ``replace=False``, all trees if
            these are fewer than k; in a batch, as many rows as the sentence with the most trees
            has, with rows of -1 for missing trees. Trees with a ``log_prob`` below -1.8e308, the
            range of float64, are never drawn.

        Raises
        ------
        OptionError
            If `k` is not a whole number of at least 1, or `rng` is no generator and no seed.

        Notes
        -----
        Non-projective trees are drawn by loop-erased random walks (Wilson 1996); with a single
        root, the root edge is drawn first (Zmigrod, Vieira and Cotterell 2021, *Efficient Sampling
        of Dependency Structures*). If the walks take too long, heads are drawn one by one, each
        given the earlier heads (after Colbourn, Myrvold and Neufeld 1996). Projective trees are
        drawn top-down from the inside chart. O(n³) a sentence, then usually O(n log n) a tree, or
        O(n²) if projective. Without replacement up to O(n⁴) a tree, if a few trees are very
        probable.

        Examples
        --------
        >>> import numpy as np
        >>> import arborescence as arb
        >>> dist = arb.TreeDistribution(np.zeros((4, 4)))  # nine trees, all alike
        >>> dist.sample(2, rng=0).shape
        (2, 4)
        >>> len(dist.sample(20, rng=0, replace=False))
        9
        """
        return self._sample(check_count(k), as_generator(rng), replace)

    # Helpers.

    def _values(self, edge_values: Any) -> tuple[Any, bool]:
        """Return edge values as (B, N, N, R), and whether the caller's array had the axis R."""
        values = self._as_values(edge_values)
        shape = *self._shape, self._size, self._size
        several = values.ndim == len(shape) + 1
        if tuple(values.shape[:-1] if several else values.shape) != shape:
            raise ScoresError(
                f"values of edges must have the shape {shape} of the scores, or one more axis, "
                f"not {tuple(values.shape)}"
            )
        count = values.shape[-1] if several else 1
        values = values.reshape(self._batch, self._size, self._size, count)
        return self._of_present_edges(values), several

    def _pairs(self, result: Any, several_first: bool, several_second: bool) -> Any:
        """Return a number for each pair of values, (B, R, S), in the caller's shape."""
        if not several_second:
            result = result[..., 0]
        return self._given_back(result if several_first else result[:, 0])

    def _compared(self, other: Self) -> Any:
        """Return the cross-entropies, (B,), after a check that the lengths agree."""
        if self._shape != other._shape or not self._as_long(other):
            raise ScoresError(
                "distributions can be compared over the same sentences only: batches of one shape, "
                "and of the same lengths"
            )
        return self._cross_entropy(other)

    def _refuse_far(self) -> None:
        """Raise an error if the scores are too far apart for a comparison with other scores."""
        if self._moderate:
            raise ScoresError(
                f"{name_of(self._graph(), min(self._moderate))}the other's scores are too far "
                "apart: each of its trees needs an edge whose score is some 1e6 or more below "
                "other edges, and rounding hides the divergence"
            )
