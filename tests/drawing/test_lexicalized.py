"""The drawing of a lexicalized tree is read back."""

import io
import re
import tracemalloc

import numpy as np
import pytest

from arborescence.drawing import draw_lexicalized
from arborescence.errors import TreeError
from arborescence.treebank.phrase_structure import (
    HeadRules,
    Lexicalized,
    PhraseTree,
    lexicalize,
    read_trees,
)
from phrase_trees import random_tree

RULES = HeadRules.load("collins")


def read_back(picture: str) -> list[tuple[int, bool, str]]:
    """Return the depth of each node, whether a thick line leads to it, and its text."""
    rows = []
    for line in picture.splitlines():
        lines, thick, text = re.fullmatch(r"((?:│  |   )*)(?:[├└]─ |([┝┕]━ ))?(.*)", line).groups()
        depth = len(lines) // 3 + (line != text)
        rows.append((depth, bool(thick), text))
    return rows


def described(node: Lexicalized, depth: int = 0, is_head: bool = False):
    text = f"{node.label}({node.form})" if node.children else f"{node.label} {node.form}"
    yield depth, is_head, text
    for child in node.children:
        yield from described(child, depth + 1, child is node.head)


def test_the_tree_can_be_read_from_the_drawing() -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        root = lexicalize(random_tree(int(rng.integers(1, 12)), rng), RULES)
        assert read_back(draw_lexicalized(root)) == list(described(root))


def test_colors_and_control_characters() -> None:
    tree = PhraseTree("NP", [PhraseTree("DT", word="the"), PhraseTree("NN", word="\x1b[2Jtree")])
    root = lexicalize(tree, RULES)
    drawn = draw_lexicalized(root)
    assert "\x1b" not in drawn
    colored = draw_lexicalized(root, color=True)
    assert colored != drawn
    assert re.sub(r"\033\[\d+m", "", colored) == drawn


@pytest.mark.parametrize("sister", ["", " (NN b)"])
def test_deep_trees_take_little_memory(sister):
    """The drawing of such a tree would have 3 n² / 2 characters for n nodes."""
    [tree] = read_trees(io.BytesIO(f"{'(S ' * 50_000}(NN a){f'{sister})' * 50_000}".encode()))
    root = lexicalize(tree, RULES)
    tracemalloc.start()
    with pytest.raises(TreeError, match="too deep to be drawn"):
        draw_lexicalized(root)
    assert tracemalloc.get_traced_memory()[1] < 1 << 28
    tracemalloc.stop()
