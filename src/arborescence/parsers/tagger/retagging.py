"""Replace the gold tags of a treebank by predicted tags, by jackknifing (cross-validation)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.core.checks import check_count
from arborescence.parsers.shared.jackknifing import folds_of
from arborescence.parsers.tagger.tagger import Tagger

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.parsers.shared.types import Progress
    from arborescence.treebank import Sentence


def jackknife(
    treebank: Sequence[Sentence],
    *,
    folds: int = 5,
    columns: Sequence[str] = ("upos", "xpos", "feats"),
    epochs: int = 8,
    seed: int = 1,
    progress: Progress | None = None,
) -> list[Sentence]:
    """Replace the tags of each sentence by those of a tagger that was not trained on it.

    A parser that is trained on the treebank and on this copy can handle both gold and predicted
    tags.

    Parameters
    ----------
    treebank
        Tagged sentences.
    folds
        The number of parts the treebank is split into, which is the number of taggers trained.
    columns
        The columns to predict. Columns without any values stay empty.
    epochs
        The number of training epochs of each stage of a tagger.
    seed
        Seed for the split into folds and for the order of training.
    progress
        Called as ``progress(phase, done, total)``.

    Returns
    -------
    treebank : list of Sentence
        The same sentences in the same order. Empty if there are fewer sentences than folds.

    Raises
    ------
    OptionError
        If `folds` is less than 2, or a column cannot be predicted.
    TreebankError
        If there are no tags to learn from.

    Notes
    -----
    Takes `folds` - 1 times as long as training one `Tagger` with the same number of epochs.

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
        treebank, folds=folds, columns=columns, epochs=epochs, seed=seed, progress=progress
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
    seed: int = 1,
    progress: Progress | None = None,
    **how: Any,
) -> Iterator[tuple[list[int], Tagger]]:
    """Yield each fold's sentence numbers, and a tagger of the others; none for fewer than folds."""
    check_count(folds, "folds", 2)
    if len(treebank) < folds:
        return
    numbers = range(len(treebank))
    for fold, (part, rest) in enumerate(folds_of(numbers, folds, seed)):

        def say(_: str, done: int, total: int, before: int = fold) -> None:
            if progress:
                progress("jackknifing", before * total + done, folds * total)

        tagger = Tagger.train([treebank[i] for i in rest], seed=seed, progress=say, **how)
        yield part, tagger
