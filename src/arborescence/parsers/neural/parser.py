"""A neural parser: BiLSTMs, tags, biaffine edges and relations (Dozat and Manning 2017)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from arborescence.errors import ModelError, OptionError
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.bert.blocks import EIGHT
from arborescence.parsers.neural.bert.encoder import FORMAT, BertEncoder
from arborescence.parsers.neural.bert.weights import PREFIX
from arborescence.parsers.neural.graphs import NeuralGraphs
from arborescence.parsers.neural.inputs import hints_of, jackknifed_hints
from arborescence.parsers.neural.settings import Settings, few_steps, needs_torch, pace
from arborescence.parsers.neural.stored import shapes_of
from arborescence.parsers.neural.vectors import Vectors, words_of
from arborescence.parsers.neural.vocabulary import TAGS, Vocabulary
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.graph_parser import TEMPERATURES, GraphParser
from arborescence.parsers.shared.options import record_of, settings_from
from arborescence.parsers.shared.reading import Reading
from arborescence.parsers.shared.run import Task
from arborescence.parsers.shared.training_trees import checked
from arborescence.parsers.tagger import tagging

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence

_FIELDS: Final = {
    "settings": scheme.MAPPING,
    "vocabulary": scheme.MAPPING,
    "labels": scheme.VALUES,
    **dict.fromkeys(TEMPERATURES, scheme.real(1e-4, 1e4, 1.0)),
    "info": scheme.INFO,
    "encoder": scheme.MAPPING_OR_NULL,
}
#: The fields of a pretrained encoder in a model file; a user may say where the encoder is.
_ENCODER: Final = {"name": scheme.VALUE, "digest": scheme.VALUE}
_ARRAYS: Final = {"allowed": scheme.Array((np.bool_,), (2, "labels"))}
#: The prefix of the names of the network's weights in a model file.
_NETWORK: Final = "network/"
#: The prefix of the names of an encoder's arrays.
_ENCODED: Final = "encoder/"


@dataclass(kw_only=True, eq=False, repr=False)
class BiaffineParser(GraphParser):
    """A parser that scores edges and relations, and tags words, by a neural network.

    Created by `train`, which needs PyTorch (the extra ``torch``), or by `arborescence.load`.
    Parsing needs NumPy only; with a pretrained encoder, PyTorch, unless the model contains it: see
    `standalone`.

    Characters (by a CNN), words and the tags of a linear tagger go through BiLSTMs. The lower
    BiLSTMs predict tags. The upper BiLSTMs also read tags, given or predicted, and give the vectors
    by which edges and relations are scored (Dozat and Manning 2017, *Deep Biaffine Attention for
    Neural Dependency Parsing*). So the same parser takes words with or without tags.

    Attributes
    ----------
    settings : Settings
        The settings of `train`.
    vocabulary : Vocabulary
        The known words, characters and tags.
    columns : tuple of str
        The columns that the network uses: form, and some of lemma, upos, xpos and feats.
    labels : tuple of str
        The relations that the parser can assign.
    allowed : (2, L) bool
        The relations allowed on edges from the root, and on other edges.
    weights : dict of str to array
        The parameters of the network, rounded: see `stored.to_arrays`.
    projective : bool
        Whether the parser's trees are projective.
    temperature, relation_temperature, tree_temperature : float
        The divisors that turn scores of edges, relations and whole trees into log-probabilities
        (up to a constant). Training fits them on the dev set; without a dev set, they are 1.
    device : str or None
        The device on which PyTorch runs the network; None: NumPy runs the network. See `to`.
    tagger : Tagger or None
        The linear tagger whose tags are an input of the network.
    encoder : Encoder, BertEncoder or None
        The pretrained encoder whose vectors are an input of the network.
    text : Text or None
        As in `LinearParser`.
    info : dict
        As in `LinearParser`.

    Examples
    --------
    >>> parser = BiaffineParser.train(treebank, dev=dev, tagger=tagger)  # doctest: +SKIP
    >>> [parsed] = parser.parse([["Old", "birds", "sing"]])  # doctest: +SKIP
    >>> parsed.heads, parsed.upos  # doctest: +SKIP
    (array([2, 3, 0]), ['ADJ', 'NOUN', 'VERB'])
    """

    kind: ClassVar[str] = "biaffine"
    settings_class = Settings

    settings: Settings
    vocabulary: Vocabulary
    labels: tuple[str, ...]
    allowed: NDArray[np.bool_]
    weights: Mapping[str, NDArray[Any]]
    temperature: float = 1.0
    relation_temperature: float = 1.0
    tree_temperature: float = 1.0
    tagger: Tagger | None = None
    text: Text | None = None
    info: dict[str, Any] = field(default_factory=dict)
    device: str | None = None
    encoder: Encoder | BertEncoder | None = None

    def __post_init__(self) -> None:
        """Check the shapes of weights, and prepare the network: the same errors as `to`."""
        self.labels = tuple(self.labels)
        self.columns, self.projective = self.settings.columns, self.settings.projective
        self.info = self.settings.stored() | self.info
        self.shapes = shapes_of(
            self.settings,
            self.vocabulary,
            hinted=self.tagger is not None,
            relations=len(self.labels),
        )
        if self.encoder is not None:
            self.shapes |= self.encoder.shapes
        # Training or a model file replaces this reading.
        self.reading = Reading.among(self.vocabulary.letters.keys() | self.vocabulary.words.keys())
        self.to(self.device)

    def to(self, device: str | None) -> Self:
        """Choose the device that runs the network.

        Parameters
        ----------
        device
            None: NumPy, and kernels of this library, which round numbers to bytes; the trees are
            the same on every processor. ``"cpu"``, ``"cuda"``, ...: PyTorch, on this device, in
            float32; a few trees differ. If PyTorch runs the encoder, None means ``"cpu"``;
            an encoder in the model file never runs in PyTorch.

        Returns
        -------
        Self
            The same parser.

        Raises
        ------
        MissingExtraError
            If PyTorch is needed and not installed.
        OptionError
            If PyTorch has no such device.
        """
        encoder = None if isinstance(self.encoder, BertEncoder) else self.encoder  # of PyTorch
        if device is None and encoder is not None:
            device = "cpu"
        weights = stored.from_arrays(self.weights, self.shapes)
        self._network: Any
        if device is None:
            from arborescence.parsers.neural.forward import Forward

            self._network = Forward(self.settings, self.vocabulary, weights)
        else:
            with needs_torch("the option device"):
                from arborescence.parsers.neural.network import OnDevice
            self._network = OnDevice(
                self.settings, self.vocabulary, weights, len(self.labels), device, encoder
            )
            if encoder is not None:
                encoder.to(device)
        self.device = device
        return self

    def standalone(self, *, quantized: bool = True) -> Self:
        """Return this parser with its fine-tuned encoder inside, to be used without PyTorch.

        The new parser needs the package tokenizers (the extra ``encoder``), and `save` writes it
        into one file, with its encoder. The encoder can no longer be trained.

        Parameters
        ----------
        quantized
            Whether the encoder's weights and their inputs are rounded to one byte: a quarter of the
            size, and faster.

        Returns
        -------
        Self
            Another parser.

        Raises
        ------
        OptionError
            If the parser has no fine-tuned encoder; if the encoder is not a BERT, ELECTRA,
            DistilBERT, RoBERTa or MPNet; or if its tokenizer is not of the package tokenizers.
        ModelError
            If the tokenizer has parts that the tokenizers of BERT and multilingual-e5 do not have:
            model files may not have them.

        Examples
        --------
        >>> parser = arborescence.load("tuned.npz", encoder="bert-base-cased")  # doctest: +SKIP
        >>> parser.standalone().save("small.npz")  # doctest: +SKIP
        """
        encoder = self.encoder
        if encoder is None or isinstance(encoder, BertEncoder) or not encoder.fine_tune:
            raise OptionError("only a parser with a fine-tuned encoder can contain it")
        tuned = stored.from_arrays(self.weights, self.shapes)
        rest = {n: array for n, array in self.weights.items() if not n.startswith(PREFIX)}
        depth = encoder.model.config.num_hidden_layers
        last = np.eye(depth + 1, dtype=np.float32)[-encoder.layers :]
        made = BertEncoder.of(encoder, tuned, last, EIGHT if quantized else None)
        parser = replace(self, weights=rest, encoder=made, device=None)
        parser.rules, parser.reading = self.rules, self.reading
        return parser

    @classmethod
    def train(
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        start: Self | None = None,
        tagger: Tagger | None = None,
        text: Text | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Self:
        """Train a parser with PyTorch: see `Parser.train`, also for the other parameters.

        Training uses Adam, with a learning rate that rises and then falls to 0. On a CPU, the
        result depends only on data, settings and the number of threads. During this call, PyTorch
        has ``threads`` threads, 1 by default; afterwards, also after an error, it has as many as
        before. The new parser itself uses NumPy: see `to`.

        Parameters
        ----------
        dev
            Its sentences are parsed without and with their tags; the mean LAS decides.
        start
            As in `Parser.train`. The new parser has the vectors and the encoder of `start`.
        tagger
            A linear tagger, stored in the model: its tags are an input of the network. In training,
            the tags come from other taggers that have not seen the sentence (jackknifing). By
            default the tagger of `start`, which has not seen these sentences.
        checkpoint
            As in `Parser.train`. The vectors of a pretrained encoder are kept beside it until the
            end, unless there is an ``encoder_cache``, or the encoder is trained, too.
        **settings
            The fields of `Settings`. `settings.pace` chooses a batch and epochs that are not given.

        Raises
        ------
        MissingExtraError, OptionError
            MissingExtraError if PyTorch is missing; OptionError if the device, enough memory on it,
            or a column of tags is missing.
        """
        settings = settings_from(start) | settings
        chosen = Settings.of(settings)  # raises its errors before anything is read
        chosen.check_installed()
        from arborescence.parsers.neural.devices import own_threads

        given = start, tagger, text, checkpoint, progress
        with own_threads(chosen.threads):
            return cls._train(treebank, dev, chosen, settings, *given)

    @classmethod
    def _train(
        cls,
        treebank: Iterable[Sentence],
        dev: Iterable[Sentence] | None,
        chosen: Settings,
        settings: dict[str, Any],
        start: Self | None,
        tagger: Tagger | None,
        text: Text | None,
        checkpoint: str | os.PathLike[str] | None,
        progress: Progress | None,
    ) -> Self:
        """Train a parser within the block that sets the number of PyTorch's threads."""
        from arborescence.parsers.neural.training import Trainer

        parts = checked(treebank, dev, chosen.root, in_part=chosen.in_part)
        treebank, dev = cls._read(parts, start)
        size = sum(map(len, treebank))
        chosen = Settings.of(pace(size) | settings)
        if progress and (warning := few_steps(size, chosen)):
            progress("steps", 0, 1)
            progress(f"steps: {warning}", 1, 1)
        vocabulary = Vocabulary.of(treebank, chosen.columns)
        table = encoder = hints = None
        if start is not None:
            vocabulary = start.vocabulary.grown(vocabulary)
            encoder, text = start.encoder, text or start.text
            if chosen.vectors is not None or chosen.encoder is not None:
                raise OptionError(
                    "vectors and encoder cannot be given with start: its own are used"
                )
        if chosen.vectors is not None:
            near = words_of([*treebank, *dev])
            words, table = Vectors.read(chosen.vectors, near, chosen.most_vectors).scaled()
            vocabulary = vocabulary._replace(vectors=words)
            chosen = replace(chosen, vector=table.shape[1])
        cache = None if checkpoint is None else Path(checkpoint).with_suffix(".encoded")
        if chosen.encoder is not None:
            encoder = _encoder_for(chosen, cache)
            chosen = replace(chosen, encoded=encoder.size)
        if start is not None and start.tagger and not tagger:
            tagger = start.tagger
            hints = hints_of(treebank, tagger, vocabulary)
        elif tagger:
            if missing := [column for column in vocabulary.tags if column not in tagger.columns]:
                raise OptionError(
                    f"the tagger does not predict {', '.join(missing)}: train it on this treebank, "
                    "or choose other columns"
                )
            hints = jackknifed_hints(
                treebank, tagger, vocabulary, rng=chosen.rng, progress=progress
            )
        task = Task(treebank, dev, chosen, cls, start)
        run = Trainer(
            task,
            hints,
            vocabulary,
            tagger=tagger,
            vectors=table,
            encoder=encoder,
        )
        run.run(chosen.epochs, checkpoint=checkpoint, progress=progress)
        parser = cls(**run.parts(), text=text)  # fitting its temperatures needs the vectors
        if cache is not None:
            from arborescence.parsers.neural.feature_cache import remove

            remove(cache)
        return parser._finished(task)

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of the header that this kind of parser has, and the arrays."""
        header: dict[str, Any] = {
            "settings": self.settings.stored(),
            "vocabulary": self.vocabulary.to_file(),
            "labels": self.labels,
            **{name: getattr(self, name) for name in TEMPERATURES},
            "info": self.info,
            "encoder": None if self.encoder is None else self.encoder.to_file(),
        }
        parts = {"": {"allowed": self.allowed}, _NETWORK: self.weights}
        if self.encoder is not None:
            parts[_ENCODED] = self.encoder.arrays
        arrays = scheme.joined(parts)
        tagging.pack(self.tagger, self.text, header, arrays)
        return header, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from the header and arrays of a model file; ModelError if invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        encoder = fields.pop("encoder")
        kept = scheme.arrays_of(arrays, _ARRAYS, {"labels": len(fields["labels"])})
        fields["settings"] = record_of(Settings, fields["settings"])
        fields["vocabulary"] = Vocabulary.from_file(fields["vocabulary"])
        models = tagging.unpack(header, arrays)
        tagger = models["tagger"]
        unknown = fields["vocabulary"].tags.keys() - (tagger.columns if tagger else TAGS)
        if unknown:
            raise ModelError(f"the tagger does not predict {', '.join(sorted(unknown))}")
        return cls(
            **fields,
            encoder=_encoder_of(encoder, arrays, fields["settings"]),
            allowed=kept["allowed"],
            weights=scheme.part(arrays, _NETWORK),
            **models,
        )

    @property
    def _tags(self) -> bool:
        return True

    def _graphs(self, sentences: list[Sentence], options: Options) -> NeuralGraphs:
        return NeuralGraphs(self, sentences, options)


def _encoder_for(settings: Settings, cache: Path | None) -> Encoder:
    """Load the encoder for training; by default it keeps vectors in `cache`."""
    from arborescence.parsers.neural.encoder import Encoder

    encoder = Encoder.load(
        str(settings.encoder),
        layers=settings.encoder_layers,
        fine_tune=settings.fine_tune,
        device=settings.device,
    )
    if not settings.fine_tune:
        encoder.keep_in(settings.encoder_cache or cache)
    return encoder


def _encoder_of(
    header: dict[str, Any] | None, arrays: dict[str, NDArray[Any]], settings: Settings
) -> Encoder | BertEncoder | None:
    """Load the encoder that a model file names or contains."""
    if (header is None) != (settings.encoded == 0):
        raise ModelError("the settings and the encoder contradict each other")
    if header is None:
        return None
    if header.get("format") == FORMAT:
        inside = scheme.part(arrays, _ENCODED)
        return BertEncoder(header, inside, settings.encoder_layers, settings.encoded)
    with needs_torch("a parser with a pretrained encoder"):
        from arborescence.parsers.neural.encoder import Encoder

    named, place = scheme.fields_of(header, _ENCODER), header.get("place")
    encoder = Encoder.load(
        named["name"] if place is None else place,
        layers=settings.encoder_layers,
        fine_tune=settings.fine_tune,
        digest=named["digest"],
        download=place is not None,
    )
    if encoder.size != settings.encoded:
        raise ModelError(
            f"{encoder.name}: its vectors have {encoder.size} columns, not {settings.encoded}"
        )
    return encoder
