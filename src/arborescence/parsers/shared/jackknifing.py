"""Jackknifing: the sentences of a treebank, treated by what has learned from the others.

The treebank is dealt into folds, and each fold is left to what has learned from the rest, so that
it gets the mistakes that new text will get. Parsers have long learned from jackknifed tags (for
instance Zhang and Nivre 2011), and rerankers from jackknifed lists of trees (Charniak and Johnson
2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from arborescence.parsers.tagger.tagger import Tagger

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.parsers.shared.base import Progress
    from arborescence.treebank import Sentence

Item = TypeVar("Item")


def jackknife(
    items: Sequence[Item], folds: int, seed: int
) -> Iterator[tuple[list[Item], list[Item]]]:
    """Deal items into folds; yield each fold, and all other items.

    >>> for part, rest in jackknife("abcde", folds=2, seed=1):
    ...     print(sorted(part), sorted(rest))
    ['a', 'b', 'e'] ['c', 'd']
    ['c', 'd'] ['a', 'b', 'e']
    """
    order = np.random.default_rng(seed).permutation(len(items))
    for chosen in np.array_split(order, folds):
        others = np.setdiff1d(order, chosen)
        yield [items[i] for i in chosen.tolist()], [items[i] for i in others.tolist()]


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
    ValueError
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
    if folds < 2:
        raise ValueError(f"folds must be at least 2, not {folds}")
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
