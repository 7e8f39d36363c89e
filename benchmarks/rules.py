"""How often do parsers break a rule on whole trees, and what does keeping it cost?

The rule of Universal Dependencies: no word has two subjects, or two direct objects. ``python
benchmarks/rules.py`` trains what is missing (some minutes) and keeps it in ``--models``.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np

import arborescence as arb
from arborescence.parsers import Keeper, LinearParser
from arborescence.rules import AtMostOne, ud
from arborescence.treebank import evaluate, read
from inputs import TREEBANKS
from recording import table

#: At most one subject, at most one object.
RULES = [rule for rule in ud.RULES if isinstance(rule, AtMostOne)]
KEEPER = Keeper(RULES)


def breaking(sentences):
    """The numbers of the sentences that break a rule."""
    return KEEPER.look(sentences).broken.tolist()


def fits(heads, labels, counted):
    """Whether no word has two dependents of a kind: `counted` tells of each kind its labels."""
    of_kinds = (heads[1:][mask[labels[1:]]] for mask in counted)
    return all(len(np.unique(of_kind)) == len(of_kind) for of_kind in of_kinds)


class Classes:
    """Labels as far as the rules can tell them apart: other, subject, object.

    The best tree with these, with the best label of each class, is the best tree that keeps the
    rules; and there are fewer trees to search.
    """

    def __init__(self, counted):
        self.members = [np.flatnonzero(mask) for mask in (~np.any(counted, axis=0), *counted)]

    def __call__(self, scores):
        return np.stack([scores[..., members].max(axis=-1) for members in self.members], axis=-1)

    def labels(self, scores, heads, kinds):
        """The best label of the kind of each word."""
        labels = np.full_like(kinds, -1)
        for d in range(1, len(heads)):
            members = self.members[kinds[d]]
            labels[d] = members[scores[heads[d], d, members].argmax()]
        return labels


BOUNDS = (2, 10, 100, 1000, 10_000)
HEADER = [
    "what is searched", "broken", *(f"to {bound:,}" for bound in BOUNDS), "given up",
    "UAS", "LAS", "seconds", "UAS, LAS of mended before", "after",
]  # fmt: skip


def percents(gold, parsed):
    result = evaluate(gold, parsed)
    return [f"{100 * result.uas.f1:.2f}", f"{100 * result.las.f1:.2f}"]


def row(name, gold, search, seconds):
    """A row of the table; `search` holds (first tree, chosen tree, how deep it was) for each."""
    first, chosen, depths = zip(*search, strict=True)
    depths = np.array(depths)
    counts = np.histogram(depths, [1.5, *(bound + 0.5 for bound in BOUNDS)])[0]
    mended = np.flatnonzero((depths > 1) & (depths < np.inf)).tolist()
    return [
        name,
        *(f"{count:,}" for count in (np.sum(depths > 1), *counts, np.sum(depths == np.inf))),
        *percents(gold, chosen),
        f"{seconds:.1f}",
        *(
            ", ".join(percents([gold[b] for b in mended], [trees[b] for b in mended]))
            for trees in (first, chosen)
        ),
    ]


def by_heads(parser, gold, limit):
    """Search head vectors; the relations are those that the parser gives to each of them."""
    trees = list(parser.parse(gold, rules="none"))
    search = [(best, best, 1) for best in trees]
    missing, k = breaking(trees), 10
    while k <= limit:
        lists = parser.kbest([gold[b] for b in missing], k)
        for b, ranked in zip(missing, lists, strict=True):
            analyses = [tree for tree, _ in ranked]
            good = np.setdiff1d(np.arange(len(analyses)), breaking(analyses))
            rank = good[0] if len(good) else np.inf
            search[b] = (trees[b], analyses[good[0]] if len(good) else trees[b], 1 + rank)
        missing = [b for b in missing if search[b][2] == np.inf]
        k *= 10
    return search


def by_labels(parser, gold, limit, *, move_heads=True, merge=True):
    """Search labeled trees of a joint parser: heads and labels, or the labels of the best heads."""
    counted = [rule.signs(tuple(parser.labels), ()).labels[:-1] for rule in RULES]
    classes = Classes(counted)
    if merge:
        counted = np.arange(3) == [[1], [2]]
    search = []
    for sentence in gold:
        scores = parser.labeled_scores(sentence)
        best = arb.decode_labeled(scores)
        searched = classes(scores) if merge else scores
        if not move_heads:
            others = np.ones(scores.shape[:2], np.bool_)
            others[best[0][1:], np.arange(1, len(scores))] = False
            searched = np.where(others[..., None], -np.inf, searched)
        seen = 0

        def keeps_the_rule(heads, labels):
            nonlocal seen
            seen += 1
            return fits(heads, labels, counted)

        try:
            heads, labels = arb.decode_where_labeled(searched, keeps_the_rule, limit=limit)
            if merge:
                labels = classes.labels(scores, heads, labels)
            search.append((best, (heads, labels), seen))
        except arb.NoTreeError:
            search.append((best, best, np.inf))
    return [
        (*(parsed(parser, sentence, *tree) for tree in trees), depth)
        for sentence, (*trees, depth) in zip(gold, search, strict=True)
    ]


def parsed(parser, sentence, heads, labels):
    return sentence.replace(heads=heads, deprels=[parser.labels[label] for label in labels[1:]])


def parts_of(treebank):
    files = {}
    for part in ("train", "dev", "test"):
        [file] = (TREEBANKS / treebank).glob(f"*-{part}.conllu*")
        files[part] = file
    return files


def parser_of(treebank, joint, folder):
    """The parser of a treebank: the built-in one of English, or one that is trained now."""
    if treebank == "English-EWT" and not joint:
        return arb.load("english")
    path = folder / f"{treebank}{'-joint' if joint else ''}.model"
    if not path.exists():
        files = parts_of(treebank)
        columns = ("form", "upos", "xpos", "feats")
        if treebank != "English-EWT":
            columns = ("form", "lemma", *columns[1:])
        LinearParser.train(
            read(files["train"]),
            dev=read(files["dev"]),
            columns=columns,
            joint=joint,
            projective=False,
        ).save(path)
    return arb.load(path)


def report(treebank, limit, folder):
    gold = list(read(parts_of(treebank)["test"]))
    broken = len(breaking(gold))
    print(f"### {treebank} test: {len(gold):,} sentences, {broken:,} break the rule as annotated\n")
    for joint in (False, True):
        parser = parser_of(treebank, joint, folder)
        ways = {"heads; relations follow": by_heads}
        if joint:
            ways["labels of the best heads"] = partial(by_labels, move_heads=False)
            ways["heads and labels"] = by_labels
            ways["heads and labels, all labels apart"] = partial(by_labels, merge=False)
        rows = []
        for name, way in ways.items():
            start = time.perf_counter()
            search = way(parser, gold, limit)
            seconds = time.perf_counter() - start
            first = [best for best, _, _ in search]
            uas, las = percents(gold, first)
            print(f"{name}: best trees of all have UAS {uas}, LAS {las}")
            rows.append(row(name, gold, search, seconds))
        print("\nJoint parser\n" if joint else "\nParser that chooses relations after the tree\n")
        table(HEADER, rows)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--treebanks", nargs="+", default=["English-EWT", "Gothic-PROIEL"])
    arguments.add_argument("--limit", type=int, default=10_000, help="trees to search at most")
    arguments.add_argument("--models", type=Path, default=Path("build/rules"))
    options = arguments.parse_args()
    options.models.mkdir(parents=True, exist_ok=True)
    for treebank in options.treebanks:
        report(treebank, options.limit, options.models)


if __name__ == "__main__":
    main()
