"""Compile kernels with Numba, each at its first call, for the types of its arguments.

A kernel that Python calls is compiled together with all kernels that it calls: these are lowered to
LLVM code once for each combination of types, and LLVM optimizes them after they are linked. (Numba
would optimize each kernel alone, and again in each of its callers; for `decode`, this takes about
as long as all other work.) The result is kept on disk (`kept`). The first compilation of a process
prints a line on stderr.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Final

from arborescence.compiling import jit_lanes  # noqa: F401
from arborescence.compiling.digests import size
from arborescence.compiling.kept import Kept
from arborescence.compiling.native import say
from arborescence.compiling.numba_parts import (
    CPUDispatcher,
    EntryCompiler,
    Listener,
    PartCompiler,
    global_compiler_lock,
    ignore_constants,
    listen,
    lock_is_free,
)
from arborescence.compiling.signatures import RecordType, arguments_of, as_declared, signatures_of
from arborescence.errors import ArborescenceError
from arborescence.system.lazy import remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# "error_model" makes division as in NumPy. No code in C calls kernels, so none needs a wrapper for
# C. The last two options have Numba's defaults: without them, a kernel would take these options
# from the first kernel that calls it.
_OPTIONS = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "forceinline": False,
    "fastmath": False,
}


_SPEED: Final = 1000  # bytes of bytecode that are compiled in a second, about
_LONG: Final = 1.0  # seconds; a longer compilation is reported at its end


def compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return the kernel as a function for Python and other kernels."""
    arguments = [each for text in signatures_of(function)[:1] for each in arguments_of(text)]
    if any(isinstance(each, RecordType) for each in arguments):
        return KernelOfRecords(function, _OPTIONS | options, arguments)
    return Kernel(function, _OPTIONS | options)


class Kernel(CPUDispatcher):
    """A kernel as a function that Python and other kernels can call."""

    locked_out = False  # whether no thread can release the compiler's lock: see `_look_at_lock`

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=EntryCompiler)
        ignore_constants(self)
        self.part = KernelPart(function, options)
        self._cache = Kept(self)

    @property
    def entry(self) -> Kernel:
        """The compiled kernel for calls by Python, whose arguments are arrays and numbers."""
        return self

    def compile(self, types: Any) -> Any:
        """Compile for these types of arguments, unless the code exists in memory or on disk."""
        if Kernel.locked_out:
            raise ArborescenceError(
                f"{self.py_func.__name__} cannot be compiled in this process, which was forked "
                "while a thread compiled: call what you need once before the fork, or start "
                "processes with the method 'spawn'"
            )
        wanted = as_declared(self.py_func, types)
        dispatcher: Any = super()
        with global_compiler_lock, self._cache.alone(wanted):
            code = dispatcher.compile(wanted)
            if wanted != types:  # Numba looks for code by the types as they are
                dispatcher._insert([kind._code for kind in types], code, False)
        return code

    def is_kept(self, types: Any) -> bool:
        """Return whether the code for these types is on disk."""
        return self._cache.has(types)

    @property
    def is_compiling(self) -> Any:
        """Whether the kernel is being compiled, so that a call of it is recursive."""
        return super().is_compiling or self.part.is_compiling

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the types of a call by another kernel."""
        return self.part.get_call_template(args, kws)

    def get_overload(self, types: Any) -> Any:
        """Return the code that another kernel calls."""
        return self.part.get_overload(types)


class KernelOfRecords(Kernel):
    """A kernel that takes records, as a function that Python and other kernels can call."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        arguments: list[RecordType | str],
    ) -> None:
        super().__init__(function, options)
        self._how = options, arguments
        self._call = self._first_call

    def __call__(self, *given: Any) -> Any:
        """Call it by Python."""
        return self._call(given)

    def _first_call(self, given: tuple[Any, ...]) -> Any:
        self._call = self._way[0]
        return self._call(given)

    @property
    @remembered
    def _way(self) -> tuple[Callable[..., Any], Kernel]:
        options, arguments = self._how
        return way(self, arguments, lambda function: Kernel(function, options))

    @property
    def entry(self) -> Kernel:
        """The compiled kernel for calls by Python, whose arguments are arrays and numbers."""
        return self._way[1]


class KernelPart(CPUDispatcher):
    """A kernel as a function that other kernels, but not Python, can call."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        options = options | {"no_cpython_wrapper": True}
        super().__init__(function, targetoptions=options, pipeline_class=PartCompiler)
        ignore_constants(self)

    def add_overload(self, result: Any) -> None:
        """Add the code for a further combination of types."""
        self.overloads[tuple(result.signature.args)] = result


class _Compiling(Listener):
    """Print which kernel is compiled, and the time of its compilation."""

    start = 0.0
    said = False

    def on_start(self, event: Any) -> None:
        """Print the expected time, at the first compilation of the process."""
        kernel = event.data["dispatcher"]
        if isinstance(kernel, Kernel):
            self.start = time.perf_counter()
            if not self.said:
                self.said = True
                name, seconds = kernel.py_func.__name__, size(kernel) / _SPEED
                say(
                    f"compiling {name}, for about {seconds:.0f} s; each kernel is compiled once, "
                    "at first use or ahead by `arborescence warmup`"
                )

    def on_end(self, event: Any) -> None:
        """Print the time of a compilation."""
        kernel = event.data["dispatcher"]
        if isinstance(kernel, Kernel):
            seconds = time.perf_counter() - self.start
            if seconds >= _LONG:
                say(f"compiled {kernel.py_func.__name__} in {seconds:.0f} s")


def _look_at_lock() -> None:
    """After a fork: note whether a thread of the parent holds Numba's lock."""
    Kernel.locked_out = not lock_is_free()


listen(_Compiling())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_look_at_lock)


def way(
    kernel: Any,
    arguments: Iterable[RecordType | str],
    compiled: Callable[[Callable[..., Any]], Any],
) -> tuple[Callable[..., Any], Any]:
    """Return a function that takes records apart, and the compiled `entry` that it calls.

    The function takes a tuple of the kernel's arguments, and calls `entry` with the fields of all
    records. `entry` makes the records again from the fields, and calls the kernel; `compiled`
    compiles it.
    """
    names: list[str] = []
    space: dict[str, Any] = {"kernel": kernel, "__name__": kernel.__module__}

    def both(argument: RecordType | str) -> tuple[str, str]:
        """Return the code that takes an argument apart, and the code that makes it again."""
        if isinstance(argument, str):
            names.append(f"x{len(names)}")
            return names[-1], names[-1]
        apart, made = zip(*map(both, argument.fields), strict=True)
        kind = f"Record{len(space)}"
        space[kind] = argument.load()
        return f"({', '.join(apart)},)", f"{kind}({', '.join(made)})"

    apart, made = zip(*map(both, arguments), strict=True)
    every = ", ".join(names)
    exec(  # noqa: S102, the code is made from the package's own declarations (`takes`)
        f"def call(given): {', '.join(apart)}, = given; return entry({every})\n"
        f"def made({every}): return kernel({', '.join(made)})",
        space,
    )
    space["made"].__name__ = space["made"].__qualname__ = kernel.__name__
    space["entry"] = compiled(space["made"])
    return space["call"], space["entry"]
