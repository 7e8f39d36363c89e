"""What can be asked of a distribution over trees, whoever computes the sums: `Distribution`.

Questions are checked here, reduced to sums over the trees of each sentence, and answered in the
caller's shape. How the sums come about is told by `arrays`, with kernels, and by `tensors`, which
can be differentiated.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar

import numpy as np

from arborescence.core.errors import ScoresError, TreeError
from arborescence.core.faults import no_such_tree, raises
from arborescence.core.graph import as_array, check_count, check_flag, check_root, name_of
from arborescence.distribution.counting import Kind
from arborescence.inference.decode import decode
from arborescence.inference.kbest import kbest

Numbers = TypeVar("Numbers")
if TYPE_CHECKING:
    import typing_extensions  # Python 3.13 has type variables with defaults itself
    from numpy.typing import NDArray

    from arborescence.core.graph import Graph, Root
    from arborescence.distribution.far import Far

    Floats = typing_extensions.TypeVar("Floats", default=NDArray[np.float64])
    Heads = typing_extensions.TypeVar("Heads", default=NDArray[np.int64])
else:
    Floats, Heads = TypeVar("Floats"), TypeVar("Heads")

# A tree whose logarithm of the probability is lower has the probability 0 as a float.
IMPOSSIBLE = -745.0


class Distribution(Generic[Numbers, Floats, Heads]):
    """The distribution over trees in which p(tree) is proportional to exp(tree's weight).

    Inside, everything is flat: what is known of B sentences comes as (B, ...), of N nodes each.
    """

    if TYPE_CHECKING:  # what each kind of distribution has in its own way
        # Scores and lengths as the caller had them; and the scores as messages name them.
        _scores: Any
        _lengths: Any

        def _graph(self) -> Graph: ...
        # Sums of each sentence: (B,), (B,), and of its edges, (B, N, N).
        @property
        def _log_partition(self) -> Any: ...
        @property
        def _entropy(self) -> Any: ...
        @property
        def _marginals(self) -> Any: ...
        # Of values (B, N, N, R): (B, R); of two: (B, R, S). Of another distribution: (B,).
        def _expectation(self, values: Any) -> Any: ...
        def _covariance(self, first: Any, second: Any) -> Any: ...
        def _cross_entropy(self, other: Self) -> Any: ...
        # Logarithms (B, K) of head vectors (B, K, N), -inf where these are no trees; and where.
        def _log_prob(self, rows: Any) -> tuple[Any, Any]: ...
        # The marginals as scores, (..., N, N), with -inf for absent edges.
        def _gains(self) -> Any: ...
        # The distribution in which all trees are alike.
        def _uniform(self) -> Distribution[Numbers, Floats, Heads]: ...
        # Draws, in the caller's shape and type.
        def _sample(self, k: int, generator: np.random.Generator, replace: bool) -> Any: ...
        # Whether each sentence of the other is as long as it is here.
        def _as_long(self, other: Self) -> bool: ...
        # Head vectors as an array or tensor, and whether it holds whole numbers.
        def _as_heads(self, heads: Any) -> tuple[Any, bool]: ...
        # Values of edges as an array or tensor; and (B, N, N, R) float64, 0 where no tree has them.
        def _as_values(self, edge_values: Any) -> Any: ...
        def _of_present_edges(self, values: Any) -> Any: ...
        # What is known of each sentence, (B, ...), in the caller's shape and type.
        def _given_back(self, result: Any) -> Any: ...

    def __init__(self, graph: Graph, root: Root, projective: bool) -> None:
        self._shape = graph.shape
        self._batch, self._size, _ = graph.scores.shape
        self._kind = Kind(check_root(root), check_flag(projective))
        self._options: dict[str, Any] = {"root": root, "projective": projective}
        # Sentences with scores too far apart for floats; known once the log-partition is.
        self._far: dict[int, Far] = {}

    # What is known of all trees.

    @property
    def log_partition(self) -> Numbers:
        """The logarithm of the sum of exp(weight) over all trees, (...)."""
        return self._given_back(self._log_partition)

    @property
    def marginals(self) -> Floats:
        """The probability of each edge, ``[..., h, d]``: (..., N, N).

        The edges into a word sum to 1; column 0, the diagonal and padding are 0. In float64, to
        about 1e-13; with `projective`, to 13 digits each.
        """
        return self._given_back(self._marginals)

    @property
    def entropy(self) -> Numbers:
        """How uncertain the tree is, in nats, (...)."""
        return self._given_back(self._entropy)

    @cached_property
    def log_count(self) -> Numbers:
        """The logarithm of the number of trees whose edges are present, (...)."""
        return self._uniform().log_partition

    # Single trees.

    @cached_property
    def argmax(self) -> Heads:
        """The most probable tree, exactly: what `arborescence.decode` returns, (..., N) int64."""
        return decode(self._scores, self._lengths, **self._options)

    def kbest(self, k: int) -> tuple[Any, ...]:
        """Return the k most probable trees, exactly: what `arborescence.kbest` returns."""
        return kbest(self._scores, k, self._lengths, **self._options)

    def log_prob(self, heads: Any, *, errors: Literal["raise", "-inf"] = "raise") -> Numbers:
        """Return the logarithm of the probability of trees.

        Parameters
        ----------
        heads : (..., N) or (..., k, N) whole numbers
            One head vector for each sentence, or k of them. What stands at the root's place and in
            the padding is ignored, whatever it is.
        errors : {"raise", "-inf"}
            What is done about a head vector that is none of a sentence's trees: with another number
            of root edges, a cycle, edges that cross or that are absent. An error (the default), or
            -inf as its logarithm, which has no gradient.

        Returns
        -------
        log_prob : (...) or (..., k)
            O(n) a tree, once `log_partition` is known.

        Raises
        ------
        TreeError
            If the shape does not fit the scores, or a head vector is none of a sentence's trees;
            the message names the sentence and what is wrong.

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
        arborescence.TreeError: heads is no tree with a single root: that is the head of \
words 1, 2; root='multi' allows several; errors='-inf' gives what is no such tree the probability 0
        >>> dist.log_prob([0, 0, 0], errors="-inf")
        -inf
        """
        strict = raises(errors)
        vectors, whole = self._as_heads(heads)
        found, shape = tuple(vectors.shape), (*self._shape, self._size)
        several = len(found) == len(shape) + 1
        if not whole or (found[:-2] + found[-1:] if several else found) != shape:
            raise TreeError(
                f"heads must be whole numbers of shape {shape}, or "
                f"{(*self._shape, 'k', self._size)} for k trees a sentence, "
                f"not {vectors.dtype} of shape {found}"
            )
        rows = vectors.reshape(self._batch, found[-2] if several else 1, self._size)
        log_prob, wrong = self._log_prob(rows)
        wrong, _ = as_array(wrong)
        if strict and wrong.any():
            b, place = np.argwhere(wrong)[0].tolist()
            tree, _ = as_array(rows[b, place])
            single, projective = self._kind
            raise no_such_tree(self._graph(), b, tree, single=single, projective=projective)
        return self._given_back(log_prob if several else log_prob[:, 0])

    def mbr(self) -> Heads:
        """Return the tree with the most right heads to be expected, (..., N) int64.

        The minimum Bayes risk tree (Goodman 1996; Smith and Smith 2007): it decodes the marginals,
        over edges that are present.
        """
        return decode(self._gains(), self._lengths, **self._options)

    # Sums over trees.

    def expectation(self, edge_values: Any) -> Numbers:
        """Return the expected value of a tree, which is the sum of the values of its edges.

        Parameters
        ----------
        edge_values : (..., N, N) or (..., N, N, R)
            One number for each edge h -> d, or R of them. Those of absent edges do not matter.

        Returns
        -------
        expected : (...) or (..., R)
            O(n²) a number, once `marginals` are known.
        """
        values, several = self._values(edge_values)
        expected = self._expectation(values)
        return self._given_back(expected if several else expected[:, 0])

    def covariance(self, f: Any, g: Any = None) -> Numbers:
        """Return the covariance of two values of a tree, each a sum of values of its edges.

        Parameters
        ----------
        f : (..., N, N) or (..., N, N, R)
            As in `expectation`.
        g : (..., N, N) or (..., N, N, S), optional
            As f, which it is by default: then the result is the variance, or the covariance
            matrix of R values.

        Returns
        -------
        covariance : (...); (..., R, S)
            Without the axis R or S where f or g have none. O(n³) for each of the R, and O(n²)
            for each pair.
        """
        first, several_first = self._values(f)
        second, several_second = self._values(f if g is None else g)
        return self._pairs(self._covariance(first, second), several_first, several_second)

    def second_moment(self, f: Any, g: Any = None) -> Numbers:
        """Return the expected product of two values of a tree: E[f(T) g(T)].

        Parameters and return value are those of `covariance`, to which the product of the
        expectations is added.
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
            inf if `other` rules out a tree that is possible here, be it by an edge that is absent
            or by the kind of trees; this is decided by counting, not by rounded sums. Edges that
            only trees with a probability below e^-745 have, which is 0 as a float, do not count:
            a mask of -1e9 here goes with one of -inf there. O(n²), once `marginals` are known, and
            the other's `log_partition`; O(n³) if the other's kind is the narrower one or it lacks
            edges.

        Raises
        ------
        ScoresError
            If the sentences are not as many, or not as long; or if all trees of a sentence of
            `other` need edges some 1e6 or more below others.
        """
        return self._given_back(self._compared(other))

    def kl(self, other: Self) -> Numbers:
        """Return the Kullback-Leibler divergence from `other`, in nats, (...).

        The `cross_entropy` less the `entropy`; never less than 0. Raises what the former does.
        """
        return self._given_back((self._compared(other) - self._entropy).clip(min=0.0))

    # Draws.

    def sample(
        self, k: int, rng: np.random.Generator | int | None = None, *, replace: bool = True
    ) -> Heads:
        """Draw trees.

        Parameters
        ----------
        k : int
            How many for each sentence, at least 1.
        rng : numpy.random.Generator or int, optional
            The source of randomness, or a seed for one.
        replace : bool
            If False, no tree is drawn twice: each draw is from the trees not drawn before, in
            proportion to their probabilities.

        Returns
        -------
        heads : (k, N) int64, or (..., k, N) for a batch
            The trees in the order in which they were drawn. With ``replace=False`` as many as there
            are, if those are fewer than k; in a batch, as many as the sentence with most of them
            has, and rows of -1 fill what others lack. Trees whose ``log_prob`` is beyond a float,
            below -1.8e308, do not come.

        Notes
        -----
        Wilson (1996) draws non-projective trees by walks that erase their loops, here with the
        root edge drawn first where there is only one (Zmigrod, Vieira and Cotterell 2021,
        *Efficient Sampling of Dependency Structures*); where walks take too long, single heads are
        drawn given others (after Colbourn, Myrvold and Neufeld 1996). Projective trees are drawn
        from the top down. O(n³) a sentence, then mostly O(n log n) a tree, or O(n²) if projective.
        Without replacement it may take up to O(n⁴) a tree, where a few trees are very probable.

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
        return self._sample(check_count(k), np.random.default_rng(rng), replace)

    # What is shared by the answers.

    def _values(self, edge_values: Any) -> tuple[Any, bool]:
        """Return values of edges as (B, N, N, R), and whether the caller's had the axis R."""
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
        """Give back a number for each pair of values, (B, R, S)."""
        if not several_second:
            result = result[..., 0]
        return self._given_back(result if several_first else result[:, 0])

    def _compared(self, other: Self) -> Any:
        """Return the cross-entropies, (B,), if the sentences are the same."""
        if self._shape != other._shape or not self._as_long(other):
            raise ScoresError(
                "distributions can be compared over the same sentences only: batches of one shape, "
                "and of the same lengths"
            )
        return self._cross_entropy(other)

    def _refuse_far(self) -> None:
        """Raise an error if this is no distribution that others can be compared with."""
        if self._far:
            raise ScoresError(
                f"{name_of(self._graph(), min(self._far))}the other's scores are too far apart: "
                "all of its trees need edges some 1e6 or more below others, and beside those "
                "nothing is left of the divergence"
            )
