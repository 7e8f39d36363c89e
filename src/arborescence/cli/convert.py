"""``arborescence convert``: from phrase structure to dependencies, and between their styles."""

from __future__ import annotations

import os
import sys
from itertools import chain
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import typer

from arborescence.cli.options import OutputOption, QuietOption, SkipOption, usage_errors
from arborescence.cli.progress import counted, note
from arborescence.cli.sentences import Skipped, deliver, readers_of, sentences_of
from arborescence.core.choices import Heads
from arborescence.errors import TreeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.core.choices import Conjuncts, Coordination
    from arborescence.treebank import Sentence
    from arborescence.treebank.phrase_structure import HeadRules, Tally

#: Those of head rules, and those of `restyle`.
AnyCoordination = Literal["rules", "before", "first", "conjunction", "second", "chain"]

#: The number of kinds of undecided phrases that are named, in lines of so many characters.
_NAMED: Final = 5
_WIDTH: Final = 200


def convert(
    files: Annotated[list[str] | None, typer.Argument(metavar="[TREES]...")] = None,
    output: OutputOption = None,
    head_rules: Annotated[str, typer.Option(metavar="collins|yamada-matsumoto|FILE")] = "collins",
    heads: Heads | None = None,
    coordination: AnyCoordination | None = None,
    back: bool = False,
    traces: bool = False,
    tree: bool = False,
    skip_invalid: SkipOption = False,
    quiet: QuietOption = False,
) -> None:
    """Convert phrase structure to dependency trees by head rules, or one style of trees to another.

    At the end says how many phrases the rules left undecided, and which most often.

    Parameters
    ----------
    files
        Bracketed trees, or CoNLL-U with --heads; '-' or nothing: the standard input.
    output
        Write CoNLL-U, or by the ending .json or .svg.
    head_rules
        Which child of a phrase has its head.
    heads
        Read CoNLL-U in the style of Universal Dependencies, and write it with these heads.
    coordination
        The head of a coordination. In phrases: as the head rules say, what is before the
        conjunction, or the first conjunct. With --heads: first, conjunction, second or chain.
    back
        With --heads: restore Universal Dependencies.
    traces
        Put moved phrases back to their traces; edges may then cross.
    tree
        Draw the lexicalized trees on the terminal, instead of CoNLL-U.

    Examples
    --------
    arborescence convert trees.mrg -o trees.conllu
    arborescence convert trees/*.mrg --head-rules yamada-matsumoto --traces -o trees.conllu
    echo '(S (NP (NNS Birds)) (VP (VBP sing)))' | arborescence convert --tree
    """
    if tree and output == "-":
        raise typer.BadParameter(
            "--tree takes the standard output for itself: name a file for the rest with -o"
        )
    skipped = Skipped() if skip_invalid else None
    output = output or (None if tree else "-")
    told: Iterable[str] = ()
    if heads or back:
        from arborescence.treebank import restyle

        if tree or traces:
            raise typer.BadParameter("--tree and --traces are for phrase structure only")
        read = sentences_of(files, readers_of("conllu", skipped))
        conjuncts = cast("Conjuncts", coordination or "first")
        with usage_errors():
            found = restyle(read, heads=heads or "content", coordination=conjuncts, back=back)
    else:
        from arborescence.treebank.phrase_structure import HeadRules, Tally

        with usage_errors():
            rules = HeadRules.load(
                head_rules, coordination=cast("Coordination | None", coordination)
            )
        tally = Tally()
        found = chain.from_iterable(
            converted(file, rules, traces, tally, draw=tree, skipped=skipped)
            for file in files or ["-"]
        )
        told = report(tally, rules.name, traces)
    sentences = counted(found, "trees converted", printed=tree or output == "-", quiet=quiet)
    deliver(([sentence] for sentence in sentences), output=output)
    if skipped:
        skipped.report()
    for line in told:
        note(line, quiet=quiet)


def converted(
    file: str,
    rules: HeadRules,
    traces: bool,
    tally: Tally,
    *,
    draw: bool,
    skipped: Skipped | None,
) -> Iterator[Sentence]:
    """Convert the trees of a file, and draw them if that is wanted."""
    from arborescence.drawing import draw_lexicalized
    from arborescence.treebank.phrase_structure import lexicalize, read_trees, to_dependencies

    name = "<stdin>" if file == "-" else file
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for number, tree in enumerate(read_trees(file, skip_invalid=skipped), 1):
        root = lexicalize(tree, rules, traces=traces, tally=tally)
        sentence = to_dependencies(root, source=name, number=number)
        if draw:
            try:
                drawn = draw_lexicalized(root, color=color)
            except TreeError as error:
                raise TreeError(f"{name}:{tree.line}: {error}") from error
            sys.stdout.write("\n".join([*sentence.comments, drawn, ""]))
        yield sentence


def report(tally: Tally, rules: str, traces: bool) -> Iterator[str]:
    """Yield what to say of the phrases that the head rules left undecided."""
    if traces:
        yield f"{tally.moved:,} phrases put back to their traces"
    count = tally.undecided.total()
    yield f"head rules {rules}: {count:,} of {tally.phrases:,} phrases undecided"
    for phrase, times in tally.undecided.most_common(_NAMED):
        yield f"  {times:,} × {shorten(phrase, _WIDTH)}"
    others = len(tally.undecided) - _NAMED
    if others > 0:
        yield f"  and {others:,} other kinds"
