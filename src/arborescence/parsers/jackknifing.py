"""Jackknifing: the sentences of a treebank, treated by what has learned from the others.

The treebank is dealt into folds, and each fold is left to what has learned from the rest, so that
it gets the mistakes that new text will get. Parsers have long learned from jackknifed tags (for
instance Zhang and Nivre 2011), and rerankers from jackknifed lists of trees (Charniak and Johnson
2005).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from arborescence.parsers.tagger import Tagger

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.parsers.base import Progress
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
    folds: int = 4,
    tagged: int = 2,
    columns: Sequence[str] = ("upos", "xpos", "feats"),
    epochs: int = 4,
    seed: int = 1,
    progress: Progress | None = None,
) -> list[Sentence]:
    """Replace the tags of some folds of a treebank by those of taggers that have not seen them.

    A parser that learns from the result is ready for tags that are right, and for tags that a
    tagger has predicted.

    Parameters
    ----------
    treebank
        Tagged sentences.
    folds
        How many parts they are dealt into.
    tagged
        How many of these parts get new tags, and so how many taggers are trained: by default, half
        of the sentences.
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
        The same sentences in the same order. With fewer sentences than folds, nothing is changed.

    Raises
    ------
    ValueError
        If not 1 <= `tagged` <= `folds`, or `folds` is less than 2, or a column cannot be predicted.
    TreebankError
        If there are no tags to learn from.

    Notes
    -----
    The time is that of training a `Tagger`, times `tagged` (`folds` - 1) / `folds`.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> noun = Sentence.from_words(["a", "saw"], upos=["DET", "NOUN"])
    >>> verb = Sentence.from_words(["I", "saw"], upos=["PRON", "VERB"])
    >>> treebank = [noun] * 6 + [verb]  # "I" is new to the tagger of the last sentence
    >>> retagged(treebank, folds=7, tagged=7, columns=["upos"])[-1].upos
    ['DET', 'NOUN']
    """
    if not 1 <= tagged <= folds or folds < 2:
        raise ValueError(f"tagged must be 1 to folds, and folds at least 2: {tagged} of {folds}")
    result = list(treebank)
    if len(result) < folds:
        return result
    numbers = range(len(result))
    for fold, (part, rest) in enumerate(islice(jackknife(numbers, folds, seed), tagged)):

        def say(_: str, done: int, total: int, before: int = fold) -> None:
            if progress:
                progress("jackknifing", before * total + done, tagged * total)

        tagger = Tagger.train(
            [treebank[i] for i in rest], columns=columns, epochs=epochs, seed=seed, progress=say
        )
        predicted = tagger.tag([treebank[i] for i in part], overwrite=True)
        for i, sentence in zip(part, predicted, strict=True):
            result[i] = sentence
    return result
