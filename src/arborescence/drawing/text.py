"""Trees in a terminal: one word per line, so that a sentence of any length fits.

Every head has a *rail*, a vertical line to which its dependents are joined. The rail of a dependent
is to the right of its head's rail, so edges go from left to right, and in a projective tree no two
lines cross. If two lines cross, the rail is drawn in front.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Self
from unicodedata import bidirectional, category, east_asian_width

from arborescence.errors import TreeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray


class Drawable(Protocol):
    """A sentence with a tree: `arborescence.treebank.Sentence` is one."""

    @property
    def forms(self) -> Sequence[str]:
        """The words, from the first to the last."""

    @property
    def upos(self) -> Sequence[str]:
        """The parts of speech of the words (``"_"``: unknown)."""

    @property
    def heads(self) -> NDArray[np.int64]:
        """The head of each word: 0 is the root."""

    @property
    def deprels(self) -> Sequence[str]:
        """The relations of the words to their heads (``"_"``: unknown)."""


def head_list(sentence: Drawable) -> list[int]:
    """Return the head vector as plain integers, or raise `TreeError` if a word has no head."""
    heads = [-1, *map(int, sentence.heads)]
    if len(heads) != 1 + len(sentence.forms):
        raise TreeError(
            f"{len(heads) - 1} heads for {len(sentence.forms)} words: each word needs one head"
        )
    for word, head in enumerate(heads[1:], 1):
        if not 0 <= head < len(heads) or head == word:
            raise TreeError(
                f"word {word} ({sentence.forms[word - 1]!r}) has no usable head, so no tree can be "
                "drawn: parse the sentence first"
            )
    return heads


# Format characters that are drawn: Persian and other words contain ZWNJ and ZWJ, flags (emoji)
# contain tags; signs of numbers and verses in Arabic, Syriac and Kaithi are visible.
_JOINERS: Final = {"\u200c", "\u200d", *map(chr, range(0xE0020, 0xE0080))}
_SIGNS: Final = {
    *map(chr, range(0x600, 0x606)), "\u06dd", "\u070f", "\u0890", "\u0891", "\u08e2",
    "\U000110bd", "\U000110cd",
}  # fmt: skip
#: A line that begins with this mark runs from left to right, for any first letter.
_FROM_LEFT: Final = "\N{LEFT-TO-RIGHT MARK}"


def printable(text: str) -> str:
    """Replace characters that a terminal or an XML file does not allow; ``"_"`` becomes empty.

    White space is drawn unchanged, but a line end becomes a space. Soft hyphens and other
    characters that are invisible within a word are left out.
    """
    return "" if text == "_" else "".join(map(_drawn, text))


def _drawn(character: str) -> str:
    kind = category(character)
    if character.isprintable() or kind == "Zs" or character in _JOINERS | _SIGNS:
        return character
    if kind in ("Zl", "Zp"):
        return " "
    return "" if kind == "Cf" else "\N{REPLACEMENT CHARACTER}"


def from_right(texts: Iterable[str]) -> bool:
    """Return whether most letters are of scripts that are written from right to left."""
    directions = Counter(bidirectional(c) for text in texts for c in text)
    return directions["R"] + directions["AL"] > directions["L"]


UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
STROKES = {
    UP | DOWN: "│",
    LEFT | RIGHT: "─",
    DOWN | RIGHT: "╭",
    UP | RIGHT: "╰",
    UP | DOWN | RIGHT: "├",
    DOWN | LEFT | RIGHT: "┬",
    UP | LEFT | RIGHT: "┴",
    UP | DOWN | LEFT | RIGHT: "┼",
}
RAIL_COLORS = ("34", "36", "32", "33", "35", "31")  # codes of the terminal's palette
BOLD, DIM, PLAIN = "1", "2", "0"


class Rail(NamedTuple):
    """The vertical line of one head."""

    #: the column
    column: int
    #: the first row
    top: int
    #: the last row
    bottom: int


def draw_text(sentence: Drawable, *, color: bool = False) -> str:
    r"""Draw the tree of a sentence as lines of text.

    Parameters
    ----------
    sentence
        A sentence with heads, as from `arborescence.treebank.read` or a parser.
    color
        Whether to use colours (ANSI escape sequences).

    Returns
    -------
    str
        A line for each word: its part of the drawing, the word, its part of speech and its relation
        to its head. Each line ends in a newline.

    Raises
    ------
    TreeError
        If a word has no head, or heads form a cycle.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sentence = SimpleNamespace(
    ...     forms=["Birds", "that", "sing", "wake", "us"],
    ...     upos=["NOUN", "PRON", "VERB", "VERB", "PRON"],
    ...     heads=[4, 3, 1, 0, 4],
    ...     deprels=["nsubj", "nsubj", "acl:relcl", "root", "obj"],
    ... )
    >>> print(draw_text(sentence), end="")
        ╭─┬─── Birds  NOUN  nsubj
        │ │ ╭─ that   PRON  nsubj
        │ ╰─┴─ sing   VERB  acl:relcl
      ──┼───── wake   VERB  root
        ╰───── us     PRON  obj
    """
    heads = head_list(sentence)
    rails = lay_rails(heads)
    columns = max((rail.column for rail in rails.values()), default=0)
    rows = zip(
        columns_of([printable(form) or "_" for form in sentence.forms]),
        columns_of([printable(tag) for tag in sentence.upos]),
        [printable(label) for label in sentence.deprels],
        strict=True,
    )
    lines = []
    begin = f"{_FROM_LEFT}  " if from_right(sentence.forms) else "  "
    for word, (form, tag, label) in enumerate(rows, 1):
        strokes = "".join(
            paint("".join(stroke for stroke, _ in run), color_of(owner), color)
            for owner, run in groupby(row_strokes(word, heads, rails, columns), itemgetter(1))
        )
        form = paint(form, BOLD, color) if heads[word] == 0 else form
        parts = [form, paint(tag, DIM, color), label] if tag else [form, label]
        lines.append(f"{begin}{strokes} {'  '.join(parts).rstrip()}\n")
    return "".join(lines)


def lay_rails(heads: Sequence[int]) -> dict[int, Rail]:
    """Give each head a column to the right of its own head's rail, without overlapping rails."""
    dependents: dict[int, list[int]] = {}
    for word, head in enumerate(heads[1:], 1):
        dependents.setdefault(head, []).append(word)
    rails: dict[int, Rail] = {}
    queue = [word for word in dependents.get(0, []) if word in dependents]
    while queue:
        head = queue.pop(0)
        rows = [head, *dependents[head]]
        top, bottom = min(rows), max(rows)
        column = rails[heads[head]].column + 1 if heads[head] else 1
        while any(
            rail.column == column and rail.top <= bottom and top <= rail.bottom
            for rail in rails.values()
        ):
            column += 1
        rails[head] = Rail(column, top, bottom)
        queue += [word for word in dependents[head] if word in dependents]
    if lost := sorted(head for head in dependents if head and head not in rails):
        raise TreeError(
            f"the heads above word {lost[0]} form a cycle, so no tree can be drawn: repair the "
            "heads, or draw the edges as an image (SVG)"
        )
    return rails


