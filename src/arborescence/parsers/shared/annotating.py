"""Write the trees that a parser has found into the sentences."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from arborescence.parsers.shared.confidence import with_edge_probs
from arborescence.projective.pseudo import MARK, deprojectivize
from arborescence.treebank.annotating import with_trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence


def annotated(
    sentences: Sequence[Sentence],  # B sentences
    starts: NDArray[np.int64],  # (B + 1,): the first node of each sentence, as in `features.Batch`
    # (K, N): the head vectors of all sentences in a row, K times, the best first; all -1 where a
    # sentence has fewer trees
    heads: NDArray[np.int64],
    # (K, N): the number of the relation of each word in `names`; -1 for none
    labels: NDArray[np.int64],
    names: Sequence[str],  # the relations of the parser, by number
    *,
    # for a pseudo-projective parser: whether to move lifted edges back (`deprojectivize`), or only
    # to remove the marks from the relations. None: the relations have no marks.
    lower: bool | None = None,
    # (K, N): the probability of each word's edge, to be written into MISC
    probabilities: NDArray[np.float64] | None = None,
) -> list[list[Sentence]]:
    """Return, for each sentence, a copy with each of its trees."""
    plain = names if lower is None else [name.partition(MARK)[0] for name in names]
    marked = np.array([MARK in name for name in names] + [False])  # the last: no relation
    words = np.diff(starts)
    parsed: list[list[Sentence]] = [[] for _ in sentences]
    for k, (row, numbers) in enumerate(zip(heads, labels, strict=True)):
        there = (row[starts[1:] - 1] >= 0) | (k == 0)
        nodes = np.repeat(there, words)
        trees = with_trees(list(compress(sentences, there)), row[nodes], numbers[nodes], plain)
        for b, tree in zip(np.flatnonzero(there).tolist(), trees, strict=True):
            parsed[b].append(tree)
        if lower and marked.any():
            lifted = marked[numbers] & (row >= 0)
            spelled = [*names, "_"]
            for b in np.unique(np.searchsorted(starts, np.flatnonzero(lifted), "right") - 1):
                start, stop = starts[b], starts[b + 1]
                relations = [spelled[number] for number in numbers[start + 1 : stop].tolist()]
                tree, relations = deprojectivize(row[start:stop], relations)
                parsed[b][k] = sentences[b].replace(heads=tree, deprels=relations)
    if probabilities is not None:
        for sentence, trees, start in zip(sentences, parsed, starts, strict=False):
            of_words = probabilities[:, start + 1 : start + 1 + len(sentence)].tolist()
            trees[:] = [
                tree.replace(misc=with_edge_probs(sentence.misc, of_tree))
                for tree, of_tree in zip(trees, of_words, strict=False)
            ]
    return parsed
