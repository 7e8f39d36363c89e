"""How fast is `decode`, beside the greedy pass and its peers, on the same scores in one run?

One process, one thread. ``python benchmarks/decoding.py [--quick]``
"""

from __future__ import annotations

import argparse

import numpy as np

import arborescence as arb
from arborescence.core.errors import ArborescenceError
from arborescence.experiments.runtime.decoders import greedy_pass
from arborescence.inference.decode import best_labels
from arborescence.nonprojective.baselines import reweighted
from inputs import KINDS, TREEBANKS, masked
from peers import installed
from timing import least_seconds, table

SIZES = (10, 25, 50, 100, 200)


def microseconds(call, count, **options):
    return least_seconds(call, **options) / count * 1e6


def batches(kind, dtype, sizes):
    rows = []
    for n in sizes:
        count = max(40, 400_000 // (n + 1) ** 2)
        batch = KINDS[kind](np.random.default_rng(1), count, n, dtype)
        heads = np.empty((count, n + 1), np.int64)
        greedy = microseconds(lambda b=batch, h=heads: greedy_pass(b, h), count)
        single = microseconds(lambda b=batch: arb.decode(b), count)
        multi = microseconds(lambda b=batch: arb.decode(b, root="multi"), count)
        deps = np.ascontiguousarray(batch.mT).mT
        turned = microseconds(lambda b=deps: arb.decode(b), count)
        rows.append([
            str(n), f"{greedy:.2f}", f"{single:.2f}", f"**{single / greedy:.1f}×**",
            f"{multi:.2f}", f"{multi / greedy:.1f}×", f"{turned:.2f}",
        ])  # fmt: skip
    print(f"### Batches, {kind}, {np.dtype(dtype).name} (µs a sentence)\n")
    table(
        ["n words", "greedy pass", "single root", "ratio", "multi", "ratio", "single, `scores.mT`"],
        rows,
    )


def single_calls(sizes, peers, quick):
    rows = []
    for n in sizes:
        count = 30
        batch = KINDS["model-like"](np.random.default_rng(2), count, n, np.float32)
        ours = microseconds(lambda b=batch: [arb.decode(s) for s in b], count)
        row = [str(n), f"{ours:.1f}"]
        row.append(f"{microseconds(lambda b=batch: [reweighted(s) for s in b], count):.1f}")
        for name, decode in peers.items():
            some = batch[: 2 if name == "stanza" and (n > 50 or quick) else count]
            theirs = microseconds(
                lambda b=some, f=decode: [f(s) for s in b], len(some), at_least=1, budget=0.3
            )
            row.append(f"{theirs:.1f} ({theirs / ours:,.0f}×)")
        rows.append(row)
    print("### One call a sentence, model-like, float32 (µs; in brackets, against ours)\n")
    table(["n words", "arborescence, single root", "reweighted", *peers], rows)


def real_scores():
    from arborescence.treebank import read

    files = sorted((TREEBANKS / "English-EWT").glob("*test*"))
    if not files:
        print("(no ../shared/ud/English-EWT: real parser scores are left out)\n")
        return
    parser = arb.load("english")
    groups = {}
    for sentence in read(files[0]):
        groups.setdefault(min(len(sentence) // 10, 4), []).append(parser.scores(sentence))
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
        name = f"{10 * group} to {10 * group + 9}" if group < 4 else "40 and more"
        rows.append([
            name, str(len(scores)), f"{np.mean(lengths):.0f}", f"{single:.2f}", f"{calls:.2f}",
            f"{greedy:.2f}",
        ])  # fmt: skip
    print("### Scores of the built-in parser on English-EWT test (µs a sentence)\n")
    table(["words", "sentences", "mean n", "batch", "one call each", "greedy, one call each"], rows)


def labels():
    rows = []
    for many in (5, 40):
        scores = np.random.default_rng(5).normal(size=(20, 26, 26, many)).astype(np.float32)
        highest = scores.max(axis=-1)
        times = [
            microseconds(lambda f=call: f(), len(scores))
            for call in (
                scores.sum, lambda s=scores: s.max(axis=-1), lambda s=scores: best_labels(s, 1),
                lambda s=highest: arb.decode(s), lambda s=scores: arb.decode_labeled(s),
            )
        ]  # fmt: skip
        rows.append([str(many), *(f"{time:.1f}" for time in times)])
    print("### Labels, 25 words, normal scores, float32 (µs a sentence)\n")
    table(
        ["labels", "their sum", "`max` of NumPy", "best labels", "`decode`", "`decode_labeled`"],
        rows,
    )


def threads():
    batch = KINDS["model-like"](np.random.default_rng(3), 40_000, 25, np.float32)
    rows = []
    one = least_seconds(lambda: arb.decode(batch))
    for many in (1, 2):
        seconds = least_seconds(lambda k=many: arb.decode(batch, threads=k))
        rows.append([str(many), f"{seconds * 1e3:.1f}", f"{one / seconds:.2f}×"])
    print("### 40,000 sentences of 25 words\n")
    table(["threads", "ms", "speed-up"], rows)


def wrong(peers):
    """Count wrong trees on masked 5-word graphs, against ours (exact, as the tests prove)."""
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
        rows.append([name, str(count), str(failed)])
    print("### 150 graphs of 5 words, 30 % of the edges masked with float32's lowest value\n")
    table(["decoder", "wrong trees", "errors"], rows)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="only up to 50 words, no float64")
    quick = options.parse_args().quick
    sizes = SIZES[:3] if quick else SIZES
    peers = installed()
    for kind in KINDS:
        for dtype in (np.float32,) if quick else (np.float32, np.float64):
            batches(kind, dtype, sizes)
    single_calls(sizes, peers, quick)
    wrong(peers)
    real_scores()
    labels()
    threads()


if __name__ == "__main__":
    main()
