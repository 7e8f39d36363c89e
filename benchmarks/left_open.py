"""What the authors of *undirected* leave open: a stronger exchange of edges, and a combination.

``python benchmarks/left_open.py > left_open.md``: what papers/reports/undirected.md says. Two
parsers are trained for each of three treebanks, which takes some minutes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

import arborescence as arb
from arborescence.treebank import read
from arborescence.treebank.statistics import paired_p
from arborescence.undirected import enhance
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.scores import counted_words
from arborescence_papers.common.statistics import percent
from inputs import TREEBANKS, model_like, uniform
from recording import table
from through_undirected import compare, english

CHOSEN = ("Gothic-PROIEL", "Greek-GDT", "Turkish-IMST")
RECIPE = Recipe(loss="mira", root="single")


def exchanges(scores, heads, kept, along):
    """What each exchange of edges gains, [h, x], and at which v an edge goes out: both (N, N).

    An exchange puts in any edge h → x, and takes out the edge t → v that loses least of those that
    cut x off from h: v is x or above it, and h is not below v. The path from v to x is turned
    round. A single change of local enhancement is one of these. O(n²) for all together.

    A tree with one root edge keeps one. Edges in `kept`, pairs of nodes, are not taken out. With
    `along`, h must be above x, so that only paths down the tree are looked at: O(n · depth).
    """
    size = len(heads)
    inside = np.eye(size, dtype=np.bool_)  # [h, x]: h is x or below it
    for x in range(1, size):
        above = x
        while above > 0:
            above = heads[above]
            inside[x, above] = True
    turned = np.zeros(size)  # what it adds to turn the path from below the root to x round
    out, cut = np.full((size, size), np.inf), np.zeros((size, size), np.int64)
    for x in np.argsort(inside.sum(axis=1))[1:]:  # heads before their dependents
        t = heads[x]
        cost = np.inf if (min(t, x), max(t, x)) in kept else scores[t, x]
        if t == 0:
            out[0, inside[:, x]], cut[0, inside[:, x]] = cost, x
            continue
        turned[x] = turned[t] + scores[x, t] - scores[t, x]
        lower = cost + turned[x] < out[1:, t]
        out[1:, x] = np.where(lower, cost + turned[x], out[1:, t])
        out[1:, x][inside[1:, x]] = np.inf
        cut[1:, x] = np.where(lower, x, cut[1:, t])
    gains = scores + turned - out
    gains[heads[1:], np.arange(1, size)] = gains[:, 0] = -np.inf
    return np.where(inside.T | (not along), gains, -np.inf), cut


def improve(heads, scores, longest=1, along=False):
    """Exchange edges as long as that gains: the best exchange each time.

    With `longest` > 1, the best exchange is also made where it loses, up to so many in a row, and
    the best tree of such a chain is kept (after Lin and Kernighan 1973); within a chain, no edge
    that was put in is taken out.
    """
    while True:
        tree, kept, gained, most, best = heads.copy(), set(), 0.0, 1e-6, None
        for _ in range(longest):
            gains, cut = exchanges(scores, tree, kept, along)
            h, x = map(int, np.unravel_index(np.argmax(gains), gains.shape))
            if gains[h, x] == -np.inf:
                break
            gained += gains[h, x]
            kept.add((min(h, x), max(h, x)))
            last, node, above = cut[h, x], None, h
            while node != last:  # turn the path round
                node, x = x, tree[x]
                tree[node], above = above, node
            if gained > most:
                most, best = gained, tree.copy()
        if best is None:
            return heads
        heads = best


WAYS = {
    "none": lambda heads, _: heads,
    "best change, 5 rounds (as printed)": lambda heads, s: enhance(s, heads, 5, changes="best"),
    "disjoint changes, no limit": lambda heads, s: enhance(s, heads, None),
    "along any path down the tree": partial(improve, along=True),
    "any edge": improve,
    "any edge, chains of 3": partial(improve, longest=3),
    "any edge, chains of 8": partial(improve, longest=8),
}
MEASURED = ["exchange", "best trees", "edges of the best tree", "weight lost"]


def rows_of(cases):
    """Rows of a table: what each of `WAYS` finds, from a tree and the scores of each sentence."""
    for name, find in WAYS.items():
        found = [find(heads, scores) for heads, scores in cases]
        batches = ((tree[None], s[None]) for tree, (_, s) in zip(found, cases, strict=True))
        yield found, [name, *compare(batches, lambda trees, _: trees)]


def features(directed, undirected, one, other):
    """What the chooser knows of two trees: their size, weights, probabilities, roots, crossings."""
    differ = np.flatnonzero(one != other)
    n, k = len(one) - 1, len(differ)
    chances = arb.TreeDistribution(directed).marginals()[[one[differ], other[differ]], differ]
    gaps = [arb.tree_weight(s, one) - arb.tree_weight(s, other) for s in (directed, undirected)]
    others = chances.mean(axis=1), chances.min(axis=1), np.log(chances + 1e-9).mean(axis=1)
    form = [(one == 0).argmax() != (other == 0).argmax(), *arb.is_projective([one, other])]
    return np.concatenate(
        [[1, np.log(n), np.log(k), k / n, *form], gaps, np.divide(gaps, k), *others]
    )


def logistic(x, y, weight, ridge=1.0):
    """The weights of a logistic regression, by Newton's method, with an L2 penalty."""
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        hessian = (x.T * (weight * p * (1 - p))) @ x + ridge * np.eye(len(w))
        w += np.linalg.solve(hessian, x.T @ (weight * (y - p)) - ridge * w)
    return w


