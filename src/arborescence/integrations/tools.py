"""The replacements in other parsers, and their decoders; Stanza has a module of its own.

The scores of these parsers are ``[dependent, head]``, and the head of the root is 0.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.inference.decode import decode

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Replacement(NamedTuple):
    """A function of a module, or an attribute of a class, and its replacement."""

    #: The module or the class that defines the function or attribute.
    owner: Any
    #: Its name in this module or class.
    name: str
    #: The replacement: a function; for a class also a static method or a property.
    new: Any

    def __str__(self) -> str:
        if isinstance(self.owner, ModuleType):
            return f"{self.owner.__name__}.{self.name}"
        return f"{self.owner.__module__}.{self.owner.__qualname__}.{self.name}"


class Diaparser:
    """DiaParser: non-projective trees by `mst` and projective trees by `eisner`, in batches."""

    VERSIONS = ("1.1.3",)

    @staticmethod
    def replacements() -> list[Replacement]:
        """Return the replacements in the tool's modules."""
        from diaparser.utils import alg

        return [Replacement(alg, "mst", mst), Replacement(alg, "eisner", eisner)]

    @staticmethod
    def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
        """Decode as DiaParser does."""
        from diaparser.models import dependency

        return from_mst(dependency.mst, scores, lengths)


class Hanlp:
    """HanLP: `decode_dep`, `mst` and `eisner` decode a batch at once; `eisner2o` stays."""

    VERSIONS = ("2.1.7",)

    @staticmethod
    def replacements() -> list[Replacement]:
        """Return the replacements in the tool's modules."""
        from hanlp.components.parsers import alg

        return [
            Replacement(alg, "decode_dep", decode_dep),
            Replacement(alg, "mst", mst),
            Replacement(alg, "eisner", eisner),
        ]

    @staticmethod
    def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
        """Decode as HanLP does."""
        from hanlp.components.parsers import alg

        return from_mst(alg.mst, scores, lengths)


class Hopsparser:
    """hopsparser: one sentence at a time."""

    VERSIONS = ("0.8.0",)

    @staticmethod
    def replacements() -> list[Replacement]:
        """Return the replacements in the tool's modules."""
        from hopsparser import mst, parser  # noqa: F401 (the parser holds the function)

        return [Replacement(mst, "chuliu_edmonds_one_root", one_root)]

    @staticmethod
    def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
        """Decode as hopsparser does."""
        from hopsparser import parser

        return each(parser.chuliu_edmonds, scores, lengths)


class Supar:
    """SuPar: non-projective trees by `mst`, projective trees by the distribution's `argmax`.

    Unlike SuPar's own `mst`, the replacement does not change the scores. `Dependency2oCRF` stays.
    """

    VERSIONS = ("1.1.4",)

    @staticmethod
    def replacements() -> list[Replacement]:
        """Return the replacements in the tool's modules."""
        from supar.structs import fn
        from supar.structs.tree import DependencyCRF
        from torch.distributions.utils import lazy_property

        def argmax(self: Any) -> Any:
            """Return the best projective trees."""
            return masked(self.scores, self.mask, multiroot=self.multiroot, projective=True)

        new = lazy_property(argmax)
        return [Replacement(fn, "mst", mst), Replacement(DependencyCRF, "argmax", new)]

    @staticmethod
    def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
        """Decode as SuPar does."""
        import torch
        from supar.structs.tree import MatrixTree

        heads: NDArray[Any] = MatrixTree(torch.tensor(scores), torch.tensor(lengths)).argmax.numpy()
        return heads


class Trankit:
    """Trankit: one sentence at a time."""

    VERSIONS = ("1.1.2",)

    @staticmethod
    def replacements() -> list[Replacement]:
        """Return the replacements in the tool's modules."""
        import_module("trankit.pipeline")  # it holds the function
        module = import_module("trankit.utils.chuliu_edmonds")  # a name that also is a function's
        return [Replacement(module, "chuliu_edmonds_one_root", one_root)]

    @staticmethod
    def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
        """Decode as Trankit does."""
        from trankit import pipeline

        return each(pipeline.chuliu_edmonds_one_root, scores, lengths)


def one_root(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the best tree's heads (N,), ``heads[0]`` 0, for scores ``[d, h]``."""
    heads: NDArray[Any] = decode(scores.T)
    heads[0] = 0
    return heads


def masked(scores: Any, mask: Any, *, multiroot: bool = False, projective: bool = False) -> Any:
    """Return the best trees' heads (B, N), 0 for the root and padding, on the device of `mask`.

    `scores` is a tensor (B, N, N) of ``scores[b, d, h]``; row 0, the diagonal and padding are
    ignored. `mask`, (B, N), is true for words, and false for the root and padding. `multiroot` says
    whether several edges may leave the root, `projective` whether edges must not cross.
    """
    heads = decode(
        scores.mT,
        mask.sum(1),
        root="multi" if multiroot else "single",
        projective=projective,
    )
    return heads.clamp_(min=0).to(mask.device)


def mst(scores: Any, mask: Any, multiroot: bool = False) -> Any:
    """Return the best trees; as `masked`."""
    return masked(scores, mask, multiroot=multiroot)


def eisner(scores: Any, mask: Any) -> Any:
    """Return the best projective trees; as `masked`."""
    return masked(scores, mask, projective=True)


def from_mst(mst: Any, scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode arrays by a function of tensors and a mask, for the `Tool.decode` of a tool."""
    import torch

    words = torch.arange(scores.shape[-1])
    mask = (words > 0) & (words <= torch.tensor(lengths)[:, None])
    heads: NDArray[Any] = mst(torch.tensor(scores), mask).numpy()
    return heads


def each(function: Any, scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode a batch by a function of one sentence, for the `Tool.decode` of a tool."""
    heads = np.zeros(scores.shape[:2], np.int64)
    for row, matrix, size in zip(heads, scores, lengths + 1, strict=True):
        row[:size] = function(matrix[:size, :size].copy())
    return heads


def decode_dep(s_arc: Any, mask: Any, tree: bool = False, proj: bool = False) -> Any:
    """Return the best head of each word; if `tree`, the heads of the best trees."""
    return masked(s_arc, mask, projective=bool(proj)) if tree else s_arc.argmax(-1)
