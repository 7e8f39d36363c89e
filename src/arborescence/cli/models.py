"""``arborescence models`` and ``package``: models that are installed, and how others become so."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from arborescence.cli.options import QuietOption, into, usage_errors
from arborescence.cli.progress import note, say, steps


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


def package(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL")],
    name: Annotated[str, typer.Option()],
    treebank: Annotated[Path, typer.Option(metavar="FOLDER")],
    output: Annotated[Path | None, into(metavar="FOLDER")] = None,
    licence: Annotated[str | None, typer.Option(metavar="SPDX")] = None,
    version: str | None = None,
    remark: str = "",
    wheel: bool = True,
    quiet: QuietOption = False,
) -> None:
    """Make a package of trained models, with a card of what they are and how good, and its wheel.

    Where the wheel is installed, arborescence.load(NAME) and parse -m NAME find the model.

    Parameters
    ----------
    models
        The model files. One is called NAME; several have the names of their files.
    name
        What the package is for, such as pt: it is called arborescence-NAME.
    treebank
        The folder of the treebank that they learned from, with its README and LICENSE: the models
        have its licence, and are measured on its test part.
    output
        The folder to write; by default arborescence-NAME.
    licence
        The licence, if the README does not say it.
    version
        The version of the package; by default, that of arborescence.
    remark
        What else the card should say of the data.
    wheel
        Also build the wheel, into the folder dist there; needs hatchling.

    Examples
    --------
    arborescence package pt.npz --name pt --treebank UD_Portuguese-Bosque
    pip install arborescence-pt/dist/*.whl
    arborescence parse -m pt --format text carta.txt
    """
    from arborescence.parsers import packaging
    from arborescence.version import __version__

    with steps(quiet=quiet) as step, usage_errors():
        made = packaging.package(
            models,
            treebank,
            name=name,
            output=output,
            licence=licence,
            version=version or __version__,
            note=remark,
            progress=step,
        )
        built = packaging.build_wheel(made.folder) if wheel else made.folder
    if not made.commercial:
        note(packaging.NO_COMMERCE)
    say(str(built))
