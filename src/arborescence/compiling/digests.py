"""A digest of a kernel's source: its code, the code of all kernels that it calls, and constants.

Compiled code on disk is used again as long as this digest is the same. Docstrings, comments and
line numbers are not part of the digest.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

# The code of the compiler is part of every digest.
_COMPILER: Final = numba.__version__.encode() + b"".join(
    Path(__file__).with_name(name).read_bytes()
    for name in ("jit.py", "jit_lanes.py", "numba_parts.py")
)

_PLAIN: Final = (bool, int, float, complex, str, bytes, np.generic, type(None), type(...))


def digest(kernel: Any) -> bytes:
    """Return the digest of a kernel."""
    hasher = hashlib.sha256(_COMPILER)
    for text, _ in map(_contents, _with_called_kernels(kernel)):
        hasher.update(text)
    return hasher.digest()


def size(kernel: Any) -> int:
    """Return the number of bytes of bytecode in a kernel and in all kernels that it calls."""
    return sum(len(each.py_func.__code__.co_code) for each in _with_called_kernels(kernel))


def _with_called_kernels(kernel: Any) -> list[Any]:
    """Return a kernel and all kernels that it calls, directly or not."""
    kernels = {kernel: None}
    todo = [kernel]
    while todo:
        for other in _contents(todo.pop())[1]:
            if other not in kernels:
                kernels[other] = None
                todo.append(other)
    return list(kernels)


@cache
def _contents(kernel: Any) -> tuple[bytes, list[Any]]:
    """Return the contents of a kernel as text, and the kernels that it calls directly."""
    function = kernel.py_func
    code = function.__code__
    options = (kernel.targetoptions, hasattr(function, "never_negative"))
    texts = [function.__module__, function.__name__, _text(options), _text(code)]
    called = []
    for name, value in _global_names(code, function.__globals__):
        if hasattr(value, "py_func"):
            texts.append(f"{name} {value.__module__}.{value.__name__}")
            called.append(value)
        else:
            texts.append(f"{name} {_text(value)}")
    return "\n".join(texts).encode(), called


def _global_names(code: CodeType, names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the global values that a function's code names, also those in modules."""
    for name in code.co_names:
        if name in names:
            value = names[name]
            yield name, value
            if isinstance(value, ModuleType) and value.__name__.startswith("arborescence."):
                for inner in code.co_names:
                    if hasattr(value, inner):
                        yield f"{name}.{inner}", getattr(value, inner)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _global_names(inner, names)


def _text(value: Any) -> str:
    """Return a text that is the same for the same value, in each process."""
    if isinstance(value, CodeType):
        constants = value.co_consts
        if constants and isinstance(constants[0], str):
            constants = constants[1:]  # most likely a docstring
        names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        return _text((value.co_code, value.co_argcount, constants, names))
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes()!r}"
    if isinstance(value, (tuple, list)):
        return f"({' '.join(map(_text, value))})"
    if isinstance(value, (set, frozenset)):
        return f"{{{' '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, dict):
        return _text(sorted(value.items()))
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, FunctionType):  # kernels have own code for it (`core/random.py`)
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r}"
    raise TypeError(f"a kernel uses {value!r}, a value without a digest")
