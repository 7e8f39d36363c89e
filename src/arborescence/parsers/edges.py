"""Scores of edges: a linear function of hashed features (McDonald et al. 2005).

The parameters are one flat vector of two parts:

- R rows of 16 weights. A feature (a template filled in) hashes to a row, and the columns of the row
  are that feature conjoined with the direction of the edge (columns 0 and 1: the head follows, the
  head precedes) and with direction and binned distance (columns 2-8 and 9-15). So one cache line
  holds all that an edge needs of a feature.
- One weight for each direction, tag of the dependent, tag that occurs between the two words, and tag
  of the head: (2, P, P, P).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence._jit import kernel
from arborescence.parsers.features import rotate, split_template, usable
from arborescence.parsers.hashing import mix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: Weights in a row: 2 directions, and 7 bins of distance for each.
WIDTH: Final = 16

#: What is looked at of head and dependent alone.
_ALONE = (
    "w p w,p x l l,p m s p-1 p+1 p-1,p p,p+1 p-1,p,p+1 x-1,x x,x+1 "
    "p-2,p-1,p p,p+1,p+2 w-1,p p,w+1 c,p"
).split()
#: What is looked at of both. The first seven, and the four with ``p,p+1``, are those of McDonald
#: et al. (2005), Table 1.
_PAIRS = [
    "h:w,p d:w,p", "h:p d:w,p", "h:w d:w,p", "h:w,p d:p", "h:w,p d:w", "h:w d:w", "h:p d:p",
    "h:p,p+1 d:p-1,p", "h:p-1,p d:p-1,p", "h:p,p+1 d:p,p+1", "h:p-1,p d:p,p+1",
    "h:p d:p-1,p,p+1", "h:p-1,p,p+1 d:p", "h:l d:l", "h:l d:p", "h:p d:l", "h:x d:x",
    "h:p,m d:p,m", "h:x,m d:x,m", "h:w d:x", "h:x d:w", "h:l,p d:p,m", "h:p,m d:l,p",
    "h:x-1,x d:x-1,x", "h:x,x+1 d:x-1,x", "h:x-1,x d:x,x+1", "h:x,x+1 d:x,x+1",
    "h:p d:p,w+1", "h:p d:p,w-1", "h:p,w+1 d:p", "h:p,w-1 d:p",
    "h:w,p d:p-1,p,p+1", "h:p-1,p,p+1 d:w,p", "h:p-1,p,p+1 d:p-1,p,p+1", "h:s,p d:s,p",
]  # fmt: skip
#: What is looked at of both together with the set of tags between them.
_AROUND = ["h:p d:p", "h:x d:x", "h:w,p d:p", "h:p d:w,p"]

_BINS = np.array([0, 0, 1, 2, 3, 4, 4, 4, 5, 5, 5, 5, 5, 6], dtype=np.int64)
_DEPENDENT = 32  # the rotation of that role
_BETWEEN = np.uint64(0xA4093822299F31D0)


class EdgeTemplates(NamedTuple):
    """Which of the sides of a batch make up the features of an edge.

    Attributes
    ----------
    alone : (A,) int64
        Sides of the head, and of the dependent, by themselves.
    pairs : (T, 2) int64
        A side of the head with one of the dependent.
    around : (U, 2) int64
        The same, with the set of tags that occur between the two.
    """

    alone: NDArray[np.int64]
    pairs: NDArray[np.int64]
    around: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Iterable[str], sides: list[str]) -> Self:
        """Lay out the templates that look at `columns` only, and add their sides to `sides`."""

        def number(side: str) -> int:
            if side not in sides:
                sides.append(side)
            return sides.index(side)

        def pairs(templates: list[str]) -> NDArray[np.int64]:
            split = [split_template(t) for t in usable(templates, columns)]
            numbers = [(number(t["h"]), number(t["d"])) for t in split]
            return np.array(numbers, dtype=np.int64).reshape(-1, 2)

        alone = [number(t.removeprefix("h:")) for t in usable((f"h:{a}" for a in _ALONE), columns)]
        return cls(np.array(alone, dtype=np.int64), pairs(_PAIRS), pairs(_AROUND))

    @property
    def most(self) -> int:
        """The largest number of features that an edge can have."""
        return 2 * (2 * len(self.alone) + len(self.pairs) + len(self.around)) + 64


class _Rows(NamedTuple):
    """The halves of the row numbers of one sentence's features; the first axis is the node."""

    alone_heads: NDArray[np.uint32]
    alone_deps: NDArray[np.uint32]
    pair_heads: NDArray[np.uint32]
    pair_deps: NDArray[np.uint32]
    around_heads: NDArray[np.uint32]
    around_deps: NDArray[np.uint32]


