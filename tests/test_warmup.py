"""All kernels are compiled ahead, in several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from arborescence import _warmup
from arborescence.core import native

if TYPE_CHECKING:
    from pathlib import Path

SOME = """
from arborescence import _warmup
from arborescence.core.signatures import Export

module = "arborescence.core.double_double"
_warmup.declared = lambda: [
    Export(module, "two_sum", ("float64, float64", "score, int64"))
]
_warmup.warmup(lambda *step: print(*step, flush=True))
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
            timeout=600,
            check=True,
        )
        return [*done.stdout.splitlines(), *done.stderr.splitlines()]

    def step(done: int) -> str:
        return f"compiling kernels {done} 3"

    assert steps(tmp_path) == list(map(step, range(4)))
    assert len(list(tmp_path.rglob("*.nbc"))) == 3
    assert steps(tmp_path) == [step(3)]


def test_with_native_modules_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "KERNELS", {})
    steps: list[str] = []
    _warmup.warmup(lambda what, _done, _total: steps.append(what))
    assert not steps
