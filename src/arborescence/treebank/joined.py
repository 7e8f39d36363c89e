"""The concatenated bytes of many sentences, for kernels that process all sentences in one call."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.errors import OptionError
from arborescence.treebank.sentence import DEPREL, HEAD, MISC, Sentence, rewritten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from numpy.typing import NDArray


class Joined(NamedTuple):
    """The bytes of B sentences with n words in all."""

    #: The bytes of all sentences in a row.
    raw: NDArray[np.uint8]
    #: (B + 1,): the first byte of each sentence, and the number of bytes.
    places: NDArray[np.int64]
    #: (B + 1,): the number of words before each sentence, and in all.
    offsets: NDArray[np.int64]
    #: (n, 11): the spans of each word, relative to the start of its sentence.
    spans: NDArray[np.int32]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Self:
        """Join sentences."""
        raws = [sentence.raw for sentence in sentences]
        spans = [sentence.spans for sentence in sentences]
        return cls(
            np.frombuffer(b"".join(raws), dtype=np.uint8),
            np.cumsum([0, *map(len, raws)]),
            np.cumsum([0, *map(len, spans)]),
            np.concatenate([np.empty((0, MISC + 2), np.int32), *spans]),
        )

    def is_blank(self, column: int) -> NDArray[np.bool_]:
        """Return for each word whether a column is ``_``, shape (n,)."""
        starts = self.spans[:, column] + np.repeat(self.places[:-1], np.diff(self.offsets))
        widths = self.spans[:, column + 1] - self.spans[:, column] - 1
        blank: NDArray[np.bool_] = (widths == 1) & (self.raw[starts] == _UNDERSCORE)
        return blank

    def is_given(self, column: int) -> NDArray[np.bool_]:
        """Return for each sentence whether at least one word has a value in a column, (B,)."""
        given: NDArray[np.bool_] = np.logical_or.reduceat(~self.is_blank(column), self.offsets[:-1])
        return given

    @property
    def places_of_columns(self) -> NDArray[np.int64]:
        """The spans as indices into `raw`: int64 (n, 11)."""
        return self.spans + np.repeat(self.places[:-1], np.diff(self.offsets))[:, np.newaxis]


_UNDERSCORE = 95


def with_trees(
    # B sentences with N nodes in all (words, and one root for each sentence)
    sentences: Sequence[Sentence],
    # (N,): the concatenated head vectors of all sentences; -1 for no head
    heads: npt.NDArray[np.int64],
    # (N,): the index in `names` of each word's relation; -1 for none. Labels of roots are ignored.
    labels: npt.NDArray[np.int64],
    names: Sequence[str],  # the relations, as written in a file
) -> list[Sentence]:
    """Return the sentences with other heads and relations; all other bytes are kept. O(bytes).

    OptionError if the numbers of heads, labels and nodes differ, or a label has no name.
    """
    joined = Joined.of(sentences)
    roots = joined.offsets[:-1] + np.arange(len(sentences))
    nodes = len(joined.spans) + len(roots)
    if not len(heads) == len(labels) == nodes:
        raise OptionError(f"{len(heads)} heads and {len(labels)} labels for {nodes} nodes")
    if labels.size and labels.max() >= len(names):
        raise OptionError(f"label {labels.max()} has no name: there are {len(names)}")
    numbers = [*map(b"%d".__mod__, range(heads.max(initial=-1) + 1)), b"_"]  # the last is for -1
    relations = [*(name.encode() for name in names), b"_"]
    return with_columns(
        sentences,
        {
            HEAD: [numbers[head] for head in np.delete(heads, roots).tolist()],
            DEPREL: [relations[label] for label in np.delete(labels, roots).tolist()],
        },
        joined,
    )


def with_columns(
    sentences: Sequence[Sentence],
    # for each column, in ascending order, a value for each word: b"" keeps the old value
    columns: Mapping[int, Sequence[bytes]],
    joined: Joined | None = None,  # the sentences, if they have been joined before
) -> list[Sentence]:
    """Return the sentences with other values in some columns; all other bytes are kept. O(bytes).

    OptionError if there is not one value for each word, or a value has a tab or a line end.
    """
    joined = joined or Joined.of(sentences)
    values = [b""] * (len(columns) * len(joined.spans) + 1)
    for first, of_column in enumerate(columns.values()):
        if len(of_column) != len(joined.spans):
            raise OptionError(f"{len(of_column)} values for {len(joined.spans)} words")
        values[first : -1 : len(columns)] = of_column
    return with_values(sentences, list(columns), b"\t".join(values), joined)


def with_values(
    sentences: Sequence[Sentence],
    columns: Sequence[int],  # ascending
    # the values of the columns, by word and column, a tab after each; b"" keeps the old value
    values: bytes,
    joined: Joined | None = None,  # as for `with_columns`
) -> list[Sentence]:
    """Return the sentences with other values in some columns; all other bytes are kept. O(bytes).

    OptionError if the number of tabs is wrong, or there is a line end.
    """
    raw, places, offsets, spans = joined or Joined.of(sentences)
    if values.count(b"\t") != len(columns) * len(spans) or b"\n" in values or b"\r" in values:
        raise OptionError("a value of a column has a tab or a line end")
    replaced = np.zeros(10, np.bool_)
    replaced[columns] = True
    out, new_places, new_spans = rewritten(raw, places, offsets, spans, replaced, values)
    cuts, rows = new_places.tolist(), offsets.tolist()
    return [
        old.derived(out[cuts[b] : cuts[b + 1]], new_spans[rows[b] : rows[b + 1]])
        for b, old in enumerate(sentences)
    ]


def values_of(sentences: Sequence[Sentence], columns: Sequence[int]) -> list[bytes]:
    """Return some columns of each sentence, ascending, as `with_values` takes them. O(bytes)."""
    raw, places, offsets, _ = joined = Joined.of(sentences)
    at = [each for each in columns if each - 1 not in columns]
    to = [each + 1 for each in columns if each + 1 not in columns]
    bounds = joined.places_of_columns[:, sorted([*at, *to])]  # where columns begin and end, in turn
    lengths = np.diff(bounds.ravel(), prepend=0, append=places[-1])
    wanted = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    values = raw[wanted].tobytes().replace(b"\n", b"\t")
    sizes = (bounds[:, 1::2] - bounds[:, ::2]).sum(axis=1)
    cuts = np.append(0, np.cumsum(sizes))[offsets].tolist()
    return [values[i:j] for i, j in pairwise(cuts)]


def names_of(
    # V names, N numbers of names, and whether each word keeps the value that it has
    names: Sequence[str],
    numbers: npt.NDArray[np.int64],
    kept: npt.NDArray[np.bool_],
) -> list[bytes]:
    """Return the values of words for `with_columns` by the numbers of names."""
    encoded = [*(name.encode() for name in names), b""]
    return [encoded[number] for number in np.where(kept, -1, numbers).tolist()]
