"""What all tests share."""

import gc
import hashlib
import os
import sys
from pathlib import Path

import pytest

from real import TREEBANKS

ROOT = Path(__file__).parents[1]

# Numba's cache knows when a kernel's own file changes, but not when a kernel that was compiled
# into it does. So each state of the sources gets its own cache.
_sources = hashlib.sha256()
for _path in sorted((ROOT / "src").rglob("*.py")):
    _sources.update(_path.read_bytes())
if "numba" not in sys.modules:
    os.environ.setdefault(
        "NUMBA_CACHE_DIR", str(ROOT / "build" / "kernels" / _sources.hexdigest()[:16])
    )


# Compiling makes millions of objects that live for a while: looking for garbage among them less
# often saves a fourteenth of the time.
gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def treebanks():
    """The folder of real treebanks; tests that need it are skipped where it is missing."""
    if not TREEBANKS.is_dir():
        pytest.skip("the treebanks in ../shared/ud are not here")
    return TREEBANKS
