"""The commands: each reads its options, calls the library, and writes the result."""

from __future__ import annotations

import json
import sys
from functools import partial
from importlib import resources
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from arborescence.cli.annotating import audit, rank
from arborescence.cli.decode import decode
from arborescence.cli.explain import explain, trace
from arborescence.cli.integrations import integrations, serve
from arborescence.cli.models import app as train
from arborescence.cli.models import calibrate, models, package
from arborescence.cli.options import (
    DrawingOption,
    EncodingOption,
    JsonOption,
    QuietOption,
    documented,
    examples_of,
    taking,
    usage_errors,
)
from arborescence.cli.parsing import ParseArguments, analyses, loaded, split, tag
from arborescence.cli.progress import counted, note, say, steps
from arborescence.cli.sentences import (
    Skipped,
    deliver,
    documents_of,
    is_of_spacy,
    readers_of,
    sentences_of,
)
from arborescence.cli.treebanks import convert, draw, repair, validate
from arborescence.core.choices import Measure
from arborescence.errors import MissingExtraError
from arborescence.parsers.described import the_tree, the_trees
from arborescence.treebank.encodings import UTF8
from arborescence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

GROUP: Final = "arborescence.commands"
#: Commands of this project that have a distribution of their own.
_ELSEWHERE: Final = {"experiment": "arborescence-papers"}


class Commands(TyperGroup):
    """The commands of the package, and added commands; each is imported when it is called."""

    def list_commands(self, context: Any) -> list[str]:
        """Return the names of all commands."""
        own = super().list_commands(context)
        return [*own, *sorted(_added().keys() - own)]

    def get_command(self, context: Any, name: str) -> Any:
        """Return a command; None, after a line on stderr, if an added command is broken."""
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
    """Import an added command, whose author may be anybody."""
    group = typer.Typer(add_completion=False, rich_markup_mode="rich")
    try:
        group.add_typer(point.load(), name=point.name)
        return typer.main.get_group(group).commands[point.name]
    except (Exception, SystemExit) as error:
        distribution = point.dist.name if point.dist else point.value
        reason = " ".join(str(error).split())
        sys.stderr.write(
            f"arborescence: the command {point.name!r} of {distribution} is left out: "
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
    """Add a command; its help page is made from its docstring."""
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
        With --version: also show which kernels run.

    Examples
    --------
    arborescence demo
    echo 'The birds sing .' | arborescence parse --format tokens
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
    """Return the version; if `verbose`, also the kernels that run."""
    if not verbose:
        return __version__
    from arborescence.compiling.native import described

    return described()


@command
@taking(ParseArguments)
def parse(options: ParseArguments) -> None:
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
    read = readers_of(options.format, skipped, parser, options.encoding, quiet=quiet)
    sentences = sentences_of(files, read, documents)
    trees = analyses(sentences, parser, options, skipped, rules)
    trees = skipped.left(trees) if skipped else trees
    parsed = map(ranked, trees) if options.kbest else ([best] for [(best, _)] in trees)
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


command(draw)


command(convert)


command(validate)


command(repair)


command(rank)


command(audit)


command(trace)


command(explain)


app.add_typer(train, name="train")


command(calibrate)


command(integrations)


command(models)


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
    encoding: EncodingOption = UTF8,
    as_json: JsonOption = False,
) -> None:
    """Compare the trees of a parser with the right trees.

    Parameters
    ----------
    gold
        The right trees (CoNLL-U).
    predicted
        The trees of a parser, for the same text; '-': the standard input.
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
    arborescence evaluate gold.conllu parsed.conllu --json | jq .las.f1
    arborescence parse gold.conllu --kbest 10 | arborescence evaluate --oracle gold.conllu -
    """
    from arborescence import treebank

    right: Any = gold if encoding == UTF8 else treebank.read(gold, encoding=encoding)
    guess: Any = predicted
    if oracle:
        evaluation = treebank.best_of_k(
            right, guess, k=kbest, by=by or "las", punctuation=punctuation
        )
    elif by or kbest:
        raise typer.BadParameter("--by and --kbest go with --oracle")
    else:
        guess = guess if encoding == UTF8 else treebank.read(guess, encoding=encoding)
        evaluation = treebank.evaluate(right, guess, punctuation=punctuation)
    say(json.dumps(evaluation.as_dict()) if as_json else str(evaluation))


command(decode)


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
    """Compile all kernels now, once for all later runs."""
    from arborescence.compiling import native
    from arborescence.compiling.ahead import warmup as compile_all

    if native.KERNELS is not None:
        note(f"nothing to compile: the kernels are {native.WHAT_RUNS}", quiet=quiet)
        return
    with steps(quiet=quiet) as step:
        compile_all(progress=step)
