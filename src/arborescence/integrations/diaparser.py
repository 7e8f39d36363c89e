"""DiaParser: non-projective trees by `mst` and projective ones by `eisner`, in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.integrations.conventions import from_mst, masked
from arborescence.integrations.patching import Replacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSIONS = ("1.1.3",)


def replacements() -> list[Replacement]:
    """Say what takes the place of what."""
    from diaparser.utils import alg

    return [Replacement(alg, "mst", mst), Replacement(alg, "eisner", eisner)]


def mst(scores: Any, mask: Any, multiroot: bool = False) -> Any:
    """Return the best trees; as `conventions.masked`."""
    return masked(scores, mask, multiroot=multiroot)


def eisner(scores: Any, mask: Any) -> Any:
    """Return the best projective trees; as `conventions.masked`."""
    return masked(scores, mask, projective=True)


def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode as DiaParser does."""
    from diaparser.models import dependency

    return from_mst(dependency.mst, scores, lengths)
