"""Algorithm 1 of *root*: `explain` takes its steps, in its order; and the theorems behind it.

The algorithm is written down here as it is printed, line by line: recursive, on lists of edges.
What the paper leaves open is decided as `explain` decides it: which of several cycles comes first,
and which of several edges on a tie. Theorems are tested on the greedy and contracted graphs of
`explain`.
"""

from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

import arborescence as arb
from arborescence.explaining import root_constraint
from arborescence.explaining.chu_liu_edmonds import contract, expand, take_best_heads
from arborescence.explaining.contraction import Contraction
from arborescence.explaining.problem import problem_of


class Edge(NamedTuple):
    """An edge i → j. `pi` is its counterpart in the graph before, None in the original graph."""

    i: object
    j: object
    w: Fraction
    pi: object = None

    @property
    def original(self):
        edge = self
        while edge.pi:
            edge = edge.pi
        return edge.i, edge.j


class NoTreeError(Exception):
    """A node without an edge into it, or no root edge that can be removed."""


def words(node):
    """The words in a node: it is a word, or the tuple of the nodes of a cycle."""
    return (
        sorted(x for member in node for x in words(member)) if isinstance(node, tuple) else [node]
    )


def greedy(graph):
    """The greedy graph: the best edge into each node, on a tie that of the lowest head."""
    best = {}
    for edge in graph:
        key = -edge.w, edge.original[0]
        if edge.j not in best or key < best[edge.j][0]:
            best[edge.j] = key, edge
    return {j: edge for j, (_, edge) in sorted(best.items(), key=lambda item: words(item[0])[0])}


def weight(edges):
    return sum(edge.w for edge in edges.values())


def cycle_of(edges, starts=None):
    """The first cycle of a greedy graph: from each node, follow its edges up."""
    for start in starts or edges:
        path = []
        node = start
        while node != 0:
            if node in path:
                return tuple(path[path.index(node) :])
            path.append(node)
            node = edges[node].i
    return None


def contracted(graph, cycle, chosen):
    """G/C: enter, exit and external edges; dead ones are gone. Larger nodes of C come first."""
    whole = sum(chosen[j].w for j in cycle)
    largest = max(cycle, key=lambda j: len(words(j)))  # the first of them
    members = [largest, *(j for j in cycle if j != largest)]
    new = [
        Edge(e.i, cycle, e.w + whole - chosen[j].w, e)
        for j in members
        for e in graph
        if e.j == j and e.i not in cycle
    ]
    for e in graph:
        if e.j not in cycle:
            new.append(Edge(cycle if e.i in cycle else e.i, e.j, e.w, e))
    return new


def stitch(tree, cycle, chosen, steps):
    """The tree of G/C and C^(j), where j is the entrance site."""
    entrance = tree[cycle].pi.j
    steps.append(("stitch", cycle, entrance))
    opened = {edge.pi.j: edge.pi for edge in tree.values()}
    return opened | {j: chosen[j] for j in cycle if j != entrance}


def opt(graph, n, steps):
    """Lines 1 to 8, for a dependency tree."""
    edges = greedy(graph)
    if len({x for j in edges for x in words(j)}) < n:
        raise NoTreeError
    cycle = cycle_of(edges)
    if cycle:
        smaller = contracted(graph, cycle, edges)
        steps.append(entering(smaller, cycle))
        return stitch(opt(smaller, n, steps), cycle, edges, steps)
    return constrain(graph, n, steps)


def constrain(graph, n, steps):
    """Lines 9 to 16."""
    edges = greedy(graph)
    sigma = [edge for edge in edges.values() if edge.i == 0]
    steps.append(("sigma", [edge.original for edge in sigma]))
    if len(sigma) == 1:
        return edges
    best, weights = None, []
    for e in sigma:
        without = [other for other in graph if (other.i, other.j) != (e.i, e.j)]
        others = greedy(without)
        present = len(others) == len(edges)
        weights.append((e.original, float(weight(others)) if present else None))
        if present and (best is None or weight(others) > weight(greedy(best[1]))):
            best = e, without
    steps.append(("removals", weights))
    if best is None:
        raise NoTreeError
    e, without = best
    others = greedy(without)
    cycle = cycle_of(others, [others[e.j].i])
    if cycle:
        steps.append(("reduction",))
        smaller = contracted(graph, cycle, others)
        steps.append(entering(smaller, cycle))
        return stitch(constrain(smaller, n, steps), cycle, others, steps)
    steps.append(("optimization", e.original[1], others[e.j].original))
    return constrain(without, n, steps)


