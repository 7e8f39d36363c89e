"""Words that were cut at the end of a line."""

from __future__ import annotations

import io
import time
import unicodedata

import numpy as np
import pytest

from arborescence.parsers.text import Text, Tokenizer
from arborescence.parsers.text.cut_words import is_known, joined, numbers_of
from arborescence.parsers.text.lines import JOINED, Lines
from arborescence.treebank import Sentence, raw_text, read
from raw_texts import TREEBANK

TABS = "\t_" * 8


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(TREEBANK)


def forms(tokenizer, text, lines=False):
    found = list(tokenizer.split(text, lines=lines))
    assert raw_text(found) == text
    return [form for sentence in found for form in sentence.forms]


@pytest.mark.parametrize("cut", ["-\n", "-\r\n", "- \n   ", "\u2010\n", "-\r", "\u00ad\n", "-\t\n"])
def test_a_known_word_is_joined(tokenizer, cut):
    text = f"They plan{cut}ted trees."
    [sentence] = tokenizer.split(text, lines=False)
    assert sentence.forms == ["They", "planted", "trees", "."]
    assert sentence.comments[-1] == "# text = They planted trees."
    assert sentence.misc[1].startswith("SpacesInToken=plan")
    assert raw_text([sentence]) == text


def test_capitals_and_one_in_front(tokenizer):
    assert forms(tokenizer, "TREES PLAN-\nTED.")[1] == "PLANTED"
    assert forms(tokenizer, "Plan-\nted trees.")[0] == "Planted"
    assert "planted" in forms(tokenizer, "Trees, plan-\nted, grow.")


@pytest.mark.parametrize(
    "text",
    [
        "the bird-\ntree sings",  # not known: a compound
        "Elm-\nOak sang",  # names
        "from 1990-\n1995 they sang",
        "he plan -\nted trees",  # a dash
        "they plan-\n\nted trees",  # another paragraph
        "they plan-\n",
        "-\nted trees",
        "they plan\nted trees",
        "they p-\nlanted trees",  # one letter is no syllable
    ],
)
def test_others_stay(tokenizer, text):
    assert "planted" not in forms(tokenizer, text)
    assert not any("SpacesInToken" in str(one) for one in tokenizer.split(text, lines=False))


def test_a_line_that_is_a_sentence_is_not_joined(tokenizer):
    assert "planted" not in forms(tokenizer, "They plan-\nted trees.\n", lines=True)


def test_a_soft_hyphen_says_so_itself(tokenizer):
    assert "zyxabc" in forms(tokenizer, "They sing zyx\u00ad\nabc.")


def test_marks_apart(tokenizer):
    word = unicodedata.normalize("NFD", "plánté")
    taught = [Sentence.from_words(["Ils", "plánté", "."], misc=["_", "SpaceAfter=No", "_"])] * 9
    found = forms(Tokenizer.train(taught), f"Ils {word[:5]}-\n{word[5:]}.")
    assert found == ["Ils", word, "."]


def test_a_token_of_several_words():
    words = ["Il", "va", "de", "lequel"]
    lines = str(Sentence.from_words(words)).replace("3\tde", f"3-4\tduquel{TABS}\n3\tde")
    small = Tokenizer.train(list(read(io.BytesIO(lines.encode()))) * 20)
    [sentence] = small.split("Il va du-\nquel", lines=False)
    assert sentence.forms == words
    assert "3-4\tduquel" in str(sentence)
    assert "SpacesInToken=du-\\nquel" in str(sentence)


def test_what_lines_have_room_for_stays():
    """The rest of a word begins a line, though it belongs to the one before."""
    text = "Trees grow plan-\nted trees grow\nBirds sing"
    marks = Lines(False).marks(text)
    own, removed = joined(text, marks, lambda word: word == "planted")
    assert own.text == "Trees grow planted trees grow\nBirds sing"
    assert removed == [(15, 17)]
    assert text[np.flatnonzero(marks == JOINED)[0]] == "t"
    assert "".join(text[place] for place in own.starts[:-1]) == own.text


def test_without_tokens_of_several_words_they_are_known_too():
    taught = [Sentence.from_words(["Birds", "sing", "."], misc=["_", "SpaceAfter=No", "_"])] * 9
    text = Text.train(taught)
    again = Text.from_file(*text.to_file()).tokenizer
    assert forms(again, "Birds si-\nng.") == ["Birds", "sing", "."]
    numbers = numbers_of(["birds", "sing"])
    assert is_known("sing", numbers)
    assert not is_known("sung", numbers)
    assert not is_known("sing", numbers[:0])


def test_pieces_of_a_long_text(tokenizer):
    text = "They plan-\nted trees. " * 10_000
    found = list(tokenizer.stream([text[i : i + 777] for i in range(0, len(text), 777)]))
    assert raw_text(found) == text
    assert sum(sentence.forms.count("planted") for sentence in found) == 10_000


@pytest.mark.parametrize(
    "text", ["-" * 300_000, "- " * 150_000, "a" * 300_000 + "-\nb", "a-\n" * 99_999]
)
def test_long_runs_take_linear_time(text):
    marks = Lines(False).marks(text)
    start = time.process_time()
    own, _ = joined(text, marks, lambda _: True)
    assert time.process_time() - start < 5
    assert own.text.count("b") == text.count("b")
