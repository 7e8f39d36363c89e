"""The network of a neural parser in PyTorch: BiLSTMs, tags, and biaffine edges and labels.

Edges and labels: Dozat and Manning (2017), or an MLP over pairs of words (Kiperwasser and Goldberg
2016). The lower layers predict tags, and the upper layers read tags (Søgaard and Goldberg 2016):
given tags, or the mean of the vectors of all values, weighted by their probabilities.
`forward.Forward` computes the same without PyTorch.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, leaky_relu, pad

from arborescence.parsers.neural.devices import device_named, enough_memory, moved, own_threads
from arborescence.parsers.neural.encoder import Encoder, encode
from arborescence.parsers.neural.forward import NetworkScores
from arborescence.parsers.neural.pieces import Pieces
from arborescence.parsers.neural.stored import SLOPE, WINDOWS
from arborescence.parsers.neural.vocabulary import NOTHING, UNKNOWN, Tagset

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.parsers.neural.bert.encoder import BertEncoder
    from arborescence.parsers.neural.inputs import Inputs, Numbers
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vocabulary import Vocabulary


class BiLSTM(nn.Module):
    """One bidirectional layer over sentences with the layout of `inputs.BatchLayout`."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.input = nn.Parameter(torch.empty(2, size, 4 * hidden))
        self.recurrent = nn.Parameter(torch.empty(2, hidden, 4 * hidden))
        self.bias = nn.Parameter(torch.zeros(2, 1, 4 * hidden))
        for direction in range(2):
            nn.init.xavier_uniform_(self.input.data[direction])
            for gate in self.recurrent.data[direction].chunk(4, dim=1):
                nn.init.orthogonal_(gate)
        self.bias.data[:, :, hidden : 2 * hidden] = 1  # at the beginning, forget nothing

    def forward(self, rows: Tensor, sizes: list[int], mirrored: Tensor) -> Tensor:
        """Return the outputs of both directions side by side, (N, 2 hidden)."""
        both = torch.stack([rows, rows[mirrored]])
        gates = torch.baddbmm(self.bias, both, self.input)
        # Also under autocast, the recurrence is computed in float32.
        onward, back = _Recurrence.apply(gates.float(), self.recurrent, sizes)
        return torch.cat([onward, back[mirrored]], dim=1)


class _Recurrence(torch.autograd.Function):
    """The recurrent part of an LSTM: from the gates' inputs to the outputs."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, weights: Tensor, sizes: list[int]) -> Tensor:
        """Run D directions: gates (D, N, 4 hidden), weights (D, hidden, 4 hidden)."""
        directions, rows, wide = gates.shape
        hidden = wide // 4
        gates = gates.clone()
        cells, curved, outputs = gates.new_empty(3, directions, rows, hidden)
        start = before = 0
        for size in sizes:
            now = slice(start, start + size)
            gate = gates[:, now]
            if start:
                last = slice(before, before + size)
                gate.baddbmm_(outputs[:, last], weights)
            gate[..., : 3 * hidden].sigmoid_()
            gate[..., 3 * hidden :].tanh_()
            enter, forget, leave, new = gate.chunk(4, dim=2)
            cell = torch.mul(enter, new, out=cells[:, now])
            if start:
                cell.addcmul_(forget, cells[:, last])
            torch.mul(leave, torch.tanh(cell, out=curved[:, now]), out=outputs[:, now])
            before, start = start, start + size
        ctx.save_for_backward(gates, weights, cells, curved, outputs)
        ctx.sizes = sizes
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        """Return the gradients of the gates' inputs and of the weights."""
        gates, weights, cells, curved, outputs = ctx.saved_tensors
        sizes = ctx.sizes
        hidden = outputs.shape[2]
        starts = [0]
        for size in sizes:
            starts.append(starts[-1] + size)
        of_gates = torch.empty_like(gates)
        of_output = gradient.clone()
        of_cell = torch.zeros_like(cells[:, : sizes[0]])
        before = torch.zeros_like(outputs)
        transposed = weights.mT.contiguous()
        for step in range(len(sizes) - 1, -1, -1):
            size, now = sizes[step], slice(starts[step], starts[step + 1])
            last = slice(starts[step - 1], starts[step - 1] + size)
            enter, forget, leave, new = gates[:, now].chunk(4, dim=2)
            into_enter, into_forget, into_leave, into_new = of_gates[:, now].chunk(4, dim=2)
            of_out, tanh, cell = of_output[:, now], curved[:, now], of_cell[:, :size]
            torch.mul(of_out, tanh, out=into_leave)
            cell.addcmul_(of_out * leave, 1 - tanh * tanh)
            torch.mul(cell, new, out=into_enter)
            torch.mul(cell * enter, 1 - new * new, out=into_new)
            if step:
                torch.mul(cell, cells[:, last], out=into_forget)
                before[:, now] = outputs[:, last]
            else:
                into_forget.zero_()
            sigmoid = gates[:, now, : 3 * hidden]
            of_gates[:, now, : 3 * hidden].mul_(sigmoid - sigmoid * sigmoid)
            cell.mul_(forget)
            if step:
                of_output[:, last].baddbmm_(of_gates[:, now], transposed)
        return of_gates, before.mT @ of_gates, None


