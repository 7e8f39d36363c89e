"""Rewrite forms in context: a log-linear choice among the edit scripts that fit (Chrupała 2006).

This serves lemmas and multiword tokens. Features of a rule are the form, its prefixes and suffixes,
the context, and whether the result is a known word. To apply no rule is a choice, too, with score
0.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

import re
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.classifier import (
    NOTHING,
    PLACES,
    Learned,
    compiled,
    fill,
    learn,
    pack,
    sums,
    to_probabilities,
    total,
    unpack,
    values_of,
)
from arborescence.parsers.text.candidates import (
    SPELLING,
    TEXTS,
    Texts,
    list_candidates,
    number_among,
    number_of,
    room_for,
    table_of,
)
from arborescence.parsers.text.rules import CASES, STEM, EditScript, Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

#: The number of context hashes of a form.
CONTEXTS: Final = 4
_FORM = [f"s{k}" for k in range(SPELLING)]
_CONTEXT = [f"c{k}" for k in range(CONTEXTS)]
_TEMPLATES: Final = compiled(
    " ".join(["rule known tail", *_FORM, *_CONTEXT]),
    ", ".join([
        "rule", *(f"rule * {s}" for s in _FORM),
        *(f"rule * {c}, rule * {c} * s0, rule * {c} * s2, rule * {c} * s3, {c} * known, {c} * tail"
          for c in _CONTEXT),
        "known, known * rule, known * (rule * c0), tail, rule * c0 * s4",
    ]),
)  # fmt: skip
_FEATURES: Final = _TEMPLATES.features.size
# The L1 penalty for a step of size 1, chosen on the dev set of English-EWT.
_PENALTY: Final = np.float32(0.003)
_MOST_FORMS: Final = 100_000


class Rewriter:
    """Rewrites forms in their contexts; `known` has hashes of words (see `number_of`)."""

    def __init__(self, rules: Rules, known: NDArray[np.int64], weights: NDArray[np.int8]) -> None:
        self.rules = rules
        self.weights = weights
        self._known = np.stack((known, np.full_like(known, -1)))
        self._texts = Texts.of_rules(rules)
        self._table = table_of(rules)
        # Forms that no rule fits, whatever their contexts: most forms, for contractions.
        self._fixed: set[str] = set()

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
        """Train on forms, their rewritings (None: unchanged), and hashes of their contexts.

        `contexts` is (n, CONTEXTS); `cases` are the allowed changes of letter case.
        """
        pairs = [
            (form, tuple(became.split(" ")))
            for form, became in zip(forms, words, strict=True)
            if became is not None
        ]
        numbers = {form: number for number, form in enumerate(dict.fromkeys(forms))}
        targets: list[list[str]] = [[] for _ in numbers]
        # For a given form, a word is known if another form is rewritten to it.
        sources: dict[int, set[int]] = {}
        for form, became in zip(forms, words, strict=True):
            number = numbers[form]
            if became is not None and became not in targets[number]:
                targets[number].append(became)
            for word in (became or form).split(" "):
                sources.setdefault(number_of(word), set()).add(number)
        known, only = np.array(
            [(word, -1 if len(by) > 1 else min(by)) for word, by in sorted(sources.items())],
            dtype=np.int64,
        ).T
        self = cls(Rules.of(pairs, cases), known, np.zeros(0, np.int8))
        texts = self._texts.and_forms(self.rules, numbers, targets)
        items = np.full((len(forms), 2), -1)
        for item, form, became in zip(items, forms, words, strict=True):
            item[0] = number = numbers[form]
            if became is not None:
                item[1] = texts.firsts[number, 1] + targets[number].index(became)
        given = (items, texts, self._table, np.stack((known, only)), contexts)
        chosen = np.empty_like(items)
        choose(np.arange(len(forms)), *given, self.weights, chosen, NOTHING)
        possible = np.flatnonzero(chosen[:, 1] >= 0)
        learned = Learned(PLACES)
        for epoch in range(1, epochs + 1):
            order = generator.permutation(possible)
            choose(order, *given, learned.weights, chosen, learned.table)
            if epoch == (epochs + 1) // 2:
                learned.prune()
            progress(epoch, epochs)
        return cls(self.rules, known, learned.in_bytes())

    @property
    def known(self) -> NDArray[np.int64]:
        """The hashes of the words that training has seen, in order."""
        return self._known[0]

    def rewritten(self, forms: Sequence[str], contexts: NDArray[np.uint64]) -> dict[int, str]:
        """Return the rewritings of the forms that change, by the number of the form."""
        places = [i for i, form in enumerate(forms) if form not in self._fixed]
        some = [forms[i] for i in places]
        numbers = {form: number for number, form in enumerate(dict.fromkeys(some))}
        items = np.full((len(some), 2), -1)
        items[:, 0] = [numbers[form] for form in some]
        chosen = np.empty_like(items)
        choose(
            np.arange(len(some)), items, self._texts.and_forms(self.rules, numbers), self._table,
            self._known, contexts[places], self.weights, chosen, NOTHING,
        )  # fmt: skip
        if len(self._fixed) > _MOST_FORMS:
            self._fixed.clear()  # another thread may read or fill the set at the same time
        self._fixed.update(compress(some, (chosen[:, 1] < 0).tolist()))
        return {
            i: self.rules.applied(source, forms[i])
            for i, source in zip(places, chosen[:, 0].tolist(), strict=True)
            if source
        }

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file."""
        header = {
            "rules": [list(rule) for rule in self.rules.rules],
            "exceptions": self.rules.exceptions,
        }
        known = self._known[0].astype(np.uint32)
        return header, {"known": np.diff(known, prepend=np.uint32(0)), **pack(self.weights)}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a rewriter from the output of `to_file`, or raise `ModelError`."""
        fields = scheme.fields_of(header, _FIELDS)
        known = scheme.arrays_of(arrays, _ARRAYS, {})["known"]
        rules = [EditScript(*rule) for rule in fields["rules"]]
        exceptions = {form: tuple(words) for form, words in fields["exceptions"].items()}
        weights = unpack(arrays, PLACES)
        return cls(Rules(rules, exceptions), sums(known), weights)


def _is_rule(value: object) -> bool:
    """Return whether a JSON value is a rule."""
    if not isinstance(value, list | tuple) or len(value) != len(EditScript._fields):
        return False
    case, prefix, suffix, words = value
    ends = all(end == "" or scheme.VALUE.fits(end) for end in (prefix, suffix))
    return (
        type(case) is int
        and case in CASES
        and ends
        and _are_words(words)
        and words.count(STEM) == 1
    )


def _are_words(value: object) -> bool:
    """Return whether a JSON value is a string of words separated by single spaces."""
    return isinstance(value, str) and _WORDS.fullmatch(value) is not None


_WORD: Final = scheme.CHARACTER.replace("]", " ]")
_WORDS: Final = re.compile(f"{_WORD}+(?: {_WORD}+)*")


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


@kernel
@takes(
    f"int64[::1], int64[:, ::1], {TEXTS}, int64[:, ::1], int64[:, ::1], uint64[:, ::1], "
    "weight[::1], out int64[:, ::1], out float32[:, ::1]"
)
def choose(
    order: np.ndarray,  # int64: the items to process, in this order
    # int64 (n, 2): the form of each item, and the number of the text that it is rewritten as; -1:
    # the form stays the same
    items: np.ndarray,
    # texts, rules, known: as for `list_candidates`
    texts: Texts,
    rules: np.ndarray,
    known: np.ndarray,
    contexts: np.ndarray,  # uint64 (n, CONTEXTS)
    weights: np.ndarray,  # int8 or float32 (PLACES,): empty: nothing is chosen
    # int64 (n, 2): written: the source of the chosen candidate (see `Candidates`), and the number
    # of the correct candidate; -1 if the correct one is missing, or there are no candidates
    chosen: np.ndarray,
    # float32 (2, PLACES): for training: the table of `Learned`, of which `weights` are the first
    # row. Changed.
    learned: np.ndarray,
) -> None:
    """Choose the best candidate of each item; also train if `learned` is given.

    O(features) a candidate.
    """
    candidates = room_for(texts, rules)
    places = np.empty((candidates.sources.size, _FEATURES), dtype=np.uint64)
    scores = np.empty(candidates.sources.size)
    room = values_of(_TEMPLATES, 3 + SPELLING + CONTEXTS)
    for i in order:
        count = list_candidates(texts, rules, known, items[i, 0], candidates)
        gold = items[i, 1]
        right = 0
        if gold >= 0:
            right = number_among(texts, gold, count, candidates)
        chosen[i, 0] = 0
        chosen[i, 1] = right if count > 1 else -1
        if weights.size == 0:
            continue
        for k in range(SPELLING):
            room.values[3 + k] = candidates.spelling[k]
        for k in range(CONTEXTS):
            room.values[3 + SPELLING + k] = contexts[i, k]
        best, scores[0] = 0, 0.0
        for k in range(1, count):
            for column in range(3):
                room.values[column] = candidates.rows[k, column]
            fill(_TEMPLATES, room, PLACES, places[k], 0)
            scores[k] = total(weights, places[k])
            if scores[k] > scores[best]:
                best = k
        chosen[i, 0] = candidates.sources[best]
        if learned.size == 0:
            continue
        to_probabilities(scores[:count], scores[best])
        for k in range(1, count):
            learn(learned, places[k], np.uint64(0), scores[k], k == right, _PENALTY)
