"""The k best projective trees, lazily: Huang and Chiang (2005), Algorithm 3, over Eisner's spans.

A *derivation* of a span is a split position and a derivation of each of the two parts. A derivation
of the whole sentence is a tree, and different derivations are different trees. The best derivation
of each span is in the chart. The next best derivation is among the candidates of the span: the best
derivation of each other split, and for each derivation that has been output, the same split with
the next best derivation of one of the two parts. So the next derivation of a span is computed only
when a larger span needs this derivation.

The successors of a pair (i, j) of derivations of the parts, counted from 0, are (i, j + 1) and, if
j is 0, (i + 1, j). So each pair is generated once. Weights are the integers of the exact chart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self, cast

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.core.accumulator import rounded_once
from arborescence.core.best_first import longer
from arborescence.core.conversion import as_doubles
from arborescence.core.faults import BAD_SCORE, EXHAUSTED, FINE, FULL, NO_TREE
from arborescence.core.graph import matrix_of, words_of
from arborescence.projective.decode import sum_sizes
from arborescence.projective.exact_chart import ExactChart, exact_chart, sign_of_difference
from arborescence.projective.spans import COMPLETE, INCOMPLETE, parts_of, splits_of

if TYPE_CHECKING:
    from arborescence.core.best_first import TreeLists
    from arborescence.core.graph import Graph

# NOTHING: there is no next derivation, or a heap is empty. UNKNOWN: not computed yet.
NOTHING, UNKNOWN = -1, -2

# The columns of `Derivations.links`.
SPAN, LEFT, RIGHT, NEXT, CHILD, SIBLING = range(6)


class Derivations(NamedTuple):
    """The derivations of the spans of a sentence of n words; each has a number.

    A span has the number ``(kind * N + head) * N + end``, and its first derivation has the same
    number. A single word has one derivation, without parts.
    """

    #: (P, 6) int64: the span, the derivations of the two parts, the span's next best derivation;
    #: the first child and the next sibling in the pairing heap of candidates.
    links: np.ndarray
    #: (P, D) int64: the weight of each derivation
    weights: np.ndarray
    #: (2 N²,) int64: the last derivation of each span that has been output.
    last: np.ndarray
    #: (2 N²,) int64: the best candidate of each span, the top of a heap.
    waiting: np.ndarray
    #: (2 N + 2,) int64: scratch.
    stack: np.ndarray
    #: (1,) int64: the number of derivations.
    used: np.ndarray


@kernel
def number_of(span: tuple[int, int, int], size: int) -> int:
    """Return the number of a span in a sentence of `size` nodes. O(1)."""
    kind, h, e = span
    return (kind * size + h) * size + e


@kernel
def span_of(number: int, size: int) -> tuple[int, int, int]:
    """Return the span with a number. O(1)."""
    return number // (size * size), number // size % size, number % size


def new_derivations(chart: ExactChart, n: int, room: int) -> Derivations:
    """Allocate the first derivation of every span, and `room` more."""
    size = n + 1
    spans = 2 * size * size
    width = chart.spans.shape[3]
    return Derivations(
        np.full((spans + room, 6), UNKNOWN, np.int64),
        np.zeros((spans + room, width), np.int64),
        np.arange(spans),
        np.full(spans, UNKNOWN, np.int64),
        np.zeros(2 * size + 2, np.int64),
        np.full(1, spans, np.int64),
    )


@kernel
def derive_first(derived: Derivations, chart: ExactChart) -> None:
    """Make the first derivation of every span. O(n²)."""
    size = chart.splits.shape[1]
    for number in range(derived.last.shape[0]):
        kind, h, e = span_of(number, size)
        links = derived.links[number]
        links[SPAN] = number
        if h == e:
            links[NEXT] = NOTHING
        elif chart.splits[kind, h, e] >= 0:
            left, right = parts_of(kind, h, e, chart.splits[kind, h, e])
            links[LEFT] = number_of(left, size)
            links[RIGHT] = number_of(right, size)
            for k in range(derived.weights.shape[1]):
                derived.weights[number, k] = chart.spans[kind, h, e, k]


def larger(derived: Derivations) -> Derivations:
    """Return the same derivations with twice the capacity."""
    used = int(derived.used[0])
    return derived._replace(
        links=longer(derived.links, used), weights=longer(derived.weights, used)
    )


@kernel
def meld(derived: Derivations, heap: int, other_heap: int) -> int:
    """Merge two heaps, each of which may be NOTHING; return the top. O(D)."""
    if heap == NOTHING:
        return other_heap
    if other_heap == NOTHING:
        return heap
    a, b = derived.weights[heap], derived.weights[other_heap]
    if sign_of_difference(a, a, b, b) < 0:
        heap, other_heap = other_heap, heap
    derived.links[other_heap, SIBLING] = derived.links[heap, CHILD]
    derived.links[heap, CHILD] = other_heap
    return heap


@kernel
def without_top(derived: Derivations, top: int) -> int:
    """Remove the top of a heap: merge its children in pairs. Return the new top.

    O(log of the heap's size), amortized.
    """
    pairs = NOTHING
    child = derived.links[top, CHILD]
    while child != NOTHING:
        partner = derived.links[child, SIBLING]
        following = NOTHING
        derived.links[child, SIBLING] = NOTHING
        if partner != NOTHING:
            following = derived.links[partner, SIBLING]
            derived.links[partner, SIBLING] = NOTHING
        pair = meld(derived, child, partner)
        derived.links[pair, SIBLING] = pairs
        pairs = pair
        child = following
    heap = NOTHING
    while pairs != NOTHING:
        following = derived.links[pairs, SIBLING]
        derived.links[pairs, SIBLING] = NOTHING
        heap = meld(derived, heap, pairs)
        pairs = following
    return heap


@kernel
def add_candidate(
    derived: Derivations, chart: ExactChart, number: int, left: int, right: int
) -> None:
    """Add a derivation to the candidates of a span. O(D)."""
    row = derived.used[0]
    derived.used[0] += 1
    kind, h, e = span_of(number, chart.splits.shape[1])
    links = derived.links[row]
    links[SPAN], links[LEFT], links[RIGHT] = number, left, right
    links[NEXT], links[CHILD], links[SIBLING] = UNKNOWN, NOTHING, NOTHING
    for k in range(derived.weights.shape[1]):
        weight = derived.weights[left, k] + derived.weights[right, k]
        if kind == INCOMPLETE:
            weight += chart.scores[h, e, k]
        derived.weights[row, k] = weight
    derived.waiting[number] = meld(derived, derived.waiting[number], row)


@kernel
def open_span(derived: Derivations, chart: ExactChart, number: int, single: bool) -> None:
    """Add the best derivation of each split to the candidates, without the overall best. O(n D)."""
    size = chart.splits.shape[1]
    kind, h, e = span_of(number, size)
    derived.waiting[number] = NOTHING
    low, stop = splits_of(kind, h, e, single)
    for r in range(low, stop):
        left, right = parts_of(kind, h, e, r)
        exists = chart.splits[left] >= 0 and chart.splits[right] >= 0
        if exists and r != chart.splits[kind, h, e]:
            add_candidate(derived, chart, number, number_of(left, size), number_of(right, size))


@kernel
def advance(derived: Derivations, chart: ExactChart, number: int, single: bool) -> bool:
    """Find the next derivation of a span; False if there is no room. O(n log k).

    The derivations of the span's parts come first. If there is no room, all results so far are
    kept, and the same call can be repeated.
    """
    links, stack = derived.links, derived.stack
    size = chart.splits.shape[1]
    stack[0] = number
    top = 1
    while top > 0:
        span = stack[top - 1]
        if derived.used[0] + size + 2 > links.shape[0]:
            return False
        if derived.waiting[span] == UNKNOWN:
            open_span(derived, chart, span, single)
        last = derived.last[span]
        left, right = links[last, LEFT], links[last, RIGHT]
        left_moves = right == links[right, SPAN]
        if left_moves and links[left, NEXT] == UNKNOWN:
            stack[top] = links[left, SPAN]
            top += 1
            continue
        if links[right, NEXT] == UNKNOWN:
            stack[top] = links[right, SPAN]
            top += 1
            continue
        if left_moves and links[left, NEXT] != NOTHING:
            add_candidate(derived, chart, span, links[left, NEXT], right)
        if links[right, NEXT] != NOTHING:
            add_candidate(derived, chart, span, left, links[right, NEXT])
        following = derived.waiting[span]
        links[last, NEXT] = following
        if following != NOTHING:
            derived.waiting[span] = without_top(derived, following)
            derived.last[span] = following
        top -= 1
    return True


@kernel
def write_tree(derived: Derivations, derivation: int, size: int, heads: np.ndarray) -> None:
    """Write the heads of a derivation. O(n)."""
    stack = derived.stack
    stack[0] = derivation
    top = 1
    heads[0] = -1
    while top > 0:
        top -= 1
        row = stack[top]
        kind, h, e = span_of(derived.links[row, SPAN], size)
        if h != e:
            if kind == INCOMPLETE:
                heads[e] = h
            stack[top] = derived.links[row, LEFT]
            stack[top + 1] = derived.links[row, RIGHT]
            top += 2


@kernel
@takes(
    "projective.kbest.Derivations(out int64[:, ::1], out int64[:, ::1], out int64[::1], "
    "out int64[::1], out int64[::1], out int64[::1]), projective.exact_chart.ExactChart("
    "int64, int64[:, :, ::1], int64[:, :, ::1], int64[:, :, :, ::1]), bool, "
    "int64, out int64[:, ::1], out float64[::1]"
)
def find_projective(
    derived: Derivations,
    chart: ExactChart,
    single: bool,
    count: int,
    heads: np.ndarray,
    weights: np.ndarray,
) -> tuple[int, int]:
    """Write the next best trees; return their number, and FINE, EXHAUSTED, NO_TREE or FULL.

    FULL: there is no room. O(n³ D) in total, and O(n log k) for each tree.

    `derived` and `chart` are from `new_derivations` and `exact_chart`. The rows of `heads` (k, at
    least N), int64, and of `weights` (k,), float64, are filled from the row `count` on.
    """
    links, last = derived.links, derived.last
    size = chart.splits.shape[1]
    number = number_of((COMPLETE, 0, size - 1), size)
    if chart.splits[COMPLETE, 0, size - 1] < 0:
        return 0, NO_TREE
    first = count < 0
    if first:
        derive_first(derived, chart)
        count = 0
    while count < heads.shape[0]:
        if not first:
            latest = last[number]
            if links[latest, NEXT] == UNKNOWN and not advance(derived, chart, number, single):
                return count, FULL
            if links[latest, NEXT] == NOTHING:
                return count, EXHAUSTED
        first = False
        derivation = last[number]
        write_tree(derived, derivation, size, heads[count])
        weights[count] = rounded_once(derived.weights[derivation].copy(), chart.bias)
        count += 1
    return count, FINE


# The number of further derivations per word that are allocated at first.
_FEW = 64


class ProjectiveKBestState(NamedTuple):
    """The chart of the last sentence, and its derivations so far."""

    #: the chart, or None before the first sentence
    chart: ExactChart | None = None
    #: the derivations, or None before the first sentence
    derivations: Derivations | None = None

    @classmethod
    def of(cls, graph: Graph) -> Self:  # noqa: ARG003
        """Return an empty state."""
        return cls()

    @classmethod
    def kept(cls, graph: Graph) -> Self:
        """Return an empty state; nothing is reused, as each sentence has its own arrays."""
        return cls.of(graph)

    def find(
        self, graph: Graph, single: bool, lists: TreeLists, start: int, stop: int
    ) -> tuple[Self, int, int]:
        """Fill the lists of the sentences `start` to `stop`. As in `TreeSearch.find`."""
        chart = cast("ExactChart", self.chart)
        derived = cast("Derivations", self.derivations)
        for b in range(start, stop):
            n = words_of(graph, b)
            count = int(lists.counts[b])
            if count < 0:
                scores = as_doubles(matrix_of(graph, b))
                if np.isnan(sum_sizes(scores, n)[0]):
                    return self, b, BAD_SCORE
                chart = exact_chart(scores, n, single)
                derived = new_derivations(chart, n, _FEW * (n + 1))
            fault = FULL
            while fault == FULL:
                count, fault = find_projective(
                    derived, chart, single, count, lists.heads[b], lists.weights[b]
                )
                if fault == FULL:
                    derived = larger(derived)
            if fault not in (FINE, EXHAUSTED):
                return self, b, fault
            lists.counts[b] = count
        return type(self)(chart, derived), stop, FINE
