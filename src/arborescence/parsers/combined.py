"""Parser combination by reparsing: the best tree by summed edge scores (Sagae and Lavie 2006)."""

from __future__ import annotations

import operator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from arborescence.core.tree import is_projective
from arborescence.errors import ModelError, OptionError
from arborescence.parsers import registry
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.base import Parser
from arborescence.parsers.shared.graph_parser import GraphParser
from arborescence.parsers.shared.graphs import Graphs, Group, with_relations
from arborescence.parsers.shared.run import about
from arborescence.projective.pseudo import MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence

_PARSER: Final = "parser/"
_MOST: Final = 64  # the most parsers in a file
_FIELDS: Final = {
    "parsers": scheme.list_of(scheme.MAPPING, 1, _MOST),
    "weights": scheme.list_of(scheme.real(1 / scheme.LARGEST, scheme.LARGEST), 1, _MOST),
}


class CombinedParser(GraphParser):
    """A parser that combines several parsers: it finds the tree with the highest sum of scores.

    Each parser scores each edge: a graph-based parser by its marginal, any other parser by 0.4 for
    each edge of its own tree. `scores` are the sums of the parsers' scores, each times the parser's
    weight. The tree with the highest sum is decoded exactly. By default it may be non-projective
    only if at least one parser's tree of the sentence is.

    The relation of an edge is chosen by a weighted vote of the parsers whose trees have the edge,
    or of all parsers if no tree has the edge. The first parser fills in missing tags.

    Created from parsers, by `train`, or by `arborescence.load`.

    Attributes
    ----------
    parsers : tuple of Parser
        The combined parsers.
    weights : tuple of float
        The factor of each parser's scores.
    labels : tuple of str
        The relations of all parsers.
    info : dict
        The `info` of each parser, as a list under ``"parsers"``.

    Examples
    --------
    >>> import arborescence as arb
    >>> from arborescence.parsers import LinearParser, TransitionParser
    >>> words = [["She", "sees", "cats"], ["He", "hears", "dogs"], ["She", "hears", "cats"]]
    >>> *treebank, new = arb.load("english-fast").parse(words)
    >>> graph_based = LinearParser.train(treebank, epochs=3)
    >>> transition_based = TransitionParser.train(treebank, epochs=3)
    >>> both = CombinedParser([graph_based, transition_based])
    >>> [parsed] = both.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([2, 0, 2]), ['nsubj', 'root', 'obj'])
    """

    kind: ClassVar[str] = "combined"

    def __init__(self, parsers: Iterable[Parser], weights: Iterable[float] | None = None) -> None:
        """Combine parsers.

        Parameters
        ----------
        parsers
            One or more parsers.
        weights
            A positive number for each parser; 1 if not given.
        """
        self.parsers = tuple(parsers)
        numbers = [1] * len(self.parsers) if weights is None else weights
        self.weights = tuple(map(float, numbers))
        named = (name for parser in self.parsers for name in parser.labels)
        self.labels = tuple(dict.fromkeys(name.partition(MARK)[0] for name in named))
        self.text = next((parser.text for parser in self.parsers if parser.text), None)
        self.tagger = next((parser.tagger for parser in self.parsers if parser.tagger), None)
        self.rules = self._own_rules()
        self.info = {"parsers": [getattr(parser, "info", {}) for parser in self.parsers]}
        if not self.parsers:
            raise OptionError("there must be at least one parser")
        if len(self.weights) != len(self.parsers):
            raise OptionError(
                f"there are {len(self.parsers)} parsers, but {len(self.weights)} weights: give one "
                "weight for each parser"
            )
        if not all(0 < weight < np.inf for weight in self.weights):
            raise OptionError(f"weights must be positive numbers, not {list(self.weights)}")

    @classmethod
    def train(  # type: ignore[override]  # this kind has no settings, but parsers
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        make_parsers: Sequence[Callable[..., Parser]] | None = None,
        weights: Iterable[float] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Train several parsers on the same treebank, one after the other.

        Parameters
        ----------
        treebank, dev, progress
            As for every `Parser`. Without `dev`, the probabilities of a graph-based parser are not
            calibrated.
        make_parsers
            Functions that train one parser each, called as
            ``make_parser(sentences, dev=dev, progress=progress)``; use `functools.partial` for
            settings. Default: a `LinearParser`, and a `TransitionParser` with swap and a beam of 8.
        weights
            A positive number for each parser; 1 if not given.
        """
        if make_parsers is None:
            swap = partial(registry.parser_class("transition").train, system="swap", beam=8)
            make_parsers = (registry.parser_class("linear").train, swap)
        treebank, dev = list(treebank), list(dev or ())
        parsers = []
        for number, make in enumerate(make_parsers, 1):
            say = about(progress, f"parser {number} of {len(make_parsers)}")
            parsers.append(make(treebank, dev=dev, progress=say))
        return cls(parsers, weights)

    @property
    def _keeps_all_rules(self) -> bool:
        return any(parser.rules == "ud" for parser in self.parsers)

    def to(self, device: str | None) -> Self:
        """Choose the device that runs the networks of the neural parsers."""
        neural = [parser for parser in self.parsers if type(parser).to is not Parser.to]
        if not neural:
            return super().to(device)
        for parser in neural:
            parser.to(device)
        return self

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of the header that this kind of parser has, and the arrays."""
        headers, arrays = zip(*(parser.to_file() for parser in self.parsers), strict=True)
        prefixed = {f"{_PARSER}{number}/": each for number, each in enumerate(arrays)}
        return {"weights": self.weights, "parsers": headers}, scheme.joined(prefixed)

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from the header and arrays of a model file; ModelError if invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        parsers = [
            registry.from_file(of_parser, scheme.part(arrays, f"{_PARSER}{number}/"))
            for number, of_parser in enumerate(fields["parsers"])
        ]
        try:
            return cls(parsers, fields["weights"])
        except ValueError as error:
            raise ModelError(str(error)) from error

    @property
    def probabilistic(self) -> bool:
        """Always False: the weights of edges are sums of probabilities."""
        return False

    def _graphs(self, sentences: list[Sentence], options: Options) -> CombinedGraphs:
        return CombinedGraphs(self, sentences, options)

    def _marginals(self, group: Group, _: Root) -> NDArray[np.floating[Any]]:
        """Return the share of each edge in the sum of the scores of all edges into its word."""
        shares = np.zeros_like(group.scores)
        sums = group.scores[:, :, 1:].sum(axis=1, keepdims=True)
        np.divide(group.scores[:, :, 1:], sums, out=shares[:, :, 1:])
        return shares


class CombinedGraphs(Graphs):
    """The graphs of sentences, weighed by the scores of P parsers."""

    def __init__(self, parser: CombinedParser, sentences: list[Sentence], options: Options) -> None:
        # False becomes None, so that parsers that find only projective trees can take part, too.
        wanted = options._replace(
            projective=options.projective or None, confidence=False, rules=None, keep=False
        )
        answers = [each._evidence_batch(sentences, wanted) for each in parser.parsers]
        numbers = {label: number for number, label in enumerate(parser.labels)}
        #: For each sentence, the trees of the parsers, (P, n + 1) int64; then their relations.
        self._trees_of: list[NDArray[np.int64]] = []
        self._relations_of: list[NDArray[np.int64]] = []
        self._scores_of: list[NDArray[np.float32]] = []
        for of_sentence in zip(*answers, strict=True):
            trees, evidence = zip(*of_sentence, strict=True)
            relations = [
                [-1, *(numbers.setdefault(name, len(numbers)) for name in tree.deprels)]
                for tree in trees
            ]
            scores = sum(map(operator.mul, parser.weights, evidence))
            self._trees_of.append(np.array([tree.tree for tree in trees]))
            self._relations_of.append(np.array(relations))
            self._scores_of.append(np.asarray(scores, dtype=np.float32))
        super().__init__([tree for tree, _ in answers[0]], list(numbers), options)
        self._weights = parser.weights

    def part(self, numbers: NDArray[np.int64]) -> Self:
        """Return the graphs of some of the sentences, with the same weights."""
        graphs = super().part(numbers)
        graphs._trees_of = [self._trees_of[b] for b in numbers]
        graphs._relations_of = [self._relations_of[b] for b in numbers]
        return graphs

    def _groups(self) -> Iterator[Group]:
        wanted = self.options.projective
        alike: dict[tuple[int, bool], list[int]] = {}
        for b, trees in enumerate(self._trees_of):
            projective = bool(is_projective(trees).all()) if wanted is None else wanted
            alike.setdefault((trees.shape[1], projective), []).append(b)
        for (_, projective), numbers in alike.items():
            scores = np.stack([self._scores_of[b] for b in numbers])
            yield Group(np.array(numbers), self.starts[numbers], scores, None, projective)

    def label(self, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Choose the relations of given trees by votes; at a tie, the first parser's vote counts.

        If no parser has an edge, all parsers vote for the word's relation in their trees. If the
        word is the root word in only one of the two trees, they vote for the relation of the root
        word in the other tree.
        """
        labels = np.full(heads.shape, -1)
        for b, (start, stop) in enumerate(pairwise(self.starts.tolist())):
            for tree, of_tree in zip(heads[:, start:stop], labels[:, start:stop], strict=True):
                if tree[-1] >= 0:
                    of_tree[1:] = self._vote(b, tree)
        return labels

    def _vote(self, b: int, heads: NDArray[np.int64]) -> list[int]:
        root = _root(heads)
        agree = self._trees_of[b] == heads
        may_vote = (agree | ~agree.any(axis=0))[:, 1:].tolist()
        votes: list[dict[int, float]] = [{} for _ in heads[1:]]
        for tree, relations, weight, of_parser in zip(
            self._trees_of[b], self._relations_of[b], self._weights, may_vote, strict=True
        ):
            swapped = {_root(tree): root, root: _root(tree)}
            for word, (counts, of_word) in enumerate(zip(of_parser, votes, strict=True), 1):
                if counts:
                    relation = int(relations[swapped.get(word, word)])
                    of_word[relation] = of_word.get(relation, 0) + weight
        return [max(of_word, key=of_word.__getitem__) for of_word in votes]

    def weighed(
        self, group: Group, row: int, heads: NDArray[np.int64], words: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the weights of edges with each relation, by votes as in `label`.

        On an edge that no parser has, a parser does not vote if the dependent is its root word,
        unless the head is the root.
        """
        edges, b = group.scores[row], group.numbers[row]
        votes = np.zeros((*edges.shape, len(self.labels)), dtype=np.float32)
        every = np.arange(1, len(edges))
        trees, relations = self._trees_of[b], self._relations_of[b]
        voted = np.zeros(edges.shape, dtype=bool)
        for tree, of_tree, weight in zip(trees, relations, self._weights, strict=True):
            votes[tree[1:], every, of_tree[1:]] += weight
            voted[tree[1:], every] = True
        for tree, of_tree, weight in zip(trees, relations, self._weights, strict=True):
            as_root = np.zeros_like(voted)
            as_root[0] = as_root[:, [0, _root(tree)]] = True
            others, words_of = np.nonzero(~voted & ~as_root)
            votes[others, words_of, of_tree[words_of]] += np.float32(weight)
            open_words = every[~voted[0, 1:]]
            votes[0, open_words, of_tree[_root(tree)]] += np.float32(weight)
        return with_relations(edges[heads, words], votes[heads, words])


def _root(heads: NDArray[np.int64]) -> int:
    """Return the first word whose head is the root."""
    return int(np.argmax(heads == 0))
