"""The k best trees step by step: Zmigrod, Vieira and Cotterell (2021), Figures 5, 7 and 9.

The set of all trees is split into parts. A part has the trees with some required edges and without
some forbidden edges; it waits until its best tree is the best of all trees that wait.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

from arborescence.explaining import chu_liu_edmonds, root_constraint
from arborescence.explaining.contraction import Contraction
from arborescence.explaining.problem import edges_of, number
from arborescence.explaining.steps import (
    Detail,
    Node,
    Pair,
    edge_name,
    edges_name,
    node_name,
    number_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Step

    Heads = tuple[int | None, ...]


#: The number of blue or red edges that a table lists. The table only counts further edges.
FEW = 3


@dataclass(frozen=True)
class WaitingPart:
    """A part that waits, as the data of a step: a `SpacePart` has more."""

    #: the edges that the trees of the part must have
    required: tuple[Pair, ...]
    #: the edges that the trees of the part must not have
    forbidden: tuple[Pair, ...]
    #: the weight of the best tree of the part
    weight: float


@dataclass(frozen=True)
class TreesSoFar(Detail):
    """The trees so far, best first, and the parts that wait."""

    #: the head vectors of the trees
    heads: tuple[Heads, ...]
    #: the weights of the trees
    weights: tuple[float, ...]
    #: the parts that wait
    waiting: tuple[WaitingPart, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each tree: in later rows only the edges that the row before lacks."""
        rows = [["tree", "weight", "new edges"]]
        before: set[Pair] = set()
        for rank, (heads, weight) in enumerate(zip(self.heads, self.weights, strict=True), 1):
            edges = edges_of(heads)
            new = [edge_name(edge, names) for edge in edges if edge not in before]
            rows.append([str(rank), number_name(weight), ", ".join(new)])
            before = set(edges)
        for part in self.waiting:
            conditions = conditions_name(part.required, part.forbidden, names)
            rows.append(["waits", number_name(part.weight), f"trees {conditions}"])
        return rows


@dataclass(frozen=True)
class SpacePart:
    """A part that waits: the trees with the required edges and without the forbidden edges."""

    #: the best tree of the part; if there is a swap, this tree was output already
    tree: Heads
    #: the edges that the trees of the part must have
    required: tuple[Pair, ...]
    #: the edges that the trees of the part must not have
    forbidden: tuple[Pair, ...]
    #: the weight of the next tree
    next_weight: Fraction
    #: the next tree is the best tree without this swap's edge; None: the next tree is `tree`
    swap: Swap | None = None

    @property
    def without(self) -> tuple[Pair, ...]:
        """The edges that the next tree of the part does not have."""
        return self.forbidden if self.swap is None else (*self.forbidden, self.swap.edge)


def steps(problem: ScoredSentence, k: int, *, single: bool) -> Iterator[Step]:
    """Yield the steps to the k best trees, or to all trees if there are fewer."""
    last, tree = first_tree(problem, single=single)
    if tree is None:
        yield replace(last, text=f"There is no first tree. {last.text}")
        return
    trees: list[Heads] = []
    waiting: list[SpacePart] = [SpacePart(tree, (), (), problem.weight(tree))]
    while waiting and len(trees) < k:
        part = max(waiting, key=lambda waits: waits.next_weight)  # on a tie, the oldest part
        waiting.remove(part)
        yield output_tree(problem, part, waiting, trees, single=single)
        if len(trees) < k:
            for rest, shown in split(problem, part, trees[-1], single=single):
                yield from shown
                waiting.extend(rest)
    best = f"These are the {k} best trees." if k > 1 else "This is the best tree."
    fewer = f"These are all trees that exist: {len(trees)}, not {k}."
    text = best if len(trees) == k else fewer
    yield _step(problem, "trees", text, trees, waiting, heads=trees[0])


def first_tree(problem: ScoredSentence, *, single: bool) -> tuple[Step, Heads | None]:
    """Return the last step to the best tree, and its heads; None if there is no tree."""
    all_steps = (root_constraint if single else chu_liu_edmonds).steps(problem, recorded=False)
    *_, last = all_steps
    return last, last.heads if last.kind == "tree" else None


def output_tree(
    problem: ScoredSentence,
    part: SpacePart,
    waiting: Sequence[SpacePart],
    trees: list[Heads],
    *,
    single: bool,
) -> Step:
    """Add the next tree of a part to the trees so far, and return the step."""
    if part.swap is None:
        tree, kind = part.tree, "next-tree" if trees else "first-tree"
        text = f"Tree {len(trees) + 1} is the best tree of all."
        if trees:
            text = (
                f"Of all parts that wait, the part without {problem.edges(part.forbidden)} has "
                f"the best tree. This is tree {len(trees) + 1}."
            )
    else:
        graph = graph_of(problem, part.required, part.without, single=single)
        _, best = first_tree(graph, single=single)
        if best is None:
            raise AssertionError("a swap was found, but no tree")
        tree, kind = best, "next-tree"
        conditions = conditions_name(part.required, part.forbidden, problem.words)
        text = (
            f"Of all parts that wait, the part {conditions} has the next tree: its best tree "
            f"without {problem.edge(part.swap.edge)}. This is tree {len(trees) + 1}."
        )
    trees.append(tree)
    return _step(
        problem,
        kind,
        text,
        trees,
        waiting,
        heads=tree,
        required=part.required,
        forbidden=part.without,
    )


