"""What tests share with the examples in the sources: models, their number at once, less garbage.

With `--write-passed FILE` and then `--without FILE`, where more packages are installed, only those
tests run that the first run has skipped or could not collect.
"""

import gc
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

# Compiling makes millions of objects that live for a while: looking for garbage among them less
# often saves a tenth of the time.
gc.set_threshold(1_000_000, 20, 20)
# PyTorch, in each of several workers, would wait for its threads in loops that take all cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_xdist_auto_num_workers():
    """One worker more than cores, as some wait for what others compile; each may take 2 GB."""
    return min(os.cpu_count() or 1, 8) + 1


def pytest_addoption(parser):
    """Add the two options."""
    parser.addoption("--write-passed", metavar="FILE", type=Path, help="list the tests that passed")
    parser.addoption(
        "--without", metavar="FILE", type=Path, help="leave out the tests of such a list"
    )


def pytest_configure(config):
    """List what passes: once, where the results of all workers are."""
    path = config.getoption("--write-passed")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Passed(path))


class _Passed:
    def __init__(self, path):
        self.path, self.names = path, []

    def pytest_runtest_logreport(self, report):
        """Note a test that has passed."""
        if report.when == "call" and report.passed:
            self.names.append(report.nodeid)

    def pytest_sessionfinish(self):
        """Write the list."""
        self.path.write_text("\n".join(self.names), encoding="utf-8")


def pytest_collection_modifyitems(config, items):
    """Leave out what passed before."""
    if path := config.getoption("--without"):
        passed = set(path.read_text(encoding="utf-8").split("\n"))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
        items[:] = [item for item in items if item.nodeid not in passed]


# What cannot be imported without its package has no examples to run there either.
collect_ignore = [] if find_spec("spacy") else ["src/arborescence/integrations/spacy"]

if not find_spec("arborescence_en"):

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item, call):
        """Skip what wants the English models, where they are not installed."""
        if call.excinfo and "pip install arborescence-en" in str(item.repr_failure(call.excinfo)):
            try:
                pytest.skip("needs arborescence-en")
            except pytest.skip.Exception as skipped:
                call.excinfo = pytest.ExceptionInfo.from_exception(skipped)
        return (yield)
