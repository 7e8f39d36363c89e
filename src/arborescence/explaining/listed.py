"""Steps as a list that draws itself in a notebook, and as items of an HTML list."""

from __future__ import annotations

from html import escape
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

from arborescence.drawing.svg import draw_svg
from arborescence.explaining.steps import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The list of steps has no tables if it has more characters than this with them.
_LONGEST_LIST: Final = 100_000


class Steps(list[Step]):
    """The steps of an algorithm: in a notebook, their sentences and tables, and the last tree."""

    def _repr_html_(self) -> str:
        return f"<ol>\n{listed_steps(self)}</ol>\n{picture(self[-1]) if self else ''}"


def picture(step: Step, labels: Sequence[str] | None = None) -> str:
    """Return the tree of a step as SVG, or nothing if it has none."""
    if not step.heads or None in step.heads:
        return ""
    nothing = ["_"] * (len(step.heads) - 1)
    return draw_svg(
        SimpleNamespace(
            forms=step.words[1:], upos=nothing, heads=step.heads, deprels=labels or nothing
        )
    )


def listed_steps(steps: Sequence[Step]) -> str:
    """Return the steps as items of a list: their sentences and, if there is room, their tables."""
    whole = "".join(f"<li>{escape(step.text)}{table(step.table())}</li>\n" for step in steps)
    if len(whole) <= _LONGEST_LIST:
        return whole
    return "".join(f"<li>{escape(step.text)}</li>\n" for step in steps)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table, the first one as its headings."""
    if not rows:
        return ""
    head, *body = rows
    cells = "".join(
        f'<th scope="col">{escape(text)}</th>' if text else "<td></td>" for text in head
    )
    lines = (f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in body)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
