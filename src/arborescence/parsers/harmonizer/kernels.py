"""Kernels: candidate edges by paths in the old tree, their features, and log-linear choices."""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared.classifier import (
    UNIT,
    Templates,
    best_class,
    fill,
    learn,
    to_probabilities,
    total,
    values_of,
)
from arborescence.parsers.shared.features import mix

#: The number of places of features in a table of weights.
PLACES: Final = 1 << 22
#: The longest path between two words whose edge is a candidate: steps up, and steps in all.
UP: Final = 5
STEPS: Final = 6
#: The number of features of a candidate: path, direction (way), distance (far), new relation or 0
#: (rel), and `_reach`.
OF_EDGE: Final = 5
_PENALTY: Final = np.float32(0.001)


@kernel
def _far(distance: int) -> int:
    """Return a distance in the line of words, in steps: 1, 2, 3, 4 to 6, 7 and more."""
    if distance > 6:
        return 5
    return min(distance, 4)


@kernel
def _spread(first: int, last: int, heads: np.ndarray, signs: np.ndarray, ends: np.ndarray) -> None:
    """Find the first and last word below each node, signs left out. O(n · depth)."""
    for node in range(first, last):
        ends[node, 0] = node if not signs[node] else last
        ends[node, 1] = node if not signs[node] else first
    for node in range(first + 1, last):
        if signs[node]:
            continue
        up = node
        for _ in range(last - first):  # a bound, in case of a cycle
            if heads[up] < 0:
                break
            up = first + heads[up]
            ends[up, 0] = min(ends[up, 0], node)
            ends[up, 1] = max(ends[up, 1], node)


@kernel
def _reach(ends: np.ndarray, node: int, left: int, right: int) -> int:
    """Return whether the words below a node cover a place, or end beside it: 0 is no."""
    # left, right: the words before and after the place, signs left out
    if ends[node, 0] <= left and ends[node, 1] >= right:
        return 3
    if ends[node, 1] == left:
        return 1
    if ends[node, 0] == right:
        return 2
    return 0


@kernel
@takes(
    "int64[::1], int64[::1], uint64[::1], bool[::1], out int64[:, ::1], out int64[:, ::1], "
    "out uint64[:, ::1]"
)
def find_candidates(
    starts: np.ndarray,  # (sentences + 1,): the first node of each sentence, its root
    heads: np.ndarray,  # (nodes,): counted in the sentence; -1 for roots and unknown heads
    labels: np.ndarray,  # (nodes,): hashes of old relations
    signs: np.ndarray,  # (nodes,): whether a form has no letter and no digit
    below: np.ndarray,  # (nodes, 2): filled: the first and last word below each node
    edges: np.ndarray,  # (room, 2): filled: head and dependent, as nodes
    known: np.ndarray,  # (room, OF_EDGE): filled: see `OF_EDGE`
) -> int:
    """List the edges whose words are near each other in the old tree; return their number."""
    # O(n²) for each sentence, times the longest path. The candidates of a word are adjacent.
    count = 0
    for sentence in range(starts.size - 1):
        first = starts[sentence]
        _spread(first, starts[sentence + 1], heads, signs, below)
        for d in range(first + 1, starts[sentence + 1]):
            before = count
            left = d - 1
            while left > first and signs[left]:
                left -= 1
            right = d + 1
            while right < starts[sentence + 1] and signs[right]:
                right += 1
            for h in range(first, starts[sentence + 1]):
                if h == d:
                    continue
                state = np.uint64(1)
                up = d  # the ancestors of d, one by one
                found = False
                for ups in range(UP + 1):
                    down = h  # from h up to the same ancestor
                    path = state
                    for downs in range(min(UP, STEPS - ups) + 1):
                        if down == up:
                            found = True
                            break
                        path = mix(path, labels[down] + np.uint64(downs))
                        if heads[down] < 0:
                            break
                        down = first + heads[down]
                    if found:
                        edges[count, 0] = h
                        edges[count, 1] = d
                        way = np.uint64(2) if h < d else np.uint64(3)
                        known[count, 0] = mix(path, way)
                        known[count, 1] = way
                        known[count, 2] = np.uint64(_far(abs(h - d)))
                        known[count, 3] = np.uint64(0)
                        reach = 5 * _reach(below, h, left, right)
                        if heads[h] >= 0:
                            reach += 1 + _reach(below, first + heads[h], left, right)
                        known[count, 4] = np.uint64(reach)
                        count += 1
                        break
                    if heads[up] < 0:
                        break
                    state = mix(state, labels[up])
                    up = first + heads[up]
            if count == before:  # a word without head and children: from the root
                edges[count, 0] = first
                edges[count, 1] = d
                for k in range(OF_EDGE):
                    known[count, k] = np.uint64(0)
                count += 1
    return count


