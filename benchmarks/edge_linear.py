"""Is parsing through undirected trees edge-linear? Time by the number of edges, for fixed n.

Beside it: `decode_sparse`, which is exact, and both decoders on the matrix of the same edges.

One process, one thread. ``python benchmarks/edge_linear.py [--quick]``
"""

from __future__ import annotations

from time import process_time

import numpy as np

import arborescence as arb
from arborescence import undirected
from recording import Results, options
from timing import least_seconds

#: Words, and the numbers of edges.
SIZES = {
    100: (300, 1000, 3000, 10_000),
    1000: (3000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    10_000: (30_000, 100_000, 300_000, 1_000_000),
}
LARGEST_MATRIX = 1000


def graph(rng, n, m):
    """Edges anywhere, weights from N(0, 1), and a path of all words, both ways."""
    heads, deps = rng.integers(0, n + 1, m), rng.integers(1, n + 1, m)
    path = rng.permutation(n) + 1
    heads[:n], deps[:n] = np.r_[0, path[:-1]], path
    heads[n : 2 * n - 1], deps[n : 2 * n - 1] = path[1:], path[:-1]
    return heads, deps, rng.normal(size=m)


def calls(n, edges):
    """Each decoder of the graph, by name."""
    yield "undirected, kkt", lambda: undirected.decode_sparse(n, *edges, algorithm="kkt")
    yield "undirected, auto", lambda: undirected.decode_sparse(n, *edges)
    yield "exact", lambda: arb.decode_sparse(n, *edges)
    if n <= LARGEST_MATRIX:
        heads, deps, weights = edges
        scores = np.full((n + 1, n + 1), -np.inf)
        np.maximum.at(scores, (heads, deps), weights)
        yield "undirected, matrix", lambda: undirected.decode(scores)
        yield "exact, matrix", lambda: arb.decode(scores)


def main():
    quick = options(__doc__).quick
    results = Results("edge_linear", __doc__.partition("\n\n")[0], quick)
    rng = np.random.default_rng(0)
    rows, exponents = [], []
    for n, sizes in SIZES.items():
        found = {}
        for m in sizes[:3] if quick else sizes:
            row = {}
            for name, call in calls(n, graph(rng, n, m)):
                row[name] = 1e6 * least_seconds(call, clock=process_time, budget=0.5)
                found.setdefault(name, []).append(row[name])
            rows.append([n, m, *row.values(), *["–"] * (5 - len(row))])
        names = list(found)
        if n > min(SIZES):  # for few words, a fixed price hides how time grows
            logarithms = np.log(sizes[: len(found["exact"])])
            slopes = (np.polyfit(logarithms, np.log(found[name]), 1)[0] for name in names[:3])
            exponents.append([n, *map(float, slopes)])
    columns = ["undirected, kkt", "undirected, auto", "exact"]
    of_matrix = ["undirected, matrix", "exact, matrix"]
    results.table("times", ["words", "edges", *columns, *of_matrix], rows, unit="µs a sentence")
    results.table("exponents", ["words", *columns], exponents, condition="of m, least squares")
    results.save()


if __name__ == "__main__":
    main()
