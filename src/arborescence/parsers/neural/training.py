"""Training of neural parsers with PyTorch.

The learning rate rises in the first steps, then falls to 0 in a straight line.
"""

from __future__ import annotations

import hashlib
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from arborescence.errors import OptionError
from arborescence.inference.decode import decode
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.devices import (
    device_named,
    enough_memory,
    moved,
    own_numbers,
    seed_of,
)
from arborescence.parsers.neural.encoder import Encoder
from arborescence.parsers.neural.inputs import Inputs, given_columns
from arborescence.parsers.neural.network import Network, state_of
from arborescence.parsers.neural.optimizer import Optimizer, similar
from arborescence.parsers.neural.teaching import Likely, SoftTargets, expected_loss, padded
from arborescence.parsers.shared.given import untagged
from arborescence.parsers.shared.graph_parser import FITTED
from arborescence.parsers.shared.run import ParserRun, compared
from arborescence.parsers.shared.training_trees import TrainingTrees

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.bert.encoder import BertEncoder
    from arborescence.parsers.neural.inputs import Hints
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vocabulary import Vocabulary
    from arborescence.parsers.shared.run import Task
    from arborescence.parsers.tagger.tagger import Tagger

_WARM_UP: Final = 0.05  # the share of the training in which the rate rises
_LARGEST: Final = 6e4  # float16 holds no larger weights
_ADVICE: Final = "lower the number of words of a batch (batch=)"


class _Gold(NamedTuple):
    """The gold trees and tags of a batch, with the rows of `Inputs`."""

    #: (B, T) int64: the gold trees; -1 for the root and for padding.
    heads: torch.Tensor
    #: (E,) int64: the row of the dependent of each known edge.
    dependents: torch.Tensor
    #: (E,) int64: the row of the head of each known edge.
    governors: torch.Tensor
    #: (E,) int64: the relation of each known edge.
    relations: torch.Tensor
    #: (N,) int64 each: the tags of each column; -1 where a tag is missing.
    tags: dict[str, Any]
    #: What teachers say: the heads (K, B, T), and the relations of the known edges (K, E).
    targets: SoftTargets | None = None


