"""How fast are the k best trees, beside one decode, other algorithms, and more of them?

One process, one thread. ``python benchmarks/kbest.py [--quick]``
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from itertools import islice

import numpy as np

import arborescence as arb
from arborescence.core.kernels import kernel
from arborescence.experiments.runtime.decoders import greedy_pass
from arborescence.nonprojective.baselines import trees_by_decoding, trees_by_filtering
from arborescence.nonprojective.camerini import kbest_by_camerini
from arborescence.nonprojective.contraction import expand, new_forest, plant
from arborescence.nonprojective.decode import constrained, unconstrained
from arborescence.nonprojective.greedy import find_heads, new_greedy
from inputs import ADVERSARIAL, KINDS, TREEBANKS, model_like
from timing import least_seconds, table

SIZES = (10, 25, 50, 100)
KS = (1, 2, 10, 20, 50, 200)


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


def microseconds(call, count, **options):
    return least_seconds(call, clock=time.process_time, **options) / count * 1e6


def batches(root, kind, sizes):
    """Print the time for k trees, and how many decodes a tree takes once there are 50."""
    rows = []
    for n in sizes:
        count = max(20, 60_000 // (n + 1) ** 2)
        batch = KINDS[kind](np.random.default_rng(1), count, n)
        heads = np.empty((count, n + 1), np.int64)
        greedy = microseconds(lambda b=batch, h=heads: greedy_pass(b, h), count)
        easy = microseconds(lambda b=batch: arb.decode(b, root=root), count)
        full = microseconds(lambda b=batch, h=heads: decode_fully(b, root == "single", h), count)
        took = {k: microseconds(lambda b=batch, k=k: arb.kbest(b, k, root=root), count) for k in KS}
        tree = (took[200] - took[50]) / 150
        rows.append([
            str(n), f"{greedy:.2f}", f"{easy:.2f}", f"{full:.2f}",
            *(f"{us:.1f} ({us / k:.2f})" for k, us in took.items()),
            f"{tree:.2f}", f"**{took[50] / 50 / full:.2f}×**", f"**{tree / full:.2f}×**",
        ])  # fmt: skip
    print(f"### k best, {kind}, float32, root={root!r}: µs a sentence (in brackets: a tree)\n")
    decodes = ["`decode`", "without its shortcut"]
    last = ["one more tree from k = 50 on", "a tree of 50, in decodes", "one more, in decodes"]
    table(["n words", "greedy pass", *decodes, *(f"k = {k}" for k in KS), *last], rows)


def real_graphs(quick):
    """Return the scores of the built-in parser on English-EWT test, if it is here."""
    from arborescence.treebank import read

    files = sorted((TREEBANKS / "English-EWT").glob("*test*"))
    if not files:
        print("(no ../shared/ud/English-EWT: real parser scores are left out)\n")
        return []
    parser = arb.load("english")
    return [parser.scores(sentence) for sentence in read(files[0])][:: 8 if quick else 1]


def real_scores(graphs, root):
    """Print the time for the sentences of a treebank, beside Camerini's algorithm."""

    def each(call):
        return microseconds(lambda: [call(scores) for scores in graphs], len(graphs))

    decode = each(lambda scores: arb.decode(scores, root=root))
    rows, first = [], None
    for k in (1, 10, 20, 50):
        ours = each(lambda scores, k=k: arb.kbest(scores, k, root=root))
        theirs = each(lambda scores, k=k: kbest_by_camerini(scores, k, root))
        row = [str(k), f"{ours:.1f}", f"{theirs:.1f}", f"{theirs / ours:.2f}×"]
        if first is None:
            first = ours, theirs
            row += [""] * 3
        else:
            ours, theirs = ours - first[0], theirs - first[1]
            row += [f"{ours:.1f}", f"{theirs:.1f}", f"**{theirs / ours:.2f}×**"]
        rows.append(row)
    words = np.mean([len(scores) - 1 for scores in graphs])
    print(
        f"### The built-in parser's scores, English-EWT test, root={root!r}: µs a sentence\n\n"
        f"{len(graphs):,} sentences of {words:.1f} words on average, one call each; `decode` "
        f"takes {decode:.1f} µs.\n"
    )
    more = ["without the first: kbest", "Camerini et al.", "ratio"]
    table(["k", "kbest", "Camerini et al.", "ratio", *more], rows)


