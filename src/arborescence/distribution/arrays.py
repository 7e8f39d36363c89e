"""A probability distribution over the trees of a sentence: `TreeDistribution`."""

from __future__ import annotations

import math
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from arborescence.core.errors import OptionError, ScoresError, TreeError
from arborescence.core.faults import BAD_SCORE, FINE, NO_TREE, no_answer, no_such_tree, raises
from arborescence.core.graph import (
    Root,
    as_array,
    as_floats,
    as_graph,
    check_count,
    check_root,
    in_float64,
    matrix_of,
    name_of,
    words_of,
)
from arborescence.core.threads import in_threads
from arborescence.core.weights import as_weights, lower
from arborescence.distribution.counting import Kind, leaves
from arborescence.distribution.far import HUGE, Far, as_far
from arborescence.distribution.partition import derivatives, no_gaps, partition
from arborescence.distribution.weighing import weigh
from arborescence.inference.decode import decode
from arborescence.inference.kbest import kbest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# A tree whose logarithm of the probability is lower has the probability 0 as a float.
_IMPOSSIBLE = -745.0


class TreeDistribution:
    """The distribution over trees in which p(tree) is proportional to exp(tree's weight).

    Everything is computed when it is first asked for, for all sentences of a batch, and kept. The
    scores are copied: what happens to the caller's array later changes no answer. A distribution
    can be pickled.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        As in `decode`. Not a tensor that requires a gradient, unless gradients are off
        (`torch.no_grad`): `arborescence.torch.TreeDistribution` is the one that follows them.
    lengths : (...) whole numbers, optional
        Words in each sentence of a padded batch, the root not counted.
    root : {"single", "multi"}
        Trees with exactly one root edge (the default), or with one or more.
    projective : bool
        Only trees without crossing edges.
    threads : int
        Over how many threads a batch is spread.

    Raises
    ------
    ScoresError
        If shape, type or lengths cannot be used, or the scores require a gradient; later, if they
        hold NaN or +inf.
    NoTreeError
        When something is asked for, if the edges of a sentence form no such tree.

    Notes
    -----
    Sums over all trees come from the matrix-tree theorem (Tutte 1984; for a single root Koo et al.
    2007), by an elimination that never subtracts; over projective trees, from the inside-outside
    algorithm. Both are O(n³) a sentence and right for scores of any size: weights are scaled word
    by word; where floats still are too narrow, logarithms take their place, and where those are,
    exact differences to the best tree (`far`). Moments follow
    Zmigrod, Vieira and Cotterell (2021), *Efficient Computation of Expectations under Spanning
    Tree Distributions*.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.log([[1.0, 3.0, 1.0], [1.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    >>> dist = arb.TreeDistribution(scores)  # two trees, of the weights 3 · 1 and 1 · 2
    >>> dist.marginals.round(3)
    array([[0. , 0.6, 0.4],
           [0. , 0. , 0.6],
           [0. , 0.4, 0. ]])
    >>> round(math.exp(dist.log_partition), 9), round(math.exp(dist.log_count), 9)
    (5.0, 2.0)
    >>> dist.argmax, round(math.exp(dist.log_prob(dist.argmax)), 9)
    (array([-1,  0,  1]), 0.6)
    >>> dist.expectation(np.ones((3, 3)))  # the edges of a tree of two words
    2.0
    """

    def __init__(
        self,
        scores: Any,
        lengths: Any = None,
        *,
        root: Root = "single",
        projective: bool = False,
        threads: int = 1,
    ) -> None:
        self._single = check_root(root)
        check_count(threads, "threads")
        if _follows_gradients(scores):
            raise ScoresError(
                "scores require a gradient, which is not followed here: for training there is "
                "arborescence.torch.TreeDistribution; otherwise pass scores.detach()"
            )
        graph = as_graph(scores, lengths)
        self._graph = graph._replace(
            scores=graph.scores.copy(order="K"), lengths=graph.lengths.copy()
        )
        self._projective = projective
        self._threads = threads
        # Sentences with scores too far apart for floats; known once the log-partition is.
        self._far: dict[int, Far] = {}

    def __getstate__(self) -> dict[str, Any]:
        # What makes results tensors is a function, which cannot be pickled: so a tensor stands for
        # it.
        graph = self._graph
        like = graph.give_back(np.empty(0)) if graph.give_back else None
        return {**self.__dict__, "_graph": graph._replace(give_back=None), "_like": like}

    def __setstate__(self, state: dict[str, Any]) -> None:
        _, give_back = as_array(state.pop("_like"))
        self.__dict__.update(state)
        self._graph = self._graph._replace(give_back=give_back)

    @property
    def _trees(self) -> dict[str, Any]:
        """Which trees: the options of `decode` and others."""
        return {
            "root": "single" if self._single else "multi",
            "projective": self._projective,
            "threads": self._threads,
        }

    # What is known of all trees.

    @cached_property
    def log_partition(self) -> Any:
        """The logarithm of the sum of exp(weight) over all trees: float, or (...) for a batch."""
        if "_sums" in self.__dict__:
            return self._shaped(self._sums[0])
        return self._shaped(self._partition(marginals=False)[0])

    @cached_property
    def marginals(self) -> Any:
        """The probability of each edge, ``[..., h, d]``: (..., N, N) float64.

        The edges into a word sum to 1; column 0, the diagonal and padding are 0. To about 1e-13;
        with `projective`, to 13 digits each.
        """
        return self._shaped(self._sums[2])

    @cached_property
    def entropy(self) -> Any:
        """How uncertain the tree is, in nats: float, or (...) for a batch."""
        return self._shaped(self._sums[1])

    @cached_property
    def log_count(self) -> Any:
        """The logarithm of the number of trees whose edges are present: float, or (...)."""
        scores = self._scores
        # What is no score stays, so that it is named.
        alike = np.where(np.isfinite(scores), scores.dtype.type(0), scores)
        return self._back(TreeDistribution(alike, self._lengths, **self._trees).log_partition)

    # Single trees.

    @cached_property
    def argmax(self) -> Any:
        """The most probable tree, exactly: what `decode` returns, (..., N) int64."""
        return self._back(decode(self._scores, self._lengths, **self._trees))

    def kbest(self, k: int) -> tuple[Any, ...]:
        """Return the k most probable trees, exactly: what `arborescence.kbest` returns."""
        best = kbest(self._scores, k, self._lengths, **self._trees)
        return tuple(self._back(part) for part in best)

    def log_prob(self, heads: Any, *, errors: Literal["raise", "-inf"] = "raise") -> Any:
        """Return the logarithm of the probability of trees.

        Parameters
        ----------
        heads : (..., N) or (..., k, N) whole numbers
            One head vector for each sentence, or k of them. What stands at the root's place and in
            the padding is ignored, whatever it is.
        errors : {"raise", "-inf"}
            What is done about a head vector that is none of a sentence's trees: with another number
            of root edges, a cycle, edges that cross or that are absent. An error (the default), or
            -inf as its logarithm.

        Returns
        -------
        log_prob : (...) or (..., k) float64, a float for one
            O(n) a tree, once `log_partition` is known.

        Raises
        ------
        TreeError
            If the shape does not fit the scores, or a head vector is none of a sentence's trees;
            the message names the sentence and what is wrong.

        Examples
        --------
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
        rows, _ = as_array(heads, "heads")
        shape = self._graph.shape
        size = self._graph.scores.shape[-1]
        one = rows.shape == (*shape, size)
        several = rows.ndim == len(shape) + 2 and rows.shape[:-2] == shape
        if not (one or (several and rows.shape[-1] == size)) or rows.dtype.kind not in "iu":
            raise TreeError(
                f"heads must be whole numbers of shape {(*shape, size)}, or {(*shape, 'k', size)} "
                f"for k trees a sentence, not {rows.dtype} of shape {rows.shape}"
            )
        count = 1 if one else rows.shape[-2]
        rows = np.ascontiguousarray(rows, np.int64).reshape(self._batch, count, size)
        log_prob = np.empty(rows.shape[:2])
        for part, scores, lengths in in_float64(self._graph, 0, self._batch):
            logs = np.empty_like(scores)
            lower(scores, lengths, self._single, logs, np.empty(len(scores)))
            kind = self._single, self._projective
            weigh(rows[part], scores, logs, lengths, *kind, log_prob[part])
        log_prob -= self._log_sums[:, np.newaxis]
        wrong = np.isnan(log_prob)
        if strict and wrong.any():
            b, place = np.argwhere(wrong)[0].tolist()
            raise no_such_tree(
                self._graph, b, rows[b, place], single=self._single, projective=self._projective
            )
        for b, far in self._far.items():
            scores = matrix_of(self._graph, b).astype(np.float64)
            for place in np.flatnonzero(~wrong[b]):
                log_prob[b, place] = far.log_prob(scores, rows[b, place, : len(scores)])
        log_prob[wrong] = -np.inf
        log_prob = np.minimum(log_prob, 0.0)
        return self._shaped(log_prob[:, 0]) if one else self._shaped(log_prob)

    def mbr(self) -> Any:
        """Return the tree with the most right heads to be expected, (..., N) int64.

        The minimum Bayes risk tree (Goodman 1996; Smith and Smith 2007): it decodes the marginals,
        over edges that are present.
        """
        scores = self._scores
        marginals = self._flat(self.marginals).reshape(scores.shape)
        expected = np.where(np.isneginf(scores), -np.inf, marginals)
        return self._back(decode(expected, self._lengths, **self._trees))

    # Sums over trees.

    def expectation(self, edge_values: Any) -> Any:
        """Return the expected value of a tree, which is the sum of the values of its edges.

        Parameters
        ----------
        edge_values : (..., N, N) or (..., N, N, R) array
            One number for each edge h -> d, or R of them. Those of absent edges do not matter.

        Returns
        -------
        expected : (...) or (..., R) float64, a float for one
            O(n²) a number, once `marginals` are known.
        """
        values, several = self._values(edge_values)
        expected = np.einsum("bhd,bhdr->br", self._flat(self.marginals), values)
        return self._shaped(expected if several else expected[:, 0])

    def covariance(self, f: Any, g: Any = None) -> Any:
        """Return the covariance of two values of a tree, each a sum of values of its edges.

        Parameters
        ----------
        f : (..., N, N) or (..., N, N, R) array
            As in `expectation`.
        g : (..., N, N) or (..., N, N, S) array, optional
            As f, which it is by default: then the result is the variance, or the covariance
            matrix of R values.

        Returns
        -------
        covariance : (...) float64, a float for one; (..., R, S)
            Without the axis R or S where f or g have none. O(n³) for each of the R, and O(n²)
            for each pair.
        """
        first, several_first = self._values(f)
        second, several_second = self._values(f if g is None else g)
        covariance = np.empty((self._batch, first.shape[-1], second.shape[-1]))
        self._flat(self.marginals)  # to know that all sentences have trees
        for r in range(first.shape[-1]):
            slopes = self._derivatives(first[..., r])
            covariance[:, r] = np.einsum("bhd,bhds->bs", slopes, second)
        if not several_second:
            covariance = covariance[..., 0]
        return self._shaped(covariance if several_first else covariance[:, 0])

    def second_moment(self, f: Any, g: Any = None) -> Any:
        """Return the expected product of two values of a tree: E[f(T) g(T)].

        Parameters and return value are those of `covariance`, to which the product of the
        expectations is added.
        """
        g = f if g is None else g
        first, several_first = self._values(f)
        second, several_second = self._values(g)
        marginals = self._flat(self.marginals)
        of_first = np.einsum("bhd,bhdr->br", marginals, first)
        of_second = np.einsum("bhd,bhdr->br", marginals, second)
        product = of_first[:, :, np.newaxis] * of_second[:, np.newaxis]
        if not several_second:
            product = product[..., 0]
        product = product if several_first else product[:, 0]
        return self.covariance(f, g) + self._shaped(product)

    def cross_entropy(self, other: TreeDistribution) -> Any:
        """Return the expected -log_prob under `other` of a tree from this distribution, in nats.

        Parameters
        ----------
        other : TreeDistribution
            Over sentences of the same lengths.

        Returns
        -------
        cross_entropy : float, or (...) for a batch
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
        if other._graph.shape != self._graph.shape or not np.array_equal(
            other._word_counts, self._word_counts
        ):
            raise ScoresError(
                "distributions can be compared over the same sentences only: batches of one shape, "
                "and of the same lengths"
            )
        marginals, log_sums = self._flat(self.marginals), self._log_sums
        entropy = other._log_sums.copy()
        kinds = Kind(self._single, self._projective), Kind(other._single, other._projective)
        pairs = zip(self._lowered(), other._lowered(), strict=True)
        for b, ((_, own, words), (scores, logs, _)) in enumerate(pairs):
            if b in other._far:
                raise ScoresError(
                    f"{name_of(other._graph, b)}the other's scores are too far apart: all of its "
                    "trees need edges some 1e6 or more below others, and beside those nothing is "
                    "left of the divergence"
                )
            shares = marginals[b, : words + 1, : words + 1]
            present = scores > -np.inf
            both = (shares > 0) & present
            entropy[b] -= np.sum(shares[both] * logs[both])
            possible = shares > 0 if b in self._far else self._possible(own, log_sums[b])
            if leaves(possible, kinds[0], present, kinds[1]):
                entropy[b] = np.inf
        return self._shaped(entropy)

    def kl(self, other: TreeDistribution) -> Any:
        """Return the Kullback-Leibler divergence from `other`, in nats: float, or (...).

        The `cross_entropy` less the `entropy`; never less than 0.
        """
        divergence = self._flat(self.cross_entropy(other)) - self._flat(self.entropy)
        return self._shaped(np.maximum(divergence, 0.0))

    # Draws.

    def sample(
        self, k: int, rng: np.random.Generator | int | None = None, *, replace: bool = True
    ) -> Any:
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
        from arborescence.distribution.sampling import Sampler

        k = check_count(k)
        generator = np.random.default_rng(rng)
        size = self._graph.scores.shape[-1]
        self._flat(self.log_partition)  # to know that all sentences have trees
        if not replace:
            k = min(k, self._most_trees)
        try:
            heads = np.full((self._batch, k, size), -1, np.int64)
        except (MemoryError, ValueError):  # the latter for more than can be addressed
            raise OptionError(
                f"k = {k} trees for each of {self._batch} sentences do not fit into memory: "
                "draw fewer at a time"
            ) from None
        found = 0
        for part, scores, lengths in in_float64(self._graph, 0, self._batch):
            for b, matrix in enumerate(scores):
                words = int(lengths[b]) if lengths.size else size - 1
                far = self._far.get(part.start + b)
                sampler = Sampler(
                    far.scores if far else matrix,
                    words,
                    single=self._single,
                    projective=self._projective,
                    gaps=far.gaps if far else None,
                )
                draw = sampler.draw if replace else sampler.draw_distinct
                drawn = draw(k, generator)
                found = max(found, len(drawn))
                heads[part.start + b, : len(drawn), : words + 1] = drawn
        if not self._graph.shape:
            return self._back(heads[0, :found])
        return self._shaped(heads if replace else heads[:, :found])

    # Shapes and sentences.

    @property
    def _batch(self) -> int:
        return len(self._graph.scores)

    @property
    def _scores(self) -> NDArray[Any]:
        """The scores as the caller had them, (..., N, N)."""
        scores = self._graph.scores
        if self._graph.dependents_first:
            scores = scores.swapaxes(1, 2)
        return scores.reshape(*self._graph.shape, *scores.shape[1:])

    @property
    def _lengths(self) -> NDArray[np.int64] | None:
        """(...), or None if each sentence has N - 1 words."""
        lengths = self._graph.lengths
        every = self._batch != len(lengths)
        return None if every else lengths.reshape(self._graph.shape)

    @property
    def _word_counts(self) -> NDArray[np.int64]:
        """The words of each sentence, (B,)."""
        return np.array([words_of(self._graph, b) for b in range(self._batch)], np.int64)

    @property
    def _most_trees(self) -> int:
        """No sentence has more trees."""
        most = float(self._flat(self.log_count).max(initial=0.0))
        # Beyond, nobody draws all of them; below, the logarithm is right to much less than 1e-6.
        return math.ceil(math.exp(most) * (1 + 1e-6)) if most < 60.0 else sys.maxsize

    @cached_property
    def _sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The log-partition (B,), the entropy (B,) and the marginals (B, N, N)."""
        return self._partition(marginals=True)

    def _partition(
        self, *, marginals: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        batch, size, _ = self._graph.scores.shape
        log_partition, log_sums, entropy = np.empty((3, batch))
        shares = np.zeros((batch, size, size) if marginals else (0, 0, 0))

        def run(start: int, stop: int) -> None:
            for part, scores, lengths in in_float64(self._graph, start, stop):
                weights, logs, shifts, scales = as_weights(scores, lengths, self._single)
                del scores  # for long sentences, not to be kept in memory
                first, fault = part.start, NO_TREE
                while fault != FINE:
                    rest, left = slice(first - part.start, None), slice(first, part.stop)
                    sentence, fault = partition(
                        weights[rest],
                        logs[rest],
                        shifts[rest],
                        scales[rest],
                        lengths[rest],
                        self._single,
                        self._projective,
                        log_partition[left],
                        log_sums[left],
                        entropy[left],
                        shares[left],
                        no_gaps(size),
                    )
                    if fault != FINE:
                        first += sentence
                        found = self._partition_far(first, fault)
                        log_partition[first], entropy[first] = found[:2]
                        if marginals:
                            nodes = len(found[2])
                            shares[first, :nodes, :nodes] = found[2]
                        first += 1

        in_threads(run, batch, self._threads)
        self._known_log_sums = log_sums
        return log_partition, entropy, shares

    def _partition_far(self, b: int, fault: int) -> tuple[float, float, NDArray[np.float64]]:
        """Return log-partition, entropy and marginals of a sentence for which floats are too short.

        Or raise the error that says why there are none.
        """
        scores = np.ascontiguousarray(matrix_of(self._graph, b), np.float64)
        edges = scores[:, 1:][~np.eye(len(scores), dtype=np.bool_)[:, 1:]]
        if fault == BAD_SCORE and not (edges < np.inf).all():
            raise no_answer(self._graph, b, fault, self._single)
        if fault == NO_TREE and not (np.abs(edges[edges > -np.inf]) > HUGE).any():
            raise no_answer(self._graph, b, fault, self._single)
        far = self._far.get(b) or as_far(scores, self._single, self._projective)
        if far is None:
            raise no_answer(self._graph, b, NO_TREE, self._single)
        log_partition, log_sums, entropy = np.empty((3, 1))
        marginals = np.zeros((1, *scores.shape))
        every = np.empty(0, np.int64)
        partition(
            *as_weights(far.scores[np.newaxis], every, self._single),
            every,
            self._single,
            self._projective,
            log_partition,
            log_sums,
            entropy,
            marginals,
            far.gaps,
        )
        if not np.isfinite(log_partition[0]):
            raise ScoresError(
                f"{name_of(self._graph, b)}scores are too far apart, and nested too deeply, for "
                "sums over trees; decode and kbest take them"
            )
        self._far[b] = far = far._replace(log_partition=float(log_partition[0]))
        return far.whole_log_partition, float(entropy[0]), marginals[0]

    def _derivatives(self, direction: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how fast the marginals change as the scores move in a direction, (B, N, N)."""
        slopes = np.zeros(direction.shape)
        kind = self._single, self._projective
        for b, far in self._far.items():
            part = np.ascontiguousarray(direction[b : b + 1, : len(far.scores), : len(far.scores)])
            moved = np.zeros(part.shape)
            every = np.empty(0, np.int64)
            weights, logs, *_ = as_weights(far.scores[np.newaxis], every, self._single)
            derivatives(weights, logs, every, *kind, part, moved, far.gaps)
            slopes[b, : len(far.scores), : len(far.scores)] = moved[0]
        if self._far:  # nothing to be done for those once more
            direction = direction.copy()
            direction[list(self._far)] = 0.0

        def run(start: int, stop: int) -> None:
            for part, scores, lengths in in_float64(self._graph, start, stop):
                weights, logs, *_ = as_weights(scores, lengths, self._single)
                derivatives(
                    weights,
                    logs,
                    lengths,
                    *kind,
                    np.ascontiguousarray(direction[part]),
                    slopes[part],
                    no_gaps(direction.shape[1]),
                )

        in_threads(run, self._batch, self._threads)
        return slopes

    def _values(self, edge_values: Any) -> tuple[NDArray[np.float64], bool]:
        """Return values of edges as (B, N, N, R), and whether the caller's had the axis R.

        Those of edges that no tree has are set to 0.
        """
        array = as_floats(as_array(edge_values)[0]).astype(np.float64)
        *_, size, _ = self._graph.scores.shape
        of_scores = (*self._graph.shape, size, size)
        several = array.ndim == len(of_scores) + 1
        if array.shape[: len(of_scores)] != of_scores or array.ndim > len(of_scores) + 1:
            raise ScoresError(
                f"values of edges must have the shape {of_scores} of the scores, or one more axis, "
                f"not {array.shape}"
            )
        count = array.shape[-1] if several else 1
        values = array.reshape(self._batch, size, size, count)
        values = np.where(self._flat(self.marginals)[..., np.newaxis] > 0, values, 0.0)
        if not np.isfinite(values).all():
            raise ScoresError("the values of edges that are present must be finite")
        return values, several

    @property
    def _log_sums(self) -> NDArray[np.float64]:
        """The log-partition, (B,), under scores that are lowered as `_lowered` has them."""
        self._flat(self.log_partition)
        return self._known_log_sums

    def _lowered(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], int]]:
        """Yield of each sentence the scores, these less the best of each word, and its words.

        Both are (n + 1, n + 1). Probabilities are made of the second, so that nothing of them is
        rounded away beside large scores.
        """
        for part, scores, lengths in in_float64(self._graph, 0, self._batch):
            logs = np.empty_like(scores)
            lower(scores, lengths, self._single, logs, np.empty(len(scores)))
            for b in range(part.start, part.stop):
                words = words_of(self._graph, b)
                inside = b - part.start, slice(words + 1), slice(words + 1)
                yield scores[inside], logs[inside], words

    @staticmethod
    def _possible(scores: NDArray[np.float64], log_partition: float) -> NDArray[np.bool_]:
        """Tell which edges may belong to a tree whose probability is not 0 as a float, (N, N).

        No tree with an edge weighs more than it and the best edges into all other words together.
        """
        edges = scores.copy()
        best = edges.max(axis=0, initial=-np.inf)[1:]
        with np.errstate(over="ignore", invalid="ignore"):
            most = edges[:, 1:] - best + (best.sum() - log_partition)
            rounding = 1e-12 * (np.abs(edges[:, 1:]) + np.abs(best).sum() + abs(log_partition))
            edges[:, 1:][most < _IMPOSSIBLE - rounding] = -np.inf
        return edges > -np.inf

    def _shaped(self, array: NDArray[Any]) -> Any:
        """Return what is known of each sentence, (B, ...), as the caller's batch had it."""
        if not self._graph.shape:
            return self._back(array[0]) if array.ndim > 1 else float(array[0])
        return self._back(array.reshape(*self._graph.shape, *array.shape[1:]))

    def _back(self, array: Any) -> Any:
        """Return an array as the kind of array that the scores were."""
        give_back = self._graph.give_back
        return give_back(array) if give_back and isinstance(array, np.ndarray) else array

    def _flat(self, shaped: Any) -> NDArray[Any]:
        """Undo `_shaped`."""
        array, _ = as_array(shaped)
        return array.reshape(self._batch, *array.shape[len(self._graph.shape) :])


def _follows_gradients(scores: Any) -> bool:
    """Tell whether scores are a tensor, or a list of tensors, with gradients to be followed."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.is_grad_enabled():
        return False
    parts = scores if isinstance(scores, (list, tuple)) else [scores]
    return any(isinstance(part, torch.Tensor) and part.requires_grad for part in parts)
