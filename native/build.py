"""Build the native modules: one extension module for each level of processor, with all kernels.

    python -m native.build [--into FOLDER] [--levels x86-64-v3,...] [--jobs N] [--machine aarch64]

Numba compiles the kernels that are declared by `takes`, in several processes; the C compiler
compiles `module.c`, through which Python calls them, and links both. The modules run without Numba
and without a compiler, on all CPython versions from 3.11 and all NumPy versions that the package
supports.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from native.compile import Overload

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"

# Each level needs the one before; a processor runs the last one that it has.
LEVELS = {"x86_64": ("x86-64-v2", "x86-64-v3", "x86-64-v4"), "AMD64": ("x86-64-v2", "x86-64-v3")}

# Other machines, with Linux, that modules are built for; and the oldest glibc that serves there.
OTHERS = ("aarch64",)
GLIBC = "2.28"

# Look for all symbols that a module needs when it is loaded (Windows does in any case).
_RESOLVE = getattr(os, "RTLD_NOW", 0)

# Modules whose kernels take longest to compile: they are begun first.
_LONG = (
    "nonprojective.kbest",
    "nonprojective.decode",
    "transition.beam",
    "transition.learning",
    "linear.edges",
)

_KINDS = {"int64": "q", "uint64": "Q", "float64": "d", "bool": "?"}


def build(
    into: Path, levels: Sequence[str] = (), jobs: int = 0, machine: str = "", say: Any = print
) -> list[Path]:
    """Build the modules of some levels of processor (by default, all of the machine's kind).

    Parameters
    ----------
    into
        The folder for the modules.
    levels
        Names of processors, as LLVM knows them.
    jobs
        The number of processes; by default, one for each core.
    machine
        One of `OTHERS`; by default, this machine.
    say
        Called with a line of text after each step.
    """
    levels = levels or LEVELS.get(machine or platform.machine(), ("generic",))
    triple = f"{machine}-linux-gnu" if machine else ""
    jobs = jobs or os.cpu_count() or 1
    outer = os.environ.get("PYTHONPATH")
    os.environ |= {
        # Read by Numba when it is imported, in this process and in those that compile: code that is
        # the same for all levels.
        "NUMBA_CPU_NAME": "generic" if machine else levels[0],
        "NUMBA_CPU_FEATURES": "",
        "ARBORESCENCE_JIT": "1",
        "ARBORESCENCE_QUIET": "1",
        # Before what a build of a wheel brings: Zig, as a module.
        "PYTHONPATH": os.pathsep.join(filter(None, [str(SOURCES), str(ROOT), outer])),
    }
    sys.path[:0] = [str(SOURCES), str(ROOT)]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        overloads = []
        groups = _groups()
        with ProcessPoolExecutor(jobs) as pool:
            tasks = {
                pool.submit(_compile_group, name, kernels, levels, folder, triple): name
                for name, kernels in groups
            }
            for done, task in enumerate(as_completed(tasks), 1):
                if fault := task.exception():
                    pool.shutdown(cancel_futures=True)
                    raise RuntimeError(f"{tasks[task]} cannot be compiled") from fault
                found, seconds = task.result()
                overloads += found
                say(
                    f"{done}/{len(tasks)} {tasks[task]}: {len(found)} kernels and types, "
                    f"{seconds:.0f} s"
                )
        modules = _link(overloads, levels, folder, into, triple)
    size = sum(module.stat().st_size for module in modules) / 2**20
    say(
        f"{len(overloads)} kernels and types for {', '.join(levels)}: "
        f"{size:.1f} MB, {time.monotonic() - start:.0f} s"
    )
    return modules


def _groups() -> list[tuple[str, list[Any]]]:
    """Return the kernels by module, those that take longest first."""
    from arborescence.compiling.signatures import as_types, declared

    groups = defaultdict(list)
    for module, function, texts in declared():
        signatures = [types for text in texts for types in as_types(text)]
        groups[module].append((module, function, signatures))
    names = sorted(groups, key=lambda name: (not name.endswith(_LONG), name))
    return [(name.removeprefix("arborescence.").replace(".", "_"), groups[name]) for name in names]


def _compile_group(
    name: str, kernels: list[Any], levels: Sequence[str], folder: Path, triple: str
) -> tuple[list[Overload], float]:
    from native.compile import compile_kernels

    start = time.monotonic()
    return compile_kernels(kernels, levels, folder, name, triple), time.monotonic() - start


def _link(
    overloads: Iterable[Overload], levels: Sequence[str], folder: Path, into: Path, triple: str
) -> list[Path]:
    """Compile the extension module and link it with the kernels, for each level."""
    from distutils.ccompiler import new_compiler
    from distutils.sysconfig import customize_compiler, get_python_inc

    import numba
    import numpy as np
    import setuptools  # noqa: F401, it brings distutils

    from arborescence.compiling.native import digest

    (folder / "table.h").write_text(_table(overloads))
    if triple:
        cc, cxx = (
            f"{sys.executable} -m ziglang {name} -target {triple}.{GLIBC}" for name in ("cc", "c++")
        )
        os.environ |= {"CC": cc, "CXX": cxx, "LDSHARED": f"{cc} -shared"}
    compiler: Any = new_compiler()
    customize_compiler(compiler)
    includes = [str(folder), np.get_include(), get_python_inc()]
    runtime = Path(numba.__file__).parent / "core" / "runtime" / "nrt.cpp"
    shared = compiler.compile(
        [str(runtime)],
        output_dir=str(folder),
        include_dirs=includes,
        extra_postargs=["-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-g0"],
    )
    modules = []
    for level in levels:
        name = f"_kernels_{level}".replace("-", "_")
        x86 = level.startswith("x86")
        macros = {
            "MODULE": f'"{name}"',
            "INIT": f"PyInit_{name}",
            "REQUIRED": f'__builtin_cpu_supports("{level}")' if x86 else "1",
            "HAS_VNNI": '__builtin_cpu_supports("avx512vnni")' if x86 else "0",
            "DIGEST": f'"{digest()}"',
        }
        objects = compiler.compile(
            [str(Path(__file__).with_name("module.c"))],
            output_dir=str(folder / name),
            include_dirs=includes,
            macros=list(macros.items()),
            extra_postargs=["-fvisibility=hidden", "-g0"],
        )
        suffix = ".pyd" if sys.platform == "win32" else ".abi3.so"
        path = into / f"{name}{suffix}"
        compiler.link_shared_object(
            [*objects, *shared, *map(str, sorted((folder / level).glob("*.o")))],
            str(folder / path.name),
            extra_postargs=["-Wl,-s"] if sys.platform == "linux" else [],
        )
        if not triple:
            ctypes.PyDLL(str(folder / path.name), mode=_RESOLVE)  # is anything missing in it?
        into.mkdir(parents=True, exist_ok=True)
        (folder / path.name).replace(path)
        modules.append(path)
    return modules


def _table(overloads: Iterable[Overload]) -> str:
    """Return table.h, for module.c."""
    kernels = defaultdict(list)
    for overload in overloads:
        kernels[overload.kernel].append(overload)
    most = max(len(overload.arguments) for of in kernels.values() for overload in of)
    most_results = max(len(overload.results) for of in kernels.values() for overload in of)
    lines = [
        f"#define MOST_ARGUMENTS {most}",
        f"#define MOST_RESULTS {max(most_results, 1)}",
    ]
    nested = _nested()
    lines.append(f"#define MOST_DEPTH {max(map(_depth, nested.values()))}")
    table, calls, methods = [], [], []
    for number, (kernel, of) in enumerate(sorted(kernels.items())):
        entries = []
        for overload in of:
            arguments = ", ".join(map(_argument, overload.arguments))
            results = "".join(_KINDS[str(result)] for result in overload.results)
            lines += [
                f"extern Compiled {overload.symbol};",
                f"static const Argument of_{overload.symbol}[] = {{{arguments}}};",
            ]
            entries.append(f'{{of_{overload.symbol}, "{results}", {overload.symbol}}}')
        lines.append(f"static const Overload overloads_{number}[] = {{{', '.join(entries)}}};")
        table.append(f'    {{"{kernel}", "{nested[kernel]}", {len(of)}, overloads_{number}}},')
        calls += [
            f"static PyObject *call_{number}",
            "(PyObject *self, PyObject *const *given, Py_ssize_t count) {",
            f"    return call(&kernels[{number}], given, count);",
            "}",
        ]
        methods.append(f'    {{"{kernel}", (PyCFunction)call_{number}, METH_FASTCALL, NULL}},')
    return "\n".join(
        [
            *lines,
            "static const Kernel kernels[] = {",
            *table,
            "};",
            *calls,
            "static PyMethodDef methods[] = {",
            *methods,
            "    {NULL, NULL, 0, NULL},",
            "};",
            "",
        ]
    )


def _nested() -> dict[str, str]:
    """Return the arguments of each kernel: a point for each, with a record's in parentheses."""
    from arborescence.compiling.signatures import RecordType, arguments_of, declared

    def nested(arguments: Iterable[Any]) -> str:
        return "".join(
            f"({nested(each.fields)})" if isinstance(each, RecordType) else "."
            for each in arguments
        )

    return {export.name: nested(arguments_of(export.signatures[0])) for export in declared()}


def _depth(nested: str) -> int:
    """Return how many records are within each other, at most."""
    return max(accumulate({"(": 1, ")": -1}.get(mark, 0) for mark in nested), default=0)


def _argument(wanted: Any) -> str:
    """Return the initializer of an `Argument` in module.c."""
    import numpy as np
    from numba import types
    from numba.np.numpy_support import as_dtype

    if not isinstance(wanted, types.Array):
        return f"{{'{_KINDS[str(wanted)]}', 0, 0, 0, 0, 0}}"
    dtype = np.dtype(as_dtype(wanted.dtype))
    return (
        f"{{'a', '{dtype.kind}', {dtype.itemsize}, {wanted.ndim}, "
        f"{int(wanted.layout == 'C')}, {int(wanted.mutable)}}}"
    )


def main() -> None:
    """Read the options and build."""
    parser = argparse.ArgumentParser(description="Build the native modules.")
    parser.add_argument("--into", type=Path, default=SOURCES / "arborescence")
    parser.add_argument("--levels", type=lambda text: text.split(","), default=[])
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--machine", choices=OTHERS, default="")
    options = parser.parse_args()
    build(options.into, options.levels, options.jobs, options.machine)


if __name__ == "__main__":
    main()
