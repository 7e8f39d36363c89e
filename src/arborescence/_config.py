"""What this installation runs: versions, and whether kernels are native or compiled by Numba."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from arborescence.compiling import native
from arborescence.version import __version__


def config() -> dict[str, str]:
    """Return what this installation runs: versions; ``kernels`` says which kernels run, and why.

    >>> sorted(config())
    ['arborescence', 'kernels', 'numba', 'numpy', 'platform', 'python']
    """
    return {
        "arborescence": __version__,
        "kernels": native.WHAT_RUNS,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "numpy": _version("numpy"),
        "numba": _version("numba"),
    }


def show_config() -> None:
    """Print which kernels run and why, and the versions of what they need.

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
    return "\n".join(f"{what:<13} {value}" for what, value in config().items())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
