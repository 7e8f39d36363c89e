"""Word segmentation: a binary log-linear decision after each character, from left to right.

Its features are the characters around, the text between the two nearest spaces, and the words
before. Then `rewriting` splits multiword tokens (*du* into *de le*), with the neighbours as
context. There are no language-specific rules.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared.classifier import (
    PLACES,
    Values,
    compiled,
    fill,
    learn_only,
    total,
    values_of,
)
from arborescence.parsers.shared.features import mix
from arborescence.parsers.text.characters import (
    CHARACTERS,
    INSIDE,
    NO_GAP,
    PADDING,
    PARAGRAPH,
    Characters,
)
from arborescence.parsers.text.cut_words import is_known
from arborescence.parsers.text.rewriting import CONTEXTS, Rewriter
from arborescence.parsers.text.rules import AS_IS, STEM
from arborescence.parsers.text.sentences import FORM, GAP, OUTLINE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_ATOMS: Final = (
    "c3 c2 c1 c d d1 d2 d3 k j kj k21 j12 k21kj kjj12 k1kj kjj1 k1kjj1 k21kjj12 jj12 k21k lead "
    "after lead_shape rest_shape piece before long"
)
# The characters up to this character are c3, c2, c1, c; the characters after it are d, d1, d2, d3.
# Kinds of characters are k and j; a name of several letters is several kinds, in one number.
_TEMPLATES: Final = compiled(
    _ATOMS,
    """
    c, d, c1, d1, c2, d2, c * d, c1 * c, d * d1, c1 * d, c * d1, c2 * (c1 * c), c1 * c * d,
    c * (d * d1), d * d1 * d2, c3 * (c2 * (c1 * c)), c2 * (c1 * c) * d, c1 * c * (d * d1),
    c * (d * d1 * d2), d * d1 * d2 * d3, c2 * (c1 * c) * (d * d1), c1 * c * (d * d1 * d2),
    kj, k21kj, kjj12, k1kj, kjj1, k1kjj1, k21kjj12, c * j, k * d, c * jj12, d * k21k, c * d * j12,
    c * d * k21, lead, after, lead * after, lead_shape, rest_shape, lead_shape * rest_shape,
    lead_shape * after, lead * rest_shape, piece, piece * d, piece * after, before * piece,
    long * kj, piece * j, long * (c * d)
    """,
)
_FEATURES: Final = _TEMPLATES.features.size
_SPACE: Final = 32
_START: Final = np.uint64(0x5851F42D4C957F2D)
_LONGEST: Final = 8  # longer words share one length feature
# The L1 penalty for a step of size 1, chosen on the dev set of English-EWT.
_PENALTY: Final = np.float32(0.02)


class Stretches(NamedTuple):
    """Hashes of the text between spaces, uint64 (n,) each."""

    #: The characters from the previous space up to each character.
    lead: np.ndarray
    #: The characters from each character to the next space.
    rest: np.ndarray
    #: The kinds of the characters in `lead`, with each run of one kind counted once.
    lead_shape: np.ndarray
    #: The kinds of the characters in `rest`, with each run of one kind counted once.
    rest_shape: np.ndarray


@kernel
def stretches(text: Characters) -> Stretches:
    """Hash the text between spaces. O(n)."""
    n = text.kinds.size
    lead, rest = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    lead_shape, rest_shape = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    for i in range(n):
        _extend(text, i, i - 1, lead, lead_shape)
    for i in range(n - 1, -1, -1):
        _extend(text, i, i + 1, rest, rest_shape)
    return Stretches(lead, rest, lead_shape, rest_shape)


@kernel
def _extend(text: Characters, i: int, before: int, hashes: np.ndarray, shapes: np.ndarray) -> None:
    """Hash the text up to character `i`; the text up to `before` has been hashed."""
    kind = text.kinds[i]
    if kind == 0:
        hashes[i] = shapes[i] = _START
    else:
        hashes[i] = mix(hashes[before], np.uint64(text.folded[i]))
        shapes[i] = shapes[before]
        if kind != text.kinds[before]:
            shapes[i] = mix(shapes[before], np.uint64(kind))


@kernel
def _look(
    text: Characters,
    around: Stretches,
    i: int,
    piece: np.uint64,
    before: np.uint64,
    length: int,
    room: Values,
    places: np.ndarray,
) -> None:
    """Compute the features' places for a word end after character `i`.

    `piece` is the hash of the word so far, `length` its length, and `before` the hash of the
    previous word.
    """
    atoms = room.values
    for n in range(8):
        atoms[n] = text.folded[i - 3 + n]
    k, j = np.uint64(text.kinds[i]), np.uint64(text.kinds[i + 1])
    # Kinds are below 32: five bits each.
    five, ten = np.uint64(5), np.uint64(10)
    k1 = np.uint64(text.kinds[i - 1])
    j1 = np.uint64(text.kinds[i + 2])
    k21 = (np.uint64(text.kinds[i - 2]) << five) | k1
    j12 = (j1 << five) | np.uint64(text.kinds[i + 3])
    kj = (k << five) | j
    k1kj = (k1 << ten) | kj
    k21kj = (k21 << ten) | kj
    atoms[8], atoms[9], atoms[10], atoms[11], atoms[12] = k, j, kj, k21, j12
    atoms[13], atoms[14], atoms[15] = k21kj, (kj << ten) | j12, k1kj
    atoms[16], atoms[17] = (kj << five) | j1, (k1kj << five) | j1
    atoms[18] = (k21kj << ten) | j12
    atoms[19], atoms[20] = (j << ten) | j12, (k21 << five) | k
    atoms[21], atoms[22] = around.lead[i], around.rest[i + 1]
    atoms[23], atoms[24] = around.lead_shape[i], around.rest_shape[i + 1]
    atoms[25], atoms[26], atoms[27] = piece, before, np.uint64(min(length, _LONGEST))
    fill(_TEMPLATES, room, PLACES, places, 0)


@kernel
@takes(f"{CHARACTERS}, bool, weight[::1], out bool[::1], bool[::1], out float32[:, ::1]")
def cut(
    text: Characters,  # n characters
    with_spaces: bool,  # whether a word may contain spaces. If not, each space ends a word.
    weights: np.ndarray,  # int8 or float32 (PLACES,)
    # bool (n,): written: whether a word ends with this character. Later decisions depend on earlier
    # decisions.
    ends: np.ndarray,
    gold: np.ndarray,  # bool (n,)
    learned: np.ndarray,  # as for `sentences.end`
) -> None:
    """Find the ends of words; also train if `gold` is given. O(1) a character: 50 features."""
    folded, kinds, gaps, paragraphs = text.folded, text.kinds, text.gaps, text.paragraphs
    around = stretches(text)
    places = np.empty(_FEATURES, dtype=np.uint64)
    room = values_of(_TEMPLATES, 28)
    for paragraph in range(paragraphs.size - 1):
        piece = before = _START
        length = 0
        for i in range(paragraphs[paragraph] + PADDING, paragraphs[paragraph + 1] - PADDING):
            ends[i] = False
            if kinds[i] == 0:
                if length:
                    piece = mix(piece, np.uint64(_SPACE))
                    length += 1
                continue
            piece = mix(piece, np.uint64(folded[i]))
            length += 1
            if gaps[i] == INSIDE:
                continue
            if gaps[i] >= PARAGRAPH or (gaps[i] != NO_GAP and not with_spaces):
                end = True
            else:
                _look(text, around, i, piece, before, length, room, places)
                score = total(weights, places)
                end = score > 0
                if gold.size:
                    learn_only(learned, places, score, gold[i], _PENALTY)
            ends[i] = end
            if gold.size:
                end = gold[i]
            if end:
                before = piece
                piece = _START
                length = 0


_EPOCHS: Final = 6
_OUTSIDE: Final = np.uint64(7)


class Splitter(Rewriter):
    """Splits multiword tokens: rewrites a lower-cased token as several words."""

    @classmethod
    def train(
        cls,
        tokens: Sequence[str],
        words: Sequence[Sequence[str] | None],
        letters: NDArray[np.uint64],
        *,
        generator: np.random.Generator,
        progress: Callable[[int, int], None],
    ) -> Self | None:
        """Train on t tokens, each with its words or None; return None without multiword tokens."""
        targets = [
            " ".join(parts).lower() if parts and not {STEM, " "} & set("".join(parts)) else None
            for parts in words
        ]
        if not any(targets):
            return None
        return cls.trained(
            [token.lower() for token in tokens],
            targets,
            _neighbours(letters),
            cases=(AS_IS,),
            epochs=_EPOCHS,
            generator=generator,
            progress=progress,
        )

    def parts(self, token: str) -> list[str]:
        """Return the words of a token in no context, if there are several, all of them known."""
        nothing = np.zeros((1, CONTEXTS), dtype=np.uint64)
        words = self.rewritten([token], nothing).get(0, "").split(" ")
        return words if all(is_known(word, self.known) for word in words) else []

    def split(self, tokens: Sequence[str], letters: NDArray[np.uint64]) -> dict[int, list[str]]:
        """Return the words of each multiword token, keyed by the number of the token."""
        words_of = self.rewritten([token.lower() for token in tokens], _neighbours(letters))
        return {number: _cased(tokens[number], words) for number, words in words_of.items()}


def _cased(token: str, words: str) -> list[str]:
    """Apply the capitalization of the token to its words: *DON'T* becomes *DO N'T*."""
    parts = words.split(" ")
    if "".join(parts) == token.lower() and len(token) == len(token.lower()):
        cut = []
        for part in parts:
            cut.append(token[: len(part)])
            token = token[len(part) :]
        return cut
    if token.isupper() and len(token) > 1:
        return [part.upper() for part in parts]
    if token[:1].isupper():
        return [parts[0][:1].upper() + parts[0][1:], *parts[1:]]
    return parts


def _neighbours(letters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash the neighbours of each token: (t, CONTEXTS) uint64. O(t)."""
    contexts = np.empty((len(letters), CONTEXTS), dtype=np.uint64)
    hash_neighbours(letters, contexts)
    return contexts


@kernel
@takes("uint64[:, ::1], out uint64[:, ::1]")
def hash_neighbours(letters: np.ndarray, contexts: np.ndarray) -> None:
    """Do the work of `_neighbours`: fill `contexts`."""
    for t in range(letters.shape[0]):
        before = letters[t - 1, FORM] if t > 0 else _OUTSIDE
        after = letters[t + 1, FORM] if t + 1 < letters.shape[0] else _OUTSIDE
        contexts[t, 0] = before
        contexts[t, 1] = after
        contexts[t, 2] = mix(before, after)
        shape = mix(letters[t, OUTLINE], letters[t, GAP])
        contexts[t, 3] = mix(shape, letters[t + 1, OUTLINE] if after != _OUTSIDE else _OUTSIDE)
