"""Bracketed trees, whole and broken."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

from arborescence.errors import TreebankError
from arborescence.treebank.phrase_structure import read_trees, reading
from phrase_trees import CONSTRUCTIONS, random_tree

BIRDS = "(S (NP (NNS Birds)) (VP (VBP sing)))"


def read(text: str) -> list[str]:
    return [str(tree) for tree in read_trees(io.BytesIO(text.encode()))]


def test_what_is_written_is_read_again() -> None:
    rng = np.random.default_rng(1)
    trees = [str(random_tree(n, rng, empty=0.1)) for n in rng.integers(1, 12, 300)]
    assert read("\n".join(trees)) == trees
    assert read(" ".join(trees)) == trees  # on one line
    assert read("".join(trees).replace(" ", "\n \t")) == trees  # on many lines
    assert read("\ufeff" + "\r\n".join(trees) + "\r\n") == trees


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_constructions(name: str) -> None:
    text = CONSTRUCTIONS[name].brackets
    [tree] = read(text)
    assert "".join(tree.split()) == "".join(text.split())


def test_lines_comments_and_gzip() -> None:
    text = f"*x*x*x*\n# birds\n\n; and\n%% frogs\n{BIRDS}\n\n (# pound)\n"
    trees = list(read_trees(io.BytesIO(gzip.compress(text.encode()))))
    assert [(str(tree), tree.line) for tree in trees] == [(BIRDS, 6), ("(# pound)", 8)]


def test_very_deep_trees() -> None:
    text = "(NP " * 50_000 + "(NN tree)" + ")" * 50_000
    assert read(text) == [text]


@pytest.mark.parametrize("part", [" (NP\n", " (NP (NN a)) \n"])
def test_trees_without_an_end(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_LARGEST", 1000)
    errors: list[TreebankError] = []
    text = f"{BIRDS}\n(S\n" + part * 1000
    with pytest.raises(TreebankError, match="<stream>:2: the tree that begins here has more than"):
        read(text)
    trees = read_trees(io.BytesIO(f"{text}\n{BIRDS}".encode()), skip_invalid=errors.append)
    assert [str(tree) for tree in trees][-1] == BIRDS
    assert "more than 1,000 brackets" in str(errors[0])


BROKEN = {
    "(S (NP (NNS Birds))": "1: the tree that begins here lacks 1 closing bracket",
    f"{BIRDS}\n((S (NP\n(NNS Birds)": "2: the tree that begins here lacks 3 closing brackets",
    f"{BIRDS}\n{BIRDS})": "2: a closing bracket without an opening one",
    "1\tBirds\tbird": "1: '1' outside all brackets: this is not a bracketed tree",
    f"{BIRDS} sing": "1: 'sing' outside all brackets",
    "(S (NP Birds)\n  sing)": "2: the word 'sing' has no bracket with a tag",
    "(S (NP our cats))": "1: the word 'cats' has no bracket with a tag",
    "(S (NP our (NNS cats)))": "1: a bracket after the word 'our'",
    "(S (NP\n ()))": "2: nothing in the bracket ()",
    "(S (NP))": "1: nothing in the bracket (NP)",
    "(S ((NNS cats)))": "1: a bracket without a label inside a tree",
    "\n(S (NP (-NONE- *)))": "2: a tree without words",
    "()": "1: nothing in the bracket ()",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_trees(text: str) -> None:
    with pytest.raises(TreebankError) as caught:
        read(text)
    assert str(caught.value).startswith(f"<stream>:{BROKEN[text]}")


@pytest.mark.parametrize("text", [text for text in BROKEN if not text.startswith(BIRDS)])
def test_broken_trees_are_skipped(text: str) -> None:
    errors: list[TreebankError] = []
    file = io.BytesIO(f"{BIRDS}\n{text}\n{BIRDS}\n".encode())
    found = [str(tree) for tree in read_trees(file, skip_invalid=errors.append)]
    assert found == [BIRDS, BIRDS]
    assert len(errors) == 1
    line, message = BROKEN[text].split(":", 1)
    assert str(errors[0]).startswith(f"<stream>:{int(line) + 1}:{message}")


def test_nothing_and_no_text() -> None:
    assert read("") == read("\n \n") == []
    with pytest.raises(TreebankError, match="<stream>:2: byte 0xff is not UTF-8"):
        list(read_trees(io.BytesIO(b"(NN tree)\n(NN \xff)")))


def test_a_message_is_short_and_cannot_control_a_terminal() -> None:
    with pytest.raises(TreebankError) as caught:
        read("\x1b[2J" + 1000 * "x")
    assert len(str(caught.value)) < 120
    assert "\x1b" not in str(caught.value)
