"""The native modules of this installation: kernels compiled when the package was built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The kernels that Python calls, by name; None if Numba compiles them.
KERNELS: Mapping[str, Callable[..., Any]] | None = None