@kernel
def _half(sides, start, stop, which, bits, mask):  # type: ignore[no-untyped-def]
    out = np.empty((stop - start, len(which)), dtype=np.uint32)
    for i in range(stop - start):
        for t in range(len(which)):
            value = sides[start + i, which[t]]
            out[i, t] = (rotate(value, bits) if bits else value) & mask
    return out


@kernel
def _rows(sides, start, stop, templates, rows):  # type: ignore[no-untyped-def]
    mask = np.uint64(rows - 1)
    return _Rows(
        _half(sides, start, stop, templates.alone, 0, mask),
        _half(sides, start, stop, templates.alone, _DEPENDENT, mask),
        _half(sides, start, stop, templates.pairs[:, 0], 0, mask),
        _half(sides, start, stop, templates.pairs[:, 1], _DEPENDENT, mask),
        _half(sides, start, stop, templates.around[:, 0], 0, mask),
        _half(sides, start, stop, templates.around[:, 1], _DEPENDENT, mask),
    )


@kernel
def _signature(seen, rows):  # type: ignore[no-untyped-def]
    """Hash a set of tags to a row number."""
    return np.uint32(mix(_BETWEEN, seen) & np.uint64(rows - 1))


@kernel
def _sums(row_numbers, weights, out):  # type: ignore[no-untyped-def]
    """Add up the rows of each node."""
    out[:] = 0
    for i in range(row_numbers.shape[0]):
        for t in range(row_numbers.shape[1]):
            first = np.int64(row_numbers[i, t]) * WIDTH
            for c in range(WIDTH):
                out[i, c] += weights[first + c]


@kernel
def score_edges(batch, templates, weights, rows, known, sums, between, out, places):  # type: ignore[no-untyped-def]
    """Score every edge of every sentence.

    Parameters
    ----------
    batch, templates
        `Batch` and `EdgeTemplates`.
    weights
        (16 R + 2 P³,): float32, or integers.
    rows, known
        R, a power of two, and P.
    sums, between
        Scratch in which scores add up: float32, or int32 for integer weights; (2, M, 16) and
        (P,), where M is the number of nodes of the longest sentence.
    out, places
        Written: float32; the scores of sentence b, (n + 1, n + 1), begin at ``places[b]``.

    Notes
    -----
    O(T) a pair of words. What concerns one word only is added up once a word, and tags in between
    once for each new one: walking away from the dependent, ``between[p]`` is the weight of all tags
    met so far for a head tagged p.
    """
    for b in range(len(batch.starts) - 1):
        start = batch.starts[b]
        stop = batch.starts[b + 1]
        nodes = stop - start
        tags = batch.tags[start:stop]
        rowed = _rows(batch.sides, start, stop, templates, rows)
        of_heads = sums[0, :nodes]
        of_deps = sums[1, :nodes]
        _sums(rowed.alone_heads, weights, of_heads)
        _sums(rowed.alone_deps, weights, of_deps)
        for d in range(1, nodes):
            for direction in range(2):
                between[:] = 0
                seen = np.uint64(0)
                signature = _signature(seen, rows)
                table = rows * WIDTH + (direction * known + np.int64(tags[d])) * known * known
                step = 1 - 2 * direction
                h = d + step
                while 0 <= h < nodes:
                    c = 2 + 7 * direction + _BINS[min(abs(h - d), 13)]
                    # Two sums, so that one addition need not wait for the other.
                    undistanced = of_heads[h, direction] + of_deps[d, direction] + between[tags[h]]
                    distanced = of_heads[h, c] + of_deps[d, c]
                    for t in range(rowed.pair_heads.shape[1]):
                        row = np.int64(rowed.pair_heads[h, t] ^ rowed.pair_deps[d, t]) * WIDTH
                        undistanced += weights[row + direction]
                        distanced += weights[row + c]
                    for t in range(rowed.around_heads.shape[1]):
                        half = rowed.around_heads[h, t] ^ rowed.around_deps[d, t]
                        row = np.int64(half ^ signature) * WIDTH
                        undistanced += weights[row + direction]
                        distanced += weights[row + c]
                    out[places[b] + h * nodes + d] = undistanced + distanced
                    bit = np.uint64(1) << np.uint64(tags[h])
                    if seen & bit == 0:
                        seen |= bit
                        signature = _signature(seen, rows)
                        met = table + np.int64(tags[h]) * known
                        for p in range(known):
                            between[p] += weights[met + p]
                    h += step


