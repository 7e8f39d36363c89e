"""Lexicalized trees (Collins 1999), and the dependency trees that they imply."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Final

from arborescence.system.files import opened
from arborescence.treebank.phrase_structure.head_rules import HeadRules
from arborescence.treebank.phrase_structure.reading import EMPTY, Label, PhraseTree, read_trees
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from arborescence.errors import TreebankError

#: Brackets and signs that the Penn Treebank writes in another way.
_ESCAPED: Final = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
#: Traces of movement whose phrase stands elsewhere: ``*T*-1`` and ``*ICH*-1``.
_TRACE: Final = re.compile(r"\*(?:T|ICH)\*-(\d+)")


@dataclass
class Tally:
    """Counts of converted phrases, and of phrases whose head the rules did not decide.

    Attributes
    ----------
    phrases : int
        The number of phrases with more than one child, empty nodes not counted.
    undecided : Counter of str
        The numbers of phrases without a row, or without a child that a row names. Then the leftmost
        child that is not punctuation has the head; the rightmost if the last row searches from
        there.
    moved : int
        The number of phrases that were moved back to their traces.

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
        """Count a phrase, from its label and the labels of its children."""
        self.phrases += 1
        if not decided:
            parts = " ".join(Label.of(child).category for child in children)
            self.undecided[f"{Label.of(phrase).category or '()'} → {parts}"] += 1


class Lexicalized:
    """A node of a lexicalized tree.

    Attributes
    ----------
    label : str
        The label in the file.
    children : list of Lexicalized
        The children without empty nodes; empty for a word.
    head : Lexicalized or None
        The child that has the head word; None for a word.
    number : int
        The number of the head word in the sentence, from 1.
    form : str
        The head word.
    line : int
        The line of the opening bracket.
    parent : Lexicalized or None
        The parent; None for the root.
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
        """Yield this node and all nodes below, each before its children, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(node.children)

    def __repr__(self) -> str:
        return f"<Lexicalized {self.label or '()'}({self.form})>"