@kernel
@takes(
    "parsers.shared.classifier.Templates(int64[::1], int64[::1], int64[::1], int64[::1]), "
    "uint64[:, ::1], int64[:, ::1], uint64[:, ::1], out uint64[:, ::1]"
)
def find_places(
    templates: Templates,
    nodes: np.ndarray,  # uint64 (nodes, atoms): the features of each node
    edges: np.ndarray,  # int64 (m, 2): head and dependent, as nodes
    known: np.ndarray,  # uint64 (m, OF_EDGE)
    places: np.ndarray,  # uint64 (m, features): filled
) -> None:
    """Compute the places of the features of edges."""
    atoms = nodes.shape[1]
    room = values_of(templates, OF_EDGE + 2 * atoms)
    values = room.values
    found = np.empty(places.shape[1], dtype=np.uint64)
    for m in range(edges.shape[0]):
        for k in range(OF_EDGE):
            values[k] = known[m, k]
        for k in range(atoms):
            values[OF_EDGE + k] = nodes[edges[m, 0], k]
            values[OF_EDGE + atoms + k] = nodes[edges[m, 1], k]
        fill(templates, room, PLACES, found, 0)
        for k in range(found.size):
            places[m, k] = found[k]


@kernel
@takes("int8[::1], uint64[:, ::1], int64[::1], out float32[::1]")
def choose_heads(
    weights: np.ndarray,  # in units of `UNIT`
    places: np.ndarray,  # uint64 (m, features)
    groups: np.ndarray,  # (words + 1,): the first candidate of each word, and m
    logs: np.ndarray,  # (m,): filled: the log-probability of each candidate of a word
) -> None:
    """Score the candidate heads of each word."""
    for word in range(groups.size - 1):
        first, last = groups[word], groups[word + 1]
        if last - first == 1:
            logs[first] = 0
            continue
        highest = np.float32(-np.inf)
        for m in range(first, last):
            logs[m] = UNIT * np.float32(total(weights, places[m]))
            highest = max(highest, logs[m])
        partition = np.float32(0)
        for m in range(first, last):
            logs[m] -= highest
            partition += np.exp(logs[m])
        partition = np.log(partition)
        for m in range(first, last):
            logs[m] -= partition


@kernel
@takes("out float32[:, ::1], uint64[:, ::1], int64[::1], int64[::1], int64[::1]")
def learn_heads(
    learned: np.ndarray,  # the table of `Learned`. Changed.
    places: np.ndarray,
    groups: np.ndarray,
    gold: np.ndarray,  # (words,): the correct candidate; -1: it is missing, skip the word
    order: np.ndarray,  # the words, in the order in which they are learned from
) -> None:
    """Learn for one epoch which candidate of each word is its head."""
    weights = learned[0]
    most = 0
    for word in range(groups.size - 1):
        most = max(most, groups[word + 1] - groups[word])
    scores = np.empty(most, dtype=np.float32)
    for word in order:
        first = groups[word]
        last = groups[word + 1]
        if gold[word] >= 0 and last - first > 1:
            best = 0
            for m in range(first, last):
                scores[m - first] = total(weights, places[m])
                if scores[m - first] > scores[best]:
                    best = m - first
            to_probabilities(scores[: last - first], scores[best])
            for m in range(first, last):
                learn(
                    learned, places[m], np.uint64(0), scores[m - first], m == gold[word], _PENALTY
                )


@kernel
@takes("int8[::1], uint64[:, ::1], out float32[:, ::1]")
def choose_classes(weights: np.ndarray, places: np.ndarray, chances: np.ndarray) -> None:
    """Compute the probability of each class for each row of features."""
    everything = np.arange(chances.shape[1]).astype(np.uint64)
    scores = np.empty(chances.shape[1], dtype=np.int32)
    for m in range(places.shape[0]):
        best = best_class(weights, places[m], everything, scores)
        for k in range(scores.size):
            chances[m, k] = UNIT * np.float32(scores[k] - scores[best])
        to_probabilities(chances[m], 0.0)


@kernel
@takes("int8[::1], uint64[:, ::1], int64, out int64[::1]")
def best_classes(weights: np.ndarray, places: np.ndarray, classes: int, best: np.ndarray) -> None:
    """Find the class with the highest score for each row of features."""
    everything = np.arange(classes).astype(np.uint64)
    scores = np.empty(classes, dtype=np.int32)
    for m in range(places.shape[0]):
        best[m] = best_class(weights, places[m], everything, scores)


@kernel
@takes("out float32[:, ::1], uint64[:, ::1], int64[::1], int64[::1], int64")
def learn_classes(
    learned: np.ndarray, places: np.ndarray, gold: np.ndarray, order: np.ndarray, classes: int
) -> None:
    """Learn for one epoch the class of each row of features."""
    everything = np.arange(classes).astype(np.uint64)
    scores = np.empty(classes, dtype=np.float32)
    weights = learned[0]
    for m in order:
        best = best_class(weights, places[m], everything, scores)
        to_probabilities(scores, scores[best])
        for k in range(classes):
            learn(learned, places[m], np.uint64(k), scores[k], k == gold[m], _PENALTY)
