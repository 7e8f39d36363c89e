"""The model that comes with the library."""

from importlib import resources

import pytest

import arborescence as arb
from arborescence.treebank import Sentence, evaluate, read


@pytest.fixture(scope="module")
def english():
    return arb.load("english")


def test_it_is_small():
    assert (resources.files("arborescence") / "models" / "english.npz").stat().st_size < 7_000_000


def test_words_are_enough(english):
    words = Sentence.from_words(["The", "old", "trees", "grow", "slowly", "."])
    [parsed] = english.parse([words])
    assert parsed.upos == ["DET", "ADJ", "NOUN", "VERB", "ADV", "PUNCT"]
    assert parsed.heads.tolist() == [-1, 3, 3, 4, 0, 4, 4]
    assert parsed.deprels == ["det", "amod", "nsubj", "root", "advmod", "punct"]
    assert (arb.decode(english.scores(words)) == parsed.heads).all()


def test_tags_that_are_given_are_kept(english):
    noun = Sentence.from_words(["Time", "flies"], upos=["VERB", "NOUN"])
    [parsed] = english.parse([noun])
    assert parsed.upos == ["VERB", "NOUN"]
    assert parsed.heads.tolist() == [-1, 0, 1]


def test_it_is_as_good_as_its_card_says(english, treebanks):
    gold = list(read(treebanks / "English-EWT" / "en_ewt-ud-test.conllu.gz"))
    tagged = evaluate(gold, english.parse(gold))
    assert (round(100 * tagged.uas.f1, 2), round(100 * tagged.las.f1, 2)) == (87.61, 85.49)
    bare = [Sentence.from_words(sentence.forms) for sentence in gold]
    untagged = evaluate(gold, english.parse(bare))
    assert round(100 * untagged.upos.f1, 2) == 95.61
    assert (round(100 * untagged.uas.f1, 2), round(100 * untagged.las.f1, 2)) == (84.67, 81.15)
