"""Draw the figures of two pages: ``python docs/images/kbest.py`` writes them beside itself.

They stand on a light ground of their own, so that they can be read on a dark page too.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import arborescence as arb

EDGES = {
    (0, 1): 90, (0, 2): 40, (1, 3): 10, (2, 3): 30, (2, 4): 60, (3, 2): 50, (4, 3): 70, (4, 1): 20,
}  # fmt: skip
PLACES = [(0.5, 0.0), (0.0, 0.5), (1.0, 0.5), (0.5, 0.5), (0.5, 1.0)]
INK, FAINT, TREE, PAPER = "#1f2430", "#c9ced8", "#0f766e", "#ffffff"


def scores_of(present):
    """Return the graph with these edges only."""
    scores = np.full((5, 5), -np.inf)
    for edge in present:
        scores[edge] = EDGES[edge]
    return scores


def edges_of(heads):
    """Return the edges of a head vector."""
    return {(int(heads[d]), d) for d in range(1, 5)}


def text(x, y, words, size=12, color=INK, anchor="middle", weight="normal"):
    """Write some words."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{words}</text>'
    )


def arrow(x1, y1, x2, y2, color, width):
    """Draw a line with a tip at its end."""
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    tip = 4 + 2 * width
    bx, by = x2 - tip * dx, y2 - tip * dy
    wing = tip / 2.4
    points = [(x2, y2), (bx - wing * dy, by + wing * dx), (bx + wing * dy, by - wing * dx)]
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{bx:.1f}" y2="{by:.1f}" stroke="{color}" '
        f'stroke-width="{width}"/><polygon fill="{color}" points="'
        + " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        + '"/>'
    )


def graph(x, y, width, height, strong, present=frozenset(EDGES), weights=False):
    """Draw the graph in a box, with the edges of a tree in colour."""
    radius = 13 if weights else 8
    parts = []
    for edge in sorted(present, key=lambda edge: (edge in strong, edge)):
        (x1, y1), (x2, y2) = (
            (x + PLACES[node][0] * width, y + PLACES[node][1] * height) for node in edge
        )
        length = math.hypot(x2 - x1, y2 - y1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        aside = radius / 2 if edge[::-1] in EDGES else 0
        x1, x2, y1, y2 = x1 - aside * dy, x2 - aside * dy, y1 + aside * dx, y2 + aside * dx
        near = math.sqrt(radius**2 - aside**2)
        color = TREE if edge in strong else FAINT
        parts.append(
            arrow(
                x1 + near * dx,
                y1 + near * dy,
                x2 - (near + 2) * dx,
                y2 - (near + 2) * dy,
                color,
                2 if edge in strong else 1.2,
            )
        )
        if weights:
            off = -14 if edge in ((0, 1), (2, 3), (3, 2)) else 14  # away from the other edges
            mx, my = (x1 + x2) / 2 + off * dy, (y1 + y2) / 2 - off * dx
            parts.append(text(mx, my + 4, EDGES[edge], color=TREE if edge in strong else INK))
    for node, (u, v) in enumerate(PLACES):
        cx, cy = x + u * width, y + v * height
        parts.append(
            f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{radius}" fill="{PAPER}" stroke="{INK}"/>'
        )
        size = 13 if weights else 10
        parts.append(text(cx, cy + size * 0.36, node, size, weight="bold"))
    return "".join(parts)


def write(name, width, height, parts):
    """Write a figure to its file."""
    path = Path(__file__).parent / name
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="system-ui, \'DejaVu Sans\', sans-serif">'
        f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>'
        + "\n".join(parts)
        + "</svg>\n",
        encoding="utf-8",
    )


def draw_graph():
    """Draw the graph with its weights, and its best arborescence."""
    best = edges_of(arb.decode(scores_of(EDGES), root="multi"))
    write("kbest-graph.svg", 380, 260, [graph(40, 30, 300, 200, best, weights=True)])


BOX, TALL, GAP_X, GAP_Y, EDGE_OF_PAGE = 130, 118, 140, 14, 12


def box(x, y, rank, weight, tree, present):
    """Draw a subproblem: its edges, its best tree and weight, and that tree's place in the list."""
    return (
        f'<rect x="{x}" y="{y}" width="{BOX}" height="{TALL}" rx="6" fill="none" stroke="{FAINT}"/>'
        + graph(x + 26, y + 36, BOX - 52, TALL - 52, tree, present)
        + text(x + 10, y + 18, f"{rank}.", anchor="start", weight="bold")
        + text(x + BOX - 10, y + 18, weight, anchor="end", weight="bold", color=TREE)
    )


def branch(x, y, to_y, lines):
    """Draw what leads from a subproblem to the next column, and what is demanded there."""
    words = [
        text(x + GAP_X - 8, to_y - 6 - 14 * (len(lines) - 1 - i), line, 11, anchor="end")
        for i, line in enumerate(lines)
    ]
    line = f'<path d="M{x} {y}h8V{to_y}H{x + GAP_X}" fill="none" stroke="{INK}"/>'
    return line + "".join(words)


def name(edge):
    """Return how an edge is written."""
    return f"{edge[0]}→{edge[1]}"


def draw_search(file, splits, ranks, starts):
    """Draw how the trees are split, from left to right.

    `splits` are the replacement costs of the edges of each tree, which its weight stands for,
    from the least; `starts` are graphs.
    """
    parts = []
    bottom = EDGE_OF_PAGE
    columns = 0

    def draw(column, present, tree):
        """Draw a subproblem at the bottom, and all below it; return where its middle is."""
        nonlocal bottom, columns
        columns = max(columns, column + 1)
        x, y = EDGE_OF_PAGE + column * (BOX + GAP_X), bottom
        weight = sum(EDGES[edge] for edge in tree)
        parts.append(box(x, y, ranks.index(weight) + 1, weight, tree, present))
        bottom += TALL + GAP_Y
        with_edges = []
        for i, (edge, cost) in enumerate(splits.get(weight, ())):
            bottom = y if i == 0 else bottom
            fewer = {
                other
                for other in present - {edge}
                if all(other[1] != d or other[0] == h for h, d in with_edges)
            }
            lines = [f"with {', '.join(map(name, with_edges))}"] if with_edges else []
            lines.append(f"without {name(edge)}: −{cost}")
            try:
                best = edges_of(arb.decode(scores_of(fewer), root="multi"))
            except arb.NoTreeError:
                middle = bottom + 30
                words = f"{weight - cost} at most: no tree"
                parts.append(text(x + BOX + GAP_X + 8, middle + 4, words, anchor="start"))
                bottom += 40 + GAP_Y
            else:
                middle = draw(column + 1, fewer, best)
            parts.append(branch(x + BOX, y + TALL / 2, middle, lines))
            with_edges.append(edge)
        return y + TALL / 2

    for present in starts:
        draw(0, present, edges_of(arb.decode(scores_of(present), root="multi")))
    width = 2 * EDGE_OF_PAGE + columns * (BOX + GAP_X) - GAP_X
    write(file, width, bottom - GAP_Y + EDGE_OF_PAGE, parts)


if __name__ == "__main__":
    draw_graph()
    draw_search(
        "kbest-search.svg",
        {
            260: [((4, 3), 40), ((0, 2), 50), ((0, 1), 70)],
            220: [((0, 2), 10), ((2, 3), 20), ((0, 1), 70)],
            200: [((0, 1), 70)],
        },
        [260, 220, 210, 200, 190, 150, 130],
        [set(EDGES)],
    )
