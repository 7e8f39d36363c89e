"""Forms and texts as a model reads them: with the characters of the model's treebank.

A model reads composed text (NFC), without soft hyphens and other invisible characters, with letters
in place of ligatures, and with the typographic characters of the treebank: a model that knows
*don't* reads *don't* in place of *don’t*. The output has the given text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.graphemes import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    import numpy.typing as npt
    from numpy.typing import NDArray

    from arborescence.treebank import Sentence

#: The same character in print and on a typewriter: models read the more frequent character.
_ALIKE: Final = {
    "’": ("'",), "'": ("’",), "‘": ("'",), "‹": ("'",), "›": ("'",), "…": ("...",), "‒": ("–", "-"),
    "‥": ("…", "..."), **dict.fromkeys("ʼ′´＇‛‚", ("’", "'")), **dict.fromkeys("‐‑−", ("-",)),
}  # fmt: skip
#: Characters that distinguish more than their substitutes do (the best substitute comes first). A
#: model reads such a character if it is frequent enough to be learned, else its first known
#: substitute.
_TELLING: Final = {
    "“": ("«", '"'), "”": ("»", '"'), "«": ("“", '"'), "»": ("”", '"'), "„": ("“", "«", '"'),
    "‟": ("“", "«", '"'), "″": ("”", '"'), "—": ("--", "–", "-"), "–": ("-", "--"),
    "―": ("—", "--", "–", "-"),
}  # fmt: skip
#: A model learns a telling character that occurs at least this often in the model's treebank.
_ENOUGH: Final = 20
#: Spaces of other kinds, within forms.
_SPACES: Final = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f"
#: Invisible characters without meaning: soft hyphens, marks of direction, variation selectors, ...
_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
)
#: Spaces without width, and non-joiners. Some scripts need these characters, so treebanks of these
#: scripts contain the characters.
_APART: Final = "\u200b\u200c"
_LIGATURES: Final = {chr(c): unicodedata.normalize("NFKC", chr(c)) for c in range(0xFB00, 0xFB07)}

# A grave accent that is an apostrophe: We`re. Elsewhere a grave accent is a quotation mark.
_GRAVE: Final = "`"
_BETWEEN_LETTERS: Final = rf"(?<=[^\W\d_]){_GRAVE}(?=[^\W\d_])"

#: All characters that a model replaces if it does not know them.
_LOOKED_AT: Final = {
    *_ALIKE, *_TELLING, *_APART, *chain.from_iterable((_ALIKE | _TELLING).values())
}  # fmt: skip

#: The field of a model file: the known characters (and dashes and dots of several characters).
FIELD: Final = scheme.or_none(scheme.values(0, 1000))


class Read(NamedTuple):
    """A text as a model reads it."""

    #: The text.
    text: str
    #: (len(text) + 1,) int64: the place of each character in the given text, and the length of the
    #: given text; None: both texts are equal. If one character is read as several
    #: characters, these have the same place.
    starts: NDArray[np.int64] | None

    def places(self, given: npt.ArrayLike) -> NDArray[np.int64]:
        """Return the places in this text for places in the given text."""
        places = np.asarray(given, dtype=np.int64)
        if self.starts is None:
            return places
        return np.searchsorted(self.starts[:-1], places, side="right") - 1

    def at(self, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return values for the characters of this text from values for the given text."""
        return values if self.starts is None else values[self.starts[:-1]]

    def given(self, text: str, start: int, parts: list[str]) -> list[str]:
        """Return the parts of the given text that are read as `parts`; if none, `parts`."""
        if self.starts is None or not self.text.startswith("".join(parts), start):
            return parts
        stops = start + np.cumsum([0, *map(len, parts)])
        places = self.starts[stops].tolist()
        return [text[i:j] for i, j in pairwise(places)] if (np.diff(places) > 0).all() else parts


