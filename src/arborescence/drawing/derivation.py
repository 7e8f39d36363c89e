"""Derivations as tables: a row for each state, with its transition.

The stack is written from its bottom to its top, right-aligned next to the buffer. So the nodes that
a transition uses stand next to each other; if the line is too short, the outer nodes are left out.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from arborescence.drawing.text import (
    BOLD,
    DIM,
    RAIL_COLORS,
    Drawable,
    head_list,
    paint,
    printable,
    screen_width,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arborescence.drawing.text import Drawable
    from arborescence.transitions import Transition

HEADINGS = ("step", "stack", "buffer", "action", "edge", "relation")
STACK, BUFFER, ACTION, EDGE, RELATION = range(1, 6)
RIGHT_ALIGNED = (0, STACK)
GAP = "  "
LEAST = 8  # the smallest width of a column, in terminal cells


class DerivationStep(NamedTuple):
    """A state, its action (None in the last state), and the edge (head, dependent) it adds."""

    #: the nodes on the stack, its top last
    stack: list[int]
    #: the nodes in the buffer, the first node first
    buffer: list[int]
    #: the next action
    action: str | None = None
    #: head and dependent of the edge that the action adds
    edge: tuple[int, int] | None = None
    #: the label of the edge
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
        A sentence with heads, as from `arborescence.treebank.read` or a parser.
    system
        The transition system: one of `arborescence.transitions.SYSTEMS`.
    transitions
        The transitions, as from a parser's `derivation`, or the first of these. None: the
        transitions of the system's static oracle for the sentence's tree.
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
        stack from bottom to top, the buffer, the next action, the edge that the action adds (from
        head to dependent) and its relation. Each line ends in a newline. O(n²) words for n words.

    Raises
    ------
    OptionError
        If the system is unknown, or a transition is not legal in its state.
    TreeError
        If `transitions` is None, and a word has no head or the system cannot build the tree.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sentence = SimpleNamespace(
    ...     forms=["Birds", "see", "us"], upos=["NOUN", "VERB", "PRON"], heads=[2, 0, 2],
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
) -> list[DerivationStep]:
    """Make the transitions (the static oracle's if None), and return all states."""
    from arborescence.transitions import get_system

    rules = get_system(system)
    # A tree with one root edge has the same derivation with root="single" and root="multi".
    if transitions is None:
        heads = head_list(sentence)
        transitions = rules.derivation(heads, list(sentence.deprels), root="multi")
    state = rules.start(len(sentence.forms), root="multi")
    states = []
    for transition in transitions:
        after = state.apply(transition)
        step = DerivationStep(state.stack, state.buffer, transition.action)
        for dependent in (after.tree != state.tree).nonzero()[0].tolist():  # at most one
            edge = int(after.tree[dependent]), dependent
            step = step._replace(edge=edge, deprel=transition.label)
        states.append(step)
        state = after
    return [*states, DerivationStep(state.stack, state.buffer)]


def plain(word: str) -> str:
    """Make a word or a relation safe for a terminal."""
    return printable(word) or "_"


def cells(
    sentence: Drawable,
    steps: Sequence[DerivationStep],
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
    with_relations = relations and any(row[RELATION] for row in rows[1:])
    return rows if with_relations else [row[:RELATION] for row in rows]


def share(widths: list[int], width: int) -> None:
    """Limit the edge column to a third of a line, then stack and buffer to half of the rest."""
    widths[EDGE] = min(widths[EDGE], max(width // 3, LEAST))
    others = sum(widths) - widths[STACK] - widths[BUFFER] + len(GAP) * (len(widths) - 1)
    room = max(width - others, 2 * LEAST)
    widths[STACK] = min(widths[STACK], max(room // 2, room - widths[BUFFER]))
    widths[BUFFER] = min(widths[BUFFER], room - widths[STACK])


def pad(text: str, room: int, *, right: bool) -> str:
    """Pad a cell to its width on the screen, or cut off its left or right end."""
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


STYLE = """\
:root { color-scheme: light dark; --ink: #1f2430; --paper: #ffffff; --faint: #5b6472;
  --line: #d7dbe2; --arc: #1d4ed8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ee; --paper: #14171e; --faint: #9aa3b2; --line: #343a46; --arc: #8ab4ff; }
}
body { margin: 1.5rem; color: var(--ink); background: var(--paper);
  font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
h1 { font-size: 1.3rem; }
div { overflow-x: auto; margin-bottom: 2.5rem; }
table { border-collapse: collapse; }
caption { padding-bottom: .7rem; text-align: left; font-weight: 600; }
caption small { display: block; color: var(--faint); font-weight: 400; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left; }
th { color: var(--faint); font-weight: 400; }
thead th { border-bottom: 2px solid var(--line); font-weight: 600; }
.end { text-align: right; }
.arc td:nth-child(n+4) { color: var(--arc); white-space: nowrap; }
"""


def trace_html(
    *sentences: Drawable,
    system: str = "arc-standard",
    transitions: Sequence[Sequence[Transition]] | None = None,
    relations: bool = True,
) -> str:
    """Write transition-based parses as a web page, with a table for each sentence.

    The page has no scripts and needs no other files. It supports light and dark mode, and its
    tables have captions and headings for screen readers.

    Parameters
    ----------
    *sentences, system, relations
        As for `trace`.
    transitions
        The transitions of each sentence. None: the transitions of the system's static oracle.

    Returns
    -------
    str
        A complete HTML file. For a sentence of n words, the file has O(n²) words, as from `trace`.

    Raises
    ------
    OptionError
        If the system is unknown, a transition is not legal in its state, or the numbers of lists of
        transitions and of sentences differ.
    TreeError
        If `transitions` is None, and a word has no head or the system cannot build the tree.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> birds, tree = ["Birds", "sing"], [-1, 2, 0]
    >>> sentence = Sentence.from_words(birds, heads=tree, deprels=["nsubj", "root"])
    >>> page = trace_html(sentence, system="arc-hybrid")
    >>> page.startswith("<!DOCTYPE html>"), page.count("<tr"), page.count("<bdi>sing</bdi> →")
    (True, 6, 1)
    """
    parses = [None] * len(sentences) if transitions is None else transitions
    tables = [
        table(sentence, system, moves, relations, number)
        for number, (sentence, moves) in enumerate(zip(sentences, parses, strict=True), 1)
    ]
    title = f"Derivations, {escape(system)}"
    return document(title, STYLE, f"<main>\n<h1>{title}</h1>\n{''.join(tables)}</main>\n")


def document(title: str, style: str, body: str) -> str:
    """Return a web page; all three parts are HTML already."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}</body>\n</html>\n"
    )


def table(
    sentence: Drawable,
    system: str,
    transitions: Sequence[Transition] | None,
    relations: bool,
    number: int,
) -> str:
    """Write one table, in a box that scrolls in narrow windows."""
    states = steps(sentence, system, transitions)
    headings, *rows = cells(sentence, states, relations, marked)
    heads = (element("th", column, name, 'scope="col"') for column, name in enumerate(headings))
    text = escape(" ".join(map(plain, sentence.forms)))
    count = f"<small>{len(states) - 1} transitions</small>"
    lines = [
        f'<div role="region" aria-labelledby="sentence-{number}" tabindex="0">\n<table>',
        f'<caption id="sentence-{number}"><bdi>{text}</bdi> {count}</caption>',
        f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>",
    ]
    for step, (first, *others) in zip(states, rows, strict=True):
        data = (element("td", column, cell) for column, cell in enumerate(others, 1))
        kind = ' class="arc"' if step.edge else ""
        head = element("th", 0, first, 'scope="row"')
        lines.append(f"<tr{kind}>{head}{''.join(data)}</tr>")
    return "\n".join([*lines, "</tbody>\n</table>\n</div>\n"])


def marked(word: str) -> str:
    """Escape a word for HTML, and isolate its writing direction (``<bdi>``)."""
    return f"<bdi>{escape(plain(word))}</bdi>"


def element(name: str, column: int, content: str, attributes: str = "") -> str:
    """Write a cell of a column."""
    kind = 'class="end"' if column in RIGHT_ALIGNED else ""
    return f"<{' '.join(filter(None, (name, attributes, kind)))}>{content}</{name}>"
