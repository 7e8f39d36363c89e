"""Trees as SVG: the words in a line, an arc above them for each edge.

An arc from a head to a dependent is as low as the arcs below it allow, and leaves its word on the
side that it goes to, the longest in the middle, so that only the edges of a non-projective tree
cross. The file needs no script and no font of its own, and is readable on white and on black.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from arborescence.drawing._common import Drawable, head_list, printable
from arborescence.drawing.text import screen_width

if TYPE_CHECKING:
    from collections.abc import Sequence

FORM_SIZE, SMALL_SIZE = 16, 11  # pixels
LEVEL = 30  # from the height of one arc to the next
PORT = 7  # between two arcs that meet the same word
GAP = 20  # between two words
MARGIN = 16
CURVE = 9  # the radius of an arc's corners
BELOW = 46  # from the arcs' feet to the bottom of the tags

STYLE = """\
.arborescence { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
.arborescence .form { font-size: 16px; fill: #1f2430; }
.arborescence .tag { font-size: 11px; fill: #6b7280; }
.arborescence .label { font-size: 11px; fill: #1d4ed8; }
.arborescence .arc { fill: none; stroke: #8a94a6; stroke-width: 1.4; }
.arborescence .tip { fill: #8a94a6; }
.arborescence .root { font-weight: 600; }
@media (prefers-color-scheme: dark) {
.arborescence .form { fill: #e6e8ee; }
.arborescence .tag { fill: #9aa3b2; }
.arborescence .label { fill: #8ab4ff; }
}
"""


class Arc(NamedTuple):
    """One edge: the words that it joins, what is written on it, how high it runs."""

    head: int
    word: int
    label: str
    level: int

    @property
    def ends(self) -> tuple[int, int]:
        """The two words, the left one first."""
        return min(self.head, self.word), max(self.head, self.word)


@dataclass(frozen=True)
class Layout:
    """Where everything stands, in pixels from the tree's own corner."""

    centers: list[float]
    ports: dict[tuple[int, int], float]  # (word, the word at the arc's other end) -> x
    width: float
    height: float


def draw_svg(*sentences: Drawable) -> str:
    """Draw the trees of one or more sentences, one below the other.

    Parameters
    ----------
    *sentences
        Sentences with heads, as `arborescence.treebank.read` or a parser gives them.

    Returns
    -------
    str
        A complete SVG file.

    Raises
    ------
    TreeError
        If a word has no head.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sentence = SimpleNamespace(
    ...     forms=["Birds", "sing"], upos=["NOUN", "VERB"], heads=[-1, 2, 0],
    ...     deprels=["nsubj", "root"],
    ... )
    >>> picture = draw_svg(sentence)
    >>> picture.startswith("<svg") and picture.rstrip().endswith("</svg>")
    True
    """
    width = height = 0.0
    groups = []
    for sentence in sentences:
        elements, layout = draw_tree(sentence)
        groups.append(f'<g transform="translate(0 {height:g})">\n{elements}</g>\n')
        width, height = max(width, layout.width), height + layout.height
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="arborescence" {size}>\n'
        f"<style>\n{STYLE}</style>\n{''.join(groups)}</svg>\n"
    )


def draw_tree(sentence: Drawable) -> tuple[str, Layout]:
    """Return the elements of one tree and the room that they take."""
    heads = head_list(sentence)
    labels = ["", *map(printable, sentence.deprels)]
    forms = ["", *(printable(form) or "_" for form in sentence.forms)]
    tags = ["", *map(printable, sentence.upos)]
    arcs = stack_arcs(heads, labels)
    layout = lay_out(forms, tags, arcs, heads)
    ground = layout.height - BELOW
    elements = []
    for arc in arcs:
        elements += arc_elements(arc, clear_spot(arc, arcs, layout), layout, ground)
    for word, head in enumerate(heads[1:], 1):
        if head == 0:
            x = layout.ports[word, 0]
            elements.append(f'<path class="arc" d="M{x:g} {MARGIN + 4}V{ground - 6:g}"/>')
            elements.append(tip(x, ground))
            elements.append(text("label", x, MARGIN, labels[word]))
        kind = "form root" if head == 0 else "form"
        elements.append(text(kind, layout.centers[word], ground + 18, forms[word]))
        elements.append(text("tag", layout.centers[word], ground + 35, tags[word]))
    return "".join(f"{element}\n" for element in elements if element), layout


def stack_arcs(heads: Sequence[int], labels: Sequence[str]) -> list[Arc]:
    """Give every edge between words the lowest level above the shorter arcs that it spans."""
    arcs: list[Arc] = []
    edges = [(head, word) for word, head in enumerate(heads) if head > 0]
    for head, word in sorted(edges, key=lambda edge: (abs(edge[0] - edge[1]), edge)):
        left, right = min(head, word), max(head, word)
        below = [arc.level for arc in arcs if arc.ends[0] < right and left < arc.ends[1]]
        arcs.append(Arc(head, word, labels[word], 1 + max(below, default=0)))
    return arcs


def lay_out(
    forms: Sequence[str], tags: Sequence[str], arcs: Sequence[Arc], heads: Sequence[int]
) -> Layout:
    """Place the words so that neither they nor the labels above them run into each other."""
    offsets = port_offsets(arcs, heads)
    centers = [0.0]
    half = [
        max(text_width(form, FORM_SIZE), text_width(tag, SMALL_SIZE)) / 2
        for form, tag in zip(forms, tags, strict=True)
    ]
    for word in range(1, len(forms)):
        center = centers[-1] + half[word - 1] + half[word] + GAP if word > 1 else MARGIN + half[1]
        for arc in arcs:
            left, right = arc.ends
            if right == word:
                room = text_width(arc.label, SMALL_SIZE) + 2 * CURVE
                shift = offsets[left, right] - offsets[right, left]
                center = max(center, centers[left] + shift + room)
        centers.append(center)
    ports = {key: centers[key[0]] + offset for key, offset in offsets.items()}
    top = max((arc.level for arc in arcs), default=0)
    width = centers[-1] + half[-1] + MARGIN
    return Layout(centers, ports, width, MARGIN + 14 + top * LEVEL + BELOW)


def port_offsets(arcs: Sequence[Arc], heads: Sequence[int]) -> dict[tuple[int, int], float]:
    """Say how far from its word's middle each end of an arc stands."""
    offsets = {}
    for word, head in enumerate(heads):
        others = {arc.word if arc.head == word else arc.head for arc in arcs if word in arc.ends}
        order = sorted((other for other in others if other < word), reverse=True)
        order += [0] if head == 0 else []
        order += sorted((other for other in others if other > word), reverse=True)
        for place, other in enumerate(order):
            offsets[word, other] = (place - (len(order) - 1) / 2) * PORT
    return offsets


def clear_spot(arc: Arc, arcs: Sequence[Arc], layout: Layout) -> float:
    """Find where on the arc its label can stand: in the middle, unless a line passes there."""
    left, right = arc.ends
    start, end = layout.ports[left, right], layout.ports[right, left]
    room = text_width(arc.label, SMALL_SIZE) / 2 + 5
    higher = {other.ends for other in arcs if other.level > arc.level}
    lines = [
        x
        for (word, other), x in layout.ports.items()
        if left < word < right and (other == 0 or (min(word, other), max(word, other)) in higher)
    ]
    spots = [start + (end - start) * share for share in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)]
    return next((spot for spot in spots if all(abs(x - spot) > room for x in lines)), spots[0])


def arc_elements(arc: Arc, middle: float, layout: Layout, ground: float) -> list[str]:
    """Draw one arc: up from one word, across, down to the other, with a tip at the dependent."""
    left, right = arc.ends
    x1, x2 = layout.ports[left, right], layout.ports[right, left]
    y = ground - arc.level * LEVEL
    feet = {arc.word: ground - 6, arc.head: ground}
    path = (
        f"M{x1:g} {feet[left]:g}V{y + CURVE:g}q0 {-CURVE} {CURVE} {-CURVE}"
        f"H{x2 - CURVE:g}q{CURVE} 0 {CURVE} {CURVE}V{feet[right]:g}"
    )
    return [
        f'<path class="arc" d="{path}"/>',
        tip(x1 if arc.word == left else x2, ground),
        text("label", middle, y - 5, arc.label),
    ]


def tip(x: float, y: float) -> str:
    """Draw the head of an arrow that points down to (x, y)."""
    return f'<path class="tip" d="M{x:g} {y:g}l-3.5 -7h7z"/>'


def text(kind: str, x: float, y: float, content: str) -> str:
    """Write `content` centred at (x, y); nothing where there is none."""
    if not content:
        return ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="middle">{escape(content)}</text>'


def text_width(content: str, size: int) -> float:
    """Estimate the width of a text, on the safe side: fonts differ."""
    narrow = sum(c in "iljtfrI.,:;'!|()[] " for c in content)
    wide = sum(c in "mwMWOQ@%—" for c in content)
    return size * (0.60 * screen_width(content) - 0.22 * narrow + 0.28 * wide)
