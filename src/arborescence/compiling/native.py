"""The choice of kernels: those of a native module, compiled when the package was built, or Numba's.

A wheel has a native module for each level of processor. The best level that the processor supports
is used, or the level that ``ARBORESCENCE_LEVEL=x86-64-v3`` names; ``ARBORESCENCE_JIT=1`` asks for
Numba instead. In a checkout, a native module is used only if it was built from the current sources.
"""

from __future__ import annotations

import importlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PACKAGE: Final = Path(__file__).parents[1]

#: The levels, the best first. The import of a module fails if the processor cannot run it.
_LEVELS: Final = ("x86_64_v4", "x86_64_v3", "x86_64_v2", "generic")


def digest() -> str:
    """Return a fingerprint of the package's Python code."""
    import hashlib  # only for a checkout: with a wheel, a process starts without this import

    code = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        code.update(f"{path.relative_to(_PACKAGE).as_posix()}\0".encode())
        code.update(path.read_bytes())
    return code.hexdigest()


def _choose_kernels() -> tuple[Mapping[str, Callable[..., Any]] | None, str]:
    """Return the kernels of the native module to use, or None; and a text: what runs and why."""
    for name in ("ARBORESCENCE_JIT", "NUMBA_DISABLE_JIT"):
        if os.environ.get(name, "0") not in ("", "0"):
            return None, _without(f"{name} is set")
    wanted_level = os.environ.get("ARBORESCENCE_LEVEL", "").replace("-", "_")
    why = (
        f"no native module for {wanted_level} is here"
        if wanted_level
        else "no native module is here"
    )
    for level in (wanted_level,) if wanted_level else _LEVELS:
        try:
            module = importlib.import_module(f"arborescence._kernels_{level}")
        except ModuleNotFoundError:
            continue
        except ImportError as error:  # the processor cannot run it
            why = str(error)
            continue
        if _is_checkout() and digest() != module.DIGEST:
            return None, _without("the native modules were built from other sources")
        reason = "ARBORESCENCE_LEVEL is set" if wanted_level else "the best for this processor"
        return vars(module), f"native, for {level.replace('_', '-')}: {reason}"
    return None, _without(why)


def _without(why: str) -> str:
    return f"compiled by Numba when they are first called: {why}"


def _is_checkout() -> bool:
    return (_PACKAGE.parents[1] / "pyproject.toml").exists()


#: The kernels that Python calls, by name, or None if Numba compiles them; and a text: what runs.
KERNELS, WHAT_RUNS = _choose_kernels()


@cache
def has_wide_registers() -> bool:
    """Tell whether a register holds sixteen float32, so that twice as many sums fit into them."""
    if KERNELS is not None:
        return str(KERNELS["__name__"]).endswith("x86_64_v4")
    from llvmlite import binding

    return bool(binding.get_host_cpu_features().get("avx512f"))


@cache
def has_vnni() -> bool:
    """Tell whether kernels may use AVX-512 VNNI, which adds four products of bytes at once."""
    if KERNELS is not None:
        return has_wide_registers() and bool(KERNELS["VNNI"])
    from llvmlite import binding

    return bool(binding.get_host_cpu_features().get("avx512vnni"))


def say(line: str) -> None:
    """Write a line on stderr."""
    if not os.environ.get("ARBORESCENCE_QUIET"):
        print(f"arborescence: {line}", file=sys.stderr, flush=True)  # noqa: T201


@cache
def say_not_kept(*reasons: str) -> None:
    """Say once that compiled kernels cannot be kept, and why."""
    say(
        f"compiled kernels cannot be kept ({'; '.join(reasons)}), and each process compiles them "
        "again: set NUMBA_CACHE_DIR to a folder that you can write, and nobody else"
    )


def config() -> dict[str, str]:
    """Return versions, and in ``kernels`` which kernels run, and why.

    >>> sorted(config())
    ['arborescence', 'kernels', 'numba', 'numpy', 'platform', 'python']
    """
    import platform

    from arborescence.version import __version__

    return {
        "arborescence": __version__,
        "kernels": WHAT_RUNS,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "numpy": _version("numpy"),
        "numba": _version("numba"),
    }


def show_config() -> None:
    """Print which kernels run and why, and the versions of the packages that they need.

    Kernels are native (compiled when the wheel was built) or compiled by Numba at their first call.
    ``ARBORESCENCE_JIT=1`` in the environment asks for Numba; ``ARBORESCENCE_LEVEL=x86-64-v3`` asks
    for the native kernels of another level of processor.

    Examples
    --------
    >>> import arborescence as arb
    >>> arb.show_config()  # doctest: +ELLIPSIS
    arborescence  ...
    kernels       ...
    python        3...
    platform      ...
    numpy         ...
    numba         ...
    """
    print(described())  # noqa: T201


def described() -> str:
    """Return the configuration as text, a line for each part."""
    return "\n".join(f"{name:<13} {value}" for name, value in config().items())


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
