"""Lemmas and the rules that make them."""

from __future__ import annotations

import numpy as np
import pytest

from arborescence.core.errors import TreebankError
from arborescence.parsers.text import Lemmatizer, Text, lemmas
from arborescence.parsers.text import rewriting as kernels
from arborescence.parsers.text.rules import AS_IS, CAPITALIZED, LOWERED, STEM, Rule, Rules, cased
from arborescence.parsers.text.weights import PLACES
from arborescence.treebank import Sentence
from raw_texts import TREEBANK

CASES = (AS_IS, LOWERED, CAPITALIZED)


@pytest.fixture(scope="module")
def lemmatizer():
    return Lemmatizer.train(TREEBANK)


@pytest.mark.parametrize(
    ("form", "words", "rule"),
    [
        ("studies", ("study",), Rule(AS_IS, "", "ies", STEM + "y")),
        ("gesagt", ("sagen",), Rule(AS_IS, "ge", "t", STEM + "en")),
        ("The", ("the",), Rule(LOWERED, "", "", STEM)),
        ("PARIS", ("Paris",), Rule(CAPITALIZED, "", "", STEM)),
        ("didn't", ("did", "n't"), Rule(AS_IS, "", "n't", STEM + " n't")),
        ("xyz", ("abc",), Rule(AS_IS, "xyz", "", "abc")),
    ],
)
def test_rules_between(form, words, rule):
    found = Rule.between(form, words, CASES)
    assert found == rule
    if STEM in rule.words:
        assert found.applied(form) == " ".join(words)


def test_options_are_what_rules_and_exceptions_say():
    """Beside a slow search through all rules."""
    pairs = [("walked", ("walk",)), ("talked", ("talk",)), ("went", ("go",)), ("The", ("the",)),
             ("An", ("an",)), ("undone", ("do",)), ("unbound", ("bind",))]  # fmt: skip
    rules = Rules.of(pairs, CASES)
    assert rules.exceptions["went"] == ("go",)
    for form in ("jumped", "went", "Jumped", "ed", "x", "", "unwalked", "ÀÉ", "THE"):
        slow = set(rules.exceptions.get(form, ()))
        for rule in rules.rules:
            base = cased(form, rule.case)
            before = {LOWERED: [form], CAPITALIZED: [form, form.lower()]}.get(rule.case, [])
            if base in before:
                continue
            fits = base.startswith(rule.prefix) and base.endswith(rule.suffix)
            if fits and len(base) >= len(rule.prefix) + len(rule.suffix) + 2:
                slow.add(rule.applied(form))
        assert {words for _, words in rules.options(form)} == slow


def test_learns_and_guesses(lemmatizer):
    again = list(lemmatizer.lemmatize(TREEBANK, overwrite=True))
    assert [s.lemmas for s in again] == [s.lemmas for s in TREEBANK]
    new = Sentence.from_words(["Birds", "barked", "went"], upos=["X", "VERB", "X"])
    [found] = lemmatizer.lemmatize([new])
    assert found.lemmas == ["bird", "bark", "go"]


def test_what_is_given_is_kept(lemmatizer):
    given = Sentence.from_words(["Birds", "sang"], lemmas=["B", "_"])
    assert list(lemmatizer.lemmatize([given])) == [given]
    [changed] = lemmatizer.lemmatize([given], overwrite=True)
    assert changed.lemmas == ["bird", "sing"]


def test_the_cache_may_be_emptied_at_any_time(lemmatizer, monkeypatch):
    whole = [s.lemmas for s in lemmatizer.lemmatize(TREEBANK, overwrite=True)]
    monkeypatch.setattr(lemmas, "_MOST_WORDS", 3)
    monkeypatch.setattr(kernels, "_MOST_FORMS", 3)
    assert [s.lemmas for s in lemmatizer.lemmatize(TREEBANK, overwrite=True)] == whole


def test_a_treebank_without_lemmas():
    bare = [Sentence.from_words(s.forms) for s in TREEBANK]
    with pytest.raises(TreebankError, match="no lemmas"):
        Lemmatizer.train(bare)
    assert Text.train(bare).lemmatizer is None


def test_kernel_chooses_as_slow_sums_do():
    generator = np.random.default_rng(2)
    sizes = [0, 1, 4, 2, 7]
    starts = np.cumsum([0, *sizes])
    n, rows = len(sizes), int(starts[-1])
    spelling = generator.integers(0, 2**60, (n, 9)).astype(np.uint64)
    contexts = generator.integers(0, 2**60, (n, kernels.CONTEXTS)).astype(np.uint64)
    table = generator.integers(0, 2**30, (rows, 3)).astype(np.uint64)
    weights = generator.integers(-9, 10, PLACES).astype(np.int8)
    chosen = np.empty(n, dtype=np.int64)
    learned = kernels._NO_GOLD, kernels.NOTHING
    kernels.choose(np.arange(n), spelling, contexts, table, starts, weights, chosen, *learned)
    for i in range(n):
        scores = [0]
        for row in range(starts[i], starts[i + 1]):
            places = np.empty(39, dtype=np.uint64)
            kernels._look(spelling[i], contexts[i], table[row], places)
            scores.append(sum(int(weights[int(place)]) for place in places))
        assert chosen[i] == int(np.argmax(scores)) - 1
