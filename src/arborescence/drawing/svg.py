"""Trees as SVG: the words in rows, an arc above them for each edge.

Each arc is as low as the arcs below it allow. At each word, arcs to the left start on the left, and
arcs to the right on the right, the longest in the middle. So only the edges of a non-projective
tree cross. A sentence that is too long for one row continues in the next row; an arc between two
rows runs to the edge of both rows, with its label in both. Words are moved apart if a label would
overlap another label or a line. Arabic, Hebrew and other scripts run from right to left: the
picture is mirrored, and its texts are not. The file has no scripts and no fonts, and is readable on
white and on black.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from arborescence.drawing.text import (
    Drawable,
    from_right,
    head_list,
    printable,
    screen_width,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

FORM_SIZE, SMALL_SIZE = 16, 11  # pixels
BOLD = 18  # normal letters of this size are as wide as bold letters of FORM_SIZE
LEVEL = 30  # between the heights of two arcs
PORT = 7  # between two arcs at the same word
GAP = 20  # between two words
MARGIN = 16
CURVE = 9  # the radius of an arc's corners
CLEAR = 5  # between a label and a line
ABOVE = 4  # above the highest label of a row
ROOT = 20  # for the labels of root edges, above all other labels
BELOW = 46  # from the lower ends of the arcs to the bottom of the tags
TITLE = 24  # for a title
BETWEEN = 16  # between two trees
WIDTH: Final = 1200  # the default width of a picture

STYLE = """\
.arborescence { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
.arborescence .form { font-size: 16px; fill: #1f2430; }
.arborescence .tag { font-size: 11px; fill: #6b7280; }
.arborescence .title { font-size: 13px; fill: #6b7280; }
.arborescence .label { font-size: 11px; fill: #1d4ed8; }
.arborescence .arc { fill: none; stroke: #8a94a6; stroke-width: 1.4; }
.arborescence .tip { fill: #8a94a6; }
.arborescence .root { font-weight: 600; }
@media (prefers-color-scheme: dark) {
.arborescence .form { fill: #e6e8ee; }
.arborescence .tag, .arborescence .title { fill: #9aa3b2; }
.arborescence .label { fill: #8ab4ff; }
}
"""
#: The style of marked words and edges. A page may set another colour.
MARKED = """\
.arborescence { --mark: #b45309; }
.arborescence .marked { fill: var(--mark); font-weight: 700; }
.arborescence .arc.marked { fill: none; stroke: var(--mark); stroke-width: 2.4; }
@media (prefers-color-scheme: dark) { .arborescence { --mark: #fbbf24; } }
"""


class Marks(NamedTuple):
    """The words and edges that a drawing shows in another colour.

    Attributes
    ----------
    words : collection of int
        The numbers of words, from 1.
    edges : collection of int
        The numbers of the dependents of edges.
    """

    words: Collection[int] = ()
    edges: Collection[int] = ()


_UNMARKED: Final = Marks()


class Arc(NamedTuple):
    """An edge, or the part of an edge in one row."""

    #: the left word; the word before the row's first word if the edge comes from the previous row
    left: int
    #: the right word; the word after the row's last word if the edge continues in the next row
    right: int
    #: the dependent
    word: int
    #: the label of the edge
    label: str
    #: the height of the arc, in levels
    level: int


class WordBoxes:
    """Texts, edges and sizes of a sentence before the layout; entry 0 is the root."""

    def __init__(self, sentence: Drawable, marks: Marks) -> None:
        self.marks = marks
        self.heads = head_list(sentence)
        self.labels = ["", *map(printable, sentence.deprels)]
        self.forms = ["", *(printable(form) or "_" for form in sentence.forms)]
        self.tags = ["", *map(printable, sentence.upos)]
        self.mirrored = from_right(self.forms)
        #: Half the width of each word; root words are bold.
        self.half = [
            max(
                text_width(form, BOLD if head == 0 or word in marks.words else FORM_SIZE),
                text_width(tag, SMALL_SIZE),
            )
            / 2
            for word, (form, tag, head) in enumerate(
                zip(self.forms, self.tags, self.heads, strict=True)
            )
        ]
        edges = ((head, word) for word, head in enumerate(self.heads) if head > 0)
        #: Left end, right end and dependent of each edge between words, the shortest edge first.
        self.edges = sorted(
            ((*sorted(edge), edge[1]) for edge in edges), key=lambda e: (e[1] - e[0], e)
        )
        #: The distance of each arc end from the middle of its word: (word, other end) -> x.
        self.offsets: dict[tuple[int, int], float] = {}
        #: For each word, its arcs to words on the left: other ends and dependents.
        self.from_left: list[list[tuple[int, int]]] = [[] for _ in self.heads]
        around: list[list[int]] = [[] for _ in self.heads]
        for left, right, word in reversed(self.edges):
            self.from_left[right].append((left, word))
            around[left].append(right)
            around[right].append(left)
        for word, others in enumerate(around):
            order = sorted((other for other in others if other < word), reverse=True)
            order += [0] if self.heads[word] == 0 else []
            order += sorted((other for other in others if other > word), reverse=True)
            for place, other in enumerate(order):
                self.offsets[word, other] = (place - (len(order) - 1) / 2) * PORT
        #: The space that each word needs on its right if it is the last word of its row: half its
        #: width, or the label of an arc that starts there.
        self.after = [half + MARGIN for half in self.half]
        for left, right, word in self.edges:
            needed = self.offsets[left, right] + self.room(word)
            self.after[left] = max(self.after[left], needed)

    def room(self, word: int) -> float:
        """Return the length that the arc into `word` needs for its label."""
        return text_width(self.labels[word], SMALL_SIZE) + 2 * CURVE


@dataclass
class SentenceRow:
    """One row of words and its layout, in pixels from the row's corner."""

    #: the words of the sentence
    words: WordBoxes
    #: the first word of the row
    first: int
    #: the x coordinate of each word's middle, in order
    centers: list[float]
    #: the arcs of the row
    arcs: list[Arc]
    #: for each word's arcs: the other end, and the level
    uprights: list[list[tuple[int, float]]]
    #: the width of the row
    width: float

    @property
    def end(self) -> int:
        """The word after the last word."""
        return self.first + len(self.centers)

    @property
    def roots(self) -> list[int]:
        """The root words."""
        return [word for word in range(self.first, self.end) if self.words.heads[word] == 0]

    @property
    def ground(self) -> float:
        """The y coordinate of the lower ends of the arcs."""
        levels = max((arc.level for arc in self.arcs), default=0)
        return MARGIN + ABOVE + (ROOT if self.roots else 0) + max(levels, 0.5) * LEVEL

    @property
    def height(self) -> float:
        """The height of the row, words and tags included."""
        return self.ground + BELOW

    def port(self, word: int, other: int) -> float:
        """Return the x coordinate of the arc between two words at `word`."""
        return self.centers[word - self.first] + self.words.offsets[word, other]

    def span(self, arc: Arc) -> tuple[float, float]:
        """Return the x coordinates of an arc's ends: at words, or at the edges of the row."""
        left, right = ends(self.words, arc.word)
        return (
            self.port(left, right) if arc.left >= self.first else 0.0,
            self.port(right, left) if arc.right < self.end else self.width,
        )

    def lines(self, arc: Arc) -> list[tuple[float, int]]:
        """Return the vertical lines that cross an arc, with their words; its ends too."""
        start, end = self.span(arc)
        crossings = [(start, arc.left), (end, arc.right)]
        for word in range(arc.left + 1, arc.right):
            for far, level in self.uprights[word - self.first]:
                if level > arc.level:
                    crossings.append((self.port(word, far), word))
        return sorted(crossings)

    def spot(self, arc: Arc) -> float | None:
        """Find the free place for an arc's label that is nearest to the arc's middle, if any."""
        half = text_width(arc.label, SMALL_SIZE) / 2 + CLEAR
        start, end = self.span(arc)
        middle = (start + end) / 2
        spots = [
            min(max(middle, a + half), b - half)
            for (a, _), (b, _) in pairwise(self.lines(arc))
            if b - a >= 2 * half
        ]
        return min(spots, key=lambda spot: abs(spot - middle), default=None)

    def make_room(self, arc: Arc) -> None:
        """Move words apart so that the label of an arc has a free place: at the widest gap."""
        gaps = [
            (b - a, word) for (a, before), (b, word) in pairwise(self.lines(arc)) if before < word
        ]
        widest, word = max(gaps)
        missing = text_width(arc.label, SMALL_SIZE) + 2 * CLEAR + 1 - widest  # 1: for rounding
        for place in range(word - self.first, len(self.centers)):
            self.centers[place] += missing
        self.width += missing

    def text(self, kind: str, x: float, y: float, content: str) -> str:
        """Write `content` centred at (x, y); an empty string if there is no content."""
        if not content:
            return ""
        place = f'x="{x:g}" y="{y:g}"'
        if self.words.mirrored:
            place = f'x="{-x:g}" y="{y:g}" transform="scale(-1 1)"'
        return f'<text class="{kind}" {place} text-anchor="middle">{escape(content)}</text>'


def draw_svg(
    *sentences: Drawable,
    titles: Sequence[str] | None = None,
    marks: Sequence[Marks] | None = None,
    width: float = WIDTH,
) -> str:
    """Draw the trees of one or more sentences, one below the other.

    Parameters
    ----------
    *sentences
        Sentences with heads, as from `arborescence.treebank.read` or a parser.
    titles
        A text above each tree, such as its rank among the k best; ``""`` for no text.
    marks
        The words and edges of each tree that have another colour.
    width
        The width of a row in pixels; longer sentences get several rows. ``math.inf``: always one
        row. A row is wider if a single word or a label needs it.

    Returns
    -------
    str
        A complete SVG file. O(n r) time for a sentence of n words in r rows, if few arcs cross.

    Raises
    ------
    TreeError
        If a word has no head.
    ValueError
        If the numbers of titles or marks, and of sentences, differ.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sentence = SimpleNamespace(
    ...     forms=["Birds", "sing"], upos=["NOUN", "VERB"], heads=[2, 0],
    ...     deprels=["nsubj", "root"],
    ... )
    >>> picture = draw_svg(sentence, titles=["1. weight 7.5"])
    >>> picture.startswith("<svg") and picture.rstrip().endswith("</svg>")
    True
    """
    each = marks or [_UNMARKED] * len(sentences)
    trees = [lay_out(sentence, width, mark) for sentence, mark in zip(sentences, each, strict=True)]
    widest = max((row.width for rows in trees for row in rows), default=0.0)
    height = 0.0
    groups: list[str] = []
    for rows, title in zip(trees, titles or [""] * len(trees), strict=True):
        height += BETWEEN if groups else 0
        if title:
            widest = max(widest, text_width(title, FORM_SIZE) + 2 * MARGIN)
            baseline = height + MARGIN + 4
            written = escape(printable(title))
            groups.append(f'<text class="title" x="{MARGIN}" y="{baseline:g}">{written}</text>\n')
            height += TITLE
        for row in rows:
            row.width = max(row.width for row in rows)
            lines = "".join(f"{element}\n" for element in drawn(row) if element)
            place = f"translate(0 {height:g})"
            if row.words.mirrored:
                place = f"translate({row.width:g} {height:g}) scale(-1 1)"
            groups.append(f'<g transform="{place}">\n{lines}</g>\n')
            height += row.height
    size = f'width="{widest:g}" height="{height:g}" viewBox="0 0 {widest:g} {height:g}"'
    style = STYLE + MARKED if marks else STYLE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="arborescence" {size}>\n'
        f"<style>\n{style}</style>\n{''.join(groups)}</svg>\n"
    )


def lay_out(
    sentence: Drawable, width: float = WIDTH, marks: Marks = _UNMARKED
) -> list[SentenceRow]:
    """Divide a sentence into rows of at most this width, and compute their layout."""
    words = WordBoxes(sentence, marks)
    rows: list[SentenceRow] = []
    first = 1
    while first < len(words.forms):
        row = fill_row(words, first, width)
        rows.append(row)
        first = row.end
    return rows


def fill_row(words: WordBoxes, first: int, width: float) -> SentenceRow:
    """Place as many words as fit into the row, without overlaps of words and labels."""
    row = SentenceRow(words, first, [], [], [], 0.0)
    ends_at = last_root = 0.0  # the ends of the last word, and of the last root edge's label
    for word in range(first, len(words.forms)):
        center = ends_at + (MARGIN if word == first else GAP) + words.half[word]
        for left, dependent in words.from_left[word]:
            start = row.port(left, word) if left >= first else 0.0
            center = max(center, start + words.room(dependent) - words.offsets[word, left])
        if words.heads[word] == 0:
            half = text_width(words.labels[word], SMALL_SIZE) / 2
            center = max(center, last_root + CLEAR + half - words.offsets[word, 0])
        if word > first and center + words.after[word] > width:
            break
        row.centers.append(center)
        ends_at = center + words.half[word]
        if words.heads[word] == 0:
            last_root = row.port(word, 0) + half
    row.arcs = stacked(words, first, row.end)
    row.uprights = [[(0, math.inf)] if head == 0 else [] for head in words.heads[first : row.end]]
    for arc in row.arcs:
        left, right = ends(words, arc.word)
        for word, far in ((left, right), (right, left)):
            if first <= word < row.end:
                row.uprights[word - first].append((far, arc.level))
    row.width = max(ends_at, last_root) + MARGIN
    for arc in row.arcs:
        if arc.right == row.end:
            row.width = max(row.width, row.span(arc)[0] + words.room(arc.word))
    for arc in row.arcs:
        if row.spot(arc) is None:
            row.make_room(arc)
    return row


def stacked(words: WordBoxes, first: int, end: int) -> list[Arc]:
    """Give each arc of a row the lowest level above the shorter arcs that it spans."""
    arcs: list[Arc] = []
    levels = [0] * (end - first + 1)  # the highest arc so far between a word and the next
    for left, right, word in words.edges:
        if left < end and right >= first:
            left, right = max(left, first - 1), min(right, end)
            spanned = slice(left - first + 1, right - first + 1)
            level = 1 + max(levels[spanned])
            levels[spanned] = [level] * (right - left)
            arcs.append(Arc(left, right, word, words.labels[word], level))
    return arcs


def ends(words: WordBoxes, word: int) -> tuple[int, int]:
    """Return the two ends of the edge into a word, the left end first."""
    head = words.heads[word]
    return (head, word) if head < word else (word, head)


def drawn(row: SentenceRow) -> Iterable[str]:
    """Draw the arcs of a row and its words."""
    words, ground = row.words, row.ground
    for arc in row.arcs:
        yield from arc_elements(arc, row)
    for word in range(row.first, row.end):
        center = row.centers[word - row.first]
        mark, edge = marked(word in words.marks.words), marked(word in words.marks.edges)
        form = f" root{mark}" if words.heads[word] == 0 else mark
        if words.heads[word] == 0:
            x = row.port(word, 0)
            yield f'<path class="arc{edge}" d="M{x:g} {MARGIN + 4}V{ground - 6:g}"/>'
            yield tip(x, ground, edge)
            yield row.text(f"label{edge}", x, MARGIN, words.labels[word])
        yield row.text(f"form{form}", center, ground + 18, words.forms[word])
        yield row.text(
            f"tag{marked(word in words.marks.words)}", center, ground + 35, words.tags[word]
        )


def marked(is_marked: bool) -> str:
    """Return the class of a marked element, after another class."""
    return " marked" if is_marked else ""


def arc_elements(arc: Arc, row: SentenceRow) -> Iterable[str]:
    """Draw an arc: up from one word, across, down to the other, with a tip at the dependent.

    If the other word is in another row, the arc runs to the edge of the row.
    """
    x1, x2 = row.span(arc)
    edge = marked(arc.word in row.words.marks.edges)
    y = row.ground - arc.level * LEVEL
    path = f"M0 {y:g}"
    if arc.left >= row.first:
        foot = row.ground - 6 * (arc.left == arc.word)
        path = f"M{x1:g} {foot:g}V{y + CURVE:g}q0 {-CURVE} {CURVE} {-CURVE}"
    if arc.right < row.end:
        foot = row.ground - 6 * (arc.right == arc.word)
        path += f"H{x2 - CURVE:g}q{CURVE} 0 {CURVE} {CURVE}V{foot:g}"
    else:
        path += f"H{x2:g}"
    yield f'<path class="arc{edge}" d="{path}"/>'
    if row.first <= arc.word < row.end:
        yield tip(x1 if arc.word == arc.left else x2, row.ground, edge)
    spot = row.spot(arc)
    yield row.text(f"label{edge}", (x1 + x2) / 2 if spot is None else spot, y - 5, arc.label)


def tip(x: float, y: float, kind: str) -> str:
    """Draw the head of an arrow that points down to (x, y)."""
    return f'<path class="tip{kind}" d="M{x:g} {y:g}l-3.5 -7h7z"/>'


def text_width(content: str, size: int) -> float:
    """Estimate the width of a text; the estimate is rather too wide, because fonts differ."""
    narrow = sum(c in "iljtfrI.,:;'!|()[] " for c in content)
    wide = sum(c in "mwMWOQ@%—" for c in content)
    return size * (0.60 * screen_width(content) - 0.22 * narrow + 0.28 * wide)
