"""hopsparser: one sentence at a time, as it asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.integrations.conventions import each, one_root
from arborescence.integrations.patching import Replacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSIONS = ("0.8.0",)


def replacements() -> list[Replacement]:
    """Say what takes the place of what."""
    from hopsparser import mst, parser  # noqa: F401 (the parser holds the function)

    return [Replacement(mst, "chuliu_edmonds_one_root", one_root)]


def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode as hopsparser does."""
    from hopsparser import parser

    return each(parser.chuliu_edmonds, scores, lengths)
