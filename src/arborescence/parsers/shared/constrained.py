"""Trees of a graph-based parser that keep what a person has fixed, and rules.

A batch is decoded as if there were no rules, and all its trees are tested at once. Only sentences
whose trees break a rule, or for which no tree was found, are given to the solver.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import numpy as np

from arborescence.errors import NoTreeError
from arborescence.inference.constraints import Constraints
from arborescence.parsers.shared.fixed import Fixed, breaking, contradiction, released
from arborescence.parsers.shared.keeping import Keeper
from arborescence.projective.pseudo import MARK

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from arborescence.errors import TreebankError
    from arborescence.inference.branching import Solution
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.graphs import Graphs
    from arborescence.rules.trees import Trees
    from arborescence.treebank import Sentence

    #: The trees of each sentence, and what they weigh.
    Lists = list[list[tuple[Sentence, float]]]

#: The share of a search's budget where a filter of edges must be given up to keep rules.
_WIDE: Final = 0.15


class Searchable(Protocol):
    """What a graph-based parser gives for this: see the methods of `GraphParser`."""

    def _refuse(self, options: Options, *, kbest: bool = False) -> None: ...
    def _graphs(self, sentences: list[Sentence], options: Options) -> Graphs: ...
    def _unfiltered(self) -> Self | None: ...
    def _lowers(self, options: Options) -> bool: ...
    def _best(
        self, graphs: Graphs, k: int | None, *, labeled: bool
    ) -> tuple[list[list[Sentence]], NDArray[np.float64]]: ...
    def _written(
        self, graphs: Graphs, heads: Any, labels: Any, *, lower: bool = True
    ) -> list[list[Sentence]]: ...


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
        The parser, the sentences, and the options that their trees keep.
    k
        The number of trees; None for the best one, whose weight is not wanted.
    labeled
        Whether two of the k trees may have the same heads.

    Raises
    ------
    TreebankError
        If no tree of a sentence has all that is fixed and keeps the rules, and nothing may be given
        up.
    NoTreeError
        If a sentence has no tree, and nothing is fixed.
    """
    find = partial(_found, k=k, labeled=labeled)
    try:
        return find(parser, sentences, options)
    except NoTreeError:
        if not options.keep:
            raise
    return [_completed(parser, sentence, options, find) for sentence in sentences]


def _found(
    parser: Searchable,
    sentences: list[Sentence],
    options: Options,
    *,
    k: int | None,
    labeled: bool,
) -> Lists:
    """Return lists of trees; NoTreeError if a sentence has none that keeps what is fixed."""
    parser._refuse(options, kbest=k is not None)
    graphs = parser._graphs(sentences, options)
    parsed, weights = parser._best(graphs, k, labeled=labeled)
    if options.rules is not None:
        _keep(parser, graphs, parsed, weights, options.rules, by_heads=not labeled)
    of_sentences = zip(parsed, weights.T.tolist(), strict=True)
    return [list(zip(trees, of_trees, strict=False)) for trees, of_trees in of_sentences]


def _keep(
    parser: Searchable,
    graphs: Graphs,
    parsed: list[list[Sentence]],
    weights: NDArray[np.float64],
    keeper: Keeper,
    *,
    by_heads: bool,
) -> None:
    """Replace the trees (and weights, (K, B)) of those sentences of which a tree breaks a rule."""
    numbers = np.repeat(np.arange(len(parsed)), list(map(len, parsed)))
    looked = keeper.look([tree for trees in parsed for tree in trees])
    for b in np.unique(numbers[looked.parted]).tolist():
        parsed[b] = list(map(keeper.finished, parsed[b]))
    broken, firsts = np.unique(numbers[looked.broken], return_index=True)
    found: list[list[Solution]] = []
    if len(broken):
        some, k = graphs.part(broken), len(weights)
        words = list(map(looked.sentence, looked.broken[firsts].tolist()))
        found = _searched(parser, some, words, keeper, k, by_heads=by_heads)
        if keeper.strict and any(not best and some.has_fixed(b) for b, best in enumerate(found)):
            raise NoTreeError("no tree that has the fixed edges keeps the rules")
        rewritten = _written(parser, some, found, keeper, k)
        for b, best, trees in zip(broken.tolist(), found, rewritten, strict=True):
            if best:
                parsed[b] = list(map(keeper.finished, trees))
                weights[:, b] = -np.inf
                weights[: len(best), b] = [tree.weight for tree in best]
    keeper.count(len(parsed), found)


