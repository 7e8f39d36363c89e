"""XPOS from UPOS, FEATS and form: the tag that a treebank most often has for the same three."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, Self

from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arborescence.treebank import Sentence

    #: UPOS; UPOS and FEATS; or UPOS, FEATS and the form.
    Key = tuple[str, ...]

#: The fewest times that a treebank has a form with a row of its own.
_LEAST: Final = 2
_ROWS: Final = {
    name: scheme.list_of(scheme.values(length, length), 0, 10**6)
    for name, length in (("of_upos", 2), ("of_feats", 3), ("of_forms", 4))
}


class XposTable:
    """Finds XPOS where UPOS and FEATS almost determine it, as in English.

    Attributes
    ----------
    tags : dict of tuple to str
        The tag for UPOS; for UPOS and FEATS; for UPOS, FEATS and a form in small letters, if the
        tag differs from that for UPOS and FEATS.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> taught = Sentence.from_words(
    ...     ["owls", "hoot"], upos=["NOUN", "VERB"], xpos=["NNS", "VBP"], feats=["Number=Plur", "_"]
    ... )
    >>> table = XposTable.train([taught])
    >>> new = Sentence.from_words(["trees", "grow"], upos=taught.upos, feats=taught.feats)
    >>> table.xpos(new)
    ['NNS', 'VBP']
    """

    def __init__(self, tags: Mapping[Key, str]) -> None:
        self.tags = dict(tags)

    @classmethod
    def train(cls, treebank: Iterable[Sentence]) -> Self:
        """Count the tags of a treebank, in one pass."""
        counts: defaultdict[Key, Counter[str]] = defaultdict(Counter)
        for sentence in treebank:
            for key, xpos in zip(_keys(sentence), sentence.xpos, strict=True):
                for length in range(1, len(key) + 1):
                    counts[key[:length]][xpos] += 1
        tags = {key: min(each, key=lambda tag: (-each[tag], tag)) for key, each in counts.items()}
        return cls(
            {
                key: tag
                for key, tag in tags.items()
                if len(key) < 3 or (tag != tags[key[:2]] and counts[key].total() >= _LEAST)
            }
        )

    def xpos(self, sentence: Sentence) -> list[str]:
        """Return the tags of the words of a sentence with UPOS and FEATS: ``"_"`` if unknown."""
        tags = self.tags
        return [
            tags.get(key) or tags.get(key[:2]) or tags.get(key[:1], "_") for key in _keys(sentence)
        ]

    def to_file(self) -> dict[str, list[list[str]]]:
        """Return the rows of a model file."""
        rows = sorted([*key, tag] for key, tag in self.tags.items())
        return {name: [row for row in rows if len(row) == k] for k, name in enumerate(_ROWS, 2)}

    @classmethod
    def from_file(cls, header: Mapping[str, Any]) -> Self:
        """Restore a table; ModelError if it is damaged."""
        rows = scheme.fields_of(header, _ROWS)
        return cls({tuple(key): tag for name in _ROWS for *key, tag in rows[name]})


def _keys(sentence: Sentence) -> Iterable[Key]:
    """Return UPOS, FEATS and the form of each word."""
    forms = map(str.lower, sentence.forms)
    return zip(sentence.upos, sentence.feats, forms, strict=True)
