"""What all tests share."""

import pytest
from hypothesis import HealthCheck, settings

from real import TREEBANKS

# How long something takes says nothing of whether it is right: the first call compiles, and
# machines do other things as well.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def treebanks():
    """The folder of real treebanks; tests that need it are skipped where it is missing."""
    if not TREEBANKS.is_dir():
        pytest.skip("the treebanks in ../shared/ud are not here")
    return TREEBANKS
