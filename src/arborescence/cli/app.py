"""The commands: each reads its options, calls the library, and writes the result."""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import partial
from importlib import resources
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from arborescence.cli import train
from arborescence.cli.audit import audit
from arborescence.cli.convert import convert
from arborescence.cli.explain import explain
from arborescence.cli.options import (
    Arguments,
    DrawingOption,
    JsonOption,
    KBestOption,
    QuietOption,
    RootOption,
    SkipOption,
    ThreadsOption,
    documented,
    ends,
    examples_of,
    into,
    taking,
    usage_errors,
)
from arborescence.cli.packaging import package
from arborescence.cli.parsing import Options, analyses, loaded
from arborescence.cli.progress import counted, note, say, steps
from arborescence.cli.rank import rank
from arborescence.cli.repair import repair
from arborescence.cli.sentences import (
    Skipped,
    deliver,
    documents_of,
    is_of_spacy,
    readers_of,
    sentences_of,
    with_hint_at_lines,
)
from arborescence.cli.serve import serve
from arborescence.cli.trace import trace
from arborescence.cli.words import split, tag
from arborescence.core.choices import Encoding, Measure
from arborescence.errors import ArborescenceError, MissingExtraError
from arborescence.parsers.described import the_tree, the_trees
from arborescence.parsers.shared.options import Inference
from arborescence.system.files import writing
from arborescence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

GROUP: Final = "arborescence.commands"
#: Commands of this project that have a distribution of their own.
_ELSEWHERE: Final = {"experiment": "arborescence-papers"}


class Commands(TyperGroup):
    """The commands of the package, and those that are added, each imported when it is wanted."""

    def list_commands(self, context: Any) -> list[str]:
        """Return the names of all commands."""
        own = super().list_commands(context)
        return [*own, *sorted(_added().keys() - own)]

    def get_command(self, context: Any, name: str) -> Any:
        """Return a command; None, after a line on stderr, if one that is added is broken."""
        if own := super().get_command(context, name):
            return own
        if point := _added().get(name):
            return _loaded(point)
        if name in _ELSEWHERE:
            package = _ELSEWHERE[name]
            raise MissingExtraError(f"{name} is in {package}: pip install {package}")
        return None


