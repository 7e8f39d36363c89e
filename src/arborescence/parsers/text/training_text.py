"""Training data of a tokenizer: a treebank's raw text by ``SpaceAfter=No``, and where words end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence

# Line breaks in training: the share of paragraphs that are wrapped at a random width, and the share
# with one line per sentence.
_WRAPPED: Final = 0.25
_A_LINE_EACH: Final = 0.25
_WIDTHS: Final = (40, 100)
# The mean number of sentences per paragraph, for a treebank without paragraph marks.
_PARAGRAPH: Final = 5

# Groups: the number of a word; or of the first and the last word of a multiword token; FORM, MISC.
_TOKEN: Final = re.compile(r"^(\d+)(?:-(\d+))?\t([^\t]*)\t.*\t([^\t\n]*)$", re.MULTILINE)


class Token(NamedTuple):
    """A token: its form, its words if it has several, and whether a space follows."""

    form: str
    words: tuple[str, ...] | None
    spaced: bool


#: The tokens of each sentence.
Paragraph = list[list[Token]]


def tokens_of(treebank: Iterable[Sentence]) -> list[Paragraph]:
    """Return the tokens of a treebank, by paragraphs and sentences."""
    paragraphs: list[Paragraph] = []
    for sentence in treebank:
        new = any(comment.startswith(("# newpar", "# newdoc")) for comment in sentence.comments)
        if new or not paragraphs:
            paragraphs.append([])
        paragraphs[-1].append(_tokens(sentence))
    return paragraphs


def text_of(treebank: Iterable[Sentence]) -> str:
    """Return the raw text of a treebank, with a blank line between paragraphs."""
    return "\n\n".join(
        "".join(token.form + " " * token.spaced for sentence in each for token in sentence).strip()
        for each in tokens_of(treebank)
    )


def _tokens(sentence: Sentence) -> list[Token]:
    tokens: list[Token] = []
    forms = sentence.forms
    last = 0
    for begin, end, form, misc in _TOKEN.findall(str(sentence)):
        first, stop = int(begin), int(end or begin)
        if first > last:  # else a word of a multiword token
            words = tuple(forms[first - 1 : stop]) if end else None
            spaced = "SpaceAfter=No" not in misc.split("|")
            tokens.append(Token(" ".join(form.split()) or "_", words, spaced))
            last = stop
    return tokens


class TrainingText(NamedTuple):
    """A text, and the ends of its tokens and sentences."""

    text: str
    # token_ends, sentence_ends: (len(text),): whether a token, or a sentence, ends with each
    # character
    token_ends: NDArray[np.bool_]
    sentence_ends: NDArray[np.bool_]

    @classmethod
    def of(
        cls, paragraphs: Sequence[Paragraph], generator: np.random.Generator, *, plain: bool
    ) -> Self:
        """Make the text of paragraphs: plain, or with random line ends."""
        pieces: list[str] = []
        token_ends: list[int] = []
        sentence_ends: list[int] = []
        size = 0
        for paragraph in paragraphs if plain else _shorter(paragraphs, generator):
            layout = 1.0 if plain else generator.random()
            width = int(generator.integers(*_WIDTHS)) if layout < _WRAPPED else 0
            a_line_each = _WRAPPED <= layout < _WRAPPED + _A_LINE_EACH
            line = size
            for sentence in paragraph:
                for place, token in enumerate(sentence, 1):
                    if width and size + len(token.form) - line > width and pieces[-1] == " ":
                        pieces[-1] = "\n"
                        line = size
                    pieces.append(token.form)
                    size += len(token.form)
                    token_ends.append(size - 1)
                    if place == len(sentence):
                        sentence_ends.append(size - 1)
                    if place == len(sentence) and a_line_each:
                        pieces.append("\n")
                        size += 1
                    elif token.spaced:
                        pieces.append(" ")
                        size += 1
            pieces.append("\n\n")
            size += 2
        return cls("".join(pieces), _marks(token_ends, size), _marks(sentence_ends, size))


def _marks(places: list[int], size: int) -> NDArray[np.bool_]:
    marks = np.zeros(size, dtype=np.bool_)
    marks[places] = True
    return marks


def _shorter(
    paragraphs: Sequence[Paragraph], generator: np.random.Generator
) -> Sequence[Paragraph]:
    """Cut the text into random paragraphs if the treebank has no paragraph marks."""
    if len(paragraphs) > 1:
        return paragraphs
    shorter: list[Paragraph] = [[]]
    for sentence in paragraphs[0]:
        shorter[-1].append(sentence)
        if generator.random() < 1 / _PARAGRAPH:
            shorter.append([])
    return [paragraph for paragraph in shorter if paragraph]
