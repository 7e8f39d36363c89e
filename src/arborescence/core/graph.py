"""Check a caller's scores and convert them to the form that kernels take.

Kernels take a (B, N, N) float32 or float64 array, contiguous if the caller's array was, and a flag
that tells which axis is the head. The scores are copied only if their type has to change, and the
caller's array is never changed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.checks import check_count
from arborescence.core.conversion import (
    FLOATS,
    as_array,
    as_doubles,
    as_floats,
    as_it_is,
    shape_text,
)
from arborescence.errors import ScoresError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


# The number of scores that are converted at once.
_AT_ONCE = 2**15
#: The lengths of a batch without padding.
ALL_WORDS: Final = np.empty(0, np.int64)


class Graph(NamedTuple):
    """Checked scores in the form that kernels take."""

    #: (B, N, N): ``[b, h, d]``, or ``[b, d, h]`` if `dependents_first`
    scores: NDArray[np.floating[Any]]
    #: whether the axis of the dependents comes before the axis of the heads
    dependents_first: bool
    #: (B,) number of words of each sentence; (0,) if each has N - 1 words
    lengths: NDArray[np.int64]
    #: the caller's leading dimensions
    shape: tuple[int, ...]
    #: converts a result to the caller's kind of array
    give_back: Callable[[NDArray[Any]], Any]

    def given_back(self, results: NDArray[Any]) -> Any:
        """Return results (B, ...) in the caller's shape and kind of array."""
        if len(self.shape) != 1:
            results = results.reshape(*self.shape, *results.shape[1:])
        return self.give_back(results)


def as_graph(scores: Any, lengths: Any = None) -> Graph:
    """Check scores and lengths and convert them to the form that kernels take.

    Scores are floats, or whole numbers up to 2^53, with any strides; or a list of matrices. Lengths
    may be a mask. ScoresError if a shape, type, whole number or length is invalid; the kernels
    check for NaN and +inf.
    """
    give_back: Callable[[NDArray[Any]], Any] = as_it_is
    if type(scores) is np.ndarray:  # the most frequent case
        array = scores
    elif isinstance(scores, (list, tuple)):
        array, lengths, give_back = stacked(scores, lengths)
    else:
        array, give_back = as_array(scores, absent=-np.inf)
    if array.dtype not in FLOATS or not array.flags.aligned:
        array = as_floats(array)
    shape = array.shape
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ScoresError(
            f"scores must have shape (..., N, N) with N = words + 1, not {shape_text(shape)}"
        )
    size = shape[-1]
    leading = shape[:-2]
    if len(shape) == 2:
        array = array[None]
    elif len(shape) > 3:
        array = array.reshape(-1, size, size)

    dependents_first = False
    if not array.flags.c_contiguous and abs(array.strides[1]) < abs(array.strides[2]):
        array = array.swapaxes(1, 2)
        dependents_first = True
    words = ALL_WORDS if lengths is None else _as_lengths(lengths, leading, size)
    return Graph(array, dependents_first, words, leading, give_back)


def stacked(
    matrices: Sequence[Any], lengths: Any = None
) -> tuple[NDArray[Any], Any, Callable[[NDArray[Any]], Any]]:
    """Make one array from a list: from the rows of a matrix, or from the matrices of a batch.

    The list is a nested list of numbers, or has an array or tensor for each sentence, (N, N) or
    (N, N, L), which is padded at the end if N differs. Returns the batch; the lengths, from the
    matrices if these are padded and the caller gives no lengths; and a function that converts a
    result to the caller's kind of array.
    """
    if not hasattr(matrices[0] if matrices else 0, "shape"):
        try:
            return np.asarray(matrices), lengths, as_it_is
        except ValueError:
            pass  # lists of different sizes: perhaps sentences of different lengths
    parts, backs = zip(*(as_array(matrix, absent=-np.inf) for matrix in matrices), strict=True)
    if len({part.dtype for part in parts}) > 1:
        parts = tuple(map(as_floats, parts))
    give_back = next((back for back in backs if back is not as_it_is), as_it_is)
    shapes = [part.shape for part in parts]
    if len(set(shapes)) == 1:
        return np.stack(parts), lengths, give_back
    labels = shapes[0][2:]
    for place, shape in enumerate(shapes):
        if len(shape) < 2 or shape[0] != shape[1] or shape[0] == 0:
            raise ScoresError(
                f"scores do not form an array: scores[{place}] has shape {shape_text(shape)}, "
                "where a list has one (N, N) matrix a sentence"
            )
        if shape[2:] != labels:
            raise ScoresError(
                f"scores do not form an array: scores[0] has shape {shape_text(shapes[0])}, and "
                f"scores[{place}] {shape_text(shape)}"
            )
    own = np.array(shapes)[:, 0] - 1
    size = int(own.max()) + 1
    batch = np.zeros((len(parts), size, size, *labels), parts[0].dtype)
    for row, part in zip(batch, parts, strict=True):
        row[: len(part), : len(part)] = part
    words = own if lengths is None else _as_lengths(lengths, own.shape, size)
    if (words > own).any():
        place = int(np.argmax(words > own))
        raise ScoresError(
            f"lengths[{place}] is {words[place]}, but scores[{place}] hold {own[place]} words"
        )
    return batch, words, give_back


