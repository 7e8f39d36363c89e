"""Fill in missing tags and lemmas before parsing, with the models in the parser's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.features import Batch
from arborescence.parsers.tagger.tagger import Tagger
from arborescence.parsers.text.model import Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.parsers.shared.features import Sides
    from arborescence.treebank import Sentence


def annotated(
    sentences: list[Sentence],
    sides: Sides,
    known_tags: NDArray[np.uint64],
    tagger: Tagger | None,
    text: Text | None,
) -> tuple[list[Sentence], Batch]:
    """Fill in missing UPOS and lemmas, then hash the words of the sentences."""
    batch = Batch.of(sentences, sides, known_tags)
    given = sentences
    if tagger and batch.untagged.any():
        nodes = np.flatnonzero(batch.untagged)
        owners = np.searchsorted(batch.starts, nodes, side="right") - 1
        bare = np.flatnonzero(np.bincount(owners)).tolist()
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
    """Add the tagger and the raw-text models, where given, to the content of a model file."""
    for name, model in (("text", text), ("tagger", tagger)):
        if model:
            header[name], of_model = model.to_file()
            arrays |= scheme.joined({f"{name}/": of_model})


def unpack(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the tagger and the raw-text models of a model file, None if it has none."""
    # see `pack`
    kinds: dict[str, type[Tagger | Text]] = {"tagger": Tagger, "text": Text}
    return {
        name: kind.from_file(header[name], scheme.part(arrays, f"{name}/"))
        if name in header
        else None
        for name, kind in kinds.items()
    }
