"""Charts of lines and of points, as SVG without any library: the same bytes everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import log10
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 216, 44, 52
FONT = 'role="img" font-family="system-ui, sans-serif" font-size="13"'
LIGHT = {"back": "#ffffff", "ink": "#1f2430", "faint": "#e3e6ec", "quiet": "#5b6472"}
DARK = {"back": "#14171f", "ink": "#e8eaf0", "faint": "#2c313d", "quiet": "#a2abbb"}
#: Colours of lines, on light and on dark ground: to be told apart by those who see no red or green.
COLOURS = (
    ("#0f766e", "#2dd4bf"), ("#7a7f8a", "#9aa3b2"), ("#b45309", "#f59e0b"),
    ("#6d28d9", "#b79cff"), ("#be185d", "#f472b6"), ("#1d4ed8", "#7fa8ff"),
)  # fmt: skip
DASHES = ("", "2 4", "7 4", "10 3 2 3", "4 2", "12 4")


@dataclass
class Chart:
    """Lines over a number, both axes logarithmic; `lines` are (name, [(x, y), ...])."""

    title: str
    across: str
    up: str
    lines: list = field(default_factory=list)


@dataclass
class Points:
    """Points over a number on a logarithmic axis, a tick each ten up; `points` are (name, x, y).

    `levels` are (name, y): heights without a place on the other axis, drawn as lines across.
    """

    title: str
    across: str
    up: str
    points: list
    levels: list


def decades(low, high):
    """Return the powers of ten from one that is not above to one that is not below."""
    first, last = int(log10(low) // 1), -int(-log10(high) // 1)
    return [10.0**power for power in range(first, last + 1)]


def named(value):
    """Return the number of a tick as text."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def apart(heights, least):
    """Return heights, from above to below, moved so that labels do not cover each other."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    moved = list(heights)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + least)
    return moved


def text(x, y, content, colour, anchor="middle", more=""):
    """Return a text of SVG."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{more}>'
        f"{escape(content)}</text>"
    )


def ground(chart, colours, columns, ticks):
    """Return the elements behind the marks; `columns` and `ticks` have pairs of place and name."""
    ink, quiet = colours["ink"], colours["quiet"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f"<title>{escape(chart.title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{colours["back"]}"/>',
        text(LEFT, 26, chart.title, ink, "start", ' font-weight="600" font-size="14"'),
    ]
    for height, name in ticks:
        parts += [
            f'<path d="M{LEFT} {height:.1f}H{WIDTH - RIGHT}" stroke="{colours["faint"]}"/>',
            text(LEFT - 8, height + 4, name, quiet, "end"),
        ]
    parts += [text(place, HEIGHT - BOTTOM + 20, name, quiet) for place, name in columns]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(text(middle, HEIGHT - 12, chart.across, quiet))
    turned = f' transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2:.1f})"'
    parts.append(text(16, (TOP + HEIGHT - BOTTOM) / 2, chart.up, quiet, more=turned))
    return parts


def across(columns):
    """Return the function from a number to its place on the logarithmic axis from left to right."""
    decades_in_all = log10(columns[-1] / columns[0])
    return lambda x: LEFT + (WIDTH - LEFT - RIGHT) * log10(x / columns[0]) / decades_in_all


def drawn(chart, dark):
    """Return the SVG of a chart, on light or dark ground."""
    marks = points_of if isinstance(chart, Points) else lines_of
    return "\n".join([*marks(chart, dark), "</svg>", ""])


def lines_of(chart, dark):
    """Return the elements of a chart of lines."""
    points = [point for _, line in chart.lines for point in line]
    columns = sorted({x for x, _ in points})
    ticks = decades(min(y for _, y in points), max(y for _, y in points))
    at_x = across(columns)
    up = log10(ticks[-1] / ticks[0])

    def at_y(y):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * log10(y / ticks[0]) / up

    named_columns = [(at_x(x), named(x)) for x in columns]
    named_ticks = [(at_y(y), named(y)) for y in ticks]
    parts = ground(chart, DARK if dark else LIGHT, named_columns, named_ticks)
    labels = apart([at_y(line[-1][1]) for _, line in chart.lines], 17)
    for (name, line), height, colour, dash in zip(
        chart.lines, labels, COLOURS, DASHES, strict=False
    ):
        path = "L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in line)
        parts.append(
            f'<path d="M{path}" fill="none" stroke="{colour[dark]}" stroke-width="2.5" '
            f'stroke-linejoin="round" stroke-dasharray="{dash or "none"}"/>'
        )
        parts += [
            f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3" fill="{colour[dark]}"/>'
            for x, y in line
        ]
        parts.append(text(at_x(line[-1][0]) + 10, height + 4, name, colour[dark], "start"))
    return parts


def points_of(chart, dark):
    """Return the elements of a chart of points."""
    colours = DARK if dark else LIGHT
    columns = decades(min(x for _, x, _ in chart.points), max(x for _, x, _ in chart.points))
    heights = [y for *_, y in (*chart.points, *chart.levels)]
    low, high = 10 * (min(heights) // 10), -10 * (-max(heights) // 10)
    at_x = across(columns)

    def at_y(y):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (y - low) / (high - low)

    ticks = [(at_y(y), named(y)) for y in range(int(low), int(high) + 1, 10)]
    parts = ground(chart, colours, [(at_x(x), named(x)) for x in columns], ticks)
    labels = apart([at_y(y) for _, y in chart.levels], 17)
    for (name, y), label in zip(chart.levels, labels, strict=True):
        parts += [
            (
                f'<path d="M{LEFT} {at_y(y):.1f}H{WIDTH - RIGHT}" stroke="{colours["quiet"]}" '
                'stroke-dasharray="2 4"/>'
            ),
            text(WIDTH - RIGHT + 8, label + 4, name, colours["quiet"], "start"),
        ]
    above = []  # the places of the names that are above their points
    for name, x, y in chart.points:
        place, height = at_x(x), at_y(y)
        covers = any(abs(place - left) < 90 and abs(height - up) < 16 for left, up in above)
        above += [(place, height)] * (not covers)
        parts += [
            f'<circle cx="{place:.1f}" cy="{height:.1f}" r="5" fill="{COLOURS[0][dark]}"/>',
            text(place, height + (20 if covers else -10), name, colours["ink"]),
        ]
    return parts
