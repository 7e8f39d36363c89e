"""What does looking at whole trees bring, and what would the best tree of each list?

Trains a parser and a reranker for each treebank, with lists of the largest k, and reports the test
part once: with all of the list, and with less. ``python benchmarks/reranking.py`` takes minutes for
each treebank; models are kept in ``--models``. ``--ablate`` leaves out groups of features, on dev.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import numpy as np

from arborescence.parsers import LinearParser, Reranker
from arborescence.parsers.reranker.features import TEMPLATES, TreeTemplates
from arborescence.parsers.reranker.lists import KBestLists
from arborescence.parsers.reranker.training import Trainer
from arborescence.parsers.shared.features import COLUMNS, Batch, Sides
from arborescence.parsers.shared.training_trees import folds_of
from arborescence.treebank import best_of_k, evaluate, read
from inputs import TREEBANKS
from recording import table
from timing import least_seconds

HEADER = ["test", "UAS", "LAS", "all heads right", "and relations", "crossing edges"]


def progress(phase, done, total):
    print(f"\r{phase:<70}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def parts_of(treebank):
    folder = TREEBANKS / treebank
    return [
        list(read(next(folder.glob(f"*-{part}.conllu.gz")))) for part in ("train", "dev", "test")
    ]


def parser_maker(folder):
    """Train parsers as `Reranker.train` asks for, but each of them once."""

    def make_parser(sentences, *, dev, root, progress):
        digest = hashlib.sha256(b"".join(s.raw for s in (*sentences, *dev))).hexdigest()
        path = folder / f"{digest[:16]}.model"
        if not path.exists():
            options = {"dev": dev, "root": root, "projective": False, "progress": progress}
            LinearParser.train(sentences, **options).save(path)
        return LinearParser.load(path)

    return make_parser


def row(name, evaluation):
    scores = [evaluation.uas.f1, evaluation.las.f1]
    scores += [evaluation.exact_unlabelled, evaluation.exact_labelled, evaluation.nonprojective]
    return [name, *(f"{100 * score:.2f}" for score in scores)]


def right_words(gold, parsed):
    """How many words of each sentence have the right head, and the right relation too: (B, 2)."""
    _, lists = KBestLists.of(([(sentence, 0.0)] for sentence in parsed), gold)
    return lists.right


def paired_bootstrap(ours, theirs, words, samples=10_000, seed=1):
    """Draw as many sentences again and again: the mean gain, its 95 % interval, and p.

    p is the share of samples without a gain (Koehn 2004).
    """
    rng = np.random.default_rng(seed)
    gains = np.empty(samples)
    for i in range(samples):
        drawn = rng.integers(len(words), size=len(words))
        gains[i] = 100 * (ours - theirs)[drawn].sum() / words[drawn].sum()
    low, high = np.percentile(gains, [2.5, 97.5])
    return gains.mean(), low, high, (gains <= 0).mean()


def report(treebank, ks, make_parser, seed, folder):
    train, dev, test = parts_of(treebank)
    words = np.array([len(sentence) for sentence in test])
    path = folder / f"{treebank}-{max(ks)}-{seed}.reranker"
    if not path.exists():
        Reranker.train(
            train, dev=dev, k=max(ks), rng=seed, make_parser=make_parser, progress=progress
        ).save(path)
    reranker = Reranker.load(path)
    parser = reranker.parser
    before = list(parser.parse(test, rules="none"))
    seconds = least_seconds(lambda: list(parser.parse(test, rules="none")), budget=3)
    rows = [row("the parser", evaluate(test, before))]
    times = [["the parser", f"{words.sum() / seconds:,.0f}"]]
    gains = []
    for k in ks:
        reranker.k = k
        after = list(reranker.parse(test))
        ranked = list(parser.kbest(test, k))
        rows.append(row(f"reranked, k = {k}", evaluate(test, after)))
        rows.append(row(f"oracle by LAS, k = {k}", best_of_k(test, ranked)))
        rows.append(row(f"oracle by UAS, k = {k}", best_of_k(test, ranked, by="uas")))
        ours, theirs = right_words(test, after), right_words(test, before)
        for measure, name in enumerate(("UAS", "LAS")):
            mean, low, high, p = paired_bootstrap(ours[:, measure], theirs[:, measure], words)
            gains.append(
                [f"{name}, k = {k}", f"{mean:+.2f}", f"{low:+.2f} to {high:+.2f}", f"{p:.4f}"]
            )
        seconds = least_seconds(lambda: list(reranker.parse(test)), budget=3)
        times.append([f"reranked, k = {k}", f"{words.sum() / seconds:,.0f}"])
    print(f"\n### {treebank}, {len(test):,} sentences, {words.sum():,} words\n")
    print(f"dev: {parser.info['dev'][parser.info['epoch'] - 1]}, reranked {reranker.info['dev']}\n")
    table(HEADER, [*rows, row("gold", evaluate(test, test))])
    table(["gain", "points", "95 % interval", "p"], gains)
    table(["one thread", "words a second"], times)


def ablate(treebank, k, make_parser, seed):
    """Leave out groups of features, and have them alone; on dev, so that test stays unseen."""
    train, dev, _ = parts_of(treebank)
    options = {"dev": dev, "root": "single", "progress": progress}
    parts = list(folds_of(train, 5, seed))
    gold = [sentence for part, _ in parts for sentence in part]
    lists = {}
    lists["train"] = KBestLists.of(
        (trees for part, rest in parts for trees in make_parser(rest, **options).kbest(part, k)),
        gold,
    )
    lists["dev"] = KBestLists.of(make_parser(train, **options).kbest(dev, k), dev)

    def best_on_dev(templates):
        sides = []
        laid_out = TreeTemplates.of(COLUMNS, sides, templates)
        train_data, dev_data = (
            (Batch.of(sentences, Sides.of(sides), np.empty(0, np.uint64)), of_sentences)
            for sentences, of_sentences in lists.values()
        )
        trainer = Trainer(train_data, dev_data, laid_out, seed=seed, bits=20)
        trainer.run(4, progress=progress)
        best = max(trainer.history, key=lambda scores: scores["las"])
        return [f"{best['uas']:.2f}", f"{best['las']:.2f}"]

    def without(*groups):
        return {group: names for group, names in TEMPLATES.items() if group not in groups}

    rows = [["all features", *best_on_dev(TEMPLATES)]]
    for group in TEMPLATES:
        rows.append([f"without {group}", *best_on_dev(without(group))])
    for group in TEMPLATES:
        rows.append([f"{group} alone", *best_on_dev({group: TEMPLATES[group]})])
    print(f"\n### {treebank}, dev, k = {k}\n")
    table(["features", "UAS", "LAS"], rows)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--treebanks", nargs="+", default=["English-EWT", "Gothic-PROIEL"])
    arguments.add_argument("-k", nargs="+", type=int, default=[10, 25, 50])
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--models", type=Path, default=Path("build/reranking"))
    arguments.add_argument("--ablate", action="store_true", help="dev only, the largest k")
    options = arguments.parse_args()
    options.models.mkdir(parents=True, exist_ok=True)
    make_parser = parser_maker(options.models)
    for treebank in options.treebanks:
        if options.ablate:
            ablate(treebank, max(options.k), make_parser, options.seed)
        else:
            report(treebank, sorted(options.k), make_parser, options.seed, options.models)


if __name__ == "__main__":
    main()
