"""``arborescence evaluate``: a parser's trees beside the right trees."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arborescence.cli.options import EncodingOption, JsonOption
from arborescence.cli.outputs import into
from arborescence.cli.progress import say
from arborescence.core.choices import Measure
from arborescence.system.files import writing
from arborescence.treebank.encodings import UTF8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arborescence.treebank.details import Details


def evaluate(
    gold: Annotated[str, typer.Argument()],
    predicted: Annotated[str, typer.Argument()],
    against: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    intervals: bool = False,
    confusions: bool = False,
    errors: bool = False,
    output: Annotated[str | None, into("html", metavar="FILE.html")] = None,
    oracle: bool = False,
    by: Measure | None = None,
    kbest: Annotated[int | None, typer.Option(min=1, metavar="K")] = None,
    punctuation: bool = True,
    encoding: EncodingOption = UTF8,
    as_json: JsonOption = False,
) -> None:
    """Compare the trees of a parser with the right trees.

    Parameters
    ----------
    gold
        The right trees (CoNLL-U), or a folder of such files.
    predicted
        The trees of a parser, for the same text; '-': the standard input.
    against
        The trees of another parser: also print the differences of both, with their intervals, and
        the probability of such differences by chance (a paired permutation test over sentences).
    intervals
        Also print 95 % bootstrap intervals of UAS and LAS, over sentences.
    confusions
        Also print the pairs of gold and predicted relations, and of tags, that differ.
    errors
        Write a page of the wrong sentences, with both trees: give its name with -o.
    output
        The page of --errors.
    oracle
        Evaluate the best tree of each sentence among the trees of parse --kbest.
    by
        With --oracle: the score by which a tree is best; by default LAS.
    kbest
        With --oracle: choose among the first K trees only.
    punctuation
        Whether punctuation counts. In the shared task it does.
    as_json
        Print JSON.

    Examples
    --------
    arborescence evaluate gold.conllu parsed.conllu
    arborescence evaluate gold.conllu parsed.conllu --confusions --errors -o errors.html
    arborescence evaluate gold.conllu parsed.conllu --against other.conllu
    arborescence evaluate gold.conllu parsed.conllu --json | jq .las.f1
    arborescence parse gold.conllu --kbest 10 | arborescence evaluate --oracle gold.conllu -
    """
    from arborescence import treebank

    if errors != bool(output):
        raise typer.BadParameter("--errors and -o FILE.html go together")
    counted = {"punctuation": punctuation}
    if oracle:
        if against or intervals or confusions or errors:
            raise typer.BadParameter(
                "--oracle goes without --against, --intervals, --confusions and --errors"
            )
        right = _trees(gold, encoding, again=False)
        scores = treebank.best_of_k(right, predicted, k=kbest, by=by or "las", **counted)
        say(json.dumps(scores.as_dict()) if as_json else str(scores))
        return
    if by or kbest:
        raise typer.BadParameter("--by and --kbest go with --oracle")
    right = _trees(gold, encoding, again=bool(errors or against))
    trees = _trees(predicted, encoding, again=errors)
    scores = treebank.evaluate(right, trees, details=True, **counted)
    details: Any = scores.details
    others = None
    if against:
        other = _trees(against, encoding, again=False)
        others = treebank.evaluate(right, other, details=True, **counted).details
    if output:
        from arborescence.treebank.wrong import errors_html

        with writing(output) as file:
            file.writelines(each.encode() for each in errors_html(right, trees, **counted))
    if as_json:
        more = _described(details, others, intervals, confusions)
        say(json.dumps(scores.as_dict() | more))
        return
    say(str(scores))
    for line in _lines(details, others, intervals, confusions):
        say(line)


def _trees(file: str, encoding: str, *, again: bool) -> Any:
    """Return a file that the library reads; or its sentences, in a list if they are read again."""
    from arborescence.treebank import read

    if encoding == UTF8 and not (again and file == "-"):
        return file
    sentences = read(file, encoding=encoding)
    return list(sentences) if again else sentences


def _described(
    details: Details, others: Details | None, intervals: bool, confusions: bool
) -> dict[str, Any]:
    """Return the details that options ask for, ready for JSON."""
    more: dict[str, Any] = {}
    if intervals:
        more["intervals"] = {name: details.interval(name) for name in ("uas", "las")}
    if others:
        more["differences"] = {
            name: details.difference(others, name)._asdict() for name in ("uas", "las")
        }
    if confusions:
        more["confusions"] = {
            kind: [[*pair, count] for pair, count in counts.most_common()]
            for kind, counts in details.confusions.items()
        }
    return more


def _lines(
    details: Details, others: Details | None, intervals: bool, confusions: bool
) -> Iterator[str]:
    """Yield the details that options ask for, as text."""
    more = _described(details, others, intervals, confusions=False)
    if intervals:
        yield "\n95 % intervals, over sentences"
        for name, (low, high) in more["intervals"].items():
            yield f"{name.upper():<14}{100 * low:>11.2f}{100 * high:>11.2f}"
    if others:
        yield f"\n{'difference':<14}{'F1':>11}{'95 % interval':>22}{'p':>11}"
        for name, difference in more["differences"].items():
            low, high = difference["interval"].percent
            numbers = f"{100 * difference['value']:>+11.2f}{low:>+11.2f}{high:>+11.2f}"
            yield f"{name.upper():<14}{numbers}{difference['p']:>11.4f}"
    if confusions:
        yield from details.confusion_lines()
