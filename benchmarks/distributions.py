"""How fast are Eisner's algorithm and distributions over trees, and how right?

Beside the peers are the limits: for one tree, the greedy pass; for marginals, LAPACK's inverses of
the same Laplacians, which have to be made first and turned into marginals afterwards.
One process, one thread. ``python benchmarks/distributions.py [--quick]``
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

import arborescence as arb
from arborescence.experiments.runtime.decoders import greedy_pass
from inputs import KINDS, english_lengths, model_like, padded, projective_like
from kbest import microseconds, power
from peers import torch_struct
from timing import table

SIZES = (10, 25, 50, 100, 200)
LENGTHS = 512
BATCH = 64
ROOTS = ("single", "multi")


def laplacians(batch, lengths, root):
    """Return the Laplacians whose determinants are sums over trees; padding is the identity."""
    weights = np.exp(batch.astype(np.float64))
    words = np.arange(1, batch.shape[1])
    padding = words > np.reshape(lengths, (-1, 1))
    weights[:, 1:][padding] = 0.0
    weights[:, :, 1:].swapaxes(1, 2)[padding] = 0.0
    weights[:, words, words] = 0.0
    degrees = weights[:, 1 if root == "single" else 0 :, 1:].sum(axis=1) + padding
    matrix = -weights[:, 1:, 1:]
    matrix[:, words - 1, words - 1] = degrees
    if root == "single":
        matrix[:, 0] = weights[:, 0, 1:]  # Koo et al. (2007)
    return matrix


def marginals_by_inverse(batch, root):
    """Do what textbooks do: the shares of edges in the determinant, from the inverse."""
    inverse = np.linalg.inv(laplacians(batch, [batch.shape[1] - 1] * len(batch), root))
    weights = np.exp(batch.astype(np.float64))
    marginals = np.zeros(batch.shape)
    ways_out = np.diagonal(inverse, axis1=1, axis2=2)[:, np.newaxis].copy()
    ways_in = inverse.swapaxes(1, 2).copy()
    if root == "single":
        marginals[:, 0, 1:] = weights[:, 0, 1:] * inverse[:, :, 0]
        ways_out[:, :, 0] = 0.0
        ways_in[:, 0] = 0.0
    else:
        marginals[:, 0, 1:] = weights[:, 0, 1:] * ways_out[:, 0]
    marginals[:, 1:, 1:] = weights[:, 1:, 1:] * (ways_out - ways_in)
    words = np.arange(1, batch.shape[1])
    marginals[:, words, words] = 0.0
    return marginals


def enough(n):
    """Return how many sentences of n words to time."""
    return max(16, 40_000 // (n + 1) ** 2)


def against(peer, ours):
    return f"{peer:,.1f} ({peer / ours:,.1f}×)"


def eisner(sizes, peer):
    """Print the time for the best projective tree, and whether the peer finds one as good."""
    rows, took, compared, lighter = [], [], 0, 0
    for n in sizes:
        count = enough(n)
        batch = projective_like(np.random.default_rng(1), count, n)
        heads = np.empty((count, n + 1), np.int64)
        greedy = microseconds(lambda b=batch, h=heads: greedy_pass(b, h), count)
        free = microseconds(lambda b=batch: arb.decode(b), count)
        single = microseconds(lambda b=batch: arb.decode(b, projective=True), count)
        multi = microseconds(lambda b=batch: arb.decode(b, projective=True, root="multi"), count)
        took.append(single)
        row = [str(n), f"{greedy:.2f}", f"{free:.2f}", f"{single:.2f}", f"{single / greedy:.0f}×"]
        row += [f"{multi:.2f}", f"{single / n**3 * 1e3:.3f}"]
        if peer:
            arguments = peer.arguments(batch[:BATCH])
            some = len(batch[:BATCH])
            theirs = microseconds(
                lambda a=arguments: peer.distribution(a, projective=True).argmax, some, budget=1
            )
            parts = peer.as_edges(peer.distribution(arguments, projective=True).argmax)
            their_heads = parts.argmax(axis=1)
            their_heads[:, 0] = -1
            weight = arb.tree_weight(batch[:some], their_heads)
            best = arb.tree_weight(batch[:some], arb.decode(batch[:some], projective=True))
            compared += some
            lighter += np.count_nonzero(weight < best)
            row.append(against(theirs, single))
        rows.append(row)
    print("### The best projective tree, model-like, float32 (µs a sentence)\n")
    header = ["n words", "greedy pass", "`decode`", "Eisner, single root", "of the greedy pass"]
    header += ["Eisner, multi", "single, ns / n³"]
    table(header + ["torch-struct"] * bool(peer), rows)
    if len(sizes) > 3:
        print(f"From n = {sizes[2]} on it grows as n to the {power(sizes[2:], took[2:]):.2f}.")
    print(f"Of {compared} trees by torch-struct, {lighter} weigh less than ours.\n" if peer else "")


def next_door(rng, count, n):
    """All but equal: one unit in the last place apart, so that any sum is rounded."""
    return 1.0 + np.spacing(1.0) * rng.integers(0, 2, (count, n + 1, n + 1))


def hard(sizes):
    """Print the time for the best projective tree where rounding may decide."""
    rows = []
    for kind, make in {**KINDS, "one unit in the last place apart (float64)": next_door}.items():
        row = [kind]
        for n in sizes:
            count = max(4, enough(n) // 4)
            batch = make(np.random.default_rng(1), count, n)
            row.append(f"{microseconds(lambda b=batch: arb.decode(b, projective=True), count):.1f}")
        rows.append(row)
    print("### The best projective tree, single root (µs a sentence)\n")
    table(["scores", *(f"n = {n}" for n in sizes)], rows)


def ranked(sizes):
    """Print the time for the k best projective trees."""
    rows = []
    for n in sizes[:4]:
        count = max(4, enough(n) // 10)
        batch = projective_like(np.random.default_rng(1), count, n)
        row = [str(n)]
        row.append(f"{microseconds(lambda b=batch: arb.decode(b, projective=True), count):.1f}")
        for k in (1, 10, 50, 200, 1000):
            us = microseconds(
                lambda b=batch, k=k: arb.kbest(b, k, projective=True), count, at_least=2
            )
            row.append(f"{us:,.0f} ({us / k:,.1f})")
        rows.append(row)
    print("### The k best projective trees, single root (µs a sentence; in brackets, a tree)\n")
    table(["n words", "`decode`", *(f"k = {k:,}" for k in (1, 10, 50, 200, 1000))], rows)


def sums(sizes, peer):
    """Print the time for marginals and log-partition of sentences of equal length."""
    rows = []
    for n in sizes:
        count = enough(n)
        batch = projective_like(np.random.default_rng(2), count, n)
        arguments = peer.arguments(batch[:BATCH]) if peer else None
        some = len(batch[:BATCH])
        for root in ROOTS:
            matrices = laplacians(batch, [n] * count, root)
            limit = microseconds(lambda m=matrices: np.linalg.inv(m), count)
            less = microseconds(lambda m=matrices: np.linalg.slogdet(m), count)
            row = [f"{n}, {root}", f"{limit:.1f}", f"{less:.1f}"]
            for projective in (False, True):
                dist = lambda b=batch, r=root, p=projective: arb.TreeDistribution(  # noqa: E731
                    b, root=r, projective=p
                )
                ours = microseconds(lambda d=dist: d().marginals, count)
                row.append(f"{ours:.1f}")
                if not projective:
                    row.append(f"**{ours / limit:.1f}×**")
                row.append(f"{microseconds(lambda d=dist: d().log_partition, count):.1f}")
                if peer:
                    theirs = microseconds(
                        lambda a=arguments, r=root, p=projective: (
                            peer.distribution(a, p, r).marginals
                        ),
                        some,
                        budget=1,
                    )
                    row.append(against(theirs, ours))
            rows.append(row)
    print("### Sums over trees, model-like, float32 (µs a sentence)\n")
    header = ["n words, root", "LAPACK's inverse", "its determinant"]
    for family in ("", "projective "):
        header += [f"{family}marginals", *["of the inverse"] * (not family)]
        header += [f"{family}log-partition", *["torch-struct's marginals"] * bool(peer)]
    table(header, rows)


def real_lengths(peer):
    """Print the time for padded batches, as a parser makes them of a treebank's sentences."""
    lengths = english_lengths(LENGTHS)
    rows = []
    for order, words in (("as they come", lengths), ("sorted by length", np.sort(lengths))):
        batches = list(padded(np.random.default_rng(3), words, BATCH))

        def each(call, batches=batches, **options):
            return microseconds(lambda: [call(*batch) for batch in batches], LENGTHS, **options)

        tensors = [peer.arguments(*batch) for batch in batches] if peer else None

        def theirs(name, projective, root="single", tensors=tensors):
            def call():
                return [getattr(peer.distribution(t, projective, root), name) for t in tensors]

            return microseconds(call, LENGTHS, budget=2)

        ours = each(lambda b, k: arb.decode(b, k, projective=True))
        row = [order, "best projective tree", f"{ours:.2f}", "", ""]
        rows.append([*row, against(theirs("argmax", projective=True), ours)] if peer else row)
        for root in ROOTS:
            matrices = [laplacians(*batch, root) for batch in batches]
            own = [m[:n, :n] for (_, k), ms in zip(batches, matrices, strict=True)
                   for m, n in zip(ms, k, strict=True)]  # fmt: skip
            for name, limit in (
                ("marginals", np.linalg.inv),
                ("log_partition", np.linalg.slogdet),
            ):
                for projective in (False, True):
                    ours = each(
                        lambda b, k, name=name, r=root, p=projective: getattr(
                            arb.TreeDistribution(b, k, root=r, projective=p), name
                        )
                    )
                    what = f"{name}, {root}{', projective' * projective}"
                    row = [order, what, f"{ours:.2f}", "", ""]
                    if not projective:
                        for cell, some in ((3, matrices), (4, own)):
                            us = microseconds(lambda m=some, f=limit: [f(x) for x in m], LENGTHS)
                            row[cell] = f"{us:.2f} ({ours / us:.1f}×)"
                    if peer:
                        name_there = "partition" if name == "log_partition" else name
                        row.append(against(theirs(name_there, projective, root), ours))
                    rows.append(row)
    print(f"### {LENGTHS} sentences as long as English-EWT's, batches of {BATCH} (µs a sentence)\n")
    print(f"{np.mean(lengths):.1f} words on average, {lengths.max()} at most.\n")
    header = ["sentences", "what", "arborescence", "LAPACK, padded", "LAPACK, each by itself"]
    table(header + ["torch-struct"] * bool(peer), rows)


