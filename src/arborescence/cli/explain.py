"""``arborescence explain`` and ``trace``: the steps of an algorithm, or of a parser."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arborescence.cli.decode import EdgesOption, demanded, load_scores
from arborescence.cli.options import EncodingOption, JsonOption, usage_errors
from arborescence.cli.outputs import ends, into
from arborescence.cli.progress import counted
from arborescence.cli.sentences import given_sentence, readers_of, sentences_of
from arborescence.core.choices import Algorithm, Root
from arborescence.errors import ScoresError, TreebankError, TreeError, printable
from arborescence.parsers.shared.options import System
from arborescence.system.files import writing
from arborescence.treebank.dictionaries import words_of
from arborescence.treebank.encodings import UTF8

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence import Constraints
    from arborescence.explaining import Step
    from arborescence.parsers import GraphParser, Parser
    from arborescence.transitions import Transition
    from arborescence.treebank import Sentence

    Scores = tuple[Any, Sequence[str] | None]
    Derivation = tuple[Sentence, list[Transition]]

#: The input formats of a sentence.
Words = Literal["tokens", "text"]
#: Steps and derivations are written as text, as data, or as a page.
_OutputOption = Annotated[str | None, into("text", "json", "html")]


def explain(
    scores: Annotated[Path | None, typer.Argument(metavar="SCORES.csv|npy")] = None,
    sentence: str | None = None,
    model: Annotated[str | None, typer.Option("--model", "-m")] = None,
    format: Words | None = None,  # noqa: A002
    algorithm: Algorithm = "root-constraint",
    root: Root | None = None,
    k: Annotated[int | None, typer.Option("-k", "--k")] = None,
    rules: Annotated[str | None, typer.Option(metavar="ud|FILE.toml")] = None,
    require: EdgesOption = None,
    forbid: EdgesOption = None,
    output: _OutputOption = None,
    as_json: JsonOption = False,
    exercise: Annotated[int | None, typer.Option(metavar="N")] = None,
    seed: int | None = None,
) -> None:
    """Show the steps by which an algorithm finds a tree, each with a sentence that explains it.

    Parameters
    ----------
    scores
        Scores (N, N), a row for each head and a column for each dependent, the root first: an .npy
        file, or a .csv file, where an empty cell is an absent edge, and the first line, the first
        column, or both may have the names.
    sentence
        A sentence, instead of scores: a model scores it.
    model
        The model that scores the sentence: its name or file; by default 'english'.
    format
        Whether the sentence has spaces between its words, or is raw text; by default what the model
        can read.
    algorithm
        The algorithm to explain.
    root
        One root edge, or one or more; by default as the algorithm needs.
    k
        The number of trees, for kbest.
    rules
        With --sentence: the search for the best tree that keeps these rules.
    require
        The search for the best tree in which a word has this head, or one of several: 2,3:5.
    forbid
        The search for the best tree without this edge, or these: 2:5,6.
    output
        Write text, or by the ending .json, or .html: a page that can also compute other graphs.
    as_json
        Write all data as JSON, instead of text.
    exercise
        Write N exercises to the file of -o, and their solutions to another file beside it.
    seed
        For --exercise: the number of the first exercise; by default 0.

    Examples
    --------
    arborescence explain scores.csv
    arborescence explain scores.npy --algorithm kbest -k 5
    arborescence explain -m english-fast --sentence 'Where do the owls wait when mice watch cats'
    arborescence explain -m fr --sentence "Elle se souvient du jour où il a neigé."
    arborescence explain --sentence 'The night I found it was cold.' --rules ud
    arborescence explain scores.csv --require 2:5 --forbid 0:1,3
    arborescence explain scores.csv --json | jq '.steps[].text'
    arborescence explain scores.csv -o page.html
    arborescence explain --exercise 12 -o sheet.html
    """
    from arborescence import Constraints

    page = ends(output, ".html", ".htm")
    if exercise is not None:
        if not page or scores is not None or sentence is not None or as_json:
            raise typer.BadParameter("--exercise goes with -o FILE.html and --seed, nothing else")
        write_sheet(exercise, seed or 0, Path(output or ""))
        return
    if seed is not None:
        raise typer.BadParameter("--seed is for --exercise")
    if page and as_json:
        raise typer.BadParameter("a web page is no JSON: -o FILE.html or --json")
    check_given(scores, sentence, model or format, rules)
    wanted = demanded(require, forbid, root=root or "single")
    as_data = as_json or ends(output, ".json", ".jsonl")
    show = as_page if page else partial(as_text, as_data=as_data)
    with usage_errors():
        if rules is not None or wanted is not None:
            check_alone(k, algorithm)
            wanted = wanted or Constraints(root=root or "single")
            written = show(constrained(scores, sentence, model, format, rules, wanted))
        else:
            values, words = scores_and_words(scores, sentence, model, format)
            how: dict[str, Any] = {"root": root, "k": k, "words": words}
            written = of_algorithm(values, algorithm, page, as_data, **how)
    write(output or "-", written)


def check_given(
    scores: Path | None, sentence: str | None, of_sentence: str | None, rules: str | None
) -> None:
    """Raise BadParameter unless either scores or a sentence are given, with their own options."""
    if sentence is None and of_sentence is not None:
        raise typer.BadParameter("--model and --format are for --sentence")
    if (scores is None) == (sentence is None):
        raise typer.BadParameter("give a file of scores, or --sentence")
    if sentence is None and rules is not None:
        raise typer.BadParameter("--rules goes with --sentence")


def check_alone(k: int | None, algorithm: Algorithm) -> None:
    """Raise BadParameter if an algorithm is chosen for a search under constraints."""
    if k is not None or algorithm != "root-constraint":
        raise typer.BadParameter(
            "--rules, --require and --forbid go with no --algorithm or -k: a search has its own"
        )


def constrained(
    scores: Path | None,
    sentence: str | None,
    model: str | None,
    writing: Words | None,
    rules: str | None,
    wanted: Constraints,
) -> list[Step]:
    """Return the steps of the search for the best tree that keeps rules and demands."""
    from arborescence.explaining import explain_constrained

    if rules is not None:
        return searched(*given(sentence or "", model, writing), rules, wanted)
    values, words = scores_and_words(scores, sentence, model, writing)
    return explain_constrained(values, wanted, words=words)


def scores_and_words(
    scores: Path | None, sentence: str | None, model: str | None, writing: Words | None
) -> Scores:
    """Return the scores of a file or a model's scores of a sentence, and names of the words."""
    if scores is not None:
        return read(scores)
    parsed, parser = given(sentence or "", model, writing)
    return parser.scores(parsed), parsed.forms


