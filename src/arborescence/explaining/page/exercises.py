"""Exercises on contraction and on the root constraint, made from a seed: question and answer.

The page makes the same ones in JavaScript (`view/exercises.js`); there one answers by clicking.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from arborescence.core.checks import check_count
from arborescence.core.random import as_generator
from arborescence.drawing.derivation import document
from arborescence.errors import OptionError
from arborescence.explaining import chu_liu_edmonds, root_constraint
from arborescence.explaining.chu_liu_edmonds import Contracted
from arborescence.explaining.page.html import text_of
from arborescence.explaining.problem import Problem, listed
from arborescence.explaining.root_constraint import Children
from arborescence.explaining.steps import Names, edge_name, node_name, number_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arborescence.core.random import Rng
    from arborescence.explaining.steps import Step

    Asked = tuple[str, str, list[float]]

#: The words of the graphs.
SENTENCES = (
    ("birds", "sing", "songs"),
    ("we", "wash", "our", "cats"),
    ("cats", "chase", "mice", "at", "night"),
)


@dataclass(frozen=True)
class Exercise:
    """A state in the middle of the algorithm, and a question on what comes next."""

    seed: int
    step: Step  # the state that is shown
    # question, answer: the answer says why
    question: str
    answer: str
    options: list[float]  # the numbers to choose from, if the answer is a number


def exercise(seed: int) -> Exercise:
    """Return the exercise of a seed, an integer from 0 to 2^32 - 1; it asks `QUESTIONS[seed % 3]`.

    Random graphs are drawn until one has a state that this can be asked of. Contraction is asked
    with the weights of the *lecture*.
    """
    random = numbers(seed)
    ask = QUESTIONS[seed % 3]
    algorithm = root_constraint if ask is ask_which_root_edge_goes else chu_liu_edmonds
    while True:
        for before, after in pairwise(algorithm.steps(graph(random))):
            asked = ask(before, after, random)
            if asked is not None:
                return Exercise(seed, before, *asked)


def numbers(seed: int) -> Iterator[int]:
    """Yield random 32-bit integers (mulberry32): the same ones in Python and in JavaScript."""
    state = seed
    while True:
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        mixed = (state ^ (state >> 15)) * (state | 1) & 0xFFFFFFFF
        mixed ^= mixed + (mixed ^ (mixed >> 7)) * (mixed | 61) & 0xFFFFFFFF
        yield mixed ^ (mixed >> 14)


def graph(random: Iterator[int]) -> Problem:
    """Draw a graph in which about a fifth of the edges are absent."""
    words = SENTENCES[next(random) % 3]
    scores = {}
    for h in range(len(words) + 1):
        for d in range(1, len(words) + 1):
            score, present = 1 + next(random) % 99, next(random) % 5 > 0
            if h != d and present:
                scores[h, d] = Fraction(score)
    return Problem(len(words), scores, Names(("root", *words)))


def ask_what_enters(before: Step, after: Step, random: Iterator[int]) -> Asked | None:  # noqa: ARG001
    """Ask which edge enters a cycle."""
    detail = contraction(before, after)
    if detail is None or detail.entering[0].weight == detail.entering[1].weight:
        return None
    question = f"{becomes(before, detail)} Which edge is the best one into it?"
    best = edge_name(detail.entering[0].stands_for, before.words)
    why = difference(before, detail, 0)
    return question, f"{best}: {why}. Each other edge into the node weighs less.", []


def ask_what_it_weighs(before: Step, after: Step, random: Iterator[int]) -> Asked | None:
    """Ask what an edge into a contracted cycle weighs."""
    detail = contraction(before, after)
    if detail is None:
        return None
    place = next(random) % len(detail.entering)
    weight, kicked = weights(before, detail, place)
    options = sorted({weight - kicked, weight, weight + kicked, kicked - weight})
    if len(options) < 4:
        return None
    name = edge_name(detail.entering[place].stands_for, before.words)
    question = f"{becomes(before, detail)} What does {name} weigh then?"
    answer = f"{number_name(weight - kicked)}: {difference(before, detail, place)}."
    return question, answer, options


def ask_which_root_edge_goes(before: Step, after: Step, random: Iterator[int]) -> Asked | None:  # noqa: ARG001
    """Ask which root edge goes."""
    detail = before.detail
    if after.kind != "optimization" or not isinstance(detail, Children):
        return None
    ranked = sorted(
        (-child.without, place)
        for place, child in enumerate(detail.children)
        if child.without is not None
    )
    if len(ranked) < 2 or ranked[0][0] == ranked[1][0]:
        return None
    weight, place = ranked[0]
    child = detail.children[place]
    if child.other is None:
        raise AssertionError("a weight without another head")
    goes, comes = (edge_name(e.stands_for, before.words) for e in (child.root_edge, child.other))
    question = f"{len(detail.children)} edges leave the root. Which of them goes first?"
    answer = (
        f"{goes}: without it, {node_name(child.node, before.words)} takes {comes}, and the chosen "
        f"edges weigh {number_name(-weight)}. Without another root edge they weigh less, or there "
        "is no other head."
    )
    return question, answer, []


QUESTIONS = (ask_what_enters, ask_what_it_weighs, ask_which_root_edge_goes)


def contraction(before: Step, after: Step) -> Contracted | None:
    """Return how a cycle is contracted in the second step, if two edges or more enter it."""
    detail = after.detail
    if before.kind != "cycle" or not isinstance(detail, Contracted) or len(detail.entering) < 2:
        return None
    return detail


def becomes(before: Step, detail: Contracted) -> str:
    """Return the beginning of a question on a cycle."""
    nodes = {node.id: node_name(node, before.words) for node in before.nodes}
    names = listed([nodes[edge.dependent] for edge in detail.cycle])
    return f"The best edges of {names} form a cycle, which becomes one node."


def weights(before: Step, detail: Contracted, place: int) -> tuple[float, float]:
    """Return what an edge into the cycle weighs before, and the edge that it kicks out."""
    entering = detail.entering[place]
    now = {edge.stands_for: edge.weight for edge in before.edges}
    return now[entering.stands_for], now[entering.kicks_out[-1]]


def difference(before: Step, detail: Contracted, place: int) -> str:
    """Return how the new weight of an edge is computed."""
    weight, kicked = map(number_name, weights(before, detail, place))
    entering = detail.entering[place]
    out = edge_name(entering.kicks_out[-1], before.words)
    return (
        f"it weighs {weight}, and {out}, which it kicks out, {kicked}: {weight} − {kicked} = "
        f"{number_name(entering.weight)}"
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
        The number of the first exercise, or what draws it.

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
    made = [exercise(number) for number in range(first, first + count)]
    which = f"{first} to {first + count - 1}" if count > 1 else str(first)
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
