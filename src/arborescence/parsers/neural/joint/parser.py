"""A parser of several languages: they share one network, and each has parts of its own."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from arborescence.errors import ArborescenceWarning, ModelError, OptionError
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.bert.encoder import BertEncoder
from arborescence.parsers.neural.graphs import NeuralGraphs, NeuralGroup, grouped
from arborescence.parsers.neural.joint.auto import AutoParser
from arborescence.parsers.neural.joint.forward import CASE_TABLES, JointForward, shapes_of
from arborescence.parsers.neural.joint.inventory import Inventory, with_mean
from arborescence.parsers.neural.joint.languages import Language
from arborescence.parsers.neural.joint.settings import Settings
from arborescence.parsers.neural.vocabulary import is_given
from arborescence.parsers.registry import AUTO
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.given import batches
from arborescence.parsers.shared.graph_parser import TEMPERATURES, GraphParser
from arborescence.parsers.text.identifier import LanguageIdentifier

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.neural.joint.languages import Stored
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence

_SIZE: Final = scheme.whole(1, 10_000)
_FIELDS: Final = {
    "language": scheme.or_none(scheme.VALUE),
    "languages": scheme.MAPPING,
    "inventory": scheme.MAPPING,
    "encoder": scheme.MAPPING,
    **dict.fromkeys(("size", "arc", "label"), _SIZE),
    "identifier": replace(scheme.MAPPING_OR_NULL, default=None),
    "info": scheme.INFO,
}
#: The encoder gives two vectors for each piece: for edges and relations, and for tags.
MIXTURES: Final = 2
_NETWORK: Final = "network/"
_ENCODED: Final = "encoder/"
_LANGUAGE: Final = "language/{}/"
_IDENTIFIER: Final = "identifier/"
#: The largest number of edges in a group of sentences, unless one sentence has more.
_MOST_EDGES: Final = 2**20


@dataclass(kw_only=True, eq=False, repr=False)
class MultilingualParser(GraphParser):
    """A parser of one of several languages that share a network.

    Loaded by `arborescence.load`, with a language. A fine-tuned encoder reads the words, without
    PyTorch. The network finds tags and features, too.

    Attributes
    ----------
    language : str
        The code of the language that this object reads, such as ``"de"``; ``"yi=de"`` for a
        language that it has not learned, and reads as if the language was German.
    languages : dict
        The parts of the model file for each language, by its code: see `in_language`.
    inventory : Inventory
        The treebanks, relations, tags and features that the network knows.
    weights : dict of str to array
        The parameters of the layers above the encoder, rounded: see `stored.to_arrays`.
    encoder : BertEncoder
        The encoder.
    arc, label : int
        The sizes of the vectors by which edges and relations are scored.
    identifier : LanguageIdentifier or None
        Finds the language of a text, for an `AutoParser`.
    labels : tuple of str
        The relations that the language has.
    temperature, relation_temperature, tree_temperature : float
        As in `BiaffineParser`, of the language.
    text : Text or None
        As in `LinearParser`, of the language.
    xpos : XposTable or None
        Finds XPOS from the other tags, where the network does not, and these almost determine it.
    info : dict
        As in `LinearParser`, of the language.

    Examples
    --------
    >>> parser = arborescence.load("multi", language="de")  # doctest: +SKIP
    >>> [parsed] = parser("Vögel singen.")  # doctest: +SKIP
    >>> parsed.upos  # doctest: +SKIP
    ['NOUN', 'VERB', 'PUNCT']
    """

    kind: ClassVar[str] = "multilingual"
    settings_class = Settings

    language: str
    languages: dict[str, Stored]
    inventory: Inventory
    weights: Mapping[str, NDArray[Any]]
    encoder: BertEncoder
    arc: int
    label: int
    identifier: LanguageIdentifier | None = None

    def __post_init__(self) -> None:
        """Prepare the network for the language; ModelError if it is not known, or damaged."""
        own = Language.restored(self.languages[self._learned()], self.inventory.treebanks)
        weights = stored.from_arrays(self.weights, self.shapes)
        self.network = JointForward(self.inventory, own.treebank, weights, self.arc)
        self.treebank = own.treebank
        self.labels, self.allowed = self.network.labels, self.network.allowed
        for name in TEMPERATURES:
            setattr(self, name, getattr(own, name))
        self.rules, self.reading, self.text = own.rules, own.reading, own.text
        self.xpos = own.xpos
        self.info = dict(own.info or {})
        self.tagger = NetworkTagger(self)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the parameters above the encoder, by name."""
        cased = any(name in self.weights for name in CASE_TABLES)
        sizes = {"size": self.encoder.size, "arc": self.arc, "label": self.label}
        return shapes_of(self.inventory, **sizes, cased=cased)

    def _learned(self) -> str:
        """Return the code of the language as which the language is read; ModelError if none is."""
        unknown, _, code = self.language.rpartition("=")
        if code not in self.languages:
            raise ModelError(f"it does not read {code!r}: {_choice(self.languages)}")
        if unknown in self.languages:
            raise ModelError(f"it reads {unknown!r} itself: leave out '={code}'")
        if unknown:
            warnings.warn(
                f"the model has not learned {unknown!r}: it reads it as {code!r} (zero-shot), so "
                "expect more errors",
                ArborescenceWarning,
                stacklevel=2,
            )
        return code

    def in_language(self, language: str) -> Self:
        """Return a parser of another language with the same network.

        Parameters
        ----------
        language
            Its code: a key of `languages`.

        Returns
        -------
        Self
            Another parser.

        Raises
        ------
        ModelError
            If the model does not read this language.

        Examples
        --------
        >>> parser = arborescence.load("multi", language="de")  # doctest: +SKIP
        >>> parser.in_language("nl").language  # doctest: +SKIP
        'nl'
        """
        return replace(self, language=language, languages=self._languages())

    def beginning(self, language: str | None = None) -> Self:
        """Return a parser of one language, with which training begins.

        Parameters
        ----------
        language
            The code of a language that the model reads, by default the parser's own; ``"fo=da"``
            for a new language that begins as another one; or the code of a new language, which
            begins as the mean of all.

        Returns
        -------
        Self
            Another parser, of this language only. A new language has no models of text.

        Raises
        ------
        ModelError
            If the model does not read the language that the new one begins as.

        Examples
        --------
        >>> parser = arborescence.load("multi", language="da")  # doctest: +SKIP
        >>> parser.beginning("fo=da").language  # doctest: +SKIP
        'fo'
        """
        code, _, base = (language or self.language).partition("=")
        if not base and code in self.languages:
            return replace(self, language=code, languages={code: self._languages()[code]})
        inventory, weights = self.inventory, self.weights
        if base:
            treebank = self.in_language(base).treebank
        else:
            treebank = code
            inventory, weights = with_mean(code, inventory, weights)
        new = {code: Language(treebank).stored()}
        return replace(self, language=code, languages=new, inventory=inventory, weights=weights)

    @classmethod
    def train(
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        start: Self | None = None,
        text: Text | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Self:
        """Go on training a parser on a treebank of its language, as `arborescence.parsers.train`.

        The whole network learns, except the vectors of pieces. Matrices of the encoder that have
        learned are rounded to 8 bits.

        Parameters
        ----------
        treebank, dev, text, checkpoint, progress
            As in `Parser.train`.
        start
            The parser that goes on, of the language of the treebank: see `beginning`.
        **settings
            The `Settings` except `words`, ``arc`` and ``label``. By default, small treebanks have
            lower rates than the training from nothing, and more passes: see `tuning.pace`.

        Raises
        ------
        MissingExtraError, OptionError, ModelError
            If a package is missing; if there is no `start`, no sentence or an unknown setting; or
            if the encoder is not a BERT.
        """
        from arborescence.parsers.neural.joint.tuning import tuned

        if start is None:
            raise OptionError("a parser of several languages can only go on from another one")
        made: Any = tuned(start, treebank, dev or (), text, checkpoint, progress, settings)
        trained: Self = made
        return trained

    def _languages(self) -> dict[str, Stored]:
        """Return `languages`, with the current parts of the parser's own language."""
        fields = {name: getattr(self, name) for name in Language._fields}
        code = self.language.rpartition("=")[2]
        return self.languages | {code: Language(**fields).stored()}

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of the header that this kind of parser has, and the arrays."""
        languages = self._languages()
        header: dict[str, Any] = {
            "language": self.language,
            "languages": {code: each for code, (each, _) in languages.items()},
            "inventory": self.inventory.to_file(),
            "encoder": self.encoder.to_file(),
            "size": self.encoder.size,
            "arc": self.arc,
            "label": self.label,
        }
        parts = {_NETWORK: self.weights, _ENCODED: self.encoder.arrays}
        parts |= {_LANGUAGE.format(code): arrays for code, (_, arrays) in languages.items()}
        if self.identifier is not None:
            header["identifier"], parts[_IDENTIFIER] = self.identifier.to_file()
        return header, scheme.joined(parts)

    @classmethod
    def _restored(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
        # rules and reading are those of the language
        if header.get("language") != AUTO:
            return cls.from_file(header, arrays)
        names = scheme.fields_of(header, {"languages": _FIELDS["languages"]})["languages"]
        first = min(names, default=None)
        return AutoParser(cls.from_file(header | {"language": first}, arrays))

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from the header and arrays of a model file; ModelError if invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        names = scheme.fields_of(
            fields["languages"], dict.fromkeys(fields["languages"], scheme.MAPPING)
        )
        if fields["language"] is None and len(names) != 1:
            raise ModelError(f"it reads several languages: {_choice(names)}")
        encoder = BertEncoder(
            fields["encoder"], scheme.part(arrays, _ENCODED), MIXTURES, fields["size"]
        )
        return cls(
            language=fields["language"] or min(names),
            languages={
                code: (each, scheme.part(arrays, _LANGUAGE.format(code)))
                for code, each in names.items()
            },
            inventory=Inventory.from_file(fields["inventory"]),
            weights=scheme.part(arrays, _NETWORK),
            encoder=encoder,
            arc=fields["arc"],
            label=fields["label"],
            identifier=(
                None
                if fields["identifier"] is None
                else LanguageIdentifier.from_file(
                    fields["identifier"], scheme.part(arrays, _IDENTIFIER)
                )
            ),
        )

    def scored(self, sentences: list[Sentence]) -> NDArray[np.float32]:
        """Return the vectors of nodes by both mixtures of layers, (N, 2, size)."""
        words = [each.forms for each in sentences]
        return self.network.cased(self.encoder.features(words, roots=True), words)

    def tagged(
        self,
        sentence: Sentence,
        upos: NDArray[np.int64] | None,
        xpos: NDArray[np.int64] | None,
        features: NDArray[np.int64] | None,
        *,
        overwrite: bool = False,
    ) -> Sentence:
        """Return a sentence with the tags that the network has found for its nodes."""
        new: dict[str, list[str]] = {}
        if upos is not None and (overwrite or not is_given(sentence.upos)):
            new["upos"] = [self.inventory.upos[number] for number in upos[1:].tolist()]
        given = is_given(sentence.feats) or is_given(sentence.upos)
        if features is not None and (overwrite or not given):
            new["feats"] = self.inventory.written(features[1:])
        lacks_xpos = overwrite or not is_given(sentence.xpos)
        if xpos is not None and lacks_xpos:
            new["xpos"] = [self.inventory.xpos[number] for number in xpos[1:].tolist()]
        tagged = sentence.replace(**new) if new else sentence
        if xpos is None and self.xpos is not None and lacks_xpos:
            return tagged.replace(xpos=self.xpos.xpos(tagged))
        return tagged

    def _graphs(self, sentences: list[Sentence], options: Options) -> MultilingualGraphs:
        return MultilingualGraphs(self, sentences, options)


class MultilingualGraphs(NeuralGraphs):
    """The graphs of a batch of sentences of a language, with tags and lemmas."""

    def _groups(self) -> Iterator[NeuralGroup]:
        parser, sentences = self._parser, self.sentences
        lengths = [len(sentence) for sentence in sentences]
        for numbers in grouped(lengths, _MOST_EDGES):
            batch = [sentences[b] for b in numbers]
            nodes = np.array([len(each) + 1 for each in batch])
            output = parser.network.run(parser.scored(batch), nodes)
            starts = np.cumsum(nodes) - nodes
            for b, start, count in zip(numbers, starts.tolist(), nodes.tolist(), strict=True):
                tags = _part((output.upos, output.xpos, output.features), start, start + count)
                sentences[b] = parser.tagged(sentences[b], *tags)
            yield NeuralGroup(
                np.array(numbers),
                self.starts[numbers],
                output.edges,
                nodes - 1,
                bool(self.options.projective),
                starts[:, None] + np.arange(nodes.max()),
                output,
            )


class NetworkTagger:
    """Tags words by the network of a parser, with the interface of `Tagger`."""

    def __init__(self, parser: MultilingualParser) -> None:
        self._parser = parser
        with_xpos = parser.network.has_xpos or parser.xpos is not None
        self.columns = ("upos", "xpos", "feats") if with_xpos else ("upos", "feats")

    def tag(self, sentences: Iterable[Sentence], *, overwrite: bool = False) -> Iterator[Sentence]:
        """Yield sentences with tags and features, where they have none, or all are replaced."""
        parser = self._parser
        for batch in batches(sentences):
            tags = parser.network.tagged(parser.scored(batch))
            ends = list(accumulate(len(each) + 1 for each in batch))
            for sentence, end in zip(batch, ends, strict=True):
                of_sentence = _part(tags, end - len(sentence) - 1, end)
                yield parser.tagged(sentence, *of_sentence, overwrite=overwrite)


def _part(
    tags: Iterable[NDArray[np.int64] | None], start: int, stop: int
) -> Iterator[NDArray[np.int64] | None]:
    """Return the tags and the features of some nodes; None for tags that a treebank lacks."""
    return (None if each is None else each[start:stop] for each in tags)


def _choice(languages: Iterable[str]) -> str:
    """List the languages for a message, and say how to choose a language."""
    return f"choose one of {', '.join(sorted(languages))}, or {AUTO} (language=)"
