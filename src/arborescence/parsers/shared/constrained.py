"""Trees of a graph-based parser that keep fixed heads and relations, and rules.

A batch is decoded without the rules, and all its trees are tested at once. The solver gets only
sentences whose trees break a rule, or for which no tree was found.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.errors import NoTreeError
from arborescence.inference.constraints import Constraints
from arborescence.inference.kbest import kbest
from arborescence.inference.labeled import kbest_labeled
from arborescence.parsers.shared.giving_up import completed
from arborescence.parsers.shared.keeping import plain
from arborescence.parsers.shared.partial_trees import FixedGraphs, graphs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.inference.branching import Solution
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.graphs import Graphs, Searchable
    from arborescence.parsers.shared.keeping import Keeper
    from arborescence.rules.trees import Trees
    from arborescence.treebank import Sentence

    #: The trees of each sentence, and their weights.
    Lists = list[list[tuple[Sentence, float]]]

#: The share of the budget for a search among filtered edges, if a search among all edges follows.
_WIDE: Final = 0.15


def best_lists(
    parser: Searchable,
    sentences: list[Sentence],
    options: Options,
    k: int | None = None,
    *,
    labeled: bool = False,
) -> Lists:
    """Return the best tree of each sentence, or the k best, under the options.

    Parameters
    ----------
    parser, sentences, options
        The parser, the sentences, and the options of parsing.
    k
        The number of trees; None for the best tree, without its weight.
    labeled
        Whether two of the k trees may have the same heads.

    Raises
    ------
    TreebankError
        If no tree of a sentence has all fixed heads and relations and keeps the rules, and none of
        these may be given up.
    NoTreeError
        If a sentence has no tree, and nothing is fixed.
    """
    find = partial(_found, k=k, labeled=labeled)
    try:
        return find(parser, sentences, options)
    except NoTreeError:
        if not options.keep:
            raise
    return [completed(parser, sentence, options, find) for sentence in sentences]


def _found(
    parser: Searchable,
    sentences: list[Sentence],
    options: Options,
    *,
    k: int | None,
    labeled: bool,
) -> Lists:
    """Return lists of trees; NoTreeError if no tree of a sentence has all that is fixed."""
    parser._refuse(options, kbest=k is not None)
    graphs = graphs_of(parser, sentences, options)
    *trees, weights = _decoded(graphs, k, labeled=labeled)
    parsed = parser._written(graphs, *trees)
    if options.rules is not None:
        _keep(parser, graphs, parsed, weights, options.rules, by_heads=not labeled)
    of_sentences = zip(parsed, weights.T.tolist(), strict=True)
    return [list(zip(trees, of_trees, strict=False)) for trees, of_trees in of_sentences]


def _decoded(
    graphs: Graphs, k: int | None, *, labeled: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the best trees, or the k best: heads and relations, (K, N), and weights, (K, B)."""
    if k is None:
        heads = graphs.decode()[np.newaxis]
        return heads, graphs.label(heads), np.zeros((1, len(graphs.sentences)))
    heads, labels = np.full((2, k, graphs.starts[-1]), -1)
    weights = np.full((k, len(graphs.sentences)), -np.inf)
    for group in graphs.groups:
        how: Any = {"root": graphs.options.root, "projective": group.projective}
        best: Any
        if labeled:
            best = kbest_labeled(graphs.labeled(group), k, group.lengths, **how)
            group.put(best.labels, labels)
        else:
            best = kbest(group.scores, k, group.lengths, **how)
        group.put(best.heads, heads)
        weights[: best.weights.shape[1], group.numbers] = best.weights.T  # perhaps fewer than k
    return heads, labels if labeled else graphs.label(heads), weights


