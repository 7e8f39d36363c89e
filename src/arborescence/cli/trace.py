"""``arborescence trace``: the transition sequence (derivation) of a tree, step by step."""

from __future__ import annotations

import json
import os
import shutil
import sys
from io import BytesIO
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arborescence.cli.options import Arguments, JsonOption, OutputOption, ends
from arborescence.cli.progress import counted
from arborescence.cli.sentences import readers_of, sentences_of
from arborescence.errors import TreebankError, TreeError
from arborescence.parsers.described import words_of
from arborescence.parsers.shared.options import System
from arborescence.system.files import writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.parsers import Parser
    from arborescence.transitions import Transition
    from arborescence.treebank import Sentence

    Derivation = tuple[Sentence, list[Transition]]


#: The input formats of a sentence.
Words = Literal["tokens", "text"]


def trace(
    words: Arguments = None,
    model: Annotated[str | None, typer.Option("--model", "-m")] = None,
    format: Words = "tokens",  # noqa: A002
    treebank: str | None = None,
    sentence: Annotated[str | None, typer.Option(metavar="N|ID|all")] = None,
    system: System | None = None,
    relations: bool = True,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show stack, buffer and action of each step by which a tree is built.

    A transition-based model shows how it parses. A tree of another model, or of a treebank, is
    built by the static oracle of the transition system.

    Parameters
    ----------
    words
        A sentence to parse; nothing: the standard input.
    model
        What parses: a model file, 'english' or 'english-fast'. If not given, 'english' for words,
        and nothing for a treebank.
    format
        A sentence a line with spaces between the words, or raw text.
    treebank
        Show how a tree of this treebank is built ('-': the standard input).
    sentence
        Which sentence: its place, from 1, or its sent_id. Of a treebank, the first.
    system
        By what transitions; else the model's, or arc-standard.
    relations
        Whether to show the edges' relations.
    output
        Write tables, or by the ending .html or .json.
    as_json
        Write JSON, a sentence a line, instead.

    Examples
    --------
    arborescence trace 'we vigorously wash our cats who stink'
    arborescence trace --format text --system arc-eager 'Stop! Who washes our cats?'
    arborescence trace --treebank gold.conllu --sentence 3 --system swap
    arborescence trace --treebank gold.conllu --sentence all -o derivations.html
    arborescence trace -m my.model --treebank test.conllu --json | jq '.steps[].action'
    """
    if treebank and words:
        raise typer.BadParameter("give words or --treebank, not both")
    if ends(output, ".html") and as_json:
        raise typer.BadParameter("a web page is no JSON: -o FILE.html or --json")
    parser = None
    if model or not treebank:
        from arborescence.parsers import TransitionParser, load

        parser = load(model)
    sentences = chosen(read(words, format, parser, treebank), sentence, treebank)
    name = system or "arc-standard"
    if parser:
        if isinstance(parser, TransitionParser) and system in (None, parser.system):
            made = ((each, parser.derivation(each)) for each in sentences)
            return show(made, parser.system, relations, output, as_json)
        sentences = parser.parse(sentences)
    made = ((each, derived(each, name)) for each in sentences)
    return show(made, name, relations, output, as_json)


def read(
    words: list[str] | None,
    writing: Words,
    parser: Parser | None,
    treebank: str | None,
) -> Iterator[Sentence]:
    """Read the sentences of the arguments, of a treebank, or of the standard input."""
    if treebank:
        return sentences_of([treebank], readers_of("conllu", None))
    reader = readers_of(writing, None, parser)
    return reader(BytesIO(os.fsencode(" ".join(words)))) if words else sentences_of(None, reader)


def chosen(
    sentences: Iterable[Sentence], which: str | None, treebank: str | None
) -> Iterator[Sentence]:
    """Leave the sentence that was asked for: of a treebank the first, else all."""
    which = which or ("1" if treebank else "all")
    count = 0
    for count, sentence in enumerate(sentences, 1):
        if which == "all":
            yield sentence
        elif which == (str(count) if which.isdecimal() else sentence.sent_id):
            yield sentence
            return
    if which != "all":
        where = "the input" if treebank in (None, "-") else treebank
        what = which if which.isdecimal() else f"with the sent_id {which!r}"
        raise TreebankError(f"{where} has no sentence {what}, but {count} others")


def derived(sentence: Sentence, system: str) -> list[Transition]:
    """Return the static oracle's transitions, or say which sentence has no such tree."""
    from arborescence.drawing.text import head_list
    from arborescence.transitions import get_system

    try:
        return get_system(system).derivation(head_list(sentence), sentence.deprels, root="multi")
    except TreeError as error:
        if not sentence.source:
            raise
        raise TreeError(f"{sentence.source}:{sentence.line}: {error}") from error


def show(
    derivations: Iterator[Derivation],
    system: str,
    relations: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Write the derivations as a web page, as JSON, or as text that fits the terminal."""
    from arborescence import drawing

    if output and ends(output, ".html"):
        kept = list(counted(derivations, "derivations", printed=False))
        page = drawing.trace_html(
            *(sentence for sentence, _ in kept),
            system=system,
            transitions=[made for _, made in kept],
            relations=relations,
        )
        with writing(output) as file:
            file.write(page.encode())
        return
    terminal = not output and sys.stdout.isatty()
    as_json = as_json or ends(output, ".json", ".jsonl")
    with writing(output or "-") as file:
        for sentence, made in derivations:
            if as_json:
                line = json.dumps(described(sentence, system, made), ensure_ascii=False)
                file.write(f"{line}\n".encode())
                continue
            known = [c for c in sentence.comments if c.startswith(("# sent_id", "# text ="))]
            table = drawing.trace(
                sentence,
                system=system,
                transitions=made,
                relations=relations,
                width=shutil.get_terminal_size().columns if terminal else None,
                color=terminal and not os.environ.get("NO_COLOR"),
            )
            file.write("\n".join([*known, f"# system = {system}", table, ""]).encode())


def described(sentence: Sentence, system: str, transitions: list[Transition]) -> dict[str, Any]:
    """Describe a derivation, ready for JSON: nodes are numbers, 0 is the root."""
    from arborescence.drawing.derivation import steps

    made = [step._asdict() for step in steps(sentence, system, transitions)]
    return {**words_of(sentence), "system": system, "steps": made}
