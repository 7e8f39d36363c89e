"""``arborescence experiment``: the tables and figures of papers and docs, on your own treebanks.

The command line imports this module, so it must not import slow modules.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from arborescence.cli.options import QuietOption, documented, examples, usage_errors
from arborescence.cli.progress import note, steps
from arborescence.parsers.shared.options import described
from arborescence_papers.common.recipes import PARSERS, Recipe

UNDIRECTED = "arborescence experiment undirected --treebanks ud -o undirected"
ROOT = "arborescence experiment root --treebanks ud -o root"
KBEST = "arborescence experiment kbest --treebanks ud -o kbest"
RUNTIME = "arborescence experiment runtime --treebanks ud -o runtime"
RULES = "arborescence experiment rules --treebanks ud -o rules"
CONVERSION = "arborescence experiment conversion --treebanks ud-more -o conversion"
OF_PARSERS = described(Recipe)
#: Experiments whose parsers learn by MIRA have no such options.
_MIRA: dict[str, Any] = {"loss": "mira", "root": "single"}
#: The options of parsers that experiments with one parser of each treebank have.
_ONE = ("parser", "loss", "root", "epochs", "bits")
Models = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        file_okay=False,
        help="A folder of trained parsers, or of score files of any parser, TREEBANK.npz: where "
        "there is one, nothing is trained.",
        rich_help_panel=PARSERS,
    ),
]

Seeds = Annotated[
    int,
    typer.Option(
        min=1,
        help="How many parsers of each treebank, that differ by chance.",
        rich_help_panel=PARSERS,
    ),
]


def common(
    treebanks: Path,
    output: Annotated[Path, typer.Option("--output", "-o")],
    only: Annotated[list[str] | None, typer.Option(metavar="TREEBANK")] = None,
    jobs: Annotated[int, typer.Option(min=1)] = 1,
    quick: bool = False,
    scores: Annotated[Path | None, typer.Option(metavar="DIR", rich_help_panel=PARSERS)] = None,
    quiet: QuietOption = False,
) -> None:
    """Declare the options of all experiments.

    Parameters
    ----------
    treebanks
        A folder of treebanks: folders with files such as train.conllu.gz (or dev.conllu.gz) and
        test.conllu.gz.
    output
        A folder for the report, tables and plots.
    only
        One of the treebanks; can be repeated.
    jobs
        How many parsers to train at the same time.
    quick
        Three small treebanks, in a few minutes: to see how it works.
    scores
        Where score files are kept, and taken from if they are there, for experiments to share them;
        by default OUTPUT/scores.
    """


def training(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of all experiments, and these of the parsers that it trains."""
    options = {name: OF_PARSERS[name] for name in names}
    return partial(documented, options=options, common=common)


app = typer.Typer(
    no_args_is_help=True, epilog=examples(ROOT, KBEST, RUNTIME, UNDIRECTED, RULES, CONVERSION)
)


@app.callback()
def experiment() -> None:
    """Reproduce the tables and figures of a paper, or of the documentation.

    What is done is kept in OUTPUT: when a command was interrupted, run it again and it goes on
    there. A treebank that is broken is named and left out, and the rest goes on; then the exit
    status is 1.
    """


@app.command(epilog=examples(ROOT, f"{ROOT} --quick", f"{ROOT} --loss mira --jobs 4"))
@training(*_ONE)
def root(
    models: Models = None,
    seeds: Seeds = 3,
    curve: Annotated[str | None, typer.Option(metavar="TREEBANK")] = None,
    curve_seeds: Annotated[int, typer.Option(min=1)] = 5,
    losses: bool = True,
    **others: Any,
) -> None:
    """Count the trees with several roots, where nothing forbids them.

    Tables 1 and 2 and Figures 3 and 4 of Zmigrod, Vieira and Cotterell (2020): malformed trees of
    unconstrained decoding, and what the constraint does to accuracy, by size of the treebank; and
    a learning curve, and a comparison of training losses.

    Parameters
    ----------
    curve
        Whose sentences make the learning curve; the largest treebank by default, '' for no curve.
    curve_seeds
        How many samples of each size the learning curve has.
    losses
        Whether to compare what parsers can be trained by.
    """
    own: dict[str, Any] = {
        "seeds": seeds,
        "curve": curve,
        "curve_seeds": curve_seeds,
        "losses": losses,
    }
    _run("root", models=models, **own, **others)


@app.command(epilog=examples(KBEST, f"{KBEST} --quick"))
@training(*_ONE)
def kbest(models: Models = None, seeds: Seeds = 3, **others: Any) -> None:
    """Count the trees with several roots among the k best ones.

    Figure 1 and Appendix A of Zmigrod, Vieira and Cotterell (2021), for k = 1, 5, 10, 20, 50; and
    the oracle accuracy of the lists with and without the root constraint.
    """
    _run("kbest", models=models, seeds=seeds, **others)


