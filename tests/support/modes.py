"""How kernels run in these tests, which decides how much is tested."""

import os

import pytest

from arborescence.compiling import native

#: Kernels run as Python.
UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
#: Numba compiles kernels, with checks of all indices.
CHECKED = os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")
#: `make test`, 1: a quarter of the random graphs. Emulated, 4: a quarter of those. `make test-all`
#: has all of them.
FEW = int(os.environ.get("FEW_GRAPHS") or 0)
#: Kernels are native; those that only kernels call run as Python, when a test calls them.
NATIVE = native.KERNELS is not None


def some(count):
    """Return how many random graphs to take where `make test-all` takes `count`."""
    least = 40 if UNCOMPILED else 8  # what tests take uncompiled is little already
    return max(count // (4 * FEW), min(count, least)) if FEW else count


def thinned(values, step):
    """Mark parameters of a test: `make test` takes every `step`-th only."""
    return [value if place % step == 0 else rarely(value) for place, value in enumerate(values)]


def rarely(value):
    """Mark a parameter of a test: `make test` leaves it out."""
    return pytest.param(value, marks=pytest.mark.long)
