"""The biaffine parser: BiLSTMs, tags, biaffine edges and labels (Dozat and Manning 2017)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

import numpy as np

from arborescence.core.errors import MissingExtraError
from arborescence.inference.decode import decode
from arborescence.inference.kbest import kbest
from arborescence.parsers.neural.inputs import Inputs
from arborescence.parsers.neural.settings import Settings
from arborescence.parsers.neural.vectors import MOST_FREQUENT, Vectors, words_of
from arborescence.parsers.shared.annotating import annotated
from arborescence.parsers.shared.base import Options, Parser
from arborescence.parsers.shared.confidence import edge_probabilities, with_edge_probs
from arborescence.parsers.tagger.retagging import retagged

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.neural.forward import Found
    from arborescence.parsers.neural.vocabulary import Vocabulary
    from arborescence.parsers.shared.types import Progress
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence

#: Sentences are parsed in groups of similar length, so that little of a group is padding.
_GROUP_WORDS: Final = 2048
_GROUP_EDGES: Final = 2**20


class _Group(NamedTuple):
    """Some sentences of a batch, and what the network found for them.

    Attributes
    ----------
    numbers : list of int
        Their numbers in the batch.
    inputs : Inputs
    found : Found
    """

    numbers: list[int]
    inputs: Inputs
    found: Found


class BiaffineParser(Parser):
    """A neural parser."""

    kind: ClassVar[str] = "biaffine"

    def __init__(
        self,
        *,
        settings: Settings,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        allowed: NDArray[np.bool_],
        weights: dict[str, NDArray[np.float32]],
        temperature: float = 1.0,
        tagger: Tagger | None = None,
        text: Text | None = None,
        info: dict[str, Any] | None = None,
        device: str | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        self.settings = settings
        self.columns = settings.columns
        self.labels = tuple(labels)
        self.projective = settings.projective
        self.temperature = temperature
        self.tagger = tagger
        self.text = text
        self.info = info or {}
        self._vocabulary = vocabulary
        self._allowed = allowed
        self._weights = weights
        self.encoder = encoder
        self.to(device)

    def to(self, device: str | None) -> Self:
        """Choose what runs the network: PyTorch on a device, or NumPy (None)."""
        if device is None and self.encoder is not None:
            device = "cpu"  # encoders need PyTorch
        if device is None:
            from arborescence.parsers.neural.forward import Forward

            self._network: Any = Forward(self.settings, self._vocabulary, self._weights)
        else:
            from arborescence.parsers.neural.on_device import OnDevice

            self._network = OnDevice(
                self.settings,
                self._vocabulary,
                self._weights,
                len(self.labels),
                device,
                self.encoder and self.encoder.to(device),
            )
        return self

    @classmethod
    def train(
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        tagger: Tagger | None = None,
        text: Text | None = None,
        device: str = "cpu",
        progress: Progress | None = None,
        vectors: str | os.PathLike[str] | None = None,
        most_vectors: int = MOST_FREQUENT,
        encoder: str | os.PathLike[str] | None = None,
        encoder_cache: str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> Self:
        chosen = Settings(**settings)
        try:
            from arborescence.parsers.neural.training import Trainer
        except ImportError as error:
            raise MissingExtraError(
                "training a neural parser needs PyTorch: install it with "
                "`pip install 'arborescence[torch]'`"
            ) from error
        treebank, dev = list(treebank), list(dev or ())
        known = read_by = None
        if vectors is not None:
            known = Vectors.read(vectors, words_of([*treebank, *dev]), most_vectors)
            chosen = replace(chosen, vector=known.table.shape[1])
        if encoder is not None:
            from arborescence.parsers.neural.encoder import Encoder

            read_by = Encoder.load(
                encoder, layers=chosen.encoder_layers, fine_tune=chosen.fine_tune, device=device
            )
            if not chosen.fine_tune:
                read_by.keep_in(encoder_cache)
            chosen = replace(chosen, encoded=read_by.size)
        hints = None
        if tagger:
            hints = retagged(
                treebank, columns=tagger.columns, seed=chosen.seed, progress=progress
            ) or list(tagger.tag(treebank, overwrite=True))
        trainer = Trainer(
            treebank,
            dev,
            hints,
            chosen,
            make=cls,
            device=device,
            tagger=tagger,
            vectors=known,
            encoder=read_by,
        )
        trainer.run(progress=progress)
        return cls(**trainer.parts(), tagger=tagger, text=text)

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        [(_, _, found)] = self._run([sentence])[1]
        return found.edges[0]

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        raise NotImplementedError

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        raise NotImplementedError

    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        sentences, groups = self._run(sentences)
        heads, labels, starts = self._empty(sentences, 1)
        projective = self._decodes_projectively(options)
        probabilities = np.ones(heads.shape if options.confidence else (1, 0))
        for numbers, inputs, found in groups:
            lengths = inputs.layout.lengths - 1
            trees = decode(found.edges, lengths, root=options.root, projective=projective)
            self._put(numbers, inputs, found, trees[:, None], heads, labels, starts)
        parsed = annotated(sentences, starts, heads, labels, self.labels)
        return [tree for [tree] in parsed]

    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options
    ) -> list[list[tuple[Sentence, float]]]:
        raise NotImplementedError

    def _empty(
        self, sentences: list[Sentence], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)])
        heads, labels = np.full((2, k, starts[-1]), -1, dtype=np.int64)
        return heads, labels, starts

    def _put(self, numbers, inputs, found, trees, heads, labels, starts) -> None:
        """Write the trees (B, K, T) of a group, and their relations, into those of the batch."""
        rows = inputs.layout.rows
        for place, b in enumerate(numbers):
            size = inputs.layout.lengths[place]
            of_sentence = trees[place, :, :size]
            there = of_sentence[:, 1:] >= 0
            heads[: len(of_sentence), starts[b] : starts[b] + size] = of_sentence
        there = trees >= 0
        sentence, _, word = np.nonzero(there)
        governor = trees[there]
        scores = found.relations(rows[sentence, governor], rows[sentence, word])
        scores = np.where(self._allowed[(governor > 0).astype(np.int64)], scores, -np.inf)
        best = np.full(trees.shape, -1)
        best[there] = scores.argmax(axis=1)
        for place, b in enumerate(numbers):
            size = inputs.layout.lengths[place]
            labels[: trees.shape[1], starts[b] : starts[b] + size] = best[place, :, :size]

    def _decodes_projectively(self, options: Options) -> bool:
        return self.projective if options.projective is None else options.projective

    def _run(self, sentences: list[Sentence]) -> tuple[list[Sentence], list[_Group]]:
        """Tag sentences where they have no tags, and score their edges."""
        hinted = list(self.tagger.tag(sentences, overwrite=True)) if self.tagger else None
        groups = []
        sentences = list(sentences)
        for numbers in _grouped([len(sentence) for sentence in sentences]):
            some = [sentences[b] for b in numbers]
            given = {
                column: np.array([set(getattr(s, column)) != {"_"} for s in some])
                for column in [*self._vocabulary.tags]
            }
            given["lemma"] = np.zeros(len(some), bool)
            if "feats" in given and len(given) > 2:
                others = [given[c] for c in ("upos", "xpos") if c in given]
                given["feats"] |= np.logical_and.reduce(others)
            inputs = Inputs.of(
                some,
                self._vocabulary,
                None if hinted is None else [hinted[b] for b in numbers],
                given,
            )
            if self.encoder is not None:
                inputs = inputs._replace(encoded=self.encoder.read(some, inputs.layout))
            found = self._network.run(inputs)
            for place, b in enumerate(numbers):
                rows = inputs.layout.rows[place, 1 : inputs.layout.lengths[place]]
                new = {
                    column: [tagset.values[v] for v in found.tags[column][rows].tolist()]
                    for column, tagset in self._vocabulary.tags.items()
                    if not given[column][place]
                }
                if new:
                    sentences[b] = sentences[b].replace(**new)
            groups.append(_Group(numbers, inputs, found))
        return sentences, groups


def _grouped(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the numbers of sentences of similar length, in groups that fit into memory."""
    group: list[int] = []
    words = 0
    for b in np.argsort(-np.array(lengths), kind="stable").tolist():
        longest = lengths[group[0]] if group else lengths[b]
        full = words + lengths[b] > _GROUP_WORDS
        if group and (full or (len(group) + 1) * longest**2 > _GROUP_EDGES):
            yield group
            group, words = [], 0
        group.append(b)
        words += lengths[b] + 1
    if group:
        yield group
