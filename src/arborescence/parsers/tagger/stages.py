"""One stage of the tagger: it predicts one column, from the words and the earlier stages' tags."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arborescence.errors import ModelError
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.classifier import NOTHING, UNIT, Learned, pack, unpack
from arborescence.parsers.tagger import kernels
from arborescence.parsers.tagger.kernels import Guesses
from arborescence.system.lazy import remembered
from arborescence.treebank.joined import Joined
from arborescence.treebank.sentence import FEATS, UPOS, XPOS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from arborescence.treebank import Sentence

    Codes = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]
    from collections.abc import Callable

#: The columns that can be predicted, and their numbers.
COLUMNS: Final = {"upos": UPOS, "xpos": XPOS, "feats": FEATS}
#: The code of an unknown tag or context.
UNKNOWN: Final = -1

_NO_GOLD: Final = np.empty(0, dtype=np.int64)
_FIELDS: Final = {
    "column": scheme.one_of(COLUMNS),
    "tags": scheme.VALUES,
    "features": scheme.one_of([kernels.HISTORY, kernels.NEIGHBOURS, kernels.OWN]),
    "temperature": scheme.real(1e-4, 1e4, 1.0),
}
_ARRAYS: Final = {
    "contexts": scheme.Array((np.int64,), ("contexts",), low=0, ascending=True),
    "allowed": scheme.Array((np.uint32,), ("allowed",), below="tags"),
    "allowed_starts": scheme.Array((np.int64,), ("starts",), ascending=True),
}


class TaggerWords:
    """The words of some sentences, as arrays for the kernels."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        self._joined = Joined.of(sentences)
        self.starts = self._joined.offsets

    def __len__(self) -> int:
        return len(self._joined.spans)

    @property
    @remembered
    def letters(self) -> npt.NDArray[np.uint64]:
        """Hashes of each word's spelling: see `kernels.spell`."""
        letters = np.empty((len(self), kernels.LETTERS), dtype=np.uint64)
        kernels.spell(self._joined.raw, self._joined.places_of_columns, letters)
        return letters

    @property
    @remembered
    def places(self) -> npt.NDArray[np.uint32]:
        """The weight indices of each word's features: see `kernels.look_at_words`."""
        places = np.empty((len(self), kernels.WORD_FEATURES), dtype=np.uint32)
        kernels.look_at_words(self.letters, self.starts, places)
        return places

    def given(self, column: str) -> Mask:
        """Return for each sentence whether at least one word has a value in a column."""
        return self._joined.is_given(COLUMNS[column])

    def annotated(self, column: str) -> Mask:
        """Return for each sentence whether a column is annotated; FEATS may be empty then."""
        return self.given(column) | (self.given("upos") if column == "feats" else np.False_)

    def values(self, column: str, of: Mask) -> list[str]:
        """Return the distinct values of a column in the sentences of the mask `of`."""
        counted = compress(self.sentences, of)
        return sorted({value for sentence in counted for value in getattr(sentence, column)})

    def codes(self, column: str, tags: Sequence[str], of: Mask) -> Codes:
        """Return the index in `tags` of each word's value, for the sentences in the mask `of`."""
        code_of = {tag: code for code, tag in enumerate(tags)}
        codes = np.full(len(self), UNKNOWN)
        for sentence in np.flatnonzero(of).tolist():
            values = getattr(self.sentences[sentence], column)
            first, last = self.starts[sentence : sentence + 2]
            codes[first:last] = [code_of.get(value, UNKNOWN) for value in values]
        return codes


