"""`arborescence convert`: bracketed trees in, CoNLL-U out; drawings; what is said at the end."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from arborescence.treebank import read
from phrase_trees import CONSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]

TREES = "\n".join(text for text, *_ in CONSTRUCTIONS.values())


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "birds.mrg"
    path.write_text(TREES)
    return path


@pytest.mark.parametrize(
    ("rules", "column"), [("collins", "collins"), ("yamada-matsumoto", "yamada_matsumoto")]
)
def test_to_a_file(command: Command, trees: Path, rules: str, column: str) -> None:
    output = trees.with_suffix(".conllu")
    result = command("convert", trees, "-o", output, "--head-rules", rules)
    assert result.status == 0
    assert result.out == ""
    assert f"head rules {rules}: " in result.err
    heads = [sentence.heads.tolist() for sentence in read(output)]
    assert heads == [getattr(each, rules.replace("-", "_")) for each in CONSTRUCTIONS.values()]
    drawn, lines = trees.with_suffix(".svg"), trees.with_suffix(".json")
    for path in (drawn, lines):
        assert command("convert", trees, "-o", path, "--head-rules", rules).status == 0
    assert drawn.read_text().startswith("<svg")
    assert [json.loads(line)["heads"] for line in lines.read_text().splitlines()] == heads
    [first, *_] = read(output)
    assert first.sent_id == "birds-1"


def test_from_a_pipe_with_traces(command: Command) -> None:
    result = command("convert", "--traces", stdin=TREES)
    heads = [each.heads.tolist() for each in read(io.BytesIO(result.out.encode()))]
    assert heads == [each.traced for each in CONSTRUCTIONS.values()]
    assert "5 phrases put back to their traces" in result.err
    assert command("convert", "--traces", "--quiet", stdin=TREES).err == ""


def test_rules_of_ones_own_and_coordination(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "my.rules"
    path.write_text("@coordinators CC\nNP right NNS\n")
    tree = "(NP (NNS cats) (CC and) (NNS dogs))"
    options = ("convert", "--head-rules", path)
    assert "2\tand\t_\t_\tCC\t_\t3\t" in command(*options, stdin=tree).out
    assert "\tCC\t_\t1\t" in command(*options, "--coordination", "first", stdin=tree).out
    path.write_text("NP NNS right\n")
    assert "my.rules:1: after the phrase 'NP'" in command(*options, stdin=tree).complaint()
    assert "--coordination" in command(*options, "--coordination", "last").complaint(2)
    assert "No such file" in command("convert", "--head-rules", tmp_path / "x").complaint()


def test_drawings(command: Command, tmp_path: Path) -> None:
    tree = "(NP (DT the) (NN tree))"
    result = command("convert", "--tree", stdin=tree)
    assert result.out == "# sent_id = stdin-1\nNP(tree)\n├─ DT the\n┕━ NN tree\n\n"
    output = tmp_path / "out.conllu"
    assert command("convert", "--tree", "-o", output, stdin=tree).out == result.out
    assert len(list(read(output))) == 1
    assert "--tree takes the standard output" in command(
        "convert", "--tree", "-o", "-", stdin=tree
    ).complaint(2)


def test_what_the_rules_leave_undecided(command: Command) -> None:
    kinds = [f"(X{kind} (IN up) (RB down))" for kind in "ABCDEFG"]
    said = command("convert", stdin=" ".join([*kinds, kinds[3], "(NP (NN tree))"])).err
    assert said.splitlines()[0] == "head rules collins: 8 of 8 phrases undecided"
    assert said.splitlines()[1] == "  2 × XD → IN RB"
    assert said.splitlines()[-1] == "  and 2 other kinds"
    assert command("convert", stdin="(NP (NN tree))").err == (
        "head rules collins: 0 of 0 phrases undecided\n"
    )


def test_broken_trees(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "broken.mrg"
    path.write_text("(NP (NN tree))\n(NP (NN tree)\n(NP (NN tree))\n")
    output = tmp_path / "out.conllu"
    said = command("convert", path, "-o", output).complaint()
    assert said.endswith("broken.mrg:2: the tree that begins here lacks 1 closing bracket\n")
    assert not output.exists()
    result = command("convert", path, "-o", output, "--skip-invalid")
    assert result.err.startswith("skipped 1 broken sentence (1 word, 1 line); the first: ")
    assert len(list(read(output))) == 2
    assert "none.mrg: No such file" in command("convert", tmp_path / "none.mrg").complaint()


def test_styles_there_and_back(command: Command, tmp_path: Path) -> None:
    source, styled = tmp_path / "ud.conllu", tmp_path / "styled.conllu"
    words = ["with\tcase\t2", "cats\troot\t0", "and\tcc\t4", "dogs\tconj\t2"]
    rows = (line.split("\t") for line in words)
    source.write_text(
        "".join(f"{i}\t{w}\t_\t_\t_\t_\t{h}\t{r}\t_\t_\n" for i, (w, r, h) in enumerate(rows, 1))
        + "\n"
    )
    style = ("--heads", "function", "--coordination", "conjunction")
    assert command("convert", source, *style, "-o", styled).status == 0
    [other] = read(styled)
    assert other.tree.tolist() == [-1, 3, 1, 0, 3]
    assert command("convert", styled, *style, "--back").out == source.read_text()
    result = command("convert", source, "--heads", "content", "--coordination", "before")
    assert (result.status, result.out) == (2, "")
    assert "--coordination must be 'first', 'conjunction', 'second' or" in result.err
    result = command("convert", source, "--coordination", "chain")
    assert (result.status, result.out) == (2, "")
    assert command("convert", source, "--heads", "content", "--tree").status == 2


def test_deep_and_wide_trees(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "deep.mrg"
    path.write_text(TREES + "\n" + "(S " * 9000 + "(NN a)" + ")" * 9000)
    result = command("convert", path, "--tree")
    assert result.status == 1
    where = f"{path}:{TREES.count(chr(10)) + 2}"
    assert result.err.endswith(f"arborescence: error: {where}: the tree is too deep to be drawn\n")
    path.write_text("(S " + "(NN a)" * 5000 + ")")
    result = command("convert", path)
    assert result.status == 0
    assert max(map(len, result.err.splitlines())) < 300