def examples(sentences, cases, undirected):
    """Of each sentence: whether the trees of both models differ, features, both's right heads."""
    for sentence, (heads, scores) in zip(sentences, cases, strict=True):
        one, other = arb.decode(scores), enhance(scores, heads, 5, changes="best")
        right = [np.sum((t == sentence.tree)[1:][counted_words(sentence)]) for t in (one, other)]
        differs = bool((one != other).any())
        yield differs, differs and features(scores, undirected.scores(sentence), one, other), right


def choose(dev, test, words):
    """The row of a treebank: both parsers, the chooser that learned from dev, and the oracle."""
    x, right = (np.array(each) for each in zip(*(e[1:] for e in dev if e[0]), strict=True))
    mean, scale = x.mean(axis=0), x.std(axis=0)
    mean[0] = 0
    gap = right[:, 1] - right[:, 0]
    w = logistic((x - mean) / np.where(scale, scale, 1), gap > 0, np.abs(gap))
    takes = [differs and (f - mean) / np.where(scale, scale, 1) @ w > 0 for differs, f, _ in test]
    right = np.array([both for *_, both in test])
    chosen = np.where(takes, right[:, 1], right[:, 0])
    uas = [percent(each.sum(), words) for each in (*right.T, chosen, right.max(axis=1))]
    p = paired_p(chosen - right[:, 0])
    return [
        *(f"{each:.2f}" for each in uas),
        f"{p:.2f}",
        f"{percent(sum(takes), len(takes)):.0f} %",
    ]


def main():
    rng = np.random.default_rng(0)
    graphs = {
        f"{kind}, {n} words": [(n, make(rng, 200, n).astype(np.float64))]
        for kind, make in (("model-like", model_like), ("uniform", uniform))
        for n in (10, 25, 50)
    } | {"english-fast": english()}
    for name, batches in graphs.items():
        print(f"\n## {name}\n")
        every = [scores.astype(np.float64) for _, batch in batches for scores in batch]
        cases = [(arb.undirected.decode(s, rounds=0), s) for s in every]
        table(MEASURED, (row for _, row in rows_of(cases)))
    rows = []
    for name in CHOSEN:
        train, *others = (
            list(read(next((TREEBANKS / name).glob(f"*-{part}.conllu*"))))
            for part in ("train", "dev", "test")
        )
        how = replace(RECIPE, inference="undirected", features="undirected")
        directed, undirected = (recipe.train(train) for recipe in (RECIPE, how))
        learned = []
        for sentences in others:
            trees = undirected.parse(sentences, root="single")
            scores = (directed.scores(s).astype(np.float64) for s in sentences)
            cases = [(tree.tree, s) for tree, s in zip(trees, scores, strict=True)]
            learned.append(list(examples(sentences, cases, undirected)))
        counted = [*map(counted_words, sentences)]
        words = sum(map(np.sum, counted))
        print(f"\n## {name}\n")
        lines = []
        for found, row in rows_of(cases):
            right = zip(sentences, found, counted, strict=True)
            uas = percent(sum(np.sum((s.tree == t)[1:][c]) for s, t, c in right), words)
            lines.append([*row, f"{uas:.2f}"])
        table([*MEASURED, "UAS"], lines)
        rows.append([name, *choose(*learned, words)])
    print("\n## A chooser\n")
    table(["", "D-MST", "U-MST-uf-lep", "chooser", "oracle", "p", "second taken"], rows)


if __name__ == "__main__":
    main()
