"""What kernels Python calls, and with arguments of which types.

Each family declares them in its `exports.py`; warming up and building the native modules compile
what is declared.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT: Final = Path(__file__).parents[1]

#: What `score` stands for.
_SCORES: Final = ("float32", "float64")
_COMMA: Final = re.compile(r",\s*(?![^\[]*\])")  # not one inside brackets
_TYPE: Final = re.compile(
    r"(?P<const>const )?(?P<name>\w+)(?P<array>\[(?P<strided>:(, :)*)?(?(strided)|(:, )*::1)\])?"
)


class Export(NamedTuple):
    """A kernel that Python calls."""

    module: str
    """The full name of its module."""

    function: str

    signatures: tuple[str, ...]
    """The types of its arguments, an overload each: the first that fits is the one to call."""

    @property
    def name(self) -> str:
        """What it is called inside the package, like ``nonprojective.decode.decode_kernel``."""
        return f"{self.module}.{self.function}".partition(".")[2]


def declared() -> Iterator[Export]:
    """Yield all kernels that Python calls, family by family."""
    for path in sorted(_ROOT.rglob("exports.py")):
        family = ".".join(("arborescence", *path.parent.relative_to(_ROOT).parts))
        for key, signatures in import_module(f"{family}.exports").EXPORTS.items():
            module, _, function = f"{family}.{key}".rpartition(".")
            yield Export(
                module, function, (signatures,) if isinstance(signatures, str) else signatures
            )


def as_types(signature: str) -> list[tuple[Any, ...]]:
    """Return the Numba types of a signature's arguments; twice where it has scores.

    Parameters
    ----------
    signature
        Types separated by commas, in Numba's notation: ``int64`` and ``bool`` for numbers,
        ``int64[::1]`` and ``float64[:, ::1]`` for contiguous arrays, ``float64[:, :]`` for arrays
        with any strides. ``score`` stands for ``float32`` and for ``float64``, the same in the
        whole signature. An array that is ``const`` may be read-only.

    Examples
    --------
    >>> as_types("score[:, :], bool, const uint8[::1]")  # doctest: +NORMALIZE_WHITESPACE
    [(Array(float32, 2, 'A', False, aligned=True), bool, Array(uint8, 1, 'C', True, aligned=True)),
     (Array(float64, 2, 'A', False, aligned=True), bool, Array(uint8, 1, 'C', True, aligned=True))]
    """
    names = _COMMA.split(signature) if signature else []
    choices = _SCORES if re.search(r"\bscore\b", signature) else _SCORES[:1]
    return [tuple(_as_type(name, score) for name in names) for score in choices]


def _as_type(text: str, score: str) -> Any:
    from numba import types

    found = _TYPE.fullmatch(text)
    if not found:
        raise ValueError(f"cannot read the type {text!r}")
    name = score if found["name"] == "score" else found["name"]
    number = types.boolean if name == "bool" else getattr(types, name)
    if not found["array"]:
        return number
    dimensions = found["array"].count(",") + 1
    array: Any = types.Array
    return array(
        number, dimensions, "A" if found["strided"] else "C", readonly=bool(found["const"])
    )
