"""The tables are read back: what they say must be the derivation that they were made of."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from arborescence.drawing import trace, trace_html
from arborescence.drawing.derivation import HEADINGS, cells, steps
from arborescence.drawing.text import screen_width
from arborescence.errors import TreeError
from arborescence.transitions import SYSTEMS, Transition, get_system
from arborescence.treebank import Sentence

CATS = Sentence.from_words(
    ["we", "vigorously", "wash", "our", "cats", "who", "stink"],
    heads=[-1, 3, 3, 0, 5, 3, 5, 6],
    deprels=["nsubj", "advmod", "root", "nmod:poss", "obj", "acl:relcl", "comp"],
)
CROSSING = Sentence.from_words(
    ["a", "talk", "began", "on", "trees"],
    heads=[-1, 2, 3, 0, 5, 2],
    deprels=["det", "nsubj", "root", "case", "nmod"],
)


def random_tree(n: int, rng: np.random.Generator, projective: bool) -> list[int]:
    """Attach the words of each stretch to one of them; or all words to each other, in any order."""
    heads = [-1] + [0] * n
    if projective:
        stretches = [(1, n + 1, 0)]
        while stretches:
            start, stop, head = stretches.pop()
            if start < stop:
                word = int(rng.integers(start, stop))
                heads[word] = head
                stretches += [(start, word, word), (word + 1, stop, word)]
        return heads
    order = (rng.permutation(n) + 1).tolist()
    for place, word in enumerate(order[1:], 1):
        heads[word] = order[rng.integers(place)]
    return heads


def read_back(table: str) -> list[list[str]]:
    """Cut the table at the places where its headings stand; two columns are right-aligned."""
    heading, *lines = table.splitlines()
    ends = [match.end() for match in re.finditer(r"step|stack", heading)]
    starts = [match.start() for match in re.finditer(r"buffer|action|edge|relation", heading)]
    bounds = [0, *ends, *starts[1:], None]
    return [[line[a:b].strip() for a, b in pairwise(bounds)] for line in lines]


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_derivation_can_be_read_from_the_table(name: str) -> None:
    rng = np.random.default_rng(6)
    rules = get_system(name)
    for n in (1, 2, 5, 12, 12, 12):
        heads = random_tree(n, rng, rules.projective)
        words = ["ROOT", *(f"w{i}" for i in range(1, n + 1))]
        labels = [f"r{i}" for i in range(1, n + 1)]
        sentence = Sentence.from_words(words[1:], heads=heads, deprels=labels)
        rows = read_back(trace(sentence, system=name))
        state, found = rules.start(n), [-1] * (n + 1)
        for number, (step, stack, buffer, action, edge, relation) in enumerate(rows[:-1]):
            assert int(step) == number
            assert [words.index(word) for word in stack.split()] == state.stack
            assert [words.index(word) for word in buffer.split()] == state.buffer
            assert bool(edge) == bool(relation) == action.endswith("ARC")
            if edge:
                head, dependent = (words.index(word) for word in edge.split(" → "))
                assert relation == labels[dependent - 1]
                found[dependent] = head
            state = state.apply(Transition(action, relation or None))
        assert found == heads
        assert state.finished
        assert rows[-1][3:] == ["", "", ""]


def test_a_derivation_of_ones_own() -> None:
    shift, left = Transition("SHIFT"), Transition("LEFT-ARC", "dep")
    words = Sentence.from_words(["Birds", "sing"])
    rows = read_back(trace(words, system="arc-hybrid", transitions=[shift, left]))
    assert rows[1] == ["1", "ROOT Birds", "sing", "LEFT-ARC", "sing → Birds", "dep"]
    assert rows[2:] == [["2", "ROOT", "sing", "", "", ""]]
    with pytest.raises(ValueError, match="LEFT-ARC is not legal"):
        trace(words, transitions=[shift, left])


def test_several_roots() -> None:
    rows = read_back(trace(Sentence.from_words(["a", "b", "c"], heads=[-1, 0, 1, 0])))
    assert [row[4] for row in rows if row[4]] == ["a → b", "ROOT → a", "ROOT → c"]


def test_relations_may_be_left_out() -> None:
    short = trace(CATS, relations=False)
    assert short.splitlines()[0].split() == list(HEADINGS[:5])
    assert "nsubj" not in short
    unknown = CATS.replace(deprels=["_"] * 7)
    assert trace(unknown) == short


@pytest.mark.parametrize("width", [60, 80, 100, 300])
def test_lines_fit_the_terminal(width: int) -> None:
    forms = [f"{'ab木c'[i % 4] * (1 + i % 9)}" for i in range(30)]
    for heads in (range(-1, 30), [-1, *range(2, 31), 0]):  # a deep stack, and a full buffer
        sentence = Sentence.from_words(forms, heads=list(heads))
        whole, cut = trace(sentence).splitlines(), trace(sentence, width=width).splitlines()
        assert max(map(screen_width, cut)) <= width
        assert len(cut) == len(whole)
        assert any("…" in line for line in cut) == (max(map(screen_width, whole)) > width)


def test_what_is_left_out_is_far_from_the_middle() -> None:
    lines = trace(CATS, width=80).splitlines()
    assert lines[2].startswith("   1          ROOT we  vigorously …  ")
    assert lines[8].startswith("   7  … wash our cats  who stink  ")
    long = Sentence.from_words(["a" * 50, "b"], heads=[-1, 2, 0])
    lines = trace(long, width=20).splitlines()
    assert lines[1].startswith(f"   0      ROOT  {'a' * 7}… ")
    assert lines[2].startswith(f"   1  …{'a' * 7}  b ")
    assert lines[3].endswith("  b → …")


def test_columns_line_up_for_wide_and_combining_characters() -> None:
    forms = ["木", "e\u0301te\u0301", "tree"]
    wide = Sentence.from_words(forms, heads=[-1, 2, 0, 2], deprels=["a", "root", "b"])
    lines = trace(wide).splitlines()[1:-1]
    assert len({screen_width(re.split("SHIFT|LEFT|RIGHT", line)[0]) for line in lines}) == 1
    assert len({screen_width(line[: line.rindex(" ")]) for line in lines if "→" in line}) == 1


def test_colors_only_add_escapes() -> None:
    colored = trace(CATS, color=True)
    bare = re.sub(r"\033\[\d+m", "", colored)
    assert [line.rstrip() for line in bare.splitlines()] == trace(CATS).splitlines()
    assert "\033" in colored
    assert "\033" not in trace(CATS)


def test_control_characters_do_not_reach_the_terminal() -> None:
    hostile = Sentence.from_words(["\033[2Jboo"], heads=[-1, 0], deprels=["\033[2J"])
    assert "\033" not in trace(hostile)


def test_trees_that_cannot_be_derived() -> None:
    with pytest.raises(TreeError, match="the system swap"):
        trace(CROSSING)
    assert "SWAP" in trace(CROSSING, system="swap")
    with pytest.raises(TreeError, match=r"word 1 \('w'\) has no usable head"):
        trace(Sentence.from_words(["w"]))
    with pytest.raises(ValueError, match="arc-eager"):
        trace(CATS, system="arc-easy")


class Page(HTMLParser):
    """Reads the tables of a page, and complains of tags that do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            assert tag == "td" or "scope" in dict(attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"th", "td"} & set(self.open):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_page_says_what_the_text_says(name: str) -> None:
    table = [list(row) for row in cells(CATS, steps(CATS, name), relations=True)]
    assert Page(trace_html(CATS, system=name)).rows == table
    assert Page(trace_html(CATS, CATS, system=name)).rows == table * 2


