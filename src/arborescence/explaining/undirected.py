"""Undirected parsing step by step (Levi et al. 2016): encode, Borůvka's tree, orient, enhance.

Scores of pairs and gains are floats, as in `undirected.decode`; all other numbers are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from arborescence.explaining import chu_liu_edmonds, root_constraint
from arborescence.explaining.problem import counted, counted_with_verb, edges_of, number
from arborescence.explaining.steps import Detail, Node, Pair, number_name

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Step

    Pairs = dict[Pair, float]
    #: The words of the contracted node that each node is in.
    Parts = dict[int, tuple[int, ...]]


#: The text for `root="single"`.
_LATER = " The root is left out; its edge is chosen later (the paper leaves this open)."
#: The number of rounds in the paper.
ROUNDS = 5
#: The score of an absent edge in gains.
_LOWEST = -1.7976931348623157e308
# As in `undirected.enhance`: a gain that may be due to rounding counts as 0.
_ROUNDING, _TINY = 2.0**-51, 2.0**-1022


@dataclass(frozen=True)
class TreeChange:
    """Above → between → word becomes above → word → between."""

    #: the head of `between`
    above: int
    #: the head of `word`
    between: int
    #: the word
    word: int
    #: the gain; None if an edge is absent
    gain: float | None
    #: whether the change is made
    made: bool


@dataclass(frozen=True)
class Changes(Detail):
    """The changes that a round looks at; at most one change is made."""

    #: the changes
    changes: tuple[TreeChange, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each change; a change that is made has a star."""
        rows = [["", "path", "becomes", "gain"]]
        for change in self.changes:
            t, u, v = (names[x] for x in (change.above, change.between, change.word))
            made = "*" if change.made else ""
            gain = "an edge is absent" if change.gain is None else number_name(change.gain)
            rows.append([made, f"{t} → {u} → {v}", f"{t} → {v} → {u}", gain])
        return rows


def enhance(
    problem: ScoredSentence, heads: list[int | None]
) -> Generator[Step, None, list[int | None]]:
    """Make the best change of edges as long as it has a gain, at most five times."""
    for turn in range(1, ROUNDS + 1):
        changes = changes_of(problem, heads)
        made = [change for change in changes if change.made]
        for change in made:  # one, or none
            heads[change.word], heads[change.between] = change.above, change.word
        weight = None
        if all(edge in problem.scores for edge in edges_of(heads)):
            weight = number(problem.weight(heads))
        text = f"Round {turn} of enhancement, by the directed scores: "
        text += "the best change is made." if made else "no change gains anything."
        yield problem.step(
            "enhance",
            text,
            heads=tuple(heads),
            weight=weight,
            looks_at=tuple(
                cell
                for c in changes
                for cell in (
                    (c.above, c.between),
                    (c.between, c.word),
                    (c.above, c.word),
                    (c.word, c.between),
                )
            ),
            detail=Changes(tuple(changes)),
        )
        if not made:
            break
    return heads


def changes_of(problem: ScoredSentence, heads: Sequence[int | None]) -> list[TreeChange]:
    """Return the changes of a round; the first change with the largest gain is made."""

    def quarter(h: int, d: int) -> float:  # of a score: no difference overflows
        score = problem.scores.get((h, d))
        return 0.25 * (_LOWEST if score is None else float(score))

    gains: dict[int, float] = {}
    changes = []
    for v, u in enumerate(heads):
        if v == 0 or u is None or u <= 0:
            continue
        t = heads[u]
        if t is None:
            raise AssertionError(f"{u} has no head")
        entering = quarter(t, v) - quarter(t, u)
        between = quarter(v, u) - quarter(u, v)
        if entering + between > _ROUNDING * (abs(entering) + abs(between)) + _TINY:
            gains[v] = entering + between
        present = all(edge in problem.scores for edge in ((t, u), (u, v), (t, v), (v, u)))
        gain = 4 * (entering + between) if present else None
        changes.append(TreeChange(t, u, v, gain, made=False))

    best = max(gains, key=lambda v: (gains[v], -v), default=None)
    return [replace(c, made=c.word == best) for c in changes]


#: The score of an absent edge in the choice of the root word.
_ABSENT = -(Fraction(2) ** 1024)


@dataclass(frozen=True)
class Link:
    """An undirected edge."""

    #: the lower node
    one: int
    #: the higher node
    other: int
    #: the score of the pair
    weight: float


