"""Decorators that mark kernels: functions that are compiled.

`kernel` is the usual one; the others give faster code, and each says for which functions. A kernel
that Python calls comes compiled in a native module, if the package was installed with those
(`native`); otherwise Numba compiles it at its first call (`jit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from arborescence.compiling import native
from arborescence.compiling.signatures import SIGNATURES
from arborescence.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` with NumPy's division; it runs without the GIL."""
    return _compiled(function, _nrt=True)


def takes(*signatures: str) -> Callable[[Function], Function]:
    """Declare that Python calls a kernel, with arguments of these types; this goes below its name.

    Each signature, as `signatures.arguments_of` reads it, is an overload: the first that fits is
    called.
    """

    def declare(function: Function) -> Function:
        SIGNATURES[function.__module__, function.__name__] = signatures
        return function

    return declare


def uncounted_kernel(function: Function) -> Function:
    """Compile like `kernel`, but without reference counts.

    For parts of a hot loop that allocate no arrays. There, counting references to array slices
    takes longer than the work itself.
    """
    return _compiled(function, _nrt=False)


def inlined_kernel(function: Function) -> Function:
    """Compile like `uncounted_kernel`, and inline: for small functions with many arguments."""
    return _compiled(function, _nrt=False, forceinline=True)


def indexing_kernel(function: Function) -> Function:
    """Compile like `inlined_kernel`, for indices that are never negative."""
    return inlined_kernel(never_negative(function))


def never_negative(function: Function) -> Function:
    """Mark a function whose indices are never negative; this goes below the name of the kernel.

    Counting from the end takes two instructions an index, and hides from LLVM which loops read
    neighbours. ``NUMBA_BOUNDSCHECK=1`` finds negative ones.
    """
    vars(function)["never_negative"] = True  # for `numba_parts`
    return function


def fused_kernel(function: Function) -> Function:
    """Compile like `inlined_kernel`; a product and a sum may be one instruction, rounded once."""
    return _compiled(function, _nrt=False, forceinline=True, fastmath={"contract"})


def reordered_kernel(function: Function) -> Function:
    """Compile like `inlined_kernel`; floats may be added in any order. For sums over long rows."""
    return _compiled(
        function, _nrt=False, forceinline=True, fastmath={"reassoc", "contract", "nsz"}
    )


def _compiled(function: Function, **options: Any) -> Function:
    if native.KERNELS is None:
        found: Any = _jit()(function, options)
    else:
        # A kernel that only other kernels call is part of these.
        name = f"{function.__module__}.{function.__name__}".removeprefix("arborescence.")
        found = native.KERNELS.get(name, function)
    kept: Function = found
    return kept


def _jit() -> Callable[[Callable[..., Any], dict[str, Any]], Any]:
    try:
        import numba

        from arborescence.compiling import plain

        settings: Any = numba.config
        if settings.DISABLE_JIT:
            return lambda function, _: function
        if not plain.is_known():
            return plain.compiled
        from arborescence.compiling.jit import compiled
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise MissingExtraError(
            "this installation needs Numba to compile its kernels: pip install 'arborescence[jit]'"
        ) from None
    return compiled
