"""``arborescence rank``: which sentences, or words, a person should look at first."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from arborescence.cli.options import Arguments, JsonOption, OutputOption
from arborescence.cli.progress import say
from arborescence.cli.sentences import Format, deliver, hinted
from arborescence.parsers.shared.options import Doubt


def rank(
    files: Arguments = None,
    model: Annotated[str | None, typer.Option("--model", "-m", show_default="english")] = None,
    by: Doubt = "loss",
    words: bool = False,
    budget: Annotated[int | None, typer.Option(min=1, metavar="WORDS")] = None,
    format: Format = "conllu",  # noqa: A002
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the sentences of which a parser is least sure, or single words with both readings.

    Each line has the doubt, file and line, and the sentence. Heads that are given are kept, and
    sentences that have all are left out.

    Parameters
    ----------
    files
        What to rank; '-' or nothing: the standard input.
    model
        A graph-based parser.
    by
        The share of heads that are expected to be wrong, the entropy of the trees for each word,
        how little the best tree leads, or how much the 10 best trees differ.
    words
        Rank words, by the probability that the best head is wrong.
    budget
        Stop after so many words.
    format
        CoNLL-U; a sentence a line with spaces between the words; raw text; or raw text with a
        sentence on each line.
    output
        Write the sentences in this order, as CoNLL-U, to be annotated.
    as_json
        Write JSON, an entry a line.

    Examples
    --------
    arborescence rank treebank.conllu --budget 500 -o next.conllu
    arborescence rank -m my.model treebank.conllu --words | head -20
    """
    from arborescence.parsers import load, ranking

    parser = load(model)
    given = hinted(files, format, parser)
    found = ranking.rank(parser, given, by=by, words=words, budget=budget)
    if output:
        once = {id(each.sentence): each.sentence for each in found}
        deliver(([sentence] for sentence in once.values()), output=output)
        return
    for each in found:
        place = {"source": each.sentence.source, "line": each.sentence.line}
        entry = {**place, **each._asdict(), "sentence": " ".join(each.sentence.forms)}
        say(json.dumps(entry, ensure_ascii=False) if as_json else str(each))
