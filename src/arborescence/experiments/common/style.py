"""How figures look: colours, fonts and axes. They need the extra ``experiments``.

The colours differ in lightness too, and each comes with a marker of its own: they can be told apart
without seeing hues. Text stays text in the SVG, and the same data give the same bytes.

``with style.figure(9, 4) as figure:`` holds while something is drawn and saved.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import floor, log10
from typing import TYPE_CHECKING, Any, Final

from arborescence.core.errors import MissingExtraError
from arborescence.core.files import replacing

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


def log_axis(axis: Axis) -> None:
    """Make an axis logarithmic, once everything is drawn, with plain numbers: 100, 1,000."""
    from matplotlib.ticker import LogLocator

    _set_scale(axis, "log")
    low, high = axis.get_view_interval()
    # Less than two decades hold too few powers of ten.
    axis.set_major_locator(LogLocator(subs=(1.0,) if high / low >= 100 else (1.0, 2.0, 5.0)))
    _label_plainly(axis)


def rate_axis(axis: Axis) -> None:
    """Make an axis of percentages logarithmic, once everything is drawn: 0.1, 1, 10.

    If there is a 0 among them, it is linear from there to the smallest ones above it.
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
    set_limits(-0.15 * least, None)  # a point at 0 is seen whole


def _is_x(axis: Axis) -> bool:
    return axis is axis.axes.xaxis


def _set_scale(axis: Axis, scale: str, **options: float) -> None:
    set_scale = axis.axes.set_xscale if _is_x(axis) else axis.axes.set_yscale
    set_scale(scale, **options)


def _label_plainly(axis: Axis) -> None:
    from matplotlib.ticker import NullFormatter

    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_formatter(NullFormatter())
