"""Compiled kernels are dropped when something that was compiled into them may have changed."""

import subprocess
import sys
from pathlib import Path

import pytest

import kernel_cache


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Three modules of a library, of which one imports another, and a kernel of each."""
    folder = tmp_path / "src" / "library" / "family"
    folder.mkdir(parents=True)
    (folder / "lower.py").write_text("ONE = 1\n")
    (folder / "upper.py").write_text("from library.family.lower import ONE\n")
    (folder / "other.py").write_text("from math import pi\n")
    monkeypatch.setattr(kernel_cache, "SOURCES", tmp_path / "src")
    return folder


@pytest.fixture
def kernels(tmp_path):
    folder = tmp_path / "kernels" / "family_0123"
    folder.mkdir(parents=True)

    def left():
        return {path.name.split(".")[0] for path in folder.iterdir()}

    def compile_all():
        for name in ("lower", "upper", "other"):
            for end in ("nbi", "1.nbc"):
                (folder / f"{name}.kernel-1.py311.{end}").touch()

    compile_all()
    kernel_cache.drop_outdated(folder.parent)
    assert left() == set()  # nobody knows what they were compiled from
    compile_all()
    return left


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ([], {"lower", "upper", "other"}),
        (["upper"], {"lower", "other"}),
        (["lower"], {"other"}),
        (["other"], {"lower", "upper"}),
    ],
)
def test_what_imports_a_changed_module_is_dropped(sources, kernels, tmp_path, changed, kept):
    for name in changed:
        with (sources / f"{name}.py").open("a") as file:
            file.write("# changed\n")
    kernel_cache.drop_outdated(tmp_path / "kernels")
    assert kernels() == kept


def test_the_library_is_known_by_its_imports():
    stamps = kernel_cache.stamps()
    assert "arborescence/core/accumulator.py" in stamps
    assert len(set(stamps.values())) > len(stamps) / 2


TAKE_TURNS = """
import pathlib, sys, time
sys.path.insert(0, sys.argv[1])
from kernel_cache import alone

folder = pathlib.Path(sys.argv[2])
for _ in range(5):
    with alone(folder / "kernel.lock"), (folder / "log").open("a", buffering=1) as file:
        file.write("in\\n")
        time.sleep(0.01)
        file.write("out\\n")
"""


def test_one_process_at_a_time(tmp_path):
    tests = str(Path(kernel_cache.__file__).parent)
    command = [sys.executable, "-c", TAKE_TURNS, tests, str(tmp_path)]
    for process in [subprocess.Popen(command) for _ in range(3)]:
        assert process.wait() == 0
    assert (tmp_path / "log").read_text() == "in\nout\n" * 15
