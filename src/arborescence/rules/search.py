"""The best tree that keeps rules, with a certificate: branch and bound on conflicts, best first.

Riedel and Clarke (2006, *Incremental Integer Linear Programming for Non-projective Dependency
Parsing*) add the constraints that a tree breaks, one after the other; Martins, Smith and Xing
(2009, *Concise Integer Linear Programming Formulations for Dependency Parsing*) give them all at
once. Here the relaxed problem is an exact decoder, and a conflict is branched on (Land and Doig
1960). Where many conflicts each cost a little, Lagrange multipliers add up their costs.
"""

from __future__ import annotations

from functools import lru_cache, partial
from heapq import heappop, heappush
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.accumulator import BIAS_64, rounded_whole, whole_number
from arborescence.core.checks import check_count, check_flag, check_root
from arborescence.core.conversion import as_array, as_doubles, as_floats
from arborescence.errors import NoTreeError, OptionError, ScoresError
from arborescence.inference.decode import best_labels, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root

    Heads = NDArray[np.int64]
    #: Alternatives, of which every tree that keeps the rules takes at least one.
    Conflict = Sequence["Alternative"]
    #: One number, several, or None for all.
    Which = int | Sequence[int] | NDArray[np.int64] | None
    #: The heads, dependents and labels of edges.
    Axes = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    #: Edges that are absent (False), or of which one enters each of their dependents (True).
    Ban = tuple[bool, Axes]
    #: An alternative: all of these.
    Way = tuple[Ban, ...]
    #: A tree (None: not found), what it weighs beyond its scores, and how much more others may.
    Decoded = tuple[Heads | None, float, float]

#: So many nodes are branched on before the bounds of nodes are tightened by multipliers.
_PATIENCE: Final = 12
#: So many decodes tighten the bound of all trees, and that of a part of them.
_STEPS_AT_FIRST: Final = 60
_STEPS: Final = 8
#: Of more alternatives, those that require edges are decoded only when no other part has a higher
#: bound. As a cut, they are weak, and long.
_MANY: Final = 8
#: After so many, a tree that keeps the rules is looked for: the better it is, the more is pruned.
_REPAIRS: Final = (16, 64, 256)
#: So many times are edges charged to find a tree without conflicts; more often if none is known,
#: among projective trees.
_ROUNDS: Final = (10, 100)
#: Sums of larger scores might overflow.
_LARGEST: Final = 1e100


class Edges(NamedTuple):
    """A set of edges: from any of these heads, into any of these words, with any of these labels.

    Each entry is a number, several numbers, or None for all. Head 0 is the root.

    Examples
    --------
    >>> Edges(2, 7), Edges(None, 7, labels=[0, 3])
    (Edges(heads=2, dependents=7, labels=None), Edges(heads=None, dependents=7, labels=[0, 3]))
    """

    heads: Which = None
    dependents: Which = None
    labels: Which = None


class Alternative(NamedTuple):
    """One of the ways out of a conflict.

    A tree takes it if it has none of the edges in `forbid`, and the edge into each dependent of
    `require` is one of those.

    Examples
    --------
    >>> Alternative(forbid=[Edges(2, 7)])
    Alternative(forbid=[Edges(heads=2, dependents=7, labels=None)], require=())
    """

    forbid: Sequence[Edges] = ()
    require: Sequence[Edges] = ()


class ConstrainedTree(NamedTuple):
    """A tree that keeps the rules, and what is known about how good it is.

    Attributes
    ----------
    heads : (n + 1,) int64
        The head vector.
    labels : (n + 1,) int64, or None
        The labels of the edges, if the scores are labeled; -1 for the root.
    weight : float
        The exact sum of its scores, rounded once.
    bound : float
        No tree that keeps the rules (and is not among those before) has a higher weight.
    certified : bool
        Whether no other such tree has a higher weight. Without rounding: if it is false, `bound`
        may still be equal to `weight`.
    nodes : int
        The number of trees decoded until it was known.
    """

    heads: Any
    labels: Any
    weight: float
    bound: float
    certified: bool
    nodes: int


