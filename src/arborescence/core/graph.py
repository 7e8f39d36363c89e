"""Check a caller's scores and convert them to the form that kernels take.

Kernels take a (B, N, N) float32 or float64 array, contiguous if the caller's array was, and a flag
that tells which axis is the head. The scores are copied only if their type has to change, and the
caller's array is never changed.
"""

from __future__ import annotations

import operator
import reprlib
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.choices import Root as Root
from arborescence.errors import OptionError, ScoresError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

#: The types of scores that kernels take, and that of heads.
FLOATS: Final = (np.dtype(np.float32), np.dtype(np.float64))
INT64: Final = np.dtype(np.int64)
# The bound up to which float64 holds all integers.
_WHOLE = 2**53
# The number of scores that are converted at once.
_AT_ONCE = 2**15
#: The lengths of a batch without padding.
ALL_WORDS: Final = np.empty(0, np.int64)


class Graph(NamedTuple):
    """Checked scores in the form that kernels take."""

    scores: NDArray[np.floating[Any]]
    """(B, N, N): ``[b, h, d]``, or ``[b, d, h]`` if `dependents_first`."""
    dependents_first: bool
    lengths: NDArray[np.int64]
    """(B,) number of words of each sentence; (0,) if each has N - 1 words."""
    shape: tuple[int, ...]
    """The caller's leading dimensions."""
    give_back: Callable[[NDArray[Any]], Any] | None
    """Converts a result to the caller's kind of array; None for NumPy."""


def as_graph(scores: Any, lengths: Any = None) -> Graph:
    """Check scores and lengths and convert them to the form that kernels take.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        ``scores[..., h, d]`` is the weight of the edge h -> d. Floats, or whole numbers up to 2^53.
        Any strides. Or a list of matrices. The kernels check for NaN and +inf.
    lengths : (...) whole numbers, optional
        The number of words of each sentence, without the root; N - 1 by default. Or a mask.

    Raises
    ------
    ScoresError
        If the shape, the type, a whole number or a length is invalid.
    """
    give_back: Callable[[NDArray[Any]], Any] | None = None
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
            f"scores must have shape (..., N, N) with N = words + 1, not {_shape(shape)}"
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


def as_array(
    values: Any, name: str = "scores", *, absent: float | None = None
) -> tuple[NDArray[Any], Callable[[NDArray[Any]], Any] | None]:
    """Return a NumPy view of an array or tensor, and a function that converts results back.

    A torch tensor is detached and, if it is on another device, copied to the CPU; bfloat16 becomes
    float32, which is exact.

    Parameters
    ----------
    values : array, tensor, or anything that `numpy.asarray` takes
    name
        The name for messages.
    absent
        The value of masked entries of a masked array. None: masked entries are an error.

    Raises
    ------
    ScoresError
        If it is not an array, or has masked entries and `absent` is None.
    """
    if type(values) is np.ndarray:
        return values, None
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        return _of_tensor(values, name)
    if isinstance(values, np.ma.MaskedArray):
        return _unmasked(values, name, absent), None
    try:
        return np.asarray(values), None
    except (TypeError, ValueError) as error:
        raise ScoresError(f"{name} do not form an array: {error}") from None


def _of_tensor(tensor: Any, name: str) -> tuple[NDArray[Any], Callable[[NDArray[Any]], Any]]:
    """Return a NumPy view of a torch tensor, and a function that makes a result such a tensor."""
    import torch

    device = tensor.device

    def give_back(result: NDArray[Any]) -> Any:
        return torch.from_numpy(result).to(device)

    try:
        tensor = tensor.detach()
        if type(tensor) is not torch.Tensor:
            tensor = tensor.as_subclass(torch.Tensor)
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.float()
        return tensor.cpu().numpy(), give_back
    except (TypeError, RuntimeError) as error:
        line = " ".join(str(error).split())
        raise ScoresError(f"{name} are a tensor that cannot be read as an array: {line}") from None