@dataclass(frozen=True)
class Links(Detail):
    """Pairs of nodes with their scores."""

    #: the pairs
    links: tuple[Link, ...]
    #: the pairs that are chosen so far
    chosen: tuple[Pair, ...] = ()

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each pair; chosen pairs have a star."""
        rows = [["", "pair", "weight"]]
        for link in self.links:
            mark = "*" if (link.one, link.other) in self.chosen else ""
            rows.append(
                [mark, f"{names[link.one]} – {names[link.other]}", number_name(link.weight)]
            )
        return rows


@dataclass(frozen=True)
class Multigraph(Links):
    """The edges of a graph with contracted nodes, and the fate of each edge."""

    #: the fate of each edge
    fates: tuple[str, ...] = ()

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each edge, by the pair that it stands for."""
        head, *rows = super().table(names)
        return [[*head, ""], *([*row, fate] for row, fate in zip(rows, self.fates, strict=True))]


#: The fate of an edge: the paper's self edges and repetitive edges are removed.
CHOSEN, SELF, REPETITIVE, STAYS = "is in the tree", "self edge: goes", "repetitive: goes", "stays"


@dataclass(frozen=True)
class RootWords(Detail):
    """The weight of the directed tree with each word as the child of the root."""

    #: None for a word without a root edge; -inf if another edge of the tree is absent
    weights: tuple[float | None, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each word."""
        weights = ["none" if w is None else number_name(w) for w in self.weights]
        pairs = zip(names[1:], weights, strict=True)
        return [["root word", "weight of the tree"], *map(list, pairs)]


def steps(problem: ScoredSentence, *, single: bool) -> Iterator[Step]:
    """Yield the steps of `undirected.decode` with its default options."""
    yield from parse(problem, spanning_tree, single=single)


def parse(
    problem: ScoredSentence,
    spanning_tree: Callable[[ScoredSentence, Pairs, int], Generator[Step, None, list[Pair] | None]],
    *,
    single: bool,
) -> Iterator[Step]:
    """Yield the steps of undirected parsing, with this algorithm for the spanning tree."""
    first = 1 if single else 0
    pairs = encode(problem, first)
    yield problem.step(
        "encode",
        "Each pair of nodes gets one score: the mean of its two directions, or the only one that "
        "is present." + (_LATER if single else ""),
        looks_at=tuple(edge for edge in problem.scores if edge[0] >= first),
        detail=Links(links_of(pairs)),
    )
    tree = yield from spanning_tree(problem, pairs, first)
    if tree is None:
        yield from decode_exactly(problem, "The pairs do not connect all nodes.", single)
        return
    root = 0
    if single and problem.n:
        root, step = choose_root(problem, tree)
        if root == 0:
            yield from decode_exactly(problem, "The root has no edge.", single)
            return
        yield step
    heads = yield from orient(problem, tree, root)
    heads = yield from enhance(problem, heads)
    absent = [edge for edge in edges_of(heads) if edge not in problem.scores]
    if absent:
        why = f"The tree has the absent edge {problem.edge(absent[0])}."
        yield from decode_exactly(problem, why, single)
        return
    weight = number(problem.weight(heads))
    text = f"This is the tree, of weight {number_name(weight)}: a good one, if not always the best."
    yield problem.step("tree", text, heads=tuple(heads), weight=weight)


def encode(problem: ScoredSentence, first: int) -> Pairs:
    """Return the score of each pair (u, v) with u < v, in this order."""
    pairs = {}
    for u in range(first, problem.n + 1):
        for v in range(u + 1, problem.n + 1):
            both = [float(problem.scores[e]) for e in ((u, v), (v, u)) if e in problem.scores]
            if both:
                pairs[u, v] = both[0] if len(both) == 1 else 0.5 * both[0] + 0.5 * both[1]
    return pairs


def spanning_tree(
    problem: ScoredSentence, pairs: Pairs, first: int
) -> Generator[Step, None, list[Pair] | None]:
    """Borůvka's algorithm: each component takes its best pair; then components become nodes."""
    parts = new_parts(problem, first)
    chosen: set[Pair] = set()
    edges = dict(pairs)
    while len(set(parts.values())) > 1:
        if not edges:
            return None
        edges = yield from boruvka_step(problem, edges, parts, chosen)
    return sorted(chosen)


def new_parts(problem: ScoredSentence, first: int) -> Parts:
    """Return the contracted node of each node: at first, the node itself."""
    return {node: (node,) for node in range(first, problem.n + 1)}


def better(pairs: Pairs) -> Callable[[Pair], tuple[float, Pair]]:
    """Return the key that sorts pairs, the best pair first; of equal pairs, the first is better."""
    return lambda pair: (-pairs[pair], pair)  # so choices never form a cycle


def boruvka_step(
    problem: ScoredSentence, edges: Pairs, parts: Parts, chosen: set[Pair], where: str = ""
) -> Generator[Step, None, Pairs]:
    """Make a step of Borůvka's algorithm, which contracts nodes; return the remaining edges."""
    best: dict[tuple[int, ...], Pair] = {}
    ranked = sorted(edges, key=better(edges))
    for pair in ranked:
        for node in pair:
            best.setdefault(parts[node], pair)
    taken = set(best.values())
    for u, v in taken:
        merged = tuple(sorted({*parts[u], *parts[v]}))
        parts.update(dict.fromkeys(merged, merged))
    chosen |= taken
    left = len(set(parts.values()))
    shown: dict[str, Any] = {"nodes": nodes_of(problem, parts), "looks_at": tuple(sorted(taken))}
    yield problem.step(
        "boruvka",
        f"{where}Each node takes the best pair that leaves it: these pairs are in the tree. Nodes "
        f"that are now connected become one; {counted_with_verb(left, 'node')} left.",
        detail=Links(links_of(edges), tuple(sorted(chosen))),
        **shown,
    )
    fates: dict[Pair, str] = {}
    joined = set()
    for pair in ranked:
        ends = frozenset(parts[node] for node in pair)
        fates[pair] = STAYS if ends not in joined else REPETITIVE
        if len(ends) == 1:
            fates[pair] = CHOSEN if pair in taken else SELF
        joined.add(ends)
    selves, repeated = (list(fates.values()).count(fate) for fate in (SELF, REPETITIVE))
    remaining = {pair: weight for pair, weight in edges.items() if fates[pair] == STAYS}
    yield problem.step(
        "contract",
        f"{where}The edges of the contracted graph, line by line: {counted(selves, 'self edge')} "
        f"within a node and {counted(repeated, 'repetitive edge')} beside a better one go. "
        f"{counted(len(remaining), 'edge')} {'stays' if len(remaining) == 1 else 'stay'}.",
        detail=Multigraph(
            links_of(edges), tuple(sorted(chosen)), tuple(fates[pair] for pair in edges)
        ),
        **shown,
    )
    return remaining


def nodes_of(problem: ScoredSentence, parts: Parts) -> tuple[Node, ...]:
    """Return the contracted nodes for steps."""
    return tuple(
        Node(part[0]) if len(part) == 1 else Node(problem.n + 1 + k, tuple(map(Node, part)))
        for k, part in enumerate(dict.fromkeys(parts.values()))
    )


def choose_root(problem: ScoredSentence, tree: list[Pair]) -> tuple[int, Step]:
    """Choose the child of the root that gives the tree the most weight; 0 if there is none."""
    weights: dict[int, Fraction] = {}
    for word in range(1, problem.n + 1):
        if (0, word) in problem.scores:
            edges = edges_of(directed(problem.n, tree, word))
            weights[word] = sum((problem.scores.get(edge, _ABSENT) for edge in edges), Fraction(0))
    root = max(weights, key=weights.__getitem__, default=0)  # on a tie the lowest word
    shown = tuple(
        number(weights[word]) if word in weights else None for word in range(1, problem.n + 1)
    )
    step = problem.step(
        "root-word",
        f"The tree of the words is directed away from each word in turn. It weighs most with the "
        f"root edge {problem.edge((0, root))}.",
        looks_at=tuple((0, word) for word in weights),
        detail=RootWords(shown),
    )
    return root, step


def directed(n: int, tree: Sequence[Pair], root: int) -> list[int | None]:
    """Return the heads of an undirected tree, breadth first from node 0 or from a root word."""
    heads: list[int | None] = [-1, *[None] * n]
    if root:
        heads[root] = 0
    queue = [root]
    for x in queue:
        for u, v in tree:
            for near, far in ((u, v), (v, u)):
                if near == x and far != 0 and heads[far] is None:
                    heads[far] = x
                    queue.append(far)
    return heads


def orient(
    problem: ScoredSentence, tree: Sequence[Pair], root: int
) -> Generator[Step, None, list[int | None]]:
    """Direct the tree away from the root, breadth first: a step for each node with dependents."""
    whole = directed(problem.n, tree, root)
    heads: list[int | None] = [-1, *[None] * problem.n]
    queue = [0]
    for x in queue:
        below = [d for d in range(1, problem.n + 1) if whole[d] == x]
        if not below:
            continue
        for d in below:
            heads[d] = x
        queue.extend(below)
        yield problem.step(
            "orient",
            f"The edges are directed away from the root: {problem.words[x]} is the head of "
            f"{problem.listed(below)}.",
            heads=tuple(heads),
            looks_at=tuple((x, d) for d in below),
        )
    return whole


def decode_exactly(problem: ScoredSentence, why: str, single: bool) -> Iterator[Step]:
    """Yield the best tree instead, by the exact algorithm, or why there is no tree."""
    *_, last = (root_constraint if single else chu_liu_edmonds).steps(problem)
    yield replace(last, text=f"{why} So the sentence is decoded exactly instead. {last.text}")


def links_of(pairs: Pairs) -> tuple[Link, ...]:
    """Return pairs for details."""
    return tuple(Link(u, v, weight) for (u, v), weight in pairs.items())