class Part(NamedTuple):
    """A part of all trees, those that its bans leave, and the best of them.

    If it is `later`, it is not decoded yet, and its heads and labels have no meaning.
    """

    bound: int
    heads: Heads
    labels: Heads
    bans: Way
    prices: NDArray[np.float64]
    tight: bool = False
    beyond: float = 0.0
    later: bool = False


class Event(NamedTuple):
    """What a search has just done with a part of all trees.

    Attributes
    ----------
    kind : str
        ``"first-tree"``: all trees, to begin with. ``"conflict"``: the part was divided.
        ``"repair"``: the
        best one when edges of conflicts are charged. ``"keeps-rules"``: a tree does. ``"again"``:
        the part was decoded again. ``"later"``: for the first time. ``"multipliers"`` have lowered
        its bound. ``"everywhere"``: bans of all parts. ``"tree"``: the result, or ``"limit"`` if it
        is not certified.
    part : Part
    below : list of (bans, Part or None)
        What came of it, None where there is no tree. Of ``"everywhere"`` the bans only.
    waiting : list of Part
        The other parts on the heap.
    nodes : int
        The number of trees decoded so far.
    """

    kind: str
    part: Part
    below: list[tuple[Way, Part | None]]
    waiting: list[Part]
    nodes: int


def decode_constrained(
    scores: Any,
    conflicts: Callable[..., Sequence[Conflict]],
    *,
    root: Root = "single",
    projective: bool = False,
    forbid: Iterable[Edges] = (),
    require: Iterable[Edges] = (),
    limit: int = 5000,
) -> ConstrainedTree:
    """Return the tree of highest weight that keeps rules, exactly, with a certificate.

    Rules are given as a function that finds what is wrong with a tree. The best tree of all is
    decoded first. If it breaks a rule, each way out of the conflict is a smaller problem of the
    same kind, with some edges forbidden or required, and its best tree bounds all below it.

    Parameters
    ----------
    scores : (N, N) or (N, N, L) array or torch tensor
        As in `decode` or `decode_labeled`.
    conflicts : callable
        Called as ``conflicts(heads)``, or ``conflicts(heads, labels)`` for labeled scores. Returns
        the conflicts of this tree: none if it keeps the rules. A conflict is a list of
        `Alternative`: every tree that keeps the rules, not only one like this, takes at least one
        of them, and this tree takes none.
    root, projective
        As in `decode`.
    forbid, require : iterables of `Edges`
        Edges that no tree may have; and edges of which one must enter each of their dependents.
    limit : int
        The largest number of trees to decode. After it, the best tree found so far is returned,
        and ``certified`` is false.

    Returns
    -------
    ConstrainedTree
        ``heads``, ``labels``, ``weight``, ``bound``, ``certified`` and ``nodes``.

    Raises
    ------
    NoTreeError
        If no tree keeps the rules, or none was found within the limit (the message says which).
    ScoresError
        As in `decode`.
    OptionError
        If an option is invalid, or a tree takes an alternative of its own conflict.

    Notes
    -----
    O(n²) for each tree decoded (projective: O(n³)), O(L n²) for its labels, and a call of
    `conflicts`. How many trees are decoded depends on the scores and the rules: where most trees
    that a parser finds keep them, little more than one. `decode_where` needs only a predicate, and
    tries the trees one by one, which is faster if one of the first few will do: after that, each
    conflict excludes many trees at once.

    Examples
    --------
    At most one subject (label 0) for the verb, word 2:

    >>> import numpy as np
    >>> import arborescence as arb
    >>> from arborescence.rules import Alternative, Edges
    >>> scores = np.zeros((4, 4, 2))
    >>> scores[2, 1], scores[2, 3], scores[0, 2] = [3.0, 1.0], [4.0, 3.0], [5.0, 0.0]
    >>> arb.decode_labeled(scores)
    (array([-1,  2,  0,  2]), array([-1,  0,  0,  0]))
    >>> def conflicts(heads, labels):
    ...     subjects = np.flatnonzero((heads == 2) & (labels == 0))
    ...     if len(subjects) < 2:
    ...         return []
    ...     return [[Alternative(forbid=[Edges(2, d, 0)]) for d in subjects]]
    >>> tree = arb.decode_constrained(scores, conflicts)
    >>> tree.heads, tree.labels, tree.weight, tree.certified
    (array([-1,  2,  0,  2]), array([-1,  0,  0,  1]), 11.0, True)
    """
    [tree] = kbest_constrained(
        scores,
        conflicts,
        1,
        root=root,
        projective=projective,
        forbid=forbid,
        require=require,
        limit=limit,
    )
    return tree


