"""The next sentences, or words, to annotate: those about which a parser has most doubt."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, get_args

import numpy as np

from arborescence.core.choices import check_choice
from arborescence.errors import NoTreeError
from arborescence.parsers.shared.confidence import edge_probs
from arborescence.parsers.shared.contradictions import contradiction
from arborescence.parsers.shared.graph_parser import GraphParser, graph_based
from arborescence.parsers.shared.options import Doubt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from arborescence.distribution.arrays import TreeDistribution
    from arborescence.parsers.shared.base import Parser
    from arborescence.treebank import Sentence

_COMMITTEE: Final = 10  # the number of best trees whose heads are compared


class Doubtful(NamedTuple):
    """A sentence or a word about which a parser has doubt."""

    #: The doubt; 0 is no doubt.
    value: float
    #: The given sentence.
    sentence: Sentence
    #: The number of the word; 0 for a whole sentence.
    word: int = 0
    #: The most probable head of the word; -1 for a whole sentence.
    head: int = -1
    #: The second most probable head; -1 if there is no other head, and for a whole sentence.
    other: int = -1
    #: The probabilities of both heads; 0 for a whole sentence.
    shares: tuple[float, float] = (0.0, 0.0)

    def __str__(self) -> str:
        forms = ["ROOT", *self.sentence.forms]
        place = f"{self.value:.4f}  {self.sentence.source}:{self.sentence.line}  "
        text = " ".join(forms[1:])
        if not self.word:
            return place + text
        readings = ", ".join(
            f"{forms[head]} ({head}) {share:.2f}"
            for head, share in zip((self.head, self.other), self.shares, strict=True)
            if head >= 0
        )
        return f"{place}{forms[self.word]} ({self.word}): {readings}  |  {text}"


def rank(
    parser: Parser,
    sentences: Iterable[Sentence],
    *,
    by: Doubt = "loss",
    words: bool = False,
    budget: int | None = None,
) -> list[Doubtful]:
    """Return the sentences, or their words, in the order in which a person should check them.

    Given heads are kept: they are certain, and reduce the doubt about other heads.

    Parameters
    ----------
    parser
        A graph-based parser with probabilities.
    sentences
        Any number of sentences, with some heads or none; sentences with all heads are left out.
    by
        The doubt about a sentence: ``"loss"``, the expected share of wrong heads; ``"entropy"`` of
        its trees, divided by the number of words; ``"margin"``: 1 / (1 + d), where d is the
        difference between the log-probabilities of the two best trees; or ``"disagreement"``: the
        share of heads in the 10 best trees that differ from the heads of the best tree.
    words
        Whether to rank the words of all sentences instead: by the probability that the most
        probable head is wrong.
    budget
        The number of words that a person can check; by default all. The sentence that exceeds the
        budget is the last.

    Returns
    -------
    list of Doubtful
        The largest doubt first.

    Raises
    ------
    OptionError, ModelError, TreebankError
        If `by` has another value; the parser has no probabilities; or no tree has the given heads.

    Examples
    --------
    >>> import arborescence as arb
    >>> from arborescence.treebank import Sentence
    >>> texts = ["We saw the girl with the telescope .", "Birds sing ."]
    >>> sentences = [Sentence.from_words(text.split()) for text in texts]
    >>> [first] = rank(arb.load("english-fast"), sentences, words=True, budget=1)
    >>> first.sentence.forms[first.word - 1]
    'telescope'
    """
    check_choice("by", by, get_args(Doubt))
    parser = graph_based(parser, "only graph-based parsers have probabilities, for a ranking")
    ranked: list[Doubtful] = []
    for sentence in sentences:
        if (sentence.heads < 0).any():
            distribution, marginals = _believed(parser, sentence)
            if words:
                ranked += _words(sentence, marginals)
            else:
                ranked.append(Doubtful(_doubt(distribution, marginals, by), sentence))
    return _first(ranked, words, budget)


def rank_written(
    sentences: Iterable[Sentence], *, words: bool = False, budget: int | None = None
) -> list[Doubtful]:
    """Return sentences, or their words, in the order of the probabilities that stand in MISC.

    The doubt about a word is the probability that its edge or its relation is wrong; the doubt
    about a sentence is the mean over its words. A word with ``Corrected=Yes`` is sure.

    Parameters
    ----------
    sentences
        Sentences with EdgeProb of each word in MISC, as `parse` and `Harmonizer.convert` write it,
        and perhaps with RelationProb.
    words, budget
        As in `rank`.

    Returns
    -------
    list of Doubtful
        The largest doubt first; sure words are left out.

    Raises
    ------
    TreebankError
        If a word has no such probability.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> misc = ["EdgeProb=0.5", "EdgeProb=0.98"]
    >>> given = Sentence.from_words(["Trees", "grow"], heads=[2, 0], misc=misc)
    >>> [(each.word, each.value) for each in rank_written([given], words=True, budget=1)]
    [(1, 0.5)]
    """
    ranked: list[Doubtful] = []
    for sentence in sentences:
        edges, misc = edge_probs(sentence), sentence.misc
        with_relations = all("RelationProb=" in entry for entry in misc)
        relations = edge_probs(sentence, "RelationProb") if with_relations else [1.0] * len(misc)
        doubts = [
            0.0 if "Corrected=Yes" in entry.split("|") else 1 - edge * relation
            for edge, relation, entry in zip(edges, relations, misc, strict=True)
        ]
        if not words:
            ranked.append(Doubtful(sum(doubts) / len(doubts), sentence))
            continue
        ranked += [
            Doubtful(doubt, sentence, word, head, -1, (edge, 0.0))
            for word, (doubt, head, edge) in enumerate(
                zip(doubts, sentence.heads.tolist(), edges, strict=True), 1
            )
            if doubt > 0
        ]
    return _first(ranked, words, budget)


def _first(doubtful: list[Doubtful], words: bool, budget: int | None) -> list[Doubtful]:
    """Return the items that a person should check, the largest doubt first."""
    doubtful.sort(key=lambda each: -each.value)
    sizes = np.cumsum([1 if words else len(each.sentence) for each in doubtful])
    return doubtful if budget is None else doubtful[: int(np.searchsorted(sizes, budget)) + 1]


def _believed(
    parser: GraphParser, sentence: Sentence
) -> tuple[TreeDistribution, NDArray[np.float64]]:
    """Return the distribution over the trees of a sentence, and the marginals of edges."""
    for projective in (None, False):  # given heads may cross
        with suppress(NoTreeError):
            distribution = parser.distribution(sentence, projective=projective, keep=True)
            return distribution, distribution.marginals()
    raise contradiction(sentence, single=True)


def _words(sentence: Sentence, marginals: NDArray[np.float64]) -> list[Doubtful]:
    """Return each word of a sentence without a given head, with its two most probable heads."""
    order = np.argsort(-marginals, axis=0, kind="stable")[:2]
    shares = np.take_along_axis(marginals, order, axis=0)
    return [
        Doubtful(
            max(1 - float(shares[0, word]), 0.0),
            sentence,
            word,
            int(order[0, word]),
            int(order[1, word]) if shares[1, word] > 0 else -1,
            (float(shares[0, word]), float(shares[1, word])),
        )
        for word in range(1, len(sentence) + 1)
        if sentence.tree[word] < 0
    ]


def _doubt(distribution: TreeDistribution, marginals: NDArray[np.float64], by: Doubt) -> float:
    """Return the doubt about a sentence."""
    words = len(marginals) - 1
    if by == "entropy":
        return float(distribution.entropy()) / words
    if by == "loss":
        heads = distribution.argmax()
        return 1 - float(marginals[heads[1:], np.arange(1, words + 1)].mean())
    if by == "disagreement":
        trees = np.asarray(distribution.kbest(_COMMITTEE)[0])
        return 1 - float((trees[:, 1:] == trees[0, 1:]).mean())
    chances = np.asarray(distribution.kbest(2)[1])
    return 1 / (1 + float(chances[0] - chances[1])) if len(chances) > 1 else 0.0
