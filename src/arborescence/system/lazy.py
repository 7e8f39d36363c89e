"""Lazy imports: a public name is imported at its first use (NumPy and Numba take half a second)."""

from __future__ import annotations

import sys
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Method = TypeVar("Method", bound=Callable[[Any], Any])


def lazily(package: str) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` for a package.

    The package's public names stand once, in its own code: as imports for type checkers, ``if
    TYPE_CHECKING: from home import name as name``. ``import *`` imports only these names; `dir`
    also shows modules of the package among them.
    """
    module: Any = sys.modules[package]
    words = module.__spec__.loader.get_data(module.__file__).decode().replace("(", "").split()
    home_of = {
        name: home
        for from_, home, import_, name, as_, alias in zip(
            *(words[k:] for k in range(6)), strict=False
        )
        if (from_, import_, as_) == ("from", "import", "as") and name == alias.rstrip(",")
    }
    home_of.pop("__version__", None)  # not lazy
    public = sorted(name for name, home in home_of.items() if home != package)

    def get(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home_of[name] == package:
            return import_module(f"{package}.{name}")  # this also sets the attribute
        value: object = getattr(import_module(home_of[name]), name)
        setattr(module, name, value)
        return value

    return public, get, lambda: sorted(home_of)


def remembered(compute: Method) -> Method:
    """Keep the result of a method in ``__dict__``. For a property, stands below ``@property``.

    If two threads compute the value, all callers get the value that was stored first.
    """
    name = _entry(compute.__name__)

    @wraps(compute)
    def get(self: Any) -> Any:
        values = vars(self)
        return values[name] if name in values else values.setdefault(name, compute(self))

    return get  # type: ignore[return-value]


def recalled(owner: object, method: str) -> Any:
    """Return the kept result of a `remembered` method; None if nobody has called it."""
    return vars(owner).get(_entry(method))


def remember(owner: object, method: str, value: Any) -> None:
    """Let a `remembered` method return a value that is known already."""
    vars(owner)[_entry(method)] = value


def _entry(method: str) -> str:
    return f"{method}()"  # an entry with the method's own name would hide it
