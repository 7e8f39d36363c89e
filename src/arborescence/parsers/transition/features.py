"""Hashed features of parser states, from feature templates after Zhang and Nivre (2011).

A template such as ``a:w b:p gap`` lists properties of a state: here the form of the left word and
the tag of the right word of the edge that could be added next, and the distance of both words.
Templates are data. Each part of a template is an *atom*, which is computed once for each state, for
all templates that contain the atom. A feature is the exclusive or of its atoms, each multiplied by
its own odd number, so that equal sides of two words do not cancel.

======== ==============================================================================
name     word
======== ==============================================================================
s0-s2    from the top of the stack
n0-n2    from the front of the buffer
h, h2    after another word: its head, and the head's head
l, l2    its outermost left child, and the next
r, r2    its outermost right child, and the next
======== ==============================================================================

For a word, an atom is a side (see `shared.features`), or a property of the partial parse: ``=`` is
the relation to its head, ``<`` and ``>`` the numbers of left and right children, ``{`` and ``}``
the sets of their relations. ``gap`` is the binned distance between `a` and `b`.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel
from arborescence.parsers.shared import relations
from arborescence.parsers.shared.features import hash_bytes, usable
from arborescence.transitions import state as layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: The words that templates can use, by number.
WORDS: Final = (
    "s0", "s1", "s2", "n0", "n1", "n2", "s0h", "s0h2", "s0l", "s0l2", "s0r", "s0r2",
    "s1l", "s1l2", "s1r", "s1r2", "n0l", "n0l2",
)  # fmt: skip
#: The left and the right word of the edges that each system can add.
PAIRS: Final = {
    "arc-standard": [("s1", "s0")],
    "arc-eager": [("s0", "n0")],
    "arc-hybrid": [("s0", "n0"), ("s1", "s0")],
    "swap": [("s1", "s0")],
}
#: Templates of the two words of an edge, `a` and `b`, for each pair. Templates that use a word
#: outside `WORDS` are dropped.
EDGE: Final = [
    "a:w,p", "a:w", "a:p", "b:w,p", "b:w", "b:p", "a:l", "b:l", "a:x", "b:x", "a:p,m", "b:p,m",
    "a:s", "b:s",
    "a:w,p b:w,p", "a:w,p b:w", "a:w b:w,p", "a:w,p b:p", "a:p b:w,p", "a:w b:w", "a:p b:p",
    "a:l b:l", "a:x b:x", "a:p,m b:p,m", "a:l b:x", "a:x b:l", "a:p,m b:l", "a:l b:p,m",
    "ah:w", "ah:p", "a:=", "ah:p a:p b:p",
    "al:w", "al:p", "al:=", "ar:w", "ar:p", "ar:=", "bl:w", "bl:p", "bl:=", "br:w", "br:p", "br:=",
    "a:p al:p b:p", "a:p ar:p b:p", "a:p b:p bl:p", "a:p b:p br:p",
]  # fmt: skip
#: More templates of the two words of an edge, for the first pair only.
MORE: Final = [
    "a:w gap", "a:p gap", "b:w gap", "b:p gap", "a:w b:w gap", "a:p b:p gap",
    "a:p a:<", "a:p a:>", "b:p b:<", "b:p b:>", "a:p a:{", "a:p a:}", "b:p b:{", "b:p b:}",
    "ah2:w", "ah2:p", "ah:=", "a:p ah:p ah2:p",
    "al2:w", "al2:p", "al2:=", "ar2:w", "ar2:p", "ar2:=", "bl2:w", "bl2:p", "bl2:=",
    "br2:w", "br2:p", "br2:=",
    "a:p al:p al2:p", "a:p ar:p ar2:p", "b:p bl:p bl2:p", "b:p br:p br2:p",
]  # fmt: skip
_STACK: Final = [
    "n0:w,p", "n0:w", "n0:p", "n1:w,p", "n1:w", "n1:p", "n2:p", "s2:w,p", "s2:p",
    "s0:p n0:p", "s0:w n0:p", "s0:p n0:w", "s0:p n0:w,p", "n0:p n1:p", "s1:p n0:p",
    "s1:p s0:p n0:p", "s0:p n0:p n1:p", "s2:p s1:p s0:p", "s1:w s0:p n0:p", "s1:p s0:w n0:p",
    "s0:p,m n0:p,m", "n0:x n1:x", "s0:x n0:x", "s1:x s0:x n0:x",
    "s1:p-1,p s0:p", "s1:p,p+1 s0:p", "s1:p s0:p-1,p", "s1:p s0:p,p+1", "s1:p,p+1 s0:p-1,p",
]  # fmt: skip
_BUFFER: Final = [
    "n1:w,p", "n1:w", "n1:p", "n2:w,p", "n2:w", "n2:p", "n0:p n1:p", "n0:p n1:p n2:p",
    "n0:p n1:w", "n0:w n1:p", "s0:p n1:w", "s0:w n1:p", "s0:p n0:p n1:p",
    "s1:w,p", "s1:p", "s1:p n0:p", "s1:p s0:p n0:p", "n0:x n1:x", "s0:x n0:x n1:x",
    "s1:x s0:x n0:x",
]  # fmt: skip
#: Templates of other words.
AROUND: Final = {
    "arc-standard": _STACK,
    "arc-eager": _BUFFER,
    "arc-hybrid": [
        *_BUFFER, "s2:w,p", "s2:p", "s2:p s1:p s0:p", "s1:w s0:p n0:p", "s1:p s0:w n0:p",
    ],
    "swap": [*_STACK, "s0:w n0:w", "s1:w n0:w"],
}  # fmt: skip
#: Features with few values have 2^3 times fewer rows than the others.
FEWER: Final = 3

_KNOWN: Final = "=<>{}"
_GAPS = np.array([0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 6, 7], dtype=np.int64)
_GAP: Final = len(_KNOWN)
_MOST_CHILDREN: Final = 6
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class StateTemplates(NamedTuple):
    """The templates of a state's features, and their atoms."""

    #: (A, 2): atoms that are sides of words: the number of the word in `WORDS`, and of the side.
    sides: NDArray[np.int64]
    #: (B, 2): atoms of the partial parse: the number of the word, and of the property.
    known: NDArray[np.int64]
    #: (A + B,): the odd factor of each atom.
    odd: NDArray[np.uint64]
    #: (T, K): the atoms of each template; after the last atom, A + B, which is no atom.
    parts: NDArray[np.int64]
    #: The number of templates whose features have few values, since they use only tags and the
    #: partial parse. These templates come first in `parts`.
    small: int
    #: (2,): the two words of ``gap``.
    pair: NDArray[np.int64]

    @classmethod
    def of(cls, system: str, columns: Iterable[str], sides: list[str]) -> Self:
        """Make the arrays of a system's templates that use only `columns`; add sides to `sides`."""
        templates = [template.split() for template in usable(templates_of(system), columns)]
        large = [any(re.search("[:,][wlms]", part) for part in parts) for parts in templates]
        templates = [templates[t] for t in np.argsort(large, kind="stable")]
        atoms = sorted({part for parts in templates for part in parts}, key=_is_known)
        looked_at, known = [], []
        for atom in atoms:
            word, _, name = atom.partition(":")
            if not name:
                known.append((0, _GAP))
            elif name in _KNOWN:
                known.append((WORDS.index(word), _KNOWN.index(name)))
            else:
                if name not in sides:
                    sides.append(name)
                looked_at.append((WORDS.index(word), sides.index(name)))
        longest = max(map(len, templates))
        numbers = np.full((len(templates), longest), len(atoms), dtype=np.int64)
        for t, parts in enumerate(templates):
            numbers[t, : len(parts)] = [atoms.index(part) for part in parts]
        left, right = PAIRS[system][0]
        return cls(
            np.array(looked_at, dtype=np.int64),
            np.array(known, dtype=np.int64).reshape(-1, 2),
            np.array([_hash(atom) | 1 for atom in atoms], dtype=np.uint64),
            numbers,
            large.count(False),
            np.array([WORDS.index(left), WORDS.index(right)], dtype=np.int64),
        )


