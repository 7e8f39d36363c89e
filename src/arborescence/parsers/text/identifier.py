"""Which of some languages a text is in: a log-linear model of its character n-grams.

The weights are found by AdaGrad (Duchi, Hazan and Singer 2011) on short pieces of texts, as many of
each language.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.core.random import as_generator
from arborescence.errors import ModelError, TreebankError
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.parsers.shared.options import Progress

#: The words at the beginning of a document by which its language is decided.
ENOUGH: Final = 200

#: The places in the table of weights: a power of two.
_PLACES: Final = 1 << 14
_LONGEST: Final = 4
#: The characters of a piece of a text to learn from.
_FEWEST: Final = 20
_MOST: Final = 350
#: The pieces of each language in an epoch; the epochs; the pieces of a batch.
_PIECES: Final = 256
_EPOCHS: Final = 12
_BATCH: Final = 256
_RATE: Final = 0.3
#: Weights are stored as multiples of a unit.
_LARGEST: Final = 127
#: What is not a letter separates words.
_APART: Final = re.compile(r"[\W\d_]+")
_UNSPACED: Final = "[\u0e00-\u0e7f\u3005-\u30ff\u3400-\u9fff]"
#: Spaces between words in a script that has none.
_BETWEEN: Final = re.compile(f"(?<={_UNSPACED}) (?={_UNSPACED})")
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_FIELDS: Final = {
    "languages": scheme.values(2, 1000),
    "unit": scheme.positive(),
}
_ARRAYS: Final = {"weights": scheme.Array((np.int8,), (_PLACES, "languages"))}


class LanguageIdentifier(NamedTuple):
    """Finds the language of a text.

    Attributes
    ----------
    languages : tuple of str
        The codes of the L languages.
    weights : (P, L) int8
        The weight of each language for each place of an n-gram.
    unit : float
        The factor of the weights.

    Examples
    --------
    >>> texts = {"en": "the birds sing and the cats sleep", "de": "die Vögel singen und schlafen"}
    >>> identifier = LanguageIdentifier.train({code: [each] for code, each in texts.items()})
    >>> identifier.identify("The cats and the birds.")
    'en'
    """

    languages: tuple[str, ...]
    weights: NDArray[np.int8]
    unit: float

    @classmethod
    def train(
        cls,
        texts: Mapping[str, Sequence[str]],
        *,
        rng: Rng = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Train on texts.

        Parameters
        ----------
        texts
            The texts of each language, by its code; pieces are taken from each text equally often.
        rng
            A seed or a generator.
        progress
            Called as ``progress(phase, done, total)``.

        Raises
        ------
        TreebankError
            If there are fewer than two languages, or a language has no words.
        """
        generator = as_generator(rng)
        letters = {code: [_letters(each) for each in some] for code, some in texts.items()}
        empty = [
            code for code, some in letters.items() if not some or not all(map(str.strip, some))
        ]
        if len(letters) < 2 or empty:
            missing = f"a text of {min(empty)!r} has no letters" if empty else "give two languages"
            raise TreebankError(f"a model of languages cannot be trained: {missing}")
        table = np.zeros((_PLACES, len(letters)), dtype=np.float32)
        squares = np.full_like(table, 0.1)
        for epoch in range(_EPOCHS):
            pieces = [
                (number, _piece(some[take % len(some)], generator))
                for number, some in enumerate(letters.values())
                for take in range(_PIECES)
            ]
            order = generator.permutation(len(pieces))
            for start in range(0, len(order), _BATCH):
                chosen = [pieces[i] for i in order[start : start + _BATCH].tolist()]
                _learn(table, squares, chosen)
            if progress:
                progress("languages", epoch + 1, _EPOCHS)
        unit = float(np.abs(table).max() or 1) / _LARGEST
        return cls(tuple(letters), np.rint(table / np.float32(unit)).astype(np.int8), unit)

    def scores(self, text: str) -> NDArray[np.float32]:
        """Return the log-probability of each language, up to a constant, (L,). O(length L)."""
        rows = self.weights[_places(_letters(text))]
        sums = rows.sum(axis=0, dtype=np.float32) * np.float32(self.unit)
        scores: NDArray[np.float32] = sums / np.float32(max(len(rows), 1)) * _sharpness(len(rows))
        return scores

    def identify(self, text: str) -> str:
        """Return the code of the most probable language; of the first for a text without letters.

        For a decision that can be trusted, a text of the ENOUGH first words is enough.
        """
        return self.languages[int(self.scores(text).argmax())]

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file; see `from_file`."""
        header = {"languages": self.languages, "unit": self.unit}
        return header, {"weights": self.weights}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore an identifier from the output of `to_file`; ModelError if it is damaged."""
        fields = scheme.fields_of(header, _FIELDS)
        languages = tuple(fields["languages"])
        if len({*languages}) < len(languages):
            raise ModelError("a language is twice in the model of languages")
        checked = scheme.arrays_of(arrays, _ARRAYS, {"languages": len(languages)})
        return cls(languages, checked["weights"], fields["unit"])


def _sharpness(count: int) -> np.float32:
    """Return the factor of mean weights: longer texts are surer."""
    return np.float32(count**0.5)


def _piece(letters: str, generator: np.random.Generator) -> str:
    """Return some consecutive letters."""
    count = int(generator.integers(_FEWEST, _MOST))
    start = int(generator.integers(max(len(letters) - count, 0) + 1))
    return letters[start : start + count]


def _learn(
    table: NDArray[np.float32], squares: NDArray[np.float32], pieces: list[tuple[int, str]]
) -> None:
    """Move the weights against the gradient of the mean loss of some pieces."""
    rows = [np.unique(_places(piece), return_counts=True) for _, piece in pieces]
    # BLAS would start threads of its own; and few of the places of the table are in a piece.
    factors = []
    scores = np.empty((len(pieces), table.shape[1]), dtype=np.float32)
    for row, (places, times) in zip(scores, rows, strict=True):
        count = int(times.sum())
        factors.append((times * (_sharpness(count) / max(count, 1))).astype(np.float32)[:, None])
        row[:] = (table[places] * factors[-1]).sum(axis=0)
    scores -= scores.max(axis=1, keepdims=True)
    gradient = np.exp(scores)
    gradient /= gradient.sum(axis=1, keepdims=True)
    gradient[np.arange(len(pieces)), [number for number, _ in pieces]] -= 1
    of_table = np.zeros_like(table)
    for (places, _), factor, row in zip(rows, factors, gradient, strict=True):
        of_table[places] += factor * row
    squares += of_table * of_table
    table -= _RATE * of_table / np.sqrt(squares)


def _letters(text: str) -> str:
    """Return the letters of a text, with a space between words."""
    words = _APART.sub(" ", unicodedata.normalize("NFC", text.lower())).strip()
    return _BETWEEN.sub("", f" {words} ")


def _places(letters: str) -> NDArray[np.int64]:
    """Return the places of all n-grams."""
    codes = np.frombuffer(letters.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    values = np.zeros(len(codes), dtype=np.uint64)
    places = []
    for n in range(_LONGEST):
        values = values[: max(len(codes) - n, 0)]
        values = (values ^ codes[n:]) * _MIX
        values ^= values >> np.uint64(29)
        places.append(values & np.uint64(_PLACES - 1))
    return np.concatenate(places).astype(np.int64)