def lexicalize(
    tree: PhraseTree, rules: HeadRules, *, traces: bool = False, tally: Tally | None = None
) -> Lexicalized:
    r"""Find the head word of every phrase. O(n) for n nodes.

    Empty nodes, and phrases without words, are left out. Words that stand for brackets (``-LRB-``)
    become brackets, and ``\/`` becomes ``/``.

    Parameters
    ----------
    tree
        A tree with at least one word.
    rules
        The head rules.
    traces
        Whether a phrase that was moved (``WHNP-1``) is moved back to its trace (``*T*-1`` or
        ``*ICH*-1``) before heads are found. Words keep their places in the sentence. Of several
        traces of a phrase the first counts; a phrase stays if its trace is within the phrase.
    tally
        Counts phrases whose head the rules do not decide.

    Returns
    -------
    Lexicalized
        The root.

    Examples
    --------
    >>> from arborescence.treebank.phrase_structure import HeadRules
    >>> we, see = PhraseTree("PRP", word="we"), PhraseTree("VBP", word="see")
    >>> tree = PhraseTree("S", [PhraseTree("NP", [we]), PhraseTree("VP", [see])])
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


def _copied(tree: PhraseTree) -> tuple[Lexicalized, list[tuple[Lexicalized, str]]]:
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
    """Move phrases to the places of their traces; return the number of moved phrases."""
    phrases = {Label.of(node.label).identity: node for node in reversed([*root.nodes()])}
    moved = 0
    for trace, word in empty:
        match = _TRACE.fullmatch(word)
        number = match[1] if match else ""
        phrase, parent = phrases.get(number), trace.parent
        if not phrase or not phrase.parent or not parent:
            continue
        if phrase in _above(parent):  # the move would disconnect the phrase
            continue
        phrase.parent.children.remove(phrase)
        parent.children[parent.children.index(trace)] = phrase
        phrase.parent = parent
        del phrases[number]
        moved += 1
    return moved


def _above(node: Lexicalized) -> Iterator[Lexicalized]:
    above: Lexicalized | None = node
    while above is not None:
        yield above
        above = above.parent


def _find_head(node: Lexicalized, rules: HeadRules, tally: Tally | None) -> None:
    """Give a phrase the head word of one of its children; remove children without words."""
    node.children = [child for child in node.children if child.number]
    if not node.children:
        return
    labels = [child.label for child in node.children]
    choice = rules.find(node.label, labels)
    node.head = node.children[choice.child]
    node.number, node.form = node.head.number, node.head.form
    if tally and len(labels) > 1:
        tally.count(node.label, labels, choice.decided)


def convert(
    source: str | os.PathLike[str] | IO[bytes],
    rules: HeadRules | str | os.PathLike[str] = "collins",
    *,
    traces: bool = False,
    tally: Tally | None = None,
    skip_invalid: Callable[[TreebankError], object] | None = None,
) -> Iterator[Sentence]:
    r"""Turn the bracketed trees of a file into dependency trees, one by one.

    Parameters
    ----------
    source, skip_invalid
        As in `read_trees`.
    rules
        Head rules, or the name of a table or file for `HeadRules.load`.
    traces, tally
        As in `lexicalize`. Without `traces` all trees are projective.

    Yields
    ------
    Sentence
        A sentence with forms, tags (XPOS), heads and relations; each tree has one root edge. The
        comment ``sent_id`` has the name of the file and the number of the tree.

    Raises
    ------
    TreebankError, OSError
        As for `read_trees`, also for a file of head rules.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO(b"(S (NP-SBJ (PRP We)) (VP (VBP wash) (NP (PRP$ our) (NNS cats))))")
    >>> [sentence] = convert(file)
    >>> print(str(sentence).replace("\t", " "), end="")
    # sent_id = stream-1
    1 We _ _ PRP _ 2 S|NP-SBJ _ _
    2 wash _ _ VBP _ 0 root _ _
    3 our _ _ PRP$ _ 4 NP|PRP$ _ _
    4 cats _ _ NNS _ 2 VP|NP _ _
    <BLANKLINE>
    """
    table = rules if isinstance(rules, HeadRules) else HeadRules.load(rules)
    with opened(source) as (file, name):
        trees = read_trees(file, skip_invalid=skip_invalid)
        for number, tree in enumerate(trees, 1):
            root = lexicalize(tree, table, traces=traces, tally=tally)
            yield to_dependencies(root, source=name, number=number)


def to_dependencies(root: Lexicalized, *, source: str = "", number: int | None = None) -> Sentence:
    """Make the dependency tree of a lexicalized tree. O(n) for n nodes.

    The head word of each child hangs from the head word of its phrase, unless both are the same
    word. The relation is the category of the phrase and the label of the child, without numbers:
    ``S|NP-SBJ``, ``NP|DT``. The only word that hangs from the root has the relation ``root``. A
    phrase without a label counts as ``TOP``.

    Parameters
    ----------
    root
        A whole tree.
    source
        The name of the file.
    number
        The number of the tree in the file, for the comment ``sent_id``.

    Returns
    -------
    Sentence
        The dependency tree.
    """
    words = sorted((node for node in root.nodes() if not node.children), key=_number)
    heads = [-1, *[0] * len(words)]
    relations = ["root"] * len(words)
    for phrase in root.nodes():
        for child in phrase.children:
            if child is not phrase.head:
                heads[child.number] = phrase.number
                category = Label.of(phrase.label).category or "TOP"
                relations[child.number - 1] = f"{category}|{Label.of(child.label)}"
    comments = [] if number is None else [f"# sent_id = {_stem(source)}-{number}"]
    sentence = Sentence.from_words(
        [word.form for word in words],
        xpos=[word.label for word in words],
        heads=heads,
        deprels=relations,
        comments=comments,
    )
    return sentence.derived(source=source, line=root.line)


def _number(node: Lexicalized) -> int:
    return node.number


def _stem(name: str) -> str:
    """Return the name of a file without its folder and endings."""
    return PurePath(name.strip("<>")).name.partition(".")[0] or "tree"
