"""Raw text in print, with marks apart, in scripts that no treebank has; names with figures."""

from __future__ import annotations

import random
import unicodedata
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arborescence.errors import ModelError
from arborescence.parsers import model_file
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.graphemes import joined, script_of
from arborescence.parsers.shared.reading import Read, Reading
from arborescence.parsers.text import Text, Tokenizer
from arborescence.parsers.text.evidence import Evidence
from arborescence.parsers.text.tokenizer import tokens_of
from arborescence.treebank import read
from raw_texts import TREEBANK

#: Words of scripts with spaces, which the small treebank and those of the packages lack.
STRANGE = {
    "Hebrew": "שלום ספר ילדים הלכתי מחר ירושלים",
    "Persian": "کتاب دانشگاه می\u200cروم خانه\u200cها دوست",
    "Urdu": "کتاب پاکستان لڑکے گھر زندگی",
    "Korean": "한국어 사람들이 갑니다 학교에서 좋아요",
    "Telugu": "తెలుగు పుస్తకం విద్యార్థులు క్షమించండి స్త్రీ",
    "Hindi": "हिन्दी विद्यार्थी क्षमा स्त्री किताबें",
    "Amharic": "ሰላም መጽሐፍ ኢትዮጵያ",
    "Georgian": "გამარჯობა წიგნი სკოლა",
    "Greek": "καλημέρα βιβλίο σχολείο",
    "Cyrillic": "привет книга школа за\u0301мок",
    "Armenian": "բարեւ գիրք դպրոց",
}


MODELS = Path(__file__).parents[3] / "models"
FILES = {
    "english": MODELS / "en/src/arborescence_en/english.npz",
    "english-fast": MODELS / "en/src/arborescence_en/english-fast.npz",
    "fr": MODELS / "fr/src/arborescence_fr/fr.npz",
}


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(TREEBANK)


@cache
def shipped(name):
    """The tokenizer of a model in this repository; it needs no other packages."""
    header, arrays = model_file.load(FILES[name])
    return Text.from_file(header["text"], scheme.part(arrays, "text/")).tokenizer


def tokens(sentences):
    return [token.form for part in tokens_of(sentences) for each in part for token in each]


def letters(codes):
    return np.frombuffer(codes.encode("utf-32-le"), dtype=np.uint32)


@pytest.mark.parametrize("language", STRANGE)
@pytest.mark.parametrize("model", ["english", "english-fast", "small"])
def test_words_of_an_unknown_script_stay_whole(tokenizer, model, language):
    used = tokenizer if model == "small" else shipped(model)
    for word in STRANGE[language].split():
        assert tokens(used.split(f"They say {word}, do they?"))[2] == word
        assert tokens(used.split(f"{word} {word}")) == [word, word]


def test_a_word_of_an_unknown_script_ends_no_sentence():
    for model in ("english", "english-fast"):
        found = list(shipped(model).split("The word שלום means peace."))
        assert [one.forms for one in found] == [["The", "word", "שלום", "means", "peace", "."]]


@pytest.mark.parametrize(
    ("treebank", "part"),
    [("Hebrew-HTB", 200), ("Persian-Seraji", 200), ("Urdu-UDTB", 200), ("Korean-Kaist", 200),
     ("Telugu-MTG", 200), ("Greek-GDT", 200), ("Ukrainian-IU", 200), ("Armenian-ArmTDP", 200)],
)  # fmt: skip
def test_two_hundred_words_of_a_treebank(treebanks, treebank, part):
    words = set()
    for sentence in read(sorted((treebanks / treebank).glob("*-test.conllu.gz"))[0]):
        for paragraph in tokens_of([sentence]):
            words |= {
                token.form
                for each in paragraph
                for token in each
                if all(unicodedata.category(c)[0] in "LM" for c in token.form)
                and not any(script_of(c) == "CJK" for c in token.form)
            }
    chosen = random.Random(1).sample(sorted(words), part)
    tokenizer = shipped("english")
    cut = [word for word in chosen if tokens(tokenizer.split(f"He said {word} to us."))[2] != word]
    assert cut == []


def test_scripts_without_spaces_are_cut_as_they_were():
    evidence = Evidence(["LATIN"])
    for word in ("漢字", "かな", "カタカナ", "ไทย", "ລາວ", "ខខ", "ကက"):
        inside, strange = evidence.inside(Read(word, None), letters(word))
        np.testing.assert_array_equal(inside, joined(letters(word)))
        assert not strange.any()


def test_runs_are_of_one_script():
    inside, strange = Evidence(["LATIN"]).inside(
        Read("aשלבד1한국어ב", None), letters("aשלבד1한국어ב")
    )
    assert inside.tolist() == [0, 1, 1, 1, 0, 0, 1, 1, 0, 0]
    assert strange.tolist() == [0, 1, 1, 1, 1, 0, 1, 1, 1, 1]


def test_what_is_learned_from_is_cut():
    inside, _ = Evidence(["LATIN", "HEBREW"]).inside(Read("aשלבד", None), letters("aשלבד"))
    assert not inside.any()
    inside, strange = Evidence(["HEBREW"]).inside(Read("abc שלבד", None), letters("abc שלבד"))
    assert inside.tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert strange.tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


def test_scripts_of_a_treebank():
    words = [("abcde", True)] * 300 + [("לב", True)]
    assert Evidence.of(words).scripts == ("HEBREW", "LATIN")
    assert Evidence.of(words * 3 + [("abcde", True)] * 1200).scripts == ("LATIN",)