_LOWEST: Final = -1e9


class Outputs(NamedTuple):
    """The network's output for B sentences with N words and roots, at most T in a sentence."""

    #: (N, V) each: the logits of the values of each column.
    tags: dict[str, Tensor]
    #: (B, T, T) float: the scores of edges, ``[head, dependent]``; very low where a sentence has no
    #: such edge.
    edges: Tensor
    #: (N, label) float: the vectors of words as heads, for `Network.relations`.
    heads: Tensor
    #: (N, label) float: the vectors of words as dependents.
    dependents: Tensor


class Network(nn.Module):
    """The network, with `relations` for the edges of a tree; fine-tuning copies the encoder."""

    def __init__(
        self,
        settings: Settings,
        vocabulary: Vocabulary,
        *,
        hinted: bool,
        relations: int,
        encoder: Encoder | BertEncoder | None = None,
    ) -> None:
        super().__init__()
        self._dropout = settings.dropout
        self._word_dropout = settings.word_dropout
        self._arc = settings.arc
        self._is_mlp = settings.scorer == "mlp"
        words, lemmas, letters = vocabulary.sizes
        columns = vocabulary.tags

        self.words = nn.Embedding(words, settings.word)
        self.pretrained = self.pretrained_projection = None
        if settings.vector:
            self.pretrained = nn.Embedding(len(vocabulary.vectors) + 1, settings.vector)
            self.pretrained.weight.requires_grad = False
            self.pretrained_projection = nn.Linear(settings.vector, settings.word, bias=False)
        self.letters = nn.Embedding(letters, settings.letter, padding_idx=NOTHING)
        self.windows = nn.ModuleList(
            nn.Conv1d(settings.letter, settings.filters, width, padding=width // 2)
            for width in WINDOWS
        )
        self.hints = nn.ParameterDict(
            {name: _vectors(tags, settings.tag) for name, tags in columns.items() if hinted}
        )
        self.lemmas = nn.Embedding(lemmas, settings.word) if vocabulary.lemmas else None
        self.tags = nn.ParameterDict(
            {name: _vectors(tags, settings.tag) for name, tags in columns.items()}
        )
        self.taggers = nn.ModuleDict(
            {
                name: nn.Linear(2 * settings.hidden, len(tags.values))
                for name, tags in columns.items()
            }
        )
        self._pieces = {
            name: torch.from_numpy(tags.table(tags.values)) for name, tags in columns.items()
        }

        size = settings.word + len(WINDOWS) * settings.filters + settings.tag * len(self.hints)
        self.encoder = self.encoder_projection = None
        if settings.encoded:
            if isinstance(encoder, Encoder) and encoder.fine_tune:
                self.encoder = deepcopy(encoder.model)
            self.encoder_mix = nn.Parameter(torch.zeros(settings.encoder_layers))
            self.encoder_projection = nn.Linear(settings.encoded, settings.hidden)
            size += settings.hidden
        layers = [BiLSTM(size, settings.hidden)]
        size = 2 * settings.hidden
        layers += [BiLSTM(size, settings.hidden) for _ in range(1, settings.lower)]
        self.lower = nn.ModuleList(layers)
        first = size + settings.tag * len(columns) + (settings.word if vocabulary.lemmas else 0)
        self.upper = nn.ModuleList(
            BiLSTM(size if layer else first, settings.hidden) for layer in range(settings.upper)
        )
        self.as_head = nn.Linear(size, settings.arc + settings.label)
        self.as_dependent = nn.Linear(size, settings.arc + settings.label)
        if self._is_mlp:
            self.edge_weights = nn.Parameter(torch.randn(settings.arc) / settings.arc**0.5)
        else:
            self.edge_weights = nn.Parameter(torch.zeros(settings.arc + 1, settings.arc))
        wide = settings.label + 1
        self.relation_weights = nn.Parameter(torch.zeros(wide, relations, wide))
        nn.init.normal_(self.words.weight, std=0.1)

    def forward(self, batch: Any) -> Outputs:
        """Score tags and edges of `Inputs` whose arrays are tensors (`devices.moved`)."""
        rows = self._read(batch)
        for layer in self.lower:
            rows = self._run(layer, rows, batch)
        below = self._drop(rows, batch)
        logits = {column: tagger(below) for column, tagger in self.taggers.items()}
        vectors = [self._tag_vectors(column, logits[column], batch) for column in self.tags]
        if self.lemmas is not None and batch.lemmas is not None:
            vectors.append(self.lemmas(batch.lemmas))
        rows = torch.cat([rows, *vectors], dim=1)
        for layer in self.upper:
            rows = self._run(layer, rows, batch)
        rows = self._drop(rows, batch)
        heads, dependents = self.as_head(rows), self.as_dependent(rows)
        edges, of_heads, of_dependents = self._edges(heads, dependents, batch)
        return Outputs(logits, edges, of_heads, of_dependents)

    def groups(self, settings: Settings) -> list[dict[str, Any]]:
        """Return the parameters that are trained; the encoder's parameters have their own rate."""
        tuned = [] if self.encoder is None else list(self.encoder.parameters())
        ours = {id(each) for each in tuned}
        rest = [each for each in self.parameters() if each.requires_grad and id(each) not in ours]
        groups: list[dict[str, Any]] = [{"params": rest}]
        if tuned:
            groups.append({"params": tuned, "lr": settings.encoder_rate})
        return groups

    def relations(self, heads: Tensor, dependents: Tensor) -> Tensor:
        """Score all relations (E, L) of edges, by the vectors of both ends, (E, label) each."""
        heads, dependents = _with_one(heads), _with_one(dependents)
        wide, relations, _ = self.relation_weights.shape
        by_head = (heads @ self.relation_weights.view(wide, -1)).view(-1, relations, wide)
        return (by_head @ dependents[:, :, None])[:, :, 0]

    def _read(self, batch: Any) -> Tensor:
        """Return the vectors of words: of the word, its letters, and the linear tagger's tags."""
        numbers = batch.words[batch.spelling]
        if self.training and self._word_dropout:
            lost = torch.rand(numbers.shape, device=numbers.device) < self._word_dropout
            numbers = numbers.masked_fill(lost & (numbers > 1), UNKNOWN)
        words = self.words(numbers)
        if self.pretrained is not None and self.pretrained_projection is not None:
            vectors = self.pretrained_projection(self.pretrained(batch.vectors))
            words = words + vectors[batch.spelling]
        letters = self.letters(batch.letters).mT  # (U, letter, C)
        absent = (batch.letters == NOTHING)[:, None]
        spelled = [
            window(letters).masked_fill(absent, _LOWEST).amax(dim=2).relu()
            for window in self.windows
        ]
        read = [words, torch.cat(spelled, dim=1)[batch.spelling]]
        read += [
            self._expected(column, vectors, *batch.hints[column])
            for column, vectors in self.hints.items()
        ]
        if self.encoder_projection is not None and batch.encoded is not None:
            read.append(self.encoder_projection(self._mixed(batch.encoded, len(words))))
        return torch.cat(read, dim=1)

    def _expected(self, column: str, vectors: Tensor, tags: Tensor, chances: Tensor) -> Tensor:
        """Return the sum of the vectors of tags, weighted by their probabilities."""
        of_values = pad(self._pieces[column].to(vectors) @ vectors, (0, 0, 0, 1))  # -1: nothing
        expected: Tensor = (chances[:, None] @ of_values[tags])[:, 0]
        return expected

    def _mixed(self, encoded: Any, rows: int) -> Tensor:
        """Return the mean of the encoder's layers, each normalized, by learned shares."""
        if isinstance(encoded, Pieces):
            encoded = encode(self.encoder, encoded, len(self.encoder_mix), rows)
        layers = layer_norm(encoded.float(), encoded.shape[2:])
        mixed: Tensor = self.encoder_mix.softmax(dim=0) @ layers
        return mixed

    def _tag_vectors(self, column: str, logits: Tensor, batch: Any) -> Tensor:
        """Return the vectors of given tags, else the expected vectors."""
        vectors = self.tags[column]
        bag = batch.given[column]
        expected = logits.softmax(dim=1) @ (self._pieces[column].to(vectors) @ vectors)
        roots = len(batch.layout.lengths)
        expected = torch.cat([torch.zeros_like(expected[:roots]), expected[roots:]])
        known = (bag.pieces @ vectors)[bag.row]
        return torch.where(bag.given[batch.layout.sentence][:, None], known, expected)

    def _run(self, layer: nn.Module, rows: Tensor, batch: Any) -> Tensor:
        out: Tensor = layer(self._drop(rows, batch), batch.layout.sizes, batch.layout.mirrored)
        return out

    def _drop(self, rows: Tensor, batch: Any) -> Tensor:
        """Set the same random columns to zero in all rows of a sentence, in training."""
        if not self.training or not self._dropout:
            return rows
        keep = 1 - self._dropout
        shape = len(batch.layout.lengths), rows.shape[1]
        mask = torch.empty(shape, device=rows.device).bernoulli_(keep).div_(keep)
        return rows * mask[batch.layout.sentence]

    def _edges(
        self, heads: Tensor, dependents: Tensor, batch: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Score edges; also return the vectors of heads and dependents for relations."""
        label_heads = self._drop(leaky_relu(heads[:, self._arc :], SLOPE), batch)
        label_dependents = self._drop(leaky_relu(dependents[:, self._arc :], SLOPE), batch)
        heads, dependents = heads[:, : self._arc], dependents[:, : self._arc]
        nodes = batch.layout.rows
        if self._is_mlp:
            pairs = heads[nodes][:, :, None] + dependents[nodes][:, None]
            edges = pairs.tanh() @ self.edge_weights
        else:
            heads = self._drop(leaky_relu(heads, SLOPE), batch)
            dependents = self._drop(leaky_relu(dependents, SLOPE), batch)
            by_dependent = dependents @ self.edge_weights[:-1].mT + self.edge_weights[-1]
            edges = heads[nodes] @ by_dependent[nodes].mT
        places = torch.arange(edges.shape[1], device=edges.device)
        absent = places >= batch.layout.lengths[:, None]
        absent = (
            absent[:, :, None]
            | absent[:, None]
            | torch.eye(len(places), device=edges.device).bool()
        )
        return edges.masked_fill(absent, _LOWEST), label_heads, label_dependents


class OnDevice:
    """The network with given weights on a device; OptionError if there is no such device."""

    def __init__(
        self,
        settings: Settings,
        vocabulary: Vocabulary,
        weights: Mapping[str, NDArray[np.float32]],
        relations: int,
        device: str,
        encoder: Encoder | None = None,
    ) -> None:
        hinted = any(name.startswith("hints.") for name in weights)
        self._device = device_named(device)
        self._network = Network(
            settings, vocabulary, hinted=hinted, relations=relations, encoder=encoder
        )
        load_state(self._network, {name: torch.from_numpy(w) for name, w in weights.items()})
        self._network.to(self._device).eval()

    @property
    def encoder(self) -> Any:
        """A copy of the fine-tuned encoder, on the CPU."""
        encoder: Any = self._network.encoder
        return deepcopy(encoder).cpu()

    def run(self, inputs: Inputs) -> NetworkScores:
        """Tag the words and score the edges of a batch."""
        advice = "use fewer threads, or another device"
        with torch.inference_mode(), enough_memory(advice), own_threads(1):
            outputs = self._network(moved(inputs, self._device))
            tags = {column: logits.argmax(dim=1).cpu() for column, logits in outputs.tags.items()}
            edges = outputs.edges.cpu()

        def relations(governors: Numbers, dependents: Numbers) -> NDArray[np.float32]:
            with torch.inference_mode(), own_threads(1):
                heads = outputs.heads[torch.from_numpy(governors).to(self._device)]
                tails = outputs.dependents[torch.from_numpy(dependents).to(self._device)]
                scores: NDArray[np.float32] = self._network.relations(heads, tails).cpu().numpy()
                return scores

        return NetworkScores(
            {c: each.numpy() for c, each in tags.items()}, edges.numpy(), relations
        )


def state_of(network: nn.Module) -> dict[str, Tensor]:
    """Return the parameters by name, on the CPU."""
    return {name: value.detach().cpu() for name, value in network.named_parameters()}


def load_state(network: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Set the parameters."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(state[name])


def _vectors(tags: Tagset, size: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(len(tags.pieces), size) * 0.1)


def _with_one(rows: Tensor) -> Tensor:
    return pad(rows, (0, 1), value=1.0)
