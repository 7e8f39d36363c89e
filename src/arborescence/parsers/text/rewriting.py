"""Rewrite forms in context: a log-linear choice among the edit scripts that fit (Chrupała 2006).

Used for lemmas and for multiword tokens. The features of a rule are the form, its prefixes and
suffixes, the context (tags, or neighbouring tokens), and whether its result is a known word: one
that other forms were rewritten to in training. No rule is a choice too; its score is 0.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from zlib import crc32

import numpy as np

from arborescence.core.kernels import kernel
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.adagrad import NOTHING, Learned, pack, unpack
from arborescence.parsers.shared.hashing import mix
from arborescence.parsers.text.rules import AS_IS, CAPITALIZED, LOWERED, STEM, Rule, Rules
from arborescence.parsers.text.weights import PLACES, move, to_places, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

#: The number of context hashes of a form.
CONTEXTS: Final = 4
_SUFFIXES: Final = 5
_PREFIXES: Final = 3
_SPELLING: Final = 1 + _SUFFIXES + _PREFIXES
# The columns of a row: rule; whether its words and the form are known; suffix of its first word.
_ROW: Final = 3
_FEATURES: Final = 1 + _SPELLING + 6 * CONTEXTS + 5
# The L1 penalty per step of size 1. Chosen on the dev set of English-EWT.
_PENALTY: Final = np.float32(0.003)
_WORD_BITS: Final = 24
_MOST_FORMS: Final = 100_000
_NO_GOLD: Final = np.zeros(0, dtype=np.int64)


class Options(NamedTuple):
    """The candidate rewritings of a form.

    Attributes
    ----------
    words
        The words of each option, separated by spaces.
    spelling
        Hashes of the form, its suffixes and its prefixes.
    rows
        For each option: see `_ROW`.
    """

    words: tuple[str, ...]
    spelling: tuple[int, ...]
    rows: tuple[tuple[int, int, int], ...]


class Rewriter:
    """Rewrites forms in their contexts.

    Parameters
    ----------
    rules
        The rewriting rules.
    known
        Hashes of the known words: see `_number`.
    weights
        int8, (PLACES,).
    """

    def __init__(self, rules: Rules, known: frozenset[int], weights: NDArray[np.int8]) -> None:
        self.rules = rules
        self._known = known
        self.weights = weights
        self._seen: dict[str, Options | None] = {}
        self._hashes = [
            crc32("\t".join((str(rule.case), rule.prefix, rule.suffix, rule.words)).encode())
            for rule in rules.rules
        ]

    @classmethod
    def trained(
        cls,
        forms: Sequence[str],
        words: Sequence[str | None],
        contexts: NDArray[np.uint64],
        *,
        cases: Iterable[int],
        epochs: int,
        generator: np.random.Generator,
        progress: Callable[[int, int], None],
    ) -> Self:
        """Train on forms and their rewritings.

        Parameters
        ----------
        forms
            The n forms.
        words
            The rewriting of each, with words separated by spaces; None: it is unchanged.
        contexts : (n, CONTEXTS) uint64
            Hashes of the context of each.
        cases
            The allowed changes of letter case: see `Rule`.
        epochs, generator, progress
            The number of epochs, the generator of the order of the forms, and a function that is
            called after each epoch.
        """
        pairs = [
            (form, tuple(became.split(" ")))
            for form, became in zip(forms, words, strict=True)
            if became is not None
        ]
        rules = Rules.of(pairs, cases)
        # For a given form, a word is known if another form is rewritten to it.
        sources: dict[int, set[str]] = {}
        for form, became in zip(forms, words, strict=True):
            for word in (became or form).split(" "):
                sources.setdefault(_number(word), set()).add(form)

        def known_to(form: str) -> Callable[[int], bool]:
            return lambda word: bool(sources.get(word, set()) - {form})

        self = cls(rules, frozenset(sources), np.zeros(0, np.int8))
        numbers: list[int] = []
        options: list[Options] = []
        gold: list[int] = []
        for i, form in enumerate(forms):
            if form not in self._seen:
                self._seen[form] = self._options(form, known_to(form))
            found = self._seen[form]
            became = words[i]
            if found is None or (became is not None and became not in found.words):
                continue
            numbers.append(i)
            options.append(found)
            gold.append(-1 if became is None else found.words.index(became))
        learned = Learned(PLACES)
        spelling, rows, starts = _table(options)
        contexts, right = contexts[numbers], np.array(gold, dtype=np.int64)
        chosen = np.empty_like(right)
        for epoch in range(1, epochs + 1):
            order = generator.permutation(len(numbers))
            choose(
                order, spelling, contexts, rows, starts, learned.weights, chosen, right,
                learned.table,
            )  # fmt: skip
            if epoch == (epochs + 1) // 2:
                learned.prune()
            progress(epoch, epochs)
        return cls(rules, frozenset(sources), learned.in_bytes())

    def rewritten(
        self, forms: Sequence[str], context: Callable[[NDArray[np.int64]], NDArray[np.uint64]]
    ) -> dict[int, str]:
        """Rewrite forms.

        Parameters
        ----------
        forms
            Any number.
        context
            Returns the context hashes, (m, CONTEXTS), of the forms with the given numbers.

        Returns
        -------
        words
            The rewritings of the forms that change, keyed by the number of the form.
        """
        seen = self._seen
        if len(seen) > _MOST_FORMS:
            seen.clear()
        numbers: list[int] = []
        options: list[Options] = []
        for i, form in enumerate(forms):
            try:
                found = seen[form]
            except KeyError:
                found = seen[form] = self._options(form, self._known.__contains__)
            if found is not None:
                numbers.append(i)
                options.append(found)
        if not numbers:
            return {}
        spelling, rows, starts = _table(options)
        chosen = np.empty(len(numbers), dtype=np.int64)
        choose(
            np.arange(len(numbers)), spelling, context(np.array(numbers)), rows, starts,
            self.weights, chosen, _NO_GOLD, NOTHING,
        )  # fmt: skip
        return {
            number: found.words[option]
            for number, found, option in zip(numbers, options, chosen.tolist(), strict=True)
            if option >= 0
        }

    def _options(self, form: str, known: Callable[[int], bool]) -> Options | None:
        """Return the candidate rewritings of a form; None if there are none."""
        words: list[str] = []
        rows: list[tuple[int, int, int]] = []
        itself = known(_number(form))
        for number, became in self.rules.options(form):
            if became in words or became == form:
                continue
            parts = became.split(" ")
            every = all(known(_number(part)) for part in parts)
            some = max(parts, key=len)
            words.append(became)
            rows.append(
                (
                    self._hashes[number] if number >= 0 else crc32(became.encode()) + 1,
                    4 * every + 2 * itself + known(_number(some)),
                    crc32(some[-3:].encode()),
                )
            )
        if not words:
            return None
        ends = [form, *(form[-k:] for k in range(1, _SUFFIXES + 1))]
        pieces = ends + [form[:k] for k in range(1, _PREFIXES + 1)]
        return Options(tuple(words), tuple(crc32(p.encode()) for p in pieces), tuple(rows))

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file."""
        header = {
            "rules": [list(rule) for rule in self.rules.rules],
            "exceptions": self.rules.exceptions,
        }
        known = np.array(sorted(self._known), dtype=np.uint32)
        return header, {"known": np.diff(known, prepend=np.uint32(0)), **pack(self.weights)}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a rewriter from the output of `to_file`, or raise `ModelError`."""
        fields = scheme.fields_of(header, _FIELDS)
        known = scheme.arrays_of(arrays, _ARRAYS, {})["known"]
        rules = [Rule(*rule) for rule in fields["rules"]]
        exceptions = {form: tuple(words) for form, words in fields["exceptions"].items()}
        weights = unpack(arrays, PLACES)
        return cls(Rules(rules, exceptions), frozenset(np.cumsum(known).tolist()), weights)


def _is_rule(value: object) -> bool:
    """Return whether a JSON value is a rule."""
    if not isinstance(value, list | tuple) or len(value) != len(Rule._fields):
        return False
    case, prefix, suffix, words = value
    ends = all(end == "" or scheme.VALUE.fits(end) for end in (prefix, suffix))
    return (
        type(case) is int
        and case in (AS_IS, LOWERED, CAPITALIZED)
        and ends
        and _are_words(words)
        and words.count(STEM) == 1
    )


def _are_words(value: object) -> bool:
    """Return whether a JSON value is a string of words separated by single spaces."""
    return isinstance(value, str) and scheme.VALUE.fits(value) and all(value.split(" "))


_FIELDS: Final = {
    "rules": scheme.list_of(scheme.Field("a rule", _is_rule), 0, 10**6),
    "exceptions": scheme.Field(
        "an object of lists of words",
        lambda value: (
            isinstance(value, dict)
            and all(
                isinstance(words, list | tuple) and all(map(_are_words, words))
                for words in value.values()
            )
        ),
    ),
}
_ARRAYS: Final = {"known": scheme.Array((np.uint32,), ("known",))}


def _number(word: str) -> int:
    return crc32(word.encode()) >> (32 - _WORD_BITS)


def _table(
    options: Sequence[Options],
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """Convert options to arrays: spelling, rows, and the start of each form's rows."""
    spelling = np.array([found.spelling for found in options], dtype=np.uint64)
    rows = np.array([row for found in options for row in found.rows], dtype=np.uint64)
    starts = np.cumsum([0, *(len(found.rows) for found in options)])
    return spelling.reshape(-1, _SPELLING), rows.reshape(-1, _ROW), starts


