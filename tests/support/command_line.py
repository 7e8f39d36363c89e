"""The command, run as a user runs it, or within this process where that is enough."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("typer", reason="needs the extra 'cli'")

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMAND = [sys.executable, "-m", "arborescence"]
ENVIRONMENT = {**os.environ, "ARBORESCENCE_QUIET": "1", "COLUMNS": "100"}


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    status: int
    out: str
    err: str

    def complaint(self, status: int = 1) -> str:
        """Check that the command failed as it should, and return what it said: after progress."""
        assert self.status == status, self
        assert self.out == ""
        *progress, said = self.err.splitlines(keepends=True)
        assert all(re.match(r"\d+:\d\d:\d\d  ", line) for line in progress), self.err
        assert said.startswith("arborescence: error: ")
        assert said.endswith("\n")
        return said


@pytest.fixture
def command(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Run the command line in this process; `stdin` is what it reads."""
    from arborescence.cli import progress, run

    monkeypatch.setenv("ARBORESCENCE_QUIET", "1")
    # It may have to compile kernels, or to wait until another worker has: no line of that.
    monkeypatch.setattr(progress, "PATIENCE", math.inf)

    def command(*arguments: object, stdin: str | bytes = b"") -> Result:
        read, write = os.pipe()
        os.write(write, stdin.encode() if isinstance(stdin, str) else stdin)
        os.close(write)
        with os.fdopen(read) as file:
            monkeypatch.setattr(sys, "stdin", file)
            status = run([str(argument) for argument in arguments])
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return Result(status, out, err)

    return command


@pytest.fixture
def terminal() -> Callable[..., tuple[int, str]]:
    """Run the command with its streams (by name) on a terminal; return its status and what is seen.

    What it writes is read while it runs: a terminal holds little, and a slow command shows more.
    """

    def terminal(*arguments: object, streams: Sequence[str] = ("stderr",)) -> tuple[int, str]:
        import pty

        ours, theirs = pty.openpty()
        others = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        running = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            env={**ENVIRONMENT, "TERM": "xterm", "COLUMNS": "200"},
            **(others | dict.fromkeys(streams, theirs)),
        )
        os.close(theirs)
        parts = []
        with suppress(OSError):  # how the end of a terminal shows on Linux
            while part := os.read(ours, 2**16):
                parts.append(part)
        os.close(ours)
        return running.wait(), b"".join(parts).decode()

    return terminal


@pytest.fixture
def process() -> Callable[..., Result]:
    """Run the command in a process of its own."""

    def process(*arguments: object, stdin: str = "", **options: object) -> Result:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            check=False,
            **options,
        )
        return Result(done.returncode, done.stdout, without_progress(done.stderr))

    return process


def without_progress(said: str) -> str:
    """Leave out the lines of progress, which a slow machine has more of."""
    return re.sub(r"^\d+:\d\d:\d\d  .*\n", "", said, flags=re.MULTILINE)
