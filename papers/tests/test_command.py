"""`experiment`, as it is called and as it fails."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.treebanks import LeftOut
from small_treebanks import write_treebanks

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]

UNDIRECTED = ("experiment", "undirected")
QUICK = ("--epochs", 1, "--bits", 10)


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebanks(tmp_path_factory.mktemp("treebanks"))


def test_help(command: Command) -> None:
    assert "experiment" in command("--help").out
    overview = command("experiment", "--help").out
    for name in ("root", "kbest", "runtime", "undirected", "rules", "conversion"):
        assert f" {name} " in overview
        result = command("experiment", name, "--help")
        assert result.status == 0
        assert "--treebanks" in result.out.partition("Examples")[2]


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        (
            "root",
            ("--parser", "transition", "--curve", "", "--curve-seeds", 2, "--no-losses"),
            {"seeds": 4, "curve": "", "curve_seeds": 2, "losses": False},
        ),
        ("kbest", (), {"seeds": 4}),
        ("runtime", (), {}),
    ],
)
def test_options_arrive(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    more: tuple[object, ...],
    expected: dict[str, object],
) -> None:
    called: list[Any] = []

    def reproduce(*places: Path, **options: object) -> list[LeftOut]:
        called.append((*places, options))
        return []

    experiment = importlib.import_module(f"arborescence_papers.{name}")
    monkeypatch.setattr(experiment, "reproduce", reproduce)
    common = ("--only", "A", "--only", "B", "--jobs", 3, "--quick", "--models", tmp_path)
    common += ("--scores", tmp_path / "scores")
    parsers = ("--loss", "mira", "--training-root", "single", "--epochs", 2, "--bits", 11)
    seeds = ("--seeds", 4) if "seeds" in expected else ()
    places = ("--treebanks", "ud", "-o", "out")
    result = command("experiment", name, *places, *common, *parsers, *seeds, *more)
    assert (result.status, result.out, result.err) == (0, "", f"report: {Path('out/report.md')}\n")
    [(treebanks, output, options)] = called
    assert (str(treebanks), str(output)) == ("ud", "out")
    kind: Any = "transition" if more else "linear"
    assert options.pop("progress") is not None
    assert options == {
        "only": ["A", "B"],
        "recipe": Recipe(parser=kind, loss="mira", root="single", epochs=2, bits=11),
        "models": tmp_path,
        "scores": tmp_path / "scores",
        "jobs": 3,
        "quick": True,
        **expected,
    }


def test_what_is_left_out_is_named(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import arborescence_papers.kbest as experiment

    untested = LeftOut("Untested", "no test part", failed=False)
    broken = LeftOut("Birdish", "test.conllu:1: 2 columns", failed=True)
    for left_out, status, err in (
        ([untested], 0, ""),
        ([untested, broken], 1, "left out: Birdish: test.conllu:1: 2 columns\n"),
    ):
        monkeypatch.setattr(experiment, "reproduce", lambda *_, out=left_out, **__: out)
        result = command("experiment", "kbest", "--treebanks", tmp_path, "-o", tmp_path)
        report = f"report: {tmp_path / 'report.md'}\n"
        assert (result.status, result.out, result.err) == (status, "", err + report)
        silent = command("experiment", "kbest", "--treebanks", tmp_path, "-o", tmp_path, "-q")
        assert (silent.status, silent.err) == (status, err)


def test_root_with_a_broken_treebank(command: Command, tmp_path: Path) -> None:
    folder = write_treebanks(tmp_path / "treebanks")
    broken = folder / "Arboric" / "ar-ud-test.conllu"
    broken.write_text("1\tBirds\n\n")
    places = ("--treebanks", folder, "-o", tmp_path / "out")
    small = ("--seeds", 1, "--curve", "", "--no-losses")
    result = command("experiment", "root", *places, *QUICK, *small)
    assert (result.status, result.out) == (1, "")
    last, report = result.err.splitlines()[-2:]
    assert last.startswith(f"left out: Arboric: {broken}:1: ")
    assert report == f"report: {tmp_path / 'out' / 'report.md'}"
    assert "parsers: Birdish" in result.err
    report = (tmp_path / "out" / "report.md").read_text()
    assert "Birdish" in report
    assert f"Arboric: {broken}:1: " in report
    assert "Untested: no test part" in report
    assert (tmp_path / "out" / "scores" / "head-seed1" / "Birdish.npz").exists()


def test_from_treebanks_to_a_report(command: Command, treebanks: Path, tmp_path: Path) -> None:
    options = ("--treebanks", treebanks, "-o", tmp_path / "out", *QUICK, "--only", "Birdish")
    result = command(*UNDIRECTED, *options)
    assert (result.status, result.out) == (0, "")
    report = (tmp_path / "out" / "report.md").read_text()
    assert "Birdish" in report
    assert "Arboric" not in report
    assert "bits 10" in report


def test_rules(command: Command, treebanks: Path, tmp_path: Path) -> None:
    places = ("--treebanks", treebanks, "-o", tmp_path / "out", "--only", "Birdish")
    small = ("--sentences", 3, "--tested", 2)
    result = command("experiment", "rules", *places, *QUICK, *small, "--kind", "joint")
    assert (result.status, result.out) == (0, "")
    assert "3 sentences at most" in (tmp_path / "out" / "report.md").read_text()
    wrong = command("experiment", "rules", *places, "--kind", "neural").complaint(1)
    assert "linear, joint, second-order, not 'neural'" in wrong


def test_conversion(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import arborescence_papers.conversion as experiment

    called: dict[str, Any] = {}
    monkeypatch.setattr(experiment, "reproduce", lambda *_, **given: called.update(given) or [])
    how = ("--kind", "none", "--tested", 7, "--epochs", 2, "--converters", tmp_path)
    command("experiment", "conversion", "--treebanks", "ud", "-o", "out", *how)
    assert (called["kind"], called["tested"], called["recipe"].sentences) == ("none", 7, 100_000)
    assert (called["converters"], called["recipe"].epochs) == (tmp_path, 2)


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
