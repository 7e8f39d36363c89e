"""``arborescence experiment``: the tables and figures of the papers, on your own treebanks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from arborescence.cli.generated import documented
from arborescence.cli.help import examples
from arborescence.cli.options import QuietOption, usage_errors
from arborescence.cli.progress import note, steps
from arborescence.core.choices import Root
from arborescence.core.errors import MissingExtraError
from arborescence.parsers.shared.options import Option, Record, described
from arborescence.parsers.shared.scheme import whole
from arborescence.parsers.shared.settings import LEAST_BITS, MOST_BITS
from arborescence.parsers.shared.types import AnyKind, AnyLoss

UNDIRECTED = "arborescence experiment undirected --treebanks ud -o undirected"
ROOT = "arborescence experiment root --treebanks ud -o root"
KBEST = "arborescence experiment kbest --treebanks ud -o kbest"
RUNTIME = "arborescence experiment runtime --treebanks ud -o runtime"
PARSERS = "The parsers"
_EPOCHS = "10; biaffine: 30, small treebanks up to 100"
_RECIPE = ("parser", "loss", "seed", "epochs", "bits")  # options for the training of parsers

TreebanksOption = Annotated[
    Path,
    typer.Option(
        help="A folder of treebanks: folders with files such as train.conllu.gz (or dev.conllu.gz) "
        "and test.conllu.gz."
    ),
]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="A folder for the report, tables and plots.")
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(metavar="TREEBANK", help="One of the treebanks; can be repeated."),
]
JobsOption = Annotated[int, typer.Option(min=1, help="How many parsers to train at the same time.")]
QuickOption = Annotated[
    bool,
    typer.Option("--quick", help="Three small treebanks, in a few minutes: to see how it works."),
]
ModelsOption = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        file_okay=False,
        help="A folder of trained parsers, or of score files of any parser, TREEBANK.npz: where "
        "there is one, nothing is trained.",
        rich_help_panel=PARSERS,
    ),
]
ScoresOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Where score files are kept, and taken from if they are there, for experiments to "
        "share them; by default OUTPUT/scores.",
        rich_help_panel=PARSERS,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Parsers(Record):
    """What the parsers of an experiment are trained by."""

    parser: Annotated[AnyKind, Option(panel=PARSERS)] = "linear"
    """Graph-based, transition-based, or neural (graph-based; training needs PyTorch)."""
    loss: Annotated[AnyLoss, Option(panel=PARSERS)] = "head"
    """What a graph-based parser is trained by: margin, tree or head if it is neural, all but margin
    if not."""
    training_root: Annotated[Root, Option(panel=PARSERS)] = "multi"
    """The trees that a parser learns with: one root edge, or any number. The loss 'head' looks at
    no trees."""
    seeds: Annotated[int, Option(whole(1), panel=PARSERS)] = 3
    """How many parsers of each treebank, that differ by chance."""
    seed: Annotated[int, Option(whole(0), panel=PARSERS)] = 1
    """Fixes the order of the sentences."""
    epochs: Annotated[int | None, Option(whole(1), panel=PARSERS, shown=_EPOCHS)] = None
    """How often to go over a treebank."""
    bits: Annotated[int, Option(whole(LEAST_BITS, MOST_BITS), panel=PARSERS)] = 20
    """Room for 2^bits rows of weights."""


OF_PARSERS = described(Parsers)
#: The options of parsers that experiments with one parser of each treebank have.
_ONE = ("parser", "loss", "training_root", "epochs", "bits")


def of_parsers(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options of parsers."""
    return partial(documented, options={name: OF_PARSERS[name] for name in names})


app = typer.Typer(no_args_is_help=True, epilog=examples(ROOT, KBEST, RUNTIME, UNDIRECTED))


@app.callback()
def experiment() -> None:
    """Reproduce the tables and figures of a paper.

    What is done is kept in OUTPUT: when a command was interrupted, run it again and it goes on
    there. A treebank that is broken is named and left out, and the rest goes on; then the exit
    status is 1.
    """


