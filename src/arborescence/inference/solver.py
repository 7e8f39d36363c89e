"""The best tree, or the k best, under constraints: `solve`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.core.accumulator import BIAS_64, rounded_sum, rounded_whole
from arborescence.core.budget import Budget, work_of
from arborescence.core.checks import check_count
from arborescence.core.conversion import as_array, as_doubles, as_floats, as_it_is
from arborescence.errors import NoTreeError, OptionError, ScoresError, StoppedError
from arborescence.inference.branching import Due, Search, Solution
from arborescence.inference.conflicts import way_of
from arborescence.inference.constraints import Constraints
from arborescence.inference.decode import best_labels, decode
from arborescence.inference.kbest import kbest
from arborescence.inference.labeled import kbest_labeled
from arborescence.inference.levels import LeveledScores, LevelScale, combined
from arborescence.inference.parts import Lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from arborescence.inference.branching import Event
    from arborescence.inference.conflicts import Heads
    from arborescence.inference.demands import AnyConflict, Conflicts
    from arborescence.inference.parts import Decoder

#: The default budget of a search.
_WORK: Final = 1e8


def solve(
    scores: Any,
    constraints: Constraints | None = None,
    k: int = 1,
    *,
    budget: Budget | None = None,
    watch: Callable[[Event], None] | None = None,
    by_heads: bool = False,
    decoder: Decoder | None = None,
) -> list[Solution]:
    """Return the k trees of highest weight that keep constraints, best first, with certificates.

    Where the constraints are about single edges, the edges that no tree may have are left out, and
    a kernel decodes. Otherwise the best tree of all is decoded first. If this tree breaks a rule,
    each alternative to the conflict is a smaller problem of the same kind, with some edges
    forbidden or required, and the best tree of the problem bounds all trees of the problem.

    Parameters
    ----------
    scores : (N, N) or (N, N, L) array or torch tensor
        As in `decode` or `decode_labeled`, of one sentence.
    constraints
        The constraints that the trees keep; by default a single root edge.
    k : int
        The number of trees.
    budget : Budget, optional
        The work that the search may do, by default 10⁸ units. When the budget ends, the best tree
        found so far is returned, and ``certified`` is false. If no tree is known after half of the
        budget, the search spends the other half to find any tree.
    watch : callable, optional
        Called with each `Event` of the search.
    by_heads
        Whether no two trees have the same heads: of trees that differ only in their labels, the
        best tree counts.
    decoder : callable, optional
        A function that decodes instead of `decode`, if a tree weighs more than the sum of these
        scores. It takes scores (N, N), and returns the head vector of the best tree, the tree's
        weight beyond its scores, and how much more another tree may weigh: 0, if the tree is known
        to be the best. If it returns None instead of heads, it has found no tree, and the last
        number is a bound of all trees. It raises NoTreeError if there is no tree.

    Returns
    -------
    list of Solution
        k solutions, or all if fewer exist. When the budget ends, the solutions found so far, but at
        least one; certified solutions come first.

    Raises
    ------
    NoTreeError
        If no tree keeps the constraints. The message names constraints that contradict each other:
        if any of them is left out, a tree exists. Or the message says that the budget was too small
        for this proof.
    StoppedError
        If the budget has ended, and no tree that keeps the constraints was found.
    ScoresError
        As in `decode`.
    OptionError
        If an option is invalid, an edge is not among the scores, or a tree takes an alternative of
        its own conflict.

    Notes
    -----
    O(n²) for each tree decoded (projective: O(n³)), O(L n²) for its labels, and a call of each
    function of `conflicts`. The number of trees that are decoded depends on the scores and the
    constraints: little more than one, if most trees of a parser keep the constraints.
    `decode_where` needs only a predicate, and tries the trees one by one, which is faster if one of
    the first few trees satisfies the predicate. If not, `solve` is faster: each conflict excludes
    many trees at once.

    Examples
    --------
    At most one subject (label 0) for the verb, word 2:

    >>> import numpy as np
    >>> import arborescence as arb
    >>> from arborescence.rules import Edges, Limit
    >>> scores = np.zeros((4, 4, 2))
    >>> scores[2, 1], scores[2, 3], scores[0, 2] = [3.0, 1.0], [4.0, 3.0], [5.0, 0.0]
    >>> arb.decode_labeled(scores)
    Labeled(heads=array([-1,  2,  0,  2]), labels=array([-1,  0,  0,  0]))
    >>> [tree] = solve(scores, Constraints(limits=[Limit([Edges(2, None, labels=0)], 1)]))
    >>> tree.heads, tree.labels, tree.weight, tree.certified
    (array([-1,  2,  0,  2]), array([-1,  0,  0,  1]), 11.0, True)

    Demands that contradict each other:

    >>> solve(scores, Constraints(require=[Edges(1, 2), Edges(0, 3), Edges(2, 1)]))
    Traceback (most recent call last):
      ...
    arborescence.NoTreeError: no tree keeps all of this (each is needed for the contradiction): \
