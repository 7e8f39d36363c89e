"""Figures 5, 7 and 9 of Zmigrod, Vieira and Cotterell (2021) line by line, on lists of edges.

An edge is (tail, head, weight, name), where the name is the edge of the first graph that it comes
from. Weights are fractions. `errata` are the figures whose errors are kept.
"""

from fractions import Fraction
from itertools import count


def edges_of(scores):
    return [
        (h, d, Fraction(float(scores[h, d])), (h, d))
        for d in range(1, len(scores))
        for h in range(len(scores))
        if h != d and scores[h, d] > float("-inf")
    ]


def cycle_of(tree):
    """The nodes of a cycle of {node: edge into it}, or none."""
    for node in tree:
        path = []
        while node in tree and node not in path:
            path.append(node)
            node = tree[node][0]
        if node in path:
            return path[path.index(node) :]
    return []


def is_below(tree, node, above):
    while node != above and node in tree:
        node = tree[node][0]
    return node == above


def swap_cost(edges, tree, j):
    """Definition 3, of the edge into j: no blue edge is that edge itself (Definition 2)."""
    blue = [e[2] for e in edges if e[1] == j and e != tree[j] and not is_below(tree, e[0], j)]
    return tree[j][2] - max(blue) if blue else float("inf")


def next_(edges, errata=()):
    """Figure 5: the best tree {node: edge}, and (w, e); no tree is None."""
    nodes = {e[1] for e in edges} | {e[0] for e in edges} - {0}
    tree = {}
    for j in nodes:
        entering = [e for e in edges if e[1] == j]
        if not entering:
            return None
        tree[j] = max(entering, key=lambda e: e[2])
    cycle = cycle_of(tree)
    if cycle:
        loop = {j: tree[j] for j in cycle}
        whole = sum(e[2] for e in loop.values())
        c = ("cycle", min(map(str, cycle)), len(str(cycle)))
        contracted, of = [], {}
        for place, e in enumerate(edges):
            i, j, w, _ = e
            if i in loop and j in loop:
                continue
            inner = (c if i in loop else i, c if j in loop else j)
            made = (*inner, w + whole - loop[j][2] if j in loop else w, place)
            contracted.append(made)
            of[place] = e
        found = next_(contracted, errata)
        if found is None:
            return None
        inner_tree, (w, place) = found
        outer = [of[e[3]] for e in inner_tree.values()]
        [entrance] = [e[1] for e in outer if e[1] in loop]
        tree = {e[1]: e for e in outer} | {j: e for j, e in loop.items() if j != entrance}
        kept = [j for j in loop if j != entrance]
        j = min(kept, key=lambda j: swap_cost(edges, tree, j))
        e = of[place] if place is not None else None
        if "5" in errata and e is not None:
            if e[1] not in tree or tree[e[1]] != e:
                return tree, (w, e[3])
            cost = swap_cost(edges, tree, e[1])
        else:
            cost = swap_cost(edges, tree, j)
        other = sum(e[2] for e in tree.values()) - cost
        return tree, max((w, e and e[3]), (other, tree[j][3]), key=lambda item: item[0])
    if not tree:
        return tree, (float("-inf"), None)
    j = min(tree, key=lambda j: swap_cost(edges, tree, j))
    weight = sum(e[2] for e in tree.values()) - swap_cost(edges, tree, j)
    return tree, (weight, tree[j][3])


def heads_of(tree):
    return [-1] + [h for h, _ in sorted((e[3] for e in tree.values()), key=lambda e: e[1])]


class Queue:
    def __init__(self):
        self.items, self.order = [], count()

    def push(self, w, e, graph):
        if e is not None and w > float("-inf"):
            self.items.append((-w, next(self.order), e, graph))

    def pop(self):
        self.items.sort(key=lambda item: item[:2])
        w, _, e, graph = self.items.pop(0)
        return -w, e, graph


def with_(graph, e):
    """G + e; where trees have one root edge and e is one, also without all others."""
    return [x for x in graph if x[3] == e or x[1] != e[1]]


def without(graph, e):
    return [x for x in graph if x[3] != e]


def kbest(graph, k, errata=()):
    """Figure 7."""
    tree, (w, e) = next_(graph, errata)
    yield heads_of(tree)
    queue = Queue()
    queue.push(w, e, graph)
    for _ in range(1, k):
        if not queue.items:
            return
        w, e, graph = queue.pop()
        tree, (w1, e1) = next_(without(graph, e), errata)
        yield heads_of(tree)
        queue.push(w1, e1, without(graph, e))
        _, (w2, e2) = next_(with_(graph, e), errata)
        queue.push(w2, e2, with_(graph, e))


def kbest_starts(graph, k):
    """Section 5, the naive way: Figure 7; the queue starts with the best tree of each root edge."""
    queue = Queue()
    words = {x[1] for x in graph}
    for e in [x[3] for x in graph if x[0] == 0]:
        only = with_root(graph, e)
        if {x[1] for x in only} == words and (found := next_(only)) is not None:
            queue.push(weight(found[0]), "start", only)
    for _ in range(k):
        if not queue.items:
            return
        _, e, graph = queue.pop()
        if e == "start":
            tree, (w, e) = next_(graph)
            yield heads_of(tree)
            queue.push(w, e, graph)
            continue
        tree, (w1, e1) = next_(without(graph, e))
        yield heads_of(tree)
        queue.push(w1, e1, without(graph, e))
        _, (w2, e2) = next_(with_(graph, e))
        queue.push(w2, e2, with_(graph, e))


def with_root(graph, e):
    """G + e for a root edge e, where trees have one."""
    return [x for x in with_(graph, e) if x[0] != 0 or x[3] == e]


def opt(graph):
    """The best tree with one root edge, by trying each; None if there is none."""
    roots = [x[3] for x in graph if x[0] == 0]
    words = {x[1] for x in graph}
    found = []
    for e in roots:
        only = with_root(graph, e)
        if {x[1] for x in only} == words and (one := next_(only)) is not None:
            found.append(one[0])
    return max(found, key=weight, default=None)


def weight(tree):
    return sum(x[2] for x in tree.values())


def root_edge(tree):
    [e] = [x[3] for x in tree.values() if x[0] == 0]
    return e


def kbest_dep(graph, k, errata=()):
    """Figure 9."""
    queue = Queue()

    def push_other_root(graph, e, pushed):
        tree = opt(without(graph, e)) if len({x[1] for x in without(graph, e)}) == words else None
        queue.push(float("-inf") if tree is None else weight(tree), e, pushed)

    words = len({x[1] for x in graph})
    tree = opt(graph)
    yield heads_of(tree)
    e_root = root_edge(tree)
    _, (w, e) = next_(with_root(graph, e_root))
    push_other_root(graph, e_root, graph)
    queue.push(w, e, with_root(graph, e_root))
    whole = graph
    for _ in range(1, k):
        if not queue.items:
            return
        w, e, graph = queue.pop()
        if e[0] != 0:
            tree, (w1, e1) = next_(without(graph, e))
            queue.push(w1, e1, without(graph, e))
            _, (w2, e2) = next_(with_(graph, e))
            queue.push(w2, e2, with_(graph, e))
        else:
            # The print has G' in lines 18, 20 and 22, where this has G' - e, and G in line 23.
            rest = without(graph, e)
            graph, given = (graph, whole) if "9" in errata else (rest, rest)
            tree = opt(graph)
            e_root = root_edge(tree)
            push_other_root(graph, e_root, rest)
            _, (w1, e1) = next_(with_root(graph, e_root))
            queue.push(w1, e1, with_root(given, e_root))
        yield heads_of(tree)
