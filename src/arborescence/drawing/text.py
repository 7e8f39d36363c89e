"""Trees in a terminal: one word per line, so that a sentence of any length fits.

Every head has a *rail*, a vertical line to which its dependents are joined. The rail of a dependent
is to the right of its head's rail, so edges go from left to right, and in a projective tree no two
lines cross. Where lines cross, the rail is drawn in front.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category, east_asian_width

from arborescence.drawing._common import Drawable, head_list, printable
from arborescence.errors import TreeError

if TYPE_CHECKING:
    from collections.abc import Sequence

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
STROKES = {
    UP | DOWN: "│",
    LEFT | RIGHT: "─",
    DOWN | RIGHT: "╭",
    UP | RIGHT: "╰",
    UP | DOWN | RIGHT: "├",
    DOWN | LEFT | RIGHT: "┬",
    UP | LEFT | RIGHT: "┴",
    UP | DOWN | LEFT | RIGHT: "┼",
}
RAIL_COLORS = ("34", "36", "32", "33", "35", "31")  # codes of the terminal's palette
BOLD, DIM, PLAIN = "1", "2", "0"


class Rail(NamedTuple):
    """The vertical line of one head: its column, and its first and last row."""

    column: int
    top: int
    bottom: int


def draw_text(sentence: Drawable, *, color: bool = False) -> str:
    r"""Draw the tree of a sentence as lines of text.

    Parameters
    ----------
    sentence
        A sentence with heads, as `arborescence.treebank.read` or a parser gives it.
    color
        Whether to use colours (ANSI escape sequences).

    Returns
    -------
    str
        A line for each word: its part of the drawing, the word, its part of speech and its relation
        to its head. Each line ends in a newline.

    Raises
    ------
    TreeError
        If a word has no head, or heads form a cycle.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sentence = SimpleNamespace(
    ...     forms=["Birds", "that", "sing", "wake", "us"],
    ...     upos=["NOUN", "PRON", "VERB", "VERB", "PRON"],
    ...     heads=[-1, 4, 3, 1, 0, 4],
    ...     deprels=["nsubj", "nsubj", "acl:relcl", "root", "obj"],
    ... )
    >>> print(draw_text(sentence), end="")
        ╭─┬─── Birds  NOUN  nsubj
        │ │ ╭─ that   PRON  nsubj
        │ ╰─┴─ sing   VERB  acl:relcl
      ──┼───── wake   VERB  root
        ╰───── us     PRON  obj
    """
    heads = head_list(sentence)
    rails = lay_rails(heads)
    columns = max((rail.column for rail in rails.values()), default=0)
    rows = zip(
        columns_of([printable(form) or "_" for form in sentence.forms]),
        columns_of([printable(tag) for tag in sentence.upos]),
        [printable(label) for label in sentence.deprels],
        strict=True,
    )
    lines = []
    for word, (form, tag, label) in enumerate(rows, 1):
        strokes = "".join(
            paint("".join(stroke for stroke, _ in run), color_of(owner), color)
            for owner, run in groupby(row_strokes(word, heads, rails, columns), itemgetter(1))
        )
        form = paint(form, BOLD, color) if heads[word] == 0 else form
        parts = [form, paint(tag, DIM, color), label] if tag else [form, label]
        lines.append(f"  {strokes} {'  '.join(parts).rstrip()}\n")
    return "".join(lines)


def lay_rails(heads: Sequence[int]) -> dict[int, Rail]:
    """Give each head a column to the right of its own head's rail, without overlapping rails."""
    dependents: dict[int, list[int]] = {}
    for word, head in enumerate(heads[1:], 1):
        dependents.setdefault(head, []).append(word)
    rails: dict[int, Rail] = {}
    queue = [word for word in dependents.get(0, []) if word in dependents]
    while queue:
        head = queue.pop(0)
        rows = [head, *dependents[head]]
        top, bottom = min(rows), max(rows)
        column = rails[heads[head]].column + 1 if heads[head] else 1
        while any(
            rail.column == column and rail.top <= bottom and top <= rail.bottom
            for rail in rails.values()
        ):
            column += 1
        rails[head] = Rail(column, top, bottom)
        queue += [word for word in dependents[head] if word in dependents]
    if lost := sorted(head for head in dependents if head and head not in rails):
        raise TreeError(
            f"the heads above word {lost[0]} form a cycle, so no tree can be drawn: repair them, "
            "or draw the edges as an image (SVG)"
        )
    return rails


def row_strokes(
    word: int, heads: Sequence[int], rails: dict[int, Rail], columns: int
) -> list[tuple[str, int]]:
    """Return the characters of one row, each with the column of its rail (0: the root's line)."""
    start = rails[heads[word]].column if heads[word] else 0
    passing = {
        rail.column: (head, rail) for head, rail in rails.items() if rail.top <= word <= rail.bottom
    }
    strokes = [("──" if start == 0 else "  ", 0)]
    for column in range(1, columns + 1):
        head, rail = passing.get(column, (0, None))
        shape = 0
        if rail is not None:
            shape = UP * (word > rail.top) | DOWN * (word < rail.bottom)
        if rail is None or head in (word, heads[word]):
            shape |= LEFT * (column > start) | RIGHT * (column >= start)
        strokes.append((STROKES.get(shape, " "), start if rail is None else column))
        start = column if head == word else start  # from here on, the line of the word's own rail
        strokes.append(("─" if column >= start else " ", start))
    return strokes


def color_of(column: int) -> str:
    """Return the colour code of a column's lines (0: the root's)."""
    return RAIL_COLORS[column % len(RAIL_COLORS)] if column else DIM


def paint(text: str, code: str, color: bool) -> str:
    """Wrap `text` in an ANSI colour if `color` is true."""
    return f"\033[{code}m{text}\033[0m" if color and text.strip() else text


def columns_of(texts: Sequence[str]) -> list[str]:
    """Pad the texts to the same width on the screen."""
    width = max(map(screen_width, texts), default=0)
    return [text + " " * (width - screen_width(text)) for text in texts]


def screen_width(text: str) -> int:
    """Return the width of a text in terminal cells: 2 for a wide character, 0 for a mark.

    >>> screen_width("tree"), screen_width("木"), screen_width("e\N{COMBINING ACUTE ACCENT}")
    (4, 2, 1)
    """
    return sum(
        0 if category(c) in ("Mn", "Me", "Cf") else 1 + (east_asian_width(c) in "WF") for c in text
    )
