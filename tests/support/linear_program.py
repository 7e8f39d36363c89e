"""The best tree that keeps rules as an integer linear program, whose constraints come one by one.

As in Riedel and Clarke (2006): solve, find a cycle or a conflict, add a constraint, solve again.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array


def best_weight(scores, conflicts):
    """The highest weight of a tree with one root edge, or None; scores are (N, N, L)."""
    size = len(scores)
    present = np.isfinite(scores)
    present[:, 0] = False
    present[np.arange(size), np.arange(size)] = False
    heads, words, which = np.nonzero(present)
    numbers = np.full(scores.shape, -1)
    numbers[present] = np.arange(len(heads))
    rows, low, high = [], [], []

    def constrain(variables, least, most):
        rows.append(np.bincount(variables, minlength=len(heads)))
        low.append(least)
        high.append(most)

    for d in range(1, size):
        constrain(np.flatnonzero(words == d), 1, 1)
    constrain(np.flatnonzero(heads == 0), 1, 1)
    while True:
        found = milp(
            -scores[present],
            constraints=LinearConstraint(csr_array(np.array(rows)), low, high),
            bounds=Bounds(0, 1),
            integrality=np.ones(len(heads)),
            options={"mip_rel_gap": 0},
        )
        if found.x is None:
            return None
        chosen = found.x > 0.5
        tree, labeling = np.full(size, -1), np.full(size, -1)
        tree[words[chosen]], labeling[words[chosen]] = heads[chosen], which[chosen]
        if cycle := a_cycle(tree):
            within = np.isin(heads, cycle) & np.isin(words, cycle)
            constrain(np.flatnonzero(within), 0, len(cycle) - 1)
        elif broken := conflicts(tree.copy(), labeling.copy()):
            for conflict in (getattr(one, "alternatives", one) for one in broken):
                constrain(cut(conflict, tree, labeling, numbers), 0, len(conflict) - 1)
        else:
            return -found.fun


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
