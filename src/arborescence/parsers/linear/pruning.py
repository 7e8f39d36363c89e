"""Edge pruning by length limits (Rush and Petrov 2012) and a filter (Bergsma and Cherry 2010).

*Vine pruning* (Eisner and Smith 2005) limits the length of an edge, by direction and pair of tags.
*A linear filter* scores the other edges by their binned length with one word, or with both tags:
three look-ups, where the parser needs about forty. A word keeps the heads whose scores are at most
a threshold below the score of its best head; the threshold is set on held-out sentences. If the
kept edges do not reach every word from the likeliest root word, the sentence also gets a *fan*: the
edges from this word to its left and right neighbours, and from each word to the next.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.parsers.linear.edges import WIDE, EdgeTemplates, add_up, halves
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.features import BATCH, numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.shared.features import Batch

#: The sides of head and dependent that the filter uses; the parser also needs their hashes.
SIDES: Final = ["w,p", "x", "m", "p-1,p", "p,p+1", "p-1,p,p+1", "p-2,p-1,p", "p,p+1,p+2"]
#: The share of held-out gold edges that pruning keeps, by the choice of the threshold.
KEEP: Final = 0.985

_ROWS: Final = 1 << 14
_COLUMNS: Final = WIDE  # one for each direction and length bin
_BINS = np.array([0, 0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 6, 6, 6, 6, 7], dtype=np.int64)
_WITHIN: Final = 0.999  # the share of edges, for each pair of tags, that the length limits keep
_EPOCHS: Final = 4
_RATE: Final = 0.06
_LEAST: Final = 1e-4  # edges with a smaller absolute gradient are skipped
_NEVER: Final = -(1 << 30)  # the score of an edge that is too long
_FAR: Final = 1 << 29  # the least difference between the best score and `_NEVER`
_UNLIMITED: Final = 1 << 30
#: The arrays of a filter in a model file.
ARRAYS: Final = {
    "pruning/limits": scheme.Array((np.int64,), (2, "tags", "tags"), low=0, high=_UNLIMITED),
    "pruning/words": scheme.Array((np.int8,), ("2^words", _COLUMNS)),
    "pruning/tags": scheme.Array((np.int8,), (_COLUMNS, "tags", "tags")),
}
#: The header field of the threshold, if a parser prunes.
THRESHOLD: Final = scheme.or_none(scheme.whole(0, _FAR - 1, None))


class EdgeFilter(NamedTuple):
    """The parameters of pruning; P is the number of tags in a `Batch`."""

    #: (T, 2): the sides of a batch that the filter uses, of heads and of dependents.
    sides: NDArray[np.int64]
    #: (2, P, P): the length of the longest edge, by direction (0 if the head is on the right), tag
    #: of the dependent and tag of the head.
    limits: NDArray[np.int64]
    #: (R, 16) int8: rows of weights for sides, with a column for each direction and length bin; R
    #: is a power of two. During training: float32.
    words: NDArray[Any]
    #: (16, P, P) int8: weights by column, tag of the dependent and tag of the head. During
    #: training: float32.
    tags: NDArray[Any]
    #: The largest score difference between a kept head and the best head of its word.
    threshold: int

    def keeping_all(self) -> EdgeFilter:
        """Return a filter that keeps all edges."""
        return self._replace(limits=np.full_like(self.limits, _FAR), threshold=_FAR - 1)


#: `EdgeFilter` in signatures: with the weights of a parser, or with weights that training changes.
FILTER: Final = (
    "parsers.linear.pruning.EdgeFilter(int64[:, ::1], int64[:, :, ::1], int8[:, ::1], "
    "int8[:, :, ::1], int64)"
)
LEARNED_FILTER: Final = FILTER.replace("int8", "out float32")


def sides_for(columns: Sequence[str]) -> NDArray[np.int64]:
    """Return the numbers of the `SIDES` that use only `columns`, in a parser's batches: (T, 2)."""
    sides: list[str] = []
    EdgeTemplates.of(columns, sides)
    return numbered([f"h:{side} d:{side}" for side in SIDES], "hd", columns, sides)


