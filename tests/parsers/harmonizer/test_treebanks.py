"""`make treebanks`: no sentence of today's dev and test is in a converted training part."""

import sys
from itertools import chain
from pathlib import Path

import pytest

from arborescence.treebank import Sentence, read
from real import TREEBANKS

FOLDER = Path(__file__).parents[3] / "models"
MORE = TREEBANKS.parent / "ud-more"


@pytest.fixture(scope="module")
def treebanks():
    if not FOLDER.is_dir():
        pytest.skip("the folder models is not here")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        import treebanks

        yield treebanks
        sys.modules.pop("treebanks")


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
def test_by_letters_and_by_rows_of_words(treebanks, text, inside):
    held = treebanks.Held([words(HELD), words("Come in !")])
    assert (words(text) in held) == inside


def test_of_real_parts_nothing_is_left(treebanks):
    if not MORE.is_dir():
        pytest.skip("the treebanks in ../shared/ud-more are not here")
    found = treebanks.converted(MORE, "Romanian-RRT")
    today = [read(MORE / "Romanian-RRT" / f"{part}.conllu.gz") for part in ("dev", "test")]
    letters = {squeezed(each) for each in chain(*today)}
    assert len(found) > 1500
    assert not [each for each in found if len(each) >= 5 and squeezed(each) in letters]
    assert all((each.heads == 0).sum() == 1 for each in found)


def squeezed(sentence):
    return "".join(c for c in "".join(sentence.forms).casefold() if c.isalnum())
