"""The input of parsers: sentences, lists of words, raw text, files; in batches."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from arborescence.core.budget import work_of
from arborescence.errors import ArborescenceWarning, OptionError, TreebankError
from arborescence.treebank.conllu import read
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arborescence.core.budget import Budget

    #: The input of `Parser.parse`.
    Given = str | os.PathLike[str] | Iterable[Sentence | Sequence[str] | None]
    #: Texts; a missing text is None, or NaN as in pandas.
    Texts = Iterable[str | float | None]
    #: Cuts a raw text, or the text of a file, into sentences; their ids begin with the text's name.
    Cut = Callable[[str | os.PathLike[str], str | None], Iterator[Sentence]]

_TREES: Final = (".conllu", ".conllup", ".cupt")
_FILES: Final = (*_TREES, ".txt", ".gz")
BATCH_WORDS: Final = 8192
_SMALLER: Final = 8  # batches of work that may be stopped are smaller by this factor
_WEIGHING: Final = 64  # parsing a sentence costs as much as 64 decodes, and a decode for each tree
_BATCH_EDGES = 2**22  # limits the memory of score matrices: long sentences are parsed one by one

_WHAT_IS_PARSED: Final = (
    "where a sentence is due: give lists of words, such as [['Hello', 'world']], or Sentence "
    "objects; a parser takes raw text, too: one as a string, several as texts=['Hello.', 'Bye.'], "
    "and files as pathlib.Path"
)


def as_sentences(
    given: Given | None, cut: Cut | None = None, texts: Texts | None = None
) -> Iterator[Sentence]:
    """Return the sentences of a parser's input; OptionError for any other type."""
    if texts is not None:
        if given is not None or not cut:
            raise OptionError("give texts=[...] or sentences, not both")
        return _of_texts(_several(texts), cut)
    single = cast("Any", given)
    if isinstance(single, Sentence):
        return iter([single])
    if isinstance(given, str):
        _refuse_name(given)
    if isinstance(given, os.PathLike) and str(given).removesuffix(".gz").endswith(_TREES):
        return read(given)
    if isinstance(given, str | os.PathLike) and cut:
        return cut(given, None)
    if isinstance(given, bytes | str) or not hasattr(given, "__iter__"):
        raise OptionError(f"{given!r:.60} stands {_WHAT_IS_PARSED}")
    return _each_sentence(cast("Iterable[Any]", given), cut)


def _several(texts: Any) -> Iterable[Any]:
    """Return texts; OptionError if the argument is a single text, or not a row of texts."""
    if isinstance(texts, (str, bytes, dict)) or not hasattr(texts, "__iter__"):
        raise OptionError(
            f"texts must be several, such as ['Hello.', 'Bye.'], not {texts!r:.60}: give a "
            "single text as it is"
        )
    several: Iterable[Any] = texts
    return several


def _refuse_name(text: str) -> None:
    """Raise OptionError if a text is the name of a file."""
    with suppress(OSError):  # the text is too long for a name
        if text.endswith(_FILES) and " " not in text and Path(text).is_file():
            raise OptionError(f"{text!r} is a file: give pathlib.Path({text!r}), not a string")


