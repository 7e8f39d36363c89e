"""What all tests share."""

import gc

import pytest
from hypothesis import HealthCheck, settings

from kernel_cache import cache_kernels
from real import TREEBANKS

cache_kernels()

# How long something takes says nothing of whether it is right: the first call compiles, and
# machines do other things as well.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Compiling makes millions of objects that live for a while: looking for garbage among them less
# often saves a fourteenth of the time.
gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def treebanks():
    """The folder of real treebanks; tests that need it are skipped where it is missing."""
    if not TREEBANKS.is_dir():
        pytest.skip("the treebanks in ../shared/ud are not here")
    return TREEBANKS
