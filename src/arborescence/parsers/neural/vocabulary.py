"""The words, characters and tags that a neural parser knows, and their numbers."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.errors import ModelError, brief
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence

#: The columns of tags, in the order in which they are predicted.
TAGS: Final = ("upos", "xpos", "feats")

#: The numbers of unknown words and of the root; known words follow.
UNKNOWN: Final = 0
ROOT: Final = 1
#: The numbers of characters: no character, an unknown character, both ends of a word, the root.
NOTHING, STRANGE, BEGIN, END, ROOT_LETTER = range(5)

#: The fields of `Vocabulary` that number words or characters, and their first numbers.
_NUMBERED: Final = {"words": 2, "lemmas": 2, "letters": 5}

_MANY: Final = scheme.values(0, 10**7)
_UNIQUE: Final = scheme.Field(
    "a list of different values of CoNLL-U",
    lambda value: _MANY.fits(value) and len(set(value)) == len(value),
)
_FIELDS: Final = {**dict.fromkeys((*_NUMBERED, "vectors"), _UNIQUE), "tags": scheme.MAPPING}


class Tagset(NamedTuple):
    """The values of a column, and their pieces: the vector of a value is the sum over its pieces.

    A value of FEATS such as ``Case=Nom|Number=Sing`` has two pieces, any other value has one piece,
    and ``_`` has none.
    """

    #: The values by number.
    values: tuple[str, ...]
    #: The number of each piece.
    pieces: dict[str, int]

    @classmethod
    def of(cls, values: Iterable[str]) -> Self:
        """Give numbers to values and their pieces, in alphabetical order."""
        values = tuple(sorted(set(values)))
        pieces = sorted({piece for value in values for piece in pieces_of(value)})
        return cls(values, {piece: number for number, piece in enumerate(pieces)})

    def table(self, values: Collection[str]) -> NDArray[np.float32]:
        """Return whether each of V values has each of P known pieces: (V, P), 0 or 1."""
        table = np.zeros((len(values), len(self.pieces)), dtype=np.float32)
        for row, value in zip(table, values, strict=True):
            row[[self.pieces[piece] for piece in pieces_of(value) if piece in self.pieces]] = 1
        return table


class Vocabulary(NamedTuple):
    """The words, characters and tags that a neural parser knows."""

    #: The known words in lower case, numbered from 2: see `UNKNOWN` and `ROOT`.
    words: dict[str, int]
    #: The known lemmas in lower case, numbered from 2.
    lemmas: dict[str, int]
    #: The known characters, numbered from 5: see `NOTHING` to `ROOT_LETTER`.
    letters: dict[str, int]
    #: The columns that are predicted.
    tags: dict[str, Tagset]
    #: The words with pretrained vectors, numbered from 1: see `vectors.Vectors`.
    vectors: dict[str, int] = {}  # noqa: RUF012 - nobody changes it

    @classmethod
    def of(cls, treebank: Sequence[Sentence], columns: Sequence[str], least: int = 2) -> Self:
        """Collect the tags of a treebank, and its words and characters with `least` occurrences.

        A sentence that is repeated in another spelling (see `varied`) counts once.
        """
        counts: dict[str, Counter[str]] = {name: Counter() for name in _NUMBERED}
        seen: set[tuple[str, str]] = set()
        for sentence in treebank:
            counts["letters"].update(chain.from_iterable(sentence.forms))
            if sentence.sent_id is not None:
                letters = "".join(filter(str.isalnum, "".join(sentence.forms).lower()))
                if (sentence.sent_id, letters) in seen:
                    continue
                seen.add((sentence.sent_id, letters))
            counts["words"].update(form.lower() for form in sentence.forms)
            if "lemma" in columns and is_given(sentence.lemmas):
                counts["lemmas"].update(lemma.lower() for lemma in sentence.lemmas)
        tags = {}
        for column in TAGS:
            if column in columns:
                tags_of_all = (getattr(sentence, column) for sentence in treebank)
                values = {value for each in tags_of_all if is_given(each) for value in each}
                if values:
                    tags[column] = Tagset.of(values)
        numbers = {}
        for name, first in _NUMBERED.items():
            known = sorted(key for key, count in counts[name].items() if count >= least)
            numbers[name] = {key: number for number, key in enumerate(known, first)}
        return cls(**numbers, tags=tags)

    def grown(self, other: Self) -> Self:
        """Return this vocabulary with the entries of another; columns and numbers stay the same."""
        numbers: dict[str, Any] = {}
        for name, first in _NUMBERED.items():
            known = getattr(self, name)
            more = [key for key in getattr(other, name) if key not in known]
            if name != "lemmas" or known:
                numbers[name] = known | {
                    key: number for number, key in enumerate(more, first + len(known))
                }
        tags = {
            column: Tagset.of((*tagset.values, *other.tags[column].values))
            if column in other.tags
            else tagset
            for column, tagset in self.tags.items()
        }
        return self._replace(**numbers, tags=tags)

    def to_file(self) -> dict[str, Any]:
        """Return the field of a model file: see `from_file`."""
        names = {name: list(getattr(self, name)) for name in (*_NUMBERED, "vectors")}
        return {**names, "tags": {column: tagset.values for column, tagset in self.tags.items()}}

    @classmethod
    def from_file(cls, header: Mapping[str, Any]) -> Self:
        """Restore a vocabulary from the output of `to_file`; raise ModelError if it is invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        unknown = fields["tags"].keys() - set(TAGS)
        if unknown:
            raise ModelError(f"{brief(sorted(unknown))}: not columns of tags ({', '.join(TAGS)})")
        scheme.fields_of(fields["tags"], dict.fromkeys(fields["tags"], _UNIQUE))
        numbers = {
            name: {key: number for number, key in enumerate(fields[name], first)}
            for name, first in (*_NUMBERED.items(), ("vectors", 1))
        }
        tags = {c: Tagset.of(fields["tags"][c]) for c in TAGS if c in fields["tags"]}
        return cls(**numbers, tags=tags)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of words, lemmas and letters, with the special entries of each."""
        return tuple(len(getattr(self, name)) + first for name, first in _NUMBERED.items())


def is_given(values: Iterable[str]) -> bool:
    """Return whether a sentence has a column: whether it has a value for at least one word."""
    return any(value != "_" for value in values)


def pieces_of(value: str) -> list[str]:
    """Return the pieces of a tag: see `Tagset`."""
    return [] if value == "_" else value.split("|")
