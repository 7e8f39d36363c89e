"""Search in treebanks: the matches of a pattern, sentence by sentence, and counts of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.errors import OptionError, TreebankError
from arborescence.treebank.columns import Columns, columns_of
from arborescence.treebank.patterns.matching import Matcher
from arborescence.treebank.patterns.pattern import ANY, parse

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from arborescence.treebank.sentence import Sentence


class Match(NamedTuple):
    """A place in a treebank where a pattern matches.

    Attributes
    ----------
    sentence : Sentence
        The sentence.
    words : dict of str to int
        The number of the word, from 1, of each node of the pattern that has a name.
    """

    sentence: Sentence
    words: dict[str, int]


def search(
    treebank: str | os.PathLike[str] | Iterable[Sentence],
    pattern: str,
    *,
    least: float | None = None,
) -> Iterator[Match]:
    """Find the matches of a pattern in trees.

    Parameters
    ----------
    treebank
        A CoNLL-U file, a folder of such files, or sentences.
    pattern
        The pattern, in Grew's notation (Guillaume 2021), which ``arborescence search --help``
        lists. Left out are ``global``, ``delta``, ``length``, enhanced dependencies, empty nodes,
        lexicons, and rules that rewrite.
    least
        The least probability of the edges of a match's words (``EdgeProb`` in MISC).

    Yields
    ------
    Match
        The matches, in the order of the sentences and of the words.

    Raises
    ------
    OptionError
        If the pattern cannot be read.
    TreebankError
        If a sentence is broken, or lacks probabilities: the message names file and line.
    TreeError
        If the pattern has ``->>``, and a word is in or below a cycle: the message names the place.

    Notes
    -----
    The cost is linear in the number of words and of partial matches. A part of a megabyte is
    matched at a time, so memory does not grow with the treebank.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> sentence = Sentence.from_words(
    ...     ["Dogs", "chase", "cats"], upos=["NOUN", "VERB", "NOUN"],
    ...     heads=[2, 0, 2], deprels=["nsubj", "root", "obj"],
    ... )
    >>> [match] = search([sentence], "V [upos=VERB]; V -[obj]-> O")
    >>> match.words, match.sentence.forms[match.words["O"] - 1]
    ({'V': 2, 'O': 3}, 'cats')
    """
    for part in parts(treebank, Matcher(parse(pattern)), least):
        yield from matches(part)


def count(
    treebank: str | os.PathLike[str] | Iterable[Sentence],
    pattern: str,
    keys: Sequence[str],
    *,
    least: float | None = None,
) -> Counter[tuple[str, ...]]:
    """Count the matches of a pattern by features of its words.

    Parameters
    ----------
    treebank, pattern, least
        As for `search`.
    keys
        The features that group the matches: ``NODE.feature``, such as ``"S.lemma"``, or
        ``EDGE.label``.

    Returns
    -------
    Counter
        How many matches have each combination of values; ``"_"`` stands for no value.

    Raises
    ------
    OptionError, TreebankError, TreeError
        As `search`; OptionError also if a key names no node or edge of the pattern.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> sentence = Sentence.from_words(
    ...     ["Dogs", "chase", "cats"], upos=["NOUN", "VERB", "NOUN"],
    ...     heads=[2, 0, 2], deprels=["nsubj", "root", "obj"],
    ... )
    >>> count([sentence], "e: V -> N; N [upos=NOUN]", ["e.label"])
    Counter({('nsubj',): 1, ('obj',): 1})
    """
    return counted(treebank, Matcher(parse(pattern)), keys, least)


def counted(
    treebank: str | os.PathLike[str] | Iterable[Sentence],
    matcher: Matcher,
    keys: Sequence[str],
    least: float | None = None,
) -> Counter[tuple[str, ...]]:
    """Count the matches of a pattern that was read before: see `count`."""
    counts: Counter[tuple[str, ...]] = Counter()
    places = [_place(matcher, key) for key in keys]
    for columns, words, _ in parts(treebank, matcher, least):
        values = [matcher.texts(columns, feature, words[:, at]) for at, feature in places]
        counts.update(zip(*values, strict=True))
    return counts


class Found(NamedTuple):
    """The matches in a part of a treebank."""

    #: the part
    columns: Columns
    #: int64 (matches, nodes): the word of each node, as an index among all words of the part
    words: npt.NDArray[np.int64]
    #: the matcher that found the matches
    matcher: Matcher

    @property
    def named(self) -> dict[str, int]:
        """The column in `words` of each node with a name."""
        names = enumerate(self.matcher.names)
        return {name: at for at, name in names if not name.startswith(ANY)}

    @property
    def sentences(self) -> npt.NDArray[np.int64]:
        """The number of the sentence of each match."""
        return self.columns.offsets.searchsorted(self.words[:, 0], side="right") - 1


def parts(
    treebank: str | os.PathLike[str] | Iterable[Sentence], matcher: Matcher, least: float | None
) -> Iterator[Found]:
    """Yield the matches of each part of a treebank that has any: see `search`."""
    for columns in columns_of(treebank):
        words = matcher.matches(columns)
        if least is not None:
            words = words[(_edge_probs(columns, words, matcher) >= least).all(axis=1)]
        if len(words):
            yield Found(columns, words, matcher)


def _edge_probs(
    columns: Columns, rows: npt.NDArray[np.int64], matcher: Matcher
) -> npt.NDArray[np.float64]:
    """Return the probabilities of the edges of the words of matches."""
    values, words = matcher.texts(columns, "EdgeProb", rows.ravel()), rows.ravel().tolist()
    try:
        return np.array(values, dtype=np.float64).reshape(rows.shape)
    except ValueError:
        word = next(w for w, value in zip(words, values, strict=True) if not _is_number(value))
        raise TreebankError(
            f"{columns.describe(word)} has no probability EdgeProb=... in MISC; parse with "
            "--confidence"
        ) from None


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def matches(part: Found) -> Iterator[Match]:
    """Yield matches with their sentences."""
    columns, named = part.columns, part.named.items()
    before, sentence = -1, None
    for number, row in zip(part.sentences.tolist(), part.words.tolist(), strict=True):
        if number != before or sentence is None:
            before, sentence = number, columns.sentence(number)
        first = int(columns.offsets[number]) - 1
        yield Match(sentence, {name: row[at] - first for name, at in named})


def _place(matcher: Matcher, key: str) -> tuple[int, str]:
    """Find the node and the feature that a key names."""
    node, dot, feature = key.partition(".")
    edges = {edge.name: edge for edge in matcher.pattern.demanded.edges if edge.name}
    if dot and node in edges and feature == "label":
        return matcher.names.index(edges[node].dependent), "deprel"
    if not dot or node not in matcher.names:
        known = [f"{name}.lemma" for name in matcher.names if not name.startswith("*")]
        known += [f"{name}.label" for name in edges]
        raise OptionError(f"count by {key!r}: the pattern has no such node; try {', '.join(known)}")
    return matcher.names.index(node), feature
