"""The candidates of a rewriting: the results of rules and exceptions for a form (see `rules`).

All texts are UTF-8, one after the other in one array. A candidate is three pieces of this array:
the text before the stem, the stem, and the text after the stem. Candidate 0 is the form itself.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self
from zlib import crc32

import numpy as np

from arborescence.compiling.kernels import kernel, uncounted_kernel
from arborescence.parsers.shared.features import prefix_stop, suffix_start
from arborescence.parsers.text.rules import CASES, SHORTEST_STEM, STEM, cased

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.text.rules import Rules

_SUFFIXES: Final = 5
_PREFIXES: Final = 3
#: The number of hashes of a form: of itself, of its suffixes, and of its prefixes.
SPELLING: Final = 1 + _SUFFIXES + _PREFIXES
_HIDDEN: Final = 8  # the lowest bits of a checksum, which the hash of a word leaves out
_SPACE: Final = 32
# The number of texts of a rule: prefix, suffix, words before the stem, words after the stem.
_TEXTS: Final = 4
# The table of zlib's checksum (polynomial 0xEDB88320), from its checksums of single bytes.
_TABLE: Final = np.array(
    [crc32(bytes([255 - byte])) ^ 0xFF000000 for byte in range(256)], dtype=np.int64
)


class Texts(NamedTuple):
    """The texts of rules and of forms, for kernels."""

    #: the bytes of all texts: `_TEXTS` for each rule; then, for each form, the form in each letter
    #: case (empty if an earlier case gives the same text), its exceptions, and its other texts
    raw: NDArray[np.uint8]
    #: (texts + 1,): text t is ``raw[bounds[t] : bounds[t + 1]]``
    bounds: NDArray[np.int64]
    #: (forms, 2): the first text of each form, and the text after its last exception
    firsts: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str], firsts: Iterable[tuple[int, int]] = ()) -> Self:
        """Encode texts."""
        encoded = [text.encode() for text in texts]
        return cls(
            np.frombuffer(b"".join(encoded), dtype=np.uint8),
            np.cumsum([0, *map(len, encoded)]),
            np.array(firsts, dtype=np.int64).reshape(-1, 2),
        )

    @classmethod
    def of_rules(cls, rules: Rules) -> Self:
        """Encode the texts of rules in order."""
        return cls.of(
            text
            for rule in rules.in_order
            for text in (rule.prefix, rule.suffix, *rule.words.split(STEM))
        )

    def and_forms(
        self, rules: Rules, forms: Iterable[str], others: Sequence[Sequence[str]] = ()
    ) -> Self:
        """Return these texts and the texts of forms; `others` has further texts of each form."""
        texts: list[str] = []
        firsts: list[tuple[int, int]] = []
        for number, form in enumerate(forms):
            first = self.bounds.size - 1 + len(texts)
            bases = [cased(form, case) if case in rules.cases else "" for case in CASES]
            texts += (base if base not in bases[:case] else "" for case, base in enumerate(bases))
            texts += rules.exceptions.get(form, ())
            firsts.append((first, self.bounds.size - 1 + len(texts)))
            texts += others[number] if others else ()
        more = self.of(texts, firsts)
        return more._replace(
            raw=np.concatenate((self.raw, more.raw)),
            bounds=np.concatenate((self.bounds[:-1], self.bounds[-1] + more.bounds)),
        )


#: `Texts` in signatures of kernels.
TEXTS: Final = "parsers.text.candidates.Texts(uint8[::1], int64[::1], int64[:, ::1])"


def table_of(rules: Rules) -> NDArray[np.int64]:
    """Return the table of rules for kernels: (R, 4) int64."""
    # The columns: letter case, least characters of a form, last byte of the suffix or -1, a hash.
    rows = [
        (
            rule.case,
            len(rule.prefix) + len(rule.suffix) + SHORTEST_STEM,
            rule.suffix.encode()[-1] if rule.suffix else -1,
            crc32("\t".join((str(rule.case), rule.prefix, rule.suffix, rule.words)).encode()),
        )
        for rule in rules.in_order
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def number_of(word: str) -> int:
    """Return the hash of a word, as in arrays of known words."""
    return crc32(word.encode()) >> _HIDDEN


class Candidates(NamedTuple):
    """The candidates of one form; there is room for the candidates of any form."""

    #: int64 (most, 6): the start and the stop of the three pieces of each candidate
    pieces: np.ndarray
    #: int64 (most, 2): the checksum and the number of bytes of each candidate
    sums: np.ndarray
    #: int64 (most,): the source of each candidate: r + 1 for rule r in order; -1 - k for exception
    #: k; 0 for the form itself
    sources: np.ndarray
    #: int64 (most, 3): the hash of the rule; a sum: 4 if all words of the candidate are known, 2 if
    #: the form is known, 1 if the candidate's longest word is known; the hash of the longest word's
    #: suffix
    rows: np.ndarray
    #: uint64 (SPELLING,): hashes of the form, its suffixes and its prefixes
    spelling: np.ndarray
    #: uint8: the bytes of the current candidate
    text: np.ndarray


@kernel
def room_for(texts: Texts, rules: np.ndarray) -> Candidates:
    """Make room for the candidates of any of the forms."""
    bounds, firsts = texts.bounds, texts.firsts
    longest = 0
    for text in range(bounds.size - 1):
        longest = max(longest, bounds[text + 1] - bounds[text])
    most = 0
    for form in range(firsts.shape[0]):
        most = max(most, firsts[form, 1] - firsts[form, 0])
    most += 1 + rules.shape[0]
    return Candidates(
        np.zeros((most, 6), dtype=np.int64),
        np.zeros((most, 2), dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((most, 3), dtype=np.int64),
        np.empty(SPELLING, dtype=np.uint64),
        np.empty(3 * longest, dtype=np.uint8),
    )


@uncounted_kernel
def list_candidates(
    texts: Texts, rules: np.ndarray, known: np.ndarray, form: int, candidates: Candidates
) -> int:
    """List the candidates of a form, each once; return their number. O(rules + bytes)."""
    # The order: the form, its exceptions, and the rules by case, length of prefix, and length of
    # suffix.
    # rules: see `table_of`
    # known: int64 (2, words): the hashes of known words (see `number_of`) in ascending order, and
    # for each word the number of the only form for which the word counts as unknown, or -1
    # form: the number of the form
    # candidates: the result is written into these arrays
    raw, bounds, firsts = texts
    first = firsts[form, 0]
    _spell(raw, bounds[first], bounds[first + 1], candidates.spelling)
    _is_new(raw, bounds[first], bounds[first + 1], 0, 0, 0, 0, 0, candidates)
    candidates.rows[0, 1] = 2 * _is_known(known, candidates.sums[0, 0], form)
    count = 1
    exceptions = first + len(CASES)
    for text in range(exceptions, firsts[form, 1]):
        if _is_new(raw, bounds[text], bounds[text + 1], 0, 0, 0, 0, count, candidates):
            candidates.sources[count] = exceptions - text - 1
            candidates.rows[count, 0] = candidates.sums[count, 0] + 1
            _look_up(known, form, count, candidates)
            count += 1
    rule = 0
    for case in CASES:
        begin, end = bounds[first + case], bounds[first + case + 1]
        characters = _characters(raw, begin, end)
        last = raw[end - 1] if characters else 0
        while rule < rules.shape[0] and rules[rule, 0] == case:
            if rules[rule, 1] <= characters and (rules[rule, 2] == last or rules[rule, 2] < 0):
                at = _TEXTS * rule
                stem = begin + bounds[at + 1] - bounds[at]
                after = end - (bounds[at + 2] - bounds[at + 1])
                if (
                    _is_same(raw, after, end, raw, bounds[at + 1])
                    and _is_same(raw, begin, stem, raw, bounds[at])
                    and _is_new(
                        raw, bounds[at + 2], bounds[at + 3], stem, after, bounds[at + 3],
                        bounds[at + 4], count, candidates,
                    )
                ):  # fmt: skip
                    candidates.sources[count] = rule + 1
                    candidates.rows[count, 0] = rules[rule, 3]
                    _look_up(known, form, count, candidates)
                    count += 1
            rule += 1
    return count


@uncounted_kernel
def number_among(texts: Texts, text: int, count: int, candidates: Candidates) -> int:
    """Return the number of the candidate with this text, except the form itself; -1 if none."""
    raw, start = texts.raw, texts.bounds[text]
    size = texts.bounds[text + 1] - start
    for k in range(1, count):
        if candidates.sums[k, 1] == size and _is_text(raw, candidates.pieces[k], raw, start):
            return k
    return -1


@uncounted_kernel
def _is_new(
    raw: np.ndarray,
    before: int,
    before_stop: int,
    stem: int,
    stem_stop: int,
    after: int,
    after_stop: int,
    count: int,
    candidates: Candidates,
) -> bool:
    """Write candidate `count`; return whether it differs from all candidates before it."""
    pieces = candidates.pieces[count]
    pieces[0], pieces[1] = before, before_stop
    pieces[2], pieces[3] = stem, stem_stop
    pieces[4], pieces[5] = after, after_stop
    size = 0
    for piece in range(3):
        for i in range(pieces[2 * piece], pieces[2 * piece + 1]):
            candidates.text[size] = raw[i]
            size += 1
    total = checksum(candidates.text, 0, size)
    candidates.sums[count, 0], candidates.sums[count, 1] = total, size
    for k in range(count):
        same = candidates.sums[k, 0] == total and candidates.sums[k, 1] == size
        if same and _is_text(raw, candidates.pieces[k], candidates.text, 0):
            return False
    return True


@uncounted_kernel
def _look_up(known: np.ndarray, form: int, count: int, candidates: Candidates) -> None:
    """Describe the words of the candidate in `text`: fill columns 1 and 2 of its row."""
    text, size = candidates.text, candidates.sums[count, 1]
    every = True
    longest = -1  # the number of characters of the longest word, the first of several
    longest_known = False
    start = tail = tail_stop = 0
    for stop in range(size + 1):
        if stop == size or text[stop] == _SPACE:
            whole = stop - start == size
            total = candidates.sums[count, 0] if whole else checksum(text, start, stop)
            is_known = _is_known(known, total, form)
            every &= is_known
            characters = _characters(text, start, stop)
            if characters > longest:
                longest, longest_known = characters, is_known
                tail, tail_stop = suffix_start(text, start, stop, 3), stop
            start = stop + 1
    candidates.rows[count, 1] = 4 * every + candidates.rows[0, 1] + longest_known
    candidates.rows[count, 2] = checksum(text, tail, tail_stop)


@uncounted_kernel
def _spell(raw: np.ndarray, start: int, stop: int, spelling: np.ndarray) -> None:
    """Hash a form, its suffixes and its prefixes."""
    spelling[0] = checksum(raw, start, stop)
    for k in range(_SUFFIXES):
        spelling[1 + k] = checksum(raw, suffix_start(raw, start, stop, k + 1), stop)
    for k in range(_PREFIXES):
        at = prefix_stop(raw, start, stop, k + 1)
        spelling[1 + _SUFFIXES + k] = checksum(raw, start, at)


@uncounted_kernel
def checksum(text: np.ndarray, start: int, stop: int) -> int:
    """Return zlib's `crc32` of ``text[start:stop]``. O(bytes)."""
    state = 0xFFFFFFFF
    for i in range(start, stop):
        state = _TABLE[(state ^ np.int64(text[i])) & 0xFF] ^ (state >> 8)
    return state ^ 0xFFFFFFFF


