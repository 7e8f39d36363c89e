"""The laws of distributions over the trees of small graphs, alone and in pairs."""

from __future__ import annotations

import numpy as np

import arborescence as arb
from cases import Case, WrongError, examine, examine_laws
from kinds import KINDS, ORDINARY, options, random_kind, small_graph
from laws import sums

LAWS = (sums.totals, sums.probabilities, sums.moments, sums.draws, sums.most_right_heads)


def attack(rng):
    for _ in range(10):
        kinds = KINDS if rng.random() < 0.6 else ORDINARY
        case = Case((small_graph(rng, kinds),), {**options(rng), "seed": int(rng.integers(10**6))})
        yield from examine_laws(case, *LAWS)
        if kinds is ORDINARY:
            yield from examine_laws(case, sums.in_torch)
    for _ in range(6):
        n = int(rng.integers(1, 5))
        graphs = tuple(random_kind(rng, ORDINARY)(rng, n).astype(np.float64) for _ in range(2))
        pair = {f"of_{name}": tuple(options(rng).values()) for name in ("one", "other")}
        yield from examine_laws(Case(graphs, pair), sums.divergence)
    yield from examine(other_lengths, Case((rng.normal(size=(n + 1, n + 1)),), {"n": n}))


def other_lengths(case):
    """Distributions over sentences of other lengths cannot be compared."""
    n = case.options["n"]
    both = np.stack([case.scores, case.scores])
    one, other = arb.TreeDistribution(both, [n, n]), arb.TreeDistribution(both, [n, n - 1])
    for name, call in (("kl", one.kl), ("cross_entropy", other.cross_entropy)):
        try:
            call(other if name == "kl" else one)
        except arb.ScoresError:
            continue
        raise WrongError(f"{name} compares sentences of other lengths")