def _searched(
    parser: Searchable,
    graphs: Graphs,
    words: list[Trees],
    keeper: Keeper,
    k: int,
    *,
    by_heads: bool,
) -> list[list[Solution]]:
    """Search in all sentences; among all edges where those that a filter keeps have no tree."""
    search = partial(_search, keeper=keeper, k=k, by_heads=by_heads)
    found, wide = search(graphs, words), parser._unfiltered()
    if wide is not None and not all(found) and not graphs.options.budget.over:
        missing = [b for b, trees in enumerate(found) if not trees]
        again = wide._graphs([graphs.sentences[b] for b in missing], graphs.options)
        others = search(again, [words[b] for b in missing], share=_WIDE)
        for b, trees in zip(missing, others, strict=True):
            found[b] = trees
    return found


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
    options, names = graphs.options, _plain(graphs.names)
    found: list[list[Solution]] = [[] for _ in words]
    for group in graphs.groups:
        wanted = Constraints(root=options.root, projective=group.projective)
        for row, b in enumerate(group.numbers.tolist()):
            scores, decoder = graphs.searched(group, row)
            how: Any = {"share": share, "by_heads": by_heads, "decoder": decoder}
            sentence = words[b]._replace(label_names=names)
            found[b] = keeper.best(sentence, scores, wanted, k, budget=options.budget, **how)
    return found


def _plain(names: Any) -> tuple[str, ...]:
    """Return names of relations without the marks of lifted edges."""
    return tuple(name.partition(MARK)[0] for name in names)


def _written(
    parser: Searchable, graphs: Graphs, found: list[list[Solution]], keeper: Keeper, k: int
) -> list[list[Sentence]]:
    """Return copies of the sentences with the trees that a search has found."""
    heads, labels = np.full((2, k, graphs.starts[-1]), -1)
    for start, trees in zip(graphs.starts.tolist(), found, strict=False):
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


def _completed(
    parser: Searchable,
    sentence: Sentence,
    options: Options,
    find: Callable[[Searchable, list[Sentence], Options], Lists],
) -> list[tuple[Sentence, float]]:
    """Return the trees of a sentence that keep what is fixed, or the most of it."""
    # The edges that are needed may be among those that the parser leaves out, or may cross.
    wide, gone = parser._unfiltered() or parser, set[int]()
    while True:
        options.budget.check()
        crossing = options._replace(projective=False)
        for each, how in ((parser, options), (wide, crossing)):
            with suppress(NoTreeError):
                return find(each, [sentence], how)[0]
        left, error = _least(wide, sentence, crossing)
        if error is None:
            options = options._replace(rules=options.rules and options.rules.yielding())
            continue
        if options.keep != "anyway" or not left.any():
            raise error
        gone |= {*np.flatnonzero(left.any(axis=0)).tolist()}
        sentence = released(sentence, left, gone)


def _least(
    parser: Searchable, sentence: Sentence, options: Options
) -> tuple[NDArray[np.bool_], TreebankError | None]:
    """Return the least heads and relations to give up, (2, N); and why, if it was proved."""
    graphs = parser._graphs([sentence], options._replace(keep=False))
    fixed, keeper = Fixed.of([sentence], graphs.labels), options.rules
    scores = fixed.wide(graphs.sentence(graphs.groups[0], 0))
    wanted = Constraints.fixed(fixed.heads, fixed.labels, levels=(1, 1), root=options.root)

    def given_up(keeper: Keeper) -> NDArray[np.bool_]:
        """Return what the best tree that keeps rules gives up; nothing if that is not known."""
        words = keeper.trees(graphs.completed())._replace(label_names=_plain(fixed.names))
        found = keeper.best(words, scores, wanted, budget=options.budget)
        options.budget.check()
        if not (found and found[0].certified):
            return np.zeros((2, len(fixed.heads)), np.bool_)
        return fixed.given_up(found[0].heads, found[0].labels)

    by_themselves, error = given_up(Keeper(())), contradiction(sentence, options.root == "single")
    if keeper is None or not keeper.strict:
        return by_themselves, error
    least = given_up(keeper)
    if by_themselves.any():
        return least if least.any() else by_themselves, error
    if not least.any():
        return least, None
    [[(tree, _)]] = best_lists(parser, [sentence], options._replace(rules=None))
    broken = keeper.broken(tree)
    alone = {rule: words for rule, words in broken.items() if given_up(Keeper([rule])).any()}
    return least, breaking(
        sentence, {rule.name: words for rule, words in (alone or broken).items()}, least
    )
