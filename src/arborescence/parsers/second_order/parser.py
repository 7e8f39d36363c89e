"""A second-order graph-based parser with a linear model, decoded by dual decomposition.

The edges that the filter keeps are scored as by the linear parser; siblings and grandparents have
scores, too (Carreras 2007; Koo et al. 2010; Martins et al. 2013).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from arborescence import second_order
from arborescence.errors import ModelError
from arborescence.parsers.linear.graphs import LinearGraphs
from arborescence.parsers.linear.parser import LinearParser
from arborescence.parsers.linear.pruning import keep_edges
from arborescence.parsers.linear.training import EdgeRun
from arborescence.parsers.second_order.parts import (
    MORE,
    WIDE,
    PartModel,
    list_features,
    list_parts,
    rounded,
    score_parts,
)
from arborescence.parsers.second_order.settings import Settings
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.base import Options
from arborescence.parsers.shared.run import Weights
from arborescence.second_order.decoding import decode, decode_listed
from arborescence.second_order.parts import tree_weight
from arborescence.system.lazy import recalled, remember, remembered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.inference.parts import Decoded, Decoder, Lazy
    from arborescence.parsers.linear.training import Gold, LearnedEdges
    from arborescence.parsers.shared.graphs import Group
    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.shared.run import ParserRun, Task
    from arborescence.treebank import Sentence

#: The largest number of rounds of dual decomposition for a training sentence.
_LEARNING_ROUNDS: Final = 50


class Trainer(EdgeRun):
    """A training run of a second-order parser."""

    kind = "second-order"
    more_templates = MORE

    def __init__(self, task: Task) -> None:
        super().__init__(task._replace(settings=task.settings.of_edges))
        self._add_edges("edges")
        table = self._add_weights("parts", ((1 << self._settings.bits) // WIDE, WIDE))
        self._parts = PartModel(self._templates["parts"], table)

    def _prepare(self, progress: Progress) -> None:
        super()._prepare(progress)
        assert self._pruning is not None  # noqa: S101 - settings.prune
        self._kept = keep_edges(self._batch, self._pruning, False)

    def _learn_edges(self, gold: Gold, edges: LearnedEdges, scores: NDArray[np.float32]) -> None:
        """Decode, and update the weights if the best tree is wrong."""
        heads = gold.heads
        words = np.arange(1, len(heads))
        kept = rounded(self._only_kept(gold, scores))
        siblings, grandparents = score_parts(gold.batch, 0, self._parts, 1.0, kept)
        if self._settings.loss == "mira":  # each wrong head costs 1
            kept += 1
            kept[heads[1:], words] -= 1
        best = decode(
            kept, siblings, grandparents, root=self._settings.root, rounds=_LEARNING_ROUNDS
        )
        if (best.heads == heads).all():
            return
        of_gold = tree_weight(kept, heads, siblings, grandparents)
        rows = len(self._parts.weights)
        of_right, of_best = (
            list_features(gold.batch, self._parts.templates, rows, tree)
            for tree in (heads, best.heads)
        )
        numbers, places = np.unique(np.concatenate([of_right, of_best]), return_inverse=True)
        signs = np.repeat([1.0, -1.0], [len(of_right), len(of_best)])
        difference = np.bincount(places, signs)
        loss = float(best.weight - of_gold)
        size = float(np.square(difference).sum())
        step = self._update_edges(gold, edges, best.heads, loss, size)
        change = (step * difference).astype(np.float32)
        self._parts.weights.reshape(-1)[numbers] += change
        self._sums["parts"].reshape(-1)[numbers] += change * np.float32(self._clock)

    def _only_kept(self, gold: Gold, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the scores of kept edges and of gold edges; -inf for all other edges."""
        firsts, kept = self._kept
        start, stop = gold.batch.starts.tolist()
        counts = np.diff(firsts[start : stop + 1])
        heads = kept[firsts[start] : firsts[stop]]
        words = np.repeat(np.arange(stop - start), counts)
        out = np.full_like(scores, -np.inf)
        out[heads, words] = scores[heads, words]
        words = np.arange(1, stop - start)
        out[gold.heads[1:], words] = scores[gold.heads[1:], words]
        return out


_FIELDS: Final = {"parts_unit": scheme.UNIT}
_ARRAYS: Final = {"parts": scheme.weights("2^parts", WIDE)}
# With some branchings, few rounds certify more sentences than many rounds alone:
# docs/second-order.md.
_ROUNDS: Final = 60
_BRANCHES: Final = 20


