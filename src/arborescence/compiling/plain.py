"""Compile kernels by public parts of Numba alone: for versions whose other parts are unknown.

The results are those of `jit`. But compiling takes longer, and nothing is kept on disk: Numba's own
cache does not notice a change of a kernel that another kernel calls.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numba

from arborescence.compiling.native import say

if TYPE_CHECKING:
    from collections.abc import Callable

#: Numba's versions for which `numba_parts` was tested: from the first on, before the last, as in
#: the extra `jit` of `pyproject.toml`.
KNOWN: Final = (0, 61), (0, 69)


def is_known() -> bool:
    """Tell whether `numba_parts` was tested with this version of Numba."""
    return KNOWN[0] <= tuple(map(int, re.findall(r"\d+", numba.__version__)[:2])) < KNOWN[1]


def compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return the kernel as a function that Python and other kernels can call; see `jit`."""
    from arborescence.compiling import jit_lanes  # noqa: F401

    _say_unknown()
    public = {name: value for name, value in options.items() if not name.startswith("_")}
    njit: Any = numba.njit
    return njit(nogil=True, error_model="numpy", **public)(function)


@cache
def _say_unknown() -> None:
    say(
        f"this version of arborescence does not know Numba {numba.__version__}: each process "
        "compiles its kernels, which takes longer; pip install 'arborescence[jit]' installs a "
        "version that it knows"
    )
