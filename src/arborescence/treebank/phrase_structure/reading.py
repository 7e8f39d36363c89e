"""Reading bracketed trees in the format of the Penn Treebank and others."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from arborescence.errors import TreebankError
from arborescence.system.files import opened
from arborescence.treebank.encodings import UTF8
from arborescence.treebank.plain import read_lines

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

#: The tag of an empty node, which has no word of the sentence: a trace, an omitted pronoun.
EMPTY: Final = "-NONE-"


class PhraseTree:
    """A node of a tree in a file: a phrase with children, or a word with its tag.

    Attributes
    ----------
    label : str
        The label, such as ``"NP-SBJ-1"`` or ``"NNS"``; empty for an outer bracket without a label.
    children : list of PhraseTree
        The children; empty for a word.
    word : str or None
        The word; None for a phrase.
    line : int
        The line of the opening bracket.

    Examples
    --------
    >>> tree = PhraseTree("NP", [PhraseTree("DT", word="the"), PhraseTree("NN", word="tree")])
    >>> print(tree)
    (NP (DT the) (NN tree))
    """

    def __init__(
        self,
        label: str,
        children: list[PhraseTree] | None = None,
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
        stack: list[PhraseTree | None] = [self]  # None: a closing bracket
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
        return f"<PhraseTree {self.label or '()'} at line {self.line}>"


class Label(NamedTuple):
    """The parts of a label."""

    #: A phrase or a part of speech: ``"NP"``. The first category of an undecided pair
    #: (``ADVP|PRT``).
    category: str
    #: The function tags: ``("SBJ",)`` or ``("LOC", "PRD")``.
    functions: tuple[str, ...]
    #: The number by which a trace refers to this node.
    identity: str | None

    @classmethod
    def of(cls, text: str) -> Label:
        """Split a label into its parts; labels such as ``-LRB-`` are a category as a whole."""
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
        elif mark == "-":  # after "=", the number refers to a parallel phrase, in gapping
            identity = part
    return Label(category.partition("|")[0], tuple(functions), identity)


_TOKEN: Final = re.compile(r"[()]|[^\s()]+")
_WORD: Final = re.compile(r"[^\s()]+\s*\)")
#: The first characters of comment lines between trees; the last is of the Penn Treebank.
_COMMENTS: Final = ("#", "%%", ";", "*x*")
#: The largest number of brackets in a tree.
_LARGEST: Final = 1 << 18


def read_trees(
    source: str | os.PathLike[str] | IO[bytes],
    *,
    skip_invalid: Callable[[TreebankError], object] | None = None,
    encoding: str = UTF8,
) -> Iterator[PhraseTree]:
    r"""Read the bracketed trees of a file one by one.

    A tree may take many lines, and a line may have many trees. The outermost bracket may have no
    label. Between trees there may be comments: lines that begin with ``#``, ``%%``, ``;`` or
    ``*x*``.

    Parameters
    ----------
    source
        A path, an open binary file, or ``"-"`` for the standard input. Gzip is recognized by its
        first bytes.
    skip_invalid
        If given, invalid trees are skipped, and their errors passed to this function. Reading
        continues at the next line whose first character is ``(``, which then always begins a tree.
        Otherwise the first error is raised.
    encoding
        As in `arborescence.treebank.read`.

    Yields
    ------
    PhraseTree
        A tree with all its empty nodes.

    Raises
    ------
    TreebankError, OSError
        As for `arborescence.treebank.read`. Invalid are brackets that do not match, a word without
        a tag, a bracket without a label or with nothing in it, a tree without words or with more
        than 2^18 brackets, a line of more than 2^20 characters, and bytes that are not UTF-8.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO(b"( (S (NP (NNS Trees)) (VP (VBP grow))) )\n(NP (NNS trees)")
    >>> errors = []
    >>> [str(tree) for tree in read_trees(file, skip_invalid=errors.append)]
    ['( (S (NP (NNS Trees)) (VP (VBP grow))))']
    >>> print(errors[0])
    <stream>:2: the tree that begins here lacks 1 closing bracket
    """
    with opened(source) as (file, name):
        reader = _TreeReader(name, skip_invalid)
        for number, line in enumerate(read_lines(file, encoding), 1):
            yield from reader.take(number, line)
        reader.end()


class _TreeReader:
    """Makes trees from lines; `skip_invalid` as in `read_trees`."""

    def __init__(self, name: str, skip_invalid: Callable[[TreebankError], object] | None) -> None:
        self._name = name
        self._skip_invalid = skip_invalid
        self._open: list[PhraseTree] = []  # the nodes whose brackets are open
        self._size = 0  # the number of brackets of the current tree
        self._skipping = False
        self._broken: TreebankError | None = None  # the error of the tree that is skipped
        self._lines: list[str] = []  # the lines of the tree that is read or skipped

    def take(self, number: int, line: str) -> Iterator[PhraseTree]:
        """Read the next line, and yield the trees that end in it."""
        if self._skip_invalid and line.startswith("("):
            self.end()
            self._skipping = False
        if not (self._open or self._skipping):
            self._lines.clear()
        self._lines.append(line)
        if self._skipping or (not self._open and line.lstrip().startswith(_COMMENTS)):
            return
        try:
            yield from self._trees(number, line)
        except TreebankError as error:
            self._give_up(error)

    def end(self) -> None:
        """End the reading: an open tree is an error."""
        if self._open:
            count = len(self._open)
            brackets = "bracket" if count == 1 else "brackets"
            what = f"the tree that begins here lacks {count} closing {brackets}"
            self._give_up(self._error(self._open[0].line, what))
        if self._broken and self._skip_invalid:
            words = sum(len(_WORD.findall(line)) for line in self._lines)
            self._broken.lost = 1, words, sum(map(bool, map(str.strip, self._lines)))
            self._skip_invalid(self._broken)
            self._broken = None

    def _give_up(self, error: TreebankError) -> None:
        if self._skip_invalid is None:
            raise error
        self._broken = error
        self._open.clear()
        self._skipping = True

    def _error(self, line: int, what: str) -> TreebankError:
        return TreebankError(f"{self._name}:{line}: {what}")

    def _trees(self, number: int, line: str) -> Iterator[PhraseTree]:
        for token in _TOKEN.findall(line):
            if token == "(":  # noqa: S105 (not a password)
                self._begin(number)
            elif not self._open:
                what = "a closing bracket without an opening one"
                if token != ")":  # noqa: S105
                    what = f"{token[:40]!r} outside all brackets: this is not a bracketed tree"
                raise self._error(number, what)
            elif token == ")":  # noqa: S105
                tree = self._close(number)
                if not self._open:
                    yield tree
            else:
                self._fill(number, token)

    def _begin(self, number: int) -> None:
        node = PhraseTree("", line=number)
        if self._open:
            parent = self._open[-1]
            if parent.word is not None:
                raise self._error(number, f"a bracket after the word {parent.word[:40]!r}")
            if not parent.label and len(self._open) > 1:
                raise self._error(parent.line, "a bracket without a label inside a tree")
            parent.children.append(node)
        self._size = self._size + 1 if self._open else 1
        if self._size > _LARGEST:
            what = f"the tree that begins here has more than {_LARGEST:,} brackets: is one missing?"
            raise self._error(self._open[0].line, what)
        self._open.append(node)

    def _fill(self, number: int, token: str) -> None:
        """Use a token as the label of the open bracket, or as its word."""
        node = self._open[-1]
        if node.children or node.word is not None:
            raise self._error(number, f"the word {token[:40]!r} has no bracket with a tag")
        if not node.label:
            node.label = token
        else:
            node.word = token

    def _close(self, number: int) -> PhraseTree:
        node = self._open.pop()
        if node.word is None and not node.children:
            self._open.append(node)  # the tree is broken, not complete
            raise self._error(number, f"nothing in the bracket ({node.label[:40]})")
        if not self._open and not _has_words(node):
            raise self._error(node.line, "a tree without words")
        return node


def _has_words(tree: PhraseTree) -> bool:
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.word is not None and node.label != EMPTY:
            return True
        stack += node.children
    return False
