"""How kernels are compiled, by Numba: one decorator for each way.

`kernel` is the plain one. The others trade something of it for speed, or for a faster compilation.
Kernels are compiled on first use for the types they meet, kept in Numba's cache on disk, and
release the GIL. The first compilation on a machine takes a while, so it says so, once a process.
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


# What all kernels share. Nothing calls one from C, so wrappers for that would be compiled in vain.
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile `function` with Numba: cached on disk, without the GIL, with NumPy's division."""
    compiled: Function = _njit(**_OPTIONS)(function)
    return compiled


def uncounted_kernel(function: Function) -> Function:
    """Compile like `kernel`, but without reference counts.

    For the parts of a hot loop that are handed arrays and make none: counting references to
    slices of them would take longer than the work itself.
    """
    compiled: Function = _njit(**_OPTIONS, _nrt=False)(function)
    return compiled


def inlined_kernel(function: Function) -> Function:
    """Compile like `uncounted_kernel`, into each caller: for small parts with many arguments."""
    compiled: Function = _njit(**_OPTIONS, _nrt=False, forceinline=True)(function)
    return compiled


def reordered_kernel(function: Function) -> Function:
    """Compile like `inlined_kernel`, free to add up in any order: for sums over long rows."""
    compiled: Function = _njit(
        **_OPTIONS,
        _nrt=False,
        forceinline=True,
        fastmath={"reassoc", "contract", "nsz"},
    )(function)
    return compiled


def spliced_kernel(function: Function) -> Function:
    """Put the function's code into each caller, before anything is compiled.

    For parts of a large kernel that exist for the reader: each level of compiled functions would
    have LLVM optimize all that is below it once more.
    """
    compiled: Function = _njit(inline="always", error_model="numpy")(function)
    return compiled


class _FirstCompilation(event.Listener):
    """Say on stderr, once a process, that kernels are being compiled (a cache hit is silent)."""

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
