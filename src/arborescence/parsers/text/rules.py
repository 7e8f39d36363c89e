"""Edit scripts that rewrite a form as one or several words (after Chrupała 2006).

An edit script, or rule, keeps the longest common substring, and replaces the text before and after
the substring.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The placeholder of the substring that is kept.
STEM: Final = "\0"
#: The first change of a form: none; to lower case; to lower case except the first letter.
AS_IS, LOWERED, CAPITALIZED = CASES = (0, 1, 2)
# Rules with longer prefixes or suffixes are used only for forms seen in training.
_LONGEST: Final = 8
#: The least number of characters of a stem.
SHORTEST_STEM: Final = 2


class EditScript(NamedTuple):
    """A rule that rewrites a form."""

    #: `AS_IS`, `LOWERED` or `CAPITALIZED`: the change of letter case that comes first.
    case: int
    #: The prefix of the form.
    prefix: str
    #: The suffix of the form; between prefix and suffix is the stem, which is not empty.
    suffix: str
    #: The result: the words separated by spaces, with `STEM` in place of the stem.
    words: str

    @classmethod
    def between(
        cls, form: str, words: tuple[str, ...], cases: Iterable[int] = (AS_IS,)
    ) -> EditScript:
        """Return the rule that rewrites a form as these words and keeps the longest stem."""
        best: tuple[int, int, int, int, int] | None = None
        for case in cases:
            base = cased(form, case)
            for place, word in enumerate(words):
                start, at, size = _longest_common(base, word)
                if best is None or size > best[0]:
                    best = size, case, place, start, at
        if best is None or not best[0]:
            return cls(AS_IS, form, "", " ".join(words))
        size, case, place, start, at = best
        base, word = cased(form, case), words[place]
        kept = (*words[:place], word[:at] + STEM + word[at + size :], *words[place + 1 :])
        return cls(case, base[:start], base[start + size :], " ".join(kept))

    def applied(self, form: str) -> str:
        """Apply the rule to a form that it fits."""
        base = cased(form, self.case)
        stem = base[len(self.prefix) : len(base) - len(self.suffix)]
        return self.words.replace(STEM, stem)

    @property
    def is_general(self) -> bool:
        """Whether the rule may be applied to unknown forms."""
        return STEM in self.words and max(len(self.prefix), len(self.suffix)) <= _LONGEST


class Rules:
    """A set of general rules, and exceptions.

    A general rule rewrites every form that has its prefix and suffix. The exceptions are additional
    rewritings of single forms: words separated by spaces.
    """

    def __init__(self, rules: Iterable[EditScript], exceptions: dict[str, tuple[str, ...]]) -> None:
        self.rules = tuple(rules)
        self.exceptions = exceptions
        #: The letter cases to try.
        self.cases = CASES if any(rule.case != AS_IS for rule in self.rules) else (AS_IS,)
        #: The rules in the order in which they are tried.
        self.in_order = sorted(
            (rule for rule in self.rules if len(rule.suffix) <= _LONGEST),
            key=lambda rule: (rule.case, len(rule.prefix), len(rule.suffix)),
        )

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, tuple[str, ...]]], cases: Iterable[int]) -> Rules:
        """Extract rules from pairs of a form and its words; each distinct pair counts once."""
        cases = tuple(cases)
        seen: defaultdict[EditScript, list[tuple[str, str]]] = defaultdict(list)
        for form, words in sorted(set(pairs)):
            seen[EditScript.between(form, words, cases)].append((form, " ".join(words)))
        rules: list[EditScript] = []
        exceptions: defaultdict[str, list[str]] = defaultdict(list)
        for rule, examples in seen.items():
            ends = len(rule.prefix) + len(rule.suffix)
            short = [pair for pair in examples if len(pair[0]) - ends < SHORTEST_STEM]
            if rule.is_general and len(examples) - len(short) > 1:
                rules.append(rule)
            else:
                short = examples
            for form, text in short:
                exceptions[form].append(text)
        return cls(sorted(rules), {form: tuple(texts) for form, texts in exceptions.items()})

    def applied(self, source: int, form: str) -> str:
        """Rewrite a form by rule r (`source` is r + 1, in order) or exception k (-1 - k)."""
        if source > 0:
            return self.in_order[source - 1].applied(form)
        return self.exceptions[form][-1 - source]


def cased(form: str, case: int) -> str:
    """Change the letter case of a form; see `EditScript`."""
    if case == LOWERED:
        return form.lower()
    return form[:1] + form[1:].lower() if case == CAPITALIZED else form


def _longest_common(one: str, other: str) -> tuple[int, int, int]:
    """Find the first longest common substring: its offset in both, and its length."""
    for size in range(min(len(one), len(other)), 0, -1):
        for start in range(len(one) - size + 1):
            at = other.find(one[start : start + size])
            if at >= 0:
                return start, at, size
    return 0, 0, 0
