"""Lemmas and the rules that make them."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from arborescence.errors import TreebankError
from arborescence.parsers.shared import classifier
from arborescence.parsers.shared.classifier import PLACES
from arborescence.parsers.text import Lemmatizer, Text, candidates, lemmas, rewriting
from arborescence.parsers.text.candidates import Texts, number_of
from arborescence.parsers.text.rewriting import CONTEXTS
from arborescence.parsers.text.rules import (
    AS_IS,
    CAPITALIZED,
    CASES,
    LOWERED,
    STEM,
    EditScript,
    Rules,
    cased,
)
from arborescence.treebank import Sentence
from raw_texts import TREEBANK


@pytest.fixture(scope="module")
def lemmatizer():
    return Lemmatizer.train(TREEBANK)


@pytest.mark.parametrize(
    ("form", "words", "rule"),
    [
        ("studies", ("study",), EditScript(AS_IS, "", "ies", STEM + "y")),
        ("gesagt", ("sagen",), EditScript(AS_IS, "ge", "t", STEM + "en")),
        ("The", ("the",), EditScript(LOWERED, "", "", STEM)),
        ("PARIS", ("Paris",), EditScript(CAPITALIZED, "", "", STEM)),
        ("didn't", ("did", "n't"), EditScript(AS_IS, "", "n't", STEM + " n't")),
        ("xyz", ("abc",), EditScript(AS_IS, "xyz", "", "abc")),
    ],
)
def test_rules_between(form, words, rule):
    found = EditScript.between(form, words, CASES)
    assert found == rule
    if STEM in rule.words:
        assert found.applied(form) == " ".join(words)


PAIRS = [
    ("walked", "walk"), ("talked", "talk"), ("went", "go"), ("The", "the"), ("An", "an"),
    ("undone", "do"), ("unbound", "bind"), ("been", "be"), ("seen", "see"), ("don't", "do n't"),
    ("can't", "can n't"), ("ÀÉS", "Àé"), ("ÀÈS", "Àè"), ("went", "wend"), ("don't", "don't it"),
    ("Jumped", "jump"), ("Landed", "land"), ("baked", "bake"), ("hoped", "hope"), ("dogs", "dog"),
    ("birds", "bird"), ("glasses", "glass"), ("buses", "bus"), ("undo", "do"), ("unpack", "pack"),
]  # fmt: skip
FORMS = ["jumped", "went", "Jumped", "ed", "x", "unwalked", "ÀÉ", "THE", "Thés", "won't", "don't",
         "TALKED", "中文s", "a b", "unDONE"]  # fmt: skip


def checksum(text):
    return crc32(text.encode())


def slow_candidates(rules, known, form):
    """The candidates of a form as text, source and row, by a search through all rules."""
    found = {form: 0}
    for k, words in enumerate(rules.exceptions.get(form, ())):
        found.setdefault(words, -1 - k)
    bases = []
    for case in CASES:
        base = cased(form, case)
        if base not in bases:
            bases.append(base)
            for number, rule in enumerate(rules.in_order):
                fits = base.startswith(rule.prefix) and base.endswith(rule.suffix)
                long = len(base) >= len(rule.prefix) + len(rule.suffix) + 2
                if rule.case == case and fits and long:
                    found.setdefault(rule.applied(form), number + 1)
    for words, source in list(found.items())[1:]:
        parts = words.split(" ")
        longest = max(parts, key=len)
        known_words = (
            4 * all(number_of(part) in known for part in parts)
            + 2 * (number_of(form) in known)
            + (number_of(longest) in known)
        )
        if source > 0:
            rule = rules.in_order[source - 1]
            name = checksum("\t".join((str(rule.case), rule.prefix, rule.suffix, rule.words)))
        else:
            name = checksum(words) + 1
        yield words, source, (name, known_words, checksum(longest[-3:]))


def spelling_of(form):
    pieces = [form, *(form[-k:] for k in range(1, 6)), *(form[:k] for k in range(1, 4))]
    return [checksum(piece) for piece in pieces]


@pytest.fixture(scope="module")
def rules():
    return Rules.of([(form, tuple(words.split(" "))) for form, words in PAIRS], CASES)


def known_words(*words):
    return np.array(sorted(map(number_of, words)), dtype=np.int64)


def test_kernel_lists_what_a_search_through_all_rules_finds(rules):
    words = known_words("walk", "jump", "the", "n't", "wo", "thé", "go", "x", "talk")
    known = np.stack((words, np.full_like(words, -1)))
    texts = Texts.of_rules(rules).and_forms(rules, FORMS)
    table = candidates.table_of(rules)
    found = candidates.room_for(texts, table)
    sizes = []
    for i, form in enumerate(FORMS):
        count = candidates.list_candidates(texts, table, known, i, found)
        slow = list(slow_candidates(rules, set(words.tolist()), form))
        assert found.sources[1:count].tolist() == [source for _, source, _ in slow]
        assert found.rows[1:count].tolist() == [list(row) for _, _, row in slow]
        assert [rules.applied(source, form) for _, source, _ in slow] == [w for w, _, _ in slow]
        assert found.spelling.tolist() == spelling_of(form)
        sizes.append(len(slow))
    assert min(sizes) == 0
    assert max(sizes) > 3


def test_a_word_may_be_unknown_to_one_form(rules):
    words = known_words("walk", "talk")
    texts = Texts.of_rules(rules).and_forms(rules, ["walked", "Walked"])
    table = candidates.table_of(rules)
    found = candidates.room_for(texts, table)
    for form, bits in ((0, 0), (1, 5)):
        known = np.stack((words, np.zeros(2, np.int64)))
        count = candidates.list_candidates(texts, table, known, form, found)
        made = [rules.applied(s, ["walked", "Walked"][form]) for s in found.sources[1:count]]
        assert found.rows[1 + made.index("walk"), 1] == bits


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
    assert [s.lemmas for s in lemmatizer.lemmatize(TREEBANK, overwrite=True)] == whole


def test_a_treebank_without_lemmas():
    bare = [Sentence.from_words(s.forms) for s in TREEBANK]
    with pytest.raises(TreebankError, match="no lemmas"):
        Lemmatizer.train(bare)
    assert Text.train(bare).lemmatizer is None


def test_kernel_chooses_as_slow_sums_do(rules):
    generator = np.random.default_rng(2)
    room = classifier.values_of(rewriting._TEMPLATES, 16)
    contexts = generator.integers(0, 2**60, (len(FORMS), CONTEXTS)).astype(np.uint64)
    weights = generator.integers(-9, 10, PLACES).astype(np.int8)
    words = known_words("walk", "jump", "the")
    found = rewriting.Rewriter(rules, words, weights).rewritten(FORMS, contexts)
    for i, form in enumerate(FORMS):
        best, highest = form, 0
        spelling = np.array(spelling_of(form), dtype=np.uint64)
        for text, _, row in slow_candidates(rules, set(words.tolist()), form):
            places = np.empty(39, dtype=np.uint64)
            atoms = np.concatenate((np.array(row, dtype=np.uint64), spelling, contexts[i]))
            room.values[: atoms.size] = atoms
            classifier.fill(rewriting._TEMPLATES, room, PLACES, places, 0)
            score = sum(int(weights[int(place)]) for place in places)
            if score > highest:
                best, highest = text, score
        assert found.get(i, form) == best
    assert 0 < len(found) < len(FORMS)
