"""Training trees of a treebank: checked, lifted where needed, with numbered relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from arborescence.core.random import as_generator
from arborescence.errors import TreebankError, TreeError
from arborescence.projective.pseudo import projectivize
from arborescence.treebank.sentence import check_tree, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.core.random import Rng
    from arborescence.parsers.shared.options import Projective
    from arborescence.treebank import Sentence


class TrainingTrees(NamedTuple):
    """The training trees of a treebank."""

    heads: list[NDArray[np.int64]]  # for each sentence of n words, its head vector: int64, (n + 1,)
    # for each sentence, the numbers of its relations: int64, (n + 1,); -1 for the root
    relations: list[NDArray[np.int64]]
    labels: list[str]  # the L relations by number, in alphabetical order
    # bool, (2, L): which relations occur on edges from the root, and which on other edges
    allowed: NDArray[np.bool_]

    @classmethod
    def of(cls, treebank: Sequence[Sentence], projective: Projective, start: Any = None) -> Self:
        """Give numbers to relations; those of a parser to start with keep theirs."""
        # lift edges if trees must be projective ("pseudo" marks them)
        trees = [_lifted(sentence, projective) for sentence in treebank]
        heads = [tree for tree, _ in trees]
        known = [] if start is None else list(start.labels)
        labels = known + sorted(set().union(*(deprels for _, deprels in trees)).difference(known))
        numbers = {label: number for number, label in enumerate(labels)}
        relations = [
            np.array([-1, *(numbers[label] for label in deprels)], dtype=np.int64)
            for _, deprels in trees
        ]
        allowed = np.zeros((2, len(labels)), dtype=np.bool_)
        if start is not None:
            allowed[:, : len(known)] = start.allowed
        for tree, row in zip(heads, relations, strict=True):
            allowed[(tree[1:] != 0).astype(np.int64), row[1:]] = True
        return cls(heads, relations, labels, allowed)


def checked(
    treebank: Iterable[Sentence],
    dev: Iterable[Sentence] | None,
    root: Root,
    skip_invalid: Callable[[TreebankError], object] | None = None,
) -> tuple[list[Sentence], list[Sentence]]:
    """Return both treebanks as lists."""
    # TreebankError if one is empty or its heads are not such trees
    kept: tuple[list[Sentence], list[Sentence]] = [], []
    for good, sentences in zip(kept, (treebank, dev or ()), strict=True):
        for sentence in sentences:
            try:
                check_tree(sentence, root)
            except TreebankError as error:
                if not skip_invalid:
                    raise
                skip_invalid(error)
            else:
                good.append(sentence)
    if not kept[0]:
        raise TreebankError("the treebank is empty: training needs at least one sentence")
    return kept


def _lifted(sentence: Sentence, projective: Projective) -> tuple[NDArray[np.int64], list[str]]:
    """Return the heads and relations to learn from, lifted if they must be projective."""
    if not projective:
        return sentence.tree, sentence.deprels
    if projective != "pseudo":
        return projectivize(sentence.tree), sentence.deprels
    try:
        heads, deprels = projectivize(sentence.tree, sentence.deprels)
    except TreeError as error:
        raise TreebankError(f"{place(sentence)}: {error}") from None
    return heads, deprels


Item = TypeVar("Item")


def folds_of(
    items: Sequence[Item], folds: int, rng: Rng
) -> Iterator[tuple[list[Item], list[Item]]]:
    """Split items into random folds; yield each fold and all other items."""
    order = as_generator(rng).permutation(len(items))
    for chosen in np.array_split(order, folds):
        others = np.setdiff1d(order, chosen)
        yield [items[i] for i in chosen.tolist()], [items[i] for i in others.tolist()]
