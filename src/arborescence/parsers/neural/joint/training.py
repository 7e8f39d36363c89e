"""Training of one network on many treebanks, in epochs that can be resumed."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from arborescence.errors import OptionError
from arborescence.inference.decode import decode
from arborescence.parsers.neural.devices import (
    device_named,
    enough_memory,
    moved,
    own_numbers,
    seed_of,
)
from arborescence.parsers.neural.joint.network import JointInputs, JointNetwork
from arborescence.parsers.neural.joint.sampling import sampled
from arborescence.parsers.neural.network import load_state, state_of
from arborescence.parsers.neural.optimizer import Optimizer, similar
from arborescence.parsers.shared.run import Run, identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.neural.joint.inventory import Inventory
    from arborescence.parsers.neural.joint.settings import Settings
    from arborescence.treebank import Sentence

    Treebanks = Mapping[str, Sequence[Sentence]]

#: The factor of the loss of features is this share of the factor of tags.
_FEATURES: Final = 0.6
_MOST_EDGES: Final = 2**20
_LARGEST: Final = 6e4
_ADVICE: Final = "lower the number of pieces of a batch (pieces=)"
#: An epoch reports its progress after this number of batches.
_REPORT_EVERY: Final = 20
#: Batches of dev have this many times more pieces, since no gradients are kept.
_LARGER: Final = 2


class _JointGold(NamedTuple):
    """The gold annotation of B sentences with at most T nodes, A attributes; -1 where unknown."""

    #: (B, T) int64.
    heads: Any
    #: (B, T) int64.
    relations: Any
    #: (B, T) int64.
    upos: Any
    #: (B, T) int64.
    xpos: Any
    #: (B, T, A) int64.
    features: Any


class JointAccuracy(NamedTuple):
    """Percentages of the words of a treebank."""

    #: The number of words.
    words: int
    #: The words with the right head.
    uas: float
    #: The words with the right head and relation.
    las: float
    #: The words with the right tag.
    upos: float
    #: The words with all features right.
    feats: float


class JointTrainer(Run):
    """A training run of one network on the treebanks of an inventory.

    Training begins with the parameters `start`; the others begin at random, or as the encoder has
    them. `best` has the parameters after the epoch with the best mean LAS of dev over treebanks.
    `only` has beginnings of names: the parameters with other names do not learn.
    """

    kind = "joint"

    def __init__(
        self,
        encoder: Encoder,
        inventory: Inventory,
        train: Treebanks,
        dev: Treebanks,
        settings: Settings,
        start: Mapping[str, NDArray[np.float32]] | None = None,
        only: Sequence[str] = (),
    ) -> None:
        names = list(inventory.treebanks)
        if unknown := (train.keys() | dev.keys()) - set(names):
            raise OptionError(f"not in the inventory: {', '.join(sorted(unknown))}")
        self._train = [list(train.get(name, ())) for name in names]
        self._dev = {name: list(sentences) for name, sentences in dev.items() if sentences}
        super().__init__(sum(map(len, self._train)))
        if not self._sentences:
            raise OptionError("there is no sentence to learn from")
        self._encoder, self._inventory, self._settings = encoder, inventory, settings
        self._words = [np.array([len(each) for each in some]) for some in self._train]
        every = [*self._train, *self._dev.values()]
        self._identity = "".join([identity(settings, *every), encoder.digest, *names, *only])
        self._device = device_named(settings.device)
        with own_numbers(self._device, seed_of(settings.rng, 0)), enough_memory(_ADVICE):
            network = JointNetwork(
                encoder,
                inventory,
                arc=settings.arc,
                label=settings.label,
                dropout=settings.dropout,
            )
        if start is not None:
            given = {name: torch.from_numpy(array) for name, array in start.items()}
            load_state(network, state_of(network) | given)
        self.network = network.to(self._device)
        named = [(n, each) for n, each in self.network.named_parameters() if each.requires_grad]
        self._results = {name for name, _ in named}
        for name, each in named:
            each.requires_grad_(name.startswith(tuple(only) or ""))
        learned = [(name, each) for name, each in named if each.requires_grad]
        above, tuned = (
            [each for name, each in learned if name.startswith("encoder.") == in_encoder]
            for in_encoder in (False, True)
        )
        groups: list[dict[str, Any]] = [
            {"params": above},
            {"params": tuned, "lr": settings.encoder_rate},
        ]
        self._optimizer = Optimizer(learned, groups, settings.rate)
        self._speed = 0.0
        self._losses = np.zeros(5)

    def run(self, *args: Any, **options: Any) -> None:
        """Train, without an effect on PyTorch's global random numbers: see `Run.run`."""
        with own_numbers(self._device):
            super().run(*args, **options)

    def go_back_to_best(self) -> None:
        """Give the network the parameters of the best epoch."""
        with torch.no_grad():
            for name, parameter in self.network.named_parameters():
                if name in self.best:
                    parameter.copy_(torch.from_numpy(self.best[name]))

    def scores(self, treebanks: Treebanks) -> dict[str, JointAccuracy]:
        """Return the accuracy on each treebank, parsed from words with the current parameters."""
        network = self.network.eval()
        scores_of_treebanks = {}
        for name, sentences in treebanks.items():
            right = np.zeros(4, dtype=np.int64)
            for batch in self._fixed_batches(sentences):
                right += self._compared([sentences[b] for b in batch], name)
            words = sum(map(len, sentences))
            scores_of_treebanks[name] = JointAccuracy(
                words, *(100 * right / max(words, 1)).tolist()
            )
        network.train()
        return scores_of_treebanks

    def _epoch(self, number: int, tell: Callable[[int], None]) -> None:
        settings = self._settings
        torch.manual_seed(seed_of(settings.rng, number))
        generator = np.random.default_rng((settings.rng, number))
        chosen = list(sampled(self._words, settings.words, number, settings.rng))
        sentences = [self._train[treebank][b] for treebank, b in chosen]
        pieces = self._encoder.counts(sentence.forms for sentence in sentences)
        nodes = np.array([len(sentence) + 1 for sentence in sentences])
        self.network.train()
        begun = process_time()
        total = np.zeros(5)
        done = 0
        factors = [1, 1, settings.tags, settings.tags, _FEATURES * settings.tags]
        batches = list(similar(pieces, pieces, nodes, settings.pieces, _MOST_EDGES, generator))
        for step, numbers in enumerate(batches):
            if step % _REPORT_EVERY == 0:
                tell(self._sentences * done // len(sentences))
            at = number - 1 + done / len(sentences)
            self._optimizer.slow_down(rate_share(at, settings))
            with enough_memory(_ADVICE):
                losses = self._losses_of(
                    [sentences[i] for i in numbers], [chosen[i][0] for i in numbers]
                )
                self._optimizer.step(losses @ losses.new_tensor(factors))
            total += losses.detach().cpu().numpy() * len(numbers)
            done += len(numbers)
        self._losses = total / len(sentences)
        self._speed = nodes.sum() / (process_time() - begun)
        if not all((np.abs(each) < _LARGEST).all() for each in self._weights().values()):
            raise OptionError(f"weights became too large: lower rate={settings.rate:g}")

    def _score(self) -> dict[str, float]:
        scores = self.scores(self._dev)
        if not scores:
            return {}
        names = ("las", "uas", "upos", "feats")
        return {
            name: float(np.mean([getattr(each, name) for each in scores.values()]))
            for name in names
        }

    def _said(self, scores: Mapping[str, float]) -> str:
        losses = " ".join(f"{loss:.3f}" for loss in self._losses)
        said = super()._said(scores), f"losses {losses}", f"{self._speed:,.0f} words/s"
        return ", ".join(filter(None, said))

    def _weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the parameters of the network; on a CPU they are not copied."""
        return {name: value.numpy() for name, value in state_of(self.network).items()}

    def _result(self) -> dict[str, NDArray[Any]]:
        return {name: w.copy() for name, w in self._weights().items() if name in self._results}

    def _state(self) -> dict[str, NDArray[Any]]:
        return self._optimizer.state()

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._optimizer.restore(state)

    def _losses_of(self, sentences: Sequence[Sentence], treebanks: Sequence[int]) -> torch.Tensor:
        """Return the mean losses of a word's head, relation, tags and features."""
        batch = moved(
            JointInputs.of(self._encoder, [each.forms for each in sentences], treebanks),
            self._device,
        )
        gold = moved(self._gold(sentences, treebanks), self._device)
        kind = self._device.type
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=self._settings.mixed):
            outputs = self.network(batch)
            row, dependent = torch.nonzero(gold.heads >= 0, as_tuple=True)
            head = gold.heads[row, dependent]
            scores = self.network.relations(
                outputs.heads[row, head],
                outputs.dependents[row, dependent],
                batch.treebank[row],
                head == 0,
            )
        losses = [
            cross_entropy(outputs.edges.mT.flatten(0, 1), gold.heads.flatten(), ignore_index=-1),
            cross_entropy(scores.float(), gold.relations[row, dependent], ignore_index=-1),
            _mean_loss(outputs.upos, gold.upos),
            _mean_loss(outputs.xpos, gold.xpos),
            _mean_loss(outputs.features, gold.features) * _known(gold.features),
        ]
        return torch.stack(losses)

    def _gold(self, sentences: Sequence[Sentence], treebanks: Sequence[int]) -> _JointGold:
        shape = len(sentences), max(map(len, sentences)) + 1
        heads, relations, upos, xpos = np.full((4, *shape), -1)
        features = np.full((*shape, len(self._inventory.features)), -1)
        for b, (sentence, treebank) in enumerate(zip(sentences, treebanks, strict=True)):
            here = slice(1, len(sentence) + 1)
            heads[b, here] = sentence.heads
            relations[b, here] = self._inventory.relations_of(sentence)
            upos[b, here] = self._inventory.upos_of(sentence)
            xpos[b, here] = self._inventory.xpos_of(sentence, treebank)
            features[b, here] = self._inventory.features_of(sentence, treebank)
        return _JointGold(heads, relations, upos, xpos, features)

    def _fixed_batches(self, sentences: Sequence[Sentence]) -> Iterator[list[int]]:
        pieces = self._encoder.counts(sentence.forms for sentence in sentences)
        nodes = np.array([len(sentence) + 1 for sentence in sentences])
        most = _LARGER * self._settings.pieces, _MOST_EDGES
        return similar(pieces, pieces, nodes, *most, np.random.default_rng(0))

    def _compared(self, gold: Sequence[Sentence], treebank: str) -> NDArray[np.int64]:
        """Parse words; count the right heads, edges with universal relations, tags and features."""
        number = list(self._inventory.treebanks).index(treebank)
        inputs = JointInputs.of(self._encoder, [each.forms for each in gold], [number] * len(gold))
        batch = moved(inputs, self._device)
        relations = np.array([name.partition(":")[0] for name in self._inventory.relations])
        upos = np.array(self._inventory.upos)
        right = np.zeros(4, dtype=np.int64)
        with torch.inference_mode():
            outputs = self.network(batch)
            trees = decode(outputs.edges.cpu().numpy(), inputs.nodes - 1)
            for b, sentence in enumerate(gold):
                heads = trees[b, 1 : len(sentence) + 1]
                places = torch.from_numpy(heads).to(self._device)
                scored = self.network.relations(
                    outputs.heads[b, places],
                    outputs.dependents[b, 1 : len(sentence) + 1],
                    batch.treebank[b].expand(len(sentence)),
                    places == 0,
                )
                predicted = relations[scored.argmax(dim=1).cpu().numpy()]
                same = heads == sentence.heads
                alike = predicted == [name.partition(":")[0] for name in sentence.deprels]
                tags = outputs.upos[b, 1 : len(sentence) + 1].argmax(dim=1).cpu().numpy()
                features = outputs.features[b, 1 : len(sentence) + 1].argmax(dim=2).cpu().numpy()
                written = self._inventory.written(features)
                right += [
                    same.sum(),
                    (same & alike).sum(),
                    (upos[tags] == sentence.upos).sum(),
                    sum(map(str.__eq__, written, sentence.feats)),
                ]
        return right


