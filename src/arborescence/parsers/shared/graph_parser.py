"""Graph-based parsers."""
# The work on the `Graphs` of a batch, which is the same for every kind of parser.

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arborescence.core.checks import check_count
from arborescence.errors import ModelError
from arborescence.parsers.shared.base import Believed, Options, Parser, annotated
from arborescence.parsers.shared.confidence import (
    edge_probabilities,
    fit_choices,
    fit_temperature,
    softmax,
)
from arborescence.parsers.shared.constrained import best_lists
from arborescence.parsers.shared.given import as_sentences, batches, untagged
from arborescence.parsers.shared.partial_trees import graphs_of
from arborescence.projective.pseudo import MARK, projectivize
from arborescence.treebank.conllu import Ranked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.distribution.arrays import TreeDistribution
    from arborescence.parsers.shared.base import ParseOptions
    from arborescence.parsers.shared.given import Given, Texts
    from arborescence.parsers.shared.graphs import Graphs, Group
    from arborescence.parsers.shared.run import Task
    from arborescence.treebank import Sentence

#: The names of a parser's temperatures, also in model files.
TEMPERATURES: Final = ("temperature", "relation_temperature", "tree_temperature")
#: The entry of a parser's `info` with the number of sentences that temperatures were fitted on.
FITTED: Final = "fitted"


def graph_based(parser: Parser, why: str) -> GraphParser:
    """Return a graph-based parser as it is; ModelError, with the reason `why`, for another one."""
    if isinstance(parser, GraphParser):
        return parser
    if parser.kind == "multilingual":
        why = "this needs a model of one language: name the language, such as multi:de, not auto"
    raise ModelError(why)