@app.command(epilog=examples(RUNTIME, f"{RUNTIME} --quick"))
@training(*_ONE)
def runtime(treebanks: Path | None = None, models: Models = None, **others: Any) -> None:
    """Time decoders beside those that the papers compare with.

    Table 1 of Zmigrod, Vieira and Cotterell (2021): the k best trees by their KBEST and KBEST_DEP,
    by what they compare with, and by this library; and the claims on complexity of Zmigrod, Vieira
    and Cotterell (2020): one root edge, beside none of that, n runs and reweighting, for up to 500
    words. Times are taken in one thread, when no parser is being trained.

    Parameters
    ----------
    treebanks
        A folder of treebanks; without it, times are those of random graphs alone.
    """
    # What it compares is compiled by Numba alike, ours too; nothing of that is imported yet.
    os.environ["ARBORESCENCE_JIT"] = "1"
    _run("runtime", treebanks=treebanks, models=models, **others)


@app.command(epilog=examples(UNDIRECTED, f"{UNDIRECTED} --only English-EWT --only Gothic-PROIEL"))
@training("epochs", "seed", "bits")
def undirected(**others: Any) -> None:
    """Compare parsing through undirected spanning trees with directed parsing.

    Four models of Levi, Reichart and Rappoport (2016), from three trainings a treebank.
    """
    _run("undirected", **_MIRA, **others)


@app.command(epilog=examples(RULES, f"{RULES} --kind linear --kind second-order --epochs 5"))
@training("epochs", "seed", "bits")
def rules(
    kind: Annotated[list[str] | None, typer.Option(metavar="KIND", show_default="linear")] = None,
    sentences: Annotated[int, typer.Option(min=1)] = 1500,
    tested: Annotated[int, typer.Option(min=1)] = 600,
    jobs: Annotated[int, typer.Option(hidden=True)] = 1,  # parsers are timed, one after the other
    scores: Annotated[Path | None, typer.Option(hidden=True)] = None,
    **others: Any,
) -> None:
    """Parse without rules, and by those of Universal Dependencies.

    How many trees break a rule, and which; what the best trees that keep the rules add to LAS, how
    long they take, and what a choice among the 10 best trees adds instead.

    Parameters
    ----------
    kind
        Of parsers: linear, joint (linear, and relations have a say in the tree) or second-order;
        can be repeated.
    sentences
        How many sentences of a treebank to learn from, at most.
    tested
        How many test sentences of a treebank to parse, at most.
    """
    others |= {"kinds": kind or ["linear"], "sentences": sentences, "tested": tested}
    _run("rules", jobs=jobs, scores=scores, **_MIRA, **others)


@app.command(epilog=examples(CONVERSION, f"{CONVERSION} --only Danish-DDT --converters by-hand"))
@training("epochs", "seed")
def conversion(
    converters: Annotated[Path | None, typer.Option(exists=True, file_okay=False)] = None,
    kind: Annotated[str | None, typer.Option(metavar="linear|neural|none")] = "linear",
    sentences: Annotated[int, typer.Option(min=1)] = 100_000,
    tested: Annotated[int, typer.Option(min=1)] = 100_000,
    jobs: Annotated[int, typer.Option(hidden=True)] = 1,
    scores: Annotated[Path | None, typer.Option(hidden=True)] = None,
    **others: Any,
) -> None:
    """Learn from sentences in both schemes how to convert an old treebank.

    How good the conversion is by the number of these sentences, beside the old annotation and a
    parser that learns from the same sentences; and what converted training parts are worth.

    Parameters
    ----------
    converters
        A folder of old test files that converters written by hand have converted.
    kind
        Of the parsers that learn from converted parts; 'none': leave them out.
    sentences
        How many sentences of a part these parsers learn from, at most.
    tested
        How many test sentences there are, at most.
    """
    others |= {"converters": converters, "kind": kind, "sentences": sentences, "tested": tested}
    _run("conversion", jobs=jobs, scores=scores, **_MIRA, **others)


def _run(
    name: str,
    treebanks: Path | None,
    output: Path,
    quiet: bool,
    only: list[str] | None,
    **options: Any,
) -> None:
    """Run an experiment, and say what was left out; the status is 1 if something went wrong."""
    with usage_errors():
        recipe = Recipe(**{name: options.pop(name) for name in OF_PARSERS.keys() & options.keys()})
    reproduce = import_module(f"arborescence_papers.{name}").reproduce
    with steps(quiet=quiet) as step:
        left_out = reproduce(
            treebanks, output, only=only or (), recipe=recipe, **options, progress=step
        )
    for treebank, reason, failed in left_out:
        sys.stderr.write(f"left out: {treebank}: {reason}\n" if failed else "")
    note(f"report: {output / 'report.md'}", quiet=quiet)
    if any(failed for *_, failed in left_out):
        raise typer.Exit(1)
