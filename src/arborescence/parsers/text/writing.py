"""Convert the tokens of raw text to CoNLL-U sentences."""

from __future__ import annotations

import io
import warnings
from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.parsers.text.characters import PARAGRAPH
from arborescence.treebank import Sentence, read
from arborescence.treebank.surface import (
    AFTER,
    BEFORE,
    BETWEEN_PARAGRAPHS,
    NOT_SPACED,
    WITHIN,
    escaped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

#: The largest number of words in a sentence; longer sentences are cut.
LONGEST_SENTENCE: Final = 500

#: The most characters of white space that are kept before a token; longer runs are cut.
_MOST_SPACE: Final = 1 << 20


class Tokens(NamedTuple):
    """The tokens of a text."""

    #: The form of each token.
    forms: list[str]
    #: The start of each token in the text.
    starts: list[int]
    #: The end of each token in the text.
    stops: list[int]
    #: The gap after each token: see `Characters`.
    gaps: list[int]
    #: (t,): the score of a sentence end after each token; above 0, the sentence ends.
    scores: NDArray[np.float64]
    #: The words of the multiword tokens, by token number.
    words: dict[int, list[str]]
    #: The text.
    text: str
    #: The start and the stop of each part of the text that no form has, in order.
    removed: list[tuple[int, int]]
    #: Whether the document ends with these tokens.
    ends: bool

    def first(self, count: int) -> Tokens:
        """Return the first `count` tokens, and the text up to the next token."""
        if count == len(self.forms):
            return self
        return self._replace(
            forms=self.forms[:count],
            starts=self.starts[:count],
            stops=self.stops[:count],
            gaps=self.gaps[:count],
            scores=self.scores[:count],
            text=self.text[: self.starts[count]],
            ends=False,
        )

    def shown(self, first: int, stop: int) -> str:
        """Return the text of tokens without the removed parts, with single spaces."""
        start, stop = self.starts[first], self.stops[stop - 1]
        pieces = []
        for begin, end in self.removed[bisect_left(self.removed, (start, 0)) :]:
            if begin >= stop:
                break
            pieces.append(self.text[start:begin])
            start = end
        pieces.append(self.text[start:stop])
        return " ".join("".join(pieces).split())

    def misc(self, before: str, *, paragraphs: bool) -> list[str]:
        """Return MISC of each token: unusual white space, else "_".

        `before` is the white space before the first token. If `paragraphs` are marked, a blank line
        before a paragraph is usual.
        """
        text = self.text
        spaces = [text[i:j] for i, j in zip(self.stops, [*self.starts[1:], len(text)], strict=True)]
        usual = {"": NOT_SPACED, " ": "_"} | ({BETWEEN_PARAGRAPHS: "_"} if paragraphs else {})
        misc = [usual.get(space) or AFTER + escaped(space) for space in spaces]
        if self.ends:
            misc[-1] = AFTER + escaped(spaces[-1]) if spaces[-1] else "_"
        elif self.gaps[-1] != PARAGRAPH and spaces[-1] == BETWEEN_PARAGRAPHS:
            misc[-1] = AFTER + escaped(spaces[-1])
        if before:
            misc[0] = _with(misc[0], BEFORE + escaped(before))
        for t, form in enumerate(self.forms):
            token = text[self.starts[t] : self.stops[t]]
            if token != form:
                misc[t] = _with(misc[t], WITHIN + escaped(token))
        return misc


def _with(misc: str, entry: str) -> str:
    return entry if misc == "_" else f"{misc}|{entry}"


class Writer:
    """Converts tokens to CoNLL-U sentences."""

    def __init__(
        self, name: str | None, warn: Callable[[str], None] | None, *, paragraphs: bool
    ) -> None:
        self._name = name
        self._tell = warn or partial(warnings.warn, stacklevel=2)
        self._paragraphs = paragraphs
        self._count = 0
        self._new = paragraphs  # whether a paragraph begins
        self._space = ""  # the white space before the next token
        self._at = 0  # the place of the next character in the whole text
        self._warned = False

    def pass_over(self, space: str) -> None:
        """Keep white space that stands before the next token."""
        self._space = (self._space + space)[:_MOST_SPACE]
        self._at += len(space)

    def write(self, tokens: Tokens) -> Iterator[Sentence]:
        """Yield the sentences of the tokens; the last sentence ends with the last token."""
        first = 0
        lines: list[str] = []
        begin = self._at
        offsets: list[int] = []
        self.pass_over(tokens.text[: tokens.starts[0]])
        self._at = begin + len(tokens.text)
        misc = tokens.misc(self._space, paragraphs=self._paragraphs)
        self._space = ""
        for stop in self._stops(tokens):
            self._comment(tokens, first, stop, lines)
            offsets.append(begin + tokens.starts[first])
            self._new = self._paragraphs and tokens.gaps[stop - 1] == PARAGRAPH
            number = 1
            for t in range(first, stop):
                form = tokens.forms[t]
                parts = tokens.words.get(t)
                if parts is None:
                    lines.append(f"{number}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc[t]}\n")
                    number += 1
                    continue
                last = number + len(parts) - 1
                lines.append(f"{number}-{last}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc[t]}\n")
                for word in parts:
                    lines.append(f"{number}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n")
                    number += 1
            lines.append("\n")
            first = stop
        cut = read(io.BytesIO("".join(lines).encode()))
        return (
            Sentence(one.raw, one.spans, one.source, one.line, offset=at)
            for one, at in zip(cut, offsets, strict=True)
        )

    def _comment(self, tokens: Tokens, first: int, stop: int, lines: list[str]) -> None:
        if not self._count and self._name is not None:
            lines.append(f"# newdoc id = {self._name}\n" if self._name else "# newdoc\n")
        if self._new:
            lines.append("# newpar\n")
        self._count += 1
        text = tokens.shown(first, stop)
        lines.append(f"# sent_id = {self._prefix()}{self._count}\n# text = {text}\n")

    def _prefix(self, end: str = "-") -> str:
        return f"{self._name}{end}" if self._name else ""

    def _stops(self, tokens: Tokens) -> Iterator[int]:
        """Yield the ends of sentences; sentences that are too long are cut."""
        sizes = [len(tokens.words.get(t, " ")) for t in range(len(tokens.forms))]
        return stops_of(tokens.scores, sizes, self._warn)

    def _warn(self, words: int) -> None:
        if not self._warned:
            self._tell(
                f"{self._prefix(': ')}sentence {self._count + 1} has {words} words: it was cut at "
                f"likely sentence ends, since a sentence has at most {LONGEST_SENTENCE} words "
                "(other long sentences are cut, too)"
            )
            self._warned = True


def with_contractions(sentence: Sentence, parts: Mapping[int, Sequence[str]]) -> Sentence:
    """Return a sentence in which some words became multiword tokens; it has no tree.

    `parts` has the words of each multiword token, by the number of the word that becomes the token.
    The other words keep their columns. A sentence that has multiword tokens does not change.
    """
    if not parts or sentence.multiwords:
        return sentence
    lines: list[str] = []
    shift = 0
    for line in str(sentence.replace(heads=None, deprels=None, deps=None)).split("\n"):
        number, tab, rest = line.partition("\t")
        if not tab or line.startswith("#"):
            lines.append(line)
            continue
        word, dot, empty = number.partition(".")
        words = None if dot else parts.get(int(word))
        first = int(word) + shift
        if words is None:
            lines.append(f"{first}{dot}{empty}\t{rest}")
            continue
        form, *_, misc = rest.split("\t")
        blanks = "\t_" * 7
        lines.append(f"{first}-{first + len(words) - 1}\t{form}{blanks}\t{misc}")
        lines += (f"{first + i}\t{form}{blanks}\t_" for i, form in enumerate(words))
        shift += len(words) - 1
    [split] = read(io.BytesIO("\n".join(lines).encode()))
    return sentence.derived(split.raw, split.spans)


def stops_of(
    scores: NDArray[np.float64], sizes: list[int], cutting: Callable[[int], object]
) -> Iterator[int]:
    """Yield the ends of sentences; call `cutting` with the number of words of a sentence to cut."""
    first = 0
    for stop in [*(np.flatnonzero(scores > 0) + 1).tolist(), len(sizes)]:
        rest = sizes[first:stop]
        while sum(rest) > LONGEST_SENTENCE:
            longest = np.searchsorted(np.cumsum(rest), LONGEST_SENTENCE, side="right")
            fits = max(int(longest), 1)
            least = (fits + 1) // 2
            best = int(np.argmax(scores[first + least - 1 : first + fits]))
            size = least + best
            cutting(sum(rest))
            yield first + size
            first += size
            del rest[:size]
        if first < stop:
            yield stop
        first = stop