@kernel
def _look(spelling: np.ndarray, context: np.ndarray, row: np.ndarray, places: np.ndarray) -> None:
    """Compute the weight indices of the features of one option."""
    rule = row[0]
    known = row[1]
    tail = row[2]
    places[0] = rule
    at = 1
    for k in range(spelling.size):
        places[at] = mix(rule, spelling[k])
        at += 1
    for k in range(context.size):
        mixed = mix(rule, context[k])
        places[at] = mixed
        places[at + 1] = mix(mixed, spelling[0])
        places[at + 2] = mix(mixed, spelling[2])
        places[at + 3] = mix(mixed, spelling[3])
        places[at + 4] = mix(context[k], known)
        places[at + 5] = mix(context[k], tail)
        at += 6
    places[at] = known
    places[at + 1] = mix(known, rule)
    places[at + 2] = mix(known, mix(rule, context[0]))
    places[at + 3] = tail
    places[at + 4] = mix(mix(rule, context[0]), spelling[4])
    to_places(places)


@kernel
def choose(
    order: np.ndarray,
    spelling: np.ndarray,
    contexts: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    chosen: np.ndarray,
    gold: np.ndarray,
    learned: np.ndarray,
) -> None:
    """Choose the best option of each form, or none; train the weights too if `gold` is given.

    O(rows).

    Parameters
    ----------
    order : int64
        The forms to process, in this order.
    spelling : uint64, shape (n, 9)
    contexts : uint64, shape (n, CONTEXTS)
    rows : uint64, shape (m, 3)
        The options of all forms.
    starts : int64, shape (n + 1,)
        The start of each form's options in `rows`.
    weights : int8 or float32, shape (PLACES,)
    chosen : int64, shape (n,)
        Filled: the index of the chosen option of each form; -1 for none.
    gold : int64, shape (n,)
        The correct choices. Empty: no training.
    learned : float32, shape (2, PLACES)
        For training: the table of `Learned`, of which `weights` are the first row. Changed.
    """
    most = 0
    for i in order:
        most = max(most, starts[i + 1] - starts[i])
    places = np.empty((most, _FEATURES), dtype=np.uint64)
    scores = np.empty(most)
    for i in order:
        count = starts[i + 1] - starts[i]
        highest = 0.0
        chosen[i] = -1
        for k in range(count):
            _look(spelling[i], contexts[i], rows[starts[i] + k], places[k])
            scores[k] = total(weights, places[k])
            if scores[k] > highest:
                highest = scores[k]
                chosen[i] = k
        if gold.size == 0:
            continue
        partition = np.exp(-highest)  # the term of "none"
        for k in range(count):
            partition += np.exp(scores[k] - highest)
        for k in range(count):
            probability = np.exp(scores[k] - highest) / partition
            move(learned, places[k], np.float32(probability - (k == gold[i])), _PENALTY)
