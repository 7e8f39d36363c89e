"""What parsers take for sentences: `Sentence` objects, and lists of words."""

import pickle

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ArborescenceWarning, OptionError, TreebankError
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
    assert [each.item for each in as_sentences([["a"], sentence, ("b",)])] == [0, None, 2]
    assert forms([["10 000", "trees"]]) == [["10 000", "trees"]]  # as treebanks have it
    assert forms([]) == []


@pytest.mark.parametrize(
    "strings", [["Trees", "grow"], iter(["Trees", "grow"]), np.array(["Trees", "grow"])]
)
def test_strings_in_a_list_are_the_words_of_a_sentence_with_a_warning(strings):
    with pytest.warns(ArborescenceWarning, match=r"2 strings .* words of one .* better .*texts="):
        assert forms(strings) == [["Trees", "grow"]]


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
        ([None, "Hello"], "^sentence 0"),
        ([["Hello"], "world"], "^sentence 1 is 'world'"),
        ([["Hello"], 5], "^sentence 1 is 5"),
        ([["Hello", 5]], r"^sentence 0 is \['Hello', 5\]"),
    ],
)
def test_what_is_no_sentence(sentences, message):
    with pytest.raises(OptionError, match=message):
        list(as_sentences(sentences))


@pytest.mark.parametrize("words", [["a\tb"], [""], ["a", ""]])
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


def cut(given, name=None):
    """Cut at full stops, and at spaces."""
    text = given if isinstance(given, str) else given.read_text()
    return (
        Sentence.from_words(part.split(), comments=[f"# of = {name}"])
        for part in text.split(".")
        if part.strip()
    )


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("Trees grow. Why?", [["Trees", "grow"], ["Why?"]]),
        ("Trees", [["Trees"]]),
        ("", []),
        ([["Trees grow"]], [["Trees grow"]]),  # a word with a space
    ],
)
def test_raw_text(given, found):
    assert [sentence.forms for sentence in as_sentences(given, cut)] == found


TEXTS = ["Trees grow. Why?", "Do they", "Yes"]


def test_texts_know_their_number():
    found = list(as_sentences(None, cut, TEXTS))
    assert [(each.item, each.line) for each in found] == [(0, 1), (0, 2), (1, 1), (2, 1)]
    assert [each.comments for each in found] == [[f"# of = {n}"] for n in (0, 0, 1, 2)]
    assert found[3].forms == ["Yes"]  # one meaning, whether there is a space or not
    assert [each.forms for each in as_sentences(None, cut, ["Why?", "Yes"])] == [["Why?"], ["Yes"]]
    for changed in (
        found[2].replace(upos=["_", "_"], comments=None),
        pickle.loads(pickle.dumps(found[2])),
    ):
        assert (changed.item, changed.source, changed.line) == (1, "text 1", 1)


def test_the_old_call_with_texts_works_with_a_warning():
    for texts in (TEXTS, [None, *TEXTS], [*TEXTS, float("nan")]):
        with pytest.warns(ArborescenceWarning) as said:
            found = list(as_sentences(texts, cut))
        assert [each.forms for each in found] == [
            ["Trees", "grow"],
            ["Why?"],
            ["Do", "they"],
            ["Yes"],
        ]
        assert "strings in a list are read as texts" in str(said[0].message)


@pytest.mark.parametrize("kind", ["list", "numpy", "pandas"])
def test_missing_texts_give_no_sentence_and_are_counted(kind):
    texts = ["", "Trees grow.", None, float("nan"), " \n", "Why"]
    if kind == "numpy":
        texts = np.array(texts, dtype=object)
    if kind == "pandas":
        pandas = pytest.importorskip("pandas", reason="needs pandas")
        texts = pandas.Series([*texts[:4], pandas.NA, "Why"], index=[3, 1, 4, 1, 5, 9])
    with pytest.warns(ArborescenceWarning) as said:
        found = [(each.item, each.forms) for each in as_sentences(None, cut, texts)]
    assert found == [(1, ["Trees", "grow"]), (5, ["Why"])]
    [warning] = said
    assert str(warning.message) == (
        "4 of 6 texts are empty or missing, and give no sentence; the first of these is number 0, "
        "counted from 0"
    )


def test_missing_lists_of_words_are_counted():
    with pytest.warns(ArborescenceWarning, match=r"^3 of 5 sentences are empty .* is number 0, "):
        found = list(as_sentences([None, ["Trees"], [], ["grow"], float("nan")]))
    assert [(each.item, each.forms) for each in found] == [(1, ["Trees"]), (3, ["grow"])]


@pytest.mark.parametrize(
    ("given", "texts", "message"),
    [
        (None, "Trees grow.", "texts must be several"),
        (None, 5, "texts must be several"),
        (None, {"a": "Trees grow."}, "texts must be several"),
        (["Trees"], ["Trees"], "not both"),
        (None, ["Trees", 5], "^text 1 is 5, and must be a string"),
        (None, [["Trees"]], r"^text 0 is \['Trees'\]"),
    ],
)
def test_what_are_no_texts(given, texts, message):
    with pytest.raises(OptionError, match=message):
        list(as_sentences(given, cut, texts))


def test_texts_are_read_as_they_are_asked_for():
    read = []

    def source():
        for text in TEXTS:
            read.append(text)
            yield text

    stream = as_sentences(None, cut, source())
    assert next(stream).forms == ["Trees", "grow"]
    assert read == TEXTS[:1]


def test_parsers_take_texts():
    pytest.importorskip("arborescence_en", reason="needs arborescence-en")
    parser = arb.load("english-fast")
    for found in (
        parser(texts=TEXTS),
        [trees[0].sentence for trees in parser.kbest(k=2, texts=TEXTS)],
        parser.split(texts=TEXTS),
        parser.tag(texts=TEXTS),
        parser.parse(texts=TEXTS, threads=2, confidence=True),
        arb.load("english").parse(texts=TEXTS),
    ):
        found = list(found)
        assert [each.sent_id for each in found] == ["0-1", "0-2", "1-1", "2-1"]
        assert [each.item for each in found] == [0, 0, 1, 2]


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
