"""Feature templates, hashed by tabulation hashing (Zobrist 1970).

A template such as ``h:w,p d:p`` lists the parts of a feature: here the form and tag of the head and
the tag of the dependent. Templates are data. The part for one word, such as ``w,p``, is a *side*.
All distinct sides are hashed once for each word of a sentence (`hash_sides`). A feature is the
exclusive or of the side hashes of its words, each rotated by an amount that depends on the word's
role, so that equal sides of head and dependent do not cancel. This is tabulation hashing (Zobrist
1970): one exclusive or for each word of a feature, and no multiplication.

===== =========================================================
field meaning
===== =========================================================
w     form, ASCII letters in lower case
l     lemma; without a lemma, the form (w)
p     UPOS
x     XPOS
m     FEATS
s     the last three characters of the form
c     kinds of characters in the form (`features.shape`)
===== =========================================================

A field may be followed by an offset: ``p-1`` is the tag of the word before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared.scheme import COLUMNS
from arborescence.treebank.joined import Joined
from arborescence.treebank.sentence import FEATS, FORM, LEMMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence

#: The hash of a missing value (``_`` in any column except FORM).
MISSING: Final = np.uint64(0)

_LOWER_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIER = np.uint64(0xCC9E2D51)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_CASE_BIT = np.uint8(0x20)


@kernel
def _step(state: np.uint64) -> np.uint64:
    return (state & _LOWER_HALF) * _MULTIPLIER + (state >> _HALF)


@kernel
def mix(first: np.uint64, second: np.uint64) -> np.uint64:
    """Combine two uint64 hashes into one; order matters, and each bit depends on all bits."""
    state = _step(_step(first ^ _SEED) ^ second)
    state = _step(state ^ (state >> np.uint64(29)))
    state = _step(state ^ (state >> np.uint64(31)))
    return state ^ (state >> np.uint64(32))


@kernel
@takes("uint8[::1], int64, int64, bool")
def hash_bytes(raw: np.ndarray, start: int, stop: int, fold: bool) -> np.uint64:
    """Hash ``raw[start:stop]`` (uint8); with `fold`, ASCII letters count as lower case."""
    state = _SEED
    for i in range(start, stop):
        byte = raw[i]
        if fold and 65 <= byte <= 90:
            byte = byte | _CASE_BIT
        state = _step(state ^ byte)
    return mix(state, np.uint64(stop - start))


@kernel
def prefix_stop(raw: np.ndarray, start: int, stop: int, characters: int) -> int:
    """Return the end of the first `characters` characters of the UTF-8 text ``raw[start:stop]``."""
    i = start
    while i < stop:
        if raw[i] & 0xC0 != 0x80:  # the first byte of a character
            if characters == 0:
                break
            characters -= 1
        i += 1
    return i


@kernel
def suffix_start(raw: np.ndarray, start: int, stop: int, characters: int) -> int:
    """Return the start of the last `characters` characters of the UTF-8 ``raw[start:stop]``."""
    i = stop
    while i > start and characters > 0:
        i -= 1
        if raw[i] & 0xC0 != 0x80:
            characters -= 1
    return i


@kernel
def shape(raw: np.ndarray, start: int, stop: int) -> np.uint64:
    """Return the kinds of characters in ``raw[start:stop]``, as a uint64 of seven bits.

    Bit 0: the first character is an ASCII capital; 1: a later character is; 2: an ASCII lower-case
    letter; 3: a digit; 4: a hyphen; 5: any other ASCII character; 6: a character beyond ASCII.
    """
    bits = 0
    for i in range(start, stop):
        byte = raw[i]
        if 65 <= byte <= 90:
            bits |= 1 if i == start else 2
        elif 97 <= byte <= 122:
            bits |= 4
        elif 48 <= byte <= 57:
            bits |= 8
        elif byte == 45:
            bits |= 16
        elif byte < 128:
            bits |= 32
        else:
            bits |= 64
    return np.uint64(bits)


#: The largest number of tags with their own numbers; all other tags share a number.
MAX_TAGS: Final = 62

_FIELDS: Final = "wlpxmsc"
_TAG = 2
_UNDERSCORE = ord("_")
_ROOT = np.uint64(0x243F6A8885A308D3)
_OUTSIDE = np.uint64(0x13198A2E03707344)


def usable(templates: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the templates that use only `columns`."""
    fields = {field for column in columns for field in COLUMNS[column]}
    return [t for t in templates if fields.issuperset(re.findall(r"[:,](\w)", t))]


