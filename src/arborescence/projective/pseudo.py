"""Pseudo-projective trees (Nivre and Nilsson 2005): crossing edges lifted, and lowered again.

A tree with crossing edges becomes projective if some of them are *lifted*: the dependent goes from
its head to the head of its head. What a lifted edge was is noted in its label, so that it can be
found again: in the paper's scheme *Head*, ``d`` becomes ``d↑h``, where h is the label of the word
that was the head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.core.errors import TreeError
from arborescence.core.graph import as_array
from arborescence.core.jit import inlined_kernel, kernel
from arborescence.core.tree import as_rows, tree_kernel, word_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

#: Stands between the label of a lifted edge and that of its former head, as in the paper. The
#: relations of Universal Dependencies are made of a-z and the colon.
MARK: Final = "↑"


@inlined_kernel
def is_under(heads: np.ndarray, word: int, node: int) -> bool:
    """Tell whether the path from `word` to the root leads through `node`. O(depth)."""
    while word > 0 and word != node:
        word = heads[word]
    return word == node


@inlined_kernel
def spans_strangers(heads: np.ndarray, d: int) -> bool:
    """Tell whether the edge into d is non-projective: spans a word that is not below its head.

    It is enough to climb from the words whose heads lie outside the edge: from any other word
    between its ends, the path leads to one of those or to an end, and both ends are below the
    head. O(length of the edge), and O(depth) for each edge that crosses it.
    """
    h = heads[d]
    low, high = min(h, d), max(h, d)
    for between in range(low + 1, high):
        outside = heads[between] < low or heads[between] > high
        if outside and not is_under(heads, heads[between], h):
            return True
    return False


@kernel
def lift_kernel(heads: np.ndarray) -> None:
    """Lift the edges of a tree, ``heads`` (n + 1,) int64, in place, until it is projective.

    PROJECTIVIZE of Nivre and Nilsson (2005), Section 2: the shortest non-projective edge first,
    of equally short ones the leftmost. Finding it takes O(n²), and O(depth) for each pair of edges
    that cross. Mostly edges are short, and longer ones than the best so far are passed over.
    """
    n = heads.shape[0] - 1
    while True:
        shortest, leftmost, lifted = n + 1, n + 1, 0
        for d in range(1, n + 1):
            length, left = abs(heads[d] - d), min(heads[d], d)
            nearer = length < shortest or (length == shortest and left < leftmost)
            if nearer and spans_strangers(heads, d):
                shortest, leftmost, lifted = length, left, d
        if lifted == 0:
            return
        heads[lifted] = heads[heads[lifted]]


def projectivize(heads: Any, labels: Any = None) -> Any:
    """Make trees projective, by lifting as few edges as far as needed.

    The shortest non-projective edge (of equally short ones the leftmost) is lifted to the head of
    its head, until no edges cross: Nivre and Nilsson (2005), Section 2. With labels, what was
    lifted is noted by the paper's encoding *Head*, for `deprojectivize`.

    Parameters
    ----------
    heads : (..., N) whole numbers
        Trees with one root edge or several, padded with -1.
    labels : strings, optional
        The label of each word, the root not counted, as `Sentence.deprels` has them: n of them for
        one sentence. For a batch, a list of such lists, or an array (..., N - 1).

    Returns
    -------
    heads : (..., N) int64
        Projective trees, as `is_projective` knows them. The new head of a word is its old one or
        an ancestor of that. A torch tensor, on the same device, if `heads` is one.
    labels : as given
        Only with `labels`. Where a word has a new head, its label d has become ``d↑h``, where h is
        the label of its old head.

    Raises
    ------
    TreeError
        If heads are not trees, labels do not fit them, or a label holds the mark ``↑`` already.

    Notes
    -----
    Edges from the root are never lifted. Neither is an edge lifted *to* the root if the tree has
    one root edge: all words are below that edge's word, so edges from it span no others. Of
    several root edges, one may lie between a root word and its dependent. This is then lifted to
    the root too, and the tree has one more root edge.

    A lift takes O(n²), and O(depth) for each pair of edges that cross. The trees of English-EWT's
    training part, all 12,544, take a fifth of a second.

    Examples
    --------
    *A hearing is scheduled on the issue*: the issue is that of the hearing.

    >>> heads = [-1, 2, 4, 4, 0, 7, 7, 2]
    >>> labels = ["det", "nsubj", "aux", "root", "case", "det", "nmod"]
    >>> lifted, marked = projectivize(heads, labels)
    >>> lifted
    array([-1,  2,  4,  4,  0,  7,  7,  4])
    >>> marked
    ['det', 'nsubj', 'aux', 'root', 'case', 'det', 'nmod↑nsubj']
    >>> deprojectivize(lifted, marked)[0]
    array([-1,  2,  4,  4,  0,  7,  7,  2])
    """
    batch = _Batch.of(heads)
    if labels is None:
        for tree in batch.trees:
            lift_kernel(tree)
        return batch.heads()
    labels = batch.relabel(labels, _lift)
    return batch.heads(), labels


def deprojectivize(heads: Any, labels: Any) -> tuple[Any, Any]:
    """Undo `projectivize`, as far as labels tell: lower each edge that is marked as lifted.

    For each word whose label is ``d↑h``, what is below its head is searched breadth-first, from
    top to bottom and left to right, for a word with the label h: Nivre and Nilsson (2005),
    Section 2. That becomes its head, and d its label. If there is none, the edge stays where it
    is, and the label only loses its mark.

    Parameters
    ----------
    heads : (..., N) whole numbers
        Trees, such as a projective parser finds, padded with -1.
    labels : strings
        As in `projectivize`. What the labels of heads are compared by is what stands before their
        own marks.

    Returns
    -------
    heads : (..., N) int64
        Trees with as many root edges, or fewer if a marked edge left the root.
    labels : as given
        Without marks.

    Raises
    ------
    TreeError
        If heads are not trees, or labels do not fit them.

    Notes
    -----
    The paper leaves open which word comes first. Here the words nearer to the root do, then those
    to the left; and as lowering one edge may bring the head of another within reach, those that
    found none are tried again. So, if the labels of a tree are all different, it comes back just as
    it was. The page *Projective trees* has the share of real trees that do.

    Each try takes O(n), and mostly each marked word needs one.

    Examples
    --------
    >>> deprojectivize([-1, 2, 0, 2, 2], ["det", "root", "advmod", "acl↑det"])
    (array([-1,  2,  0,  2,  1]), ['det', 'root', 'advmod', 'acl'])
    >>> deprojectivize([-1, 2, 0, 2, 2], ["det", "root", "advmod", "acl↑obj"])
    (array([-1,  2,  0,  2,  2]), ['det', 'root', 'advmod', 'acl'])
    """
    batch = _Batch.of(heads)
    labels = batch.relabel(labels, _lower)
    return batch.heads(), labels


class _Batch(NamedTuple):
    """Trees of our own, to be changed in place."""

    rows: NDArray[np.int64]
    """(B, N), padded."""
    trees: list[NDArray[np.int64]]
    """Each row without its padding: views."""
    shape: tuple[int, ...]
    """The caller's leading dimensions."""
    give_back: Callable[[NDArray[Any]], Any] | None
    """Makes a result the kind of array that came in; None for NumPy."""

    @classmethod
    def of(cls, heads: Any) -> Self:
        """Copy and check what a caller gave."""
        rows, shape = as_rows(heads)
        rows = rows.copy()
        batch = cls(rows, [row[: 1 + word_count(row)] for row in rows], shape, as_array(heads)[1])
        mark = np.empty(rows.shape[1], np.int64)
        for b, tree in enumerate(batch.trees):
            if tree[0] != -1 or not tree_kernel(tree, False, mark):
                raise TreeError(
                    f"{batch.name(b)}heads are not a tree: each word needs a head, all paths must "
                    "lead to the root, and heads[0] is -1"
                )
        return batch

    def heads(self) -> Any:
        """Return the heads, as they are now, as the caller has them."""
        heads = self.rows.reshape(*self.shape, self.rows.shape[1])
        return self.give_back(heads) if self.give_back else heads

    def name(self, b: int) -> str:
        """Return how messages call a sentence."""
        return f"sentence {b}: " if self.shape else ""

    def relabel(
        self, labels: Any, change: Callable[[NDArray[np.int64], list[str]], list[str]]
    ) -> Any:
        """Change each tree in place; return the labels that `change` returns, as the caller's."""
        is_array = isinstance(labels, np.ndarray)
        rows = _rows(labels.tolist() if is_array else labels, len(self.shape))
        if len(rows) != len(self.trees):
            raise TreeError(
                f"labels of {len(rows)} sentences do not fit heads of {len(self.trees)}"
            )
        for b, (tree, row) in enumerate(zip(self.trees, rows, strict=True)):
            n = len(tree) - 1
            if not n <= len(row) < self.rows.shape[1]:
                raise TreeError(
                    f"{self.name(b)}{len(row)} labels do not fit {n} words; the root has none"
                )
            try:
                row[:n] = change(tree, row[:n])
            except TreeError as error:
                raise TreeError(f"{self.name(b)}{error}") from None
        if is_array:
            dtype = np.dtype(np.str_) if labels.dtype.kind == "U" else labels.dtype
            return np.array(rows, dtype).reshape(labels.shape)
        return _nested(iter(rows), self.shape)