class Trainer(ParserRun):
    """A training run of a neural parser: the network and its optimizer."""

    kind = "biaffine"
    _settings: Settings

    def __init__(
        self,
        task: Task,
        hints: Sequence[Hints] | None,
        vocabulary: Vocabulary,
        *,
        tagger: Tagger | None = None,
        vectors: NDArray[np.float32] | None = None,
        encoder: Encoder | BertEncoder | None = None,
        targets: Sequence[SoftTargets | None] | None = None,
    ) -> None:
        super().__init__(task)
        self._targets = targets
        treebank, settings = task.treebank, self._settings
        self._hints, self._vocabulary, self._tagger = hints, vocabulary, tagger
        self._device = device_named(settings.device)
        self._trees = TrainingTrees.of(
            treebank, settings.projective, task.start, in_part=settings.in_part
        )
        self._tag_numbers = {
            column: {value: number for number, value in enumerate(tagset.values)}
            for column, tagset in vocabulary.tags.items()
        }
        self._given = given_columns(treebank, vocabulary)
        self._encoder = encoder
        arrays = [array for each in hints or () for guesses in each.values() for array in guesses]
        digest = hashlib.sha256()
        for array in [*arrays, *([] if vectors is None else [vectors])]:
            digest.update(array.tobytes())
        self._identity += digest.hexdigest() + (encoder.digest if encoder else "")
        with own_numbers(self._device, seed_of(settings.rng, 0)), enough_memory(_ADVICE):
            network = Network(
                settings,
                vocabulary,
                hinted=hints is not None,
                relations=len(self._trees.labels),
                encoder=encoder,
            )
        if task.start is not None:
            state = {name: value.numpy() for name, value in state_of(network).items()}
            weights = stored.from_arrays(task.start.weights, task.start.shapes)
            stored.keep(state, weights, task.start.vocabulary, vocabulary)
        self._network = network.to(self._device)
        if vectors is not None and self._network.pretrained is not None:
            self._network.pretrained.weight.data.copy_(torch.from_numpy(vectors))
        self._optimizer = Optimizer(
            self._network.named_parameters(), self._network.groups(settings), settings.rate
        )
        self._nodes = self._lengths = np.array([len(sentence) + 1 for sentence in treebank])
        if isinstance(encoder, Encoder) and encoder.fine_tune:
            # Windows of pieces are padded: in a batch, they should be of similar length.
            self._lengths = encoder.counts([sentence.forms for sentence in treebank])
        self._speed = 0.0

    def run(self, *args: Any, **options: Any) -> None:
        """Train, without an effect on PyTorch's global random numbers.

        OptionError if the memory does not suffice or weights grow too large.
        """
        with own_numbers(self._device):
            super().run(*args, **options)

    def parts(self) -> dict[str, Any]:
        """Return the arguments of the parser's constructor."""
        parts = self._parts(self.best) | {"info": self.info()}
        if any(map(len, self._dev)):
            dev = [*map(untagged, self._dev), *self._dev]
            parser = self._make(**parts, device=str(self._device))
            parts |= parser.fitted_temperatures(dev, self._settings.root)
            parts["info"][FITTED] = len(self._dev)
        return parts

    def _epoch(self, number: int, tell: Callable[[int], None]) -> None:
        torch.manual_seed(seed_of(self._settings.rng, number))
        generator = np.random.default_rng((self._settings.rng, number))
        self._network.train()
        begun = perf_counter()
        done = 0
        most = self._settings.batch, self._settings.most_edges
        for numbers in similar(self._lengths, self._nodes, self._nodes, *most, generator):
            tell(done)
            share = _share((number - 1 + done / self._sentences) / self._settings.epochs)
            self._optimizer.slow_down(share)
            with enough_memory(_ADVICE):
                self._learn(numbers, generator)
            done += len(numbers)
        # A comparison with NaN is False, too.
        if not all((np.abs(each) < _LARGEST).all() for each in self._weights().values()):
            raise OptionError(f"weights became too large: lower rate={self._settings.rate:g}")
        self._speed = sum(map(len, self._treebank)) / (perf_counter() - begun)

    def _said(self, scores: Mapping[str, float]) -> str:
        return ", ".join(filter(None, (super()._said(scores), f"{self._speed:,.0f} words/s")))

    def _weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the parameters of the network; on a CPU they are not copied."""
        return {name: value.numpy() for name, value in state_of(self._network).items()}

    def _result(self) -> dict[str, NDArray[Any]]:
        return {name: value.copy() for name, value in self._weights().items()}

    def _learn(self, numbers: Sequence[int], generator: np.random.Generator) -> None:
        """Take one step of Adam on a batch."""
        sentences = [self._treebank[b] for b in numbers]
        hints = None if self._hints is None else [self._hints[b] for b in numbers]
        chosen = generator.random(len(sentences)) < self._settings.given
        given = {column: chosen & has[numbers] for column, has in self._given.items()}
        inputs = Inputs.of(sentences, self._vocabulary, hints, given, self._encoder)
        loss = self._loss(moved(inputs, self._device), self._gold(numbers, inputs))
        self._optimizer.step(loss)

    def _loss(self, batch: Any, gold: _Gold) -> torch.Tensor:
        """Return the sum of the losses of edges, relations and each column of tags."""
        cross_entropy = torch.nn.functional.cross_entropy
        mixed = self._settings.mixed
        with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=mixed):
            outputs = self._network(batch)
            scores = self._network.relations(
                outputs.heads[gold.governors], outputs.dependents[gold.dependents]
            )
        lengths = batch.layout.lengths - 1
        loss = edge_loss(outputs.edges.float(), gold.heads, lengths, self._settings)
        if (gold.relations >= 0).any():
            loss = loss + cross_entropy(scores.float(), gold.relations, ignore_index=-1)
        if gold.targets is not None:
            loss = loss + expected_loss(outputs.edges.float().swapaxes(0, 1), gold.targets.heads)
            loss = loss + expected_loss(scores.float().mT, gold.targets.relations)
        for column, logits in outputs.tags.items():
            tags = gold.tags[column]
            summed = cross_entropy(logits.float(), tags, ignore_index=-1, reduction="sum")
            loss = loss + summed / (tags >= 0).sum().clamp(min=1)
        return loss

    def _score(self) -> dict[str, float]:
        """Parse dev without and with its tags: return the means of UAS and LAS, and UPOS."""
        if not any(map(len, self._dev)):
            return {}
        parser = self._make(**self._parts(self._weights()), device=str(self._device))
        root = self._settings.root
        of_words = list(parser.parse(map(untagged, self._dev), root=root))
        if not self._vocabulary.tags:
            return compared(self._dev, of_words)
        one = compared(self._dev, of_words)
        two = compared(self._dev, parser.parse(self._dev, root=root))
        scores = {name: (one[name] + two[name]) / 2 for name in ("uas", "las")}
        scores |= {"las_of_words": one["las"], "las_of_tags": two["las"]}
        pairs = [
            (tag, other)
            for gold, parsed in zip(self._dev, of_words, strict=True)
            for tag, other in zip(gold.upos, parsed.upos, strict=True)
            if tag != "_"
        ]
        if "upos" in self._vocabulary.tags and pairs:
            scores["upos"] = 100 * sum(tag == other for tag, other in pairs) / len(pairs)
        return scores

    def _gold(self, numbers: Sequence[int], inputs: Inputs) -> _Gold:
        layout = inputs.layout
        heads, relations = np.full((2, *layout.rows.shape), -1)
        for row, labels, b in zip(heads, relations, numbers, strict=True):
            nodes = len(self._trees.heads[b])
            row[:nodes], labels[:nodes] = self._trees.heads[b], self._trees.relations[b]
        has_head = heads >= 0
        sentence, _ = np.nonzero(has_head)
        tags = {
            column: [number for b in numbers for number in (-1, *self._tags_of(b, column))]
            for column in self._vocabulary.tags
        }
        gold = _Gold(
            heads,
            layout.rows[has_head],
            layout.rows[sentence, heads[has_head]],
            relations[has_head],
            {column: layout.packed(np.array(of)) for column, of in tags.items()},
            self._soft_targets(numbers, has_head),
        )
        on_device: _Gold = moved(gold, self._device)
        return on_device

    def _soft_targets(
        self, numbers: Sequence[int], has_head: NDArray[np.bool_]
    ) -> SoftTargets | None:
        """Return what teachers say about a batch; `has_head` (B, T) marks the known edges."""
        if self._targets is None:
            return None
        targets = [self._targets[b] for b in numbers]
        heads, relations = (
            padded([each and getattr(each, name) for each in targets], has_head.shape[1])
            for name in SoftTargets._fields
        )
        of_edges = Likely(relations.values[:, has_head], relations.chances[:, has_head])
        return SoftTargets(heads, of_edges)

    def _tags_of(self, b: int, column: str) -> list[int]:
        """Return the numbers of the gold tags of a sentence; -1 for a missing tag."""
        values = getattr(self._treebank[b], column)
        if not self._given[column][b]:
            return [-1] * len(values)
        numbers = self._tag_numbers[column]
        return [numbers.get(value, -1) for value in values]

    def _parts(self, weights: Mapping[str, NDArray[np.float32]]) -> dict[str, Any]:
        return {
            "settings": self._settings,
            "vocabulary": self._vocabulary,
            "labels": self._trees.labels,
            "allowed": self._trees.allowed,
            "weights": stored.to_arrays(weights, self._settings.precision),
            "tagger": self._tagger,
            "encoder": self._encoder,
        }

    def _state(self) -> dict[str, NDArray[Any]]:
        return self._optimizer.state()

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._optimizer.restore(state)


def _share(done: float) -> float:
    """Return the learning rate, as a share of the highest, after a share `done` of the training."""
    return max(min(done / _WARM_UP, (1 - done) / (1 - _WARM_UP)), 1e-3)


def edge_loss(edges: Tensor, gold: Tensor, lengths: Tensor, settings: Settings) -> Tensor:
    """Return the mean loss of a word: scores (B, T, T), gold heads (B, T) with -1 for padding."""
    words = int((gold >= 0).sum())
    if not words:
        return edges.sum() * 0
    if settings.loss == "head":
        return cross_entropy(
            edges.mT.reshape(-1, edges.shape[1]), gold.reshape(-1), ignore_index=-1
        )
    if settings.loss == "tree":
        from arborescence.torch import TreeDistribution

        def distribution(scores: Tensor) -> TreeDistribution:
            return TreeDistribution(
                scores,
                lengths,
                root=settings.root,
                projective=settings.projective,
                threads=settings.threads,
            )

        trees = distribution(edges.float())
        if words == int(lengths.sum()):
            loss: Tensor = -trees.log_prob(gold).sum() / words
            return loss
        # the likelihood of all trees that agree with the known heads
        nodes = torch.arange(edges.shape[1], device=edges.device)
        others = (gold >= 0)[:, None] & (nodes[:, None] != gold[:, None])
        agreeing = distribution(edges.float().masked_fill(others, -torch.inf))
        difference: Tensor = trees.log_partition() - agreeing.log_partition()
        return difference.sum() / words
    return _margin(edges, gold, lengths, settings) / words


def _margin(edges: Tensor, gold: Tensor, lengths: Tensor, settings: Settings) -> Tensor:
    """Return the sum of margins: best tree, with 1 for each wrong head, minus gold tree."""
    right = one_hot(gold.clamp(min=0), edges.shape[1]).mT.bool() & (gold >= 0)[:, None]
    costly = edges.detach().float() + 1 - right.float()
    trees = decode(
        costly.cpu().numpy(),
        lengths.cpu().numpy(),
        root=settings.root,
        projective=settings.projective,
    )
    best = torch.from_numpy(trees).to(gold)
    wrong = (best != gold) & (gold >= 0)
    heads = torch.stack([best, gold]).clamp(min=0)
    of_best, of_gold = (edges.gather(1, each[:, None])[:, 0] for each in heads)
    gains = (of_best - of_gold + 1).masked_fill(~wrong, 0)
    return gains.sum(dim=1).relu().sum()