def _added() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Any:
    """Import a command, which may be code of anybody."""
    around = typer.Typer(add_completion=False, rich_markup_mode="rich")
    try:
        around.add_typer(point.load(), name=point.name)
        return typer.main.get_group(around).commands[point.name]
    except Exception as error:
        whose = point.dist.name if point.dist else point.value
        reason = " ".join(str(error).split())
        sys.stderr.write(
            f"arborescence: the command {point.name!r} of {whose} is left out: "
            f"{type(error).__name__}: {reason}\n"
        )
        return None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Add a command, of which its docstring says all that the help page shows."""
    return app.command(epilog=examples_of(function))(documented(function))


def arborescence(
    context: typer.Context,
    version: bool = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v")] = False,
) -> None:
    """Parse sentences into dependency trees, with exact inference.

    Parameters
    ----------
    version
        Show the version and exit.
    verbose
        With --version: and which kernels run.

    Examples
    --------
    arborescence demo
    echo 'Birds sing .' | arborescence parse --format tokens
    """
    if version:
        say(installed_version(verbose))
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.fail("Missing command.")


app.callback(invoke_without_command=True, epilog=examples_of(arborescence))(
    documented(arborescence)
)


def installed_version(verbose: bool) -> str:
    """Return the version; if `verbose`, with what runs."""
    if not verbose:
        return __version__
    from arborescence._config import described

    return described()


@command
@taking(Options)
def parse(options: Options) -> None:
    """Parse sentences; write CoNLL-U or JSON, or draw the trees.

    Examples
    --------
    echo 'We vigorously wash our cats who stink' | arborescence parse --format tokens --tree
    arborescence parse --format text letter.txt -o letter.conllu
    arborescence parse --format lines sentences.txt.gz -m turkish.model > parsed.conllu
    zcat test.conllu.gz | arborescence parse -m turkish.model > parsed.conllu
    arborescence parse --kbest 10 test.conllu -o kbest.conllu
    arborescence parse --kbest 3 --json test.conllu | jq '.analyses[].weight'
    arborescence parse --confidence test.conllu | grep EdgeProb=0.[0-4]
    arborescence parse --rules ud test.conllu -o parsed.conllu
    arborescence parse -m graph.model -m transition.model test.conllu -o parsed.conllu
    arborescence parse --shards texts parsed --workers 8
    arborescence parse --ray auto --parquet texts parsed
    arborescence parse documents.spacy -o parsed.spacy
    """
    from arborescence.parsers.shared.keeping import Keeper, keeper_of
    from arborescence.treebank.conllu import ranked

    options.check()
    with usage_errors():
        rules = keeper_of(options.rules)
    if options.shards or options.ray:
        from arborescence.cli.shards import parse_folder

        parse_folder(options, rules)
        return
    files, output, tree, quiet = options.files, options.output, options.tree, options.quiet
    skipped = Skipped() if options.skip_invalid else None
    with usage_errors():
        parser = loaded(options)
    documents = documents_of(files, output, parser)
    sentences = sentences_of(files, readers_of(options.format, skipped, parser), documents)
    if options.format == "text":
        sentences = with_hint_at_lines(sentences, quiet=quiet)
    found = analyses(sentences, parser, options, skipped, rules)
    parsed = map(ranked, found) if options.kbest else ([best] for [(best, _)] in found)
    output = output or (None if tree else "-")
    describe = partial(the_trees if options.kbest else the_tree, confidence=options.confidence)
    deliver(
        counted(parsed, "sentences parsed", printed=tree or output == "-", quiet=quiet),
        output=output,
        as_json=options.as_json,
        describe=describe,
        write=documents.write if documents and is_of_spacy(output) else None,
        text=tree,
    )
    if isinstance(rules, Keeper):
        note(str(rules.counts), quiet=quiet)
    if skipped:
        skipped.report()


command(split)


command(tag)


@command
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


command(convert)


@command
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


command(repair)


command(rank)


command(audit)


command(trace)


command(explain)


app.add_typer(train.app, name="train")


@command
def integrations(
    tools: Arguments = None,
    check: bool = True,
) -> None:
    """Show which parsers can decode with this library here, and check them.

    For each: its version, what arborescence.integrations.patch(...) would replace, and how both
    decoders do on 200 random graphs.

    Parameters
    ----------
    tools
        Names of packages; nothing: all that are known.
    check
        Compare both decoders on random graphs.

    Examples
    --------
    arborescence integrations
    arborescence integrations stanza supar
    """
    from arborescence.integrations import TOOLS, patching

    failed = []
    for tool in tools or TOOLS:
        with usage_errors():
            module = patching.module_of(tool)
        version = patching.version_of(tool)
        if version is None:
            say(f"{tool}: not installed")
        elif version not in module.VERSIONS:
            known = ", ".join(module.VERSIONS)
            say(f"{tool} {version}: not known, so it is left alone; known: {known}")
        else:
            say(f"{tool} {version}")
            if not described(tool, check):
                failed.append(tool)
    if failed:
        raise ArborescenceError(f"{', '.join(failed)}: the check failed, so do not install it")


def described(tool: str, check: bool) -> bool:
    """Write what would be replaced, and what a check found; tell whether all is well."""
    from arborescence.integrations import patching

    try:
        names = patching.places(tool)
    except ImportError as error:
        say(f"    cannot be imported here: {error}")
        return True
    for name in names:
        say(f"    replaces {name}")
    if not check:
        return True
    found = patching.check(tool)
    say(
        f"    on {sum(found)} random graphs: the same weight {found.same} times, a better tree "
        f"{found.better} times, one where {tool} finds none {found.broken} times"
        + (f", wrong {found.wrong} times" if found.wrong else "")
    )
    return not found.wrong


@command
def models() -> None:
    """List the models that are installed: name, size, and whose they are.

    Any distribution can bring some. `arborescence train` makes model files, which need not be
    installed.

    Examples
    --------
    arborescence models
    arborescence parse -m english-fast --format text letter.txt
    """
    from arborescence.parsers.registry import file_of, installed

    for name, point in installed().items():
        with resources.as_file(file_of(point)) as path:
            size = path.stat().st_size / 1e6
        whose = licence = "unknown"
        if point.dist:
            whose = f"{point.dist.name} {point.dist.version}"
            told = point.dist.metadata.get_all("License-Expression") or ()
            licence = next(iter(told), licence)
        say(f"{name}  {size:.1f} MB  {whose}  licence: {licence}")
    if not installed():
        note("none is installed; for English, pip install arborescence-en")


command(package)


command(serve)


@command
def evaluate(
    gold: Annotated[str, typer.Argument()],
    predicted: Annotated[str, typer.Argument()],
    oracle: bool = False,
    by: Measure | None = None,
    kbest: Annotated[int | None, typer.Option(min=1, metavar="K")] = None,
    punctuation: bool = True,
    as_json: JsonOption = False,
) -> None:
    """Compare the trees of a parser with the right ones.

    Parameters
    ----------
    gold
        The right trees (CoNLL-U).
    predicted
        The trees of a parser, for the same text; '-': the standard input.
    oracle
        Take the best tree of each sentence among those of parse --kbest.
    by
        With --oracle: the score that says which tree is best; else LAS.
    kbest
        With --oracle: choose among the first K only.
    punctuation
        Whether punctuation counts. Officially it does.
    as_json
        Print JSON.

    Examples
    --------
    arborescence evaluate gold.conllu parsed.conllu
    arborescence evaluate gold.conllu parsed.conllu --json | jq .las.f1
    arborescence parse gold.conllu --kbest 10 | arborescence evaluate --oracle gold.conllu -
    """
    from arborescence import treebank

    if oracle:
        evaluation = treebank.best_of_k(
            gold, predicted, k=kbest, by=by or "las", punctuation=punctuation
        )
    elif by or kbest:
        raise typer.BadParameter("--by and --kbest go with --oracle")
    else:
        evaluation = treebank.evaluate(gold, predicted, punctuation=punctuation)
    say(json.dumps(evaluation.as_dict()) if as_json else str(evaluation))


@command
def decode(
    scores: Annotated[Path, typer.Argument(metavar="SCORES.npy|npz")],
    output: Annotated[Path | None, into()] = None,
    kbest: KBestOption = None,
    root: RootOption = "single",
    projective: bool = False,
    inference: Inference = "exact",
    rounds: Annotated[int, typer.Option(min=0)] = 5,
    encoding: Encoding = "mean",
    threads: ThreadsOption = 1,
    as_json: JsonOption = False,
) -> None:
    r"""Find the best trees for scores that were made elsewhere.

    Prints the heads of each sentence on a line. scores\[h, d] is the weight of the edge h -> d.
    With --kbest, a line for each tree: sentence (from 0), rank (from 1), weight and heads, with
    tabs between.

    Parameters
    ----------
    scores
        Scores (N, N) or (B, N, N): an .npy file, or an .npz file with 'scores' and, if sentences
        differ in length, 'lengths'.
    output
        Write the head vectors: .npy, with --kbest .npz, or .json.
    projective
        Find trees without crossing edges.
    inference
        Find the best tree, or one by way of an undirected tree.
    rounds
        Rounds of local enhancement, if inference is undirected.
    encoding
        The score of an undirected edge, of those of its two directions.
    as_json
        Print heads and weight of each tree as JSON.

    Examples
    --------
    arborescence decode scores.npy
    arborescence decode batch.npz -o heads.npy --threads 2
    arborescence decode batch.npz --kbest 50 -o trees.npz
    arborescence decode batch.npz --inference undirected --rounds 5
    """
    import arborescence as arb
    from arborescence.cli import scores as files

    if inference == "undirected" and (kbest or projective):
        raise typer.BadParameter("--inference undirected does not go with --kbest or --projective")
    values, lengths = files.load_scores(scores)
    found: files.Best | files.KBest
    which: dict[str, Any] = {"root": root, "threads": threads}
    if kbest:
        found = files.KBest(*arb.kbest(values, kbest, lengths, projective=projective, **which))
    else:
        if inference == "undirected":
            how: dict[str, Any] = {"rounds": rounds, "encoding": encoding}
            heads = arb.undirected.decode(values, lengths, **how, **which)
        else:
            heads = arb.decode(values, lengths, projective=projective, **which)
        found = files.Best(heads, arb.tree_weight(values, heads))
    if ends(str(output), ".json", ".jsonl"):
        with writing(str(output)) as file:
            file.writelines(f"{line}\n".encode() for line in found.json_lines())
    elif output:
        found.save(output)
    if as_json or not output:
        for line in found.json_lines() if as_json else found.lines():
            say(line)


@command
def demo(output: DrawingOption = None) -> None:
    """Parse sentences that ship with the package, and draw the trees.

    Examples
    --------
    arborescence demo
    arborescence demo -o trees.svg
    """
    with resources.as_file(resources.files("arborescence.cli") / "demo.txt") as sentences:
        parse(files=[str(sentences)], format="tokens", tree=True, output=output)


@app.command()
def warmup(quiet: QuietOption = False) -> None:
    """Compile every kernel ahead, once for all later runs."""
    from arborescence.compiling import native
    from arborescence.compiling.ahead import warmup as compile_all

    if native.KERNELS is not None:
        note(f"nothing to compile: the kernels are {native.WHAT_RUNS}", quiet=quiet)
        return
    with steps(quiet=quiet) as step:
        compile_all(progress=step)