def kbest_constrained(
    scores: Any,
    conflicts: Callable[..., Sequence[Conflict]],
    k: int,
    *,
    root: Root = "single",
    projective: bool = False,
    forbid: Iterable[Edges] = (),
    require: Iterable[Edges] = (),
    limit: int = 5000,
    watch: Callable[[Event], None] | None = None,
    by_heads: bool = False,
    decoder: Callable[[NDArray[np.float64]], Decoded] | None = None,
) -> list[ConstrainedTree]:
    """Return the k trees of highest weight that keep rules, best first, with certificates.

    Other parameters, and errors, are those of `decode_constrained`.

    Parameters
    ----------
    k : int
        The number of trees.
    watch : callable, optional
        Called with each `Event` of the search, for a report of what it does.
    by_heads
        Whether no two trees have the same heads: of trees that differ in their labels only, the
        best one counts.
    decoder : callable, optional
        What finds trees instead of `decode`, where trees weigh more than the sum of these scores: a
        function of scores (N, N) that returns the head vector of the best tree, what that weighs
        beyond its scores, and how much more another tree may weigh: 0, if it is the best. None
        instead of heads if none was found: then the last number is a bound of all trees. Raises
        NoTreeError if there is none.

    Returns
    -------
    list of ConstrainedTree
        k of them, or all if fewer exist. After the limit, those found so far, but at least one;
        what is certified comes before what is not.

    Examples
    --------
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> [tree.heads.tolist() for tree in arb.kbest_constrained(scores, lambda heads: [], k=5)]
    [[-1, 0, 1], [-1, 2, 0]]
    """
    k, limit = check_count(k), check_count(limit, "limit")
    check_root(root)
    array, give_back = as_array(scores, absent=-np.inf)
    if array.dtype not in (np.float32, np.float64):
        array = as_floats(array)
    labeled = array.ndim == 3
    if array.ndim not in (2, 3) or len(set(array.shape[:2])) > 1 or 0 in array.shape:
        raise ScoresError(
            "scores must be those of one sentence, (N, N) or (N, N, L) with N = words + 1 and "
            f"L > 0, not {array.shape}"
        )

    def rules(heads: Heads, labels: Heads) -> Sequence[Conflict]:
        tree = [heads.copy(), labels.copy()] if labeled else [heads.copy()]
        return conflicts(*map(give_back, tree)) if give_back else conflicts(*tree)

    search = _Search(
        as_doubles(array if labeled else array[..., None]),
        rules,
        decoder,
        {"root": root, "projective": check_flag(projective)},
    )
    search.ban_everywhere([(False, search.axes(edges)) for edges in forbid])
    search.ban_everywhere([(True, search.axes(edges)) for edges in require])
    search.watch = watch
    as_given = give_back or (lambda vector: vector)
    return [
        tree._replace(heads=as_given(tree.heads), labels=as_given(tree.labels) if labeled else None)
        for tree in search.run(k, limit, by_heads=by_heads)
    ]


