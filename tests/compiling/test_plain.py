"""Another version of Numba than those that are known: nothing but its public side is used."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from arborescence.compiling import native

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("numba")
from arborescence.compiling.plain import KNOWN, is_known

# Kernels with lanes, with records, without negative indices, and with random numbers.
USE = """
import sys
import numba
import numpy as np

version, private, path = sys.argv[1:]
if version:
    numba.__version__ = version
if not private:
    sys.modules["arborescence.compiling.numba_parts"] = None

import arborescence as arb
from arborescence.inference.decode import highest_labels
from arborescence.core.weights import as_weights

rng = np.random.default_rng(3)
scores = rng.normal(size=(2, 6, 6))
labeled = rng.normal(size=(30, 21)).astype(np.float32)
best = np.empty(30, np.float32)
highest_labels(labeled, best)
arrays = {
    "trees": arb.is_tree(rng.integers(-1, 3, (40, 4))),
    "weight": arb.tree_weight(scores[0], [-1, 0, 1, 1, 1, 2]),
    "best": best,
    "projective": arb.is_projective([-1, 0, 1, 1, 1, 2]),
}
weights = as_weights(scores, np.empty(0, np.int64), False)
arrays |= {f"weights {k}": each for k, each in enumerate(weights) if isinstance(each, np.ndarray)}
np.savez(path, **arrays)
"""


def use(folder: Path, version: str, private: str) -> tuple[dict[str, bytes], str]:
    """What the kernels give under a version of Numba, and what is said on stderr."""
    path = folder / f"{version}{private}.npz"
    environment = {**os.environ, "ARBORESCENCE_JIT": "1", "NUMBA_DISABLE_JIT": "0"}
    environment |= {"NUMBA_CACHE_DIR": str(folder)}
    environment.pop("ARBORESCENCE_QUIET", None)
    done = subprocess.run(
        [sys.executable, "-c", USE, version, private, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    with np.load(path) as arrays:
        return {name: arrays[name].tobytes() for name in arrays.files}, done.stderr


@pytest.mark.long
@pytest.mark.skipif(native.KERNELS is not None, reason="nothing is compiled")
def test_an_unknown_version_gives_the_same_by_public_means(tmp_path: Path) -> None:
    known, _ = use(tmp_path, "", "private")
    kept = len(list(tmp_path.rglob("*.nbc")))
    unknown, said = use(tmp_path, "99.0.1", "")
    assert unknown == known
    assert "does not know Numba 99.0.1" in said
    assert len(list(tmp_path.rglob("*.nb*"))) == kept


@pytest.mark.parametrize(
    ("version", "known"),
    [("0.60.9", False), ("0.61.0", True), ("0.68.1", True), ("0.69.0rc1", False), ("1.0", False)],
)
def test_known_versions(version: str, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.__version__", version)
    assert is_known() is known


def test_the_extra_installs_a_known_version() -> None:
    from pathlib import Path

    project = Path(__file__).parents[2] / "pyproject.toml"
    (low, high) = (".".join(map(str, version)) for version in KNOWN)
    assert f'jit = ["numba>={low},<{high}"]' in project.read_text(encoding="utf-8")