def of_algorithm(
    scores: Any, algorithm: Algorithm, page: bool, as_data: bool, **options: Any
) -> str:
    """Return the steps of an algorithm as a web page, as JSON, or as numbered texts."""
    if page:
        from arborescence.explaining.page import explain_html

        return explain_html(scores, algorithm, **options)
    from arborescence.explaining import explain

    return as_text(explain(scores, algorithm, **options), as_data)


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


def given(text: str, model: str | None, writing: Words | None) -> tuple[Sentence, GraphParser]:
    """Read the one sentence of a text, and load the model that scores it."""
    from arborescence.parsers import load
    from arborescence.parsers.shared.graph_parser import graph_based

    why = (
        "this model has no scores of edges: explain needs a graph-based model, and trace shows how "
        "a transition-based model parses"
    )
    parser = graph_based(load(model), f"{model}: {why}")
    sentences = list(given_sentence(text, writing, parser))
    if len(sentences) != 1:
        raise TreebankError(f"--sentence has {len(sentences)} sentences, but explain needs one")
    return sentences[0], parser


def searched(
    sentence: Sentence, parser: GraphParser, rules: str, wanted: Constraints
) -> list[Step]:
    """Return the steps of the search for the best tree of a model that keeps rules and demands."""
    from arborescence.explaining import explain_constrained
    from arborescence.parsers import Keeper
    from arborescence.rules.sets import constraints_of

    keeper = Keeper(rules)
    [parsed] = parser.parse([sentence])
    trees = keeper.look([parsed]).sentence(0)._replace(label_names=tuple(parser.labels))
    of_rules = constraints_of(keeper.rules, trees, wanted=wanted.bare())
    return explain_constrained(
        parser.labeled_scores(sentence),  # as `parse` has them: the network finds the tags, too
        of_rules & wanted,
        words=sentence.forms,
        labels=parser.labels,
    )