def learn(
    # training, held_out: sentences, and the gold heads of all sentences, concatenated: int64 (N,),
    # -1 for roots (in `held_out` also for words with unknown heads)
    training: tuple[Batch, NDArray[np.int64]],
    held_out: tuple[Batch, NDArray[np.int64]],
    sides: NDArray[np.int64],  # (T,): the numbers of the `SIDES` in the batches
    tags: int,  # the number of tags, P
    *,
    seed: int,  # fixes the order of the sentences
    keep: float = KEEP,  # the share of the gold edges of `held_out` to keep
) -> EdgeFilter:
    """Learn length limits and the filter; set the threshold on held-out data.

    The filter learns by averaged stochastic gradient ascent on the likelihood of each word's gold
    head among all heads; O(n² + T n) a sentence.
    """
    batch, heads = training
    model = EdgeFilter(
        sides,
        np.full((2, tags, tags), _UNLIMITED, dtype=np.int64),
        np.zeros((_ROWS, _COLUMNS), dtype=np.float32),
        np.zeros((_COLUMNS, tags, tags), dtype=np.float32),
        0,
    )
    sums = model._replace(words=np.zeros_like(model.words), tags=np.zeros_like(model.tags))
    generator = np.random.default_rng(seed)
    clock = 0
    for _ in range(_EPOCHS):
        order = generator.permutation(len(batch.starts) - 1)
        learn_kernel(batch, model, sums, heads, order, clock)
        clock += len(order)
    words = model.words - sums.words / np.float32(clock)
    pairs = model.tags - sums.tags / np.float32(clock)
    unit = max(float(np.abs(words).max()), float(np.abs(pairs).max())) / 127 or 1.0
    model = model._replace(
        limits=length_limits(batch, heads, tags),
        words=np.rint(words / unit).astype(np.int8),
        tags=np.rint(pairs / unit).astype(np.int8),
    )
    batch, heads = held_out
    margins = np.empty(len(heads), dtype=np.int64)
    margins_kernel(batch, model, heads, margins)
    return model._replace(threshold=_threshold(margins[heads >= 0], keep))


def length_limits(batch: Batch, heads: NDArray[np.int64], tags: int) -> NDArray[np.int64]:
    """Learn length limits from gold heads.

    A limit is m + m // 2 + 3, where 99.9 % of the edges of this kind are no longer than m. (Small
    treebanks lack the longest edges.) Root edges, with head tag 0, have no limit.
    """
    starts = np.repeat(batch.starts[:-1], np.diff(batch.starts))
    dependents = np.flatnonzero(heads > 0)
    governors = (starts + heads)[dependents]
    lengths = np.abs(dependents - governors)
    keys = ((governors < dependents) * tags + batch.tags[dependents]) * tags + batch.tags[governors]
    order = np.lexsort((lengths, keys))
    kinds, firsts, counts = np.unique(keys[order], return_index=True, return_counts=True)
    limits = np.zeros((2, tags, tags), dtype=np.int64)
    within = np.ceil(_WITHIN * counts).astype(np.int64) - 1
    limits.reshape(-1)[kinds] = lengths[order][firsts + within]
    limits += limits // 2 + 3
    limits[:, :, 0] = _UNLIMITED
    return limits


def _threshold(margins: NDArray[np.int64], keep: float) -> int:
    """Return the least threshold that keeps a share of the gold edges, or all within the limits.

    `margins` are those of `margins_kernel`, for the words with a gold head.
    """
    within = np.sort(margins[margins < _FAR])
    count = math.ceil(keep * len(margins))
    return int(within[: max(count, 1)].max(initial=0))


class _Room(NamedTuple):
    """Scratch memory for one sentence."""

    #: (2, M, 16), for the longest sentence's M nodes: sums of the words' rows.
    sums: NDArray[Any]
    #: (M,): the scores of the heads of a word.
    scores: NDArray[Any]


