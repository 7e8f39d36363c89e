"""``arborescence repair``: heads that are no tree become the nearest tree."""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Annotated

import typer

from arborescence.cli.options import Arguments, OutputOption, QuietOption, RootOption
from arborescence.cli.progress import counted, note
from arborescence.cli.sentences import deliver, sentences_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arborescence.treebank import Sentence


def repair(
    files: Arguments = None,
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="MODEL")] = None,
    output: OutputOption = None,
    root: RootOption = "single",
    projective: bool = False,
    quiet: QuietOption = False,
) -> None:
    """Turn heads that are no tree into the nearest tree: the fewest heads change, exactly.

    Cycles, several roots, heads out of range, gaps and text in the column HEAD are repaired; other
    faults are errors. At the end says how many heads changed.

    Parameters
    ----------
    files
        CoNLL-U; '-' or nothing: the standard input.
    model
        Let this parser decide between trees that keep equally many heads, and find relations.
    projective
        Without crossing edges.

    Examples
    --------
    arborescence repair predicted.conllu -o trees.conllu
    arborescence repair -m english predicted.conllu > trees.conllu
    """
    from arborescence.parsers import load
    from arborescence.treebank.broken import mended, read_broken

    parser = None if model is None else load(model)
    totals = [0, 0, 0]

    def counting() -> Iterator[list[Sentence]]:
        given = sentences_of(files, read_broken)
        for sentence, changed in mended(given, parser=parser, root=root, projective=projective):
            totals[:] = map(add, totals, (len(changed), len(sentence), 1 if len(changed) else 0))
            yield [sentence]

    output = output or "-"
    found = counted(counting(), "sentences repaired", printed=output == "-", quiet=quiet)
    deliver(found, output=output)
    changed, words, sentences = totals
    note(f"{changed:,} of {words:,} heads changed, in {sentences:,} sentences", quiet=quiet)
