"""The formats of UDPipe's REST interface: what comes in, and what goes out."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import OptionError
from arborescence.treebank.conllu import read
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

INPUTS: Final = ("conllu", "horizontal", "vertical", "generic_tokenizer")
OUTPUTS: Final = ("conllu", "horizontal", "vertical")


def sentences_of(asked: Mapping[str, str], parser: Any) -> list[Sentence]:
    """Read the sentences of a request; with ``tokenizer`` the data is raw text.

    Raises
    ------
    OptionError, TreebankError, ModelError
        If there is no data, its format is not known or not kept, or the model cannot cut text.
    """
    data = asked.get("data")
    if data is None:
        raise OptionError("the parameter data is missing")
    form = "generic_tokenizer" if "tokenizer" in asked else asked.get("input", "conllu")
    form = form.partition("=")[0]
    if form == "generic_tokenizer":
        return list(parser.split(data)) if data.strip() else []
    if form == "conllu":
        return list(read(io.BytesIO(f"{data.rstrip()}\n\n".encode()))) if data.strip() else []
    if form == "horizontal":
        lines = [line.split() for line in data.splitlines()]
    elif form == "vertical":
        lines = [block.split() for block in data.replace("\r", "").split("\n\n")]
    else:
        raise OptionError(f"input must be one of {', '.join(INPUTS)}, and is {form!r}")
    return [Sentence.from_words(words) for words in lines if words]


def written(sentences: list[Sentence], form: str) -> str:
    """Return sentences as text in a format."""
    if form == "conllu":
        return "".join(
            text if text.endswith("\n\n") else f"{text}\n" for text in map(str, sentences)
        )
    if form == "horizontal":
        return "".join(" ".join(sentence.forms) + "\n" for sentence in sentences)
    if form == "vertical":
        return "".join("\n".join(sentence.forms) + "\n\n" for sentence in sentences)
    raise OptionError(f"output must be one of {', '.join(OUTPUTS)}, and is {form!r}")
