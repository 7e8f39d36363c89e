"""What a treebank teaches: the trees to learn from, and their relations by number."""

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
    """The trees of a treebank, as a parser learns them.

    Attributes
    ----------
    heads
        For each sentence of n words, its head vector: int64, (n + 1,).
    relations
        For each sentence, the numbers of its relations: int64, (n + 1,); -1 for the root.
    labels
        The relations by number, in alphabetical order: L of them.
    allowed
        bool, (2, L): which relations edges from the root have, and which other edges.
    """

    heads: list[NDArray[np.int64]]
    relations: list[NDArray[np.int64]]
    labels: list[str]
    allowed: NDArray[np.bool_]

    @classmethod
    def of(cls, treebank: Sequence[Sentence], root: Root, projective: Projective) -> Self:
        """Check the trees of a treebank, and lift edges where they may not cross.

        Parameters
        ----------
        treebank
            Sentences with heads and relations.
        root
            ``"single"``: each tree must have one edge from the root; ``"multi"``: one or more.
        projective
            Whether edges may not cross. ``"pseudo"``: relations say which of them were lifted.

        Raises
        ------
        TreebankError
            If there are no sentences, or one has heads that are not such a tree or, with
            ``"pseudo"``, relations that hold the mark of lifted edges.

        Notes
        -----
        O(n) a sentence, and what `projectivize` takes.

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
    """Raise TreebankError if there is nothing to learn from."""
    if not treebank:
        raise TreebankError("the treebank is empty: training needs at least one sentence")


def check_tree(sentence: Sentence, root: Root) -> None:
    """Raise TreebankError if the heads of a sentence are no tree with such root edges."""
    # A missing head is -1, which would pass for the padding after a shorter sentence.
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
    """Say where a sentence stands, for errors: its file and line, or itself if it has none."""
    return f"{sentence.source}:{sentence.line}" if sentence.source else repr(sentence)


def _lifted(sentence: Sentence, projective: Projective) -> tuple[NDArray[np.int64], list[str]]:
    """Return the heads and relations to learn from: lifted, where edges may not cross."""
    if not projective:
        return sentence.heads, sentence.deprels
    if projective != "pseudo":
        return projectivize(sentence.heads), sentence.deprels
    try:
        heads, deprels = projectivize(sentence.heads, sentence.deprels)
    except TreeError as error:
        raise TreebankError(f"{place(sentence)}: {error}") from None
    return heads, deprels