def _as_lengths(lengths: Any, leading: tuple[int, ...], size: int) -> NDArray[np.int64]:
    words, _ = as_array(lengths, "lengths")
    if words.dtype == np.bool_ and words.ndim == len(leading) + 1:
        words = _counted(words, leading, size)
    if words.dtype.kind not in "iu" and words.size:
        raise ScoresError(f"lengths must be whole numbers, not {words.dtype}")
    if words.shape != leading:
        raise ScoresError(
            f"lengths must have one entry a sentence, shape {shape_text(leading)}, "
            f"not {shape_text(words.shape)}"
        )
    # A copy: another thread may change the caller's array, and lengths are bounds in kernels.
    checked = words.astype(np.int64)
    outside = (checked < 0) | (checked >= size)
    if outside.any():
        where = tuple(map(int, np.argwhere(outside)[0]))
        name = f"lengths{list(where)}" if where else "lengths"
        raise ScoresError(
            f"{name} is {words[where]}: scores of {size} nodes hold 0 to {size - 1} words"
        )
    return checked.reshape(-1)


def _counted(mask: NDArray[np.bool_], leading: tuple[int, ...], size: int) -> NDArray[np.intp]:
    """Return the number of words of each sentence from a mask: true for words, else false."""
    if mask.shape not in ((*leading, size), (*leading, size - 1)):
        raise ScoresError(
            f"a mask in place of lengths must have shape {shape_text((*leading, size))}, or "
            f"{shape_text((*leading, size - 1))} without the root, not {shape_text(mask.shape)}"
        )
    words = mask[..., mask.shape[-1] - size + 1 :]  # without the entry for the root
    gaps = words[..., 1:] > words[..., :-1]
    if gaps.any():
        *sentence, before = map(int, np.argwhere(gaps)[0])
        place = f"sentence {', '.join(map(str, sentence))}: " if sentence else ""
        raise ScoresError(
            f"{place}the mask is false for word {before + 1} and true for word {before + 2}: "
            "padding comes after the words"
        )
    return np.asarray(np.count_nonzero(words, axis=-1))


def words_of(graph: Graph, sentence: int) -> int:
    """Return the number of words of a sentence of the flattened batch."""
    return int(graph.lengths[sentence]) if graph.lengths.size else graph.scores.shape[-1] - 1


def matrix_of(graph: Graph, sentence: int) -> NDArray[Any]:
    """Return the (n + 1, n + 1) scores ``[h, d]`` of a sentence of the flattened batch."""
    size = words_of(graph, sentence) + 1
    matrix = graph.scores[sentence, :size, :size]
    return matrix.T if graph.dependents_first else matrix


def in_float64(
    graph: Graph, start: int, stop: int
) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.int64]]]:
    """Yield the sentences `start` to `stop` of the flattened batch in small parts.

    Each part is a slice, a contiguous copy ``[b, h, d]``, and lengths, or (0,) if each sentence has
    N - 1 words.
    """
    size = graph.scores.shape[-1]
    at_once = max(1, _AT_ONCE // size**2)
    for first in range(start, stop, at_once):
        part = slice(first, min(first + at_once, stop))
        scores = graph.scores[part]
        if graph.dependents_first:
            scores = scores.swapaxes(1, 2)
        lengths = graph.lengths[part] if graph.lengths.size else graph.lengths
        yield part, as_doubles(scores), lengths


# Several shares per thread, so that a share of long sentences does not delay the whole batch.
_SHARES_A_THREAD = 4


def in_threads(
    run: Callable[[int, int], object],
    batch: int,
    threads: int,
    costs: NDArray[np.int64] | None = None,
) -> None:
    """Split a batch into shares of equal costs, and call ``run(start, stop)`` for each, in threads.

    If several calls raise, the error of the first share is raised.
    """
    threads = check_count(threads, "threads")
    if threads == 1 or batch < 2:
        run(0, batch)
        return
    from concurrent.futures import ThreadPoolExecutor

    shares = min(batch, threads * _SHARES_A_THREAD)
    bounds = [batch * k // shares for k in range(shares + 1)]
    if costs is not None:
        upto = np.cumsum(costs)
        bounds[1:-1] = np.searchsorted(upto, upto[-1] * np.arange(1, shares) / shares).tolist()
    with ThreadPoolExecutor(threads) as pool:
        try:
            parts = [pool.submit(run, start, stop) for start, stop in pairwise(bounds)]
            for part in parts:
                part.result()
        finally:  # after an error or an interruption, shares that have not begun are not needed
            pool.shutdown(cancel_futures=True)
