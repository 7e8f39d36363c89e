"""The options `--write-passed` and `--without` of the tests themselves, with several workers."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import os
import pytest

@pytest.mark.parametrize("word", ["a", "b é"])
def test_passes(word):
    pass

def test_is_skipped():
    if not os.environ.get("MORE"):
        pytest.skip("needs more")

def test_fails():
    assert os.environ.get("MORE")
"""
MODULE = """
import os
import pytest

if not os.environ.get("MORE"):
    pytest.skip("needs more", allow_module_level=True)

def test_of_more():
    pass
"""


def test_only_what_has_not_passed_runs(tmp_path, monkeypatch):
    pytest.importorskip("xdist")
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "test_module.py").write_text(MODULE)

    def run(*options):
        command = [sys.executable, "-m", "pytest", "-q", "--rootdir=.", "-n2", *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done.stdout

    first = run("--write-passed", "passed")
    assert "1 failed, 2 passed, 2 skipped" in first, first
    monkeypatch.setenv("MORE", "1")
    second = run("--without", "passed")
    assert "3 passed" in second, second
