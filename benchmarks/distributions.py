"""How fast are Eisner's algorithm and distributions over trees, and how right?

Beside the peers are the limits: for one tree, the greedy pass; for marginals, LAPACK's inverses of
the same Laplacians, which have to be made first and turned into marginals afterwards.
One process, one thread. ``python benchmarks/distributions.py [--quick]``
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

import arborescence as arb
from arborescence_papers.runtime.decoders import greedy_pass
from inputs import KINDS, english_lengths, model_like, padded, projective_like
from peers import torch_struct
from recording import Results, options
from timing import microseconds

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


def eisner(results, sizes, peer):
    """The time for the best projective tree, and whether the peer finds one as good."""
    rows, compared, lighter = [], 0, 0
    for n in sizes:
        count = enough(n)
        batch = projective_like(np.random.default_rng(1), count, n)
        heads = np.empty((count, n + 1), np.int64)
        row = [
            n,
            microseconds(lambda b=batch, h=heads: greedy_pass(b, h), count),
            microseconds(lambda b=batch: arb.decode(b), count),
            microseconds(lambda b=batch: arb.decode(b, projective=True), count),
            microseconds(lambda b=batch: arb.decode(b, projective=True, root="multi"), count),
        ]
        if peer:
            arguments = peer.arguments(batch[:BATCH])
            some = len(batch[:BATCH])
            row.append(microseconds(
                lambda a=arguments: peer.distribution(a, projective=True).argmax, some, at_least=2
            ))  # fmt: skip
            parts = peer.as_edges(peer.distribution(arguments, projective=True).argmax)
            their_heads = parts.argmax(axis=1)
            their_heads[:, 0] = -1
            weight = arb.tree_weight(batch[:some], their_heads)
            best = arb.tree_weight(batch[:some], arb.decode(batch[:some], projective=True))
            compared += some
            lighter += int(np.count_nonzero(weight < best))
        rows.append(row)
    there = ["torch-struct"] * bool(peer)
    results.table(
        "eisner", ["n", "greedy pass", "decode", "single", "multi", *there], rows,
        unit="µs a sentence",
        condition="model-like, the tree has no crossings, float32, batches (torch-struct: of 64 at "
        "most), one thread, processor time, least of runs",
    )  # fmt: skip
    if peer:
        results.table("eisner, peers", ["trees", "lighter"], [[compared, lighter]], unit="trees")


def next_door(rng, count, n):
    """All but equal: one unit in the last place apart, so that any sum is rounded."""
    return 1.0 + np.spacing(1.0) * rng.integers(0, 2, (count, n + 1, n + 1))


def hard(results, sizes):
    """The time for the best projective tree where rounding may decide."""
    rows = []
    for kind, make in {**KINDS, "one unit in the last place apart (float64)": next_door}.items():
        row = [kind]
        for n in sizes:
            count = max(4, enough(n) // 4)
            batch = make(np.random.default_rng(1), count, n)
            row.append(
                microseconds(lambda b=batch: arb.decode(b, projective=True), count, at_least=2)
            )
        rows.append(row)
    results.table(
        "eisner, kinds", ["scores", *(f"n = {n}" for n in sizes)], rows, unit="µs a sentence",
        condition="best projective tree, exactly one root edge, batches",
    )  # fmt: skip


def ranked(results, sizes):
    """The time for the k best projective trees."""
    ks = (1, 10, 50, 200, 1000)
    rows = []
    for n in sizes[:4]:
        count = max(4, enough(n) // 10)
        batch = projective_like(np.random.default_rng(1), count, n)
        rows.append([
            n, microseconds(lambda b=batch: arb.decode(b, projective=True), count),
            *(
                microseconds(
                    lambda b=batch, k=k: arb.kbest(b, k, projective=True), count, at_least=2
                ) for k in ks
            ),
        ])  # fmt: skip
    results.table(
        "eisner, k best", ["n", "decode", *(f"k = {k:,}" for k in ks)], rows, unit="µs a sentence",
        condition="model-like, exactly one root edge, batches",
    )  # fmt: skip


def sums(results, sizes, peer):
    """The time for marginals and log-partition of sentences of equal length."""
    rows = []
    for n in sizes:
        count = enough(n)
        batch = projective_like(np.random.default_rng(2), count, n)
        arguments = peer.arguments(batch[:BATCH]) if peer else None
        some = len(batch[:BATCH])
        for root in ROOTS:
            matrices = laplacians(batch, [n] * count, root)
            row = [
                n, root,
                microseconds(lambda m=matrices: np.linalg.inv(m), count),
                microseconds(lambda m=matrices: np.linalg.slogdet(m), count),
            ]  # fmt: skip
            for projective in (False, True):
                dist = lambda b=batch, r=root, p=projective: arb.TreeDistribution(  # noqa: E731
                    b, root=r, projective=p
                )
                row.append(microseconds(lambda d=dist: d().marginals(), count))
                row.append(microseconds(lambda d=dist: d().log_partition(), count))
                if peer:
                    row.append(microseconds(
                        lambda a=arguments, r=root, p=projective: (
                            peer.distribution(a, p, r).marginals
                        ),
                        some, at_least=2,
                    ))  # fmt: skip
            rows.append(row)
    there = ["torch-struct"] * bool(peer)
    header = ["n", "root", "LAPACK's inverse", "LAPACK's determinant"]
    header += ["marginals", "log_partition", *there]
    header += [f"projective {name}" for name in ("marginals", "log_partition", *there)]
    results.table(
        "sums", header, rows, unit="µs a sentence",
        condition="model-like, float32 (LAPACK: float64), batches of one length, one thread, "
        "processor time, least of runs",
    )  # fmt: skip


def real_lengths(results, peer):
    """The time for padded batches, as a parser makes them of a treebank's sentences."""
    lengths = english_lengths(LENGTHS)
    rows = []
    for order, words in (("as they come", lengths), ("sorted by length", np.sort(lengths))):
        batches = list(padded(np.random.default_rng(3), words, BATCH))

        def each(call, batches=batches):
            return microseconds(lambda: [call(*batch) for batch in batches], LENGTHS)

        tensors = [peer.arguments(*batch) for batch in batches] if peer else None

        def theirs(name, projective, tensors=tensors):
            def call():
                return [getattr(peer.distribution(t, projective), name) for t in tensors]

            return [microseconds(call, LENGTHS, at_least=1)] if peer else []

        matrices = [laplacians(*batch, "single") for batch in batches]
        own = [m[:n, :n] for (_, k), ms in zip(batches, matrices, strict=True)
               for m, n in zip(ms, k, strict=True)]  # fmt: skip
        rows.append([
            order, "best projective tree",
            each(lambda b, k: arb.decode(b, k, projective=True)), "", "",
            *theirs("argmax", projective=True),
        ])  # fmt: skip
        for name, limit in (("marginals", np.linalg.inv), ("log_partition", np.linalg.slogdet)):
            for projective in (False, True):
                limits = ["", ""]
                if not projective:
                    limits = [
                        microseconds(lambda m=some, f=limit: [f(x) for x in m], LENGTHS)
                        for some in (matrices, own)
                    ]
                rows.append([
                    order, f"{'projective ' * projective}{name}",
                    each(lambda b, k, name=name, p=projective: getattr(
                        arb.TreeDistribution(b, k, projective=p), name
                    )),
                    *limits,
                    *theirs("partition" if name == "log_partition" else name, projective),
                ])  # fmt: skip
    there = ["torch-struct"] * bool(peer)
    header = ["order", "what", "arborescence", "LAPACK, padded", "LAPACK, one call each", *there]
    results.table(
        "lengths", header, rows, unit="µs a sentence",
        condition=f"{LENGTHS} sentences as long as English-EWT's ({np.mean(lengths):.1f} words on "
        f"average, {lengths.max()} at most), padded batches of {BATCH}, exactly one root edge",
    )  # fmt: skip


