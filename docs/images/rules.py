"""Draw the trees of docs/rules.md and the search of docs/constraints.md, beside itself.

``python docs/images/rules.py``. The library finds the trees.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import numpy as np

import arborescence as arb
from arborescence.drawing import draw_svg
from arborescence.explaining import explain_constrained
from arborescence.rules import Alternative, Edges
from arborescence.treebank import Sentence

HERE = Path(__file__).parent
WORDS = ["The", "song", "she", "taught", "us", "was", "old"]
TAGS = ["DET", "NOUN", "PRON", "VERB", "PRON", "AUX", "ADJ"]
LABELS = ["root", "det", "nsubj", "acl:relcl", "cop", "iobj", "obj", "ccomp"]
SUBJECT = LABELS.index("nsubj")
EDGES = [
    (2, 1, "det", 9),
    (7, 2, "nsubj", 8),
    (4, 2, "obj", 3),
    (4, 3, "nsubj", 8),
    (4, 3, "obj", 2),
    (2, 4, "acl:relcl", 7),
    (0, 4, "root", 4),
    (7, 5, "nsubj", 6),
    (4, 5, "nsubj", 5),
    (4, 5, "iobj", 4),
    (7, 6, "cop", 9),
    (0, 7, "root", 9),
    (4, 7, "ccomp", 5),
]


#: The size of a part of all trees, of the tree in it, and how far its own parts stand aside.
HIGH, SIZE, ASIDE = 168, 'width="293" height="130"', 70


def conflicts(heads, labels):
    """Return the ways out for a verb with two subjects."""
    for verb in heads[labels == SUBJECT]:
        both = np.flatnonzero((heads == verb) & (labels == SUBJECT))
        if len(both) > 1:
            return [[Alternative(forbid=[Edges(verb, d, SUBJECT)]) for d in both]]
    return []


def tree(heads, labels):
    """Return the picture of a tree."""
    relations = [LABELS[label] for label in labels[1:]]
    sentence = Sentence.from_words(WORDS, upos=TAGS, heads=heads, deprels=relations)
    return draw_svg(sentence)


def search(scores):
    """Return a picture of the search: the best tree of each part, below what it is a part of."""
    steps = explain_constrained(scores, conflicts, words=WORDS, labels=LABELS)
    divided = {step.detail.part.conditions: step.detail.made for step in steps[:-2]}
    found, label_names = steps[-1].detail.part, steps[-1].detail.label_names
    drawn = []

    def draw(part, depth, new):
        x, y = ASIDE * depth + 4, HIGH * len(drawn) + 4
        said = ", ".join(one.name(steps[0].words, label_names) for one in new) or "all trees"
        best = ", the best that keeps the rules" if part.conditions == found.conditions else ""
        picture = tree(part.heads, part.labels).replace("<svg ", f'<svg x="{x}" y="{y + 18}" ', 1)
        picture = re.sub('width="[^"]*" height="[^"]*"', SIZE, picture, count=1)
        text = f"{part.bound:.0f}{best}: {said}"
        drawn.append(f'<text class="title" x="{x}" y="{y + 12}">{escape(text)}</text>{picture}')
        for child in divided.get(part.conditions, ()):
            line = f"M{x + 20} {y + 150}V{HIGH * len(drawn) + 11}H{x + ASIDE - 6}"
            drawn[-1] += f'<path class="arc" d="{line}"/>'
            draw(child, depth + 1, child.conditions[len(part.conditions) :])

    draw(steps[0].detail.part, 0, ())
    body = "\n".join(drawn)
    size = f"{2 * ASIDE + 620} {HIGH * len(drawn)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="arborescence" viewBox="0 0 {size}">\n'
        f"{body}\n</svg>\n"
    )


def pictures():
    """Return the names of the files, and what is in them."""
    scores = np.full((8, 8, len(LABELS)), -np.inf)
    for head, word, label, score in EDGES:
        scores[head, word, LABELS.index(label)] = score
    return {
        "two-subjects.svg": tree(*arb.decode_labeled(scores)),
        "one-subject.svg": tree(*arb.decode_constrained(scores, conflicts)[:2]),
        "rules-search.svg": search(scores),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (HERE / name).write_text(picture, encoding="utf-8")