def entering(graph, cycle):
    edges = {edge.original: float(edge.w) for edge in graph if edge.j == cycle}
    return "contraction", cycle, edges


def as_printed(scores):
    n = len(scores) - 1
    graph = [
        Edge(h, d, Fraction(float(scores[h, d])))
        for h in range(n + 1)
        for d in range(1, n + 1)
        if h != d and scores[h, d] > -np.inf
    ]
    steps = []
    try:
        tree = opt(graph, n, steps)
    except NoTreeError:
        return [*steps, ("none",)]
    heads = tuple(tree[d].i if d else -1 for d in range(n + 1))
    return [*steps, ("tree", heads, float(weight(tree)))]


def nested(node):
    return tuple(map(nested, node.members)) or node.id


def explained(scores):
    """The same, from the steps of `explain`."""
    made, nodes = [], {}
    for step in arb.explain(scores):
        detail = step.detail
        if step.kind == "contract":
            [nodes[detail.node]] = [nested(x) for x in step.nodes if x.id == detail.node]
            edges = {edge.stands_for: edge.weight for edge in detail.entering}
            made.append(("contraction", nodes[detail.node], edges))
        elif step.kind == "root-edges":
            made.append(("sigma", [edge.stands_for for edge in step.chosen if edge.head == 0]))
        elif step.kind == "other-heads":
            weights = [(child.root_edge.stands_for, child.without) for child in detail.children]
            made.append(("removals", weights))
        elif step.kind == "reduction":
            made.append(("reduction",))
        elif step.kind == "optimization":
            [taken] = step.looks_at
            [into] = [node for node in step.nodes if taken[1] in node.words]
            [removed] = {
                d for _, d in step.forbidden if d in into.words and (0, d) in roots_of(made)
            }
            made.append(("optimization", removed, taken))
        elif step.kind == "expand":
            node = nodes.pop(max(nodes))
            [entrance] = [x for x in node if step.looks_at[0][1] in words(x)]
            made.append(("stitch", node, entrance))
        elif step.kind == "no-tree":
            made.append(("none",))
        elif step.kind == "tree":
            made.append(("tree", step.heads, step.weight))
    return made


def roots_of(made):
    """The root edges of the last step that lists them."""
    return next(step[1] for step in reversed(made) if step[0] == "sigma")


