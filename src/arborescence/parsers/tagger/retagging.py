"""Retagging: a treebank with the tags that new text will get, by jackknifing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.core.graph import check_count
from arborescence.parsers.shared.jackknifing import jackknife
from arborescence.parsers.tagger.tagger import Tagger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.parsers.shared.base import Progress
    from arborescence.treebank import Sentence


def retagged(
    treebank: Sequence[Sentence],
    *,
    folds: int = 5,
    columns: Sequence[str] = ("upos", "xpos", "feats"),
    epochs: int = 8,
    seed: int = 1,
    progress: Progress | None = None,
) -> list[Sentence]:
    """Replace the tags of each sentence by those of a tagger that has not seen it.

    A parser that learns from a treebank and from this copy of it is ready for tags that are right,
    and for tags that are predicted.

    Parameters
    ----------
    treebank
        Tagged sentences.
    folds
        How many parts they are dealt into, and so how many taggers are trained.
    columns
        What is tagged anew; columns without any values stay empty.
    epochs
        How often each stage of a tagger goes over its part of the treebank.
    seed
        Deals the folds, and fixes the order in which the taggers learn.
    progress
        Called as ``progress(phase, done, total)``.

    Returns
    -------
    treebank : list of Sentence
        The same sentences in the same order; none, if there are fewer of them than folds.

    Raises
    ------
    OptionError
        If `folds` is less than 2, or a column cannot be predicted.
    TreebankError
        If there are no tags to learn from.

    Notes
    -----
    The time is that of training a `Tagger` with as many epochs, times `folds` - 1.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> noun = Sentence.from_words(["a", "saw"], upos=["DET", "NOUN"])
    >>> verb = Sentence.from_words(["I", "saw"], upos=["PRON", "VERB"])
    >>> treebank = [noun] * 6 + [verb]  # "I" is new to the tagger of the last sentence
    >>> retagged(treebank, folds=7, columns=["upos"])[-1].upos
    ['DET', 'NOUN']
    """
    check_count(folds, "folds", 2)
    if len(treebank) < folds:
        return []
    result = list(treebank)
    numbers = range(len(treebank))
    for fold, (part, rest) in enumerate(jackknife(numbers, folds, seed)):

        def say(_: str, done: int, total: int, before: int = fold) -> None:
            if progress:
                progress("jackknifing", before * total + done, folds * total)

        tagger = Tagger.train(
            [treebank[i] for i in rest], columns=columns, epochs=epochs, seed=seed, progress=say
        )
        predicted = tagger.tag([treebank[i] for i in part], overwrite=True)
        for i, sentence in zip(part, predicted, strict=True):
            result[i] = sentence
    return result
