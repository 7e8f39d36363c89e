"""Which style of annotation does each parser learn best? Content or function heads, coordinations.

``python benchmarks/styles.py [TREEBANK...]``: trains a parser of each kind on each treebank in each
style. Its trees are compared with the test part in that style; and, brought back to the style of
Universal Dependencies, with the test part as it is.
"""

from __future__ import annotations

import sys

from arborescence.experiments.common.treebanks import find
from arborescence.parsers import LinearParser, TransitionParser
from arborescence.treebank import evaluate, restyle
from inputs import TREEBANKS
from timing import table

CHOSEN = ["English-EWT", "Gothic-PROIEL", "Turkish-IMST"]
STYLES = [
    ("content", "first"),
    ("content", "conjunction"),
    ("content", "second"),
    ("content", "chain"),
    ("function", "first"),
    ("function", "chain"),
]
EPOCHS = 5
PARSERS = {
    "graph-based": (LinearParser, {"projective": False}),
    "through undirected trees": (
        LinearParser,
        {"inference": "undirected", "features": "undirected"},
    ),
    "transition-based": (TransitionParser, {"system": "swap"}),
}


def scores(kind, options, training, test, heads, coordination):
    """UAS and LAS in the style itself, and back in that of Universal Dependencies; percent."""
    style = {"heads": heads, "coordination": coordination}
    gold = list(restyle(test, **style))
    parser = kind.train(list(restyle(training, **style)), epochs=EPOCHS, **options)
    parsed = list(parser.parse(gold))
    for right, found in ((gold, parsed), (test, list(restyle(parsed, **style, back=True)))):
        evaluation = evaluate(right, found)
        yield from (100 * evaluation.uas.f1, 100 * evaluation.las.f1)


def main():
    rows = []
    for treebank in find(TREEBANKS, sys.argv[1:] or CHOSEN).treebanks:
        training, test = treebank.read()
        for name, (kind, options) in PARSERS.items():
            for heads, coordination in STYLES:
                figures = scores(kind, options, training, test, heads, coordination)
                row = [treebank.name, name, heads, coordination, *(f"{x:.2f}" for x in figures)]
                print(*row, sep="\t", file=sys.stderr, flush=True)
                rows.append(row)
    columns = ["treebank", "parser", "heads", "coordination"]
    table([*columns, "UAS", "LAS", "UAS of UD", "LAS of UD"], rows)


if __name__ == "__main__":
    main()
