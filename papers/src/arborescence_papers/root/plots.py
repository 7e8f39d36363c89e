"""The plots of *root*: Figures 3 and 4 of the paper, the learning curve, and the losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arborescence_papers.common import style
from arborescence_papers.common.groups import GROUPS, bounds_of
from arborescence_papers.common.statistics import average
from arborescence_papers.root.measure import PAPER_GROUPS, groups, sized

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from arborescence.treebank.statistics import Interval
    from arborescence_papers.common.statistics import Average
    from arborescence_papers.common.style import Plan
    from arborescence_papers.root.measure import Effect, Findings

_NAMED: Final = 3
_RATE: Final = "malformed trees, %"
_SIZE: Final = "sentences to learn from"
_UAS: Final = ("UAS", *style.STYLES[0])
_EXACT: Final = ("exact match", *style.STYLES[1])


def draw(findings: Findings, folder: Path) -> list[str]:
    """Draw the available findings into a folder, and return the file names.

    They are ``rate.svg`` and ``change.svg`` (Figures 3 and 4 of the paper), ``curve.svg`` and
    ``losses.svg``.
    """
    known = sized(findings.effects)
    figures: dict[str, Plan] = {
        "rate.svg": (9, 5, _draw_rates, known),
        "change.svg": (9, 4, _draw_changes, known),
        "curve.svg": (9, 3.4, _draw_curve, findings.curve),
        "losses.svg": (9, 3.8, _draw_methods, findings.studied),
    }
    return style.draw(folder, figures)


def _draw_rates(figure: Any, effects: Sequence[Effect]) -> None:
    """Draw the rate against size, and the group averages: ours and the paper's."""
    axes = figure.subplots()
    axes.grid()
    _draw_treebanks(
        axes,
        effects,
        [(effect.rate, effect.rate_interval) for effect in effects],
        (style.TEAL, "o"),
    )
    low, high = _set_sizes(axes, effects)
    for name, some in groups(effects).items():
        if name in GROUPS:
            least, most = bounds_of(name)
            ends = max(least, low), min(most, high)
            ours = average(effect.rate for effect in some).value
            for rate, line in ((ours, "-"), (PAPER_GROUPS[name], ":")):
                axes.hlines(rate, *ends, color=style.AMBER, linestyle=line, linewidth=1.6)
    for label, line in (("our average of the group", "-"), ("the paper's average", ":")):
        axes.plot([], [], color=style.AMBER, linestyle=line, label=label)
    axes.set_ylabel(_RATE)
    style.rate_axis(axes.yaxis)
    _name_worst(axes, effects)
    figure.legend(loc="outside upper center", ncols=4)


def _name_worst(axes: Any, effects: Sequence[Effect]) -> None:
    """Label the treebanks with the highest rates."""
    for effect in sorted(effects, key=lambda effect: -effect.rate)[:_NAMED]:
        place = effect.size, effect.rate
        axes.annotate(effect.treebank, place, (6, -3), textcoords="offset points", fontsize=8)


