"""Hashed features of whole trees, for the reranker; a first-order parser cannot use them.

As in `shared.features`, templates are data: ``h:p d:p,R p:R`` is the tag of the head, tag and
relation of the dependent, and the relation of the sibling before it. Lower-case letters are fields
of words, hashed once per sentence. Capitals are fields of a word in a tree, hashed once per tree:

===== ===================================================================
field meaning
===== ===================================================================
R     the relation to the head
I     the side of the head on which the word is
O     the side, and the distance from the head
K     whether the edge is crossed by the edge of a word in between
V     the valency: the numbers of the word's children on the left and right
F     the frame: the relations of the children, in order
T     the tags of the children, in order
Z     the size of the subtree, with the word itself, in bins
===== ===================================================================

==== =================================================
role word
==== =================================================
d    the word itself
h    its head
g    the head of its head
l, r its first and its last child
p, n the children of its head before and after it
q    the child of its head before p
a    the head of g
u    the child of g before h
==== =================================================

Every word of a tree gives one feature for each template: the exclusive or of the hashes of its
fields, each rotated by an amount that depends on the role. A *part* is a word with the values of
all fields that the templates use. The trees of a k-best list share most of their parts, and the
features of each distinct part are computed once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared.features import BATCH, mix, rotate, split_template, usable
from arborescence.parsers.shared.relations import (
    RELATION_TEMPLATES,
    RelationTemplates,
    find_relatives,
    mix_sides,
)
from arborescence.parsers.shared.relations import ROLES as NEAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.reranker.lists import KBestLists
    from arborescence.parsers.shared.features import Batch

#: The roles, in the order of their numbers.
ROLES: Final = NEAR + "qau"
#: The fields of a word in a tree, in the order of the columns.
FIELDS: Final = "RIOKVFTZ"
#: The templates, in groups: each group adds the named information to `edges`.
TEMPLATES: Final = {
    "edges": [
        "d:p,R,O h:p", "d:w,R h:w", "d:p,R h:l", "d:l,R h:p", "d:p,R,I h:p", "d:p,R,K h:p",
        "d:K", "d:R,K", "d:x,m,R h:x,m",
    ],
    "grandparents": [
        "d:p,I h:p,I g:p", "d:p,R h:p,R g:p", "d:R h:R g:p", "d:w h:p g:p", "d:p h:w g:p",
        "d:p h:p g:w", "d:l,R h:p,R g:l", "d:p,R h:p,R g:p,R a:p", "d:R h:l,R",
    ],
    "siblings": [
        "d:p,I h:p p:p,I", "d:p,R h:p p:p,R", "d:R p:R h:l", "d:w p:p h:p", "d:p p:w h:p",
        "d:w p:w", "d:R,I p:R,I", "d:p,R h:p p:p,R q:p,R", "d:R p:R q:R h:l", "d:p n:p h:p",
        "d:p,R h:p,R p:p,R g:p", "d:p h:p,R u:p,R g:p",
    ],
    "valency": [
        "d:p,V", "d:w,V", "d:p,R,V", "d:p,F", "d:l,F", "d:p,R,F", "d:p,T", "d:w,p,T",
        "d:p,V h:p,I", "d:p,T h:p,I",
    ],
    "sizes": ["d:p,Z", "d:R,Z", "d:p,R,Z h:p,I", "d:Z p:Z h:p"],
}  # fmt: skip

_R, _I, _O, _K, _V, _F, _T, _Z = range(len(FIELDS))
_WORD: Final = len(FIELDS)  # the column with the hash of the word's number
_SIDES: Final = _WORD + 1  # the first column of sides
_ROLES: Final = len(ROLES)
_TURN: Final = 6  # the rotation from a role to the next
_SEEDS = np.array(
    [
        0x452821E638D01377, 0xBE5466CF34E90C6C, 0xC0AC29B7C97C50DD, 0xB8E1AFED6A267E96,
        0x3F84D5B5B5470917, 0x9216D5D98979FB1B, 0xD1310BA698DFB5AC, 0x2FFD72DBD01ADFB7,
        0x6A267E96BA7C9045,
    ],
    dtype=np.uint64,
)  # fmt: skip
_HEAD = np.uint64(0xBA7C9045F12C7F99)  # marks the head's position among its children
_NOBODY = np.uint64(0x24A19947B3916CF7)  # the fields of a missing word


class TreeTemplates(NamedTuple):
    """The fields and roles of each feature template."""

    #: The role and the column of each field, (T, P). The columns are those of `hash_tree`, then the
    #: sides of words, the tag first.
    looks: RelationTemplates
    #: (S, 2): the role and the column of each field that identifies a part: all fields in `looks`,
    #: and the hash of the word's number where a side is used.
    seen: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        columns: Iterable[str],
        sides: list[str],
        templates: Mapping[str, list[str]] = TEMPLATES,
    ) -> Self:
        """Compile the templates that use only `columns`; write their sides to `sides`."""
        sides[:] = ["p"]
        used: list[list[tuple[str, str]]] = []
        for name in (name for group in templates.values() for name in group):
            looks: list[tuple[str, str]] = []
            for role, spelled in split_template(name).items():
                atoms = spelled.split(",")
                side = ",".join(atom for atom in atoms if atom not in FIELDS)
                looks += [(role, side)] if side else []
                looks += [(role, atom) for atom in atoms if atom in FIELDS]
            of_words = {role: part for role, part in looks if part not in FIELDS}
            if usable([" ".join(f"{role}:{side}" for role, side in of_words.items())], columns):
                used.append(looks)
                sides += [side for side in dict.fromkeys(of_words.values()) if side not in sides]
        numbers = {part: number for number, part in enumerate((*FIELDS, "", *sides))}
        roles, columns = np.full((2, len(used), max(map(len, used))), -1, dtype=np.int64)
        seen = set()
        for t, looks in enumerate(used):
            for k, (role, part) in enumerate(looks):
                roles[t, k], columns[t, k] = ROLES.index(role), numbers[part]
                seen.add((ROLES.index(role), min(numbers[part], _WORD)))
        return cls(RelationTemplates(roles, columns), np.array(sorted(seen)))


class Workspace(NamedTuple):
    """Buffers for the trees of one k-best list."""

    #: The relatives of one tree's words: see `hash_tree`.
    relatives: NDArray[np.int64]
    #: The numbers of children of one tree's words, and the sizes of their subtrees.
    counts: NDArray[np.int64]
    #: The hashed fields of one tree's words.
    fields: NDArray[np.uint64]
    #: (K, N): a hash that identifies each part.
    signs: NDArray[np.uint64]
    #: (K, N): the number of the part of each word of each tree.
    parts: NDArray[np.int32]
    #: (K N, T): the rows of weights of each part.
    rows: NDArray[np.int32]
    #: (K N,): a sum for each part.
    sums: NDArray[np.float32]

    @classmethod
    def of(cls, batch: Batch, lists: KBestLists, templates: TreeTemplates) -> Self:
        """Allocate buffers that are large enough for every list."""
        nodes = int(np.diff(batch.starts).max(initial=1))
        trees = int(np.diff(lists.firsts).max(initial=0))
        return cls(
            relatives=np.empty((nodes, _ROLES), dtype=np.int64),
            counts=np.empty((nodes, 3), dtype=np.int64),
            fields=np.empty((nodes + 1, _SIDES + batch.sides.shape[1]), dtype=np.uint64),
            signs=np.empty((trees, nodes), dtype=np.uint64),
            parts=np.empty((trees, nodes), dtype=np.int32),
            rows=np.empty((trees * nodes, len(templates.looks.roles)), dtype=np.int32),
            sums=np.empty(trees * nodes, dtype=np.float32),
        )


#: In signatures of kernels: sentences, their k-best lists and the templates of features.
LISTS: Final = (
    f"{BATCH}, parsers.reranker.lists.KBestLists("
    "int64[::1], int64[::1], int32[::1], uint64[::1], float64[::1], int64[:, ::1]), "
    f"parsers.reranker.features.TreeTemplates({RELATION_TEMPLATES}, int64[:, ::1])"
)
#: `Workspace` in signatures of kernels.
WORKSPACE: Final = (
    "parsers.reranker.features.Workspace(out int64[:, ::1], out int64[:, ::1], "
    "out uint64[:, ::1], out uint64[:, ::1], out int32[:, ::1], out int32[:, ::1], "
    "out float32[::1])"
)


@kernel
def hash_tree(
    heads: np.ndarray,  # whole numbers, (n + 1,): a head vector
    relations: np.ndarray,  # uint64 (n + 1,): a hash of the relation of each node
    # written: int64 (n + 1, 10), the word in each role, -1 for no word; row 0 is undefined
    relatives: np.ndarray,
    # written: int64 (n + 1, 3), each node's number of children on its left and right, and the size
    # of its subtree
    counts: np.ndarray,
    # uint64 (n + 2, 9 + W): the fields of each node and a hash of its number (written), then the
    # sides of the node, the tag first; the last row is for a missing word
    fields: np.ndarray,
) -> None:
    """Find the relatives of each word in a tree, and hash its tree fields. O(n²), usually O(n)."""
    nodes = len(heads)
    find_relatives(heads, relatives[:, :7])
    counts[:nodes, :2] = 0
    counts[:nodes, 2] = 1
    for node in range(nodes):
        fields[node, _F] = _SEEDS[_F]
        fields[node, _T] = _SEEDS[_T]
    for d in range(1, nodes):
        h = heads[d]
        g = relatives[d, 2]
        p = relatives[d, 5]
        relatives[d, 7] = relatives[p, 5] if p > 0 else -1
        relatives[d, 8] = heads[g] if g > 0 else -1
        relatives[d, 9] = relatives[h, 5] if h > 0 else -1
        counts[h, 0 if d < h else 1] += 1
        if p < h < d:
            fields[h, _F] = mix(fields[h, _F], _HEAD)
            fields[h, _T] = mix(fields[h, _T], _HEAD)
        fields[h, _F] = mix(fields[h, _F], relations[d])
        fields[h, _T] = mix(fields[h, _T], fields[d, _SIDES])
        while h >= 0:
            counts[h, 2] += 1
            h = heads[h]
    for d in range(nodes):
        h = heads[d]
        side = 2 if h <= 0 else 1 if h < d else 0
        distance = binned(abs(h - d)) if h > 0 else 0
        valency = 8 * min(counts[d, 0], 7) + min(counts[d, 1], 7)
        fields[d, _R] = mix(_SEEDS[_R], relations[d])
        fields[d, _I] = mix(_SEEDS[_I], np.uint64(side))
        fields[d, _O] = mix(_SEEDS[_O], np.uint64(8 * side + distance))
        fields[d, _K] = mix(_SEEDS[_K], np.uint64(is_crossed(heads, d)))
        fields[d, _V] = mix(_SEEDS[_V], np.uint64(valency))
        fields[d, _Z] = mix(_SEEDS[_Z], np.uint64(binned(counts[d, 2])))
        fields[d, _WORD] = mix(_SEEDS[_WORD], np.uint64(d))
    for field in range(_WORD + 1):
        fields[nodes, field] = mix(_SEEDS[field], _NOBODY)


@kernel
def binned(length: int) -> int:
    """Return the bin of a length, from 1: 1, 2, 3, 4-5, 6-8, 9-13, more."""
    return (
        1 + (length > 1) + (length > 2) + (length > 3) + (length > 5) + (length > 8) + (length > 13)
    )


@kernel
def is_crossed(heads: np.ndarray, d: int) -> bool:
    """Return whether the edge to d is crossed by the edge to a word between d and its head."""
    low = min(d, heads[d])
    high = max(d, heads[d])
    crossed = False
    for j in range(max(low, 0) + 1, high):
        crossed |= not low <= heads[j] <= high
    return crossed


@kernel
def find_parts(
    batch: Batch,
    lists: KBestLists,
    b: int,
    templates: TreeTemplates,
    mask: np.uint64,
    work: Workspace,
) -> int:
    """Find and count the distinct parts of a k-best list's trees, and hash their features.

    O(k n), and O(T) for each distinct part. At most k comparisons for each word of a tree; usually
    the previous tree has the same part, so one comparison is enough. `b` is the number of the
    sentence, and `mask` is the number of weights - 1. In `work`, `signs`, `parts` and the first of
    `rows` are written.
    """
    start = batch.starts[b]
    nodes = batch.starts[b + 1] - start
    relatives = work.relatives[:nodes]
    counts = work.counts[:nodes]
    fields = work.fields[: nodes + 1]
    for side in range(batch.sides.shape[1]):
        for node in range(nodes):
            fields[node, _SIDES + side] = batch.sides[start + node, side]
        fields[nodes, _SIDES + side] = batch.sides[-1, side]
    first = lists.firsts[b]
    count, nothing = 0, np.uint64(0)
    for i in range(lists.firsts[b + 1] - first):
        place = lists.places[b] + i * nodes
        heads = lists.heads[place : place + nodes]
        hash_tree(heads, lists.relations[place : place + nodes], relatives, counts, fields)
        for d in range(1, nodes):
            sign = nothing
            for k in range(len(templates.seen)):
                role = templates.seen[k, 0]
                node = relatives[d, role]
                field = fields[node if node >= 0 else nodes, templates.seen[k, 1]]
                sign ^= rotate(field, 1 + _TURN * role)
            work.signs[i, d] = sign
            part = -1
            for j in range(i - 1, -1, -1):
                if work.signs[j, d] == sign:
                    part = work.parts[j, d]
                    break
            if part < 0:
                part = count
                count += 1
                rows = work.rows[part]
                mix_sides(fields, 0, relatives[d], templates.looks, _TURN, nothing, mask, rows)
            work.parts[i, d] = part
    return count


@kernel
def score_list(
    weights: np.ndarray,  # float32; their number is a power of two
    # count, nodes, work: the number of parts and of nodes, and the output of `find_parts`
    count: int,
    nodes: int,
    work: Workspace,
    out: np.ndarray,  # written: float64 (m,)
) -> None:
    """Sum the weights of the features of each tree of a list."""
    for part in range(count):
        total = np.float32(0)
        for row in work.rows[part]:
            total += weights[row]
        work.sums[part] = total
    for i in range(len(out)):
        out[i] = 0
        for d in range(1, nodes):
            out[i] += work.sums[work.parts[i, d]]


@kernel
@takes(f"{LISTS}, float32[::1], {WORKSPACE}, out float64[::1]")
def score_lists(
    batch: Batch,
    lists: KBestLists,
    templates: TreeTemplates,
    weights: np.ndarray,
    work: Workspace,
    out: np.ndarray,
) -> None:
    """Sum the weights of the features of every tree; `out` is written: float64 (C,)."""
    mask = np.uint64(len(weights) - 1)
    for b in range(len(batch.starts) - 1):
        count = find_parts(batch, lists, b, templates, mask, work)
        nodes = batch.starts[b + 1] - batch.starts[b]
        score_list(weights, count, nodes, work, out[lists.firsts[b] : lists.firsts[b + 1]])
