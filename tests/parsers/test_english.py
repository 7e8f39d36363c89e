"""The English models."""

from importlib import resources
from pathlib import Path

import pytest

import arborescence as arb
from arborescence.treebank import Sentence, evaluate, read

pytest.importorskip("arborescence_en", reason="needs arborescence-en")


@pytest.fixture(scope="module", params=["english", "english-fast"])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def english(name):
    return arb.load(name)


def test_it_is_small(name):
    assert (resources.files("arborescence_en") / f"{name}.npz").stat().st_size < 7_500_000


def test_words_are_enough(english):
    words = Sentence.from_words(["The", "old", "trees", "grow", "slowly", "."])
    [parsed] = english.parse([words])
    assert parsed.upos == ["DET", "ADJ", "NOUN", "VERB", "ADV", "PUNCT"]
    assert parsed.tree.tolist() == [-1, 3, 3, 4, 0, 4, 4]
    assert parsed.deprels == ["det", "amod", "nsubj", "root", "advmod", "punct"]
    found = arb.decode(english.scores(words), projective=english.projective)
    assert (found == parsed.tree).all()


def test_tags_that_are_given_are_kept(english):
    flies = ["Time", "flies"]
    one, other = (
        Sentence.from_words(flies, upos=tags) for tags in (["VERB", "NOUN"], ["NOUN", "VERB"])
    )
    [parsed] = english.parse([one])
    assert parsed.upos == ["VERB", "NOUN"]
    assert (english.scores(one) != english.scores(other)).any()


def bare(sentences):
    """The words of sentences and nothing else."""
    return [Sentence.from_words(sentence.forms) for sentence in sentences]


def as_in_the_card(gold, parsed, *, tags=True):
    """A row of the table in the model card: UPOS, UAS and LAS."""
    found = evaluate(gold, parsed)
    shown = [f"{100 * score.f1:.2f}" for score in (found.upos, found.uas, found.las)]
    return f"| {' | '.join(shown if tags else ['–', *shown[1:]])} |"


@pytest.fixture(scope="module")
def card(name):
    return (resources.files("arborescence_en") / f"{name}.md").read_text(encoding="utf-8")


def test_the_sentences_of_the_card(english, card):
    gold = list(read(Path(__file__).with_name("english.conllu")))
    parsed = list(english.parse(bare(gold)))
    assert f"| the 100 sentences, words only {as_in_the_card(gold, parsed)}\n" in card
    whole = sum(a.tree.tolist() == b.tree.tolist() for a, b in zip(gold, parsed, strict=True))
    assert f"{whole} of the 100 trees" in card


@pytest.mark.long
def test_it_is_as_good_as_its_card_says(english, card, treebanks):
    gold = list(read(treebanks / "English-EWT" / "en_ewt-ud-test.conllu.gz"))
    tagged = as_in_the_card(gold, english.parse(gold), tags=False)
    assert f"| English-EWT test, gold tags {tagged}\n" in card
    words = as_in_the_card(gold, english.parse(bare(gold)))
    assert f"| English-EWT test, words only {words}\n" in card
