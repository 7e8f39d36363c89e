"""Words that are given, and stand for several."""

from __future__ import annotations

import io

import pytest

from arborescence.parsers.linear.parser import LinearParser
from arborescence.parsers.text import Text, rewriting
from arborescence.treebank import Sentence, read
from raw_texts import treebank


@pytest.fixture(scope="module")
def parser() -> LinearParser:
    taught = [
        sentence.replace(heads=[0, *[1] * (len(sentence) - 1)], deprels=["dep"] * len(sentence))
        for sentence in treebank()
    ]
    text = Text.train(taught * 5)
    return LinearParser.train(taught, bits=10, epochs=1, text=text)


def test_words_are_split_on_request_only(parser: LinearParser) -> None:
    words = [["She", "goes", "du", "park"], ["Birds", "sing"]]
    assert [sentence.forms for sentence in parser.split(words)] == words
    assert [len(tree) for tree in parser.parse(words)] == [4, 2]
    first, second = parser.split(words, contractions=True)
    assert first.forms == ["She", "goes", "de", "le", "park"]
    assert first.multiwords == [(3, 4, "du")]
    assert (first.item, second.item, second.forms) == (0, 1, words[1])
    assert parser.parse([first]).__next__().forms == first.forms


def test_capitals_and_places_are_those_of_the_token(parser: LinearParser) -> None:
    [sentence] = parser.split([["Du", "park"]], contractions=True)
    assert sentence.forms == ["De", "le", "park"]
    assert sentence.ranges == [(0, 2), (0, 2), (3, 7)]


def test_forms_that_no_rule_fits_are_remembered(
    parser: LinearParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers stay the same when forms are known, and when the memory is emptied."""
    words = [["Birds", "sing"], ["du", "Birds", "du"]]
    first = [sentence.forms for sentence in parser.split(words, contractions=True)]
    assert first == [["Birds", "sing"], ["de", "le", "Birds", "de", "le"]]
    known = parser.text.tokenizer._splitter._fixed
    assert {"birds", "sing"} <= known
    assert "du" not in known
    for most in (100_000, 0):
        monkeypatch.setattr(rewriting, "_MOST_FORMS", most)
        again = [sentence.forms for sentence in parser.split(words, contractions=True)]
        assert again == first
    # All forms are known, and none.
    assert [each.forms for each in parser.split(words[:1], contractions=True)] == words[:1]


def test_other_columns_stay(parser: LinearParser) -> None:
    rows = [
        "# a = b", "1 He he _ _ _ 2 x 2:x _", "2 goes go _ _ _ 0 root _ _", "2.1 _ _ _ _ _ _ _ _ _",
        "3 du du ADP _ _ 4 x _ M=1", "4 park park _ _ _ 2 x _ SpaceAfter=No",
    ]  # fmt: skip
    data = "\n".join(row if row[0] == "#" else row.replace(" ", "\t") for row in rows)
    [given] = read(io.BytesIO(f"{data}\n\n".encode()))
    [split] = parser.split([given], contractions=True)
    assert str(split).replace("\t", " ").split("\n")[:-2] == [
        "# a = b", "1 He he _ _ _ _ _ _ _", "2 goes go _ _ _ _ _ _ _", "2.1 _ _ _ _ _ _ _ _ _",
        "3-4 du _ _ _ _ _ _ _ M=1", "3 de _ _ _ _ _ _ _ _", "4 le _ _ _ _ _ _ _ _",
        "5 park park _ _ _ _ _ _ SpaceAfter=No",
    ]  # fmt: skip
    assert list(parser.split([split], contractions=True)) == [split]


def test_without_rules_words_stay() -> None:
    bare = LinearParser.train(
        [Sentence.from_words(["du"], heads=[0], deprels=["root"])], bits=10, epochs=1
    )
    [sentence] = bare.split([["du"]], contractions=True)
    assert sentence.forms == ["du"]


def test_words_and_raw_text_are_split_alike() -> None:
    """*du* is one word before *vin*, and two elsewhere: as the neighbours say, in both formats."""
    rows = [
        "1 Il _ _ _ _ 0 root _ _", "2-3 du _ _ _ _ _ _ _ _", "2 de _ _ _ _ 1 case _ _",
        "3 le _ _ _ _ 1 det _ _", "4 parc _ _ _ _ 1 obl _ _",
    ]  # fmt: skip
    data = "\n".join(row.replace(" ", "\t") for row in rows)
    two = list(read(io.BytesIO(f"{data}\n\n".encode())))
    words = ["Il", "du", "vin"]
    one = [Sentence.from_words(words, heads=[0, 1, 1], deprels=["root", "det", "obj"])]
    taught = (two + one) * 20
    parser = LinearParser.train(taught, bits=10, epochs=1, text=Text.train(taught))
    given = [["Il", "du", "parc"], words] * 3
    split = [each.forms for each in parser.split(given, contractions=True)]
    assert split == [["Il", "de", "le", "parc"], words] * 3
    text = "\n\n".join(map(" ".join, given))
    assert [each.forms for each in parser.split(text)] == split
