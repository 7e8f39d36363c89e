"""Derivations as tables: a row for each state, with its transition.

The stack is written from its bottom to its top, right-aligned next to the buffer. So the nodes that
a transition uses are next to each other; if the line is too short, the outer nodes are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from arborescence.drawing._common import Drawable, head_list, printable
from arborescence.drawing.text import BOLD, DIM, RAIL_COLORS, paint, screen_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arborescence.transitions import Transition

HEADINGS = ("step", "stack", "buffer", "action", "edge", "relation")
STACK, BUFFER, ACTION, EDGE, RELATION = range(1, 6)
RIGHT_ALIGNED = (0, STACK)
GAP = "  "
LEAST = 8  # the smallest width of a column, in terminal cells


class Step(NamedTuple):
    """A state, its action (None in the last state), and the edge (head, dependent) it adds."""

    stack: list[int]
    buffer: list[int]
    action: str | None = None
    edge: tuple[int, int] | None = None
    deprel: str | None = None


def trace(
    sentence: Drawable,
    *,
    system: str = "arc-standard",
    transitions: Sequence[Transition] | None = None,
    relations: bool = True,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Write a transition-based parse of a sentence as a table of stack, buffer and action.

    Parameters
    ----------
    sentence
        A sentence with heads, as `arborescence.treebank.read` or a parser gives it.
    system
        The transition system: one of `arborescence.transitions.SYSTEMS`.
    transitions
        The transitions, as from a parser's `derivation`, or a prefix of them. None: those of the
        system's static oracle for the sentence's tree.
    relations
        Whether to write the relations of the edges.
    width
        The width of a line in terminal cells (a few more in a very narrow terminal): the bottom of
        the stack and the end of the buffer are replaced by an ellipsis. None: no limit.
    color
        Whether to use colours (ANSI escape sequences).

    Returns
    -------
    str
        A line of headings, then a line for each state: the number of transitions made so far, the
        stack from bottom to top, the buffer, the next action, the edge that it adds (from head to
        dependent) and its relation. Each line ends in a newline. O(n²) words for n words.

    Raises
    ------
    OptionError
        If there is no such system, or a transition is not legal in its state.
    TreeError
        If `transitions` is None, and a word has no head or the system cannot build the tree.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sentence = SimpleNamespace(
    ...     forms=["Birds", "see", "us"], upos=["NOUN", "VERB", "PRON"], heads=[-1, 2, 0, 2],
    ...     deprels=["nsubj", "root", "obj"],
    ... )
    >>> print(trace(sentence), end="")
    step           stack  buffer        action     edge         relation
       0            ROOT  Birds see us  SHIFT
       1      ROOT Birds  see us        SHIFT
       2  ROOT Birds see  us            LEFT-ARC   see → Birds  nsubj
       3        ROOT see  us            SHIFT
       4     ROOT see us                RIGHT-ARC  see → us     obj
       5        ROOT see                RIGHT-ARC  ROOT → see   root
       6            ROOT
    """
    rows = cells(sentence, steps(sentence, system, transitions), relations)
    widths = [max(map(screen_width, column)) for column in zip(*rows, strict=True)]
    if width is not None:
        share(widths, width)
    lines = []
    for place, row in enumerate(rows):
        parts = [
            pad(cell, room, right=column in RIGHT_ALIGNED)
            for column, (cell, room) in enumerate(zip(row, widths, strict=True))
        ]
        if place == 0:
            parts = [paint(part, BOLD, color) for part in parts]
        else:
            parts[0] = paint(parts[0], DIM, color)
            if row[EDGE]:
                parts[ACTION:] = [paint(part, RAIL_COLORS[0], color) for part in parts[ACTION:]]
        lines.append(f"{GAP.join(parts).rstrip()}\n")
    return "".join(lines)


def steps(
    sentence: Drawable, system: str, transitions: Sequence[Transition] | None = None
) -> list[Step]:
    """Make the transitions (those of the static oracle if None), and return all states."""
    from arborescence.transitions import get_system

    rules = get_system(system)
    # A tree with one root edge has the same derivation with root="single" and root="multi".
    if transitions is None:
        heads = head_list(sentence)
        transitions = rules.derivation(heads, list(sentence.deprels), root="multi")
    state = rules.start(len(sentence.forms), root="multi")
    made = []
    for transition in transitions:
        after = state.apply(transition)
        step = Step(state.stack, state.buffer, transition.action)
        for dependent in (after.heads != state.heads).nonzero()[0].tolist():  # at most one
            edge = int(after.heads[dependent]), dependent
            step = step._replace(edge=edge, deprel=transition.label)
        made.append(step)
        state = after
    return [*made, Step(state.stack, state.buffer)]


def plain(word: str) -> str:
    """Make a word or a relation safe for a terminal."""
    return printable(word) or "_"


def cells(
    sentence: Drawable,
    steps: Sequence[Step],
    relations: bool,
    written: Callable[[str], str] = plain,
) -> list[tuple[str, ...]]:
    """Write the table's cells, the headings first; `written` escapes words and relations."""
    words = ["ROOT", *map(written, sentence.forms)]
    rows: list[tuple[str, ...]] = [HEADINGS]
    for number, step in enumerate(steps):
        rows.append(
            (
                str(number),
                " ".join(words[node] for node in step.stack),
                " ".join(words[node] for node in step.buffer),
                step.action or "",
                " → ".join(words[node] for node in step.edge or ()),
                "" if step.deprel in (None, "_") else written(step.deprel),
            )
        )
    known = relations and any(row[RELATION] for row in rows[1:])
    return rows if known else [row[:RELATION] for row in rows]


def share(widths: list[int], width: int) -> None:
    """Limit the edge column to a third of a line, then stack and buffer to half of the rest."""
    widths[EDGE] = min(widths[EDGE], max(width // 3, LEAST))
    others = sum(widths) - widths[STACK] - widths[BUFFER] + len(GAP) * (len(widths) - 1)
    room = max(width - others, 2 * LEAST)
    widths[STACK] = min(widths[STACK], max(room // 2, room - widths[BUFFER]))
    widths[BUFFER] = min(widths[BUFFER], room - widths[STACK])


def pad(text: str, room: int, *, right: bool) -> str:
    """Pad a cell to its width on the screen, or cut its left or right end off."""
    if screen_width(text) > room:
        text = "…" + cut(text[::-1], room - 1)[::-1] if right else cut(text, room - 1) + "…"
    blank = " " * (room - screen_width(text))
    return blank + text if right else text + blank


def cut(text: str, room: int) -> str:
    """Return the first words of a text that fit into `room` cells, or a part of the first."""
    length = 0
    for character in text:
        room -= screen_width(character)
        if room < 0:
            break
        length += 1
    return text[: text.rfind(" ", 0, length) + 1 or length]
