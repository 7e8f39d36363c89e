"""SuPar: non-projective trees by `mst`, projective ones by the distribution's `argmax`, in batches.

Unlike SuPar's own `mst`, ours leaves the scores alone. `Dependency2oCRF` stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.integrations.conventions import masked, mst
from arborescence.integrations.patching import Replacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSIONS = ("1.1.4",)


def replacements() -> list[Replacement]:
    """Say what takes the place of what."""
    from supar.structs import fn
    from supar.structs.tree import DependencyCRF

    return [Replacement(fn, "mst", mst), Replacement(DependencyCRF, "argmax", _argmax())]


def _argmax() -> Any:
    """Return the property that takes the place of `DependencyCRF.argmax`."""
    from torch.distributions.utils import lazy_property

    def argmax(self: Any) -> Any:
        """Return the best projective trees."""
        return masked(self.scores, self.mask, multiroot=self.multiroot, projective=True)

    return lazy_property(argmax)


def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode as SuPar does."""
    import torch
    from supar.structs.tree import MatrixTree

    heads: NDArray[Any] = MatrixTree(torch.tensor(scores), torch.tensor(lengths)).argmax.numpy()
    return heads
