"""`experiment undirected`, as it is called and as it fails."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from small_treebanks import write_treebanks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]

UNDIRECTED = ("experiment", "undirected")
QUICK = ("--epochs", 1, "--bits", 10)


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebanks(tmp_path_factory.mktemp("treebanks"))


def test_help(command: Command) -> None:
    assert "experiment" in command("--help").out
    assert "undirected" in command("experiment", "--help").out
    result = command(*UNDIRECTED, "--help")
    assert result.status == 0
    assert "--treebanks" in result.out.partition("Examples")[2]


def test_from_treebanks_to_a_report(command: Command, treebanks: Path, tmp_path: Path) -> None:
    options = ("--treebanks", treebanks, "-o", tmp_path / "out", *QUICK, "--only", "Birdish")
    result = command(*UNDIRECTED, *options)
    assert (result.status, result.out) == (0, "")
    report = (tmp_path / "out" / "report.md").read_text()
    assert "Birdish" in report
    assert "Arboric" not in report
    assert "bits 10" in report


def test_without_matplotlib(
    command: Command, treebanks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import arborescence.experiments.undirected as experiment

    monkeypatch.setattr(experiment, "reproduce", lambda *_, **__: (False, []))
    result = command(*UNDIRECTED, "--treebanks", treebanks, "-o", tmp_path)
    assert result.status == 0
    assert result.err.count("\n") == 1
    assert "arborescence[experiments]" in result.err


def test_what_is_wrong(command: Command, treebanks: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    empty = tmp_path / "empty"
    empty.mkdir()

    def complaint(treebanks: Path, output: Path, *options: object, status: int = 1) -> str:
        return str(
            command(
                *UNDIRECTED, "--treebanks", treebanks, "-o", output, *QUICK, *options
            ).complaint(status)
        )

    assert "missing: No such file" in complaint(tmp_path / "missing", empty)
    assert "Not a directory" in complaint(file, empty)
    assert "no treebank that can be used" in complaint(empty, empty)
    assert "'Grove'" in complaint(treebanks, empty, "--only", "Grove")
    assert "file" in complaint(treebanks, file)
    assert "--epochs" in complaint(treebanks, empty, "--epochs", "0", status=2)
    assert "treebanks" in command(*UNDIRECTED, "-o", empty).complaint(2)
    assert not os.listdir(empty)  # noqa: PTH208


def test_a_treebank_that_is_no_treebank(command: Command, tmp_path: Path) -> None:
    folder = write_treebanks(tmp_path / "treebanks")
    broken = folder / "Birdish" / "bi-ud-test.conllu"
    broken.write_text("1\tBirds\n\n")
    result = command(*UNDIRECTED, "--treebanks", folder, "-o", tmp_path / "out", *QUICK)
    assert result.status == 1
    assert f"left out: Birdish: {broken}:1" in result.err
    assert "Arboric" in (tmp_path / "out" / "report.md").read_text()
