"""Plots: the rate of malformed trees by size (Figure 1 of *kbest*) and by k, and the oracle UAS."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence_papers.common import style
from arborescence_papers.common.groups import GROUPS
from arborescence_papers.kbest.measure import PAPER, PAPER_KS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from arborescence_papers.kbest.measure import Outcome

_COLOURS: Final = dict(
    zip((*GROUPS, ""), (style.AMBER, style.VIOLET, style.TEAL, style.INK), strict=True)
)


def draw(outcomes: Sequence[Outcome], folder: Path, *, ks: Sequence[int]) -> list[str]:
    """Draw ``sizes.svg``, ``rates.svg`` and ``oracle.svg`` into a folder; return these names."""
    figures = {"sizes.svg": _draw_sizes, "rates.svg": _draw_rates, "oracle.svg": _draw_oracle}
    fills = {name: partial(fill, ks=ks) for name, fill in figures.items()}
    return style.draw(folder, {name: (9, 4.5, fill, outcomes) for name, fill in fills.items()})


def _draw_sizes(figure: Figure, outcomes: Sequence[Outcome], ks: Sequence[int]) -> None:
    """Draw Figure 1 of the paper, ours and theirs: the rate against size, for two k."""
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    ours = [(one.size, *one.rates[[0, -1]].tolist()) for one in outcomes if one.size]
    theirs = [(row["train"], row["1"], row[str(PAPER_KS[-1])]) for row in PAPER.values()]
    for panel, title, points, two in (
        (panels[0], "here", ours, (ks[0], ks[-1])),
        (panels[1], "in the paper", theirs, (PAPER_KS[0], PAPER_KS[-1])),
    ):
        sizes, *rates = zip(*points, strict=True) if points else ((), (), ())
        for k, some, colour in zip(two, rates, (style.AMBER, style.TEAL), strict=True):
            panel.scatter(sizes, some, s=20, color=colour, label=f"k = {k}")
        panel.set_title(title)
        panel.set_xlabel("sentences to learn from")
        panel.grid(axis="y", color=style.PALE)
        style.log_axis(panel.xaxis)
        panel.legend()
    panels[0].set_ylabel("malformed trees among the k best, %")


def _draw_rates(figure: Figure, outcomes: Sequence[Outcome], ks: Sequence[int]) -> None:
    """Draw the rate against k, and the paper's average."""
    axes = figure.subplots()
    rates = np.array([one.rates for one in outcomes])
    _draw_treebanks(axes, outcomes, ks, rates)
    mean = rates.mean(axis=0)
    axes.plot(ks, mean, color=style.INK, linewidth=2.5, marker="o", label="mean")
    median = np.median(rates, axis=0)
    axes.plot(ks, median, color=style.INK, linewidth=2, ls="--", label="median")
    paper = [np.mean([row[str(k)] for row in PAPER.values()]) for k in PAPER_KS]
    axes.plot(PAPER_KS, paper, color=style.INK, ls=":", label="mean in the paper")
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
