"""Compiled kernels that are kept on disk, for all later processes.

Compiled kernels are read from the package's own folder (`arborescence warmup` fills it for all
users, if it may write there), or else from the user's cache folder. They are kept in the first of
these folders that can be written. `NUMBA_CACHE_DIR` names another folder for both. Code that was
compiled from an older source (`digests`) is not used, and is replaced. Code that is read here is
run, so no other user may be able to write it. The package's own folder is trusted as the package
itself.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Final

from numba import config as numba_config

from arborescence.compiling.digests import digest
from arborescence.compiling.native import say, say_not_kept
from arborescence.compiling.numba_parts import NullCache, packed, unpacked, user_folder
from arborescence.system.files import check_own, replacing
from arborescence.system.processes import alone

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_config: Any = numba_config
_PACKAGE: Final = Path(__file__).parents[1]
_PATIENCE: Final = 600.0  # seconds to wait for another process that compiles the same kernel
_SEAL: Final = 32  # bytes of a digest


def folders() -> list[Path]:
    """Return the folders of compiled kernels, in the order of the search."""
    # The name keeps several installations apart.
    name = f"arborescence_{hashlib.sha256(bytes(_PACKAGE)).hexdigest()[:16]}"
    # Not Numba's setting of the same name: a file in the working directory may set it.
    if own := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(own, name)]
    user = user_folder()
    with suppress(RuntimeError):  # there is no home
        if not user.is_absolute():  # the standard says to ignore a relative XDG_CACHE_HOME
            user = Path.home() / ".cache" / "numba"
    return [_PACKAGE / "__pycache__" / "kernels", user / name]


def _check(path: Path) -> None:
    """Check that code in this folder can be trusted."""
    if not path.is_relative_to(_PACKAGE):
        check_own(path)


def _prepare(folder: Path) -> None:
    """Make a folder that other users cannot write, if it does not exist; check it."""
    for each in (*reversed(folder.parents), folder):
        each.mkdir(mode=0o755, exist_ok=True)
    _check(folder)


def can_be_written() -> bool:
    """Return whether one of the folders can be written."""
    for folder in folders():
        with suppress(OSError):
            _prepare(folder)
            TemporaryFile(dir=folder).close()
            return True
    return False


class Kept(NullCache):
    """The compiled code of a kernel on disk: a file for each combination of types."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def load_overload(self, types: Any, context: Any) -> Any:
        """Return the code for these types, or None if there is no code on disk."""
        with suppress(FileNotFoundError), self._open(types) as file:
            seal, content = file.read(_SEAL), file.read()
            if hashlib.sha256(content).digest() == seal:
                return unpacked(context, content)
        return None

    def has(self, types: Any) -> bool:
        """Return whether there is code for these types, compiled from the current kernel."""
        with suppress(FileNotFoundError), self._open(types):
            return True
        return False

    def save_overload(self, types: Any, result: Any) -> None:
        """Keep the code for these types, if a folder can be written."""
        content = packed(result)
        reasons = []
        for folder in folders():
            try:
                _prepare(folder)
                with replacing(folder / self._name(types), rights=0o644) as file:
                    file.write(digest(self._kernel) + hashlib.sha256(content).digest() + content)
                return
            except OSError as error:
                reasons.append(f"{error.filename or folder}: {error.strerror}")
        say_not_kept(*reasons)

    def alone(self, types: Any) -> AbstractContextManager[None]:
        """Wait while another process compiles the kernel for the same types."""
        if self.has(types):
            return nullcontext()
        name = self._name(types)
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
        waiting = f"waiting for another process that compiles {self._kernel.__name__}"
        folder = folders()[0]
        with suppress(OSError):
            _prepare(folder)
            return alone(folder / "compiling.lock", number, _PATIENCE, partial(say, waiting))
        return nullcontext()

    def _open(self, types: Any) -> IO[bytes]:
        """Open the file for these types, if it was compiled from the current code."""
        for folder in folders():
            with suppress(OSError):
                path = folder / self._name(types)
                _check(path)
                file = path.open("rb")
                if file.read(_SEAL) == digest(self._kernel):
                    return file
                file.close()
        raise FileNotFoundError(self._name(types))

    def _name(self, types: Any) -> str:
        """Return the name of the file for these types, on processors of this kind."""
        function = self._kernel.py_func
        for_what = (
            str(types),
            self._kernel.targetctx.codegen().magic_tuple(),
            sys.version_info[:2],
            _config.BOUNDSCHECK,
            str(_config.OPT),
            _config.LOOP_VECTORIZE,
            _config.SLP_VECTORIZE,
        )
        key = hashlib.sha256(repr(for_what).encode()).hexdigest()[:16]
        module = function.__module__.removeprefix("arborescence.")
        return f"{module}.{function.__name__}-{key}.nbc"