class _Search:
    """The search in one sentence. Weights are whole numbers, so that nothing is rounded."""

    def __init__(
        self,
        scores: NDArray[np.float64],
        rules: Callable[[Heads, Heads], Sequence[Conflict]],
        decoder: Callable[[NDArray[np.float64]], Decoded] | None,
        options: Any,
    ) -> None:
        self.scores = scores
        self.rules = rules
        self.sums_up = decoder is None  # whether the weight of a tree is the sum of its scores
        self.decoder = decoder or (lambda best: (decode(best, **options), 0.0, 0.0))
        self.options = options
        self.words = np.arange(1, len(scores))
        self.everywhere = np.arange(len(scores))[:, None]
        self.whole_number = lru_cache(None)(partial(whole_number, bias=BIAS_64))
        self.nodes = 0
        self.watch: Callable[[Event], None] | None = None
        # Entries are (-bound, 0 for a tree that keeps the rules and 1 for others, number, node).
        self.heap: list[tuple[int, int, int, Part]] = []
        self.numbers = count()
        self.known: int | None = None  # the highest weight of a tree that keeps the rules
        self.cuts = _Cuts(scores.shape)
        self.best = best_labels(scores, 1)
        decode(self.best, **options)  # complains about scores, and where there is no tree
        self.lost: int | None = None  # a bound of trees that were left out and may keep the rules

    def run(self, k: int, limit: int, *, by_heads: bool) -> list[ConstrainedTree]:
        """Return the k best trees that keep the rules; see `kbest_constrained`."""
        self.by_heads = by_heads
        first = self.decoded((), np.empty(0))
        if first is None:
            raise NoTreeError("no tree has the required edges and none of the forbidden ones")
        self.tell("first-tree", first, [])
        self.push(first)
        found: list[ConstrainedTree] = []
        seen: set[tuple[bytes, bytes]] = set()
        branched = 0
        while self.heap and len(found) < k and (self.nodes < limit or self.heap[0][1] == 0):
            _, kind, _, node = heappop(self.heap)
            if kind == 0:
                tree = node.heads.tobytes(), b"" if by_heads else node.labels.tobytes()
                if tree not in seen:
                    found.append(self.result(node, node.bound))
                seen.add(tree)
            elif branched >= _PATIENCE and not (node.tight or node.later):
                self.tighten(node)
            else:
                branched += 1
                if branched in _REPAIRS:
                    self.repair(first if branched == _REPAIRS[0] else node)
                self.branch(node, split=k > 1)
        if not found and self.heap:
            if self.known is None:
                self.repair(first)
            found = self.uncertified(limit)
        if not found:
            raise NoTreeError("no tree keeps the rules: loosen them, or let more edges be present")
        return found

    def uncertified(self, limit: int) -> list[ConstrainedTree]:
        """Return the best tree known to keep the rules, after the limit; search for one if need be.

        The deepest node has the fewest conflicts left.
        """
        end = self.nodes + limit
        while self.known is None and self.heap:
            if self.nodes >= end:
                raise NoTreeError(
                    f"none of the {self.nodes} trees tried keeps the rules, and there are more: "
                    "raise limit, or loosen the rules"
                )
            deepest = max(self.heap, key=lambda entry: (len(entry[3].bans), -entry[0]))
            self.heap.remove(deepest)
            self.branch(deepest[3], dive=True, split=False)
        answers = [entry for entry in self.heap if entry[1] == 0]
        if not answers:
            return []
        return [self.result(min(answers)[3], -min(self.heap)[0])]

    def result(self, node: Part, bound: int) -> ConstrainedTree:
        """Return the tree of a node, whose bound is its weight, as a result."""
        bound = bound if self.lost is None else max(bound, self.lost)
        weight, bound_ = rounded_whole(node.bound, BIAS_64), rounded_whole(bound, BIAS_64)
        certified = bound == node.bound
        self.tell("tree" if certified else "limit", node, [])
        return ConstrainedTree(node.heads, node.labels, weight, bound_, certified, self.nodes)

    def tell(self, kind: str, part: Part, below: list[tuple[Way, Part | None]]) -> None:
        """Report what was done to whoever watches."""
        if self.watch is not None:
            waiting = [entry[3] for entry in self.heap]
            self.watch(Event(kind, part, below, waiting, self.nodes))

    def push(self, node: Part) -> None:
        """Put a node on the heap."""
        heappush(self.heap, (-node.bound, 1, next(self.numbers), node))

    def push_answer(self, node: Part) -> None:
        """Put the tree of a node on the heap: it keeps the rules."""
        weight = self.weight(node)
        answer = node._replace(bound=weight)
        self.tell("keeps-rules", node, [(node.bans, answer)])
        heappush(self.heap, (-weight, 0, next(self.numbers), answer))
        self.known = weight if self.known is None else max(self.known, weight)

    def branch(self, node: Part, *, split: bool, dive: bool = False) -> None:
        """Push the parts of a node on the heap; if `dive`, divide the best of them in turn."""
        going: Part | None = node
        while going is not None:
            below = self.parts(going, split)
            going = max(below, key=lambda part: part.bound) if dive and below else None
            for part in below:
                if part is not going:
                    self.push(part)

    def repair(self, node: Part) -> None:
        """Look for a tree of a node that keeps the rules, not for the best: push it as an answer.

        Of each conflict of its tree, the edges against the alternative that seems cheapest are
        charged, of all conflicts at once, and so on with the best tree that is left. Where edges
        cross, much of what rules say of that is broken again and again: so the second try is made
        among projective trees.
        """
        masked = np.where(self.left(node.bans)[1], self.scores, -np.inf)
        masked /= np.abs(masked, where=masked > -np.inf, out=np.ones_like(masked)).max()
        for projective in dict.fromkeys((self.options["projective"], True)):
            charged = masked.copy()
            for _ in range(_ROUNDS[projective and self.known is None]):
                self.nodes += 1
                try:
                    heads = decode(
                        best_labels(charged, 1), root=self.options["root"], projective=projective
                    )
                except NoTreeError:
                    break
                labels = np.concatenate([[-1], charged[heads[1:], self.words].argmax(axis=-1)])
                tree = node._replace(heads=heads, labels=labels, later=False)
                found = self.conflicts_of(tree)
                self.tell("repair", node, [(node.bans, tree)])
                if not found:
                    self.push_repaired(tree)
                    return
                _charge(charged, tree, found)

    def push_repaired(self, tree: Part) -> None:
        """Push a tree that keeps the rules."""
        if not self.sums_up:
            bans = ((True, axes) for axes in map(self.axes, _edges(tree)))
            found = self.decoded(tuple(bans), tree.prices)
            if found is None:
                return
            tree = found._replace(bans=tree.bans)
        self.push_answer(tree)

    def parts(self, node: Part, split: bool) -> list[Part]:
        """Divide a node by a conflict of its tree.

        If the tree keeps the rules, it is pushed as an answer; if `split`, the other trees of the
        node are divided by the edge that they lack. Parts have no tree in common where the
        alternatives before a part can be excluded.
        """
        if node.later or self.is_outdated(node):
            again = self.decoded(node.bans, node.prices, node.bound)
            self.tell("later" if node.later else "again", node, [(node.bans, again)])
            return [] if again is None else [again]
        found = self.conflicts_of(node)
        if found:
            if self.is_outdated(node):
                return self.parts(node, split)
            ways = min(found, key=len)
        else:
            self.push_answer(node)
            if not split and node.bound > self.weight(node):
                self.lose(node.bound)
            labels = [None] * len(self.words) if self.by_heads else node.labels[1:].tolist()
            tree = zip(node.heads[1:].tolist(), self.words.tolist(), labels, strict=True)
            ways = [((False, self.axes(Edges(*edge))),) for edge in tree] if split else []
        below: list[tuple[Way, Part | None]] = []
        bans = node.bans
        bound_of = self.bounds(node) if found and len(ways) > _MANY and self.sums_up else None
        for way in sorted(ways, key=lambda way: not _can_be_excluded(way)):
            part = None
            if bound_of is None or not any(required for required, _ in way):
                part = self.decoded(bans + way, node.prices, node.bound)
            elif (bound := bound_of(way)) is not None:
                part = node._replace(bound=bound, bans=bans + way, tight=False, later=True)
            below.append((bans + way, part))
            if _can_be_excluded(way):
                [(required, axes)] = way
                bans = (*bans, (not required, axes))
        if found or ways:
            self.tell("conflict", node, below)
        return [part for _, part in below if part is not None]

    def bounds(self, node: Part) -> Callable[[Way], int | None]:
        """Return a function: a bound of the trees of a node that take an alternative; None: none.

        They have one edge into each word, and weigh no more than the best of these edges together.
        """
        left = np.where(self.left(node.bans)[1], self.scores, -np.inf)
        best: list[float] = left.max(axis=(0, 2)).tolist()
        most = sum(map(self.whole_number, best[1:]))

        def bound_of(way: Way) -> int | None:
            less = 0
            for required, (heads, words, labels) in way:
                inside = left[np.ix_(heads, words, labels)].max(axis=(0, 2)) if required else ()
                for word, score in zip(words.tolist(), inside, strict=False):
                    if score == -np.inf:
                        return None
                    less = max(
                        less, self.whole_number(best[word]) - self.whole_number(float(score))
                    )
            return min(node.bound, most - less)

        return bound_of

    def is_outdated(self, node: Part) -> bool:
        """Tell whether the tree of a node has edges that were banned from all nodes since."""
        scores = self.scores[node.heads[1:], self.words, node.labels[1:]]
        return bool((scores == -np.inf).any())

    def conflicts_of(self, node: Part) -> list[list[Way]]:
        """Return the conflicts of the tree of a node; ban everywhere what leaves one way out."""
        found = []
        for conflict in self.rules(node.heads, node.labels):
            ways = [
                (
                    *((False, self.axes(edges)) for edges in alternative.forbid),
                    *((True, self.axes(edges)) for edges in alternative.require),
                )
                for alternative in conflict
            ]
            for number, way in enumerate(ways):
                if not any(_against(ban, node).any() for ban in way):
                    raise OptionError(
                        "conflicts(...) returned a conflict of which the tree takes the "
                        f"alternative {number}: {conflict[number]}"
                    )
            found.append(ways)
        sure = [ban for ways in found if len(ways) == 1 for ban in ways[0]]
        if sure:
            self.ban_everywhere(sure)
            self.tell("everywhere", node, [((ban,), None) for ban in sure])
        return found

    def axes(self, edges: Edges) -> Axes:
        """Return the heads, dependents and labels of edges, each as an array."""
        size, _, labels = self.scores.shape
        heads, dependents, of_labels = Edges(*edges)
        return (
            _axis("heads", heads, 0, size),
            _axis("dependents", dependents, 1, size),
            _axis("labels", of_labels, 0, labels),
        )

    def ban_everywhere(self, bans: Iterable[Ban]) -> None:
        """Take edges out of all nodes, from now on."""
        for ban in bans:
            _ban(self.scores, ban, -np.inf)
            words = ban[1][1]
            self.best[:, words] = best_labels(self.scores[:, words], 1)

    def left(self, bans: Way) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the best score of each edge (N, N), and which labels are left (N, N, L)."""
        left = np.ones(self.scores.shape, np.bool_)
        best, changed = self.best.copy(), np.zeros(self.best.shape, np.bool_)
        for required, axes in bans:
            _ban(left, (required, axes), False)
            changed[self.everywhere if required else axes[0][:, None], axes[1]] = True
        best[changed] = np.where(left[changed], self.scores[changed], -np.inf).max(axis=-1)
        return best, left

    def lose(self, bound: int) -> None:
        """Note that trees up to this weight are left out."""
        self.lost = bound if self.lost is None else max(bound, self.lost)

    def heads_of(self, best: NDArray[np.float64]) -> tuple[Heads, float, int] | None:
        """Return the best head vector, what else it weighs, and how much more others may."""
        self.nodes += 1
        try:
            heads, beyond, more = self.decoder(best)
        except NoTreeError:
            return None
        gap = self.whole_number(more)
        if heads is None:
            self.lose(gap)
            return None
        return heads, beyond, gap

    def decoded(
        self, bans: Way, prices: NDArray[np.float64], bound: int | None = None
    ) -> Part | None:
        """Return the node of these bans, within a larger one with this bound; None if empty."""
        best, left = self.left(bans)
        found = self.heads_of(best)
        if found is None:
            return None
        heads, beyond, gap = found
        edges = heads[1:], self.words
        labels = np.where(left[edges], self.scores[edges], -np.inf).argmax(axis=-1)
        node = Part(0, heads, np.concatenate([[-1], labels]), bans, prices, beyond=beyond)
        weight = self.weight(node) + gap
        return node._replace(bound=weight if bound is None else min(weight, bound))

    def weight(self, node: Part) -> int:
        """Return the weight of the tree of a node."""
        scores = self.scores[node.heads[1:], self.words, node.labels[1:]].tolist()
        return sum(map(self.whole_number, scores), self.whole_number(node.beyond))

    def tighten(self, node: Part) -> None:
        """Lower the bound of a node by Lagrange multipliers, and push it again.

        A cut says that a tree has at most so many of some edges. Each has a price. For any prices,
        a tree within the cuts weighs no more than the best tree when edges are charged, plus what
        the cuts allow, at these prices. Prices rise where the best tree breaks a cut, and fall
        where it has room (subgradient steps of Polyak's length).
        """
        masked = np.where(self.left(node.bans)[1], self.scores, -np.inf)
        largest = float(np.abs(masked[np.isfinite(masked)]).max(initial=0.0))
        target = None if self.known is None else rounded_whole(self.known, BIAS_64)
        cuts, prices, kept, lowest, stride = self.cuts, node.prices, node.prices, np.inf, 1.0
        steps = _STEPS if node.bans else _STEPS_AT_FIRST
        for _ in range(steps if largest < _LARGEST and self.sums_up else 0):
            prices = cuts.padded(prices)
            charged = masked - cuts.charges(prices)
            best = best_labels(charged, 1)
            tree_of_charged = self.heads_of(best)
            if tree_of_charged is None:
                return
            heads = tree_of_charged[0]
            edges = heads[1:], self.words
            labels = np.concatenate([[-1], charged[edges].argmax(axis=-1)])
            # The rounding of sums of so many numbers of this size is less.
            rounding = 2.0**-50 * (len(heads) + len(prices)) * len(heads) * (largest + prices.sum())
            bound = float(best[edges].sum() + prices @ cuts.most + rounding)
            if bound < lowest:
                lowest, kept = bound, prices
            else:
                stride *= 0.8
            if target is not None and lowest <= target:
                break
            tree = node._replace(heads=heads, labels=labels)
            conflicts = self.conflicts_of(tree)
            if self.is_outdated(tree):
                break
            if conflicts:
                cuts.add([ways for ways in conflicts if len(ways) <= _MANY], tree)
            else:
                self.push_answer(tree)
            prices = cuts.padded(prices)
            over = cuts.counts(tree) - cuts.most
            length = float((over[(prices > 0) | (over > 0)] ** 2).sum())
            if not length:
                break
            gap = bound - (lowest - 1.0 if target is None else target)
            prices = np.maximum(0.0, prices + stride * gap / length * over)
        tight = node._replace(tight=True)
        if lowest < np.inf:
            tight = tight._replace(
                bound=min(node.bound, whole_number(lowest, BIAS_64)), prices=kept
            )
        self.tell("multipliers", node, [(node.bans, tight)])
        self.push(tight)


class _Cuts:
    """Inequalities of conflicts: of these edges, a tree that keeps the rules has at most so many.

    A tree that takes none of m alternatives has, for each of them, an edge into some word that is
    against it. So of the m sets of such edges, each into one word, a tree has edges of m - 1.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.seen: set[bytes] = set()
        self.flat = self.of = np.empty(0, np.int64)  # edges (as one number each), and their cuts
        self.most = np.empty(0)

    def add(self, conflicts: list[list[Way]], tree: Part) -> None:
        """Add the cuts of the conflicts of a tree."""
        for ways in conflicts:
            sets = [self.edges_against(way, tree) for way in ways]
            flat = np.concatenate(sets)
            if flat.tobytes() not in self.seen:
                self.seen.add(flat.tobytes())
                self.flat = np.concatenate([self.flat, flat])
                self.of = np.concatenate([self.of, np.full(len(flat), len(self.most))])
                self.most = np.append(self.most, len(sets) - 1.0)

    def edges_against(self, way: Way, tree: Part) -> NDArray[np.int64]:
        """Return edges into one word that are against an alternative, that of the tree too."""
        ban = next(ban for ban in way if _against(ban, tree).any())
        required, (heads, _, labels) = ban
        word = 1 + int(np.argmax(_against(ban, tree)))
        index = np.ix_(heads, np.array([word]), labels)
        against = np.zeros(self.shape, np.bool_)
        against[:, word] = required
        against[index] = not required
        return np.flatnonzero(against)

    def padded(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return prices of all cuts: 0 for those that are new."""
        return np.concatenate([prices, np.zeros(len(self.most) - len(prices))])

    def charges(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each edge is charged, (N, N, L)."""
        size = int(np.prod(self.shape))
        of_edges = np.bincount(self.flat, prices[self.of], minlength=size).astype(np.float64)
        return of_edges.reshape(self.shape)

    def counts(self, tree: Part) -> NDArray[np.float64]:
        """Return how many edges of each cut a tree has."""
        words = np.arange(1, len(tree.heads))
        flat = np.ravel_multi_index((tree.heads[1:], words, tree.labels[1:]), self.shape)
        has = np.isin(self.flat, flat)
        return np.bincount(self.of[has], minlength=len(self.most)).astype(np.float64)


def _axis(name: str, which: Which, first: int, size: int) -> NDArray[np.int64]:
    """Return an entry of `Edges` as an array."""
    if which is None:
        return np.arange(first, size)
    axis = np.atleast_1d(np.asarray(which))
    if axis.ndim > 1 or axis.dtype.kind not in "iu" or ((axis < first) | (axis >= size)).any():
        raise OptionError(
            f"{name} of edges must be whole numbers of {first} to {size - 1}, or None for all, "
            f"not {which!r}"
        )
    return axis


def _ban(array: NDArray[Any], ban: Ban, absent: Any) -> None:
    """Overwrite the banned edges of an array (N, N, L)."""
    required, axes = ban
    index = axes[0][:, None, None], axes[1][:, None], axes[2]
    if required:
        kept = array[index]
        array[:, axes[1]] = absent
        array[index] = kept
    else:
        array[index] = absent


def _against(ban: Ban, node: Part) -> NDArray[np.bool_]:
    """Tell of each word whether the edge into it is banned."""
    required, (heads, dependents, labels) = ban
    against = np.zeros(len(node.heads), np.bool_)
    inside = (node.heads[dependents, None] == heads).any(axis=1)
    inside &= (node.labels[dependents, None] == labels).any(axis=1)
    against[dependents] = inside != required
    return against[1:]


def _edges(tree: Part) -> list[Edges]:
    """Return the edges of a tree."""
    heads, labels = tree.heads.tolist(), tree.labels.tolist()
    return [Edges(heads[d], d, labels[d]) for d in range(1, len(heads))]


def _charge(charged: NDArray[np.float64], tree: Part, conflicts: list[list[Way]]) -> None:
    """Charge the edges against the cheapest alternative of each conflict.

    Conflicts that are gone with the edges charged for others are left out.
    """
    given_up: set[int] = set()
    for ways in conflicts:
        words = [
            [(1 + np.flatnonzero(_against(ban, tree))).tolist() for ban in way] for way in ways
        ]
        if any(given_up.issuperset(chain.from_iterable(of_way)) for of_way in words):
            continue
        cheapest = int(np.argmin([_cost(charged, tree, way) for way in ways]))
        for ban, of_ban in zip(ways[cheapest], words[cheapest], strict=True):
            required, axes = ban
            if required:
                charged[:, axes[1]] -= 1.0
            charged[np.ix_(*axes)] += 1.0 if required else -1.0
            given_up.update(of_ban)


def _cost(charged: NDArray[np.float64], tree: Part, way: Way) -> float:
    """Return how much less the best edges by an alternative weigh, each into a word by itself.

    Edges from the root are not among them, for only one word can have one.
    """
    cost = 0.0
    for ban in way:
        required, (heads, _, labels) = ban
        for word in (1 + np.flatnonzero(_against(ban, tree))).tolist():
            left = np.full(charged[:, word].shape, not required)
            left[np.ix_(heads, labels)] = required
            left[0] &= tree.heads[word] == 0
            best = charged[:, word].max(where=left, initial=-np.inf)
            cost += float(charged[tree.heads[word], word, tree.labels[word]] - best)
    return cost


def _can_be_excluded(way: Way) -> bool:
    """Tell whether the trees that do not take an alternative are those of one ban."""
    return len(way) == 1 and len(way[0][1][1]) == 1
