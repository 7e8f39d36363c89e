"""The input of an explanation: a sentence's present edges with exact scores, and its words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.core.faults import bad_score
from arborescence.core.graph import as_graph, matrix_of
from arborescence.errors import OptionError, ScoresError, printable
from arborescence.explaining.steps import Names, Node, Pair, Step, edge_name, edges_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

#: The largest number of words: nobody reads the steps of longer sentences.
MOST_WORDS = 30


@dataclass(frozen=True)
class ScoredSentence:
    """The graph of a sentence."""

    #: the number of words
    n: int
    #: the score of each present edge (h, d), exactly
    scores: dict[Pair, Fraction]
    #: the names of the nodes 0 to n, and perhaps of edges
    words: Names

    def without(self, edges: Collection[Pair]) -> ScoredSentence:
        """Return the graph without some edges."""
        remaining = {edge: score for edge, score in self.scores.items() if edge not in edges}
        return ScoredSentence(self.n, remaining, self.words)

    def weight(self, heads: Sequence[int | None]) -> Fraction:
        """Return the exact weight of a tree."""
        return sum((self.scores[edge] for edge in edges_of(heads)), Fraction(0))

    def step(self, kind: str, text: str, **parts: Any) -> Step:
        """Return a step over the original nodes."""
        parts.setdefault("nodes", tuple(map(Node, range(self.n + 1))))
        return Step(kind, text, self.words, **parts)

    def edge(self, edge: Pair) -> str:
        """Return an edge as text."""
        return edge_name(edge, self.words)

    def edges(self, edges: Sequence[Pair]) -> str:
        """Return edges as text."""
        return edges_name(edges, self.words)

    def in_order(self, edges: Iterable[Pair]) -> list[Pair]:
        """Return edges in the order of their names; edges without a name by head and dependent."""
        places = {edge: place for place, edge in enumerate(self.words.edges)}
        return sorted(edges, key=lambda edge: (places.get(edge, len(places)), edge))

    def listed(self, words: Iterable[int]) -> str:
        """Return words as text: ``a, b and c``."""
        return listed([self.words[word] for word in words])


def edges_of(heads: Sequence[int | None]) -> list[Pair]:
    """Return the known edges (h, d) of a head vector."""
    return [(h, d) for d, h in enumerate(heads) if d > 0 and h is not None]


def listed(names: Sequence[str]) -> str:
    """Return names as text: ``a, b and c``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def counted(count: int, what: str) -> str:
    """Return a count and its noun: ``1 edge``, ``2 edges``."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def counted_with_verb(count: int, what: str) -> str:
    """Return a count, its noun and its verb: ``1 edge is``, ``2 edges are``."""
    return f"{counted(count, what)} {'is' if count == 1 else 'are'}"


def number(value: Fraction) -> float:
    """Return an exact number, rounded once; infinite if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def problem_of(
    scores: Any, words: Sequence[str] | None, edges: Mapping[Pair, str] | None = None
) -> ScoredSentence:
    """Check a sentence's scores, and make them exact; ScoresError, or OptionError for `words`."""
    graph = as_graph(scores)
    if graph.shape:
        raise ScoresError(
            f"scores of shape {(*graph.shape, *graph.scores.shape[-2:])} are a batch: explain "
            "takes one sentence, (N, N) with N = words + 1"
        )
    matrix = matrix_of(graph, 0)
    n = len(matrix) - 1
    if n > MOST_WORDS:
        raise ScoresError(
            f"the scores are for {n} words, and explain takes at most {MOST_WORDS}: nobody reads "
            "longer lists of steps; decode takes any number"
        )
    exact = {}
    for (h, d), score in np.ndenumerate(matrix):
        if d == 0 or h == d or score == -np.inf:
            continue
        if not score < np.inf:
            raise bad_score(graph, 0)
        exact[h, d] = Fraction(float(score))
    return ScoredSentence(n, exact, Names(("root", *_names(n, words)), _named(exact, edges)))


def _named(present: Collection[Pair], edges: Mapping[Pair, str] | None) -> dict[Pair, str]:
    """Check the names of edges."""
    named = {}
    for edge, name in (edges or {}).items():
        if edge not in present:
            raise OptionError(f"edges has a name for {edge!r}, which is no edge (head, dependent)")
        if not isinstance(name, str) or not printable(name):
            raise OptionError(f"edges[{edge!r}] must be a name, not {name!r}")
        named[edge] = printable(name)
    if len(set(named.values())) < len(named):
        raise OptionError("edges has the same name for two edges")
    return named


def _names(n: int, words: Sequence[str] | None) -> list[str]:
    """Return a name for each word; words that occur more than once get their number."""
    if words is None:
        return [str(d) for d in range(1, n + 1)]
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise OptionError("words must be a list of strings, one for each word without the root")
    if len(words) != n:
        raise OptionError(
            f"there are {len(words)} words, and scores for {n} words, the root not counted"
        )
    names = [printable(word) or "_" for word in words]
    return [
        f"{name}({d})" if names.count(name) > 1 or name == "root" else name
        for d, name in enumerate(names, 1)
    ]
