"""What tests share with the examples in the sources: models, their number at once, less garbage."""

import gc
import os
from importlib.util import find_spec

import pytest

# Compiling makes millions of objects that live for a while: looking for garbage among them less
# often saves a tenth of the time.
gc.set_threshold(1_000_000, 20, 20)
# PyTorch, in each of several workers, would wait for its threads in loops that take all cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_xdist_auto_num_workers():
    """One worker more than cores, as some wait for what others compile; each may take 2 GB."""
    return min(os.cpu_count() or 1, 8) + 1


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
