"""Types for overloads: NumPy arrays give NumPy results, and torch tensors give tensors.

A tensor is recognized by a method that NumPy arrays lack, so the types also work without torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypedDict, TypeVar

if TYPE_CHECKING:
    from arborescence.core.choices import Root

Tensor = TypeVar("Tensor")
_Tensor_co = TypeVar("_Tensor_co", covariant=True)


class TensorLike(Protocol[_Tensor_co]):
    """A torch tensor."""

    def detach(self) -> _Tensor_co:
        """Return the same numbers as a tensor without a gradient."""


#: Scores as tensors: one batch, or a list of one tensor per sentence.
Tensors = TensorLike[Tensor] | Sequence[TensorLike[Tensor]]


class Which(TypedDict, total=False):
    """The kind of trees: the options of all functions that find trees, for their overloads."""

    root: Root
    projective: bool


class Options(Which, total=False):
    """The same options, and the number of threads for a batch."""

    threads: int
