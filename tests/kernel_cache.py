"""A cache of compiled kernels for each state of the sources.

Numba's own knows when a kernel's file changes, but not when a kernel compiled into it does.
"""

import hashlib
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def cache_kernels():
    """Set the folder that Numba will use, unless it has been chosen already."""
    if "numba" in sys.modules:
        return
    sources = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        sources.update(path.read_bytes())
    folder = ROOT / "build" / "kernels" / sources.hexdigest()[:16]
    os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))