into each dependent, one of the edges 1 → 2; into each dependent, one of the edges 2 → 1
    """
    wanted, k = constraints or Constraints(), check_count(k)
    array, give_back = as_array(scores, absent=-np.inf)
    if array.dtype not in (np.float32, np.float64):
        array = as_floats(array)
    labeled = array.ndim == 3
    if array.ndim not in (2, 3) or len(set(array.shape[:2])) > 1 or 0 in array.shape:
        raise ScoresError(
            "scores must be of one sentence, (N, N) or (N, N, L) with N = words + 1 and "
            f"L > 0, not {array.shape}"
        )
    limit = Budget(_WORK) if budget is None else budget

    def solved(wanted: Constraints, k: int, limit: Budget, **how: Any) -> list[Solution]:
        plain = wanted.are_edges and not any(how.values())
        priced = bool(wanted.charges or wanted.levels)
        if plain and not priced:
            return _by_kernels(array, wanted, k, limit, by_heads=by_heads)
        table = as_doubles(array if labeled else array[..., None])
        if plain and (trees := _priced(table, wanted, k, limit, by_heads=by_heads)):
            return trees
        own = partial(_copying, give_back=give_back, labeled=labeled)
        return search(table, wanted, k, budget=limit, by_heads=by_heads, own=own, **how)

    try:
        trees = solved(wanted, k, limit, watch=watch, decoder=decoder)
    except NoTreeError as error:
        raise _contradiction(error, wanted, lambda part: solved(part, 1, limit)) from None
    return [
        tree._replace(
            heads=give_back(tree.heads), labels=give_back(tree.labels) if labeled else None
        )
        for tree in trees
    ]


def search(
    scores: NDArray[np.float64] | Lazy,
    wanted: Constraints,
    k: int,
    *,
    budget: Budget,
    by_heads: bool = False,
    watch: Callable[[Event], None] | None = None,
    decoder: Decoder | None = None,
    own: Callable[..., Any] = as_it_is,
) -> list[Solution]:
    """Do the work of `solve` where a kernel is not enough, without the names of contradictions.

    Parameters
    ----------
    scores : (N, N, L) or Lazy
    wanted
        Functions of `conflicts` get heads and labels, and must not change these arrays.
    k, budget, by_heads, watch, decoder
        As for `solve`.
    own
        Called with each function of `conflicts`; returns the function to call in its place.
    """
    shape = scores.shape
    rules = [*map(own, wanted.conflicts), *(limit.conflicts(shape) for limit in wanted.limits)]
    how: dict[str, Any] = {}
    if wanted.charges or wanted.levels:
        table = scores.table() if isinstance(scores, Lazy) else scores
        scores, rounded, how = _priced_scores(table, wanted)
        rules += rounded
    if how and decoder is not None:
        raise OptionError("a decoder of your own cannot have prices at levels above the scores")
    which: Any = {"root": wanted.root, "projective": wanted.projective}
    searched = Search(scores, _joined(rules), decoder, which, budget, **how)
    searched.watch = watch
    bans = way_of(wanted.forbid, wanted.require, shape)
    priced = bool(wanted.charges or wanted.votes)
    trees = searched.run(k, by_heads=by_heads, bans=bans, priced=priced)
    return [_with_dues(tree, wanted, shape) for tree in trees] if wanted.charges else trees


def _priced_scores(
    scores: NDArray[np.float64], wanted: Constraints
) -> tuple[NDArray[np.float64], list[Conflicts], dict[str, Any]]:
    """Return floats for decoders, functions for prices not in them, and options of `Search`."""
    scores, rounded = wanted.charged(_own_edges(scores))
    if not wanted.levels:
        return scores, rounded, {}
    tables = [*wanted.gains(scores.shape), scores]
    exact = combined(tables)
    if exact is not None:
        return np.ascontiguousarray(exact[0]), rounded, {"scale": LevelScale(exact[1])}
    ranked = LeveledScores([np.broadcast_to(table, scores.shape) for table in tables])
    return ranked.floats(), rounded, {"scale": LevelScale(levels=wanted.levels), "ranked": ranked}


def _own_edges(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores with 0 for loops and edges into the root; ScoresError for NaN and +inf."""
    scores, nodes = scores.copy(), np.arange(len(scores))
    scores[nodes, nodes], scores[:, 0] = 0, 0
    if not (scores < np.inf).all():
        decode(best_labels(scores, 1))  # names the place
    return scores


