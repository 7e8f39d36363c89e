"""``arborescence experiment``: the tables of a paper, on treebanks of one's own."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - Typer looks at it
from typing import Annotated

import typer

from arborescence.cli.help import examples
from arborescence.cli.progress import steps

UNDIRECTED = "arborescence experiment undirected --treebanks ud -o undirected"

app = typer.Typer(no_args_is_help=True, epilog=examples(UNDIRECTED))


@app.callback()
def experiment() -> None:
    """Reproduce the tables of a paper."""


@app.command(epilog=examples(UNDIRECTED, f"{UNDIRECTED} --only English-EWT --only Gothic-PROIEL"))
def undirected(
    treebanks: Annotated[
        Path,
        typer.Option(
            help="A folder of treebanks: folders with files such as train.conllu.gz (or "
            "dev.conllu.gz) and test.conllu.gz."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A folder for the report, tables and plots.")
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="TREEBANK", help="One of the treebanks; can be repeated."),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often to go over a treebank.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Fixes the order of the sentences.")] = 1,
    bits: Annotated[
        int, typer.Option(min=10, max=26, help="Room for 2^bits rows of weights.")
    ] = 20,
) -> None:
    """Compare parsing through undirected spanning trees with directed parsing.

    Four models of Levi, Reichart and Rappoport (2016), from three trainings a treebank. What is
    done is kept in OUTPUT: when the command was interrupted, run it again and it goes on there.
    """
    from arborescence.experiments.undirected import reproduce

    with steps() as step:
        plotted = reproduce(
            treebanks,
            output,
            only=only or (),
            epochs=epochs,
            seed=seed,
            bits=bits,
            progress=step,
        )
    if not plotted:
        sys.stderr.write(
            "no plots: they need the extra 'plots': pip install 'arborescence[plots]'\n"
        )