@app.command(epilog=examples(ROOT, f"{ROOT} --quick", f"{ROOT} --loss mira --jobs 4"))
@of_parsers(*_ONE, "seeds")
def root(
    treebanks: TreebanksOption,
    output: OutputOption,
    only: OnlyOption = None,
    jobs: JobsOption = 1,
    quick: QuickOption = False,
    models: ModelsOption = None,
    scores: ScoresOption = None,
    curve: Annotated[
        str | None,
        typer.Option(
            metavar="TREEBANK",
            help="Whose sentences make the learning curve; the largest treebank by default, '' for "
            "no curve.",
        ),
    ] = None,
    curve_seeds: Annotated[
        int, typer.Option(min=1, help="How many samples of each size the learning curve has.")
    ] = 5,
    losses: Annotated[
        bool, typer.Option(help="Whether to compare what parsers can be trained by.")
    ] = True,
    quiet: QuietOption = False,
    **parsers: Any,
) -> None:
    """Count the trees with several roots, where nothing forbids them.

    Tables 1 and 2 and Figures 3 and 4 of Zmigrod, Vieira and Cotterell (2020): malformed trees of
    unconstrained decoding, and what the constraint does to accuracy, by size of the treebank; and
    a learning curve, and a comparison of training losses.
    """
    options = locals()
    _run("root", **options.pop("parsers"), **options)


@app.command(epilog=examples(KBEST, f"{KBEST} --quick"))
@of_parsers(*_ONE, "seeds")
def kbest(
    treebanks: TreebanksOption,
    output: OutputOption,
    only: OnlyOption = None,
    jobs: JobsOption = 1,
    quick: QuickOption = False,
    models: ModelsOption = None,
    scores: ScoresOption = None,
    quiet: QuietOption = False,
    **parsers: Any,
) -> None:
    """Count the trees with several roots among the k best ones.

    Figure 1 and Appendix A of Zmigrod, Vieira and Cotterell (2021), for k = 1, 5, 10, 20, 50; and
    the oracle accuracy of the lists with and without the root constraint.
    """
    options = locals()
    _run("kbest", **options.pop("parsers"), **options)


@app.command(epilog=examples(RUNTIME, f"{RUNTIME} --quick"))
@of_parsers(*_ONE)
def runtime(
    output: OutputOption,
    treebanks: Annotated[
        Path | None,
        typer.Option(
            help="A folder of treebanks; without it, times are those of random graphs alone."
        ),
    ] = None,
    only: OnlyOption = None,
    jobs: JobsOption = 1,
    quick: QuickOption = False,
    models: ModelsOption = None,
    scores: ScoresOption = None,
    quiet: QuietOption = False,
    **parsers: Any,
) -> None:
    """Time decoders beside those that the papers compare with.

    Table 1 of Zmigrod, Vieira and Cotterell (2021): the k best trees by their KBEST and KBEST_DEP,
    by what they compare with, and by this library; and the claims on complexity of Zmigrod, Vieira
    and Cotterell (2020): one root edge, beside none of that, n runs and reweighting, for up to 500
    words. Times are taken in one thread, when no parser is being trained.
    """
    options = locals()
    _run("runtime", **options.pop("parsers"), **options)


@app.command(epilog=examples(UNDIRECTED, f"{UNDIRECTED} --only English-EWT --only Gothic-PROIEL"))
@of_parsers("epochs", "seed", "bits")
def undirected(
    treebanks: TreebanksOption,
    output: OutputOption,
    only: OnlyOption = None,
    jobs: JobsOption = 1,
    quick: QuickOption = False,
    scores: ScoresOption = None,
    quiet: QuietOption = False,
    **parsers: Any,
) -> None:
    """Compare parsing through undirected spanning trees with directed parsing.

    Four models of Levi, Reichart and Rappoport (2016), from three trainings a treebank.
    """
    options = locals() | parsers
    del options["parsers"]
    try:
        _load("common.style").require()
    except MissingExtraError as error:
        note(f"no plots: {error}", quiet=quiet)
    _run("undirected", loss="mira", training_root="single", **options)


def _load(module: str) -> Any:
    """Import a module of the experiments: only here, so that their folder can be deleted."""
    return import_module(f"arborescence.experiments.{module}")


def _run(
    name: str,
    treebanks: Path | None,
    output: Path,
    quiet: bool,
    only: list[str] | None,
    training_root: Root,
    **options: Any,
) -> None:
    """Run an experiment, and say what was left out; the status is 1 if something went wrong."""
    with usage_errors():
        Parsers.of({name: value for name, value in options.items() if name in OF_PARSERS})
    recipe = {key: options.pop(key) for key in _RECIPE if key in options} | {"root": training_root}
    options["recipe"] = _load("common.recipes").Recipe(**recipe)
    reproduce = _load(name).reproduce
    with steps(quiet=quiet) as step:
        left_out = reproduce(treebanks, output, only=only or (), **options, progress=step)
    for treebank, reason, failed in left_out:
        sys.stderr.write(f"left out: {treebank}: {reason}\n" if failed else "")
    note(f"report: {output / 'report.md'}", quiet=quiet)
    if any(failed for *_, failed in left_out):
        raise typer.Exit(1)
