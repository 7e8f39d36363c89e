"""How fast is `decode_sparse`: beside one pass over the edges, and the matrix, as graphs grow?

`graphs.py` has other libraries.

One process, one thread. ``python benchmarks/sparse.py [--quick]``
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from time import process_time

import numpy as np

import arborescence as arb
from arborescence.compiling.kernels import kernel
from inputs import model_like
from recording import Results, options
from timing import least_seconds


@kernel
def greedy_pass(heads, deps, weights, best, head):
    """Read every edge once: the best head of each word. No exact decoder can do less."""
    best[:] = -np.inf
    for i in range(weights.shape[0]):
        if weights[i] > best[deps[i]]:
            best[deps[i]] = weights[i]
            head[deps[i]] = heads[i]


def random_graph(n, m):
    """m edges between any nodes, of which n form a tree; weights in [0, 1)."""
    rng = np.random.default_rng(n)
    words = np.arange(1, n + 1)
    tree = (rng.random(n) * words).astype(np.int64)  # each head stands before its word
    heads = np.r_[tree, rng.integers(0, n + 1, m - n)]
    deps = np.r_[words, rng.integers(1, n + 1, m - n)]
    order = rng.permutation(m)
    return heads[order], deps[order], rng.random(m)


def local_graph(n, m):
    """Parse-like: m / n heads for each word, few of them far away, and one that is much better."""
    rng = np.random.default_rng(n)
    many = m // n
    deps = np.repeat(np.arange(1, n + 1), many)
    far = rng.geometric(0.2, deps.size)
    heads = deps + np.where(rng.random(deps.size) < 0.5, far, -far)
    weights = rng.normal(0.0, 2.0, deps.size)
    weights[::many] += 6
    heads[1::many] = deps[1::many] - 1  # a path, so that there is a tree
    inside = (heads >= 1) & (heads <= n)
    roots = np.r_[1, rng.integers(1, n + 1, n // 100)]
    heads, deps = np.r_[heads[inside], 0 * roots], np.r_[deps[inside], roots]
    weights = np.r_[weights[inside], np.full(roots.size, -5.0)]
    order = rng.permutation(heads.size)
    return heads[order], deps[order], weights[order]


def nested_graph(n, m):
    """Each of n - 1 contractions makes a cycle with one more word."""
    rng = np.random.default_rng(n)
    words = np.arange(3, n + 1)
    more = rng.integers(1, n + 1, (2, m - 2 * n + 1))
    heads = np.r_[2, 1, words - 1, words, 0, more[0]]
    deps = np.r_[1, 2, words, rng.integers(1, words), 1, more[1]]
    weights = np.full(m, -1e9)
    weights[:n] = 10.0
    weights[n : 2 * n - 2] = 9 - words
    weights[2 * n - 1 :] = -1e8 + rng.random(m - 2 * n + 1)
    order = rng.permutation(m)
    return heads[order], deps[order], weights[order]


def doubling_graph(n, m):  # noqa: ARG001
    """Contractions join clusters of equal size: two words, two pairs, ...; n log₂ n edges."""
    rng = np.random.default_rng(n)
    words = np.arange(n)
    pairs = [(words, words ^ 2**k, rng.random(n) - k * n) for k in range((n - 1).bit_length())]
    heads, deps, weights = map(np.concatenate, zip(*pairs, strict=True))
    inside = deps < n
    heads, deps = np.r_[heads[inside] + 1, 0, 0], np.r_[deps[inside] + 1, 1, n]
    weights = np.r_[weights[inside], np.full(2, -1e12)]
    order = rng.permutation(heads.size)
    return heads[order], deps[order], weights[order]


GRAPHS = {
    "random": random_graph,
    "local": local_graph,
    "nested cycles": nested_graph,
    "cycles of equals": doubling_graph,
}


def seconds_of(call, **options):
    return least_seconds(call, clock=process_time, **options)


def both_roots(n, edges):
    """Seconds for several root edges, and for one."""
    return [
        seconds_of(lambda r=root: arb.decode_sparse(n, *edges, root=r))
        for root in ("multi", "single")
    ]


def peak_bytes(call):
    """How far a call raises the peak of this process's memory (Linux)."""
    ctypes.CDLL(None).malloc_trim(0)  # what is free goes back, or it would be used unseen
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    call()
    return _memory("VmHWM") - before


def _memory(name):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def growth(results, sizes):
    rows, memory = [], []
    for kind, make in GRAPHS.items():
        for n in sizes:
            edges = make(n, 10 * n)
            m = edges[0].size
            best, head = np.empty(n + 1), np.empty(n + 1, np.int64)
            greedy = seconds_of(lambda e=edges, b=best, h=head: greedy_pass(*e, b, h))
            multi, single = both_roots(n, edges)
            peak = peak_bytes(lambda e=edges, k=n: arb.decode_sparse(k, *e))
            rows.append([
                kind if n == sizes[0] else "", n, m, 1e3 * greedy, 1e3 * multi, 1e3 * single,
                int(single / m * 1e9), int(single / greedy),
            ])  # fmt: skip
            memory.append([kind, n, int(peak / m)])
    results.table(
        "growth",
        ["graph", "words", "edges", "greedy pass, ms", '`"multi"`, ms', '`"single"`, ms',
         "ns an edge", "× greedy pass"],
        rows, unit="as the columns say", condition="processor time of one thread, least of runs",
    )  # fmt: skip
    results.table(
        "memory", ["graph", "words", "bytes an edge"], memory, unit="bytes",
        condition="by how much a call raises the peak of the process",
    )  # fmt: skip


def kept(scores, share):
    """Edges of scores (N, N): the best ones into each word, as many as the share says."""
    n = len(scores) - 1
    many = max(1, round(share * n))
    order = np.argsort(-scores[:, 1:], axis=0)[:many]  # the diagonal is -inf
    deps = np.broadcast_to(np.arange(1, n + 1), order.shape)
    heads, deps = order.ravel(), deps.ravel()
    words = np.arange(1, n + 1)  # so that there is a tree: all root edges, and a path
    heads, deps = np.r_[heads, 0 * words, words - 1], np.r_[deps, words, words]
    return heads, deps, scores[heads, deps]


def beside_dense(results, sizes):
    """Model-like scores, full and pruned: the matrix against the edges that are left."""
    shares = (1.0, 0.5, 0.25, 0.14, 0.05)
    rows = []
    for n in sizes:
        batch = model_like(np.random.default_rng(n), max(4, 5000 // n), n, np.float64)
        row = [n, 1e6 * seconds_of(lambda b=batch: [arb.decode(s) for s in b]) / len(batch)]
        for share in shares:
            lists = [kept(scores, share) for scores in batch]
            sparse = seconds_of(
                lambda g=lists, k=n: [arb.decode_sparse(k, *edges) for edges in g]
            ) / len(batch)
            row.append(1e6 * sparse)
        rows.append(row)
    results.table(
        "dense",
        ["words", "`decode`, the whole matrix", "all edges",
         *(f"{share:.0%}".replace("%", " %") for share in shares[1:])],
        rows, unit="µs a sentence", condition="model-like scores, float64, one call each",
    )  # fmt: skip


def main():
    quick = options(__doc__).quick
    results = Results("sparse", "decode_sparse as graphs grow, and beside the matrix", quick)
    growth(results, (1000, 10_000, 100_000, 1_000_000)[: 2 if quick else 4])
    beside_dense(results, (25, 50, 100, 200, 400, 800)[: 3 if quick else 6])
    results.save()


if __name__ == "__main__":
    main()
