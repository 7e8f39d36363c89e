"""The wrong sentences of a parser beside the gold trees, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.drawing.gallery import GalleryEntry, Picture, gallery
from arborescence.drawing.svg import Marks
from arborescence.treebank.alignment import aligned_pieces
from arborescence.treebank.columns import Numbering, columns_of
from arborescence.treebank.comparison import compare
from arborescence.treebank.sentence import DEPREL
from arborescence.treebank.tally import base

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from arborescence.treebank.columns import Integers
    from arborescence.treebank.comparison import Compared
    from arborescence.treebank.details import Mask
    from arborescence.treebank.sentence import Sentence


class Wrong(NamedTuple):
    """A gold sentence with an edge that the parser did not find.

    Attributes
    ----------
    gold : Sentence
        The gold sentence.
    parsed : list of Sentence
        The parser's sentences with the same words: one, or more if it split the text differently.
    missed : list of int
        The words of the gold sentence whose head or relation is wrong, from 1.
    other : list of list of int
        The wrong words of each sentence in `parsed`, from 1.
    relations : list of str
        The relations of the wrong words, in the gold tree and in the parser's trees.
    """

    gold: Sentence
    parsed: list[Sentence]
    missed: list[int]
    other: list[list[int]]
    relations: list[str]


def wrong_sentences(
    gold: str | os.PathLike[str] | Iterable[Sentence],
    predicted: str | os.PathLike[str] | Iterable[Sentence],
    *,
    punctuation: bool = True,
) -> Iterator[Wrong]:
    """Find the sentences in which a parser's edges are wrong.

    Parameters
    ----------
    gold, predicted, punctuation
        As for `evaluate`.

    Yields
    ------
    Wrong
        The sentences in the order of the gold treebank.

    Raises
    ------
    TreebankError
        As from `evaluate`.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> gold = Sentence.from_words(["Trees", "grow"], heads=[2, 0], deprels=["nsubj", "root"])
    >>> [wrong] = wrong_sentences([gold], [gold.replace(deprels=["obj", "root"])])
    >>> wrong.missed, wrong.relations
    ([1], ['nsubj', 'obj'])
    """
    relations = Numbering(DEPREL, base)
    for ours, theirs in aligned_pieces(columns_of(gold), columns_of(predicted)):
        yield from _wrong_in(compare(ours, theirs, relations), relations, punctuation)


def _wrong_in(compared: Compared, relations: Numbering, punctuation: bool) -> Iterator[Wrong]:
    """Yield the wrong sentences of a part of the text."""
    ours, theirs = compared.ours, compared.theirs
    missed, other = np.ones(len(ours.spans), np.bool_), np.ones(len(theirs.spans), np.bool_)
    missed[compared.g[compared.labelled]] = other[compared.p[compared.labelled]] = False
    names = [*relations.names]
    if not punctuation:
        punct = relations.names.get("punct", -1)
        missed &= compared.gold.relations != punct
        other[compared.p] &= compared.gold.relations[compared.g] != punct
    (starts, ends), (first, last) = ours.sentence_spans, theirs.sentence_spans
    for number in range(len(ours)):
        words = _words(missed, ours.offsets, number)
        if not words.size:
            continue
        # the parser's sentences that share text with this gold sentence
        begin = int(np.searchsorted(last, starts[number], side="right"))
        end = int(np.searchsorted(first, ends[number], side="left"))
        others = [_words(other, theirs.offsets, each) for each in range(begin, end)]
        present = {*compared.gold.relations[words].tolist()}
        present.update(*(compared.predicted.relations[place].tolist() for place in others))
        yield Wrong(
            ours.sentence(number),
            [theirs.sentence(each) for each in range(begin, end)],
            (words - ours.offsets[number] + 1).tolist(),
            [
                (place - theirs.offsets[each] + 1).tolist()
                for each, place in zip(range(begin, end), others, strict=True)
            ],
            sorted(names[relation] for relation in present),
        )


def _words(mask: Mask, offsets: Integers, sentence: int) -> Integers:
    """Return the words of a sentence where a mask is true, as indices among all words."""
    start, stop = offsets[sentence : sentence + 2]
    words: Integers = start + np.flatnonzero(mask[start:stop])
    return words


def errors_html(
    gold: str | os.PathLike[str] | Iterable[Sentence],
    predicted: str | os.PathLike[str] | Iterable[Sentence],
    *,
    punctuation: bool = True,
) -> Iterator[str]:
    """Write the wrong sentences of a parser as a page: the gold tree above the parsed tree.

    Edges that differ are coloured. A menu chooses sentences by the relations of these edges.

    Parameters
    ----------
    gold, predicted, punctuation
        As for `evaluate`.

    Yields
    ------
    str
        The parts of a complete HTML file.

    Raises
    ------
    TreebankError
        As from `evaluate`.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> gold = Sentence.from_words(["Trees", "grow"], heads=[2, 0], deprels=["nsubj", "root"])
    >>> "".join(errors_html([gold], [gold.replace(deprels=["obj", "root"])])).count("<svg")
    2
    """
    intro = [
        "Above: the tree of the treebank. Edges that the parser did not find are green.",
        "Below: the tree of the parser. Its wrong edges are red.",
        "The text has marks at the words of these edges. Click on its trees to see them.",
        "The keys j and k move to the next and the previous sentence.",
    ]
    wrong = wrong_sentences(gold, predicted, punctuation=punctuation)
    return gallery("Wrong sentences", intro, map(_entry, wrong))


def _entry(wrong: Wrong) -> GalleryEntry:
    sentence = wrong.gold
    place = f"{sentence.source}:{sentence.line}" if sentence.source else ""
    count = len(wrong.missed)
    differing = f"{count} of {len(sentence)} edges differ"
    pictures = [Picture(sentence, Marks((), wrong.missed), f"gold: {count} not found", "right")]
    pictures += [
        Picture(parsed, Marks((), words), f"parsed: {len(words)} wrong", "wrong")
        for parsed, words in zip(wrong.parsed, wrong.other, strict=True)
    ]
    text = " · ".join(filter(None, (differing, sentence.sent_id, place)))
    return GalleryEntry(text, pictures, wrong.relations, words=wrong.missed)
