"""What a small parser learns from larger ones: the probabilities of their edges and relations.

Hinton, Vinyals and Dean (2015), *Distilling the knowledge in a neural network*: beside the gold
value, training takes the probabilities of all values by the larger network as its aim. Here they
are the marginals of edges over spanning trees, averaged over several teachers, and the
probabilities of the relations of the tree's edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.errors import OptionError
from arborescence.inference.decode import decode
from arborescence.parsers.shared.base import Options
from arborescence.parsers.shared.confidence import softmax
from arborescence.parsers.shared.given import batches, untagged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from arborescence.parsers.shared.graph_parser import GraphParser
    from arborescence.treebank import Sentence

#: The most likely heads of a word, and relations of an edge, that are kept.
_MOST: Final = 4


class Likely(NamedTuple):
    """The most likely values of nodes, K of each, and their probabilities, which sum to 1."""

    #: (K, n + 1) int64
    values: NDArray[np.int64]
    #: (K, n + 1) float32
    chances: NDArray[np.float32]


class SoftTargets(NamedTuple):
    """What teachers say about a sentence of n words."""

    #: The heads; column 0 has no meaning.
    heads: Likely
    #: The numbers of the relations of the tree's edges; column 0 has no meaning.
    relations: Likely


class TaughtSentence(NamedTuple):
    """A sentence with the tree that teachers find, and what they say about it."""

    #: The sentence, with the teachers' tree and tags.
    sentence: Sentence
    #: The probabilities of heads and relations.
    targets: SoftTargets


def soft_targets(
    teachers: Sequence[GraphParser], sentences: Iterable[Sentence], labels: Sequence[str]
) -> Iterator[TaughtSentence]:
    """Parse sentences by several parsers, and keep the probabilities of edges and relations.

    The tree of a sentence has the most edges that are right, in expectation: see
    `TreeDistribution.mbr`. Tags are those of the first parser.

    Parameters
    ----------
    teachers
        Graph-based parsers with probabilities; each counts the same.
    sentences
        Sentences of any origin; their own tags and trees are not read.
    labels
        The relations, as the new parser numbers them. Teachers that know none of them say nothing.

    Yields
    ------
    TaughtSentence
        For each sentence.

    Raises
    ------
    OptionError
        If a parser has no probabilities of relations.

    Examples
    --------
    >>> import arborescence as arb
    >>> owls = arb.treebank.Sentence.from_words(["Owls", "hoot"])
    >>> [taught] = soft_targets([arb.load("english")], [owls], ["nsubj", "root"])  # doctest: +SKIP
    >>> taught.targets.heads.values[0, 1:]  # doctest: +SKIP
    array([2, 0])
    """
    options = Options(root="single")
    for batch in batches(map(untagged, sentences)):
        of_each = [teacher._graphs(list(batch), options) for teacher in teachers]
        edges: list[NDArray[Any]] = [np.zeros((len(each) + 1,) * 2) for each in batch]
        for teacher, graphs in zip(teachers, of_each, strict=True):
            for group in graphs.groups:
                marginals = teacher._marginals(group, "single")
                for b, of_sentence in zip(group.numbers.tolist(), marginals, strict=True):
                    edges[b] += of_sentence[: len(edges[b]), : len(edges[b])] / len(teachers)
        trees = [decode(each, root="single") for each in edges]
        heads = np.concatenate(trees)
        relations = np.zeros((len(heads), len(labels)))
        for teacher, graphs in zip(teachers, of_each, strict=True):
            relations += _relations(teacher, graphs, heads, labels)
        tagged, starts = of_each[0].completed(), of_each[0].starts.tolist()
        for sentence, tree, of_edges, start in zip(tagged, trees, edges, starts, strict=False):
            of_relations = _likely(relations[start : start + len(tree)].T)
            names = [labels[number] for number in of_relations.values[0, 1:].tolist()]
            parsed = sentence.replace(heads=tree[1:], deprels=names)
            yield TaughtSentence(parsed, SoftTargets(_likely(of_edges), of_relations))


def _relations(
    teacher: GraphParser, graphs: Any, heads: NDArray[np.int64], labels: Sequence[str]
) -> NDArray[Any]:
    """Return the probabilities of relations of a tree's edges, (N, L), in the order of `labels`."""
    weights = graphs.relations(heads)
    if weights is None:
        raise OptionError("a parser that teaches must have probabilities of relations")
    known = {label: number for number, label in enumerate(teacher.labels)}
    columns = [known.get(label, len(known)) for label in labels]
    chances: NDArray[Any] = softmax(weights / np.float32(teacher.relation_temperature))
    return np.pad(chances, ((0, 0), (0, 1)))[:, columns]


def _likely(shares: NDArray[Any]) -> Likely:
    """Return the most likely rows of each column: at most `_MOST`."""
    values = np.argsort(-shares, axis=0, kind="stable")[:_MOST]
    chances = np.take_along_axis(shares, values, axis=0)
    sums = chances.sum(axis=0)
    return Likely(values, (chances / np.where(sums > 0, sums, 1)).astype(np.float32))


def padded(parts: Sequence[Likely | None], nodes: int) -> Likely:
    """Join what is likely in several sentences: (K, B, nodes), with probability 0 elsewhere."""
    shape = _MOST, len(parts), nodes
    values, chances = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.float32)
    for b, part in enumerate(parts):
        if part is None:
            continue
        count, size = part.values.shape
        values[:count, b, 1:size] = part.values[:, 1:]
        chances[:count, b, 1:size] = part.chances[:, 1:]
    return Likely(values, chances)


def expected_loss(logits: Tensor, likely: Any) -> Tensor:
    """Return the mean cross-entropy of logits (V, ...) to `Likely` values, of tensors (K, ...)."""
    losses = -logits.log_softmax(dim=0).gather(0, likely.values)
    mean: Tensor = (losses * likely.chances).sum() / likely.chances.sum().clamp(min=1)
    return mean
