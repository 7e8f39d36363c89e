"""Head columns of any kind become trees: the nearest ones, where all trees can be looked at."""

from __future__ import annotations

from functools import cache
from math import inf, nan

import numpy as np

import arborescence as arb
from brute_force import all_trees
from cases import Case, WrongError, examine

COLUMNS = 1000  # of a round
_ODD = (None, -1, 99, 10**30, -(10**30), nan, inf, 0.5, 2.0, "2", "", "x", True, b"1", 1j, (), [1])
_SIZES = (0.0, 1.0, 1e308, 1.7976931348623157e308, 5e-324)  # of scores
_FEW = 4  # words, up to which all trees are looked at


def attack(rng):
    for _ in range(COLUMNS):
        n = int(rng.choice([1, 2, 3, 4, 4, 7, 20]))
        column = rng.integers(-1, n + 2, n + 1).tolist()
        for word in np.flatnonzero(rng.random(n + 1) < rng.choice([0, 0.2, 1])):
            column[word] = _ODD[rng.integers(len(_ODD))]
        how = {"root": str(rng.choice(["single", "multi"])), "projective": bool(rng.random() < 0.3)}
        scores = None
        if rng.random() < 0.5:
            scores = rng.choice(_SIZES, (n + 1, n + 1)) * rng.choice([-1, 1], (n + 1, n + 1))
        yield from examine(nearest, Case((), {"column": column, "scores": scores, **how}))


@cache
def trees_of(n, root, projective):
    return np.array(list(all_trees(n, root == "single", projective)))


def nearest(case):
    column, how = case.options["column"], case.trees
    with np.errstate(all="raise", under="ignore"):
        found = arb.repair(column, len(column) - 1, scores=case.options["scores"], **how).heads
    if not arb.is_tree(found, how["root"]):
        raise WrongError("no tree", found.tolist())
    if how["projective"] and not arb.is_projective(found):
        raise WrongError("crossing edges", found.tolist())
    n = len(found) - 1
    if n <= _FEW:
        heads = [
            value if isinstance(value, int | float) and value in range(n + 1) else -1
            for value in column
        ]
        kept = (trees_of(n, **how)[:, 1:] == heads[1:]).sum(axis=1).max()
        if (found[1:] == heads[1:]).sum() != kept:
            raise WrongError("not the nearest tree", found.tolist(), int(kept))
