"""The words of a sentence as objects, to walk through its tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.errors import OptionError, TreeError

if TYPE_CHECKING:
    import numpy.typing as npt

    from arborescence.treebank.sentence_like import SentenceLike


class Word:
    """A word of a sentence: its columns, and its neighbours in the tree.

    Words are made by `Sentence.words` and `Sentence.word`. A column is read at each access.

    Attributes
    ----------
    sentence
        The `Sentence`.
    id : int
        The number of the word, from 1.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> sentence = Sentence.from_words(
    ...     ["Old", "trees", "grow"], heads=[2, 3, 0], deprels=["amod", "nsubj", "root"]
    ... )
    >>> trees = sentence.word(2)
    >>> trees.form, trees.deprel, trees.head, trees.head.head
    ('trees', 'nsubj', <Word 3: grow>, None)
    >>> trees.children, trees.depth
    ([<Word 1: Old>], 2)
    """

    __slots__ = ("id", "sentence")

    def __init__(self, sentence: SentenceLike, number: int) -> None:
        if not 1 <= number <= len(sentence):
            raise OptionError(f"word {number}: the words of the sentence are 1 to {len(sentence)}")
        self.sentence: Final = sentence
        self.id: Final = number

    @property
    def form(self) -> str:
        """The form."""
        return self.sentence.cell(self.id, "FORM")

    @property
    def lemma(self) -> str:
        """The lemma."""
        return self.sentence.cell(self.id, "LEMMA")

    @property
    def upos(self) -> str:
        """The universal part of speech."""
        return self.sentence.cell(self.id, "UPOS")

    @property
    def xpos(self) -> str:
        """The treebank's own part-of-speech tag."""
        return self.sentence.cell(self.id, "XPOS")

    @property
    def feats(self) -> dict[str, str]:
        """The morphological features by their names."""
        return _by_name(self.sentence.cell(self.id, "FEATS"))

    @property
    def deprel(self) -> str:
        """The relation to the head."""
        return self.sentence.cell(self.id, "DEPREL")

    @property
    def deps(self) -> str:
        """The enhanced dependencies, as one string."""
        return self.sentence.cell(self.id, "DEPS")

    @property
    def misc(self) -> dict[str, str]:
        """The entries of the column MISC by their names."""
        return _by_name(self.sentence.cell(self.id, "MISC"))

    @property
    def start(self) -> int:
        """The place of the word in the text: see `Sentence.ranges`."""
        return self.sentence.ranges[self.id - 1][0]

    @property
    def end(self) -> int:
        """The place after the word in the text."""
        return self.sentence.ranges[self.id - 1][1]

    @property
    def head(self) -> Word | None:
        """The head; None for a word that hangs from the root, or has no head."""
        head = self.sentence.cell(self.id, "HEAD")
        return None if head in ("0", "_") else Word(self.sentence, int(head))

    @property
    def children(self) -> list[Word]:
        """The dependents, from left to right."""
        return [Word(self.sentence, number) for number in self.sentence.children(self.id)]

    @property
    def subtree(self) -> list[Word]:
        """The word and all words below it, from left to right."""
        return [Word(self.sentence, number) for number in self.sentence.subtree(self.id)]

    @property
    def depth(self) -> int:
        """The number of edges from the root to the word: 1 for a word that hangs from the root.

        TreeError if no path leads to the word: `Sentence.depth` has 0 there.
        """
        return len(path_up(self.sentence.tree, self.id)) - 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Word):
            return NotImplemented
        return self.id == other.id and self.sentence == other.sentence

    def __hash__(self) -> int:
        return hash((self.id, self.sentence))

    def __repr__(self) -> str:
        return f"<Word {self.id}: {self.form}>"


def path_up(tree: npt.NDArray[np.int64], word: int) -> list[int]:
    """Return the nodes from a word up to the root, 0; TreeError if the path does not end there."""
    heads = tree.tolist()
    path = [word]
    while path[-1] != 0:
        path.append(heads[path[-1]])
        if path[-1] < 0:
            raise TreeError(f"word {path[-2]}, on the path from word {word}, has no head")
        if len(path) > len(heads):
            raise TreeError(f"word {word} is in or below a cycle: `arborescence repair` removes it")
    return path


def depths_of(tree: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the depth of each word of a head vector, (n,): 0 where no path leads to the root."""
    heads = np.maximum(tree, 0)
    heads[np.flatnonzero(tree < 0)] = np.flatnonzero(tree < 0)  # the root, and words without a head
    depths = np.zeros(len(tree), dtype=np.int64)
    at = np.arange(len(tree))
    for _ in range(len(tree)):
        moving = heads[at] != at
        if not moving.any():
            break
        depths += moving
        at = heads[at]
    depths[at != 0] = 0
    return depths[1:]


def _by_name(cell: str) -> dict[str, str]:
    """Split a cell of FEATS or MISC; an entry without ``=`` has an empty value."""
    if cell == "_":
        return {}
    entries = (entry.partition("=") for entry in cell.split("|"))
    return {name: value for name, _, value in entries}