def rows_for(bits: int) -> int:
    """Return the number of rows of weights."""
    return (1 << bits) + (1 << bits - FEWER)


def templates_of(system: str) -> list[str]:
    """Return the templates of a system, without duplicates."""
    named = [
        re.sub(r"\bb(?=[hlr]?2?:)", right, re.sub(r"\ba(?=[hlr]?2?:)", left, template))
        for i, (left, right) in enumerate(PAIRS[system])
        for template in (EDGE if i else [*EDGE, *MORE])
    ]
    return [
        template
        for template in dict.fromkeys([*named, *AROUND[system]])
        if all(word in WORDS for word in re.findall(r"(\w+):", template))
        and not re.search(r"n0:[>}]", template)  # words in the buffer have no right children
    ]


def fingerprint(system: str) -> str:
    """Return a checksum of a system's templates, to reject weights for other features."""
    every = [*templates_of(system), "", *relations.TEMPLATES]
    return f"{zlib.crc32('|'.join(every).encode()):08x}"


def _is_known(atom: str) -> bool:
    return atom[-1] in _KNOWN or ":" not in atom


def _hash(name: str) -> int:
    spelling = np.frombuffer(name.encode(), dtype=np.uint8)
    return int(hash_bytes(spelling, 0, len(spelling), False))