def split(
    problem: ScoredSentence, part: SpacePart, tree: Heads, *, single: bool
) -> Iterator[tuple[list[SpacePart], list[Step]]]:
    """Yield the rest of a part without its best tree, and the steps that explain it."""
    if part.swap is not None:
        e = part.swap.edge
        yield look_for_swap(problem, part.tree, (*part.required, e), part.forbidden, single=single)
        yield look_for_swap(problem, tree, part.required, part.without, single=single)
        return
    if not single or not problem.n:
        yield look_for_swap(problem, tree, (), (), single=single)
        return
    # Under the root constraint, the trees are first divided by their root edge.
    [root_edge] = [edge for edge in edges_of(tree) if edge[0] == 0]
    yield look_for_swap(problem, tree, (root_edge,), (), single=single)
    tried = (*part.forbidden, root_edge)  # the root edges of earlier trees
    _, best = first_tree(problem.without(tried), single=True)
    text = f"Trees without {problem.edges(tried)} have another root edge: "
    if best is None:
        step = problem.step("other-root", text + "there are none.", forbidden=tried)
        yield [], [step]
        return
    weight = problem.weight(best)
    text += f"the best of them weighs {number_name(number(weight))}. These trees wait."
    step = problem.step("other-root", text, forbidden=tried, heads=best, weight=number(weight))
    yield [SpacePart(best, (), tried, weight)], [step]


def look_for_swap(
    problem: ScoredSentence,
    tree: Heads,
    required: tuple[Pair, ...],
    forbidden: tuple[Pair, ...],
    *,
    single: bool,
) -> tuple[list[SpacePart], list[Step]]:
    """Find the cheapest swap of the best tree of a part: the function `next` of the paper."""
    graph = graph_of(problem, required, forbidden, single=single)
    swaps = swaps_of(graph, tree, required)
    costs = [cost for cost, _ in swaps if cost is not None]
    weight = problem.weight(tree)
    text = f"Trees {conditions_name(required, forbidden, problem.words)}: "
    cheapest = None
    if not costs:
        text += "no edge can be swapped for another, so there is no other tree."
        rest = []
    else:
        least = min(costs)
        cheapest = next(swap for cost, swap in swaps if cost == least)
        text += (
            f"the swap that costs least, {number_name(number(least))}, is that of "
            f"{problem.edge(cheapest.edge)}. So the next tree of this part lacks that edge, and "
            f"weighs {number_name(number(weight - least))}. The part waits."
        )
        rest = [SpacePart(tree, required, forbidden, weight - least, cheapest)]
    step = problem.step(
        "swaps",
        text,
        heads=tree,
        weight=number(weight),
        required=required,
        forbidden=forbidden,
        looks_at=tuple(e for _, swap in swaps for e in (swap.edge, swap.replacement) if e),
        detail=Swaps(tuple(swap for _, swap in swaps), cheapest),
    )
    return rest, [*levels(step, swaps), step]


def levels(swap_step: Step, swaps: Sequence[tuple[Fraction | None, Swap]]) -> Iterator[Step]:
    """Yield a step for each level of `next` (Figure 5), the base case first, if a cycle exists."""
    cycles = sorted({swap.cycle for _, swap in swaps if swap.cycle is not None}, reverse=True)
    if not cycles:
        return
    best: tuple[Fraction, Swap] | None = None
    names = swap_step.words
    for cycle in (None, *cycles):
        of_level = [(cost, swap) for cost, swap in swaps if swap.cycle == cycle]
        costs = [(cost, swap) for cost, swap in of_level if cost is not None]
        text = "Next, base case: all cycles are contracted. "
        if cycle is not None:
            text = "Next, a level up: a cycle is opened, and the swaps of its edges are compared. "
        if costs:
            cost, swap = min(costs, key=itemgetter(0))
            least = number_name(number(cost))
            text += f"The least swap cost is {least}, of {edge_name(swap.edge, names)}. "
            if best is None or cost < best[0]:
                best = cost, swap
        else:
            text += "No edge here can be swapped. "
        if cycle is not None and best is not None:
            text += f"The least so far is {number_name(number(best[0]))}."
        yield replace(
            swap_step,
            kind="level",
            text=text.rstrip(),
            looks_at=tuple(e for _, swap in of_level for e in (swap.edge, swap.replacement) if e),
            detail=Swaps(tuple(swap for _, swap in of_level), best[1] if best else None),
        )


