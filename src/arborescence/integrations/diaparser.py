"""DiaParser: non-projective trees by `mst` and projective ones by `eisner`, in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.integrations.conventions import eisner, from_mst, mst
from arborescence.integrations.patching import Replacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSIONS = ("1.1.3",)


def replacements() -> list[Replacement]:
    """Say what takes the place of what."""
    from diaparser.utils import alg

    return [Replacement(alg, "mst", mst), Replacement(alg, "eisner", eisner)]


def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode as DiaParser does."""
    from diaparser.models import dependency

    return from_mst(dependency.mst, scores, lengths)
