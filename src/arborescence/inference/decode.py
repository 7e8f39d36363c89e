"""The best tree: `decode` and `decode_labeled`, by Zmigrod et al. (2020) or Eisner (1996)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from arborescence.compiling.kernels import kernel, never_negative, takes
from arborescence.compiling.lanes import LANES, as_row, numbers, places, turn, where
from arborescence.core.checks import check_flag, check_root, mask_is_lengths
from arborescence.core.conversion import as_array, as_floats, lies_in_rows
from arborescence.core.graph import as_graph, in_threads, stacked
from arborescence.errors import ScoresError
from arborescence.nonprojective.decode import decode_nonprojective, decode_plainly
from arborescence.projective.decode import decode_plainly as projective_plainly
from arborescence.projective.decode import decode_projective

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import BatchOptions, Root, Tensor, Tensors


@kernel
@never_negative
@takes("score[:, ::1], out score[::1]")
def highest_labels(scores: np.ndarray, best: np.ndarray) -> None:
    """Find the highest score in each row of (m, L), L > 0; NaN if the row has NaN. O(m L)."""
    edges, labels = scores.shape
    row = as_row(scores)
    tile = np.empty(LANES * LANES, scores.dtype)
    # Lanes wider than a row read the next rows, too. After the last rows, there are none.
    whole = (scores.size - max(labels, LANES) + labels) // labels // LANES * LANES
    for edge in range(0, whole, LANES):
        for k in range(LANES):
            at = (edge + k) * labels
            first = row[places(at)]
            # A NaN stays, because no score is greater than NaN.
            top = where(numbers(0) < labels, first, -np.inf)
            for block in range(LANES, labels, LANES):
                score = row[places(at + min(block, labels - LANES))]
                top = where((score > top) | (score != score), score, top)
            tile[places(k * LANES)] = top
        turn(tile)
        top = tile[places(0)]
        for k in range(1, LANES):
            score = tile[places(k * LANES)]
            top = where((score > top) | (score != score), score, top)
        best[places(edge)] = top
    for edge in range(max(whole, 0), edges):
        best[edge] = scores[edge, 0]
        for label in range(1, labels):
            score = scores[edge, label]
            if score > best[edge] or score != score:
                best[edge] = score


@kernel
@never_negative
@takes("score[:, ::1], score[::1], int64[:, ::1], out int64[:, ::1]")
def labels_of(scores: np.ndarray, best: np.ndarray, heads: np.ndarray, labels: np.ndarray) -> None:
    """Find the best label of each edge of trees, on a tie the lowest; or -1. O(L n) per tree.

    Scores are (B · N · N, L) contiguous rows as in ``[b, h, d]``, `best` from `highest_labels`.
    """
    batch, size = heads.shape
    for b in range(batch):
        for d in range(size):
            labels[b, d] = -1
            if heads[b, d] < 0:
                continue
            edge = (b * size + heads[b, d]) * size + d
            label = 0
            while label < scores.shape[1] - 1 and scores[edge, label] != best[edge]:
                label += 1
            labels[b, d] = label


Array = TypeVar("Array")


class Labeled(NamedTuple, Generic[Array]):
    """A labeled tree, or a batch of labeled trees, from `decode_labeled`.

    Attributes
    ----------
    heads : (..., N) int64 array or tensor
        The head vectors.
    labels : (..., N) int64 array or tensor
        The label of the edge into each word; -1 for the root and for padding.
    """

    heads: Array
    labels: Array


@overload
def decode(
    scores: Tensors[Tensor], lengths: Any = None, **options: Unpack[BatchOptions]
) -> Tensor: ...
@overload
def decode(
    scores: ArrayLike, lengths: Any = None, **options: Unpack[BatchOptions]
) -> NDArray[np.int64]: ...
@mask_is_lengths
def decode(
    scores: Any,
    lengths: Any = None,
    *,
    root: Root = "single",
    projective: bool = False,
    threads: int = 1,
) -> Any:
    """Return the tree of highest weight, exactly.

    Algorithm 1 of Zmigrod, Vieira and Cotterell (2020): O(n²) a sentence, with or without the root
    constraint. If the greedy graph is already a tree, one pass over the scores is enough.
    Projective trees are found by Eisner's algorithm (1996): O(n³) a sentence.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        ``scores[..., h, d]`` is the weight of the edge h -> d; node 0 is the root, and N is the
        number of words + 1. Floats or integers, any strides (a parser with ``[dependent, head]``
        scores passes ``scores.mT``). An edge is absent if its score is ``-inf``, or masked in a
        masked array. Column 0 and the diagonal are ignored. Or a list of (N, N) matrices, one for
        each sentence, which is padded if they differ in N.
    lengths : (...) whole numbers, optional
        The number of words of each sentence of a padded batch, the root not counted. Or a mask,
        (..., N) or (..., N - 1) without the root: true for words, false for padding.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.
    projective : bool
        Whether the tree must be projective (no crossing edges).
    threads : int
        The number of threads for a batch.

    Returns
    -------
    heads : (..., N) int64
        ``heads[..., d]`` is the head of word d; -1 for the root and for padding. A torch tensor,
        on the same device, if `scores` is one.

    Raises
    ------
    ScoresError
        If a score is NaN or +inf, or the shape, type or lengths are invalid.
    NoTreeError
        If the present edges form no such tree.
    OptionError
        If an option is invalid.

    Notes
    -----
    The tree is the best one in real arithmetic over the given floats; rounding has no influence.
    The choice among trees of equal weight depends only on the scores of that sentence: a word and
    a contracted cycle prefer the lowest head; with a single root edge, see *How the decoder works*
    for the choice of its word. Among projective trees, the one with the lowest root word is
    returned, and then the one whose spans are split furthest left.

    Examples
    --------
    The graph of Zmigrod et al. (2020), Fig. 2. Its best arborescence has two root edges and the
    weight 260; its best dependency tree has the weight 210.

    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.full((5, 5), -np.inf)
    >>> for h, d, weight in [(0, 1, 90), (0, 2, 40), (1, 3, 10), (2, 3, 30), (2, 4, 60),
    ...                      (3, 2, 50), (4, 3, 70), (4, 1, 20)]:
    ...     scores[h, d] = weight
    >>> heads = arb.decode(scores, root="multi")
    >>> heads, arb.tree_weight(scores, heads)
    (array([-1,  0,  0,  4,  2]), 260.0)
    >>> heads = arb.decode(scores)
    >>> heads, arb.tree_weight(scores, heads)
    (array([-1,  0,  3,  1,  2]), 210.0)
    """
    single = check_root(root)
    if lengths is None and threads == 1 and isinstance(projective, bool):
        plain = (projective_plainly if projective else decode_plainly)(scores, single)
        if plain is not None:
            return plain
    graph = as_graph(scores, lengths)
    batch, size, _ = graph.scores.shape
    heads = np.empty((batch, size), np.int64)
    decode_part = decode_projective if check_flag(projective) else decode_nonprojective
    # The time for a sentence grows with the number of its scores; a constant is added.
    costs = (graph.lengths + 5) ** 2 if len(graph.lengths) else None
    in_threads(lambda *share: decode_part(graph, single, heads, *share), batch, threads, costs)
    return graph.given_back(heads)


@overload
def decode_labeled(
    scores: Tensors[Tensor], lengths: Any = None, **options: Unpack[BatchOptions]
) -> Labeled[Tensor]: ...
@overload
def decode_labeled(
    scores: ArrayLike, lengths: Any = None, **options: Unpack[BatchOptions]
) -> Labeled[NDArray[np.int64]]: ...
@mask_is_lengths
def decode_labeled(
    scores: Any,
    lengths: Any = None,
    *,
    root: Root = "single",
    projective: bool = False,
    threads: int = 1,
) -> Labeled[Any]:
    """Return the labeled tree of highest weight, exactly.

    The best label of each edge is chosen first, then the best tree: O(L n²) more than `decode`.

    Parameters
    ----------
    scores : (..., N, N, L) array or torch tensor
        ``scores[..., h, d, l]`` is the weight of the edge h -> d with the label l. Otherwise as in
        `decode`, like the other parameters.

    Returns
    -------
    heads : (..., N) int64
        As in `decode`.
    labels : (..., N) int64
        ``labels[..., d]`` is the label of the edge into d (on a tie the lowest); -1
        for the root and for padding.

    Raises
    ------
    ScoresError, NoTreeError, OptionError
        As in `decode`.

    Examples
    --------
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.zeros((3, 3, 2))
    >>> scores[0, 2, 1] = scores[2, 1, 0] = 4.0
    >>> arb.decode_labeled(scores)
    Labeled(heads=array([-1,  2,  0]), labels=array([-1,  0,  1]))
    """
    array, lengths, give_back = as_labeled(scores, lengths)
    best = best_labels(array, threads)
    heads = decode(best, lengths, root=root, projective=projective, threads=threads)
    labels = _labels_of(array, best, heads)
    return Labeled(give_back(heads), give_back(labels))


def best_labels(scores: NDArray[Any], threads: int) -> NDArray[Any]:
    """Return the highest score of each edge (..., N, N); NaN if a label of the edge has NaN."""
    if not lies_in_rows(scores):
        return scores.max(axis=-1)
    rows = scores.reshape(-1, scores.shape[-1])
    best = np.empty(len(rows), scores.dtype)
    in_threads(
        lambda *share: highest_labels(rows[slice(*share)], best[slice(*share)]), len(rows), threads
    )
    return best.reshape(scores.shape[:-1])


def _labels_of(
    scores: NDArray[Any], best: NDArray[Any], heads: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the best labels of the edges of a batch of trees (..., N); -1 where no edge is."""
    if not lies_in_rows(scores):
        # For the root and padding, the labels are read at head 0 and then replaced by -1.
        rows = np.maximum(heads, 0)[..., None, :, None]
        of_edges = np.take_along_axis(scores, rows, axis=-3).squeeze(-3)
        return np.where(heads >= 0, of_edges.argmax(axis=-1), -1)
    labels = np.empty_like(heads)
    size = heads.shape[-1]
    labels_of(
        scores.reshape(-1, scores.shape[-1]),
        best.reshape(-1),
        heads.reshape(-1, size),
        labels.reshape(-1, size),
    )
    return labels


def as_labeled(
    scores: Any, lengths: Any = None
) -> tuple[NDArray[Any], Any, Callable[[NDArray[Any]], Any]]:
    """Return labeled scores as a float array, the lengths, and the conversion to the input type."""
    if isinstance(scores, (list, tuple)):
        array, lengths, give_back = stacked(scores, lengths)
    else:
        array, give_back = as_array(scores, absent=-np.inf)
    if array.dtype not in (np.float32, np.float64):
        array = as_floats(array)
    if array.ndim < 3 or array.shape[-1] == 0:
        raise ScoresError(
            f"labeled scores must have shape (..., N, N, L) with L > 0, not {array.shape}"
        )
    return array, lengths, give_back
