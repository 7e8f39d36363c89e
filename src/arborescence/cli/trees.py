"""``arborescence draw``, ``validate`` and ``repair``: the trees of a treebank, as they are."""

from __future__ import annotations

import json
from collections import Counter
from operator import add
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arborescence.cli.options import (
    Arguments,
    DrawingOption,
    JsonOption,
    OutputOption,
    QuietOption,
    RootOption,
    SkipOption,
    ends,
)
from arborescence.cli.progress import counted, note, say
from arborescence.cli.sentences import Skipped, deliver, readers_of, sentences_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arborescence.treebank import Sentence


def draw(
    files: Arguments = None,
    output: DrawingOption = None,
    skip_invalid: SkipOption = False,
) -> None:
    """Draw the trees of a treebank as they are: on the terminal, or into an SVG file.

    Parameters
    ----------
    files
        CoNLL-U with trees; '-' or nothing: the standard input.

    Examples
    --------
    arborescence draw treebank.conllu | less -R
    arborescence draw treebank.conllu -o trees.svg
    """
    if output and not ends(output, ".svg"):
        raise typer.BadParameter(f"-o {output}: trees are drawn into a file as SVG: -o FILE.svg")
    skipped = Skipped() if skip_invalid else None
    sentences = sentences_of(files, readers_of("conllu", skipped))
    deliver(([sentence] for sentence in sentences), output=output, text=not output)
    if skipped:
        skipped.report()


def validate(
    files: Arguments = None,
    rules: Annotated[str, typer.Option(metavar="ud|FILE.toml")] = "ud",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check trees by the rules of an annotation scheme: a line for each word that breaks one.

    The exit status is 1 if one was broken that has no cost.

    Parameters
    ----------
    files
        Treebanks (CoNLL-U); '-' or nothing: the standard input.
    rules
        The rules: those of UD, or of a file.
    as_json
        Write JSON, a broken rule a line.

    Examples
    --------
    arborescence validate treebank.conllu
    arborescence parse test.conllu | arborescence validate
    arborescence validate --rules rules.toml *.conllu --json | jq .rule | sort | uniq -c
    """
    from arborescence.rules.sets import rules_of
    from arborescence.treebank import validate

    checked = rules_of(rules)
    counts: Counter[str] = Counter()
    wrong = False
    for file in files or ["-"]:
        for broken in validate(file, checked):
            counts[broken.rule] += 1
            wrong |= broken.cost is None
            say(json.dumps(broken._asdict(), ensure_ascii=False) if as_json else str(broken))
    if counts:
        each = ", ".join(f"{name} {number}" for name, number in counts.most_common())
        note(f"{counts.total()} broken rules: {each}", quiet=quiet)
        raise typer.Exit(int(wrong))
    note("no broken rules", quiet=quiet)


def repair(
    files: Arguments = None,
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="MODEL")] = None,
    votes: Annotated[str | None, typer.Option(metavar="N,N...")] = None,
    rules: Annotated[str | None, typer.Option(metavar="ud|FILE.toml")] = None,
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
    votes
        The files have the same sentences, and vote: how many votes each has for its heads.
    rules
        Find the nearest tree that keeps rules: those of UD, or of a file.
    projective
        Without crossing edges.

    Examples
    --------
    arborescence repair predicted.conllu -o trees.conllu
    arborescence repair -m english --rules ud predicted.conllu > trees.conllu
    arborescence repair --votes 2,1,1 first.conllu second.conllu third.conllu -o voted.conllu
    """
    from arborescence.parsers import load
    from arborescence.treebank.broken import mended, read_broken

    parser = None if model is None else load(model)
    totals = [0, 0, 0, 0]
    how: dict[str, Any] = {"parser": parser, "rules": rules, "root": root}
    given = [sentences_of(files, read_broken)]
    if votes is not None:
        try:
            how["votes"] = [int(number) for number in votes.split(",")]
        except ValueError:
            raise typer.BadParameter(f"--votes {votes}: give whole numbers, as 2,1,1") from None
        given = [sentences_of([file], read_broken) for file in files or ["-"]]

    def counting() -> Iterator[list[Sentence]]:
        for sentence, changed, broken in mended(*given, projective=projective, **how):
            sizes = len(changed), len(sentence), 1 if len(changed) else 0, int(broken)
            totals[:] = map(add, totals, sizes)
            yield [sentence]

    output = output or "-"
    found = counted(counting(), "sentences repaired", printed=output == "-", quiet=quiet)
    deliver(found, output=output)
    changed, words, sentences, broken = totals
    said = f"{changed:,} of {words:,} heads changed, in {sentences:,} sentences"
    note(said + (f"; {broken:,} still break a rule" if broken else ""), quiet=quiet)
