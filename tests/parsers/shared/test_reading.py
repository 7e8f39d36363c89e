"""What models read of characters, and that what they write is what they were given."""

from __future__ import annotations

import io
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
from arborescence.errors import ModelError
from arborescence.parsers import Tagger, registry
from arborescence.parsers.shared.reading import Reading
from arborescence.treebank import Sentence, read
from samples import treebank
from small_parsers import KINDS, small_parser

PLAIN = ["'", '"', "-", "...", "--"]


def sentences(*forms):
    return [Sentence.from_words(list(forms))]


@pytest.mark.parametrize(
    ("known", "form", "read"),
    [
        (PLAIN, "don’t", "don't"),
        (PLAIN, "‘90s", "'90s"),
        (PLAIN, "oʼclock", "o'clock"),
        (PLAIN, "“", '"'),
        (PLAIN, "»", '"'),
        (PLAIN, "…", "..."),
        (PLAIN, "—", "--"),
        (["-"], "—", "-"),
        (PLAIN, "e‑mail", "e-mail"),
        (PLAIN, "20\u202f000", "20 000"),
        (["’"], "don't", "don’t"),
        (["“", "”", '"'], "«", "“"),
        (["«", "»"], "”", "»"),
        (["«", "»"], "«", "«"),
        ([], "“", "“"),
        (None, "don’t", "don’t"),
        (None, "e\u0301te\u0301", "été"),
        (None, "ex\u00adam\u00adple", "example"),
        (None, "\u200bexam\u200bple\ufeff", "example"),
        (None, "oﬃce", "office"),
        (None, "\u00ad", "\u00ad"),
        (PLAIN, "می\u200cخواهم", "میخواهم"),
        (["\u200c"], "می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_what_is_read(known, form, read):
    assert Reading(known).form(form) == read


def test_of_two_that_are_alike_the_more_frequent_one_is_read():
    many, few = sentences("don't") * 3, sentences("don’t")
    assert Reading.of(many + few).form("won’t") == "won't"
    assert Reading.of(few * 3 + many[:1]).form("won't") == "won’t"
    assert Reading.of(sentences("…") * 2 + sentences("...")).form("…") == "…"


def test_what_says_more_is_read_if_it_is_frequent_enough():
    rare = sentences("“", "a", "”", '"')
    assert Reading.of(rare * 19).form("“") == '"'
    assert Reading.of(rare * 20).form("“") == "“"
    assert Reading.of(rare * 20).form("«") == "“"
    assert Reading.of(sentences("«", "»") * 20).form("„") == "«"


def test_tokens_of_several_words_count():
    lines = "1-2\tl’été\t_\t_\t_\t_\t_\t_\t_\t_\n1\tl\t_\t_\t_\t_\t_\t_\t_\t_\n2\tété"
    rest = "\t_" * 8 + "\n\n"
    [sentence] = read(io.BytesIO(f"{lines}{rest}".encode()))
    assert "’" in Reading.of([sentence]).known


@given(st.text(alphabet="ae'’“ \u0301\u0323\u00ad\u200b…ﬁ\n한\u1112\u1161\u11ab", max_size=20))
def test_places(text):
    """Each character that is read has its place in the text, and no character is without one."""
    found = Reading(PLAIN).read(text)
    assert unicodedata.is_normalized("NFC", found.text)
    if found.starts is None:
        assert found.text == text
        return
    assert len(found.starts) == len(found.text) + 1
    assert (np.diff(found.starts) >= 0).all()
    assert (found.starts[0], found.starts[-1]) == (0, len(text))
    parts = [text[i:j] for i, j in pairwise(found.starts)]
    assert "".join(parts) == text
    for character, part in zip(found.text, parts, strict=True):
        assert character.isspace() == bool(part and part.isspace())


def spellings(words):
    yield [unicodedata.normalize("NFD", word) for word in words]
    yield [f"{word[0]}\u00ad{word[1:]}" if len(word) > 1 else word for word in words]
    yield [word.replace("fi", "ﬁ").replace("'", "’") for word in words]


@pytest.mark.parametrize("kind", KINDS)
def test_every_parser_reads_other_spellings_alike_and_writes_them(kind):
    parser = small_parser(kind)
    for words in (["Élan", "fits", "naïve", "birds"], ["They", "sing", "fine", "songs", "."]):
        [plain] = parser.parse([words])
        for spelled in spellings(words):
            [found] = parser.parse([spelled])
            assert found.forms == spelled
            assert found.with_forms(words) == plain
            scores = [parser.scores(Sentence.from_words(each)) for each in (words, spelled)]
            np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("kind", ["linear", "beam", "mlp", "reranker", "combined"])
def test_of_the_k_best_trees_all_have_the_forms_that_were_given(kind):
    parser, words = small_parser(kind), ["Élan", "fits", "naïve", "birds"]
    [plain] = parser.kbest([words], 3)
    for spelled in spellings(words):
        [found] = parser.kbest([spelled], 3)
        assert [tree.sentence.forms for tree in found] == [spelled] * len(plain)
        assert [tree.weight for tree in found] == [tree.weight for tree in plain]
        assert [tree.sentence.heads.tolist() for tree in found] == [
            tree.sentence.heads.tolist() for tree in plain
        ]


def test_trees_that_are_searched_by_rules_keep_their_forms():
    parser = arb.load("english")
    words = ["The", "cafe\u0301", "that", "I", "saw", "was", "closed", ",", "he", "said", "."]
    for tree in parser.parse([words] * 2, rules="ud"):
        assert tree.forms == words
        assert tree.lemmas[1] == "café"


def test_what_is_known_is_kept_in_the_file(tmp_path):
    parser = small_parser("linear")
    assert parser.reading.known is not None
    parser.save(tmp_path / "my.model")
    assert arb.load(tmp_path / "my.model").reading.known == parser.reading.known
    header, arrays = parser.to_file()
    assert registry.from_file(header | {"reading": None}, arrays).reading.known is None
    with pytest.raises(ModelError, match="reading"):
        registry.from_file(header | {"reading": "'"}, arrays)


def test_an_older_neural_file_knows_what_its_vocabulary_has():
    parser = small_parser("biaffine")
    header, arrays = parser.to_file()
    del header["reading"]
    loaded = registry.from_file(header, arrays)
    letters = parser.vocabulary.letters
    assert set(loaded.reading.known) <= letters.keys() | parser.vocabulary.words.keys()


def test_tags_and_lemmas_without_trees():
    parser = arb.load("english")
    plain, printed = parser.tag([["They", "do", "n't", "fit"], ["They", "do", "n’t", "\u200bﬁt"]])
    assert printed.with_forms(plain.forms) == plain
    assert printed.forms == ["They", "do", "n’t", "\u200bﬁt"]


def test_copies_in_other_spellings_are_tagged_by_taggers_that_have_not_seen_the_sentence():
    from arborescence.parsers.tagger.tagging import taggers_of_others

    taught = treebank()
    copies = [one.with_forms([form.upper() for form in one.forms]) for one in taught]
    seen = []
    for part, tagger in taggers_of_others([*taught, *copies], folds=2, columns=["upos"], epochs=1):
        assert isinstance(tagger, Tagger)
        assert {number % len(taught) for number in part} == {
            number for number in part if number < len(taught)
        }
        seen += part
    assert sorted(seen) == list(range(2 * len(taught)))
