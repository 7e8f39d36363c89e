"""Derivations as a web page: one self-contained HTML file with a table for each sentence."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from arborescence.drawing.derivation import RIGHT_ALIGNED, cells, plain, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.drawing._common import Drawable
    from arborescence.transitions import Transition

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
        The transitions of each sentence. None: those of the system's static oracle.

    Returns
    -------
    str
        A complete HTML file. For a sentence of n words it has O(n²) words, as from `trace`.

    Raises
    ------
    OptionError
        If there is no such system, a transition is not legal in its state, or the numbers of lists
        of transitions and of sentences differ.
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
        table(sentence, system, made, relations, number)
        for number, (sentence, made) in enumerate(zip(sentences, parses, strict=True), 1)
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
    made = steps(sentence, system, transitions)
    headings, *rows = cells(sentence, made, relations, marked)
    heads = (element("th", column, name, 'scope="col"') for column, name in enumerate(headings))
    text = escape(" ".join(map(plain, sentence.forms)))
    count = f"<small>{len(made) - 1} transitions</small>"
    lines = [
        f'<div role="region" aria-labelledby="sentence-{number}" tabindex="0">\n<table>',
        f'<caption id="sentence-{number}"><bdi>{text}</bdi> {count}</caption>',
        f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>",
    ]
    for step, (first, *others) in zip(made, rows, strict=True):
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
