"""Small labeled graphs, and rules of random kinds, as functions that find conflicts."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from arborescence.rules import Alternative, Conflict, Edges
from brute_force import all_trees, whole_numbers
from graphs import random_graphs


def edge_in(heads, labels, h, d, l):  # noqa: E741
    return heads[d] == h and labels[d] == l


def at_most_one(rng, n, n_labels):
    """Under each head, at most one edge has one of these labels."""
    chosen = rng.choice(n_labels, int(rng.integers(1, n_labels + 1)), replace=False)
    everything_goes = bool(rng.integers(2))

    def conflicts(heads, labels):
        for h in range(n + 1):
            words = [d for d in range(1, n + 1) if heads[d] == h and labels[d] in chosen]
            if len(words) > 1:
                one = words[0]
                if everything_goes:
                    rest = [d for d in range(1, n + 1) if d != one]
                    yield [
                        Alternative(forbid=[Edges(h, one, chosen)]),
                        Alternative(forbid=[Edges(h, rest, chosen)]),
                    ]
                else:
                    yield [Alternative(forbid=[Edges(h, d, chosen)]) for d in words[:2]]

    return conflicts


def not_together(rng, n, n_labels):
    """Some random sets of edges are not together in a tree."""
    sets = [
        [
            (int(rng.integers(n + 1)), int(rng.integers(1, n + 1)), int(rng.integers(n_labels)))
            for _ in range(rng.integers(1, 4))
        ]
        for _ in range(rng.integers(1, 6))
    ]

    def conflicts(heads, labels):
        for edges in sets:
            if all(edge_in(heads, labels, *edge) for edge in edges):
                yield [Alternative(forbid=[Edges(*edge)]) for edge in edges]

    return conflicts


def if_then(rng, n, n_labels):
    """With one edge comes another, or one of several."""
    rules = [
        (
            (int(rng.integers(n + 1)), int(rng.integers(1, n + 1)), int(rng.integers(n_labels))),
            [
                (int(rng.integers(n + 1)), int(rng.integers(1, n + 1)))
                for _ in range(rng.integers(1, 4))
            ],
        )
        for _ in range(rng.integers(1, 4))
    ]

    def conflicts(heads, labels):
        for edge, others in rules:
            if edge_in(heads, labels, *edge) and not any(heads[d] == h for h, d in others):
                ways = [Alternative(require=[Edges(h, d)]) for h, d in others]
                yield [*ways, Alternative(forbid=[Edges(*edge)])]

    return conflicts


def both_or_neither(rng, n, n_labels):
    """Two words have one head, or neither has a head of a set: alternatives of several bans."""
    one, other = rng.choice(np.arange(1, n + 1), 2)
    chosen = rng.choice(n + 1, int(rng.integers(1, n + 1)), replace=False)

    def conflicts(heads, labels):
        if (heads[one] in chosen) != (heads[other] in chosen):
            yield [
                Alternative(require=[Edges(chosen, [one, other])]),
                Alternative(forbid=[Edges(chosen, one), Edges(chosen, other)]),
            ]

    return conflicts


def one_in_three(rng, n, n_labels):
    """A condition on all of the tree: the conflict is the tree."""
    kept = int(rng.integers(3))

    def conflicts(heads, labels):
        number = sum(int(x) * (i + 1) for i, x in enumerate([*heads, *labels]))
        if number % 3 != kept:
            words = range(1, n + 1)
            yield [Alternative(forbid=[Edges(heads[d], d, labels[d])]) for d in words]

    return conflicts


def never(rng, n, n_labels):
    """One edge is in no tree: there is one alternative."""
    h, d, label = rng.integers(n + 1), rng.integers(1, n + 1), rng.integers(n_labels)

    def conflicts(heads, labels):
        if edge_in(heads, labels, h, d, label):
            yield [Alternative(forbid=[Edges(int(h), int(d), int(label))])]

    return conflicts


RULES = (at_most_one, not_together, if_then, both_or_neither, one_in_three, never)


def random_rules(rng, n, n_labels):
    """Some rules of random kinds, as one function of heads and labels."""
    kinds = rng.choice(len(RULES), int(rng.integers(1, 4)))
    rules = [RULES[kind](rng, n, n_labels) for kind in kinds]
    return lambda heads, labels: [c for rule in rules for c in rule(heads, labels)]


def rules_at_costs(rng, n, n_labels):
    """The same, but some rules may be broken at a cost, once for each rule."""
    rules = [random_rules(rng, n, n_labels) for _ in range(rng.integers(1, 4))]
    costs = [rng.choice([None, 0.5, 1.0, 3.0, float(rng.random())]) for _ in rules]
    return lambda heads, labels: [
        Conflict(conflict, str(number), 0, cost)
        for number, (rule, cost) in enumerate(zip(rules, costs, strict=True))
        for conflict in rule(heads, labels)
    ]


def labeled_graphs(kind, rounds, seed):
    """Random graphs of up to four words, each edge with one, two or three labels."""
    rng = np.random.default_rng(seed)
    layers = {n: [] for n in (2, 3, 4)}
    for scores in random_graphs(kind, 3 * rounds, seed=seed):
        n = len(scores) - 1
        if n in layers:
            layers[n].append(scores)
            n_labels = int(rng.integers(1, 4 if n < 4 else 3))
            if len(layers[n]) >= n_labels:
                yield np.stack(layers[n][-n_labels:], axis=-1), rng


@cache
def every_labeled_tree(n, n_labels, single, projective):
    """The head vectors and the labels of all labeled trees, (T, n + 1) each."""
    trees = all_trees(n, single, projective)
    labelings = [(-1, *labels) for labels in product(range(n_labels), repeat=n)]
    return np.repeat(trees, len(labelings), axis=0), np.tile(labelings, (len(trees), 1))


def allowed_trees(scores, conflicts, single, projective):
    """Yield all trees that keep the rules, with exact weights, best first."""
    n, n_labels = len(scores) - 1, scores.shape[-1]
    heads, labels = every_labeled_tree(n, n_labels, single, projective)
    edges = heads[:, 1:], np.arange(1, n + 1), labels[:, 1:]
    weights = whole_numbers(scores)[edges].sum(axis=1)
    present = np.flatnonzero((scores[edges] > -np.inf).all(axis=1))
    for tree in sorted(present.tolist(), key=lambda tree: -weights[tree]):
        if not conflicts(heads[tree], labels[tree]):
            yield weights[tree], heads[tree], labels[tree]


def paying_trees(scores, conflicts, single, projective):
    """All trees that keep the rules that must be kept, as `allowed_trees`, less what they pay."""
    found = []
    for _, heads, labels in allowed_trees(scores, lambda *_: [], single, projective):
        sites = {(one.rule, one.cost) for one in conflicts(heads, labels)}
        if all(cost is not None for _, cost in sites):
            edges = heads[1:], np.arange(1, len(heads)), labels[1:]
            due = sum(Fraction(cost) for _, cost in sites)
            found.append((sum(map(Fraction, scores[edges].tolist())) - due, heads, labels, due))
    return sorted(found, key=lambda tree: -tree[0])
