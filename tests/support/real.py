"""Where real treebanks are, on machines that have them; tests are skipped on others."""

from pathlib import Path

import pytest

TREEBANKS = Path(__file__).parents[3] / "shared" / "ud"


@pytest.fixture(scope="session")
def treebanks():
    """The folder of real treebanks; tests that need it are skipped where it is missing."""
    if not TREEBANKS.is_dir():
        pytest.skip("the treebanks in ../shared/ud are not here")
    return TREEBANKS
