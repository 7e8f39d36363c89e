"""Raw text and separated words become sentences, and no character is lost on the way."""

import io
import sys

import pytest

from arborescence.errors import ArborescenceError, MissingExtraError, TreebankError
from arborescence.text import read_text, read_tokens, split


def words(text: str) -> list[list[str]]:
    pytest.importorskip("spacy", reason="needs the extra 'text'")
    return [sentence.forms for sentence in split(text)]


def test_words_are_cut_as_in_treebanks() -> None:
    assert words("The gardener's dog doesn't dig, e.g. here.") == [
        ["The", "gardener", "'s", "dog", "does", "n't", "dig", ",", "e.g.", "here", "."]
    ]


def test_abbreviations_do_not_end_sentences() -> None:
    assert len(words("Dr. Elm met Mrs. Birch at 5 p.m. on Monday. They spoke.")) == 2


@pytest.mark.parametrize("run", ["!!!", "?!?", "=====", "***", "--", "...", "___"])
def test_runs_of_one_symbol_are_one_word(run: str) -> None:
    assert words(f"well {run}") == [["well", run]]


def test_brackets_and_quotes_stay_apart() -> None:
    [forms] = words('He said ("yes")).')
    assert forms[2:] == ["(", '"', "yes", '"', ")", ")", "."]


def test_the_text_can_be_put_together_again() -> None:
    pytest.importorskip("spacy", reason="needs the extra 'text'")
    text = "She's back!Is she?  “Yes,” he   said — at 10:30…\nThen:no."
    whole = ""
    for sentence in split(text):
        plain = ""
        for form, misc in zip(sentence.forms, sentence.misc, strict=True):
            plain += form if misc == "SpaceAfter=No" else f"{form} "
        assert f"# text = {plain.strip()}" in sentence.comments
        whole += plain
    assert whole.strip() == " ".join(text.split())


def test_paragraphs_are_marked() -> None:
    pytest.importorskip("spacy", reason="needs the extra 'text'")
    file = io.BytesIO("\ufeffOne. Two.\r\n\r\n \nThree\nmore.\n".encode())
    sentences = list(read_text(file))
    assert [("# newpar" in s.comments, s.forms) for s in sentences] == [
        (True, ["One", "."]),
        (False, ["Two", "."]),
        (True, ["Three", "more", "."]),
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\n"])
def test_nothing_gives_nothing(text: str) -> None:
    assert words(text) == []
    assert list(read_tokens(io.BytesIO(text.encode()))) == []


def test_a_no_break_space_stays_within_its_word() -> None:
    [sentence] = read_tokens(io.BytesIO("10\u00a0000 trees\r\n".encode()))
    assert sentence.forms == ["10\u00a0000", "trees"]


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(TreebankError, match=r"<stream>:2: byte 0xff is not UTF-8"):
        list(read_tokens(io.BytesIO(b"fine\nno\xff\n")))


def test_an_unknown_language() -> None:
    pytest.importorskip("spacy", reason="needs the extra 'text'")
    with pytest.raises(ArborescenceError, match="no tokenizer for the language 'qqq'"):
        list(split("text", language="qqq"))


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"arborescence\[text\]"):
        list(split("text", language="nl"))
