"""`arborescence convert`: constructions, traces, and very deep and wide trees."""

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
