"""Conversion of old treebanks: how many sentences it needs, and what it is worth."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arborescence.core.checks import check_count
from arborescence.errors import OptionError
from arborescence_papers.common import style
from arborescence_papers.common.experiment import Experiment
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.conversion import measure
from arborescence_papers.conversion.measure import SIZES, mean_at
from arborescence_papers.conversion.report import parts
from arborescence_papers.conversion.sources import PARTS

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.figure import Figure

    from arborescence_papers.common.experiment import Options
    from arborescence_papers.common.treebanks import LeftOut
    from arborescence_papers.conversion.measure import Outcome

_RECIPE: Final = Recipe(loss="mira", root="single", epochs=5)
_QUICK: Final = ("Romanian-RRT", "Korean-GSD", "Danish-DDT")
_KINDS: Final = ("linear", "neural", "none")


def reproduce(
    treebanks: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    recipe: Recipe = _RECIPE,
    converters: Path | None = None,
    kind: str = "linear",
    tested: int = 100_000,
    **options: Unpack[Options],
) -> list[LeftOut]:
    """Learn conversions from samples, convert old parts, train parsers, and write a report.

    The errors are those of `Experiment`; and OptionError if a treebank is none of the nine, or
    ``models``, ``scores`` or ``jobs`` are given.

    Parameters
    ----------
    treebanks
        A folder with the files that `sources.PARTS` names.
    output, options
        As for `Experiment`; without ``models``, ``scores`` and ``jobs``. The output is
        ``report.md``, its tables as CSV, and ``curve.svg``.
    recipe
        The epochs of parsers, the largest number of sentences that they learn from, and the seed of
        samples.
    converters
        A folder of old test files that were converted by hand-written programs, by their paths in
        `treebanks`, without ``.gz``.
    kind
        The kind of parsers that learn from converted parts; ``"none"`` leaves them out.
    tested
        The largest number of test sentences.

    Returns
    -------
    list of LeftOut
        Those that cannot be used, and why.
    """
    check_count(tested, "tested")
    only = list(options.get("only", ())) or list(_QUICK if options.get("quick") else PARTS)
    for name in only:
        if name not in PARTS:
            raise OptionError(f"{name}: not of {', '.join(PARTS)}")
    if kind not in _KINDS:
        raise OptionError(f"kind must be of {', '.join(_KINDS)}, not {kind!r}")
    if options.get("models") or options.get("scores") or options.get("jobs", 1) != 1:
        raise OptionError("parsers are trained one by one: no models, scores or jobs")
    experiment = Experiment(None, output, progress=options.get("progress"))
    plan = measure.Plan(Path(treebanks), converters, kind, tested, recipe)
    outcomes = measure.measure(experiment, only, plan)
    return experiment.report(outcomes, draw, partial(parts, plan=plan))


def draw(outcomes: Sequence[Outcome], folder: Path) -> list[str]:
    """Draw ``curve.svg`` into a folder, and return its name."""

    def fill(figure: Figure, some: Sequence[Outcome]) -> None:
        axes = figure.subplots()
        lines = ("conversion", "parser")
        for name, (color, marker) in zip(lines, style.STYLES, strict=False):
            means = [mean_at(some, name, size) for size in SIZES]
            axes.plot(SIZES, means, color=color, marker=marker, label=name)
        axes.axhline(mean_at(some, "as it is"), color=style.FAINT, label="old annotation")
        axes.set_xlabel("sentences in both schemes")
        axes.set_ylabel("LAS")
        axes.grid(axis="y")
        style.log_axis(axes.xaxis)
        axes.legend()

    return style.draw(folder, {"curve.svg": (9, 3.6, fill, outcomes)})
