"""Training trees of a treebank: checked, lifted where needed, with numbered relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.core.errors import TreebankError, TreeError
from arborescence.core.tree import is_tree
from arborescence.projective.pseudo import projectivize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.types import Projective
    from arborescence.treebank import Sentence


class TrainingTrees(NamedTuple):
    """The training trees of a treebank.

    Attributes
    ----------
    heads
        For each sentence of n words, its head vector: int64, (n + 1,).
    relations
        For each sentence, the numbers of its relations: int64, (n + 1,); -1 for the root.
    labels
        The L relations by number, in alphabetical order.
    allowed
        bool, (2, L): which relations occur on edges from the root, and which on other edges.
    """

    heads: list[NDArray[np.int64]]
    relations: list[NDArray[np.int64]]
    labels: list[str]
    allowed: NDArray[np.bool_]

    @classmethod
    def of(cls, treebank: Sequence[Sentence], root: Root, projective: Projective) -> Self:
        """Check the trees of a treebank, and lift edges if the trees must be projective.

        Parameters
        ----------
        treebank
            Sentences with heads and relations.
        root
            ``"single"``: each tree must have one edge from the root; ``"multi"``: one or more.
        projective
            Whether trees must be projective. ``"pseudo"``: relations also mark which edges were
            lifted.

        Raises
        ------
        TreebankError
            If there are no sentences, or the heads of one are not such a tree, or with ``"pseudo"``
            its relations already contain the mark of lifted edges.

        Notes
        -----
        O(n) for each sentence, plus the cost of `projectivize`.

        Examples
        --------
        >>> from arborescence.treebank import Sentence
        >>> words = ["Trees", "grow"]
        >>> one = Sentence.from_words(words, heads=[-1, 2, 0], deprels=["nsubj", "root"])
        >>> trees = TrainingTrees.of([one], "single", projective=False)
        >>> trees.labels, trees.relations
        (['nsubj', 'root'], [array([-1,  0,  1])])
        >>> trees.allowed
        array([[False,  True],
               [ True, False]])
        """
        check_not_empty(treebank)
        for sentence in treebank:
            check_tree(sentence, root)
        trees = [_lifted(sentence, projective) for sentence in treebank]
        heads = [tree for tree, _ in trees]
        labels = sorted(set().union(*(deprels for _, deprels in trees)))
        numbers = {label: number for number, label in enumerate(labels)}
        relations = [
            np.array([-1, *(numbers[label] for label in deprels)], dtype=np.int64)
            for _, deprels in trees
        ]
        allowed = np.zeros((2, len(labels)), dtype=np.bool_)
        for tree, row in zip(heads, relations, strict=True):
            allowed[(tree[1:] != 0).astype(np.int64), row[1:]] = True
        return cls(heads, relations, labels, allowed)


def check_not_empty(treebank: Sequence[Sentence]) -> None:
    """Raise TreebankError if the treebank is empty."""
    if not treebank:
        raise TreebankError("the treebank is empty: training needs at least one sentence")


def check_tree(sentence: Sentence, root: Root) -> None:
    """Raise TreebankError if the heads of a sentence are not a tree, or not one for `root`."""
    # A missing head is -1, which `is_tree` would take for padding.
    known = bool((sentence.heads[1:] >= 0).all())
    if known and is_tree(sentence.heads, root):
        return
    if root == "single" and known and is_tree(sentence.heads, "multi"):
        raise TreebankError(
            f"{place(sentence)}: several words have the root as their head; "
            "train with root='multi', or leave the sentence out"
        )
    raise TreebankError(
        f"{place(sentence)}: the heads are not a tree: correct or leave out the sentence"
    )


def place(sentence: Sentence) -> str:
    """Return the position of a sentence for error messages: file and line, else its repr."""
    return f"{sentence.source}:{sentence.line}" if sentence.source else repr(sentence)


def _lifted(sentence: Sentence, projective: Projective) -> tuple[NDArray[np.int64], list[str]]:
    """Return the heads and relations to learn from, lifted if they must be projective."""
    if not projective:
        return sentence.heads, sentence.deprels
    if projective != "pseudo":
        return projectivize(sentence.heads), sentence.deprels
    try:
        heads, deprels = projectivize(sentence.heads, sentence.deprels)
    except TreeError as error:
        raise TreebankError(f"{place(sentence)}: {error}") from None
    return heads, deprels
