r"""The white space of a text in the column MISC, as in UDPipe and Universal Dependencies.

``SpaceAfter=No``: no space follows a token; ``SpacesAfter=\n``: white space other than one space
follows; ``SpacesBefore=\s``: white space stands before the first word;
``SpacesInToken=10\u00A0000``: the token in the text, if its form has other white space.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from arborescence.treebank.conllu import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arborescence.treebank.sentence import Sentence

    Range = tuple[int, int]

NOT_SPACED: Final = "SpaceAfter=No"
AFTER, BEFORE, WITHIN = "SpacesAfter=", "SpacesBefore=", "SpacesInToken="
RANGE: Final = "TokenRange="
#: The white space between two paragraphs without an entry in MISC.
BETWEEN_PARAGRAPHS: Final = "\n\n"

_NAMES: Final = {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r", "|": r"\p", "\\": r"\\"}
_CHARACTERS: Final = {name[1]: character for character, name in _NAMES.items()}
_RANGE: Final = re.compile(r"(\d+):(\d+)")
_ESCAPED: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))")
# Groups: the number of a word, or of the first word of a multiword token; of its last word; FORM;
# MISC.
_TOKEN: Final = re.compile(r"^(\d+)(?:-(\d+))?\t([^\t]*)\t.*\t([^\t\n]*)$", re.MULTILINE)


class Surface(NamedTuple):
    """A token of a sentence: a word, or a multiword token."""

    #: The number of the first word.
    first: int
    #: The number of the last word of a multiword token; 0 for a word.
    last: int
    #: The form.
    form: str
    #: The entries of MISC.
    misc: list[str]

    def value(self, name: str) -> str | None:
        """Return the value in MISC under a name, which ends in ``=``, or None."""
        for entry in self.misc:
            if entry.startswith(name):
                return unescaped(entry[len(name) :])
        return None


def surface(sentence: Sentence) -> Iterator[Surface]:
    """Yield the tokens of a sentence, without words of multiword tokens and empty nodes."""
    done = 0
    for begin, end, form, misc in _TOKEN.findall(str(sentence)):
        first, last = int(begin), int(end or 0)
        if first > done:
            yield Surface(first, last, form, misc.split("|"))
            done = last or first


def escaped(text: str) -> str:
    r"""Write white space and other characters that do not print in the escapes of MISC.

    >>> print(escaped("a \n\u00a0"))
    a\s\n\u00A0
    """
    return "".join(
        _NAMES.get(c) or (c if c.isprintable() or c > "\uffff" else f"\\u{ord(c):04X}")
        for c in text
    )


def unescaped(value: str) -> str:
    r"""Read the escapes of `escaped`; other escapes stay unchanged.

    >>> unescaped(r"a\s\n\u00A0\x")
    'a \n\xa0\\x'
    """
    return _ESCAPED.sub(_character, value) if "\\" in value else value


def _character(match: re.Match[str]) -> str:
    code, name = match.groups()
    if not code:
        return _CHARACTERS.get(name, match[0])
    character = chr(int(code, 16))
    return match[0] if "\ud800" <= character <= "\udfff" else character


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
        In the order of the text. The text of sentences that were not cut from a text is the one
        that `raw_text` makes of them, for each file, and each list of words, a new one.

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
        at = _ranges(sentence, tokens)[-1][1]
        yield sentence


def ranges_of(sentence: Sentence) -> list[Range]:
    """Return the place of each word in the text: see `Sentence.ranges`."""
    [(_, tokens, _)] = placed_tokens([sentence])
    return _ranges(sentence, tokens)


def _ranges(sentence: Sentence, tokens: list[Placed]) -> list[Range]:
    """Return the places by TokenRange of all tokens, or else by the offset and the gaps."""
    ranges: list[Range] = []
    known = [_RANGE.fullmatch(token.value(RANGE) or "") for _, token, _ in tokens]
    at = (sentence.offset or 0) - len(tokens[0][0])
    for (gap, token, written), given in zip(tokens, known, strict=True):
        start = at + len(gap)
        at = start + len(written)
        here = (int(given[1]), int(given[2])) if given and all(known) else (start, at)
        ranges += [here] * (max(token.last, token.first) - token.first + 1)
    return ranges


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

    def replaced(found: re.Match[str]) -> str:
        entries = lines.get((int(found[1]), int(found[2] or 0)))
        if entries is None:
            return found[0]
        return found[0][: found.start(4) - found.start()] + ("|".join(entries) or "_")

    [again] = read(io.BytesIO(_TOKEN.sub(replaced, str(sentence)).encode()))
    return sentence.derived(again.raw, again.spans)


#: The gap before a token, the token, and its characters in the text.
Placed = tuple[str, Surface, str]


def placed_tokens(
    sentences: Iterable[Sentence],
) -> Iterator[tuple[Sentence, list[Placed], str]]:
    """Yield each sentence with its tokens, and what follows the sentence at the end of the text."""
    begun = False
    after: str | None = ""  # None: MISC has no entry
    for sentence in sentences:
        if begun and after in (None, "") and begins_paragraph(sentence):
            after = BETWEEN_PARAGRAPHS
        begun = True
        tokens: list[Placed] = []
        for token in surface(sentence):
            gap = (" " if after is None else after) + (token.value(BEFORE) or "")
            tokens.append((gap, token, token.value(WITHIN) or token.form))
            after = "" if NOT_SPACED in token.misc else token.value(AFTER)
        yield sentence, _as_in_comment(sentence.text, tokens), after or ""


def _as_in_comment(text: str | None, tokens: list[Placed]) -> list[Placed]:
    """Return tokens with the gaps of ``# text`` where MISC has others, if each token is there."""
    by_misc = " ".join("".join(gap + written for gap, _, written in tokens).split())
    if text is None or text == by_misc:
        return tokens
    at = 0
    found: list[Placed] = []
    for gap, token, written in tokens:
        start = at if text.startswith(written, at) else text.find(written, at)
        between = text[at:start] if start >= 0 else written
        if between.strip():
            return tokens
        found.append((between if found else gap, token, written))
        at = start + len(written)
    return found


def begins_paragraph(sentence: Sentence) -> bool:
    """Return whether a comment says that a paragraph or a document begins."""
    return any(comment.startswith(("# newpar", "# newdoc")) for comment in sentence.comments)
