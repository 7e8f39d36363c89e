"""Matches of a pattern with their context: as lines of text, rows of a table, and drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.drawing.gallery import GalleryEntry, Picture, gallery
from arborescence.drawing.svg import Marks
from arborescence.treebank.columns import Columns
from arborescence.treebank.patterns.texts import SentenceTexts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from arborescence.treebank.patterns.find import Found, Match

_FEATURES = ("form", "lemma", "upos", "deprel")


def lines(part: Found) -> Iterator[str]:
    """Yield for each match the id or place of its sentence, and its words in brackets."""
    texts = SentenceTexts.of(part.columns, part.sentences)
    named = part.named
    marked = _marked(texts, part.words[:, [*named.values()]], [*named])
    sources, numbers = part.columns.sources, part.columns.lines
    for sentence, line in zip(texts.sentences, marked, strict=True):
        place = texts.ids[sentence] or f"{sources[sentence]}:{numbers[sentence]}"
        yield f"{place}\t{line}"


def in_context(match: Match) -> str:
    """Return the text of the sentence, with the words of the match in brackets.

    Examples
    --------
    >>> from arborescence.treebank import Sentence, search
    >>> sentence = Sentence.from_words(["Dogs", "chase", "cats"], heads=[2, 0, 2])
    >>> print(in_context(next(search([sentence], "V -> N; V < N"))))
    Dogs [V chase] [N cats]
    """
    texts = SentenceTexts.of(Columns.of_sentences([match.sentence]), np.zeros(1, np.int64))
    words = np.array([[word - 1 for word in match.words.values()]])
    return next(_marked(texts, words, [*match.words]))


def rows(part: Found) -> Iterator[dict[str, Any]]:
    """Yield each match as a row: its place, its words, and the text before, at and after it.

    The text of the match goes from its first word to its last one (keyword in context).
    """
    columns, words, matcher = part
    texts = SentenceTexts.of(columns, part.sentences)
    named = {name: words[:, at] for name, at in part.named.items()}
    starts, ends = texts.places_of(np.column_stack([*named.values()]))
    firsts = columns.offsets[part.sentences]
    cells: dict[str, Sequence[Any]] = {}
    for name, word in named.items():
        cells[f"{name}.id"] = (word - firsts + 1).tolist()
        cells |= {f"{name}.{each}": matcher.texts(columns, each, word) for each in _FEATURES}
    spans = starts.min(axis=1).tolist(), ends.max(axis=1).tolist()
    values = zip(*cells.values(), strict=True)
    for sentence, start, end, row in zip(texts.sentences, *spans, values, strict=True):
        begin, stop = texts.spans[sentence]
        yield {
            "file": columns.sources[sentence],
            "line": columns.lines[sentence],
            "sent_id": texts.ids[sentence],
            "left": texts.text[begin:start].rstrip().decode(),
            "match": texts.text[start:end].decode(),
            "right": texts.text[end:stop].lstrip().decode(),
            **dict(zip(cells, row, strict=True)),
        }


def _marked(texts: SentenceTexts, words: npt.NDArray[np.int64], names: list[str]) -> Iterator[str]:
    """Yield the text of the sentence of each match, with brackets around its words."""
    order = np.argsort(words, axis=1)
    starts, ends = texts.places_of(np.take_along_axis(words, order, axis=1))
    text, whole = texts.text, [name.encode() for name in names]
    for sentence, *tokens in zip(
        texts.sentences, starts.tolist(), ends.tolist(), order.tolist(), strict=True
    ):
        at, stop = texts.spans[sentence]
        pieces: list[bytes] = []
        for start, end, name in zip(*tokens, strict=True):
            if start < at:  # the multiword token has one more word of the match
                pieces[-4] += b"," + whole[name]
                continue
            pieces += text[at:start], b"[" + whole[name], b" ", text[start:end], b"]"
            at = end
        pieces.append(text[at:stop])
        yield b"".join(pieces).decode()


def matches_html(matches: Iterable[Match], pattern: str) -> Iterator[str]:
    """Write matches as a page: trees in which the words and edges of the match are coloured.

    Parameters
    ----------
    matches
        Matches, as from `search`.
    pattern
        The pattern, for the top of the page.

    Yields
    ------
    str
        The parts of a complete HTML file.

    Examples
    --------
    >>> from arborescence.treebank import Sentence, search
    >>> sentence = Sentence.from_words(["Dogs", "chase", "cats"], heads=[2, 0, 2])
    >>> "".join(matches_html(search([sentence], "V -> N; V < N"), "V -> N; V < N")).count("<svg")
    1
    """
    return gallery("Matches", [pattern], map(_entry, matches))


def _entry(match: Match) -> GalleryEntry:
    sentence = match.sentence
    words = {*match.words.values()}
    edges = [word for word in words if int(sentence.heads[word - 1]) in words]
    place = sentence.sent_id or f"{sentence.source}:{sentence.line}"
    return GalleryEntry(f"{place}\n{in_context(match)}", [Picture(sentence, Marks(words, edges))])
