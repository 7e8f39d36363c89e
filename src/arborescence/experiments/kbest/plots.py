"""Plots over k: the rate of malformed trees (Figure 1 of *kbest*), and the oracle UAS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.experiments.common import style
from arborescence.experiments.common.groups import GROUPS
from arborescence.experiments.kbest.measure import PAPER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from arborescence.experiments.kbest.measure import Outcome

_COLOURS: Final = dict(
    zip((*GROUPS, ""), (style.AMBER, style.VIOLET, style.TEAL, style.INK), strict=True)
)


def draw(outcomes: Sequence[Outcome], ks: Sequence[int], folder: Path) -> list[str]:
    """Draw ``rates.svg`` and ``oracle.svg`` into a folder, and return these names."""
    figures = {"rates.svg": _draw_rates, "oracle.svg": _draw_oracle}
    for name, fill in figures.items():
        with style.figure(9, 4.5) as figure:
            fill(figure, outcomes, ks)
            style.save(figure, folder / name)
    return list(figures)


def _draw_rates(figure: Figure, outcomes: Sequence[Outcome], ks: Sequence[int]) -> None:
    """Draw Figure 1 of the paper: the rate against k."""
    axes = figure.subplots()
    rates = np.array([one.rates for one in outcomes])
    _draw_treebanks(axes, outcomes, ks, rates)
    mean = rates.mean(axis=0)
    axes.plot(ks, mean, color=style.INK, linewidth=2.5, marker="o", label="mean")
    median = np.median(rates, axis=0)
    axes.plot(ks, median, color=style.INK, linewidth=2, ls="--", label="median")
    for k, times in PAPER.items():
        if k in ks:
            growth = f"{times} times the mean\nof k = 1: the paper"
            axes.plot([1, k], [mean[0], times * mean[0]], color=style.INK, ls=":", label=growth)
    _finish(axes, ks, "malformed trees among the k best, %")
    style.rate_axis(axes.yaxis)
    axes.set_ylim(top=100)
    figure.legend(loc="outside right center")


def _draw_oracle(figure: Figure, outcomes: Sequence[Outcome], ks: Sequence[int]) -> None:
    """Draw the oracle UAS of a list, and the gain from the constraint."""
    panels = figure.subplots(1, 2)
    for name, label, colour, marker in (
        ("single_uas", "with the root constraint", style.TEAL, "o"),
        ("multi_uas", "without", style.AMBER, "D"),
    ):
        mean = np.mean([getattr(one, name) for one in outcomes], axis=0)
        panels[0].plot(ks, mean, color=colour, marker=marker, label=label)
    _finish(panels[0], ks, "oracle UAS, mean over treebanks, %")
    panels[0].legend(loc="lower right")
    gains = np.array([one.gain for one in outcomes])
    _draw_treebanks(panels[1], outcomes, ks, gains)
    mean = gains.mean(axis=0)
    panels[1].plot(ks, mean, color=style.INK, linewidth=2.5, marker="o", label="mean")
    panels[1].axhline(0, color=style.FAINT, zorder=0)
    _finish(panels[1], ks, "what the constraint adds, points of UAS")
    panels[1].legend()


def _draw_treebanks(
    axes: Any, outcomes: Sequence[Outcome], ks: Sequence[int], values: np.ndarray
) -> None:
    """Draw a thin line for each treebank, in the colour of its group."""
    for group, colour in _COLOURS.items():
        some = [line for one, line in zip(outcomes, values, strict=True) if one.group == group]
        for place, line in enumerate(some):
            label = None if place else f"a treebank{group and f' ({group})'}"
            axes.plot(ks, line, color=colour, linewidth=0.8, alpha=0.6, label=label)


def _finish(axes: Any, ks: Sequence[int], title: str) -> None:
    axes.set_xlabel("k")
    axes.set_ylabel(title)
    axes.grid(axis="y", color=style.PALE)
    style.log_axis(axes.xaxis)
    axes.set_xticks(ks)
    axes.set_xticks([], minor=True)
