"""What a type checker knows of results: NumPy in, NumPy out; a torch tensor in, a tensor out.

Tensors are told by a method that no NumPy array has: so this holds where torch is missing, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypedDict, TypeVar

if TYPE_CHECKING:
    from arborescence.core.graph import Root

Tensor = TypeVar("Tensor")
_Tensor_co = TypeVar("_Tensor_co", covariant=True)


class TensorLike(Protocol[_Tensor_co]):
    """A torch tensor."""

    def detach(self) -> _Tensor_co:
        """Return the same numbers as a tensor without a gradient."""


#: Scores as tensors: a batch, or a list with a tensor for each sentence.
Tensors = TensorLike[Tensor] | Sequence[TensorLike[Tensor]]


class Which(TypedDict, total=False):
    """Which trees: options of all functions that find trees, for their overloads."""

    root: Root
    projective: bool


class Options(Which, total=False):
    """The same, and how a batch is spread over threads."""

    threads: int
