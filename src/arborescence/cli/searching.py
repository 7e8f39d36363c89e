"""``arborescence search``: patterns over trees in files."""

from __future__ import annotations

import json
from itertools import chain, groupby
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from arborescence.cli.options import (
    Arguments,
    EncodingOption,
    JsonOption,
    QuietOption,
    usage_errors,
)
from arborescence.cli.outputs import KINDS, check_kind, ending_of, ends, into
from arborescence.cli.progress import counted, note, say
from arborescence.cli.sentences import Format, deliver, hinted, readers_of, sentences_of
from arborescence.system.files import writing
from arborescence.treebank.encodings import UTF8
from arborescence.treebank.tables import write_table

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from arborescence.treebank import Sentence
    from arborescence.treebank.patterns.find import Found

    Item = TypeVar("Item")


def search(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN")],
    files: Arguments = None,
    count: Annotated[list[str] | None, typer.Option(metavar="NODE.feature")] = None,
    association: bool = False,
    output: Annotated[str | None, into("conllu", "json", "svg", "html", "table")] = None,
    format: Format = "conllu",  # noqa: A002
    model: Annotated[str | None, typer.Option("--model", "-m", show_default="english")] = None,
    least: Annotated[float | None, typer.Option("--confidence", min=0.0, max=1.0)] = None,
    encoding: EncodingOption = UTF8,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Search for a pattern in trees, and show or count its matches.

    A pattern has conditions with ; between them:
    V [upos=VERB|AUX, lemma<>"be", !Mood]   a word and its features; V [] is any
    V [lemma=re"un.*"]                      a regular expression of a value
    V -> S, V -[nsubj|obj]-> S              an edge from V to S; * is any head
    V -[^punct]-> S, V -[1=nsubj]-> S       another relation; any subtype
    V ->> S                                 a path of edges down from V to S
    V < S, V << S                           V right before S; anywhere before S
    V.lemma = S.lemma, V.form <> "is"       features that are equal, or differ
    without { V -[obj]-> O }                a part that must not be there

    Parameters
    ----------
    pattern
        The pattern, in Grew's notation: 'V [upos=VERB]; S [upos=PRON]; V -[nsubj]-> S; V << S'.
    files
        CoNLL-U files, and folders of such files; '-' or nothing: the standard input. With --format,
        text, which is parsed first.
    count
        Count the matches instead, by a feature of a node, such as S.lemma, or by e.label for an
        edge with the name e. Given several times, count each combination of values.
    association
        With two --count: also how many matches chance would give, and the log-likelihood ratio, by
        which the pairs are sorted (collocations).
    output
        Write the sentences with a match, or by the ending a drawing of them (.svg), a page of the
        trees with the matches in colour (.html), or the matches or counts (.json, .csv, .tsv,
        .parquet).
    format
        As for `parse`: read text, and parse it.
    model
        The model that parses text.
    least
        Only matches whose words have edges of at least this probability (EdgeProb in MISC).
    as_json
        Write JSON, a match a line.

    Examples
    --------
    arborescence search 'V [upos=VERB]; V -[obj]-> O' treebank.conllu -o matches.html
    arborescence search 'V [lemma=eat]; V -[obj]-> O' --count O.lemma treebank/
    arborescence search 'V -[obj]-> O' --count V.lemma --count O.lemma --association treebank/
    arborescence search 'S [upos=PRON]; V -[nsubj]-> S; V << S' --format text novel.txt -o found.csv
    """
    from arborescence.treebank.patterns import find
    from arborescence.treebank.patterns.matching import Matcher
    from arborescence.treebank.patterns.pattern import parse

    with usage_errors():  # the pattern is read before anything else
        matcher = Matcher(parse(pattern))
        counts = find.counted([], matcher, count or [])
    if association and len(count or []) != 2:
        raise typer.BadParameter("--association needs two --count, such as V.lemma and O.lemma")
    if count and output:
        check_kind(output, ("table", "json"))
    sources = list(_sources(files, format, model, encoding, least is not None, quiet))
    if count:
        for source in sources:
            counts += find.counted(source, matcher, count, least)
        for key, values in zip(count, zip(*counts, strict=True), strict=False):
            if set(values) == {"_"}:
                note(f"{key}: no word of a match has such a feature", quiet=quiet)
        rows = _counts(counts, count, association)
        if output or as_json:
            _write_rows(rows, output)
        else:
            for row in rows:
                say("\t".join(map(str, row.values())))
        return
    parts = chain.from_iterable(find.parts(source, matcher, least) for source in sources)
    _write_matches(parts, pattern, output, as_json, quiet)


def _write_matches(
    parts: Iterator[Found], pattern: str, output: str | None, as_json: bool, quiet: bool
) -> None:
    """Write matches in the format of the ending or of `as_json`, or as lines of text."""
    from arborescence.treebank.patterns import context
    from arborescence.treebank.patterns.find import matches

    def each(shown: Callable[[Found], Iterator[Item]]) -> Iterator[Item]:
        items = chain.from_iterable(map(shown, parts))
        printed = not output or output == "-"
        return counted(items, "matches found", printed=printed, quiet=quiet)

    if as_json or ends(output, *KINDS["table"].endings, *KINDS["json"].endings):
        _write_rows(each(context.rows), output)
    elif ends(output, *KINDS["html"].endings):
        with writing(str(output)) as file:
            page = context.matches_html(each(matches), pattern)
            file.writelines(part.encode() for part in page)
    elif output:
        groups = groupby(each(matches), lambda each: (each.sentence.source, each.sentence.line))
        deliver(([next(group).sentence] for _, group in groups), output=output)
    else:
        for line in each(context.lines):
            say(line)


def _write_rows(rows: Iterable[dict[str, Any]], output: str | None) -> None:
    """Write rows as a table, or as JSON."""
    if ends(output, *KINDS["table"].endings):
        write_table(rows, str(output), ending_of(str(output)))
        return
    with writing(output or "-") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def _counts(
    counts: Counter[tuple[str, ...]], keys: list[str], association: bool
) -> Iterator[dict[str, Any]]:
    """Yield counts as rows, the most frequent or the most strongly associated first."""
    from arborescence.treebank.patterns.association import associations

    if not association:
        for values, number in counts.most_common():
            yield {"count": number, **dict(zip(keys, values, strict=True))}
        return
    for each in associations(counts):
        row = {"count": each.observed, **dict(zip(keys, each.values, strict=True))}
        yield row | {"expected": round(each.expected, 2), "G2": round(each.g2, 2)}


def _sources(
    files: list[str] | None,
    format: Format,  # noqa: A002
    model: str | None,
    encoding: str,
    confidence: bool,
    quiet: bool,
) -> Iterator[str | Iterator[Sentence]]:
    """Yield the sources of a search: names of CoNLL-U files and folders, or parsed sentences."""
    from arborescence.treebank.columns import files_in

    if format != "conllu":
        from arborescence.parsers import load

        parser = load(model)
        yield parser.parse(hinted(files, format, parser, encoding, quiet), confidence=confidence)
    elif encoding == UTF8:
        yield from files or ["-"]
    else:
        inside = [str(each) for file in files or ["-"] for each in files_in(file)]
        yield sentences_of(inside, readers_of("conllu", None, None, encoding))
