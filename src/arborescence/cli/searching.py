"""``arborescence search``: patterns over trees in files."""

from __future__ import annotations

import json
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arborescence.cli.options import (
    Arguments,
    EncodingOption,
    JsonOption,
    QuietOption,
    usage_errors,
)
from arborescence.cli.outputs import KINDS, ending_of, ends, into
from arborescence.cli.progress import counted, say
from arborescence.cli.sentences import Format, deliver, hinted, readers_of, sentences_of
from arborescence.system.files import writing
from arborescence.treebank.encodings import UTF8
from arborescence.treebank.tables import write_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arborescence.treebank import Match, Sentence


def search(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN")],
    files: Arguments = None,
    count: Annotated[list[str] | None, typer.Option(metavar="NODE.feature")] = None,
    output: Annotated[str | None, into("conllu", "json", "svg", "table")] = None,
    format: Format = "conllu",  # noqa: A002
    model: Annotated[str | None, typer.Option("--model", "-m", show_default="english")] = None,
    least: Annotated[float | None, typer.Option("--confidence", min=0.0, max=1.0)] = None,
    encoding: EncodingOption = UTF8,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Search for a pattern in trees, and show or count its matches.

    Parameters
    ----------
    pattern
        What to find, in Grew's notation: 'V [upos=VERB]; S [upos=PRON]; V -[nsubj]-> S; V << S'.
    files
        CoNLL-U files, and folders of such files; '-' or nothing: the standard input. With --format,
        text, which is parsed first.
    count
        Count matches by this instead: a node and its feature, such as S.lemma, or e.label for an
        edge with a name. Several are counted together.
    output
        Write the sentences with a match, or by the ending a drawing of them (.svg), or the matches
        (.json, .csv, .tsv, .parquet).
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
    arborescence search 'V [upos=VERB]; V -[obj]-> O' treebank.conllu
    arborescence search 'V [lemma=eat]; V -[obj]-> O' --count O.lemma treebank/
    arborescence search 'S [upos=PRON]; V -[nsubj]-> S; V << S' --format text novel.txt -o found.csv
    """
    from arborescence.treebank.patterns import context, find

    with usage_errors():  # the pattern is read before anything else
        counts = find.count([], pattern, count or [])
    sources = list(_sources(files, format, model, encoding, least is not None, quiet))
    if count:
        for source in sources:
            counts += find.count(source, pattern, count)
        for values, number in counts.most_common():
            say("\t".join([str(number), *values]))
        return
    found: Iterator[Match] = chain.from_iterable(find.search(each, pattern) for each in sources)
    if least is not None:
        found = (match for match in found if _is_sure(match, least))
    found = counted(found, "matches found", printed=not output or output == "-", quiet=quiet)
    if ends(output, *KINDS["table"].endings):
        write_table(map(context.row_of, found), str(output), ending_of(str(output)))
    elif as_json or ends(output, ".json", ".jsonl"):
        with writing(output or "-") as file:
            for match in found:
                row = json.dumps(context.row_of(match), ensure_ascii=False)
                file.write(row.encode() + b"\n")
    elif output:
        groups = groupby(found, key=lambda match: (match.sentence.source, match.sentence.line))
        deliver(([next(group).sentence] for _, group in groups), output=output)
    else:
        for match in found:
            sentence = match.sentence
            name = sentence.sent_id or f"{sentence.source}:{sentence.line}"
            say(f"{name}\t{context.in_context(match)}")


def _sources(
    files: list[str] | None,
    format: Format,  # noqa: A002
    model: str | None,
    encoding: str,
    confidence: bool,
    quiet: bool,
) -> Iterator[str | Iterator[Sentence]]:
    """Yield what is searched: names of CoNLL-U files, or parsed sentences."""
    if format != "conllu":
        from arborescence.parsers import load

        parser = load(model)
        sentences = hinted(files, format, parser, encoding, quiet)
        yield parser.parse(sentences, confidence=confidence)
        return
    for file in files or ["-"]:
        inside = [file]
        if Path(file).is_dir():
            inside = [str(each) for each in sorted(Path(file).rglob("*.conllu*")) if each.is_file()]
        if encoding == UTF8:
            yield from inside
        else:
            yield sentences_of(inside, readers_of("conllu", None, None, encoding))


def _is_sure(match: Match, least: float) -> bool:
    """Return whether the edges of all words of a match have this probability."""
    from arborescence.parsers.shared.confidence import edge_probs

    probabilities = edge_probs(match.sentence)
    return all(probabilities[number - 1] >= least for number in match.words.values())
