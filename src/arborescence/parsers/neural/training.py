"""Training of neural parsers with PyTorch: Adam with a falling rate, best epoch, checkpoints."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from torch.nn import functional as F

from arborescence.parsers.neural.inputs import Inputs
from arborescence.parsers.neural.losses import edge_loss
from arborescence.parsers.neural.network import Network, Tensors, state_of
from arborescence.parsers.neural.vocabulary import Vocabulary
from arborescence.parsers.shared.online import attachment
from arborescence.parsers.shared.training_trees import TrainingTrees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.neural.parser import BiaffineParser
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vectors import Vectors
    from arborescence.parsers.shared.types import Progress
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.treebank import Sentence

_BETAS: Final = (0.9, 0.95)
_CLIP: Final = 5.0
_WARM_UP: Final = 0.05  # the share of steps in which the rate rises
_MOST_EDGES: Final = 2**20  # of a batch: limits memory where sentences are long


class _Gold(NamedTuple):
    """What a batch should become: rows as in `Inputs`.

    Attributes
    ----------
    heads : (B, T) int64
        The gold trees; -1 for the root and for padding.
    dependents, governors : (E,) int64
        The rows of both ends of each gold edge.
    relations : (E,) int64
        Their relations.
    tags : dict of str to (N,) int64
        The tags; -1 where there is none.
    """

    heads: torch.Tensor
    dependents: torch.Tensor
    governors: torch.Tensor
    relations: torch.Tensor
    tags: dict[str, torch.Tensor]


class Trainer:
    """A training run: the network, its optimizer, and the best weights so far.

    Parameters
    ----------
    treebank, dev
        Sentences to learn from, and to choose the best epoch by.
    hints, dev_hints
        The same sentences with the tags of a linear tagger; None without one.
    settings
        All settings that, with the data, determine the result.
    make
        Makes a parser from its parts, to evaluate it.
    device
        Where to compute: see `torch.device`.
    vectors
        Pretrained vectors of words; they are not changed.
    encoder
        A pretrained encoder, frozen or to be fine-tuned.
    """

    def __init__(
        self,
        treebank: Sequence[Sentence],
        dev: Sequence[Sentence],
        hints: Sequence[Sentence] | None,
        settings: Settings,
        *,
        make: Callable[..., BiaffineParser],
        device: str = "cpu",
        tagger: Tagger | None = None,
        vectors: Vectors | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        self._tagger = tagger
        self._treebank, self._dev, self._hints = treebank, dev, hints
        self._settings = settings
        self._make = make
        self._device = device
        self._trees = TrainingTrees.of(treebank, settings.root, settings.projective)
        self._encoder = encoder
        self._vocabulary = Vocabulary.of(treebank, settings.columns)
        if vectors:
            self._vocabulary = self._vocabulary._replace(vectors=vectors.words)
        self._tag_numbers = {
            column: {value: number for number, value in enumerate(tagset.values)}
            for column, tagset in self._vocabulary.tags.items()
        }
        torch.manual_seed(settings.seed)
        self._network = Network(
            settings,
            self._vocabulary,
            hinted=hints is not None,
            relations=len(self._trees.labels),
            encoder=encoder,
        ).to(device)
        if vectors:
            self._network.use_vectors(vectors.scaled().table)
        words = sum(map(len, treebank)) + len(treebank)
        self._steps = settings.epochs * -(-words // settings.batch)
        self._step = 0
        self._adam = torch.optim.AdamW(
            self._network.groups(settings), lr=settings.rate, betas=_BETAS, weight_decay=1e-4
        )
        self._rates = [group["lr"] for group in self._adam.param_groups]
        self._history: list[dict[str, float]] = []
        self._best: dict[str, torch.Tensor] = {}

    def run(self, progress: Progress | None = None) -> None:
        while len(self._history) < self._settings.epochs:
            self._run_epoch(progress)

    def parts(self) -> dict[str, Any]:
        """Return the arguments of the parser's constructor."""
        return self._parts(self._best)

    def _run_epoch(self, progress: Progress | None) -> None:
        epoch = len(self._history) + 1
        torch.manual_seed((self._settings.seed << 16) + epoch)
        generator = np.random.default_rng((self._settings.seed, epoch))
        self._network.train()
        total, done = len(self._treebank), 0
        for numbers in self._batches(generator):
            if progress:
                progress(f"epoch {epoch}", done, total)
            done += len(numbers)
            self._learn(numbers, generator)
        scores = self._evaluate(state_of(self._network))
        self._history.append(scores)
        las = [each["las"] for each in self._history if each]
        if not las or las[-1] == max(las):
            self._best = {name: value.clone() for name, value in state_of(self._network).items()}
        if progress:
            shown = ", ".join(f"{name.upper()} {score:.2f}" for name, score in scores.items())
            progress(f"epoch {epoch}: {shown}", total, total)

    def _batches(self, generator: np.random.Generator) -> Iterator[list[int]]:
        """Yield batches of sentences of similar length, in random order."""
        lengths = np.array([len(sentence) + 1 for sentence in self._treebank])
        order = np.argsort(lengths + generator.random(len(lengths)) * (2 + lengths * 0.2))
        batches: list[list[int]] = [[]]
        words = longest = 0
        for b in order.tolist():
            words += lengths[b]
            longest = max(longest, lengths[b])
            most = (len(batches[-1]) + 1) * longest**2
            if batches[-1] and (words > self._settings.batch or most > _MOST_EDGES):
                batches.append([])
                words = longest = lengths[b]
            batches[-1].append(b)
        for i in generator.permutation(len(batches)).tolist():
            yield batches[i]

    def _learn(self, numbers: Sequence[int], generator: np.random.Generator) -> None:
        """Take one step of Adam on a batch."""
        sentences = [self._treebank[b] for b in numbers]
        hinted = None if self._hints is None else [self._hints[b] for b in numbers]
        shown = generator.random(len(sentences)) < self._settings.given
        given = dict.fromkeys([*self._vocabulary.tags, "lemma"], shown)
        inputs = Inputs.of(sentences, self._vocabulary, hinted, given)
        if self._encoder:
            inputs = inputs._replace(encoded=self._encoder.read(sentences, inputs.layout))
        batch = Tensors.of(inputs, self._device)
        gold = self._gold(numbers, inputs)
        found = self._network(batch)
        loss = edge_loss(found.edges, gold.heads, batch, self._settings)
        scores = self._network.relations(
            found.heads[gold.governors], found.dependents[gold.dependents]
        )
        loss = loss + F.cross_entropy(scores, gold.relations)
        for column, logits in found.tags.items():
            loss = loss + F.cross_entropy(logits, gold.tags[column], ignore_index=-1)
        self._adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), _CLIP)
        for group, highest in zip(self._adam.param_groups, self._rates, strict=True):
            group["lr"] = highest * self._share()
        self._adam.step()
        self._step += 1

    def _evaluate(self, state: Mapping[str, torch.Tensor]) -> dict[str, float]:
        """Parse dev without and with its tags; LAS is the mean."""
        if not self._dev:
            return {}
        parser = self._make(**self._parts(state), tagger=self._tagger, device=self._device)
        bare = [without_tags(sentence) for sentence in self._dev]
        parsed = list(parser.parse(bare, root=self._settings.root))
        of_words = scored(self._dev, parsed)
        if not self._vocabulary.tags:
            return of_words
        of_tags = scored(self._dev, list(parser.parse(self._dev, root=self._settings.root)))
        return {
            "las": (of_words["las"] + of_tags["las"]) / 2,
            "words": of_words["las"],
            "tags": of_tags["las"],
            "upos": of_words["upos"],
        }

    def _share(self) -> float:
        """Return the share of the highest rate at this step: it rises, and then falls to zero."""
        done = self._step / self._steps
        return max(min(done / _WARM_UP, (1 - done) / (1 - _WARM_UP)), 1e-3)

    def _gold(self, numbers: Sequence[int], inputs: Inputs) -> _Gold:
        layout = inputs.layout
        heads = np.full(layout.rows.shape, -1)
        relations = np.full(layout.rows.shape, -1)
        for row, labels, b in zip(heads, relations, numbers, strict=True):
            row[: len(self._trees.heads[b])] = self._trees.heads[b]
            labels[: len(self._trees.heads[b])] = self._trees.relations[b]
        there = heads >= 0
        sentence, _ = np.nonzero(there)
        tags = {
            column: layout.packed(
                np.array(
                    [
                        number
                        for b in numbers
                        for number in (-1, *(of.get(v, -1) for v in getattr(self._treebank[b], column)))
                    ]
                )
            )
            for column, of in self._tag_numbers.items()
        }
        on = self._device
        return _Gold(
            torch.from_numpy(heads).to(on),
            torch.from_numpy(layout.rows[there]).to(on),
            torch.from_numpy(layout.rows[sentence, heads[there]]).to(on),
            torch.from_numpy(relations[there]).to(on),
            {column: torch.from_numpy(rows).to(on) for column, rows in tags.items()},
        )

    def _parts(self, state: Mapping[str, torch.Tensor]) -> dict[str, Any]:
        return {
            "settings": self._settings,
            "vocabulary": self._vocabulary,
            "labels": self._trees.labels,
            "allowed": self._trees.allowed,
            "weights": {name: value.numpy() for name, value in state.items()},
            "encoder": self._encoder,
        }


def without_tags(s):
    n = len(s)
    return s.replace(upos=["_"] * n, xpos=["_"] * n, feats=["_"] * n)


def scored(gold, parsed):
    words = uas = las = upos = 0
    for g, p in zip(gold, parsed, strict=True):
        words += len(g)
        right = g.heads[1:] == p.heads[1:]
        uas += right.sum()
        las += sum(
            bool(r) and a.partition(":")[0] == b.partition(":")[0]
            for r, a, b in zip(right, g.deprels, p.deprels)
        )
        upos += sum(a == b for a, b in zip(g.upos, p.upos))
    return {"uas": 100 * uas / words, "las": 100 * las / words, "upos": 100 * upos / words}