def _priced(
    scores: NDArray[np.float64], wanted: Constraints, k: int, budget: Budget, *, by_heads: bool
) -> list[Solution] | None:
    """Return the best trees by kernels, if edges have prices; None if prices would be rounded."""
    table, rounded, how = _priced_scores(scores, wanted)
    if rounded or "ranked" in how:
        return None
    scale = how.get("scale") or LevelScale()
    whole = table if table.shape[2] > 1 else np.ascontiguousarray(table[..., 0])
    words, solutions = np.arange(1, len(table)), []
    for tree in _by_kernels(whole, wanted, k, budget, by_heads=by_heads):
        of_edges = table[tree.heads[1:], words, tree.labels[1:]].tolist()
        gains, score = scale.split(sum(map(scale.whole, of_edges)))
        weight, levels = rounded_whole(score, BIAS_64), tuple(-gain for gain in gains)
        priced = tree._replace(weight=weight, bound=weight, levels=levels)
        solutions.append(_with_dues(priced, wanted, scores.shape))
    return solutions


def _with_dues(tree: Solution, wanted: Constraints, shape: tuple[int, ...]) -> Solution:
    """Return a tree whose dues include the charges that it pays."""
    known = {(due.name, due.word) for due in tree.dues}
    dues = [
        Due(*due) for due in wanted.dues(tree.heads, tree.labels, shape) if due[:2] not in known
    ]
    paid = rounded_sum([tree.paid, *(due.price for due in dues if not due.level)])
    return tree._replace(dues=(*tree.dues, *dues), paid=paid)


def decode_constrained(
    scores: Any, conflicts: Callable[..., Sequence[AnyConflict]], **options: Any
) -> Solution:
    """Return the tree of highest weight that keeps rules: see `solve`.

    Parameters
    ----------
    scores
        As in `solve`.
    conflicts
        A function as in `Constraints`.
    **options
        As in `Constraints` or `solve`.
    """
    [tree] = kbest_constrained(scores, conflicts, 1, **options)
    return tree


