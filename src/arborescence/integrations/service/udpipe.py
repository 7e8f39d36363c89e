"""UDPipe's REST interface: its formats and options.

Unsupported options are refused, never ignored: a tool that relies on an option must get an error.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import OptionError
from arborescence.treebank.conllu import read
from arborescence.treebank.sentence import Sentence
from arborescence.treebank.spaces import with_misc, with_ranges
from arborescence.treebank.surface import WHITE_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: UDPipe's formats.
INPUTS: Final = ("conllu", "horizontal", "vertical", "generic_tokenizer")
OUTPUTS: Final = ("conllu", "horizontal", "vertical")
_PARAMETERS: Final = ("data", "model", "input", "tokenizer", "tagger", "parser", "output")
_TOKENIZER: Final = ("presegmented", "ranges", "normalized_spaces")


def check(content: Mapping[str, str]) -> None:
    """Refuse parameters and options that are unknown or not supported."""
    for name in content:
        if name not in _PARAMETERS:
            raise OptionError(f"there is no parameter {name!r}: {', '.join(_PARAMETERS)}")
    for name in ("tagger", "parser"):
        if content.get(name, "") not in ("", "none"):
            raise OptionError(f"the {name} has no options here: leave it empty, or give none")
    output = content.get("output", "conllu")
    if output not in OUTPUTS:
        raise OptionError(f"output must be one of {', '.join(OUTPUTS)}, but is {output!r}")


def wanted(content: Mapping[str, str], name: str) -> bool:
    """Return whether a request asks for the tagger, or for the parser."""
    return content.get(name, "none") != "none"


def sentences_of(content: Mapping[str, str], parser: Any) -> Iterator[Sentence]:
    """Read the sentences of a request; with ``tokenizer`` the data is raw text.

    Raises
    ------
    OptionError, TreebankError, ModelError
        If there is no data, its format or an option is unknown or unsupported, or the model cannot
        cut text.
    """
    data = content.get("data")
    if data is None:
        raise OptionError("the parameter data is missing")
    form, equals, options = content.get("input", "conllu").partition("=")
    if "tokenizer" in content:
        form, options = "generic_tokenizer", content["tokenizer"]
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
    """Return the words of a sentence in a line, separated by spaces or tabs."""
    return [word for word in re.split("[ \t]", line) if word]


def _vertical(block: str) -> list[str]:
    """Return the words of a sentence, one in a line; a tab ends the word."""
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
    if "ranges" in options:
        cut = with_ranges(cut)
    return map(_without_spaces, cut) if "normalized_spaces" in options else cut


def _without_spaces(sentence: Sentence) -> Sentence:
    """Return a sentence without the white space in MISC."""
    return with_misc(
        sentence, lambda token: [each for each in token.misc if not each.startswith(WHITE_SPACE)]
    )


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
