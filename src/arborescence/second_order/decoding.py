"""The best second-order tree, and a bound on the weight of all trees.

`projective` or `dual` finds the tree, on whole numbers (`units`), after `parts` has removed the
parts that no best tree has.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.core.accumulator import SCALE, rounded_sum
from arborescence.core.checks import check_count, check_flag, check_root, mask_is_lengths
from arborescence.core.faults import NO_TREE, name_of, no_answer
from arborescence.core.graph import in_threads
from arborescence.errors import NoTreeError, ScoresError
from arborescence.inference.decode import decode as decode_edges
from arborescence.second_order.dual import Answer, DualProblem, DualSearch, first_prices, solve
from arborescence.second_order.edges import Listed
from arborescence.second_order.parts import (
    Parts,
    PartsBatch,
    ceilings_of,
    remove_hopeless,
    weights_in,
)
from arborescence.second_order.projective import best_projective
from arborescence.second_order.units import ABSENT, LOWEST, Scale, Units, bits_for, list_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.errors import ArborescenceError

# A known tree removes large weights. If sums then need this many bits less, the search is repeated.
_BITS = 3


class Decoding(NamedTuple):
    """The result of `decode`; arrays for a batch.

    Attributes
    ----------
    heads : (..., N) int64
        The tree; -1 for the root and for padding.
    weight : float, or (...) float64
        The weight of the tree: the exact sum of its parts, rounded once.
    bound : float, or (...) float64
        No tree weighs more. Equal to `weight` if the tree is exact.
    exact : bool, or (...) bool
        Whether it is proven that no tree weighs more.
    rounds : int, or (...) int64
        The rounds of dual decomposition; 0 for projective trees.
    """

    heads: Any
    weight: Any
    bound: Any
    exact: Any
    rounds: Any


class SecondOrderOptions(NamedTuple):
    """The options of a search, in the types of the kernels."""

    #: whether exactly one edge leaves the root
    single: bool
    #: whether edges may not cross
    projective: bool
    #: the largest number of rounds for each problem
    rounds: int
    #: the largest number of branchings
    branches: int


@mask_is_lengths
def decode(
    scores: Any,
    siblings: Any = None,
    grandparents: Any = None,
    lengths: Any = None,
    *,
    root: Root = "single",
    projective: bool = False,
    rounds: int = 200,
    branches: int = 0,
    threads: int = 1,
) -> Decoding:
    """Return the tree with the highest sum over edges, siblings and grandparents, and a bound.

    Dynamic programming finds projective trees: O(n³) with siblings (McDonald and Pereira 2006),
    O(n⁴) with grandparents (Koo and Collins 2010). For trees of any kind, the problem is NP-hard.
    Dual decomposition (Koo et al. 2010) solves most of the problems of trained parsers: with m
    edges into each word on average, O(n m²) a round and O(n²) for the tree, with grandparents
    O(n m³).

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        ``scores[..., h, d]``, as in `arborescence.decode`.
    siblings : (..., N, N, N) array or torch tensor, optional
        ``siblings[..., h, d, s]`` is the additional weight of h -> d if s is the next nearer
        modifier of h on the same side; s = h if there is no nearer modifier. ``-inf``: not allowed.
        Parts that no tree has, and parts of absent edges, are ignored.
    grandparents : (..., N, N, N) array or torch tensor, optional
        ``grandparents[..., g, h, d]`` is the additional weight of h -> d if g is the head of h.
    lengths, root, projective, threads
        As in `arborescence.decode`.
    rounds : int
        The largest number of rounds of dual decomposition.
    branches : int
        The largest number of branchings, if the rounds leave a gap: a branching divides a set of
        trees by an edge, and bounds each subset by up to `rounds` rounds. Some hundreds of
        branchings close every gap of short sentences.

    Returns
    -------
    decoding : Decoding
        ``heads``, ``weight``, ``bound``, ``exact`` and ``rounds``. Heads are a torch tensor if
        `scores` is one.

    Raises
    ------
    ScoresError
        If a part is NaN or +inf, or a shape, a type or the lengths are invalid.
    NoTreeError
        If it is proven that every tree has absent parts. If neither a tree nor a proof is found,
        the weight is -inf and ``exact`` is False.
    OptionError
        If an option is invalid.

    Notes
    -----
    ``exact`` is a proof in real arithmetic over the given floats. Parts are rounded to multiples of
    2^-44 of the largest weight that the sentence's trees could have, or finer (2^-40 from 64 words
    on): so whole numbers and most float32 are not rounded. If rounding could change the decision,
    ``exact`` is False. No tree weighs more than `bound`, in each case. If there are several best
    trees, the choice among them is not specified.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0, 5, 4, 0], [0, 0, 3, 1], [0, 2, 0, 3], [0, 0, 4, 0]])
    >>> decode(scores).heads  # second_order.decode
    array([-1,  0,  1,  2])
    >>> siblings = np.zeros((4, 4, 4))
    >>> siblings[2, 3, 2] = siblings[0, 2, 0] = 3.0
    >>> decode(scores, siblings).heads
    array([-1,  2,  0,  2])
    """
    options = SecondOrderOptions(
        check_root(root),
        check_flag(projective),
        check_count(rounds, "rounds"),
        check_count(branches, "branches", 0),
    )
    return _decode_batch(PartsBatch.of(scores, siblings, grandparents, lengths), options, threads)


def _decode_batch(batch: PartsBatch, options: SecondOrderOptions, threads: int) -> Decoding:
    many, size, _ = batch.graph.scores.shape
    heads = np.full((many, size), -1, np.int64)
    weights, bounds = np.empty(many), np.empty(many)
    exact, rounds = np.empty(many, np.bool_), np.empty(many, np.int64)

    def run(start: int, stop: int) -> None:
        for b in range(start, stop):
            result = _decode_sentence(batch, b, options)
            heads[b, : len(result.heads)] = result.heads
            weights[b], bounds[b], exact[b], rounds[b] = result[1:]

    in_threads(run, many, threads)
    shape, trees = batch.graph.shape, batch.graph.given_back(heads)
    if not shape:
        return Decoding(trees, float(weights[0]), float(bounds[0]), bool(exact[0]), int(rounds[0]))
    return Decoding(trees, *(array.reshape(shape) for array in (weights, bounds, exact, rounds)))


def _decode_sentence(batch: PartsBatch, sentence: int, options: SecondOrderOptions) -> Decoding:
    parts = batch.parts(sentence, options.single)
    batch.check(sentence, parts)
    if len(parts.scores) == 1:
        return Decoding(np.array([-1]), 0.0, 0.0, True, 0)
    scale = 1.0 if parts.largest(1.0) < 1e300 else SCALE  # so that no sum of weights overflows
    heads, least, exponent, rounds = None, -np.inf, -np.inf, 0
    while True:
        ceilings = ceilings_of(parts, scale)
        if heads is None:
            heads = _first_tree(batch, sentence, ceilings[0], options)
            least = _weight(parts, heads, scale)
        remove_hopeless(parts, scale, ceilings, least)
        units = Units.of(parts)
        if units.scale.exponent <= exponent + _BITS:
            break
        exponent = units.scale.exponent
        answer, bound, exact = _certified(units, heads, options)
        rounds += answer.rounds
        if answer.bound <= LOWEST:
            raise no_tree(batch, sentence, options.single, projective=options.projective)
        heads = answer.heads
        least = _weight(parts, heads, scale)
        if exact or least == -np.inf:
            break
    weight = least if scale == 1.0 else _weight(parts, heads, 1.0)
    return Decoding(heads, weight, weight if exact else max(bound, weight), exact, rounds)


def _weight(parts: Parts, heads: NDArray[np.int64], scale: float) -> float:
    return rounded_sum((weights_in(parts, heads) * scale).tolist())


def _first_tree(
    batch: PartsBatch, sentence: int, ceilings: NDArray[np.float64], options: SecondOrderOptions
) -> NDArray[np.int64]:
    """Return the tree that would be best if each edge had its best sibling and grandparent."""
    try:
        heads: NDArray[np.int64] = decode_edges(
            ceilings,
            root="single" if options.single else "multi",
            projective=options.projective,
        )
    except NoTreeError:
        raise no_tree(batch, sentence, options.single, projective=options.projective) from None
    return heads


def no_tree(
    batch: PartsBatch, sentence: int, single: bool, *, projective: bool
) -> ArborescenceError:
    """Return the error that explains why a sentence has no tree."""
    scores = batch.parts(sentence, single).scores
    try:
        decode_edges(scores, root="single" if single else "multi", projective=projective)
    except NoTreeError:
        return no_answer(batch.graph, sentence, NO_TREE, single)
    return NoTreeError(
        f"{name_of(batch.graph, sentence)}no tree exists: each tree of the edges has a sibling or "
        "a grandparent that is not allowed"
    )


def _certified(
    units: Units, heads: NDArray[np.int64], options: SecondOrderOptions
) -> tuple[Answer, float, bool]:
    """Search; return the result, a bound in floats, and whether the tree is proven best."""
    scale = units.scale
    answer = _search(units, heads, options)
    exact = LOWEST < answer.weight >= answer.bound - scale.slack
    if exact and scale.rounded:
        # Lower each edge of the tree by more than the possible rounding error of two weights. Trees
        # that lack an edge of the tree lose less. So if the tree is still the best tree, it is the
        # best tree by at least this error.
        words = np.arange(1, len(answer.heads))
        loss = 2 * scale.error + scale.slack + 1
        lowered = units._replace(scores=units.scores.copy())
        lowered.scores[answer.heads[1:], words] -= loss
        weight = answer.weight - loss * len(words)
        again = _search(lowered, answer.heads, options, answer.prices, weight)
        exact = again.bound <= weight + scale.slack
        answer = answer._replace(rounds=answer.rounds + again.rounds)
    return answer, scale.above(answer.bound), exact


def _search(
    units: Units,
    heads: NDArray[np.int64],
    options: SecondOrderOptions,
    prices: NDArray[np.int64] | None = None,
    most: int = -ABSENT,
) -> Answer:
    if options.projective:
        heads, weight = best_projective(units, options.single)
        return Answer(heads, weight, weight, 0, np.empty((2, 0), np.int64))
    listed = Listed.of(units, options.single)
    weights = weights_in(units, heads)
    weight = ABSENT if (weights <= LOWEST).any() else int(weights.sum())
    search = DualSearch(listed, units.scale, options.single, options.rounds, heads, weight, most)
    if prices is None:
        prices = first_prices(listed.scores)
    return search.run(options.branches, search.solve(listed.scores, prices))


def decode_listed(
    listed: Listed, ends: NDArray[np.int64], *, single: bool, rounds: int, branches: int
) -> list[Decoding]:
    """Return the result of `second_order.decode` for each sentence, with the same errors.

    - listed: the parts of all sentences in a row: `Listed`, but with float64 weights. If the
      weights are multiples of a power of two such that sums have at most 40 bits, the search can
      prove trees exact; otherwise no tree is certified.
    - ends: (B + 1, 4): where the nodes, edges, pairs and grandparents of each sentence begin
    - single, rounds, branches: as for `second_order.decode`
    """
    sizes = np.diff(ends[:, 0])
    _, _, scores, pairs, thirds = listed
    listed = Listed(*listed[:2], *(np.empty(len(part), np.int64) for part in listed[2:]))
    of_sentences = np.empty((len(sizes), 3), np.int64)
    bits = np.array([bits_for(size) for size in sizes.tolist()], np.int64)
    units = (listed.scores, listed.pairs, listed.grandparents)
    bad = list_units(ends, bits, scores, pairs, thirds, *units, of_sentences)
    if bad < len(sizes):
        raise ScoresError(f"sentence {bad}: the weight of a part is NaN or infinite")
    scales = [
        Scale.of(size, exponent, bits_set, bool(rounded))
        for size, (exponent, bits_set, rounded) in zip(
            sizes.tolist(), of_sentences.tolist(), strict=True
        )
    ]
    heads = np.full(ends[-1, 0], -1, np.int64)
    prices = first_prices(listed.scores)
    results = np.zeros((len(sizes), 4), np.int64)
    results[:, 0] = ABSENT
    limits = np.array([scale.limits for scale in scales]).reshape(-1, 3)
    solve(ends, listed, single, rounds, limits, -ABSENT, heads, prices, results)
    outputs = []
    for b, (scale, row) in enumerate(zip(scales, results.tolist(), strict=True)):
        weight, bound, branch, rounds_done = row
        tree = heads[ends[b, 0] : ends[b + 1, 0]]
        if bound > weight + scale.slack and branches:
            sentence = _sentence(listed, ends, b)
            problem = DualProblem(
                bound, sentence.scores, prices[:, ends[b, 1] : ends[b + 1, 1]], branch
            )
            search = DualSearch(sentence, scale, single, rounds, tree, weight)
            tree, weight, bound, more, _ = search.run(branches, problem)
            rounds_done += more
        if max(weight, bound) <= LOWEST:
            raise NoTreeError(f"sentence {b}: no tree exists without parts that are not allowed")
        exact = weight >= bound - scale.slack and weight > LOWEST and not scale.rounded
        value = math.ldexp(float(weight), -scale.exponent) if weight > LOWEST else -math.inf
        limit = value if exact else scale.above(max(bound, weight))
        outputs.append(Decoding(tree, value, limit, exact, rounds_done))
    return outputs


def _sentence(listed: Listed, ends: NDArray[np.int64], b: int) -> Listed:
    """Return the parts of a sentence."""
    (node, *starts), (last, *stops) = ends[b : b + 2].tolist()
    places = [slice(2 * node + b, 2 * last + b + 1), slice(starts[0], stops[0])]
    places += [slice(start, stop) for start, stop in zip(starts, stops, strict=True)]
    return Listed(*(array[place] for array, place in zip(listed, places, strict=True)))