def _unmasked(values: Any, name: str, absent: float | None) -> NDArray[Any]:
    """Return a masked array as a plain array; masked entries get the value `absent`."""
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return np.asarray(values.data)
    if absent is None:
        where = ", ".join(map(str, np.argwhere(mask)[0]))
        raise ScoresError(
            f"{name}[{where}] is masked, which has no meaning here: fill the array, "
            "or leave masked entries out"
        )
    array = as_floats(values.filled(0))
    array[mask] = absent
    return array


def stacked(
    matrices: Sequence[Any], lengths: Any = None
) -> tuple[NDArray[Any], Any, Callable[[NDArray[Any]], Any] | None]:
    """Make one array from a list: from the rows of a matrix, or from the matrices of a batch.

    Parameters
    ----------
    matrices : list or tuple
        Nested lists of numbers; or one array or tensor per sentence, of shape (N, N) or (N, N, L).
        Matrices of different N are padded at the end.
    lengths
        As in `as_graph`.

    Returns
    -------
    array, lengths, give_back
        The batch; the lengths, from the matrices if these were padded and the caller gives none;
        and a function that converts a result to the caller's kind of array.

    Raises
    ------
    ScoresError
        If the list is neither an array nor a list of such matrices.
    """
    if not hasattr(matrices[0] if matrices else 0, "shape"):
        try:
            return np.asarray(matrices), lengths, None
        except ValueError:
            pass  # lists of different sizes: perhaps sentences of different lengths
    parts, backs = zip(*(as_array(matrix, absent=-np.inf) for matrix in matrices), strict=True)
    if len({part.dtype for part in parts}) > 1:
        parts = tuple(map(as_floats, parts))
    give_back = next(filter(None, backs), None)
    shapes = [part.shape for part in parts]
    if len(set(shapes)) == 1:
        return np.stack(parts), lengths, give_back
    rest = shapes[0][2:]
    for place, shape in enumerate(shapes):
        if len(shape) < 2 or shape[0] != shape[1] or shape[0] == 0:
            raise ScoresError(
                f"scores do not form an array: scores[{place}] has shape {_shape(shape)}, where a "
                "list has one (N, N) matrix a sentence"
            )
        if shape[2:] != rest:
            raise ScoresError(
                f"scores do not form an array: scores[0] has shape {_shape(shapes[0])}, and "
                f"scores[{place}] {_shape(shape)}"
            )
    own = np.array(shapes)[:, 0] - 1
    size = int(own.max()) + 1
    batch = np.zeros((len(parts), size, size, *rest), parts[0].dtype)
    for row, part in zip(batch, parts, strict=True):
        row[: len(part), : len(part)] = part
    words = own if lengths is None else _as_lengths(lengths, own.shape, size)
    if (words > own).any():
        place = int(np.argmax(words > own))
        raise ScoresError(
            f"lengths[{place}] is {words[place]}, but scores[{place}] hold {own[place]} words"
        )
    return batch, words, give_back


def as_floats(array: NDArray[Any], name: str = "scores") -> NDArray[Any]:
    """Return a new aligned, writeable float32 or float64 array of exactly the same numbers."""
    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64 if array.dtype.itemsize == 8 else np.float32)
    if kind in "biu":
        if array.dtype.itemsize == 8 and array.size:
            # abs() would overflow for the lowest int64, so both bounds are checked.
            beyond = array > _WHOLE
            if kind == "i":
                beyond |= array < -_WHOLE
            if beyond.any():
                where = tuple(map(int, np.argwhere(beyond)[0]))
                raise ScoresError(
                    f"{name}{list(where)} is {array[where]}: whole numbers beyond 2^53 do not "
                    "fit a float64 exactly; scale them down"
                )
        return array.astype(np.float64)
    raise ScoresError(
        f"{name} must be floats (at most 64 bits) or whole numbers, not {array.dtype}"
    )


