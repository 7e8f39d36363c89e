"""The SVG is well formed, says everything once, and crosses lines only where the tree does."""

import math
import re
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from arborescence.drawing import draw_svg
from arborescence.drawing.svg import BETWEEN, Marks, SentenceRow, drawn, lay_out, text_width
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


def test_white_space_is_drawn_and_what_cannot_be_seen_is_left_out() -> None:
    root = ET.fromstring(draw_svg(sentence([-1, 0, 1], ["10\u00a0000", "Zu\u00adcker"])))
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert {"10\u00a0000", "Zucker"} <= texts


def test_titles() -> None:
    trees = [sentence([-1, 2, 0]), sentence([-1, 0, 1])]
    root = ET.fromstring(draw_svg(*trees, titles=["1. weight <7>", ""]))
    [title] = root.findall(f"{SVG}text")
    assert title.text == "1. weight <7>"
    assert float(title.get("y")) < 24
    with pytest.raises(ValueError, match="zip"):
        draw_svg(*trees, titles=["1"])


def test_sentences_stand_below_each_other() -> None:
    one, two = sentence([-1, 0]), sentence([-1, 2, 0, 2])
    root = ET.fromstring(draw_svg(one, two))
    heights = [row.height for drawn in (one, two) for row in lay_out(drawn)]
    assert float(root.get("height")) == sum(heights) + BETWEEN
    assert len(root.findall(f"{SVG}g")) == 2


@pytest.mark.parametrize("n", [2, 5, 12, 30])
@pytest.mark.parametrize("width", [math.inf, 400])
def test_projective_trees_are_drawn_without_crossings(n: int, width: float) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        heads = [-1] * (n + 1)
        projective_tree(list(range(1, n + 1)), 0, rng, heads)
        rows = lay_out(sentence(heads), width)
        assert width < math.inf or len(rows) == 1
        for row in rows:
            boxes = [(*row.span(arc), arc.level) for arc in row.arcs]
            for (a, b, low), (c, d, high) in combinations(boxes, 2):
                apart = b < c or d < a
                inside, around = c <= a and b <= d, a <= c and d <= b
                assert apart or (inside and low < high) or (around and high < low)


def random_sentence(n: int, rng: np.random.Generator, roots: float) -> Sentence:
    """Any tree, crossing edges and all, over words and with relations of many lengths."""
    order = rng.permutation(np.arange(1, n + 1))
    heads = [-1] * (n + 1)
    for place, word in enumerate(order):
        below_root = place == 0 or rng.random() < roots
        heads[word] = 0 if below_root else int(order[rng.integers(place)])
    return Sentence.from_words(
        ["W" * int(size) for size in rng.integers(1, 12, n)],
        heads=heads,
        upos=list(rng.choice(["X", "PROPN", "_"], n)),
        deprels=list(rng.choice(["det", "root", "nsubj:outer:pass", "_", "of-a-long-name"], n)),
    )


def boxes_and_lines(row: SentenceRow) -> tuple[list[tuple[float, ...]], list[tuple[float, float]]]:
    """Return the boxes of all labels, words and tags; and x and top of all upright lines."""
    root = ET.fromstring(f'<svg xmlns="{SVG[1:-1]}">{"".join(drawn(row))}</svg>')
    boxes = []
    for element in root.iter(f"{SVG}text"):
        size = 16 if "form" in element.get("class") else 11
        x, y, half = (
            float(element.get("x")),
            float(element.get("y")),
            text_width(element.text, size),
        )
        boxes.append(
            (x - half / 2, x + half / 2, y - size, y + size / 4, "label" in element.get("class"))
        )
    lines = []
    for element in root.iter(f"{SVG}path"):
        if element.get("class") == "arc":
            path = element.get("d")
            if from_below := re.match(r"M([\d.]+) [\d.]+V([\d.]+)", path):
                lines.append((float(from_below[1]), float(from_below[2])))
            if to_below := re.search(r"H([\d.]+)q9 0 9 9V", path):
                top = float(re.search(r"M[\d.]+ ([\d.]+)", path)[1])
                if from_below:
                    top = float(from_below[2])
                lines.append((float(to_below[1]) + 9, top))
    return boxes, lines


