"""How figures look: colours, fonts and axes. They need the extra ``experiments``.

The colours differ in lightness too, and each comes with a marker of its own: they can be told apart
without seeing hues. Text stays text in the SVG, and the same data give the same bytes.

``with look.figure(9, 4) as figure:`` holds while something is drawn and saved.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import floor, log10
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import MissingExtraError
from arborescence.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

INK: Final = "#1f2430"
FAINT: Final = "#c9ced8"
PALE: Final = "#eef0f4"
TEAL: Final = "#0f766e"
AMBER: Final = "#d97706"
SAND: Final = "#f0b46a"
VIOLET: Final = "#6366a8"
#: A colour and a marker for each of up to five things that are compared.
STYLES: Final = ((TEAL, "o"), (AMBER, "D"), (SAND, "s"), (VIOLET, "^"), (INK, "v"))

_LEAST_RATE: Final = 0.01  # percent: where the logarithmic part of a rate's axis begins at last
_LOOK: Final[dict[Any, Any]] = {
    "svg.hashsalt": "arborescence",  # the same picture is the same file
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


def require() -> None:
    """Make sure, before hours of work, that what the experiments need is installed.

    Raises
    ------
    MissingExtraError
        If Matplotlib or SciPy is missing.
    """
    try:
        import matplotlib.figure  # noqa: F401
        import scipy.stats  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "experiments need the extra 'experiments': pip install 'arborescence[experiments]'"
        ) from error


@contextmanager
def figure(width: float, height: float) -> Iterator[Figure]:
    """Give an empty figure of so many inches. A page of the docs is 9 inches wide.

    Raises
    ------
    MissingExtraError
        If Matplotlib or SciPy is missing.
    """
    require()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_LOOK):
        yield Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, whole or not at all: inside of the ``with`` that gave it."""
    with replacing(path) as file:
        figure.savefig(file, format="svg", metadata={"Date": None})


def rate_axis(axis: Axis) -> None:
    """Make an axis of percentages logarithmic, once everything is drawn.

    If there is a 0 among them, it is linear from there to the smallest ones above it.
    """
    if axis.get_data_interval()[0] > 0:
        log_axis(axis)
        return
    least = max(10.0 ** floor(log10(min(axis.get_minpos(), 1.0))), _LEAST_RATE)
    log_axis(axis, linear_below=least)
    set_limits = axis.axes.set_xlim if axis is axis.axes.xaxis else axis.axes.set_ylim
    set_limits(-0.15 * least, None)  # a point at 0 is seen whole


def log_axis(axis: Axis, *, linear_below: float | None = None) -> None:
    """Make an axis logarithmic, with plain numbers: 100, 1,000, 10,000 or 0.1, 1, 10.

    Parameters
    ----------
    axis
        ``axes.xaxis`` or ``axes.yaxis``, once everything is drawn.
    linear_below
        Where there are zeros, as in rates: the smallest number that is on the logarithmic part.
        Below it the axis is linear down to 0.
    """
    from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter

    set_scale = axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale
    if linear_below is None:
        set_scale("log")
        low, high = axis.get_view_interval()
        # Less than two decades hold too few powers of ten.
        digits = (1.0,) if high / low >= 100 else (1.0, 2.0, 5.0)
        axis.set_major_locator(LogLocator(subs=digits))
    else:
        set_scale("symlog", linthresh=linear_below, linscale=0.5)
        _, high = axis.get_view_interval()
        decades = range(round(log10(linear_below)), int(log10(max(high, linear_below))) + 1)
        axis.set_major_locator(FixedLocator([0, *(10.0**power for power in decades)]))
        axis.set_minor_locator(
            FixedLocator([digit * 10.0**power for power in decades for digit in range(2, 10)])
        )
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_formatter(NullFormatter())