def single_calls(results, sizes, peer):
    """The time for one sentence at a time."""
    calls = (
        ("best projective tree", "argmax", True, lambda s: arb.decode(s, projective=True)),
        ("marginals", "marginals", False, lambda s: arb.TreeDistribution(s).marginals()),
        ("projective marginals", "marginals", True,
         lambda s: arb.TreeDistribution(s, projective=True).marginals()),
    )  # fmt: skip
    rows = []
    for n in sizes[:3]:
        graphs = projective_like(np.random.default_rng(4), 30, n)
        tensors = [peer.arguments(s[None]) for s in graphs] if peer else []
        for what, name, projective, call in calls:
            row = [n, what, microseconds(lambda c=call, g=graphs: [c(s) for s in g], len(graphs))]
            if peer:
                row.append(microseconds(
                    lambda name=name, p=projective, t=tensors: [
                        getattr(peer.distribution(a, p), name) for a in t
                    ],
                    len(graphs), at_least=1,
                ))  # fmt: skip
            rows.append(row)
    results.table(
        "calls", ["n", "what", "arborescence", *["torch-struct"] * bool(peer)], rows,
        unit="µs a sentence", condition="one call a sentence, exactly one root edge",
    )  # fmt: skip


def peaked(n):
    """One graph in which all but one of the trees have next to no probability."""
    return 20.0 * projective_like(np.random.default_rng(5), 1, n)[0]


def trap(n, margin=50.0):
    """One graph with a cycle that outweighs the ways out by e^margin: walks hardly get away."""
    scores = projective_like(np.random.default_rng(6), 1, n, np.float64)[0]
    scores[:, 3:5] -= margin
    scores[3, 4] = scores[4, 3] = 0.0
    return scores


def samples(results):
    """The time for 1,000 trees of a sentence of 25 words."""
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
                row.append(ms)
        rows.append(row)
    header = ["scores"]
    for kind in ("single", "multi", "projective"):
        header += [f"{kind}: 1,000 trees", f"{kind}: 100 different"]
    results.table("samples", header, rows, unit="ms", condition="one sentence of 25 words")


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


def right(results, peer):
    """The largest error of a marginal in graphs of five words, by graph and by method."""
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
                found = [dist.marginals()]
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
    there = ["torch-struct, float64", "torch-struct, float32"] if peer else []
    header = ["graph", "arborescence", "matrix inverse, float64", *there]
    header += [f"projective: {name}" for name in ("arborescence", *there)]
    results.table(
        "errors", header, rows, unit="probability",
        condition="the largest error of a marginal, five words, exactly one root edge",
    )  # fmt: skip


def main():
    quick = options(__doc__).quick
    results = Results("distributions", "Eisner's algorithm and distributions over trees", quick)
    sizes = SIZES[:3] if quick else SIZES
    peer = torch_struct()
    eisner(results, sizes, peer)
    sums(results, sizes, peer)
    real_lengths(results, peer)
    single_calls(results, sizes, peer)
    hard(results, sizes)
    ranked(results, sizes)
    samples(results)
    right(results, peer)
    results.save()


if __name__ == "__main__":
    main()
