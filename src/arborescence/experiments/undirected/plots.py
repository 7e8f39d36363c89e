"""Plots of what the models made of each treebank; they need the extra ``plots``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import MissingExtraError
from arborescence.experiments.undirected.findings import ABOVE, ENHANCEMENT, LOST, ORACLE, WON
from arborescence.experiments.undirected.models import DIRECTED, MODELS
from arborescence.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from arborescence.experiments.undirected.models import Outcome

_INK, _FAINT, _PALE = "#1f2430", "#c9ced8", "#eef0f4"
_TEAL, _AMBER, _SAND, _VIOLET = "#0f766e", "#d97706", "#f0b46a", "#6366a8"
#: How each of `MODELS` is drawn.
_STYLES: Final = ((_TEAL, "o"), (_AMBER, "D"), (_SAND, "s"), (_VIOLET, "^"))
_LOOK: Final[dict[Any, Any]] = {
    "svg.hashsalt": "undirected",  # the same picture is the same file
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "text.color": _INK,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.titlesize": 10,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "ytick.left": False,
}


def draw(outcomes: Sequence[Outcome], folder: Path) -> list[str]:
    """Draw ``uas.svg`` and ``wins.svg`` into a folder, and return these names.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "plots need the extra 'plots': pip install 'arborescence[plots]'"
        ) from error
    ranked = sorted(outcomes, key=lambda outcome: outcome.counts[DIRECTED].uas)
    figures = {"uas.svg": _draw_uas, "wins.svg": _draw_wins}
    for name, fill in figures.items():
        with mpl.rc_context(_LOOK):
            figure = Figure(figsize=(9, 1.8 + 0.19 * len(ranked)), layout="constrained")
            panels = figure.subplots(1, 2, sharey=True)
            panels[0].set_ylim(-0.8, len(ranked) - 0.2)
            panels[0].set_yticks(range(len(ranked)), [outcome.treebank for outcome in ranked])
            for label, outcome in zip(panels[0].get_yticklabels(), ranked, strict=True):
                label.set_fontweight("bold" if outcome.split == "train" else "normal")
            for panel in panels:
                panel.grid(axis="y", color=_PALE)
                panel.set_axisbelow(True)
            handles = fill(panels, ranked)
            figure.legend(
                handles=handles,
                loc="outside upper center",
                ncols=4 if len(handles) < 5 else 2,
                frameon=False,
            )
            with replacing(folder / name) as file:
                figure.savefig(file, format="svg", metadata={"Date": None})
    return list(figures)


def _draw_uas(panels: Sequence[Any], outcomes: Sequence[Outcome]) -> list[Any]:
    """Draw both accuracies of each model: a treebank is a row."""
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
        panel.hlines(rows, [min(end) for end in ends], [max(end) for end in ends], color=_FAINT)
        handles = [
            panel.scatter(values, rows, s=20, color=color, marker=marker, label=model, zorder=3)
            for (model, values), (color, marker) in zip(rates.items(), _STYLES, strict=True)
        ]
        panel.set_xlabel(f"{title}, %")
    return handles


def _draw_wins(panels: Sequence[Any], outcomes: Sequence[Outcome]) -> list[Any]:
    """Draw how two models compare, and what local enhancement has to do with it."""
    rows = range(len(outcomes))
    handles = []
    for finding, side, color in ((WON, -1, _TEAL), (LOST, 1, _AMBER)):
        won = [side * finding.of(outcome.counts) for outcome in outcomes]
        handles.append(panels[0].barh(rows, won, 0.66, color=color, label=finding.name))
        paper = panels[0].axvline(
            side * finding.paper, color=_INK, linestyle=":", label="dotted: the paper's averages"
        )
    handles.append(paper)
    panels[0].axvline(0, color="white", linewidth=2)
    panels[0].xaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    panels[0].set_xlabel("share of sentences, %")
    for finding, color, marker in (
        (ABOVE, _TEAL, "o"),
        (ENHANCEMENT, _AMBER, "D"),
        (ORACLE, _VIOLET, "^"),
    ):
        values = [finding.of(outcome.counts) for outcome in outcomes]
        handles.append(
            panels[1].scatter(
                values, rows, s=20, color=color, marker=marker, label=finding.name, zorder=3
            )
        )
        panels[1].axvline(finding.paper, color=color, linestyle=":")
    panels[1].axvline(0, color=_FAINT)
    panels[1].set_xlabel("points of directed UAS")
    return handles
