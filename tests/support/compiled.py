"""What the JIT compiles for Python: only kernels and types that native modules have too."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module

from arborescence.compiling.signatures import as_types, declared
from modes import NATIVE, UNCOMPILED


@contextmanager
def undeclared():
    """Yield a list, in the end of all kernels that were compiled for types not declared."""
    found = []
    if NATIVE or UNCOMPILED:  # native kernels refuse such types themselves
        yield found
        return
    before = {name: set(kernel.entry.overloads) for name, kernel, _ in _kernels()}
    yield found
    for name, kernel, signatures in _kernels():
        known = {types for text in signatures for types in as_types(text)}
        found += [(name, types) for types in {*kernel.entry.overloads} - known - before[name]]


def _kernels():
    for module, function, signatures in declared():
        yield f"{module}.{function}", getattr(import_module(module), function), signatures
