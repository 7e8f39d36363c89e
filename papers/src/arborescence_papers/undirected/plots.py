"""Plots of *undirected*: the models on each treebank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arborescence_papers.common import style
from arborescence_papers.undirected.measure import (
    ABOVE,
    DIRECTED,
    ENHANCEMENT,
    LOST,
    MODELS,
    ORACLE,
    WON,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from arborescence_papers.undirected.measure import Outcome

#: The style of each of `MODELS`.
_STYLES: Final = style.STYLES[: len(MODELS)]


def draw(outcomes: Sequence[Outcome], folder: Path) -> list[str]:
    """Draw ``uas.svg`` and ``wins.svg`` into a folder, and return these names."""
    ranked = sorted(outcomes, key=lambda outcome: outcome.counts[DIRECTED].uas)

    def fill(figure: Figure, panels_of: Callable[..., list[Any]]) -> None:
        panels = figure.subplots(1, 2, sharey=True)
        panels[0].set_ylim(-0.8, len(ranked) - 0.2)
        panels[0].set_yticks(range(len(ranked)), [outcome.treebank for outcome in ranked])
        for label, outcome in zip(panels[0].get_yticklabels(), ranked, strict=True):
            label.set_fontweight("bold" if outcome.split == "train" else "normal")
        for panel in panels:
            panel.grid(axis="y")
            panel.spines["left"].set_visible(False)
            panel.tick_params(left=False)
        handles = panels_of(panels, ranked)
        figure.legend(
            handles=handles, loc="outside upper center", ncols=4 if len(handles) < 5 else 2
        )

    height = 1.8 + 0.19 * len(ranked)
    figures = {"uas.svg": _draw_uas, "wins.svg": _draw_wins}
    return style.draw(folder, {name: (9, height, fill, how) for name, how in figures.items()})


def _draw_uas(panels: Sequence[Any], outcomes: Sequence[Outcome]) -> list[Any]:
    """Draw both accuracies of each model: one row per treebank."""
    rows = range(len(outcomes))
    handles = []
    for panel, measure, title in (
        (panels[0], "uas", "directed UAS"),
        (panels[1], "undirected_uas", "undirected UAS"),
    ):
        rates = {
            model: [getattr(outcome.counts[model], measure) for outcome in outcomes]
            for model in MODELS
        }
        ends = list(zip(*rates.values(), strict=True))
        panel.hlines(
            rows, [min(end) for end in ends], [max(end) for end in ends], color=style.FAINT
        )
        handles = [
            panel.scatter(values, rows, s=20, color=color, marker=marker, label=model, zorder=3)
            for (model, values), (color, marker) in zip(rates.items(), _STYLES, strict=True)
        ]
        panel.set_xlabel(f"{title}, %")
    return handles


def _draw_wins(panels: Sequence[Any], outcomes: Sequence[Outcome]) -> list[Any]:
    """Draw the comparison of two models, and the effect of local enhancement."""
    rows = range(len(outcomes))
    handles = []
    for finding, side, color in ((WON, -1, style.TEAL), (LOST, 1, style.AMBER)):
        won = [side * finding.of(outcome.counts) for outcome in outcomes]
        handles.append(panels[0].barh(rows, won, 0.66, color=color, label=finding.name))
        paper = panels[0].axvline(
            side * finding.paper,
            color=style.INK,
            linestyle=":",
            label="dotted: the paper's averages",
        )
    handles.append(paper)
    panels[0].axvline(0, color="white", linewidth=2)
    panels[0].xaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    panels[0].set_xlabel("share of sentences, %")
    for finding, color, marker in (
        (ABOVE, style.TEAL, "o"),
        (ENHANCEMENT, style.AMBER, "D"),
        (ORACLE, style.VIOLET, "^"),
    ):
        values = [finding.of(outcome.counts) for outcome in outcomes]
        handles.append(
            panels[1].scatter(
                values, rows, s=20, color=color, marker=marker, label=finding.name, zorder=3
            )
        )
        panels[1].axvline(finding.paper, color=color, linestyle=":")
    panels[1].axvline(0, color=style.FAINT)
    panels[1].set_xlabel("points of directed UAS")
    return handles