class Reading:
    r"""The way in which a model reads texts.

    Parameters
    ----------
    known
        The characters with variants, and ``"--"`` and ``"..."``, that the model knows. None: the
        model does not record known characters, and all characters are read unchanged.

    Examples
    --------
    >>> Reading(["'", "..."]).form("don’t"), Reading(["’"]).form("don’t")
    ("don't", 'don’t')
    >>> Reading().form("ﬁ\u00adnie\u0301")
    'finié'
    """

    def __init__(self, known: Iterable[str] | None = None) -> None:
        self.known = None if known is None else tuple(sorted(set(known)))
        self._changes = _LIGATURES | ({} if self.known is None else _changes(self.known))
        unseen = _UNSEEN + "".join(
            character for character in _APART if character not in (self.known or ())
        )
        changed = "".join(
            re.escape(character) for character in self._changes if character != _GRAVE
        )
        self._pattern = re.compile(f"[{unseen}]+|[{changed}]|{_BETWEEN_LETTERS}")
        self._ascii = not any(
            character.isascii() for character in self._changes if character != _GRAVE
        )

    @classmethod
    def of(cls, treebank: Iterable[Sentence]) -> Self:
        """Return the reading of a model that learns from a treebank."""
        counts: Counter[str] = Counter()
        for sentence in treebank:
            forms = [*sentence.forms, *(form for *_, form in sentence.multiwords)]
            counts.update(form for form in forms if form in ("--", "..."))
            for form in forms:
                counts.update(form)
        return cls(_known(counts))

    @classmethod
    def among(cls, known: Container[str]) -> Self:
        """Return the reading of a model that knows these characters and words."""
        return cls(character for character in _LOOKED_AT if character in known)

    def read(self, text: str) -> Read:
        """Return a text as the model reads it. O(n)."""
        if self._ascii and text.isascii() and _GRAVE not in text:
            return Read(text, None)
        read = text
        starts = None
        if self._pattern.search(read):
            read, starts = edited(read, self._edits(read))
        if not unicodedata.is_normalized("NFC", read):
            read, again = edited(read, _composed(read))
            starts = again if starts is None else starts[again]
        return Read(read, starts)

    def form(self, form: str) -> str:
        """Return a form as the model reads it."""
        return self.read(form).text

    def sentences(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """Return sentences with the forms of words as the model reads them."""
        return [self._sentence(sentence) for sentence in sentences]

    def around(
        self,
        annotate: Callable[[list[Sentence]], Iterable[Sentence]],
        sentences: list[Sentence],
    ) -> list[Sentence]:
        """Let `annotate` see the forms that the model reads; restore the given forms afterwards."""
        read = self.sentences(sentences)
        return self.restored(annotate(read), read, sentences)

    @staticmethod
    def restored(
        annotated: Iterable[Sentence], read: Iterable[Sentence], given: Iterable[Sentence]
    ) -> list[Sentence]:
        """Return annotations of the sentences `read`, with the forms of the sentences `given`."""
        return [
            sentence if seen is own else sentence.with_forms(own.forms)
            for sentence, seen, own in zip(annotated, read, given, strict=True)
        ]

    def _sentence(self, sentence: Sentence) -> Sentence:
        if self._ascii and sentence.raw.isascii() and _GRAVE.encode() not in sentence.raw:
            return sentence
        forms = sentence.forms
        read = [self.form(form) for form in forms]
        return sentence if read == forms else sentence.with_forms(read)

    def _edits(self, text: str) -> Iterable[tuple[int, int, str]]:
        for match in self._pattern.finditer(text):
            start, stop = match.span()
            new = self._changes.get(match[0], match[0] if match[0] == _GRAVE else "")
            # Invisible characters stay where a word would otherwise be empty.
            if new or _is_written(text[start - 1 : start]) or _is_written(text[stop : stop + 1]):
                yield start, stop, new


def _is_written(character: str) -> bool:
    return bool(character) and not character.isspace()


def _known(counts: Mapping[str, int]) -> list[str]:
    """Return the characters that a model knows, by their counts in its treebank."""
    known = _LOOKED_AT - {
        character for character in (*_TELLING, *_APART) if counts[character] < _ENOUGH
    }
    known -= {
        character
        for character, others in _ALIKE.items()
        if counts[character] < max(counts[o] for o in others)
    }
    return [character for character in known if counts[character]]


def _changes(known: Sequence[str]) -> dict[str, str]:
    """Return the substitutes that a model reads in place of unknown characters."""
    changes = dict.fromkeys(_SPACES, " ")
    for character, others in (_ALIKE | _TELLING).items():
        substitutes = [other for other in others if other in known]
        if character not in known and substitutes:
            changes[character] = substitutes[0]
    for apostrophe in ("’", "'"):
        if apostrophe in known:
            changes |= {_GRAVE: apostrophe, "ŉ": f"{apostrophe}n"}
    return changes


def _composed(text: str) -> Iterable[tuple[int, int, str]]:
    """Yield the edits that bring a text into the form NFC."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = np.flatnonzero(~joined(codes)) + 1
    start = 0
    for stop in ends.tolist():
        if not unicodedata.is_normalized("NFC", text[start:stop]):
            yield start, stop, unicodedata.normalize("NFC", text[start:stop])
        start = stop


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> tuple[str, NDArray[np.int64]]:
    """Apply edits, in order; also return each resulting character's place in the given text."""
    pieces: list[str] = []
    starts: list[int] = []
    before: list[tuple[int, int]] = []  # removed characters that belong to the next character
    done = 0
    for start, stop, new in edits:
        pieces += (text[done:start], new)
        starts += range(done, start)
        starts += [start] * len(new)
        done = stop
        if not (new or _is_written(text[start - 1 : start])):
            before.append((len(starts), start))
    pieces.append(text[done:])
    starts += range(done, len(text) + 1)
    for place, start in before:
        starts[place] = start
    return "".join(pieces), np.array(starts, dtype=np.int64)
