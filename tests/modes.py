"""How kernels run in these tests, which decides how much is tested."""

import os

from arborescence.core import native

#: Kernels run as Python.
UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
#: Numba compiles kernels, with checks of all indices.
CHECKED = os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")
#: Kernels are native; those that only kernels call run as Python, when a test calls them.
NATIVE = native.KERNELS is not None
