"""Phrase-structure trees, and what their labels say: category, function tags, number of a trace."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

#: The tag of an empty node, which stands for nothing that is said: a trace, a pronoun left out.
EMPTY: Final = "-NONE-"


class Tree:
    """A node of a tree as it stands in a file: a phrase with children, or a word with its tag.

    Attributes
    ----------
    label : str
        As written, like ``"NP-SBJ-1"`` or ``"NNS"``; empty for an outer bracket without a label.
    children : list of Tree
        Empty for a word.
    word : str or None
        The word as written; None for a phrase.
    line : int
        The line of its opening bracket.

    Examples
    --------
    >>> tree = Tree("NP", [Tree("DT", word="the"), Tree("NN", word="tree")])
    >>> print(tree)
    (NP (DT the) (NN tree))
    """

    def __init__(
        self,
        label: str,
        children: list[Tree] | None = None,
        *,
        word: str | None = None,
        line: int = 1,
    ) -> None:
        self.label = label
        self.children = children or []
        self.word = word
        self.line = line

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Tree | None] = [self]  # None: a closing bracket
        while stack:
            node = stack.pop()
            if node is None:
                parts.append(")")
            elif node.word is not None:
                parts.append(f" ({node.label} {node.word})")
            else:
                parts.append(f" ({node.label}")
                stack += [None, *reversed(node.children)]
        return "".join(parts).lstrip()

    def __repr__(self) -> str:
        return f"<Tree {self.label or '()'} at line {self.line}>"


class Label(NamedTuple):
    """The parts of a label."""

    # a phrase or a part of speech: ``"NP"``. Of two that the annotators could not choose between
    # (``ADVP|PRT``) the first.
    category: str
    functions: tuple[str, ...]  # ``("SBJ",)`` or ``("LOC", "PRD")``
    identity: str | None  # the number by which a trace refers to this node

    @classmethod
    def of(cls, text: str) -> Label:
        """Take a label apart; labels such as ``-LRB-`` are a category as a whole."""
        return _label_of(text)

    def __str__(self) -> str:
        return "-".join([self.category, *self.functions])


@lru_cache(maxsize=1 << 16)
def _label_of(text: str) -> Label:
    if text.startswith(("-", "=", "|")):
        return Label(text, (), None)
    category, *rest = re.split("([-=])", text)
    functions, identity = [], None
    for mark, part in zip(rest[::2], rest[1::2], strict=True):
        if not part.isdecimal():
            functions += [part] if part else []
        elif mark == "-":  # after "=" stands the number of a parallel phrase, in gapping
            identity = part
    return Label(category.partition("|")[0], tuple(functions), identity)
