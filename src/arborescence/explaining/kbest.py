"""The k best trees step by step: Zmigrod, Vieira and Cotterell (2021), Figures 5, 7 and 9."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arborescence.explaining import chu_liu_edmonds, root_constraint
from arborescence.explaining.problem import counted, edges_of, number
from arborescence.explaining.steps import Detail, Pair, edge_name, number_name
from arborescence.explaining.swaps import Swap, Swaps, swaps_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from arborescence.explaining.problem import Problem
    from arborescence.explaining.steps import Step

    Heads = tuple[int | None, ...]


@dataclass(frozen=True)
class Trees(Detail):
    """The trees found so far, best first."""

    heads: tuple[Heads, ...]
    weights: tuple[float, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each tree: in later rows only the edges that the row before lacks."""
        rows = [["tree", "weight", "new edges"]]
        before: set[Pair] = set()
        for rank, (heads, weight) in enumerate(zip(self.heads, self.weights, strict=True), 1):
            edges = edges_of(heads)
            new = [edge_name(edge, names) for edge in edges if edge not in before]
            rows.append([str(rank), number_name(weight), ", ".join(new)])
            before = set(edges)
        return rows


@dataclass(frozen=True)
class Part:
    """A set of trees that waits: those with the required edges and without the forbidden ones.

    `next` is the weight of its best tree. If `swap` is given, `tree` is a tree of the part that
    has been found already, and the next one is the best of those without the swap's edge.
    """

    tree: Heads
    required: tuple[Pair, ...]
    forbidden: tuple[Pair, ...]
    next: Fraction
    swap: Swap | None = None


def steps(problem: Problem, k: int, *, single: bool) -> Iterator[Step]:
    """Yield the steps to the k best trees, or to all if there are fewer."""
    last, tree = first_tree(problem, single=single)
    if tree is None:
        yield replace(last, text=f"There is no first tree. {last.text}")
        return
    found: list[Heads] = []
    waiting: list[Part] = [Part(tree, (), (), problem.weight(tree))]
    while waiting and len(found) < k:
        part = max(waiting, key=lambda waits: waits.next)  # on a tie the one that came first
        waiting.remove(part)
        yield from give(problem, part, found, single)
        if len(found) < k:
            for rest, step in split(problem, part, found[-1], single=single):
                yield step
                waiting.extend(rest)
    number_found = counted(len(found), "tree")
    text = (
        f"These are the {number_found} that exist."
        if len(found) < k
        else (f"These are the {k} best trees." if k > 1 else "This is the best tree.")
    )
    yield _step(problem, "trees", text, found, heads=found[0])


def first_tree(problem: Problem, *, single: bool) -> tuple[Step, Heads | None]:
    """Return the last step to the best tree, and its heads; None if there is no tree."""
    made = (root_constraint if single else chu_liu_edmonds).steps(problem, recorded=False)
    *_, last = made
    return last, last.heads if last.kind == "tree" else None


def give(problem: Problem, part: Part, found: list[Heads], single: bool) -> Iterator[Step]:
    """Add the best tree of a part to the trees that are found."""
    if part.swap is None:
        tree, kind = part.tree, "next-tree" if found else "first-tree"
        text = f"Tree {len(found) + 1} is the best tree of all."
        if found:
            text = (
                f"Of all parts that wait, the trees without {problem.edges(part.forbidden)} have "
                f"the best one. It is tree {len(found) + 1}."
            )
    else:
        graph = problem.with_only(part.required).without({*part.forbidden, part.swap.edge})
        _, best = first_tree(graph, single=single)
        if best is None:
            raise AssertionError("a swap was found, but no tree")
        tree, kind = best, "next-tree"
        text = (
            f"Of all parts that wait, this one has the best tree: {_conditions(problem, part)}, "
            f"and now without {problem.edge(part.swap.edge)}. It is tree {len(found) + 1}, and "
            f"loses {number_name(part.swap.cost or 0.0)}."
        )
    found.append(tree)
    forbidden = part.forbidden if part.swap is None else (*part.forbidden, part.swap.edge)
    yield _step(problem, kind, text, found, heads=tree, required=part.required, forbidden=forbidden)


def split(
    problem: Problem, part: Part, tree: Heads, *, single: bool
) -> Iterator[tuple[list[Part], Step]]:
    """Yield what is left of a part without its best tree, and the steps that say so."""
    if part.swap is not None:
        e = part.swap.edge
        yield look_for_swap(problem, part.tree, (*part.required, e), part.forbidden)
        yield look_for_swap(problem, tree, part.required, (*part.forbidden, e))
        return
    if not single or not problem.n:
        yield look_for_swap(problem, tree, (), ())
        return
    # Under the root constraint the trees are first divided by their root edge.
    [root_edge] = [edge for edge in edges_of(tree) if edge[0] == 0]
    others = tuple((h, d) for h, d in problem.scores if h == 0 and (h, d) != root_edge)
    yield look_for_swap(problem, tree, (root_edge,), others)
    spent = (*part.forbidden, root_edge)
    _, best = first_tree(problem.without(spent), single=True)
    text = f"Trees without {problem.edges(spent)} have another root edge: "
    if best is None:
        step = problem.step("other-root", text + "there are none.", forbidden=spent)
        yield [], step
        return
    weight = problem.weight(best)
    text += f"the best of them weighs {number_name(number(weight))}. They wait."
    step = problem.step("other-root", text, forbidden=spent, heads=best, weight=number(weight))
    yield [Part(best, (), spent, weight)], step


def look_for_swap(
    problem: Problem, tree: Heads, required: tuple[Pair, ...], forbidden: tuple[Pair, ...]
) -> tuple[list[Part], Step]:
    """Find the swap of a tree that costs least: the paper's `next`, in a part of the trees."""
    graph = problem.with_only(required).without(forbidden)
    swaps = swaps_of(graph, tree, required)
    costs = [cost for cost, _ in swaps if cost is not None]
    weight = problem.weight(tree)
    part = Part(tree, required, forbidden, weight)
    text = f"Trees {_conditions(problem, part)}: "
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
        rest = [replace(part, next=weight - least, swap=cheapest)]
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
    return rest, step


def _conditions(problem: Problem, part: Part) -> str:
    """Return the conditions of a part as text; other root edges go without saying."""
    required = [edge for edge in part.required if edge[0] > 0]
    roots = [edge for edge in part.required if edge[0] == 0]
    forbidden = [edge for edge in part.forbidden if not roots or edge[0] > 0]
    texts = [f"with the root edge {problem.edge(edge)}" for edge in roots]
    if required:
        texts.append(f"with {problem.edges(required)}")
    if forbidden:
        texts.append(f"without {problem.edges(forbidden)}")
    return ", ".join(texts) or "without any condition"


def _step(
    problem: Problem, kind: str, text: str, found: Sequence[Heads], *, heads: Heads, **parts: object
) -> Step:
    weights = tuple(number(problem.weight(tree)) for tree in found)
    weight = number(problem.weight(heads))
    detail = Trees(tuple(found), weights)
    return problem.step(kind, text, heads=heads, weight=weight, detail=detail, **parts)