def read(path: Path) -> Scores:
    """Read scores, and names if there are any, from a file."""
    if path.suffix.lower() == ".csv":
        return read_csv(path)
    return load_scores(path)[0], None


def read_csv(path: Path) -> Scores:
    """Read scores and names from a .csv file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [(number, row) for number, row in enumerate(csv.reader(file), 1) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScoresError(f"{path}: not a .csv file of scores: {error}") from None
    if not lines:
        raise ScoresError(f"{path}: no scores")
    width = len(lines[0][1])
    heading, beside = names_of([row for _, row in lines], width)
    size = width - beside
    for number, row in lines:
        if len(row) != width or len(lines) != size + heading:
            raise ScoresError(
                f"{path}:{number}: {len(row)} cells, and {len(lines)} lines in the file: N lines "
                "of scores have N cells each; names are in a line above, a column before, or both"
            )
    rows = [
        [score_of(cell, path, number) for cell in row[beside:]] for number, row in lines[heading:]
    ]
    above = [cell.strip() for cell in lines[0][1][beside:]]
    before = [row[0].strip() for _, row in lines[heading:]]
    for (number, _), row_name, column_name in zip(lines[heading:], before, above, strict=True):
        if heading and beside and row_name != column_name:
            raise ScoresError(
                f"{path}:{number}: the row is of {printable(row_name)!r}, and its column of "
                f"{printable(column_name)!r}: names must be in the same order"
            )
    return rows, above[1:] if heading else before[1:] if beside else None


def names_of(rows: list[list[str]], width: int) -> tuple[bool, bool]:
    """Return whether a table has names in its first line, and in its first column."""
    if len(rows) != width:
        return len(rows) > width, len(rows) < width
    first = [cell.strip() for cell in rows[0][1:]]
    column = [row[0].strip() for row in rows[1:]]
    # Names may be numbers: then the line and the column have the same names.
    both = first == column and len(set(first)) == len(first) > 1
    both |= not all(map(is_score, first))
    return both, both


def number_in(cell: str) -> float:
    """Return the number in a cell, -inf if the cell is empty; ValueError for other text."""
    return float(cell.strip() or "-inf")


def is_score(cell: str) -> bool:
    """Return whether a cell has a number, or is empty."""
    try:
        number_in(cell)
    except ValueError:
        return False
    return True


def score_of(cell: str, path: Path, number: int) -> float:
    """Return the score in a cell of a line; -inf for an empty cell."""
    try:
        return number_in(cell)
    except ValueError as error:
        raise ScoresError(f"{path}:{number}: {error}; an absent edge is an empty cell") from None


def trace(
    sentence: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m")] = None,
    format: Words | None = None,  # noqa: A002
    encoding: EncodingOption = UTF8,
    treebank: str | None = None,
    which: Annotated[str | None, typer.Option(metavar="N|ID|all")] = None,
    system: System | None = None,
    relations: bool = True,
    output: _OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show stack, buffer and action of each step by which a tree is built.

    A transition-based model shows how it parses. A tree of another model, or of a treebank, is
    built by the static oracle of the transition system.

    Parameters
    ----------
    sentence
        A sentence to parse; without it, and without --treebank, the standard input is parsed.
    model
        The model that parses: a file, 'english' or 'english-fast'. By default 'english' for words,
        and no model for a treebank.
    format
        A sentence a line with spaces between the words, or raw text. By default what the model can
        read, for --sentence; spaces between the words, for the standard input.
    treebank
        Show how a tree of this treebank is built ('-': the standard input).
    which
        Which sentence: its place, from 1, or its sent_id. By default the first of a treebank.
    system
        The transition system; by default the model's, or arc-standard.
    relations
        Whether to show the edges' relations.
    output
        Write tables, or by the ending .html or .json.
    as_json
        Write JSON, a sentence a line, instead.

    Examples
    --------
    arborescence trace --sentence 'We vigorously wash our cats who stink.'
    arborescence trace --system arc-eager --sentence 'Stop! Who washes our cats?'
    arborescence trace --treebank gold.conllu --which 3 --system swap
    arborescence trace --treebank gold.conllu --which all -o derivations.html
    arborescence trace -m my.model --treebank test.conllu --json | jq '.steps[].action'
    """
    if treebank and sentence is not None:
        raise typer.BadParameter("give --sentence or --treebank, not both")
    if ends(output, ".html", ".htm") and as_json:
        raise typer.BadParameter("a web page is no JSON: -o FILE.html or --json")
    parser = None
    if model or not treebank:
        from arborescence.parsers import TransitionParser, load

        parser = load(model)
    sentences = chosen(wanted(sentence, format, parser, treebank, encoding), which, treebank)
    name = system or "arc-standard"
    if parser:
        if isinstance(parser, TransitionParser) and system in (None, parser.system):
            made = ((each, parser.derivation(each)) for each in sentences)
            return show(made, parser.system, relations, output, as_json)
        sentences = parser.parse(sentences)
    made = ((each, derived(each, name)) for each in sentences)
    return show(made, name, relations, output, as_json)


