"""Exercises on the algorithms, made from a seed: question and answer.

The page makes the same exercises in JavaScript (`view/exercises.js`), with answers by clicks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from arborescence.core.checks import check_count
from arborescence.core.random import as_generator
from arborescence.drawing.derivation import document
from arborescence.errors import OptionError
from arborescence.explaining.eisner import Spans, weight_name
from arborescence.explaining.page import contraction_questions, tree_questions
from arborescence.explaining.page.html import text_of
from arborescence.explaining.problem import ScoredSentence
from arborescence.explaining.steps import Names, node_name, number_name
from arborescence.explaining.steps import table as table_html
from arborescence.explaining.transitions import Configuration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.core.random import Rng
    from arborescence.explaining.steps import Step

#: The marks of incomplete and complete spans in a chart.
MARKS = (("incomplete", "I"), ("complete", "C"))
#: The words of the graphs.
SENTENCES = (
    ("birds", "sing", "songs"),
    ("we", "wash", "our", "cats"),
    ("cats", "chase", "mice", "at", "night"),
)


@dataclass(frozen=True)
class Exercise:
    """A state in the middle of the algorithm, and a question on the next step."""

    #: the seed of the exercise
    seed: int
    #: the state that is shown
    step: Step
    #: the question
    question: str
    #: the answer, with its reason
    answer: str
    #: the numbers or actions to choose from; empty if the answer is an edge
    options: Sequence[float] | Sequence[str]


def exercise(seed: int) -> Exercise:
    """Return the exercise of a seed, an integer from 0 to 2^32 - 1; it asks `QUESTIONS[seed % 6]`.

    Random graphs are drawn until a graph has a state that allows the question.
    """
    random = numbers(seed)
    while True:
        asked = QUESTIONS[seed % len(QUESTIONS)](graph(random), random)
        if asked is not None:
            return Exercise(seed, *asked)


def numbers(seed: int) -> Iterator[int]:
    """Yield random 32-bit integers (mulberry32), the same numbers in Python and in JavaScript."""
    state = seed
    while True:
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        mixed = (state ^ (state >> 15)) * (state | 1) & 0xFFFFFFFF
        mixed ^= mixed + (mixed ^ (mixed >> 7)) * (mixed | 61) & 0xFFFFFFFF
        yield mixed ^ (mixed >> 14)


def graph(random: Iterator[int]) -> ScoredSentence:
    """Draw a graph in which about a fifth of the edges are absent."""
    words = SENTENCES[next(random) % 3]
    scores = {}
    for h in range(len(words) + 1):
        for d in range(1, len(words) + 1):
            score, present = 1 + next(random) % 99, next(random) % 5 > 0
            if h != d and present:
                scores[h, d] = Fraction(score)
    return ScoredSentence(len(words), scores, Names(("root", *words)))


QUESTIONS = (
    contraction_questions.what_enters,
    contraction_questions.what_it_weighs,
    contraction_questions.which_root_edge_goes,
    tree_questions.what_a_span_weighs,
    tree_questions.which_action_comes,
    tree_questions.which_edge_goes,
)


#: The largest number of exercises on a sheet.
MOST_EXERCISES = 100


def exercise_sheet(count: int, rng: Rng = 0) -> tuple[str, str]:
    """Return a sheet of exercises, and its solutions, as two web pages.

    Each exercise has a number, which makes the same exercise in the page of `explain_html`.

    Parameters
    ----------
    count : int
        The number of exercises, at most 100.
    rng : int, numpy.random.Generator or None
        The number of the first exercise, or a generator that draws it.

    Returns
    -------
    sheet, solutions : str
        Two HTML files.

    Raises
    ------
    OptionError
        If there are too few or too many exercises, or the number is negative or too large.

    Examples
    --------
    >>> sheet, solutions = exercise_sheet(3)
    >>> sheet.count("<h2>"), solutions.count("<h2>")
    (3, 3)
    """
    if not 1 <= count <= MOST_EXERCISES:
        raise OptionError(f"a sheet has 1 to {MOST_EXERCISES} exercises, not {count}")
    last = 2**32 - count
    if isinstance(rng, int):
        first = check_count(rng, "rng", least=0, most=last)
    else:
        first = int(as_generator(rng).integers(last, endpoint=True))
    exercises = [exercise(number) for number in range(first, first + count)]
    which = f"{first} to {first + count - 1}" if count > 1 else str(first)
    return (
        _page(f"Exercises {which}", "".join(map(_question, exercises))),
        _page(f"Solutions of exercises {which}", "".join(map(_solution, exercises))),
    )


def _page(title: str, body: str) -> str:
    style = text_of("style.css") + "\n" + text_of("sheet.css")
    return document(title, style, f"<main>\n<h1>{title}</h1>\n{body}</main>\n")


def _question(task: Exercise) -> str:
    options = "".join(f"<li>{option_name(option)}</li>" for option in task.options)
    answers = f'<ul class="options">{options}</ul>' if options else '<p class="answer">Answer:</p>'
    return (
        f"<section><h2>Exercise {task.seed}</h2>\n{_weights(task.step)}{_state(task.step)}"
        f"<p>{escape(task.question)}</p>\n{answers}</section>\n"
    )


def _solution(task: Exercise) -> str:
    return (
        f"<section><h2>Exercise {task.seed}</h2>\n<p>{escape(task.question)}</p>\n"
        f"<p>{escape(task.answer)}</p></section>\n"
    )


def option_name(option: float | str) -> str:
    """Return a number or an action as text."""
    return option if isinstance(option, str) else number_name(option)


def _state(step: Step) -> str:
    """Return the stack and the buffer of a state, or its chart."""
    if isinstance(step.detail, Configuration):
        return table_html(step.table())
    if not isinstance(step.detail, Spans):
        return ""
    cells = {(span.kind, span.head, span.end): span.weight for span in step.detail.spans}
    nodes = range(len(step.words))
    rows = [["chart", *step.words[1:]]]
    for head in nodes:
        row = [step.words[head]]
        for end in nodes[1:]:
            weights = {mark: cells.get((kind, head, end)) for kind, mark in MARKS}
            known = [mark for kind, mark in MARKS if (kind, head, end) in cells and head != end]
            row.append(", ".join(f"{mark} {weight_name(weights[mark])}" for mark in known))
        rows.append(row)
    return table_html(rows)


def _weights(step: Step) -> str:
    """Return the current weights of all edges as a table; the chosen edges are bold."""
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
