"""Lexicalized trees: every phrase gets the head word of one of its children (Collins 1999)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from arborescence.treebank.phrase_structure.reading import EMPTY, Label, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.treebank.phrase_structure.head_rules import HeadRules

#: Brackets and signs that the Penn Treebank writes in another way.
_ESCAPED: Final = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
#: Traces of movement whose phrase is said elsewhere: ``*T*-1`` and ``*ICH*-1``.
_TRACE: Final = re.compile(r"\*(?:T|ICH)\*-(\d+)")


@dataclass
class Tally:
    """What was converted, and what the head rules left undecided.

    Attributes
    ----------
    phrases : int
        The number of phrases with more than one child, empty nodes not counted.
    undecided : Counter of str
        How often which phrases had no row, or no child that a row names. Then the leftmost child
        that is not punctuation has the head, or the rightmost if the last row searches from there.
    moved : int
        The number of phrases that went back to their traces.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.count("X", ["NP", "PP-LOC"], decided=False)
    >>> tally.undecided
    Counter({'X → NP PP': 1})
    """

    phrases: int = 0
    undecided: Counter[str] = field(default_factory=Counter)
    moved: int = 0

    def count(self, phrase: str, children: Sequence[str], decided: bool) -> None:
        """Count a phrase, given the labels of it and its children."""
        self.phrases += 1
        if not decided:
            parts = " ".join(Label.of(child).category for child in children)
            self.undecided[f"{Label.of(phrase).category or '()'} → {parts}"] += 1


class Lexicalized:
    """A node of a lexicalized tree.

    Attributes
    ----------
    label : str
        As in the file.
    children : list of Lexicalized
        Without empty nodes; none for a word.
    head : Lexicalized or None
        The child that has the head word; None for a word.
    number : int
        The number of the head word in the sentence, from 1.
    form : str
        The head word.
    line : int
        The line of its opening bracket.
    parent : Lexicalized or None
        None for the root.
    """

    def __init__(self, label: str, parent: Lexicalized | None, line: int) -> None:
        self.label = label
        self.parent = parent
        self.line = line
        self.children: list[Lexicalized] = []
        self.head: Lexicalized | None = None
        self.number = 0
        self.form = ""

    def nodes(self) -> Iterator[Lexicalized]:
        """Yield this node and all below it, each before its children, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(node.children)

    def __repr__(self) -> str:
        return f"<Lexicalized {self.label or '()'}({self.form})>"


def lexicalize(
    tree: Tree, rules: HeadRules, *, traces: bool = False, tally: Tally | None = None
) -> Lexicalized:
    r"""Find the head word of every phrase. O(n) for n nodes.

    Empty nodes are left out, and phrases with nothing else. Words that stand for brackets
    (``-LRB-``) become these, and ``\/`` becomes ``/``.

    Parameters
    ----------
    tree
        With at least one word.
    rules
        The head rules.
    traces
        Whether a phrase that was moved (``WHNP-1``) goes back to its trace (``*T*-1`` or
        ``*ICH*-1``) before heads are found. Words keep their places in the sentence. Of several
        traces of a phrase the first counts; a phrase stays if its trace is inside it.
    tally
        Counts what the rules leave undecided.

    Returns
    -------
    Lexicalized
        The root.

    Examples
    --------
    >>> from arborescence.treebank.phrase_structure import HeadRules
    >>> we, see = Tree("PRP", word="we"), Tree("VBP", word="see")
    >>> tree = Tree("S", [Tree("NP", [we]), Tree("VP", [see])])
    >>> root = lexicalize(tree, HeadRules.load("collins"))
    >>> root, root.number, root.children
    (<Lexicalized S(see)>, 2, [<Lexicalized NP(we)>, <Lexicalized VP(see)>])
    """
    root, empty = _copied(tree)
    if traces:
        moved = _move_back(root, empty)
        if tally:
            tally.moved += moved
    for node in reversed(list(root.nodes())):  # children before parents
        if node.children:
            _find_head(node, rules, tally)
    return root


def _copied(tree: Tree) -> tuple[Lexicalized, list[tuple[Lexicalized, str]]]:
    """Copy a tree, and number its words; return the root, and the empty nodes with their words."""
    empty = []
    number = 0
    root = Lexicalized(tree.label, None, tree.line)
    stack = [(tree, root)]
    while stack:
        old, node = stack.pop()
        if old.word is None:
            node.children = [Lexicalized(child.label, node, child.line) for child in old.children]
            stack += reversed([*zip(old.children, node.children, strict=True)])
        elif old.label == EMPTY:
            empty.append((node, old.word))
        else:
            number += 1
            node.number = number
            node.form = _ESCAPED.get(old.word) or re.sub(r"\\([/*])", r"\1", old.word)
    return root, empty


def _move_back(root: Lexicalized, empty: list[tuple[Lexicalized, str]]) -> int:
    """Put phrases into the places of their traces; return how many."""
    phrases = {Label.of(node.label).identity: node for node in reversed([*root.nodes()])}
    moved = 0
    for trace, word in empty:
        match = _TRACE.fullmatch(word)
        number = match[1] if match else ""
        phrase, there = phrases.get(number), trace.parent
        if not phrase or not phrase.parent or not there:
            continue
        if phrase in _above(there):  # moving it would cut it off
            continue
        phrase.parent.children.remove(phrase)
        there.children[there.children.index(trace)] = phrase
        phrase.parent = there
        del phrases[number]
        moved += 1
    return moved


def _above(node: Lexicalized) -> Iterator[Lexicalized]:
    above: Lexicalized | None = node
    while above is not None:
        yield above
        above = above.parent


def _find_head(node: Lexicalized, rules: HeadRules, tally: Tally | None) -> None:
    """Give a phrase the head word of one of its children, which have theirs; drop empty ones."""
    node.children = [child for child in node.children if child.number]
    if not node.children:
        return
    labels = [child.label for child in node.children]
    found = rules.find(node.label, labels)
    node.head = node.children[found.child]
    node.number, node.form = node.head.number, node.head.form
    if tally and len(labels) > 1:
        tally.count(node.label, labels, found.decided)
