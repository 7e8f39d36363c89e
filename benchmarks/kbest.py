"""How fast are the k best trees, beside one decode, other algorithms, and more of them?

One process, one thread. ``python benchmarks/kbest.py [--quick]``
"""

from __future__ import annotations

import subprocess
import sys
from itertools import islice

import numpy as np

import arborescence as arb
from arborescence.compiling.kernels import kernel
from arborescence.nonprojective.contraction import expand
from arborescence.nonprojective.decode import constrained, unconstrained
from arborescence.nonprojective.forest import new_forest, plant
from arborescence.nonprojective.greedy import find_heads, new_greedy
from arborescence_papers.baselines import trees_by_decoding
from arborescence_papers.runtime.decoders import greedy_pass
from arborescence_papers.runtime.published import CAMERINI, CAMERINI_ONE, kbest_published
from inputs import ADVERSARIAL, KINDS, english_scores, model_like
from recording import Results, options
from timing import microseconds

SIZES = (10, 25, 50, 100)
KS = (1, 2, 10, 20, 50, 200)


def kbest_by_camerini(scores, k, root):
    """The algorithm of Camerini et al.; for one root edge, opened as in `KBEST_DEP`."""
    return kbest_published(scores, k, CAMERINI if root == "multi" else CAMERINI_ONE)


def filtered(scores, k, root):  # noqa: ARG001
    """The k best trees with one root edge, by leaving out all others."""
    every = arb.trees(scores, root="multi")
    return list(islice((tree for tree in every if arb.root_count(tree[0]) == 1), k))


@kernel
def decode_fully(batch, single, heads):
    """Decode without the shortcut: also where the greedy graph is a tree, contract it."""
    n = batch.shape[1] - 1
    greedy = new_greedy(batch, n)
    forest = new_forest(greedy.best, n)
    for b in range(batch.shape[0]):
        find_heads(batch, False, b, n, 0, greedy)
        plant(forest, n, greedy.best, greedy.head, 0.0)
        unconstrained(forest, batch[b], False, n)
        if single:
            constrained(forest, batch[b], False, n)
        expand(forest, n, heads[b])


