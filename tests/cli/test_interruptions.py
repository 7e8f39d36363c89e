"""A command that is interrupted between any two calls of Python ends, and leaves nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("typer", reason="needs the extra 'cli'")

from arborescence.treebank import write
from interrupts import DEFAULTS
from samples import treebank
from small_parsers import small_parser

if TYPE_CHECKING:
    from pathlib import Path

#: Of the first half of calls and returns from where the output is opened, in which kernels are
#: loaded, this many are interrupted.
MANY = 40

# The first child counts them; each other one is interrupted at one.
EACH = f"""{DEFAULTS}
import os, random, sys
from arborescence.cli import run

def count(_frame, event, _arg):
    global done
    done += event in ("call", "return")
    if done == last:
        sys.setprofile(None)
        signal.raise_signal(signal.SIGTERM)

def forked(path, flags, *rest):
    global done, last, told
    handle = opened(path, flags, *rest)
    if not flags & os.O_EXCL:
        return handle
    places = [-1]
    while places:
        done, last = 0, places.pop()
        reading, told = os.pipe()
        if os.fork() == 0:
            os.open = opened
            os.close(reading)
            sys.setprofile(count)
            return handle
        os.close(told)
        with open(reading) as file:
            said = int(file.read())
        status = os.waitstatus_to_exitcode(os.wait()[1])
        if last < 0:
            places = random.Random(0).sample(range(1, said // 2), {MANY})
        elif said == last:  # where less was to do, it had ended before
            print(status, flush=True)
    os._exit(0)

opened, os.open = os.open, forked
status = run(sys.argv[1:])
sys.setprofile(None)
os.write(told, str(done).encode())
os._exit(status)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_none_is_lost_and_none_crashes(tmp_path: Path) -> None:
    small_parser("linear").save(tmp_path / "small.npz")
    write(treebank(), tmp_path / "a.conllu")
    command = ["parse", "-m", "small.npz", "a.conllu", "-o", "b.conllu"]

    def run(*python: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *python, *command],
            cwd=tmp_path,
            env={**os.environ, "ARBORESCENCE_QUIET": "1"},
            capture_output=True,
            text=True,
        )

    assert run("-m", "arborescence").returncode == 0  # kernels are compiled, and kept
    done = run("-c", EACH)
    statuses = done.stdout.split()
    assert set(statuses) == {"143"}, done.stderr
    assert len(statuses) > MANY / 2
    assert "Exception ignored" not in done.stderr