@kernel
def list_features(tags, rowed, rows, known, h, d, out, count):  # type: ignore[no-untyped-def]
    """Append the numbers of the weights of the edge h -> d to `out`; return the new count."""
    direction = 0 if h > d else 1
    c = 2 + 7 * direction + _BINS[min(abs(h - d), 13)]
    seen = np.uint64(0)
    table = rows * WIDTH + (direction * known + np.int64(tags[d])) * known * known
    step = 1 - 2 * direction
    for j in range(d + step, h, step):
        bit = np.uint64(1) << np.uint64(tags[j])
        if seen & bit == 0:
            seen |= bit
            out[count] = table + np.int64(tags[j]) * known + tags[h]
            count += 1
    signature = _signature(seen, rows)
    first = count
    for t in range(rowed.alone_heads.shape[1]):
        out[count] = rowed.alone_heads[h, t]
        out[count + 1] = rowed.alone_deps[d, t]
        count += 2
    for t in range(rowed.pair_heads.shape[1]):
        out[count] = rowed.pair_heads[h, t] ^ rowed.pair_deps[d, t]
        count += 1
    for t in range(rowed.around_heads.shape[1]):
        out[count] = rowed.around_heads[h, t] ^ rowed.around_deps[d, t] ^ signature
        count += 1
    middle = count
    for i in range(first, middle):
        row = out[i] * WIDTH
        out[i] = row + direction
        out[count] = row + c
        count += 1
    return count


@kernel
def edge_features(batch, b, templates, rows, known, h, d, out):  # type: ignore[no-untyped-def]
    """List the numbers of the weights that make up the score of one edge; return how many."""
    start = batch.starts[b]
    stop = batch.starts[b + 1]
    rowed = _rows(batch.sides, start, stop, templates, rows)
    return list_features(batch.tags[start:stop], rowed, rows, known, h, d, out, 0)


@kernel
def update_edges(  # type: ignore[no-untyped-def]
    batch, b, templates, weights, sums, rows, known, gold, guess, loss, limit, clock, buffer
):
    """Move the weights towards the gold tree of a sentence and away from the guessed one.

    Parameters
    ----------
    batch, b, templates, rows, known
        As for `score_edges`; the sentence is number b.
    weights, sums
        float32, changed: the weights, and what is to be taken off them for their average
        (``weights - sums / clock`` is the average over all updates; Daumé 2006, Fig. 2.3).
    gold, guess
        Head vectors.
    loss
        How much better the guess was than gold, loss included.
    limit
        The aggressiveness C of MIRA: the step is ``min(C, loss / |difference|²)`` (Crammer and
        Singer 2003; Crammer et al. 2006, PA-I). 0 is the perceptron: the step is 1.
    buffer
        Scratch: int64, room for the features of all edges of both trees.
    """
    start = batch.starts[b]
    stop = batch.starts[b + 1]
    tags = batch.tags[start:stop]
    rowed = _rows(batch.sides, start, stop, templates, rows)
    count = 0
    for d in range(1, len(gold)):
        if gold[d] != guess[d]:
            first = count
            count = list_features(tags, rowed, rows, known, gold[d], d, buffer, count)
            middle = count
            count = list_features(tags, rowed, rows, known, guess[d], d, buffer, count)
            # The lowest bit keeps the sign through the sorting.
            for i in range(first, middle):
                buffer[i] = 2 * buffer[i] + 1
            for i in range(middle, count):
                buffer[i] = 2 * buffer[i]
    features = np.sort(buffer[:count])
    step = np.float32(1.0)
    if limit > 0:
        norm = 0
        i = 0
        while i < count:
            change, i = _net_change(features, i)
            norm += change * change
        step = np.float32(min(limit, max(loss, 0.0) / max(norm, 1)))
    i = 0
    while i < count:
        feature = features[i] >> 1
        change, i = _net_change(features, i)
        weights[feature] += step * np.float32(change)
        sums[feature] += step * np.float32(change) * np.float32(clock)


@kernel
def _net_change(features, i):  # type: ignore[no-untyped-def]
    """Add up the signs of all entries for one feature; also return where the next one begins."""
    feature = features[i] >> 1
    change = 0
    while i < len(features) and features[i] >> 1 == feature:
        change += 2 * (features[i] & 1) - 1
        i += 1
    return change, i