def test_a_page_of_derivations_of_ones_own() -> None:
    words = Sentence.from_words(["Birds"])
    made = [Transition("SHIFT"), Transition("RIGHT-ARC")]
    page = Page(trace_html(words, words, transitions=[made, made[:1]]))
    assert len(page.rows) == 4 + 3
    with pytest.raises(ValueError, match="shorter"):
        trace_html(words, words, transitions=[made])


def test_hostile_words_and_relations_stay_text() -> None:
    forms = ["<script>", "&amp;", '"', "\x1b"]
    hostile = Sentence.from_words(forms, heads=[-1, 0, 1, 1, 1], deprels=["<i>", "&lt;", "'", "x"])
    page = trace_html(hostile)
    assert "<script" not in page
    rows = Page(page).rows
    assert rows[1][2] == '<script> &amp; " \N{REPLACEMENT CHARACTER}'
    assert rows[-2][4:] == ["ROOT → <script>", "<i>"]


def test_a_page_needs_nothing_else() -> None:
    page = trace_html(CATS, CATS)
    names = [name for name, _ in Page(page).attributes]
    assert not {"src", "href", "style", "onclick"} & set(names)
    assert "url(" not in page
    assert "http" not in page
    identifiers = [value for name, value in Page(page).attributes if name == "id"]
    described = [value for name, value in Page(page).attributes if name == "aria-labelledby"]
    assert identifiers == described == ["sentence-1", "sentence-2"]
