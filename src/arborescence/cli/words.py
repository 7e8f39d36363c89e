"""``arborescence split`` and ``tag``: sentences, words, tags and lemmas, without trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from arborescence.cli.options import Arguments, JsonOption, OutputOption, QuietOption
from arborescence.cli.progress import counted, say
from arborescence.cli.sentences import Format, deliver, hinted
from arborescence.parsers.described import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from arborescence.treebank import Sentence

_Model = Annotated[str | None, typer.Option("--model", "-m", show_default="english")]


def split(
    files: Arguments = None,
    model: _Model = None,
    output: OutputOption = None,
    lines: bool = False,
    words: bool = False,
    quiet: QuietOption = False,
) -> None:
    """Split raw text into sentences, one on a line.

    Parameters
    ----------
    files
        Text; '-' or nothing: the standard input.
    model
        A model: its file, or its name if it is installed.
    output
        Write CoNLL-U with the words, instead of lines.
    lines
        Each line is a sentence already, to be split into words.
    words
        Write spaces between the words of a line.

    Examples
    --------
    arborescence split letter.txt
    arborescence split --words letter.txt > letter.tok
    arborescence split -m turkish.model mektup.txt.gz -o mektup.conllu
    """
    from arborescence.parsers import load

    sentences = hinted(files, "lines" if lines else "text", load(model), quiet)
    if output:
        deliver(_counted(sentences, "split", output, quiet), output=output)
        return
    for sentence in sentences:
        text = sentence.text or " ".join(sentence.forms)
        say(" ".join(sentence.forms if words else text.split()))


def tag(
    files: Arguments = None,
    model: _Model = None,
    output: OutputOption = None,
    format: Format = "conllu",  # noqa: A002
    overwrite: bool = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find tags and lemmas by the linear tagger of a model, without trees.

    Parameters
    ----------
    files
        What to tag; '-' or nothing: the standard input.
    model
        A model: its file, or its name if it is installed.
    output
        Write CoNLL-U, or JSON by the ending .json.
    format
        CoNLL-U; a sentence a line with spaces between the words; raw text; or raw text with a
        sentence on each line.
    overwrite
        Replace tags and lemmas that are given.
    as_json
        Write JSON, a sentence a line, instead of CoNLL-U.

    Examples
    --------
    arborescence tag --format text letter.txt -o letter.conllu
    echo 'Birds sing .' | arborescence tag --format tokens
    """
    from arborescence.parsers import load

    parser = load(model)
    tagged = parser.tag(hinted(files, format, parser, quiet), overwrite=overwrite)
    output = output or "-"
    found = _counted(tagged, "tagged", output, quiet)
    deliver(found, output=output, as_json=as_json, describe=_tags_of)


def _counted(
    sentences: Iterator[Sentence], done: str, output: str, quiet: bool
) -> Iterator[list[Sentence]]:
    each = ([sentence] for sentence in sentences)
    return counted(each, f"sentences {done}", printed=output == "-", quiet=quiet)


def _tags_of(analyses: list[Sentence]) -> dict[str, Any]:
    [sentence] = analyses
    return words_of(sentence) | {"lemmas": sentence.lemmas, "feats": sentence.feats}