def conditions_name(
    required: Sequence[Pair], forbidden: Sequence[Pair], names: Sequence[str]
) -> str:
    """Return the conditions of a part as text."""
    texts = []
    if required:
        texts.append(f"with {edges_name(required, names)}")
    if forbidden:
        texts.append(f"without {edges_name(forbidden, names)}")
    return ", ".join(texts) or "without any condition"


def graph_of(
    problem: ScoredSentence, required: Sequence[Pair], forbidden: Sequence[Pair], *, single: bool
) -> ScoredSentence:
    """Return the graph whose trees are the trees of a part."""
    only = {d: h for h, d in required}  # a required edge is the only edge into its dependent
    absent = {(h, d) for h, d in problem.scores if only.get(d, h) != h} | set(forbidden)
    roots = {edge for edge in required if edge[0] == 0}
    if single and roots:  # without the other root edges, every tree has exactly one root edge
        absent |= {edge for edge in problem.scores if edge[0] == 0} - roots
    return problem.without(absent)


def _step(
    problem: ScoredSentence,
    kind: str,
    text: str,
    trees: Sequence[Heads],
    waiting: Sequence[SpacePart],
    *,
    heads: Heads,
    **parts: object,
) -> Step:
    weights = tuple(number(problem.weight(tree)) for tree in trees)
    shown = tuple(
        WaitingPart(part.required, part.without, number(part.next_weight)) for part in waiting
    )
    detail = TreesSoFar(tuple(trees), weights, shown)
    weight = number(problem.weight(heads))
    return problem.step(kind, text, heads=heads, weight=weight, detail=detail, **parts)


@dataclass(frozen=True)
class Swap:
    """An edge of the tree, and the best edge that can replace it."""

    #: the node of the contracted graph that the edge enters as its best edge
    node: Node
    #: the original edge
    edge: Pair
    #: the original edge that replaces it; None if no edge can
    replacement: Pair | None
    #: the loss of weight; None without a replacement
    cost: float | None
    #: the other edges into the node that can replace the edge, the best edge first
    blue: tuple[Pair, ...]
    #: the other edges into the node that come from below the edge, and would close a cycle
    red: tuple[Pair, ...]
    #: the contracted node that contains the node, if any
    cycle: int | None


@dataclass(frozen=True)
class Swaps(Detail):
    """The swaps of a tree."""

    #: the swap of each edge
    swaps: tuple[Swap, ...]
    #: the cheapest swap, if any
    cheapest: Swap | None

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each edge of the tree that may be replaced."""
        rows = [["", "edge of the tree", "best edge into", "blue edges", "red edges", "cost"]]
        for swap in self.swaps:
            cost = "" if swap.cost is None else number_name(swap.cost)
            mark = "*" if swap == self.cheapest else ""
            others = [_few(edges, names) for edges in (swap.blue, swap.red)]
            node = node_name(swap.node, names)
            rows.append([mark, edge_name(swap.edge, names), node, *others, cost])
        return rows


def _few(edges: Sequence[Pair], names: Sequence[str]) -> str:
    """Return the first edges as text, and the number of further edges."""
    text = edges_name(edges[:FEW], names) or "none"
    return text if len(edges) <= FEW else f"{text} and {len(edges) - FEW} more"


def swaps_of(
    graph: ScoredSentence, tree: Heads, required: Sequence[Pair]
) -> list[tuple[Fraction | None, Swap]]:
    """Return the cost and the swap of each edge of the best tree of a graph."""
    # The graph is contracted, with the tree's edges preferred on a tie. Then each edge of the tree
    # is the best edge into one node. Its replacement is the next best edge into this node that does
    # not start below the edge itself: an edge from below would close a cycle
    state = Contraction(graph, tree, recorded=False)
    for _ in chu_liu_edmonds.contract_cycles(state):
        pass
    swaps: list[tuple[Fraction | None, Swap]] = []
    for x, entry in sorted(state.chosen.items(), key=lambda item: item[1].into):
        if tree[entry.into] != entry.head or entry.edge in required:
            continue
        ranked = sorted(state.entering[x], key=lambda other: (-other.gain, other.edge))
        others = [other for other in ranked if other != entry]
        red = [other for other in others if _is_below(tree, other.head, entry.into)]
        blue = [other for other in others if other not in red]
        best = state.best(x, blue)
        if best is not None:
            # among equal edges, the replacement is first
            blue.sort(key=lambda other: other != best)
        cost = None if best is None else entry.gain - best.gain
        swap = Swap(
            state.node(x),
            entry.edge,
            None if best is None else best.edge,
            None if cost is None else number(cost),
            tuple(other.edge for other in blue),
            tuple(other.edge for other in red),
            next((outer for outer, inner in state.members.items() if x in inner), None),
        )
        swaps.append((cost, swap))
    return swaps


def _is_below(tree: Heads, node: int | None, above: int) -> bool:
    """Return whether a node is the node `above`, or below `above` in a tree."""
    while node is not None and node > 0 and node != above:
        node = tree[node]
    return node == above
