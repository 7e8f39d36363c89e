"""How often does each parser's own way of decoding miss the best tree with one root edge?

``python benchmarks/strategies.py root/scores/head-seed1``, with the score files that
``arborescence experiment root`` writes; ``--model MODEL TEST.conllu`` for a trained parser;
``--random`` for random graphs. Every way is made here from exact decoding, so that what is counted
is the way, not rounding; ``--installed`` compares with the packages' own functions where installed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import arborescence as arb
from arborescence.integrations import TOOLS
from arborescence.integrations.patching import module_of, version_of
from arborescence.treebank import read
from arborescence_papers.common.scores import Scores
from arborescence_papers.runtime.graphs import log_softmax, masked, model_like, uniform
from recording import table


def best_heads(scores):
    """The best head of each word: HanLP's and DiaParser's default in training, `tree=False`."""
    found = scores.copy()
    np.fill_diagonal(found, -np.inf)
    heads = found.argmax(axis=0)
    heads[0] = -1
    return heads


def free_tree(scores):
    """The best tree with any number of root edges: ufal.chu_liu_edmonds."""
    return arb.decode(scores, root="multi")


def root_first(scores):
    """The best root edge first, then the best tree that has no other: UDPipe 2."""
    word = int(scores[0, 1:].argmax()) + 1
    return arb.decode(only_root(scores, word), root="multi")


def retried(scores):
    """The free tree; for each of its roots the best tree with that one: SuPar, Trankit, others."""
    free = free_tree(scores)
    roots = np.flatnonzero(free == 0)
    if len(roots) == 1:
        return free
    trees = [arb.decode(only_root(scores, int(word)), root="multi") for word in roots]
    return max(trees, key=lambda heads: arb.tree_weight(scores, heads))


def reweighted(scores):
    """A large number off each root edge, then the free tree: Stanza.

    The number is N times the lowest score, in float64.
    """
    lowered = scores.astype(np.float64)
    lowered[0] += lowered[np.isfinite(lowered)].min() * len(lowered)
    return arb.decode(lowered, root="multi")


WAYS = {
    "best heads": best_heads,
    "any number of roots": free_tree,
    "root first": root_first,
    "lowered root edges": reweighted,
    "each root of the free tree": retried,
}


def only_root(scores, word):
    """Return the scores with one root edge left."""
    scores = scores.copy()
    weight = scores[0, word]
    scores[0] = -np.inf
    scores[0, word] = weight
    return scores


def outcome(scores, heads, best):
    """Tell what a way found: "right", "no tree", "several roots", or "worse"."""
    if not arb.is_tree(heads, root="multi"):
        return "no tree"
    if arb.root_count(heads) != 1:
        return "several roots"
    return "right" if arb.tree_weight(scores, heads) >= best else "worse"


def count(matrices, ways):
    """Return in percent of sentences what each way does wrong: {way: {outcome: percent}}."""
    counts = {way: dict.fromkeys(("no tree", "several roots", "worse", "right"), 0) for way in ways}
    for scores in matrices:
        best = arb.tree_weight(scores, arb.decode(scores))
        for way, find in ways.items():
            try:
                counts[way][outcome(scores, find(scores), best)] += 1
            except Exception:  # the packages' own functions: an exception, or no tree
                counts[way]["no tree"] += 1
    return {
        way: {what: 100 * found / len(matrices) for what, found in each.items()}
        for way, each in counts.items()
    }


def packages():
    """Return the packages' own decoders, where they are installed."""

    def own(decode):
        def find(scores):
            heads = decode(scores.T[None].copy(), np.array([len(scores) - 1]))[0]
            return np.array([-1, *heads[1:]])

        return find

    return {
        f"{tool} {version_of(tool)}": own(module_of(tool).decode)
        for tool in TOOLS
        if version_of(tool) in module_of(tool).VERSIONS
    }


def as_probabilities(matrix):
    """Return logarithms of probabilities of heads, as these parsers have them."""
    matrix = matrix.astype(np.float32)
    matrix[:, 0] = 0
    np.fill_diagonal(matrix, -np.inf)
    matrix[0, 0] = 0
    return log_softmax(matrix[None])[0].astype(np.float32)


def sources(given):
    """Yield names and lists of matrices."""
    rng = np.random.default_rng(given.seed)
    if given.random:
        for n in (10, 25, 50):
            graphs = list(uniform(rng, given.count, n, np.float32))
            yield f"random probabilities, {n} words", list(map(as_probabilities, graphs))
            yield f"random positive scores, {n} words", graphs
            for name, kind in (("model-like", model_like), ("masked", masked)):
                yield f"{name}, {n} words", list(kind(rng, given.count, n, np.float32))
    for path in given.scores:
        for file in sorted(path.glob("*.npz")) if path.is_dir() else [path]:
            found = Scores.read(file)
            yield found.treebank, list(map(as_probabilities, found.matrices))
    for model, test in given.model:
        parser = arb.load(model)
        matrices = parser.scores_of(read(test))
        yield f"{Path(model).name}, {Path(test).name}", list(map(as_probabilities, matrices))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("scores", type=Path, nargs="*")
    options.add_argument("--model", nargs=2, action="append", default=[])
    options.add_argument("--random", action="store_true")
    options.add_argument("--count", type=int, default=1000, help="how many random graphs of a kind")
    options.add_argument("--installed", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    ways = WAYS | (packages() if given.installed else {})
    for name, matrices in sources(given):
        print(f"\n{name}: {len(matrices)} sentences; percent of them")
        found = count(matrices, ways)
        table(
            ["", "no tree", "several roots", "not the best", "right"],
            [[way, *(f"{share:.2f}" for share in each.values())] for way, each in found.items()],
        )


if __name__ == "__main__":
    main()
