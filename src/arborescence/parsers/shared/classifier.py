"""A log-linear classifier over hashed features, learned online by AdaGrad: for text and tags.

A feature is a 64-bit hash; its lower bits are a place in one table of weights, and class c has its
weight at place + c. Cells of different features may overlap, since the table is mostly empty. With
one class, the choice is between this class and no class, whose score is 0. AdaGrad (Duchi, Hazan
and Singer 2011, section 5.1) with an L1 penalty makes most weights 0; a file stores the other
weights, as int8.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, inlined_kernel, kernel
from arborescence.errors import ModelError
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.features import mix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class Templates(NamedTuple):
    """Compiled templates. The first values are the atoms; each step mixes two values to a third.

    The steps of a level need only results of earlier levels.
    """

    #: (steps,): the first value that each step mixes.
    left: NDArray[np.int64]
    #: (steps,): the second value that each step mixes.
    right: NDArray[np.int64]
    #: (levels + 1,): the first step of each level, and the number of steps.
    levels: NDArray[np.int64]
    #: (templates,): the number of the value that is the feature of each template.
    features: NDArray[np.int64]


class Values(NamedTuple):
    """Scratch memory for the values of templates, uint64."""

    #: The atoms, then the results of the steps.
    values: np.ndarray
    #: (steps,): copies of the values that steps mix.
    left: np.ndarray
    #: (steps,): copies of the second values.
    right: np.ndarray


def compiled(atoms: str, templates: str) -> Templates:
    """Compile templates: products of `atoms`, separated by commas, mixed from left to right."""
    numbers: dict[object, int] = {name: number for number, name in enumerate(atoms.split())}
    level_of: dict[object, int] = dict.fromkeys(numbers, 0)

    def key(node: ast.AST) -> object:
        if not isinstance(node, ast.BinOp):
            return ast.unparse(node)
        pair = key(node.left), key(node.right)
        level_of[pair] = 1 + max(level_of[pair[0]], level_of[pair[1]])
        return pair

    products = ast.parse(f"[{templates}]", mode="eval").body
    features = [key(node) for node in ast.iter_child_nodes(products) if isinstance(node, ast.expr)]
    steps = sorted((pair for pair in level_of if isinstance(pair, tuple)), key=level_of.__getitem__)
    for step in steps:
        numbers[step] = len(numbers)
    levels = [level_of[step] for step in steps]
    return Templates(
        np.array([numbers[left] for left, _ in steps], dtype=np.int64),
        np.array([numbers[right] for _, right in steps], dtype=np.int64),
        np.searchsorted(levels, np.arange(1, max(levels, default=0) + 2)),
        np.array([numbers[feature] for feature in features], dtype=np.int64),
    )


@kernel
def values_of(templates: Templates, atoms: int) -> Values:
    """Make room for the values of templates with `atoms` atoms."""
    steps = templates.left.size
    return Values(
        np.zeros(atoms + steps, dtype=np.uint64),
        np.empty(steps, dtype=np.uint64),
        np.empty(steps, dtype=np.uint64),
    )


@indexing_kernel
def fill(templates: Templates, room: Values, places: int, features: np.ndarray, first: int) -> None:
    """Compute the places of features in a table of weights. O(steps + features).

    The first values of `room` are the atoms. `places` is the number of places, a power of two.
    `features`, uint64, is written from `first` to its end, by the first templates.
    """
    values, left, right = room
    atoms = values.size - left.size
    for level in range(templates.levels.size - 1):
        start, stop = templates.levels[level], templates.levels[level + 1]
        for i in range(start, stop):  # copied, so that the next loop is vectorized
            left[i] = values[templates.left[i]]
            right[i] = values[templates.right[i]]
        for i in range(start, stop):
            values[atoms + i] = mix(left[i], right[i])
    for i in range(first, features.size):
        features[i] = values[templates.features[i - first]]
    for i in range(first, features.size):
        features[i] = mix(features[i], np.uint64(i)) & np.uint64(places - 1)


#: The number of places for features of raw text: a power of two.
PLACES: Final = 1 << 20
#: The gold answers for a call that learns nothing.
NO_GOLD: Final = np.zeros(0, dtype=np.bool_)
# The size of the first step, chosen on the dev set of English-EWT.
_RATE: Final = np.float32(0.2)
# Smaller gradients are skipped, to save time: their effect is small.
_NEGLIGIBLE: Final = np.float32(0.003)
_FIRST_SQUARE: Final = np.float32(0.1)
#: The table of a `Learned` for a kernel that must not learn.
NOTHING: Final = np.empty((2, 0), np.float32)
#: The unit of int8 weights: a weight of 1 is stored as 10.
UNIT: Final = np.float32(0.1)
_LONGEST_GAP: Final = 255
_ARRAYS: Final = {
    "gaps": scheme.Array((np.uint8,), ("weights",)),
    "weights": scheme.Array((np.int8,), ("weights",)),
}


@inlined_kernel
def descend(
    # weights, squares: float32: changed at `at`. `squares` has the sums of the squared gradients so
    # far, above 0; a weight whose square is infinite does not change.
    weights: np.ndarray,
    squares: np.ndarray,
    at: int,
    gradient: np.float32,
    # rate, penalty: the size of the first step; the shrinkage of a weight in a step of size 1
    rate: np.float32,
    penalty: np.float32,
) -> None:
    """Move one weight against its gradient: AdaGrad with an L1 penalty. O(1)."""
    squares[at] += gradient * gradient
    step = rate / np.sqrt(squares[at])
    weight = weights[at] - step * gradient
    shrunk = max(abs(weight) - step * penalty, np.float32(0))
    weights[at] = shrunk if weight > 0 else -shrunk


@kernel
def total(weights: np.ndarray, places: np.ndarray) -> float:
    """Return the score of the only class, from int8 or float32 weights."""
    score = 0.0
    for place in places:
        score += weights[place]
    return score


@kernel
def best_class(
    weights: np.ndarray, places: np.ndarray, classes: np.ndarray, scores: np.ndarray
) -> int:
    """Write the score of each of `classes` into `scores`; return the index of the best."""
    if classes.size == scores.size:  # all: their weights are adjacent, so the loop is vectorized
        scores[:] = 0
        for place in places:
            for class_ in range(np.uint64(scores.size)):
                scores[class_] += weights[place + class_]
    else:
        for k in range(classes.size):
            score = scores.dtype.type(0)
            for place in places:
                score += weights[place + classes[k]]
            scores[k] = score
    best = 0
    for k in range(1, classes.size):
        if scores[k] > scores[best]:
            best = k
    return best


@kernel
def to_probabilities(scores: np.ndarray, highest: float) -> None:
    """Apply softmax in place, in the precision of the scores."""
    partition = scores.dtype.type(0)
    for k in range(scores.size):
        scores[k] = np.exp(scores[k] - highest)
        partition += scores[k]
    for k in range(scores.size):
        scores[k] /= partition


@kernel
def learn(
    learned: np.ndarray,  # float32 (2, size): the table of `Learned`. Changed.
    places: np.ndarray,  # uint64: the places of the features
    class_: np.uint64,
    probability: float,  # the probability of the class
    right: bool,
    penalty: np.float32,  # as for `descend`
) -> None:
    """Move the weights of a class towards the answer `right` (see `descend`)."""
    gradient = np.float32(probability - right)
    if abs(gradient) >= _NEGLIGIBLE:
        weights, squares = learned[0], learned[1]
        for place in places:
            descend(weights, squares, place + class_, gradient, _RATE, penalty)


@kernel
def learn_only(
    learned: np.ndarray, places: np.ndarray, score: float, right: bool, penalty: np.float32
) -> None:
    """Do the work of `learn` for the only class, from its score."""
    learn(learned, places, np.uint64(0), 1 / (1 + np.exp(-score)), right, penalty)


class Learned:
    """A float32 table (2, size) during learning: weights, and the squares that `descend` needs."""

    def __init__(self, size: int) -> None:
        self.table = np.zeros((2, size), dtype=np.float32)
        self.weights, self.squares = self.table
        self.squares[:] = _FIRST_SQUARE

    def prune(self, smallest: float = 0.1) -> None:
        """Set small weights to 0 and keep them there; later training adapts the other weights."""
        small = np.abs(self.weights) < smallest
        self.weights[small] = 0
        self.squares[small] = np.inf

    def in_bytes(self) -> NDArray[np.int8]:
        """Round the weights to int8, as model files store them."""
        rounded: NDArray[np.int8] = np.rint(self.weights / UNIT).clip(-127, 127).astype(np.int8)
        return rounded


def pack(weights: NDArray[np.int8]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model file: the nonzero weights, and the gaps between them."""
    places = np.flatnonzero(weights)
    gaps = np.diff(places, prepend=-1)
    # A gap that does not fit into a byte is split by stored weights of 0.
    bridges = (gaps - 1) // _LONGEST_GAP
    ends = np.cumsum(bridges + 1) - 1
    short_gaps = np.full(places.size + int(bridges.sum()), _LONGEST_GAP, dtype=np.uint8)
    short_gaps[ends] = gaps - bridges * _LONGEST_GAP
    values = np.zeros(short_gaps.size, dtype=np.int8)
    values[ends] = weights[places]
    return {"gaps": short_gaps, "weights": values}


def sums(gaps: NDArray[Any]) -> NDArray[np.int64]:
    """Return the sums of the first gaps, of the first two, and so on; fast for a narrow type."""
    wide = gaps.astype(np.int64)  # in place: NumPy would convert small pieces, which takes long
    return np.cumsum(wide, out=wide)


def unpack(arrays: Mapping[str, NDArray[Any]], size: int) -> NDArray[np.int8]:
    """Make a table of `size` weights from the arrays of `pack`; ModelError if they are invalid."""
    kept = scheme.arrays_of(arrays, _ARRAYS, {})
    weights, places = np.zeros(size, dtype=np.int8), sums(kept["gaps"])
    places -= 1
    if places.size and not 0 <= places[0] <= places[-1] < size:
        raise ModelError("the gaps between weights reach beyond the table")
    weights[places] = kept["weights"]
    return weights
