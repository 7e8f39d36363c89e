"""What does pruning keep, what does it cost in accuracy, and how much faster does it parse?

``python benchmarks/pruning.py`` trains a parser of English-EWT first, which takes a minute. Pruned
or not, the weights of the parser are the same ones. Times are processor time, one thread.
"""

from __future__ import annotations

import copy
import time
from itertools import pairwise

import numpy as np

from arborescence.core.tree import is_tree
from arborescence.parsers import LinearParser
from arborescence.parsers.linear.pruning import SIDES, keep_edges, learn
from arborescence.parsers.shared.base import Options
from arborescence.parsers.shared.features import Batch, Sides, tags_of
from arborescence.treebank import evaluate, read
from inputs import TREEBANKS
from recording import table
from timing import least_seconds

NAMES = ["English-EWT", "Afrikaans-AfriBooms", "Gothic-PROIEL", "Greek-GDT", "Turkish-IMST"]
LENGTHS = [1, 10, 20, 30, 40, 10**6]


def main():
    if not TREEBANKS.is_dir():
        print("(no ../shared/ud: nothing to prune)\n")
        return
    print("### Gold edges kept, edges removed\n")
    rows = [kept_and_removed(name) for name in NAMES]
    lengths = [f"{low} to {high - 1}" for low, high in pairwise(LENGTHS[:-1])]
    lengths.append(f"{LENGTHS[-2]} and more")
    table(["treebank", "learning", "by length alone", "all", *lengths], rows)
    pruned = LinearParser.train(
        trees("English-EWT", "train"),
        dev=trees("English-EWT", "dev"),
        projective=False,
        prune=True,
    )
    dense = copy.copy(pruned)
    dense.pruning = None
    test = list(read(path("English-EWT", "test")))
    long = [sentence for sentence in test if len(sentence) >= 40]
    for title, sentences in (("all sentences", test), ("40 words and more", long)):
        print(f"### English-EWT test, {title}: {sum(map(len, sentences)):,} words\n")
        accuracy_and_speed(sentences, dense, pruned)
        parts(sentences, dense, pruned)


def path(name, part):
    [file] = (TREEBANKS / name).glob(f"*-{part}.conllu*")
    return file


def trees(name, part):
    return [sentence for sentence in read(path(name, part)) if is_tree(sentence.tree)]


def kept_and_removed(name):
    """Learn from train, set the threshold on dev, and count there."""
    training, held_out = trees(name, "train"), trees(name, "dev")
    tags = tags_of(training)
    sides = Sides.of(SIDES)
    numbered = [
        (Batch.of(part, sides, tags), np.concatenate([sentence.tree for sentence in part]))
        for part in (training, held_out)
    ]
    start = time.process_time()
    model = learn(*numbered, np.arange(len(SIDES)), len(tags) + 2, seed=1)
    seconds = time.process_time() - start
    batch, heads = numbered[1]
    row = [name, f"{seconds:.1f} s"]
    vine = model._replace(threshold=1 << 28)  # nothing but the length limits
    shares = [(vine, 1, 10**6), (model, 1, 10**6)]
    shares += [(model, low, high) for low, high in pairwise(LENGTHS)]
    for sieve, low, high in shares:
        starts, kept = keep_edges(batch, sieve, False)
        lengths = np.diff(batch.starts) - 1
        chosen = (low <= lengths) & (lengths < high)
        counts = np.diff(starts)
        of_node = np.repeat(chosen, lengths + 1)
        right = kept == np.repeat(heads, counts)
        gold = right[np.repeat(of_node, counts)].sum() / lengths[chosen].sum()
        removed = 1 - counts[of_node].sum() / (lengths[chosen] ** 2).sum()
        row.append(f"{100 * gold:.2f} %, {100 * removed:.1f} %")
    return row


def accuracy_and_speed(sentences, dense, pruned):
    words = sum(map(len, sentences))
    rows = []
    for name, parser in (("all edges", dense), ("pruned", pruned)):
        result = evaluate(sentences, parser.parse(sentences))
        seconds = least(lambda parser=parser: list(parser.parse(sentences)))
        accuracy = [f"{100 * score.f1:.2f}" for score in (result.uas, result.las)]
        rows.append([name, *accuracy, f"{1e3 * seconds:.1f}", f"{words / seconds:,.0f}"])
    table(["", "UAS", "LAS", "ms", "words a second"], rows)


def parts(sentences, dense, pruned):
    """Where the time goes: each part of parsing by itself, on one batch."""
    graphs = dense._graphs(sentences, Options())
    few = pruned._graphs(sentences, Options())
    kept = few.kept("edges")
    heads = kept.trees(*few._decoders())[None]
    label = least(lambda: graphs.label(heads))
    write = least(lambda: dense._written(graphs, heads)) - label
    score = least(lambda: list(graphs._groups()))
    find = least(graphs.decode)
    prune = least(few._filtered)
    score_kept = least(lambda: few.kept("edges")) - prune
    find_kept = least(lambda: kept.trees(*few._decoders()))
    rows = [
        ["hashing words", *2 * [least(lambda: dense._prepare(sentences))]],
        ["pruning", 0, prune],
        ["scoring edges", score, score_kept],
        ["finding trees", find, find_kept],
        ["choosing relations", label, label],
        ["writing sentences", write, write],
    ]
    edges = [sum(row[column] for row in rows[1:4]) for column in (1, 2)]
    rows.append(["*pruning, scoring and finding trees*", *edges])
    table(
        ["milliseconds", "all edges", "pruned"],
        [[name, *(f"{1e3 * seconds:.1f}" for seconds in row)] for name, *row in rows],
    )
    print(f"Pruning, scoring and finding trees: {edges[0] / edges[1]:.1f} times as fast\n")


def least(call):
    return least_seconds(call, budget=3, clock=time.process_time)


if __name__ == "__main__":
    main()
