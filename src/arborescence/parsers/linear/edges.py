"""Edge scores as a linear function of hashed features (McDonald et al. 2005).

The group of a feature determines its conjunctions and the place of its weights:

========== ======================================================================== ==========
group      features                                                                 weights
========== ======================================================================== ==========
alone      head or dependent alone, with its neighbours                             rows of 16
pairs      tags of head and dependent and of the words around them                  rows of 16
between    the set of tags between head and dependent                               rows of 16
words      pairs with a form, a lemma or FEATS                                      rows of 2
in-between tag of the head, one tag in between, tag of the dependent                2 P³
========== ======================================================================== ==========

A row of 2 has a weight for each direction of the edge. A row of 16 also has a weight for each
direction and binned distance (columns 2-8 and 9-15), so one cache line holds all weights of a
feature for an edge. Features of one word are summed once for each word, not for each edge. Features
of word pairs are many and mostly unseen; their narrow rows save cache space.

All weights are in one flat vector: rows of 16, rows of 2, then weights of tags in between (for P
tags).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes, uncounted_kernel
from arborescence.parsers.shared.features import BATCH, MAX_TAGS, mix, numbered, rotate
from arborescence.parsers.shared.options import MOST_BITS
from arborescence.parsers.shared.scheme import Field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from arborescence.parsers.shared.features import Batch

#: The length of a wide row: 2 directions, each with 7 bins of distance and one weight without.
WIDE: Final = 16
#: The length of a narrow row: 2 directions.
NARROW: Final = 2

ALONE: Final = [
    "w", "p", "l", "x", "m", "s", "w,p", "l,p", "l,m", "c,p", "p-1", "p+1", "p-1,p", "p,p+1",
    "p-1,p,p+1", "p-2,p-1,p", "p,p+1,p+2", "p-2,p-1,p,p+1,p+2", "x-1,x", "x,x+1", "x-2,x-1,x",
    "x,x+1,x+2", "m-1,m", "m,m+1", "w-1,p", "p,w+1", "w-2,p", "p,w+2", "w-1,w", "w,w+1", "l-1,p",
    "p,l+1",
]  # fmt: skip
PAIRS: Final = [
    "h:p d:p", "h:p,p+1 d:p-1,p", "h:p-1,p d:p-1,p", "h:p,p+1 d:p,p+1", "h:p-1,p d:p,p+1",
]  # fmt: skip
BETWEEN: Final = ["h:p d:p"]
WORDS: Final = [
    "h:w,p d:w,p", "h:p d:w,p", "h:w,p d:p", "h:l d:l", "h:w d:x", "h:x d:w", "h:l,p d:p,m",
    "h:p,m d:l,p", "h:p,m d:p,m",
]  # fmt: skip

_DISTANCES = np.array([0, 0, 1, 2, 3, 4, 4, 4, 5, 5, 5, 5, 5, 6], dtype=np.int64)
_DEPENDENT = 32  # the rotation of the sides of the dependent
_SET = np.uint64(0xA4093822299F31D0)


class EdgeTemplates(NamedTuple):
    """The templates of an edge's features: each names a side of the head and one of the dependent.

    The groups are those of the table above. Each array is (T, 2), of numbers of a batch's sides.
    """

    #: Each side is a feature alone.
    alone: NDArray[np.int64]
    #: Pairs of tags.
    pairs: NDArray[np.int64]
    #: Pairs of sides that are joined with the set of tags in between.
    between: NDArray[np.int64]
    #: Pairs with a form, a lemma or FEATS.
    words: NDArray[np.int64]
    #: Whether an edge between two words has the features of the edge from the left word to the
    #: right word, so that both directions have the same score.
    undirected: bool

    @classmethod
    def of(cls, columns: Iterable[str], sides: list[str], undirected: bool = False) -> Self:
        """Make the arrays of the templates that use only `columns`; add their sides to `sides`."""
        groups = ([f"h:{side} d:{side}" for side in ALONE], PAIRS, BETWEEN, WORDS)
        alone, pairs, between, words = (numbered(each, "hd", columns, sides) for each in groups)
        return cls(alone, pairs, between, words, undirected)


class WeightLayout(NamedTuple):
    """The sizes of the parts of a weight vector."""

    #: The number of wide rows, a power of two.
    wide: int
    #: The number of narrow rows, a power of two.
    narrow: int
    #: The number of tags.
    tags: int

    @property
    def size(self) -> int:
        """The length of the vector of all weights."""
        return WIDE * self.wide + NARROW * self.narrow + 2 * self.tags**3


def _is_layout(value: object) -> bool:
    if not isinstance(value, list | tuple) or [type(each) for each in value] != [int] * 3:
        return False
    *rows, tags = value
    return 2 <= tags <= MAX_TAGS + 2 and all(
        1 <= number <= 1 << MOST_BITS and not number & (number - 1) for number in rows
    )


#: The header field of a layout.
LAYOUT: Final = Field(
    f"two powers of two up to 2^{MOST_BITS}, and 2 to {MAX_TAGS + 2} tags", _is_layout
)


class EdgeModel(NamedTuple):
    """The model of edge scores."""

    #: The templates of the features.
    templates: EdgeTemplates
    #: The places of the weights.
    layout: WeightLayout
    #: (layout.size,): float32, or integers.
    weights: NDArray[Any]


#: `EdgeModel` in signatures: with the weights of a parser, or with weights that training changes.
EDGES: Final = (
    "parsers.linear.edges.EdgeModel(parsers.linear.edges.EdgeTemplates("
    "int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], bool), "
    "parsers.linear.edges.WeightLayout(int64, int64, int64), weight[::1])"
)
LEARNED_EDGES: Final = EDGES.replace("weight", "out float32")


class _Rows(NamedTuple):
    """The tags of one sentence's nodes, and their `halves` for each group of templates.

    The row of a feature is the exclusive or of the head's half and the dependent's half. In
    `alone`, each half is a row.
    """

    #: (n + 1,).
    tags: NDArray[np.uint8]
    #: (2, n + 1, T).
    alone: NDArray[np.uint32]
    #: (2, n + 1, T).
    pairs: NDArray[np.uint32]
    #: (2, n + 1, T).
    between: NDArray[np.uint32]
    #: (2, n + 1, T).
    words: NDArray[np.uint32]


@kernel
def halves(batch: Batch, b: int, templates: np.ndarray, rows: int) -> np.ndarray:
    """Return the halves of row numbers of sentence b: uint32 (2, n + 1, T).

    ``halves[0]`` is of the nodes as heads, ``halves[1]`` of the nodes as dependents.
    """
    start, nodes = batch.starts[b], batch.starts[b + 1] - batch.starts[b]
    out = np.empty((2, nodes, len(templates)), dtype=np.uint32)
    mask = np.uint64(rows - 1)
    for i in range(nodes):
        for t in range(len(templates)):
            out[0, i, t] = batch.sides[start + i, templates[t, 0]] & mask
            out[1, i, t] = rotate(batch.sides[start + i, templates[t, 1]], _DEPENDENT) & mask
    return out


@kernel
def _rows_of(batch: Batch, b: int, templates: EdgeTemplates, layout: WeightLayout) -> _Rows:
    return _Rows(
        batch.tags[batch.starts[b] : batch.starts[b + 1]],
        halves(batch, b, templates.alone, layout.wide),
        halves(batch, b, templates.pairs, layout.wide),
        halves(batch, b, templates.between, layout.wide),
        halves(batch, b, templates.words, layout.narrow),
    )


@kernel
def _set_row(tags: np.uint64, layout: WeightLayout) -> np.uint32:
    """Hash a set of tags (one bit each) to the number of a wide row."""
    return np.uint32(mix(_SET, tags) & np.uint64(layout.wide - 1))


@kernel
def _table(layout: WeightLayout, direction: int, tag: np.uint8) -> np.int64:
    """Return where the weights of tags in between begin, for edges into a word with this tag."""
    first = WIDE * layout.wide + NARROW * layout.narrow
    return first + (direction * layout.tags + np.int64(tag)) * layout.tags**2


@uncounted_kernel
def add_up(alone: np.ndarray, weights: np.ndarray, sums: np.ndarray) -> None:
    """Sum the wide rows of each node, as a head and as a dependent; `alone` has the row numbers."""
    # The first column is summed before the others: its sum loads all rows of a node into the cache
    # in parallel, and halves the time.
    _, nodes, features = alone.shape
    for node in range(2 * nodes):
        row_numbers, total = alone[node // nodes, node % nodes], sums[node // nodes, node % nodes]
        first_column = sums.dtype.type(0)
        for t in range(features):
            first_column += weights[np.int64(row_numbers[t]) * WIDE]
        total[:] = 0
        for t in range(features):
            first = np.int64(row_numbers[t]) * WIDE
            row = weights[first : first + WIDE]
            for c in range(len(row)):  # with a constant, LLVM unrolls instead of vectorizing
                total[c] += row[c]
        total[0] = first_column


@inlined_kernel
def _score(
    rows: _Rows,
    model: EdgeModel,
    sums: np.ndarray,
    between: float,
    set_row: np.uint32,
    h: int,
    d: int,
) -> float:
    """Score the edge h -> d, given the sums of its words and of the tags in between."""
    weights, words_at = model.weights, WIDE * model.layout.wide
    direction = 0 if h > d else 1
    column = 2 + 7 * direction + _DISTANCES[min(abs(h - d), 13)]
    # Three independent sums: additions can run in parallel.
    plain = sums[0, h, direction] + sums[1, d, direction] + between
    binned = sums[0, h, column] + sums[1, d, column]
    for t in range(rows.pairs.shape[2]):
        row = np.int64(rows.pairs[0, h, t] ^ rows.pairs[1, d, t])
        plain += weights[WIDE * row + direction]
        binned += weights[WIDE * row + column]
    for t in range(rows.between.shape[2]):
        row = np.int64(rows.between[0, h, t] ^ rows.between[1, d, t] ^ set_row)
        plain += weights[WIDE * row + direction]
        binned += weights[WIDE * row + column]
    lexical = sums.dtype.type(0)
    for t in range(rows.words.shape[2]):
        row = np.int64(rows.words[0, h, t] ^ rows.words[1, d, t])
        lexical += weights[words_at + NARROW * row + direction]
    total: float = plain + binned + lexical
    return total


@kernel
@takes(f"{BATCH}, {EDGES}, out sum[:, :, ::1], out float32[::1], int64[::1]")
def score_edges(
    batch: Batch, model: EdgeModel, sums: np.ndarray, out: np.ndarray, places: np.ndarray
) -> None:
    """Score every edge of every sentence; O(T) for each edge (undirected: for half of the edges).

    `sums` is scratch memory, (2, M, 16) for M nodes in the longest sentence: float32, or int32 for
    integer weights. `out` is written: float32. In it, the scores of sentence b, (n + 1, n + 1),
    begin at ``places[b]``.
    """
    # Features of one word are summed once for each word. Weights of tags in between are summed once
    # for each new tag: the loop over heads walks away from the dependent, and ``met[p]`` is the sum
    # over all tags met so far, for a head with tag p.
    layout, weights = model.layout, model.weights
    met = np.empty(layout.tags, sums.dtype)
    for b in range(len(batch.starts) - 1):
        rows = _rows_of(batch, b, model.templates, layout)
        tags = rows.tags
        nodes = len(tags)
        add_up(rows.alone, weights, sums)
        for d in range(1, nodes):
            for direction in range(1 if model.templates.undirected else 0, 2):
                met[:] = 0
                seen = np.uint64(0)
                set_row = _set_row(seen, layout)
                table = _table(layout, direction, tags[d])
                step = 1 - 2 * direction
                h = d + step
                while 0 <= h < nodes:
                    between = met[tags[h]]
                    score = _score(rows, model, sums, between, set_row, h, d)
                    out[places[b] + h * nodes + d] = score
                    if model.templates.undirected and h > 0:
                        out[places[b] + d * nodes + h] = score
                    bit = np.uint64(1) << np.uint64(tags[h])
                    if seen & bit == 0:
                        seen |= bit
                        set_row = _set_row(seen, layout)
                        first = table + np.int64(tags[h]) * layout.tags
                        for p in range(layout.tags):
                            met[p] += weights[first + p]
                    h += step


@kernel
@takes(f"{BATCH}, {EDGES}, out sum[:, :, ::1], int64[::1], int64[::1], out float32[::1]")
def score_kept_edges(
    # batch, model, sums: as for `score_edges`; edges must be directed
    batch: Batch,
    model: EdgeModel,
    sums: np.ndarray,
    # starts, heads: int64 (N + 1,) and (E,): as returned by `pruning.keep_edges`
    starts: np.ndarray,
    heads: np.ndarray,
    out: np.ndarray,  # written: float32 (E,)
) -> None:
    """Score the edges that pruning keeps, bitwise as `score_edges`; O(T) an edge, O(n) a word."""
    # The loop walks away from a dependent, records new tags in order, and stops at each kept head.
    layout, weights = model.layout, model.weights
    met = np.empty(layout.tags, dtype=np.int64)
    for b in range(len(batch.starts) - 1):
        rows = _rows_of(batch, b, model.templates, layout)
        first, tags = batch.starts[b], rows.tags
        add_up(rows.alone, weights, sums)
        for d in range(1, len(tags)):
            start, stop = starts[first + d], starts[first + d + 1]
            on_left = np.searchsorted(heads[start:stop], d)
            for direction in range(2):
                table = _table(layout, direction, tags[d])
                step = 1 - 2 * direction
                seen = np.uint64(0)
                count = 0
                j = d + step
                e = start + on_left - direction
                while start <= e < stop:
                    h = heads[e]
                    while j != h:
                        bit = np.uint64(1) << np.uint64(tags[j])
                        if seen & bit == 0:
                            seen |= bit
                            met[count] = tags[j]
                            count += 1
                        j += step
                    between = sums.dtype.type(0)
                    for i in range(count):
                        between += weights[table + met[i] * layout.tags + np.int64(tags[h])]
                    set_row = _set_row(seen, layout)
                    out[e] = _score(rows, model, sums, between, set_row, h, d)
                    e += step


@kernel
def room_for(templates: EdgeTemplates, edges: int) -> np.ndarray:
    """Return an array with room for the numbers of the weights of `edges` edges."""
    wide = 2 * len(templates.alone) + len(templates.pairs) + len(templates.between)
    return np.empty(edges * (2 * wide + len(templates.words) + MAX_TAGS + 2), dtype=np.int64)


@kernel
def _list_weights(
    rows: _Rows, layout: WeightLayout, h: int, d: int, out: np.ndarray, count: int
) -> int:
    """Append the numbers of the weights of the edge h -> d to `out`; return the new count."""
    direction = 0 if h > d else 1
    column = 2 + 7 * direction + _DISTANCES[min(abs(h - d), 13)]
    tags, words_at = rows.tags, WIDE * layout.wide
    table = _table(layout, direction, tags[d])
    seen = np.uint64(0)
    step = 1 - 2 * direction
    for j in range(d + step, h, step):
        bit = np.uint64(1) << np.uint64(tags[j])
        if seen & bit == 0:
            seen |= bit
            out[count] = table + np.int64(tags[j]) * layout.tags + np.int64(tags[h])
            count += 1
    for t in range(rows.words.shape[2]):
        row = np.int64(rows.words[0, h, t] ^ rows.words[1, d, t])
        out[count] = words_at + NARROW * row + direction
        count += 1
    first = count
    for t in range(rows.alone.shape[2]):
        out[count] = rows.alone[0, h, t]
        out[count + 1] = rows.alone[1, d, t]
        count += 2
    for t in range(rows.pairs.shape[2]):
        out[count] = rows.pairs[0, h, t] ^ rows.pairs[1, d, t]
        count += 1
    for t in range(rows.between.shape[2]):
        out[count] = rows.between[0, h, t] ^ rows.between[1, d, t] ^ _set_row(seen, layout)
        count += 1
    for i in range(first, count):
        row = WIDE * out[i]
        out[i] = row + direction
        out[count + i - first] = row + column
    return 2 * count - first


@kernel
@takes(
    f"{BATCH}, {LEARNED_EDGES}, out float32[::1], int64[::1], int64[::1], float64, float64, "
    "float64, int64"
)
def update_edges(
    # batch, model: as for `score_edges`; the batch has one sentence. The weights are float32, and
    # changed.
    batch: Batch,
    model: EdgeModel,
    # float32, changed: sums of the weight changes, each times the clock. The average of the weights
    # is ``weights - averages / clock`` (Daumé 2006, Fig. 2.3).
    averages: np.ndarray,
    # gold, tree: int64 (n + 1,): the gold head vector, and that of another tree
    gold: np.ndarray,
    tree: np.ndarray,
    loss: float,  # score plus cost of the tree, minus the score of gold
    # the squared length of the difference between gold and the tree in features of other weights
    # (of relations)
    other: float,
    C: float,  # the largest step; 0 means the perceptron, with steps of 1
    clock: int,  # the number of the update, from 1
) -> float:
    """Move the weights towards the gold tree of a sentence and away from another; return the step.

    MIRA: the smallest change after which gold beats the tree by its margin (McDonald, Crammer and
    Pereira 2005; slack as in PA-I, Crammer et al. 2006). O(E T log(E T)) for E edges that are in
    one of the trees only. If edges are undirected, an edge that differs from gold only in direction
    causes no change.
    """
    templates, layout, weights = model
    rows = _rows_of(batch, 0, templates, layout)
    buffer, count = room_for(templates, 2 * (gold != tree).sum()), 0
    for d in range(1, len(gold)):
        for wrong in range(2 if gold[d] != tree[d] else 0):
            first, h = count, tree[d] if wrong else gold[d]
            one, two = (min(h, d), max(h, d)) if templates.undirected else (h, d)
            count = _list_weights(rows, layout, one, two, buffer, count)
            for i in range(first, count):
                buffer[i] = 2 * buffer[i] + wrong  # sorting groups entries by weight
    entries, changes = np.sort(buffer[:count]), np.zeros(count)
    i, changed, norm = 0, 0, other
    while i < count:
        buffer[changed] = entries[i] >> 1
        while i < count and entries[i] >> 1 == buffer[changed]:
            changes[changed] += 1 - 2 * (entries[i] & 1)
            i += 1
        norm += changes[changed] ** 2
        changed += 1
    step = np.float32(min(C, max(0.0, loss / max(norm, 1.0))) if C > 0 else 1.0)
    for i in range(changed):
        move = np.float32(step * changes[i])
        weights[buffer[i]] += move
        averages[buffer[i]] += move * np.float32(clock)
    return np.float64(step)  # in Numba, `float` of a float32 is a float32


@kernel
@takes(f"{BATCH}, {LEARNED_EDGES}, out float32[::1], float64[:, ::1], float64, float64, float64")
def move_edges(
    # batch, model, averages: as for `update_edges`; the batch has one sentence
    batch: Batch,
    model: EdgeModel,
    averages: np.ndarray,
    # float64 (n + 1, n + 1): the gradient of the log-likelihood for each edge's score
    moves: np.ndarray,
    least: float,  # edges with a smaller absolute gradient are skipped
    rate: float,  # the factor of the gradients
    clock: float,  # the factor of changes in `averages`
) -> None:
    """Update all weights of each edge of a sentence by one step; O(T) an edge."""
    templates, layout, weights = model
    rows = _rows_of(batch, 0, templates, layout)
    buffer = room_for(templates, 1)
    for h in range(len(moves)):
        for d in range(1, len(moves)):
            if h == d or abs(moves[h, d]) < least:
                continue
            move = np.float32(rate * moves[h, d])
            for i in range(_list_weights(rows, layout, h, d, buffer, 0)):
                weights[buffer[i]] += move
                averages[buffer[i]] += move * np.float32(clock)