@inlined_kernel
def _get(state: np.ndarray, row: int, word: int) -> int:
    return state[row, word] if word >= 0 else -1


@inlined_kernel
def find_words(state: np.ndarray, words: np.ndarray) -> None:
    """Find the `WORDS` of a state: int64 (18,), -1 for none."""
    size = state[layout.COUNTERS, layout.SIZE]
    front = state[layout.COUNTERS, layout.FRONT]
    end = state[layout.COUNTERS, layout.END]
    for k in range(3):
        words[k] = state[layout.STACK, size - 1 - k] if k < size else -1
        words[3 + k] = state[layout.BUFFER, front + k] if front + k < end else -1
    words[6] = _get(state, layout.HEAD, words[0])
    words[7] = _get(state, layout.HEAD, words[6])
    for k in range(2):
        words[8 + 4 * k] = _get(state, layout.LEFT1, words[k])
        words[9 + 4 * k] = _get(state, layout.LEFT2, words[k])
        words[10 + 4 * k] = _get(state, layout.RIGHT1, words[k])
        words[11 + 4 * k] = _get(state, layout.RIGHT2, words[k])
    words[16] = _get(state, layout.LEFT1, words[3])
    words[17] = _get(state, layout.LEFT2, words[3])


@inlined_kernel
def list_features(
    # sides, start: ``Batch.sides``, and the first node of the sentence
    sides: np.ndarray,
    start: int,
    state: np.ndarray,  # as in `arborescence.transitions.state`
    templates: StateTemplates,
    # there are 2^(bits - 3) rows for features with few values, then 2^bits rows for the others.
    # Features with few values are looked up most often, so their rows are close together.
    bits: int,
    # words, atoms: scratch: int64 (18,), and uint64 (A + B + 1,) whose last entry is 0
    words: np.ndarray,
    atoms: np.ndarray,
    rows: np.ndarray,  # written: int64 (T,), the numbers of the rows of weights
) -> None:
    """Hash the features of a state; O(A + B + K T)."""
    find_words(state, words)
    absent = len(sides) - 1
    few = 1 << bits - FEWER
    wide = np.uint64(64 - bits)
    count = len(templates.sides)
    for i in range(count):
        word = words[templates.sides[i, 0]]
        node = start + word if word >= 0 else absent
        atoms[i] = sides[node, templates.sides[i, 1]] * templates.odd[i]
    for i in range(len(templates.known)):
        word = words[templates.known[i, 0]]
        kind = templates.known[i, 1]
        if kind == _GAP:
            left = words[templates.pair[0]]
            right = words[templates.pair[1]]
            value = 0
            if left >= 0 and right >= 0:
                value = _GAPS[min(abs(right - left), len(_GAPS) - 1)]
        elif kind == 0:
            value = _get(state, layout.LABEL, word)
        elif kind == 1:
            value = min(_get(state, layout.LEFTS, word), _MOST_CHILDREN)
        elif kind == 2:
            value = min(_get(state, layout.RIGHTS, word), _MOST_CHILDREN)
        elif kind == 3:
            value = _get(state, layout.LEFT_SET, word)
        else:
            value = _get(state, layout.RIGHT_SET, word)
        k = count + i
        atoms[k] = (np.uint64(value + 2) * _SPREAD) * templates.odd[k]
    for t in range(len(rows)):
        feature = np.uint64(0)
        for k in range(templates.parts.shape[1]):
            feature ^= atoms[templates.parts[t, k]]
        rows[t] = np.int64(feature >> wide)
    for t in range(templates.small):
        rows[t] = rows[t] >> FEWER
    for t in range(templates.small, len(rows)):
        rows[t] += few


@inlined_kernel
def find_around(state: np.ndarray, head: int, dependent: int, around: np.ndarray) -> None:
    """Find the words in the roles of `relations` for an edge that is about to be added.

    `state` is as in `arborescence.transitions.state`. `around`, int64 (7,), is written (-1 for no
    word): the dependent, the head, the head's head, the dependent's outermost left and right child,
    and the head's outermost child so far on the dependent's side: left of the dependent if the head
    is on the left, else right of the dependent.
    """
    around[0] = dependent
    around[1] = head
    around[2] = _get(state, layout.HEAD, head)
    around[3] = state[layout.LEFT1, dependent]
    around[4] = state[layout.RIGHT1, dependent]
    around[5] = state[layout.RIGHT1, head] if head < dependent else -1
    around[6] = state[layout.LEFT1, head] if dependent < head else -1