@pytest.mark.parametrize("roots", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("width", [math.inf, 700, 1])
def test_nothing_is_printed_over_a_label(roots: float, width: float) -> None:
    rng = np.random.default_rng(7)
    for n in (1, 2, 3, 5, 8, 12, 20, 35):
        for _ in range(10):
            drawing = random_sentence(n, rng, roots)
            rows = lay_out(drawing, width)
            assert [row.first for row in rows] == [1, *(row.end for row in rows[:-1])]
            assert rows[-1].end == n + 1
            for row in rows:
                row.width = max(row.width for row in rows)
                boxes, lines = boxes_and_lines(row)
                assert len(boxes) >= len(row.centers)
                for (a, b, top, bottom, _), (c, d, high, low, _) in combinations(boxes, 2):
                    assert b <= c or d <= a or bottom <= high or low <= top
                for left, right, top, bottom, label in boxes:
                    assert left >= 0
                    assert right <= row.width
                    assert top >= 0
                    assert bottom <= row.height
                    for x, start in lines if label else []:
                        assert x < left or right < x or start > bottom


def test_a_long_sentence_goes_on_in_further_rows() -> None:
    n = 300
    drawing = sentence([-1, *(w + 1 for w in range(1, n)), 0])
    drawing = drawing.replace(heads=[*drawing.tree[:-2], 1, 0])
    root = ET.fromstring(draw_svg(drawing))
    assert float(root.get("width")) <= 1200
    groups = root.findall(f"{SVG}g")
    assert len(groups) > 5
    assert sum(len(group.findall(f"{SVG}text[@class='tag']")) for group in groups) == n
    tips = [path for path in root.iter(f"{SVG}path") if path.get("class") == "tip"]
    assert len(tips) == n
    one_row = ET.fromstring(draw_svg(drawing, width=math.inf))
    assert len(one_row.findall(f"{SVG}g")) == 1
    assert float(one_row.get("width")) > 5000


def test_words_do_not_run_into_each_other() -> None:
    [row] = lay_out(sentence([-1, 2, 0, 2], ["immeasurably", "M", "wwwwwwww"]))
    assert np.diff(row.centers).min() > 60
    assert row.width > row.centers[-1]


def test_no_outside_resources() -> None:
    picture = draw_svg(sentence([-1, 0]))
    assert re.findall(r"https?://[^\"]+", picture) == ["http://www.w3.org/2000/svg"]


def test_a_sentence_without_heads() -> None:
    with pytest.raises(TreeError, match="has no usable head"):
        draw_svg(sentence([-1, -1]))


@pytest.mark.parametrize("forms", [["كتب", "قديمة", "3"], ["ספר", "ישן", "3"]])
def test_words_from_right_to_left_stand_from_right_to_left(forms: list[str]) -> None:
    root = ET.fromstring(draw_svg(sentence([-1, 2, 0, 2], forms)))
    [group] = root.findall(f"{SVG}g")
    shift, scale = re.fullmatch(
        r"translate\((\S+) 0\) (scale\(-1 1\))", group.get("transform")
    ).groups()
    places = []
    for text in group.findall(f"{SVG}text"):
        assert text.get("transform") == scale  # mirrored twice
        places.append((float(shift) + float(text.get("x")), text.text))
    assert all(0 < x < float(root.get("width")) for x, _ in places)
    assert [text for _, text in sorted(places, reverse=True) if text in forms] == forms


def test_a_sentence_with_one_word_from_right_to_left_runs_from_left_to_right() -> None:
    assert "scale" not in draw_svg(sentence([-1, 2, 0, 2], ["كتب", "old", "books"]))


def test_marked_words_and_edges():
    tree = sentence([-1, 2, 0, 2])
    plain, marked = draw_svg(tree), draw_svg(tree, marks=[Marks([1], [2, 3])])
    root = ET.fromstring(marked)
    for kind, count in (("form", 1), ("tag", 1), ("arc", 2), ("tip", 2), ("label", 2)):
        classes = [each.get("class").split() for each in root.iter() if each.get("class")]
        assert sum({kind, "marked"} <= {*each} for each in classes) == count, kind
    assert "marked" not in plain
    with pytest.raises(ValueError, match="shorter"):
        draw_svg(tree, tree, marks=[Marks()])
