"""``arborescence convert``, ``draw``, ``validate`` and ``repair``: trees in files."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from functools import partial
from itertools import chain
from operator import add
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

import typer

from arborescence.cli import harmonizing
from arborescence.cli.options import (
    Arguments,
    DrawingOption,
    EncodingOption,
    JsonOption,
    OutputOption,
    QuietOption,
    RootOption,
    SkipOption,
    usage_errors,
)
from arborescence.cli.outputs import into
from arborescence.cli.progress import counted, note, say
from arborescence.cli.sentences import Skipped, deliver, readers_of, sentences_of
from arborescence.core.choices import Heads, Spelling
from arborescence.errors import TreeError
from arborescence.treebank.encodings import UTF8

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.core.choices import Conjuncts, Coordination
    from arborescence.treebank import Sentence
    from arborescence.treebank.phrase_structure import HeadRules, Tally

#: The coordinations of head rules, and those of `restyle`.
AnyCoordination = Literal["rules", "before", "first", "conjunction", "second", "chain"]

#: The number of kinds of undecided phrases that are named, and the most characters of such a line.
_NAMED: Final = 5
_WIDTH: Final = 200


def convert(
    files: Annotated[list[str] | None, typer.Argument(metavar="[TREES]...")] = None,
    output: Annotated[str | None, into("conllu", "json", "svg", "model")] = None,
    learn: bool = False,
    mapping: Annotated[str | None, typer.Option("--with", metavar="FILE.model")] = None,
    corrected: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    confidence: bool = False,
    parser: bool = False,
    rules: Annotated[
        str | None,
        typer.Option(metavar="ud|FILE.toml|none", show_default="the new scheme's"),
    ] = None,
    head_rules: Annotated[str, typer.Option(metavar="collins|yamada-matsumoto|FILE")] = "collins",
    heads: Heads | None = None,
    coordination: AnyCoordination | None = None,
    back: bool = False,
    spelling: Spelling | None = None,
    traces: bool = False,
    tree: bool = False,
    encoding: EncodingOption = UTF8,
    skip_invalid: SkipOption = False,
    quiet: QuietOption = False,
) -> None:
    """Convert phrase structure to dependencies, or CoNLL-U to another style or annotation scheme.

    For phrase structure, lines at the end count the phrases that the rules left undecided, and name
    their most frequent kinds.

    Parameters
    ----------
    files
        Bracketed trees, or CoNLL-U with --heads, --spelling or --with; '-' or nothing: the standard
        input. With --learn: a treebank in the old annotation, and one in the new.
    output
        Write CoNLL-U, or by the ending .json or .svg; with --learn, the model.
    learn
        Learn a conversion from the sentences that are in both files, and print a table of the
        changes.
    mapping
        Convert CoNLL-U to another annotation scheme with a model from --learn.
    corrected
        With --with: an earlier output with corrections: words with Corrected=Yes in MISC keep their
        annotation.
    confidence
        With --with: write the probability of each edge and relation into MISC.
    parser
        With --learn: also train a parser, and add its scores. This helps if the schemes differ
        much.
    rules
        With --with: rules that all trees keep. A line at the end counts the changes.
    head_rules
        The rules that choose the child of a phrase with its head.
    heads
        Read CoNLL-U in the style of Universal Dependencies, and write it with these heads.
    coordination
        The head of a coordination. In phrases: rules (as the head rules say), before (the child
        before the conjunction), or first. With --heads: first, conjunction, second or chain.
    back
        With --heads: restore Universal Dependencies.
    spelling
        Read CoNLL-U, and write its words with the characters of print or of a typewriter, in one
        case, or with combining marks. Use the result to test parsers.
    traces
        Put moved phrases back to their traces; edges may then cross.
    tree
        Draw the lexicalized trees on the terminal, instead of CoNLL-U.

    Examples
    --------
    arborescence convert trees.mrg -o trees.conllu
    arborescence convert trees/*.mrg --head-rules yamada-matsumoto --traces -o trees.conllu
    arborescence convert --spelling typographic test.conllu -o printed.conllu
    arborescence convert --learn old-sample.conllu new-sample.conllu -o mapping.model
    arborescence convert --with mapping.model old.conllu -o new.conllu
    echo '(S (NP (NNS Birds)) (VP (VBP sing)))' | arborescence convert --tree
    """
    skipped = Skipped() if skip_invalid else None
    reader = readers_of("conllu", skipped, None, encoding)
    if learn:
        harmonizing.learn(files, output, reader, parser=parser, quiet=quiet)
        if skipped:
            skipped.report()
        return
    harmonizing.check(
        mapping, output, corrected=corrected, confidence=confidence, heads=heads, back=back,
        spelling=spelling, tree=tree, traces=traces, rules=rules, parser=parser,
    )  # fmt: skip
    if tree and output == "-":
        raise typer.BadParameter(
            "--tree takes the standard output for itself: name a file for the CoNLL-U with -o"
        )
    output = output or (None if tree else "-")
    conversion_notes: list[str] = []
    notes: Iterable[str] = conversion_notes
    if mapping:
        sentences = harmonizing.converted(
            sentences_of(files, reader), mapping, corrected, reader, conversion_notes,
            confidence=confidence, rules=rules,
        )  # fmt: skip
    elif heads or back or spelling:
        if tree or traces:
            raise typer.BadParameter("--tree and --traces are for phrase structure only")
        sentences = sentences_of(files, reader)
        with usage_errors():
            if heads or back:
                sentences = restyled(sentences, heads or "content", coordination, back=back)
            if spelling:
                from arborescence.treebank import respelled

                sentences = respelled(sentences, spelling)
    else:
        from arborescence.treebank.phrase_structure import HeadRules, Tally

        with usage_errors():
            table = HeadRules.load(
                head_rules, coordination=cast("Coordination | None", coordination)
            )
        tally = Tally()
        sentences = chain.from_iterable(
            converted(file, table, traces, tally, encoding, draw=tree, skipped=skipped)
            for file in files or ["-"]
        )
        notes = report(tally, table.name, traces)
    sentences = skipped.left(sentences) if skipped else sentences
    sentences = counted(sentences, "trees converted", printed=tree or output == "-", quiet=quiet)
    deliver(([sentence] for sentence in sentences), output=output)
    if skipped:
        skipped.report()
    for line in notes:
        note(line, quiet=quiet)


def restyled(
    sentences: Iterable[Sentence], heads: Heads, coordination: str | None, *, back: bool
) -> Iterator[Sentence]:
    """Convert trees to another style."""
    from arborescence.treebank import restyle

    conjuncts = cast("Conjuncts", coordination or "first")
    return restyle(sentences, heads=heads, coordination=conjuncts, back=back)


def converted(
    file: str,
    rules: HeadRules,
    traces: bool,
    tally: Tally,
    encoding: str,
    *,
    draw: bool,
    skipped: Skipped | None,
) -> Iterator[Sentence]:
    """Convert the trees of a file; with `draw`, also draw them on the terminal."""
    from arborescence.drawing import draw_lexicalized
    from arborescence.treebank.phrase_structure import lexicalize, read_trees, to_dependencies

    name = "<stdin>" if file == "-" else file
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    trees = read_trees(file, skip_invalid=skipped, encoding=encoding)
    for number, tree in enumerate(trees, 1):
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
    """Yield lines about moved phrases, and about phrases that the head rules left undecided."""
    if traces:
        yield f"{tally.moved:,} phrases put back to their traces"
    count = tally.undecided.total()
    yield f"head rules {rules}: {count:,} of {tally.phrases:,} phrases undecided"
    for phrase, times in tally.undecided.most_common(_NAMED):
        yield f"  {times:,} × {shorten(phrase, _WIDTH)}"
    others = len(tally.undecided) - _NAMED
    if others > 0:
        yield f"  and {others:,} other kinds"


def draw(
    files: Arguments = None,
    output: DrawingOption = None,
    encoding: EncodingOption = UTF8,
    skip_invalid: SkipOption = False,
) -> None:
    """Draw the trees of a treebank: on the terminal, or into an SVG file.

    Parameters
    ----------
    files
        CoNLL-U with trees; '-' or nothing: the standard input.

    Examples
    --------
    arborescence draw treebank.conllu | less -R
    arborescence draw treebank.conllu -o trees.svg
    """
    skipped = Skipped() if skip_invalid else None
    sentences = sentences_of(files, readers_of("conllu", skipped, None, encoding))
    sentences = skipped.left(sentences) if skipped else sentences
    deliver(([sentence] for sentence in sentences), output=output, text=not output)
    if skipped:
        skipped.report()


def validate(
    files: Arguments = None,
    rules: Annotated[str, typer.Option(metavar="ud|FILE.toml")] = "ud",
    encoding: EncodingOption = UTF8,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check trees by the rules of an annotation scheme: a line for each word that breaks one.

    The exit status is 1 if a rule without a cost was broken.

    Parameters
    ----------
    files
        Treebanks (CoNLL-U); '-' or nothing: the standard input.
    rules
        The rules: the rules of UD, or of a file.
    as_json
        Write JSON: on each line, one broken rule.

    Examples
    --------
    arborescence validate treebank.conllu
    arborescence parse test.conllu | arborescence validate
    arborescence validate --rules rules.toml *.conllu --json | jq .rule | sort | uniq -c
    """
    from arborescence.rules.sets import rules_of
    from arborescence.treebank import read, validate

    checked = rules_of(rules)
    counts: Counter[str] = Counter()
    wrong = False
    for file in files or ["-"]:
        treebank = file if encoding == UTF8 else read(file, encoding=encoding)
        for broken in validate(treebank, checked):
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
    encoding: EncodingOption = UTF8,
    quiet: QuietOption = False,
) -> None:
    """Turn heads that are no tree into the nearest tree, with the fewest changed heads, exactly.

    Cycles, several roots, heads out of range, gaps and text in the column HEAD are repaired; other
    faults are errors. The last line counts the changed heads.

    Parameters
    ----------
    files
        CoNLL-U; '-' or nothing: the standard input.
    model
        Let this parser decide between trees with equally few changes, and find relations.
    votes
        The number of votes of each file for its heads; the files have the same sentences.
    rules
        Find the nearest tree that keeps rules: the rules of UD, or of a file.
    projective
        Find trees without crossing edges.

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
    options: dict[str, Any] = {"parser": parser, "rules": rules, "root": root}
    reader = partial(read_broken, encoding=encoding)
    treebanks = [sentences_of(files, reader)]
    if votes is not None:
        try:
            options["votes"] = [int(number) for number in votes.split(",")]
        except ValueError:
            raise typer.BadParameter(f"--votes {votes}: give whole numbers, as 2,1,1") from None
        treebanks = [sentences_of([file], reader) for file in files or ["-"]]

    def counting() -> Iterator[list[Sentence]]:
        for sentence, changed, broken in mended(*treebanks, projective=projective, **options):
            sizes = len(changed), len(sentence), 1 if len(changed) else 0, int(broken)
            totals[:] = map(add, totals, sizes)
            yield [sentence]

    output = output or "-"
    repaired = counted(counting(), "sentences repaired", printed=output == "-", quiet=quiet)
    deliver(repaired, output=output)
    changed, words, sentences, broken = totals
    summary = f"{changed:,} of {words:,} heads changed, in {sentences:,} sentences"
    note(summary + (f"; {broken:,} still break a rule" if broken else ""), quiet=quiet)
