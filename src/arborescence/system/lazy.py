"""Lazy imports."""
# public names are imported at their first use (NumPy and Numba take half a second)

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def lazily(
    package: str, homes: dict[str, tuple[str, ...]], modules: tuple[str, ...] = ()
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` for a package."""
    # package: its ``__name__``
    # homes: the names that each module defines
    # modules: modules of the package: ``dir`` shows them, ``import *`` does not import them
    home_of = {name: home for home, names in homes.items() for name in names}
    public = sorted(home_of)

    def get(name: str) -> object:
        if name in modules:
            return import_module(f"{package}.{name}")  # this also sets the attribute
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return public, get, lambda: sorted([*public, *modules])
