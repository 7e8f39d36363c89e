"""Relations of the edges of a tree, by a linear classifier with hashed features.

There are R rows of L weights, one weight for each relation. A feature is hashed to a row. The whole
tree is known, so features can use more than the two words of the edge.

==== ==========================================
role word
==== ==========================================
h    the head
d    the dependent
g    the head of the head
l, r the first and the last child of d
p, n the neighbours of d among the children of h
==== ==========================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes, uncounted_kernel
from arborescence.parsers.shared.features import BATCH, numbered, rotate, split_template

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from arborescence.parsers.shared.features import Batch

#: The roles by number.
ROLES: Final = "dhglrpn"
_TURN = 9  # the rotation from a role to the next
_DIRECTIONS = np.array(
    [0x452821E638D01377, 0xBE5466CF34E90C6C, 0xC0AC29B7C97C50DD], dtype=np.uint64
)
TEMPLATES: Final = [
    "d:w,p", "d:l", "d:s", "d:x", "d:p-1,p,p+1", "d:w-1,p", "d:p,w+1",
    "h:p d:w,p", "h:w,p d:p", "h:p d:p", "h:l d:l", "h:x d:x,m", "h:p,m d:p,m", "h:l d:x",
    "h:p d:s", "h:p,p+1 d:p-1,p",
    "d:p l:w", "d:p l:p r:p", "h:p d:p l:w", "h:p d:p l:p", "h:p d:p r:p", "h:p d:p r:w",
    "d:l l:l", "h:p d:p g:p", "h:p d:p p:p n:p", "h:l d:x p:w",
]  # fmt: skip


class RelationTemplates(NamedTuple):
    """The templates of the features of an edge in its tree: each lists roles, and their sides."""

    #: (T, K): the roles of each template, as positions in ``"dhglrpn"`` (-1 after the last).
    roles: NDArray[np.int64]
    #: (T, K): the side of each role.
    sides: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Iterable[str], sides: list[str], words: str = ROLES) -> Self:
        """Make the arrays of templates that use only `columns` and the roles `words`.

        New sides are added to `sides`.
        """
        templates = [each for each in TEMPLATES if set(split_template(each)) <= set(words)]
        numbers = numbered(templates, ROLES, columns, sides)
        most = (numbers >= 0).sum(axis=1).max()
        roles = np.argsort(numbers < 0, axis=1, kind="stable")[:, :most]
        numbers = np.take_along_axis(numbers, roles, axis=1)
        return cls(np.where(numbers < 0, -1, roles), numbers)


class RelationModel(NamedTuple):
    """The model of relation scores."""

    #: The templates of the features.
    templates: RelationTemplates
    #: (R, L): float32 or integers; R is a power of two.
    weights: NDArray[Any]
    #: (2, L): the relations allowed on edges from the root, and on other edges.
    allowed: NDArray[np.bool_]


#: In signatures of kernels: `RelationTemplates`, and `RelationModel` with the weights of a parser,
#: or with weights that training changes.
RELATION_TEMPLATES: Final = (
    "parsers.shared.relations.RelationTemplates(int64[:, ::1], int64[:, ::1])"
)
RELATIONS: Final = (
    f"parsers.shared.relations.RelationModel({RELATION_TEMPLATES}, weight[:, ::1], bool[:, ::1])"
)
LEARNED_RELATIONS: Final = RELATIONS.replace("weight", "out float32")


@kernel
def find_relatives(heads: np.ndarray, relatives: np.ndarray) -> None:
    """Find the word in each role for each edge of a tree.

    `heads`, int64 (n + 1,), is a head vector. `relatives`, int64 (n + 1, 7), is written: row d for
    the edge into d, -1 for a missing word. Row 0 is unused.
    """
    relatives[:] = -1
    last_child = np.full(len(heads), -1)
    for d in range(1, len(heads)):
        h = heads[d]
        relatives[d, 0] = d
        relatives[d, 1] = h
        relatives[d, 2] = heads[h]
        if relatives[h, 3] < 0:
            relatives[h, 3] = d
        relatives[h, 4] = d
        relatives[d, 5] = last_child[h]
        if last_child[h] >= 0:
            relatives[last_child[h], 6] = d
        last_child[h] = d


@kernel
def list_rows(
    # sides, start: ``Batch.sides``, and the first node of the sentence
    sides: np.ndarray,
    start: int,
    around: np.ndarray,  # int64 (7,): the word in each role, -1 for no word
    templates: RelationTemplates,
    mask: np.uint64,  # the number of rows - 1
    rows: np.ndarray,  # written: int64 (T,), the numbers of the rows of weights
) -> None:
    """Hash the features of one edge."""
    direction = _DIRECTIONS[2 if around[1] == 0 else 1 if around[1] < around[0] else 0]
    mix_sides(sides, start, around, templates, _TURN, direction, mask, rows)


@kernel
def mix_sides(
    sides: np.ndarray,
    start: int,
    around: np.ndarray,
    templates: RelationTemplates,
    turn: int,
    seed: np.uint64,
    mask: np.uint64,
    rows: np.ndarray,
) -> None:
    """Do the work of `list_rows` for any roles; `turn` is the rotation from a role to the next."""
    for t in range(len(rows)):
        value = seed
        for k in range(templates.roles.shape[1]):
            role = templates.roles[t, k]
            if role < 0:
                break
            node = around[role]
            side = sides[start + node if node >= 0 else len(sides) - 1, templates.sides[t, k]]
            value ^= rotate(side, 1 + turn * role)
        rows[t] = np.int64(value & mask)


@kernel
def best_relation(model: RelationModel, head: int, sums: np.ndarray) -> int:
    """Return the relation with the highest sum among the relations allowed on edges from a head."""
    allowed = model.allowed[0 if head == 0 else 1]
    best = -1
    for label in range(len(sums)):
        if allowed[label] and (best < 0 or sums[label] > sums[best]):
            best = label
    return best


@uncounted_kernel
def add_rows(rows: np.ndarray, weights: np.ndarray, sums: np.ndarray) -> None:
    """Write the sums of rows of weights to `sums`."""
    sums[:] = 0
    for t in range(len(rows)):
        row = weights[rows[t]]
        for label in range(len(row)):
            sums[label] += row[label]


@kernel
def score_relations(
    batch: Batch,
    start: int,
    around: np.ndarray,
    model: RelationModel,
    rows: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Write the score of each relation of an edge to `sums`; see also `list_rows`."""
    mask = np.uint64(model.weights.shape[0] - 1)
    list_rows(batch.sides, start, around, model.templates, mask, rows)
    add_rows(rows, model.weights, sums)


