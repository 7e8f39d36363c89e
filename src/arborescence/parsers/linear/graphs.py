"""The graphs of sentences by a linear model: weights of edges, of relations, and the best trees."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.inference.decode import decode
from arborescence.nonprojective.sparse import decode_sparse
from arborescence.parsers.linear.edges import (
    WIDE,
    EdgeModel,
    EdgeTemplates,
    score_edges,
    score_kept_edges,
)
from arborescence.parsers.linear.joint import add_relations, weigh_edges
from arborescence.parsers.linear.pruning import keep_edges
from arborescence.parsers.shared.features import Sides
from arborescence.parsers.shared.graphs import Graphs, Group
from arborescence.parsers.shared.relations import (
    RelationModel,
    RelationTemplates,
    label_edges,
    weigh_relations,
)
from arborescence.system.lazy import recalled, remember, remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.shared.options import Features
    from arborescence.treebank import Sentence

#: From this number of nodes on, sparse decoding is used. For shorter sentences, decoding a full
#: matrix is faster, even with only three edges for each word.
LONG: Final = 250


class Matrices(NamedTuple):
    """The layout of a batch's score matrices in one array: matrices of equal size are adjacent.

    So few calls of `decode` are needed, and no padding.
    """

    #: (B,): the position of each sentence's matrix.
    places: NDArray[np.int64]
    #: Arrays (G,), one for each length, the shortest first: the sentences of this length.
    groups: list[NDArray[np.int64]]
    #: (B,): the number of nodes of each sentence.
    nodes: NDArray[np.int64]

    @classmethod
    def of(cls, nodes: NDArray[np.int64]) -> Self:
        """Make the layout for sentences of these numbers of nodes."""
        order = np.argsort(nodes, kind="stable")
        ends = np.cumsum(nodes[order] ** 2)
        places = np.empty_like(nodes)
        places[order] = ends - nodes[order] ** 2
        _, firsts = np.unique(nodes[order], return_index=True)
        return cls(places, np.split(order, firsts[1:]), nodes)

    @property
    def size(self) -> int:
        """The length of the array."""
        return int((self.nodes**2).sum())

    def split(
        self, array: NDArray[np.float32]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Return each group of sentences and its part of the array, (G, n + 1, n + 1)."""
        parts = []
        for group in self.groups:
            n = int(self.nodes[group[0]])
            part = array[self.places[group[0]] :][: len(group) * n * n]
            parts.append((group, part.reshape(len(group), n, n)))
        return parts


class KeptEdges(NamedTuple):
    """The scored edges of a batch of sentences, grouped by dependent."""

    #: (B + 1,): ``Batch.starts``: the nodes of each sentence.
    sentences: NDArray[np.int64]
    #: (N + 1,): the edges into node i are ``starts[i]`` to ``starts[i + 1] - 1``.
    starts: NDArray[np.int64]
    #: (E,): the head of each edge, as a node of its sentence.
    heads: NDArray[np.int64]
    #: (E,): the scores of the edges.
    weights: NDArray[np.float32]

    def to_matrices(self, layout: Matrices) -> NDArray[np.float32]:
        """Return the scores as matrices, -inf for other edges, without sentences of 0 nodes."""
        out = np.full(layout.size, -np.inf, dtype=np.float32)
        fill_kernel(self, layout.nodes, layout.places, out)
        return out

    def trees(
        self,
        of_matrices: Callable[[NDArray[np.float32]], NDArray[np.int64]],
        of_edges: Callable[..., NDArray[np.int64]],
    ) -> NDArray[np.int64]:
        """Return the trees of all sentences in a row: (N,).

        `of_matrices` decodes the matrices of sentences of equal length; `of_edges` decodes a
        long sentence.
        """
        heads = np.empty(self.sentences[-1], dtype=np.int64)
        nodes = np.diff(self.sentences)
        layout = Matrices.of(np.where(nodes < LONG, nodes, 0))
        for group, scores in layout.split(self.to_matrices(layout)):
            if scores.size:
                places = self.sentences[group][:, None] + np.arange(scores.shape[-1])
                heads[places] = of_matrices(scores)
        for b in np.flatnonzero(nodes >= LONG).tolist():
            start, stop = self.sentences[b : b + 2].tolist()
            starts = self.starts[start : stop + 1]
            edges = slice(starts[0], starts[-1])
            dependents = np.repeat(np.arange(stop - start), np.diff(starts))
            heads[start:stop] = of_edges(
                stop - start - 1, self.heads[edges], dependents, self.weights[edges]
            )
        return heads


#: `KeptEdges` in signatures of kernels.
KEPT: Final = "parsers.linear.graphs.KeptEdges(int64[::1], int64[::1], int64[::1], float32[::1])"