@dataclass(frozen=True)
class Stage:
    """A model that predicts one column from left to right."""

    #: The column that the stage predicts.
    column: str
    #: The values that the stage predicts; a code is an index into them.
    tags: tuple[str, ...]
    #: The number of features: `HISTORY`, `NEIGHBOURS` or `OWN` of `kernels`.
    features: int
    #: The known combinations of earlier stages' tags, as numbered by `joint`.
    contexts: Codes
    #: The tags allowed in each context: see `kernels.AllowedTags`.
    allowed: npt.NDArray[np.uint64]
    #: The place of each context's tags in `allowed`.
    allowed_starts: Codes
    #: (PLACES + tags,): the weights.
    weights: npt.NDArray[np.int8]
    #: The divisor that turns scores into log-probabilities.
    temperature: float = 1.0

    def context(self, combined: Codes) -> Codes:
        """Convert the numbers that `joint` gives for words to indices into `contexts`."""
        if not self.contexts.size:
            return np.full_like(combined, UNKNOWN)
        index = np.searchsorted(self.contexts[:-1], combined)
        return np.where(self.contexts[index] == combined, index, UNKNOWN)

    def tag(
        self, words: TaggerWords, wanted: Mask, combined: Codes, codes: Codes, k: int = 0
    ) -> Guesses:
        """Write codes of the `wanted` sentences to `codes`; return their k most probable tags."""
        guesses = Guesses.empty(len(words), k)
        if wanted.any():
            scores = np.empty(len(self.tags), dtype=np.int32)
            self._run(
                words, np.flatnonzero(wanted), self.context(combined), self.weights, scores, codes,
                float(UNIT) / self.temperature, guesses, _NO_GOLD, NOTHING,
            )  # fmt: skip
        return guesses

    def learn(
        self, words: TaggerWords, order: Codes, context: Codes, gold: Codes, learned: Learned
    ) -> None:
        """Train for one epoch on the sentences in `order` with their `gold` codes."""
        scores = np.empty(len(self.tags), dtype=np.float32)
        self._run(
            words, order, context, learned.weights, scores, np.empty_like(gold),
            1.0, Guesses.empty(len(words), 0), gold, learned.table,
        )  # fmt: skip

    def _run(self, words: TaggerWords, order: Codes, context: Codes, *rest: Any) -> None:
        spelled = kernels.Spelled(words.letters, words.places, words.starts)
        allowed = kernels.AllowedTags(self.features, self.allowed, self.allowed_starts)
        kernels.tag_words(spelled, order, context, allowed, *rest)

    def to_file(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the header and the arrays of a model file."""
        arrays = {
            **pack(self.weights),
            "contexts": self.contexts,
            "allowed": self.allowed.astype(np.uint32),
            "allowed_starts": self.allowed_starts,
        }
        names = ("column", "tags", "features", "temperature")
        return {name: getattr(self, name) for name in names}, arrays

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Restore a stage from the output of `to_file`, or raise `ModelError`."""
        fields = scheme.fields_of(header, _FIELDS)
        tags, features = tuple(fields["tags"]), fields["features"]
        kept = scheme.arrays_of(arrays, _ARRAYS, {"tags": len(tags)})
        contexts, allowed, starts = kept["contexts"], kept["allowed"], kept["allowed_starts"]
        # The tags of a context must be strictly ascending, so that no tag occurs twice.
        descends = np.flatnonzero(allowed[1:] <= allowed[:-1]) + 1
        fits = (
            starts.size == (contexts.size if features == kernels.OWN else 0) + 2
            and (starts[0], starts[-1]) == (0, allowed.size)
            and (starts[np.searchsorted(starts, descends)] == descends).all()
        )
        if not fits:
            raise ModelError("the parts of the tagger do not fit together")
        return cls(
            column=fields["column"],
            tags=tags,
            features=features,
            contexts=contexts,
            allowed=allowed.astype(np.uint64),
            allowed_starts=starts,
            weights=unpack(arrays, kernels.PLACES + len(tags)),
            temperature=fields["temperature"],
        )


def joint(codes: Mapping[str, Codes], sizes: Mapping[str, int], words: int) -> Codes:
    """Combine each word's codes in some columns (of `sizes` tags each) into one number."""
    number = np.zeros(words, dtype=np.int64)
    unknown = np.full(words, not codes)
    for column, column_codes in codes.items():
        number = number * sizes[column] + column_codes
        unknown |= column_codes == UNKNOWN
    return np.where(unknown, UNKNOWN, number)


# Weights below this absolute value are removed after half the epochs. Chosen on the dev set of
# English-EWT.
_THRESHOLDS = {kernels.HISTORY: 0.15, kernels.NEIGHBOURS: 0.1, kernels.OWN: 0.1}


def untrained(
    column: str, tags: Sequence[str], features: int, combined: Codes, gold: Codes
) -> Stage:
    """Make a stage without weights, with the tags that occur in each context.

    `combined` has the gold tags of earlier stages for each word (see `joint`), `gold` the gold tags
    of this stage.
    """
    everything = np.arange(len(tags))
    known = (combined != UNKNOWN) & (gold != UNKNOWN)
    contexts = np.unique(combined[known])
    allowed, starts = everything, np.array([0, everything.size])
    if features == kernels.OWN:
        pairs = np.unique(np.stack((combined[known], gold[known])), axis=1)
        allowed = np.concatenate((everything, pairs[1]))
        ends = np.searchsorted(pairs[0], contexts, side="right")
        starts = np.concatenate((starts, everything.size + ends))
    return Stage(
        column=column,
        tags=tuple(tags),
        features=features,
        contexts=contexts,
        allowed=allowed.astype(np.uint64),
        allowed_starts=starts,
        weights=np.zeros(kernels.PLACES + len(tags), dtype=np.int8),
    )


def trained(
    stage: Stage,
    words: TaggerWords,
    order: Codes,
    combined: Codes,
    gold: Codes,
    *,
    epochs: int,
    generator: np.random.Generator,
    progress: Callable[[int, int], None],
    accuracy: Callable[[Stage], float] | None,
) -> Stage:
    """Return the stage with weights trained on the sentences in `order`.

    With `accuracy`, the best epoch of the second half is kept. After half of the epochs, small
    weights are set to zero permanently.
    """
    learned = Learned(stage.weights.size)
    context = stage.context(combined)
    best, best_accuracy = stage, -1.0
    for epoch in range(1, epochs + 1):
        stage.learn(words, generator.permutation(order), context, gold, learned)
        if epoch == (epochs + 1) // 2:
            learned.prune(_THRESHOLDS[stage.features])
        if epoch == epochs or (accuracy and epoch > epochs // 2):
            candidate = replace(stage, weights=learned.in_bytes())
            candidate_accuracy = accuracy(candidate) if accuracy else 0.0
            if candidate_accuracy >= best_accuracy:
                best, best_accuracy = candidate, candidate_accuracy
        progress(epoch, epochs)
    return best
