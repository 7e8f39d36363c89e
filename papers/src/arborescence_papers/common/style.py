"""The style of figures: colours, fonts and axes.

The colours also differ in lightness, and each has its own marker, so colour-blind readers can
distinguish them. Text stays text in the SVG, and the same data give the same bytes.

`draw` makes files of figures.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import floor, log10
from typing import TYPE_CHECKING, Any, Final

from arborescence.system.files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    #: Width and height of a figure, what fills it, and what is given to that beside the figure.
    Plan = tuple[float, float, Callable[..., object], Any]

INK, FAINT, PALE = "#1f2430", "#c9ced8", "#eef0f4"
TEAL, AMBER, SAND, VIOLET, ROSE = "#0f766e", "#d97706", "#f0b46a", "#6366a8", "#be4a6e"
#: A colour and a marker for each of up to five series.
STYLES: Final = (
    (TEAL, "o"),
    (AMBER, "D"),
    (SAND, "s"),
    (VIOLET, "^"),
    (INK, "v"),
    (ROSE, "P"),
)

_LEAST_RATE: Final = 0.01  # percent: the smallest start of the logarithmic part of a rate axis
_LOOK: Final[dict[Any, Any]] = {
    "svg.hashsalt": "arborescence",  # makes the SVG file reproducible
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": PALE,
    "legend.frameon": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def figure(width: float, height: float) -> Iterator[Figure]:
    """Yield an empty figure; the size is in inches. A page of the docs is 9 inches wide."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_LOOK):
        yield Figure(figsize=(width, height), layout="constrained")


def draw(folder: Path, figures: Mapping[str, Plan]) -> list[str]:
    """Draw figures by file name, and return the names of those that something is given for."""
    drawn = [name for name, (*_, given) in figures.items() if given]
    for name in drawn:
        width, height, fill, given = figures[name]
        with figure(width, height) as empty:
            fill(empty, given)
            save(empty, folder / name)
    return drawn


def save(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, atomically. To be called inside of ``with figure(...)``."""
    with replacing(path) as file:
        figure.savefig(file, format="svg", metadata={"Date": None})


def log_axis(axis: Axis) -> None:
    """Make an axis logarithmic, with plain labels: 100, 1,000. To be called after drawing."""
    from matplotlib.ticker import LogLocator

    _set_scale(axis, "log")
    low, high = axis.get_view_interval()
    # Less than two decades contain too few powers of ten.
    axis.set_major_locator(LogLocator(subs=(1.0,) if high / low >= 100 else (1.0, 2.0, 5.0)))
    _label_plainly(axis)


def rate_axis(axis: Axis) -> None:
    """Make an axis of percentages logarithmic: 0.1, 1, 10. To be called after drawing.

    If there is a value 0, the axis is linear from 0 to the smallest positive values.
    """
    from matplotlib.ticker import FixedLocator

    if axis.get_data_interval()[0] > 0:
        log_axis(axis)
        return
    least = max(10.0 ** floor(log10(min(axis.get_minpos(), 1.0))), _LEAST_RATE)
    _set_scale(axis, "symlog", linthresh=least, linscale=0.5)
    decades = [10.0**power for power in range(round(log10(least)), 3)]
    axis.set_major_locator(FixedLocator([0, *decades]))
    axis.set_minor_locator(
        FixedLocator([digit * decade for decade in decades for digit in range(2, 10)])
    )
    _label_plainly(axis)
    set_limits = axis.axes.set_xlim if _is_x(axis) else axis.axes.set_ylim
    set_limits(-0.15 * least, None)  # shows the full marker of a point at 0


def _is_x(axis: Axis) -> bool:
    return axis is axis.axes.xaxis


def _set_scale(axis: Axis, scale: str, **options: float) -> None:
    set_scale = axis.axes.set_xscale if _is_x(axis) else axis.axes.set_yscale
    set_scale(scale, **options)


def _label_plainly(axis: Axis) -> None:
    from matplotlib.ticker import NullFormatter

    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_formatter(NullFormatter())
