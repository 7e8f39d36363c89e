"""Trainable parsers, behind one interface."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arborescence.parsers.base import Parser as Parser
    from arborescence.parsers.linear import LinearParser as LinearParser
    from arborescence.parsers.loading import load as load
    from arborescence.parsers.tagger import Tagger as Tagger

_HOMES = {
    "LinearParser": "arborescence.parsers.linear",
    "Parser": "arborescence.parsers.base",
    "Tagger": "arborescence.parsers.tagger",
    "load": "arborescence.parsers.loading",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
