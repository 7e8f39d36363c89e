"""What else is inside a parser, and in the same model file: a tagger, and what raw text needs.

Sentences that come without tags are tagged, and those without lemmas get some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.features import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.parsers.shared.features import Sides
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence

_HEADER: Final = "tagger"
_ARRAYS: Final = "tagger/"
_TEXT: Final = "text"
_TEXT_ARRAYS: Final = "text/"


def annotated(
    sentences: list[Sentence],
    sides: Sides,
    known_tags: NDArray[np.uint64],
    tagger: Tagger | None,
    text: Text | None,
) -> tuple[list[Sentence], Batch]:
    """Hash the words of some sentences; first, UPOS and lemmas that are missing are filled in."""
    batch = Batch.of(sentences, sides, known_tags)
    given = sentences
    if tagger and batch.untagged.any():
        nodes = np.flatnonzero(batch.untagged)
        bare = np.unique(np.searchsorted(batch.starts, nodes, side="right") - 1).tolist()
        sentences = list(sentences)
        for b, sentence in zip(bare, tagger.tag([sentences[b] for b in bare]), strict=True):
            sentences[b] = sentence
    if text and text.lemmatizer:
        bare = np.flatnonzero(~batch.lemmatized).tolist()
        if bare:
            found = text.lemmatizer.lemmatize([sentences[b] for b in bare], overwrite=True)
            sentences = list(sentences)
            for b, sentence in zip(bare, found, strict=True):
                sentences[b] = sentence
    return sentences, batch if sentences is given else Batch.of(sentences, sides, known_tags)


def pack(
    tagger: Tagger | None,
    text: Text | None,
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> None:
    """Add a tagger and what raw text needs, if they are there, to what a model file will hold."""
    if text:
        header[_TEXT] = text.to_meta()
        arrays |= {_TEXT_ARRAYS + name: array for name, array in text.to_arrays().items()}
    if tagger:
        header[_HEADER] = tagger.to_meta()
        arrays |= {_ARRAYS + name: array for name, array in tagger.to_arrays().items()}


def unpack(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Tagger | None:
    """Return the tagger that a model file holds, if there is one; ModelError if it is amiss."""
    if _HEADER not in header:
        return None
    from arborescence.parsers.tagger.tagger import Tagger

    return Tagger.from_arrays(scheme.part(arrays, _ARRAYS), header[_HEADER])


def unpack_text(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Text | None:
    """Return what a model file holds for raw text, if anything; ModelError if it is amiss."""
    if _TEXT not in header:
        return None
    from arborescence.parsers.text.model import Text

    return Text.from_arrays(scheme.part(arrays, _TEXT_ARRAYS), header[_TEXT])
