"""A match of a pattern with its context: as a line of text, a row of a table, and a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.drawing.gallery import GalleryEntry, Picture, gallery
from arborescence.drawing.svg import Marks
from arborescence.treebank.surface import placed_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.treebank.patterns.find import Match


def in_context(match: Match) -> str:
    """Return the text of the sentence, with the words of the match in brackets.

    Examples
    --------
    >>> from arborescence.treebank import Sentence, search
    >>> sentence = Sentence.from_words(["Dogs", "chase", "cats"], heads=[2, 0, 2])
    >>> print(in_context(next(search([sentence], "V -> N; V < N"))))
    Dogs [V chase] [N cats]
    """
    names = names_of_words(match)
    pieces = []
    for gap, word, written in _tokens(match):
        named = [",".join(names[w]) for w in range(word[0], word[1] + 1) if w in names]
        pieces.append(gap + (f"[{','.join(named)} {written}]" if named else written))
    return " ".join("".join(pieces).split())


def row_of(match: Match) -> dict[str, Any]:
    """Return a match as a row: its place, its words, and the text before, at and after it.

    The text of the match goes from its first word to its last one (keyword in context).

    Examples
    --------
    >>> from arborescence.treebank import Sentence, search
    >>> sentence = Sentence.from_words(["Dogs", "chase", "cats"], heads=[2, 0, 2])
    >>> row = row_of(next(search([sentence], "V -> N; V < N")))
    >>> row["left"], row["match"], row["right"], row["N.form"]
    ('Dogs', 'chase cats', '', 'cats')
    """
    sentence, words = match
    first, last = min(words.values()), max(words.values())
    parts = {"left": "", "match": "", "right": ""}
    for gap, (begin, end), written in _tokens(match):
        part = "left" if end < first else "right" if begin > last else "match"
        parts[part] += gap + written
    row: dict[str, Any] = {
        "file": sentence.source, "line": sentence.line, "sent_id": sentence.sent_id or "",
    }  # fmt: skip
    row |= {name: " ".join(text.split()) for name, text in parts.items()}
    for name, number in words.items():
        word = sentence.word(number)
        row |= {
            f"{name}.id": number, f"{name}.form": word.form, f"{name}.lemma": word.lemma,
            f"{name}.upos": word.upos, f"{name}.deprel": word.deprel,
        }  # fmt: skip
    return row


def place_of(match: Match) -> str:
    """Return the id of the sentence, or its file and line."""
    sentence = match.sentence
    return sentence.sent_id or f"{sentence.source}:{sentence.line}"


def matches_html(matches: Iterable[Match], pattern: str) -> Iterator[str]:
    """Write matches as a page: trees in which the words and edges of the match are coloured.

    Parameters
    ----------
    matches
        Matches, as from `search`.
    pattern
        The pattern, which stands above.

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
    words = {*match.words.values()}
    heads = match.sentence.heads
    edges = [word for word in words if int(heads[word - 1]) in words]
    picture = Picture(match.sentence, Marks(words, edges))
    return GalleryEntry(f"{place_of(match)}\n{in_context(match)}", [picture])


def names_of_words(match: Match) -> dict[int, list[str]]:
    """Return the names that each word of a match has."""
    names: dict[int, list[str]] = {}
    for name, number in match.words.items():
        names.setdefault(number, []).append(name)
    return names


def _tokens(match: Match) -> list[tuple[str, tuple[int, int], str]]:
    """Return the gap before each token, its first and last word, and its text."""
    [(_, tokens, _)] = placed_tokens([match.sentence])
    return [
        (gap, (token.first, token.last or token.first), written) for gap, token, written in tokens
    ]