def batches(results, sizes):
    """The time for k trees, beside one decode with and without its shortcut."""
    rows = []
    for kind in ("model-like", "uniform"):
        for root in ("single", "multi"):
            for n in sizes:
                count = max(20, 60_000 // (n + 1) ** 2)
                batch = KINDS[kind](np.random.default_rng(1), count, n)
                heads = np.empty((count, n + 1), np.int64)
                rows.append([
                    kind, root, n,
                    microseconds(lambda b=batch, h=heads: greedy_pass(b, h), count),
                    microseconds(lambda b=batch, r=root: arb.decode(b, root=r), count),
                    microseconds(
                        lambda b=batch, h=heads, r=root: decode_fully(b, r == "single", h), count
                    ),
                    *(
                        microseconds(lambda b=batch, k=k, r=root: arb.kbest(b, k, root=r), count)
                        for k in KS
                    ),
                ])  # fmt: skip
    results.table(
        "batches",
        ["scores", "root", "n", "greedy pass", "decode", "without shortcut",
         *(f"k = {k}" for k in KS)],
        rows, unit="µs a sentence",
        condition="batches, float32, one thread, processor time, least of runs",
    )  # fmt: skip


def real_scores(results, graphs):
    """The time for the sentences of a treebank, beside Camerini's algorithm."""

    def each(call):
        return microseconds(lambda: [call(scores) for scores in graphs], len(graphs), at_least=2)

    rows = []
    for root in ("single", "multi"):
        for k in (1, 10, 20, 50):
            rows.append([
                root, k, each(lambda scores, k=k, r=root: arb.kbest(scores, k, root=r)),
                each(lambda scores, k=k, r=root: kbest_by_camerini(scores, k, r)),
            ])  # fmt: skip
    words = np.mean([len(scores) - 1 for scores in graphs])
    results.table(
        "real", ["root", "k", "kbest", "Camerini et al."], rows, unit="µs a sentence",
        condition=f"scores of the model english-fast on English-EWT test, {len(graphs):,} "
        f"sentences of {words:.1f} words on average, one call each",
    )  # fmt: skip


def growth(results, quick):
    """How the time grows with k and with n."""
    ks = (10, 50, 200, 1000, 2000)[: 3 if quick else 5]
    kinds = ("model-like", "uniform", "masked")
    rows = []
    for kind in kinds:
        batch = KINDS[kind](np.random.default_rng(2), 10, 25)
        took = [microseconds(lambda b=batch, k=k: arb.kbest(b, k), 10, at_least=2) for k in ks]
        rows += [[kind, k, us / k] for k, us in zip(ks, took, strict=True)]
    results.table(
        "growth with k", ["graph", "k", "a tree"], rows, unit="µs a tree",
        condition="25 words, float32, exactly one root edge",
    )  # fmt: skip

    graphs = {
        **{
            kind: lambda n, kind=kind: KINDS[kind](np.random.default_rng(n), 5, n) for kind in kinds
        },
        **{
            name: lambda n, make=make: make(n, np.float32)[None]
            for name, make in ADVERSARIAL.items()
            if name != "uniform"
        },
    }
    rows = []
    for name, make in graphs.items():
        for n in (25, 50, 100, 200, 400)[: 3 if quick else 5]:
            batch = make(n)
            us = microseconds(lambda b=batch: arb.kbest(b, 20), len(batch), at_least=2)
            rows.append([name, n, us / 20])
    results.table(
        "growth with n", ["graph", "n", "a tree"], rows, unit="µs a tree",
        condition="k = 20, float32, exactly one root edge",
    )  # fmt: skip


def contrast(results, quick):
    """The time of the other algorithms for the same trees."""
    others = {
        "kbest": arb.kbest,
        "Camerini et al.": kbest_by_camerini,
        "a decode for each edge": lambda scores, k, root: list(
            islice(trees_by_decoding(scores, root), k)
        ),
        "filtering all trees": filtered,
    }
    rows = []
    for n in SIZES[: 2 if quick else 3]:
        batch = model_like(np.random.default_rng(3), 3, n)
        rows.append([n, *(
            microseconds(
                lambda b=batch, f=other: [f(s, 50, root="single") for s in b], 3, at_least=1
            ) for other in others.values()
        )])  # fmt: skip
    results.table(
        "others", ["n", *others], rows, unit="µs a sentence",
        condition="the 50 best trees, model-like, one call a sentence, exactly one root edge",
    )  # fmt: skip


MEMORY = """
import sys
from itertools import islice
from pathlib import Path
import numpy as np
import arborescence as arb
from inputs import KINDS

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

root, kind = sys.argv[1:]
scores = KINDS[kind](np.random.default_rng(60), 1, 60)[0]
next(arb.trees(scores, root=root))
before = resident()
kept, most = [], 0
for tree in islice(arb.trees(scores, root=root), 10_000):
    kept.append(tree)
    most = max(most, resident())
print(most - before)
"""


def memory(results):
    """How much memory a process takes for 10,000 trees, as Linux counts it."""
    rows = []
    for kind in ("model-like", "uniform", "masked"):
        row = [kind]
        for root in ("single", "multi"):
            script = [sys.executable, "-c", MEMORY, root, kind]
            done = subprocess.run(
                script, capture_output=True, text=True, check=True, cwd=sys.path[0]
            )
            row.append(int(done.stdout) / 1e6)
        rows.append(row)
    results.table(
        "memory", ["graph", "single", "multi"], rows, unit="MB",
        condition="10,000 trees of 60 words, and the trees themselves",
    )  # fmt: skip


def main():
    quick = options(__doc__).quick
    results = Results("kbest", "the k best trees beside one decode and other algorithms", quick)
    batches(results, SIZES[:2] if quick else SIZES)
    graphs = english_scores()[:: 8 if quick else 1]
    if graphs:
        real_scores(results, graphs)
    growth(results, quick)
    contrast(results, quick)
    memory(results)
    results.save()


if __name__ == "__main__":
    main()