def _rows(labels: Any, depth: int) -> list[list[str]]:
    """Return the labels of each sentence, from lists nested in so many lists."""
    if depth:
        return [row for part in labels for row in _rows(part, depth - 1)]
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise TreeError(f"labels must be a list of strings for each sentence, not {labels!r}")
    return [[str(label) for label in labels]]


def _nested(rows: Iterator[list[str]], shape: tuple[int, ...]) -> Any:
    """Undo `_rows`."""
    return [_nested(rows, shape[1:]) for _ in range(shape[0])] if shape else next(rows)


def _lift(tree: NDArray[np.int64], labels: list[str]) -> list[str]:
    """Lift the edges of a tree in place; return its labels, marked."""
    for d, label in enumerate(labels, 1):
        if MARK in label:
            raise TreeError(
                f"the label of word {d} is {label!r}, and {MARK!r} is kept for lifted edges: "
                "rename the label, or call deprojectivize if the tree has been lifted already"
            )
    old = tree.copy()
    lift_kernel(tree)
    marked = labels.copy()
    for d in np.flatnonzero(tree != old).tolist():
        marked[d - 1] += MARK + labels[old[d] - 1]
    return marked


def _lower(tree: NDArray[np.int64], labels: list[str]) -> list[str]:
    """Lower the marked edges of a tree in place; return its labels without marks."""
    split = [label.partition(MARK) for label in labels]
    plain = [label for label, _, _ in split]
    wanted = {d: of_head for d, (_, mark, of_head) in enumerate(split, 1) if mark}
    found = True
    while wanted and found:
        found = False
        for d in [d for d in _below(tree, 0) if d in wanted]:
            alike = (x for x in _below(tree, tree[d], d) if plain[x - 1] == wanted[d])
            head = next(alike, None)
            if head is not None:
                tree[d] = head
                del wanted[d]
                found = True
    return plain


def _below(tree: NDArray[np.int64], top: int, without: int = 0) -> Iterator[int]:
    """Yield the nodes below `top`, breadth-first, but not `without` and what is below it."""
    children: list[list[int]] = [[] for _ in tree]
    for d, h in enumerate(tree[1:].tolist(), 1):
        if d != without:
            children[h].append(d)
    queue = children[top]
    for node in queue:
        yield node
        queue += children[node]
