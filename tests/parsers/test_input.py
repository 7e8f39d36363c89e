"""What parsers take for sentences: `Sentence` objects, and lists of words."""

import numpy as np
import pytest

from arborescence.errors import OptionError, TreebankError
from arborescence.parsers.shared.given import as_sentences, batches
from arborescence.treebank import Sentence


def forms(sentences):
    return [sentence.forms for sentence in as_sentences(sentences)]


def test_sentences_and_lists_of_words():
    sentence = Sentence.from_words(["Do", "they", "?"])
    assert list(as_sentences([sentence])) == [sentence]
    assert list(as_sentences(sentence)) == [sentence]
    assert forms([["Trees", "grow"], sentence, ("Why", "?")]) == [
        ["Trees", "grow"],
        ["Do", "they", "?"],
        ["Why", "?"],
    ]
    assert forms(["Trees", "grow"]) == [["Trees", "grow"]]
    assert forms(iter(["Trees", "grow"])) == [["Trees", "grow"]]
    assert forms(np.array(["Trees", "grow"])) == [["Trees", "grow"]]
    assert forms([["10 000", "trees"]]) == [["10 000", "trees"]]  # as treebanks have it
    assert forms([]) == []


@pytest.mark.parametrize("sentences", ["Hello world", b"Hello", 5, None])
def test_what_is_no_list_is_refused_at_once(sentences):
    with pytest.raises(OptionError, match=r"give lists of words, .* takes raw text, too"):
        as_sentences(sentences)


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (["Hello world."], r"^sentence 0 is 'Hello world.', where a sentence is due"),
        (["Hello.", "How are you?"], "^sentence 0 is 'Hello.'"),
        (["Hello", ""], "^sentence 0"),
        ([["Hello"], "world"], "^sentence 1 is 'world'"),
        ([["Hello"], 5], "^sentence 1 is 5"),
        ([["Hello", 5]], r"^sentence 0 is \['Hello', 5\]"),
    ],
)
def test_what_is_no_sentence(sentences, message):
    with pytest.raises(OptionError, match=message):
        list(as_sentences(sentences))


@pytest.mark.parametrize("words", [[], ["a\tb"], [""]])
def test_words_that_cannot_be_written(words):
    with pytest.raises(TreebankError, match=r"^sentence 1: "):
        list(as_sentences([["Trees"], words]))


def test_sentences_are_read_as_they_are_asked_for():
    read = []

    def source():
        for word in ("Trees", "grow"):
            read.append(word)
            yield [word]

    stream = batches(as_sentences(source()), 1)
    assert not read
    assert [sentence.forms for sentence in next(stream)] == [["Trees"]]
    assert read == ["Trees"]


def cut(given):
    """Cut at full stops, and at spaces."""
    text = given if isinstance(given, str) else given.read_text()
    return (Sentence.from_words(part.split()) for part in text.split(".") if part.strip())


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("Trees grow. Why?", [["Trees", "grow"], ["Why?"]]),
        ("Trees", [["Trees"]]),
        ("", []),
        (["Trees grow. Why?", "Do they"], [["Trees", "grow"], ["Why?"], ["Do", "they"]]),
        (["Why?", "Do they"], [["Why?"], ["Do", "they"]]),
        (["Trees", "grow"], [["Trees", "grow"]]),  # words of a sentence, as before
        ([["Trees grow"]], [["Trees grow"]]),  # a word with a space
    ],
)
def test_raw_text(given, found):
    assert [sentence.forms for sentence in as_sentences(given, cut)] == found


def test_texts_beside_something_else():
    with pytest.raises(OptionError, match=r"^text 1 is \['grow'\]"):
        list(as_sentences(["Trees grow", ["grow"]], cut))


def test_files(tmp_path):
    sentence = Sentence.from_words(["Trees", "grow."])
    (tmp_path / "raw.txt").write_text("Trees grow.")
    (tmp_path / "trees.conllu").write_bytes(bytes(sentence))
    assert [found.forms for found in as_sentences(tmp_path / "raw.txt", cut)] == [["Trees", "grow"]]
    assert list(as_sentences(tmp_path / "trees.conllu", cut)) == [sentence]
    assert list(as_sentences(tmp_path / "trees.conllu")) == [sentence]
    with pytest.raises(OptionError, match=r"stands where a sentence is due"):
        as_sentences(tmp_path / "raw.txt")


def test_the_name_of_a_file_is_no_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("birds.txt", "Birds sing.txt", 300 * "x" + ".txt"):
        assert list(as_sentences(text, cut))
    (tmp_path / "birds.txt").write_text("Birds sing.")
    with pytest.raises(OptionError, match=r"'birds.txt' is a file: give pathlib.Path"):
        as_sentences("birds.txt", cut)