@kernel
@takes(f"{BATCH}, {RELATIONS}, int64[:, ::1], out sum[::1], out int64[:, ::1]")
def label_edges(
    batch: Batch, model: RelationModel, heads: np.ndarray, sums: np.ndarray, out: np.ndarray
) -> None:
    """Choose the relation of every edge; O(K T L) a word.

    `heads`, int64 (K, N), has the head vectors of all sentences in a row, K times; -1 if a sentence
    has fewer than K trees. `sums` is scratch memory, (L,): float32, or int32 for integer weights.
    `out`, int64 (K, N), is written, except at roots and at missing trees.
    """
    rows = np.empty(len(model.templates.roles), dtype=np.int64)
    for b in range(len(batch.starts) - 1):
        start = batch.starts[b]
        stop = batch.starts[b + 1]
        relatives = np.empty((stop - start, 7), dtype=np.int64)
        for k in range(len(heads)):
            if heads[k, stop - 1] < 0:  # the sentence has no further tree, or no words
                break
            find_relatives(heads[k, start:stop], relatives)
            for d in range(1, stop - start):
                score_relations(batch, start, relatives[d], model, rows, sums)
                out[k, start + d] = best_relation(model, relatives[d, 1], sums)


@kernel
@takes(f"{BATCH}, {RELATIONS}, float64, int64[::1], out sum[::1], out float32[:, ::1]")
def weigh_relations(
    # batch, model, sums: as for `label_edges`
    batch: Batch,
    model: RelationModel,
    unit: float,  # the factor of the relation weights
    heads: np.ndarray,  # int64 (N,): the head vectors of all sentences in a row
    sums: np.ndarray,
    out: np.ndarray,  # written: float32 (N, L), except at roots; -inf for forbidden relations
) -> None:
    """Weigh all relations of every edge; O(T L) a word."""
    rows = np.empty(len(model.templates.roles), dtype=np.int64)
    for b in range(len(batch.starts) - 1):
        start = batch.starts[b]
        stop = batch.starts[b + 1]
        if heads[stop - 1] < 0:  # no tree, or no words
            continue
        relatives = np.empty((stop - start, 7), dtype=np.int64)
        find_relatives(heads[start:stop], relatives)
        for d in range(1, stop - start):
            score_relations(batch, start, relatives[d], model, rows, sums)
            allowed = model.allowed[0 if relatives[d, 1] == 0 else 1]
            for label in range(len(sums)):
                out[start + d, label] = (
                    np.float32(sums[label] * unit) if allowed[label] else -np.inf
                )


@inlined_kernel
def move(
    weights: np.ndarray,
    averages: np.ndarray,
    rows: np.ndarray,
    column: int,
    step: float | np.float32,
    clock: int,
) -> None:
    """Change one column of some rows of weights, and their sums for averaging (`OnlineRun`)."""
    change, of_average = np.float32(step), step * np.float32(clock)
    for t in range(len(rows)):
        weights[rows[t], column] += change
        averages[rows[t], column] += of_average


@kernel
@takes(f"{BATCH}, {LEARNED_RELATIONS}, out float32[:, ::1], int64[::1], int64[::1], float64, int64")
def update_relations(
    # batch, model: `Batch` of the sentence, and `RelationModel`, with float32 weights: changed
    batch: Batch,
    model: RelationModel,
    averages: np.ndarray,  # float32 (R, L), changed: as in `edges.update_edges`
    # heads, gold: int64 (n + 1,): the gold heads and relations
    heads: np.ndarray,
    gold: np.ndarray,
    C: float,  # the largest step of MIRA, or 0 for the perceptron
    clock: int,  # the number of the update, from 1
) -> None:
    """Update the weights towards the gold relations of a sentence, word by word."""
    rows = np.empty(len(model.templates.roles), dtype=np.int64)
    sums = np.empty(model.weights.shape[1], dtype=np.float32)
    relatives = np.empty((len(heads), 7), dtype=np.int64)
    find_relatives(heads, relatives)
    for d in range(1, len(heads)):
        if gold[d] < 0:  # unknown
            continue
        score_relations(batch, batch.starts[0], relatives[d], model, rows, sums)
        sums[gold[d]] -= 1 if C > 0 else 0
        guess = best_relation(model, heads[d], sums)
        if guess == gold[d]:
            continue
        step = np.float32(1.0)
        if C > 0:
            loss = sums[guess] - sums[gold[d]]
            step = np.float32(min(C, loss / (2 * len(rows))))
        move(model.weights, averages, rows, gold[d], step, clock)
        move(model.weights, averages, rows, guess, -step, clock)
