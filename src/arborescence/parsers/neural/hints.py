"""Hints: a word's most probable tags by a linear tagger, with probabilities, as network inputs."""

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
    """Return a tagger's guesses for each sentence, by numbers of the vocabulary."""
    # -1 if it lacks a tag
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
    """Return guesses of taggers that have not seen the sentence."""
    # With too few sentences they are those of `tagger`
    found: dict[int, Hints] = {}
    for part, other in taggers_of_others(
        treebank, columns=tagger.columns, seed=seed, progress=progress
    ):
        found |= zip(part, hints_of([treebank[i] for i in part], other, vocabulary), strict=True)
    if not found:
        return hints_of(treebank, tagger, vocabulary)
    return [found[i] for i in range(len(treebank))]