def test_figures_after_letters():
    whole, parted = [("Oak12", True)], [("Oak", False), ("12", True)]
    assert Evidence.of(whole * 2 + parted).figures
    assert not Evidence.of(whole + parted * 2).figures
    assert not Evidence.of([("5km", True), ("m2", True), ("3", False), ("m", False)]).figures
    inside, _ = Evidence(figures=True).inside(
        Read("Oak12 m2 5km2 x", None), letters("Oak12 m2 5km2 x")
    )
    assert np.flatnonzero(inside).tolist() == [2]


def test_names_with_figures():
    text = "Boeing777 flies. My iPhone12 and Win10 are new."
    for model in ("english", "english-fast"):
        tokenizer = shipped(model)
        assert {"Boeing777", "iPhone12", "Win10"} <= set(tokens(tokenizer.split(text)))
        found = tokens(tokenizer.split("We left at 9am and ran 5km to room 2B."))
        assert " ".join(found) == "We left at 9 am and ran 5 km to room 2 B ."


def test_abbreviations_end_no_sentence():
    for model in ("english", "english-fast"):
        tokenizer = shipped(model)
        for text in (
            "The case is Smith v. Jones of 1980.",
            "He works for Acme Pvt. Ltd. in Pune.",
            "Acme Ltd. makes chairs.",
        ):
            assert [one.text for one in tokenizer.split(text)] == [text]


_POOL = [
    *"abXY01.,!’“”—…-' \n", "\n\n", "e\u0301", "a\u0323\u0302", "क\u094dष", "తె",
    "👩\u200d🚒", "🇩🇪", "👍\U0001f3fd",
    "\u1112\u1161\u11ab", "한", "שלום", "\u00ad", "\u200b", "\u200d", "ﬁ", "\u00a0", "\u202f", "中",
    "don’t", "du",
    "ﬁ\u0301",
]  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(_POOL), max_size=30).map("".join))
def test_no_boundary_is_inside_a_character_and_all_are_kept(tokenizer, text):
    found = list(tokenizer.split(text))
    words = tokens(found)
    assert "".join("".join(words).split()) == "".join(text.split())
    allowed = set()
    codes = letters(text)
    kept = [not chr(code).isspace() for code in codes]
    place = 0
    for ends, is_kept in zip(~joined(codes), kept, strict=True):
        place += is_kept
        if ends or not is_kept:
            allowed.add(place)
    end = 0
    for word in words:
        end += len("".join(word.split()))
        assert end in allowed


def test_print_is_cut_as_a_typewriter_writes(tokenizer):
    plain = 'Mrs. Oak said: "They don\'t grow." She goes du tree.'
    printed = "Mrs. Oak said: “They don’t grow.” She goes du tree."
    found = list(tokenizer.split(printed))
    assert " ".join(one.text for one in found) == printed
    straight = [[form.replace("’", "'") for form in one.forms] for one in found]
    for mark, typed in (("“", '"'), ("”", '"')):
        straight = [[form.replace(mark, typed) for form in forms] for forms in straight]
    assert straight == [one.forms for one in tokenizer.split(plain)]
    assert ["do", "n’t"] in [one.forms[i : i + 2] for one in found for i in range(len(one))]


@pytest.mark.parametrize("form", ["NFD", "NFC"])
def test_tokens_of_several_words_in_nfd(form):
    text = unicodedata.normalize(form, "C’était l’été.")
    found = list(shipped("fr").split(text))
    assert tokens(found) == [
        unicodedata.normalize(form, each) for each in ("C’", "était", "l’", "été", ".")
    ]


def test_files_of_before_know_nothing_of_what_they_have_seen(tokenizer):
    header, arrays = tokenizer.to_file()
    older = {name: value for name, value in header.items() if name not in ("reading", "evidence")}
    split = Tokenizer.from_file(older, arrays).split
    assert [one.forms for one in split("They don't grow.")] == [["They", "do", "n't", "grow", "."]]
    assert tokens(split("Acme10")) == tokens(Tokenizer.from_file(header, arrays).split("Acme10"))
    for wrong in ({"scripts": "LATIN", "figures": True}, {"figures": 1, "scripts": None}, []):
        with pytest.raises(ModelError):
            Tokenizer.from_file(header | {"evidence": wrong}, arrays)


def test_places_of_tokens_that_something_else_has_cut(tokenizer):
    text = "They don’t grow. Mrs. Elm sang\u00ad. “Bi\u0301rds” sing!"
    found = list(tokenizer.split(text))
    words = tokens(found)
    starts = []
    for word in words:
        starts.append(text.index(word, starts[-1] + 1 if starts else 0))
    stops = [start + len(word) for start, word in zip(starts, words, strict=True)]
    ends = np.cumsum([len(tokens([one])) for one in found]).tolist()
    assert len(ends) > 1
    assert tokenizer.sentence_stops(text, starts, stops) == ends


@pytest.mark.parametrize(
    ("name", "text", "forms"),
    [
        ("english", "We`re here.", ["We", "`re", "here", "."]),
        ("english-fast", "We´re here.", ["We", "´re", "here", "."]),
        ("fr", "La 2ª et la nº 3º.", ["La", "2ª", "et", "la", "nº", "3º", "."]),
    ],
)
def test_marks_within_words(name, text, forms):
    assert [form for each in shipped(name).split(text) for form in each.forms] == forms


def test_other_apostrophes_are_read():
    reads = Reading(["'", "..."])
    assert [reads.form(form) for form in ("we`re", "`", "``we", "ŉ", "‥")] == [
        "we're", "`", "``we", "'n", "..."
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [("fr", "Ελληνικά και κυριλλικά Москва"), ("english", "తెలుగు భాష చాలా అందమైన భాష")],
)
def test_unknown_letters_end_no_sentence(name, text):
    assert len(list(shipped(name).split(text))) == 1
