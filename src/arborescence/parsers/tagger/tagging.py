"""Fill in missing tags and lemmas before parsing, with the models in the parser's file."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.core.checks import check_count
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.features import Batch
from arborescence.parsers.shared.training_trees import folds_of
from arborescence.parsers.tagger.tagger import Tagger
from arborescence.parsers.text.model import Text
from arborescence.treebank.joined import Joined
from arborescence.treebank.sentence import LEMMA, UPOS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.parsers.shared.features import Sides
    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.shared.reading import Reading
    from arborescence.treebank import Sentence


def annotated(
    sentences: list[Sentence],
    sides: Sides,
    known_tags: NDArray[np.uint64],
    tagger: Tagger | None,
    text: Text | None,
    reading: Reading,
    confidence: bool = False,
) -> tuple[list[Sentence], Batch]:
    """Fill in missing UPOS and lemmas, then hash the words of the sentences."""
    given = sentences
    sentences = reading.sentences(given)
    filled, batch = _annotated(sentences, sides, known_tags, tagger, text, confidence)
    return reading.restored(filled, sentences, given), batch


def _annotated(
    sentences: list[Sentence],
    sides: Sides,
    known_tags: NDArray[np.uint64],
    tagger: Tagger | None,
    text: Text | None,
    confidence: bool,
) -> tuple[list[Sentence], Batch]:
    joined, sentences = Joined.of(sentences), list(sentences)
    if tagger:
        untagged = np.logical_or.reduceat(joined.is_blank(UPOS), joined.offsets[:-1])
        bare = np.flatnonzero(untagged).tolist()
        tagged = tagger.tag([sentences[b] for b in bare], confidence=confidence)
        for b, sentence in zip(bare, tagged, strict=True):
            sentences[b] = sentence
    if text and text.lemmatizer:
        bare = np.flatnonzero(~joined.is_given(LEMMA)).tolist()
        lemmatized = text.lemmatizer.lemmatize([sentences[b] for b in bare], overwrite=True)
        for b, sentence in zip(bare, lemmatized, strict=True):
            sentences[b] = sentence
    return sentences, Batch.of(sentences, sides, known_tags)


def pack(
    tagger: Tagger | None,
    text: Text | None,
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> None:
    """Add the tagger and the raw-text models, if any, to the header and arrays of a model file."""
    for name, model in (("text", text), ("tagger", tagger)):
        if model:
            header[name], of_model = model.to_file()
            arrays |= scheme.joined({f"{name}/": of_model})


def unpack(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the tagger and the raw-text models that `pack` has added, or None for each."""
    kinds: dict[str, type[Tagger | Text]] = {"tagger": Tagger, "text": Text}
    return {
        name: kind.from_file(header[name], scheme.part(arrays, f"{name}/"))
        if name in header
        else None
        for name, kind in kinds.items()
    }


def jackknife(
    treebank: Sequence[Sentence],
    *,
    folds: int = 5,
    columns: Sequence[str] = ("upos", "xpos", "feats"),
    epochs: int = 8,
    rng: Rng = 1,
    progress: Progress | None = None,
) -> list[Sentence]:
    """Replace the tags of each sentence by the tags of a tagger that was not trained on it.

    A parser that is trained on the treebank and on this copy can handle both gold and predicted
    tags. Jackknifing takes `folds` - 1 times as long as training one `Tagger`.

    Parameters
    ----------
    treebank
        Tagged sentences.
    folds
        The number of parts of the treebank, which is the number of taggers to train.
    columns, epochs, progress
        As for `Tagger.train`. Columns without any values stay empty.
    rng
        A seed or a generator, for the split into folds and the order of training.

    Returns
    -------
    treebank : list of Sentence
        The same sentences in the same order. Empty if there are fewer sentences than folds.

    Raises
    ------
    OptionError, TreebankError
        As for `Tagger.train`; OptionError also if `folds` is less than 2.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> noun = Sentence.from_words(["a", "saw"], upos=["DET", "NOUN"])
    >>> verb = Sentence.from_words(["I", "saw"], upos=["PRON", "VERB"])
    >>> treebank = [noun] * 6 + [verb]  # "I" is new to the tagger of the last sentence
    >>> jackknife(treebank, folds=7, columns=["upos"])[-1].upos
    ['DET', 'NOUN']
    """
    result = list(treebank)
    taggers = taggers_of_others(
        treebank, folds=folds, columns=columns, epochs=epochs, rng=rng, progress=progress
    )
    for part, tagger in taggers:
        predicted = tagger.tag([treebank[i] for i in part], overwrite=True)
        for i, sentence in zip(part, predicted, strict=True):
            result[i] = sentence
    return result if len(treebank) >= folds else []


def taggers_of_others(
    treebank: Sequence[Sentence],
    *,
    folds: int = 5,
    rng: Rng = 1,
    progress: Progress | None = None,
    **settings: Any,
) -> Iterator[tuple[list[int], Tagger]]:
    """Yield each fold's sentence numbers, and a tagger of the others; nothing if too few."""
    check_count(folds, "folds", 2)
    if len(treebank) < folds:
        return
    # A copy in another spelling must be in the same fold: else a tagger has seen the sentence.
    alike: dict[str, list[int]] = {}
    for number, sentence in enumerate(treebank):
        letters = "".join(filter(str.isalnum, "".join(sentence.forms).lower()))
        alike.setdefault(letters or f"{number} ", []).append(number)
    groups = list(alike.values())
    if len(groups) < folds:
        groups = [[number] for number in range(len(treebank))]
    numbered = folds_of(groups, folds, rng)
    for fold, (chosen, others) in enumerate(numbered):
        part, rest = (sorted(chain.from_iterable(each)) for each in (chosen, others))

        def say(_: str, done: int, total: int, before: int = fold) -> None:
            if progress:
                progress("jackknifing", before * total + done, folds * total)

        tagger = Tagger.train([treebank[i] for i in rest], rng=rng, progress=say, **settings)
        yield part, tagger