def random_graph(seed):
    """3 to 7 words; few different weights, so many are equal; up to half of the edges absent."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    scores = rng.integers(0, int(rng.integers(2, 30)), (n + 1, n + 1)).astype(float)
    scores[rng.random(scores.shape) < rng.random() / 2] = -np.inf
    if seed % 2:  # more root edges
        scores[0] += 3
    return scores


def compare(seeds):
    kinds = set()
    for seed in seeds:
        scores = random_graph(seed)
        printed = as_printed(scores)
        assert explained(scores) == printed, seed
        kinds.update(step[0] for step in printed)
    assert kinds >= {"contraction", "reduction", "optimization", "stitch", "tree", "none"}


def test_the_same_steps_in_the_same_order():
    compare(range(300))


@pytest.mark.long
def test_the_same_steps_on_three_thousand_graphs():
    compare(range(300, 3_300))


def arborescences(graph, root=0):
    """All of them: each choice of one edge into each node without a cycle."""
    into = {}
    for edge in graph:
        into.setdefault(edge.j, []).append(edge)
    into.pop(root, None)
    for choice in product(*into.values()):
        edges = {edge.j: edge for edge in choice}
        if cycle_of(edges | {root: Edge(0, root, 0)}) is None:
            yield edges


def complete_graphs(count, n=4):
    """Complete graphs with few different weights."""
    rng = np.random.default_rng(n)
    for _ in range(count):
        scores = rng.integers(0, int(rng.integers(3, 30)), (n + 1, n + 1))
        pairs = product(range(n + 1), range(1, n + 1))
        yield [Edge(h, d, Fraction(int(scores[h, d]))) for h, d in pairs if h != d]


def best(trees):
    return max(map(weight, trees))


def is_dependency_tree(edges):
    return sum(edge.i == 0 for edge in edges.values()) == 1


def state_of(graph):
    """The graph as `explain` has it, with its greedy graph."""
    size = 1 + max(edge.j for edge in graph)
    scores = np.full((size, size), -np.inf)
    for edge in graph:
        scores[edge.i, edge.j] = edge.w
    state = Contraction(problem_of(scores, None), whole=True)
    assert [step.kind for step in take_best_heads(state)] == ["greedy"]
    return state


def chosen_of(graph):
    """The greedy graph of `explain`."""
    edges = {(edge.i, edge.j): edge for edge in graph}
    return {j: edges[entry.edge] for j, entry in state_of(graph).chosen.items()}


def contracted_state(graph, cycle):
    """The state after `explain` contracts a cycle of its greedy graph, and the step."""
    state = state_of(graph)
    [step] = contract(state, list(cycle))
    return state, step


def contracted_by_explain(graph, cycle):
    """G/C as `explain` makes it."""
    _, step = contracted_state(graph, cycle)
    edges = {(edge.i, edge.j): edge for edge in graph}
    names = {step.detail.node: cycle}
    return [
        Edge(*(names.get(x, x) for x in (e.head, e.dependent)), Fraction(e.weight), edges[pi])
        for e in step.edges
        for pi in (e.stands_for,)
    ]


def expanded_by_explain(graph, cycle, tree):
    """An arborescence of G/C, opened by `explain`: its heads and its weight."""
    state, step = contracted_state(graph, cycle)
    for j, edge in tree.items():
        x = step.detail.node if j == cycle else j
        [state.chosen[x]] = [e for e in state.entering[x] if e.edge == (edge.pi.i, edge.pi.j)]
    *_, last = expand(state)
    return last.heads, last.weight


def test_a_broken_critical_cycle_is_the_best_arborescence_of_its_nodes():
    """Lemma 1: for each j in C, the best arborescence of the nodes of C rooted at j is C^(j)."""
    seen = 0
    for graph in complete_graphs(60):
        chosen = chosen_of(graph)
        cycle = cycle_of(chosen)
        for j in cycle or ():
            inside = [e for e in graph if e.i in cycle and e.j in cycle and e.j != j]
            broken = {node: chosen[node] for node in cycle if node != j}
            assert best(arborescences(inside, j)) == weight(broken)
            seen += 1
    assert seen > 50


def stitched(tree, cycle, chosen):
    return stitch(tree, cycle, chosen, []).items()


def test_the_expansion_lemma_and_theorem_1():
    """Corollary 1: each arborescence of G/C becomes one of G, of the same weight."""
    seen = 0
    for graph in complete_graphs(60):
        chosen = greedy(graph)
        cycle = cycle_of(chosen)
        if cycle is None:
            assert weight(chosen) == best(arborescences(graph))
            continue
        smaller = list(arborescences(contracted_by_explain(graph, cycle)))
        for tree in smaller:
            heads, total = expanded_by_explain(graph, cycle, tree)
            assert heads[0] == -1
            assert list(heads[1:]) == [e.i for _, e in sorted(stitched(tree, cycle, chosen))]
            assert arb.is_tree(heads, root="multi")
            assert total == weight(tree)
        assert best(smaller) == best(arborescences(graph))
        seen += 1
    assert seen > 15


def entering_edges(tree, cycle):
    """The edges of an arborescence from outside of a cycle into it."""
    return [edge for edge in tree.values() if edge.j in cycle and edge.i not in cycle]


def graphs_with_cycles(count):
    """Complete graphs with a critical cycle of fewer nodes than words, and all arborescences."""
    for graph in complete_graphs(count):
        chosen = chosen_of(graph)
        cycle = cycle_of(chosen)
        if cycle is not None and len(cycle) < len(chosen):
            yield graph, chosen, cycle, list(arborescences(graph))


def test_an_arborescence_that_enters_a_cycle_once_is_one_of_the_contracted_graph():
    """Proposition 1: A = A_C # A', and w(A) = w(A_C) - w(C^(j)) + w(A')."""
    seen = 0
    for graph, chosen, cycle, trees in graphs_with_cycles(60):
        smaller = {
            frozenset(edge.pi for edge in tree.values()): tree
            for tree in arborescences(contracted_by_explain(graph, cycle))
        }
        for tree in trees:
            entering = entering_edges(tree, cycle)
            if len(entering) != 1:
                continue
            [entrance] = entering
            dead = [e for e in tree.values() if e.i in cycle and e.j in cycle]
            assert {e.j for e in dead} == set(cycle) - {entrance.j}
            outer = smaller[frozenset(tree.values()) - frozenset(dead)]
            broken = sum(chosen[j].w for j in cycle if j != entrance.j)
            assert weight(tree) == weight(outer) - broken + sum(e.w for e in dead)
            seen += 1
    assert seen > 1000


