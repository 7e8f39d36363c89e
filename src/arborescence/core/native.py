"""Native modules: kernels that were compiled when the package was built. Is there one to use?

A wheel brings one native module for each level of processor. The best that the processor can run
is used, unless the JIT is asked for by ``ARBORESCENCE_JIT=1``. In a checkout, a native module is
used only while it was built from the sources as they are.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PACKAGE: Final = Path(__file__).parents[1]

#: Best first. A module that this processor cannot run says so when it is imported.
_LEVELS: Final = ("x86_64_v4", "x86_64_v3", "x86_64_v2", "generic")


def digest() -> str:
    """Return a fingerprint of the package's Python code."""
    code = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        code.update(f"{path.relative_to(_PACKAGE).as_posix()}\0".encode())
        code.update(path.read_bytes())
    return code.hexdigest()


def _found() -> tuple[Mapping[str, Callable[..., Any]] | None, str]:
    """Return the kernels of the native module to use, or None; and which it is, or why none."""
    if os.environ.get("ARBORESCENCE_JIT", "0") not in ("", "0"):
        return None, "ARBORESCENCE_JIT is set"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return None, "NUMBA_DISABLE_JIT is set"
    wanted = os.environ.get("ARBORESCENCE_LEVEL", "").replace("-", "_")
    why = f"no native module for {wanted} was built" if wanted else "none was built"
    for level in (wanted,) if wanted else _LEVELS:
        try:
            module = importlib.import_module(f"arborescence._kernels_{level}")
        except ModuleNotFoundError:
            continue
        except ImportError as error:
            why = str(error)
            continue
        if _is_checkout() and module.DIGEST != digest():
            return None, "the native modules were built from other sources"
        return vars(module), level.replace("_", "-")
    return None, why


def _is_checkout() -> bool:
    return (_PACKAGE.parents[1] / "pyproject.toml").exists()


#: The kernels that Python calls, by name, or None if Numba compiles them; and the processors that
#: they were compiled for, or why there are none.
KERNELS, WHY = _found()
