"""The relations, tags and features that a network for many treebanks predicts, by treebank."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.errors import ModelError, OptionError
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.vocabulary import is_given, pieces_of
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence

    Numbers = NDArray[np.int64]

#: XPOS is learned from a treebank with at most this number of tags (larger sets repeat FEATS), in
#: which fewer words than this share have no tag.
MOST_XPOS: Final = 64
_UNTAGGED: Final = 0.05
#: The weights that have a row for each treebank.
_VECTORS: Final = "treebanks.weight"
_VALUES: Final = scheme.values(0, 10**5)
#: Old treebanks have other entries in FEATS, too; the network does not learn these.
_FEATURE: Final = scheme.Field(
    "an attribute and its value, such as Case=Nom",
    lambda value: isinstance(value, str) and re.fullmatch(r"[^=|\s]+=[^|\s]+", value) is not None,
)


class TreebankValues(NamedTuple):
    """The values that occur in a treebank, in alphabetical order."""

    #: The code of the language.
    language: str
    #: The relations of edges from the root.
    root_relations: tuple[str, ...]
    #: The relations of other edges.
    relations: tuple[str, ...]
    #: The tags; () if the treebank has no UPOS.
    upos: tuple[str, ...]
    #: The features, such as ``Case=Nom``; () if the treebank has no FEATS.
    features: tuple[str, ...]
    #: The language's own tags; () if the treebank has none or a single tag, or more than
    #: `MOST_XPOS`, or if too many words have no tag.
    xpos: tuple[str, ...] = ()

    @classmethod
    def of(cls, language: str, sentences: Iterable[Sentence]) -> Self:
        """Collect the values of sentences, except "_"."""
        values_of_columns: tuple[set[str], ...] = (set(), set(), set(), set())
        xpos: Counter[str] = Counter()
        for sentence in sentences:
            for head, relation in zip(sentence.heads.tolist(), sentence.deprels, strict=True):
                values_of_columns[0 if head == 0 else 1].add(relation)
            values_of_columns[2].update(sentence.upos)
            values_of_columns[3].update(
                piece
                for value in set(sentence.feats)
                for piece in pieces_of(value)
                if _FEATURE.fits(piece)
            )
            xpos.update(sentence.xpos)
        without = xpos.pop("_", 0)
        learned = 1 < len(xpos) <= MOST_XPOS and without < _UNTAGGED * xpos.total()
        columns = *values_of_columns, xpos.keys() if learned else set()
        return cls(language, *(tuple(sorted(values - {"_"})) for values in columns))


#: The fields of a treebank in a model file.
_FIELDS: Final = {
    "language": scheme.VALUE,
    **dict.fromkeys(TreebankValues._fields[1:], _VALUES),
    "features": scheme.list_of(_FEATURE, 0, 10**5),
    "xpos": replace(_VALUES, default=[]),
}


class Inventory:
    """The treebanks, relations, tags and features that a network knows, by number.

    The first value of an attribute such as Case is "": the word does not have the attribute.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> owls = Sentence.from_words(
    ...     ["Owls", "hoot"], upos=["NOUN", "VERB"], feats=["Number=Plur", "_"],
    ...     heads=[2, 0], deprels=["nsubj", "root"],
    ... )
    >>> known = Inventory({"English-Owls": TreebankValues.of("en", [owls])})
    >>> known.relations, known.upos, known.features
    (('nsubj', 'root'), ('NOUN', 'VERB'), {'Number': ('', 'Plur')})
    """

    def __init__(self, treebanks: Mapping[str, TreebankValues]) -> None:
        if not treebanks:
            raise OptionError("there is no treebank to learn from")
        #: The values of each treebank; the T treebanks are numbered in this order.
        self.treebanks = dict(treebanks)
        every = self.treebanks.values()
        #: The R relations, with subtypes.
        self.relations = _all(each.root_relations + each.relations for each in every)
        #: The U tags.
        self.upos = _all(each.upos for each in every)
        #: The X tags of languages.
        self.xpos = _all(each.xpos for each in every)
        values: dict[str, list[str]] = {}
        for attribute, _, value in (x.partition("=") for x in _all(e.features for e in every)):
            values.setdefault(attribute, [""]).append(value)
        #: The values of each of the A attributes.
        self.features = {attribute: tuple(each) for attribute, each in values.items()}
        #: (T, 2, R) bool: whether a treebank has a relation on edges from the root, and on others.
        self.has_relation = np.zeros((len(self.treebanks), 2, len(self.relations)), dtype=np.bool_)
        #: (T, U) bool: whether a treebank has a tag.
        self.has_upos = np.zeros((len(self.treebanks), len(self.upos)), dtype=np.bool_)
        #: (T, X) bool: whether a treebank has a language's tag.
        self.has_xpos = np.zeros((len(self.treebanks), len(self.xpos)), dtype=np.bool_)
        widest = max(map(len, self.features.values()), default=1)
        #: (T, A, V) bool: whether a treebank has a value of an attribute. No attribute has more
        #: than V values.
        self.has_feature = np.zeros(
            (len(self.treebanks), len(self.features), widest), dtype=np.bool_
        )
        self.has_feature[:, :, 0] = True
        self.relation_numbers = _numbers(self.relations)
        self.upos_numbers = _numbers(self.upos)
        self.xpos_numbers = _numbers(self.xpos)
        self._feature_numbers = {
            f"{attribute}={value}" if value else "": (row, column)
            for row, (attribute, each) in enumerate(self.features.items())
            for column, value in enumerate(each)
        }
        for t, each in enumerate(every):
            for row, names in enumerate((each.root_relations, each.relations)):
                self.has_relation[t, row, [self.relation_numbers[name] for name in names]] = True
            self.has_upos[t, [self.upos_numbers[name] for name in each.upos]] = True
            self.has_xpos[t, [self.xpos_numbers[name] for name in each.xpos]] = True
            for name in each.features:
                self.has_feature[t][self._feature_numbers[name]] = True

    def relations_of(self, sentence: Sentence) -> list[int]:
        """Return the number of the relation of each word; -1 if there is none."""
        return [self.relation_numbers.get(name, -1) for name in sentence.deprels]

    def upos_of(self, sentence: Sentence) -> list[int]:
        """Return the number of the tag of each word; -1 if there is none."""
        return [self.upos_numbers.get(name, -1) for name in sentence.upos]

    def xpos_of(self, sentence: Sentence, treebank: int) -> list[int]:
        """Return the number of the language's tag of each word; -1 if the treebank has none."""
        numbers = (self.xpos_numbers.get(name, -1) for name in sentence.xpos)
        known = self.has_xpos[treebank]
        return [number if number >= 0 and known[number] else -1 for number in numbers]

    def features_of(self, sentence: Sentence, treebank: int) -> Numbers:
        """Return the number of the value of each attribute, (n, A).

        -1: the value is not known. The treebank does not have the attribute, or the sentence lacks
        FEATS although its treebank has them.
        """
        numbers = np.zeros((len(sentence), len(self.features)), dtype=np.int64)
        given = is_given(sentence.feats) or is_given(sentence.upos)
        numbers[:, ~(self.has_feature[treebank, :, 1:].any(axis=1) & given)] = -1
        for row, value in zip(numbers, sentence.feats, strict=True):
            for piece in pieces_of(value):
                if piece in self._feature_numbers:
                    attribute, number = self._feature_numbers[piece]
                    row[attribute] = number
        return numbers

    def written(self, numbers: Numbers) -> list[str]:
        """Return FEATS of words from the number of the value of each attribute, (n, A)."""
        named = [[(name, value) for value in each] for name, each in self.features.items()]
        texts = []
        for row in numbers.tolist():
            pairs = (named[attribute][number] for attribute, number in enumerate(row) if number > 0)
            pieces = sorted((f"{name}={value}" for name, value in pairs), key=str.casefold)
            texts.append("|".join(pieces) or "_")
        return texts

    def of_most(self) -> TreebankValues:
        """Return the values that more than half of the treebanks have, for a new treebank.

        >>> few, more = (
        ...     TreebankValues("en", ("root",), each, (), ()) for each in (("a",), ("a", "b"))
        ... )
        >>> Inventory({"1": few, "2": more, "3": more}).of_most().relations
        ('a', 'b')
        >>> Inventory({"1": few, "2": more}).of_most().relations
        ('a',)
        """
        counts = (
            Counter(chain.from_iterable(column))
            for column in list(zip(*self.treebanks.values(), strict=True))[1:]
        )
        half = len(self.treebanks) / 2
        return TreebankValues(
            "", *(tuple(sorted(v for v, n in each.items() if n > half)) for each in counts)
        )

    def to_file(self) -> dict[str, Any]:
        """Return the field of a model file: see `from_file`."""
        return {name: each._asdict() for name, each in self.treebanks.items()}

    @classmethod
    def from_file(cls, header: Mapping[str, Any]) -> Self:
        """Restore an inventory from the output of `to_file`; ModelError if it is invalid."""
        treebanks = {}
        for name in scheme.fields_of(header, dict.fromkeys(header, scheme.MAPPING)):
            fields = scheme.fields_of(header[name], _FIELDS)
            language = fields.pop("language")
            values = {each: tuple(sorted(set(of))) for each, of in fields.items()}
            treebanks[name] = TreebankValues(language, **values)
        if not treebanks:
            raise ModelError("inventory has no treebank")
        return cls(treebanks)


def with_mean(
    name: str, inventory: Inventory, weights: Mapping[str, NDArray[Any]]
) -> tuple[Inventory, dict[str, NDArray[Any]]]:
    """Add a treebank whose vector is the mean of all: to an inventory, and to stored weights."""
    values = inventory.of_most()._replace(language=name)
    shape = len(inventory.treebanks), weights[_VECTORS].shape[-1]
    vectors = stored.from_arrays(weights, {_VECTORS: shape})[_VECTORS]
    grown = np.concatenate([vectors, vectors.mean(axis=0, keepdims=True)])
    rounded = stored.to_arrays({_VECTORS: grown}, "int8")
    return Inventory(inventory.treebanks | {name: values}), {**weights, **rounded}


def _all(several: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(sorted(set().union(*several)))


def _numbers(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}
