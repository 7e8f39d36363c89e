"""Decorators that compile kernels with Numba.

`kernel` is the usual one. The others give faster code or compilation; each says for which
functions. A kernel is compiled at its first call, for the types of its arguments, and kept in
Numba's cache on disk. It releases the GIL. The first compilation of a process prints a line on
stderr.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numba
from numba.core import event, types

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = TypeVar("Function", bound=Callable[..., Any])


def _njit(**options: Any) -> Any:
    """Return Numba's decorator with these options, for kernels that do not look at constants.

    Numba compiles a function once more for each constant that some call is written with.
    """

    def decorate(function: Any) -> Any:
        compiled: Any = numba.njit(**options)(function)
        if hasattr(compiled, "_compiler"):  # without the JIT, it is the function itself
            fold = compiled._compiler.fold_argument_types

            def fold_without_constants(args: Any, kws: Any) -> Any:
                signature, folded = fold(args, kws)
                return signature, tuple(map(types.unliteral, folded))

            compiled._compiler.fold_argument_types = fold_without_constants
        return compiled

    return decorate


# Options of all kernels. No kernel is called from C, so the wrappers for C are not compiled.
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile `function` with Numba: cached on disk, without the GIL, with NumPy's division."""
    compiled: Function = _njit(**_OPTIONS)(function)
    return compiled


def uncounted_kernel(function: Function) -> Function:
    """Compile like `kernel`, but without reference counts.

    For parts of a hot loop that allocate no arrays. There, counting references to array slices
    takes longer than the work itself.
    """
    compiled: Function = _njit(**_OPTIONS, _nrt=False)(function)
    return compiled


def inlined_kernel(function: Function) -> Function:
    """Compile like `uncounted_kernel`, and inline: for small functions with many arguments."""
    compiled: Function = _njit(**_OPTIONS, _nrt=False, forceinline=True)(function)
    return compiled


def reordered_kernel(function: Function) -> Function:
    """Compile like `inlined_kernel`; floats may be added in any order. For sums over long rows."""
    compiled: Function = _njit(
        **_OPTIONS,
        _nrt=False,
        forceinline=True,
        fastmath={"reassoc", "contract", "nsz"},
    )(function)
    return compiled


def spliced_kernel(function: Function) -> Function:
    """Insert the function's code into each caller before compilation.

    For the parts of a large kernel that were separated only for readability. If they were compiled
    functions, LLVM would optimize the code below each level again.
    """
    compiled: Function = _njit(inline="always", error_model="numpy")(function)
    return compiled


class _FirstCompilation(event.Listener):
    """Print a line on stderr at the first compilation of a process; a cache hit prints nothing."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.said and module.startswith("arborescence."):
            self.said = True
            if not os.environ.get("ARBORESCENCE_QUIET"):
                print(  # noqa: T201
                    "arborescence: compiling kernels; this happens once, and "
                    "`arborescence warmup` does it ahead",
                    file=sys.stderr,
                )

    def on_end(self, event: Any) -> None:
        pass


_register: Any = event.register
_register("numba:compile", _FirstCompilation())
