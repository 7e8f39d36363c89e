"""Plots of broken sentences and of what rules give, by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence_papers.common import style
from arborescence_papers.common.groups import grouped
from arborescence_papers.rules.measure import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

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