class _Empty:
    """Counts items without words, and warns of these items at the end."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._count, self._first = 0, 0

    def __call__(self, place: int, item: Any) -> bool:
        """Return whether an item is empty or missing."""
        blank = isinstance(item, (str, list, tuple)) and item in ("", [], ())
        empty = blank or _is_missing(item) or (isinstance(item, str) and item.isspace())
        if empty:
            self._first = self._first if self._count else place
            self._count += 1
        return empty

    def tell(self, of: int) -> None:
        """Warn of the empty items among `of` items."""
        if self._count:
            _warn(
                f"{self._count:,} of {of:,} {self._kind} are empty or missing, and give no "
                f"sentence; the first of these is number {self._first}, counted from 0"
            )


def _is_missing(item: Any) -> bool:
    """Return whether an item is None, NaN, or the missing value of pandas."""
    if item is None or type(item).__name__ == "NAType":
        return True
    return not isinstance(item, (str, list, tuple, Sentence)) and bool(np.all(item != item))


def _warn(message: str) -> None:
    warnings.warn(message, ArborescenceWarning, stacklevel=4)


def _of_texts(texts: Iterable[Any], cut: Cut) -> Iterator[Sentence]:
    """Cut each text into sentences, which record the text's number, also in their ids."""
    empty, count = _Empty("texts"), 0
    for count, text in enumerate(texts, 1):
        item = count - 1
        if empty(item, text):
            continue
        if not isinstance(text, str):
            raise OptionError(f"text {item} is {text!r:.60}, and must be a string")
        for number, each in enumerate(cut(text, str(item)), 1):
            yield each.derived(source=f"text {item}", line=number, item=item)
    empty.tell(count)


def _each_sentence(given: Iterable[Any], cut: Cut | None) -> Iterator[Sentence]:
    empty, place, items = _Empty("sentences"), -1, iter(given)
    before: list[Any] = []  # missing items at the beginning
    for place, item in enumerate(items):
        if isinstance(item, str) and len(before) == place:
            yield from _of_strings([*before, item, *items], cut)
            return
        if isinstance(item, Sentence):
            yield item
        elif empty(place, item):
            before.append(item)
        elif isinstance(item, (list, tuple)) and all(isinstance(word, str) for word in item):
            yield _of_words(item, place)
        else:
            raise OptionError(f"sentence {place} is {item!r:.60}, {_WHAT_IS_PARSED}")
    empty.tell(place + 1)


def _of_words(words: Sequence[str], place: int) -> Sentence:
    try:
        return Sentence.from_words(words).derived(item=place)
    except TreebankError as error:
        raise TreebankError(f"sentence {place}: {error}") from None


def _of_strings(strings: list[Any], cut: Cut | None) -> Iterator[Sentence]:
    """Read strings as the words of a sentence, or else as texts; warn, since both are possible."""
    if all(isinstance(each, str) and len(each.split()) == 1 for each in strings):
        _warn(
            f"{len(strings)} strings in a list are read as the words of one sentence: better give "
            "a list of lists, [['Hello', 'world']], or for texts texts=[...]"
        )
        yield _of_words(strings, 0)
    elif cut:
        _warn(
            f"{len(strings)} strings in a list are read as texts, since not all are single words: "
            "better give texts=[...]"
        )
        yield from _of_texts(strings, cut)
    else:
        raise OptionError(f"sentence 0 is {strings[0]!r:.60}, {_WHAT_IS_PARSED}")


def untagged(sentence: Sentence) -> Sentence:
    """Return a sentence without tags and lemmas."""
    return sentence.replace(lemmas=None, upos=None, xpos=None, feats=None)


def within(
    sentences: Iterable[Sentence], budget: Budget | None, trees: int = 1
) -> Iterator[Sentence]:
    """Yield sentences while the budget lasts; each sentence spends the work of parsing it."""
    for sentence in sentences:
        if budget is not None:
            budget.check()
            budget.spend((_WEIGHING + trees) * work_of(len(sentence) + 1))
        yield sentence


def batches(
    sentences: Iterable[Sentence], enough: int = BATCH_WORDS, *, stoppable: bool = False
) -> Iterator[list[Sentence]]:
    """Yield batches, all but the last with at least `enough` words or `_BATCH_EDGES` edges.

    Batches are smaller if a caller may want to stop between two batches.
    """
    most = _BATCH_EDGES
    if stoppable:
        enough, most = enough // _SMALLER, most // _SMALLER
    batch: list[Sentence] = []
    words = edges = 0
    for sentence in sentences:
        batch.append(sentence)
        words += len(sentence)
        edges += len(sentence) ** 2
        if words >= enough or edges >= most:
            yield batch
            batch = []
            words = edges = 0
    if batch:
        yield batch
