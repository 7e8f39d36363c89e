r"""The text of sentences, and the places of words in it, by the white space in the column MISC."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from arborescence.treebank.conllu import read
from arborescence.treebank.surface import (
    BEFORE,
    RANGE,
    TOKEN,
    Surface,
    placed_tokens,
    ranges_in,
    surface,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator

    from arborescence.treebank.sentence import Sentence
    from arborescence.treebank.surface import Range


def raw_text(sentences: Iterable[Sentence]) -> str:
    r"""Put the text of sentences together again.

    For the sentences that `Parser.parse` and `Parser.split` make of a text, the result is the same
    text, character by character.

    Parameters
    ----------
    sentences
        Sentences in the order of the text. Without an entry in MISC, one space follows a token, and
        a blank line a paragraph.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import arborescence as arb
    >>> text = "  Birds\u00a0sing.\n\n\nTrees don't.\n"
    >>> parsed = arb.load("english")(text)
    >>> print(parsed[0].misc[0])
    SpacesAfter=\u00A0|SpacesBefore=\s\s
    >>> raw_text(parsed) == text
    True
    """
    pieces: list[str] = []
    after = ""
    for _, tokens, following in placed_tokens(sentences):
        for gap, _, written in tokens:
            pieces += [gap, written]
        after = following
    return "".join([*pieces, after])


def word_ranges(sentences: Iterable[Sentence]) -> Iterator[tuple[Sentence, list[Range]]]:
    r"""Find the places of words in the text, through all sentences.

    Parameters
    ----------
    sentences
        Sentences in the order of the text. If sentences were not cut from a text, their text is the
        result of `raw_text`; each file, and each list of words, begins a new text.

    Yields
    ------
    sentence : Sentence
        The sentence.
    ranges : list of (int, int)
        The start and the end of each word in the text: characters (code points) from 0, the end
        excluded. The words of a multiword token have the range of the token.

    Examples
    --------
    >>> import arborescence as arb
    >>> [(sentence, ranges)] = word_ranges(arb.load("english")("Don't go!"))
    >>> list(zip(sentence.forms, ranges))
    [('Do', (0, 5)), ("n't", (0, 5)), ('go', (6, 8)), ('!', (8, 9))]
    """
    return ((sentence, sentence.ranges) for sentence in placed(sentences))


def placed(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield sentences with their `offset`, as for `word_ranges`."""
    at, source = 0, None
    for sentence, tokens, _ in placed_tokens(sentences):
        if sentence.offset is None:
            gap, token, _ = tokens[0]
            if sentence.source != source or sentence.item is not None:
                at, gap = 0, token.value(BEFORE) or ""
            sentence = sentence.derived(offset=at + len(gap))
        source = sentence.source
        at = ranges_in(sentence, tokens)[-1][1]
        yield sentence


def with_ranges(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    r"""Write the place of each token in the text into MISC, as UDPipe does: ``TokenRange=0:5``.

    Parameters
    ----------
    sentences
        As for `word_ranges`.

    Yields
    ------
    Sentence
        The sentence; a multiword token has the entry in the line of the token.

    Examples
    --------
    >>> import arborescence as arb
    >>> [sentence] = with_ranges(arb.load("english")("They sing!"))
    >>> sentence.misc
    ['TokenRange=0:4', 'SpaceAfter=No|TokenRange=5:9', 'TokenRange=9:10']
    """
    for sentence, ranges in word_ranges(sentences):

        def placed(token: Surface, ranges: list[Range] = ranges) -> list[str]:
            start, end = ranges[token.first - 1]
            kept = [entry for entry in token.misc if not entry.startswith(RANGE) and entry != "_"]
            return [*kept, f"{RANGE}{start}:{end}"]

        yield with_misc(sentence, placed)


def with_misc(sentence: Sentence, changed: Callable[[Surface], list[str]]) -> Sentence:
    """Return a sentence with other entries in MISC of its tokens."""
    lines = {(token.first, token.last): changed(token) for token in surface(sentence)}

    def replaced(match: re.Match[str]) -> str:
        entries = lines.get((int(match[1]), int(match[2] or 0)))
        if entries is None:
            return match[0]
        return match[0][: match.start(4) - match.start()] + ("|".join(entries) or "_")

    [again] = read(io.BytesIO(TOKEN.sub(replaced, str(sentence)).encode()))
    return sentence.derived(again.raw, again.spans)