def split_template(template: str) -> dict[str, str]:
    """Split a template into roles and their sides."""
    return {role: side for role, _, side in (part.partition(":") for part in template.split())}


def numbered(
    templates: Iterable[str], roles: str, columns: Iterable[str], sides: list[str]
) -> NDArray[np.int64]:
    """Return the side of each role in T templates, as an index of `sides`, or -1: (T, K).

    New sides are added to `sides`.
    """
    rows = []
    for template in map(split_template, usable(templates, columns)):
        sides += dict.fromkeys(side for side in template.values() if side not in sides)
        rows.append([sides.index(template[role]) if role in template else -1 for role in roles])
    return np.array(rows, dtype=np.int64).reshape(-1, len(roles))


class Sides(NamedTuple):
    """The sides to hash, as arrays for `hash_sides`."""

    #: (S,): the hash of each side's name.
    seeds: NDArray[np.uint64]
    #: (S, K, 2): field and offset of each part; the field is -1 after the last part.
    parts: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Make the arrays for sides given by name, such as ``["w,p", "p-1,p"]``."""
        split = [name.split(",") for name in names]
        parts = np.full((len(names), max(map(len, split)), 2), -1, dtype=np.int64)
        seeds = np.empty(len(names), dtype=np.uint64)
        for s, (name, atoms) in enumerate(zip(names, split, strict=True)):
            spelling = np.frombuffer(name.encode(), dtype=np.uint8)
            seeds[s] = hash_bytes(spelling, 0, len(spelling), False)
            for k, atom in enumerate(atoms):
                parts[s, k] = _FIELDS.index(atom[0]), int(atom[1:] or 0)
        return cls(seeds, parts)


class Batch(NamedTuple):
    """Hashed sentences: the nodes of all sentences in a row, each with its root first."""

    #: (B + 1,): sentence b has the nodes ``starts[b]`` to ``starts[b + 1] - 1``.
    starts: NDArray[np.int64]
    #: (N + 1, S): the hashed sides of each node; the last row stands for a missing node.
    sides: NDArray[np.uint64]
    #: (N,): the numbers of UPOS tags: 0 is the root, the last number an unknown tag.
    tags: NDArray[np.uint8]

    @classmethod
    def of(
        cls, sentences: Sequence[Sentence], sides: Sides, known_tags: NDArray[np.uint64]
    ) -> Self:
        """Hash the words of sentences; `known_tags` are sorted hashes of UPOS tags."""
        starts, fields = _hashed(Joined.of(sentences))
        hashed = np.empty((len(fields), len(sides.seeds)), dtype=np.uint64)
        hash_sides(fields, starts, sides, hashed)
        own = fields[:-1, _TAG]
        after = np.searchsorted(known_tags, own, side="right")
        is_known = after > np.searchsorted(known_tags, own)
        tags = np.where(is_known, after, len(known_tags) + 1).astype(np.uint8)
        tags[starts[:-1]] = 0
        return cls(starts, hashed, tags)

    def part(self, starts: NDArray[np.int64], nodes: NDArray[np.int64]) -> Self:
        """Return the batch of some of the sentences, with their nodes and new `starts`."""
        return type(self)(starts, self.sides[[*nodes, -1]], self.tags[nodes])


#: `Batch` in signatures of kernels.
BATCH: Final = "parsers.shared.features.Batch(int64[::1], uint64[:, ::1], uint8[::1])"


def tags_of(sentences: Sequence[Sentence]) -> NDArray[np.uint64]:
    """Return the sorted hashes of the `MAX_TAGS` most frequent UPOS tags."""
    starts, fields = _hashed(Joined.of(sentences))
    of_words = np.delete(fields[:-1, _TAG], starts[:-1])
    tags, counts = np.unique(of_words, return_counts=True)
    frequent = np.sort(np.argsort(-counts, kind="stable")[:MAX_TAGS])
    return tags[frequent]


def _hashed(joined: Joined) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the `starts` of a `Batch`, and the fields of its nodes, (N + 1, 7)."""
    starts = joined.offsets + np.arange(len(joined.offsets))
    fields = np.empty((int(starts[-1]) + 1, len(_FIELDS)), dtype=np.uint64)
    # One call for all sentences: each call needs the interpreter's lock, and other threads wait.
    hash_words(joined.raw, joined.places, joined.spans, starts, fields)
    fields[-1] = _OUTSIDE
    return starts, fields


