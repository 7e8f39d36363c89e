"""Training trees of a treebank: checked, lifted where needed, with numbered relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from arborescence.core.random import as_generator
from arborescence.errors import TreebankError, TreeError
from arborescence.inference.repairing import repair
from arborescence.parsers.shared.contradictions import contradiction
from arborescence.projective.pseudo import MARK, projectivize
from arborescence.treebank.sentence import check_tree, place, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.core.random import Rng
    from arborescence.parsers.shared.options import Projective
    from arborescence.treebank import Sentence


class TrainingTrees(NamedTuple):
    """The training trees of a treebank."""

    #: For each sentence of n words, the head vector: int64, (n + 1,); -1 also for unknown heads.
    heads: list[NDArray[np.int64]]
    #: For each sentence, the numbers of the relations: int64, (n + 1,); -1 for the root and for
    #: unknown relations.
    relations: list[NDArray[np.int64]]
    #: The L relations by number, in alphabetical order.
    labels: list[str]
    #: bool, (2, L): whether each relation occurs on edges from the root, and on other edges.
    allowed: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        treebank: Sequence[Sentence],
        projective: Projective,
        start: Any = None,
        *,
        in_part: bool = False,
    ) -> Self:
        """Give numbers to relations; the relations of a parser `start` keep their numbers.

        Edges are lifted if trees must be projective ("pseudo" marks lifted edges). If `in_part`,
        "_" is an unknown relation, unless there is no other relation to choose from.
        """
        trees = [_lifted(sentence, projective) for sentence in treebank]
        heads = [tree for tree, _ in trees]
        known = [] if start is None else list(start.labels)
        labels = known + sorted(_names(trees, known, in_part=in_part).difference(known))
        numbers = {label: number for number, label in enumerate(labels)}
        relations = [
            np.array([-1, *(numbers.get(label, -1) for label in deprels)], dtype=np.int64)
            for _, deprels in trees
        ]
        allowed = np.zeros((2, len(labels)), dtype=np.bool_)
        if start is not None:
            allowed[:, : len(known)] = start.allowed
        for tree, row in zip(heads, relations, strict=True):
            row[tree < 0] = -1
            allowed[(tree[row >= 0] != 0).astype(np.int64), row[row >= 0]] = True
        return cls(heads, relations, labels, allowed)


def _names(
    trees: list[tuple[NDArray[np.int64], list[str]]], known: list[str], *, in_part: bool
) -> set[str]:
    """Return the relations of the trees, as `TrainingTrees.of` takes them."""
    edges = {
        (head == 0, label)
        for tree, deprels in trees
        for head, label in zip(tree[1:].tolist(), deprels, strict=True)
        if head >= 0
    }
    names = {label for _, label in edges}
    if in_part and (known or not _unnamed(edges)):
        names.discard("_")
    return names


def _unnamed(edges: set[tuple[bool, str]]) -> bool:
    """Return whether all edges from the root, or all other edges, have the relation ``_``."""
    names = [
        {label.partition(MARK)[0] for root, label in edges if root is from_root}
        for from_root in (False, True)
    ]
    return {"_"} in names


def checked(
    treebank: Iterable[Sentence],
    dev: Iterable[Sentence] | None,
    root: Root,
    skip_invalid: Callable[[TreebankError], object] | None = None,
    *,
    in_part: bool = False,
) -> tuple[list[Sentence], list[Sentence]]:
    """Return both treebanks as lists; with `in_part`, heads of the first may be missing.

    TreebankError if the first is empty, or the heads of a sentence are not a tree.
    """

    def check(sentence: Sentence) -> None:
        if in_part and (sentence.heads < 0).any():
            check_part(sentence, root)
        else:
            check_tree(sentence, root)

    def check_dev(sentence: Sentence) -> None:
        try:
            check_tree(sentence, root)
        except TreebankError as error:
            reason = "trees that choose the epoch must be complete"
            raise TreebankError(f"{error}; {reason}") from None

    valid = _valid(treebank, check, skip_invalid)
    valid_dev = _valid(dev or (), check_dev, skip_invalid)
    if not valid:
        raise TreebankError("the treebank is empty: training needs at least one sentence")
    if not any((sentence.heads >= 0).any() for sentence in valid):
        check_tree(valid[0], root)  # raises the error that names the place and the reason
    return valid, valid_dev


def _valid(
    sentences: Iterable[Sentence],
    check: Callable[[Sentence], None],
    skip_invalid: Callable[[TreebankError], object] | None,
) -> list[Sentence]:
    """Return the sentences without an error; `skip_invalid`, if given, gets the errors."""
    valid = []
    for sentence in sentences:
        try:
            check(sentence)
        except TreebankError as error:
            if not skip_invalid:
                raise error from None
            error.lost = size_of(sentence)
            skip_invalid(error)
        else:
            valid.append(sentence)
    return valid


def check_part(sentence: Sentence, root: Root) -> None:
    """Raise TreebankError if no tree has the known heads of a sentence."""
    tree = sentence.tree
    if (repair(tree, root=root).heads[tree >= 0] != tree[tree >= 0]).any():
        raise contradiction(sentence, root == "single", "leave out the sentence")


def agreeing(scores: NDArray[Any], heads: NDArray[np.int64]) -> NDArray[Any]:
    """Return scores (n + 1, n + 1) without the edges that contradict a known head."""
    known = heads >= 0
    return np.where(known & (np.arange(len(heads))[:, None] != heads), -np.inf, scores)


def _lifted(sentence: Sentence, projective: Projective) -> tuple[NDArray[np.int64], list[str]]:
    """Return the heads and relations to learn from, lifted if they must be projective."""
    if projective and (sentence.heads < 0).any():
        # Lift the edges of a tree with the known heads, so that a projective tree exists.
        tree, single = sentence.tree, np.count_nonzero(sentence.heads == 0) < 2
        whole = repair(tree, root="single" if single else "multi").heads
        return np.where(tree < 0, -1, projectivize(whole)), sentence.deprels
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
