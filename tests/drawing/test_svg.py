"""The SVG is well formed, says everything once, and crosses lines only where the tree does."""

import re
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from arborescence.drawing import draw_svg
from arborescence.drawing.svg import draw_tree, stack_arcs
from arborescence.errors import TreeError
from arborescence.treebank import Sentence

SVG = "{http://www.w3.org/2000/svg}"


def sentence(heads: list[int], forms: list[str] | None = None) -> Sentence:
    words = forms or [f"w{i}" for i in range(1, len(heads))]
    return Sentence.from_words(
        words, heads=heads, upos=["X"] * len(words), deprels=["dep"] * len(words)
    )


def projective_tree(words: list[int], head: int, rng: np.random.Generator, out: list[int]) -> None:
    if words:
        middle = int(rng.integers(len(words)))
        out[words[middle]] = head
        projective_tree(words[:middle], words[middle], rng, out)
        projective_tree(words[middle + 1 :], words[middle], rng, out)


def test_every_word_tag_and_label_is_written() -> None:
    root = ET.fromstring(draw_svg(sentence([-1, 2, 0, 2])))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert sorted(texts) == ["X"] * 3 + ["dep"] * 3 + ["w1", "w2", "w3"]
    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "tip"]) == 3


def test_hostile_words_stay_text() -> None:
    forms = ["<script>", "&amp;", '"', "\x1b", "\x0b"]
    root = ET.fromstring(draw_svg(sentence([-1, 0, 1, 1, 1, 1], forms)))
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert {"<script>", "&amp;", '"', "\N{REPLACEMENT CHARACTER}"} <= texts


def test_sentences_stand_below_each_other() -> None:
    one, two = sentence([-1, 0]), sentence([-1, 2, 0, 2])
    root = ET.fromstring(draw_svg(one, two))
    heights = [draw_tree(drawn)[1].height for drawn in (one, two)]
    assert float(root.get("height")) == sum(heights)
    assert len(root.findall(f"{SVG}g")) == 2


@pytest.mark.parametrize("n", [2, 5, 12, 30])
def test_projective_trees_are_drawn_without_crossings(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        heads = [-1] * (n + 1)
        projective_tree(list(range(1, n + 1)), 0, rng, heads)
        layout = draw_tree(sentence(heads))[1]
        arcs = stack_arcs(heads, [""] * (n + 1))
        boxes = [(layout.ports[arc.ends], layout.ports[arc.ends[::-1]], arc.level) for arc in arcs]
        for (a, b, low), (c, d, high) in combinations(boxes, 2):
            apart = b < c or d < a
            nested = (c < a and b < d and low < high) or (a < c and d < b and high < low)
            assert apart or nested


def test_words_do_not_run_into_each_other() -> None:
    layout = draw_tree(sentence([-1, 2, 0, 2], ["immeasurably", "M", "wwwwwwww"]))[1]
    assert np.diff(layout.centers[1:]).min() > 60
    assert layout.width > layout.centers[-1]


def test_no_outside_resources() -> None:
    picture = draw_svg(sentence([-1, 0]))
    assert re.findall(r"https?://[^\"]+", picture) == ["http://www.w3.org/2000/svg"]


def test_a_sentence_without_heads() -> None:
    with pytest.raises(TreeError, match="has no usable head"):
        draw_svg(sentence([-1, -1]))
