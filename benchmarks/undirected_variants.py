"""What moves the averages of `experiment undirected`: for papers/reports/undirected.md.

``python benchmarks/undirected_variants.py [TREEBANK...]``: trains 8 parsers for each of ten
treebanks, which takes some minutes.
"""

from __future__ import annotations

import sys

import arborescence as arb
from arborescence.parsers import LinearParser
from arborescence.treebank import restyle
from arborescence.undirected import enhance
from arborescence_papers.common.scores import counted_words
from arborescence_papers.common.treebanks import find
from arborescence_papers.undirected.measure import (
    DIRECTED,
    ENHANCED,
    FINDINGS,
    UNDIRECTED,
    Counts,
    Outcome,
)
from inputs import TREEBANKS
from recording import table

CHOSEN = [
    *("Basque-BDT", "Bulgarian-BTB", "Danish-DDT", "Dutch-Alpino", "German-GSD", "Greek-GDT"),
    *("Portuguese-Bosque", "Slovenian-SSJ", "Swedish-Talbanken", "Turkish-IMST"),
]
UNDIRECTEDLY = {"inference": "undirected", "features": "undirected", "rounds": 0}


def counts_of(training, test, root="single", rounds=(5,), **options):
    """Train, parse, and yield the counts of three models for each number of rounds."""
    directed = LinearParser.train(training, root=root, projective=False, **options)
    undirected = LinearParser.train(training, root=root, **options, **UNDIRECTEDLY)
    scores = [directed.scores(sentence) for sentence in test]
    gold = [sentence.tree for sentence in test], [*map(counted_words, test)]
    best = Counts.of(*gold, [arb.decode(matrix, root=root) for matrix in scores])
    bare = [parsed.tree for parsed in undirected.parse(test, root=root)]
    for many in rounds:
        enhanced = [
            enhance(matrix, heads, rounds=many) for matrix, heads in zip(scores, bare, strict=True)
        ]
        yield {
            DIRECTED: best,
            ENHANCED: Counts.of(*gold, enhanced),
            UNDIRECTED: Counts.of(*gold, bare),
        }


def variants(training, test):
    """Yield the name and the counts of each variant."""
    names = ("as above", "2 rounds", "rounds without limit")
    yield from zip(names, counts_of(training, test, rounds=(5, 2, None)), strict=True)
    yield "root edges not limited", *counts_of(training, test, root="multi")
    yield "forms and UPOS only", *counts_of(training, test, columns=("form", "upos"))
    turned = (list(restyle(part, heads="function")) for part in (training, test))
    yield "function words as heads", *counts_of(*turned)


def main():
    outcomes = {}
    for treebank in find(TREEBANKS, sys.argv[1:] or CHOSEN).treebanks:
        training, test = treebank.read()
        for name, counts in variants(training, test):
            outcome = Outcome(treebank.name, treebank.split, len(training), counts)
            outcomes.setdefault(name, []).append(outcome)
    rows = [
        [name, *(f"{finding.average(found):.2f}" for finding in FINDINGS)]
        for name, found in outcomes.items()
    ]
    paper = ["the paper", *(str(finding.paper) for finding in FINDINGS)]
    table(["", *(finding.name for finding in FINDINGS)], [*rows, paper])


if __name__ == "__main__":
    main()