def _keep(
    parser: Searchable,
    graphs: Graphs,
    parsed: list[list[Sentence]],
    weights: NDArray[np.float64],
    keeper: Keeper,
    *,
    by_heads: bool,
) -> None:
    """Replace the trees and weights (K, B) of each sentence of which a tree breaks a rule."""
    numbers = np.repeat(np.arange(len(parsed)), list(map(len, parsed)))
    looked = keeper.look([tree for trees in parsed for tree in trees])
    for b in set(numbers[looked.parted].tolist()):
        parsed[b] = list(map(keeper.finished, parsed[b]))
    broken, firsts = np.unique(numbers[looked.broken], return_index=True)
    if not len(broken):
        keeper.count(len(parsed), [])
        return
    some, k = graphs.part(broken), len(weights)
    words = list(map(looked.sentence, looked.broken[firsts].tolist()))
    solutions = _searched(parser, some, words, keeper, k, by_heads=by_heads)
    keeper.count(len(parsed), solutions)
    for b, best, trees in zip(
        broken.tolist(), solutions, _written(parser, some, solutions, keeper, k), strict=True
    ):
        if best:
            parsed[b] = list(map(keeper.finished, trees))
            weights[:, b] = -np.inf
            weights[: len(best), b] = [tree.weight for tree in best]


def _searched(
    parser: Searchable,
    graphs: Graphs,
    words: list[Trees],
    keeper: Keeper,
    k: int,
    *,
    by_heads: bool,
) -> list[list[Solution]]:
    """Search in all sentences; among all edges, if no tree of the filtered edges keeps the rules.

    NoTreeError if a sentence with fixed heads or relations has no tree that keeps strict rules.
    """
    search = partial(_search, keeper=keeper, k=k, by_heads=by_heads)
    solutions, wide = search(graphs, words), parser._unfiltered()
    missing = _without_trees(solutions)
    if wide is not None and missing and not graphs.options.budget.over:
        again = graphs_of(wide, [graphs.sentences[b] for b in missing], graphs.options)
        others = search(again, [words[b] for b in missing], share=_WIDE)
        for b, trees in zip(missing, others, strict=True):
            solutions[b] = trees
    missing = _without_trees(solutions)
    if keeper.strict and isinstance(graphs, FixedGraphs) and graphs.any_fixed(missing):
        raise NoTreeError("no tree that has the fixed edges keeps the rules")
    return solutions


def _without_trees(solutions: list[list[Solution]]) -> list[int]:
    """Return the numbers of the sentences for which no tree was found."""
    return [b for b, trees in enumerate(solutions) if not trees]


def _search(
    graphs: Graphs,
    words: list[Trees],
    *,
    keeper: Keeper,
    k: int,
    by_heads: bool,
    share: float = 1,
) -> list[list[Solution]]:
    """Search in all sentences."""
    options, names = graphs.options, plain(graphs.labels)
    solutions: list[list[Solution]] = [[] for _ in words]
    for group in graphs.groups:
        wanted = Constraints(root=options.root, projective=group.projective)
        for row, b in enumerate(group.numbers.tolist()):
            scores, decoder = graphs.searched(graphs.lazy(group, row), group, row)
            how: Any = {"share": share, "by_heads": by_heads, "decoder": decoder}
            sentence = words[b]._replace(label_names=names)
            solutions[b] = keeper.best(sentence, scores, wanted, k, budget=options.budget, **how)
    return solutions


def _written(
    parser: Searchable, graphs: Graphs, solutions: list[list[Solution]], keeper: Keeper, k: int
) -> list[list[Sentence]]:
    """Return copies of the sentences with the trees that a search has found."""
    heads, labels = np.full((2, k, graphs.starts[-1]), -1)
    for start, trees in zip(graphs.starts.tolist(), solutions, strict=False):
        for row, tree in enumerate(trees):
            nodes = slice(start, start + len(tree.heads))
            heads[row, nodes], labels[row, nodes] = tree.heads, tree.labels
    written = parser._written(graphs, heads, labels)
    # Lifted edges stay if they would break a rule when moved back.
    if parser._lowers(graphs.options):
        lifted = parser._written(graphs, heads, labels, lower=False)
        for b in keeper.breaking(written):
            written[b] = lifted[b]
    return written
