"""Which style of annotation does each parser learn best? Content or function heads, coordinations.

Trains a parser of each kind on each treebank in each style. Its trees are compared with the test
part in that style; and, brought back to the style of Universal Dependencies, with the test part as
it is.
"""

from __future__ import annotations

from arborescence.parsers import LinearParser, TransitionParser
from arborescence.treebank import evaluate, restyle
from arborescence_papers.common.treebanks import find
from inputs import TREEBANKS
from recording import Results, options

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
        {"inference": "undirected", "features": "undirected", "projective": False},
    ),
    "transition-based": (TransitionParser, {"system": "swap"}),
}


def scores(kind, settings, training, test, heads, coordination):
    """UAS and LAS in the style itself, and back in that of Universal Dependencies; percent."""
    style = {"heads": heads, "coordination": coordination}
    gold = list(restyle(test, **style))
    parser = kind.train(list(restyle(training, **style)), epochs=EPOCHS, **settings)
    parsed = list(parser.parse(gold))
    for right, found in ((gold, parsed), (test, list(restyle(parsed, **style, back=True)))):
        evaluation = evaluate(right, found)
        yield from (100 * evaluation.uas.f1, 100 * evaluation.las.f1)


def main():
    quick = options(__doc__).quick
    results = Results("styles", "which style of annotation each parser learns best", quick)
    rows = []
    for treebank in find(TREEBANKS, CHOSEN[1:2] if quick else CHOSEN).treebanks:
        training, test = treebank.read()
        for name, (kind, settings) in PARSERS.items():
            for heads, coordination in STYLES:
                figures = scores(kind, settings, training, test, heads, coordination)
                rows.append([treebank.name, name, heads, coordination, *figures])
    columns = ["treebank", "parser", "heads", "coordination"]
    results.table(
        "accuracy",
        [*columns, "UAS", "LAS", "UAS of UD", "LAS of UD"],
        rows, unit="percent of words",
        condition=f"gold tags, {EPOCHS} epochs; scores in the style itself, and brought back to UD",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