def row_strokes(
    word: int, heads: Sequence[int], rails: dict[int, Rail], columns: int
) -> list[tuple[str, int]]:
    """Return the characters of one row, each with the column of its rail (0: the root's line)."""
    start = rails[heads[word]].column if heads[word] else 0
    passing = {
        rail.column: (head, rail) for head, rail in rails.items() if rail.top <= word <= rail.bottom
    }
    strokes = [("──" if start == 0 else "  ", 0)]
    for column in range(1, columns + 1):
        head, rail = passing.get(column, (0, None))
        shape = 0
        if rail is not None:
            shape = UP * (word > rail.top) | DOWN * (word < rail.bottom)
        if rail is None or head in (word, heads[word]):
            shape |= LEFT * (column > start) | RIGHT * (column >= start)
        strokes.append((STROKES.get(shape, " "), start if rail is None else column))
        start = column if head == word else start  # from here on, the line of the word's own rail
        strokes.append(("─" if column >= start else " ", start))
    return strokes


def color_of(column: int) -> str:
    """Return the colour code of a column's lines (0: the root's line)."""
    return RAIL_COLORS[column % len(RAIL_COLORS)] if column else DIM


def paint(text: str, code: str, color: bool) -> str:
    """Wrap `text` in an ANSI colour if `color` is true."""
    return f"\033[{code}m{text}\033[0m" if color and text.strip() else text


