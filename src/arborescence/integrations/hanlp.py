"""HanLP: `decode_dep`, `mst` and `eisner` decode a batch at once; `eisner2o` stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.integrations.conventions import eisner, from_mst, masked, mst
from arborescence.integrations.patching import Replacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSIONS = ("2.1.7",)


def replacements() -> list[Replacement]:
    """Say what takes the place of what."""
    from hanlp.components.parsers import alg

    return [
        Replacement(alg, "decode_dep", decode_dep),
        Replacement(alg, "mst", mst),
        Replacement(alg, "eisner", eisner),
    ]


def decode_dep(s_arc: Any, mask: Any, tree: bool = False, proj: bool = False) -> Any:
    """Return the best head of each word."""
    # if `tree`, those of the best trees, projective if `proj`
    return masked(s_arc, mask, projective=bool(proj)) if tree else s_arc.argmax(-1)


def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode as HanLP does."""
    from hanlp.components.parsers import alg

    return from_mst(alg.mst, scores, lengths)
