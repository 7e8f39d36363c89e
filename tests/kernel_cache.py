"""Compiled kernels that stay: from one run to the next, and for all workers of a run.

Numba's own cache notices when a kernel's file changes, but not when a kernel that was compiled
into it does; and two processes that need the same kernel both compile it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
STAMPS = "sources.json"  # what the kernels in a folder were compiled from


def cache_kernels():
    """Choose Numba's folder, unless it has been chosen, and drop from it what has changed."""
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or ROOT / "build" / "kernels")
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder / "folder.lock"):
        drop_outdated(folder)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


def drop_outdated(folder):
    """Remove the kernels of each module that has changed, or that imports one that has."""
    before = json.loads(path.read_text()) if (path := folder / STAMPS).exists() else {}
    now = stamps()
    for name, stamp in now.items():
        if before.get(name) != stamp:
            module = Path(name)
            for kernel in folder.glob(f"{module.parent.name}_*/{module.stem}.*.nb[ic]"):
                kernel.unlink()
    path.write_text(json.dumps(now, indent=1))


def stamps():
    """A digest for each source file of the library: of its text, and of all that it imports."""
    paths = {_name(path): path for path in SOURCES.rglob("*.py")}
    texts = {name: path.read_bytes() for name, path in paths.items()}
    imports = {name: _imported(text) & texts.keys() for name, text in texts.items()}

    def everything(name, seen):
        if name not in seen:
            seen.add(name)
            for other in imports[name]:
                everything(other, seen)
        return seen

    return {
        str(path.relative_to(SOURCES)): hashlib.sha256(
            b"".join(texts[other] for other in sorted(everything(name, set())))
        ).hexdigest()
        for name, path in paths.items()
    }


def _name(path):
    return ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")


def _imported(text):
    """The names that a source imports; none of them is relative."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def compile_once():
    """Let one worker compile a kernel while others that need it wait, and then load it.

    It is not only time that is saved: Numba's cache loses its way where two processes write
    different types of the same kernel at once.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_it = Dispatcher.compile
    held = set()

    def compile_alone(self, signature):
        kernel = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
        with global_compiler_lock:  # so `held` is of this thread
            if kernel in held or not kernel.startswith("arborescence."):
                return compile_it(self, signature)
            with alone(Path(os.environ["NUMBA_CACHE_DIR"], f"{kernel}.lock")):
                held.add(kernel)
                try:
                    return compile_it(self, signature)
                finally:
                    held.remove(kernel)

    Dispatcher.compile = compile_alone


@contextmanager
def alone(path):
    """Wait until no other process is in here with this path."""
    import fcntl

    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
