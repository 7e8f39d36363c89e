"""What commands say while they work, and at the end: in a pipe, on a terminal, and with -q."""

from __future__ import annotations

import itertools
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from arborescence.cli.progress import ProgressLines, counted
from arborescence.treebank import Sentence, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Command = Callable[..., Any]


def said(calls: Iterable[tuple[float, str, int, int]]) -> list[str]:
    """What is said when the steps are called at these seconds."""
    calls = list(calls)
    written: list[str] = []
    times = iter([0.0, *(time for time, *_ in calls)])
    step = ProgressLines(written.append, times.__next__)
    for _, what, done, total in calls:
        step(what, done, total)
    return written


def test_one_line_an_epoch() -> None:
    calls = [(1.0, f"epoch {e}", done, 300) for e in (1, 2) for done in (0, 100, 200)]
    calls.insert(3, (2.5, "epoch 1: LAS 50.00", 300, 300))
    calls.append((3.0, "epoch 2: LAS 61.00", 300, 300))
    assert said(calls) == ["0:00:02  epoch 1: LAS 50.00", "0:00:03  epoch 2: LAS 61.00"]


def test_a_line_where_the_part_of_a_step_changes() -> None:
    parts = ["upos"] * 3 + ["feats"] * 3
    calls = [(1.0, f"tagger: {part}", done, 6) for done, part in enumerate(parts, 1)]
    assert said(calls) == [
        "0:00:01  tagger: upos  1/6",
        "0:00:01  tagger: feats  4/6",
        "0:00:01  tagger: feats",
    ]


def test_steps_inside_others_speak_only_after_a_while() -> None:
    def calls(seconds: int) -> Iterable[tuple[float, str, int, int]]:
        clock = itertools.count(1, seconds)
        for done in range(2):
            yield next(clock), f"parsers: P{done}", done, 2
            yield next(clock), "this one: epoch 1", 0, 9
            yield next(clock), "this one: epoch 1: LAS 50.00", 9, 9
        yield next(clock), "parsers: all done", 2, 2

    assert said(calls(1)) == [
        "0:00:01  parsers: P0  0/2",
        "0:00:04  parsers: P1  1/2",
        "0:00:07  parsers: all done",
    ]
    assert "0:00:41  this one: epoch 1  0/9" in said(calls(40))


def test_what_has_no_known_end_is_silent_unless_it_takes_long(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert said([(1, "sentences parsed", 64, 0), (2, "sentences parsed", 70, 70)]) == []
    slow = [(31, "sentences parsed", 6400, 0)]
    assert said(slow) == ["0:00:31  sentences parsed  6,400"]
    assert said([*slow, (32, "sentences parsed", 6410, 6410)])[1] == (
        "0:00:32  sentences parsed  6,410/6,410"
    )
    assert len(list(counted(range(200), "sentences parsed", printed=False))) == 200
    assert capsys.readouterr().err == ""


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("progress") / "lessons.conllu"
    sentence = Sentence.from_words(
        ["Old", "birds", "sing"],
        upos=["ADJ", "NOUN", "VERB"],
        heads=[-1, 2, 3, 0],
        deprels=["amod", "nsubj", "root"],
    )
    write([sentence] * 5, path)
    return path


@pytest.mark.parametrize("parser", ["linear", "transition"])
def test_training_in_a_pipe(command: Command, lessons: Path, tmp_path: Path, parser: str) -> None:
    model = tmp_path / "model"
    train = ("train", parser, lessons, "--dev", lessons, "-o", model, "--bits", 10)
    result = command(*train, "--epochs", 2)
    assert (result.status, result.out) == (0, "")
    lines = [line.partition("  ")[2] for line in result.err.splitlines()[:-1]]
    assert lines[0] == f"reading: {lessons}  0/2"
    assert "reading: 5 sentences to learn from, 5 to choose the epoch by" in lines
    assert any(line.startswith("tagger: upos") for line in lines)
    for epoch in (1, 2):
        [line] = [line for line in lines if line.startswith(f"epoch {epoch}")]
        assert line.startswith(f"epoch {epoch}: UAS ")
        assert ", LAS " in line
    last = result.err.splitlines()[-1]
    assert last.startswith("best on dev: epoch ")
    assert last.endswith(f"LAS 100.00; saved in {model}")
    assert command(*train, "--epochs", 1, "--quiet").err == ""


def test_training_without_anything_to_choose_by(
    command: Command, lessons: Path, tmp_path: Path
) -> None:
    empty, model = tmp_path / "dev.conllu", tmp_path / "model"
    empty.write_text("")
    train = ("train", "linear", lessons, "--dev", empty, "-o", model, "--bits", 10, "--no-tagger")
    result = command(*train, "--epochs", 1)
    assert (result.status, result.out) == (0, "")
    assert result.err.splitlines()[-1] == f"saved in {model}"


@pytest.mark.races
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_training_on_a_terminal(terminal: Command, lessons: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    options = ["--dev", lessons, "-o", model, "--bits", 10, "--no-tagger", "--epochs", 1]
    status, seen = terminal("train", "linear", lessons, *options)
    assert status == 0
    assert "epoch 1: UAS" in seen
    assert f"saved in {model}" in seen


@pytest.mark.races
def test_compiling_in_a_pipe(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    import arborescence.compiling.ahead as warmup
    from arborescence.compiling import native

    def compile_all(progress: Callable[[str, int, int], None]) -> None:
        for done in range(3):
            progress("compiling kernels", done, 2)

    monkeypatch.setattr(warmup, "warmup", compile_all)
    monkeypatch.setattr(native, "KERNELS", None)
    assert re.fullmatch(r"0:\d\d:\d\d  compiling kernels\n", command("warmup").err)
    assert command("warmup", "-q").err == ""
    monkeypatch.delenv("ARBORESCENCE_QUIET")
    assert command("warmup", "-q").err == ""
    assert os.environ["ARBORESCENCE_QUIET"] == "1"


def test_nothing_to_compile(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from arborescence.compiling import native

    monkeypatch.setattr(native, "KERNELS", {})
    monkeypatch.setattr(native, "WHAT_RUNS", "native, for a test")
    assert command("warmup").err == "nothing to compile: the kernels are native, for a test\n"
    assert command("warmup", "-q").err == ""
