"""The model that comes with the library."""

from importlib import resources
from pathlib import Path

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
    assert (arb.decode(english.scores(words), projective=True) == parsed.heads).all()


def test_tags_that_are_given_are_kept(english):
    noun = Sentence.from_words(["Time", "flies"], upos=["VERB", "NOUN"])
    [parsed] = english.parse([noun])
    assert parsed.upos == ["VERB", "NOUN"]
    assert parsed.heads.tolist() == [-1, 0, 1]


def bare(sentences):
    """The words of sentences and nothing else."""
    return [Sentence.from_words(sentence.forms) for sentence in sentences]


def as_in_the_card(gold, parsed, *, tags=True):
    """A row of the table in the model card: UPOS, UAS and LAS."""
    found = evaluate(gold, parsed)
    shown = [f"{100 * score.f1:.2f}" for score in (found.upos, found.uas, found.las)]
    return f"| {' | '.join(shown if tags else ['–', *shown[1:]])} |"


@pytest.fixture(scope="module")
def card():
    return (resources.files("arborescence") / "models" / "english.md").read_text(encoding="utf-8")


def test_the_sentences_of_the_card(english, card):
    gold = list(read(Path(__file__).with_name("english.conllu")))
    parsed = list(english.parse(bare(gold)))
    assert f"| the 100 sentences, words only {as_in_the_card(gold, parsed)}\n" in card
    whole = sum(a.heads.tolist() == b.heads.tolist() for a, b in zip(gold, parsed, strict=True))
    assert f"{whole} of the 100 trees" in card


def test_it_is_as_good_as_its_card_says(english, card, treebanks):
    gold = list(read(treebanks / "English-EWT" / "en_ewt-ud-test.conllu.gz"))
    tagged = as_in_the_card(gold, english.parse(gold), tags=False)
    assert f"| English-EWT test, gold tags {tagged}\n" in card
    words = as_in_the_card(gold, english.parse(bare(gold)))
    assert f"| English-EWT test, words only: the tagger goes first {words}\n" in card