@kernel
def _room(batch: Batch, empty: np.ndarray) -> _Room:
    """Make room for the longest sentence, with the data type of an empty array."""
    most = np.diff(batch.starts).max()
    return _Room(np.empty((2, most, _COLUMNS), empty.dtype), np.empty(most, empty.dtype))


@kernel
def _add_up_words(batch: Batch, b: int, model: EdgeFilter, room: _Room) -> np.ndarray:
    """Sum the rows of each node of sentence b, as a head and as a dependent; return the rows."""
    rows = halves(batch, b, model.sides, len(model.words))
    add_up(rows, model.words.reshape(-1), room.sums)
    return rows


@inlined_kernel
def _score_heads(tags: np.ndarray, model: EdgeFilter, room: _Room, d: int) -> float:
    """Score the heads of word d within the limits; return the highest score. O(1) a head.

    `tags` are the sentence's ``Batch.tags``. `room` holds the sums of `_add_up_words`; its first
    n + 1 scores are written, -2^30 for an edge that is too long.
    """
    sums, out = room
    nodes = len(tags)
    never = out.dtype.type(_NEVER)
    best = never
    out[:nodes] = never
    for direction in range(2):
        limits = model.limits[direction, tags[d]]
        reach = limits[1:].max()
        first, stop = (max(1, d - reach), d) if direction else (d + 1, min(d + reach + 1, nodes))
        for h in range(first, stop):
            length = abs(h - d)
            column = 8 * direction + _BINS[min(length, 15)]
            score = sums[0, h, column] + sums[1, d, column] + model.tags[column, tags[d], tags[h]]
            score = score if length <= limits[tags[h]] else never
            out[h] = score
            best = max(best, score)
    column = 8 + _BINS[min(d, 15)]
    out[0] = sums[0, 0, column] + sums[1, d, column] + model.tags[column, tags[d], 0]
    highest: float = max(best, out[0])
    return highest


@kernel
@takes(f"{BATCH}, {LEARNED_FILTER}, {LEARNED_FILTER}, int64[::1], int64[::1], int64")
def learn_kernel(
    # batch, model: `Batch` and `EdgeFilter`; its weights, float32, are changed
    batch: Batch,
    model: EdgeFilter,
    # of the shapes of `model`: sums over the changes of each weight, each change multiplied by the
    # clock; they are changed
    sums: EdgeFilter,
    heads: np.ndarray,  # int64 (N,): the gold heads of all sentences, concatenated
    order: np.ndarray,  # int64: the numbers of the training sentences
    clock: int,  # the number of updates before this epoch
) -> None:
    """Train for one epoch on the likelihood of gold heads."""
    room = _room(batch, np.empty(0, dtype=np.float32))
    scores = room.scores
    moves = np.empty_like(room.sums)
    for b in order:
        clock += 1
        time = np.float32(clock)
        start = batch.starts[b]
        tags = batch.tags[start : batch.starts[b + 1]]
        nodes = len(tags)
        rows = _add_up_words(batch, b, model, room)
        moves[:, :nodes] = 0
        for d in range(1, nodes):
            if heads[start + d] < 0:  # unknown
                continue
            best = _score_heads(tags, model, room, d)
            likely = np.exp(scores[:nodes] - best)
            likely *= np.float32(_RATE) / likely.sum()
            for h in range(nodes):
                move = np.float32(_RATE if h == heads[start + d] else 0) - likely[h]
                if h == d or abs(move) < _LEAST * _RATE:
                    continue
                column = 8 * (h < d) + _BINS[min(abs(h - d), 15)]
                moves[0, h, column] += move
                moves[1, d, column] += move
                model.tags[column, tags[d], tags[h]] += move
                sums.tags[column, tags[d], tags[h]] += move * time
        for i in range(nodes):
            for t in range(rows.shape[2]):
                for end in range(2):  # as a head, as a dependent
                    model.words[rows[end, i, t]] += moves[end, i]
                    sums.words[rows[end, i, t]] += moves[end, i] * time


