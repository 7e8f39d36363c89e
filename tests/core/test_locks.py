"""One process at a time, and nobody for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from arborescence.core.locks import alone

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nobody waits there")

TAKE_TURNS = """
import pathlib, sys, time
from arborescence.core.locks import alone

folder = pathlib.Path(sys.argv[1])
for _ in range(5):
    with (
        alone(folder / "lock", 7, 60, print),
        (folder / "log").open("a", buffering=1) as file,
    ):
        file.write("in\\n")
        time.sleep(0.01)
        file.write("out\\n")
"""
HOLD = """
import pathlib, sys, time
from arborescence.core.locks import alone

with alone(pathlib.Path(sys.argv[1]), 7, 60, print):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_process_at_a_time(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TAKE_TURNS, str(tmp_path)]
    for process in [subprocess.Popen(command) for _ in range(3)]:
        assert process.wait() == 0
    assert (tmp_path / "log").read_text() == "in\nout\n" * 15


def test_nobody_waits_for_ever(tmp_path: Path) -> None:
    said: list[str] = []

    def seconds(number: int, patience: float) -> float:
        start = time.monotonic()
        with alone(tmp_path / "lock", number, patience, lambda: said.append("waiting")):
            return time.monotonic() - start

    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert seconds(8, 60.0) < 1
        assert not said
        assert 1.2 <= seconds(7, 1.2) < 10
        assert said == ["waiting"]
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert seconds(7, 60.0) < 1


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