def kbest_constrained(
    scores: Any,
    conflicts: Callable[..., Sequence[AnyConflict]],
    k: int,
    *,
    budget: Budget | None = None,
    watch: Callable[[Event], None] | None = None,
    by_heads: bool = False,
    decoder: Decoder | None = None,
    **which: Any,
) -> list[Solution]:
    """Return the k trees of highest weight that keep rules: see `solve`.

    Parameters
    ----------
    scores, k, budget, watch, by_heads, decoder
        As in `solve`.
    conflicts, **which
        As in `Constraints`: `conflicts` is one function.
    """
    how: Any = {"budget": budget, "watch": watch, "by_heads": by_heads, "decoder": decoder}
    return solve(scores, Constraints(conflicts=(conflicts,), **which), k, **how)


def _copying(
    function: Callable[..., Any], give_back: Callable[[NDArray[Any]], Any], *, labeled: bool
) -> Callable[..., Any]:
    """Return a function that gets copies of trees, of the type of the user's scores."""

    def conflicts(heads: Heads, labels: Heads) -> Any:
        tree = [heads.copy(), labels.copy()] if labeled else [heads.copy()]
        return function(*map(give_back, tree))

    return conflicts


def _joined(functions: list[Callable[..., Any]]) -> Callable[[Heads, Heads], Sequence[AnyConflict]]:
    """Return one function that returns the conflicts of several functions."""
    if len(functions) == 1:
        return functions[0]
    return lambda heads, labels: [
        conflict for function in functions for conflict in function(heads, labels)
    ]


def _by_kernels(
    scores: NDArray[Any], wanted: Constraints, k: int, budget: Budget, *, by_heads: bool
) -> list[Solution]:
    """Return the best trees by kernels, if a mask of the scores is enough."""
    which: Any = {"root": wanted.root, "projective": wanted.projective}
    masked = wanted.masked(scores) if wanted.forbid or wanted.require else scores
    words, size = np.arange(1, len(scores)), len(scores)
    budget.spend(work_of(size, projective=wanted.projective))
    labels: Any
    if k > 1 and scores.ndim == 3 and not by_heads:
        heads, labels, weights, _ = kbest_labeled(masked, k, **which)
    else:
        edges = masked if scores.ndim == 2 else best_labels(masked, 1)
        if k > 1:
            heads, weights, _ = kbest(edges, k, **which)
        else:
            heads = decode(edges, **which)[np.newaxis]
            weights = np.array([rounded_sum(edges[heads[0, 1:], words].tolist())])
        labels = np.zeros_like(heads)
        labels[:, 0] = -1
        if scores.ndim == 3:
            labels[:, 1:] = masked[heads[:, 1:], words].argmax(axis=-1)
    return [
        Solution(tree, of_tree, weight, weight, True, number)
        for number, (tree, of_tree, weight) in enumerate(
            zip(heads, labels, weights.tolist(), strict=True), 1
        )
    ]


def _contradiction(
    error: NoTreeError, wanted: Constraints, solve_for: Callable[[Constraints], Any]
) -> NoTreeError:
    """Return an error that names as few constraints as possible that contradict each other."""
    # A deletion filter leaves each constraint out in turn, for good if there is still no tree.
    try:
        if len(wanted.parts()) < 2 or not _has_tree(wanted.bare(), solve_for):
            return error
        for name, free in ("root", "multi"), ("projective", False):
            option: Any = {name: free}
            looser = replace(wanted, **option)
            if getattr(wanted, name) != free and not _has_tree(looser, solve_for):
                wanted = looser
        bare, kept = wanted.bare(), wanted.parts()
        for part in list(kept):
            others = [other for other in kept if other is not part]
            if not _has_tree(reduce(and_, others, bare), solve_for):
                kept = others
    except StoppedError:
        return NoTreeError(
            f"{error} (not proved within the budget: which of these contradict each other)"
        )
    said = reduce(and_, kept, bare)
    return NoTreeError(f"no tree keeps all of this (each is needed for the contradiction): {said}")


def _has_tree(wanted: Constraints, solve_for: Callable[[Constraints], Any]) -> bool:
    """Tell whether a tree keeps constraints."""
    try:
        solve_for(wanted)
    except NoTreeError:
        return False
    return True
