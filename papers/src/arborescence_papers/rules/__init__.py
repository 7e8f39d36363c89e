"""How often parsers break the rules of Universal Dependencies, and what keeping them gives."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, get_args

from arborescence.core.checks import check_count
from arborescence.errors import OptionError
from arborescence_papers.common import style
from arborescence_papers.common.experiment import Experiment
from arborescence_papers.common.groups import grouped
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.rules import measure
from arborescence_papers.rules.measure import Kind, Outcome
from arborescence_papers.rules.report import parts

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Unpack

    from matplotlib.figure import Figure

    from arborescence_papers.common.experiment import Options
    from arborescence_papers.common.treebanks import LeftOut

_RECIPE: Final = Recipe(loss="mira", root="single", epochs=5, sentences=1500)


def reproduce(
    treebanks: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    recipe: Recipe = _RECIPE,
    kinds: Sequence[Kind] = ("linear",),
    tested: int = 600,
    **options: Unpack[Options],
) -> list[LeftOut]:
    """Parse treebanks without rules and with those of Universal Dependencies, and write a report.

    The errors are those of `Experiment`; and OptionError if a kind of parser is unknown, `tested`
    is less than 1, or ``models``, ``scores`` or ``jobs`` are given.

    Parameters
    ----------
    treebanks, output, options
        As for `Experiment`; without ``models``, ``scores`` and ``jobs``. The output is
        ``report.md``, its tables as CSV, ``broken.svg`` and ``gain.svg``.
    recipe
        How many sentences the parsers learn from, their epochs, seed, and bits. All are trained
        by MIRA with gold tags, without a dev set.
    kinds
        The kinds of parsers: linear, joint (a linear parser whose relations have a say in the
        tree), second-order.
    tested
        The largest number of test sentences.

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
    >>> _ = reproduce(ud, output, recipe=Recipe(loss="mira", root="single", epochs=2, bits=10))
    >>> (output / "rules-by-how-often.csv").exists()
    True
    """
    for kind in kinds:
        if kind not in get_args(Kind):
            raise OptionError(f"kinds must be of {', '.join(get_args(Kind))}, not {kind!r}")
    check_count(tested, "tested")
    if options.get("models") or options.get("scores") or options.get("jobs", 1) != 1:
        raise OptionError("parsers are trained and timed one by one: no models, scores or jobs")
    experiment = Experiment(treebanks, output, **options)
    outcomes = measure.measure(experiment, recipe, kinds, tested)
    return experiment.report(outcomes, draw, partial(parts, recipe=recipe))


_FIGURES: Final = {
    "broken.svg": ("sentences that break a rule, %", lambda one: one.share),
    "gain.svg": ("points of LAS that rules add", Outcome.gain),
}


def draw(outcomes: Sequence[Outcome], folder: Path) -> list[str]:
    """Draw ``broken.svg`` and ``gain.svg`` into a folder, and return these names."""
    kinds = grouped(outcomes, lambda outcome: outcome.kind)

    def fill(figure: Figure, shown: tuple[str, Callable[[Outcome], float]]) -> None:
        title, value = shown
        axes = figure.subplots()
        for (kind, some), (color, marker) in zip(kinds.items(), style.STYLES, strict=False):
            points = [one.size for one in some], list(map(value, some))
            axes.scatter(*points, s=20, color=color, marker=marker, label=kind)
        axes.set_xlabel("sentences to learn from")
        axes.set_ylabel(title)
        axes.grid(axis="y")
        axes.axhline(0, color=style.FAINT)
        style.log_axis(axes.xaxis)
        if len(kinds) > 1:
            axes.legend()

    return style.draw(folder, {name: (9, 3.6, fill, shown) for name, shown in _FIGURES.items()})
