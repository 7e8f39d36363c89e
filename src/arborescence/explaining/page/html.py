"""The page: a template, filled with a sentence, its scores, its steps, and our own JavaScript.

The script computes the steps again in the browser, so that the reader can change the scores.
Without JavaScript, the page shows the list of the steps.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, get_args

from arborescence.core.choices import Algorithm
from arborescence.drawing.page import document
from arborescence.explaining.constrained import Search
from arborescence.explaining.explanation import K, explain
from arborescence.explaining.listed import listed_steps, picture, table
from arborescence.explaining.problem import problem_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.core.choices import Root
    from arborescence.explaining.steps import Step

FOLDER = Path(__file__).parent
#: The parts of the script, in their order: each uses those before it.
#: The algorithms need no page; the view does.
PARTS = {
    "algorithms": (
        *("numbers", "problem", "contraction", "chu_liu_edmonds", "root_constraint", "swaps"),
        *("kbest", "chart", "eisner", "cky", "sums", "enhancement", "undirected", "transitions"),
        "explain",
    ),
    "view": ("layout", "figure", "state", "matrix", "tables", "lists", "exercises", "main"),
}


def explain_html(
    scores: Any,
    algorithm: Algorithm = "root-constraint",
    *,
    root: Root | None = None,
    k: int | None = None,
    words: Sequence[str] | None = None,
) -> str:
    """Return a page that shows the steps of an algorithm, and computes them again after changes.

    It has all algorithms, and exercises. The reader goes through the steps, changes scores, and
    forbids or requires edges. It is one file of less than 300 kB, without anything from elsewhere:
    it works without a server and without a network.

    Parameters
    ----------
    scores, algorithm, root, k, words
        As in `explain`. They are what the page shows first.

    Returns
    -------
    str
        The HTML file.

    Raises
    ------
    ScoresError, OptionError
        As `explain`.

    Examples
    --------
    >>> page = explain_html([[0, 9, 8], [0, 0, 2], [0, 4, 0]], words=["Birds", "sing"])
    >>> page.startswith("<!DOCTYPE html>"), len(page) < 300_000
    (True, True)
    """
    steps = explain(scores, algorithm, root=root, k=k, words=words)
    problem = problem_of(scores, words)
    nodes = range(problem.n + 1)
    exact = problem.scores
    data = {
        "names": problem.words,
        "scores": [[float(exact[h, d]) if (h, d) in exact else None for d in nodes] for h in nodes],
        "algorithm": algorithm,
        "single": root != "multi",
        "k": K if k is None else k,
    }
    shown = " ".join(problem.words[1:])
    body = Template(text_of("page.html")).substitute(
        words=escape(shown),
        algorithms="".join(f"<option>{name}</option>" for name in get_args(Algorithm)),
        steps=listed_steps(steps),
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
        script="\n".join(map(script, PARTS)),
    )
    return document(escape(f"Step by step: {shown}"), text_of("style.css"), body)


def search_html(steps: Sequence[Step]) -> str:
    """Return a page with the steps of `explain_constrained`, each with its tree and its table.

    It has no script: the rules are a function of yours, which a browser cannot call.

    Parameters
    ----------
    steps
        As `explain_constrained` returns them.

    Returns
    -------
    str
        The HTML file.

    Examples
    --------
    >>> from arborescence.explaining import explain_constrained
    >>> steps = explain_constrained([[0, 9, 8], [0, 0, 2], [0, 4, 0]], lambda heads: [])
    >>> search_html(steps).count("<svg")
    3
    """
    words = escape(" ".join(steps[0].words[1:]))
    items = "".join(
        f"<li>{escape(step.text)}{_picture(step)}{table(step.table())}</li>\n" for step in steps
    )
    body = f'<h1>The search, step by step</h1>\n<p id="words">{words}</p>\n<ol>{items}</ol>\n'
    return document(f"Step by step: {words}", text_of("style.css"), body)


def _picture(step: Step) -> str:
    """Return the tree of a step of `explain_constrained` as SVG."""
    search = step.detail
    if not isinstance(search, Search):
        return ""
    labels = [search.label_names[label] for label in search.part.labels[1:]]
    return picture(step, labels)


@cache
def text_of(name: str) -> str:
    """Return a file of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def script(folder: str) -> str:
    """Return the JavaScript of a folder of `PARTS`."""
    return "\n".join(text_of(f"{folder}/{name}.js") for name in PARTS[folder])
