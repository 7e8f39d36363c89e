"""What a parser needs for raw text: a tokenizer and a lemmatizer, in one model file with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from arborescence.core.errors import ModelError, TreebankError
from arborescence.parsers.shared import scheme
from arborescence.parsers.text.lemmas import Lemmatizer
from arborescence.parsers.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence

    Progress = Callable[[str, int, int], None]

_VERSION: Final = 1
_FIELDS: Final = {
    "version": scheme.whole(1, 99),
    "tokenizer": scheme.MAPPING,
    "lemmatizer": scheme.Field(
        "null or an object", lambda value: value is None or isinstance(value, dict)
    ),
}


class Text:
    """Everything between raw text and tagged words.

    Attributes
    ----------
    tokenizer : Tokenizer
        Cuts text into sentences and words.
    lemmatizer : Lemmatizer or None
        Finds the lemmas of tagged words; None if the treebank had none.
    """

    def __init__(self, tokenizer: Tokenizer, lemmatizer: Lemmatizer | None) -> None:
        self.tokenizer = tokenizer
        self.lemmatizer = lemmatizer

    @classmethod
    def train(
        cls, treebank: Iterable[Sentence], *, seed: int = 0, progress: Progress | None = None
    ) -> Self:
        """Learn from a treebank; see `Tokenizer.train` and `Lemmatizer.train`."""
        treebank = list(treebank)
        tokenizer = Tokenizer.train(treebank, seed=seed, progress=progress)
        try:
            lemmatizer = Lemmatizer.train(treebank, seed=seed, progress=progress)
        except TreebankError:
            lemmatizer = None
        return cls(tokenizer, lemmatizer)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Give the arrays of a model file; see `from_arrays`."""
        parts = {"tokenizer/": self.tokenizer.to_arrays()}
        if self.lemmatizer:
            parts["lemmatizer/"] = self.lemmatizer.to_arrays()
        return {
            prefix + name: array
            for prefix, arrays in parts.items()
            for name, array in arrays.items()
        }

    def to_meta(self) -> dict[str, Any]:
        """Give what else a model file needs, ready for JSON."""
        return {
            "version": _VERSION,
            "tokenizer": self.tokenizer.to_meta(),
            "lemmatizer": self.lemmatizer.to_meta() if self.lemmatizer else None,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Self:
        """Make a model of text of what `to_arrays` and `to_meta` gave.

        Raises
        ------
        ModelError
            If they do not fit together, or were made by another version.
        """
        fields = scheme.fields_of({"text": meta}, {"text": scheme.MAPPING})
        fields = scheme.fields_of(fields["text"], _FIELDS)
        if fields["version"] != _VERSION:
            raise ModelError(
                f"the part for raw text has version {fields['version']}, and this library reads "
                f"{_VERSION}: train the model again"
            )
        lemmatizer = fields["lemmatizer"]
        return cls(
            Tokenizer.from_arrays(scheme.part(arrays, "tokenizer/"), fields["tokenizer"]),
            None
            if lemmatizer is None
            else Lemmatizer.from_arrays(scheme.part(arrays, "lemmatizer/"), lemmatizer),
        )
