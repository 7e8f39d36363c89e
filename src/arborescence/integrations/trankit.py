"""Trankit: one sentence at a time, as it asks for them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arborescence.integrations.conventions import each, one_root
from arborescence.integrations.patching import Replacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSIONS = ("1.1.2",)


def replacements() -> list[Replacement]:
    """Say what takes the place of what."""
    import_module("trankit.pipeline")  # it holds the function
    module = import_module("trankit.utils.chuliu_edmonds")  # a name that also is a function's
    return [Replacement(module, "chuliu_edmonds_one_root", one_root)]


def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode as Trankit does."""
    from trankit import pipeline

    return each(pipeline.chuliu_edmonds_one_root, scores, lengths)