class GraphParser(Parser):
    """A parser that weighs the edges of a sentence's graph, and decodes.

    Subclasses define `_trainer` or `train`, `_stored`, `from_file` and `_graphs`.

    Attributes
    ----------
    labels : tuple of str
        The relations that the parser can assign.
    projective : bool or "pseudo"
        Whether the parser's trees are projective.
    temperature, relation_temperature, tree_temperature : float
        The divisors that turn weights into log-probabilities (up to a constant): weights of edges,
        for the marginals of edges; weights of relations; and weights of edges, for the
        probabilities of whole trees.
    """

    temperature: float = 1.0
    relation_temperature: float = 1.0
    tree_temperature: float = 1.0
    info: dict[str, Any]

    @abstractmethod
    def _graphs(self, sentences: list[Sentence], options: Options) -> Graphs:
        """Return the graphs of some sentences; may run in several threads at once."""

    @property
    def _keeps_all_rules(self) -> bool:
        return True

    @property
    def _tags(self) -> bool:
        """Whether the parser finds tags for words without tags."""
        return self.tagger is not None

    def _refuse(self, options: Options, *, kbest: bool = False) -> None:
        """Raise ModelError if the parser cannot do what the options ask for."""

    def _unfiltered(self) -> Self | None:
        """Return a parser that weighs all edges, if this parser leaves out some."""
        return None

    @property
    def probabilistic(self) -> bool:
        """Whether the weights of edges define a distribution over trees: see `distribution`."""
        return True

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weights of all edges of a sentence.

        Parameters
        ----------
        sentence
            A sentence of n words. Missing tags and lemmas are filled in first, as `parse` does.

        Returns
        -------
        scores : (n + 1, n + 1) float32
            ``scores[h, d]`` is the weight of the edge h -> d; column 0 and the diagonal are 0.
            Edges that the parser has pruned are -inf. The tree that `parse` finds is
            ``arborescence.decode(scores)``, or, if the parser is for projective trees,
            ``arborescence.decode(scores, projective=True)``, unless the class says otherwise.
        """
        [scores] = self.scores_of([sentence])
        return scores

    def scores_of(
        self, sentences: Iterable[Sentence | Sequence[str]]
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the `scores` of each sentence; faster than a call for each."""
        return self._tables(sentences, lambda _, group: group.scores)

    def labeled_scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weights of all edges of a sentence with each of their relations.

        Parameters
        ----------
        sentence
            As for `scores`.

        Returns
        -------
        scores : (n + 1, n + 1, L) float32
            ``scores[h, d, l]`` is the weight of the edge h -> d with the relation ``labels[l]``:
            the weight of the edge, plus the weight of this relation, minus the weight of the edge's
            best relation. So the maximum over relations is `scores`, and
            ``arborescence.decode_labeled`` and ``arborescence.decode`` find the same heads.
            Relations that are not allowed are -inf.
            Divided by `temperature`, these are log-probabilities up to a constant for each edge.

        Notes
        -----
        O(L n²) memory, and the time of weighing L relations for n² edges; `parse` weighs them for n
        edges.
        """
        [scores] = self.labeled_scores_of([sentence])
        return scores

    def labeled_scores_of(
        self, sentences: Iterable[Sentence | Sequence[str]]
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the `labeled_scores` of each sentence; faster than a call for each."""
        return self._tables(sentences, lambda graphs, group: graphs.labeled(group))

    def distribution(
        self,
        sentence: Sentence,
        *,
        root: Root = "single",
        projective: bool | None = None,
        keep: bool = False,
    ) -> TreeDistribution:
        """Return the parser's distribution over the trees of a sentence.

        The probability of a tree is proportional to ``exp(weight / temperature)``.

        Parameters
        ----------
        sentence
            As for `scores`.
        root, projective, keep
            As for `parse`.

        Raises
        ------
        ModelError
            If the weights of this parser define no distribution: see `probabilistic`.
        """
        options = Options.of(root=root, projective=projective, confidence=True, keep=keep)
        self._refuse(options)
        if not self.probabilistic:
            raise ModelError(f"a {self.kind} parser defines no distribution over trees")
        [group] = graphs_of(self, [sentence], options).groups
        return self._believed(group, group.scores[0], root)

    def kbest_labeled(
        self,
        given: Given | None = None,
        k: int = 2,
        *,
        texts: Texts | None = None,
        **options: Unpack[ParseOptions],
    ) -> Iterator[Ranked]:
        """Find the k best labeled trees of each sentence by its `labeled_scores`.

        Unlike in `kbest`, two trees may differ in their relations only.

        Parameters
        ----------
        given, k, texts, **options
            As for `kbest`.

        Yields
        ------
        Ranked: a list of Analysis, with `sentence` and `weight`
            As for `kbest`; the weights are sums of `labeled_scores`.

        Raises
        ------
        OptionError, ModelError
            As for `kbest`.
        """
        k = check_count(k)
        find = partial(self._kbest_batch, k=k, labeled=True)
        return map(Ranked, self._in_batches(find, self.split(given, texts=texts), k, **options))

    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        return [trees[0][0] for trees in best_lists(self, sentences, options)]

    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options, *, labeled: bool = False
    ) -> list[list[tuple[Sentence, float]]]:
        return best_lists(self, sentences, options, k, labeled=labeled)

    def _evidence_batch(
        self, sentences: list[Sentence], options: Options
    ) -> list[tuple[Sentence, NDArray[Any]]]:
        if not self.probabilistic:
            return super()._evidence_batch(sentences, options)
        graphs = graphs_of(self, sentences, options)
        heads = graphs.decode()[np.newaxis]
        evidence = [np.empty(0)] * len(sentences)
        for group in graphs.groups:
            marginals = self._marginals(group, options.root)
            for b, nodes, of_sentence in zip(group.numbers, group.sizes(), marginals, strict=True):
                evidence[b] = of_sentence[:nodes, :nodes].copy()
        parsed = [tree for [tree] in self._written(graphs, heads, graphs.label(heads))]
        for tree, scores, start in zip(parsed, evidence, graphs.starts.tolist(), strict=False):
            before, after = heads[0, start : start + len(tree) + 1], tree.tree
            # Lowered edges swap marginals with the lifted ones.
            moved = np.flatnonzero(before != after)
            of_both = scores[[before[moved], after[moved]], moved]
            scores[[after[moved], before[moved]], moved] = of_both
        return list(zip(parsed, evidence, strict=True))

    def _believed(
        self,
        group: Group,
        scores: NDArray[np.float32],
        root: Root,
        temperature: float | None = None,
    ) -> TreeDistribution:
        """Return the distribution over the trees of a group, or of a sentence in it."""
        from arborescence.distribution.arrays import TreeDistribution

        # The quotient is not kept, to save memory for long sentences.
        return TreeDistribution(
            scores / np.float32(temperature or self.temperature),
            group.lengths if scores.ndim == 3 else None,
            root=root,
            projective=group.projective,
        )

    def _marginals(self, group: Group, root: Root) -> NDArray[np.floating[Any]]:
        """Return the probability of each edge, (B, T, T)."""
        return self._believed(group, group.scores, root).marginals()

    def _finished(self, task: Task) -> Self:
        """Fit the temperatures; without dev, keep those of the parser that training began with."""
        start = task.start
        if start is not None and not task.dev:
            for name in TEMPERATURES:
                setattr(self, name, getattr(start, name))
            if FITTED in start.info:
                self.info[FITTED] = start.info[FITTED]
        return super()._finished(task)

    def fit(self, dev: Sequence[Sentence], root: Root) -> None:
        """Fit the temperatures, as training does, and record the number of sentences.

        Parameters
        ----------
        dev
            Sentences with gold trees, which the parser has not learned from.
        root
            The trees of the distribution, as for `parse`.
        """
        words = map(untagged, dev) if self._tags else ()  # both are parsed
        for name, value in self.fitted_temperatures([*words, *dev], root).items():
            setattr(self, name, value)
        self.info = (self.info or {}) | {FITTED: len(dev)}

    def fitted_temperatures(self, dev: Sequence[Sentence], root: Root) -> dict[str, float]:
        """Fit the temperatures on sentences that the parser has not learned from."""
        gold = [sentence.tree for sentence in dev]
        if self.projective == "pseudo":
            gold = list(map(projectivize, gold))
        how: Any = {"root": root, "projective": bool(self.projective)}
        plain = np.array([name.partition(MARK)[0] for name in self.labels])
        scores, weights, right = [], [], []
        for batch in batches(as_sentences(dev)):
            graphs = self._graphs(list(batch), Options(root=root))
            tables = {b: table.copy() for b, _, table in _each(graphs, lambda group: group.scores)}
            scores += [tables[b] for b in range(len(batch))]
            heads = graphs.decode()
            of_edges = graphs.relations(heads)
            if of_edges is None:
                continue
            trees = np.concatenate([sentence.tree for sentence in batch])
            deprels = np.array([name for sentence in batch for name in ("", *sentence.deprels)])
            counted = (heads == trees) & (heads >= 0)
            weights.append(of_edges[counted])
            right.append(plain[weights[-1].argmax(axis=1)] == deprels[counted])
        temperatures = (
            fit_temperature(scores, gold, **how),
            fit_choices(np.concatenate(weights), np.concatenate(right)) if weights else 1.0,
            fit_temperature(scores, gold, **how, whole=True),
        )
        return dict(zip(TEMPERATURES, temperatures, strict=True))

    def _lowers(self, options: Options) -> bool:
        """Tell whether lifted edges of pseudo-projective trees are moved back."""
        return self.projective == "pseudo" and options.projective is None

    def _written(
        self,
        graphs: Graphs,
        heads: NDArray[np.int64],
        labels: NDArray[np.int64],
        *,
        lower: bool = True,
    ) -> list[list[Sentence]]:
        """Return copies with each of K trees (K, N), and probabilities if wanted.

        `lower` tells whether to move lifted edges back.
        """
        options = graphs.options
        believed = self._probabilities(graphs, heads, labels) if options.confidence else None
        pseudo = self.projective == "pseudo"
        return annotated(
            graphs.completed(),
            graphs.starts,
            heads,
            labels,
            graphs.labels,
            lower=(lower and self._lowers(options)) if pseudo else None,
            believed=believed,
        )

    def _probabilities(
        self, graphs: Graphs, heads: NDArray[np.int64], labels: NDArray[np.int64]
    ) -> Believed:
        """Return the probabilities of K trees (K, N), of their edges and of their relations."""
        root, edges = graphs.options.root, np.ones(heads.shape)
        trees = np.zeros((len(heads), len(graphs.sentences))) if self.probabilistic else None
        for group in graphs.groups:
            trees_of_group = group.take(heads)
            group.put(edge_probabilities(self._marginals(group, root), trees_of_group), edges)
            if trees is not None:
                whole = self._believed(group, group.scores, root, self.tree_temperature)
                trees[:, group.numbers] = np.exp(whole.log_prob(trees_of_group, errors="-inf")).T
        relations = np.ones(heads.shape)
        for row, numbers, shares in zip(heads, labels, relations, strict=True):
            weights = graphs.relations(row)
            if weights is None:
                return Believed(edges, None, trees)
            known = np.flatnonzero((row >= 0) & (numbers >= 0))
            likely = softmax(weights[known] / np.float32(self.relation_temperature))
            shares[known] = likely[np.arange(len(known)), numbers[known]]
        return Believed(edges, relations, trees)

    def _tables(
        self,
        sentences: Iterable[Sentence | Sequence[str]],
        table_of: Callable[[Graphs, Any], NDArray[np.float32]],
    ) -> Iterator[NDArray[np.float32]]:
        """Yield a table of each sentence, (n + 1, n + 1, ...), with 0 where there is no edge."""
        for batch in batches(as_sentences(sentences)):
            graphs = self._graphs(batch, Options())
            tables = [np.empty(0, dtype=np.float32)] * len(batch)
            for b, _, table in _each(graphs, partial(table_of, graphs)):
                tables[b] = np.ascontiguousarray(table)
                tables[b][:, 0] = 0
                tables[b][np.arange(len(table)), np.arange(len(table))] = 0
            yield from tables


def _each(
    graphs: Graphs, table_of: Callable[[Any], NDArray[np.float32]]
) -> Iterator[tuple[int, bool, NDArray[np.float32]]]:
    """Yield each sentence's number, whether its trees are projective, and its part of a table."""
    for group in graphs.groups:
        rows = zip(group.numbers.tolist(), group.sizes(), table_of(group), strict=True)
        for b, nodes, table in rows:
            yield b, group.projective, table[:nodes, :nodes]
