"""``arborescence explain`` and ``trace``: how an algorithm, or a parser, comes to its result."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from arborescence.cli.options import Arguments, JsonOption, OutputOption, ends, usage_errors
from arborescence.cli.progress import counted
from arborescence.cli.sentences import readers_of, sentences_of
from arborescence.core.choices import Algorithm, Root
from arborescence.errors import ScoresError, TreebankError, TreeError
from arborescence.parsers.described import words_of
from arborescence.parsers.shared.options import System
from arborescence.system.files import writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence.explaining import Step
    from arborescence.parsers import GraphParser, Parser
    from arborescence.transitions import Transition
    from arborescence.treebank import Sentence

    Scores = tuple[Any, Sequence[str] | None]
    Derivation = tuple[Sentence, list[Transition]]


def explain(
    scores: Annotated[Path | None, typer.Argument(metavar="SCORES.csv|npy")] = None,
    sentence: str | None = None,
    algorithm: Algorithm = "root-constraint",
    root: Root | None = None,
    k: Annotated[int | None, typer.Option("-k", "--k")] = None,
    rules: Annotated[str | None, typer.Option(metavar="ud|FILE.toml")] = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
    exercise: Annotated[int | None, typer.Option(metavar="N")] = None,
    seed: int | None = None,
) -> None:
    """Show the steps by which an algorithm finds a tree, each with a sentence that says what.

    Parameters
    ----------
    scores
        Scores (N, N), a row for each head and a column for each dependent, the root first: an .npy
        file, or a .csv file, where an empty cell is an absent edge, and a first line may have the
        names.
    sentence
        Words with spaces between, instead of scores: the default model scores them.
    algorithm
        What is explained.
    root
        One root edge, or one or more; by default what fits the algorithm.
    k
        The number of trees, for kbest.
    rules
        With --sentence: the search for the best tree that keeps these rules.
    output
        Write text, or by the ending .json, or .html: a page that computes some anew.
    as_json
        Write all data as JSON, instead of text.
    exercise
        Write so many exercises into the file of -o, and their solutions into one beside it.
    seed
        For --exercise: the number of the first one; by default 0.

    Examples
    --------
    arborescence explain scores.csv
    arborescence explain scores.npy --algorithm kbest -k 5
    arborescence explain --sentence 'we wash our cats' --algorithm eisner
    arborescence explain --sentence 'The day she sold it was cold .' --rules ud
    arborescence explain scores.csv --json | jq '.steps[].text'
    arborescence explain scores.csv -o page.html
    arborescence explain --exercise 12 -o sheet.html
    """
    from arborescence import explaining

    if exercise is not None:
        if not ends(output, ".html") or scores is not None or sentence is not None or as_json:
            raise typer.BadParameter("--exercise goes with -o FILE.html and --seed, nothing else")
        write_sheet(exercise, seed or 0, Path(output or ""))
        return
    if seed is not None:
        raise typer.BadParameter("--seed is for --exercise")
    if (scores is None) == (sentence is None):
        raise typer.BadParameter("give a file of scores, or --sentence")
    page = ends(output, ".html")
    if page and as_json:
        raise typer.BadParameter("a web page is no JSON: -o FILE.html or --json")
    if rules is not None and (sentence is None or k is not None or algorithm != "root-constraint"):
        raise typer.BadParameter("--rules goes with --sentence, and with no --algorithm or -k")
    as_data = as_json or ends(output, ".json")
    with usage_errors():
        if rules is not None:
            steps = searched(sentence or "", rules, root or "single")
            written = as_page(steps) if page else as_text(steps, as_data)
        else:
            values, words = read(scores) if scores is not None else scored(sentence or "")
            options: dict[str, Any] = {"root": root, "k": k, "words": words}
            if page:
                from arborescence.explaining.page import explain_html

                written = explain_html(values, algorithm, **options)
            else:
                written = as_text(explaining.explain(values, algorithm, **options), as_data)
    write(output or "-", written)


def as_text(steps: Sequence[Step], as_data: bool) -> str:
    """Return steps as JSON, or as numbered texts."""
    if as_data:
        from arborescence.explaining import as_json

        return json.dumps(as_json(steps), ensure_ascii=False) + "\n"
    return "\n\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1)) + "\n"


def as_page(steps: Sequence[Step]) -> str:
    """Return the steps of a search as a web page."""
    from arborescence.explaining.page import search_html

    return search_html(steps)


def write_sheet(count: int, seed: int, path: Path) -> None:
    """Write a sheet of exercises, and its solutions into another file: ``name-solutions.html``."""
    from arborescence.explaining.page import exercise_sheet

    with usage_errors():
        sheet, solutions = exercise_sheet(count, seed)
    write(path, sheet)
    write(path.with_name(f"{path.stem}-solutions{path.suffix}"), solutions)


def write(path: str | Path, text: str) -> None:
    """Write a text, to the standard output if the path is ``-``."""
    with writing(path) as file:
        file.write(text.encode())


def scored(sentence: str) -> Scores:
    """Return the default model's scores of a sentence, and its words."""
    from arborescence.parsers import load
    from arborescence.treebank import Sentence

    words = sentence.split()
    return load().scores(Sentence.from_words(words)), words


def searched(sentence: str, rules: str, root: Root) -> list[Step]:
    """Return the steps of the search for the best tree of the default model that keeps rules."""
    from arborescence.explaining import explain_constrained
    from arborescence.parsers import Keeper, load
    from arborescence.rules import conflicts_of
    from arborescence.treebank import Sentence

    words = sentence.split()
    keeper, parser = Keeper(rules), cast("GraphParser", load())
    [parsed] = parser.parse([Sentence.from_words(words)])
    trees = keeper.look([parsed]).sentence(0)._replace(label_names=tuple(parser.labels))
    return explain_constrained(
        parser.labeled_scores(parsed),
        conflicts_of(keeper.rules, trees),
        root=root,
        words=words,
        labels=parser.labels,
    )


def read(path: Path) -> Scores:
    """Read scores, and names if there are any, from a file."""
    if path.suffix.lower() == ".csv":
        return read_csv(path)
    from arborescence.cli.decode import load_scores

    return load_scores(path)[0], None


def read_csv(path: Path) -> Scores:
    """Read scores and names from a .csv file."""
    rows: list[list[float]] = []
    words: list[str] | None = None
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [(number, row) for number, row in enumerate(csv.reader(file), 1) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScoresError(f"{path}: not a .csv file of scores: {error}") from None
    for place, (number, row) in enumerate(lines):
        try:
            rows.append([float(cell) if cell.strip() else float("-inf") for cell in row])
        except ValueError as error:
            if place == 0:
                words = [cell.strip() for cell in row[1:]]
                continue
            raise ScoresError(
                f"{path}:{number}: {error}; an absent edge is an empty cell"
            ) from None
    size = len(rows)
    for number, row in lines:
        if len(row) != size:
            raise ScoresError(
                f"{path}:{number}: {len(row)} cells; {size} lines of scores have as many each"
            )
    if not rows:
        raise ScoresError(f"{path}: no scores")
    return rows, words


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
    sentences = chosen(wanted(words, format, parser, treebank), sentence, treebank)
    name = system or "arc-standard"
    if parser:
        if isinstance(parser, TransitionParser) and system in (None, parser.system):
            made = ((each, parser.derivation(each)) for each in sentences)
            return show(made, parser.system, relations, output, as_json)
        sentences = parser.parse(sentences)
    made = ((each, derived(each, name)) for each in sentences)
    return show(made, name, relations, output, as_json)


def wanted(
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
