"""A sheet of exercises as a web page to print, and another one with the solutions."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from arborescence.drawing.page import document
from arborescence.errors import OptionError
from arborescence.explaining.page.exercises import exercise
from arborescence.explaining.page.html import text_of
from arborescence.explaining.steps import node_name, number_name

if TYPE_CHECKING:
    from arborescence.explaining.page.exercises import Exercise
    from arborescence.explaining.steps import Step

#: The largest number of exercises on a sheet.
MOST_EXERCISES = 100


def exercise_sheet(count: int, seed: int = 0) -> tuple[str, str]:
    """Return a sheet of exercises, and its solutions, as two web pages.

    Each exercise has a number, which makes the same exercise in the page of `explain_html`.

    Parameters
    ----------
    count : int
        The number of exercises, at most 100.
    seed : int
        The number of the first exercise.

    Returns
    -------
    sheet, solutions : str
        Two HTML files.

    Raises
    ------
    OptionError
        If there are too few or too many exercises, or the seed is negative or too large.

    Examples
    --------
    >>> sheet, solutions = exercise_sheet(3)
    >>> sheet.count("<h2>"), solutions.count("<h2>")
    (3, 3)
    """
    if not 1 <= count <= MOST_EXERCISES:
        raise OptionError(f"a sheet has 1 to {MOST_EXERCISES} exercises, not {count}")
    if not 0 <= seed <= 2**32 - count:
        raise OptionError(f"the seed must be between 0 and 2^32 - {count}, not {seed}")
    made = [exercise(number) for number in range(seed, seed + count)]
    last = seed + count - 1
    which = f"{seed} to {last}" if count > 1 else str(seed)
    return (
        _page(f"Exercises {which}", "".join(map(_question, made))),
        _page(f"Solutions of exercises {which}", "".join(map(_solution, made))),
    )


def _page(title: str, body: str) -> str:
    style = text_of("style.css") + "\n" + text_of("sheet.css")
    return document(title, style, f"<main>\n<h1>{title}</h1>\n{body}</main>\n")


def _question(made: Exercise) -> str:
    options = "".join(f"<li>{number_name(option)}</li>" for option in made.options)
    answers = f'<ul class="options">{options}</ul>' if options else '<p class="answer">Answer:</p>'
    return (
        f"<section><h2>Exercise {made.seed}</h2>\n{_weights(made.step)}"
        f"<p>{escape(made.question)}</p>\n{answers}</section>\n"
    )


def _solution(made: Exercise) -> str:
    return (
        f"<section><h2>Exercise {made.seed}</h2>\n<p>{escape(made.question)}</p>\n"
        f"<p>{escape(made.answer)}</p></section>\n"
    )


def _weights(step: Step) -> str:
    """Return the weights of all edges now as a table; the chosen edges are bold."""
    weights = {edge.stands_for: number_name(edge.weight) for edge in step.edges}
    chosen = {edge.stands_for for edge in step.chosen}
    words = step.words
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in words[1:])
    rows = []
    for h, word in enumerate(words):
        cells = []
        for d in range(1, len(words)):
            text = weights.get((h, d), "–")
            cells.append(f"<td><b>{text}</b></td>" if (h, d) in chosen else f"<td>{text}</td>")
        rows.append(f'<tr><th scope="row">{escape(word)}</th>{"".join(cells)}</tr>\n')
    contracted = [node_name(node, words) for node in step.nodes if node.members]
    nodes = f" {escape(', '.join(contracted))}: one node each." if contracted else ""
    return (
        "<table><caption>The weights now, from the head (row) to the dependent (column); bold: the "
        f"chosen edges.{nodes}</caption>\n<thead><tr><td></td>{head}</tr></thead>\n"
        f"<tbody>{''.join(rows)}</tbody></table>\n"
    )