class SecondOrderGraphs(LinearGraphs):
    """The graphs of sentences whose edges, siblings and grandparents have weights."""

    _parser: SecondOrderParser

    def decode(self) -> NDArray[np.int64]:
        """Return the best tree that was found for each sentence, in a row: (N,)."""
        return np.concatenate([tree.heads for tree in self.decoded])

    def part(self, numbers: NDArray[np.int64]) -> Self:
        """Return the graphs of some of the sentences."""
        graphs = super().part(numbers)
        if recalled(graphs, "decoded") is not None:
            remember(graphs, "decoded", [self.decoded[b] for b in numbers])
        return graphs

    def trees(self, groups: Iterable[Group]) -> Iterator[NDArray[np.int64]]:
        """Yield the trees that were found for each group, (B, T)."""
        for group in groups:
            yield np.stack([self.decoded[b].heads for b in group.numbers])

    def searched(self, scores: Lazy, group: Group, row: int) -> tuple[NDArray[np.float64], Decoder]:
        """Return a sentence's first-order weights, and a decoder that adds the second order.

        The decoder adds siblings and grandparents to given first-order weights: an edge weighs less
        if its best relation is forbidden.
        """
        return rounded(scores.table()), self._decoder(group, row)

    def _decoder(self, group: Group, row: int) -> Decoder:
        """Return a decoder of one sentence, which adds the second order."""
        b = group.numbers[row]
        alone = self.part(np.array([b]))
        best: Any = rounded(alone.groups[0].scores[0])
        weights, unit = self._parser.weights["parts"]
        model = PartModel(self._parser.templates["parts"], weights)
        if self._projective:
            parts = score_parts(self._batch, b, model, unit, best)

            def find(edges: NDArray[np.float64]) -> second_order.Decoding:
                how: Any = {"root": self.options.root, "projective": True}
                return second_order.decode(edges, *parts, **how)

        else:
            single = self.options.root == "single"
            listed, ends = list_parts(alone._batch, alone.kept("edges"), model, unit, single)
            heads = np.repeat(np.arange(len(listed.firsts) - 1) // 2, np.diff(listed.firsts))
            places = heads, listed.modifiers
            # A root edge's score in the list includes the score of its missing sibling.
            beyond = listed.scores - best[places]

            def find(edges: NDArray[np.float64]) -> second_order.Decoding:
                scores: Any = edges[places] + beyond
                of_edges = listed._replace(scores=scores)
                how: Any = {"single": single, "rounds": _ROUNDS, "branches": _BRANCHES}
                return decode_listed(of_edges, ends, **how)[0]

        def decoder(edges: NDArray[np.float64]) -> Decoded:
            tree = find(edges)
            if tree.weight == -np.inf:
                return None, 0.0, tree.bound
            own = edges[tree.heads[1:], np.arange(1, len(edges))].sum()
            return tree.heads, tree.weight - own, tree.bound - tree.weight

        return decoder

    @property
    @remembered
    def decoded(self) -> list[second_order.Decoding]:
        """The tree of each sentence, with its weight and the bound that certifies it."""
        table, unit = self._parser.weights["parts"]
        model = PartModel(self._parser.templates["parts"], table)
        root, batch = self.options.root, self._batch
        if not self._projective:
            single = root == "single"
            listed, ends = list_parts(batch, self.kept("edges"), model, unit, single)
            return decode_listed(listed, ends, single=single, rounds=_ROUNDS, branches=_BRANCHES)
        decoded: list[Any] = [None] * len(self.sentences)
        for group in self.groups:
            for b, scores in zip(group.numbers.tolist(), group.scores, strict=True):
                edges = rounded(scores)
                parts = score_parts(batch, b, model, unit, edges)
                decoded[b] = second_order.decode(edges, *parts, root=root, projective=True)
        return decoded


class SecondOrderParser(LinearParser):
    """A parser that scores edges, siblings and grandparents by linear functions of features.

    Created by `train`, or by `arborescence.load`. The parser finds the best tree, or a tree close
    to the best, by `arborescence.second_order.decode`. It has no k-best lists and no confidence.
    The attributes are those of `LinearParser`.

    Examples
    --------
    >>> import arborescence as arb
    >>> words = [["She", "sees", "cats"], ["He", "hears", "dogs"], ["She", "hears", "cats"]]
    >>> *treebank, new = arb.load("english-fast").parse(words)
    >>> parser = SecondOrderParser.train(treebank * 3, epochs=5)
    >>> [parsed] = parser.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([2, 0, 2]), ['nsubj', 'root', 'obj'])
    >>> parser.decode(parsed).exact
    True
    """

    kind: ClassVar[str] = "second-order"
    settings_class: ClassVar[type[Any]] = Settings
    more_templates = MORE

    @classmethod
    def _trainer(cls, task: Task) -> ParserRun:
        return Trainer(task)

    def decode(self, sentence: Sentence, *, root: Root = "single") -> second_order.Decoding:
        """Return the tree of a sentence, with its weight and the bound that certifies it.

        Parameters
        ----------
        sentence
            A sentence without UPOS is tagged first if there is a tagger.
        root
            As for `parse`.
        """
        [tree] = self._graphs([sentence], Options(root=root)).decoded
        return tree

    @property
    def probabilistic(self) -> bool:
        """Always False: the weights of edges alone do not define the distribution."""
        return False

    def _refuse(self, options: Options, *, kbest: bool = False) -> None:
        if kbest or options.confidence:
            missing = "k-best lists" if kbest else "confidence"
            raise ModelError(
                f"a second-order parser has no {missing}, only the best tree: use a linear parser"
            )

    def _graphs(self, sentences: list[Sentence], options: Options) -> SecondOrderGraphs:
        return SecondOrderGraphs(self, *self._prepare(sentences), options)

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of the header that this kind of parser has, and the arrays."""
        header, arrays = super()._stored()
        table, header["parts_unit"] = self.weights["parts"]
        return header, arrays | {"parts": table}

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from the header and arrays of a model file; ModelError if invalid."""
        parser = super().from_file(header, arrays)
        if parser.pruning is None:
            raise ModelError("pruning is null, but second-order parsers need a filter")
        unit = scheme.fields_of(header, _FIELDS)["parts_unit"]
        table = scheme.arrays_of(arrays, _ARRAYS, {})["parts"]
        parser.weights = {**parser.weights, "parts": Weights(table, unit)}
        return parser