def columns_of(texts: Sequence[str]) -> list[str]:
    """Pad the texts to the same width on the screen."""
    width = max(map(screen_width, texts), default=0)
    return [text + " " * (width - screen_width(text)) for text in texts]


def screen_width(text: str) -> int:
    """Return the width of a text in terminal cells: 2 for a wide character, 0 for a mark.

    >>> screen_width("tree"), screen_width("木"), screen_width("e\N{COMBINING ACUTE ACCENT}")
    (4, 2, 1)
    """
    return sum(
        0
        if category(c) in ("Mn", "Me", "Cf") and c not in _SIGNS
        else 1 + (east_asian_width(c) in "WF")
        for c in text
    )


#: The largest number of characters in the branches of a drawing.
_LARGEST: Final = 1 << 25


class Phrase(Protocol):
    """A node: `arborescence.treebank.phrase_structure.Lexicalized` is one."""

    @property
    def label(self) -> str:
        """The phrase's label, or the part of speech of a word."""

    @property
    def form(self) -> str:
        """The head word, or the word itself."""

    @property
    def children(self) -> Sequence[Self]:
        """The children from left to right; none for a word."""

    @property
    def head(self) -> Self | None:
        """The child that has the head word."""


def draw_lexicalized(tree: Phrase, *, color: bool = False) -> str:
    """Draw a lexicalized tree as lines of text. O(n · depth) for n nodes.

    Parameters
    ----------
    tree
        The root, as from `arborescence.treebank.phrase_structure.lexicalize`.
    color
        Whether to use colours (ANSI escape sequences).

    Returns
    -------
    str
        A line for each node: a phrase with its head word in brackets, a word with its part of
        speech before it. Each line ends in a newline.

    Raises
    ------
    TreeError
        If the tree is so deep that its branches would have more than 2^25 characters.

    Examples
    --------
    >>> import io
    >>> from arborescence.treebank.phrase_structure import HeadRules, lexicalize, read_trees
    >>> file = io.BytesIO(b"(S (NP-SBJ (PRP We)) (VP (VBP wash) (NP (PRP$ our) (NNS cats))))")
    >>> [tree] = read_trees(file)
    >>> print(draw_lexicalized(lexicalize(tree, HeadRules.load("collins"))), end="")
    S(wash)
    ├─ NP-SBJ(We)
    │  ┕━ PRP We
    ┕━ VP(wash)
       ┝━ VBP wash
       └─ NP(cats)
          ├─ PRP$ our
          ┕━ NNS cats
    """
    lines = []
    size = 0
    stack = [(tree, "", "")]
    while stack:
        node, branch, indent = stack.pop()
        size += len(indent) * len(node.children)
        if size > _LARGEST:
            raise TreeError("the tree is too deep to be drawn")
        lines.append(f"{paint(branch, DIM, color)}{_name(node, color)}\n")
        for child in reversed(node.children):
            last = child is node.children[-1]
            shape = ("┕━ " if last else "┝━ ") if child is node.head else "└─ " if last else "├─ "
            stack.append((child, indent + shape, indent + ("   " if last else "│  ")))
    return "".join(lines)


def _name(node: Phrase, color: bool) -> str:
    label, form = printable(node.label), printable(node.form) or "_"
    if node.children:
        return f"{label}({form})"
    return f"{paint(label, DIM, color)} {paint(form, BOLD, color)}"
