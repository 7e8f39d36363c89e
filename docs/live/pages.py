"""The live pages of the documentation: the examples of the four works, made when the site is built.

mkdocs calls the functions `on_...` (it is a hook in mkdocs.yml).
"""

import re
from string import ascii_lowercase

import numpy as np

from arborescence.explaining.page import exercise_sheet, explain_html

#: The graph of Fig. 2 of *root*, which is Fig. 2 of *kbest*, too.
FIGURE_2 = "root-1 90, root-2 40, 1-3 10, 2-3 30, 2-4 60, 3-2 50, 4-3 70, 4-1 20"
#: As Fig. 4 of *kbest*, with weights of ours: the edge 2 → 4 is swapped. Those from the root and
#: from 1 are blue, the one from 3 is red.
FIGURE_4 = (
    "root-1 90, 2-1 15, 3-1 10, 4-1 20, root-2 80, 1-2 12, 3-2 50, 4-2 14, root-3 8, 1-3 10, "
    "2-3 30, 4-3 70, root-4 50, 1-4 45, 2-4 60, 3-4 20"
)
#: The graph of the *lecture* whose tables bestInEdge and kicksOut it fills step by step: its edges
#: are called a to i, and its nodes V1 to V3.
LECTURE = "root-1 5, root-2 1, root-3 1, 1-2 11, 2-3 4, 1-3 5, 2-1 10, 3-1 9, 3-2 8"
#: The tree that the *lecture*'s fourteen actions build: *cats* → *who* → *stink*.
SENTENCE = ["we", "vigorously", "wash", "our", "cats", "who", "stink"]
HEADS = [3, 3, 0, 5, 3, 5, 6]
#: A graph in which Borůvka's algorithm takes two rounds, and enhancement turns one edge around.
PAIRS = (
    "root-1 9, root-2 4, root-3 0, root-4 5, root-5 6, 1-2 3, 1-3 6, 1-4 6, 1-5 0, 2-1 0, 2-3 1, "
    "2-4 8, 2-5 9, 3-1 3, 3-2 3, 3-4 8, 3-5 9, 4-1 7, 4-2 1, 4-3 2, 4-5 4, 5-1 1, 5-2 5, 5-3 2, "
    "5-4 0"
)
#: Pairs, each with the same score in both directions. Two steps of Borůvka's algorithm leave four
#: nodes and six edges, of which two are heavy for the forest of the sample.
FOUR = (
    "root-1 5, 1-2 95, 3-4 94, 2-3 70, 1-4 60, 5-6 93, 7-8 88, 8-9 87, 7-9 40, 6-7 69, 10-11 92, "
    "12-13 91, 11-12 68, 10-13 55, 14-15 90, 16-17 89, 15-16 67, 1-17 5, 2-10 12, 4-5 20, 6-15 18, "
    "9-10 25, 13-14 9, 3-10 8"
)


def graph(edges: str) -> np.ndarray:
    """Return scores; edges that are not named are absent."""
    named = weights(edges)
    size = 1 + max(d for _, d in named)
    scores = np.full((size, size), -np.inf)
    for edge, weight in named.items():
        scores[edge] = weight
    return scores


def weights(edges: str) -> dict[tuple[int, int], float]:
    """Return the weights of edges, in their order."""
    parts = [edge.replace("root", "0").replace("-", " ").split() for edge in edges.split(", ")]
    return {(int(h), int(d)): float(weight) for h, d, weight in parts}


def letters(edges: str) -> dict[tuple[int, int], str]:
    """Return the names a, b, c, ... of edges, in their order."""
    return dict(zip(weights(edges), ascii_lowercase, strict=False))


def tree_scores(heads: list[int]) -> np.ndarray:
    """Return scores that are 5 on the edges of a tree, and 0 elsewhere."""
    scores = np.zeros((len(heads) + 1, len(heads) + 1))
    scores[heads, np.arange(1, len(heads) + 1)] = 5
    return scores


def pages() -> dict[str, str]:
    """Return each page by its name."""
    sheet, solutions = exercise_sheet(12)
    return {
        "root": explain_html(graph(FIGURE_2)),
        "kbest": explain_html(graph(FIGURE_2), "kbest", root="multi", k=7),
        "swaps": explain_html(graph(FIGURE_4), "kbest", root="multi", k=2),
        "kbest-dep": explain_html(graph(FIGURE_2), "kbest", k=4),
        "contraction": explain_html(
            graph(LECTURE), "chu-liu-edmonds", words=["V1", "V2", "V3"], edges=letters(LECTURE)
        ),
        "eisner": explain_html(tree_scores(HEADS), "eisner", words=SENTENCE),
        "cky": explain_html(tree_scores(HEADS), "cky", words=SENTENCE),
        "transitions": explain_html(tree_scores(HEADS), "transitions", words=SENTENCE),
        "undirected": explain_html(graph(PAIRS), "undirected", root="multi"),
        "kkt": explain_html(np.fmax(graph(FOUR), graph(FOUR).T), "kkt", root="multi"),
        "sums": explain_html(graph(LECTURE), "sums"),
        "sheet": sheet,
        "sheet-solutions": solutions,
    }


def on_files(files, config):
    """Add the pages to the files of the site."""
    from mkdocs.structure.files import File

    for name, page in pages().items():
        files.append(File.generated(config, f"live/{name}.html", content=page))
    return files


FRAME = re.compile(r"^<!-- live: ([\w-]+) -->$", re.MULTILINE)
LINK = re.compile(r"^\| (.+?) <!-- ([\w-]+\.html(?:#[\w-]+)?) -->", re.MULTILINE)


def on_page_markdown(markdown, page, **_):
    """Put the live pages where the comments are: outside of the site, there are none to link to."""
    here = page.file.src_uri == "live.md"
    place = "" if here else "../live/"
    frame = (
        rf'<iframe class="live" src="{place}\1.html" title="\1, step by step" loading="lazy">'
        "</iframe>"
    )
    markdown = FRAME.sub(frame, markdown)
    return LINK.sub(r'| <a href="\2">\1</a>', markdown) if here else markdown