def rate_share(done: float, settings: Settings) -> float:
    """Return the rate as a share of the highest: it rises, stays, and falls at the end.

    >>> from arborescence.parsers.neural.joint.settings import Settings
    >>> settings = Settings(epochs=10, warm_up=2, fall=0.5)
    >>> [round(rate_share(done, settings), 2) for done in (1, 2, 5, 7.5, 9)]
    [0.5, 1.0, 1.0, 0.5, 0.2]
    """
    rises = done / settings.warm_up if settings.warm_up else 1
    falls = (settings.epochs - done) / (settings.fall * settings.epochs) if settings.fall else 1
    return max(min(rises, falls, 1), 1e-3)


def _mean_loss(logits: torch.Tensor | None, gold: torch.Tensor) -> torch.Tensor:
    """Return the mean loss over known values; logits (..., V), gold (...) with -1; 0 for None."""
    if logits is None:
        return torch.zeros((), device=gold.device)
    summed = cross_entropy(
        logits.float().flatten(0, -2), gold.flatten(), ignore_index=-1, reduction="sum"
    )
    return summed / (gold >= 0).sum().clamp(min=1)


def _known(features: torch.Tensor) -> torch.Tensor:
    """Return the mean number of known attributes of a word that has some."""
    known = features >= 0
    return known.sum() / known.any(dim=-1).sum().clamp(min=1)
