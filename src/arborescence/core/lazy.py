"""Public names that are imported when they are first used.

NumPy and Numba take half a second to import. A package whose ``__init__`` names its contents in
this way costs nothing until they are asked for.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def lazily(
    package: str, homes: dict[str, tuple[str, ...]], modules: tuple[str, ...] = ()
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` for a package.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        The names that each module has to give.
    modules
        Modules of the package, which ``dir`` shows, but ``import *`` leaves alone.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    public = sorted(home_of)

    def get(name: str) -> object:
        if name in modules:
            return import_module(f"{package}.{name}")  # which sets the attribute, too
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return public, get, lambda: sorted([*public, *modules])