@uncounted_kernel
def _is_known(known: np.ndarray, total: int, form: int) -> bool:
    """Return whether the word with this checksum is known to a form."""
    number = total >> _HIDDEN
    at = np.searchsorted(known[0], number)
    return at < known.shape[1] and known[0, at] == number and known[1, at] != form


@uncounted_kernel
def _characters(text: np.ndarray, start: int, stop: int) -> int:
    """Count the characters of the UTF-8 text ``text[start:stop]``."""
    count = 0
    for i in range(start, stop):
        count += text[i] & 0xC0 != 0x80
    return count


@uncounted_kernel
def _is_same(raw: np.ndarray, start: int, stop: int, text: np.ndarray, at: int) -> bool:
    """Return whether ``raw[start:stop]`` stands in `text` at `at`."""
    i = start
    while i < stop and raw[i] == text[at + i - start]:
        i += 1
    return i == stop


@uncounted_kernel
def _is_text(raw: np.ndarray, pieces: np.ndarray, text: np.ndarray, at: int) -> bool:
    """Return whether the pieces of a candidate, one after the other, stand in `text` at `at`."""
    for piece in range(3):
        start, stop = pieces[2 * piece], pieces[2 * piece + 1]
        if not _is_same(raw, start, stop, text, at):
            return False
        at += stop - start
    return True
