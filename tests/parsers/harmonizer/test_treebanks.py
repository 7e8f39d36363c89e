"""Old training parts: no sentence of today's dev and test is left in them."""

import re
from itertools import chain

import pytest

from arborescence.treebank import Sentence, read
from arborescence.treebank.copies import Held
from arborescence_papers.conversion.sources import PARTS, Old, converted
from modes import thinned
from real import TREEBANKS

MORE = TREEBANKS.parent / "ud-more"


def words(text):
    return Sentence.from_words(text.split())


HELD = "The owl that sat in the old tree did not sleep ."


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (HELD, True),
        ("theowl That sat in the old tree did n ot sleep", True),  # cut in another way
        ("They say the owl that sat in , the OLD tree is ill", True),  # seven words in a row
        ("They say the owl that sat in the hat is ill", False),  # six
        ("Yes , it is so .", False),
        ("Did not sleep .", False),
        ("Come in !", False),  # short, and held itself
    ],
)
def test_by_letters_and_by_rows_of_words(text, inside):
    held = Held([words(HELD), words("Come in !")])
    assert (words(text) in held) == inside


@pytest.fixture
def folder():
    if not MORE.is_dir():
        pytest.skip("the treebanks in ../shared/ud-more are not here")
    return MORE


@pytest.mark.parametrize("name", thinned([*PARTS], 4))
def test_nothing_of_dev_and_test_is_left(folder, name):
    """Compare letters and rows of words in a second way, with today's files only."""
    found = Old(folder, name).train()
    today = [read(folder / PARTS[name].today / f"{part}.conllu.gz") for part in ("dev", "test")]
    letters, rows = set(), set()
    for sentence in chain(*today):
        letters.add(squeezed(sentence))
        rows |= sevens(sentence)
    assert len(found) > 1500
    long = [each for each in found if len(each) >= 5]
    assert not [each for each in long if squeezed(each) in letters]
    assert not [each for each in long if sevens(each) & rows]


@pytest.mark.long
def test_converted_parts_are_trees(folder):
    found = converted(folder, "Romanian-RRT")
    assert len(found) > 1500
    assert all((each.heads == 0).sum() == 1 for each in found)


def squeezed(sentence):
    return "".join(c for c in "".join(sentence.forms).casefold() if c.isalnum())


def sevens(sentence):
    forms = [f.casefold() for f in sentence.forms if re.search(r"\w", f)]
    return {" ".join(forms[i : i + 7]) for i in range(len(forms) - 6)}
