"""The words, characters and tags that a neural parser knows, and their numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arborescence.treebank import Sentence

#: The columns of tags, in the order in which they are predicted.
TAGS: Final = ("upos", "xpos", "feats")

#: The numbers of unknown words and of the root; known words follow.
UNKNOWN: Final = 0
ROOT: Final = 1
#: The numbers of characters: no character, an unknown one, both ends of a word, and the root.
NOTHING, STRANGE, BEGIN, END, ROOT_LETTER = range(5)

_FIRST_WORD: Final = 2
_FIRST_LETTER: Final = 5


class Tagset(NamedTuple):
    """The values of a column, and the pieces that their vectors are sums of.

    A value of FEATS such as ``Case=Nom|Number=Sing`` has two pieces, any other value has one, and
    ``_`` has none.

    Attributes
    ----------
    values : tuple of str
        The values by number.
    pieces : dict of str to int
        The number of each piece.
    """

    values: tuple[str, ...]
    pieces: dict[str, int]

    @classmethod
    def of(cls, values: Iterable[str]) -> Self:
        """Number values and their pieces in alphabetical order.

        >>> Tagset.of(["Case=Nom|Number=Sing", "_", "Case=Nom"]).pieces
        {'Case=Nom': 0, 'Number=Sing': 1}
        """
        values = tuple(sorted(set(values)))
        pieces = sorted({piece for value in values for piece in pieces_of(value)})
        return cls(values, {piece: number for number, piece in enumerate(pieces)})


class Vocabulary(NamedTuple):
    """What a neural parser knows.

    Attributes
    ----------
    words, lemmas : dict of str to int
        The known words and lemmas in lower case, numbered from 2: see `UNKNOWN` and `ROOT`.
    letters : dict of str to int
        The known characters, numbered from 5: see `NOTHING` to `ROOT_LETTER`.
    tags : dict of str to Tagset
        The columns that are predicted.
    vectors : dict of str to int
        The words with pretrained vectors, numbered from 1: see `vectors.Vectors`.
    """

    words: dict[str, int]
    lemmas: dict[str, int]
    letters: dict[str, int]
    tags: dict[str, Tagset]
    vectors: dict[str, int] = {}  # noqa: RUF012 - nobody changes it

    @classmethod
    def of(cls, treebank: Sequence[Sentence], columns: Sequence[str], least: int = 2) -> Self:
        """Collect what occurs in a treebank.

        Parameters
        ----------
        treebank
            The sentences to learn from.
        columns
            The columns that the parser looks at. A column of tags without values is left out.
        least
            How often a word, lemma or character must occur.

        Examples
        --------
        >>> from arborescence.treebank import Sentence
        >>> trees = Sentence.from_words(["Trees", "see", "trees"], upos=["NOUN", "VERB", "NOUN"])
        >>> Vocabulary.of([trees], ["form", "upos", "feats"])._replace(letters={})
        Vocabulary(words={'trees': 2}, lemmas={}, letters={}, tags={'upos': \
Tagset(values=('NOUN', 'VERB'), pieces={'NOUN': 0, 'VERB': 1})}, vectors={})
        """
        words, lemmas, letters = Counter[str](), Counter[str](), Counter[str]()
        for sentence in treebank:
            forms = sentence.forms
            words.update(form.lower() for form in forms)
            for form in forms:
                letters.update(form)
            if "lemma" in columns:
                lemmas.update(lemma.lower() for lemma in sentence.lemmas)
        tags = {}
        for column in TAGS:
            if column in columns:
                values = {value for each in treebank for value in getattr(each, column)}
                if values - {"_"}:
                    tags[column] = Tagset.of(values)
        return cls(
            _numbered(words, least, _FIRST_WORD),
            _numbered(lemmas, least, _FIRST_WORD),
            _numbered(letters, least, _FIRST_LETTER),
            tags,
        )

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of words, lemmas and letters, each with the special ones."""
        return (
            len(self.words) + _FIRST_WORD,
            len(self.lemmas) + _FIRST_WORD,
            len(self.letters) + _FIRST_LETTER,
        )


def pieces_of(value: str) -> list[str]:
    """Return the pieces of a tag: see `Tagset`."""
    return [] if value == "_" else value.split("|")


def _numbered(counts: Counter[str], least: int, first: int) -> dict[str, int]:
    known = sorted(key for key, count in counts.items() if count >= least)
    return {key: number for number, key in enumerate(known, first)}
