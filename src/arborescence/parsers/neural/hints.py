"""Hints: what a linear tagger thinks of each word, as an input of the network.

A hint has the most probable tags of a word, with their probabilities. So the network knows where
the linear tagger is not sure. In training, hints come from taggers that have not seen the sentence
(jackknifing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.parsers.tagger.kernels import Guesses
from arborescence.parsers.tagger.retagging import taggers_of_others
from arborescence.parsers.tagger.stages import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.parsers.neural.vocabulary import Vocabulary
    from arborescence.parsers.shared.types import Progress
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.treebank import Sentence

    #: The guesses for the words of a sentence, by column.
    Hints = dict[str, Guesses]


def hints_of(sentences: Sequence[Sentence], tagger: Tagger, vocabulary: Vocabulary) -> list[Hints]:
    """Return the guesses of a tagger for each sentence, by the numbers of the vocabulary.

    A tag that the vocabulary lacks becomes -1.

    Examples
    --------
    >>> from arborescence.parsers.neural.vocabulary import Vocabulary
    >>> from arborescence.parsers.tagger.tagger import Tagger
    >>> from arborescence.treebank import Sentence
    >>> noun = Sentence.from_words(["a", "tree"], upos=["DET", "NOUN"])
    >>> vocabulary = Vocabulary.of([noun], ["form", "upos"])
    >>> [found] = hints_of([noun], Tagger.train([noun]), vocabulary)
    >>> found["upos"].tags
    array([[ 0,  1, -1],
           [ 1,  0, -1]])
    """
    if not sentences:
        return []
    found: list[Hints] = [{} for _ in sentences]
    ends = np.cumsum([len(sentence) for sentence in sentences])[:-1]
    for column, (tags, guesses) in tagger.guess(sentences).items():
        if column not in vocabulary.tags:
            continue
        numbers = {value: number for number, value in enumerate(vocabulary.tags[column].values)}
        known = np.array([*(numbers.get(tag, UNKNOWN) for tag in tags), UNKNOWN])
        of_all = known[guesses.tags], guesses.chances
        parts = (np.split(array, ends) for array in of_all)
        for hints, of_sentence, chances in zip(found, *parts, strict=True):
            hints[column] = Guesses(of_sentence, chances)
    return found


def jackknifed_hints(
    treebank: Sequence[Sentence],
    tagger: Tagger,
    vocabulary: Vocabulary,
    *,
    seed: int,
    progress: Progress | None = None,
) -> list[Hints]:
    """Return the guesses of taggers that have not seen the sentence.

    Parameters
    ----------
    treebank
        Tagged sentences.
    tagger
        Used for a treebank that is too small for jackknifing; others are trained like it.
    vocabulary
        The numbers of tags.
    seed, progress
        As in `retagging.jackknife`.
    """
    found: dict[int, Hints] = {}
    for part, other in taggers_of_others(
        treebank, columns=tagger.columns, seed=seed, progress=progress
    ):
        found |= zip(part, hints_of([treebank[i] for i in part], other, vocabulary), strict=True)
    if not found:
        return hints_of(treebank, tagger, vocabulary)
    return [found[i] for i in range(len(treebank))]
