"""Decorators that mark kernels: functions that are compiled.

`kernel` is the usual decorator; the other decorators give faster code, each for the functions that
its docstring names. A kernel that Python calls comes compiled in a native module, if the package
was installed with native modules (`native`); otherwise Numba compiles the kernel at its first call
(`jit`).
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
    """Declare that Python calls a kernel, with arguments of these types; stands below `kernel`.

    Each signature (see `signatures.arguments_of`) is an overload: the first one that fits is
    called.
    """

    def declare(function: Function) -> Function:
        SIGNATURES[function.__module__, function.__name__] = signatures
        return function

    return declare


def uncounted_kernel(function: Function) -> Function:
    """Compile like `kernel`, but without reference counts.

    For functions in a hot loop that allocate no arrays. In a hot loop, counting references to array
    slices takes longer than the work itself.
    """
    return _compiled(function, _nrt=False)


def inlined_kernel(function: Function) -> Function:
    """Compile like `uncounted_kernel`, and inline: for small functions with many arguments."""
    return _compiled(function, _nrt=False, forceinline=True)


def indexing_kernel(function: Function) -> Function:
    """Compile like `inlined_kernel`, for indices that are never negative."""
    return inlined_kernel(never_negative(function))


def never_negative(function: Function) -> Function:
    """Mark a function whose indices are never negative; stands below the kernel's decorator.

    Negative indices, which count from the end, would take two instructions for each index, and
    would hide from LLVM which loops read neighbours. ``NUMBA_BOUNDSCHECK=1`` finds negative
    indices.
    """
    vars(function)["never_negative"] = True  # for `numba_parts`
    return function


def reordered_kernel(function: Function) -> Function:
    """Compile like `inlined_kernel`; floats may be added in any order. For sums over long rows."""
    return _compiled(
        function, _nrt=False, forceinline=True, fastmath={"reassoc", "contract", "nsz"}
    )


def _compiled(function: Function, **options: Any) -> Function:
    if native.KERNELS is None:
        compiled: Any = _jit()(function, options)
    else:
        # A kernel that only other kernels call is compiled into them.
        name = f"{function.__module__}.{function.__name__}".removeprefix("arborescence.")
        compiled = native.KERNELS.get(name, function)
    result: Function = compiled
    return result


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