def best_with(trees, kept, dropped):
    """The highest weight of the arborescences with one edge and without others."""
    weights = [
        weight(tree)
        for tree in trees
        if tree[kept.j] == kept and all(tree[edge.j] != edge for edge in dropped)
    ]
    return max(weights, default=-np.inf)


def test_lemma_2_holds_for_some_entering_edge_not_for_every():
    """Printed for each e of A into C. True for at least one: that is what Theorem 1 needs."""
    pairs = failed = 0
    for _, _, cycle, trees in graphs_with_cycles(60):
        for tree in trees:
            entering = entering_edges(tree, cycle)
            if len(entering) < 2:
                continue
            others = {e: [f for f in entering if f != e] for e in entering}
            assert any(best_with(trees, e, others[e]) >= weight(tree) for e in entering)
            for e in entering:
                for other in others[e]:
                    pairs += 1
                    failed += best_with(trees, e, [other]) < weight(tree)
    assert pairs > 4000
    assert failed


def test_the_smallest_graph_without_the_tree_of_lemma_2():
    """A = 0 → 1 → 3 → 2 enters the cycle of 1 and 2 twice. 3 → 2 cannot stay without 0 → 1."""
    weights = {(0, 1): 1, (1, 3): 1, (3, 2): 1, (1, 2): 2, (2, 1): 2}
    graph = [Edge(h, d, Fraction(w)) for (h, d), w in weights.items()]
    assert set(cycle_of(greedy(graph))) == {1, 2}
    trees = list(arborescences(graph))
    [tree] = [tree for tree in trees if tree[2].i == 3]
    into_1, into_2 = tree[1], tree[2]
    assert best_with(trees, into_2, [into_1]) == -np.inf  # as printed, with e = 3 → 2
    assert best_with(trees, into_1, [into_2]) >= weight(tree)


CASES = {"reduction", "optimization"}


def test_theorem_2():
    """If G* is the greedy graph and has several root edges: G† is that of G', or of G/C."""
    cases = set()
    for graph in complete_graphs(400):
        raised = [e._replace(w=e.w + 8) if e.i == 0 else e for e in graph]
        chosen = greedy(raised)
        sigma = [edge for edge in chosen.values() if edge.i == 0]
        if cycle_of(chosen) or len(sigma) == 1:
            continue
        removed = [[f for f in raised if (f.i, f.j) != (e.i, e.j)] for e in sigma]
        without = max(removed, key=lambda some: weight(greedy(some)))
        cycle = cycle_of(greedy(without))
        other = contracted(raised, cycle, greedy(without)) if cycle else without
        found = best(filter(is_dependency_tree, arborescences(other)))
        assert found == best(filter(is_dependency_tree, arborescences(raised)))
        case = "reduction" if cycle else "optimization"
        state = state_of(raised)
        kinds = [step.kind for step in root_constraint.constrain(state)]
        assert next(kind for kind in kinds if kind in CASES) == case
        assert state.weight == found
        cases.add(case)
    assert cases == CASES
