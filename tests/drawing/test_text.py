"""The drawing is read back: whoever follows its lines must find the tree that was drawn."""

import re

import numpy as np
import pytest

from arborescence.drawing import draw_text
from arborescence.drawing.text import screen_width
from arborescence.errors import TreeError
from arborescence.treebank import Sentence

FROM_ABOVE, FROM_BELOW, JOINT = "│╰├┴┼", "│╭├┬┼", "┬┴┼"


def random_tree(n: int, rng: np.random.Generator) -> list[int]:
    """Attach the words to each other in a random order: any tree, crossing or not."""
    heads = [-1] + [0] * n
    order = rng.permutation(n) + 1
    for place, word in enumerate(order[1:], 1):
        heads[word] = int(order[rng.integers(place)])
    return heads


def read_back(picture: str) -> list[int]:
    """Follow each row's line to the rail that it starts from, and the rail to its head."""
    rows = [line[4::2].split(" w")[0] for line in picture.splitlines()]
    marks = [line[2:].split(" w")[0] for line in picture.splitlines()]
    heads = [-1]
    for row, mark in enumerate(marks):
        if mark.startswith("──"):
            heads.append(0)
            continue
        column = re.search("[╭├╰]", mark).start() // 2 - 1
        reach = [row]
        for step, joins in ((-1, FROM_ABOVE), (1, FROM_BELOW)):
            at = row
            while rows[at][column] in joins:
                at += step
                reach.append(at)
        [head] = [at for at in reach if rows[at][column] in JOINT]
        heads.append(head + 1)
    return heads


def sentence(heads: list[int], **columns: list[str]) -> Sentence:
    words = [f"w{i}" for i in range(1, len(heads))]
    return Sentence.from_words(words, heads=heads, **columns)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_the_tree_can_be_read_from_the_drawing(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(100):
        heads = random_tree(n, rng)
        assert read_back(draw_text(sentence(heads))) == heads


def test_several_roots() -> None:
    assert read_back(draw_text(sentence([-1, 0, 1, 0, 3]))) == [-1, 0, 1, 0, 3]


def test_a_crossing_edge_passes_behind() -> None:
    heads = [-1, 2, 4, 4, 0, 2]  # 2 -> 5 spans 4, which is the root
    assert "─│─" in draw_text(sentence(heads))


def test_colors_only_add_escapes() -> None:
    drawn = sentence([-1, 2, 0, 2], upos=["NOUN", "VERB", "NOUN"], deprels=["a", "root", "b"])
    colored = draw_text(drawn, color=True)
    assert re.sub(r"\033\[\d+m", "", colored) == draw_text(drawn)
    assert colored != draw_text(drawn)


def test_columns_line_up_for_wide_and_combining_characters() -> None:
    forms = ["木", "e\u0301te\u0301", "tree"]
    drawn = Sentence.from_words(
        forms, heads=[-1, 2, 0, 2], upos=["X"] * 3, deprels=["a", "root", "b"]
    )
    starts = {screen_width(line[: line.index("  X")]) for line in draw_text(drawn).splitlines()}
    assert len(starts) == 1


def test_control_characters_do_not_reach_the_terminal() -> None:
    drawn = Sentence.from_words(["\033[2Jboo"], heads=[-1, 0])
    assert "\033" not in draw_text(drawn)


def test_a_sentence_without_heads() -> None:
    with pytest.raises(TreeError, match=r"word 1 \('w1'\) has no usable head"):
        draw_text(sentence([-1, -1]))


def test_a_cycle_that_the_root_does_not_reach() -> None:
    with pytest.raises(TreeError, match="the heads above word 2 form a cycle"):
        draw_text(sentence([-1, 0, 3, 2, 2]))


def test_lines_of_words_from_right_to_left_begin_with_a_mark() -> None:
    lines = draw_text(
        Sentence.from_words(["كتب", "قديمة", "3"], heads=[2, 0, 2], upos=["X"] * 3)
    ).splitlines()
    assert [line[0] for line in lines] == ["\N{LEFT-TO-RIGHT MARK}"] * 3
    assert len({screen_width(line.partition("X")[0]) for line in lines}) == 1
    assert draw_text(sentence([-1, 0])).startswith("  ")


def test_joiners_of_persian_words_are_kept() -> None:
    assert "می\u200cشود" in draw_text(Sentence.from_words(["می\u200cشود"], heads=[0]))


def test_white_space_is_drawn_and_what_cannot_be_seen_is_left_out() -> None:
    forms = ["10\u00a0000", "Zu\u00adcker", "a\u2028b", "\u200bc\ufeff", "1\u0600", "\u00ad", "\b"]
    drawing = draw_text(Sentence.from_words(forms, heads=[0, 1, 1, 1, 1, 1, 1]))
    words = [re.split("─ ", line)[-1].rstrip() for line in drawing.split("\n")[:-1]]
    assert words == ["10\u00a0000", "Zucker", "a b", "c", "1\u0600", "_", "\ufffd"]
    # A sign before numbers, though a format character, is seen.
    assert screen_width("\u0600") == screen_width("\u00a0") == 1
    assert screen_width("\u00ad") == 0
