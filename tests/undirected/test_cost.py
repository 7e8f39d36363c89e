"""The steps of undirected parsing, and their cost, in uncompiled kernels."""

import sys
from functools import partial

import numpy as np
import pytest

from arborescence.undirected import decode_sparse
from arborescence.undirected.edges import UndirectedEdges
from arborescence.undirected.kkt import kkt
from effort import steps
from modes import UNCOMPILED

pytestmark = pytest.mark.skipif(
    not UNCOMPILED, reason="counts steps of Python: NUMBA_DISABLE_JIT=1"
)
WORDS = 300


def test_steps_grow_with_the_edges():
    """Encode, span by Karger, Klein and Tarjan, direct, enhance: linear in the number of edges."""

    def cost(m):
        rng = np.random.default_rng(m)
        heads, deps = rng.integers(0, WORDS + 1, m), rng.integers(1, WORDS + 1, m)
        heads[:WORDS], deps[:WORDS] = range(WORDS), range(1, WORDS + 1)  # so that there is a tree
        weights = rng.normal(size=m)
        decode = partial(decode_sparse, algorithm="kkt", rng=1)
        return steps("arborescence/undirected/", decode, WORDS, heads, deps, weights)

    few, many = cost(1_000), cost(8_000)
    assert many < 1.3 * 8 * few


def test_the_steps_of_algorithm_2(monkeypatch):
    """Two Borůvka steps, a random half, its forest by recursion, heavy edges; then the rest."""
    module = sys.modules[kkt.__module__]
    called = []
    for name in ("boruvka_step", "_sample", "kkt", "drop_heavy"):
        kernel = getattr(module, name)

        def noted(*given, name=name, kernel=kernel):
            called.append(name)
            result = kernel(*given)
            called.append(f"end of {name}")
            return result

        monkeypatch.setattr(module, name, noted)
    rng = np.random.default_rng(2)
    n, m = 300, 450
    u, v = rng.integers(0, n, (2, m)).astype(np.int32)
    edges = UndirectedEdges(u, v, rng.normal(size=m), np.arange(m, dtype=np.int32))
    module.kkt(n, edges, np.zeros(m, np.bool_), np.array([7], np.uint64))
    steps, rounds = "boruvka_step;end of boruvka_step;" * 2, ";".join(called) + ";"
    assert rounds.startswith("kkt;" + steps + "_sample;end of _sample;kkt;")
    assert rounds.endswith("end of kkt;")
    assert rounds.count("_sample;end") == rounds.count("end of kkt;drop_heavy;") > 0
    assert rounds.count("end of drop_heavy;" + steps) > 0
    assert "end of kkt;kkt" not in rounds
