"""The kinds of parsers, the installed models, and functions that read model files of any kind.

A kind's module is imported only when it is needed: this module knows no class of parsers, so all
can use it. Any distribution can bring models, and kinds of parsers.
"""

from __future__ import annotations

import os
import re
from importlib import import_module, resources
from importlib.metadata import EntryPoint, entry_points
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import ModelError, brief
from arborescence.parsers import model_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The class of each kind of parser of this package; the keys are their names in model files.
KINDS: Final = {
    "linear": "arborescence.parsers.linear.parser:LinearParser",
    "second-order": "arborescence.parsers.second_order.parser:SecondOrderParser",
    "transition": "arborescence.parsers.transition.parser:TransitionParser",
    "biaffine": "arborescence.parsers.neural.parser:BiaffineParser",
    "reranker": "arborescence.parsers.reranker.parser:Reranker",
    "combined": "arborescence.parsers.combined:CombinedParser",
    "multilingual": "arborescence.parsers.neural.joint.parser:MultilingualParser",
}

#: The entry points by which a distribution brings models. Each has the name of a model, and a
#: function that returns the model's file, a `Traversable` of `importlib.resources`.
GROUP: Final = "arborescence.models"
#: The model that is loaded if no model is named.
DEFAULT: Final = "english"

#: The entry points by which a distribution brings kinds of parsers. Each has the name of a kind in
#: model files, and a class, which extends `arborescence.parsers.Parser` and whose `kind` is this
#: name.
KINDS_GROUP: Final = "arborescence.parsers"

#: Stands for the language of each document, whichever it is.
AUTO: Final = "auto"
#: Stands for the first language of a model of several; for other models, it says nothing.
FIRST: Final = "*"
#: What is wrong where a language is named, but the model reads one.
ONE_LANGUAGE: Final = "it reads one language: leave out the language {!r}"
_CODE: Final = r"[a-z]{2,3}(-[A-Za-z]{2,8})*"
#: The code of a language after the name of a model, as in multi:de; multi:yi=de reads one that the
#: model has not learned as if it was another one.
_LANGUAGE: Final = re.compile(rf"{AUTO}|{_CODE}(={_CODE})?")

#: The largest number of parsers in a file, and the deepest nesting.
_MOST: Final = 100
_DEEPEST: Final = 8


def load(
    model: str | os.PathLike[str] | None = None,
    encoder: str | os.PathLike[str] | None = None,
    language: str | None = None,
) -> Any:
    """Load a trained parser of any kind: see `arborescence.load`."""
    name = DEFAULT if model is None else os.fspath(model)
    models = installed()
    if language is None:
        name, language = _divided(name)
    if os.path.basename(name) != name:  # noqa: PTH119
        return _from_path(name, encoder, language)
    if point := models.get(name):
        with resources.as_file(file_of(point)) as path:
            return _from_path(path, encoder, language)
    if model is None or not os.path.exists(name):  # noqa: PTH110
        choice = f"installed: {', '.join(models)}" if models else "none is installed"
        english = "" if DEFAULT in models else "; for English, pip install arborescence-en"
        raise ModelError(f"{name}: no such file, and no model of this name ({choice}){english}")
    return _from_path(name, encoder, language)


def load_to_go_on(model: str | os.PathLike[str]) -> Any:
    """Load a parser that training goes on with; of a model of several languages, one of these.

    The language may be new: see `MultilingualParser.beginning`.
    """
    name, language = _divided(os.fspath(model))
    if language in (None, AUTO):
        return load(model).beginning()
    return load(name, language=FIRST).beginning(language)


def _divided(name: str) -> tuple[str, str | None]:
    """Divide the name of a model, such as multi:de, into that of the model and its language."""
    plain, _, code = name.rpartition(":")
    if _LANGUAGE.fullmatch(code) and plain and not os.path.exists(name):  # noqa: PTH110
        return plain, code
    return name, None


def installed() -> dict[str, EntryPoint]:
    """Return the models of all distributions that are installed, by their names, in order."""
    return {point.name: point for point in sorted(entry_points(group=GROUP))}


def file_of(point: EntryPoint) -> Traversable:
    """Return the file of a model; ModelError if the distribution that has it is broken."""
    try:
        file: Traversable = point.load()()
    except (Exception, SystemExit) as error:  # the code may be anybody's
        raise ModelError(f"{point.name}: {_owner(point)} is broken: {error!r}") from error
    if not isinstance(file, Traversable) or not file.is_file():
        raise ModelError(f"{point.name}: {_owner(point)} is broken: {file!r} is no file")
    return file


def _owner(point: EntryPoint) -> str:
    """Return the distribution of an entry point. For errors only: reading metadata takes long."""
    return point.dist.name if point.dist else point.value


def _from_path(
    path: str | os.PathLike[str], encoder: str | os.PathLike[str] | None, language: str | None
) -> Any:
    header, arrays = model_file.load(path)
    try:
        if language == FIRST:
            language = _first_language(header)
        if language is not None:
            if "languages" not in header:
                raise ModelError(ONE_LANGUAGE.format(language))
            header["language"] = language
        for each in _parsers_in(header):
            if isinstance(named := each.get("encoder"), dict):
                named["place"] = encoder  # a file can only name its encoder
        return from_file(header, arrays)
    except ModelError as error:
        raise ModelError(f"{os.fspath(path)}: {error}") from error


def _first_language(header: dict[str, Any]) -> str | None:
    """Return the first language of a model; None if it does not have several."""
    languages = header.get("languages")
    return min(languages, default=None) if isinstance(languages, dict) else None


def _parsers_in(header: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a header and all headers in it; ModelError if they are too many or nested too deep."""
    headers, layer = [], [header]
    for _ in range(_DEEPEST):
        headers += layer
        layer = [inner for outer in layer for inner in _within(outer)]
        if not layer and len(headers) <= _MOST:
            return headers
    raise ModelError(f"it has more than {_MOST} parsers, or more than {_DEEPEST} inside each other")


def _within(header: dict[str, Any]) -> list[dict[str, Any]]:
    several = header.get("parsers")
    parsers = [header.get("parser"), *(several if isinstance(several, list) else ())]
    return [parser for parser in parsers if isinstance(parser, dict)]


def from_file(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """Make a parser of the kind that the header names, from the output of `model_file.load`."""
    kind = header.get("kind")
    if not isinstance(kind, str) or (kind not in KINDS and kind not in added_kinds()):
        raise ModelError(f"holds no parser that this version knows but {brief(kind)}")
    return parser_class(kind)._restored(header, arrays)


def parser_class(kind: str) -> type[Any]:
    """Import the class of a kind of parser; ModelError if its distribution is broken."""
    if kind in KINDS:
        module, _, name = KINDS[kind].partition(":")
        own: type[Any] = getattr(import_module(module), name)
        return own
    point = added_kinds()[kind]
    try:
        added_class: type[Any] = point.load()
    except (Exception, SystemExit) as error:  # the code may be anybody's
        raise ModelError(f"{kind}: {_owner(point)} is broken: {error!r}") from error
    if not isinstance(added_class, type) or getattr(added_class, "kind", None) != kind:
        raise ModelError(
            f"{kind}: {_owner(point)} is broken: {added_class!r} is no parser of this kind"
        )
    return added_class


def added_kinds() -> dict[str, EntryPoint]:
    """Return the kinds of parsers of other distributions, by their names, in order."""
    points = sorted(entry_points(group=KINDS_GROUP))
    return {point.name: point for point in points if point.name not in KINDS}
