"""The k-best oracle: evaluation of the best among the k analyses of each sentence."""

from __future__ import annotations

import os
from itertools import tee
from typing import TYPE_CHECKING, get_args

import numpy as np

from arborescence.core.checks import check_count
from arborescence.core.choices import Measure, check_choice
from arborescence.errors import TreebankError
from arborescence.treebank.alignment import align
from arborescence.treebank.columns import Columns
from arborescence.treebank.conllu import read
from arborescence.treebank.evaluation import Evaluation, evaluate
from arborescence.treebank.kbest import read_kbest
from arborescence.treebank.numbering import Numbering
from arborescence.treebank.sentence import DEPREL
from arborescence.treebank.tally import Trees, base, counterparts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.treebank.kbest import Analyses
    from arborescence.treebank.sentence import Sentence


def best_of_k(
    gold: str | os.PathLike[str] | Iterable[Sentence],
    kbest: str | os.PathLike[str] | Iterable[Analyses],
    *,
    k: int | None = None,
    by: Measure = "las",
    punctuation: bool = True,
) -> Evaluation:
    """Evaluate the best of the k analyses of each sentence against its gold tree.

    The best analysis of a sentence has the highest number of words with the correct head and
    relation; among several, the highest number of correct heads; among several, the lowest rank.
    With ``by="uas"``, the number of correct heads comes first: the unlabelled oracle of the
    literature. All scores are those of the chosen analyses, one tree for each sentence.

    Parameters
    ----------
    gold
        The path of a CoNLL-U file, or sentences.
    kbest
        The path of a file from `write_kbest`, or for each sentence its analyses with their weights,
        as from `Parser.kbest`. As in `evaluate`, the text must be that of `gold`, but words and
        sentences may be split differently. It is read as a stream.
    k
        Use only the first k analyses of each sentence.
    by
        The score that decides.
    punctuation
        As in `evaluate`.

    Returns
    -------
    Evaluation
        That of the chosen analyses, as in `evaluate`.

    Raises
    ------
    TreebankError
        If the texts differ, naming the first words that do; if a gold word has no head; or if
        `kbest` is not a k-best file, naming file and line.
    OptionError
        If `k` or `by` is invalid.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> words = Sentence.from_words(["Trees", "grow"])
    >>> gold = words.replace(heads=[-1, 2, 0], deprels=["nsubj", "root"])
    >>> wrong = words.replace(heads=[-1, 0, 1], deprels=["root", "acl"])
    >>> analyses = [(wrong, 7.5), (gold, 3.0)]
    >>> best_of_k([gold], [analyses]).las.f1
    1.0
    >>> best_of_k([gold], [analyses], k=1).las.f1
    0.0
    """
    if k is not None:
        k = check_count(k)
    check_choice("by", by, get_args(Measure))
    golds, same_golds = tee(read(gold) if isinstance(gold, (str, os.PathLike)) else gold)
    lists = read_kbest(kbest) if isinstance(kbest, (str, os.PathLike)) else kbest
    chosen = (
        analyses[best]
        for ours, theirs in _stretches(golds, _first(k, lists))
        for analyses, best in zip(theirs, _best(ours, theirs, by, punctuation), strict=True)
    )
    return evaluate(same_golds, chosen, punctuation=punctuation)


def _first(k: int | None, lists: Iterable[Analyses]) -> Iterator[list[Sentence]]:
    for number, analyses in enumerate(lists, 1):
        if not analyses:
            raise TreebankError(f"sentence {number} has no analysis; give each at least one")
        yield [sentence for sentence, _ in analyses[:k]]


def _stretches(
    golds: Iterable[Sentence], lists: Iterable[list[Sentence]]
) -> Iterator[tuple[list[Sentence], list[list[Sentence]]]]:
    """Cut both treebanks where a sentence ends in both: nearly always after each sentence."""
    # If the texts differ, the last piece holds the rest, and `evaluate` raises the error
    lists = iter(lists)
    ours: list[Sentence] = []
    theirs: list[list[Sentence]] = []
    ahead = 0  # the characters in `ours` minus those in `theirs`
    for gold in golds:
        ours.append(gold)
        ahead += _length(gold)
        while ahead > 0 and (analyses := next(lists, None)):
            theirs.append(analyses)
            ahead -= _length(analyses[0])
        if ahead == 0:
            yield ours, theirs
            ours, theirs = [], []
    theirs += lists
    yield ours, theirs


def _length(sentence: Sentence) -> int:
    return Columns.of_sentences([sentence]).characters.size


def _best(
    golds: list[Sentence], lists: list[list[Sentence]], by: str, punctuation: bool
) -> Iterator[int]:
    """Yield the index of the best analysis of each list; 0 if the texts differ."""
    ours = Columns.of_sentences(golds)
    theirs = Columns.of_sentences([analyses[0] for analyses in lists])
    if not np.array_equal(ours.characters, theirs.characters):
        yield from (0 for _ in lists)
        return
    g, p = align(ours, theirs)
    gold_word = counterparts(g, p, len(theirs.spans))
    relation = Numbering(DEPREL, base)
    trees = Trees(ours, relation)
    for start, stop, analyses in zip(theirs.offsets, theirs.offsets[1:], lists, strict=False):
        words = np.flatnonzero(gold_word[start:stop] >= 0)
        gold = gold_word[start + words]
        columns = Columns.of_sentences(analyses)
        relations = relation(columns).reshape(len(analyses), -1)[:, words]
        if not punctuation:
            counted = trees.relations[gold] != relation.names.get("punct", -1)
            words, gold, relations = words[counted], gold[counted], relations[:, counted]
        within = columns.head_vectors().reshape(len(analyses), -1)[:, 1 + words]
        heads = gold_word[np.where(within > 0, start, 0) + within - 1]
        attached = trees.heads[gold] == heads
        labelled = attached & (trees.relations[gold] == relations)
        first, second = (labelled, attached) if by == "las" else (attached, labelled)
        yield int(np.argmax(first.sum(axis=1) * (1 + words.size) + second.sum(axis=1)))