def single_calls(sizes, peer):
    """Print the time for one sentence at a time."""
    rows = []
    for n in sizes[:3]:
        graphs = projective_like(np.random.default_rng(4), 30, n)
        row = [str(n)]
        tensors = [peer.arguments(s[None]) for s in graphs] if peer else None
        calls = (
            ("argmax", True, lambda s: arb.decode(s, projective=True)),
            ("marginals", False, lambda s: arb.TreeDistribution(s).marginals),
            ("marginals", True, lambda s: arb.TreeDistribution(s, projective=True).marginals),
        )
        for name, projective, call in calls:
            ours = microseconds(lambda c=call, g=graphs: [c(s) for s in g], len(graphs))
            row.append(f"{ours:.1f}")
            if peer:
                us = microseconds(
                    lambda name=name, p=projective, t=tensors: [
                        getattr(peer.distribution(a, p), name) for a in t
                    ],
                    len(graphs),
                    budget=1,
                )
                row.append(against(us, ours))
        rows.append(row)
    print("### One call a sentence, single root (µs)\n")
    header = ["n words"]
    for name in ("best projective tree", "marginals", "projective marginals"):
        header += [name, *["torch-struct"] * bool(peer)]
    table(header, rows)


def peaked(n):
    """One graph in which all but one of the trees have next to no probability."""
    return 20.0 * projective_like(np.random.default_rng(5), 1, n)[0]


