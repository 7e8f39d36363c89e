"""How fast is `decode`, beside the greedy pass and its peers, on the same scores in one run?

One process, one thread. ``python benchmarks/decoding.py [--quick]``
"""

from __future__ import annotations

import numpy as np

import arborescence as arb
from arborescence.errors import ArborescenceError
from arborescence.inference.decode import best_labels
from arborescence_papers.baselines import reweighted
from arborescence_papers.runtime.decoders import greedy_pass
from inputs import KINDS, english_scores, masked
from peers import installed
from recording import Results, options
from timing import least_seconds, microseconds

SIZES = (10, 25, 50, 100, 200)


def batches(results, sizes, kinds):
    """Each kind of scores beside the greedy pass over the same ones, in either layout."""
    rows = []
    for kind, dtype in kinds:
        for n in sizes:
            count = max(40, 400_000 // (n + 1) ** 2)
            batch = KINDS[kind](np.random.default_rng(1), count, n, dtype)
            heads = np.empty((count, n + 1), np.int64)
            turned = np.ascontiguousarray(batch.mT).mT
            rows.append([
                kind, np.dtype(dtype).name, n,
                microseconds(lambda b=batch, h=heads: greedy_pass(b, h), count),
                microseconds(lambda b=batch: arb.decode(b), count),
                microseconds(lambda b=batch: arb.decode(b, root="multi"), count),
                microseconds(lambda b=turned: arb.decode(b), count),
            ])  # fmt: skip
    results.table(
        "batches",
        ["scores", "type", "n", "greedy pass", "single", "multi", "single, [dependent, head]"],
        rows, unit="µs a sentence",
        condition="batches of about 1.6 MB (float32), one thread, processor time, least of runs",
    )  # fmt: skip


def single_calls(results, sizes, peers, quick):
    """One call a sentence, by this library and by its peers; None where a peer is not there."""
    rows = []
    for n in sizes:
        count = 30
        batch = KINDS["model-like"](np.random.default_rng(2), count, n, np.float32)
        row = [
            n,
            microseconds(lambda b=batch: [arb.decode(s) for s in b], count),
            microseconds(lambda b=batch: arb.decode(b), count),
            microseconds(lambda b=batch: [reweighted(s) for s in b], count),
        ]
        for name, decode in peers.items():
            some = batch[: 2 if name == "stanza" and (n > 50 or quick) else count]
            row.append(
                microseconds(
                    lambda b=some, f=decode: [f(s) for s in b], len(some), at_least=1, budget=0.3
                )
            )
        rows.append(row)
    results.table(
        "calls", ["n", "arborescence", "arborescence, batch", "reweighted", *peers], rows,
        unit="µs a sentence",
        condition="model-like, float32, exactly one root edge (ufal: no constraint), one thread",
    )  # fmt: skip


def real_scores(results):
    """The scores of the built-in linear parser for real sentences."""
    groups = {}
    for matrix in english_scores():
        groups.setdefault(min((len(matrix) - 1) // 10, 4), []).append(matrix)
    if not groups:
        return
    rows = []
    for group, scores in sorted(groups.items()):
        size = max(map(len, scores))
        greedy = microseconds(
            lambda s=scores: [greedy_pass(m[None], np.empty((1, len(m)), np.int64)) for m in s],
            len(scores),
        )
        batch = np.zeros((len(scores), size, size), np.float32)
        for row, matrix in zip(batch, scores, strict=True):
            row[: len(matrix), : len(matrix)] = matrix
        lengths = [len(m) - 1 for m in scores]
        single = microseconds(lambda b=batch, k=lengths: arb.decode(b, lengths=k), len(scores))
        calls = microseconds(lambda s=scores: [arb.decode(m) for m in s], len(scores))
        name = f"{max(1, 10 * group)} to {10 * group + 9}" if group < 4 else "40 and more"
        rows.append([name, len(scores), round(float(np.mean(lengths)), 1), single, calls, greedy])
    results.table(
        "real", ["words", "sentences", "mean", "batch", "one call each", "greedy, one call each"],
        rows, unit="µs a sentence",
        condition="scores of the model english-fast on English-EWT test, float32, one thread",
    )  # fmt: skip


def labels(results):
    """Labels and the tree, beside reading the scores once."""
    rows = []
    for many in (5, 40):
        scores = np.random.default_rng(5).normal(size=(20, 26, 26, many)).astype(np.float32)
        highest = scores.max(axis=-1)
        bits = scores.view(np.uint32)
        calls = (
            lambda b=bits: np.bitwise_xor.reduce(b, axis=None), lambda s=scores: s.max(axis=-1),
            lambda s=scores: best_labels(s, 1), lambda s=highest: arb.decode(s),
            lambda s=scores: arb.decode_labeled(s),
        )  # fmt: skip
        rows.append([many, *(microseconds(call, len(scores)) for call in calls)])
    results.table(
        "labels",
        ["labels", "reading", "max of NumPy", "best labels", "decode", "decode_labeled"],
        rows, unit="µs a sentence",
        condition="25 words, normal scores, float32, batches of 20, one thread",
    )  # fmt: skip


def threads(results):
    """One batch on one thread and on two."""
    batch = KINDS["model-like"](np.random.default_rng(3), 40_000, 25, np.float32)
    rows = [
        [many, 1e3 * least_seconds(lambda k=many: arb.decode(batch, threads=k))] for many in (1, 2)
    ]
    results.table(
        "threads", ["threads", "milliseconds"], rows, unit="ms",
        condition="40,000 model-like sentences of 25 words, float32",
    )  # fmt: skip


def wrong(results, peers):
    """Count wrong trees, against ours (exact, as the tests prove)."""
    rng = np.random.default_rng(4)
    graphs = masked(rng, 150, 5)
    best = arb.tree_weight(graphs, arb.decode(graphs))
    rows = []
    for name, decode in {"arborescence": arb.decode, "reweighted": reweighted, **peers}.items():
        if name.startswith("ufal"):
            continue  # it knows no root constraint
        count = failed = 0
        for scores, weight in zip(graphs, best, strict=True):
            try:
                heads = decode(scores)
            except (AssertionError, ArborescenceError):
                failed += 1
                continue
            count += not arb.is_tree(heads) or arb.tree_weight(scores, heads) < weight
        rows.append([name, int(count), failed])
    results.table(
        "wrong", ["decoder", "wrong trees", "errors"], rows, unit="graphs",
        condition="150 graphs of 5 words, 30 % of the edges masked with float32's lowest value",
    )  # fmt: skip


def main():
    quick = options(__doc__).quick
    results = Results("decoding", "decode beside the greedy pass and its peers", quick)
    sizes = SIZES[:3] if quick else SIZES
    peers = installed()
    kinds = [(kind, np.float32) for kind in KINDS]
    if not quick:
        kinds += [("model-like", np.float64), ("uniform", np.float64)]
    batches(results, sizes, kinds)
    single_calls(results, sizes, peers, quick)
    wrong(results, peers)
    real_scores(results)
    labels(results)
    threads(results)
    results.save()


if __name__ == "__main__":
    main()
