"""A neural parser: BiLSTMs, tags, biaffine edges and relations (Dozat and Manning 2017)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from arborescence.errors import ModelError, OptionError
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.feature_cache import remove
from arborescence.parsers.neural.graphs import NeuralGraphs
from arborescence.parsers.neural.inputs import hints_of, jackknifed_hints
from arborescence.parsers.neural.onnx_encoder import FORMAT, OnnxEncoder
from arborescence.parsers.neural.settings import Settings, needs_torch, pace, said_of
from arborescence.parsers.neural.stored import shapes
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
#: What a model file has of a pretrained encoder; the user says its place.
_ENCODER: Final = {"name": scheme.VALUE, "digest": scheme.VALUE}
_ARRAYS: Final = {"allowed": scheme.Array((np.bool_,), (2, "labels"))}
#: The prefix of the names of the network's weights in a model file.
_NETWORK: Final = "network/"
#: That of the names of an encoder's arrays.
_ENCODED: Final = "encoder/"


@dataclass(kw_only=True, eq=False, repr=False)
class BiaffineParser(GraphParser):
    """A parser that scores edges and relations, and tags words, by a neural network.

    Created by `train`, which needs PyTorch (the extra ``torch``), or by `arborescence.load`.
    Parsing needs NumPy only; with a pretrained encoder, PyTorch, or onnxruntime: see `to_onnx`.

    Characters (by a CNN), words and the tags of a linear tagger go through BiLSTMs. The lower ones
    predict tags; the upper ones also read tags, those of the sentence or the predicted ones, and
    give the vectors by which edges and relations are scored (Dozat and Manning 2017, *Deep Biaffine
    Attention for Neural Dependency Parsing*). So the same parser takes words with or without tags.

    Attributes
    ----------
    settings : Settings
        The settings of `train`.
    vocabulary : Vocabulary
        The known words, characters and tags.
    columns : tuple of str
        The columns that the network uses: form, and some of lemma, upos, xpos and feats.
    labels : tuple of str
        The relations that it can assign.
    allowed : (2, L) bool
        The relations allowed on edges from the root, and on other edges.
    weights : dict of str to array
        The parameters of the network, rounded: see `stored.to_arrays`.
    projective : bool
        Whether its trees are projective.
    temperature, relation_temperature, tree_temperature : float
        The divisors that turn scores into log-probabilities (up to a constant), of edges, relations
        and whole trees: fitted on the dev set, 1 without one.
    device : str or None
        The device on which PyTorch runs the network; None: it is run by NumPy. See `to`.
    tagger : Tagger or None
        The linear tagger whose tags are an input of the network.
    encoder : Encoder, OnnxEncoder or None
        The pretrained encoder whose vectors are an input of the network.
    text, info
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
    encoder: Encoder | OnnxEncoder | None = None

    def __post_init__(self) -> None:
        """Check the shapes of weights, and prepare the network: the same errors as `to`."""
        self.labels = tuple(self.labels)
        self.columns, self.projective = self.settings.columns, self.settings.projective
        self.info = self.settings.stored() | self.info
        self.shapes = shapes(
            self.settings,
            self.vocabulary,
            hinted=self.tagger is not None,
            relations=len(self.labels),
        )
        if self.encoder is not None:
            self.shapes |= self.encoder.shapes
        # Until training or a file says more.
        self.reading = Reading.among(self.vocabulary.letters.keys() | self.vocabulary.words.keys())
        self.to(self.device)

    def to(self, device: str | None) -> Self:
        """Choose what runs the network.

        Parameters
        ----------
        device
            None: NumPy, and kernels of this library. ``"cpu"``, ``"cuda"``, ...: PyTorch, on this
            device. The trees are the same, up to rounding errors of scores. A parser whose encoder
            PyTorch runs takes None as ``"cpu"``; one in ONNX is run by onnxruntime in any case.

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
        encoder = None if isinstance(self.encoder, OnnxEncoder) else self.encoder  # of PyTorch
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

    def to_onnx(self, *, quantized: bool = True) -> Self:
        """Return this parser with its fine-tuned encoder in ONNX, to be used without PyTorch.

        It parses with the packages onnxruntime and tokenizers (the extra ``encoder``), and `save`
        writes all of it into its one file. The encoder can no longer be trained.

        Parameters
        ----------
        quantized
            Whether the encoder's weights, and what they are multiplied by, are rounded to one byte:
            a quarter of the size, and faster.

        Returns
        -------
        Self
            Another parser.

        Raises
        ------
        MissingExtraError
            Without onnx, onnxscript and onnxruntime (the extra ``onnx``).
        OptionError
            If it has no fine-tuned encoder, or its tokenizer is none of the package tokenizers.
        ModelError
            If the encoder has operators that BERT has not, or its tokenizer parts that those of
            BERT and multilingual-e5 have not: model files may not have them.

        Examples
        --------
        >>> parser = arborescence.load("tuned.npz", encoder="bert-base-cased")  # doctest: +SKIP
        >>> parser.to_onnx().save("small.npz")  # doctest: +SKIP
        """
        encoder = self.encoder
        if encoder is None or isinstance(encoder, OnnxEncoder) or not encoder.fine_tune:
            raise OptionError("only a parser with a fine-tuned encoder becomes ONNX")
        from arborescence.parsers.neural.devices import own_threads
        from arborescence.parsers.neural.onnx_export import exported

        rest = {n: array for n, array in self.weights.items() if not n.startswith("encoder.")}
        with own_threads(1):
            made_of = exported(encoder, self._network.encoder, quantized=quantized)
        made = replace(self, weights=rest, encoder=made_of, device=None)
        made.rules, made.reading = self.rules, self.reading
        return made

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
        """Train a parser with PyTorch: see `Parser.train`, also for what is not said here.

        Adam with a learning rate that rises and then falls to 0. On a CPU, the result depends only
        on data, settings and the number of threads. PyTorch has ``threads`` of them meanwhile, 1 by
        default, for this call only: your own number is back after it, also after an error. The new
        parser itself uses NumPy: see `to`.

        Parameters
        ----------
        dev
            Its sentences are parsed without and with their tags; the mean LAS decides.
        start
            As there. The vectors and the encoder are its own.
        tagger
            A linear tagger, stored in the model: its tags are an input of the network. In training,
            they are those of other taggers that have not seen the sentence (jackknifing). By
            default that of `start`, which has not seen these sentences.
        checkpoint
            As there. Beside it the vectors of a pretrained encoder are kept until the end, unless
            there is an ``encoder_cache`` for them, or the encoder is trained, too.
        **settings
            The fields of `Settings`. `settings.pace` chooses a batch and epochs that are not given.

        Raises
        ------
        MissingExtraError, OptionError
            Without PyTorch; and without such a device, enough memory of it, or all columns of tags.
        """
        settings = settings_from(start) | settings
        chosen = Settings.of(settings)  # complains before anything is read
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
        """Train a parser in so many threads of PyTorch as it should use."""
        from arborescence.parsers.neural.training import Trainer

        parts = checked(treebank, dev, chosen.root, in_part=chosen.in_part)
        treebank, dev = cls._read(parts, start)
        size = sum(map(len, treebank))
        chosen = Settings.of(pace(size) | settings)
        if progress and (said := said_of(size, chosen)):
            progress("steps", 0, 1)
            progress(f"steps: {said}", 1, 1)
        vocabulary = Vocabulary.of(treebank, chosen.columns)
        table = of_words = hints = None
        if start is not None:
            vocabulary = start.vocabulary.grown(vocabulary)
            of_words, text = start.encoder, text or start.text
            if chosen.vectors is not None or chosen.encoder is not None:
                raise OptionError("vectors and encoder are those of the parser to go on from")
        if chosen.vectors is not None:
            near = words_of([*treebank, *dev])
            words, table = Vectors.read(chosen.vectors, near, chosen.most_vectors).scaled()
            vocabulary = vocabulary._replace(vectors=words)
            chosen = replace(chosen, vector=table.shape[1])
        beside = None if checkpoint is None else Path(checkpoint).with_suffix(".encoded")
        if chosen.encoder is not None:
            of_words = _encoder_for(chosen, beside)
            chosen = replace(chosen, encoded=of_words.size)
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
            encoder=of_words,
        )
        run.run(chosen.epochs, checkpoint=checkpoint, progress=progress)
        parser = cls(**run.parts(), text=text)  # its temperature needs the vectors once more
        if beside is not None:
            remove(beside)
        return parser._finished(task)

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return its own fields of the header, and the arrays."""
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
        """Make a parser from what `model_file.load` returned; raise ModelError if it is invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        encoder = fields.pop("encoder")
        kept = scheme.arrays_of(arrays, _ARRAYS, {"labels": len(fields["labels"])})
        fields["settings"] = record_of(Settings, fields["settings"])
        fields["vocabulary"] = Vocabulary.from_file(fields["vocabulary"])
        beside = tagging.unpack(header, arrays)
        tagger = beside["tagger"]
        unknown = fields["vocabulary"].tags.keys() - (tagger.columns if tagger else TAGS)
        if unknown:
            raise ModelError(f"the tagger does not predict {', '.join(sorted(unknown))}")
        return cls(
            **fields,
            encoder=_encoder_of(encoder, arrays, fields["settings"]),
            allowed=kept["allowed"],
            weights=scheme.part(arrays, _NETWORK),
            **beside,
        )

    @property
    def _tags(self) -> bool:
        return True

    def _graphs(self, sentences: list[Sentence], options: Options) -> NeuralGraphs:
        return NeuralGraphs(self, sentences, options)


def _encoder_for(settings: Settings, cache: Path | None) -> Encoder:
    """Load the encoder that a parser is trained with; by default it keeps vectors in `cache`."""
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
) -> Encoder | OnnxEncoder | None:
    """Load the encoder that a model file names, or has."""
    if (header is None) != (settings.encoded == 0):
        raise ModelError("the settings and the encoder contradict each other")
    if header is None:
        return None
    if header.get("format") == FORMAT:
        found = scheme.part(arrays, _ENCODED)
        return OnnxEncoder(header, found, settings.encoder_layers, settings.encoded)
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
        raise ModelError(f"{encoder.name}: vectors of {encoder.size} columns")
    return encoder
