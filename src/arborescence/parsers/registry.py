"""The kinds of parsers, and what reads a model file of any of them.

The module of a kind is imported only when a file needs it. So this module knows no class of
parsers, not even the common one, and all of them can use it.
"""

from __future__ import annotations

import os
import reprlib
from importlib import import_module, resources
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import ModelError
from arborescence.parsers.shared import model_file, scheme

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The class of each kind of parser; the keys are the names of the kinds in model files.
KINDS: Final = {
    "linear": "arborescence.parsers.linear.parser:LinearParser",
    "second-order": "arborescence.parsers.second_order.parser:SecondOrderParser",
    "transition": "arborescence.parsers.transition.parser:TransitionParser",
    "biaffine": "arborescence.parsers.neural.parser:BiaffineParser",
    "reranker": "arborescence.parsers.reranker.parser:Reranker",
    "combined": "arborescence.parsers.combined:CombinedParser",
}

#: The models that come with the library: a neural parser, and a linear one that is faster.
BUILT_IN: Final = ("english", "english-fast")

_FIELDS: Final = {"rules": scheme.one_of(("ud", "none"), "none")}

#: The largest number of parsers in a file, and the deepest nesting.
_MOST: Final = 100
_DEEPEST: Final = 8


def load(model: str | os.PathLike[str], encoder: str | os.PathLike[str] | None = None) -> Any:
    """Load a trained parser of any kind: see `arborescence.load`."""
    if model in BUILT_IN:
        resource = resources.files("arborescence") / "models" / f"{model}.npz"
        with resources.as_file(resource) as path:
            return _from_path(path, encoder, rules="ud")
    name = os.fspath(model)
    if os.path.basename(name) == name and not os.path.exists(name):  # noqa: PTH110, PTH119
        known = ", ".join(map(repr, BUILT_IN))
        raise ModelError(
            f"{name}: no such file, and no model of this name comes with the library, "
            f"which has {known}; arborescence train makes others"
        )
    return _from_path(model, encoder)


def _from_path(
    path: str | os.PathLike[str], encoder: str | os.PathLike[str] | None, rules: str = "none"
) -> Any:
    """Make a parser from a file; older files do not name `rules`."""
    header, arrays = model_file.load(path)
    header.setdefault("rules", rules)
    try:
        for each in _parsers_in(header):
            if isinstance(named := each.get("encoder"), dict):
                named["place"] = encoder  # a file can only name its encoder
        return from_file(header, arrays)
    except ModelError as error:
        raise ModelError(f"{os.fspath(path)}: {error}") from error


def _parsers_in(header: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the header and those in it; ModelError if they would take much memory or stack."""
    found, layer = [], [header]
    for _ in range(_DEEPEST):
        found += layer
        layer = [inner for outer in layer for inner in _within(outer)]
        if not layer and len(found) <= _MOST:
            return found
    raise ModelError(f"it has more than {_MOST} parsers, or more than {_DEEPEST} inside each other")


def _within(header: dict[str, Any]) -> list[dict[str, Any]]:
    several = header.get("parsers")
    parsers = [header.get("parser"), *(several if isinstance(several, list) else ())]
    return [parser for parser in parsers if isinstance(parser, dict)]


def from_file(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """Make a parser of the kind named in the header, from what `model_file.load` returned."""
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ModelError(f"holds no parser that this version knows but {reprlib.repr(kind)}")
    parser = parser_class(kind).from_file(header, arrays)
    parser.rules = scheme.fields_of(header, _FIELDS)["rules"]
    return parser


def parser_class(kind: str) -> type[Any]:
    """Import the class of a kind of parser."""
    module, _, name = KINDS[kind].partition(":")
    found: type[Any] = getattr(import_module(module), name)
    return found