@kernel
@takes(f"{BATCH}, {FILTER}, int64[::1], out int64[::1]")
def margins_kernel(batch: Batch, model: EdgeFilter, heads: np.ndarray, out: np.ndarray) -> None:
    """Write, for each word, the score of the best head minus the score of the gold head to `out`.

    `model` has integer weights. `heads`, int64 (N,), has the gold heads of all sentences,
    concatenated. `out`, int64 (N,), gets at least 2^29 for a gold edge that is too long; where the
    gold head is negative, the value is undefined.
    """
    room = _room(batch, np.empty(0, dtype=np.int32))
    for b in range(len(batch.starts) - 1):
        start = batch.starts[b]
        tags = batch.tags[start : batch.starts[b + 1]]
        _add_up_words(batch, b, model, room)
        for d in range(1, len(tags)):
            best = _score_heads(tags, model, room, d)
            out[start + d] = best - room.scores[heads[start + d]]


def keep_edges(
    batch: Batch, model: EdgeFilter, fan: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the edges that pruning keeps: starts (N + 1,), and heads (E,) of each node in order.

    With `fan` the edges contain a projective tree, else a tree. O(n² + T n + E) a sentence.
    """
    nodes = len(batch.tags)
    starts, heads = np.zeros(nodes + 1, dtype=np.int64), np.empty(4 * nodes, dtype=np.int64)
    done = 0
    while True:
        done = keep_kernel(batch, model, fan, done, starts, heads)
        if done == len(batch.starts) - 1:
            return starts, heads[: starts[-1]]
        heads = np.concatenate([heads, np.empty_like(heads)])


@kernel
@takes(f"{BATCH}, {FILTER}, bool, int64, out int64[::1], out int64[::1]")
def keep_kernel(
    batch: Batch, model: EdgeFilter, fan: bool, done: int, firsts: np.ndarray, heads: np.ndarray
) -> int:
    """Do the work of `keep_edges` while `heads` has room; return the number of sentences done.

    `done` is the number of sentences that an earlier call has done. `firsts` and `heads` are
    written: the arrays that `keep_edges` returns; `heads` may be longer than needed.
    """
    room = _room(batch, np.empty(0, dtype=np.int32))
    scores = room.scores
    for b in range(done, len(batch.starts) - 1):
        start = batch.starts[b]
        tags = batch.tags[start : batch.starts[b + 1]]
        nodes = len(tags)
        _add_up_words(batch, b, model, room)
        likeliest = 0
        complete = False
        while not complete:
            root = likeliest  # the root word of the fan; 0 in the first pass: no fan
            least = np.int64(_FAR)
            count = firsts[start]
            firsts[start + 1] = count
            for d in range(1, nodes):
                if len(heads) < count + nodes:
                    return b
                best = _score_heads(tags, model, room, d)
                if best - scores[0] < least:
                    least = best - scores[0]
                    likeliest = d
                if root > 0:
                    scores[0 if d == root else d - 1 if d > root else d + 1] = best
                for h in range(nodes):
                    if best - scores[h] <= model.threshold:
                        heads[count] = h
                        count += 1
                firsts[start + d + 1] = count
            complete = root > 0 or nodes == 1
            if not complete and not fan and least <= model.threshold:
                complete = _reaches_all(firsts[start : start + nodes + 1], heads, likeliest)
    return len(batch.starts) - 1


@kernel
def _reaches_all(starts: np.ndarray, heads: np.ndarray, root: int) -> bool:
    """Return whether kept edges lead from word `root` to all others.

    O(n + E) for each change of direction, between left and right, in a path.
    """
    nodes = len(starts) - 1
    reached = np.zeros(nodes, dtype=np.bool_)
    reached[root] = True
    count, before = 1, 0
    while before < count:
        before = count
        for turn in range(2 * nodes):  # to the right, and back
            d = turn if turn < nodes else 2 * nodes - 1 - turn
            if not reached[d] and reached[heads[starts[d] : starts[d + 1]]].any():
                reached[d] = True
                count += 1
    return count == nodes - 1
