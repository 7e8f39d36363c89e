"""The page: a template, filled with a sentence, its scores, its steps, and our own JavaScript.

The script computes the steps of four algorithms in the browser, so that the reader can change the
scores; the steps of the other algorithms are data. Without JavaScript, the page shows the list of
the steps.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, get_args

from arborescence.core.choices import Algorithm, Root
from arborescence.drawing.derivation import document
from arborescence.errors import ScoresError
from arborescence.explaining.explanation import FIXED, K, explain
from arborescence.explaining.problem import problem_of
from arborescence.explaining.search_state import SearchState
from arborescence.explaining.steps import as_json, listed_steps, picture, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arborescence.explaining.steps import Pair, Step

#: The algorithms whose steps the page computes itself.
LIVE = ("chu-liu-edmonds", "root-constraint", "eisner", "transitions")
#: The details without a table: the page makes the table, or draws a matrix.
DRAWN = ("Matrix", "Constituents", "Links", "Multigraph")
#: A page has the steps of all algorithms if its sentence has at most this number of words.
SHORT = 8

FOLDER = Path(__file__).parent
#: The parts of the script, in their order: each part uses the parts before it. The algorithms run
#: without a page; the view draws on the page.
PARTS = {
    "algorithms": (
        *("numbers", "problem", "contraction", "chu_liu_edmonds", "root_constraint"),
        *("chart", "eisner", "transitions"),
    ),
    "view": (
        "layout",
        "figure",
        "state",
        "matrix",
        "tables",
        "lists",
        "exercises",
        "tree_exercises",
        "main",
    ),
}


def explain_html(
    scores: Any,
    algorithm: Algorithm = "root-constraint",
    *,
    root: Root | None = None,
    k: int | None = None,
    words: Sequence[str] | None = None,
    edges: Mapping[Pair, str] | None = None,
) -> str:
    """Return a web page that shows the steps of an algorithm, and new steps after changes.

    The reader goes through the steps, and answers exercises. Each page has the algorithms
    ``"chu-liu-edmonds"``, ``"root-constraint"``, ``"eisner"`` and ``"transitions"``: for these, the
    reader can change scores, and forbid or require edges. The steps of other algorithms are in the
    page as data: the steps of `algorithm`, and for at most 8 words the steps of all algorithms. The
    page is one file of less than 600 kB (2.5 MB for CKY and 30 words), and loads no other files:
    it works without a server and without a network.

    Parameters
    ----------
    scores, algorithm, root, k, words, edges
        As in `explain`. The page shows the steps for these values first.

    Returns
    -------
    str
        The HTML file.

    Raises
    ------
    ScoresError, OptionError
        As in `explain`.

    Examples
    --------
    >>> page = explain_html([[0, 9, 8], [0, 0, 2], [0, 4, 0]], words=["Birds", "sing"])
    >>> page.startswith("<!DOCTYPE html>"), len(page) < 300_000
    (True, True)
    """
    names: dict[str, Any] = {"words": words, "edges": edges}
    steps = explain(scores, algorithm, root=root, k=k, **names)
    problem = problem_of(scores, **names)
    nodes = range(problem.n + 1)
    exact = problem.scores
    has_all = problem.n <= SHORT
    traces = {
        name: traces_of(scores, name, k, **names)
        for name in get_args(Algorithm)
        if name not in LIVE and (has_all or name == algorithm)
    }
    choices = [name for name in get_args(Algorithm) if name in LIVE or traces.get(name)]
    data = {
        "names": problem.words,
        "edges": [[f"{h},{d}", name] for (h, d), name in problem.words.edges.items()],
        "scores": [[float(exact[h, d]) if (h, d) in exact else None for d in nodes] for h in nodes],
        "algorithm": algorithm,
        "single": root != "multi",
        "algorithms": choices,
        "traces": traces,
        "totals": totals_of(scores) if "kbest" in traces else {},
    }
    shown = " ".join(problem.words[1:])
    body = Template(text_of("page.html")).substitute(
        words=escape(shown),
        choices="".join(f"<option>{name}</option>" for name in choices),
        steps=listed_steps(steps),
        data=json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        script="\n".join(map(script, PARTS)),
    )
    return document(escape(f"Step by step: {shown}"), text_of("style.css"), body)


def traces_of(
    scores: Any, algorithm: Algorithm, k: int | None, **names: Any
) -> dict[Root, list[dict[str, Any]]]:
    """Return the steps of an algorithm as JSON, for each `root`; {} after a ScoresError."""
    roots = (FIXED[algorithm][0],) if algorithm in FIXED else get_args(Root)
    number = (K if k is None else k) if algorithm == "kbest" else None
    try:
        return {
            root: _as_data(explain(scores, algorithm, root=root, k=number, **names))
            for root in roots
        }
    except ScoresError:  # scores are too far apart for sums
        return {}


def _as_data(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return steps as JSON with their tables, without empty values and tables that are drawn."""
    records = as_json(steps)["steps"]
    for record, step in zip(records, steps, strict=True):
        if not any(node.members for node in step.nodes):
            del record["nodes"]
        if record["detail"] is None or record["detail"]["type"] not in DRAWN:
            record["table"] = step.table()
    return [
        {key: value for key, value in record.items() if value not in ([], None)}
        for record in records
    ]


def totals_of(scores: Any) -> dict[Root, float | None]:
    """Return the log-partition for each `root`; None without a tree, or after a ScoresError."""
    traces = traces_of(scores, "sums", None)
    return {root: traces[root][-1].get("weight") if traces else None for root in get_args(Root)}


def search_html(steps: Sequence[Step]) -> str:
    """Return a page with the steps of `explain_constrained`, each with its tree and its table.

    The page has no script: the rules are a Python function, which a browser cannot call.

    Parameters
    ----------
    steps
        As from `explain_constrained`.

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
    if not isinstance(search, SearchState):
        return ""
    labels = [search.label_names[label] for label in search.part.labels[1:]]
    return picture(step, labels)


@cache
def text_of(name: str) -> str:
    """Return a file of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def script(folder: str) -> str:
    """Return the JavaScript of a folder of `PARTS`, without comments on lines of their own."""
    texts = (text_of(f"{folder}/{name}.js") for name in PARTS[folder])
    lines = (line.strip() for text in texts for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