def lies_in_rows(array: NDArray[Any]) -> bool:
    """Tell whether an array lies in memory as most kernels take it. It may be read-only."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned


def as_float64(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the same numbers as float64, as kernels take them; copies only if needed."""
    if array.dtype is FLOATS[1] and lies_in_rows(array):
        return array
    return as_floats(array).astype(np.float64, "C", copy=False)


def as_int64(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return whole numbers as int64, as kernels take them; copies only if needed."""
    if array.dtype is INT64 and lies_in_rows(array):
        return array
    return array.astype(np.int64, "C")


def as_edges(
    names: tuple[str, str, str], ends: tuple[Any, Any], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Check a graph given as an edge list, and convert it to the form that kernels take.

    Parameters
    ----------
    names
        The names of the two ends and of the weights, for messages.
    ends : two of (m,) whole numbers
    weights : (m,) floats or whole numbers

    Raises
    ------
    ScoresError
        If shapes or types are invalid. The kernels check the values.
    """
    arrays = [
        as_array(values, name)[0] for values, name in zip((*ends, weights), names, strict=True)
    ]
    shapes = [array.shape for array in arrays]
    if len(shapes[0]) != 1 or len(set(shapes)) != 1:
        raise ScoresError(
            f"{names[0]}, {names[1]} and {names[2]} must have one entry an edge, not shapes "
            + ", ".join(map(str, shapes))
        )
    for name, array in zip(names, arrays[:2], strict=False):
        if array.dtype.kind not in "iu" and array.size:
            raise ScoresError(f"{name} must be whole numbers, not {array.dtype}")
    one, other = map(as_int64, arrays[:2])
    return one, other, as_float64(arrays[2])


def _as_lengths(lengths: Any, leading: tuple[int, ...], size: int) -> NDArray[np.int64]:
    words, _ = as_array(lengths, "lengths")
    if words.dtype == np.bool_ and words.ndim == len(leading) + 1:
        words = _counted(words, leading, size)
    if words.dtype.kind not in "iu" and words.size:
        raise ScoresError(f"lengths must be whole numbers, not {words.dtype}")
    if words.shape != leading:
        raise ScoresError(
            f"lengths must have one entry a sentence, shape {_shape(leading)}, "
            f"not {_shape(words.shape)}"
        )
    # A copy: another thread may change the caller's array, and kernels use these as bounds.
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
            f"a mask in place of lengths must have shape {_shape((*leading, size))}, or "
            f"{_shape((*leading, size - 1))} without the root, not {_shape(mask.shape)}"
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


def check_root(root: str) -> bool:
    """Return whether `root` is "single"; OptionError if it is neither "single" nor "multi"."""
    if root == "single":
        return True
    if root == "multi":
        return False
    raise OptionError(f"root must be 'single' or 'multi', not {root!r}")


def check_count(
    count: Any, name: str = "k", least: int = 1, most: int | None = None, kind: str = ""
) -> int:
    """Return `count` as an int; OptionError if it is not a whole number from `least` to `most`.

    `kind` says in the error what it counts.
    """
    try:
        whole = operator.index(count)
    except TypeError:
        raise OptionError(
            f"{name} must be a whole number{kind}, not {reprlib.repr(count)}"
        ) from None
    if most is not None and not least <= whole <= most:
        raise OptionError(f"{name} must be between {least} and {most}, not {whole}")
    if whole < least:
        raise OptionError(f"{name} must be at least {least}, not {whole}")
    return whole


def check_flag(flag: Any, name: str = "projective") -> bool:
    """Return `flag` as a bool; OptionError if it is neither False nor True."""
    if not isinstance(flag, (bool, np.bool_)):
        raise OptionError(f"{name} must be False or True, not {flag!r}")
    return bool(flag)


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

    Each part is a slice of the batch, a copy of its scores as contiguous float64 ``[b, h, d]``, and
    its lengths, or (0,) if each sentence has N - 1 words.
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


def as_doubles(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Copy scores, as contiguous float64, without a warning (of NumPy, for some kinds of NaN).

    Kernels that read a score twice need a copy, as another thread may change the caller's array.
    """
    with np.errstate(invalid="ignore"):
        return np.array(scores, np.float64, order="C")


def name_of(graph: Graph, sentence: int) -> str:
    """Return the name of a sentence for messages: its index in the batch, or "" for no batch."""
    if not graph.shape:
        return ""
    index = ", ".join(map(str, np.unravel_index(sentence, graph.shape)))
    return f"sentence {index}: "


def bad_score(graph: Graph, sentence: int) -> ScoresError:
    """Return the error that gives the position of the first NaN or +inf of a sentence."""
    matrix = matrix_of(graph, sentence)
    bad = ~(matrix < np.inf)
    bad[:, 0] = False
    np.fill_diagonal(bad, val=False)
    h, d = map(int, np.argwhere(bad)[0])
    index = [*np.unravel_index(sentence, graph.shape), h, d] if graph.shape else [h, d]
    place = ", ".join(map(str, index))
    return ScoresError(
        f"{name_of(graph, sentence)}scores[{place}], the edge {h} -> {d}, is {matrix[h, d]}; "
        "scores are finite, or -inf for an absent edge"
    )


def require(scores: Any, edges: Iterable[Sequence[int]]) -> Any:
    """Return a copy of the scores that allows only trees with these edges.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
    edges : pairs (h, d) of whole numbers
        Indices into `scores`; with leading dimensions, (b, h, d) for the sentence b.

    Returns
    -------
    scores : like the input
        All other edges into each d are -inf. Whole numbers become float64.

    Raises
    ------
    ScoresError
        If an edge is not a pair of whole numbers, is out of range, enters the root or is a loop, or
        if two edges require different heads of a word.

    Examples
    --------
    >>> import arborescence as arb
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> arb.decode(arb.require(scores, [(2, 1)]))
    array([-1,  2,  0])
    """
    array, give_back = _own_floats(scores)
    kept: dict[tuple[int, ...], int] = {}
    for edge in edges:
        *sentence, h, d = _checked_edge(array, edge)
        if kept.setdefault((*sentence, d), h) != h:
            raise ScoresError(
                f"word {d} cannot have both {kept[(*sentence, d)]} and {h} as its head"
            )
        entering = array[tuple(sentence)][:, d]
        weight = entering[h]
        entering[:] = -np.inf
        entering[h] = weight
    return give_back(array) if give_back else array


def forbid(scores: Any, edges: Iterable[Sequence[int]]) -> Any:
    """Return a copy of the scores in which these edges are absent.

    Parameters, return value and errors as in `require`; edges cannot contradict each other.

    Examples
    --------
    >>> import arborescence as arb
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> arb.decode(arb.forbid(scores, [(0, 1)]))
    array([-1,  2,  0])
    """
    array, give_back = _own_floats(scores)
    for edge in edges:
        array[_checked_edge(array, edge)] = -np.inf
    return give_back(array) if give_back else array


def _own_floats(scores: Any) -> tuple[NDArray[Any], Callable[[NDArray[Any]], Any] | None]:
    array, give_back = as_array(scores, absent=-np.inf)
    array = as_floats(array)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise ScoresError(f"scores must have shape (..., N, N), not {_shape(array.shape)}")
    return array, give_back


def _checked_edge(array: NDArray[Any], edge: Sequence[int]) -> tuple[int, ...]:
    try:
        index = tuple(map(operator.index, edge))
    except TypeError:
        raise ScoresError(
            f"edge {edge!r} must be a pair (h, d) of whole numbers, in a list of such pairs"
        ) from None
    if len(index) != array.ndim:
        raise ScoresError(
            f"edge {index} must have {array.ndim} indices into scores of shape "
            f"{_shape(array.shape)}"
        )
    if not all(0 <= i < size for i, size in zip(index, array.shape, strict=True)):
        raise ScoresError(f"edge {index} is outside scores of shape {_shape(array.shape)}")
    h, d = index[-2:]
    if d == 0 or h == d:
        raise ScoresError(f"edge {index} enters the root" if d == 0 else f"edge {index} is a loop")
    return index


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
