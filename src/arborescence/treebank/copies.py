"""Sentences that stand in another treebank, too, however they are cut into words."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.treebank.sentence import Sentence

#: Shorter sentences may be in both treebanks: anyone may say these.
SHORT: Final = 5
#: A sentence with this number of consecutive words of another sentence counts as its copy.
ROW: Final = 7


def folded(form: str) -> str:
    """Return a form in one case, in its usual width, without combining marks and blanks."""
    if form.isascii():
        return form.lower().replace(" ", "")
    spread = unicodedata.normalize("NFKD", form.casefold())
    return "".join(c for c in spread if not (unicodedata.combining(c) or c.isspace()))


def letters_of(sentence: Sentence) -> str:
    """Return the letters and digits of a sentence, folded, however it is cut into words."""
    return "".join(filter(str.isalnum, "".join(map(folded, sentence.forms))))


class Held:
    """Sentences of which no copy may be in a training part.

    A copy has the same letters as one of the sentences, or seven words in a row of it. A sentence
    of less than five words is never a copy.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> held = Held([Sentence.from_words("Owls sleep in the old tree .".split())])
    >>> Sentence.from_words(["owls", "sleep", "in", "the", "oldtree"]) in held
    True
    """

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self._letters: set[str] = set()
        self._rows: set[tuple[str, ...]] = set()
        for sentence in sentences:
            self._letters.add(letters_of(sentence))
            self._rows.update(rows_of(sentence))

    def __contains__(self, sentence: Sentence) -> bool:
        """Return whether a sentence is a copy."""
        if len(sentence) < SHORT:
            return False
        return letters_of(sentence) in self._letters or not self._rows.isdisjoint(rows_of(sentence))


def rows_of(sentence: Sentence) -> Iterator[tuple[str, ...]]:
    """Yield each seven words in a row, signs left out."""
    forms = [form.casefold() for form in sentence.forms if any(map(str.isalnum, form))]
    return (tuple(forms[i : i + ROW]) for i in range(len(forms) - ROW + 1))