@kernel
@takes("uint8[::1], int64[::1], int32[:, ::1], int64[::1], out uint64[:, ::1]")
def hash_words(
    raw: np.ndarray, places: np.ndarray, spans: np.ndarray, starts: np.ndarray, fields: np.ndarray
) -> None:
    """Hash the fields of every node of all sentences: of each root, then of its words.

    One multiplication for each byte. `raw`, `places` and `spans` are as in `Joined`; `starts`,
    int64 (B + 1,), as in `Batch`. `fields`, uint64 (N + 1, 7), is written, except the last row. The
    value ``_`` becomes `MISSING`, except in FORM.
    """
    for b in range(len(starts) - 1):
        text = raw[places[b] : places[b + 1]]
        fields[starts[b]] = _ROOT
        for i in range(starts[b], starts[b + 1] - 1):
            span, word = spans[i - b], fields[i + 1]
            start, stop = span[FORM], span[FORM + 1] - 1
            word[0] = hash_bytes(text, start, stop, True)
            for column in range(LEMMA, FEATS + 1):
                first, end = span[column], span[column + 1] - 1
                is_missing = end - first == 1 and text[first] == _UNDERSCORE
                word[column - 1] = MISSING if is_missing else hash_bytes(text, first, end, False)
            if word[1] == MISSING:
                word[1] = word[0]
            word[5] = hash_bytes(text, suffix_start(text, start, stop, 3), stop, True)
            word[6] = mix(_OUTSIDE, shape(text, start, stop))


@kernel
@takes(
    "uint64[:, ::1], int64[::1], parsers.shared.features.Sides(uint64[::1], int64[:, :, ::1]), "
    "out uint64[:, ::1]"
)
def hash_sides(fields: np.ndarray, starts: np.ndarray, sides: Sides, out: np.ndarray) -> None:
    """Hash every side of every node; at most K mixes for a side.

    `fields`, uint64 (N + 1, 7), is from `hash_words`; its last row stands for a missing node, also
    for a node beyond an end of the sentence. `starts`, int64 (B + 1,), is as in `Batch`. `out`,
    uint64 (N + 1, S), is written.
    """
    seeds, parts = sides
    absent = fields.shape[0] - 1
    for b in range(len(starts)):
        first = starts[b]
        stop = starts[b + 1] if b + 1 < len(starts) else absent + 1
        for i in range(first, stop):
            for s in range(len(seeds)):
                value = seeds[s]
                for k in range(parts.shape[1]):
                    field = parts[s, k, 0]
                    if field < 0:
                        break
                    j = i + parts[s, k, 1]
                    value = mix(value, fields[j if first <= j < stop else absent, field])
                out[i, s] = value


@kernel
def rotate(value: np.uint64, bits: int) -> np.uint64:
    """Rotate a uint64 to the left by 1 to 63 bits."""
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))
