"""The kernels that Python calls, and the types of their arguments.

`kernels.takes` declares kernels. Warming up, and building native modules, compile declared kernels.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_ROOT: Final = Path(__file__).parents[1]

#: Names that stand for two types: in a signature, all of them for the first or for the second type.
_EITHER: Final = {
    "score": ("float32", "float64"),
    "weight": ("int8", "float32"),
    "sum": ("int32", "float32"),
}
_NEXT: Final = re.compile(r"\s*((?:[^][(),]|\[[^]]*\])*)([(),]|$)")  # the text before a separator
_TYPE: Final = re.compile(
    r"(?P<out>out )?(?P<name>\w+)(?P<array>\[(?P<strided>:(, :)*)?(?(strided)|(:, )*::1)\])?"
)


class RecordType(NamedTuple):
    """The type of an argument that is a record: a named tuple of arrays, numbers and records."""

    #: the class of the record, like ``parsers.shared.features.Batch``
    kind: str

    #: the types of its fields
    fields: tuple[RecordType | str, ...]

    def load(self) -> Any:
        """Import the record's class."""
        module, _, name = f"arborescence.{self.kind}".rpartition(".")
        return getattr(import_module(module), name)


class Export(NamedTuple):
    """A kernel that Python calls."""

    #: the full name of the kernel's module
    module: str

    #: the kernel's name
    function: str

    #: the types of its arguments, one text for each overload: the first that fits is called
    signatures: tuple[str, ...]

    @property
    def name(self) -> str:
        """The kernel's name inside the package, like ``nonprojective.decode.decode_kernel``."""
        return f"{self.module}.{self.function}".partition(".")[2]


#: The signatures of kernels, by module and name.
SIGNATURES: Final[dict[tuple[str, str], tuple[str, ...]]] = {}


def declared() -> Iterator[Export]:
    """Yield all kernels of the package that Python calls, module by module."""
    for path in sorted(_ROOT.rglob("*.py")):
        if "@takes(" in path.read_text("utf-8"):
            name = ".".join(("arborescence", *path.relative_to(_ROOT).with_suffix("").parts))
            import_module(name)
            for (module, function), signatures in SIGNATURES.copy().items():
                if module == name:
                    yield Export(module, function, signatures)


def signatures_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the declared signatures of a kernel; none if Python does not call it."""
    return SIGNATURES.get((function.__module__, function.__name__), ())


def arguments_of(signature: str) -> list[RecordType | str]:
    """Return the types of a signature's arguments; a record has its fields in parentheses.

    >>> arguments_of("bool, a.Layout(int64, int64[:, ::1])")
    ['bool', RecordType(kind='a.Layout', fields=('int64', 'int64[:, ::1]'))]
    """
    open_records: list[tuple[str, list[RecordType | str]]] = [("", [])]
    for text, mark in _NEXT.findall(signature):
        if mark == "(":
            open_records.append((text, []))
        elif text:
            open_records[-1][1].append(text)
        if mark == ")":
            kind, fields = open_records.pop()
            open_records[-1][1].append(RecordType(kind, tuple(fields)))
    return open_records[0][1]


def fields_of(arguments: Iterable[RecordType | str]) -> Iterator[str]:
    """Yield the types of all arrays and numbers, also of those in records."""
    for argument in arguments:
        if isinstance(argument, RecordType):
            yield from fields_of(argument.fields)
        else:
            yield argument


def as_types(signature: str) -> list[tuple[Any, ...]]:
    """Return the Numba types of a signature's arguments: two rows if a name stands for two types.

    Types stand in Numba's notation, between commas; `int64` and `bool` are numbers, and the fields
    of records follow like other arguments. ``score`` is ``float32`` or ``float64``, the same in the
    whole signature; ``weight`` is ``int8`` or ``float32``, and ``sum``, of weights, is ``int32`` or
    ``float32``. Arrays that are not ``out`` may be read-only.

    >>> as_types("score[:, :], bool, out uint8[::1]")  # doctest: +NORMALIZE_WHITESPACE
    [(Array(float32, 2, 'A', True, aligned=True), bool, Array(uint8, 1, 'C', False, aligned=True)),
     (Array(float64, 2, 'A', True, aligned=True), bool, Array(uint8, 1, 'C', False, aligned=True))]
    """
    names = list(fields_of(arguments_of(signature)))
    choices = 2 if re.search(rf"\b({'|'.join(_EITHER)})\b", signature) else 1
    return [tuple(_as_type(name, choice) for name in names) for choice in range(choices)]


def _as_type(text: str, choice: int) -> Any:
    from numba import types

    match = _TYPE.fullmatch(text)
    if not match:
        raise ValueError(f"cannot read the type {text!r}")
    name = _EITHER.get(match["name"], [match["name"]] * 2)[choice]
    number = types.boolean if name == "bool" else getattr(types, name)
    if not match["array"]:
        return number
    dimensions = match["array"].count(",") + 1
    array: Any = types.Array
    return array(number, dimensions, "A" if match["strided"] else "C", readonly=not match["out"])


def as_declared(function: Callable[..., Any], given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the types to compile a kernel for, when Python calls it with arguments of these types.

    An array that a kernel only reads may be writeable or not: the kernel is compiled once for both,
    as read-only. If a kernel is not declared for these types, it is compiled for the exact types.
    """
    for signature in signatures_of(function):
        for types in as_types(signature):
            if len(types) == len(given) and all(map(_takes, types, given)):
                return types
    return given


def _takes(wanted: Any, given: Any) -> bool:
    """Tell whether two of Numba's types are the same, except that an array may be writeable."""
    from numba import types

    return wanted == given or (
        isinstance(given, types.Array) and wanted == given.copy(readonly=True)
    )