def with_heads(
    starts: NDArray[np.int64], heads: NDArray[np.int64], only: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Replace all edges into a word by the edge from its head in `only` (N,), unless this is -1."""
    owners = np.repeat(np.arange(len(only)), np.diff(starts))
    free, words = only[owners] < 0, np.flatnonzero(only >= 0)
    owners = np.concatenate([owners[free], words])
    heads = np.concatenate([heads[free], only[words]])
    order = np.lexsort((heads, owners))
    return np.searchsorted(owners[order], np.arange(len(starts))), heads[order]


def both_ways(
    sentences: NDArray[np.int64], starts: NDArray[np.int64], heads: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Add the other direction of kept edges between words.

    Return the starts and heads of all edges as `keep_edges`, and for each edge the index of its
    other direction (of a root edge: its own index).
    """
    count = sentences[-1]
    first = np.repeat(sentences[:-1], np.diff(sentences))  # the root of each node's sentence
    dependents = np.repeat(np.arange(count), np.diff(starts))
    of_words = heads > 0
    heads = heads + first[dependents]
    ends = np.stack((dependents, heads)), np.stack((heads, dependents))[:, of_words]
    edges = np.unique(np.concatenate([d * count + h for d, h in ends]))
    dependents, heads = np.divmod(edges, count)
    own = heads - first[dependents]
    other = np.where(own > 0, heads * count + dependents, edges)
    starts = np.searchsorted(dependents, np.arange(count + 1))
    return starts, own, np.searchsorted(edges, other)


@kernel
@takes(f"{KEPT}, int64[::1], int64[::1], out float32[::1]")
def fill_kernel(kept: KeptEdges, nodes: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """Write kept edges into matrices with the layout of `Matrices`; O(n + E) a sentence."""
    sentences, starts, heads, weights = kept
    for b in range(len(nodes)):
        n = nodes[b]
        for d in range(n):
            out[places[b] + d * n] = 0
            out[places[b] + d * n + d] = 0
            for e in range(starts[sentences[b] + d], starts[sentences[b] + d + 1]):
                out[places[b] + heads[e] * n + d] = weights[e]


def compiled(
    columns: Sequence[str], features: Features, more: Mapping[str, Any]
) -> tuple[Sides, dict[str, Any]]:
    """Compile the templates that use only `columns`, of edges, of relations and of `more` kinds.

    Return the sides that a batch must have, and the compiled templates by name.
    """
    sides: list[str] = []
    directed = EdgeTemplates.of(columns, sides)
    templates = {
        "edges": directed._replace(undirected=features == "undirected"),
        "directed": directed,
        "relations": RelationTemplates.of(columns, sides),
        "joint": RelationTemplates.of(columns, sides, "dh"),
    }
    templates |= {name: kind.of(columns, sides) for name, kind in more.items()}
    return Sides.of(sides), templates


class LinearGraphs(Graphs):
    """The graphs of a batch of sentences, weighed by a linear parser."""

    def __init__(
        self, parser: Any, sentences: list[Sentence], batch: Batch, options: Options
    ) -> None:
        super().__init__(sentences, parser.labels, options)
        self._parser = parser
        self._batch = batch
        wanted = options.projective
        self._projective = bool(parser.projective if wanted is None else wanted)

    def part(self, numbers: NDArray[np.int64]) -> Self:
        """Return the graphs of some of the sentences; edges of a sparse list are weighed again."""
        if recalled(self, "groups") is None and self.heads is None:
            again: Self = self._parser._graphs([self.sentences[b] for b in numbers], self.options)
            return again
        graphs, nodes = super().part(numbers), self.nodes(numbers)
        graphs._batch = self._batch.part(graphs.starts, nodes)
        remember(graphs, "_best", self._best[nodes])
        return graphs

    def _groups(self) -> Iterator[Group]:
        for numbers, scores in self._matrices("edges"):
            yield Group(numbers, self.starts[numbers], scores, None, self._projective)

    def decode(self) -> NDArray[np.int64]:
        """Return the best tree of each sentence, from a list of kept edges if a list suffices."""
        parser = self._parser
        of_matrices = parser.weights.keys() & {"joint", "directed"} or self._projective
        if parser.pruning is None or of_matrices or self.options.confidence:
            heads = super().decode()
        else:
            heads = self.kept("edges").trees(*self._decoders())
        remember(self, "_best", heads)
        return heads

    @property
    @remembered
    def _best(self) -> NDArray[np.int64]:
        """The best trees in a row."""
        return self.decode()

    def _decoders(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Return the decoder of matrices, and the decoder of a list of edges."""
        root = self.options.root
        return partial(decode, root=root), partial(decode_sparse, root=root)

    def label(self, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the relation of each edge of the given trees; features see the whole tree."""
        labels: NDArray[np.int64] = np.zeros(heads.shape, dtype=np.int64)
        model, _, sums = self._relations("relations")
        label_edges(self._batch, model, heads, sums, labels)
        return labels

    def relations(self, heads: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the weights of all relations on the edges of the given trees: (N, L)."""
        weights = np.zeros((len(heads), len(self.labels)), dtype=np.float32)
        model, unit, sums = self._relations("relations")
        weigh_relations(self._batch, model, unit, heads, sums, weights)
        return weights

    def weighed(
        self, group: Group, row: int, heads: NDArray[np.int64], words: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the weights of edges of a sentence with each relation: (E, L).

        Relations are weighed as in `label`, in a tree: the best tree, where the edge replaces the
        dependent's edge. So edges of the best tree get the same relations from both methods.
        """
        scores = np.empty((len(heads), len(self.labels)), dtype=np.float32)
        model, unit, sums = self._relations("relations")
        start = group.firsts[row]
        tree = self._best[start : start + group.size(row)]
        edges = group.scores[row, heads, words]
        weigh_edges(self._batch, model, unit, start, tree, sums, heads, words, edges, scores)
        return scores

    def _matrices(
        self, name: Literal["edges", "directed"]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Return sentences of equal length and their edge weights, with joint scores of relations.

        `name` is the name of the edge weights in the parser.
        """
        layout = Matrices.of(np.diff(self.starts))
        if self._parser.pruning is not None:
            out = self.kept(name).to_matrices(layout)
        else:
            model, unit, sums = self._edges(name)
            out = np.zeros(layout.size, dtype=np.float32)
            score_edges(self._batch, model, sums, out, layout.places)
            out *= np.float32(unit)
        if "joint" in self._parser.weights:
            relations, unit, sums = self._relations("joint")
            best = np.empty(out.shape, dtype=np.int16)
            nothing = np.empty(0, dtype=np.int64)
            add_relations(
                self._batch, relations, unit, nothing, nothing, sums, out, layout.places, best
            )
        return layout.split(out)

    def kept(self, name: str) -> KeptEdges:
        """Prune the edges, and weigh the kept edges; they contain a projective tree if wanted."""
        kept = keep_edges(self._batch, self._parser.pruning, self._projective)
        if self.heads is not None:
            kept = with_heads(*kept, self.heads)
        return self._weighed(name, *kept)

    def _weighed(self, name: str, starts: NDArray[np.int64], heads: NDArray[np.int64]) -> KeptEdges:
        model, unit, sums = self._edges(name)
        scores = np.empty(len(heads), dtype=np.float32)
        score_kept_edges(self._batch, model, sums, starts, heads, scores)
        scores *= np.float32(unit)
        return KeptEdges(self.starts, starts, heads, scores)

    def _edges(self, name: str) -> tuple[EdgeModel, float, NDArray[Any]]:
        """Return edge weights for kernels, their unit, and scratch for sums."""
        weights = self._parser.weights[name]
        sums = weights.sums((2, int(np.diff(self.starts).max()), WIDE))
        templates = self._parser.templates[name]
        return EdgeModel(templates, self._parser.layout, weights.table), weights.unit, sums

    def _relations(self, name: str) -> tuple[RelationModel, float, NDArray[Any]]:
        """Return relation weights for kernels, their unit, and scratch for sums."""
        weights = self._parser.weights[name]
        templates = self._parser.templates[name]
        model = RelationModel(templates, weights.table, self._parser.allowed)
        return model, weights.unit, weights.sums(len(self.labels))


class UndirectedGraphs(LinearGraphs):
    """Graphs that are decoded by way of undirected trees."""

    def _decoders(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        from arborescence.undirected import decode, decode_sparse  # other parsers need no import

        parser = self._parser
        options: Any = {
            "root": self.options.root,
            "rounds": parser.rounds,
            "changes": parser.changes,
        }
        return partial(decode, **options), partial(decode_sparse, **options)

    def trees(self, groups: Iterable[Group]) -> Iterator[NDArray[np.int64]]:
        """Yield the trees of each group, (B, T), by way of undirected trees."""
        if "directed" not in self._parser.weights:
            find, _ = self._decoders()
            yield from (find(group.scores) for group in groups)
            return
        from arborescence.undirected import decode, enhance

        for group, (_, guide) in zip(groups, self._matrices("directed"), strict=True):
            trees = decode(group.scores, root=self.options.root, rounds=0)
            yield enhance(guide, trees, self._parser.rounds, changes=self._parser.changes)

    def kept(self, name: str) -> KeptEdges:
        """Prune the edges, and weigh both directions of each kept edge."""
        kept = keep_edges(self._batch, self._parser.pruning, self._projective)
        starts, heads, turned = both_ways(self.starts, *kept)
        edges = self._weighed(name, starts, heads)
        if self._parser.templates[name].undirected:  # weighed from left to right
            nodes = np.concatenate([np.arange(n) for n in np.diff(self.starts)])
            leftward = heads > np.repeat(nodes, np.diff(starts))
            edges.weights[leftward] = edges.weights[turned[leftward]]
        return edges
