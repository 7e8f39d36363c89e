"""UDPipe's REST interface: its formats and options.

Unsupported options are refused, never ignored: a tool that relies on an option must get an error.
"""

from __future__ import annotations

import io
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import OptionError
from arborescence.treebank.conllu import read
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: UDPipe's formats.
INPUTS: Final = ("conllu", "horizontal", "vertical", "generic_tokenizer")
OUTPUTS: Final = ("conllu", "horizontal", "vertical")
_PARAMETERS: Final = ("data", "model", "input", "tokenizer", "tagger", "parser", "output")
_TOKENIZER: Final = ("presegmented", "ranges", "normalized_spaces")
_SPACES: Final = ("SpacesBefore=", "SpacesAfter=", "SpacesInToken=")


def check(asked: Mapping[str, str]) -> None:
    """Refuse parameters and options that are unknown or not supported."""
    for name in asked:
        if name not in _PARAMETERS:
            raise OptionError(f"there is no parameter {name!r}: {', '.join(_PARAMETERS)}")
    for name in ("tagger", "parser"):
        if asked.get(name, "") not in ("", "none"):
            raise OptionError(f"the {name} has no options here: leave it empty, or give none")
    output = asked.get("output", "conllu")
    if output not in OUTPUTS:
        raise OptionError(f"output must be one of {', '.join(OUTPUTS)}, but is {output!r}")


def wanted(asked: Mapping[str, str], name: str) -> bool:
    """Return whether a request needs the tagger, or the parser."""
    return asked.get(name, "none") != "none"


def sentences_of(asked: Mapping[str, str], parser: Any) -> Iterator[Sentence]:
    """Read the sentences of a request; with ``tokenizer`` the data is raw text.

    Raises
    ------
    OptionError, TreebankError, ModelError
        If there is no data, its format or an option is unknown or unsupported, or the model cannot
        cut text.
    """
    data = asked.get("data")
    if data is None:
        raise OptionError("the parameter data is missing")
    form, equals, options = asked.get("input", "conllu").partition("=")
    if "tokenizer" in asked:
        form, options = "generic_tokenizer", asked["tokenizer"]
    if form not in INPUTS:
        raise OptionError(f"input must be one of {', '.join(INPUTS)}, but is {form!r}")
    if form == "generic_tokenizer":
        return _cut(data, {each for each in options.split(";") if each}, parser)
    if equals:
        raise OptionError(f"the input {form} has no options here, but has {options!r}")
    if form == "conllu":
        return read(io.BytesIO(f"{data.rstrip()}\n\n".encode())) if data.strip() else iter(())
    lines = data.replace("\r\n", "\n")
    sentences = map(_horizontal, lines.split("\n"))
    if form == "vertical":
        sentences = map(_vertical, re.split("\n\n+", lines))
    return (Sentence.from_words(words) for words in sentences if words)


def _horizontal(line: str) -> list[str]:
    """Return the words of a sentence in a line: only spaces, and tabs, are between them."""
    return [word for word in re.split("[ \t]", line) if word]


def _vertical(block: str) -> list[str]:
    """Return the words of a sentence, each in a line: what a tab follows."""
    words = (line.partition("\t")[0] for line in block.split("\n"))
    return [word for word in words if word.strip(" ")]


def _cut(data: str, options: set[str], parser: Any) -> Iterator[Sentence]:
    """Cut raw text by the options of UDPipe's tokenizer."""
    if unknown := options - set(_TOKENIZER):
        raise OptionError(
            f"the tokenizer has no option {min(unknown)!r} here: {', '.join(_TOKENIZER)}"
        )
    if not data.strip():
        return iter(())
    if "presegmented" in options:
        cut: Iterator[Sentence] = parser.read_text(io.BytesIO(data.encode()), lines=True)
    else:
        cut = parser.split(data)
    if "normalized_spaces" in options:
        cut = (_marked(one, lambda _, misc: _without_spaces(misc)) for one in cut)
    return _with_ranges(cut, data) if "ranges" in options else cut


def _without_spaces(misc: list[str]) -> list[str]:
    return [each for each in misc if not each.startswith(_SPACES)]


def _with_ranges(sentences: Iterable[Sentence], data: str) -> Iterator[Sentence]:
    """Write the place of each token in the text into MISC, in characters."""
    end = 0

    def ranged(form: str, misc: list[str]) -> list[str]:
        nonlocal end
        start = end
        while start < len(data) and not data.startswith(form, start) and _blank(data[start]):
            start += 1
        if not data.startswith(form, start):
            raise OptionError(f"ranges: the token {form!r} does not stand so in the text")
        end = start + len(form)
        return [*misc, f"TokenRange={start}:{end}"]

    for sentence in sentences:
        yield _marked(sentence, ranged)


def _blank(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) in ("Cc", "Cf")


def _marked(sentence: Sentence, changed: Any) -> Sentence:
    """Return a sentence with other MISC of its tokens."""
    lines, last = str(sentence).split("\n"), 0
    for number, line in enumerate(lines):
        columns = line.split("\t")
        first, _, end = columns[0].partition("-")
        if len(columns) != 10 or not first.isdigit() or int(first) <= last:
            continue  # no token: a comment, an empty node, or a word of a token
        last = int(end or first)
        misc = changed(columns[1], [] if columns[9] == "_" else columns[9].split("|"))
        lines[number] = "\t".join([*columns[:9], "|".join(misc) or "_"])
    [marked] = read(io.BytesIO("\n".join(lines).encode()))
    return marked


def written(sentences: list[Sentence], form: str) -> str:
    """Return sentences as text in a format."""
    if form == "conllu":
        return "".join(
            text if text.endswith("\n\n") else f"{text}\n" for text in map(str, sentences)
        )
    if form == "horizontal":  # a space within a word is a no-break space, as UDPipe has it
        lines = (" ".join(word.replace(" ", "\u00a0") for word in one.forms) for one in sentences)
        return "".join(f"{line}\n" for line in lines)
    return "".join("\n".join(sentence.forms) + "\n\n" for sentence in sentences)
