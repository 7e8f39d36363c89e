"""The best tree that keeps rules as an integer linear program, whose constraints come one by one.

As in Riedel and Clarke (2006): solve, find a cycle or a conflict, add a constraint, solve again.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array


def best_weight(scores, conflicts):
    """The highest weight of a tree with one root edge, or None; scores are (N, N, L)."""
    worth = best_worth(scores, conflicts)
    return worth and worth[-1]


def best_worth(scores, conflicts, gains=()):
    """The best tree's gains at each level and weight less prices; None without a tree.

    `gains`, (N, N, L) each, are the gains of edges at levels above the scores, the highest first.
    Levels are solved one after the other: each keeps the gains of the levels before.
    """
    program = Program(scores, gains)
    while True:
        worth = program.solve()
        if worth is None:
            return None
        tree, labeling = program.tree()
        if cycle := a_cycle(tree):
            within = np.isin(program.heads, cycle) & np.isin(program.words, cycle)
            program.constrain(np.flatnonzero(within), 0, len(cycle) - 1)
        elif not program.learn(conflicts(tree.copy(), labeling.copy()), tree, labeling):
            return worth


class Program:
    """Variables: labeled edges, and the sites whose price is paid."""

    def __init__(self, scores, gains):
        present = np.isfinite(scores)
        present[:, 0] = False
        present[np.arange(len(scores)), np.arange(len(scores))] = False
        self.heads, self.words, self.labels = np.nonzero(present)
        self.numbers = np.full(scores.shape, -1)
        self.numbers[present] = np.arange(len(self.heads))
        self.worth = [
            np.broadcast_to(table, scores.shape)[present].astype(float)
            for table in (*gains, scores)
        ]
        self.sites = {}  # (rule, word): number of the site, level, price
        self.rows = []  # variables, signs, least, most
        for d in range(1, len(scores)):
            self.constrain(np.flatnonzero(self.words == d), 1, 1)
        self.constrain(np.flatnonzero(self.heads == 0), 1, 1)

    def constrain(self, variables, least, most, site=None):
        """The number of some edges in a tree, less one if a site is paid for."""
        signs = np.ones(len(variables))
        if site is not None:
            variables, signs = np.append(variables, len(self.heads) + site), np.append(signs, -1)
        self.rows.append((variables, signs, least, most))

    def solve(self):
        """What the best tree gains at each level; None if there is none."""
        count = len(self.heads) + len(self.sites)
        of_rows = np.repeat(np.arange(len(self.rows)), [len(row[0]) for row in self.rows])
        variables, signs = (np.concatenate([row[i] for row in self.rows]) for i in (0, 1))
        table = csr_array((signs, (of_rows, variables)), shape=(len(self.rows), count))
        limits = [LinearConstraint(table, *zip(*(row[2:] for row in self.rows), strict=True))]
        worth = []
        for place, gains in enumerate(self.worth):
            objective, level = (
                np.append(gains, np.zeros(len(self.sites))),
                len(self.worth) - 1 - place,
            )
            for site, of_site, price in self.sites.values():
                objective[len(gains) + site] = -price if of_site == level else 0
            found = milp(
                -objective,
                constraints=limits,
                bounds=Bounds(0, 1),
                integrality=np.ones(count),
                options={"mip_rel_gap": 0},
            )
            if found.x is None:
                return None
            self.chosen = found.x > 0.5
            worth.append(-found.fun)
            if level:  # whole numbers
                limits.append(LinearConstraint(objective[None], worth[-1] - 0.5, np.inf))
        return worth

    def tree(self):
        """The heads and labels that were chosen."""
        heads, labels = np.full((2, len(self.numbers)), -1)
        chosen = np.flatnonzero(self.chosen[: len(self.heads)])
        heads[self.words[chosen]], labels[self.words[chosen]] = (
            self.heads[chosen],
            self.labels[chosen],
        )
        return heads, labels

    def learn(self, conflicts, tree, labeling):
        """Add the cuts of conflicts that no site pays for; tell whether there are any."""
        learned = False
        for one in conflicts:
            ways, site = getattr(one, "alternatives", one), None
            if getattr(one, "cost", None) is not None:
                new = len(self.sites), one.level, float(one.cost)
                site = self.sites.setdefault((one.rule, one.word), new)[0]
                if (
                    len(self.heads) + site < len(self.chosen)
                    and self.chosen[len(self.heads) + site]
                ):
                    continue
            self.constrain(cut(ways, tree, labeling, self.numbers), 0, len(ways) - 1, site)
            learned = True
        return learned


def enough_for(weight, scores):
    """Scores without the edges of trees that weigh less, however good their other edges are."""
    left = scores.copy()
    left[:, 0] = left[np.arange(len(left)), np.arange(len(left))] = -np.inf
    best = left[:, 1:].max(axis=(0, 2))
    left[:, 1:][best.sum() - best[:, None] + left[:, 1:] < weight - 1e-3] = -np.inf
    return left


def cut(conflict, tree, labeling, numbers):
    """The edges into one word each that are against an alternative, that of the tree too."""
    flat = np.concatenate([against(way, tree, labeling, numbers) for way in conflict])
    return flat[flat >= 0]


def against(alternative, tree, labeling, numbers):
    """The edges into one word that are against an alternative, among them that of the tree."""
    everything = [np.arange(size) for size in numbers.shape]
    blocks = [(edges, False) for edges in alternative.forbid]
    blocks += [(edges, True) for edges in alternative.require]
    for edges, required in blocks:
        axes = [
            all_of if which is None else np.atleast_1d(np.asarray(which, int))
            for which, all_of in zip(edges, everything, strict=True)
        ]
        inside = np.zeros(numbers.shape, bool)
        inside[np.ix_(*axes)] = True
        for d in axes[1]:
            banned = inside[:, d] != required
            if d and banned[tree[d], labeling[d]]:
                return numbers[:, d][banned]
    raise AssertionError("the tree takes the alternative")


def a_cycle(tree):
    """The words of a cycle, or an empty list."""
    for start in range(1, len(tree)):
        seen, word = [], start
        while word > 0 and word not in seen:
            seen.append(word)
            word = tree[word]
        if word > 0:
            return seen[seen.index(word) :]
    return []