def trap(n, margin=50.0):
    """One graph with a cycle that outweighs the ways out by e^margin: walks hardly get away."""
    scores = projective_like(np.random.default_rng(6), 1, n, np.float64)[0]
    scores[:, 3:5] -= margin
    scores[3, 4] = scores[4, 3] = 0.0
    return scores


def samples():
    """Print the time for 1,000 trees of a sentence of 25 words."""
    graphs = {
        "model-like": projective_like(np.random.default_rng(5), 1, 25)[0],
        "crossing": model_like(np.random.default_rng(5), 1, 25)[0],
        "all equal": np.zeros((26, 26)),
        "peaked": peaked(25),
        "a cycle of margin 10": trap(25, 10.0),
        "a cycle of margin 50": trap(25, 50.0),
    }
    rows = []
    for name, scores in graphs.items():
        row = [name]
        for projective, root in ((False, "single"), (False, "multi"), (True, "single")):
            dist = arb.TreeDistribution(scores, projective=projective, root=root)
            for k, replace in ((1000, True), (100, False)):
                ms = microseconds(
                    lambda d=dist, k=k, r=replace: d.sample(k, 0, replace=r), 1000, at_least=2
                )
                row.append(f"{ms:.2f}")
        rows.append(row)
    print("### Draws from one sentence of 25 words (ms)\n")
    header = ["scores"]
    for kind in ("single", "multi", "projective"):
        header += [f"{kind}: 1,000 trees", "100 different ones"]
    table(header, rows)


