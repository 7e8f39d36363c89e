"""The way of records from Python into a kernel: code that is generated for each kernel.

A kernel takes named tuples of arrays, numbers and further named tuples (`signatures.Record`). What
is compiled for Python takes their fields one by one, because Numba finds out the types of named
tuples more slowly than it calls a kernel. (In native modules, `native/module.c` takes the fields
out.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from arborescence.compiling.signatures import Record


def way(
    kernel: Any, arguments: Iterable[Record | str], compiled: Callable[[Callable[..., Any]], Any]
) -> tuple[Callable[..., Any], Any]:
    """Return what takes the fields out of records, and what it calls to make records of them again.

    Parameters
    ----------
    kernel
        What takes the records.
    arguments
        The types of its arguments.
    compiled
        Compiles the function that makes the records and calls the kernel.

    Returns
    -------
    call : callable
        Calls `entry` with all fields, for a tuple of the kernel's arguments.
    entry
        What `compiled` returned.
    """
    names: list[str] = []
    space: dict[str, Any] = {"kernel": kernel, "__name__": kernel.__module__}

    def both(argument: Record | str) -> tuple[str, str]:
        """Return the code that takes an argument apart, and the code that makes it."""
        if isinstance(argument, str):
            names.append(f"x{len(names)}")
            return names[-1], names[-1]
        apart, made = zip(*map(both, argument.fields), strict=True)
        kind = f"Record{len(space)}"
        space[kind] = argument.load()
        return f"({', '.join(apart)},)", f"{kind}({', '.join(made)})"

    apart, made = zip(*map(both, arguments), strict=True)
    every = ", ".join(names)
    exec(  # noqa: S102, the declarations in `exports.py` are code
        f"def call(given): {', '.join(apart)}, = given; return entry({every})\n"
        f"def made({every}): return kernel({', '.join(made)})",
        space,
    )
    space["made"].__name__ = space["made"].__qualname__ = kernel.__name__
    space["entry"] = compiled(space["made"])
    return space["call"], space["entry"]
