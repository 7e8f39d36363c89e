"""A tagger inside a parser: for sentences that come without tags, and in the same model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.parsers import scheme
from arborescence.parsers.features import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.parsers.features import Sides
    from arborescence.parsers.tagger import Tagger
    from arborescence.treebank import Sentence

_HEADER: Final = "tagger"
_ARRAYS: Final = "tagger/"


def tagged(
    sentences: list[Sentence], sides: Sides, known_tags: NDArray[np.uint64], tagger: Tagger | None
) -> tuple[list[Sentence], Batch]:
    """Hash the words of some sentences, of which those without UPOS are tagged first."""
    batch = Batch.of(sentences, sides, known_tags)
    if tagger and batch.untagged.any():
        nodes = np.flatnonzero(batch.untagged)
        bare = np.unique(np.searchsorted(batch.starts, nodes, side="right") - 1).tolist()
        sentences = list(sentences)
        for b, sentence in zip(bare, tagger.tag([sentences[b] for b in bare]), strict=True):
            sentences[b] = sentence
        batch = Batch.of(sentences, sides, known_tags)
    return sentences, batch


def pack(tagger: Tagger | None, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Add a tagger, if there is one, to what a model file will hold."""
    if tagger:
        header[_HEADER] = tagger.to_meta()
        arrays |= {_ARRAYS + name: array for name, array in tagger.to_arrays().items()}


def unpack(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Tagger | None:
    """Return the tagger that a model file holds, if there is one; ModelError if it is amiss."""
    if _HEADER not in header:
        return None
    from arborescence.parsers.tagger import Tagger

    return Tagger.from_arrays(scheme.part(arrays, _ARRAYS), header[_HEADER])