def wanted(
    sentence: str | None,
    writing: Words | None,
    parser: Parser | None,
    treebank: str | None,
    encoding: str,
) -> Iterator[Sentence]:
    """Read the sentences of --sentence, of a treebank, or of the standard input."""
    if treebank:
        return sentences_of([treebank], readers_of("conllu", None, None, encoding))
    if sentence is not None:
        return given_sentence(sentence, writing, parser)
    return sentences_of(None, readers_of(writing or "tokens", None, parser, encoding))


def chosen(
    sentences: Iterable[Sentence], selection: str | None, treebank: str | None
) -> Iterator[Sentence]:
    """Yield the requested sentences: by default the first of a treebank, else all."""
    selection = selection or ("1" if treebank else "all")
    count = 0
    for count, sentence in enumerate(sentences, 1):
        if selection == "all":
            yield sentence
        elif selection == (str(count) if selection.isdecimal() else sentence.sent_id):
            yield sentence
            return
    if selection != "all":
        source = "the input" if treebank in (None, "-") else treebank
        name = selection if selection.isdecimal() else f"with the sent_id {selection!r}"
        raise TreebankError(f"{source} has no sentence {name}, but {count} others")


def derived(sentence: Sentence, system: str) -> list[Transition]:
    """Return the static oracle's transitions; TreeError names a sentence without a valid tree."""
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

    if output and ends(output, ".html", ".htm"):
        kept = list(counted(derivations, "derivations", printed=False))
        page = drawing.trace_html(
            *(sentence for sentence, _ in kept),
            system=system,
            transitions=[transitions for _, transitions in kept],
            relations=relations,
        )
        with writing(output) as file:
            file.write(page.encode())
        return
    terminal = not output and sys.stdout.isatty()
    as_json = as_json or ends(output, ".json", ".jsonl")
    with writing(output or "-") as file:
        for sentence, transitions in derivations:
            if as_json:
                line = json.dumps(described(sentence, system, transitions), ensure_ascii=False)
                file.write(f"{line}\n".encode())
                continue
            known = [c for c in sentence.comments if c.startswith(("# sent_id", "# text ="))]
            table = drawing.trace(
                sentence,
                system=system,
                transitions=transitions,
                relations=relations,
                width=shutil.get_terminal_size().columns if terminal else None,
                color=terminal and not os.environ.get("NO_COLOR"),
            )
            file.write("\n".join([*known, f"# system = {system}", table, ""]).encode())


def described(sentence: Sentence, system: str, transitions: list[Transition]) -> dict[str, Any]:
    """Describe a derivation, ready for JSON: nodes are numbers, 0 is the root."""
    from arborescence.drawing.derivation import steps

    records = [step._asdict() for step in steps(sentence, system, transitions)]
    return {**words_of(sentence), "system": system, "steps": records}