def power(sizes, seconds):
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def growth(quick):
    """Print how the time grows with k and with n."""
    ks = (10, 20, 50, 100, 200, 500, 1000, 2000)[: 6 if quick else 8]
    kinds = ("model-like", "uniform", "masked")
    rows = []
    for root in ("single", "multi"):
        for kind in kinds:
            batch = KINDS[kind](np.random.default_rng(2), 10, 25)
            took = [
                microseconds(lambda b=batch, k=k, r=root: arb.kbest(b, k, root=r), 10) for k in ks
            ]
            cells = [f"{us / k:.2f}" for k, us in zip(ks, took, strict=True)]
            rows.append([f"{kind}, {root}", *cells, f"{power(ks, took):.2f}"])
    print("### Growth with k: n = 25, float32, µs a tree\n")
    table(["graphs", *(f"k = {k:,}" for k in ks), "grows as k to the"], rows)

    sizes = (25, 50, 100, 200, 400)[: 4 if quick else 5]
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
    for root in ("single", "multi"):
        for name, make in graphs.items():
            took = []
            for n in sizes:
                batch = make(n)
                call = lambda b=batch, r=root: arb.kbest(b, 20, root=r)  # noqa: E731
                took.append(microseconds(call, len(batch)) / 20)
            cells = [f"{us:.2f} ({us / n**2 * 1e3:.1f})" for n, us in zip(sizes, took, strict=True)]
            rows.append([f"{name}, {root}", *cells, f"{power(sizes, took):.2f}"])
    print("### Growth with n: k = 20, float32, µs a tree (in brackets: ns a score)\n")
    table(["graphs", *(f"n = {n:,}" for n in sizes), "grows as n to the"], rows)


def contrast(quick):
    """Print the time of the other algorithms for the same trees."""
    others = {
        "Camerini et al. (1980)": kbest_by_camerini,
        "a constrained decode for each edge": lambda scores, k, root: list(
            islice(trees_by_decoding(scores, root), k)
        ),
        "filtering the unconstrained trees": lambda scores, k, root: list(  # noqa: ARG005
            islice(trees_by_filtering(scores), k)
        ),
    }
    rows = []
    for n in SIZES[: 2 if quick else 3]:
        for root in ("single", "multi"):
            batch = model_like(np.random.default_rng(3), 3, n)

            def each(call, batch=batch, root=root, **options):
                return microseconds(lambda: [call(s, 50, root=root) for s in batch], 3, **options)

            ours = each(arb.kbest)
            row = [f"{n}, {root}", f"{ours / 1e3:.3f}"]
            for name, other in others.items():
                if root == "multi" and name.startswith("filtering"):
                    row.append("")
                    continue
                theirs = each(other, at_least=1)
                row.append(f"{theirs / 1e3:.3f} ({theirs / ours:,.1f}×)")
            rows.append(row)
    print(
        "### The 50 best trees, model-like, one call a sentence: ms (in brackets, against ours)\n"
    )
    table(["n words, root", "kbest", *others], rows)


MEMORY = """
import sys
import time
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


def memory():
    """Print how much memory a process takes for 10,000 trees, as Linux counts it."""
    rows = []
    for kind in ("model-like", "uniform", "masked"):
        row = [kind]
        for root in ("single", "multi"):
            script = [sys.executable, "-c", MEMORY, root, kind]
            done = subprocess.run(
                script, capture_output=True, text=True, check=True, cwd=sys.path[0]
            )
            row.append(f"{int(done.stdout) / 1e6:.0f}")
        rows.append(row)
    print("### Memory for 10,000 trees of 60 words, and the trees themselves: MB\n")
    table(["graph", "single", "multi"], rows)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="fewer and smaller graphs")
    quick = options.parse_args().quick
    sizes = SIZES[:2] if quick else SIZES
    for kind in ("model-like", "uniform"):
        for root in ("single", "multi"):
            batches(root, kind, sizes)
    graphs = real_graphs(quick)
    for root in ("single", "multi") if graphs else ():
        real_scores(graphs, root)
    growth(quick)
    contrast(quick)
    memory()


if __name__ == "__main__":
    main()
