"""One process at a time, and nobody for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from arborescence.system import processes
from arborescence.system.processes import alone

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.races,
    pytest.mark.skipif(sys.platform == "win32", reason="nobody waits there"),
]

TAKE_TURNS = """
import pathlib, sys, time
from arborescence.system.processes import alone

folder = pathlib.Path(sys.argv[1])
for _ in range(5):
    with (
        alone(folder / "lock", 7, float("inf"), print),
        (folder / "log").open("a", buffering=1) as file,
    ):
        file.write("in\\n")
        time.sleep(0.01)
        file.write("out\\n")
"""
HOLD = """
import pathlib, sys
from arborescence.system.processes import alone

with alone(pathlib.Path(sys.argv[1]), 7, 60, print):
    print("held", flush=True)
    sys.stdin.read()
"""


class Clock:
    """Time passes where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_one_process_at_a_time(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TAKE_TURNS, str(tmp_path)]
    for process in [subprocess.Popen(command) for _ in range(3)]:
        assert process.wait() == 0
    assert (tmp_path / "log").read_text() == "in\nout\n" * 15


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[float] = []

    def seconds(number: int, patience: float) -> float:
        clock = Clock()
        monkeypatch.setattr(processes, "time", clock)
        with alone(tmp_path / "lock", number, patience, lambda: said.append(clock.now)):
            return clock.now

    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert seconds(8, 60.0) == 0
        assert not said
        assert seconds(7, 1.2) == pytest.approx(1.2, abs=0.05)
        assert said == [pytest.approx(1.0, abs=0.05)]
        process.kill()
    assert seconds(7, 60.0) == 0


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with alone(tmp_path / "file" / "lock", 7, 60.0, print):
        pass


def test_what_was_there_is_left_alone(tmp_path: Path) -> None:
    precious, link, pipe = (tmp_path / name for name in ("precious", "link", "pipe"))
    precious.write_text("content")
    link.symlink_to(precious)
    os.mkfifo(pipe)  # nobody reads it
    for path in (precious, link, pipe):
        with alone(path, 7, 60.0, print):
            pass
        assert precious.read_text() == "content"
