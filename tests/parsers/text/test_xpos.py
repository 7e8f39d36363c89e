"""XPOS from UPOS, FEATS and form."""

import pytest

from arborescence.errors import ModelError
from arborescence.parsers.text.xpos import XposTable
from arborescence.treebank import Sentence


def sentence(*words):
    forms, upos, xpos, feats = zip(*(each.split() for each in words), strict=True)
    return Sentence.from_words(list(forms), upos=upos, xpos=xpos, feats=feats)


TAUGHT = [
    sentence("She PRON PRP _", "sleeps VERB VBZ Tense=Pres", "to PART TO _", "this DET DT _"),
    sentence("Owls NOUN NNS _", "to PART TO _", "not PART RB _", "Not PART RB _", "n't PART RB _"),
]


def test_the_form_counts_only_if_it_has_a_tag_of_its_own():
    table = XposTable.train(TAUGHT)
    assert table.tags["PART", "_"] == "RB"
    assert {key for key in table.tags if len(key) == 3} == {("PART", "_", "to")}
    new = sentence("TO PART x _", "nicht PART x _", "mice NOUN x Number=Plur", "oh INTJ x _")
    assert table.xpos(new) == ["TO", "RB", "NNS", "_"]


def test_of_equally_frequent_tags_the_first_in_the_alphabet():
    tags = [sentence("a X B _", "b X A _"), sentence("c X A _", "d X B _")]
    assert XposTable.train(tags).tags == XposTable.train(tags[::-1]).tags
    assert XposTable.train(tags).tags["X",] == "A"


def test_a_table_in_a_file():
    table = XposTable.train(TAUGHT)
    assert XposTable.from_file(table.to_file()).tags == table.tags


@pytest.mark.parametrize("name", ["of_upos", "of_feats", "of_forms"])
@pytest.mark.parametrize(
    "rows", [None, {}, [["X"]], [["X", 1, "_", "a"]], [["a\tb"] * 4], ["abcd"]]
)
def test_a_damaged_table(name, rows):
    with pytest.raises(ModelError, match=name):
        XposTable.from_file(XposTable.train(TAUGHT).to_file() | {name: rows})
