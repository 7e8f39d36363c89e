"""What parsers are given: sentences, lists of words, raw text, files; in batches."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from arborescence.core.budget import work_of
from arborescence.errors import OptionError, TreebankError
from arborescence.treebank.conllu import read
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arborescence.core.budget import Budget

    #: What `Parser.parse` takes.
    Given = str | os.PathLike[str] | Iterable[Sentence | Sequence[str]]
    #: Cuts raw text, or that of a file, into sentences.
    Cut = Callable[[str | os.PathLike[str]], Iterator[Sentence]]

_FILES: Final = (".conllu", ".txt", ".gz")
BATCH_WORDS: Final = 8192
_SMALLER: Final = 8  # so many times smaller are batches of work that may be stopped
_WEIGHING: Final = 64  # parsing a sentence takes so many decodes, and more for more trees
_BATCH_EDGES = 2**22  # limits the memory of score matrices: long sentences are parsed one by one

_WHAT_IS_PARSED: Final = (
    "where a sentence is due: give lists of words, such as [['Hello', 'world']], or Sentence "
    "objects; a parser takes raw text, too, as strings, and files as pathlib.Path"
)


def as_sentences(given: Given, cut: Cut | None = None) -> Iterator[Sentence]:
    """Return the sentences of what was given; raise OptionError for any other type."""
    # Strings are the words of one sentence if none of them has a space; else each is raw text.
    if isinstance(given, Sentence):
        return iter([given])
    if isinstance(given, str) and given.endswith(_FILES) and " " not in given and _is_file(given):
        raise OptionError(f"{given!r} is a file: give pathlib.Path({given!r}), not a string")
    if isinstance(given, os.PathLike) and str(given).endswith((".conllu", ".conllu.gz")):
        return read(given)
    if isinstance(given, str | os.PathLike) and cut:
        return cut(given)
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise OptionError(f"{given!r:.60} stands {_WHAT_IS_PARSED}")
    return _each_sentence(iter(cast("Iterable[Any]", given)), cut)


def _is_file(name: str) -> bool:
    with suppress(OSError):  # it is too long for a name
        return Path(name).is_file()
    return False


def _each_sentence(items: Iterator[Any], cut: Cut | None) -> Iterator[Sentence]:
    for place, item in enumerate(items):
        if isinstance(item, Sentence):
            yield item
            continue
        words = item
        if isinstance(item, str) and place == 0:
            words = [item, *items]
            if cut and any(isinstance(text, str) and len(text.split()) > 1 for text in words):
                for number, text in enumerate(words):
                    if not isinstance(text, str):
                        raise OptionError(f"text {number} is {text!r:.60}, and others are strings")
                    yield from cut(text)
                return
            words = words if all(_is_word(word) for word in words) else None
        if not isinstance(words, (list, tuple)) or not all(isinstance(w, str) for w in words):
            raise OptionError(f"sentence {place} is {item!r:.60}, {_WHAT_IS_PARSED}")
        try:
            sentence = Sentence.from_words(words)
        except TreebankError as error:
            raise TreebankError(f"sentence {place}: {error}") from None
        yield sentence


def _is_word(item: Any) -> bool:
    return isinstance(item, str) and len(item.split()) == 1


def untagged(sentence: Sentence) -> Sentence:
    """Return a sentence without tags and lemmas."""
    return sentence.replace(lemmas=None, upos=None, xpos=None, feats=None)


def within(
    sentences: Iterable[Sentence], budget: Budget | None, trees: int = 1
) -> Iterator[Sentence]:
    """Yield sentences as long as there is budget; each spends the work of parsing it."""
    for sentence in sentences:
        if budget is not None:
            budget.check()
            budget.spend((_WEIGHING + trees) * work_of(len(sentence) + 1))
        yield sentence


def batches(
    sentences: Iterable[Sentence], enough: int = BATCH_WORDS, *, stoppable: bool = False
) -> Iterator[list[Sentence]]:
    """Yield batches, all but the last with at least `enough` words or `_BATCH_EDGES` edges.

    They are smaller if somebody may want to stop between them.
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
