"""All kernels are compiled ahead, in several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from arborescence.compiling import ahead, native
from arborescence.errors import ArborescenceError
from interrupts import DEFAULTS, STOPS
from modes import rarely

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.races

FEW = """
from arborescence.compiling import ahead
from arborescence.compiling.signatures import Export

module = "arborescence.core.accumulator"
ahead.declared = lambda: [
    Export(module, "two_sum", ("float64, float64", "score, int64"))
]
"""
SOME = f"""
{FEW}
ahead.warmup(lambda *step: print(*step, flush=True))
"""


@pytest.mark.skipif(native.KERNELS is not None, reason="nothing is compiled")
def test_once_and_then_not_again(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit")  # the current folder is not looked in

    def steps(folder: Path) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-P", "-c", SOME],
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return [*done.stdout.splitlines(), *done.stderr.splitlines()]

    def step(done: int) -> str:
        return f"compiling kernels {done} 3"

    assert steps(tmp_path) == list(map(step, range(4)))
    assert len(list(tmp_path.rglob("*.nbc"))) == 3
    assert steps(tmp_path) == [step(3)]


INTERRUPTED = f"""
{DEFAULTS}
{FEW}
import sys, threading
from arborescence import cli

def wait(_what, done, _total):
    if done:
        sys.stderr.write("begun\\n")
        threading.Event().wait()

compile_all = ahead.warmup
ahead.warmup = lambda progress: compile_all(wait)
cli.main(["warmup"])
"""


@pytest.mark.skipif(native.KERNELS is not None, reason="nothing is compiled")
@pytest.mark.parametrize("number", [STOPS[0], *map(rarely, [*STOPS[1:], signal.SIGKILL])])
def test_stopped(tmp_path: Path, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "begun\n"
        process.send_signal(number)
        said = process.stderr.read()  # until all processes have ended
    if number == signal.SIGKILL:
        assert (process.returncode, said) == (-number, "")
    else:
        expected = (128 + number, "arborescence: error: interrupted\n")
        assert (process.returncode, said) == expected
    assert not list(tmp_path.rglob(".*.nbc*"))


def test_a_kernel_that_cannot_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    task = ahead._Task("arborescence.core.nothing", "f", "int64", 0)
    steps = ahead._in_processes([task])
    next(steps)
    with pytest.raises(ArborescenceError, match=r"core\.nothing\.f: ModuleNotFoundError"):
        next(steps)


def test_with_native_modules_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "KERNELS", {})
    steps: list[str] = []
    ahead.warmup(lambda what, _done, _total: steps.append(what))
    assert not steps
