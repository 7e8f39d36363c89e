"""From plain text to sentences: words that stand apart already, or raw text to be split.

The parsers are trained on treebanks, so the words must be cut as treebanks cut them (*do n't*,
*cats 's*). Rules do that well: spaCy's tokenizer for the words, sentencex for the sentences, both
without any model, in the extra ``text``.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from typing import IO, TYPE_CHECKING

from arborescence.errors import ArborescenceError, MissingExtraError, TreebankError
from arborescence.files import opened
from arborescence.treebank import Sentence

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

# spaCy cuts "!!!" and "=====" into single characters, treebanks take each for one word.
_RUN = re.compile(r"([-*=_~+^|$<>])\1+|[!?]+")


def read_tokens(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[Sentence]:
    r"""Read sentences whose words are already separated: one sentence a line, spaces between.

    Parameters
    ----------
    source
        A path, an open binary file, or ``"-"`` for the standard input. Empty lines are skipped.

    Yields
    ------
    Sentence

    Raises
    ------
    TreebankError
        If a line is not UTF-8, naming the file and the line.

    Examples
    --------
    >>> import io
    >>> [sentence.forms for sentence in read_tokens(io.BytesIO(b"Trees grow .\n\nDo n't they ?"))]
    [['Trees', 'grow', '.'], ['Do', "n't", 'they', '?']]
    """
    for line in _lines(source):
        # bytes.split() leaves the no-break space alone, which may stand within a word.
        words = [word.decode() for word in line.encode().split()]
        if words:
            yield Sentence.from_words(words)


def read_text(
    source: str | os.PathLike[str] | IO[bytes], *, language: str = "en"
) -> Iterator[Sentence]:
    r"""Read raw text: paragraphs with empty lines between them, split as `split` does.

    Parameters
    ----------
    source
        A path, an open binary file, or ``"-"`` for the standard input.
    language
        Whose rules to use: an ISO 639 code.

    Yields
    ------
    Sentence
        The first sentence of a paragraph has the comment ``# newpar``.

    Raises
    ------
    TreebankError
        If a line is not UTF-8, naming the file and the line.
    MissingExtraError
        If the extra ``text`` is not installed.

    Examples
    --------
    >>> import io
    >>> for sentence in read_text(io.BytesIO(b"Trees\ngrow. Do they?\n\nThey do.")):
    ...     print(sentence.comments)
    ['# newpar', '# text = Trees grow.']
    ['# text = Do they?']
    ['# newpar', '# text = They do.']
    """
    for filled, lines in groupby(_lines(source), key=lambda line: bool(line.strip())):
        if filled:
            for place, sentence in enumerate(split(" ".join(lines), language=language)):
                new = ["# newpar"] if place == 0 else []
                yield sentence.replace(comments=[*new, *sentence.comments])


def split(text: str, *, language: str = "en") -> Iterator[Sentence]:
    """Split a paragraph of raw text into sentences and words.

    Parameters
    ----------
    text
        One paragraph. Each run of white space, line ends included, counts as one space.
    language
        Whose rules to use: an ISO 639 code.

    Yields
    ------
    Sentence
        With the comment ``# text = …``, and ``SpaceAfter=No`` where no space follows a word.

    Raises
    ------
    MissingExtraError
        If the extra ``text`` is not installed.
    ArborescenceError
        If there are no rules for the language.

    Examples
    --------
    >>> for sentence in split("Mr. Oak doesn't move. Why?!"):
    ...     print(sentence.forms)
    ['Mr.', 'Oak', 'does', "n't", 'move', '.']
    ['Why', '?!']
    """
    sentences_of, tokens_of = _rules(language)
    pieces = [piece for piece in sentences_of(" ".join(text.split())) if piece.strip()]
    for place, piece in enumerate(pieces, 1):
        words = _join_runs(tokens_of(piece.strip()))
        if place < len(pieces):
            words[-1] = words[-1][0], piece[-1].isspace()
        yield Sentence.from_words(
            [word for word, _ in words],
            misc=["_" if spaced else "SpaceAfter=No" for _, spaced in words],
            comments=[f"# text = {piece.strip()}"],
        )


_Token = tuple[str, bool]  # a word, and whether a space follows it


@cache
def _rules(
    language: str,
) -> tuple[Callable[[str], Iterable[str]], Callable[[str], Iterable[_Token]]]:
    """Load the rules of a language: from text to sentences, and from a sentence to words."""
    try:
        import sentencex
        import spacy
    except ImportError as error:
        raise MissingExtraError(
            "raw text needs a tokenizer: install it with `pip install 'arborescence[text]'`, "
            "or give words that are already separated"
        ) from error
    try:
        tokenizer = spacy.blank(language).tokenizer
    except ImportError as error:
        raise ArborescenceError(
            f"there is no tokenizer for the language {language!r} ({error}): give its ISO 639 "
            "code, or words that are already separated"
        ) from error

    def sentences_of(text: str) -> Iterable[str]:
        return sentencex.segment(language, text)  # type: ignore[no-any-return]

    def tokens_of(sentence: str) -> Iterable[_Token]:
        last = len(sentence)
        return [
            (token.text, bool(token.whitespace_) or token.idx + len(token) == last)
            for token in tokenizer(sentence)
        ]

    return sentences_of, tokens_of


def _join_runs(tokens: Iterable[_Token]) -> list[_Token]:
    """Put runs of one symbol together again."""
    joined: list[_Token] = []
    for word, spaced in tokens:
        if joined and not joined[-1][1] and _RUN.fullmatch(joined[-1][0] + word):
            joined[-1] = joined[-1][0] + word, spaced
        else:
            joined.append((word, spaced))
    return joined


def _lines(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, without their ends."""
    with opened(source) as (file, name):
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise TreebankError(
                    f"{name}:{number}: byte {line[error.start]:#04x} is not UTF-8: "
                    "convert the file first"
                ) from error
            yield text.rstrip("\r\n")
