"""Which words a network knows."""

from __future__ import annotations

from arborescence.parsers.neural.vocabulary import Vocabulary
from arborescence.parsers.shared.varied import varied
from arborescence.treebank import Sentence


def sentence(number, *words, lemmas=None):
    comments = [] if number is None else [f"# sent_id = {number}"]
    return Sentence.from_words(words, lemmas=lemmas, comments=comments)


def test_copies_in_other_spellings_add_no_words():
    treebank = [sentence(k, "Oaks", "stand", f"w{k}", '"', "here") for k in range(100)]
    copies = varied(treebank, rng=1)
    assert {copy.forms[0] for copy in copies} >= {"oaks", "OAKS"}
    alone = Vocabulary.of(treebank, ("form",))
    both = Vocabulary.of([*treebank, *copies], ("form",))
    assert both.words == alone.words
    assert set(alone.words) == {"oaks", "stand", '"', "here"}
    assert set("OAKS") - {"O"} <= set(both.letters) - set(alone.letters)


def test_copies_add_no_lemmas():
    one = sentence("a", "Oaks", "grew", lemmas=["oak", "grow"])
    again = sentence("a", "OAKS", "GREW", lemmas=["oak", "grow"])
    assert not Vocabulary.of([one, again], ("form", "lemma")).lemmas


def test_other_sentences_count():
    for others in ((None, None), ("a", "b")):
        treebank = [sentence(number, "Oaks", "grow") for number in others]
        assert set(Vocabulary.of(treebank, ("form",)).words) == {"oaks", "grow"}
    treebank = [sentence("1", "Oaks", "grow"), sentence("1", "Oaks", "fall")]  # of two files
    assert set(Vocabulary.of(treebank, ("form",)).words) == {"oaks"}