def _draw_changes(figure: Any, effects: Sequence[Effect]) -> None:
    """Draw the relative changes against size."""
    panels = figure.subplots(1, 2)
    for panel, (what, color, marker), changes in (
        (panels[0], _UAS, [effect.uas for effect in effects]),
        (panels[1], _EXACT, [effect.exact for effect in effects]),
    ):
        panel.grid()
        panel.axhline(0, color=style.INK, linewidth=0.8)
        _draw_treebanks(
            panel,
            effects,
            [(change.relative, change.interval) for change in changes],
            (color, marker),
        )
        _set_sizes(panel, effects)
        panel.set_ylabel(f"relative change of {what}, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)


def _draw_curve(figure: Any, curve: Sequence[Effect]) -> None:
    """Draw rate, accuracy and changes against the sample size."""
    rate, accuracy, changes = figure.subplots(1, 3)
    sizes = [effect.size for effect in curve]
    what, color, marker = _UAS
    _draw_averages(
        rate, sizes, [average(effect.rates) for effect in curve], (style.VIOLET, "^"), _RATE
    )
    accuracy.plot(
        sizes,
        [effect.uas.rate_single for effect in curve],
        color=color,
        marker=marker,
        markersize=4,
    )
    accuracy.set_ylabel(f"{what} with the constraint, %")
    changes.axhline(0, color=style.INK, linewidth=0.8)
    for (what, color, marker), each in (
        (_UAS, [effect.uas.each for effect in curve]),
        (_EXACT, [effect.exact.each for effect in curve]),
    ):
        _draw_averages(changes, sizes, list(map(average, each)), (color, marker), what)
    changes.set_ylabel("relative change, %")
    changes.legend()
    rate.set_ylabel(_RATE)
    style.rate_axis(rate.yaxis)
    for panel in (rate, accuracy, changes):
        panel.grid()
        _set_sizes(panel, curve)


def _draw_methods(figure: Any, studied: dict[str, list[Effect]]) -> None:
    """Draw the rate and the accuracy of each method, one row each: average and all treebanks."""
    panels = figure.subplots(1, 2, sharey=True)
    for panel, label, values in (
        (panels[0], _RATE, [[one.rate for one in some] for some in studied.values()]),
        (
            panels[1],
            "UAS with the constraint, %",
            [[one.uas.rate_single for one in some] for some in studied.values()],
        ),
    ):
        panel.grid(axis="x")
        for row, those in enumerate(values):
            panel.scatter(those, [row] * len(those), s=10, color=style.FAINT)
            found = average(those)
            panel.errorbar(
                found.value, row, xerr=_bars([found[:2]]), color=style.TEAL, marker="o", capsize=3
            )
        panel.set_xlabel(label)
    panels[0].set_yticks(range(len(studied)), studied)
    panels[0].set_ylim(len(studied) - 0.5, -0.5)
    style.rate_axis(panels[0].xaxis)


def _draw_treebanks(
    axes: Any,
    effects: Sequence[Effect],
    found: Sequence[tuple[float, Interval]],
    drawn: tuple[str, str],
) -> None:
    """Draw a point for each treebank, hollow if the parsers were trained on the dev part."""
    color, marker = drawn
    for split, fill in (("train", color), ("dev", "white")):
        some = [i for i, effect in enumerate(effects) if effect.split == split]
        if some:
            axes.errorbar(
                [effects[i].size for i in some],
                [found[i][0] for i in some],
                yerr=_bars([found[i] for i in some]),
                linestyle="none",
                color=color,
                ecolor=style.FAINT,
                marker=marker,
                markerfacecolor=fill,
                markersize=5,
                label=f"learned from the {split} part",
            )


def _draw_averages(
    axes: Any, sizes: Sequence[int], found: Sequence[Average], drawn: tuple[str, str], label: str
) -> None:
    color, marker = drawn
    axes.errorbar(
        sizes,
        [one.value for one in found],
        yerr=_bars([one[:2] for one in found]),
        color=color,
        marker=marker,
        markersize=4,
        capsize=2,
        label=label,
    )


def _bars(found: Sequence[tuple[float, Interval]]) -> list[list[float]]:
    """Return the lengths of error bars, down and up; nan, which is not drawn, if there is none."""
    return [
        [max(value - interval.low, 0.0) for value, interval in found],
        [max(interval.high - value, 0.0) for value, interval in found],
    ]


def _set_sizes(axes: Any, effects: Sequence[Effect]) -> tuple[float, float]:
    """Set a logarithmic axis of sizes, and return its limits."""
    sizes = [effect.size for effect in effects]
    low, high = min(sizes) / 1.5, max(sizes) * 1.5
    style.log_axis(axes.xaxis)
    axes.set_xlim(low, high)
    axes.set_xlabel(_SIZE)
    return low, high
