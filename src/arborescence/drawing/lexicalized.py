"""Lexicalized trees in a terminal: one node per line, below its phrase.

A thick line leads from each phrase to the child that has its head word, so that thick lines alone
lead from every phrase to its head word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, Self

from arborescence.drawing._common import printable
from arborescence.drawing.text import BOLD, DIM, paint
from arborescence.errors import TreeError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: So many characters may the branches of a drawing have.
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
        """From left to right; none for a word."""

    @property
    def head(self) -> Self | None:
        """The child that has the head word."""


def draw_lexicalized(tree: Phrase, *, color: bool = False) -> str:
    """Draw a lexicalized tree as lines of text. O(n · depth) for n nodes.

    Parameters
    ----------
    tree
        The root, as `arborescence.treebank.phrase_structure.lexicalize` gives it.
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
