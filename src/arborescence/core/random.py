"""Random numbers in kernels, from a NumPy generator: the numbers of its method `random`.

A generator is a Python object, which a kernel cannot take. But its random numbers come from a C
function. A kernel can call this function: it takes the addresses of the function and of its state.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from arborescence.compiling import native
from arborescence.compiling.kernels import inlined_kernel
from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    #: A generator, a seed, or None, for new numbers at each call (SPEC 7 of Scientific Python).
    Rng = int | np.random.Generator | None  # for types only: parsing needs no `numpy.random`


def as_generator(rng: Any) -> np.random.Generator:
    """Return the generator that a caller gave, or one from the caller's seed; else OptionError."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise OptionError(
            f"rng must be a numpy.random.Generator or a seed, a whole number from 0 on, not {rng!r}"
        ) from None


_NEXT_DOUBLE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)


@contextmanager
def source_of(generator: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Lock a generator, and yield the `source` of `uniform`: (2,) int64, two addresses."""
    bits: Any = generator.bit_generator
    with bits.lock:
        function = ctypes.cast(bits.ctypes.next_double, ctypes.c_void_p).value
        yield np.array([function, bits.ctypes.state_address], np.int64)


@inlined_kernel
def uniform(source: np.ndarray) -> float:
    """Draw a number from [0, 1). O(1)."""
    return next_double(source[0], source[1])


def next_double(function: int, state: int) -> float:
    """Call the C function at this address. Kernels have their own code (`_lower_call`)."""
    number: float = _NEXT_DOUBLE(int(function))(int(state))
    return number


def _lower_call() -> None:
    """Tell Numba how kernels call `next_double`: through a pointer, without Python."""
    import numba.extending
    from llvmlite import ir
    from numba import types

    extending: Any = numba.extending

    def result_of(context: Any) -> Any:  # noqa: ARG001
        return lambda function, state: types.float64  # noqa: ARG005

    def call(context: Any, builder: Any, signature: Any, addresses: Any) -> Any:  # noqa: ARG001
        pointer = ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.DoubleType(), [pointer]).as_pointer()
        function = builder.inttoptr(addresses[0], function_type)
        return builder.call(function, [builder.inttoptr(addresses[1], pointer)])

    extending.type_callable(next_double)(result_of)
    extending.lower_builtin(next_double, types.int64, types.int64)(call)


if native.KERNELS is None:
    _lower_call()
