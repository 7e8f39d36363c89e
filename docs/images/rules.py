"""Draw the trees of docs/rules.md: ``python docs/images/rules.py`` writes them beside itself.

The page's own examples are run, and make the trees.
"""

from __future__ import annotations

import doctest
import re
from html import escape
from pathlib import Path

from arborescence.drawing import draw_svg
from arborescence.explaining import explain_constrained
from arborescence.treebank import Sentence

HERE = Path(__file__).parent
TAGS = ["DET", "NOUN", "PRON", "VERB", "PRON", "AUX", "ADJ"]


#: The size of a part of all trees, of the tree in it, and how far its own parts stand aside.
HIGH, SIZE, ASIDE = 168, 'width="293" height="130"', 70


def tree(names, heads, labels):
    """Return the picture of a tree."""
    relations = [names["labels"][label] for label in labels[1:]]
    sentence = Sentence.from_words(names["words"], upos=TAGS, heads=heads, deprels=relations)
    return draw_svg(sentence)


def search(names):
    """Return a picture of the search: the best tree of each part, below what it is a part of."""
    steps = explain_constrained(
        names["scores"], names["conflicts"], words=names["words"], labels=names["labels"]
    )
    divided = {step.detail.part.conditions: step.detail.made for step in steps[:-2]}
    found, label_names = steps[-1].detail.part, steps[-1].detail.label_names
    drawn = []

    def draw(part, depth, new):
        x, y = ASIDE * depth + 4, HIGH * len(drawn) + 4
        said = ", ".join(one.name(steps[0].words, label_names) for one in new) or "all trees"
        best = ", the best that keeps the rules" if part.conditions == found.conditions else ""
        picture = tree(names, part.heads, part.labels).replace(
            "<svg ", f'<svg x="{x}" y="{y + 18}" ', 1
        )
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
    page = (HERE.parent / "rules.md").read_text(encoding="utf-8").replace("```", "")
    example = doctest.DocTestParser().get_doctest(page, {}, "rules.md", None, 0)
    doctest.DocTestRunner().run(example, out=[].append, clear_globs=False)
    names = example.globs
    return {
        "two-subjects.svg": tree(names, *names["before"]),
        "one-subject.svg": tree(names, *names["after"][:2]),
        "rules-search.svg": search(names),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (HERE / name).write_text(picture, encoding="utf-8")
