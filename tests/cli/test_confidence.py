"""`train --projective`, `parse --projective` and `parse --confidence`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import arborescence as arb
from arborescence.parsers.shared.confidence import edge_probs
from arborescence.treebank import read, write
from lessons import BIRDS, CATS, SONGS, write_lessons

if TYPE_CHECKING:
    from pathlib import Path

    from lessons import Command


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lessons(tmp_path_factory.mktemp("confidence"), BIRDS, SONGS, CATS)


@pytest.fixture(scope="module")
def model(lessons: Path) -> Path:
    from arborescence.cli import run

    path = lessons.with_name("pseudo.model")
    options = ["--epochs", "4", "--bits", "12", "--no-tagger", "--projective", "pseudo"]
    assert (
        run(["train", "linear", str(lessons), "--dev", str(lessons), "-o", str(path), *options])
        == 0
    )
    return path


def test_projective_parsers(command: Command, lessons: Path, model: Path, tmp_path: Path) -> None:
    gold = list(read(lessons))
    parsed = tmp_path / "parsed.conllu"
    assert command("parse", "-m", model, lessons, "-o", parsed).status == 0
    assert list(read(parsed)) == gold
    assert command("parse", "-m", model, lessons, "--projective", "-o", parsed).status == 0
    assert all(arb.is_projective(sentence.tree) for sentence in read(parsed))

    other = tmp_path / "projective.model"
    options = ("--dev", lessons, "-o", other, "--epochs", 2, "--bits", 12, "--no-tagger")
    assert command("train", "linear", lessons, *options, "--projective", "yes").status == 0
    assert arb.load(other).info["projective"] is True


@pytest.mark.parametrize("loss", ["tree", "head"])
def test_training_by_likelihood(command: Command, lessons: Path, tmp_path: Path, loss: str) -> None:
    model = tmp_path / "likely.model"
    options = ("--dev", lessons, "-o", model, "--epochs", 2, "--bits", 12, "--no-tagger")
    options = (*options, "--loss", loss)
    assert command("train", "linear", lessons, *options).status == 0
    assert arb.load(model).info["loss"] == loss
    assert "--joint does not go" in command(
        "train", "linear", lessons, *options, "--joint"
    ).complaint(2)


def test_confidence_in_misc(command: Command, lessons: Path, model: Path, tmp_path: Path) -> None:
    parsed = tmp_path / "parsed.conllu"
    noted = [sentence.replace(misc=["SpaceAfter=No"] * len(sentence)) for sentence in read(lessons)]
    source = tmp_path / "noted.conllu"
    write(noted, source)
    assert command("parse", "-m", model, source, "--confidence", "-o", parsed).status == 0
    for gold, sentence in zip(noted, read(parsed), strict=True):
        assert sentence.replace(misc=gold.misc, comments=gold.comments) == gold
        assert len(edge_probs(sentence, "RelationProb")) == len(gold)
        assert len(sentence.comments) == len(gold.comments) + 1
        assert all(0 <= p <= 1 for p in edge_probs(sentence))
        assert all(entry.endswith("|SpaceAfter=No") for entry in sentence.misc)
    result = command("parse", "-m", model, source, "--confidence", "--kbest", 2)
    assert result.out.count("\tEdgeProb=") == 2 * sum(map(len, noted))


def test_confidence_in_json(command: Command, model: Path) -> None:
    options = ("-m", model, "--format", "tokens", "--json")
    [parsed] = map(
        json.loads,
        command("parse", *options, "--confidence", stdin="Cats sing").out.splitlines(),
    )
    assert len(parsed["edge_probs"]) == 2
    [found] = map(
        json.loads,
        command(
            "parse", *options, "--confidence", "--kbest", 2, stdin="Cats sing"
        ).out.splitlines(),
    )
    first, second = (analysis["edge_probs"] for analysis in found["analyses"])
    assert first == parsed["edge_probs"]
    assert [a + b for a, b in zip(first, second, strict=True)] == pytest.approx([1, 1], abs=1e-3)
    assert sum(analysis["tree_prob"] for analysis in found["analyses"]) == pytest.approx(
        1, abs=1e-3
    )
    assert len(parsed["relation_probs"]) == 2
    assert "_prob" not in command("parse", *options, stdin="Cats sing").out


def test_a_drawing_has_no_place_for_confidence(command: Command, model: Path) -> None:
    options = ("parse", "-m", model, "--format", "tokens", "--confidence", "--tree")
    assert "name one with -o" in command(*options, stdin="Cats sing").complaint(2)
