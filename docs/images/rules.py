"""Draw the trees of docs/rules.md: ``python docs/images/rules.py`` writes them beside itself.

The page's own examples are run, and make the trees.
"""

from __future__ import annotations

import doctest
from pathlib import Path

from arborescence.drawing import draw_svg
from arborescence.treebank import Sentence

HERE = Path(__file__).parent
TAGS = ["DET", "NOUN", "PRON", "VERB", "PRON", "AUX", "ADJ"]


def pictures():
    """Return the names of the files, and what is in them."""
    page = (HERE.parent / "rules.md").read_text(encoding="utf-8").replace("```", "")
    example = doctest.DocTestParser().get_doctest(page, {}, "rules.md", None, 0)
    doctest.DocTestRunner().run(example, out=[].append, clear_globs=False)
    names = example.globs
    trees = {"two-subjects": names["before"], "one-subject": names["after"][:2]}
    return {
        f"{name}.svg": draw_svg(
            Sentence.from_words(
                names["words"],
                upos=TAGS,
                heads=heads,
                deprels=[names["labels"][label] for label in labels[1:]],
            )
        )
        for name, (heads, labels) in trees.items()
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (HERE / name).write_text(picture, encoding="utf-8")
