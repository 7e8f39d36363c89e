"""`TreeDistribution` with Numba kernels: sums by the matrix-tree theorem or inside-outside."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from arborescence.core.checks import check_count, mask_is_lengths
from arborescence.core.conversion import as_array, as_doubles, as_floats, as_it_is
from arborescence.core.faults import BAD_SCORE, FINE, NO_TREE, name_of, no_answer
from arborescence.core.graph import as_graph, in_float64, in_threads, matrix_of, words_of
from arborescence.core.weights import EdgeWeights, as_weights, lower
from arborescence.distribution.base import Distribution, Floats, Heads
from arborescence.distribution.counting import leaves, possible
from arborescence.distribution.moderate_scores import HUGE, moderate_scores_of
from arborescence.distribution.partition import Sums, derivatives, no_gaps, partition, weigh
from arborescence.errors import OptionError, ScoresError
from arborescence.system.lazy import recalled, remembered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import BatchOptions, Root, Tensor, Tensors
    from arborescence.core.graph import Graph
    from arborescence.distribution.moderate_scores import ModerateScores

_EVERY_WORD = np.empty(0, np.int64)


class TreeDistribution(Distribution[Any, Floats, Heads]):
    """The distribution over trees in which p(tree) is proportional to exp(tree's weight).

    Every result is computed at its first use, for all sentences of a batch, and kept. A single
    number for a single sentence is a float; other results are arrays, or tensors if the scores are
    tensors. The scores are copied, so later changes of the caller's array have no effect. A
    distribution can be pickled.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        As in `decode`. A tensor must not require a gradient, except within `torch.no_grad`; use
        `arborescence.torch.TreeDistribution` for gradients.
    lengths, root, projective, threads
        As in `arborescence.decode`.

    Raises
    ------
    ScoresError
        If the shape, type or lengths are invalid, or the scores require a gradient. At the first
        use, if a score is NaN or +inf.
    NoTreeError
        At the first use, if the edges of a sentence form no such tree.

    Notes
    -----
    Sums over all trees use the matrix-tree theorem (Tutte 1984; for a single root Koo et al. 2007),
    with an elimination without subtraction; sums over projective trees use the inside-outside
    algorithm. Both cost O(n³) a sentence and are accurate for scores of any size: weights are
    scaled for each word; if the range of float64 is still too small, the sums are computed with
    logarithms, and otherwise with exact differences to the best tree (`moderate_scores`). Moments:
    Zmigrod, Vieira and Cotterell (2021), *Efficient Computation of Expectations under Spanning
    Tree Distributions*.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.log([[1.0, 3.0, 1.0], [1.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    >>> dist = arb.TreeDistribution(scores)  # two trees, of the weights 3 · 1 and 1 · 2
    >>> dist.marginals().round(3)
    array([[0. , 0.6, 0.4],
           [0. , 0. , 0.6],
           [0. , 0.4, 0. ]])
    >>> round(math.exp(dist.log_partition()), 9), round(math.exp(dist.log_count()), 9)
    (5.0, 2.0)
    >>> dist.argmax(), round(math.exp(dist.log_prob(dist.argmax())), 9)
    (array([-1,  0,  1]), 0.6)
    >>> dist.expectation(np.ones((3, 3)))  # the edges of a tree of two words
    2.0
    """

    @overload
    def __init__(
        self: TreeDistribution[Tensor, Tensor],
        scores: Tensors[Tensor],
        lengths: Any = None,
        **options: Unpack[BatchOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: TreeDistribution[NDArray[np.float64], NDArray[np.int64]],
        scores: ArrayLike,
        lengths: Any = None,
        **options: Unpack[BatchOptions],
    ) -> None: ...
    @mask_is_lengths
    def __init__(
        self,
        scores: Any,
        lengths: Any = None,
        *,
        root: Root = "single",
        projective: bool = False,
        threads: int = 1,
    ) -> None:
        if _follows_gradients(scores):
            raise ScoresError(
                "scores require a gradient, which is not followed here: for training there is "
                "arborescence.torch.TreeDistribution; otherwise pass scores.detach()"
            )
        graph = as_graph(scores, lengths)
        super().__init__(graph, root, projective)
        self._options["threads"] = check_count(threads, "threads")
        self._kept = graph._replace(scores=graph.scores.copy(order="K"))

    def __getstate__(self) -> dict[str, Any]:
        # The function that converts results to tensors cannot be pickled: a tensor replaces it.
        kept = self._kept._replace(give_back=as_it_is)
        return {**self.__dict__, "_kept": kept, "_like": self._kept.give_back(np.empty(0))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        _, give_back = as_array(state.pop("_like"))
        self.__dict__.update(state)
        self._kept = self._kept._replace(give_back=give_back)

    # Sums.

    @property
    def _log_partition(self) -> NDArray[np.float64]:
        return self._sums.log_partition

    @property
    def _marginals(self) -> NDArray[np.float64]:
        return self._all_sums.marginals

    @property
    def _entropy(self) -> NDArray[np.float64]:
        return self._all_sums.entropy

    @property
    def _sums(self) -> Sums:
        """Sums with at least the log-partition; the other sums double the time."""
        known: Sums = recalled(self, "_all_sums") or self._log_partitions
        return known

    @property
    @remembered
    def _all_sums(self) -> Sums:
        return self._sum(marginals=True)

    @property
    @remembered
    def _log_partitions(self) -> Sums:
        return self._sum(marginals=False)

    def _sum(self, *, marginals: bool) -> Sums:
        """Sum over the trees of all sentences."""
        sums = Sums.of(self._batch, self._size, marginals=marginals)
        gaps = no_gaps(self._size)

        def run(start: int, stop: int) -> None:
            for part, scores, lengths in in_float64(self._kept, start, stop):
                weights = as_weights(scores, lengths, self._kind.single)
                del scores  # saves memory for long sentences
                first, fault = part.start, NO_TREE
                while fault != FINE:
                    share = sums.share(slice(first, part.stop))
                    sentence, fault = partition(weights, lengths, *self._kind, share, gaps)
                    if fault != FINE:
                        self._sum_moderately(first + sentence, fault, sums)
                        done = sentence + 1
                        first += done
                        weights = EdgeWeights(*(array[done:] for array in weights))
                        lengths = lengths[done:]

        in_threads(run, self._batch, self._options["threads"])
        return sums

    def _sum_moderately(self, b: int, fault: int, sums: Sums) -> None:
        """Fill the sums of a sentence whose scores are too far apart; raise if it has no tree."""
        scores = as_doubles(matrix_of(self._kept, b))
        edges = scores[:, 1:][~np.eye(len(scores), dtype=np.bool_)[:, 1:]]
        if fault == BAD_SCORE and not (edges < np.inf).all():
            raise no_answer(self._kept, b, fault, self._kind.single)
        if fault == NO_TREE and not (np.abs(edges[edges > -np.inf]) > HUGE).any():
            raise no_answer(self._kept, b, fault, self._kind.single)
        moderate = self._moderate.get(b) or moderate_scores_of(scores, *self._kind)
        if moderate is None:
            raise no_answer(self._kept, b, NO_TREE, self._kind.single)
        own = Sums.of(1, len(scores), marginals=True)
        partition(self._weights_of(moderate), _EVERY_WORD, *self._kind, own, moderate.gaps)
        if not np.isfinite(own.log_partition[0]):
            raise ScoresError(
                f"{name_of(self._kept, b)}scores are too far apart, and cycles nested too deeply, "
                "for sums over trees; decode and kbest take these scores"
            )
        self._moderate[b] = moderate = moderate._replace(log_partition=float(own.log_partition[0]))
        sums.log_partition[b] = moderate.whole_log_partition
        sums.entropy[b] = own.entropy[0]
        if sums.marginals.size:
            sums.marginals[b, : len(scores), : len(scores)] = own.marginals[0]

    def _weights_of(self, moderate: ModerateScores) -> EdgeWeights:
        """Return the moderate scores of one sentence as weights."""
        return as_weights(moderate.scores[np.newaxis], _EVERY_WORD, self._kind.single)

    def _expectation(self, values: NDArray[np.float64]) -> Any:
        return np.einsum("bhd,bhdr->br", self._marginals, values)

    def _covariance(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> Any:
        covariance = np.empty((self._batch, first.shape[-1], second.shape[-1]))
        for r in range(first.shape[-1]):
            slopes = self._derivatives(first[..., r])
            covariance[:, r] = np.einsum("bhd,bhds->bs", slopes, second)
        return covariance

    def _derivatives(self, direction: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the directional derivatives of the marginals with respect to scores, (B, N, N)."""
        slopes = np.zeros(direction.shape)
        for b, moderate in self._moderate.items():
            inside = np.s_[b : b + 1, : len(moderate.scores), : len(moderate.scores)]
            moved = np.zeros((1, *moderate.scores.shape))
            part = np.ascontiguousarray(direction[inside])
            weights, logs, *_ = self._weights_of(moderate)
            derivatives(weights, logs, _EVERY_WORD, *self._kind, part, moved, moderate.gaps)
            slopes[inside] = moved
        if self._moderate:  # already computed
            direction = direction.copy()
            direction[list(self._moderate)] = 0.0
        gaps = no_gaps(self._size)

        def run(start: int, stop: int) -> None:
            for part, scores, lengths in in_float64(self._kept, start, stop):
                weights, logs, *_ = as_weights(scores, lengths, self._kind.single)
                share = np.ascontiguousarray(direction[part])
                derivatives(weights, logs, lengths, *self._kind, share, slopes[part], gaps)

        in_threads(run, self._batch, self._options["threads"])
        return slopes

    def _cross_entropy(self, other: Self) -> NDArray[np.float64]:
        marginals, log_sums = self._marginals, self._log_sums
        entropy = other._log_sums.copy()
        other._refuse_far()
        pairs = zip(self._lowered(), other._lowered(), strict=True)
        for b, ((_, own, words), (scores, logs, _)) in enumerate(pairs):
            shares = marginals[b, : words + 1, : words + 1]
            present = scores > -np.inf
            both = (shares > 0) & present
            entropy[b] -= np.sum(shares[both] * logs[both])
            mine = shares > 0 if b in self._moderate else possible(own, log_sums[b])
            if leaves(mine, self._kind, present, other._kind):
                entropy[b] = np.inf
        return entropy

    @property
    def _log_sums(self) -> NDArray[np.float64]:
        """The log-partition, (B,), under the lowered scores of `_lowered`."""
        return self._sums.log_sums

    def _lowered(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], int]]:
        """Yield each sentence's scores, its lowered scores, and its number of words.

        Both scores are (n + 1, n + 1). Lowered scores are scores minus the best score of each word.
        Probabilities come from lowered scores, so that large scores cause no rounding errors.
        """
        for part, scores, logs, _ in self._lowered_parts():
            for b in range(part.start, part.stop):
                words = words_of(self._kept, b)
                inside = b - part.start, slice(words + 1), slice(words + 1)
                yield scores[inside], logs[inside], words

    def _lowered_parts(self) -> Iterator[tuple[slice, Any, Any, NDArray[np.int64]]]:
        """Yield parts of the batch: place, scores, lowered scores and lengths."""
        for part, scores, lengths in in_float64(self._kept, 0, self._batch):
            logs = np.empty_like(scores)
            lower(scores, lengths, self._kind.single, logs, np.empty(len(scores)))
            yield part, scores, logs, lengths

    # Single trees.

    def _log_prob(self, rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        rows = rows.astype(np.int64, "C")
        log_prob = np.empty(rows.shape[:2])
        for part, scores, logs, lengths in self._lowered_parts():
            weigh(rows[part], scores, logs, lengths, *self._kind, log_prob[part])
        log_prob -= self._log_sums[:, np.newaxis]
        wrong = np.isnan(log_prob)
        for b, moderate in self._moderate.items():
            scores = matrix_of(self._kept, b).astype(np.float64)
            for place in np.flatnonzero(~wrong[b]):
                log_prob[b, place] = moderate.log_prob(scores, rows[b, place, : len(scores)])
        log_prob[wrong] = -np.inf
        return np.minimum(log_prob, 0.0), wrong

    def _gains(self) -> Any:
        scores, _ = as_array(self._scores)
        marginals = self._marginals.reshape(scores.shape)
        return self._kept.give_back(np.where(np.isneginf(scores), -np.inf, marginals))

    def _sample(self, k: int, generator: np.random.Generator, replace: bool) -> Any:
        from arborescence.distribution.sampling import Sampler

        self._log_partition  # noqa: B018 - to know that all sentences have trees
        if not replace:
            k = min(k, self._most_trees)
        try:
            heads = np.full((self._batch, k, self._size), -1, np.int64)
        except (MemoryError, ValueError):  # a ValueError for more than the address space
            raise OptionError(
                f"k = {k} trees for each of {self._batch} sentences do not fit into memory: "
                "draw fewer at a time"
            ) from None
        longest = 0
        for part, scores, _ in in_float64(self._kept, 0, self._batch):
            for b, matrix in enumerate(scores, part.start):
                words, moderate = words_of(self._kept, b), self._moderate.get(b)
                source = (moderate.scores, moderate.gaps) if moderate else (matrix, None)
                sampler = Sampler(source[0], words, self._kind, source[1])
                draw = sampler.draw if replace else sampler.draw_distinct
                drawn = draw(k, generator)
                longest = max(longest, len(drawn))
                heads[b, : len(drawn), : words + 1] = drawn
        is_single = not self._shape
        return self._given_back(heads[:, :longest] if is_single or not replace else heads)

    @property
    def _most_trees(self) -> int:
        """An upper bound for the number of trees of each sentence."""
        log_counts, _ = as_array(self.log_count())
        most = float(log_counts.max(initial=0.0))
        # Above e^60, nobody draws all trees; below, the error of the logarithm is far below 1e-6.
        return math.ceil(math.exp(most) * (1 + 1e-6)) if most < 60.0 else sys.maxsize

    # Shapes and sentences.

    def _graph(self) -> Graph:
        return self._kept

    @property
    def _scores(self) -> Any:
        scores = self._kept.scores
        if self._kept.dependents_first:
            scores = scores.swapaxes(1, 2)
        return self._kept.given_back(scores)

    @property
    def _lengths(self) -> NDArray[np.int64] | None:
        lengths = self._kept.lengths
        return lengths.reshape(self._shape) if self._batch == len(lengths) else None

    def _uniform(self) -> TreeDistribution[Floats, Heads]:
        scores, _ = as_array(self._scores)
        # Invalid scores are kept, so that the error names them.
        alike = np.where(np.isfinite(scores), scores.dtype.type(0), scores)
        return TreeDistribution(self._kept.give_back(alike), self._lengths, **self._options)

    def _as_long(self, other: Self) -> bool:
        pairs = ((words_of(self._kept, b), words_of(other._kept, b)) for b in range(self._batch))
        return all(own == others for own, others in pairs)

    def _as_heads(self, heads: Any) -> tuple[NDArray[Any], bool]:
        array, _ = as_array(heads, "heads")
        return array, array.dtype.kind in "iu"

    def _as_values(self, edge_values: Any) -> NDArray[np.float64]:
        name = "values of edges"
        return as_floats(as_array(edge_values, name)[0], name).astype(np.float64)

    def _of_present_edges(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.where(self._marginals[..., np.newaxis] > 0, values, 0.0)
        if not np.isfinite(values).all():
            raise ScoresError("the values of edges that are present must be finite")
        return values

    def _given_back(self, result: NDArray[Any]) -> Any:
        if not self._shape and result.ndim == 1:
            return float(result[0])
        return self._kept.given_back(result)


def _follows_gradients(scores: Any) -> bool:
    """Return whether the scores are a tensor, or a list of tensors, that require gradients."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.is_grad_enabled():
        return False
    parts = scores if isinstance(scores, (list, tuple)) else [scores]
    return any(isinstance(part, torch.Tensor) and part.requires_grad for part in parts)
