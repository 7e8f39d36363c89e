"""The plots of times: speed-ups by treebank, and times by sentence length and list length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arborescence_papers.common import style
from arborescence_papers.common.groups import grouped
from arborescence_papers.runtime.decoders import CONSTRAINED, DECODERS, EISNER, NAIVE
from arborescence_papers.runtime.measure import CONTESTANTS, OURS
from arborescence_papers.runtime.published import CAMERINI, LEAVING_OUT
from arborescence_papers.runtime.report import PAPER, ROOTS, pairs_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from arborescence_papers.runtime.measure import Measured, Projective, Timed, Times

#: The style of each of `DECODERS`.
_STYLES: Final = tuple(style.STYLES[place] for place in (4, 1, 0, 3, 5, 2))

_CAPTIONS: Final = {
    "speed-ups.svg": "Ratios of the times for the k best trees, by treebank",
    "decoders.svg": "Time of decoders for one tree, by words",
    "lists.svg": "Time for the k best trees with any number of root edges, by words and k",
    "projective.svg": "Time of decoders for one projective tree, by words",
}


def draw(times: Times, folder: Path) -> dict[str, str]:
    """Draw ``decoders.svg``, ``lists.svg``, ``projective.svg``; with treebanks ``speed-ups.svg``.

    Returns
    -------
    figures : dict of str to str
        A caption for each file name.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    rows = len({one.name for one in times.treebanks})
    lists = times.with_words, times.with_trees
    drawn = style.draw(
        folder,
        {
            "speed-ups.svg": (11, 1.8 + 0.24 * rows, _draw_speed_ups, times.treebanks),
            "decoders.svg": (9, 6.4, _draw_decoders, times.decoders),
            "lists.svg": (9, 4, _draw_lists, lists),
            "projective.svg": (5.5, 4, _draw_projective, times.projective),
        },
    )
    return {name: _CAPTIONS[name] for name in drawn}


def _draw_speed_ups(figure: Any, treebanks: Sequence[Measured]) -> None:
    """Draw one row per treebank, one panel per pair of algorithms."""
    roots = grouped(treebanks, lambda one: one.lists.root)
    panels_of = [
        (root, *pair) for root in roots for pair in pairs_of(root) if LEAVING_OUT not in pair
    ]
    first = grouped(next(iter(roots.values())), lambda one: one.name)
    pair = panels_of[0][1:]
    names = sorted(first, key=lambda name: sum(one.lists.ratio(*pair) for one in first[name]))
    places = {name: row for row, name in enumerate(names)}
    panels = figure.subplots(1, len(panels_of), sharey=True, squeeze=False)[0]
    for panel, (root, slow, fast) in zip(panels, panels_of, strict=True):
        by_k = grouped(roots[root], lambda one: one.lists.k)
        for place, ((k, group), (color, marker)) in enumerate(
            zip(by_k.items(), style.STYLES, strict=False)
        ):
            shift = 0.22 * (place - (len(by_k) - 1) / 2)
            rows = [places[one.name] - shift for one in group]
            ratios = [one.lists.ratio(slow, fast) for one in group]
            panel.scatter(ratios, rows, s=12, color=color, marker=marker, label=f"k = {k}")
            if slow == CAMERINI and k in PAPER:
                panel.axvline(PAPER[k], color=color, linestyle=":")
        panel.axvline(1, color=style.FAINT)
        panel.grid(axis="y")
        panel.set_title(f"{slow} /\n{fast}")
        panel.set_xlabel(f"root edges: {ROOTS[root]}")
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(-0.8, len(names) - 0.2)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        title="dotted: the paper's averages",
        loc="outside upper center",
        ncols=len(handles),
    )


def _draw_decoders(figure: Any, decoders: Sequence[Timed]) -> None:
    """Draw one panel per kind of graphs, one line per decoder."""
    kinds = grouped(decoders, lambda one: one.kind)
    panels = figure.subplots(2, 3, sharex=True, sharey=True).ravel()
    for panel, (kind, group) in zip(panels, kinds.items(), strict=False):
        sizes = [one.n for one in group]
        for name, (color, marker) in zip(DECODERS, _STYLES, strict=True):
            times = [1e6 * one.seconds[name] for one in group]
            panel.plot(sizes, times, color=color, marker=marker, markersize=4, label=name)
        last = group[-1].seconds.values()
        _guide(panel, sizes, 0.5e6 * min(last), 2, "n²")
        _guide(panel, sizes, 2e6 * max(last), 3, "n³")
        panel.set_title(kind)
        _both_log(panel)
    for panel in panels[len(kinds) :]:
        panel.set_axis_off()
    for panel in panels[len(kinds) - 3 : len(kinds)]:  # the panels without another one below
        panel.tick_params(labelbottom=True)
        panel.set_xlabel("words")
    for panel in panels[::3]:
        panel.set_ylabel("microseconds a sentence")
    panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center")


def _draw_projective(figure: Any, projective: Sequence[Projective]) -> None:
    """Draw one line per decoder, with the power of n that each is to have."""
    sizes = [one.n for one in projective]
    panel = figure.subplots()
    for (name, power), (color, marker) in zip(
        ((NAIVE, 5), (EISNER, 3), (CONSTRAINED, 2)), style.STYLES, strict=False
    ):
        times = [1e6 * one.seconds[name] for one in projective]
        label = f"{name} (any tree)" if name == CONSTRAINED else name
        panel.plot(sizes, times, color=color, marker=marker, markersize=4, label=label)
        _guide(panel, sizes, times[-1], power, f"n{'⁰¹²³⁴⁵'[power]}")
    panel.set_xlabel("words")
    panel.set_ylabel("microseconds a sentence")
    _both_log(panel)
    panel.legend()


def _draw_lists(figure: Any, lists: tuple[Sequence[Measured], Sequence[Measured]]) -> None:
    """Draw the time of lists by words, and by k: one line per algorithm and kind of graphs."""
    with_words, with_trees = lists
    panels = figure.subplots(1, 2, sharey=True)
    for panel, measured, over, power, guide in (
        (panels[0], with_words, f"words (k = {with_words[0].lists.k})", 2, "n²"),
        (panels[1], with_trees, f"k ({with_trees[0].words:.0f} words)", 1, "k"),
    ):
        multi = [one for one in measured if one.lists.root == "multi"]
        kinds = grouped(multi, lambda one: one.name)
        for (kind, group), line in zip(kinds.items(), ("-", "--"), strict=True):
            x = [one.words if measured is with_words else one.lists.k for one in group]
            for name, (color, marker) in zip(CONTESTANTS["multi"], style.STYLES, strict=False):
                y = [one.lists.microseconds(name) for one in group]
                label = f"{name}, {kind}"
                panel.plot(x, y, line, color=color, marker=marker, markersize=4, label=label)
        _guide(panel, x, 0.5 * group[-1].lists.microseconds(OURS), power, guide)
        panel.set_xlabel(over)
        _both_log(panel)
    panels[0].set_ylabel("microseconds a list")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)


def _guide(panel: Any, x: Sequence[float], end: float, power: int, name: str) -> None:
    """Draw a guide line proportional to a power of x, through the given end point."""
    y = [end * (value / x[-1]) ** power for value in x]
    panel.plot(x, y, color=style.INK, linewidth=0.8, linestyle=":")
    panel.annotate(name, (x[-1], end), xytext=(3, -2), textcoords="offset points")


def _both_log(panel: Any) -> None:
    panel.grid()
    style.log_axis(panel.xaxis)
    style.log_axis(panel.yaxis)