def truth(scores, root, projective):
    """Return the marginals by adding up all trees, one by one."""
    heads, weights = map(np.array, zip(*arb.trees(scores, root=root), strict=True))
    if projective:
        kept = arb.is_projective(heads)
        heads, weights = heads[kept], weights[kept]
    shares = np.exp(weights - weights.max())
    marginals = np.zeros(scores.shape)
    for d in range(1, len(scores)):
        np.add.at(marginals[:, d], heads[:, d], shares)
    return marginals / shares.sum()


def right(peer):
    """Print the largest error of a marginal in graphs of five words, by graph and by method."""
    rng = np.random.default_rng(7)
    usual = projective_like(rng, 1, 5, np.float64)[0]
    absent = usual.copy()
    absent[3, 1] = absent[0, 4] = absent[2, 5] = -np.inf
    graphs = {
        "model-like": usual,
        "15 less on all edges": usual - 15.0,
        "100 more on all edges": usual + 100.0,
        "800 more on all edges": usual + 800.0,
        "three edges absent (-inf)": absent,
        "three edges masked (-1e9)": np.maximum(absent, -1e9),
        "a cycle of margin 20": trap(5, 20.0),
        "a cycle of margin 35": trap(5, 35.0),
        "a cycle of margin 50": trap(5, 50.0),
    }
    rows = []
    with np.errstate(all="ignore"):
        for name, scores in graphs.items():
            row = [name]
            for projective in (False, True):
                exact = truth(scores, "single", projective)
                dist = arb.TreeDistribution(scores, projective=projective)
                found = [dist.marginals]
                if not projective:
                    try:
                        found.append(marginals_by_inverse(scores[None], "single")[0])
                    except np.linalg.LinAlgError:
                        found.append(np.nan)
                for dtype in (np.float64, np.float32) if peer else ():
                    arguments = peer.arguments(scores[None].astype(dtype))
                    try:
                        parts = peer.distribution(arguments, projective).marginals
                        found.append(peer.as_edges(parts)[0])
                    except RuntimeError:  # a singular matrix
                        found.append(np.nan)
                row += [f"{np.abs(marginals - exact).max():.0e}" for marginals in found]
            rows.append(row)
    print("### The largest error of a marginal, five words, single root\n")
    there = ["torch-struct, float64", "torch-struct, float32"] if peer else []
    header = ["graph", "arborescence", "matrix inverse, float64", *there]
    table([*header, "arborescence, projective", *there], rows)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="only up to 50 words")
    sizes = SIZES[:3] if options.parse_args().quick else SIZES
    peer = torch_struct()
    right(peer)
    samples()
    eisner(sizes, peer)
    hard(sizes)
    ranked(sizes)
    single_calls(sizes, peer)
    real_lengths(peer)
    sums(sizes, peer)


if __name__ == "__main__":
    main()
