"""The tables of *undirected*: four first-order parsers, on many treebanks.

Levi, Reichart and Rappoport (2016), *Edge-Linear First-Order Dependency Parsing with Undirected
Minimum Spanning Tree Inference*, compare a directed parser with three parsers that first find an
undirected spanning tree.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from arborescence.errors import OptionError
from arborescence_papers.common.experiment import Experiment
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.undirected import measure
from arborescence_papers.undirected.plots import draw
from arborescence_papers.undirected.report import parts

if TYPE_CHECKING:
    import os
    from typing import Unpack

    from arborescence_papers.common.experiment import Options
    from arborescence_papers.common.treebanks import LeftOut

_RECIPE: Final = Recipe(loss="mira", root="single")


def reproduce(
    treebanks: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    recipe: Recipe = _RECIPE,
    **options: Unpack[Options],
) -> list[LeftOut]:
    """Train and test the four models of *undirected* on treebanks, and write a report.

    The errors are those of `Experiment`; and OptionError if ``models`` are given, or `recipe` is
    not for linear parsers.

    The models are those of Levi, Reichart and Rappoport (2016). All are trained in the same way,
    without a dev set, with gold tags. The four models need three trained parsers.

    Parameters
    ----------
    treebanks, output, options
        As for `Experiment`; without ``models``. The output is ``report.md``, its tables as CSV,
        ``uas.svg`` and ``wins.svg``.
    recipe
        The training recipe of the linear parsers, except inference and features.

    Returns
    -------
    list of LeftOut
        Those that cannot be used, and why.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from arborescence_papers.common.treebanks import write_birdish
    >>> ud, output = write_birdish(Path(mkdtemp()) / "ud"), Path(mkdtemp()) / "out"
    >>> recipe = Recipe(loss="mira", root="single", epochs=2, bits=10)
    >>> _ = reproduce(ud, output, recipe=recipe)
    >>> print((output / "directed-uas.csv").read_text().splitlines()[1])
    Birdish,1 (train),100.00,100.00,100.00,100.00
    """
    if options.get("models") or recipe.parser != "linear":
        raise OptionError("parsers must be linear ones that are trained here: three are compared")
    experiment = Experiment(treebanks, output, **options)
    outcomes = measure.measure(experiment, recipe)
    return experiment.report(outcomes, draw, partial(parts, recipe=recipe))
